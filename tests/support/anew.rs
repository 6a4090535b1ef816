//! Servers that come back where they were.

use std::time::Instant;
use zorb::{Builder, Orb};

use crate::support::HANG;

/// Any port of an address that no other process of tests has: one that is free for a moment, between two lives of a
/// server, is not taken there by somebody else.
pub(crate) fn anywhere() -> String {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    // 127.0.0.1 is everybody's.
    format!("iiop://127.{}.{middle}.{low}:0", high | 0x40)
}

/// An ORB, as soon as nobody listens where it is to listen. A process that another test is just starting has all our
/// descriptors, of an earlier life's listener too, until it runs its program; and the acceptor of an ORB that was dropped is
/// a task, which ends when it has its turn.
pub(crate) async fn listening(builder: impl Fn() -> Builder) -> Orb {
    // No timer: the clock of some tests stands still.
    let started = Instant::now();
    loop {
        match builder().build().await {
            Ok(orb) => return orb,
            Err(error)
                if error.to_string().contains("Address already in use")
                    && started.elapsed() < HANG =>
            {
                tokio::task::yield_now().await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}
