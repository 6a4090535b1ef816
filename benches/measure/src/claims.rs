//! Claims about zorb, measured: `cargo xtask claims AREA`.

use crate::row::{Aim, Row};
use crate::{attack, compare, engine, figures, idl, lanes, poa, protocols, speed, waiting};
use clap::Args;
use xtask::cells;
use xtask::step::Done;

/// A group of claims that is measured together.
struct Area {
    name: &'static str,
    about: &'static str,
    /// Measures. An error is a measurement that could not be made, which is no better than a short one.
    rows: fn(&ClaimsOptions) -> Result<Vec<Row>, String>,
}

/// Arguments of `claims`.
#[derive(Args, Debug)]
#[group(id = "claims")]
pub(crate) struct ClaimsOptions {
    /// One of the areas that `claims` without an area lists
    area: Option<String>,
    /// Of `bounds`, `engine`, `figures`, `poa`, `protocols`, `speed` and `waiting`: rows whose names contain one of these
    rows: Vec<String>,
    /// Of `speed`: name the rows, and measure nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    compare: compare::CompareOptions,
}

/// Every area there is.
const AREAS: [Area; 10] = [
    Area {
        name: "first-call",
        about: "interop cells that passed in the last `cargo xtask test`",
        rows: |_| first_call(),
    },
    Area {
        name: "idl",
        about: "the IDL compiler on models of 10,000 and 200,000 lines, and rustc on what it makes",
        rows: |_| idl_compiler(),
    },
    Area {
        name: "figures",
        about: "what the last `cargo xtask figures` saw of what the papers claim, from its data in docs/figures",
        rows: |options| figures::rows(&options.rows),
    },
    Area {
        name: "waiting",
        about: "the default wait policy beside parking, on a quiet machine and beside processes that compute",
        rows: |options| waiting::rows(&options.compare, &options.rows),
    },
    Area {
        name: "engine",
        about: "the path of a call: lines, functions, constants; instructions and ratios beside bb80c2d; allocations",
        rows: |options| engine::rows(&options.compare, &options.rows),
    },
    Area {
        name: "poa",
        about: "look-ups, memory of objects, calls through default servants and locators, objects that come and go",
        rows: |options| poa::rows(&options.rows),
    },
    Area {
        name: "lanes",
        about: "deadlines and tails under overload, fairness, hand-over, allocations; needs SCHED_FIFO; two minutes",
        rows: |options| lanes::rows(&options.rows),
    },
    Area {
        name: "bounds",
        about: "what `cargo xtask attack` measures: memory, descriptors and honest clients beside attacks",
        rows: |options| attack::rows(&options.rows),
    },
    Area {
        name: "protocols",
        about: "UNIX sockets and GIOPlite beside TCP; circuits of ATM; long one-ways; connecting to nothing; fail-over",
        rows: |options| protocols::rows(options.compare.quick, &options.rows),
    },
    Area {
        name: "speed",
        about: "calls beside omniORB's and those of no ORB; instructions, allocations, system calls",
        rows: |options| speed::rows(&options.compare, &options.rows),
    },
];

/// Prints the areas.
fn list() {
    for area in &AREAS {
        println!("{}: {}", area.name, area.about);
    }
}

/// Measures one area and prints `name measured aim ok|short`, a line a claim; without an area, prints the areas.
///
/// # Errors
/// There is no such area, nothing could be measured, or a claim falls short.
pub(crate) fn run(options: &ClaimsOptions) -> Done {
    let Some(name) = options.area.as_deref() else {
        list();
        return Ok(());
    };
    let area = AREAS
        .iter()
        .find(|a| a.name == name)
        .ok_or_else(|| format!("no area is called {name}; `cargo xtask claims` lists them"))?;
    if name == "speed" && options.list {
        return speed::list();
    }
    let rows = (area.rows)(options)?;
    let lines: Vec<_> = rows.iter().map(Row::line).collect();
    // The rows of `speed` take minutes, and are printed as they come.
    if name == "speed" {
        if options.compare.record {
            compare::record_claims(&format!("```text\n{}\n```", lines.join("\n")))?;
        }
    } else {
        println!("{}", lines.join("\n"));
    }
    if rows.is_empty() {
        return Err(format!("{name}: nothing was measured"));
    }
    match rows.iter().filter(|r| !r.holds()).count() {
        0 => Ok(()),
        short => Err(format!("{name}: {short} of {} fall short", rows.len())),
    }
}

fn first_call() -> Result<Vec<Row>, String> {
    let rows = cells::tally()?
        .groups()
        .into_iter()
        .map(|(group, run, expected)| Row {
            name: format!("cells:{group}"),
            measured: count(run),
            aim: Aim::AtLeast(count(expected)),
            note: String::new(),
        })
        .collect();
    Ok(rows)
}

/// Seconds, but for the rate and the ratio.
fn idl_compiler() -> Result<Vec<Row>, String> {
    let measured = idl::speed()?;
    let of = |name: &str| measured.get(name).copied().unwrap_or(f64::NAN);
    let row = |name: &str, measured: f64, aim: Aim| Row {
        name: format!("idl:{name}"),
        measured,
        aim,
        note: String::new(),
    };
    let growth = of("expand-200k") / (20.0 * of("expand-10k"));
    Ok(vec![
        row("expand-10k-lines", of("expand-10k"), Aim::AtMost(1.0)),
        row("expand-200k-lines", of("expand-200k"), Aim::AtMost(20.0)),
        // Twenty times the text may take twenty times as long, and half of that more.
        row("expand-growth", growth, Aim::AtMost(1.5)),
        row(
            "check-mb-per-second",
            of("check-10k-mb-s"),
            Aim::AtLeast(4.0),
        ),
        // Nearly all of it is rustc on some 37,000 functions and constants. It was 42 on a loaded machine.
        row("rustc-10k-lines", idl::rustc()?, Aim::AtMost(55.0)),
    ])
}

/// A count as the number a row shows; ours are far below where an f64 stops being exact.
fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::NAN, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_area_is_an_error() {
        let options = ClaimsOptions {
            area: Some("no such area".to_owned()),
            rows: Vec::new(),
            list: false,
            compare: compare::CompareOptions {
                rounds: 1,
                quick: true,
                record: false,
            },
        };
        assert!(run(&options).is_err());
    }
}
