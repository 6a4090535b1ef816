//! Time limits: what a call that runs out of time may say of its completion.

use crate::hostile::honest_pair::{World, within};
use crate::hostile::raw::{Peer, Raw, message, reply};
use crate::savings::spawn;
use std::time::Duration;
use tokio::join;
use zorb::{
    CompletionStatus as Completed, Interface, SystemException, SystemExceptionKind as Kind,
};
use zorb_giop::{MessageKind, ReplyStatus, Version};

/// The clock stands still while a task can run, so time only passes where it has to.
const SHORT: Duration = Duration::from_secs(20);
/// More than both sockets and our queue hold.
const HUGE: usize = 32 << 20;

fn timed_out<T: std::fmt::Debug>(outcome: Result<T, SystemException>, completed: Completed) {
    let e = outcome.unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, completed), "{e}");
    assert!(format!("{e:#}").contains("iiop://127.0.0.1:"), "{e:#}");
    assert!(format!("{e:#}").contains("20s"), "{e:#}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waited_for_room_was_not_sent_and_says_so() {
    let world = World::start().await;
    for is_one_way in [false, true] {
        let peer = Peer::start().await;
        let target = peer.target(world.bystander());
        let blocking = {
            let target = target.clone();
            spawn(async move { target.swallow(&vec![5; HUGE][..]).await })
        };
        // It has begun to come, and is not read any further.
        let stuck = peer.accept().await;
        within(stuck.stream.peek(&mut [0])).await.unwrap();
        let hasty = target.with_round_trip_timeout(SHORT);
        match is_one_way {
            false => timed_out(within(hasty.twice(4)).await.map(drop), Completed::No),
            true => timed_out(within(hasty.forget(4)).await, Completed::No),
        }
        // By another connection, as the peer reads nothing of the first one.
        let (sent, mut other) = join!(within(hasty.forget(5)), peer.accept());
        assert_eq!(sent, Ok(()));
        assert_eq!(other.receive_request().await.1, "forget");
        world.serves().await;
        blocking.abort();
        drop(stuck);
    }
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_of_which_octets_were_sent_may_have_happened() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let hasty = target.with_round_trip_timeout(SHORT);
    // Sent whole, and no answer.
    let (outcome, mut raw) = join!(within(hasty.twice(4)), async {
        let mut raw = peer.accept().await;
        raw.receive_request().await;
        raw
    });
    timed_out(outcome, Completed::Maybe);
    // Sent in part: it will be finished, whatever becomes of its caller.
    let data = vec![5; HUGE];
    timed_out(within(hasty.swallow(&data)).await, Completed::Maybe);
    assert_eq!(
        raw.receive().await.unwrap().header.kind,
        MessageKind::CancelRequest
    );
    // By another connection, as the first one is silent.
    let mut other = peer.accept().await;
    assert_eq!(other.receive_request().await.1, "swallow");
    world.serves().await;
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_on_its_way_to_another_place_was_not_carried_out() {
    let world = World::start().await;
    let (peer, deaf) = (Peer::start().await, Peer::start().await);
    let target = peer.target(world.bystander());
    // Sent on to a place whose room is taken.
    let crowd = deaf.target(world.bystander());
    let crowding = spawn(async move { crowd.swallow(&vec![5; HUGE][..]).await });
    let stuck = deaf.accept().await;
    within(stuck.stream.peek(&mut [0])).await.unwrap();
    let hasty = target.with_round_trip_timeout(SHORT);
    let (outcome, ()) = join!(within(hasty.twice(4)), async {
        let mut raw = peer.accept().await;
        let (id, _) = raw.receive_request().await;
        raw.send(&reply(id, ReplyStatus::LocationForward, |e| {
            e.put(&deaf.ior())
        }))
        .await;
    });
    timed_out(outcome, Completed::No);
    crowding.abort();
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_limit_goes_on_while_a_call_is_sent_again() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let hasty = peer
        .target(world.bystander())
        .with_round_trip_timeout(SHORT);
    let close = message(Version::V1_2, MessageKind::CloseConnection, &[]);
    let serving = async {
        let mut first: Raw = peer.accept().await;
        first.receive_request().await;
        first.send(&close).await;
        let mut second = peer.accept().await;
        second.receive_request().await;
        second
    };
    let (outcome, second) = join!(within(hasty.twice(4)), serving);
    timed_out(outcome, Completed::Maybe);
    drop(second);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn asking_where_an_object_is_has_the_same_limit_and_does_nothing() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let hasty = peer
        .target(world.bystander())
        .with_round_trip_timeout(SHORT);
    let object = hasty.as_object().clone();
    let (outcome, raw) = join!(within(object.locate()), async {
        let mut raw = peer.accept().await;
        assert_eq!(
            raw.receive().await.unwrap().header.kind,
            MessageKind::LocateRequest
        );
        raw
    });
    timed_out(outcome, Completed::No);
    drop(raw);
    world.end().await;
}
