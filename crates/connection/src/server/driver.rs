//! The driver of a connection: a task of the lane, or a thread, which run the same loop and differ in how they wait for octets.

use super::super::bidirectional::BidirectionalConnection;
use super::super::end::End;
use super::super::link::{
    Blocked, Drained, LOOK_AGAIN, MESSAGES_PER_TURN, READS_PER_TURN, Reading, let_others_run,
};
use super::super::owner::Owner;
use super::super::spin::{Spun, ThreadPermit};
use super::super::sync::Ordering;
use super::backlog::RoomShared;
use super::header_cache::{DriverState, LastReply};
use super::promote::{Promotion, READS, READS_WITHIN};
use super::serving::{Registration, Serving};
use super::{Roles, ServerConnection};
use core::future::poll_fn;
use core::task::{Context, Poll};
use std::sync::Arc;
use zorb_executor::WaitPolicy;
use zorb_giop::{Cause, LifeEvent, UnfinishedInput};

/// How a driver waits for octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// By the reactor: it is a task.
    Reactor,
    /// In `recv`: it is the thread of its connection.
    Blocking,
    /// In `recv`, as long as the client sends requests: it is the thread of a promoted connection, whose task waits instead as
    /// soon as there is something else to wait for.
    WhileBusy,
}

/// The end of a drive: why it stops.
pub(super) enum DriveEnd<'a> {
    Ended(End),
    /// A task has to go on.
    HandedBack,
    /// The connection is one of several busy ones, and gets a thread.
    Promoted(ThreadPermit<'a>),
}

/// The state of the driver of a connection.
struct DriveState<O: Owner> {
    waiting: Waiting,
    /// Whether a task has to go on in place of this thread.
    is_handed_back: bool,
    /// Reads in a row without a whole message.
    fruitless: u32,
    driver: DriverState<O>,
    promotion: Promotion,
    /// Ready when the limits that connections share have to be checked again for a waiting request.
    room: Option<RoomShared>,
    /// Why the connection has ended, if it has; one-way requests in the backlog may still have to be served.
    ended: Option<End>,
}

impl<O: Owner> ServerConnection<O> {
    /// Serves the connection until it or the ORB ends.
    pub(crate) fn drive(
        self: Arc<Self>,
        serving: &Arc<Serving<O>>,
    ) -> impl Future<Output = ()> + Send + use<O> {
        let registration = serving.register(&self);
        let reading = self.new_reading();
        self.drive_on(registration, reading, None)
    }

    /// Drives a connection in its present state, or finishes it if it has `ended`.
    pub(super) async fn drive_on(
        self: Arc<Self>,
        registration: Registration<O>,
        mut reading: Reading,
        mut ended: Option<End>,
    ) {
        let end = loop {
            let end = match ended {
                Some(end) => break end,
                None => self.drive_as(&mut reading, Waiting::Reactor).await,
            };
            match end {
                DriveEnd::Ended(end) => break end,
                DriveEnd::HandedBack => {}
                DriveEnd::Promoted(permit) => {
                    (reading, ended) = self.serve_promoted(reading).await;
                    drop(permit);
                }
            }
        };
        self.finish(&end).await;
        drop(registration);
    }

    /// Serves the connection until it or the ORB ends, or another driver has to, or may serve it better.
    pub(super) fn drive_as<'a>(
        self: &'a Arc<Self>,
        reading: &mut Reading,
        waiting: Waiting,
    ) -> impl Future<Output = DriveEnd<'a>> + Send {
        let is_task = waiting == Waiting::Reactor;
        let idle_timeout = self.owner.settings().idle_timeout;
        let workers = match is_task {
            true => self.promoting_workers(),
            false => 0,
        };
        let mut state = DriveState {
            waiting,
            is_handed_back: false,
            fruitless: 0,
            driver: DriverState::default(),
            promotion: Promotion::default(),
            room: None,
            ended: None,
        };
        let mut failed = None;
        let may_end = |limit| self.may_end_idle(limit);
        let mut idle = idle_timeout.map(|_| Box::pin(self.link.idle(idle_timeout, may_end)));
        poll_fn(move |cx| {
            self.link.outbound.driver.register(cx.waker());
            let polled = match self.is_stopping() {
                true if is_task => self.poll_drained(cx),
                true => return Poll::Ready(DriveEnd::HandedBack),
                false => self.poll_to_end(reading, &mut state, cx),
            };
            if let Poll::Ready(end) = polled {
                return Poll::Ready(DriveEnd::Ended(end));
            }
            if state.is_handed_back {
                return Poll::Ready(DriveEnd::HandedBack);
            }
            if state.promotion.is_due()
                && self.may_be_promoted()
                && let Some(permit) = self.owner.busy().permit_thread(workers)
            {
                return Poll::Ready(DriveEnd::Promoted(permit));
            }
            if let Some(why) = self.link.outbound.evicted() {
                return Poll::Ready(DriveEnd::Ended(End::Lost(Cause::new(why.to_string()))));
            }
            if !is_task {
                if self.link.outbound.failure().is_some() {
                    return Poll::Ready(DriveEnd::HandedBack);
                }
                if let Some(error) = self.write_wait.failure() {
                    return Poll::Ready(DriveEnd::Ended(End::Lost(error.clone())));
                }
            } else if self.link.outbound.failure().is_some() && state.ended.is_none() {
                let failed = failed.get_or_insert_with(|| Box::pin(self.link.failed()));
                if let Poll::Ready(end) = failed.as_mut().poll(cx) {
                    state.ended = Some(end);
                    // Polled once more, for the waiting requests.
                    cx.waker().wake_by_ref();
                }
            }
            match &mut idle {
                None => Poll::Pending,
                Some(idle) => idle.as_mut().poll(cx).map(DriveEnd::Ended),
            }
        })
    }

    /// Serves the connection until it ends, and then the waiting one-way requests, as their client cannot know that they were
    /// not served yet.
    fn poll_to_end(
        self: &Arc<Self>,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        cx: &mut Context<'_>,
    ) -> Poll<End> {
        if state.ended.is_none() {
            match self.poll_serve(reading, state, cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(end @ (End::Closed | End::Lost(_))) => state.ended = Some(end),
                Poll::Ready(end) => return Poll::Ready(end),
            }
        }
        // What its requests have taken is free from now on, and may be what the others wait for.
        self.leave();
        self.backlog.keep_one_ways();
        match self.poll_backlog(state, |_, _| Ok(true), cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(false)) => {
                let_others_run(cx);
                return Poll::Pending;
            }
            Poll::Ready(Ok(true) | Err(_)) => {}
        }
        (state.ended.take()).map_or(Poll::Pending, Poll::Ready)
    }

    /// Serves the waiting requests, then reads others and serves them, until the connection ends or there is nothing to do.
    fn poll_serve(
        self: &Arc<Self>,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        cx: &mut Context<'_>,
    ) -> Poll<End> {
        if !self.backlog.is_empty() {
            if self.is_handed_back(state) {
                return Poll::Pending;
            }
            if self.link.outbound.takes_nothing() {
                self.backlog.keep_one_ways();
            }
            let served = self.poll_backlog(
                state,
                |driver, cx| self.poll_may_serve(&driver.last, cx),
                cx,
            );
            let _ = self.write_replies(&state.driver.last);
            match served {
                Poll::Ready(Err(end)) => return Poll::Ready(end),
                Poll::Ready(Ok(false)) => {
                    let_others_run(cx);
                    return Poll::Pending;
                }
                Poll::Pending | Poll::Ready(Ok(true)) => {}
            }
        }
        let read = match &self.roles {
            Roles::Server(_) => self.poll_read_requests(reading, state, cx),
            Roles::Both(both) => self.poll_read_both(both, reading, state, cx),
        };
        // A request may have begun to wait meanwhile. Room for it is checked here, once ending upcalls can see the request.
        if read.is_pending()
            && !self.backlog.is_empty()
            && self.poll_backlog_room(&mut state.room, cx).is_ready()
        {
            let_others_run(cx);
        }
        read
    }

    /// Serves the waiting requests, as long as there is room and `may_serve` permits, and at most as many as one turn allows.
    /// Ready with `true` if the backlog is empty, and with `false` if the turn has ended. `Pending`: `cx` is woken when there
    /// is room.
    fn poll_backlog(
        self: &Arc<Self>,
        state: &mut DriveState<O>,
        mut may_serve: impl FnMut(&DriverState<O>, &mut Context<'_>) -> Result<bool, End>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<bool, End>> {
        for _ in 0..MESSAGES_PER_TURN {
            match self.poll_backlog_room(&mut state.room, cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(false) => return Poll::Ready(Ok(true)),
                Poll::Ready(true) if !may_serve(&state.driver, cx)? => return Poll::Pending,
                Poll::Ready(true) => self.serve_waiting(&mut state.driver)?,
            }
        }
        Poll::Ready(Ok(self.backlog.is_empty()))
    }

    /// Whether the thread of a promoted connection has something else to wait for than octets, which its task does.
    fn is_handed_back(&self, state: &mut DriveState<O>) -> bool {
        state.is_handed_back |= state.waiting == Waiting::WhileBusy;
        state.is_handed_back
    }

    /// Whether octets wait for room in the socket, so that this thread must not block in `recv`. Another task waits for the room.
    fn waits_for_room(self: &Arc<Self>, state: &mut DriveState<O>) -> bool {
        let waits = state.waiting != Waiting::Reactor && self.link.outbound.is_blocked();
        if waits && !self.is_handed_back(state) {
            self.link.stops_reading();
            self.wait_for_room();
        }
        waits
    }

    /// Reads requests and serves them, until the connection ends or there is nothing to do.
    fn poll_read_requests(
        self: &Arc<Self>,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        cx: &mut Context<'_>,
    ) -> Poll<End> {
        let (link, outbound) = (&self.link, &self.link.outbound);
        let policy = self.wait;
        let is_task = state.waiting == Waiting::Reactor;
        if is_task && let Err(end) = link.unblock(cx) {
            return Poll::Ready(end);
        }
        let mut messages = 0;
        let (mut registered, mut has_read) = (false, false);
        for reads in 0..=READS_PER_TURN {
            let before = messages;
            // A task that was woken by its socket has nothing to serve or to write before it reads.
            if !reading.reader.is_idle() || outbound.is_blocked() {
                match self.serve_received(reading, state, &mut messages, cx) {
                    Ok(Drained::All) => {}
                    Ok(Drained::Turn) => break,
                    // The rest of the received octets waits for the server, so the client is not blamed for an unfinished
                    // message.
                    Ok(Drained::Stopped) => {
                        let _ = self.waits_for_room(state) || self.is_handed_back(state);
                        return match link.rest(&mut reading.reader, UnfinishedInput::Nothing) {
                            Ok(()) => Poll::Pending,
                            Err(end) => Poll::Ready(end),
                        };
                    }
                    Err(end) => return Poll::Ready(end),
                }
            }
            if self.waits_for_room(state) || !is_task && !self.backlog.is_empty() {
                return Poll::Pending;
            }
            // The requests of the last read have been served: what `pause` finds has only begun.
            if reads == READS_PER_TURN {
                break;
            }
            // Spins within a large message, too, whose rest the client is just writing.
            let spun = match (has_read || messages > before || reading.spinner.is_steady())
                && !outbound.is_blocked()
                && self.may_spin(reading, state, messages > before)
            {
                true => link.spin(reading, policy),
                false => Spun::Park,
            };
            let read = match spun {
                Spun::Read(read) => {
                    registered = false;
                    Poll::Ready(link.has_read(read))
                }
                Spun::Yield if is_task => break,
                Spun::Park if is_task => link.poll_read(reading, &mut registered, cx),
                // No other task needs this thread.
                Spun::Yield | Spun::Park => {
                    self.read_blocking(reading, state, messages > before, cx)
                }
            };
            match read {
                Poll::Pending => {
                    reading.spinner.parks();
                    return Poll::Pending;
                }
                Poll::Ready(Err(end)) => return Poll::Ready(end),
                Poll::Ready(Ok(())) => has_read = true,
            }
        }
        if let Err(end) = link.pause(&mut reading.reader) {
            return Poll::Ready(end);
        }
        let_others_run(cx);
        Poll::Pending
    }

    /// Serves the requests that wait in the inbox, and reads for both roles, until the connection ends or there is nothing to do.
    fn poll_read_both(
        self: &Arc<Self>,
        both: &BidirectionalConnection,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        cx: &mut Context<'_>,
    ) -> Poll<End> {
        if let Err(end) = self.link.unblock(cx) {
            return Poll::Ready(end);
        }
        let mut messages = 0;
        for _ in 0..READS_PER_TURN {
            // Before the inbox: requests that were read before the end are served.
            let ended = both.ended();
            let served = match &ended {
                Some(end) if !end.is_of_peer() => return Poll::Ready(end.clone()),
                _ => self.serve_inbox(both, reading, state, &mut messages, cx),
            };
            let is_stopped = match (served, ended) {
                (Err(end), _) | (Ok(Drained::All), Some(end)) => return Poll::Ready(end),
                (Ok(Drained::Turn), _) => break,
                (Ok(Drained::Stopped), Some(_)) => return Poll::Pending,
                (Ok(drained), None) => drained == Drained::Stopped,
            };
            if both.is_released() && self.is_unused(both) && both.retire(End::Released) {
                return Poll::Ready(End::Released);
            }
            // Whatever stops the server wakes this task when it has gone. Until then, replies are read, as long as there is room
            // for requests.
            let reads = both.may_read() && both.drive_read(cx);
            if !reads || is_stopped && !both.is_closing() {
                return Poll::Pending;
            }
        }
        let_others_run(cx);
        Poll::Pending
    }

    /// Serves the requests that wait in the inbox, as long as the limits permit.
    fn serve_inbox(
        self: &Arc<Self>,
        both: &BidirectionalConnection,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        messages: &mut usize,
        cx: &mut Context<'_>,
    ) -> Result<Drained, End> {
        let driver = &mut state.driver;
        let mut serve = || {
            while !both.is_inbox_empty() {
                if !self.may_read() || !self.poll_may_serve(&driver.last, cx)? {
                    return Ok(Drained::Stopped);
                }
                if *messages == MESSAGES_PER_TURN {
                    return Ok(Drained::Turn);
                }
                let Some(request) = both.next_request() else {
                    break;
                };
                *messages = messages.saturating_add(1);
                let served = self.handle(&mut driver.headers, reading.reader.again(request))?;
                self.note(served, &driver.last);
            }
            Ok(Drained::All)
        };
        let drained = serve();
        // The next read finds a failure.
        let _ = self.write_replies(&driver.last);
        self.link.unblock(cx)?;
        drained
    }

    /// Reads once, in `recv`. Pending after a while without octets, so that the driver looks at other ends of the connection.
    fn read_blocking(
        self: &Arc<Self>,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        has_handled: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), End>> {
        let limit = match state.waiting {
            Waiting::WhileBusy => READS_WITHIN,
            Waiting::Reactor | Waiting::Blocking => LOOK_AGAIN,
        };
        match self.link.read_blocking(reading, Some(limit)) {
            Err(end) => return Poll::Ready(Err(end)),
            Ok(Blocked::Read) => {
                state.fruitless = match has_handled {
                    true => 0,
                    false => state.fruitless.saturating_add(1),
                };
                if state.fruitless <= READS || !self.is_handed_back(state) {
                    return Poll::Ready(Ok(()));
                }
            }
            Ok(Blocked::TimedOut) if self.is_handed_back(state) => {}
            Ok(Blocked::TimedOut) => let_others_run(cx),
            Ok(Blocked::Unsupported) => {
                self.cannot_block.store(true, Ordering::Relaxed);
                state.is_handed_back = true;
            }
        }
        Poll::Pending
    }

    /// Serves the requests that were read. The replies to all requests of one read leave in one write.
    #[inline]
    fn serve_received(
        self: &Arc<Self>,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        messages: &mut usize,
        cx: &mut Context<'_>,
    ) -> Result<Drained, End> {
        let (waiting, driver) = (state.waiting, &mut state.driver);
        let drained = self.link.drain(
            &mut reading.reader,
            messages,
            // Stops a client that sends requests and reads no replies, and one whose backlog is full.
            || Ok(self.may_read() && self.poll_may_serve(&driver.last, cx)?),
            |received| {
                let served = self.handle(&mut driver.headers, received)?;
                self.note(served, &driver.last);
                Ok(())
            },
        );
        let flushed = self.write_replies(&driver.last);
        if let Ok(Drained::Stopped) = drained {
            // The next read finds a failure.
            return drained;
        }
        let drained = drained?;
        if let Err(error) = flushed {
            self.link.is_final(error)?;
        }
        if waiting == Waiting::Reactor {
            self.link.unblock(cx)?;
        }
        Ok(drained)
    }

    /// Whether another message may be handled. Without room for its reply, writes the queued replies and checks again.
    #[inline]
    fn poll_may_serve(&self, last: &LastReply, cx: &mut Context<'_>) -> Result<bool, End> {
        let outbound = &self.link.outbound;
        if outbound.poll_room_for_replies(cx).is_ready() {
            return Ok(true);
        }
        match self.write_replies(last) {
            Ok(_) => Ok(outbound.poll_room_for_replies(cx).is_ready()),
            Err(error) => Err(End::Lost(outbound.failure_or(error))),
        }
    }

    /// Whether the driver may spin after a read. A task may not if pending upcalls need its thread; neither may if other
    /// connections are busy. `has_handled`: whether the read completed a message.
    fn may_spin(
        self: &Arc<Self>,
        reading: &mut Reading,
        state: &mut DriveState<O>,
        has_handled: bool,
    ) -> bool {
        let may = match state.waiting {
            Waiting::Reactor => self.has_no_pending(),
            Waiting::Blocking | Waiting::WhileBusy => self.wait != WaitPolicy::Park,
        };
        if !may {
            return false;
        }
        let connection = Arc::as_ptr(self).addr();
        let only_busy = (reading.spinner).is_only_busy(self.owner.busy(), connection);
        if has_handled {
            state.promotion.has_read(only_busy);
        }
        only_busy
    }

    /// Stops reading; ready when every upcall has ended. Replies that are not written by then have until the end of
    /// [`Link::finish`](super::super::link::Link::finish): a client that never reads must not keep the ORB alive.
    fn poll_drained(&self, cx: &mut Context<'_>) -> Poll<End> {
        let _ = self.on(LifeEvent::Stop);
        if let Some(both) = self.both() {
            both.stop_serving();
            // Upcalls that end may wait for replies to requests of this end.
            both.drive_read(cx);
            if let Some(end) = both.ended() {
                return Poll::Ready(end);
            }
        }
        if let Poll::Ready(Err(error)) = self.link.outbound.poll_unblock(&*self.link.stream, cx) {
            return Poll::Ready(End::Lost(self.link.outbound.failure_or(error)));
        }
        match self.pending.load(Ordering::Acquire) {
            0 => Poll::Ready(End::ShutDown),
            _ => Poll::Pending,
        }
    }
}
