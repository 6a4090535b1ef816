//! Delegation: a servant that passes the operations of an interface on to another servant.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Generator, ident};
use crate::model::{DefId, Interface};

impl Generator<'_> {
    /// The trait `FooDelegate`, and the implementation of the servant's trait for every type that implements it.
    pub(super) fn delegate(&self, id: DefId, interface: &Interface) -> TokenStream {
        let from = self.model.def(id).scope;
        let contract = ident(self.names.of(id));
        let name = ident(&self.names.delegate(id));
        let servant = ident(self.names.servant);
        let bounds = self.contract_bounds(from, interface);
        let doc = format!(
            " Implements [`{contract}`] by another servant of interface `{}`.",
            self.model.def(id).repository_id
        );
        let methods = interface.operations.iter().map(|operation| {
            let signature = self.contract_method(from, interface, operation);
            let method = format_ident!("{}", self.names.method(operation));
            let arguments = self.contract_arguments(operation);
            quote! {
                #signature {
                    <<#servant as #name>::Delegate as #contract>::#method(
                        <#servant as #name>::delegate(self), #(#arguments),*
                    )
                }
            }
        });
        quote! {
            #[doc = #doc]
            pub trait #name: #bounds {
                #[doc = " The servant that gets the calls."]
                type Delegate: #contract;
                #[doc = " The servant that gets the calls."]
                fn delegate(&self) -> &Self::Delegate;
            }
            impl<#servant: #name> #contract for #servant { #(#methods)* }
        }
    }
}
