//! `RTCORBA::Current`: the priority of a thread, a task or an upcall.

use super::running::{Current, Holder, Running, at, current, priority, set_current};
use super::settings::{RealTimeSettings, raise};
use crate::orb::Orb;
use zorb_executor::Priority;
use zorb_giop::{RealTimeFault, SystemException};

/// The priority of the calling thread, task or upcall: `RTCORBA::Current`.
///
/// Calls to objects whose POA has CLIENT_PROPAGATED state it. Inside an upcall it is the priority of the request, also
/// after the servant's awaits; a change by the servant ends with the upcall. A future that runs in a
/// [`scope`](Self::scope) has a priority of its own. Elsewhere the priority belongs to the thread, as in CORBA, so a
/// task that may move to another thread needs a scope.
///
/// A clone costs a reference count. Source: Real-time CORBA 1.2 (`RTCORBA::Current`).
#[derive(Debug, Clone)]
#[doc(alias = "RTCORBA::Current")]
pub struct RtCurrent(Orb);

impl RtCurrent {
    fn settings(&self) -> &RealTimeSettings {
        &self.0.inner().settings().real_time
    }

    /// The priority of the calling thread, task or upcall.
    ///
    /// # Errors
    /// INITIALIZE if none has been set.
    #[doc(alias = "_get_the_priority")]
    pub fn the_priority(&self) -> Result<Priority, SystemException> {
        priority().ok_or_else(|| raise(RealTimeFault::NoPriority))
    }

    /// Sets the priority. With real-time [scheduling](crate::Builder::scheduling), a thread outside of any runtime, and
    /// the thread of an upcall in a thread pool, get the native priority at once, by a system call. Threads of a
    /// runtime keep their native priority, since they run other tasks too.
    ///
    /// # Errors
    /// BAD_PARAM below 0; DATA_CONVERSION, minor code 2, if the mapping has no native priority for it; NO_PERMISSION if
    /// the operating system refuses the native priority. The priority does not change then.
    #[doc(alias = "_set_the_priority")]
    pub fn set_the_priority(&self, priority: Priority) -> Result<(), SystemException> {
        if !priority.is_valid() {
            return Err(raise(RealTimeFault::OutOfRange(priority.0)));
        }
        let current = current();
        let owns_thread = match current.holder {
            Holder::Upcall => true,
            Holder::Task => false,
            Holder::Thread => tokio::runtime::Handle::try_current().is_err(),
        };
        match owns_thread {
            true => self.settings().apply(priority)?,
            false => drop(self.settings().native(priority)?),
        }
        set_current(Current {
            priority: Some(priority),
            changed: true,
            ..current
        });
        Ok(())
    }

    /// Runs a future at a priority, on any thread. Tasks that it spawns are outside the scope.
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
    /// That of `future`.
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

impl Orb {
    /// The priority of the calling thread or task: the initial reference `RTCurrent`.
    #[must_use]
    #[doc(alias = "RTCurrent")]
    pub fn rt_current(&self) -> RtCurrent {
        RtCurrent(self.clone())
    }
}
