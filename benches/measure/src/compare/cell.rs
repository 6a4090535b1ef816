//! A cell of a comparison: a peer, its work and the placement of its programs.

use crate::measure::peer::Peer;
use crate::measure::place::Placement;
use crate::measure::run::{Sample, Work};

/// One peer at one piece of work in one placement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) work: Work,
    pub(crate) peer: &'static Peer,
    pub(crate) placement: Placement,
}

impl Cell {
    /// The time of blocking sockets, if this is another ORB: no ORB that blocks takes less.
    pub(crate) fn without_an_orb(&self) -> Option<Self> {
        let peer = Peer::named("raw").ok()?;
        (self.peer.name == "omni").then_some(Self { peer, ..*self })
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        let one = (self.work, self.peer.name, self.placement);
        one == (other.work, other.peer.name, other.placement)
    }
}

/// The number of a sample that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stat {
    /// Microseconds, the middle of all calls.
    P50,
    /// Microseconds that one in a hundred calls takes longer than.
    P99,
    CallsPerSecond,
    /// Millions of octets a second.
    Throughput,
}

impl Stat {
    pub(crate) fn of(self, sample: &Sample) -> f64 {
        match self {
            Self::P50 => sample.p50_ns / 1000.0,
            Self::P99 => sample.p99_ns / 1000.0,
            Self::CallsPerSecond => sample.calls_per_s,
            Self::Throughput => sample.mbytes_per_s,
        }
    }

    /// The number that says most of that work: only the whole of one-way calls is timed, and only the whole of many
    /// threads says what they hinder each other.
    pub(crate) fn main_of(work: &Work) -> Self {
        match work.op {
            "oneway_noparams" => Self::CallsPerSecond,
            op if op.starts_with("oneway_") => Self::Throughput,
            _ if work.threads > 1 => Self::CallsPerSecond,
            _ => Self::P50,
        }
    }

    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::P50 | Self::P99 => "µs",
            Self::CallsPerSecond => "calls/s",
            Self::Throughput => "MB/s",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::matrix::work;

    #[test]
    fn one_way_calls_are_rated_as_a_whole() {
        assert_eq!(Stat::main_of(&work("noparams", 0)), Stat::P50);
        assert_eq!(Stat::main_of(&work("oneway_octet", 9)), Stat::Throughput);
        let oneway = work("oneway_noparams", 0);
        assert_eq!(Stat::main_of(&oneway), Stat::CallsPerSecond);
    }
}
