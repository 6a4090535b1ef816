//! The functions that a request passes between the socket and the servant, and back, as ARCHITECTURE.md names them.

use super::lines;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The line at which the paragraph begins.
const BEGIN: &str = "From socket to servant and back:";
/// The folders of the functions, that of the connection's server first.
const FOLDERS: [&str; 7] = [
    "crates/connection/src/server",
    "crates/zorb/src/serve",
    "crates/zorb/src/signature",
    "crates/connection/src",
    "crates/giop/src",
    "crates/poa/src",
    "crates/transport/src",
];

/// The functions of the paragraph, and the files in which they are.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) functions: Vec<String>,
    pub(super) files: BTreeSet<PathBuf>,
}

/// The names in backticks of the paragraph.
fn named(page: &str) -> Vec<&str> {
    let Some((_, rest)) = page.split_once(BEGIN) else {
        return Vec::new();
    };
    let paragraph = rest.split("\n\n").next().unwrap_or(rest);
    paragraph.split('`').skip(1).step_by(2).collect()
}

/// Whether the code has the function: of the type or trait, if its name has one.
fn defines(code: &[String], function: &str) -> bool {
    let (of, name) = match function.rsplit_once("::") {
        Some((of, name)) => (Some(of), name),
        None => (None, function),
    };
    let is_word_at = |line: &str, word: &str| {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default();
            let rest = line.get(at + word.len()..).unwrap_or_default();
            ends(rest) && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    };
    let has_function = code
        .iter()
        .any(|line| line.contains("fn ") && is_word_at(line, name));
    let has_type = of.is_none_or(|of| {
        code.iter().any(|line| {
            let line = line.trim_start();
            ["impl", "pub trait", "pub(crate) trait"]
                .iter()
                .any(|begin| line.starts_with(begin))
                && is_word_at(line, of)
        })
    });
    has_function && has_type
}

/// Finds each function of the paragraph in the sources; one that could be in several files is taken to be in one that
/// the walk has been in, or else in the first.
///
/// # Errors
/// A function is in none of the sources, or there is no such paragraph.
pub(super) fn walk(root: &Path, page: &str) -> Result<Walk, String> {
    let mut code = Vec::new();
    for folder in FOLDERS {
        code.extend(lines::code(root, &[folder])?);
    }
    let names = named(page);
    if names.is_empty() {
        return Err(format!("ARCHITECTURE.md has no paragraph \"{BEGIN}\""));
    }
    let mut walk = Walk {
        functions: Vec::new(),
        files: BTreeSet::new(),
    };
    for name in names {
        let found = || code.iter().filter(|(_, lines)| defines(lines, name));
        let file = found()
            .find(|(file, _)| walk.files.contains(file))
            .or_else(|| found().next());
        let Some((file, _)) = file else {
            return Err(format!("ARCHITECTURE.md names {name}, which is not there"));
        };
        walk.functions.push(name.to_owned());
        walk.files.insert(file.clone());
    }
    Ok(walk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paragraph_names_functions() {
        let page =
            "`no`\n\nFrom socket to servant and back: `a`, `B::c`,\nthe servant, `d`.\n\n`no`";
        assert_eq!(named(page), ["a", "B::c", "d"]);
        assert!(named("nothing").is_empty());
    }

    #[test]
    fn a_function_is_found_by_its_name_and_its_type() {
        let code = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let source = code("impl<O: Owner> Link<O> {\n    pub(crate) fn drain<T>(&self) {\n");
        assert!(defines(&source, "Link::drain") && defines(&source, "drain"));
        assert!(!defines(&source, "Links::drain") && !defines(&source, "Link::drain_all"));
        assert!(!defines(&source, "Reader::drain"));
    }

    #[test]
    fn the_functions_of_the_page_are_in_the_sources() {
        let root = xtask::step::root();
        let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
        let walk = walk(&root, &page).unwrap();
        assert!(walk.functions.len() > 10 && walk.files.len() > 3);
    }
}
