//! One connection's two directions: octets to messages in, messages to octets out.

mod ends;

pub(crate) use ends::{End, FINISHED_WITHIN};

use super::outbound::{Flush, Joined, Outbound, Ticket};
use super::trace;
use super::waiting::{Tried, Waiting};
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::io;
use zorb_cdr::{Frame, Gather};
use zorb_executor::WaitPolicy;
use zorb_giop::{
    Message, MessageKind, ProtocolError, Reader, RequestId, SmallReply, Version, buffers,
    empty_message,
};
use zorb_transport::{Connection, Endpoint};

/// Messages after which a driver lets others have a turn: a few hundred microseconds of our own
/// work.
pub(crate) const MESSAGES_PER_TURN: usize = 256;
/// Reads after which it does so: large messages take many.
pub(crate) const READS_PER_TURN: usize = 16;

/// What a handler wants after a message.
pub(crate) type Handled = Result<(), End>;

pub(crate) struct Link {
    pub(crate) stream: Box<dyn Connection>,
    pub(crate) outbound: Outbound,
    pub(crate) endpoint: Endpoint,
    /// Octets of a message that a trace shows.
    trace_payload: usize,
    received: Received,
}

/// What whoever reads has in hand.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) reader: Reader,
    pub(crate) waiting: Waiting,
}

/// What there was among what had been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Whole messages, which have all been handled, or none.
    All,
    /// More than is handled in one turn.
    Turn,
    /// One that may not be handled yet, perhaps.
    Stopped,
}

/// What has been read beside a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// It is the last one, so what is said to it need not wait for what is said to others.
    Nothing,
    More,
}

/// What came of blocking for a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocked {
    Read,
    InVain,
    /// The transport has no such reads.
    Cannot,
}

/// Has the task polled again when others have had their turn, the reactor among them.
pub(crate) fn let_others_run(cx: &mut Context<'_>) {
    let turn = core::pin::pin!(tokio::task::yield_now());
    // Its first poll sees to the waking.
    let _ = turn.poll(cx);
}

/// What has come so far. Only who reads counts.
#[derive(Debug, Default)]
struct Received {
    messages: AtomicU64,
    octets: AtomicU64,
}

impl Received {
    fn count(counter: &AtomicU64, more: usize) {
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        let before = counter.load(Ordering::Relaxed);
        counter.store(before.wrapping_add(more), Ordering::Relaxed);
    }
}

impl Link {
    /// `max_fragment`: octets above which messages are cut into fragments, if they are.
    /// `trace_payload`: octets of each message that a trace shows.
    pub(crate) fn new(
        stream: Box<dyn Connection>,
        endpoint: Endpoint,
        max_fragment: Option<usize>,
        trace_payload: usize,
    ) -> Self {
        let outbound = Outbound::default();
        if let Some(octets) = max_fragment {
            outbound.set_max_fragment(octets);
        }
        Self {
            stream,
            outbound,
            endpoint,
            trace_payload,
            received: Received::default(),
        }
    }

    /// Queues a message; the driver's next flush writes it.
    pub(crate) fn queue(&self, message: Gather) -> Ticket {
        trace::sending(&*self.stream, &message, self.trace_payload);
        self.outbound.submit(message)
    }

    /// Queues a message that may leave together with others: when enough of them wait, with the
    /// next that is sent, or when the driver finds it time.
    #[inline]
    pub(crate) fn join(&self, message: &[u8]) -> Joined {
        let joined = match trace::is_on() {
            true => Joined::Alone,
            false => self.outbound.join(message),
        };
        if joined == Joined::Enough {
            self.write_enough();
        }
        joined
    }

    /// The same of a message that has to be queued [by itself](Joined::Alone).
    #[cold]
    pub(crate) fn join_alone(&self, message: Gather) {
        self.queue(message);
        if self.outbound.joins_more() == Joined::Enough {
            self.write_enough();
        }
    }

    fn write_enough(&self) {
        // A failure is the driver's business.
        let _ = self.outbound.flush_enough(&*self.stream);
    }

    /// For the driver: writes what has been joined.
    pub(crate) fn write_joined(&self) {
        self.outbound.joined();
        // A failure shows itself in the next look at the connection.
        let _ = self.outbound.flush(&*self.stream);
    }

    /// Says something to a message: at once if it is the last one, else with what is said to the others. What is said is
    /// sent from where it is, and used up with that.
    pub(crate) fn reply(&self, message: &mut Gather, behind: Behind) {
        match behind {
            Behind::Nothing => {
                trace::sending(&*self.stream, message, self.trace_payload);
                // A failure shows itself to the driver's next read.
                drop(self.outbound.send_from(message, &*self.stream));
            }
            Behind::More => drop(self.queue(core::mem::take(message))),
        }
    }

    /// Queues a message and writes it, or leaves it to whoever is writing.
    pub(crate) fn send(&self, message: Gather) -> (Ticket, io::Result<Flush>) {
        trace::sending(&*self.stream, &message, self.trace_payload);
        self.outbound.send(message, &*self.stream)
    }

    /// Sends a message that is nothing but a header, as far as it will go, and is the last one.
    pub(crate) fn send_empty(&self, kind: MessageKind, version: Version) {
        let mut message = zorb_cdr::Encoder::<zorb_cdr::NativeEndian>::with_buffer(
            buffers::take(),
            zorb_cdr::WireFormat::default(),
        );
        message.append(&empty_message(kind, version));
        let message = message.finish();
        trace::sending(&*self.stream, &message, self.trace_payload);
        self.outbound.submit_last(message);
        // A failure shows itself to the driver's next read.
        let _ = self.outbound.flush(&*self.stream);
    }

    /// For the driver: finishes writes that were blocked.
    ///
    /// What the peer said before it stopped listening is read to its end all the same: replies,
    /// and that it closes in order. So a failed write ends nothing here.
    #[inline]
    pub(crate) fn unblock(&self, cx: &mut Context<'_>) -> Result<(), End> {
        if self.outbound.is_blocked() {
            self.write_on(cx)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn write_on(&self, cx: &mut Context<'_>) -> Result<(), End> {
        match self.outbound.poll_unblock(&*self.stream, cx) {
            Poll::Ready(Err(error)) => self.is_final(&error),
            _ => Ok(()),
        }
    }

    /// Whether the connection ends with an error of waiting for room to write.
    pub(crate) fn is_final(&self, error: &io::Error) -> Result<(), End> {
        match self.outbound.failure() {
            Some(_) => Ok(()),
            None => Err(End::Lost(error.to_string())),
        }
    }

    /// For the driver of a server's connection: finishes writes that were blocked, reads, and
    /// hands every message to `handle`, until the connection ends. `may_handle` is asked before
    /// each message, and sees to being woken when it says no. `may_try` is asked before it sleeps
    /// behind messages: whether to try for more first. `serve_front` may take the message at the front of `reader`, and
    /// says whether it has; both it and `handle` get `state`.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is asked for something else"
    )]
    pub(crate) fn poll_messages<S>(
        &self,
        reading: &mut Reading,
        policy: WaitPolicy,
        cx: &mut Context<'_>,
        may_handle: impl Fn(&mut Context<'_>) -> bool,
        mut may_try: impl FnMut(&mut Waiting) -> bool,
        state: &mut S,
        mut serve_front: impl FnMut(&mut S, &mut Reader) -> bool,
        mut handle: impl FnMut(&mut S, Message, Behind) -> Handled,
    ) -> Poll<End> {
        if let Err(end) = self.unblock(cx) {
            return Poll::Ready(end);
        }
        let mut messages = 0;
        // Whether what comes behind the last read wakes this task.
        let mut listens = false;
        for _ in 0..READS_PER_TURN {
            let (before, said) = (messages, self.outbound.written_octets());
            let reader = &mut reading.reader;
            let mut is_free = may_handle(cx);
            while is_free && messages < MESSAGES_PER_TURN && serve_front(state, reader) {
                messages += 1;
                is_free = reader.is_idle() || may_handle(cx);
            }
            let taken = if is_free && reader.is_idle() {
                // Whoever has just been woken has read nothing yet.
                Ok(Taken::All)
            } else {
                self.take(
                    reader,
                    &mut messages,
                    || self.has_room(cx, &may_handle),
                    |message, behind| handle(state, message, behind),
                )
            };
            if let Ok(Taken::Stopped) = taken {
                return Poll::Pending;
            }
            // The replies to all requests of one read leave in one write.
            let flushed = self.outbound.flush(&*self.stream);
            let taken = match taken {
                Ok(taken) => taken,
                Err(end) => return Poll::Ready(end),
            };
            if let Err(error) = flushed
                && let Err(end) = self.is_final(&error)
            {
                return Poll::Ready(end);
            }
            if let Err(end) = self.unblock(cx) {
                return Poll::Ready(end);
            }
            if taken == Taken::Turn {
                break;
            }
            let waiting = &mut reading.waiting;
            if messages > before {
                let answered = self.outbound.written_octets() != said;
                waiting.has_served(answered, self.received.octets.load(Ordering::Relaxed));
            }
            let tries = (messages > before || waiting.is_unwatched())
                && !self.outbound.is_blocked()
                && may_try(waiting);
            let tried = match tries {
                true => self.try_read(reading, policy),
                false => Tried::Sleep,
            };
            let read = match tried {
                // Asked already, by the read that brought what has been handled since.
                Tried::Sleep if listens => {
                    reading.reader.release();
                    Poll::Pending
                }
                Tried::Sleep => {
                    let on = reading.waiting.will_sleep(policy);
                    self.poll_read_and(reading, on, cx)
                }
                Tried::Yield => break,
                Tried::Read(read) => Poll::Ready(self.has_come(read).map(|()| false)),
            };
            match read {
                Poll::Pending => {
                    reading.waiting.sleeps();
                    return Poll::Pending;
                }
                Poll::Ready(Err(end)) => return Poll::Ready(end),
                Poll::Ready(Ok(on)) => listens = on,
            }
        }
        let_others_run(cx);
        Poll::Pending
    }

    /// Hands the messages that have been read to `handle`, no more than a turn of them;
    /// `may_handle` is asked before each.
    pub(crate) fn take(
        &self,
        reader: &mut Reader,
        messages: &mut usize,
        mut may_handle: impl FnMut() -> Result<bool, End>,
        mut handle: impl FnMut(Message, Behind) -> Handled,
    ) -> Result<Taken, End> {
        loop {
            if !may_handle()? {
                return Ok(Taken::Stopped);
            }
            if *messages == MESSAGES_PER_TURN {
                return Ok(Taken::Turn);
            }
            let next = reader.next_seeing(|header, octets| {
                trace::received_piece(&*self.stream, header, octets);
            });
            match next {
                Ok(Some(message)) => {
                    zorb_giop::probe!(Framed);
                    Received::count(&self.received.messages, 1);
                    trace::received(&*self.stream, &message, self.trace_payload);
                    // What is shown if the handler finds it malformed.
                    let octets = trace::is_on().then(|| message.frame.clone());
                    let behind = match reader.is_idle() {
                        true => Behind::Nothing,
                        false => Behind::More,
                    };
                    match handle(message, behind) {
                        Ok(()) => *messages += 1,
                        Err(end) => {
                            self.trace_broken(&end, octets.as_ref().map(Frame::octets));
                            return Err(end);
                        }
                    }
                }
                Ok(None) => return Ok(Taken::All),
                Err(error) => {
                    let end = End::Broken(error);
                    self.trace_broken(&end, Some(reader.buffer()));
                    return Err(end);
                }
            }
        }
    }

    /// Takes a small reply to `id`, if that is all that has been read: see [`Reader::take_small`].
    #[inline]
    pub(crate) fn take_small(
        &self,
        reader: &mut Reader,
        id: RequestId,
        small: &mut SmallReply,
    ) -> bool {
        let taken = reader.take_small(id, small);
        if taken {
            zorb_giop::probe!(Framed);
            Received::count(&self.received.messages, 1);
        }
        taken
    }

    /// Counts a message that has come.
    #[inline]
    pub(crate) fn has_received_one(&self) {
        Received::count(&self.received.messages, 1);
    }

    /// Messages that have come so far.
    pub(crate) fn messages_received(&self) -> u64 {
        self.received.messages.load(Ordering::Relaxed)
    }

    fn trace_broken(&self, end: &End, octets: Option<&[u8]>) {
        if let End::Broken(error) = end {
            trace::broken(&*self.stream, error, octets, self.trace_payload);
        }
    }

    /// Whether another message may be handled: asked once more after what waits has been written.
    fn has_room(
        &self,
        cx: &mut Context<'_>,
        may_handle: &impl Fn(&mut Context<'_>) -> bool,
    ) -> Result<bool, End> {
        if may_handle(cx) {
            return Ok(true);
        }
        match self.outbound.flush(&*self.stream) {
            Ok(_) => Ok(may_handle(cx)),
            Err(error) => Err(End::Lost(error.to_string())),
        }
    }

    /// Makes room for a read.
    #[inline]
    fn reserve(&self, reader: &mut Reader) -> Result<(), End> {
        match reader.reserve() {
            Ok(()) => Ok(()),
            Err(error) => Err(self.broken_at_front(error, reader)),
        }
    }

    #[cold]
    fn broken_at_front(&self, error: ProtocolError, reader: &mut Reader) -> End {
        let end = End::Broken(error);
        self.trace_broken(&end, Some(reader.buffer()));
        end
    }

    /// What a read means.
    #[inline(always)]
    pub(crate) fn has_come(&self, read: io::Result<usize>) -> Result<(), End> {
        match read {
            Ok(octets) if octets > 0 => {
                zorb_giop::probe!(Read);
                Received::count(&self.received.octets, octets);
                Ok(())
            }
            read => Err(has_not_come(read)),
        }
    }

    /// Tries to read for as long as it is wise.
    pub(crate) fn try_read(&self, reading: &mut Reading, policy: WaitPolicy) -> Tried {
        if policy == WaitPolicy::Park {
            return Tried::Sleep;
        }
        let Reading { reader, waiting } = reading;
        if self.reserve(reader).is_err() {
            // It is told by the read that follows.
            return Tried::Sleep;
        }
        let stream = &*self.stream;
        waiting.try_read(policy, stream, || stream.try_read(reader.buffer()))
    }

    /// One read, for which this thread blocks: whether something has come before `limit` passed.
    pub(crate) fn read_blocking(
        &self,
        reading: &mut Reading,
        limit: Option<Duration>,
    ) -> Result<Blocked, End> {
        let Reading { reader, waiting } = reading;
        self.reserve(reader)?;
        waiting.looks_away(&*self.stream);
        match self.stream.read_blocking(reader.buffer(), limit) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Blocked::InVain),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Blocked::Cannot),
            read => {
                waiting.has_woken();
                self.has_come(read).map(|()| Blocked::Read)
            }
        }
    }

    /// One read, or the reactor knows whom to wake for it. An idle connection holds no buffer
    /// while it waits.
    pub(crate) fn poll_read(
        &self,
        reading: &mut Reading,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), End>> {
        self.poll_read_and(reading, false, cx).map_ok(|_| ())
    }

    /// The same. If it is to go `on`, the reactor may know already whom to wake for what comes behind what was read:
    /// whether it does.
    #[inline]
    fn poll_read_and(
        &self,
        reading: &mut Reading,
        on: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Result<bool, End>> {
        let reader = &mut reading.reader;
        if let Err(end) = self.reserve(reader) {
            return Poll::Ready(Err(end));
        }
        reading.waiting.watched();
        let read = match on {
            true => self.stream.poll_read_on(cx, reader.buffer()),
            false => (self.stream.poll_read(cx, reader.buffer())).map_ok(|octets| (octets, false)),
        };
        match read {
            Poll::Pending => {
                reader.release();
                Poll::Pending
            }
            Poll::Ready(Ok((octets, listens))) => {
                reading.waiting.has_woken();
                Poll::Ready(self.has_come(Ok(octets)).map(|()| listens))
            }
            Poll::Ready(Err(error)) => Poll::Ready(self.has_come(Err(error)).map(|()| false)),
        }
    }

    /// As [`poll_read`](Self::poll_read), for who expects a small message: how many octets have come to the front of `place`,
    /// and whether the reactor knows already whom to wake for what comes behind them. Nothing where the transport
    /// cannot.
    #[inline]
    pub(crate) fn poll_read_few(
        &self,
        reading: &mut Reading,
        place: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<(usize, bool)>, End>> {
        match self.stream.poll_read_few(cx, place) {
            Poll::Pending => {
                reading.waiting.watched();
                Poll::Pending
            }
            Poll::Ready(Ok((octets, listens))) => {
                reading.waiting.watched();
                reading.waiting.has_woken();
                let come = self.has_come(Ok(octets));
                Poll::Ready(come.map(|()| Some((octets, listens))))
            }
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Poll::Ready(Ok(None))
            }
            Poll::Ready(Err(error)) => Poll::Ready(self.has_come(Err(error)).map(|()| None)),
        }
    }

    /// Puts octets to those that have been read, of which there are none.
    #[cold]
    pub(crate) fn receive(&self, reader: &mut Reader, octets: &[u8]) -> Result<(), End> {
        match reader.receive(octets) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.broken_at_front(error, reader)),
        }
    }
}

/// What a read means that has brought nothing.
#[cold]
fn has_not_come(read: io::Result<usize>) -> End {
    End::Lost(match read {
        Ok(_) => "end of stream".to_owned(),
        Err(error) => error.to_string(),
    })
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}
