//! A client and a server on a simulated link, which cuts and delays octets as it likes: no socket,
//! no clock, no runtime.

#[path = "pair/memory.rs"]
mod memory;

use proptest::prelude::*;
use std::collections::VecDeque;
use zorb_cdr::{BigEndian, ByteOrder, Decoder, Encoder, Endian, LittleEndian, WireFormat};
use zorb_giop::{
    Limits, LocateReply, LocateRequestHeader, Message, MessageHeader, MessageKind, ProtocolError,
    Reader, ReplyBuilder, ReplyHeader, ReplyStatus, RequestBuilder, RequestHeader, RequestId,
    RequestTable, ResponseFlags, ServiceContext, ServiceContextId, Version, cancel_request,
    empty_message,
};

/// One direction of the link.
#[derive(Default)]
struct Pipe(VecDeque<u8>);

impl Pipe {
    fn send(&mut self, octets: &[u8]) {
        self.0.extend(octets);
    }

    /// Lets up to `most` octets arrive.
    fn deliver(&mut self, most: usize, reader: &mut Reader) -> Result<Vec<Message>, ProtocolError> {
        reader.reserve()?;
        let spare = reader.buffer().capacity() - reader.buffer().len();
        assert!(spare > 0, "there is always room for a read");
        let octets: Vec<u8> = self.0.drain(..most.min(self.0.len()).min(spare)).collect();
        reader.buffer().extend_from_slice(&octets);
        let mut messages = Vec::new();
        while let Some(message) = reader.next()? {
            messages.push(message);
        }
        Ok(messages)
    }
}

/// Cuts a message into fragments of about `piece` octets of data, as its version allows.
fn fragment(message: &[u8], piece: usize) -> Vec<Vec<u8>> {
    let header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
    let v1_2 = header.version == Version::V1_2;
    // In 1.2 pieces are multiples of 8 with the header, and the first holds the request id.
    // In 1.1 alignment restarts at index 12 of each fragment: an unfragmented message may be cut
    // where that makes no difference.
    let size = piece.max(4).next_multiple_of(8);
    let first = if v1_2 { 16 + size } else { 12 + size };
    if header.version == Version::V1_0 || message.len() <= first {
        return vec![message.to_vec()];
    }
    let with_header = |kind, data: &[u8], more| {
        let header = MessageHeader {
            more_fragments: more,
            kind,
            size: u32::try_from(data.len()).unwrap(),
            ..header
        };
        [&header.to_octets(), data].concat()
    };
    let mut pieces = vec![with_header(header.kind, &message[12..first], true)];
    let id = &message[12..16];
    let mut rest = &message[first..];
    loop {
        let (data, after) = rest.split_at(size.min(rest.len()));
        let data = if v1_2 {
            [id, data].concat()
        } else {
            data.to_vec()
        };
        pieces.push(with_header(MessageKind::Fragment, &data, !after.is_empty()));
        rest = after;
        if rest.is_empty() {
            return pieces;
        }
    }
}

fn context() -> ServiceContext {
    ServiceContext {
        id: ServiceContextId(0x1234_5678),
        data: vec![1, 2, 3].into(),
    }
}

fn request<O: ByteOrder>(version: Version, id: u32, operation: &str, body: &[u8]) -> Vec<u8> {
    RequestBuilder {
        version,
        request_id: id,
        response: ResponseFlags::WithTarget,
        key: b"some key",
        operation,
        contexts: &[context()],
    }
    .encode(Encoder::<O>::new(WireFormat::default()), |e| {
        e.append(body);
        Ok(())
    })
    .unwrap()
    .to_vec()
}

fn reply<O: ByteOrder>(version: Version, id: u32, body: &[u8]) -> Vec<u8> {
    ReplyBuilder {
        version,
        request_id: id,
        status: ReplyStatus::NoException,
        contexts: &[context()],
    }
    .encode(Encoder::<O>::new(WireFormat::default()), |e| {
        e.append(body);
        Ok(())
    })
    .unwrap()
    .to_vec()
}

fn in_order(endian: Endian, big: impl Fn() -> Vec<u8>, little: impl Fn() -> Vec<u8>) -> Vec<u8> {
    match endian {
        Endian::Big => big(),
        Endian::Little => little(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the link does and however replies are ordered, every caller gets its own reply.
    #[test]
    fn every_call_gets_its_own_reply(
        minor in 0u8..3,
        client in prop::bool::ANY,
        server in prop::bool::ANY,
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..12),
        chunk in 1usize..400,
        piece in 1usize..100,
        reverse: bool,
    ) {
        let version = Version { major: 1, minor };
        let (client, server) = (Endian::from_flag(client), Endian::from_flag(server));
        let (mut up, mut down) = (Pipe::default(), Pipe::default());
        let mut table = RequestTable::new(true, 100);
        let mut expected = std::collections::HashMap::new();
        for (n, body) in bodies.iter().enumerate() {
            let id = table.insert(n).unwrap();
            let name = format!("operation{n}");
            let octets = in_order(
                client,
                || request::<BigEndian>(version, id.0, &name, body),
                || request::<LittleEndian>(version, id.0, &name, body),
            );
            for part in fragment(&octets, piece) {
                up.send(&part);
            }
            expected.insert(id.0, body.clone());
        }

        let mut reader = Reader::new(Limits::default());
        let mut served = Vec::new();
        while !up.0.is_empty() {
            for message in up.deliver(chunk, &mut reader).unwrap() {
                prop_assert_eq!(message.header.kind, MessageKind::Request);
                let header = RequestHeader::read(&message).unwrap();
                prop_assert!(header.operation.starts_with(b"operation"));
                let at = header.operation_at;
                prop_assert_eq!(
                    &message.frame.octets()[at..at + header.operation.len()],
                    header.operation
                );
                prop_assert_eq!(header.contexts.to_vec(), vec![context()]);
                prop_assert_eq!(header.target.object_key(), Some("some key".into()));
                let body = &message.frame.octets()[header.body..];
                // Alignment within the frame: only 1.2 pads, and only before a body.
                if minor == 2 && !body.is_empty() {
                    prop_assert_eq!(header.body % 8, 0);
                }
                prop_assert_eq!(body, &expected[&header.request_id][..]);
                served.push((header.request_id, body.to_vec()));
            }
        }
        prop_assert_eq!(served.len(), bodies.len());
        if reverse {
            served.reverse();
        }
        for (id, body) in served {
            let octets = in_order(
                server,
                || reply::<BigEndian>(version, id, &body),
                || reply::<LittleEndian>(version, id, &body),
            );
            for part in fragment(&octets, piece) {
                down.send(&part);
            }
        }
        down.send(&empty_message(MessageKind::CloseConnection, version));

        let mut reader = Reader::new(Limits::default());
        let mut closed = false;
        while !down.0.is_empty() {
            for message in down.deliver(chunk, &mut reader).unwrap() {
                if message.header.kind == MessageKind::CloseConnection {
                    closed = true;
                    continue;
                }
                let header = ReplyHeader::read(&message).unwrap();
                let n = table.complete(RequestId(header.request_id)).expect("a caller waits");
                prop_assert_eq!(&message.frame.octets()[header.body..], &bodies[n][..]);
            }
        }
        prop_assert!(closed && table.is_empty());
    }

    /// GIOP 1.1 restarts alignment in every fragment: values are read across them all the same.
    #[test]
    fn values_are_read_across_1_1_fragments(
        values in prop::collection::vec(any::<u32>(), 1..40),
        pieces in 1usize..12,
    ) {
        // The longs of one fragment are aligned to its own start, so cuts fall between them.
        let whole = request::<BigEndian>(Version::V1_1, 7, "op", &[]);
        let body_at = whole.len().next_multiple_of(4);
        let mut first = whole.clone();
        first.resize(body_at, 0);
        let mut parts = vec![first];
        for values in values.chunks(pieces) {
            parts.push(values.iter().flat_map(|v| v.to_be_bytes()).collect());
        }
        let last = parts.len() - 1;
        let mut pipe = Pipe::default();
        for (n, part) in parts.iter().enumerate() {
            let data = if n == 0 { &part[12..] } else { part };
            let header = MessageHeader {
                version: Version::V1_1,
                endian: Endian::Big,
                more_fragments: n < last,
                kind: if n == 0 { MessageKind::Request } else { MessageKind::Fragment },
                size: u32::try_from(data.len()).unwrap(),
            };
            pipe.send(&header.to_octets());
            pipe.send(data);
        }
        let mut reader = Reader::new(Limits::default());
        let messages = pipe.deliver(usize::MAX, &mut reader).unwrap();
        let header = RequestHeader::read(&messages[0]).unwrap();
        let format = WireFormat { minor: 1, ..WireFormat::default() };
        let mut d = Decoder::<BigEndian>::at(&messages[0].frame, header.body, format).unwrap();
        for value in values {
            prop_assert_eq!(d.read_u32(), Ok(value));
        }
        prop_assert!(d.read_u8().is_err());
    }

    /// Octets from anywhere: an error or messages, never a panic, and nothing that a limit forbids.
    #[test]
    fn any_octets_are_read_or_refused(octets in prop::collection::vec(any::<u8>(), 0..200), header: bool) {
        let mut reader = Reader::new(Limits::default());
        if header {
            reader.buffer().extend_from_slice(b"GIOP\x01\x02\x01");
        }
        reader.buffer().extend_from_slice(&octets);
        let _ = reader.reserve();
        while let Ok(Some(message)) = reader.next() {
            let _ = RequestHeader::read(&message);
            let _ = ReplyHeader::read(&message);
            let _ = LocateRequestHeader::read(&message);
            let _ = LocateReply::read(&message);
            let _ = message.cancelled_request();
        }
    }

    /// A message cut short anywhere is an error, never a panic and never something else.
    #[test]
    fn a_header_cut_short_is_malformed(minor in 0u8..3, cut in 12usize..60) {
        let version = Version { major: 1, minor };
        let whole = request::<LittleEndian>(version, 1, "operation", b"");
        prop_assume!(cut < whole.len());
        let mut octets = whole[..cut].to_vec();
        octets[8..12].copy_from_slice(&u32::try_from(cut - 12).unwrap().to_le_bytes());
        let mut reader = Reader::new(Limits::default());
        reader.buffer().extend_from_slice(&octets);
        let message = reader.next().unwrap().unwrap();
        let malformed = matches!(
            RequestHeader::read(&message),
            Err(ProtocolError::Malformed { kind: MessageKind::Request, .. })
        );
        prop_assert!(malformed);
    }
}

fn first_error(octets: &[u8], limits: Limits) -> ProtocolError {
    let mut reader = Reader::new(limits);
    reader.buffer().extend_from_slice(octets);
    if let Err(error) = reader.reserve() {
        assert_eq!(
            reader.next().unwrap_err(),
            error,
            "both ways of asking agree"
        );
        return error;
    }
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("expected an error"),
            Err(error) => return error,
        }
    }
}

#[test]
fn a_stream_that_is_not_giop_is_rejected_at_its_first_octet() {
    assert_eq!(
        first_error(b"HTTP", Limits::default()).to_string(),
        "expected the magic \"GIOP\", found an HTTP response: the peer is a web server"
    );
    assert!(matches!(
        first_error(b"G E", Limits::default()),
        ProtocolError::BadMagic { .. }
    ));
}

#[test]
fn a_length_over_the_limit_is_refused_before_anything_is_allocated() {
    let mut limits = Limits::default();
    limits.max_message_octets = 1000;
    let octets = b"GIOP\x01\x02\x00\x00\xff\xff\xff\xff";
    let mut reader = Reader::new(limits);
    reader.buffer().extend_from_slice(octets);
    let before = reader.buffer().capacity();
    let error = reader.reserve().unwrap_err();
    assert_eq!(reader.buffer().capacity(), before);
    assert_eq!(
        error.to_string(),
        "message of 4294967307 octets is over the limit of 1000 (max_message_octets)"
    );
    // Fragments count together.
    let octets = request::<BigEndian>(Version::V1_2, 1, "op", &[0; 2000]);
    let parts = fragment(&octets, 100).concat();
    assert!(matches!(
        first_error(&parts, limits),
        ProtocolError::MessageTooLarge { limit: 1000, .. }
    ));
}

#[test]
fn fragments_that_continue_nothing_or_interrupt_each_other_are_refused() {
    let v1_2 = fragment(&request::<BigEndian>(Version::V1_2, 1, "op", &[0; 200]), 40);
    let v1_1 = fragment(&request::<BigEndian>(Version::V1_1, 1, "op", &[0; 200]), 40);
    let other = request::<BigEndian>(Version::V1_1, 2, "op", &[]);
    let limits = Limits::default();
    assert_eq!(
        first_error(&v1_2[1], limits),
        ProtocolError::UnexpectedFragment
    );
    assert_eq!(
        first_error(&v1_1[1], limits),
        ProtocolError::UnexpectedFragment
    );
    // The same id twice.
    assert!(matches!(
        first_error(&[v1_2[0].clone(), v1_2[0].clone()].concat(), limits),
        ProtocolError::FragmentsInterrupted { .. }
    ));
    // A 1.1 request between 1.1 fragments.
    assert!(matches!(
        first_error(&[v1_1[0].clone(), other].concat(), limits),
        ProtocolError::FragmentsInterrupted { .. }
    ));
    // Nothing of 1.0 is fragmented: bit 1 of its byte-order octet only makes it little-endian.
    let mut close = empty_message(MessageKind::CloseConnection, Version::V1_1).to_vec();
    close[6] |= 2;
    assert!(matches!(
        first_error(&close, limits),
        ProtocolError::NotFragmentable { .. }
    ));
}

#[test]
fn unfinished_messages_are_bounded() {
    let mut limits = Limits::default();
    limits.max_partial_messages = 3;
    let mut octets = Vec::new();
    for id in 0..4 {
        octets.extend(
            &fragment(
                &request::<BigEndian>(Version::V1_2, id, "op", &[0; 200]),
                40,
            )[0],
        );
    }
    assert_eq!(
        first_error(&octets, limits),
        ProtocolError::TooManyPartialMessages { limit: 3 }
    );
}

#[test]
fn a_cancelled_request_needs_no_further_fragments() {
    let parts = fragment(&request::<BigEndian>(Version::V1_2, 9, "op", &[0; 200]), 40);
    let cancel = cancel_request(
        Encoder::<BigEndian>::new(WireFormat::default()),
        Version::V1_2,
        9,
    )
    .unwrap()
    .to_vec();
    let mut reader = Reader::new(Limits::default());
    reader
        .buffer()
        .extend_from_slice(&[parts[0].clone(), cancel, parts.concat()].concat());
    let message = reader.next().unwrap().unwrap();
    assert_eq!(message.cancelled_request(), Ok(9));
    let message = reader.next().unwrap().unwrap();
    assert_eq!(
        message.header.kind,
        MessageKind::Request,
        "the id is free again"
    );
    assert!(reader.next().unwrap().is_none());
}

#[test]
fn a_cancelled_request_of_1_1_needs_no_further_fragments() {
    let parts = |id| {
        fragment(
            &request::<BigEndian>(Version::V1_1, id, "op", &[0; 200]),
            100,
        )
    };
    let cancel = |id| {
        let e = Encoder::<BigEndian>::new(WireFormat::default());
        cancel_request(e, Version::V1_1, id).unwrap().to_vec()
    };
    let mut reader = Reader::new(Limits::default());
    // Another request is cancelled first, which changes nothing for this one.
    let octets = [
        parts(9)[0].clone(),
        cancel(8),
        parts(9)[1].clone(),
        cancel(9),
    ]
    .concat();
    reader.buffer().extend_from_slice(&octets);
    reader.buffer().extend_from_slice(&parts(10).concat());
    for id in [8, 9] {
        let message = reader.next().unwrap().unwrap();
        assert_eq!(message.cancelled_request(), Ok(id));
    }
    let message = reader.next().unwrap().unwrap();
    assert_eq!(RequestHeader::read(&message).unwrap().request_id, 10);
    assert!(reader.is_idle());
}

#[test]
fn locate_messages_survive_a_round_trip_in_every_version() {
    for minor in 0..=2 {
        let version = Version { major: 1, minor };
        let encoder = || Encoder::<LittleEndian>::new(WireFormat::default());
        let ior = zorb_giop::Ior {
            type_id: "IDL:X:1.0".to_owned(),
            profiles: Vec::new(),
        };
        let mut reader = Reader::new(Limits::default());
        let asked = LocateRequestHeader::encode(encoder(), version, 5, b"key").unwrap();
        let here = LocateReply::ObjectHere
            .encode(encoder(), version, 5)
            .unwrap();
        let there = LocateReply::ObjectForward(ior.clone());
        let forward = there.encode(encoder(), version, 5).unwrap();
        for message in [asked, here, forward] {
            reader.buffer().extend_from_slice(&message.to_vec());
        }
        let message = reader.next().unwrap().unwrap();
        let header = LocateRequestHeader::read(&message).unwrap();
        assert_eq!(
            (
                header.request_id,
                header.target.object_key().unwrap().as_ref()
            ),
            (5, &b"key"[..])
        );
        let message = reader.next().unwrap().unwrap();
        assert_eq!(
            LocateReply::read(&message),
            Ok((5, LocateReply::ObjectHere))
        );
        let message = reader.next().unwrap().unwrap();
        assert_eq!(LocateReply::read(&message), Ok((5, there)));
    }
}
