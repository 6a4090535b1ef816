//! The page's introduction on the machine and on verdicts: how many points the rounds are far apart
//! of, and how far.

use crate::figures::data::{Data, Point};
use crate::figures::finding::count;
use crate::figures::latency::latency_programs::{DEDICATED, OMNIORB, RAW, ZORB};
use crate::figures::measured::{EQUAL, Measured};
use crate::measure::statistics::{median, three_digits};

/// The ratio of a point's upper quartile to its lower one.
fn apart(point: &Point) -> f64 {
    point.high / point.low
}

fn is_far(point: &&Point) -> bool {
    apart(point) > EQUAL
}

/// Of several rounds, and of something: what a step of no nanoseconds is apart from none is no ratio.
fn is_spread(point: &&Point) -> bool {
    point.rounds > 1 && point.low > 0.0
}

const fn has_rounds(point: &Point) -> bool {
    !point.each.is_empty()
}

/// The quartiles of a ratio where the number of each round is known.
const RATIOS_OF_ROUNDS: &str = "The quartiles of a ratio or difference are those of its values in each round, which drift of the machine \
                                changes little; for numbers of different rounds they are the least and the most that both quartiles allow.";

/// And where it is not.
const RATIOS_OF_QUARTILES: &str =
    "The quartiles of a ratio are the least and the most that the quartiles of both numbers allow.";

/// The report on the steadiness of the machine, from the data of all experiments by their names.
pub(super) fn text(all: &[(&str, &Data)]) -> String {
    let ratios = match all
        .iter()
        .any(|(_, data)| data.points.iter().any(has_rounds))
    {
        true => RATIOS_OF_ROUNDS,
        false => RATIOS_OF_QUARTILES,
    };
    let mut paragraphs = vec![format!(
        "**Verdicts.** Two values within ×{EQUAL} of each other are called *the same*. A claim with a number is judged in both directions: *more than \
         the paper saw* and *less than the paper saw* differ from it by more than that. *Undecided*: the quartiles of the rounds \
         allow both verdicts. *Yes or in part* and *no or in part*: one part of the claim is sure, the other undecided."
    )];
    paragraphs.push(format!("**Quartiles.** {ratios}"));
    paragraphs.extend(rounds(all));
    paragraphs.extend(beside(all));
    let latency = all.iter().find(|(name, _)| *name == "latency");
    paragraphs.extend(latency.and_then(|(_, data)| placed(data)));
    paragraphs.join("\n\n")
}

/// How many ratios of zorb to omniORB are how far apart, of what both were in the same rounds, and how many of them
/// would be if nothing were known of the rounds.
fn beside(all: &[(&str, &Data)]) -> Option<String> {
    let (mut alone, mut far, mut number) = (0, 0, 0);
    for (_, data) in all {
        let counts = |point: &&Point| is_spread(point) && has_rounds(point);
        for ours in data.points.iter().filter(counts) {
            let is_theirs = |point: &&Point| {
                point.series == OMNIORB
                    && (&point.panel, point.x, point.run) == (&ours.panel, ours.x, ours.run)
            };
            let theirs = data.points.iter().filter(counts).find(is_theirs);
            let (ZORB, Some(theirs)) = (ours.series.as_str(), theirs) else {
                continue;
            };
            let ratio = Measured::from(ours).over(theirs.into());
            number += 1;
            far += usize::from(ratio.most > EQUAL * ratio.least);
            alone += usize::from(is_far(&ours) || is_far(&theirs));
        }
    }
    (number > 0).then(|| {
        format!(
            "Drift affects all programs of a round alike: the ratio of zorb to omniORB within a round has quartiles more than ×{EQUAL} apart at {} \
             of {} points, one of the two numbers alone at {}.",
            count(far as f64),
            count(number as f64),
            count(alone as f64)
        )
    })
}

/// How many points are how far apart.
fn rounds(all: &[(&str, &Data)]) -> Option<String> {
    let mut each = Vec::new();
    let (mut far, mut all_points) = (0, 0);
    for (name, data) in all {
        let of_it = data.points.iter().filter(is_spread).count();
        let far_of_it = data.points.iter().filter(is_spread).filter(is_far).count();
        if of_it > 0 {
            each.push(format!(
                "{name} {} of {}",
                count(far_of_it as f64),
                count(of_it as f64)
            ));
        }
        far += far_of_it;
        all_points += of_it;
    }
    let state = all
        .iter()
        .find(|(name, _)| *name == "latency")
        .and_then(|(_, data)| state(data));
    let state = state.map_or_else(String::new, |(times, far, of)| {
        format!(
            "\n\nWith both programs on one CPU, two-way calls without parameters do the same work in every round, and still differ so much at {far} \
             of {of} points, by ×{} at the median of those: the machine changes its state from time to time, and no round shows in which state it ran.",
            three_digits(times)
        )
    });
    (all_points > 0).then(|| {
        format!(
            "**Rounds.** The machine is virtual, and its speed varies. At {} of {} points with several rounds the quartiles are more than ×{EQUAL} apart \
             ({}).{state}",
            count(far as f64),
            count(all_points as f64),
            each.join(", ")
        )
    })
}

/// How far apart such points are in the middle, how many they are, and of how many.
fn state(data: &Data) -> Option<(f64, usize, usize)> {
    let calls: Vec<&Point> = data
        .points
        .iter()
        .filter(is_spread)
        .filter(|point| point.panel.starts_with("noparams ") && point.panel.ends_with(", same"))
        .collect();
    let far: Vec<f64> = calls.iter().copied().filter(is_far).map(apart).collect();
    let number = far.len();
    Some((median(far)?, number, calls.len()))
}

/// The cost of a CPU for each program, for programs that sleep.
fn placed(data: &Data) -> Option<String> {
    let times = |series: &str| {
        let at =
            |placement: &str| data.measured(&format!("noparams robin, {placement}"), series, 1.0);
        Some(format!(
            "{series} {}",
            at("split")?.over(at("same")?).factor()
        ))
    };
    let sleeping: Option<Vec<String>> = [RAW, DEDICATED, OMNIORB].into_iter().map(times).collect();
    Some(format!(
        "**Wake-ups.** The CPUs wake slowly. A call without parameters between two CPUs, relative to one on a single CPU: {} where both \
         programs park for each message; {}, which spins before it parks.",
        sleeping?.join(", "),
        times(ZORB)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn points_whose_rounds_are_far_apart_are_counted() {
        let mut latency = data(&[
            ("noparams robin, same", ZORB, 1.0, None, 10.0),
            ("noparams train, same", ZORB, 1.0, None, 10.0),
            ("struct 1, same", ZORB, 1.0, None, 10.0),
            ("sizes", ZORB, 1.0, None, 10.0),
            ("steps", ZORB, 1.0, None, 0.0),
        ]);
        (latency.points[0].low, latency.points[0].high) = (10.0, 12.7);
        (latency.points[2].low, latency.points[2].high) = (10.0, 15.0);
        // A single round has no spread.
        latency.points[3].rounds = 1;
        let text = text(&[("latency", &latency), ("scale", &data(&[]))]);
        for words in [
            "within ×1.15 of each other",
            "At 2 of 3 points",
            "(latency 2 of 3)",
            "so much at 1 of 2 points",
            "by ×1.27 at the median",
        ] {
            assert!(text.contains(words), "no {words} in {text}");
        }
        // Nothing ran on a CPU each.
        assert!(!text.contains("Wake-ups"), "{text}");
    }

    #[test]
    fn ratios_of_the_same_round_are_said_to_be_steadier_than_numbers_alone() {
        let mut latency = data(&[
            ("noparams robin, same", ZORB, 1.0, None, 10.0),
            ("noparams robin, same", OMNIORB, 1.0, None, 20.0),
            ("noparams robin, same", OMNIORB, 2.0, None, 20.0),
        ]);
        assert!(!text(&[("latency", &latency)]).contains("its values in each round"));
        for point in &mut latency.points {
            (point.low, point.high) = (point.value, 1.3 * point.value);
            point.each = vec![point.low, point.value, point.high];
        }
        let text = text(&[("latency", &latency)]);
        for words in [
            "those of its values in each round",
            "×1.15 apart at 0 of 1 points, one of the two numbers alone at 1.",
        ] {
            assert!(text.contains(words), "no {words} in {text}");
        }
    }

    #[test]
    fn what_a_cpu_for_each_program_costs_is_computed() {
        let mut points = Vec::new();
        for (series, split) in [(RAW, 40.0), (DEDICATED, 45.0), (OMNIORB, 50.0), (ZORB, 7.0)] {
            points.push(("noparams robin, same", series, 1.0, None, 10.0));
            points.push(("noparams robin, split", series, 1.0, None, split));
        }
        let data = data(&points);
        let text = text(&[("latency", &data)]);
        let words = "raw ×4.00, zorb, dedicated ×4.50, omniORB ×5.00 where both";
        assert!(text.contains(words), "{text}");
    }
}
