//! `cargo xtask figures`: the experiments of the papers, redone with zorb, omniORB and raw sockets beside each other,
//! and drawn. `docs/papers.md` says what they show.

mod chart;
mod data;
mod experiments;

use crate::claims::printed;
use crate::compare::{Stat, work};
use crate::instructions::{counted, parked};
use crate::measure::instructions::parts_of_a_call;
use crate::measure::peer::Peer;
use crate::measure::place::Cpus;
use crate::measure::run::{Server, Work};
use crate::measure::{machine, programs, quiet, tools};
use clap::Args;
use data::{Data, Point};
use experiments::{EXPERIMENTS, Experiment, How, Panel, Varies, What};
use std::collections::BTreeMap;
use std::fs;
use xtask::step::{Done, root, target};

/// The experiments, and their options.
#[derive(Args, Clone, Debug)]
#[group(id = "figures")]
pub(crate) struct FiguresOptions {
    /// Experiments to redo; all of them unless named
    names: Vec<String>,
    /// A quick look at everything, into target/figures instead of docs: to see that it runs, not for figures
    #[arg(long)]
    quick: bool,
    /// Rounds; the medians of them count
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Name the experiments, and measure nothing
    #[arg(long)]
    list: bool,
    /// Draw again what was measured before
    #[arg(long)]
    redraw: bool,
}

/// Redoes experiments, and writes their data and pictures.
///
/// # Errors
/// An experiment is not known, or a program does not build, run or end.
pub(crate) fn run(options: &FiguresOptions) -> Done {
    let unknown = |name: &&String| !EXPERIMENTS.iter().any(|it| it.name == **name);
    if options.list {
        for it in EXPERIMENTS {
            let how = if matches!(it.how, How::Recorded) {
                " (recorded)"
            } else {
                ""
            };
            println!("{}: {}{how}", it.name, it.title);
        }
        return Ok(());
    }
    if let Some(name) = options.names.iter().find(unknown) {
        return Err(format!(
            "no experiment is called {name}; `--list` names them"
        ));
    }
    let chosen = |it: &&Experiment| {
        options.names.is_empty() || options.names.iter().any(|name| name == it.name)
    };
    if options.quick {
        programs::choose(programs::DEV);
    }
    let recorded = root().join("docs/figures");
    let folder = match options.quick {
        true => target().join("figures"),
        false => recorded.clone(),
    };
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut is_ready = false;
    for experiment in EXPERIMENTS.iter().filter(chosen) {
        let name = experiment.name;
        let data = if options.redraw || matches!(experiment.how, How::Recorded) {
            Data::read(&recorded.join(format!("{name}.csv")))?
        } else {
            if !is_ready {
                programs::ready()?;
                tools::ready(&["valgrind"])?;
                is_ready = true;
            }
            eprintln!("{name}: {}", experiment.title);
            let data = measured(experiment, options)?;
            if data.points.is_empty() {
                continue;
            }
            data.write(&folder.join(format!("{name}.csv")))?;
            data
        };
        let svg = chart::draw(experiment.title, experiment.x, experiment.y, &data)?;
        let file = folder.join(format!("{name}.svg"));
        fs::write(&file, svg).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

fn measured(experiment: &Experiment, options: &FiguresOptions) -> Result<Data, String> {
    let (rounds, share) = match (options.quick, &experiment.how) {
        (true, _) => (1, 20),
        // Counts do not vary, and what is printed is one run.
        (false, How::Profiled(..) | How::Printed(..)) => (1, 1),
        (false, _) => (options.rounds.max(1), 1),
    };
    let points = match &experiment.how {
        How::Recorded => Vec::new(),
        How::Timed(panels) => {
            if !options.quick
                && let Some(warning) = quiet::wait()
            {
                eprintln!("{warning}");
            }
            timed(panels, rounds, share)?
        }
        How::Printed(program, quick) => {
            let printed = printed(if options.quick { quick } else { program })?;
            printed
                .iter()
                .map(|it| Point::of(&it.panel, &it.series, (it.x, ""), &it.unit, &[it.value]))
                .collect::<Result<_, _>>()?
        }
        How::Profiled(peer, operations) => profiled(Peer::named(peer)?, operations, share)?,
    };
    let source = machine::here(rounds);
    Ok(Data { source, points })
}

/// One point of a panel: what is run for it, and its values by round.
struct Job {
    panel: &'static Panel,
    series: &'static str,
    peer: &'static Peer,
    at: (f64, &'static str),
    work: Work,
    server: Vec<String>,
    client: Vec<String>,
    values: Vec<f64>,
}

/// Runs every point once a round, in an order that is another one each round, each with a server of its own.
fn timed(panels: &'static [Panel], rounds: usize, share: usize) -> Result<Vec<Point>, String> {
    let mut jobs = Vec::new();
    for panel in panels {
        for (series, peer) in panel.series {
            add_jobs(&mut jobs, panel, series, Peer::named(peer)?);
        }
    }
    let cpus = Cpus::pick()?;
    for round in 1..=rounds {
        let mut order: Vec<&mut Job> = jobs.iter_mut().collect();
        fastrand::shuffle(&mut order);
        for job in order {
            let words = |of: &[String]| of.to_vec();
            let (for_server, for_client) = (words(&job.server), words(&job.client));
            let for_server: Vec<&str> = for_server.iter().map(String::as_str).collect();
            let for_client: Vec<&str> = for_client.iter().map(String::as_str).collect();
            let mut server = Server::start(job.peer, job.panel.placement, cpus, &[], &for_server)?;
            let sample = server.measure(&job.work.shared(share), &[], &for_client)?;
            server.end()?;
            job.values.push(match job.panel.what {
                What::Time => Stat::P50.of(&sample),
                What::Rate => Stat::CallsPerSecond.of(&sample),
                What::Flood => 8.0 * Stat::Throughput.of(&sample),
            });
        }
        eprintln!("round {round} of {rounds}, load {}", machine::load());
    }
    let point = |job: &Job| {
        let unit = match job.panel.what {
            What::Time => "µs",
            What::Rate => "calls/s",
            What::Flood => "Mbit/s",
        };
        Point::of(job.panel.title, job.series, job.at, unit, &job.values)
    };
    jobs.iter().map(point).collect()
}

fn add_jobs(jobs: &mut Vec<Job>, panel: &'static Panel, series: &'static str, peer: &'static Peer) {
    let mut add =
        |x: usize, label: &'static str, work: Work, server: &[String], client: &[String]| {
            jobs.push(Job {
                panel,
                series,
                peer,
                at: (x as f64, label),
                work,
                server: server.to_vec(),
                client: client.to_vec(),
                values: Vec::new(),
            });
        };
    match panel.varies {
        Varies::Size(op, sizes) => {
            for size in sizes {
                add(*size, "", work(op, *size), &[], &[]);
            }
        }
        Varies::Types(types) => {
            for (n, (label, op, size)) in types.iter().enumerate() {
                add(n, label, work(op, *size), &[], &[]);
            }
        }
        Varies::Servants(counts) => {
            // Sockets alone have none.
            let counts = if peer.name.starts_with("raw") {
                &counts[..1]
            } else {
                counts
            };
            for count in counts {
                let many = match count {
                    1 => Vec::new(),
                    _ => vec!["--servants".to_owned(), count.to_string()],
                };
                add(*count, "", work("noparams", 0), &many, &[]);
            }
        }
        Varies::Callers(counts) => {
            for count in counts {
                let work = work("noparams", 0);
                let iters = work.iters.max(200 * count);
                match peer.is_ours() {
                    true => {
                        let tasks = ["--in-flight".to_owned(), count.to_string()];
                        add(*count, "", Work { iters, ..work }, &[], &tasks);
                    }
                    false => {
                        let (iters, threads) = (iters / count, *count);
                        add(
                            *count,
                            "",
                            Work {
                                iters,
                                threads,
                                ..work
                            },
                            &[],
                            &[],
                        );
                    }
                }
            }
        }
    }
}

/// Instructions of a call of each operation, by where their source is, the parts with the most of them first.
fn profiled(
    peer: &'static Peer,
    operations: &[(&str, &'static str, usize)],
    share: usize,
) -> Result<Vec<Point>, String> {
    let args = parked(peer.is_ours());
    let mut all = Vec::new();
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (series, op, size) in operations {
        let work = counted(op, *size, (1_000 / share).max(20));
        let parts = parts_of_a_call(peer, work, args, args)?;
        for (panel, parts) in ["client", "server"].into_iter().zip(parts) {
            for (part, count) in parts {
                *sums.entry(part).or_default() += count;
                all.push((panel, *series, part, count));
            }
        }
    }
    let mut order: Vec<(&str, f64)> = sums.into_iter().filter(|(_, sum)| *sum >= 1.0).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut points = Vec::new();
    for (panel, series, part, count) in all {
        if let Some(place) = order.iter().position(|(name, _)| *name == part) {
            points.push(Point::of(
                panel,
                series,
                (place as f64, part),
                "instructions",
                &[count],
            )?);
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_experiment_has_peers_data_and_a_place_on_a_page() {
        let pages = ["docs/papers.md", "docs/naming-service.md"];
        let pages = pages.map(|page| fs::read_to_string(root().join(page)).unwrap());
        for experiment in EXPERIMENTS {
            let name = experiment.name;
            let picture = format!("(figures/{name}.svg)");
            assert!(
                pages.iter().any(|page| page.contains(&picture)),
                "{name} is on no page"
            );
            let data = Data::read(&root().join(format!("docs/figures/{name}.csv"))).unwrap();
            assert!(!data.points.is_empty(), "{name}");
            if let How::Timed(panels) = &experiment.how {
                for (_, peer) in panels.iter().flat_map(|panel| panel.series) {
                    assert!(Peer::named(peer).is_ok(), "{name}: {peer}");
                }
            }
        }
    }

    #[test]
    fn the_pictures_are_of_the_recorded_data() {
        let folder = root().join("docs/figures");
        for experiment in EXPERIMENTS {
            let data = Data::read(&folder.join(format!("{}.csv", experiment.name))).unwrap();
            let svg = chart::draw(experiment.title, experiment.x, experiment.y, &data).unwrap();
            let drawn =
                fs::read_to_string(folder.join(format!("{}.svg", experiment.name))).unwrap();
            assert!(
                svg == drawn,
                "{}: run cargo xtask figures --redraw",
                experiment.name
            );
        }
    }
}
