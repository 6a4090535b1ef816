//! Requests that end before their servant is called.

use super::{Clerk, Person, TillServant, Two};
use crate::Policies;
use crate::real_time::{Priority, RtPolicies, ThreadpoolOptions};
use std::sync::Arc;

#[tokio::test]
async fn a_collocated_call_whose_arguments_cannot_be_encoded_is_seen_to_its_end() {
    let two = Two::start().await;
    let person = Person {
        name: "no\0text".to_owned(),
    };
    assert!(two.here.greet(&person).await.is_err());
    let seen = two.server.seen(4).await;
    assert_eq!(seen[1], "serve greet here asked");
    assert_eq!(seen[2], "reply greet WithTarget SystemException");
    assert!(seen[3].starts_with("greet ended: "), "{}", seen[3]);
    two.end().await;
}

#[tokio::test]
async fn a_one_way_call_for_which_a_lane_has_no_thread_is_seen_to_its_end() {
    let clerk = Clerk::default();
    let (waiting, released) = (Arc::clone(&clerk.waiting), Arc::clone(&clerk.released));
    let two = Two::start().await;
    let orb = &two.orbs[0];
    let options = ThreadpoolOptions::new(1, Priority(0)).without_buffering();
    let pool = orb.rt_orb().create_threadpool(options).await.unwrap();
    let policies = RtPolicies::new().threadpool(&pool);
    let (root, manager) = (orb.root_poa(), orb.root_poa().the_poa_manager().clone());
    let poa = root.create_rt_poa("one thread", Policies::default(), policies, Some(&manager));
    let till = poa.unwrap().activate(TillServant::new(clerk)).unwrap();
    let first = {
        let till = till.clone();
        tokio::spawn(async move { till.wait().await })
    };
    waiting.acquire().await.unwrap().forget();
    two.server.seen(2).await;
    till.ring(1).await.unwrap();
    let seen = two.server.seen(4).await;
    let refused = "reply ring None SystemException".to_owned();
    assert!(seen.contains(&refused), "{seen:?}");
    released.add_permits(1);
    first.await.unwrap().unwrap();
    two.end().await;
}
