//! The packages of the workspace, who depends on whom, and which of them a change touches.

use cargo_metadata::{MetadataCommand, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::step::root;

/// Names of packages.
pub(crate) type Names = BTreeSet<String>;

/// Files outside of a package's folder that its tests read. The longest prefix counts.
const READ_BY: &[(&str, &[&str])] = &[
    (
        "crates/connection/src",
        &["zorb-connection", "zorb-connection-models"],
    ),
    (
        "crates/executor/src",
        &["zorb-executor", "zorb-executor-models"],
    ),
    (
        "crates/executor/models/threads.rs",
        &[
            "zorb-executor-models",
            "zorb-connection-models",
            "zorb-shm-models",
        ],
    ),
    ("crates/poa/src", &["zorb-poa", "zorb-poa-models"]),
    ("crates/shm/src", &["zorb-shm", "zorb-shm-models"]),
    ("tests/support", &["zorb-workspace", "zorb-cli"]),
    ("tests/interop", &["zorb-workspace", "zorb-cdr"]),
    ("tests/wire", &["zorb-workspace", "zorb-cli"]),
    ("README.md", &["zorb-workspace", "zorb", "zorb-cli"]),
    ("docs/figures", &["zorb-measure"]),
    ("docs/papers.md", &["zorb-measure", "zorb-workspace"]),
    ("docs", &["zorb-workspace", "zorb", "zorb-cli"]),
    ("benches/instructions.txt", &["zorb-measure"]),
];

/// Files that every package is built with.
const READ_BY_ALL: [&str; 3] = ["Cargo.toml", "Cargo.lock", ".cargo/config.toml"];

/// The workspace, as `cargo metadata` describes it.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Folders relative to the root, by package.
    folders: BTreeMap<String, PathBuf>,
    /// The members that each member depends on, for its tests or otherwise.
    dependencies: BTreeMap<String, Names>,
    /// Programs that have unit tests. The others are built only for the tests that start them.
    pub(super) bins: Vec<String>,
    /// Test targets, each behind its package.
    pub(super) tests: Vec<(String, String)>,
    /// Every target but libraries.
    targets: Vec<NamedTarget>,
    /// The oldest Rust that the manifests promise.
    pub(crate) rust_version: String,
}

/// A target that cargo is given by its name.
#[derive(Debug)]
pub(super) struct NamedTarget {
    package: String,
    /// Cargo's argument for its kind, such as `--bench`.
    pub(super) flag: &'static str,
    name: String,
    /// The folder of its main source file, relative to the root.
    folder: PathBuf,
}

impl NamedTarget {
    /// Whether one of `files`, relative to the root, is in the folder of its source.
    pub(super) fn has_any(&self, files: &[PathBuf]) -> bool {
        files.iter().any(|file| file.starts_with(&self.folder))
    }
}

impl Workspace {
    /// Asks `cargo metadata`.
    ///
    /// # Errors
    /// It fails, or no package has a `rust-version`.
    pub(crate) fn read() -> Result<Self, String> {
        let metadata = MetadataCommand::new()
            .manifest_path(root().join("Cargo.toml"))
            .no_deps()
            .exec()
            .map_err(|e| e.to_string())?;
        let mut folders = BTreeMap::new();
        let mut dependencies = BTreeMap::new();
        let mut bins = Vec::new();
        let mut tests = Vec::new();
        let mut targets = Vec::new();
        let mut rust_version = None;
        for package in metadata.workspace_packages() {
            let folder = package.manifest_path.parent().map(|f| f.as_std_path());
            let folder = folder.and_then(|f| f.strip_prefix(root()).ok());
            let folder = folder.ok_or_else(|| format!("{}: no folder", package.name))?;
            let name = package.name.to_string();
            folders.insert(name.clone(), folder.to_path_buf());
            // The items that a feature alone adds are tested with the features.
            let runs = |target: &&Target| target.is_test() && target.required_features.is_empty();
            for target in package.targets.iter().filter(runs) {
                tests.push((name.clone(), target.name.clone()));
            }
            let plain = package.targets.iter();
            for target in plain.filter(|target| target.required_features.is_empty()) {
                let folder = target.src_path.parent().map(|f| f.as_std_path());
                let folder = folder.and_then(|f| f.strip_prefix(root()).ok());
                if let (Some(flag), Some(folder)) = (flag(target), folder) {
                    targets.push(NamedTarget {
                        package: name.clone(),
                        flag,
                        name: target.name.clone(),
                        folder: folder.to_path_buf(),
                    });
                }
            }
            let tested = |target: &&Target| {
                target.is_bin() && target.test && target.required_features.is_empty()
            };
            let programs = package.targets.iter().filter(tested);
            bins.extend(programs.map(|target| target.name.clone()));
            let local = package.dependencies.iter().filter(|d| d.path.is_some());
            dependencies.insert(name, local.map(|d| d.name.clone()).collect());
            rust_version = rust_version.max(package.rust_version.clone());
        }
        Ok(Self {
            folders,
            dependencies,
            bins,
            tests,
            targets,
            rust_version: rust_version.ok_or("no rust-version")?.to_string(),
        })
    }

    /// The package in this folder.
    pub(crate) fn package_in(&self, folder: &Path) -> Option<String> {
        let found = self
            .folders
            .iter()
            .find(|(_, of)| root().join(of) == folder);
        found.map(|(name, _)| name.clone())
    }

    /// The targets of these packages of which `is_wanted` is true, as cargo's arguments.
    pub(super) fn targets_of(
        &self,
        packages: &Names,
        is_wanted: impl Fn(&NamedTarget) -> bool,
    ) -> Vec<String> {
        let all = self.targets.iter();
        let wanted = all.filter(|target| packages.contains(&target.package) && is_wanted(target));
        wanted
            .flat_map(|target| [target.flag.to_owned(), target.name.clone()])
            .collect()
    }

    /// The programs of each package that cargo builds without further features.
    pub(super) fn programs(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all = BTreeMap::<_, BTreeSet<_>>::new();
        for target in self.targets.iter().filter(|target| target.flag == "--bin") {
            let of_package = all.entry(target.package.clone()).or_default();
            of_package.insert(target.name.clone());
        }
        all
    }

    /// The package that a person calls so: with or without `zorb-`.
    ///
    /// # Errors
    /// There is none; names those that there are.
    pub(crate) fn named(&self, name: &str) -> Result<String, String> {
        let full = format!("zorb-{name}");
        let found = [name, &full]
            .into_iter()
            .find(|n| self.folders.contains_key(*n));
        found.map(str::to_owned).ok_or_else(|| {
            let all = self.folders.keys().map(|n| n.trim_start_matches("zorb-"));
            format!(
                "no package is called {name}; there are {}",
                all.collect::<Vec<_>>().join(", ")
            )
        })
    }

    /// The packages that a changed file belongs to, or whose tests read it.
    fn owners(&self, file: &Path) -> Names {
        if READ_BY_ALL.iter().any(|all| file == Path::new(all)) {
            return self.folders.keys().cloned().collect();
        }
        let read_by = READ_BY
            .iter()
            .filter(|(prefix, _)| file.starts_with(prefix));
        if let Some((_, names)) = read_by.max_by_key(|(prefix, _)| prefix.len()) {
            return names.iter().map(|&n| n.to_owned()).collect();
        }
        let holds = self
            .folders
            .iter()
            .filter(|(_, folder)| file.starts_with(folder));
        let innermost = holds.max_by_key(|(_, folder)| folder.components().count());
        innermost
            .into_iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The packages that these files belong to, or whose tests read them.
    pub(crate) fn owners_of(&self, files: &[PathBuf]) -> Names {
        files.iter().flat_map(|file| self.owners(file)).collect()
    }

    /// `packages`, and every package that depends on one of them.
    pub(crate) fn with_dependents(&self, packages: &Names) -> Names {
        let mut all = packages.clone();
        loop {
            let uses = |of: &Names| of.iter().any(|d| all.contains(d));
            let more: Names = self
                .dependencies
                .iter()
                .filter(|(name, of)| !all.contains(*name) && uses(of))
                .map(|(name, _)| name.clone())
                .collect();
            if more.is_empty() {
                return all;
            }
            all.extend(more);
        }
    }
}

/// The files that changed since `revision`, in the index, the work tree or untracked; relative to the root.
///
/// # Errors
/// git fails.
pub(crate) fn changed_files(revision: &str) -> Result<Vec<PathBuf>, String> {
    let tracked = git(&["diff", "--name-only", "--no-renames", revision, "--"])?;
    let untracked = git(&["ls-files", "--others", "--exclude-standard"])?;
    let files = tracked.lines().chain(untracked.lines());
    Ok(files.map(PathBuf::from).collect())
}

/// Cargo's argument for a target; `None` for a library.
fn flag(target: &Target) -> Option<&'static str> {
    let of_kind = [
        (Target::is_bin as fn(&Target) -> bool, "--bin"),
        (Target::is_test, "--test"),
        (Target::is_example, "--example"),
        (Target::is_bench, "--bench"),
    ];
    let found = of_kind.into_iter().find(|(is_kind, _)| is_kind(target));
    Some(found?.1)
}

/// The output of git, run at the root.
///
/// # Errors
/// It does not start, or fails; with what it says.
pub(crate) fn git(args: &[&str]) -> Result<String, String> {
    let output = Command::new("git").current_dir(root()).args(args).output();
    let output = output.map_err(|e| format!("git does not start: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Names {
        of.iter().map(|&n| n.to_owned()).collect()
    }

    #[test]
    fn a_changed_file_belongs_to_the_innermost_package() {
        let workspace = Workspace::read().unwrap();
        for (file, expected) in [
            ("crates/cdr/src/limits.rs", &["zorb-cdr"][..]),
            ("benches/claims/poa/main.rs", &["zorb-claims"]),
            ("benches/latency.rs", &["zorb-workspace"]),
            ("tests/orb/main.rs", &["zorb-workspace"]),
            ("tests/support/mod.rs", &["zorb-cli", "zorb-workspace"]),
            ("docs/mapping.md", &["zorb", "zorb-cli", "zorb-workspace"]),
            ("docs/figures/callers.csv", &["zorb-measure"]),
        ] {
            assert_eq!(workspace.owners(Path::new(file)), names(expected), "{file}");
        }
        let all = workspace.owners(Path::new("Cargo.lock"));
        assert!(all.len() > 10 && all.contains("zorb-idl"), "{all:?}");
    }

    #[test]
    fn a_benchmark_changes_with_a_file_beside_it() {
        let workspace = Workspace::read().unwrap();
        let benches = |file: &str| {
            let files = [PathBuf::from(file)];
            workspace.targets_of(&names(&["zorb-cdr"]), |target| {
                target.flag == "--bench" && target.has_any(&files)
            })
        };
        assert_eq!(benches("crates/cdr/src/limits.rs"), [""; 0]);
        let beside = benches("crates/cdr/benches/cdr.rs");
        assert!(beside.starts_with(&["--bench".to_owned()]), "{beside:?}");
    }

    #[test]
    fn every_file_that_a_package_reads_elsewhere_is_there() {
        let workspace = Workspace::read().unwrap();
        for (file, packages) in READ_BY {
            assert!(root().join(file).exists(), "{file}");
            for package in *packages {
                assert!(workspace.folders.contains_key(*package), "{package}");
            }
        }
    }

    #[test]
    fn dependents_are_found_at_any_distance() {
        let workspace = Workspace::read().unwrap();
        let of_cdr = workspace.with_dependents(&names(&["zorb-cdr"]));
        for name in [
            "zorb-cdr",
            "zorb-giop",
            "zorb",
            "zorb-cli",
            "zorb-workspace",
        ] {
            assert!(of_cdr.contains(name), "{name} stands on zorb-cdr");
        }
        assert!(!of_cdr.contains("zorb-executor"));
        let of_cli = workspace.with_dependents(&names(&["zorb-cli"]));
        assert_eq!(of_cli, names(&["zorb-cli"]));
    }

    /// A program that gets its first test has to lose its `test = false`.
    #[test]
    fn programs_whose_tests_are_switched_off_have_none() {
        let metadata = MetadataCommand::new().no_deps().exec().unwrap();
        let packages = metadata.workspace_packages();
        let programs = packages.iter().flat_map(|package| &package.targets);
        let untested = programs.filter(|target| target.is_bin() && !target.test);
        let mut read = 0;
        for target in untested {
            let main = std::fs::read_to_string(&target.src_path).unwrap();
            let folder = target.src_path.parent().unwrap();
            let modules = main.lines().filter_map(|line| {
                let name = line.strip_prefix("mod ")?.strip_suffix(';')?;
                std::fs::read_to_string(folder.join(name).with_extension("rs")).ok()
            });
            for source in std::iter::once(main.clone()).chain(modules) {
                assert!(!source.contains("#[test]"), "{}", target.name);
                read += 1;
            }
        }
        assert!(read >= 7, "{read}");
    }

    #[test]
    fn packages_are_named_with_or_without_prefix() {
        let workspace = Workspace::read().unwrap();
        assert_eq!(workspace.named("cdr").unwrap(), "zorb-cdr");
        assert_eq!(workspace.named("zorb-cdr").unwrap(), "zorb-cdr");
        assert_eq!(workspace.named("zorb").unwrap(), "zorb");
        assert_eq!(workspace.named("xtask").unwrap(), "xtask");
        let refusal = workspace.named("cdx").unwrap_err();
        assert!(
            refusal.contains("cdx") && refusal.contains("giop"),
            "{refusal}"
        );
    }
}
