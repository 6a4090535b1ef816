//! Legitimate uses that look like attacks, and have to work beside an attack and after it.

use crate::Failure;
use crate::scene::honest_host;
use crate::wire::{Caller, Target, host};
use std::thread;
use std::time::Duration;

/// Octets of the arguments of a message of 64 MiB, which is the limit with all its headers.
const LARGE: usize = (64 << 20) - 1024;
/// The group of the hosts of honest clients.
const CLIENTS: u8 = 201;
/// Connections that an honest host opens: as many as a process with a pool of them.
const PER_HOST: usize = 100;

/// A message of 64 MiB arrives and is answered.
pub(crate) fn large(target: &Target) -> Result<(), Failure> {
    let request = target.request(1, "swallow", |e| e.write_octets(&vec![7; LARGE]))?;
    let mut caller = target.caller(honest_host(1))?;
    let swallowed: u32 = caller.call(&request)?.result()?;
    match usize::try_from(swallowed) == Ok(LARGE) {
        true => Ok(()),
        false => Err(format!("{swallowed} octets of {LARGE}").into()),
    }
}

/// A client whose link carries `rate` octets a second.
#[derive(Debug)]
pub(crate) struct SlowClient {
    target: Target,
    caller: Caller,
    rate: usize,
    time: Duration,
}

impl SlowClient {
    /// Pieces that the link carries in a second.
    const PIECES: u32 = 20;

    /// Connects a client that will send for so long.
    pub(crate) fn connect(target: &Target, rate: usize, time: Duration) -> Result<Self, Failure> {
        Ok(Self {
            target: target.clone(),
            caller: target.caller(honest_host(2))?,
            rate,
            time,
        })
    }

    /// Sends as many octets as the link carries in its time, and gets as many back.
    pub(crate) fn run(mut self) -> Result<(), Failure> {
        let pause = Duration::from_secs(1) / Self::PIECES;
        let piece = (self.rate / Self::PIECES as usize).max(1);
        let octets = piece * (self.time.as_millis() / pause.as_millis()) as usize;

        let (target, caller) = (&self.target, &mut self.caller);
        let request = target.request(1, "swallow", |e| e.write_octets(&vec![7; octets]))?;
        for piece in request.chunks(piece) {
            caller.send(piece)?;
            thread::sleep(pause);
        }
        let swallowed: u32 = caller.reply()?.result()?;
        let request = target.request(2, "give", |e| e.put(&swallowed))?;
        caller.send(&request)?;
        let reply = loop {
            match caller.read_some(piece)? {
                Some(reply) => break reply,
                None => thread::sleep(pause),
            }
        };
        let given: Vec<u8> = reply.result()?;
        match given.len() == octets {
            true => Ok(()),
            false => Err(format!("{} octets of {octets}", given.len()).into()),
        }
    }
}

/// So many connections of two hosts or more, at most a hundred from each, are open at a time; gives how many have a call
/// answered on each of two occasions.
pub(crate) fn crowd(target: &Target, connections: usize) -> Result<usize, Failure> {
    let ping = target.request(1, "ping", |_| Ok(()))?;
    let pings = |caller: &mut Caller| match caller.call(&ping).and_then(|r| r.result::<()>()) {
        Ok(()) => true,
        Err(why) => {
            eprintln!("an honest connection of {connections}: {why:#}");
            false
        }
    };
    // A server does not give all of its places to one host.
    let per_host = PER_HOST.min(connections.div_ceil(2));
    let mut callers = Vec::new();
    for n in 0..connections {
        match target.caller(host(CLIENTS, n / per_host)) {
            Ok(mut caller) => {
                if pings(&mut caller) {
                    callers.push(caller);
                }
            }
            Err(why) => eprintln!("connection {n} of {connections} honest ones: {why:#}"),
        }
    }
    Ok(callers
        .iter_mut()
        .map(pings)
        .filter(|passed| *passed)
        .count())
}

/// A client that stays has so many upcalls pending on one connection; gives how many are answered.
pub(crate) fn upcalls(target: &Target, calls: u32, milliseconds: u32) -> Result<usize, Failure> {
    let mut caller = target.caller(honest_host(3))?;
    for id in 0..calls {
        let request = target.request(id, "dawdle", |e| {
            e.put(&milliseconds)?;
            e.write_octets(&[])
        })?;
        caller.send(&request)?;
    }
    let mut answered = 0;
    for _ in 0..calls {
        match caller.reply()?.result::<()>() {
            Ok(()) => answered += 1,
            Err(why) => eprintln!("a pending upcall of {calls}: {why:#}"),
        }
    }
    Ok(answered)
}
