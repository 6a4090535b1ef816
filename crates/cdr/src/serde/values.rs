//! The traits of serde for the Rust types of IDL that are this crate's: characters, decimal numbers, Principals.
//!
//! In formats for people, such as JSON, numbers with a point are text, as no other form keeps all of their digits.

use crate::{Char, Fixed, LongDouble, Principal, WChar};
use alloc::{format, string::String};
use bytes::Bytes;
use core::fmt;
use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A character of ISO 8859-1.
impl Serialize for Char {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_char(char::from(self.0))
    }
}

impl<'de> Deserialize<'de> for Char {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let c = char::deserialize(d)?;
        Self::try_from(c)
            .map_err(|_| D::Error::invalid_value(Unexpected::Char(c), &"a character of ISO 8859-1"))
    }
}

/// A character, or the number of a unit that is half of one.
impl Serialize for WChar {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match char::from_u32(u32::from(self.0)) {
            Some(c) if s.is_human_readable() => s.serialize_char(c),
            _ => s.serialize_u16(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for WChar {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Unit;
        impl Visitor<'_> for Unit {
            type Value = WChar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a character of one UTF-16 unit, or its number")
            }

            fn visit_char<E: serde::de::Error>(self, c: char) -> Result<WChar, E> {
                let unit = u16::try_from(u32::from(c));
                let unit = unit.map_err(|_| E::invalid_value(Unexpected::Char(c), &self))?;
                Ok(WChar(unit))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WChar, E> {
                let mut all = text.chars();
                match (all.next(), all.next()) {
                    (Some(c), None) => self.visit_char(c),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<WChar, E> {
                let unit = u16::try_from(number);
                let unit = unit.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self));
                unit.map(WChar)
            }
        }
        match d.is_human_readable() {
            true => d.deserialize_any(Unit),
            false => u16::deserialize(d).map(Self),
        }
    }
}

/// Decimal text, as in `-0.50`.
impl<const D: u8, const S: u8> Serialize for Fixed<D, S> {
    fn serialize<T: Serializer>(&self, s: T) -> Result<T::Ok, T::Error> {
        s.collect_str(self)
    }
}

impl<'de, const D: u8, const S: u8> Deserialize<'de> for Fixed<D, S> {
    fn deserialize<T: Deserializer<'de>>(d: T) -> Result<Self, T::Error> {
        text(d)?.parse().map_err(T::Error::custom)
    }
}

/// Decimal text; the bits in hexadecimal where that would not give the same number again, as for some NaNs.
impl Serialize for LongDouble {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let shown = format!("{self}");
        match shown.parse::<Self>() {
            Ok(again) if again.to_bits() == self.to_bits() => s.serialize_str(&shown),
            _ => s.serialize_str(&format!("0x{:032x}", self.to_bits())),
        }
    }
}

impl<'de> Deserialize<'de> for LongDouble {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = text(d)?;
        match text.strip_prefix("0x") {
            Some(bits) => u128::from_str_radix(bits, 16)
                .map(Self::from_bits)
                .map_err(D::Error::custom),
            None => text.parse().map_err(D::Error::custom),
        }
    }
}

/// Octets.
impl Serialize for Principal {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter())
    }
}

impl<'de> Deserialize<'de> for Principal {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let octets = alloc::vec::Vec::<u8>::deserialize(d)?;
        Ok(Self(Bytes::from(octets)))
    }
}

/// Text, borrowed or not.
pub(super) fn text<'de, D: Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    String::deserialize(d)
}
