//! Waking the task that drives a connection.

use super::sync::AtomicWaker;
use core::fmt;
use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;

/// The waker of a connection's driver task, which registers it at each of its polls. Used as a [`Waker`], it wakes the
/// driver, whichever task that is at the time.
#[derive(Default)]
pub(crate) struct DriverWaker(AtomicWaker);

impl DriverWaker {
    /// Registers the driver. The driver sees everything done before earlier wake-ups; later wake-ups wake it.
    #[inline]
    pub(crate) fn register(&self, driver: &Waker) {
        self.0.register(driver);
    }

    /// Wakes the driver.
    pub(crate) fn notify(&self) {
        self.0.wake();
    }
}

impl Wake for DriverWaker {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake();
    }
}

impl fmt::Debug for DriverWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverWaker").finish_non_exhaustive()
    }
}
