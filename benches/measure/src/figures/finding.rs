//! A paper's claim and today's verdict, computed from the data.

use crate::figures::data::Data;
use crate::figures::measured::{LOST, Measured};
use crate::measure::statistics::three_digits;
use crate::row::{Aim, Row};

/// Whether a paper's claim holds of what is measured today.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Holds {
    Yes,
    No,
    InPart,
    /// There is what the paper saw, and more of it.
    More,
    /// There is what the paper saw, and less of it.
    Less,
    /// The data has not been measured, or does not exist here.
    Unknown,
    /// The rounds are too far apart to decide.
    Untold,
    /// Some of what is asked for holds for sure, the rest is undecided.
    YesOrInPart,
    /// Some of what is asked for does not hold for sure, the rest is undecided.
    NoOrInPart,
}

impl Holds {
    /// Yes or no.
    pub(crate) const fn when(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// The verdict on several that were judged one by one: in part as soon as two are sure to differ, whatever
    /// the others are.
    pub(crate) fn all(each: impl IntoIterator<Item = Self>) -> Self {
        let parts = each.into_iter().flat_map(|one| match one {
            Self::YesOrInPart => vec![Self::Yes, Self::Untold],
            Self::NoOrInPart => vec![Self::No, Self::Untold],
            one => vec![one],
        });
        let (untold, sure): (Vec<Self>, Vec<Self>) = parts.partition(|one| *one == Self::Untold);
        let Some(first) = sure.first().copied() else {
            return match untold.is_empty() {
                true => Self::Unknown,
                false => Self::Untold,
            };
        };
        if sure.iter().any(|one| *one != first) {
            return Self::InPart;
        }
        match (first, untold.is_empty()) {
            (first, true) => first,
            (Self::InPart, _) => Self::InPart,
            (Self::Yes, _) => Self::YesOrInPart,
            (Self::No, _) => Self::NoOrInPart,
            _ => Self::Untold,
        }
    }

    /// The verdict on a claim that asks for both.
    pub(crate) fn and(first: Self, second: Self) -> Self {
        match (first, second) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::NoOrInPart, _) | (_, Self::NoOrInPart) => Self::NoOrInPart,
            (Self::Untold, Self::InPart) | (Self::InPart, Self::Untold) => Self::NoOrInPart,
            (Self::Untold, _) | (_, Self::Untold) => Self::Untold,
            (first, second) => Self::all([first, second]),
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::InPart => "in part",
            Self::More => "more than the paper saw",
            Self::Less => "less than the paper saw",
            Self::Unknown => "not measured",
            Self::Untold => "undecided",
            Self::YesOrInPart => "yes or in part",
            Self::NoOrInPart => "no or in part",
        }
    }
}

/// The placement of the programs of the finding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Placed {
    /// Client and server on one CPU.
    Same,
    /// Each program has a CPU of its own.
    Split,
    /// There is one process, and no network.
    Alone,
    /// In the virtual machine that has circuits of ATM.
    Emulated,
}

impl Placed {
    const fn words(self) -> &'static str {
        match self {
            Self::Same => "one CPU",
            Self::Split => "a CPU each",
            Self::Alone => "one process",
            Self::Emulated => "an emulated CPU",
        }
    }
}

/// A paper's claim beside what we see.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// In our own words, with the figure or table.
    pub(crate) claim: String,
    /// The result, with numbers from the data.
    pub(crate) seen: String,
    pub(crate) holds: Holds,
    /// Where, if it is not where the experiment's other findings are of.
    pub(crate) placed: Option<Placed>,
    /// Its number of ours that has to stay: name, value, aim.
    pub(crate) number: Option<(String, f64, Aim)>,
}

/// A number that a claim needs: of many rounds, or of one.
pub(crate) trait Number: Copy {
    /// Whether it can be computed with.
    fn is_number(self) -> bool;
}

impl Number for f64 {
    fn is_number(self) -> bool {
        self.is_finite()
    }
}

impl Number for Measured {
    fn is_number(self) -> bool {
        self.is_finite()
    }
}

impl Finding {
    /// A claim that needs these numbers: not measured if one is not there, and undecided if one is no number.
    pub(crate) fn new<N: Number, const COUNT: usize>(
        claim: &str,
        numbers: [Option<N>; COUNT],
        see: impl FnOnce([N; COUNT]) -> (String, Holds),
    ) -> Self {
        let all: Vec<N> = numbers.into_iter().flatten().collect();
        let lost = all.iter().any(|number| !number.is_number());
        let (seen, holds) = match <[N; COUNT]>::try_from(all) {
            Ok(_) if lost => (LOST.to_owned(), Holds::Untold),
            Ok(all) => see(all),
            Err(_) => ("not measured here".to_owned(), Holds::Unknown),
        };
        Self::said(claim, seen, holds)
    }

    /// A claim that has been judged.
    pub(crate) fn said(claim: &str, seen: String, holds: Holds) -> Self {
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
        Self::said(claim, why.to_owned(), Holds::Unknown)
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

/// The text of a page about a finding: medians without their quartiles, and as many of the first clauses as
/// fit. The first one is always there: a text is written so that it fits, which a test of the page checks.
fn brief(seen: &str, most: usize) -> String {
    let medians = without_quartiles(seen);
    let mut brief = String::new();
    for clause in medians.split("; ") {
        let separator = if brief.is_empty() { "" } else { "; " };
        let fits = [&*brief, separator, clause].map(|part| part.chars().count());
        if !brief.is_empty() && fits.iter().sum::<usize>() > most {
            break;
        }
        brief.push_str(separator);
        brief.push_str(clause);
    }
    brief
}

/// A text without the ranges that stand in parentheses behind medians: ` (×1.10 to ×1.21)`.
pub(crate) fn without_quartiles(seen: &str) -> String {
    let mut text = String::new();
    let mut rest = seen;
    while let Some((before, behind)) = rest.split_once(" (") {
        text.push_str(before);
        let range = behind.split_once(')').filter(|(range, _)| is_range(range));
        rest = match range {
            Some((_, behind)) => behind,
            None => {
                text.push_str(" (");
                behind
            }
        };
    }
    text + rest
}

/// Whether a text is two numbers: `×1.10 to ×1.21`, `95.5 to 101`.
fn is_range(text: &str) -> bool {
    let is_number = |word: &str| {
        word.trim_start_matches(['×', '-', '−'])
            .starts_with(|c: char| c.is_ascii_digit())
    };
    text.split_once(" to ")
        .is_some_and(|(low, high)| is_number(low) && is_number(high))
}

/// The table of a page, of findings whose programs are placed so unless they say otherwise, by a paper or by us; with
/// what is seen in brief, of at most so many characters and without claims that were not measured, or in full.
pub(crate) fn table(
    findings: &[Finding],
    placed: Placed,
    ours: bool,
    most: Option<usize>,
) -> String {
    let heads = match ours {
        true => "| the aim | programs on | what we see | met today? |",
        false => "| the paper's claim | programs on | what we see | holds today? |",
    };
    let mut lines = vec![heads.to_owned(), "|---|---|---|---|".to_owned()];
    let is_shown = |finding: &&Finding| most.is_none() || finding.holds != Holds::Unknown;
    for finding in findings.iter().filter(is_shown) {
        let Finding {
            claim, seen, holds, ..
        } = finding;
        let placed = match holds {
            Holds::Unknown => "–",
            _ => finding.placed.unwrap_or(placed).words(),
        };
        lines.push(format!(
            "| {claim} | {placed} | {} | {} |",
            most.map_or_else(|| seen.clone(), |most| brief(seen, most)),
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

/// `12.3 KiB`.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", three_digits(value))
}

/// `500`, `1,000,000`.
pub(crate) fn count(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
        let finding = Finding::new("x", [Some(1.0), Some(f64::NAN)], see);
        assert_eq!(finding.holds, Holds::Untold);
        let finding = Finding::new("x", [Some(1.0), Some(2.0)], see);
        assert_eq!(
            (finding.seen.as_str(), finding.holds),
            ("1 and 2", Holds::Yes)
        );
    }

    #[test]
    fn only_numbers_become_rows() {
        let plain = Finding::said("x", String::new(), Holds::Yes);
        let number = plain
            .clone()
            .with_number("flat", Some(1.04), Aim::AtMost(1.1));
        let rows = rows(&data(&[]), &[plain, number]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].line(), "figures:test:flat 1.04 <=1.1 ok");
    }

    #[test]
    fn a_number_that_is_not_there_falls_short() {
        let finding = Finding::new("x", [None::<f64>], |[_]| (String::new(), Holds::Yes));
        let finding = finding.with_number("flat", None, Aim::AtMost(1.1));
        assert!(rows(&data(&[]), &[finding])[0].line().contains("short"));
    }

    #[test]
    fn several_are_in_part_as_soon_as_two_are_sure_to_differ() {
        use Holds::{InPart, More, No, NoOrInPart, Unknown, Untold, Yes, YesOrInPart};
        for (each, together) in [
            (&[Yes, Yes][..], Yes),
            (&[More, More], More),
            (&[Yes, No], InPart),
            (&[Yes, No, Untold], InPart),
            (&[Yes, Untold], YesOrInPart),
            (&[No, Untold, No], NoOrInPart),
            (&[More, Untold], Untold),
            (&[YesOrInPart, Yes], YesOrInPart),
            (&[YesOrInPart, No], InPart),
            (&[NoOrInPart, Untold], NoOrInPart),
            (&[InPart, Untold], InPart),
            (&[Untold, Untold], Untold),
            (&[], Unknown),
        ] {
            assert_eq!(Holds::all(each.iter().copied()), together, "{each:?}");
        }
    }

    #[test]
    fn large_numbers_have_commas() {
        for (number, text) in [
            (1.0, "1"),
            (500.0, "500"),
            (1e3, "1,000"),
            (123_456.0, "123,456"),
            (1e6, "1,000,000"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn a_claim_of_two_parts_needs_both() {
        use Holds::{InPart, No, NoOrInPart, Unknown, Untold, Yes, YesOrInPart};
        for (first, second, both) in [
            (NoOrInPart, Yes, NoOrInPart),
            (YesOrInPart, InPart, InPart),
            (YesOrInPart, No, No),
            (Untold, InPart, NoOrInPart),
            (Yes, Yes, Yes),
            (Yes, No, No),
            (Untold, No, No),
            (Untold, Yes, Untold),
            (Unknown, Yes, Unknown),
        ] {
            assert_eq!(Holds::and(first, second), both);
            assert_eq!(Holds::and(second, first), both);
        }
    }

    #[test]
    fn a_table_has_a_line_a_claim() {
        let finding = Finding::new("it is flat", [Some(1.0)], |[_]| {
            ("1".to_owned(), Holds::InPart)
        });
        let of = |finding: Finding| table(&[finding], Placed::Same, false, Some(120));
        let elsewhere = finding.clone().placed(Placed::Alone);
        assert!(of(finding).ends_with("| it is flat | one CPU | 1 | in part |\n"));
        assert!(of(elsewhere).ends_with("| it is flat | one process | 1 | in part |\n"));
    }

    #[test]
    fn a_page_has_medians_and_the_clauses_that_fit() {
        let seen = "zorb ×1.16 (×0.94 to ×1.39), omniORB 92 % (90 to 92) of raw (which sleep); neither waits; 40 ns";
        for (most, text) in [
            (
                80,
                "zorb ×1.16, omniORB 92 % of raw (which sleep); neither waits; 40 ns",
            ),
            (
                60,
                "zorb ×1.16, omniORB 92 % of raw (which sleep); neither waits",
            ),
            (20, "zorb ×1.16, omniORB 92 % of raw (which sleep)"),
        ] {
            assert_eq!(brief(seen, most), text);
        }
        assert_eq!(brief("a (b", 10), "a (b");
    }

    #[test]
    fn what_was_not_measured_ran_nowhere_and_is_not_on_the_page() {
        let finding = Finding::new("it is flat", [None::<f64>], |[_]| {
            (String::new(), Holds::Yes)
        });
        let table = |most| table(std::slice::from_ref(&finding), Placed::Same, false, most);
        let line = table(None);
        assert!(
            line.ends_with("| it is flat | – | not measured here | not measured |\n"),
            "{line}"
        );
        assert!(table(Some(120)).ends_with("|---|---|---|---|\n"));
    }
}
