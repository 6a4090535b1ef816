//! Claims that are counted: instructions, system calls, and copies by their instructions.

use crate::compare::work;
use crate::measure::peer::Peer;
use crate::measure::place::Side;
use crate::measure::run::Work;
use crate::measure::system_calls::{list, moving, others};
use crate::row::Aim::AtMost;
use crate::speed::claim::{Claim, SpeedNumber};

/// Calls that are counted, and a fifth as many before them.
const fn counted(op: &'static str, size: usize, iters: usize) -> Work {
    Work {
        iters,
        warmup: iters / 5,
        ..work(op, size)
    }
}

const NOPARAMS: Work = counted("noparams", 0, 1_000);
const STRUCT: Work = counted("struct", 1_024, 100);
const MEBIBYTE: Work = counted("octet", 1 << 20, 50);

/// Neither side spins: on valgrind's simulated processor it would do so for ever.
const PARK: [&str; 2] = ["--wait", "park"];

pub(crate) fn claims() -> Vec<Claim> {
    let mut all = Vec::new();
    for (flavor, ours, floor) in [
        ("current", "zorb-current", "tokio-current"),
        ("dedicated", "zorb-dedicated", "tokio-dedicated"),
        ("default", "zorb-default", "tokio-multi"),
        ("default-main", "zorb-default-main", "tokio-main"),
    ] {
        let name = format!("instructions/noparams/{flavor}-over-floor");
        all.push(Claim::new(
            name,
            AtMost(1600.0),
            needs(ours),
            move |session| {
                let one = session.instructions(ours, NOPARAMS, &PARK, &PARK)?;
                let none = session.instructions(floor, NOPARAMS, &[], &[])?;
                let [one_all, none_all] = [one, none].map(|it| it.client + it.server);
                Ok(SpeedNumber {
                    value: one_all - none_all,
                    note: format!(
                        "client {:.0}, server {:.0}; floor {:.0}, {:.0}",
                        one.client, one.server, none.client, none.server
                    ),
                })
            },
        ));
    }
    for side in [Side::Client, Side::Server] {
        all.push(one_side(
            "instructions/noparams/blocking",
            "zorb-blocking",
            NOPARAMS,
            1.0,
            1300.0,
            side,
        ));
        all.push(one_side(
            "instructions/struct-element",
            "zorb-dedicated",
            STRUCT,
            1024.0,
            20.0,
            side,
        ));
        for octets in ["bytes", "slice"] {
            all.push(copies(octets, side));
        }
    }
    for peer in [
        "zorb-default",
        "zorb-current",
        "zorb-dedicated",
        "zorb-blocking",
    ] {
        for side in [Side::Client, Side::Server] {
            all.push(system_calls(peer, side, "moving", 2.0));
            all.push(match peer {
                "zorb-default" => others_over_floor(peer, side, "tokio-multi"),
                _ => system_calls(peer, side, "others", 1.0),
            });
        }
    }
    all
}

fn needs(peer: &str) -> &'static [&'static str] {
    Peer::named(peer).map_or(&["such a peer"], |peer| peer.needs)
}

const fn name_of(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}

fn one_side(name: &str, peer: &'static str, work: Work, per: f64, aim: f64, side: Side) -> Claim {
    let name = format!("{name}/{}", name_of(side));
    Claim::new(name, AtMost(aim), needs(peer), move |session| {
        let one = session.instructions(peer, work, &PARK, &PARK)?;
        let of_a_call = match side {
            Side::Client => one.client,
            Side::Server => one.server,
        };
        Ok(SpeedNumber {
            value: of_a_call / per,
            note: format!("{of_a_call:.0} a call of {}", work.name()),
        })
    })
}

/// A copy of a mebibyte takes more instructions than all the rest of a call, whatever moves it. The servant looks at
/// both ends of it only.
fn copies(octets: &'static str, side: Side) -> Claim {
    let name = format!("copies/octet-1048576/{octets}/{}", name_of(side));
    let needs = &["runtime=dedicated", "octets=bytes"];
    Claim::new(name, AtMost(10_000.0), needs, move |session| {
        let client = ["--look", "ends", "--octets", octets];
        let one = session.instructions("zorb-dedicated", MEBIBYTE, &["--look", "ends"], &client)?;
        let value = match side {
            Side::Client => one.client,
            Side::Server => one.server,
        };
        let note = "instructions of a call of 1 MiB".to_owned();
        Ok(SpeedNumber { value, note })
    })
}

/// A runtime of several workers looks into its reactor every so many tasks beside the waits, for every program.
fn others_over_floor(peer: &'static str, side: Side, floor: &'static str) -> Claim {
    let name = format!("system-calls/{peer}/{}/others-over-{floor}", name_of(side));
    // A hundredth is what two runs of the same program differ by.
    Claim::new(name, AtMost(0.01), needs(peer), move |session| {
        let ours = session.system_calls(peer, NOPARAMS, &PARK)?;
        let without = session.system_calls(floor, NOPARAMS, &[])?;
        let [ours, without] = [ours, without].map(|it| match side {
            Side::Client => it.client,
            Side::Server => it.server,
        });
        Ok(SpeedNumber {
            value: hundredths(others(&ours) - others(&without)),
            note: format!("{}; floor {}", list(&ours), list(&without)),
        })
    })
}

/// Starting threads and the like do not come out even to the last call.
fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn system_calls(peer: &'static str, side: Side, which: &'static str, aim: f64) -> Claim {
    let name = format!("system-calls/{peer}/{}/{which}", name_of(side));
    Claim::new(name, AtMost(aim), needs(peer), move |session| {
        let one = session.system_calls(peer, NOPARAMS, &PARK)?;
        let counts = match side {
            Side::Client => one.client,
            Side::Server => one.server,
        };
        let value = if which == "moving" {
            moving(&counts)
        } else {
            others(&counts)
        };
        Ok(SpeedNumber {
            value: hundredths(value),
            note: list(&counts),
        })
    })
}
