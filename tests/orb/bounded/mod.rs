//! The memory that a peer can make this process allocate by announcing octets that it never sends, and hold by sending.
//!
//! The counting allocator adds up every octet asked for, and those that are held, for each thread by itself; a test and
//! the server it talks to share one.
//!
//! - here: counts and lengths that are lies;
//! - [`decoded_memory`]: what a message is decoded to;
//! - [`malformed`]: anys and TypeCodes that are not what they should be;
//! - [`changed`]: good messages with anys, TypeCodes and values, changed in one place;
//! - [`mill`]: the server of these;
//! - [`nested_values`]: values within values.

mod changed;
mod decoded_memory;
mod malformed;
mod mill;
mod nested_values;

use crate::counting::{ALLOCATED, allocated_by};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zorb::{Interface, Orb, SystemException};
use zorb_cdr::{BigEndian, Decode, Decoder, LittleEndian, WireFormat};
use zorb_giop::ior::{IiopProfile, TaggedProfile};
use zorb_giop::{
    Ior, Limits, Message, MessageHeader, MessageKind, Reader, ReplyHeader, RequestBuilder,
    RequestHeader, ResponseFlags, Version,
};

/// Octets that a lie may cost at most: a receive buffer of 64 KiB and what a connection is made of.
const MOST: usize = 128 << 10;

fn header(kind: MessageKind, size: u32) -> MessageHeader {
    MessageHeader {
        version: Version::V1_2,
        endian: zorb_cdr::Endian::Little,
        more_fragments: false,
        kind,
        size,
    }
}

#[test]
fn the_count_counts() {
    let (octets, kept) = allocated_by(|| Vec::<u8>::with_capacity(3 * MOST));
    assert!(octets >= 3 * MOST);
    drop(kept);
}

#[test]
fn a_reader_allocates_nothing_for_a_length_over_the_limit() {
    for size in [
        Limits::DEFAULT_MAX_MESSAGE_OCTETS as u32,
        0x7fff_ffff,
        u32::MAX,
    ] {
        let octets = header(MessageKind::Request, size).to_octets();
        let (allocated, refused) = allocated_by(|| {
            let mut reader = Reader::new(Limits::default());
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&octets);
            // The first call detects it, on either path.
            (reader.reserve().is_err(), reader.next().is_err())
        });
        assert_eq!(refused, (true, true));
        assert!(allocated < MOST, "{allocated} octets for a size of {size}");
    }
}

#[test]
fn a_reader_takes_memory_for_what_has_come_and_not_for_what_was_announced() {
    let octets = header(MessageKind::Request, 60 << 20).to_octets();
    let mut reader = Reader::new(Limits::default());
    let (allocated, ()) = allocated_by(|| {
        reader.reserve().unwrap();
        reader.buffer().extend_from_slice(&octets);
        reader.reserve().unwrap();
        assert!(reader.next().unwrap().is_none());
    });
    assert!(allocated < 3 << 19, "{allocated} octets for a header");
    // Four megabytes come, in the pieces in which a socket gives it.
    let (allocated, ()) = allocated_by(|| {
        for _ in 0..256 {
            reader.buffer().extend_from_slice(&[7; 16 << 10]);
            reader.reserve().unwrap();
        }
    });
    assert!(
        allocated < 17 << 20,
        "{allocated} octets for four megabytes"
    );
}

/// Decodes a `T` from every count that a few octets cannot hold.
fn lie_about<T: for<'de> Decode<'de>>(what: &str) {
    for count in [
        u32::MAX,
        u32::MAX - 1,
        0x8000_0000,
        0x7fff_ffff,
        1 << 24,
        100,
    ] {
        for behind in [0, 1, 8, 64] {
            let mut octets = count.to_be_bytes().to_vec();
            octets.extend(vec![0; behind]);
            let (allocated, decoded) = allocated_by(|| {
                Decoder::<BigEndian>::from_slice(&octets, WireFormat::default())
                    .get::<T>()
                    .is_ok()
            });
            assert!(allocated < MOST, "{allocated} octets for {count} {what}");
            assert!(
                !decoded || behind >= 64,
                "{count} {what} in {behind} octets"
            );
        }
    }
}

#[test]
fn a_count_that_the_octets_cannot_hold_allocates_nothing() {
    lie_about::<Vec<u8>>("octets");
    lie_about::<zorb::Bytes>("octets to keep");
    lie_about::<Vec<bool>>("booleans");
    lie_about::<Vec<i32>>("longs");
    lie_about::<Vec<f64>>("doubles");
    lie_about::<Vec<(i16, f64)>>("structs");
    lie_about::<Vec<[f64; 16]>>("arrays");
    lie_about::<Vec<String>>("strings");
    lie_about::<Vec<Vec<Vec<i32>>>>("sequences");
    lie_about::<String>("characters");
    lie_about::<Vec<TaggedProfile>>("profiles");
    lie_about::<Vec<Ior>>("references");
}

#[test]
fn headers_that_lie_about_their_contexts_and_keys_allocate_nothing() {
    let mut octets = RequestBuilder {
        version: Version::V1_2,
        request_id: 1,
        response: ResponseFlags::WithTarget,
        key: b"key",
        operation: "operation",
        contexts: &[],
    }
    .encode(
        zorb_cdr::Encoder::<LittleEndian>::new(WireFormat::default()),
        |_| Ok(()),
    )
    .unwrap()
    .to_vec();
    // Wherever a length may stand, one of 2^32 - 1 is put.
    for at in (12..octets.len() - 3).step_by(4) {
        let kept: [u8; 4] = octets[at..at + 4].try_into().unwrap();
        octets[at..at + 4].fill(0xff);
        let frame = zorb_cdr::Frame::new(zorb::Bytes::copy_from_slice(&octets));
        let size = octets.len() as u32 - 12;
        let request = Message {
            header: header(MessageKind::Request, size),
            frame: frame.clone(),
        };
        let reply = Message {
            header: header(MessageKind::Reply, size),
            frame,
        };
        let (allocated, _) = allocated_by(|| {
            (
                RequestHeader::read(&request).is_ok(),
                ReplyHeader::read(&reply).is_ok(),
            )
        });
        assert!(allocated < MOST, "{allocated} octets for a length at {at}");
        octets[at..at + 4].copy_from_slice(&kept);
    }
}

zorb::idl! {
    module Bounded {
        interface Target {
            typedef sequence<long> LongSeq;
            typedef sequence<string> StringSeq;
            typedef sequence<octet> OctetSeq;
            void longs(in LongSeq values);
            void strings(in StringSeq values);
            void blob(in OctetSeq values);
            void text(in string value);
        };
    };
}

use bounded::{Target, TargetServant};

struct Servant;

impl Target for Servant {
    async fn longs(&self, _: &[i32]) -> Result<(), SystemException> {
        Ok(())
    }

    async fn strings(&self, _: &[String]) -> Result<(), SystemException> {
        Ok(())
    }

    async fn blob(&self, _: zorb::OctetsRef<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn text(&self, _: &str) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Sends `octets` on a connection of its own and gives the first message that comes back, and how
/// much this process allocated for it, the test's own share included.
async fn exchange(port: u16, octets: &[u8]) -> (usize, Vec<u8>) {
    let mut answer = vec![0; 1024];
    let before = ALLOCATED.get();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(octets).await.unwrap();
    // A guard against a hang, and nothing else.
    let reading = tokio::time::timeout(Duration::from_secs(60), stream.read(&mut answer));
    let len = reading.await.expect("an answer").unwrap();
    let allocated = ALLOCATED.get() - before;
    answer.truncate(len);
    (allocated, answer)
}

#[tokio::test]
async fn a_server_allocates_next_to_nothing_for_lies() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let server = server.await.unwrap();
    let target = server
        .root_poa()
        .activate(TargetServant::new(Servant))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let profile = IiopProfile::from_tagged(&target.as_object().ior().profiles[0]).unwrap();
    let port = profile.address.port;

    for size in [64 << 20, u32::MAX] {
        // So much comes that a request's header could be decoded, if there were one.
        let lie = [
            &header(MessageKind::Request, size).to_octets()[..],
            &[0xff; 4096],
        ]
        .concat();
        let (allocated, answer) = exchange(port, &lie).await;
        assert_eq!(answer[7], MessageKind::MessageError as u8);
        assert!(
            allocated < MOST,
            "{allocated} octets for a message of {size}"
        );
    }

    for operation in ["longs", "strings", "blob", "text"] {
        for count in [u32::MAX, 0x7fff_ffff, 1 << 24] {
            let request = RequestBuilder {
                version: Version::V1_2,
                request_id: 1,
                response: ResponseFlags::WithTarget,
                key: &profile.object_key,
                operation,
                contexts: &[],
            };
            let e = zorb_cdr::Encoder::<LittleEndian>::new(WireFormat::default());
            let request = request.encode(e, |e| {
                e.write_u32(count);
                e.write_u32(0);
                Ok(())
            });
            let (allocated, answer) = exchange(port, &request.unwrap().to_vec()).await;
            assert!(
                answer.windows(7).any(|seven| seven == b"MARSHAL"),
                "{operation}: {answer:02x?}"
            );
            assert!(
                allocated < MOST,
                "{allocated} octets for {count} {operation}"
            );
        }
    }
    server.shutdown(true).await.unwrap();
}
