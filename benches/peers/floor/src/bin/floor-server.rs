//! The server of the floor: answers as fast as the kernel lets it. See `benches/peers/README.md`.

#![expect(clippy::print_stdout, reason = "its result is a line of output")]

use clap::Parser;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use zorb_floor::{Way, asynchronous, blocking, report::Farewell, write_whole};

#[derive(Parser)]
struct Options {
    /// The file for the server's address.
    #[arg(long)]
    ior: PathBuf,
    /// Listen on a UNIX socket instead of TCP on the loopback.
    #[arg(long)]
    unix: Option<PathBuf>,
    /// How to wait.
    #[arg(long, default_value = "block")]
    way: Way,
    /// Workers of the multi-thread runtime; without tokio every connection has a thread.
    #[arg(long)]
    threads: Option<usize>,
    /// Echoed by clients; accepted here so that both programs take the same options.
    #[arg(long)]
    peer: Option<String>,
}

static CALLS: AtomicU64 = AtomicU64::new(0);
static DIGEST: AtomicU64 = AtomicU64::new(0);

fn fold(digest: u64) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    DIGEST.fetch_add(digest, Ordering::Relaxed);
}

/// Ends the process after the connection that asked for it. Errors of other connections are dropped.
fn over(last: io::Result<bool>) {
    if let Ok(true) = last {
        let farewell = Farewell {
            calls: CALLS.load(Ordering::Relaxed),
            digest: DIGEST.load(Ordering::Relaxed),
            allocations: None,
            allocated_octets: None,
        };
        println!("{}", farewell.to_json());
        std::process::exit(0);
    }
}

fn blocking(options: &Options) -> io::Result<()> {
    let spin = options.way == Way::Spin;
    let serve = |stream| {
        let end = blocking::End::new(stream, spin);
        std::thread::spawn(move || over(blocking::serve(end, fold)));
    };
    if let Some(path) = &options.unix {
        let listener = UnixListener::bind(path)?;
        write_whole(&options.ior, &format!("unix {}", path.display()))?;
        loop {
            serve(blocking::Stream::Unix(listener.accept()?.0));
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    write_whole(&options.ior, &format!("tcp {}", listener.local_addr()?))?;
    loop {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        serve(blocking::Stream::Tcp(stream));
    }
}

async fn on_tokio(options: Options) -> io::Result<()> {
    if let Some(path) = &options.unix {
        let listener = tokio::net::UnixListener::bind(path)?;
        write_whole(&options.ior, &format!("unix {}", path.display()))?;
        loop {
            let (stream, _) = listener.accept().await?;
            let end = asynchronous::End::new(stream);
            tokio::spawn(async move { over(asynchronous::serve(end, fold).await) });
        }
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    write_whole(&options.ior, &format!("tcp {}", listener.local_addr()?))?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let end = asynchronous::End::new(stream);
        tokio::spawn(async move { over(asynchronous::serve(end, fold).await) });
    }
}

fn main() -> io::Result<()> {
    let options = Options::parse();
    if options.way.is_async() {
        let runtime = asynchronous::runtime(options.way.is_multi(), options.threads)?;
        if options.way != Way::TokioDedicated {
            return runtime.block_on(on_tokio(options));
        }
        let thread = std::thread::spawn(move || runtime.block_on(on_tokio(options)));
        thread
            .join()
            .map_err(|_| io::Error::other("the thread panicked"))?
    } else {
        blocking(&options)
    }
}
