//! The table from operation name to arm, a perfect hash computed here.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::quote;

/// Stands for the path of phf until the text of the table has become tokens: a path that holds `$crate` cannot go
/// through text.
const PLACEHOLDER: &str = "__zorb_phf_path";

/// A `phf::Map<&'static [u8], u32>` from each name to its index, phf itself being found at `phf`.
pub(crate) fn table(names: &[String], phf: &TokenStream) -> TokenStream {
    let mut builder = phf_codegen::Map::<&[u8]>::new();
    builder.phf_path(PLACEHOLDER);
    for (index, name) in names.iter().enumerate() {
        builder.entry(name.as_bytes(), index.to_string());
    }
    let table: TokenStream = builder.build().to_string().parse().unwrap_or_default();
    let table = replace(table, phf);
    quote!(#table)
}

fn replace(tokens: TokenStream, phf: &TokenStream) -> TokenStream {
    let replaced = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Ident(ident) if ident == PLACEHOLDER => phf.clone(),
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), replace(group.stream(), phf))).into()
        }
        other => other.into(),
    });
    replaced.collect()
}
