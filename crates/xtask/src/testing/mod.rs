//! `cargo xtask test`: everything, in phases that can also be run one by one; `cargo xtask check`: what a change
//! touches.

mod atm;
mod beside;
pub(crate) mod check;
mod executables;
mod packages;
mod summary;
mod workspace;

use crate::measure;
use beside::Beside;
use clap::{Args, ValueEnum};
use executables::{Executable, Setting, Warnings};
pub(crate) use packages::public_items::run as public_items;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};
use summary::Summary;
use workspace::Workspace;
use xtask::step::{self, Done, root};
use xtask::{cells, machine, peers};

/// Arguments of `test`.
#[derive(Args, Debug)]
#[group(id = "testing")]
pub(crate) struct TestOptions {
    /// Phases to run; all of them unless named
    phases: Vec<Phase>,
    /// Skip what needs another ORB or a tool that Rust does not bring
    #[arg(long)]
    no_peers: bool,
    /// Have clippy compile the tests, and fail on its warnings
    #[arg(long)]
    deny_warnings: bool,
    /// Run every experiment besides, in its short form
    #[arg(long)]
    figures: bool,
    /// Handed to the test executables: names or parts of them, options of libtest
    #[arg(last = true)]
    test_args: Vec<String>,
}

impl TestOptions {
    const fn warnings(&self) -> Warnings {
        match self.deny_warnings {
            true => Warnings::Denied,
            false => Warnings::Shown,
        }
    }
}

/// A part of the tests, in the order in which they run. Attacks and experiments come last: beside the checks of packages they
/// would wait for cargo's lock on the target folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Phase {
    /// Unit and integration tests that need nothing but this workspace
    Unit,
    /// Loom models of what threads share: parts of a connection, the queue of a worker pool, the object adapter
    Models,
    /// omniORB, JacORB, their naming services and tools
    Peers,
    /// Circuits of ATM, in a virtual machine whose kernel has them
    Atm,
    /// Tests that start rustc or cargo: diagnostics, rebuilds, whole collections of IDL, pages and examples, doc tests
    Compilers,
    /// Attacks on a server in a process of its own, in their short form: memory and descriptors, but no times
    Attacks,
    /// The experiments in their short form, to see that they run. Not among the phases unless it is named or asked for
    /// by `--figures`
    Figures,
    /// Each package by itself: features, documentation, Rust and dependency versions, licences, no_std, public items.
    /// Begins when the tests are built, and runs beside the other phases
    Packages,
}

/// Test targets that do not belong to [`Phase::Unit`].
const ELSEWHERE: [(&str, &str, Phase); 18] = [
    ("zorb-executor-models", "pool-models", Phase::Models),
    ("zorb-connection-models", "models", Phase::Models),
    ("zorb-poa-models", "models", Phase::Models),
    ("zorb-shm-models", "ring-models", Phase::Models),
    ("zorb-workspace", "peers", Phase::Peers),
    ("zorb-atm", "circuits", Phase::Atm),
    ("zorb-workspace", "atm", Phase::Atm),
    ("zorb-cli", "names", Phase::Peers),
    ("zorb-cli", "pages", Phase::Peers),
    ("zorb-named", "foreign", Phase::Peers),
    ("zorb-named", "engines", Phase::Peers),
    ("as-needed", "designs", Phase::Peers),
    ("quotes", "processes", Phase::Peers),
    ("zorb-events", "foreign", Phase::Peers),
    ("zorb-bridge", "nats", Phase::Peers),
    ("zorb-properties", "daemon", Phase::Peers),
    ("zorb-log", "daemon", Phase::Peers),
    ("zorb-workspace", "compilers", Phase::Compilers),
];

impl Phase {
    /// Seconds that a phase may take on two CPUs, beside the packages, with nothing in the target folder but what the
    /// build step has made. A phase that takes longer is no failure; it is a reason to look for what has become slow.
    const fn budget(self) -> Duration {
        Duration::from_secs(match self {
            Self::Unit => 90,
            Self::Models => 30,
            Self::Peers => 120,
            Self::Atm => 60,
            Self::Compilers => 180,
            Self::Attacks => 45,
            Self::Figures => 180,
            // Beside the others.
            Self::Packages => 400,
        })
    }

    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether it consists of test executables.
    const fn has_executables(self) -> bool {
        !matches!(self, Self::Packages | Self::Attacks | Self::Figures)
    }

    fn of(executable: &Executable) -> Self {
        match executable.is_unit {
            true => Self::Unit,
            false => Self::of_test(&executable.package, &executable.target),
        }
    }

    /// The phase of a test target.
    fn of_test(package: &str, target: &str) -> Self {
        let here = |of: &&(&str, &str, Self)| (of.0, of.1) == (package, target);
        let phase = ELSEWHERE.iter().find(here);
        phase.map_or(Self::Unit, |(_, _, phase)| *phase)
    }

    /// The targets that cargo builds for phases, as its arguments; none for everything.
    fn targets(phases: &[Self], workspace: &Workspace) -> Vec<String> {
        let mut with_executables = Self::value_variants()
            .iter()
            .filter(|phase| phase.has_executables());
        if with_executables.all(|phase| phases.contains(phase)) {
            return Vec::new();
        }
        let mut args = Vec::new();
        if phases.contains(&Self::Unit) {
            args.push("--lib".to_owned());
            let bins = workspace.bins.iter();
            args.extend(bins.flat_map(|bin| ["--bin".to_owned(), bin.clone()]));
        }
        if phases.contains(&Self::Compilers) {
            args.push("--examples".to_owned());
        }
        for (package, target) in &workspace.tests {
            if phases.contains(&Self::of_test(package, target)) {
                args.extend(["--test".to_owned(), target.clone()]);
            }
        }
        args
    }
}

/// Seconds for which the tests of the workspace are built from an empty target folder.
const BUILD: Duration = Duration::from_secs(250);

/// Seconds for which the peers are built beside the tests.
const PEERS: Duration = Duration::from_secs(90);

/// Seconds for which the packages and the kernel of the machine are fetched.
const MACHINE: Duration = Duration::from_secs(90);

/// The times of the steps so far, for the end.
#[derive(Debug, Default)]
struct Times(Vec<(String, Duration, Duration)>);

impl Times {
    /// Runs a step, and says how long it took.
    fn step<T>(
        &mut self,
        name: &str,
        budget: Duration,
        step: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        println!("==> {name}");
        let started = Instant::now();
        let done = step();
        let took = started.elapsed();
        let verdict = if done.is_ok() { "passed" } else { "failed" };
        println!("==> {name} {verdict}: {}", self::took(took, budget));
        self.add(name, took, budget);
        done
    }

    /// Adds a step that has measured itself.
    fn add(&mut self, name: &str, took: Duration, budget: Duration) {
        self.0.push((name.to_owned(), took, budget));
    }

    fn show(&self) {
        for (name, time, budget) in &self.0 {
            println!("    {name:10} {}", took(*time, *budget));
        }
    }
}

/// Writes `12 s of 45 s`.
fn took(time: Duration, budget: Duration) -> String {
    let over = if time > budget {
        ", over its budget"
    } else {
        ""
    };
    format!("{} s of {} s{over}", time.as_secs(), budget.as_secs())
}

/// Readies the peers, runs the chosen phases, and counts the interop cells if all peers' tests were run.
///
/// # Errors
/// A peer cannot be made ready, a test fails, or other cells ran than are expected.
pub(crate) fn run(options: &TestOptions) -> Done {
    let chosen = |phase: &Phase| match options.phases.as_slice() {
        [] => options.figures || *phase != Phase::Figures,
        named => named.contains(phase),
    };
    let phases: Vec<_> = Phase::value_variants()
        .iter()
        .copied()
        .filter(chosen)
        .collect();
    let workspace = Workspace::read()?;
    let mut times = Times::default();
    let with_peers = !options.no_peers
        && phases
            .iter()
            .any(|p| matches!(p, Phase::Peers | Phase::Compilers));
    let counted = with_peers && options.phases.is_empty() && options.test_args.is_empty();
    if counted {
        start_record()?;
    }
    let mut variables = vec![(
        "ZORB_PEERS",
        if with_peers { "require" } else { "skip" }.into(),
    )];
    if counted {
        variables.push(("ZORB_CELLS", cells::record().into()));
    }
    let setting = Setting {
        args: options.test_args.clone(),
        variables,
        runner: None,
    };
    let with_machine = phases.contains(&Phase::Atm) && !options.no_peers;
    // Not beside cargo, whose linker may be among what they replace.
    if with_peers {
        peers::install_packages()?;
    }
    if with_machine {
        // A failure is met again where the machine is made, and fails no test.
        let _ = machine::install_packages();
    }
    let (executables, machine) = thread::scope(|scope| {
        // Beside cargo, which leaves a CPU idle at times; a network may be waited for, too.
        let prepared = scope.spawn(|| prepare(with_peers, with_machine));
        let mut executables = Vec::new();
        if phases.iter().any(|phase| phase.has_executables()) {
            let targets = Phase::targets(&phases, &workspace);
            times.step("tests are built", BUILD, || {
                executables::build(&workspace, &targets, options.warnings(), |built| {
                    executables.push(built);
                })
            })?;
        }
        let (machine, more) = prepared.join().map_err(|_| "a thread panicked")??;
        times.0.extend(more.0);
        Ok::<_, String>((executables, machine))
    })?;
    let mut beside = match phases.as_slice() {
        [.., _, Phase::Packages] => Some(Beside::start(&Phase::Packages.name())?),
        _ => None,
    };
    let mut all = Summary::default();
    for phase in phases {
        if phase == Phase::Packages
            && let Some(packages) = beside.take()
        {
            times.add(&phase.name(), packages.end()?, phase.budget());
            all.add(&packages::all());
            continue;
        }
        let summary = times.step(&phase.name(), phase.budget(), || {
            match phase {
                Phase::Packages => return packages::run(&workspace),
                Phase::Attacks => {
                    return measure::quickly("attack").map(|()| Summary::default());
                }
                Phase::Figures => {
                    return measure::quickly("figures").map(|()| Summary::default());
                }
                _ => {}
            }
            let of_phase = |e: &&Executable| Phase::of(e) == phase;
            let of_phase: Vec<_> = executables.iter().filter(of_phase).collect();
            if phase == Phase::Atm {
                return atm::run_all(&of_phase, &setting, &machine);
            }
            let mut summary = executables::run(&of_phase, &setting)?;
            if phase == Phase::Compilers {
                summary.add(&doc_tests(&setting.args)?);
            }
            Ok(summary)
        })?;
        all.add(&summary);
    }
    times.show();
    if counted {
        cells::show()?;
    }
    println!("{all}");
    Ok(())
}

/// Readies the peers, then the machine for ATM; gives why there is no machine, and the times of both.
///
/// # Errors
/// A peer cannot be made ready.
fn prepare(peers: bool, machine: bool) -> Result<(Done, Times), String> {
    let mut times = Times::default();
    if peers {
        times.step("peers are built", PEERS, peers::ready)?;
    }
    let machine = match machine {
        false => Err("--no-peers says so".to_owned()),
        // A file that cannot be made fails no test.
        true => times.step("the machine for ATM is made", MACHINE, || {
            Ok(machine::ready())
        })?,
    };
    Ok((machine, times))
}

/// The tests of documentation, which only rustdoc can build.
fn doc_tests(args: &[String]) -> Result<Summary, String> {
    let mut test = step::cargo();
    test.current_dir(root())
        .args(["test", "--quiet", "--workspace", "--doc"]);
    if !args.is_empty() {
        test.arg("--").args(args);
    }
    let output = step::output(&mut test)?;
    let summary = Summary::of(&output);
    println!("    documentation: {summary}");
    Ok(summary)
}

/// Empties the record of interop cells.
fn start_record() -> Done {
    let record = cells::record();
    if let Some(folder) = record.parent() {
        fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    }
    fs::write(&record, "").map_err(|e| format!("cannot write {}: {e}", record.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target that was renamed would run in another phase, without its peers.
    #[test]
    fn every_target_with_a_phase_of_its_own_is_there() {
        let workspace = Workspace::read().unwrap();
        for (package, target, _) in ELSEWHERE {
            let test = (package.to_owned(), target.to_owned());
            assert!(workspace.tests.contains(&test), "{package} has no {target}");
        }
    }

    #[test]
    fn times_are_shown_beside_budgets() {
        let (short, long) = (Duration::from_millis(1_900), Duration::from_secs(61));
        let budget = Duration::from_secs(60);
        assert_eq!(took(short, budget), "1 s of 60 s");
        assert_eq!(took(long, budget), "61 s of 60 s, over its budget");
    }

    #[test]
    fn a_phase_builds_its_own_targets_and_all_phases_build_everything() {
        let workspace = Workspace::read().unwrap();
        let models = Phase::targets(&[Phase::Models], &workspace);
        assert_eq!(models.len(), 8, "{models:?}");
        for target in ["models", "pool-models", "ring-models"] {
            assert!(models.contains(&target.to_owned()), "{models:?}");
        }
        let unit = Phase::targets(&[Phase::Unit], &workspace);
        assert!(unit.contains(&"--lib".to_owned()) && unit.contains(&"orb".to_owned()));
        assert!(!unit.contains(&"peers".to_owned()));
        let all = Phase::targets(Phase::value_variants(), &workspace);
        assert!(all.is_empty(), "{all:?}");
    }
}
