//! Unions: an enum whose variants hold the members.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Generator, ident};
use crate::model::{DefId, Union, Value, show_wide};
use crate::selection::{Selection, Selector, Unset};

impl Generator<'_> {
    pub(super) fn union(&self, id: DefId, union: &Union) -> TokenStream {
        let private = &self.private;
        let (name, mut derives) = (self.item_name(id), self.derives.tokens(id));
        let default = (self.derives.has_default(id)).then(|| {
            derives = self.derives.without_default(id);
            self.union_default(id, union)
        });
        let doc = self.doc(id, "Union");
        let from = self.model.def(id).scope;
        let discriminator = self.value(from, &union.discriminator);
        let label = |value: &Value| self.label(&discriminator, value);
        let selection = Selection::of(self.model, union);

        let (mut variants, mut one, mut several) = (Vec::new(), Vec::new(), Vec::new());
        let mut rest = TokenStream::new();
        for (case, selector) in &selection.members {
            let variant = self.item_name(case.member.def);
            let value = self.value(from, &case.member.ty);
            let codec = self.codec(from, &case.member.ty).tokens;
            let doc = self.doc_with(case.member.def, &self.selected(case.member.def, selector));
            match selector {
                Selector::One(value_of) => {
                    let label = label(value_of);
                    variants.push(quote!(#doc #variant(#value),));
                    one.push(quote!(#variant(#codec) = [#label]));
                    continue;
                }
                Selector::Several(labels) => {
                    let labels = labels.iter().map(label);
                    several.push(quote!(#variant(#codec) = #([#labels])*));
                }
                Selector::Others => rest = quote!(default #variant(#codec);),
            }
            variants.push(quote! {
                #doc
                #variant {
                    #[doc = " The discriminator: one of the values that select this member."]
                    discriminator: #discriminator,
                    #[doc = " The member."]
                    value: #value,
                },
            });
        }
        if let Some(unset) = &selection.unset {
            let variant = ident(crate::names::UNSET);
            let doc = " No member.";
            let holds = match unset {
                Unset::One(value) => {
                    let label = label(value);
                    rest = quote!(last #variant = [#label];);
                    None
                }
                Unset::Others => {
                    rest = quote!(unset #variant;);
                    Some(quote! {
                        {
                            #[doc = " The discriminator: a value that selects no member."]
                            discriminator: #discriminator,
                        }
                    })
                }
            };
            variants.push(quote!(#[doc = #doc] #variant #holds,));
        }
        quote! {
            #doc
            #[derive(Debug, Clone, PartialEq #derives)]
            #[allow(clippy::large_enum_variant, reason = "members are as large as the IDL has them")]
            pub enum #name { #(#variants)* }
            #default
            #private::cdr_union!(#name: #discriminator {
                one { #(#one),* }
                several { #(#several),* }
                #rest
            });
        }
    }

    /// `Default`: the member that the text has first, by its first label, with the default of its type.
    fn union_default(&self, id: DefId, union: &Union) -> TokenStream {
        let name = ident(self.names.of(id));
        let discriminator = self.value(self.model.def(id).scope, &union.discriminator);
        let selection = Selection::of(self.model, union);
        let Some((case, selector)) = selection.members.first() else {
            return TokenStream::new();
        };
        let variant = ident(self.names.of(case.member.def));
        let value = quote!(::core::default::Default::default());
        let first = match selector {
            Selector::One(_) => quote!(Self::#variant(#value)),
            Selector::Several(labels) => {
                let label = labels
                    .first()
                    .map(|label| self.label(&discriminator, label));
                quote!(Self::#variant { discriminator: #label, value: #value })
            }
            // The default member stands first: a value that no label names.
            Selector::Others => {
                let label = selection.unlabelled(self.model, &union.discriminator);
                let label = label.map(|label| self.label(&discriminator, &label));
                quote!(Self::#variant { discriminator: #label, value: #value })
            }
        };
        quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    #first
                }
            }
        }
    }

    /// The tokens of a label, for use as a pattern and as an expression.
    fn label(&self, discriminator: &TokenStream, value: &Value) -> TokenStream {
        match value {
            Value::Integer(number) => {
                let sign = (*number < 0).then(|| quote!(-));
                let digits = Literal::u128_unsuffixed(number.unsigned_abs());
                quote!(#sign #digits)
            }
            Value::Boolean(value) => quote!(#value),
            Value::Char(c) => {
                let octet = Literal::u8_unsuffixed(u8::try_from(u32::from(*c)).unwrap_or(b'?'));
                quote!(#discriminator(#octet))
            }
            Value::WideChar(c) => {
                let unit = Literal::u16_unsuffixed(u16::try_from(*c).unwrap_or(0xfffd));
                quote!(#discriminator(#unit))
            }
            Value::Enumerator(enumerator) => {
                let variant = ident(self.names.of(*enumerator));
                quote!(#discriminator::#variant)
            }
            // Nothing is generated from a model with errors, and nothing else is a label.
            _ => TokenStream::new(),
        }
    }

    /// A sentence that names a member and the labels that select it.
    fn selected(&self, member: DefId, selector: &Selector) -> String {
        let name = &self.model.def(member).name;
        let written = |value: &Value| match value {
            Value::Integer(number) => format!("`{number}`"),
            Value::Boolean(true) => "`TRUE`".to_owned(),
            Value::Boolean(false) => "`FALSE`".to_owned(),
            Value::Char(c) => format!("`{c:?}`"),
            Value::WideChar(c) => format!("`{}`", show_wide(*c)),
            Value::Enumerator(enumerator) => format!("`{}`", self.model.def(*enumerator).name),
            _ => String::new(),
        };
        let by = match selector {
            Selector::One(value) => written(value),
            Selector::Several(values) => {
                let all: Vec<_> = values.iter().map(written).collect();
                all.join(", ")
            }
            Selector::Others => "each value that selects no other".to_owned(),
        };
        format!("Member `{name}`, selected by {by}.")
    }
}
