//! The findings of the experiment.

use crate::figures::data::Data;
use crate::figures::demultiplexing::{
    ACTIVE, DELAYERED, FAST_HASH, HASH, LINEAR, NESTED, PERFECT, PERSISTENT, POA, POA_FIXED,
    POA_IDS, SIBLINGS, TRANSIENT, WALKED, branch, panel,
};
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::{EQUAL, Measured, NOTHING, ratio};
use crate::row::Aim;

/// A time that is shorter by this factor is *much* less, in the words of the paper.
const MUCH: f64 = 1.5;

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = beside_each_other(data);
    all.extend(scaling(data));
    all
}

/// The experiment in three sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let random = |series| at(data, "random", series).map(ns);
    Some(format!(
        "A random look-up among 500 servants of 100 operations takes a linear search {}, perfect hashing {} and active \
         demultiplexing {}. zorb's POA finds servant and operation in {}. From 1 servant to 500, of 10 operations, its time \
         grows {}.",
        random(LINEAR)?,
        random(PERFECT)?,
        random(ACTIVE)?,
        random(POA)?,
        grown(data, &panel(10, "random"), POA)?.factor()
    ))
}

/// A look-up among the paper's most servants and operations.
fn at(data: &Data, pattern: &str, series: &str) -> Option<Measured> {
    data.measured(&panel(100, pattern), series, 500.0)
}

fn ns(value: Measured) -> String {
    value.with_unit("ns")
}

/// The growth from the first point of a line to its last.
fn grown(data: &Data, panel: &str, series: &str) -> Option<Measured> {
    let line = data.measured_line(panel, series);
    ratio(
        line.last().map(|last| last.1),
        line.first().map(|first| first.1),
    )
}

/// The findings that compare one way of looking up with another.
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
            "Active demultiplexing and perfect hashing take the same time for every request (Figures 31 and 32)",
            [
                at("random", ACTIVE),
                at("worst", ACTIVE),
                at("random", PERFECT),
                at("worst", PERFECT),
            ],
            |[active, active_worst, perfect, perfect_worst]| {
                let times = [active.over(active_worst), perfect.over(perfect_worst)];
                let seen = format!(
                    "random over worst case: active {}, {} against {}; perfect {}, {} against {}; the worst case repeats one key, which is \
                     in the caches, with branches that are predicted",
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
            "Active demultiplexing takes slightly less than perfect hashing, at random and at worst (Figures 31 and 32)",
            [
                at("random", ACTIVE),
                at("random", PERFECT),
                at("worst", ACTIVE),
                at("worst", PERFECT),
            ],
            |[active, perfect, active_worst, perfect_worst]| {
                let times = [perfect.over(active), perfect_worst.over(active_worst)];
                let seen = format!(
                    "perfect over active, 500 servants of 100 operations: {} at random, {} in the worst case",
                    times[0].factor(),
                    times[1].factor()
                );
                // Slightly is by less than the difference that counts as one.
                (
                    seen,
                    Holds::all(times.map(|times| times.beside(1.0, EQUAL))),
                )
            },
        ),
        Finding::new(
            "De-layered, with one look-up for servant and operation, active demultiplexing takes less (section 5.3, Figure 30)",
            [
                at("random", ACTIVE),
                at("random", DELAYERED),
                at("worst", ACTIVE),
                at("worst", DELAYERED),
            ],
            |[active, delayered, active_worst, delayered_worst]| {
                let times = [active.over(delayered), active_worst.over(delayered_worst)];
                let seen = format!(
                    "two look-ups over one: {} at random, {} in the worst case; medians at random {} and {}",
                    times[0].factor(),
                    times[1].factor(),
                    ns(active.median_alone()),
                    ns(delayered.median_alone())
                );
                (seen, Holds::all(times.map(|times| times.above(NOTHING))))
            },
        ),
        Finding::new(
            "For one operation a linear search suffices; hashing costs more, but scales (throughput paper, section 2.2.2)",
            [
                data.measured(&panel(1, "random"), LINEAR, 1.0),
                data.measured(&panel(1, "random"), HASH, 1.0),
                data.measured(&panel(1, "random"), FAST_HASH, 1.0),
                at("random", LINEAR),
                at("random", HASH),
            ],
            |[one, hashed, fast, many, many_hashed]| {
                let seen = format!(
                    "1 servant, 1 operation: linear {}, hashed {} and {}; 500 servants of 100: linear {}, hashed {}",
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
            "Ids that are not known beforehand need a dynamic hash table, which costs more (section 5.3.3)",
            [
                data.measured(&panel(10, "random"), POA, 500.0),
                data.measured(&panel(10, "random"), POA_IDS, 500.0),
            ],
            |[indexed, named]| {
                let seen = format!(
                    "zorb's POA, 500 servants of 10 operations: {} with system ids, {} with user ids",
                    ns(indexed),
                    ns(named)
                );
                (seen, named.over(indexed).above(NOTHING))
            },
        ),
        Finding::new(
            "For ids known beforehand a perfect hash takes less than a dynamic one (section 5.3.3; dissertation, section 3.3)",
            [
                data.measured(&panel(10, "random"), POA_FIXED, 500.0),
                data.measured(&panel(10, "random"), POA_IDS, 500.0),
            ],
            |[fixed, named]| {
                let seen = format!(
                    "zorb's POA, 500 servants of 10 operations: {} with a fixed set of user ids, {} with any user ids",
                    ns(fixed),
                    ns(named)
                );
                (seen, named.over(fixed).above(NOTHING))
            },
        ),
        Finding::new(
            "Looking up a path of POAs at once takes less than one POA at a time (dissertation, section 3.3)",
            [
                data.measured(&branch(NESTED, "worst"), PERSISTENT, 100.0),
                data.measured(&branch(NESTED, "worst"), WALKED, 100.0),
            ],
            |[at_once, walked]| {
                let seen = format!(
                    "innermost of 100 nested POAs, persistent references: {} by the whole path, {} one POA at a time",
                    ns(at_once),
                    ns(walked)
                );
                (seen, walked.over(at_once).above(MUCH))
            },
        ),
    ]
}

/// The findings about increasing numbers of servants and operations.
fn scaling(data: &Data) -> Vec<Finding> {
    let (random, worst) = (panel(10, "random"), panel(10, "worst"));
    let grown = |panel: &str, series: &str| grown(data, panel, series);
    vec![
        Finding::new(
            "Linear search does not scale (section 5.3.3; Figures 31 and 32)",
            [grown(&random, LINEAR), grown(&worst, LINEAR)],
            |[random, worst]| {
                let seen = format!(
                    "500 servants over 1, of 10 operations: {} at random, {} in the worst case",
                    random.factor(),
                    worst.factor()
                );
                // The last point has five hundred times as many servants as the first.
                (seen, Holds::all([random, worst].map(|times| times.above(10.0))))
            },
        ),
        Finding::new(
            "Dynamic hashing may have a poor worst case, where many keys collide (section 5.3)",
            [
                at(data, "random", HASH),
                at(data, "worst", HASH),
                at(data, "random", FAST_HASH),
                at(data, "worst", FAST_HASH),
            ],
            |[hash, hash_worst, fast, fast_worst]| {
                let times = [hash_worst.over(hash), fast_worst.over(fast)];
                let seen = format!(
                    "worst case over random: {} with Rust's default hash and {} with a multiplied one; keys that were chosen to \
                     collide are not measured",
                    times[0].factor(),
                    times[1].factor()
                );
                (seen, Holds::all(times.map(|times| times.above(EQUAL))))
            },
        ),
        Finding::new(
            "Active demultiplexing and perfect hashing do not depend on the number of servants (section 5.3; Figures 31 and 32)",
            [
                grown(&random, ACTIVE),
                grown(&random, PERFECT),
                grown(&worst, ACTIVE),
                grown(&worst, PERFECT),
            ],
            |[active, perfect, active_worst, perfect_worst]| {
                let seen = format!(
                    "500 servants over 1, of 10 operations: active {} at random and {} in the worst case, perfect {} and {}",
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
            "zorb's look-up does not depend on the number of servants or operations (dissertation, Table 3.1)",
            [
                grown(&random, POA),
                grown("operations, random", POA),
                grown("servants, random", POA),
                grown("servants, worst", POA),
            ],
            |[random, operations, many, worst]| {
                let seen = format!(
                    "at random: {} from 1 servant to 500, {} from 1 operation to 1,000; to the most servants measured {} at random, when they \
                     are in no cache, and {} for a single one",
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

/// The finding about increasing numbers of POAs.
fn of_branches(data: &Data) -> Finding {
    let patterns = ["worst", "random"];
    let of = |tree: &str, series: &str| {
        patterns.map(|pattern| grown(data, &branch(tree, pattern), series))
    };
    let [deep, many] = [NESTED, SIBLINGS].map(|tree| of(tree, TRANSIENT));
    let [deep_names, many_names] = [NESTED, SIBLINGS].map(|tree| of(tree, PERSISTENT));
    Finding::new(
        "zorb's look-up does not depend on the number of POAs or on their depth (dissertation, Table 3.1)",
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
                "100 nested POAs over 1, transient references: {deep} for the innermost and {any_deep} at \
                 random; persistent ones, whose keys have the names of all POAs around theirs, {deep_names} and {any_names}; 1,000 side by \
                 side, transient {last} for the last and {any} at random, persistent {last_name} and {any_name}"
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
    use crate::figures::demultiplexing::{PATTERNS, charts};

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
            let same = found
                .iter()
                .find(|f| f.claim.contains("the same time for every"));
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
            "transient references: ×1.03 for the innermost",
            "around theirs, ×10.0 and ×10.0",
        ] {
            assert!(named.seen.contains(words), "{}", named.seen);
        }
        assert_eq!(of_branches(&data(&[])).holds, Holds::Unknown);
    }
}
