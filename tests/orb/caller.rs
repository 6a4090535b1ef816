//! What a servant learns of the client that calls it.

use std::sync::Arc;
use zorb::policy::{BidirectionalPolicy, PolicyOverrides};
use zorb::transport::Address;
use zorb::{Blocking, NoContext, Orb, Peer, Poa, PoaCurrent, SystemException};

zorb::idl! {
    interface Callee {
        // `twice`: also after an await.
        string whoami(in boolean twice);
        string relay(in Callee to);
    };
}

struct Servant;

fn described(peer: Option<Arc<Peer>>) -> String {
    match peer.as_deref() {
        None => "this ORB".to_owned(),
        Some(peer) => match (&peer.address, &peer.identity) {
            (Address::Inet(address), None) => {
                format!("{} {}", peer.endpoint.scheme(), address.ip())
            }
            (Address::Unix(_), Some(identity)) => {
                let process = identity.process().unwrap();
                format!("{} {}", peer.endpoint.scheme(), process.user)
            }
            other => format!("{other:?}"),
        },
    }
}

impl Callee for Servant {
    async fn whoami(&self, twice: bool) -> Result<String, SystemException> {
        let first = described(PoaCurrent::get_peer().unwrap());
        if twice {
            tokio::task::yield_now().await;
            assert_eq!(described(PoaCurrent::get_peer().unwrap()), first);
        }
        Ok(first)
    }

    async fn relay(&self, to: Option<CalleeRef>) -> Result<String, SystemException> {
        let (before, seen) = (
            described(PoaCurrent::get_peer().unwrap()),
            to.unwrap().whoami(true).await?,
        );
        // The nested call has had its own.
        assert_eq!(described(PoaCurrent::get_peer().unwrap()), before);
        Ok(format!("{before}, {seen}"))
    }
}

fn me() -> String {
    let of = std::fs::metadata("/proc/self").unwrap();
    std::os::unix::fs::MetadataExt::uid(&of).to_string()
}

async fn orb(listen: &str) -> (Orb, Poa) {
    let orb = Orb::builder().listen(listen).build().await.unwrap();
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().unwrap();
    (orb, poa)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servant_knows_who_calls_it_wherever_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let unix = format!("uiop://{}", folder.path().join("callee").display());
    let client = Orb::builder()
        .unix_sockets_of_peers(true)
        .build()
        .await
        .unwrap();
    for (listen, expected) in [
        ("iiop://127.0.0.1:0", "iiop 127.0.0.1".to_owned()),
        (&unix, format!("uiop {}", me())),
    ] {
        let (server, poa) = orb(listen).await;
        let near = poa.activate(CalleeServant::new(Servant)).unwrap();
        let blocks = poa.activate(Blocking(CalleeServant::new(Servant))).unwrap();
        for near in [&near, &blocks] {
            let far = client.string_to_object(&near.to_string()).await.unwrap();
            let far: CalleeRef = far.unchecked_narrow();
            for twice in [false, true] {
                assert_eq!(far.whoami(twice).await.unwrap(), expected);
                assert_eq!(near.whoami(twice).await.unwrap(), "this ORB");
            }
            let relayed = far.relay(near).await.unwrap();
            assert_eq!(relayed, format!("{expected}, this ORB"));
        }
        server.shutdown(true).await.unwrap();
    }
    assert!(matches!(PoaCurrent::get_peer(), Err(NoContext)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servant_knows_who_calls_it_on_a_connection_on_which_both_ends_call() {
    let folder = tempfile::tempdir().unwrap();
    let unix = format!("uiop://{}", folder.path().join("callee").display());
    for (listen, expected) in [
        ("iiop://127.0.0.1:0", "iiop 127.0.0.1".to_owned()),
        (&unix, format!("uiop {}", me())),
    ] {
        let accepting = Orb::builder().accept_bidirectional(|_, _| true);
        let server = accepting.listen(listen).build().await.unwrap();
        server.root_poa().the_poa_manager().activate().unwrap();
        let there = server.root_poa().activate(CalleeServant::new(Servant));
        let both = PolicyOverrides::new().bidirectional(BidirectionalPolicy::Both);
        let offering = Orb::builder().policies(&both).unix_sockets_of_peers(true);
        let client = offering.build().await.unwrap();
        let poa = client.root_poa();
        poa.set_bidirectional_policy(BidirectionalPolicy::Both);
        poa.the_poa_manager().activate().unwrap();
        let here = poa.activate(CalleeServant::new(Servant)).unwrap();
        let there = client.string_to_object(&there.unwrap().to_string()).await;
        let there: CalleeRef = there.unwrap().unchecked_narrow();
        // The server's servant, and the client's when it is called back.
        let relayed = there.relay(&here).await.unwrap();
        assert_eq!(relayed, format!("{expected}, {expected}"));
        assert_eq!(server.connections_served(), 1);
        client.shutdown(true).await.unwrap();
        server.shutdown(true).await.unwrap();
    }
}
