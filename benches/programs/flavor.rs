//! The runtime and the waiting of an end of ours: the options `--runtime`, `--wait`, `--sync` and `--native`.

use clap::{Args, ValueEnum};
use std::future::Future;
use std::sync::Arc;
use tokio::runtime::Builder as Tokio;
use zorb::blocking::Wait as _;
use zorb::executor::{Lane, WaitPolicy};
use zorb::transport::{Tcp, Transport, Unix};
use zorb::{Builder, Orb, SyncScope};

/// An error of a program, printed for the person at its terminal.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Whose thread polls.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Flavor {
    /// The multi-thread runtime of `#[tokio::main]`, with calls made from a task.
    #[value(alias = "multi")]
    Default,
    /// The same, with calls made from the body of `main`.
    Main,
    /// A current-thread runtime of the program's.
    Current,
    /// A lane of the ORB's own, with calls made in it.
    Dedicated,
    /// No runtime on the way: the thread that calls, or that a connection has, reads and writes.
    Blocking,
}

/// How an end waits for octets; without it, by the ORB's default.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Wait {
    Park,
    Adaptive,
    /// Spins for the longest time that a wait may take.
    Spin,
}

/// When a one-way call is done.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Scope {
    None,
    Transport,
    Server,
    Target,
}

/// Options of both programs: runtime, waiting, dispatch.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Life {
    /// The runtime of the ORB.
    #[arg(long, default_value = "default")]
    pub(crate) runtime: Flavor,
    /// The way of waiting for octets.
    #[arg(long)]
    pub(crate) wait: Option<Wait>,
    /// When one-way calls are done; only a client makes them.
    #[arg(long)]
    pub(crate) sync: Option<Scope>,
    /// Asks each peer whether it is alike, and exchanges numbers with those that are.
    #[arg(long)]
    pub(crate) native: bool,
    /// Tasks in the ORB's runtime that compute, and let others run every some ten microseconds.
    #[arg(long, default_value_t = 0)]
    pub(crate) busy_tasks: usize,
}

/// Steps of a busy task's computation between two points at which others may run: some ten microseconds.
const BUSY_STEPS: u64 = 10_000;

/// Computes for as long as the runtime lives.
async fn busy() {
    let mut sum = 0_u64;
    loop {
        for step in 0..BUSY_STEPS {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(step));
        }
        tokio::task::yield_now().await;
    }
}

impl Life {
    /// Starts the ORB, and the busy tasks where it has a runtime.
    pub(crate) async fn start(self, builder: Builder) -> Result<Orb, Failure> {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            for _ in 0..self.busy_tasks {
                drop(runtime.spawn(busy()));
            }
        }
        Ok(match self.runtime {
            Flavor::Blocking => Orb::clone(&*builder.build_blocking()?),
            _ => builder.build().await?,
        })
    }

    fn builder(self) -> Builder {
        let mut builder = Orb::builder();
        let transports: [Arc<dyn Transport>; 3] = [
            Arc::new(Tcp::default()),
            Arc::new(Unix::default()),
            Arc::new(zorb_shm::Shm::default()),
        ];
        for transport in transports {
            builder = builder.transport(match self.native {
                true => Arc::new(zorb_native::Native::over(transport)),
                false => transport,
            });
        }
        if let Some(wait) = self.wait {
            builder = builder.wait_policy(match wait {
                Wait::Park => WaitPolicy::Park,
                Wait::Adaptive => WaitPolicy::Adaptive,
                Wait::Spin => WaitPolicy::Spin(WaitPolicy::LONGEST),
            });
        }
        if let Some(sync) = self.sync {
            builder = builder.sync_scope(match sync {
                Scope::None => SyncScope::None,
                Scope::Transport => SyncScope::WithTransport,
                Scope::Server => SyncScope::WithServer,
                Scope::Target => SyncScope::WithTarget,
            });
        }
        builder
    }
}

/// Runs to the end what `work` makes of the ORB's builder; the workers of a multi-thread runtime are `threads`, or as
/// many as there are CPUs.
pub(crate) fn run<T, W, F>(life: Life, threads: Option<usize>, work: W) -> Result<T, Failure>
where
    T: Send + 'static,
    W: FnOnce(Builder) -> F,
    F: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let (flavor, builder) = (life.runtime, life.builder());
    if flavor == Flavor::Dedicated {
        let lane = Lane::dedicated("bench")?;
        let working = lane.spawn(work(builder.lane(lane.clone())));
        return lane.handle().block_on(working)?;
    }
    if flavor == Flavor::Blocking {
        return work(builder).wait();
    }
    let mut tokio = match flavor {
        Flavor::Current => Tokio::new_current_thread(),
        _ => Tokio::new_multi_thread(),
    };
    if let Some(threads) = threads {
        tokio.worker_threads(threads);
    }
    let runtime = tokio.enable_all().build()?;
    let working = work(builder);
    match flavor {
        Flavor::Default => runtime.block_on(async { tokio::spawn(working).await? }),
        _ => runtime.block_on(working),
    }
}
