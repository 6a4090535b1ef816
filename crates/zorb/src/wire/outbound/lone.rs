//! A message that is alone: it goes from its sender's hands to the socket.

use super::super::sync::{MutexGuard, Ordering, fence};
use super::{Ends, Flush, MAX_CHUNKS, Outbound, Outgoing, Ticket, Writing};
use bytes::BytesMut;
use std::io::{self, IoSlice};
use zorb_cdr::{Encoder, Gather, NativeEndian};
use zorb_giop::buffers;
use zorb_transport::Connection;

/// Where a message is until it is sent.
pub(crate) trait Holds {
    /// All its octets, if they are in one piece.
    fn as_single(&self) -> Option<&[u8]>;
    /// The buffer that it was written to, to be used again; nobody wants the message any more.
    fn take_buffer(&mut self) -> BytesMut;
    fn take(&mut self) -> Gather;
}

impl Holds for Encoder<NativeEndian> {
    #[inline]
    fn as_single(&self) -> Option<&[u8]> {
        self.as_single()
    }

    #[inline]
    fn take_buffer(&mut self) -> BytesMut {
        self.take_buffer()
    }

    fn take(&mut self) -> Gather {
        self.take()
    }
}

impl Holds for Gather {
    #[inline]
    fn as_single(&self) -> Option<&[u8]> {
        self.as_single()
    }

    #[inline]
    fn take_buffer(&mut self) -> BytesMut {
        self.take_buffer()
    }

    fn take(&mut self) -> Gather {
        core::mem::take(self)
    }
}

impl Outbound {
    /// Queues a message and writes it, unless somebody else is writing, who takes it along.
    ///
    /// A message that is alone goes from the caller's hands to the socket and is never in the queue, nor is that locked.
    pub(crate) fn send(
        &self,
        mut message: Gather,
        stream: &dyn Connection,
    ) -> (Ticket, io::Result<Flush>) {
        self.send_from(&mut message, stream)
    }

    /// As [`send`](Self::send), of what is in `from`, which is used up with that. A message that is alone stays where it is.
    #[inline(always)]
    pub(crate) fn send_from(
        &self,
        from: &mut impl Holds,
        stream: &dyn Connection,
    ) -> (Ticket, io::Result<Flush>) {
        if let Some(octets) = from.as_single()
            && let Some(writing) = self.alone()
        {
            let len = octets.len();
            let (ticket, written) = self.try_alone(&[IoSlice::new(octets)], stream);
            let flushed = if self.is_whole(ticket, written, len) {
                self.let_go(ticket, writing);
                buffers::give(from.take_buffer());
                self.flush(stream)
            } else {
                self.send_on(from.take(), ticket, written, stream, writing)
            };
            return (Ticket(ticket), flushed);
        }
        self.send_behind(from.take(), stream)
    }

    /// As [`send`](Self::send), of a message that is not alone.
    #[cold]
    fn send_behind(&self, message: Gather, stream: &dyn Connection) -> (Ticket, io::Result<Flush>) {
        let ticket = self.submit(message);
        (ticket, self.flush(stream))
    }

    /// As [`send`](Self::send), of a message that lacks octets which its sender [lends](Gather::is_lent): `lent`. They go
    /// from where they are to the socket, as many as it takes at once; the others are copied, since their sender may be
    /// gone when there is room for them. `lent` has to be what the message [lacks](Gather::lacks).
    pub(crate) fn send_lent(
        &self,
        mut message: Gather,
        lent: &[u8],
        stream: &dyn Connection,
    ) -> (Ticket, io::Result<Flush>) {
        let Some(writing) = self.alone() else {
            message.settle(lent);
            let ticket = self.submit(message);
            return (ticket, self.flush(stream));
        };
        let mut slices = [IoSlice::new(&[]); MAX_CHUNKS];
        let chunks = message.chunks_with(lent);
        let used = (slices.iter_mut().zip(chunks))
            .map(|(slice, chunk)| *slice = IoSlice::new(chunk))
            .count();
        let (ticket, written) = self.try_alone(&slices[..used], stream);
        let left = message.len().saturating_sub(written);
        let flushed = if left == 0 {
            self.sent_alone(message, ticket, written, stream, writing)
        } else {
            let mut rest = buffers::take();
            rest.reserve(left);
            let mut skip = written;
            for chunk in message.chunks_with(lent) {
                let skipped = skip.min(chunk.len());
                skip -= skipped;
                rest.extend_from_slice(chunk.get(skipped..).unwrap_or_default());
            }
            buffers::give(message.into_buffer());
            self.send_on(Gather::from(rest), ticket, 0, stream, writing)
        };
        (Ticket(ticket), flushed)
    }

    /// The write side, if a message would be alone there.
    #[inline(always)]
    fn alone(&self) -> Option<MutexGuard<'_, Writing>> {
        if self.max_fragment().is_some() {
            return None;
        }
        let writing = self.writing.try_lock().ok()?;
        // What this sender has queued before is counted, and so is what it has learnt of from others.
        let alone = writing.is_empty() && self.queued_octets() == 0 && self.failed.get().is_none();
        alone.then_some(writing)
    }

    /// Writes what it can of a message that is [alone](Self::alone): its ticket, and how many octets are out.
    #[inline(always)]
    fn try_alone(&self, slices: &[IoSlice<'_>], stream: &dyn Connection) -> (u64, usize) {
        let ticket = self.ticket();
        zorb_giop::probe!(Writing);
        // What goes wrong is found out again by whoever deals with it.
        let written = stream.try_write(slices).unwrap_or(0);
        zorb_giop::probe!(Written);
        self.count_written(written);
        (ticket, written)
    }

    /// What follows upon [`try_alone`](Self::try_alone).
    #[inline]
    fn sent_alone<'a>(
        &'a self,
        message: Gather,
        ticket: u64,
        written: usize,
        stream: &dyn Connection,
        writing: MutexGuard<'a, Writing>,
    ) -> io::Result<Flush> {
        if !self.is_whole(ticket, written, message.len()) {
            return self.send_on(message, ticket, written, stream, writing);
        }
        self.let_go(ticket, writing);
        buffers::give(message.into_buffer());
        self.flush(stream)
    }

    /// Whether all `octets` of a message are out, and every message before it is, too.
    #[inline(always)]
    fn is_whole(&self, ticket: u64, written: usize, octets: usize) -> bool {
        // Only whoever writes counts.
        written == octets && self.written.load(Ordering::Relaxed) + 1 == ticket
    }

    /// Counts a message that is [out](Self::is_whole), and lets go of the write side. To be followed by a
    /// [flush](Self::flush).
    #[inline(always)]
    fn let_go(&self, ticket: u64, writing: MutexGuard<'_, Writing>) {
        // Pairs with the Acquire in `is_counted`.
        self.written.store(ticket, Ordering::Release);
        drop(writing);
        // Pairs with the one in `flush_queued`: who has queued something and found the write side held is seen here.
        fence(Ordering::SeqCst);
    }

    /// Goes on with a message that was sent alone, and of which not everything is out, or which has overtaken one that was
    /// queued just then.
    #[cold]
    fn send_on<'a>(
        &'a self,
        message: Gather,
        ticket: u64,
        written: usize,
        stream: &dyn Connection,
        mut writing: MutexGuard<'a, Writing>,
    ) -> io::Result<Flush> {
        let octets = message.len();
        if written == octets {
            buffers::give(message.into_buffer());
            // It was not counted while it was on its way.
            let ends = Ends { ticket, octets: 0 };
            return match self.finished(&[ends], Some(writing)) {
                Some(writing) => self.write(writing, stream),
                None => Ok(Flush::Done),
            };
        }
        {
            let _queue = self.queue();
            self.count(octets);
        }
        writing.offset = written;
        writing.messages.push_back(Outgoing {
            octets: message,
            ends: Some(Ends { ticket, octets }),
        });
        self.write(writing, stream)
    }
}
