//! The application of the book, [from IDL to production](../../../docs/book/index.md): what its programs share.
//!
//! - `quotes-server` keeps the prices and calls those who watch them;
//! - `quotes-client` publishes, shows and watches them;
//! - `quotes-web` shows them on a page, and gives them as JSON.

pub mod store;

use std::path::Path;
use std::time::Duration;
use zorb::Orb;
use zorb::policy::{BidirectionalPolicy, PolicyOverrides};

/// The code generated from `quotes.idl`.
#[zorb::idl_file("quotes.idl", derive("serde::Serialize"))]
mod idl {}

pub use idl::quotes::*;

/// What a client waits for a reply.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes the log to standard error: what `RUST_LOG` says, or warnings.
pub fn log() {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::Level::WARN.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
}

/// Makes the ORB of a client, which takes its `-ORB…` options out of `args`. It listens nowhere: the market calls its watchers on
/// the connection that the client has opened, so that callbacks reach clients behind a NAT.
///
/// # Errors
/// An option is wrong.
pub async fn client(args: &mut Vec<String>) -> Result<Orb, zorb::Error> {
    let both = PolicyOverrides::new().bidirectional(BidirectionalPolicy::Both);
    let orb = Orb::builder()
        .policies(&both)
        .round_trip_timeout(PATIENCE)
        .env()
        .args(args)
        .build()
        .await?;
    orb.root_poa()
        .set_bidirectional_policy(BidirectionalPolicy::Both);
    Ok(orb)
}

/// The market at an object URL, or in a file that holds one. It is not called yet: a program can start before its market.
///
/// # Errors
/// The file cannot be read, or there is no URL.
pub async fn market(orb: &Orb, place: &str) -> Result<MarketRef, Box<dyn std::error::Error>> {
    let url = match Path::new(place).exists() {
        true => format!("file://{}", std::path::absolute(place)?.display()),
        false => place.to_owned(),
    };
    let object = orb.string_to_object(&url).await?;
    Ok(object.unchecked_narrow())
}
