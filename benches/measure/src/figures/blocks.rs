//! The parts of COMPARE.md that are generated from the data, and the section on verdicts of the page of the papers,
//! between markers.

use crate::figures::data::Data;
use crate::figures::latency::latency_programs::{DEDICATED, OMNIORB, RAW, ZORB};
use crate::figures::throughput::flood::{Kind, Queue, Road, panel};
use crate::figures::{EXPERIMENTS, Experiment, cubit, scale, steady, throughput};
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

const BLOCKS: [Block; 2] = [
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

/// A row of the table in COMPARE.md: what, a value a column, and the section it is from.
type Row = (String, [Option<f64>; COLUMNS.len()], &'static Experiment);

/// The programs, and how they wait.
const COLUMNS: [&str; 5] = [
    "parking: zorb",
    "parking: omniORB",
    "parking: raw sockets",
    "spinning: zorb",
    "spinning: raw sockets",
];

/// The series of the columns, where an experiment has them.
const SERIES: [Option<&str>; COLUMNS.len()] =
    [Some(DEDICATED), Some(OMNIORB), Some(RAW), Some(ZORB), None];

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), three_digits)
}

fn link(experiment: &Experiment) -> String {
    let name = experiment.name;
    format!("[{name}](docs/papers.md#{name})")
}

/// COMPARE.md: a number or two of each experiment that compares programs.
fn papers(all: &All) -> String {
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(over_unix(all));
    rows.extend(octets(all));
    rows.extend(many(all));
    let mut lines = vec![
        format!("| | {} | more of it |", COLUMNS.join(" | ")),
        format!("|---|{}---|", "---:|".repeat(COLUMNS.len())),
    ];
    let known = |row: &&Row| row.1.iter().any(Option::is_some);
    for (what, values, experiment) in rows.iter().filter(known) {
        let cells = values.map(cell).join(" | ");
        lines.push(format!("| {what} | {cells} | {} |", link(experiment)));
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

fn over_unix(all: &All) -> Option<Row> {
    let data = all.of(&cubit::EXPERIMENT)?;
    let at = |who: &str, series: &str| data.under(&format!("times, {who}, split"), series, "void");
    let newest = "GIOP 1.2 over UNIX";
    let values = [
        None,
        at("omniORB", newest),
        at("raw", "UNIX"),
        at("zorb", newest),
        at("raw, spinning", "UNIX"),
    ];
    let what = "a call without parameters over UNIX sockets, a CPU each, µs";
    Some((what.to_owned(), values, &cubit::EXPERIMENT))
}

fn octets(all: &All) -> Vec<Row> {
    let Some(data) = all.of(&throughput::EXPERIMENT) else {
        return Vec::new();
    };
    let row = |kind: Kind| {
        let panel = panel(kind, Road::Tcp.name(), Queue::Default, Placement::Split);
        let octets = panel_of_octets();
        let at = |series: Option<&str>| {
            let panel = if series == Some(RAW) { &octets } else { &panel };
            data.at(panel, series?, 65_536.0).map(|mbit| mbit / 1000.0)
        };
        let what = format!(
            "a flood of {} in buffers of 64 K over TCP, a CPU each, Gbit/s",
            kind.name()
        );
        (what, SERIES.map(at), &throughput::EXPERIMENT)
    };
    vec![row(Kind::Octets), row(Kind::Structs)]
}

/// The panel of octets, which stand for all types without an ORB.
fn panel_of_octets() -> String {
    panel(
        Kind::Octets,
        Road::Tcp.name(),
        Queue::Default,
        Placement::Split,
    )
}

fn many(all: &All) -> Vec<Row> {
    let Some(data) = all.of(&scale::EXPERIMENT) else {
        return Vec::new();
    };
    let took = |panel: &str, x: f64, what: &str| {
        let values = SERIES.map(|series| data.at(panel, series?, x));
        (
            format!("{what}, a CPU each, µs"),
            values,
            &scale::EXPERIMENT,
        )
    };
    let rate = SERIES.map(|series| data.at("callers rate, split", series?, 256.0));
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
            ("servants, split", ZORB, 1_000_000.0, None, 12.0),
            ("servants, split", DEDICATED, 1_000_000.0, None, 60.0),
            ("servants, split", OMNIORB, 1_000_000.0, None, 150.0),
        ]);
        All(vec![(&scale::EXPERIMENT, data)])
    }

    #[test]
    fn experiments_that_left_no_data_have_no_row_and_missing_values_are_blank() {
        let text = papers(&made_up());
        let row = "| a call to one of a million objects at random, a CPU each, µs | 60.0 | 150 | – | 12.0 | – | [scale](docs/papers.md#scale) |";
        assert!(text.contains(row), "{text}");
        assert!(!text.contains("flood"), "{text}");
    }

    #[test]
    fn pages_say_what_the_data_says() {
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
