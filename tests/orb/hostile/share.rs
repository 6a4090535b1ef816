//! Clients that want more memory than their share.

use crate::hostile::honest_pair::World;
use crate::hostile::raw::{Call, Raw, decode};
use zorb::{
    Builder, CompletionStatus as Completed, Overload, SystemException, SystemExceptionKind as Kind,
    minor,
};
use zorb_giop::{ReplyHeader, ReplyStatus};

const LIMIT: usize = 1 << 20;
/// Octets that the kernel takes off the server's hands without a reader, at most.
const KERNEL: usize = 16 << 20;

#[tokio::test]
async fn requests_that_wait_are_bounded_in_octets_and_others_get_through() {
    let limits = |builder: Builder| builder.max_message_octets(LIMIT).overload(Overload::Refuse);
    let mut world = World::start_with(limits).await;
    let key = world.key();
    let mut raw = Raw::connect(&world).await;
    // The octets after the arguments are ignored, but count.
    let large = |id| {
        Call::new(&key, "wait")
            .id(id)
            .with(|e| e.write_octets(&[0; LIMIT / 5]))
    };
    for id in 0..4 {
        raw.send(&large(id)).await;
        world.entered().await;
    }
    for id in 4..10 {
        raw.send(&large(id)).await;
        let refused = raw.receive_reply::<()>(id).await.unwrap_err();
        assert_eq!(
            (refused.kind, refused.minor, refused.completed),
            (Kind::Transient, minor::REQUEST_DISCARDED, Completed::No)
        );
        // The request that the others wait for has to be served.
        raw.send(&Call::new(&key, "twice").id(99).with(|e| e.put(&4i32)))
            .await;
        assert_eq!(raw.receive_reply(99).await, Ok(8i32));
        world.serves().await;
    }
    world.let_go().await;
    raw.receive().await.expect("an answer");
    raw.send(&large(10)).await;
    world.entered().await;
    for _ in 0..4 {
        world.let_go().await;
        raw.receive().await.expect("an answer");
    }
    world.end().await;
}

#[tokio::test]
async fn unread_replies_are_bounded_in_octets_even_if_their_upcalls_had_begun() {
    const CALLS: u32 = 200;
    const REPLY: u32 = 1 << 19;
    let mut world = World::start_with(|builder| builder.max_message_octets(LIMIT)).await;
    let key = world.key();
    let mut raw = Raw::connect(&world).await;
    for id in 0..CALLS {
        let call = Call::new(&key, "large_later").id(id);
        raw.send(&call.with(|e| e.put(&REPLY))).await;
        world.entered().await;
    }
    for _ in 0..CALLS {
        world.let_go().await;
        world.serves().await;
    }
    let (mut whole, mut refused) = (0, 0);
    for _ in 0..CALLS {
        let message = raw.receive().await.expect("every call is answered");
        let header = ReplyHeader::read(&message).unwrap();
        match header.status {
            ReplyStatus::NoException => whole += REPLY as usize,
            _ => {
                let e: SystemException = decode(&message, header.body);
                assert_eq!((e.kind, e.completed), (Kind::NoResources, Completed::Yes));
                refused += 1;
            }
        }
    }
    assert!(
        refused > 0 && whole > 0,
        "{refused} refused, {whole} octets"
    );
    assert!(whole <= LIMIT + REPLY as usize + KERNEL, "{whole} octets");
    let counted = world.server.counters();
    assert_eq!(counted.get(zorb::Counter::RepliesReplaced), refused);
    // And all is well again.
    raw.send(&Call::new(&key, "large").id(7).with(|e| e.put(&REPLY)))
        .await;
    let message = raw.receive().await.expect("an answer");
    assert_eq!(
        ReplyHeader::read(&message).unwrap().status,
        ReplyStatus::NoException
    );
    drop(raw);
    world.end().await;
}
