//! POA managers: whether requests are served, held, discarded or refused.

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};
use core::task::{Poll, Waker};
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
    waiting: Mutex<Vec<Waker>>,
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
        let waiting = core::mem::take(&mut *self.wakers());
        waiting.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn wakers(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves requests, held ones first.
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

    /// Ready with the state once it is not HOLDING; otherwise `waker` is woken when it changes.
    /// `None` when as many wait as may.
    pub fn poll_released(&self, waker: &Waker) -> Poll<Option<State>> {
        let mut waiting = self.wakers();
        match self.state() {
            State::Holding if waiting.len() >= Self::MAX_HELD_REQUESTS => Poll::Ready(None),
            State::Holding => {
                if !waiting.last().is_some_and(|last| last.will_wake(waker)) {
                    waiting.push(waker.clone());
                }
                Poll::Pending
            }
            state => Poll::Ready(Some(state)),
        }
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
        assert!(manager.poll_released(Waker::noop()).is_pending());
        manager.activate().unwrap();
        assert_eq!(
            manager.poll_released(Waker::noop()),
            Poll::Ready(Some(State::Active))
        );
        manager.discard_requests().unwrap();
        manager.hold_requests().unwrap();
        manager.deactivate();
        assert_eq!(manager.activate(), Err(AdapterInactive));
        assert_eq!(manager.state(), State::Inactive);
    }

    #[test]
    fn held_requests_are_bounded() {
        let manager = PoaManager::new();
        struct Nothing;
        impl std::task::Wake for Nothing {
            fn wake(self: std::sync::Arc<Self>) {}
        }
        let waker = || Waker::from(std::sync::Arc::new(Nothing));
        let wakers: Vec<_> = (0..PoaManager::MAX_HELD_REQUESTS)
            .map(|_| waker())
            .collect();
        for waker in &wakers {
            assert!(manager.poll_released(waker).is_pending());
        }
        assert_eq!(manager.poll_released(&waker()), Poll::Ready(None));
    }
}
