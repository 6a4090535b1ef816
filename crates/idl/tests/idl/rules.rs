//! The rules of IDL, one small file each, compiled separately: those in `rules/legal` compile, and those in
//! `rules/illegal` have exactly the diagnostics beside them. Those in `rules/lenient` compile under the option `lenient` alone.
//! Every file begins with the rule that it tests.
//!
//! `UPDATE_GOLDEN=1 cargo test -p zorb-idl rules` rewrites the diagnostics; review the difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use zorb_idl::{Diagnostics, Options, compile_files};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/rules")
        .join(name)
}

/// The files of a folder, sorted. All must have one of `extensions`.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in &files {
        let extension = file
            .extension()
            .and_then(|it| it.to_str())
            .unwrap_or_default();
        assert!(
            extensions.contains(&extension),
            "{} has no business here",
            file.display()
        );
    }
    assert!(files.len() > 3, "{} has lost its files", folder.display());
    files
}

/// The rule that a file tests.
fn rule(file: &Path) -> String {
    let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("// ").map_or_else(
        || panic!("{} does not begin with its rule", file.display()),
        str::to_owned,
    )
}

/// Compiles a file; a legal one becomes code.
fn compile(file: &Path) -> Result<(), Diagnostics> {
    compile_files(&[file.to_path_buf()], &Options::default()).map(drop)
}

#[test]
fn what_is_legal_compiles() {
    let folder = folder("legal");
    let mut refused = Vec::new();
    for file in files(&folder, &["idl"]) {
        let rule = rule(&file);
        if let Err(diagnostics) = compile(&file) {
            refused.push(format!("{}: {rule}\n{diagnostics}", file.display()));
        }
    }
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n\n"));
}

#[test]
fn what_is_lenient_compiles_on_request_alone() {
    let mut lenient = Options::default();
    lenient.lenient = true;
    let mut different = Vec::new();
    for file in files(&folder("lenient"), &["idl"]) {
        let (shown, rule) = (file.display(), rule(&file));
        if compile(&file).is_ok() {
            different.push(format!("{shown} is strict: {rule}"));
        }
        if let Err(diagnostics) = compile_files(std::slice::from_ref(&file), &lenient) {
            different.push(format!("{shown}: {rule}\n{diagnostics}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

#[test]
fn what_is_legal_is_legal_leniently() {
    let mut lenient = Options::default();
    lenient.lenient = true;
    for file in files(&folder("legal"), &["idl"]) {
        let made = |options: &Options| {
            let output = compile_files(std::slice::from_ref(&file), options);
            output
                .map(|output| output.tokens.to_string())
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            made(&Options::default()),
            made(&lenient),
            "{}",
            file.display()
        );
    }
}

/// The `rename("a" = "b")` of every hint.
fn renames(diagnostics: &Diagnostics) -> Vec<(String, String)> {
    let hints = diagnostics.iter().filter_map(|it| it.hint.as_deref());
    let quoted = hints.filter_map(|hint| {
        let (_, option) = hint.split_once("rename(\"")?;
        let (idl, rust) = option.strip_suffix("\")")?.split_once("\" = \"")?;
        Some((idl.to_owned(), rust.to_owned()))
    });
    quoted.collect()
}

#[test]
fn a_rename_that_is_printed_can_be_pasted() {
    let mut pasted = 0;
    for file in files(&folder("illegal"), &["idl", "txt"]) {
        let name = file.file_name().and_then(|it| it.to_str()).unwrap();
        if !name.starts_with("rust_name") || !name.ends_with(".idl") {
            continue;
        }
        let mut options = Options::default();
        options.renames = renames(&compile(&file).unwrap_err());
        assert!(!options.renames.is_empty(), "{name} has no hint");
        pasted += options.renames.len();
        if let Err(diagnostics) = compile_files(std::slice::from_ref(&file), &options) {
            panic!("{name} with {:?}:\n{diagnostics}", options.renames);
        }
    }
    assert!(pasted > 5, "{pasted} renames");
}

#[test]
fn what_is_illegal_is_refused_as_reviewed() {
    let folder = folder("illegal");
    let here = format!("{}/", folder.display());
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let files = files(&folder, &["idl", "txt"]);
    let stems = |extension: &str| -> BTreeSet<PathBuf> {
        files
            .iter()
            .filter(|file| file.extension().is_some_and(|it| it == extension))
            .map(|file| file.with_extension(""))
            .collect()
    };
    let (sources, reviewed) = (stems("idl"), stems("txt"));
    let strays: Vec<_> = reviewed.difference(&sources).collect();
    assert!(strays.is_empty(), "diagnostics of no IDL: {strays:?}");
    let mut different = Vec::new();
    for stem in &sources {
        let file = stem.with_extension("idl");
        let rule = rule(&file);
        let found = match compile(&file) {
            Ok(()) => {
                different.push(format!("{} is accepted: {rule}", file.display()));
                continue;
            }
            Err(diagnostics) => diagnostics.to_string().replace(&here, ""),
        };
        let golden = stem.with_extension("txt");
        if update {
            fs::write(&golden, &found).unwrap();
        } else if !reviewed.contains(stem) {
            different.push(format!("{} does not exist:\n{found}", golden.display()));
        } else if fs::read_to_string(&golden).unwrap() != found {
            different.push(format!("{}: {rule}\n{found}", golden.display()));
        }
    }
    assert!(
        different.is_empty(),
        "not as reviewed (UPDATE_GOLDEN=1 accepts it):\n{}",
        different.join("\n\n")
    );
}
