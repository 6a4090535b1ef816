//! Refused, dropped, limited and timed-out requests are counted, by cause.

use crate::savings::{account, in_time, spawn};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use zorb::executor::{Dispatch, WorkerPool};
use zorb::{Counter, ObjectRef, Orb, SyncScope, SystemExceptionKind as Kind};

zorb::idl! {
    module Counted {
        interface Slow {
            void wait();
        };
    };
}

use counted::{Slow, SlowRef, SlowServant};

struct Servant(tokio::sync::Semaphore, std::sync::mpsc::SyncSender<()>);

impl Slow for Servant {
    async fn wait(&self) -> Result<(), zorb::SystemException> {
        let _ = self.1.send(());
        self.0.acquire().await.expect("never closed").forget();
        Ok(())
    }
}

async fn orb() -> Orb {
    Orb::builder().build().await.unwrap()
}

/// A listener that accepts nothing by itself, and a reference to it.
async fn silent(client: &Orb) -> (TcpListener, ObjectRef) {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x");
    let object = client.string_to_object(&url).await.unwrap();
    (silent, object)
}

#[tokio::test]
async fn calls_that_run_out_of_time_are_counted() {
    let client = orb().await;
    let (_silent, object) = silent(&client).await;
    let hasty = object.with_round_trip_timeout(Duration::from_millis(50));
    for _ in 0..3 {
        let error = in_time(hasty.non_existent()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Timeout, "{error}");
    }
    assert_eq!(client.counters().get(Counter::CallsTimedOut), 3);
}

#[tokio::test]
async fn requests_that_a_manager_discards_are_counted() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let ada = server.root_poa().activate(account("Ada")).unwrap();
    server
        .root_poa()
        .the_poa_manager()
        .discard_requests()
        .unwrap();
    let client = orb().await;
    let ada = server.object_to_string(&ada);
    let there = in_time(client.string_to_object(&ada)).await.unwrap();
    let error = in_time(there.non_existent()).await.unwrap_err();
    assert_eq!(error.kind, Kind::Transient, "{error}");
    assert_eq!(server.counters().get(Counter::RequestsDiscarded), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_do_not_fit_into_the_queue_of_the_worker_pool_are_counted() {
    let pool = WorkerPool::builder().threads(1).queue_capacity(1);
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .dispatch(Dispatch::Pool(pool.build().unwrap()))
        .build()
        .await
        .unwrap();
    let (sender, began) = std::sync::mpsc::sync_channel(100);
    let servant = std::sync::Arc::new(Servant(tokio::sync::Semaphore::new(0), sender));
    let object = SlowServant::from_arc(std::sync::Arc::clone(&servant));
    let object: SlowRef = server.root_poa().activate(object).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = orb().await;
    let object = server.object_to_string(&object);
    let there: SlowRef = client
        .string_to_object(&object)
        .await
        .unwrap()
        .unchecked_narrow();
    let mut calls = tokio::task::JoinSet::new();
    let call = |there: SlowRef| async move { there.wait().await };
    calls.spawn(call(there.clone()));
    tokio::task::block_in_place(|| began.recv_timeout(Duration::from_secs(60)).unwrap());
    // The thread may await several upcalls at a time: what is refused shows itself.
    for _ in 0..100 {
        calls.spawn(call(there.clone()));
    }
    let counters = server.counters();
    let mut refused = 0;
    while let Some(first) = in_time(calls.join_next()).await {
        if let Err(error) = first.unwrap() {
            assert_eq!(error.kind, Kind::Transient, "{error}");
            refused += 1;
        }
        servant.0.add_permits(1000);
    }
    assert_eq!(counters.get(Counter::PoolQueueFull), refused);
}

#[tokio::test]
async fn protocol_errors_of_servers_are_counted_too() {
    let client = orb().await;
    let (listener, object) = silent(&client).await;
    let calling = spawn(async move { object.non_existent().await });
    let (mut stream, _) = in_time(listener.accept()).await.unwrap();
    let mut first = [0; 12];
    in_time(stream.read_exact(&mut first)).await.unwrap();
    in_time(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        .await
        .unwrap();
    in_time(calling).await.unwrap().unwrap_err();
    let counters = client.counters();
    in_time(async {
        while counters.get(Counter::ProtocolErrors) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_shutdown_waits_no_longer_than_a_second_for_a_connection_of_one_ways_and_counts_them() {
    let client = Orb::builder()
        .transport(std::sync::Arc::new(Nowhere::default())
            as std::sync::Arc<dyn zorb::transport::Transport>)
        .sync_scope(SyncScope::None)
        .connect_timeout(Duration::from_secs(3600))
        .build()
        .await
        .unwrap();
    let object = client.string_to_object("corbaloc:iiop:1.2@192.0.2.1:1/x");
    let object: crate::sync_none::sync_none::CounterRef = object.await.unwrap().unchecked_narrow();
    for n in 0..3 {
        object.count(n, "", 0.5, b"").await.unwrap();
    }
    in_time(client.shutdown(true)).await.unwrap();
    assert_eq!(client.counters().get(Counter::OneWaysRefused), 3);
}

#[tokio::test(start_paused = true)]
async fn connects_that_are_not_answered_in_time_are_counted() {
    let client = Orb::builder()
        .transport(std::sync::Arc::new(Nowhere::default())
            as std::sync::Arc<dyn zorb::transport::Transport>)
        .connect_timeout(Duration::from_secs(7))
        .build()
        .await
        .unwrap();
    let object = client.string_to_object("corbaloc:iiop:1.2@192.0.2.1:1/x");
    let error = object.await.unwrap().non_existent().await.unwrap_err();
    assert_eq!(error.kind, Kind::Transient, "{error}");
    assert_eq!(client.counters().get(Counter::ConnectsTimedOut), 1);
}

#[tokio::test]
async fn calls_beyond_those_that_a_connection_may_have_in_flight_are_counted() {
    const IN_FLIGHT: usize = 16 << 10;
    let client = orb().await;
    let (listener, object) = silent(&client).await;
    // It reads, and answers nothing.
    let reading = spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    });
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..=IN_FLIGHT {
        let object = object.clone();
        calls.spawn(async move { object.non_existent().await });
    }
    let first = in_time(calls.join_next()).await.unwrap().unwrap();
    assert_eq!(first.unwrap_err().kind, Kind::Transient);
    assert_eq!(client.counters().get(Counter::CallsRefused), 1);
    calls.abort_all();
    reading.abort();
}

#[tokio::test]
async fn failures_to_accept_are_counted() {
    let transport = Nowhere(zorb::transport::Tcp::default(), true);
    let server = Orb::builder()
        .transport(std::sync::Arc::new(transport) as std::sync::Arc<dyn zorb::transport::Transport>)
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let counters = server.counters();
    in_time(async {
        while counters.get(Counter::AcceptsFailed) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn peers_that_go_on_sending_after_the_end_are_cut_and_counted() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let ada = server.root_poa().activate(account("Ada")).unwrap();
    let profile = zorb_giop::ior::IiopProfile::from_tagged(
        &zorb::Interface::as_object(&ada).ior().profiles[0],
    );
    let port = profile.unwrap().address.port;
    let connecting = tokio::net::TcpStream::connect(("127.0.0.1", port));
    let mut stream = in_time(connecting).await.unwrap();
    let counters = server.counters();
    in_time(async {
        let nonsense = vec![b'x'; 1 << 20];
        // Until the server closes, which it does before 64 MiB.
        for _ in 0..64 {
            if stream.write_all(&nonsense).await.is_err() {
                break;
            }
        }
        while counters.get(Counter::LingersCut) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(counters.get(Counter::ProtocolErrors), 1);
}

/// A listener of TCP that never accepts, for want of something.
#[derive(Debug)]
struct Lacking(Box<dyn zorb::transport::Listener>);

impl zorb::transport::Listener for Lacking {
    fn poll_accept(
        &self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<Box<dyn zorb::transport::Connection>>> {
        std::task::Poll::Ready(Err(std::io::Error::other("a descriptor is lacking")))
    }

    fn endpoint(&self) -> &zorb::transport::Endpoint {
        self.0.endpoint()
    }
}

/// TCP that never connects, and may never accept.
#[derive(Debug, Default)]
struct Nowhere(zorb::transport::Tcp, bool);

impl zorb::transport::Transport for Nowhere {
    fn addressing(&self) -> &dyn zorb::transport::Addressing {
        self.0.addressing()
    }

    fn capabilities(&self) -> zorb::transport::Capabilities {
        self.0.capabilities()
    }

    fn connect<'a>(
        &'a self,
        _: &'a zorb::transport::Endpoint,
    ) -> zorb::transport::BoxFuture<
        'a,
        Result<Box<dyn zorb::transport::Connection>, zorb::transport::TransportError>,
    > {
        Box::pin(std::future::pending())
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a zorb::transport::Endpoint,
    ) -> zorb::transport::BoxFuture<
        'a,
        Result<Box<dyn zorb::transport::Listener>, zorb::transport::TransportError>,
    > {
        Box::pin(async move {
            let listener = self.0.listen(endpoint).await?;
            let listener: Box<dyn zorb::transport::Listener> = match self.1 {
                true => Box::new(Lacking(listener)),
                false => listener,
            };
            Ok(listener)
        })
    }
}
