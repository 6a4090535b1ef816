//! The attacks, one after the other.

mod callbacks;
mod flood;
mod fragments;
mod handshakes;
mod hosts;
mod keys;
mod places;
mod readers;
mod upcalls;
mod values;

use crate::scene::{Room, Scene};
use crate::{Failure, Run};
use fastrand::Rng;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::sync::Mutex;
use std::thread;

/// Attacks of a short run at a time: more of them wait than compute.
const TOGETHER: usize = 4;

/// An attack.
struct Attack {
    name: &'static str,
    about: &'static str,
    /// How much the victim may have.
    room: Room,
    run: fn(&mut Scene) -> Result<(), Failure>,
}

const ATTACKS: [Attack; 14] = [
    Attack {
        name: "anys",
        about: "28 MiB of small anys in a request",
        room: Room::DEFAULT,
        run: values::anys,
    },
    Attack {
        name: "unions",
        about: "256 KiB of unions without their large member",
        room: Room::DEFAULT,
        run: values::unions,
    },
    Attack {
        name: "keys",
        about: "keys of 1 MiB that name adapters",
        room: Room::DEFAULT,
        run: keys::many_names,
    },
    Attack {
        name: "nested",
        about: "8 connections that send values within values at the same time",
        room: Room::DEFAULT,
        run: values::nested,
    },
    Attack {
        name: "fragments",
        about: "10,000 connections that send first fragments and nothing more",
        room: Room::DEFAULT,
        run: fragments::withheld,
    },
    Attack {
        name: "trickle",
        about: "10,000 connections that send an octet of a message now and then",
        room: Room::DEFAULT,
        run: fragments::trickled,
    },
    Attack {
        name: "readers",
        about: "10,000 connections that ask for much and read nothing",
        room: Room::DEFAULT,
        run: readers::unread,
    },
    Attack {
        name: "host",
        about: "10,500 connections from one host",
        room: Room::DEFAULT,
        run: hosts::one_host,
    },
    Attack {
        name: "slots",
        about: "clients that leave upcalls behind, at a server with few connections",
        room: Room {
            connections: Some(upcalls::SLOTS),
            ..Room::DEFAULT
        },
        run: upcalls::slots,
    },
    Attack {
        name: "upcalls",
        about: "clients that leave upcalls behind and come again",
        room: Room::DEFAULT,
        run: upcalls::reconnects,
    },
    Attack {
        name: "held",
        about: "requests of one host for all places of a POA manager that holds requests",
        room: Room::DEFAULT,
        run: places::held,
    },
    Attack {
        name: "lookups",
        about: "requests of one host for keys that the key resolver takes long to find",
        room: Room::DEFAULT,
        run: places::lookups,
    },
    Attack {
        name: "handshakes",
        about: "10,000 handshakes of TLS that do not end, and what is none",
        room: Room::DEFAULT,
        run: handshakes::half_open,
    },
    Attack {
        name: "callbacks",
        about: "callback references to 3,000 addresses",
        room: Room {
            descriptors: Some(callbacks::DESCRIPTORS),
            ..Room::DEFAULT
        },
        run: callbacks::addresses,
    },
];

/// Runs the attacks that were asked for, and prints their rows.
///
/// # Errors
/// No attack is called so, or an experiment cannot be made.
pub(crate) fn run(options: &Run) -> Result<(), Failure> {
    // The attackers need as many descriptors as the victim.
    let limit = getrlimit(Resource::Nofile);
    let raised = rustix::process::Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised)?;

    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    eprintln!("seed {seed}");
    let chosen = |attack: &&Attack| {
        let asked = &options.attacks;
        asked.is_empty() || asked.iter().any(|part| attack.name.contains(part.as_str()))
    };
    let mut chosen: Vec<_> = ATTACKS.iter().filter(chosen).collect();
    if chosen.is_empty() {
        let names: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
        return Err(format!("no attack is called so; there are {}", names.join(", ")).into());
    }
    // In any order, as one may hide the other.
    Rng::with_seed(seed).shuffle(&mut chosen);
    let play = |attack: &Attack| {
        eprintln!("{}: {}", attack.name, attack.about);
        Scene::play(attack.name, options, seed, attack.room, attack.run)
    };
    // Where times are not checked, nothing needs the machine for itself.
    let together = if options.quick { TOGETHER } else { 1 };
    let left = Mutex::new(chosen.into_iter());
    let next = || left.lock().ok()?.next();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..together)
            .map(|_| scope.spawn(|| core::iter::from_fn(next).try_for_each(play)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a panic".into())))
    })
}
