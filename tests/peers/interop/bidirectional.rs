//! Bidirectional GIOP with other ORBs: callbacks on the connection that the client has opened, each way.

use crate::interop::idl::interop::PeerRef;
use crate::interop::jacorb::JACORB;
use crate::interop::nodes::host_node;
use crate::interop::omniorb::OMNIORB;
use crate::interop::server;
use crate::peers::{Brand, OUR_ORDER, Over, Way};
use crate::support::passed;
use std::sync::atomic::Ordering;
use std::time::Duration;
use zorb::Orb;
use zorb::policy::{BidirectionalPolicy, PolicyOverrides};

/// How omniORB offers its connections.
const OMNIORB_OFFERS: &[&str] = &[
    "--both-ways",
    "-ORBofferBiDirectionalGIOP",
    "1",
    "-ORBclientTransportRule",
    "* bidir,unix,tcp",
];
/// How omniORB accepts those of its clients.
const OMNIORB_ACCEPTS: &[&str] = &[
    "--both-ways",
    "-ORBacceptBiDirectionalGIOP",
    "1",
    "-ORBserverTransportRule",
    "* bidir,unix,tcp",
    "-ORBclientTransportRule",
    "* bidir,unix,tcp",
];
const JACORB_BOTH_WAYS: &[&str] = &["--both-ways"];

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(|&arg| arg.to_owned()).collect()
}

/// Our client, which listens nowhere, on another ORB's server.
async fn our_client(brand: &'static Brand, args: &[&str]) {
    let Some(programs) = brand.find("bidirectional GIOP") else {
        return;
    };
    let way = Way::new(brand, &programs, Over::Tcp, owned(args));
    let (_server, reference) = way.start();
    let both = PolicyOverrides::new().bidirectional(BidirectionalPolicy::Both);
    let orb = Orb::builder()
        .policies(&both)
        .build()
        .await
        .expect("no error");
    let poa = orb.root_poa();
    poa.set_bidirectional_policy(BidirectionalPolicy::Both);
    poa.the_poa_manager().activate().expect("not inactive");
    let (mine, node) = host_node(&orb, "mine", false);
    let peer: PeerRef = (orb.string_to_object(&reference).await)
        .expect("a reference")
        .unchecked_narrow();
    let home = peer.own_node().await.expect("no error").expect("a node");
    for (depth, expected) in [(0, 1), (1, 2), (7, 8)] {
        assert_eq!(peer.ring(&mine, depth).await.expect("no error"), expected);
    }
    assert_eq!(node.bounced.load(Ordering::Relaxed), 1 + 1 + 4);
    assert_eq!(home.bounce(6, &mine).await.expect("no error"), 6);
    orb.shutdown(true).await.expect("outside any upcall");
    let order = format!("{OUR_ORDER}-{}", brand.order);
    passed(&format!(
        "zorb-{}/giop1.2/{order}/tcp/both-ways/callbacks",
        brand.name
    ));
}

/// Another ORB's client on our server, which opens no connection. The cells run in this order. Returns whether the programs are
/// there.
async fn their_client(brand: &'static Brand, cells: &[&str], args: &[&str]) -> bool {
    let Some(programs) = brand.find("bidirectional GIOP") else {
        return false;
    };
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .accept_bidirectional(|_, _| true)
        .connect_timeout(Duration::ZERO)
        .build()
        .await
        .expect("the ORB listens");
    let peer = server::serve(&orb);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ior");
    std::fs::write(&file, orb.object_to_string(&peer)).expect("written");
    let mut all = owned(&["--ior", file.to_str().expect("plain")]);
    for cell in cells {
        all.extend(owned(&["--cell", cell]));
    }
    all.extend(owned(args));
    let client = programs.client.clone();
    let ended = tokio::task::spawn_blocking(move || client.start(&all).finish().success());
    ended.await.expect("the client passes");
    orb.shutdown(true).await.expect("outside any upcall");
    true
}

/// The cell of callbacks on our server.
async fn callbacks_of_client(brand: &'static Brand, args: &[&str]) {
    if their_client(brand, &["callbacks"], args).await {
        let order = format!("{}-{OUR_ORDER}", brand.order);
        passed(&format!(
            "{}-zorb/giop1.2/{order}/tcp/both-ways/callbacks",
            brand.name
        ));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_server_calls_our_client_on_its_connection() {
    our_client(&OMNIORB, OMNIORB_ACCEPTS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_server_calls_omniorb_s_client_on_its_connection() {
    callbacks_of_client(&OMNIORB, OMNIORB_OFFERS).await;
}

/// A call that fails inside omniORB's client leaves its connection open and unread, and the next one takes another.
#[tokio::test(flavor = "multi_thread")]
async fn our_server_calls_omniorb_s_client_after_calls_that_failed_inside_it() {
    let cells = [
        "callbacks",
        "beyond_bounds",
        "callbacks",
        "beyond_bounds",
        "callbacks",
    ];
    their_client(&OMNIORB, &cells, OMNIORB_OFFERS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_server_calls_our_client_on_its_connection() {
    our_client(&JACORB, JACORB_BOTH_WAYS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_server_calls_jacorb_s_client_on_its_connection() {
    callbacks_of_client(&JACORB, JACORB_BOTH_WAYS).await;
}
