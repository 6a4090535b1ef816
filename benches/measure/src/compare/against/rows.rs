//! Comparisons between revisions: rows that a user of the ORB recognises, in each configuration and placement.

use crate::compare::cell::Cell;
use crate::compare::{four_threads, work};
use crate::measure::peer::Peer;
use crate::measure::place::Placement::{self, Awake, Free, Same, Split};
use crate::measure::run::Work;

const PINNED: &[Placement] = &[Same, Split, Awake];
const CONFIGURATIONS: &[&str] = &["zorb-default", "zorb-dedicated-spin", "zorb-blocking"];

/// A row: work, placements, configurations.
type Row = (Work, &'static [Placement], &'static [&'static str]);

const ROWS: [Row; 8] = [
    (work("noparams", 0), PINNED, CONFIGURATIONS),
    (work("octet", 65_536), PINNED, CONFIGURATIONS),
    (work("struct", 1_024), PINNED, CONFIGURATIONS),
    (work("echostring", 10_240), PINNED, CONFIGURATIONS),
    (work("oneway_noparams", 0), PINNED, CONFIGURATIONS),
    (work("oneway_octet", 65_536), PINNED, CONFIGURATIONS),
    (
        // The caller's tasks are one thread's, whichever configuration: 64 threads that block are a row of their own kind.
        work("noparams", 0),
        PINNED,
        &["zorb-64-in-flight"],
    ),
    (four_threads(work("noparams", 0)), &[Free], CONFIGURATIONS),
];

/// All pieces of work, by the names of which rows are chosen.
pub(super) fn works() -> Vec<Work> {
    ROWS.iter().map(|(work, ..)| *work).collect()
}

/// The cells whose row or configuration has a name that contains one of the words; all, if there are no words.
pub(super) fn cells(words: &[String]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (work, placements, peers) in ROWS {
        for placement in placements {
            for peer in peers.iter().filter_map(|name| Peer::named(name).ok()) {
                let names = [work.name(), peer.name.to_owned()];
                let named = |word: &String| names.iter().any(|name| name.contains(word.as_str()));
                if words.is_empty() || words.iter().any(named) {
                    cells.push(Cell {
                        work,
                        peer,
                        placement: *placement,
                    });
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_all_of_its_cells() {
        let expected: usize = ROWS
            .iter()
            .map(|(_, placements, peers)| placements.len() * peers.len())
            .sum();
        assert_eq!(cells(&[]).len(), expected);
        let words = ["64-in-flight".to_owned()];
        assert_eq!(cells(&words).len(), PINNED.len());
    }
}
