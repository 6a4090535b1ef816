//! Asynchronous calls of the Messaging specification: `sendc_…` and `sendp_…`, and pollers.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::operations::lints;
use super::{Generator, ident, tuples};
use crate::model::{DefId, Interface, Operation, Role, ScopeId, Type};
use crate::names::type_name;

/// An operation with asynchronous calls.
struct Call<'a> {
    owner_id: DefId,
    owner: &'a Interface,
    operation: &'a Operation,
    /// The method without `sendc_` and `sendp_`, and of the poller.
    stem: String,
}

/// One argument of a call that goes on when its method has returned, so that it owns what it sends.
struct OwnedInput {
    parameter: TokenStream,
    converted: Option<TokenStream>,
    argument: TokenStream,
}

/// `stem` behind as many `ami_` as it takes to have a free name.
fn free(taken: &mut HashSet<String>, prefix: &str, stem: &str) -> String {
    let names = (0..).map(|times| format!("{prefix}{}{stem}", "ami_".repeat(times)));
    let mut names = names.filter(|name| taken.insert(name.clone()));
    names.next().unwrap_or_default()
}

impl Generator<'_> {
    /// The asynchronous calls of an interface, and its poller.
    pub(super) fn asynchronous(&self, id: DefId, interface: &Interface) -> TokenStream {
        if !self.model.implied.contains_key(&id) {
            return TokenStream::new();
        }
        let from = self.model.def(id).scope;
        let name = self.reference_name(id);
        let calls = self.calls(id, interface);
        let methods = self.asynchronous_methods(from, id, interface, &calls);
        let methods = (!calls.is_empty()).then(|| quote!(impl #name { #methods }));
        let replies = self.replies(from, id, interface);
        let poller = self.poller(from, id, interface, &calls);
        quote!(#methods #replies #poller)
    }

    /// The operations with asynchronous calls, inherited ones included.
    fn calls<'b>(&'b self, id: DefId, interface: &'b Interface) -> Vec<Call<'b>> {
        let lineage = self.lineage(id, interface).into_iter();
        let lineage = lineage.filter(|(id, _)| self.model.implied.contains_key(id));
        let operations = lineage.flat_map(|(owner_id, owner)| {
            let operations = owner.operations.iter().filter(|it| !it.oneway);
            operations.map(move |operation| (owner_id, owner, operation))
        });
        let operations: Vec<_> = operations.collect();
        let mut taken = HashSet::new();
        let mut calls: Vec<(usize, Call<'_>)> = Vec::new();
        // Operations keep their names; those of attributes give way.
        for is_attribute in [false, true] {
            for (at, &(owner_id, owner, operation)) in operations.iter().enumerate() {
                if is_attribute != (operation.role != Role::Operation) {
                    continue;
                }
                let method = self.names.method(operation);
                let stem = match operation.role {
                    Role::Get => {
                        let name = method.strip_suffix('_').unwrap_or(&method);
                        format!("get_{name}")
                    }
                    _ => method,
                };
                let stem = free(&mut taken, "", &stem);
                let call = Call {
                    owner_id,
                    owner,
                    operation,
                    stem,
                };
                calls.push((at, call));
            }
        }
        calls.sort_by_key(|(at, _)| *at);
        calls.into_iter().map(|(_, call)| call).collect()
    }

    fn asynchronous_methods(
        &self,
        from: ScopeId,
        id: DefId,
        interface: &Interface,
        calls: &[Call<'_>],
    ) -> TokenStream {
        let methods = self.lineage(id, interface).into_iter();
        let methods = methods.flat_map(|(_, owner)| &owner.operations);
        let mut taken: HashSet<String> = methods.map(|it| self.names.method(it)).collect();
        let mut written = TokenStream::new();
        for call in calls {
            let stem = call.stem.strip_suffix('_').unwrap_or(&call.stem);
            let callback = ident(&free(&mut taken, "sendc_", stem));
            let polled = ident(&free(&mut taken, "sendp_", stem));
            written.extend(self.asynchronous_call(from, call, &callback, &polled));
        }
        written
    }

    fn asynchronous_call(
        &self,
        from: ScopeId,
        call: &Call<'_>,
        callback: &Ident,
        polled: &Ident,
    ) -> TokenStream {
        let (orb, private) = (&self.orb, &self.private);
        let Call {
            owner_id,
            operation,
            stem,
            ..
        } = call;
        let Some(implied) = self.model.implied.get(owner_id) else {
            return TokenStream::new();
        };
        let handler = self.path_to_reference(from, implied.handler);
        let scope = self.model.def(*owner_id).scope;
        let poller = self.path(from, scope, &ident(&type_name(&implied.poller)));
        let reply = self.reply_method(call.owner, operation);
        let inputs: Vec<_> = (self.inputs(operation))
            .map(|parameter| {
                let name = self.parameter_name(operation, parameter);
                self.owned_input(from, &parameter.ty, &name)
            })
            .collect();
        let context = self.context_name(operation).map(|name| OwnedInput {
            parameter: quote!(#name: &#orb::Context),
            converted: Some(quote!(let #name = ::core::clone::Clone::clone(#name);)),
            argument: quote!(&#name),
        });
        let inputs: Vec<_> = inputs.into_iter().chain(context).collect();
        let parameters: Vec<_> = inputs.iter().map(|input| &input.parameter).collect();
        let converted = inputs.iter().map(|input| &input.converted);
        let arguments = inputs.iter().map(|input| &input.argument);
        let method = ident(&self.names.method(operation));
        let begin = quote! {
            let __target = ::core::clone::Clone::clone(self);
            #(#converted)*
            let __call = async move { __target.#method(#(#arguments),*).await };
        };
        let mut given = "ami_handler".to_owned();
        let is_taken = |given: &str| {
            let mut names = self.inputs(operation);
            names.any(|it| self.parameter_name(operation, it) == given)
        };
        while is_taken(&given) {
            given.push('_');
        }
        let given = ident(&given);
        let what = self.call_of(operation);
        let (to_handler, to_poller) = (
            format!(" {what}, and returns before the reply: `{given}` gets it, unless it is nil."),
            format!(" {what}, and returns before the reply: the poller gets it."),
        );
        let of_callback = lints(inputs.len() + 1, 0);
        let of_poller = lints(inputs.len(), 0);
        let callback = self.placed(
            operation.def,
            quote!(pub fn #callback(&self, #given: impl #orb::IntoReference<#handler>, #(#parameters),*)),
        );
        let polled = self.placed(
            operation.def,
            quote!(pub fn #polled(&self, #(#parameters),*) -> #poller),
        );
        quote! {
            #[doc = #to_handler]
            #of_callback
            #callback {
                let #given = #orb::IntoReference::<#handler>::into_reference(#given);
                #begin
                #private::send_to_handler(&self.object, #given, __call, #handler::#reply);
            }
            #[doc = #to_poller]
            #of_poller
            #polled {
                #begin
                let __poller = #private::send_to_poller(&self.object, #stem, __call, #handler::#reply);
                ::core::convert::From::from(__poller)
            }
        }
    }

    /// A call, as the beginning of a sentence.
    fn call_of(&self, operation: &Operation) -> String {
        let name = &self.model.def(operation.def).name;
        match operation.role {
            Role::Get => format!("Reads attribute `{name}`"),
            Role::Set => format!("Writes attribute `{name}`"),
            Role::Operation | Role::Factory => format!("Calls operation `{name}`"),
        }
    }

    fn owned_input(&self, from: ScopeId, ty: &Type, name: &Ident) -> OwnedInput {
        let orb = &self.orb;
        let ty = self.model.unaliased(ty);
        let value = self.value(from, ty);
        let argument = self.owned_argument(ty, name);
        let is_object =
            self.model.is_reference(ty) && !self.model.is_abstract(ty) && !self.is_home_bound(ty);
        if is_object {
            let reference = self.reference_type(from, ty);
            return OwnedInput {
                parameter: quote!(#name: impl #orb::IntoReference<#reference>),
                converted: Some(
                    quote!(let #name = #orb::IntoReference::<#reference>::into_reference(#name);),
                ),
                argument,
            };
        }
        let is_converted =
            self.is_handle(ty) || matches!(ty, Type::Str { .. } | Type::Sequence(..));
        match is_converted {
            true => OwnedInput {
                parameter: quote!(#name: impl ::core::convert::Into<#value>),
                converted: Some(quote!(let #name: #value = ::core::convert::Into::into(#name);)),
                argument,
            },
            false => OwnedInput {
                parameter: quote!(#name: #value),
                converted: None,
                argument,
            },
        }
    }

    /// An owned value as the argument of a stub.
    fn owned_argument(&self, ty: &Type, name: &Ident) -> TokenStream {
        match self.is_by_value(ty) || self.is_handle(ty) {
            true => quote!(#name),
            false => quote!(&#name),
        }
    }

    /// The hidden method of a handler's reference that passes an outcome of `operation` to the handler.
    fn reply_method(&self, owner: &Interface, operation: &Operation) -> Ident {
        let of = self.model.scope(owner.scope).owner;
        let implied = of.and_then(|of| self.model.implied.get(&of));
        let handler = implied.and_then(|implied| self.model.interface(implied.handler));
        let mut own = owner.operations.iter().filter(|it| !it.oneway);
        let at = own.position(|it| it.def == operation.def && it.role == operation.role);
        let reply = handler.and_then(|handler| handler.operations.get(2 * at?));
        let name = reply.map(|reply| self.names.method(reply));
        format_ident!("__reply_{}", name.unwrap_or_default())
    }

    /// The methods of the handler's reference that pass outcomes to the handler.
    fn replies(&self, from: ScopeId, id: DefId, interface: &Interface) -> Option<TokenStream> {
        let (orb, implied) = (&self.orb, self.model.implied.get(&id)?);
        let handler = self.model.interface(implied.handler)?;
        let name = self.reference_name(implied.handler);
        let own = interface.operations.iter().filter(|it| !it.oneway);
        let methods = own.zip(handler.operations.chunks(2)).map(|(operation, pair)| {
            let [reply, exceptions] = pair else {
                return TokenStream::new();
            };
            let method = self.reply_method(interface, operation);
            let (output, error) = (
                self.output_type(from, operation),
                self.error_type(from, interface, operation),
            );
            let names: Vec<_> = (reply.parameters.iter())
                .map(|parameter| self.parameter_name(reply, parameter))
                .collect();
            let arguments = reply.parameters.iter().zip(&names);
            let arguments = arguments
                .map(|(parameter, name)| self.owned_argument(self.model.unaliased(&parameter.ty), name));
            let pattern = tuples::results_pattern(orb, names.iter().map(|it| quote!(#it)).collect());
            let reply = ident(&self.names.method(reply));
            let exceptions = ident(&self.names.method(exceptions));
            let allow = lints(1, self.outputs(operation).len());
            quote! {
                #[doc(hidden)]
                #allow
                pub fn #method(
                    self,
                    __outcome: ::core::result::Result<#output, #error>,
                ) -> impl ::core::future::Future<
                    Output = ::core::result::Result<(), #orb::SystemException>,
                > + ::core::marker::Send + 'static {
                    async move {
                        match __outcome {
                            ::core::result::Result::Ok(#pattern) => self.#reply(#(#arguments),*).await,
                            ::core::result::Result::Err(__error) => self.#exceptions(&__error).await,
                        }
                    }
                }
            }
        });
        let methods: Vec<_> = methods.collect();
        (!methods.is_empty()).then(|| quote!(impl #name { #(#methods)* }))
    }

    fn poller(
        &self,
        from: ScopeId,
        id: DefId,
        interface: &Interface,
        calls: &[Call<'_>],
    ) -> Option<TokenStream> {
        let (orb, private) = (&self.orb, &self.private);
        let name = ident(&type_name(&self.model.implied.get(&id)?.poller));
        let doc = format!(
            " The reply to a call of interface `{}`, which is asked for by the method of the operation.",
            self.model.def(id).repository_id
        );
        let bases = interface.ancestors.iter().filter_map(|base| {
            let implied = self.model.implied.get(base)?;
            let scope = self.model.def(*base).scope;
            Some(self.path(from, scope, &ident(&type_name(&implied.poller))))
        });
        let methods = calls.iter().map(|call| {
            let (operation, stem) = (call.operation, &call.stem);
            let method = ident(stem);
            let output = self.output_type(from, operation);
            let error = self.error_type(from, call.owner, operation);
            let doc = format!(
                " Waits for the reply to `{}`, up to `timeout`, or for ever.",
                self.wire_name(operation)
            );
            let allow = lints(1, self.outputs(operation).len());
            let signature = quote! {
                pub fn #method(
                    &self,
                    timeout: ::core::option::Option<::core::time::Duration>,
                ) -> impl ::core::future::Future<
                    Output = ::core::result::Result<#output, #error>,
                > + ::core::marker::Send + '_
            };
            let signature = self.placed(operation.def, signature);
            quote!(#[doc = #doc] #allow #signature { self.poller.reply(#stem, timeout) })
        });
        let methods: Vec<_> = methods.collect();
        let methods = (!methods.is_empty()).then(|| quote!(impl #name { #(#methods)* }));
        Some(quote! {
            #[doc = #doc]
            #[derive(Debug)]
            pub struct #name { poller: #orb::messaging::Poller }
            #private::poller!(#name => [#(#bases),*]);
            #methods
        })
    }

    /// The error type of an operation, for its reply handler.
    pub(super) fn exceptions(&self, from: ScopeId, operation: DefId, role: Role) -> TokenStream {
        let scope = self.model.def(operation).scope;
        let owner = self.model.scope(scope).owner;
        let owner = owner.and_then(|owner| self.model.interface(owner));
        let found = owner.and_then(|owner| {
            let mut operations = owner.operations.iter();
            let found = operations.find(|it| it.def == operation && it.role == role)?;
            Some(self.error_type(from, owner, found))
        });
        let orb = &self.orb;
        found.unwrap_or_else(|| quote!(#orb::SystemException))
    }
}
