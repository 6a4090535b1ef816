//! Every bound of the compiler, so that no text, however malformed, can exhaust stack, memory or patience.

/// How deep definitions, types and parenthesised expressions may nest. Each level costs a few stack frames of the
/// recursive descent; real IDL stays below ten.
pub const MAX_NESTING: usize = 64;

/// How deep `#include` may nest. Generous for real trees, small enough for the recursion it costs.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// How deep one macro may expand into another.
pub const MAX_MACRO_DEPTH: usize = 64;

/// How many octets one source file may have: positions are 32 bit, and nobody writes IDL by the gigabyte.
pub const MAX_FILE_OCTETS: u64 = 16 * 1024 * 1024;

/// How many tokens one compilation may have after preprocessing. Stops exponential macro expansion and files that
/// include each other many times over.
pub const MAX_TOKENS: usize = 1_000_000;

/// How deep typedefs, sequences and arrays may be stacked on each other. Keeps recursion over a type short and the
/// generated type below rustc's own limit of 128.
pub const MAX_TYPE_DEPTH: usize = 48;

/// How many interfaces, value types or structs one of them may inherit from, directly and indirectly. The stub and the skeleton of a derived
/// interface repeat every inherited operation, so the output grows with this.
pub const MAX_BASES: usize = 256;

/// How many digits a fixed-point number may have: IDL's own bound, as sixteen octets hold them on the wire.
pub const MAX_FIXED_DIGITS: u8 = 31;

/// How many parameters one operation may have, and how many values it may give back: codec and facade know tuples up
/// to this size.
pub const MAX_PARAMETERS: usize = 32;

/// How many errors are kept. More are counted and not shown: nobody reads them.
pub const MAX_DIAGNOSTICS: usize = 50;
