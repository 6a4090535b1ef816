//! The limits of the compiler, so that no text, however malformed, can exhaust stack, memory or time.

/// Levels to which definitions, types and parenthesised expressions may nest. Each level costs a few stack frames of the
/// recursive descent; real IDL stays below ten.
pub const MAX_NESTING: usize = 64;

/// Levels to which `#include` may nest. Generous for real trees, small enough for the recursion it costs.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// Levels to which macros may expand into each other, and to which the arguments of macros may nest.
pub const MAX_MACRO_DEPTH: usize = 64;

/// Octets of one source file. Positions have 32 bits, and real IDL stays far below.
pub const MAX_FILE_OCTETS: u64 = 16 * 1024 * 1024;

/// Files that one compilation may enter by `#include`, each entry counted. The largest known models have some hundreds of
/// files; the limit stops trees of files that each include two others, which grow exponentially without being deep.
pub const MAX_INCLUDES: usize = 20_000;

/// Octets that one compilation may read from files in all.
pub const MAX_READ_OCTETS: u64 = 256 * 1024 * 1024;

/// Tokens of one compilation after preprocessing: twice those of a model of 200,000 lines, and a quarter of a gigabyte of
/// memory.
pub const MAX_TOKENS: usize = 4_000_000;

/// Tokens that the macros of one compilation may make in all, including intermediate ones. The limit stops macros that
/// double each other, of which 140 octets can make any number of tokens. Real IDL has macros for guards, versions and
/// prefixes, which make some hundreds of tokens.
pub const MAX_MACRO_TOKENS: usize = 250_000;

/// Octets of text that `#` and `##` may make in one compilation. The limit stops macros that double the text that they
/// join, with few tokens at any time. It has room for tens of thousands of names.
pub const MAX_MACRO_OCTETS: usize = 1024 * 1024;

/// Characters of a name. IDL has no such limit; it keeps generated names and diagnostics usable.
pub const MAX_NAME_CHARS: usize = 1_000;

/// Characters of a floating-point number. The time to evaluate it grows with their square, and digits beyond the first
/// hundred rarely matter.
pub const MAX_NUMBER_CHARS: usize = 10_000;

/// Characters of a line that a diagnostic shows, as some files consist of one line.
pub const MAX_SHOWN_CHARS: usize = 200;

/// Files that a diagnostic shows of the chain of `#include`s that led to its own.
pub const MAX_SHOWN_INCLUDES: usize = 4;

/// Characters of the message of a diagnostic, as it may quote the text.
pub const MAX_MESSAGE_CHARS: usize = 2_000;

/// Levels of sequences, arrays and maps within each other, through typedefs. The limit keeps recursion over a type short,
/// and the generated type below rustc's own limit of 128.
pub const MAX_TYPE_DEPTH: usize = 48;

/// Direct and indirect bases of an interface, value type or struct. The stub and the skeleton of a derived interface
/// repeat every inherited operation, so the output grows with their number.
pub const MAX_BASES: usize = 256;

/// Value types with state that inherit from each other. A value in an any is read along the chain of its type's bases, and it
/// may name as many repository ids (`Limits::VALUE_IDS` of `zorb-cdr`).
pub const MAX_VALUE_CHAIN: usize = 64;

/// Digits of a fixed-point number. The limit is that of IDL: sixteen octets hold as many on the wire.
pub const MAX_FIXED_DIGITS: u8 = 31;

/// Parameters of an operation, and values that it may return. The longest known operations have some dozens; rustc
/// compiles functions with this many without trouble.
pub const MAX_PARAMETERS: usize = 1_024;

/// Exceptions that an operation may raise; its error enum has as many variants.
pub const MAX_RAISES: usize = 256;

/// Errors that are kept. Further ones are counted and not shown.
pub const MAX_DIAGNOSTICS: usize = 50;
