//! Formatting of generated tokens as readable Rust.

use proc_macro2::TokenStream;

/// Generated items as a Rust source file; for build scripts, tools and golden tests.
///
/// Tokens that are not a list of items come back on one line, as `TokenStream` prints them.
#[must_use]
pub fn format(tokens: TokenStream) -> String {
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(_) => tokens.to_string(),
    }
}
