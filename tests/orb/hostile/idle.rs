//! Connections on which nothing happens, and those that only pretend that something does.
//!
//! The clock stands still while a task is runnable, and jumps when all are idle.

use crate::hostile::honest_pair::{World, reach, within};
use crate::hostile::raw::{Call, Peer, Raw};
use crate::savings::spawn;
use std::time::Duration;
use tokio::join;
use tokio::time::{Instant, sleep};
use zorb::Orb;
use zorb_giop::MessageKind;

const LIMIT: Duration = Duration::from_secs(10);

async fn world() -> World {
    World::start_with(|builder| builder.idle_timeout(LIMIT)).await
}

/// The server says CloseConnection and nothing else, between once and twice the limit after
/// `since`.
async fn is_closed(raw: &mut Raw, since: Instant) {
    let message = raw.receive().await.expect("a word before the end");
    assert_eq!(message.header.kind, MessageKind::CloseConnection);
    let idle = since.elapsed();
    assert!(LIMIT <= idle && idle <= LIMIT * 2, "{idle:?}");
    assert!(raw.receive().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_idle_client_gets_close_connection_whether_it_ever_spoke_or_not() {
    let world = world().await;
    let mut silent = Raw::connect(&world).await;
    world.serves().await;
    is_closed(&mut silent, Instant::now()).await;

    let mut spoke = Raw::connect(&world).await;
    let twice = Call::new(&world.key(), "twice").with(|e| e.put(&4i32));
    // Each of these counts as a sign of life.
    for _ in 0..10 {
        spoke.send(&twice).await;
        assert_eq!(spoke.receive_reply(1).await, Ok(8i32));
        sleep(LIMIT * 9 / 10).await;
    }
    spoke.send(&twice).await;
    assert_eq!(spoke.receive_reply(1).await, Ok(8i32));
    is_closed(&mut spoke, Instant::now()).await;
    // These two, and the one that `serves` has called by.
    let counted = world.server.counters();
    assert_eq!(counted.get(zorb::Counter::IdleConnectionsClosed), 3);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_whose_idle_connection_was_closed_calls_on() {
    let world = world().await;
    let client = Orb::builder().build().await.unwrap();
    let target = reach(&client, &world.reference()).await;
    for n in 0..10 {
        assert_eq!(within(target.twice(n)).await, Ok(2 * n));
        within(async {
            while world.server.connections_served() > 0 {
                sleep(Duration::from_secs(1)).await;
            }
        })
        .await;
    }
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_call_in_progress_is_not_idle_on_either_side() {
    let mut world = world().await;
    let client = Orb::builder().idle_timeout(LIMIT).build().await.unwrap();
    let target = reach(&client, &world.reference()).await;
    let waiting = spawn(async move { target.wait().await });
    world.entered().await;
    sleep(LIMIT * 20).await;
    world.let_go().await;
    assert_eq!(within(waiting).await.unwrap(), Ok(()));
    within(client.shutdown(true)).await.unwrap();
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn octets_that_drip_keep_no_connection_open() {
    let world = world().await;
    let request = Call::new(&world.key(), "swallow").with(|e| e.write_octets(&[3; 4096]));
    for whole in [&request[..], b"GIOP"] {
        let mut raw = Raw::connect(&world).await;
        let before = Instant::now();
        let mut sent = 0;
        // One octet a second, and no more when there are no more.
        let closed = loop {
            if sent < whole.len() {
                raw.send(&whole[sent..=sent]).await;
                sent += 1;
            }
            tokio::select! {
                message = raw.receive() => break message,
                () = sleep(Duration::from_secs(1)) => {}
            }
        };
        let kind = closed.map(|message| message.header.kind);
        assert_eq!(kind, Some(MessageKind::CloseConnection));
        assert!(before.elapsed() <= LIMIT * 2);
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_large_message_that_comes_steadily_has_all_the_time_it_needs() {
    let world = world().await;
    let mut raw = Raw::connect(&world).await;
    let request = Call::new(&world.key(), "swallow").with(|e| e.write_octets(&[3; 2 << 20]));
    for piece in request.chunks(70 << 10) {
        raw.send(piece).await;
        sleep(LIMIT * 9 / 10).await;
    }
    assert_eq!(raw.receive_reply(1).await, Ok(2u32 << 20));
    drop(raw);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_is_idle_in_the_end() {
    let world = world().await;
    let mut raw = Raw::connect(&world).await;
    let key = world.key();
    for id in 0..100 {
        let large = Call::new(&key, "large").id(id);
        raw.send(&large.with(|e| e.put(&(1u32 << 18)))).await;
        world.serves().await;
    }
    within(async {
        // The one that behaves has its connection closed too, having nothing to say.
        while world.server.connections_served() > 0 {
            sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    drop(raw);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn our_own_idle_connections_are_closed_in_order_and_made_again() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let client = Orb::builder().idle_timeout(LIMIT).build().await.unwrap();
    let target = peer.target(&client);
    for n in 0..5 {
        let serving = async {
            let mut raw = peer.accept().await;
            raw.serve_twice().await;
            raw
        };
        let (outcome, mut raw) = join!(within(target.twice(n)), serving);
        assert_eq!(outcome, Ok(2 * n));
        is_closed(&mut raw, Instant::now()).await;
        // A one-way call is none that waits, and arrives all the same.
        assert_eq!(within(target.forget(n)).await, Ok(()));
        let mut raw = peer.accept().await;
        assert_eq!(raw.receive_request().await.1, "forget");
        is_closed(&mut raw, Instant::now()).await;
    }
    within(client.shutdown(true)).await.unwrap();
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn hundreds_of_idle_clients_leave_nothing_behind() {
    let world = world().await;
    let mut clients = Vec::new();
    for _ in 0..300 {
        clients.push(Raw::connect(&world).await);
    }
    within(async {
        while world.server.connections_served() > 0 {
            sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    world.serves().await;
    drop(clients);
    world.end().await;
}
