//! The output of rustc for faulty IDL in a macro. `TRYBUILD=overwrite cargo test -p zorb-idl-macros --test ui` rewrites the
//! expected output; review the difference.

use std::fs;
use std::path::Path;

/// Copies the IDL that attributes name to the directory that trybuild uses for the crate.
fn provide(file: &str) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let there = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tests/trybuild/zorb-idl-macros");
    fs::create_dir_all(&there).unwrap();
    fs::copy(here.join(file), there.join(file)).unwrap();
}

#[test]
fn faults_in_idl_are_shown_where_they_are() {
    provide("options.idl");
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
