//! The data of an experiment as it is stored: tidy, so that every picture can be drawn again without measuring.

use crate::figures::measured::Measured;
use crate::measure::machine::Machine;
use crate::measure::statistics::{quantile, three_digits};
use serde::{Deserialize, Serialize, de::Error};
use std::collections::BTreeMap;
use std::path::Path;

/// One measured value.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Point {
    /// The name of its panel: `struct, split`.
    pub(crate) panel: String,
    /// Who: `zorb`, `omniORB`, `raw`.
    pub(crate) series: String,
    pub(crate) x: f64,
    /// Its place, if the axis has names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The median over the rounds. A file has it, and the quartiles, only where they do not follow from `each`.
    #[serde(default = "absent", skip_serializing_if = "is_absent")]
    pub(crate) value: f64,
    /// The quartiles over the rounds.
    #[serde(default = "absent", skip_serializing_if = "is_absent")]
    pub(crate) low: f64,
    #[serde(default = "absent", skip_serializing_if = "is_absent")]
    pub(crate) high: f64,
    /// The median over the rounds of what a hundredth of the calls took longer than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) p99: Option<f64>,
    /// Octets that a round sent, the median over the rounds, where it counts what is sent and not calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sent: Option<f64>,
    /// How many rounds there are a value of; 0 in data of before that was kept. A file has it only without `each`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) rounds: usize,
    /// Its value in each round; none in data of before they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) each: Vec<f64>,
    /// The loop of the experiment that those rounds belong to: two points can be compared within a round of one loop.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) run: usize,
    pub(crate) unit: String,
}

/// All points of an experiment, and where they come from.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Data {
    pub(crate) experiment: String,
    pub(crate) machine: Machine,
    pub(crate) rounds: usize,
    /// Whether it was a quick look and no measurement.
    pub(crate) quick: bool,
    /// Missing contenders, and why.
    pub(crate) missing: Vec<String>,
    /// CPUs that others used right before this was measured; not known in data of before that was looked at. The load
    /// average includes our own programs of a minute ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) others: Option<f64>,
    /// The tool that counted or sampled, and its version; not known in older data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tools: BTreeMap<String, String>,
    /// Disturbances of the measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    pub(crate) points: Vec<Point>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A value that a file leaves out, as it follows from the values of the rounds.
const fn absent() -> f64 {
    f64::NAN
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_absent(value: &f64) -> bool {
    value.is_nan()
}

/// Rounds a value to the digits that are significant in a round.
fn kept(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

impl Point {
    /// The point as it is stored: five digits of each number, and none that follows from the values of the rounds.
    fn stored(mut self) -> Self {
        let quartiles = self.quartiles();
        for (number, quartile) in self.numbers().into_iter().zip(quartiles) {
            *number = kept(*number);
            if quartile == Some(*number) {
                *number = absent();
            }
        }
        if self.rounds == self.each.len() {
            self.rounds = 0;
        }
        self.p99 = self.p99.map(kept);
        self.sent = self.sent.map(kept);
        self
    }

    /// The point of a stored one; nothing if numbers are missing that do not follow from the values of the rounds.
    fn restored(mut self) -> Option<Self> {
        let quartiles = self.quartiles();
        for (number, quartile) in self.numbers().into_iter().zip(quartiles) {
            if is_absent(number) {
                *number = quartile?;
            }
        }
        if self.rounds == 0 {
            self.rounds = self.each.len();
        }
        Some(self)
    }

    const fn numbers(&mut self) -> [&mut f64; 3] {
        [&mut self.low, &mut self.value, &mut self.high]
    }

    /// The lower quartile, the median and the upper quartile of the values of the rounds, if those were kept.
    fn quartiles(&self) -> [Option<f64>; 3] {
        [0.25, 0.5, 0.75].map(|part| quantile(&self.each, part).map(kept))
    }

    /// The median, and the quartiles behind it where they differ from it: `15.4 (14.9–16.1)`.
    pub(crate) fn text(&self) -> String {
        self.text_times(1.0)
    }

    /// The values in a unit of which there are so many in one.
    pub(crate) fn text_times(&self, times: f64) -> String {
        let [value, low, high] =
            [self.value, self.low, self.high].map(|value| three_digits(times * value));
        match low == value && high == value {
            true => value,
            false => format!("{value} ({low}–{high})"),
        }
    }
}

impl Data {
    /// The points of a panel.
    pub(crate) fn of<'a>(&'a self, panel: &'a str) -> impl Iterator<Item = &'a Point> + 'a {
        self.points.iter().filter(move |point| point.panel == panel)
    }

    /// The median at an exact place.
    pub(crate) fn at(&self, panel: &str, series: &str, x: f64) -> Option<f64> {
        let found = self.of(panel).find(|p| p.series == series && p.x == x);
        found.map(|point| point.value)
    }

    /// The median at an exact place, with its quartiles.
    pub(crate) fn measured(&self, panel: &str, series: &str, x: f64) -> Option<Measured> {
        let found = self.of(panel).find(|p| p.series == series && p.x == x);
        found.map(Measured::from)
    }

    /// The median under a label, with its quartiles.
    pub(crate) fn measured_under(
        &self,
        panel: &str,
        series: &str,
        label: &str,
    ) -> Option<Measured> {
        self.point_under(panel, series, label).map(Measured::from)
    }

    /// A series from left to right, with its quartiles.
    pub(crate) fn measured_line(&self, panel: &str, series: &str) -> Vec<(f64, Measured)> {
        let of_it = self.of(panel).filter(|point| point.series == series);
        let mut line: Vec<_> = of_it
            .map(|point| (point.x, Measured::from(point)))
            .collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        line
    }

    /// The median under a label.
    pub(crate) fn under(&self, panel: &str, series: &str, label: &str) -> Option<f64> {
        self.point_under(panel, series, label)
            .map(|point| point.value)
    }

    /// Everything that is known under a label.
    pub(crate) fn point_under<'a>(
        &'a self,
        panel: &'a str,
        series: &str,
        label: &str,
    ) -> Option<&'a Point> {
        self.of(panel)
            .find(|p| p.series == series && p.label.as_deref() == Some(label))
    }

    /// The medians of a series from left to right.
    pub(crate) fn line(&self, panel: &str, series: &str) -> Vec<(f64, f64)> {
        let of_it = self.of(panel).filter(|point| point.series == series);
        let mut line: Vec<_> = of_it.map(|point| (point.x, point.value)).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        line
    }

    /// Time, revision and machine of the measurement, and missing contenders, of so many rounds each and made by these
    /// tools: the line below a section or a picture.
    pub(crate) fn caption_of(&self, rounds: &[usize], tools: &[&str]) -> String {
        let Machine {
            date,
            cpu,
            cpus,
            kernel,
            load,
            omniorb,
            ..
        } = &self.machine;
        let commit = self.machine.commit();
        let missing = match self.missing.as_slice() {
            [] => String::new(),
            all => format!(" Missing: {}.", all.join("; ")),
        };
        let warnings = match self.warnings.as_slice() {
            [] => String::new(),
            all => format!(" Warning: {}.", all.join("; ")),
        };
        let quick = if self.quick {
            "A quick look, no measurement. "
        } else {
            ""
        };
        let omniorb = match omniorb.as_str() {
            version if !version.is_empty() && self.has_omniorb() => {
                format!(" omniORB {version}.")
            }
            _ => String::new(),
        };
        let before = match self.others {
            Some(used) => format!("others used {used:.2} CPUs before the run"),
            None => format!("load before the run {load}"),
        };
        let known: Vec<String> = tools.iter().filter_map(|tool| self.tool(tool)).collect();
        let tools = match known.as_slice() {
            [] => String::new(),
            known => format!(" Made with {}.", known.join(", ")),
        };
        format!(
            "{quick}{date} UTC, {commit}, {}. {cpu}, {cpus} CPUs, {kernel}, {before}.{omniorb}{tools}{missing}{warnings}",
            self.text_rounds(rounds)
        )
    }

    /// A tool with its version, if that is known.
    fn tool(&self, name: &str) -> Option<String> {
        let said = match (self.tools.get(name), name) {
            (Some(version), _) => return Some(format!("{name} {version}")),
            // The versions are kept with the machine, whether they were used or not.
            (None, "valgrind") => &self.machine.valgrind,
            (None, "rustc") => &self.machine.rustc,
            (None, _) => return None,
        };
        version(said).map(|version| format!("{name} {version}"))
    }

    /// The number of rounds behind the values: fewer where a round takes long.
    fn text_rounds(&self, each: &[usize]) -> String {
        let (least, most) = (each.iter().min(), each.iter().max());
        match (*least.unwrap_or(&0), *most.unwrap_or(&0)) {
            // Older data, whose points do not have their number of rounds.
            (0, _) => format!("up to {} rounds", self.rounds),
            (1, 1) => "one round".to_owned(),
            (least, most) if least == most => format!("{most} rounds"),
            (least, most) => format!("{least} to {most} rounds"),
        }
    }

    /// Whether anything of omniORB's has been measured: some experiments are of zorb alone.
    fn has_omniorb(&self) -> bool {
        let named = |text: &str| text.contains("omniORB");
        self.points.iter().any(|point| {
            named(&point.series) || named(&point.panel) || point.label.as_deref().is_some_and(named)
        })
    }

    /// Reads what an earlier run left.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(|e| format!("{shown}: {e}"))?;
        Self::from_json(&text).map_err(|e| format!("{shown}: {e}"))
    }

    fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let mut data: Self = serde_json::from_str(text)?;
        let points: Option<_> = data.points.into_iter().map(Point::restored).collect();
        data.points = points.ok_or_else(|| Error::custom("a point without a value"))?;
        Ok(data)
    }

    /// Writes it, a line a point.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, file: &Path) -> Result<(), String> {
        let shown = file.display();
        std::fs::write(file, self.to_json()?).map_err(|e| format!("{shown}: {e}"))
    }

    pub(crate) fn to_json(&self) -> Result<String, String> {
        let mut head = self.clone();
        head.points = Vec::new();
        let head = serde_json::to_string_pretty(&head).map_err(|e| e.to_string())?;
        let mut lines = Vec::new();
        for point in &self.points {
            let point = point.clone().stored();
            lines.push(serde_json::to_string(&point).map_err(|e| e.to_string())?);
        }
        let points = format!("\"points\": [\n    {}\n  ]", lines.join(",\n    "));
        Ok(format!("{}\n", head.replace("\"points\": []", &points)))
    }
}

/// The version in the line in which a tool says it: the first word, or part of one behind a hyphen, that begins with a
/// digit.
pub(crate) fn version(said: &str) -> Option<&str> {
    let mut words = said.split([' ', '-']);
    words.find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
}

/// The point of a value: its panel, series and place in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PanelPoint {
    pub(crate) panel: String,
    pub(crate) series: String,
    pub(crate) x: f64,
    pub(crate) label: Option<String>,
    pub(crate) unit: &'static str,
}

/// Values of many rounds, until they are points.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    cells: Vec<Cell>,
    run: usize,
}

/// The values of all rounds for a point.
#[derive(Debug)]
struct Cell {
    place: PanelPoint,
    run: usize,
    values: Vec<f64>,
    p99s: Vec<f64>,
    sent: Vec<f64>,
}

impl Collected {
    /// The following points are of other rounds than those before.
    pub(crate) const fn other_rounds(&mut self) {
        self.run += 1;
    }

    /// One round's value, and what a hundredth of its calls took longer than.
    pub(crate) fn add(&mut self, place: PanelPoint, value: f64, p99: Option<f64>) {
        let cell = self.cell(place);
        cell.values.push(value);
        cell.p99s.extend(p99);
    }

    /// One round's rate, and the octets that it is of.
    pub(crate) fn add_sent(&mut self, place: PanelPoint, rate: f64, octets: f64) {
        let cell = self.cell(place);
        cell.values.push(rate);
        cell.sent.push(octets);
    }

    fn cell(&mut self, place: PanelPoint) -> &mut Cell {
        let found = self.cells.iter().position(|cell| cell.place == place);
        let at = found.unwrap_or_else(|| {
            self.cells.push(Cell {
                place,
                run: self.run,
                values: Vec::new(),
                p99s: Vec::new(),
                sent: Vec::new(),
            });
            self.cells.len() - 1
        });
        &mut self.cells[at]
    }

    /// Medians and quartiles, in the order of panels, series and places.
    pub(crate) fn points(self) -> Vec<Point> {
        let point = |cell: Cell| {
            let Cell {
                place,
                run,
                values,
                p99s,
                sent,
            } = cell;
            let at = |part| quantile(&values, part);
            Some(Point {
                panel: place.panel,
                series: place.series,
                x: place.x,
                label: place.label,
                value: at(0.5)?,
                low: at(0.25)?,
                high: at(0.75)?,
                p99: quantile(&p99s, 0.5),
                sent: quantile(&sent, 0.5),
                rounds: values.len(),
                each: values.iter().copied().map(kept).collect(),
                run,
                unit: place.unit.to_owned(),
            })
        };
        let mut points: Vec<Point> = self.cells.into_iter().filter_map(point).collect();
        // Labels keep the order in which they came only where nothing else orders them: x does, of every label.
        points.sort_by(|a, b| {
            let by = a.panel.cmp(&b.panel).then_with(|| a.series.cmp(&b.series));
            by.then(a.x.total_cmp(&b.x))
        });
        points
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    impl Data {
        /// The line below a section of all that was measured.
        fn caption(&self) -> String {
            let tools: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            let rounds: Vec<usize> = self.points.iter().map(|point| point.rounds).collect();
            self.caption_of(&rounds, &tools)
        }
    }

    /// Points from panel, series, place, label and value.
    pub(crate) fn data(points: &[(&str, &str, f64, Option<&str>, f64)]) -> Data {
        let point =
            |&(panel, series, x, label, value): &(&str, &str, f64, Option<&str>, f64)| Point {
                panel: panel.to_owned(),
                series: series.to_owned(),
                x,
                label: label.map(str::to_owned),
                value,
                low: value,
                high: value,
                p99: None,
                sent: None,
                rounds: 5,
                each: Vec::new(),
                run: 0,
                unit: "µs".to_owned(),
            };
        Data {
            experiment: "test".to_owned(),
            machine: Machine {
                date: "2026-11-21 20:00".to_owned(),
                commit: "0123456789ab".to_owned(),
                cpu: "Some CPU".to_owned(),
                cpus: 2,
                kernel: "Linux 6.1".to_owned(),
                congestion_control: String::new(),
                load: 0.1,
                rustc: String::new(),
                omniorb: String::new(),
                valgrind: String::new(),
            },
            rounds: 5,
            quick: false,
            missing: Vec::new(),
            others: None,
            tools: BTreeMap::new(),
            warnings: Vec::new(),
            points: points.iter().map(point).collect(),
        }
    }

    fn place(x: f64) -> PanelPoint {
        PanelPoint {
            panel: "p".to_owned(),
            series: "zorb".to_owned(),
            x,
            label: None,
            unit: "µs",
        }
    }

    #[test]
    fn rounds_become_medians_and_quartiles() {
        let mut collected = Collected::default();
        for value in [5.0, 1.0, 3.0, 2.0, 4.0] {
            collected.add(place(1.0), value, Some(10.0 * value));
        }
        collected.add(place(0.5), 7.0, None);
        for octets in [3e6, 1e6, 2e6] {
            collected.add_sent(place(9.0), 100.0, octets);
        }
        let points = collected.points();
        assert_eq!(points.len(), 3);
        assert_eq!((points[2].sent, points[1].sent), (Some(2e6), None));
        assert_eq!(
            (points[0].x, points[0].value, points[0].p99),
            (0.5, 7.0, None)
        );
        let Point {
            low,
            value,
            high,
            p99,
            ..
        } = points[1];
        assert_eq!((low, value, high, p99), (2.0, 3.0, 4.0, Some(30.0)));
        assert_eq!((points[0].rounds, points[1].rounds), (1, 5));
    }

    #[test]
    fn what_a_point_was_in_each_round_is_kept_with_the_loop_that_they_are_of() {
        let mut collected = Collected::default();
        for value in [5.0, 1.0, 1.0 / 3.0] {
            collected.add(place(1.0), value, None);
        }
        collected.other_rounds();
        collected.add(place(2.0), 7.0, None);
        let points = collected.points();
        assert_eq!((points[0].run, points[1].run), (0, 1));
        // In the order of the rounds, as what is compared is of the same one.
        assert_eq!(points[0].each, [5.0, 1.0, 0.333_33]);
        let text = serde_json::to_string(&points[0]).unwrap();
        assert!(text.contains("\"each\":[5.0,1.0,0.33333]"), "{text}");
        assert!(!text.contains("run"), "{text}");
    }

    #[test]
    fn quartiles_are_shown_where_they_differ_from_the_median() {
        let point = |low, high| Point {
            low,
            high,
            ..data(&[("p", "zorb", 1.0, None, 0.0154)]).points.remove(0)
        };
        assert_eq!(
            point(0.0149, 0.0161).text_times(1_000.0),
            "15.4 (14.9–16.1)"
        );
        assert_eq!(point(0.01541, 0.01542).text_times(1_000.0), "15.4");
        assert_eq!(point(0.0154, 0.0154).text(), "0.0154");
    }

    #[test]
    fn data_is_read_as_it_was_written_a_line_a_point() {
        let data = data(&[
            ("p", "zorb", 1.0, Some("a"), 2.5),
            ("p", "raw", 3.0, None, 4.0),
        ]);
        let text = data.to_json().unwrap();
        let again = Data::from_json(&text).unwrap();
        assert_eq!(again.points, data.points);
        assert_eq!(
            text.lines()
                .filter(|line| line.contains("\"panel\""))
                .count(),
            2
        );
    }

    #[test]
    fn numbers_that_follow_from_those_of_the_rounds_are_not_stored() {
        let mut collected = Collected::default();
        for value in [5.0, 1.0, 3.0, 1.0 / 3.0] {
            collected.add(place(1.0), value, None);
        }
        let mut points = collected.points();
        let mut other = points[0].clone();
        other.value = 2.5;
        points.push(other);
        let mut data = data(&[]);
        data.points = points;
        let text = data.to_json().unwrap();
        let lines: Vec<_> = text.lines().filter(|line| line.contains("panel")).collect();
        let stored = "\"x\":1.0,\"each\":[5.0,1.0,3.0,0.33333],\"unit\"";
        assert!(lines[0].contains(stored), "{}", lines[0]);
        let stored = "\"x\":1.0,\"value\":2.5,\"each\":[";
        assert!(lines[1].contains(stored), "{}", lines[1]);
        let again = Data::from_json(&text).unwrap();
        for (again, before) in again.points.iter().zip(&data.points) {
            assert_eq!(again.value, before.value);
            assert_eq!(again.low, kept(before.low));
            assert_eq!((again.high, again.rounds), (before.high, 4));
        }
        let text = text.replace("\"each\":[5.0,1.0,3.0,0.33333],", "");
        let refused = Data::from_json(&text).unwrap_err().to_string();
        assert!(refused.contains("a point without a value"), "{refused}");
    }

    #[test]
    fn data_of_before_points_knew_their_rounds_is_still_read() {
        let data = data(&[("p", "zorb", 1.0, None, 2.5)]);
        let text = data.to_json().unwrap();
        assert!(text.contains("\"rounds\":5,"), "{text}");
        let old = Data::from_json(&text.replace("\"rounds\":5,", "")).unwrap();
        assert_eq!(old.points[0].rounds, 0);
        assert_eq!(old.points[0].value, 2.5);
    }

    #[test]
    fn a_caption_says_what_is_missing_and_what_was_wrong() {
        let mut data = data(&[]);
        let caption = data.caption();
        assert!(!caption.contains("issing") && !caption.contains("arning"));
        assert!(caption.contains("load before the run 0.1"), "{caption}");
        data.others = Some(0.034);
        data.warnings.push("others used 1.2 CPUs".to_owned());
        data.missing.push("omniORB (not installed)".to_owned());
        let caption = data.caption();
        for words in [
            "Missing: omniORB (not installed).",
            "Warning: others used 1.2 CPUs.",
            "0123456789ab",
            "Some CPU, 2 CPUs",
            "others used 0.03 CPUs before the run",
        ] {
            assert!(caption.contains(words), "{caption}");
        }
    }

    #[test]
    fn a_caption_says_of_how_many_rounds_values_are() {
        let mut data = data(&[("p", "zorb", 1.0, None, 2.5), ("p", "raw", 1.0, None, 2.5)]);
        assert!(data.caption().contains(", 5 rounds."), "{}", data.caption());
        data.points[0].rounds = 3;
        assert!(data.caption().contains(", 3 to 5 rounds."));
        data.points[0].rounds = 0;
        assert!(data.caption().contains(", up to 5 rounds."));
        assert!(data.caption_of(&[1, 1], &[]).contains(", one round."));
    }

    #[test]
    fn a_caption_names_the_tools_whose_versions_are_known() {
        let mut data = data(&[]);
        data.machine.valgrind = "valgrind-3.19.0".to_owned();
        let of = |data: &Data, tools: &[&str]| data.caption_of(&[5], tools);
        assert!(!of(&data, &[]).contains("Made with"));
        // Older data without versions.
        assert!(!of(&data, &["perf"]).contains("Made with"));
        assert!(of(&data, &["valgrind"]).ends_with(" Made with valgrind 3.19.0."));
        data.tools.insert("perf".to_owned(), "6.1".to_owned());
        assert!(of(&data, &["perf"]).ends_with(" Made with perf 6.1."));
        assert!(data.caption().ends_with(" Made with perf 6.1."));
    }

    #[test]
    fn the_version_of_a_tool_is_read_from_its_output() {
        for (said, is) in [
            ("valgrind-3.19.0", Some("3.19.0")),
            ("perf version 6.1.187", Some("6.1.187")),
            ("strace -- version 6.1", Some("6.1")),
            ("GNU size (GNU Binutils for Debian) 2.40", Some("2.40")),
            ("rustc 1.95.0 (59807616e 2026-04-14)", Some("1.95.0")),
            ("no such tool", None),
        ] {
            assert_eq!(version(said), is);
        }
    }

    #[test]
    fn data_of_before_tools_were_kept_is_still_read() {
        let mut with = data(&[]);
        let text = with.to_json().unwrap();
        assert!(!text.contains("tools"), "{text}");
        let old = Data::from_json(&text).unwrap();
        assert!(old.tools.is_empty());
        with.tools.insert("perf".to_owned(), "6.1".to_owned());
        let new = Data::from_json(&with.to_json().unwrap()).unwrap();
        assert_eq!(new.tools, with.tools);
    }

    #[test]
    fn a_caption_names_omniorb_where_something_of_it_is_shown() {
        let caption = |points: &[(&str, &str, f64, Option<&str>, f64)]| {
            let mut data = data(points);
            data.machine.omniorb = "4.2.5".to_owned();
            data.caption()
        };
        assert!(!caption(&[("p", "zorb", 1.0, None, 2.5)]).contains("omniORB"));
        for shown in [
            ("p", "omniORB", 1.0, None, 2.5),
            ("times, omniORB, same", "GIOP 1.2 over TCP", 1.0, None, 2.5),
            ("look-ups", "the rest", 1.0, Some("omniORB, oneway"), 2.5),
        ] {
            assert!(caption(&[shown]).contains("omniORB 4.2.5."), "{shown:?}");
        }
    }

    #[test]
    fn values_are_found_by_place_or_label() {
        let data = data(&[
            ("p", "zorb", 1.0, Some("a"), 2.5),
            ("p", "raw", 1.0, None, 4.0),
        ]);
        assert_eq!(data.at("p", "raw", 1.0), Some(4.0));
        assert_eq!(data.at("p", "raw", 2.0), None);
        assert_eq!(data.under("p", "zorb", "a"), Some(2.5));
        assert_eq!(data.under("p", "raw", "a"), None);
    }
}
