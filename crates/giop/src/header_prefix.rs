//! Request headers that are compared octet by octet, for connections that repeat an operation of an object.

use crate::context::ServiceContextId;
use crate::header::{HEADER_LEN, Message, MessageHeader};
use crate::request::{
    BODY_ALIGNMENT, FLAGS_AT, ID_POSITION, KEY_LENGTH_AT, RequestHeader, TargetAddress,
};
use zorb_cdr::{ByteOrder, Endian};

/// A request header without its request id. A request that matches it is for the same operation of the same object,
/// and its header needs no parsing.
///
/// Only requests of GIOP 1.2 in one piece have one, addressed by an object key, with no service context but CodeSets.
/// Their header has at most 1 KiB, since the peer chooses how much is kept.
#[derive(Debug)]
pub struct RequestHeaderPrefix {
    endian: Endian,
    /// The octets from the response flags to the end of the service contexts. A request that states other contexts does
    /// not match.
    octets: Box<[u8]>,
}

/// Octets of an empty list of service contexts: its count.
const EMPTY_LIST: usize = 4;
/// Octets of a service context before its data: its id and its length.
const CONTEXT_HEADER: usize = 8;

/// Longest prefix in octets. Object keys and operation names have tens of octets; longer headers are parsed each time.
const MAX_PREFIX_OCTETS: usize = 1 << 10;

impl RequestHeaderPrefix {
    /// Returns the prefix of a request, and its parsed header; `None` for a request that has no prefix. Allocates.
    #[must_use]
    pub fn of(message: &Message) -> Option<(Self, RequestHeader<'_>)> {
        let (header, contexts) = match RequestHeader::common(message) {
            Some(header) => (header, EMPTY_LIST),
            None => Self::with_code_sets(message)?,
        };
        let name_end = header.operation_at.checked_add(header.operation.len())?;
        let end = contexts_at(name_end.checked_add(1)?)?.checked_add(contexts)?;
        let octets = message.frame.octets().get(FLAGS_AT..end)?;
        if octets.len() > MAX_PREFIX_OCTETS {
            return None;
        }
        let endian = message.header.endian;
        let octets = octets.into();
        Some((Self { endian, octets }, header))
    }

    /// Returns the header of a request whose only service context is CodeSets, and the octets of the list of contexts.
    /// A client that sends only one-way requests repeats the context in each, as no reply confirms it.
    fn with_code_sets(message: &Message) -> Option<(RequestHeader<'_>, usize)> {
        if !message.header.version.has_contexts_last()
            || !message.frame.fragment_starts().is_empty()
        {
            return None;
        }
        let header = RequestHeader::read(message).ok()?;
        let TargetAddress::Key(_) = header.target else {
            return None;
        };
        let code_sets = header.contexts.only(ServiceContextId::CODE_SETS)?;
        let octets = (EMPTY_LIST + CONTEXT_HEADER).checked_add(code_sets.len())?;
        Some((header, octets))
    }

    /// Returns the request id of a request that matches the prefix, and the offset of its arguments. `octets` are those
    /// of a whole message in one piece.
    #[must_use]
    #[inline]
    pub fn match_prefix(&self, header: &MessageHeader, octets: &[u8]) -> Option<(u32, usize)> {
        if header.endian != self.endian || !header.version.has_contexts_last() {
            return None;
        }
        let (id, behind) = octets.get(ID_POSITION..)?.split_first_chunk()?;
        if !behind.starts_with(&self.octets) {
            return None;
        }
        let end = FLAGS_AT.saturating_add(self.octets.len());
        let body = end.checked_next_multiple_of(BODY_ALIGNMENT)?;
        let body = if body <= octets.len() { body } else { end };
        Some((number(header.endian, *id), body))
    }

    /// Returns a hash of the ends of object key and operation name, equal for requests of one operation of one object.
    /// `None` for requests that cannot have a prefix. `octets` are those of a whole message in one piece.
    #[must_use]
    #[inline]
    pub fn tag(header: &MessageHeader, octets: &[u8]) -> Option<u64> {
        if !header.version.has_contexts_last() {
            return None;
        }
        let length = |at: usize| {
            let length = octets.get(at..)?.first_chunk()?;
            usize::try_from(number(header.endian, *length)).ok()
        };
        let last = |end: usize| {
            let octets = octets.get(..end)?.last_chunk()?;
            Some(u64::from_ne_bytes(*octets))
        };
        let key_end = KEY_LENGTH_AT
            .checked_add(4)?
            .checked_add(length(KEY_LENGTH_AT)?)?;
        let name_length_at = key_end.checked_next_multiple_of(4)?;
        let name_end = name_length_at
            .checked_add(4)?
            .checked_add(length(name_length_at)?)?;
        let (key, name) = (last(key_end)?, last(name_end)?);
        Some((key ^ name.rotate_left(32)).wrapping_mul(MULTIPLIER))
    }
}

/// The multiplier of the hash: odd, with evenly distributed bits.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

const _: () = assert!(HEADER_LEN == ID_POSITION && FLAGS_AT == ID_POSITION + 4);

/// Returns the offset of the service contexts of a header whose operation name, with its NUL, ends at `name_end`.
fn contexts_at(name_end: usize) -> Option<usize> {
    name_end.checked_next_multiple_of(4)
}

#[inline]
fn number(endian: Endian, octets: [u8; 4]) -> u32 {
    match endian {
        Endian::Big => zorb_cdr::BigEndian::load_u32(octets),
        Endian::Little => zorb_cdr::LittleEndian::load_u32(octets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Version;
    use crate::request::{RequestBuilder, ResponseFlags};
    use crate::{ServiceContext, ServiceContextId};
    use bytes::Bytes;
    use zorb_cdr::{BigEndian, Encoder, Frame, LittleEndian, WireFormat};

    fn message(octets: &[u8]) -> Message {
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        let frame = Frame::new(Bytes::copy_from_slice(octets));
        Message { header, frame }
    }

    fn tag(message: &Message) -> Option<u64> {
        RequestHeaderPrefix::tag(&message.header, message.frame.octets())
    }

    fn octets<O: ByteOrder>(request: &RequestBuilder<'_>, arguments: &[u8]) -> Vec<u8> {
        let e = Encoder::<O>::new(WireFormat::default());
        let written = request.encode(e, |e| {
            arguments.iter().for_each(|octet| e.write_u8(*octet));
            Ok(())
        });
        written.unwrap().to_vec()
    }

    fn with<O: ByteOrder>(contexts: &[ServiceContext], arguments: &[u8]) -> Vec<u8> {
        octets::<O>(
            &RequestBuilder {
                contexts,
                ..REQUEST
            },
            arguments,
        )
    }

    const REQUEST: RequestBuilder<'_> = RequestBuilder {
        version: Version::V1_2,
        request_id: 0x0102_0304,
        response: ResponseFlags::WithTarget,
        key: b"a key that is long enough",
        operation: "an_operation",
        contexts: &[],
    };

    /// Whether `other` matches the prefix of `one`, which is right only if their headers are the same.
    fn is_known(one: &[u8], other: &[u8]) -> bool {
        let (one, other) = (message(one), message(other));
        let Some((head, header)) = RequestHeaderPrefix::of(&one) else {
            return false;
        };
        assert!(tag(&one).is_some());
        let Some((id, body)) = head.match_prefix(&other.header, other.frame.octets()) else {
            return false;
        };
        assert_eq!(tag(&one), tag(&other));
        let found = RequestHeader::read(&other).unwrap();
        assert_eq!((found.request_id, found.body), (id, body));
        assert_eq!(
            (found.target, found.operation, found.operation_at),
            (header.target, header.operation, header.operation_at)
        );
        assert_eq!(found.response, header.response);
        true
    }

    fn check<O: ByteOrder>() {
        let next = RequestBuilder {
            request_id: 7,
            ..REQUEST
        };
        for one in [&b""[..], b"x", b"longer arguments"] {
            for other in [&b""[..], b"y", b"other arguments"] {
                assert!(is_known(
                    &octets::<O>(&REQUEST, one),
                    &octets::<O>(&next, other)
                ));
            }
        }
        let context = ServiceContext {
            id: ServiceContextId::CODE_SETS,
            data: Bytes::from_static(&[1, 0, 0]),
        };
        let contexts = core::slice::from_ref(&context);
        // Only a header with the same code sets, and no further context, matches.
        let other_data = ServiceContext {
            data: Bytes::from_static(&[1, 0, 1]),
            ..context.clone()
        };
        let other_id = ServiceContext {
            id: ServiceContextId::BI_DIR_IIOP,
            ..context.clone()
        };
        for one in [&b""[..], b"x", b"longer arguments"] {
            let one = with::<O>(contexts, one);
            for other in [&b""[..], b"y", b"other arguments"] {
                assert!(is_known(&one, &with::<O>(contexts, other)));
                assert!(!is_known(&one, &with::<O>(&[], other)));
                for data in [&other_data, &other_id] {
                    assert!(!is_known(
                        &one,
                        &with::<O>(core::slice::from_ref(data), other)
                    ));
                }
                let twice = [context.clone(), other_id.clone()];
                assert!(!is_known(&one, &with::<O>(&twice, other)));
                assert!(!is_known(
                    &with::<O>(&twice, b""),
                    &with::<O>(&twice, other)
                ));
            }
            let other_id = with::<O>(core::slice::from_ref(&other_id), b"");
            assert!(!is_known(&other_id, &other_id));
        }
        let others = [
            RequestBuilder {
                key: b"a key that is long enougi",
                ..REQUEST
            },
            RequestBuilder {
                key: b"",
                ..REQUEST
            },
            RequestBuilder {
                operation: "an_operatiom",
                ..REQUEST
            },
            RequestBuilder {
                operation: "",
                ..REQUEST
            },
            RequestBuilder {
                response: ResponseFlags::None,
                ..REQUEST
            },
            RequestBuilder {
                version: Version::V1_1,
                ..REQUEST
            },
            RequestBuilder {
                version: Version::V1_0,
                ..REQUEST
            },
            RequestBuilder {
                contexts,
                ..REQUEST
            },
        ];
        let one = octets::<O>(&REQUEST, b"x");
        for other in others {
            assert!(!is_known(&one, &octets::<O>(&other, b"x")), "{other:?}");
        }
    }

    #[test]
    fn no_more_of_a_header_is_kept_than_a_header_is_long() {
        for (length, is_kept) in [(100, true), (MAX_PREFIX_OCTETS, false)] {
            let operation = "o".repeat(length);
            let request = RequestBuilder {
                operation: &operation,
                ..REQUEST
            };
            let message = message(&octets::<LittleEndian>(&request, b""));
            assert_eq!(
                RequestHeaderPrefix::of(&message).is_some(),
                is_kept,
                "{length}"
            );
        }
    }

    #[test]
    fn a_request_is_known_by_one_that_differs_in_id_and_arguments_only() {
        check::<BigEndian>();
        check::<LittleEndian>();
        let (big, little) = (octets::<BigEndian>, octets::<LittleEndian>);
        assert!(!is_known(&big(&REQUEST, b"x"), &little(&REQUEST, b"x")));
    }

    #[test]
    fn whatever_a_request_is_made_of_it_is_known_for_what_it_is() {
        let context = ServiceContext {
            id: ServiceContextId::CODE_SETS,
            data: Bytes::from_static(&[1, 0, 0]),
        };
        let contexts = core::slice::from_ref(&context);
        let with_context = RequestBuilder {
            contexts,
            ..REQUEST
        };
        for request in [REQUEST, with_context] {
            is_known_for_what_it_is(&octets::<LittleEndian>(&request, b"x"));
        }
    }

    fn is_known_for_what_it_is(one: &[u8]) {
        for at in HEADER_LEN..one.len() {
            is_known(one, &one[..at]);
            is_known(&one[..at], one);
            let _ = tag(&message(&one[..at]));
            for octet in [0, 1, 2, 4, 5, 12, 13, 0x7f, 0x80, 0xff] {
                let mut other = one.to_vec();
                other[at] = octet;
                is_known(one, &other);
                is_known(&other, one);
                is_known(&other, &other);
            }
        }
    }
}
