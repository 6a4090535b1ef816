//! The macros of zorb that compile IDL: `idl! { … }` and `#[idl_file("bank.idl")]`.
//!
//! The crate is a thin shell over the compiler `zorb-idl`: it turns the arguments of a macro into options, and diagnostics
//! into those of rustc. Use the macros through the crate `zorb`, which re-exports them and fits the generated code.
#![forbid(unsafe_code)]

mod attribute;
mod errors;
mod inline;
mod object_ids;
mod text;

use proc_macro::TokenStream;

/// Compiles IDL in the Rust source. The crate `zorb` wraps it as `zorb::idl! { … }`.
///
/// The input is the path of the ORB in brackets, followed by IDL, or by one string literal with IDL. The literal is for
/// IDL that Rust's lexer refuses: `L'x'`, `'\377'`, line splices, an odd apostrophe in a comment.
///
/// ```text
/// zorb::idl! {
///     #pragma prefix "example.com"
///     module Bank {
///         /// An account with a balance.
///         interface Account {
///             exception Insufficient { double balance; };
///             double withdraw(in double amount) raises (Insufficient);
///             readonly attribute string owner;
///         };
///     };
/// }
/// ```
///
/// becomes items at the place of the macro:
///
/// ```text
/// pub mod bank {
///     pub mod account {
///         pub struct Insufficient { pub balance: f64 }
///         pub enum WithdrawError { Insufficient(Insufficient), System(zorb::SystemException) }
///     }
///     pub trait Account: Send + Sync + 'static {
///         fn withdraw(&self, amount: f64) -> impl Future<Output = Result<f64, account::WithdrawError>> + Send;
///         fn owner(&self) -> impl Future<Output = Result<String, zorb::SystemException>> + Send;
///     }
///     pub struct AccountRef { /* … */ }
///     impl AccountRef {
///         pub async fn withdraw(&self, amount: f64) -> Result<f64, account::WithdrawError>;
///         pub async fn owner(&self) -> Result<String, zorb::SystemException>;
///     }
///     pub struct AccountServant<T> { /* … */ }
///     impl<T: Account> AccountServant<T> {
///         pub fn new(servant: T) -> Self;
///         pub fn from_arc(servant: Arc<T>) -> Self;
///     }
/// }
/// ```
///
/// `#include` looks in the directory of the crate's `Cargo.toml`. The options are those of [`macro@idl_file`], except files
/// and `crate`, and precede the IDL: `#![idl(defaults, rename("Bank::Account::self" = "myself"))]`. Errors are reported at
/// their places in the IDL, several at once.
#[proc_macro]
pub fn idl_tokens(input: TokenStream) -> TokenStream {
    inline::expand(input)
}

/// A set of object ids that is known at compile time, as a reference to a `zorb::ObjectIds`. The crate `zorb` wraps it as
/// `zorb::object_ids! { "main", b"\x01" }`: literals of text and of octets, each id once.
///
/// The input is the path of the ORB in brackets, followed by the ids. The perfect hash over them is computed here, and
/// checked when the table is compiled.
#[proc_macro]
pub fn object_ids_tokens(input: TokenStream) -> TokenStream {
    object_ids::expand(input.into()).into()
}

/// Compiles IDL files into the annotated module: `#[zorb::idl_file("bank.idl")] pub mod bank {}`.
///
/// The module is an inline one, since attributes on `mod bank;` are not stable Rust. It keeps its visibility, its
/// attributes and its contents. Paths are relative to the directory of the crate's `Cargo.toml`. A change of any file that
/// was read, included files among them, rebuilds the crate.
///
/// ```text
/// #[zorb::idl_file(
///     "idl/bank.idl",
///     "idl/audit.idl",
///     include("idl/vendor"),
///     extern("Common" = crate::common),
///     rename("Bank::Account::self" = "myself"),
/// )]
/// pub mod bank {}
/// ```
///
/// [`macro@idl_tokens`] describes the generated items.
///
/// # Options
/// | option | meaning | default |
/// |---|---|---|
/// | `"path.idl"` | a file to compile; at least one | – |
/// | `include("dir", …)` | directories that `#include` searches, after that of the including file | none |
/// | `define("X", "Y" = "2", …)` | macros of the preprocessor; one without a value is 1 | none |
/// | `extern("Module" = path, …)` | another macro has compiled the IDL module, at `path`: no code for its definitions, references to them use the path | none |
/// | `rename("A::b" = "c", …)` | the Rust name of an IDL definition, member or parameter | by the mapping |
/// | `native("A::B" = path, …)` | the Rust type that a native type of the IDL stands for | `zorb::Native` |
/// | `derive(Eq, "serde::Serialize", "A::B" = Copy, …)` | traits that all types derive, or one type or module | none beside `Debug`, `Clone`, `PartialEq`, and of enums `Copy`, `Eq`, `Hash`, `Ord` |
/// | `in_memory("A::B", …)` | values of the struct may travel as they lie in memory, between programs that have the same layout of it | none |
/// | `defaults` | operations of servants' traits have a default body that fails with NO_IMPLEMENT, COMPLETED_NO, so that a servant may implement a part of them | no: a missing operation is an error of rustc |
/// | `delegates` | each interface `Foo` gets a trait `FooDelegate`, whose implementers delegate the operations of `Foo` to another servant, such as a field | no |
/// | `ami`, `ami = true` | interfaces have the asynchronous calls of the Messaging specification: reply handlers, pollers, `sendc_…`, `sendp_…` | no |
/// | `lenient` | names that differ in case only or are called as a type that is used, and keywords as names, are accepted | no |
/// | `crate = "path"` | the path of the ORB in generated code | `::zorb` |
///
/// Definitions of included files are generated, too, unless `extern` maps their module.
///
/// # Errors
/// Each error of the IDL becomes one of rustc, at the literal that names its file, or else the first file. It shows file,
/// line, column and the line of IDL. An invalid option is an error at its own place.
#[proc_macro_attribute]
pub fn idl_file(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(arguments.into(), item.into()).into()
}
