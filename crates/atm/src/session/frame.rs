//! The frames that the two ends of a circuit exchange: each is the payload of one AAL5 frame.
//!
//! All numbers are big-endian. A head of 16 octets is common to all kinds:
//!
//! ```text
//!  0        2         3      4       6         8                             16
//!  +--------+---------+------+-------+---------+------------------------------+
//!  | 0x5A41 | version | kind | flags | nothing | session                      |
//!  +--------+---------+------+-------+---------+------------------------------+
//! ```
//!
//! | kind | behind the head |
//! |---|---|
//! | 1 OPEN, 2 ACCEPT | incarnation 8, buffer 8, window 8, largest frame 4 |
//! | 3 RESET | reason 4 |
//! | 4 DATA | sequence 8, transmission 8, acknowledgement 24, octets of the stream |
//! | 5 ACK | acknowledgement 24, up to [`MAX_SELECTIVE`] octets of selective acknowledgement |
//!
//! An acknowledgement is the number of the next frame in sequence, the highest transmission that was received, and the
//! octet of the stream up to which the peer may send. In a selective acknowledgement the bit 2ⁱ of octet n states that
//! the frame behind the next one by 8n + i + 1 was received; its last octet is not 0.

use bytes::{Buf, BufMut, Bytes};

/// Octets of the head that is common to all kinds.
pub const HEAD: usize = 16;
/// Octets of a DATA frame before the octets of the stream.
pub const DATA_HEAD: usize = HEAD + 16 + 24;
/// Most octets of a selective acknowledgement; eight times as many frames may be ahead of a missing one.
pub const MAX_SELECTIVE: usize = 128;
/// The least octets to which an end may limit frames.
pub const MIN_SDU: u32 = 256;
/// The largest AAL5 frame, in octets.
pub const MAX_SDU: u32 = 65_535;

const MAGIC: u16 = 0x5a41;
const VERSION: u8 = 1;

/// A flag of DATA: the stream ends with this frame.
const FIN: u16 = 1;
/// A flag of DATA: this end reads no more of the other end's stream.
const CLOSED: u16 = 2;
/// A flag of ACK: this end asks for an acknowledgement.
const POLL: u16 = 4;

/// One frame of the protocol, version 1, in an AAL5 frame of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "version 1 has these kinds")]
pub enum Frame {
    /// Asks for a session.
    Open {
        /// The session that begins.
        session: u64,
        /// The parameters of this end.
        terms: Terms,
    },
    /// Grants a session.
    Accept {
        /// The session.
        session: u64,
        /// The parameters of this end.
        terms: Terms,
    },
    /// Reports that the session does not exist, or no longer.
    Reset {
        /// The session.
        session: u64,
        /// The reason.
        reason: Reason,
    },
    /// A segment of the stream.
    Data {
        /// The session.
        session: u64,
        /// The number of this segment; the first is 0.
        sequence: u64,
        /// The number of this frame; a segment that is sent again has another one.
        transmission: u64,
        /// The acknowledgement of the other direction.
        ack: Ack,
        /// Whether this is the last segment with octets.
        fin: bool,
        /// Whether this end reads no more.
        closed: bool,
        /// Octets of the stream.
        payload: Bytes,
    },
    /// An acknowledgement without data.
    Ack {
        /// The session.
        session: u64,
        /// The segments received in sequence.
        ack: Ack,
        /// Whether an answer is asked for.
        poll: bool,
        /// The segments received beyond the sequence.
        selective: Bytes,
    },
}

/// The parameters of an end, sent when a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "version 1 has these fields")]
pub struct Terms {
    /// A number that changes when the end begins anew.
    pub incarnation: u64,
    /// The size of its receive buffer, in the unit of [`cost`].
    pub buffer: u64,
    /// The octets of the stream that it takes before it advertises more.
    pub window: u64,
    /// The largest frame that it receives, in octets.
    pub max_sdu: u32,
}

/// The segments that have been received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "version 1 has these fields")]
pub struct Ack {
    /// The first segment that has not been received.
    pub next: u64,
    /// The highest transmission that has been received, plus one.
    pub seen: u64,
    /// The octet of the stream up to which the receiver of this may send.
    pub window: u64,
}

/// The reason of a RESET, by which an end refuses or aborts a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The end takes no sessions.
    NotListening,
    /// The end takes no further sessions now.
    Full,
    /// The end knows no such session: it has begun anew, or the session has ended.
    Unknown,
    /// The end has aborted the session.
    Aborted,
    /// A number that this version has no name for.
    Other(u32),
}

impl Reason {
    const fn from_wire(number: u32) -> Self {
        match number {
            1 => Self::NotListening,
            2 => Self::Full,
            3 => Self::Unknown,
            4 => Self::Aborted,
            other => Self::Other(other),
        }
    }

    const fn to_wire(self) -> u32 {
        match self {
            Self::NotListening => 1,
            Self::Full => 2,
            Self::Unknown => 3,
            Self::Aborted => 4,
            Self::Other(other) => other,
        }
    }
}

/// The head of a [`Frame::Data`] without flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataHead {
    pub(super) session: u64,
    pub(super) sequence: u64,
    pub(super) transmission: u64,
    pub(super) ack: Ack,
}

/// The error of octets that are not a frame of this version. They are dropped like a frame that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotAFrame;

impl Frame {
    /// Reads a frame. Its octets of the stream share the memory of `octets`.
    ///
    /// # Errors
    /// The octets are not a frame of this version: too short or too long, another magic number, version or kind, a flag that
    /// its kind does not have, numbers out of their range.
    pub fn read(mut octets: Bytes) -> Result<Self, NotAFrame> {
        if octets.try_get_u16()? != MAGIC || octets.try_get_u8()? != VERSION {
            return Err(NotAFrame);
        }
        let kind = octets.try_get_u8()?;
        let flags = octets.try_get_u16()?;
        let nothing = octets.try_get_u16()?;
        let session = octets.try_get_u64()?;
        let known = match kind {
            4 => FIN | CLOSED,
            5 => POLL,
            _ => 0,
        };
        if nothing != 0 || flags & !known != 0 {
            return Err(NotAFrame);
        }
        let frame = match kind {
            1 | 2 => {
                let terms = Terms {
                    incarnation: octets.try_get_u64()?,
                    buffer: octets.try_get_u64()?,
                    window: octets.try_get_u64()?,
                    max_sdu: octets.try_get_u32()?,
                };
                if !octets.is_empty() || !(MIN_SDU..=MAX_SDU).contains(&terms.max_sdu) {
                    return Err(NotAFrame);
                }
                if kind == 1 {
                    Self::Open { session, terms }
                } else {
                    Self::Accept { session, terms }
                }
            }
            3 => {
                let reason = Reason::from_wire(octets.try_get_u32()?);
                if !octets.is_empty() {
                    return Err(NotAFrame);
                }
                Self::Reset { session, reason }
            }
            4 => {
                let sequence = octets.try_get_u64()?;
                let transmission = octets.try_get_u64()?;
                let ack = Ack::read(&mut octets)?;
                let (fin, closed) = (flags & FIN != 0, flags & CLOSED != 0);
                // A segment that does not end the stream has octets, and does not close.
                if !fin && (octets.is_empty() || closed) {
                    return Err(NotAFrame);
                }
                Self::Data {
                    session,
                    sequence,
                    transmission,
                    ack,
                    fin,
                    closed,
                    payload: octets,
                }
            }
            5 => {
                let ack = Ack::read(&mut octets)?;
                if octets.len() > MAX_SELECTIVE || octets.last() == Some(&0) {
                    return Err(NotAFrame);
                }
                Self::Ack {
                    session,
                    ack,
                    poll: flags & POLL != 0,
                    selective: octets,
                }
            }
            _ => return Err(NotAFrame),
        };
        Ok(frame)
    }

    /// Reads the head of a DATA frame without flags, whose octets of the stream lie elsewhere; `None` for any other head.
    pub(super) fn read_data_head(head: &[u8; DATA_HEAD]) -> Option<DataHead> {
        let mut octets = head.as_slice();
        let (magic, version, kind) = (
            octets.try_get_u16().ok()?,
            octets.try_get_u8().ok()?,
            octets.try_get_u8().ok()?,
        );
        // Flags, and the octets that mean nothing.
        let none = octets.try_get_u32().ok()?;
        if (magic, version, kind, none) != (MAGIC, VERSION, 4, 0) {
            return None;
        }
        Some(DataHead {
            session: octets.try_get_u64().ok()?,
            sequence: octets.try_get_u64().ok()?,
            transmission: octets.try_get_u64().ok()?,
            ack: Ack::read(&mut octets).ok()?,
        })
    }

    /// Writes the head, which is all but the octets of the stream, and replaces the contents of `head`.
    pub fn write_head(&self, head: &mut Vec<u8>) {
        head.clear();
        head.put_u16(MAGIC);
        head.put_u8(VERSION);
        let put = |head: &mut Vec<u8>, kind: u8, flags: u16, session: u64| {
            head.put_u8(kind);
            head.put_u16(flags);
            head.put_u16(0);
            head.put_u64(session);
        };
        match self {
            Self::Open { session, terms } => {
                put(head, 1, 0, *session);
                terms.write(head);
            }
            Self::Accept { session, terms } => {
                put(head, 2, 0, *session);
                terms.write(head);
            }
            Self::Reset { session, reason } => {
                put(head, 3, 0, *session);
                head.put_u32(reason.to_wire());
            }
            Self::Data {
                session,
                sequence,
                transmission,
                ack,
                fin,
                closed,
                ..
            } => {
                let flags = if *fin { FIN } else { 0 } | if *closed { CLOSED } else { 0 };
                put(head, 4, flags, *session);
                head.put_u64(*sequence);
                head.put_u64(*transmission);
                ack.write(head);
            }
            Self::Ack {
                session,
                ack,
                poll,
                selective,
            } => {
                put(head, 5, if *poll { POLL } else { 0 }, *session);
                ack.write(head);
                head.put_slice(selective);
            }
        }
    }

    /// Returns the octets of the stream that a DATA frame carries; empty for every other frame.
    #[must_use]
    pub fn into_payload(self) -> Bytes {
        match self {
            Self::Data { payload, .. } => payload,
            _ => Bytes::new(),
        }
    }
}

impl Terms {
    fn write(&self, head: &mut Vec<u8>) {
        head.put_u64(self.incarnation);
        head.put_u64(self.buffer);
        head.put_u64(self.window);
        head.put_u32(self.max_sdu);
    }
}

impl Ack {
    fn read(octets: &mut impl Buf) -> Result<Self, NotAFrame> {
        Ok(Self {
            next: octets.try_get_u64()?,
            seen: octets.try_get_u64()?,
            window: octets.try_get_u64()?,
        })
    }

    fn write(&self, head: &mut Vec<u8>) {
        head.put_u64(self.next);
        head.put_u64(self.seen);
        head.put_u64(self.window);
    }
}

impl From<bytes::TryGetError> for NotAFrame {
    fn from(_: bytes::TryGetError) -> Self {
        Self
    }
}

/// Returns how much of a receive buffer a frame of `octets` octets takes at most: the memory that Linux counts for it.
/// That is the frame and the kernel's data beside it, rounded up to a power of two, and the buffer's description.
///
/// Measured on Linux 6.1 with its default buffer of 212,992: 277 frames of 48 octets, 92 of 1,500, 13 of 9,180, 2 of 65,535.
#[must_use]
pub fn cost(octets: usize) -> u64 {
    const BESIDE: u64 = 384;
    const DESCRIPTION: u64 = 256;
    let octets = u64::try_from(octets).unwrap_or(u64::MAX);
    let block = octets.saturating_add(BESIDE).checked_next_power_of_two();
    block.unwrap_or(u64::MAX).saturating_add(DESCRIPTION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(frame: &Frame) -> Bytes {
        let mut octets = Vec::new();
        frame.write_head(&mut octets);
        octets.extend(frame.clone().into_payload());
        octets.into()
    }

    fn terms() -> impl Strategy<Value = Terms> {
        (any::<u64>(), any::<u64>(), any::<u64>(), MIN_SDU..=MAX_SDU).prop_map(
            |(incarnation, buffer, window, max_sdu)| Terms {
                incarnation,
                buffer,
                window,
                max_sdu,
            },
        )
    }

    fn ack() -> impl Strategy<Value = Ack> {
        any::<(u64, u64, u64)>().prop_map(|(next, seen, window)| Ack { next, seen, window })
    }

    fn frames() -> impl Strategy<Value = Frame> {
        let octets = prop::collection::vec(any::<u8>(), 0..64);
        let selective = prop::collection::vec(any::<u8>(), 0..MAX_SELECTIVE);
        prop_oneof![
            (any::<u64>(), terms()).prop_map(|(session, terms)| Frame::Open { session, terms }),
            (any::<u64>(), terms()).prop_map(|(session, terms)| Frame::Accept { session, terms }),
            (any::<u64>(), any::<u32>()).prop_map(|(session, reason)| Frame::Reset {
                session,
                reason: Reason::from_wire(reason)
            }),
            (any::<(u64, u64, u64, bool, bool)>(), ack(), octets).prop_map(
                |((session, sequence, transmission, fin, closed), ack, payload)| {
                    let fin = fin || closed || payload.is_empty();
                    Frame::Data {
                        session,
                        sequence,
                        transmission,
                        ack,
                        fin,
                        closed,
                        payload: payload.into(),
                    }
                }
            ),
            (any::<(u64, bool)>(), ack(), selective).prop_map(
                |((session, poll), ack, mut selective)| {
                    selective.push(1);
                    Frame::Ack {
                        session,
                        ack,
                        poll,
                        selective: selective.into(),
                    }
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn every_frame_is_read_as_it_was_written(frame in frames()) {
            prop_assert_eq!(Frame::read(written(&frame)), Ok(frame));
        }

        #[test]
        fn whatever_is_read_is_written_as_the_same_octets(octets in prop::collection::vec(any::<u8>(), 0..96), kind in 0u8..7) {
            let mut frame = vec![0x5a, 0x41, 1, kind, 0, 0, 0, 0];
            frame.extend(octets);
            let frame = Bytes::from(frame);
            if let Ok(read) = Frame::read(frame.clone()) {
                prop_assert_eq!(written(&read), frame);
            }
        }
    }

    proptest! {
        #[test]
        fn a_head_is_read_as_that_of_its_frame(frame in frames()) {
            let octets = written(&frame);
            let Some(head) = octets.first_chunk() else {
                return Ok(());
            };
            let expected = match frame {
                Frame::Data { session, sequence, transmission, ack, fin: false, closed: false, .. } => {
                    Some(DataHead { session, sequence, transmission, ack })
                }
                _ => None,
            };
            prop_assert_eq!(Frame::read_data_head(head), expected);
        }
    }

    #[test]
    fn a_frame_that_is_cut_short_is_none() {
        let terms = Terms {
            incarnation: 1,
            buffer: 2,
            window: 3,
            max_sdu: 9180,
        };
        let open = written(&Frame::Open { session: 7, terms });
        for length in 0..open.len() {
            assert_eq!(Frame::read(open.slice(..length)), Err(NotAFrame));
        }
    }

    #[test]
    fn the_cost_of_a_frame_is_at_least_what_was_measured() {
        // Frames that a buffer of 212,992 held; the last one may exceed it.
        for (octets, held) in [(48, 277), (1_500, 92), (9_180, 13), (65_535, 2)] {
            assert!(cost(octets) * (held + 1) > 212_992, "{octets}");
            assert!(cost(octets) * (held - 1) <= 212_992, "{octets}");
        }
    }
}
