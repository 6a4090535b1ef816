//! Claims about the time of our call, divided by that of another ORB's.

use crate::compare::{Cell, Stat, four_threads, work};
use crate::measure::peer::Peer;
use crate::measure::place::Placement::{self, Awake, Free, Same, Split};
use crate::measure::run::Work;
use crate::row::Aim::{self, AtLeast, AtMost};
use crate::speed::claim::{Claim, How};

/// The subject, the peer, the one that it is compared with, the place, and the aim.
type Row = (
    &'static str,
    Work,
    &'static str,
    &'static str,
    Placement,
    Aim,
);

const NOPARAMS: Work = work("noparams", 0);
const OCTET: Work = work("octet", 65_536);
const STRUCT: Work = work("struct", 1_024);
const LONG: Work = work("long", 16_384);
const STRING: Work = work("echostring", 10_240);
/// Beyond what buffers keep: the memory of each message is made and given back.
const ONE_MIB: Work = work("octet", 1 << 20);
const EIGHT_MIB: Work = work("octet", 8 << 20);
const ONE_WAY_ONE_MIB: Work = work("oneway_octet", 1 << 20);
const ONE_WAY_OCTET: Work = work("oneway_octet", 65_536);
const ONE_WAY: Work = work("oneway_noparams", 0);
const CROWDED: Work = four_threads(NOPARAMS);

const ROWS: [Row; 69] = [
    // `#[tokio::main]`, with calls from a task and from main's own body.
    (
        "noparams",
        NOPARAMS,
        "zorb-default",
        "omni",
        Split,
        AtMost(0.65),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-default",
        "omni",
        Same,
        AtMost(1.15),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-default-main",
        "omni",
        Split,
        AtMost(0.65),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-default-main",
        "omni",
        Same,
        AtMost(1.15),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-dedicated-spin",
        "omni",
        Split,
        AtMost(0.45),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-dedicated-spin",
        "raw-spin",
        Split,
        AtMost(1.2),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-dedicated-spin",
        "omni",
        Same,
        AtMost(0.95),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-dedicated-spin-unix",
        "omni",
        Split,
        AtMost(0.3),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-dedicated-spin-unix",
        "omni",
        Same,
        AtMost(0.7),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-spin-on-omni",
        "omni",
        Split,
        AtMost(0.7),
    ),
    (
        "noparams",
        NOPARAMS,
        "omni-on-zorb-spin",
        "omni",
        Split,
        AtMost(0.8),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-blocking",
        "omni",
        Split,
        AtMost(0.95),
    ),
    (
        "noparams",
        NOPARAMS,
        "zorb-blocking",
        "omni",
        Same,
        AtMost(0.95),
    ),
    ("octet", OCTET, "zorb-dedicated", "omni", Same, AtMost(0.75)),
    (
        "octet",
        OCTET,
        "zorb-dedicated",
        "omni",
        Split,
        AtMost(0.85),
    ),
    (
        "octet",
        OCTET,
        "zorb-dedicated",
        "omni",
        Awake,
        AtMost(0.85),
    ),
    ("octet", OCTET, "zorb-dedicated", "raw", Same, AtMost(1.15)),
    ("octet", OCTET, "zorb-dedicated", "raw", Split, AtMost(1.15)),
    ("octet", OCTET, "zorb-dedicated", "raw", Awake, AtMost(1.15)),
    (
        "octet",
        OCTET,
        "zorb-dedicated-spin",
        "omni",
        Same,
        AtMost(0.75),
    ),
    (
        "octet",
        OCTET,
        "zorb-dedicated-spin",
        "omni",
        Split,
        AtMost(0.85),
    ),
    (
        "octet",
        OCTET,
        "zorb-dedicated-spin",
        "raw-spin",
        Same,
        AtMost(1.15),
    ),
    (
        "octet",
        OCTET,
        "zorb-dedicated-spin",
        "raw-spin",
        Split,
        AtMost(1.15),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated",
        "omni",
        Same,
        AtMost(0.35),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated",
        "omni",
        Split,
        AtMost(0.6),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated",
        "omni",
        Awake,
        AtMost(0.6),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated-spin",
        "omni",
        Same,
        AtMost(0.35),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated-spin",
        "omni",
        Split,
        AtMost(0.45),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated",
        "raw",
        Same,
        AtMost(1.25),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated",
        "raw",
        Split,
        AtMost(1.25),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated",
        "raw",
        Awake,
        AtMost(1.25),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated-spin",
        "raw-spin",
        Same,
        AtMost(1.25),
    ),
    (
        "struct",
        STRUCT,
        "zorb-dedicated-spin",
        "raw-spin",
        Split,
        AtMost(1.25),
    ),
    ("long", LONG, "zorb-dedicated", "raw", Same, AtMost(1.15)),
    ("long", LONG, "zorb-dedicated", "raw", Split, AtMost(1.15)),
    ("long", LONG, "zorb-dedicated", "raw", Awake, AtMost(1.15)),
    (
        "long",
        LONG,
        "zorb-dedicated-spin",
        "raw-spin",
        Same,
        AtMost(1.15),
    ),
    (
        "long",
        LONG,
        "zorb-dedicated-spin",
        "raw-spin",
        Split,
        AtMost(1.15),
    ),
    (
        "echostring",
        STRING,
        "zorb-dedicated",
        "omni",
        Same,
        AtMost(0.45),
    ),
    (
        "echostring",
        STRING,
        "zorb-dedicated",
        "omni",
        Split,
        AtMost(0.65),
    ),
    (
        "echostring",
        STRING,
        "zorb-dedicated",
        "omni",
        Awake,
        AtMost(0.65),
    ),
    (
        "echostring",
        STRING,
        "zorb-dedicated-spin",
        "omni",
        Same,
        AtMost(0.45),
    ),
    (
        "echostring",
        STRING,
        "zorb-dedicated-spin",
        "omni",
        Split,
        AtMost(0.5),
    ),
    (
        "oneway-octet",
        ONE_WAY_OCTET,
        "zorb-dedicated-spin",
        "raw",
        Same,
        AtLeast(0.9),
    ),
    (
        "oneway-octet",
        ONE_WAY_OCTET,
        "zorb-dedicated-spin",
        "raw",
        Split,
        AtLeast(0.9),
    ),
    (
        "oneway",
        ONE_WAY,
        "zorb-sync-none",
        "omni",
        Same,
        AtLeast(5.0),
    ),
    (
        "oneway",
        ONE_WAY,
        "zorb-sync-none",
        "omni",
        Split,
        AtLeast(5.0),
    ),
    (
        "oneway",
        ONE_WAY,
        "zorb-dedicated-spin",
        "omni",
        Same,
        AtLeast(1.0),
    ),
    (
        "oneway",
        ONE_WAY,
        "zorb-dedicated-spin",
        "omni",
        Split,
        AtLeast(1.0),
    ),
    (
        "in-flight",
        NOPARAMS,
        "zorb-64-in-flight",
        "zorb-dedicated",
        Split,
        AtLeast(5.0),
    ),
    (
        "four-threads",
        CROWDED,
        "zorb-default",
        "omni",
        Free,
        AtLeast(1.5),
    ),
    (
        "four-threads",
        CROWDED,
        "zorb-dedicated",
        "omni",
        Free,
        AtLeast(1.5),
    ),
    (
        "octet-1-mib",
        ONE_MIB,
        "zorb-dedicated",
        "omni",
        Same,
        AtMost(1.0),
    ),
    (
        "octet-1-mib",
        ONE_MIB,
        "zorb-dedicated",
        "raw",
        Same,
        AtMost(1.1),
    ),
    (
        "octet-1-mib",
        ONE_MIB,
        "zorb-dedicated",
        "omni",
        Split,
        AtMost(1.0),
    ),
    (
        "octet-1-mib",
        ONE_MIB,
        "zorb-dedicated",
        "raw",
        Split,
        AtMost(1.1),
    ),
    (
        "octet-8-mib",
        EIGHT_MIB,
        "zorb-dedicated",
        "omni",
        Same,
        AtMost(1.0),
    ),
    (
        "octet-8-mib",
        EIGHT_MIB,
        "zorb-dedicated",
        "raw",
        Same,
        AtMost(1.1),
    ),
    (
        "octet-8-mib",
        EIGHT_MIB,
        "zorb-dedicated",
        "omni",
        Split,
        AtMost(1.0),
    ),
    (
        "octet-8-mib",
        EIGHT_MIB,
        "zorb-dedicated",
        "raw",
        Split,
        AtMost(1.1),
    ),
    (
        "oneway-octet-1-mib",
        ONE_WAY_ONE_MIB,
        "zorb-dedicated",
        "omni",
        Same,
        AtLeast(1.0),
    ),
    (
        "oneway-octet-1-mib",
        ONE_WAY_ONE_MIB,
        "zorb-dedicated",
        "raw",
        Same,
        AtLeast(0.91),
    ),
    (
        "oneway-octet-1-mib",
        ONE_WAY_ONE_MIB,
        "zorb-dedicated",
        "omni",
        Split,
        AtLeast(1.0),
    ),
    (
        "oneway-octet-1-mib",
        ONE_WAY_ONE_MIB,
        "zorb-dedicated",
        "raw",
        Split,
        AtLeast(0.91),
    ),
    (
        "p99/noparams",
        NOPARAMS,
        "zorb-default",
        "omni",
        Same,
        AtMost(1.3),
    ),
    // No aims are set for these: requests in the other byte order, beside those in ours and beside omniORB.
    (
        "big-endian/struct",
        STRUCT,
        "big-on-zorb",
        "little-on-zorb",
        Same,
        AtMost(1.1),
    ),
    (
        "big-endian/struct",
        STRUCT,
        "big-on-zorb",
        "big-on-omni",
        Same,
        AtMost(0.6),
    ),
    (
        "big-endian/long",
        LONG,
        "big-on-zorb",
        "little-on-zorb",
        Same,
        AtMost(1.35),
    ),
    (
        "big-endian/long",
        LONG,
        "big-on-zorb",
        "big-on-omni",
        Same,
        AtMost(1.0),
    ),
];

pub(crate) fn claims() -> Vec<Claim> {
    ROWS.iter().filter_map(claim).collect()
}

fn claim(&(about, work, of, to, placement, aim): &Row) -> Option<Claim> {
    let [of, to] = [of, to].map(|name| {
        Peer::named(name).ok().map(|peer| Cell {
            work,
            peer,
            placement,
        })
    });
    let (of, to) = (of?, to?);
    let stat = match about {
        // Both have one thread; what counts is how much they get done.
        "in-flight" => Stat::CallsPerSecond,
        "p99/noparams" => Stat::P99,
        _ => Stat::main_of(&work),
    };
    Some(Claim {
        name: format!("{about}/{}-to-{}/{placement}", of.peer.name, to.peer.name),
        aim,
        needs: of.peer.needs,
        how: How::Ratio { of, to, stat },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_about_peers_that_there_are() {
        assert_eq!(claims().len(), ROWS.len());
    }

    #[test]
    fn what_is_more_the_better_is_aimed_at_from_below() {
        for claim in claims() {
            let How::Ratio { stat, .. } = claim.how else {
                panic!("a ratio")
            };
            let more = !matches!(stat, Stat::P50 | Stat::P99);
            assert_eq!(matches!(claim.aim, AtLeast(_)), more, "{}", claim.name);
        }
    }
}
