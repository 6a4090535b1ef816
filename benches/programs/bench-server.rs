//! The server of `benches/bench.idl` that every peer's clients are timed against.
//!
//! `bench-server --ior FILE [--unix PATH] [--runtime default|current|dedicated] …`: writes its reference to FILE and
//! serves until `shutdown()`. Then it prints the digest of everything it was sent, so that no ORB can win by not
//! looking at the arguments.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod abilities;
mod common;
mod digests;
mod flavor;

use clap::{Parser, ValueEnum};
use common::{idl, in_memory};
use flavor::{Failure, Life};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use zorb::{Builder, Bytes, OctetsRef, Orb, SystemException};
use zorb_floor::{counting, digest, publish, report::Farewell};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

#[derive(Parser)]
// The last of two wins.
#[command(args_override_self = true)]
struct Options {
    /// Where to write the reference; `-` is standard output.
    #[arg(long)]
    ior: PathBuf,
    /// Listen on a UNIX socket instead of TCP on the loopback.
    #[arg(long)]
    unix: Option<PathBuf>,
    /// Share memory with the clients that come to that socket.
    #[arg(long, requires = "unix")]
    shm: bool,
    /// The TCP port; any free one unless given.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Worker threads of the multi-thread runtime; as many as there are CPUs unless given.
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    life: Life,
    /// The part of an octet sequence that the servant reads.
    #[arg(long, default_value = "all")]
    look: Look,
    /// Tell at the end what was allocated between the last two calls of `sync`.
    #[arg(long)]
    count_allocations: bool,
    /// Objects with a servant each; the reference of each is a line of the file.
    #[arg(long, default_value_t = 1)]
    servants: usize,
    /// Connections that are served at a time; the ORB's default unless given.
    #[arg(long)]
    max_connections: Option<usize>,
    /// Echoed by clients; accepted here so that both programs take the same options.
    #[arg(long)]
    peer: Option<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Look {
    All,
    /// Length and both ends, so that what is counted is the ORB's.
    Ends,
}

/// Counts of the allocator.
type Count = Option<(u64, u64)>;

struct Shared {
    orb: Orb,
    look: Look,
    /// The digest of all arguments: the sum over all calls, so that their order does not matter.
    digest: AtomicU64,
    calls: AtomicU64,
    /// At the last two calls of `sync`.
    allocated: Mutex<(Count, Count)>,
}

/// One of many servants: what they are sent is counted together.
#[derive(Clone)]
struct Server(Arc<Shared>);

impl std::ops::Deref for Server {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Shared {
    fn fold(&self, digest: u64) {
        self.digest.fetch_add(digest, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn fold_octets(&self, octets: &[u8]) {
        self.fold(match self.look {
            Look::All => digest::octets(octets),
            Look::Ends => digest::ends(octets),
        });
    }
}

/// Serves the interface as either module has it: in native programs structs lie in memory.
macro_rules! serves {
    ($($module:ident)*) => {$(
        impl common::$module::bench::Ttcp for Server {
            async fn send_no_params_2way(&self) -> Result<(), SystemException> {
                self.fold(1);
                Ok(())
            }

            async fn send_no_params_1way(&self) -> Result<(), SystemException> {
                self.fold(1);
                Ok(())
            }

            async fn send_octet_seq_2way(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
                self.fold_octets(&data);
                Ok(())
            }

            async fn send_long_seq_2way(&self, data: &[i32]) -> Result<(), SystemException> {
                self.fold(digest::longs(data));
                Ok(())
            }

            async fn send_struct_seq_2way(&self, data: &[common::$module::bench::BinStruct]) -> Result<(), SystemException> {
                self.fold(digests::of_structs(data));
                Ok(())
            }

            async fn send_octet_seq_1way(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
                self.fold_octets(&data);
                Ok(())
            }

            async fn send_struct_seq_1way(&self, data: &[common::$module::bench::BinStruct]) -> Result<(), SystemException> {
                self.fold(digests::of_structs(data));
                Ok(())
            }

            async fn sync(&self) -> Result<(), SystemException> {
                let now = counting::so_far();
                if let Ok(mut allocated) = self.allocated.lock() {
                    *allocated = (allocated.1, now);
                }
                Ok(())
            }

            async fn echo_string(&self, str: &str) -> Result<String, SystemException> {
                self.fold(digest::octets(str.as_bytes()));
                Ok(str.to_owned())
            }

            async fn echo_struct_seq(&self, data: &[common::$module::bench::BinStruct]) -> Result<Vec<common::$module::bench::BinStruct>, SystemException> {
                self.fold(digests::of_structs(data));
                Ok(data.to_vec())
            }

            async fn echo_octet_seq(&self, data: OctetsRef<'_>) -> Result<Bytes, SystemException> {
                self.fold_octets(&data);
                Ok(data.keep())
            }

            async fn shutdown(&self) -> Result<(), SystemException> {
                let (before, last) = self
                    .allocated
                    .lock()
                    .map(|counts| *counts)
                    .unwrap_or_default();
                let allocated = counting::between(before, last);
                let farewell = Farewell {
                    calls: self.calls.load(Ordering::Relaxed),
                    digest: self.digest.load(Ordering::Relaxed),
                    allocations: allocated.map(|(number, _)| number),
                    allocated_octets: allocated.map(|(_, octets)| octets),
                };
                println!("{}", farewell.to_json());
                self.orb.shutdown(false).await
            }
        }
    )*};
}

serves!(idl in_memory);

async fn serve(options: Options, mut builder: Builder) -> Result<(), Failure> {
    let endpoint = match &options.unix {
        Some(path) => {
            let scheme = if options.shm { "shm" } else { "uiop" };
            format!("{scheme}://{}", std::path::absolute(path)?.display())
        }
        None => format!("iiop://127.0.0.1:{}", options.port),
    };
    if let Some(most) = options.max_connections {
        builder = builder.max_connections(most);
    }
    let orb = options.life.start(builder.listen(endpoint)).await?;
    let poa = orb.root_poa();
    let server = Server(Arc::new(Shared {
        orb: orb.clone(),
        look: options.look,
        digest: AtomicU64::new(0),
        calls: AtomicU64::new(0),
        allocated: Mutex::default(),
    }));
    let mut references = Vec::new();
    for _ in 0..options.servants.max(1) {
        references.push(match options.life.native {
            true => {
                let servant = in_memory::bench::TtcpServant::new(server.clone());
                orb.object_to_string(&poa.activate(servant)?)
            }
            false => {
                let servant = idl::bench::TtcpServant::new(server.clone());
                orb.object_to_string(&poa.activate(servant)?)
            }
        });
    }
    poa.the_poa_manager().activate()?;
    publish(&options.ior, &references.join("\n"))?;
    orb.run().await;
    Ok(())
}

fn main() -> Result<(), Failure> {
    if abilities::are_asked_for() {
        return Ok(());
    }
    let options = Options::parse();
    if options.count_allocations {
        counting::start();
    }
    flavor::run(options.life, options.threads, |builder| {
        serve(options, builder)
    })
}
