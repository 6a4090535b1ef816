//! SINGLE_THREAD_MODEL and MAIN_THREAD_MODEL: upcalls that take turns.
//!
//! One upcall at a time has the turn, in the order of their requests, and keeps it while it awaits. Collocated calls that an
//! upcall makes share its turn: each upcall knows the upcalls that it is nested in, its [`UpcallChain`].

use crate::sync::{Mutex, MutexGuard};
use core::cell::RefCell;
use core::fmt;
use core::future::poll_fn;
use core::pin::pin;
use core::task::{Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

thread_local! {
    static CHAIN: RefCell<UpcallChain> = const { RefCell::new(UpcallChain(None)) };
}

/// The turns of an upcall: its own, and those of the upcalls that it is nested in.
#[derive(Debug, Clone, Default)]
pub struct UpcallChain(Option<Arc<HeldTurn>>);

/// A turn that an upcall has, and the turns of the upcalls around it.
#[derive(Debug)]
struct HeldTurn {
    turn: QueueTurn,
    outer: UpcallChain,
}

impl UpcallChain {
    /// The chain of the upcall that this thread is polling; empty outside of upcalls that take turns.
    #[must_use]
    pub fn current() -> Self {
        CHAIN.with_borrow(Self::clone)
    }

    /// Runs a part of an upcall with this chain as the current one.
    pub fn enter<T>(&self, run: impl FnOnce() -> T) -> T {
        if self.0.is_none() {
            return run();
        }
        let _outer = RestoreChain(CHAIN.replace(self.clone()));
        run()
    }

    fn has_turn_of(&self, queue: &Arc<TurnQueue>) -> bool {
        let mut next = self.0.as_deref();
        while let Some(held) = next {
            if Arc::ptr_eq(&held.turn.0, queue) {
                return true;
            }
            next = held.outer.0.as_deref();
        }
        false
    }
}

/// Restores the earlier chain.
struct RestoreChain(UpcallChain);

impl Drop for RestoreChain {
    fn drop(&mut self) {
        CHAIN.set(core::mem::take(&mut self.0));
    }
}

/// The queue of upcalls that take turns, of one adapter or of several.
#[derive(Default)]
pub(crate) struct TurnQueue(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    is_taken: bool,
    /// The number of the upcall to which the turn has passed, and which has been woken.
    passed_to: Option<u64>,
    next: u64,
    /// By the numbers of the upcalls, in the order in which they came.
    queue: BTreeMap<u64, Waker>,
}

/// The turn, which passes to the next upcall when it is dropped.
struct QueueTurn(Arc<TurnQueue>);

impl TurnQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        // No code panics under this lock, so its data is consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self) {
        let mut state = self.state();
        match state.queue.pop_first() {
            None => state.is_taken = false,
            Some((number, waker)) => {
                state.passed_to = Some(number);
                drop(state);
                waker.wake();
            }
        }
    }

    async fn turn(self: Arc<Self>) -> QueueTurn {
        let mut place = QueueTicket {
            queue: &self,
            number: None,
        };
        poll_fn(|cx| place.poll(cx.waker())).await;
        drop(place);
        QueueTurn(self)
    }

    /// Runs an upcall when its turn has come; at once if an upcall of `chain`, in which it is nested, has the turn.
    pub(crate) async fn run<T>(
        self: Arc<Self>,
        chain: UpcallChain,
        upcall: impl Future<Output = T>,
    ) -> T {
        let chain = match chain.has_turn_of(&self) {
            true => chain,
            false => UpcallChain(Some(Arc::new(HeldTurn {
                turn: self.turn().await,
                outer: chain,
            }))),
        };
        let mut upcall = pin!(upcall);
        poll_fn(|cx| chain.enter(|| upcall.as_mut().poll(cx))).await
    }
}

/// The place of an upcall in the queue, which is free when this is dropped.
struct QueueTicket<'a> {
    queue: &'a TurnQueue,
    number: Option<u64>,
}

impl QueueTicket<'_> {
    fn poll(&mut self, waker: &Waker) -> Poll<()> {
        let mut state = self.queue.state();
        match self.number {
            None if !state.is_taken => {
                state.is_taken = true;
                Poll::Ready(())
            }
            None => {
                let number = state.next;
                state.next = number.wrapping_add(1);
                state.queue.insert(number, waker.clone());
                self.number = Some(number);
                Poll::Pending
            }
            Some(number) if state.passed_to == Some(number) => {
                state.passed_to = None;
                self.number = None;
                Poll::Ready(())
            }
            Some(number) => {
                if let Some(parked) = state.queue.get_mut(&number) {
                    parked.clone_from(waker);
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.queue.state();
        if state.passed_to == Some(number) {
            state.passed_to = None;
            drop(state);
            return self.queue.pass_on();
        }
        state.queue.remove(&number);
    }
}

impl Drop for QueueTurn {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

impl fmt::Debug for TurnQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnQueue")
            .field("waiting", &self.state().queue.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for QueueTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueueTurn")
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use core::task::Context;

    #[test]
    fn turns_are_had_in_order_and_one_at_a_time() {
        let queue = Arc::new(TurnQueue::default());
        let mut cx = Context::from_waker(Waker::noop());
        let turn = || Box::pin(Arc::clone(&queue).turn());
        let Poll::Ready(first) = turn().as_mut().poll(&mut cx) else {
            panic!("the turn is free");
        };
        let mut waiting: Vec<_> = (0..4).map(|_| turn()).collect();
        for place in &mut waiting {
            assert!(place.as_mut().poll(&mut cx).is_pending());
        }
        // A dropped upcall is skipped, whether its turn has come or not.
        drop(waiting.remove(1));
        drop(first);
        for place in waiting.iter_mut().skip(1) {
            assert!(place.as_mut().poll(&mut cx).is_pending());
        }
        drop(waiting.remove(0));
        let Poll::Ready(second) = waiting.remove(0).as_mut().poll(&mut cx) else {
            panic!("the turn has come");
        };
        assert!(waiting[0].as_mut().poll(&mut cx).is_pending());
        drop(second);
        assert!(waiting[0].as_mut().poll(&mut cx).is_ready());
        assert!(turn().as_mut().poll(&mut cx).is_ready());
    }

    #[test]
    fn an_upcall_within_another_shares_its_turn() {
        let queue = Arc::new(TurnQueue::default());
        let mut cx = Context::from_waker(Waker::noop());
        let nested = Arc::clone(&queue);
        let mut outer = pin!(Arc::clone(&queue).run(UpcallChain::current(), async move {
            let within = UpcallChain::current();
            // An upcall that has become a task keeps the chain of its beginning.
            nested
                .run(within, async { UpcallChain::current().0.is_some() })
                .await
        }));
        assert_eq!(outer.as_mut().poll(&mut cx), Poll::Ready(true));
        assert!(UpcallChain::current().0.is_none());
    }
}
