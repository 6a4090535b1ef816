//! Who reads a connection: whoever waits, within its own poll or blocking, else the driver.

use super::calls::Call;
use super::{CallError, ClientConnection, Waiter};
use crate::blocking;
use crate::wire::link::{Blocked, End, READS_PER_TURN, Reading, Taken, let_others_run};
use crate::wire::right::Held;
use crate::wire::waiting::Tried;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use zorb_executor::WaitPolicy;
use zorb_giop::{Message, RequestId};

/// How often whoever reads looks again for others before it leaves that to the driver.
const ROUNDS: usize = 8;

/// How a thread that blocks has led.
enum Led {
    /// What it waited for is here, or it waits no longer.
    Done,
    /// It has to sleep: somebody else reads.
    Asleep,
}

/// Whether who waits for a reply has it, or waits no more.
fn state_is_over(waiter: Option<&Waiter>) -> bool {
    waiter.is_none_or(|waiter| waiter.reply.is_some())
}

impl ClientConnection {
    /// Reads, unless somebody else does, who looks again then; says whether it did. For the driver, or for the caller
    /// of `mine`, who has written down its waker. If the connection comes to its end, everybody is told.
    pub(super) fn read(&self, mine: Option<(RequestId, WaitPolicy)>, cx: &mut Context<'_>) -> bool {
        let mut held = self.reading.claim();
        for round in 0..ROUNDS {
            let Some(mut right) = held else {
                return round > 0;
            };
            if let Err(end) = right.with(|reading| self.read_a_turn(reading, mine, cx)) {
                // Before the right is let go: whoever has it next would find the end of the
                // stream behind the CloseConnection that we have taken.
                self.over(end);
                return true;
            }
            held = right.give_back();
        }
        // Others ask faster than we look; dropping the right wakes the driver.
        drop(held);
        self.leave_to_the_driver();
        true
    }

    /// Reads what there is, and has somebody woken by what comes next: the caller, if nobody else
    /// waits, or the driver. Only when nobody waits at all may the reactor go on looking away.
    fn read_a_turn(
        &self,
        reading: &mut Reading,
        mine: Option<(RequestId, WaitPolicy)>,
        cx: &mut Context<'_>,
    ) -> Result<(), End> {
        let bell = &mut Context::from_waker(&self.bell);
        let mut messages = 0;
        for _ in 0..READS_PER_TURN {
            let taken = self.link.take(
                &mut reading.reader,
                &mut messages,
                || Ok(true),
                |message| self.handle(message),
            )?;
            if taken == Taken::Turn {
                break;
            }
            let (waits, alone) = {
                let mut state = self.state();
                if state.end.is_some() {
                    return Ok(());
                }
                let waits = mine.is_some_and(|(id, _)| {
                    let waiter = state.table.get_mut(id);
                    waiter.is_some_and(|waiter| waiter.reply.is_none())
                });
                (waits, state.table.len() == usize::from(mine.is_some()))
            };
            if mine.is_some() && alone && !waits && reading.waiting.is_unwatched() {
                // Mine is here. The driver looks after the connection.
                return Ok(());
            }
            let leads = waits && alone && !self.link.outbound.is_blocked();
            let tried = match mine {
                Some((_, policy)) if leads && self.is_alone(reading) => {
                    self.link.try_read(reading, policy)
                }
                _ => Tried::Sleep,
            };
            match tried {
                Tried::Read(read) => {
                    self.link.has_come(read)?;
                    if reading.waiting.is_unwatched()
                        && !self.unwatched.swap(true, Ordering::AcqRel)
                    {
                        // It looks after the connection from now on.
                        self.link.outbound.driver.ring();
                    }
                }
                Tried::Yield => {
                    let_others_run(cx);
                    return Ok(());
                }
                Tried::Sleep => {
                    let read = if leads {
                        self.link.poll_read(reading, cx)
                    } else {
                        self.link.poll_read(reading, bell)
                    };
                    self.unwatched.store(false, Ordering::Release);
                    match read {
                        Poll::Ready(come) => come?,
                        Poll::Pending => {
                            if self.state().end.is_some() {
                                // The driver may have asked the reactor before us.
                                self.link.outbound.driver.ring();
                            }
                            return Ok(());
                        }
                    }
                }
            }
        }
        self.leave_to_the_driver();
        Ok(())
    }

    /// There is more to read: the driver does so at once, whether or not the reactor looks away.
    fn leave_to_the_driver(&self) {
        self.unwatched.store(false, Ordering::Release);
        self.link.outbound.driver.ring();
    }

    /// Whether nothing else of this ORB had anything to do lately.
    fn is_alone(&self, reading: &mut Reading) -> bool {
        (reading.waiting).is_alone(&self.busy, core::ptr::from_ref(self).addr())
    }

    /// Reads for everybody, blocking this thread, until the reply to `mine` is here, or `until`. If
    /// the connection comes to its end, everybody is told.
    fn lead(
        &self,
        mut right: Held<'_, Reading>,
        mine: (RequestId, WaitPolicy),
        cx: &mut Context<'_>,
        until: Option<std::time::Instant>,
    ) -> Led {
        loop {
            let led = match right.with(|reading| self.lead_a_while(reading, mine, cx, until)) {
                Ok(led) => led,
                Err(end) => {
                    // Before the right is let go, as above.
                    self.over(end);
                    return Led::Done;
                }
            };
            match right.give_back() {
                // Who asked is looked after when the lead is passed on.
                Some(again) => right = again,
                None => return led,
            }
        }
    }

    fn lead_a_while(
        &self,
        reading: &mut Reading,
        (id, policy): (RequestId, WaitPolicy),
        cx: &mut Context<'_>,
        until: Option<std::time::Instant>,
    ) -> Result<Led, End> {
        loop {
            let mut messages = 0;
            let reader = &mut reading.reader;
            let taken = self
                .link
                .take(reader, &mut messages, || Ok(true), |m| self.handle(m))?;
            let alone = {
                let mut state = self.state();
                let waiter = state.table.get_mut(id);
                if state_is_over(waiter.as_deref()) || state.end.is_some() {
                    return Ok(Led::Done);
                }
                state.table.len() == 1
            };
            let left =
                || until.map(|until| until.saturating_duration_since(std::time::Instant::now()));
            // Also while the peer goes on talking of something else.
            if left().is_some_and(|left| left.is_zero()) {
                return Ok(Led::Done);
            }
            if taken == Taken::Turn {
                // What is waited for may be here, and the peer has nothing more to say.
                continue;
            }
            if alone && self.is_alone(reading) {
                // A thread of our own owes nobody a turn.
                match self.link.try_read(reading, policy) {
                    Tried::Read(read) => {
                        self.link.has_come(read)?;
                        continue;
                    }
                    Tried::Yield => continue,
                    Tried::Sleep => {}
                }
            }
            let left = left();
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Led::Done);
            }
            if !self.unwatched.swap(true, Ordering::AcqRel) {
                // It looks after the connection when nobody leads any more.
                self.link.outbound.driver.ring();
            }
            match self.link.read_blocking(reading, left)? {
                Blocked::Read | Blocked::InVain => {}
                Blocked::Cannot => {
                    let read = self.link.poll_read(reading, cx);
                    self.unwatched.store(false, Ordering::Release);
                    match read {
                        Poll::Ready(come) => come?,
                        Poll::Pending => return Ok(Led::Asleep),
                    }
                }
            }
        }
    }

    /// Somebody who blocks needs the connection no more: another one reads from now on, if one
    /// waits.
    fn pass_on(&self) {
        let mut state = self.state();
        if state.table.is_empty() || state.end.is_some() {
            return;
        }
        let mut others = false;
        let next = state
            .table
            .waiting_mut()
            .filter(|waiter| waiter.reply.is_none())
            .find_map(|waiter| {
                others |= waiter.waker.is_some();
                waiter.waker.clone().filter(|_| waiter.blocks)
            });
        drop(state);
        match next {
            Some(next) => next.wake(),
            // They wait for the reactor to wake them.
            None if others => self.leave_to_the_driver(),
            None => {}
        }
    }
}

impl Call<'_> {
    pub(super) fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, CallError>> {
        if let Poll::Ready(answered) = self.poll_answered(cx, false) {
            return Poll::Ready(answered);
        }
        if blocking::may_block() {
            return self.block(cx);
        }
        let connection = self.connection;
        connection.read(Some((self.id, self.wait)), cx);
        self.poll_answered(cx, false)
    }

    /// Blocks this thread until the reply is here, or the end: it reads, or another one does that
    /// passes the lead on when it has its own reply. Pending only when it may block no longer.
    fn block(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, CallError>> {
        let connection = self.connection;
        let until = blocking::until();
        // `cx` may wake nobody: what an upcall is polled with in its caller's place does not.
        let waker = blocking::waker();
        let own = &mut Context::from_waker(&waker);
        loop {
            if until.is_some_and(|until| until <= std::time::Instant::now()) {
                // From here on it is one that waits for a waker.
                let answered = self.poll_answered(cx, false);
                connection.pass_on();
                return answered;
            }
            let answered = self.poll_answered(own, true);
            if answered.is_ready() {
                connection.pass_on();
                return answered;
            }
            let led = match connection.reading.claim() {
                Some(right) => connection.lead(right, (self.id, self.wait), own, until),
                None => Led::Asleep,
            };
            match led {
                Led::Asleep => blocking::sleep(until),
                Led::Done => {}
            }
        }
    }
}
