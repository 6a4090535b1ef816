//! Promotion: a connection gets a thread for as long as it is one of several busy ones.
//!
//! The thread sleeps in `recv`, and the kernel wakes it when its client has sent something, without the reactor or another
//! worker in between.

use super::super::end::End;
use super::super::link::Reading;
use super::super::owner::Owner;
use super::super::sync::Ordering;
use super::ServerConnection;
use super::driver::Waiting;
use core::mem;
use core::time::Duration;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;
use tokio::runtime::RuntimeFlavor;
use tokio::sync::oneshot;
use zorb_executor::{Dispatch, WaitPolicy};
use zorb_giop::Cause;
use zorb_transport::Connection;

/// Reads in a row, each while another connection was busy, after which a connection may be promoted. Also, reads in a row
/// without a whole message after which it returns to its task: a client that sends an octet at a time is not busy.
pub(super) const READS: u32 = 64;
/// The time in which these reads have to come, and how long a promoted connection may be without a request before its
/// thread returns it to its task.
pub(super) const READS_WITHIN: Duration = Duration::from_millis(10);

/// Counts how busy a connection is among others.
#[derive(Debug, Default)]
pub(super) struct Promotion {
    /// Reads in a row while another connection was busy. `since` is the time of the first.
    reads: u32,
    since: Option<Instant>,
}

impl Promotion {
    /// Notes a read with messages. `only_busy`: no other connection was busy lately.
    pub(super) fn has_read(&mut self, only_busy: bool) {
        if only_busy {
            self.reads = 0;
            return;
        }
        if self.reads == 0 {
            self.since = Some(Instant::now());
        }
        self.reads = self.reads.saturating_add(1);
    }

    /// Whether a thread would serve the connection sooner. The count starts anew each time that there were enough reads to
    /// decide.
    pub(super) fn is_due(&mut self) -> bool {
        if self.reads < READS {
            return false;
        }
        self.reads = 0;
        (self.since).is_some_and(|since| since.elapsed() <= READS_WITHIN)
    }
}

impl<O: Owner> ServerConnection<O> {
    /// The number of workers of the lane, if its connections may be promoted, else 0. They may not be if the application runs
    /// everything on one thread, or has chosen a dispatch or a wait policy.
    pub(super) fn promoting_workers(&self) -> usize {
        let lane = self.owner.lane();
        let may = self.is_in_lane
            && lane.flavor() != RuntimeFlavor::CurrentThread
            && matches!(lane.dispatch(), Dispatch::InPlace)
            && self.owner.settings().wait == WaitPolicy::Adaptive;
        match may {
            true => lane.handle().metrics().num_workers(),
            false => 0,
        }
    }

    /// Whether nothing on the connection needs a task.
    pub(super) fn may_be_promoted(&self) -> bool {
        self.both().is_none()
            && self.has_no_pending()
            && !self.link.outbound.is_blocked()
            && self.link.outbound.failure().is_none()
            && !self.cannot_block.load(Ordering::Relaxed)
    }

    /// Serves the connection on a thread while it is busy. This task waits meanwhile; if it is dropped with its runtime, the
    /// connection is closed and the thread ends.
    pub(super) async fn serve_promoted(
        self: &Arc<Self>,
        reading: Reading,
    ) -> (Reading, Option<End>) {
        // The state moves into the thread only once the thread exists.
        let (give, given) = mpsc::sync_channel(1);
        let (done, result) = oneshot::channel();
        let connection = Arc::clone(self);
        let started = thread::Builder::new()
            .name("zorb-connection".to_owned())
            .spawn(move || {
                if let Ok(mut reading) = given.recv() {
                    let ended = connection.serve_while_busy(&mut reading);
                    // Sending fails if the task was dropped with its runtime.
                    let _ = done.send((reading, ended));
                }
            });
        if let Err(error) = started {
            tracing::debug!(%error, "no thread for a busy connection");
            return (reading, None);
        }
        let closes = CloseOnDrop(&*self.link.stream);
        // Cannot fail: the thread receives before it drops its end.
        let _ = give.send(reading);
        match result.await {
            Ok(result) => {
                mem::forget(closes);
                result
            }
            Err(_) => {
                let lost = End::Lost(Cause::new("the thread that served it has panicked"));
                (self.new_reading(), Some(lost))
            }
        }
    }

    fn serve_while_busy(self: &Arc<Self>, reading: &mut Reading) -> Option<End> {
        // Servants find a runtime here, as everywhere.
        let _runtime = self.owner.lane().handle().enter();
        let _thread = self.write_wait.thread_serves();
        self.serve_blocking(reading, Waiting::WhileBusy)
    }
}

/// Closes a connection whose task is dropped while a thread serves it.
struct CloseOnDrop<'a>(&'a dyn Connection);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
