//! Typed references, whose methods (stubs) a client calls.

use proc_macro2::TokenStream;
use quote::quote;

use super::operations::lints;
use super::tuples::{result_codecs, tuple};
use super::{Generator, ident};
use crate::model::{DefId, Interface, InterfaceKind, Operation, ScopeId};

impl Generator<'_> {
    pub(super) fn reference(&self, id: DefId, interface: &Interface) -> TokenStream {
        let (orb, private) = (&self.orb, &self.private);
        let from = self.model.def(id).scope;
        let name = self.reference_name(id);
        let repository_id = &self.model.def(id).repository_id;
        let doc = self.doc_with(
            id,
            &format!("A reference to an object of interface `{repository_id}`."),
        );
        let bases: Vec<_> = interface
            .ancestors
            .iter()
            .map(|&base| self.path_to_reference(from, base))
            .collect();
        let upcasts =
            (!bases.is_empty()).then(|| quote!(#private::upcasts!(#name => [#(#bases),*]);));
        let lineage_ids = [id].into_iter().chain(interface.ancestors.iter().copied());
        let abstracts: Vec<_> = lineage_ids
            .filter(|&base| {
                let base = self.model.interface(base);
                base.is_some_and(|base| base.kind == InterfaceKind::Abstract)
            })
            .map(|base| self.path_to_reference(from, base))
            .collect();
        let abstracts = (!abstracts.is_empty())
            .then(|| quote!(#private::abstract_upcasts!(#name => [#(#abstracts),*]);));
        let base_ids = interface
            .ancestors
            .iter()
            .map(|&base| &self.model.def(base).repository_id);
        let type_code = self.own_type_code(id);
        let kind = match interface.kind {
            InterfaceKind::Abstract => quote!(abstract),
            _ => quote!(concrete),
        };
        let lineage = self.lineage(id, interface);
        let methods: Vec<_> = lineage
            .iter()
            .flat_map(|(_, owner)| {
                owner
                    .operations
                    .iter()
                    .map(|operation| self.stub(from, owner, operation))
            })
            .collect();
        let methods = (!methods.is_empty()).then(|| quote!(impl #name { #(#methods)* }));
        quote! {
            #doc
            #[derive(Clone)]
            pub struct #name { object: #orb::ObjectRef }
            #private::interface_ref!(#name, #repository_id, #kind #type_code, bases: [#(#base_ids),*]);
            #upcasts
            #abstracts
            #methods
        }
    }

    fn stub(&self, from: ScopeId, owner: &Interface, operation: &Operation) -> TokenStream {
        let private = &self.private;
        let doc = self.operation_doc(operation);
        let method = ident(&self.names.method(operation));
        let wire = self.wire_name(operation);
        let inputs: Vec<_> = self
            .inputs(operation)
            .map(|parameter| {
                let name = self.parameter_name(operation, parameter);
                (self.stub_parameter(from, &parameter.ty, &name), name)
            })
            .collect();
        let parameters = inputs.iter().map(|(input, name)| {
            let ty = &input.ty;
            quote!(#name: #ty)
        });
        let parameters = parameters.chain(self.context_parameter(operation, Some(&quote!('a))));
        let context = self.context_name(operation).map(|name| {
            let patterns = operation.context.iter().map(|pattern| &**pattern);
            quote!(#private::ContextArgument::new(#name, &[#(#patterns),*]))
        });
        let typed = self.has_typed_call(operation);
        let arguments = inputs.iter().map(|(input, _)| {
            let argument = &input.argument;
            match input.reference && !typed {
                true => quote!(#private::untyped_reference(#argument)),
                false => argument.clone(),
            }
        });
        let arguments: Vec<_> = arguments.chain(context).collect();
        let output = self.output_type(from, operation);
        let error = self.error_type(from, owner, operation);
        let allow = lints(inputs.len(), self.outputs(operation).len());
        let plain = |arguments: &[TokenStream]| {
            let arguments = tuple(arguments);
            match operation.oneway {
                true => quote!(self.object.invoke_oneway(#wire, #arguments)),
                false => self.call(from, operation, &arguments),
            }
        };
        let call = (self.in_memory_call(from, owner, operation, &plain))
            .unwrap_or_else(|| plain(&arguments));
        // No `async fn`, as rustc would analyse the body of each as that of a program. One lifetime for all that the call
        // borrows keeps the signature short, and is captured in every edition.
        let named = !operation.context.is_empty() || inputs.iter().any(|(input, _)| input.lifetime);
        let (lifetimes, of_self, captured) = match named {
            true => (Some(quote!(<'a>)), Some(quote!('a)), quote!('a)),
            false => (None, None, quote!('_)),
        };
        let signature = quote! {
            pub fn #method #lifetimes (&#of_self self, #(#parameters),*) -> impl ::core::future::Future<
                Output = ::core::result::Result<#output, #error>,
            > + ::core::marker::Send + #captured
        };
        let signature = self.placed(operation.def, signature);
        quote!(#doc #allow #signature { #call })
    }

    /// The invocation.
    fn call(&self, from: ScopeId, operation: &Operation, arguments: &TokenStream) -> TokenStream {
        let wire = self.wire_name(operation);
        let codecs = self.results(from, operation);
        if self.has_typed_call(operation) {
            let parameters = self
                .inputs(operation)
                .map(|parameter| self.passing(from, &parameter.ty));
            return quote! {
                self.object.call::<(#(#parameters,)*), (#(#codecs,)*), _, _>(#wire, #arguments)
            };
        }
        quote!(self.object.invoke::<_, (#(#codecs,)*), _>(#wire, #arguments))
    }

    /// The codecs of the results of an operation, of which there are at most as many as a tuple of the codec has members.
    pub(super) fn results(&self, from: ScopeId, operation: &Operation) -> Vec<TokenStream> {
        let outputs = self.outputs(operation).into_iter();
        let codecs = outputs.map(|ty| self.codec(from, ty).tokens).collect();
        result_codecs(&self.private, codecs)
    }
}
