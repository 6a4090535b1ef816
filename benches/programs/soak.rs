//! Looks for a wake-up that is lost once in a million calls: very many calls of the kinds that could lose one, and a
//! watchdog.
//!
//! `cargo xtask soak [-- --calls N]`. Prints a line for each part and ends with status 0; or says which part stands
//! still, and ends with status 1.

#![expect(clippy::print_stdout, reason = "its result is what it prints")]

use clap::Parser;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};
use zorb::blocking::Wait;
use zorb::executor::Lane;
use zorb::{Interface, Orb, SyncScope, SystemException, WaitPolicy};

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
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Calls made so far, and what is being done.
static CALLS: AtomicU64 = AtomicU64::new(0);
static PART: Mutex<String> = Mutex::new(String::new());

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

fn watch(patience: Duration) {
    let mut before = u64::MAX;
    let mut since = Instant::now();
    loop {
        thread::sleep(Duration::from_secs(1));
        let now = CALLS.load(Ordering::Relaxed);
        if now != before {
            (before, since) = (now, Instant::now());
        } else if since.elapsed() > patience {
            let part = PART.lock().map(|part| part.clone()).unwrap_or_default();
            println!("HANGS after {now} calls: {part}");
            std::process::exit(1);
        }
    }
}

fn counted<T, E>(result: Result<T, E>) -> Result<T, E> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    result
}

/// One-way calls of 64 KiB, with a question now and then that has to find them all.
async fn one_ways(sponge: SpongeRef, calls: u64) -> Result<(), Failure> {
    let octets = vec![7; 64 << 10];
    let mut sent = 0;
    for n in 0..calls {
        counted(sponge.soak(&octets).await)?;
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

fn begins(part: String) -> Instant {
    if let Ok(mut now) = PART.lock() {
        *now = part;
    }
    Instant::now()
}

fn ended(since: Instant) {
    let part = PART.lock().map(|part| part.clone()).unwrap_or_default();
    println!("{part}: well, in {:.1} s", since.elapsed().as_secs_f64());
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

/// Every kind of call, in tasks of this runtime.
async fn in_tasks(
    endpoint: &str,
    flavor: &str,
    policy: WaitPolicy,
    number: u64,
) -> Result<(), Failure> {
    let (server, reference) = server(endpoint, policy).await?;
    let client = Orb::builder().wait_policy(policy).build().await?;
    let sponge: SpongeRef = client
        .string_to_object(&reference)
        .await?
        .unchecked_narrow();
    let name = |what: &str| format!("{what}, {flavor}, {policy:?}, {}", &endpoint[..4]);

    for scope in [SyncScope::WithTransport, SyncScope::None] {
        let since = begins(name(&format!(
            "{number} one-way calls of 64 KiB, {scope:?}"
        )));
        one_ways(sponge.with_sync_scope(scope), number).await?;
        ended(since);
    }
    for (what, tasks, drops) in [
        ("calls in a row", 1, 0),
        ("calls by four tasks", 4, 0),
        ("calls by four tasks, one in five dropped", 4, 5),
        ("calls by one task, one in three dropped", 1, 3),
    ] {
        let since = begins(name(&format!("{} {what}", number / 2)));
        let running: Vec<_> = (0..tasks)
            .map(|task| tokio::spawn(calls(sponge.clone(), number / 2 / tasks, task, drops)))
            .collect();
        for task in running {
            task.await??;
        }
        ended(since);
    }
    client.shutdown(true).await?;
    server.shutdown(true).await?;
    Ok(())
}

/// Four threads that block on one reference.
fn in_threads(endpoint: &str, policy: WaitPolicy, number: u64) -> Result<(), Failure> {
    let server = Orb::builder()
        .listen(endpoint)
        .wait_policy(policy)
        .build_blocking()?;
    let poa = server.root_poa();
    let sponge: SpongeRef = poa.activate(SpongeServant::new(Servant::default()))?;
    poa.the_poa_manager().activate()?;
    let client = Orb::builder().wait_policy(policy).build_blocking()?;
    let there = client.string_to_object(&server.object_to_string(&sponge))?;
    let there: SpongeRef = there.unchecked_narrow();
    let since = begins(format!(
        "{} calls by four threads that block, {policy:?}, {}",
        number / 2,
        &endpoint[..4]
    ));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let there = there.clone();
                scope.spawn(move || {
                    (0..number / 8).try_for_each(|n| {
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
    ended(since);
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let patience = Duration::from_secs(options.patience);
    thread::spawn(move || watch(patience));
    let socket = std::env::temp_dir().join(format!("zorb-soak-{}", std::process::id()));
    let unix = format!("uiop://{}", socket.display());
    for policy in [
        WaitPolicy::Adaptive,
        WaitPolicy::Park,
        WaitPolicy::Spin(WaitPolicy::DEDICATED),
    ] {
        for endpoint in ["iiop://127.0.0.1:0", unix.as_str()] {
            let multi = tokio::runtime::Runtime::new()?;
            multi.block_on(in_tasks(endpoint, "multi-thread", policy, options.calls))?;
            let current = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            current.block_on(in_tasks(endpoint, "current-thread", policy, options.calls))?;
            in_threads(endpoint, policy, options.calls)?;
        }
    }
    println!(
        "{} calls, and nobody is left waiting",
        CALLS.load(Ordering::Relaxed)
    );
    Ok(())
}
