//! One host takes the places that all clients share: those of held requests, and those of look-ups.

use crate::Failure;
use crate::report::{Aim, count};
use crate::scene::{Scene, honest_host};
use crate::victim::{HERE, NOWHERE};
use crate::wire::{Caller, Target, host};
use std::thread;
use std::time::{Duration, Instant};
use zorb_giop::ResponseFlags;

/// The group of the attackers' hosts.
const ATTACKERS: u8 = 16;
/// Connections of the attacker, and requests that each of them sends.
const CONNECTIONS: usize = 3;
const REQUESTS: u32 = 1_100;
/// Requests that a POA manager holds, in all.
const MOST_HELD: usize = 1_024;
/// Keys that are looked up at a time, in all.
const MOST_ASKED: usize = 256;
/// Clients of other hosts.
const OTHERS: usize = 10;
/// How long the victim may take to notice that the attacker has gone: less than a look-up may take.
const LEFT_WITHIN: Duration = Duration::from_secs(5);

/// Sends many requests from one host, and reads the refusals. Gives the connections, and how many were refused.
fn send_all(target: &Target, n: usize) -> Result<(Vec<Caller>, usize), Failure> {
    let mut requests = Vec::new();
    for id in 0..REQUESTS {
        requests.append(&mut target.request(id, "ping", |_| Ok(()))?);
    }
    let mut callers = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut caller = target.caller(host(ATTACKERS, n))?;
        caller.send(&requests)?;
        callers.push(caller);
    }
    let mut refused = 0;
    for caller in &mut callers {
        caller.set_patience(Duration::from_secs(1))?;
        // What is held has no reply yet.
        while caller.reply().is_ok() {
            refused += 1;
        }
    }
    Ok((callers, refused))
}

fn report_refusals(scene: &Scene, refused: usize, places: usize) {
    let sent = CONNECTIONS * usize::try_from(REQUESTS).unwrap_or(usize::MAX);
    let aim = Aim::AtLeast(count(sent - places));
    let note = "answered while the others wait";
    (scene.report).row("refused-at-once", count(refused), aim, note);
}

/// What the victim counts.
fn counted(scene: &Scene, operation: &str) -> Result<usize, Failure> {
    let request = scene.target.request(1, operation, |_| Ok(()))?;
    let mut caller = scene.target.caller(honest_host(5))?;
    let counted: u32 = caller.call(&request)?.result()?;
    Ok(usize::try_from(counted)?)
}

/// Waits until the victim counts at most so many, and prints what it counts in the end.
fn report_left(scene: &Scene, operation: &str, most: usize) -> Result<(), Failure> {
    let started = Instant::now();
    let mut left = counted(scene, operation)?;
    while left > most && started.elapsed() < LEFT_WITHIN {
        thread::sleep(Duration::from_millis(50));
        left = counted(scene, operation)?;
    }
    let note = "when the attacker has gone";
    (scene.report).row("left", count(left), Aim::AtMost(count(most)), note);
    Ok(())
}

fn hold(scene: &Scene, holds: bool) -> Result<(), Failure> {
    let request = scene.target.request(1, "hold", |e| e.put(&holds))?;
    scene
        .target
        .caller(honest_host(5))?
        .call(&request)?
        .result()
}

/// Clients of other hosts, each of which has sent a request.
fn others(target: &Target) -> Result<Vec<Caller>, Failure> {
    let ping = target.request(7, "ping", |_| Ok(()))?;
    (0..OTHERS)
        .map(|n| {
            let mut caller = target.caller(honest_host(20 + n))?;
            caller.send(&ping)?;
            Ok(caller)
        })
        .collect()
}

/// How many of the clients are served.
fn served(callers: &mut [Caller]) -> usize {
    let mut served = 0;
    for caller in callers {
        match caller.reply().and_then(|answer| answer.result::<()>()) {
            Ok(()) => served += 1,
            Err(why) => eprintln!("a client of another host: {why:#}"),
        }
    }
    served
}

/// One host sends more requests than a manager holds, some of them one-way; others send one each, and it goes.
pub(crate) fn held(scene: &mut Scene) -> Result<(), Failure> {
    let holding = scene.target.with_key(scene.held.clone());
    let attacker = scene.rng.usize(..250);
    hold(scene, true)?;
    let (greedy, refused) = send_all(&holding, attacker)?;
    report_refusals(scene, refused, MOST_HELD);
    let mut waiting = others(&holding)?;
    drop(greedy);
    report_left(scene, "pending", OTHERS)?;
    // One-way requests stay when their client has gone, and take no more than its share.
    let mut caller = holding.caller(host(ATTACKERS, attacker))?;
    for id in 0..REQUESTS {
        caller.send(&holding.request_for(id, "ping", ResponseFlags::None, |_| Ok(()))?)?;
    }
    drop(caller);
    thread::sleep(Duration::from_millis(500));
    waiting.append(&mut others(&holding)?);
    thread::sleep(Duration::from_millis(200));
    hold(scene, false)?;
    (scene.report).passed("other-hosts-served", served(&mut waiting), 2 * OTHERS);
    Ok(())
}

/// One host asks for more keys than are looked up at a time; others ask for one that is found.
pub(crate) fn lookups(scene: &mut Scene) -> Result<(), Failure> {
    let attacker = scene.rng.usize(..250);
    let (greedy, refused) = send_all(&scene.target.with_key(NOWHERE.into()), attacker)?;
    report_refusals(scene, refused, MOST_ASKED);
    let mut asking = others(&scene.target.with_key(HERE.into()))?;
    (scene.report).passed("other-hosts-served", served(&mut asking), OTHERS);
    drop(greedy);
    report_left(scene, "asked", 0)?;
    Ok(())
}
