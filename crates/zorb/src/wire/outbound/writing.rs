//! Whoever finds the write side free writes what is queued.

use super::super::sync::{MutexGuard, Ordering, fence};
use super::super::trace;
use super::{Ends, FRAGMENTS_PER_TURN, Flush, Large, MAX_CHUNKS, Outbound, Outgoing, Writing};
use core::task::{Context, Poll, Waker};
use std::io::{self, IoSlice};
use std::sync::TryLockError;
use zorb_giop::buffers;
use zorb_transport::Connection;

impl Outbound {
    /// Writes what is queued, unless somebody else is doing so.
    ///
    /// # Errors
    /// When the transport fails; the connection is over then.
    #[inline]
    pub(crate) fn flush(&self, stream: &dyn Connection) -> io::Result<Flush> {
        if self.queued_octets() == 0 {
            // What others queue just now they write themselves.
            return Ok(Flush::Done);
        }
        self.flush_queued(stream)
    }

    /// The same, unless somebody waits for room in the socket, who writes all that is queued by then.
    ///
    /// # Errors
    /// When the transport fails.
    pub(crate) fn flush_enough(&self, stream: &dyn Connection) -> io::Result<Flush> {
        // Pairs with the one in `poll_unblock`: either we see that nobody waits any more, or it sees what we have queued.
        fence(Ordering::SeqCst);
        match self.is_blocked() {
            true => Ok(Flush::Blocked),
            false => self.flush(stream),
        }
    }

    fn flush_queued(&self, stream: &dyn Connection) -> io::Result<Flush> {
        // Pairs with the one in `send`: whoever holds the write side for one message, and does not look at the queue, either
        // sees what was queued before this, or has let go.
        fence(Ordering::SeqCst);
        let mut writing = match self.writing.try_lock() {
            Ok(writing) => writing,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(Flush::Done),
        };
        if writing.messages.is_empty() && writing.large.is_empty() && self.failed.get().is_none() {
            let mut queue = self.queue();
            queue.part();
            // A single message is not passed on from queue to queue.
            let alone = queue.messages.len() == 1 && queue.large.is_empty();
            let single = |message: &Outgoing| message.octets.as_single().is_some();
            if alone
                && queue.messages.front().is_some_and(single)
                && let Some(message) = queue.messages.pop_front()
            {
                drop(queue);
                match self.write_alone(message, stream, writing) {
                    Ok(flush) => return Ok(flush),
                    Err(held) => writing = held,
                }
            }
        }
        self.write(writing, stream)
    }

    /// Writes a message in one piece, before which there is nothing. If there is more to do then,
    /// gives the write side back, with what is left of the message in it.
    fn write_alone<'a>(
        &self,
        message: Outgoing,
        stream: &dyn Connection,
        mut writing: MutexGuard<'a, Writing>,
    ) -> Result<Flush, MutexGuard<'a, Writing>> {
        let octets = message.octets.as_single().unwrap_or_default();
        // What goes wrong is found out again by whoever deals with it.
        zorb_giop::probe!(Writing);
        let written = stream.try_write(&[IoSlice::new(octets)]).unwrap_or(0);
        zorb_giop::probe!(Written);
        self.count_written(written);
        match message.ends {
            Some(ends) if written == octets.len() => {
                buffers::give(message.octets.into_buffer());
                match self.finished(&[ends], Some(writing)) {
                    None => Ok(Flush::Done),
                    Some(writing) => Err(writing),
                }
            }
            _ => {
                writing.offset = written;
                writing.messages.push_back(message);
                Err(writing)
            }
        }
    }

    /// Writes until nothing is queued. Lets go of the write side under the lock of the queue, once
    /// that is empty: whoever queues a message later finds the write side free.
    pub(super) fn write<'a>(
        &'a self,
        mut writing: MutexGuard<'a, Writing>,
        stream: &dyn Connection,
    ) -> io::Result<Flush> {
        if let Some((kind, cause)) = self.failed.get() {
            return Err(io::Error::new(*kind, cause.as_str()));
        }
        loop {
            if writing.messages.is_empty() {
                self.refill(stream, &mut writing);
            }
            if writing.messages.is_empty() {
                let queue = self.queue();
                if queue.has_nothing() && writing.large.is_empty() {
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
                    // Let go first: a driver that clears the flag after this can write.
                    drop(writing);
                    // A driver that knows already waits for the socket, and must not be
                    // woken by its own attempts.
                    if !self.blocked.swap(true, Ordering::AcqRel) {
                        self.driver.ring();
                    }
                    return Ok(Flush::Blocked);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let _ = self.failed.set((error.kind(), error.to_string()));
                    drop(writing);
                    // It reads what is still there, and then ends the connection.
                    self.driver.ring();
                    return Err(error);
                }
            }
        }
    }

    /// Whether something waits for room in the socket.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Acquire)
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
                    // Pairs with the one in `flush_enough`: what its caller leaves to us is seen here.
                    fence(Ordering::SeqCst);
                    // Whoever finds the socket full from now on says so anew.
                    if let Err(error) = self.flush(stream) {
                        return Poll::Ready(Err(error));
                    }
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes over what is queued, and the next pieces of what is being cut.
    fn refill(&self, stream: &dyn Connection, writing: &mut Writing) {
        let given_up = {
            let mut queue = self.queue();
            queue.part();
            writing.messages.append(&mut queue.messages);
            writing.large.append(&mut queue.large);
            core::mem::take(&mut queue.given_up)
        };
        if !given_up.is_empty() {
            let mut dropped = Vec::new();
            writing.large.retain(|(ends, large)| {
                let drop = matches!(large, Large::Cut(_)) && given_up.contains(&ends.ticket);
                if drop {
                    dropped.push(*ends);
                }
                !drop
            });
            self.finished(&dropped, None);
        }
        let Some((ends, front)) = writing.large.front_mut() else {
            return;
        };
        let ends = *ends;
        let done = match front {
            Large::Last(message) => {
                writing.messages.push_back(Outgoing {
                    octets: core::mem::take(message),
                    ends: Some(ends),
                });
                true
            }
            Large::Cut(fragments) => {
                let mut octets = 0;
                while let Some(piece) = fragments.next() {
                    octets += piece.len();
                    trace::sending_piece(stream, &piece);
                    let done = fragments.is_done();
                    writing.messages.push_back(Outgoing {
                        octets: piece,
                        ends: done.then_some(ends),
                    });
                    if octets >= FRAGMENTS_PER_TURN && !fragments.is_contiguous() {
                        break;
                    }
                }
                fragments.is_done()
            }
        };
        if done {
            writing.large.pop_front();
        }
    }

    /// Counts octets that are out. Only whoever writes does.
    pub(super) fn count_written(&self, octets: usize) {
        let written = self.written_octets().wrapping_add(octets as u64);
        self.written_octets.store(written, Ordering::Relaxed);
    }

    /// As [`finished`](Self::finished).
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
                writing.finished.extend(done.ends);
            }
        }
        let finished = core::mem::take(&mut writing.finished);
        let mut writing = self.finished(&finished, Some(writing));
        if let Some(writing) = &mut writing {
            writing.finished = finished;
            writing.finished.clear();
        }
        writing
    }

    /// Counts messages that are out. Then lets go of the write side, unless there is more to write.
    pub(in super::super) fn finished<'a>(
        &self,
        all: &[Ends],
        writing: Option<MutexGuard<'a, Writing>>,
    ) -> Option<MutexGuard<'a, Writing>> {
        if all.is_empty() {
            return writing;
        }
        // Only whoever writes counts.
        let counted = self.written.load(Ordering::Relaxed);
        let in_order = match all {
            // As a rule.
            [one] => usize::from(one.ticket == counted + 1),
            all => (counted + 1..)
                .zip(all)
                .take_while(|(expected, ends)| *expected == ends.ticket)
                .count(),
        };
        // Pairs with the Acquire in `is_counted`.
        self.written
            .store(counted + in_order as u64, Ordering::Release);
        let mut queue = self.queue();
        if let ([one], 1) = (all, in_order)
            && queue.is_quiet()
            && writing.as_ref().is_some_and(|writing| writing.is_empty())
        {
            // As a rule, too. The write side is let go of under the lock of the queue.
            self.count(one.octets.wrapping_neg());
            drop(writing);
            drop(queue);
            return None;
        }
        let octets = all.iter().map(|ends| ends.octets).sum::<usize>();
        self.count(octets.wrapping_neg());
        if in_order < all.len() || !queue.early.is_empty() {
            let early = all.iter().skip(in_order).map(|ends| ends.ticket);
            queue.early.extend(early);
            while queue
                .early
                .remove(&(self.written.load(Ordering::Relaxed) + 1))
            {
                self.written.fetch_add(1, Ordering::Release);
            }
        }
        let held = writing.filter(|writing| {
            !writing.messages.is_empty() || !writing.large.is_empty() || !queue.has_nothing()
        });
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
