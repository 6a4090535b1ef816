//! Waiting for room in a full socket while a thread serves the connection, as that thread may be blocked in a read.

use super::super::outbound::Flush;
use super::super::owner::Owner;
use super::super::sync::{AtomicBool, Ordering};
use super::super::waker::DriverWaker;
use super::ServerConnection;
use core::future::poll_fn;
use core::task::Poll;
use std::sync::{Arc, OnceLock};
use zorb_cdr::Gather;
use zorb_giop::Cause;

/// The wait for room. Only one task at a time may wait, as the transport remembers one waker: the task that drives the
/// connection, or, while a thread serves it, a task that exists as long as the socket is full.
#[derive(Default)]
pub(super) struct WriteWait {
    /// Whether a thread serves the connection.
    has_thread: AtomicBool,
    /// Whether a task waits for room on behalf of the thread.
    is_awaited: AtomicBool,
    /// Wakes that task.
    waker: DriverWaker,
    /// Why the task cannot wait.
    failed: OnceLock<Cause>,
}

/// Marks the connection as served by a thread until it is dropped, even by a panic.
pub(super) struct ThreadServes<'a>(&'a WriteWait);

impl WriteWait {
    /// To be called by the thread that is to serve the connection.
    pub(super) fn thread_serves(&self) -> ThreadServes<'_> {
        self.has_thread.store(true, Ordering::Release);
        ThreadServes(self)
    }

    /// Why no task can wait for room, once waiting has failed.
    pub(super) fn failure(&self) -> Option<&Cause> {
        self.failed.get()
    }
}

impl Drop for ThreadServes<'_> {
    fn drop(&mut self) {
        self.0.has_thread.store(false, Ordering::Release);
        self.0.waker.notify();
    }
}

impl<O: Owner> ServerConnection<O> {
    /// Writes a reply at once, before its request ends. The next read finds a failed write.
    pub fn send_reply(self: &Arc<Self>, reply: Option<Gather>) {
        // The driver's next read finds a failure.
        if let Ok(Flush::Blocked) = self.write_with(reply) {
            self.wait_for_room();
        }
    }

    /// Writes the queued replies at once.
    pub(super) fn flush(self: &Arc<Self>) {
        self.send_reply(None);
    }

    /// Starts a task that writes the octets that did not fit into the socket, if a thread serves the connection. The task wakes
    /// the thread at its end.
    pub(super) fn wait_for_room(self: &Arc<Self>) {
        let wait = &self.write_wait;
        // Release and acquire: a task that waits already, and is about to stop, sees that the socket was full.
        if wait.has_thread.load(Ordering::Acquire) && !wait.is_awaited.swap(true, Ordering::AcqRel)
        {
            let connection = Arc::clone(self);
            self.owner
                .track(async move { connection.write_when_ready().await });
        }
    }

    async fn write_when_ready(&self) {
        let (wait, outbound) = (&self.write_wait, &self.link.outbound);
        let has_thread = || wait.has_thread.load(Ordering::Acquire);
        loop {
            let written = poll_fn(|cx| {
                wait.waker.register(cx.waker());
                match has_thread() {
                    true => outbound.poll_unblock(&*self.link.stream, cx),
                    false => Poll::Ready(Ok(())),
                }
            });
            let error = written.await.err();
            let has_failed = error.is_some();
            if let Some(error) = error
                && outbound.failure().is_none()
            {
                let _ = wait.failed.set(Cause::new(error));
                // The thread finds the end.
                self.link.stream.close();
            }
            wait.is_awaited.swap(false, Ordering::AcqRel);
            let is_over = has_failed || !has_thread() || !outbound.is_blocked();
            if is_over || wait.is_awaited.swap(true, Ordering::AcqRel) {
                break;
            }
        }
        // The thread may wait for room, and a task that drives the connection by now may not know of it.
        self.wake();
    }
}
