//! Macros of generated code for structs, enums and unions.
//!
//! Names that a macro brings into scope next to the user's types begin with two underscores, since items and type
//! parameters are not hygienic and IDL may well call a type `O`.

/// Implements [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for a struct with named fields, in the order in
/// which they are listed. Each field is given with its [`Codec`](crate::Codec), whose `Value` is the type of the field.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BoundedStr, Char, Layout, cdr_struct, Decode};
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

            $crate::__encode_settled!($name);

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

            $crate::__decode_settled!($name);

            #[inline(always)]
            fn decode_fixed<__O: $crate::ByteOrder>(
                window: &mut $crate::Window<'_>,
            ) -> Self {
                let _ = &window;
                Self {
                    $($field: <$codec as $crate::Codec>::decode_fixed::<__O>(window),)*
                }
            }
        }
    };
}

/// Implements [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for an enum without data: an unsigned long, 0 for
/// the variant that is listed first. An ordinal beyond the last is
/// [`InvalidEnum`](crate::DecodeErrorKind::InvalidEnum).
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BigEndian, Decoder, WireFormat, cdr_enum};
///
/// #[derive(Debug, PartialEq)]
/// enum Color { Red, Green, Blue }
/// cdr_enum!(Color { Red, Green, Blue });
///
/// let mut d = Decoder::<BigEndian>::from_slice(&[0, 0, 0, 2, 0, 0, 0, 3], WireFormat::default());
/// assert_eq!(d.get::<Color>()?, Color::Blue);
/// assert!(d.get::<Color>().is_err());
/// # Ok::<(), zorb::cdr::DecodeError>(())
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

            /// The placeholder for an invalid ordinal.
            const __FIRST: $name = {
                let [first, ..] = [$(<$name>::$variant),+];
                first
            };

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

                $crate::__encode_settled!($name);

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

                $crate::__decode_settled!($name);

                #[inline(always)]
                fn decode_fixed<__O: $crate::ByteOrder>(
                    window: &mut $crate::Window<'_>,
                ) -> Self {
                    let found = window.load_u32::<__O>();
                    window.note(found >= __COUNT);
                    $(if found == __Ordinal::$variant as u32 {
                        return Self::$variant;
                    })+
                    __FIRST
                }
            }
        };
    };
}

/// Implements [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for a union, and gives it the method
/// `discriminator`. The Rust type is an enum; the form of a variant depends on the number of discriminators that select
/// it:
///
/// - `one`: a single one, in brackets. The variant holds the member.
/// - `several`: the variant has the fields `discriminator` and `value`.
/// - `default`: all that are listed nowhere else; the same fields.
/// - `unset`: no member, for all that are listed nowhere else. The variant has the field `discriminator`.
/// - `last`: no member, for the one in brackets, the last that is left. The variant holds nothing.
///
/// There is one of the last three, or none if the others have all values. Writing a variant with a discriminator that
/// does not select it is [`WrongDiscriminator`](crate::EncodeErrorKind::WrongDiscriminator).
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{BigEndian, Decoder, Encoder, WireFormat, cdr_union};
///
/// #[derive(Debug, PartialEq)]
/// enum Reading {
///     Count(u16),
///     Level { discriminator: i32, value: f64 },
///     Unset { discriminator: i32 },
/// }
/// cdr_union!(Reading: i32 {
///     one { Count(u16) = [1] }
///     several { Level(f64) = [-2] [3] }
///     unset Unset;
/// });
///
/// let octets = [0, 0, 0, 1, 0, 7, 0, 0, 0, 0, 0, 9];
/// let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
/// assert_eq!(d.get::<Reading>()?, Reading::Count(7));
/// assert_eq!(d.get::<Reading>()?, Reading::Unset { discriminator: 9 });
///
/// let wrong = Reading::Level { discriminator: 1, value: 0.5 };
/// assert_eq!(wrong.discriminator(), 1);
/// assert!(Encoder::<BigEndian>::new(WireFormat::default()).put(&wrong).is_err());
/// # Ok::<(), zorb::cdr::DecodeError>(())
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! cdr_union {
    ($name:ty: $discriminator:ty {
        one { $($one:ident($one_codec:ty) = [$($one_label:tt)+]),* $(,)? }
        several { $($several:ident($several_codec:ty) = $([$($label:tt)+])+),* $(,)? }
        $(default $default:ident($default_codec:ty);)?
        $(unset $unset:ident;)?
        $(last $rest:ident = [$($rest_label:tt)+];)?
    }) => {
        const _: () = {
            /// Whether a member other than the default is selected.
            #[allow(dead_code, unreachable_patterns, reason = "some unions have all values, others no default")]
            #[inline]
            fn __listed(discriminator: $discriminator) -> bool {
                match discriminator {
                    $($($one_label)+ => true,)*
                    $($($($label)+)|+ => true,)*
                    _ => false,
                }
            }

            const __LAYOUT: $crate::Layout = $crate::Layout::of_union(
                <$discriminator as $crate::Codec>::LAYOUT,
                &[
                    $(<$one_codec as $crate::Codec>::LAYOUT,)*
                    $(<$several_codec as $crate::Codec>::LAYOUT,)*
                    $(<$default_codec as $crate::Codec>::LAYOUT,)?
                    $({ let _ = ::core::stringify!($unset); $crate::Layout::EMPTY },)?
                    $({ let _ = ::core::stringify!($rest); $crate::Layout::EMPTY },)?
                ],
            );

            impl $name {
                /// Returns the value that selects the member.
                #[inline]
                pub fn discriminator(&self) -> $discriminator {
                    match self {
                        $(Self::$one(_) => $($one_label)+,)*
                        $(Self::$several { discriminator, .. } => *discriminator,)*
                        $(Self::$default { discriminator, .. } => *discriminator,)?
                        $(Self::$unset { discriminator } => *discriminator,)?
                        $(Self::$rest => $($rest_label)+,)?
                    }
                }

                /// Returns the discriminator, if it selects this variant.
                #[inline]
                fn __checked(&self) -> ::core::result::Result<$discriminator, $crate::EncodeError> {
                    match self {
                        $(Self::$several { discriminator, .. }
                            if !::core::matches!(discriminator, $($($label)+)|+) =>
                        {
                            ::core::result::Result::Err($crate::EncodeError::new(
                                $crate::EncodeErrorKind::WrongDiscriminator {
                                    variant: ::core::stringify!($several),
                                },
                            ))
                        })*
                        $(Self::$default { discriminator, .. } if __listed(*discriminator) => {
                            ::core::result::Result::Err($crate::EncodeError::new(
                                $crate::EncodeErrorKind::WrongDiscriminator {
                                    variant: ::core::stringify!($default),
                                },
                            ))
                        })?
                        $(Self::$unset { discriminator } if __listed(*discriminator) => {
                            ::core::result::Result::Err($crate::EncodeError::new(
                                $crate::EncodeErrorKind::WrongDiscriminator {
                                    variant: ::core::stringify!($unset),
                                },
                            ))
                        })?
                        _ => ::core::result::Result::Ok(self.discriminator()),
                    }
                }
            }

            impl $crate::Encode for $name {
                const ENCODED: $crate::Layout = __LAYOUT;

                #[inline]
                fn encode<__O: $crate::ByteOrder>(
                    &self,
                    encoder: &mut $crate::Encoder<__O>,
                ) -> ::core::result::Result<(), $crate::EncodeError> {
                    <$discriminator as $crate::Codec>::encode(&self.__checked()?, encoder)?;
                    match self {
                        $(Self::$one(value) => <$one_codec as $crate::Codec>::encode(
                            ::core::borrow::Borrow::borrow(value),
                            encoder,
                        ),)*
                        $(Self::$several { value, .. } => <$several_codec as $crate::Codec>::encode(
                            ::core::borrow::Borrow::borrow(value),
                            encoder,
                        ),)*
                        $(Self::$default { value, .. } => <$default_codec as $crate::Codec>::encode(
                            ::core::borrow::Borrow::borrow(value),
                            encoder,
                        ),)?
                        $(Self::$unset { .. } => ::core::result::Result::Ok(()),)?
                        $(Self::$rest => ::core::result::Result::Ok(()),)?
                    }
                }

                $crate::__encode_settled!($name);

                #[inline(always)]
                fn encode_fixed<__O: $crate::ByteOrder>(
                    &self,
                    window: &mut $crate::WindowMut<'_>,
                ) -> ::core::result::Result<(), $crate::EncodeError> {
                    <$discriminator as $crate::Codec>::encode_fixed::<__O>(
                        &self.__checked()?,
                        window,
                    )?;
                    match self {
                        $(Self::$one(value) => <$one_codec as $crate::Codec>::encode_fixed::<__O>(
                            ::core::borrow::Borrow::borrow(value),
                            window,
                        ),)*
                        $(Self::$several { value, .. } => <$several_codec as $crate::Codec>::encode_fixed::<__O>(
                            ::core::borrow::Borrow::borrow(value),
                            window,
                        ),)*
                        $(Self::$default { value, .. } => <$default_codec as $crate::Codec>::encode_fixed::<__O>(
                            ::core::borrow::Borrow::borrow(value),
                            window,
                        ),)?
                        $(Self::$unset { .. } => ::core::result::Result::Ok(()),)?
                        $(Self::$rest => ::core::result::Result::Ok(()),)?
                    }
                }
            }

            impl<'de> $crate::Decode<'de> for $name {
                const MIN_SIZE: usize = <$discriminator as $crate::Codec>::MIN_SIZE
                    .saturating_add($crate::__least(&[
                        $(<$one_codec as $crate::Codec>::MIN_SIZE,)*
                        $(<$several_codec as $crate::Codec>::MIN_SIZE,)*
                        $(<$default_codec as $crate::Codec>::MIN_SIZE,)?
                        $({ let _ = ::core::stringify!($unset); 0 },)?
                        $({ let _ = ::core::stringify!($rest); 0 },)?
                    ]));
                const LAYOUT: $crate::Layout = __LAYOUT;

                #[inline]
                fn decode<__O: $crate::ByteOrder>(
                    decoder: &mut $crate::Decoder<'de, __O>,
                ) -> ::core::result::Result<Self, $crate::DecodeError> {
                    let discriminator = <$discriminator as $crate::Codec>::decode(decoder)?;
                    ::core::result::Result::Ok(match discriminator {
                        $($($one_label)+ => Self::$one(<$one_codec as $crate::Codec>::decode(decoder)?),)*
                        $($($($label)+)|+ => Self::$several {
                            discriminator,
                            value: <$several_codec as $crate::Codec>::decode(decoder)?,
                        },)*
                        $(_ => Self::$default {
                            discriminator,
                            value: <$default_codec as $crate::Codec>::decode(decoder)?,
                        },)?
                        $(_ => Self::$unset { discriminator },)?
                        $($($rest_label)+ => Self::$rest,)?
                    })
                }

                $crate::__decode_settled!($name);

                #[inline(always)]
                fn decode_fixed<__O: $crate::ByteOrder>(
                    window: &mut $crate::Window<'_>,
                ) -> Self {
                    let discriminator = <$discriminator as $crate::Codec>::decode_fixed::<__O>(window);
                    match discriminator {
                        $($($one_label)+ => {
                            Self::$one(<$one_codec as $crate::Codec>::decode_fixed::<__O>(window))
                        })*
                        $($($($label)+)|+ => Self::$several {
                            discriminator,
                            value: <$several_codec as $crate::Codec>::decode_fixed::<__O>(window),
                        },)*
                        $(_ => Self::$default {
                            discriminator,
                            value: <$default_codec as $crate::Codec>::decode_fixed::<__O>(window),
                        },)?
                        $(_ => Self::$unset { discriminator },)?
                        $($($rest_label)+ => Self::$rest,)?
                    }
                }
            }
        };
    };
}

/// Defines `encode_settled`, which writes the settled elements of a sequence, for a named type of fixed layout.
#[doc(hidden)]
#[macro_export]
macro_rules! __encode_settled {
    ($name:ty) => {
        #[inline]
        fn encode_settled<__O: $crate::ByteOrder>(
            values: &[Self],
            octets: &mut [u8],
            format: $crate::WireFormat,
        ) -> ::core::result::Result<bool, $crate::EncodeError> {
            $crate::__store_all::<
                Self,
                __O,
                { $crate::__stride::<$name>() },
                { <$name as $crate::Decode<'static>>::LAYOUT.settled() },
                { $crate::__group::<$name>() },
            >(values, octets, format)
        }
    };
}

/// Defines `decode_settled`, which reads the octets that `encode_settled` writes.
#[doc(hidden)]
#[macro_export]
macro_rules! __decode_settled {
    ($name:ty) => {
        #[inline(always)]
        fn decode_settled<__O: $crate::ByteOrder>(
            octets: &[u8],
            format: $crate::WireFormat,
            values: &mut $crate::__Vec<Self>,
        ) -> bool {
            $crate::__load_all::<
                Self,
                __O,
                { $crate::__stride::<$name>() },
                { <$name as $crate::Decode<'static>>::LAYOUT.settled() },
                { $crate::__group::<$name>() },
            >(octets, format, values)
        }
    };
}

/// Returns the size in octets of a value of fixed layout that begins where another ended; 1 for other types, which do
/// not use it.
#[doc(hidden)]
#[must_use]
pub const fn __stride<T: crate::Decode<'static>>() -> usize {
    match T::LAYOUT.stride() {
        0 => 1,
        stride => stride,
    }
}

/// Returns the number of values that are stored or loaded between two checks of the space that is left.
#[doc(hidden)]
#[must_use]
pub const fn __group<T: crate::Decode<'static>>() -> usize {
    crate::layout::group(T::LAYOUT.stride())
}

/// Returns the least of some sizes, or 0 if there are none.
#[doc(hidden)]
#[must_use]
pub const fn __least(sizes: &[usize]) -> usize {
    let Some((first, mut rest)) = sizes.split_first() else {
        return 0;
    };
    let mut least = *first;
    while let Some((next, others)) = rest.split_first() {
        if *next < least {
            least = *next;
        }
        rest = others;
    }
    least
}
