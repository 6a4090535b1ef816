//! Calls of every kind pass the same points.

use super::{Clerk, Recorder, TillRef, TillServant, Two};
use crate::blocking::Wait as _;
use crate::{Any, Blocking, Interface as _, Orb, TypeCode};
use std::sync::Arc;
use zorb_executor::Dispatch;

const SERVED: [&str; 2] = ["serve pay there asked", "reply pay WithTarget NoException"];

#[tokio::test(flavor = "multi_thread")]
async fn upcalls_that_take_their_worker_out_of_the_runtime_are_seen() {
    let two = Two::start_with(Dispatch::BlockInPlace, Clerk::default()).await;
    assert_eq!(two.there.pay(3).await.unwrap(), 3);
    assert_eq!(two.server.seen(2).await, SERVED);
    two.end().await;
}

#[tokio::test]
async fn upcalls_of_servants_that_block_are_seen() {
    let two = Two::start().await;
    let [orb, other] = &two.orbs;
    let here = orb
        .root_poa()
        .activate(Blocking(TillServant::new(Clerk::default())))
        .unwrap();
    let there = other.string_to_object(&here.to_string()).await.unwrap();
    let there = TillRef::unchecked_narrow(there);
    assert_eq!(there.pay(3).await.unwrap(), 3);
    assert_eq!(two.server.seen(2).await, SERVED);
    two.end().await;
}

#[test]
fn upcalls_on_the_thread_of_their_connection_are_seen() {
    let server = Arc::<Recorder>::default();
    let orb = Orb::builder()
        .interceptor(Arc::clone(&server) as _)
        .listen("iiop://127.0.0.1:0")
        .build_blocking()
        .unwrap();
    let here = orb
        .root_poa()
        .activate(TillServant::new(Clerk::default()))
        .unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let client = Arc::<Recorder>::default();
    let other = Orb::builder()
        .interceptor(Arc::clone(&client) as _)
        .build_blocking()
        .unwrap();
    let there = other.string_to_object(&here.to_string()).unwrap();
    let there = TillRef::unchecked_narrow(there);
    assert_eq!(there.pay(3).wait().unwrap(), 3);
    assert_eq!(*server.seen.lock().unwrap(), SERVED);
    other.shutdown(true).unwrap();
    orb.shutdown(true).unwrap();
}

#[tokio::test]
async fn a_one_way_call_that_is_held_is_seen_once_it_is_admitted() {
    let two = Two::start().await;
    let root = two.orbs[0].root_poa();
    let manager = root.the_poa_manager();
    manager.hold_requests().unwrap();
    two.here.ring(1).await.unwrap();
    assert_eq!(
        two.server.seen(2).await,
        ["send ring None here", "ring ended: sent"]
    );
    manager.activate().unwrap();
    assert_eq!(
        two.server.seen(2).await,
        ["serve ring here asked", "reply ring None NoException"]
    );
    two.end().await;
}

#[tokio::test]
async fn calls_that_are_put_together_while_the_program_runs_are_seen() {
    let two = Two::start().await;
    let pay = two
        .there
        .as_object()
        .request("pay")
        .argument(Any::new(&3_i32).unwrap())
        .returns(TypeCode::of::<i32>());
    let paid = pay.invoke().await.unwrap().result.unwrap();
    assert_eq!(paid.extract::<i32>().unwrap(), 3);
    let [client, server] = two.seen(2, 2).await;
    assert_eq!(
        client,
        [
            "send pay WithTarget there",
            "pay ended: NoException answered"
        ]
    );
    assert_eq!(server, SERVED);
    two.end().await;
}
