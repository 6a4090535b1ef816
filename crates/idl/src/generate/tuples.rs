//! Tuples of any size for the codec, which supports tuples of up to [`CODEC_MEMBERS`] members.

use core::ops::RangeInclusive;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The most members that a tuple of the codec has. Each size adds two implementations to every build, and few operations
/// have as many parameters.
pub(super) const CODEC_MEMBERS: usize = 32;

/// The numbers of results that are wrapped, as Rust's tuples of such sizes have neither `Debug` nor `PartialEq`.
pub(super) const MANY_RESULTS: RangeInclusive<usize> = 13..=CODEC_MEMBERS;

/// A tuple of `members`, which are types, values or patterns. With too many members it is a tuple of tuples, which has the
/// same encoding.
pub(super) fn tuple(members: &[TokenStream]) -> TokenStream {
    if members.len() <= CODEC_MEMBERS {
        return quote!((#(#members,)*));
    }
    let groups = members
        .chunks(CODEC_MEMBERS)
        .map(|group| quote!((#(#group,)*)));
    quote!((#(#groups,)*))
}

/// The expression for member `index` of the tuple `of`, which has `count` members.
pub(super) fn place(of: &TokenStream, index: usize, count: usize) -> TokenStream {
    let (group, index) = match count > CODEC_MEMBERS {
        true => (Some(index / CODEC_MEMBERS), index % CODEC_MEMBERS),
        false => (None, index),
    };
    let group = group.map(Literal::usize_unsuffixed).into_iter();
    let index = Literal::usize_unsuffixed(index);
    quote!(#of #(.#group)* .#index)
}
