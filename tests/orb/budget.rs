//! Limits of memory that the builder sets, for what a message is decoded to and for all connections; and what else of large
//! messages is bounded.

use crate::savings::spawn;
use std::sync::{Mutex, mpsc};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use zorb::{Builder, Counter, OctetsRef, Orb, SystemException, SystemExceptionKind as Kind};

zorb::idl! {
    module Budget {
        union Large switch (boolean) { case TRUE: long big[1024]; };
        typedef sequence<Large> Larges;
        typedef sequence<octet> Blob;
        interface Store {
            unsigned long count(in Larges all);
            Blob large(in unsigned long octets);
        };
        interface Slow {
            boolean wait_for_others(in Blob octets);
        };
    };
}

use budget::{Large, Slow, SlowRef, SlowServant, Store, StoreRef, StoreServant};

struct Servant;

impl Store for Servant {
    async fn count(&self, all: &[Large]) -> Result<u32, SystemException> {
        Ok(u32::try_from(all.len()).unwrap())
    }

    async fn large(&self, octets: u32) -> Result<zorb::Bytes, SystemException> {
        Ok(vec![7; octets as usize].into())
    }
}

async fn serve(configure: impl FnOnce(Builder) -> Builder) -> (Orb, StoreRef, Orb) {
    let builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = configure(builder).build().await.unwrap();
    let store = server.root_poa().activate(StoreServant::new(Servant));
    let reference = server.object_to_string(&store.unwrap());
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().build().await.unwrap();
    let object = client.string_to_object(&reference).await.unwrap();
    (server, object.unchecked_narrow(), client)
}

async fn end(server: Orb, client: Orb) {
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn the_memory_that_a_message_is_decoded_to_is_what_the_builder_says() {
    // An octet each, and 4 KiB in memory.
    let all = vec![Large::Unset; 1000];
    for (limits, fits) in [
        (None, false),
        (Some((16, 8 << 20)), true),
        (Some((0, 0)), false),
    ] {
        let (server, store, client) = serve(|builder| match limits {
            None => builder,
            Some((each, beside)) => builder.max_decoded_memory(each, beside),
        })
        .await;
        match (store.count(&all).await, fits) {
            (Ok(count), true) => assert_eq!(count, 1000),
            (Err(e), false) => assert_eq!(e.kind, Kind::Marshal, "{e}"),
            (other, _) => panic!("{limits:?}: {other:?}"),
        }
        assert_eq!(store.count(&[]).await, Ok(0));
        let refused = server.counters().get(Counter::MemoryOfMessagesRefused);
        assert_eq!(refused, u64::from(!fits));
        end(server, client).await;
    }
}

#[tokio::test]
async fn clients_that_begin_messages_and_stop_take_no_more_than_all_may_and_others_are_served() {
    let (server, store, client) = serve(|builder| builder.max_memory_octets(8 << 20)).await;
    let port = server.endpoints()[0].port().unwrap();
    // A first fragment of a request, of 200 KB.
    let mut begun = b"GIOP\x01\x02\x03\x00".to_vec();
    begun.extend(200_000_u32.to_le_bytes());
    begun.resize(12 + 200_000, 0);
    let mut hostile = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        // It may be closed while it is written.
        let _ = stream.write_all(&begun).await;
        hostile.push(stream);
    }
    let counters = server.counters();
    let closed = || {
        counters.get(Counter::ConnectionsOverMemory)
            + counters.get(Counter::ConnectionsRefusedForMemory)
            + counters.get(Counter::ConnectionsEvicted)
    };
    let some_are_closed = async {
        while closed() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let in_time = Duration::from_secs(60);
    tokio::time::timeout(in_time, some_are_closed)
        .await
        .unwrap();
    // Another client is served, perhaps after the slow ones have been closed.
    let served = async {
        while store.large(1 << 20).await.map(|octets| octets.len()) != Ok(1 << 20) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(in_time, served).await.unwrap();
    // A closed one finds its end.
    drop(hostile.split_off(1));
    let mut end_of_first = Vec::new();
    let _ = hostile[0].shutdown().await;
    let ended = hostile[0].read_to_end(&mut end_of_first);
    let _ = tokio::time::timeout(in_time, ended).await.unwrap();
    end(server, client).await;
}

/// Holds its thread until another task has run.
struct Holding {
    begun: Mutex<Option<oneshot::Sender<()>>>,
    others: Mutex<mpsc::Receiver<()>>,
}

impl Slow for Holding {
    async fn wait_for_others(&self, _: OctetsRef<'_>) -> Result<bool, SystemException> {
        let begun = self.begun.lock().unwrap().take();
        begun.unwrap().send(()).unwrap();
        let others = self.others.lock().unwrap();
        Ok(others.recv_timeout(Duration::from_secs(30)).is_ok())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn tasks_of_a_worker_go_on_while_it_decodes_a_large_message() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let (begun, begins) = oneshot::channel();
    let (other, others) = mpsc::channel();
    let slow = SlowServant::new(Holding {
        begun: Mutex::new(Some(begun)),
        others: Mutex::new(others),
    });
    let slow = server.root_poa().activate(slow).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().build().await.unwrap();
    let slow = client.string_to_object(&slow.to_string()).await.unwrap();
    let slow: SlowRef = slow.unchecked_narrow();
    let call = spawn(async move { slow.wait_for_others(&[7_u8; 3 << 20][..]).await });
    begins.await.unwrap();
    spawn(async move { other.send(()).unwrap() });
    assert_eq!(call.await.unwrap(), Ok(true));
    end(server, client).await;
}
