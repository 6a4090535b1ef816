//! Diagnostics of the IDL compiler as diagnostics of rustc.

use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use zorb_idl::Diagnostic;

/// `compile_error!` with that message at that place.
pub(crate) fn compile_error(span: Span, message: &str) -> TokenStream {
    let mut literal = Literal::string(message);
    literal.set_span(span);
    let literal = TokenTree::from(literal);
    quote_spanned! { span => ::core::compile_error! { #literal } }
}

/// The whole drawing, for IDL that rustc cannot show; rustc itself says "error" in front of it.
pub(crate) fn drawn(diagnostic: &Diagnostic) -> String {
    let text = diagnostic.to_string();
    text.strip_prefix("error: ")
        .unwrap_or(&text)
        .trim_end()
        .to_owned()
}

/// The words alone, for IDL that rustc shows itself.
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
