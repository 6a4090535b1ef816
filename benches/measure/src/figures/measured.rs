//! A measured number with the spread of its rounds. Each verdict that a finding draws from two measured numbers is
//! drawn here.

use crate::figures::data::Point;
use crate::figures::finding::Holds;
use crate::measure::statistics::{median, quantile, three_digits};

/// The most rounds that are kept one by one; a run of more is refused.
pub(crate) const MOST_ROUNDS: usize = 16;

/// Two numbers within this factor of each other count as equal: the page calls them *the same*, *about* and *as
/// fast*. The quartiles of a quarter to a half of all points are farther apart than that, so that a smaller one would
/// tell nothing.
pub(crate) const EQUAL: f64 = 1.15;

/// A gain of no more than this counts as none: where many rounds are close to each other it can still be seen.
pub(crate) const NOTHING: f64 = 1.05;

/// The note on a ratio whose divisor may be zero.
pub(crate) const LOST: &str = "less than the rounds can tell";

/// The median over the rounds, with the quartiles as its bounds. A number that is computed from several of the same
/// rounds is computed in each round, since a machine that is slower for a while is slower for all of them. From numbers
/// of different rounds come the least and the greatest value that the quartiles allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    each: Each,
}

/// The value of a number in each round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Each {
    /// Equal in all rounds.
    Constant,
    /// Not kept, or computed from numbers of different rounds.
    Unknown,
    Known(Rounds),
}

/// Values in the order of a run's rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rounds {
    run: usize,
    count: usize,
    /// The values of the counted rounds; the rest is unused.
    values: [f64; MOST_ROUNDS],
}

impl Rounds {
    fn new(run: usize, each: &[f64]) -> Option<Self> {
        let mut values = [0.0; MOST_ROUNDS];
        values.get_mut(..each.len())?.copy_from_slice(each);
        Some(Self {
            run,
            count: each.len(),
            values,
        })
    }

    fn all(&self) -> &[f64] {
        self.values.get(..self.count).unwrap_or_default()
    }

    fn map(&self, of: impl Fn(f64) -> f64) -> Option<Self> {
        let each: Vec<f64> = self.all().iter().map(|value| of(*value)).collect();
        Self::new(self.run, &each)
    }

    /// The combined values of both in each round; none if they are of different rounds.
    fn with(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Option<Self> {
        if (self.run, self.count) != (other.run, other.count) {
            return None;
        }
        let pairs = self.all().iter().zip(other.all());
        let each: Vec<f64> = pairs.map(|(a, b)| of(*a, *b)).collect();
        Self::new(self.run, &each)
    }
}

impl From<&Point> for Measured {
    fn from(point: &Point) -> Self {
        let known = match point.each.is_empty() {
            true => None,
            false => Rounds::new(point.run, &point.each),
        };
        Self {
            each: known.map_or(Each::Unknown, Each::Known),
            ..Self::apart(point.value, point.low, point.high)
        }
    }
}

impl Measured {
    /// A number that is equal in all rounds.
    pub(crate) const fn exactly(value: f64) -> Self {
        Self {
            median: value,
            least: value,
            most: value,
            each: Each::Constant,
        }
    }

    /// A median and what is known of how far the rounds are apart, but not what it was in each.
    pub(crate) const fn apart(median: f64, least: f64, most: f64) -> Self {
        Self {
            median,
            least,
            most,
            each: Each::Unknown,
        }
    }

    /// The median and the quartiles of what is known of each round; none if one of them is no number.
    fn of_rounds(rounds: Rounds) -> Option<Self> {
        let all = rounds.all();
        if !all.iter().all(|value| value.is_finite()) {
            return None;
        }
        Some(Self {
            median: quantile(all, 0.5)?,
            least: quantile(all, 0.25)?,
            most: quantile(all, 0.75)?,
            each: Each::Known(rounds),
        })
    }

    /// The combined values of two numbers in each round; none if a round of either is unknown.
    fn in_each(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Option<Self> {
        let rounds = match (self.each, other.each) {
            (Each::Known(a), Each::Known(b)) => a.with(&b, of),
            (Each::Known(a), Each::Constant) => a.map(|value| of(value, other.median)),
            (Each::Constant, Each::Known(b)) => b.map(|value| of(self.median, value)),
            (Each::Constant, Each::Constant) => {
                return Some(Self::exactly(of(self.median, other.median)));
            }
            (Each::Unknown, _) | (_, Each::Unknown) => None,
        };
        Self::of_rounds(rounds?)
    }

    /// Whether it is above zero in every known round.
    fn is_something(self) -> bool {
        match self.each {
            Each::Known(rounds) => rounds.all().iter().all(|value| *value > 0.0),
            Each::Constant | Each::Unknown => self.least > 0.0,
        }
    }

    pub(crate) const fn is_finite(self) -> bool {
        self.median.is_finite() && self.least.is_finite() && self.most.is_finite()
    }

    /// Its ratio to another one; not a number where the other may be zero, as the difference of two times may.
    pub(crate) fn over(self, other: Self) -> Self {
        if other.least <= 0.0 {
            return Self::exactly(f64::NAN);
        }
        let each = match other.is_something() {
            true => self.in_each(other, |of, to| of / to),
            false => None,
        };
        each.unwrap_or_else(|| {
            Self::apart(
                self.median / other.median,
                self.least / other.most,
                self.most / other.least,
            )
        })
    }

    /// Its difference to another one.
    pub(crate) fn minus(self, other: Self) -> Self {
        let each = self.in_each(other, |of, less| of - less);
        each.unwrap_or_else(|| {
            Self::apart(
                self.median - other.median,
                self.least - other.most,
                self.most - other.least,
            )
        })
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let each = self.in_each(other, |one, more| one + more);
        each.unwrap_or_else(|| {
            Self::apart(
                self.median + other.median,
                self.least + other.least,
                self.most + other.most,
            )
        })
    }

    /// The number under an increasing function.
    pub(crate) fn map(self, grows: impl Fn(f64) -> f64) -> Self {
        let each = match self.each {
            Each::Known(rounds) => rounds.map(&grows).map_or(Each::Unknown, Each::Known),
            other => other,
        };
        Self {
            each,
            ..Self::apart(grows(self.median), grows(self.least), grows(self.most))
        }
    }

    pub(crate) fn times(self, factor: f64) -> Self {
        self.map(|value| factor * value)
    }

    /// Its share of the whole where it is a share of something that is itself a share of the whole; neither is below
    /// nothing.
    pub(crate) fn part_of(self, part: Self) -> Self {
        let each = self.in_each(part, |of, part| of * part);
        each.unwrap_or_else(|| {
            Self::apart(
                self.median * part.median,
                self.least * part.least,
                self.most * part.most,
            )
        })
    }

    /// The rest of the whole, less this.
    pub(crate) fn rest_of(self, whole: f64) -> Self {
        Self::exactly(whole).minus(self)
    }

    /// The sum of all.
    pub(crate) fn sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(Self::plus)
    }

    /// The median of all: in each round, or else by their medians.
    pub(crate) fn middle(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let all: Vec<Self> = all.into_iter().collect();
        let part = |of: fn(&Self) -> f64| median(all.iter().map(of));
        Self::middle_of_each(&all).or_else(|| {
            Some(Self::apart(
                part(|one| one.median)?,
                part(|one| one.least)?,
                part(|one| one.most)?,
            ))
        })
    }

    fn middle_of_each(all: &[Self]) -> Option<Self> {
        let known = all.iter().map(|one| match &one.each {
            Each::Known(rounds) => Some(rounds),
            Each::Constant | Each::Unknown => None,
        });
        let known: Vec<&Rounds> = known.collect::<Option<_>>()?;
        let first = known.first()?;
        let same = |rounds: &&Rounds| (rounds.run, rounds.count) == (first.run, first.count);
        if !known.iter().all(same) {
            return None;
        }
        let middle = |at: usize| median(known.iter().filter_map(|r| r.all().get(at).copied()));
        let each: Vec<f64> = (0..first.count).map(middle).collect::<Option<_>>()?;
        Self::of_rounds(Rounds::new(first.run, &each)?)
    }

    /// The largest of them, by their medians.
    pub(crate) fn largest(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let all = all.into_iter();
        all.max_by(|a, b| a.median.total_cmp(&b.median))
    }

    /// The smallest of them, by their medians.
    pub(crate) fn smallest(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let all = all.into_iter();
        all.min_by(|a, b| a.median.total_cmp(&b.median))
    }

    /// The verdict of both quartiles, if it is the same.
    fn judged(self, of: impl Fn(f64) -> Holds) -> Holds {
        if !self.is_finite() {
            return Holds::Untold;
        }
        match (of(self.least), of(self.most)) {
            (least, most) if least == most => least,
            _ => Holds::Untold,
        }
    }

    /// Whether it is no more than that.
    pub(crate) fn at_most(self, limit: f64) -> Holds {
        self.judged(|value| Holds::when(value <= limit))
    }

    /// Whether it is more than that.
    pub(crate) fn above(self, limit: f64) -> Holds {
        self.judged(|value| Holds::when(value > limit))
    }

    /// Whether it is no less than that.
    pub(crate) fn at_least(self, limit: f64) -> Holds {
        self.judged(|value| Holds::when(value >= limit))
    }

    /// Whether it is less than that.
    pub(crate) fn below(self, limit: f64) -> Holds {
        self.judged(|value| Holds::when(value < limit))
    }

    /// Whether it is between them.
    pub(crate) fn within(self, low: f64, high: f64) -> Holds {
        Holds::and(self.at_least(low), self.at_most(high))
    }

    /// Whether a ratio is as good as one, in both directions.
    pub(crate) fn is_one(self) -> Holds {
        self.within(1.0 / EQUAL, EQUAL)
    }

    /// Whether a ratio is as good as one, or less.
    pub(crate) fn is_no_more(self) -> Holds {
        self.at_most(EQUAL)
    }

    /// Compares an effect with that in a paper, as ratios above one: as large, or larger, or less, or none at all.
    pub(crate) fn beside(self, low: f64, high: f64) -> Holds {
        self.judged(|value| match value {
            none if none <= NOTHING => Holds::No,
            less if less < low / EQUAL => Holds::Less,
            more if more > high * EQUAL => Holds::More,
            _ => Holds::Yes,
        })
    }

    /// Compares an amount with that in a paper: as much, or more, or less.
    pub(crate) fn about(self, low: f64, high: f64) -> Holds {
        self.judged(|value| match value {
            less if less < low / EQUAL => Holds::Less,
            more if more > high * EQUAL => Holds::More,
            _ => Holds::Yes,
        })
    }

    /// `×1.07 (×1.06 to ×1.28)`.
    pub(crate) fn factor(self) -> String {
        self.text(|value| format!("×{}", three_digits(value)))
    }

    /// `35.0 µs (34.1 to 36.2)`.
    pub(crate) fn with_unit(self, unit: &str) -> String {
        self.in_unit(&format!(" {unit}"), three_digits)
    }

    /// `2.63 (2.51 to 2.87)`.
    pub(crate) fn plain(self) -> String {
        self.text(three_digits)
    }

    /// The median alone, where the others are said elsewhere.
    pub(crate) fn median_alone(self) -> Self {
        Self::exactly(self.median)
    }

    /// The text of a share of one: `58 % (57 to 61)`.
    pub(crate) fn share(self) -> String {
        self.times(100.0).percent()
    }

    /// The text of a number that is in percent already.
    pub(crate) fn percent(self) -> String {
        let whole = |value: f64| match value.abs() {
            small if small < 9.95 => format!("{value:.1}"),
            _ => format!("{value:.0}"),
        };
        self.in_unit(" %", whole)
    }

    /// `unit`: with a space before it, if there is any.
    fn in_unit(self, unit: &str, word: impl Fn(f64) -> String) -> String {
        let Self {
            median,
            least,
            most,
            ..
        } = self;
        if !self.is_finite() {
            return LOST.to_owned();
        }
        let [median, least, most] = [median, least, most].map(word);
        match least == median && most == median {
            true => format!("{median}{unit}"),
            false => format!("{median}{unit} ({least} to {most})"),
        }
    }

    fn text(self, word: impl Fn(f64) -> String) -> String {
        self.in_unit("", word)
    }
}

/// The ratio of one to the other, where there are both.
pub(crate) fn ratio(of: Option<Measured>, to: Option<Measured>) -> Option<Measured> {
    Some(of?.over(to?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(median: f64, least: f64, most: f64) -> Measured {
        Measured::apart(median, least, most)
    }

    /// A point of so many rounds, with what it was in each.
    fn rounds(run: usize, each: &[f64]) -> Measured {
        Measured::of_rounds(Rounds::new(run, each).unwrap()).unwrap()
    }

    #[test]
    fn a_ratio_is_of_the_same_rounds() {
        // The machine was slower in two of them.
        let (a, b) = (
            rounds(1, &[10.0, 13.0, 10.0, 13.0]),
            rounds(1, &[5.0, 6.5, 5.0, 6.5]),
        );
        let times = a.over(b);
        assert_eq!((times.median, times.least, times.most), (2.0, 2.0, 2.0));
        assert_eq!(times.factor(), "×2.00");
        let less = a.minus(b.times(2.0));
        assert_eq!((less.median, less.least, less.most), (0.0, 0.0, 0.0));
        // And so is what is computed from a ratio.
        let one = times.times(0.5).rest_of(1.0);
        assert_eq!((one.least, one.most), (0.0, 0.0));
        let middle = Measured::middle([a, b, a]).unwrap();
        assert_eq!(middle.over(a).factor(), "×1.00");
        assert_eq!(Measured::sum([a, b]).unwrap().over(b).factor(), "×3.00");
    }

    #[test]
    fn rounds_of_another_run_are_not_paired() {
        let a = rounds(1, &[10.0, 12.0]);
        for other in [
            rounds(2, &[5.0, 6.0]),
            rounds(1, &[5.0, 6.0, 5.5]),
            of(5.5, 5.25, 5.75),
        ] {
            let apart = of(a.median, a.least, a.most);
            let plain = of(other.median, other.least, other.most);
            assert_eq!(a.over(other), apart.over(plain));
            assert_eq!(a.minus(other), apart.minus(plain));
            assert_eq!(a.plus(other), apart.plus(plain));
            let middle = Measured::middle([a, other]);
            assert_eq!(middle, Measured::middle([apart, plain]));
        }
    }

    #[test]
    fn a_point_without_its_rounds_is_what_its_quartiles_allow() {
        let mut data = crate::figures::data::tests::data(&[("p", "zorb", 1.0, None, 10.0)]);
        let point = &mut data.points[0];
        (point.low, point.high) = (9.0, 12.0);
        let twice = |point: &Point| Measured::from(point).over(point.into());
        assert_eq!(twice(point), of(1.0, 0.75, 12.0 / 9.0));
        point.each = vec![9.0, 10.0, 12.0];
        assert_eq!(twice(point).factor(), "×1.00");
        // More than are kept by themselves.
        point.each = vec![10.0; MOST_ROUNDS + 1];
        assert_eq!(twice(point), of(1.0, 0.75, 12.0 / 9.0));
    }

    #[test]
    fn what_is_nothing_in_a_round_is_divided_by_as_its_quartiles_allow() {
        let part = rounds(1, &[-0.1, 1.0, 1.0, 1.0, 2.0]);
        let times = rounds(1, &[1.0, 2.0, 2.0, 2.0, 4.0]).over(part);
        assert_eq!(times, of(2.0, 2.0, 2.0));
    }

    #[test]
    fn rounds_that_are_too_far_apart_leave_a_claim_undecided() {
        for (times, no_more, is_one) in [
            (of(1.0, 0.95, 1.1), Holds::Yes, Holds::Yes),
            (of(1.0, 0.8, 1.1), Holds::Yes, Holds::Untold),
            (of(1.1, 0.95, 1.3), Holds::Untold, Holds::Untold),
            (of(1.3, 1.2, 1.4), Holds::No, Holds::No),
            (of(0.5, 0.4, 0.6), Holds::Yes, Holds::No),
        ] {
            assert_eq!(times.is_no_more(), no_more, "{}", times.factor());
            assert_eq!(times.is_one(), is_one, "{}", times.factor());
            let opposite = match no_more {
                Holds::Yes => Holds::No,
                Holds::No => Holds::Yes,
                other => other,
            };
            assert_eq!(times.above(EQUAL), opposite, "{}", times.factor());
        }
    }

    #[test]
    fn both_ends_of_a_range_are_a_limit() {
        let share = of(50.0, 45.0, 55.0);
        assert_eq!(share.within(40.0, 60.0), Holds::Yes);
        assert_eq!(share.within(50.0, 60.0), Holds::Untold);
        assert_eq!(share.within(60.0, 70.0), Holds::No);
        assert_eq!(share.below(40.0), Holds::No);
        assert_eq!(share.below(55.0), Holds::Untold);
        assert_eq!(share.at_least(45.0), Holds::Yes);
    }

    #[test]
    fn an_effect_is_as_large_as_a_papers_or_larger_or_less_or_none() {
        for (times, holds) in [
            (of(326.0, 320.0, 330.0), Holds::More),
            (of(1.8, 1.6, 2.2), Holds::Yes),
            (of(1.2, 1.1, 1.25), Holds::Less),
            (of(1.0, 0.9, 1.04), Holds::No),
            (of(0.2, 0.1, 0.3), Holds::No),
            (of(2.2, 1.9, 2.6), Holds::Untold),
            (of(1.1, 1.0, 1.2), Holds::Untold),
        ] {
            assert_eq!(times.beside(1.5, 2.0), holds, "{}", times.factor());
        }
        // An amount may be small.
        assert_eq!(of(0.5, 0.4, 0.6).about(4.0, 15.0), Holds::Less);
        assert_eq!(of(19.0, 18.0, 20.0).about(4.0, 15.0), Holds::More);
        assert_eq!(of(7.0, 5.0, 9.0).about(4.0, 15.0), Holds::Yes);
    }

    #[test]
    fn what_is_computed_from_several_is_as_far_apart_as_they_allow() {
        let (a, b) = (of(10.0, 9.0, 12.0), of(5.0, 4.0, 6.0));
        assert_eq!(a.over(b), of(2.0, 1.5, 3.0));
        assert_eq!(a.minus(b), of(5.0, 3.0, 8.0));
        assert_eq!(a.plus(b), of(15.0, 13.0, 18.0));
        assert_eq!(b.rest_of(100.0), of(95.0, 94.0, 96.0));
        assert_eq!(a.part_of(b), of(50.0, 36.0, 72.0));
        assert_eq!(Measured::sum([a, b]), Some(of(15.0, 13.0, 18.0)));
        assert_eq!(Measured::largest([b, a]), Some(a));
        assert_eq!(Measured::smallest([b, a]), Some(b));
        assert_eq!(Measured::middle([b, a, a]), Some(a));
        assert_eq!(Measured::middle([]), None);
        assert_eq!(ratio(Some(a), None), None);
    }

    #[test]
    fn a_ratio_to_what_may_be_nothing_is_no_number_and_not_judged() {
        let lost = of(1.0, 0.9, 1.1).over(of(0.1, -0.1, 0.3));
        assert!(!lost.is_finite());
        assert_eq!(
            (lost.is_one(), lost.above(1.0)),
            (Holds::Untold, Holds::Untold)
        );
        assert_eq!(lost.beside(1.0, 2.0), Holds::Untold);
        assert_eq!(
            (lost.factor(), lost.share()),
            (LOST.to_owned(), LOST.to_owned())
        );
    }

    #[test]
    fn quartiles_are_shown_where_they_differ_from_the_median() {
        let apart = of(1.07, 1.06, 1.28);
        assert_eq!(apart.factor(), "×1.07 (×1.06 to ×1.28)");
        assert_eq!(apart.with_unit("µs"), "1.07 µs (1.06 to 1.28)");
        assert_eq!(apart.share(), "107 % (106 to 128)");
        assert_eq!(Measured::exactly(2.0).factor(), "×2.00");
        assert_eq!(Measured::exactly(2.0).percent(), "2.0 %");
        assert_eq!(of(50.01, 50.0, 50.02).with_unit("ns"), "50.0 ns");
        assert_eq!(apart.plain(), "1.07 (1.06 to 1.28)");
        assert_eq!(apart.median_alone().plain(), "1.07");
    }
}
