//! Whole collections of IDL: every file of them is compiled alone, and refused only for the reason that is written down
//! here; all of them together become Rust that compiles without a warning.
//!
//! They are omniORB's own IDL and the OMG's services as Debian's package `omniorb-idl` installs them (`libcos4-dev` and
//! `libomniorb4-dev` bring none of their own), what JacORB ships, and the legal half of the compiler's own rules.
//! Without the first two these tests pass and say what they skipped.

use crate::rustc::rustc;
use crate::support::{have, passed};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Files that are compiled in one way, and those of them that are no IDL.
struct Corpus {
    name: &'static str,
    folder: PathBuf,
    include: Vec<PathBuf>,
    define: &'static [&'static str],
    /// Files that declare again what others do, and so become a module of their own; `*` is all.
    apart: &'static [&'static str],
    /// The name of a file, and how the first diagnostic begins.
    refused: &'static [(&'static str, &'static str)],
}

impl Corpus {
    fn check(&self) {
        let options = self.options();
        let (mut modules, mut refused) = (vec![Vec::new()], 0);
        for file in files(&self.folder) {
            let said = zorb_idl::compile_files(std::slice::from_ref(&file), &options);
            let why = self.refused.iter().find(|(name, _)| file.ends_with(name));
            let apart = self
                .apart
                .iter()
                .any(|name| *name == "*" || file.ends_with(name));
            match (said, why) {
                (Ok(_), None) if apart => modules.push(vec![file]),
                (Ok(_), None) => modules[0].push(file),
                (Err(errors), Some((_, why))) => {
                    let first = errors.iter().next().map(|error| &*error.message);
                    let first = first.unwrap_or_default();
                    assert!(first.starts_with(why), "{}:\n{errors}", file.display());
                    refused += 1;
                }
                (Err(errors), None) => panic!("{} is refused:\n{errors}", file.display()),
                (Ok(_), Some((_, why))) => panic!("{} is taken, not: {why}", file.display()),
            }
        }
        assert_eq!(
            refused,
            self.refused.len(),
            "{}: some files are gone",
            self.name
        );
        modules.retain(|files| !files.is_empty());
        self.compile(&modules);
        passed(&format!("corpora/{}", self.name));
    }

    fn options(&self) -> zorb_idl::Options {
        let mut options = zorb_idl::Options::default();
        options.include_dirs.clone_from(&self.include);
        let defines = self
            .define
            .iter()
            .map(|name| ((*name).to_owned(), "1".to_owned()));
        options.defines = defines.collect();
        options
    }

    /// A user's crate that has `modules`, each compiled from some files.
    fn compile(&self, modules: &[Vec<PathBuf>]) {
        let paths = |paths: &[PathBuf]| {
            let paths: Vec<_> = paths.iter().map(|path| format!("{path:?}")).collect();
            paths.join(", ")
        };
        let define: Vec<_> = self.define.iter().map(|name| format!("{name:?}")).collect();
        let (include, define) = (paths(&self.include), define.join(", "));
        let modules = modules.iter().enumerate().map(|(n, files)| {
            let files = paths(files);
            format!(
                "#[zorb::idl_file({files}, include({include}), define({define}))]\npub mod module{n} {{}}\n"
            )
        });
        let folder = TempDir::new().expect("a folder");
        let main = folder.path().join("lib.rs");
        std::fs::write(&main, modules.collect::<String>()).expect("written");
        let mut compiler = rustc(&main);
        compiler.args(["--crate-type=lib", "--emit=metadata", "--out-dir"]);
        compiler
            .arg(folder.path())
            .env("CARGO_MANIFEST_DIR", folder.path());
        let said = compiler.output().expect("the compiler is there");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{}:\n{errors}", self.name);
    }
}

/// Every IDL file in `folder`, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "idl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_idl_of_omniorb_and_of_the_services_compiles() {
    let folder = PathBuf::from("/usr/share/idl/omniORB");
    let services = folder.join("COS");
    if !have(
        "omniORB's IDL",
        &[&folder.join("ir.idl"), &services.join("CosTrading.idl")],
    ) {
        return;
    }
    let corpus = Corpus {
        name: "omniorb",
        include: vec![folder.clone(), services],
        folder,
        // They call `Factory` and `ValueType` so only for compilers that are no omniidl.
        define: &["__OMNIIDL__"],
        apart: &["omniORB/Naming.idl"],
        // Of module CORBA they want more than omniORB's orb.idl has, or a file that is not installed: omniidl says the
        // same.
        refused: &[
            (
                "COS/CosTSPortability.idl",
                "cannot find `Environment` in `CORBA`",
            ),
            ("COS/DCE_CIOPSecurity.idl", "cannot find the file `IOP.idl`"),
            ("COS/NRService.idl", "cannot find `Policy` in `CORBA`"),
            ("COS/SECIOP.idl", "cannot find the file `IOP.idl`"),
            ("COS/SSLIOP.idl", "cannot find the file `IOP.idl`"),
            ("COS/Security.idl", "cannot find `ServiceOption` in `CORBA`"),
            ("COS/SecurityAdmin.idl", "cannot find `Policy` in `CORBA`"),
            ("COS/SecurityLevel1.idl", "cannot find `Current` in `CORBA`"),
            ("COS/SecurityLevel2.idl", "cannot find `Policy` in `CORBA`"),
            (
                "COS/SecurityReplaceable.idl",
                "cannot find `Policy` in `CORBA`",
            ),
        ],
    };
    corpus.check();
}

#[test]
fn the_idl_that_jacorb_ships_compiles() {
    let folder = repository("tests/interop/build/jacorb/shipped-idl");
    if !have("JacORB's IDL", &[&folder.join("orb.idl")]) {
        return;
    }
    let corpus = Corpus {
        name: "jacorb",
        include: vec![folder.clone()],
        folder,
        define: &["JACORB", "_PRE_3_0_COMPILER_"],
        apart: &["TransportCurrent.idl"],
        refused: &[
            // Parts of module CORBA, which orb.idl and pseudo_orb.idl include where they belong.
            ("CORBA_CustomMarshal.idl", "cannot find `DataOutputStream`"),
            ("CORBA_DomainManager.idl", "cannot find `Policy`"),
            ("CORBA_InterfaceRepository.idl", "cannot find `Identifier`"),
            ("CORBA_NVList.idl", "cannot find `Identifier`"),
            ("CORBA_ORB.idl", "cannot find `CORBA`"),
            ("CORBA_Policy.idl", "cannot find `Current`"),
            ("CORBA_Request.idl", "cannot find `Identifier`"),
            ("CORBA_TypeCode.idl", "cannot find `RepositoryId`"),
            // Pseudo IDL, with keywords for names.
            (
                "CORBA_Context.idl",
                "`Context` differs only in case from a keyword",
            ),
            ("CORBA_ORB_init.idl", "expected a definition, found `ORB`"),
            (
                "CORBA_Object.idl",
                "expected a name, found the keyword `Object`",
            ),
            ("CORBA_ServerRequest.idl", "cannot find `Identifier`"),
            (
                "CORBA_ValueBase.idl",
                "expected a name, found the keyword `ValueBase`",
            ),
            (
                "pseudo_orb.idl",
                "the prefix makes this `IDL:CORBA/ORB:1.0`",
            ),
            // Names of their own scopes: JacORB's compiler refuses them too.
            (
                "DomainManagement.idl",
                "`Domain` has the name of the scope it is declared in",
            ),
            (
                "SSLIOP.idl",
                "`right` has the name of the scope it is declared in",
            ),
            (
                "Security.idl",
                "`right` has the name of the scope it is declared in",
            ),
            (
                "SecurityAdmin.idl",
                "`right` has the name of the scope it is declared in",
            ),
            (
                "SecurityLevel1.idl",
                "`right` has the name of the scope it is declared in",
            ),
            (
                "SecurityLevel2.idl",
                "`right` has the name of the scope it is declared in",
            ),
            (
                "SecurityReplaceable.idl",
                "`right` has the name of the scope it is declared in",
            ),
            // Simply wrong.
            ("FT.idl", "cannot find `CosNotifyComm`"),
            ("PortableGroup.idl", "`INV_OBJREF` is a system exception"),
            ("SASPolicy.idl", "this conditional is never closed"),
            ("SSLPolicy.idl", "this conditional is never closed"),
        ],
    };
    corpus.check();
}

#[test]
fn what_the_rules_allow_compiles() {
    let corpus = |name, folder| Corpus {
        name,
        folder: repository(folder),
        include: vec![repository(folder)],
        define: &[],
        apart: &["*"],
        refused: &[],
    };
    corpus("rules", "crates/idl/tests/rules/legal").check();
    corpus("language", "crates/idl/tests/language/legal").check();
}
