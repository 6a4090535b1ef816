//! The parts of README.md and COMPARE.md that are generated from the data, and the page of the papers before its first section, between markers.

use crate::figures::data::Data;
use crate::figures::throughput::flood::{Kind, Queue, Road, panel};
use crate::figures::white_box;
use crate::figures::{
    EXPERIMENTS, Experiment, cubit, demultiplexing, latency, principles, scale, steady, throughput,
};
use crate::markers::filled;
use crate::measure::place::Placement;
use crate::measure::statistics::three_digits;
use std::fs;
use std::path::Path;
use xtask::step::{Done, root};

/// A place on a page, and what is filled in there.
struct Block {
    page: &'static str,
    name: &'static str,
    text: fn(&All) -> String,
}

const BLOCKS: [Block; 3] = [
    Block {
        page: "README.md",
        name: "speed",
        text: speed,
    },
    Block {
        page: "COMPARE.md",
        name: "papers",
        text: papers,
    },
    Block {
        page: "docs/papers.md",
        name: "machine",
        text: machine,
    },
];

/// The data of all experiments that left some.
struct All(Vec<(&'static Experiment, Data)>);

impl All {
    fn read(folder: &Path) -> Result<Self, String> {
        let mut all = Vec::new();
        for experiment in &EXPERIMENTS {
            let file = folder.join(format!("{}.json", experiment.name));
            if file.exists() {
                all.push((experiment, Data::read(&file)?));
            }
        }
        Ok(Self(all))
    }

    fn of(&self, experiment: &Experiment) -> Option<&Data> {
        let found = self.0.iter().find(|(one, _)| one.name == experiment.name);
        found.map(|(_, data)| data)
    }
}

/// Fills in all blocks from the data in a folder.
///
/// # Errors
/// A page or data cannot be read or written, or a page has no place for its block.
pub(crate) fn fill(folder: &Path) -> Done {
    let all = All::read(folder)?;
    for block in &BLOCKS {
        let file = root().join(block.page);
        let shown = file.display();
        let page = fs::read_to_string(&file).map_err(|e| format!("{shown}: {e}"))?;
        let page = block.on(&page, &all);
        let page = page.ok_or_else(|| format!("{shown}: no place for {}", block.name))?;
        fs::write(&file, page).map_err(|e| format!("{shown}: {e}"))?;
    }
    Ok(())
}

impl Block {
    fn on(&self, page: &str, all: &All) -> Option<String> {
        filled(page, self.name, &(self.text)(all))
    }
}

/// docs/papers.md: what verdicts mean, and how steady the machine was.
fn machine(all: &All) -> String {
    let named: Vec<_> = all.0.iter().map(|(one, data)| (one.name, data)).collect();
    steady::text(&named)
}

/// Series of calls, in the order of their columns: zorb, the peers, the floor, and what else there may be.
fn series(data: &Data, panel: &str) -> Vec<String> {
    let known = ["zorb", "zorb, dedicated", "omniORB", "raw"];
    let mut names: Vec<String> = Vec::new();
    for point in data.of(panel) {
        if !names.contains(&point.series) {
            names.push(point.series.clone());
        }
    }
    names.sort_by_key(|name| {
        known
            .iter()
            .position(|one| one == name)
            .unwrap_or(known.len())
    });
    names
}

/// The median of calls, and what a hundredth of them takes longer than.
fn took(data: &Data, (panel, x): (&str, f64), series: &str) -> String {
    let found = data.of(panel).find(|p| p.series == series && p.x == x);
    let Some(point) = found else {
        return "–".to_owned();
    };
    let p99 = point.p99.map(|p99| format!(" ({})", three_digits(p99)));
    format!("{}{}", three_digits(point.value), p99.unwrap_or_default())
}

const PLACEMENTS: [(&str, Placement); 2] = [
    ("one CPU", Placement::Same),
    ("a CPU each", Placement::Split),
];

/// README.md: what a call takes.
fn speed(all: &All) -> String {
    let Some(data) = all.of(&latency::EXPERIMENT) else {
        return String::new();
    };
    let names = series(data, "noparams robin, split");
    let rule = "---:|".repeat(names.len());
    let mut lines = vec![
        format!("| µs a call | programs on | {} |", names.join(" | ")),
        format!("|---|---|{rule}"),
    ];
    let rows = [
        ("without parameters", "noparams robin", 1.0),
        ("with 1,024 octets", "octet 1", 1024.0),
        ("with 1,024 structs", "struct 1", 1024.0),
    ];
    for (what, of, x) in rows {
        for (place, placement) in PLACEMENTS {
            let panel = format!("{of}, {placement}");
            let cells: Vec<_> = names
                .iter()
                .map(|name| took(data, (&panel, x), name))
                .collect();
            lines.push(format!("| {what} | {place} | {} |", cells.join(" | ")));
        }
    }
    let spinning = all.of(&cubit::EXPERIMENT).and_then(|data| {
        let times = "times, raw, spinning, split";
        let took = three_digits(data.under(times, "TCP", "void")?);
        Some(format!(
            " Beside *zorb*, raw sockets that spin took {took} µs in [another experiment](docs/papers.md#cubit)."
        ))
    });
    let picture = "[![A two-way call without parameters](docs/figures/latency-sockets.svg)](docs/papers.md#latency)";
    format!(
        "{}\n\nMedians over TCP on one machine, in parentheses the 99th percentiles. *zorb, dedicated*, *omniORB* and *raw* \
         (blocking sockets, as many octets, no ORB) park while they wait. *zorb*, the ORB by default, spins for some \
         microseconds first.{}\n\n{picture}\n\n{}",
        lines.join("\n"),
        spinning.unwrap_or_default(),
        data.caption()
    )
}

/// A row of the table in COMPARE.md: what, zorb's, omniORB's, that of no ORB, and the section it is from.
type Row = (String, [Option<f64>; 3], &'static Experiment);

const SERIES: [&str; 3] = ["zorb", "omniORB", "raw"];

/// COMPARE.md: a number or two of each experiment.
fn papers(all: &All) -> String {
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(calls(all));
    rows.extend(octets(all));
    rows.extend(inside(all));
    rows.extend(many(all));
    let mut lines = vec![
        "| | zorb | omniORB | no ORB | more of it |".to_owned(),
        "|---|---:|---:|---:|---|".to_owned(),
    ];
    for (what, values, experiment) in rows.iter().filter(|row| row.1[0].is_some()) {
        let cells = values.map(|value| value.map_or_else(|| "–".to_owned(), three_digits));
        let name = experiment.name;
        let cells = cells.join(" | ");
        lines.push(format!(
            "| {what} | {cells} | [{name}](docs/papers.md#{name}) |"
        ));
    }
    let mut dates: Vec<_> = all.0.iter().map(|(_, data)| &data.machine.date).collect();
    dates.sort();
    let mut commits: Vec<_> = all
        .0
        .iter()
        .map(|(_, data)| data.machine.commit())
        .collect();
    commits.sort_unstable();
    commits.dedup();
    let when = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) => format!(
            "\n\nMeasured from {first} to {last} UTC at {}; each section says what on.",
            commits.join(", ")
        ),
        _ => String::new(),
    };
    format!("{}{when}", lines.join("\n"))
}

fn calls(all: &All) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    if let Some(data) = all.of(&latency::EXPERIMENT) {
        for (what, of, x) in [
            ("a call without parameters", "noparams robin", 1.0),
            ("a call with 1,024 structs", "struct 1", 1024.0),
        ] {
            for (place, placement) in PLACEMENTS {
                let panel = format!("{of}, {placement}");
                let values = SERIES.map(|series| data.at(&panel, series, x));
                rows.push((format!("{what}, {place}, µs"), values, &latency::EXPERIMENT));
            }
        }
    }
    if let Some(data) = all.of(&cubit::EXPERIMENT) {
        let at =
            |who: &str, series: &str| data.under(&format!("times, {who}, split"), series, "void");
        let newest = "GIOP 1.2 over UNIX";
        let values = [
            at("zorb", newest),
            at("omniORB", newest),
            at("raw, spinning", "UNIX"),
        ];
        let what = "a call without parameters over UNIX sockets, a CPU each, µs; no ORB: sockets that try before they sleep";
        rows.push((what.to_owned(), values, &cubit::EXPERIMENT));
    }
    rows
}

fn octets(all: &All) -> Vec<Row> {
    let Some(data) = all.of(&throughput::EXPERIMENT) else {
        return Vec::new();
    };
    let row = |kind: Kind| {
        let panel = panel(kind, Road::Tcp.name(), Queue::Default, Placement::Split);
        let octets = panel_of_octets();
        let at = |series: &str| {
            let panel = if series == "raw" { &octets } else { &panel };
            data.at(panel, series, 65_536.0).map(|mbit| mbit / 1000.0)
        };
        let what = format!(
            "a flood of {} in buffers of 64 K over TCP, a CPU each, Gbit/s",
            kind.name()
        );
        (what, SERIES.map(at), &throughput::EXPERIMENT)
    };
    vec![row(Kind::Octets), row(Kind::Structs)]
}

/// Without an ORB octets stand for all types.
fn panel_of_octets() -> String {
    panel(
        Kind::Octets,
        Road::Tcp.name(),
        Queue::Default,
        Placement::Split,
    )
}

fn inside(all: &All) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    if let Some(data) = all.of(&white_box::EXPERIMENT) {
        for end in ["client", "server"] {
            let panel = format!("{end} itself, TCP, split");
            let steps = data
                .of(&panel)
                .filter(|p| p.label.as_deref() == Some("none"));
            let all: Vec<f64> = steps.map(|point| 1000.0 * point.value).collect();
            let sum = (!all.is_empty()).then(|| all.iter().sum());
            let what = format!("what the {end} itself works for a call without parameters, ns");
            rows.push((what, [sum, None, None], &white_box::EXPERIMENT));
        }
    }
    if let Some(data) = all.of(&demultiplexing::EXPERIMENT) {
        let found = data.at("100 operations, random", demultiplexing::POA, 500.0);
        let what = "finding one of 500 objects and one of 100 operations, ns";
        rows.push((
            what.to_owned(),
            [found, None, None],
            &demultiplexing::EXPERIMENT,
        ));
    }
    if let Some(data) = all.of(&principles::EXPERIMENT) {
        for (part, what) in [("encode", "writing"), ("decode", "reading")] {
            let took = data.at(&format!("structs, {part}"), principles::COMPILED, 1024.0);
            let what = format!("{what} 1,024 structs, µs");
            rows.push((what, [took, None, None], &principles::EXPERIMENT));
        }
    }
    rows
}

fn many(all: &All) -> Vec<Row> {
    let Some(data) = all.of(&scale::EXPERIMENT) else {
        return Vec::new();
    };
    let took = |panel: &str, x: f64, what: &str| {
        let values = SERIES.map(|series| data.at(panel, series, x));
        (
            format!("{what}, a CPU each, µs"),
            values,
            &scale::EXPERIMENT,
        )
    };
    let rate = SERIES.map(|series| data.at("callers rate, split", series, 256.0));
    let rate = rate.map(|rate| rate.map(|rate| rate / 1000.0));
    vec![
        took(
            "servants, split",
            1_000_000.0,
            "a call to one of a million objects at random",
        ),
        took(
            "connections idle, split",
            10_000.0,
            "a call beside 9,999 idle connections",
        ),
        (
            "256 callers together, a CPU for each program, thousands of calls a second".to_owned(),
            rate,
            &scale::EXPERIMENT,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    fn made_up() -> All {
        let data = data(&[
            ("noparams robin, same", "raw", 1.0, None, 9.0),
            ("noparams robin, same", "zorb", 1.0, None, 10.0),
            ("noparams robin, split", "omniORB", 1.0, None, 52.0),
            ("noparams robin, split", "raw", 1.0, None, 40.0),
            ("noparams robin, split", "zorb", 1.0, None, 12.0),
        ]);
        All(vec![(&latency::EXPERIMENT, data)])
    }

    #[test]
    fn a_call_has_a_row_for_both_placements_and_missing_values_are_blank() {
        let text = speed(&made_up());
        for line in [
            "| µs a call | programs on | zorb | omniORB | raw |",
            "| without parameters | one CPU | 10.0 | – | 9.00 |",
            "| without parameters | a CPU each | 12.0 | 52.0 | 40.0 |",
        ] {
            assert!(text.contains(line), "no {line} in {text}");
        }
    }

    #[test]
    fn experiments_that_left_no_data_have_no_row() {
        let text = papers(&made_up());
        let row = "| a call without parameters, a CPU each, µs | 12.0 | 52.0 | 40.0 | [latency](docs/papers.md#latency) |";
        assert!(text.contains(row), "{text}");
        assert!(
            !text.contains("flood") && !text.contains("structs"),
            "{text}"
        );
    }

    #[test]
    fn readme_and_compare_say_what_the_data_says() {
        let all = All::read(&root().join("docs/figures")).unwrap();
        assert_eq!(all.0.len(), EXPERIMENTS.len());
        for block in &BLOCKS {
            let page = fs::read_to_string(root().join(block.page)).unwrap();
            let again = block.on(&page, &all);
            let name = block.page;
            let again = again.unwrap_or_else(|| panic!("{name} has no place"));
            assert!(page == again, "{name}: run cargo xtask figures --redraw");
            assert!(!(block.text)(&all).contains("| – | – | – |"), "{name}");
        }
    }
}
