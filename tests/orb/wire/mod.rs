//! Recorded messages of omniORB and JacORB (`tests/wire/`), read and written again by us.
//!
//! The comments in the recordings were made by the recorder's own decoder, in another language,
//! so they are an expectation of their own; the digests in the calls are another.

mod foreign_anys;
mod types;
mod union_labels;

use std::path::{Path, PathBuf};
use zorb_cdr::{
    BigEndian, ByteOrder, CharSet, Decode, Decoder, Encoder, Endian, LittleEndian, WCharSet,
    WireFormat,
};
use zorb_giop::codeset::{CodeSetId, CodeSetInfo};
use zorb_giop::ior::{ComponentTag, IiopProfile, ProfileTag};
use zorb_giop::{
    Ior, Limits, LocateReply, LocateRequestHeader, Message, MessageKind, ProtocolError, Reader,
    ReplyBuilder, ReplyHeader, RequestBuilder, RequestHeader, Version,
};

/// One recorded message.
struct Recorded {
    to_server: bool,
    octets: Vec<u8>,
    comment: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire")
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |c: u8| u8::try_from(char::from(c).to_digit(16).expect("a digit")).unwrap();
    text.trim()
        .as_bytes()
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

/// The connections of a recording.
fn connections(file: &Path) -> Vec<Vec<Recorded>> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut connections = vec![Vec::new()];
    let mut comment = String::new();
    for line in text.lines() {
        if line.starts_with("# ----") {
            connections.push(Vec::new());
        } else if let Some(words) = line.strip_prefix("# ") {
            words.clone_into(&mut comment);
        } else if let Some((direction, hex)) = line.split_at_checked(1)
            && matches!(direction, ">" | "<")
        {
            connections.last_mut().unwrap().push(Recorded {
                to_server: direction == ">",
                octets: unhex(hex),
                comment: std::mem::take(&mut comment),
            });
        }
    }
    connections.retain(|connection| !connection.is_empty());
    connections
}

fn recordings(name: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "hex"))
        .filter(|path| path.file_name().unwrap().to_string_lossy().contains(name))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "recordings of {name}");
    files
}

/// Reads one direction of a connection and hands every whole message over, with the comment of
/// the recorded message that it began with.
fn messages(connection: &[Recorded], to_server: bool) -> Vec<(Message, String)> {
    let mut reader = Reader::new(Limits::default());
    let mut found = Vec::new();
    let mut begun: Vec<String> = Vec::new();
    for recorded in connection
        .iter()
        .filter(|recorded| recorded.to_server == to_server)
    {
        if !recorded.comment.contains("Fragment") {
            begun.push(recorded.comment.clone());
        }
        reader.buffer().extend_from_slice(&recorded.octets);
        while let Some(message) = reader.next().unwrap() {
            // Fragmented messages may be overtaken by whole ones, so the id decides.
            let id = format!(" id {}", id_of(&message));
            let at = begun
                .iter()
                .position(|comment| comment.split(',').next().unwrap().ends_with(&id))
                .unwrap_or(0);
            found.push((message, begun.remove(at)));
        }
    }
    assert!(reader.is_idle(), "every octet belongs to a message");
    found
}

fn id_of(message: &Message) -> u32 {
    match message.header.kind {
        MessageKind::Request => RequestHeader::read(message).unwrap().request_id,
        MessageKind::Reply => ReplyHeader::read(message).unwrap().request_id,
        MessageKind::LocateRequest => LocateRequestHeader::read(message).unwrap().request_id,
        MessageKind::LocateReply => LocateReply::read(message).unwrap().0,
        MessageKind::CancelRequest => message.cancelled_request().unwrap(),
        _ => 0,
    }
}

/// The recorder's comment, in our words.
fn described(message: &Message) -> String {
    let version = message.header.version;
    let kind = message.header.kind;
    let id = id_of(message);
    match kind {
        MessageKind::Request => {
            let header = RequestHeader::read(message).unwrap();
            let operation = String::from_utf8_lossy(header.operation);
            let one_way = match header.response {
                zorb_giop::ResponseFlags::None => ", one-way",
                _ => "",
            };
            format!("GIOP {version} Request id {id}, {operation}{one_way}")
        }
        MessageKind::Reply => {
            let status = match ReplyHeader::read(message).unwrap().status as u32 {
                0 => "NO_EXCEPTION",
                1 => "USER_EXCEPTION",
                2 => "SYSTEM_EXCEPTION",
                3 => "LOCATION_FORWARD",
                4 => "LOCATION_FORWARD_PERM",
                _ => "NEEDS_ADDRESSING_MODE",
            };
            format!("GIOP {version} Reply id {id}, {status}")
        }
        MessageKind::LocateReply => {
            let status = match LocateReply::read(message).unwrap().1 {
                LocateReply::UnknownObject => "UNKNOWN_OBJECT",
                LocateReply::ObjectHere => "OBJECT_HERE",
                _ => "OBJECT_FORWARD",
            };
            format!("GIOP {version} LocateReply id {id}, {status}")
        }
        MessageKind::LocateRequest | MessageKind::CancelRequest => {
            format!("GIOP {version} {kind} id {id}")
        }
        _ => format!("GIOP {version} {kind}"),
    }
}

#[test]
fn every_recorded_message_is_what_the_recorder_says_it_is() {
    let mut count = 0;
    for file in recordings("giop1") {
        for connection in connections(&file) {
            for to_server in [true, false] {
                for (message, comment) in messages(&connection, to_server) {
                    let said = described(&message);
                    assert!(
                        comment.starts_with(&said),
                        "{}: {said}: {comment}",
                        file.display()
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count > 600, "{count} messages");
}

/// Octets that the encoding rules leave open: padding, and the reserved octets of requests.
/// omniORB puts anything there.
fn open_octets(message: &Message) -> Vec<usize> {
    fn walk<O: ByteOrder>(message: &Message) -> Vec<usize> {
        let mut d = Decoder::<O>::at(&message.frame, 12, WireFormat::default()).unwrap();
        let mut open = Vec::new();
        let align = |d: &mut Decoder<'_, O>, n: usize, open: &mut Vec<usize>| {
            let from = d.position();
            if d.align(n).is_ok() {
                open.extend(from..d.position());
            }
        };
        let reserved = |d: &mut Decoder<'_, O>, open: &mut Vec<usize>| {
            open.extend(d.position()..d.position() + 3);
            d.take(3).unwrap();
        };
        // A count, then octets.
        let octets = |d: &mut Decoder<'_, O>, open: &mut Vec<usize>| {
            align(d, 4, open);
            d.read_octets().unwrap();
        };
        let contexts = |d: &mut Decoder<'_, O>, open: &mut Vec<usize>| {
            align(d, 4, open);
            for _ in 0..d.read_u32().unwrap() {
                align(d, 4, open);
                d.read_u32().unwrap();
                octets(d, open);
            }
            align(d, 4, open);
        };
        let v1_2 = message.header.version == Version::V1_2;
        let request = message.header.kind == MessageKind::Request;
        if !v1_2 {
            contexts(&mut d, &mut open);
        }
        d.read_u32().unwrap();
        if request {
            d.read_u8().unwrap();
            if message.header.version > Version::V1_0 {
                reserved(&mut d, &mut open);
            }
            if v1_2 {
                d.read_i16().unwrap();
            }
            octets(&mut d, &mut open);
            octets(&mut d, &mut open);
            if !v1_2 {
                octets(&mut d, &mut open);
            }
        } else {
            d.read_u32().unwrap();
        }
        if v1_2 {
            contexts(&mut d, &mut open);
            align(&mut d, 8, &mut open);
        }
        open
    }
    match message.header.endian {
        Endian::Big => walk::<BigEndian>(message),
        Endian::Little => walk::<LittleEndian>(message),
    }
}

/// Writes a message again from its parts.
fn written_again<O: ByteOrder>(message: &Message) -> Vec<u8> {
    let octets = message.frame.octets();
    let encoder = Encoder::<O>::new(WireFormat::default());
    if message.header.kind == MessageKind::Request {
        let header = RequestHeader::read(message).unwrap();
        RequestBuilder {
            version: message.header.version,
            request_id: header.request_id,
            response: header.response,
            key: &header.target.object_key().unwrap(),
            operation: std::str::from_utf8(header.operation).unwrap(),
            contexts: &header.contexts.to_vec(),
        }
        .encode(encoder, |e| {
            e.append(&octets[header.body..]);
            Ok(())
        })
    } else {
        let header = ReplyHeader::read(message).unwrap();
        ReplyBuilder {
            version: message.header.version,
            request_id: header.request_id,
            status: header.status,
            contexts: &header.contexts.to_vec(),
        }
        .encode(encoder, |e| {
            e.append(&octets[header.body..]);
            Ok(())
        })
    }
    .unwrap()
    .to_vec()
}

#[test]
fn requests_and_replies_written_again_are_the_recorded_octets() {
    let mut count = 0;
    for file in recordings("calls") {
        for connection in connections(&file) {
            for to_server in [true, false] {
                for (message, comment) in messages(&connection, to_server) {
                    if !matches!(
                        message.header.kind,
                        MessageKind::Request | MessageKind::Reply
                    ) {
                        continue;
                    }
                    let ours = match message.header.endian {
                        Endian::Big => written_again::<BigEndian>(&message),
                        Endian::Little => written_again::<LittleEndian>(&message),
                    };
                    let theirs = message.frame.octets();
                    assert_eq!(ours.len(), theirs.len(), "{}: {comment}", file.display());
                    let open = open_octets(&message);
                    for (at, (our, their)) in ours.iter().zip(theirs).enumerate() {
                        if open.contains(&at) {
                            assert_eq!(*our, 0, "what is left open is zero: {comment} at {at}");
                        } else {
                            assert_eq!(our, their, "{}: {comment} at {at}", file.display());
                        }
                    }
                    count += 1;
                }
            }
        }
    }
    assert!(count > 400, "{count} messages");
}

/// FNV-1a over little-endian octets: see the rules in `tests/interop/interop.idl`.
fn digest(parts: &[&[u8]]) -> u64 {
    parts
        .iter()
        .flat_map(|part| part.iter())
        .fold(0xcbf2_9ce4_8422_2325, |h, octet| {
            (h ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// A value of an echo operation: how it is digested, and what its twist is.
trait Echoed: for<'de> Decode<'de> + PartialEq + std::fmt::Debug {
    fn octets(&self) -> Vec<u8>;
    fn twist(&self) -> Self;
}

macro_rules! echoed {
    ($($t:ty: $x:ident => $twist:expr;)*) => {$(
        impl Echoed for $t {
            fn octets(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn twist(&self) -> Self {
                let $x = *self;
                $twist
            }
        }
    )*};
}

echoed! {
    i16: x => !x;
    i64: x => !x;
    u8: x => x ^ 0xff;
    f32: x => -x;
    f64: x => -x;
}

#[test]
fn the_values_in_the_calls_are_read_in_every_version_and_both_orders() {
    fn check<T: Echoed>(request: &Message, reply: &Message) {
        let mut d = at(request, RequestHeader::read(request).unwrap().body);
        let (a, b, sent): (T, T, u64) = d.get();
        assert_eq!(sent, digest(&[&a.octets(), &b.octets()]), "{a:?} {b:?}");
        let mut d = at(reply, ReplyHeader::read(reply).unwrap().body);
        let answer: (T, T, T) = d.get();
        // The result, then b as it is now, then c.
        assert_eq!(answer, (a.twist(), a, b));
    }

    enum Read<'a> {
        Big(Decoder<'a, BigEndian>),
        Little(Decoder<'a, LittleEndian>),
    }

    fn at(message: &Message, body: usize) -> Read<'_> {
        let (frame, format) = (&message.frame, format(message));
        match message.header.endian {
            Endian::Big => Read::Big(Decoder::at(frame, body, format).unwrap()),
            Endian::Little => Read::Little(Decoder::at(frame, body, format).unwrap()),
        }
    }

    impl<'a> Read<'a> {
        fn get<T: Decode<'a>>(&mut self) -> T {
            match self {
                Self::Big(d) => d.get().unwrap(),
                Self::Little(d) => d.get().unwrap(),
            }
        }
    }

    fn format(message: &Message) -> WireFormat {
        WireFormat {
            minor: message.header.version.minor,
            char_set: CharSet::Latin1,
            wchar_set: WCharSet::None,
            ..WireFormat::default()
        }
    }

    let mut count = 0;
    for file in recordings("calls") {
        for connection in connections(&file) {
            let replies = messages(&connection, false);
            for (request, _) in messages(&connection, true) {
                if request.header.kind != MessageKind::Request {
                    continue;
                }
                let header = RequestHeader::read(&request).unwrap();
                let reply = replies.iter().map(|(message, _)| message).find(|reply| {
                    reply.header.kind == MessageKind::Reply && id_of(reply) == header.request_id
                });
                let Some(reply) = reply else { continue };
                match header.operation {
                    b"echo_short" => check::<i16>(&request, reply),
                    b"echo_longlong" => check::<i64>(&request, reply),
                    b"echo_octet" => check::<u8>(&request, reply),
                    b"echo_float" => check::<f32>(&request, reply),
                    b"echo_double" => check::<f64>(&request, reply),
                    _ => continue,
                }
                count += 1;
            }
        }
    }
    assert_eq!(count, 5 * 6, "five operations, three versions, two orders");
}

/// Requests and replies of one operation in a little-endian recording: bodies to read.
fn bodies(connection: &[Recorded], operation: &str) -> Vec<(Message, Message)> {
    let replies = messages(connection, false);
    let requests = messages(connection, true).into_iter().map(|(m, _)| m);
    let requests = requests.filter(|m| m.header.kind == MessageKind::Request);
    requests
        .filter_map(|request| {
            let header = RequestHeader::read(&request).unwrap();
            let reply = replies
                .iter()
                .map(|(m, _)| m)
                .find(|m| m.header.kind == MessageKind::Reply && id_of(m) == header.request_id)?;
            (header.operation == operation.as_bytes()).then(|| (request.clone(), reply.clone()))
        })
        .collect()
}

#[test]
fn wide_text_in_the_calls_is_read() {
    fn at(message: &Message, body: usize) -> Decoder<'_, LittleEndian> {
        Decoder::at(&message.frame, body, WireFormat::default()).unwrap()
    }
    let other_case = |c: char| match c {
        'a'..='z' => c.to_ascii_uppercase(),
        _ => c.to_ascii_lowercase(),
    };
    let octets = |text: &str| {
        let units: Vec<u16> = text.encode_utf16().collect();
        let count = u32::try_from(units.len()).unwrap().to_le_bytes();
        [
            &count[..],
            &units
                .iter()
                .flat_map(|u| u.to_le_bytes())
                .collect::<Vec<_>>(),
        ]
        .concat()
    };
    let mut texts = Vec::new();
    let mut units = Vec::new();
    for file in recordings("giop1.2-wide") {
        for connection in connections(&file) {
            for (request, reply) in bodies(&connection, "echo_wstring") {
                let mut d = at(&request, RequestHeader::read(&request).unwrap().body);
                let (a, b) = (d.read_wide_string().unwrap(), d.read_wide_string().unwrap());
                assert_eq!(
                    d.read_u64().unwrap(),
                    digest(&[&octets(&a), &octets(&b)]),
                    "{a}"
                );
                let mut d = at(&reply, ReplyHeader::read(&reply).unwrap().body);
                let twisted: String = a.chars().map(other_case).collect();
                assert_eq!(d.read_wide_string().unwrap(), twisted);
                assert_eq!(d.read_wide_string().unwrap(), a);
                assert_eq!(d.read_wide_string().unwrap(), b);
                texts.push(a);
            }
            for (request, reply) in bodies(&connection, "echo_wchar") {
                let mut d = at(&request, RequestHeader::read(&request).unwrap().body);
                let (a, b) = (d.read_wide_char().unwrap(), d.read_wide_char().unwrap());
                let check = digest(&[&a.to_le_bytes(), &b.to_le_bytes()]);
                assert_eq!(d.read_u64().unwrap(), check, "{a:x}");
                let mut d = at(&reply, ReplyHeader::read(&reply).unwrap().body);
                d.read_wide_char().unwrap();
                assert_eq!(d.read_wide_char().unwrap(), a);
                assert_eq!(d.read_wide_char().unwrap(), b);
                units.push(a);
            }
        }
    }
    for text in [
        "",
        "🦀",
        "e\u{301}, a\u{308}\u{323}; \u{915}\u{94d}\u{937}",
        "\u{feff}begins with one",
    ] {
        assert!(
            texts.iter().any(|t| t == text),
            "{text:?} is among {texts:?}"
        );
    }
    assert_eq!(units, [0x61, 0xe9, 0x416, 0xfeff, 0xd83e, 0xdd80]);
}

#[test]
fn what_omniorb_refuses_we_refuse_or_read() {
    // Broken on purpose in many ways: nothing may panic, and octets that are no GIOP are reported.
    let mut refused = 0;
    for file in recordings("odd-requests") {
        for connection in connections(&file) {
            let mut reader = Reader::new(Limits::default());
            for recorded in connection.iter().filter(|recorded| recorded.to_server) {
                reader.buffer().extend_from_slice(&recorded.octets);
            }
            loop {
                match reader.next() {
                    Ok(Some(message)) => {
                        let _ = RequestHeader::read(&message);
                        let _ = LocateRequestHeader::read(&message);
                    }
                    Ok(None) => break,
                    Err(
                        ProtocolError::BadMagic { .. }
                        | ProtocolError::UnsupportedVersion(_)
                        | ProtocolError::UnknownMessageKind(_)
                        | ProtocolError::MessageTooLarge { .. },
                    ) => {
                        refused += 1;
                        break;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
    assert!(refused >= 3, "{refused} refused");
}

/// Recorded references, each with the lines that catior printed.
fn references() -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(folder().join("iors.txt")).unwrap();
    let mut references = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("IOR:") {
            references.push((line.to_owned(), std::mem::take(&mut lines)));
        } else if let Some(comment) = line.strip_prefix('#') {
            lines.push(comment.trim().to_owned());
        }
    }
    references
}

#[test]
fn references_say_to_us_what_they_say_to_catior() {
    let all = references();
    assert!(all.len() >= 10);
    for (text, catior) in all {
        let ior = Ior::from_hex(&text["IOR:".len()..]).unwrap();
        let says = |what: String| assert!(catior.contains(&what), "{what:?} in {catior:#?}");
        if !ior.is_nil() {
            says(format!("Type ID: {:?}", ior.type_id));
        }
        for (n, profile) in (1..).zip(&ior.profiles) {
            if profile.tag != ProfileTag::INTERNET_IOP {
                continue;
            }
            let body = IiopProfile::from_tagged(profile).unwrap();
            let head = format!(
                "{n}. IIOP {} {} {} ",
                body.version, body.address.host, body.address.port
            );
            assert!(
                catior.iter().any(|line| line.starts_with(&head)),
                "{head:?} in {catior:#?}"
            );
            let code_sets = body.component(ComponentTag::CODE_SETS);
            let said = catior
                .iter()
                .any(|line| line.contains("char native code set"));
            assert_eq!(code_sets.is_some(), said);
            if let Some(data) = code_sets {
                let info = CodeSetInfo::from_component(data).unwrap();
                let native = info.char_data.native.unwrap();
                let name = if native == CodeSetId::UTF8 {
                    "UTF-8"
                } else {
                    "ISO-8859-1"
                };
                says(format!("TAG_CODE_SETS char native code set:       {name}"));
                assert_eq!(info.wchar_data.native, Some(CodeSetId::UTF16));
            }
        }
    }
}

#[test]
fn references_survive_being_read_and_written() {
    for (text, _) in references() {
        let ior = Ior::from_hex(&text["IOR:".len()..]).unwrap();
        let again = ior.to_ior_string().unwrap();
        assert_eq!(Ior::from_hex(&again["IOR:".len()..]).unwrap(), ior);
        if cfg!(target_endian = "little") {
            // omniORB clears the padding of references.
            assert_eq!(again, text);
        }
    }
}
