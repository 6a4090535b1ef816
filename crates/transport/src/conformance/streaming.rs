//! Checks of order and completeness of octets, and of wake-ups.
use std::{
    future::poll_fn,
    io::{self, IoSlice},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
};

use bytes::BytesMut;
use tokio::{
    runtime::Builder,
    task::{spawn, spawn_blocking, yield_now},
};

use super::{
    BLOCK, Fixture, connected, pattern, read, read_exactly, read_to_end, write_all, write_some,
};
use crate::Connection;

pub async fn octets_come_back_as_they_were_sent(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    let echo = spawn(async move {
        let mut octets = BytesMut::with_capacity(64);
        while read(&*server, &mut octets)
            .await
            .expect("a readable connection")
            > 0
        {
            write_all(&*server, &octets)
                .await
                .expect("a writable connection");
            octets.clear();
            octets.reserve(64);
        }
    });
    let client: Arc<dyn Connection> = client.into();
    for length in [1, 2, 63, 64, 65, 1_000, 10_000] {
        // A task of its own writes, since the echo stops while its output is not read.
        let writer = Arc::clone(&client);
        let writer = spawn(async move { write_all(&*writer, &pattern(0, length)).await });
        assert_eq!(read_exactly(&*client, length).await, pattern(0, length));
        writer
            .await
            .expect("a writer")
            .expect("a writable connection");
    }
    client.shutdown_write().expect("an open connection");
    echo.await.expect("an echo that ends with the stream");
}

pub async fn a_write_of_many_chunks_keeps_their_order(fixture: &dyn Fixture) {
    // More chunks than one system call takes, some of them empty, of many lengths.
    let (client, server) = connected(fixture).await;
    let sent = pattern(0, 20_000);
    let mut chunks = Vec::new();
    let mut rest = &sent[..];
    for length in (0..7).cycle() {
        let (chunk, tail) = rest.split_at(rest.len().min(length));
        chunks.push(IoSlice::new(chunk));
        rest = tail;
        if rest.is_empty() {
            break;
        }
    }
    assert!(chunks.len() > 5_000, "the check is about very many chunks");
    let reader = spawn(async move { read_exactly(&*server, 20_000).await });
    let mut chunks = &mut chunks[..];
    while !chunks.is_empty() {
        let taken = write_some(&*client, chunks)
            .await
            .expect("a writable connection");
        assert!(taken > 0, "at least one octet of a chunk that is not empty");
        IoSlice::advance_slices(&mut chunks, taken);
    }
    assert_eq!(reader.await.expect("a reader"), sent);
}

pub async fn a_write_of_nothing_takes_nothing(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    assert_eq!(client.try_write(&[]).expect("nothing to write"), 0);
    assert_eq!(
        client
            .try_write(&[IoSlice::new(b""), IoSlice::new(b"")])
            .expect("nothing to write"),
        0
    );
    write_all(&*client, b"x")
        .await
        .expect("a writable connection");
    assert_eq!(read_exactly(&*server, 1).await, b"x");
}

pub async fn a_full_connection_says_would_block_and_becomes_writable_when_the_peer_reads(
    fixture: &dyn Fixture,
) {
    let large = fixture.large();
    let (client, server) = connected(fixture).await;
    let (full, is_full) = mpsc::channel();
    let writer = spawn(async move {
        let mut written = 0;
        let mut stuck = false;
        // Writes as much as the kernel takes, and then some more.
        let mut end = usize::MAX;
        while written < end {
            let block = pattern(written, BLOCK.min(end - written));
            match client.try_write(&[IoSlice::new(&block)]) {
                Ok(taken) => written += taken,
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    if !stuck {
                        stuck = true;
                        end = written + large;
                        full.send(()).expect("a reader that waits for this");
                    }
                    poll_fn(|cx| client.poll_write_ready(cx))
                        .await
                        .expect("a wait");
                }
            }
        }
        written
    });
    // No octet is read before the writer is stuck, so it has to get stuck.
    spawn_blocking(move || is_full.recv())
        .await
        .expect("a thread")
        .expect("a writer that gets stuck");
    let received = read_to_end(&*server).await;
    let written = writer.await.expect("a writer");
    assert!(written > large, "some of it fitted at first");
    assert!(received == pattern(0, written), "every octet, in order");
}

pub async fn both_directions_carry_megabytes_at_the_same_time(fixture: &dyn Fixture) {
    let large = fixture.large();
    let (client, server) = connected(fixture).await;
    let (client, server): (Arc<dyn Connection>, Arc<dyn Connection>) =
        (client.into(), server.into());
    let mut tasks = Vec::new();
    for (seed, writer, reader) in [(1, &client, &server), (2, &server, &client)] {
        let (writer, reader) = (Arc::clone(writer), Arc::clone(reader));
        tasks.push(spawn(async move {
            write_all(&*writer, &pattern(seed, large))
                .await
                .expect("a writable connection");
            writer.shutdown_write().expect("an open connection");
        }));
        tasks.push(spawn(async move {
            let received = read_to_end(&*reader).await;
            assert!(received == pattern(seed, large), "every octet, in order");
        }));
    }
    for task in tasks {
        task.await.expect("both ends get through");
    }
}

pub async fn tiny_reads_see_every_octet_once(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    let sent = pattern(0, 5_000);
    let writer = {
        let sent = sent.clone();
        spawn(async move {
            // The writes have other lengths than the reads, so that both meet at every phase.
            for chunk in sent.chunks(11) {
                write_all(&*client, chunk)
                    .await
                    .expect("a writable connection");
                yield_now().await;
            }
        })
    };
    let mut received = Vec::new();
    for room in (1..8).cycle() {
        let mut octets = BytesMut::with_capacity(room);
        let count = read(&*server, &mut octets)
            .await
            .expect("a readable connection");
        assert_eq!(count, octets.len());
        received.extend_from_slice(&octets);
        if count == 0 {
            break;
        }
    }
    writer.await.expect("a writer");
    assert_eq!(received, sent);
}

pub async fn a_long_conversation_loses_no_wake_up(fixture: &dyn Fixture) {
    // Each side answers at once, so events come just when the other clears its readiness.
    let (client, server) = connected(fixture).await;
    let turns = fixture.turns();
    let server = spawn(async move { converse(&*server, false, turns).await });
    converse(&*client, true, turns).await;
    server.await.expect("a server that heard every question");
}

pub async fn reading_keeps_what_the_buffer_held(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    write_all(&*client, b"body")
        .await
        .expect("a writable connection");
    let mut octets = BytesMut::with_capacity(64);
    octets.extend_from_slice(b"head ");
    while octets.len() < 9 {
        read(&*server, &mut octets)
            .await
            .expect("a readable connection");
    }
    assert_eq!(&octets[..], b"head body");
}

pub async fn a_full_buffer_is_not_the_end_of_the_stream(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    write_all(&*client, b"x")
        .await
        .expect("a writable connection");
    let error = read(&*server, &mut BytesMut::new())
        .await
        .expect_err("no room is an error");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(read_exactly(&*server, 1).await, b"x");
}

pub async fn the_last_waker_of_a_reader_is_woken(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    let (first, second) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
    let mut octets = BytesMut::with_capacity(8);
    for tally in [&first, &second] {
        let waker = Waker::from(Arc::clone(tally));
        assert!(
            server
                .poll_read(&mut Context::from_waker(&waker), &mut octets)
                .is_pending()
        );
    }
    write_all(&*client, b"x")
        .await
        .expect("a writable connection");
    while second.0.load(Ordering::Acquire) == 0 {
        yield_now().await;
    }
    let poll = server.poll_read(&mut Context::from_waker(Waker::noop()), &mut octets);
    assert!(
        matches!(poll, Poll::Ready(Ok(1))),
        "woken for something, found {poll:?}"
    );
    assert_eq!(&octets[..], b"x");
}

pub async fn trying_to_read_takes_what_is_there_and_never_waits(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    let mut octets = BytesMut::with_capacity(64);
    let error = server.try_read(&mut octets).expect_err("nothing there");
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    write_all(&*client, b"words")
        .await
        .expect("a writable connection");
    client.shutdown_write().expect("an open connection");
    let full = server.try_read(&mut BytesMut::new());
    assert_eq!(
        full.expect_err("no room is an error").kind(),
        io::ErrorKind::InvalidInput
    );
    while octets.len() < 5 {
        match server.try_read(&mut octets) {
            Ok(count) => assert!(count > 0, "the end comes behind the words"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }
    assert_eq!(&octets[..], b"words");
    loop {
        match server.try_read(&mut octets) {
            Ok(count) => break assert_eq!(count, 0, "the end of the stream"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }
}

pub async fn octets_that_come_without_read_interest_are_found_by_the_next_poll(
    fixture: &dyn Fixture,
) {
    let (client, server) = connected(fixture).await;
    server.deregister();
    server.deregister();
    write_all(&*client, b"early")
        .await
        .expect("a writable connection");
    assert_eq!(read_exactly(&*server, 5).await, b"early");
    // An end of the stream is not missed either.
    server.deregister();
    drop(client);
    assert_eq!(read_to_end(&*server).await, b"");
}

pub async fn trying_and_waiting_in_turn_loses_no_wake_up(fixture: &dyn Fixture) {
    let (client, server) = connected(fixture).await;
    // Fewer than elsewhere, as trying lets every other thread run first.
    let turns = fixture.turns() / 7;
    let server = spawn(async move { converse(&*server, false, turns).await });
    for turn in 0..turns {
        let words = pattern(turn, 1 + turn * 37 % 300);
        write_all(&*client, &words)
            .await
            .expect("a writable connection");
        if turn % 3 == 0 {
            client.deregister();
        }
        let mut octets = BytesMut::with_capacity(words.len());
        // Some answers come while this side tries, and leave an event behind; others come while it waits.
        for _ in 0..turn % 7 * 10 {
            match client.try_read(&mut octets) {
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                Ok(_) if octets.len() == words.len() => break,
                Ok(count) => assert!(count > 0, "the conversation goes on"),
            }
            std::thread::yield_now();
        }
        while octets.len() < words.len() {
            let count = read(&*client, &mut octets).await.expect("an answer");
            assert!(count > 0, "the conversation goes on");
        }
        assert_eq!(octets, words);
    }
    server.await.expect("a server that heard every question");
}

pub async fn a_read_that_blocks_waits_for_octets_for_its_limit_and_for_the_end(
    fixture: &dyn Fixture,
) {
    let (client, server) = connected(fixture).await;
    let (client, server): (Arc<dyn Connection>, Arc<dyn Connection>) =
        (client.into(), server.into());
    let asked = Arc::clone(&server);
    let can_block = spawn_blocking(move || {
        let limit = Some(std::time::Duration::from_millis(1));
        let refused = asked.read_blocking(&mut BytesMut::with_capacity(8), limit);
        refused.is_err_and(|error| error.kind() != io::ErrorKind::Unsupported)
    });
    if !can_block.await.expect("a thread") {
        // The reactor reads for blocking callers of this transport.
        return;
    }
    server.deregister();
    let (waiting, waits) = mpsc::channel();
    let reader = {
        let server = Arc::clone(&server);
        spawn_blocking(move || {
            let mut octets = BytesMut::with_capacity(8);
            let limit = std::time::Duration::from_millis(1);
            let error = server.read_blocking(&mut octets, Some(limit));
            assert_eq!(
                error.expect_err("nothing has come").kind(),
                io::ErrorKind::WouldBlock
            );
            waiting.send(()).expect("a writer");
            while octets.len() < 5 {
                let count = server.read_blocking(&mut octets, None).expect("words");
                assert!(count > 0, "the end comes behind the words");
            }
            assert_eq!(&octets[..], b"words");
            waiting.send(()).expect("a writer");
            server.read_blocking(&mut octets, None)
        })
    };
    let waits = spawn_blocking(move || {
        waits.recv().expect("a reader");
        waits
    })
    .await
    .expect("a thread");
    write_all(&*client, b"words")
        .await
        .expect("a writable connection");
    spawn_blocking(move || waits.recv().expect("a reader"))
        .await
        .expect("a thread");
    server.close();
    let end = reader.await.expect("a reader that is woken");
    assert_eq!(end.expect("the end of the stream"), 0);
}

pub async fn connections_may_be_driven_from_another_runtime(fixture: &dyn Fixture) {
    let large = fixture.large();
    // The other runtime has no I/O at all, so a task that polls there is woken by the home runtime or never.
    let (client, server) = connected(fixture).await;
    let writer = spawn_blocking(move || {
        let elsewhere = Builder::new_current_thread().build().expect("a runtime");
        elsewhere.block_on(async {
            write_all(&*client, &pattern(0, large))
                .await
                .expect("a writable connection");
            client.shutdown_write().expect("an open connection");
            assert_eq!(read_to_end(&*client).await, b"thanks");
        });
    });
    let received = read_to_end(&*server).await;
    assert!(received == pattern(0, large), "every octet, in order");
    write_all(&*server, b"thanks")
        .await
        .expect("a writable connection");
    drop(server);
    writer.await.expect("a writer");
}

/// Counts its wake-ups.
#[derive(Default)]
struct Tally(AtomicUsize);

impl Wake for Tally {
    fn wake(self: Arc<Self>) {
        // Pairs with the Acquire of the check that waits for it.
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Writes and reads questions and answers in turn, each of another length, up to several reads long.
async fn converse(connection: &dyn Connection, begins: bool, turns: usize) {
    for turn in 0..turns {
        let length = 1 + turn * 37 % 300;
        let words = pattern(turn, length);
        for speaks in [begins, !begins] {
            if speaks {
                write_all(connection, &words)
                    .await
                    .expect("a writable connection");
            } else {
                assert_eq!(read_exactly(connection, length).await, words);
            }
        }
    }
}
