//! The pump: reads a connection for all of its callers. A caller that waits runs it, within its poll or blocking its thread,
//! or the driver does.
//!
//! A turn of the pump hands out what has come, and waits for more in one of three ways: it spins, it blocks in `recv`, or it
//! has the reactor watch and parks. It ends with the next [reader](CurrentReader).

use super::super::blocking::{self, may_block};
use super::super::end::End;
use super::super::link::{Blocked, Drained, READS_PER_TURN, Reading, let_others_run};
use super::super::reader::{CurrentReader, Lease};
use super::super::spin::Spun;
use super::super::sync::{Ordering, clock};
use super::call::Call;
use super::{CallError, ClientConnection, OwnReply};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;
use zorb_executor::WaitPolicy;
use zorb_giop::{ReplySlot, RequestId, UnfinishedInput};

/// The number of other waiting calls up to which a caller spins for all. With more of them a message comes soon anyway, and
/// many calls share the cost of parking.
const MAX_SPINNING_WAITERS: usize = 3;

/// The pause between two requests after which a connection is read before the next request is written. Callers that call without a pause are spared the system call. In models each request is the first after a pause.
const PAUSE: Duration = if cfg!(zorb_model) {
    Duration::ZERO
} else {
    Duration::from_millis(1)
};

/// How a reader waits for octets once it has spun, if it spins.
enum Wait<'a, 'b> {
    /// Within a poll, by the reactor.
    Poll(&'a mut Context<'b>),
    /// By blocking its thread, until the deadline.
    Block(Option<Instant>),
}

impl Wait<'_, '_> {
    const fn blocks(&self) -> bool {
        matches!(self, Self::Block(_))
    }
}

/// The reader that a turn of the pump leaves the connection to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// This one. The caller parks: its waker is in the table, and that reader wakes it.
    Park(CurrentReader),
    /// This one. The caller has its reply, or has to be polled again.
    Leave(CurrentReader),
    /// Another caller that blocks its thread, else the driver if other callers wait.
    LeaveToWaiter,
}

/// What a look at the table of calls has found, before a reader waits.
enum Looked {
    /// The turn is over.
    Over(Next),
    /// The reader waits, or has to drain the socket.
    Waits,
    /// Octets have come, or more messages have to be handled first.
    Again,
}

impl ClientConnection {
    /// Reads for the driver. Returns `false` if another reader holds the lease, which then looks again instead.
    pub(crate) fn drive_read(&self, cx: &mut Context<'_>) -> bool {
        let lease = self.waiters.reading.claim();
        let claimed = lease.is_some();
        if let Some(lease) = lease {
            self.pump(lease, None, Wait::Poll(cx));
        }
        claimed
    }

    /// Finds an end of the connection that has arrived, before a request is sent after a pause: reads, without waiting. A task
    /// whose socket the reactor watches need not: its runtime looks before it runs the task again. A thread that calls does
    /// not wait for the runtime, which may not have had its turn.
    #[inline]
    pub(super) fn look_before_sending(&self, blocks: bool) {
        if (blocks || self.waiters.reading.is_timed()) && self.has_paused() {
            self.look();
        }
    }

    /// Whether the last request was sent some time ago. Counts this one.
    fn has_paused(&self) -> bool {
        let now = clock::now().saturating_duration_since(self.opened);
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let before = self.last_sent.swap(now, Ordering::Relaxed);
        Duration::from_nanos(now.saturating_sub(before)) >= PAUSE
    }

    /// Reads what has arrived, without waiting.
    #[cold]
    fn look(&self) {
        let Some(mut lease) = self.waiters.reading.claim() else {
            return;
        };
        let mut next = Next::Leave(match lease.before() {
            // The leader may have its reply by now.
            CurrentReader::Reactor(_) => CurrentReader::Reactor(None),
            CurrentReader::Timer => CurrentReader::Timer,
            _ => CurrentReader::Driver,
        });
        loop {
            match lease.with(|reading| self.read_arrived(reading)) {
                Ok(true) => {}
                Ok(false) => next = Next::Leave(CurrentReader::Driver),
                // Before the lease is released: the next reader must find the end.
                Err(end) => return self.end(end),
            }
            match self.leave(lease, next, None) {
                // A caller that has asked for the lease relies on another reader now.
                Some(again) => (lease, next) = (again, Next::LeaveToWaiter),
                None => return,
            }
        }
    }

    /// Reads what has arrived. Returns `false` if there may be more.
    fn read_arrived(&self, reading: &mut Reading) -> Result<bool, End> {
        for _ in 0..READS_PER_TURN {
            let drained = self.link.drain(
                &mut reading.reader,
                &mut 0,
                || Ok(self.may_read()),
                |received| self.handle(received, None),
            )?;
            if drained == Drained::Stopped {
                break;
            }
            if !self.link.try_read(reading)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads until `own` has its reply, or the reader has to park, to yield or to give up. Every waiter learns of the end of the
    /// connection. Returns whether the reader parks: it has its waker in the table, and another reader wakes it.
    #[inline]
    fn pump(
        &self,
        mut lease: Lease<'_, Reading>,
        mut own: Option<&mut OwnReply<'_>>,
        mut wait: Wait<'_, '_>,
    ) -> bool {
        for _ in 0..READS_PER_TURN {
            let turn = lease.with(|reading| self.turn(reading, &mut own, &mut wait));
            let Ok(next) = turn.map_err(|end| self.end(end)) else {
                // The end is stored before the lease is released: the next reader would find the end of the stream behind
                // the CloseConnection that this one has read.
                return false;
            };
            match self.leave(lease, next, own.as_deref_mut()) {
                Some(again) => lease = again,
                None => return matches!(next, Next::Park(_)),
            }
        }
        // Other readers ask for the lease faster than this one can look again. Dropping the lease wakes the driver.
        false
    }

    /// One turn: until the socket is drained, or the reader has its reply.
    fn turn(
        &self,
        reading: &mut Reading,
        own: &mut Option<&mut OwnReply<'_>>,
        wait: &mut Wait<'_, '_>,
    ) -> Result<Next, End> {
        let (mut messages, mut reads) = (0, 0_usize);
        // Whether the socket is registered with the reactor, and nothing was read since.
        let mut registered = false;
        loop {
            let drained = self.link.drain(
                &mut reading.reader,
                &mut messages,
                || Ok(self.may_read()),
                |received| self.handle(received, own.as_deref_mut()),
            )?;
            if drained == Drained::Stopped {
                // The peer is not blamed for octets that wait for this end.
                let nothing = UnfinishedInput::Nothing;
                self.link.rest(&mut reading.reader, nothing)?;
                return Ok(self.parks(reading, own, wait, |_| CurrentReader::Driver));
            }
            let is_over = drained == Drained::Turn || reads == READS_PER_TURN;
            reads = reads.saturating_add(1);
            if is_over && !wait.blocks() {
                return Ok(Next::Leave(CurrentReader::Driver));
            }
            // A caller that parks reads first, and looks when nothing has come.
            if let Some(own) = own
                && (own.policy != WaitPolicy::Park || wait.blocks())
            {
                if is_over {
                    (messages, reads) = (0, 0);
                }
                match self.look_and_wait(reading, own, wait, drained)? {
                    Looked::Over(next) => return Ok(next),
                    Looked::Again => {
                        registered = false;
                        continue;
                    }
                    Looked::Waits => {}
                }
            }
            let mut readiness = Context::from_waker(&self.readiness);
            let read = (self.link).poll_read(reading, &mut registered, &mut readiness);
            if let Poll::Ready(read) = read {
                read?;
                continue;
            }
            return Ok(self.parks(reading, own, wait, CurrentReader::Reactor));
        }
    }

    /// Whether another message may be handled. Requests that wait for the server's role may leave no room.
    #[inline]
    fn may_read(&self) -> bool {
        self.both.as_ref().is_none_or(|both| both.may_read())
    }

    /// The next reader after one that can read nothing at present. `next` makes it of a caller that waits alone, if one does.
    #[inline]
    fn parks(
        &self,
        reading: &mut Reading,
        own: &mut Option<&mut OwnReply<'_>>,
        wait: &Wait<'_, '_>,
        next: impl FnOnce(Option<RequestId>) -> CurrentReader,
    ) -> Next {
        let blocking;
        let waker = match wait {
            Wait::Poll(cx) => cx.waker(),
            Wait::Block(_) => {
                blocking = blocking::waker();
                &blocking
            }
        };
        let mut state = self.state();
        let (waits, others) = state.look(own.as_deref_mut(), Some(waker));
        let is_over = !state.life.is_open();
        drop(state);
        if is_over {
            return Next::Leave(CurrentReader::Driver);
        }
        // A caller that has its reply does not park: it goes on at once.
        if waits || own.is_none() {
            reading.spinner.parks();
        }
        let Some(own) = own.as_deref().filter(|_| waits) else {
            return Next::Leave(next(None));
        };
        let leads = others == 0 && !self.link.outbound.is_blocked();
        Next::Park(next(leads.then_some(own.id)))
    }

    /// Looks who waits; then spins, if that is permitted and `own` waits, or blocks.
    fn look_and_wait(
        &self,
        reading: &mut Reading,
        own: &mut OwnReply<'_>,
        wait: &mut Wait<'_, '_>,
        drained: Drained,
    ) -> Result<Looked, End> {
        if own.has_reply && wait.blocks() {
            // The table learns of it when the lease is released.
            return Ok(Looked::Over(Next::LeaveToWaiter));
        }
        let waker: Option<&Waker> = match wait {
            Wait::Poll(cx) => Some(cx.waker()),
            Wait::Block(_) => None,
        };
        let mut state = self.state();
        let (waits, others) = state.look(Some(own), waker);
        let (is_over, untaken) = (!state.life.is_open(), state.untaken);
        drop(state);
        if is_over {
            return Ok(Looked::Over(Next::Leave(CurrentReader::Driver)));
        }
        let deadline = match wait {
            Wait::Block(deadline) => *deadline,
            Wait::Poll(_) if !waits && others == 0 && reading.spinner.is_steady() => {
                // The caller has its reply, and the next one spins again.
                return Ok(Looked::Over(Next::Leave(CurrentReader::Timer)));
            }
            Wait::Poll(_) if !waits => return Ok(Looked::Waits),
            Wait::Poll(_) => None,
        };
        let left = || deadline.map(|until| until.saturating_duration_since(Instant::now()));
        // The deadline is checked here, too, as the peer may go on sending other replies.
        if wait.blocks() && (!waits || left().is_some_and(|left| left.is_zero())) {
            return Ok(Looked::Over(Next::LeaveToWaiter));
        }
        if drained == Drained::Turn {
            return Ok(Looked::Again);
        }
        // No caller spins while another one that has its reply could use the thread. A thread that blocks spins alone.
        let may_spin = match wait {
            Wait::Block(_) => others == 0,
            Wait::Poll(_) => {
                !self.link.outbound.is_blocked()
                    && (others == 0 || others <= MAX_SPINNING_WAITERS && untaken == 0)
            }
        };
        if may_spin
            && own.policy != WaitPolicy::Park
            && !reading.spinner.is_parked()
            && self.is_only_busy(reading)
            && let Some(spin) = reading.spinner.begin(own.policy)
        {
            if others > 0 {
                reading.spinner.is_shared();
            }
            match (self.link.spin_on(reading, spin), &mut *wait) {
                (Spun::Read(read), _) => {
                    self.link.has_read(read)?;
                    if reading.spinner.is_steady() {
                        self.reads_without_reactor();
                    }
                    return Ok(Looked::Again);
                }
                (Spun::Yield, Wait::Poll(cx)) => {
                    let_others_run(cx);
                    return Ok(Looked::Over(match others {
                        0 => Next::Park(CurrentReader::Caller(own.id)),
                        // The other callers must not rely on this one.
                        _ => Next::Leave(CurrentReader::Driver),
                    }));
                }
                (Spun::Yield, Wait::Block(_)) => return Ok(Looked::Again),
                (Spun::Park, _) => {}
            }
        }
        if !wait.blocks() {
            return Ok(Looked::Waits);
        }
        self.reads_without_reactor();
        Ok(match self.link.read_blocking(reading, left())? {
            Blocked::Read | Blocked::TimedOut => Looked::Again,
            // The reactor wakes the thread.
            Blocked::Unsupported => Looked::Waits,
        })
    }

    /// Releases the lease to the next reader, and wakes that, unless another reader has asked for the lease: it stays with its
    /// holder then. `own`: the holder's call.
    #[inline]
    fn leave<'a>(
        &self,
        lease: Lease<'a, Reading>,
        next: Next,
        own: Option<&mut OwnReply<'_>>,
    ) -> Option<Lease<'a, Reading>> {
        let (next, thread) = match next {
            Next::Park(next) | Next::Leave(next) => (next, None),
            Next::LeaveToWaiter => self.next_waiter(own),
        };
        let next = match next {
            // The peer's requests do not wait for the driver's timer.
            CurrentReader::Timer if self.both.is_some() => CurrentReader::Driver,
            next => next,
        };
        if next == CurrentReader::Timer {
            self.reads_without_reactor();
        }
        let contended = lease.release_to(next);
        match (&contended, next, thread) {
            (None, _, Some(thread)) => thread.wake(),
            (None, CurrentReader::Driver, None) => self.link.outbound.driver.notify(),
            _ => {}
        }
        contended
    }

    /// The next reader: another caller that blocks its thread, with its waker, or the driver if other callers wait.
    #[cold]
    fn next_waiter(&self, own: Option<&mut OwnReply<'_>>) -> (CurrentReader, Option<Waker>) {
        let mut state = self.state();
        let own_id = own.as_deref().map(|own| own.id);
        state.look(own, None);
        let is_over = !state.life.is_open();
        let mut others = false;
        let thread = (state.table.waiting_mut())
            .filter(|(id, waiter)| waiter.reply.is_none() && Some(*id) != own_id)
            .find_map(|(id, waiter)| {
                others |= waiter.waker.is_some();
                Some((id, waiter.waker.clone().filter(|_| waiter.blocks)?))
            });
        match thread {
            Some((id, waker)) if !is_over => (CurrentReader::Caller(id), Some(waker)),
            // Callers that do not block rely on the driver, which asks the reactor.
            _ if others || is_over => (CurrentReader::Driver, None),
            _ => (CurrentReader::Timer, None),
        }
    }

    /// Notes that the holder of the lease reads without the reactor, so that the driver looks by a timer.
    fn reads_without_reactor(&self) {
        if self.waiters.reading.holder_reads_without_reactor() {
            self.link.outbound.driver.notify();
        }
    }

    /// Whether no other connection of the ORB was busy lately.
    fn is_only_busy(&self, reading: &mut Reading) -> bool {
        (reading.spinner).is_only_busy(&self.busy, core::ptr::from_ref(self).addr())
    }
}

impl<'a> Call<'a> {
    /// Ready when the reply is in its slot.
    #[inline]
    pub(super) fn poll_reply(
        &mut self,
        reply: &mut ReplySlot,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        match may_block() {
            true => self.block(None, reply, cx),
            false => self.poll_read(reply, cx),
        }
    }

    /// Reads for the reply within the caller's poll, unless the caller may park.
    #[inline]
    pub(super) fn poll_read(
        &mut self,
        reply: &mut ReplySlot,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let connection = self.connection;
        let lease = match connection.waiters.reading.claim_for(self.id) {
            // No one has read since the reactor woke this caller.
            Some(lease) => lease,
            None => {
                let mut state = connection.state();
                if self.take_reply(&mut state, reply, cx.waker(), false) {
                    return Poll::Ready(Ok(()));
                }
                if connection.relies_on_reactor(&state, self.id, self.wait) {
                    return Poll::Pending;
                }
                let Some(lease) = connection.waiters.reading.claim() else {
                    // The holder looks again, and finds the waker that was set above. It may have ended the connection
                    // already.
                    return self.poll_end(state);
                };
                lease
            }
        };
        let mut own = self.own_reply(reply);
        let parks = connection.pump(lease, Some(&mut own), Wait::Poll(cx));
        if own.has_reply {
            return self.has_read(own.finished);
        }
        match parks {
            true => Poll::Pending,
            false => self.poll_table(reply, cx.waker(), false),
        }
    }

    /// Notes that the caller has read its own reply. `finished`: the table knows.
    #[inline]
    fn has_read(&mut self, finished: bool) -> Poll<Result<(), CallError>> {
        self.done = true;
        if !finished {
            self.connection.state().finish(self.id);
        }
        Poll::Ready(Ok(()))
    }

    /// Blocks this thread for the reply. It reads, or parks while another thread reads, which passes the lease on once it has
    /// its own reply. Pending only when the thread may block no longer.
    pub(super) fn block(
        &mut self,
        mut lease: Option<Lease<'a, Reading>>,
        reply: &mut ReplySlot,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let connection = self.connection;
        let reading = &connection.waiters.reading;
        let deadline = blocking::deadline();
        loop {
            let is_late = deadline.is_some_and(|deadline| deadline <= Instant::now());
            if !is_late {
                lease = lease.take().or_else(|| reading.claim());
            }
            if is_late || lease.is_none() {
                // The holder has to find this thread's waker. The waker of `cx` may wake nothing: an upcall that is
                // polled in its caller's place has none. When the deadline has passed, the caller waits for its task's.
                let parked = blocking::waker();
                let waker = if is_late { cx.waker() } else { &parked };
                let answered = self.poll_table(reply, waker, !is_late);
                if is_late {
                    lease = lease.take().or_else(|| reading.claim());
                }
                if is_late || answered.is_ready() {
                    self.lease_is_not_needed(lease);
                    return answered;
                }
                lease = reading.claim();
            }
            let Some(held) = lease.take() else {
                blocking::park(deadline);
                continue;
            };
            let mut own = self.own_reply(reply);
            let parks = connection.pump(held, Some(&mut own), Wait::Block(deadline));
            if own.has_reply {
                return self.has_read(own.finished);
            }
            if parks {
                blocking::park(deadline);
                continue;
            }
            let answered = self.poll_table(reply, &blocking::waker(), true);
            if answered.is_ready() {
                self.lease_is_not_needed(None);
                return answered;
            }
        }
    }

    /// Has another reader read on, if this caller holds the lease or was woken to read.
    fn lease_is_not_needed(&self, lease: Option<Lease<'a, Reading>>) {
        let connection = self.connection;
        let mut lease = lease.or_else(|| connection.waiters.reading.claim_for(self.id));
        while let Some(held) = lease {
            lease = connection.leave(held, Next::LeaveToWaiter, None);
        }
    }
}
