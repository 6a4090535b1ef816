//! The priority of what a thread runs now.

use super::settings::RealTimeSettings;
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::pin;
use zorb_executor::Priority;

/// The owner of the priority: a thread or a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// This thread.
    Thread,
    /// A future, wherever it is polled: the native priority of that thread is not its own.
    Task,
    /// An upcall that has its thread for itself.
    Upcall,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Current {
    pub(super) priority: Option<Priority>,
    pub(super) holder: Holder,
    /// The upcall has set its priority.
    pub(super) changed: bool,
    /// The pool and the lane that it runs in.
    pub(super) lane: Option<(usize, Priority)>,
}

/// A future that runs at a priority.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Running {
    pub(crate) priority: Priority,
    pub(crate) holder: Holder,
    /// The address of a pool, and one of its lanes.
    pub(crate) lane: Option<(usize, Priority)>,
}

thread_local! {
    static CURRENT: Cell<Current> = const {
        Cell::new(Current {
            priority: None,
            holder: Holder::Thread,
            changed: false,
            lane: None,
        })
    };
}

/// Restores what was current before.
struct Entered(Current);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The priority of what this thread runs now, if it has one.
pub(crate) fn priority() -> Option<Priority> {
    CURRENT.get().priority
}

/// The pool and the lane of the upcall that this thread runs now.
pub(crate) fn lane() -> Option<(usize, Priority)> {
    CURRENT.get().lane
}

/// Runs a future at a priority; what it sets is its own, and ends with it. An upcall's thread gets the native priority
/// of `priority` back.
pub(crate) async fn at<F: Future>(
    settings: &RealTimeSettings,
    running: Running,
    future: F,
) -> F::Output {
    let Running {
        priority,
        holder,
        lane,
    } = running;
    let mut current = Current {
        priority: Some(priority),
        holder,
        changed: false,
        lane,
    };
    let mut future = pin!(future);
    let output = poll_fn(|cx| {
        // Code within an upcall runs in its lane.
        current.lane = lane.or_else(self::lane);
        let entered = Entered(CURRENT.replace(current));
        let polled = future.as_mut().poll(cx);
        current = CURRENT.get();
        drop(entered);
        polled
    })
    .await;
    if current.changed && holder == Holder::Upcall {
        // The thread had this priority before.
        let _ = settings.apply(priority);
    }
    output
}

/// The upcall of this thread.
pub(super) fn current() -> Current {
    CURRENT.get()
}

/// Changes what is current until what was current before is restored.
pub(super) fn set_current(current: Current) {
    CURRENT.set(current);
}
