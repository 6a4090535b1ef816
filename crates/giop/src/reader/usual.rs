//! Messages as most are: whole, and with the header of the one before but for its size.

use super::{Reader, total};
use crate::buffers;
use crate::header::{HEADER_LEN, MessageHeader, MessageKind, Version};
use bytes::Buf;
use zorb_cdr::Endian;

/// What a message header says apart from the size, to be compared as one number before another one is read.
#[derive(Debug)]
pub(super) struct Usual {
    /// The octets before the size.
    octets: u64,
    header: MessageHeader,
}

/// Octets of a message header before the size.
const BEFORE_SIZE: usize = 8;

impl Usual {
    /// Before the first message: one that hardly ever comes, but is what it says. (Whatever the octets were, a peer
    /// could send them.)
    pub(super) const FIRST: Self = Self {
        octets: u64::from_ne_bytes(*b"GIOP\x01\x00\x00\x06"),
        header: MessageHeader {
            version: Version::V1_0,
            endian: Endian::Big,
            more_fragments: false,
            kind: MessageKind::MessageError,
            size: 0,
        },
    };

    /// Of a header, and the octets that it was read from.
    pub(super) fn of(octets: &[u8; HEADER_LEN], header: MessageHeader) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *octets;
        Self {
            octets: u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            header,
        }
    }

    /// The header that `octets` are, if it is like this one but for the size.
    #[inline]
    pub(super) fn read(&self, octets: &[u8; HEADER_LEN]) -> Option<MessageHeader> {
        let (before, size) = octets.split_first_chunk::<BEFORE_SIZE>()?;
        if u64::from_ne_bytes(*before) != self.octets {
            return None;
        }
        let size = *size.first_chunk()?;
        let size = match self.header.endian {
            Endian::Big => u32::from_be_bytes(size),
            Endian::Little => u32::from_le_bytes(size),
        };
        Some(MessageHeader {
            size,
            ..self.header
        })
    }
}

/// A message at the front of a [`Reader`], looked at where it lies: see [`front`](Reader::front).
#[derive(Debug)]
pub struct Front<'a> {
    reader: &'a mut Reader,
    header: MessageHeader,
    octets: usize,
}

impl Front<'_> {
    /// Its header.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> &MessageHeader {
        &self.header
    }

    /// All its octets, header included: what the [frame](crate::Message::frame) would hold.
    #[inline]
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        self.reader.buffer.get(..self.octets).unwrap_or_default()
    }

    /// Whether nothing is behind it.
    #[inline]
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.octets == self.reader.buffer.len()
    }

    /// It has been read: the next message is behind it, or is received to the same place if there is none yet. (Without
    /// this it is there still, for [`Reader::next`].)
    #[inline]
    pub fn done(self) {
        self.reader.expected = 0;
        match self.is_last() {
            true => self.reader.buffer.clear(),
            false => self.reader.buffer.advance(self.octets),
        }
    }
}

impl Reader {
    /// The message at the front, if it is whole, like the last one but for its size, and such that nothing has to be
    /// thought of but to hand it out; and how many octets it has.
    #[inline]
    pub(super) fn plain(&self) -> Option<(MessageHeader, usize)> {
        let header = self.usual.read(self.buffer.first_chunk()?)?;
        let octets = total(header);
        let is_plain = octets <= self.buffer.len()
            && octets <= Self::READ_OCTETS.min(self.limits.max_message_octets)
            && self.skip == 0
            && self.partial.is_empty()
            && self.whole <= buffers::MAX_RECEIVE_CAPACITY;
        is_plain.then_some((header, octets))
    }

    /// The message at the front of the buffer, to be read where it lies: if it is whole, not in fragments, of at most
    /// [`READ_OCTETS`](Self::READ_OCTETS), and of the kind, version and byte order of the one before it. Otherwise, and
    /// also when there is more to say of it, `None`: then [`next`](Self::next) tells.
    ///
    /// For who has read all of the message before it reads on: nothing is cut off the buffer, counted and put together
    /// again. Costs a comparison of the header. Only what comes first after a
    /// read lies aligned.
    ///
    /// ```
    /// use zorb_giop::{Limits, MessageKind, Reader, Version, empty_message};
    ///
    /// let message = empty_message(MessageKind::CloseConnection, Version::V1_2);
    /// let mut reader = Reader::new(Limits::default());
    /// reader.buffer().extend_from_slice(&message);
    /// assert!(reader.front().is_none(), "the first one of its kind");
    /// assert!(reader.next()?.is_some());
    ///
    /// for _ in 0..2 {
    ///     reader.buffer().extend_from_slice(&message);
    /// }
    /// while let Some(front) = reader.front() {
    ///     assert_eq!(front.octets(), &message[..]);
    ///     front.done();
    /// }
    /// assert!(reader.is_idle());
    /// # Ok::<(), zorb_giop::ProtocolError>(())
    /// ```
    #[inline]
    pub fn front(&mut self) -> Option<Front<'_>> {
        let (header, octets) = self.plain()?;
        Some(Front {
            reader: self,
            header,
            octets,
        })
    }

    /// The header of a message that was received elsewhere, and is looked at there: if `octets` are one as
    /// [`front`](Self::front) hands out, nothing is behind it, and nothing before it is here still. It is not
    /// to be told here then; in every other case the octets are to be [received](Self::receive) here, as
    /// if nobody had looked at them.
    ///
    /// ```
    /// use zorb_giop::{Limits, MessageKind, Reader, Version, empty_message};
    ///
    /// let message = empty_message(MessageKind::CloseConnection, Version::V1_2);
    /// let mut reader = Reader::new(Limits::default());
    /// assert!(reader.whole(&message).is_none(), "the first one of its kind");
    /// reader.receive(&message)?;
    /// assert!(reader.next()?.is_some());
    ///
    /// reader.release();
    /// let header = reader.whole(&message).ok_or("it is like the last one")?;
    /// assert_eq!(header.kind, MessageKind::CloseConnection);
    /// assert!(reader.whole(&message[..11]).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn whole(&self, octets: &[u8]) -> Option<MessageHeader> {
        let header = self.usual.read(octets.first_chunk()?)?;
        let is_whole = total(header) == octets.len()
            && octets.len() <= Self::READ_OCTETS.min(self.limits.max_message_octets)
            && self.has_nothing();
        is_whole.then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Message, ProtocolError};

    /// The octets of a message of `size` octets behind its header, which are made of `fill`.
    fn message(before_size: [u8; BEFORE_SIZE], size: u32, fill: u8) -> Vec<u8> {
        let is_little = before_size[6] & 1 == 1;
        let mut octets = before_size.to_vec();
        octets.extend(match is_little {
            true => size.to_le_bytes(),
            false => size.to_be_bytes(),
        });
        octets.resize(octets.len() + size as usize, fill);
        octets
    }

    /// What there is to tell apart: versions, byte orders, kinds, fragments, and what is none of them.
    fn headers() -> Vec<[u8; BEFORE_SIZE]> {
        let mut all = Vec::new();
        for minor in 0..=3 {
            for flags in 0..4 {
                for kind in [0, 1, 2, 5, 7, 8] {
                    all.push([b'G', b'I', b'O', b'P', 1, minor, flags, kind]);
                }
            }
        }
        all.push([0; BEFORE_SIZE]);
        all
    }

    type Told = (MessageHeader, Vec<u8>);

    fn told(message: Message) -> Told {
        (message.header, message.frame.octets().to_vec())
    }

    /// All that comes of `octets`, of which `step` are received at a time: as it is read by comparison, or with every
    /// header read by itself.
    fn read(octets: &[u8], step: usize, how: How) -> (Vec<Told>, Option<ProtocolError>) {
        let limits = Limits {
            max_message_octets: 100,
            ..Limits::default()
        };
        let (mut reader, mut all) = (Reader::new(limits).skip_too_large(), Vec::new());
        for received in octets.chunks(step) {
            if let Err(error) = reader.reserve() {
                return (all, Some(error));
            }
            if let How::Elsewhere = how {
                reader.release();
                if let Some(header) = reader.whole(received) {
                    all.push((header, received.to_vec()));
                    continue;
                }
                if let Err(error) = reader.receive(received) {
                    return (all, Some(error));
                }
            } else {
                reader.buffer().extend_from_slice(received);
            }
            loop {
                match how {
                    How::Anew => reader.usual = Usual::FIRST,
                    How::Compared | How::Elsewhere => {}
                    How::InPlace => {
                        while let Some(front) = reader.front() {
                            all.push((*front.header(), front.octets().to_vec()));
                            front.done();
                        }
                    }
                }
                match reader.next() {
                    Ok(Some(message)) => all.push(told(message)),
                    Ok(None) => break,
                    Err(error) => return (all, Some(error)),
                }
            }
        }
        (all, None)
    }

    #[derive(Clone, Copy)]
    enum How {
        Anew,
        Compared,
        Elsewhere,
        InPlace,
    }

    #[test]
    fn whatever_comes_behind_a_message_is_read_as_if_it_came_first() {
        let headers = headers();
        for first in &headers {
            for second in &headers {
                for size in [4, 88, 89, 5000] {
                    let mut octets = message(*first, 8, 1);
                    octets.extend(message(*first, 4, 2));
                    octets.extend(message(*second, size, 3));
                    octets.extend(message(*first, 0, 4));
                    for step in [16, 20, 36, octets.len()] {
                        let one = read(&octets, step, How::Anew);
                        assert_eq!(one, read(&octets, step, How::Compared));
                        assert_eq!(one, read(&octets, step, How::InPlace));
                        assert_eq!(one, read(&octets, step, How::Elsewhere));
                    }
                }
            }
        }
    }

    const REPLY: [u8; BEFORE_SIZE] = [b'G', b'I', b'O', b'P', 1, 2, 1, 1];

    #[test]
    fn only_a_whole_message_is_looked_at_in_place() {
        let mut reader = Reader::new(Limits::default());
        let octets = message(REPLY, 12, 7);
        reader.buffer().extend_from_slice(&octets);
        assert!(reader.front().is_none(), "its header has not been read");
        assert!(reader.next().unwrap().is_some());

        reader.buffer().extend_from_slice(&octets[..20]);
        assert!(reader.front().is_none());
        reader.buffer().extend_from_slice(&octets[20..]);
        assert!(reader.front().is_some_and(|front| front.is_last()));
        let other = message(REPLY, 8, 9);
        reader.buffer().extend_from_slice(&other);
        let front = reader.front().unwrap();
        assert_eq!((front.octets(), front.is_last()), (&octets[..], false));
        front.done();
        assert_eq!(reader.front().unwrap().octets(), other);
        assert_eq!(reader.next().unwrap().unwrap().frame.octets(), other);
    }

    #[test]
    fn what_was_looked_at_is_there_until_it_is_done() {
        let mut reader = Reader::new(Limits::default());
        let octets = message(REPLY, 12, 7);
        for again in [false, true] {
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&octets);
            let at = reader.buffer().as_ptr();
            assert!(reader.front().is_some_and(|front| front.octets() == octets) || !again);
            let message = reader.next().unwrap().unwrap();
            assert_eq!(message.frame.octets(), octets);
            assert_eq!(message.frame.octets().as_ptr(), at);
        }
        reader.reserve().unwrap();
        let mut before = None;
        for _ in 0..3 {
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&octets);
            let at = reader.buffer().as_ptr();
            assert_eq!(*before.get_or_insert(at), at, "all to the same place");
            reader.front().unwrap().done();
            assert!(reader.is_idle() && reader.next().unwrap().is_none());
        }
    }

    #[test]
    fn small_messages_lie_aligned_one_behind_the_other_and_begin_at_the_front_again() {
        let mut reader = Reader::new(Limits::default());
        let octets = message(REPLY, 13, 7);
        let (mut places, mut held) = (Vec::new(), None);
        for _ in 0..2000 {
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&octets);
            let at = reader.buffer().as_ptr().addr();
            assert_eq!(at % 8, 0);
            places.push(at);
            let message = reader.next().unwrap().unwrap();
            assert_eq!(message.frame.octets(), octets);
            // One is alive while the next one is received.
            held = Some(message);
        }
        assert!(held.is_some());
        places.sort_unstable();
        places.dedup();
        let (first, last) = (places[0], places[places.len() - 1]);
        assert!(
            last - first < 2 * Reader::READ_OCTETS,
            "in one buffer or two"
        );
        drop(held);
        // Also where nothing has to be left out for the next one to lie aligned.
        for size in [13, 20] {
            let octets = message(REPLY, size, 7);
            let mut places = Vec::new();
            for _ in 0..2000 {
                reader.reserve().unwrap();
                reader.buffer().extend_from_slice(&octets);
                places.push(reader.buffer().as_ptr().addr());
                assert!(reader.next().unwrap().is_some());
            }
            let last = places.split_off(100);
            let (low, high) = (last.iter().min().unwrap(), last.iter().max().unwrap());
            assert!(high - low <= Reader::NEAR_FRONT + 40, "nobody holds a part");
        }
    }
}
