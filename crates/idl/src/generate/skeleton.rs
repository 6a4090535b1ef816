//! Skeletons, which turn a request into a call of the servant, and its result into the reply.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::dispatch::perfect_hash;
use super::tuples::{CODEC_MEMBERS, place, tuple};
use super::{Generator, ident};
use crate::model::{DefId, Interface, Operation, ScopeId};

impl Generator<'_> {
    pub(super) fn skeleton(&self, id: DefId, interface: &Interface) -> TokenStream {
        let private = &self.private;
        let from = self.model.def(id).scope;
        let contract = ident(self.names.of(id));
        let name = ident(&self.names.skeleton(id));
        let reference = self.reference_name(id);
        let servant = ident(self.names.servant);
        let repository_id = &self.model.def(id).repository_id;
        let doc = format!(" Serves interface `{repository_id}` with a [`{contract}`].");
        let ids = [id].into_iter().chain(interface.ancestors.iter().copied());
        let ids = ids.map(|id| self.model.def(id).repository_id.clone());
        let lineage = self.lineage(id, interface);
        let operations = lineage.iter().flat_map(|(_, owner)| &owner.operations);
        let in_memory = operations.filter_map(|operation| self.in_memory_name(operation));
        let ids = ids.chain(in_memory.map(|name| Self::in_memory_question(&name)));
        let (start, operations) = self.start(from, &servant, &lineage);
        quote! {
            #[doc = #doc]
            #[derive(Debug)]
            pub struct #name<#servant> { servant: ::std::sync::Arc<#servant> }
            impl<#servant: #contract> #name<#servant> {
                #[doc = " A skeleton that owns its servant."]
                pub fn new(servant: #servant) -> Self {
                    Self { servant: ::std::sync::Arc::new(servant) }
                }
                #[doc = " A skeleton that shares its servant with the other owners of the `Arc`."]
                pub fn from_arc(servant: ::std::sync::Arc<#servant>) -> Self {
                    Self { servant }
                }
            }
            impl<#servant> ::core::clone::Clone for #name<#servant> {
                fn clone(&self) -> Self {
                    Self { servant: ::std::sync::Arc::clone(&self.servant) }
                }
            }
            impl<#servant: #contract> #private::InterfaceSkeleton for #name<#servant> {
                type Ref = #reference;
            }
            impl<#servant: #contract> #private::Skeleton for #name<#servant> {
                fn repository_id(&self) -> &'static str {
                    #repository_id
                }
                fn is_a(&self, repository_id: &str) -> bool {
                    ::core::matches!(repository_id, #(#ids)|*)
                }
                fn start(&self, request: #private::ServerRequest) -> #private::Started {
                    #start
                }
                fn servant(
                    &self,
                ) -> ::core::option::Option<
                    ::std::sync::Arc<dyn ::core::any::Any + ::core::marker::Send + ::core::marker::Sync>,
                > {
                    let servant = ::std::sync::Arc::clone(&self.servant);
                    ::core::option::Option::Some(servant)
                }
                #operations
            }
        }
    }

    fn start(
        &self,
        from: ScopeId,
        servant: &Ident,
        lineage: &[(DefId, &Interface)],
    ) -> (TokenStream, TokenStream) {
        let private = &self.private;
        let operations: Vec<_> = lineage
            .iter()
            .flat_map(|&(id, owner)| {
                owner
                    .operations
                    .iter()
                    .map(move |operation| (id, operation))
            })
            .collect();
        if operations.is_empty() {
            return (quote!(request.unknown_operation()), TokenStream::new());
        }
        let in_memory = operations
            .iter()
            .filter_map(|&(id, operation)| Some((id, operation, self.in_memory_name(operation)?)));
        let in_memory: Vec<_> = in_memory.collect();
        let names: Vec<String> = operations
            .iter()
            .map(|(_, operation)| self.wire_name(operation))
            .chain(in_memory.iter().map(|(_, _, name)| name.clone()))
            .collect();
        let table = perfect_hash(&names, &quote!(#private::Operations));
        let arms = operations
            .iter()
            .enumerate()
            .map(|(index, (id, operation))| {
                let index = Literal::usize_unsuffixed(index);
                let contract = self.path_to(from, *id);
                let upcall = self.upcall(from, servant, &contract, operation);
                quote! { ::core::option::Option::Some(#index) => #upcall, }
            });
        let arms_in_memory = in_memory
            .iter()
            .enumerate()
            .map(|(index, (id, operation, _))| {
                let index = Literal::usize_unsuffixed(operations.len() + index);
                let contract = self.path_to(from, *id);
                let upcall = self.in_memory(|| self.upcall(from, servant, &contract, operation));
                quote! { ::core::option::Option::Some(#index) => #upcall, }
            });
        let arms = arms.chain(arms_in_memory);
        let start = quote! {
            match request.find(#private::Skeleton::operations(self)) {
                #(#arms)*
                _ => request.unknown_operation(),
            }
        };
        let operations = quote! {
            #[inline]
            fn operations(&self) -> &'static #private::Operations {
                static OPERATIONS: #private::Operations = #table;
                &OPERATIONS
            }
        };
        (start, operations)
    }

    /// The upcall of one operation: a function of the ORB, with the servant's method and the codecs of arguments and results
    /// as parameters.
    fn upcall(
        &self,
        from: ScopeId,
        servant: &Ident,
        contract: &TokenStream,
        operation: &Operation,
    ) -> TokenStream {
        let (orb, private) = (&self.orb, &self.private);
        let inputs = self
            .inputs(operation)
            .map(|parameter| self.passing(from, &parameter.ty));
        let context = (!operation.context.is_empty()).then(|| quote!(#orb::Context));
        let parameters: Vec<_> = inputs.chain(context).collect();
        let results = self.results(from, operation);
        if parameters.len() > CODEC_MEMBERS {
            let body = self.large_upcall(from, servant, contract, operation, &results);
            return quote!({
                if request.is_typed() {
                    return #private::Started::OtherTypes(request);
                }
                let servant = ::std::sync::Arc::clone(&self.servant);
                #private::Upcall::start(move || async move { #body })
            });
        }
        let method = ident(&self.names.method(operation));
        quote! {
            #private::upcall::<(#(#parameters,)*), (#(#results,)*), _, _, _>(
                &self.servant, request, <#servant as #contract>::#method,
            )
        }
    }

    /// The upcall of an operation with more parameters than the function of the ORB supports.
    fn large_upcall(
        &self,
        from: ScopeId,
        servant: &Ident,
        contract: &TokenStream,
        operation: &Operation,
        results: &[TokenStream],
    ) -> TokenStream {
        let private = &self.private;
        let method = ident(&self.names.method(operation));
        let written = self.inputs(operation).count();
        let count = written + usize::from(!operation.context.is_empty());
        let argument = |index| place(&quote!(arguments), index, count);
        let inputs = self
            .inputs(operation)
            .enumerate()
            .map(|(index, parameter)| self.servant_argument(from, &parameter.ty, &argument(index)));
        let context = (count > written).then(|| {
            let (orb, context) = (&self.orb, argument(written));
            (quote!(#orb::Context), quote!(&#context))
        });
        let (decoded, passed): (Vec<_>, Vec<_>) = inputs
            .map(|input| (input.decoded, input.passed))
            .chain(context)
            .unzip();
        let decoded = tuple(&decoded);
        quote! {
            let mut request = request;
            let ended = match request.arguments::<#decoded>() {
                ::core::result::Result::Ok(arguments) => ::core::result::Result::Ok(
                    <#servant as #contract>::#method(&servant, #(#passed),*).await,
                ),
                ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
            };
            match ended {
                ::core::result::Result::Ok(::core::result::Result::Ok(results)) => {
                    request.set_result(&#private::Enc::<#private::Group<(#(#results,)*)>>(&results));
                }
                ::core::result::Result::Ok(::core::result::Result::Err(error)) => {
                    request.set_exception(&error);
                }
                ::core::result::Result::Err(error) => request.set_system_exception(&error),
            }
            request
        }
    }
}
