//! ServerProtocolPolicy and ClientProtocolPolicy of POAs and clients.

use super::*;
use crate::pipe::transport::Pipe;
use crate::savings::spawn;
use std::fmt;
use std::sync::Arc;
use zorb::policy::{PolicyOverrides, PolicyType, Protocol};
use zorb::real_time::{TcpProtocolProperties, ThreadpoolOptions};
use zorb::transport::{
    AddressError, Addressing, BoxFuture, Capabilities, Connection, Endpoint, EndpointAddress,
    Listener, Transport, TransportError,
};
use zorb::{AdapterError, Interface};
use zorb_giop::ior::{IiopProfile, ProfileTag, TaggedProfile};
use zorb_giop_lite::GiopLite;

/// A server that listens to both kinds of sockets, and the folder of one of them.
async fn both() -> (Orb, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("uiop://{}", folder.path().join("socket").display());
    let orb = Orb::builder().listen(LOCAL).listen(socket).build().await;
    (orb.unwrap(), folder)
}

/// The protocols of the profiles that lead somewhere. omniORB finds a UNIX socket in a component of an IIOP profile, which has
/// port 0 where there is no such endpoint.
fn profiles(object: &ProbeRef) -> Vec<ProfileTag> {
    let leads_somewhere = |profile: &&TaggedProfile| {
        profile.tag != ProfileTag::INTERNET_IOP
            || IiopProfile::from_tagged(profile).unwrap().address.port != 0
    };
    let profiles = object.as_object().ior().profiles.iter();
    let profiles = profiles.filter(leads_somewhere);
    profiles.map(|profile| profile.tag).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn references_have_the_protocols_of_their_server_in_its_order() {
    const TCP: ProfileTag = ProfileTag::INTERNET_IOP;
    const UNIX: ProfileTag = ProfileTag::UIOP;
    let (server, folder) = both().await;
    let of_lane = format!("uiop://{}", folder.path().join("lane").display());
    let lane = ThreadpoolLane::new(Priority(10), 1);
    let lane = lane.listen(LOCAL).listen(of_lane);
    let options = ThreadpoolOptions::with_lanes([lane]);
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    for (name, protocols, expected) in [
        ("a", vec![Protocol::UIOP], &[UNIX][..]),
        ("b", vec![Protocol::UIOP, Protocol::IIOP], &[UNIX, TCP]),
        ("c", vec![Protocol::IIOP, Protocol::UIOP], &[TCP, UNIX]),
    ] {
        let policies = RtPolicies::new().server_protocols(protocols.clone());
        let plain = poa(&server, name, policies).unwrap();
        let object: ProbeRef = plain.activate(Teller::new(&server)).unwrap();
        assert_eq!(profiles(&object), expected);
        let client = client().await;
        seen_by(&client, &object).await.place().await.unwrap();
        let name = format!("{name} with lanes");
        let policies = declared(10).threadpool(&pool).server_protocols(protocols);
        let laned = poa(&server, &name, policies).unwrap();
        let object: ProbeRef = laned.activate(Teller::new(&server)).unwrap();
        assert_eq!(profiles(&object), expected);
        let place = seen_by(&client, &object).await.place().await.unwrap();
        assert_eq!(place.priority, 10);
        client.shutdown(true).await.unwrap();
    }
    server.shutdown(true).await.unwrap();
}

/// Each object is reached by the lane of its priority, whose endpoints its reference states, over a transport that this ORB does
/// not bring, and over another messaging.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lanes_listen_to_endpoints_of_any_transport_with_a_profile() {
    let transports: [Arc<dyn Transport>; 2] =
        [Arc::new(Pipe::default()), Arc::new(GiopLite::over_tcp())];
    let having = |builder: zorb::Builder| {
        let transports = transports.iter().cloned();
        transports.fold(builder, |builder, transport| builder.transport(transport))
    };
    let server = having(Orb::builder().listen(LOCAL)).build().await.unwrap();
    let client = having(Orb::builder()).build().await.unwrap();
    for (scheme, low, high) in [
        ("pipe", "pipe://low", "pipe://high"),
        (
            "iioplite",
            "iioplite://127.0.0.1:0",
            "iioplite://127.0.0.1:0",
        ),
    ] {
        let lane = |priority, listen| ThreadpoolLane::new(Priority(priority), 1).listen(listen);
        let options = ThreadpoolOptions::with_lanes([lane(10, low), lane(40, high)]);
        let pool = server.rt_orb().create_threadpool(options).await.unwrap();
        let policies = declared(10).threadpool(&pool);
        let poa = poa(&server, scheme, policies).unwrap();
        for priority in [10, 40] {
            let object: ProbeRef = poa
                .activate_object_with_priority(Teller::new(&server), Priority(priority))
                .unwrap();
            let tag = transports
                .iter()
                .find(|transport| transport.scheme() == scheme)
                .and_then(|transport| transport.addressing().profile());
            assert_eq!(Some(profiles(&object)[0].0), tag);
            let place = seen_by(&client, &object).await.place().await.unwrap();
            assert_eq!(place.priority, priority);
        }
        let propagated = propagated(10).threadpool(&pool);
        let poa = super::poa(&server, &format!("{scheme} propagated"), propagated).unwrap();
        let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
        for priority in [40, 10] {
            client
                .rt_current()
                .set_the_priority(Priority(priority))
                .unwrap();
            let place = seen_by(&client, &object).await.place().await.unwrap();
            assert_eq!(place.priority, priority);
        }
    }
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

/// A transport whose endpoints no reference can name, as it has no profile.
#[derive(Debug, Clone)]
struct Unnamed;

impl fmt::Display for Unnamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anywhere")
    }
}

impl EndpointAddress for Unnamed {}

impl Addressing for Unnamed {
    fn scheme(&self) -> &'static str {
        "unnamed"
    }

    fn forms(&self) -> &'static [&'static str] {
        &["unnamed://anywhere"]
    }

    fn parse(&self, _: &str) -> Result<Endpoint, AddressError> {
        Ok(Endpoint::new("unnamed", Self))
    }
}

type Opened<T> = Result<Box<T>, TransportError>;

impl Transport for Unnamed {
    fn addressing(&self) -> &dyn Addressing {
        self
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::stream()
    }

    fn connect<'a>(&'a self, _: &'a Endpoint) -> BoxFuture<'a, Opened<dyn Connection>> {
        unreachable!("no reference leads here")
    }

    fn listen<'a>(&'a self, _: &'a Endpoint) -> BoxFuture<'a, Opened<dyn Listener>> {
        unreachable!("a lane that no reference leads to does not listen")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lane_listens_to_no_endpoint_without_a_profile() {
    let server = Orb::builder().transport(Arc::new(Unnamed)).build();
    let server = server.await.unwrap();
    let lane = ThreadpoolLane::new(Priority(1), 1).listen("unnamed://anywhere");
    let options = ThreadpoolOptions::with_lanes([lane]);
    let error = server.rt_orb().create_threadpool(options).await;
    let error = error.unwrap_err();
    assert_eq!(error.to_system_exception().kind, Kind::BadParam);
    assert_eq!(
        error.to_string(),
        "expected an endpoint of a transport with a profile in references for a lane, found \"unnamed://anywhere\""
    );
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn protocols_without_an_endpoint_and_unknown_properties_are_invalid() {
    use zorb::PoaPolicyType as Invalid;
    let server = server().await;
    let none = Vec::new;
    for (server_protocols, client_protocols, expected) in [
        (Some(vec![Protocol::UIOP]), None, Invalid::ServerProtocol),
        (
            Some(vec![Protocol::new("atm")]),
            None,
            Invalid::ServerProtocol,
        ),
        (Some(none()), None, Invalid::ServerProtocol),
        (
            Some(vec![Protocol::IIOP.property("nodelay", "0")]),
            None,
            Invalid::ServerProtocol,
        ),
        (None, Some(none()), Invalid::ClientProtocol),
        (
            None,
            Some(vec![Protocol::new("atm")]),
            Invalid::ClientProtocol,
        ),
        (
            None,
            Some(vec![Protocol::IIOP.property("colour", "red")]),
            Invalid::ClientProtocol,
        ),
    ] {
        let mut policies = RtPolicies::new();
        if let Some(protocols) = server_protocols {
            policies = policies.server_protocols(protocols);
        }
        if let Some(protocols) = client_protocols {
            policies = policies.client_protocols(protocols);
        }
        match poa(&server, "invalid", policies.clone()) {
            Err(Error::Adapter(AdapterError::InvalidPolicy(error))) => {
                assert_eq!(error.policy, expected, "{policies:?}: {error}");
            }
            other => panic!("{policies:?}: {other:?}"),
        }
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_use_the_protocols_that_references_state() {
    let (server, _folder) = both().await;
    let slow = TcpProtocolProperties {
        no_delay: false,
        send_buffer_size: 65_536,
        ..TcpProtocolProperties::default()
    };
    let stated = Protocol::IIOP.tcp_properties(slow);
    let policies = RtPolicies::new().client_protocols([stated.clone()]);
    let poa = poa(&server, "stated", policies).unwrap();
    let object: ProbeRef = poa.activate(Teller::new(&server)).unwrap();
    let client = client().await;
    let object = seen_by(&client, &object).await;
    object.place().await.unwrap();
    let root = server.root_poa().activate(Teller::new(&server)).unwrap();
    let plain = seen_by(&client, &root).await;
    plain.place().await.unwrap();
    // Not the connection that other references share.
    assert_eq!(server.connections_served(), 2);
    // One of the two has to be without.
    let own = PolicyOverrides::new().client_protocols([Protocol::IIOP]);
    let both = object.as_object().with_policies(&own);
    let probe: ProbeRef = both.unchecked_narrow();
    raises(probe.place().await, Kind::InvPolicy, 1);
    let unmet = both.validate_connection().await;
    assert_eq!(unmet.unwrap(), [PolicyType::CLIENT_PROTOCOL]);
    server.shutdown(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_have_the_properties_of_the_client_s_protocol() {
    // The address that a connection comes from is a property which its peer sees.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = client().await;
    let at = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/Probe");
    let object = client.string_to_object(&at).await.unwrap();
    let from = |address: &str| {
        let bound = Protocol::IIOP.property("bind", address);
        let own = PolicyOverrides::new().client_protocols([bound]);
        let probe: ProbeRef = object.with_policies(&own).unchecked_narrow();
        probe
    };
    for address in ["127.0.0.79", "127.0.0.80"] {
        let probe = from(address);
        let calling = spawn(async move { probe.place().await });
        let accepted = listener.try_clone().unwrap();
        let accepted = tokio::task::spawn_blocking(move || accepted.accept().unwrap());
        let (stream, peer) = accepted.await.unwrap();
        assert_eq!(peer.ip().to_string(), address);
        drop(stream);
        calling.abort();
    }
    // A property that the transport does not have, and a value.
    for (name, value) in [("colour", "red"), ("bind", "here")] {
        let own = PolicyOverrides::new().client_protocols([Protocol::IIOP.property(name, value)]);
        let probe: ProbeRef = object.with_policies(&own).unchecked_narrow();
        raises(probe.place().await, Kind::InvPolicy, 1);
    }
}
