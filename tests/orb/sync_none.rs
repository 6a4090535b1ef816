//! One-way calls of SYNC_NONE return at once: before there is a connection, and when there is no room for more.

use crate::savings::{in_time, spawn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::{Context, Poll, Waker};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use zorb::transport::{
    Addressing, BoxFuture, Capabilities, Connection, Endpoint, Listener, Tcp, Transport,
    TransportError,
};
use zorb::{
    Counter as Cause, Interface, Orb, SyncScope, SystemException, SystemExceptionKind as Kind,
    Version,
};

zorb::idl! {
    module SyncNone {
        typedef sequence<octet> Blob;
        interface Counter {
            oneway void count(in long n, in string text, in double at, in Blob octets);
            /// How many have come, each after the one before.
            long counted();
        };
    };
}

use sync_none::{Counter, CounterRef, CounterServant};

#[derive(Default)]
struct Servant(AtomicI32);

impl Counter for Servant {
    async fn count(
        &self,
        n: i32,
        text: &str,
        at: f64,
        _: zorb::OctetsRef<'_>,
    ) -> Result<(), SystemException> {
        // One that comes out of turn, or as something else, stops the count.
        if text == "é" && at == 0.5 {
            let exchange = Ordering::Relaxed;
            let _ = self.0.compare_exchange(n, n + 1, exchange, exchange);
        }
        Ok(())
    }

    async fn counted(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

/// TCP that connects when it is permitted.
#[derive(Debug)]
struct Withheld {
    tcp: Tcp,
    permitted: Semaphore,
}

impl Transport for Withheld {
    fn addressing(&self) -> &dyn Addressing {
        self.tcp.addressing()
    }

    fn capabilities(&self) -> Capabilities {
        self.tcp.capabilities()
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            self.permitted
                .acquire()
                .await
                .expect("never closed")
                .forget();
            self.tcp.connect(endpoint).await
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        self.tcp.listen(endpoint)
    }
}

/// A server, a client that does not connect yet, and its reference.
async fn world(version: Version) -> (Orb, Orb, Arc<Withheld>, CounterRef) {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let servant = CounterServant::new(Servant::default());
    let counter: CounterRef = server.root_poa().activate(servant).unwrap();
    let withheld = Arc::new(Withheld {
        tcp: Tcp::default(),
        permitted: Semaphore::new(0),
    });
    let client = Orb::builder()
        .transport(Arc::clone(&withheld) as Arc<dyn Transport>)
        .sync_scope(SyncScope::None)
        .max_giop_version(version)
        .build()
        .await
        .unwrap();
    let reference = server.object_to_string(&counter);
    let counter = client.string_to_object(&reference).await.unwrap();
    let counter = counter.unchecked_narrow();
    (server, client, withheld, counter)
}

/// Polls a call once: it is done then.
fn at_once(counter: &CounterRef, n: i32, octets: &[u8]) -> Result<(), SystemException> {
    let call = pin!(counter.count(n, "é", 0.5, octets));
    match call.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

#[tokio::test]
async fn a_call_does_not_wait_for_its_connection_and_calls_of_all_scopes_keep_their_order() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let (_server, client, withheld, counter) = world(version).await;
        for n in 0..100 {
            at_once(&counter, n, b"").unwrap();
        }
        let other = counter.with_sync_scope(SyncScope::WithTransport);
        let behind = spawn(async move {
            other.count(100, "é", 0.5, b"").await.unwrap();
            other.counted().await.unwrap()
        });
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        withheld.permitted.add_permits(1);
        assert_eq!(in_time(behind).await.unwrap(), 101, "{version}");
        at_once(&counter, 101, b"").unwrap();
        assert_eq!(in_time(counter.counted()).await.unwrap(), 102);
        assert_eq!(client.counters().get(Cause::OneWaysRefused), 0);
    }
}

#[tokio::test]
async fn what_waits_for_a_connection_leaves_before_the_orb_ends() {
    let (server, client, withheld, counter) = world(Version::V1_2).await;
    for n in 0..10 {
        at_once(&counter, n, b"").unwrap();
    }
    withheld.permitted.add_permits(1);
    in_time(client.shutdown(true)).await.unwrap();
    let seen = Orb::builder().build().await.unwrap();
    let seen = in_time(seen.string_to_object(&counter.to_string())).await;
    let seen: CounterRef = seen.unwrap().unchecked_narrow();
    in_time(async {
        while seen.counted().await.unwrap() != 10 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(server);
}

#[tokio::test]
async fn what_does_not_fit_while_there_is_no_connection_is_refused_and_counted() {
    let (_server, client, withheld, counter) = world(Version::V1_2).await;
    let large = vec![0; 100_000];
    let mut taken = 0;
    let refused = loop {
        match at_once(&counter, taken, &large) {
            Ok(()) => taken += 1,
            Err(refused) => break refused,
        }
        assert!(taken < 100, "no bound");
    };
    assert_eq!(refused.kind, Kind::Transient, "{refused}");
    assert_eq!(taken, 10);
    assert_eq!(client.counters().get(Cause::OneWaysRefused), 1);
    withheld.permitted.add_permits(1);
    assert_eq!(in_time(counter.counted()).await.unwrap(), taken);
    // There is room again.
    at_once(&counter, taken, &large).unwrap();
    assert_eq!(in_time(counter.counted()).await.unwrap(), taken + 1);
}

/// A client of SYNC_NONE, and a counter of a server that another one stands for.
async fn counter_at(port: u16) -> (Orb, CounterRef) {
    let client = Orb::builder().sync_scope(SyncScope::None);
    let client = client.build().await.unwrap();
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x");
    let counter = client.string_to_object(&url).await.unwrap();
    (client, counter.unchecked_narrow())
}

#[tokio::test]
async fn what_cannot_be_sent_to_a_server_that_does_not_read_is_refused_and_counted() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let (client, counter) = counter_at(port).await;
    let large = vec![0; 100_000];
    let mut accepted = None;
    let refused = in_time(async {
        loop {
            let sent = at_once(&counter, 0, &large);
            if accepted.is_none() {
                accepted = Some(silent.accept().await.unwrap());
            }
            match sent {
                Ok(()) => tokio::task::yield_now().await,
                Err(refused) => break refused,
            }
        }
    })
    .await;
    assert_eq!(
        (refused.kind, client.counters().get(Cause::OneWaysRefused)),
        (Kind::Transient, 1),
        "{refused}"
    );
    let again = at_once(&counter, 0, &large).unwrap_err();
    assert_eq!(
        (again.kind, client.counters().get(Cause::OneWaysRefused)),
        (Kind::Transient, 2)
    );
}

#[tokio::test]
async fn calls_whose_connection_cannot_be_made_are_dropped_and_counted() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let (client, counter) = counter_at(port).await;
    for _ in 0..3 {
        at_once(&counter, 0, b"").unwrap();
    }
    in_time(async {
        while client.counters().get(Cause::OneWaysRefused) < 3 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // A call that has a reply says why.
    let error = in_time(counter.counted()).await.unwrap_err();
    assert_eq!(error.kind, Kind::Transient, "{error}");
}
