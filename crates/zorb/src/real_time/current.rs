//! `RTCORBA::Current`: the priority of a thread, a task, an upcall.

use super::settings::{RealTimeSettings, raise};
use crate::orb::Orb;
use core::cell::Cell;
use core::future::poll_fn;
use core::pin::pin;
use zorb_executor::Priority;
use zorb_giop::{RealTimeFault, SystemException};

/// What the priority belongs to.
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
struct Current {
    priority: Option<Priority>,
    holder: Holder,
    /// It has been set since it began.
    changed: bool,
    /// The pool and the lane that it runs in.
    lane: Option<(usize, Priority)>,
}

/// What runs at a priority.
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
        // What runs within an upcall runs in its lane.
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

/// The priority of the calling thread, task or upcall: `RTCORBA::Current`.
///
/// Calls to objects whose POA has CLIENT_PROPAGATED are made at it. Inside an upcall it is that of the request, before and
/// behind the awaits of the servant; what the servant sets ends with the upcall. A future that is run by
/// [`scope`](Self::scope) has one of its own as well. Elsewhere it belongs to the thread, as CORBA has it: a task that may
/// go on in another thread wants a scope.
#[derive(Debug, Clone)]
#[doc(alias = "RTCORBA::Current")]
pub struct RtCurrent(Orb);

impl RtCurrent {
    pub(super) const fn of(orb: Orb) -> Self {
        Self(orb)
    }

    fn settings(&self) -> &RealTimeSettings {
        &self.0.inner().settings().real_time
    }

    /// The priority.
    ///
    /// # Errors
    /// INITIALIZE if none has been set.
    #[doc(alias = "_get_the_priority")]
    pub fn the_priority(&self) -> Result<Priority, SystemException> {
        priority().ok_or_else(|| raise(RealTimeFault::NoPriority))
    }

    /// Sets the priority. With a real-time [scheduling](crate::Builder::scheduling), a thread outside of any runtime, and the
    /// thread of an upcall in a thread pool, get the native priority at once: a system call. The threads of a runtime run
    /// others' tasks as well, and keep theirs.
    ///
    /// # Errors
    /// BAD_PARAM below 0; DATA_CONVERSION, minor code 2, if the mapping has no native priority for it; NO_PERMISSION if the
    /// system refuses that. Nothing is changed then.
    #[doc(alias = "_set_the_priority")]
    pub fn set_the_priority(&self, priority: Priority) -> Result<(), SystemException> {
        if !priority.is_valid() {
            return Err(raise(RealTimeFault::OutOfRange(priority.0)));
        }
        let current = CURRENT.get();
        let owns_thread = match current.holder {
            Holder::Upcall => true,
            Holder::Task => false,
            Holder::Thread => tokio::runtime::Handle::try_current().is_err(),
        };
        match owns_thread {
            true => self.settings().apply(priority)?,
            false => drop(self.settings().native(priority)?),
        }
        CURRENT.set(Current {
            priority: Some(priority),
            changed: true,
            ..current
        });
        Ok(())
    }

    /// Runs a future at a priority, wherever it goes on after an await. Tasks that it spawns are outside.
    ///
    /// ```
    /// use zorb::executor::Priority;
    ///
    /// # async fn example(orb: zorb::Orb, valve: zorb::ObjectRef) -> Result<(), zorb::SystemException> {
    /// orb.rt_current().scope(Priority(20_000), valve.non_existent()).await??;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// BAD_PARAM below 0; DATA_CONVERSION, minor code 2, if the mapping has no native priority for it.
    ///
    /// # Cancel safety
    /// That of the future.
    pub async fn scope<F: Future>(
        &self,
        priority: Priority,
        future: F,
    ) -> Result<F::Output, SystemException> {
        if !priority.is_valid() {
            return Err(raise(RealTimeFault::OutOfRange(priority.0)));
        }
        self.settings().native(priority)?;
        let running = Running {
            priority,
            holder: Holder::Task,
            lane: None,
        };
        Ok(at(self.settings(), running, future).await)
    }
}
