//! `cargo xtask claims waiting`: what the default wait policy costs beside parking while the machine has other things
//! to do.

use super::ClaimsOptions;
use super::neighbours::Neighbours;
use crate::compare::{Cell, once};
use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::run::{Sample, Work};
use crate::measure::statistics::median;
use crate::measure::{programs, tools};
use crate::row::{Aim, Row};

/// The other load of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Load {
    Quiet,
    /// So many loops on each CPU, run by these words.
    Loops(usize, &'static [&'static str]),
    /// Tasks that compute, in the runtimes of both programs.
    Tasks,
}

const LOADS: [(&str, Load); 6] = [
    ("quiet", Load::Quiet),
    ("nice-0", Load::Loops(1, &["nice", "-n", "0"])),
    ("nice-19", Load::Loops(1, &["nice", "-n", "19"])),
    ("sched-idle", Load::Loops(1, &["chrt", "--idle", "0"])),
    ("three-nice-19", Load::Loops(3, &["nice", "-n", "19"])),
    ("tokio-tasks", Load::Tasks),
];

/// So many calls that a spin which loses the CPU once, at the beginning, does not decide the mean.
const WORK: Work = Work {
    op: "noparams",
    size: 0,
    iters: 20_000,
    warmup: 4_000,
    threads: 1,
};
/// Of those, one in so many beside busy tasks: a tokio worker with tasks that are always ready looks at its sockets
/// once in some sixty polls of them, so that a call takes milliseconds.
const TASKS_SHARE: usize = 20;
/// The mean of the default policy may be this much of that of parking.
const MEAN: f64 = 1.1;
/// The share of omniORB's time that spinning aims at, on a quiet machine with a CPU for each program.
const OF_OMNIORB: f64 = 0.3;

fn mean_us(sample: &Sample) -> f64 {
    1e6 / sample.calls_per_s
}

/// Measures the loads whose names contain one of the words, or all, with a CPU for each program.
///
/// # Errors
/// A program does not build, run or end.
pub(super) fn rows(options: &ClaimsOptions) -> Result<Vec<Row>, String> {
    programs::ready()?;
    tools::ready(&["taskset"])?;
    let (rounds, share) = options.compare.effort();
    let cpus = Cpus::pick()?;
    let number = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = programs::folder();
    options.compare.wait();
    let mut rows = Vec::new();
    for (name, load) in LOADS.into_iter().filter(|(name, _)| options.wants(name)) {
        let (peers, share) = match load {
            Load::Tasks => (["zorb-default-busy", "zorb-park-busy"], share * TASKS_SHARE),
            _ => (["zorb-default", "zorb-park"], share),
        };
        let _neighbours = Neighbours::start(load, number)?;
        let mean = |peer: &str| -> Result<f64, String> {
            let peer = Peer::named(peer)?;
            let cell = Cell {
                work: WORK,
                peer,
                placement: Placement::Split,
            };
            once(&folder, &cell, share, cpus).map(|sample| mean_us(&sample))
        };
        let (mut ratios, mut of_omniorb) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (default, park) = (mean(peers[0])?, mean(peers[1])?);
            ratios.push(default / park);
            if load == Load::Quiet {
                of_omniorb.push(default / mean("omni")?);
            }
        }
        let middle = |ratios| median(ratios).unwrap_or(f64::NAN);
        let note = "mean of a call, of that of parking";
        rows.push(Row::new(name, middle(ratios), Aim::AtMost(MEAN), note));
        if !of_omniorb.is_empty() {
            let note = "mean of a call, of that of omniORB";
            rows.push(Row::new(
                "quiet/omniORB",
                middle(of_omniorb),
                Aim::AtMost(OF_OMNIORB),
                note,
            ));
        }
    }
    Ok(rows)
}
