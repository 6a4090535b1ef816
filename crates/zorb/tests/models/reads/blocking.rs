//! Callers that block their threads, and read for everybody meanwhile.

use super::{Caller, Reading, Reads};
use crate::right::Held;
use crate::sync::Ordering;

impl Reads {
    /// A call that blocks its thread and is in no table as long as nobody else reads: whether it was made, which it is not
    /// when the connection has ended, or when somebody has the right.
    pub(super) fn exchange_alone(&self, me: usize) -> bool {
        if !self.right.is_free() {
            return false;
        }
        let Some(mut right) = self.right.claim() else {
            return false;
        };
        let others = right.with(|_| {
            if self.state.lock().unwrap().end {
                return None;
            }
            let mut others = !self.unwatched.load(Ordering::Relaxed) && {
                let mut state = self.state.lock().unwrap();
                state.armed = false;
                // Whoever has sent its request.
                state.others(Some(me)) != 0
            };
            self.arrive(me);
            others |= self.lead(me);
            Some(others)
        });
        let Some(others) = others else {
            drop(right);
            return false;
        };
        assert!(!self.state.lock().unwrap().end, "it was under way");
        let mut looks = others;
        while let Some(again) = right.give_back() {
            right = again;
            looks = true;
        }
        if looks {
            self.pass_on(None);
        }
        true
    }

    /// `ClientConnection::pass_on`: somebody who blocks has its reply, and sees to the others.
    pub(super) fn pass_on(&self, me: Option<usize>) {
        let (next, others) = {
            let mut state = self.state.lock().unwrap();
            if let Some(me) = me {
                state.armed = false;
                state.complete(me);
            }
            let waits = |caller: &Caller| caller.calls && caller.waits;
            let next = (state.callers.iter()).position(|caller| waits(caller) && caller.blocks);
            (next, state.callers.iter().any(waits) && !state.end)
        };
        match next.filter(|_| others) {
            Some(next) => self.bells[next].notify(),
            None if others => self.leave_to_the_driver(),
            None => {}
        }
    }

    /// `ClientConnection::retire`: an end, if nobody waits for anything.
    pub(super) fn retire(&self) {
        let Some(right) = self.right.claim() else {
            return;
        };
        {
            let mut state = self.state.lock().unwrap();
            state.end = state.callers.iter().all(|caller| !caller.calls);
        }
        drop(right);
    }

    /// A call that blocks its thread, if nobody reads when it begins.
    pub(super) fn exchange(&self, me: usize) {
        self.state.lock().unwrap().callers[me].calls = true;
        let right = self.right.claim();
        if right.is_some() {
            // The reactor looks away before the reply comes.
            self.socket.lock().unwrap().listens = false;
        }
        self.arrive(me);
        match right.is_some_and(|right| self.lead_by(right, me)) {
            true => self.pass_on(Some(me)),
            false => self.block(me),
        }
    }

    /// `Call::block`.
    fn block(&self, me: usize) {
        loop {
            let mut right = self.right.claim();
            if right.is_none() {
                if self.is_answered(me, true) {
                    return self.pass_on(None);
                }
                right = self.right.claim();
            }
            let Some(right) = right else {
                self.bells[me].wait();
                continue;
            };
            if self.lead_by(right, me) {
                return self.pass_on(Some(me));
            }
            assert!(self.is_answered(me, true), "another one has read it");
            return self.pass_on(None);
        }
    }

    /// `ClientConnection::lead`: whether it has read its own reply.
    fn lead_by(&self, right: Held<'_, Reading>, me: usize) -> bool {
        let mut held = Some(right);
        let mut got = false;
        while let Some(mut right) = held {
            got = got || right.with(|_| self.lead_a_while(me));
            held = right.give_back();
        }
        got
    }

    /// Nobody is to rely on a reactor that looks away. The reply is there, since it comes at once.
    fn lead_a_while(&self, me: usize) -> bool {
        {
            let mut state = self.state.lock().unwrap();
            if !state.callers[me].calls || state.end {
                return false;
            }
            state.armed = false;
        }
        self.lead(me);
        true
    }

    /// Reads for everybody, while the reactor looks away; the reply to `me` is among it. Whether the reactor has listened
    /// until now.
    fn lead(&self, me: usize) -> bool {
        let listened = self.is_unwatched();
        let mut arrived = {
            let mut socket = self.socket.lock().unwrap();
            socket.listens = false;
            std::mem::take(&mut socket.arrived)
        };
        let mine = arrived.iter().position(|whose| *whose == me);
        arrived.remove(mine.expect("nobody else has read it"));
        self.hand_out(arrived, Some(me));
        listened
    }
}
