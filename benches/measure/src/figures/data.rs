//! The numbers behind the pictures: a file of comma-separated values for each experiment, all of one shape.

use crate::measure::statistics::quantile;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use xtask::step::Done;

const COLUMNS: &str = "panel,series,x,label,low,median,high,unit";

/// A value that was measured in several rounds: median and quartiles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) panel: String,
    pub(crate) series: String,
    /// The value along the axis; the place among the bars, if there is a label.
    pub(crate) x: f64,
    pub(crate) label: String,
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
    pub(crate) unit: String,
}

/// What an experiment came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Data {
    /// When, where and of which revision.
    pub(crate) source: String,
    pub(crate) points: Vec<Point>,
}

impl Data {
    /// The panels in their order.
    pub(crate) fn panels(&self) -> Vec<&str> {
        distinct(self.points.iter().map(|point| &*point.panel))
    }

    /// The series of all panels in their order.
    pub(crate) fn series(&self) -> Vec<&str> {
        distinct(self.points.iter().map(|point| &*point.series))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or has another shape.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = fs::read_to_string(file).map_err(|e| format!("{shown}: {e}"))?;
        Self::parse(&text).map_err(|e| format!("{shown}: {e}"))
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// It has another shape.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let source = lines.next().and_then(|line| line.strip_prefix("# "));
        let source = source.ok_or("the first line does not say where it was measured")?;
        if lines.next() != Some(COLUMNS) {
            return Err(format!("the columns are to be {COLUMNS}"));
        }
        let points =
            lines.map(|line| Point::parse(line).ok_or_else(|| format!("no point: {line}")));
        Ok(Self {
            source: source.to_owned(),
            points: points.collect::<Result<_, _>>()?,
        })
    }

    /// Writes a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, file: &Path) -> Done {
        fs::write(file, self.text()).map_err(|e| format!("{}: {e}", file.display()))
    }

    fn text(&self) -> String {
        let mut text = format!("# {}\n{COLUMNS}\n", self.source);
        for it in &self.points {
            let (panel, series, label, unit) = (&it.panel, &it.series, &it.label, &it.unit);
            let [x, low, median, high] = [it.x, it.low, it.median, it.high].map(digits);
            let _ = writeln!(
                text,
                "{panel},{series},{x},{label},{low},{median},{high},{unit}"
            );
        }
        text
    }
}

impl Point {
    /// Median and quartiles of the values of some rounds.
    ///
    /// # Errors
    /// There are none, or one is not a number.
    pub(crate) fn of(
        panel: &str,
        series: &str,
        (x, label): (f64, &str),
        unit: &str,
        values: &[f64],
    ) -> Result<Self, String> {
        let part = |part| {
            quantile(values, part).ok_or_else(|| format!("{panel}, {series}, {x}: no number"))
        };
        Ok(Self {
            panel: panel.to_owned(),
            series: series.to_owned(),
            x,
            label: label.to_owned(),
            low: part(0.25)?,
            median: part(0.5)?,
            high: part(0.75)?,
            unit: unit.to_owned(),
        })
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[panel, series, x, label, low, median, high, unit] = fields.as_slice() else {
            return None;
        };
        Some(Self {
            panel: panel.to_owned(),
            series: series.to_owned(),
            x: x.parse().ok()?,
            label: label.to_owned(),
            low: low.parse().ok()?,
            median: median.parse().ok()?,
            high: high.parse().ok()?,
            unit: unit.to_owned(),
        })
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Five digits: more are not measured.
fn digits(value: f64) -> String {
    let text = format!("{value:.4e}");
    text.parse::<f64>().map_or(text, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let point = |x, values: &[f64]| Point::of("one CPU", "zorb", (x, ""), "µs", values);
        let mut data = Data {
            source: "2026-11-22, commit 0".to_owned(),
            points: vec![
                point(500.0, &[1.0, 3.0, 2.0]).unwrap(),
                point(1.0, &[0.123_456_7]).unwrap(),
            ],
        };
        assert!(point(2.0, &[]).is_err() && point(2.0, &[f64::NAN]).is_err());
        let [first, last] = data.points.as_mut_slice() else {
            panic!("two points")
        };
        assert_eq!((first.low, first.median, first.high), (1.5, 2.0, 2.5));
        let text = format!(
            "# {}\n{COLUMNS}\none CPU,zorb,500,,1.5,2,2.5,µs\none CPU,zorb,1,,0.12346,0.12346,0.12346,µs\n",
            data.source
        );
        (last.low, last.median, last.high) = (0.12346, 0.12346, 0.12346);
        assert_eq!(data.text(), text);
        let read = Data::parse(&text).unwrap();
        assert_eq!(read, data);
    }

    #[test]
    fn another_shape_is_refused() {
        for text in [
            "",
            "# a\n",
            "# a\npanel\n",
            &format!("# a\n{COLUMNS}\np,s,1\n"),
        ] {
            assert!(Data::parse(text).is_err(), "{text}");
        }
    }
}
