//! Look-ups of servant and operation: the latency paper's Figures 31 and 32, and further.

use crate::claims::Aim;
use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Panel};
use crate::figures::data::{Collected, Data, Place, Point};
use crate::figures::finding::{Finding, Holds, Placed, growth, with_unit};
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::{Dialogue, Pair};
use crate::measure::place::Placement;
use crate::measure::programs::ours;
use crate::measure::statistics::three_digits;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "demultiplexing",
    sources: &[
        (source::LATENCY, "Figures 30 to 32"),
        (source::DISSERTATION, "section 3.3"),
    ],
    question: "How long does it take to find the servant and the operation of a request, by how many there are and in which way \
               they are looked for? In one process, without any network: each way is given the object keys and operation names \
               that requests to zorb carry, and one look-up waits for the one before. *zorb's POA* is the look-up that zorb's \
               servers make, `ObjectAdapter::locate` and the table of a generated skeleton, which may change at any time while \
               others read; the tables of the other series never change. *Random*: any operation of any servant; *worst case*: \
               the last operation of the last servant.",
    placed: Placed::Alone,
    measure,
    charts,
    findings,
};

/// Series, and the word by which the program knows it.
const STRATEGIES: [(&str, &str); 8] = [
    (LINEAR, "linear"),
    (HASH, "hash"),
    (FAST_HASH, "fast_hash"),
    (PERFECT, "perfect"),
    (ACTIVE, "active"),
    (DELAYERED, "delayered"),
    (POA, "poa"),
    (POA_IDS, "poa_ids"),
];
const LINEAR: &str = "linear search";
const HASH: &str = "dynamic hash (SipHash)";
const FAST_HASH: &str = "dynamic hash (multiplied)";
const PERFECT: &str = "perfect hash";
const ACTIVE: &str = "active, perfect hash";
const DELAYERED: &str = "active, de-layered";
pub(crate) const POA: &str = "zorb's POA";
const POA_IDS: &str = "zorb's POA, the application's ids";

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

/// What is looked for.
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
        let pair = Pair {
            name: series.to_owned(),
            server: None,
            client: vec![ours("papers-demultiplexing")],
            unix: false,
        };
        let dialogue = Dialogue::start(&pair, Placement::Same, session.cpus)?;
        Ok::<_, String>((series, word, dialogue))
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
                let place = Place {
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
    Ok(collected.points())
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
        Chart {
            file: format!("demultiplexing-{file}"),
            title: title.to_owned(),
            panels: OPERATIONS.into_iter().filter_map(panel).collect(),
        }
    };
    let further = |of: &str, x: &str, title: &str| {
        let panel = |(pattern, title): (&str, &str)| {
            Panel::lines(data, &format!("{of}, {pattern}"), title, Axis::log(x), y())
        };
        Chart {
            file: format!("demultiplexing-{of}"),
            title: title.to_owned(),
            panels: [("random", "random"), ("worst", "worst case")]
                .into_iter()
                .filter_map(panel)
                .collect(),
        }
    };
    vec![
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
            "Look-ups among many servants, of 10 operations",
        ),
        further(
            "operations",
            "operations",
            "Look-ups among many operations, of 100 servants",
        ),
    ]
}

fn findings(data: &Data) -> Vec<Finding> {
    let most = 500.0;
    let at = |pattern, series| data.at(&panel(100, pattern), series, most);
    let ns = |value: f64| with_unit(value, "ns");
    let grown = |panel: &str, series: &str| growth(&data.line(panel, series));
    let worst_10 = panel(10, "worst");
    let random_10 = panel(10, "random");
    vec![
        Finding::new(
            "Active demultiplexing and perfect hashing take much less than linear search and dynamic hashing (Figures 31 and 32)",
            [
                at("random", ACTIVE),
                at("random", PERFECT),
                at("random", LINEAR),
                at("random", HASH),
                at("random", FAST_HASH),
            ],
            |[active, perfect, linear, hash, fast]| {
                let seen = format!(
                    "500 servants of 100 operations, at random: active {}, perfect {}, linear {}; hash table with Rust's default \
                     hash {}, with a multiplied one {}",
                    ns(active),
                    ns(perfect),
                    ns(linear),
                    ns(hash),
                    ns(fast)
                );
                let better = |than: f64| active.max(perfect) * 1.3 < than;
                let holds = match (better(linear), better(hash) && better(fast)) {
                    (true, true) => Holds::Yes,
                    (false, _) => Holds::No,
                    (true, false) => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "Linear search does not scale: its worst case is 1.87 times the random one, with 500 servants of 100 operations (Figures 31 and 32)",
            [
                at("worst", LINEAR),
                at("random", LINEAR),
                grown(&worst_10, LINEAR),
            ],
            |[worst, random, growth]| {
                let seen = format!(
                    "{} against {}, {} times; from 1 servant to 500 it grows {} times in the worst case",
                    ns(worst),
                    ns(random),
                    three_digits(worst / random),
                    three_digits(growth)
                );
                (seen, Holds::when(growth > 10.0))
            },
        ),
        Finding::new(
            "Active demultiplexing and perfect hashing take the same whatever is asked for (Figures 31 and 32)",
            [
                at("random", ACTIVE),
                at("worst", ACTIVE),
                at("random", PERFECT),
                at("worst", PERFECT),
            ],
            |[active, active_worst, perfect, perfect_worst]| {
                let seen = format!(
                    "at random and in the worst case: active {} and {}, perfect {} and {}; the same servant again and again is in the cache, and branches are foreseen",
                    ns(active),
                    ns(active_worst),
                    ns(perfect),
                    ns(perfect_worst)
                );
                let no_worse = active_worst <= active * 1.1 && perfect_worst <= perfect * 1.1;
                let near = active < active_worst * 1.5 && perfect < perfect_worst * 1.5;
                let holds = match (no_worse, near) {
                    (true, true) => Holds::Yes,
                    (true, false) => Holds::InPart,
                    (false, _) => Holds::No,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "Active demultiplexing takes a little less than perfect hashing, whatever is asked for (Figures 31 and 32)",
            [
                at("random", ACTIVE),
                at("random", PERFECT),
                at("random", DELAYERED),
                at("worst", ACTIVE),
                at("worst", PERFECT),
            ],
            |[active, perfect, delayered, active_worst, perfect_worst]| {
                let seen = format!(
                    "500 servants of 100 operations: {} against {} at random, {} against {} in the worst case; where one look-up \
                     gives servant and operation, {}",
                    ns(active),
                    ns(perfect),
                    ns(active_worst),
                    ns(perfect_worst),
                    ns(delayered)
                );
                (seen, Holds::both(active < perfect, active_worst < perfect_worst))
            },
        ),
        Finding::new(
            "Where there is one operation a linear search does, and hashing may cost more; it scales better (throughput paper, section 2.2.2)",
            [
                data.at(&panel(1, "random"), LINEAR, 1.0),
                data.at(&panel(1, "random"), HASH, 1.0),
                data.at(&panel(1, "random"), FAST_HASH, 1.0),
                at("random", LINEAR),
                at("random", HASH),
            ],
            |[one, hashed, fast, many, many_hashed]| {
                let seen = format!(
                    "one servant of one operation: searched {}, hashed {} and {}; 500 of 100: searched {}, hashed {}",
                    ns(one),
                    ns(hashed),
                    ns(fast),
                    ns(many),
                    ns(many_hashed)
                );
                (seen, Holds::both(one < hashed.min(fast), many > many_hashed))
            },
        ),
        Finding::new(
            "With active demultiplexing and perfect hashing the time does not depend on how many servants and operations there are (section 5.3; dissertation, Table 3.1)",
            [
                grown(&random_10, POA),
                grown("operations, random", POA),
                grown("servants, random", POA),
                grown("servants, worst", POA),
            ],
            |[random, operations, many, worst]| {
                let seen = format!(
                    "zorb's POA, at random: {} times from 1 servant to 500, {} times from 1 operation to 1,000; to the most \
                     servants measured {} times at random, when they are in no cache, and {} times for one and the same",
                    three_digits(random),
                    three_digits(operations),
                    three_digits(many),
                    three_digits(worst)
                );
                let flat = random < 1.5 && operations < 1.5 && worst < 1.5;
                let holds = match (flat, many < 1.5) {
                    (true, true) => Holds::Yes,
                    (true, false) => Holds::InPart,
                    (false, _) => Holds::No,
                };
                (seen, holds)
            },
        )
        .with_number(
            "poa-growth-worst",
            grown("servants, worst", POA),
            Aim::AtMost(1.25),
        ),
        Finding::not_measured(
            "Nor does it depend on how many POAs there are and how deep they are nested (dissertation, Table 3.1)",
            "not measured: all servants are in one POA; the keys of transient references lead to their POA by one index, however deep it is",
        ),
        Finding::new(
            "Where ids are not known beforehand a hash table has to do, and costs more (section 5.3.3)",
            [
                data.at(&random_10, POA, most),
                data.at(&random_10, POA_IDS, most),
            ],
            |[indexed, named]| {
                let seen = format!(
                    "zorb's POA, 500 servants of 10 operations: {} with ids of its own, {} with the application's",
                    ns(indexed),
                    ns(named)
                );
                (seen, Holds::when(named > indexed))
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_claim_is_judged_by_the_numbers() {
        let random = |series, value| ("100 operations, random", series, 500.0, None, value);
        let slow_hash = data(&[
            random(ACTIVE, 20.0),
            random(PERFECT, 30.0),
            random(LINEAR, 900.0),
            random(HASH, 60.0),
            random(FAST_HASH, 35.0),
        ]);
        let judged = findings(&slow_hash);
        assert_eq!(judged[0].holds, Holds::InPart, "{}", judged[0].seen);
        assert_eq!(judged[1].holds, Holds::Unknown);
        assert_eq!(charts(&slow_hash).len(), 4);
    }

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
