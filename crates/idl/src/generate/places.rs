//! Places of generated code: the IDL of a definition, where rustc can show it.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

use super::{Generator, ident};
use crate::model::DefId;

impl Generator<'_> {
    /// The place of a definition in Rust source.
    fn place(&self, id: DefId) -> Option<Span> {
        let (file, octet) = self.sources.origin(self.model.def(id).span);
        (self.locate)(file, octet)
    }

    /// The Rust name of a definition, for the item that it becomes: errors that point to the item underline the IDL.
    pub(super) fn item_name(&self, id: DefId) -> Ident {
        let mut name = ident(self.names.of(id));
        if let Some(place) = self.place(id) {
            name.set_span(name.span().located_at(place));
        }
        name
    }

    /// `tokens`, such as a signature, for errors that underline the definition in IDL. They are resolved as before.
    pub(super) fn placed(&self, id: DefId, tokens: TokenStream) -> TokenStream {
        match self.place(id) {
            Some(place) => located(tokens, place),
            None => tokens,
        }
    }
}

fn located(tokens: TokenStream, place: Span) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), located(group.stream(), place));
            inner.set_span(group.span().located_at(place));
            TokenTree::Group(inner)
        }
        mut token => {
            token.set_span(token.span().located_at(place));
            token
        }
    });
    tokens.collect()
}
