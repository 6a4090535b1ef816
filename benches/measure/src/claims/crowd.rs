//! A server with ten thousand connections that do nothing.

use crate::compare::work;
use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::run::{Server, Work};
use crate::measure::statistics::{median, median_ratio, three_digits};
use crate::row::{Aim, Row};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// Connections that do nothing.
const IDLE: usize = 10_000;

/// Octets of resident memory of the server, each, and the time of a call on another connection to that of a server without
/// them: starts two servers, gives one of them the crowd, and calls both by turns.
///
/// # Errors
/// A program fails, or has fewer descriptors than that.
pub(super) fn rows(rounds: usize) -> Result<Vec<Row>, String> {
    let cpus = Cpus::pick()?;
    let peer = Peer::named("zorb-default")?;
    let noparams = Work {
        iters: 1_000,
        ..work("noparams", 0)
    };
    let many = ["prlimit", "--nofile=16384:16384"].map(str::to_owned);
    let start = || {
        let more = ["--max-connections", "12000"];
        Server::start(peer, Placement::Split, cpus, &many, &more)
    };
    let (mut full, mut empty) = (start()?, start()?);
    full.measure(&noparams, &[], &[])?;
    empty.measure(&noparams, &[], &[])?;

    let before = resident(full.id())?;
    let idle = Idle::start(&full, peer, &many)?;
    full.expect(IDLE as u64, IDLE as u64);
    let after = resident(full.id())?;
    let octets = after.saturating_sub(before) as f64 / IDLE as f64;

    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..rounds.max(3) {
        // The servers take turns in being first.
        let once = |server: &mut Server| measure_once(server, &noparams);
        if round % 2 == 0 {
            with.push(once(&mut full)?);
            without.push(once(&mut empty)?);
        } else {
            without.push(once(&mut empty)?);
            with.push(once(&mut full)?);
        }
    }
    let ratio = median_ratio(&with, &without).ok_or("nothing was measured")?;
    let middle = |all: &[Option<f64>]| {
        let middle = median(all.iter().flatten().copied());
        middle.map_or_else(String::new, three_digits)
    };
    let note = format!(
        "p50 {} µs with, {} µs without",
        middle(&with),
        middle(&without)
    );
    drop(idle);
    full.end()?;
    empty.end()?;
    let resident = format!("resident octets each, of {IDLE}");
    Ok(vec![
        Row::new(
            "speed:idle-connections/octets-each",
            octets,
            Aim::AtMost(8191.0),
            resident,
        ),
        Row::new(
            "speed:idle-connections/latency-of-an-active-one",
            ratio,
            Aim::AtMost(1.2),
            note,
        ),
    ])
}

fn measure_once(server: &mut Server, work: &Work) -> Result<Option<f64>, String> {
    let sample = server.measure(work, &[], &[])?;
    Ok(Some(sample.p50_ns / 1000.0))
}

/// A client that holds connections until its input ends.
struct Idle(Child);

impl Idle {
    fn start(server: &Server, peer: &Peer, under: &[String]) -> Result<Self, String> {
        let size = IDLE.to_string();
        let mut command = server.client(peer, under, &["--op", "crowd", "--size", &size])?;
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut this = Self(child.map_err(|e| format!("the crowd does not start: {e}"))?);
        let mut said = String::new();
        if let Some(out) = this.0.stdout.take() {
            let read = BufReader::new(out).read_line(&mut said);
            read.map_err(|e| e.to_string())?;
        }
        match said.trim() {
            "ready" => Ok(this),
            _ => Err(format!("{IDLE} connections could not be made")),
        }
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Octets of a process that are in memory.
fn resident(process: u32) -> Result<u64, String> {
    let file = format!("/proc/{process}/status");
    let status = fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    parse(&status).ok_or_else(|| format!("{file} does not say VmRSS"))
}

fn parse(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(parse("Name:\tx\nVmRSS:\t    1234 kB\n"), Some(1234 * 1024));
        assert_eq!(parse("Name:\tx\n"), None);
    }
}
