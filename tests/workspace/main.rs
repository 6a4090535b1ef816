//! The workspace itself: which crate may depend on which, and where documents lead.

mod arrows;
mod book;
mod links;
mod nameable;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files with an extension in a folder and those below it.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path, extension),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect()
}
