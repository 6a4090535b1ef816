//! Paths to generated items, relative to where they are used.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Generator, ident};
use crate::model::{DefId, DefKind, ORB_PATH, ScopeId};

impl Generator<'_> {
    /// The path from the Rust module of scope `from` to `name`, which stands in the module of scope `to`.
    ///
    /// The path is relative, so that an expansion works in any module: `super::` to the nearest common module, then down.
    /// Items of another expansion are reached by the path that the option gave.
    pub(super) fn path(&self, from: ScopeId, to: ScopeId, name: &Ident) -> TokenStream {
        let (here_base, here) = self.segments(from);
        let (there_base, there) = self.segments(to);
        if let Some(base) = there_base {
            let base = self.base(&base, here.len());
            return quote!(#base #(:: #there)* :: #name);
        }
        debug_assert!(
            here_base.is_none(),
            "no code is generated inside of an extern module"
        );
        let common = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
        let up = here.iter().skip(common).map(|_| quote!(super ::));
        let down = &there[common..];
        quote!(#(#up)* #(#down ::)* #name)
    }

    /// The modules down to `scope`: from the root of the expansion, or from an extern path.
    fn segments(&self, scope: ScopeId) -> (Option<String>, Vec<Ident>) {
        let mut segments = Vec::new();
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let Some(path) = self.model.externs.get(&scope) {
                segments.reverse();
                return (Some(path.clone()), segments);
            }
            if let Some(owner) = self.model.scope(scope).owner {
                segments.push(match self.model.def(owner).kind {
                    DefKind::Module(_) => ident(self.names.of(owner)),
                    _ => ident(&self.names.inner_module(owner)),
                });
            }
            at = self.model.scope(scope).parent;
        }
        segments.reverse();
        (None, segments)
    }

    /// An extern path, written for the root of the expansion, for use `depth` modules below it.
    fn base(&self, path: &str, depth: usize) -> TokenStream {
        let tokens: TokenStream = path.parse().unwrap_or_default();
        let trimmed = path.trim_start();
        if let Some(rest) = path.strip_prefix(ORB_PATH) {
            let (orb, rest) = (&self.orb, ident(rest));
            return quote!(#orb :: #rest);
        }
        let up = (0..depth).map(|_| quote!(super ::));
        if let Some(rest) = trimmed.strip_prefix("self::") {
            let rest: TokenStream = rest.parse().unwrap_or_default();
            return quote!(#(#up)* #rest);
        }
        if trimmed.starts_with("super") {
            quote!(#(#up)* #tokens)
        } else {
            tokens
        }
    }

    /// A path that an option gave, from scope `from`.
    pub(super) fn outer_path(&self, from: ScopeId, path: &str) -> TokenStream {
        let (_, here) = self.segments(from);
        self.base(path, here.len())
    }

    /// The path from scope `from` to the type that definition `id` became.
    pub(super) fn path_to(&self, from: ScopeId, id: DefId) -> TokenStream {
        self.path(from, self.model.def(id).scope, &ident(self.names.of(id)))
    }

    /// The path from scope `from` to the reference type of interface `id`.
    pub(super) fn path_to_reference(&self, from: ScopeId, id: DefId) -> TokenStream {
        self.path(from, self.model.def(id).scope, &self.reference_name(id))
    }
}
