//! Idle connections between other ORBs and us, closed by either side, and calls that go on.
//!
//! A tap between the two sees when a connection ends, and who has ended it.

use crate::interop::idl::interop::{NodeRef, PeerRef};
use crate::interop::jacorb::JACORB;
use crate::interop::nodes::host_node;
use crate::interop::omniorb::OMNIORB;
use crate::peers::{Brand, OUR_ORDER, Over, Way};
use crate::support::{HANG, Running, passed};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use zorb::{Builder, Interface, ObjectRef, Orb, Version};
use zorb_giop::ior::IiopProfile;

/// omniORB looks for idle connections every second, and closes them when they were idle for one:
/// there is nothing shorter.
const SERVER_CLOSES: &[&str] = &["-ORBscanGranularity", "1", "-ORBinConScanPeriod", "1"];
const CLIENT_CLOSES: &[&str] = &["-ORBscanGranularity", "1", "-ORBoutConScanPeriod", "1"];
const LIMIT: Duration = Duration::from_millis(300);
/// JacORB counts in milliseconds.
const JACORB_SERVER_CLOSES: &[&str] = &["-Djacorb.connection.server.timeout=300"];
const JACORB_CLIENT_CLOSES: &[&str] = &["-Djacorb.connection.client.idle_timeout=300"];

/// A connection that has ended: who wanted it, and whether they said so.
struct Ended {
    by_server: bool,
    in_words: bool,
}

/// Passes on what goes between a client and a server.
struct Tap {
    port: u16,
    ended: mpsc::UnboundedReceiver<Ended>,
}

impl Tap {
    async fn on(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it has one").port();
        let (tell, ended) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let tell = tell.clone();
                tokio::spawn(async move {
                    let far = TcpStream::connect(server)
                        .await
                        .expect("the server is there");
                    let _ = tell.send(pass(near, far).await);
                });
            }
        });
        Self { port, ended }
    }

    /// The same object, reached through the tap.
    fn reference(&self, orb: &Orb, object: &ObjectRef) -> ObjectRef {
        let mut ior = object.ior().clone();
        let mut body = IiopProfile::from_tagged(&ior.profiles[0]).expect("an IIOP profile");
        body.address.host = "127.0.0.1".to_owned();
        body.address.port = self.port;
        ior.profiles = vec![body.to_tagged().expect("it was one")];
        orb.object(ior)
    }

    async fn ended(&mut self) -> Ended {
        let ended = tokio::time::timeout(HANG, self.ended.recv()).await;
        ended
            .expect("idle connections are closed")
            .expect("the tap lives")
    }
}

/// Passes octets on in both directions until one side ends, and ends the other.
async fn pass(mut near: TcpStream, mut far: TcpStream) -> Ended {
    let (mut there, mut back) = (vec![0; 65536], vec![0; 65536]);
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    loop {
        let (read, to, seen, octets, by_server) = tokio::select! {
            n = near.read(&mut there) => (n, &mut far, &mut asked, &there, false),
            n = far.read(&mut back) => (n, &mut near, &mut answered, &back, true),
        };
        let octets = &octets[..read.unwrap_or(0)];
        seen.extend_from_slice(octets);
        if octets.is_empty() || to.write_all(octets).await.is_err() {
            // The sender of CloseConnection may leave it to its peer to end the stream.
            return match (is_close_connection(&asked), is_close_connection(&answered)) {
                (false, false) => Ended {
                    by_server,
                    in_words: false,
                },
                (_, by_server) => Ended {
                    by_server,
                    in_words: true,
                },
            };
        }
    }
}

/// Whether the last message of all that was said is CloseConnection.
fn is_close_connection(said: &[u8]) -> bool {
    let last = said.last_chunk::<12>();
    last.is_some_and(|header| header.starts_with(b"GIOP") && header[7] == 5)
}

fn address_of(object: &ObjectRef) -> SocketAddr {
    let body = IiopProfile::from_tagged(&object.ior().profiles[0]).expect("an IIOP profile");
    let host: std::net::IpAddr = body.address.host.parse().expect("an address");
    SocketAddr::new(host, body.address.port)
}

/// Another ORB's server, its peer as an ORB of ours sees it directly, and that ORB.
async fn start(
    brand: &'static Brand,
    giop: &str,
    args: &[&str],
    ours: fn(Builder) -> Builder,
) -> Option<(Running, Orb, PeerRef)> {
    let programs = brand.find("idle connections")?;
    let mut all = (brand.limit)(giop);
    all.extend(args.iter().map(|&arg| arg.to_owned()));
    let way = Way::new(brand, &programs, Over::Tcp, all);
    let (server, reference) = way.start();
    let version = if giop == "1.0" {
        Version::V1_0
    } else {
        Version::V1_2
    };
    let here = Orb::builder().listen("iiop://127.0.0.1:0");
    // JacORB speaks the version of our references.
    let orb = ours(here.max_giop_version(version));
    let orb = orb.build().await.expect("the ORB listens");
    let manager = orb.root_poa();
    manager.the_poa_manager().activate().expect("not inactive");
    let object = orb.string_to_object(&reference).await.expect("a reference");
    Some((server, orb, object.unchecked_narrow()))
}

/// Our client on another ORB: calls, an idle connection that ends, and calls again.
async fn our_calls(
    brand: &'static Brand,
    giop: &str,
    args: &[&str],
    ours: fn(Builder) -> Builder,
    by_server: bool,
) {
    let Some((_server, orb, peer)) = start(brand, giop, args, ours).await else {
        return;
    };
    let mut tap = Tap::on(address_of(peer.as_object())).await;
    let peer: PeerRef = tap.reference(&orb, peer.as_object()).unchecked_narrow();
    for _ in 0..3 {
        assert_eq!(peer.orb_name().await.expect("no error"), brand.orb_name);
        let ended = tap.ended().await;
        assert_eq!(ended.by_server, by_server);
        // Clients say nothing before 1.2.
        if by_server || giop == "1.2" {
            assert!(ended.in_words);
        }
    }
    assert_eq!(peer.orb_name().await.expect("no error"), brand.orb_name);
    let who = if by_server { "server" } else { "client" };
    let order = format!("{OUR_ORDER}-{}", brand.order);
    passed(&format!(
        "zorb-{}/giop{giop}/{order}/tcp/idle/{who}_closes",
        brand.name
    ));
}

/// The other ORB's calls on us, made by its server when we call that.
async fn their_calls(
    brand: &'static Brand,
    giop: &str,
    args: &[&str],
    ours: fn(Builder) -> Builder,
    by_server: bool,
) {
    let Some((_server, orb, peer)) = start(brand, giop, args, ours).await else {
        return;
    };
    let (node, _) = host_node(&orb, "mine", false);
    let mut tap = Tap::on(address_of(node.as_object())).await;
    let node: NodeRef = tap.reference(&orb, node.as_object()).unchecked_narrow();
    for _ in 0..3 {
        assert_eq!(peer.ring(&node, 0).await.expect("no error"), 1);
        let ended = tap.ended().await;
        assert_eq!(ended.by_server, by_server);
        if by_server {
            assert!(ended.in_words);
        }
    }
    assert_eq!(peer.ring(&node, 0).await.expect("no error"), 1);
    let who = if by_server { "server" } else { "client" };
    let order = format!("{}-{OUR_ORDER}", brand.order);
    passed(&format!(
        "{}-zorb/giop{giop}/{order}/tcp/idle/{who}_closes",
        brand.name
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_calls_on_after_omniorb_s_server_has_closed() {
    tokio::join!(
        our_calls(&OMNIORB, "1.0", SERVER_CLOSES, |ours| ours, true),
        our_calls(&OMNIORB, "1.2", SERVER_CLOSES, |ours| ours, true),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_closes_and_calls_omniorb_s_server_again() {
    let ours = |ours: Builder| ours.idle_timeout(LIMIT);
    tokio::join!(
        our_calls(&OMNIORB, "1.0", &[], ours, false),
        our_calls(&OMNIORB, "1.2", &[], ours, false),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_closes_and_calls_our_server_again() {
    tokio::join!(
        their_calls(&OMNIORB, "1.0", CLIENT_CLOSES, |ours| ours, false),
        their_calls(&OMNIORB, "1.2", CLIENT_CLOSES, |ours| ours, false),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_calls_on_after_our_server_has_closed() {
    let ours = |ours: Builder| ours.idle_timeout(LIMIT);
    tokio::join!(
        their_calls(&OMNIORB, "1.0", &[], ours, true),
        their_calls(&OMNIORB, "1.2", &[], ours, true),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_calls_on_after_jacorb_s_server_has_closed() {
    tokio::join!(
        our_calls(&JACORB, "1.0", JACORB_SERVER_CLOSES, |ours| ours, true),
        our_calls(&JACORB, "1.2", JACORB_SERVER_CLOSES, |ours| ours, true),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_closes_and_calls_jacorb_s_server_again() {
    let ours = |ours: Builder| ours.idle_timeout(LIMIT);
    tokio::join!(
        our_calls(&JACORB, "1.0", &[], ours, false),
        our_calls(&JACORB, "1.2", &[], ours, false),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_closes_and_calls_our_server_again() {
    tokio::join!(
        their_calls(&JACORB, "1.0", JACORB_CLIENT_CLOSES, |ours| ours, false),
        their_calls(&JACORB, "1.2", JACORB_CLIENT_CLOSES, |ours| ours, false),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_calls_on_after_our_server_has_closed() {
    let ours = |ours: Builder| ours.idle_timeout(LIMIT);
    tokio::join!(
        their_calls(&JACORB, "1.0", &[], ours, true),
        their_calls(&JACORB, "1.2", &[], ours, true),
    );
}
