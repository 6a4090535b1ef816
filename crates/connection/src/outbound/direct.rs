//! Direct writes: a message that meets an empty queue goes from its sender to the socket.

use super::super::sync::writes::{MutexGuard, Ordering, fence};
use super::{
    Flush, MAX_CHUNKS, Outbound, Outgoing, Queued, Slices, Ticket, Writing, is_of_client, memory,
};
use std::io::{self, IoSlice};
use zorb_cdr::{Gather, Lending};
use zorb_giop::buffers;
use zorb_transport::Connection;

impl Outbound {
    /// Sends a message. If the queue is empty and the write side free, it is written without locking the queue. Otherwise it is
    /// queued and written, unless another writer takes it along.
    #[inline]
    pub(crate) fn send(
        &self,
        message: Gather,
        stream: &dyn Connection,
    ) -> (Ticket, io::Result<Flush>) {
        if let Some(octets) = message.as_single()
            && let Some(writing) = self.claim_direct()
        {
            let len = octets.len();
            let (ticket, written) = self.write_direct(&[IoSlice::new(octets)], stream);
            let flushed = if self.is_whole(ticket, written, len) {
                self.release_direct(ticket, writing);
                buffers::give(message.into_buffer());
                self.flush(stream)
            } else {
                let is_of_client = is_of_client(&message);
                self.send_rest(message, is_of_client, ticket, written, stream, writing)
            };
            return (Ticket(ticket), flushed);
        }
        let ticket = self.submit(message);
        (ticket, self.flush(stream))
    }

    /// Sends a message with lent octets. The socket takes them from the caller's memory, as many as it takes at once. The rest
    /// is copied, since the caller may be gone when the socket has room again.
    pub(crate) fn send_lent(
        &self,
        message: Lending<'_>,
        stream: &dyn Connection,
    ) -> (Ticket, io::Result<Flush>) {
        let Some(writing) = self.claim_direct() else {
            return self.send(message.into_whole(), stream);
        };
        let (ticket, written) = {
            let chunks = message.chunks().map(IoSlice::new);
            let slices: Slices<'_> = chunks.take(MAX_CHUNKS).collect();
            self.write_direct(&slices, stream)
        };
        let left = message.len().saturating_sub(written);
        let flushed = if self.is_whole(ticket, written, message.len()) {
            self.release_direct(ticket, writing);
            buffers::give(message.into_buffer());
            self.flush(stream)
        } else if left == 0 {
            buffers::give(message.into_buffer());
            self.send_rest(Gather::default(), true, ticket, 0, stream, writing)
        } else {
            let mut rest = buffers::take();
            rest.reserve(left);
            let mut skip = written;
            for chunk in message.chunks() {
                let skipped = skip.min(chunk.len());
                skip = skip.saturating_sub(skipped);
                rest.extend_from_slice(chunk.get(skipped..).unwrap_or_default());
            }
            buffers::give(message.into_buffer());
            self.send_rest(Gather::from(rest), true, ticket, 0, stream, writing)
        };
        (Ticket(ticket), flushed)
    }

    /// The write side, if it is free and nothing is queued.
    #[inline(always)]
    fn claim_direct(&self) -> Option<MutexGuard<'_, Writing>> {
        if self.max_fragment().is_some() {
            return None;
        }
        let writing = self.writing.try_lock().ok()?;
        // `queued_octets` includes all messages that this sender has queued, or knows to be queued.
        let free = writing.is_empty() && self.queued_octets() == 0 && self.failed.get().is_none();
        free.then_some(writing)
    }

    /// Writes as much of a message as the socket takes. Returns its ticket, and the number of octets written.
    #[inline(always)]
    fn write_direct(&self, slices: &[IoSlice<'_>], stream: &dyn Connection) -> (u64, usize) {
        let ticket = self.ticket();
        // The writer that goes on finds an error again.
        let written = stream.try_write(slices).unwrap_or(0);
        self.count_written(written);
        (ticket, written)
    }

    /// Whether all `octets` of a message are written, and every message before it.
    #[inline(always)]
    fn is_whole(&self, ticket: u64, written: usize, octets: usize) -> bool {
        // Only the writer counts.
        written == octets && self.written.load(Ordering::Relaxed).wrapping_add(1) == ticket
    }

    /// Counts a message that is [written](Self::is_whole), and releases the write side. A [flush](Self::flush) has to
    /// follow.
    #[inline(always)]
    fn release_direct(&self, ticket: u64, writing: MutexGuard<'_, Writing>) {
        // Pairs with the Acquire in `is_counted`.
        self.written.store(ticket, Ordering::Release);
        drop(writing);
        // Pairs with the fence in `flush_queued`: a message whose sender found the write side held is seen here.
        fence(Ordering::SeqCst);
    }

    /// Finishes a direct message that is not whole on the wire, or has overtaken one that was queued just then.
    #[cold]
    fn send_rest<'a>(
        &'a self,
        message: Gather,
        is_of_client: bool,
        ticket: u64,
        written: usize,
        stream: &dyn Connection,
        mut writing: MutexGuard<'a, Writing>,
    ) -> io::Result<Flush> {
        if written == message.len() {
            buffers::give(message.into_buffer());
            // A direct message counts no octets.
            let queued = Queued {
                ticket,
                octets: 0,
                is_of_client,
            };
            writing.completed.push(queued);
            return match self.completed(writing) {
                Some(writing) => self.write(writing, stream),
                None => Ok(Flush::Done),
            };
        }
        let queued = Queued {
            ticket,
            octets: memory(&message),
            is_of_client,
        };
        self.count(&mut self.queue(), queued);
        writing.offset = written;
        writing.messages.push_back(Outgoing {
            octets: message,
            completes: Some(queued),
        });
        self.write(writing, stream)
    }
}
