//! Diagnostics of the IDL compiler as diagnostics of rustc.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use zorb_idl::{Diagnostic, Diagnostics};

/// A `compile_error!` with this message at this place.
pub(crate) fn compile_error(span: Span, message: &str) -> TokenStream {
    let mut literal = Literal::string(message);
    literal.set_span(span);
    let literal = TokenTree::from(literal);
    quote_spanned! { span => ::core::compile_error! { #literal } }
}

/// The errors in place of the items, and again in each module that the IDL would have become. Rustc reports equal errors
/// once, and does not report missing names of a module with an error. So a typo in IDL is one error, and not one for each
/// `use` of its items.
pub(crate) fn everywhere(errors: &TokenStream, diagnostics: &Diagnostics) -> TokenStream {
    let modules = diagnostics
        .modules()
        .iter()
        .map(|name| Ident::new(name, Span::call_site()));
    quote!(#errors #(#[doc(hidden)] pub mod #modules { #errors })*)
}

/// The whole drawing, for IDL that rustc cannot show, without the word "error", which rustc adds.
pub(crate) fn drawn(diagnostic: &Diagnostic) -> String {
    let text = diagnostic.to_string();
    text.strip_prefix("error: ")
        .unwrap_or(&text)
        .trim_end()
        .to_owned()
}

/// The message alone, for IDL that rustc shows itself.
pub(crate) fn message_of(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    for label in &diagnostic.labels {
        text.push_str(&format!(
            "\n{} (line {}): {}",
            label.message,
            label.line,
            label.source_line.trim()
        ));
    }
    if let Some(hint) = &diagnostic.hint {
        text.push_str(&format!("\nhelp: {hint}"));
    }
    text
}
