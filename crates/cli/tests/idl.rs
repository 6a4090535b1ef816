//! The output of `zorb idl` for IDL with typical first errors.
//!
//! Beside each file in `tests/idl/` is the expected output of `zorb idl check`. `UPDATE_GOLDEN=1` rewrites it; review the
//! difference.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `zorb idl` in the directory of the IDL.
fn zorb(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zorb"))
        .arg("idl")
        .args(args)
        .current_dir(folder())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .output()
        .expect("zorb starts")
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/idl"))
}

fn text(octets: &[u8]) -> String {
    String::from_utf8(octets.to_vec()).expect("UTF-8")
}

#[test]
fn every_broken_file_is_explained_as_it_was() {
    let entries = fs::read_dir(folder()).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "idl"))
        .collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let output = zorb(&["check", "-I", "include", name]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
        let said = text(&output.stderr);
        let golden = file.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, &said).unwrap();
        } else {
            assert_eq!(
                said,
                fs::read_to_string(&golden).unwrap_or_default(),
                "{name}"
            );
        }
    }
}

#[test]
fn a_sound_file_is_passed_over_in_silence() {
    let output = zorb(&["check", "include/money.idl"]);
    assert!(output.status.success());
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        Default::default()
    );
}

#[test]
fn several_files_are_compiled_each_for_itself_and_counted() {
    let files = [
        "include/money.idl",
        "syntax.idl",
        "account.idl",
        "include/money.idl",
    ];
    let output = zorb(&[&["check", "-I", "include"], &files[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.trim_end().ends_with("errors in 2 of 4 files"),
        "{said}"
    );
}

#[test]
fn rust_is_written_where_it_is_wanted() {
    let printed = zorb(&["expand", "include/money.idl"]);
    assert!(printed.status.success());
    assert!(text(&printed.stdout).contains("pub type Amount = f64;"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("money.rs");
    let written = zorb(&["expand", "include/money.idl", "-o", path.to_str().unwrap()]);
    assert!(written.status.success() && written.stdout.is_empty());
    assert_eq!(fs::read_to_string(&path).unwrap(), text(&printed.stdout));
    let refused = zorb(&["expand", "include/money.idl", "-o", "no/where.rs"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("no/where.rs"));
}

#[test]
fn options_are_those_of_the_annotation() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.idl");
    fs::write(
        &path,
        "#include <money.idl>\n#if TWO == 2 && defined(ONE)\nmodule A { native N; struct Old { Money::Price a; N n; }; };\n#endif\n",
    )
    .unwrap();
    let output = zorb(&[
        "expand",
        "-Iinclude",
        "-DONE",
        "-D",
        "TWO=2",
        "--extern",
        "Money=crate::money",
        "--rename",
        "A::Old=Mine",
        "--native",
        "A::N=crate::Handle",
        "--lenient",
        path.to_str().unwrap(),
    ]);
    let said = text(&output.stdout);
    assert!(
        [
            "struct Mine",
            "pub a: crate::money::Price",
            "= crate::Handle;"
        ]
        .iter()
        .all(|part| said.contains(part)),
        "{said}{}",
        text(&output.stderr)
    );
}

#[test]
fn every_file_that_is_read_is_listed_even_of_what_is_no_idl() {
    let output = zorb(&["deps", "-I", "include", "account.idl", "syntax.idl"]);
    assert!(output.status.success());
    let root = folder().canonicalize().unwrap();
    let listed = text(&output.stdout).replace(root.to_str().unwrap(), "ROOT");
    assert_eq!(
        listed,
        "ROOT/account.idl\nROOT/include/money.idl\nROOT/syntax.idl\n"
    );
    let missing = zorb(&["deps", "missing.idl"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stdout).ends_with("missing.idl\n"));
    assert!(text(&missing.stderr).contains("cannot find the file"));
}

#[test]
fn a_command_line_that_means_nothing_is_refused() {
    for args in [
        &["check"][..],
        &["check", "-D", "1x", "account.idl"],
        &["check", "--extern", "Money", "account.idl"],
        &["compile", "account.idl"],
    ] {
        assert_eq!(zorb(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn colours_are_for_terminals_and_for_who_asks() {
    assert!(!text(&zorb(&["check", "syntax.idl"]).stderr).contains('\x1b'));
    let asked = zorb(&["check", "syntax.idl", "--color", "always"]);
    assert!(text(&asked.stderr).contains("\x1b[31merror"));
}

#[test]
fn the_page_of_the_tools_shows_what_is_said() {
    let page = include_str!("../../../docs/tools.md");
    let golden = fs::read_to_string(folder().join("account.txt")).unwrap();
    let shown = format!("$ zorb idl check -I include account.idl\n{golden}```\n");
    assert!(page.contains(&shown), "{shown}");
}
