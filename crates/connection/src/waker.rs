//! Waking the task that drives a connection.

use super::sync::AtomicWaker;
use core::fmt;
use core::task::Waker;
use std::sync::{Arc, OnceLock};
use std::task::Wake;

/// The waker of a connection's driver task, which registers it at each of its polls. Used as a [`Waker`], it wakes the
/// driver, whichever task that is at the time. A connection with two roles has a second driver, which is woken with the first.
#[derive(Default)]
pub(crate) struct DriverWaker {
    first: AtomicWaker,
    second: OnceLock<AtomicWaker>,
}

impl DriverWaker {
    /// Registers the driver. The driver sees everything done before earlier wake-ups; later wake-ups wake it.
    #[inline]
    pub(crate) fn register(&self, driver: &Waker) {
        self.first.register(driver);
    }

    /// Registers the second driver.
    pub(crate) fn register_second(&self, driver: &Waker) {
        self.second.get_or_init(Default::default).register(driver);
    }

    /// Wakes the driver.
    pub(crate) fn notify(&self) {
        self.first.wake();
        if let Some(second) = self.second.get() {
            second.wake();
        }
    }
}

impl Wake for DriverWaker {
    fn wake(self: Arc<Self>) {
        self.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.notify();
    }
}

impl fmt::Debug for DriverWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverWaker").finish_non_exhaustive()
    }
}
