//! The matrix of comparisons.

use crate::compare::cell::Cell;
use crate::measure::peer::Peer;
use crate::measure::place::Placement::{self, Awake, Free, Same, Split};
use crate::measure::run::Work;

/// A row: work, placements, and the peers that do it.
type Row = (Work, &'static [Placement], &'static [&'static str]);

const PINNED: &[Placement] = &[Same, Split];
/// The placements for calls so long that their callers park.
const LONG: &[Placement] = &[Same, Split, Awake];

/// Work with so many calls that a round takes about a tenth of a second.
pub(crate) const fn work(op: &'static str, size: usize) -> Work {
    let iters = match (op.as_bytes(), size) {
        (b"oneway_noparams", _) => 20_000,
        (_, 0) => 4_000,
        (_, 0x10_0000..) => 200,
        _ => 1_000,
    };
    Work {
        op,
        size,
        iters,
        warmup: iters / 10,
        threads: 1,
    }
}

/// The calls of four client threads.
pub(crate) const fn four_threads(work: Work) -> Work {
    Work { threads: 4, ..work }
}

const ROWS: [Row; 8] = [
    (
        work("noparams", 0),
        PINNED,
        &[
            "omni",
            "omni-unix",
            "raw",
            "raw-unix",
            "raw-spin",
            "raw-spin-unix",
            "tokio-current",
            "tokio-dedicated",
            "tokio-multi",
            "tokio-main",
            "zorb-default",
            "zorb-default-main",
            "zorb-current",
            "zorb-dedicated",
            "zorb-dedicated-unix",
            "zorb-dedicated-spin",
            "zorb-dedicated-spin-unix",
            "zorb-blocking",
            "zorb-on-omni",
            "omni-on-zorb",
            "zorb-spin-on-omni",
            "omni-on-zorb-spin",
            "zorb-64-in-flight",
            "little-on-zorb",
            "big-on-zorb",
            "little-on-omni",
            "big-on-omni",
        ],
    ),
    (
        work("octet", 65_536),
        LONG,
        &[
            "omni",
            "raw",
            "raw-spin",
            "tokio-current",
            "zorb-default",
            "zorb-dedicated",
            "zorb-dedicated-spin",
            "zorb-blocking",
        ],
    ),
    (
        work("struct", 1_024),
        LONG,
        &[
            "omni",
            "raw",
            "raw-spin",
            "tokio-current",
            "zorb-default",
            "zorb-dedicated",
            "zorb-dedicated-spin",
            "zorb-blocking",
            "little-on-zorb",
            "big-on-zorb",
            "little-on-omni",
            "big-on-omni",
        ],
    ),
    (
        work("long", 16_384),
        LONG,
        &[
            "omni",
            "raw",
            "raw-spin",
            "zorb-default",
            "zorb-dedicated",
            "zorb-dedicated-spin",
            "little-on-zorb",
            "big-on-zorb",
            "little-on-omni",
            "big-on-omni",
        ],
    ),
    (
        work("echostring", 10_240),
        LONG,
        &[
            "omni",
            "raw",
            "raw-spin",
            "zorb-default",
            "zorb-dedicated",
            "zorb-dedicated-spin",
            "zorb-blocking",
        ],
    ),
    (
        work("oneway_octet", 65_536),
        PINNED,
        &[
            "omni",
            "raw",
            "zorb-default",
            "zorb-dedicated",
            "zorb-dedicated-spin",
            "zorb-sync-none",
        ],
    ),
    (
        work("oneway_noparams", 0),
        PINNED,
        &[
            "omni",
            "raw",
            "zorb-default",
            "zorb-dedicated",
            "zorb-dedicated-spin",
            "zorb-sync-none",
        ],
    ),
    (
        four_threads(work("noparams", 0)),
        &[Free],
        &[
            "omni",
            "raw",
            "zorb-default",
            "zorb-dedicated",
            "zorb-dedicated-spin",
        ],
    ),
];

/// All pieces of work, by the names of which rows are chosen.
pub(crate) fn works() -> Vec<Work> {
    ROWS.iter().map(|(work, ..)| *work).collect()
}

/// The cells of the rows whose name contains one of the words; of all rows, if there are no words.
pub(crate) fn cells(words: &[String]) -> Vec<Cell> {
    let chosen = |work: &Work| {
        words.is_empty() || words.iter().any(|word| work.name().contains(word.as_str()))
    };
    let mut cells = Vec::new();
    for (work, placements, peers) in ROWS.iter().filter(|(work, ..)| chosen(work)) {
        for placement in *placements {
            for peer in peers.iter().filter_map(|name| Peer::named(name).ok()) {
                cells.push(Cell {
                    work: *work,
                    peer,
                    placement: *placement,
                });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_peers_that_there_are_and_none_twice() {
        for (work, _, peers) in &ROWS {
            for (n, name) in peers.iter().enumerate() {
                assert!(Peer::named(name).is_ok(), "{}: {name}", work.name());
                assert!(!peers[..n].contains(name), "{}: {name}", work.name());
            }
        }
    }

    #[test]
    fn rows_are_chosen_by_words_of_their_names() {
        let names = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|&w| w.to_owned()).collect();
            let mut names: Vec<_> = cells(&words).iter().map(|c| c.work.name()).collect();
            names.dedup();
            names
        };
        assert_eq!(
            names(&["struct", "echo"]),
            ["struct 1024", "echostring 10240"]
        );
        assert_eq!(names(&[]).len(), ROWS.len());
        assert!(names(&["nothing"]).is_empty());
    }
}
