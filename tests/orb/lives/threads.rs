//! Calls from servants, servants that block, several ORBs and several runtimes in a process.

use crate::lives::cell_servant::{CellServant, Servant, client, from_afar, in_time, seen, server};
use crate::savings::spawn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use zorb::{CompletionStatus as Completed, Orb, SystemExceptionKind as Kind, minor};

on_both_flavours!(
    a_servant_calls_its_own_orb_and_another_and_its_caller,
    a_servant_waits_for_a_thread_that_may_block,
    a_local_call_that_is_dropped_runs_on_like_a_remote_one,
    a_servant_that_panics_harms_no_other_near_or_far,
    one_of_several_orbs_ends_and_the_others_go_on,
    local_one_way_calls_are_carried_out,
);

async fn a_servant_calls_its_own_orb_and_another_and_its_caller() {
    let (one, _, first) = server().await;
    let second = {
        let servant = CellServant::from_arc(Servant::new(&one));
        one.root_poa().activate(servant).unwrap()
    };
    let (two, _, third) = server().await;
    let (three, _, mine) = server().await;
    let (first, second) = (
        from_afar(&three, &first).await,
        from_afar(&three, &second).await,
    );
    // Within its own ORB, itself even.
    assert_eq!(in_time(first.add_by(&second, 1, 2)).await, Ok(3));
    assert_eq!(in_time(first.add_by(&first, 1, 3)).await, Ok(4));
    // In another.
    assert_eq!(in_time(first.add_by(&third, 1, 4)).await, Ok(5));
    // Back to the caller, and to and fro.
    assert_eq!(in_time(first.add_by(&mine, 1, 5)).await, Ok(6));
    assert_eq!(in_time(first.add_far(&mine, &first, 9)).await, Ok(10));
    assert_eq!(in_time(first.add_far(&third, &second, 9)).await, Ok(10));
    // Many at a time.
    let calls: Vec<_> = (0..100)
        .map(|n| {
            let (first, mine) = (first.clone(), mine.clone());
            spawn(async move { first.add_far(&mine, &first, n % 7).await })
        })
        .collect();
    for (n, call) in (0..).zip(calls) {
        assert_eq!(in_time(call).await.unwrap(), Ok(n % 7 + 1));
    }
    for orb in [one, two, three] {
        in_time(orb.shutdown(true)).await.unwrap();
    }
}

async fn a_servant_waits_for_a_thread_that_may_block() {
    let (server, _, near) = server().await;
    let client = client().await;
    let far = from_afar(&client, &near).await;
    for cell in [near, far] {
        let calls: Vec<_> = (0..50)
            .map(|n| {
                let cell = cell.clone();
                spawn(async move { cell.add_blocking(n, 1).await })
            })
            .collect();
        for (n, call) in (0..).zip(calls) {
            assert_eq!(in_time(call).await.unwrap(), Ok(n + 1));
        }
    }
    in_time(server.shutdown(true)).await.unwrap();
}

async fn a_local_call_that_is_dropped_runs_on_like_a_remote_one() {
    let (server, servant, near) = server().await;
    let client = client().await;
    let far = from_afar(&client, &near).await;
    for (calls, cell) in (1..).zip([near, far]) {
        {
            let mut call = pin!(cell.wait(1));
            let mut entered = pin!(servant.entered.notified());
            in_time(async {
                tokio::select! {
                    _ = &mut call => panic!("it was not released"),
                    () = &mut entered => {}
                }
            })
            .await;
            // Once more, so that it has been polled after the servant was entered.
            let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        }
        servant.gate.add_permits(1);
        in_time(servant.left_one.notified()).await;
        assert_eq!(servant.left.load(Ordering::Relaxed), calls);
    }
    in_time(server.shutdown(true)).await.unwrap();
}

async fn a_servant_that_panics_harms_no_other_near_or_far() {
    let (server, _, near) = server().await;
    let client = client().await;
    let far = from_afar(&client, &near).await;
    let panicked = (Kind::Unknown, minor::SERVANT_PANICKED, Completed::Maybe);
    for cell in [near, far] {
        assert_eq!(seen(in_time(cell.panic_now()).await), panicked);
        assert_eq!(in_time(cell.add(1, 1)).await, Ok(2));
        assert_eq!(seen(in_time(cell.panic_later()).await), panicked);
        assert_eq!(in_time(cell.add(1, 1)).await, Ok(2));
    }
    in_time(server.shutdown(true)).await.unwrap();
}

async fn one_of_several_orbs_ends_and_the_others_go_on() {
    let mut orbs = Vec::new();
    for _ in 0..4 {
        orbs.push(server().await);
    }
    while let Some((orb, _, cell)) = orbs.pop() {
        // Each calls all others.
        for (from, _, _) in &orbs {
            for (_, _, to) in &orbs {
                let seen = from_afar(from, to).await;
                assert_eq!(in_time(seen.add(1, 2)).await, Ok(3));
            }
            let ending = from_afar(from, &cell).await;
            assert_eq!(in_time(ending.add(2, 3)).await, Ok(5));
        }
        in_time(orb.shutdown(true)).await.unwrap();
        for (from, _, _) in &orbs {
            let gone = from_afar(from, &cell).await;
            let (kind, _, completed) = seen(in_time(gone.add(1, 1)).await);
            assert_eq!((kind, completed), (Kind::Transient, Completed::No));
        }
    }
}

async fn local_one_way_calls_are_carried_out() {
    let (server, servant, near) = server().await;
    for _ in 0..100 {
        in_time(near.note(1)).await.unwrap();
    }
    in_time(server.shutdown(true)).await.unwrap();
    assert_eq!(servant.notes.load(Ordering::Relaxed), 100);
}

#[test]
fn one_orb_is_called_from_several_runtimes_of_both_flavours() {
    let home = tokio::runtime::Runtime::new().unwrap();
    let (server, servant, near) = home.block_on(server());
    let (client, far) = home.block_on(async {
        let client = client().await;
        let far = from_afar(&client, &near).await;
        (client, far)
    });
    let threads: Vec<_> = (0..6)
        .map(|n| {
            let (near, far) = (near.clone(), far.clone());
            std::thread::spawn(move || {
                let mut builder = match n % 2 {
                    0 => tokio::runtime::Builder::new_current_thread(),
                    _ => tokio::runtime::Builder::new_multi_thread(),
                };
                let runtime = builder.enable_all().build().unwrap();
                runtime.block_on(async {
                    for i in 0..50 {
                        assert_eq!(in_time(far.add(i, n)).await, Ok(i + n));
                        assert_eq!(in_time(near.add_blocking(i, n)).await, Ok(i + n));
                        assert_eq!(in_time(far.add_by(&near, i, n)).await, Ok(i + n));
                    }
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    home.block_on(async {
        // Their connections have ended with them; that of the runtime at home was never made.
        assert_eq!(in_time(far.add(1, 2)).await, Ok(3));
        in_time(client.shutdown(true)).await.unwrap();
        in_time(server.shutdown(true)).await.unwrap();
    });
    assert!(Arc::strong_count(&servant) >= 1);
}

#[test]
fn an_orb_on_a_lane_of_its_own_serves_while_the_rest_of_the_program_blocks() {
    let lane = zorb::executor::Lane::dedicated("lives").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (server, near) = runtime.block_on(async {
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .lane(lane)
            .build()
            .await
            .unwrap();
        let servant = CellServant::from_arc(Servant::new(&orb));
        let cell = orb.root_poa().activate(servant).unwrap();
        orb.root_poa().the_poa_manager().activate().unwrap();
        (orb, cell)
    });
    // No thread drives `runtime` now.
    let other = tokio::runtime::Runtime::new().unwrap();
    other.block_on(async {
        let client = client().await;
        let far = from_afar(&client, &near).await;
        assert_eq!(in_time(far.add(1, 2)).await, Ok(3));
        in_time(client.shutdown(true)).await.unwrap();
    });
    runtime.block_on(in_time(server.shutdown(true))).unwrap();
}
