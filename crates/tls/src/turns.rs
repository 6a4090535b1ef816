//! Turns to compute: the cryptography of handshakes takes no more than half of the threads, and hosts take turns.
//!
//! A handshake computes for a good part of a millisecond at a time. Of thousands that are ready at once, each would be a task in the
//! runtime's queue, before which the calls of other clients wait. So those wait here, and are woken one after the other.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use zorb_transport::HostId;

/// The turns of a listener.
#[derive(Debug)]
pub(crate) struct Turns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Turns that may be taken now.
    free: usize,
    next: u64,
    /// Who waits, by host, in the order of their coming.
    waiting: HashMap<HostId, VecDeque<u64>>,
    /// The hosts of those, in the order of their turns.
    hosts: VecDeque<HostId>,
    wakers: HashMap<u64, Waker>,
    /// Those whose turn has come, and who have not seen it.
    given: Vec<u64>,
}

impl State {
    /// Gives a turn to the next one of the next host, or keeps it.
    fn pass_on(&mut self) -> Option<Waker> {
        while let Some(host) = self.hosts.pop_front() {
            let Some(waiting) = self.waiting.get_mut(&host) else {
                continue;
            };
            let next = waiting.pop_front();
            match waiting.is_empty() {
                true => drop(self.waiting.remove(&host)),
                // Behind the other hosts.
                false => self.hosts.push_back(host),
            }
            if let Some(next) = next {
                self.given.push(next);
                return self.wakers.remove(&next);
            }
        }
        self.free = self.free.saturating_add(1);
        None
    }

    fn take_given(&mut self, number: u64) -> bool {
        let at = self.given.iter().position(|given| *given == number);
        at.map(|at| self.given.swap_remove(at)).is_some()
    }
}

impl Turns {
    /// Turns for so many at a time, one at least.
    pub(crate) fn new(at_a_time: usize) -> Arc<Self> {
        let free = at_a_time.max(1);
        Arc::new(Self(Mutex::new(State {
            free,
            ..State::default()
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn, which ends when the result is dropped.
    ///
    /// # Cancel safety
    /// Safe: one who waits no longer is passed over.
    pub(crate) fn take<'a>(&'a self, host: &'a HostId) -> Take<'a> {
        Take {
            turns: self,
            host,
            number: None,
        }
    }

    fn pass_on(&self) {
        let waker = self.state().pass_on();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A turn.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

/// The wait of [`Turns::take`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Take<'a> {
    turns: &'a Turns,
    host: &'a HostId,
    /// Its number, while it waits.
    number: Option<u64>,
}

impl<'a> Future for Take<'a> {
    type Output = Turn<'a>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn<'a>> {
        let this = &mut *self;
        let mut state = this.turns.state();
        if let Some(number) = this.number {
            if state.take_given(number) {
                this.number = None;
                return Poll::Ready(Turn(this.turns));
            }
            state.wakers.insert(number, cx.waker().clone());
            return Poll::Pending;
        }
        // While a turn is free, nobody waits.
        if let Some(left) = state.free.checked_sub(1) {
            state.free = left;
            return Poll::Ready(Turn(this.turns));
        }
        let number = state.next;
        state.next = number.wrapping_add(1);
        this.number = Some(number);
        state.wakers.insert(number, cx.waker().clone());
        let waiting = state.waiting.entry(this.host.clone()).or_default();
        waiting.push_back(number);
        if waiting.len() == 1 {
            state.hosts.push_back(this.host.clone());
        }
        Poll::Pending
    }
}

impl Drop for Take<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.turns.state();
        if state.take_given(number) {
            drop(state);
            return self.turns.pass_on();
        }
        state.wakers.remove(&number);
        if let Some(waiting) = state.waiting.get_mut(self.host) {
            waiting.retain(|other| *other != number);
            if waiting.is_empty() {
                state.waiting.remove(self.host);
                state.hosts.retain(|host| host != self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    fn host(number: u8) -> HostId {
        HostId::Inet([127, 0, 0, number].into())
    }

    fn poll<'a>(take: Pin<&mut Take<'a>>) -> Option<Turn<'a>> {
        match take.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_host_that_waits_once_waits_for_one_turn_of_each_other_host() {
        let turns = Turns::new(1);
        let (busy, other) = (host(1), host(2));
        let first = poll(pin!(turns.take(&busy)));
        assert!(first.is_some());
        let mut many: Vec<_> = (0..10).map(|_| Box::pin(turns.take(&busy))).collect();
        for take in &mut many {
            assert!(poll(take.as_mut()).is_none());
        }
        let mut honest = pin!(turns.take(&other));
        assert!(poll(honest.as_mut()).is_none());
        drop(first);
        // The busy host was first; the other one is next, before nine of the busy one.
        assert!(poll(honest.as_mut()).is_none());
        drop(poll(many[0].as_mut()).expect("its turn"));
        let turn = poll(honest.as_mut()).expect("its turn");
        assert!(poll(many[1].as_mut()).is_none(), "one at a time");
        drop(turn);
        for take in &mut many[1..] {
            drop(poll(take.as_mut()).expect("its turn"));
        }
        let state = turns.state();
        assert!(state.waiting.is_empty() && state.hosts.is_empty() && state.wakers.is_empty());
        assert_eq!((state.free, state.given.len()), (1, 0));
    }

    #[test]
    fn who_waits_no_longer_is_passed_over_and_leaves_nothing() {
        let turns = Turns::new(2);
        let here = host(1);
        let taken = [0, 1].map(|_| poll(pin!(turns.take(&here))).expect("free"));
        let (mut gone, mut last) = (Box::pin(turns.take(&here)), Box::pin(turns.take(&here)));
        let mut given = Box::pin(turns.take(&here));
        for take in [&mut given, &mut gone, &mut last] {
            assert!(poll(take.as_mut()).is_none());
        }
        drop(gone);
        drop(taken);
        // Both have been given theirs; one leaves without having seen it.
        drop(given);
        drop(poll(last.as_mut()).expect("its turn"));
        let state = turns.state();
        assert!(state.waiting.is_empty() && state.hosts.is_empty() && state.wakers.is_empty());
        assert_eq!((state.free, state.given.len()), (2, 0));
    }
}
