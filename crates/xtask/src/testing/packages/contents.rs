//! The contents of published packages: code and pages for users, no fixtures of tests.

use cargo_metadata::MetadataCommand;
use xtask::step::{Done, cargo, output, root};

/// Files and folders of a package.
const CONTENTS: [&str; 10] = [
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "examples/",
    "idl/",
    "packaging/",
    "src/",
];

/// Packs every package that is published, without building it, and looks at the lists of files.
///
/// # Errors
/// A package cannot be packed, or contains something else than [`CONTENTS`].
pub(super) fn run() -> Done {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .map_err(|e| e.to_string())?;
    let mut pack = cargo();
    pack.current_dir(root())
        .args(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    for package in metadata.packages.iter().filter(|it| it.publish.is_none()) {
        let name = package.name.as_str();
        let mut list = cargo();
        list.current_dir(root())
            .args(["package", "--list", "--allow-dirty", "--package", name]);
        let list = output(&mut list)?;
        let foreign: Vec<&str> = foreign(&list).collect();
        if !foreign.is_empty() {
            return Err(format!("{name} would be published with {foreign:?}"));
        }
        pack.args(["--package", name]);
    }
    output(&mut pack).map(|_| ())
}

/// The files of a list that belong to no package's contents.
fn foreign(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|file| {
        let is_of = |part: &&str| match part.ends_with('/') {
            true => file.starts_with(*part),
            false => *file == *part || file.strip_suffix(".orig") == Some(*part),
        };
        !CONTENTS.iter().any(is_of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_is_foreign_to_a_package() {
        let list = "Cargo.toml\nCargo.toml.orig\nsrc/lib.rs\ntests/data/a.ior\nsrc.txt\nREADME.md";
        let foreign: Vec<&str> = foreign(list).collect();
        assert_eq!(foreign, ["tests/data/a.ior", "src.txt"]);
    }
}
