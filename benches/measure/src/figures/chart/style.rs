//! The style of a series: a marker and a dash of its own as a line, a grey value and a hatching as a bar, so that
//! colour is an addition.

use crate::figures::chart::Series;
use plotters::style::RGBColor;

/// The sign at each point.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Ring,
    Cross,
    /// A square that is open, and a diamond.
    Box,
    Kite,
}

/// The lines on a bar.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Hatch {
    None,
    Rising,
    Falling,
    Level,
    Upright,
    Crossed,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub(crate) color: RGBColor,
    pub(crate) marker: Marker,
    /// Length of a dash and of the gap behind it; none for a whole line.
    pub(crate) dash: Option<(u32, u32)>,
    pub(crate) hatch: Hatch,
}

impl Style {
    /// How bright it is in grey, from 0 to 255 (ITU-R BT.601).
    pub(crate) fn grey(self) -> f64 {
        let RGBColor(r, g, b) = self.color;
        0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)
    }
}

const fn style(
    rgb: (u8, u8, u8),
    (marker, dash): (Marker, Option<(u32, u32)>),
    hatch: Hatch,
) -> Style {
    Style {
        color: RGBColor(rgb.0, rgb.1, rgb.2),
        marker,
        dash,
        hatch,
    }
}

/// The series that have the same style in every picture, in this order.
const KNOWN: [(&str, Style); 7] = [
    (
        "zorb",
        style((0, 62, 130), (Marker::Circle, None), Hatch::None),
    ),
    (
        "zorb, dedicated",
        style(
            (64, 132, 216),
            (Marker::Diamond, Some((6, 3))),
            Hatch::Rising,
        ),
    ),
    (
        "zorb, writes joined",
        style((60, 150, 110), (Marker::Kite, None), Hatch::Upright),
    ),
    (
        "omniORB",
        style(
            (222, 130, 28),
            (Marker::Square, Some((14, 4))),
            Hatch::Falling,
        ),
    ),
    (
        "transport layer alone",
        style(
            (120, 40, 100),
            (Marker::Cross, Some((9, 4))),
            Hatch::Crossed,
        ),
    ),
    (
        "raw",
        style(
            (150, 150, 150),
            (Marker::Triangle, Some((3, 3))),
            Hatch::None,
        ),
    ),
    (
        TAKEN_AWAY,
        style((250, 250, 250), (Marker::Ring, None), Hatch::Rising),
    ),
];

/// A part of a stack that makes it lower: marked off from the one below it.
pub(crate) const TAKEN_AWAY: &str = "faster than the floor";

/// The colours of other series, in order: dark and light in turn.
const OTHERS: [Style; 8] = [
    style((0, 62, 130), (Marker::Circle, None), Hatch::None),
    style(
        (222, 130, 28),
        (Marker::Square, Some((14, 4))),
        Hatch::Falling,
    ),
    style(
        (120, 40, 100),
        (Marker::Triangle, Some((9, 4))),
        Hatch::Rising,
    ),
    style((120, 180, 120), (Marker::Diamond, None), Hatch::Level),
    style((30, 30, 30), (Marker::Cross, Some((3, 3))), Hatch::Upright),
    style((90, 150, 220), (Marker::Ring, Some((6, 3))), Hatch::Crossed),
    style((150, 150, 150), (Marker::Box, Some((2, 2))), Hatch::None),
    style((20, 100, 60), (Marker::Kite, Some((14, 8))), Hatch::Falling),
];

/// The looks of series of these names, in their order. Where all are known, everything looks as it does elsewhere;
/// the others take what no known one of the picture has.
pub(crate) fn of(names: &[&str]) -> Vec<Style> {
    let known = |name: &str| {
        KNOWN
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, style)| *style)
    };
    let taken: Vec<Style> = names.iter().filter_map(|name| known(name)).collect();
    let free = |style: &&Style| {
        let is = |t: &Style| t.color == style.color || t.marker == style.marker;
        !taken.iter().any(is)
    };
    let mut free = OTHERS.iter().filter(free).chain(OTHERS.iter().cycle());
    let next = |name: &&str| known(name).or_else(|| free.next().copied());
    names.iter().filter_map(next).collect()
}

/// Puts those that are known first, in their order, and leaves the others in theirs.
pub(crate) fn sort(series: &mut [Series]) {
    series.sort_by_key(|series| {
        let known = KNOWN.iter().position(|(name, _)| *name == series.name);
        known.unwrap_or(KNOWN.len())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn bars_of_a_picture_differ_in_grey() {
        let known: Vec<_> = KNOWN.iter().map(|(_, style)| *style).collect();
        let mixed = of(&["zorb", "omniORB", "raw", "a", "b"]);
        for styles in [known, OTHERS.to_vec(), mixed] {
            for (n, one) in styles.iter().enumerate() {
                for other in &styles[..n] {
                    let shade = (one.grey() - other.grey()).abs() >= 30.0;
                    assert!(shade || one.hatch != other.hatch, "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn no_two_series_of_a_picture_share_a_marker() {
        let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
        let others = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mixed = ["zorb", "a", "b", "omniORB", "c"];
        for names in [&known[..], &others[..], &mixed[..]] {
            let styles = of(names);
            assert_eq!(styles.len(), names.len());
            let markers: HashSet<_> = styles.iter().map(|s| s.marker).collect();
            assert_eq!(markers.len(), names.len(), "{names:?}");
        }
    }

    /// Thin lines have no shade to speak of.
    #[test]
    fn those_that_are_compared_in_most_pictures_have_a_dash_each() {
        let names = ["zorb", "zorb, dedicated", "omniORB", "raw"];
        let dashes: HashSet<_> = of(&names).iter().map(|style| style.dash).collect();
        assert_eq!(dashes.len(), names.len());
    }

    #[test]
    fn a_known_series_looks_the_same_in_company() {
        assert_eq!(of(&["a", "omniORB"])[1], of(&["omniORB", "zorb"])[0]);
    }
}
