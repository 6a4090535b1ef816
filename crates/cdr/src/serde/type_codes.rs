//! The traits of serde for TypeCodes: a list of types that refer to each other by their places, the type itself first.

use crate::{
    Decoder, Encoder, NativeEndian, TcKind, TypeCode, TypeCodeSet, TypeDefinition, TypeSlot,
    WireFormat, typecode::data::TypeRef,
};
use alloc::{borrow::ToOwned, collections::BTreeMap, string::String, vec::Vec};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Types of one TypeCode. IDL in use has some hundred.
const MAX_TYPES: usize = 65_536;

/// One type of the list. Numbers in place of types are places in the list.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    /// A type without parameters, by its IDL keyword.
    Simple(String),
    String(u32),
    Wstring(u32),
    Fixed(u16, i16),
    Sequence(u32, u32),
    Array(u32, u32),
    /// Keyword, repository id, name.
    Named(String, String, String),
    Struct(String, String, Vec<(String, u32)>),
    Exception(String, String, Vec<(String, u32)>),
    /// Repository id, name, discriminator, members.
    Union(String, String, u32, Vec<(Option<i64>, String, u32)>),
    Enum(String, String, Vec<String>),
    Alias(String, String, u32),
    ValueBox(String, String, u32),
    /// Repository id, name, modifier, concrete base, members with whether they are public.
    Value(String, String, i16, Option<u32>, Vec<(String, u32, bool)>),
}

/// The types that a type refers to, each with a place in the list.
struct Flat<'a> {
    places: BTreeMap<usize, u32>,
    left: Vec<TypeRef<'a>>,
    next: u32,
}

impl<'a> Flat<'a> {
    fn place(&mut self, ty: TypeRef<'a>) -> u32 {
        let next = self.next;
        let place = *self.places.entry(ty.address()).or_insert(next);
        if place == next {
            self.next = self.next.saturating_add(1);
            self.left.push(ty);
        }
        place
    }

    fn form(&mut self, ty: TypeRef<'a>) -> Option<Form> {
        use TcKind as K;
        let (id, name) = (ty.id().to_owned(), ty.name().to_owned());
        let content = |flat: &mut Self| flat.place(ty.content());
        let members = |flat: &mut Self| -> Vec<(String, u32)> {
            let members = ty.members();
            members
                .map(|it| (it.name.to_owned(), flat.place(it.ty)))
                .collect()
        };
        Some(match ty.kind() {
            K::String => Form::String(ty.bound()),
            K::WString => Form::Wstring(ty.bound()),
            K::Fixed => Form::Fixed(u16::try_from(ty.number()).ok()?, ty.scale()),
            K::Sequence => Form::Sequence(content(self), ty.bound()),
            K::Array => Form::Array(content(self), ty.bound()),
            K::Struct => Form::Struct(id, name, members(self)),
            K::Except => Form::Exception(id, name, members(self)),
            K::Enum => {
                let names = ty.members().map(|it| it.name.to_owned());
                Form::Enum(id, name, names.collect())
            }
            K::Alias => Form::Alias(id, name, content(self)),
            K::ValueBox => Form::ValueBox(id, name, content(self)),
            K::Union => {
                let discriminator = content(self);
                let mut members = Vec::new();
                for (index, member) in (0_i64..).zip(ty.members()) {
                    let label = match index == ty.number() {
                        true => None,
                        // A label beyond a long long is one of an unsigned long long, and keeps its bits.
                        false => Some(
                            i64::try_from(member.label)
                                .or_else(|_| u64::try_from(member.label).map(u64::cast_signed))
                                .ok()?,
                        ),
                    };
                    members.push((label, member.name.to_owned(), self.place(member.ty)));
                }
                Form::Union(id, name, discriminator, members)
            }
            K::Value | K::Event => {
                let base = ty.content();
                let base = (base.kind() != K::Null).then(|| self.place(base));
                let members = ty.members();
                let members =
                    members.map(|it| (it.name.to_owned(), self.place(it.ty), it.label != 0));
                let members = members.collect();
                Form::Value(id, name, i16::try_from(ty.number()).ok()?, base, members)
            }
            kind if kind.is_named() => Form::Named(kind.keyword().to_owned(), id, name),
            kind => Form::Simple(kind.keyword().to_owned()),
        })
    }
}

/// A list of types, of which the first is the type itself and the others are those that it consists of. So JSON for `struct M::Point {
/// long x; }` is `[{"struct":["IDL:M/Point:1.0","Point",[["x",1]]]},{"simple":"long"}]`.
impl Serialize for TypeCode {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut flat = Flat {
            places: BTreeMap::new(),
            left: Vec::new(),
            next: 0,
        };
        flat.place(self.view());
        let mut forms = Vec::new();
        let mut at = 0;
        // In the order of the places.
        while let Some(ty) = flat.left.get(at).copied() {
            at = at.saturating_add(1);
            let form = flat.form(ty);
            forms.push(form.ok_or_else(|| S::Error::custom("a type that cannot be sent"))?);
        }
        forms.serialize(s)
    }
}

impl<'de> Deserialize<'de> for TypeCode {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let forms = Vec::<Form>::deserialize(d)?;
        if forms.len() > MAX_TYPES {
            return Err(D::Error::custom("a TypeCode of at most 65,536 types"));
        }
        let ty = made(&forms).ok_or_else(|| D::Error::custom("types that make a TypeCode"))?;
        // What may be sent and what may not is known where TypeCodes are read.
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(&ty).map_err(D::Error::custom)?;
        let octets = e.finish().to_vec();
        let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
        d.get().map_err(D::Error::custom)
    }
}

/// The first of the types.
fn made(forms: &[Form]) -> Option<TypeCode> {
    let mut set = TypeCodeSet::new();
    let slots: Vec<TypeSlot> = forms.iter().map(|_| set.slot()).collect();
    let slot = |place: &u32| slots.get(usize::try_from(*place).ok()?).copied();
    let kind = |keyword: &str, named: bool| {
        let mut kinds = (0..).map_while(TcKind::from_number);
        kinds.find(|kind| kind.keyword() == keyword && kind.is_named() == named)
    };
    for (form, &at) in forms.iter().zip(&slots) {
        let members = |members: &[(String, u32)]| -> Option<Vec<(String, TypeSlot)>> {
            let members = members.iter();
            members
                .map(|(name, ty)| Some((name.clone(), slot(ty)?)))
                .collect()
        };
        fn lent(members: &[(String, TypeSlot)]) -> Vec<(&str, TypeSlot)> {
            members.iter().map(|(name, ty)| (&**name, *ty)).collect()
        }
        match form {
            Form::Simple(keyword) => {
                let kind = kind(keyword, false).filter(|kind| kind.is_simple())?;
                set.define(at, "", "", &TypeDefinition::Simple(kind));
            }
            Form::String(bound) => set.define(at, "", "", &TypeDefinition::String(*bound)),
            Form::Wstring(bound) => set.define(at, "", "", &TypeDefinition::WString(*bound)),
            Form::Fixed(digits, scale) => {
                set.define(at, "", "", &TypeDefinition::Fixed(*digits, *scale));
            }
            Form::Sequence(ty, bound) => {
                set.define(at, "", "", &TypeDefinition::Sequence(slot(ty)?, *bound));
            }
            Form::Array(ty, length) => {
                set.define(at, "", "", &TypeDefinition::Array(slot(ty)?, *length));
            }
            Form::Named(keyword, id, name) => {
                let kind = kind(keyword, true)?;
                set.define(at, id, name, &TypeDefinition::Named(kind));
            }
            Form::Struct(id, name, all) => {
                let members = members(all)?;
                set.define(at, id, name, &TypeDefinition::Struct(&lent(&members)));
            }
            Form::Exception(id, name, all) => {
                let members = members(all)?;
                set.define(at, id, name, &TypeDefinition::Exception(&lent(&members)));
            }
            Form::Union(id, name, discriminator, members) => {
                let is_unsigned = matches!(
                    usize::try_from(*discriminator).ok().and_then(|at| forms.get(at)),
                    Some(Form::Simple(keyword)) if keyword == TcKind::ULongLong.keyword()
                );
                let label = |label: i64| match is_unsigned {
                    true => i128::from(label.cast_unsigned()),
                    false => i128::from(label),
                };
                let members: Option<Vec<_>> = (members.iter())
                    .map(|(number, name, ty)| Some((number.map(label), &**name, slot(ty)?)))
                    .collect();
                let members = members?;
                let ty = TypeDefinition::Union(slot(discriminator)?, &members);
                set.define(at, id, name, &ty);
            }
            Form::Enum(id, name, names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                set.define(at, id, name, &TypeDefinition::Enum(&names));
            }
            Form::Alias(id, name, ty) => {
                set.define(at, id, name, &TypeDefinition::Alias(slot(ty)?));
            }
            Form::ValueBox(id, name, ty) => {
                set.define(at, id, name, &TypeDefinition::ValueBox(slot(ty)?));
            }
            Form::Value(id, name, modifier, base, members) => {
                let base = match base {
                    Some(base) => Some(slot(base)?),
                    None => None,
                };
                let members: Option<Vec<_>> = (members.iter())
                    .map(|(name, ty, public)| Some((&**name, slot(ty)?, *public)))
                    .collect();
                let ty = TypeDefinition::Value(*modifier, base, &members?);
                set.define(at, id, name, &ty);
            }
        }
    }
    set.finish()?.into_iter().next()
}
