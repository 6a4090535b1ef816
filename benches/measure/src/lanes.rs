//! `cargo xtask claims lanes`: what lanes guarantee under load, measured by `papers-lanes`.

use crate::figures;
use crate::measure::{programs, quiet};
use crate::row::{Aim, Row};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// The output of the program.
#[derive(Deserialize)]
struct Measured {
    numbers: BTreeMap<String, f64>,
    /// The value of `sched_rt_runtime_us`.
    #[serde(default)]
    bound: String,
    /// Why nothing can be measured here.
    #[serde(default)]
    unmeasurable: Option<String>,
}

/// Rows by name, the number that each is of, and its aim.
const ROWS: [(&str, &str, Aim); 14] = [
    (
        "high-lane-missed-deadlines",
        "deadlines/high/missed",
        Aim::AtMost(0.0),
    ),
    ("overload-demand", "deadlines/demand", Aim::AtLeast(1.3)),
    (
        "low-lane-missed-deadlines",
        "deadlines/low/missed",
        Aim::AtLeast(1.0),
    ),
    ("order-of-loss", "deadlines/order", Aim::AtLeast(1.0)),
    ("high-lane-p99/same", "tail/same/ratio", Aim::AtMost(1.3)),
    ("high-lane-p99/split", "tail/split/ratio", Aim::AtMost(1.3)),
    (
        "fairness-without-lanes",
        "fairness/ratio",
        Aim::AtLeast(0.8),
    ),
    ("leader-followers", "strategies/ratio", Aim::AtMost(1.05)),
    (
        "hand-over/worker",
        "hand-over/worker-ratio",
        Aim::AtMost(1.2),
    ),
    (
        "hand-over/reactor",
        "hand-over/reactor-ratio",
        Aim::AtMost(1.2),
    ),
    (
        "allocations/leader-followers",
        "allocations/leader-followers",
        Aim::AtMost(0.0),
    ),
    (
        "allocations/half-sync",
        "allocations/half-sync",
        Aim::AtMost(0.0),
    ),
    ("allocations/lane", "allocations/lane", Aim::AtMost(0.0)),
    (
        "earliest-deadline-first",
        "overload/ratio",
        Aim::AtLeast(1.5),
    ),
];

/// Measures the rows whose names contain one of the words, all of them without words.
///
/// # Errors
/// The program does not build, or does not run. Without the privilege of real-time threads the rows say that they are
/// unmeasurable.
pub(crate) fn rows(words: &[String]) -> Result<Vec<Row>, String> {
    let asked =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let wanted: Vec<_> = ROWS.iter().filter(|(name, _, _)| asked(name)).collect();
    figures::lanes::build()?;
    let others = quiet::wait();
    if let Some(warning) = others.warning {
        eprintln!("{warning}");
    }
    let groups = wanted
        .iter()
        .filter_map(|(_, number, _)| number.split('/').next());
    let output = Command::new(programs::ours("papers-lanes"))
        .arg("claims")
        .args(groups)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("papers-lanes: {e}"))?;
    if !output.status.success() {
        return Err(format!("papers-lanes: {}", output.status));
    }
    let mut measured: Measured =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("papers-lanes: {e}"))?;
    compute(&mut measured.numbers);
    let row = |(name, number, aim): &&(&str, &str, Aim)| Row {
        name: format!("lanes:{name}"),
        measured: measured.numbers.get(*number).copied().unwrap_or(f64::NAN),
        aim: *aim,
        note: note(number, &measured),
    };
    Ok(wanted.iter().map(row).collect())
}

/// The conclusions from several numbers.
fn compute(numbers: &mut BTreeMap<String, f64>) {
    let of = |name: &str| numbers.get(name).copied().unwrap_or(f64::NAN);
    let met = ["high", "medium", "low"].map(|name| of(&format!("deadlines/{name}/met")));
    // Best-effort clients are to have lost all that they would have, before the low lane loses something.
    let effort = of("deadlines/best-effort/rate") / of("deadlines/capacity");
    let order = met.is_sorted_by(|a, b| a >= b) && effort <= 0.01;
    let strategies = of("strategies/leader-followers") / of("strategies/plain");
    numbers.insert("deadlines/order".to_owned(), f64::from(u8::from(order)));
    numbers.insert("strategies/ratio".to_owned(), strategies);
}

/// The numbers of its group, for people.
fn note(number: &str, measured: &Measured) -> String {
    if let Some(why) = &measured.unmeasurable {
        return format!("unmeasurable: {why}");
    }
    let group = number.split('/').next().unwrap_or_default();
    let of_group = measured
        .numbers
        .iter()
        .filter(|(name, _)| name.split('/').next() == Some(group) && name.as_str() != number);
    let mut each: Vec<String> = of_group
        .map(|(name, value)| {
            let name = name.split_once('/').map_or(name.as_str(), |(_, name)| name);
            format!("{name} {value:.4}")
        })
        .collect();
    each.push(format!("sched_rt_runtime_us was {}", measured.bound));
    each.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(of: &[(&str, f64)]) -> BTreeMap<String, f64> {
        of.iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect()
    }

    #[test]
    fn the_order_of_loss_is_best_effort_then_low_then_medium() {
        let order = |effort, low, medium, high| {
            let mut numbers = numbers(&[
                ("deadlines/best-effort/rate", effort),
                ("deadlines/capacity", 100.0),
                ("deadlines/low/met", low),
                ("deadlines/medium/met", medium),
                ("deadlines/high/met", high),
            ]);
            compute(&mut numbers);
            numbers["deadlines/order"] == 1.0
        };
        assert!(order(0.0, 0.0, 60.0, 100.0));
        assert!(!order(20.0, 0.0, 60.0, 100.0));
        assert!(!order(0.0, 60.0, 0.0, 100.0));
        assert!(!order(0.0, f64::NAN, 0.0, 100.0));
    }

    #[test]
    fn a_row_that_cannot_be_measured_says_why() {
        let text = r#"{"numbers":{},"unmeasurable":"no privilege"}"#;
        let measured: Measured = serde_json::from_str(text).unwrap();
        let said = note("tail/same/ratio", &measured);
        assert_eq!(said, "unmeasurable: no privilege");
    }

    #[test]
    fn a_note_has_the_numbers_of_its_group() {
        let measured = Measured {
            numbers: numbers(&[
                ("tail/same/ratio", 1.0),
                ("tail/same/alone", 80.0),
                ("x/y", 1.0),
            ]),
            bound: "950000".to_owned(),
            unmeasurable: None,
        };
        let expected = "same/alone 80.0000, sched_rt_runtime_us was 950000";
        assert_eq!(note("tail/same/ratio", &measured), expected);
    }
}
