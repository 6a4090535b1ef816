//! Contexts with more bindings than fit into a reply.

use crate::names::odd::{Odd, Overtaken, Raises};
use crate::names::world::{World, orb, with_each_service};
use crate::support::HANG;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use zorb::naming::{Bindings, NamingClient, NamingError};

with_each_service! {
    "list_1000": a_thousand_bindings_are_listed_whatever_the_batch;
}

async fn a_thousand_bindings_are_listed_whatever_the_batch(w: World) {
    let greeter = w.greeter("hello");
    let many = w.names.bind_new_context("many").await.unwrap();
    let mut expected = BTreeSet::new();
    for n in 0..999 {
        let bound = format!("object{n}.kind");
        many.bind(&bound, &greeter).await.unwrap();
        expected.insert((bound, false));
    }
    many.bind_new_context("context").await.unwrap();
    expected.insert(("context".to_owned(), true));
    for batch in [1, 7, 100, 999, 1_000, 5_000] {
        let found = all(many.list().in_batches_of(batch)).await;
        assert_eq!(found.len(), 1_000, "each once, in batches of {batch}");
        assert_eq!(BTreeSet::from_iter(found), expected);
    }
    // Left early, many times: the service goes on.
    for n in 0..200 {
        let mut bindings = many.list().in_batches_of(10);
        for _ in 0..n % 25 {
            assert!(bindings.next().await.unwrap().is_some());
        }
        if n % 2 == 0 {
            bindings.close().await;
        }
    }
    assert_eq!(all(many.list()).await.len(), 1_000);
    let nothing = w.names.bind_new_context("nothing").await.unwrap();
    assert_eq!(all(nothing.list()).await, []);
}

async fn all(mut bindings: Bindings) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    while let Some(binding) = bindings.next().await.unwrap() {
        found.push((binding.name.to_string(), binding.is_context()));
    }
    assert_eq!(bindings.next().await.unwrap(), None, "and no more");
    found
}

struct Listed {
    names: NamingClient,
    calls: UnboundedReceiver<(&'static str, usize)>,
    gate: Arc<Semaphore>,
}

/// A context with that many bindings whose server reports its calls, and lets that many calls pass.
async fn listed(bindings: u32, calls_let_pass: usize) -> Listed {
    let (calls_to, calls) = unbounded_channel();
    let gate = Arc::new(Semaphore::new(calls_let_pass));
    let odd = Odd {
        orb: orb().await,
        raises: Raises::InvalidName,
        bindings,
        calls: calls_to,
        gate: Arc::clone(&gate),
        overtaken: Overtaken::default(),
    };
    Listed {
        names: odd.serve(),
        calls,
        gate,
    }
}

impl Listed {
    async fn call(&mut self) -> (&'static str, usize) {
        let call = tokio::time::timeout(HANG, self.calls.recv()).await;
        call.expect("the server hears of it").expect("it listens")
    }
}

#[tokio::test]
async fn the_iterator_is_asked_in_batches_and_destroyed_at_the_end() {
    let mut l = listed(25, 100).await;
    assert_eq!(all(l.names.list().in_batches_of(10)).await.len(), 25);
    for expected in [
        ("list", 10),
        ("next_n", 10),
        ("next_n", 5),
        ("next_n", 0),
        ("destroy", 0),
    ] {
        assert_eq!(l.call().await, expected);
    }
    // All in the first reply: there is no iterator.
    assert_eq!(all(l.names.list()).await.len(), 25);
    assert_eq!(l.call().await, ("list", 25));
    assert!(l.calls.try_recv().is_err());
}

#[tokio::test]
async fn the_iterator_is_destroyed_when_the_listing_is_dropped_or_closed() {
    let mut l = listed(25, 100).await;
    let mut bindings = l.names.list().in_batches_of(10);
    assert!(bindings.next().await.unwrap().is_some());
    drop(bindings);
    assert_eq!(l.call().await, ("list", 10));
    assert_eq!(l.call().await, ("destroy", 0));

    let mut bindings = l.names.list().in_batches_of(0);
    assert!(bindings.next().await.unwrap().is_some());
    bindings.close().await;
    assert_eq!(l.call().await, ("list", 1));
    assert_eq!(
        l.calls.try_recv(),
        Ok(("destroy", 0)),
        "destroyed before close returns"
    );

    // Nothing was asked, so there is nothing to destroy.
    drop(l.names.list());
    l.names.list().close().await;
    assert!(l.calls.try_recv().is_err());
}

/// Polls once, without a waker.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn dropping_next_loses_no_binding_and_no_iterator() {
    let mut l = listed(25, 0).await;
    let mut bindings = l.names.list().in_batches_of(10);
    let mut found = Vec::new();
    while found.len() < 25 {
        // Asked, and dropped before there is an answer; at the end of a batch that is.
        if let Poll::Ready(next) = poll_once(bindings.next()) {
            found.push(next.unwrap().unwrap().name.to_string());
            continue;
        }
        l.gate.add_permits(1);
        found.push(bindings.next().await.unwrap().unwrap().name.to_string());
    }
    let expected: Vec<_> = (0..25).map(|n| format!("{n:04}")).collect();
    assert_eq!(found, expected);

    // Dropped during the call that makes the iterator, of which only its reply knows.
    let mut bindings = l.names.list().in_batches_of(10);
    assert!(poll_once(bindings.next()).is_pending());
    drop(bindings);
    l.gate.add_permits(1);
    while l.call().await != ("destroy", 0) {}
}

#[tokio::test]
async fn an_iterator_that_fails_ends_the_listing_with_an_error() {
    let l = listed(25, 1).await;
    let mut bindings = l.names.list().in_batches_of(10);
    for _ in 0..10 {
        assert!(bindings.next().await.unwrap().is_some());
    }
    l.gate.close();
    // The servant panics there.
    match bindings.next().await {
        Err(NamingError::System { exception, .. }) => {
            assert_eq!(exception.kind, zorb::SystemExceptionKind::Unknown);
        }
        other => panic!("expected UNKNOWN, found {other:?}"),
    }
    assert_eq!(bindings.next().await.unwrap(), None);
}
