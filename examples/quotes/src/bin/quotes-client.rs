//! The client of `quotes-server`: publishes, shows and watches prices.
//!
//! ```text
//! cargo run -p quotes --bin quotes-client -- quotes/market.ior publish ZRB 12.5
//! cargo run -p quotes --bin quotes-client -- quotes/market.ior last
//! cargo run -p quotes --bin quotes-client -- quotes/market.ior history ZRB
//! cargo run -p quotes --bin quotes-client -- quotes/market.ior watch       # until Ctrl-C
//! ```
//!
//! The exit status is 1 if a call fails.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::{Parser, Subcommand};
use quotes::{MarketRef, Quote, Watcher, WatcherServant};
use std::process::ExitCode;
use zorb::{Orb, Retry, SystemException};

#[derive(Parser)]
struct Options {
    /// `IOR:…`, `corbaloc:…`, `corbaname:…`, or a file that holds one of them.
    market: String,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Set the price of a symbol.
    Publish { symbol: String, price: f64 },
    /// Show the last price of each symbol.
    Last,
    /// Show the prices of a symbol, the newest first.
    History {
        symbol: String,
        #[arg(long, default_value_t = 10)]
        most: u32,
    },
    /// Show every price from now on, until Ctrl-C.
    Watch,
}

/// The servant that the market calls.
struct Screen;

impl Watcher for Screen {
    async fn changed(&self, news: &Quote) -> Result<(), SystemException> {
        show(news);
        Ok(())
    }
}

fn show(quote: &Quote) {
    println!("{:8} {:>10.2}", quote.symbol, quote.price);
}

#[tokio::main]
async fn main() -> ExitCode {
    quotes::log();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quotes-client: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = quotes::client(&mut args).await?;
    let options = Options::parse_from(args);
    let market = quotes::market(&orb, &options.market).await?;
    match options.what {
        // Not repeated if it may have run: then the caller has to look.
        What::Publish { symbol, price } => market.publish(&symbol, price).await?,
        // A market that is starting again is TRANSIENT for a moment.
        What::Last => Retry::new(5)
            .call(|| market.last())
            .await?
            .iter()
            .for_each(show),
        What::History { symbol, most } => {
            let found = Retry::new(5).call(|| market.history(&symbol, most)).await?;
            found.iter().for_each(show);
        }
        What::Watch => watch(&orb, &market).await?,
    }
    orb.shutdown(true).await?;
    Ok(())
}

async fn watch(orb: &Orb, market: &MarketRef) -> Result<(), Box<dyn std::error::Error>> {
    let poa = orb.root_poa();
    let screen = poa.activate(WatcherServant::new(Screen))?;
    poa.the_poa_manager().activate()?;
    let subscription = market.watch(&screen).await?;
    println!("watching");
    tokio::signal::ctrl_c().await?;
    if let Some(subscription) = subscription {
        subscription.cancel().await?;
    }
    Ok(())
}
