//! TypeCodes: a static for each named type, to which the TypeCodes of other types point.

use std::collections::HashMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{Generator, ident};
use crate::ast::{InterfaceKind, ValueKind};
use crate::contains::{member_types, names_in, parts, spread};
use crate::model::{Basic, DefId, DefKind, Model, ScopeId, Struct, Type, Union};

/// Every definition without a TypeCode in CORBA: bitsets, bitmasks, and types that contain one of these or a map. An
/// exception has a TypeCode whatever it contains.
pub(super) fn without_type_code(model: &Model) -> HashMap<DefId, ()> {
    let lacks = |id: &DefId| match &model.def(*id).kind {
        DefKind::Bitset(_) | DefKind::Bitmask(_) | DefKind::Unsupported => true,
        DefKind::Exception(_) => false,
        DefKind::Value(value) => value.members.iter().any(|member| lacks_kind(&member.ty)),
        _ => member_types(model, *id).into_iter().any(lacks_kind),
    };
    let ids = (0..model.defs.len()).map(DefId);
    let lacking = ids.filter(lacks).map(|id| (id, ())).collect();
    spread(model, lacking, |model, id| match &model.def(id).kind {
        DefKind::Exception(_) => Vec::new(),
        DefKind::Value(value) => {
            let mut named = Vec::new();
            for member in &value.members {
                names_in(&member.ty, &mut named);
            }
            named
        }
        _ => parts(model, id),
    })
}

/// Whether CORBA has no TypeCode kind for `ty` itself, or for its unnamed element types.
fn lacks_kind(ty: &Type) -> bool {
    match ty {
        Type::Map(..) | Type::Error => true,
        Type::Sequence(element, _) | Type::Array(element, _) => lacks_kind(element),
        _ => false,
    }
}

impl Generator<'_> {
    /// The name of the static.
    fn type_code_name(&self, id: DefId) -> Ident {
        ident(&self.names.type_code_static(id))
    }

    /// The path from scope `from` to the static of definition `id`.
    fn type_code_of(&self, from: ScopeId, id: DefId) -> TokenStream {
        self.path(from, self.model.def(id).scope, &self.type_code_name(id))
    }

    /// A reference to the static of definition `id`, for use in the scope of that definition.
    pub(super) fn own_type_code(&self, id: DefId) -> TokenStream {
        let private = &self.private;
        match self.has_type_code(&Type::Named(id)) {
            true => {
                let name = self.type_code_name(id);
                quote!(&#name)
            }
            false => quote!(&#private::Tc::Null),
        }
    }

    /// A type as the initialiser of a `&'static StaticType`; aliases are kept.
    fn type_code(&self, from: ScopeId, ty: &Type) -> TokenStream {
        let private = &self.private;
        let simple = |name: &str| {
            let name = ident(name);
            quote!(&__Tc::#name)
        };
        let bound = |bound: &Option<u32>| Literal::u32_unsuffixed(bound.unwrap_or(0));
        match ty {
            Type::Basic(basic) => simple(match basic {
                Basic::Boolean => "Boolean",
                Basic::Char => "Char",
                Basic::WideChar => "WChar",
                // CORBA has no TypeCode kind for `int8`.
                Basic::Octet | Basic::Int8 => "Octet",
                Basic::Short => "Short",
                Basic::UShort => "UShort",
                Basic::Long => "Long",
                Basic::ULong => "ULong",
                Basic::LongLong => "LongLong",
                Basic::ULongLong => "ULongLong",
                Basic::Float => "Float",
                Basic::Double => "Double",
                Basic::LongDouble => "LongDouble",
            }),
            Type::Str { wide, bound: limit } => {
                let (name, limit) = (if *wide { "WString" } else { "String" }, bound(limit));
                let name = ident(name);
                quote!(&__Tc::#name(#limit))
            }
            Type::Sequence(element, limit) => {
                let (element, limit) = (self.type_code(from, element), bound(limit));
                quote!(&__Tc::Sequence(#element, #limit))
            }
            Type::Array(element, length) => {
                let (element, length) = (
                    self.type_code(from, element),
                    Literal::u32_unsuffixed(*length),
                );
                quote!(&__Tc::Array(#element, #length))
            }
            Type::Fixed { digits, scale } => {
                let (digits, scale) = (
                    Literal::u8_unsuffixed(*digits),
                    Literal::u8_unsuffixed(*scale),
                );
                quote!(&__Tc::Fixed(#digits, #scale))
            }
            Type::Any => simple("Any"),
            Type::TypeCode => simple("TypeCode"),
            Type::Principal => simple("Principal"),
            Type::Object => quote!(&#private::OBJECT),
            Type::ValueBase => quote!(&#private::VALUE_BASE),
            Type::Named(id) if self.has_type_code(ty) => {
                let path = self.type_code_of(from, *id);
                quote!(&#path)
            }
            // No any holds a type that contains one of these.
            // Exceptions are parameters of reply handlers alone.
            Type::Map(..) | Type::Named(_) | Type::Exceptions(..) | Type::Error => simple("Null"),
        }
    }

    /// Whether CORBA has a TypeCode for this type and all types that it contains.
    pub(super) fn has_type_code(&self, ty: &Type) -> bool {
        !lacks_kind(ty) && {
            let mut named = Vec::new();
            names_in(ty, &mut named);
            !named
                .iter()
                .any(|id| self.without_type_code.contains_key(id))
        }
    }

    /// The static of definition `id`, the implementation by which anys may hold its Rust type, and a public constant for the
    /// TypeCode of a typedef.
    pub(super) fn type_code_item(&self, id: DefId) -> TokenStream {
        let Some(value) = self.type_code_value(id) else {
            return TokenStream::new();
        };
        let private = &self.private;
        let (name, ty) = (self.type_code_name(id), ident(self.names.of(id)));
        let what = match self.model.def(id).kind {
            DefKind::Struct(_) | DefKind::Union(_) | DefKind::Enum(_) => quote!(value #ty),
            DefKind::Exception(_) => quote!(exception #ty),
            DefKind::Typedef(_) => {
                let constant = ident(&self.names.type_code(id));
                let doc = format!(" The TypeCode of `{}`.", self.model.scoped_name(id));
                quote!(alias #[doc = #doc] #constant)
            }
            _ => TokenStream::new(),
        };
        quote!(#private::type_code!(#name = __Tc::#value; #what);)
    }

    /// The name after `__Tc::`, which the macro defines, for definition `id`.
    fn type_code_value(&self, id: DefId) -> Option<TokenStream> {
        let def = self.model.def(id);
        let from = def.scope;
        let (repository_id, name) = (&def.repository_id, &*def.name);
        let named = |kind: &str| {
            let kind = ident(kind);
            quote!(Named(__TcKind::#kind, #repository_id, #name))
        };
        Some(match &def.kind {
            DefKind::Struct(body) if self.has_type_code(&Type::Named(id)) => {
                let members = self.type_code_members(from, body);
                quote!(Struct(#repository_id, #name, &[#(#members),*]))
            }
            DefKind::Exception(body) => {
                let members = self.type_code_members(from, body);
                quote!(Except(#repository_id, #name, &[#(#members),*]))
            }
            DefKind::Union(union) if self.has_type_code(&Type::Named(id)) => {
                self.type_code_union(id, union)
            }
            DefKind::Enum(enumerators) => {
                let names = enumerators.iter().map(|&id| &*self.model.def(id).name);
                quote!(Enum(#repository_id, #name, &[#(#names),*]))
            }
            DefKind::Typedef(ty) if self.has_type_code(ty) => {
                let ty = self.type_code(from, ty);
                quote!(Alias(#repository_id, #name, #ty))
            }
            // An interface that is only forward-declared has a reference, too, if it is used.
            DefKind::Interface(interface)
                if interface.defined || self.model.forward_uses.contains_key(&id) =>
            {
                named(match interface.kind {
                    InterfaceKind::Plain => "ObjRef",
                    InterfaceKind::Abstract => "AbstractInterface",
                    InterfaceKind::Local => "LocalInterface",
                })
            }
            DefKind::Native => named("Native"),
            DefKind::ValueBox(ty) if self.has_type_code(ty) => {
                let ty = self.type_code(from, ty);
                quote!(ValueBox(#repository_id, #name, #ty))
            }
            DefKind::Value(value)
                if (value.defined || self.model.forward_uses.contains_key(&id))
                    && self.has_type_code(&Type::Named(id)) =>
            {
                let modifier = match value.kind {
                    ValueKind::Custom => 1_i16,
                    ValueKind::Abstract => 2,
                    ValueKind::Stateful if value.truncatable => 3,
                    ValueKind::Stateful => 0,
                };
                let modifier = Literal::i16_unsuffixed(modifier);
                let base = value.bases.iter().copied().find(|&base| {
                    matches!(&self.model.def(base).kind, DefKind::Value(base) if base.kind != ValueKind::Abstract)
                });
                let base = match base {
                    Some(base) => self.type_code_of(from, base),
                    None => quote!(__Tc::Null),
                };
                let members = value.members.iter().map(|member| {
                    let name = &*self.model.def(member.def).name;
                    let ty = self.type_code(from, &member.ty);
                    let visibility = Literal::u8_unsuffixed(u8::from(member.public));
                    quote!((#name, #ty, #visibility))
                });
                quote! {
                    Value(__TcKind::Value, #repository_id, #name, #modifier, &#base, &[#(#members),*])
                }
            }
            _ => return None,
        })
    }

    /// The members of a struct, those of its base first.
    fn type_code_members(&self, from: ScopeId, body: &Struct) -> Vec<TokenStream> {
        let mut members = match body.base.map(|base| &self.model.def(base).kind) {
            Some(DefKind::Struct(base)) => self.type_code_members(from, base),
            _ => Vec::new(),
        };
        members.extend(body.members.iter().map(|member| {
            let name = &*self.model.def(member.def).name;
            let ty = self.type_code(from, &member.ty);
            quote!((#name, #ty))
        }));
        members
    }

    /// A union: a member for each label, and one for the default.
    fn type_code_union(&self, id: DefId, union: &Union) -> TokenStream {
        let def = self.model.def(id);
        let (repository_id, name) = (&def.repository_id, &*def.name);
        let discriminator = self.type_code(def.scope, &union.discriminator);
        let mut members = Vec::new();
        let mut default = -1_i32;
        for case in &union.cases {
            let name = &*self.model.def(case.member.def).name;
            let ty = self.type_code(def.scope, &case.member.ty);
            for label in &case.labels {
                let label = self.model.ordinal(label);
                let sign = (label < 0).then(|| quote!(-));
                let label = Literal::u128_unsuffixed(label.unsigned_abs());
                members.push(quote!((#sign #label, #name, #ty)));
            }
            if case.default {
                default = i32::try_from(members.len()).unwrap_or(-1);
                members.push(quote!((0, #name, #ty)));
            }
        }
        let sign = (default < 0).then(|| quote!(-));
        let default = Literal::u32_unsuffixed(default.unsigned_abs());
        quote!(Union(#repository_id, #name, #discriminator, #sign #default, &[#(#members),*]))
    }
}
