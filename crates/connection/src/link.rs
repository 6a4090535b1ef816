//! One connection's two directions: octets to messages, messages to octets.

use super::end::{End, Progress};
use super::fairness::{Evicted, MemoryLimit, MemoryShare, PeerMemory, Reserved};
use super::outbound::{Batched, Buffering, FULL_BATCH_OCTETS, Flush, Outbound, Ticket};
use super::spin::{Spin, Spinner, Spun};
use super::together;
use super::trace::{self, Shown};
use core::fmt;
// For counts, which no model has to explore.
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::io;
use std::sync::Arc;
use tokio::sync::Notify;
use zorb_cdr::Gather;
use zorb_executor::WaitPolicy;
use zorb_giop::{
    Cause, MessageKind, ProtocolError, Reader, Received, UnfinishedInput, Version, buffers,
    empty_message,
};
use zorb_transport::Connection;

/// Messages after which a driver lets other tasks run: a few hundred microseconds of work.
pub(crate) const MESSAGES_PER_TURN: usize = 256;
/// Reads after which a driver lets other tasks run, since a large message takes many reads. Also, how often the holder of a
/// contended lease reads again before it leaves reading to the driver.
pub(crate) const READS_PER_TURN: usize = 16;
/// The period of checks on a connection that the reactor does not watch. The driver of a client checks whether the
/// connection is still in use; the thread that serves one checks whether the ORB is stopping or the connection is idle.
/// The ORB notices within twice this time that a peer has closed an unused connection.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(250);

pub(crate) struct Link {
    pub(crate) stream: Box<dyn Connection>,
    pub(crate) outbound: Outbound,
    shown: Shown,
    /// The memory that the reader holds for messages which are not whole.
    reserved: Reserved,
    /// The connection itself, as the ORB counts it.
    admitted: Option<MemoryShare>,
    /// The [`UnfinishedInput`] of the reader at its last wait, as a number.
    unfinished: AtomicU8,
    messages_received: AtomicU64,
    octets_received: AtomicU64,
}

/// The state of the reader of a connection.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) reader: Reader,
    pub(crate) spinner: Spinner,
}

/// The result of handing out received messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drained {
    /// The buffer holds no further whole message.
    All,
    /// The buffer holds more messages than one turn handles.
    Turn,
    /// The next message must not be handled yet.
    Stopped,
}

/// The result of a blocking read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocked {
    Read,
    TimedOut,
    /// The transport has no blocking reads.
    Unsupported,
}

/// Has the task polled again after other tasks and the reactor have run.
pub(crate) fn let_others_run(cx: &mut Context<'_>) {
    let turn = core::pin::pin!(tokio::task::yield_now());
    // The first poll of the future arranges the wake-up.
    let _ = turn.poll(cx);
}

/// Counts without an atomic read-modify-write: only the reader counts.
fn count(counter: &AtomicU64, more: usize) {
    let more = u64::try_from(more).unwrap_or(u64::MAX);
    let before = counter.load(Ordering::Relaxed);
    counter.store(before.wrapping_add(more), Ordering::Relaxed);
}

impl Link {
    pub(crate) fn new(
        stream: Box<dyn Connection>,
        max_fragment: Option<usize>,
        shown: Shown,
    ) -> Self {
        let outbound = Outbound::default();
        if let Some(octets) = max_fragment {
            outbound.set_max_fragment(octets);
        }
        Self {
            stream,
            outbound,
            shown,
            reserved: Reserved::default(),
            admitted: None,
            unfinished: AtomicU8::new(UnfinishedInput::Nothing as u8),
            messages_received: AtomicU64::new(0),
            octets_received: AtomicU64::new(0),
        }
    }

    /// Counts the memory that the link holds with that of its peer.
    pub(crate) fn within(mut self, memory: &Arc<PeerMemory>) -> Self {
        self.admitted = Some(memory.admit(self.stream.memory_octets()));
        self.reserved = Reserved::of(memory);
        self.outbound.reserve_from(Reserved::of(memory));
        self
    }

    /// Has `waits`, which many connections may share, notified when the peer begins to make the ORB wait.
    pub(crate) fn notifying(mut self, waits: &Arc<Notify>) -> Self {
        self.outbound.waits = Arc::clone(waits);
        self
    }

    /// Counts the memory that the link of a connection to a server holds. Received octets are limited. Octets that wait to be
    /// sent come from the program itself, so they are counted, and never refused.
    pub(crate) fn of_client_within(mut self, memory: &Arc<MemoryLimit>) -> Self {
        self = self.within(&PeerMemory::within(memory));
        let own = PeerMemory::within(memory);
        self.outbound.reserve_from(Reserved::unchecked_of(&own));
        self
    }

    /// Ends the connection although its peer is reachable; its driver finds the end.
    #[cold]
    pub(crate) fn evict(&self, why: Evicted) -> End {
        self.outbound.give_up(why);
        self.stream.close();
        self.outbound.driver.notify();
        End::Lost(Cause::new(why.to_string()))
    }

    /// To be called before the reader waits, for octets or for room. `unfinished`: the unfinished messages whose rest the
    /// peer has yet to send.
    #[inline]
    pub(crate) fn rest(&self, reader: &mut Reader, unfinished: UnfinishedInput) -> Result<(), End> {
        self.set_unfinished(unfinished);
        self.pause(reader)
    }

    /// To be called before the reader waits, even if only for its next turn, as thousands of connections may wait then. The
    /// reader releases a buffer that it does not need; the rest is counted.
    #[inline]
    pub(crate) fn pause(&self, reader: &mut Reader) -> Result<(), End> {
        reader.release();
        match self.reserved.cover(|| reader.held()) {
            true => Ok(()),
            false => Err(self.evict(Evicted::Memory)),
        }
    }

    #[inline]
    fn set_unfinished(&self, unfinished: UnfinishedInput) {
        if self.unfinished.load(Ordering::Relaxed) != unfinished as u8 {
            self.unfinished.store(unfinished as u8, Ordering::Relaxed);
            if unfinished != UnfinishedInput::Nothing {
                self.outbound.waits.notify_one();
            }
        }
    }

    /// To be called before reading stops for a while, so that the peer is not blamed for an unfinished message.
    pub(crate) fn stops_reading(&self) {
        (self.unfinished).store(UnfinishedInput::Nothing as u8, Ordering::Relaxed);
    }

    /// Whether a message, or its fragments, had begun when the reader last waited.
    pub(crate) fn unfinished(&self) -> UnfinishedInput {
        match self.unfinished.load(Ordering::Relaxed) {
            unfinished if unfinished == UnfinishedInput::Fragments as u8 => {
                UnfinishedInput::Fragments
            }
            unfinished if unfinished == UnfinishedInput::Message as u8 => UnfinishedInput::Message,
            _ => UnfinishedInput::Nothing,
        }
    }

    /// Octets of the ORB's memory that the link has reserved.
    pub(crate) fn reserved_octets(&self) -> usize {
        self.reserved
            .octets()
            .saturating_add(self.outbound.reserved_octets())
    }

    /// Octets received so far.
    pub(crate) fn octets_received(&self) -> u64 {
        self.octets_received.load(Ordering::Relaxed)
    }

    /// Queues a message; the next flush writes it.
    pub(crate) fn queue(&self, message: Gather) -> Ticket {
        trace::sending(&*self.stream, &message, self.shown);
        self.outbound.submit(message)
    }

    /// Adds a message to the batch. The batch is written when it is full, with the next message that is sent, or soon by the
    /// driver; with `limits`, when one of them is reached.
    #[inline]
    pub(crate) fn batch(&self, message: &[u8], limits: Option<&Buffering>) -> Batched {
        let batched = match (trace::is_on(), limits) {
            (true, _) => Batched::Separate,
            (false, None) => self.outbound.batch(message),
            (false, Some(limits)) => self.outbound.buffer(message, limits),
        };
        if batched == Batched::Full {
            self.write_queued();
        }
        batched
    }

    /// Queues a message that may leave with the batch, but is [not copied](Batched::Separate) into it.
    #[cold]
    pub(crate) fn batch_separately(&self, message: Gather, limits: Option<&Buffering>) {
        let octets = message.len();
        self.queue(message);
        let batched = match limits {
            None => self.outbound.batch_queued(),
            Some(limits) => self.outbound.buffer_queued(octets, limits),
        };
        if batched == Batched::Full {
            self.write_queued();
        }
    }

    /// Queues a request that [others](together()) follow, at whose end all are written.
    pub(crate) fn queue_together(self: &Arc<Self>, message: Gather) -> Ticket {
        let ticket = self.queue(message);
        match self.outbound.queued_octets() < FULL_BATCH_OCTETS {
            true => together::note(self),
            false => self.write_queued(),
        }
        ticket
    }

    /// Writes what is queued, unless the driver waits for room in the socket, and writes it then.
    pub(crate) fn write_queued(&self) {
        // The driver finds a failure.
        let _ = self.outbound.flush_unless_blocked(&*self.stream);
    }

    /// Writes the batch. For the driver.
    pub(crate) fn write_batch(&self) {
        self.outbound.clear_batch();
        // The next use of the connection finds a failure.
        let _ = self.outbound.flush(&*self.stream);
    }

    /// Queues a message and writes it, unless another writer takes it along.
    pub(crate) fn send(&self, message: Gather) -> (Ticket, io::Result<Flush>) {
        trace::sending(&*self.stream, &message, self.shown);
        self.outbound.send(message, &*self.stream)
    }

    /// Sends a message that consists of its header, as the last message of the connection.
    pub(crate) fn send_empty(&self, kind: MessageKind, version: Version) {
        let mut message = zorb_cdr::Encoder::<zorb_cdr::NativeEndian>::with_buffer(
            buffers::take(),
            zorb_cdr::WireFormat::default(),
        );
        message.append(&empty_message(kind, version));
        let message = message.finish();
        trace::sending(&*self.stream, &message, self.shown);
        self.outbound.submit_last(message);
        // The driver's next read finds a failure.
        let _ = self.outbound.flush(&*self.stream);
    }

    /// Finishes writes that a full socket has stopped. For the driver.
    ///
    /// A failed write does not end the connection here: replies and CloseConnection that the peer sent before it stopped
    /// reading are still read.
    #[inline]
    pub(crate) fn unblock(&self, cx: &mut Context<'_>) -> Result<(), End> {
        match self.outbound.is_blocked() {
            true => self.write_on(cx),
            false => Ok(()),
        }
    }

    #[cold]
    fn write_on(&self, cx: &mut Context<'_>) -> Result<(), End> {
        match self.outbound.poll_unblock(&*self.stream, cx) {
            Poll::Ready(Err(error)) => self.is_final(error),
            _ => Ok(()),
        }
    }

    /// Whether an error of waiting for room ends the connection.
    pub(crate) fn is_final(&self, error: io::Error) -> Result<(), End> {
        match self.outbound.failure() {
            Some(_) => Ok(()),
            None => Err(End::Lost(Cause::new(error))),
        }
    }

    /// Hands the received messages to `handle`, at most as many as one turn allows. `may_handle` is called before each.
    #[inline]
    pub(crate) fn drain(
        &self,
        reader: &mut Reader,
        messages: &mut usize,
        mut may_handle: impl FnMut() -> Result<bool, End>,
        mut handle: impl FnMut(Received<'_>) -> Result<(), End>,
    ) -> Result<Drained, End> {
        while !reader.is_idle() {
            if !may_handle()? {
                return Ok(Drained::Stopped);
            }
            if *messages == MESSAGES_PER_TURN {
                return Ok(Drained::Turn);
            }
            let received = match reader.receive(|header, octets| {
                trace::received_fragment(&*self.stream, header, octets);
            }) {
                Ok(Some(received)) => received,
                Ok(None) => return Ok(Drained::All),
                Err(error) => return Err(self.broken(error, reader)),
            };
            count(&self.messages_received, 1);
            if trace::is_on() {
                self.handle_traced(received, &mut handle)?;
            } else {
                handle(received)?;
            }
            *messages = messages.saturating_add(1);
        }
        Ok(Drained::All)
    }

    #[cold]
    fn handle_traced(
        &self,
        received: Received<'_>,
        handle: &mut impl FnMut(Received<'_>) -> Result<(), End>,
    ) -> Result<(), End> {
        let message = received.to_message();
        trace::received(&*self.stream, &message, self.shown);
        let handled = handle(received);
        if let Err(End::Broken(error)) = &handled {
            trace::broken(
                &*self.stream,
                error,
                Some(message.frame.octets()),
                self.shown.payload,
            );
        }
        handled
    }

    /// The end of a connection whose peer broke the protocol; the offending octets are at the front of the buffer.
    #[cold]
    fn broken(&self, error: ProtocolError, reader: &mut Reader) -> End {
        trace::broken(
            &*self.stream,
            &error,
            Some(reader.buffer()),
            self.shown.payload,
        );
        End::Broken(error)
    }

    pub(crate) fn messages_received(&self) -> u64 {
        self.messages_received.load(Ordering::Relaxed)
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress::new(
            self.messages_received(),
            self.octets_received.load(Ordering::Relaxed),
            self.outbound.written_octets(),
        )
    }

    /// Makes room for a read.
    #[inline]
    fn reserve(&self, reader: &mut Reader) -> Result<(), End> {
        match reader.reserve() {
            Ok(()) if reader.holds_more_than_a_buffer() => {
                match self.reserved.cover(|| reader.held()) {
                    true => Ok(()),
                    false => Err(self.evict(Evicted::Memory)),
                }
            }
            Ok(()) => Ok(()),
            Err(error) => Err(self.broken(error, reader)),
        }
    }

    /// Evaluates the result of a read.
    #[inline(always)]
    pub(crate) fn has_read(&self, read: io::Result<usize>) -> Result<(), End> {
        match read {
            Ok(octets) if octets > 0 => {
                count(&self.octets_received, octets);
                Ok(())
            }
            read => Err(self.lost(read)),
        }
    }

    /// The end of a connection whose read returned no octets.
    #[cold]
    fn lost(&self, read: io::Result<usize>) -> End {
        match read {
            Ok(_) => End::Lost(Cause::new("end of stream")),
            Err(error) => End::Lost(Cause::new(error)),
        }
    }

    /// Reads once, without waiting. Returns `false` if nothing has arrived.
    pub(crate) fn try_read(&self, reading: &mut Reading) -> Result<bool, End> {
        let reader = &mut reading.reader;
        self.reserve(reader)?;
        match self.stream.try_read(reader.buffer()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let unfinished = reader.unfinished();
                self.rest(reader, unfinished).map(|()| false)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            read => self.has_read(read).map(|()| true),
        }
    }

    /// Spins for octets, as long as the policy advises.
    pub(crate) fn spin(&self, reading: &mut Reading, policy: WaitPolicy) -> Spun {
        match reading.spinner.begin(policy) {
            Some(spin) => self.spin_on(reading, spin),
            None => Spun::Park,
        }
    }

    /// Runs a spin that [`Spinner::begin`] has permitted.
    pub(crate) fn spin_on(&self, reading: &mut Reading, spin: Spin) -> Spun {
        let Reading { reader, spinner } = reading;
        if self.reserve(reader).is_err() {
            // The read that follows reports the lack of memory.
            return Spun::Park;
        }
        spinner.traffic(
            self.octets_received.load(Ordering::Relaxed),
            self.outbound.written_octets(),
        );
        let stream = &*self.stream;
        spinner.spin(spin, stream, || stream.try_read(reader.buffer()))
    }

    /// To be called before a thread blocks in a read, with the buffer that it reads into.
    #[inline]
    fn begins_to_block(&self, reader: &Reader) -> Result<(), End> {
        self.set_unfinished(reader.unfinished());
        match self.reserved.cover(|| reader.held()) {
            true => Ok(()),
            false => Err(self.evict(Evicted::Memory)),
        }
    }

    /// One read that blocks this thread, at most for `limit`.
    pub(crate) fn read_blocking(
        &self,
        reading: &mut Reading,
        limit: Option<Duration>,
    ) -> Result<Blocked, End> {
        let Reading { reader, spinner } = reading;
        self.reserve(reader)?;
        self.begins_to_block(reader)?;
        self.stream.deregister();
        match self.stream.read_blocking(reader.buffer(), limit) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Blocked::TimedOut),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Blocked::Unsupported),
            read => {
                spinner.has_woken();
                self.has_read(read).map(|()| Blocked::Read)
            }
        }
    }

    /// Reads once, or has the reactor wake `cx`. An idle connection holds no buffer while it waits.
    ///
    /// `registered`: whether an earlier read of the same poll has left the socket registered with the reactor, and nothing
    /// was read since; then there is nothing to read. A read that leaves the socket registered sets it.
    #[inline]
    pub(crate) fn poll_read(
        &self,
        reading: &mut Reading,
        registered: &mut bool,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), End>> {
        let Reading { reader, spinner } = reading;
        if !core::mem::take(registered) {
            self.reserve(reader)?;
            if let Poll::Ready(read) = self.stream.poll_read_and_register(cx, reader.buffer()) {
                spinner.has_woken();
                return Poll::Ready(self.has_read(read.map(|read| {
                    *registered = read.is_registered;
                    read.octets
                })));
            }
        }
        let unfinished = reader.unfinished();
        self.rest(reader, unfinished)?;
        Poll::Pending
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(zorb_model)))]
pub(crate) mod tests {
    use super::Shown;
    use crate::trace::Describe;

    pub(crate) fn shown() -> Shown {
        Shown {
            payload: 0,
            describe: Describe {
                key: |_| String::new(),
                reference: |_| String::new(),
            },
        }
    }
}
