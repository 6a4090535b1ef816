//! Who reads a connection: whoever waits, within its own poll or [blocking](super::blocks), else the driver.

use super::calls::Call;
use super::lone::Heard;
use super::{Arrived, CallError, ClientConnection};
use crate::blocking;
use crate::wire::ear::Mine;
use crate::wire::link::{End, READS_PER_TURN, Reading, Taken, let_others_run};
use crate::wire::right::Held;
use crate::wire::waiting::Tried;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use zorb_executor::WaitPolicy;
use zorb_giop::SmallReply;

/// How often whoever reads looks again for others before it leaves that to the driver.
const ROUNDS: usize = 8;
/// How many others may wait for one to try for everybody: with more of them there is nearly always something to do, and
/// what sleeping costs is shared by many.
const FEW: usize = 3;

/// What a caller that has been polled is to do.
enum Asleep<'a> {
    /// Sleep.
    Yes,
    /// Nothing more.
    Answered(Arrived),
    /// Read, which it has announced.
    Reads(Held<'a, Reading>),
    /// Look further.
    No,
}

/// How a turn of reading ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing more is here. The reactor knows whom to wake, and the table has the waker of who read.
    Asleep,
    /// There is a reason to look again.
    Over,
}

impl ClientConnection {
    /// Reads, unless somebody else does, who looks again then; says whether it did. For the driver. If the connection
    /// comes to its end, everybody is told.
    pub(super) fn read(&self, cx: &mut Context<'_>) -> bool {
        match self.reading.claim() {
            Some(right) => {
                self.read_by(right, None, false, cx);
                true
            }
            None => false,
        }
    }

    /// The same, by who has the right. `armed`: whether it has [announced](State::arm) what it is going to ask, since it
    /// has had the right.
    fn read_by(
        &self,
        mut right: Held<'_, Reading>,
        mut mine: Option<&mut Mine>,
        mut armed: bool,
        cx: &mut Context<'_>,
    ) -> Turn {
        for _ in 0..ROUNDS {
            let armed = core::mem::take(&mut armed);
            let turn =
                right.with(|reading| self.read_a_turn(reading, mine.as_deref_mut(), armed, cx));
            let turn = match turn {
                Ok(turn) => turn,
                Err(end) => {
                    // Before the right is let go: whoever has it next would find the end of the
                    // stream behind the CloseConnection that we have taken.
                    self.over(end);
                    return Turn::Over;
                }
            };
            match right.give_back() {
                Some(again) => right = again,
                None => return turn,
            }
        }
        // Others ask faster than we look; dropping the right wakes the driver.
        drop(right);
        self.leave_to_the_driver();
        Turn::Over
    }

    /// Reads what there is, and has somebody woken by what comes next: the caller, if nobody else
    /// waits, or the driver. Only when nobody waits at all may the reactor go on looking away.
    fn read_a_turn(
        &self,
        reading: &mut Reading,
        mut mine: Option<&mut Mine>,
        mut armed: bool,
        cx: &mut Context<'_>,
    ) -> Result<Turn, End> {
        let mut messages = 0;
        for _ in 0..READS_PER_TURN {
            if core::mem::take(&mut armed) && reading.reader.is_idle() {
                if self.poll_read(reading)?.is_pending() {
                    reading.waiting.sleeps();
                    return Ok(Turn::Asleep);
                }
                continue;
            }
            if !reading.reader.is_idle() {
                let taken = self.link.take(
                    &mut reading.reader,
                    &mut messages,
                    || Ok(true),
                    |message, _| self.handle(message, mine.as_deref_mut()),
                )?;
                if taken == Taken::Turn {
                    break;
                }
            }
            let (waits, others);
            let tries = {
                let mut state = self.state();
                if state.end.is_some() {
                    return Ok(Turn::Over);
                }
                (waits, others) = state.look_for(mine.as_deref_mut());
                if mine.is_some() && others == 0 && !waits && reading.waiting.is_unwatched() {
                    // Mine is here. The driver looks after the connection, as long as it knows that it has to.
                    state.armed = false;
                    drop(state);
                    self.is_unwatched();
                    return Ok(Turn::Over);
                }
                let leads = waits && others == 0 && !self.link.outbound.is_blocked();
                let mine = mine.as_deref();
                // Nobody tries while one who has its reply could make use of the thread.
                let is_best = leads
                    || waits
                        && others <= FEW
                        && state.untaken == 0
                        && !self.link.outbound.is_blocked();
                let tries = is_best && !reading.waiting.is_asleep() && self.is_alone(reading);
                match mine.filter(|_| tries) {
                    Some(mine) if mine.policy != WaitPolicy::Park => {
                        state.armed = false;
                        Some(mine.policy)
                    }
                    _ => {
                        if !state.arm(mine.filter(|_| waits), leads, cx.waker()) {
                            return Ok(Turn::Over);
                        }
                        None
                    }
                }
            };
            if let Some(policy) = tries {
                if others > 0 {
                    reading.waiting.is_shared();
                }
                match self.link.try_read(reading, policy) {
                    Tried::Read(read) => {
                        self.link.has_come(read)?;
                        if reading.waiting.is_unwatched() {
                            self.is_unwatched();
                        }
                        continue;
                    }
                    Tried::Yield => {
                        if others > 0 {
                            // They are not to rely on us.
                            self.leave_to_the_driver();
                        }
                        let_others_run(cx);
                        return Ok(Turn::Over);
                    }
                    Tried::Sleep => {
                        // The end may have come while we tried.
                        if !self.state().arm(mine.as_deref(), true, cx.waker()) {
                            return Ok(Turn::Over);
                        }
                    }
                }
            }
            if self.poll_read(reading)?.is_pending() {
                if mine.is_some() && !waits {
                    // It goes on at once, with another call perhaps.
                    return Ok(Turn::Over);
                }
                reading.waiting.sleeps();
                return Ok(if waits { Turn::Asleep } else { Turn::Over });
            }
        }
        self.leave_to_the_driver();
        Ok(Turn::Over)
    }

    /// Reads what the reactor knows of, or has it listen, which has been [announced](State::arm).
    pub(super) fn poll_read(&self, reading: &mut Reading) -> Result<Poll<()>, End> {
        // First: a driver that is woken by what comes is to read, and not to think that somebody else looks.
        self.unwatched.store(false, Ordering::Release);
        let read = (self.link).poll_read(reading, &mut Context::from_waker(&self.listener));
        match read {
            Poll::Ready(come) => come.map(Poll::Ready),
            Poll::Pending => Ok(Poll::Pending),
        }
    }

    /// The reactor looks away: the driver looks after the connection when nobody else does. Whether it has listened until
    /// now: then it may have been left what others wait for.
    pub(super) fn is_unwatched(&self) -> bool {
        let listened =
            !self.unwatched.load(Ordering::Relaxed) && !self.unwatched.swap(true, Ordering::AcqRel);
        if listened {
            self.link.outbound.driver.ring();
        }
        listened
    }

    /// There is more to read: the driver does so at once, whether or not the reactor looks away.
    pub(super) fn leave_to_the_driver(&self) {
        self.unwatched.store(false, Ordering::Release);
        self.link.outbound.driver.ring();
    }

    /// Whether nothing else of this ORB had anything to do lately.
    pub(super) fn is_alone(&self, reading: &mut Reading) -> bool {
        (reading.waiting).is_alone(&self.busy, core::ptr::from_ref(self).addr())
    }

    /// Reads what others may be waiting for, in the place of the driver, by who has what it wanted.
    #[cold]
    pub(super) fn read_for_others(&self, right: Held<'_, Reading>, cx: &mut Context<'_>) {
        self.read_by(right, None, false, cx);
    }
}

impl<'a> Call<'a> {
    /// Ready with a reply; with nothing when it is in `small`.
    pub(super) fn poll_heard(
        &mut self,
        small: &mut SmallReply,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Arrived, CallError>>> {
        if blocking::may_block() {
            return self.block(cx).map(Some);
        }
        let (mut right, announced) = match self.claim_told() {
            Some(right) => (right, false),
            None => match self.poll_asleep(cx) {
                Asleep::Reads(right) => (right, true),
                asleep => return self.poll_further(asleep, cx).map(Some),
            },
        };
        match self.hear(&mut right, announced, small) {
            Ok(Heard::Reply) => {
                self.leave(right, cx);
                Poll::Ready(None)
            }
            Ok(Heard::Nothing) if announced => match right.give_back() {
                None => Poll::Pending,
                Some(right) => self.read_with(right, false, cx).map(Some),
            },
            // Not known to whom it would be told: asked anew.
            Ok(Heard::Nothing) => self.read_with(right, false, cx).map(Some),
            Ok(Heard::Other { armed }) => self.read_with(right, armed, cx).map(Some),
            Err(end) => {
                // Before the right is let go, as everywhere.
                self.connection.over(end);
                drop(right);
                self.poll_answered(cx, false).map(Some)
            }
        }
    }

    pub(super) fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Result<Arrived, CallError>> {
        if blocking::may_block() {
            return self.block(cx);
        }
        let asleep = self.poll_asleep(cx);
        self.poll_further(asleep, cx)
    }

    fn poll_further(
        &mut self,
        asleep: Asleep<'a>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Arrived, CallError>> {
        let connection = self.connection;
        let (right, armed) = match asleep {
            Asleep::Yes => return Poll::Pending,
            Asleep::Answered(arrived) => return Poll::Ready(Ok(arrived)),
            Asleep::Reads(right) => (Some(right), true),
            Asleep::No => (connection.reading.claim(), false),
        };
        let right = match right {
            Some(right) => right,
            None => {
                // Whoever has it, or has had it since, has to find what wakes us.
                if let Poll::Ready(answered) = self.poll_answered(cx, false) {
                    return Poll::Ready(answered);
                }
                match connection.reading.claim() {
                    Some(right) => right,
                    None => return Poll::Pending,
                }
            }
        };
        self.read_with(right, armed, cx)
    }

    fn read_with(
        &mut self,
        right: Held<'_, Reading>,
        armed: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Arrived, CallError>> {
        let mut mine = self.mine();
        let turn = self.connection.read_by(right, Some(&mut mine), armed, cx);
        let got = self.got(&mut mine);
        if got.is_ready() {
            return got;
        }
        match turn {
            Turn::Asleep => Poll::Pending,
            Turn::Over => self.poll_answered(cx, false),
        }
    }

    pub(super) fn mine(&self) -> Mine {
        Mine {
            id: self.id,
            policy: self.wait,
            got: None,
            completed: false,
        }
    }

    /// What has been read for us.
    pub(super) fn got(&mut self, mine: &mut Mine) -> Poll<Result<Arrived, CallError>> {
        let Some(got) = mine.got.take() else {
            return Poll::Pending;
        };
        self.done = true;
        if !mine.completed {
            self.connection.state().finish(self.id);
        }
        Poll::Ready(Ok(got))
    }

    /// The right to read, if the reactor has woken the caller for what has come: it need not be announced that the reactor
    /// will be asked, since there is something to read as a rule.
    #[inline]
    fn claim_told(&self) -> Option<Held<'a, Reading>> {
        let connection = self.connection;
        let told = &connection.ear.told;
        if self.wait != WaitPolicy::Park || !told.load(Ordering::Relaxed) {
            return None;
        }
        // It may have been another caller; then this one has looked in vain, and the other looks as if it had not been told.
        told.store(false, Ordering::Relaxed);
        connection.reading.claim()
    }

    /// Whether the caller may sleep as it is, since the reactor listens already.
    fn poll_asleep(&mut self, cx: &mut Context<'_>) -> Asleep<'a> {
        let connection = self.connection;
        let mut state = connection.state();
        let state = &mut *state;
        let alone = state.table.len() == 1 && !connection.link.outbound.is_blocked();
        let Some(waiter) = state.table.get_mut(self.id) else {
            return Asleep::No;
        };
        if let Some(reply) = waiter.reply.take() {
            state.untaken -= 1;
            state.table.finish(self.id);
            self.done = true;
            return Asleep::Answered(reply);
        }
        if state.end.is_some() || self.wait != WaitPolicy::Park {
            return Asleep::No;
        }
        if state.armed {
            waiter.wakes(cx.waker());
            state.leader = alone.then_some(self.id);
            return Asleep::Yes;
        }
        if !alone {
            return Asleep::No;
        }
        let Some(right) = connection.reading.claim() else {
            return Asleep::No;
        };
        // As `State::arm`, of which all is known here.
        waiter.wakes(cx.waker());
        state.armed = true;
        state.leader = Some(self.id);
        Asleep::Reads(right)
    }
}
