//! The negotiated format of a connection: GIOP version and code sets.

/// The encoding of text and wide text on a connection, and the minor version of GIOP.
///
/// ```
/// # mod zorb { pub extern crate zorb_cdr as cdr; }
/// use zorb::cdr::{CharSet, WireFormat};
/// let mut format = WireFormat::default();
/// assert_eq!((format.minor, format.char_set), (2, CharSet::Utf8));
/// format.char_set = CharSet::Latin1; // the peer stated no code sets
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it from what a message header and a code set negotiation say"
)]
pub struct WireFormat {
    /// Minor version of GIOP 1.x: 0, 1 or 2. Anything above 2 is read as 2.
    pub minor: u8,
    /// Transmission code set of `char` and `string`.
    pub char_set: CharSet,
    /// Transmission code set of `wchar` and `wstring`.
    pub wchar_set: WCharSet,
    /// The form in which TypeCodes of unions are written that have a default.
    pub default_labels: DefaultLabels,
}

impl WireFormat {
    /// GIOP 1.2, UTF-8 and UTF-16: the default.
    pub const DEFAULT: Self = Self {
        minor: 2,
        char_set: CharSet::Utf8,
        wchar_set: WCharSet::Utf16,
        default_labels: DefaultLabels::Discriminator,
    };
}

impl Default for WireFormat {
    /// Returns [`DEFAULT`](Self::DEFAULT).
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Transmission code set of `char` and `string`.
///
/// Source: CORBA 3.3 Part 2, Code Set Conversion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum CharSet {
    /// UTF-8, the default. A `char` is then one octet below 0x80.
    #[default]
    Utf8,
    /// ISO 8859-1, which applies also to a peer that states no code sets.
    Latin1,
    /// The form in which an [`Any`](crate::Any) stores text, never sent: UTF-8, but a `char` is a character of ISO
    /// 8859-1.
    #[doc(hidden)]
    Stored,
}

/// The label of a union's default in the union's TypeCode. Both forms are read.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR transfer syntax of TypeCodes).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "ORBs send one of the two")]
pub enum DefaultLabels {
    /// A value of the discriminator's type, as the specification has it.
    #[default]
    Discriminator,
    /// One octet, as JacORB and GlassFish write it. They cannot read the other form.
    Octet,
}

/// Transmission code set of `wchar` and `wstring`.
///
/// Source: CORBA 3.3 Part 2, Code Set Conversion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WCharSet {
    /// UTF-16, the default. In GIOP 1.2 it is big-endian unless a byte order mark says otherwise.
    Utf16,
    /// UCS-2, the part of UTF-16 without surrogate pairs: always in the byte order of the message, and never with a
    /// byte order mark.
    Ucs2,
    /// No code set for wide data was negotiated. Encoding and decoding such data are errors (`WideRefused`).
    None,
}
