//! The public items of each library, beside the lists of them that are checked in: `tests/public-items`.
//!
//! A change of a list is a change of what users can rely on, and is seen in review like one.

use super::{HOST, LIBRARIES};
use public_api::Builder;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use xtask::step::{self, Done, cargo, root, target, tool};

/// The versions of rustdoc's JSON that `public-api` can read.
const FORMATS: std::ops::RangeInclusive<u64> = 57..=57;

/// Compares the lists, or writes them.
///
/// # Errors
/// rustdoc fails, or a list is another one; with the lines that came and went.
pub(crate) fn run(record: bool) -> Done {
    document()?;
    let mut different = Vec::new();
    for library in LIBRARIES {
        let json = target()
            .join("doc")
            .join(library.replace('-', "_") + ".json");
        if let Some(format) = other_format(&json)? {
            println!(
                "    public items: skipped; this rustdoc writes format {format}, and {FORMATS:?} can be read"
            );
            return Ok(());
        }
        let items = Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .map_err(|e| format!("{}: {e}", json.display()))?;
        let list = list(library);
        let items = format!("{items}");
        if record {
            fs::write(&list, &items).map_err(|e| format!("{}: {e}", list.display()))?;
            continue;
        }
        let expected = fs::read_to_string(&list).unwrap_or_default();
        if expected != items {
            different.push(format!(
                "{}:\n{}",
                list.display(),
                changes(&expected, &items)
            ));
        }
    }
    match different.as_slice() {
        [] => Ok(()),
        _ => Err(format!(
            "the public items are others; `cargo xtask public-items --record` writes them down:\n{}",
            different.join("\n")
        )),
    }
}

fn list(library: &str) -> PathBuf {
    root()
        .join("tests/public-items")
        .join(format!("{library}.txt"))
}

/// Has rustdoc write JSON of all libraries.
///
/// That is not stable yet. It is switched on for rustdoc alone: with the variable in its environment, cargo would build
/// every dependency anew whose build script asks for it.
fn document() -> Done {
    let wrapper = target().join("rustdoc-json");
    let rustdoc = tool("rustdoc");
    let script = format!(
        "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec '{}' \"$@\"\n",
        rustdoc.display()
    );
    fs::write(&wrapper, script)
        .and_then(|()| fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)))
        .map_err(|e| format!("{}: {e}", wrapper.display()))?;
    let mut doc = cargo();
    doc.current_dir(root())
        .args(["doc", "--quiet", "--no-deps"])
        .args(["--package", HOST])
        .args(LIBRARIES.iter().flat_map(|library| ["--package", library]))
        .env("RUSTDOC", &wrapper)
        .env("RUSTDOCFLAGS", "-Z unstable-options --output-format json");
    step::run(&mut doc)
}

/// The version of a file's format, if it cannot be read.
fn other_format(json: &PathBuf) -> Result<Option<u64>, String> {
    let shown = json.display();
    let text = fs::read(json).map_err(|e| format!("{shown}: {e}"))?;
    let json: serde_json::Value =
        serde_json::from_slice(&text).map_err(|e| format!("{shown}: {e}"))?;
    let format = json["format_version"].as_u64().unwrap_or_default();
    Ok((!FORMATS.contains(&format)).then_some(format))
}

/// Lines that are gone and lines that are new.
fn changes(before: &str, after: &str) -> String {
    let (old, new): (BTreeSet<_>, BTreeSet<_>) =
        (before.lines().collect(), after.lines().collect());
    let gone = old.difference(&new).map(|line| format!("- {line}\n"));
    let come = new.difference(&old).map(|line| format!("+ {line}\n"));
    gone.chain(come).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_what_went_is_shown() {
        assert_eq!(changes("a\nb\n", "b\nc\n"), "- a\n+ c\n");
    }

    #[test]
    fn every_library_has_a_list_and_every_list_a_library() {
        let lists = fs::read_dir(root().join("tests/public-items")).unwrap();
        let lists: BTreeSet<_> = lists.map(|file| file.unwrap().path()).collect();
        let expected: BTreeSet<_> = LIBRARIES.iter().map(|library| list(library)).collect();
        assert_eq!(lists, expected);
    }
}
