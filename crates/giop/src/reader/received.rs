//! Messages that are read in place, in the receive buffer.

use super::{Reader, total};
use crate::buffers;
use crate::header::{Message, MessageHeader, MessageKind};
use bytes::Buf;
use zorb_cdr::Frame;

/// A whole message that a [`Reader`] has received: see [`Reader::receive`].
#[derive(Debug)]
pub struct Received<'a> {
    reader: &'a mut Reader,
    header: MessageHeader,
    /// Octets of a message at the front of the buffer; 0 for a message that the reader has taken out of it.
    octets: usize,
}

impl<'a> Received<'a> {
    #[inline]
    pub(super) const fn in_place(
        reader: &'a mut Reader,
        header: MessageHeader,
        octets: usize,
    ) -> Self {
        Self {
            reader,
            header,
            octets,
        }
    }

    pub(super) fn whole(reader: &'a mut Reader, message: Message) -> Self {
        let header = message.header;
        reader.taken_out = Some(message);
        Self {
            reader,
            header,
            octets: 0,
        }
    }

    /// Returns the message, if it does not lie at the front of the buffer any more.
    #[inline]
    const fn taken_out(&self) -> Option<&Message> {
        match self.octets {
            0 => self.reader.taken_out.as_ref(),
            _ => None,
        }
    }

    /// Returns the header of the message; its size is that of the whole message.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> &MessageHeader {
        &self.header
    }

    /// Returns all octets of the message, header included.
    #[inline]
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        match self.taken_out() {
            None => self.reader.buffer.get(..self.octets).unwrap_or_default(),
            Some(message) => message.frame.octets(),
        }
    }

    /// Whether the octets are a whole message in one piece, so that alignment counts from its front throughout. It is
    /// neither [cut short](Message::is_cut_short) nor assembled from fragments of GIOP 1.1.
    #[inline]
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        match self.taken_out() {
            None => true,
            Some(message) => message.frame.fragment_starts().is_empty() && !message.is_cut_short(),
        }
    }

    /// Drops the message. The next one takes the place of a message in the buffer.
    #[inline]
    pub fn discard(self) {
        if self.octets == 0 {
            self.reader.taken_out = None;
            return;
        }
        self.reader.expected = 0;
        match self.octets == self.reader.buffer.len() {
            true => self.reader.buffer.clear(),
            false => self.reader.buffer.advance(self.octets),
        }
    }

    /// Returns a copy of the message, for traces. Copies the octets of a message in the buffer.
    #[must_use]
    pub fn to_message(&self) -> Message {
        match self.taken_out() {
            Some(message) => message.clone(),
            None => Message {
                header: self.header,
                frame: Frame::new(self.octets().to_vec().into()),
            },
        }
    }

    /// Takes the message out of the reader. One of at most `most` octets is copied into memory of its own, by one allocation,
    /// so that it does not keep the receive buffer alive; a longer one shares the buffer, for a reference count.
    #[must_use]
    pub fn into_own(self, most: usize) -> Message {
        if self.octets == 0 || self.octets > most {
            return self.into_message();
        }
        let message = self.to_message();
        self.discard();
        message
    }

    /// Splits the message off the buffer, without copying.
    #[inline]
    #[must_use]
    pub fn into_message(self) -> Message {
        if self.octets == 0
            && let Some(message) = self.reader.taken_out.take()
        {
            return message;
        }
        self.reader.expected = 0;
        Message {
            header: self.header,
            frame: Frame::new(self.reader.buffer.split_to(self.octets).freeze()),
        }
    }
}

impl Reader {
    /// Returns a message that was [taken out](Received::into_message) before, by this reader or another one, as if it had been
    /// received just now.
    #[must_use]
    pub fn again(&mut self, message: Message) -> Received<'_> {
        Received::whole(self, message)
    }

    /// Returns the header and the length of the message at the front, if it is whole and in one piece, and no state of
    /// the reader depends on it.
    #[inline]
    pub(super) fn plain(&self) -> Option<(MessageHeader, usize)> {
        let header = MessageHeader::parse(self.buffer.first_chunk()?).ok()?;
        let octets = total(header);
        let is_plain = header.kind != MessageKind::Fragment
            && !header.more_fragments
            && octets <= self.buffer.len()
            && octets <= Self::READ_OCTETS.min(self.limits.max_message_octets)
            && self.skip == 0
            && self.partial.is_empty()
            && self.whole <= buffers::MAX_RECEIVE_CAPACITY;
        is_plain.then_some((header, octets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, ProtocolError};

    /// Octets of a message header before the size.
    const BEFORE_SIZE: usize = 8;

    /// Returns a message of `size` octets of `fill` behind its header.
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

    /// Headers of all kinds: versions, byte orders, message kinds, fragments, and malformed ones.
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

    type Seen = (MessageHeader, Vec<u8>);

    fn seen(message: Message) -> Seen {
        (message.header, message.frame.octets().to_vec())
    }

    /// Returns the messages, and the error, that a reader makes of `octets`, which are received `step` at a time and
    /// taken out in the way `how`.
    fn read(octets: &[u8], step: usize, how: How) -> (Vec<Seen>, Option<ProtocolError>) {
        let limits = Limits {
            max_message_octets: 100,
            ..Limits::default()
        };
        let (mut reader, mut all) = (Reader::new(limits).skip_too_large(), Vec::new());
        for received in octets.chunks(step) {
            if let Err(error) = reader.reserve() {
                return (all, Some(error));
            }
            reader.buffer().extend_from_slice(received);
            loop {
                let next = match how {
                    How::SplitOff => reader.next_of_any(|_, _| {}).map(|next| next.map(seen)),
                    How::Kept => reader.next().map(|next| next.map(seen)),
                    How::InPlace => reader.receive(|_, _| {}).map(|received| {
                        received.map(|received| {
                            let seen = (*received.header(), received.octets().to_vec());
                            received.discard();
                            seen
                        })
                    }),
                };
                match next {
                    Ok(Some(next)) => all.push(next),
                    Ok(None) => break,
                    Err(error) => return (all, Some(error)),
                }
            }
        }
        (all, None)
    }

    #[derive(Clone, Copy)]
    enum How {
        SplitOff,
        Kept,
        InPlace,
    }

    #[test]
    fn what_is_read_in_place_is_what_is_read_when_it_is_split_off() {
        let headers = headers();
        for first in &headers {
            for second in &headers {
                for size in [4, 88, 89, 5000] {
                    let mut octets = message(*first, 8, 1);
                    octets.extend(message(*first, 4, 2));
                    octets.extend(message(*second, size, 3));
                    octets.extend(message(*first, 0, 4));
                    for step in [16, 20, 36, octets.len()] {
                        let one = read(&octets, step, How::SplitOff);
                        assert_eq!(one, read(&octets, step, How::Kept));
                        assert_eq!(one, read(&octets, step, How::InPlace));
                    }
                }
            }
        }
    }

    const REPLY: [u8; BEFORE_SIZE] = [b'G', b'I', b'O', b'P', 1, 2, 1, 1];

    fn in_place(reader: &mut Reader) -> Option<Vec<u8>> {
        let (header, octets) = reader.plain()?;
        let received = Received::in_place(reader, header, octets);
        Some(received.octets().to_vec())
    }

    #[test]
    fn only_a_whole_message_is_read_in_place() {
        let mut reader = Reader::new(Limits::default());
        let octets = message(REPLY, 12, 7);
        reader.buffer().extend_from_slice(&octets[..20]);
        assert!(in_place(&mut reader).is_none());
        reader.buffer().extend_from_slice(&octets[20..]);
        assert!(in_place(&mut reader).is_some());
        let other = message(REPLY, 8, 9);
        reader.buffer().extend_from_slice(&other);
        assert_eq!(in_place(&mut reader), Some(octets));
        reader.receive(|_, _| {}).unwrap().unwrap().discard();
        assert_eq!(in_place(&mut reader), Some(other.clone()));
        assert_eq!(reader.next().unwrap().unwrap().frame.octets(), other);
    }

    #[test]
    fn a_short_message_in_memory_of_its_own_does_not_keep_the_buffer_and_a_long_one_does() {
        let mut reader = Reader::new(Limits::default());
        for (size, is_own) in [(12, true), (80, true), (200, false)] {
            let octets = message(REPLY, size, 7);
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&octets);
            assert!(reader.next().unwrap().is_some());
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&octets);
            let at = reader.buffer().as_ptr();
            let received = reader.receive(|_, _| {}).unwrap().unwrap();
            let message = received.into_own(100);
            assert_eq!(message.frame.octets(), octets);
            assert_eq!(
                message.frame.octets().as_ptr() != at,
                is_own,
                "{size} octets"
            );
            assert!(reader.is_idle());
        }
    }

    #[test]
    fn messages_that_are_discarded_leave_their_place_to_the_next() {
        let mut reader = Reader::new(Limits::default());
        let octets = message(REPLY, 12, 7);
        reader.buffer().extend_from_slice(&octets);
        assert!(reader.next().unwrap().is_some());
        let mut before = None;
        for _ in 0..3 {
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&octets);
            let at = reader.buffer().as_ptr();
            assert_eq!(*before.get_or_insert(at), at, "all at the same place");
            reader.receive(|_, _| {}).unwrap().unwrap().discard();
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
        // The allocator may put the second buffer anywhere.
        let is_next = |two: &&[usize]| two[1] - two[0] <= octets.len().next_multiple_of(8);
        let next = places.windows(2).filter(is_next).count();
        assert!(places.len() - next <= 2, "in one buffer or two");
        assert!(places.len() * octets.len() <= 2 * Reader::READ_OCTETS);
        drop(held);
        // Also for a size behind which the next message is aligned without padding.
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
            assert!(high - low <= Reader::NEAR_FRONT + 40, "no part is in use");
        }
    }
}
