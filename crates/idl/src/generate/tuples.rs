//! Tuples of any size for the codec, which supports tuples of up to [`CODEC_MEMBERS`] members.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The most members that a tuple of the codec has. Each size adds two implementations to every build, and few operations
/// have as many parameters.
pub(super) const CODEC_MEMBERS: usize = 32;

/// The most results that are a tuple: Rust's tuples of more members have neither `Debug` nor `PartialEq`.
const TUPLE_RESULTS: usize = 12;

/// The type of results of the types `members`: one as it is, a tuple, or `ManyResults`, which has the traits that a tuple of so
/// many members lacks. More results than the codec has members are a tuple of groups of as many, and so on.
pub(super) fn results(orb: &TokenStream, members: Vec<TokenStream>) -> TokenStream {
    let group = |members: &[TokenStream]| match members {
        [one] => one.clone(),
        few if few.len() <= TUPLE_RESULTS => quote!((#(#few),*)),
        many => quote!(#orb::ManyResults<(#(#many),*)>),
    };
    group(&grouped(members, group))
}

/// The pattern of [`results`] that binds `names`.
pub(super) fn results_pattern(orb: &TokenStream, names: Vec<TokenStream>) -> TokenStream {
    let group = |names: &[TokenStream]| match names {
        [one] => one.clone(),
        few if few.len() <= TUPLE_RESULTS => quote!((#(#few),*)),
        many => quote!(#orb::ManyResults((#(#many),*))),
    };
    group(&grouped(names, group))
}

/// The codecs of results, in the groups of [`results`].
pub(super) fn result_codecs(private: &TokenStream, codecs: Vec<TokenStream>) -> Vec<TokenStream> {
    grouped(codecs, |codecs| quote!(#private::Group<(#(#codecs,)*)>))
}

/// At most [`CODEC_MEMBERS`] members: those given, or groups of them, or groups of groups.
fn grouped(
    mut members: Vec<TokenStream>,
    group: impl Fn(&[TokenStream]) -> TokenStream,
) -> Vec<TokenStream> {
    while members.len() > CODEC_MEMBERS {
        members = members.chunks(CODEC_MEMBERS).map(&group).collect();
    }
    members
}

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
