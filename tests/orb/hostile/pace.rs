//! Clients that are slow, that leave, that never listen.

use crate::hostile::honest_pair::{World, within};
use crate::hostile::raw::{Call, Raw, message};
use std::sync::atomic::Ordering;
use tokio::io::AsyncWriteExt;
use zorb::{CompletionStatus as Completed, Overload, SystemExceptionKind as Kind, minor};
use zorb_giop::{MessageKind, Version};

#[tokio::test]
async fn a_request_that_comes_octet_by_octet_is_served_and_holds_no_other_up() {
    let world = World::start().await;
    let mut peer = Raw::connect(&world).await;
    let request = Call::new(&world.key(), "twice").with(|e| e.put(&4i32));
    for octet in request {
        peer.send(&[octet]).await;
        world.serves().await;
    }
    assert_eq!(peer.receive_reply(1).await, Ok(8i32));
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_large_request_in_pieces_of_all_sizes_is_served() {
    let world = World::start().await;
    let mut peer = Raw::connect(&world).await;
    let request = Call::new(&world.key(), "swallow").with(|e| e.write_octets(&[3; 300_000]));
    let mut rest = &request[..];
    let mut size = 1;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        peer.send(piece).await;
        world.serves().await;
        (rest, size) = (behind, size * 3 / 2 + 1);
    }
    assert_eq!(peer.receive_reply(1).await, Ok(300_000u32));
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn half_a_message_and_then_nothing_harms_no_other() {
    let world = World::start().await;
    let request = Call::new(&world.key(), "swallow").with(|e| e.write_octets(&[3; 200]));
    for len in 0..request.len() {
        let mut peer = Raw::connect(&world).await;
        peer.send(&request[..len]).await;
        if len % 2 == 0 {
            drop(peer);
        } else {
            peer.reset();
        }
        if len % 16 == 0 {
            world.serves().await;
        }
    }
    // Half a body of which all the memory was asked for, and half of a fragmented message.
    let mut peer = Raw::connect(&world).await;
    let mut header = message(Version::V1_2, MessageKind::Request, &[]);
    header[8..12].copy_from_slice(&(60u32 << 20).to_le_bytes());
    peer.send(&header).await;
    world.serves().await;
    drop(peer);
    let mut peer = Raw::connect(&world).await;
    let mut begun = message(Version::V1_2, MessageKind::Request, &request[12..28]);
    begun[6] |= 2;
    peer.send(&begun).await;
    world.serves().await;
    drop(peer);
    world.end().await;
}

/// How many answers of `large` are asked for: several reads full of requests.
const ASKED: u32 = 1000;
/// Octets of one answer.
const LARGE: u32 = 1 << 18;
/// Answers that may be made for a client that reads none: what is queued for it at most (1 MiB),
/// the one that goes over, and what the kernel takes off our hands (some MiB in both directions).
const MOST_ANSWERS: usize = 128;

#[tokio::test]
async fn a_client_that_never_reads_is_served_no_further_than_its_room() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let requests: Vec<u8> = (0..ASKED)
        .flat_map(|id| Call::new(&key, "large").id(id).with(|e| e.put(&LARGE)))
        .collect();
    peer.send(&requests).await;
    // Each of these gives the server's task for the other connection its turn, too.
    for _ in 0..ASKED {
        world.serves().await;
    }
    let made = world.subject.large.load(Ordering::Relaxed);
    assert!(made >= 1, "the first one is served");
    assert!(
        made <= MOST_ANSWERS,
        "{made} answers were made without a reader"
    );

    // When it reads after all, it gets every one of them, in order.
    for id in 0..ASKED {
        let message = peer.receive().await.unwrap();
        let header = zorb_giop::ReplyHeader::read(&message).unwrap();
        assert_eq!(header.request_id, id);
        assert_eq!(message.frame.len(), header.body + 4 + LARGE as usize);
    }
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_client_that_never_reads_and_leaves_is_forgotten() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    for id in 0..100 {
        peer.send(&Call::new(&key, "large").id(id).with(|e| e.put(&LARGE)))
            .await;
    }
    world.serves().await;
    peer.reset();
    world.end().await;
}

#[tokio::test]
async fn a_client_that_never_reads_does_not_keep_the_server_from_shutting_down() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    for id in 0..100 {
        peer.send(&Call::new(&key, "large").id(id).with(|e| e.put(&LARGE)))
            .await;
    }
    for _ in 0..100 {
        world.serves().await;
    }
    world.end().await;
    drop(peer);
}

#[tokio::test]
async fn a_client_that_leaves_during_its_call_harms_no_other() {
    let mut world = World::start().await;
    let key = world.key();
    for reset in [false, true] {
        let mut peer = Raw::connect(&world).await;
        peer.send(&Call::new(&key, "wait").empty()).await;
        world.entered().await;
        if reset {
            peer.reset();
        } else {
            drop(peer);
        }
        world.serves().await;
        // The servant carries its work to the end.
        world.let_go().await;
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_client_that_says_message_error_or_close_is_let_go() {
    let mut world = World::start().await;
    let key = world.key();
    for kind in [MessageKind::MessageError, MessageKind::CloseConnection] {
        let mut peer = Raw::connect(&world).await;
        peer.send(&Call::new(&key, "wait").empty()).await;
        world.entered().await;
        peer.send(&message(Version::V1_2, kind, &[])).await;
        assert!(peer.receive().await.is_none(), "{kind}");
        world.let_go().await;
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_not_answered() {
    let mut world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let twice = |id| Call::new(&key, "twice").id(id).with(|e| e.put(&4i32));
    let cancel = |id: u32| message(Version::V1_2, MessageKind::CancelRequest, &id.to_le_bytes());
    peer.send(&Call::new(&key, "wait").id(5).empty()).await;
    world.entered().await;
    // One without a target does no harm.
    peer.send(&cancel(77)).await;
    peer.send(&cancel(5)).await;
    peer.send(&twice(6)).await;
    assert_eq!(peer.receive_reply(6).await, Ok(8i32), "the cancel was read");
    world.let_go().await;
    world.serves().await;
    peer.send(&twice(7)).await;
    assert_eq!(
        peer.receive_reply(7).await,
        Ok(8i32),
        "the next, not number 5"
    );
    // One that was not cancelled is answered all the same.
    peer.send(&Call::new(&key, "wait").id(8).empty()).await;
    world.entered().await;
    world.let_go().await;
    assert_eq!(peer.receive_reply(8).await, Ok(()));
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_fragmented_request_may_be_cancelled_before_its_end() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let request = Call::new(&key, "swallow")
        .id(5)
        .with(|e| e.write_octets(&[3; 200]));
    let mut begun = message(Version::V1_2, MessageKind::Request, &request[12..100]);
    begun[6] |= 2;
    peer.send(&begun).await;
    peer.send(&message(
        Version::V1_2,
        MessageKind::CancelRequest,
        &5u32.to_le_bytes(),
    ))
    .await;
    peer.send(&Call::new(&key, "twice").id(5).with(|e| e.put(&4i32)))
        .await;
    assert_eq!(peer.receive_reply(5).await, Ok(8i32));
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn connections_over_the_limit_are_closed_and_the_others_served() {
    // The bystander is one of the two.
    let world = World::start_with(|builder| builder.max_connections(2)).await;
    let key = world.key();
    let twice = Call::new(&key, "twice").with(|e| e.put(&4i32));
    let mut second = Raw::connect(&world).await;
    second.send(&twice).await;
    assert_eq!(second.receive_reply(1).await, Ok(8i32));
    let mut third = Raw::connect(&world).await;
    let last = third.receive().await.expect("a word before the end");
    assert_eq!(last.header.kind, MessageKind::CloseConnection);
    assert!(third.receive().await.is_none());
    let counters = world.server.counters();
    assert_eq!(counters.get(zorb::Counter::ConnectionsRefused), 1);
    world.serves().await;
    drop(second);
    // Its place is free again once the server has noticed.
    within(async {
        loop {
            let mut next = Raw::connect(&world).await;
            if next.stream.write_all(&twice).await.is_ok()
                && let Ok(Some(reply)) = next.try_receive().await
            {
                assert_eq!(reply.header.kind, MessageKind::Reply);
                break;
            }
        }
    })
    .await;
    world.end().await;
}

/// Upcalls of one connection that may be pending at a time.
const MOST_PENDING: u32 = 4096;

#[tokio::test]
async fn a_client_that_asks_for_more_than_its_share_at_a_time_may_get_transient() {
    let mut world = World::start_with(|builder| builder.overload(Overload::Refuse)).await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    for id in 0..MOST_PENDING {
        peer.send(&Call::new(&key, "wait").id(id).empty()).await;
        world.entered().await;
    }
    for id in MOST_PENDING..MOST_PENDING + 10 {
        peer.send(&Call::new(&key, "wait").id(id).empty()).await;
        let refused = peer.receive_reply::<()>(id).await.unwrap_err();
        assert_eq!(
            (refused.kind, refused.minor, refused.completed),
            (Kind::Transient, minor::REQUEST_DISCARDED, Completed::No)
        );
        world.serves().await;
    }
    // One place is free again.
    world.let_go().await;
    assert!(peer.receive().await.is_some());
    peer.send(&Call::new(&key, "wait").id(1 << 20).empty())
        .await;
    world.entered().await;
    drop(peer);
    for _ in 0..MOST_PENDING {
        world.let_go().await;
    }
    world.end().await;
}
