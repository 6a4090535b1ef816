//! For programs without async: the same references and servants, on plain threads.
//!
//! [`Wait::wait`] calls and blocks: `account.deposit(10.0).wait()?`. There is no runtime on the way of a call: the thread
//! that calls writes the request and reads the reply itself, and sleeps, if it has to, in the kernel's `recv`. Several
//! threads may call on one connection; one of them reads for all, and when it has its reply another one goes on.
//!
//! An [`Orb`] of this module also serves so: every connection has a thread of its own, which reads requests and runs
//! servants. A servant may block as long as it likes and stops its own connection only. Rare work is left to one thread
//! in the background: connecting, accepting, time limits, shutting down; also the rest of a servant's operation after
//! an `.await` that was pending. Code that blocks there stops the ORB.
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
//! | names | `NamingClient::find(&orb).await` | `NamingClient::find(&orb).wait()` |

use crate::builder::Builder;
use crate::error::Error;
use crate::object::ObjectRef;
use core::fmt;
use core::ops::Deref;
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
    /// Blocks the thread. In a task it holds the worker, as everything that blocks does; in a current-thread runtime, or where
    /// the ORB lives in the runtime that is held, what it waits for may never come.
    fn wait(self) -> Self::Output {
        zorb_connection::blocking::block_on(self)
    }
}

impl<F: Future> Wait for F {}

/// An ORB for programs without async: see the [module](self).
///
/// Methods that do not wait are those of [`zorb::Orb`](crate::Orb), to which it dereferences; a method that waits has the same name here
/// and blocks. Cheap to clone; every clone is the same ORB, which ends as that one does.
#[derive(Clone)]
pub struct Orb(crate::Orb);

impl Builder {
    /// Starts the ORB for threads that block: see [`blocking`](crate::blocking).
    ///
    /// The ORB lives on a thread of its own unless it was given a [`lane`](Self::lane).
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
