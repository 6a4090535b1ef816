//! Translates headers of twelve octets to five and back, in streams that are cut anywhere. Sans I/O.

use super::header::{Header, LITE_HEADER_LEN, MORE, Short, lengthened, shortened};
use bytes::{Buf, BytesMut};
use std::io::{self, IoSlice};
use zorb_giop::HEADER_LEN;

/// Splits octets at `count`, or at their end if there are fewer.
#[inline]
fn split(octets: &[u8], count: usize) -> (&[u8], &[u8]) {
    octets.split_at_checked(count).unwrap_or((octets, &[]))
}

/// Copies octets to the beginning of `place`, if they fit.
#[inline]
fn copy(place: &mut [u8], octets: &[u8]) {
    if let Some(place) = place.get_mut(..octets.len()) {
        place.copy_from_slice(octets);
    }
}

/// Octets that may be appended without an allocation.
#[inline]
pub(super) fn room(buffer: &BytesMut) -> usize {
    buffer.capacity().saturating_sub(buffer.len())
}

/// The limit on contents of one write.
const MAX_SLICES: usize = 64;
/// The limit on headers of one write.
const MAX_HEADERS: usize = 16;

/// The sending side: shortens the headers of GIOP messages.
#[derive(Debug, Default)]
pub(super) struct Shortener {
    /// The header of the next message, of which `taken` octets are filled.
    header: Header,
    taken: usize,
    /// Octets of its short form that have been written.
    sent: usize,
    /// Octets of the current body that are still to be written.
    body: usize,
}

/// The limit on chunks of a message that takes the fast path.
const MAX_CHUNKS: usize = 8;

/// The content of a slice to be written.
#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    /// The next of the headers.
    Header,
    /// Octets of a body.
    Body(&'a [u8]),
}

impl Shortener {
    /// Writes the chunks with shortened headers by `write`, and returns the octets of the chunks that were taken.
    ///
    /// # Errors
    /// Those of `write`; of kind `Other` for octets that are no message of GIOP.
    pub(super) fn write(
        &mut self,
        chunks: &[IoSlice<'_>],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.is_between_messages()
            && chunks.len() <= MAX_CHUNKS
            && let Some((first, rest)) = chunks.split_first()
            && let Some((header, body)) = first.split_first_chunk()
        {
            let (short, size) = shortened(header)?;
            let behind =
                (rest.iter()).fold(body.len(), |sum, chunk| sum.saturating_add(chunk.len()));
            if behind <= size as usize {
                return self.write_message((header, short, size as usize), body, rest, write);
            }
        }
        self.write_any(chunks, write)
    }

    /// Writes a message, or the beginning of one, with a whole header.
    #[inline]
    fn write_message(
        &mut self,
        (header, short, size): (&Header, Short, usize),
        body: &[u8],
        rest: &[IoSlice<'_>],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut slices = [IoSlice::new(&[]); MAX_CHUNKS + 1];
        let [first, second, others @ ..] = &mut slices;
        (*first, *second) = (IoSlice::new(&short), IoSlice::new(body));
        for (slice, chunk) in others.iter_mut().zip(rest) {
            *slice = *chunk;
        }
        let count = rest.len().saturating_add(2);
        let written = write(slices.get(..count).unwrap_or(&slices))?;
        self.has_written(header, size, written)
    }

    /// Whether the next octet begins a message.
    pub(super) const fn is_between_messages(&self) -> bool {
        self.taken == 0 && self.body == 0
    }

    /// Records that `written` octets of a message were written, which has this header and a body of `size` octets. Returns
    /// the octets of the long form that count as written.
    ///
    /// # Errors
    /// `WouldBlock` if there are none.
    #[inline]
    pub(super) fn has_written(
        &mut self,
        header: &Header,
        size: usize,
        written: usize,
    ) -> io::Result<usize> {
        let Some(of_body) = written.checked_sub(LITE_HEADER_LEN) else {
            return self.stop_within(*header, written, 0);
        };
        self.body = size.saturating_sub(of_body);
        Ok(HEADER_LEN.saturating_add(of_body))
    }

    /// Records that `sent` octets of a short header were written. Reports all but one of the long header's octets as
    /// written: the last one is held back, so that the message does not seem to be sent. `known`: the octets reported
    /// before.
    ///
    /// # Errors
    /// `WouldBlock` if no further octets are reported.
    #[cold]
    fn stop_within(&mut self, header: Header, sent: usize, known: usize) -> io::Result<usize> {
        (self.header, self.taken, self.sent) = (header, HEADER_LEN - 1, sent);
        match (HEADER_LEN - 1).saturating_sub(known) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    /// The slow path: writes any number of messages, which may begin and end anywhere in the chunks.
    fn write_any(
        &mut self,
        chunks: &[IoSlice<'_>],
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut contents = [Content::Header; MAX_SLICES];
        let mut headers = [(Header::default(), Short::default(), 0); MAX_HEADERS];
        let (mut count, mut begun) = (0_usize, 0_usize);
        let (mut header, mut taken, mut body) = (self.header, self.taken, self.body);
        'chunks: for chunk in chunks {
            let mut rest: &[u8] = chunk;
            while !rest.is_empty() {
                let Some(content) = contents.get_mut(count) else {
                    break 'chunks;
                };
                if body > 0 {
                    let (part, behind) = split(rest, body);
                    *content = Content::Body(part);
                    count = count.saturating_add(1);
                    body = body.saturating_sub(part.len());
                    rest = behind;
                    continue;
                }
                let Some(begin) = headers.get_mut(begun) else {
                    break 'chunks;
                };
                let place = header.get_mut(taken..).unwrap_or_default();
                let (part, behind) = split(rest, place.len());
                copy(place, part);
                taken = taken.saturating_add(part.len());
                rest = behind;
                if taken == HEADER_LEN {
                    let (short, size) = shortened(&header)?;
                    *begin = (header, short, size as usize);
                    *content = Content::Header;
                    (count, begun) = (count.saturating_add(1), begun.saturating_add(1));
                    (taken, body) = (0, size as usize);
                }
            }
        }
        let contents = contents.get(..count).unwrap_or(&contents);
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut shorts = headers.iter().map(|(_, short, _)| short);
        // A part of the first header may have been written already.
        let mut sent = self.sent;
        for (slice, content) in slices.iter_mut().zip(contents) {
            *slice = IoSlice::new(match *content {
                Content::Header => {
                    let from = core::mem::take(&mut sent);
                    (shorts.next().and_then(|short| short.get(from..))).unwrap_or_default()
                }
                Content::Body(octets) => octets,
            });
        }
        // An incomplete header at the end has no short form yet: it is stored, counts as taken, and is not written.
        let mut left = match slices.get(..count).unwrap_or(&slices) {
            [] => 0,
            slices => write(slices)?,
        };
        let mut done = 0_usize;
        let mut begins = headers.iter();
        for content in contents {
            match *content {
                Content::Header => {
                    let Some((header, _, size)) = begins.next() else {
                        return Ok(done);
                    };
                    let rest = LITE_HEADER_LEN.saturating_sub(self.sent);
                    let Some(behind) = left.checked_sub(rest) else {
                        if left == 0 {
                            return Ok(done);
                        }
                        let sent = self.sent.saturating_add(left);
                        return match self.stop_within(*header, sent, self.taken) {
                            Err(_) if done > 0 => Ok(done),
                            stopped => stopped.map(|taken| done.saturating_add(taken)),
                        };
                    };
                    left = behind;
                    done = done.saturating_add(HEADER_LEN.saturating_sub(self.taken));
                    (self.taken, self.sent, self.body) = (0, 0, *size);
                }
                Content::Body(part) => {
                    let octets = left.min(part.len());
                    left = left.saturating_sub(octets);
                    done = done.saturating_add(octets);
                    self.body = self.body.saturating_sub(octets);
                    if octets < part.len() {
                        return Ok(done);
                    }
                }
            }
        }
        if count < MAX_SLICES && begun < MAX_HEADERS {
            let before = if begun == 0 { self.taken } else { 0 };
            done = done.saturating_add(taken.saturating_sub(before));
            (self.header, self.taken) = (header, taken);
        }
        Ok(done)
    }
}

/// The receiving side: lengthens the headers of GIOPlite messages.
///
/// At the beginning of a message, octets are received behind [`MORE`] octets of room, so that the long header fits in
/// front of the body in place. Octets after a message in the same read are copied.
#[derive(Debug, Default)]
pub(super) struct Lengthener {
    /// Octets that were received and not passed on yet.
    received: BytesMut,
    header: Header,
    /// Octets of the header that are still to be passed on.
    left: usize,
    /// Octets of the body that are still to be passed on.
    body: usize,
}

/// The least capacity of a read into the buffer for copying, in octets.
const READ_OCTETS: usize = 8 << 10;
/// The least room for receiving in place, in octets.
pub(super) const LEAST_ROOM: usize = 64;

impl Lengthener {
    /// Receives by `read`, which appends to a buffer, and appends lengthened messages to `to`. Returns the number of
    /// octets; 0 is the end of the stream.
    ///
    /// # Errors
    /// Those of `read`; of kind `InvalidInput` if `to` has no room, and `InvalidData` for an invalid header of
    /// GIOPlite.
    #[inline]
    pub(super) fn read(
        &mut self,
        to: &mut BytesMut,
        mut read: impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let room = room(to);
        if self.is_between_reads() && (room >= LEAST_ROOM || self.body >= room && room > 0) {
            if !self.is_between_messages() {
                return self.read_body(to, &mut read);
            }
            if let Some(octets) = self.read_message(to, &mut read)? {
                return Ok(octets);
            }
        }
        self.read_copied(to, read)
    }

    /// Whether no octets of an earlier read are left, so that the next read can go to the caller's buffer.
    #[inline]
    fn is_between_reads(&self) -> bool {
        self.left == 0 && self.received.is_empty()
    }

    /// Receives the beginning of a message in place; `None` if its header is incomplete.
    #[inline]
    fn read_message(
        &mut self,
        to: &mut BytesMut,
        read: &mut impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        let before = to.len();
        to.extend_from_slice(&[0; MORE]);
        let octets = match read(to) {
            Ok(octets @ 1..) => octets,
            end => {
                to.truncate(before);
                return end.map(Some);
            }
        };
        self.has_read(octets, before, to)
    }

    /// Passes on `octets` that were received at the beginning of a message, behind [`MORE`] octets of room at `before`;
    /// `None` if its header is incomplete.
    ///
    /// # Errors
    /// Of kind `InvalidData` for an invalid header of GIOPlite.
    pub(super) fn has_read(
        &mut self,
        octets: usize,
        before: usize,
        to: &mut BytesMut,
    ) -> io::Result<Option<usize>> {
        let came = to.get(before.saturating_add(MORE)..).unwrap_or_default();
        let Some(short) = came.first_chunk() else {
            self.received.extend_from_slice(came);
            to.truncate(before);
            return Ok(None);
        };
        let (header, size) = match lengthened(short) {
            Ok(lengthened) => lengthened,
            Err(error) => {
                to.truncate(before);
                return Err(error);
            }
        };
        if let Some(front) = to.get_mut(before..).and_then(<[u8]>::first_chunk_mut) {
            *front = header;
        }
        self.body = size as usize;
        let of_body = octets.saturating_sub(LITE_HEADER_LEN);
        self.end_body(of_body, to);
        Ok(Some(to.len().saturating_sub(before)))
    }

    /// Whether the next octet that is received begins a message.
    #[inline]
    pub(super) fn is_between_messages(&self) -> bool {
        self.is_between_reads() && self.body == 0
    }

    /// Receives more of a body.
    #[inline]
    fn read_body(
        &mut self,
        to: &mut BytesMut,
        read: &mut impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let before = to.len();
        let octets = read(to)?;
        self.end_body(octets, to);
        Ok(to.len().saturating_sub(before))
    }

    /// Counts octets that were received in place: of the body, and after it.
    #[inline]
    fn end_body(&mut self, octets: usize, to: &mut BytesMut) {
        match self.body.checked_sub(octets) {
            Some(rest) => self.body = rest,
            None => self.pass_on_behind(octets.saturating_sub(self.body), to),
        }
    }

    /// Moves the last `octets`, which follow the end of a message, to the own buffer and passes them on with long
    /// headers.
    #[cold]
    fn pass_on_behind(&mut self, octets: usize, to: &mut BytesMut) {
        self.body = 0;
        let end = to.len().saturating_sub(octets);
        self.received
            .extend_from_slice(to.get(end..).unwrap_or_default());
        to.truncate(end);
        // An invalid header is an error of the next read: the message before it is whole.
        let _ = self.pass_on(to);
    }

    /// Receives into the own buffer, and passes on from there.
    #[cold]
    fn read_copied(
        &mut self,
        to: &mut BytesMut,
        mut read: impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if room(to) == 0 {
            // A result of 0 octets would mean the end of the stream.
            return Err(io::ErrorKind::InvalidInput.into());
        }
        loop {
            let octets = self.pass_on(to)?;
            if octets > 0 {
                return Ok(octets);
            }
            self.received.reserve(READ_OCTETS);
            if read(&mut self.received)? == 0 {
                return Ok(0);
            }
        }
    }

    /// Passes on received octets while there is room; returns their number.
    ///
    /// # Errors
    /// Of kind `InvalidData` for an invalid header of GIOPlite.
    fn pass_on(&mut self, to: &mut BytesMut) -> io::Result<usize> {
        let before = to.len();
        loop {
            let room = room(to);
            if room == 0 {
                break;
            }
            if self.left > 0 {
                let from = HEADER_LEN.saturating_sub(self.left);
                let (part, _) = split(self.header.get(from..).unwrap_or_default(), room);
                to.extend_from_slice(part);
                self.left = self.left.saturating_sub(part.len());
            } else if self.body > 0 {
                let (part, _) = split(&self.received, room.min(self.body));
                let octets = part.len();
                if octets == 0 {
                    break;
                }
                to.extend_from_slice(part);
                self.received.advance(octets);
                self.body = self.body.saturating_sub(octets);
            } else if let Some(short) = self.received.first_chunk() {
                let (header, size) = match lengthened(short) {
                    Ok(lengthened) => lengthened,
                    // Passes the whole messages on first; the next read finds the error again.
                    Err(_) if to.len() > before => break,
                    Err(error) => return Err(error),
                };
                self.received.advance(LITE_HEADER_LEN);
                (self.header, self.left, self.body) = (header, HEADER_LEN, size as usize);
            } else {
                break;
            }
        }
        Ok(to.len().saturating_sub(before))
    }

    /// Whether no octets can be passed on before more are received.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.left == 0
            && (self.received.is_empty() || self.body == 0 && self.received.len() < LITE_HEADER_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::Endian;
    use zorb_giop::{MessageHeader, MessageKind, Version};

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

    /// Shortens octets in writes of `chunk` octets, of which the peer takes `taken` at a time.
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

    /// Lengthens octets that arrive in contents, each after the previous one has been read, into non-empty buffers with
    /// this much room.
    fn lengthen(octets: &[u8], content: usize, room: usize) -> io::Result<Vec<u8>> {
        const BEFORE: &[u8] = b"before";
        let mut lengthener = Lengthener::default();
        let mut out = Vec::new();
        for content in octets.chunks(content) {
            let mut rest = content;
            loop {
                let mut to = BytesMut::with_capacity(BEFORE.len() + room);
                to.extend_from_slice(BEFORE);
                let read = lengthener.read(&mut to, |to| {
                    let octets = rest.len().min(to.capacity() - to.len());
                    let (now, later) = rest.split_at(octets);
                    to.extend_from_slice(now);
                    rest = later;
                    match octets {
                        0 => Err(io::ErrorKind::WouldBlock.into()),
                        octets => Ok(octets),
                    }
                });
                assert_eq!(&to[..BEFORE.len()], BEFORE);
                match read {
                    Ok(octets) => {
                        assert_eq!(BEFORE.len() + octets, to.len());
                        out.extend_from_slice(&to[BEFORE.len()..]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        assert_eq!(to.len(), BEFORE.len());
                        assert!(rest.is_empty() && lengthener.waits());
                        break;
                    }
                    Err(error) => return Err(error),
                }
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
        for content in 1..=plain.len() {
            for room in [1, 5, 12, 13, 64, 71, 100, 4_096] {
                assert_eq!(lengthen(&plain, content, room).unwrap(), octets);
            }
        }
    }

    #[test]
    fn what_is_no_header_is_an_error_and_any_octets_are_read_without_harm() {
        let error = lengthen(&[0, 0, 0, 0, 0x80], 5, 64).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        // A minor version of 3, and a client that sends GIOP's headers.
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
