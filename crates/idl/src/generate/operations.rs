//! The servant's trait, and the error types of operations.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::docs::list_item;
use super::{Generator, ident, tuples};
use crate::model::{
    DefId, DefKind, Direction, Interface, Operation, Parameter, Role, ScopeId, Type,
};

impl Generator<'_> {
    /// The operation name on the wire, as in `_get_x` for an attribute.
    pub(super) fn wire_name(&self, operation: &Operation) -> String {
        let name = &self.model.def(operation.def).name;
        match operation.role {
            Role::Operation | Role::Factory => name.to_string(),
            Role::Get => format!("_get_{name}"),
            Role::Set => format!("_set_{name}"),
        }
    }

    /// The parameters that travel with the request.
    pub(super) fn inputs<'b>(
        &self,
        operation: &'b Operation,
    ) -> impl Iterator<Item = &'b Parameter> {
        operation
            .parameters
            .iter()
            .filter(|parameter| parameter.direction != Direction::Out)
    }

    /// The types of the results, in the order of the reply.
    pub(super) fn outputs<'b>(&self, operation: &'b Operation) -> Vec<&'b Type> {
        let out = operation
            .parameters
            .iter()
            .filter(|parameter| parameter.direction != Direction::In);
        operation
            .result
            .iter()
            .chain(out.map(|parameter| &parameter.ty))
            .collect()
    }

    /// The type of the [results](tuples::results).
    pub(super) fn output_type(&self, from: ScopeId, operation: &Operation) -> TokenStream {
        let outputs = self.outputs(operation).into_iter();
        tuples::results(&self.orb, outputs.map(|ty| self.value(from, ty)).collect())
    }

    /// The error of an operation of interface `owner`.
    pub(super) fn error_type(
        &self,
        from: ScopeId,
        owner: &Interface,
        operation: &Operation,
    ) -> TokenStream {
        self.error_in(from, owner.scope, operation)
    }

    /// The error type of an operation that is declared in scope `owner`.
    pub(super) fn error_in(
        &self,
        from: ScopeId,
        owner: ScopeId,
        operation: &Operation,
    ) -> TokenStream {
        if operation.raises.is_empty() {
            let orb = &self.orb;
            return quote!(#orb::SystemException);
        }
        self.path(from, owner, &ident(&self.names.error_enum(operation)))
    }

    pub(super) fn parameter_name(&self, operation: &Operation, parameter: &Parameter) -> Ident {
        ident(&self.names.parameter(operation.def, &parameter.name))
    }

    /// The name of the parameter for the caller's context, if the operation has a `context` clause: `context`, unless a
    /// parameter of the IDL has that name.
    pub(super) fn context_name(&self, operation: &Operation) -> Option<Ident> {
        if operation.context.is_empty() {
            return None;
        }
        let mut name = "context".to_owned();
        while operation
            .parameters
            .iter()
            .any(|parameter| self.names.parameter(operation.def, &parameter.name) == name)
        {
            name.push('_');
        }
        Some(ident(&name))
    }

    /// The parameter for the caller's context, with its type.
    pub(super) fn context_parameter(
        &self,
        operation: &Operation,
        lifetime: Option<&TokenStream>,
    ) -> Option<TokenStream> {
        let orb = &self.orb;
        let name = self.context_name(operation)?;
        Some(quote!(#name: &#lifetime #orb::Context))
    }

    /// A sentence that names an operation, and its results where they need names.
    pub(super) fn operation_doc(&self, operation: &Operation) -> TokenStream {
        let name = &self.model.def(operation.def).name;
        let mut line = match (operation.role, operation.oneway) {
            (Role::Operation, false) => format!("Operation `{name}`."),
            (Role::Operation, true) => format!("Oneway operation `{name}`."),
            (Role::Factory, _) => format!("Factory `{name}`."),
            (Role::Get, _) => format!("Reads attribute `{name}`."),
            (Role::Set, _) => format!("Writes attribute `{name}`."),
        };
        let out = operation
            .parameters
            .iter()
            .filter(|parameter| parameter.direction != Direction::In);
        let mut results: Vec<String> = out
            .map(|parameter| format!("`{}`", parameter.name))
            .collect();
        if !results.is_empty() {
            if operation.result.is_some() {
                results.insert(0, "the result".to_owned());
            }
            line.push_str(&format!(" Returns {}.", results.join(", ")));
        }
        let documented = operation.parameters.iter().filter_map(|parameter| {
            let doc = parameter.doc.as_deref()?;
            Some(list_item(&parameter.name, doc))
        });
        let documented: String = documented.collect();
        if !documented.is_empty() {
            line = format!("{}\n {line}", documented.trim_start());
        }
        self.doc_with(operation.def, &line)
    }

    /// The error enums of all operations of `interface` that raise exceptions.
    pub(super) fn operation_errors(&self, interface: &Interface) -> TokenStream {
        self.errors_of(interface.scope, &interface.operations)
    }

    /// The error enums of operations declared in `scope` that raise exceptions.
    pub(super) fn errors_of(&self, scope: ScopeId, operations: &[Operation]) -> TokenStream {
        let raising = operations
            .iter()
            .filter(|operation| !operation.raises.is_empty());
        raising
            .map(|operation| self.operation_error(scope, operation))
            .collect()
    }

    fn operation_error(&self, from: ScopeId, operation: &Operation) -> TokenStream {
        let (orb, private) = (&self.orb, &self.private);
        let name = ident(&self.names.error_enum(operation));
        let doc = format!(" The exceptions of `{}`.", self.wire_name(operation));
        let variants = self.variants(&operation.raises);
        let payloads: Vec<_> = operation
            .raises
            .iter()
            .map(|&id| self.path_to(from, id))
            .collect();
        let docs = operation
            .raises
            .iter()
            .map(|&id| format!(" `{}`.", self.model.def(id).repository_id));
        let (natives, exceptions): (Vec<_>, Vec<_>) = operation
            .raises
            .iter()
            .zip(variants.iter().zip(&payloads))
            .partition(|(id, _)| matches!(self.model.def(**id).kind, DefKind::Native));
        let exceptions = exceptions
            .iter()
            .map(|(_, (variant, payload))| quote!(#variant(#payload)));
        let natives = natives.iter().map(|(id, (variant, _))| {
            let repository_id = &self.model.def(**id).repository_id;
            quote!(#variant = #repository_id)
        });
        let natives: Vec<_> = natives.collect();
        let natives = (!natives.is_empty()).then(|| quote!(native { #(#natives),* }));
        quote! {
            #[doc = #doc]
            #[derive(Debug, Clone, PartialEq)]
            #[non_exhaustive]
            pub enum #name {
                #(#[doc = #docs] #variants(#payloads),)*
                #[doc = " A system exception."]
                System(#orb::SystemException),
            }
            #private::operation_error!(#name { #(#exceptions),* } #natives);
        }
    }

    /// A variant for each exception: its name, preceded by the name of its scope where the name alone is not unique.
    fn variants(&self, raises: &[DefId]) -> Vec<Ident> {
        let short = |id: DefId| self.names.of(id).to_owned();
        let mut taken: Vec<String> = vec!["System".to_owned()];
        let names = raises.iter().map(|&id| {
            let name = short(id);
            let alone = name != "System"
                && raises.iter().filter(|&&other| short(other) == name).count() == 1;
            let path = self.model.path(self.model.def(id).scope);
            let mut variant = match alone {
                true => name,
                false => format!("{}{name}", crate::names::type_name(&path.join("_"))),
            };
            // `A::BX` and `AB::X` have one name: count.
            while taken.contains(&variant) {
                variant.push('2');
            }
            taken.push(variant.clone());
            ident(&variant)
        });
        names.collect()
    }

    /// The trait that a servant implements.
    pub(super) fn contract(&self, id: DefId, interface: &Interface) -> TokenStream {
        let from = self.model.def(id).scope;
        let name = self.item_name(id);
        let doc = self.doc_with(
            id,
            &format!(
                "The operations of a servant of interface `{}`, as `async fn`s.",
                self.model.def(id).repository_id
            ),
        );
        let bounds = self.contract_bounds(from, interface);
        let private = &self.private;
        let methods = interface.operations.iter().map(|operation| {
            let doc = self.operation_doc(operation);
            let signature = self.contract_method(from, interface, operation);
            let body = match self.defaults {
                true => {
                    let names = self.contract_arguments(operation);
                    quote!({ #(let _ = #names;)* #private::not_implemented() })
                }
                // The end is at the place of the rest: rustc shows what lies between.
                false => self.placed(operation.def, quote!(;)),
            };
            quote!(#doc #signature #body)
        });
        quote! { #doc pub trait #name: #bounds { #(#methods)* } }
    }

    /// The bounds on implementations of the servant's trait of `interface`.
    pub(super) fn contract_bounds(&self, from: ScopeId, interface: &Interface) -> TokenStream {
        let bases: Vec<DefId> = (interface.bases.iter().copied())
            // It has no operations, and servants need not implement it.
            .filter(|&base| self.model.reply_handler != Some(base))
            .collect();
        match &bases[..] {
            [] => quote!(::core::marker::Send + ::core::marker::Sync + 'static),
            bases => {
                let bases = bases.iter().map(|&base| self.path_to(from, base));
                quote!(#(#bases)+*)
            }
        }
    }

    /// The names of the parameters of a servant's method.
    pub(super) fn contract_arguments(&self, operation: &Operation) -> Vec<Ident> {
        let inputs = self.inputs(operation);
        let names = inputs.map(|parameter| self.parameter_name(operation, parameter));
        names.chain(self.context_name(operation)).collect()
    }

    /// The method of the servant's trait, without its body.
    pub(super) fn contract_method(
        &self,
        from: ScopeId,
        interface: &Interface,
        operation: &Operation,
    ) -> TokenStream {
        let (allow, method, result) = self.contract_parts(from, interface, operation);
        let signature = quote! {
            #method -> impl ::core::future::Future<Output = #result> + ::core::marker::Send
        };
        let signature = self.placed(operation.def, signature);
        quote!(#allow #signature)
    }

    /// The parts of a method of the servant's trait: attributes, name with parameters, and what its future returns.
    pub(super) fn contract_parts(
        &self,
        from: ScopeId,
        interface: &Interface,
        operation: &Operation,
    ) -> (TokenStream, TokenStream, TokenStream) {
        let method = format_ident!("{}", self.names.method(operation));
        let parameters = self.inputs(operation).map(|parameter| {
            let name = self.parameter_name(operation, parameter);
            let ty = self.servant_parameter(from, &parameter.ty);
            quote!(#name: #ty)
        });
        let parameters = parameters.chain(self.context_parameter(operation, None));
        let output = self.output_type(from, operation);
        let error = self.error_type(from, interface, operation);
        let allow = lints(
            self.inputs(operation).count(),
            self.outputs(operation).len(),
        );
        let result = quote!(::core::result::Result<#output, #error>);
        (allow, quote!(fn #method(&self, #(#parameters),*)), result)
    }
}

/// Allows the lints of clippy that an operation with so many parameters and results causes.
pub(super) fn lints(parameters: usize, results: usize) -> TokenStream {
    // Clippy permits seven parameters, `self` included.
    let many = (parameters > 6)
        .then(|| quote!(#[allow(clippy::too_many_arguments, reason = "the IDL has as many")]));
    let complex = (results > 2)
        .then(|| quote!(#[allow(clippy::type_complexity, reason = "the IDL has as many results")]));
    quote!(#many #complex)
}
