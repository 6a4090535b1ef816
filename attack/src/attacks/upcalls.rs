//! Clients that go before their upcalls are done.

use super::hosts::first_calls;
use crate::Failure;
use crate::legitimate;
use crate::report::{Aim, count};
use crate::scene::{Scene, honest_host};
use crate::wire::host;
use std::io::Write;
use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

/// The group of the attackers' hosts.
const ATTACKERS: u8 = 15;
/// How long an upcall runs on; and in a short run.
const UPCALL_MILLISECONDS: (u32, u32) = (20_000, 3_000);
/// Milliseconds in which another client has its first answer.
const MOST_MILLISECONDS: f64 = 100.0;
/// Upcalls that one host may leave behind, by default.
const MOST_OF_A_HOST: usize = 16_384;
/// Upcalls that all hosts may leave behind, by default.
const MOST_IN_ALL: usize = 65_536;

/// Connections that the victim of [`slots`] serves at a time.
pub(super) const SLOTS: usize = 64;

/// Sends requests for upcalls that run on, and goes.
fn leave(scene: &Scene, from: Ipv4Addr, calls: u32, ballast: usize) -> Result<(), Failure> {
    let (target, (full, quick)) = (&scene.target, UPCALL_MILLISECONDS);
    let milliseconds = scene.sized(full, quick);
    let mut all = Vec::new();
    for id in 0..calls {
        all.append(&mut target.request(id, "dawdle", |e| {
            e.put(&milliseconds)?;
            e.write_octets(&vec![7; ballast])
        })?);
    }
    let mut stream = target.connect(from)?;
    stream.set_write_timeout(Some(Duration::from_millis(500)))?;
    // The victim reads no further once it has as many as it takes.
    let _ = stream.write_all(&all);
    Ok(())
}

/// Upcalls that run now.
fn running(scene: &Scene) -> Result<usize, Failure> {
    let request = scene.target.request(1, "dawdling", |_| Ok(()))?;
    let mut caller = scene.target.caller(honest_host(5))?;
    let running: u32 = caller.call(&request)?.result()?;
    Ok(usize::try_from(running)?)
}

/// As many clients as the victim serves leave a few upcalls each; another one comes.
pub(crate) fn slots(scene: &mut Scene) -> Result<(), Failure> {
    for n in 0..SLOTS {
        let calls = scene.rng.u32(1..20);
        // Those beyond the limit are closed as they come.
        let _ = leave(scene, host(ATTACKERS, n), calls, 0);
    }
    thread::sleep(Duration::from_millis(200));
    let clients = 10;
    let (served, worst) = first_calls(scene, clients)?;
    scene.report.passed("clients-served", served, clients);
    let aim = Aim::AtMost(MOST_MILLISECONDS);
    let milliseconds = worst.as_secs_f64() * 1e3;
    scene.report.timed(
        "client-milliseconds",
        milliseconds,
        aim,
        "the slowest first call",
    );
    Ok(())
}

/// One host connects, sends as many requests as a connection takes, goes, and comes again.
pub(crate) fn reconnects(scene: &mut Scene) -> Result<(), Failure> {
    let ballast = scene.rng.usize(..1 << 10);
    let attacker = host(ATTACKERS, scene.rng.usize(..250));
    for _ in 0..scene.sized(100, 10) {
        let _ = leave(scene, attacker, 4_096, ballast);
    }
    // Sent requests are read by and by.
    thread::sleep(Duration::from_millis(500));
    // Threads that begin an upcall at the same moment may go beyond the limit by their number.
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let most = count(MOST_OF_A_HOST + threads);
    let left = running(scene)?;
    scene.report.row(
        "running",
        count(left),
        Aim::AtMost(most),
        "upcalls of one host that has gone",
    );
    // A client that waits for its upcalls has them all, though another host has used up its share.
    let calls = scene.sized(1_000, 100);
    let answered = legitimate::upcalls(&scene.target, calls, 500)?;
    scene
        .report
        .passed("pending-answered", answered, usize::try_from(calls)?);
    if !scene.quick {
        for n in 0..60 {
            let _ = leave(scene, host(ATTACKERS + 100, n), 4_096, ballast);
        }
        let (name, left) = ("running-in-all", count(running(scene)?));
        scene.report.row(
            name,
            left,
            Aim::AtMost(count(MOST_IN_ALL + threads)),
            "of 60 hosts more",
        );
        let (served, worst) = first_calls(scene, 10)?;
        scene.report.passed("clients-served", served, 10);
        let aim = Aim::AtMost(MOST_MILLISECONDS);
        let milliseconds = worst.as_secs_f64() * 1e3;
        let note = "the slowest first call beside them";
        (scene.report).timed("client-milliseconds", milliseconds, aim, note);
    }
    // They hold their memory until they end. Some began late: requests that had been read wait for others to end.
    let (full, quick) = UPCALL_MILLISECONDS;
    let patience = Duration::from_millis(scene.sized(full, quick).into()) * 4;
    let started = Instant::now();
    let mut left = running(scene)?;
    while left > 0 && started.elapsed() < patience {
        thread::sleep(Duration::from_millis(200));
        left = running(scene)?;
    }
    scene
        .report
        .row("still-running", count(left), Aim::AtMost(0.0), "in the end");
    Ok(())
}
