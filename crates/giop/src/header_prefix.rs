//! Request headers that are compared octet by octet, for connections that repeat an operation of an object.

use crate::context::{ServiceContext, ServiceContextId};
use crate::header::{HEADER_LEN, Message, MessageHeader};
use crate::request::{
    BODY_ALIGNMENT, FLAGS_AT, ID_POSITION, KEY_LENGTH_AT, RequestHeader, TargetAddress,
};
use bytes::Bytes;
use zorb_cdr::{ByteOrder, Endian};

/// A request header without its request id and its service contexts. A request that matches it is for the same operation of
/// the same object, and its header needs no parsing.
///
/// Only requests of GIOP 1.2 in one piece have one, addressed by an object key. Their header has at most 1 KiB without its
/// contexts, since the peer chooses how much is kept. Contexts that say something of the connection have to be those of the
/// request that it was made of; all others are passed over.
#[derive(Debug)]
pub struct RequestHeaderPrefix {
    endian: Endian,
    /// The octets from the response flags to the list of service contexts.
    octets: Box<[u8]>,
    /// What the connection knows from the contexts of a request that was parsed.
    settled: Vec<ServiceContext>,
}

/// The contexts that say something of the connection. The offer of endpoints is taken each time that it is made.
const OF_CONNECTION: [ServiceContextId; 3] = [
    ServiceContextId::CODE_SETS,
    ServiceContextId::RMI_CUSTOM_MAX_STREAM_FORMAT,
    ServiceContextId::BI_DIR_IIOP,
];

/// Octets of an empty list of service contexts: its count.
const EMPTY_LIST: usize = 4;
/// Octets of a service context before its data: its id and its length.
const CONTEXT_HEADER: usize = 8;

/// Longest prefix in octets. Object keys and operation names have tens of octets; longer headers are parsed each time.
const MAX_PREFIX_OCTETS: usize = 1 << 10;
/// Longest data of a settled context. Those of the connection have some twenty octets.
const MAX_SETTLED_OCTETS: usize = 64;

impl RequestHeaderPrefix {
    /// Returns the prefix of a request, and its parsed header; `None` for a request that has no prefix. Allocates.
    #[must_use]
    pub fn of(message: &Message) -> Option<(Self, RequestHeader<'_>)> {
        if !message.header.version.has_contexts_last()
            || !message.frame.fragment_starts().is_empty()
        {
            return None;
        }
        let header = RequestHeader::read(message).ok()?;
        let TargetAddress::Key(_) = header.target else {
            return None;
        };
        let name_end = header.operation_at.checked_add(header.operation.len())?;
        let end = contexts_at(name_end.checked_add(1)?)?;
        let octets = message.frame.octets().get(FLAGS_AT..end)?;
        if octets.len() > MAX_PREFIX_OCTETS {
            return None;
        }
        let mut settled = Vec::new();
        for id in OF_CONNECTION {
            match header.contexts.get(id) {
                None => {}
                Some(data)
                    if id != ServiceContextId::BI_DIR_IIOP && data.len() <= MAX_SETTLED_OCTETS =>
                {
                    let data = Bytes::copy_from_slice(data);
                    settled.push(ServiceContext { id, data });
                }
                Some(_) => return None,
            }
        }
        let prefix = Self {
            endian: message.header.endian,
            octets: octets.into(),
            settled,
        };
        Some((prefix, header))
    }

    /// Returns the request id of a request that matches the prefix, and the offset of its arguments. `octets` are those
    /// of a whole message in one piece. Costs a few instructions more for each service context.
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
        let contexts = FLAGS_AT.saturating_add(self.octets.len());
        let end = match octets.get(contexts..)?.first_chunk()? {
            [0, 0, 0, 0] => contexts.saturating_add(EMPTY_LIST),
            count => self.behind_contexts(octets, contexts, *count)?,
        };
        let body = end.checked_next_multiple_of(BODY_ALIGNMENT)?;
        let body = if body <= octets.len() { body } else { end };
        Some((number(header.endian, *id), body))
    }

    /// Returns the end of a list of service contexts; `None` if it is malformed, or says of the connection what is not known.
    #[inline(never)]
    fn behind_contexts(&self, octets: &[u8], at: usize, count: [u8; 4]) -> Option<usize> {
        let mut end = at.checked_add(EMPTY_LIST)?;
        for _ in 0..number(self.endian, count) {
            let (id, behind) = octets.get(contexts_at(end)?..)?.split_first_chunk()?;
            let (length, behind) = behind.split_first_chunk()?;
            let length = usize::try_from(number(self.endian, *length)).ok()?;
            let data = behind.get(..length)?;
            let id = ServiceContextId(number(self.endian, *id));
            let is_known = |known: &ServiceContext| known.id == id && known.data == data;
            if OF_CONNECTION.contains(&id) && !self.settled.iter().any(is_known) {
                return None;
            }
            end = contexts_at(end)?
                .checked_add(CONTEXT_HEADER)?
                .checked_add(length)?;
        }
        Some(end)
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

/// Returns the offset of what is aligned to four octets behind this one: the list of contexts behind the operation's name with
/// its NUL, or a context behind another.
fn contexts_at(end: usize) -> Option<usize> {
    end.checked_next_multiple_of(4)
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
        // Those of the connection have to be the same, or none.
        let other_data = ServiceContext {
            data: Bytes::from_static(&[1, 0, 1]),
            ..context.clone()
        };
        let offer = ServiceContext {
            id: ServiceContextId::BI_DIR_IIOP,
            ..context.clone()
        };
        // Any other may be there or not, of any length.
        let others_contexts = [0, 1, 5, 100].map(|length| ServiceContext {
            id: ServiceContextId(0x4142_4300 + length),
            data: Bytes::from(vec![9; usize::try_from(length).unwrap()]),
        });
        for one in [&b""[..], b"x", b"longer arguments"] {
            let (one, plain) = (with::<O>(contexts, one), with::<O>(&[], one));
            for other in [&b""[..], b"y", b"other arguments"] {
                assert!(is_known(&one, &with::<O>(contexts, other)));
                assert!(is_known(&one, &with::<O>(&[], other)));
                assert!(!is_known(&plain, &with::<O>(contexts, other)));
                for several in [
                    &others_contexts[..1],
                    &others_contexts[1..],
                    &others_contexts,
                ] {
                    assert!(is_known(&plain, &with::<O>(several, other)));
                    let behind: Vec<_> = contexts.iter().chain(several).cloned().collect();
                    assert!(is_known(&one, &with::<O>(&behind, other)));
                    assert!(is_known(
                        &with::<O>(&behind, b"z"),
                        &with::<O>(contexts, other)
                    ));
                    assert!(!is_known(&plain, &with::<O>(&behind, other)));
                }
                for data in [&other_data, &offer] {
                    let data = core::slice::from_ref(data);
                    assert!(!is_known(&one, &with::<O>(data, other)));
                }
                let twice = [context.clone(), offer.clone()];
                assert!(!is_known(&one, &with::<O>(&twice, other)));
                assert!(!is_known(
                    &with::<O>(&twice, b""),
                    &with::<O>(&twice, other)
                ));
            }
            let offer = with::<O>(core::slice::from_ref(&offer), b"");
            assert!(!is_known(&offer, &offer));
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
        let several = [
            context.clone(),
            ServiceContext {
                id: ServiceContextId(0x4142_4344),
                data: Bytes::from_static(&[1, 2, 3, 4, 5]),
            },
        ];
        let with_several = RequestBuilder {
            contexts: &several,
            ..REQUEST
        };
        for request in [REQUEST, with_context, with_several] {
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
