//! The traits of serde for anys: the TypeCode, then the value in the form that its type has.

use crate::{
    Any, BigEndian, Char, Decoder, Encoder, LongDouble, Principal, TcKind, TypeCode, ValueParts,
    WChar, WireFormat,
};
use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::fmt;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Levels of values within each other, anys among them.
const MAX_DEPTH: u32 = 128;
const TOO_DEEP: &str = "an any of at most 128 levels";

const FIELDS: &[&str] = &["type", "value"];

/// A struct of `type` and `value`. The value has the form of its type: structs and exceptions are maps, enumerators their names,
/// unions pairs of discriminator and member, values of value types null or a pair of their type and their members,
/// `fixed` decimal text, and references their octets in hexadecimal digits.
impl Serialize for Any {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        ByType(self, 0).serialize_whole(s)
    }
}

/// A value without its type, so many levels deep.
struct ByType<'a>(&'a Any, u32);

impl ByType<'_> {
    fn serialize_whole<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut whole = s.serialize_struct("Any", 2)?;
        whole.serialize_field("type", self.0.type_code())?;
        whole.serialize_field("value", self)?;
        whole.end()
    }
}

/// An any within another one.
struct Inner<'a>(ByType<'a>);

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_whole(s)
    }
}

/// The members of a struct or value.
struct Members<'a>(&'a [(String, Any)], u32);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, &ByType(value, self.1))?;
        }
        map.end()
    }
}

impl Serialize for ByType<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use TcKind as K;
        let Self(any, depth) = self;
        let depth = depth.saturating_add(1);
        if depth > MAX_DEPTH {
            return Err(S::Error::custom(TOO_DEEP));
        }
        macro_rules! plain {
            ($t:ty) => {
                any.extract::<$t>().map_err(S::Error::custom)?.serialize(s)
            };
        }
        let ty = any.type_code().unaliased();
        match ty.kind() {
            K::Null | K::Void => s.serialize_unit(),
            K::Boolean => plain!(bool),
            K::Octet => plain!(u8),
            K::Short => plain!(i16),
            K::UShort => plain!(u16),
            K::Long => plain!(i32),
            K::ULong => plain!(u32),
            K::LongLong => plain!(i64),
            K::ULongLong => plain!(u64),
            K::Float => plain!(f32),
            K::Double => plain!(f64),
            K::LongDouble => plain!(LongDouble),
            K::Char => plain!(Char),
            K::WChar => plain!(WChar),
            K::String | K::WString => plain!(String),
            K::TypeCode => plain!(TypeCode),
            K::Principal => plain!(Principal),
            K::Fixed => s.serialize_str(&any.decimal().unwrap_or_default()),
            K::Enum => s.serialize_str(any.enumerator().unwrap_or_default()),
            K::Any => {
                let inner = any.extract::<Any>().map_err(S::Error::custom)?;
                Inner(ByType(&inner, depth)).serialize(s)
            }
            K::Struct | K::Except => {
                let members = any.members().into_iter();
                let members: Vec<_> = members.map(|(name, it)| (name.to_owned(), it)).collect();
                Members(&members, depth).serialize(s)
            }
            K::Sequence | K::Array => {
                let elements = any.elements();
                let mut seq = s.serialize_seq(Some(elements.size_hint().0))?;
                for element in elements {
                    seq.serialize_element(&ByType(&element, depth))?;
                }
                seq.end()
            }
            K::Union => {
                let discriminator = any.discriminator().unwrap_or_default();
                let discriminator = i64::try_from(discriminator)
                    .or_else(|_| u64::try_from(discriminator).map(u64::cast_signed))
                    .map_err(S::Error::custom)?;
                let selected = any.selected();
                let member = selected.as_ref().map(|(_, member)| ByType(member, depth));
                let mut pair = s.serialize_tuple(2)?;
                pair.serialize_element(&discriminator)?;
                pair.serialize_element(&member)?;
                pair.end()
            }
            K::Value | K::ValueBox | K::Event => match any.value_parts() {
                Some(ValueParts::Null) => s.serialize_none(),
                Some(ValueParts::State { ty, members }) => {
                    s.serialize_some(&(ty, Members(&members, depth)))
                }
                None => Err(S::Error::custom(
                    "a value whose state its TypeCode describes",
                )),
            },
            // References, and what else has no form of its own.
            _ => {
                let mut e = Encoder::<BigEndian>::new(WireFormat::default());
                any.encode_value(&mut e).map_err(S::Error::custom)?;
                s.serialize_str(&to_hex(&e.finish().to_vec()))
            }
        }
    }
}

fn to_hex(octets: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let halves = octets.iter().flat_map(|octet| [octet >> 4, octet & 0xf]);
    halves
        .filter_map(|half| DIGITS.get(usize::from(half)))
        .collect()
}

fn of_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from((high << 4) | low).ok(),
            _ => None,
        })
        .collect()
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Whole(0).deserialize(d)
    }
}

/// Reads an any, so many levels deep.
struct Whole(u32);

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = Any;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Any, D::Error> {
        d.deserialize_struct("Any", FIELDS, self)
    }
}

impl<'de> Visitor<'de> for Whole {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a `type`, and a `value` of it behind")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Any, A::Error> {
        let ty: TypeCode = (all.next_element()?).ok_or_else(|| A::Error::missing_field("type"))?;
        let value = all.next_element_seed(OfType(&ty, self.0))?;
        value.ok_or_else(|| A::Error::missing_field("value"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Any, A::Error> {
        match all.next_key::<String>()?.as_deref() {
            Some("type") => {}
            Some(_) => return Err(A::Error::custom("expected `type` in front of `value`")),
            None => return Err(A::Error::missing_field("type")),
        }
        let ty: TypeCode = all.next_value()?;
        match all.next_key::<String>()?.as_deref() {
            Some("value") => {}
            Some(other) => return Err(A::Error::unknown_field(other, FIELDS)),
            None => return Err(A::Error::missing_field("value")),
        }
        let value = all.next_value_seed(OfType(&ty, self.0))?;
        match all.next_key::<String>()? {
            Some(more) => Err(A::Error::unknown_field(&more, FIELDS)),
            None => Ok(value),
        }
    }
}

/// Reads a value of a type, so many levels deep.
#[derive(Clone, Copy)]
struct OfType<'a>(&'a TypeCode, u32);

impl<'de> DeserializeSeed<'de> for OfType<'_> {
    type Value = Any;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Any, D::Error> {
        use TcKind as K;
        let Self(ty, depth) = self;
        let depth = depth.saturating_add(1);
        if depth > MAX_DEPTH {
            return Err(D::Error::custom(TOO_DEEP));
        }
        macro_rules! plain {
            ($t:ty) => {{
                let value = <$t>::deserialize(d)?;
                Any::with_type_code(ty, &value).map_err(D::Error::custom)
            }};
        }
        let real = ty.unaliased();
        match real.kind() {
            K::Null | K::Void => {
                <()>::deserialize(d)?;
                of_octets(ty, &[])
            }
            K::Boolean => plain!(bool),
            K::Octet => plain!(u8),
            K::Short => plain!(i16),
            K::UShort => plain!(u16),
            K::Long => plain!(i32),
            K::ULong => plain!(u32),
            K::LongLong => plain!(i64),
            K::ULongLong => plain!(u64),
            K::Float => plain!(f32),
            K::Double => plain!(f64),
            K::LongDouble => plain!(LongDouble),
            K::Char => plain!(Char),
            K::WChar => plain!(WChar),
            K::String | K::WString => plain!(String),
            K::TypeCode => plain!(TypeCode),
            K::Principal => plain!(Principal),
            K::Fixed => {
                let text = super::values::text(d)?;
                Any::of_decimal(ty, &text).map_err(D::Error::custom)
            }
            K::Enum => {
                let name = super::values::text(d)?;
                Any::of_enumerator(ty, &name).map_err(D::Error::custom)
            }
            K::Any => {
                let inner = Whole(depth).deserialize(d)?;
                Any::with_type_code(ty, &inner).map_err(D::Error::custom)
            }
            K::Struct | K::Except => {
                let names = (0..real.member_count()).filter_map(|it| real.member_name(it));
                let types = (0..real.member_count()).filter_map(|it| real.member_type(it));
                let visitor = MembersOf {
                    names: names.map(str::to_owned).collect(),
                    types: types.collect(),
                    depth,
                };
                let members = d.deserialize_map(visitor)?;
                Any::of_members(ty, &members).map_err(D::Error::custom)
            }
            K::Sequence | K::Array => {
                let content = real.content_type().unwrap_or_default();
                let elements = d.deserialize_seq(ElementsOf(OfType(&content, depth)))?;
                Any::of_elements(ty, &elements).map_err(D::Error::custom)
            }
            K::Union => d.deserialize_tuple(2, UnionOf(ty, depth)),
            K::Value | K::ValueBox | K::Event => d.deserialize_option(ValueOf(ty, depth)),
            _ => {
                let text = super::values::text(d)?;
                let octets = of_hex(&text);
                of_octets(
                    ty,
                    &octets.ok_or_else(|| D::Error::custom("hexadecimal digits"))?,
                )
            }
        }
    }
}

/// A value of the type, as octets.
fn of_octets<E: serde::de::Error>(ty: &TypeCode, octets: &[u8]) -> Result<Any, E> {
    let d = Decoder::<BigEndian>::from_slice(octets, WireFormat::default());
    #[cfg(feature = "std")]
    if let Some(context) = super::context::current() {
        let mut d = d.with_context(&*context);
        return Any::decode_value(ty, &mut d).map_err(E::custom);
    }
    let mut d = d;
    Any::decode_value(ty, &mut d).map_err(E::custom)
}

struct ElementsOf<'a>(OfType<'a>);

impl<'de> Visitor<'de> for ElementsOf<'_> {
    type Value = Vec<Any>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<Any>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = all.next_element_seed(self.0)? {
            elements.push(element);
        }
        Ok(elements)
    }
}

/// The members of a struct or value, in any order.
struct MembersOf {
    names: Vec<String>,
    types: Vec<TypeCode>,
    depth: u32,
}

impl<'de> Visitor<'de> for MembersOf {
    type Value = Vec<Any>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("members by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Vec<Any>, A::Error> {
        let mut members: Vec<Option<Any>> = self.names.iter().map(|_| None).collect();
        let mut next = 0_usize;
        while let Some(name) = all.next_key::<String>()? {
            // Members in the order of the type are found at once.
            let index = match self.names.get(next) {
                Some(expected) if *expected == name => Some(next),
                _ => self.names.iter().position(|expected| *expected == name),
            };
            next = index.map_or(next, |index| index.saturating_add(1));
            let found =
                index.and_then(|index| Some((members.get_mut(index)?, self.types.get(index)?)));
            let Some((place, ty)) = found else {
                return Err(A::Error::custom(format_args!("no member `{name}`")));
            };
            if place.is_some() {
                return Err(A::Error::custom(format_args!("member `{name}` twice")));
            }
            *place = Some(all.next_value_seed(OfType(ty, self.depth))?);
        }
        let members: Option<Vec<Any>> = members.into_iter().collect();
        members.ok_or_else(|| A::Error::custom("a member is missing"))
    }
}

struct UnionOf<'a>(&'a TypeCode, u32);

impl<'de> Visitor<'de> for UnionOf<'_> {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a discriminator, and the member that it selects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Any, A::Error> {
        let Self(ty, depth) = self;
        let real = ty.unaliased();
        let number: i64 = (all.next_element()?)
            .ok_or_else(|| A::Error::custom("a union without a discriminator"))?;
        let discriminator = real.discriminator_type().unwrap_or_default();
        let number = match discriminator.unaliased().kind() {
            TcKind::ULongLong => i128::from(number.cast_unsigned()),
            _ => i128::from(number),
        };
        let mut members = 0..real.member_count();
        let selected = members.find(|&it| real.member_label(it) == Some(number));
        let selected = selected.or_else(|| real.default_index());
        let member = match selected.and_then(|it| real.member_type(it)) {
            Some(ty) => all
                .next_element_seed(OptionOf(OfType(&ty, depth)))?
                .flatten(),
            None => {
                all.next_element::<Option<()>>()?;
                None
            }
        };
        Any::of_union(ty, number, member.as_ref()).map_err(A::Error::custom)
    }
}

/// An optional value of a type.
struct OptionOf<'a>(OfType<'a>);

impl<'de> DeserializeSeed<'de> for OptionOf<'_> {
    type Value = Option<Any>;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Option<Any>, D::Error> {
        d.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for OptionOf<'_> {
    type Value = Option<Any>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member or nothing")
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Option<Any>, E> {
        // A null value of a value type looks the same in JSON.
        let OfType(ty, _) = self.0;
        Ok(Any::of_value(ty, None).ok())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Option<Any>, E> {
        self.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Option<Any>, D::Error> {
        self.0.deserialize(d).map(Some)
    }
}

/// A value of a value type: null, or its type and its members.
struct ValueOf<'a>(&'a TypeCode, u32);

impl<'de> Visitor<'de> for ValueOf<'_> {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, or a type and the members of a value")
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Any, E> {
        Any::of_value(self.0, None).map_err(E::custom)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Any, E> {
        self.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Any, D::Error> {
        d.deserialize_tuple(2, self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Any, A::Error> {
        let Self(stated, depth) = self;
        let missing = || A::Error::custom("a value has a type and members");
        let ty: TypeCode = all.next_element()?.ok_or_else(missing)?;
        let (names, types) = ty.state().ok_or_else(missing)?;
        let visitor = MembersOf {
            names,
            types,
            depth,
        };
        let members = all.next_element_seed(visitor)?.ok_or_else(missing)?;
        // A value of the stated type keeps the aliases of that.
        let ty = if ty.equivalent(stated) { stated } else { &ty };
        Any::of_value(ty, Some(&members)).map_err(A::Error::custom)
    }
}

impl<'de> DeserializeSeed<'de> for MembersOf {
    type Value = Vec<Any>;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Vec<Any>, D::Error> {
        d.deserialize_map(self)
    }
}
