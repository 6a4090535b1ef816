//! Names and words: one name for one type of a library, one name for one of its files, and the field's words
//! everywhere.

use crate::modules::{CRATES, files, root, shipped};
use crate::page::pages;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that a comment, a message, a name or a page does not use: each stands where the field has a noun (caller,
/// peer, reader, server) or a verb (report, return, send).
const WORDS: [&str; 10] = [
    "anybody",
    "everybody",
    "lone",
    "nobody",
    "sole",
    "somebody",
    "tells",
    "told",
    "whoever",
    "whomever",
];

/// Types of one name in a crate, each with the reason.
const SAME_TYPES: [(&str, &str, &str); 4] = [
    (
        "crates/zorb",
        "Orb",
        "the asynchronous one and that of the module `blocking`, of one shape",
    ),
    ("crates/cdr", "NativeEndian", CFG),
    ("crates/executor", "Guard", CFG),
    ("crates/executor", "Lock", CFG),
];
const CFG: &str = "one of two, by the target or the feature";

/// The folders of the crates beside the libraries: programs, the experiments' own library, and executables of tests.
const MORE_CRATES: [&str; 20] = [
    "attack/src",
    "benches/measure/src",
    "benches/papers/cubit",
    "benches/papers/demultiplexing",
    "benches/papers/lanes",
    "benches/papers/latency",
    "benches/papers/poa",
    "benches/papers/principles",
    "benches/papers/protocols",
    "benches/papers/src",
    "benches/papers/ttcp",
    "benches/papers/white_box",
    "benches/peers/floor/src",
    "crates/cli/src",
    "crates/xtask/src",
    "fuzz/src",
    "tests/compilers",
    "tests/orb",
    "tests/peers",
    "tests/workspace",
];
/// Names of files that several modules of a crate have: a module with others below it, and its tests.
const MODULES: [&str; 2] = ["mod.rs", "tests.rs"];

/// Keywords of types, each behind a visibility that the whole crate has. rustfmt writes them so, at the start of a line.
const TYPES: [&str; 5] = ["enum ", "struct ", "trait ", "type ", "union "];

/// The crate-visible types of a file. They are read line by line: parsing all libraries takes a second more.
fn types(text: &str) -> impl Iterator<Item = &str> {
    let visible = text.lines().filter_map(|line| {
        let line = line.trim_start();
        (line.strip_prefix("pub ")).or_else(|| line.strip_prefix("pub(crate) "))
    });
    visible.filter_map(|item| {
        let item = item.strip_prefix("unsafe ").unwrap_or(item);
        let name = TYPES
            .iter()
            .find_map(|keyword| item.strip_prefix(keyword))?;
        let mut parts = name.split(|c: char| !c.is_alphanumeric() && c != '_');
        // Templates of generated code have `#name` there.
        parts.next().filter(|name| !name.is_empty())
    })
}

/// Whether a file is one of tests, by its path.
pub(crate) fn is_test(path: &Path) -> bool {
    path.components().any(|part| {
        matches!(
            part.as_os_str().to_str(),
            Some("tests" | "tests.rs" | "testing")
        )
    })
}

/// The names that more than one of `items` has.
fn repeated(items: impl Iterator<Item = (String, String)>) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, place) in items {
        all.entry(name).or_default().push(place);
    }
    all.retain(|_, places| places.len() > 1);
    all
}

/// The words of a text that are not to be used, each with the number of its line.
fn private_words(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().zip(1..);
    let words = lines.flat_map(|(line, number)| {
        line.split(|c: char| !c.is_alphabetic())
            .map(move |word| (number, word))
    });
    words
        .filter(|(_, word)| {
            WORDS
                .iter()
                .any(|private| word.eq_ignore_ascii_case(private))
        })
        .collect()
}

/// Folders with code, beside the macros' package.
const CODE: [&str; 6] = ["attack", "benches", "crates", "examples", "fuzz", "tests"];
/// The file that names the words.
const THIS_FILE: &str = "tests/workspace/words.rs";
/// Folders of pages.
const PAGES: [&str; 5] = ["", "docs", "docs/figures", "examples", "benches/peers"];

/// The words of `files` that are not to be used, each with its place.
fn found_in(files: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let words = private_words(&text).into_iter();
        found.extend(words.map(|(line, word)| format!("{}:{line}: {word}", file.display())));
    }
    found
}

#[test]
fn code_and_comments_use_the_words_of_the_field() {
    let macros = root().join("idl-macros");
    let folders = CODE.iter().map(|folder| root().join(folder));
    let all = folders.chain([macros]).flat_map(|folder| files(&folder));
    let this = root().join(THIS_FILE);
    let found = found_in(all.filter(|file| *file != this));
    assert!(
        found.is_empty(),
        "say who or what it is:\n{}",
        found.join("\n")
    );
}

#[test]
fn pages_use_the_words_of_the_field() {
    let folders = PAGES.iter().map(|folder| root().join(folder));
    let found = found_in(folders.flat_map(|folder| pages(&folder)));
    assert!(
        found.is_empty(),
        "say who or what it is:\n{}",
        found.join("\n")
    );
}

#[test]
fn no_two_types_of_a_crate_have_one_name() {
    let (mut found, mut exceptions) = (Vec::new(), 0);
    let libraries = CRATES.iter().map(|(folder, _)| *folder);
    for folder in libraries.chain(["attack", "benches/measure", "crates/cli", "crates/xtask"]) {
        let src = root().join(folder).join("src");
        let all = files(&src)
            .into_iter()
            .filter(|path| !is_test(path))
            .flat_map(|path| {
                let text = shipped(&path);
                let place = path.strip_prefix(&src).unwrap().display().to_string();
                let here = |name: &str| (name.to_owned(), place.clone());
                types(&text).map(here).collect::<Vec<_>>()
            });
        for (name, places) in repeated(all) {
            let is_meant = |(of, is, _): &(&str, &str, &str)| (*of, *is) == (folder, &*name);
            match SAME_TYPES.iter().any(is_meant) {
                true => exceptions += 1,
                false => found.push(format!("{folder}: {name} in {}", places.join(", "))),
            }
        }
    }
    assert!(
        found.is_empty(),
        "one of each is called otherwise:\n{}",
        found.join("\n")
    );
    assert_eq!(exceptions, SAME_TYPES.len(), "an exception is not needed");
}

#[test]
fn no_two_files_of_a_crate_have_one_name() {
    let mut found = Vec::new();
    let libraries = CRATES.iter().map(|(folder, _)| format!("{folder}/src"));
    for folder in libraries.chain(MORE_CRATES.map(str::to_owned)) {
        let path = root().join(&folder);
        let all = files(&path);
        assert!(!all.is_empty(), "{folder} has files");
        let names = all.into_iter().map(|file| {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            (
                name,
                file.strip_prefix(&path).unwrap().display().to_string(),
            )
        });
        for (_, places) in repeated(names.filter(|(name, _)| !MODULES.contains(&name.as_str()))) {
            found.push(format!("{folder}: {}", places.join(", ")));
        }
    }
    assert!(
        found.is_empty(),
        "one of each is called otherwise:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_private_word_is_found_in_names_and_sentences() {
    let text = "fn finds_nobody() {}\n/// Whoever waits.\n/// A clone, LoneSurrogate, retold.";
    assert_eq!(private_words(text), [(1, "nobody"), (2, "Whoever")]);
}

#[test]
fn types_are_found_that_the_crate_sees() {
    let text = "pub struct A<T>(T);\n    pub(crate) enum B_1 {\npub(super) struct C;\nstruct D;\npub unsafe trait E: F {\npub fn f() {}\n    pub struct #name {";
    assert_eq!(types(text).collect::<Vec<_>>(), ["A", "B_1", "E"]);
}
