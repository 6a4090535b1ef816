//! Clients that are many, or leave what they asked for behind.

use crate::hostile::held::is_read;
use crate::hostile::honest_pair::{World, reach, within};
use crate::hostile::raw::{Call, Raw, message};
use crate::savings::spawn;
use std::net::SocketAddr;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;
use zorb::{Interface, Orb, Overload, SyncScope};
use zorb_giop::{MessageKind, ResponseFlags, Version};

/// A connection from another address of this host, which counts as another host.
pub(super) async fn connect_from(address: &str, world: &World) -> Raw {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(SocketAddr::new(address.parse().unwrap(), 0))
        .unwrap();
    let server = SocketAddr::new("127.0.0.1".parse().unwrap(), world.port());
    Raw::new(within(socket.connect(server)).await.unwrap())
}

async fn is_closed_in_order(raw: &mut Raw) {
    let message = raw.receive().await.expect("a word before the end");
    assert_eq!(message.header.kind, MessageKind::CloseConnection);
    assert!(raw.receive().await.is_none());
}

#[tokio::test]
async fn one_way_calls_beyond_the_limit_wait_and_none_is_lost() {
    const CALLS: usize = 20_000;
    let mut world = World::start().await;
    let client = Orb::builder().build().await.unwrap();
    let target = reach(&client, &world.reference()).await;
    let sending = spawn(async move {
        for _ in 0..CALLS {
            target.forget_later().await.unwrap();
        }
        let target = target.with_sync_scope(SyncScope::None);
        for _ in 0..CALLS {
            target.forget_later().await.unwrap();
        }
        client.shutdown(true).await.unwrap();
    });
    for _ in 0..2 * CALLS {
        world.entered().await;
        world.subject.open(1);
    }
    within(sending).await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn requests_beyond_the_limit_wait_while_cancels_and_the_end_are_read() {
    let mut world = World::start_with(|builder| builder.max_upcalls_per_connection(1)).await;
    let key = world.key();
    let wait = |id| Call::new(&key, "wait").id(id).empty();
    let mut raw = Raw::connect(&world).await;
    for id in 1..=3 {
        raw.send(&wait(id)).await;
    }
    world.entered().await;
    let cancel = message(Version::V1_2, MessageKind::CancelRequest, &[2, 0, 0, 0]);
    raw.send(&cancel).await;
    let twice = Call::new(&key, "twice").id(4);
    raw.send(&twice.with(|e| e.put(&4i32))).await;
    is_read(&mut raw).await;
    for id in [1, 3] {
        assert_eq!(world.entered_so_far(), 0);
        world.let_go().await;
        assert_eq!(raw.receive_reply(id).await, Ok(()));
        if id == 1 {
            world.entered().await;
        }
    }
    assert_eq!(raw.receive_reply(4).await, Ok(8i32));
    // The same, and the client closes: requests without a waiting client are not begun.
    raw.send(&wait(5)).await;
    world.entered().await;
    raw.send(&wait(6)).await;
    raw.send(&message(Version::V1_2, MessageKind::CloseConnection, &[]))
        .await;
    assert!(raw.receive().await.is_none());
    world.let_go().await;
    world.serves().await;
    assert_eq!(world.entered_so_far(), 0);
    world.end().await;
}

#[tokio::test]
async fn a_client_that_is_gone_leaves_its_place_to_the_next_although_its_upcalls_run_on() {
    const LEFT: usize = 50;
    let mut world = World::start_with(|builder| builder.max_connections(2)).await;
    let key = world.key();
    for round in 1..=LEFT {
        let mut raw = Raw::connect(&world).await;
        raw.send(&Call::new(&key, "wait").empty()).await;
        world.entered().await;
        drop(raw);
        within(async {
            // The bystander's stays.
            while world.server.connections_served() > 1 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        assert_eq!(world.server.pending_upcalls(), round);
    }
    for _ in 0..LEFT {
        world.let_go().await;
    }
    world.end().await;
}

#[tokio::test]
async fn upcalls_that_were_left_behind_count_for_their_host_and_other_hosts_are_served() {
    let limits =
        |builder: zorb::Builder| builder.max_upcalls_per_host(3).overload(Overload::Refuse);
    let mut world = World::start_with(limits).await;
    let key = world.key();
    for _ in 0..3 {
        let mut raw = connect_from("127.0.0.2", &world).await;
        raw.send(&Call::new(&key, "wait").empty()).await;
        world.entered().await;
    }
    let mut raw = connect_from("127.0.0.2", &world).await;
    raw.send(&Call::new(&key, "wait").id(7).empty()).await;
    let refused = raw.receive_reply::<()>(7).await.unwrap_err();
    assert_eq!(refused.kind, zorb::SystemExceptionKind::Transient);
    // From another address, the bystander's.
    world.serves().await;
    for _ in 0..3 {
        world.let_go().await;
    }
    raw.send(&Call::new(&key, "twice").id(8).with(|e| e.put(&4i32)))
        .await;
    assert_eq!(raw.receive_reply(8).await, Ok(8i32));
    drop(raw);
    world.end().await;
}

#[tokio::test]
async fn connections_of_one_host_leave_places_to_others_and_the_surplus_is_refused() {
    let limits = |builder: zorb::Builder| builder.max_connections(9).max_connections_per_host(3);
    let world = World::start_with(limits).await;
    let key = world.key();
    let mut crowd = Vec::new();
    for id in 1..=3 {
        let mut raw = connect_from("127.0.0.2", &world).await;
        raw.send(&Call::new(&key, "twice").id(id).with(|e| e.put(&4i32)))
            .await;
        assert_eq!(raw.receive_reply(id).await, Ok(8i32));
        crowd.push(raw);
    }
    for _ in 0..100 {
        let mut surplus = connect_from("127.0.0.2", &world).await;
        // It has sent its request already, mostly: what is unread must not take the last word away.
        let _ = surplus
            .stream
            .write_all(&Call::new(&key, "wait").empty())
            .await;
        is_closed_in_order(&mut surplus).await;
    }
    let mut other = connect_from("127.0.0.3", &world).await;
    other
        .send(&Call::new(&key, "twice").id(4).with(|e| e.put(&4i32)))
        .await;
    assert_eq!(other.receive_reply(4).await, Ok(8i32));
    let counted = world.server.counters();
    assert_eq!(counted.get(zorb::Counter::ConnectionsOfHostRefused), 100);
    drop((crowd, other));
    world.end().await;
}

#[tokio::test]
async fn connections_for_which_there_is_no_memory_are_refused_until_one_goes() {
    /// Octets that a connection counts as, and connections for which there are that many, the bystander's among them.
    const OCTETS: usize = 16 << 10;
    const CONNECTIONS: usize = 5;
    let limits = |builder: zorb::Builder| builder.max_memory_octets(CONNECTIONS * OCTETS);
    let world = World::start_with(limits).await;
    world.serves().await;
    let key = world.key();
    let twice = |id| Call::new(&key, "twice").id(id).with(|e| e.put(&4i32));
    let mut crowd = Vec::new();
    for id in 2..=CONNECTIONS as u32 {
        let mut raw = Raw::connect(&world).await;
        raw.send(&twice(id)).await;
        assert_eq!(raw.receive_reply(id).await, Ok(8i32));
        crowd.push(raw);
    }
    let counters = world.server.counters();
    let cause = zorb::Counter::ConnectionsRefusedForMemory;
    assert_eq!(counters.get(cause), 0);
    for surplus in 1..=3 {
        is_closed_in_order(&mut Raw::connect(&world).await).await;
        assert_eq!(counters.get(cause), surplus);
    }
    drop(crowd.pop());
    within(async {
        while world.server.connections_served() == CONNECTIONS {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let mut next = Raw::connect(&world).await;
    next.send(&twice(9)).await;
    assert_eq!(next.receive_reply(9).await, Ok(8i32));
    drop((crowd, next));
    world.end().await;
}

#[tokio::test]
async fn requests_that_are_held_are_left_unanswered_by_a_shutdown() {
    let world = World::start().await;
    let key = world.key();
    let manager = std::sync::Arc::clone(world.server.root_poa().the_poa_manager());
    manager.hold_requests().unwrap();
    let mut raw = Raw::connect(&world).await;
    raw.send(&Call::new(&key, "twice").with(|e| e.put(&4i32)))
        .await;
    // Its acknowledgement shows that it has been read, and the first one before it.
    let arrived = Call {
        response: ResponseFlags::WithServer,
        ..Call::new(&key, "twice").id(2)
    };
    raw.send(&arrived.with(|e| e.put(&4i32))).await;
    assert_eq!(raw.receive_reply(2).await, Ok(()));
    let down = spawn({
        let server = world.server.clone();
        async move { server.shutdown(true).await }
    });
    is_closed_in_order(&mut raw).await;
    drop(raw);
    within(down).await.unwrap().unwrap();
}
