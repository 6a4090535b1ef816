//! Pictures: panels of lines or bars, drawn by plotters as SVG and as PNG.

pub(crate) mod axis;
mod draw;
mod files;
mod legend;
mod panel;
mod style;

use axis::Scale;

pub(crate) use axis::Axis;
pub(crate) use files::write;

use crate::figures::data::{Data, Point};

/// A picture.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// What its files are called, without an ending: the experiment's name, and what is in it.
    pub(crate) file: String,
    pub(crate) title: String,
    /// In reading order, up to [`Chart::COLUMNS`] beside each other.
    pub(crate) panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) kind: Kind,
    pub(crate) series: Vec<Series>,
    /// What of stacked bars is shown with its quartiles.
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
    /// Nobody's.
    None,
    /// Those of the bars as a whole, which have been measured too.
    Whole(Vec<Mark>),
    /// Those of each part, at its upper end: where the whole is the same for all.
    Parts,
}

/// What belongs together, under one name in the legend.
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
}

impl Mark {
    fn of(point: &Point, x: f64) -> Self {
        let Point {
            value,
            low,
            high,
            p99,
            ..
        } = *point;
        Self {
            x,
            value,
            low,
            high,
            p99,
        }
    }
}

impl Chart {
    /// Panels beside each other.
    pub(crate) const COLUMNS: usize = 2;

    /// Where its panels are in rows.
    fn grid(&self) -> (usize, usize) {
        let columns = self.panels.len().clamp(1, Self::COLUMNS);
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

    /// The same stack with what is known of it as a whole, by the labels of the points.
    pub(crate) fn with_whole(mut self, points: &[(String, &Point)]) -> Self {
        let Scale::Names(names) = &self.x.scale else {
            return self;
        };
        let mark = |(label, point): &(String, &Point)| {
            let at = names.iter().position(|name| name == label)?;
            Some(Mark::of(point, at as f64 + 0.5))
        };
        let whole: Vec<Mark> = points.iter().filter_map(mark).collect();
        self.spread = match whole.is_empty() {
            true => Spread::None,
            false => Spread::Whole(whole),
        };
        self
    }

    /// The same stack with the quartiles of each part.
    pub(crate) fn with_parts(self) -> Self {
        let spread = Spread::Parts;
        Self { spread, ..self }
    }

    /// Whether quartiles are to be seen on stacked bars: they may all be the same.
    fn shows_spread_of(&self, spread: &Spread) -> bool {
        let differs = |mark: &Mark| mark.low < mark.high;
        match (spread, &self.spread) {
            (Spread::Whole(_), Spread::Whole(marks)) => marks.iter().any(differs),
            (Spread::Parts, Spread::Parts) => {
                let mut marks = self.series.iter().flat_map(|series| &series.marks);
                marks.any(differs)
            }
            _ => false,
        }
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
            let mut sums: Vec<(f64, f64)> = Vec::new();
            for mark in marks {
                match sums.iter_mut().find(|(x, _)| *x == mark.x) {
                    Some((_, sum)) => *sum += mark.value,
                    None => sums.push((mark.x, mark.value)),
                }
            }
            let sums = sums.into_iter().map(|(_, sum)| sum);
            return match &self.spread {
                Spread::Whole(whole) => sums.chain(whole.iter().map(|mark| mark.high)).collect(),
                Spread::Parts => {
                    let whiskers = panel::part_whiskers(&self.series);
                    let tops = whiskers.into_iter().map(|(_, mark)| mark.high);
                    sums.chain(tops).collect()
                }
                Spread::None => sums.collect(),
            };
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
        assert_eq!(panel.heights(), [5.0]);
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
        assert!(panel.shows_spread_of(&Spread::Whole(Vec::new())));
        assert!(!panel.shows_spread_of(&Spread::Parts));
        // Of before the whole was kept.
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
        let grid = |panels: usize| {
            Chart {
                file: String::new(),
                title: String::new(),
                panels: vec![panel.clone(); panels],
            }
            .grid()
        };
        assert_eq!(
            [grid(1), grid(2), grid(3), grid(4)],
            [(1, 1), (1, 2), (2, 2), (2, 2)]
        );
    }
}
