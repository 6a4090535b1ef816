//! Calls of the operations of an abstract interface, whose receiver may be an object or a value.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Generator, ident};
use crate::model::{DefId, Interface, InterfaceKind, ScopeId, ValueType};

impl Generator<'_> {
    /// The servant's traits of an abstract interface and its bases for what is one of the two, and the trait by which values
    /// are called.
    pub(super) fn abstract_calls(&self, id: DefId, interface: &Interface) -> TokenStream {
        if interface.kind != InterfaceKind::Abstract {
            return TokenStream::new();
        }
        let orb = &self.orb;
        let from = self.model.def(id).scope;
        let reference = self.reference_name(id);
        let lineage = self.lineage(id, interface);
        let contracts = lineage.iter().map(|(owner_id, owner)| {
            let contract = self.path_to(from, *owner_id);
            let methods = self.abstract_methods(from, *owner_id, owner);
            quote!(impl #contract for #orb::Abstract<#reference> { #methods })
        });
        let name = self.supported_name(id);
        let methods = interface
            .operations
            .iter()
            .map(|operation| self.value_method(from, interface.scope, operation).0);
        let of_values = has_operations(interface)
            .then(|| quote!(#[doc(hidden)] pub trait #name { #(#methods)* }));
        quote!(#of_values #(#contracts)*)
    }

    /// The methods of the trait of `owner`, which call an object or a value.
    fn abstract_methods(&self, from: ScopeId, id: DefId, owner: &Interface) -> TokenStream {
        let orb = &self.orb;
        let supported = self.path(from, self.model.def(id).scope, &self.supported_name(id));
        let methods = owner.operations.iter().map(|operation| {
            let method = ident(&self.names.method(operation));
            let (allow, head, result) = self.contract_parts(from, owner, operation);
            let arguments = self.contract_arguments(operation);
            let value = quote!(__value);
            let call = self.value_call(&value, &supported, operation);
            quote! {
                #allow
                async #head -> #result {
                    match self {
                        #orb::Abstract::Object(__object) => __object.#method(#(#arguments),*).await,
                        #orb::Abstract::Value(#value) => #call,
                    }
                }
            }
        });
        methods.collect()
    }

    /// The implementations, by a value type with `bases`, of the traits of the abstract interfaces that it supports.
    pub(super) fn supported(&self, id: DefId, value: &ValueType, bases: &[DefId]) -> TokenStream {
        let from = self.model.def(id).scope;
        let interfaces = value.ancestors.iter().filter_map(|&ancestor| {
            let interface = self.model.interface(ancestor)?;
            let called = interface.kind == InterfaceKind::Abstract && has_operations(interface);
            called.then_some((ancestor, interface))
        });
        let implementations = interfaces.map(|(interface_id, interface)| {
            let supported = self.supported_name(interface_id);
            let supported = self.path(from, self.model.def(interface_id).scope, &supported);
            // The value type whose trait has the operations.
            let owner = [id].iter().chain(bases).copied().find(|&owner| {
                let operations = self.value_operations(owner);
                operations
                    .iter()
                    .any(|(scope, _)| *scope == interface.scope)
            });
            let owner = owner.unwrap_or(id);
            let contract = self.path(
                from,
                self.model.def(owner).scope,
                &self.contract_name(owner),
            );
            let methods = interface.operations.iter().map(|operation| {
                let (_, signature) = self.value_method(from, interface.scope, operation);
                let method = ident(&self.names.method(operation));
                let names = self
                    .inputs(operation)
                    .map(|parameter| self.parameter_name(operation, parameter));
                quote!(#signature { <Self as #contract>::#method(self, #(#names),*) })
            });
            quote!(impl #supported { #(#methods)* })
        });
        implementations.collect()
    }

    /// The name of the hidden trait by which an abstract interface's operations are called on values.
    fn supported_name(&self, id: DefId) -> Ident {
        format_ident!("__{}OfValue", self.names.of(id))
    }
}

fn has_operations(interface: &Interface) -> bool {
    !interface.operations.is_empty()
}
