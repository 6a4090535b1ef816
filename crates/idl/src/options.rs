//! The options of a compilation.

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;

use crate::source::{FileId, Span};

/// How IDL becomes Rust. `Options::default()` compiles for users of the crate `zorb`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where `#include` looks, in this order, after the directory of the including file. Default: nowhere.
    pub include_dirs: Vec<PathBuf>,
    /// Macros that are defined before the first line: name (`"X"`, or `"F(x)"` for one with parameters) and what it
    /// stands for. Default: none.
    pub defines: Vec<(String, String)>,
    /// IDL module (`"Common"`, `"A::B"`) and the Rust path (`"crate::common"`) of the module that another expansion
    /// made of it. Its definitions get no code here; references use that path. Default: none.
    pub externs: Vec<(String, String)>,
    /// Scoped IDL name (`"Bank::Account::self"`, operation parameters and struct members included) and the Rust name it
    /// gets instead of the one the rules give it. Default: none.
    pub renames: Vec<(String, String)>,
    /// Scoped IDL name of a `native` type (`"PortableServer::Servant"`) and the Rust path of the type it stands for.
    /// Default: none, native types are `zorb::Native`.
    pub natives: Vec<(String, String)>,
    /// Operations of servants' traits have a body that fails with NO_IMPLEMENT, COMPLETED_NO, so that a servant implements
    /// those it wants. Default: no; rustc names every operation that is missing.
    pub defaults: bool,
    /// Each interface `Foo` gets a trait `FooDelegate`, whose implementers hand the operations of `Foo` to another servant.
    /// Default: no.
    pub delegates: bool,
    /// The path of the ORB in generated code. Default: `::zorb`.
    pub crate_path: TokenStream,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            include_dirs: Vec::new(),
            defines: Vec::new(),
            externs: Vec::new(),
            renames: Vec::new(),
            natives: Vec::new(),
            defaults: false,
            delegates: false,
            crate_path: quote!(::zorb),
        }
    }
}

/// A part of [`Options`] that is at fault, by its index in the list it stands in.
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
}

type Make = fn(usize) -> Setting;

/// The settings that have no text of their own, in the order that [`Settings`] numbers them in.
const PLACED: [Make; 4] = [
    Setting::Extern,
    Setting::Rename,
    Setting::RustName,
    Setting::Native,
];

/// Gives settings places like those of text, in a file that is not there.
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

    /// The setting at `span`, if that is a place of one.
    pub(crate) fn at(self, span: Span) -> Option<Setting> {
        let at = usize::try_from(span.start)
            .ok()
            .filter(|_| span.file == self.file)?;
        PLACED
            .get(at % PLACED.len())
            .map(|make| make(at / PLACED.len()))
    }
}
