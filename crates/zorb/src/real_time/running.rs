//! The current priority of a thread, a task or an upcall.

use super::settings::RealTimeSettings;
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::pin;
use zorb_executor::Priority;

/// The owner of the current priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The thread itself.
    Thread,
    /// A future, on any thread: it does not own the thread's native priority.
    Task,
    /// An upcall on a thread of a pool, whose native priority it owns.
    Upcall,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Current {
    pub(super) priority: Option<Priority>,
    pub(super) holder: Holder,
    /// Whether the upcall has set its priority.
    pub(super) changed: bool,
    /// The address of the pool, and the lane, in which it runs.
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

/// Restores the previous state of the thread when dropped.
struct Entered(Current);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The current priority of this thread, if one is set.
pub(crate) fn priority() -> Option<Priority> {
    CURRENT.get().priority
}

/// The pool and the lane of the upcall on this thread.
pub(crate) fn lane() -> Option<(usize, Priority)> {
    CURRENT.get().lane
}

/// Runs a future at a priority. Changes by the future end with it; the thread of an upcall gets the native priority of
/// `priority` back.
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
        // A nested scope stays in the lane of its upcall.
        current.lane = lane.or_else(self::lane);
        let entered = Entered(CURRENT.replace(current));
        let polled = future.as_mut().poll(cx);
        current = CURRENT.get();
        drop(entered);
        polled
    })
    .await;
    if current.changed && holder == Holder::Upcall {
        // Not expected to fail, since the thread had this priority before.
        let _ = settings.apply(priority);
    }
    output
}

/// The current state of this thread.
pub(super) fn current() -> Current {
    CURRENT.get()
}

/// Replaces the current state, until [`Entered`] restores the previous one.
pub(super) fn set_current(current: Current) {
    CURRENT.set(current);
}
