//! For programs without async: the same references and servants, on plain threads.
//!
//! [`Wait::wait`] calls and blocks: `account.deposit(10.0).wait()?`. There is no runtime on the way of a call: the thread
//! that calls writes the request and reads the reply itself, and sleeps, if it has to, in the kernel's `recv`. Several
//! threads may call on one connection; one of them reads for all, and when it has its reply another one goes on.
//!
//! An [`Orb`] of this module also serves so: every connection has a thread of its own, which reads requests and runs
//! servants. A servant may block as long as it likes and stops nobody but its own connection. What is rare is left to one
//! thread in the background: connecting, accepting, time limits, shutting down; also what a servant does after an `.await`
//! that had to wait. Who blocks there stops the ORB.
//!
//! ```no_run
//! zorb::idl! {
//!     module Bank { interface Account { double deposit(in double amount); }; };
//! }
//! use bank::AccountRef;
//! use zorb::blocking::Wait;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let orb = zorb::Orb::builder().build_blocking()?;
//!     let account = orb.string_to_object("corbaloc:iiop:1.2@bank.example:2809/Account")?;
//!     let account: AccountRef = account.unchecked_narrow();
//!     println!("{}", account.deposit(10.0).wait()?);
//!     orb.shutdown(true)?;
//!     Ok(())
//! }
//! ```
//!
//! | | async | blocking |
//! |---|---|---|
//! | build | `builder.build().await` | `builder.build_blocking()` |
//! | call | `account.deposit(10.0).await` | `account.deposit(10.0).wait()` |
//! | serve | a task for each connection | a thread for each connection |
//! | many calls at a time | many futures | many threads |
//! | time limits | dropping the future, `with_round_trip_timeout` | `with_round_trip_timeout`, `Builder::round_trip_timeout` |
//! | names | `NamingContextRef::find(&orb).await` | `NamingContextRef::find(&orb).wait()` |

use crate::builder::Builder;
use crate::error::Error;
use crate::object::ObjectRef;
use core::cell::{Cell, OnceCell};
use core::fmt;
use core::future::poll_fn;
use core::ops::Deref;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::Instant;
use zorb_executor::Lane;
use zorb_giop::SystemException;

/// Blocks the thread until a future is done.
pub trait Wait: Future + Sized {
    /// Waits for the result: of one call, mostly.
    ///
    /// Calls inside the future block where they stand, so several of them joined are made one after the other, and a
    /// time limit belongs to the reference (`with_round_trip_timeout`), not around the call.
    ///
    /// # Blocking
    /// It does. In a task it holds the worker, as everything that blocks does; in a current-thread runtime, or where
    /// the ORB lives in the runtime that is held, what it waits for may never come.
    fn wait(self) -> Self::Output {
        block_on(self)
    }
}

impl<F: Future> Wait for F {}

/// An ORB for programs without async: see the [module](self).
///
/// What does not wait is that of [`zorb::Orb`](crate::Orb), to which it dereferences; what does has the same name here
/// and blocks. Cheap to clone; every clone is the same ORB, which ends as that one does.
#[derive(Clone)]
pub struct Orb(crate::Orb);

impl Builder {
    /// Starts the ORB for threads that block: see [`blocking`](crate::blocking).
    ///
    /// It lives on a thread of its own unless it was given a [`lane`](Self::lane).
    ///
    /// # Errors
    /// As [`build`](Self::build); [`Error::Thread`] when there is no thread to be had.
    ///
    /// # Blocking
    /// Waits until the ORB listens.
    pub fn build_blocking(mut self) -> Result<Orb, Error> {
        self.settings.threads = true;
        if !self.has_lane() {
            self = self.lane(Lane::dedicated("zorb").map_err(Error::Thread)?);
        }
        self.build().wait().map(Orb)
    }
}

impl Orb {
    /// [`zorb::Orb::string_to_object`](crate::Orb::string_to_object).
    ///
    /// # Errors
    /// As that.
    pub fn string_to_object(&self, text: &str) -> Result<ObjectRef, Error> {
        self.0.string_to_object(text).wait()
    }

    /// [`zorb::Orb::resolve_initial_references`](crate::Orb::resolve_initial_references).
    ///
    /// # Errors
    /// As that.
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, Error> {
        self.0.resolve_initial_references(name).wait()
    }

    /// Blocks until the ORB has shut down. Requests are served whether or not anybody does.
    pub fn run(&self) {
        self.0.run().wait();
    }

    /// [`zorb::Orb::shutdown`](crate::Orb::shutdown). A connection's thread that waits for requests notices it within
    /// a quarter of a second.
    ///
    /// # Errors
    /// As that.
    pub fn shutdown(&self, wait_for_completion: bool) -> Result<(), SystemException> {
        self.0.shutdown(wait_for_completion).wait()
    }
}

impl Deref for Orb {
    type Target = crate::Orb;

    fn deref(&self) -> &crate::Orb {
        &self.0
    }
}

impl fmt::Debug for Orb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

thread_local! {
    /// Whether this thread polls for [`Wait::wait`], so that calls may block it.
    static WAITS: Cell<bool> = const { Cell::new(false) };
    /// Until when they may.
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether somebody has listened to the bell since its owner last polled.
    static SLEPT: Cell<bool> = const { Cell::new(false) };
    static BELL: OnceCell<(Arc<Bell>, Waker)> = const { OnceCell::new() };
}

/// Wakes a thread.
struct Bell {
    thread: Thread,
    rung: AtomicBool,
}

impl Bell {
    fn new() -> (Arc<Self>, Waker) {
        let bell = Arc::new(Self {
            thread: thread::current(),
            rung: AtomicBool::new(false),
        });
        (Arc::clone(&bell), Waker::from(bell))
    }

    /// Sleeps until it is rung, or `until`. It may have been already.
    fn wait(&self, until: Option<Instant>) {
        // Acquired: what was done before it was rung.
        while !self.rung.swap(false, Ordering::Acquire) {
            match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => thread::park(),
                Some(left) if left.is_zero() => return,
                Some(left) => thread::park_timeout(left),
            }
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// This thread's.
fn bell() -> (Arc<Bell>, Waker) {
    let kept = BELL.try_with(|bell| bell.get_or_init(Bell::new).clone());
    // A thread that is ending keeps nothing any more.
    kept.unwrap_or_else(|_| Bell::new())
}

/// Puts a thread's state back.
struct Restore<T: Copy + 'static>(&'static thread::LocalKey<Cell<T>>, T);

impl<T: Copy> Drop for Restore<T> {
    fn drop(&mut self) {
        let _ = self.0.try_with(|cell| cell.set(self.1));
    }
}

fn replace<T: Copy + Default>(key: &'static thread::LocalKey<Cell<T>>, value: T) -> Restore<T> {
    let before = key.try_with(|cell| cell.replace(value));
    Restore(key, before.unwrap_or_default())
}

/// Drives a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let _waits = replace(&WAITS, true);
    let (bell, waker) = bell();
    let mut cx = Context::from_waker(&waker);
    let mut is_again = false;
    slept(false);
    let mut output = future.as_mut().poll(&mut cx);
    // It may have wanted no more than its turn again: a task has a budget of operations, which is used up, and nobody fills
    // it while the task blocks. From now on none is asked for.
    let mut future = tokio::task::coop::unconstrained(future);
    let output = loop {
        match output {
            Poll::Ready(output) => break output,
            // Who slept inside may have heard the bell in our place.
            Poll::Pending if is_again && !slept(false) => bell.wait(None),
            Poll::Pending => is_again = true,
        }
        slept(false);
        output = Pin::new(&mut future).poll(&mut cx);
    };
    // And so may we have, in the place of whoever waits around us.
    slept(true);
    output
}

/// Notes whether somebody has listened to the bell, and says what was noted before.
fn slept(now: bool) -> bool {
    SLEPT.try_with(|slept| slept.replace(now)).unwrap_or(true)
}

/// Whether a call that is polled on this thread may block it.
pub(crate) fn may_block() -> bool {
    WAITS.try_with(Cell::get).unwrap_or(false)
}

/// The same, for as long as it takes.
pub(crate) fn may_block_for_ever() -> bool {
    may_block() && until().is_none()
}

/// The same future, whose calls block no longer than `until`.
pub(crate) async fn no_longer_than<F: Future>(until: Option<Instant>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let before = self::until();
        let _until = replace(&UNTIL, before.into_iter().chain(until).min());
        future.as_mut().poll(cx)
    })
    .await
}

/// Until when calls of this thread may block it.
pub(crate) fn until() -> Option<Instant> {
    UNTIL.try_with(Cell::get).unwrap_or_default()
}

/// What wakes this thread from [`sleep`].
pub(crate) fn waker() -> Waker {
    bell().1
}

/// Sleeps until this thread's waker is woken, or `until`.
pub(crate) fn sleep(until: Option<Instant>) {
    bell().0.wait(until);
    slept(true);
}
