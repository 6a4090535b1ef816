//! Reading within a poll: by a caller that waits, or by the driver.

use super::super::blocking::may_block;
use super::super::end::End;
use super::super::lease::Lease;
use super::super::link::{Drained, READS_PER_TURN, Reading, let_others_run};
use super::super::spin::Spun;
use super::super::sync::{MutexGuard, Ordering, clock};
use super::call::Call;
use super::{CallError, ClientConnection, OwnReply, State};
use core::task::{Context, Poll};
use core::time::Duration;
use zorb_executor::WaitPolicy;
use zorb_giop::ReplySlot;

/// The number of other waiting calls up to which a caller spins for all. With more of them a message comes soon anyway, and
/// many calls share the cost of parking.
const MAX_SPINNING_WAITERS: usize = 3;

/// The pause between two requests after which a connection is read before the next request is written. Callers that call without a pause are spared the system call. In models each request is the first after a pause.
const PAUSE: Duration = if cfg!(zorb_model) {
    Duration::ZERO
} else {
    Duration::from_millis(1)
};

/// The result of reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadTurn {
    /// The socket is drained and registered, and the table has the caller's waker.
    Parked,
    /// The reader has its reply, or has to be polled again.
    Over,
}

impl ClientConnection {
    /// Reads for the driver. Returns `false` if another reader holds the lease, which then looks again instead.
    pub(super) fn drive_read(&self, cx: &mut Context<'_>) -> bool {
        match self.reading.claim() {
            Some(lease) => {
                self.read(lease, None, None, cx);
                true
            }
            None => false,
        }
    }

    /// Finds an end of the connection that has arrived, before a request is sent after a pause: reads, without waiting. A task
    /// whose socket the reactor watches need not: its runtime looks before it runs the task again. A thread that calls does
    /// not wait for the runtime, which may not have had its turn.
    #[inline]
    pub(super) fn look_before_sending(&self) {
        if (self.deregistered.load(Ordering::Relaxed) || may_block()) && self.has_paused() {
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
        let Some(mut lease) = self.reading.claim() else {
            return;
        };
        let mut is_contended = false;
        loop {
            if let Err(end) = lease.with(|reading| self.read_arrived(reading)) {
                // Before the lease is released: the next reader must find the end.
                return self.end(end);
            }
            match lease.release() {
                Some(again) => (lease, is_contended) = (again, true),
                // A caller that has asked for the lease relies on another reader now.
                None if is_contended => return self.pass_on(None),
                None => return,
            }
        }
    }

    fn read_arrived(&self, reading: &mut Reading) -> Result<(), End> {
        for _ in 0..READS_PER_TURN {
            self.link.drain(
                &mut reading.reader,
                &mut 0,
                || Ok(true),
                |received| self.handle(received, None),
            )?;
            if !self.link.try_read(reading)? {
                return Ok(());
            }
        }
        self.leave_to_driver();
        Ok(())
    }

    /// Reads until the socket is drained or `own` has its reply. Every waiter learns of the end of the connection. `state`:
    /// the state of the calls, if the reader has locked it already.
    fn read(
        &self,
        mut lease: Lease<'_, Reading>,
        mut state: Option<MutexGuard<'_, State>>,
        mut own: Option<&mut OwnReply<'_>>,
        cx: &mut Context<'_>,
    ) -> ReadTurn {
        for _ in 0..READS_PER_TURN {
            match lease
                .with(|reading| self.read_turn(reading, state.take(), own.as_deref_mut(), cx))
            {
                Ok(turn) => match lease.release() {
                    Some(again) => lease = again,
                    None => return turn,
                },
                Err(end) => {
                    // Before the lease is released: the next reader would find the end of the stream behind the
                    // CloseConnection that this one has read.
                    self.end(end);
                    return ReadTurn::Over;
                }
            }
        }
        // Other readers ask for the lease faster than this one can look again. Dropping the lease wakes the driver.
        drop(lease);
        self.leave_to_driver();
        ReadTurn::Over
    }

    /// Drains the socket, and registers it with the reactor for the next caller. The [module](super) describes the states.
    fn read_turn(
        &self,
        reading: &mut Reading,
        mut locked: Option<MutexGuard<'_, State>>,
        mut own: Option<&mut OwnReply<'_>>,
        cx: &mut Context<'_>,
    ) -> Result<ReadTurn, End> {
        let mut messages = 0;
        // Whether the socket is registered with the reactor, and nothing was read since.
        let mut registered = false;
        for reads in 0..=READS_PER_TURN {
            let (mut state, (waits, others)) =
                match locked.take().filter(|_| reading.reader.is_idle()) {
                    // The caller has just looked: it waits, and its waker is in the table.
                    Some(state) => {
                        registered = true;
                        let others = state.table.len().saturating_sub(1);
                        (state, (true, others))
                    }
                    None => {
                        let drained = self.link.drain(
                            &mut reading.reader,
                            &mut messages,
                            || Ok(true),
                            |received| self.handle(received, own.as_deref_mut()),
                        )?;
                        // The replies of the last read of the turn have been handled.
                        if drained == Drained::Turn || reads == READS_PER_TURN {
                            break;
                        }
                        let mut state = self.state();
                        let looked = state.look(own.as_deref_mut(), Some(cx.waker()));
                        (state, looked)
                    }
                };
            if state.end.is_some() {
                return Ok(ReadTurn::Over);
            }
            if own.is_some() && !waits && others == 0 && reading.spinner.is_deregistered() {
                // The caller has its reply. The driver's timer looks after the connection.
                state.is_registered = false;
                drop(state);
                self.set_deregistered();
                return Ok(ReadTurn::Over);
            }
            let has_room = !self.link.outbound.is_blocked();
            let leads = waits && others == 0 && has_room;
            // No caller spins while another one that has its reply could use the thread.
            let may_spin =
                leads || waits && others <= MAX_SPINNING_WAITERS && state.untaken == 0 && has_room;
            let policy = (own.as_deref())
                .map(|own| own.policy)
                .filter(|policy| *policy != WaitPolicy::Park);
            if let Some(policy) = policy
                && may_spin
                && !reading.spinner.is_parked()
                && self.is_only_busy(reading)
                && let Some(spin) = reading.spinner.begin(policy)
            {
                // A caller that parks needs no wake-up for octets that a spin may find.
                state.is_registered = false;
                registered = false;
                drop(state);
                if others > 0 {
                    reading.spinner.is_shared();
                }
                match self.link.spin_on(reading, spin) {
                    Spun::Read(read) => {
                        self.link.has_read(read)?;
                        if reading.spinner.is_deregistered() {
                            self.set_deregistered();
                        }
                        continue;
                    }
                    Spun::Yield => {
                        if others > 0 {
                            // The other callers must not rely on this one.
                            self.leave_to_driver();
                        }
                        let_others_run(cx);
                        return Ok(ReadTurn::Over);
                    }
                    Spun::Park => state = self.state(),
                }
            }
            // The reactor may have reported octets since an earlier read of this turn registered the socket.
            registered &= state.is_registered;
            let leader = own.as_deref().filter(|_| leads).map(|own| own.id);
            if !state.announce(leader) {
                return Ok(ReadTurn::Over);
            }
            drop(state);
            // Before the reactor is asked: a driver that it wakes has to read.
            self.deregistered.store(false, Ordering::Release);
            let mut readiness = Context::from_waker(&self.readiness);
            if let Poll::Ready(read) = self
                .link
                .poll_read(reading, &mut registered, &mut readiness)
            {
                read?;
                continue;
            }
            // A caller that has its reply does not park: it goes on at once.
            if waits || own.is_none() {
                reading.spinner.parks();
            }
            return Ok(match waits {
                true => ReadTurn::Parked,
                false => ReadTurn::Over,
            });
        }
        self.leave_to_driver();
        Ok(ReadTurn::Over)
    }

    /// Notes that the socket is deregistered from the reactor, so that the driver checks it by a timer.
    pub(super) fn set_deregistered(&self) {
        if !self.deregistered.load(Ordering::Relaxed)
            && !self.deregistered.swap(true, Ordering::AcqRel)
        {
            self.link.outbound.driver.notify();
        }
    }

    /// Has the driver read on.
    pub(super) fn leave_to_driver(&self) {
        self.deregistered.store(false, Ordering::Release);
        self.link.outbound.driver.notify();
    }

    /// Whether no other connection of the ORB was busy lately.
    pub(super) fn is_only_busy(&self, reading: &mut Reading) -> bool {
        (reading.spinner).is_only_busy(&self.busy, core::ptr::from_ref(self).addr())
    }
}

impl Call<'_> {
    /// Reads for the reply within the caller's poll, unless the caller may park.
    pub(super) fn poll_read(
        &mut self,
        reply: &mut ReplySlot,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let connection = self.connection;
        let mut state = connection.state();
        if self.take_reply(&mut state, reply, cx.waker(), false) {
            return Poll::Ready(Ok(()));
        }
        if connection.parks(&mut state, self.id, self.wait) {
            return Poll::Pending;
        }
        let Some(lease) = connection.reading.claim() else {
            // The holder looks again, and finds the waker that was set above. It may have ended the connection already.
            return self.poll_end(state);
        };
        let mut own = self.own_reply(reply);
        let turn = connection.read(lease, Some(state), Some(&mut own), cx);
        let (has_reply, finished) = (own.has_reply, own.finished);
        if has_reply {
            self.done = true;
            if !finished {
                connection.state().finish(self.id);
            }
            return Poll::Ready(Ok(()));
        }
        match turn {
            ReadTurn::Parked => Poll::Pending,
            ReadTurn::Over => self.poll_table(reply, cx.waker(), false),
        }
    }
}
