//! A right that is held only while somebody runs: to read a connection, to write to it.

use super::sync::{AtomicU8, Mutex, Ordering};
use core::task::Waker;
use std::sync::PoisonError;

/// Nobody has it.
const FREE: u8 = 0;
/// Somebody has it.
const HELD: u8 = 1;
/// Somebody has it, and somebody else has asked for it since: who has it looks again before it
/// lets go.
const ASKED: u8 = 2;

/// A right that one at a time has, and what goes with it. It is tried for and never waited for,
/// and whoever has it gives it back before its poll returns: a future that kept it while nobody
/// polls it would stop everybody else.
///
/// Who asks in vain may go to sleep, if what it wants done has been written down before: whoever
/// has the right learns of it when it gives it back, and looks again.
///
/// `tests/models` drives this very file under loom.
pub(crate) struct Right<T> {
    state: AtomicU8,
    /// Locked by who has the right only, so never waited for.
    what: Mutex<T>,
    /// Woken when the right is let go although somebody has asked, as a panic does.
    unheard: Waker,
}

impl<T> Right<T> {
    pub(crate) fn new(what: T, unheard: Waker) -> Self {
        Self {
            state: AtomicU8::new(FREE),
            what: Mutex::new(what),
            unheard,
        }
    }

    /// Whether nobody has it at the moment: a hint for who would do something in vain otherwise, and asks for nothing.
    pub(crate) fn is_free(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FREE
    }

    /// The right, or nothing when somebody has it, who will look again then.
    pub(crate) fn claim(&self) -> Option<Held<'_, T>> {
        let mut state = FREE;
        loop {
            let next = if state == FREE { HELD } else { ASKED };
            // Released: what we have written down, for who has the right. Acquired: what it has
            // done, when we have it.
            match self
                .state
                .compare_exchange(state, next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(FREE) => return Some(Held { right: self }),
                Ok(_) => return None,
                Err(now) => state = now,
            }
        }
    }
}

/// The right, in the hands of who has it.
pub(crate) struct Held<'a, T> {
    right: &'a Right<T>,
}

impl<T> Held<'_, T> {
    #[inline(always)]
    pub(crate) fn with<R>(&mut self, run: impl FnOnce(&mut T) -> R) -> R {
        let mut what = self
            .right
            .what
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        run(&mut what)
    }

    /// Gives the right back, unless somebody has asked for it: then it stays here, to look again.
    pub(crate) fn give_back(self) -> Option<Self> {
        let state = &self.right.state;
        match state.compare_exchange(HELD, FREE, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => {
                core::mem::forget(self);
                None
            }
            Err(_) => {
                // Acquired: what was written down before it was asked.
                state.swap(HELD, Ordering::AcqRel);
                Some(self)
            }
        }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        if self.right.state.swap(FREE, Ordering::AcqRel) == ASKED {
            self.right.unheard.wake_by_ref();
        }
    }
}
