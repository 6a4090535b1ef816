//! The book shows the application that runs: each excerpt is in its sources, and each page in the summary.

use crate::page::pages;
use crate::root;
use std::fs;
use std::path::PathBuf;

fn book() -> PathBuf {
    root().join("docs/book")
}

/// Lines without what they begin with: an excerpt is not indented as its source is.
fn lines(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

/// The excerpts of a page.
fn excerpts(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("\n```rust,ignore\n").skip(1);
    blocks.filter_map(|block| Some(block.split_once("\n```")?.0))
}

#[test]
fn excerpts_are_in_the_sources_of_the_application() {
    let quotes = root().join("examples/quotes/src");
    let folders = [quotes.clone(), quotes.join("bin")];
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let sources: Vec<String> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let sources: Vec<_> = sources.iter().map(|source| lines(source)).collect();
    let mut seen = 0;
    for page in pages(&book()) {
        let text = fs::read_to_string(&page).unwrap();
        for excerpt in excerpts(&text) {
            let wanted = lines(excerpt);
            let found = sources
                .iter()
                .any(|source| source.windows(wanted.len()).any(|it| it == wanted));
            assert!(found, "{}: no source has\n{excerpt}", page.display());
            seen += 1;
        }
    }
    assert!(seen > 0, "the book has no excerpt");
}

#[test]
fn the_summary_lists_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in [pages(&docs), pages(&book())].concat() {
        let name = page.strip_prefix(&docs).unwrap().display().to_string();
        let is_there = name == "SUMMARY.md" || summary.contains(&format!("]({name})"));
        assert!(is_there, "{name} is not in docs/SUMMARY.md");
    }
}
