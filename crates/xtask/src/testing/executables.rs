//! Test executables: built by one `cargo test --no-run`, and run side by side.
//!
//! `cargo test` runs one executable at a time. Most of ours hold few tests, or one that is longer than the others, and
//! leave a CPU idle.

use crate::testing::summary::Summary;
use crate::testing::workspace::Workspace;
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Artifact, Message};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;
use xtask::step::{Done, cargo, root, tool};

/// A test executable.
#[derive(Debug)]
pub(crate) struct Executable {
    pub(crate) package: String,
    /// The name of its target: of the library, the binary or the file of tests.
    pub(crate) target: String,
    /// Whether it holds the unit tests of a library or a binary.
    pub(crate) is_unit: bool,
    folder: PathBuf,
    pub(super) program: PathBuf,
}

/// How a build of the tests treats warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warnings {
    /// They are shown.
    Shown,
    /// Clippy compiles, and its warnings fail the build. What clippy compiles is not compiled for tests once more, as
    /// it would be after `cargo clippy`.
    Denied,
}

/// How executables run.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Arguments for libtest.
    pub(crate) args: Vec<String>,
    /// Variables of the environment.
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// A program that runs them; its arguments are the executable and those of libtest.
    pub(crate) runner: Option<PathBuf>,
}

/// Test threads for each CPU: many tests wait for another process, or for time to pass.
const THREADS_PER_CPU: usize = 3;

/// The variable for the milliseconds in which proptest makes a failing case smaller, and their usual number. Without a limit
/// it once took a quarter of an hour, in which the failure was not shown.
const SHRINK_TIME: (&str, &str) = ("PROPTEST_MAX_SHRINK_TIME", "60000");

/// The variable by which cargo has another program compile the workspace.
pub(crate) const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Builds tests of the workspace: the `targets` that cargo's arguments select, or everything, examples included. Calls `built`
/// with each executable as soon as it and the programs of its package are there.
///
/// All packages are built together, whatever is run of them: what cargo builds for one package alone has other
/// features, and nothing in common with this.
///
/// # Errors
/// Something does not compile, or has warnings that are [denied](Warnings::Denied).
pub(crate) fn build(
    workspace: &Workspace,
    targets: &[String],
    warnings: Warnings,
    mut built: impl FnMut(Executable),
) -> Done {
    let mut test = vec!["test", "--workspace", "--no-run"];
    test.extend(targets.iter().map(String::as_str));
    let mut tests = Tests::new(workspace);
    compile(&test, warnings, |artifact| {
        tests.add(artifact)?;
        tests.take_ready().for_each(&mut built);
        Ok(())
    })?;
    tests.held.into_iter().for_each(&mut built);
    if targets.is_empty() && warnings == Warnings::Denied {
        // Other targets than tests have warnings as well.
        let others = ["build", "--workspace", "--bins", "--benches"];
        compile(&others, warnings, |_| Ok(()))?;
    }
    Ok(())
}

/// Tests that cargo has built, until the programs of their packages are there as well: tests start them, and cargo compiles both
/// at once, in any order.
struct Tests<'a> {
    workspace: &'a Workspace,
    /// The programs that cargo has not made yet, by package.
    missing: BTreeMap<String, BTreeSet<String>>,
    held: Vec<Executable>,
}

impl<'a> Tests<'a> {
    fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            missing: workspace.programs(),
            held: Vec::new(),
        }
    }

    /// Adds what cargo has made.
    ///
    /// # Errors
    /// A test is of no package of the workspace.
    fn add(&mut self, artifact: Artifact) -> Result<(), String> {
        let Some(program) = artifact.executable else {
            return Ok(());
        };
        let folder = artifact
            .manifest_path
            .parent()
            .ok_or("a manifest without a folder")?;
        let package = self.workspace.package_in(folder.as_std_path());
        let package = package.ok_or_else(|| format!("{folder} is no package of the workspace"))?;
        let target = artifact.target;
        if artifact.profile.test {
            self.held.push(Executable {
                package,
                is_unit: !target.is_test(),
                target: target.name,
                folder: folder.into(),
                program: program.into(),
            });
        } else if target.is_bin()
            && let Some(missing) = self.missing.get_mut(&package)
        {
            missing.remove(&target.name);
        }
        Ok(())
    }

    /// Takes those that wait for no program. Unit tests start none.
    fn take_ready(&mut self) -> impl Iterator<Item = Executable> {
        let missing = &self.missing;
        let misses = |package: &str| missing.get(package).is_some_and(|left| !left.is_empty());
        (self.held).extract_if(.., move |test| test.is_unit || !misses(&test.package))
    }
}

/// Has cargo compile, and hands out what it makes.
///
/// # Errors
/// Something does not compile, or has warnings that are [denied](Warnings::Denied).
pub(super) fn compile(
    args: &[&str],
    warnings: Warnings,
    mut made: impl FnMut(Artifact) -> Result<(), String>,
) -> Done {
    eprintln!("+ cargo {}", args.join(" "));
    let mut cargo = cargo();
    cargo
        .current_dir(root())
        .args(args)
        .arg("--message-format=json")
        .stdout(Stdio::piped());
    if warnings == Warnings::Denied && std::env::var_os(WRAPPER).is_none() {
        cargo.env(WRAPPER, tool("clippy-driver"));
    }
    let mut build = cargo
        .spawn()
        .map_err(|e| format!("cargo does not start: {e}"))?;
    let stdout = build.stdout.take().ok_or("cargo has no output")?;
    let mut warned = BTreeSet::new();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        match message.map_err(|e| e.to_string())? {
            Message::CompilerMessage(message) => {
                eprint!("{}", message.message.rendered.unwrap_or_default());
                if message.message.level == DiagnosticLevel::Warning {
                    warned.insert(message.target.name);
                }
            }
            Message::CompilerArtifact(artifact) => made(artifact)?,
            _ => {}
        }
    }
    match build.wait() {
        Ok(status) if !status.success() => Err(format!("`cargo {}` fails", args.join(" "))),
        Err(e) => Err(format!("cargo cannot be waited for: {e}")),
        Ok(_) if warnings == Warnings::Denied && !warned.is_empty() => {
            let warned: Vec<_> = warned.into_iter().collect();
            Err(format!("there are warnings in {}", warned.join(", ")))
        }
        Ok(_) => Ok(()),
    }
}

/// Runs executables, the largest first; as [`run_queue`].
///
/// # Errors
/// Returns the errors of [`run_queue`].
pub(crate) fn run(executables: &[&Executable], setting: &Setting) -> Result<Summary, String> {
    let mut sorted: Vec<_> = executables.to_vec();
    sorted.sort_by_key(|e| std::cmp::Reverse(e.program.metadata().map_or(0, |m| m.len())));
    let (all, queue) = mpsc::channel();
    for executable in sorted {
        let _ = all.send(executable);
    }
    drop(all);
    run_queue(queue, setting)
}

/// Runs the executables of a queue until it is closed, as many at a time as there are CPUs. Prints of those that pass a line
/// each, of those that fail everything.
///
/// # Errors
/// One of them does not start, or fails; the others have run all the same.
pub(super) fn run_queue<E: Borrow<Executable> + Send>(
    queue: Receiver<E>,
    setting: &Setting,
) -> Result<Summary, String> {
    let queue = Mutex::new(queue);
    let done = Mutex::new((Summary::default(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..cpus() {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|queue| queue.recv().ok());
                    let Some(executable) = next else { return };
                    let outcome = executable.borrow().run(setting);
                    let Ok(mut done) = done.lock() else { return };
                    match outcome {
                        Ok(summary) => done.0.add(&summary),
                        Err(why) => done.1.push(why),
                    }
                }
            });
        }
    });
    let (summary, failed) = done.into_inner().map_err(|e| e.to_string())?;
    match failed.as_slice() {
        [] => Ok(summary),
        failed => Err(failed.join("\n")),
    }
}

impl Executable {
    /// Its name for people.
    pub(crate) fn name(&self) -> String {
        match self.is_unit {
            true => format!("{} ({} unit tests)", self.target, self.package),
            false => format!("{} ({})", self.target, self.package),
        }
    }

    fn run(&self, setting: &Setting) -> Result<Summary, String> {
        let mut command = match &setting.runner {
            None => Command::new(&self.program),
            Some(runner) => {
                let mut command = Command::new(runner);
                command.arg(&self.program);
                command
            }
        };
        // Cargo sets these for tests; proptest reads them.
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_PKG_NAME", &self.package)
            .env("CARGO_PKG_VERSION", env!("CARGO_PKG_VERSION"))
            .env("CARGO", cargo().get_program())
            .env("RUST_TEST_THREADS", test_threads())
            .env(SHRINK_TIME.0, set_or(SHRINK_TIME.0, SHRINK_TIME.1))
            .envs(setting.variables.iter().map(|(name, value)| (name, value)))
            .args(&setting.args)
            .stdin(Stdio::null());
        let name = self.name();
        let started = Instant::now();
        let output = command.output();
        let output = output.map_err(|e| format!("{name} does not start: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let summary = Summary::of(&text);
        if output.status.success() {
            let seconds = started.elapsed().as_secs_f64();
            let place = if setting.runner.is_some() {
                ", in a machine"
            } else {
                ""
            };
            println!("    {name}{place}: {summary} in {seconds:.1} s");
            return Ok(summary);
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        println!("==== {name}: {}\n{text}\n{errors}\n====", output.status);
        Err(format!("{name}: {summary}, {}", output.status))
    }
}

/// `RUST_TEST_THREADS` as it is set, or [`THREADS_PER_CPU`] for each CPU.
fn test_threads() -> OsString {
    set_or("RUST_TEST_THREADS", &(THREADS_PER_CPU * cpus()).to_string())
}

/// The variable of the environment, or this value.
fn set_or(name: &str, usual: &str) -> OsString {
    std::env::var_os(name).unwrap_or_else(|| usual.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cargo says that it has made of `zorb-cli`.
    fn made(kind: &str, name: &str, is_test: bool) -> Artifact {
        let folder = root().join("crates/cli");
        let folder = folder.display();
        let text = format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file://{folder}#zorb-cli@0.1.0",
            "manifest_path":"{folder}/Cargo.toml","target":{{"kind":["{kind}"],"crate_types":["bin"],
            "name":"{name}","src_path":"{folder}/{name}.rs","edition":"2024","doc":false,"doctest":false,"test":true}},
            "profile":{{"opt_level":"0","debuginfo":1,"debug_assertions":true,"overflow_checks":true,"test":{is_test}}},
            "features":[],"filenames":["/target/{name}"],"executable":"/target/{name}","fresh":false}}"#
        );
        match Message::parse_stream(text.replace('\n', "").as_bytes()).next() {
            Some(Ok(Message::CompilerArtifact(artifact))) => artifact,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_test_waits_for_the_program_that_it_starts() {
        let workspace = Workspace::read().unwrap();
        let mut tests = Tests::new(&workspace);
        let mut ready = |artifact| -> Vec<String> {
            tests.add(artifact).unwrap();
            tests.take_ready().map(|test| test.target).collect()
        };
        assert!(ready(made("test", "ior", true)).is_empty());
        assert_eq!(
            ready(made("bin", "zorb", true)),
            ["zorb"],
            "unit tests start nothing"
        );
        assert_eq!(ready(made("bin", "zorb", false)), ["ior"]);
        assert_eq!(ready(made("test", "ping", true)), ["ping"]);
    }
}
