//! The names of enumerators, which generated enums have beside their ordinals.

use alloc::string::String;

/// The error of parsing an enum: the text is not the IDL name of one of its enumerators.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected an enumerator of {enumeration}, found {found:?}")]
#[non_exhaustive]
pub struct NotAnEnumerator {
    /// The Rust name of the enum.
    pub enumeration: &'static str,
    /// The text.
    pub found: String,
}

impl NotAnEnumerator {
    /// Makes the error. For generated code.
    #[doc(hidden)]
    #[must_use]
    #[cold]
    pub fn new(enumeration: &'static str, found: &str) -> Self {
        Self {
            enumeration,
            found: found.into(),
        }
    }
}

/// Lists the enumerators of an enum, and implements `Display` and `FromStr` by their names in IDL.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::idl_enum;
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Colour { Red, DeepBlue }
/// idl_enum!(Colour { Red = "RED", DeepBlue = "deep_blue" });
///
/// assert_eq!(Colour::ALL, [Colour::Red, Colour::DeepBlue]);
/// assert_eq!(Colour::DeepBlue.to_string(), "deep_blue");
/// assert_eq!("RED".parse(), Ok(Colour::Red));
/// let error = "Red".parse::<Colour>().unwrap_err();
/// assert_eq!(error.to_string(), "expected an enumerator of Colour, found \"Red\"");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! idl_enum {
    ($name:ident { $($variant:ident = $idl:literal),+ $(,)? }) => {
        impl $name {
            /// The enumerators, in the order of the IDL.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name in IDL.
            #[must_use]
            pub const fn idl_name(self) -> &'static str {
                match self { $(Self::$variant => $idl,)+ }
            }
        }

        /// Writes the name in IDL.
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.idl_name())
            }
        }

        /// Parses the name in IDL.
        impl ::core::str::FromStr for $name {
            type Err = $crate::NotAnEnumerator;

            fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
                match text {
                    $($idl => ::core::result::Result::Ok(Self::$variant),)+
                    _ => ::core::result::Result::Err($crate::NotAnEnumerator::new(
                        ::core::stringify!($name),
                        text,
                    )),
                }
            }
        }
    };
}
