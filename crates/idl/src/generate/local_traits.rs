//! Local interfaces and native types.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::operations::lints;
use super::{Generator, ident};
use crate::model::{DefId, DefKind, Interface, InterfaceKind, Operation, ScopeId, Type};

impl Generator<'_> {
    /// The local interface that `ty` is a reference to.
    pub(super) fn local_interface(&self, ty: &Type) -> Option<DefId> {
        match self.model.unaliased(ty) {
            Type::Named(id) => self.is_local(*id).then_some(*id),
            _ => None,
        }
    }

    /// Whether `ty` is native or a reference to a local interface, which cannot be marshalled.
    pub(super) fn is_home_bound(&self, ty: &Type) -> bool {
        match self.model.unaliased(ty) {
            Type::Named(id) => {
                self.is_local(*id) || matches!(self.model.def(*id).kind, DefKind::Native)
            }
            _ => false,
        }
    }

    fn is_local(&self, id: DefId) -> bool {
        let interface = self.model.interface(id);
        interface.is_some_and(|interface| interface.kind == InterfaceKind::Local)
    }

    /// The trait of a local interface. Its methods are plain functions, so that it can be used as `dyn`.
    ///
    /// The traits of local bases are its supertraits. Operations inherited from other bases are declared again, since the
    /// traits of those bases are for remote calls.
    pub(super) fn local_contract(&self, id: DefId, interface: &Interface) -> TokenStream {
        let private = &self.private;
        let from = self.model.def(id).scope;
        let name = ident(self.names.of(id));
        let doc = self.doc_with(
            id,
            &format!("Local interface `{}`.", self.model.def(id).repository_id),
        );
        let bases = interface.bases.iter().filter(|&&base| self.is_local(base));
        let paths: Vec<_> = bases
            .clone()
            .map(|&base| self.path_to(from, base))
            .collect();
        let bounds = match &paths[..] {
            [] => quote!(::core::marker::Send + ::core::marker::Sync + 'static),
            paths => quote!(#(#paths)+*),
        };
        let covered: HashSet<DefId> = bases
            .flat_map(|&base| self.model.ancestors(base).unwrap_or_default())
            .copied()
            .collect();
        let lineage = self.lineage(id, interface);
        let own = lineage.iter().filter(|(owner, _)| {
            *owner == id || !(self.is_local(*owner) || covered.contains(owner))
        });
        let methods = own.flat_map(|(_, owner)| {
            let operations = owner.operations.iter();
            operations.map(|operation| self.local_method(from, owner, operation))
        });
        quote! {
            #doc
            pub trait #name: #bounds { #(#methods)* }
            #private::local_interface!(#name);
        }
    }

    /// A parameter of a method that is called directly. It has the type of a servant's parameter, except for octets, which lie
    /// in no message.
    pub(super) fn local_parameter(&self, from: ScopeId, ty: &Type) -> TokenStream {
        match self.is_octets(ty) {
            true => quote!(&[u8]),
            false => self.servant_parameter(from, ty),
        }
    }

    fn local_method(&self, from: ScopeId, owner: &Interface, operation: &Operation) -> TokenStream {
        let doc = self.operation_doc(operation);
        let method = format_ident!("{}", self.names.method(operation));
        let parameters = self.inputs(operation).map(|parameter| {
            let name = self.parameter_name(operation, parameter);
            let ty = self.local_parameter(from, &parameter.ty);
            quote!(#name: #ty)
        });
        let parameters = parameters.chain(self.context_parameter(operation, None));
        let output = self.output_type(from, operation);
        let error = self.error_type(from, owner, operation);
        let allow = lints(
            self.inputs(operation).count(),
            self.outputs(operation).len(),
        );
        let signature = quote! {
            fn #method(&self, #(#parameters),*) -> ::core::result::Result<#output, #error>
        };
        let signature = self.placed(operation.def, signature);
        quote!(#doc #allow #signature;)
    }

    /// A native type: the type that the option names, or `zorb::Native`.
    pub(super) fn native(&self, id: DefId) -> TokenStream {
        debug_assert!(matches!(self.model.def(id).kind, DefKind::Native));
        let orb = &self.orb;
        let doc = self.doc(id, "Native type");
        let name = ident(self.names.of(id));
        let target = match self.names.native(id) {
            Some(path) => self.outer_path(self.model.def(id).scope, path),
            None => quote!(#orb::Native),
        };
        quote! { #doc pub type #name = #target; }
    }
}
