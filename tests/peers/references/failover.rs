//! One of several endpoints is dead, or dies.

use crate::anew::anywhere;
use crate::references::{DEAD, PlaceRef, Server, client, place, profile};
use crate::support::HANG;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use zorb::{CompletionStatus, Ior, Orb, SystemExceptionKind as Kind};

/// Passes connections on to a server until it is dropped, which ends them all.
struct Relay {
    address: String,
    /// Aborted when dropped.
    _tasks: JoinSet<()>,
}

impl Relay {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let mut server = TcpStream::connect(&server).await.unwrap();
                connections.spawn(async move {
                    // It has ended, from either side.
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        Self {
            address,
            _tasks: tasks,
        }
    }
}

#[tokio::test]
async fn a_corbaloc_leads_to_the_first_address_that_lives() {
    let server = Server::start("live", "iiop://127.0.0.1:0").await;
    let (live, key) = (server.address(), server.key());
    let orb = client().await;
    for addresses in [
        format!("iiop:1.2@{DEAD},iiop:1.2@{live}"),
        format!(":{DEAD},:{DEAD},:{live}"),
        format!("iiop:1.2@nowhere.invalid:1,iiop:1.1@{live}"),
        format!("iiop:1.2@{live},iiop:1.2@{DEAD}"),
    ] {
        let place = place(&orb, &format!("corbaloc:{addresses}/{key}")).await;
        assert_eq!(place.name().await.unwrap(), "live", "{addresses}");
        assert!(place.as_ref().locate().await.unwrap(), "{addresses}");
    }
}

#[tokio::test]
async fn the_profiles_and_alternate_addresses_of_a_reference_are_tried_in_turn() {
    let orb = client().await;
    // An alternate address.
    let builder = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .publish(format!("iiop://{DEAD}"))
        .publish("addr");
    let alternate = Server::serve("alternate", builder).await;
    assert_eq!(profile(&alternate.place).address.port, 1);
    assert_eq!(
        place(&orb, &alternate.reference())
            .await
            .name()
            .await
            .unwrap(),
        "alternate"
    );
    // Another profile.
    let builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let second = Server::serve("second", builder.publish_host("127.0.0.1")).await;
    // At an address of its own: its port may go to another test otherwise.
    let dead = Server::start("dead", &anywhere()).await;
    let profiles = [&dead, &second].map(|server| server.place.as_ref().ior().profiles.clone());
    dead.orb.shutdown(true).await.unwrap();
    let ior = Ior {
        type_id: String::new(),
        profiles: profiles.concat(),
    };
    let both: PlaceRef = orb.object(ior).unchecked_narrow();
    assert_eq!(both.name().await.unwrap(), "second");
}

#[tokio::test]
async fn the_call_after_a_server_has_gone_in_order_goes_to_the_next() {
    let first = Server::start("first", &anywhere()).await;
    let second = Server::start("second", "iiop://127.0.0.1:0").await;
    let url = format!(
        "corbaloc:iiop:1.2@{},iiop:1.2@{}/{}",
        first.address(),
        second.address(),
        first.key()
    );
    let orb = client().await;
    let place = place(&orb, &url).await;
    assert_eq!(place.name().await.unwrap(), "first");
    first.orb.shutdown(true).await.unwrap();
    assert_eq!(place.name().await.unwrap(), "second");
}

#[tokio::test]
async fn the_call_after_a_connection_was_lost_goes_to_the_next_endpoint() {
    let first = Server::start("first", "iiop://127.0.0.1:0").await;
    let second = Server::start("second", "iiop://127.0.0.1:0").await;
    let relay = Relay::to(first.address()).await;
    let url = format!(
        "corbaloc:iiop:1.2@{},iiop:1.2@{}/{}",
        relay.address,
        second.address(),
        first.key()
    );
    let orb = client().await;
    let place = place(&orb, &url).await;
    assert_eq!(place.name().await.unwrap(), "first");
    let waiting = tokio::spawn({
        let place = place.clone();
        async move { place.wait().await }
    });
    first.waiting.notified().await;
    drop(relay);
    // It may have been carried out, so it is not sent again.
    let lost = waiting.await.unwrap().unwrap_err();
    assert_eq!(
        (lost.kind, lost.completed),
        (Kind::CommFailure, CompletionStatus::Maybe)
    );
    assert_eq!(place.name().await.unwrap(), "second");
}

#[tokio::test]
async fn without_a_live_server_every_endpoint_is_reported_with_its_cause() {
    let orb = client().await;
    let url = format!("corbaloc::{DEAD},:[::1]:1,:nowhere.invalid:9/key");
    let error = place(&orb, &url).await.name().await.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Transient, CompletionStatus::No)
    );
    let said = format!("{error:#}");
    for expected in [
        "cannot connect to iiop://127.0.0.1:1: Connection refused",
        "cannot connect to iiop://[::1]:1: Connection refused",
        "cannot resolve iiop://nowhere.invalid:9: ",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

/// A listener that takes no connection: its queue is full.
async fn silent() -> (TcpListener, TcpStream) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    // A queue of 0 holds one.
    let listener = socket.listen(0).unwrap();
    let queued = TcpStream::connect(listener.local_addr().unwrap()).await;
    (listener, queued.unwrap())
}

#[tokio::test]
async fn an_endpoint_that_says_nothing_does_not_keep_calls_with_a_limit_from_the_next() {
    let server = Server::start("live", "iiop://127.0.0.1:0").await;
    let (listener, _queued) = silent().await;
    let orb = Orb::builder()
        // As long as they can be without the second address being tried beside the first: the live one has to answer in
        // time.
        .connect_timeout(Duration::from_millis(900))
        .round_trip_timeout(Duration::from_millis(600))
        .build()
        .await
        .unwrap();
    let silent = listener.local_addr().unwrap();
    let url = format!("corbaloc::{silent},:{}/{}", server.address(), server.key());
    // Each call gives up before connecting does, so it is for another to reach the second address.
    let mut tries = 0;
    loop {
        match place(&orb, &url).await.name().await {
            Ok(name) => break assert_eq!(name, "live"),
            Err(error) => assert_eq!(error.kind, Kind::Timeout),
        }
        tries += 1;
        assert!(tries < 20, "the second address is never tried");
    }
    // A listener takes connections there now, and says nothing: only a client that asks the live one first is answered.
    drop(listener.accept().await.unwrap());
    assert_eq!(place(&orb, &url).await.name().await.unwrap(), "live");
}

#[tokio::test]
async fn a_silent_address_does_not_keep_the_others_of_its_profile_waiting() {
    let (listener, _queued) = silent().await;
    let silent = listener.local_addr().unwrap();
    let builder = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .publish(format!("iiop://{silent}"))
        .publish("addr");
    let server = Server::serve("alternate", builder).await;
    let orb = Orb::builder()
        .connect_timeout(Duration::MAX)
        .build()
        .await
        .unwrap();
    let place = place(&orb, &server.reference()).await;
    let named = tokio::time::timeout(HANG, place.name()).await;
    assert_eq!(named.expect("it does not hang").unwrap(), "alternate");
}
