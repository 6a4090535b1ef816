//! A number with how far the rounds are apart, and what can be told of it: here and nowhere else a finding gets its
//! verdict from two measured numbers.

use crate::figures::data::Point;
use crate::figures::finding::Holds;
use crate::measure::statistics::three_digits;

/// What is within this factor of something is as good as equal to it: what the page calls *the same*, *about* and *as
/// fast*. The quartiles of a quarter to a half of all points are farther apart than that, so that a smaller one would
/// tell nothing.
pub(crate) const EQUAL: f64 = 1.15;

/// What is worth no more than this is worth nothing: where many rounds are close to each other it can still be seen.
pub(crate) const NOTHING: f64 = 1.05;

/// What is said of a ratio to what may be nothing.
pub(crate) const LOST: &str = "less than the rounds can tell";

/// The median over the rounds, and between which numbers it lies by their quartiles; of what is computed from several,
/// the least and the most that their quartiles allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl From<&Point> for Measured {
    fn from(point: &Point) -> Self {
        Self {
            median: point.value,
            least: point.low,
            most: point.high,
        }
    }
}

impl Measured {
    /// What does not differ from round to round.
    pub(crate) const fn exactly(value: f64) -> Self {
        Self {
            median: value,
            least: value,
            most: value,
        }
    }

    pub(crate) const fn is_finite(self) -> bool {
        self.median.is_finite() && self.least.is_finite() && self.most.is_finite()
    }

    /// How many times another one it is; no number where the other may be nothing, as the difference of two times may.
    pub(crate) fn over(self, other: Self) -> Self {
        if other.least <= 0.0 {
            return Self::exactly(f64::NAN);
        }
        Self {
            median: self.median / other.median,
            least: self.least / other.most,
            most: self.most / other.least,
        }
    }

    /// How much more than another one it is.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            median: self.median - other.median,
            least: self.least - other.most,
            most: self.most - other.least,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            median: self.median + other.median,
            least: self.least + other.least,
            most: self.most + other.most,
        }
    }

    /// What becomes of it by a function that grows.
    pub(crate) fn map(self, grows: impl Fn(f64) -> f64) -> Self {
        Self {
            median: grows(self.median),
            least: grows(self.least),
            most: grows(self.most),
        }
    }

    pub(crate) fn times(self, factor: f64) -> Self {
        self.map(|value| factor * value)
    }

    /// So many of the whole, less this.
    pub(crate) fn rest_of(self, whole: f64) -> Self {
        Self::exactly(whole).minus(self)
    }

    /// All of them together.
    pub(crate) fn sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(Self::plus)
    }

    /// The one in the middle, by their medians.
    pub(crate) fn middle(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let all: Vec<Self> = all.into_iter().collect();
        let part = |of: fn(&Self) -> f64| crate::measure::statistics::median(all.iter().map(of));
        Some(Self {
            median: part(|one| one.median)?,
            least: part(|one| one.least)?,
            most: part(|one| one.most)?,
        })
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

    /// What both ends of it say, if they say the same.
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

    /// An effect beside what a paper saw of it, as ratios above one: as large, or larger, or less, or none at all.
    pub(crate) fn beside(self, low: f64, high: f64) -> Holds {
        self.judged(|value| match value {
            none if none <= NOTHING => Holds::No,
            less if less < low / EQUAL => Holds::Less,
            more if more > high * EQUAL => Holds::More,
            _ => Holds::Yes,
        })
    }

    /// An amount beside what a paper saw of it: as much, or more, or less.
    pub(crate) fn about(self, low: f64, high: f64) -> Holds {
        self.judged(|value| match value {
            less if less < low / EQUAL => Holds::Less,
            more if more > high * EQUAL => Holds::More,
            _ => Holds::Yes,
        })
    }

    /// `×1.07 (×1.06 to ×1.28)`.
    pub(crate) fn factor(self) -> String {
        self.told(|value| format!("×{}", three_digits(value)))
    }

    /// `35.0 µs (34.1 to 36.2)`.
    pub(crate) fn with_unit(self, unit: &str) -> String {
        self.in_unit(&format!(" {unit}"), three_digits)
    }

    /// `2.63 (2.51 to 2.87)`.
    pub(crate) fn plain(self) -> String {
        self.told(three_digits)
    }

    /// The median alone, where the others are said elsewhere.
    pub(crate) fn median_alone(self) -> Self {
        Self::exactly(self.median)
    }

    /// Of what is a part of one: `58 % (57 to 61)`.
    pub(crate) fn share(self) -> String {
        self.times(100.0).percent()
    }

    /// Of what is in percent already.
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

    fn told(self, word: impl Fn(f64) -> String) -> String {
        self.in_unit("", word)
    }
}

/// What one is of the other, where there are both.
pub(crate) fn ratio(of: Option<Measured>, to: Option<Measured>) -> Option<Measured> {
    Some(of?.over(to?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(median: f64, least: f64, most: f64) -> Measured {
        Measured {
            median,
            least,
            most,
        }
    }

    #[test]
    fn what_the_rounds_are_too_far_apart_for_is_not_told() {
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
    fn quartiles_are_told_where_they_are_others_than_the_median() {
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
