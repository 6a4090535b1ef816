//! Bit fields (numbers in parts of a larger number) and flags: the traits and macros that generated code uses.

/// The value of a bit field, in the lowest bits of a number. Negative numbers are in two's complement.
#[doc(hidden)]
pub trait Bits: Copy {
    /// Returns the value in the lowest `width` bits; `None` if it does not fit.
    fn to_bits(self, width: u32) -> Option<u64>;

    /// Makes a value of the lowest `width` bits; the others are ignored.
    fn from_bits(bits: u64, width: u32) -> Self;
}

/// Returns a mask of the lowest `width` bits.
const fn mask(width: u32) -> u64 {
    match u64::MAX.checked_shr(64_u32.saturating_sub(width)) {
        Some(mask) => mask,
        None => 0,
    }
}

impl Bits for bool {
    fn to_bits(self, width: u32) -> Option<u64> {
        u64::from(self).to_bits(width)
    }

    fn from_bits(bits: u64, width: u32) -> Self {
        bits & mask(width) != 0
    }
}

macro_rules! unsigned {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            fn to_bits(self, width: u32) -> Option<u64> {
                let bits = u64::from(self);
                (bits & mask(width) == bits).then_some(bits)
            }

            #[expect(clippy::allow_attributes, reason = "not all of the types are narrower")]
            #[allow(clippy::cast_possible_truncation, reason = "what is dropped does not matter")]
            fn from_bits(bits: u64, width: u32) -> Self {
                (bits & mask(width)) as $t
            }
        }
    )*};
}

unsigned!(u8 u16 u32 u64);

macro_rules! signed {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            fn to_bits(self, width: u32) -> Option<u64> {
                let bits = i64::from(self).cast_unsigned() & mask(width);
                (Self::from_bits(bits, width) == self).then_some(bits)
            }

            #[expect(clippy::allow_attributes, reason = "not all of the types are narrower")]
            #[allow(clippy::cast_possible_truncation, reason = "what is dropped does not matter")]
            fn from_bits(bits: u64, width: u32) -> Self {
                // Shifts the sign bit to the top, and back, so that copies of it fill the upper bits.
                let unused = 64_u32.saturating_sub(width);
                let top = bits.checked_shl(unused).unwrap_or_default().cast_signed();
                top.checked_shr(unused).unwrap_or_default() as $t
            }
        }
    )*};
}

signed!(i8 i16 i32 i64);

/// Implements [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for a struct of bit fields, as one number: each field
/// with its type, the place of its lowest bit, and its width. Bits that no field has are zero, and ignored on reading.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BigEndian, Encoder, WireFormat, cdr_bitset};
///
/// struct Flags { low: u8, set: bool, level: i16 }
/// cdr_bitset!(Flags: u16 { low: u8 = 0, 3; set: bool = 4, 1; level: i16 = 5, 11 });
///
/// let mut e = Encoder::<BigEndian>::new(WireFormat::default());
/// e.put(&Flags { low: 5, set: true, level: -1 })?;
/// assert!(e.put(&Flags { low: 8, set: true, level: 0 }).is_err());
/// assert_eq!(e.finish().to_vec(), [0xff, 0b1111_0101]);
/// # Ok::<(), zorb::cdr::EncodeError>(())
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! cdr_bitset {
    ($name:ty: $holder:ty { $($field:ident: $kind:ty = $at:literal, $width:literal);* $(;)? }) => {
        const _: () = {
            impl $name {
                fn __bits(&self) -> ::core::result::Result<$holder, $crate::EncodeError> {
                    let bits = 0_u64;
                    $(
                        let bits = bits
                            | match <$kind as $crate::Bits>::to_bits(self.$field, $width) {
                                ::core::option::Option::Some(field) => field << $at,
                                ::core::option::Option::None => {
                                    return ::core::result::Result::Err($crate::EncodeError::new(
                                        $crate::EncodeErrorKind::TooManyBits {
                                            field: ::core::stringify!($field),
                                            bits: $width,
                                        },
                                    ));
                                }
                            };
                    )*
                    ::core::result::Result::Ok(<$holder as $crate::Bits>::from_bits(bits, 64))
                }

                fn __of_bits(bits: $holder) -> Self {
                    let bits = <u64 as ::core::convert::From<$holder>>::from(bits);
                    let _ = bits;
                    Self { $($field: <$kind as $crate::Bits>::from_bits(bits >> $at, $width),)* }
                }
            }

            impl $crate::Encode for $name {
                const ENCODED: $crate::Layout = <$holder as $crate::Codec>::LAYOUT;

                fn encode<__O: $crate::ByteOrder>(
                    &self,
                    encoder: &mut $crate::Encoder<__O>,
                ) -> ::core::result::Result<(), $crate::EncodeError> {
                    <$holder as $crate::Codec>::encode(&self.__bits()?, encoder)
                }

                #[inline(always)]
                fn encode_fixed<__O: $crate::ByteOrder>(
                    &self,
                    window: &mut $crate::WindowMut<'_>,
                ) -> ::core::result::Result<(), $crate::EncodeError> {
                    <$holder as $crate::Codec>::encode_fixed::<__O>(&self.__bits()?, window)
                }
            }

            impl<'de> $crate::Decode<'de> for $name {
                const MIN_SIZE: usize = <$holder as $crate::Codec>::MIN_SIZE;
                const LAYOUT: $crate::Layout = <$holder as $crate::Codec>::LAYOUT;

                fn decode<__O: $crate::ByteOrder>(
                    decoder: &mut $crate::Decoder<'de, __O>,
                ) -> ::core::result::Result<Self, $crate::DecodeError> {
                    <$holder as $crate::Codec>::decode(decoder).map(Self::__of_bits)
                }

                #[inline(always)]
                fn decode_fixed<__O: $crate::ByteOrder>(
                    window: &mut $crate::Window<'_>,
                ) -> Self {
                    Self::__of_bits(<$holder as $crate::Codec>::decode_fixed::<__O>(window))
                }
            }
        };
    };
}

/// Methods of a type of flags, and [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for it: one number with a bit
/// for each. The flags are associated constants. Bits that no flag has are an error on reading.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::cdr_bitmask;
///
/// #[derive(Clone, Copy, PartialEq)]
/// struct Access(u8);
/// impl Access {
///     const READ: Self = Self(1);
///     const WRITE: Self = Self(4);
/// }
/// cdr_bitmask!(Access: u8 { READ, WRITE });
///
/// let both = Access::READ | Access::WRITE;
/// assert_eq!((both.bits(), Access::from_bits(2)), (5, None));
/// assert!(both.contains(Access::READ) && !Access::empty().contains(Access::READ));
/// assert_eq!(format!("{both:?} {:?}", !both), "Access(READ | WRITE) Access()");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! cdr_bitmask {
    ($name:ident: $holder:ty { $($flag:ident),* $(,)? }) => {
        impl $name {
            /// Returns the value in which no flag is set.
            #[must_use]
            pub const fn empty() -> Self {
                Self(0)
            }

            /// Returns the value in which every declared flag is set.
            #[must_use]
            pub const fn all() -> Self {
                Self(0 $(| Self::$flag.0)*)
            }

            /// Returns the flags as a number with one bit for each.
            #[must_use]
            pub const fn bits(self) -> $holder {
                self.0
            }

            /// Returns the flags of `bits`; `None` if one of the bits belongs to no flag.
            #[must_use]
            pub const fn from_bits(bits: $holder) -> ::core::option::Option<Self> {
                if bits & !Self::all().0 == 0 {
                    ::core::option::Option::Some(Self(bits))
                } else {
                    ::core::option::Option::None
                }
            }

            /// Whether all of `flags` are among these.
            #[must_use]
            pub const fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }
        }

        impl ::core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl ::core::ops::BitAnd for $name {
            type Output = Self;

            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl ::core::ops::Not for $name {
            type Output = Self;

            fn not(self) -> Self {
                Self(!self.0 & Self::all().0)
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::core::concat!(::core::stringify!($name), "("))?;
                let between = "";
                $(
                    let between = if self.contains(Self::$flag) {
                        f.write_str(between)?;
                        f.write_str(::core::stringify!($flag))?;
                        " | "
                    } else {
                        between
                    };
                )*
                let _ = between;
                f.write_str(")")
            }
        }

        impl $crate::Encode for $name {
            const ENCODED: $crate::Layout = <$holder as $crate::Codec>::LAYOUT;

            fn encode<__O: $crate::ByteOrder>(
                &self,
                encoder: &mut $crate::Encoder<__O>,
            ) -> ::core::result::Result<(), $crate::EncodeError> {
                <$holder as $crate::Codec>::encode(&self.0, encoder)
            }

            #[inline(always)]
            fn encode_fixed<__O: $crate::ByteOrder>(
                &self,
                window: &mut $crate::WindowMut<'_>,
            ) -> ::core::result::Result<(), $crate::EncodeError> {
                <$holder as $crate::Codec>::encode_fixed::<__O>(&self.0, window)
            }
        }

        impl<'de> $crate::Decode<'de> for $name {
            const MIN_SIZE: usize = <$holder as $crate::Codec>::MIN_SIZE;
            const LAYOUT: $crate::Layout = <$holder as $crate::Codec>::LAYOUT;

            fn decode<__O: $crate::ByteOrder>(
                decoder: &mut $crate::Decoder<'de, __O>,
            ) -> ::core::result::Result<Self, $crate::DecodeError> {
                let bits = <$holder as $crate::Codec>::decode(decoder)?;
                Self::from_bits(bits).ok_or_else(|| {
                    let kind = $crate::DecodeErrorKind::Expected("flags that have a name");
                    decoder.error_behind(<$holder as $crate::Codec>::MIN_SIZE, kind)
                })
            }

            #[inline(always)]
            fn decode_fixed<__O: $crate::ByteOrder>(
                window: &mut $crate::Window<'_>,
            ) -> Self {
                let bits = <$holder as $crate::Codec>::decode_fixed::<__O>(window);
                window.note(bits & !Self::all().0 != 0);
                Self(bits & Self::all().0)
            }
        }
    };
}
