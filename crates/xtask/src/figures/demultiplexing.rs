//! Look-ups of servant and operation: the latency paper's Figures 31 and 32, and further.

use crate::claims::Aim;
use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Panel};
use crate::figures::data::{Collected, Data, Place, Point};
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::measured::{EQUAL, Measured, NOTHING, ratio};
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
    question: "How long does it take to find the servant and the operation of a request, by how many there are and in which way \
               they are looked for? In one process, without any network: each way is given the object keys and operation names \
               that requests to zorb carry, and one look-up waits for the one before. *zorb's POA* is the look-up that zorb's \
               servers make, `ObjectAdapter::locate` and the table of a generated skeleton, which may change at any time while \
               others read; the tables of the other series never change. *Random*: any operation of any servant; *worst case*: \
               the last operation of the last servant. Besides zorb's POA is asked where every servant has a POA of its own, and each \
               POA is in the one before, or all of them are beside each other in the root: the keys of transient references have an \
               index for their POA, those of persistent ones its name and the names of all that it is in.",
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

/// The same where every servant has a POA of its own, by how its references name it.
const BRANCHES: [(&str, &str); 2] = [(TRANSIENT, ""), (PERSISTENT, "_names")];
const TRANSIENT: &str = "transient references";
const PERSISTENT: &str = "persistent references";

/// Where those POAs are, as panels and the program call it, and how many of them there are.
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
            let place = Place {
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

/// What takes so many times less is *much* less, in the words of the paper.
const MUCH: f64 = 1.5;

fn findings(data: &Data) -> Vec<Finding> {
    let mut all = beside_each_other(data);
    all.extend(scaling(data));
    all
}

/// A look-up among the paper's most servants and operations.
fn at(data: &Data, pattern: &str, series: &str) -> Option<Measured> {
    data.measured(&panel(100, pattern), series, 500.0)
}

fn ns(value: Measured) -> String {
    value.with_unit("ns")
}

/// From the first place of a line to its last.
fn grown(data: &Data, panel: &str, series: &str) -> Option<Measured> {
    let line = data.measured_line(panel, series);
    ratio(
        line.last().map(|last| last.1),
        line.first().map(|first| first.1),
    )
}

/// One way to look up beside another.
fn beside_each_other(data: &Data) -> Vec<Finding> {
    let at = |pattern, series| at(data, pattern, series);
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
                let better = [linear, hash, fast]
                    .into_iter()
                    .flat_map(|slow| [active, perfect].map(|quick| slow.over(quick).above(MUCH)));
                (seen, Holds::all(better))
            },
        ),
        Finding::new(
            "The worst case of a linear search is 1.87 times the random one, with 500 servants of 100 operations (Figures 31 and 32)",
            [at("worst", LINEAR), at("random", LINEAR)],
            |[worst, random]| {
                let times = worst.over(random);
                let seen = format!("{} against {}: {}", ns(worst), ns(random), times.factor());
                (seen, times.beside(1.87, 1.87))
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
                let times = [active.over(active_worst), perfect.over(perfect_worst)];
                let seen = format!(
                    "at random, of what the last of the last takes: active {}, {} beside {}; perfect {}, {} beside {}; one and the same is in the caches, and its \
                     branches are foreseen",
                    times[0].factor(),
                    ns(active.median_alone()),
                    ns(active_worst.median_alone()),
                    times[1].factor(),
                    ns(perfect.median_alone()),
                    ns(perfect_worst.median_alone())
                );
                (seen, Holds::all(times.map(Measured::is_one)))
            },
        ),
        Finding::new(
            "Active demultiplexing takes slightly less than perfect hashing, whatever is asked for (Figures 31 and 32)",
            [
                at("random", ACTIVE),
                at("random", PERFECT),
                at("worst", ACTIVE),
                at("worst", PERFECT),
            ],
            |[active, perfect, active_worst, perfect_worst]| {
                let times = [perfect.over(active), perfect_worst.over(active_worst)];
                let seen = format!(
                    "500 servants of 100 operations: perfect hashing takes {} of active demultiplexing at random, {} in the worst case",
                    times[0].factor(),
                    times[1].factor()
                );
                // Slightly is by less than what tells two apart.
                (
                    seen,
                    Holds::all(times.map(|times| times.beside(1.0, EQUAL))),
                )
            },
        ),
        Finding::new(
            "De-layered, where one look-up gives servant and operation, active demultiplexing takes less (section 5.3, Figure 30)",
            [
                at("random", ACTIVE),
                at("random", DELAYERED),
                at("worst", ACTIVE),
                at("worst", DELAYERED),
            ],
            |[active, delayered, active_worst, delayered_worst]| {
                let times = [active.over(delayered), active_worst.over(delayered_worst)];
                let seen = format!(
                    "two look-ups take of what one takes {} at random, {} beside {}, and {} in the worst case",
                    times[0].factor(),
                    ns(active.median_alone()),
                    ns(delayered.median_alone()),
                    times[1].factor()
                );
                (seen, Holds::all(times.map(|times| times.above(NOTHING))))
            },
        ),
        Finding::new(
            "Where there is one operation a linear search does, and hashing may cost more; it scales better (throughput paper, section 2.2.2)",
            [
                data.measured(&panel(1, "random"), LINEAR, 1.0),
                data.measured(&panel(1, "random"), HASH, 1.0),
                data.measured(&panel(1, "random"), FAST_HASH, 1.0),
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
                let costs = Holds::all([hashed, fast].map(|hash| hash.over(one).above(NOTHING)));
                (
                    seen,
                    Holds::and(costs, many.over(many_hashed).above(NOTHING)),
                )
            },
        ),
        Finding::new(
            "Where ids are not known beforehand a hash table has to do, and costs more (section 5.3.3)",
            [
                data.measured(&panel(10, "random"), POA, 500.0),
                data.measured(&panel(10, "random"), POA_IDS, 500.0),
            ],
            |[indexed, named]| {
                let seen = format!(
                    "zorb's POA, 500 servants of 10 operations: {} with ids of its own, {} with the application's",
                    ns(indexed),
                    ns(named)
                );
                (seen, named.over(indexed).above(NOTHING))
            },
        ),
    ]
}

/// With ever more servants and operations.
fn scaling(data: &Data) -> Vec<Finding> {
    let (random, worst) = (panel(10, "random"), panel(10, "worst"));
    let grown = |panel: &str, series: &str| grown(data, panel, series);
    vec![
        Finding::new(
            "Linear search does not scale (section 5.3.3; Figures 31 and 32)",
            [grown(&random, LINEAR), grown(&worst, LINEAR)],
            |[random, worst]| {
                let seen = format!(
                    "from 1 servant to 500, of 10 operations: {} at random, {} in the worst case",
                    random.factor(),
                    worst.factor()
                );
                // Of five hundred times as many.
                (seen, Holds::all([random, worst].map(|times| times.above(10.0))))
            },
        ),
        Finding::new(
            "Dynamic hashing may have a poor worst case, where many keys fall on one place (section 5.3)",
            [
                at(data, "random", HASH),
                at(data, "worst", HASH),
                at(data, "random", FAST_HASH),
                at(data, "worst", FAST_HASH),
            ],
            |[hash, hash_worst, fast, fast_worst]| {
                let times = [hash_worst.over(hash), fast_worst.over(fast)];
                let seen = format!(
                    "the last operation of the last servant takes, of what any takes, {} with Rust's default hash and {} with a multiplied one; keys that \
                     were chosen to fall on one place are not asked for here",
                    times[0].factor(),
                    times[1].factor()
                );
                (seen, Holds::all(times.map(|times| times.above(EQUAL))))
            },
        ),
        Finding::new(
            "With active demultiplexing and perfect hashing the time does not depend on how many servants there are (section 5.3; Figures 31 and 32)",
            [
                grown(&random, ACTIVE),
                grown(&random, PERFECT),
                grown(&worst, ACTIVE),
                grown(&worst, PERFECT),
            ],
            |[active, perfect, active_worst, perfect_worst]| {
                let seen = format!(
                    "from 1 servant to 500, of 10 operations: active {} at random and {} in the worst case, perfect {} and {}",
                    active.factor(),
                    active_worst.factor(),
                    perfect.factor(),
                    perfect_worst.factor()
                );
                let all = [active, perfect, active_worst, perfect_worst];
                (seen, Holds::all(all.map(Measured::is_no_more)))
            },
        ),
        Finding::new(
            "Nor does zorb's own look-up depend on servants or operations (dissertation, Table 3.1)",
            [
                grown(&random, POA),
                grown("operations, random", POA),
                grown("servants, random", POA),
                grown("servants, worst", POA),
            ],
            |[random, operations, many, worst]| {
                let seen = format!(
                    "zorb's POA, at random: {} from 1 servant to 500, {} from 1 operation to 1,000; to the most servants measured {} at random, when they \
                     are in no cache, and {} for one and the same",
                    random.factor(),
                    operations.factor(),
                    many.factor(),
                    worst.factor()
                );
                let all = [random, operations, many, worst];
                (seen, Holds::all(all.map(Measured::is_no_more)))
            },
        )
        .with_number(
            "poa-growth-worst",
            grown("servants, worst", POA).map(|times| times.median),
            Aim::AtMost(1.25),
        ),
        of_branches(data),
    ]
}

/// With ever more POAs.
fn of_branches(data: &Data) -> Finding {
    let patterns = ["worst", "random"];
    let of = |tree: &str, series: &str| {
        patterns.map(|pattern| grown(data, &branch(tree, pattern), series))
    };
    let [deep, many] = [NESTED, SIBLINGS].map(|tree| of(tree, TRANSIENT));
    let [deep_names, many_names] = [NESTED, SIBLINGS].map(|tree| of(tree, PERSISTENT));
    Finding::new(
        "Nor does it depend on how many POAs there are and how deep they are nested (dissertation, Table 3.1)",
        [
            deep[0],
            deep[1],
            many[0],
            many[1],
            deep_names[0],
            deep_names[1],
            many_names[0],
            many_names[1],
        ],
        |all| {
            let [deep, any_deep, last, any, deep_names, any_names, last_name, any_name] =
                all.map(Measured::factor);
            let seen = format!(
                "zorb's POA, from one POA to 100 that are nested, each with a servant: transient references {deep} for the innermost and {any_deep} for \
                 any of them, persistent ones, whose keys have the names of all POAs around theirs, {deep_names} and {any_names}; to 1,000 beside each \
                 other transient {last} for the last and {any} for any, persistent {last_name} and {any_name}"
            );
            (seen, Holds::all(all.map(Measured::is_no_more)))
        },
    )
    .with_number("poa-growth-nested", deep[0].map(|times| times.median), Aim::AtMost(1.25))
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
    fn the_same_is_judged_in_both_directions_and_by_the_quartiles() {
        let both = |random: f64, apart: f64| {
            let mut data = data(&[
                ("100 operations, random", ACTIVE, 500.0, None, random),
                ("100 operations, worst", ACTIVE, 500.0, None, 20.0),
                ("100 operations, random", PERFECT, 500.0, None, random),
                ("100 operations, worst", PERFECT, 500.0, None, 20.0),
            ]);
            for point in &mut data.points {
                (point.low, point.high) = (point.value / apart, point.value * apart);
            }
            let found = findings(&data);
            let same = found.iter().find(|f| f.claim.contains("the same whatever"));
            same.unwrap().holds
        };
        assert_eq!(both(21.0, 1.01), Holds::Yes);
        assert_eq!(both(27.4, 1.01), Holds::No);
        assert_eq!(both(14.0, 1.01), Holds::No);
        assert_eq!(both(21.0, 1.1), Holds::Untold);
    }

    #[test]
    fn whether_the_depth_of_a_poa_matters_is_judged_by_its_references() {
        let judged = |deep_name: f64| {
            let mut points = Vec::new();
            let panels =
                [NESTED, SIBLINGS].map(|tree| PATTERNS.map(|pattern| branch(tree, pattern)));
            for (panel, last) in panels
                .iter()
                .flatten()
                .zip([100.0, 100.0, 1_000.0, 1_000.0])
            {
                let named = if panel.contains(NESTED) {
                    deep_name
                } else {
                    60.0
                };
                points.push((panel.as_str(), TRANSIENT, 1.0, None, 30.0));
                points.push((panel.as_str(), TRANSIENT, last, None, 31.0));
                points.push((panel.as_str(), PERSISTENT, 1.0, None, 60.0));
                points.push((panel.as_str(), PERSISTENT, last, None, named));
            }
            let data = data(&points);
            let drawn = charts(&data);
            assert_eq!(drawn.last().map(|chart| chart.panels.len()), Some(4));
            of_branches(&data)
        };
        assert_eq!(judged(60.0).holds, Holds::Yes);
        let named = judged(600.0);
        assert_eq!(named.holds, Holds::InPart);
        for words in [
            "transient references ×1.03 for the innermost",
            "around theirs, ×10.0 and ×10.0",
        ] {
            assert!(named.seen.contains(words), "{}", named.seen);
        }
        assert_eq!(of_branches(&data(&[])).holds, Holds::Unknown);
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
