//! Who reads a connection and blocks its thread: for everybody, until it has its own reply.

use super::calls::Call;
use super::{Arrived, CallError, ClientConnection};
use crate::blocking;
use crate::wire::ear::{Mine, State};
use crate::wire::link::{Blocked, End, Reading, Taken};
use crate::wire::right::Held;
use crate::wire::waiting::Tried;
use core::task::{Context, Poll};
use std::sync::MutexGuard;
use std::time::Instant;
use zorb_executor::WaitPolicy;

/// How a thread that blocks has led.
enum Led {
    /// What it waited for is here, or it waits no longer.
    Done,
    /// It has to sleep: somebody else reads.
    Asleep,
}

impl ClientConnection {
    /// Reads for everybody, blocking this thread, until the reply to `mine` is here, or `until`. If
    /// the connection comes to its end, everybody is told.
    fn lead(&self, mut right: Held<'_, Reading>, mine: &mut Mine, until: Option<Instant>) -> Led {
        loop {
            let led = right.with(|reading| self.lead_a_while(reading, mine, until));
            let led = match led {
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
        mine: &mut Mine,
        until: Option<Instant>,
    ) -> Result<Led, End> {
        loop {
            let mut taken = Taken::All;
            if !reading.reader.is_idle() {
                let handle = |message, _| self.handle(message, Some(mine));
                taken = self
                    .link
                    .take(&mut reading.reader, &mut 0, || Ok(true), handle)?;
                if mine.got.is_some() {
                    // The table is told of it by who passes the lead on.
                    return Ok(Led::Done);
                }
            }
            let alone = {
                let mut state = self.state();
                let (waits, others) = state.look_for(Some(mine));
                if !waits || state.end.is_some() {
                    return Ok(Led::Done);
                }
                // Nobody is to rely on a reactor that looks away.
                state.armed = false;
                others == 0
            };
            let left = || until.map(|until| until.saturating_duration_since(Instant::now()));
            // Also while the peer goes on talking of something else.
            if left().is_some_and(|left| left.is_zero()) {
                return Ok(Led::Done);
            }
            if taken == Taken::Turn {
                // What is waited for may be here, and the peer has nothing more to say.
                continue;
            }
            if alone && self.is_alone(reading) && mine.policy != WaitPolicy::Park {
                // A thread of our own owes nobody a turn.
                match self.link.try_read(reading, mine.policy) {
                    Tried::Read(read) => {
                        self.link.has_come(read)?;
                        if reading.waiting.is_unwatched() {
                            self.is_unwatched();
                        }
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
            self.is_unwatched();
            match self.link.read_blocking(reading, left)? {
                Blocked::Read | Blocked::InVain => {}
                Blocked::Cannot => {
                    if !self.state().arm(Some(mine), true, &blocking::waker()) {
                        return Ok(Led::Done);
                    }
                    if self.poll_read(reading)?.is_pending() {
                        return Ok(Led::Asleep);
                    }
                    // The reactor does not listen after all.
                    self.state().armed = false;
                }
            }
        }
    }

    /// Somebody who blocks needs the connection no more: another one reads from now on, if one
    /// waits.
    #[cold]
    pub(super) fn pass_on(&self, mine: Option<&mut Mine>) {
        let mut state = self.state();
        if mine.is_some() {
            // Nobody is to rely on a reactor that looks away. Whoever has relied on it until now is in the table, and
            // looked after.
            state.armed = false;
        }
        state.look_for(mine);
        if state.table.is_empty() || state.end.is_some() {
            return;
        }
        self.pass_on_to(state);
    }

    #[cold]
    fn pass_on_to(&self, mut state: MutexGuard<'_, State>) {
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
    /// Blocks this thread for the reply, by who has the right to read since before the request was sent. Nothing when it
    /// has to be waited for as others do.
    #[cold]
    pub(super) fn lead(&mut self, right: Held<'_, Reading>) -> Option<Arrived> {
        let mut mine = self.mine();
        self.connection.lead(right, &mut mine, None);
        let got = mine.got.is_some();
        if got {
            self.done = true;
            self.connection.pass_on(Some(&mut mine));
        }
        mine.got
    }

    /// Blocks this thread until the reply is here, or the end, however long that takes.
    #[cold]
    pub(super) fn block_for_ever(&mut self) -> Result<Arrived, CallError> {
        let waker = blocking::waker();
        let mut cx = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(answered) = self.block(&mut cx) {
                return answered;
            }
        }
    }

    /// Blocks this thread until the reply is here, or the end: it reads, or another one does that
    /// passes the lead on when it has its own reply. Pending only when it may block no longer.
    pub(super) fn block(&mut self, cx: &mut Context<'_>) -> Poll<Result<Arrived, CallError>> {
        let connection = self.connection;
        let until = blocking::until();
        let mut mine = self.mine();
        loop {
            if until.is_some_and(|until| until <= Instant::now()) {
                // From here on it is one that waits for a waker.
                let answered = self.poll_answered(cx, false);
                connection.pass_on(None);
                return answered;
            }
            let mut right = connection.reading.claim();
            if right.is_none() {
                // Whoever has it, or has had it since, has to find what wakes us. `cx` may wake nobody: what an upcall
                // is polled with in its caller's place does not.
                let waker = blocking::waker();
                let answered = self.poll_answered(&mut Context::from_waker(&waker), true);
                if answered.is_ready() {
                    connection.pass_on(None);
                    return answered;
                }
                right = connection.reading.claim();
            }
            let led = match right {
                Some(right) => connection.lead(right, &mut mine, until),
                None => Led::Asleep,
            };
            if let Led::Asleep = led {
                blocking::sleep(until);
                continue;
            }
            let answered = if mine.got.is_some() {
                connection.pass_on(Some(&mut mine));
                self.got(&mut mine)
            } else {
                let waker = blocking::waker();
                let answered = self.poll_answered(&mut Context::from_waker(&waker), true);
                if answered.is_ready() {
                    connection.pass_on(None);
                }
                answered
            };
            if answered.is_ready() {
                return answered;
            }
        }
    }
}
