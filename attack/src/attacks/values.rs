//! Requests that are small on the wire and large in memory.

use crate::Failure;
use crate::report::{Aim, count};
use crate::scene::{Scene, honest_host};
use crate::wire::{Answer, Target, host};
use fastrand::Rng;
use std::thread;
use std::time::Instant;
use zorb_cdr::{EncodeError, Encoder, LittleEndian};
use zorb_giop::SystemExceptionKind;

/// The group of the attackers' hosts.
const ATTACKERS: u8 = 10;
/// Octets of memory that an octet of a message may take.
const MOST_PER_OCTET: f64 = 16.0;
/// Seconds that a message may take.
const MOST_SECONDS: f64 = 0.5;

type Write = fn(&mut Encoder<LittleEndian>) -> Result<(), EncodeError>;

/// Anys of which many are in a few octets: their names, their octets with padding, and how to write them.
const ANYS: [(&str, usize, Write); 5] = [
    ("null", 4, |e| {
        e.write_u32(0);
        Ok(())
    }),
    ("short", 8, |e| {
        e.write_u32(2);
        e.write_i16(7);
        Ok(())
    }),
    ("octet", 8, |e| {
        e.write_u32(10);
        e.write_u8(7);
        Ok(())
    }),
    ("string", 16, |e| {
        e.write_u32(18);
        e.write_u32(0);
        e.write_str("")
    }),
    // A TypeCode whose value is a TypeCode.
    ("typecode", 8, |e| {
        e.write_u32(12);
        e.write_u32(0);
        Ok(())
    }),
];

/// 28 MiB of anys of one kind; all kinds, or three that are drawn.
pub(crate) fn anys(scene: &mut Scene) -> Result<(), Failure> {
    let octets = scene.sized(28 << 20, 4 << 20);
    let mut kinds = ANYS;
    scene.rng.shuffle(&mut kinds);
    for (name, size, write) in kinds.into_iter().take(scene.sized(ANYS.len(), 3)) {
        measure(scene, "anys", name, octets, octets / size, write)?;
    }
    Ok(())
}

/// 256 KiB of unions of an octet each, several times.
pub(crate) fn unions(scene: &mut Scene) -> Result<(), Failure> {
    let octets = 256 << 10;
    for _ in 0..scene.sized(8, 2) {
        measure(scene, "sparses", "union", octets, octets, |e| {
            e.write_u8(0);
            Ok(())
        })?;
    }
    Ok(())
}

/// Connections that send values within values at the same time.
const NESTING: usize = 8;
/// Links of a list that an honest client sends.
const HONEST_LINKS: u32 = 20_000;

/// Lists of values of 8 octets each, on several connections at a time: from those that an honest client sends to those that
/// fill a message of 8 MiB.
pub(crate) fn nested(scene: &mut Scene) -> Result<(), Failure> {
    const LINKS: [u32; 4] = [HONEST_LINKS, 100_000, 250_000, 1 << 20];
    let rounds = scene.sized(25, 4);
    let target = &scene.target;
    let lists = LINKS.map(|links| ["take", "give_back"].map(|name| list(target, name, links)));
    let seeds: Vec<u64> = (0..NESTING).map(|_| scene.rng.u64(..)).collect();
    let answered: Result<Vec<usize>, Failure> = thread::scope(|scope| {
        let threads: Vec<_> = seeds
            .into_iter()
            .enumerate()
            .map(|(n, seed)| {
                let lists = &lists;
                scope.spawn(move || {
                    let mut rng = Rng::with_seed(seed);
                    let mut caller = target.caller(host(ATTACKERS, n))?;
                    let mut answered = 0;
                    for _ in 0..rounds {
                        let all = lists.as_flattened();
                        let Some(Ok(request)) = rng.choice(all) else {
                            return Err("a list cannot be encoded".into());
                        };
                        answered += usize::from(is_answered(&caller.call(request)?)?);
                    }
                    Ok(answered)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a panic".into())))
            .collect()
    });
    let answered: usize = answered?.into_iter().sum();
    eprintln!(
        "nested: {answered} of {} lists were taken",
        NESTING * rounds
    );
    // What was taken has been given back.
    let mut honest = scene.target.caller(honest_host(4))?;
    let request = list(&scene.target, "give_back", HONEST_LINKS)?;
    let served = is_answered(&honest.call(&request)?)?;
    scene.report.passed("honest-list", usize::from(served), 1);
    Ok(())
}

fn list(target: &Target, operation: &str, links: u32) -> Result<Vec<u8>, EncodeError> {
    const TAG: u32 = 0x7fff_ff00;
    target.request(1, operation, |e| {
        for number in 0..links {
            e.write_u32(TAG);
            e.write_u32(number);
        }
        e.write_null_value();
        Ok(())
    })
}

/// Whether a list was taken. It may be too long, or there may be no memory for it beside the others.
fn is_answered(answer: &Answer) -> Result<bool, Failure> {
    use SystemExceptionKind::{Marshal, NoResources, Transient};
    match answer {
        Answer::Result(..) => Ok(true),
        Answer::Exception(e) if matches!(e.kind, Marshal | NoResources | Transient) => Ok(false),
        Answer::Exception(e) => Err(format!("a list: {}", e.kind).into()),
    }
}

/// Sends one request, and prints what it took.
fn measure(
    scene: &mut Scene,
    operation: &str,
    name: &str,
    octets: usize,
    elements: usize,
    write: Write,
) -> Result<(), Failure> {
    let request = scene.target.request(1, operation, |e| {
        e.write_u32(u32::try_from(elements).unwrap_or(u32::MAX));
        (0..elements).try_for_each(|_| write(e))
    })?;
    let mut caller = scene
        .target
        .caller(host(ATTACKERS, scene.rng.usize(..250)))?;
    let (held, (answer, seconds)) = scene.taken(|| {
        let started = Instant::now();
        Ok((caller.call(&request)?, started.elapsed().as_secs_f64()))
    })?;
    let note = match &answer {
        Answer::Result(..) => format!("{octets} octets, answered"),
        Answer::Exception(e) => format!("{octets} octets, {}", e.kind),
    };
    let marshal =
        |e: &Answer| matches!(e, Answer::Exception(e) if e.kind != SystemExceptionKind::Marshal);
    if marshal(&answer) {
        return Err(format!("{name}: {note}").into());
    }
    let held = count(held) / count(request.len());
    let report = &scene.report;
    report.row(
        &format!("{name}-held-per-octet"),
        held,
        Aim::AtMost(MOST_PER_OCTET),
        note.clone(),
    );
    report.timed(
        &format!("{name}-seconds"),
        seconds,
        Aim::AtMost(MOST_SECONDS),
        note,
    );
    // Another client is served.
    scene.target.caller(honest_host(4))?;
    Ok(())
}
