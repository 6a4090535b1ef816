//! The write side of a connection: whoever finds it free writes.
//!
//! A message is queued under a short lock; then its sender tries to become the writer. A lone
//! sender pays one system call and no hand-over; in a crowd, whoever writes takes the others'
//! messages along. What does not fit into the socket stays with the writer's state, and the
//! connection's driver finishes it: a message once begun is always finished, whatever becomes of
//! the future that sent it.

use atomic_waker::AtomicWaker;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use zorb_cdr::Gather;
use zorb_giop::buffers;
use zorb_transport::Connection;

/// Octets that may wait to be written before senders have to wait too. Larger than a socket's
/// own buffer, so that it adds batching and not latency; one message may exceed it.
const MAX_QUEUED_OCTETS: usize = 1 << 20;
/// Chunks handed to one `writev`. Beyond a few dozen the call itself no longer matters.
const MAX_CHUNKS: usize = 64;

/// Parked wakers that are looked at before another is added.
const LOOK_BACK: usize = 16;

/// The place of a message in the order of its connection, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

#[derive(Default)]
struct Queue {
    messages: VecDeque<Gather>,
    octets: usize,
    submitted: u64,
    waiting: Vec<Waker>,
}

impl Queue {
    fn park(&mut self, cx: &Context<'_>) {
        // Whoever is polled again without need is parked already, mostly as the last one.
        let parked = self
            .waiting
            .iter()
            .rev()
            .take(LOOK_BACK)
            .any(|w| w.will_wake(cx.waker()));
        if !parked {
            self.waiting.push(cx.waker().clone());
        }
    }
}

#[derive(Default)]
struct Writing {
    messages: VecDeque<Gather>,
    /// Octets of the front message that are out already.
    offset: usize,
}

/// What a flush came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Everything is out, or somebody else is writing and takes it along.
    Done,
    /// The socket is full; the driver has to go on when it is writable again.
    Blocked,
}

#[derive(Default)]
pub(crate) struct Outbound {
    queue: Mutex<Queue>,
    /// Held by whoever writes. Only ever tried, never waited for, so it is a flag that owns what
    /// is being written.
    writing: Mutex<Writing>,
    blocked: AtomicBool,
    /// Why the transport failed, once it has: nothing is written any more, so what was told as
    /// not sent stays so.
    failed: OnceLock<(io::ErrorKind, String)>,
    written: AtomicU64,
    pub(crate) driver: AtomicWaker,
}

impl Outbound {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message. Nothing is written until [`flush`](Self::flush).
    pub(crate) fn submit(&self, message: Gather) -> Ticket {
        let mut queue = self.queue();
        queue.octets += message.len();
        queue.submitted += 1;
        queue.messages.push_back(message);
        Ticket(queue.submitted)
    }

    /// Ready when there is room for another message.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        if queue.octets <= MAX_QUEUED_OCTETS {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    /// Ready when the message is handed to the transport, all of it.
    pub(crate) fn poll_written(&self, ticket: Ticket, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_written(ticket) {
            return Poll::Ready(());
        }
        let mut queue = self.queue();
        // The writer counts before it takes this lock to wake, so nothing is missed.
        if self.is_written(ticket) {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    /// How many messages are handed to the transport, all of them.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Why nothing can be written any more, if that is so.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failed.get().map(|(_, cause)| cause.as_str())
    }

    /// Whether the message is not, and will not be, handed to the transport as a whole. To be
    /// asked after the transport has failed or was closed.
    pub(crate) fn is_surely_unsent(&self, ticket: Ticket) -> bool {
        match self.writing.try_lock() {
            Ok(_) | Err(TryLockError::Poisoned(_)) => !self.is_written(ticket),
            // Somebody may have written it just now and not counted it yet.
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Whether the message is handed to the transport, all of it.
    pub(crate) fn is_written(&self, ticket: Ticket) -> bool {
        // Pairs with the Release in `advance`.
        self.written.load(Ordering::Acquire) >= ticket.0
    }

    /// Ready when everything queued is handed to the transport.
    pub(crate) fn poll_empty(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.queue();
        // The octets of a message count until its last one is out.
        if queue.octets == 0 {
            return Poll::Ready(());
        }
        queue.park(cx);
        Poll::Pending
    }

    /// Wakes everybody who waits for room or progress: the connection is over.
    pub(crate) fn wake_all(&self) {
        let waiting = core::mem::take(&mut self.queue().waiting);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Writes what is queued, unless somebody else is doing so.
    ///
    /// # Errors
    /// When the transport fails; the connection is over then.
    pub(crate) fn flush(&self, stream: &dyn Connection) -> io::Result<Flush> {
        loop {
            let mut writing = match self.writing.try_lock() {
                Ok(writing) => writing,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return Ok(Flush::Done),
            };
            if let Some((kind, cause)) = self.failed.get() {
                return Err(io::Error::new(*kind, cause.as_str()));
            }
            loop {
                if writing.messages.is_empty() {
                    writing.messages.append(&mut self.queue().messages);
                }
                if writing.messages.is_empty() {
                    break;
                }
                match write_once(stream, &writing) {
                    Ok(octets) => self.advance(&mut writing, octets),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        // Let go first: a driver that clears the flag after this can write.
                        drop(writing);
                        // A driver that knows already waits for the socket, and must not be
                        // woken by its own attempts.
                        if !self.blocked.swap(true, Ordering::AcqRel) {
                            self.driver.wake();
                        }
                        return Ok(Flush::Blocked);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        let _ = self.failed.set((error.kind(), error.to_string()));
                        drop(writing);
                        // It reads what is still there, and then ends the connection.
                        self.driver.wake();
                        return Err(error);
                    }
                }
            }
            drop(writing);
            // A message queued after the look above and before the release found us writing.
            if self.queue().messages.is_empty() {
                return Ok(Flush::Done);
            }
        }
    }

    /// For the driver: goes on writing when the socket was full.
    ///
    /// # Errors
    /// When the transport fails.
    pub(crate) fn poll_unblock(
        &self,
        stream: &dyn Connection,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.blocked.load(Ordering::Acquire) {
            match stream.poll_write_ready(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => {
                    self.blocked.store(false, Ordering::Release);
                    // Whoever finds the socket full from now on says so anew.
                    if let Err(error) = self.flush(stream) {
                        return Poll::Ready(Err(error));
                    }
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn advance(&self, writing: &mut Writing, mut octets: usize) {
        let mut finished = 0;
        let mut freed = 0;
        while let Some(front) = writing.messages.front() {
            let left = front.len() - writing.offset;
            if octets < left {
                writing.offset += octets;
                break;
            }
            octets -= left;
            freed += front.len();
            finished += 1;
            writing.offset = 0;
            if let Some(done) = writing.messages.pop_front() {
                buffers::give(done.into_buffer());
            }
        }
        if finished == 0 {
            return;
        }
        // Pairs with the Acquire in `is_written`.
        self.written.fetch_add(finished, Ordering::Release);
        let mut queue = self.queue();
        queue.octets -= freed;
        if !queue.waiting.is_empty() {
            let waiting = core::mem::take(&mut queue.waiting);
            drop(queue);
            waiting.into_iter().for_each(Waker::wake);
        }
    }
}

/// One `writev` of as much as fits into it.
fn write_once(stream: &dyn Connection, writing: &Writing) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); MAX_CHUNKS];
    let mut skip = writing.offset;
    let chunks = writing
        .messages
        .iter()
        .flat_map(Gather::chunks)
        .filter_map(|chunk| {
            let skipped = skip.min(chunk.len());
            skip -= skipped;
            chunk.get(skipped..).filter(|rest| !rest.is_empty())
        });
    let mut used = 0;
    for (slice, chunk) in slices.iter_mut().zip(chunks) {
        *slice = IoSlice::new(chunk);
        used += 1;
    }
    match stream.try_write(&slices[..used]) {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::{Bytes, BytesMut};
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use zorb_cdr::{Encoder, NativeEndian, WireFormat};
    use zorb_transport::{Address, Capabilities};

    /// A socket that takes nothing, for the reason given.
    #[derive(Debug)]
    struct Deaf(io::ErrorKind, Address);

    impl Deaf {
        fn new(kind: io::ErrorKind) -> Self {
            Self(kind, Address::Unix(None))
        }
    }

    impl Connection for Deaf {
        fn poll_read(&self, _: &mut Context<'_>, _: &mut BytesMut) -> Poll<io::Result<usize>> {
            Poll::Pending
        }
        fn try_write(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn poll_write_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
        fn shutdown_write(&self) -> io::Result<()> {
            Ok(())
        }
        fn close(&self) {}
        fn peer(&self) -> &Address {
            &self.1
        }
        fn local(&self) -> &Address {
            &self.1
        }
        fn capabilities(&self) -> Capabilities {
            Capabilities::stream()
        }
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl std::task::Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn message() -> Gather {
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.append(&Bytes::from_static(b"octets"));
        e.finish()
    }

    #[test]
    fn a_driver_that_waits_for_a_full_socket_is_not_woken_by_its_own_attempts() {
        let socket = Deaf::new(io::ErrorKind::WouldBlock);
        let outbound = Outbound::default();
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut cx = Context::from_waker(&waker);
        outbound.submit(message());
        for _ in 0..10 {
            outbound.driver.register(&waker);
            assert!(matches!(outbound.flush(&socket), Ok(Flush::Blocked)));
            assert!(outbound.poll_unblock(&socket, &mut cx).is_pending());
        }
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn nothing_is_written_after_the_transport_has_failed() {
        let outbound = Outbound::default();
        let ticket = outbound.submit(message());
        assert!(
            outbound
                .flush(&Deaf::new(io::ErrorKind::BrokenPipe))
                .is_err()
        );
        assert!(outbound.failure().is_some());
        assert!(outbound.is_surely_unsent(ticket));
        let error = outbound
            .flush(&Deaf::new(io::ErrorKind::WouldBlock))
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
