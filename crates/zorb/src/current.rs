//! Whose upcall this thread is polling.

use crate::orb::OrbInner;
use core::cell::Cell;

thread_local! {
    /// Address of the ORB whose upcall is being polled; compared, never followed.
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
    CURRENT.get() == core::ptr::from_ref(orb).addr()
}
