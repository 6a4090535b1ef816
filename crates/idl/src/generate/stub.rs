//! Typed references: what a client calls.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::operations::lints;
use super::tuples::{CODEC_MEMBERS, tuple};
use super::{Generator, ident};
use crate::model::{DefId, Interface, InterfaceKind, Operation, ScopeId};

impl Generator<'_> {
    pub(super) fn reference(&self, id: DefId, interface: &Interface) -> TokenStream {
        let (orb, private) = (&self.orb, &self.private);
        let from = self.model.def(id).scope;
        let name = self.reference_name(id);
        let repository_id = &self.model.def(id).repository_id;
        let doc = format!(" A reference to an object of interface `{repository_id}`.");
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
            #[doc = #doc]
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
        let parameters = parameters.chain(self.context_parameter(operation));
        let prepare = inputs.iter().map(|(input, _)| &input.prepare);
        let context = self.context_name(operation).map(|name| {
            let patterns = operation.context.iter().map(|pattern| &**pattern);
            quote!(#private::ContextArgument::new(#name, &[#(#patterns),*]))
        });
        let arguments = inputs.iter().map(|(input, _)| input.argument.clone());
        let arguments: Vec<_> = arguments.chain(context).collect();
        let arguments = tuple(&arguments);
        let lifetime = inputs
            .iter()
            .any(|(input, _)| input.lifetime)
            .then(|| quote!(<'a>));
        let output = self.output_type(from, operation);
        let error = self.error_type(from, owner, operation);
        let allow = lints(inputs.len(), self.outputs(operation).len());
        let (kind, call) = match operation.oneway {
            true => (
                quote!(one_way),
                quote!(self.object.invoke_oneway(&OPERATION, #arguments).await),
            ),
            false => (
                quote!(two_way),
                self.call(from, operation, &arguments, &error),
            ),
        };
        quote! {
            #doc
            #allow
            pub async fn #method #lifetime (&self, #(#parameters),*) -> ::core::result::Result<#output, #error> {
                static OPERATION: #private::Operation = #private::Operation::#kind(#wire);
                #(#prepare)*
                #call
            }
        }
    }

    /// The invocation, and the result taken out of what was decoded.
    fn call(
        &self,
        from: ScopeId,
        operation: &Operation,
        arguments: &TokenStream,
        error: &TokenStream,
    ) -> TokenStream {
        let outputs: Vec<_> = self
            .outputs(operation)
            .into_iter()
            .map(|ty| self.decoded(from, ty))
            .collect();
        let types: Vec<_> = outputs.iter().map(|(ty, _)| ty.clone()).collect();
        let types = tuple(&types);
        let invoke = quote!(self.object.invoke::<_, #types, #error>(&OPERATION, #arguments).await);
        let special = outputs.iter().any(|(_, special)| *special);
        let as_decoded = (2..=CODEC_MEMBERS).contains(&outputs.len()) && !special;
        if outputs.is_empty() || as_decoded {
            return invoke;
        }
        let names: Vec<_> = match outputs.len() {
            1 => vec![ident("result")],
            count => (0..count)
                .map(|index| format_ident!("result{index}"))
                .collect(),
        };
        let values = names
            .iter()
            .zip(&outputs)
            .map(|(name, (_, special))| match special {
                true => quote!(#name.0),
                false => quote!(#name),
            });
        let values = match outputs.len() {
            1 => quote!(#(#values)*),
            _ => quote!((#(#values),*)),
        };
        let names: Vec<_> = names.iter().map(|name| quote!(#name)).collect();
        let names = tuple(&names);
        quote! {
            let #names = #invoke?;
            ::core::result::Result::Ok(#values)
        }
    }
}
