//! The slots of requests and of tasks: `PortableInterceptor::Current`.

use crate::orb::{Orb, OrbInner};
use core::any::Any;
use core::cell::RefCell;
use core::fmt;
use core::future::poll_fn;
use core::pin::pin;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// A place for a value that travels with a call between the code that makes it, its interceptors and its servant. Allocated
/// by [`Builder::allocate_slot`](crate::Builder::allocate_slot).
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`PortableInterceptor::SlotId`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotId(u32);

impl SlotId {
    /// A new slot, which no ORB of the process has yet.
    pub(crate) fn allocate() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// The error for a slot that an ORB has not allocated: `PortableInterceptor::InvalidSlot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the slot was not allocated by this ORB")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct InvalidSlot;

/// BAD_PARAM, COMPLETED_NO.
impl From<InvalidSlot> for SystemException {
    fn from(error: InvalidSlot) -> Self {
        Fault::BadParameter(error.to_string()).raise(CompletionStatus::No)
    }
}

type Value = Arc<dyn Any + Send + Sync>;

/// The values of slots. A copy costs a reference count.
#[derive(Clone, Default)]
pub(crate) struct Slots(Option<Arc<Vec<(SlotId, Value)>>>);

impl Slots {
    pub(super) fn get(&self, slot: SlotId) -> Option<Value> {
        let values = self.0.as_deref()?;
        let found = values.iter().find(|(id, _)| *id == slot)?;
        Some(Arc::clone(&found.1))
    }

    pub(super) fn set(&mut self, slot: SlotId, value: Option<Value>) {
        if value.is_none() && self.0.is_none() {
            return;
        }
        let values = Arc::make_mut(self.0.get_or_insert_default());
        values.retain(|(id, _)| *id != slot);
        values.extend(value.map(|value| (slot, value)));
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.as_ref().map_or(0, |values| values.len());
        f.debug_tuple("Slots").field(&count).finish()
    }
}

thread_local! {
    static CURRENT: RefCell<Slots> = const { RefCell::new(Slots(None)) };
}

/// The slots of this thread, or of the task that it polls.
pub(crate) fn current() -> Slots {
    let current = CURRENT.try_with(|current| current.borrow().clone());
    current.unwrap_or_default()
}

/// Replaces the slots of this thread, and returns the former ones.
pub(crate) fn replace(slots: Slots) -> Slots {
    let before = CURRENT.try_with(|current| current.replace(slots));
    before.unwrap_or_default()
}

/// Runs a poll with these slots as the thread's, and keeps what has become of them.
pub(crate) fn with<T>(slots: &mut Slots, run: impl FnOnce() -> T) -> T {
    struct Restore<'a> {
        slots: &'a mut Slots,
        before: Slots,
    }
    impl Drop for Restore<'_> {
        fn drop(&mut self) {
            *self.slots = replace(core::mem::take(&mut self.before));
        }
    }
    let before = replace(core::mem::take(slots));
    let _restore = Restore { slots, before };
    run()
}

/// The slots of the running task: values that its calls take along to the interceptors, and that interceptors leave for the
/// servant. Returned by [`Orb::pi_current`].
///
/// There are two scopes, as specified. A **call** has a copy of the slots of the code that makes it, which its client
/// interceptors read ([`ClientRequestInfo::slot`](super::ClientRequestInfo::slot)). A **request** begins with empty slots,
/// which its server interceptors set ([`ServerRequestInfo::set_slot`](super::ServerRequestInfo::set_slot)); the servant reads
/// and sets them here, after its awaits too, and the ending points see what it has set. An interceptor's own calls have other
/// slots, which begin empty.
///
/// Outside of servants, the slots are those of the thread. A task has its own within [`PiCurrent::scope`], also when it moves
/// to another thread.
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`PortableInterceptor::Current`).
#[derive(Debug, Clone)]
#[doc(alias = "PICurrent")]
pub struct PiCurrent(Orb);

impl Orb {
    /// The slots of the running task. Costs a reference count.
    #[must_use]
    #[doc(alias = "PICurrent")]
    pub fn pi_current(&self) -> PiCurrent {
        PiCurrent(self.clone())
    }
}

impl OrbInner {
    pub(super) fn check_slot(&self, slot: SlotId) -> Result<(), InvalidSlot> {
        let known = self.interceptors().is_some_and(|all| all.has_slot(slot));
        known.then_some(()).ok_or(InvalidSlot)
    }
}

/// The value as its own type; `None` for another type.
pub(super) fn downcast<T: Any + Send + Sync>(value: Option<Value>) -> Option<Arc<T>> {
    value?.downcast().ok()
}

impl PiCurrent {
    /// The value in a slot; `None` if none was set, or one of another type.
    ///
    /// # Errors
    /// [`InvalidSlot`] for a slot of another ORB.
    pub fn get_slot<T: Any + Send + Sync>(
        &self,
        slot: SlotId,
    ) -> Result<Option<Arc<T>>, InvalidSlot> {
        self.0.inner().check_slot(slot)?;
        Ok(downcast(current().get(slot)))
    }

    /// Sets the value in a slot. Allocates.
    ///
    /// # Errors
    /// [`InvalidSlot`] for a slot of another ORB.
    pub fn set_slot<T: Any + Send + Sync>(
        &self,
        slot: SlotId,
        value: T,
    ) -> Result<(), InvalidSlot> {
        self.change(slot, Some(Arc::new(value)))
    }

    /// Empties a slot.
    ///
    /// # Errors
    /// [`InvalidSlot`] for a slot of another ORB.
    pub fn clear_slot(&self, slot: SlotId) -> Result<(), InvalidSlot> {
        self.change(slot, None)
    }

    fn change(&self, slot: SlotId, value: Option<Value>) -> Result<(), InvalidSlot> {
        self.0.inner().check_slot(slot)?;
        let mut slots = replace(Slots::default());
        slots.set(slot, value);
        // What the slot has held is dropped here, where its `Drop` may use slots.
        replace(slots);
        Ok(())
    }

    /// Runs a future with slots of its own, which begin as a copy of those of the code that calls this. A spawned task
    /// inherits slots so: `tokio::spawn(PiCurrent::scope(…))`.
    pub fn scope<F: Future>(future: F) -> impl Future<Output = F::Output> {
        let mut slots = current();
        async move {
            let mut future = pin!(future);
            poll_fn(|cx| with(&mut slots, || future.as_mut().poll(cx))).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_slots_does_not_see_later_changes() {
        let (a, b) = (SlotId::allocate(), SlotId::allocate());
        let mut slots = Slots::default();
        slots.set(a, Some(Arc::new(1_u32)));
        let copy = slots.clone();
        slots.set(a, Some(Arc::new(2_u32)));
        slots.set(b, Some(Arc::new("b")));
        assert_eq!(downcast::<u32>(copy.get(a)).as_deref(), Some(&1));
        assert!(copy.get(b).is_none());
        assert_eq!(downcast::<u32>(slots.get(a)).as_deref(), Some(&2));
        assert_eq!(downcast::<u64>(slots.get(a)), None);
        slots.set(a, None);
        assert!(slots.get(a).is_none() && slots.get(b).is_some());
    }
}
