//! `cargo xtask claims waiting`: the default wait policy beside parking, on a machine that is quiet and on one that is
//! not.
//!
//! Each round measures every cell with the default policy and with [`Park`](https://docs.rs/zorb), in random order,
//! beside the same load: processes that compute, one per CPU or several, at different priorities; a build; tasks that
//! compute in the same runtimes; or nothing but a quota of CPU time for the two programs.

mod neighbours;

use crate::compare::{Cell, CompareOptions, once};
use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::run::{Sample, Work};
use crate::measure::statistics::median;
use crate::measure::{programs, quiet, tools};
use crate::row::{Aim, Row};
use neighbours::{Neighbours, Quota};

/// The other load of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Load {
    Quiet,
    /// So many loops on each CPU, run by these words.
    Loops(usize, &'static [&'static str]),
    /// A build: processes that start, read, compute and end, one after the other on each CPU.
    Build,
    /// Tasks that compute, in the runtimes of both programs.
    Tasks,
    /// Both programs together may have half a CPU.
    Quota,
}

const LOADS: [(&str, Load); 8] = [
    ("quiet", Load::Quiet),
    ("nice-0", Load::Loops(1, &["nice", "-n", "0"])),
    ("nice-19", Load::Loops(1, &["nice", "-n", "19"])),
    ("sched-idle", Load::Loops(1, &["chrt", "--idle", "0"])),
    ("three-nice-19", Load::Loops(3, &["nice", "-n", "19"])),
    ("build", Load::Build),
    ("tokio-tasks", Load::Tasks),
    ("quota", Load::Quota),
];

const fn work(op: &'static str, size: usize, iters: usize) -> Work {
    Work {
        op,
        size,
        iters,
        warmup: iters / 5,
        threads: 1,
    }
}

/// So many calls that a spin which loses the CPU once, at the beginning, does not decide the mean.
const WORKS: [Work; 2] = [work("noparams", 0, 20_000), work("octet", 65_536, 8_000)];
/// Of those, one in so many beside busy tasks: a tokio worker with tasks that are always ready looks at its sockets
/// once in some sixty polls of them, so that a call takes milliseconds.
const TASKS_SHARE: usize = 20;
const PLACEMENTS: [Placement; 2] = [Placement::Same, Placement::Split];

/// The mean of the default policy may be this much of that of parking, and its p99 this much.
const MEAN: f64 = 1.1;
const P99: f64 = 2.0;
/// The share of omniORB's time that spinning aims at, on a quiet machine with a CPU for each program.
const QUIET: f64 = 0.3;

/// One cell of the matrix, with its samples by round: the default policy's, and parking's.
#[derive(Debug)]
struct Measured {
    load: &'static str,
    work: Work,
    placement: Placement,
    samples: [Vec<Sample>; 2],
}

impl Measured {
    const fn cell(&self, peer: &'static Peer) -> Cell {
        Cell {
            work: self.work,
            peer,
            placement: self.placement,
        }
    }

    /// The median, over the rounds, of what the default policy takes of what parking takes.
    fn ratio(&self, of: impl Fn(&Sample) -> f64) -> f64 {
        let [default, park] = &self.samples;
        let ratios = default.iter().zip(park).map(|(a, b)| of(a) / of(b));
        median(ratios).unwrap_or(f64::NAN)
    }

    fn rows(&self) -> [Row; 2] {
        let name = |what| format!("{}/{}/{}/{what}", self.load, self.work.op, self.placement);
        let middle = |samples: &[Sample], of: fn(&Sample) -> f64| {
            median(samples.iter().map(of)).unwrap_or(f64::NAN)
        };
        let note = |of: fn(&Sample) -> f64| {
            let [default, park] = &self.samples;
            format!("{:.1} µs of {:.1}", middle(default, of), middle(park, of))
        };
        [
            Row {
                name: name("mean"),
                measured: self.ratio(mean_us),
                aim: Aim::AtMost(MEAN),
                note: note(mean_us),
            },
            Row {
                name: name("p99"),
                measured: self.ratio(p99_us),
                aim: Aim::AtMost(P99),
                note: note(p99_us),
            },
        ]
    }
}

fn mean_us(sample: &Sample) -> f64 {
    1e6 / sample.calls_per_s
}

fn p99_us(sample: &Sample) -> f64 {
    sample.p99_ns / 1000.0
}

/// Measures the matrix.
///
/// # Errors
/// A program does not build, run or end.
pub(crate) fn rows(options: &CompareOptions, words: &[String]) -> Result<Vec<Row>, String> {
    programs::ready()?;
    tools::ready(&["taskset", "nice", "chrt"])?;
    let (rounds, share) = options.effort();
    let (cpus, number) = (Cpus::pick()?, std::thread::available_parallelism());
    let number = number.map_or(1, usize::from);
    let peers = [Peer::named("zorb-default")?, Peer::named("zorb-park")?];
    let with_tasks = [
        Peer::named("zorb-default-busy")?,
        Peer::named("zorb-park-busy")?,
    ];
    let omni = Peer::named("omni")?;
    let folder = programs::folder();
    if !options.quick {
        quiet::wait();
    }
    let mut all: Vec<Measured> = Vec::new();
    for (load, _) in LOADS {
        for work in WORKS {
            for placement in PLACEMENTS {
                let name = format!("{load}/{}/{placement}", work.op);
                if words.is_empty() || words.iter().any(|word| name.contains(word.as_str())) {
                    let samples = Default::default();
                    all.push(Measured {
                        load,
                        work,
                        placement,
                        samples,
                    });
                }
            }
        }
    }
    let mut of_omni = Vec::new();
    for round in 1..=rounds {
        for (name, load) in LOADS {
            if !all.iter().any(|measured| measured.load == name) {
                continue;
            }
            let neighbours = Neighbours::start(load, number)?;
            let quota = match load {
                Load::Quota => match Quota::set() {
                    Ok(quota) => Some(quota),
                    Err(why) => {
                        eprintln!("{name}: left out, {why}");
                        continue;
                    }
                },
                _ => None,
            };
            let (peers, share) = match load {
                Load::Tasks => (with_tasks, share * TASKS_SHARE),
                _ => (peers, share),
            };
            for measured in all.iter_mut().filter(|measured| measured.load == name) {
                let mut order = [0, 1];
                fastrand::shuffle(&mut order);
                for n in order {
                    let Some(peer) = peers.get(n) else { continue };
                    let sample = once(&folder, &measured.cell(peer), share, cpus)?;
                    if let Some(kept) = measured.samples.get_mut(n) {
                        kept.push(sample);
                    }
                }
                if load == Load::Quiet
                    && measured.placement == Placement::Split
                    && measured.work.size == 0
                {
                    let sample = once(&folder, &measured.cell(omni), share, cpus)?;
                    let own = measured.samples.first().and_then(|own| own.last());
                    of_omni.extend(own.map(|own| mean_us(own) / mean_us(&sample)));
                }
            }
            drop((neighbours, quota));
        }
        eprintln!("round {round} of {rounds}");
    }
    let measured = all
        .iter()
        .filter(|it| it.samples.iter().all(|samples| !samples.is_empty()));
    let mut rows: Vec<Row> = measured.flat_map(Measured::rows).collect();
    if let Some(measured) = median(of_omni) {
        rows.push(Row {
            name: "quiet/noparams/split/omniORB".to_owned(),
            measured,
            aim: Aim::AtMost(QUIET),
            note: "mean".to_owned(),
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(mean: f64, p99: f64) -> Sample {
        let text = format!(
            r#"{{"p50_ns":1,"p99_ns":{},"calls_per_s":{},"mbytes_per_s":0,"calls":1,"digest":"1"}}"#,
            p99 * 1000.0,
            1e6 / mean
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_policy_that_loses_the_cpu_is_short() {
        let measured = |mean, p99| Measured {
            load: "nice-19",
            work: WORKS[0],
            placement: Placement::Same,
            samples: [vec![sample(mean, p99); 3], vec![sample(40.0, 60.0); 3]],
        };
        let lines = |measured: Measured| measured.rows().map(|row| row.line());
        let [mean, p99] = lines(measured(42.0, 90.0));
        assert!(mean.contains(" ok") && p99.contains(" ok"), "{mean} {p99}");
        let [mean, p99] = lines(measured(128.0, 3600.0));
        assert!(mean.contains("short (128.0 µs of 40.0)"), "{mean}");
        assert!(p99.contains("short"), "{p99}");
    }
}
