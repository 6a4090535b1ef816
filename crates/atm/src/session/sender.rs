//! The sending half of a session: octets that wait to be cut, and segments that wait to be acknowledged.
use std::{
    collections::VecDeque,
    io::IoSlice,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};

use super::frame::{Ack, DATA_HEAD, MAX_SELECTIVE, cost};

/// Most segments that are sent beyond the first one that was not acknowledged: as many as a selective acknowledgement can
/// report.
pub(super) const MAX_AHEAD: usize = MAX_SELECTIVE * 8;

#[derive(Debug)]
pub(super) struct Sender {
    /// Octets of the application that are in no segment yet.
    pending: BytesMut,
    /// Segments from the first that was not acknowledged.
    segments: VecDeque<SentSegment>,
    /// The number of the first of these segments.
    base: u64,
    /// The number of the next frame.
    transmission: u64,
    /// The transmissions that the peer has acknowledged: the highest one, plus one.
    seen: u64,
    /// Octets of the segments that were not acknowledged.
    unacknowledged: usize,
    /// Octets of the stream that are or were in segments.
    cut: u64,
    /// The octet of the stream up to which the peer takes octets.
    window: u64,
    /// The cost of frames in flight in the peer's buffer.
    in_flight: u64,
    /// Segments that have to be sent again.
    lost: usize,
    fin: Notice,
    closed: Notice,
    /// The time at which a segment was sent last, or acknowledged.
    active: Option<Instant>,
}

/// The state of a flag (end of the stream, closed) that the peer has to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    No,
    Wanted,
    Cut,
}

#[derive(Debug)]
struct SentSegment {
    payload: Bytes,
    fin: bool,
    closed: bool,
    cost: u64,
    transmission: u64,
    sent: Instant,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    OnItsWay,
    Lost,
    Received,
}

/// A segment that is to be sent now.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) sequence: u64,
    pub(super) transmission: u64,
    pub(super) fin: bool,
    pub(super) closed: bool,
    pub(super) payload: Bytes,
    pub(super) is_again: bool,
}

/// The outcome of an acknowledgement.
#[derive(Debug, Default)]
pub(super) struct AckOutcome {
    /// Whether it acknowledges anything new.
    pub(super) is_new: bool,
    /// The time from sending the last frame to its acknowledgement.
    pub(super) round_trip: Option<Duration>,
}

impl Sender {
    pub(super) fn new(window: u64) -> Self {
        Self {
            pending: BytesMut::new(),
            segments: VecDeque::new(),
            base: 0,
            transmission: 0,
            seen: 0,
            unacknowledged: 0,
            cut: 0,
            window,
            in_flight: 0,
            lost: 0,
            fin: Notice::No,
            closed: Notice::No,
            active: None,
        }
    }

    /// Returns the octets that are kept: waiting, or not acknowledged.
    pub(super) fn held(&self) -> usize {
        self.pending.len().saturating_add(self.unacknowledged)
    }

    pub(super) const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Takes as many octets as there is room for; returns their number.
    pub(super) fn take(&mut self, chunks: &[IoSlice<'_>], room: usize) -> usize {
        let mut left = room.saturating_sub(self.held());
        let before = self.pending.len();
        for chunk in chunks {
            let taken = chunk.get(..left).unwrap_or(chunk);
            self.pending.extend_from_slice(taken);
            left = left.saturating_sub(taken.len());
            if left == 0 {
                break;
            }
        }
        self.pending.len().saturating_sub(before)
    }

    /// Ends the stream after the octets that were taken.
    pub(super) fn finish(&mut self) {
        if self.fin == Notice::No {
            self.fin = Notice::Wanted;
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.fin != Notice::No
    }

    /// Ends the stream, and drops incoming data unread.
    pub(super) fn close(&mut self) {
        self.finish();
        if self.closed == Notice::No {
            self.closed = Notice::Wanted;
        }
    }

    /// Drops all pending data: the peer has gone.
    pub(super) fn abandon(&mut self) {
        self.pending = BytesMut::new();
        self.segments.clear();
        self.unacknowledged = 0;
        self.in_flight = 0;
        self.lost = 0;
        self.fin = Notice::Cut;
        self.closed = Notice::Cut;
    }

    /// Whether all octets that were taken are acknowledged, and the flags too.
    pub(super) fn is_done(&self) -> bool {
        self.held() == 0
            && self.segments.is_empty()
            && self.fin != Notice::Wanted
            && self.closed != Notice::Wanted
    }

    /// Returns the next segment to be sent: one that was lost, or a new one of at most `max_sdu` octets with its head.
    /// `fits` returns whether the peer's buffer has room for a frame of that cost.
    pub(super) fn next(
        &mut self,
        now: Instant,
        max_sdu: usize,
        fits: impl Fn(u64) -> bool,
    ) -> Option<Cut> {
        let is_again = self.lost > 0;
        let at = if is_again {
            let at = self.segments.iter().position(|p| p.state == State::Lost)?;
            let segment = self.segments.get(at)?;
            if !fits(segment.cost) {
                return None;
            }
            self.lost = self.lost.saturating_sub(1);
            at
        } else {
            self.cut(now, max_sdu, fits)?
        };
        let transmission = self.transmission;
        self.transmission = transmission.saturating_add(1);
        self.active = Some(now);
        let segment = self.segments.get_mut(at)?;
        segment.state = State::OnItsWay;
        segment.transmission = transmission;
        segment.sent = now;
        self.in_flight = self.in_flight.saturating_add(segment.cost);
        Some(Cut {
            sequence: self.base.saturating_add(u64::try_from(at).ok()?),
            transmission,
            fin: segment.fin,
            closed: segment.closed,
            payload: segment.payload.clone(),
            is_again,
        })
    }

    /// Cuts the next segment off the waiting octets; returns its index.
    fn cut(&mut self, now: Instant, max_sdu: usize, fits: impl Fn(u64) -> bool) -> Option<usize> {
        if self.segments.len() >= MAX_AHEAD {
            return None;
        }
        let window = self.window.saturating_sub(self.cut);
        let length = self
            .pending
            .len()
            .min(max_sdu.saturating_sub(DATA_HEAD))
            .min(usize::try_from(window).unwrap_or(usize::MAX));
        let is_last = length == self.pending.len();
        let fin = is_last && self.fin != Notice::No;
        let closed = fin && self.closed != Notice::No;
        let is_notice =
            fin && self.fin == Notice::Wanted || closed && self.closed == Notice::Wanted;
        let cost = cost(length.saturating_add(DATA_HEAD));
        if length == 0 && !is_notice || !fits(cost) {
            return None;
        }
        if fin {
            self.fin = Notice::Cut;
        }
        if closed {
            self.closed = Notice::Cut;
        }
        self.cut = self.cut.saturating_add(u64::try_from(length).ok()?);
        self.unacknowledged = self.unacknowledged.saturating_add(length);
        self.segments.push_back(SentSegment {
            payload: self.pending.split_to(length).freeze(),
            fin,
            closed,
            cost,
            transmission: 0,
            sent: now,
            state: State::OnItsWay,
        });
        self.segments.len().checked_sub(1)
    }

    /// Handles an acknowledgement. One of unsent segments is ignored.
    ///
    /// Frames of a circuit never overtake each other. So a frame that was sent before one that has arrived, and has not
    /// arrived itself, never will.
    pub(super) fn acknowledge(&mut self, now: Instant, ack: Ack, selective: &[u8]) -> AckOutcome {
        let mut acked = AckOutcome::default();
        let end = u64::try_from(self.segments.len()).map(|count| self.base.saturating_add(count));
        if !end.is_ok_and(|end| ack.next <= end) || ack.seen > self.transmission {
            return acked;
        }
        if ack.window > self.window {
            self.window = ack.window;
            acked.is_new = true;
        }
        let latest = ack.seen.checked_sub(1).filter(|_| ack.seen > self.seen);
        while self.base < ack.next
            && let Some(mut segment) = self.segments.pop_front()
        {
            self.base = self.base.saturating_add(1);
            acked.is_new = true;
            self.received(now, &mut segment, latest, &mut acked);
        }
        // The first bit stands for the segment behind the missing one.
        let mut segments = std::mem::take(&mut self.segments);
        for (index, segment) in segments.iter_mut().skip(1).enumerate() {
            let octet = selective.get(index >> 3).copied().unwrap_or(0);
            if octet >> (index & 7) & 1 == 1 && segment.state != State::Received {
                acked.is_new = true;
                self.received(now, segment, latest, &mut acked);
            }
        }
        if latest.is_some() {
            self.seen = ack.seen;
            for segment in &mut segments {
                if segment.state == State::OnItsWay && segment.transmission < ack.seen {
                    self.lose(segment);
                }
            }
        }
        self.segments = segments;
        if acked.is_new {
            self.active = Some(now);
        }
        acked
    }

    fn received(
        &mut self,
        now: Instant,
        segment: &mut SentSegment,
        latest: Option<u64>,
        acked: &mut AckOutcome,
    ) {
        match segment.state {
            State::OnItsWay => self.in_flight = self.in_flight.saturating_sub(segment.cost),
            State::Lost => self.lost = self.lost.saturating_sub(1),
            State::Received => return,
        }
        if latest == Some(segment.transmission) {
            acked.round_trip = Some(now.saturating_duration_since(segment.sent));
        }
        self.unacknowledged = self.unacknowledged.saturating_sub(segment.payload.len());
        segment.payload = Bytes::new();
        segment.state = State::Received;
    }

    fn lose(&mut self, segment: &mut SentSegment) {
        segment.state = State::Lost;
        self.in_flight = self.in_flight.saturating_sub(segment.cost);
        self.lost = self.lost.saturating_add(1);
    }

    /// Returns the time at which an acknowledgement is overdue, if one is expected or the peer's window is: `timeout`
    /// after the last new acknowledgement.
    pub(super) fn overdue(&self, timeout: Duration) -> Option<Instant> {
        let waits = self.in_flight > 0 || self.is_blocked();
        self.active.filter(|_| waits)?.checked_add(timeout)
    }

    /// Whether octets wait for the peer's window only.
    fn is_blocked(&self) -> bool {
        !self.pending.is_empty() && self.segments.is_empty() && self.window <= self.cut
    }

    /// Handles an overdue acknowledgement: the first segment is sent again, and its acknowledgement will report the
    /// others. Returns whether there is such a segment; otherwise the peer has to be asked.
    pub(super) fn suspect(&mut self, now: Instant) -> bool {
        self.active = Some(now);
        let mut segments = std::mem::take(&mut self.segments);
        let first = segments.iter_mut().find(|p| p.state == State::OnItsWay);
        let is_there = first.is_some();
        if let Some(segment) = first {
            self.lose(segment);
        }
        self.segments = segments;
        is_there
    }
}
