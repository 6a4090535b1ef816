//! The size of documents and of what is stored beside them, and what each published package says of itself.

use crate::modules::root;
use cargo_metadata::{MetadataCommand, Package};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The most lines of a page. ARCHITECTURE.md has a test of its own.
const MOST_LINES: [(&str, usize); 2] = [("README.md", 200), ("COMPARE.md", 100)];
/// The most lines of a decision in DESIGN.md: one screen.
const MOST_LINES_OF_A_DECISION: usize = 40;
/// The section of DESIGN.md that is one table, with a row for each dependency.
const TABLE: &str = "## Dependencies";
/// The most characters of a table's cell in docs/papers.md.
const MOST_CHARACTERS_OF_A_CELL: usize = 120;

const MEBIBYTE: u64 = 1 << 20;
/// The most octets of a folder: documents with their pictures and data, and the fuzzers' corpora.
const MOST_OCTETS: [(&str, u64); 2] = [("docs", 5 * MEBIBYTE), ("fuzz/corpus", 2 * MEBIBYTE)];
/// The most lines of the crate that runs commands.
const MOST_LINES_OF_XTASK: usize = 5_000;

/// The packages that are published. All others say `publish = false`.
const PUBLISHED: [&str; 11] = [
    "zorb",
    "zorb-atm",
    "zorb-cdr",
    "zorb-cli",
    "zorb-connection",
    "zorb-executor",
    "zorb-giop",
    "zorb-idl",
    "zorb-idl-macros",
    "zorb-poa",
    "zorb-transport",
];
/// The most keywords and categories that crates.io takes.
const MOST_KEYWORDS: usize = 5;

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The files below `folder`, whatever they are.
fn everything(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            everything(&path, visit);
        } else {
            visit(&path);
        }
    }
}

/// The sections of a page, each with the number of its lines.
fn sections(page: &str) -> Vec<(&str, usize)> {
    let mut sections: Vec<(&str, usize)> = Vec::new();
    for line in page.lines() {
        if line.starts_with("## ") || line.starts_with("### ") {
            sections.push((line, 0));
        }
        if let Some((_, lines)) = sections.last_mut() {
            *lines += 1;
        }
    }
    sections
}

#[test]
fn pages_stay_short() {
    for (name, most) in MOST_LINES {
        let lines = page(name).lines().count();
        assert!(lines <= most, "{name} has {lines} lines");
    }
}

#[test]
fn a_decision_fits_on_a_screen() {
    let page = page("DESIGN.md");
    let sections = sections(&page);
    assert!(sections.len() > 50, "DESIGN.md has sections");
    for (heading, lines) in sections {
        assert!(
            heading == TABLE || lines <= MOST_LINES_OF_A_DECISION,
            "{lines} lines: {heading}"
        );
    }
}

#[test]
fn each_dependency_has_a_row() {
    let page = page("DESIGN.md");
    let (_, table) = page.split_once(TABLE).expect("the table is there");
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let ours = |name: &str| metadata.packages.iter().any(|it| it.name == name);
    let all = metadata.packages.iter().flat_map(|it| &it.dependencies);
    let without: BTreeSet<&str> = all
        .map(|dependency| &*dependency.name)
        .filter(|name| !ours(name) && !table.contains(&format!("`{name}`")))
        .collect();
    assert!(without.is_empty(), "no row for {without:?}");
}

#[test]
fn cells_of_the_experiments_stay_short() {
    let page = page("docs/papers.md");
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let cells = rows.flat_map(|row| row.trim_matches('|').split(" | "));
    let long: Vec<&str> = cells
        .map(str::trim)
        .filter(|cell| cell.chars().count() > MOST_CHARACTERS_OF_A_CELL)
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn documents_and_corpora_stay_small() {
    for (folder, most) in MOST_OCTETS {
        let mut octets = 0;
        everything(&root().join(folder), &mut |path| {
            octets += fs::metadata(path).unwrap().len();
        });
        assert!(octets <= most, "{folder} has {octets} octets");
    }
}

#[test]
fn the_crate_that_runs_commands_stays_small() {
    let mut lines = 0;
    everything(&root().join("crates/xtask/src"), &mut |path| {
        lines += fs::read_to_string(path).unwrap().lines().count();
    });
    assert!(lines <= MOST_LINES_OF_XTASK, "{lines} lines");
}

/// The parts that a package to be published lacks.
fn lacks(package: &Package) -> Vec<&'static str> {
    let folder = package.manifest_path.parent().unwrap();
    let has_file = |name: &str| folder.join(name).exists();
    let few = |words: &[String]| (1..=MOST_KEYWORDS).contains(&words.len());
    let checks = [
        ("a description", package.description.is_some()),
        ("a licence", package.license.is_some()),
        ("a repository", package.repository.is_some()),
        ("a page of documentation", package.documentation.is_some()),
        ("the oldest Rust", package.rust_version.is_some()),
        ("keywords", few(&package.keywords)),
        ("categories", few(&package.categories)),
        (
            "README.md",
            package.readme.is_some() && has_file("README.md"),
        ),
        ("LICENSE-APACHE", has_file("LICENSE-APACHE")),
        ("LICENSE-MIT", has_file("LICENSE-MIT")),
        (
            "settings of docs.rs",
            package.metadata["docs"]["rs"].is_object(),
        ),
    ];
    let lacking = checks.into_iter().filter(|(_, is_there)| !is_there);
    lacking.map(|(what, _)| what).collect()
}

#[test]
fn published_packages_are_named_and_complete() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let mut published: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| package.publish.is_none())
        .collect();
    published.sort_by(|a, b| a.name.cmp(&b.name));
    let names: Vec<&str> = published.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, PUBLISHED);
    for package in published {
        let lacking = lacks(package);
        assert!(lacking.is_empty(), "{} lacks {lacking:?}", package.name);
    }
}

#[test]
fn lines_of_sections_are_counted_from_their_headings() {
    let page = "# Page\n\nText.\n## A\none\n### B\none\ntwo\n";
    assert_eq!(sections(page), [("## A", 2), ("### B", 3)]);
}
