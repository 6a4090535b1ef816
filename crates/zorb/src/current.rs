//! The ORB whose upcall this thread is polling.

use crate::orb::OrbInner;
use core::cell::Cell;
use std::sync::Arc;
use zorb_poa::ActiveObject;

thread_local! {
    /// Address of the ORB whose forward or key resolver runs on this thread; compared, never dereferenced. For servants
    /// [`ActiveObject::enter`] records the object, which names its ORB.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Restores the previous ORB of the thread when dropped.
pub(crate) struct RequestScope {
    before: usize,
}

pub(crate) fn enter(orb: &OrbInner) -> RequestScope {
    RequestScope {
        before: CURRENT.replace(core::ptr::from_ref(orb).addr()),
    }
}

impl Drop for RequestScope {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Whether this thread is polling an upcall of any ORB right now.
pub(crate) fn is_upcall() -> bool {
    CURRENT.get() != 0 || ActiveObject::current(|_| ()).is_some()
}

/// Whether this thread is polling an upcall of `orb` right now.
pub(crate) fn is_upcall_of(orb: &OrbInner) -> bool {
    let address = core::ptr::from_ref(orb).addr();
    let is_of = |object: &ActiveObject| match object.adapter() {
        Some(adapter) => {
            let owner = adapter.owner();
            owner.is_some_and(|owner| Arc::as_ptr(&owner).addr() == address)
        }
        // The adapter has been destroyed meanwhile and no longer names its ORB, which may be this one.
        None => true,
    };
    CURRENT.get() == address || ActiveObject::current(is_of).unwrap_or(false)
}
