//! The driver of a connection on a thread of its own, which blocks: of each connection, or of one that was promoted from its
//! task and may return to it.

use super::super::blocking::block_on;
use super::super::counters::Counter;
use super::super::end::End;
use super::super::link::{Blocked, Drained, LOOK_AGAIN, Reading};
use super::super::owner::Owner;
use super::super::spin::Spun;
use super::super::sync::Ordering;
use super::ServerConnection;
use super::header_cache::{DriverState, LastReply};
use super::promote::READS;
use super::serving::{Registration, Serving};
use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;
use std::thread;
use std::time::Instant;
use zorb_executor::WaitPolicy;

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
        let ended = self.serve_blocking(&mut reading, None);
        drop(thread);
        owner.track(self.drive_on(registration, reading, ended));
    }

    /// Serves the connection. Returns `None` when a task has to continue: the ORB is stopping, or a promoted connection had no
    /// request for the time that it `stays`, or no room for a reply.
    pub(super) fn serve_blocking(
        self: &Arc<Self>,
        reading: &mut Reading,
        stays: Option<Duration>,
    ) -> Option<End> {
        let link = &self.link;
        let settings = self.owner.settings();
        let mut before = (link.progress(), Instant::now());
        let mut driver = DriverState::default();
        let mut fruitless = 0;
        let mut has_read = false;
        loop {
            let mut messages = 0;
            let drained = link.drain(
                &mut reading.reader,
                &mut messages,
                || Ok(!self.is_stopping() && self.has_room(&driver.last, stays)?),
                |received| {
                    let served = self.handle(&mut driver.headers, received)?;
                    self.note(served, &driver.last);
                    Ok(())
                },
            );
            self.send_reply(driver.last.take());
            if !self.backlog.is_empty() {
                // The task of a promoted connection waits for room as well, and reads meanwhile.
                let served = match stays.is_some() {
                    true => Ok(false),
                    false => self.serve_backlog(&mut driver),
                };
                match served {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(end) => return Some(end),
                }
            }
            match drained {
                Ok(Drained::All) => {}
                Ok(Drained::Turn) => continue,
                Ok(Drained::Stopped) => return None,
                Err(end) => return Some(end),
            }
            if self.is_stopping() {
                return None;
            }
            match self.writes_on(stays) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(end) => return Some(end),
            }
            let connection = Arc::as_ptr(self).addr();
            if (messages > 0 || has_read && stays.is_none())
                && settings.wait != WaitPolicy::Park
                && (reading.spinner).is_only_busy(self.owner.busy(), connection)
            {
                match link.spin(reading, settings.wait) {
                    Spun::Read(read) => match link.has_read(read) {
                        Ok(()) => {
                            has_read = true;
                            continue;
                        }
                        Err(end) => return Some(end),
                    },
                    // No other task needs this thread.
                    Spun::Yield | Spun::Park => {}
                }
            }
            let read = link.read_blocking(reading, Some(stays.unwrap_or(LOOK_AGAIN)));
            has_read = matches!(read, Ok(Blocked::Read));
            match read {
                Ok(Blocked::Read) if messages > 0 => fruitless = 0,
                Ok(Blocked::TimedOut) if stays.is_some() => return None,
                Ok(Blocked::Read) if stays.is_some() && fruitless < READS => {
                    fruitless = fruitless.saturating_add(1);
                }
                Ok(Blocked::Read) if stays.is_some() => return None,
                // A peer that sends an octet now and then counts as idle.
                Ok(Blocked::Read | Blocked::TimedOut) => {
                    if link.outbound.failure().is_some() {
                        return None;
                    }
                    if let Some(limit) = settings.idle_timeout
                        && before.1.elapsed() >= limit
                    {
                        let now = link.progress();
                        if now.is_stuck_since(&before.0) && self.may_end_idle() {
                            return Some(End::Idle(limit));
                        }
                        before = (now, Instant::now());
                    }
                }
                Ok(Blocked::Unsupported) => {
                    self.cannot_block.store(true, Ordering::Relaxed);
                    return None;
                }
                Err(end) => return Some(end),
            }
        }
    }

    /// Blocks until the client has read enough replies that another request may be handled. Returns `false` if the ORB stops,
    /// and at once for a promoted connection, whose task waits instead, and ends with its runtime.
    #[inline]
    fn has_room(self: &Arc<Self>, last: &LastReply, stays: Option<Duration>) -> Result<bool, End> {
        match self.link.outbound.has_room() {
            true => Ok(true),
            false if stays.is_some() => Ok(false),
            false => self.block_for_room(last),
        }
    }

    #[cold]
    fn block_for_room(self: &Arc<Self>, last: &LastReply) -> Result<bool, End> {
        // A failed write ends the connection here, as the client can get no reply.
        self.write_replies(last)
            .map_err(|error| End::Lost(self.link.outbound.failure_or(error)))?;
        // Waits for room in the queue, not in the socket: the writer may have many octets left.
        self.block_until(|cx| self.link.outbound.poll_room(cx).is_ready())
    }

    /// Blocks until the octets that did not fit into the socket are written. Returns `false` if the ORB stops, if the client
    /// reads nothing for too long, and at once for a promoted connection.
    fn writes_on(self: &Arc<Self>, stays: Option<Duration>) -> Result<bool, End> {
        match self.link.outbound.is_blocked() {
            false => Ok(true),
            true if stays.is_some() => Ok(false),
            true => self.block_until(|_| !self.link.outbound.is_blocked()),
        }
    }

    /// Blocks until the waiting requests have been served. Returns `false` if the ORB stops. The connection is not read
    /// meanwhile.
    #[cold]
    fn serve_backlog(self: &Arc<Self>, driver: &mut DriverState<O>) -> Result<bool, End> {
        let mut room = None;
        while !self.backlog.is_empty() {
            if !self.block_until(|cx| self.poll_backlog_room(&mut room, cx).is_ready())? {
                return Ok(false);
            }
            self.serve_waiting(driver)?;
            self.send_reply(driver.last.take());
        }
        Ok(true)
    }

    fn block_until(
        self: &Arc<Self>,
        mut is_done: impl FnMut(&mut Context<'_>) -> bool,
    ) -> Result<bool, End> {
        self.link.stops_reading();
        let written = poll_fn(|cx| {
            self.link.outbound.driver.register(cx.waker());
            if self.is_stopping() {
                return Poll::Ready(Ok(false));
            }
            if let Some(error) = self.write_wait.failure() {
                return Poll::Ready(Err(End::Lost(error.clone())));
            }
            // The next read reports a failed write.
            if is_done(cx) || self.link.outbound.failure().is_some() {
                return Poll::Ready(Ok(true));
            }
            if self.link.outbound.is_blocked() {
                self.wait_for_room();
            }
            Poll::Pending
        });
        let idle_timeout = self.owner.settings().idle_timeout;
        let may_end = |_| self.may_end_idle();
        block_on(async {
            tokio::select! {
                biased;
                written = written => written,
                end = self.link.idle(idle_timeout, may_end) => Err(end),
            }
        })
    }
}
