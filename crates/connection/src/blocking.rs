//! Threads that may block in a call, and how they park.

use super::sync::thread::{self, Thread};
use super::sync::thread_local;
use super::together;
use core::cell::{Cell, OnceCell};
use core::future::poll_fn;
use core::pin::{Pin, pin};
// The atomics of `core`, not of `sync`: loom lets the swap of a parker miss a store that it cannot precede.
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;
use std::time::Instant;

thread_local! {
    /// How calls that are polled on this thread go.
    static CALLS: Cell<Calls> = const { Cell::new(Calls::Pend) };
    /// The deadline of calls that block this thread.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether a call has consumed the parker's wake-up since the future was polled last.
    static CONSUMED: Cell<bool> = const { Cell::new(false) };
    static PARKER: OnceCell<(Arc<Parker>, Waker)> = const { OnceCell::new() };
}

/// How a call goes that is polled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Calls {
    /// It sends its request, and is pending where it would have to wait.
    #[default]
    Pend,
    /// It may block the thread: the thread is inside [`block_on`].
    Block,
    /// Its request leaves with those of other calls, at the end of the poll [`together`](super::together()).
    Together,
}

/// Parks a thread until it is woken.
struct Parker {
    thread: Thread,
    woken: AtomicBool,
}

impl Parker {
    fn new() -> (Arc<Self>, Waker) {
        let parker = Arc::new(Self {
            thread: thread::current(),
            woken: AtomicBool::new(false),
        });
        (Arc::clone(&parker), Waker::from(parker))
    }

    /// Parks until a wake-up, which may have come already, or the deadline.
    fn park(&self, deadline: Option<Instant>) {
        // Acquire: the thread sees what its waker did before the wake-up.
        while !self.woken.swap(false, Ordering::Acquire) {
            match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => thread::park(),
                Some(left) if left.is_zero() => return,
                Some(left) => thread::park_timeout(left),
            }
        }
    }
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// The parker of this thread.
fn parker() -> (Arc<Parker>, Waker) {
    let kept = PARKER.try_with(|parker| parker.get_or_init(Parker::new).clone());
    // A thread that is ending has no thread-local values any more.
    kept.unwrap_or_else(|_| Parker::new())
}

/// Restores a thread-local value.
pub(crate) struct Restore<T: Copy + 'static>(&'static thread::LocalKey<Cell<T>>, pub(crate) T);

impl<T: Copy> Drop for Restore<T> {
    fn drop(&mut self) {
        let _ = self.0.try_with(|cell| cell.set(self.1));
    }
}

fn replace<T: Copy + Default>(key: &'static thread::LocalKey<Cell<T>>, value: T) -> Restore<T> {
    let before = key.try_with(|cell| cell.replace(value));
    Restore(key, before.unwrap_or_default())
}

/// Drives a future on this thread. Calls inside it may block the thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let before = have_calls(Calls::Block);
    if before.1 == Calls::Together {
        // This thread may wait for what these requests do.
        together::write();
    }
    drive(future)
}

/// Has calls that are polled on this thread go so, until the value is dropped.
pub(crate) fn have_calls(go: Calls) -> Restore<Calls> {
    replace(&CALLS, go)
}

/// Drives a future on this thread. Calls inside it are pending where they would have to wait, as in a task.
pub(crate) fn drive_task<F: Future>(future: F) -> F::Output {
    let _blocks = have_calls(Calls::Pend);
    drive(future)
}

/// Runs a step of a future on this thread, in which calls are pending where they would have to wait, even if the thread
/// may block.
pub fn without_blocking<T>(step: impl FnOnce() -> T) -> T {
    let _blocks = have_calls(Calls::Pend);
    step()
}

fn drive<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let (parker, waker) = parker();
    let mut cx = Context::from_waker(&waker);
    let mut is_again = false;
    consumed(false);
    let mut output = future.as_mut().poll(&mut cx);
    // The future may have yielded for lack of budget only: tokio gives a task a budget of operations, which is not
    // refilled while the task blocks. From here on the budget is off.
    let mut future = tokio::task::coop::unconstrained(future);
    let output = loop {
        match output {
            Poll::Ready(output) => break output,
            // A call inside the future that parked may have consumed a wake-up for the future itself.
            Poll::Pending if is_again && !consumed(false) => parker.park(None),
            Poll::Pending => is_again = true,
        }
        consumed(false);
        output = Pin::new(&mut future).poll(&mut cx);
    };
    // This future may have consumed a wake-up of the future around it.
    consumed(true);
    output
}

/// Notes whether a wake-up was consumed, and returns the value before.
fn consumed(now: bool) -> bool {
    let before = CONSUMED.try_with(|consumed| consumed.replace(now));
    before.unwrap_or(true)
}

/// How a call that is polled on this thread goes.
#[inline]
pub(crate) fn calls() -> Calls {
    CALLS.try_with(Cell::get).unwrap_or_default()
}

/// Whether a call that is polled on this thread may block it.
#[inline]
pub(crate) fn may_block() -> bool {
    calls() == Calls::Block
}

/// Runs a future whose calls block no longer than until the deadline.
///
/// # Cancel safety
/// As safe as `future` is: nothing is kept between two polls.
pub async fn with_deadline<F: Future>(deadline: Option<Instant>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let before = self::deadline();
        let _deadline = replace(&DEADLINE, before.into_iter().chain(deadline).min());
        future.as_mut().poll(cx)
    })
    .await
}

/// The deadline of calls that block this thread, if they have one.
pub(crate) fn deadline() -> Option<Instant> {
    DEADLINE.try_with(Cell::get).unwrap_or_default()
}

/// Wakes this thread from [`park`].
pub(crate) fn waker() -> Waker {
    parker().1
}

/// Parks this thread until its waker is called or the deadline passes.
pub(crate) fn park(deadline: Option<Instant>) {
    parker().0.park(deadline);
    consumed(true);
}
