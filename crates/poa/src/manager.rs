//! POA managers: whether requests are served, held, discarded or refused.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use core::task::{Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What a manager does with new requests. Requests already executing run on in every state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum State {
    Holding = 0,
    Active = 1,
    Discarding = 2,
    Inactive = 3,
}

/// The manager is INACTIVE, which is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the POA manager is inactive, which is final")]
pub struct AdapterInactive;

/// Controls the processing state of the adapters it was made with.
#[derive(Default)]
pub struct PoaManager {
    state: AtomicU8,
    waiting: Mutex<Waiting>,
    /// Somebody has chosen a state, or been told that nobody has.
    minded: AtomicBool,
}

/// Who is held, by number in the order of their coming. A number without a waker has been woken
/// and not looked yet.
#[derive(Default)]
struct Waiting {
    next: u64,
    held: BTreeMap<u64, Option<Waker>>,
}

/// What became of a held request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The state now; HOLDING when something else has to be looked at.
    Changed(State),
    /// As many wait as may.
    Full,
}

/// The place of one request among those held; given up when it is dropped.
pub(crate) struct Place<'a> {
    manager: &'a PoaManager,
    number: Option<u64>,
}

impl Place<'_> {
    /// Ready once the state is not HOLDING, or the manager has woken its held requests.
    pub(crate) fn poll_changed(&mut self, waker: &Waker) -> Poll<Held> {
        let mut waiting = self.manager.waiting();
        let state = self.manager.state();
        if state != State::Holding {
            return Poll::Ready(Held::Changed(state));
        }
        let Some(number) = self.number else {
            if waiting.held.len() >= PoaManager::MAX_HELD_REQUESTS {
                return Poll::Ready(Held::Full);
            }
            let number = waiting.next;
            waiting.next = waiting.next.wrapping_add(1);
            waiting.held.insert(number, Some(waker.clone()));
            drop(waiting);
            self.number = Some(number);
            // Whoever wakes the held finds this one from now on; what came before is looked at.
            return Poll::Ready(Held::Changed(state));
        };
        match waiting.held.get_mut(&number) {
            Some(Some(parked)) => {
                parked.clone_from(waker);
                Poll::Pending
            }
            Some(woken) => {
                *woken = Some(waker.clone());
                Poll::Ready(Held::Changed(state))
            }
            None => Poll::Ready(Held::Changed(state)),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.manager.waiting().held.remove(&number);
        }
    }
}

impl PoaManager {
    /// Requests that wait at most in the HOLDING state; beyond it they get TRANSIENT.
    pub const MAX_HELD_REQUESTS: usize = 1024;

    /// A manager in the HOLDING state.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The state now.
    #[must_use]
    #[doc(alias = "get_state")]
    #[inline]
    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::Holding,
            1 => State::Active,
            2 => State::Discarding,
            _ => State::Inactive,
        }
    }

    fn change(&self, to: State) -> Result<(), AdapterInactive> {
        // Pairs with the Acquire in `state`.
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |from| {
                (from != State::Inactive as u8).then_some(to as u8)
            })
            .map_err(|_| AdapterInactive)?;
        self.minded.store(true, Ordering::Relaxed);
        self.wake_held();
        Ok(())
    }

    /// Whether this is the first request that is held, and nobody has chosen a state yet: most
    /// likely somebody forgot to [`activate`](Self::activate) the manager. True once.
    #[must_use]
    pub fn looks_forgotten(&self) -> bool {
        self.state() == State::Holding && !self.minded.swap(true, Ordering::Relaxed)
    }

    /// Lets every held request look again at what it waits for.
    pub(crate) fn wake_held(&self) {
        let wakers: Vec<Waker> = self
            .waiting()
            .held
            .values_mut()
            .filter_map(Option::take)
            .collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// A place among the requests that are held; taken when it is first polled.
    pub(crate) fn hold(&self) -> Place<'_> {
        Place {
            manager: self,
            number: None,
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves requests, held ones too: those of one connection begin in the order in which they came,
    /// before requests that come on it from now on.
    ///
    /// # Errors
    /// When the manager is INACTIVE.
    pub fn activate(&self) -> Result<(), AdapterInactive> {
        self.change(State::Active)
    }

    /// Lets new requests wait, up to [`MAX_HELD_REQUESTS`](Self::MAX_HELD_REQUESTS).
    ///
    /// # Errors
    /// When the manager is INACTIVE.
    pub fn hold_requests(&self) -> Result<(), AdapterInactive> {
        self.change(State::Holding)
    }

    /// Answers new requests with TRANSIENT.
    ///
    /// # Errors
    /// When the manager is INACTIVE.
    pub fn discard_requests(&self) -> Result<(), AdapterInactive> {
        self.change(State::Discarding)
    }

    /// Refuses new requests (OBJ_ADAPTER) for good. Does nothing when INACTIVE already.
    pub fn deactivate(&self) {
        let _ = self.change(State::Inactive);
    }
}

impl fmt::Debug for PoaManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoaManager")
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_begins_holding_and_ends_inactive() {
        let manager = PoaManager::new();
        assert_eq!(manager.state(), State::Holding);
        let mut place = manager.hold();
        assert_eq!(
            place.poll_changed(Waker::noop()),
            Poll::Ready(Held::Changed(State::Holding))
        );
        assert!(place.poll_changed(Waker::noop()).is_pending());
        manager.activate().unwrap();
        assert_eq!(
            place.poll_changed(Waker::noop()),
            Poll::Ready(Held::Changed(State::Active))
        );
        manager.discard_requests().unwrap();
        manager.hold_requests().unwrap();
        manager.deactivate();
        assert_eq!(manager.activate(), Err(AdapterInactive));
        assert_eq!(manager.state(), State::Inactive);
    }

    #[test]
    fn a_manager_that_nobody_minds_is_told_of_once() {
        let forgotten = PoaManager::new();
        assert!(forgotten.looks_forgotten() && !forgotten.looks_forgotten());
        let minded = PoaManager::new();
        minded.hold_requests().unwrap();
        assert!(!minded.looks_forgotten());
    }

    #[test]
    fn held_requests_are_bounded_and_counted_once_each() {
        let manager = PoaManager::new();
        struct Nothing;
        impl std::task::Wake for Nothing {
            fn wake(self: std::sync::Arc<Self>) {}
        }
        let waker = || Waker::from(std::sync::Arc::new(Nothing));
        let mut places: Vec<_> = (0..PoaManager::MAX_HELD_REQUESTS)
            .map(|_| manager.hold())
            .collect();
        // However often they are polled, and by whom.
        for _ in 0..3 {
            for place in &mut places {
                assert_ne!(place.poll_changed(&waker()), Poll::Ready(Held::Full));
            }
        }
        assert_eq!(
            manager.hold().poll_changed(&waker()),
            Poll::Ready(Held::Full)
        );
        // Who gives up makes room.
        places.pop();
        assert_ne!(
            manager.hold().poll_changed(&waker()),
            Poll::Ready(Held::Full)
        );
    }
}
