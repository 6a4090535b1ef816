//! Axes: range, ticks and labels.

use crate::figures::finding::count;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// Up to what medians of shares, each for itself, come together, in per cent, and are still parts of one whole.
const WHOLE: f64 = 110.0;

/// The scale of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Linear, from zero.
    Linear,
    /// Logarithmic, with lines at powers of ten.
    Log,
    /// Logarithmic, with lines at powers of two.
    Log2,
    /// A place for each name, in this order; values count places from 0, each one's middle at a half.
    Names(Vec<String>),
}

/// An axis as a chart asks for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// The quantity, with its unit in parentheses.
    pub(crate) name: String,
    pub(crate) scale: Scale,
}

impl Axis {
    /// An axis from zero, in equal steps.
    pub(crate) fn linear(name: &str) -> Self {
        Self::new(name, Scale::Linear)
    }

    /// In powers of ten.
    pub(crate) fn log(name: &str) -> Self {
        Self::new(name, Scale::Log)
    }

    /// In powers of two.
    pub(crate) fn log2(name: &str) -> Self {
        Self::new(name, Scale::Log2)
    }

    /// A place for each name.
    pub(crate) fn names(name: &str, names: Vec<String>) -> Self {
        Self::new(name, Scale::Names(names))
    }

    fn new(name: &str, scale: Scale) -> Self {
        Self {
            name: name.to_owned(),
            scale,
        }
    }

    /// Whether it shows parts of a hundred.
    pub(crate) fn is_of_a_whole(&self) -> bool {
        self.name.contains("(%)")
    }

    /// The axis that shows all of these values. Logarithms are of positive values; others do not count.
    pub(crate) fn covering(&self, values: impl IntoIterator<Item = f64>, side: AxisSide) -> Span {
        let log = matches!(self.scale, Scale::Log | Scale::Log2);
        let shown = |value: &f64| value.is_finite() && (!log || *value > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(shown) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        let (low, high) = match (&self.scale, side) {
            (Scale::Names(names), _) => (0.0, names.len().max(1) as f64),
            (Scale::Linear, AxisSide::Across) if low >= 0.0 => {
                (0.0, (high * 1.03).max(f64::EPSILON))
            }
            // More there cannot be.
            (Scale::Linear, AxisSide::Up)
                if low >= 0.0 && self.is_of_a_whole() && (95.0..=WHOLE).contains(&high) =>
            {
                (0.0, 100.0_f64.max(high))
            }
            (Scale::Linear, _) => {
                let top = (high * 1.04).max(f64::EPSILON);
                let step = step(top - low.min(0.0));
                (
                    (low.min(0.0) / step).floor() * step,
                    (top / step).ceil() * step,
                )
            }
            (Scale::Log | Scale::Log2, AxisSide::Across) => (low / 1.25, high * 1.25),
            (Scale::Log | Scale::Log2, AxisSide::Up) => (below(low / 1.04), above(high * 1.04)),
        };
        Span {
            scale: self.scale.clone(),
            low,
            high,
        }
    }
}

/// The direction of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AxisSide {
    Across,
    Up,
}

/// An axis with its ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Span {
    /// The place of a value, 0 at the low end and 1 at the high one.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let of = |value: f64| match self.scale {
            Scale::Log | Scale::Log2 => value.max(f64::MIN_POSITIVE).ln(),
            Scale::Linear | Scale::Names(_) => value,
        };
        let (low, high) = (of(self.low), of(self.high));
        (of(value) - low) / (high - low)
    }

    /// The values of labelled ticks.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match &self.scale {
            Scale::Names(names) => (0..names.len()).map(|n| n as f64 + 0.5).collect(),
            Scale::Linear => self.steps(step(self.high - self.low)),
            Scale::Log => {
                let decades = (self.high / self.low).log10();
                let digits: &[f64] = match decades {
                    d if d < 0.8 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
                    d if d < 2.5 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                self.powers(10.0, digits)
            }
            Scale::Log2 => {
                let all = self.powers(2.0, &[1.0]);
                // No more than have room.
                let every = all.len().div_ceil(11);
                all.into_iter().step_by(every.max(1)).collect()
            }
        }
    }

    /// The values of ticks with a thin line and no label.
    fn light(&self) -> Vec<f64> {
        match self.scale {
            Scale::Log => self.powers(10.0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
            Scale::Linear | Scale::Log2 | Scale::Names(_) => Vec::new(),
        }
    }

    fn steps(&self, step: f64) -> Vec<f64> {
        let first = (self.low / step).ceil();
        let values = (0..100).map(|n| (first + f64::from(n)) * step);
        values
            .take_while(|value| *value <= self.high * (1.0 + 1e-9))
            .collect()
    }

    fn powers(&self, base: f64, digits: &[f64]) -> Vec<f64> {
        let first = self.low.log(base).floor();
        let inside =
            |value: &f64| *value >= self.low * (1.0 - 1e-9) && *value <= self.high * (1.0 + 1e-9);
        (0..64)
            .map(|n| base.powf(first + f64::from(n)))
            .take_while(|power| *power <= self.high)
            .flat_map(|power| digits.iter().map(move |digit| digit * power))
            .filter(inside)
            .collect()
    }

    /// The label of a value.
    pub(crate) fn label(&self, value: f64) -> String {
        match &self.scale {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a tick of ours"
            )]
            Scale::Names(names) => names.get(value as usize).cloned().unwrap_or_default(),
            Scale::Linear | Scale::Log => number(value),
            Scale::Log2 => binary(value, self.low),
        }
    }
}

/// A power of two as an axis has it that begins there: `512`, `1,024`, `64 Ki`, `4 Mi`; where nothing is smaller than a
/// `1 Ki`, that is one too.
fn binary(value: f64, low: f64) -> String {
    let from = if low > 512.0 { 1024.0 } else { 4096.0 };
    match value {
        v if v >= 1_048_576.0 => format!("{} Mi", number(v / 1_048_576.0)),
        v if v >= from => format!("{} Ki", number(v / 1024.0)),
        v => number(v),
    }
}

/// A name with its numbers as people read them: `65,536 octets`.
pub(crate) fn separated(name: &str) -> String {
    let word = |word: &str| {
        let is_number = word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        match word.parse() {
            Ok(number) if is_number => count(number),
            _ => word.to_owned(),
        }
    };
    name.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A step of 1, 2 or 5 times a power of ten that a range has four to eight of.
fn step(range: f64) -> f64 {
    let rough = (range / 5.0).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    match rough / power {
        r if r < 1.5 => power,
        r if r < 3.5 => 2.0 * power,
        r if r < 7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}

/// The next 1, 2 or 5 times a power of ten that is not above.
fn below(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let fits = [5.0, 2.0, 1.0].into_iter().find(|d| d * power <= value);
    fits.unwrap_or(1.0) * power
}

/// The next one that is not below.
fn above(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let fits = [1.0, 2.0, 5.0, 10.0].into_iter();
    fits.map(|d| d * power)
        .find(|edge| *edge >= value)
        .unwrap_or(value)
}

/// A number as an axis has it: `0.05`, `1.5`, `1,024`, `20 k`, `1 M`.
pub(crate) fn number(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    match rounded.abs() {
        v if v >= 1e9 => format!("{} G", rounded / 1e9),
        v if v >= 1e6 => format!("{} M", rounded / 1e6),
        v if v >= 1e4 && rounded % 100.0 == 0.0 => format!("{} k", rounded / 1e3),
        v if v >= 1e3 => {
            let whole = format!("{rounded:.0}");
            let (thousands, rest) = whole.split_at(whole.len() - 3);
            format!("{thousands},{rest}")
        }
        _ => format!("{rounded}"),
    }
}

impl Ranged for Span {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "pixels")]
    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first + (self.place(*value) * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            self.light()
        } else {
            self.ticks()
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Span {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_covers_every_value_it_was_given() {
        for axis in [Axis::linear("x"), Axis::log("x"), Axis::log2("x")] {
            for side in [AxisSide::Across, AxisSide::Up] {
                for values in [[1.0, 7.0], [3.0, 3.0], [0.02, 99_999.0]] {
                    let span = axis.covering(values, side);
                    for value in values {
                        let place = span.place(value);
                        assert!((0.0..=1.0).contains(&place), "{axis:?} {side:?} {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_logarithmic_axis_puts_ratios_at_equal_distances() {
        let span = Axis::log("x").covering([1.0, 1000.0], AxisSide::Up);
        let (a, b, c) = (span.place(1.0), span.place(10.0), span.place(100.0));
        assert!(((b - a) - (c - b)).abs() < 1e-9);
        assert!(b > a);
    }

    #[test]
    fn what_has_no_logarithm_does_not_stretch_the_axis() {
        let span = Axis::log("x").covering([0.0, -1.0, f64::NAN, 10.0, 20.0], AxisSide::Up);
        assert!(span.low >= 5.0, "{span:?}");
    }

    #[test]
    fn a_linear_axis_begins_at_nothing() {
        let span = Axis::linear("x").covering([90.0, 100.0], AxisSide::Up);
        assert_eq!(span.low, 0.0);
        assert_eq!(span.ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
    }

    #[test]
    fn ticks_are_inside_and_as_many_as_have_room() {
        for axis in [Axis::linear("x"), Axis::log("x"), Axis::log2("x")] {
            for values in [[1.0, 1.2], [1.0, 4.0], [0.5, 500.0], [1.0, 4_194_304.0]] {
                let span = axis.covering(values, AxisSide::Up);
                let ticks = span.ticks();
                assert!(
                    (1..=11).contains(&ticks.len()),
                    "{axis:?} {values:?} {ticks:?}"
                );
                for tick in ticks {
                    let place = span.place(tick);
                    assert!((-1e-6..=1.0 + 1e-6).contains(&place), "{axis:?} {tick}");
                }
            }
        }
    }

    #[test]
    fn powers_of_two_are_written_out() {
        let span = Axis::log2("x").covering([1.0, 1024.0], AxisSide::Across);
        let labels: Vec<_> = span.ticks().iter().map(|tick| span.label(*tick)).collect();
        assert_eq!(labels.first().map(String::as_str), Some("1"));
        assert_eq!(labels.last().map(String::as_str), Some("1,024"));
        assert_eq!(labels.len(), 11);
    }

    #[test]
    fn large_powers_of_two_are_short() {
        let span = Axis::log2("x").covering([1.0, 4_194_304.0], AxisSide::Across);
        let label = |value: f64| span.label(value);
        assert_eq!(label(1024.0), "1,024");
        assert_eq!(label(4096.0), "4 Ki");
        assert_eq!(label(131_072.0), "128 Ki");
        assert_eq!(label(4_194_304.0), "4 Mi");
        let span = Axis::log2("x").covering([1024.0, 131_072.0], AxisSide::Across);
        assert_eq!(
            (span.label(1024.0), span.label(2048.0)),
            ("1 Ki".to_owned(), "2 Ki".to_owned())
        );
    }

    #[test]
    fn numbers_in_names_have_their_thousands_apart() {
        for (name, written) in [
            ("65536 octets", "65,536 octets"),
            ("octets 4096", "octets 4,096"),
            ("512", "512"),
            ("1.0 TCP", "1.0 TCP"),
            ("structs over UNIX", "structs over UNIX"),
        ] {
            assert_eq!(separated(name), written);
        }
    }

    #[test]
    fn an_axis_of_a_whole_ends_there() {
        let span = Axis::linear("share (%)").covering([100.0, 12.0], AxisSide::Up);
        assert_eq!((span.low, span.high), (0.0, 100.0));
        // A little more is what medians made of it.
        let span = Axis::linear("share (%)").covering([100.7], AxisSide::Up);
        assert_eq!((span.low, span.high), (0.0, 100.7));
        // A value above the axis is shown all the same.
        let span = Axis::linear("of raw (%)").covering([130.0], AxisSide::Up);
        assert!(span.high >= 130.0);
    }

    #[test]
    fn names_have_a_place_each() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let span = Axis::names("x", names).covering([], AxisSide::Across);
        assert_eq!(span.ticks(), [0.5, 1.5]);
        assert_eq!(
            (span.label(0.5), span.label(1.5)),
            ("a".to_owned(), "b".to_owned())
        );
        assert_eq!(span.place(1.0), 0.5);
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.05, "0.05"),
            (1.5, "1.5"),
            (512.0, "512"),
            (1024.0, "1,024"),
            (20_000.0, "20 k"),
            (65_536.0, "65,536"),
            (1e6, "1 M"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
