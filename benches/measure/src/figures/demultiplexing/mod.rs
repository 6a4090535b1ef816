//! Look-ups of servant and operation: the latency paper's Figures 31 and 32, and further.

mod demultiplexing_findings;

use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Panel};
use crate::figures::data::{Collected, Data, PanelPoint, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::{Dialogue, Pair};
use crate::measure::place::Placement;
use crate::measure::programs::ours;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "demultiplexing",
    sources: &[
        (source::LATENCY, "Figures 30 to 32"),
        (source::DISSERTATION, "section 3.3"),
    ],
    found: "A linear search among 500 servants of 100 operations takes longest, and its worst case ×1.87 of a random \
        look-up. Active demultiplexing (the object key holds an index) and perfect hashing are as fast for any \
        request.",
    seen: demultiplexing_findings::seen,
    method: "All in one process, without a network. Each way gets the object keys and operation names of requests to \
        zorb, and a look-up begins when the one before it has ended. *Random* looks up any operation of any \
        servant, the *worst case* the last operation of the last servant.\n\n\
        *zorb's POA* is the look-up of zorb's servers: `ObjectAdapter::locate` and the table of a generated \
        skeleton. It may change while other threads read; the tables of the other series never change. One picture \
        gives every servant a POA of its own, nested or side by side: a transient key has an index for its POA, a \
        persistent key the names of its POA and of all POAs around it.",
    placed: Placed::Alone,
    measure,
    charts,
    findings: demultiplexing_findings::findings,
};

/// Series, and the word by which the program knows it.
const STRATEGIES: [(&str, &str); 10] = [
    (LINEAR, "linear"),
    (HASH, "hash"),
    (FAST_HASH, "fast_hash"),
    (PERFECT, "perfect"),
    (ACTIVE, "active"),
    (DELAYERED, "delayered"),
    (POA, "poa"),
    (POA_IDS, "poa_ids"),
    (POA_FIXED, "poa_fixed"),
    (POA_CODES, "poa_sealed"),
];
const LINEAR: &str = "linear search";
const HASH: &str = "dynamic hash (SipHash)";
const FAST_HASH: &str = "dynamic hash (multiplied)";
const PERFECT: &str = "perfect hash";
const ACTIVE: &str = "active, perfect hash";
const DELAYERED: &str = "active, de-layered";
const POA: &str = "zorb's POA";
const POA_IDS: &str = "zorb's POA, the application's ids";
const POA_FIXED: &str = "zorb's POA, ids known beforehand";
const POA_CODES: &str = "zorb's POA, authenticated keys";

/// The panel in which every servant has a POA of its own, by the form of its references.
const BRANCHES: [(&str, &str); 3] = [(TRANSIENT, ""), (PERSISTENT, "_names"), (WALKED, "_walked")];
const TRANSIENT: &str = "transient references";
const PERSISTENT: &str = "persistent references";
const WALKED: &str = "an adapter at a time";

/// The places of those POAs, by the names of panels and the program, and their number.
const TREES: [(&str, &[usize]); 2] = [
    (NESTED, &[1, 3, 10, 30, 100]),
    (SIBLINGS, &[1, 10, 100, 1_000]),
];
const NESTED: &str = "nested";
const SIBLINGS: &str = "siblings";

/// The paper's numbers of servants.
const SERVANTS: [usize; 6] = [1, 100, 200, 300, 400, 500];
/// Its numbers of operations.
const OPERATIONS: [usize; 3] = [1, 10, 100];
const PATTERNS: [&str; 2] = ["random", "worst"];
/// More servants than the paper has, of as many operations as this.
const MANY: [usize; 3] = [1_000, 10_000, 100_000];
const OF_MANY: usize = 10;
/// More operations than it has, of as many servants.
const MORE_OPERATIONS: usize = 1_000;
const OF_MORE: usize = 100;

/// A look-up.
#[derive(Clone, Copy, Debug)]
struct Asked {
    servants: usize,
    operations: usize,
    pattern: &'static str,
}

impl Asked {
    /// The panels that show it, and where in them it is.
    fn places(self) -> Vec<(String, f64)> {
        let Self {
            servants,
            operations,
            pattern,
        } = self;
        let mut places = Vec::new();
        if SERVANTS.contains(&servants) && OPERATIONS.contains(&operations) {
            places.push((panel(operations, pattern), servants as f64));
        }
        if operations == OF_MANY {
            places.push((format!("servants, {pattern}"), servants as f64));
        }
        if servants == OF_MORE {
            places.push((format!("operations, {pattern}"), operations as f64));
        }
        places
    }
}

fn panel(operations: usize, pattern: &str) -> String {
    format!("{operations} operations, {pattern}")
}

fn asked(session: &Session) -> Vec<Asked> {
    let mut pairs = Vec::new();
    let servants: &[usize] = session.pick(&SERVANTS, &[1, 100, 500]);
    for operations in OPERATIONS {
        pairs.extend(servants.iter().map(|servants| (*servants, operations)));
    }
    let many: &[usize] = session.pick(&MANY, &[10_000]);
    pairs.extend(many.iter().map(|servants| (*servants, OF_MANY)));
    pairs.push((OF_MORE, MORE_OPERATIONS));
    let each = |(servants, operations)| {
        PATTERNS.map(|pattern| Asked {
            servants,
            operations,
            pattern,
        })
    };
    pairs.into_iter().flat_map(each).collect()
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let start = |(series, word): (&'static str, &'static str)| {
        Ok::<_, String>((series, word, program(session, series)?))
    };
    let mut programs = STRATEGIES
        .into_iter()
        .map(start)
        .collect::<Result<Vec<_>, _>>()?;
    let mut collected = Collected::default();
    let milliseconds = session.pick(10, 2);
    session.rounds(
        &asked(session),
        &mut programs,
        |asked, (series, word, dialogue)| {
            let Asked {
                servants,
                operations,
                pattern,
            } = *asked;
            let question = format!("{word} {servants} {operations} {pattern} {milliseconds}");
            let answer = dialogue.ask(&question)?;
            for (panel, x) in asked.places() {
                let place = PanelPoint {
                    panel,
                    series: (*series).to_owned(),
                    x,
                    label: None,
                    unit: "ns",
                };
                collected.add(place, answer.p50_ns, Some(answer.p99_ns));
            }
            Ok(())
        },
    )?;
    for (_, _, dialogue) in programs {
        dialogue.end()?;
    }
    collected.other_rounds();
    branches(session, &mut collected)?;
    Ok(collected.points())
}

/// The panel of so many POAs in a tree of that kind.
fn branch(tree: &str, pattern: &str) -> String {
    format!("POAs {tree}, {pattern}")
}

/// A POA for every servant.
fn branches(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let start = |(series, ending): (&'static str, &'static str)| {
        Ok::<_, String>((series, ending, program(session, series)?))
    };
    let mut programs = BRANCHES
        .into_iter()
        .map(start)
        .collect::<Result<Vec<_>, _>>()?;
    let of_tree = |(tree, counts): (&'static str, &'static [usize])| {
        let ends = [counts.first(), counts.last()];
        let counts = session.pick(
            counts.to_vec(),
            ends.into_iter().flatten().copied().collect(),
        );
        counts
            .into_iter()
            .flat_map(move |count| PATTERNS.map(|pattern| (tree, count, pattern)))
    };
    let asked: Vec<_> = TREES.into_iter().flat_map(of_tree).collect();
    let milliseconds = session.pick(10, 2);
    session.rounds(
        &asked,
        &mut programs,
        |&(tree, count, pattern), (series, ending, dialogue)| {
            let question = format!("{tree}{ending} {count} {OF_MANY} {pattern} {milliseconds}");
            let answer = dialogue.ask(&question)?;
            let place = PanelPoint {
                panel: branch(tree, pattern),
                series: (*series).to_owned(),
                x: count as f64,
                label: None,
                unit: "ns",
            };
            collected.add(place, answer.p50_ns, Some(answer.p99_ns));
            Ok(())
        },
    )?;
    programs
        .into_iter()
        .try_for_each(|(_, _, dialogue)| dialogue.end())
}

/// The program that looks up.
fn program(session: &Session, name: &str) -> Result<Dialogue, String> {
    let pair = Pair {
        name: name.to_owned(),
        server: None,
        client: vec![ours("papers-demultiplexing")],
        unix: false,
    };
    Dialogue::start(&pair, Placement::Same, session.cpus)
}

fn charts(data: &Data) -> Vec<Chart> {
    let y = || Axis::log("time of a look-up (ns)");
    let figure = |pattern: &str, title: &str, file: &str| {
        let panel = |operations: usize| {
            let plural = if operations == 1 { "" } else { "s" };
            let title = format!("{operations} operation{plural}");
            let x = Axis::linear("servants");
            Panel::lines(data, &panel(operations, pattern), &title, x, y())
        };
        Chart::new(
            format!("demultiplexing-{file}"),
            title,
            OPERATIONS.into_iter().filter_map(panel).collect(),
        )
    };
    let further = |of: &str, x: &str, title: &str| {
        let panel = |(pattern, title): (&str, &str), searched: bool| {
            // Beside a search all others are one line.
            let (title, y) = match searched {
                true => (title.to_owned(), y()),
                false => (
                    format!("{title}, without linear search"),
                    Axis::log("time of a look-up but linear search (ns)"),
                ),
            };
            let panel = Panel::lines(data, &format!("{of}, {pattern}"), &title, Axis::log(x), y);
            let mut panel = panel?;
            panel.series.retain(|one| searched || one.name != LINEAR);
            (!panel.series.is_empty()).then_some(panel)
        };
        let patterns = [("random", "random"), ("worst", "worst case")];
        let rows = [true, false].map(|searched| patterns.map(|of| panel(of, searched)));
        let panels = rows.into_iter().flatten().flatten();
        Chart::new(format!("demultiplexing-{of}"), title, panels.collect())
    };
    let poas = |(tree, x, title): (&str, &str, &str)| {
        let each = [("random", "any of them"), ("worst", "the last one")];
        let x = x.to_owned();
        let panel = move |(pattern, which): (&str, &str)| {
            let title = format!("{title}: {which}");
            Panel::lines(
                data,
                &branch(tree, pattern),
                &title,
                Axis::log(&x),
                Axis::log("time of a look-up (ns)"),
            )
        };
        each.into_iter().filter_map(panel).collect::<Vec<_>>()
    };
    let trees = [
        (NESTED, "depth of POAs", "each POA in the one before"),
        (SIBLINGS, "POAs", "all POAs in the root"),
    ];
    let mut all = vec![
        figure(
            "random",
            "Look-ups of servant and operation at random (Figure 31)",
            "random",
        ),
        figure(
            "worst",
            "Look-ups of the last operation of the last servant (Figure 32)",
            "worst",
        ),
        further(
            "servants",
            "servants",
            "Look-ups among many servants, of 10 operations (beyond Figures 31 and 32)",
        ),
        further(
            "operations",
            "operations",
            "Look-ups among many operations, of 100 servants (beyond Figures 31 and 32)",
        ),
    ];
    let poas = Chart::new(
            "demultiplexing-poas",
            "Look-ups of servants with a POA each, of 10 operations (dissertation, section 3.3)",
            trees.into_iter().flat_map(poas).collect(),
        )
        .noting("a persistent reference has the names of its POA and of all that it is in, which are looked for as one");
    // It was not always measured.
    all.extend((!poas.panels.is_empty()).then_some(poas));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_in_every_panel_that_has_its_axis() {
        let asked = Asked {
            servants: 100,
            operations: 10,
            pattern: "worst",
        };
        let places: Vec<_> = asked.places();
        assert_eq!(
            places,
            [
                ("10 operations, worst".to_owned(), 100.0),
                ("servants, worst".to_owned(), 100.0),
                ("operations, worst".to_owned(), 10.0)
            ]
        );
    }
}
