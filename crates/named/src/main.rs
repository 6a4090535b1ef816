//! `zorb-named`: a naming service that keeps its names.

#![forbid(unsafe_code)]

mod measured;
mod page;
mod rules;

use clap::Parser;
use measured::Measured;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};
use zorb::Orb;
use zorb_named::store::{EmbeddedStore, EtcdStore, NatsStore, OpenError, Store};
use zorb_named::{DEFAULT_ENDPOINT, Liveness, NamingService, SERVICE_KEY, Settings};
use zorb_service::access::AccessOptions;
use zorb_service::{ExitStatus, Failure, Metrics, Signals, is_ready, notify, write_whole};

/// How often idle iterators are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// A CORBA naming service: CosNaming::NamingContextExt, durable
#[derive(Debug, Parser)]
#[command(name = "zorb-named", version, after_help = AFTER_HELP)]
struct Options {
    /// The folder of the names, made if it is missing; without it names are lost when the program ends
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A store that several services share: etcd://HOST:PORT,HOST:PORT/PREFIX or nats://HOST:PORT,HOST:PORT/BUCKET
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<String>,
    #[command(flatten)]
    access: AccessOptions,
    /// Where to listen; may be repeated
    #[arg(long, value_name = "ENDPOINT", default_value = DEFAULT_ENDPOINT)]
    listen: Vec<String>,
    /// Write the reference of the root context to a file
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,
    /// Ask every SECONDS all objects that are bound whether they are there; none is unbound
    #[arg(long, value_name = "SECONDS", requires = "stale_file", value_parser = clap::value_parser!(u64).range(1..))]
    ping: Option<u64>,
    /// Write the names of objects that do not answer to a file, a line of JSON each
    #[arg(long, value_name = "FILE", requires = "ping")]
    stale_file: Option<PathBuf>,
    /// Offer a page of the names, and metrics at /metrics, over HTTP at an address; read-only
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = DEFAULT_PAGE)]
    page: Option<SocketAddr>,
    /// Who may do what, a line each: allow|deny read|write|all [network MASK|user ID|certificate NAME]; the first that fits decides
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Iterators that clients may have at a time; beyond it the one that was not used for the longest time is destroyed
    #[arg(long, value_name = "N", default_value_t = Settings::MAX_ITERATORS)]
    max_iterators: usize,
    /// Seconds after which an iterator that is not used is destroyed
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::ITERATOR_IDLE.as_secs())]
    iterator_idle: u64,
}

/// Where the page is unless an address is named.
const DEFAULT_PAGE: &str = "127.0.0.1:2880";

const AFTER_HELP: &str = "\
Clients find the service at corbaloc::HOST:2809/NameService, also as -ORBInitRef NameService=corbaloc::HOST:2809/NameService,
and names in it at corbaname::HOST:2809#NAME. The -ORB… options are taken, too: -ORBListenEndpoints, -ORBEndPointPublish, ….

Examples:
  zorb-named --data /var/lib/zorb-named
  zorb-named --store etcd://e1:2379,e2:2379,e3:2379/names --engine-ca ca.pem --engine-user zorb --engine-password-file password
  zorb-named --data names --listen iiop://0.0.0.0:2809 -ORBEndPointPublish giop:tcp:names.example.com:2809

A line on standard output says that it is ready. SIGTERM and SIGINT end it in order; a second one at once.

Exit status: 0 when it was ended by a signal; 2 for wrong usage; 3 if another process has the folder open; 4 if the folder
holds a store of another version or one that is damaged, or cannot be written; 5 if it cannot listen; 1 for anything else.";

fn main() -> ExitCode {
    zorb_service::run(async |builder, options| serve(builder, &options).await)
}

async fn serve(builder: zorb::Builder, options: &Options) -> Result<(), Failure> {
    // Before anything that takes time: a signal that comes meanwhile ends the program in order.
    let mut signals = Signals::new()?;
    if let Some(url) = &options.store {
        let kept = format!("in {url}");
        let access = options.access.read().map_err(OpenError::from)?;
        // A signal may come while it waits for the store.
        if url.starts_with("nats:") {
            let store = tokio::select! {
                store = NatsStore::open(url, &access) => store?,
                () = signals.next() => return Ok(()),
            };
            return run(builder, options, store, &kept, signals).await;
        }
        let store = tokio::select! {
            store = EtcdStore::open(url, &access) => store?,
            () = signals.next() => return Ok(()),
        };
        return run(builder, options, store, &kept, signals).await;
    }
    // First: a second daemon of a folder says so, and not that its endpoint is in use.
    let Some(folder) = options.data.clone() else {
        let kept = "in memory: its names are lost when it ends (--data keeps them)";
        return run(builder, options, EmbeddedStore::in_memory()?, kept, signals).await;
    };
    let kept = format!("in {}", folder.display());
    let opened = tokio::task::spawn_blocking(move || EmbeddedStore::open(&folder)).await;
    let store = opened.map_err(std::io::Error::other)??;
    run(builder, options, store, &kept, signals).await
}

/// Serves a store until a signal comes.
async fn run(
    builder: zorb::Builder,
    options: &Options,
    store: impl Store,
    kept: &str,
    mut signals: Signals,
) -> Result<(), Failure> {
    let mut builder = options
        .listen
        .iter()
        .fold(builder, |builder, endpoint| builder.listen(endpoint))
        .metrics(options.page.is_some());
    if let Some(file) = &options.rules {
        let rules = rules::read(file);
        let rules = rules.map_err(|what| Failure::new(ExitStatus::WrongUsage, what))?;
        builder = builder.server_interceptor(rules);
    }
    // Before the ORB, which looks for the recorder once.
    let recorder = options.page.map(|_| Metrics::install()).transpose()?;
    let orb = builder.build().await?;
    let mut settings = Settings::default();
    settings.max_iterators = options.max_iterators;
    settings.iterator_idle = Duration::from_secs(options.iterator_idle);
    let service = NamingService::start(&orb, Measured(store), settings)?;
    let page = match options.page.zip(recorder) {
        Some((address, recorder)) => {
            let page = page::serve(service.clone(), &orb, address, recorder).await;
            let page = page.map_err(|error| {
                Failure::new(ExitStatus::NotListening, format!("{address}: {error}"))
            })?;
            format!(", page at http://{page}/")
        }
        None => String::new(),
    };
    if let Some(file) = &options.ior_file {
        let root = orb.object_to_string(service.root());
        write_whole(file, &format!("{root}\n"))?;
    }
    let url = orb.corbaloc_url(SERVICE_KEY)?;
    is_ready::<Options>(&format!("{url} {kept}{page}"));
    if let (Some(seconds), Some(file)) = (options.ping, &options.stale_file) {
        let pinging = ping(service.clone(), Duration::from_secs(seconds), file.clone());
        tokio::spawn(pinging);
    }
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        tokio::select! {
            () = signals.next() => break,
            _ = sweep.tick() => service.evict_idle_iterators(),
        }
    }
    notify("STOPPING=1");
    tokio::select! {
        () = end(&orb, service.store()) => {}
        () = signals.next() => {}
    }
    Ok(())
}

/// Asks all objects again and again whether they are there, and writes which are not.
async fn ping(service: NamingService<impl Store>, every: Duration, file: PathBuf) {
    let mut liveness = Liveness::default();
    let mut rounds = tokio::time::interval(every);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        if let Err(error) = liveness.ask(&service).await {
            tracing::warn!(%error, "objects cannot be asked whether they are there");
            continue;
        }
        let mut text = String::new();
        for (name, stale) in liveness.stale() {
            let since = stale.since.duration_since(UNIX_EPOCH).unwrap_or_default();
            let line = serde_json::json!({
                "name": name, "since": since.as_secs(), "is_gone": stale.is_gone, "why": stale.why,
            });
            text.push_str(&line.to_string());
            text.push('\n');
        }
        if let Err(error) = write_whole(&file, &text) {
            tracing::error!("{error}");
        }
    }
}

/// Ends in order: what was begun is done and answered, then the store is closed.
async fn end(orb: &Orb, store: &impl Store) {
    // It fails in upcalls alone.
    let _ = orb.shutdown(true).await;
    store.close().await;
}
