//! The driver of a connection on a thread of its own, which blocks: of each connection, or of one that was promoted from its
//! task and may return to it.

use super::super::blocking::drive_task;
use super::super::counters::Counter;
use super::super::end::End;
use super::super::link::Reading;
use super::super::owner::Owner;
use super::ServerConnection;
use super::driver::{DriveEnd, Waiting};
use super::serving::{Registration, Serving};
use std::sync::Arc;
use std::thread;

impl<O: Owner> ServerConnection<O> {
    /// Serves the connection on a new thread until it or the ORB ends. A task of the lane finishes the connection, at once if
    /// there is no thread: its client may send its requests elsewhere.
    pub(crate) fn serve_on_thread(self: &Arc<Self>, serving: &Arc<Serving<O>>) {
        let connection = Arc::clone(self);
        let served = Arc::clone(serving);
        // A shutdown waits for the thread.
        let token = self.owner.track_thread();
        let started = thread::Builder::new()
            .name("zorb-connection".to_owned())
            .spawn(move || {
                let registration = served.register(&connection);
                connection.serve_here(registration);
                drop(token);
            });
        if let Err(error) = started {
            let peer = self.link.stream.peer();
            let counters = &self.owner.settings().counters;
            if let Some(omitted) = counters.report(Counter::ConnectionsWithoutThread) {
                tracing::warn!(%peer, %error, omitted, "connection refused: no thread for it");
            }
            let (registration, reading) = (serving.register(self), self.new_reading());
            let end = Some(End::NoThread);
            (self.owner).track(Arc::clone(self).drive_on(registration, reading, end));
        }
    }

    pub(super) fn serve_here(self: Arc<Self>, registration: Registration<O>) {
        let owner = Arc::clone(&self.owner);
        // Servants find a runtime here, as everywhere.
        let _runtime = owner.lane().handle().enter();
        let mut reading = self.new_reading();
        let thread = self.write_wait.thread_serves();
        let ended = self.serve_blocking(&mut reading, Waiting::Blocking);
        drop(thread);
        owner.track(self.drive_on(registration, reading, ended));
    }

    /// Serves the connection. Returns `None` when a task has to continue.
    pub(super) fn serve_blocking(
        self: &Arc<Self>,
        reading: &mut Reading,
        waiting: Waiting,
    ) -> Option<End> {
        match drive_task(self.drive_as(reading, waiting)) {
            DriveEnd::Ended(end) => Some(end),
            DriveEnd::HandedBack | DriveEnd::Promoted(_) => None,
        }
    }
}
