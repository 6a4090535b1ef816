//! Server and client on different hosts, as far as the network is concerned: network namespaces
//! with cables between them.
//!
//! Needs root and iproute2; without, the tests say what they skipped. The programs on these hosts
//! are this very test program, whose environment says which part to play.

use crate::references::{PlaceRef, Server};
use crate::support::{Running, have, passed, process};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use zorb::policy::{BidirectionalPolicy, PolicyOverrides};
use zorb::{Orb, SystemException};

/// The environment of a started program.
const REFERENCE: &str = "ZORB_TEST_REFERENCE";
const SERVE: &str = "ZORB_TEST_SERVE";
const RELAY: &str = "ZORB_TEST_RELAY";
const BOTH_WAYS: &str = "ZORB_TEST_BOTH_WAYS";
const WAITS: &str = "ZORB_TEST_WAITS";
const NAME: &str = "ZORB_TEST_NAME";
const FOLLOWS: &str = "ZORB_TEST_FOLLOWS";

/// A host with a network of its own. Dropping it takes it and its cables away.
pub(super) struct Host {
    name: String,
}

impl Host {
    /// `None`, and a word about it, when there cannot be any.
    fn new(what: &str) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if !have(what, &[Path::new("ip")]) {
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("zorb-{}-{number}", std::process::id());
        let added = ip(&["netns", "add", &name]);
        if let Err(why) = added {
            let required = std::env::var_os("ZORB_PEERS").is_some_and(|v| v == "require");
            assert!(!required, "{what}: {why}");
            eprintln!("{what}: skipped, no network namespaces: {why}");
            return None;
        }
        let host = Self { name };
        host.ip(&["link", "set", "lo", "up"]);
        Some(host)
    }

    pub(super) fn ip(&self, args: &[&str]) {
        ip(&[&["-n", &self.name], args].concat()).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    }

    /// A cable to another host, plugged in at both ends.
    fn connect(&self, interface: &str, other: &Self, its: &str) {
        self.ip(&[
            "link",
            "add",
            interface,
            "type",
            "veth",
            "peer",
            "name",
            its,
            "netns",
            &other.name,
        ]);
        self.ip(&["link", "set", interface, "up"]);
        other.ip(&["link", "set", its, "up"]);
    }

    pub(super) fn address(&self, interface: &str, address: &str) {
        let mut args = vec!["address", "add", address, "dev", interface];
        if address.contains(':') {
            // No other host could have it, and looking for one takes a second.
            args.push("nodad");
        }
        self.ip(&args);
    }

    /// Runs a line of a shell on the host.
    pub(super) fn run(&self, line: &str) {
        ip(&["netns", "exec", &self.name, "sh", "-c", line])
            .unwrap_or_else(|why| panic!("{line}: {why}"));
    }

    /// A command that runs a program on the host.
    pub(super) fn command(&self, program: &Command) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]);
        command.arg(program.get_program()).args(program.get_args());
        command
    }

    /// Starts a part of this test program on the host.
    fn start(&self, part: &str, environment: &[(&str, &str)]) -> Running {
        let mut command = self.command(&process(module_path!(), part));
        command.envs(environment.iter().copied());
        Running::command(command)
    }

    /// Starts a server, by options of the environment, and gives its reference.
    fn serve(&self, options: &[(&str, &str)]) -> (Running, String) {
        let options = [&[(SERVE, "yes")], options].concat();
        let mut server = self.start("a_server_of_another_test", &options);
        let reference = server.reference().expect("the server serves");
        (server, reference)
    }

    /// The result of a call to that reference by a client on the host.
    fn ask(&self, reference: &str) -> String {
        let client = self.start("a_client_of_another_test", &[(REFERENCE, reference)]);
        let said = client.finish().success();
        let heard = said.iter().find_map(|line| line.split_once("heard: "));
        heard.unwrap_or_else(|| panic!("{said:?}")).1.to_owned()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Nothing to be done about a failure; the name says whose it was.
        let _ = ip(&["netns", "delete", &self.name]);
        let _ = std::fs::remove_dir_all(Path::new("/etc/netns").join(&self.name));
    }
}

fn ip(args: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(args).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

/// The endpoints that a reference names, as `Debug` has them.
fn endpoints(reference: &str) -> Vec<String> {
    let reference: zorb_giop::url::ObjectUrl = reference.parse().expect("a reference");
    let zorb_giop::url::ObjectUrl::Ior(ior) = reference else {
        panic!("an IOR");
    };
    use zorb_giop::ior::{ComponentTag, IiopProfile, decode_encapsulation};
    let body = IiopProfile::from_tagged(&ior.profiles[0]).expect("an IIOP profile");
    let alternates = body
        .components
        .iter()
        .filter(|component| component.tag == ComponentTag::ALTERNATE_IIOP_ADDRESS)
        .map(|component| decode_encapsulation::<(String, u16)>(&component.data))
        .map(|alternate| alternate.expect("host and port").0);
    std::iter::once(body.address.host.clone())
        .chain(alternates)
        .collect()
}

/// Server and client with a cable between them.
pub(super) fn pair(what: &str) -> Option<(Host, Host)> {
    let (server, client) = (Host::new(what)?, Host::new(what)?);
    server.connect("eth0", &client, "eth0");
    // The interfaces of every host with containers, and of hosts of Debian.
    for host in [&server, &client] {
        host.ip(&[
            "link", "add", "docker0", "type", "veth", "peer", "name", "inner",
        ]);
        host.ip(&["link", "set", "docker0", "up"]);
        host.ip(&["link", "set", "inner", "up"]);
        host.address("docker0", "172.17.0.1/16");
        host.address("lo", "127.0.1.1/8");
    }
    Some((server, client))
}

#[test]
fn a_server_everywhere_is_reached_from_another_host() {
    let what = "references/network_namespace";
    let Some((server, client)) = pair(what) else {
        return;
    };
    server.address("eth0", "192.0.2.1/24");
    client.address("eth0", "192.0.2.2/24");
    let (_server, reference) = server.serve(&[("ORBListenEndpoints", "iiop://0.0.0.0:0")]);
    assert_eq!(endpoints(&reference), ["192.0.2.1"]);
    assert_eq!(client.ask(&reference), "a server elsewhere");
    passed(what);
}

#[test]
fn ipv6_leads_in_where_ipv4_does_not() {
    let what = "references/network_namespace_ipv6";
    let Some((server, client)) = pair(what) else {
        return;
    };
    server.address("eth0", "192.0.2.1/24");
    for (host, number) in [(&server, 1), (&client, 2)] {
        host.address("eth0", &format!("fd00:7a::{number}/64"));
        host.address("eth0", &format!("fe80::7a:{number}/64"));
    }
    let (_server, reference) = server.serve(&[("ORBListenEndpoints", "iiop://[::]:0")]);
    assert_eq!(endpoints(&reference), ["192.0.2.1", "fd00:7a::1"]);
    // The client has no IPv4 address but those of its own.
    assert_eq!(client.ask(&reference), "a server elsewhere");
    // A link-local address, for clients whose interface has the same name.
    let (_server, reference) =
        server.serve(&[("ORBListenEndpoints", "iiop://[fe80::7a:1%eth0]:0")]);
    assert_eq!(endpoints(&reference), ["fe80::7a:1%eth0"]);
    assert_eq!(client.ask(&reference), "a server elsewhere");
    passed(what);
}

#[test]
fn a_name_with_a_dead_address_leads_to_the_living_one() {
    let what = "references/network_namespace_names";
    let Some((server, client)) = pair(what) else {
        return;
    };
    for (host, number) in [(&server, 1), (&client, 2)] {
        host.address("eth0", &format!("192.0.2.{number}/24"));
        host.address("eth0", &format!("fd00:7a::{number}/64"));
    }
    // The client's resolution of the name; `ip netns exec` mounts it over /etc/hosts.
    let etc = Path::new("/etc/netns").join(&client.name);
    std::fs::create_dir_all(&etc).expect("root may");
    let hosts = "fd00:7a::dead bank.example\n192.0.2.1 bank.example\n";
    std::fs::write(etc.join("hosts"), hosts).expect("root may");
    let (_server, reference) = server.serve(&[
        ("ORBListenEndpoints", "iiop://0.0.0.0:2810"),
        ("ORBendPointPublish", "giop:tcp:bank.example:"),
    ]);
    assert_eq!(endpoints(&reference), ["bank.example"]);
    assert_eq!(client.ask(&reference), "a server elsewhere");
    passed(what);
}

#[test]
fn a_server_that_moves_is_found_again_by_its_name() {
    let what = "references/network_namespace_move";
    let Some((server, client)) = pair(what) else {
        return;
    };
    server.address("eth0", "192.0.2.1/24");
    server.address("eth0", "192.0.2.3/24");
    client.address("eth0", "192.0.2.2/24");
    let etc = Path::new("/etc/netns").join(&client.name);
    std::fs::create_dir_all(&etc).expect("root may");
    // Written in place, so that programs that run see it.
    let lives_at = |address: &str| {
        let hosts = format!("{address} bank.example\n");
        std::fs::write(etc.join("hosts"), hosts).expect("root may");
    };
    let serve = |name, listen| {
        server.serve(&[
            (NAME, name),
            ("ORBListenEndpoints", listen),
            ("ORBendPointPublish", "giop:tcp:bank.example:"),
        ])
    };
    lives_at("192.0.2.1");
    let (first, reference) = serve("the first", "iiop://192.0.2.1:2810");
    let environment = [(REFERENCE, &*reference), (FOLLOWS, "yes")];
    let mut follower = client.start("a_client_of_another_test", &environment);
    let mut heard = || {
        let heard = follower.find(|line| Some(line.split_once("heard: ")?.1.to_owned()));
        heard.expect("another name")
    };
    assert_eq!(heard(), "the first");
    drop(first);
    let (_second, moved) = serve("the second", "iiop://192.0.2.3:2810");
    assert_eq!(moved, reference);
    lives_at("192.0.2.3");
    assert_eq!(heard(), "the second");
    passed(what);
}

#[test]
fn a_server_behind_a_forwarded_port_is_reached_by_what_it_publishes() {
    let what = "references/forwarded_port";
    let Some((server, client)) = pair(what) else {
        return;
    };
    let Some(router) = Host::new(what) else {
        return;
    };
    // The client's first cable is unconnected; the other goes to the router.
    client.connect("eth1", &router, "outside");
    router.connect("inside", &server, "eth1");
    client.address("eth1", "192.0.2.2/24");
    router.address("outside", "192.0.2.1/24");
    router.address("inside", "10.0.0.1/24");
    server.address("eth1", "10.0.0.2/24");
    let relay = [(RELAY, "192.0.2.1:4000 10.0.0.2:2810")];
    let mut relay = router.start("a_relay_of_another_test", &relay);
    relay.find(|line| line.contains("relaying").then_some(()));

    let listen = ("ORBListenEndpoints", "iiop://0.0.0.0:2810");
    let (unaware, reference) = server.serve(&[listen]);
    assert_eq!(endpoints(&reference), ["10.0.0.2"]);
    let heard = client.ask(&reference);
    assert!(
        heard.contains("TRANSIENT")
            && heard.contains("iiop://10.0.0.2:2810: Network is unreachable"),
        "{heard}"
    );
    drop(unaware);
    let publish = ("ORBendPointPublish", "giop:tcp:192.0.2.1:4000");
    let (_server, reference) = server.serve(&[listen, publish]);
    assert_eq!(endpoints(&reference), ["192.0.2.1"]);
    assert_eq!(client.ask(&reference), "a server elsewhere");
    passed(what);
}

/// A router between a client and a server, which gives the client's packets an address of its own (masquerading).
struct Nat {
    server: Host,
    client: Host,
    router: Host,
}

impl Nat {
    fn new(what: &str) -> Option<Self> {
        if !have(what, &[Path::new("nft")]) {
            return None;
        }
        let (server, client, router) = (Host::new(what)?, Host::new(what)?, Host::new(what)?);
        client.connect("eth0", &router, "inside");
        router.connect("outside", &server, "eth0");
        client.address("eth0", "10.0.0.2/24");
        router.address("inside", "10.0.0.1/24");
        router.address("outside", "192.0.2.1/24");
        server.address("eth0", "192.0.2.2/24");
        client.ip(&["route", "add", "default", "via", "10.0.0.1"]);
        router.run("echo 1 > /proc/sys/net/ipv4/ip_forward");
        router.run(
            "nft 'add table ip nat; \
             add chain ip nat out { type nat hook postrouting priority srcnat; }; \
             add rule ip nat out oifname outside masquerade'",
        );
        Some(Self {
            server,
            client,
            router,
        })
    }
}

#[test]
fn a_client_behind_a_nat_is_called_on_its_own_connection() {
    let what = "references/nat";
    let Some(Nat {
        server,
        client,
        router: _router,
    }) = Nat::new(what)
    else {
        return;
    };
    // The server sees the router, and has no way to what is behind it.
    let listen = ("ORBListenEndpoints", "iiop://192.0.2.2:2810");
    let (_server, reference) = server.serve(&[listen, (BOTH_WAYS, "yes")]);
    assert_eq!(endpoints(&reference), ["192.0.2.2"]);
    let ask = |options: &[(&str, &str)]| {
        let environment = [&[(REFERENCE, &*reference)], options].concat();
        let client = client.start("a_client_of_another_test", &environment);
        let said = client.finish().success();
        let heard = said.iter().find_map(|line| line.split_once("heard: "));
        heard.expect("a word").1.to_owned()
    };
    // A client that listens nowhere, and one that listens where the server cannot reach it.
    let behind = ("ORBListenEndpoints", "iiop://10.0.0.2:2811");
    for options in [&[][..], &[behind]] {
        let bidirectional = [&[(BOTH_WAYS, "yes")], options].concat();
        assert_eq!(ask(&bidirectional), "a client that is called back");
    }
    // Without the offer the callback goes to the client's address, which leads nowhere.
    let heard = ask(&[(BOTH_WAYS, "no"), behind]);
    assert!(
        heard.contains("UNKNOWN") || heard.contains("TRANSIENT"),
        "{heard}"
    );
    passed(what);
}

#[test]
fn a_call_whose_server_is_cut_off_ends_and_so_does_the_server_s_end() {
    let what = "references/half_open";
    let Some((server, client)) = pair(what) else {
        return;
    };
    server.address("eth0", "192.0.2.1/24");
    client.address("eth0", "192.0.2.2/24");
    // A silent peer is asked after a second, and given up when it has not answered for two.
    let watch = (
        "ORBTransportProperty",
        "iiop.keepalive=1;iiop.user_timeout=2",
    );
    let listen = ("ORBListenEndpoints", "iiop://192.0.2.1:2810");
    let (mut server_runs, reference) = server.serve(&[listen, watch]);
    let environment = [(REFERENCE, &*reference), (WAITS, "yes"), watch];
    let mut waiting = client.start("a_client_of_another_test", &environment);
    let called = server_runs.find(|line| line.contains("called").then_some(()));
    called.expect("a call that waits");
    // Neither end hears anything of it.
    server.ip(&["link", "set", "eth0", "down"]);
    let heard = waiting.find(|line| {
        line.split_once("heard: ")
            .map(|(_, heard)| heard.to_owned())
    });
    let heard = heard.expect("a word before the end");
    assert!(heard.contains("COMM_FAILURE"), "{heard}");
    let ended = server_runs.find(|line| line.contains("no connection is served").then_some(()));
    ended.expect("the end of the connection");
    passed(what);
}

#[test]
fn the_environment_is_read_where_a_program_asks_for_it() {
    let start = |options: &[(&str, &str)]| {
        let mut command = process(module_path!(), "a_server_of_another_test");
        command.env(SERVE, "yes").envs(options.iter().copied());
        Running::command(command)
    };
    let mut server = start(&[
        ("ORBListenEndpoints", "iiop://127.0.0.1:0"),
        (
            "ORBendPointPublish",
            "giop:tcp:nat.example:9\tgiop:tcp:[fd00::1]:9",
        ),
        ("ORBtcAliasExpand", "1"),
    ]);
    let reference = server.reference().expect("the server serves");
    assert_eq!(endpoints(&reference), ["nat.example", "fd00::1"]);
    let ended = start(&[("ORBclientCallTimeOutPeriod", "soon")]).finish();
    let said = ended.lines.join("\n");
    let expected = "environment variable ORBclientCallTimeOutPeriod: expected a number of milliseconds, found \"soon\"";
    assert!(!ended.status.success() && said.contains(expected), "{said}");
}

#[tokio::test]
#[ignore = "the server of other tests, which start it"]
async fn a_server_of_another_test() {
    if std::env::var_os(SERVE).is_none() {
        return;
    }
    let builder = match std::env::var_os(BOTH_WAYS) {
        Some(_) => Orb::builder().accept_bidirectional(|_, _| true),
        None => Orb::builder(),
    };
    let name = std::env::var(NAME).unwrap_or_else(|_| "a server elsewhere".to_owned());
    let server = Server::serve(&name, builder.env()).await;
    eprintln!("{}", server.reference());
    let (orb, waiting) = (server.orb.clone(), Arc::clone(&server.waiting));
    tokio::spawn(async move {
        waiting.notified().await;
        eprintln!("called");
        while orb.connections_served() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        eprintln!("no connection is served");
    });
    server.orb.run().await;
}

#[tokio::test]
#[ignore = "the client of other tests, which start it"]
async fn a_client_of_another_test() {
    let Ok(reference) = std::env::var(REFERENCE) else {
        return;
    };
    let heard = match std::env::var(BOTH_WAYS) {
        Ok(answer) => ask_back(&reference, answer == "yes").await,
        Err(_) => {
            let orb = Orb::builder().env().build().await.unwrap();
            let object = orb.string_to_object(&reference).await.unwrap();
            let place = object.unchecked_narrow::<PlaceRef>();
            if std::env::var_os(FOLLOWS).is_some() {
                return follow(&place).await;
            }
            match std::env::var_os(WAITS) {
                Some(_) => place.wait().await.map(|()| "no end".to_owned()),
                None => place.name().await,
            }
        }
    };
    match heard {
        Ok(name) => eprintln!("heard: {name}"),
        Err(error) => eprintln!("heard: {error:#}"),
    }
}

/// Calls the place until it has had two names. Calls fail while its server moves.
async fn follow(place: &PlaceRef) {
    let mut names: Vec<String> = Vec::new();
    while names.len() < 2 {
        match place.name().await {
            Ok(name) if names.last() != Some(&name) => {
                eprintln!("heard: {name}");
                names.push(name);
            }
            Ok(_) => {}
            Err(error) => eprintln!("failed: {error:#}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Has the place of that reference ask one here.
async fn ask_back(reference: &str, bidirectional: bool) -> Result<String, SystemException> {
    let policy = match bidirectional {
        true => BidirectionalPolicy::Both,
        false => BidirectionalPolicy::Normal,
    };
    let both = PolicyOverrides::new().bidirectional(policy);
    let here = Orb::builder().env().policies(&both);
    let here = Server::serve("a client that is called back", here).await;
    let places = here.orb.root_poa().find_poa("places").expect("it is there");
    places.set_bidirectional_policy(BidirectionalPolicy::Both);
    let there = here.orb.string_to_object(reference).await?;
    there.unchecked_narrow::<PlaceRef>().ask(&here.place).await
}

#[tokio::test]
#[ignore = "the port forwarding of another test, which starts it"]
async fn a_relay_of_another_test() {
    let Ok(variable) = std::env::var(RELAY) else {
        return;
    };
    let (from, to) = variable.split_once(' ').expect("two addresses");
    let listener = TcpListener::bind(from).await.unwrap();
    eprintln!("relaying");
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let to = to.to_owned();
        tokio::spawn(async move {
            let mut server = TcpStream::connect(to).await.unwrap();
            // It has ended, from either side.
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        });
    }
}
