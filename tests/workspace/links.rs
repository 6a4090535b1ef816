//! The links of all pages: to files, to files of the repository by their address, and to items at docs.rs.

use crate::page::pages;
use crate::{files, root};
use std::fs;
use std::path::PathBuf;

/// Folders whose pages link to each other by paths.
const FOLDERS: [&str; 9] = [
    "",
    "benches",
    "benches/peers",
    "docs",
    "docs/book",
    "examples",
    "idl-macros",
    "tests/interop",
    "tests/wire",
];
/// Folders with sources whose documentation links to pages of the repository.
const SOURCES: [&str; 3] = ["crates", "examples", "idl-macros"];
/// The repository's address, below which a file is named with its branch.
const REPOSITORY: &str = "https://github.com/zorb-rs/zorb";
const BRANCH: &str = "main";
/// Documentation of published versions.
const DOCS: &str = "https://docs.rs/";

/// The pages with links: those of [`FOLDERS`], and each package's own.
fn all_pages() -> Vec<PathBuf> {
    let packages = fs::read_dir(root().join("crates")).unwrap();
    let packages = packages.map(|entry| entry.unwrap().path());
    let folders = FOLDERS.iter().map(|folder| root().join(folder));
    let folders = folders.chain(packages.filter(|path| path.is_dir()));
    folders.flat_map(|folder| pages(&folder)).collect()
}

/// The targets of a page's links to files.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let files = targets.map(|target| target.split('#').next().unwrap_or(target));
    files
        .filter(|file| !file.is_empty() && !file.contains("://") && !file.contains(['`', ' ', ':']))
}

/// The addresses in a text that begin with `start`, each without it.
fn addresses<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    let is_end = |c: char| c.is_whitespace() || ")>\"'`,]".contains(c);
    text.split(start)
        .skip(1)
        .map(move |rest| rest.split(is_end).next().unwrap_or(rest))
}

/// Whether the rest of an address of the repository names a file on its branch, or no file at all.
fn is_in_repository(rest: &str) -> bool {
    let path = rest.split('#').next().unwrap_or(rest).trim_matches('/');
    let mut parts = path.splitn(3, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("" | "issues" | "releases"), ..) => true,
        (Some("blob"), Some(BRANCH), Some(file)) => root().join(file).is_file(),
        (Some("tree"), Some(BRANCH), Some(folder)) => root().join(folder).is_dir(),
        _ => false,
    }
}

/// Whether a list of public items has a line with all of `item` that ends there or goes on with another character than
/// one of a name.
fn has_item(items: &str, item: &str) -> bool {
    items.match_indices(item).any(|(at, _)| {
        let rest = &items[at + item.len()..];
        !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') && !rest.starts_with("::")
    })
}

/// Whether the rest of an address at docs.rs, as in `zorb/latest/zorb/struct.Orb.html#method.shutdown`, names an item of
/// the lists of public items. Other projects' addresses are not looked up.
fn is_documented(rest: &str) -> bool {
    let (path, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let mut parts = path.trim_end_matches('/').split('/');
    let package = parts.next().unwrap_or_default();
    if package != "zorb" && !package.starts_with("zorb-") {
        return true;
    }
    let Some(version) = parts.next() else {
        return root()
            .join("crates")
            .join(package.trim_start_matches("zorb-"))
            .is_dir();
    };
    let list = root()
        .join("tests/public-items")
        .join(format!("{package}.txt"));
    let (Ok(items), "latest") = (fs::read_to_string(list), version) else {
        return false;
    };
    let mut names: Vec<&str> = parts.collect();
    let page = names.pop().unwrap_or_default();
    let module = names.join("::");
    if page == "index.html" {
        return has_item(&items, &format!("pub mod {module}"));
    }
    let Some((kind, name)) = page.trim_end_matches(".html").split_once('.') else {
        return false;
    };
    let item = match kind {
        "macro" => format!("macro {module}::{name}!"),
        "attr" => format!("macro {module}::#[{name}]"),
        kind => format!("{kind} {module}::{name}"),
    };
    let is_whole = match fragment.split_once('.') {
        Some((_, method)) => has_item(&items, &format!("fn {module}::{name}::{method}")),
        None => true,
    };
    has_item(&items, &item) && is_whole
}

#[test]
fn links_between_pages_lead_to_files() {
    let mut wrong = Vec::new();
    for page in all_pages() {
        let text = fs::read_to_string(&page).unwrap();
        let folder = page.parent().unwrap();
        for link in paths(&text).filter(|link| !folder.join(link).exists()) {
            wrong.push(format!("{}: {link}", page.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn addresses_of_pages_and_sources_lead_to_files_and_items() {
    let sources = SOURCES
        .iter()
        .flat_map(|folder| files(&root().join(folder), "rs"));
    let (mut wrong, mut found) = (Vec::new(), 0);
    for file in all_pages().into_iter().chain(sources) {
        let text = fs::read_to_string(&file).unwrap();
        let files = addresses(&text, REPOSITORY).map(|it| (REPOSITORY, it, is_in_repository(it)));
        let items = addresses(&text, DOCS).map(|it| (DOCS, it, is_documented(it)));
        for (start, rest, is_right) in files.chain(items) {
            found += 1;
            if !is_right {
                wrong.push(format!("{}: {start}{rest}", file.display()));
            }
        }
    }
    assert!(found > 0, "some page has an address");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_address_of_a_missing_file_or_item_is_found() {
    let page = "[a](https://github.com/zorb-rs/zorb/blob/main/DESIGN.md#poa), \
                <https://github.com/zorb-rs/zorb/blob/main/DESING.md>.";
    let found: Vec<bool> = addresses(page, REPOSITORY).map(is_in_repository).collect();
    assert_eq!(found, [true, false]);
    let orb = "zorb/latest/zorb/struct.Orb.html";
    let checks = [
        (orb.to_owned(), true),
        (format!("{orb}#method.shutdown"), true),
        (format!("{orb}#method.shut"), false),
        ("zorb/latest/zorb/enum.Orb.html".to_owned(), false),
        ("zorb/latest/zorb/trait.Interface.html".to_owned(), true),
        ("zorb/latest/zorb/naming/index.html".to_owned(), true),
        ("zorb-poa/latest/zorb_poa/struct.Poa.html".to_owned(), false),
        ("tracing".to_owned(), true),
    ];
    for (rest, expected) in checks {
        assert_eq!(is_documented(&rest), expected, "{rest}");
    }
}
