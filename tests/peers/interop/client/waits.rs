//! Cells about calls that wait, are given up, or run at the same time.

use super::data_cells::echo;
use super::{World, raised};
use crate::interop::rules::digest;
use crate::interop::samples::{Dice, Sample};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use zorb::{CompletionStatus, Interface, SystemExceptionKind as Kind};

pub(super) async fn oneways(w: Arc<World>) {
    let mut total = 0u64;
    for (id, text) in (0..60).zip(["first", "", "Third"].into_iter().cycle()) {
        w.peer.note(id, text).await.unwrap();
        total = total.wrapping_add(digest!(id, text));
    }
    let mut d = Dice(13);
    for n in [0, 1, 1000, 100_000] {
        let octets = d.octets(n);
        w.peer.note_octets(&octets).await.unwrap();
        total = total.wrapping_add(digest!(octets));
    }
    assert_eq!(w.peer.notes(64).await.unwrap(), total);
    assert_eq!(w.peer.notes(0).await.unwrap(), 0);
}

/// Three calls wait, on the one connection that the fourth comes by.
pub(super) async fn gates(w: Arc<World>) {
    let mut waiting = JoinSet::new();
    for _ in 0..3 {
        let peer = w.peer.clone();
        waiting.spawn(async move { peer.wait("gate").await.unwrap() });
    }
    assert_eq!(w.peer.open("gate", 3).await.unwrap(), 3);
    assert_eq!(waiting.join_all().await, [true; 3]);
    assert_eq!(w.peer.waiting("gate").await.unwrap(), 0);
}

pub(super) async fn timeout(w: Arc<World>) {
    let hasty = w.peer.with_round_trip_timeout(Duration::from_millis(200));
    raised(
        hasty.wait("timeout").await,
        Kind::Timeout,
        CompletionStatus::Maybe,
    );
    w.peer.nothing().await.unwrap();
    assert_eq!(w.peer.open("timeout", 1).await.unwrap(), 1);
}

/// A call that is dropped while the server works on it harms neither the connection nor others.
pub(super) async fn cancel(w: Arc<World>) {
    for round in 0..3 {
        let peer = w.peer.clone();
        let call = tokio::spawn(async move { peer.wait("cancel").await });
        // It has arrived when the server counts it.
        while w.peer.waiting("cancel").await.unwrap() == 0 {}
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        echo!(w.echo_long(round, !round));
        assert_eq!(w.peer.open("cancel", 1).await.unwrap(), 1);
        echo!(w.echo_long(round, !round));
    }
}

pub(super) async fn concurrent(w: Arc<World>) {
    let mut callers = JoinSet::new();
    for caller in 0..8 {
        let w = Arc::clone(&w);
        callers.spawn(async move {
            let mut d = Dice(100 + caller as u64);
            for round in 0..w.enough(40) {
                let (a, b) = (
                    d.many(round % 7, Sample::sample),
                    d.many(caller, Sample::sample),
                );
                echo!(w.echo_outers(&a, &b));
                echo!(w.echo_string(&d.word(50), &d.word(500)));
            }
        });
    }
    callers.join_all().await;
}
