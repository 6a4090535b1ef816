//! CDR for any type that implements the traits of serde.
//!
//! Types that come from IDL do not need this to be CDR: they implement [`Encode`](crate::Encode) and [`Decode`](crate::Decode),
//! which are faster and check bounds. This module is for types that are not in IDL, in messages between programs which
//! agree on them, and for storing values as CDR.
//!
//! CDR does not describe itself, so both ends must have the same type. `deserialize_any` is refused, and so are its
//! users: untagged and internally tagged enums, `#[serde(flatten)]`, `serde_json::Value`.
//! `#[serde(skip_serializing_if)]` does not work either: a reader does not notice an omitted field, and reads the next
//! one.
//!
//! | serde | CDR | remarks |
//! |---|---|---|
//! | `bool`, `i8` … `i64`, `u8` … `u64`, `f32`, `f64` | boolean, int8 … long long, octet … unsigned long long, float, double | |
//! | `i128`, `u128` | – | refused |
//! | `char` | unsigned long, the code point | not an IDL `char`, which has 256 values |
//! | `str`, `String` | string | in the code set of the [`WireFormat`]; borrowed if the type can (`&str` only where it is UTF-8 or ASCII) |
//! | bytes | `sequence<octet>` | borrowed if the type can; `Vec<u8>` looks the same on the wire, octet by octet |
//! | `Option<T>` | boolean, then the value if true | IDL 4's `@optional` is not this |
//! | `()`, unit struct | nothing | |
//! | newtype struct | its content | |
//! | sequence | `sequence<T>` | of unknown length: refused when writing |
//! | tuple, tuple struct, array | members one after the other | |
//! | struct | members one after the other | like an IDL struct |
//! | map | sequence of structs (key, value) | in the map's order |
//! | enum | unsigned long, the index of the variant, then its content | without data like an IDL enum |
//!
//! The Rust types of IDL implement the traits of serde, too, for JSON and the like: [`Char`](crate::Char),
//! [`WChar`](crate::WChar), [`Fixed`](crate::Fixed), [`LongDouble`](crate::LongDouble), [`Principal`](crate::Principal),
//! [`TypeCode`](crate::TypeCode) and [`Any`](crate::Any).
//!
//! Depth is limited by [`Limits`](crate::Limits) for sequences, maps, options and enums with content, which are all that
//! a recursive type can be made of.

mod anys;
#[cfg(feature = "std")]
mod context;
mod custom;
mod de;
mod ser;
mod type_codes;
mod values;

#[cfg(feature = "std")]
pub use context::with_context;
pub use custom::SerdeError;
pub use de::Deserializer;
pub use ser::Serializer;

use crate::{ByteOrder, Decoder, Encoder, WireFormat};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Encodes a value as CDR of byte order `O`, from index 0.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use zorb_cdr::{BigEndian, WireFormat, from_bytes, to_bytes};
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// enum Order<'a> { Cancel, Buy { symbol: &'a str, amount: u16 } }
///
/// let order = Order::Buy { symbol: "ZORB", amount: 3 };
/// let octets = to_bytes::<BigEndian, _>(&order, WireFormat::default())?;
/// assert_eq!(octets, b"\0\0\0\x01\0\0\0\x05ZORB\0\0\0\x03");
/// assert_eq!(from_bytes::<BigEndian, Order>(&octets, WireFormat::default())?, order);
/// assert!(from_bytes::<BigEndian, Order>(&octets[..9], WireFormat::default()).is_err());
/// # Ok::<(), zorb_cdr::serde::SerdeError>(())
/// ```
///
/// # Errors
/// An error if the table of this [module](self) has no form for the value, or the type's own implementation refuses it.
pub fn to_bytes<O, T>(value: &T, format: WireFormat) -> Result<Vec<u8>, SerdeError>
where
    O: ByteOrder,
    T: Serialize + ?Sized,
{
    let mut encoder = Encoder::<O>::new(format);
    value.serialize(Serializer::new(&mut encoder))?;
    Ok(encoder.finish().to_vec())
}

/// Decodes a value from CDR of byte order `O`, from index 0; octets behind it are ignored.
///
/// # Errors
/// An error if the octets are malformed, or the type's own implementation refuses them.
pub fn from_bytes<'de, O, T>(octets: &'de [u8], format: WireFormat) -> Result<T, SerdeError>
where
    O: ByteOrder,
    T: Deserialize<'de>,
{
    let mut decoder = Decoder::<O>::from_slice(octets, format);
    T::deserialize(Deserializer::new(&mut decoder))
}
