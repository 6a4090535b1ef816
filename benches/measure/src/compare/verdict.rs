//! Verdicts of the rounds, for each row and for all together.

use super::against::Compared;
use super::{Cell, Stat};
use crate::measure::run::Sample;
use crate::measure::statistics::{geometric_mean, median, resolution, three_digits};
use xtask::step::Done;

/// A row may take this much more than before, or what two runs of the same differ by, if that is more.
const ROW: f64 = 0.05;
/// All rows together, as the geometric mean.
const ALL: f64 = 1.02;
/// The slowest hundredth of calls.
const P99: f64 = 1.10;

/// The time of a cell in this tree over its earlier time: above one is slower, of rates too.
#[derive(Debug)]
struct Ratio {
    cell: Cell,
    old: f64,
    new: f64,
    ratio: f64,
    resolution: f64,
    /// A cell in which single calls are timed.
    p99: Option<(f64, f64)>,
}

#[derive(Debug)]
pub(super) struct Verdict {
    ratios: Vec<Ratio>,
}

impl Verdict {
    pub(super) fn of(all: &[Compared]) -> Self {
        Self {
            ratios: all.iter().filter_map(Ratio::of).collect(),
        }
    }

    fn geometric_mean(&self) -> f64 {
        let ratios: Vec<f64> = self.ratios.iter().map(|row| row.ratio).collect();
        geometric_mean(&ratios).unwrap_or(f64::NAN)
    }

    /// The verdict as a table in Markdown.
    pub(super) fn table(&self) -> String {
        let mut text = "| work | configuration | placement | unit | old | new | cost new ÷ old | old ÷ old | p99 new ÷ old | p99 old ÷ old | |\n\
             |---|---|---|---|---:|---:|---:|---:|---:|---:|---|\n"
            .to_owned();
        for row in &self.ratios {
            let Cell {
                work,
                peer,
                placement,
            } = row.cell;
            let (p99, spread) = match row.p99 {
                Some((ratio, spread)) => {
                    (three_digits(ratio), format!("±{}", three_digits(spread)))
                }
                None => ("–".to_owned(), "–".to_owned()),
            };
            text += &format!(
                "| {} | {} | {placement} | {} | {} | {} | {:.3} | ±{:.3} | {p99} | {spread} | {} |\n",
                work.name(),
                peer.name.trim_start_matches("zorb-"),
                Stat::main_of(&work).unit(),
                three_digits(row.old),
                three_digits(row.new),
                row.ratio,
                row.resolution,
                row.said()
            );
        }
        text + &format!(
            "\nAll rows together (geometric mean): {:.3}, at most {ALL}.\n",
            self.geometric_mean()
        )
    }

    /// # Errors
    /// A row, or all together, takes more than it may.
    pub(super) fn judged(&self) -> Done {
        let short = self.ratios.iter().filter(|row| row.said() != "ok").count();
        if short == 0 && self.geometric_mean() <= ALL {
            return Ok(());
        }
        Err(format!(
            "{short} of {} rows take more than they may",
            self.ratios.len()
        ))
    }
}

impl Ratio {
    /// None if it was not measured.
    fn of(compared: &Compared) -> Option<Self> {
        let stat = Stat::main_of(&compared.cell.work);
        let [old, again, new] = &compared.samples;
        let ratios = |stat, of: &[Sample]| ratios(stat, of, old);
        let middle = |of: &[Sample]| median(of.iter().map(|sample| stat.of(sample)));
        let p99 = || {
            let spread = resolution(&ratios(Stat::P99, again))?;
            Some((median(ratios(Stat::P99, new))?, spread))
        };
        Some(Self {
            cell: compared.cell,
            old: middle(old)?,
            new: middle(new)?,
            ratio: median(ratios(stat, new))?,
            resolution: resolution(&ratios(stat, again))?,
            p99: (stat == Stat::P50).then(p99).flatten(),
        })
    }

    fn said(&self) -> &'static str {
        let slow = self.ratio > 1.0 + self.resolution.max(ROW);
        let late = self
            .p99
            .is_some_and(|(ratio, spread)| ratio > P99.max(1.0 + spread));
        match (slow, late) {
            (false, false) => "ok",
            (true, _) => "short",
            (false, true) => "p99 short",
        }
    }
}

/// Round by round, what one costs of the other.
fn ratios(stat: Stat, of: &[Sample], to: &[Sample]) -> Vec<f64> {
    let pairs = of.iter().zip(to).map(|(of, to)| (stat.of(of), stat.of(to)));
    match stat {
        Stat::P50 | Stat::P99 => pairs.map(|(of, to)| of / to).collect(),
        Stat::CallsPerSecond | Stat::Throughput => pairs.map(|(of, to)| to / of).collect(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::compare::against::tests::all_cells;

    pub(crate) fn sample(p50: f64) -> Sample {
        let text = format!(
            r#"{{"p50_ns":{p50},"p99_ns":{},"calls_per_s":{},"mbytes_per_s":{},"calls":1,"digest":"1"}}"#,
            2.0 * p50,
            1e9 / p50,
            1e6 / p50
        );
        serde_json::from_str(&text).unwrap()
    }

    /// All cells, with these times in all rounds.
    fn verdict(old: f64, again: f64, new: f64) -> Verdict {
        let all: Vec<Compared> = all_cells()
            .into_iter()
            .map(|cell| Compared {
                cell,
                samples: [old, again, new].map(|time| vec![sample(time); 3]),
            })
            .collect();
        Verdict::of(&all)
    }

    #[test]
    fn what_takes_longer_is_short_and_rates_count_the_other_way_round() {
        let verdict = verdict(100.0, 100.0, 120.0);
        for row in &verdict.ratios {
            assert!((row.ratio - 1.2).abs() < 1e-9, "{row:?}");
            assert_eq!(row.said(), "short");
        }
        assert!(verdict.judged().is_err());
        assert!(verdict.table().contains("| short |"));
    }

    #[test]
    fn a_difference_within_that_of_two_runs_of_the_same_says_nothing_of_a_row_but_of_all_together()
    {
        let verdict = verdict(100.0, 130.0, 120.0);
        assert!(verdict.ratios.iter().all(|row| row.said() == "ok"));
        assert!(verdict.judged().is_err());
    }

    #[test]
    fn what_takes_as_long_as_before_is_ok() {
        let verdict = verdict(100.0, 100.0, 101.0);
        assert_eq!(verdict.judged(), Ok(()));
        assert!(verdict.table().contains("(geometric mean): 1.010"));
    }
}
