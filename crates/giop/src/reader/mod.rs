//! Cuts the incoming octets into messages and assembles fragments.

use crate::buffers::{self, Receive};
use crate::error::ProtocolError;
use crate::header::{HEADER_LEN, Message, MessageHeader, MessageKind};
use crate::limits::Limits;
use bytes::{Buf, Bytes, BytesMut};
use partial::Partial;
use zorb_cdr::Frame;

mod partial;
mod received;

pub use received::Received;

/// Cuts one direction of a connection into messages.
///
/// The adapter appends the octets that it receives to [`buffer`](Self::buffer) and calls [`next`](Self::next) until
/// that returns `None`:
///
/// ```text
/// loop { reader.reserve(); recv into reader.buffer(); while let Some(m) = reader.next()? { … } }
/// ```
///
/// Whole messages are split off the buffer without copying. A message longer than the buffer gets a buffer of its own,
/// into which the rest is received directly. That buffer ends with the message, and grows with the octets that have
/// come, so that an announced length by itself takes no memory. Nothing is allocated before the length has been
/// compared with [`Limits::max_message_octets`]. After an error the stream has no meaning any more: send a MessageError
/// and close.
#[derive(Debug)]
pub struct Reader {
    buffer: BytesMut,
    /// Octets of the buffer's whole memory, of which messages that are alive may have parts; 0 without a buffer.
    whole: usize,
    limits: Limits,
    partial: Vec<Partial>,
    skips_too_large: bool,
    /// Octets of a message beyond the limit that are still to come and are dropped.
    skip: usize,
    /// Octets of the last message if it was a large one, since another one like it may follow; 0 otherwise.
    expected: usize,
    /// The message that was [received](Self::receive) last, while it is handed out, if it does not lie in the buffer.
    taken_out: Option<Message>,
}

impl Reader {
    /// Octets of one read while the length of the next message is unknown.
    pub const READ_OCTETS: usize = 64 << 10;
    /// Least free octets of a buffer: with fewer, room is made before the next read.
    const MIN_SPARE: usize = 4 << 10;

    /// Most octets of a begun message that are moved out of a receive buffer when a reader waits.
    const MAX_MOVED: usize = 4 << 10;

    /// Octets at the front of a buffer that small messages use one after the other before the buffer begins at its
    /// front again. The number is small, so that they stay in the cache of one CPU.
    const NEAR_FRONT: usize = 4 << 10;

    /// Octets that a large message gets at once, if it announces as many. Later it gets at most twice the octets that
    /// have come.
    const FIRST_STEP: usize = 1 << 20;

    /// Most octets of room for a message that is expected because the last one was as long. It is read in place from
    /// its first octet on; otherwise the octets of the first read have to be moved.
    const MAX_EXPECTED: usize = Self::FIRST_STEP + Self::READ_OCTETS;

    /// How many times the limit a message may have and still be skipped rather than refused. Made-up lengths are beyond
    /// it, those of honest peers rarely.
    const SKIPPED_LIMITS: usize = 32;
    /// Octets of a message beyond the limit that are kept: more than any request header but one with very large service
    /// contexts, which gets no reply then.
    const HEAD_OCTETS: usize = 4 << 10;

    /// Makes a reader that holds no buffer yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            buffer: BytesMut::new(),
            whole: 0,
            limits,
            partial: Vec::new(),
            skips_too_large: false,
            skip: 0,
            expected: 0,
            taken_out: None,
        }
    }

    /// Makes the reader skip a Request or Reply of up to 32 times the limit, which is an error otherwise. Its first octets
    /// come as a [cut-short](Message::is_cut_short) message, so that the call can be answered or failed, and the others are
    /// dropped as they arrive: the rest of the message, or its further fragments.
    #[must_use]
    pub fn skip_too_large(mut self) -> Self {
        self.skips_too_large = true;
        self
    }

    /// Returns the buffer to which the adapter appends the octets that it receives.
    #[inline]
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Whether the buffer holds nothing, so that it can be lent to another connection.
    #[must_use]
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Releases the buffer to the next reader on this thread, before this one waits, so that ten thousand idle
    /// connections need none. The octets of a begun message are copied out of it if they are few, so that clients which
    /// begin messages and stop hold little; a longer beginning stays where it is.
    #[inline]
    pub fn release(&mut self) {
        if self.buffer.is_empty() {
            if self.whole > 0 {
                buffers::give_receive(self.take());
            }
        } else {
            self.release_begun();
        }
    }

    #[cold]
    fn release_begun(&mut self) {
        if self.buffer.len() <= Self::MAX_MOVED && self.whole >= Self::READ_OCTETS {
            let mut begun = Receive::new(self.buffer.len());
            begun.octets.extend_from_slice(&self.buffer);
            buffers::give_receive(self.take());
            self.put(begun);
        }
    }

    /// Returns which messages have begun and are not whole yet.
    #[must_use]
    pub fn unfinished(&self) -> UnfinishedInput {
        match (self.partial.is_empty(), self.buffer.is_empty()) {
            (false, _) => UnfinishedInput::Fragments,
            (true, false) => UnfinishedInput::Message,
            (true, true) if self.skip > 0 => UnfinishedInput::Message,
            (true, true) => UnfinishedInput::Nothing,
        }
    }

    /// Returns the octets of memory that it holds for messages which are not whole yet: the capacity of their buffers.
    #[must_use]
    pub fn held(&self) -> usize {
        let buffer = match self.buffer.is_empty() {
            true => 0,
            false => self.whole,
        };
        let partial = self.partial.iter().map(Partial::memory);
        partial.fold(buffer, usize::saturating_add)
    }

    /// Whether the reader [holds](Self::held), or may hold, more memory than one recycled receive buffer.
    #[inline]
    #[must_use]
    pub fn holds_more_than_a_buffer(&self) -> bool {
        self.whole > buffers::MAX_RECEIVE_CAPACITY || !self.partial.is_empty()
    }

    fn take(&mut self) -> Receive {
        Receive {
            octets: core::mem::take(&mut self.buffer),
            whole: core::mem::take(&mut self.whole),
        }
    }

    fn put(&mut self, Receive { octets, whole }: Receive) {
        self.buffer = octets;
        self.whole = whole;
    }

    /// Makes room in the buffer for the next read: at least 4 KiB, and [`READ_OCTETS`](Self::READ_OCTETS) in a new buffer. For
    /// a large message the buffer grows in steps of at least 1 MiB, in proportion to the octets that have come.
    ///
    /// # Errors
    /// A [`ProtocolError`] if the message that has begun breaks the protocol or a limit; nothing is allocated then.
    #[inline]
    pub fn reserve(&mut self) -> Result<(), ProtocolError> {
        if self.buffer.is_empty() {
            if self.whole == 0
                && let Some(kept) = buffers::take_receive()
            {
                self.put(kept);
            }
            if self.expected == 0 && self.is_near_front() {
                self.align();
                return Ok(());
            }
        }
        self.make_room()
    }

    /// Whether the buffer is hardly used, so that it need not be reclaimed for every message.
    #[inline]
    fn is_near_front(&self) -> bool {
        let room = self.buffer.capacity();
        room >= Self::READ_OCTETS / 2 && self.whole.saturating_sub(room) <= Self::NEAR_FRONT
    }

    /// Skips up to 7 octets of an empty buffer, which has to have room for them, so that received data is aligned.
    #[inline]
    fn align(&mut self) {
        let pad = self.buffer.as_ptr().addr().wrapping_neg() & 7;
        if pad > 0 {
            self.buffer.extend_from_slice(&[0; 7]);
            self.buffer.truncate(pad);
            self.buffer.advance(pad);
        }
    }

    fn make_room(&mut self) -> Result<(), ProtocolError> {
        if self.buffer.is_empty() {
            // The buffer begins at its front again when all earlier messages are gone: aligned data is read in place.
            if self.whole > 0 {
                let _ = self.buffer.try_reclaim(self.whole);
            }
            if self.spare() > Self::MIN_SPARE {
                self.align();
            }
            let spare = self.spare();
            if self.expected > 0 {
                // No more than that, or octets of the next message would be read with it, and moved.
                let most = self.expected.saturating_add(Self::MIN_SPARE);
                if !(self.expected..=most).contains(&spare) {
                    buffers::give_receive(self.take());
                    self.put(buffers::take_receive_of(self.expected, most));
                }
            } else if spare < Self::MIN_SPARE {
                buffers::give_receive(self.take());
                self.put(buffers::take_receive_of(Self::READ_OCTETS, usize::MAX));
            }
            return Ok(());
        }
        let mut missing = match self.peek()? {
            Some((_, wanted)) => wanted.saturating_sub(self.buffer.len()),
            None => 0,
        };
        if self.whole < Self::READ_OCTETS {
            // The few octets were moved here when the reader waited. Memory for all of a large message would be allocated
            // again for each octet of a peer that sends slowly.
            missing = missing.min(Self::READ_OCTETS.saturating_sub(self.buffer.len()));
        }
        let is_large = missing.max(self.buffer.len()) > Self::READ_OCTETS;
        if is_large && missing > 0 {
            if self.spare() < missing {
                self.grow(missing.saturating_add(self.buffer.len()));
            }
        } else if self.spare() < missing.max(Self::MIN_SPARE)
            && !self.buffer.try_reclaim(missing.max(Self::MIN_SPARE))
        {
            let wanted = missing.max(Self::MIN_SPARE);
            let least = self.buffer.len().saturating_add(wanted);
            self.replace(least.max(Self::READ_OCTETS), usize::MAX);
        }
        Ok(())
    }

    /// Moves the received octets to another buffer of `least` to `most` octets.
    fn replace(&mut self, least: usize, most: usize) {
        let mut other = buffers::take_receive_of(least, most);
        other.octets.extend_from_slice(&self.buffer);
        buffers::give_receive(self.take());
        self.put(other);
    }

    /// Makes room for a message of `whole` octets, in proportion to the octets that have come. The buffer never gets
    /// much longer than the message, so that hardly an octet of the next one is read with it.
    fn grow(&mut self, whole: usize) {
        let len = self.buffer.len();
        let is_own = self.buffer.capacity() >= Self::FIRST_STEP.min(whole);
        if is_own && self.spare() >= Self::MIN_SPARE {
            return;
        }
        let capacity = whole.min(len.saturating_mul(2).max(Self::FIRST_STEP));
        if len <= Self::READ_OCTETS {
            self.replace(capacity, capacity);
        } else {
            // A `Vec` grows in place if the allocator can do so, and by no more than asked for. A large block is moved
            // in the page tables, not copied.
            let mut own = Vec::from(core::mem::take(&mut self.buffer));
            own.reserve_exact(capacity.saturating_sub(len));
            self.buffer = BytesMut::from(Bytes::from(own));
            self.whole = self.buffer.capacity();
        }
    }

    #[inline]
    fn spare(&self) -> usize {
        self.buffer.capacity().saturating_sub(self.buffer.len())
    }

    /// Returns the header of the message at the front, once all of it has come, and the octets of the message that are
    /// kept.
    #[inline]
    fn peek(&self) -> Result<Option<(MessageHeader, usize)>, ProtocolError> {
        let Some(octets) = self.buffer.first_chunk::<HEADER_LEN>() else {
            return self.peek_short();
        };
        let header = MessageHeader::parse(octets)?;
        Ok(Some((header, self.wanted(header)?)))
    }

    /// Checks the octets of an incomplete header.
    #[cold]
    fn peek_short<T>(&self) -> Result<Option<T>, ProtocolError> {
        // A stream that is not GIOP is rejected at its first octets: its sender may wait for this side.
        let begun = self.buffer.get(..self.buffer.len().min(4)).unwrap_or(&[]);
        if b"GIOP".starts_with(begun) {
            return Ok(None);
        }
        let mut found = [0; 4];
        for (to, from) in found.iter_mut().zip(begun) {
            *to = *from;
        }
        Err(ProtocolError::BadMagic { found })
    }

    /// Returns the octets of the message that are kept: all, or the first ones of a message beyond the limit.
    #[inline]
    fn wanted(&self, header: MessageHeader) -> Result<usize, ProtocolError> {
        let octets = total(header);
        if octets <= self.limits.max_message_octets {
            return Ok(octets);
        }
        self.wanted_of_too_large(header, octets)
    }

    #[cold]
    fn wanted_of_too_large(
        &self,
        header: MessageHeader,
        octets: usize,
    ) -> Result<usize, ProtocolError> {
        let is_part = header.kind == MessageKind::Fragment;
        match is_part && self.skips_too_large {
            // The message that it continues decides.
            true => Ok(self.head_octets()),
            false => self
                .check_skipped(header.kind, octets)
                .map(|()| self.head_octets()),
        }
    }

    /// Octets of a message beyond the limit that are kept.
    fn head_octets(&self) -> usize {
        Self::HEAD_OCTETS.min(self.limits.max_message_octets)
    }

    /// Checks that a message of so many octets, which are more than the limit, may be skipped.
    #[cold]
    fn check_skipped(&self, kind: MessageKind, octets: usize) -> Result<(), ProtocolError> {
        let limit = self.limits.max_message_octets;
        let has_an_id = matches!(kind, MessageKind::Request | MessageKind::Reply);
        let is_serious = octets / Self::SKIPPED_LIMITS <= limit;
        match self.skips_too_large && has_an_id && is_serious {
            true => Ok(()),
            false => Err(ProtocolError::MessageTooLarge { octets, limit }),
        }
    }

    /// Returns the next whole message, reassembled from its fragments; `None` until more octets have been received. To be called
    /// until it returns `None`.
    ///
    /// The message is split off the buffer, for a reference count. [`receive`](Self::receive) reads a small message in place.
    ///
    /// # Errors
    /// A [`ProtocolError`] if the peer broke the protocol or a [limit](crate::Limits). The connection has to be closed then:
    /// later octets have no meaning.
    #[expect(
        clippy::should_implement_trait,
        reason = "the end of an iterator would be the end of the stream; this `None` is not"
    )]
    pub fn next(&mut self) -> Result<Option<Message>, ProtocolError> {
        Ok(self.receive(|_, _| {})?.map(Received::into_message))
    }

    /// Returns the next whole message, still in the receive buffer if it can be read there, or `None` until more has
    /// been received. `see` gets every piece of a fragmented message as it comes, header and octets, for traces.
    ///
    /// A small message is read and dropped in place ([`Received::discard`]); splitting it off the buffer
    /// ([`Received::into_message`]) costs a reference count.
    ///
    /// # Errors
    /// A [`ProtocolError`] if the peer broke the protocol or a [limit](crate::Limits). The connection has to be closed then:
    /// later octets have no meaning.
    ///
    /// ```
    /// use zorb_giop::{Limits, MessageKind, Reader, Version, empty_message};
    ///
    /// let message = empty_message(MessageKind::CloseConnection, Version::V1_2);
    /// let mut reader = Reader::new(Limits::default());
    /// for _ in 0..2 {
    ///     reader.buffer().extend_from_slice(&message);
    /// }
    /// while let Some(received) = reader.receive(|_, _| {})? {
    ///     assert_eq!(received.octets(), &message[..]);
    ///     received.discard();
    /// }
    /// assert!(reader.is_idle());
    /// # Ok::<(), zorb_giop::ProtocolError>(())
    /// ```
    #[inline]
    pub fn receive(
        &mut self,
        see: impl FnMut(&MessageHeader, &[u8]),
    ) -> Result<Option<Received<'_>>, ProtocolError> {
        if let Some((header, octets)) = self.plain() {
            return Ok(Some(Received::in_place(self, header, octets)));
        }
        let message = self.next_of_any(see)?;
        Ok(message.map(|message| Received::whole(self, message)))
    }

    fn next_of_any(
        &mut self,
        mut see: impl FnMut(&MessageHeader, &[u8]),
    ) -> Result<Option<Message>, ProtocolError> {
        loop {
            if self.skip > 0 {
                let skipped = self.skip.min(self.buffer.len());
                self.buffer.advance(skipped);
                self.skip = self.skip.saturating_sub(skipped);
                if self.skip > 0 {
                    return Ok(None);
                }
            }
            if self.buffer.is_empty() {
                return Ok(None);
            }
            let Some((header, wanted)) = self.peek()? else {
                return Ok(None);
            };
            if self.buffer.len() < wanted {
                return Ok(None);
            }
            let octets = self.buffer.split_to(wanted);
            self.expected = match wanted > Self::READ_OCTETS {
                true => wanted.min(Self::MAX_EXPECTED),
                false => 0,
            };
            self.skip = total(header).saturating_sub(wanted);
            if self.buffer.is_empty() && self.whole > buffers::MAX_RECEIVE_CAPACITY {
                // The rest shares the memory of the message and would keep all of it alive.
                self.take();
            }
            if header.kind == MessageKind::Fragment || header.more_fragments {
                see(&header, &octets);
            }
            if header.kind == MessageKind::Fragment {
                if let Some(message) = self.continue_partial(header, octets)? {
                    return Ok(Some(message));
                }
            } else if header.more_fragments {
                if let Some(message) = self.begin_partial(header, octets)? {
                    return Ok(Some(message));
                }
            } else {
                if !self.partial.is_empty() {
                    self.check_uninterrupted(header, &octets)?;
                    if header.kind == MessageKind::CancelRequest {
                        self.drop_cancelled(header, &octets);
                    }
                }
                return Ok(Some(Message {
                    header,
                    frame: Frame::new(octets.freeze()),
                }));
            }
        }
    }
}

/// The unfinished messages of a [`Reader`]: none, one in one piece, or fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is nothing else that can begin"
)]
pub enum UnfinishedInput {
    /// No message is unfinished.
    Nothing,
    /// The beginning of a message or a fragment, of its header at least.
    Message,
    /// Fragments of messages whose last fragment has not come, and perhaps the beginning of the next one.
    Fragments,
}

/// Returns the number of octets of the whole message, header included.
#[inline]
fn total(header: MessageHeader) -> usize {
    usize::try_from(header.size)
        .unwrap_or(usize::MAX)
        .saturating_add(HEADER_LEN)
}
