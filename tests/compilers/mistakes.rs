//! The compiler's messages for faulty IDL and faulty servants: in `cases` through `zorb`, in `cases/macros` through the
//! procedural macros alone.
//!
//! The expected messages stand beside the cases. `UPDATE_GOLDEN=1 cargo test --test compilers mistakes` writes them anew; review
//! the difference. trybuild would compile the ORB again for itself.

use crate::rustc::{library, rustc};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Lines that rustc prints behind its last message.
const LAST: [&str; 3] = [
    "error: aborting due to ",
    "For more information about ",
    "Some errors have detailed explanations",
];

#[test]
fn mistakes_are_reported_where_they_are_made() {
    check("cases", 9);
    check("cases/files", 5);
}

#[test]
fn mistakes_in_what_the_macros_are_given_are_reported_at_their_words() {
    check("cases/macros", 5);
}

/// Compiles every file in the folder, none of which compiles, and compares what the compiler says.
fn check(folder: &str, count: usize) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compilers");
    let (mut different, mut found) = (String::new(), 0);
    for entry in here.join(folder).read_dir().expect("a folder") {
        let file = entry.expect("an entry").path();
        if file.extension().is_some_and(|extension| extension == "rs") {
            found += 1;
            let said = said(&here, file.strip_prefix(&here).expect("below it"));
            let expected = file.with_extension("stderr");
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::write(&expected, &said).expect("written");
            }
            let expected = fs::read_to_string(&expected).unwrap_or_default();
            if said != expected {
                let file = file.display();
                writeln!(different, "{file}:\n{said}\nand expected:\n{expected}").expect("text");
            }
        }
    }
    assert_eq!(found, count, "cases in {folder}");
    assert!(
        different.is_empty(),
        "not as reviewed (UPDATE_GOLDEN=1 accepts it):\n{different}"
    );
}

/// What the compiler says of a file.
fn said(here: &Path, file: &Path) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut compiler = rustc(file);
    compiler.args(["--emit=metadata", "-Adead_code", "--diagnostic-width=140"]);
    let macros = library("zorb_idl_macros");
    compiler.arg(format!("--extern=zorb_idl_macros={}", macros.display()));
    compiler.arg("--out-dir").arg(folder.path());
    // The files that IDL is read from count from the package, and the messages show them so.
    compiler.current_dir(here).env("CARGO_MANIFEST_DIR", here);
    let output = compiler.output().expect("the compiler is there");
    assert!(!output.status.success(), "{} compiles", file.display());
    let said = String::from_utf8(output.stderr).expect("text");
    // Files of IDL are shown by their whole paths.
    let said = said.replace(&here.display().to_string(), "$HERE");
    let mut kept = String::new();
    for line in said.lines() {
        if !LAST.iter().any(|last| line.starts_with(last)) {
            kept.push_str(without_place(line));
            kept.push('\n');
        }
    }
    kept.truncate(kept.trim_end().len());
    kept.push('\n');
    kept
}

/// A line, without the place in a source of the ORB, which changes with it.
fn without_place(line: &str) -> &str {
    match line.split_once(".rs:") {
        Some((file, place)) if file.trim_start().starts_with("--> crates/") => {
            &line[..line.len() - place.len() - 1]
        }
        _ => line,
    }
}
