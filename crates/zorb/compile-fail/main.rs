//! The compiler's messages for faulty IDL and faulty servants: in `cases` through `zorb`, in `macros` through the procedural
//! macros alone.
//!
//! The expected messages stand beside the cases. After a change that is meant,
//! `TRYBUILD=overwrite cargo test -p zorb-compile-fail` writes those of the inline cases anew: read
//! them before they are committed. Those in `files` are changed by hand.

use std::fs;
use std::path::Path;

#[test]
fn mistakes_are_reported_where_they_are_made() {
    // Declared first, so that it is there until the cases have run, which they do when dropped.
    // Of a fixed length, since the compiler underlines the paths in it.
    let there = tempfile::Builder::new()
        .prefix("zorb-")
        .tempdir_in("/tmp")
        .unwrap();
    let cases = trybuild::TestCases::new();
    cases.compile_fail("cases/*.rs");
    files(&cases, there.path());
    provide("options.idl");
    cases.compile_fail("macros/*.rs");
}

/// Copies IDL that the cases in `macros` name to the directory that trybuild uses for the crate.
fn provide(file: &str) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("macros");
    let there = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tests/trybuild/zorb-compile-fail");
    fs::create_dir_all(&there).unwrap();
    fs::copy(here.join(file), there.join(file)).unwrap();
}

/// The cases of the annotation, which name IDL files. A path in it counts from the package that
/// is compiled, and that is one of trybuild's own; so cases and IDL are copied to one place, and
/// `$HERE` in them becomes its whole path.
fn files(cases: &trybuild::TestCases, there: &Path) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/files");
    let mut found = 0;
    for file in fs::read_dir(&here).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file)
            .unwrap()
            .replace("$HERE", there.to_str().unwrap());
        let copy = there.join(file.file_name().unwrap());
        fs::write(&copy, text).unwrap();
        if copy.extension().is_some_and(|extension| extension == "rs") {
            assert!(
                file.with_extension("stderr").exists(),
                "nothing is expected"
            );
            cases.compile_fail(copy);
            found += 1;
        }
    }
    assert!(found > 0, "no cases in {}", here.display());
}
