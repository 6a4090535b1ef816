//! The state machine of one session: opening, open and ended, with its frames and timers.
use std::time::{Duration, Instant};

use super::{
    Config, Reason, after,
    frame::{Ack, Frame, MIN_SDU, Terms},
    patience::Patience,
    receiver::{Due, Receiver},
    sender::Sender,
};

/// How a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum End {
    /// The peer has not granted it.
    Refused(Reason),
    /// The peer does not know the session any more: it has aborted it, or begun anew.
    Reset,
    /// The peer does not answer.
    TimedOut,
    /// The circuit is gone.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Asked for, with the times at which it is asked for again and given up.
    Opening {
        again: Instant,
        until: Instant,
        tries: u32,
    },
    Open,
    Ended(End),
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) state: State,
    /// Whether this end has asked for it.
    pub(super) is_ours: bool,
    /// The parameters of the peer.
    pub(super) terms: Option<Terms>,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    patience: Patience,
    last_arrival: Instant,
    /// Questions since the last frame of the peer, and the time of the last question.
    asked: u32,
    asked_at: Instant,
    /// The time at which the questions became [`MIN_ASKED`].
    asked_enough: Option<Instant>,
    /// Whether a question is to be sent.
    asks: bool,
    /// The time at which the application has closed it.
    pub(super) closed: Option<Instant>,
    /// Whether the application has dropped it.
    pub(super) released: bool,
    /// Whether the application waits for room to write.
    pub(super) wants_room: bool,
}

/// Questions without an answer after which a peer may count as dead.
const MIN_ASKED: u32 = 3;
/// The divisor of [`Config::keep_alive`] that gives the interval of further questions, after one without an answer.
const ASKED_AGAIN: u32 = 5;

impl Session {
    pub(super) fn new(now: Instant, config: &Config, state: State, terms: Option<Terms>) -> Self {
        Self {
            state,
            is_ours: terms.is_none(),
            terms,
            sender: Sender::new(terms.map_or(0, |terms| terms.window)),
            receiver: Receiver::new(config.receive_octets),
            patience: Patience::new(),
            last_arrival: now,
            asked: 0,
            asked_at: now,
            asked_enough: None,
            asks: false,
            closed: None,
            released: false,
            wants_room: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    pub(super) fn opened(&mut self, now: Instant, terms: Terms) {
        self.state = State::Open;
        self.terms = Some(terms);
        // Octets that were written meanwhile stay.
        let ack = Ack {
            window: terms.window,
            ..Ack::default()
        };
        self.sender.acknowledge(now, ack, &[]);
        self.note_arrival(now);
    }

    pub(super) fn end(&mut self, end: End) {
        if !matches!(self.state, State::Ended(_)) {
            self.state = State::Ended(end);
            self.sender.abandon();
        }
    }

    /// Whether the session is not needed any more: the application has closed it, and the peer has all octets that were
    /// written, or wants none of them.
    pub(super) fn is_over(&self) -> bool {
        self.closed.is_some() && (self.sender.is_done() || matches!(self.state, State::Ended(_)))
    }

    pub(super) fn note_arrival(&mut self, now: Instant) {
        self.last_arrival = now;
        self.asked = 0;
        self.asked_enough = None;
    }

    /// Handles an acknowledgement. Returns whether it has anything new.
    pub(super) fn acknowledged(&mut self, now: Instant, ack: Ack, selective: &[u8]) -> bool {
        let news = self.sender.acknowledge(now, ack, selective);
        if news.any {
            self.patience.news();
        }
        if let Some(round_trip) = news.round_trip {
            self.patience.measure(round_trip);
        }
        news.any
    }

    /// Returns the next frame to send: a piece for which there is room in the peer's buffer, of which other frames take
    /// `in_flight` already; then an acknowledgement. The flag states whether it was sent before.
    pub(super) fn next_frame(
        &mut self,
        now: Instant,
        session: u64,
        config: &Config,
        in_flight: u64,
    ) -> Option<(Frame, bool)> {
        if !self.is_open() {
            return None;
        }
        let terms = self.terms?;
        let largest = terms.max_sdu.max(MIN_SDU);
        let max_sdu =
            usize::try_from(largest).map_or(config.max_sdu, |max| max.min(config.max_sdu));
        // One frame is tried, however small the buffer is.
        let fits = |cost: u64| in_flight == 0 || in_flight.saturating_add(cost) <= terms.buffer;
        if let Some(cut) = self.sender.next(now, max_sdu, fits) {
            let frame = Frame::Data {
                session,
                sequence: cut.sequence,
                transmission: cut.transmission,
                ack: self.receiver.ack_with_data(),
                fin: cut.fin,
                closed: cut.closed,
                payload: cut.payload,
            };
            return Some((frame, cut.is_again));
        }
        let is_due = match self.receiver.due() {
            Due::Never => false,
            Due::Now => true,
            Due::At(at) => at <= now,
        };
        if !is_due && !self.asks {
            return None;
        }
        let poll = std::mem::take(&mut self.asks);
        Some((self.ack(session, poll), false))
    }

    pub(super) fn ack(&mut self, session: u64, poll: bool) -> Frame {
        let (ack, selective) = self.receiver.ack_alone();
        Frame::Ack {
            session,
            ack,
            poll,
            selective,
        }
    }

    /// Returns the time of the next timer.
    pub(super) fn deadline(&self, config: &Config) -> Option<Instant> {
        let open = match self.state {
            State::Ended(_) => return None,
            State::Opening { again, until, .. } => return Some(again.min(until)),
            State::Open => [
                match self.receiver.due() {
                    Due::At(at) => Some(at),
                    Due::Now | Due::Never => None,
                },
                self.sender.overdue(self.patience.now(config)),
                self.next_question(config),
                self.death(config),
            ],
        };
        let lingering = self.closed.and_then(|at| at.checked_add(config.linger));
        open.into_iter().chain([lingering]).flatten().min()
    }

    fn next_question(&self, config: &Config) -> Option<Instant> {
        // A peer that has closed the session sends nothing more.
        if self.receiver.peer_has_closed() {
            return None;
        }
        match self.asked {
            0 => self.last_arrival.checked_add(config.keep_alive),
            // Questions may be lost, too.
            _ => self.asked_at.checked_add(again(config)),
        }
    }

    fn death(&self, config: &Config) -> Option<Instant> {
        // The last of these questions has its time, too: this process may have been stopped itself.
        let answered = self.asked_enough?.checked_add(again(config))?;
        Some(
            self.last_arrival
                .checked_add(config.dead_after)?
                .max(answered),
        )
    }

    /// Runs the timers that are due. Returns a frame that asks for the session again.
    pub(super) fn timeout(
        &mut self,
        now: Instant,
        session: u64,
        config: &Config,
        terms: Terms,
    ) -> Option<Frame> {
        match self.state {
            State::Ended(_) => None,
            State::Opening { until, .. } if until <= now => {
                self.end(End::TimedOut);
                None
            }
            State::Opening {
                again,
                until,
                tries,
            } if again <= now => {
                // The pause doubles once at most: only a question finds an end that begins anew.
                let pause = config.first_patience.saturating_mul(1 << tries.min(1));
                self.state = State::Opening {
                    again: after(now, pause),
                    until,
                    tries: tries.saturating_add(1),
                };
                Some(Frame::Open { session, terms })
            }
            State::Opening { .. } => None,
            State::Open => self.open_timeout(now, session, config),
        }
    }

    fn open_timeout(&mut self, now: Instant, session: u64, config: &Config) -> Option<Frame> {
        let is_past = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_past(self.death(config)) {
            self.end(End::TimedOut);
            return Some(aborted(session));
        }
        if is_past(self.closed.and_then(|at| at.checked_add(config.linger))) {
            self.end(End::Reset);
            return Some(aborted(session));
        }
        if is_past(self.sender.overdue(self.patience.now(config))) {
            self.patience.passed();
            let asks_by_data = self.sender.suspect(now);
            self.question(now, !asks_by_data);
        }
        if is_past(self.next_question(config)) {
            self.question(now, true);
        }
        None
    }

    fn question(&mut self, now: Instant, asks: bool) {
        self.asked = self.asked.saturating_add(1);
        self.asked_at = now;
        if self.asked == MIN_ASKED {
            self.asked_enough = Some(now);
        }
        self.asks |= asks;
    }
}

/// Returns the wait for an answer before the next question.
fn again(config: &Config) -> Duration {
    config
        .keep_alive
        .checked_div(ASKED_AGAIN)
        .unwrap_or_default()
}

pub(super) const fn aborted(session: u64) -> Frame {
    Frame::Reset {
        session,
        reason: Reason::Aborted,
    }
}
