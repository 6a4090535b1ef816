//! The state of an open circuit, under its lock: the machine, and the frames that go between it and the socket.
use std::{collections::BTreeMap, mem::take, task::Waker, time::Instant};

use bytes::{Bytes, BytesMut};
use rustix::io::Errno;
use socket2::Socket;

use super::FRAMES_PER_TURN;
use crate::{
    session::{self, Config, Event, frame::DATA_HEAD},
    sys,
};

#[derive(Debug)]
pub(super) struct State {
    pub(super) machine: session::SessionMachine,
    /// The wakers of each session that has waited.
    pub(super) waiters: BTreeMap<u64, Waiters>,
    pub(super) acceptor: Option<Waker>,
    pub(super) has_listener: bool,
    /// Listener and connections.
    pub(super) handles: usize,
    /// A frame for which the socket had no room.
    pub(super) stalled: Option<Bytes>,
    /// The head of that frame, or of the frame that was sent last.
    head: Vec<u8>,
    /// The frame that is being received.
    frame: Vec<u8>,
    /// Small frames that were received, copied together.
    small: BytesMut,
    max_sdu: usize,
    /// Small frames until readers no longer receive in place: [`BULK_LASTS`] after each large frame.
    bulk: u8,
    /// Whether the socket was empty when it was last received from.
    pub(super) emptied: bool,
    /// The time until which the task sleeps.
    pub(super) sleeps: Option<Instant>,
    /// Whether the task waits for room in the socket.
    pub(super) waits_for_room: bool,
    /// Whether the circuit has failed, or the task has ended.
    pub(super) gone: bool,
    /// Wakers to call when the lock is released.
    pub(super) first: Option<Waker>,
    pub(super) further: Vec<Waker>,
}

/// The wakers of a session.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
}

/// Small frames after a large one that may still be between those of long messages: the end of one, and acknowledgements.
const BULK_LASTS: u8 = 4;
/// Frames above this keep the memory that they were received in.
const LARGE: usize = 4096;

/// The state of the socket after some frames were received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceiveOutcome {
    Empty,
    More,
    Gone,
    /// A reader was woken to receive first.
    Offered,
}

impl State {
    pub(super) fn new(config: Config) -> Self {
        Self {
            max_sdu: config.max_sdu,
            machine: session::SessionMachine::new(config, fastrand::u64(..)),
            waiters: BTreeMap::new(),
            acceptor: None,
            has_listener: false,
            handles: 1,
            stalled: None,
            head: Vec::new(),
            frame: Vec::new(),
            small: BytesMut::new(),
            bulk: 0,
            emptied: false,
            sleeps: None,
            waits_for_room: false,
            gone: false,
            first: None,
            further: Vec::new(),
        }
    }

    pub(super) fn waiters(&mut self, id: u64) -> &mut Waiters {
        self.waiters.entry(id).or_default()
    }

    /// Takes at most `most` frames from the socket.
    pub(super) fn receive(&mut self, socket: &Socket, now: Instant, most: usize) -> ReceiveOutcome {
        for _ in 0..most {
            if self.gone {
                return ReceiveOutcome::Gone;
            }
            self.emptied = false;
            self.frame.clear();
            self.frame.reserve(self.max_sdu);
            match sys::receive(socket, &mut self.frame) {
                Ok(1..) => {}
                Err(Errno::WOULDBLOCK) => {
                    self.emptied = true;
                    return ReceiveOutcome::Empty;
                }
                // The interface is gone, or the circuit.
                Ok(0) | Err(_) => {
                    self.lose();
                    return ReceiveOutcome::Gone;
                }
            }
            self.note(self.frame.len());
            let frame = if self.frame.len() > LARGE {
                Bytes::from(take(&mut self.frame))
            } else {
                self.small.extend_from_slice(&self.frame);
                self.small.split().freeze()
            };
            self.machine.handle_frame(now, frame);
        }
        ReceiveOutcome::More
    }

    /// Notes the octets of a frame that was received.
    fn note(&mut self, octets: usize) {
        self.bulk = match octets > LARGE {
            true => BULK_LASTS,
            false => self.bulk.saturating_sub(1),
        };
    }

    /// Takes frames from the socket whose octets the reader of the session `id` gets next, straight into its buffer, as long
    /// as that has room for the largest. Returns their octets. Other frames go to the machine.
    pub(super) fn receive_in_place(
        &mut self,
        socket: &Socket,
        now: Instant,
        id: u64,
        buf: &mut BytesMut,
    ) -> usize {
        let before = buf.len();
        for _ in 0..FRAMES_PER_TURN {
            let room = buf.capacity().saturating_sub(buf.len());
            if self.gone || self.bulk == 0 || room.saturating_add(DATA_HEAD) < self.max_sdu {
                break;
            }
            let (begin, mut head) = (buf.len(), [0; DATA_HEAD]);
            self.emptied = false;
            let received = match sys::receive_parts(socket, &mut head, buf) {
                Ok(received @ 1..) => received,
                Err(Errno::WOULDBLOCK) => {
                    self.emptied = true;
                    break;
                }
                Ok(0) | Err(_) => {
                    self.lose();
                    break;
                }
            };
            self.note(received);
            let behind = buf.len().saturating_sub(begin);
            if !self.machine.handle_in_place(now, id, &head, behind) {
                let head = head.get(..received).unwrap_or(&head);
                self.frame.clear();
                self.frame.extend_from_slice(head);
                self.frame
                    .extend_from_slice(buf.get(begin..).unwrap_or_default());
                buf.truncate(begin);
                self.machine.handle_frame(now, take(&mut self.frame).into());
                // Octets of this session may be there now, before further ones.
                break;
            }
        }
        buf.len().saturating_sub(before)
    }

    /// Wakes the reader that is likely to get the next frame, so that it receives in place: the only session's, among large
    /// frames. Returns whether there is one.
    pub(super) fn offer(&mut self) -> bool {
        let mut waiters = self.waiters.values_mut();
        let reader = match (waiters.next(), waiters.next()) {
            (Some(only), None) if self.bulk > 0 => only.reader.take(),
            _ => None,
        };
        let is_offered = reader.is_some();
        self.emptied = false;
        self.first = reader;
        is_offered
    }

    /// Sends the frames that are due.
    pub(super) fn flush(&mut self, socket: &Socket, now: Instant) {
        while !self.gone {
            let payload = match self.stalled.take() {
                Some(payload) => payload,
                None => match self.machine.poll_transmit(now, &mut self.head) {
                    Some(payload) => payload,
                    None => break,
                },
            };
            match sys::send(socket, &self.head, &payload) {
                Err(Errno::WOULDBLOCK) => {
                    self.stalled = Some(payload);
                    break;
                }
                Err(Errno::PIPE | Errno::NODEV | Errno::BADF | Errno::NOTCONN) => self.lose(),
                // Other errors, such as ENOMEM, count as a lost frame, which is sent again.
                Ok(_) | Err(_) => {}
            }
        }
        self.dispatch();
    }

    /// Collects the wakers of events.
    pub(super) fn dispatch(&mut self) {
        while let Some(event) = self.machine.poll_event() {
            let waker = match event {
                Event::Readable(id) => {
                    (self.waiters.get_mut(&id)).and_then(|waiters| waiters.reader.take())
                }
                Event::Writable(id) => {
                    (self.waiters.get_mut(&id)).and_then(|waiters| waiters.writer.take())
                }
                Event::Incoming => self.acceptor.take(),
            };
            match &self.first {
                None => self.first = waker,
                Some(_) => self.further.extend(waker),
            }
        }
    }

    fn lose(&mut self) {
        self.gone = true;
        self.machine.fail();
    }

    /// Sets the task's wake-up. One before the next timer stays, since it costs less than setting it anew for each frame.
    pub(super) fn set_timer(&mut self, now: Instant) {
        let is_over = self.sleeps.is_none_or(|sleeps| sleeps <= now);
        if is_over {
            self.sleeps = self.machine.poll_timeout();
        } else {
            self.is_due_earlier();
        }
    }

    /// Whether a timer is due before the task's wake-up, which is set to it then.
    pub(super) fn is_due_earlier(&mut self) -> bool {
        let due = self.machine.poll_timeout();
        let is_earlier = match (due, self.sleeps) {
            (Some(due), Some(sleeps)) => due < sleeps,
            (due, None) => due.is_some(),
            (None, Some(_)) => false,
        };
        if is_earlier {
            // The task is woken once for this timer.
            self.sleeps = due;
        }
        is_earlier
    }

    /// Whether the task has to be woken: for an earlier timer, a full socket, or the end.
    pub(super) fn wants_the_task(&mut self) -> bool {
        self.is_due_earlier() || self.gone || self.stalled.is_some() && !self.waits_for_room
    }
}
