//! `cargo xtask claims engine`: how simple the path of a call is, and what that costs beside bb80c2d, which had a path
//! for each kind of caller.
//!
//! Lines, functions and constants are counted in the sources; allocations and instructions are measured with release
//! programs; ratios are those of the last `cargo xtask compare --against bb80c2d --record`.

mod lines;
mod path;

use crate::compare::{CompareOptions, work};
use crate::measure::instructions::{Instructions, of_a_call};
use crate::measure::peer::Peer;
use crate::measure::run::Work;
use crate::measure::{programs, tools};
use crate::row::{Aim, Row};
use crate::speed;
use std::fs;
use xtask::step::root;

/// The code of a connection, and that of the facade.
const ENGINE: [&str; 3] = [
    "crates/connection/src",
    "crates/zorb/src/serve",
    "crates/zorb/src/invoke",
];
const ENGINE_LINES: f64 = 5_600.0;

/// The crates of a call.
const CRATES: [&str; 6] = [
    "crates/zorb/src",
    "crates/connection/src",
    "crates/poa/src",
    "crates/giop/src",
    "crates/transport/src",
    "crates/executor/src",
];
/// Lines of these at bb80c2d, and how many fewer there are to be.
const OLD_LINES: f64 = 24_608.0;
const FEWER_LINES: f64 = 2_000.0;

/// Functions and files between the socket and the servant, and back.
const FUNCTIONS: f64 = 25.0;
const FILES: f64 = 12.0;

/// Where the numbers are that say how calls wait, read and write. Limits on what peers can take are elsewhere, and no
/// part of the tuning.
const TUNED: [&str; 9] = [
    "crates/executor/src/wait.rs",
    "crates/connection/src/spin.rs",
    "crates/connection/src/link.rs",
    "crates/connection/src/client/driver.rs",
    "crates/connection/src/client/read.rs",
    "crates/connection/src/outbound/batch.rs",
    "crates/connection/src/server/header_cache.rs",
    "crates/connection/src/server/promote.rs",
    "crates/connection/src/server/thread.rs",
];
const CONSTANTS: f64 = 20.0;
/// The types of such numbers.
const NUMBERS: [&str; 9] = [
    "Duration", "f64", "i64", "u16", "u32", "u64", "u8", "usize", "isize",
];

/// Instructions of `noparams` at bb80c2d: of the client, and of the server.
const OLD_INSTRUCTIONS: [(&str, Instructions); 2] = [
    (
        "zorb-current",
        Instructions {
            client: 2469.0,
            server: 2540.0,
        },
    ),
    (
        "zorb-blocking",
        Instructions {
            client: 1070.0,
            server: 1185.0,
        },
    ),
];
const INSTRUCTIONS: f64 = 1.05;

/// All rows of the comparison together.
const ALL_ROWS: f64 = 1.02;

/// The allocations that [`speed`] counts.
const ALLOCATIONS: [&str; 3] = [
    "allocations/noparams/zorb/",
    "allocations/octet/zorb/",
    "allocations/struct/zorb/",
];

/// Where bb80c2d was slower than omniORB, among the ratios of [`speed`].
const SLOWER: [&str; 3] = ["octet-1-mib/", "octet-8-mib/", "p99/noparams/"];

/// Counts or measures a group of rows.
type Group = fn(&CompareOptions) -> Result<Vec<Row>, String>;

/// The groups of rows, by the first word of their names.
const GROUPS: [(&str, Group); 7] = [
    ("lines", |_| line_rows()),
    ("path", |_| path_rows()),
    ("constants", |_| constant_rows()),
    ("compare", |_| compare_rows()),
    ("instructions", |_| instruction_rows()),
    ("allocations", |options| {
        speed::measured(options, &ALLOCATIONS.map(str::to_owned))
    }),
    ("slower", |options| {
        speed::measured(options, &SLOWER.map(str::to_owned))
    }),
];

/// Counts and measures the groups whose names contain one of the words, or all.
///
/// # Errors
/// Something cannot be read, built or counted.
pub(crate) fn rows(options: &CompareOptions, words: &[String]) -> Result<Vec<Row>, String> {
    let is_chosen =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let mut rows = Vec::new();
    for (name, group) in GROUPS {
        if is_chosen(name) {
            // A group that cannot be measured is one short row: the others take too long to be lost.
            rows.extend(
                group(options).unwrap_or_else(|why| vec![at_most(name, f64::NAN, 0.0, why)]),
            );
        }
    }
    Ok(rows)
}

fn at_most(name: impl Into<String>, measured: f64, aim: f64, note: String) -> Row {
    Row {
        name: name.into(),
        measured,
        aim: Aim::AtMost(aim),
        note,
    }
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::NAN, f64::from)
}

fn line_rows() -> Result<Vec<Row>, String> {
    let count = |at: &[&str]| lines::code(&root(), at).map(|code| number(lines::count(&code)));
    let all = count(&CRATES)?;
    Ok(vec![
        at_most(
            "lines/engine",
            count(&ENGINE)?,
            ENGINE_LINES,
            "zorb-connection, serve, invoke".to_owned(),
        ),
        at_most(
            "lines/six-crates",
            all,
            OLD_LINES - FEWER_LINES,
            format!("{OLD_LINES} at bb80c2d"),
        ),
    ])
}

fn page(name: &str) -> Result<String, String> {
    fs::read_to_string(root().join(name)).map_err(|e| format!("{name}: {e}"))
}

fn path_rows() -> Result<Vec<Row>, String> {
    let walk = path::walk(&root(), &page("ARCHITECTURE.md")?)?;
    Ok(vec![
        at_most(
            "path/functions",
            number(walk.functions.len()),
            FUNCTIONS,
            "socket to servant and back, as ARCHITECTURE.md names them".to_owned(),
        ),
        at_most(
            "path/files",
            number(walk.files.len()),
            FILES,
            "in which these are".to_owned(),
        ),
    ])
}

fn constant_rows() -> Result<Vec<Row>, String> {
    let code = lines::code(&root(), &TUNED)?;
    let constants = code.iter().flat_map(|(_, lines)| lines);
    let constants = constants.filter(|line| is_number(line));
    Ok(vec![at_most(
        "constants/tuning",
        number(constants.count()),
        CONSTANTS,
        "numbers of how calls wait, read and write".to_owned(),
    )])
}

/// Whether a line declares a constant that is a number or a time.
fn is_number(line: &str) -> bool {
    let Some((before, declared)) = line.split_once("const ") else {
        return false;
    };
    let is_public = before.trim().is_empty() || before.trim().starts_with("pub");
    let ty = declared.split_once(": ").map(|(_, rest)| rest);
    let ty = ty.and_then(|rest| rest.split([' ', ';']).next());
    is_public && ty.is_some_and(|ty| NUMBERS.contains(&ty))
}

/// The rows of benches/compare.md.
fn compare_rows() -> Result<Vec<Row>, String> {
    let text = page("benches/compare.md")?;
    let recorded =
        compared(&text).ok_or("benches/compare.md has no comparison with another revision")?;
    Ok(vec![
        at_most(
            "compare/geometric-mean",
            recorded.mean,
            ALL_ROWS,
            format!("of {} rows", recorded.rows),
        ),
        at_most(
            "compare/short-rows",
            number(recorded.short.len()),
            0.0,
            recorded.short.join("; "),
        ),
    ])
}

/// A comparison as it is recorded.
#[derive(Debug, PartialEq)]
struct Compared {
    rows: usize,
    mean: f64,
    /// The rows that are not `ok`.
    short: Vec<String>,
}

fn compared(page: &str) -> Option<Compared> {
    let (_, text) = page.split_once("<!-- against: filled in by ")?;
    let (text, _) = text.split_once("<!-- against: end -->")?;
    let mut rows = 0;
    let mut short = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [work, configuration, placement, .., verdict] = cells.as_slice() else {
            continue;
        };
        if *work == "work" {
            continue;
        }
        rows += 1;
        if *verdict != "ok" {
            short.push(format!("{work} {configuration} {placement}: {verdict}"));
        }
    }
    let (_, mean) = text.split_once("(geometric mean): ")?;
    let mean = mean.split(',').next()?.parse().ok()?;
    Some(Compared { rows, mean, short })
}

fn instruction_rows() -> Result<Vec<Row>, String> {
    programs::ready()?;
    tools::ready(&["valgrind"])?;
    let work = Work {
        iters: 1_000,
        warmup: 200,
        ..work("noparams", 0)
    };
    let mut rows = Vec::new();
    for (name, old) in OLD_INSTRUCTIONS {
        // Spins would be counted, and are no work.
        let parked = &["--wait", "park"];
        let counted = of_a_call(Peer::named(name)?, work, parked, parked)?;
        for (side, new, old) in [
            ("client", counted.client, old.client),
            ("server", counted.server, old.server),
        ] {
            rows.push(at_most(
                format!("instructions/noparams/{name}/{side}"),
                (new / old * 1000.0).round() / 1000.0,
                INSTRUCTIONS,
                format!("{new:.0}, {old} at bb80c2d"),
            ));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_constants_of_the_tuning() {
        assert!(is_number("const READS: u32 = 64;"));
        assert!(is_number("    pub const TURN: Duration = Duration::ZERO;"));
        assert!(is_number(
            "pub(super) const WITHIN: Duration = Duration::ZERO;"
        ));
        assert!(!is_number("const NAME: &str = \"\";"));
        assert!(!is_number("    pub const fn of(lane: &Lane) -> Self {"));
        assert!(!is_number("let const_like: u32 = 1;"));
    }

    #[test]
    fn a_recorded_comparison_is_read() {
        let text = "\
<!-- against: filled in by a tool -->
| work | configuration | placement | ratio | |
|---|---|---|---:|---|
| noparams | default | same | 1.01 | ok |
| octet 65536 | default | split | 1.01 | p99 short |

All rows together (geometric mean): 1.018, at most 1.02.
<!-- against: end -->
";
        let expected = Compared {
            rows: 2,
            mean: 1.018,
            short: vec!["octet 65536 default split: p99 short".to_owned()],
        };
        assert_eq!(compared(text), Some(expected));
        assert_eq!(compared("nothing"), None);
    }

    #[test]
    fn the_sources_and_the_page_can_be_counted() {
        assert!(line_rows().unwrap().iter().all(|row| row.measured > 1000.0));
        assert!(constant_rows().unwrap()[0].measured > 5.0);
        assert!(compare_rows().unwrap()[0].measured > 0.5);
        for at in CRATES.iter().chain(&ENGINE).chain(&TUNED) {
            assert!(root().join(at).exists(), "{at}");
        }
    }
}
