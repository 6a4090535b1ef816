//! More connections than there is room for.

use crate::Failure;
use crate::report::Aim;
use crate::scene::{Scene, connections, honest_host};
use crate::wire::host;
use std::time::{Duration, Instant};

/// The group of the attacker's host.
const ATTACKER: u8 = 14;
/// Milliseconds in which a client of another host has its first answer.
const MOST_MILLISECONDS: f64 = 100.0;

/// As many connections from one host as the victim serves, and some; clients of other hosts come meanwhile.
pub(crate) fn one_host(scene: &mut Scene) -> Result<(), Failure> {
    let wanted = connections(10_500);
    let attacker = host(ATTACKER, scene.rng.usize(..250));
    let mut held = Vec::new();
    let mut refused = 0;
    for _ in 0..wanted {
        match scene.target.connect(attacker) {
            Ok(stream) => held.push(stream),
            Err(_) => refused += 1,
        }
    }
    eprintln!("{} connections, {refused} refused", held.len());
    let clients = scene.sized(100, 20);
    let (served, worst) = first_calls(scene, clients)?;
    scene.report.passed("other-hosts-served", served, clients);
    let milliseconds = worst.as_secs_f64() * 1e3;
    let aim = Aim::AtMost(MOST_MILLISECONDS);
    scene.report.timed(
        "other-host-milliseconds",
        milliseconds,
        aim,
        "the slowest first call",
    );
    drop(held);
    scene.until_closed(Duration::from_secs(10))?;
    Ok(())
}

/// Clients of other hosts connect and call one after the other; gives how many were served, and the longest that one took.
pub(super) fn first_calls(scene: &Scene, clients: usize) -> Result<(usize, Duration), Failure> {
    let ping = scene.target.request(1, "ping", |_| Ok(()))?;
    let mut served = 0;
    let mut worst = Duration::ZERO;
    for n in 0..clients {
        let started = Instant::now();
        let caller = scene
            .target
            .caller(honest_host(10 + n))
            .map_err(Failure::from);
        let called = caller.and_then(|mut caller| caller.call(&ping)?.result::<()>());
        match called {
            Ok(()) => served += 1,
            Err(why) => eprintln!("a client of another host: {why:#}"),
        }
        worst = worst.max(started.elapsed());
    }
    Ok((served, worst))
}
