//! What a paper says of a figure, and what is to be seen today: computed from the data.

use crate::claims::{Aim, Row};
use crate::figures::data::Data;
use crate::measure::statistics::three_digits;

/// Whether a paper's claim holds of what is measured today.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Holds {
    Yes,
    No,
    InPart,
    /// What it needs has not been measured, or does not exist here.
    Unknown,
    /// The rounds are too far apart to tell.
    Untold,
}

impl Holds {
    /// Yes or no.
    pub(crate) const fn when(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Whether both do, one of them, or none.
    pub(crate) const fn both(first: bool, second: bool) -> Self {
        match (first, second) {
            (true, true) => Self::Yes,
            (false, false) => Self::No,
            _ => Self::InPart,
        }
    }

    /// What two that were judged each for itself are together.
    pub(crate) fn together(first: Self, second: Self) -> Self {
        match (first, second) {
            (first, second) if first == second => first,
            (Self::Untold, _) | (_, Self::Untold) => Self::Untold,
            _ => Self::InPart,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::InPart => "in part",
            Self::Unknown => "not measured",
            Self::Untold => "not to be told",
        }
    }
}

/// Where the programs ran of which something is said.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Placed {
    /// Client and server on one CPU.
    Same,
    /// On a CPU each.
    Split,
    /// There is one process, and no network.
    Alone,
}

impl Placed {
    const fn words(self) -> &'static str {
        match self {
            Self::Same => "one CPU",
            Self::Split => "a CPU each",
            Self::Alone => "one process",
        }
    }
}

/// A paper's claim beside what we see.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// In our own words, with the figure or table.
    pub(crate) claim: String,
    /// With numbers from the data.
    pub(crate) seen: String,
    pub(crate) holds: Holds,
    /// Where, if it is not where the experiment's other findings are of.
    pub(crate) placed: Option<Placed>,
    /// What of it is a number of ours that has to stay: name, value, aim.
    pub(crate) number: Option<(String, f64, Aim)>,
}

impl Finding {
    /// A claim that needs these numbers, or has not been measured.
    pub(crate) fn new<const N: usize>(
        claim: &str,
        numbers: [Option<f64>; N],
        see: impl FnOnce([f64; N]) -> (String, Holds),
    ) -> Self {
        let mut all = [f64::NAN; N];
        for (to, from) in all.iter_mut().zip(numbers) {
            *to = from.unwrap_or(f64::NAN);
        }
        let (seen, holds) = if all.iter().all(|number| number.is_finite()) {
            see(all)
        } else {
            ("not measured here".to_owned(), Holds::Unknown)
        };
        Self {
            claim: claim.to_owned(),
            seen,
            holds,
            placed: None,
            number: None,
        }
    }

    /// A claim that no data of ours can answer, and why.
    pub(crate) fn not_measured(claim: &str, why: &str) -> Self {
        Self::new(claim, [], |[]| (why.to_owned(), Holds::Unknown))
    }

    /// The same, of programs that ran there.
    pub(crate) const fn placed(mut self, placed: Placed) -> Self {
        self.placed = Some(placed);
        self
    }

    /// The same, with a number that `cargo xtask claims figures` checks.
    pub(crate) fn with_number(mut self, name: &str, value: Option<f64>, aim: Aim) -> Self {
        self.number = Some((name.to_owned(), value.unwrap_or(f64::NAN), aim));
        self
    }
}

/// The table of a page, of findings whose programs are placed so unless they say otherwise, by a paper or by us.
pub(crate) fn table(findings: &[Finding], placed: Placed, ours: bool) -> String {
    let heads = match ours {
        true => "| what one would wish | programs on | what we see | so with zorb today? |",
        false => "| the paper's claim | programs on | what we see | holds today? |",
    };
    let mut lines = vec![heads.to_owned(), "|---|---|---|---|".to_owned()];
    for finding in findings {
        let Finding {
            claim, seen, holds, ..
        } = finding;
        let placed = match holds {
            Holds::Unknown => "–",
            _ => finding.placed.unwrap_or(placed).words(),
        };
        lines.push(format!(
            "| {claim} | {placed} | {seen} | {} |",
            holds.word()
        ));
    }
    lines.join("\n") + "\n"
}

/// The rows of `cargo xtask claims figures`.
pub(crate) fn rows(data: &Data, findings: &[Finding]) -> Vec<Row> {
    let numbers = findings.iter().filter_map(|finding| finding.number.clone());
    let row = |(name, value, aim): (String, f64, Aim)| Row {
        name: format!("figures:{}:{name}", data.experiment),
        measured: (value * 1000.0).round() / 1000.0,
        aim,
        note: String::new(),
    };
    numbers.map(row).collect()
}

/// What a value is of another.
pub(crate) fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    Some(of? / to?)
}

/// How much a series grows from its first to its last place, and its largest step over the smallest value between:
/// 1 for a flat one.
pub(crate) fn growth(line: &[(f64, f64)]) -> Option<f64> {
    Some(line.last()?.1 / line.first()?.1)
}

/// `12.3 µs`.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", three_digits(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_claim_without_its_numbers_is_not_judged() {
        let see = |[a, b]: [f64; 2]| (format!("{a} and {b}"), Holds::when(a < b));
        let finding = Finding::new("x", [Some(1.0), None], see);
        assert_eq!(finding.holds, Holds::Unknown);
        let finding = Finding::new("x", [Some(1.0), Some(2.0)], see);
        assert_eq!(
            (finding.seen.as_str(), finding.holds),
            ("1 and 2", Holds::Yes)
        );
    }

    #[test]
    fn only_numbers_become_rows() {
        let plain = Finding::new("x", [], |[]| (String::new(), Holds::Yes));
        let number = plain
            .clone()
            .with_number("flat", Some(1.04), Aim::AtMost(1.1));
        let rows = rows(&data(&[]), &[plain, number]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].line(), "figures:test:flat 1.04 <=1.1 ok");
    }

    #[test]
    fn a_number_that_is_not_there_falls_short() {
        let finding = Finding::new("x", [None], |[_]| (String::new(), Holds::Yes));
        let finding = finding.with_number("flat", None, Aim::AtMost(1.1));
        assert!(rows(&data(&[]), &[finding])[0].line().contains("short"));
    }

    #[test]
    fn growth_is_from_the_first_to_the_last() {
        assert_eq!(growth(&[(1.0, 2.0), (2.0, 9.0), (3.0, 3.0)]), Some(1.5));
        assert_eq!(growth(&[]), None);
    }

    #[test]
    fn a_table_has_a_line_a_claim() {
        let finding = Finding::new("it is flat", [Some(1.0)], |[_]| {
            ("1".to_owned(), Holds::InPart)
        });
        let of = |finding: Finding| table(&[finding], Placed::Same, false);
        let elsewhere = finding.clone().placed(Placed::Alone);
        assert!(of(finding).ends_with("| it is flat | one CPU | 1 | in part |\n"));
        assert!(of(elsewhere).ends_with("| it is flat | one process | 1 | in part |\n"));
    }

    #[test]
    fn what_was_not_measured_ran_nowhere() {
        let finding = Finding::new("it is flat", [None], |[_]| (String::new(), Holds::Yes));
        let line = table(&[finding], Placed::Same, false);
        assert!(
            line.ends_with("| it is flat | – | not measured here | not measured |\n"),
            "{line}"
        );
    }
}
