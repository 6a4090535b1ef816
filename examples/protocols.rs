//! One application, moved from TCP to UNIX sockets, to GIOPlite and to ATM by configuration only.
//!
//! Run it with `cargo run --example protocols`. You should see a line for each protocol in `protocols/endpoints.conf`: where the
//! server listens, how long a small call and one with 64 KiB take there and back (medians, unoptimised as examples are), and an
//! error that says what is missing where this kernel has no ATM. Another file is an argument:
//! `cargo run --example protocols -- mine.conf`.
//!
//! `protocols/weather.rs` is the application, which names no protocol. The transports are registered here, once; what is
//! configured are options of the ORB (`-ORBListenEndpoints`, `-ORBTransportProperty`, …).

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "protocols/weather.rs"]
mod weather;

use std::process::ExitCode;
use std::sync::Arc;
use zorb::{Builder, Orb};
use zorb_atm::Atm;
use zorb_giop_lite::GiopLite;

const CONFIGURATION: &str = include_str!("protocols/endpoints.conf");

#[tokio::main]
async fn main() -> ExitCode {
    let text = match std::env::args().nth(1) {
        None => CONFIGURATION.to_owned(),
        Some(file) => match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("protocols: cannot read {file}: {error:#}");
                return ExitCode::FAILURE;
            }
        },
    };
    for line in text.lines() {
        // Its name, and the options of the server.
        let Some((name, options)) = line.split_once(": ").filter(|_| !line.starts_with('#')) else {
            continue;
        };
        match weather::observe(builder, options).await {
            Ok(seen) => println!("{name}: {seen}"),
            Err(error) => println!("{name}: {error:#}"),
        }
    }
    ExitCode::SUCCESS
}

/// An ORB with every transport that a configuration may name.
fn builder() -> Builder {
    Orb::builder()
        .transport(Arc::new(GiopLite::over_tcp()))
        .transport(Arc::new(GiopLite::over_unix()))
        .transport(Arc::new(Atm::default()))
}
