//! Octets that are no message, or none for a server: MessageError and the end of the connection.

use crate::hostile::honest_pair::World;
use crate::hostile::raw::{Call, Raw, message};
use zorb_giop::{MessageKind, Version};

/// Every way to break the framing: what is sent, and the version MessageError is said in.
fn broken(key: &[u8]) -> Vec<(&'static str, Vec<u8>, Version)> {
    let good = Call::new(key, "twice").with(|e| e.put(&4i32));
    let with = |at: usize, octet: u8| {
        let mut octets = good.clone();
        octets[at] = octet;
        octets
    };
    let empty = |kind| message(Version::V1_2, kind, &[]);
    let more = |kind, body: &[u8]| {
        let mut octets = message(Version::V1_2, kind, body);
        octets[6] |= 2;
        octets
    };
    let id = 7u32.to_le_bytes();
    let old = Version::V1_0;
    vec![
        ("another protocol", b"GET / HTTP/1.1\r\n\r\n".to_vec(), old),
        ("its first octet", b"\x16".to_vec(), old),
        ("nearly the magic", b"GIOp".to_vec(), old),
        ("GIOP 1.3", with(5, 3), Version::V1_2),
        ("GIOP 2.0", with(4, 2), Version::V1_2),
        ("GIOP 0.0", with(4, 0), Version::V1_2),
        (
            "GIOP 255.255",
            [&good[..4], &[255; 8]].concat(),
            Version::V1_2,
        ),
        ("message type 8", with(7, 8), old),
        ("message type 255", with(7, 255), old),
        (
            "a fragment of nothing",
            message(Version::V1_2, MessageKind::Fragment, &id),
            old,
        ),
        (
            "a 1.1 fragment of nothing",
            message(Version::V1_1, MessageKind::Fragment, &id),
            old,
        ),
        (
            "a fragment in GIOP 1.0",
            message(old, MessageKind::Fragment, &id),
            old,
        ),
        (
            "a fragment without an id",
            empty(MessageKind::Fragment),
            old,
        ),
        (
            "a fragmented cancel request",
            more(MessageKind::CancelRequest, &id),
            old,
        ),
        (
            "a fragmented request without an id",
            more(MessageKind::Request, &[]),
            old,
        ),
        (
            "two fragmented requests with one id",
            [
                more(MessageKind::Request, &id),
                more(MessageKind::Request, &id),
            ]
            .concat(),
            old,
        ),
        (
            "a reply",
            message(Version::V1_2, MessageKind::Reply, &[0; 12]),
            old,
        ),
        (
            "a locate reply",
            message(Version::V1_2, MessageKind::LocateReply, &[0; 8]),
            old,
        ),
        (
            "a request without a header",
            empty(MessageKind::Request),
            old,
        ),
        (
            "a request cut in its header",
            message(Version::V1_2, MessageKind::Request, &good[12..40]),
            old,
        ),
        ("response flags 2", with(16, 2), old),
        ("target addressing 9", with(20, 9), old),
        (
            "a key of 4 GiB",
            [&good[..24], &[255; 4], &good[28..]].concat(),
            old,
        ),
        (
            "a cancel request without an id",
            empty(MessageKind::CancelRequest),
            old,
        ),
        (
            "a locate request without a key",
            message(Version::V1_2, MessageKind::LocateRequest, &id),
            old,
        ),
    ]
}

#[tokio::test]
async fn octets_that_are_no_message_get_message_error_and_the_connection_ends() {
    let world = World::start().await;
    for (what, octets, version) in broken(&world.key()) {
        let mut peer = Raw::connect(&world).await;
        peer.send(&octets).await;
        world.serves().await;
        assert_eq!(peer.receive_message_error().await, version, "{what}");
    }
    world.end().await;
}

#[tokio::test]
async fn what_was_asked_before_the_protocol_broke_is_still_answered() {
    let world = World::start().await;
    let key = world.key();
    for (what, octets, _) in broken(&key) {
        let mut peer = Raw::connect(&world).await;
        let good = Call::new(&key, "twice").with(|e| e.put(&4i32));
        peer.send(&[good, octets].concat()).await;
        assert_eq!(peer.receive_reply(1).await, Ok(8i32), "{what}");
        peer.receive_message_error().await;
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_length_over_the_limit_is_refused_before_the_body_comes() {
    const LIMIT: usize = 4096;
    let world = World::start_with(|builder| builder.max_message_octets(LIMIT)).await;
    let key = world.key();
    for size in [LIMIT as u32 - 11, LIMIT as u32, u32::MAX] {
        let mut peer = Raw::connect(&world).await;
        let mut header = message(Version::V1_2, MessageKind::Request, &[]);
        header[8..12].copy_from_slice(&size.to_le_bytes());
        // Nothing but the header is ever sent, or as much as should hold that of a request.
        if size < u32::MAX {
            header.extend_from_slice(&[0xff; 4096]);
        }
        peer.send(&header[..header.len().min(12 + size as usize)])
            .await;
        assert_eq!(peer.receive_message_error().await, Version::V1_0);
        world.serves().await;
    }

    // One octet less is served.
    let mut peer = Raw::connect(&world).await;
    let call = Call::new(&key, "swallow");
    let around = call.with(|e| e.write_octets(&[])).len();
    let fitting = call.with(|e| e.write_octets(&vec![1; LIMIT - around]));
    assert_eq!(fitting.len(), LIMIT);
    peer.send(&fitting).await;
    assert_eq!(peer.receive_reply(1).await, Ok((LIMIT - around) as u32));
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn fragments_that_together_are_over_the_limit_are_skipped_up_to_another_limit() {
    const LIMIT: usize = 4096;
    /// The message that is refused: as many times the limit.
    const REFUSED: usize = 33;
    let world = World::start_with(|builder| builder.max_message_octets(LIMIT)).await;
    for (version, kind, times) in [
        (Version::V1_1, MessageKind::Request, REFUSED),
        (Version::V1_2, MessageKind::Request, REFUSED),
        // A message that names no call to be failed.
        (Version::V1_2, MessageKind::LocateRequest, 1),
    ] {
        let mut peer = Raw::connect(&world).await;
        let mut first = message(version, kind, &[0; 1012]);
        let mut next = message(version, MessageKind::Fragment, &[0; 1012]);
        first[6] |= 2;
        next[6] |= 2;
        peer.send(&first).await;
        for _ in 0..times * 4 {
            peer.send(&next).await;
        }
        peer.receive_message_error().await;
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test]
async fn unfinished_messages_are_bounded_in_number() {
    let world = World::start().await;
    let mut peer = Raw::connect(&world).await;
    let limit = zorb_giop::Limits::DEFAULT_MAX_PARTIAL_MESSAGES as u32;
    for id in 0..=limit {
        let mut begun = message(Version::V1_2, MessageKind::Request, &[0; 12]);
        begun[6] |= 2;
        begun[12..16].copy_from_slice(&id.to_le_bytes());
        peer.send(&begun).await;
    }
    peer.receive_message_error().await;
    drop(peer);
    world.end().await;
}
