//! One-way calls: their completion by scope, and the order in which they arrive.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::Semaphore;
use zorb::{Interface, Orb, SyncScope, SystemException, SystemExceptionKind, Version};

zorb::idl! {
    module OneWays {
        interface Counter {
            oneway void count(in long n);
            /// How many have come, each after the one before.
            long counted();
            oneway void hold();
            void release();
        };
    };
}

use one_ways::{Counter, CounterRef, CounterServant};

struct Servant {
    counted: AtomicI32,
    released: Semaphore,
}

impl Counter for Servant {
    async fn count(&self, n: i32) -> Result<(), SystemException> {
        // One that comes out of turn stops the count.
        let _ = self
            .counted
            .compare_exchange(n, n + 1, Ordering::Relaxed, Ordering::Relaxed);
        Ok(())
    }

    async fn counted(&self) -> Result<i32, SystemException> {
        Ok(self.counted.load(Ordering::Relaxed))
    }

    async fn hold(&self) -> Result<(), SystemException> {
        self.released
            .acquire()
            .await
            .expect("never closed")
            .forget();
        Ok(())
    }

    async fn release(&self) -> Result<(), SystemException> {
        self.released.add_permits(1);
        Ok(())
    }
}

async fn server() -> (Orb, String) {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    let counter: CounterRef = poa
        .activate(CounterServant::new(Servant {
            counted: AtomicI32::new(0),
            released: Semaphore::new(0),
        }))
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    let reference = server.object_to_string(&counter);
    (server, reference)
}

async fn client(reference: &str, version: Version) -> (Orb, CounterRef) {
    let client = Orb::builder()
        .max_giop_version(version)
        .build()
        .await
        .unwrap();
    let counter = client.string_to_object(reference).await.unwrap();
    (client, counter.unchecked_narrow())
}

/// A clock that turns a hang into a failure.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no caller is left waiting")
}

/// Asks until so many have been counted.
async fn all_arrive(counter: &CounterRef, expected: i32) {
    in_time(async {
        while counter.counted().await.unwrap() != expected {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn one_way_calls_arrive_in_order_whatever_their_scope() {
    let scopes = [
        SyncScope::None,
        SyncScope::WithTransport,
        SyncScope::WithServer,
        SyncScope::WithTarget,
    ];
    for mixed in [false, true] {
        for (index, scope) in scopes.into_iter().enumerate() {
            let (_server, reference) = server().await;
            let (_client, counter) = client(&reference, Version::V1_2).await;
            for n in 0..500 {
                // Mixed: every seventh in another scope than the rest.
                let other = scopes[(index + n as usize / 7) % scopes.len()];
                let scope = if mixed && n % 7 == 0 { other } else { scope };
                let counter = counter.with_sync_scope(scope);
                in_time(counter.count(n)).await.unwrap();
            }
            // A call with a reply goes behind them all.
            assert_eq!(in_time(counter.counted()).await.unwrap(), 500);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn collocated_one_way_calls_begin_in_order_as_do_those_that_were_held() {
    let (server, reference) = server().await;
    let counter = server.string_to_object(&reference).await.unwrap();
    let counter: CounterRef = counter.unchecked_narrow();
    let manager = Arc::clone(server.root_poa().the_poa_manager());
    let mut sent = 0;
    for is_held in [false, true, false] {
        if is_held {
            manager.hold_requests().unwrap();
        }
        for _ in 0..200 {
            in_time(counter.count(sent)).await.unwrap();
            sent += 1;
        }
        manager.activate().unwrap();
        all_arrive(&counter, sent).await;
    }
}

#[tokio::test]
async fn what_is_joined_leaves_without_any_further_call() {
    let (_server, reference) = server().await;
    let (_client, counter) = client(&reference, Version::V1_2).await;
    let (_other, seen) = client(&reference, Version::V1_2).await;
    let counter = counter.with_sync_scope(SyncScope::None);
    let mut sent = 0;
    for burst in [1, 3, 100, 1] {
        for _ in 0..burst {
            in_time(counter.count(sent)).await.unwrap();
            sent += 1;
        }
        all_arrive(&seen, sent).await;
    }
}

#[tokio::test]
async fn what_is_joined_leaves_before_the_orb_ends() {
    for version in [Version::V1_0, Version::V1_2] {
        let (_server, reference) = server().await;
        let (_other, seen) = client(&reference, version).await;
        let (orb, counter) = client(&reference, version).await;
        let counter = counter.with_sync_scope(SyncScope::None);
        for n in 0..10 {
            in_time(counter.count(n)).await.unwrap();
        }
        in_time(orb.shutdown(true)).await.unwrap();
        all_arrive(&seen, 10).await;
    }
}

#[tokio::test]
async fn with_server_waits_for_the_server_and_with_target_for_the_servant() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let (_server, reference) = server().await;
        let (_client, counter) = client(&reference, version).await;
        let with_server = counter.with_sync_scope(SyncScope::WithServer);
        if version == Version::V1_2 {
            in_time(with_server.hold()).await.unwrap();
            in_time(counter.release()).await.unwrap();
        }
        let with_target = counter.with_sync_scope(SyncScope::WithTarget);
        let mut held = pin!(with_target.hold());
        for _ in 0..10 {
            let poll = held.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(poll, Poll::Pending, "the servant is not done");
            // The server gets as far as it can.
            in_time(counter.counted()).await.unwrap();
        }
        in_time(counter.release()).await.unwrap();
        in_time(held).await.unwrap();
    }
}

#[tokio::test]
async fn an_absent_object_is_reported_to_calls_with_server() {
    let (_server, reference) = server().await;
    let url = {
        let (_client, counter) = client(&reference, Version::V1_2).await;
        let text = format!("{:?}", counter.as_object());
        let port: String = text
            .split("127.0.0.1:")
            .nth(1)
            .unwrap()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        format!("corbaloc:iiop:1.2@127.0.0.1:{port}/Absent")
    };
    let (_client, absent) = client(&url, Version::V1_2).await;
    for scope in [SyncScope::None, SyncScope::WithTransport] {
        in_time(absent.with_sync_scope(scope).count(0))
            .await
            .unwrap();
    }
    for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
        let outcome = in_time(absent.with_sync_scope(scope).count(0)).await;
        assert_eq!(
            outcome.unwrap_err().kind,
            SystemExceptionKind::ObjectNotExist,
            "{scope:?}"
        );
    }
}
