//! Writing queued messages: a sender that finds the write side free does it.

use super::super::sync::writes::{MutexGuard, Ordering, fence};
use super::super::trace;
use super::buffered::HeldBatch;
use super::{
    Deferred, FRAGMENTS_PER_TURN, Flush, KEPT_PLACES, MAX_CHUNKS, Octets, Outbound, Outgoing,
    Queue, Queued, Slices, Writing,
};
use core::task::{Context, Poll, Waker};
use std::io::{self, IoSlice};
use std::sync::TryLockError;
use zorb_giop::{Cause, buffers};
use zorb_transport::Connection;

impl Outbound {
    /// Writes all queued messages, unless another writer does.
    ///
    /// # Errors
    /// The transport's failure, which ends the connection.
    #[inline]
    pub(crate) fn flush(&self, stream: &dyn Connection) -> io::Result<Flush> {
        if self.queued_octets() == 0 && !self.takes_nothing() {
            // Messages that are queued just now are written by their senders.
            return Ok(Flush::Done);
        }
        self.flush_queued(stream)
    }

    /// Writes all queued messages, unless the driver waits for room in the socket, and writes them then.
    ///
    /// # Errors
    /// When the transport fails.
    pub(crate) fn flush_unless_blocked(&self, stream: &dyn Connection) -> io::Result<Flush> {
        // Pairs with the fence in `poll_unblock`: either this thread sees that the driver no longer waits, or the driver
        // sees the messages queued before.
        fence(Ordering::SeqCst);
        match self.is_blocked() {
            true => Ok(Flush::Blocked),
            false => self.flush(stream),
        }
    }

    fn flush_queued(&self, stream: &dyn Connection) -> io::Result<Flush> {
        // Pairs with the fence in `release_direct`: the sender of a direct message, which does not lock the queue, either
        // sees the messages queued before this, or has released the write side.
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
            self.forget_if_requested(&mut writing);
            return Err(io::Error::new(*kind, cause.to_string()));
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
                    // A driver that knows of the full socket waits for it, and must not be woken by its own attempts.
                    if !self.blocked.swap(true, Ordering::AcqRel) {
                        self.driver.notify();
                        self.waits.notify_one();
                    }
                    self.reserve();
                    self.check_overdrawn();
                    return Ok(Flush::Blocked);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let kind = error.kind();
                    let shown = error.to_string();
                    let _ = self.failed.set((kind, Cause::new(error)));
                    self.forgotten.store(true, Ordering::Relaxed);
                    self.forget_writing(&mut writing);
                    drop(writing);
                    // The driver reads the octets that have arrived, and then ends the connection.
                    self.driver.notify();
                    return Err(io::Error::new(kind, shown));
                }
            }
        }
    }

    /// Whether the socket was full at the last write.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Acquire)
    }

    /// Continues to write after the socket was full. For the driver.
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
                    // Pairs with the fence in `flush_unless_blocked`: messages that its caller has queued are seen here.
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

    /// Takes over the queued messages, and makes the next fragments. The writer has written all messages that it had.
    fn refill(&self, stream: &dyn Connection, writing: &mut Writing) {
        let cancelled = {
            let mut queue = self.queue();
            queue.seal_batch();
            queue.waiting_batch = HeldBatch::default();
            core::mem::swap(&mut writing.messages, &mut queue.messages);
            writing.deferred.append(&mut queue.deferred);
            core::mem::take(&mut queue.cancelled)
        };
        if !cancelled.is_empty() {
            self.drop_cancelled(writing, &cancelled);
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
                    octets = piece.len().saturating_add(octets);
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

    /// Drops cancelled messages, of which no further fragment is to be written.
    #[cold]
    fn drop_cancelled(&self, writing: &mut Writing, cancelled: &[u64]) {
        let Writing {
            deferred,
            completed,
            ..
        } = writing;
        deferred.retain(|(queued, deferred)| {
            let is_cancelled =
                matches!(deferred, Deferred::Fragmented(_)) && cancelled.contains(&queued.ticket);
            completed.extend(is_cancelled.then_some(*queued));
            !is_cancelled
        });
        let (queue, waiting) = self.count_completed(completed);
        drop(queue);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Removes octets that were written, and counts the messages that they complete. Then releases the write side, unless
    /// there is more to write.
    fn advance<'a>(
        &self,
        mut writing: MutexGuard<'a, Writing>,
        mut octets: usize,
    ) -> Option<MutexGuard<'a, Writing>> {
        self.count_written(octets);
        let Writing {
            messages,
            offset,
            completed,
            ..
        } = &mut *writing;
        while let Some(front) = messages.front() {
            let left = front.octets.len().saturating_sub(*offset);
            let Some(behind) = octets.checked_sub(left) else {
                *offset = offset.saturating_add(octets);
                break;
            };
            octets = behind;
            *offset = 0;
            if let Some(done) = messages.pop_front() {
                buffers::give(done.octets.into_buffer());
                completed.extend(done.completes);
            }
        }
        if messages.capacity() > KEPT_PLACES && messages.len() <= messages.capacity() / 2 {
            messages.shrink_to(messages.len().max(KEPT_PLACES));
        }
        match completed.is_empty() {
            true => Some(writing),
            false => self.completed(writing),
        }
    }

    /// Counts the messages that are written, and wakes the tasks that wait for one of them or for room. Then releases the
    /// write side, unless there is more to write: under the lock of the queue, so that the sender of a later message finds
    /// it free.
    pub(super) fn completed<'a>(
        &self,
        mut writing: MutexGuard<'a, Writing>,
    ) -> Option<MutexGuard<'a, Writing>> {
        let (queue, waiting) = self.count_completed(&mut writing.completed);
        let held = match writing.is_empty() && queue.is_empty() {
            true => {
                drop(writing);
                None
            }
            false => Some(writing),
        };
        drop(queue);
        waiting.into_iter().for_each(Waker::wake);
        held
    }

    /// Counts messages that are written. Returns the locked queue, and the tasks to be woken.
    fn count_completed(&self, all: &mut Vec<Queued>) -> (MutexGuard<'_, Queue>, Vec<Waker>) {
        // Only the writer counts.
        let mut written = self.written.load(Ordering::Relaxed);
        for queued in &*all {
            if queued.ticket == written.wrapping_add(1) {
                written = queued.ticket;
            }
        }
        // Pairs with the Acquire in `is_counted`.
        self.written.store(written, Ordering::Release);
        let mut queue = self.queue();
        self.uncount(&mut queue, Octets::of(all.iter().copied()));
        let tickets = all.drain(..).map(|queued| queued.ticket);
        queue
            .early
            .extend(tickets.filter(|ticket| *ticket > written));
        while queue.early.remove(&written.wrapping_add(1)) {
            written = written.wrapping_add(1);
        }
        self.written.store(written, Ordering::Release);
        let waiting = core::mem::take(&mut queue.waiting);
        (queue, waiting)
    }
}

/// Writes by one `writev`, of as many chunks as it takes.
fn write_once(stream: &dyn Connection, writing: &Writing) -> io::Result<usize> {
    let (mut slices, mut skip) = (Slices::new(), writing.offset);
    let mut add = |chunk| {
        let rest = <[u8]>::get(chunk, skip..);
        skip = skip.saturating_sub(chunk.len());
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            // Chunks beyond the limit leave by the next write.
            let _ = slices.try_push(IoSlice::new(rest));
        }
    };
    for outgoing in writing.messages.iter().take(MAX_CHUNKS) {
        match outgoing.octets.as_single() {
            Some(octets) => add(octets),
            None => outgoing.octets.chunks().for_each(&mut add),
        }
    }
    let written = stream.try_write(&slices);
    match written {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        written => written,
    }
}
