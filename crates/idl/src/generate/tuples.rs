//! Tuples as the codec takes them: of any size, though it knows them up to [`CODEC_MEMBERS`] only.

use core::ops::RangeInclusive;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// How many members a tuple of the codec has at most. Each size adds two implementations to every build, and hardly an
/// operation has as many parameters.
pub(super) const CODEC_MEMBERS: usize = 32;

/// How many results are wrapped, as Rust's tuples of so many have neither `Debug` nor `PartialEq`.
pub(super) const MANY_RESULTS: RangeInclusive<usize> = 13..=CODEC_MEMBERS;

/// A tuple of `members`: types, values or patterns. Where there are too many it is one of tuples, which is the same on
/// the wire: their members one behind the other.
pub(super) fn tuple(members: &[TokenStream]) -> TokenStream {
    if members.len() <= CODEC_MEMBERS {
        return quote!((#(#members,)*));
    }
    let groups = members
        .chunks(CODEC_MEMBERS)
        .map(|group| quote!((#(#group,)*)));
    quote!((#(#groups,)*))
}

/// Where member `index` of the tuple `of` is, which has `count` of them.
pub(super) fn place(of: &TokenStream, index: usize, count: usize) -> TokenStream {
    let (group, index) = match count > CODEC_MEMBERS {
        true => (Some(index / CODEC_MEMBERS), index % CODEC_MEMBERS),
        false => (None, index),
    };
    let group = group.map(Literal::usize_unsuffixed).into_iter();
    let index = Literal::usize_unsuffixed(index);
    quote!(#of #(.#group)* .#index)
}
