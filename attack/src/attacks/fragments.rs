//! Messages that begin and do not end.

use super::flood::Flood;
use crate::Failure;
use crate::report::Aim;
use crate::scene::{Scene, connections};
use crate::wire::{Target, announce, as_first_fragment, host};
use fastrand::Rng;
use std::time::Duration;

/// The groups of the attackers' hosts.
const ATTACKERS: u8 = 11;
/// Connections from one host.
const PER_HOST: usize = 100;
/// Seconds after which the victim has closed a connection on which a message does not go on: twice its stall timeout, and
/// two looks at all connections.
const NAMED_TIME: f64 = 62.0;

/// Opens connections from many hosts, each with what `octets` gives to be written to it.
pub(super) fn open(
    target: &Target,
    group: u8,
    wanted: usize,
    mut octets: impl FnMut(usize) -> Result<Vec<u8>, Failure>,
) -> Result<Flood, Failure> {
    let mut flood = Flood::default();
    let mut refused = 0;
    for n in 0..connections(wanted) {
        match target.connect_narrow(host(group, n / PER_HOST)) {
            Ok(stream) => flood.add(stream, octets(n)?)?,
            Err(_) => refused += 1,
        }
    }
    eprintln!("{} connections, {refused} refused", flood.len());
    Ok(flood)
}

/// First fragments of 1 KiB to 400 KiB on each connection, and none behind them.
pub(crate) fn withheld(scene: &mut Scene) -> Result<(), Failure> {
    let wanted = scene.sized(10_000, 500);
    let mut rng = scene.rng.clone();
    let target = scene.target.clone();
    let mut flood = open(&target, ATTACKERS, wanted, |_| {
        first_fragments(&target, &mut rng)
    })?;
    flood.pour();
    closed(scene, &mut flood, 0)
}

/// A few messages of which the first fragment comes.
fn first_fragments(target: &Target, rng: &mut Rng) -> Result<Vec<u8>, Failure> {
    let mut all = Vec::new();
    for id in 0..rng.u32(1..4) {
        let octets = vec![7; rng.usize(1 << 10..400 << 10)];
        let mut request = target.request(id, "swallow", |e| e.write_octets(&octets))?;
        as_first_fragment(&mut request);
        all.append(&mut request);
    }
    Ok(all)
}

/// Messages that announce 1 KiB to 1 MiB, and come an octet at a time.
pub(crate) fn trickled(scene: &mut Scene) -> Result<(), Failure> {
    let wanted = scene.sized(10_000, 500);
    let time = scene.sized(Duration::from_secs(10), Duration::from_secs(2));
    let pause = Duration::from_millis(scene.rng.u64(100..500));
    let mut rng = scene.rng.clone();
    let target = scene.target.clone();
    let mut flood = open(&target, ATTACKERS + 1, wanted, |_| {
        let octets = rng.u32(1 << 10..1 << 20);
        let mut request = target.request(1, "swallow", |e| e.write_octets(&[7; 1 << 10]))?;
        announce(&mut request, octets);
        Ok(request)
    })?;
    flood.trickle(pause, time);
    closed(scene, &mut flood, 0)
}

/// Waits until the victim has closed the connections, of which `harmless` ones make it hold nothing.
pub(super) fn closed(scene: &mut Scene, flood: &mut Flood, harmless: usize) -> Result<(), Failure> {
    scene.report_memory()?;
    if scene.quick {
        return Ok(());
    }
    let patience = Duration::from_secs_f64(NAMED_TIME + 10.0);
    let took = scene.until_closed_but(harmless, patience)?;
    let mut note = match harmless {
        0 => String::new(),
        some => format!("but {some} that make it hold nothing"),
    };
    if took.is_none() {
        note = format!("{note}; {} were not closed", flood.open());
    }
    let seconds = took.unwrap_or(patience).as_secs_f64();
    let name = "closed-seconds";
    scene
        .report
        .row(name, seconds, Aim::AtMost(NAMED_TIME), note);
    Ok(())
}
