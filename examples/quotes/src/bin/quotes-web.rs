//! A page in front of `quotes-server`, and its operations as HTTP with JSON.
//!
//! ```text
//! cargo run -p quotes --bin quotes-web -- quotes/market.ior --http 127.0.0.1:8080
//! ```
//!
//! | request | operation | failures |
//! |---|---|---|
//! | `GET /quotes` | `last` | 503 if a repeated call may succeed, 504 for a passed time limit, 502 for the rest |
//! | `GET /quotes/SYMBOL?most=10` | `history` | also 404 for `UnknownSymbol` |
//! | `PUT /quotes/SYMBOL` with a number | `publish` | also 422 for `BadPrice` |
//! | `GET /events` | `watch`, as server-sent events | |
//! | `GET /health` | none | 503 as long as the market does not know this watcher |
//!
//! It starts without its market, and goes on when that comes back.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::{Json, Router, routing::get};
use clap::Parser;
use quotes::market::{HistoryError, PublishError};
use quotes::{MarketRef, Quote, SubscriptionRef, Watcher, WatcherServant};
use serde::Deserialize;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast;
use tokio_stream::{Stream, StreamExt, wrappers::BroadcastStream};
use zorb::{Interface, Orb, Retry, SystemException};

/// Prices that a browser may be behind.
const MAX_BEHIND: usize = 64;
/// How often the market is asked whether it still knows us.
const ASK: Duration = Duration::from_secs(2);

#[derive(Parser)]
struct Options {
    /// `IOR:…`, `corbaloc:…`, `corbaname:…`, or a file that holds one of them.
    market: String,
    /// Where browsers connect.
    #[arg(long, default_value = "127.0.0.1:8080")]
    http: SocketAddr,
}

/// What every request needs.
#[derive(Clone)]
struct Front {
    market: MarketRef,
    news: broadcast::Sender<Quote>,
    watches: Arc<AtomicBool>,
}

/// The servant that the market calls.
struct Relay(broadcast::Sender<Quote>);

impl Watcher for Relay {
    async fn changed(&self, news: &Quote) -> Result<(), SystemException> {
        // No browser is connected: no error.
        let _ = self.0.send(news.clone());
        Ok(())
    }
}

/// A failure as HTTP has it. Whether a call may be repeated is known from the exception.
struct Failure(StatusCode, String);

impl From<SystemException> for Failure {
    fn from(error: SystemException) -> Self {
        let status = match () {
            () if error.is_timeout() => StatusCode::GATEWAY_TIMEOUT,
            () if error.is_retryable() => StatusCode::SERVICE_UNAVAILABLE,
            () => StatusCode::BAD_GATEWAY,
        };
        tracing::warn!(%error, "the market fails");
        Self(status, error.to_string())
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::UnknownSymbol(it) => {
                Self(StatusCode::NOT_FOUND, format!("no symbol {}", it.symbol))
            }
            HistoryError::System(error) => error.into(),
            other => Self(StatusCode::BAD_GATEWAY, other.to_string()),
        }
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::BadPrice(it) => {
                let text = format!("{} is no price", it.price);
                Self(StatusCode::UNPROCESSABLE_ENTITY, text)
            }
            PublishError::System(error) => error.into(),
            other => Self(StatusCode::BAD_GATEWAY, other.to_string()),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.1 });
        (self.0, Json(body)).into_response()
    }
}

async fn last(State(front): State<Front>) -> Result<Json<Vec<Quote>>, Failure> {
    let found = Retry::new(3).call(|| front.market.last()).await?;
    Ok(Json(found))
}

#[derive(Deserialize)]
struct Most {
    #[serde(default = "ten")]
    most: u32,
}

fn ten() -> u32 {
    10
}

async fn history(
    State(front): State<Front>,
    Path(symbol): Path<String>,
    Query(Most { most }): Query<Most>,
) -> Result<Json<Vec<Quote>>, Failure> {
    let history = || front.market.history(&symbol, most);
    Ok(Json(Retry::new(3).call(history).await?))
}

async fn publish(
    State(front): State<Front>,
    Path(symbol): Path<String>,
    Json(price): Json<f64>,
) -> Result<StatusCode, Failure> {
    front.market.publish(&symbol, price).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn events(State(front): State<Front>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let news = BroadcastStream::new(front.news.subscribe());
    // A browser that is behind misses prices.
    let events = news.filter_map(|quote| {
        let event = Event::default().json_data(quote.ok()?);
        Some(Ok(event.ok()?))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

async fn health(State(front): State<Front>) -> StatusCode {
    match front.watches.load(Ordering::Relaxed) {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Has the market call the relay, again when it has forgotten that: subscriptions end with its process.
async fn watch(front: Front, relay: quotes::WatcherRef) {
    let mut subscription: Option<SubscriptionRef> = None;
    loop {
        let known = match &subscription {
            Some(known) => matches!(known.as_object().non_existent().await, Ok(false)),
            None => false,
        };
        if !known {
            subscription = match front.market.watch(&relay).await {
                Ok(subscription) => subscription,
                Err(error) => {
                    tracing::warn!(%error, "cannot watch the market");
                    None
                }
            };
        }
        let watches = subscription.is_some();
        if front.watches.swap(watches, Ordering::Relaxed) != watches {
            println!(
                "{}",
                if watches {
                    "watching"
                } else {
                    "the market is away"
                }
            );
        }
        tokio::time::sleep(ASK).await;
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    quotes::log();
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quotes-web: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb: Orb = quotes::client(&mut args).await?;
    let options = Options::parse_from(args);
    let front = Front {
        market: quotes::market(&orb, &options.market).await?,
        news: broadcast::channel(MAX_BEHIND).0,
        watches: Arc::default(),
    };
    let poa = orb.root_poa();
    let relay = poa.activate(WatcherServant::new(Relay(front.news.clone())))?;
    poa.the_poa_manager().activate()?;
    let watched = front.clone();
    let app = Router::new()
        .route("/", get(async || Html(include_str!("../page.html"))))
        .route("/quotes", get(last))
        .route("/quotes/{symbol}", get(history).put(publish))
        .route("/events", get(events))
        .route("/health", get(health))
        .with_state(front);
    let listener = tokio::net::TcpListener::bind(options.http).await?;
    println!("http://{}", listener.local_addr()?);
    let watching = tokio::spawn(watch(watched, relay));
    let mut terminate = signal(SignalKind::terminate())?;
    // Streams of events have no end of their own: the first signal ends the program, without waiting for browsers.
    tokio::select! {
        served = axum::serve(listener, app) => served?,
        _ = terminate.recv() => {}
        done = tokio::signal::ctrl_c() => done?,
    }
    watching.abort();
    orb.shutdown(true).await?;
    Ok(())
}
