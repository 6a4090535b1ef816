//! The ORB whose upcall this thread is polling.

use crate::orb::OrbInner;
use core::cell::Cell;
use std::sync::Arc;
use zorb_poa::ActiveObject;

thread_local! {
    /// Address of the ORB of which a forward or a key resolver is being run; compared, never followed. Servants have their
    /// object noted instead ([`ActiveObject::enter`]), which names its ORB.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Restores what was current before.
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

/// Whether this thread is polling an upcall of `orb` right now.
pub(crate) fn is_upcall_of(orb: &OrbInner) -> bool {
    let address = core::ptr::from_ref(orb).addr();
    let is_of = |object: &ActiveObject| match object.adapter() {
        Some(adapter) => {
            let owner = adapter.owner();
            owner.is_some_and(|owner| Arc::as_ptr(&owner).addr() == address)
        }
        // The adapter has been destroyed meanwhile, and its ORB is not known any more: it may be this one.
        None => true,
    };
    CURRENT.get() == address || ActiveObject::current(is_of).unwrap_or(false)
}
