//! Limits of decoding.

/// Limits on the cost of decoding.
///
/// Memory is bounded twice. A count is refused unless its elements fit in the octets that are left of the message and
/// not owed to the enclosing sequences. So all sequences of a message together never get more elements than there are
/// octets to make them from. Beyond that, a message is decoded to at most [`MEMORY`](Self::MEMORY) octets for each of
/// its octets, and [`LEAST_MEMORY`](Self::LEAST_MEMORY) beside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Levels of sequences, encapsulations and other types that call [`nested`](crate::Decoder::nested), counted anew
    /// in every value.
    pub max_depth: u16,
    /// Elements of a sequence whose elements take no octets, and so are not bounded by the message.
    pub max_empty_elements: u32,
    /// Octets of memory that a message may be decoded to for each octet of it.
    pub memory: usize,
    /// Octets of memory that a message may be decoded to beside those.
    pub least_memory: usize,
}

impl Limits {
    /// Default of [`max_depth`](Self::max_depth). A level takes well under 2 KiB of stack even in a debug build, so
    /// that this is safe in a thread with 512 KiB; interface definitions nest some ten levels, and lists that are
    /// built from recursive structs are rarely longer.
    ///
    /// The contents of a value (of a value type) are counted for themselves; see [`VALUE_STACK`](Self::VALUE_STACK).
    /// Without the feature `deep-values`, or where the stack's size is unknown, values count as sequences do, and twice
    /// in an any. In a debug build a value that refers to the next takes 1.3 KiB of stack, 2.7 KiB with a struct and a
    /// union in between, and 4 KiB in an any.
    pub const DEPTH: u16 = 128;

    /// Octets of stack that nested values (of value types) of a message may get beside that of the thread. A list whose
    /// elements refer to the next one takes some 350 octets of stack for each element, and 2 KiB in an any, so that lists
    /// of 100,000 elements are read. A debug build takes about three times as much, and has as much more. Each piece also
    /// counts as memory that [messages share](crate::Context::memory_budget) while it is in use.
    pub const VALUE_STACK: usize = if cfg!(debug_assertions) {
        384 << 20
    } else {
        128 << 20
    };

    /// Octets of stack that nested values may get while they are encoded, of all messages of a process that are encoded at
    /// the time: two lists of 100,000 elements. A writer knows no [budget](crate::Context::memory_budget), so this comes
    /// on top of what connections may hold.
    pub const WRITERS_STACK: usize = Self::VALUE_STACK / 4 * 3;

    /// Octets of stack that the nested values of one message may get while it is encoded.
    pub const WRITER_STACK: usize = Self::WRITERS_STACK / 2;

    /// Default of [`max_empty_elements`](Self::max_empty_elements): IDL has no such types before IDL 4, so any
    /// number is generous.
    pub const EMPTY_ELEMENTS: u32 = 1 << 16;

    /// Values (of value types) in a message. A million is far more than a program sends at once.
    pub const VALUES: u32 = 1 << 20;

    /// The limit on copies of values, in octets for each octet of the message. An any has to hold all of its value, so a
    /// value that stands elsewhere in the message is copied.
    pub const REREAD_OCTETS: usize = 16;

    /// Default of [`memory`](Self::memory): octets of memory per octet of a message.
    ///
    /// Elements that are large in memory and small in a message use this up: a union with a large member takes its
    /// memory whether the member is there or not. The element of the least octets for its size, a
    /// [`Fixed`](crate::Fixed) of one digit, takes 16 times as much. Strings, octets and numbers are not counted, as
    /// they take about as much memory as octets of the message.
    pub const MEMORY: usize = 16;

    /// Default of [`least_memory`](Self::least_memory): as many as 8,000 unions with an absent string. It is little
    /// beside the memory that a request costs a server while it is handled.
    pub const LEAST_MEMORY: usize = 256 << 10;

    /// Octets of memory that a message is decoded to before more is taken from the [budget](crate::MemoryBudget) that it
    /// shares with others: the decoders of small messages share no counter.
    pub const UNSHARED_MEMORY: usize = 8 << 10;

    /// Repository ids that a value may list. They are its type and the bases that it can be truncated to.
    pub const VALUE_IDS: u32 = 64;

    /// Octets of the repository id of a value (of a value type) or of a type in a TypeCode. A value of twelve octets may
    /// refer to the id of another, and the id is looked up anew for each.
    pub const ID_OCTETS: usize = 1024;

    /// Returns the number of octets of memory that a message of `octets` octets may be decoded to.
    ///
    /// A decoder is made for each message, so this does not check for overflow: no message is so long that it would
    /// wrap.
    pub(crate) const fn memory_for(&self, octets: usize) -> u64 {
        (octets as u64)
            .wrapping_mul(self.memory as u64)
            .wrapping_add(self.least_memory as u64)
    }

    /// Returns the limits with another depth.
    #[must_use]
    pub const fn with_max_depth(mut self, max_depth: u16) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Returns the limits with another [`memory`](Self::memory) for each octet of a message.
    #[must_use]
    pub const fn with_memory(mut self, memory: usize) -> Self {
        self.memory = memory;
        self
    }

    /// Returns the limits with another [`least_memory`](Self::least_memory).
    #[must_use]
    pub const fn with_least_memory(mut self, least_memory: usize) -> Self {
        self.least_memory = least_memory;
        self
    }

    /// Returns the limits with another number of empty elements.
    #[must_use]
    pub const fn with_max_empty_elements(mut self, max_empty_elements: u32) -> Self {
        self.max_empty_elements = max_empty_elements;
        self
    }
}

/// What is expected of an id that is longer than [`Limits::ID_OCTETS`].
pub(crate) const ID_TOO_LONG: &str = "a repository id of at most 1024 octets";

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_depth: Self::DEPTH,
            max_empty_elements: Self::EMPTY_ELEMENTS,
            memory: Self::MEMORY,
            least_memory: Self::LEAST_MEMORY,
        }
    }
}
