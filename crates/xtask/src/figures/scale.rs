//! Beyond the papers: a million servants, ten thousand connections, many callers.

use crate::claims::Aim;
use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Panel};
use crate::figures::contender::{Contender, PLACEMENTS, place_title};
use crate::figures::data::{Collected, Data, Place, Point};
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::latency::programs::{self, OMNIORB, ZORB};
use crate::figures::session::Session;
use crate::measure::dialogue::Pair;
use crate::measure::place::Placement;
use crate::measure::statistics::three_digits;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "scale",
    sources: &[],
    question: "What becomes of a call when there are very many of something: 1 to 1,000,000 servants, called in random order; 1 to \
        10,000 connections, all but one idle or all in use one after the other; 1 to 256 callers together, tasks of a zorb client \
        and threads of an omniORB one? The connections are a client's that is no ORB, the same for both servers.",
    placed: Placed::Split,
    measure,
    charts,
    findings,
};

const SERVANTS: [usize; 7] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const CONNECTIONS: [usize; 5] = [1, 10, 100, 1000, 10_000];
const CALLERS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Rounds of growing to a million servants, which takes seconds each.
const LARGE_ROUNDS: usize = 3;

/// zorb, as it comes, and omniORB.
fn pairs(session: &Session) -> Vec<(&'static str, Pair)> {
    let mut all = vec![programs::zorb()];
    all.extend(programs::omni(session));
    all
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let mut collected = Collected::default();
    servants(session, &mut collected)?;
    connections(session, &mut collected)?;
    callers(session, &mut collected)?;
    Ok(collected.points())
}

/// One pair after the other, as a million servants and their references want memory.
fn servants(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let counts = session.pick(&SERVANTS[..], &SERVANTS[..4]);
    let iters = session.pick(2000, 100);
    for round in 1..=session.rounds.min(LARGE_ROUNDS) {
        for pair in pairs(session) {
            let mut one = Contender::start_all(session, &[pair], &[Placement::Split])?;
            for &count in counts {
                let what = format!("round {round}, {count} servants");
                session.once(&what, &[count], &mut one, |&count, contender| {
                    let request = format!("noparams 0 {count} random {iters} 100");
                    let answer = contender.ask(&request)?;
                    contender.keep_latency(collected, ("servants", count as f64), &answer);
                    Ok(())
                })?;
            }
            Contender::end_all(one)?;
        }
    }
    Ok(())
}

/// Connections only become more in a client's life, so a round is one.
fn connections(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let counts = session.pick(&CONNECTIONS[..], &CONNECTIONS[..3]);
    let iters = session.pick(1000, 100);
    for round in 1..=session.rounds.min(LARGE_ROUNDS) {
        // The raw connections are our client's, whoever serves.
        let (_, zorb) = programs::zorb();
        let many = |(series, mut pair): (&'static str, Pair)| {
            pair.client = programs::with_many_files(&zorb.client);
            let server = pair.server.take().unwrap_or_default();
            let more: &[&str] = if series == ZORB {
                &["--max-connections", "12000"]
            } else {
                &["-ORBmaxServerThreadPoolSize", "12000"]
            };
            let more = more.iter().map(|word| (*word).to_owned());
            let server: Vec<String> = server.into_iter().chain(more).collect();
            pair.server = Some(programs::with_many_files(&server));
            (series, pair)
        };
        for pair in pairs(session).into_iter().map(many) {
            let mut one = Contender::start_all(session, &[pair], &[Placement::Split])?;
            for &count in counts {
                let what = format!("round {round}, {count} connections");
                session.once(&what, &["idle", "active"], &mut one, |how, contender| {
                    let answer = contender.ask(&format!("crowd {count} {how} {iters} 50"))?;
                    let panel = format!("connections {how}");
                    contender.keep_latency(collected, (&panel, count as f64), &answer);
                    Ok(())
                })?;
            }
            Contender::end_all(one)?;
        }
    }
    Ok(())
}

fn callers(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let counts = session.pick(&CALLERS[..], &[1, 16][..]);
    let iters = session.pick(4096, 256);
    let mut contenders = Contender::start_all(session, &pairs(session), &PLACEMENTS)?;
    session.rounds(counts, &mut contenders, |&count, contender| {
        let answer = contender.ask(&format!("callers {count} {iters} 100"))?;
        let x = count as f64;
        contender.keep_latency(collected, ("callers latency", x), &answer);
        let place = Place {
            unit: "calls/s",
            ..contender.place("callers rate", x, "µs")
        };
        collected.add(place, answer.calls_per_s, None);
        Ok(())
    })?;
    Contender::end_all(contenders)
}

fn charts(data: &Data) -> Vec<Chart> {
    let time = || Axis::log("time of a call (µs)");
    let lines = |panel: &str, title: &str, x: Axis, y: Axis| Panel::lines(data, panel, title, x, y);
    let servants = Axis::log("servants in the server");
    let connections = Axis::log("connections to the server");
    let both = |panel: &str, title: &str, y: &Axis| {
        let one = |placement: Placement| {
            let title = format!("{title}: {}", place_title(placement));
            let x = Axis::log2("callers");
            lines(&format!("{panel}, {placement}"), &title, x, y.clone())
        };
        PLACEMENTS.into_iter().filter_map(one).collect::<Vec<_>>()
    };
    let charts = [
        (
            "servants",
            "Two-way calls to any of very many servants",
            lines(
                "servants, split",
                place_title(Placement::Split),
                servants,
                time(),
            )
            .into_iter()
            .collect(),
        ),
        (
            "connections",
            "Two-way calls beside very many connections",
            [
                ("idle", "all but one idle"),
                ("active", "all in use, in turn"),
            ]
            .into_iter()
            .filter_map(|(how, title)| {
                let panel = format!("connections {how}, split");
                lines(&panel, title, connections.clone(), time())
            })
            .collect(),
        ),
        (
            "callers",
            "Two-way calls of many callers together",
            [
                both("callers rate", "rate", &Axis::log("calls a second")),
                both("callers latency", "latency", &time()),
            ]
            .concat(),
        ),
    ];
    let chart = |(file, title, panels): (&str, &str, Vec<Panel>)| {
        (!panels.is_empty()).then(|| Chart {
            file: format!("scale-{file}"),
            title: title.to_owned(),
            panels,
        })
    };
    charts.into_iter().filter_map(chart).collect()
}

/// From the first to the last place that both have.
fn growth(data: &Data, panel: &str, series: &str, to: usize) -> Option<f64> {
    Some(data.at(panel, series, to as f64)? / data.at(panel, series, 1.0)?)
}

fn findings(data: &Data) -> Vec<Finding> {
    let about = [
        (
            "servants, split",
            1_000_000,
            "a million servants",
            "servants-1000000-over-1",
            2.0,
        ),
        (
            "connections idle, split",
            10_000,
            "10,000 connections, one of them in use",
            "idle-connections-10000-over-1",
            1.5,
        ),
        (
            "connections active, split",
            10_000,
            "10,000 connections, all in use in turn",
            "active-connections-10000-over-1",
            4.0,
        ),
    ];
    let finding = |(panel, to, what, name, most): (&str, usize, &str, &str, f64)| {
        let ours = growth(data, panel, ZORB, to);
        let theirs = growth(data, panel, OMNIORB, to);
        let claim = format!("A call takes as long with {what} as with one");
        Finding::new(&claim, [ours], |[ours]| {
            let theirs =
                theirs.map_or_else(String::new, |t| format!(", omniORB ×{}", three_digits(t)));
            let seen = format!("zorb ×{}{theirs}", three_digits(ours));
            let holds = if ours <= 1.15 {
                Holds::Yes
            } else if ours <= most {
                Holds::InPart
            } else {
                Holds::No
            };
            (seen, holds)
        })
        .with_number(name, ours, Aim::AtMost(most))
    };
    about.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_million_servants_are_compared_with_one() {
        let data = data(&[
            ("servants, split", ZORB, 1.0, None, 10.0),
            ("servants, split", ZORB, 1_000_000.0, None, 14.0),
        ]);
        let found = findings(&data);
        assert_eq!(
            (found[0].seen.as_str(), found[0].holds),
            ("zorb ×1.40", Holds::InPart)
        );
        assert_eq!(found[1].holds, Holds::Unknown);
        assert_eq!(charts(&data).len(), 1);
    }
}
