//! The state machine of one session: opening, open and ended, with its frames and timers.
use std::time::{Duration, Instant};

use super::{
    Config, Reason, after,
    frame::{Ack, Frame, MIN_SDU, Terms},
    receiver::{Due, Receiver},
    retransmission_timeout::RetransmissionTimeout,
    sender::Sender,
};

/// The way in which a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionEnd {
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
    Ended(SessionEnd),
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
    retransmission_timeout: RetransmissionTimeout,
    last_arrival: Instant,
    /// Probes since the last frame of the peer, and the time of the last probe.
    probes: u32,
    probed_at: Instant,
    /// The time at which the probes became [`MIN_PROBES`].
    probed_enough: Option<Instant>,
    /// Whether a probe is to be sent.
    wants_answer: bool,
    /// The time at which the application has closed it.
    pub(super) closed: Option<Instant>,
    /// Whether the application has dropped it.
    pub(super) released: bool,
    /// Whether the application waits for room to write.
    pub(super) wants_room: bool,
}

/// Probes without an answer after which a peer may count as dead.
const MIN_PROBES: u32 = 3;
/// The divisor of [`Config::keep_alive`] that gives the interval of further probes, after one without an answer.
const PROBES_PER_KEEP_ALIVE: u32 = 5;

impl Session {
    pub(super) fn new(now: Instant, config: &Config, state: State, terms: Option<Terms>) -> Self {
        Self {
            state,
            is_ours: terms.is_none(),
            terms,
            sender: Sender::new(terms.map_or(0, |terms| terms.window)),
            receiver: Receiver::new(config.receive_octets),
            retransmission_timeout: RetransmissionTimeout::new(),
            last_arrival: now,
            probes: 0,
            probed_at: now,
            probed_enough: None,
            wants_answer: false,
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

    pub(super) fn end(&mut self, end: SessionEnd) {
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
        self.probes = 0;
        self.probed_enough = None;
    }

    /// Handles an acknowledgement. Returns whether it has anything new.
    pub(super) fn acknowledged(&mut self, now: Instant, ack: Ack, selective: &[u8]) -> bool {
        let acked = self.sender.acknowledge(now, ack, selective);
        if acked.is_new {
            self.retransmission_timeout.reset();
        }
        if let Some(round_trip) = acked.round_trip {
            self.retransmission_timeout.measure(round_trip);
        }
        acked.is_new
    }

    /// Returns the next frame to send: a segment for which there is room in the peer's buffer, of which other frames take
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
        if !is_due && !self.wants_answer {
            return None;
        }
        let poll = std::mem::take(&mut self.wants_answer);
        Some((self.ack(session, poll), false))
    }

    pub(super) fn ack(&mut self, session: u64, poll: bool) -> Frame {
        let (ack, selective) = self.receiver.pure_ack();
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
                self.sender
                    .overdue(self.retransmission_timeout.current(config)),
                self.next_probe(config),
                self.dead_at(config),
            ],
        };
        let lingering = self.closed.and_then(|at| at.checked_add(config.linger));
        open.into_iter().chain([lingering]).flatten().min()
    }

    fn next_probe(&self, config: &Config) -> Option<Instant> {
        // A peer that has closed the session sends nothing more.
        if self.receiver.peer_has_closed() {
            return None;
        }
        match self.probes {
            0 => self.last_arrival.checked_add(config.keep_alive),
            // Probes may be lost, too.
            _ => self.probed_at.checked_add(probe_interval(config)),
        }
    }

    fn dead_at(&self, config: &Config) -> Option<Instant> {
        // The last of these probes has its time, too: this process may have been stopped itself.
        let answered = self.probed_enough?.checked_add(probe_interval(config))?;
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
            State::Opening { until, tries, .. } if until <= now && tries >= MIN_PROBES => {
                self.end(SessionEnd::TimedOut);
                None
            }
            State::Opening {
                again,
                until,
                tries,
            } if again.min(until) <= now => {
                // The pause doubles once at most: only a probe finds an end that begins anew.
                let pause = config
                    .initial_retransmission_timeout
                    .saturating_mul(1 << tries.min(1));
                let again = after(now, pause);
                self.state = State::Opening {
                    again,
                    // The last try has its time, too: this process may have been stopped itself.
                    until: if tries < MIN_PROBES {
                        until.max(again)
                    } else {
                        until
                    },
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
        if is_past(self.dead_at(config)) {
            self.end(SessionEnd::TimedOut);
            return Some(aborted(session));
        }
        if is_past(self.closed.and_then(|at| at.checked_add(config.linger))) {
            self.end(SessionEnd::Reset);
            return Some(aborted(session));
        }
        if is_past(
            self.sender
                .overdue(self.retransmission_timeout.current(config)),
        ) {
            self.retransmission_timeout.expired();
            let probes_by_data = self.sender.suspect(now);
            self.probe(now, !probes_by_data);
        }
        if is_past(self.next_probe(config)) {
            self.probe(now, true);
        }
        None
    }

    fn probe(&mut self, now: Instant, wants_answer: bool) {
        self.probes = self.probes.saturating_add(1);
        self.probed_at = now;
        if self.probes == MIN_PROBES {
            self.probed_enough = Some(now);
        }
        self.wants_answer |= wants_answer;
    }
}

/// Returns the wait for an answer before the next probe.
fn probe_interval(config: &Config) -> Duration {
    config
        .keep_alive
        .checked_div(PROBES_PER_KEEP_ALIVE)
        .unwrap_or_default()
}

pub(super) const fn aborted(session: u64) -> Frame {
    Frame::Reset {
        session,
        reason: Reason::Aborted,
    }
}
