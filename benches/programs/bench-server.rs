//! The server of `benches/bench.idl` that every peer's clients are timed against.
//!
//! `bench-server --ior FILE [--unix PATH] [--port N] [--threads N] [--runtime multi|current]`:
//! writes its reference to FILE and serves until `shutdown()`. Then it prints the digest of
//! everything it was sent, so that nobody can win by not looking at the arguments.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

mod common;

use clap::{Parser, ValueEnum};
use common::{BinStruct, Ttcp, TtcpServant, digest_longs, digest_octets, digest_structs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use zorb::{Bytes, OctetsRef, Orb, SystemException};

#[derive(Parser)]
struct Options {
    /// Where to write the reference.
    #[arg(long)]
    ior: PathBuf,
    /// Listen on a UNIX socket instead of TCP on the loopback.
    #[arg(long)]
    unix: Option<PathBuf>,
    /// The TCP port; any free one unless given.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Worker threads of the multi-thread runtime; as many as there are CPUs unless given.
    #[arg(long)]
    threads: Option<usize>,
    /// The runtime's flavour.
    #[arg(long, default_value = "multi")]
    runtime: Flavor,
    /// Echoed by clients; accepted here so that both programs take the same options.
    #[arg(long)]
    peer: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Flavor {
    Multi,
    Current,
}

/// What was sent, folded: the sum over all calls, so that their order does not matter.
struct Server {
    orb: Orb,
    digest: AtomicU64,
    calls: AtomicU64,
}

impl Server {
    fn fold(&self, digest: u64) {
        self.digest.fetch_add(digest, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Ttcp for Server {
    async fn send_no_params_2way(&self) -> Result<(), SystemException> {
        self.fold(1);
        Ok(())
    }

    async fn send_no_params_1way(&self) -> Result<(), SystemException> {
        self.fold(1);
        Ok(())
    }

    async fn send_octet_seq_2way(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
        self.fold(digest_octets(&data));
        Ok(())
    }

    async fn send_long_seq_2way(&self, data: &[i32]) -> Result<(), SystemException> {
        self.fold(digest_longs(data));
        Ok(())
    }

    async fn send_struct_seq_2way(&self, data: &[BinStruct]) -> Result<(), SystemException> {
        self.fold(digest_structs(data));
        Ok(())
    }

    async fn send_octet_seq_1way(&self, data: OctetsRef<'_>) -> Result<(), SystemException> {
        self.fold(digest_octets(&data));
        Ok(())
    }

    async fn send_struct_seq_1way(&self, data: &[BinStruct]) -> Result<(), SystemException> {
        self.fold(digest_structs(data));
        Ok(())
    }

    async fn sync(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn echo_string(&self, str: &str) -> Result<String, SystemException> {
        self.fold(digest_octets(str.as_bytes()));
        Ok(str.to_owned())
    }

    async fn echo_struct_seq(&self, data: &[BinStruct]) -> Result<Vec<BinStruct>, SystemException> {
        self.fold(digest_structs(data));
        Ok(data.to_vec())
    }

    async fn echo_octet_seq(&self, data: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        self.fold(digest_octets(&data));
        Ok(data.keep())
    }

    async fn shutdown(&self) -> Result<(), SystemException> {
        println!(
            "{{\"calls\":{},\"digest\":\"{:016x}\"}}",
            self.calls.load(Ordering::Relaxed),
            self.digest.load(Ordering::Relaxed)
        );
        self.orb.shutdown(false).await
    }
}

async fn serve(options: Options) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let endpoint = match &options.unix {
        Some(path) => format!("uiop://{}", std::path::absolute(path)?.display()),
        None => format!("iiop://127.0.0.1:{}", options.port),
    };
    let orb = Orb::builder().listen(endpoint).build().await?;
    let poa = orb.root_poa();
    let server = poa.activate(TtcpServant::new(Server {
        orb: orb.clone(),
        digest: AtomicU64::new(0),
        calls: AtomicU64::new(0),
    }))?;
    poa.the_poa_manager().activate()?;
    // Whole or not at all: clients wait for the file.
    let unfinished = options.ior.with_extension("tmp");
    std::fs::write(&unfinished, format!("{}\n", orb.object_to_string(&server)))?;
    std::fs::rename(&unfinished, &options.ior)?;
    orb.run().await;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let options = Options::parse();
    let mut builder = match options.runtime {
        Flavor::Multi => tokio::runtime::Builder::new_multi_thread(),
        Flavor::Current => tokio::runtime::Builder::new_current_thread(),
    };
    if let Some(threads) = options.threads {
        builder.worker_threads(threads);
    }
    builder.enable_all().build()?.block_on(serve(options))
}
