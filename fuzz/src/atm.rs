//! Circuits of ATM: whatever the other end sends, and whenever, each frame is read as it is written, the session layer neither
//! panics nor has anything due for ever, and what it sends are frames that it would read.

use bytes::{Bytes, BytesMut};
use std::io::IoSlice;
use std::time::{Duration, Instant};
use zorb_atm::session::frame::{Ack, Frame, Reason, Terms};
use zorb_atm::session::{Config, SessionMachine};

/// The sessions that the octets can name.
const SESSIONS: u64 = 4;

/// Takes the octets for a frame, for an address, and for a history of one end of a circuit.
pub fn run(data: &[u8]) {
    if let Ok(frame) = Frame::read(Bytes::copy_from_slice(data)) {
        assert_eq!(written(frame), data);
    }
    if let Ok(address) = String::from_utf8_lossy(data).parse::<zorb_atm::AtmAddress>() {
        assert_eq!(address.to_string().parse(), Ok(address));
    }
    history(data);
}

fn written(frame: Frame) -> Vec<u8> {
    let mut octets = Vec::new();
    frame.write_head(&mut octets);
    octets.extend(frame.into_payload());
    octets
}

/// Numbers from the octets; 0 behind their end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                u64::from(*first)
            }
            None => 0,
        }
    }

    /// A small number, or sometimes one near the end of the range.
    fn number(&mut self) -> u64 {
        match self.next() {
            255 => u64::MAX - self.next(),
            254 => self.next() << 32,
            small => small,
        }
    }

    fn ack(&mut self) -> Ack {
        Ack {
            next: self.number(),
            seen: self.number(),
            window: self.number() << 8,
        }
    }

    fn frame(&mut self) -> Vec<u8> {
        let kind = self.next() % 6;
        let session = self.next() % SESSIONS;
        let frame = match kind {
            0 | 1 => {
                let terms = Terms {
                    incarnation: self.next() % 3,
                    buffer: self.number() << 8,
                    window: self.number() << 8,
                    max_sdu: 256 + ((self.next() as u32) << 8),
                };
                match kind {
                    0 => Frame::Open { session, terms },
                    _ => Frame::Accept { session, terms },
                }
            }
            2 => Frame::Reset {
                session,
                reason: Reason::Aborted,
            },
            3 => Frame::Ack {
                session,
                ack: self.ack(),
                poll: self.next() % 2 == 1,
                selective: (0..self.next() % 5)
                    .map(|_| self.next() as u8 | 0x80)
                    .collect(),
            },
            _ => {
                let notices = self.next();
                Frame::Data {
                    session,
                    sequence: self.number(),
                    transmission: self.number(),
                    ack: self.ack(),
                    fin: notices & 1 == 1,
                    closed: notices & 2 == 2,
                    payload: vec![7; self.next() as usize * 8].into(),
                }
            }
        };
        written(frame)
    }
}

fn history(data: &[u8]) {
    let mut config = Config::default();
    config.max_sdu = 2_000;
    config.receive_buffer = 60_000;
    config.send_octets = 10_000;
    config.receive_octets = 10_000;
    config.max_sessions = 3;
    config.backlog = 2;
    let max_sdu = config.max_sdu;
    let mut now = Instant::now();
    let mut circuit = SessionMachine::new(config, 1);
    circuit.listen(true);
    let mut numbers = Numbers(data);
    let mut head = Vec::new();
    let mut sent = 0_u64;
    while !numbers.0.is_empty() {
        let step = numbers.next();
        let session = numbers.next() % SESSIONS;
        match step % 12 {
            0 | 1 => now += Duration::from_millis(numbers.next()),
            2 => now += Duration::from_millis(numbers.next() * 100),
            3 => {
                let length = (numbers.next() as usize).min(numbers.0.len());
                let (octets, rest) = numbers.0.split_at(length);
                numbers.0 = rest;
                circuit.handle_frame(now, Bytes::copy_from_slice(octets));
            }
            4..=6 => {
                let frame = numbers.frame();
                circuit.handle_frame(now, frame.into());
            }
            7 => drop(circuit.open(now, session)),
            8 => {
                let octets = vec![1; numbers.next() as usize * 16];
                let _ = circuit.write(session, &[IoSlice::new(&octets)]);
            }
            9 => {
                let mut room = BytesMut::with_capacity(1 + numbers.next() as usize * 64);
                let _ = circuit.read(session, &mut room);
            }
            10 => match numbers.next() % 4 {
                0 => circuit.shutdown_write(session),
                1 => circuit.close(now, session),
                2 => circuit.release(now, session),
                _ => circuit.listen(numbers.next() % 2 == 0),
            },
            _ => drop(circuit.accept()),
        }
        circuit.handle_timeout(now);
        while let Some(payload) = circuit.poll_transmit(now, &mut head) {
            let frame = [&head[..], &payload].concat();
            assert!(frame.len() <= max_sdu, "a frame of {}", frame.len());
            let read = Frame::read(frame.clone().into()).expect("what is sent is a frame");
            assert_eq!(written(read), frame);
            sent += 1;
        }
        // A timer that is due at once would be due again for ever.
        assert!(circuit.poll_timeout().is_none_or(|at| at > now));
        while circuit.poll_event().is_some() {}
    }
    // A step sends what it frees, and no more.
    let most = 64 * (data.len() as u64 + 16);
    assert!(sent <= most, "{sent} frames for {} octets", data.len());
    for session in 0..SESSIONS {
        circuit.release(now, session);
    }
    circuit.listen(false);
    while circuit.accept().is_some() {}
    // Whatever the peer has said, nothing lasts.
    for _ in 0..100_000 {
        while circuit.poll_transmit(now, &mut head).is_some() {}
        match circuit.poll_timeout() {
            Some(at) => now = at,
            None => break,
        }
        circuit.handle_timeout(now);
    }
    assert!(circuit.is_idle(), "{circuit:?}");
}
