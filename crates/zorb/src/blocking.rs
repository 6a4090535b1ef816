//! The ORB for programs without async: the same references and servants, on plain threads.
//!
//! [`Wait::wait`] calls and blocks: `account.deposit(10.0).wait()?`. No runtime takes part in a call: the calling
//! thread writes the request and reads the reply itself, and sleeps, if it has to, in the kernel's `recv`. Several
//! threads may call on one connection: one of them reads for all, and passes the reading to another one when it has its
//! own reply.
//!
//! An [`Orb`] of this module serves in the same way: every connection has a thread of its own, which reads requests and
//! runs servants. A servant that blocks stops its own connection only. One background thread does rare work:
//! connecting, accepting, time limits, shutting down. It also continues a servant's operation after an `.await` that
//! was pending; code that blocks there stops the ORB.
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
use crate::orb::ShutdownReport;
use core::fmt;
use core::ops::Deref;
use core::time::Duration;
use zorb_executor::Lane;
use zorb_giop::SystemException;

/// Blocks the thread until a future is ready.
pub trait Wait: Future + Sized {
    /// Blocks until the future is ready and returns its output: the result of one call, mostly.
    ///
    /// Calls inside the future block in their first poll. Joined calls therefore run one after the other, and a time
    /// limit around a call has no effect: set it on the reference (`with_round_trip_timeout`).
    ///
    /// # Blocking
    /// Blocks the thread. In a task it blocks the worker of the runtime. In a current-thread runtime, or on a worker of
    /// the runtime in which the ORB lives, it may deadlock.
    fn wait(self) -> Self::Output {
        zorb_connection::blocking::block_on(self)
    }
}

impl<F: Future> Wait for F {}

/// An ORB for programs without async: see the [module](self).
///
/// It dereferences to [`zorb::Orb`](crate::Orb) for the methods that do not wait; the methods that wait have the same
/// names here and block. A clone costs a reference count and is the same ORB. Dropping the last handle ends the ORB, as
/// with [`zorb::Orb`](crate::Orb).
#[derive(Clone)]
pub struct Orb(crate::Orb);

impl Builder {
    /// Starts the ORB for threads that block: see [`blocking`](crate::blocking).
    ///
    /// The ORB lives on a thread of its own unless a [`lane`](Self::lane) is set.
    ///
    /// # Errors
    /// Returns the errors of [`build`](Self::build); [`Error::Thread`] when the operating system refuses a thread.
    ///
    /// # Blocking
    /// Blocks until the ORB listens.
    pub fn build_blocking(mut self) -> Result<Orb, Error> {
        self.settings.threads = true;
        if !self.has_lane() {
            self = self.lane(Lane::dedicated("zorb").map_err(Error::Thread)?);
        }
        self.build().wait().map(Orb)
    }
}

impl Orb {
    /// Reads an object URL, and blocks: see [`zorb::Orb::string_to_object`](crate::Orb::string_to_object).
    ///
    /// # Errors
    /// Returns the errors of [`zorb::Orb::string_to_object`](crate::Orb::string_to_object).
    pub fn string_to_object(&self, text: &str) -> Result<ObjectRef, Error> {
        self.0.string_to_object(text).wait()
    }

    /// Resolves an initial reference, and blocks: see
    /// [`zorb::Orb::resolve_initial_references`](crate::Orb::resolve_initial_references).
    ///
    /// # Errors
    /// Returns the errors of [`zorb::Orb::resolve_initial_references`](crate::Orb::resolve_initial_references).
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, Error> {
        self.0.resolve_initial_references(name).wait()
    }

    /// Blocks until the ORB has shut down. Requests are served whether or not a thread calls this.
    pub fn run(&self) {
        self.0.run().wait();
    }

    /// Shuts the ORB down, and blocks: see [`zorb::Orb::shutdown`](crate::Orb::shutdown). The thread of an idle
    /// connection notices the shutdown within a quarter of a second.
    ///
    /// # Errors
    /// Returns the errors of [`zorb::Orb::shutdown`](crate::Orb::shutdown).
    pub fn shutdown(&self, wait_for_completion: bool) -> Result<(), SystemException> {
        self.0.shutdown(wait_for_completion).wait()
    }

    /// Shuts the ORB down with a time limit, and blocks: see [`zorb::Orb::shutdown_within`](crate::Orb::shutdown_within).
    ///
    /// # Errors
    /// Returns the errors of [`zorb::Orb::shutdown_within`](crate::Orb::shutdown_within).
    pub fn shutdown_within(&self, limit: Duration) -> Result<ShutdownReport, SystemException> {
        self.0.shutdown_within(limit).wait()
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
