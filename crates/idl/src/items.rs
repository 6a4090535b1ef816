//! Lint attributes for generated items in a file of the user's package.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

/// `tokens`, with an attribute on every top-level item that allows lints on generated code. The items stand in a file of
/// the user's package, where rustc does not know that they were generated.
pub(crate) fn allowed(tokens: TokenStream) -> TokenStream {
    let mut rest = tokens.into_iter().peekable();
    let mut all = TokenStream::new();
    while rest.peek().is_some() {
        let item: Vec<TokenTree> = item(&mut rest);
        let attributes = item.iter().enumerate().take_while(|(index, token)| {
            matches!((index % 2, token), (0, TokenTree::Punct(mark)) if mark.as_char() == '#')
                || index % 2 == 1
        });
        let first = item.get(attributes.count());
        // An attribute on a macro call would have no effect.
        if matches!(first, Some(TokenTree::Ident(word)) if ITEMS.iter().any(|item| word == item)) {
            all.extend(quote!(#[allow(
                dead_code,
                unreachable_pub,
                clippy::all,
                clippy::pedantic,
                reason = "generated from IDL"
            )]));
        }
        all.extend(item);
    }
    all
}

/// Words that an item begins with.
const ITEMS: [&str; 9] = [
    "const", "enum", "impl", "mod", "pub", "static", "struct", "trait", "type",
];

/// The next item, up to its braces, or to its `;` if it ends with one.
fn item(rest: &mut impl Iterator<Item = TokenTree>) -> Vec<TokenTree> {
    let mut item = Vec::new();
    let mut has_value = false;
    for token in rest {
        let ends = match &token {
            TokenTree::Ident(word) => {
                has_value |= ["const", "static", "type"].iter().any(|it| word == it);
                false
            }
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !has_value,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Literal(_) => false,
        };
        item.push(token);
        if ends {
            break;
        }
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    #[test]
    fn every_item_but_a_macro_is_allowed_what_lints_say() {
        let text = "#[doc = \" A.\"] pub struct A; const B: [u8; 1] = { [0] }; ::zorb::m!(A {}); \
                    impl A {} crate::m! {} pub mod b { pub struct C { x: u8 } }";
        let allowed = allowed(tokens(text)).to_string();
        let counted = allowed.matches("dead_code").count();
        assert_eq!(counted, 4, "{allowed}");
        let before_macros = allowed.contains("\")] :: zorb") || allowed.contains("\")] crate");
        assert!(!before_macros, "{allowed}");
    }
}
