//! Code from a build script of which nothing is used: rustc has no warning, with and without the feature `format`.

use crate::rebuilds::World;
use crate::rustc::rustc;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// IDL that has every construct: the files whose output is reviewed, and the legal ones of the language. Some need options.
pub(crate) fn constructs() -> Vec<PathBuf> {
    let house = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/idl/tests");
    let files = ["golden", "language/legal"].map(|folder| {
        let entries = house.join(folder).read_dir().expect("a folder");
        entries.map(|entry| entry.expect("an entry").path())
    });
    let mut files: Vec<_> = files
        .into_iter()
        .flatten()
        .filter(|path| path.extension().is_some_and(|extension| extension == "idl"))
        .filter(|path| !path.ends_with("modules.idl") && !path.ends_with("names.idl"))
        .collect();
    files.sort();
    files
}

/// The name of the module, and of the file, of the IDL file `at` this place.
fn module(at: usize) -> String {
    format!("constructs{at}")
}

/// Private modules with the files in `folder`.
fn modules(text: &mut String, name: &str, folder: &Path, count: usize) {
    writeln!(text, "mod {name} {{").expect("text grows");
    for at in 0..count {
        let (module, file) = (module(at), folder.join(module(at)).with_extension("rs"));
        writeln!(text, "mod {module} {{ include!({file:?}); }}").expect("text grows");
    }
    text.push_str("}\n");
}

#[test]
fn what_a_build_script_writes_has_no_warning_where_nothing_of_it_is_used() {
    let files = constructs();
    assert!(files.len() > 20, "{files:?}");
    // Without the feature, in a real build script. The worlds share a target folder, where cargo takes packages of one name in
    // two workspaces for one.
    let world = World::of("unused", &["unused"]);
    world.write(
        "unused/Cargo.toml",
        "[package]\nname = \"unused\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[build-dependencies]\nzorb-idl.workspace = true\n",
    );
    world.write("unused/src/lib.rs", "");
    let mut script = "fn main() -> Result<(), zorb_idl::BuildError> {\n".to_owned();
    for (at, file) in files.iter().enumerate() {
        let name = module(at);
        writeln!(
            script,
            "    zorb_idl::Build::new().file({file:?}).compile(\"{name}.rs\")?;"
        )
        .expect("text grows");
    }
    script.push_str("    Ok(())\n}\n");
    world.write("unused/build.rs", &script);
    let plain = world.written("unused");
    for at in 0..files.len() {
        let written = std::fs::read_to_string(plain.join(module(at)).with_extension("rs"));
        let written = written.expect("the file is there");
        let longest = written.lines().map(str::len).max().unwrap_or_default();
        assert!(longest < 400, "a line of {longest} columns:\n{written}");
    }
    // With it, which this program has, and with the options that add code.
    let folder = TempDir::new().expect("a folder");
    for (at, file) in files.iter().enumerate() {
        let build = zorb_idl::Build::new().file(file).out_dir(folder.path());
        let written = build
            .defaults()
            .delegates()
            .ami()
            .compile(format!("{}.rs", module(at)));
        written.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    let mut text = String::new();
    modules(&mut text, "plain", &plain, files.len());
    modules(&mut text, "formatted", folder.path(), files.len());
    let main = folder.path().join("lib.rs");
    std::fs::write(&main, text).expect("written");
    let mut compiler = rustc(&main);
    compiler.args(["--crate-type=lib", "--emit=metadata", "--out-dir"]);
    compiler.arg(folder.path());
    let output = compiler.output().expect("the compiler is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}
