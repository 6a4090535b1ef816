//! Errors of decoding and encoding.

use thiserror::Error;

/// An error of decoding: octets that are malformed or exceed a limit.
///
/// The caller chooses the system exception. [`is_data_conversion`](Self::is_data_conversion) distinguishes text that
/// cannot be converted (DATA_CONVERSION) from everything else (MARSHAL, or BAD_PARAM for wide text without a code set).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{kind} at octet {offset}")]
pub struct DecodeError {
    kind: DecodeErrorKind,
    offset: usize,
}

impl DecodeError {
    /// Makes an error at `offset` octets from the start of the frame.
    ///
    /// Hand-written [`Decode`](crate::Decode) implementations get one from
    /// [`Decoder::error`](crate::Decoder::error), which knows the offset.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn new(kind: DecodeErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Returns its position: octets from the start of the outermost frame, also inside an encapsulation.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Whether text could not be converted, rather than the message being malformed.
    #[must_use]
    pub const fn is_data_conversion(&self) -> bool {
        matches!(
            self.kind,
            DecodeErrorKind::InvalidUtf8
                | DecodeErrorKind::NotInCodeSet { .. }
                | DecodeErrorKind::LoneSurrogate { .. }
        )
    }
}

/// Why octets cannot be decoded. Lengths and positions are in octets unless stated otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The octets end before the value does.
    #[error("expected {needed} more octets, found {left}")]
    Truncated {
        /// Octets that the value needs from here.
        needed: usize,
        /// Octets that are there.
        left: usize,
    },
    /// A sequence claims more elements than the rest of the message can have.
    #[error("expected a count that fits in {left} octets, found {count}")]
    CountTooLarge {
        /// The count on the wire.
        count: u32,
        /// Octets that are left and not owed to enclosing sequences.
        left: usize,
    },
    /// A bounded string or sequence is longer than its bound.
    #[error("expected a length of at most {bound}, found {found}")]
    BoundExceeded {
        /// The bound.
        bound: u32,
        /// The length on the wire, in characters or elements.
        found: usize,
    },
    /// A string does not end with a zero octet.
    #[error("expected string terminator, found 0x{found:02x}")]
    MissingNul {
        /// The last octet.
        found: u8,
    },
    /// A GIOP 1.1 wide string does not end with a zero unit.
    #[error("expected wide string terminator, found 0x{found:04x}")]
    MissingWideNul {
        /// The last unit.
        found: u16,
    },
    /// A string contains a NUL, which IDL strings may not.
    #[error("expected text without NUL, found one")]
    EmbeddedNul,
    /// A string is not UTF-8.
    #[error("expected valid UTF-8, found other octets")]
    InvalidUtf8,
    /// A character is not one of the code set, or does not fit into one octet of it.
    #[error("expected a character of {set}, found 0x{found:x}")]
    NotInCodeSet {
        /// The code on the wire.
        found: u32,
        /// The code set, and as much of it as there is room for.
        set: &'static str,
    },
    /// A wide string holds half of a surrogate pair, so it is not text.
    #[error("expected a surrogate pair, found 0x{unit:04x} alone")]
    LoneSurrogate {
        /// The unit.
        unit: u16,
    },
    /// Wide characters in GIOP 1.0, which has none.
    #[error("expected no wide characters in GIOP 1.0, found some")]
    WideInGiop1_0,
    /// Wide characters on a connection without a code set for them.
    #[error("expected no wide characters on this connection, found some")]
    WideRefused,
    /// A wide character or string has a number of octets that no UTF-16 text has.
    #[error("expected a length of UTF-16 text, found {found} octets")]
    WideLength {
        /// Octets.
        found: u32,
    },
    /// An enum ordinal that is not declared.
    #[error("expected an enum ordinal below {count}, found {found}")]
    InvalidEnum {
        /// The ordinal on the wire.
        found: u32,
        /// Number of enumerators.
        count: u32,
    },
    /// An octet of a `fixed` holds neither two decimal digits, nor a digit and the sign at the end.
    #[error("expected decimal digits and their sign, found octet 0x{found:02x}")]
    InvalidDecimal {
        /// The octet.
        found: u8,
    },
    /// A `fixed` has more digits than its type.
    #[error("expected a number of at most {digits} digits, found more")]
    TooManyDigits {
        /// Digits of the type.
        digits: u8,
    },
    /// Sequences or encapsulations within each other beyond the limit.
    #[error("expected at most {limit} levels of nesting, found more")]
    TooDeep {
        /// The limit, see [`Limits`](crate::Limits).
        limit: u16,
    },
    /// Values within each other for which there is not enough stack.
    #[error(
        "expected values within each other that take at most {limit} octets of stack, found more"
    )]
    TooMuchStack {
        /// The limit, see [`Limits::VALUE_STACK`](crate::Limits::VALUE_STACK).
        limit: usize,
    },
    /// A value that is being read is part of a cycle where a complete value is needed.
    #[error("expected a value that is complete, found one of a cycle that is still being read")]
    IncompleteValue,
    /// A primitive lies across two GIOP 1.1 fragments or two chunks of a value, which senders must not do.
    #[error("expected a primitive in one fragment or chunk, found it split")]
    SplitPrimitive,
    /// A value has no repository id whose type is registered and is the expected type or derived from it.
    #[error("expected a value whose type is registered with the ORB, found another")]
    NoValueFactory,
    /// An indirection leads to a position where no construct of the expected kind begins.
    #[error("expected an indirection to an earlier {of}, found one to octet {target}")]
    BadIndirection {
        /// The expected target.
        of: &'static str,
        /// The offset that it leads to, modulo the size of the address space.
        target: usize,
    },
    /// A value ends more values than have begun.
    #[error("expected an end tag of at most {depth} values, found {found}")]
    BadEndTag {
        /// Values in chunks that are open.
        depth: u32,
        /// The number of values in the tag.
        found: u32,
    },
    /// A message has more values than the limit.
    #[error("expected at most {limit} values, found more")]
    TooManyValues {
        /// The limit, see [`Limits::VALUES`](crate::Limits::VALUES).
        limit: u32,
    },
    /// Values that stand elsewhere in the message are read again beyond the limit.
    #[error("expected at most {limit} octets of values that are read again, found more")]
    TooMuchReread {
        /// The limit: [`Limits::REREAD_OCTETS`](crate::Limits::REREAD_OCTETS) for each octet of the message.
        limit: usize,
    },
    /// A value would take more memory than its message may be decoded to.
    #[error("expected a value of at most {left} octets of memory, found one of {needed}")]
    TooMuchMemory {
        /// Octets of memory that the value needs.
        needed: usize,
        /// Octets that are left of the memory of the message, see [`Limits::MEMORY`](crate::Limits::MEMORY).
        left: u64,
    },
    /// A value would take memory that other messages of the process hold.
    #[error("expected {needed} octets of the memory that all messages share, found less")]
    NoSharedMemory {
        /// Octets that were asked for, see [`Context::memory_budget`](crate::Context::memory_budget).
        needed: usize,
    },
    /// Decoding took longer than the caller waits.
    #[error("expected decoding to end within the time limit, found the limit passed")]
    Late,
    /// A type whose values never leave their process, such as a local interface.
    #[error("expected a type that can be marshalled, found a local one")]
    Local,
    /// The allocator has no memory for the elements.
    #[error("no memory for {count} elements")]
    NoMemory {
        /// Number of elements.
        count: usize,
    },
    /// An error that no other kind describes, such as a union without a matching label or a missing context.
    #[error("expected {0}")]
    Expected(&'static str),
}

/// An error of encoding: a value that has no form on the wire.
///
/// [`is_data_conversion`](Self::is_data_conversion) distinguishes text outside the code set (DATA_CONVERSION) from
/// everything else (BAD_PARAM or MARSHAL).
///
/// After an error the encoder holds an incomplete message, which has to be discarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{kind}")]
pub struct EncodeError {
    kind: EncodeErrorKind,
}

impl EncodeError {
    /// Makes an error of this kind, for hand-written [`Encode`](crate::Encode) implementations.
    #[cold]
    #[must_use]
    pub const fn new(kind: EncodeErrorKind) -> Self {
        Self { kind }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> EncodeErrorKind {
        self.kind
    }

    /// Whether text cannot be expressed in the code set agreed on.
    #[must_use]
    pub const fn is_data_conversion(&self) -> bool {
        matches!(self.kind, EncodeErrorKind::NotInCodeSet { .. })
    }
}

impl From<EncodeErrorKind> for EncodeError {
    #[cold]
    fn from(kind: EncodeErrorKind) -> Self {
        Self::new(kind)
    }
}

/// Why a value cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// A bounded string or sequence is longer than its bound.
    #[error("expected a length of at most {bound}, found {found}")]
    BoundExceeded {
        /// The bound.
        bound: u32,
        /// The length, in characters or elements.
        found: usize,
    },
    /// A string contains a NUL, which IDL strings may not.
    #[error("expected text without NUL, found one")]
    EmbeddedNul,
    /// A character is not one of the code set, or does not fit into one octet of it.
    #[error("expected a character of {set}, found U+{found:04X}")]
    NotInCodeSet {
        /// The code point.
        found: u32,
        /// The code set, and as much of it as there is room for.
        set: &'static str,
    },
    /// More octets or elements than an unsigned long can count.
    #[error("expected a length of at most 4294967295, found {found}")]
    TooLong {
        /// The length.
        found: usize,
    },
    /// A number has more digits than its `fixed` type.
    #[error("expected a number of at most {digits} digits, found more")]
    TooManyDigits {
        /// Digits of the type.
        digits: u8,
    },
    /// The discriminator in a union's variant is not one that selects its member.
    #[error("expected a discriminator that selects `{variant}`, found another")]
    WrongDiscriminator {
        /// The variant.
        variant: &'static str,
    },
    /// The value of a bit field needs more bits than the field has.
    #[error("expected a value of {bits} bits for `{field}`, found one of more")]
    TooManyBits {
        /// The field.
        field: &'static str,
        /// Its width.
        bits: u32,
    },
    /// Wide characters for GIOP 1.0, which has none.
    #[error("expected no wide characters for GIOP 1.0, found some")]
    WideInGiop1_0,
    /// Wide characters on a connection without a code set for them.
    #[error("expected no wide characters on this connection, found some")]
    WideRefused,
    /// Values within each other beyond the limit.
    #[error("expected at most {limit} levels of nesting, found more")]
    TooDeep {
        /// The limit, see [`Limits::DEPTH`](crate::Limits::DEPTH).
        limit: u16,
    },
    /// Values within each other for which there is not enough stack.
    #[error(
        "expected values within each other that take at most {limit} octets of stack, found more"
    )]
    TooMuchStack {
        /// The limit, see [`Limits::WRITER_STACK`](crate::Limits::WRITER_STACK).
        limit: usize,
    },
    /// Values within each other for which other messages that are encoded leave too little stack.
    #[error("expected {needed} octets of the stack that all messages share, found less")]
    NoSharedStack {
        /// Octets that were asked for, see [`Limits::WRITERS_STACK`](crate::Limits::WRITERS_STACK).
        needed: usize,
    },
    /// A value of a type whose values never leave their process, such as a local interface.
    #[error("expected a value that can leave its process, found a local one")]
    Local,
    /// An error that no other kind describes.
    #[error("expected {0}")]
    Expected(&'static str),
}
