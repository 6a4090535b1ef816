//! Received frames of a circuit.
use std::time::Instant;

use bytes::Bytes;

use super::{
    End, Event, Reason, SessionMachine, after,
    frame::{Ack, Frame, Terms},
    one::{Session, State},
    receiver::Arrival,
};

impl SessionMachine {
    /// Handles a frame that arrived at `now`. Octets that are no frame are counted as refused. Afterwards, events and frames to
    /// send may be polled.
    pub fn handle_frame(&mut self, now: Instant, octets: Bytes) {
        self.statistics.received = self.statistics.received.saturating_add(1);
        let Ok(frame) = Frame::read(octets) else {
            self.refuse();
            return;
        };
        match frame {
            Frame::Open { session, terms } => self.handle_open(now, session, terms),
            Frame::Accept { session, terms } => self.handle_accept(now, session, terms),
            Frame::Reset { session, reason } => self.handle_reset(session, reason),
            Frame::Data {
                session,
                sequence,
                transmission,
                ack,
                fin,
                closed,
                payload,
            } => {
                if !self.acknowledged(now, session, true, ack, &[]) {
                    return;
                }
                let at = after(now, self.config.acknowledgement_delay);
                let most = self.config.buffer() >> 2;
                let Some(of) = self.sessions.get_mut(&session) else {
                    return;
                };
                let notices = (fin, closed);
                match of
                    .receiver
                    .take(sequence, transmission, payload, notices, at, most)
                {
                    Arrival::Readable => {
                        self.events.push_back(Event::Readable(session));
                        if of.receiver.peer_has_closed() {
                            of.sender.abandon();
                            self.events.push_back(Event::Writable(session));
                        }
                    }
                    Arrival::Ahead => {}
                    Arrival::Duplicate => {
                        let again = &mut self.statistics.received_again;
                        *again = again.saturating_add(1);
                    }
                    Arrival::Refused => self.refuse(),
                }
                self.settle(session);
            }
            Frame::Ack {
                session,
                ack,
                poll,
                selective,
            } => {
                if !self.acknowledged(now, session, poll, ack, &selective) {
                    return;
                }
                if let (true, Some(of)) = (poll, self.sessions.get_mut(&session)) {
                    of.receiver.ask();
                }
                self.settle(session);
            }
        }
    }

    /// Handles OPEN.
    fn handle_open(&mut self, now: Instant, id: u64, terms: Terms) {
        self.note_incarnation(terms.incarnation);
        let accept = Frame::Accept {
            session: id,
            terms: self.terms(),
        };
        let is_full = self.sessions.len() >= self.config.max_sessions
            || self.backlog.len() >= self.config.backlog;
        let refusal = match self.sessions.get_mut(&id) {
            Some(session) if !session.is_ours && session.is_open() => {
                session.note_arrival(now);
                self.control(accept);
                return;
            }
            // The other end has chosen the same number, or does not know yet that the session has ended.
            Some(_) => Reason::Unknown,
            None if self.ended.contains(&id) => Reason::Unknown,
            None if !self.listening => Reason::NotListening,
            None if is_full => Reason::Full,
            None => {
                let session = Session::new(now, &self.config, State::Open, Some(terms));
                self.sessions.insert(id, session);
                self.backlog.push_back(id);
                self.events.push_back(Event::Incoming);
                self.control(accept);
                return;
            }
        };
        self.control(Frame::Reset {
            session: id,
            reason: refusal,
        });
    }

    /// Handles ACCEPT.
    fn handle_accept(&mut self, now: Instant, id: u64, terms: Terms) {
        self.note_incarnation(terms.incarnation);
        match self.sessions.get_mut(&id) {
            Some(session) if matches!(session.state, State::Opening { .. }) => {
                session.opened(now, terms);
                self.wake(id);
            }
            Some(session) if session.is_open() => session.note_arrival(now),
            _ => self.control(unknown(id)),
        }
    }

    /// Handles RESET.
    fn handle_reset(&mut self, id: u64, reason: Reason) {
        let Some(session) = self.sessions.get(&id) else {
            return;
        };
        let end = match session.state {
            State::Opening { .. } => End::Refused(reason),
            _ => End::Reset,
        };
        self.end(id, end);
    }

    /// Notes the incarnation of the other end. If it has changed, the sessions with the former one have ended.
    fn note_incarnation(&mut self, incarnation: u64) {
        if self.peer.replace(incarnation) == Some(incarnation) {
            return;
        }
        let former: Vec<u64> = self
            .sessions
            .iter()
            .filter(|(_, session)| {
                let terms = session.terms;
                terms.is_some_and(|terms| terms.incarnation != incarnation)
            })
            .map(|(id, _)| *id)
            .collect();
        for id in former {
            self.end(id, End::Reset);
        }
    }

    /// Handles the acknowledgement of a frame. Returns whether its session is there and open; if not, a frame that asks
    /// for an `answer` gets a RESET.
    fn acknowledged(
        &mut self,
        now: Instant,
        id: u64,
        answer: bool,
        ack: Ack,
        selective: &[u8],
    ) -> bool {
        let session = match self.sessions.get_mut(&id) {
            Some(session) if session.is_open() => session,
            // The ACCEPT was lost, and will come again.
            Some(session) if matches!(session.state, State::Opening { .. }) => return false,
            _ => {
                if answer {
                    self.control(unknown(id));
                }
                return false;
            }
        };
        session.note_arrival(now);
        let any = session.acknowledged(now, ack, selective);
        if any && session.closed.is_some() {
            // A session that makes progress may go on.
            session.closed = Some(now);
        }
        // A writer is woken when half of the room is free, so that it is not woken for each frame.
        if any && session.wants_room && session.sender.held() <= self.config.send_octets >> 1 {
            session.wants_room = false;
            self.events.push_back(Event::Writable(id));
        }
        true
    }
}

const fn unknown(session: u64) -> Frame {
    Frame::Reset {
        session,
        reason: Reason::Unknown,
    }
}
