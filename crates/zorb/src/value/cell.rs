//! The state that the handles of one value share.

use super::types::{Behaviour, Caster, ErasedState, ValueInfo};
use core::any::TypeId;
use core::cell::{Cell as Slot, RefCell};
use core::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// The depth of nested values that `Debug` shows; deeper ones are shown by name. It also ends cycles.
const MAX_SHOWN_DEPTH: usize = 8;

/// The number of values that `Debug` shows in all; the rest are shown by name. A message of a few kilobytes can hold a
/// graph in which every value refers to the next one a hundred times, whose text would exceed memory.
const MAX_SHOWN: usize = 256;

/// The state of a value, and the behaviour of its type.
pub(super) struct Cell {
    behaviour: &'static Behaviour,
    /// `None` while the value is being decoded, when other values may refer to it already.
    state: RwLock<Option<Box<dyn ErasedState>>>,
}

impl Cell {
    pub(super) fn new(behaviour: &'static Behaviour, state: Option<Box<dyn ErasedState>>) -> Self {
        Self {
            behaviour,
            state: RwLock::new(state),
        }
    }

    pub(super) fn behaviour(&self) -> &'static Behaviour {
        self.behaviour
    }

    pub(super) fn info(&self) -> &'static ValueInfo {
        (self.behaviour.info)()
    }

    pub(super) fn caster<D: ?Sized + 'static>(&self) -> Option<&'static Caster<D>> {
        (self.behaviour.operations)(TypeId::of::<Caster<D>>())?.downcast_ref()
    }

    // A panic during a write leaves a valid state: members are set one by one.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Option<Box<dyn ErasedState>>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The write lock; `None` while the state is locked.
    pub(super) fn try_write(&self) -> Option<RwLockWriteGuard<'_, Option<Box<dyn ErasedState>>>> {
        match self.state.try_write() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Option<Box<dyn ErasedState>>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// States that wait to be dropped, while another state is being dropped.
    static DROPPING: RefCell<Option<Vec<Box<dyn ErasedState>>>> = const { RefCell::new(None) };
    /// The depth of the value that is being shown, and the number of values shown since the outermost began.
    static SHOWN: Slot<(usize, usize)> = const { Slot::new((0, 0)) };
}

impl Drop for Cell {
    /// Drops a chain of values in a loop, not by recursion: a peer determines its length.
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = state.take() else {
            return;
        };
        let mut state = Some(state);
        // An ending thread has no queue any more, so the state is dropped here, recursively.
        let begun = DROPPING.try_with(|dropping| match &mut *dropping.borrow_mut() {
            Some(queue) => {
                queue.extend(state.take());
                false
            }
            none => {
                *none = Some(Vec::new());
                true
            }
        });
        if begun != Ok(true) {
            return;
        }
        let _done = Done;
        while let Some(next) = state.take() {
            drop(next);
            let last = DROPPING.try_with(|dropping| dropping.borrow_mut().as_mut()?.pop());
            state = last.unwrap_or_default();
        }
    }
}

/// Removes the queue on drop, also when dropping a state panics.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        let rest = DROPPING.try_with(|dropping| dropping.borrow_mut().take());
        drop(rest);
    }
}

/// Restores the depth on drop, also when the formatter panics.
struct Shown {
    depth: usize,
}

impl Drop for Shown {
    fn drop(&mut self) {
        let shown = match self.depth {
            0 => 0,
            _ => SHOWN.get().1,
        };
        SHOWN.set((self.depth, shown));
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.info().name;
        let (depth, before) = SHOWN.get();
        if depth >= MAX_SHOWN_DEPTH || before >= MAX_SHOWN {
            return write!(f, "{name} {{ .. }}");
        }
        let state = match self.state.try_read() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => return write!(f, "{name} {{ <locked> }}"),
        };
        SHOWN.set((depth.saturating_add(1), before.saturating_add(1)));
        let _shown = Shown { depth };
        match &*state {
            Some(state) => state.fmt(f),
            None => write!(f, "{name} {{ .. }}"),
        }
    }
}
