//! Connections that have a thread each.

use super::super::{ServerConnection, Serving};
use super::promotion::Panics;
use crate::mock::{Acts, Mock};
use crate::server::ServerLimits;
use crate::testing::*;
use bytes::BytesMut;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use tokio::runtime::Runtime;
use zorb_giop::{MessageKind, Version, empty_message};
use zorb_transport::Address;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn threaded() -> Arc<TestOwner> {
    TestOwner::with(|settings| settings.threads = true)
}

/// Serves a connection on this test's own thread.
fn serve(connection: &Arc<ServerConnection<TestOwner>>) -> JoinHandle<()> {
    let connection = Arc::clone(connection);
    thread::spawn(move || {
        let registration = Arc::new(Serving::new(ServerLimits::new(1))).register(&connection);
        connection.serve_here(registration);
    })
}

/// A connection that a thread serves, with a peer that the test plays.
fn serve_peer(owner: &Arc<TestOwner>) -> (Arc<Serving<TestOwner>>, Peer) {
    let (ours, theirs) = pair();
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let connection = owner.connection_over(Box::new(ours), &serving);
    connection.serve_on_thread(&serving);
    (serving, Peer::new(theirs))
}

fn result(peer: &mut Peer) -> Option<Vec<u8>> {
    let message = peer.receive_blocking()?;
    let (_, _, body) = zorb_giop::ReplyHeader::head(&message).unwrap();
    Some(message.frame.octets()[body..].to_vec())
}

#[test]
fn a_thread_serves_its_connection_until_the_client_closes_it() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let owner = threaded();
    let (serving, mut peer) = serve_peer(&owner);
    for id in 0..3 {
        peer.send(&request(id, "echo", b"arguments"));
        assert_eq!(result(&mut peer).as_deref(), Some(&b"arguments"[..]));
    }
    assert_eq!(serving.len(), 1);
    peer.send(&empty_message(MessageKind::CloseConnection, Version::V1_2));
    assert!(peer.receive_blocking().is_none());
    runtime.block_on(owner.ended());
    assert!(serving.is_empty());
}

#[test]
fn a_thread_that_panics_leaves_no_connection_behind() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let owner = threaded();
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let connection = owner.connection_over(Box::new(Mock::new(Panics)), &serving);
    let registration = serving.register(&connection);
    assert_eq!(serving.len(), 1);
    let served = thread::spawn(move || connection.serve_here(registration));
    assert!(served.join().is_err());
    assert!(serving.is_empty() && serving.admit(&Address::Unix(None), None).is_ok());
}

#[test]
fn a_stopping_owner_ends_the_connection_of_a_thread_that_reads() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let owner = threaded();
    let (serving, mut peer) = serve_peer(&owner);
    peer.send(&request(1, "hold", b"held"));
    peer.send(&request(2, "echo", b"served"));
    assert_eq!(result(&mut peer).as_deref(), Some(&b"served"[..]));
    owner.stop();
    serving.wake_all();
    // A pending request is answered first.
    assert!(owner.let_go());
    assert_eq!(result(&mut peer).as_deref(), Some(&b"held"[..]));
    let closed = peer.receive_blocking().unwrap();
    assert_eq!(closed.header.kind, MessageKind::CloseConnection);
    assert!(peer.receive_blocking().is_none());
}

#[test]
fn an_idle_connection_of_a_thread_is_closed_in_order() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let owner = TestOwner::with(|settings| {
        settings.threads = true;
        settings.idle_timeout = Some(core::time::Duration::from_millis(1));
    });
    let (_serving, mut peer) = serve_peer(&owner);
    let closed = peer.receive_blocking().unwrap();
    assert_eq!(closed.header.kind, MessageKind::CloseConnection);
    assert!(peer.receive_blocking().is_none());
}

/// A stream whose peer is silent until the other end of `says` is dropped, and whose socket is full until its reader
/// waits for room.
#[derive(Debug)]
struct Full {
    reads: mpsc::Sender<()>,
    says: Mutex<mpsc::Receiver<()>>,
    is_full: AtomicBool,
    written: mpsc::Sender<usize>,
}

impl Acts for Full {
    /// Blocks without a time limit, so that no action happens by a time limit alone.
    fn read_into(&self, _: &mut BytesMut) -> io::Result<usize> {
        let _ = self.reads.send(());
        let _ = self.says.lock().unwrap().recv();
        Ok(0)
    }

    fn write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let octets = chunks.iter().map(|chunk| chunk.len()).sum();
        let _ = self.written.send(octets);
        Ok(octets)
    }

    fn poll_room(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_full.store(false, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_reply_that_the_full_socket_stops_does_not_wait_for_the_thread_that_reads() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let owner = threaded();
    let (reads, is_reading) = mpsc::channel();
    let (says, hears) = mpsc::channel();
    let (written, is_written) = mpsc::channel();
    let stream = Mock::new(Full {
        reads,
        says: Mutex::new(hears),
        is_full: AtomicBool::new(true),
        written,
    });
    let connection = owner.connection_over(Box::new(stream), &Serving::new(ServerLimits::new(1)));
    let serving = serve(&connection);
    is_reading.recv_timeout(PATIENCE).unwrap();
    // Queued and flushed as by the task of a pending upcall.
    connection.queue_reply(Some(BytesMut::from(&b"a reply"[..]).into()));
    connection.flush();
    assert_eq!(is_written.recv_timeout(PATIENCE), Ok(7));
    drop((says, connection));
    serving.join().unwrap();
}

/// Sends a request for each message of `reads`; its socket is full until a test makes room.
#[derive(Debug)]
struct Unread {
    reads: mpsc::Sender<()>,
    asks: Mutex<mpsc::Receiver<Vec<u8>>>,
    is_full: AtomicBool,
    waits: mpsc::Sender<()>,
    waker: Mutex<Option<Waker>>,
    written: mpsc::Sender<usize>,
}

impl Acts for Arc<Unread> {
    fn read_into(&self, buf: &mut BytesMut) -> io::Result<usize> {
        let _ = self.reads.send(());
        let asked = self.asks.lock().unwrap().recv().unwrap_or_default();
        buf.extend_from_slice(&asked);
        Ok(asked.len())
    }

    fn write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.is_full.load(Ordering::Acquire) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let octets = chunks.iter().map(|chunk| chunk.len()).sum();
        let _ = self.written.send(octets);
        Ok(octets)
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        *self.waker.lock().unwrap() = Some(cx.waker().clone());
        let _ = self.waits.send(());
        match self.is_full.load(Ordering::Acquire) {
            true => Poll::Pending,
            false => Poll::Ready(Ok(())),
        }
    }
}

#[test]
fn no_request_is_served_while_too_many_octets_of_replies_wait() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let owner = threaded();
    let (reads, is_reading) = mpsc::channel();
    let (asks, hears) = mpsc::channel();
    let (waits, is_waiting) = mpsc::channel();
    let (written, is_written) = mpsc::channel();
    let acts = Arc::new(Unread {
        reads,
        asks: Mutex::new(hears),
        is_full: AtomicBool::new(true),
        waits,
        waker: Mutex::default(),
        written,
    });
    let stream = Box::new(Mock::new(Arc::clone(&acts)));
    let connection = owner.connection_over(stream, &Serving::new(ServerLimits::new(1)));
    let served = owner.served();
    let serving = serve(&connection);
    is_reading.recv_timeout(PATIENCE).unwrap();
    // More octets than may be queued, so that the next request has to wait.
    let unread = BytesMut::zeroed(2 << 20);
    let octets = unread.len();
    connection.link.queue(unread.into());
    asks.send(request(1, "echo", b"")).unwrap();
    is_waiting.recv_timeout(PATIENCE).unwrap();
    assert!(served.try_recv().is_err());
    acts.is_full.store(false, Ordering::Release);
    acts.waker.lock().unwrap().take().unwrap().wake();
    assert_eq!(is_written.recv_timeout(PATIENCE), Ok(octets));
    assert_eq!(is_written.recv_timeout(PATIENCE), Ok(reply(1, b"").len()));
    is_reading.recv_timeout(PATIENCE).unwrap();
    assert_eq!(served.try_iter().count(), 1);
    drop((asks, connection));
    serving.join().unwrap();
}
