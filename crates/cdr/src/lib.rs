//! CDR, the data representation of CORBA, without needless copies.
//!
//! This crate turns values into octets and octets into values. It knows nothing of messages, sockets or tasks, and
//! needs no `std`. Three choices keep its cost low:
//!
//! - each byte order has code of its own ([`ByteOrder`]); that of the native one moves blocks;
//! - a sequence of structs of fixed size is one bounds check and straight loads or stores ([`Layout`]);
//! - octets ([`OctetsRef`]), text (`Cow<str>`) and aligned numbers (`Cow<[T]>`) are borrowed from the message; large
//!   shared octets are sent from where they are ([`Gather`]).
//!
//! No octets make it panic, allocate before a length is checked, or overflow the stack ([`Limits`]).
//!
//! ```
//! # mod zorb { pub extern crate zorb_cdr as cdr; }
//! use zorb::cdr::{Decoder, Encoder, NativeEndian, WireFormat, cdr_struct};
//!
//! #[derive(Debug, PartialEq)]
//! struct Deposit { account: u32, amount: f64, purpose: String }
//! cdr_struct!(Deposit { account: u32, amount: f64, purpose: String });
//!
//! let deposit = Deposit { account: 7, amount: 10.5, purpose: "rent".into() };
//! let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
//! e.put(&deposit)?;
//! let octets = e.finish().into_bytes();
//! assert_eq!(octets.len(), 4 + 4 /* padding */ + 8 + 4 + 5);
//!
//! let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
//! assert_eq!(d.get::<Deposit>()?, deposit);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//! - `serde`: module `serde` with `to_bytes` and `from_bytes` for any type that implements the traits of serde.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unreachable,
    clippy::unwrap_used
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::indexing_slicing,
        clippy::unwrap_used,
        reason = "a test that is wrong may panic"
    )
)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod any;
mod bits;
mod codec;
mod cold_box;
mod context;
mod decoder;
mod either_order;
mod encapsulation;
mod encoder;
mod enumeration;
mod error;
mod fixed;
mod format;
mod frame;
mod gather;
mod impls;
mod in_memory;
mod layout;
mod limits;
mod long_double;
mod macros;
mod map;
mod octets;
mod order;
mod principal;
#[cfg(feature = "serde")]
pub mod serde;
mod stack;
mod text;
mod traits;
mod typecode;
mod value;
mod window;

#[doc(hidden)]
pub use alloc::vec::Vec as __Vec;
#[doc(hidden)]
pub use any::ExceptionCodec;
pub use any::{Any, Elements, ExtractError, IdlReference, IdlType, IdlValue, ValueParts};
#[doc(hidden)]
pub use bits::Bits;
pub use codec::{
    Array, BoundedOctets, BoundedSeq, BoundedStr, BoundedWideStr, Codec, Dec, Enc, SendCodec, Seq,
    WideStr,
};
pub use context::{Context, CopyError, CopyState, KnownValue, MemoryBudget};
pub use decoder::{CycleCollector, Decoder, MemoryReservation, ValueHead, ValueStart};
pub use either_order::{AnyDecoder, AnyEncoder};
pub use encapsulation::{EncapsulationVisitor, decode_encapsulation, encode_encapsulation};
pub use encoder::{Encoder, LONG_RUN, SHARE_FROM, ValueMark};
pub use enumeration::NotAnEnumerator;
pub use error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind};
pub use fixed::{Fixed, FixedError};
pub use format::{CharSet, DefaultLabels, WCharSet, WireFormat};
pub use frame::Frame;
pub use gather::{Gather, Lending, Lent};
#[doc(hidden)]
pub use impls::Number;
pub use impls::{Char, NotOneOctet, NotOneUnit, WChar};
pub use in_memory::InMemory;
pub use layout::Layout;
pub use limits::Limits;
pub use long_double::{LongDouble, NotALongDouble};
#[doc(hidden)]
pub use macros::{__group, __least, __stride};
pub use map::{BoundedMap, Map};
pub use octets::{KEEP_PINS_AT_MOST, KEEP_SHARES_FROM, Octets, OctetsRef};
pub use order::{BigEndian, ByteOrder, Endian, LittleEndian, NativeEndian};
pub use principal::Principal;
#[cfg(feature = "serde")]
pub use serde::{from_bytes, to_bytes};
#[doc(hidden)]
pub use traits::{__load_all, __store_all};
pub use traits::{Decode, Encode};
#[doc(hidden)]
pub use typecode::data::StaticType;
pub use typecode::{TcKind, TypeCode, TypeCodeSet, TypeDefinition, TypeSlot};
pub use value::Shared;
#[doc(hidden)]
pub use window::{Window, WindowMut};
/// The traits by which the compiler proves how types lie in memory: see [`InMemory`].
pub use zerocopy;
