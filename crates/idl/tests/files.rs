//! Files: where they are looked for, how often they are read, what is told of them.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use zorb_idl::{Options, check_files, compile_files, compile_str};

fn tree(files: &[(&str, &str)]) -> (TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        paths.push(path);
    }
    (dir, paths)
}

#[test]
fn every_file_that_was_read_is_a_dependency_once() {
    let (dir, paths) = tree(&[
        (
            "a.idl",
            "#include \"sub/b.idl\"\n#include <c.idl>\nmodule A { typedef B::T T; };",
        ),
        (
            "sub/b.idl",
            "#pragma once\n#include \"../sub/b.idl\"\nmodule B { typedef long T; };",
        ),
        (
            "inc/c.idl",
            "#ifndef C\n#define C\n#include <c.idl>\n#endif",
        ),
        (
            "d.idl",
            "#include \"sub/b.idl\"\nmodule D { typedef A::T T; };",
        ),
    ]);
    let mut options = Options::default();
    options.include_dirs = vec![dir.path().join("inc")];
    let output = compile_files(&[paths[0].clone(), paths[3].clone()], &options).unwrap();
    let root = dir.path().canonicalize().unwrap();
    let read: Vec<PathBuf> = output
        .dependencies
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap().to_path_buf())
        .collect();
    assert_eq!(
        read,
        ["a.idl", "sub/b.idl", "inc/c.idl", "d.idl"].map(PathBuf::from)
    );
}

#[test]
fn files_that_include_each_other_for_ever_are_told() {
    let (_dir, paths) = tree(&[
        ("a.idl", "#include \"b.idl\""),
        ("b.idl", "\n #include \"a.idl\""),
    ]);
    let diagnostics = check_files(&paths[..1], &Options::default()).unwrap_err();
    let first = diagnostics.iter().next().unwrap();
    assert!(first.message.contains("includes itself"), "{first}");
    assert_eq!((first.line, first.file.ends_with("b.idl")), (2, true));
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let (dir, _) = tree(&[("sub/x.idl", "")]);
    let mut options = Options::default();
    options.include_dirs = vec![dir.path().to_path_buf(), PathBuf::from("/dev")];
    for name in ["sub", "zero"] {
        let text = format!("#include <{name}>\n");
        let diagnostics = compile_str("a.idl", &text, &options).unwrap_err();
        assert!(
            diagnostics.to_string().contains("not a regular file"),
            "{diagnostics}"
        );
    }
}

#[test]
fn text_in_latin_1_is_read_as_such() {
    let (dir, _) = tree(&[]);
    let path = dir.path().join("a.idl");
    fs::write(&path, b"const string X = \"gr\xfc\xdfe\"; // \xe4\n").unwrap();
    let output = compile_files(&[path], &Options::default()).unwrap();
    assert!(output.tokens.to_string().contains("\"gr\u{fc}\u{df}e\""));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_that_names_it() {
    let missing = PathBuf::from("/nowhere/at/all.idl");
    let text = compile_files(&[missing], &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("cannot read the file") && text.contains("/nowhere/at/all.idl"),
        "{text}"
    );
    assert!(
        compile_files(&[], &Options::default())
            .unwrap_err()
            .to_string()
            .contains("no IDL file")
    );
}

#[test]
fn an_extern_path_that_is_no_path_is_refused() {
    let mut options = Options::default();
    options
        .externs
        .push(("A".to_owned(), "crate::(".to_owned()));
    let text = compile_str("a.idl", "", &options).unwrap_err().to_string();
    assert!(text.contains("does not give a Rust path"), "{text}");
}
