//! Bitsets and bitmasks: numbers with names for their parts.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{Generator, ident};
use crate::model::{Bitfield, Bitmask, Bitset, DefId, DefKind};

impl Generator<'_> {
    /// A struct of all fields, inherited ones first, which take the lowest bits.
    pub(super) fn bitset(&self, id: DefId, bitset: &Bitset) -> TokenStream {
        let private = &self.private;
        let (name, derives) = (self.item_name(id), self.derives.tokens(id));
        let doc = self.doc(id, "Bitset");
        let (mut fields, mut parts, mut at) = (Vec::new(), Vec::new(), 0);
        for field in self.bitfields(bitset) {
            let (lowest, width) = (Literal::u32_unsuffixed(at), field.width);
            at = at.saturating_add(width);
            let Some(def) = field.def else { continue };
            let (name, ty) = (ident(self.names.of(def)), self.basic(field.ty));
            let plural = if width == 1 { "" } else { "s" };
            let doc = self.doc_with(
                def,
                &format!(
                    "Bitfield `{}`, {width} bit{plural} wide.",
                    self.model.def(def).name
                ),
            );
            let width = Literal::u32_unsuffixed(width);
            fields.push(quote!(#doc pub #name: #ty,));
            parts.push(quote!(#name: #ty = #lowest, #width));
        }
        let holder = holder(at);
        quote! {
            #doc
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default #derives)]
            pub struct #name { #(#fields)* }
            #private::cdr_bitset!(#name: #holder { #(#parts);* });
        }
    }

    fn bitfields<'b>(&'b self, bitset: &'b Bitset) -> Vec<&'b Bitfield> {
        let mut lineage = vec![bitset];
        let mut at = bitset.base;
        while let Some(id) = at
            && let DefKind::Bitset(base) = &self.model.def(id).kind
        {
            lineage.push(base);
            at = base.base;
        }
        lineage.iter().rev().flat_map(|it| &it.fields).collect()
    }

    pub(super) fn bitmask(&self, id: DefId, bitmask: &Bitmask) -> TokenStream {
        let private = &self.private;
        let (name, derives) = (self.item_name(id), self.derives.tokens(id));
        let doc = self.doc(id, "Bitmask");
        let holder = holder(bitmask.width);
        let flags = bitmask.bits.iter().map(|&(bit, position)| {
            let doc = self.doc_with(bit, &format!("Flag `{}`.", self.model.def(bit).name));
            let flag = ident(self.names.of(bit));
            let value = Literal::u64_unsuffixed(1_u64.checked_shl(position).unwrap_or_default());
            quote!(#doc pub const #flag: Self = Self(#value);)
        });
        let names = bitmask
            .bits
            .iter()
            .map(|&(bit, _)| ident(self.names.of(bit)));
        quote! {
            #doc
            #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default #derives)]
            pub struct #name(#holder);
            impl #name { #(#flags)* }
            #private::cdr_bitmask!(#name: #holder { #(#names),* });
        }
    }
}

/// The smallest unsigned Rust type with so many bits.
fn holder(bits: u32) -> Ident {
    ident(match bits {
        0..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        _ => "u64",
    })
}
