//! The options of a compilation.

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;

use crate::source::{FileId, Span};

/// The options of a compilation. `Options::default()` generates code for users of the crate `zorb`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Directories that `#include` searches, in this order, after the directory of the including file. Default: none.
    pub include_dirs: Vec<PathBuf>,
    /// Macros that are defined before the first line: name (`"X"`, or `"F(x)"` for one with parameters) and replacement.
    /// Default: none.
    pub defines: Vec<(String, String)>,
    /// IDL module (`"Common"`, `"A::B"`) and the Rust path (`"crate::common"`) of the module that another expansion
    /// has made of it. No code is generated for its definitions; uses of them refer to that path. Default: none.
    pub externs: Vec<(String, String)>,
    /// Scoped IDL name (`"Bank::Account::self"`; operation parameters and struct members, too) and the Rust name that
    /// replaces the one of the mapping. Default: none.
    pub renames: Vec<(String, String)>,
    /// Scoped IDL name of a `native` type (`"PortableServer::Servant"`) and the Rust path of the type it stands for.
    /// Default: none, native types are `zorb::Native`.
    pub natives: Vec<(String, String)>,
    /// Traits that types derive beside those that they always have: the scoped IDL name of a type (`"Bank::Money"`), or of a
    /// module or interface for all types in it, or an empty name for all types; and the path of the trait (`"Eq"`,
    /// `"serde::Serialize"`). A member that does not allow a trait of the standard library is an error at its type. Default:
    /// none; structs and unions have `Debug`, `Clone` and `PartialEq`, enums also `Copy`, `Eq`, `Hash` and `Ord`.
    pub derives: Vec<(String, String)>,
    /// Structs whose values may travel as they lie in memory, by scoped IDL name (`"Bank::Quote"`): where a client and an object have the
    /// same layout of them, operations that pass one, or sequences or arrays of it, need not marshal it. Such a struct, and those in it,
    /// are `Copy` and `repr(C)`; its fields are in the order of the IDL, or by their alignment where that leaves out padding. A
    /// struct that has padding nevertheless, or members of another kind than numbers, booleans, characters, enums, and structs and
    /// arrays of these, is an error. Default: none.
    pub in_memory: Vec<String>,
    /// Whether operations of servants' traits have a default body that fails with NO_IMPLEMENT, COMPLETED_NO, so that a
    /// servant may implement a part of them. Default: no; rustc then reports every missing operation.
    pub defaults: bool,
    /// Whether each interface `Foo` gets a trait `FooDelegate`, whose implementers delegate the operations of `Foo` to
    /// another servant. Default: no.
    pub delegates: bool,
    /// Whether interfaces have the asynchronous calls of the Messaging specification, beside those that return futures: an
    /// interface `Foo` gets the reply handler `AMI_FooHandler` and the poller `AMI_FooPoller`, and its reference the methods
    /// `sendc_…` and `sendp_…`. One-way operations, local and abstract interfaces have none. Modules that [`externs`](Self::externs)
    /// map have to be compiled so, too, if interfaces inherit from theirs. Default: no.
    pub ami: bool,
    /// Whether IDL is accepted that the specification forbids and other compilers take: names that differ in case only,
    /// members, operations and parameters that are called as a type which their scope uses, and keywords as names without an
    /// underscore in front. Default: no.
    pub lenient: bool,
    /// The path of the ORB in generated code. Default: `::zorb`.
    pub crate_path: TokenStream,
}

/// The end of a hint on what is accepted under [`Options::lenient`].
pub(crate) const LENIENT: &str = "; the option `lenient` is for IDL that cannot be changed";

impl Default for Options {
    fn default() -> Self {
        Self {
            include_dirs: Vec::new(),
            defines: Vec::new(),
            externs: Vec::new(),
            renames: Vec::new(),
            natives: Vec::new(),
            derives: Vec::new(),
            in_memory: Vec::new(),
            defaults: false,
            delegates: false,
            ami: false,
            lenient: false,
            crate_path: quote!(::zorb),
        }
    }
}

/// The part of [`Options`] that an error is about, by its index in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// One of [`Options::defines`].
    Define(usize),
    /// The module of one of [`Options::externs`].
    Extern(usize),
    /// The path of one of [`Options::externs`].
    ExternPath(usize),
    /// The target of one of [`Options::renames`].
    Rename(usize),
    /// The Rust name that one of [`Options::renames`] gives.
    RustName(usize),
    /// The type of one of [`Options::natives`].
    Native(usize),
    /// The path of one of [`Options::natives`].
    NativePath(usize),
    /// The name in one of [`Options::derives`].
    DeriveOf(usize),
    /// The trait of one of [`Options::derives`].
    DeriveTrait(usize),
    /// One of [`Options::in_memory`].
    InMemory(usize),
}

type Make = fn(usize) -> Setting;

/// The settings without a text of their own, in the order in which [`Settings`] numbers them.
const PLACED: [Make; 6] = [
    Setting::Extern,
    Setting::Rename,
    Setting::RustName,
    Setting::Native,
    Setting::DeriveOf,
    Setting::InMemory,
];

/// Gives settings places, as text has them, in a file that does not exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) file: FileId,
}

impl Settings {
    /// The place of `make(index)`, which is one of [`PLACED`].
    pub(crate) fn span(self, make: Make, index: usize) -> Span {
        let wanted = make(index);
        let kind = PLACED.iter().position(|placed| placed(index) == wanted);
        let at = index * PLACED.len() + kind.unwrap_or_default();
        Span::new(self.file, at, at)
    }

    /// The setting whose place is `span`, if it is one.
    pub(crate) fn at(self, span: Span) -> Option<Setting> {
        let at = usize::try_from(span.start)
            .ok()
            .filter(|_| span.file == self.file)?;
        PLACED
            .get(at % PLACED.len())
            .map(|make| make(at / PLACED.len()))
    }
}
