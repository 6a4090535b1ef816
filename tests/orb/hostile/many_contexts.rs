//! Service contexts that are many, or long, and CancelRequests of requests that there are not.

use crate::hostile::honest_pair::World;
use crate::hostile::raw::{Call, Raw, message};
use zorb::Bytes;
use zorb_giop::{MessageKind, ServiceContext, ServiceContextId, Version};

fn contexts(number: u32, data: &[u8]) -> Vec<ServiceContext> {
    let data = Bytes::copy_from_slice(data);
    (0..number)
        .map(|id| ServiceContext {
            // Among them all that a server looks for.
            id: ServiceContextId(match id {
                0..100 => id,
                _ => ServiceContextId::ZORB_RANGE.0 | (id & 0xf),
            }),
            data: data.clone(),
        })
        // What concerns the connection has a meaning of its own.
        .filter(|context| {
            context.id != ServiceContextId::CODE_SETS && context.id != ServiceContextId::BI_DIR_IIOP
        })
        .collect()
}

#[tokio::test]
async fn ten_thousand_contexts_of_nonsense_are_passed_over() {
    let world = World::start().await;
    let mut raw = Raw::connect(&world).await;
    let key = world.key();
    for data in [&b""[..], &[0], &[1; 8], &[0xff; 16]] {
        let contexts = contexts(10_000, data);
        // The third request of a kind finds its header in the cache.
        for id in 1..=3 {
            let call = Call {
                contexts: &contexts,
                ..Call::new(&key, "twice")
            };
            raw.send(&call.id(id).with(|e| e.put(&21_i32))).await;
            // `[1; 8]` of a deadline are a time far away, and too few octets of it are none.
            assert_eq!(raw.receive_reply::<i32>(id).await, Ok(42), "{data:?}");
        }
    }
    world.end().await;
}

#[tokio::test]
async fn a_context_over_the_limit_on_messages_ends_its_connection_alone() {
    let world = World::start().await;
    let mut raw = Raw::connect(&world).await;
    let key = world.key();
    let long = contexts(1, &vec![0; 64 << 20]);
    let call = Call {
        contexts: &long,
        ..Call::new(&key, "twice")
    };
    let octets = call.with(|e| e.put(&21_i32));
    // The server may close before it has read all of it.
    use tokio::io::AsyncWriteExt;
    let _ = raw.stream.write_all(&octets).await;
    while let Ok(Some(last)) = raw.try_receive().await {
        assert_ne!(last.header.kind, MessageKind::Request);
    }
    world.end().await;
}

#[tokio::test]
async fn cancel_requests_of_nothing_change_nothing() {
    let world = World::start().await;
    let mut raw = Raw::connect(&world).await;
    let key = world.key();
    let cancel = |id: u32| message(Version::V1_2, MessageKind::CancelRequest, &id.to_le_bytes());
    let storm: Vec<u8> = (0..10_000).flat_map(cancel).collect();
    for id in 1..=3 {
        raw.send(&storm).await;
        let call = Call::new(&key, "twice").id(id);
        raw.send(&call.with(|e| e.put(&21_i32))).await;
        assert_eq!(raw.receive_reply::<i32>(id).await, Ok(42));
    }
    world.end().await;
}
