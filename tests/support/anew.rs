//! Servers that come back where they were.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use zorb::{Builder, Orb};

use crate::support::HANG;

/// A free port of an address that no other test uses: neither one of this process nor one of another process. The port
/// stays free between two lives of a server.
pub(crate) fn anywhere() -> String {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    // 11 bits of the process and 12 of the call fill 127.128.0.0/9; the tests of everything else listen on 127.0.0.1.
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let place = (std::process::id() & 0x7ff) << 12 | call & 0xfff;
    let [_, high, middle, low] = place.to_be_bytes();
    format!("iiop://127.{}.{middle}.{low}:0", high | 0x80)
}

/// An ORB, as soon as its endpoint is free. A process that another test is just starting has all our
/// descriptors, of an earlier run's listener too, until it runs its program; and the acceptor of an ORB that was dropped is
/// a task, which ends when it has its turn.
pub(crate) async fn listening(builder: impl Fn() -> Builder) -> Orb {
    // No timer: the clock of some tests stands still.
    let started = Instant::now();
    loop {
        match builder().build().await {
            Ok(orb) => return orb,
            Err(error)
                if format!("{error:#}").contains("Address already in use")
                    && started.elapsed() < HANG =>
            {
                tokio::task::yield_now().await;
            }
            Err(error) => panic!("{error:#}"),
        }
    }
}
