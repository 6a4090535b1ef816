//! Checks of listening and connecting.
use std::{future::poll_fn, io, sync::mpsc};

use tokio::task::{spawn, spawn_blocking};

use super::{Fixture, accept, connected, listening, read_exactly, read_to_end, write_all};
use crate::{Delivery, Endpoint, Operation};

pub async fn waiting_to_accept_is_ended_by_a_peer(fixture: &dyn Fixture) {
    let (transport, listener) = listening(fixture).await;
    let endpoint = listener.endpoint().clone();
    let (waiting, waits) = mpsc::channel();
    let acceptor = spawn(async move {
        poll_fn(|cx| {
            let poll = listener.poll_accept(cx);
            let _ = waiting.send(poll.is_pending());
            poll
        })
        .await
    });
    let waits = spawn_blocking(move || waits.recv())
        .await
        .expect("a thread");
    assert_eq!(waits, Ok(true), "no connection is waiting");
    let client = transport.connect(&endpoint).await.expect("a connection");
    let server = acceptor.await.expect("an acceptor").expect("a peer");
    write_all(&*client, b"x")
        .await
        .expect("a writable connection");
    assert_eq!(read_exactly(&*server, 1).await, b"x");
}

pub async fn peers_wait_in_the_queue_until_they_are_accepted(fixture: &dyn Fixture) {
    let (transport, listener) = listening(fixture).await;
    let mut clients = Vec::new();
    for number in 0..64 {
        let client = transport
            .connect(listener.endpoint())
            .await
            .expect("a connection");
        write_all(&*client, &[number])
            .await
            .expect("a writable connection");
        clients.push(client);
    }
    let mut heard = Vec::new();
    for _ in 0..64 {
        heard.extend(read_exactly(&*accept(&*listener).await, 1).await);
    }
    heard.sort_unstable();
    assert_eq!(heard, (0..64).collect::<Vec<_>>());
}

pub async fn a_peer_that_left_before_it_was_accepted_does_no_harm(fixture: &dyn Fixture) {
    let (transport, listener) = listening(fixture).await;
    drop(
        transport
            .connect(listener.endpoint())
            .await
            .expect("a connection"),
    );
    let client = transport
        .connect(listener.endpoint())
        .await
        .expect("a connection");
    write_all(&*client, b"still here")
        .await
        .expect("a writable connection");
    client.shutdown_write().expect("an open connection");
    // The first connection may appear as one that ends at once, or not at all.
    while read_to_end(&*accept(&*listener).await).await != b"still here" {}
}

pub async fn a_listener_reports_where_it_really_listens(fixture: &dyn Fixture) {
    let (transport, listener) = listening(fixture).await;
    let endpoint = listener.endpoint().clone();
    assert_ne!(endpoint.port(), Some(0), "the port that was given");
    assert_eq!(endpoint.scheme(), transport.scheme());
    let client = transport.connect(&endpoint).await.expect("a connection");
    let server = accept(&*listener).await;
    assert_eq!(client.peer(), server.local(), "both ends call it the same");
    assert_eq!(client.peer().to_string(), endpoint.to_string());
    assert_eq!(server.peer(), client.local());
    assert_eq!(client.capabilities(), transport.capabilities());
    assert_eq!(server.capabilities(), transport.capabilities());
    assert_eq!(
        client.capabilities().delivery(),
        Delivery::Stream,
        "what these checks are made for"
    );
}

pub async fn an_accepted_connection_outlives_its_listener(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    write_all(&*server, b"x")
        .await
        .expect("a writable connection");
    assert_eq!(read_exactly(&*client, 1).await, b"x");
}

pub async fn a_dropped_listener_refuses(fixture: &dyn Fixture) {
    let (transport, listener) = listening(fixture).await;
    let endpoint = listener.endpoint().clone();
    drop(listener);
    let error = transport.connect(&endpoint).await.expect_err("no listener");
    // A transport without a network below it that answers, such as ATM, may time out as if there had been no listener.
    let (_, unreachable) = fixture.unreachable();
    let gone = [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::NotFound,
        unreachable,
    ];
    assert!(
        gone.contains(&error.kind()),
        "expected one of {gone:?}, found {error}"
    );
}

pub async fn an_endpoint_in_use_is_refused_to_a_second_listener(fixture: &dyn Fixture) {
    let (transport, listener) = listening(fixture).await;
    let error = transport
        .listen(listener.endpoint())
        .await
        .expect_err("it is taken");
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    assert_eq!(error.operation(), Operation::Listen);
    assert_eq!(error.endpoint(), listener.endpoint());
    // The first listener works on.
    let client = transport
        .connect(listener.endpoint())
        .await
        .expect("a connection");
    write_all(&*client, b"x")
        .await
        .expect("a writable connection");
    client.shutdown_write().expect("an open connection");
    while read_to_end(&*accept(&*listener).await).await != b"x" {}
}

pub async fn a_refused_connection_names_the_endpoint_and_the_cause(fixture: &dyn Fixture) {
    let (endpoint, kind) = fixture.unreachable();
    let error = fixture
        .transport()
        .connect(&endpoint)
        .await
        .expect_err("no listener");
    assert_eq!(error.kind(), kind);
    assert_eq!(error.operation(), Operation::Connect);
    assert_eq!(error.to_string(), format!("cannot connect to {endpoint}"));
}

pub async fn an_endpoint_of_another_scheme_is_an_error(fixture: &dyn Fixture) {
    let transport = fixture.transport();
    for other in [Endpoint::iiop("127.0.0.1", 1), Endpoint::uiop("/nowhere")] {
        if other.scheme() != transport.scheme() {
            let error = transport.connect(&other).await.expect_err("not ours");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            let error = transport.listen(&other).await.expect_err("not ours");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
