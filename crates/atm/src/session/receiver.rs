//! The receiving half of a session: octets that wait to be read, and segments beyond a missing one.
use std::{
    collections::{BTreeMap, VecDeque},
    time::Instant,
};

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{
    frame::{Ack, cost},
    sender::MAX_AHEAD,
};

#[derive(Debug)]
pub(super) struct Receiver {
    /// The first segment that has not come.
    next: u64,
    /// The highest transmission that has come, plus one.
    seen: u64,
    /// Segments beyond the missing one.
    ahead: BTreeMap<u64, ReceivedSegment>,
    ahead_octets: usize,
    /// Octets in sequence that were not read: large segments as they came, then small ones copied together.
    large: VecDeque<Bytes>,
    small: BytesMut,
    unread: usize,
    /// Octets that were read, in all.
    read: u64,
    /// Octets that are taken beyond these.
    room: usize,
    /// The end of the window last advertised to the peer, as an octet of the stream.
    advertised: u64,
    /// Whether the stream has ended, and no more octets come.
    finished: bool,
    /// Whether the peer reads no more.
    peer_closed: bool,
    /// Whether received octets are dropped, since the reader has gone.
    discards: bool,
    due: Due,
    /// The cost of unacknowledged frames in the buffer.
    taken: u64,
}

#[derive(Debug)]
struct ReceivedSegment {
    payload: Bytes,
    fin: bool,
    closed: bool,
}

/// The time at which an acknowledgement is sent, unless it goes with data before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Never,
    At(Instant),
    Now,
}

/// The effect of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// More octets, or the end of the stream, can be read.
    Readable,
    /// A segment before it is missing.
    Ahead,
    /// The segment had come before.
    Duplicate,
    /// The segment is beyond the room that was advertised, and counts as lost.
    Refused,
}

/// Least octets of a segment that keeps the memory of its frame.
const LARGE: usize = 4096;

impl Receiver {
    pub(super) fn new(room: usize) -> Self {
        Self {
            next: 0,
            seen: 0,
            ahead: BTreeMap::new(),
            ahead_octets: 0,
            large: VecDeque::new(),
            small: BytesMut::new(),
            unread: 0,
            read: 0,
            room,
            advertised: u64::try_from(room).unwrap_or(u64::MAX),
            finished: false,
            peer_closed: false,
            discards: false,
            due: Due::Never,
            taken: 0,
        }
    }

    pub(super) const fn is_finished(&self) -> bool {
        self.finished
    }

    pub(super) const fn peer_has_closed(&self) -> bool {
        self.peer_closed
    }

    pub(super) const fn has_unread(&self) -> bool {
        self.unread > 0
    }

    pub(super) const fn due(&self) -> Due {
        self.due
    }

    pub(super) fn ask(&mut self) {
        self.due = Due::Now;
    }

    /// Takes a segment. An acknowledgement is due at once when a segment is missing or comes again, or when frames of a
    /// cost of `most` have come since the last one; else `at` that time.
    pub(super) fn take(
        &mut self,
        sequence: u64,
        transmission: u64,
        payload: Bytes,
        (fin, closed): (bool, bool),
        at: Instant,
        most: u64,
    ) -> Arrival {
        let Some(distance) = sequence.checked_sub(self.next) else {
            self.note(transmission);
            self.due = Due::Now;
            return Arrival::Duplicate;
        };
        let held = self.unread.saturating_add(self.ahead_octets);
        let is_in_range = usize::try_from(distance).is_ok_and(|distance| distance < MAX_AHEAD);
        if !is_in_range || held.saturating_add(payload.len()) > self.room && !self.discards {
            return Arrival::Refused;
        }
        self.note(transmission);
        self.taken = self.taken.saturating_add(cost(payload.len()));
        if distance > 0 {
            self.due = Due::Now;
            if self.ahead.contains_key(&sequence) {
                return Arrival::Duplicate;
            }
            self.ahead_octets = self.ahead_octets.saturating_add(payload.len());
            let payload = match payload.len() {
                0..LARGE => Bytes::copy_from_slice(&payload),
                _ => payload,
            };
            let segment = ReceivedSegment {
                payload,
                fin,
                closed,
            };
            self.ahead.insert(sequence, segment);
            return Arrival::Ahead;
        }
        if !self.ahead.is_empty() || fin || self.taken >= most {
            self.due = Due::Now;
        } else if self.due == Due::Never {
            self.due = Due::At(at);
        }
        self.append(payload, fin, closed);
        while let Some(segment) = self.ahead.remove(&self.next) {
            self.ahead_octets = self.ahead_octets.saturating_sub(segment.payload.len());
            self.append(segment.payload, segment.fin, segment.closed);
        }
        Arrival::Readable
    }

    /// Whether a segment of `octets` octets would be read next, without a copy here: nothing waits before it or beyond it.
    pub(super) fn is_next(&self, sequence: u64, octets: usize) -> bool {
        sequence == self.next
            && self.unread == 0
            && self.ahead.is_empty()
            && octets <= self.room
            && !self.finished
            && !self.discards
    }

    /// Counts a segment that [is next](Self::is_next), and whose octets are the reader's already. Acknowledges it as
    /// [`take`](Self::take) does.
    pub(super) fn take_read(&mut self, transmission: u64, count: usize, at: Instant, most: u64) {
        self.note(transmission);
        self.taken = self.taken.saturating_add(cost(count));
        if self.taken >= most {
            self.due = Due::Now;
        } else if self.due == Due::Never {
            self.due = Due::At(at);
        }
        self.next = self.next.saturating_add(1);
        self.read = self.read.saturating_add(octets(count));
        self.reconsider();
    }

    fn note(&mut self, transmission: u64) {
        self.seen = self.seen.max(transmission.saturating_add(1));
    }

    fn append(&mut self, payload: Bytes, fin: bool, closed: bool) {
        self.next = self.next.saturating_add(1);
        // Octets after the end of the stream are not part of it.
        if self.discards || self.finished {
            self.read = self.read.saturating_add(octets(payload.len()));
        } else {
            self.unread = self.unread.saturating_add(payload.len());
            if payload.len() >= LARGE {
                if !self.small.is_empty() {
                    self.large.push_back(self.small.split().freeze());
                }
                self.large.push_back(payload);
            } else {
                self.small.extend_from_slice(&payload);
            }
        }
        self.finished |= fin;
        self.peer_closed |= closed;
    }

    /// Reads into the spare capacity of `buf`; returns the number of octets.
    pub(super) fn read(&mut self, buf: &mut BytesMut) -> usize {
        let room = buf.capacity().saturating_sub(buf.len());
        let mut left = room;
        while left > 0 {
            if let Some(first) = self.large.front_mut() {
                let count = first.len().min(left);
                buf.put_slice(first.get(..count).unwrap_or_default());
                first.advance(count);
                if first.is_empty() {
                    self.large.pop_front();
                }
                left = left.saturating_sub(count);
            } else {
                let count = self.small.len().min(left);
                buf.put_slice(self.small.get(..count).unwrap_or_default());
                self.small.advance(count);
                left = left.saturating_sub(count);
                break;
            }
        }
        let count = room.saturating_sub(left);
        self.unread = self.unread.saturating_sub(count);
        self.read = self.read.saturating_add(octets(count));
        self.reconsider();
        count
    }

    /// Has an acknowledgement sent that advertises more room, once that is half of all.
    fn reconsider(&mut self) {
        let more = self.window().saturating_sub(self.advertised);
        if more >= octets(self.room >> 1) && !self.finished {
            self.due = Due::Now;
        }
    }

    fn window(&self) -> u64 {
        self.read.saturating_add(octets(self.room))
    }

    /// Drops received data, and all data still to come: the reader has gone.
    pub(super) fn discard(&mut self) {
        self.discards = true;
        self.read = self.read.saturating_add(octets(self.unread));
        self.unread = 0;
        self.large.clear();
        self.small = BytesMut::new();
        self.reconsider();
    }

    /// Returns the acknowledgement that is sent with data. It cannot report segments beyond a missing one, and so does
    /// not report the last frame either where there are any.
    pub(super) fn ack_with_data(&mut self) -> Ack {
        let mut ack = self.ack();
        if self.ahead.is_empty() {
            self.acknowledged();
        } else {
            ack.seen = 0;
        }
        ack
    }

    /// Returns a pure acknowledgement, which is sent without data, with the segments beyond a missing one.
    pub(super) fn pure_ack(&mut self) -> (Ack, Bytes) {
        self.acknowledged();
        let mut selective = Vec::new();
        let first = self.next.saturating_add(1);
        for sequence in self.ahead.keys() {
            let Ok(index) = usize::try_from(sequence.saturating_sub(first)) else {
                break;
            };
            if selective.len() <= index >> 3 {
                selective.resize((index >> 3).saturating_add(1), 0);
            }
            if let Some(octet) = selective.get_mut(index >> 3) {
                *octet |= 1 << (index & 7);
            }
        }
        (self.ack(), selective.into())
    }

    fn acknowledged(&mut self) {
        self.due = Due::Never;
        self.taken = 0;
    }

    fn ack(&mut self) -> Ack {
        self.advertised = self.window();
        Ack {
            next: self.next,
            seen: self.seen,
            window: self.advertised,
        }
    }
}

fn octets(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
