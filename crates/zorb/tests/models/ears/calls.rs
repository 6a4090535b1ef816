//! Callers that are polled, and sleep in between.

use super::{Client, Reading, Turn};
use crate::Bed;
use crate::client::Arrived;
use crate::ear::{Begun, Mine};
use crate::link::End;
use crate::right::Held;
use crate::sync::Ordering;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use zorb_executor::WaitPolicy;
use zorb_giop::RequestId;

/// A call, which is given up when it is dropped before it is over.
pub(super) struct Call<'a> {
    client: &'a Client,
    pub(super) id: RequestId,
    policy: WaitPolicy,
    pub(super) heard: Option<u32>,
    pub(super) sent: bool,
    done: bool,
}

enum Asleep<'a> {
    Yes,
    Answered,
    Reads(Held<'a, Reading>),
    No,
}

enum Heard {
    Reply,
    Nothing,
    Other { armed: bool },
}

impl Client {
    /// A call to which the peer answers at once. Whether it has a reply, and not the end.
    pub(super) fn call(&self, policy: WaitPolicy) -> bool {
        self.call_of(policy, |id| self.arrive(id))
    }

    /// The same, which is sent by `send`.
    pub(super) fn call_of(&self, policy: WaitPolicy, send: impl FnOnce(RequestId)) -> bool {
        let bed = Bed::new();
        let waker = Waker::from(Arc::clone(&bed));
        let Some(mut call) = self.begin(policy, &waker) else {
            return false;
        };
        send(call.id);
        call.sent = true;
        call.wait(&bed)
    }

    pub(super) fn begin(&self, policy: WaitPolicy, waker: &Waker) -> Option<Call<'_>> {
        let mut state = self.ear.bare_state();
        if state.end.is_some() {
            return None;
        }
        let waker = Some(waker).filter(|_| policy == WaitPolicy::Park);
        let begun = self.ear.begin(&mut state, waker, || false);
        let begun = begun.expect("there is room");
        Some(Call {
            client: self,
            id: begun.id,
            policy,
            heard: begun.heard,
            sent: false,
            done: false,
        })
    }
}

impl<'a> Call<'a> {
    /// Sleeps until it is over: whether with a reply.
    pub(super) fn wait(&mut self, bed: &Arc<Bed>) -> bool {
        if self.heard.is_some() {
            bed.0.wait();
        }
        self.sleep(bed)
    }

    /// The same, of one that is polled first.
    pub(super) fn sleep(&mut self, bed: &Arc<Bed>) -> bool {
        bed.sleep_until(|cx| self.poll(cx))
    }

    /// `poll_heard`: whether it has its reply, or the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let (mut right, announced) = match self.claim_told() {
            Some(right) => (right, false),
            None => match self.poll_asleep(cx) {
                Asleep::Reads(right) => (right, true),
                Asleep::Yes => return Poll::Pending,
                Asleep::Answered => return Poll::Ready(true),
                Asleep::No => return self.poll_further(cx),
            },
        };
        match right.with(|reading| self.hear(reading, announced)) {
            Ok(Heard::Reply) => {
                self.done = true;
                if let Some(again) = right.give_back() {
                    self.client.read_by(again, None, false, cx);
                }
                Poll::Ready(true)
            }
            Ok(Heard::Nothing) if announced => match right.give_back() {
                None => Poll::Pending,
                Some(right) => self.read_with(right, false, cx),
            },
            Ok(Heard::Nothing) => self.read_with(right, false, cx),
            Ok(Heard::Other { armed }) => self.read_with(right, armed, cx),
            Err(End) => {
                self.client.over();
                drop(right);
                self.poll_answered(cx)
            }
        }
    }

    fn claim_told(&self) -> Option<Held<'a, Reading>> {
        let told = &self.client.ear.told;
        if self.policy != WaitPolicy::Park || !told.load(Ordering::Relaxed) {
            return None;
        }
        told.store(false, Ordering::Relaxed);
        self.client.right.claim()
    }

    fn poll_asleep(&mut self, cx: &mut Context<'_>) -> Asleep<'a> {
        let mut state = self.client.ear.state();
        let state = &mut *state;
        let alone = state.table.len() == 1;
        let Some(waiter) = state.table.get_mut(self.id) else {
            return Asleep::No;
        };
        if let Some(Arrived(id)) = waiter.reply.take() {
            assert_eq!(id, self.id);
            state.untaken -= 1;
            state.table.finish(self.id);
            self.done = true;
            return Asleep::Answered;
        }
        if state.end.is_some() || self.policy != WaitPolicy::Park {
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
        let Some(right) = self.client.right.claim() else {
            return Asleep::No;
        };
        waiter.wakes(cx.waker());
        state.armed = true;
        state.leader = Some(self.id);
        Asleep::Reads(right)
    }

    fn poll_further(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let right = match self.client.right.claim() {
            Some(right) => right,
            None => {
                if let Poll::Ready(answered) = self.poll_answered(cx) {
                    return Poll::Ready(answered);
                }
                match self.client.right.claim() {
                    Some(right) => right,
                    None => return Poll::Pending,
                }
            }
        };
        self.read_with(right, false, cx)
    }

    fn read_with(
        &mut self,
        right: Held<'_, Reading>,
        armed: bool,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        let mut mine = Mine {
            id: self.id,
            policy: self.policy,
            got: None,
            completed: false,
        };
        let turn = self.client.read_by(right, Some(&mut mine), armed, cx);
        if mine.got.is_some() {
            self.done = true;
            if !mine.completed {
                self.client.ear.state().finish(self.id);
            }
            return Poll::Ready(true);
        }
        match turn {
            Turn::Asleep => Poll::Pending,
            Turn::Over => self.poll_answered(cx),
        }
    }

    fn poll_answered(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.client.ear.state();
        let state = &mut *state;
        if let Some(waiter) = state.table.get_mut(self.id) {
            waiter.blocks = false;
            match waiter.reply.take() {
                Some(Arrived(id)) => {
                    assert_eq!(id, self.id);
                    state.untaken -= 1;
                    state.table.finish(self.id);
                    self.done = true;
                    return Poll::Ready(true);
                }
                None => waiter.wakes(cx.waker()),
            }
        }
        if state.end.is_none() {
            return Poll::Pending;
        }
        self.done = true;
        Poll::Ready(false)
    }

    /// `hear_few`, or `hear_any` where the transport cannot.
    fn hear(&self, reading: &mut Reading, announced: bool) -> Result<Heard, End> {
        if !reading.reader.is_empty() {
            return Ok(Heard::Other { armed: announced });
        }
        let client = self.client;
        let begun = Begun {
            id: self.id,
            heard: self.heard,
        };
        // Before the reactor is asked, who may tell of something at once.
        let news = client.ear.sole.news();
        if client.poll_read(reading)?.is_pending() {
            return Ok(Heard::Nothing);
        }
        if reading.reader != [self.id] {
            return Ok(Heard::Other { armed: false });
        }
        reading.reader.clear();
        let listens = client.how.few && {
            // What has come since is found by who is told that it does not listen.
            let mut socket = client.socket.lock().unwrap();
            socket.listens |= socket.arrived.is_empty() && !socket.closed;
            socket.listens
        };
        if !client.ear.is_heard_behind(listens.then_some(news), begun) {
            match client.poll_read(reading) {
                Ok(Poll::Ready(())) => client.leave_to_the_driver(),
                Ok(Poll::Pending) => {}
                Err(End) => client.over(),
            }
        }
        Ok(Heard::Reply)
    }
}

impl Drop for Call<'_> {
    /// `Call::give_up`.
    fn drop(&mut self) {
        // A model that fails says why, and no more.
        if self.done || std::thread::panicking() {
            return;
        }
        let mut state = self.client.ear.state();
        if !self.sent {
            state.forget(self.id);
            drop(state);
            if self.heard.is_some() {
                self.client.driver.ring();
            }
            return;
        }
        let Some(waiter) = state.table.abandon(self.id) else {
            return;
        };
        state.untaken -= usize::from(waiter.reply.is_some());
        drop(state);
        self.client.driver.ring();
    }
}
