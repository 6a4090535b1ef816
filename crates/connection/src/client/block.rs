//! Reading by a blocking thread, which reads for all callers until it has its own reply.

use super::super::blocking;
use super::super::end::End;
use super::super::lease::Lease;
use super::super::link::{Blocked, Drained, Reading};
use super::super::spin::Spun;
use super::super::sync::MutexGuard;
use super::call::Call;
use super::{CallError, ClientConnection, OwnReply, State};
use core::task::{Context, Poll};
use std::time::Instant;
use zorb_executor::WaitPolicy;
use zorb_giop::ReplySlot;

/// Why a thread stops reading for all callers.
enum LeadEnd {
    /// It has its reply, its deadline has passed, or the connection has ended.
    Done,
    /// It has to park: another reader reads, or the reactor watches.
    Park,
}

impl ClientConnection {
    /// Reads for all callers, blocking this thread, until `own` has its reply or the deadline. Every waiter learns of
    /// the end of the connection.
    fn lead(
        &self,
        mut lease: Lease<'_, Reading>,
        own: &mut OwnReply<'_>,
        deadline: Option<Instant>,
    ) -> LeadEnd {
        loop {
            match lease.with(|reading| self.lead_turn(reading, own, deadline)) {
                Ok(lead_end) => match lease.release() {
                    // The other reader goes on when this thread passes the lead on.
                    Some(again) => lease = again,
                    None => return lead_end,
                },
                Err(end) => {
                    // Before the lease is released: the next reader must find the end.
                    self.end(end);
                    return LeadEnd::Done;
                }
            }
        }
    }

    fn lead_turn(
        &self,
        reading: &mut Reading,
        own: &mut OwnReply<'_>,
        deadline: Option<Instant>,
    ) -> Result<LeadEnd, End> {
        loop {
            let drained = self.link.drain(
                &mut reading.reader,
                &mut 0,
                || Ok(true),
                |received| self.handle(received, Some(own)),
            )?;
            if own.has_reply {
                // The table learns of it when the lead is passed on.
                return Ok(LeadEnd::Done);
            }
            let no_other_waits = {
                let mut state = self.state();
                let (waits, others) = state.look(Some(own), None);
                if !waits || state.end.is_some() {
                    return Ok(LeadEnd::Done);
                }
                // No caller may rely on a reactor that does not watch.
                state.is_registered = false;
                others == 0
            };
            let left = || deadline.map(|until| until.saturating_duration_since(Instant::now()));
            // Checked here, too, as the peer may go on sending other replies.
            if left().is_some_and(|left| left.is_zero()) {
                return Ok(LeadEnd::Done);
            }
            if drained == Drained::Turn {
                continue;
            }
            if no_other_waits && own.policy != WaitPolicy::Park && self.is_only_busy(reading) {
                // This thread blocks for this call alone, so it may spin.
                match self.link.spin(reading, own.policy) {
                    Spun::Read(read) => {
                        self.link.has_read(read)?;
                        if reading.spinner.is_deregistered() {
                            self.set_deregistered();
                        }
                        continue;
                    }
                    Spun::Yield => continue,
                    Spun::Park => {}
                }
            }
            self.set_deregistered();
            match self.link.read_blocking(reading, left())? {
                Blocked::Read | Blocked::TimedOut => {}
                Blocked::Unsupported => {
                    let waker = blocking::waker();
                    let mut state = self.state();
                    state.look(Some(own), Some(&waker));
                    if !state.announce(Some(own.id)) {
                        return Ok(LeadEnd::Done);
                    }
                    drop(state);
                    self.deregistered
                        .store(false, super::super::sync::Ordering::Release);
                    let mut readiness = Context::from_waker(&self.readiness);
                    match self.link.poll_read(reading, &mut false, &mut readiness) {
                        Poll::Pending => return Ok(LeadEnd::Park),
                        // The reactor does not watch after all.
                        Poll::Ready(read) => {
                            read?;
                            self.state().is_registered = false;
                        }
                    }
                }
            }
        }
    }

    /// Passes the lead on: this thread stops reading, and another reader has to go on.
    pub(super) fn pass_on(&self, own: Option<&mut OwnReply<'_>>) {
        let mut state = self.state();
        if own.is_some() {
            // No caller may rely on a reactor that does not watch. A caller that has relied on it until now is in the
            // table.
            state.is_registered = false;
        }
        state.look(own, None);
        if !state.table.is_empty() && state.end.is_none() {
            self.pass_on_to(state);
        }
    }

    #[cold]
    fn pass_on_to(&self, mut state: MutexGuard<'_, State>) {
        let mut others = false;
        let next = (state.table.waiting_mut())
            .filter(|waiter| waiter.reply.is_none())
            .find_map(|waiter| {
                others |= waiter.waker.is_some();
                waiter.waker.clone().filter(|_| waiter.blocks)
            });
        drop(state);
        match next {
            Some(next) => next.wake(),
            // Callers that do not block rely on the driver, which asks the reactor.
            None if others => self.leave_to_driver(),
            None => {}
        }
    }
}

impl<'a> Call<'a> {
    /// Blocks this thread for the reply. It reads, or parks while another thread reads, which passes the lead on once it has
    /// its own reply. Pending only when the thread may block no longer.
    pub(super) fn block(
        &mut self,
        mut lease: Option<Lease<'a, Reading>>,
        reply: &mut ReplySlot,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        let connection = self.connection;
        let deadline = blocking::deadline();
        loop {
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                drop(lease);
                // From here on the caller waits for its task's waker.
                let answered = self.poll_table(reply, cx.waker(), false);
                connection.pass_on(None);
                return answered;
            }
            if lease.is_none() {
                lease = connection.reading.claim();
            }
            if lease.is_none() {
                // The holder has to find this thread's waker. The waker of `cx` may wake nothing: an upcall that is
                // polled in its caller's place has none.
                let answered = self.poll_table(reply, &blocking::waker(), true);
                if answered.is_ready() {
                    connection.pass_on(None);
                    return answered;
                }
                lease = connection.reading.claim();
            }
            let Some(held) = lease.take() else {
                blocking::park(deadline);
                continue;
            };
            let mut own = self.own_reply(reply);
            let lead_end = connection.lead(held, &mut own, deadline);
            if own.has_reply {
                connection.pass_on(Some(&mut own));
                self.done = true;
                return Poll::Ready(Ok(()));
            }
            if let LeadEnd::Park = lead_end {
                blocking::park(deadline);
                continue;
            }
            let answered = self.poll_table(reply, &blocking::waker(), true);
            if answered.is_ready() {
                connection.pass_on(None);
                return answered;
            }
        }
    }
}
