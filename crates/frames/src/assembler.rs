//! The receiving end: frames of datagrams, and counts of what is missing.

use crate::header::Header;
use std::collections::BTreeMap;

/// What an [`Assembler`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a receiver states what it takes")]
pub struct Limits {
    /// Octets of a frame.
    pub max_frame_octets: usize,
    /// Pieces of a frame. Each that is kept costs some 50 octets beside its own.
    pub max_pieces: u16,
    /// Frames that wait for pieces. A further one takes the place of the oldest.
    pub max_pending: usize,
}

impl Default for Limits {
    /// 1 MiB of at most 1,024 pieces; 4 frames: together some 4 MiB.
    fn default() -> Self {
        Self {
            max_frame_octets: 1 << 20,
            max_pieces: 1_024,
            max_pending: 4,
        }
    }
}

/// A frame that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what a sender has said")]
pub struct Frame {
    /// Its number, modulo 2³².
    pub sequence: u32,
    /// The sender's.
    pub timestamp: u64,
    /// Its contents.
    pub octets: Vec<u8>,
}

/// What became of the frames and datagrams of a stream.
///
/// Of the frames from the first that was returned to the newest one, each is counted once: `frames + lost + late`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Frames that were returned, each newer than the one before.
    pub frames: u64,
    /// Those of them that came after a part of a newer one, and before the whole of it.
    pub reordered: u64,
    /// Frames older than the newest that was returned, which have not come, or not whole.
    pub lost: u64,
    /// Frames of which something came after a newer one had been returned. They are dropped.
    pub late: u64,
    /// Frames that were begun, and dropped for lack of a piece. They are lost or late, too.
    pub broken: u64,
    /// Datagrams of which no use was made: of another stream, beyond the limits, with numbers far from those of the others, or
    /// contradicting what came before.
    pub refused: u64,
    /// Datagrams that had come already, or that belong to frames before the first that was returned.
    pub doubled: u64,
    /// How often the numbers of the frames began anew.
    pub restarts: u64,
}

/// How far a number may be in front of the newest one: of the frames in between, all are lost.
const MAX_GAP: u32 = 1_024;
/// How far a number may be behind, to be counted as late.
const HISTORY: u32 = 64;

/// Makes frames of the datagrams of a stream.
#[derive(Debug)]
pub struct Assembler {
    stream: u32,
    limits: Limits,
    /// In no order.
    pending: Vec<Partial>,
    /// The newest frame of which a piece has come.
    seen: Option<u32>,
    /// The newest one that was returned.
    returned: Option<u32>,
    /// Bit n: the frame n before `returned` was returned, or counted as late, or is from before the first.
    done: u64,
    /// A number far from the others. If the next one comes too, the sender has begun anew.
    elsewhere: Option<u32>,
    counts: Counts,
}

/// A frame that lacks pieces.
#[derive(Debug)]
struct Partial {
    header: Header,
    pieces: BTreeMap<u16, Box<[u8]>>,
    octets: usize,
    is_reordered: bool,
}

/// Where a frame stands among those before it.
enum Standing {
    New,
    /// Older than a frame that was returned, by this much.
    Old(u32),
    Far,
}

impl Assembler {
    /// Takes the datagrams of the stream of this number.
    #[must_use]
    pub const fn new(stream: u32, limits: Limits) -> Self {
        Self {
            stream,
            limits,
            pending: Vec::new(),
            seen: None,
            returned: None,
            done: 0,
            elsewhere: None,
            counts: Counts {
                frames: 0,
                reordered: 0,
                lost: 0,
                late: 0,
                broken: 0,
                refused: 0,
                doubled: 0,
                restarts: 0,
            },
        }
    }

    /// Returns what became of the frames so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the octets of the pieces that are kept.
    #[must_use]
    pub fn held_octets(&self) -> usize {
        self.pending.iter().map(|partial| partial.octets).sum()
    }

    /// Takes a datagram, and returns the frame that it makes whole, if that is newer than all that were returned before.
    ///
    /// Costs a copy of the datagram, and of the frame when it is whole; steps in proportion to [`Limits::max_pending`].
    pub fn take(&mut self, datagram: &[u8]) -> Option<Frame> {
        let header = Header::read(datagram).filter(|(header, octets)| self.permits(header, octets));
        let Some((header, octets)) = header else {
            add(&mut self.counts.refused, 1);
            return None;
        };
        match self.standing(header.sequence) {
            Standing::New => {}
            Standing::Old(by) => {
                self.take_late(by);
                return None;
            }
            Standing::Far => {
                if self.elsewhere.map(|number| number.wrapping_add(1)) != Some(header.sequence) {
                    add(&mut self.counts.refused, 1);
                    self.elsewhere = Some(header.sequence);
                    return None;
                }
                self.restart();
            }
        }
        self.elsewhere = None;
        self.take_new(header, octets)
    }

    fn permits(&self, header: &Header, octets: &[u8]) -> bool {
        header.stream == self.stream
            && header.piece < header.pieces
            && header.pieces <= self.limits.max_pieces
            && octets.len() <= self.limits.max_frame_octets
            // An empty piece would be kept for nothing.
            && (header.pieces == 1 || !octets.is_empty())
    }

    fn standing(&self, sequence: u32) -> Standing {
        let Some(newest) = self.returned.or(self.seen) else {
            return Standing::New;
        };
        let ahead = sequence.wrapping_sub(newest);
        let behind = newest.wrapping_sub(sequence);
        if ahead != 0 && ahead <= MAX_GAP {
            return Standing::New;
        }
        match behind < HISTORY {
            // Nothing was returned yet, so nothing is too late.
            true if self.returned.is_none() => Standing::New,
            true => Standing::Old(behind),
            false => Standing::Far,
        }
    }

    /// Counts a piece of a frame that was returned, so many frames ago, or was passed over then.
    const fn take_late(&mut self, by: u32) {
        let bit = 1_u64.wrapping_shl(by);
        if self.done & bit != 0 {
            add(&mut self.counts.doubled, 1);
            return;
        }
        self.done |= bit;
        add(&mut self.counts.late, 1);
        self.counts.lost = self.counts.lost.saturating_sub(1);
    }

    fn restart(&mut self) {
        add(&mut self.counts.restarts, 1);
        let begun = self.pending.len();
        self.pending.clear();
        add(&mut self.counts.broken, begun as u64);
        (self.seen, self.returned, self.done) = (None, None, 0);
    }

    fn take_new(&mut self, header: Header, octets: &[u8]) -> Option<Frame> {
        let sequence = header.sequence;
        // Whether a part of a newer one has come before.
        let is_behind = self.seen.is_some_and(|seen| {
            let by = seen.wrapping_sub(sequence);
            by != 0 && by <= MAX_GAP
        });
        if !is_behind {
            self.seen = Some(sequence);
        }
        if header.pieces == 1 {
            return Some(self.done(header, is_behind, octets.to_vec()));
        }
        let known = (self.pending.iter()).position(|it| it.header.sequence == sequence);
        let at = match known {
            Some(at) => at,
            None => self.begin(header)?,
        };
        let partial = self.pending.get_mut(at)?;
        let agrees =
            (partial.header.pieces, partial.header.timestamp) == (header.pieces, header.timestamp);
        if !agrees {
            add(&mut self.counts.refused, 1);
            return None;
        }
        if partial.pieces.contains_key(&header.piece) {
            add(&mut self.counts.doubled, 1);
            return None;
        }
        partial.is_reordered |= is_behind;
        partial.octets = partial.octets.saturating_add(octets.len());
        if partial.octets > self.limits.max_frame_octets {
            self.pending.swap_remove(at);
            add(&mut self.counts.broken, 1);
            add(&mut self.counts.refused, 1);
            return None;
        }
        partial.pieces.insert(header.piece, octets.into());
        if partial.pieces.len() < usize::from(header.pieces) {
            return None;
        }
        let whole = self.pending.swap_remove(at);
        let mut octets = Vec::with_capacity(whole.octets);
        for piece in whole.pieces.into_values() {
            octets.extend_from_slice(&piece);
        }
        Some(self.done(header, whole.is_reordered, octets))
    }

    /// Makes room for a frame; `None` if those that wait are all newer.
    fn begin(&mut self, header: Header) -> Option<usize> {
        if self.pending.len() >= self.limits.max_pending {
            let age = |other: u32| header.sequence.wrapping_sub(other).cast_signed();
            let all = self.pending.iter().enumerate();
            let oldest = all
                .map(|(at, it)| (age(it.header.sequence), at))
                .max_by_key(|(age, _)| *age)
                .filter(|(age, _)| *age > 0);
            let Some((_, at)) = oldest else {
                add(&mut self.counts.refused, 1);
                return None;
            };
            self.pending.swap_remove(at);
            add(&mut self.counts.broken, 1);
        }
        self.pending.push(Partial {
            header,
            pieces: BTreeMap::new(),
            octets: 0,
            is_reordered: false,
        });
        self.pending.len().checked_sub(1)
    }

    /// Counts a frame that is whole, and drops those that it makes too late.
    fn done(&mut self, header: Header, is_reordered: bool, octets: Vec<u8>) -> Frame {
        let sequence = header.sequence;
        match self.returned {
            Some(before) => {
                let by = sequence.wrapping_sub(before);
                add(&mut self.counts.lost, u64::from(by.saturating_sub(1)));
                self.done = self.done.checked_shl(by).unwrap_or_default() | 1;
            }
            // What came before the first is not missed.
            None => self.done = u64::MAX,
        }
        self.returned = Some(sequence);
        add(&mut self.counts.frames, 1);
        add(&mut self.counts.reordered, u64::from(is_reordered));
        let before = self.pending.len();
        self.pending.retain(|it| {
            let ahead = it.header.sequence.wrapping_sub(sequence);
            ahead != 0 && ahead <= MAX_GAP
        });
        let late = before.saturating_sub(self.pending.len());
        add(&mut self.counts.broken, late as u64);
        Frame {
            sequence,
            timestamp: header.timestamp,
            octets,
        }
    }
}

const fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}
