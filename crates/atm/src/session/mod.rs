//! The session layer of a circuit: streams of octets over frames that may be lost, as a state machine without sockets,
//! clocks and tasks.
//!
//! A permanent virtual circuit joins exactly two ends. It carries AAL5 frames in order, and drops frames silently,
//! above all those for which the receiver's buffer has no room. It does not report that the other end has opened the
//! circuit, closed it, or died. Two [`SessionMachine`]s, one at each end, provide sessions like TCP's connections over
//! it:
//!
//! - **Opening.** Either end asks for a session by OPEN with an id of its choice until ACCEPT or RESET comes. Each
//!   states the size of its receive buffer, its largest frame, and the *incarnation* of its end. When that changes, the
//!   other end has begun anew, and the sessions with the former one have ended.
//! - **Sequence.** The stream is cut into numbered segments, one a frame. The receiver acknowledges the first one that it
//!   lacks and those that it has beyond; data carry acknowledgements with them.
//! - **Loss.** Each frame has a *transmission* number too, which is new when a segment is sent again. An acknowledgement
//!   names the highest one received. As no frame overtakes another, a frame that was sent before and was not received
//!   never will be, and its segment is sent again at once. Only at the end of the stream is a timer needed: the first
//!   segment is sent again when its acknowledgement is overdue (the estimate of RFC 6298), and its acknowledgement names
//!   the other missing segments.
//! - **Credit.** All frames in flight together take no more of the receiver's buffer than it has, counted in the memory
//!   that the kernel counts ([`frame::cost`]). Each session also has a window in octets, which opens as the application
//!   reads.
//! - **End.** The last segment is marked as such. A segment that states that its sender reads no more makes the other end's
//!   writes fail. Octets that were written before are delivered for as long as [`Config::linger`]. A RESET answers a
//!   frame of a session that does not exist.
//! - **Dead peers.** An end that receives no frames asks for one, and ends its sessions with a peer that does not
//!   answer.
//!
//! # Driving it
//! Time is a parameter; it must not go backwards. After each call of a method that takes `now`:
//! 1. send the frames that [`poll_transmit`](SessionMachine::poll_transmit) returns, until it returns none,
//! 2. handle the events that [`poll_event`](SessionMachine::poll_event) returns,
//! 3. call [`handle_timeout`](SessionMachine::handle_timeout) at the time of
//!    [`poll_timeout`](SessionMachine::poll_timeout). Frames that have come go to
//!    [`handle_frame`](SessionMachine::handle_frame) first, or a peer may count as dead whose answer waits.
//!
//! [`handle_in_place`](SessionMachine::handle_in_place) takes a frame whose octets lie where their reader wants them.
//!
//! No octets of a peer can make it panic, and [`Config`] bounds its memory.

use std::{
    collections::{BTreeMap, VecDeque},
    io::IoSlice,
    ops::Bound,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};

mod arrivals;
mod config;
pub mod frame;
mod one;
mod receiver;
mod retransmission_timeout;
mod sender;

pub use config::Config;
pub use frame::Reason;
pub use one::SessionEnd;

use frame::{Frame, Terms};
use one::{Session, State, aborted};

/// One end of a circuit, with its sessions.
#[derive(Debug)]
pub struct SessionMachine {
    config: Config,
    incarnation: u64,
    /// The incarnation of the other end, once it has stated it.
    peer: Option<u64>,
    sessions: BTreeMap<u64, Session>,
    listening: bool,
    /// Sessions that the peer has asked for and the application has not accepted.
    backlog: VecDeque<u64>,
    /// Ids of sessions that have ended.
    ended: VecDeque<u64>,
    /// Frames that belong to no open session.
    control: VecDeque<Frame>,
    events: VecDeque<Event>,
    /// The session that has sent last.
    turn: u64,
    statistics: Statistics,
}

/// An event for which the application may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The session was granted, has octets to read, or has come to its end.
    Readable(u64),
    /// The session takes octets again, or has come to its end.
    Writable(u64),
    /// A session waits for [`accept`](SessionMachine::accept).
    Incoming,
}

/// Why octets cannot be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The session has no room, or no octets, now. An [`Event`] follows once it has.
    NotNow,
    /// This end has finished the stream, or the other one reads no more.
    Finished,
    /// The session has ended.
    Ended(SessionEnd),
}

/// The counts of frames at one end of a circuit, since that end was made. A segment is the part of a session's octets that one
/// frame carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Frames that were sent, repeated ones included.
    pub sent: u64,
    /// Segments that were sent again, since they were lost or no acknowledgement came in time.
    pub sent_again: u64,
    /// Frames that were received, refused and repeated ones included.
    pub received: u64,
    /// Segments that arrived although this end had them already.
    pub received_again: u64,
    /// Octets that were not a frame, and frames beyond the limits.
    pub refused: u64,
}

/// Number of ids of ended sessions that are remembered: their OPEN may come again.
const MAX_ENDED: usize = 128;
/// Most frames that belong to no session and wait to be sent; further ones are dropped as though they were lost.
const MAX_CONTROL: usize = 256;

impl SessionMachine {
    /// Makes an end that has just been opened. `incarnation` is a number that neither end has had before, such as a
    /// random one.
    #[must_use]
    pub fn new(config: Config, incarnation: u64) -> Self {
        Self {
            config,
            incarnation,
            peer: None,
            sessions: BTreeMap::new(),
            listening: false,
            backlog: VecDeque::new(),
            ended: VecDeque::new(),
            control: VecDeque::new(),
            events: VecDeque::new(),
            turn: 0,
            statistics: Statistics::default(),
        }
    }

    /// Sets whether sessions that the peer asks for are granted. Switching it off resets the sessions in the backlog.
    pub fn listen(&mut self, on: bool) {
        self.listening = on;
        if !on {
            for id in std::mem::take(&mut self.backlog) {
                self.remove(id);
                self.control(aborted(id));
            }
        }
    }

    /// Asks for a session with this id, a random number. [`is_open`](Self::is_open) reports the outcome.
    ///
    /// # Errors
    /// The id is in use, or the limit of sessions is reached.
    pub fn open(&mut self, now: Instant, id: u64) -> Result<(), Obstacle> {
        if self.sessions.contains_key(&id) || self.sessions.len() >= self.config.max_sessions {
            return Err(Obstacle::Ended(SessionEnd::Refused(Reason::Full)));
        }
        let state = State::Opening {
            again: now,
            until: after(now, self.config.open_timeout),
            tries: 0,
        };
        let session = Session::new(now, &self.config, state, None);
        self.sessions.insert(id, session);
        self.handle_timeout(now);
        Ok(())
    }

    /// Whether the session was granted.
    ///
    /// # Errors
    /// The session has ended.
    pub fn is_open(&self, id: u64) -> Result<bool, SessionEnd> {
        match self.sessions.get(&id).map(|session| session.state) {
            Some(State::Opening { .. }) => Ok(false),
            Some(State::Open) => Ok(true),
            Some(State::Ended(end)) => Err(end),
            None => Err(SessionEnd::Reset),
        }
    }

    /// Returns a session that the peer has asked for.
    pub fn accept(&mut self) -> Option<u64> {
        self.backlog.pop_front()
    }

    /// Takes as many octets of the chunks as there is room for; returns their number, at least 1 if there are any.
    ///
    /// # Errors
    /// The send buffer is full, or the session takes no more.
    pub fn write(&mut self, id: u64, chunks: &[IoSlice<'_>]) -> Result<usize, Obstacle> {
        let session = self.sessions.get_mut(&id);
        let session = session.ok_or(Obstacle::Ended(SessionEnd::Reset))?;
        let is_finished = session.sender.is_finished() || session.receiver.peer_has_closed();
        match session.state {
            State::Ended(end)
                if session.closed.is_none() && !session.receiver.peer_has_closed() =>
            {
                return Err(Obstacle::Ended(end));
            }
            _ if is_finished => return Err(Obstacle::Finished),
            _ => {}
        }
        if chunks.iter().all(|chunk| chunk.is_empty()) {
            return Ok(0);
        }
        match session.sender.take(chunks, self.config.send_octets) {
            0 => {
                session.wants_room = true;
                Err(Obstacle::NotNow)
            }
            taken => Ok(taken),
        }
    }

    /// Whether [`write`](Self::write) takes octets now or fails for good. If not, an [`Event::Writable`] follows when there
    /// is room.
    pub fn is_writable(&mut self, id: u64) -> bool {
        let room = self.config.send_octets;
        let Some(session) = self.sessions.get_mut(&id) else {
            return true;
        };
        let is_writable = session.sender.is_finished()
            || session.receiver.peer_has_closed()
            || session.sender.held() < room;
        session.wants_room |= !is_writable;
        is_writable
    }

    /// Reads into the spare capacity of `buf`; returns the number of octets, 0 being the end of the stream. Data that
    /// arrived before the session ended is read before its end is reported.
    ///
    /// # Errors
    /// No octets are there now, or no more will come although the peer has not finished its stream.
    pub fn read(&mut self, id: u64, buf: &mut BytesMut) -> Result<usize, Obstacle> {
        let session = self.sessions.get_mut(&id);
        let session = session.ok_or(Obstacle::Ended(SessionEnd::Reset))?;
        match session.receiver.read(buf) {
            0 if session.receiver.is_finished() || session.closed.is_some() => Ok(0),
            0 => match session.state {
                State::Ended(end) => Err(Obstacle::Ended(end)),
                _ => Err(Obstacle::NotNow),
            },
            read => Ok(read),
        }
    }

    /// Whether [`read`](Self::read) would not return [`Obstacle::NotNow`].
    #[must_use]
    pub fn is_readable(&self, id: u64) -> bool {
        self.sessions.get(&id).is_none_or(|session| {
            session.receiver.has_unread()
                || session.receiver.is_finished()
                || session.closed.is_some()
                || matches!(session.state, State::Ended(_))
        })
    }

    /// Ends the stream after the octets that were written.
    pub fn shutdown_write(&mut self, id: u64) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.sender.finish();
        }
    }

    /// Ends both directions: nothing is read or written any more, and octets that were written before are still
    /// delivered.
    pub fn close(&mut self, now: Instant, id: u64) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if session.closed.is_none() {
            session.closed = Some(now);
            session.receiver.discard();
            if session.receiver.peer_has_closed() {
                session.sender.abandon();
            }
            session.sender.close();
            if matches!(session.state, State::Opening { .. }) {
                session.end(SessionEnd::Reset);
                self.control(aborted(id));
            }
            self.wake(id);
        }
    }

    /// Removes a session that was [closed](Self::close) as soon as it has ended. Until then the session still reports its
    /// end.
    pub fn release(&mut self, now: Instant, id: u64) {
        self.close(now, id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.released = true;
        }
        self.settle(id);
    }

    /// Ends all sessions at once, since the circuit is gone.
    pub fn fail(&mut self) {
        for id in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.end(id, SessionEnd::Gone);
        }
        self.control.clear();
        self.backlog.clear();
        self.listening = false;
        self.events.push_back(Event::Incoming);
    }

    /// Resets all sessions, since this end closes in order.
    pub fn abort(&mut self) {
        for id in self.sessions.keys().copied().collect::<Vec<_>>() {
            if self
                .sessions
                .get(&id)
                .is_some_and(|session| !matches!(session.state, State::Ended(_)))
            {
                self.end(id, SessionEnd::Gone);
                self.control(aborted(id));
            }
        }
        self.listen(false);
    }

    /// Whether the circuit has no session and grants none, so that it can be closed.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sessions.is_empty() && !self.listening
    }

    /// Returns the statistics of frames so far.
    #[must_use]
    pub const fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Returns the cost of frames in flight in the peer's buffer, in the unit of [`frame::cost`].
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let costs = self
            .sessions
            .values()
            .map(|session| session.sender.in_flight());
        costs.fold(0, u64::saturating_add)
    }

    /// Runs the timers that are due at `now`. To be called at the time of [`poll_timeout`](Self::poll_timeout); an earlier call
    /// does nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let terms = self.terms();
        let due: Vec<u64> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.deadline(&self.config).is_some_and(|at| at <= now))
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            let Some(session) = self.sessions.get_mut(&id) else {
                continue;
            };
            let frame = session.timeout(now, id, &self.config, terms);
            if matches!(session.state, State::Ended(_)) {
                self.wake(id);
                self.settle(id);
            }
            if let Some(frame) = frame {
                self.control(frame);
            }
        }
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has to be called, if any.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = self.sessions.values();
        deadlines
            .filter_map(|session| session.deadline(&self.config))
            .min()
    }

    /// Returns the next frame to send: writes its head into `head`, whose contents it replaces, and returns the octets
    /// behind it.
    pub fn poll_transmit(&mut self, now: Instant, head: &mut Vec<u8>) -> Option<Bytes> {
        let frame = match self.control.pop_front() {
            Some(frame) => frame,
            None => self.next_of_sessions(now)?,
        };
        self.statistics.sent = self.statistics.sent.saturating_add(1);
        frame.write_head(head);
        Some(frame.into_payload())
    }

    /// Returns the next event, in the order in which they happened; `None` if there is none.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the next frame of a session. The sessions take turns, frame by frame.
    fn next_of_sessions(&mut self, now: Instant) -> Option<Frame> {
        let in_flight = self.in_flight();
        let behind = (Bound::Excluded(self.turn), Bound::Unbounded);
        for part in [behind, (Bound::Unbounded, Bound::Included(self.turn))] {
            for (id, session) in self.sessions.range_mut(part) {
                let next = session.next_frame(now, *id, &self.config, in_flight);
                if let Some((frame, is_again)) = next {
                    self.turn = *id;
                    let again = &mut self.statistics.sent_again;
                    *again = again.saturating_add(u64::from(is_again));
                    return Some(frame);
                }
            }
        }
        None
    }

    fn terms(&self) -> Terms {
        Terms {
            incarnation: self.incarnation,
            buffer: self.config.buffer(),
            window: u64::try_from(self.config.receive_octets).unwrap_or(u64::MAX),
            max_sdu: u32::try_from(self.config.max_sdu)
                .unwrap_or(frame::MAX_SDU)
                .clamp(frame::MIN_SDU, frame::MAX_SDU),
        }
    }

    fn end(&mut self, id: u64, end: SessionEnd) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.end(end);
            if !session.receiver.has_unread() && self.backlog.contains(&id) {
                // The session was never accepted.
                self.backlog.retain(|waiting| *waiting != id);
                self.remove(id);
            } else {
                self.wake(id);
                self.settle(id);
            }
        }
    }

    fn wake(&mut self, id: u64) {
        self.events.push_back(Event::Readable(id));
        self.events.push_back(Event::Writable(id));
    }

    /// Removes the session if it has ended.
    fn settle(&mut self, id: u64) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if session.released && session.is_over() {
            // One acknowledgement of the peer's last segment. If that frame is lost, a RESET answers the peer's
            // retransmission.
            if session.receiver.due() != receiver::Due::Never && session.is_open() {
                let ack = session.ack(id, false);
                self.control(ack);
            }
            self.remove(id);
        }
    }

    fn remove(&mut self, id: u64) {
        self.sessions.remove(&id);
        self.ended.push_back(id);
        if self.ended.len() > MAX_ENDED {
            self.ended.pop_front();
        }
    }

    fn control(&mut self, frame: Frame) {
        if self.control.len() < MAX_CONTROL {
            self.control.push_back(frame);
        }
    }

    fn refuse(&mut self) {
        self.statistics.refused = self.statistics.refused.saturating_add(1);
    }
}

/// Returns the time `duration` later; a day later if the clock does not reach that far.
fn after(now: Instant, duration: Duration) -> Instant {
    const DAY: Duration = Duration::from_secs(86_400);
    let later = now.checked_add(duration);
    later.or_else(|| now.checked_add(DAY)).unwrap_or(now)
}

#[cfg(test)]
mod tests;
