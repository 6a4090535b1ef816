//! The table from operation name to arm, a perfect hash computed here.

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
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

/// With the path in the place of what stands for it, and `b"name"` in the place of `&[110, 97, 109, 101]`: one token
/// and one expression, where rustc would have to look at dozens.
fn replace(tokens: TokenStream, phf: &TokenStream) -> TokenStream {
    let mut replaced = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_reference = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '&');
        if is_reference
            && let Some(TokenTree::Group(group)) = tokens.peek()
            && let Some(name) = octets(group)
        {
            replaced.extend([TokenTree::Literal(Literal::byte_string(&name))]);
            tokens.next();
            continue;
        }
        match token {
            TokenTree::Ident(ident) if ident == PLACEHOLDER => replaced.extend(phf.clone()),
            TokenTree::Group(group) => {
                let inner = replace(group.stream(), phf);
                replaced.extend([TokenTree::Group(Group::new(group.delimiter(), inner))]);
            }
            other => replaced.extend([other]),
        }
    }
    replaced
}

/// The octets that a list of numbers in brackets is; `None` of an empty one and of any other.
fn octets(group: &Group) -> Option<Vec<u8>> {
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let mut octets = Vec::new();
    for token in group.stream() {
        match token {
            TokenTree::Literal(number) => octets.push(number.to_string().parse().ok()?),
            TokenTree::Punct(comma) if comma.as_char() == ',' => {}
            _ => return None,
        }
    }
    (!octets.is_empty()).then_some(octets)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use quote::quote;

    use super::table;

    /// Written by `table` itself: what is emitted is compiled here against the real crate.
    static TABLE: phf::Map<&'static [u8], u32> = include!("../../tests/golden/dispatch_table.in");

    fn names() -> Vec<String> {
        let operations = (0..40).map(|n| format!("operation{n}"));
        operations
            .chain(["_get_owner", "_set_owner", "send_2way", "a"].map(str::to_owned))
            .collect()
    }

    #[test]
    fn the_emitted_table_compiles_with_phf_and_is_the_one_we_emit() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dispatch_table.in");
        let emitted = format!("{}\n", table(&names(), &quote!(::phf)));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(path, &emitted).unwrap();
        } else {
            assert_eq!(fs::read_to_string(path).unwrap(), emitted);
        }
    }

    #[test]
    fn every_name_is_found_and_no_other() {
        for (index, name) in names().iter().enumerate() {
            assert_eq!(
                TABLE.get(name.as_bytes()).copied(),
                u32::try_from(index).ok(),
                "{name}"
            );
        }
        for other in [
            "",
            "operation",
            "operation40",
            "Operation1",
            "_get_owner\0",
            "b",
        ] {
            assert_eq!(TABLE.get(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn the_path_keeps_its_tokens() {
        let text = table(&names(), &quote!($crate::__private::phf)).to_string();
        assert!(
            text.starts_with("$ crate :: __private :: phf :: Map {"),
            "{text}"
        );
    }
}
