//! Byte order, as a value and as a type.

use core::fmt;

mod sealed {
    pub trait Sealed {}
}

/// The byte order of a message or an encapsulation.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "CDR knows two byte orders and one flag bit"
)]
pub enum Endian {
    /// Most significant octet first; the flag is 0.
    Big,
    /// Least significant octet first; the flag is 1.
    Little,
}

impl Endian {
    /// The order of this machine, which is the one to write.
    pub const NATIVE: Self = Self::from_flag(cfg!(target_endian = "little"));

    /// Returns the order of a byte order flag.
    #[must_use]
    pub const fn from_flag(little: bool) -> Self {
        if little { Self::Little } else { Self::Big }
    }

    /// Returns the flag as it is written in headers and encapsulations.
    #[must_use]
    pub const fn is_little(self) -> bool {
        matches!(self, Self::Little)
    }
}

impl fmt::Display for Endian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_little() {
            "little endian"
        } else {
            "big endian"
        })
    }
}

/// A byte order known at compile time, so that a codec is compiled once for each and needs no check at run time.
///
/// Sealed: only [`BigEndian`] and [`LittleEndian`] implement it.
pub trait ByteOrder: sealed::Sealed + Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// The byte order as a value.
    const ENDIAN: Endian;
    /// Whether this is the byte order of this machine.
    const IS_NATIVE: bool;
    /// Returns the number that two octets are in this byte order.
    fn load_u16(octets: [u8; 2]) -> u16;
    /// Returns the number that four octets are in this byte order.
    fn load_u32(octets: [u8; 4]) -> u32;
    /// Returns the number that eight octets are in this byte order.
    fn load_u64(octets: [u8; 8]) -> u64;
    /// Returns the two octets of a number in this byte order.
    fn store_u16(value: u16) -> [u8; 2];
    /// Returns the four octets of a number in this byte order.
    fn store_u32(value: u32) -> [u8; 4];
    /// Returns the eight octets of a number in this byte order.
    fn store_u64(value: u64) -> [u8; 8];
    /// Wraps a value of this order as one of either order.
    #[doc(hidden)]
    fn wrap<T: EitherOrder>(value: T::Of<Self>) -> T;
}

/// A type of either byte order, which wraps one whose order is known at compile time.
#[doc(hidden)]
pub trait EitherOrder: Sized {
    /// The type of order `O`.
    type Of<O: ByteOrder>;
    /// Wraps a value in big endian.
    fn big(value: Self::Of<BigEndian>) -> Self;
    /// Wraps a value in little endian.
    fn little(value: Self::Of<LittleEndian>) -> Self;
}

/// The byte order with the most significant octet first.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Clone, Copy, Default, Debug)]
#[non_exhaustive]
pub struct BigEndian;

/// The byte order with the least significant octet first.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Clone, Copy, Default, Debug)]
#[non_exhaustive]
pub struct LittleEndian;

/// The byte order of the machine that the crate is compiled for.
#[cfg(target_endian = "little")]
pub type NativeEndian = LittleEndian;
/// The byte order of the machine that the crate is compiled for.
#[cfg(target_endian = "big")]
pub type NativeEndian = BigEndian;

macro_rules! byte_order {
    ($name:ident, $endian:expr, $wrap:ident, $from:ident, $to:ident) => {
        impl sealed::Sealed for $name {}
        impl ByteOrder for $name {
            const ENDIAN: Endian = $endian;
            const IS_NATIVE: bool = $endian.is_little() == Endian::NATIVE.is_little();
            #[inline(always)]
            fn load_u16(octets: [u8; 2]) -> u16 {
                u16::$from(octets)
            }
            #[inline(always)]
            fn load_u32(octets: [u8; 4]) -> u32 {
                u32::$from(octets)
            }
            #[inline(always)]
            fn load_u64(octets: [u8; 8]) -> u64 {
                u64::$from(octets)
            }
            #[inline(always)]
            fn store_u16(value: u16) -> [u8; 2] {
                value.$to()
            }
            #[inline(always)]
            fn store_u32(value: u32) -> [u8; 4] {
                value.$to()
            }
            #[inline(always)]
            fn store_u64(value: u64) -> [u8; 8] {
                value.$to()
            }
            #[inline(always)]
            fn wrap<T: EitherOrder>(value: T::Of<Self>) -> T {
                T::$wrap(value)
            }
        }
    };
}

byte_order!(BigEndian, Endian::Big, big, from_be_bytes, to_be_bytes);
byte_order!(
    LittleEndian,
    Endian::Little,
    little,
    from_le_bytes,
    to_le_bytes
);
