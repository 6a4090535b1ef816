//! ARCHITECTURE.md against the source: its limits, and the tests of its invariants.

use crate::root;
use std::fs;
use std::path::{Path, PathBuf};

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The rows of the table below a heading, without its first two, as cells.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, below) = page.split_once(heading).expect("the heading is there");
    let section = below.split("\n## ").next().unwrap_or(below);
    let table = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |line: &'a str| {
        let line = line.trim_matches('|');
        line.split(" | ").map(str::trim).collect()
    };
    table.map(cells).collect()
}

/// The texts in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether `name` stands in the text as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

#[test]
fn each_limit_is_a_name_of_its_file() {
    let page = page();
    let mut wrong = Vec::new();
    for row in rows(&page, "\n## Limits\n") {
        let [what, _, names, places, ..] = row[..] else {
            panic!("a row of the limits lacks cells: {row:?}");
        };
        let mut text = String::new();
        for place in quoted(places) {
            match fs::read_to_string(root().join("crates").join(place)) {
                Ok(found) => text.push_str(&found),
                Err(e) => wrong.push(format!("{what}: {place}: {e}")),
            }
        }
        for name in quoted(names) {
            let name = name.rsplit("::").next().unwrap_or(name);
            if !has_word(&text, name) && !places.contains(&format!("{name}.rs")) {
                wrong.push(format!("{what}: {name} is not in {places}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether `name` is a file, or a test of a file: `tests/orb/calls.rs::a_late_reply_matches_no_call`.
fn is_there(name: &str) -> bool {
    match name.split_once("::") {
        Some((file, test)) => fs::read_to_string(root().join(file))
            .is_ok_and(|text| text.contains(&format!("fn {test}("))),
        None => root().join(name).exists(),
    }
}

#[test]
fn each_test_that_holds_an_invariant_is_there() {
    let page = page();
    let rows = rows(&page, "\n## Invariants\n");
    let names = rows.iter().flat_map(|row| quoted(row[1]));
    // Which the compiler holds.
    let tests = names.filter(|name| !name.contains("unsafe"));
    let wrong: Vec<&str> = tests.filter(|name| !is_there(name)).collect();
    assert!(wrong.is_empty(), "neither a test nor a file: {wrong:?}");
}

/// The pages of a folder.
pub(crate) fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect()
}
