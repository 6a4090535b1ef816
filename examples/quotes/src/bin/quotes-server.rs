//! The market: keeps prices in a folder, and calls those who watch them.
//!
//! ```text
//! cargo run -p quotes --bin quotes-server -- --data quotes
//! ```
//!
//! You should see where it listens, and that `quotes/market.ior` is written. It listens at the same endpoint in every run
//! (`-ORBListenEndpoints iiop://127.0.0.1:2812` unless you say another), and its reference is the same, so that clients go on
//! when it comes back. Ctrl-C, or SIGTERM, ends it in order; `kill -9` loses no price that was acknowledged.
//!
//! With `--metrics 127.0.0.1:9464` Prometheus reads its metrics at `http://127.0.0.1:9464/metrics`.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use axum::http::header::CONTENT_TYPE;
use axum::{Router, routing::get};
use clap::Parser;
use metrics_exporter_prometheus::PrometheusBuilder;
use quotes::store::Store;
use quotes::{
    BadPrice, Market, MarketRef, MarketServant, Quote, Subscription, SubscriptionRef,
    SubscriptionServant, UnknownSymbol, WatcherRef,
    market::{HistoryError, PublishError},
};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::sync::broadcast::{self, error::RecvError};
use zorb::{Interface, Orb, Poa, Policies, SystemException};

/// Prices that a watcher may be behind. Who is further behind misses the oldest.
const MAX_BEHIND: usize = 64;
/// How long a watcher may take to hear a price.
const PATIENCE: Duration = Duration::from_secs(5);
/// Watchers at a time.
const MAX_WATCHERS: usize = 10_000;
/// Prices that one call of `history` gives at most.
const MAX_HISTORY: usize = 10_000;
/// The times by which operations are sorted, in seconds.
const BUCKETS: [f64; 6] = [0.000_1, 0.001, 0.01, 0.1, 1.0, 10.0];
/// How often what was measured is put in order, so that it takes no more room where nobody reads it.
const UPKEEP: Duration = Duration::from_secs(5);
/// How long upcalls may take when the server ends; some watch for ever.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(20);

#[derive(Parser)]
struct Options {
    /// The folder of the prices; the reference goes there too, as `market.ior`.
    #[arg(long)]
    data: PathBuf,
    /// Offer metrics at this address, as Prometheus reads them.
    #[arg(long)]
    metrics: Option<SocketAddr>,
}

/// The servant of the market.
struct Exchange {
    store: Arc<Store>,
    news: broadcast::Sender<Quote>,
    poa: Poa,
}

impl Exchange {
    /// Reads or writes the store on a thread that may block.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, redb::Error> + Send + 'static,
    ) -> Result<T, SystemException> {
        let store = Arc::clone(&self.store);
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        let done = done.map_err(SystemException::internal)?;
        done.map_err(|error| {
            // What the disk says is no client's business.
            tracing::error!(%error, "the store fails");
            SystemException::persist_store("the store fails")
        })
    }
}

impl Market for Exchange {
    async fn last(&self) -> Result<Vec<Quote>, SystemException> {
        self.on_disk(Store::last).await
    }

    async fn history(&self, symbol: &str, most: u32) -> Result<Vec<Quote>, HistoryError> {
        let name = symbol.to_owned();
        // The client names a number, the server its limit.
        let most = usize::try_from(most).unwrap_or(MAX_HISTORY);
        let most = most.clamp(1, MAX_HISTORY);
        let found = self.on_disk(move |store| store.history(&name, most));
        let found = found.await?;
        if found.is_empty() {
            let symbol = symbol.to_owned();
            return Err(UnknownSymbol { symbol }.into());
        }
        Ok(found)
    }

    async fn publish(&self, symbol: &str, price: f64) -> Result<(), PublishError> {
        if !(price.is_finite() && price > 0.0) {
            return Err(BadPrice { price }.into());
        }
        let name = symbol.to_owned();
        let added = self.on_disk(move |store| store.add(&name, price));
        let quote = added.await?;
        // Nobody watches: no error.
        let _ = self.news.send(quote);
        Ok(())
    }

    async fn watch(
        &self,
        who: Option<WatcherRef>,
    ) -> Result<Option<SubscriptionRef>, SystemException> {
        // Any reference in IDL may be nil.
        let watcher = who.ok_or_else(|| SystemException::bad_param("a watcher is needed"))?;
        if self.news.receiver_count() >= MAX_WATCHERS {
            return Err(SystemException::no_resources("too many watchers"));
        }
        let watcher = watcher.with_round_trip_timeout(PATIENCE);
        let news = self.news.subscribe();
        let cancelled = Arc::new(Notify::new());
        let ticket = SubscriptionServant::new(Ticket(Arc::clone(&cancelled)));
        let subscription = self.poa.activate(ticket)?;
        let (poa, active) = (self.poa.clone(), subscription.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = deliver(watcher, news) => {}
                () = cancelled.notified() => {}
            }
            // It may be gone already: the ORB is shutting down.
            let _ = poa.deactivate_object(&active);
        });
        Ok(Some(subscription))
    }
}

/// Tells one watcher the prices, one after the other, until it cannot be called.
async fn deliver(watcher: WatcherRef, mut news: broadcast::Receiver<Quote>) {
    loop {
        let quote = match news.recv().await {
            Ok(quote) => quote,
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "a watcher is behind");
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        // No answer in time, no connection, no such object any more: the exception says which.
        if let Err(error) = watcher.changed(&quote).await {
            println!("a watcher is dropped: {error:#}");
            return;
        }
    }
}

/// The servant of one subscription.
struct Ticket(Arc<Notify>);

impl Subscription for Ticket {
    async fn cancel(&self) -> Result<(), SystemException> {
        self.0.notify_one();
        Ok(())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    quotes::log();
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quotes-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:2812")
        // Watchers are called on the connections that their programs have opened.
        .accept_bidirectional(|_client, _endpoint| true)
        // For the recorder of the metrics, if there is one.
        .metrics(true)
        .env()
        .args(&mut args)
        .build()
        .await?;
    // The ORB has taken its `-ORB…` options out; the rest is ours.
    let options = Options::parse_from(args);
    std::fs::create_dir_all(&options.data)?;
    let store = Store::open(&options.data.join("prices.redb"))
        .map_err(|error| format!("{}: {error}", options.data.display()))?;

    if let Some(address) = options.metrics {
        offer_metrics(&orb, address).await?;
    }

    let root = orb.root_poa();
    let manager = root.the_poa_manager();
    let exchange = Exchange {
        store: Arc::new(store),
        news: broadcast::channel(MAX_BEHIND).0,
        // Subscriptions end with the process, as the references of the root POA do.
        poa: root.clone(),
    };
    let markets = root.create_poa_with("markets", Policies::PERSISTENT, Some(manager))?;
    let market: MarketRef =
        markets.activate_object_with_id("main", MarketServant::new(exchange))?;
    let health = orb.serve_health()?;
    manager.activate()?;
    for endpoint in orb.endpoints() {
        println!("listening on {endpoint}");
    }
    // Last: a client that finds the file finds everything in place.
    let file = options.data.join("market.ior");
    write_whole(&file, &orb.object_to_string(&market))?;
    println!("reference written to {}", file.display());

    health.set(true);
    let mut terminate = signal(SignalKind::terminate())?;
    let stopped = async {
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            done = tokio::signal::ctrl_c() => done,
        }
    };
    tokio::select! {
        done = stopped => done?,
        () = orb.run() => {}
    }
    let report = orb.shutdown_within(SHUTDOWN_LIMIT).await?;
    println!("the market is closed");
    if report.upcalls_dropped + report.upcalls_left > 0 {
        eprintln!("not finished: {report:?}");
    }
    Ok(())
}

/// Has Prometheus read the metrics of the process, and those of its ORB as they are then.
async fn offer_metrics(orb: &Orb, address: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    let recorder = PrometheusBuilder::new().set_buckets(&BUCKETS)?;
    let recorder = recorder.install_recorder()?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("metrics at http://{}/metrics", listener.local_addr()?);
    let (orb, upkeep) = (orb.clone(), recorder.clone());
    let page = move || {
        orb.publish_metrics();
        let text = recorder.render();
        async { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
    };
    let app = Router::new().route("/metrics", get(page));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, app).await {
            tracing::error!(%error, "metrics are no longer offered");
        }
    });
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            upkeep.run_upkeep();
        }
    });
    Ok(())
}

/// Writes a file that is read whole or not at all.
fn write_whole(file: &Path, text: &str) -> Result<(), String> {
    let new = file.with_extension("tmp");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(|cause| format!("cannot write {}: {cause}", file.display()))
}
