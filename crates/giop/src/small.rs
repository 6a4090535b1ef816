//! Replies of a few octets, copied out of the buffer they came in.

use crate::header::{HEADER_LEN, MAGIC, MessageKind, Version};
use crate::reader::Reader;
use crate::reply::{HEADER_OCTETS, ReplyStatus};
use crate::table::RequestId;
use zorb_cdr::{ByteOrder, Decoder, Endian, WireFormat};

/// A reply of a few octets, as most are: a copy of it, so that the buffer it came in is free at once, and nothing has to be
/// counted, split or given back for it.
///
/// Made once a call, and filled in place by [`Reader::take_small`].
#[derive(Debug, Clone)]
#[repr(C, align(8))]
pub struct SmallReply {
    octets: [u8; Self::MAX_OCTETS],
    len: usize,
    endian: Endian,
    status: ReplyStatus,
}

impl SmallReply {
    /// Octets of such a message, its headers included: to copy as many costs less than to share them does.
    pub const MAX_OCTETS: usize = 128;

    /// A place for a reply, without one: an empty message.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            octets: [0; Self::MAX_OCTETS],
            len: 0,
            endian: Endian::Little,
            status: ReplyStatus::NoException,
        }
    }

    /// The byte order of everything in it.
    #[inline]
    #[must_use]
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// What its body holds: a result, or an exception of the operation's own.
    #[inline]
    #[must_use]
    pub const fn status(&self) -> ReplyStatus {
        self.status
    }

    /// A decoder at its body; `O` has to be [its](Self::endian) byte order.
    ///
    /// # Errors
    /// When there is no reply here.
    #[inline]
    pub fn body<O: ByteOrder>(
        &self,
        format: WireFormat,
    ) -> Result<Decoder<'_, O>, zorb_cdr::DecodeError> {
        let octets = self.octets.get(..self.len).unwrap_or_default();
        let mut d = Decoder::from_slice(octets, format);
        d.take(HEADER_OCTETS)?;
        Ok(d)
    }

    /// Where a message may be received that is a small reply perhaps; what was here is gone then.
    #[inline]
    pub const fn place(&mut self) -> &mut [u8; Self::MAX_OCTETS] {
        self.len = 0;
        &mut self.octets
    }

    /// Whether so many octets that have been [received](Self::place) are a reply to `id` and nothing besides, as
    /// [`Reader::take_small`] takes it. If not, they are to be [told](Self::received) to a reader.
    #[inline]
    #[must_use]
    pub fn is_received(&mut self, octets: usize, id: RequestId) -> bool {
        let Some((status, endian)) = self.octets.get(..octets).and_then(|all| head(all, id)) else {
            return false;
        };
        self.len = octets;
        self.status = status;
        self.endian = endian;
        true
    }

    /// So many octets that have been [received](Self::place).
    #[must_use]
    pub fn received(&self, octets: usize) -> &[u8] {
        self.octets.get(..octets).unwrap_or_default()
    }

    /// Copies `octets` if they are such a reply to `id`, and nothing else.
    #[inline]
    fn fill(&mut self, octets: &[u8], id: RequestId) -> Option<()> {
        let (status, endian) = head(octets, id)?;
        let (place, behind) = self.octets.split_first_chunk_mut::<HEADER_OCTETS>()?;
        let (head, body) = octets.split_first_chunk::<HEADER_OCTETS>()?;
        let behind = behind.get_mut(..body.len())?;
        *place = *head;
        // Nothing is there to copy of most operations without results.
        if !body.is_empty() {
            behind.copy_from_slice(body);
        }
        self.len = octets.len();
        self.status = status;
        self.endian = endian;
        Some(())
    }
}

/// How a message begins that may be such a reply, in either byte order.
const LITTLE: u64 = beginning(1);
const BIG: u64 = beginning(0);

const fn beginning(flags: u8) -> u64 {
    let ([m0, m1, m2, m3], Version { major, minor }) = (MAGIC, Version::V1_2);
    u64::from_ne_bytes([
        m0,
        m1,
        m2,
        m3,
        major,
        minor,
        flags,
        MessageKind::Reply as u8,
    ])
}

/// What a small reply to `id` says of itself, if `octets` are one, and nothing else.
#[inline]
fn head(octets: &[u8], id: RequestId) -> Option<(ReplyStatus, Endian)> {
    let head = octets.first_chunk::<HEADER_OCTETS>()?;
    let (what, rest) = head.split_first_chunk::<8>()?;
    let [size, whose, status, contexts] = *rest.as_chunks::<4>().0.first_chunk::<4>()?;
    // Compared as one number. Any other bit of the flags says that fragments follow, or something that is not known here.
    let is_little = match u64::from_ne_bytes(*what) {
        LITTLE => true,
        BIG => false,
        _ => return None,
    };
    let long = |octets: [u8; 4]| match is_little {
        true => u32::from_le_bytes(octets),
        false => u32::from_be_bytes(octets),
    };
    let size = usize::try_from(long(size)).ok()?;
    if size != octets.len().wrapping_sub(HEADER_LEN) || long(whose) != id.0 || contexts != [0; 4] {
        return None;
    }
    let status = match long(status) {
        0 => ReplyStatus::NoException,
        1 => ReplyStatus::UserException,
        _ => return None,
    };
    Some((status, Endian::from_flag(is_little)))
}

impl Default for SmallReply {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// If what has come is one reply to `id` and nothing besides, of GIOP 1.2, of a few octets, without service contexts, with
    /// a result or an exception of the operation's own: copies it to `reply`, forgets it here, and says so. Otherwise
    /// nothing happens, and [`next`](Self::next) tells what has come.
    #[inline]
    #[must_use]
    pub fn take_small(&mut self, id: RequestId, reply: &mut SmallReply) -> bool {
        self.small_candidate()
            .is_some_and(|octets| reply.fill(octets, id).is_some())
            .then(|| self.forget_all())
            .is_some()
    }

    /// Whether what comes next may be received elsewhere, and [told](Self::receive) here if it is not a small message:
    /// nothing is expected here, and no buffer held.
    #[inline]
    #[must_use]
    pub fn may_be_small(&self) -> bool {
        self.has_nothing() && self.max_message_octets() >= SmallReply::MAX_OCTETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::reply::ReplyBuilder;
    use crate::{HEADER_LEN, ReplyHeader, ServiceContext, ServiceContextId};
    use zorb_cdr::{BigEndian, Encoder, LittleEndian};

    const ID: RequestId = RequestId(0x0102_0304);

    fn reply<O: ByteOrder>(builder: &ReplyBuilder<'_>, body: &[u8]) -> Vec<u8> {
        let e = Encoder::<O>::new(WireFormat::default());
        let reply = builder.encode(e, |e| {
            e.append(body);
            Ok(())
        });
        reply.unwrap().to_vec()
    }

    const PLAIN: ReplyBuilder<'_> = ReplyBuilder {
        version: Version::V1_2,
        request_id: ID.0,
        status: ReplyStatus::NoException,
        contexts: &[],
    };

    fn reader_of(octets: &[u8]) -> Reader {
        let mut reader = Reader::new(Limits::default());
        reader.buffer().extend_from_slice(octets);
        reader
    }

    /// Whether it is taken as a small one; then it is what any other way would have made of it.
    fn is_small<O: ByteOrder>(octets: &[u8]) -> bool {
        let mut small = SmallReply::new();
        let mut one = reader_of(octets);
        let taken = one.take_small(ID, &mut small);
        if octets.len() <= SmallReply::MAX_OCTETS {
            let mut received = SmallReply::new();
            received.place()[..octets.len()].copy_from_slice(octets);
            assert_eq!(received.is_received(octets.len(), ID), taken);
            assert_eq!(received.received(octets.len()), octets);
            if taken {
                let body = |reply: &SmallReply| {
                    let mut d = reply.body::<O>(WireFormat::default()).unwrap();
                    let left = d.remaining();
                    d.take(left).unwrap().to_vec()
                };
                assert_eq!(body(&received), body(&small));
                assert_eq!(received.status(), small.status());
                assert_eq!(received.endian(), small.endian());
            }
        }
        assert_eq!(one.buffer().is_empty(), taken || octets.is_empty());
        if taken {
            let mut other = reader_of(octets);
            let message = other.next().unwrap().unwrap();
            assert!(other.is_idle());
            let (id, status, body) = ReplyHeader::head(&message).unwrap();
            assert_eq!((id, status), (ID.0, small.status()));
            assert_eq!(message.header.endian, small.endian());
            let mut d = small.body::<O>(WireFormat::default()).unwrap();
            assert_eq!(d.position(), body);
            let left = d.remaining();
            assert_eq!(d.take(left).unwrap(), &message.frame.octets()[body..]);
        }
        taken
    }

    #[test]
    fn a_small_reply_is_what_it_is_by_any_other_way() {
        for status in [ReplyStatus::NoException, ReplyStatus::UserException] {
            let builder = ReplyBuilder { status, ..PLAIN };
            for len in [0, 1, 8, SmallReply::MAX_OCTETS - HEADER_OCTETS] {
                assert!(is_small::<LittleEndian>(&reply::<LittleEndian>(
                    &builder,
                    &vec![7; len]
                )));
                assert!(is_small::<BigEndian>(&reply::<BigEndian>(
                    &builder,
                    &vec![7; len]
                )));
            }
        }
    }

    #[test]
    fn whatever_is_not_one_small_plain_reply_stays_where_it_is() {
        let check = |octets: &[u8]| assert!(!is_small::<LittleEndian>(octets), "{octets:?}");
        let encode = |builder| reply::<LittleEndian>(&builder, &[]);
        let plain = encode(PLAIN);
        let context = ServiceContext {
            id: ServiceContextId(7),
            data: vec![1].into(),
        };
        let contexts = &[context][..];
        check(&encode(ReplyBuilder { contexts, ..PLAIN }));
        check(&encode(ReplyBuilder {
            request_id: 7,
            ..PLAIN
        }));
        for version in [Version::V1_0, Version::V1_1] {
            check(&encode(ReplyBuilder { version, ..PLAIN }));
        }
        for status in [
            ReplyStatus::SystemException,
            ReplyStatus::LocationForward,
            ReplyStatus::LocationForwardPerm,
            ReplyStatus::NeedsAddressingMode,
        ] {
            check(&encode(ReplyBuilder { status, ..PLAIN }));
        }
        let long = vec![7; SmallReply::MAX_OCTETS - HEADER_OCTETS + 1];
        check(&reply::<LittleEndian>(&PLAIN, &long));
        check(&[&plain[..], &plain[..]].concat());
        check(&[&plain[..], b"G"].concat());
        for at in 0..plain.len() {
            check(&plain[..at]);
            for octet in [2, 3, 0x7f, 0x80, 0xff] {
                let mut other = plain.clone();
                other[at] = octet;
                // It may be one all the same: then it is read so.
                if other != plain {
                    let _ = is_small::<LittleEndian>(&other);
                }
            }
        }
    }

    #[test]
    fn a_reply_beyond_the_limit_or_between_fragments_is_no_small_one() {
        let octets = reply::<LittleEndian>(&PLAIN, &[0; 8]);
        let mut small = SmallReply::new();
        let limits = Limits {
            max_message_octets: octets.len() - 1,
            ..Limits::default()
        };
        let mut reader = Reader::new(limits);
        reader.buffer().extend_from_slice(&octets);
        assert!(!reader.take_small(ID, &mut small));
        let mut first = octets.clone();
        first[HEADER_LEN - 6] |= 2;
        let mut reader = reader_of(&first);
        assert!(reader.next().unwrap().is_none());
        reader.buffer().extend_from_slice(&octets);
        assert!(!reader.take_small(ID, &mut small));
    }
}
