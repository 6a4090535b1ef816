//! The macro `idl! { … }`.

use std::path::{Path, PathBuf};

use proc_macro::{Delimiter, TokenStream, TokenTree};
use proc_macro2::Span;
use quote::quote;
use zorb_idl::{Diagnostics, Options, Output, compile_str_at};

use crate::attribute::{Arguments, watch};
use crate::errors::{compile_error, drawn, everywhere, message_of};
use crate::text::Rebuilt;

/// The name of the text in diagnostics.
const NAME: &str = "idl!";

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = input.into_iter().collect();
    let (orb, tokens) = match tokens.split_first() {
        Some((TokenTree::Group(group), tokens)) if group.delimiter() == Delimiter::Bracket => {
            (group.stream(), tokens)
        }
        _ => {
            let message = "expected the path of the ORB in brackets: use `zorb::idl!`";
            return compile_error(Span::call_site(), message).into();
        }
    };
    let (arguments, tokens) = match arguments(tokens) {
        Ok(found) => found,
        Err(error) => return error.to_compile_error().into(),
    };
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let mut options = arguments.options(root.as_deref().unwrap_or_else(|| Path::new("")));
    // Passed on unchanged, as a `$crate` in it works by its hygiene.
    options.crate_path = orb.into();
    options.include_dirs.splice(0..0, root);
    match literal(tokens) {
        Some(literal) => from_literal(&literal, &arguments, &options),
        None => from_tokens(tokens, &arguments, &options),
    }
}

/// The options in an optional `#![idl(…)]` before the IDL, and the IDL.
fn arguments(tokens: &[TokenTree]) -> syn::Result<(Arguments, &[TokenTree])> {
    let is = |token: &TokenTree, wanted| matches!(token, TokenTree::Punct(mark) if mark.as_char() == wanted);
    let [hash, bang, TokenTree::Group(group), idl @ ..] = tokens else {
        return Ok((Arguments::default(), tokens));
    };
    if !is(hash, '#') || !is(bang, '!') || group.delimiter() != Delimiter::Bracket {
        return Ok((Arguments::default(), tokens));
    }
    let meta: syn::Meta = syn::parse(group.stream())?;
    let list = match &meta {
        syn::Meta::List(list) if list.path.is_ident("idl") => list,
        _ => {
            let message = "expected options of IDL, as in `#![idl(defaults)]`";
            return Err(syn::Error::new_spanned(&meta, message));
        }
    };
    let arguments: Arguments = syn::parse2(list.tokens.clone())?;
    Ok((arguments.for_inline()?, idl))
}

/// The string literal, if `tokens` are a single one. Macros may have put it into invisible groups.
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

fn from_literal(literal: &syn::LitStr, arguments: &Arguments, options: &Options) -> TokenStream {
    let place = |file: &str, _: usize| (file == NAME).then(|| literal.span());
    match compile_str_at(NAME, &literal.value(), options, &place) {
        Ok(output) => items(output, arguments),
        Err(diagnostics) => {
            let errors = diagnostics.iter().map(|diagnostic| {
                let option = diagnostic.setting.and_then(|it| arguments.setting(it));
                match option {
                    Some(place) => compile_error(place, &message_of(diagnostic)),
                    None => compile_error(literal.span(), &drawn(diagnostic)),
                }
            });
            faults(errors.collect(), &diagnostics)
        }
    }
}

fn from_tokens(tokens: &[TokenTree], arguments: &Arguments, options: &Options) -> TokenStream {
    let rebuilt = Rebuilt::new(tokens);
    let place = |file: &str, octet: usize| {
        let place = rebuilt.span_at(octet).filter(|_| file == NAME)?;
        Some(Span::from(place))
    };
    match compile_str_at(NAME, &rebuilt.text, options, &place) {
        Ok(output) => items(output, arguments),
        Err(mut diagnostics) => {
            diagnostics.shift_lines(NAME, rebuilt.first_line.saturating_sub(1));
            let errors = diagnostics.iter().map(|diagnostic| {
                if let Some(place) = diagnostic.setting.and_then(|it| arguments.setting(it)) {
                    return compile_error(place, &message_of(diagnostic));
                }
                let line = (diagnostic.line + 1).saturating_sub(rebuilt.first_line);
                let own = diagnostic.file == NAME;
                let span = match own {
                    true => rebuilt.span(line, diagnostic.column),
                    // The error is placed at the `#include` of its file.
                    false => {
                        let mut labels = diagnostic.labels.iter();
                        labels.find(|label| label.file == NAME).and_then(|label| {
                            let line = (label.line + 1).saturating_sub(rebuilt.first_line);
                            rebuilt.span(line, label.column)
                        })
                    }
                };
                // Rustc cannot show the text of an included file.
                let message = if own {
                    message_of(diagnostic)
                } else {
                    drawn(diagnostic)
                };
                compile_error(span.map_or_else(Span::call_site, Span::from), &message)
            });
            faults(errors.collect(), &diagnostics)
        }
    }
}

/// The errors, and a dependency on the files that a correction may change.
fn faults(errors: proc_macro2::TokenStream, diagnostics: &Diagnostics) -> TokenStream {
    let watched = watch(diagnostics.dependencies());
    let errors = everywhere(&errors, diagnostics);
    quote!(#errors #watched).into()
}

fn items(output: Output, arguments: &Arguments) -> TokenStream {
    let watched = watch(&output.dependencies);
    let tokens = output.tokens;
    let named = arguments.paths();
    quote!(#named #tokens #watched).into()
}
