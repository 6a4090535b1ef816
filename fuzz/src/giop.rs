//! A stream of octets cut into messages: however it is delivered, the same messages come out, no
//! octet is lost or made up, and every header that can be read can be written.

use bytes::Bytes;
use zorb_cdr::{BigEndian, ByteOrder, Decoder, Encoder, Endian, LittleEndian};
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    Fault, Fragments, HEADER_LEN, Ior, Limits, LocateReply, LocateRequestHeader, Message,
    MessageHeader, MessageKind, PriorityBand, ProtocolError, Reader, ReplyBuilder, ReplyHeader,
    ReplyStatus, RequestBuilder, RequestHeader, ServiceContextId, SystemException, TargetAddress,
    Version, propagated_priority,
};

/// Limits low enough for a fuzzer to reach.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_message_octets = 1 << 12;
    limits.max_partial_octets = 1 << 13;
    limits.max_partial_messages = 4;
    limits
}

/// The messages of a stream.
struct Cut {
    messages: Vec<Message>,
    error: Option<ProtocolError>,
    left: Vec<u8>,
}

/// Feeds the stream in pieces whose sizes `sizes` gives in turn, over and over.
fn cut(stream: &[u8], sizes: &[u8]) -> Cut {
    let mut reader = Reader::new(limits());
    let mut messages = Vec::new();
    let mut rest = stream;
    let mut sizes = sizes.iter().cycle();
    loop {
        if let Err(error) = reader.reserve() {
            return Cut {
                messages,
                error: Some(error),
                left: Vec::new(),
            };
        }
        let spare = reader.buffer().capacity() - reader.buffer().len();
        assert!(spare > 0, "there is room for a read");
        assert!(spare <= 4 * Reader::READ_OCTETS, "and not much more");
        let size = sizes
            .next()
            .map_or(usize::MAX, |size| usize::from(*size) + 1);
        let (piece, behind) = rest.split_at(size.min(rest.len()).min(spare));
        reader.buffer().extend_from_slice(piece);
        rest = behind;
        loop {
            match reader.next() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(error) => {
                    return Cut {
                        messages,
                        error: Some(error),
                        left: Vec::new(),
                    };
                }
            }
        }
        if rest.is_empty() {
            return Cut {
                messages,
                error: None,
                left: reader.buffer().to_vec(),
            };
        }
    }
}

/// The first octet says how many of the next are the sizes of the pieces; the rest is the stream.
pub fn run(data: &[u8]) {
    let [count, data @ ..] = data else { return };
    let (sizes, stream) = data.split_at(usize::from(count % 8).min(data.len()));
    let whole = cut(stream, &[]);
    let pieces = cut(stream, sizes);
    let singly = cut(stream, &[0]);
    for other in [&pieces, &singly] {
        assert_eq!(whole.messages.len(), other.messages.len());
        for (a, b) in whole.messages.iter().zip(&other.messages) {
            assert_eq!(a.header, b.header);
            assert_eq!(a.frame.octets(), b.frame.octets());
            assert_eq!(a.frame.fragment_starts(), b.frame.fragment_starts());
        }
        // A magic may be found wrong before four octets of it are there.
        assert_eq!(whole.error.is_some(), other.error.is_some());
        assert_eq!(whole.left, other.left);
    }
    conserves(stream, &whole);
    for message in &whole.messages {
        assert!(message.frame.len() <= limits().max_message_octets);
        read(message);
    }
}

/// Nothing lost, nothing made up: what came out is what went in, as a plain walk over the headers
/// finds it.
fn conserves(stream: &[u8], cut: &Cut) {
    let mut rest = stream;
    let mut unfragmented = Vec::new();
    let mut fragments = 0;
    let mut finished = 0;
    while let Some(first) = rest.first_chunk::<HEADER_LEN>() {
        let Ok(header) = MessageHeader::parse(first) else {
            break;
        };
        let size = HEADER_LEN + header.size as usize;
        if size > limits().max_message_octets || rest.len() < size {
            break;
        }
        let (piece, behind) = rest.split_at(size);
        rest = behind;
        match (header.kind, header.more_fragments) {
            (MessageKind::Fragment, more) => {
                fragments += 1;
                finished += usize::from(!more);
            }
            (_, false) => unfragmented.push(piece),
            (_, true) => {}
        }
    }
    if cut.error.is_none() {
        assert_eq!(cut.left, rest, "what is left is what no message has");
        assert_eq!(cut.messages.len(), unfragmented.len() + finished);
    }
    // Whole messages come out as they are and in order.
    let mut expected = unfragmented.into_iter();
    for message in &cut.messages {
        let octets = message.frame.octets();
        assert!(octets.len() >= HEADER_LEN);
        assert_eq!(message.header.size as usize, octets.len() - HEADER_LEN);
        if fragments == 0 {
            assert_eq!(Some(octets), expected.next());
        }
    }
}

/// Cut into fragments, a message is put together as it was.
fn cut_again(message: &Message) {
    let octets = message.frame.octets();
    let whole = [&message.header.to_octets(), &octets[HEADER_LEN..]].concat();
    let whole = zorb_cdr::Gather::from(Bytes::from(whole));
    let Ok(fragments) = Fragments::new(whole, Fragments::MIN_OCTETS) else {
        return;
    };
    let pieces: Vec<Vec<u8>> = fragments.map(|piece| piece.to_vec()).collect();
    assert!(pieces.iter().all(|p| p.len() <= Fragments::MIN_OCTETS));
    let again = cut(&pieces.concat(), &[]);
    assert!(again.left.is_empty() && again.messages.len() == 1);
    assert_eq!(again.messages[0].header, message.header);
    let found = again.messages[0].frame.octets();
    assert_eq!(found[HEADER_LEN..], octets[HEADER_LEN..]);
}

/// Reads whatever can be read of a message.
fn read(message: &Message) {
    cut_again(message);
    let _ = message.cancelled_request();
    match message.header.endian {
        Endian::Big => read_in::<BigEndian>(message),
        Endian::Little => read_in::<LittleEndian>(message),
    }
}

fn read_in<O: ByteOrder>(message: &Message) {
    let version = message.header.version;
    let format = CodeSets::UNSTATED.with_minor(version.minor);
    if let Ok(header) = RequestHeader::read(message) {
        assert!(header.body <= message.frame.len());
        let end = header.operation_at + header.operation.len();
        let named = &message.frame.octets()[header.operation_at..end];
        assert_eq!(
            named, header.operation,
            "the name is where it is said to be"
        );
        let contexts = header.contexts.to_vec();
        assert_eq!(contexts.len(), header.contexts.len());
        if let Some(data) = header.contexts.get(ServiceContextId::CODE_SETS)
            && let Ok(Some(chosen)) = CodeSets::from_context(data)
        {
            let context = chosen.to_context().expect("what was read can be written");
            assert_eq!(CodeSets::from_context(&context.data), Ok(Some(chosen)));
        }
        // Those of Real-time CORBA are values within their range, or refused.
        if let Ok(Some(priority)) = propagated_priority(&header.contexts) {
            assert!(priority >= 0);
        }
        if let Ok(band) = PriorityBand::of_request(&header.contexts) {
            assert!(band.is_valid() && band.contains(band.low));
        }
        let _ = header.target.object_key();
        if let TargetAddress::Key(key) = header.target
            && let Ok(operation) = std::str::from_utf8(header.operation)
        {
            let body = message.frame.octets()[header.body..].to_vec();
            let written = RequestBuilder {
                version,
                request_id: header.request_id,
                response: header.response,
                key,
                operation,
                contexts: &contexts,
            }
            .encode(Encoder::<O>::new(format), |e| {
                e.append(&body);
                Ok(())
            });
            let again = parsed(written.expect("what was read can be written").to_vec());
            let twice = RequestHeader::read(&again).expect("and read again");
            assert_eq!(twice.request_id, header.request_id);
            // Before 1.2 there is one bit for it.
            assert_eq!(twice.response, header.response);
            assert_eq!(twice.target, header.target);
            assert_eq!(twice.operation, header.operation);
            assert_eq!(twice.contexts.to_vec(), contexts);
            assert_eq!(&again.frame.octets()[twice.body..], body);
        }
    }
    if let Ok(header) = ReplyHeader::read(message) {
        assert!(header.body <= message.frame.len());
        let contexts = header.contexts.to_vec();
        let body = message.frame.octets()[header.body..].to_vec();
        let written = ReplyBuilder {
            version,
            request_id: header.request_id,
            status: header.status,
            contexts: &contexts,
        }
        .encode(Encoder::<O>::new(format), |e| {
            e.append(&body);
            Ok(())
        });
        let again = parsed(written.expect("what was read can be written").to_vec());
        let twice = ReplyHeader::read(&again).expect("and read again");
        assert_eq!(twice.request_id, header.request_id);
        if version >= Version::V1_2 || header.status != ReplyStatus::LocationForwardPerm {
            assert_eq!(twice.status, header.status);
        }
        assert_eq!(twice.contexts.to_vec(), contexts);
        assert_eq!(&again.frame.octets()[twice.body..], body);
        let body = || Decoder::<O>::at(&message.frame, header.body, format);
        if let Ok(Ok(exception)) = body().map(|mut d| d.get::<SystemException>()) {
            let _ = exception.to_string();
        }
        if let Err(error) = body().and_then(|mut d| d.get::<Ior>()) {
            let _ = Fault::Decode(error).to_string();
        }
    }
    if let Ok(header) = LocateRequestHeader::read(message)
        && let TargetAddress::Key(key) = header.target
    {
        let e = Encoder::<O>::new(format);
        let written = LocateRequestHeader::encode(e, version, header.request_id, key);
        let again = parsed(written.expect("what was read can be written").to_vec());
        let twice = LocateRequestHeader::read(&again).expect("and read again");
        assert_eq!(twice.request_id, header.request_id);
        assert_eq!(twice.target, TargetAddress::Key(key));
    }
    if let Ok((id, reply)) = LocateReply::read(message) {
        let written = reply.encode(Encoder::<O>::new(format), version, id);
        // A type id may hold what no string may.
        if let Ok(written) = written {
            let again = parsed(written.to_vec());
            let (twice, same) = LocateReply::read(&again).expect("and read again");
            assert_eq!(twice, id);
            if version >= Version::V1_2 {
                assert_eq!(same, reply);
            }
        }
    }
}

/// One message that was written here.
fn parsed(octets: Vec<u8>) -> Message {
    let first = octets.first_chunk::<HEADER_LEN>().expect("a whole header");
    let header = MessageHeader::parse(first).expect("that can be read");
    assert_eq!(header.size as usize, octets.len() - HEADER_LEN);
    Message {
        header,
        frame: zorb_cdr::Frame::new(Bytes::from(octets)),
    }
}
