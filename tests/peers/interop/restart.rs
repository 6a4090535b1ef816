//! Clients of other ORBs that keep a reference of a persistent object of ours while our server is
//! started again: they go on, without an error where the server ended in order.
//!
//! The client is the ORB in the other's server program, which keeps a reference and calls it (`keep`, `call_kept`).

use crate::interop::idl::interop::{NodeRef, NodeServant, PeerRef};
use crate::interop::jacorb::JACORB;
use crate::interop::nodes::named_node;
use crate::interop::omniorb::OMNIORB;
use crate::peers::{Brand, OUR_ORDER, Over, Way};
use crate::support::{Running, passed, process};
use std::io::Read;
use std::process::{ChildStdin, Stdio};
use zorb::{Orb, Policies, SystemExceptionKind as Kind, Version};

const ENDPOINT: &str = "ZORB_TEST_ENDPOINT";
const GIOP: &str = "ZORB_TEST_GIOP";

/// A server of ours in a process of its own, which ends in order when its input does.
struct Server {
    running: Running,
    input: Option<ChildStdin>,
    endpoint: String,
    reference: String,
}

impl Server {
    fn start(giop: &str, endpoint: &str) -> Self {
        let mut command = process(module_path!(), "a_persistent_server");
        command.env(ENDPOINT, endpoint).env(GIOP, giop);
        let (mut running, input) = Running::spawn(command, Stdio::piped());
        let endpoint = running.find(|line| Some(line.split_once("endpoint ")?.1.to_owned()));
        Self {
            endpoint: endpoint.expect("it listens"),
            reference: running.reference().expect("it serves"),
            input,
            running,
        }
    }

    /// It says so to its clients.
    fn end_in_order(mut self) {
        drop(self.input.take());
        self.running.finish().success();
    }

    /// The name of its object: every process has another one.
    fn name(&self) -> String {
        self.running.id().to_string()
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the server of other tests, which start it"]
async fn a_persistent_server() {
    let variable = |name| std::env::var(name).expect("another test says that");
    let giop = if variable(GIOP) == "1.0" {
        Version::V1_0
    } else {
        Version::V1_2
    };
    let orb = Orb::builder()
        .listen(variable(ENDPOINT))
        .max_giop_version(giop)
        .server_id("restarted")
        .build()
        .await
        .expect("the ORB listens");
    let root = orb.root_poa();
    let manager = &root.the_poa_manager();
    let nodes = root
        .create_poa_with("nodes", Policies::PERSISTENT, Some(manager))
        .expect("the only one of that name");
    let node = named_node(&std::process::id().to_string());
    let reference = nodes
        .activate_object_with_id("home", NodeServant::from_arc(node))
        .expect("the only one with that id");
    manager.activate().expect("not inactive");
    eprintln!("endpoint {}", orb.endpoints()[0]);
    eprintln!("{}", orb.object_to_string(&reference));
    let input = || std::io::stdin().read_to_end(&mut Vec::new());
    let ended = tokio::task::spawn_blocking(input).await;
    ended.expect("it reads").expect("a pipe");
    orb.shutdown(true).await.expect("outside any upcall");
}

/// The other ORB calls on over an orderly restart and over a sudden one.
async fn calls_on(brand: &'static Brand, giop: &str) {
    let prefix = format!(
        "{}-zorb/giop{giop}/{}-{OUR_ORDER}/tcp/restart",
        brand.name, brand.order
    );
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, Over::Tcp, (brand.limit)(giop));
    let (_theirs, reference) = way.start();
    let orb = Orb::builder().build().await.expect("a client");
    let peer = orb.string_to_object(&reference).await.expect("a reference");
    let peer: PeerRef = peer.unchecked_narrow();

    let first = Server::start(giop, "iiop://127.0.0.1:0");
    let (endpoint, reference) = (first.endpoint.clone(), first.reference.clone());
    let node = orb.string_to_object(&reference).await.expect("a reference");
    let node: NodeRef = node.unchecked_narrow();
    peer.keep(&node).await.unwrap();
    assert_eq!(peer.call_kept().await.unwrap(), first.name());

    first.end_in_order();
    let second = Server::start(giop, &endpoint);
    assert_eq!(second.reference, reference, "{prefix}: octet for octet");
    assert_eq!(peer.call_kept().await.expect("no error"), second.name());
    passed(&format!("{prefix}/in_order"));

    // Killed, without a CloseConnection: the call fails while there is no server.
    drop(second);
    let lost = peer.call_kept().await.expect_err("no server is there");
    assert!(
        matches!(lost.kind, Kind::CommFailure | Kind::Transient),
        "{prefix}: {lost}"
    );
    let third = Server::start(giop, &endpoint);
    assert_eq!(peer.call_kept().await.expect("no error"), third.name());
    passed(&format!("{prefix}/killed"));
    third.end_in_order();
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_calls_a_persistent_object_on_after_our_server_s_restart() {
    tokio::join!(calls_on(&OMNIORB, "1.0"), calls_on(&OMNIORB, "1.2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_calls_a_persistent_object_on_after_our_server_s_restart() {
    tokio::join!(calls_on(&JACORB, "1.0"), calls_on(&JACORB, "1.2"));
}
