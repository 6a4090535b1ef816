//! Messages cut into fragments, and put together again by the reader.

use bytes::Bytes;
use proptest::prelude::*;
use zorb_cdr::{
    BigEndian, ByteOrder, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Endian,
    Gather, LittleEndian, SHARE_FROM, WireFormat,
};
use zorb_giop::{
    Fragments, HEADER_LEN, Limits, LocateRequestHeader, Message, MessageHeader, MessageKind,
    ProtocolError, Reader, ReplyBuilder, ReplyHeader, ReplyStatus, RequestBuilder, RequestHeader,
    ResponseFlags, Version, cancel_request,
};

/// Anything that an argument may be, alignment of every kind included.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Octets(Vec<u8>),
    Text(String),
    Shorts(Vec<i16>),
    Longs(Vec<u32>),
    Doubles(Vec<f64>),
    Texts(Vec<String>),
    Octet(u8),
    LongLong(u64),
    /// Large enough not to be copied.
    Shared(u8, usize),
}

impl Encode for Value {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        match self {
            Self::Octets(octets) => e.write_octets(octets),
            Self::Text(text) => e.write_str(text),
            Self::Shorts(values) => e.put(values),
            Self::Longs(values) => e.put(values),
            Self::Doubles(values) => e.put(values),
            Self::Texts(values) => e.put(values),
            Self::Octet(value) => e.put(value),
            Self::LongLong(value) => e.put(value),
            Self::Shared(octet, len) => e.write_shared(&Bytes::from(vec![*octet; *len])),
        }
    }
}

impl Value {
    fn decode_like<O: ByteOrder>(&self, d: &mut Decoder<'_, O>) -> Result<Self, DecodeError> {
        Ok(match self {
            Self::Octets(_) => Self::Octets(d.read_octets()?.to_vec()),
            Self::Text(_) => Self::Text(d.read_str()?.into_owned()),
            Self::Shorts(_) => Self::Shorts(d.get()?),
            Self::Longs(_) => Self::Longs(d.get()?),
            Self::Doubles(_) => Self::Doubles(d.get()?),
            Self::Texts(_) => Self::Texts(d.get()?),
            Self::Octet(_) => Self::Octet(u8::decode(d)?),
            Self::LongLong(_) => Self::LongLong(d.get()?),
            Self::Shared(..) => {
                let octets = d.read_octets()?;
                assert!(octets.iter().all(|octet| *octet == octets[0]));
                Self::Shared(octets[0], octets.len())
            }
        })
    }
}

fn value() -> impl Strategy<Value = Value> {
    let octets = prop::collection::vec(any::<u8>(), 0..400);
    prop_oneof![
        octets.prop_map(Value::Octets),
        "[a-zA-Zäß€]{0,200}".prop_map(Value::Text),
        prop::collection::vec(any::<i16>(), 0..200).prop_map(Value::Shorts),
        prop::collection::vec(any::<u32>(), 0..100).prop_map(Value::Longs),
        prop::collection::vec(-1e9..1e9, 0..50).prop_map(Value::Doubles),
        prop::collection::vec("[a-z]{0,100}", 0..10).prop_map(Value::Texts),
        any::<u8>().prop_map(Value::Octet),
        any::<u64>().prop_map(Value::LongLong),
        (any::<u8>(), SHARE_FROM..SHARE_FROM + 9).prop_map(|(o, n)| Value::Shared(o, n)),
    ]
}

fn format(version: Version) -> WireFormat {
    WireFormat {
        minor: version.minor,
        ..WireFormat::default()
    }
}

fn request<O: ByteOrder>(version: Version, id: u32, values: &[Value]) -> Gather {
    RequestBuilder {
        version,
        request_id: id,
        response: ResponseFlags::WithTarget,
        key: b"some key",
        operation: "operation",
        contexts: &[],
    }
    .encode(Encoder::<O>::new(format(version)), |e| {
        values.iter().try_for_each(|value| e.put(value))
    })
    .unwrap()
}

fn reply<O: ByteOrder>(version: Version, id: u32, values: &[Value]) -> Gather {
    ReplyBuilder {
        version,
        request_id: id,
        status: ReplyStatus::NoException,
        contexts: &[],
    }
    .encode(Encoder::<O>::new(format(version)), |e| {
        values.iter().try_for_each(|value| e.put(value))
    })
    .unwrap()
}

/// The pieces of a message, or the message itself.
fn pieces(message: Gather, most: usize) -> Vec<Vec<u8>> {
    match Fragments::new(message, most) {
        Ok(fragments) => fragments.map(|piece| piece.to_vec()).collect(),
        Err(whole) => vec![whole.to_vec()],
    }
}

fn header(piece: &[u8]) -> MessageHeader {
    MessageHeader::parse(piece.first_chunk().unwrap()).unwrap()
}

/// The rules of the specification and of known receivers for the pieces of one message.
fn check_pieces(pieces: &[Vec<u8>], version: Version, most: usize) {
    let last = pieces.len() - 1;
    for (n, piece) in pieces.iter().enumerate() {
        let header = header(piece);
        assert_eq!(header.size as usize + HEADER_LEN, piece.len());
        assert_eq!(header.more_fragments, n < last);
        assert_eq!(header.kind == MessageKind::Fragment, n > 0);
        if version == Version::V1_2 {
            assert!(piece.len() <= most, "{} over {most}", piece.len());
            assert_eq!(&piece[12..16], &pieces[0][12..16], "the request id");
            if n < last {
                assert_eq!(piece.len() % 8, 0);
            }
        } else if n < last {
            assert_eq!(header.size % 8, 0, "omniORB takes nothing else");
        }
    }
}

fn read_all(octets: &[u8]) -> Vec<Message> {
    let mut reader = Reader::new(Limits::default());
    reader.buffer().extend_from_slice(octets);
    let messages = std::iter::from_fn(|| reader.next().unwrap()).collect();
    assert!(reader.is_idle());
    messages
}

fn check_values<O: ByteOrder>(message: &Message, body: usize, values: &[Value]) {
    let format = format(message.header.version);
    let mut d = Decoder::<O>::at(&message.frame, body, format).unwrap();
    for value in values {
        assert_eq!(value.decode_like(&mut d).as_ref(), Ok(value));
    }
    assert!(d.read_u8().is_err());
}

fn check_in<O: ByteOrder>(version: Version, values: &[Value], most: usize) {
    for is_request in [true, false] {
        let whole = if is_request {
            request::<O>(version, 7, values)
        } else {
            reply::<O>(version, 7, values)
        };
        let octets = whole.to_vec();
        let pieces = pieces(whole, most);
        check_pieces(&pieces, version, most);
        let messages = read_all(&pieces.concat());
        assert_eq!(messages.len(), 1);
        let message = &messages[0];
        assert_eq!(message.header, header(&octets));
        assert_eq!(message.frame.octets()[HEADER_LEN..], octets[HEADER_LEN..]);
        let body = if is_request {
            RequestHeader::read(message).unwrap().body
        } else {
            ReplyHeader::read(message).unwrap().body
        };
        check_values::<O>(message, body, values);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is cut is put together again, octet for octet, and its values are read.
    #[test]
    fn the_reader_puts_together_what_was_cut(
        minor in 0u8..3,
        little: bool,
        values in prop::collection::vec(value(), 0..12),
        most in 64usize..2000,
    ) {
        let version = Version { major: 1, minor };
        match Endian::from_flag(little) {
            Endian::Big => check_in::<BigEndian>(version, &values, most),
            Endian::Little => check_in::<LittleEndian>(version, &values, most),
        }
    }

    /// Pieces of different messages may be mixed in GIOP 1.2.
    #[test]
    fn pieces_of_different_messages_may_be_mixed(
        lens in prop::collection::vec(0usize..1000, 1..6),
        most in 64usize..300,
        order in prop::collection::vec(any::<prop::sample::Index>(), 100),
    ) {
        let message = |n: usize| request::<LittleEndian>(
            Version::V1_2, n as u32, &[Value::Octets(vec![n as u8; lens[n]])]);
        let mut left: Vec<_> = (0..lens.len())
            .map(|n| std::collections::VecDeque::from(pieces(message(n), most)))
            .collect();
        let mut sent = Vec::new();
        for index in order.iter().cycle() {
            left.retain(|pieces| !pieces.is_empty());
            if left.is_empty() {
                break;
            }
            let at = index.index(left.len());
            sent.extend(left[at].pop_front().unwrap());
        }
        let messages = read_all(&sent);
        prop_assert_eq!(messages.len(), lens.len());
        for found in messages {
            let id = RequestHeader::read(&found).unwrap().request_id;
            let whole = message(id as usize).to_vec();
            prop_assert_eq!(&found.frame.octets()[HEADER_LEN..], &whole[HEADER_LEN..]);
        }
    }
}

#[test]
fn a_large_message_of_1_1_is_cut_wherever_it_may_be() {
    let most = 1000;
    let octets = Value::Octets(vec![1; 100_000]);
    let found = pieces(
        request::<LittleEndian>(Version::V1_1, 1, std::slice::from_ref(&octets)),
        most,
    );
    assert!(found.iter().all(|piece| piece.len() <= most));
    assert!(
        found.len() <= 100_000 / (most - 32) + 1,
        "no piece is small"
    );

    // Octets that may not be cut go in one piece, and those behind them are cut again.
    let doubles = Value::Doubles(vec![1.5; 1000]);
    let found = pieces(
        request::<LittleEndian>(Version::V1_1, 1, std::slice::from_ref(&doubles)),
        most,
    );
    assert_eq!(found.len(), 1);
    let found = pieces(
        request::<LittleEndian>(Version::V1_1, 1, &[octets.clone(), doubles, octets]),
        most,
    );
    let long: Vec<usize> = found.iter().map(Vec::len).filter(|n| *n > most).collect();
    assert_eq!(long.len(), 1);
    assert!((8_000..9_100).contains(&long[0]), "{long:?}");
}

#[test]
fn nothing_is_copied_when_a_message_is_cut() {
    let large = Bytes::from(vec![7; 1 << 20]);
    let whole = ReplyBuilder {
        version: Version::V1_2,
        request_id: 1,
        status: ReplyStatus::NoException,
        contexts: &[],
    }
    .encode(Encoder::<BigEndian>::new(WireFormat::default()), |e| {
        e.put(&large)
    })
    .unwrap();
    let inside = large.as_ptr_range();
    let shared: usize = Fragments::new(whole, 4096)
        .unwrap()
        .flat_map(|piece| piece.chunks().map(<[u8]>::as_ptr_range).collect::<Vec<_>>())
        .filter(|chunk| inside.contains(&chunk.start))
        .map(|chunk| chunk.end as usize - chunk.start as usize)
        .sum();
    assert_eq!(shared, large.len());
}

#[test]
fn what_has_no_fragments_stays_whole() {
    let long_key = vec![1; 1000];
    let encoder = || Encoder::<BigEndian>::new(WireFormat::default());
    let values = [Value::Octets(vec![0; 1000])];
    let short = request::<BigEndian>(Version::V1_2, 1, &[]);
    assert!(short.len() <= 64);
    for whole in [
        request::<BigEndian>(Version::V1_0, 1, &values),
        LocateRequestHeader::encode(encoder(), Version::V1_1, 1, &long_key).unwrap(),
        cancel_request(encoder(), Version::V1_2, 1).unwrap(),
        short,
    ] {
        let octets = whole.to_vec();
        let Err(whole) = Fragments::new(whole, 1) else {
            panic!("cut: {octets:?}");
        };
        assert_eq!(whole.to_vec(), octets);
    }
    // In 1.2 the questions where an object is may have some.
    let whole = LocateRequestHeader::encode(encoder(), Version::V1_2, 1, &long_key).unwrap();
    let messages = read_all(&pieces(whole, 64).concat());
    let header = LocateRequestHeader::read(&messages[0]).unwrap();
    assert_eq!(header.target.object_key().unwrap(), long_key);
}

#[test]
fn no_piece_of_1_1_is_too_long_for_omniorb() {
    let octets = Value::Octets(vec![1; 100_000]);
    let whole = || request::<LittleEndian>(Version::V1_1, 1, std::slice::from_ref(&octets));
    let found = pieces(whole(), 50_000);
    assert!(
        found
            .iter()
            .all(|piece| piece.len() <= Fragments::MAX_OCTETS_1_1)
    );
    // A message is cut only on request.
    assert_eq!(pieces(whole(), 200_000).len(), 1);
}

/// The most octets of a message in the tests of messages beyond the limit.
const LIMIT: usize = 10_000;

fn limited() -> Reader {
    let mut limits = Limits::default();
    limits.max_message_octets = LIMIT;
    Reader::new(limits).skip_too_large()
}

/// The next message.
fn next(reader: &mut Reader, octets: &[u8]) -> Option<Message> {
    reader.reserve().unwrap();
    reader.buffer().extend_from_slice(octets);
    let message = reader.next().unwrap();
    assert!(reader.next().unwrap().is_none() && reader.is_idle());
    message
}

/// A message of so many octets in fragments is cut short, and nothing follows of it, while another one is put together.
fn check_too_large<O: ByteOrder>(version: Version, octets: usize, most: usize) {
    let too_large = request::<O>(version, 4, &[Value::Octets(vec![1; octets])]);
    let too_large = pieces(too_large, most);
    let other = pieces(
        request::<O>(version, 6, &[Value::Octets(vec![2; 5_000])]),
        1_000,
    );
    let mut reader = limited();
    let mut received: Vec<Message> = Vec::new();
    // Fragments of 1.1 may not be interleaved.
    let mut between = other.iter().filter(|_| version >= Version::V1_2);
    for piece in &too_large {
        received.extend(next(&mut reader, piece));
        if let Some(piece) = between.next() {
            received.extend(next(&mut reader, piece));
        }
        assert!(
            reader.held() <= LIMIT * 2 + (16 << 10),
            "{} octets held",
            reader.held()
        );
    }
    match version >= Version::V1_2 {
        true => between.for_each(|piece| received.extend(next(&mut reader, piece))),
        false => other
            .iter()
            .for_each(|piece| received.extend(next(&mut reader, piece))),
    }
    let found: Vec<(u32, bool)> = (received.iter())
        .map(|message| {
            (
                RequestHeader::read(message).unwrap().request_id,
                message.is_cut_short(),
            )
        })
        .collect();
    let mut expected = found.clone();
    expected.sort_unstable();
    assert_eq!(expected, [(4, true), (6, false)], "GIOP {version}");
    let cut = &received[found.iter().position(|(_, is_cut)| *is_cut).unwrap()];
    assert!(cut.octets() > LIMIT, "{}", cut.octets());
    assert!(cut.frame.len() <= LIMIT);
    // The id is free again, and the reader holds nothing.
    let again = request::<O>(version, 4, &[Value::Octets(vec![3; 5_000])]);
    let again: Vec<Message> = (pieces(again, 1_000).iter())
        .filter_map(|piece| next(&mut reader, piece))
        .collect();
    assert!(matches!(&*again, [message] if !message.is_cut_short()));
}

#[test]
fn of_a_message_beyond_the_limit_in_fragments_the_first_octets_are_received_and_others_are_whole() {
    for version in [Version::V1_1, Version::V1_2] {
        // Also pieces that are beyond the limit themselves, the first or a later one.
        for (octets, most) in [
            (30_000, 1_000),
            (30_000, 64),
            (100_000, 40_000),
            (12_000, 11_000),
        ] {
            check_too_large::<LittleEndian>(version, octets, most);
            check_too_large::<BigEndian>(version, octets, most);
        }
    }
    // A small piece first, and all the rest in one fragment.
    let whole = request::<LittleEndian>(Version::V1_2, 4, &[Value::Octets(vec![1; 30_000])]);
    let whole = whole.to_vec();
    let mut first = whole[..24].to_vec();
    first[6] |= 2;
    first[8..12].copy_from_slice(&12_u32.to_le_bytes());
    let mut rest = [&first[..8], &[0; 4], &4_u32.to_le_bytes(), &whole[24..]].concat();
    rest[6] &= !2;
    rest[7] = MessageKind::Fragment as u8;
    let size = u32::try_from(rest.len() - HEADER_LEN).unwrap();
    rest[8..12].copy_from_slice(&size.to_le_bytes());
    let mut reader = limited();
    assert!(next(&mut reader, &first).is_none());
    let cut = next(&mut reader, &rest).unwrap();
    assert!(cut.is_cut_short() && cut.octets() == whole.len());
    assert_eq!(RequestHeader::read(&cut).unwrap().operation, b"operation");
}

#[test]
fn a_cancelled_message_beyond_the_limit_has_no_further_fragments() {
    let version = Version::V1_2;
    let octets = Value::Octets(vec![1; 30_000]);
    let found = pieces(request::<LittleEndian>(version, 4, &[octets]), 4_000);
    let mut reader = limited();
    let begun = found
        .iter()
        .take(5)
        .filter_map(|piece| next(&mut reader, piece));
    assert_eq!(begun.count(), 1);
    let e = Encoder::<LittleEndian>::new(format(version));
    let cancel = cancel_request(e, version, 4).unwrap().to_vec();
    assert!(next(&mut reader, &cancel).is_some());
    reader.reserve().unwrap();
    reader.buffer().extend_from_slice(&found[5]);
    assert_eq!(
        reader.next().unwrap_err(),
        ProtocolError::UnexpectedFragment
    );
}

#[test]
fn the_fragments_of_a_message_beyond_the_limit_are_skipped_up_to_a_limit() {
    let version = Version::V1_2;
    let octets = Value::Octets(vec![1; LIMIT * 40]);
    let found = pieces(request::<LittleEndian>(version, 4, &[octets]), 4_000);
    let mut reader = limited();
    let mut skipped = 0;
    let error = found.iter().find_map(|piece| {
        reader.reserve().unwrap();
        reader.buffer().extend_from_slice(piece);
        skipped += piece.len();
        reader.next().err()
    });
    let error = error.expect("an error");
    assert!(
        matches!(error, ProtocolError::MessageTooLarge { limit: LIMIT, .. }),
        "{error}"
    );
    assert!(
        (LIMIT * 32..LIMIT * 34).contains(&skipped),
        "{skipped} octets were skipped"
    );
    // A fragment that announces more is refused before it comes.
    let mut reader = limited();
    assert!(next(&mut reader, &found[0]).is_none());
    let mut rest = found[1][..16].to_vec();
    rest[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    reader.buffer().extend_from_slice(&rest);
    reader.buffer().extend_from_slice(&vec![1; 8 << 10]);
    let error = reader.next().unwrap_err();
    assert!(
        matches!(error, ProtocolError::MessageTooLarge { .. }),
        "{error}"
    );
}

#[test]
fn a_whole_message_does_not_come_between_the_fragments_of_the_same_id() {
    let version = Version::V1_2;
    let values = [Value::Octets(vec![1; 5_000])];
    for is_same in [true, false] {
        let found = pieces(request::<LittleEndian>(version, 4, &values), 1_000);
        let id = if is_same { 4 } else { 6 };
        let whole = request::<LittleEndian>(version, id, &[]).to_vec();
        let mut reader = Reader::new(Limits::default());
        reader.buffer().extend_from_slice(&found[0]);
        reader.buffer().extend_from_slice(&whole);
        let expected = ProtocolError::FragmentsInterrupted {
            kind: MessageKind::Request,
        };
        match is_same {
            true => assert_eq!(reader.next().unwrap_err(), expected),
            false => assert!(reader.next().unwrap().is_some()),
        }
    }
}
