//! Claims about zorb, measured: `cargo xtask claims AREA`. At most ten rows an area, those that a user asks for.

mod crowd;
mod idl;
mod native;
mod neighbours;
mod programs;
mod speed;
mod table1;
mod waiting;

pub(crate) use programs::printed;

use crate::attack;
use crate::compare::CompareOptions;
use crate::row::{Aim, Row};
use clap::Args;
use xtask::cells;
use xtask::step::Done;

/// Arguments of `claims`.
#[derive(Args, Debug)]
#[group(id = "claims")]
pub(crate) struct ClaimsOptions {
    /// One of the areas that `claims` without an area lists
    area: Option<String>,
    /// Rows whose names contain one of these; all of them unless named
    rows: Vec<String>,
    #[command(flatten)]
    compare: CompareOptions,
}

impl ClaimsOptions {
    /// Whether a row of that name is asked for.
    fn wants(&self, name: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|word| name.contains(word.as_str()))
    }
}

/// A group of claims that is measured together.
struct Area {
    name: &'static str,
    about: &'static str,
    /// Measures. An error is a measurement that could not be made, which is no better than a short one.
    rows: fn(&ClaimsOptions) -> Result<Vec<Row>, String>,
}

/// Every area there is.
const AREAS: [Area; 12] = [
    Area {
        name: "first-call",
        about: "interop cells that passed in the last `cargo xtask test`",
        rows: |_| first_call(),
    },
    Area {
        name: "idl",
        about: "the IDL compiler on models of 10,000 and 200,000 lines, and rustc on what it makes",
        rows: |_| idl::rows(),
    },
    Area {
        name: "waiting",
        about: "the default wait policy beside parking, on a quiet machine and beside processes that compute",
        rows: waiting::rows,
    },
    Area {
        name: "poa",
        about: "look-ups, memory of objects, calls through default servants and locators",
        rows: |options| programs::rows("poa", options),
    },
    Area {
        name: "lanes",
        about: "deadlines and tails under overload, fairness, allocations; needs SCHED_FIFO; two minutes",
        rows: |options| programs::rows("lanes", options),
    },
    Area {
        name: "bounds",
        about: "what `cargo xtask attack` measures: memory, descriptors and honest clients beside attacks",
        rows: |options| attack::rows(&options.rows),
    },
    Area {
        name: "protocols",
        about: "a flood of one-ways; connecting to nothing; several connections; servers that are killed",
        rows: |options| programs::rows("protocols", options),
    },
    Area {
        name: "native",
        about: "calls through shared memory beside omniORB's UNIX sockets; messages by number beside GIOP; Table 1 of the paper on CORBA as needed",
        rows: native::rows,
    },
    Area {
        name: "tls",
        about: "calls, handshakes, idle connections and new certificates over TLS, beside tokio-rustls alone and omniORB",
        rows: |options| programs::rows("tls", options),
    },
    Area {
        name: "dynamic",
        about: "dynamic calls beside static ones and beside omniORB's, over TCP",
        rows: speed::dynamic_rows,
    },
    Area {
        name: "services",
        about: "the event service beside omniEvents, and with a consumer that stops; the naming service with a million names, killed, and over engines that fail",
        rows: |options| programs::rows("services", options),
    },
    Area {
        name: "speed",
        about: "calls beside omniORB's; allocations; ten thousand idle connections",
        rows: speed::rows,
    },
];

/// Measures one area and prints `name measured aim ok|short`, a line a claim; without an area, prints the areas.
///
/// # Errors
/// There is no such area, nothing could be measured, or a claim falls short.
pub(crate) fn run(options: &ClaimsOptions) -> Done {
    let Some(name) = options.area.as_deref() else {
        for area in &AREAS {
            println!("{}: {}", area.name, area.about);
        }
        return Ok(());
    };
    let area = AREAS
        .iter()
        .find(|a| a.name == name)
        .ok_or_else(|| format!("no area is called {name}; `cargo xtask claims` lists them"))?;
    let rows = (area.rows)(options)?;
    for row in &rows {
        println!("{}", row.line());
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
    let count = |n: usize| u32::try_from(n).map_or(f64::NAN, f64::from);
    let rows = cells::tally()?
        .groups()
        .into_iter()
        .map(|(group, run, expected)| {
            Row::new(
                format!("cells:{group}"),
                count(run),
                Aim::AtLeast(count(expected)),
                "",
            )
        })
        .collect();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_area_is_an_error_and_words_choose_rows() {
        let options = ClaimsOptions {
            area: Some("no such area".to_owned()),
            rows: vec!["octet".to_owned()],
            compare: CompareOptions {
                rounds: 1,
                quick: true,
            },
        };
        assert!(run(&options).is_err());
        assert!(options.wants("octet/split") && !options.wants("noparams"));
    }
}
