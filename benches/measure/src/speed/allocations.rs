//! Claims about the heap: what a steady call allocates, on both sides, which is nothing.

use crate::compare::work;
use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::run::{Server, Work};
use crate::row::Aim::AtMost;
use crate::speed::claim::{Claim, SpeedNumber};

const OPERATIONS: [(&str, usize); 3] = [("noparams", 0), ("octet", 65_536), ("struct", 1_024)];

/// The programs of the two that are ours, and so count.
#[derive(Clone, Copy)]
enum Ours {
    Both,
    Client,
    Server,
}

pub(crate) fn claims() -> Vec<Claim> {
    let mut all = Vec::new();
    for (op, size) in OPERATIONS {
        for flavor in ["default", "current"] {
            for (peer, ours) in [
                ("zorb-default", Ours::Both),
                ("zorb-on-omni", Ours::Client),
                ("omni-on-zorb", Ours::Server),
            ] {
                let who = match ours {
                    Ours::Both => "zorb",
                    _ => peer,
                };
                let name = format!("allocations/{op}/{who}/{flavor}");
                let needs = &["count-allocations", "runtime=current"];
                let count = move |_: &mut _| count(peer, ours, work(op, size), flavor);
                all.push(Claim::new(name, AtMost(0.0), needs, count));
            }
        }
    }
    all
}

/// Allocations during ten thousand calls, after as many that do not count.
fn count(peer: &str, ours: Ours, work: Work, flavor: &str) -> Result<SpeedNumber, String> {
    let work = Work {
        iters: 10_000,
        warmup: 10_000,
        ..work
    };
    let counting = ["--count-allocations", "--runtime", flavor];
    let none: &[&str] = &[];
    let (server_args, client_args) = match ours {
        Ours::Both => (&counting[..], &counting[..]),
        Ours::Client => (none, &counting[..]),
        Ours::Server => (&counting[..], none),
    };
    let peer = Peer::named(peer)?;
    let mut server = Server::start(peer, Placement::Same, Cpus::pick()?, &[], server_args)?;
    let sample = server.measure(&work, &[], client_args)?;
    let farewell = server.end()?;
    let client = (sample.allocations, sample.allocated_octets);
    let server = (farewell.allocations, farewell.allocated_octets);
    let sides = match ours {
        Ours::Both => vec![("client", client), ("server", server)],
        Ours::Client => vec![("client", client)],
        Ours::Server => vec![("server", server)],
    };
    let mut value = 0.0;
    let mut notes = Vec::new();
    for (side, counts) in sides {
        let (Some(number), Some(octets)) = counts else {
            return Err(format!("the {side} did not count"));
        };
        value += number as f64;
        notes.push(format!("{side} {number}, {octets} octets"));
    }
    Ok(SpeedNumber {
        value,
        note: format!("in 10,000 calls: {}", notes.join("; ")),
    })
}
