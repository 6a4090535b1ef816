//! Documentation of generated items.

use proc_macro2::TokenStream;
use quote::quote;

use super::Generator;
use super::markdown::{markdown, one_line};
use crate::model::DefId;

impl Generator<'_> {
    /// The IDL comment of `id`, and a line of `noun` and repository id.
    pub(super) fn doc(&self, id: DefId, noun: &str) -> TokenStream {
        let line = format!("{noun} `{}`.", self.model.def(id).repository_id);
        self.doc_with(id, &line)
    }

    /// The IDL comment of `id`, and `line`.
    pub(super) fn doc_with(&self, id: DefId, line: &str) -> TokenStream {
        let comment = self.model.def(id).doc.as_deref().map(markdown);
        let text = match comment {
            Some(comment) if !comment.is_empty() => format!("{comment}\n\n {line}"),
            _ => format!(" {line}"),
        };
        quote!(#[doc = #text])
    }
}

/// A list item with the comment of the parameter `name`.
pub(super) fn list_item(name: &str, comment: &str) -> String {
    format!(" - `{name}`: {}\n", one_line(comment))
}
