//! Headers of twelve octets to five and back, in streams that are cut anywhere. Sans I/O.

use bytes::{Buf, BytesMut};
use std::io::{self, IoSlice};
use zorb_cdr::Endian;
use zorb_giop::{HEADER_LEN, MessageHeader, Version};

/// Octets of a header of GIOPlite.
pub(super) const LITE_HEADER_LEN: usize = 5;

const KIND: u8 = 0b111;
const MINOR_SHIFT: u32 = 3;
const MINOR: u8 = 0b11;
const LITTLE_ENDIAN: u8 = 1 << 5;
const MORE_FRAGMENTS: u8 = 1 << 6;
const RESERVED: u8 = 1 << 7;

type Header = [u8; HEADER_LEN];
type Short = [u8; LITE_HEADER_LEN];

fn shortened(header: &Header) -> io::Result<(Short, u32)> {
    let read = MessageHeader::parse(header).map_err(io::Error::other)?;
    let mut rest = read.kind as u8 | (read.version.minor << MINOR_SHIFT);
    if read.endian.is_little() {
        rest |= LITTLE_ENDIAN;
    }
    if read.more_fragments {
        rest |= MORE_FRAGMENTS;
    }
    let [.., s0, s1, s2, s3] = *header;
    Ok(([s0, s1, s2, s3, rest], read.size))
}

fn lengthened(short: &Short) -> io::Result<(Header, u32)> {
    let [s0, s1, s2, s3, rest] = *short;
    let is_little = rest & LITTLE_ENDIAN != 0;
    let flags = u8::from(is_little) | (u8::from(rest & MORE_FRAGMENTS != 0) << 1);
    let minor = (rest >> MINOR_SHIFT) & MINOR;
    if rest & RESERVED != 0 || minor > Version::HIGHEST.minor {
        let what = "expected a header of GIOPlite";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let [g, i, o, p] = *b"GIOP";
    let size = match Endian::from_flag(is_little) {
        Endian::Little => u32::from_le_bytes([s0, s1, s2, s3]),
        Endian::Big => u32::from_be_bytes([s0, s1, s2, s3]),
    };
    let header = [g, i, o, p, 1, minor, flags, rest & KIND, s0, s1, s2, s3];
    Ok((header, size))
}

/// Chunks that one write looks at.
const MAX_SLICES: usize = 64;
/// Messages that one write begins.
const MAX_HEADERS: usize = 16;

/// The sending side: shortens the headers of GIOP messages.
#[derive(Debug, Default)]
pub(super) struct Shortener {
    /// The header that the next message begins with, as far as it has been taken.
    header: Header,
    taken: usize,
    /// Octets of its short form that have gone out already.
    sent: usize,
    /// Octets of the body that are still to come.
    body: usize,
}

/// A piece of what is written.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Nothing,
    /// A header: which, how much of it has gone out already, and how many octets of the long one come from the chunks.
    Header {
        number: usize,
        sent: usize,
        octets: usize,
    },
    /// Octets of a body.
    Body {
        chunk: usize,
        from: usize,
        to: usize,
    },
}

impl Shortener {
    /// Writes as many octets of the chunks as `write` takes when they are shortened, and returns how many those were.
    ///
    /// # Errors
    /// Those of `write`; and of kind `Other` for what is no message of GIOP.
    pub(super) fn write(
        &mut self,
        chunks: &[IoSlice<'_>],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut pieces = [Piece::Nothing; MAX_SLICES];
        let mut headers = [(Header::default(), Short::default(), 0); MAX_HEADERS];
        let (mut count, mut begun) = (0, 0);
        let (mut header, mut taken, mut sent, mut body) =
            (self.header, self.taken, self.sent, self.body);
        'chunks: for (index, chunk) in chunks.iter().enumerate() {
            let mut at = 0;
            while at < chunk.len() {
                if count == MAX_SLICES {
                    break 'chunks;
                }
                if body > 0 {
                    let to = chunk.len().min(at + body);
                    pieces[count] = Piece::Body {
                        chunk: index,
                        from: at,
                        to,
                    };
                    count += 1;
                    body -= to - at;
                    at = to;
                    continue;
                }
                if begun == MAX_HEADERS {
                    break 'chunks;
                }
                let octets = (HEADER_LEN - taken).min(chunk.len() - at);
                header[taken..taken + octets].copy_from_slice(&chunk[at..at + octets]);
                (taken, at) = (taken + octets, at + octets);
                if taken == HEADER_LEN {
                    let (short, size) = shortened(&header)?;
                    headers[begun] = (header, short, size as usize);
                    let before = if begun == 0 { self.taken } else { 0 };
                    pieces[count] = Piece::Header {
                        number: begun,
                        sent,
                        octets: HEADER_LEN - before,
                    };
                    (count, begun) = (count + 1, begun + 1);
                    (taken, sent, body) = (0, 0, size as usize);
                }
            }
        }
        let pieces = &pieces[..count];
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        for (slice, piece) in slices.iter_mut().zip(pieces) {
            *slice = IoSlice::new(match *piece {
                Piece::Nothing => &[],
                Piece::Header { number, sent, .. } => &headers[number].1[sent..],
                Piece::Body { chunk, from, to } => &chunks[chunk][from..to],
            });
        }
        // The beginning of a header at the end has no short form yet, so it is not written and yet taken.
        let mut left = match count {
            0 => 0,
            _ => write(&slices[..count])?,
        };
        let mut done = 0;
        for piece in pieces {
            match *piece {
                Piece::Nothing => {}
                Piece::Header {
                    number,
                    sent,
                    octets,
                } => {
                    let (header, _, size) = headers[number];
                    let rest = LITE_HEADER_LEN - sent;
                    if left < rest {
                        if left == 0 {
                            return Ok(done);
                        }
                        // All but one of its octets are taken: the last one keeps the message from seeming sent.
                        let known = HEADER_LEN - octets;
                        (self.header, self.taken) = (header, HEADER_LEN - 1);
                        self.sent = sent + left;
                        done += HEADER_LEN - 1 - known;
                        return match done {
                            0 => Err(io::ErrorKind::WouldBlock.into()),
                            done => Ok(done),
                        };
                    }
                    left -= rest;
                    done += octets;
                    (self.taken, self.sent, self.body) = (0, 0, size);
                }
                Piece::Body { from, to, .. } => {
                    let octets = left.min(to - from);
                    left -= octets;
                    done += octets;
                    self.body -= octets;
                    if octets < to - from {
                        return Ok(done);
                    }
                }
            }
        }
        if count < MAX_SLICES && begun < MAX_HEADERS {
            let before = if begun == 0 { self.taken } else { 0 };
            done += taken - before;
            (self.header, self.taken) = (header, taken);
        }
        Ok(done)
    }
}

/// The receiving side: lengthens the headers of GIOPlite messages.
#[derive(Debug, Default)]
pub(super) struct Lengthener {
    /// Octets received and not passed on yet.
    received: BytesMut,
    header: Header,
    /// Octets of the header that are still to be passed on.
    left: usize,
    /// Octets of the body that are.
    body: usize,
}

/// Octets that are received at a time at least.
const READ_OCTETS: usize = 8 << 10;

impl Lengthener {
    /// Passes on received octets while there is room; returns their number.
    ///
    /// # Errors
    /// Of kind `InvalidData` for what is no header of GIOPlite.
    pub(super) fn pass_on(&mut self, to: &mut BytesMut) -> io::Result<usize> {
        let before = to.len();
        loop {
            let room = to.capacity() - to.len();
            if room == 0 {
                break;
            }
            if self.left > 0 {
                let octets = self.left.min(room);
                let from = HEADER_LEN - self.left;
                to.extend_from_slice(&self.header[from..from + octets]);
                self.left -= octets;
            } else if self.body > 0 {
                let octets = self.body.min(room).min(self.received.len());
                if octets == 0 {
                    break;
                }
                to.extend_from_slice(&self.received[..octets]);
                self.received.advance(octets);
                self.body -= octets;
            } else if let Some(short) = self.received.first_chunk() {
                let (header, size) = lengthened(short)?;
                self.received.advance(LITE_HEADER_LEN);
                (self.header, self.left, self.body) = (header, HEADER_LEN, size as usize);
            } else {
                break;
            }
        }
        Ok(to.len() - before)
    }

    /// Whether all that is received next belongs to the body of a message and fits into so much room: then it needs not
    /// go through here.
    pub(super) fn is_within_body(&self, room: usize) -> bool {
        self.left == 0 && self.received.is_empty() && self.body >= room
    }

    /// So many octets of a body were received elsewhere.
    pub(super) fn received_body(&mut self, octets: usize) {
        self.body -= octets;
    }

    /// Where to receive more.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        self.received.reserve(READ_OCTETS);
        &mut self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_giop::MessageKind;

    fn message(kind: MessageKind, minor: u8, endian: Endian, body: usize) -> Vec<u8> {
        let header = MessageHeader {
            version: Version { major: 1, minor },
            endian,
            more_fragments: minor == 2 && body == 7,
            kind,
            size: body as u32,
        };
        let body = (0..body).map(|n| n as u8);
        header.to_octets().into_iter().chain(body).collect()
    }

    fn messages() -> Vec<u8> {
        [
            message(MessageKind::Request, 2, Endian::Little, 40),
            message(MessageKind::Reply, 2, Endian::Big, 7),
            message(MessageKind::CloseConnection, 0, Endian::Big, 0),
            message(MessageKind::LocateReply, 1, Endian::Little, 300),
            message(MessageKind::MessageError, 2, Endian::Little, 0),
        ]
        .concat()
    }

    /// Octets shortened in writes of `chunk` octets of which the other side takes `taken` at a time.
    fn shorten(octets: &[u8], chunk: usize, taken: usize) -> Vec<u8> {
        let mut shortener = Shortener::default();
        let mut out = Vec::new();
        let mut at = 0;
        while at < octets.len() {
            let end = octets.len().min(at + 3 * chunk);
            let chunks: Vec<_> = octets[at..end].chunks(chunk).map(IoSlice::new).collect();
            let done = shortener.write(&chunks, |slices| {
                let all: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
                let octets = all.len().min(taken);
                out.extend_from_slice(&all[..octets]);
                Ok(octets)
            });
            match done {
                Ok(done) => {
                    assert!(done > 0, "something is taken of {chunk} and {taken}");
                    at += done;
                }
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        out
    }

    fn lengthen(octets: &[u8], piece: usize, room: usize) -> io::Result<Vec<u8>> {
        let mut lengthener = Lengthener::default();
        let mut out = Vec::new();
        for piece in octets.chunks(piece) {
            lengthener.room().extend_from_slice(piece);
            loop {
                let mut to = BytesMut::with_capacity(room);
                if lengthener.pass_on(&mut to)? == 0 {
                    break;
                }
                out.extend_from_slice(&to);
            }
        }
        Ok(out)
    }

    #[test]
    fn messages_are_the_same_again_however_they_are_cut() {
        let octets = messages();
        let plain = shorten(&octets, octets.len(), usize::MAX);
        assert_eq!(
            plain.len(),
            octets.len() - 5 * 7,
            "seven octets fewer a message"
        );
        for chunk in 1..=octets.len().min(60) {
            for taken in [1, 2, 3, 4, 5, 6, 11, 40, usize::MAX] {
                assert_eq!(shorten(&octets, chunk, taken), plain, "{chunk}, {taken}");
            }
        }
        for piece in 1..=plain.len() {
            for room in [1, 5, 12, 13, 4_096] {
                assert_eq!(lengthen(&plain, piece, room).unwrap(), octets);
            }
        }
    }

    #[test]
    fn what_is_no_header_is_an_error_and_any_octets_are_read_without_harm() {
        let error = lengthen(&[0, 0, 0, 0, 0x80], 5, 64).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        // A minor version of 3, and a client that speaks GIOP.
        assert!(lengthen(&[0, 0, 0, 0, 0b1_1000], 5, 64).is_err());
        let _ = lengthen(b"GIOP\x01\x02\x01\x00", 3, 64);
        for rest in 0..=u8::MAX {
            for size in [0, 1, u8::MAX] {
                let _ = lengthen(&[size, 0, size, size, rest, 1, 2, 3, 4, 5], 2, 64);
            }
        }
        let not_giop = Shortener::default().write(&[IoSlice::new(b"twelve octets")], |_| Ok(1));
        assert!(not_giop.is_err());
    }
}
