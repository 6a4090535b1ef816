//! Writing on when a socket was full, where a thread serves the connection: it may be blocked in a read.

use super::super::outbound::{Bell, Flush};
use super::ServerConnection;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use std::sync::{Arc, OnceLock};

/// Who waits for room in the socket. One at a time may: the transport wakes nobody else. It is the task that drives the
/// connection, or, as long as a thread serves it, a task that is there for as long as the socket is full.
#[derive(Default)]
pub(super) struct Room {
    /// A thread serves the connection.
    has_a_thread: AtomicBool,
    /// A task of its own waits.
    is_awaited: AtomicBool,
    /// Wakes that task.
    bell: Bell,
    /// Why it cannot wait.
    failed: OnceLock<String>,
}

/// A thread serves the connection until this is dropped, by a panic perhaps.
pub(super) struct Serving<'a>(&'a Room);

impl Room {
    /// To be said by the thread that is to serve the connection.
    pub(super) fn serve(&self) -> Serving<'_> {
        self.has_a_thread.store(true, Ordering::Release);
        Serving(self)
    }

    /// Why nobody can wait for room any more.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        self.0.has_a_thread.store(false, Ordering::Release);
        self.0.bell.ring();
    }
}

impl ServerConnection {
    /// Writes what is queued, from outside the driver.
    pub(super) fn flush(self: &Arc<Self>) {
        // A failure shows itself to the driver's next read.
        if let Ok(Flush::Blocked) = self.link.outbound.flush(&*self.link.stream) {
            self.wait_for_room();
        }
    }

    /// Sees to it that what did not fit into the socket is written, unless a task drives the connection, which has been
    /// told. Whoever serves the connection is woken then.
    pub(super) fn wait_for_room(self: &Arc<Self>) {
        let room = &self.room;
        // Released and acquired: that the socket was full, for who waits already and is about to stop.
        if room.has_a_thread.load(Ordering::Acquire)
            && !room.is_awaited.swap(true, Ordering::AcqRel)
        {
            let connection = Arc::clone(self);
            self.orb.track(async move { connection.write_on().await });
        }
    }

    async fn write_on(&self) {
        let (room, outbound) = (&self.room, &self.link.outbound);
        let is_ours = || room.has_a_thread.load(Ordering::Acquire);
        loop {
            let written = poll_fn(|cx| {
                room.bell.register(cx.waker());
                match is_ours() {
                    true => outbound.poll_unblock(&*self.link.stream, cx),
                    false => Poll::Ready(Ok(())),
                }
            });
            let error = written.await.err();
            let has_failed = error.is_some();
            if let Some(error) = error
                && outbound.failure().is_none()
            {
                let _ = room.failed.set(error.to_string());
                // The thread finds out.
                self.link.stream.close();
            }
            room.is_awaited.swap(false, Ordering::AcqRel);
            let is_over = has_failed || !is_ours() || !outbound.is_blocked();
            if is_over || room.is_awaited.swap(true, Ordering::AcqRel) {
                break;
            }
        }
        // The thread may wait for this, and a task that drives the connection by now may not have been told of room.
        self.wake();
    }
}
