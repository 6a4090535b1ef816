//! Generation of Rust from the model.
//!
//! Generated code refers to the ORB by two paths: the crate itself for the types that users see, and its hidden module
//! `__private` for the rest. It has no `use`, and names of the standard library are full paths. So no name leaks from
//! it, and no name around it can change its meaning.

mod abstract_interfaces;
mod ami;
mod bit_types;
mod data;
mod delegates;
pub(crate) mod dispatch;
mod docs;
mod in_memory;
mod local_traits;
mod markdown;
mod operations;
mod paths;
mod places;
mod plain;
mod rust_types;
mod skeleton;
mod stub;
mod tuples;
mod typecodes;
mod union_enums;
mod value_types;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::compile::{Analysis, Locate};
use crate::derives::Derives;
use crate::in_memory::InMemory;
use crate::model::{DefId, DefKind, Interface, InterfaceKind, Model, ScopeId};
use crate::names::Names;
use crate::options::Options;
use crate::source::SourceMap;
use typecodes::without_type_code;

/// All declarations that are not mapped to another expansion, as items for any module.
pub(crate) fn generate(analysis: &Analysis, options: &Options, locate: &Locate<'_>) -> TokenStream {
    let Analysis {
        model,
        names,
        derives,
        in_memory,
        sources,
        ..
    } = analysis;
    let crate_path = &options.crate_path;
    let generator = Generator {
        model,
        names,
        orb: crate_path.clone(),
        private: quote!(#crate_path::__private),
        defaults: options.defaults,
        delegates: options.delegates,
        without_type_code: without_type_code(model),
        plain: plain::plain_definitions(model),
        derives,
        in_memory,
        passes_memory: Cell::new(false),
        sources,
        locate,
    };
    generator.scope(ScopeId::ROOT)
}

struct Generator<'a> {
    model: &'a Model,
    names: &'a Names,
    /// The crate of the ORB.
    orb: TokenStream,
    /// The hidden module of the ORB.
    private: TokenStream,
    /// [`Options::defaults`].
    defaults: bool,
    /// [`Options::delegates`].
    delegates: bool,
    /// Types without a TypeCode in CORBA.
    without_type_code: HashMap<DefId, ()>,
    /// [Plain](plain::plain_definitions) types: collocated calls may pass a copy.
    plain: HashSet<DefId>,
    derives: &'a Derives,
    in_memory: &'a InMemory,
    /// Whether the codecs are those of values in memory.
    passes_memory: Cell<bool>,
    sources: &'a SourceMap,
    locate: &'a Locate<'a>,
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

impl Generator<'_> {
    /// The items of one IDL scope, in the order of the text.
    fn scope(&self, scope: ScopeId) -> TokenStream {
        if self.model.is_extern(scope) {
            return TokenStream::new();
        }
        self.model
            .scope(scope)
            .order
            .iter()
            .map(|&id| self.definition(id))
            .collect()
    }

    fn definition(&self, id: DefId) -> TokenStream {
        let item = self.item(id);
        let type_code = self.type_code_item(id);
        quote!(#item #type_code)
    }

    fn item(&self, id: DefId) -> TokenStream {
        match &self.model.def(id).kind {
            DefKind::Module(scope) => self.module(id, *scope),
            DefKind::Interface(interface) if interface.defined => self.interface(id, interface),
            // A forward declaration: the operations are not known.
            DefKind::Interface(interface) if self.model.forward_uses.contains_key(&id) => {
                match interface.kind {
                    InterfaceKind::Local => self.local_contract(id, interface),
                    _ => self.reference(id, interface),
                }
            }
            DefKind::Native => self.native(id),
            DefKind::Bitset(bitset) => self.bitset(id, bitset),
            DefKind::Bitmask(bitmask) => self.bitmask(id, bitmask),
            DefKind::Struct(body) => self.with_inner(id, body.scope, self.structure(id, body)),
            DefKind::Union(union) => self.with_inner(id, union.scope, self.union(id, union)),
            DefKind::Exception(body) => self.with_inner(id, body.scope, self.exception(id, body)),
            DefKind::Value(value) if value.defined || self.model.forward_uses.contains_key(&id) => {
                self.value_type(id, value)
            }
            DefKind::ValueBox(ty) => self.value_box(id, ty),
            DefKind::Enum(enumerators) => self.enumeration(id, enumerators),
            DefKind::Typedef(ty) => self.typedef(id, ty),
            DefKind::Const(ty, value) => self.constant(id, ty, value),
            _ => TokenStream::new(),
        }
    }

    fn module(&self, id: DefId, scope: ScopeId) -> TokenStream {
        if self.model.is_extern(scope) {
            return TokenStream::new();
        }
        let doc = self.doc(id, "Module");
        let name = ident(self.names.of(id));
        let items = self.scope(scope);
        quote! { #doc pub mod #name { #items } }
    }

    /// `item`, and a module for the declarations inside of the struct or exception.
    fn with_inner(&self, id: DefId, scope: ScopeId, item: TokenStream) -> TokenStream {
        let inner = self.scope(scope);
        if inner.is_empty() {
            return item;
        }
        let name = ident(&self.names.inner_module(id));
        let doc = format!(" The declarations inside `{}`.", self.model.scoped_name(id));
        quote! { #[doc = #doc] pub mod #name { #inner } #item }
    }

    fn interface(&self, id: DefId, interface: &Interface) -> TokenStream {
        let nested = self.scope(interface.scope);
        let errors = self.operation_errors(interface);
        let module = (!nested.is_empty() || !errors.is_empty()).then(|| {
            let name = ident(&self.names.inner_module(id));
            let doc = format!(
                " The declarations inside interface `{}`, and the exceptions of its operations.",
                self.model.scoped_name(id)
            );
            quote! { #[doc = #doc] pub mod #name { #nested #errors } }
        });
        if interface.kind == InterfaceKind::Local {
            let contract = self.local_contract(id, interface);
            return quote! { #module #contract };
        }
        let contract = self.contract(id, interface);
        let reference = self.reference(id, interface);
        // An abstract interface has no skeleton: values support it, and objects of interfaces derived from it.
        let skeleton =
            (interface.kind != InterfaceKind::Abstract).then(|| self.skeleton(id, interface));
        let delegate = self.delegates.then(|| self.delegate(id, interface));
        let abstract_calls = self.abstract_calls(id, interface);
        let asynchronous = self.asynchronous(id, interface);
        quote! { #module #contract #reference #skeleton #abstract_calls #delegate #asynchronous }
    }

    fn reference_name(&self, id: DefId) -> Ident {
        ident(&self.names.reference(id))
    }

    /// `interface` and its direct and indirect bases, itself last.
    fn lineage<'b>(&'b self, id: DefId, interface: &'b Interface) -> Vec<(DefId, &'b Interface)> {
        let bases = interface.ancestors.iter().rev();
        let bases = bases.filter_map(|&base| {
            self.model
                .interface(base)
                .map(|interface| (base, interface))
        });
        bases.chain([(id, interface)]).collect()
    }
}
