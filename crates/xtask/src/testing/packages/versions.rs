//! The oldest compiler and the oldest dependencies that the manifests promise.

use crate::testing::executables::WRAPPER;
use crate::testing::workspace::git;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{fs, io};
use xtask::step::{Done, cargo, output, root, run, succeeds, target};

/// Folders that are of no use to a compiler.
const NOT_COPIED: [&str; 4] = ["docs/", "fuzz/corpus/", "tests/wire/", "tests/interop/"];

/// Compiles the libraries and the program with the compiler of `rust-version`.
///
/// # Errors
/// They do not compile.
pub(super) fn oldest_rust(rust_version: &str) -> Done {
    let ours = output(cargo().arg("--version"))?;
    // `cargo 1.95.0 (f2d3ce0bd 2026-03-21)`
    let ours = ours.split_whitespace().nth(1).unwrap_or_default();
    if ours == rust_version {
        println!("    oldest Rust: everything here is compiled by {ours}, which is it");
        return Ok(());
    }
    let toolchain = format!("+{rust_version}");
    if !succeeds("cargo", &[&toolchain, "--version"]) {
        println!("    oldest Rust: skipped; `rustup toolchain install {rust_version}` installs it");
        return Ok(());
    }
    let mut check = Command::new("cargo");
    check
        .current_dir(root())
        .args([&toolchain, "check", "--quiet", "--locked"])
        .args(["--package", "zorb", "--package", "zorb-cli"])
        .env_remove(WRAPPER)
        // Another compiler has nothing to do with what this one has built.
        .env("CARGO_TARGET_DIR", target().join("oldest-rust"));
    run(&mut check)
}

/// Compiles them with the lowest version of each dependency that the manifests allow, in a copy of the workspace: the lock
/// file of that is another.
///
/// # Errors
/// A version is too low for what is used of it, or for another dependency.
pub(super) fn oldest_dependencies() -> Done {
    if !succeeds("cargo", &["+nightly", "--version"]) {
        println!(
            "    oldest dependencies: skipped; cargo chooses them with `rustup toolchain install nightly` alone"
        );
        return Ok(());
    }
    let copy = target().join("oldest-dependencies");
    copy_workspace(&copy)?;
    let mut lock = Command::new("cargo");
    lock.current_dir(&copy)
        .args(["+nightly", "generate-lockfile", "--quiet"])
        .args(["-Z", "direct-minimal-versions"])
        .env_remove("CARGO");
    run(&mut lock)?;
    let mut check = cargo();
    check
        .current_dir(&copy)
        .args(["check", "--quiet", "--locked"])
        .args(["--package", "zorb", "--package", "zorb-cli"])
        // Nothing is linted: warnings are dropped below.
        .env_remove(WRAPPER)
        // Dependencies whose lowest version is the newest have been compiled there already.
        .env("CARGO_TARGET_DIR", target());
    // Without its warnings: what is deprecated in the newest version is not in the oldest.
    output(&mut check).map(drop)
}

/// Copies the files that git knows, or would take, and removes what an earlier copy had besides: a module that has moved
/// would be there twice, which no crate compiles with.
fn copy_workspace(to: &Path) -> Done {
    let files = git(&["ls-files", "--cached", "--others", "--exclude-standard"])?;
    let useful = |file: &&str| !NOT_COPIED.iter().any(|folder| file.starts_with(folder));
    let files: BTreeSet<&str> = files.lines().filter(useful).collect();
    remove_others(to, to, &files).map_err(|e| format!("{}: {e}", to.display()))?;
    for file in &files {
        let (from, to) = (root().join(file), to.join(file));
        let copied =
            fs::create_dir_all(to.parent().unwrap_or(&to)).and_then(|()| match from.exists() {
                // An unchanged file keeps its time, so that it is not compiled again.
                true if fs::read(&from)? == fs::read(&to).unwrap_or_default() => Ok(()),
                true => fs::copy(&from, &to).map(drop),
                false => Ok(()),
            });
        copied.map_err(|e| format!("{}: {e}", to.display()))?;
    }
    let lock = to.join("Cargo.lock");
    fs::remove_file(&lock).map_err(|e| format!("{}: {e}", lock.display()))
}

/// Removes the files in `folder` whose paths below `copy` are not among `files`.
fn remove_others(copy: &Path, folder: &Path, files: &BTreeSet<&str>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_others(copy, &path, files)?;
            continue;
        }
        let below = path.strip_prefix(copy).ok().and_then(Path::to_str);
        if !below.is_some_and(|below| files.contains(below)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_loses_the_files_that_have_gone() -> io::Result<()> {
        let copy = target().join("xtask-tests/copy");
        fs::create_dir_all(copy.join("src/old"))?;
        for file in ["src/lib.rs", "src/old.rs", "src/old/mod.rs"] {
            fs::write(copy.join(file), "")?;
        }
        remove_others(&copy, &copy, &BTreeSet::from(["src/lib.rs", "src/new.rs"]))?;
        let there = |file: &str| copy.join(file).exists();
        assert!(there("src/lib.rs"));
        assert!(!there("src/old.rs"));
        assert!(!there("src/old/mod.rs"));
        Ok(())
    }
}
