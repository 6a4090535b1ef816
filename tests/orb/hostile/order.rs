//! The order of requests that wait.

use crate::hostile::held::is_read;
use crate::hostile::honest_pair::World;
use crate::hostile::raw::{Call, Raw};
use std::sync::Arc;
use zorb_giop::ResponseFlags;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_that_were_held_begin_in_the_order_in_which_they_came() {
    const HELD: i32 = 200;
    const LATER: i32 = 50;
    let world = World::start().await;
    let key = world.key();
    let manager = Arc::clone(world.server.root_poa().the_poa_manager());
    for _ in 0..5 {
        let mut raw = Raw::connect(&world).await;
        manager.hold_requests().unwrap();
        let note = |n: i32| {
            let call = Call {
                response: ResponseFlags::None,
                ..Call::new(&key, "forget")
            };
            call.with(|e| e.put(&n))
        };
        for n in 0..HELD {
            raw.send(&note(n)).await;
        }
        is_read(&mut raw).await;
        manager.activate().unwrap();
        for n in HELD..HELD + LATER {
            raw.send(&note(n)).await;
        }
        // Behind them all.
        raw.send(&Call::new(&key, "twice").id(9).with(|e| e.put(&4i32)))
            .await;
        assert_eq!(raw.receive_reply(9).await, Ok(8i32));
        let forgotten = std::mem::take(&mut *world.subject.forgotten.lock().unwrap());
        assert!(
            forgotten.iter().copied().eq(0..HELD + LATER),
            "{forgotten:?}"
        );
    }
    world.end().await;
}
