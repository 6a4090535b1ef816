//! An attack: a victim, an honest client, and what is measured around it.

use crate::honest::{Latency, hex, unhex};
use crate::legitimate::SlowClient;
use crate::process::{Memory, Process};
use crate::report::{Aim, Report, count, mib};
use crate::victim::{Ready, TRIM};
use crate::wire::{Target, host};
use crate::{Failure, Run, legitimate, sys};
use fastrand::Rng;
use rustix::process::{Resource, getrlimit};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// Octets of memory that a victim may have: what a small server has.
const VICTIM_MEMORY: usize = 3 << 30;
/// Octets of memory that a victim may have beside the budget of its ORB, and beside what it had before, when the attack is
/// over: buffers of threads, arenas of the allocator, tables of connections.
const BESIDE: usize = 64 << 20;
/// Octets of memory that an ORB may hold for all its peers.
const BUDGET: usize = 512 << 20;
/// Descriptors that are neither connections of an attack nor of the honest client.
const OTHER_DESCRIPTORS: usize = 256;
/// The group of hosts in which the honest client is.
const HONEST: u8 = 200;
/// Honest connections at a time, after an attack.
const HONEST_CONNECTIONS: usize = 10_000;
/// The same in a short run.
const QUICK_HONEST_CONNECTIONS: usize = 900;
/// Connections of a victim with few places that are not among those: the honest client's, and those that have yet to close.
const OTHER_CONNECTIONS: usize = 8;

/// How much a victim may have, where that is not the default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Room {
    /// Connections that it serves at a time.
    pub(crate) connections: Option<usize>,
    /// Its descriptors.
    pub(crate) descriptors: Option<u64>,
}

impl Room {
    /// The default.
    pub(crate) const DEFAULT: Self = Self {
        connections: None,
        descriptors: None,
    };

    /// As many of the wanted honest connections as a server with so much room and their own processes can have.
    fn crowd(self, wanted: usize) -> usize {
        // A server may give half of its descriptors to connections that it opens.
        let of_descriptors = self
            .descriptors
            .and_then(|most| usize::try_from(most / 2).ok());
        [self.connections, of_descriptors]
            .into_iter()
            .flatten()
            .map(|most| most.saturating_sub(OTHER_CONNECTIONS))
            .fold(connections(wanted), usize::min)
    }
}

/// Where one attack takes place.
#[derive(Debug)]
pub(crate) struct Scene {
    // Dropped, and so ended, before the victim: it would report that the victim has gone.
    honest: Process,
    /// An honest client of another server: what it sees is what the attack costs the machine.
    beside: Process,
    pub(crate) victim: Process,
    /// The server that is not attacked.
    _bystander: Process,
    pub(crate) target: Target,
    /// The key of an object of the victim whose requests can be held.
    pub(crate) held: Vec<u8>,
    tls_port: u16,
    /// The file with the certificate of the victim, and a reference that leads to its port for TLS.
    pub(crate) trust: PathBuf,
    pub(crate) reference: String,
    pub(crate) report: Report,
    pub(crate) rng: Rng,
    pub(crate) quick: bool,
    /// Memory of the victim before the attack.
    pub(crate) before: Memory,
    /// Descriptors of the victim before the attack.
    pub(crate) descriptors: usize,
    /// The most octets of memory that the victim had before its peak last began anew.
    most: usize,
    quiet: Latency,
    /// Honest connections that have to find places after the attack.
    crowd: usize,
}

/// What clients saw during an attack.
struct Seen {
    honest: Latency,
    beside: Latency,
    slow: Result<(), Failure>,
}

/// The host of the honest client, and of the observer.
pub(crate) fn honest_host(n: usize) -> Ipv4Addr {
    host(HONEST, n)
}

/// Connections of an attack: `wanted`, or as many as there are descriptors for.
pub(crate) fn connections(wanted: usize) -> usize {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    wanted.min(most.saturating_sub(OTHER_DESCRIPTORS))
}

impl Scene {
    /// Starts a victim with so much room, lets `attack` run against it, and prints the rows that every attack has.
    pub(crate) fn play(
        name: &'static str,
        run: &Run,
        seed: u64,
        room: Room,
        attack: impl FnOnce(&mut Self) -> Result<(), Failure> + Send,
    ) -> Result<(), Failure> {
        let mut scene = Self::start(name, run, seed, room)?;
        let (rate, time) = scene.sized(
            (64 << 10, Duration::from_secs(8)),
            (256 << 10, Duration::from_secs(1)),
        );
        let slow = SlowClient::connect(&scene.target, rate, time)?;
        let (seen, slow) = thread::scope(|scope| {
            let slow = scope.spawn(|| slow.run());
            let attacker = scope.spawn(|| {
                sys::yield_to_others()?;
                attack(&mut scene)?;
                // The slow client may still run: calls beside it alone are not calls beside the attack.
                Ok::<_, Failure>((look(&mut scene.honest)?, look(&mut scene.beside)?))
            });
            (
                attacker.join().unwrap_or_else(|_| Err("a panic".into())),
                slow.join().unwrap_or_else(|_| Err("a panic".into())),
            )
        });
        if !scene.victim.is_running() {
            scene.report.passed("survived", 0, 1);
            return Ok(());
        }
        let (honest, beside) = seen?;
        scene.finish(&Seen {
            honest,
            beside,
            slow,
        })
    }

    fn start(name: &'static str, run: &Run, seed: u64, room: Room) -> Result<Self, Failure> {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let mut arguments = vec![
            "victim".to_owned(),
            format!("--memory={VICTIM_MEMORY}"),
            format!("--descriptors={}", room.descriptors.unwrap_or(descriptors)),
            format!("--callback-seconds={}", if run.quick { 3 } else { 20 }),
        ];
        arguments.extend(
            room.connections
                .map(|most| format!("--max-connections={most}")),
        );
        let serve = || {
            let mut victim = Process::start(&arguments, run.log)?;
            let ready: Ready = serde_json::from_str(&victim.line()?)?;
            let target = Target {
                address: SocketAddr::from((Ipv4Addr::LOCALHOST, ready.port)),
                key: unhex(&ready.key).ok_or("no object key")?,
            };
            Ok::<_, Failure>((victim, target, ready))
        };
        let (victim, target, ready) = serve()?;
        let held = unhex(&ready.held).ok_or("no object key")?;
        let (bystander, other, _) = serve()?;
        let caller = |called: &Target, from| {
            let arguments = [
                "honest".to_owned(),
                format!("--address={}", called.address),
                format!("--key={}", hex(&called.key)),
                format!("--from={}", honest_host(from)),
            ];
            Process::start(&arguments, true)
        };
        let (mut honest, mut beside) = (caller(&target, 0)?, caller(&other, 7)?);
        // The first calls warm up; the memory of a large message is part of what a server has before an attack.
        legitimate::large(&target)?;
        thread::sleep(Duration::from_millis(200));
        look(&mut honest)?;
        look(&mut beside)?;
        thread::sleep(Duration::from_millis(if run.quick { 500 } else { 3_000 }));
        let quiet = look(&mut honest)?;
        look(&mut beside)?;
        victim.reset_peak()?;
        Ok(Self {
            before: victim.memory()?,
            descriptors: victim.descriptors()?,
            victim,
            _bystander: bystander,
            target,
            held,
            tls_port: ready.tls_port,
            trust: ready.trust,
            reference: ready.reference,
            report: Report::new(name, run.quick),
            rng: Rng::with_seed(seed),
            quick: run.quick,
            honest,
            beside,
            most: 0,
            quiet,
            crowd: room.crowd(match run.quick {
                true => QUICK_HONEST_CONNECTIONS,
                false => HONEST_CONNECTIONS,
            }),
        })
    }

    /// The port for TLS of the victim.
    pub(crate) fn over_tls(&self) -> Target {
        let mut target = self.target.clone();
        target.address.set_port(self.tls_port);
        target
    }

    /// Says on standard error how much memory the victim has, and how much of it its ORB counts.
    pub(crate) fn report_memory(&mut self) -> Result<(), Failure> {
        self.victim.tell("held")?;
        let counted = mib(self.victim.line()?.trim().parse()?);
        let memory = self.victim.memory()?;
        self.victim.tell(TRIM)?;
        self.victim.line()?;
        let (now, peak) = (mib(memory.now), mib(memory.peak));
        let without = mib(self.victim.memory()?.now);
        eprintln!(
            "{now:.0} MiB, {peak:.0} at most; {counted:.0} are counted; {without:.0} without what the allocator keeps"
        );
        Ok(())
    }

    /// `full`, or `quick` in a short run.
    pub(crate) fn sized<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Octets of memory that the victim takes at most while `act` runs, beside what it had before.
    pub(crate) fn taken<R>(
        &mut self,
        act: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<(usize, R), Failure> {
        self.most = self.most.max(self.victim.memory()?.peak);
        self.victim.reset_peak()?;
        let before = self.victim.memory()?.now;
        let done = act()?;
        Ok((self.victim.memory()?.peak.saturating_sub(before), done))
    }

    /// Waits until the victim has no more descriptors than before the attack; gives how long that took, or `None` after
    /// `patience`.
    pub(crate) fn until_closed(&self, patience: Duration) -> Result<Option<Duration>, Failure> {
        self.until_closed_but(0, patience)
    }

    /// Checks the end of an attack of which `open` connections may stay.
    pub(crate) fn until_closed_but(
        &self,
        open: usize,
        patience: Duration,
    ) -> Result<Option<Duration>, Failure> {
        /// The honest client may be between two connections, and those that look on have some.
        const SLACK: usize = 8;
        let started = Instant::now();
        while started.elapsed() < patience {
            if self.victim.descriptors()? <= self.descriptors + open + SLACK {
                return Ok(Some(started.elapsed()));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(None)
    }

    /// Prints what the honest client saw, whether the victim is as it was, and the memory that it took and has.
    fn finish(mut self, seen: &Seen) -> Result<(), Failure> {
        /// How long the victim may take to notice that the attackers have gone.
        const PATIENCE: Duration = Duration::from_secs(30);
        let (quiet, during, beside) = (self.quiet, seen.honest, seen.beside);
        let report = &self.report;
        let failed = count(during.failed);
        report.row("honest-failures", failed, Aim::AtMost(0.0), "");
        let note = format!(
            "{:.0} µs of {} calls beside {:.0} µs, median {:.0} beside {:.0}",
            during.p99, during.calls, quiet.p99, during.p50, quiet.p50
        );
        let ratio = during.p50 / quiet.p50;
        report.timed("honest-median-ratio", ratio, Aim::AtMost(2.0), note.clone());
        let ratio = during.p99 / quiet.p99;
        report.timed("honest-p99-ratio", ratio, Aim::AtMost(2.0), note);
        let note = format!(
            "{:.0} µs at the same time, of a client of a server that is not attacked",
            beside.p99
        );
        let ratio = during.p99 / beside.p99;
        report.timed("honest-p99-to-bystander", ratio, Aim::AtMost(2.0), note);
        if let Err(why) = &seen.slow {
            eprintln!("a slow client: {why:#}");
        }
        report.passed("slow-client", seen.slow.is_ok().into(), 1);

        let most = mib(BUDGET + BESIDE);
        let peak = mib(self.most.max(self.victim.memory()?.peak));
        report.row("memory-mib", peak, Aim::AtMost(most), "");
        let recovered = self.until_closed(PATIENCE)?.is_some();
        report.passed("connections-gone", recovered.into(), 1);
        let kept = mib(self.victim.memory()?.now);
        self.victim.tell(TRIM)?;
        self.victim.line()?;
        let left = self.victim.memory()?.now;
        let left = mib(left.saturating_sub(self.before.now));
        let before = mib(self.before.now);
        let note = format!("beside {before:.0}; the allocator had kept {kept:.0} in all");
        report.row("memory-left-mib", left, Aim::AtMost(mib(BESIDE)), note);
        let large = legitimate::large(&self.target);
        if let Err(why) = &large {
            eprintln!("a message of 64 MiB after the attack: {why:#}");
        }
        report.passed("64-mib-after", large.is_ok().into(), 1);
        let passed = legitimate::crowd(&self.target, self.crowd)?;
        report.passed("honest-connections", passed, self.crowd);
        Ok(())
    }
}

/// The honest client's calls since the last look.
fn look(honest: &mut Process) -> Result<Latency, Failure> {
    honest.tell("")?;
    Ok(serde_json::from_str(&honest.line()?)?)
}
