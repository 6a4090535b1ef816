//! What generated code calls for structs and enums.
//!
//! Names that a macro brings into scope next to the user's types begin with two underscores, since items and type
//! parameters are not hygienic and IDL may well call a type `O`.

/// Implements [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for a struct with named fields, in the order in
/// which they are listed. Each field is given with its [`Codec`](crate::Codec), whose `Value` is the type of the field.
///
/// ```
/// use zorb_cdr::{BoundedStr, Char, Layout, cdr_struct, Decode};
///
/// #[derive(Debug, PartialEq)]
/// struct Reading { sensor: u16, unit: Char, value: f64 }
/// cdr_struct!(Reading { sensor: u16, unit: Char, value: f64 });
/// assert_eq!(<Reading as Decode>::LAYOUT.stride(), 16);
///
/// struct Named { name: String }
/// cdr_struct!(Named { name: BoundedStr<20> });
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! cdr_struct {
    ($name:ty { $($field:ident : $codec:ty),* $(,)? }) => {
        impl $crate::Encode for $name {
            const ENCODED: $crate::Layout =
                $crate::Layout::of_struct(&[$(<$codec as $crate::Codec>::LAYOUT),*]);

            #[inline]
            fn encode<__O: $crate::ByteOrder>(
                &self,
                encoder: &mut $crate::Encoder<__O>,
            ) -> ::core::result::Result<(), $crate::EncodeError> {
                let _ = &encoder;
                $(<$codec as $crate::Codec>::encode(
                    ::core::borrow::Borrow::borrow(&self.$field),
                    encoder,
                )?;)*
                ::core::result::Result::Ok(())
            }

            #[inline(always)]
            fn encode_fixed<__O: $crate::ByteOrder>(
                &self,
                window: &mut $crate::WindowMut<'_>,
            ) -> ::core::result::Result<(), $crate::EncodeError> {
                let _ = &window;
                $(<$codec as $crate::Codec>::encode_fixed::<__O>(
                    ::core::borrow::Borrow::borrow(&self.$field),
                    window,
                )?;)*
                ::core::result::Result::Ok(())
            }
        }

        impl<'de> $crate::Decode<'de> for $name {
            const MIN_SIZE: usize = 0_usize
                $(.saturating_add(<$codec as $crate::Codec>::MIN_SIZE))*;
            const LAYOUT: $crate::Layout =
                $crate::Layout::of_struct(&[$(<$codec as $crate::Codec>::LAYOUT),*]);

            #[inline]
            fn decode<__O: $crate::ByteOrder>(
                decoder: &mut $crate::Decoder<'de, __O>,
            ) -> ::core::result::Result<Self, $crate::DecodeError> {
                let _ = &decoder;
                ::core::result::Result::Ok(Self {
                    $($field: <$codec as $crate::Codec>::decode(decoder)?,)*
                })
            }

            #[inline(always)]
            fn decode_fixed<__O: $crate::ByteOrder>(
                window: &mut $crate::Window<'_>,
            ) -> ::core::result::Result<Self, $crate::DecodeError> {
                let _ = &window;
                ::core::result::Result::Ok(Self {
                    $($field: <$codec as $crate::Codec>::decode_fixed::<__O>(window)?,)*
                })
            }
        }
    };
}

/// Implements [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for an enum without data: an unsigned long, 0 for
/// the variant that is listed first. An ordinal beyond the last is
/// [`InvalidEnum`](crate::DecodeErrorKind::InvalidEnum).
///
/// ```
/// use zorb_cdr::{BigEndian, Decoder, WireFormat, cdr_enum};
///
/// #[derive(Debug, PartialEq)]
/// enum Color { Red, Green, Blue }
/// cdr_enum!(Color { Red, Green, Blue });
///
/// let mut d = Decoder::<BigEndian>::from_slice(&[0, 0, 0, 2, 0, 0, 0, 3], WireFormat::default());
/// assert_eq!(d.get::<Color>()?, Color::Blue);
/// assert!(d.get::<Color>().is_err());
/// # Ok::<(), zorb_cdr::DecodeError>(())
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! cdr_enum {
    ($name:ty { $($variant:ident),+ $(,)? }) => {
        const _: () = {
            /// The ordinals in the order of the list, which the variants themselves need not be in.
            #[allow(
                non_camel_case_types,
                clippy::upper_case_acronyms,
                reason = "names are those of the enum"
            )]
            #[repr(u32)]
            enum __Ordinal { $($variant),+ }

            const __COUNT: u32 = 0 $(+ { let _ = __Ordinal::$variant; 1 })+;

            impl $crate::Encode for $name {
                const ENCODED: $crate::Layout = $crate::Layout::primitive(4);

                #[inline]
                fn encode<__O: $crate::ByteOrder>(
                    &self,
                    encoder: &mut $crate::Encoder<__O>,
                ) -> ::core::result::Result<(), $crate::EncodeError> {
                    encoder.write_u32(match self {
                        $(Self::$variant => __Ordinal::$variant as u32,)+
                    });
                    ::core::result::Result::Ok(())
                }

                #[inline(always)]
                fn encode_fixed<__O: $crate::ByteOrder>(
                    &self,
                    window: &mut $crate::WindowMut<'_>,
                ) -> ::core::result::Result<(), $crate::EncodeError> {
                    window.store(__O::store_u32(match self {
                        $(Self::$variant => __Ordinal::$variant as u32,)+
                    }))
                }
            }

            impl<'de> $crate::Decode<'de> for $name {
                const MIN_SIZE: usize = 4;
                const LAYOUT: $crate::Layout = $crate::Layout::primitive(4);

                #[inline]
                fn decode<__O: $crate::ByteOrder>(
                    decoder: &mut $crate::Decoder<'de, __O>,
                ) -> ::core::result::Result<Self, $crate::DecodeError> {
                    let found = decoder.read_u32()?;
                    $(if found == __Ordinal::$variant as u32 {
                        return ::core::result::Result::Ok(Self::$variant);
                    })+
                    let kind = $crate::DecodeErrorKind::InvalidEnum { found, count: __COUNT };
                    ::core::result::Result::Err(decoder.error_behind(4, kind))
                }

                #[inline(always)]
                fn decode_fixed<__O: $crate::ByteOrder>(
                    window: &mut $crate::Window<'_>,
                ) -> ::core::result::Result<Self, $crate::DecodeError> {
                    let found = window.load_u32::<__O>()?;
                    $(if found == __Ordinal::$variant as u32 {
                        return ::core::result::Result::Ok(Self::$variant);
                    })+
                    let kind = $crate::DecodeErrorKind::InvalidEnum { found, count: __COUNT };
                    ::core::result::Result::Err(window.error_behind(4, kind))
                }
            }
        };
    };
}
