//! The sending side: messages of GIOP become frames. Sans I/O.

use super::frame::{
    FRAME, Frame, FrameOctets, GIOP_HEADER, Kind, NumbersByPrefix, Prefix, message_octets,
    prefix_end,
};
use std::io::{self, IoSlice};

/// The limit on slices of one write.
const MAX_SLICES: usize = 64;
/// Places for the slices of a message or two in up to [`FEW_CHUNKS`] chunks: most writes are no more, and a place takes time to
/// make.
const FEW_SLICES: usize = 5;
const FEW_CHUNKS: usize = 2;
/// A frame and what follows it are copied together if they are so few octets: two slices cost the kernel more than the copy.
const MAX_COPIED: usize = FRAME + 256;
/// The most octets behind the prefix of a [short](Sender::short) message.
const MAX_SHORT: usize = 64;

/// Turns the messages of a connection into frames.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    numbers: NumbersByPrefix,
    /// The number of the last message.
    last: usize,
    /// Octets of the message at hand that go out as they are.
    body: usize,
    /// A frame of which a part has been written.
    begun: Option<Begun>,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    frame: FrameOctets,
    written: usize,
    /// Octets of the message, in front of those of `body`, that the frame stands for: one is held back until it is written, so
    /// that the message does not seem to be sent.
    holds_back: bool,
}

/// A piece of a write.
#[derive(Debug, Clone, Copy)]
enum Piece<'a> {
    Frame {
        octets: FrameOctets,
        from: usize,
        /// Octets of the message that count as taken when it is written.
        stands_for: usize,
        /// Octets of the message that follow it.
        body: usize,
        /// The prefix that has a number once it is written.
        names: Option<&'a [u8]>,
    },
    Octets(&'a [u8]),
}

/// Octets in chunks, of which some have been taken.
#[derive(Debug, Clone)]
struct Chunks<'a> {
    now: &'a [u8],
    rest: &'a [IoSlice<'a>],
}

impl<'a> Chunks<'a> {
    fn new(chunks: &'a [IoSlice<'a>]) -> Self {
        let mut all = Self {
            now: &[],
            rest: chunks,
        };
        all.settle();
        all
    }

    /// Goes to the next octet.
    fn settle(&mut self) {
        while self.now.is_empty() {
            let Some((first, rest)) = self.rest.split_first() else {
                return;
            };
            (self.now, self.rest) = (first, rest);
        }
    }

    /// Takes up to so many octets that are in one piece.
    fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = (self.now.split_at_checked(most)).unwrap_or((self.now, &[]));
        self.now = rest;
        self.settle();
        taken
    }
}

impl Sender {
    /// Writes messages in frames by `write`, which takes as many octets of its slices as it likes. Returns the octets of
    /// the chunks that were taken.
    ///
    /// # Errors
    /// Those of `write`; `WouldBlock` where it took no octets that count; of kind `Other` for octets that are no message of GIOP.
    pub(crate) fn write(
        &mut self,
        chunks: &[IoSlice<'_>],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if let [message] = chunks
            && let Some((frame, rest)) = self.short(message)
        {
            return self.write_short(frame, message, rest, write);
        }
        match chunks.len() <= FEW_CHUNKS {
            true => self.write_pieces::<FEW_SLICES>(chunks, write),
            false => self.write_pieces::<MAX_SLICES>(chunks, write),
        }
    }

    /// The frame of a whole message that begins as the last one did, and its rest, which is short: most calls without arguments
    /// are no more.
    #[inline]
    fn short<'a>(&self, message: &'a [u8]) -> Option<(FrameOctets, &'a [u8])> {
        if self.begun.is_some() || self.body > 0 || message_octets(message)? != message.len() {
            return None;
        }
        let prefix = self.numbers.prefixes.get(self.last)?;
        if !prefix.begins(message) {
            return None;
        }
        let rest = message.get(prefix.octets()..)?;
        if rest.len() > MAX_SHORT {
            return None;
        }
        let frame = Frame {
            length: u32::try_from(rest.len()).ok()?,
            id: Prefix::id(message),
            number: u16::try_from(self.last).ok()?,
            kind: Kind::Numbered,
        };
        Some((frame.to_octets(), rest))
    }

    fn write_short(
        &mut self,
        frame: FrameOctets,
        message: &[u8],
        rest: &[u8],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut together = [0; FRAME + MAX_SHORT];
        let (front, behind) = together.split_at_mut(FRAME);
        front.copy_from_slice(&frame);
        if let Some(behind) = behind.get_mut(..rest.len()) {
            behind.copy_from_slice(rest);
        }
        let end = FRAME.saturating_add(rest.len());
        let written = write(&[IoSlice::new(together.get(..end).unwrap_or_default())])?;
        if written == end {
            return Ok(message.len());
        }
        let pieces = [
            Piece::Frame {
                octets: frame,
                from: 0,
                stands_for: message.len().saturating_sub(rest.len()),
                body: rest.len(),
                names: None,
            },
            Piece::Octets(rest),
        ];
        match self.note(&pieces, written) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    /// Writes up to so many pieces.
    fn write_pieces<const PIECES: usize>(
        &mut self,
        chunks: &[IoSlice<'_>],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut pieces = [Piece::Octets(&[]); PIECES];
        let count = self.plan(chunks, &mut pieces)?;
        let pieces = pieces.get(..count).unwrap_or(&pieces);
        let mut slices = [IoSlice::new(&[]); PIECES];
        for (slice, piece) in slices.iter_mut().zip(pieces) {
            *slice = IoSlice::new(match piece {
                Piece::Frame { octets, from, .. } => octets.get(*from..).unwrap_or_default(),
                Piece::Octets(octets) => octets,
            });
        }
        let mut together = [0; MAX_COPIED];
        let written = match slices.get(..count).unwrap_or(&slices) {
            [] => return Ok(0),
            [first, second] if first.len().saturating_add(second.len()) <= MAX_COPIED => {
                let end = first.len().saturating_add(second.len());
                let (front, behind) = together.split_at_mut(first.len());
                front.copy_from_slice(first);
                if let Some(behind) = behind.get_mut(..second.len()) {
                    behind.copy_from_slice(second);
                }
                write(&[IoSlice::new(together.get(..end).unwrap_or_default())])?
            }
            slices => write(slices)?,
        };
        match self.note(pieces, written) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    /// Fills in the pieces of the next write, and returns how many there are.
    fn plan<'a>(&self, chunks: &'a [IoSlice<'a>], pieces: &mut [Piece<'a>]) -> io::Result<usize> {
        let most = pieces.len();
        let mut chunks = Chunks::new(chunks);
        let mut places = pieces.iter_mut();
        let mut body = self.body;
        if let Some(begun) = self.begun {
            if chunks.now.is_empty() {
                return Ok(0);
            }
            let held = usize::from(begun.holds_back);
            chunks.take(held);
            if let Some(place) = places.next() {
                *place = Piece::Frame {
                    octets: begun.frame,
                    from: begun.written,
                    stands_for: held,
                    body,
                    names: None,
                };
            }
        }
        // A message that names a prefix is the last of its write: what the write takes of it decides whether it has a number.
        let mut names_one = false;
        while !chunks.now.is_empty() {
            if names_one && body == 0 {
                break;
            }
            let Some(place) = places.next() else { break };
            if body > 0 {
                let octets = chunks.take(body);
                body = body.saturating_sub(octets.len());
                *place = Piece::Octets(octets);
                continue;
            }
            let Some(octets) = message_octets(chunks.now) else {
                return Err(io::Error::other("expected a message of GIOP"));
            };
            let (frame, stands_for, names) = self.frame(chunks.now, octets)?;
            names_one = names.is_some();
            chunks.take(stands_for);
            body = octets.saturating_sub(stands_for);
            *place = Piece::Frame {
                octets: frame.to_octets(),
                from: 0,
                stands_for,
                body,
                names,
            };
        }
        let left = places.len();
        Ok(most.saturating_sub(left))
    }

    /// The frame of a message of so many octets, of which these are here; the octets that it stands for; and the prefix that
    /// it names.
    fn frame<'a>(
        &self,
        here: &'a [u8],
        octets: usize,
    ) -> io::Result<(Frame, usize, Option<&'a [u8]>)> {
        let message = here.get(..octets).unwrap_or(here);
        let length = |octets: usize| u32::try_from(octets).map_err(io::Error::other);
        if let Some((number, prefix)) = self.find(message) {
            let rest = octets.saturating_sub(prefix);
            let frame = Frame {
                length: length(rest)?,
                id: Prefix::id(message),
                number: u16::try_from(number).map_err(io::Error::other)?,
                kind: Kind::Numbered,
            };
            return Ok((frame, prefix, None));
        }
        let names = prefix_end(message).and_then(|end| message.get(..end));
        let names =
            names.and_then(|prefix| Some((prefix, self.numbers.prefixes.next(prefix.len())?)));
        let whole = Frame {
            length: length(octets)?,
            id: 0,
            number: 0,
            kind: Kind::Whole,
        };
        let frame = match names {
            None => whole,
            Some((prefix, next)) => Frame {
                id: length(prefix.len())?,
                number: u16::try_from(next).map_err(io::Error::other)?,
                kind: Kind::Named,
                ..whole
            },
        };
        Ok((frame, 0, names.map(|(prefix, _)| prefix)))
    }

    /// The number that stands for the beginning of a message, and the octets that it stands for.
    #[inline]
    fn find(&self, message: &[u8]) -> Option<(usize, usize)> {
        if message.len() < GIOP_HEADER {
            return None;
        }
        let last = self.numbers.prefixes.get(self.last);
        if let Some(prefix) = last.filter(|prefix| prefix.begins(message)) {
            return Some((self.last, prefix.octets()));
        }
        let (number, prefix) = self.numbers.find(message)?;
        Some((number, prefix.octets()))
    }

    /// Notes what a write took of its pieces, and returns the octets of the messages that count as taken.
    fn note(&mut self, pieces: &[Piece<'_>], written: usize) -> usize {
        let (mut left, mut taken) = (written, 0_usize);
        for piece in pieces {
            match *piece {
                Piece::Octets(octets) => {
                    let part = octets.len().min(left);
                    self.body = self.body.saturating_sub(part);
                    taken = taken.saturating_add(part);
                    left = left.saturating_sub(part);
                    if part < octets.len() {
                        break;
                    }
                }
                Piece::Frame {
                    octets,
                    from,
                    stands_for,
                    body,
                    names,
                } => {
                    if left == 0 {
                        break;
                    }
                    if let Some(prefix) = names {
                        self.numbers.push(prefix);
                    }
                    self.body = body;
                    let rest = FRAME.saturating_sub(from);
                    let part = rest.min(left);
                    left = left.saturating_sub(part);
                    if part < rest {
                        // The last octet that it stands for is held back.
                        taken = taken.saturating_add(stands_for.saturating_sub(1));
                        self.begun = Some(Begun {
                            frame: octets,
                            written: from.saturating_add(part),
                            holds_back: stands_for > 0,
                        });
                        break;
                    }
                    self.begun = None;
                    taken = taken.saturating_add(stands_for);
                    if names.is_none()
                        && let Ok(frame) = Frame::of(&octets)
                        && frame.kind == Kind::Numbered
                    {
                        self.last = usize::from(frame.number);
                    }
                }
            }
        }
        taken
    }
}
