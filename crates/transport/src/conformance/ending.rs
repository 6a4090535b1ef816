//! Checks of the end of a connection.
use std::{
    future::poll_fn,
    io::{self, IoSlice},
    sync::{Arc, mpsc},
};

use bytes::BytesMut;
use tokio::task::{spawn, spawn_blocking};

use super::{Fixture, connected, pattern, read, read_to_end, write_all};
use crate::Connection;

pub async fn the_end_of_the_stream_is_said_again_and_again(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    write_all(&*client, b"last words")
        .await
        .expect("a writable connection");
    client.shutdown_write().expect("an open connection");
    assert_eq!(read_to_end(&*server).await, b"last words");
    for _ in 0..3 {
        assert_eq!(
            read(&*server, &mut BytesMut::with_capacity(8))
                .await
                .expect("the end"),
            0
        );
    }
}

pub async fn a_half_closed_connection_still_carries_the_answer(fixture: &dyn Fixture) {
    let large = fixture.large();
    let (client, server) = connected(fixture).await;
    write_all(&*client, b"question")
        .await
        .expect("a writable connection");
    client.shutdown_write().expect("an open connection");
    let error = client
        .try_write(&[IoSlice::new(b"x")])
        .expect_err("writing is over");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(read_to_end(&*server).await, b"question");
    let answer = spawn(async move { read_to_end(&*client).await });
    write_all(&*server, &pattern(3, large))
        .await
        .expect("a writable connection");
    drop(server);
    let answer = answer.await.expect("a reader");
    assert!(answer == pattern(3, large), "every octet, in order");
}

pub async fn a_dropped_connection_is_the_peers_end_of_stream(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    write_all(&*client, b"bye")
        .await
        .expect("a writable connection");
    assert!(!server.is_closed_by_peer(), "it is there");
    drop(client);
    assert_eq!(read_to_end(&*server).await, b"bye");
}

pub async fn closing_wakes_the_waiting_reader(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    let client: Arc<dyn Connection> = client.into();
    let (waiting, waits) = mpsc::channel();
    let reader = {
        let client = Arc::clone(&client);
        spawn(async move {
            let mut octets = BytesMut::with_capacity(8);
            poll_fn(|cx| {
                let poll = client.poll_read(cx, &mut octets);
                let _ = waiting.send(poll.is_pending());
                poll
            })
            .await
        })
    };
    let waits = spawn_blocking(move || waits.recv())
        .await
        .expect("a thread");
    assert_eq!(waits, Ok(true), "there is nothing to read");
    client.close();
    client.close();
    assert_eq!(
        reader
            .await
            .expect("a reader")
            .expect("an end of the stream"),
        0
    );
    assert_eq!(read_to_end(&*server).await, b"");
}

pub async fn closing_wakes_the_waiting_writer(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    let client: Arc<dyn Connection> = client.into();
    let (full, is_full) = mpsc::channel();
    let writer = {
        let client = Arc::clone(&client);
        spawn(async move {
            loop {
                match client.try_write(&[IoSlice::new(&[0; 4096])]) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        let _ = full.send(());
                        poll_fn(|cx| client.poll_write_ready(cx))
                            .await
                            .expect("a wait");
                    }
                    Err(error) => return error.kind(),
                }
            }
        })
    };
    spawn_blocking(move || is_full.recv())
        .await
        .expect("a thread")
        .expect("a writer that gets stuck");
    client.close();
    assert_eq!(writer.await.expect("a writer"), io::ErrorKind::BrokenPipe);
    drop(server);
}

pub async fn writing_to_a_closed_peer_is_an_error(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    drop(server);
    // Octets are taken until the peer's machine refuses them, sooner or later.
    let error = loop {
        if let Err(error) = write_all(&*client, &[0; 64]).await {
            break error;
        }
    };
    let gone = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
    assert!(
        gone.contains(&error.kind()),
        "expected one of {gone:?}, found {error}"
    );
}
