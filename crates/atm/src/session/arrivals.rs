//! Received frames of a circuit.
use std::time::Instant;

use bytes::Bytes;

use super::{
    Event, Reason, SessionEnd, SessionMachine, after,
    frame::{Ack, DATA_HEAD, Frame, Terms},
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

    /// Handles a frame that arrived at `now` in two parts: its head, and `behind` octets behind it, which lie where the
    /// reader of the session `id` wants the next octets of its stream. Returns whether they are those octets, which count
    /// as [read](Self::read) then. If not, nothing has happened, and the whole frame goes to
    /// [`handle_frame`](Self::handle_frame).
    pub fn handle_in_place(
        &mut self,
        now: Instant,
        id: u64,
        head: &[u8; DATA_HEAD],
        behind: usize,
    ) -> bool {
        let Some(head) = Frame::read_data_head(head).filter(|head| head.session == id) else {
            return false;
        };
        let is_next = |session: &Session| {
            session.is_open() && session.receiver.is_next(head.sequence, behind)
        };
        if behind == 0 || !self.sessions.get(&id).is_some_and(is_next) {
            return false;
        }
        self.statistics.received = self.statistics.received.saturating_add(1);
        self.acknowledged(now, id, true, head.ack, &[]);
        let at = after(now, self.config.acknowledgement_delay);
        let most = self.config.buffer() >> 2;
        if let Some(of) = self.sessions.get_mut(&id) {
            of.receiver.take_read(head.transmission, behind, at, most);
        }
        self.settle(id);
        true
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
            State::Opening { .. } => SessionEnd::Refused(reason),
            _ => SessionEnd::Reset,
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
            self.end(id, SessionEnd::Reset);
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

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, io::IoSlice, time::Duration};

    use bytes::BytesMut;
    use proptest::prelude::*;

    use super::{super::Config, *};

    const ID: u64 = 7;

    /// An end that sends octets, and one that receives them in place where it can.
    struct Ends {
        now: Instant,
        sender: SessionMachine,
        receiver: SessionMachine,
        received: BytesMut,
        in_place: usize,
    }

    impl Ends {
        fn new(config: &Config) -> Self {
            let now = Instant::now();
            let mut ends = Self {
                now,
                sender: SessionMachine::new(config.clone(), 1),
                receiver: SessionMachine::new(config.clone(), 2),
                received: BytesMut::new(),
                in_place: 0,
            };
            ends.receiver.listen(true);
            ends.sender.open(now, ID).unwrap();
            ends.pass(&mut || 0);
            assert_eq!(ends.receiver.accept(), Some(ID));
            ends
        }

        fn sent(from: &mut SessionMachine, now: Instant) -> VecDeque<Bytes> {
            let (mut frames, mut head) = (VecDeque::new(), Vec::new());
            while let Some(payload) = from.poll_transmit(now, &mut head) {
                frames.push_back(Bytes::from([&head[..], &payload].concat()));
            }
            frames
        }

        fn read(&mut self) {
            let mut buf = BytesMut::with_capacity(1 << 20);
            while self.receiver.read(ID, &mut buf).is_ok_and(|read| read > 0) {}
            self.received.extend_from_slice(&buf);
        }

        /// Carries frames both ways. `fate` draws what becomes of a frame with data: 0 is received in place, 1 is not, 2 is
        /// lost.
        fn pass(&mut self, fate: &mut impl FnMut() -> u8) {
            for frame in Self::sent(&mut self.sender, self.now) {
                let (head, behind) = frame.split_at(frame.len().min(DATA_HEAD));
                let fate = fate();
                let is_in_place = fate == 0
                    && <&[u8; DATA_HEAD]>::try_from(head).is_ok_and(|head| {
                        self.receiver
                            .handle_in_place(self.now, ID, head, behind.len())
                    });
                if is_in_place {
                    self.received.extend_from_slice(behind);
                    self.in_place += 1;
                } else if fate < 2 {
                    self.receiver.handle_frame(self.now, frame);
                    if fate == 1 {
                        self.read();
                    }
                }
            }
            for frame in Self::sent(&mut self.receiver, self.now) {
                self.sender.handle_frame(self.now, frame);
            }
        }

        fn carry(&mut self, octets: &[u8], fate: &mut impl FnMut() -> u8) {
            let (mut written, end) = (0, self.received.len() + octets.len());
            for _ in 0..100_000 {
                let chunk = [IoSlice::new(&octets[written..])];
                written += self.sender.write(ID, &chunk).unwrap_or(0);
                self.pass(fate);
                self.read();
                if self.received.len() == end {
                    return;
                }
                self.now += Duration::from_millis(1);
                self.sender.handle_timeout(self.now);
                self.receiver.handle_timeout(self.now);
            }
            panic!("{} of {end} came", self.received.len());
        }
    }

    fn pattern(length: usize) -> Vec<u8> {
        (0..length).map(|n| (n % 251) as u8).collect()
    }

    #[test]
    fn octets_that_are_next_are_received_in_place_and_acknowledged_as_others_are() {
        let mut ends = Ends::new(&Config::default());
        let octets = pattern(3 << 20);
        ends.carry(&octets, &mut || 0);
        assert!(ends.received == octets);
        assert!(ends.in_place > 90, "{} frames", ends.in_place);
        assert!(ends.sender.statistics().sent_again == 0);
        ends.now += Duration::from_millis(10);
        ends.pass(&mut || 0);
        assert_eq!(ends.sender.in_flight(), 0, "all is acknowledged");
    }

    #[test]
    fn what_is_not_next_leaves_no_trace() {
        let mut ends = Ends::new(&Config::default());
        let chunk = pattern(100_000);
        assert!(ends.sender.write(ID, &[IoSlice::new(&chunk)]).is_ok());
        let frames = Ends::sent(&mut ends.sender, ends.now);
        let in_place = |ends: &mut Ends, id: u64, frame: &Bytes| {
            let (head, behind) = frame.split_first_chunk().unwrap();
            ends.receiver
                .handle_in_place(ends.now, id, head, behind.len())
        };
        let before = format!("{:?}", ends.receiver);
        // Another session's, one beyond a missing one, and one without octets.
        assert!(!in_place(&mut ends, ID + 1, &frames[0]));
        assert!(!in_place(&mut ends, ID, &frames[1]));
        assert!(!in_place(&mut ends, ID, &frames[0].slice(..DATA_HEAD)));
        assert_eq!(format!("{:?}", ends.receiver), before);
        // Octets that wait come first.
        ends.receiver.handle_frame(ends.now, frames[0].clone());
        assert!(!in_place(&mut ends, ID, &frames[1]));
        ends.read();
        assert!(in_place(&mut ends, ID, &frames[1]));
        assert!(!in_place(&mut ends, ID, &frames[1]), "it came again");
    }

    proptest! {
        #[test]
        fn whatever_is_lost_the_octets_are_the_same(
            fates in prop::collection::vec(0u8..3, 1..60),
            length in 1usize..400_000,
            max_sdu in 256usize..33_000,
        ) {
            let config = Config { max_sdu, ..Config::default() };
            let mut ends = Ends::new(&config);
            let octets = pattern(length);
            let mut at = 0;
            // The last ones are never lost, or a pattern could lose the same segment for ever.
            ends.carry(&octets, &mut || {
                at += 1;
                *fates.get(at).unwrap_or(&((at % 2) as u8))
            });
            prop_assert!(ends.received == octets);
        }
    }
}
