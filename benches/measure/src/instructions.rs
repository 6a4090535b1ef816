//! `cargo xtask instructions`: instruction counts of the hot path beside those that are checked in, so that a loss
//! shows on a noisy machine too.

use crate::compare::work;
use crate::measure::instructions::{Instructions, of_a_call};
use crate::measure::peer::Peer;
use crate::measure::programs::{self, Abilities};
use crate::measure::run::Work;
use crate::measure::tools;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use xtask::step::{Done, root};

/// The tolerance above the recorded number, in hundredths, and in instructions for short calls.
const TOLERANCE: (f64, f64) = (2.0, 25.0);

/// The counts: peer, operation, size, calls.
const ROWS: [(&str, &str, usize, usize); 17] = [
    ("tokio-current", "noparams", 0, 1_000),
    ("tokio-dedicated", "noparams", 0, 1_000),
    ("tokio-multi", "noparams", 0, 1_000),
    ("raw", "noparams", 0, 1_000),
    ("omni", "noparams", 0, 1_000),
    ("zorb-current", "noparams", 0, 1_000),
    ("zorb-dedicated", "noparams", 0, 1_000),
    ("zorb-default", "noparams", 0, 1_000),
    ("zorb-blocking", "noparams", 0, 1_000),
    ("zorb-current", "octet", 65_536, 200),
    ("zorb-current", "struct", 1_024, 100),
    ("zorb-current", "long", 16_384, 100),
    ("zorb-current", "echostring", 10_240, 100),
    ("zorb-current", "oneway_noparams", 0, 2_000),
    ("omni", "struct", 1_024, 100),
    ("omni", "echostring", 10_240, 100),
    ("omni", "octet", 65_536, 200),
];

/// So many calls are counted, a fifth as many before them are not.
pub(crate) const fn counted(op: &'static str, size: usize, iters: usize) -> Work {
    Work {
        iters,
        warmup: iters / 5,
        ..work(op, size)
    }
}

/// Options of ours that keep both ends from spinning: under callgrind that would be counted, and is no work.
pub(crate) const fn parked(is_ours: bool) -> &'static [&'static str] {
    match is_ours {
        true => &["--wait", "park"],
        false => &[],
    }
}

/// Counts by row and side.
type Counts = BTreeMap<String, f64>;

/// Counts every row whose name contains one of the words, or all; compares, or records.
///
/// # Errors
/// Something could not be counted, or takes more than what is recorded.
pub(crate) fn run(words: &[String], record: bool) -> Done {
    programs::ready()?;
    tools::ready(&["valgrind"])?;
    let abilities = Abilities::ask()?;
    let file = root().join("benches/instructions.txt");
    let mut recorded = fs::read_to_string(&file)
        .map(|text| parse(&text))
        .unwrap_or_default();
    let mut more = Vec::new();
    for (peer, op, size, calls) in ROWS {
        let work = counted(op, size, calls);
        let name = format!("{}/{peer}", work.name().replace(' ', "-"));
        let chosen = words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
        let peer = Peer::named(peer)?;
        if !chosen || !abilities.lack(&peer.needs()).is_empty() {
            continue;
        }
        let args = parked(peer.is_ours());
        let Instructions { client, server } = of_a_call(peer, work, args, args)?;
        for (side, count) in [("client", client), ("server", server)] {
            let name = format!("{name}/{side}");
            let was = recorded.get(&name).copied();
            let before = was.map(|was| format!(" recorded {was:.0}"));
            println!("{name} {count:.0}{}", before.unwrap_or_default());
            if record {
                recorded.insert(name, count.round());
            } else if was.is_none_or(|was| is_more(count, was)) {
                more.push(name);
            }
        }
    }
    if record {
        return fs::write(&file, show(&recorded)).map_err(|e| format!("{}: {e}", file.display()));
    }
    match more.as_slice() {
        [] => Ok(()),
        more => Err(format!(
            "more instructions than recorded, or not recorded: {}; `--record` writes them down",
            more.join(", ")
        )),
    }
}

fn is_more(count: f64, recorded: f64) -> bool {
    let (hundredths, few) = TOLERANCE;
    count > recorded + few.max(recorded * hundredths / 100.0)
}

fn parse(text: &str) -> Counts {
    let line = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(line).collect()
}

fn show(counts: &Counts) -> String {
    let mut text = "# User-space instructions of one call, counted by callgrind: `cargo xtask instructions --record`.\n".to_owned();
    for (name, count) in counts {
        let _ = writeln!(text, "{name} {count}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_read_again_and_a_little_more_is_not_more() {
        let counts = Counts::from([("a/client".to_owned(), 12.0), ("b/server".to_owned(), 7.0)]);
        assert_eq!(parse(&show(&counts)), counts);
        assert!(!is_more(1020.0, 1000.0) && is_more(1030.0, 1000.0));
        assert!(!is_more(100_100.0, 100_000.0) && is_more(102_500.0, 100_000.0));
    }
}
