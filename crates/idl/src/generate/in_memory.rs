//! Operations whose values travel as they lie in memory, beside the same operations in CDR.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::tuples::{CODEC_MEMBERS, tuple};
use super::{Generator, ident};
use crate::model::{DefId, Interface, Operation, ScopeId};

/// The beginning of a question by which a client asks whether an object has such an operation: as a repository id, which every ORB
/// answers.
const QUESTION: &str = "LAYOUT:";

impl Generator<'_> {
    /// The hash of how the operation's values lie in memory, if any of them may travel so.
    pub(super) fn in_memory_hash(&self, operation: &Operation) -> Option<u64> {
        if !operation.context.is_empty() || self.inputs(operation).count() > CODEC_MEMBERS {
            return None;
        }
        let outputs = self.outputs(operation);
        if outputs.len() > CODEC_MEMBERS {
            return None;
        }
        let inputs = self.inputs(operation).map(|parameter| &parameter.ty);
        self.in_memory.hash(self.model, inputs, outputs.into_iter())
    }

    /// The name of the operation that passes values in memory: that of the one in CDR, and the hash.
    pub(super) fn in_memory_name(&self, operation: &Operation) -> Option<String> {
        let hash = self.in_memory_hash(operation)?;
        Some(format!("{}/{hash:016x}", self.wire_name(operation)))
    }

    /// The question about the operation of this name.
    pub(super) fn in_memory_question(name: &str) -> String {
        format!("{QUESTION}{name}")
    }

    /// Generates with the codecs of values in memory.
    pub(super) fn in_memory<T>(&self, generate: impl FnOnce() -> T) -> T {
        self.passes_memory.set(true);
        let generated = generate();
        self.passes_memory.set(false);
        generated
    }

    /// The attributes of a type that lies in memory as it travels, with the traits that prove it, and an import that they need in
    /// front.
    pub(super) fn in_memory_attributes(&self, id: DefId, repr: &str) -> (TokenStream, TokenStream) {
        let private = &self.private;
        let alias = format_ident!("__in_memory_{}", self.names.of(id));
        // A path in a string cannot name `$crate`, and an import can.
        let path = format!("self::{alias}");
        let (path, repr) = (Literal::string(&path), ident(repr));
        let import = quote! {
            #[allow(non_snake_case, unused_imports, reason = "for the derived traits")]
            use #private::zerocopy as #alias;
        };
        let attributes = quote! {
            #[derive(#alias::Immutable, #alias::IntoBytes, #alias::KnownLayout, #alias::TryFromBytes)]
            #[zerocopy(crate = #path)]
            #[repr(#repr)]
        };
        (import, attributes)
    }

    /// The body of the stub of an operation that has a form in memory: that one where the object has said that it has it, too, and
    /// else `plain`, the call in CDR, with these arguments.
    pub(super) fn in_memory_call(
        &self,
        from: ScopeId,
        owner: &Interface,
        operation: &Operation,
        plain: &dyn Fn(&[TokenStream]) -> TokenStream,
    ) -> Option<TokenStream> {
        let private = &self.private;
        let (hash, name) = (
            self.in_memory_hash(operation)?,
            self.in_memory_name(operation)?,
        );
        let typed = self.has_typed_call(operation);
        let mut kept = TokenStream::new();
        let (mut arguments, mut in_memory) = (Vec::new(), Vec::new());
        for parameter in self.inputs(operation) {
            let name: Ident = self.parameter_name(operation, parameter);
            let input = self.stub_parameter(from, &parameter.ty, &name);
            let argument = match input.reference && !typed {
                true => {
                    let argument = input.argument;
                    quote!(#private::untyped_reference(#argument))
                }
                false => input.argument,
            };
            if self.is_common_parameter(&parameter.ty) {
                let of_memory = || self.stub_parameter(from, &parameter.ty, &name).argument;
                in_memory.push(self.in_memory(of_memory));
                arguments.push(argument);
            } else {
                // Converted once, for either call.
                kept.extend(quote!(let #name = #argument;));
                in_memory.push(quote!(&#name));
                arguments.push(quote!(#name));
            }
        }
        let (plain, in_memory) = (plain(&arguments), tuple(&in_memory));
        let question = Self::in_memory_question(&name);
        let hash = Literal::u64_unsuffixed(hash);
        let call = match operation.oneway {
            true => quote!(return self.object.invoke_oneway(#name, #in_memory).await;),
            false => {
                let error = self.error_type(from, owner, operation);
                let codecs = self.in_memory(|| self.results(from, operation));
                quote! {
                    let result = self.object.invoke::<_, (#(#codecs,)*), #error>(#name, #in_memory).await;
                    if !self.object.declines_memory(#hash, &result) {
                        return result;
                    }
                }
            }
        };
        let passes = match operation.oneway {
            true => quote!(self.object.passes_memory_one_way(#hash, #question)),
            false => quote!(self.object.passes_memory(#hash, #question).await),
        };
        Some(quote! {
            #kept
            async move {
                if #passes {
                    #call
                }
                #plain.await
            }
        })
    }
}
