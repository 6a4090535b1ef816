//! `cargo xtask check`: the loop of one change.

use super::executables::{self, Executable, Setting, Warnings};
use super::summary::Summary;
use super::workspace::{self, Names, Workspace};
use super::{Phase, Times};
use clap::Args;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use xtask::step::{self, Done, TEST, root};

/// How the names of packages of models end.
const MODELS: &str = "-models";

/// The test that runs longest. It is built before other tests, so that it runs while they are built.
const LONGEST: &str = "orb";

/// Variables for random tests: a quarter of the cases that `cargo xtask test` has them try.
const RANDOM: [(&str, &str); 2] = [("PROPTEST_CASES", "64"), ("ZORB_MUTATIONS", "4")];

/// Arguments of `check`.
#[derive(Args, Debug)]
#[group(id = "checking")]
pub(crate) struct CheckOptions {
    /// Packages, with or without `zorb-`; those with changes unless named
    packages: Vec<String>,
    /// Checks what has changed since this revision
    #[arg(long, default_value = "HEAD")]
    since: String,
}

/// Checks formatting, lints, and the tests of packages and their dependents that need no peer.
///
/// Of the packages that have changed, libraries, programs and tests are built and linted; of the others the libraries and what
/// is run here: cargo compiles of them what a change touches. Which tests it affects cargo does not say; they are chosen here.
/// Peers, compilers, models, examples and benchmarks are left to `cargo xtask test`; except examples and benchmarks that have
/// changed, and the models of connections and of the object adapter where their source has. Random tests try a quarter of their
/// cases, unless the environment says how many.
///
/// # Errors
/// A check or a test fails; no package is called so; git fails.
pub(crate) fn run(options: &CheckOptions) -> Done {
    let workspace = Workspace::read()?;
    let files = workspace::changed_files(&options.since)?;
    let changed: Names = if options.packages.is_empty() {
        workspace.owners_of(&files)
    } else {
        let named = options.packages.iter().map(|name| workspace.named(name));
        named.collect::<Result<_, _>>()?
    };
    if changed.is_empty() {
        println!("nothing has changed since {}; see --since", options.since);
        return Ok(());
    }
    let affected = workspace.with_dependents(&changed);
    let list = |names: &Names| {
        names
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    println!("changed: {}", list(&changed));
    println!("tested:  {}", list(&affected));

    let mut times = Times::default();
    let is_chosen = |executable: &Executable| match Phase::of(executable) {
        Phase::Unit => affected.contains(&executable.package),
        Phase::Models => changed.contains(&executable.package),
        _ => false,
    };
    let unset = RANDOM
        .into_iter()
        .filter(|(name, _)| std::env::var_os(name).is_none());
    let variables = std::iter::once(("ZORB_PEERS", "skip")).chain(unset);
    let setting = Setting {
        args: Vec::new(),
        variables: variables
            .map(|(name, value)| (name, value.into()))
            .collect(),
        runner: None,
    };
    let summary: Summary = times.step("checks", Duration::from_secs(60), || {
        let (chosen, queue) = mpsc::channel();
        // Crates are compiled one after the other where one depends on the other, and many tests wait: together they keep
        // the CPUs busy.
        thread::scope(|scope| {
            let formatted = scope.spawn(|| {
                let mut fmt = step::cargo();
                step::run(fmt.current_dir(root()).args(["fmt", "--all", "--check"]))
            });
            let running = scope.spawn(|| executables::run_queue(queue, &setting));
            let built = build(&workspace, &changed, &files, |executable| {
                if is_chosen(&executable) {
                    let _ = chosen.send(executable);
                }
            });
            drop(chosen);
            let ran = running.join().map_err(|_| "a thread panicked")?;
            let formatted = formatted.join().map_err(|_| "a thread panicked")?;
            built.and(formatted).and(ran)
        })
    })?;
    times.show();
    println!("{summary}");
    Ok(())
}

/// Builds the tests that need no peer, the programs of the packages that have changed, and of their examples and benchmarks
/// those beside which a file has changed.
fn build(
    workspace: &Workspace,
    changed: &Names,
    files: &[PathBuf],
    mut built: impl FnMut(Executable),
) -> Done {
    let phases: &[Phase] = match changed.iter().any(|name| name.ends_with(MODELS)) {
        true => &[Phase::Unit, Phase::Models],
        false => &[Phase::Unit],
    };
    let mut tests = Phase::targets(phases, workspace);
    tests.extend(workspace.targets_of(changed, |target| target.flag == "--test"));
    let early = ["--lib", "--test", LONGEST].map(str::to_owned);
    let mut seen = BTreeSet::new();
    for targets in [&early[..], &tests] {
        executables::build(workspace, targets, Warnings::Denied, |executable| {
            if seen.insert(executable.program.clone()) {
                built(executable);
            }
        })?;
    }
    // Other targets than tests have warnings as well.
    let others = workspace.targets_of(changed, |target| match target.flag {
        "--test" => false,
        "--bin" => true,
        _ => target.has_any(files),
    });
    if !others.is_empty() {
        // With a test among them, programs are those that tests have started, and not made anew beside these.
        let mut args = vec!["build", "--workspace", "--test", TEST];
        args.extend(others.iter().map(String::as_str));
        executables::compile(&args, Warnings::Denied, |_| Ok(()))?;
    }
    Ok(())
}
