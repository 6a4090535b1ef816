//! Pictures: panels of lines or bars, drawn by plotters as SVG.

pub(crate) mod axis;
mod compact;
mod draw;
mod files;
mod legend;
mod panel;
mod style;

use axis::Scale;

pub(crate) use axis::Axis;
pub(crate) use files::write;
pub(crate) use style::TAKEN_AWAY;

use crate::figures::data::{Data, Point};

/// A picture.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// The name of its files, without an extension: the experiment's name, and what is in it.
    pub(crate) file: String,
    pub(crate) title: String,
    /// In reading order, up to so many beside each other.
    pub(crate) panels: Vec<Panel>,
    columns: usize,
    /// Notes for a reader who sees nothing but the picture, beside the meaning of its lines and bars: clauses.
    notes: Vec<String>,
    /// The tools that made its numbers, with versions on which they may depend.
    tools: Vec<&'static str>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) kind: Kind,
    pub(crate) series: Vec<Series>,
    /// The part of stacked bars that is shown with its quartiles.
    pub(crate) spread: Spread,
}

/// How a panel shows its series.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A line through the medians, a band between the quartiles, a thin line through the 99th percentiles.
    Lines,
    /// A bar for each series beside the others, with a whisker between the quartiles.
    Bars,
    /// The series on top of each other, the first at the bottom.
    Stacked,
}

/// Whose quartiles are shown on stacked bars.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Spread {
    /// Belongs to no program.
    None,
    /// The quartiles of the whole bars, which have been measured, too.
    #[allow(dead_code, reason = "its experiment is gone; this module goes next")]
    Whole(Vec<Mark>),
    /// The quartiles of the lowest part and of the whole, both of which have been measured, and the parts above are
    /// what is between.
    Ends { first: Vec<Mark>, whole: Vec<Mark> },
    /// The quartiles of each part, at its upper end: for stacks of equal height.
    Parts,
}

/// A series, with one name in the legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) marks: Vec<Mark>,
}

/// A measured value in a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) p99: Option<f64>,
    /// The number of rounds; 0 if that is not known.
    pub(crate) rounds: usize,
}

impl Mark {
    fn of(point: &Point, x: f64) -> Self {
        let Point {
            value,
            low,
            high,
            p99,
            rounds,
            ..
        } = *point;
        Self {
            x,
            value,
            low,
            high,
            p99,
            rounds,
        }
    }

    /// Whether its quartiles are to be seen.
    fn is_spread(&self) -> bool {
        self.low < self.high
    }
}

impl Chart {
    /// Panels beside each other, unless they need the whole width.
    const COLUMNS: usize = 2;

    /// A picture without notes, made by no tool in particular.
    pub(crate) fn new(
        file: impl Into<String>,
        title: impl Into<String>,
        panels: Vec<Panel>,
    ) -> Self {
        Self {
            file: file.into(),
            title: title.into(),
            panels,
            columns: Self::COLUMNS,
            notes: Vec::new(),
            tools: Vec::new(),
        }
    }

    /// Stacks the panels, where there are so many bars that they would be too thin.
    pub(crate) fn in_a_column(self) -> Self {
        Self { columns: 1, ..self }
    }

    /// Adds a clause below it.
    pub(crate) fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Names the tools that made its numbers.
    pub(crate) fn made_by(mut self, tools: &[&'static str]) -> Self {
        self.tools.extend(tools);
        self
    }

    /// The text below it.
    #[cfg(test)]
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The tools that made its numbers.
    pub(crate) fn tools(&self) -> &[&'static str] {
        &self.tools
    }

    /// The number of rounds of each of its values.
    pub(crate) fn rounds(&self) -> Vec<usize> {
        let marks = self.panels.iter().flat_map(|panel| {
            let series = panel.series.iter().flat_map(|series| &series.marks);
            series.chain(panel.spread.marks())
        });
        marks.map(|mark| mark.rounds).collect()
    }

    /// Whether a series has no line, since there is no more than one value of it in any panel.
    fn is_dot(&self, name: &str) -> bool {
        let lines = self.panels.iter().filter(|panel| panel.kind == Kind::Lines);
        let mut series = lines.flat_map(|panel| &panel.series);
        series.all(|series| series.name != name || series.marks.len() < 2)
    }

    /// Every value that the upward axis of a panel has to show: its own, and those of the panels that it is compared
    /// with, which are those of the same axis. Values that a linear axis makes much larger than others have an axis of
    /// their own, or the others would not be seen.
    fn heights_beside(&self, panel: &Panel) -> Vec<f64> {
        let of_same = |other: &&Panel| other.y == panel.y;
        let mut mates: Vec<(f64, &Panel)> = self
            .panels
            .iter()
            .filter(of_same)
            .map(|one| (one.top(), one))
            .collect();
        if panel.y.scale == Scale::Linear {
            mates.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut from = f64::INFINITY;
            let top = panel.top();
            for (one, _) in &mates {
                if one * APART < from {
                    from = *one;
                }
                if *one <= top {
                    break;
                }
            }
            mates.retain(|(one, _)| *one <= from && one * APART >= from);
        }
        mates
            .into_iter()
            .flat_map(|(_, one)| one.heights())
            .collect()
    }

    /// Whether some panels of the same axis have another scale of it than others.
    fn has_scales(&self) -> bool {
        self.panels.iter().any(|panel| {
            let beside = self.heights_beside(panel).into_iter();
            let top = beside.fold(f64::NEG_INFINITY, f64::max);
            let mut mates = self.panels.iter().filter(|other| other.y == panel.y);
            mates.any(|other| other.top() > top)
        })
    }

    /// The rows and columns of its panels.
    fn grid(&self) -> (usize, usize) {
        let columns = self.panels.len().clamp(1, self.columns);
        (self.panels.len().div_ceil(columns).max(1), columns)
    }

    /// Names of series, each once, in the order in which they come.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        names
    }
}

impl Spread {
    /// The points that are no part of a stack.
    fn marks(&self) -> impl Iterator<Item = &Mark> {
        let (first, whole) = match self {
            Self::None | Self::Parts => (&[][..], &[][..]),
            Self::Whole(whole) => (&[][..], &whole[..]),
            Self::Ends { first, whole } => (&first[..], &whole[..]),
        };
        first.iter().chain(whole)
    }
}

impl Panel {
    /// The lines of everything that the data has under that panel's name; nothing if there is nothing.
    pub(crate) fn lines(data: &Data, panel: &str, title: &str, x: Axis, y: Axis) -> Option<Self> {
        let series = grouped(data, panel, |point| Some(point.x));
        Self::of(title, x, y, Kind::Lines, series)
    }

    /// Its bars, by the labels of the points, which the points' `x` orders.
    pub(crate) fn bars(
        data: &Data,
        panel: &str,
        title: &str,
        (x, y): (&str, Axis),
        kind: Kind,
    ) -> Option<Self> {
        let mut places: Vec<(f64, String)> = Vec::new();
        for point in data.of(panel) {
            let Some(label) = &point.label else { continue };
            if !places.iter().any(|(_, name)| name == label) {
                places.push((point.x, label.clone()));
            }
        }
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let names: Vec<String> = places.into_iter().map(|(_, name)| name).collect();
        let place = |point: &Point| {
            let label = point.label.as_ref()?;
            let at = names.iter().position(|name| name == label)?;
            Some(at as f64 + 0.5)
        };
        let series = grouped(data, panel, place);
        Self::of(title, Axis::names(x, names.clone()), y, kind, series)
    }

    /// The stack with the measured points of the whole, by their labels.
    #[allow(dead_code, reason = "its experiment is gone; this module goes next")]
    pub(crate) fn with_whole(mut self, points: &[(String, &Point)]) -> Self {
        let whole = self.marks_at(points);
        self.spread = match whole.is_empty() {
            true => Spread::None,
            false => Spread::Whole(whole),
        };
        self
    }

    /// The stack with the measured points of its lowest part and of the whole.
    pub(crate) fn with_ends(
        mut self,
        first: &[(String, &Point)],
        whole: &[(String, &Point)],
    ) -> Self {
        let (first, whole) = (self.marks_at(first), self.marks_at(whole));
        self.spread = Spread::Ends { first, whole };
        self
    }

    /// Points at the places of their labels; those of other labels are not of this panel.
    fn marks_at(&self, points: &[(String, &Point)]) -> Vec<Mark> {
        let Scale::Names(names) = &self.x.scale else {
            return Vec::new();
        };
        let mark = |(label, point): &(String, &Point)| {
            let at = names.iter().position(|name| name == label)?;
            Some(Mark::of(point, at as f64 + 0.5))
        };
        points.iter().filter_map(mark).collect()
    }

    /// The stack with the quartiles of each part.
    pub(crate) fn with_parts(self) -> Self {
        let spread = Spread::Parts;
        Self { spread, ..self }
    }

    /// Whether quartiles are to be seen on stacked bars: they may all be the same.
    fn shows_spread(&self) -> bool {
        match &self.spread {
            Spread::Parts => {
                let mut marks = self.series.iter().flat_map(|series| &series.marks);
                marks.any(Mark::is_spread)
            }
            spread => spread.marks().any(Mark::is_spread),
        }
    }

    /// The sum of the parts of each stack.
    fn sums(&self) -> Vec<f64> {
        let mut sums: Vec<(f64, f64)> = Vec::new();
        for mark in self.series.iter().flat_map(|series| &series.marks) {
            match sums.iter_mut().find(|(x, _)| *x == mark.x) {
                Some((_, sum)) => *sum += mark.value,
                None => sums.push((mark.x, mark.value)),
            }
        }
        sums.into_iter().map(|(_, sum)| sum).collect()
    }

    /// The highest that is shown.
    fn top(&self) -> f64 {
        let heights = self.heights().into_iter();
        heights.fold(f64::NEG_INFINITY, f64::max)
    }

    fn of(title: &str, x: Axis, y: Axis, kind: Kind, series: Vec<Series>) -> Option<Self> {
        let title = title.to_owned();
        (!series.is_empty()).then_some(Self {
            title,
            x,
            y,
            kind,
            series,
            spread: Spread::None,
        })
    }

    /// Every value that its upward axis has to show.
    fn heights(&self) -> Vec<f64> {
        let marks = self.series.iter().flat_map(|series| &series.marks);
        if self.kind == Kind::Stacked {
            // Also where a part ends that a negative one above it makes less of.
            let mut sums: Vec<(f64, f64)> = Vec::new();
            let mut ends = Vec::new();
            for mark in marks {
                let end = match sums.iter_mut().find(|(x, _)| *x == mark.x) {
                    Some((_, sum)) => {
                        *sum += mark.value;
                        *sum
                    }
                    None => {
                        sums.push((mark.x, mark.value));
                        mark.value
                    }
                };
                ends.push(end);
            }
            if self.spread == Spread::Parts {
                let whiskers = panel::part_whiskers(&self.series);
                ends.extend(whiskers.into_iter().map(|(_, mark)| mark.high));
            }
            ends.extend(self.spread.marks().map(|mark| mark.high));
            return ends;
        }
        marks
            .flat_map(|mark| {
                [
                    mark.value,
                    mark.low,
                    mark.high,
                    mark.p99.unwrap_or(mark.value),
                ]
            })
            .collect()
    }
}

/// Panels of which one has values so many times as large as another's do not share a linear scale.
const APART: f64 = 2.0;

fn grouped(data: &Data, panel: &str, place: impl Fn(&Point) -> Option<f64>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for point in data.of(panel) {
        let Some(x) = place(point) else { continue };
        let mark = Mark::of(point, x);
        match all.iter_mut().find(|series| series.name == point.series) {
            Some(series) => series.marks.push(mark),
            None => all.push(Series {
                name: point.series.clone(),
                marks: vec![mark],
            }),
        }
    }
    for series in &mut all {
        series.marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    style::sort(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn points_become_lines_from_left_to_right() {
        let data = data(&[
            ("p", "zorb", 10.0, None, 2.0),
            ("p", "zorb", 1.0, None, 1.0),
            ("q", "zorb", 5.0, None, 9.0),
        ]);
        let panel = Panel::lines(&data, "p", "t", Axis::log("x"), Axis::log("y")).unwrap();
        let xs: Vec<_> = panel.series[0].marks.iter().map(|mark| mark.x).collect();
        assert_eq!(xs, [1.0, 10.0]);
        assert!(Panel::lines(&data, "r", "t", Axis::log("x"), Axis::log("y")).is_none());
    }

    #[test]
    fn bars_stand_where_their_label_is() {
        let data = data(&[
            ("p", "zorb", 0.0, Some("b"), 2.0),
            ("p", "zorb", 0.0, Some("a"), 1.0),
            ("p", "omniORB", 0.0, Some("a"), 4.0),
        ]);
        let axes = ("what", Axis::linear("y"));
        let panel = Panel::bars(&data, "p", "t", axes, Kind::Bars).unwrap();
        let of = |name: &str| {
            let series = panel.series.iter().find(|series| series.name == name);
            series
                .unwrap()
                .marks
                .iter()
                .map(|m| (m.x, m.value))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("zorb"), [(0.5, 2.0), (1.5, 1.0)]);
        assert_eq!(of("omniORB"), [(1.5, 4.0)]);
    }

    #[test]
    fn a_stack_is_as_high_as_its_parts() {
        let data = data(&[
            ("p", "one", 0.0, Some("a"), 2.0),
            ("p", "two", 0.0, Some("a"), 3.0),
        ]);
        let axes = ("what", Axis::linear("y"));
        let panel = Panel::bars(&data, "p", "t", axes, Kind::Stacked).unwrap();
        assert_eq!(panel.top(), 5.0);
    }

    #[test]
    fn a_stack_has_room_for_the_spread_of_the_whole() {
        let data = data(&[("p", "one", 0.0, Some("a"), 2.0)]);
        let axes = ("what", Axis::linear("y"));
        let panel = Panel::bars(&data, "p", "t", axes, Kind::Stacked).unwrap();
        let whole = Point {
            high: 9.0,
            ..data.points[0].clone()
        };
        let panel = panel.with_whole(&[("a".to_owned(), &whole), ("b".to_owned(), &whole)]);
        assert_eq!(panel.heights(), [2.0, 9.0]);
        assert!(panel.shows_spread());
        // Older data, without the whole.
        assert_eq!(panel.with_whole(&[]).spread, Spread::None);
    }

    #[test]
    fn panels_are_in_rows_of_two() {
        let panel = Panel {
            title: String::new(),
            x: Axis::log("x"),
            y: Axis::log("y"),
            kind: Kind::Lines,
            series: Vec::new(),
            spread: Spread::None,
        };
        let grid = |panels: usize| Chart::new("", "", vec![panel.clone(); panels]).grid();
        assert_eq!(
            [grid(1), grid(2), grid(3), grid(4)],
            [(1, 1), (1, 2), (2, 2), (2, 2)]
        );
        let column = Chart::new("", "", vec![panel.clone(); 4]).in_a_column();
        assert_eq!(column.grid(), (4, 1));
    }

    fn bar(value: f64) -> Panel {
        let data = data(&[("p", "zorb", 0.0, Some("a"), value)]);
        let axes = ("what", Axis::linear("y"));
        Panel::bars(&data, "p", "t", axes, Kind::Bars).unwrap()
    }

    #[test]
    fn what_would_not_be_seen_beside_larger_values_has_a_scale_of_its_own() {
        let near = Chart::new("", "", vec![bar(10.0), bar(19.0)]);
        assert!(near.heights_beside(&near.panels[0]).contains(&19.0));
        assert!(!near.has_scales());
        let far = Chart::new("", "", vec![bar(10.0), bar(7.0), bar(70.0)]);
        for n in [0, 1] {
            let heights = far.heights_beside(&far.panels[n]);
            assert!(
                heights.contains(&10.0) && !heights.contains(&70.0),
                "{heights:?}"
            );
        }
        assert!(!far.heights_beside(&far.panels[2]).contains(&10.0));
        assert!(far.has_scales());
    }

    #[test]
    fn panels_of_logarithms_share_a_scale_however_far_they_are_apart() {
        let line = |value| {
            let data = data(&[("p", "zorb", 1.0, None, value)]);
            Panel::lines(&data, "p", "t", Axis::log("x"), Axis::log("y")).unwrap()
        };
        let chart = Chart::new("", "", vec![line(1.0), line(1000.0)]);
        assert!(!chart.has_scales());
    }

    #[test]
    fn a_series_of_one_value_a_panel_is_a_dot() {
        let data = data(&[
            ("p", "zorb", 1.0, None, 2.0),
            ("p", "zorb", 2.0, None, 2.0),
            ("p", "raw", 1.0, None, 1.0),
        ]);
        let panel = Panel::lines(&data, "p", "t", Axis::log("x"), Axis::log("y"));
        let chart = Chart::new("", "", panel.into_iter().collect());
        assert!(chart.is_dot("raw") && !chart.is_dot("zorb"));
    }

    #[test]
    fn a_stack_is_as_high_as_a_part_that_a_negative_one_makes_less_of() {
        let data = data(&[
            ("p", "floor", 0.0, Some("a"), 6.0),
            ("p", "more", 0.0, Some("a"), -2.0),
        ]);
        let axes = ("what", Axis::linear("y"));
        let panel = Panel::bars(&data, "p", "t", axes, Kind::Stacked).unwrap();
        assert_eq!(panel.top(), 6.0);
    }

    #[test]
    fn rounds_are_those_of_the_pictures_own_values() {
        let mut data = data(&[
            ("p", "zorb", 0.0, Some("a"), 2.0),
            ("q", "zorb", 0.0, Some("a"), 2.0),
        ]);
        data.points[1].rounds = 1;
        let axes = ("what", Axis::linear("y"));
        let panel = Panel::bars(&data, "p", "t", axes, Kind::Bars);
        let chart = Chart::new("", "", panel.into_iter().collect());
        assert_eq!(chart.rounds(), [5]);
    }
}
