//! Small requests, one at a time, to a server that sleeps between them; and what comes when it expects another one.

use crate::hostile::honest_pair::World;
use crate::hostile::raw::{Call, Raw, message};
use zorb::WaitPolicy;
use zorb_giop::{MessageKind, ResponseFlags, Version};

/// Calls after which a server surely expects another one like them.
const USUAL: u32 = 20;

fn twice(key: &[u8], id: u32) -> Vec<u8> {
    let call = Call::new(key, "twice").id(id);
    call.with(|e| e.put(&(id as i32)))
}

/// Makes calls as most are, each when the one before it is answered.
async fn is_usual(raw: &mut Raw, key: &[u8]) {
    for id in 1..=USUAL {
        raw.send(&twice(key, id)).await;
        assert_eq!(raw.receive_reply::<i32>(id).await, Ok(2 * id as i32));
    }
}

async fn world() -> (World, Vec<u8>) {
    let world = World::start_with(|builder| builder.wait_policy(WaitPolicy::Park)).await;
    let key = world.key().to_vec();
    (world, key)
}

#[tokio::test]
async fn one_in_two_pieces_is_put_together_wherever_it_is_cut() {
    let (world, key) = world().await;
    let mut raw = Raw::connect(&world).await;
    let request = twice(&key, 7);
    for at in 1..request.len() {
        is_usual(&mut raw, &key).await;
        raw.send(&request[..at]).await;
        // The server has read it by then.
        world.serves().await;
        raw.send(&request[at..]).await;
        assert_eq!(raw.receive_reply::<i32>(7).await, Ok(14));
    }
    world.end().await;
}

#[tokio::test]
async fn several_that_come_together_are_served_in_order() {
    let (world, key) = world().await;
    let mut raw = Raw::connect(&world).await;
    for many in 2..20 {
        is_usual(&mut raw, &key).await;
        let together: Vec<u8> = (1..=many).flat_map(|id| twice(&key, id)).collect();
        // The last one is not whole at first.
        let (first, rest) = together.split_at(together.len() - 3);
        raw.send(first).await;
        world.serves().await;
        raw.send(rest).await;
        for id in 1..=many {
            assert_eq!(raw.receive_reply::<i32>(id).await, Ok(2 * id as i32));
        }
    }
    world.end().await;
}

#[tokio::test]
async fn one_of_any_length_is_served() {
    let (world, key) = world().await;
    let mut raw = Raw::connect(&world).await;
    let large = [1 << 10, 100_000, 3 << 20];
    for octets in (0..400).step_by(3).chain(large) {
        is_usual(&mut raw, &key).await;
        let call = Call::new(&key, "swallow").id(9);
        for _ in 0..3 {
            let request = call.with(|e| e.put(&vec![7_u8; octets]));
            raw.send(&request).await;
            assert_eq!(raw.receive_reply::<u32>(9).await, Ok(octets as u32));
        }
    }
    world.end().await;
}

#[tokio::test]
async fn cancelling_a_pending_an_unknown_or_no_request_changes_nothing() {
    let (mut world, key) = world().await;
    let mut raw = Raw::connect(&world).await;
    is_usual(&mut raw, &key).await;
    raw.send(&Call::new(&key, "wait").id(99).empty()).await;
    world.entered().await;
    is_usual(&mut raw, &key).await;
    world.let_go().await;
    assert_eq!(raw.receive_reply::<()>(99).await, Ok(()));
    is_usual(&mut raw, &key).await;
    let call = Call {
        response: ResponseFlags::None,
        ..Call::new(&key, "forget")
    };
    for _ in 0..USUAL {
        raw.send(&call.with(|e| e.put(&1_i32))).await;
    }
    is_usual(&mut raw, &key).await;
    let unknown_id = 4711_u32.to_le_bytes();
    raw.send(&message(
        Version::V1_2,
        MessageKind::CancelRequest,
        &unknown_id,
    ))
    .await;
    is_usual(&mut raw, &key).await;
    let unknown = Call::new(&key, "thrice").id(3).empty();
    raw.send(&unknown).await;
    assert!(raw.receive_reply::<i32>(3).await.is_err());
    is_usual(&mut raw, &key).await;
    world.end().await;
}

#[tokio::test]
async fn octets_that_are_no_message_end_the_connection_and_nothing_else() {
    let (world, key) = world().await;
    let mut raw = Raw::connect(&world).await;
    is_usual(&mut raw, &key).await;
    raw.send(b"GET / HTTP/1.1\r\n\r\n").await;
    raw.receive_message_error().await;
    let mut raw = Raw::connect(&world).await;
    is_usual(&mut raw, &key).await;
    // Behind a request that is answered.
    raw.send(&[&twice(&key, 5)[..], b"GIOp"].concat()).await;
    assert_eq!(raw.receive_reply::<i32>(5).await, Ok(10));
    raw.receive_message_error().await;
    let mut raw = Raw::connect(&world).await;
    is_usual(&mut raw, &key).await;
    raw.send(&message(Version::V1_2, MessageKind::CloseConnection, &[]))
        .await;
    assert!(raw.receive().await.is_none());
    world.end().await;
}
