//! Keys that name many adapters.

use crate::Failure;
use crate::report::Aim;
use crate::scene::{Scene, honest_host};
use crate::wire::{Answer, Target, header, host};
use std::io::Write;
use std::time::{Duration, Instant};
use zorb_giop::{MessageKind, SystemExceptionKind};

/// The group of the attackers' hosts.
const ATTACKERS: u8 = 18;
/// Octets of a key.
const KEY_OCTETS: usize = 1 << 20;
/// Seconds that a request may take.
const MOST_SECONDS: f64 = 0.5;

fn counted(part: &[u8]) -> Vec<u8> {
    let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
    [&len.to_be_bytes(), part].concat()
}

/// A persistent key of a server without an id, with names of so many octets.
fn key(name_octets: usize) -> Vec<u8> {
    let name = counted(&vec![b'n'; name_octets]);
    let path = [counted(b""), name.repeat(KEY_OCTETS / name.len())].concat();
    [&b"ZRB\x02"[..], &counted(&path), b"7"].concat()
}

/// Requests, LocateRequests and one-ways whose keys name a few adapters of long names, or a quarter of a million without
/// one; the clients of the one-ways have gone by then.
pub(crate) fn many_names(scene: &mut Scene) -> Result<(), Failure> {
    let rounds = scene.sized(40, 6);
    let (mut answered, mut slowest) = (0, Duration::ZERO);
    for round in 0..rounds {
        // As many names as there may be, more, and as many as fit.
        let longest = KEY_OCTETS / scene.rng.usize(2..64);
        let key = key(scene.rng.choice([0, 1, 100, longest]).unwrap_or_default());
        let target = Target {
            key,
            ..scene.target.clone()
        };
        for n in 0..4 {
            let mut one_way = target.request(1, "ping", |_| Ok(()))?;
            // The flags of the response, behind the header and the id.
            if let Some(flags) = one_way.get_mut(16) {
                *flags = 0;
            }
            target
                .connect(host(ATTACKERS, round * 4 + n))?
                .write_all(&one_way)?;
        }
        let mut caller = target.caller(host(ATTACKERS, round))?;
        let begun = Instant::now();
        let answer = caller.call(&target.request(1, "ping", |_| Ok(()))?)?;
        slowest = slowest.max(begun.elapsed());
        let is_gone = |e: &Answer| matches!(e, Answer::Exception(e) if e.kind == SystemExceptionKind::ObjectNotExist);
        answered += usize::from(is_gone(&answer));
        // The id, the discriminator of a target that is a key, and the key.
        let key_octets = u32::try_from(target.key.len())?;
        let words = [1_u32, 0, key_octets].map(u32::to_le_bytes);
        let size = u32::try_from(words.as_flattened().len())?.saturating_add(key_octets);
        caller.send(&header(MessageKind::LocateRequest, size))?;
        caller.send(words.as_flattened())?;
        caller.send(&target.key)?;
        // Another client is served.
        scene.target.caller(honest_host(4))?;
    }
    let report = &scene.report;
    report.passed("answered", answered, rounds);
    report.timed(
        "seconds",
        slowest.as_secs_f64(),
        Aim::AtMost(MOST_SECONDS),
        "the slowest request, behind four one-ways",
    );
    Ok(())
}
