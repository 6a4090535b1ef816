//! Callers that lose patience: a call dropped at any await leaves a connection that works.

use crate::hostile::honest_pair::{World, reach, within};
use crate::savings::spawn;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use zorb::Orb;

/// Polls `call` until it has been pending `times` times, then drops it; gives whether it was done
/// before.
async fn dropped_after<T>(times: usize, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    let mut pending = 0;
    within(poll_fn(|cx| {
        if pending == times {
            return Poll::Ready(None);
        }
        match call.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => {
                pending += 1;
                if pending == times {
                    return Poll::Ready(None);
                }
                Poll::Pending
            }
        }
    }))
    .await
}

/// Drops a call at each of its awaits in turn, on one client and on a new client each time, and
/// makes a good one after it.
async fn every_await(octets: usize) {
    let world = World::start().await;
    let data = vec![9; octets];
    for fresh in [false, true] {
        let kept = Orb::builder().build().await.unwrap();
        for times in 0.. {
            let client = if fresh {
                Orb::builder().build().await.unwrap()
            } else {
                kept.clone()
            };
            let target = reach(&client, &world.reference()).await;
            let done = dropped_after(times, target.swallow(&data)).await;
            assert_eq!(
                within(target.twice(times as i32)).await,
                Ok(times as i32 * 2)
            );
            assert_eq!(within(target.swallow(&data)).await, Ok(octets as u32));
            world.serves().await;
            if fresh {
                within(client.shutdown(true)).await.unwrap();
            }
            if let Some(outcome) = done {
                assert_eq!(outcome, Ok(octets as u32));
                assert!(times > 0, "a call waits at least once");
                break;
            }
        }
        within(kept.shutdown(true)).await.unwrap();
    }
    world.end().await;
}

#[tokio::test]
async fn a_small_call_may_be_dropped_at_every_await() {
    every_await(10).await;
}

#[tokio::test]
async fn a_call_larger_than_the_socket_may_be_dropped_at_every_await() {
    every_await(16 << 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_may_be_dropped_at_every_await_on_several_threads() {
    every_await(10).await;
    every_await(16 << 20).await;
}

#[tokio::test]
async fn many_calls_dropped_among_many_others_lose_none_of_them() {
    let world = World::start().await;
    let target = reach(world.bystander(), &world.reference()).await;
    let mut calls = Vec::new();
    for n in 0..2000 {
        let target = target.clone();
        calls.push(spawn(async move {
            match n % 3 {
                0 => drop(dropped_after(1 + n % 2, target.twice(1)).await),
                1 => drop(dropped_after(1, target.large(70_000)).await),
                _ => assert_eq!(target.twice(n as i32).await, Ok(2 * n as i32)),
            }
        }));
    }
    for call in calls {
        within(call).await.unwrap();
    }
    world.end().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let mut world = World::start().await;
    let client = Orb::builder().build().await.unwrap();
    let target = reach(&client, &world.reference()).await;
    let mut calls = Vec::new();
    for _ in 0..10 {
        let target = target.clone();
        calls.push(spawn(async move { target.wait().await }));
        world.entered().await;
    }
    for call in &calls {
        call.abort();
    }
    for call in calls {
        assert!(within(call).await.unwrap_err().is_cancelled());
    }
    for _ in 0..10 {
        world.let_go().await;
    }
    assert_eq!(within(target.twice(4)).await, Ok(8));
    within(client.shutdown(true)).await.unwrap();
    world.end().await;
}
