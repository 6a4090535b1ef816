//! `idl! { … }`.

use std::path::PathBuf;

use proc_macro::{Delimiter, TokenStream, TokenTree};
use proc_macro2::Span;
use quote::quote;
use zorb_idl::{Diagnostics, Options, Output, compile_str};

use crate::attribute::watch;
use crate::errors::{compile_error, drawn, told};
use crate::text::Rebuilt;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let mut options = Options::default();
    match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            // As it came: a `$crate` in there works by its hygiene.
            options.crate_path = group.stream().into();
        }
        _ => {
            let message = "expected the path of the ORB in brackets: use `zorb::idl!`";
            return compile_error(Span::call_site(), message).into();
        }
    }
    options.include_dirs = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    let tokens: Vec<TokenTree> = tokens.collect();
    match literal(&tokens) {
        Some(literal) => from_literal(&literal, &options),
        None => from_tokens(&tokens, &options),
    }
}

/// The one string literal that `tokens` are; macros may have put it into invisible groups.
fn literal(tokens: &[TokenTree]) -> Option<syn::LitStr> {
    match tokens {
        [TokenTree::Literal(literal)] => {
            syn::parse(TokenTree::Literal(literal.clone()).into()).ok()
        }
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => {
            literal(&group.stream().into_iter().collect::<Vec<_>>())
        }
        _ => None,
    }
}

fn from_literal(literal: &syn::LitStr, options: &Options) -> TokenStream {
    match compile_str("idl!", &literal.value(), options) {
        Ok(output) => items(output),
        Err(diagnostics) => {
            let errors = diagnostics
                .iter()
                .map(|diagnostic| compile_error(literal.span(), &drawn(diagnostic)));
            faults(errors.collect(), &diagnostics)
        }
    }
}

fn from_tokens(tokens: &[TokenTree], options: &Options) -> TokenStream {
    const NAME: &str = "idl!";
    let rebuilt = Rebuilt::new(tokens);
    match compile_str(NAME, &rebuilt.text, options) {
        Ok(output) => items(output),
        Err(mut diagnostics) => {
            diagnostics.shift_lines(NAME, rebuilt.first_line.saturating_sub(1));
            let errors = diagnostics.iter().map(|diagnostic| {
                let line = (diagnostic.line + 1).saturating_sub(rebuilt.first_line);
                let own = diagnostic.file == NAME;
                let span = match own {
                    true => rebuilt.span(line, diagnostic.column),
                    // Where it is included.
                    false => {
                        let mut labels = diagnostic.labels.iter();
                        labels.find(|label| label.file == NAME).and_then(|label| {
                            let line = (label.line + 1).saturating_sub(rebuilt.first_line);
                            rebuilt.span(line, label.column)
                        })
                    }
                };
                // An included file is nothing rustc could show.
                let message = if own {
                    told(diagnostic)
                } else {
                    drawn(diagnostic)
                };
                compile_error(span.map_or_else(Span::call_site, Span::from), &message)
            });
            faults(errors.collect(), &diagnostics)
        }
    }
}

/// The errors, and the files that a repair may change.
fn faults(errors: proc_macro2::TokenStream, diagnostics: &Diagnostics) -> TokenStream {
    let watched = watch(diagnostics.dependencies());
    quote!(#errors #watched).into()
}

fn items(output: Output) -> TokenStream {
    let watched = watch(&output.dependencies);
    let tokens = output.tokens;
    quote!(#tokens #watched).into()
}
