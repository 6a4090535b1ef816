//! Rankings over many runs, each of which ranks functions or calls in another order.

use crate::measure::statistics::median;
use std::collections::BTreeMap;

/// The result of a run: a value by its name.
pub(super) type Run = BTreeMap<String, f64>;

/// Adds up what has the same name.
pub(super) fn run(values: impl IntoIterator<Item = (String, f64)>) -> Run {
    let mut all = Run::new();
    for (name, value) in values {
        *all.entry(name).or_insert(0.0) += value;
    }
    all
}

/// The names whose median over all runs is largest, the largest first, with the value of every run; what a run does not
/// name is nothing there.
pub(super) fn ranked(runs: &[Run], most: usize) -> Vec<(String, Vec<f64>)> {
    let names: std::collections::BTreeSet<&String> = runs.iter().flat_map(Run::keys).collect();
    let of = |name: &String| -> Vec<f64> {
        let each = runs.iter().map(|run| run.get(name).copied());
        each.map(Option::unwrap_or_default).collect()
    };
    let mut all: Vec<_> = names
        .into_iter()
        .map(|name| (name.clone(), of(name)))
        .collect();
    let middle = |values: &[f64]| median(values.iter().copied()).unwrap_or(0.0);
    all.sort_by(|(_, a), (_, b)| middle(b).total_cmp(&middle(a)));
    all.truncate(most);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usually_first_is_first_and_one_run_does_not_change_that() {
        let of = |values: &[(&str, f64)]| {
            run(values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value)))
        };
        let runs = [
            of(&[("write", 50.0), ("read", 30.0), ("read", 10.0)]),
            of(&[("write", 48.0), ("read", 41.0), ("page", 60.0)]),
            of(&[("write", 52.0), ("read", 39.0)]),
        ];
        let all = ranked(&runs, 2);
        assert_eq!(all[0], ("write".to_owned(), vec![50.0, 48.0, 52.0]));
        assert_eq!(all[1], ("read".to_owned(), vec![40.0, 41.0, 39.0]));
        assert_eq!(all.len(), 2);
        assert_eq!(ranked(&runs, 9)[2].1, [0.0, 60.0, 0.0]);
    }
}
