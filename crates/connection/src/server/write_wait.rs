//! Waiting for room in a full socket, where a thread serves the connection: it may be blocked in a read.

use super::super::outbound::Flush;
use super::super::owner::Owner;
use super::super::sync::{AtomicBool, Ordering};
use super::super::waker::DriverWaker;
use super::ServerConnection;
use core::future::poll_fn;
use core::task::Poll;
use std::sync::{Arc, OnceLock};
use zorb_giop::Cause;

/// The wait for room. One task at a time may wait, as the transport wakes no other: the task that drives the connection,
/// or, as long as a thread serves it, a task that exists while the socket is full.
#[derive(Default)]
pub(super) struct WriteWait {
    /// A thread serves the connection.
    has_thread: AtomicBool,
    /// A task of its own waits.
    is_awaited: AtomicBool,
    /// Wakes that task.
    waker: DriverWaker,
    /// Why it cannot wait.
    failed: OnceLock<Cause>,
}

/// A thread serves the connection until this is dropped, by a panic perhaps.
pub(super) struct ThreadServes<'a>(&'a WriteWait);

impl WriteWait {
    /// To be called by the thread that is to serve the connection.
    pub(super) fn thread_serves(&self) -> ThreadServes<'_> {
        self.has_thread.store(true, Ordering::Release);
        ThreadServes(self)
    }

    /// Why no task can wait for room any more.
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
    /// Writes what is queued, from outside of the driver.
    pub(super) fn flush(self: &Arc<Self>) {
        // A failure shows itself to the driver's next read.
        if let Ok(Flush::Blocked) = self.write_replies() {
            self.wait_for_room();
        }
    }

    /// Has a task write what did not fit into the socket, where a thread serves the connection. The thread is woken then.
    pub(super) fn wait_for_room(self: &Arc<Self>) {
        let wait = &self.write_wait;
        // Released and acquired: that the socket was full, for the task that waits already and is about to stop.
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
        // The thread may wait for this, and a task that drives the connection by now may not know of the room.
        self.wake();
    }
}
