//! Compilation in build scripts: a file of Rust, and the lines that make cargo run the script again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use proc_macro2::TokenStream;

use crate::compile::compile_files;
use crate::diagnostic::Diagnostics;
use crate::items;
use crate::options::Options;

/// IDL files that a build script compiles into a file of Rust, with the options of the attributes of `zorb`.
///
/// ```no_run
/// // build.rs, with zorb-idl among the build-dependencies
/// fn main() -> Result<(), zorb_idl::BuildError> {
///     zorb_idl::Build::new()
///         .file("idl/bank.idl")
///         .include("idl/vendor")
///         .compile("bank.rs")?;
///     Ok(())
/// }
/// ```
///
/// ```text
/// // src/lib.rs
/// pub mod bank {
///     include!(concat!(env!("OUT_DIR"), "/bank.rs"));
/// }
/// ```
///
/// Every file that was read, included files among them, is reported to cargo (`rerun-if-changed`), so that the script
/// runs again only when one of them changes. Paths are relative to the directory of the package, where cargo starts
/// build scripts.
#[derive(Debug, Clone, Default)]
#[must_use = "`compile` does it"]
pub struct Build {
    files: Vec<PathBuf>,
    options: Options,
    out_dir: Option<PathBuf>,
}

/// Why a [`Build`] failed.
///
/// The error of the operating system is the [`source`](std::error::Error::source), and `Display` does not show it. The
/// alternate form (`{:#}`) and `Debug` show both, so that a `main` that returns the error prints readable diagnostics
/// with their cause.
pub struct BuildError(BuildFailure);

enum BuildFailure {
    Idl(Diagnostics),
    NoOutDir,
    Write(PathBuf, io::Error),
}

impl Build {
    /// A build without files, with the options of [`Options::default`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. Several files are compiled as one (see [`compile_files`]).
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Adds a directory that `#include` looks in.
    pub fn include(mut self, dir: impl Into<PathBuf>) -> Self {
        self.options.include_dirs.push(dir.into());
        self
    }

    /// Defines a macro of the preprocessor.
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.defines.push((name.into(), value.into()));
        self
    }

    /// Names the Rust module that another expansion has made of an IDL module: [`Options::externs`].
    pub fn external(mut self, module: impl Into<String>, path: impl Into<String>) -> Self {
        self.options.externs.push((module.into(), path.into()));
        self
    }

    /// Gives an IDL declaration another Rust name: [`Options::renames`].
    pub fn rename(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.options.renames.push((idl.into(), rust.into()));
        self
    }

    /// Names the Rust type that a `native` type of the IDL stands for: [`Options::natives`].
    pub fn native(mut self, idl: impl Into<String>, path: impl Into<String>) -> Self {
        self.options.natives.push((idl.into(), path.into()));
        self
    }

    /// Has all types derive a trait, such as `Eq` or `serde::Serialize`: [`Options::derives`].
    pub fn derive(self, path: impl Into<String>) -> Self {
        self.derive_for("", path)
    }

    /// Has an IDL type, or all types in an IDL module, derive a trait: [`Options::derives`].
    pub fn derive_for(mut self, idl: impl Into<String>, path: impl Into<String>) -> Self {
        self.options.derives.push((idl.into(), path.into()));
        self
    }

    /// Lets values of an IDL struct travel as they lie in memory, between programs that have the same layout of it:
    /// [`Options::in_memory`].
    pub fn in_memory(mut self, idl: impl Into<String>) -> Self {
        self.options.in_memory.push(idl.into());
        self
    }

    /// Gives the operations of servants' traits default bodies: [`Options::defaults`].
    pub fn defaults(mut self) -> Self {
        self.options.defaults = true;
        self
    }

    /// Makes traits for delegation: [`Options::delegates`].
    pub fn delegates(mut self) -> Self {
        self.options.delegates = true;
        self
    }

    /// Makes reply handlers, pollers and the calls that they belong to: [`Options::ami`].
    pub fn ami(mut self) -> Self {
        self.options.ami = true;
        self
    }

    /// Accepts IDL that the specification forbids and other compilers take: [`Options::lenient`].
    pub fn lenient(mut self) -> Self {
        self.options.lenient = true;
        self
    }

    /// Sets the path of the ORB in generated code: [`Options::crate_path`].
    pub fn crate_path(mut self, path: TokenStream) -> Self {
        self.options.crate_path = path;
        self
    }

    /// Writes into this directory instead of cargo's `OUT_DIR`.
    pub fn out_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(dir.into());
        self
    }

    /// Compiles, writes the file `name` into the directory, and prints the files it depends on for cargo. Returns the
    /// path of the written file.
    ///
    /// The file has one statement a line; with the feature `format` it is formatted as by rustfmt. Its items allow the
    /// lints on unused code, as rustc does for the output of macros.
    ///
    /// # Errors
    /// The IDL is faulty, the file cannot be written, or there is no `OUT_DIR`. Cargo runs a failed script again
    /// anyway.
    pub fn compile(self, name: impl AsRef<Path>) -> Result<PathBuf, BuildError> {
        let out_dir = self
            .out_dir
            .clone()
            .or_else(|| env::var_os("OUT_DIR").map(PathBuf::from));
        let out_dir = out_dir.ok_or(BuildError(BuildFailure::NoOutDir))?;
        self.compile_to(&out_dir.join(name), &mut io::stdout().lock())
    }

    fn compile_to(self, path: &Path, cargo: &mut impl Write) -> Result<PathBuf, BuildError> {
        let output = compile_files(&self.files, &self.options);
        let dependencies = match &output {
            Ok(output) => output.dependencies.as_slice(),
            Err(diagnostics) => diagnostics.dependencies(),
        };
        let failed = |error| BuildError(BuildFailure::Write(path.to_path_buf(), error));
        for file in dependencies {
            writeln!(cargo, "cargo:rerun-if-changed={}", file.display()).map_err(failed)?;
        }
        let output = output.map_err(|diagnostics| BuildError(BuildFailure::Idl(diagnostics)))?;
        fs::write(path, written(items::allowed(output.tokens))).map_err(failed)?;
        Ok(path.to_path_buf())
    }
}

#[cfg(feature = "format")]
fn written(tokens: TokenStream) -> String {
    crate::format::format(tokens)
}

#[cfg(not(feature = "format"))]
fn written(tokens: TokenStream) -> String {
    crate::layout::lines(tokens)
}

impl BuildError {
    /// The diagnostics, if the IDL is faulty; `None` for other failures.
    #[must_use]
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match &self.0 {
            BuildFailure::Idl(diagnostics) => Some(diagnostics),
            _ => None,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BuildFailure::Idl(diagnostics) => write!(f, "the IDL has errors\n\n{diagnostics}"),
            BuildFailure::NoOutDir => f.write_str("OUT_DIR is not set: this is for build scripts"),
            BuildFailure::Write(path, error) => {
                write!(f, "cannot write {}", path.display())?;
                match f.alternate() {
                    true => write!(f, ": {error}"),
                    false => Ok(()),
                }
            }
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            BuildFailure::Write(_, error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with two files, one of which includes the other.
    fn tree(a: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("inc")).unwrap();
        fs::write(dir.path().join("a.idl"), a).unwrap();
        fs::write(dir.path().join("unread.idl"), "").unwrap();
        fs::write(
            dir.path().join("inc/b.idl"),
            "module B { struct T { long x; }; };",
        )
        .unwrap();
        dir
    }

    fn compiled(dir: &Path) -> (Result<PathBuf, BuildError>, String) {
        let mut cargo = Vec::new();
        let build = Build::new()
            .file(dir.join("a.idl"))
            .include(dir.join("inc"));
        let result = build
            .define("N", "7")
            .external("B", "crate::b")
            .rename("A::C", "D")
            .native("A::E", "crate::F")
            .compile_to(&dir.join("out.rs"), &mut cargo);
        let root = dir.canonicalize().unwrap();
        let printed = String::from_utf8(cargo).unwrap();
        (result, printed.replace(root.to_str().unwrap(), "ROOT"))
    }

    #[test]
    fn the_file_is_written_and_cargo_printed_of_what_was_read() {
        let dir =
            tree("#include <b.idl>\nmodule A { native E; struct C { B::T list[N]; E f; }; };");
        let (result, printed) = compiled(dir.path());
        let text = fs::read_to_string(result.unwrap()).unwrap();
        assert!(
            ["struct D", "[crate::b::T; 7]", "= crate::F;"]
                .iter()
                .all(|part| text.contains(part)),
            "{text}"
        );
        assert_eq!(
            printed,
            "cargo:rerun-if-changed=ROOT/a.idl\ncargo:rerun-if-changed=ROOT/inc/b.idl\n"
        );
    }

    #[test]
    fn the_error_of_the_system_is_the_source_and_part_of_the_alternate_form() {
        use std::error::Error;
        let dir = tree("module A {};");
        let path = dir.path().join("absent/out.rs");
        let build = Build::new().file(dir.path().join("a.idl"));
        let error = build.compile_to(&path, &mut Vec::new()).unwrap_err();
        let text = format!("cannot write {}", path.display());
        assert_eq!(error.to_string(), text);
        let source = error.source().unwrap();
        assert_eq!(format!("{error:#}"), format!("{text}: {source}"));
        assert_eq!(format!("{error:?}"), format!("{error:#}"));
    }

    #[test]
    fn what_is_written_allows_what_lints_say() {
        let dir = tempfile::tempdir().unwrap();
        let idl = "module M { interface I { attribute long x; void f(in string a, out long b); }; struct S { long y; }; };";
        fs::write(dir.path().join("a.idl"), idl).unwrap();
        let build = Build::new().file(dir.path().join("a.idl"));
        let path = dir.path().join("out.rs");
        build.compile_to(&path, &mut Vec::new()).unwrap();
        let text = fs::read_to_string(path).unwrap();
        for item in ["mod m", "dead_code"] {
            assert_eq!(text.matches(item).count(), 1, "{text}");
        }
    }

    #[test]
    fn a_fault_is_shown_as_people_read_it_and_its_files_are_watched() {
        let dir = tree("#include <b.idl>\nmodule A { const B::U C = N; };");
        let (result, printed) = compiled(dir.path());
        let error = result.unwrap_err();
        assert!(error.diagnostics().is_some());
        assert!(format!("{error:?}").contains("^"), "{error:?}");
        assert_eq!(printed.lines().count(), 2, "{printed}");
        assert!(!dir.path().join("out.rs").exists());
    }

    #[test]
    fn idl_that_cannot_be_changed_is_accepted_on_request() {
        let dir = tree("typedef string URI; struct S { URI uri; };");
        let build = || Build::new().file(dir.path().join("a.idl"));
        let path = dir.path().join("out.rs");
        let refused = build().compile_to(&path, &mut Vec::new());
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .contains("the option `lenient`")
        );
        build()
            .lenient()
            .compile_to(&path, &mut Vec::new())
            .unwrap();
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let dir = tree("const long C = 1;");
        let build = Build::new().file(dir.path().join("a.idl"));
        let error = build
            .compile_to(&dir.path().join("no/where.rs"), &mut Vec::new())
            .unwrap_err();
        assert!(error.to_string().contains("no/where.rs"), "{error}");
    }
}
