//! The honest client: a call a millisecond, and how long they took.

use crate::Failure;
use crate::wire::{Caller, Target};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, stdin};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Time between the beginnings of two calls, unless the first takes longer.
const PACE: Duration = Duration::from_millis(1);

#[derive(clap::Args, Debug)]
pub(crate) struct HonestOptions {
    /// Where the victim listens
    #[arg(long)]
    address: SocketAddr,
    /// The object key, in hexadecimal digits
    #[arg(long)]
    key: String,
    /// The host that the client is on
    #[arg(long)]
    from: Ipv4Addr,
}

/// Calls since the last look, with times in microseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) calls: usize,
    pub(crate) failed: usize,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Latency {
    fn of(times: &mut [Duration], failed: usize) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let index = (times.len().saturating_sub(1)) * percent / 100;
            let time = times.get(index).copied().unwrap_or_default();
            time.as_secs_f64() * 1e6
        };
        Self {
            calls: times.len(),
            failed,
            p50: at(50),
            p99: at(99),
            max: at(100),
        }
    }
}

/// Calls until standard input ends; prints a [`Latency`] for each line of it.
///
/// # Errors
/// The key is not in hexadecimal digits, or standard output is closed.
pub(crate) fn run(options: &HonestOptions) -> Result<(), Failure> {
    let target = Target {
        address: options.address,
        key: unhex(&options.key).ok_or("the key has to be in hexadecimal digits")?,
    };
    let (sender, looks) = channel();
    thread::spawn(move || {
        for _line in stdin().lock().lines() {
            if sender.send(()).is_err() {
                break;
            }
        }
    });
    call(&target, options.from, &looks)
}

fn call(target: &Target, from: Ipv4Addr, looks: &Receiver<()>) -> Result<(), Failure> {
    let ping = target.request(1, "ping", |_| Ok(()))?;
    let mut caller: Option<Caller> = None;
    let mut times = Vec::new();
    let mut failed = 0;
    loop {
        let started = Instant::now();
        let attempt = match caller.take() {
            Some(caller) => Ok(caller),
            None => target.caller(from).map_err(Failure::from),
        };
        let called = attempt.and_then(|mut caller| {
            caller.call(&ping)?.result::<()>()?;
            Ok(caller)
        });
        match called {
            Ok(open) => {
                caller = Some(open);
                times.push(started.elapsed());
            }
            Err(why) => {
                eprintln!("the honest client: {why:#}");
                failed += 1;
                times.push(started.elapsed());
            }
        }
        match looks.try_recv() {
            Ok(()) => {
                let latency = Latency::of(&mut times, failed);
                println!("{}", serde_json::to_string(&latency)?);
                times.clear();
                failed = 0;
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
        thread::sleep(PACE.saturating_sub(started.elapsed()));
    }
}

/// Octets as hexadecimal digits.
pub(crate) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Hexadecimal digits as octets.
pub(crate) fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_of_the_calls_takes_longer_than_the_percentile() {
        let mut times: Vec<_> = (1..=1000).rev().map(Duration::from_micros).collect();
        let latency = Latency::of(&mut times, 3);
        assert_eq!((latency.calls, latency.failed), (1000, 3));
        assert_eq!(latency.max.round(), 1000.0);
        assert_eq!((latency.p50.round(), latency.p99.round()), (500.0, 990.0));
        assert_eq!(Latency::of(&mut [], 0).max, 0.0);
    }

    #[test]
    fn digits_are_octets_again() {
        assert_eq!(
            unhex(&hex(b"\x00key\xff")).as_deref(),
            Some(&b"\x00key\xff"[..])
        );
        assert_eq!(unhex("0g"), None);
    }
}
