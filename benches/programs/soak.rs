//! Looks for a wake-up that is lost once in a million calls: very many calls of the kinds that could lose one, and a
//! watchdog.
//!
//! `cargo xtask soak [-- --calls N --only TEXT]`. Prints a line for each part and ends with status 0; or says which
//! part stands still, and ends with status 1. It takes as long as it takes, and says on stderr how far it is: what ends
//! it is that nothing happens any more. A million calls of each kind take about half an hour.

#![expect(clippy::print_stdout, reason = "its result is what it prints")]

use clap::Parser;
use std::fmt;
use std::future::poll_fn;
use std::io::{IsTerminal, stderr};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};
use zorb::blocking::Wait;
use zorb::executor::Lane;
use zorb::{Interface, Orb, SyncScope, SystemException, SystemExceptionKind, WaitPolicy, minor};

zorb::idl! {
    module Soak {
        typedef sequence<octet> Content;
        interface Sponge {
            unsigned long long add(in unsigned long long a, in unsigned long long b);
            oneway void soak(in Content what);
            unsigned long long soaked();
        };
    };
}

use soak::{Sponge, SpongeRef, SpongeServant};

#[derive(Parser)]
struct Options {
    /// One-way calls of 64 KiB; half as many calls by threads and by tasks that share a reference, and as many of those
    /// that are dropped.
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// Seconds without a single call after which something hangs.
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Only the parts in whose names this is, such as `one-way` or `threads`.
    #[arg(long, default_value = "")]
    only: String,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The exception that refuses a one-way call of SYNC_NONE when there is no room for it.
const NO_ROOM: (SystemExceptionKind, u32) =
    (SystemExceptionKind::Transient, minor::REQUEST_DISCARDED);

/// Calls made so far.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// An activity of the soak.
static PART: Mutex<String> = Mutex::new(String::new());

/// The callers.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// One task, with calls of 64 KiB that have no answer.
    OneWays(SyncScope),
    /// So many tasks; of so many of their calls one is dropped (0: none is).
    Tasks(u64, u64),
    /// Four threads that block.
    Threads,
}

/// The runtime of a part's tasks.
#[derive(Debug, Clone, Copy)]
enum Flavor {
    Multi,
    Current,
}

/// The work of one round: all on one reference.
#[derive(Debug, Clone)]
struct Part {
    kind: Kind,
    flavor: Flavor,
    policy: WaitPolicy,
    endpoint: String,
    calls: u64,
}

impl Part {
    /// All of them.
    fn all(calls: u64, endpoints: &[String]) -> Vec<Self> {
        let kinds = [
            Kind::OneWays(SyncScope::WithTransport),
            Kind::OneWays(SyncScope::None),
            Kind::Tasks(1, 0),
            Kind::Tasks(4, 0),
            Kind::Tasks(4, 5),
            Kind::Tasks(1, 3),
        ];
        let policies = [
            WaitPolicy::Adaptive,
            WaitPolicy::Park,
            WaitPolicy::Spin(WaitPolicy::DEDICATED),
        ];
        let mut all = Vec::new();
        for policy in policies {
            for endpoint in endpoints {
                let mut add = |kind, flavor| {
                    all.push(Self {
                        kind,
                        flavor,
                        policy,
                        endpoint: endpoint.clone(),
                        calls: match kind {
                            Kind::OneWays(_) => calls,
                            Kind::Tasks(..) | Kind::Threads => calls / 8 * 4,
                        },
                    });
                };
                for flavor in [Flavor::Multi, Flavor::Current] {
                    kinds.into_iter().for_each(|kind| add(kind, flavor));
                }
                add(Kind::Threads, Flavor::Current);
            }
        }
        all
    }

    fn run(&self) -> Result<(), Failure> {
        let runtime = match (self.kind, self.flavor) {
            (Kind::Threads, _) => return self.in_threads(),
            (_, Flavor::Multi) => tokio::runtime::Runtime::new()?,
            (_, Flavor::Current) => tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?,
        };
        runtime.block_on(self.in_tasks())
    }

    /// Calls by tasks of this runtime.
    async fn in_tasks(&self) -> Result<(), Failure> {
        let (server, reference) = server(&self.endpoint, self.policy).await?;
        let client = Orb::builder().wait_policy(self.policy).build().await?;
        let sponge: SpongeRef = client
            .string_to_object(&reference)
            .await?
            .unchecked_narrow();
        match self.kind {
            Kind::OneWays(scope) => one_ways(sponge.with_sync_scope(scope), self.calls).await?,
            Kind::Tasks(tasks, drops) => {
                let running: Vec<_> = (0..tasks)
                    .map(|task| {
                        tokio::spawn(calls(sponge.clone(), self.calls / tasks, task, drops))
                    })
                    .collect();
                for task in running {
                    task.await??;
                }
            }
            Kind::Threads => {}
        }
        client.shutdown(true).await?;
        server.shutdown(true).await?;
        Ok(())
    }

    /// Calls by four threads that block.
    fn in_threads(&self) -> Result<(), Failure> {
        let server = Orb::builder()
            .listen(&self.endpoint)
            .wait_policy(self.policy)
            .build_blocking()?;
        let poa = server.root_poa();
        let sponge: SpongeRef = poa.activate(SpongeServant::new(Servant::default()))?;
        poa.the_poa_manager().activate()?;
        let client = Orb::builder().wait_policy(self.policy).build_blocking()?;
        let there = client.string_to_object(&server.object_to_string(&sponge))?;
        let there: SpongeRef = there.unchecked_narrow();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let there = there.clone();
                    scope.spawn(move || {
                        (0..self.calls / 4).try_for_each(|n| {
                            match counted(there.add(n, thread).wait())? == n + thread {
                                true => Ok(()),
                                false => Err(Failure::from("a wrong answer")),
                            }
                        })
                    })
                })
                .collect();
            (threads.into_iter()).try_for_each(|thread| thread.join().map_err(|_| "a panic")?)
        })?;
        client.shutdown(true)?;
        server.shutdown(true)?;
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.calls)?;
        match self.kind {
            Kind::OneWays(scope) => write!(f, "one-way calls of 64 KiB, {scope:?}")?,
            Kind::Tasks(1, 0) => f.write_str("calls in a row")?,
            Kind::Tasks(1, drops) => write!(f, "calls by 1 task, one in {drops} dropped")?,
            Kind::Tasks(tasks, 0) => write!(f, "calls by {tasks} tasks")?,
            Kind::Tasks(tasks, drops) => {
                write!(f, "calls by {tasks} tasks, one in {drops} dropped")?;
            }
            Kind::Threads => f.write_str("calls by 4 threads that block")?,
        }
        match (self.kind, self.flavor) {
            (Kind::Threads, _) => {}
            (_, Flavor::Multi) => f.write_str(", multi-thread")?,
            (_, Flavor::Current) => f.write_str(", current-thread")?,
        }
        let (scheme, _) = self.endpoint.split_once(':').unwrap_or_default();
        write!(f, ", {:?}, {scheme}", self.policy)
    }
}

#[derive(Default)]
struct Servant {
    octets: AtomicU64,
}

impl Sponge for Servant {
    async fn add(&self, a: u64, b: u64) -> Result<u64, SystemException> {
        // Some answers take another turn.
        if a % 11 == 3 {
            tokio::task::yield_now().await;
        }
        Ok(a.wrapping_add(b))
    }

    async fn soak(&self, what: zorb::OctetsRef<'_>) -> Result<(), SystemException> {
        self.octets.fetch_add(what.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    async fn soaked(&self) -> Result<u64, SystemException> {
        Ok(self.octets.swap(0, Ordering::Relaxed))
    }
}

/// Numbers that look random, the same ones each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Says how far the calls are, of `total`, and ends the process when there are no more for so long.
fn watch(patience: Duration, total: u64) {
    let (begun, is_shown) = (Instant::now(), stderr().is_terminal());
    let (mut before, mut since, mut reported) = (u64::MAX, begun, begun);
    loop {
        thread::sleep(Duration::from_secs(1));
        let now = CALLS.load(Ordering::Relaxed);
        let part = || PART.lock().map(|part| part.clone()).unwrap_or_default();
        if now != before {
            (before, since) = (now, Instant::now());
        } else if since.elapsed() > patience {
            println!("HANGS after {now} calls: {}", part());
            std::process::exit(1);
        }
        if is_shown || reported.elapsed() >= REPORT_INTERVAL {
            reported = Instant::now();
            let seconds = begun.elapsed().as_secs();
            let percent = now * 100 / total.max(1);
            let line = format!(
                "{seconds} s, {now} of {total} calls ({percent} %): {}",
                part()
            );
            match is_shown {
                true => eprint!("{CLEAR}{line}"),
                false => eprintln!("{line}"),
            }
        }
    }
}

/// The time between two lines of progress, where no terminal shows it.
const REPORT_INTERVAL: Duration = Duration::from_secs(30);
/// Clears the line of a terminal.
const CLEAR: &str = "\r\x1b[K";

fn counted<T, E>(result: Result<T, E>) -> Result<T, E> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    result
}

/// One-way calls of 64 KiB, with a question now and then that has to find them all.
async fn one_ways(sponge: SpongeRef, calls: u64) -> Result<(), Failure> {
    let octets = vec![7; 64 << 10];
    let mut sent = 0;
    for n in 0..calls {
        while let Err(refused) = sponge.soak(&octets).await {
            // SYNC_NONE, and no room: the driver has its turn.
            if (refused.kind, refused.minor) != NO_ROOM {
                return Err(refused.into());
            }
            tokio::task::yield_now().await;
        }
        CALLS.fetch_add(1, Ordering::Relaxed);
        sent += octets.len() as u64;
        if n % 1_000 == 999 || n + 1 == calls {
            let soaked = sponge.soaked().await?;
            if soaked != sent {
                return Err(format!("{soaked} octets came of {sent}").into());
            }
            sent = 0;
        }
    }
    Ok(())
}

/// Calls of which every `drops`-th is given up after some polls, and between which there are pauses.
async fn calls(sponge: SpongeRef, calls: u64, seed: u64, drops: u64) -> Result<(), Failure> {
    let mut random = Random(seed);
    for n in 0..calls {
        if drops > 0 && random.below(drops) == 0 {
            let mut call = pin!(sponge.add(n, seed));
            let mut polls = random.below(4);
            poll_fn(|cx| {
                let done = polls == 0 || call.as_mut().poll(cx).is_ready();
                polls = polls.saturating_sub(1);
                // Woken by the call, or at once every other time.
                match done {
                    true => Poll::Ready(()),
                    false => {
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                }
            })
            .await;
            CALLS.fetch_add(1, Ordering::Relaxed);
        } else if counted(sponge.add(n, seed).await)? != n.wrapping_add(seed) {
            return Err("a wrong answer".into());
        }
        if random.below(64) == 0 {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

async fn server(endpoint: &str, policy: WaitPolicy) -> Result<(Orb, String), Failure> {
    let orb = Orb::builder()
        .listen(endpoint)
        .lane(Lane::dedicated("server")?.with_wait(policy))
        .build()
        .await?;
    let poa = orb.root_poa();
    let sponge: SpongeRef = poa.activate(SpongeServant::new(Servant::default()))?;
    poa.the_poa_manager().activate()?;
    let reference = orb.object_to_string(&sponge);
    Ok((orb, reference))
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let patience = Duration::from_secs(options.patience);
    let socket = std::env::temp_dir().join(format!("zorb-soak-{}", std::process::id()));
    let endpoints = [
        "iiop://127.0.0.1:0".to_owned(),
        format!("uiop://{}", socket.display()),
    ];
    let mut parts = Part::all(options.calls, &endpoints);
    parts.retain(|part| part.to_string().contains(&options.only));
    if parts.is_empty() {
        return Err(format!("no part has `{}` in its name", options.only).into());
    }
    let total = parts.iter().map(|part| part.calls).sum();
    thread::spawn(move || watch(patience, total));
    let begun = Instant::now();
    for (n, part) in parts.iter().enumerate() {
        let since = Instant::now();
        if let Ok(mut now) = PART.lock() {
            *now = format!("part {} of {}, {part}", n + 1, parts.len());
        }
        part.run().map_err(|why| format!("{part}: {why}"))?;
        if stderr().is_terminal() {
            eprint!("{CLEAR}");
        }
        println!("{part}: well, in {:.1} s", since.elapsed().as_secs_f64());
    }
    println!(
        "{} calls in {} s, and no caller is left waiting",
        CALLS.load(Ordering::Relaxed),
        begun.elapsed().as_secs()
    );
    Ok(())
}
