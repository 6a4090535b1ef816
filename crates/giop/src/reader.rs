//! Cuts the incoming octets into messages and puts fragments together.

use crate::buffers::{self, Receive};
use crate::error::ProtocolError;
use crate::header::{HEADER_LEN, Message, MessageHeader, MessageKind, Version};
use crate::limits::Limits;
use crate::small::SmallReply;
use bytes::{Buf, Bytes, BytesMut};
use std::sync::Arc;
use usual::Usual;
use zorb_cdr::{ByteOrder, Decoder, Endian, Frame, WireFormat};

mod usual;

pub use usual::Front;

/// Octets of a Fragment's own headers in GIOP 1.2: message header and request id.
const FRAGMENT_1_2_PREFIX: usize = HEADER_LEN + 4;

/// A message of which the last fragment has not come yet.
#[derive(Debug)]
struct Partial {
    /// The request id in GIOP 1.2; in 1.1 there is at most one partial message and no id.
    id: Option<u32>,
    /// What a CancelRequest may name, if it is a request and its first piece says so.
    cancelled_by: Option<u32>,
    header: MessageHeader,
    /// What has come of it, from the front of a buffer.
    octets: BytesMut,
    /// GIOP 1.1: where the data of later fragments begins, since alignment restarts there.
    starts: Vec<usize>,
}

/// Cuts one direction of a connection into messages.
///
/// The adapter appends what it receives to [`buffer`](Self::buffer) and calls
/// [`next`](Self::next) until that gives `None`:
///
/// ```text
/// loop { reader.reserve(); recv into reader.buffer(); while let Some(m) = reader.next()? { … } }
/// ```
///
/// Whole messages are split off the buffer without copying. A message longer than the buffer
/// gets a buffer of its own, into which the rest is received straight away; it ends where the
/// message does, and grows with what has come, so that a length announced costs nobody its memory.
/// Nothing is allocated before the length has been compared with [`Limits::max_message_octets`].
/// After an error the stream has no meaning any more: send a MessageError and close.
#[derive(Debug)]
pub struct Reader {
    buffer: BytesMut,
    /// Octets of all of its memory, of which messages that are alive may have parts; 0 of none.
    whole: usize,
    limits: Limits,
    partial: Vec<Partial>,
    skips_too_large: bool,
    /// Octets of a message beyond the limit that are still to come and are thrown away.
    skip: usize,
    /// Octets of the last message if it was a large one, since another one like it may follow; 0 otherwise.
    expected: usize,
    /// The header of the last message that was not in fragments: the next one is mostly like it.
    usual: Usual,
}

impl Reader {
    /// Octets asked for at a time when nothing is known of what comes.
    pub const READ_OCTETS: usize = 64 << 10;
    /// When less than this is left in the buffer, it is worth making room before the next read.
    const MIN_SPARE: usize = 4 << 10;

    /// Octets at the front of a buffer that small messages use one behind the other before it begins at its front again.
    /// Few, so that they stay in the cache of one CPU.
    const NEAR_FRONT: usize = 4 << 10;

    /// Octets that a large message gets at once, if it announces as many. More only when half of
    /// what it has is there.
    const FIRST_STEP: usize = 1 << 20;

    /// Octets of room for a message that is expected because the last one had as many. It is read from its first octet
    /// on to where it stays; without, what the first read brings has to be moved.
    const MAX_EXPECTED: usize = Self::FIRST_STEP + Self::READ_OCTETS;

    /// How many times the limit a message may have and still be skipped rather than refused: the
    /// lengths that are made up are beyond it, those of honest peers rarely are.
    const SKIPPED_LIMITS: usize = 32;
    /// Octets of a message beyond the limit that are kept: more than the header of any request has
    /// but for one with very large service contexts, which is told nothing then.
    const HEAD_OCTETS: usize = 4 << 10;

    /// A reader that holds no buffer yet.
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
            usual: Usual::FIRST,
        }
    }

    /// The same, but a Request or Reply in one piece that is over the limit, though not by far, is no error: its
    /// first octets come as a [cut-short](Message::is_cut_short) message, so that whoever waits
    /// for it can be told, and the others are thrown away as they come.
    #[must_use]
    pub fn skip_too_large(mut self) -> Self {
        self.skips_too_large = true;
        self
    }

    /// Where the adapter appends what it receives.
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

    /// Gives the buffer of an idle reader to the next one that reads on this thread: ten thousand
    /// idle connections need none. Does nothing when it is not idle.
    pub fn release(&mut self) {
        if self.buffer.is_empty() {
            buffers::give_receive(self.take());
        }
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

    /// Makes room for the next read: for the rest of the message that has begun, or for
    /// [`READ_OCTETS`](Self::READ_OCTETS).
    ///
    /// # Errors
    /// When the message that has begun breaks the protocol or a limit; nothing is allocated then.
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

    /// Whether the buffer is hardly used: whether it may begin at its front again need not be asked for every message.
    #[inline]
    fn is_near_front(&self) -> bool {
        let room = self.buffer.capacity();
        room >= Self::READ_OCTETS / 2 && self.whole.saturating_sub(room) <= Self::NEAR_FRONT
    }

    /// Leaves out up to 7 octets of an empty buffer, of which there have to be so many, so that what comes lies aligned.
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
            // Back to the front when all earlier messages are gone: aligned data is read in place.
            if self.whole > 0 {
                let _ = self.buffer.try_reclaim(self.whole);
            }
            if self.spare() > Self::MIN_SPARE {
                self.align();
            }
            let spare = self.spare();
            if self.expected > 0 {
                // Hardly more either, or octets of what comes behind would be read along and moved.
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
        let missing = match self.peek()? {
            Some((_, wanted)) => wanted.saturating_sub(self.buffer.len()),
            None => 0,
        };
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

    /// Another buffer of `least` octets or more, with what has come at its front.
    fn replace(&mut self, least: usize, most: usize) {
        let mut other = buffers::take_receive_of(least, most);
        other.octets.extend_from_slice(&self.buffer);
        buffers::give_receive(self.take());
        self.put(other);
    }

    /// Makes room for a message of `whole` octets, as much as what has come of it is worth. The
    /// buffer never gets much longer than the message, so that hardly an octet behind it is read
    /// along.
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
            // By way of a `Vec`, which is enlarged where it lies if the allocator can do so, and
            // by no more than asked for. A large block is moved in the page tables, not copied.
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

    /// The header of the message at the front, once all of it is there, and how many octets of it are kept.
    #[inline]
    fn peek(&self) -> Result<Option<(MessageHeader, usize)>, ProtocolError> {
        let Some(octets) = self.buffer.first_chunk::<HEADER_LEN>() else {
            return self.peek_short();
        };
        let header = match self.usual.read(octets) {
            Some(header) => header,
            None => MessageHeader::parse(octets)?,
        };
        Ok(Some((header, self.wanted(header)?)))
    }

    /// The same, of less than a header.
    #[cold]
    fn peek_short<T>(&self) -> Result<Option<T>, ProtocolError> {
        // A stream that is not GIOP is told at its first octets: its sender may wait for us.
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

    /// Octets of the message that are kept: all, or the first ones of a message beyond the limit.
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
        let limit = self.limits.max_message_octets;
        let has_an_id = matches!(header.kind, MessageKind::Request | MessageKind::Reply);
        let is_serious = octets / Self::SKIPPED_LIMITS <= limit;
        if self.skips_too_large && has_an_id && is_serious && !header.more_fragments {
            return Ok(Self::HEAD_OCTETS.min(octets));
        }
        Err(ProtocolError::MessageTooLarge { octets, limit })
    }

    /// The next whole message, or `None` until more has been received.
    ///
    /// # Errors
    /// When the peer broke the protocol or a limit: see [`ProtocolError`].
    #[expect(
        clippy::should_implement_trait,
        reason = "the end of an iterator would be the end of the stream; this `None` is not"
    )]
    pub fn next(&mut self) -> Result<Option<Message>, ProtocolError> {
        self.next_seeing(|_, _| {})
    }

    /// As [`next`](Self::next), and shows every piece of a fragmented message to `see` as it comes:
    /// its header, and its octets with the header. For traces.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    #[inline]
    pub fn next_seeing(
        &mut self,
        see: impl FnMut(&MessageHeader, &[u8]),
    ) -> Result<Option<Message>, ProtocolError> {
        let Some((header, octets)) = self.plain() else {
            return self.next_of_any(see);
        };
        self.expected = 0;
        Ok(Some(Message {
            header,
            frame: Frame::new(self.buffer.split_to(octets).freeze()),
        }))
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
            if header.kind != MessageKind::Fragment
                && !header.more_fragments
                && let Some(first) = octets.first_chunk()
            {
                self.usual = Usual::of(first, header);
            }
            self.expected = match wanted > Self::READ_OCTETS {
                true => wanted.min(Self::MAX_EXPECTED),
                false => 0,
            };
            self.skip = total(header).saturating_sub(wanted);
            if self.buffer.is_empty() && self.whole > buffers::MAX_RECEIVE_CAPACITY {
                // What is left shares the memory of the message and would keep all of it alive.
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
                self.begin_partial(header, octets)?;
            } else {
                if !self.partial.is_empty() {
                    self.check_uninterrupted(header)?;
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

    /// All that has come, if it may be one small message.
    #[inline]
    pub(crate) fn small_candidate(&self) -> Option<&[u8]> {
        let octets = &*self.buffer;
        let most = SmallReply::MAX_OCTETS.min(self.limits.max_message_octets);
        let is_one = octets.len() <= most
            && self.skip == 0
            && self.partial.is_empty()
            && self.whole <= buffers::MAX_RECEIVE_CAPACITY;
        is_one.then_some(octets)
    }

    /// Whether nothing has come of any message, and no buffer is held for one.
    #[inline]
    pub(crate) fn has_nothing(&self) -> bool {
        self.whole == 0 && self.skip == 0 && self.expected == 0 && self.partial.is_empty()
    }

    #[inline]
    pub(crate) const fn max_message_octets(&self) -> usize {
        self.limits.max_message_octets
    }

    /// Takes octets that have been received elsewhere.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn receive(&mut self, octets: &[u8]) -> Result<(), ProtocolError> {
        self.reserve()?;
        self.buffer.extend_from_slice(octets);
        Ok(())
    }

    /// Forgets what has come, which was one small message.
    #[inline]
    pub(crate) fn forget_all(&mut self) {
        self.buffer.clear();
        self.expected = 0;
    }

    /// A 1.1 Fragment carries no id, so nothing that could be fragmented may come in between.
    fn check_uninterrupted(&self, header: MessageHeader) -> Result<(), ProtocolError> {
        let kind = header.kind;
        if matches!(kind, MessageKind::Request | MessageKind::Reply)
            && header.version == Version::V1_1
            && self.partial.iter().any(|p| p.id.is_none())
        {
            return Err(ProtocolError::FragmentsInterrupted { kind });
        }
        Ok(())
    }

    fn begin_partial(
        &mut self,
        header: MessageHeader,
        octets: BytesMut,
    ) -> Result<(), ProtocolError> {
        let MessageHeader { kind, version, .. } = header;
        if !kind.is_fragmentable(version) {
            return Err(ProtocolError::NotFragmentable { kind, version });
        }
        self.check_uninterrupted(header)?;
        let id = if version >= Version::V1_2 {
            // The first piece must hold at least the request id, which comes first in 1.2.
            let id = id_at(&octets, header.endian).ok_or(ProtocolError::UnexpectedFragment)?;
            if self.partial.iter().any(|p| p.id == Some(id)) {
                return Err(ProtocolError::FragmentsInterrupted { kind });
            }
            Some(id)
        } else {
            None
        };
        if self.partial.len() >= self.limits.max_partial_messages {
            return Err(ProtocolError::TooManyPartialMessages {
                limit: self.limits.max_partial_messages,
            });
        }
        self.check_partial_octets(octets.len())?;
        // A copy, so that a message whose fragments dawdle does not hold on to the receive buffer.
        let mut whole = buffers::take_receive_of(octets.len(), usize::MAX).octets;
        whole.extend_from_slice(&octets);
        self.partial.push(Partial {
            id,
            cancelled_by: match (kind, id) {
                (MessageKind::Request, None) => {
                    by_order!(header.endian, O => id_of_1_1::<O>(&octets))
                }
                (MessageKind::Request | MessageKind::LocateRequest, id) => id,
                _ => None,
            },
            header,
            octets: whole,
            starts: Vec::new(),
        });
        Ok(())
    }

    fn check_partial_octets(&self, more: usize) -> Result<(), ProtocolError> {
        let held = self
            .partial
            .iter()
            .fold(more, |sum, p| sum.saturating_add(p.held()));
        if held > self.limits.max_partial_octets {
            return Err(ProtocolError::TooManyPartialOctets {
                limit: self.limits.max_partial_octets,
            });
        }
        Ok(())
    }

    fn continue_partial(
        &mut self,
        header: MessageHeader,
        mut octets: BytesMut,
    ) -> Result<Option<Message>, ProtocolError> {
        let (id, prefix) = if header.version >= Version::V1_2 {
            let id = id_at(&octets, header.endian).ok_or(ProtocolError::UnexpectedFragment)?;
            (Some(id), FRAGMENT_1_2_PREFIX)
        } else {
            (None, HEADER_LEN)
        };
        let index = self
            .partial
            .iter()
            .position(|p| p.id == id && p.header.version == header.version)
            .ok_or(ProtocolError::UnexpectedFragment)?;
        octets.advance(prefix);
        let limit = self.limits.max_message_octets;
        let begun = self.partial.get(index).map_or(0, |p| p.octets.len());
        let whole = begun.saturating_add(octets.len());
        if whole > limit {
            return Err(ProtocolError::MessageTooLarge {
                octets: whole,
                limit,
            });
        }
        self.check_partial_octets(octets.len())?;
        let partial = self
            .partial
            .get_mut(index)
            .ok_or(ProtocolError::UnexpectedFragment)?;
        // All fragments of one message have the same byte order.
        if partial.header.endian != header.endian {
            return Err(ProtocolError::UnexpectedFragment);
        }
        if id.is_none() && !octets.is_empty() {
            partial.starts.push(partial.octets.len());
        }
        partial.octets.extend_from_slice(&octets);
        if header.more_fragments {
            return Ok(None);
        }
        let done = self.partial.swap_remove(index);
        Ok(Some(done.into_message()))
    }

    /// A client may give up a request whose fragments are still coming; no more of them follow.
    fn drop_cancelled(&mut self, header: MessageHeader, octets: &[u8]) {
        let id = id_at(octets, header.endian);
        if id.is_some() {
            self.partial.retain(|p| p.cancelled_by != id);
        }
    }
}

impl Partial {
    /// Octets of memory that it takes, the places of tiny fragments included.
    fn held(&self) -> usize {
        let starts = self.starts.len().saturating_mul(size_of::<usize>());
        self.octets.len().saturating_add(starts)
    }

    fn into_message(mut self) -> Message {
        let whole = self.octets.capacity();
        let octets = self.octets.split().freeze();
        buffers::give_receive(Receive {
            octets: self.octets,
            whole,
        });
        let size = octets.len().saturating_sub(HEADER_LEN);
        Message {
            header: MessageHeader {
                more_fragments: false,
                size: u32::try_from(size).unwrap_or(u32::MAX),
                ..self.header
            },
            frame: if self.starts.is_empty() {
                Frame::new(octets)
            } else {
                Frame::with_fragment_starts(octets, Arc::from(self.starts))
            },
        }
    }
}

/// Octets of the whole message, header included.
#[inline]
fn total(header: MessageHeader) -> usize {
    usize::try_from(header.size)
        .unwrap_or(usize::MAX)
        .saturating_add(HEADER_LEN)
}

/// The unsigned long right behind the message header.
fn id_at(octets: &[u8], endian: Endian) -> Option<u32> {
    let id = octets.get(HEADER_LEN..)?.first_chunk::<4>()?;
    Some(match endian {
        Endian::Big => u32::from_be_bytes(*id),
        Endian::Little => u32::from_le_bytes(*id),
    })
}

/// The id of a Request of GIOP 1.1: behind the service contexts.
fn id_of_1_1<O: ByteOrder>(octets: &[u8]) -> Option<u32> {
    let format = WireFormat {
        minor: 1,
        ..WireFormat::default()
    };
    let mut d = Decoder::<O>::from_slice(octets, format);
    d.take(HEADER_LEN).ok()?;
    // A context is an id and the length of its data at least.
    for _ in 0..d.read_count(8).ok()? {
        d.read_u32().ok()?;
        d.read_octets().ok()?;
    }
    d.read_u32().ok()
}
