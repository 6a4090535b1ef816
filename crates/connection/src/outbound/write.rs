//! Writing what is queued: a sender that finds the write side free does it.

use super::super::sync::{MutexGuard, Ordering, fence};
use super::super::trace;
use super::{Deferred, FRAGMENTS_PER_TURN, Flush, MAX_CHUNKS, Outbound, Outgoing, Queued, Writing};
use core::task::{Context, Poll, Waker};
use std::io::{self, IoSlice};
use std::sync::TryLockError;
use zorb_giop::buffers;
use zorb_transport::Connection;

impl Outbound {
    /// Writes what is queued, unless another writer does.
    ///
    /// # Errors
    /// When the transport fails; the connection is over then.
    #[inline]
    pub(crate) fn flush(&self, stream: &dyn Connection) -> io::Result<Flush> {
        if self.queued_octets() == 0 {
            // Messages that are queued just now are written by their senders.
            return Ok(Flush::Done);
        }
        self.flush_queued(stream)
    }

    /// Writes what is queued, unless the driver waits for room in the socket and then writes all that is queued.
    ///
    /// # Errors
    /// When the transport fails.
    pub(crate) fn flush_unless_blocked(&self, stream: &dyn Connection) -> io::Result<Flush> {
        // Pairs with the fence in `poll_unblock`: either this sees that the driver waits no more, or the driver sees what
        // was queued before.
        fence(Ordering::SeqCst);
        match self.is_blocked() {
            true => Ok(Flush::Blocked),
            false => self.flush(stream),
        }
    }

    fn flush_queued(&self, stream: &dyn Connection) -> io::Result<Flush> {
        // Pairs with the fence in `release_direct`: the sender of a direct message, which does not look at the queue,
        // either sees what was queued before this or has released the write side.
        fence(Ordering::SeqCst);
        let writing = match self.writing.try_lock() {
            Ok(writing) => writing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(Flush::Done),
        };
        self.write(writing, stream)
    }

    /// Writes until nothing is queued. Releases the write side under the lock of the empty queue, so that the sender of
    /// a later message finds the write side free.
    pub(super) fn write<'a>(
        &'a self,
        mut writing: MutexGuard<'a, Writing>,
        stream: &dyn Connection,
    ) -> io::Result<Flush> {
        if let Some((kind, cause)) = self.failed.get() {
            self.forget_if_told(&mut writing);
            return Err(io::Error::new(*kind, cause.as_str()));
        }
        loop {
            if writing.messages.is_empty() {
                self.refill(stream, &mut writing);
            }
            if writing.messages.is_empty() {
                let queue = self.queue();
                if queue.is_empty() && writing.deferred.is_empty() {
                    drop(writing);
                    return Ok(Flush::Done);
                }
                continue;
            }
            match write_once(stream, &writing) {
                Ok(octets) => match self.advance(writing, octets) {
                    Some(held) => writing = held,
                    None => return Ok(Flush::Done),
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // Released first: a driver that clears the flag after this can write.
                    drop(writing);
                    // A driver that knows of it waits for the socket, and must not be woken by its own attempts.
                    if !self.blocked.swap(true, Ordering::AcqRel) {
                        self.driver.notify();
                    }
                    return Ok(Flush::Blocked);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let _ = self.failed.set((error.kind(), error.to_string()));
                    self.forget_if_told(&mut writing);
                    drop(writing);
                    // The driver reads what is still there, and then ends the connection.
                    self.driver.notify();
                    return Err(error);
                }
            }
        }
    }

    /// Whether the socket was full at the last write.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Acquire)
    }

    /// Goes on writing when the socket was full. For the driver.
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
                    // Pairs with the fence in `flush_unless_blocked`: what its caller has queued is seen here.
                    fence(Ordering::SeqCst);
                    // A writer that finds the socket full from now on sets the flag anew.
                    if let Err(error) = self.flush(stream) {
                        return Poll::Ready(Err(error));
                    }
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes over what is queued, and makes the next fragments.
    fn refill(&self, stream: &dyn Connection, writing: &mut Writing) {
        let cancelled = {
            let mut queue = self.queue();
            queue.seal_batch();
            writing.messages.append(&mut queue.messages);
            writing.deferred.append(&mut queue.deferred);
            core::mem::take(&mut queue.cancelled)
        };
        if !cancelled.is_empty() {
            let mut dropped = Vec::new();
            writing.deferred.retain(|(queued, deferred)| {
                let drop = matches!(deferred, Deferred::Fragmented(_))
                    && cancelled.contains(&queued.ticket);
                if drop {
                    dropped.push(*queued);
                }
                !drop
            });
            self.completed(&dropped, None);
        }
        let Some((queued, front)) = writing.deferred.front_mut() else {
            return;
        };
        let queued = *queued;
        let done = match front {
            Deferred::Last(message) => {
                writing.messages.push_back(Outgoing {
                    octets: core::mem::take(message),
                    completes: Some(queued),
                });
                true
            }
            Deferred::Fragmented(fragments) => {
                let mut octets = 0;
                while let Some(piece) = fragments.next() {
                    octets += piece.len();
                    trace::sending_fragment(stream, &piece);
                    let done = fragments.is_done();
                    writing.messages.push_back(Outgoing {
                        octets: piece,
                        completes: done.then_some(queued),
                    });
                    if octets >= FRAGMENTS_PER_TURN && !fragments.is_contiguous() {
                        break;
                    }
                }
                fragments.is_done()
            }
        };
        if done {
            writing.deferred.pop_front();
        }
    }

    /// Counts octets handed to the transport. Only the writer does.
    pub(super) fn count_written(&self, octets: usize) {
        let written = self.written_octets().wrapping_add(octets as u64);
        self.written_octets.store(written, Ordering::Relaxed);
    }

    /// Removes octets that were written, and counts the messages that they complete: see [`completed`](Self::completed).
    fn advance<'a>(
        &self,
        mut writing: MutexGuard<'a, Writing>,
        mut octets: usize,
    ) -> Option<MutexGuard<'a, Writing>> {
        self.count_written(octets);
        while let Some(front) = writing.messages.front() {
            let left = front.octets.len() - writing.offset;
            if octets < left {
                writing.offset += octets;
                break;
            }
            octets -= left;
            writing.offset = 0;
            if let Some(done) = writing.messages.pop_front() {
                buffers::give(done.octets.into_buffer());
                writing.completed.extend(done.completes);
            }
        }
        let completed = core::mem::take(&mut writing.completed);
        let mut writing = self.completed(&completed, Some(writing));
        if let Some(writing) = &mut writing {
            writing.completed = completed;
            writing.completed.clear();
        }
        writing
    }

    /// Counts messages that are written. Then releases the write side, unless there is more to write.
    pub(in super::super) fn completed<'a>(
        &self,
        all: &[Queued],
        writing: Option<MutexGuard<'a, Writing>>,
    ) -> Option<MutexGuard<'a, Writing>> {
        if all.is_empty() {
            return writing;
        }
        // Only the writer counts.
        let counted = self.written.load(Ordering::Relaxed);
        let in_order = match all {
            // Mostly.
            [one] => usize::from(one.ticket == counted + 1),
            all => (counted + 1..)
                .zip(all)
                .take_while(|(expected, queued)| *expected == queued.ticket)
                .count(),
        };
        // Pairs with the Acquire in `is_counted`.
        self.written
            .store(counted + in_order as u64, Ordering::Release);
        let mut queue = self.queue();
        if let ([one], 1) = (all, in_order)
            && queue.is_empty()
            && queue.early.is_empty()
            && queue.waiting.is_empty()
            && writing.as_ref().is_some_and(|writing| writing.is_empty())
        {
            // Mostly. The write side is released under the lock of the queue.
            self.count(one.octets.wrapping_neg());
            drop(writing);
            drop(queue);
            return None;
        }
        let octets = all.iter().map(|queued| queued.octets).sum::<usize>();
        self.count(octets.wrapping_neg());
        if in_order < all.len() || !queue.early.is_empty() {
            let early = all.iter().skip(in_order).map(|queued| queued.ticket);
            queue.early.extend(early);
            while queue
                .early
                .remove(&(self.written.load(Ordering::Relaxed) + 1))
            {
                self.written.fetch_add(1, Ordering::Release);
            }
        }
        let held = writing.filter(|writing| !writing.is_empty() || !queue.is_empty());
        if !queue.waiting.is_empty() {
            let waiting = core::mem::take(&mut queue.waiting);
            drop(queue);
            waiting.into_iter().for_each(Waker::wake);
        }
        held
    }
}

/// One `writev` of as much as fits into it.
fn write_once(stream: &dyn Connection, writing: &Writing) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); MAX_CHUNKS];
    let mut skip = writing.offset;
    let chunks = writing
        .messages
        .iter()
        .flat_map(|outgoing| outgoing.octets.chunks())
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
    zorb_giop::probe!(Writing);
    let written = stream.try_write(&slices[..used]);
    zorb_giop::probe!(Written);
    match written {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        written => written,
    }
}
