//! Tokens as text that people can read.

use proc_macro2::TokenStream;

/// Generated items as a Rust source file; for build scripts, tools and golden tests.
///
/// Tokens that are no list of items come back as rustc's own spelling of them, on one line.
#[must_use]
pub fn format(tokens: TokenStream) -> String {
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(_) => tokens.to_string(),
    }
}
