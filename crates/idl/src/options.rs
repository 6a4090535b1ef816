//! What a compilation can be told.

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;

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
            crate_path: quote!(::zorb),
        }
    }
}
