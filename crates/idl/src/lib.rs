//! The IDL compiler of zorb: OMG IDL in, Rust tokens out.
//!
//! ```text
//!   files, text ──► preprocess ──► parse (nom) ──► resolve ──► name ──► generate ──► TokenStream
//!                    #include       a tree          a model     Rust names
//! ```
//!
//! The compiler is independent of procedural macros, so that it can be tested, fuzzed and called from build scripts; the
//! crate `zorb-idl-macros` is a thin shell around it. Generated code calls the ORB by the path [`Options::crate_path`].
//!
//! ```
//! use zorb_idl::{Options, compile_str};
//!
//! let output = compile_str("bank.idl", "interface Account { readonly attribute double balance; };", &Options::default())?;
//! assert!(output.tokens.to_string().contains("pub trait Account"));
//!
//! let faults = compile_str("bank.idl", "interface Account { Money balance(); };", &Options::default()).unwrap_err();
//! assert_eq!(
//!     faults.to_string(),
//!     "\
//! error: cannot find `Money` in this scope
//!  --> bank.idl:1:21
//!   |
//! 1 | interface Account { Money balance(); };
//!   |                     ^^^^^
//! "
//! );
//! # Ok::<(), zorb_idl::Diagnostics>(())
//! ```
//!
//! # Limits
//! No text makes the compiler panic, run for ever or exhaust the stack: [`limits`] names every bound.
//!
//! # Unsupported IDL
//! The compiler generates code for all of CORBA 3 but the component model, and for most of IDL 4. Components, homes, event
//! types, ports, connectors and template modules are parsed, and each is reported as one error. Annotations other than
//! `@oneway`, `@bit_bound` and `@position` are ignored.
//!
//! # Features
//! - `format`: the function `format`, which prints tokens as a file. Costs a build of `prettyplease` and `syn`.
#![forbid(unsafe_code)]

mod ami;
mod ast;
mod build;
mod compile;
mod contains;
mod derives;
pub mod description;
mod diagnostic;
#[cfg(feature = "format")]
mod format;
mod generate;
mod in_memory;
mod items;
#[cfg(any(test, not(feature = "format")))]
mod layout;
mod lexer;
pub mod limits;
#[expect(
    dead_code,
    reason = "it holds all of the language, and code generation does not read all of it yet"
)]
mod model;
mod names;
mod options;
mod parser;
mod preprocess;
mod real;
mod resolve;
mod selection;
mod similar;
mod source;

pub use build::{Build, BuildError};
#[doc(hidden)]
pub use compile::{Locate, compile_files_at, compile_str_at};
pub use compile::{Output, check_files, check_str, compile_files, compile_str, dependencies};
pub use diagnostic::{Diagnostic, Diagnostics, Label, Part};
#[cfg(feature = "format")]
pub use format::format;
#[doc(hidden)]
pub use generate::dispatch::perfect_hash;
pub use options::{Options, Setting};
