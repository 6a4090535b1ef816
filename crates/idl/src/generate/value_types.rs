//! Value types: a struct of the state, and a trait of the operations.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::operations::lints;
use super::{Generator, ident};
use crate::model::{DefId, DefKind, Operation, Role, ScopeId, Type, ValueKind, ValueType};

impl Generator<'_> {
    pub(super) fn value_type(&self, id: DefId, value: &ValueType) -> TokenStream {
        let private = &self.private;
        let nested = self.scope(value.scope);
        let errors = [&value.operations, &value.factories]
            .map(|operations| self.errors_of(value.scope, operations));
        let errors = quote!(#(#errors)*);
        let module = (!nested.is_empty() || !errors.is_empty()).then(|| {
            let name = ident(&self.names.inner_module(id));
            let doc = format!(
                " The declarations inside value type `{}`, and the exceptions of its operations.",
                self.model.scoped_name(id)
            );
            quote! { #[doc = #doc] pub mod #name { #nested #errors } }
        });
        let from = self.model.def(id).scope;
        let (name, text) = (ident(self.names.of(id)), self.model.scoped_name(id));
        let ids = self.truncatable_ids(id);
        let ancestors = value.ancestors.iter().copied();
        let bases: Vec<_> = ancestors
            .filter(|&base| self.model.value_type(base).is_some())
            .collect();
        let derives = bases.iter().map(|&base| self.path_to(from, base));
        let known = self
            .derived_types(id)
            .map(|derived| self.path_to(from, derived));
        let contracts: Vec<_> = [id]
            .iter()
            .chain(&bases)
            .filter(|&&owner| self.has_operations(owner))
            .map(|&owner| {
                self.path(
                    from,
                    self.model.def(owner).scope,
                    &self.contract_name(owner),
                )
            })
            .collect();
        let (state, base, kind) = match value.kind {
            // A value type that is only forward-declared has handles alone, as has an abstract one.
            _ if !value.defined => {
                let line = format!(
                    "Value type `{}`, which is declared and not defined here: a handle to one may be null, and \
                     there is no way to make one.",
                    self.model.def(id).repository_id
                );
                let doc = self.doc_with(id, &line);
                let state = quote! {
                    #doc
                    #[derive(Debug)]
                    pub enum #name {}
                };
                (state, None, "abstract")
            }
            ValueKind::Abstract => {
                let doc = self.doc(id, "Abstract value type");
                let state = quote! {
                    #doc
                    #[derive(Debug)]
                    pub enum #name {}
                };
                (state, None, "abstract")
            }
            kind => {
                let (state, base) = self.state(id, value);
                let kind = match kind {
                    ValueKind::Custom => "custom",
                    _ if contracts.is_empty() => "plain",
                    _ => "operations",
                };
                (state, base, kind)
            }
        };
        let kind = ident(kind);
        let contract = self
            .has_operations(id)
            .then(|| self.value_contract(id, value));
        let factories = (!value.factories.is_empty()).then(|| self.factories(id, value));
        let type_code = self.own_type_code(id);
        let supported = match kind == "operations" || kind == "custom" {
            true => self.supported(id, value, &bases),
            false => TokenStream::new(),
        };
        quote! {
            #module
            #state
            #private::value_type!(
                #name, #text, [#(#ids),*], #type_code,
                base: [#base], derives: [#(#derives),*], known: [#(#known),*],
                #kind [#(#contracts),*] #supported
            );
            #contract
            #factories
        }
    }

    /// The trait of the factories of a value type: associated functions, since there is no value yet.
    fn factories(&self, id: DefId, value: &ValueType) -> TokenStream {
        let orb = &self.orb;
        let from = self.model.def(id).scope;
        let (name, state) = (
            ident(&self.names.value_factories(id)),
            ident(self.names.of(id)),
        );
        let doc = format!(
            " The factories of value type `{}`. Implement it for `{state}`; the ORB calls none of them.",
            self.model.def(id).repository_id
        );
        let functions = value.factories.iter().map(|factory| {
            let doc = self.operation_doc(factory);
            let function = ident(&self.names.method(factory));
            let parameters: Vec<_> = self
                .inputs(factory)
                .map(|parameter| {
                    let name = self.parameter_name(factory, parameter);
                    let ty = self.local_parameter(from, &parameter.ty);
                    quote!(#name: #ty)
                })
                .collect();
            let error = self.error_in(from, value.scope, factory);
            let allow = lints(parameters.len(), 0);
            let new = (function == "new").then(|| {
                quote!(#[allow(clippy::new_ret_no_self, reason = "what is new is a handle to one")])
            });
            quote! {
                #doc
                #allow
                #new
                fn #function(#(#parameters),*) -> ::core::result::Result<#orb::Value<#state>, #error>;
            }
        });
        quote! { #[doc = #doc] pub trait #name { #(#functions)* } }
    }

    /// The struct of the state, and the name of the member with the state of the base.
    fn state(&self, id: DefId, value: &ValueType) -> (TokenStream, Option<Ident>) {
        let private = &self.private;
        let from = self.model.def(id).scope;
        let name = ident(self.names.of(id));
        let derives = self.derives.tokens(id);
        let doc = self.doc(id, "The state of value type");
        let base = self.stateful_base(value);
        let base_name = base.map(|_| ident(self.names.base_member(value)));
        let base_field = base.map(|base| {
            let (member, ty) = (&base_name, self.path_to(from, base));
            let doc = format!(" The state of `{}`.", self.model.scoped_name(base));
            quote!(#[doc = #doc] pub #member: #ty,)
        });
        let fields = value.members.iter().map(|member| {
            let name = ident(self.names.of(member.def));
            let access = if member.public { "Public" } else { "Private" };
            let line = format!("{access} member `{}`.", self.model.def(member.def).name);
            let doc = self.doc_with(member.def, &line);
            let ty = self.value(from, &member.ty);
            let field = self.placed(member.def, quote!(pub #name: #ty,));
            quote!(#doc #field)
        });
        let wire = (value.kind != ValueKind::Custom).then(|| {
            let base = base.map(|base| {
                let ty = self.path_to(from, base);
                quote!(#base_name: #ty,)
            });
            let codecs = value.members.iter().map(|member| {
                let name = ident(self.names.of(member.def));
                let codec = self.codec(from, &member.ty).tokens;
                quote!(#name: #codec)
            });
            quote!(#private::cdr_struct!(#name { #base #(#codecs),* });)
        });
        let state = quote! {
            #doc
            #[derive(Debug, Clone, PartialEq #derives)]
            pub struct #name { #base_field #(#fields)* }
            #wire
        };
        (state, base_name)
    }

    /// A value box: a value type with one member, which has no name in IDL.
    pub(super) fn value_box(&self, id: DefId, ty: &Type) -> TokenStream {
        let private = &self.private;
        let from = self.model.def(id).scope;
        let (name, text) = (ident(self.names.of(id)), self.model.scoped_name(id));
        let derives = self.derives.tokens(id);
        let doc = self.doc(id, "Value box");
        let repository_id = &self.model.def(id).repository_id;
        let value = self.value(from, ty);
        let codec = self.codec(from, ty).tokens;
        let type_code = self.own_type_code(id);
        quote! {
            #doc
            #[derive(Debug, Clone, PartialEq #derives)]
            pub struct #name {
                #[doc = " The boxed value."]
                pub value: #value,
            }
            #private::cdr_struct!(#name { value: #codec });
            #private::value_type!(
                #name, #text, [#repository_id], #type_code, base: [], derives: [], known: [], plain []
            );
        }
    }

    /// The repository ids of a value type and of the bases that it may be truncated to.
    fn truncatable_ids(&self, id: DefId) -> Vec<&str> {
        let mut ids = vec![&*self.model.def(id).repository_id];
        let mut at = self.model.value_type(id);
        while let Some(value) = at
            && value.truncatable
            && let Some(base) = self.stateful_base(value)
        {
            ids.push(&self.model.def(base).repository_id);
            at = self.model.value_type(base);
        }
        ids
    }

    fn stateful_base(&self, value: &ValueType) -> Option<DefId> {
        let base = *value.bases.first()?;
        (self.model.value_type(base)?.kind != ValueKind::Abstract).then_some(base)
    }

    /// The value types with state that are derived from `id`.
    fn derived_types(&self, id: DefId) -> impl Iterator<Item = DefId> {
        let defs = self.model.defs.iter().enumerate();
        defs.filter_map(move |(index, def)| match &def.kind {
            DefKind::Value(derived)
                if derived.kind != ValueKind::Abstract && derived.ancestors.contains(&id) =>
            {
                Some(DefId(index))
            }
            _ => None,
        })
    }

    pub(super) fn contract_name(&self, id: DefId) -> Ident {
        ident(&self.names.value_operations(id))
    }

    /// The methods of a value type's trait: its own operations, and those of interfaces that it supports and its bases do
    /// not, each with the scope of its error type.
    pub(super) fn value_operations(&self, id: DefId) -> Vec<(ScopeId, &Operation)> {
        let Some(value) = self.model.value_type(id) else {
            return Vec::new();
        };
        let bases = value.bases.iter();
        let inherited: Vec<&[DefId]> = bases
            .filter_map(|&base| self.model.ancestors(base))
            .collect();
        let supported = value.ancestors.iter().rev();
        let supported = supported.filter(|id| !inherited.iter().any(|known| known.contains(id)));
        let supported = supported.filter_map(|&id| self.model.interface(id));
        let supported = supported.flat_map(|interface| {
            let operations = interface.operations.iter();
            operations.map(|operation| (interface.scope, operation))
        });
        let own = value.operations.iter();
        supported
            .chain(own.map(|operation| (value.scope, operation)))
            .collect()
    }

    fn has_operations(&self, id: DefId) -> bool {
        !self.value_operations(id).is_empty()
    }

    /// The trait of the operations, and its implementation for handles.
    fn value_contract(&self, id: DefId, value: &ValueType) -> TokenStream {
        let orb = &self.orb;
        let from = self.model.def(id).scope;
        let (name, state) = (self.contract_name(id), ident(self.names.of(id)));
        let doc = match value.kind {
            ValueKind::Abstract => format!(
                " The operations of values of type `{}`. Implemented for the states of value types that are derived from it, \
                 and called on a `Value` of any of them.",
                self.model.def(id).repository_id
            ),
            _ => format!(
                " The operations of values of type `{}`. Implement it for `{state}`, and for the state of each value type that \
                 is derived from it; call it on a `Value`.",
                self.model.def(id).repository_id
            ),
        };
        let operations = self.value_operations(id);
        let (declared, forwarded): (Vec<_>, Vec<_>) = operations
            .iter()
            .map(|&(scope, operation)| {
                let (declared, signature) = self.value_method(from, scope, operation);
                let call = self.value_call(&quote!(self), &name, operation);
                (declared, quote!(#signature { #call }))
            })
            .unzip();
        quote! {
            #[doc = #doc]
            pub trait #name { #(#declared)* }
            impl<__T: #orb::Derives<#state>> #name for #orb::Value<__T> { #(#forwarded)* }
        }
    }
    /// A method of a trait of a value type's operations: its declaration, and its signature alone.
    pub(super) fn value_method(
        &self,
        from: ScopeId,
        scope: ScopeId,
        operation: &Operation,
    ) -> (TokenStream, TokenStream) {
        let doc = self.operation_doc(operation);
        let method = ident(&self.names.method(operation));
        let inputs: Vec<_> = self.inputs(operation).collect();
        let parameters = inputs.iter().map(|parameter| {
            let name = self.parameter_name(operation, parameter);
            let ty = self.servant_parameter(from, &parameter.ty);
            quote!(#name: #ty)
        });
        let output = self.output_type(from, operation);
        let error = self.error_in(from, scope, operation);
        let allow = lints(inputs.len(), self.outputs(operation).len());
        let receiver = match operation.role {
            Role::Get => quote!(&self),
            _ => quote!(&mut self),
        };
        let signature = quote! {
            fn #method(#receiver, #(#parameters),*) -> ::core::result::Result<#output, #error>
        };
        let signature = self.placed(operation.def, signature);
        (quote!(#doc #allow #signature;), signature)
    }

    /// The call of an operation on the state of the handle `value`, by its trait `contract`.
    pub(super) fn value_call(
        &self,
        value: &TokenStream,
        contract: &impl ToTokens,
        operation: &Operation,
    ) -> TokenStream {
        let method = ident(&self.names.method(operation));
        let names = self
            .inputs(operation)
            .map(|parameter| self.parameter_name(operation, parameter));
        let through = match operation.role {
            Role::Get => ident("operations"),
            _ => ident("operations_mut"),
        };
        quote!(#value.#through::<dyn #contract, _, _>(|__state| __state.#method(#(#names),*)))
    }
}
