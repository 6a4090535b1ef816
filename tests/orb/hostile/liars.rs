//! Peers whose messages are not what they say, and peers that say too much: one call fails or none, and all other peers
//! are served.

use crate::hostile::honest_pair::{World, within};
use crate::hostile::raw::{Call, Peer, Raw, message, reply};
use std::time::Duration;
use tokio::join;
use zorb::{CompletionStatus as Completed, Interface, SystemExceptionKind as Kind};
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::{
    MessageKind, ReplyBuilder, ReplyStatus, ServiceContext, ServiceContextId, Version,
};

/// Says big-endian of a message that is little-endian; `size_too`: and of its length, which is not.
fn lie(mut whole: Vec<u8>, size_too: bool) -> Vec<u8> {
    whole[6] &= !1;
    if !size_too {
        whole[8..12].reverse();
    }
    whole
}

#[tokio::test(start_paused = true)]
async fn a_server_that_lies_about_its_byte_order_fails_its_own_calls_only() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let answer = |id| reply(id, ReplyStatus::NoException, |e| e.put(&8i32));

    let (outcome, mut raw) = join!(within(target.twice(4)), async {
        let mut raw = peer.accept().await;
        raw.serve_twice().await;
        raw
    });
    assert_eq!(outcome, Ok(8));

    // The length is right: the message is a reply without a caller.
    let hasty = target.with_round_trip_timeout(Duration::from_secs(20));
    let (outcome, ()) = join!(within(hasty.twice(4)), async {
        let (id, _) = raw.receive_request().await;
        assert_ne!(id, id.swap_bytes());
        raw.send(&lie(answer(id), false)).await;
    });
    let e = outcome.unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completed::Maybe));
    world.serves().await;
    let cancel = raw.receive().await.unwrap().header.kind;
    assert_eq!(cancel, MessageKind::CancelRequest);
    let (outcome, ()) = join!(within(target.twice(4)), raw.serve_twice());
    assert_eq!(outcome, Ok(8), "the connection goes on");

    // The length is wrong too: the rest of a very long message is waited for.
    let (outcome, ()) = join!(within(hasty.twice(4)), async {
        let (id, _) = raw.receive_request().await;
        raw.send(&lie(answer(id), true)).await;
    });
    let e = outcome.unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completed::Maybe));
    world.serves().await;
    // Other calls do not wait for it: they go by another connection.
    let serving = async { peer.accept().await.serve_twice().await };
    let (outcome, ()) = join!(within(target.twice(4)), serving);
    assert_eq!(outcome, Ok(8));
    world.end().await;
}

#[tokio::test]
async fn a_client_that_lies_about_its_byte_order_loses_its_connection_only() {
    let world = World::start().await;
    let twice = Call::new(&world.key(), "twice").with(|e| e.put(&4i32));
    for size_too in [false, true] {
        let mut raw = Raw::connect(&world).await;
        raw.send(&twice).await;
        assert_eq!(raw.receive_reply(1).await, Ok(8i32));
        raw.send(&lie(twice.clone(), size_too)).await;
        if !size_too {
            raw.receive_message_error().await;
        }
        // Or else the rest of a very long message is waited for, on that connection.
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_reply_in_another_version_than_the_request_is_read_as_what_it_says() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let calling = async {
        for _ in 0..3 {
            assert_eq!(within(target.twice(4)).await, Ok(8));
            world.serves().await;
        }
    };
    let answering = async {
        let mut raw = peer.accept().await;
        for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
            let (request_id, _) = raw.receive_request().await;
            let answer = ReplyBuilder {
                version,
                request_id,
                status: ReplyStatus::NoException,
                contexts: &[],
            };
            let encoder = Encoder::<LittleEndian>::new(WireFormat::default());
            let answer = answer.encode(encoder, |e| e.put(&8i32)).unwrap();
            raw.send(&answer.to_vec()).await;
        }
    };
    join!(calling, answering);
    world.end().await;
}

#[tokio::test]
async fn replies_to_one_way_calls_match_no_call() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let answering = async {
        let mut raw = peer.accept().await;
        for n in 0..50 {
            let (id, operation) = raw.receive_request().await;
            assert_eq!(operation, "forget");
            let wrong = reply(id, ReplyStatus::NoException, |e| e.put(&-1i32));
            raw.send(&wrong).await;
            // Its id may be used again, but not taken for the old one.
            let (id, _) = raw.receive_request().await;
            raw.send(&wrong).await;
            raw.send(&reply(id, ReplyStatus::NoException, |e| e.put(&n)))
                .await;
        }
    };
    let calling = async {
        for n in 0..50 {
            assert_eq!(within(target.forget(n)).await, Ok(()));
            assert_eq!(within(target.twice(0)).await, Ok(n));
        }
        world.serves().await;
    };
    join!(calling, answering);
    world.end().await;
}

#[tokio::test]
async fn keys_operations_and_contexts_of_any_length_are_refused_or_skipped() {
    const LONG: usize = 1 << 20;
    let world = World::start().await;
    let key = world.key();
    let mut raw = Raw::connect(&world).await;
    let long_key = vec![b'k'; LONG];
    let long_name = "o".repeat(LONG);
    for n in 0..5 {
        raw.send(&Call::new(&long_key, "twice").id(n).with(|e| e.put(&4i32)))
            .await;
        let e = raw.receive_reply::<i32>(n).await.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::ObjectNotExist, Completed::No));
        raw.send(&Call::new(&key, &long_name).id(n).with(|e| e.put(&4i32)))
            .await;
        let e = raw.receive_reply::<i32>(n).await.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::BadOperation, Completed::No));
        world.serves().await;
    }
    let contexts: Vec<_> = (0..50_000)
        .map(|n| ServiceContext {
            id: ServiceContextId(0x1234_0000 + n),
            data: zorb::Bytes::from_static(b"whatever"),
        })
        .collect();
    let crowded = Call {
        contexts: &contexts,
        ..Call::new(&key, "twice")
    };
    raw.send(&crowded.with(|e| e.put(&4i32))).await;
    assert_eq!(raw.receive_reply(1).await, Ok(8i32));
    drop(raw);
    world.end().await;
}

#[tokio::test]
async fn fragments_without_end_and_without_data_take_nothing_but_time() {
    let world = World::start().await;
    let mut raw = Raw::connect(&world).await;
    let whole = Call::new(&world.key(), "swallow").with(|e| e.write_octets(&[3; 100]));
    let mut begun = message(Version::V1_2, MessageKind::Request, &whole[12..]);
    begun[6] |= 2;
    raw.send(&begun).await;
    let mut nothing = message(Version::V1_2, MessageKind::Fragment, &1u32.to_le_bytes());
    let last = nothing.clone();
    nothing[6] |= 2;
    let many = nothing.repeat(1000);
    for _ in 0..20 {
        raw.send(&many).await;
        world.serves().await;
    }
    raw.send(&last).await;
    assert_eq!(raw.receive_reply(1).await, Ok(100u32));
    drop(raw);
    world.end().await;
}
