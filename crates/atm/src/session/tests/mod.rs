mod random;

use std::{
    collections::VecDeque,
    io::IoSlice,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};

use super::{Config, Event, Obstacle, Reason, SessionEnd, SessionMachine, frame::cost};

/// A link whose frames take a while, and may be lost or doubled; the receivers' buffers have a bound.
struct Wire {
    delay: Duration,
    /// Frames towards either end, when they arrive.
    frames: [VecDeque<(Instant, Bytes)>; 2],
    /// Frames that have arrived and were not taken.
    buffers: [VecDeque<Bytes>; 2],
    capacity: u64,
    overflows: usize,
    losses: Losses,
    doubles: Losses,
    cut: bool,
}

/// The percentage of frames that are lost, or doubled, drawn from a generator whose sequence is always the same (xorshift64*).
/// A short pattern would hit every retry of a frame.
#[derive(Clone, Copy, Debug)]
struct Losses {
    percent: u64,
    random: u64,
}

const NONE: Losses = Losses {
    percent: 0,
    random: 1,
};

impl Losses {
    fn next(&mut self) -> bool {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % 100 < self.percent
    }
}

struct Pair {
    now: Instant,
    ends: [SessionMachine; 2],
    config: Config,
    wire: Wire,
    /// While false the end does not take frames from its buffer.
    awake: [bool; 2],
    incarnations: u64,
}

impl Pair {
    fn new(config: Config, losses: Losses) -> Self {
        let mut ends = [
            SessionMachine::new(config.clone(), 1),
            SessionMachine::new(config.clone(), 2),
        ];
        ends[1].listen(true);
        Self {
            now: Instant::now(),
            ends,
            wire: Wire {
                delay: Duration::from_micros(300),
                frames: Default::default(),
                buffers: Default::default(),
                capacity: config.receive_buffer,
                overflows: 0,
                losses,
                doubles: NONE,
                cut: false,
            },
            config,
            awake: [true; 2],
            incarnations: 2,
        }
    }

    fn transmit(&mut self) {
        let mut head = Vec::new();
        for end in 0..2 {
            while let Some(payload) = self.ends[end].poll_transmit(self.now, &mut head) {
                let lost = self.wire.losses.next();
                if !lost && !self.wire.cut {
                    let frame = [&head[..], &payload].concat();
                    assert!(
                        frame.len() <= self.config.max_sdu,
                        "a frame of {}",
                        frame.len()
                    );
                    let arrival = (self.now + self.wire.delay, Bytes::from(frame));
                    if self.wire.doubles.next() {
                        self.wire.frames[1 - end].push_back(arrival.clone());
                    }
                    self.wire.frames[1 - end].push_back(arrival);
                }
            }
        }
    }

    /// Advances to the next event. Returns false if there will be none.
    fn step(&mut self) -> bool {
        self.transmit();
        let arrivals = self
            .wire
            .frames
            .iter()
            .filter_map(|f| f.front().map(|(at, _)| *at));
        let timeouts = self.ends.iter().filter_map(SessionMachine::poll_timeout);
        let Some(next) = arrivals.chain(timeouts).min() else {
            return false;
        };
        self.now = self.now.max(next);
        for end in 0..2 {
            while self.wire.frames[end]
                .front()
                .is_some_and(|(at, _)| *at <= self.now)
            {
                let (_, frame) = self.wire.frames[end].pop_front().unwrap();
                let held: u64 = self.wire.buffers[end].iter().map(|f| cost(f.len())).sum();
                if held + cost(frame.len()) > self.wire.capacity {
                    self.wire.overflows += 1;
                } else {
                    self.wire.buffers[end].push_back(frame);
                }
            }
            if self.awake[end] {
                while let Some(frame) = self.wire.buffers[end].pop_front() {
                    self.ends[end].handle_frame(self.now, frame);
                }
            }
            self.ends[end].handle_timeout(self.now);
        }
        true
    }

    fn run(&mut self, until: impl Fn(&mut Self) -> bool) {
        for _ in 0..1_000_000 {
            if until(self) {
                return;
            }
            assert!(self.step(), "nothing will happen any more");
        }
        panic!("it never came: {:#?}", self.ends);
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.transmit();
            let arrivals = self
                .wire
                .frames
                .iter()
                .filter_map(|f| f.front().map(|(at, _)| *at));
            let timeouts = self.ends.iter().filter_map(SessionMachine::poll_timeout);
            match arrivals.chain(timeouts).min() {
                Some(next) if next <= end => assert!(self.step()),
                _ => break,
            }
        }
        self.now = end;
    }

    /// Opens a session at both ends.
    fn opened(&mut self, id: u64) {
        self.ends[0].open(self.now, id).unwrap();
        self.run(|pair| pair.ends[0].is_open(id).unwrap());
        assert_eq!(self.ends[1].accept(), Some(id));
    }

    fn write(&mut self, end: usize, id: u64, octets: &[u8]) -> usize {
        match self.ends[end].write(id, &[IoSlice::new(octets)]) {
            Ok(taken) => taken,
            Err(Obstacle::NotNow) => 0,
            Err(other) => panic!("{other:?}"),
        }
    }

    fn read(&mut self, end: usize, id: u64) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buf = BytesMut::with_capacity(10_000);
        while let Ok(1..) = self.ends[end].read(id, &mut buf) {
            all.extend_from_slice(&buf);
            buf.clear();
        }
        all
    }

    /// Writes everything at `from` and reads it at the other end.
    fn carry(&mut self, from: usize, id: u64, octets: &[u8]) -> Vec<u8> {
        let (mut written, mut received) = (0, Vec::new());
        for _ in 0..1_000_000 {
            written += self.write(from, id, &octets[written..]);
            received.extend(self.read(1 - from, id));
            if received.len() == octets.len() {
                return received;
            }
            assert!(self.step(), "nothing will happen any more");
        }
        panic!("{} of {} came", received.len(), octets.len());
    }

    /// Has an end die, and begin anew.
    fn restart(&mut self, end: usize) {
        self.incarnations += 1;
        self.ends[end] = SessionMachine::new(self.config.clone(), self.incarnations);
        self.ends[end].listen(true);
        self.wire.buffers[end].clear();
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|n| (n % 251) as u8 ^ (n / 251 % 241) as u8)
        .collect()
}

fn ended(pair: &mut Pair, end: usize, id: u64) -> Option<SessionEnd> {
    match pair.ends[end].read(id, &mut BytesMut::with_capacity(8)) {
        Err(Obstacle::Ended(end)) => Some(end),
        _ => None,
    }
}

#[test]
fn octets_arrive_in_order_and_an_answer_needs_no_frame_of_its_own_to_acknowledge() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    let before = pair.ends[0].statistics().sent + pair.ends[1].statistics().sent;
    for _ in 0..10 {
        assert_eq!(pair.carry(0, 7, b"question"), b"question");
        assert_eq!(pair.carry(1, 7, b"answer"), b"answer");
    }
    let after = pair.ends[0].statistics().sent + pair.ends[1].statistics().sent;
    assert_eq!(after - before, 20);
}

#[test]
fn a_long_stream_never_overflows_the_receivers_buffer() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    let octets = pattern(10 << 20);
    assert!(pair.carry(0, 7, &octets) == octets);
    assert_eq!(pair.wire.overflows, 0);
    assert_eq!(pair.ends[0].statistics().sent_again, 0);
}

#[test]
fn an_end_that_does_not_look_at_its_buffer_loses_nothing() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    pair.awake[1] = false;
    let octets = pattern(1 << 20);
    let mut written = pair.write(0, 7, &octets);
    assert!(written > 0);
    pair.pass(Duration::from_secs(1));
    assert!(pair.ends[0].in_flight() > 0);
    assert!(pair.ends[0].in_flight() <= pair.config.receive_buffer - Config::RESERVE);
    pair.awake[1] = true;
    let mut received = pair.read(1, 7);
    while received.len() < octets.len() {
        written += pair.write(0, 7, &octets[written..]);
        assert!(pair.step());
        received.extend(pair.read(1, 7));
    }
    assert!(received == octets);
}

#[test]
fn a_reader_that_does_not_read_stops_the_writer_and_starts_it_again() {
    let config = Config::default();
    let mut pair = Pair::new(config.clone(), NONE);
    pair.opened(7);
    let octets = pattern(4 << 20);
    let mut written = 0;
    for _ in 0..1000 {
        written += pair.write(0, 7, &octets[written..]);
        pair.pass(Duration::from_millis(10));
    }
    assert_eq!(written, config.send_octets + config.receive_octets);
    let mut received = pair.read(1, 7);
    while received.len() < octets.len() {
        written += pair.write(0, 7, &octets[written..]);
        assert!(pair.step());
        received.extend(pair.read(1, 7));
    }
    assert!(received == octets);
    assert_eq!(pair.wire.overflows, 0);
}

#[test]
fn the_end_of_the_stream_comes_behind_all_of_it_and_the_other_direction_goes_on() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    pair.write(0, 7, b"last words");
    pair.ends[0].shutdown_write(7);
    let refused = pair.ends[0].write(7, &[IoSlice::new(b"x")]);
    assert_eq!(refused, Err(Obstacle::Finished));
    pair.pass(Duration::from_millis(100));
    assert_eq!(pair.read(1, 7), b"last words");
    assert_eq!(pair.ends[1].read(7, &mut BytesMut::with_capacity(1)), Ok(0));
    assert_eq!(pair.carry(1, 7, b"answer"), b"answer");
}

#[test]
fn what_was_written_before_a_session_was_released_arrives_and_then_nothing_is_left_of_it() {
    let mut pair = Pair::new(
        Config::default(),
        Losses {
            percent: 30,
            random: 9,
        },
    );
    pair.opened(7);
    let octets = pattern(300_000);
    assert_eq!(pair.write(0, 7, &octets), octets.len());
    pair.ends[0].release(pair.now, 7);
    let mut received = Vec::new();
    while received.len() < octets.len() {
        assert!(pair.step());
        received.extend(pair.read(1, 7));
    }
    assert!(received == octets);
    pair.run(|pair| pair.ends[1].read(7, &mut BytesMut::with_capacity(1)) == Ok(0));
    let refused = pair.ends[1].write(7, &[IoSlice::new(b"x")]);
    assert_eq!(refused, Err(Obstacle::Finished));
    pair.ends[1].release(pair.now, 7);
    pair.pass(Duration::from_secs(60));
    pair.ends[1].listen(false);
    assert!(pair.ends[0].is_idle() && pair.ends[1].is_idle());
}

#[test]
fn an_end_that_does_not_listen_refuses() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.ends[1].listen(false);
    pair.ends[0].open(pair.now, 7).unwrap();
    pair.run(|pair| pair.ends[0].is_open(7).is_err());
    let end = pair.ends[0].is_open(7);
    assert_eq!(end, Err(SessionEnd::Refused(Reason::NotListening)));
}

#[test]
fn a_peer_that_is_not_there_times_out() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.wire.cut = true;
    let began = pair.now;
    pair.ends[0].open(pair.now, 7).unwrap();
    pair.run(|pair| pair.ends[0].is_open(7).is_err());
    assert_eq!(pair.ends[0].is_open(7), Err(SessionEnd::TimedOut));
    assert_eq!(pair.now - began, pair.config.open_timeout);
}

#[test]
fn a_peer_is_asked_several_times_before_it_is_given_up() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.ends[0].open(pair.now, 7).unwrap();
    pair.wire.frames = Default::default();
    pair.now += pair.config.open_timeout;
    pair.run(|pair| pair.ends[0].is_open(7).unwrap());
}

#[test]
fn an_idle_peer_that_dies_is_found_and_one_that_lives_is_not_given_up() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    pair.pass(Duration::from_secs(600));
    assert_eq!(ended(&mut pair, 0, 7), None);
    assert_eq!(ended(&mut pair, 1, 7), None);
    pair.wire.cut = true;
    let most = pair.config.dead_after + 2 * pair.config.keep_alive;
    pair.pass(most);
    assert_eq!(ended(&mut pair, 0, 7), Some(SessionEnd::TimedOut));
    assert_eq!(ended(&mut pair, 1, 7), Some(SessionEnd::TimedOut));
}

#[test]
fn an_end_that_was_asleep_asks_before_it_gives_its_peer_up() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    let octets = pattern(100);
    pair.write(0, 7, &octets);
    pair.transmit();
    pair.wire.frames[1].clear();
    // Only the clock goes on, as in a process that is stopped.
    pair.now += Duration::from_secs(3600);
    pair.ends[0].handle_timeout(pair.now);
    pair.ends[0].handle_timeout(pair.now);
    pair.ends[0].handle_timeout(pair.now);
    pair.ends[0].handle_timeout(pair.now);
    assert_eq!(ended(&mut pair, 0, 7), None);
    pair.run(|pair| pair.ends[1].is_readable(7));
    assert_eq!(pair.read(1, 7), octets);
}

#[test]
fn the_frames_of_a_session_that_a_new_incarnation_does_not_know_end_it_at_once() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    pair.restart(1);
    let began = pair.now;
    pair.write(0, 7, b"still there?");
    pair.run(|pair| ended(pair, 0, 7).is_some());
    assert_eq!(ended(&mut pair, 0, 7), Some(SessionEnd::Reset));
    assert!(pair.now - began < Duration::from_millis(10));
    pair.opened(8);
    assert_eq!(pair.carry(0, 8, b"anew"), b"anew");
}

#[test]
fn a_client_that_begins_anew_ends_the_sessions_of_the_former_one() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    pair.opened(8);
    pair.restart(0);
    pair.opened(9);
    assert_eq!(ended(&mut pair, 1, 7), Some(SessionEnd::Reset));
    assert_eq!(ended(&mut pair, 1, 8), Some(SessionEnd::Reset));
    assert_eq!(pair.carry(0, 9, b"anew"), b"anew");
}

#[test]
fn an_open_that_comes_again_after_its_session_has_ended_opens_nothing() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.ends[0].open(pair.now, 7).unwrap();
    let mut head = Vec::new();
    assert!(pair.ends[0].poll_transmit(pair.now, &mut head).is_some());
    let open = Bytes::from(head);
    pair.ends[1].handle_frame(pair.now, open.clone());
    assert_eq!(pair.ends[1].accept(), Some(7));
    pair.ends[1].release(pair.now, 7);
    pair.pass(Duration::from_secs(60));
    pair.ends[1].handle_frame(pair.now, open);
    assert_eq!(pair.ends[1].accept(), None);
}

#[test]
fn sessions_that_are_not_accepted_are_bounded() {
    let config = Config {
        backlog: 3,
        ..Config::default()
    };
    let mut pair = Pair::new(config, NONE);
    for id in 0..4 {
        pair.ends[0].open(pair.now, id).unwrap();
    }
    pair.pass(Duration::from_millis(10));
    let open = (0..4).filter(|id| pair.ends[0].is_open(*id) == Ok(true));
    assert_eq!(open.count(), 3);
    assert!((0..4).any(|id| pair.ends[0].is_open(id) == Err(SessionEnd::Refused(Reason::Full))));
}

#[test]
fn a_writer_is_woken_when_half_its_room_is_free() {
    let mut pair = Pair::new(Config::default(), NONE);
    pair.opened(7);
    while pair.ends[0].poll_event().is_some() {}
    let octets = pattern(1 << 20);
    let written = pair.write(0, 7, &octets);
    assert_eq!(written, pair.config.send_octets);
    assert!(!pair.ends[0].is_writable(7));
    pair.pass(Duration::from_millis(100));
    let events = std::iter::from_fn(|| pair.ends[0].poll_event());
    assert!(events.into_iter().any(|event| event == Event::Writable(7)));
}

#[test]
fn lost_frames_are_sent_again_without_waiting_where_others_come_behind() {
    // The wait for an overdue acknowledgement would be 30 ms each time.
    let losses = Losses {
        percent: 6,
        random: 5,
    };
    let mut pair = Pair::new(Config::default(), losses);
    pair.opened(7);
    let began = pair.now;
    let octets = pattern(4 << 20);
    assert!(pair.carry(0, 7, &octets) == octets);
    let again = pair.ends[0].statistics().sent_again;
    assert!(again > 4, "{again}");
    // The acknowledgements of losses at the end of a burst are overdue now and then.
    assert!(pair.now - began < Duration::from_millis(30) * u32::try_from(again).unwrap());
}
