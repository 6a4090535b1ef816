//! Structs, exceptions, enums, typedefs and constants.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Generator, ident};
use crate::model::{Basic, DefId, Struct, Type, Value};

impl Generator<'_> {
    pub(super) fn structure(&self, id: DefId, body: &Struct) -> TokenStream {
        let private = &self.private;
        let (name, derives) = (self.item_name(id), self.derives.tokens(id));
        let doc = self.doc(id, "Struct");
        let (mut fields, codecs) = self.fields(id, body);
        let (mut import, mut attributes) = (TokenStream::new(), TokenStream::new());
        if self.in_memory.has_struct(id) {
            let in_order = self.in_memory.order(id).iter();
            fields = in_order
                .filter_map(|&index| fields.get(index).cloned())
                .collect();
            (import, attributes) = self.in_memory_attributes(id, "C");
            if !self.derives.has_copy(id) {
                attributes = quote!(#[derive(Copy)] #attributes);
            }
        }
        let shape = shape(&fields);
        quote! {
            #import
            #doc
            #[derive(Debug, Clone, PartialEq #derives)]
            #attributes
            pub struct #name #shape
            #private::cdr_struct!(#name { #(#codecs),* });
        }
    }

    pub(super) fn exception(&self, id: DefId, body: &Struct) -> TokenStream {
        let private = &self.private;
        let (name, derives) = (self.item_name(id), self.derives.tokens(id));
        let doc = self.doc(id, "Exception");
        let repository_id = &self.model.def(id).repository_id;
        let (fields, codecs) = self.fields(id, body);
        let shape = shape(&fields);
        quote! {
            #doc
            #[derive(Debug, Clone, PartialEq #derives)]
            pub struct #name #shape
            #private::exception!(#name, #repository_id, { #(#codecs),* });
        }
    }

    /// `pub name: Type,` and `name: Codec` of every member.
    fn fields(&self, id: DefId, body: &Struct) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let from = self.model.def(id).scope;
        let members = body.members.iter().map(|member| {
            let name = ident(self.names.of(member.def));
            let doc = self.doc_with(
                member.def,
                &format!("Member `{}`.", self.model.def(member.def).name),
            );
            let value = self.value(from, &member.ty);
            let codec = self.codec(from, &member.ty).tokens;
            let field = self.placed(member.def, quote!(pub #name: #value,));
            (quote!(#doc #field), quote!(#name: #codec))
        });
        let inherited = body.base.map(|base| {
            let doc = format!(
                " The inherited members: those of `{}`.",
                self.model.scoped_name(base)
            );
            let (name, ty) = (ident(crate::names::BASE), self.path_to(from, base));
            (quote!(#[doc = #doc] pub #name: #ty,), quote!(#name: #ty))
        });
        inherited.into_iter().chain(members).unzip()
    }

    pub(super) fn enumeration(&self, id: DefId, enumerators: &[DefId]) -> TokenStream {
        let private = &self.private;
        let (name, derives) = (self.item_name(id), self.derives.tokens(id));
        let doc = self.doc(id, "Enum");
        let mut default = (self.derives.has_default(id)).then(|| quote!(#[default]));
        let variants = enumerators.iter().map(|&enumerator| {
            let line = format!("Enumerator `{}`.", self.model.def(enumerator).name);
            let doc = self.doc_with(enumerator, &line);
            let (name, default) = (self.item_name(enumerator), default.take());
            quote!(#doc #default #name,)
        });
        let variants: Vec<_> = variants.collect();
        let names: Vec<_> = enumerators
            .iter()
            .map(|&enumerator| ident(self.names.of(enumerator)))
            .collect();
        let idl = enumerators.iter().map(|&it| &*self.model.def(it).name);
        let (import, attributes) = match self.in_memory.has_enum(id) {
            true => self.in_memory_attributes(id, "u32"),
            false => (TokenStream::new(), TokenStream::new()),
        };
        quote! {
            #import
            #doc
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord #derives)]
            #attributes
            pub enum #name { #(#variants)* }
            #private::cdr_enum!(#name { #(#names),* });
            #private::idl_enum!(#name { #(#names = #idl),* });
        }
    }

    pub(super) fn typedef(&self, id: DefId, ty: &Type) -> TokenStream {
        let from = self.model.def(id).scope;
        let doc = self.doc(id, "Typedef");
        // The name of a typedef of an interface stands for the reference; nil is `Option`'s `None`.
        let (name, target) = match self.model.is_reference(ty) {
            true => (self.reference_name(id), self.reference_type(from, ty)),
            false if self.model.is_value(ty) => {
                (ident(self.names.of(id)), self.value_state(from, ty))
            }
            false => (ident(self.names.of(id)), self.value(from, ty)),
        };
        quote! { #doc pub type #name = #target; }
    }

    pub(super) fn constant(&self, id: DefId, ty: &Type, value: &Value) -> TokenStream {
        let orb = &self.orb;
        let from = self.model.def(id).scope;
        let name = self.item_name(id);
        let doc = self.doc_with(id, &format!("Constant `{}`.", self.model.scoped_name(id)));
        let ty = self.model.unaliased(ty);
        let rust_type = match ty {
            Type::Str { .. } => quote!(&str),
            _ => self.value(from, ty),
        };
        let mut allow = TokenStream::new();
        let literal = match value {
            Value::Integer(number) => {
                let sign = (*number < 0).then(|| quote!(-));
                let digits = Literal::u128_unsuffixed(number.unsigned_abs());
                quote!(#sign #digits)
            }
            // A number that no double holds exactly is written by its bits.
            Value::Float(number) if !number.is_double() => {
                let bits = hexadecimal(number.bits());
                quote!(#orb::LongDouble::from_bits(#bits))
            }
            Value::Float(number) => {
                let number = number.to_f64();
                if resembles_a_known_constant(number) {
                    allow = quote!(#[allow(clippy::approx_constant, reason = "the value the IDL gives")]);
                }
                match ty {
                    Type::Basic(Basic::LongDouble) => {
                        let number = float(number, false);
                        quote!(#orb::LongDouble::from_f64(#number))
                    }
                    _ => float(number, matches!(ty, Type::Basic(Basic::Float))),
                }
            }
            Value::Boolean(value) => quote!(#value),
            Value::Char(c) => {
                // Checked by the resolver: one character of ISO 8859-1.
                let octet = Literal::u8_unsuffixed(u8::try_from(u32::from(*c)).unwrap_or(b'?'));
                quote!(#orb::Char(#octet))
            }
            Value::WideChar(c) => {
                let unit = Literal::u16_unsuffixed(u16::try_from(*c).unwrap_or(0xfffd));
                quote!(#orb::WChar(#unit))
            }
            Value::Str(text) | Value::WideStr(text) => {
                let text = Literal::string(text);
                quote!(#text)
            }
            Value::Enumerator(enumerator) => {
                let variant = ident(self.names.of(*enumerator));
                quote!(#rust_type::#variant)
            }
            Value::Fixed { unscaled, scale } => {
                let of_type = match ty {
                    Type::Fixed { scale, .. } => *scale,
                    _ => *scale,
                };
                let units = rescale(*unscaled, *scale, of_type);
                let sign = (units < 0).then(|| quote!(-));
                let units = Literal::u128_unsuffixed(units.unsigned_abs());
                quote!(#orb::Fixed::constant(#sign #units))
            }
            // Nothing is generated from a model with errors.
            Value::Error => return TokenStream::new(),
        };
        quote! { #doc #allow pub const #name: #rust_type = #literal; }
    }
}

/// The body of a struct, `;` if it has no members.
fn shape(fields: &[TokenStream]) -> TokenStream {
    match fields {
        [] => quote!(;),
        fields => quote!({ #(#fields)* }),
    }
}

/// A fixed-point number with `scale` digits after the point, converted to the scale of its type. Surplus digits are
/// dropped, as IDL prescribes.
fn rescale(unscaled: i128, scale: u8, of_type: u8) -> i128 {
    let power = 10_i128.saturating_pow(u32::from(scale.abs_diff(of_type)));
    if of_type >= scale {
        unscaled.saturating_mul(power)
    } else {
        unscaled / power
    }
}

/// A literal of sixteen octets, with its digits in groups for readers.
fn hexadecimal(bits: u128) -> TokenStream {
    let digits = format!("{bits:032x}");
    let groups: Vec<&str> = (0..8)
        .filter_map(|group| digits.get(group * 4..group * 4 + 4))
        .collect();
    let literal: Result<Literal, _> = format!("0x{}", groups.join("_")).parse();
    literal.map_or_else(|_| quote!(#bits), |literal| quote!(#literal))
}

fn float(number: f64, single: bool) -> TokenStream {
    let sign = number.is_sign_negative().then(|| quote!(-));
    // The shortest digits that read back as the same number, in its own precision.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float constant is rounded to float"
    )]
    let digits = match single {
        true => Literal::f32_unsuffixed((number as f32).abs()),
        false => Literal::f64_unsuffixed(number.abs()),
    };
    quote!(#sign #digits)
}

/// Whether clippy would refuse a number as an approximation of one of `core::f64::consts`. An IDL file may define its
/// own π.
fn resembles_a_known_constant(number: f64) -> bool {
    use std::f64::consts as c;
    let known = [
        c::E,
        c::FRAC_1_PI,
        c::FRAC_1_SQRT_2,
        c::FRAC_2_PI,
        c::FRAC_2_SQRT_PI,
        c::FRAC_PI_2,
        c::FRAC_PI_3,
        c::FRAC_PI_4,
        c::FRAC_PI_6,
        c::FRAC_PI_8,
        c::LN_2,
        c::LN_10,
        c::LOG10_2,
        c::LOG10_E,
        c::LOG2_10,
        c::LOG2_E,
        c::PI,
        c::SQRT_2,
        c::TAU,
    ];
    known
        .iter()
        .any(|known| (number.abs() / known - 1.0).abs() < 0.01)
}
