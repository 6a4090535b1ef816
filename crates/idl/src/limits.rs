//! Every bound of the compiler, so that no text, however malformed, can exhaust stack, memory or patience.

/// How deep definitions, types and parenthesised expressions may nest. Each level costs a few stack frames of the
/// recursive descent; real IDL stays below ten.
pub const MAX_NESTING: usize = 64;

/// How deep `#include` may nest. Generous for real trees, small enough for the recursion it costs.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// How deep one macro may expand into another, and how deep the arguments of macros may nest.
pub const MAX_MACRO_DEPTH: usize = 64;

/// How many octets one source file may have: positions are 32 bit, and real IDL stays far below.
pub const MAX_FILE_OCTETS: u64 = 16 * 1024 * 1024;

/// How many times one compilation may enter a file by `#include`. The largest models known have some hundreds of
/// files; this stops trees of files that each include two others, which would go on for ever without being deep.
pub const MAX_INCLUDES: usize = 20_000;

/// How many octets one compilation may read from files in all.
pub const MAX_READ_OCTETS: u64 = 256 * 1024 * 1024;

/// How many tokens one compilation may have after preprocessing: twice what a model of 200,000 lines has, and a quarter
/// of a gigabyte of memory.
pub const MAX_TOKENS: usize = 4_000_000;

/// How many tokens the macros of one compilation may make in all, on their way included. Stops macros that double each
/// other, of which 140 octets are enough to make any number. Real IDL has macros for guards, versions and prefixes, and
/// makes some hundreds of tokens by them.
pub const MAX_MACRO_TOKENS: usize = 250_000;

/// How many octets of text `#` and `##` may make in one compilation. Stops macros that double what they join, which are
/// few tokens all the time. Room for tens of thousands of names.
pub const MAX_MACRO_OCTETS: usize = 1024 * 1024;

/// How many characters a name may have. IDL knows no bound; rustc and people do, and it keeps diagnostics short.
pub const MAX_NAME_CHARS: usize = 1_000;

/// How many characters a floating-point number may have. Its value takes time that grows with their square, and no
/// digit beyond the first hundred was ever meant.
pub const MAX_NUMBER_CHARS: usize = 10_000;

/// How many characters of a line a diagnostic shows. There are files of one line.
pub const MAX_SHOWN_CHARS: usize = 200;

/// How many files, each including the one before, a diagnostic shows of those that led to its own.
pub const MAX_SHOWN_INCLUDES: usize = 4;

/// How many characters the message of a diagnostic may have, as it may quote the text.
pub const MAX_MESSAGE_CHARS: usize = 2_000;

/// How deep sequences, arrays and maps may be stacked on each other, whatever typedefs are in between. Keeps recursion
/// over a type short and the generated type below rustc's own limit of 128.
pub const MAX_TYPE_DEPTH: usize = 48;

/// How many interfaces, value types or structs one of them may inherit from, directly and indirectly. The stub and the
/// skeleton of a derived interface repeat every inherited operation, so the output grows with this.
pub const MAX_BASES: usize = 256;

/// How many digits a fixed-point number may have: IDL's own bound, as sixteen octets hold them on the wire.
pub const MAX_FIXED_DIGITS: u8 = 31;

/// How many parameters one operation may have, and how many values it may return. The longest that are known have
/// some dozens; for rustc a function of so many is still nothing.
pub const MAX_PARAMETERS: usize = 1_024;

/// How many exceptions one operation may raise; its error enum has as many variants.
pub const MAX_RAISES: usize = 256;

/// How many errors are kept. More are counted and not shown: a list that long is not read.
pub const MAX_DIAGNOSTICS: usize = 50;
