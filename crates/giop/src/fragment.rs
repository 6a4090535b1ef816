//! Cuts messages that were written as a whole into fragments.
//!
//! ```text
//! GIOP 1.2, pieces of at most 64 octets:
//!   | header, more |        52 octets        |                    the id comes first in it
//!   | Fragment, more | id |     48 octets    |   …   | Fragment | id | rest |
//!     12               4    a multiple of 8
//! GIOP 1.1:
//!   | header, more |  up to index 4 of 8     |   cut inside a long run only
//!   | Fragment, more | a multiple of 8 |   …   | Fragment | rest |
//! ```

use crate::header::{HEADER_LEN, MessageHeader, MessageKind, Version};
use bytes::Bytes;
use core::ops::Range;
use std::collections::VecDeque;
use zorb_cdr::{Encoder, Gather, NativeEndian, WireFormat};

use crate::buffers;

/// Octets of the request id that every Fragment of GIOP 1.2 repeats.
const ID_LEN: usize = 4;
/// The strictest alignment: data that begins at a multiple of it, from the start of a message, is aligned for every
/// type.
const ALIGNMENT: usize = 8;
/// GIOP 1.1: data of a Fragment begins at this index of it. So a cut at the same remainder keeps all alignment, and
/// makes every size a multiple of 8, as omniORB's receiver demands.
const CUT_REMAINDER_1_1: usize = HEADER_LEN % ALIGNMENT;

/// A message that is cut into fragments, one piece at a time.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (Fragment message).
///
/// The message was encoded as a whole; none of it is copied, only headers are added. In GIOP 1.2 a piece is never
/// longer than asked for, and every piece but the last has a total length that is a multiple of 8, so that no primitive
/// is split. A Fragment of GIOP 1.1 restarts alignment, and its reader may want every primitive in one piece. So a
/// message of 1.1 is cut only inside the runs that [`Encoder::remember_runs`] remembered, where no primitive is of more
/// than four octets. A piece without such a place is longer than asked for, and a message without any stays whole.
#[derive(Debug)]
pub struct Fragments {
    header: MessageHeader,
    /// The rest of the message that was not handed out, without the message header.
    rest: VecDeque<Bytes>,
    /// The offset of `rest` in the message.
    at: usize,
    /// Octets of the whole message.
    len: usize,
    most: usize,
    id: [u8; ID_LEN],
    /// GIOP 1.1: the ranges in which the message may be cut.
    runs: VecDeque<Range<usize>>,
}

impl Fragments {
    /// The least limit of a piece, in octets: below it, a quarter of the octets sent would be headers.
    pub const MIN_OCTETS: usize = 64;

    /// The most that a piece of GIOP 1.1 may be limited to, in octets: omniORB 4.2 waits forever for the rest of longer
    /// ones, which do not fit into its receive buffer (measured).
    pub const MAX_OCTETS_1_1: usize = 8192;

    /// Begins to cut `message` into pieces of `most` octets or fewer, headers included; the least value of `most` is
    /// [`MIN_OCTETS`](Self::MIN_OCTETS), the greatest of GIOP 1.1 [`MAX_OCTETS_1_1`](Self::MAX_OCTETS_1_1). A piece of GIOP 1.1
    /// is longer where the message has no earlier place at which it may be cut.
    ///
    /// # Errors
    /// The message, as it was, if it is not longer than `most`, if its version is 1.0, if its kind has no fragments, or if it
    /// has no place for a cut (GIOP 1.1).
    pub fn new(message: Gather, most: usize) -> Result<Self, Gather> {
        let most = most.max(Self::MIN_OCTETS);
        let len = message.len();
        if len <= most {
            return Err(message);
        }
        let Some((header, id)) = begin(&message) else {
            return Err(message);
        };
        let runs = if header.version >= Version::V1_2 {
            VecDeque::new()
        } else {
            message.runs().iter().cloned().collect()
        };
        let most_of_a_piece = match header.version {
            Version::V1_1 => most.min(Self::MAX_OCTETS_1_1),
            _ => most,
        };
        let mut this = Self {
            header,
            rest: VecDeque::new(),
            at: HEADER_LEN,
            len,
            most: most_of_a_piece,
            id,
            runs,
        };
        if this.cut() >= len {
            return Err(message);
        }
        this.rest = message.into_pieces().into();
        this.hand_out(HEADER_LEN, |_| {});
        Ok(this)
    }

    /// Whether all pieces have to be sent one after the other, without another message in between that could have
    /// fragments: a Fragment of GIOP 1.1 has no request id.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.header.version < Version::V1_2
    }

    /// Whether no piece has been handed out yet.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.at == HEADER_LEN
    }

    /// Whether all pieces have been handed out.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.at >= self.len
    }

    /// Returns the end of the next piece in the message.
    fn cut(&mut self) -> usize {
        let first = self.is_untouched();
        if self.header.version >= Version::V1_2 {
            let most = self.most.saturating_sub(self.most % ALIGNMENT);
            let headers = match first {
                true => HEADER_LEN,
                false => HEADER_LEN.saturating_add(ID_LEN),
            };
            if self.len.saturating_sub(self.at).saturating_add(headers) <= self.most {
                return self.len;
            }
            return self
                .at
                .saturating_add(most.saturating_sub(headers))
                .min(self.len);
        }
        if self.len.saturating_sub(self.at).saturating_add(HEADER_LEN) <= self.most {
            return self.len;
        }
        let furthest = self.at.saturating_add(self.most.saturating_sub(HEADER_LEN));
        while self.runs.front().is_some_and(|run| run.end <= self.at) {
            self.runs.pop_front();
        }
        let mut best = None;
        for run in &self.runs {
            let near = round_down(run.end.min(furthest));
            if near >= run.start && near > self.at {
                best = Some(near);
            } else if best.is_some() {
                break;
            } else {
                // No place is within the limit, so the message is cut at the next one.
                let far = round_up(run.start.max(self.at.saturating_add(1)));
                if far <= run.end {
                    best = Some(far);
                    break;
                }
            }
        }
        best.unwrap_or(self.len).min(self.len)
    }

    /// Passes the next `octets` octets to `each`, piece by piece.
    fn hand_out(&mut self, octets: usize, mut each: impl FnMut(Bytes)) {
        let mut left = octets;
        while left > 0
            && let Some(front) = self.rest.front_mut()
        {
            let taken = front.split_to(left.min(front.len()));
            left = left.saturating_sub(taken.len());
            if front.is_empty() {
                self.rest.pop_front();
            }
            each(taken);
        }
    }
}

impl Iterator for Fragments {
    type Item = Gather;

    /// Returns the next piece, ready to be written.
    fn next(&mut self) -> Option<Gather> {
        if self.is_done() {
            return None;
        }
        let first = self.is_untouched();
        let end = self.cut();
        let data = end.saturating_sub(self.at);
        let with_id = !first && self.header.version >= Version::V1_2;
        let size = data.saturating_add(if with_id { ID_LEN } else { 0 });
        let header = MessageHeader {
            more_fragments: end < self.len,
            kind: if first {
                self.header.kind
            } else {
                MessageKind::Fragment
            },
            // The size of the whole message fits into 32 bits, so that of a piece does.
            size: u32::try_from(size).unwrap_or(u32::MAX),
            ..self.header
        };
        let mut e = Encoder::<NativeEndian>::with_buffer(buffers::take(), WireFormat::default());
        e.append(&header.to_octets());
        if with_id {
            e.append(&self.id);
        }
        let mut piece = e.finish();
        self.hand_out(data, |octets| piece.push(octets));
        self.at = end;
        Some(piece)
    }
}

/// Returns the header of a message that may have fragments, and its request id if it is of GIOP 1.2.
fn begin(message: &Gather) -> Option<(MessageHeader, [u8; ID_LEN])> {
    let octets = message.chunks().next()?;
    let (header, rest) = octets.split_first_chunk::<HEADER_LEN>()?;
    let header = MessageHeader::parse(header).ok()?;
    if header.more_fragments || !header.kind.is_fragmentable(header.version) {
        return None;
    }
    Some((header, *rest.first_chunk()?))
}

/// Returns the last place for a cut in GIOP 1.1 that is not behind `at`.
fn round_down(at: usize) -> usize {
    let behind = at.wrapping_sub(CUT_REMAINDER_1_1) % ALIGNMENT;
    at.saturating_sub(behind)
}

/// Returns the first place for a cut in GIOP 1.1 that is not before `at`.
fn round_up(at: usize) -> usize {
    round_down(at.saturating_add(ALIGNMENT.saturating_sub(1)))
}
