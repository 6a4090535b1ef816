//! The interceptors, and calls without interceptors, that this thread is within.

use super::slots::{self, Slots};
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::pin;

/// The most levels of calls within interceptors. A call of an interceptor's own may pass interceptors that make calls; more
/// levels are a recursion.
pub const MAX_NESTED: u16 = 8;

/// In the state of a thread: its calls pass no interceptors.
const WITHOUT: u16 = 1 << 15;

thread_local! {
    /// The number of interceptors within each other that this thread is polling, and [`WITHOUT`].
    static NESTED: Cell<u16> = const { Cell::new(0) };
}

/// The level of a call, and of the interceptors that it passes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nested {
    level: u16,
    has_slots: bool,
}

impl Nested {
    /// The level of a call that this thread makes or serves.
    #[inline]
    pub(crate) fn current(has_slots: bool) -> Self {
        Self {
            level: NESTED.get(),
            has_slots,
        }
    }

    /// Whether the call passes no interceptors.
    #[inline]
    pub(crate) const fn is_without(self) -> bool {
        self.level & WITHOUT != 0
    }

    /// Whether there are too many levels above.
    #[inline]
    pub(crate) const fn is_too_deep(self) -> bool {
        self.level > MAX_NESTED
    }

    /// Whether slots have been allocated.
    #[inline]
    pub(crate) const fn has_slots(self) -> bool {
        self.has_slots
    }

    /// Enters an interceptor of the call, whose slots of the thread are its own.
    #[inline]
    pub(super) fn enter(self) -> Within {
        Within {
            before: NESTED.replace(self.level.saturating_add(1)),
            slots: self.has_slots.then(|| slots::replace(Slots::default())),
        }
    }

    /// Enters the servant of the call, which is at the level of its caller.
    #[inline]
    pub(crate) fn enter_servant(self) -> Within {
        Within {
            before: NESTED.replace(self.level),
            slots: None,
        }
    }
}

/// Restores the level of the thread, and its slots, when dropped.
#[must_use]
pub(crate) struct Within {
    before: u16,
    slots: Option<Slots>,
}

impl Drop for Within {
    #[inline]
    fn drop(&mut self) {
        NESTED.set(self.before);
        if let Some(slots) = self.slots.take() {
            slots::replace(slots);
        }
    }
}

/// Runs a future whose calls pass no interceptors.
pub(crate) async fn without<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _within = Within {
            before: NESTED.replace(NESTED.get() | WITHOUT),
            slots: None,
        };
        future.as_mut().poll(cx)
    })
    .await
}
