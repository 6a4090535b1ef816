//! All three designs, live: natively where both ends are alike, by CORBA for the rest, and without a lost call when a server comes back
//! as something else.

use as_needed::agent::{LEASE, LocationAgent, MAX_WAYS};
use as_needed::client::EchoByService;
use as_needed::raw::RawConnection;
use as_needed::server::{RawServant, RawServer};
use as_needed::{Agent, AgentRef, AgentServant, Bypass, EchoRef, EchoServant, Echoing, platform};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use zorb::transport::Tcp;
use zorb::{Orb, SystemException, SystemExceptionKind};
use zorb_native::Native;

/// Text that is other octets in ISO 8859-1.
const TEXT: &str = "straße";

/// An ORB at this endpoint. Whoever has been given its port meanwhile, for a connection of its own, gives it back soon.
async fn listening(listen: &str) -> Orb {
    let mut tries = 0;
    loop {
        match Orb::builder().listen(listen).build().await {
            Ok(orb) => return orb,
            Err(error) => assert!(tries < 300, "{error}"),
        }
        tries += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// An agent at this endpoint, whose reference is the same in each run.
async fn agent(listen: &str) -> (Orb, String) {
    let orb = listening(listen).await;
    let agent = orb
        .root_poa()
        .activate(AgentServant::new(LocationAgent::default()))
        .unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb.key_table().bind("Agent", &agent).unwrap();
    let port = orb.endpoints()[0].port().unwrap();
    (orb, format!("corbaloc::1.2@127.0.0.1:{port}/Agent"))
}

/// A server at this endpoint, whose reference is the same in each run.
async fn server(listen: &str) -> (Orb, String) {
    let orb = listening(listen).await;
    let echo = orb.root_poa().activate(EchoServant::new(Echoing)).unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb.key_table().bind("Echo", &echo).unwrap();
    let port = orb.endpoints()[0].port().unwrap();
    (orb, format!("corbaloc::1.2@127.0.0.1:{port}/Echo"))
}

const ANYWHERE: &str = "iiop://127.0.0.1:0";

async fn at(orb: &Orb, reference: &str) -> zorb::ObjectRef {
    orb.string_to_object(reference).await.unwrap()
}

/// A raw socket for an object, which is registered.
async fn raw(orb: &Orb, reference: &str, agent: &str) -> RawServer {
    let mut raw = RawServer::start(Echoing, "127.0.0.1:0", None)
        .await
        .unwrap();
    let agent: AgentRef = at(orb, agent).await.unchecked_narrow();
    raw.register(agent, at(orb, reference).await).await;
    raw
}

async fn client(reference: &str, agent: &str) -> (Orb, EchoByService) {
    let orb = Orb::builder()
        .char_code_set_of_unstated_peers(zorb::CharSet::Utf8)
        .build()
        .await
        .unwrap();
    let echo: EchoRef = at(&orb, reference).await.unchecked_narrow();
    let agent: AgentRef = at(&orb, agent).await.unchecked_narrow();
    let mut echo = EchoByService::new(echo, agent);
    echo.shortcut = echo.shortcut.ask_again_after(Duration::ZERO);
    (orb, echo)
}

/// Calls, and says whether it was natively.
async fn is_called_natively(echo: &EchoByService) -> bool {
    for text in ["", TEXT, &"x".repeat(300_000)] {
        assert_eq!(echo.echo_string(text).await.unwrap(), text);
    }
    echo.shortcut.is_native().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn integration_needs_nothing_but_the_transport() {
    let native = || Arc::new(Native::over(Arc::new(Tcp::default())));
    let orb = Orb::builder().transport(native()).listen(ANYWHERE).build();
    let orb = orb.await.unwrap();
    let echo = orb.root_poa().activate(EchoServant::new(Echoing)).unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let reference = orb.object_to_string(&echo);
    for transport in [
        native() as Arc<dyn zorb::transport::Transport>,
        Arc::new(Tcp::default()),
    ] {
        let client = Orb::builder().transport(transport).build().await.unwrap();
        let echo: EchoRef = at(&client, &reference).await.unchecked_narrow();
        assert_eq!(echo.echo_string(TEXT).await.unwrap(), TEXT);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_leads_alike_clients_past_corba_and_no_others() {
    let (_agent, asked) = agent(ANYWHERE).await;
    let (orb, reference) = server(ANYWHERE).await;
    let (_client, echo) = client(&reference, &asked).await;
    assert!(!is_called_natively(&echo).await, "it is not registered");
    let _raw = raw(&orb, &reference, &asked).await;
    assert!(is_called_natively(&echo).await);
    let (_client, mut echo) = client(&reference, &asked).await;
    let other = platform().replace(" p8 ", " p4 ");
    assert_ne!(other, platform());
    echo.shortcut = echo.shortcut.as_platform(&other);
    assert!(!is_called_natively(&echo).await, "it is not alike");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_comes_back_as_something_else_loses_no_call() {
    let (_agent, asked) = agent(ANYWHERE).await;
    let (mut orb, reference) = server(ANYWHERE).await;
    let listen = orb.endpoints()[0].to_string();
    let (_client, echo) = client(&reference, &asked).await;
    let mut socket = Some(raw(&orb, &reference, &asked).await);
    for _ in 0..3 {
        assert!(is_called_natively(&echo).await);
        // Without raw sockets.
        socket.take().unwrap().stop().await;
        orb.shutdown(true).await.unwrap();
        (orb, _) = server(&listen).await;
        assert!(!is_called_natively(&echo).await);
        // And with them again, of another run.
        orb.shutdown(true).await.unwrap();
        (orb, _) = server(&listen).await;
        socket = Some(raw(&orb, &reference, &asked).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_endpoint_of_a_server_that_has_gone_is_not_that_of_another_one() {
    let (_agent, asked) = agent(ANYWHERE).await;
    let (orb, reference) = server(ANYWHERE).await;
    let socket = raw(&orb, &reference, &asked).await;
    let way = socket.way().clone();
    // As if killed: the agent still has it.
    drop(socket);
    let other = loop {
        // Until its port is free.
        match RawServer::start(Echoing, &way.endpoint, None).await {
            Ok(other) => break other,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_ne!(other.way().run, way.run);
    let (_client, echo) = client(&reference, &asked).await;
    assert!(!is_called_natively(&echo).await);
    assert!(RawConnection::connect(&way, &platform()).await.is_err());
    assert!(
        RawConnection::connect(other.way(), &platform())
            .await
            .is_ok()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_away_costs_no_call_and_is_told_again_when_it_is_back() {
    let (of_agent, asked) = agent(ANYWHERE).await;
    let listen = of_agent.endpoints()[0].to_string();
    let (orb, reference) = server(ANYWHERE).await;
    let _raw = raw(&orb, &reference, &asked).await;
    let (_client, bound) = client(&reference, &asked).await;
    assert!(is_called_natively(&bound).await);
    of_agent.shutdown(true).await.unwrap();
    let (_client, unbound) = client(&reference, &asked).await;
    assert!(is_called_natively(&bound).await, "it does not ask again");
    assert!(!is_called_natively(&unbound).await);
    // Another run of it, which knows nothing until the server says so again.
    let (_agent, _) = agent(&listen).await;
    while !is_called_natively(&unbound).await {}
}

/// A servant that does not answer until it is told to.
struct Slow(Arc<Notify>, Arc<Notify>);

impl RawServant for Slow {
    async fn call(&self, _: u32, arguments: &[u8]) -> Result<Vec<u8>, SystemException> {
        self.0.notify_one();
        self.1.notified().await;
        Ok(arguments.to_vec())
    }
}

async fn slow() -> (RawServer, Arc<Notify>, Arc<Notify>) {
    let (begun, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let servant = Slow(Arc::clone(&begun), Arc::clone(&answer));
    let server = RawServer::start(servant, "127.0.0.1:0", None).await;
    (server.unwrap(), begun, answer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_begun_is_finished_by_a_stop_and_never_sent_twice_after_a_kill() {
    let (_agent, asked) = agent(ANYWHERE).await;
    let (orb, reference) = server(ANYWHERE).await;
    for is_killed in [false, true] {
        let (mut socket, begun, answer) = slow().await;
        let of_agent: AgentRef = at(&orb, &asked).await.unchecked_narrow();
        socket.register(of_agent, at(&orb, &reference).await).await;
        let (_client, echo) = client(&reference, &asked).await;
        let calling = tokio::spawn(async move { echo.echo_string(TEXT).await });
        begun.notified().await;
        if is_killed {
            drop(socket);
            let lost = calling.await.unwrap().unwrap_err();
            assert_eq!(lost.kind, SystemExceptionKind::CommFailure);
            assert!(lost.may_have_run(), "{lost}");
        } else {
            let stopping = tokio::spawn(socket.stop());
            answer.notify_one();
            assert_eq!(calling.await.unwrap().unwrap(), TEXT);
            stopping.await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_says_what_it_must_not_ends_its_own_connection_alone() {
    let socket = RawServer::start(Echoing, "127.0.0.1:0", None)
        .await
        .unwrap();
    let way = socket.way();
    let mut honest = RawConnection::connect(way, &platform()).await.unwrap();
    let line = format!("{:016x} {}\n", way.run, platform());
    for (first, then) in [
        (&b"GIOP\x01\x02\x01\0\0\0\0\0\n"[..], &[][..]),
        (&[b'x'; 1_000], &[]),
        (&b""[..], &[]),
        (line.as_bytes(), &[0xff; 64]),
        (line.as_bytes(), &[9, 0, 0, 0, 0, 0, 0, 0, 1]),
    ] {
        let mut peer = TcpStream::connect(&way.endpoint).await.unwrap();
        peer.write_all(first).await.unwrap();
        peer.write_all(then).await.unwrap();
        peer.shutdown().await.unwrap();
        // Its end, or a reset.
        let _ = peer.read_to_end(&mut Vec::new()).await;
        let outcome = honest.call(0, b"still here").await;
        assert!(matches!(outcome, as_needed::raw::Outcome::Done(said) if said == b"still here"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_forgets_what_is_not_registered_again_and_keeps_so_much_and_no_more() {
    let orb = Orb::builder().build().await.unwrap();
    let agent = LocationAgent::default();
    let way = Bypass {
        endpoint: "127.0.0.1:1".to_owned(),
        platform: platform(),
        run: 7,
    };
    let object = async |n: usize| {
        let url = format!("corbaloc::1.2@127.0.0.1:2809/{n}");
        Some(at(&orb, &url).await)
    };
    for n in 0..MAX_WAYS {
        agent.register(object(n).await, &way).await.unwrap();
    }
    assert!(agent.register(object(MAX_WAYS).await, &way).await.is_err());
    tokio::time::advance(LEASE / 2).await;
    agent.register(object(0).await, &way).await.unwrap();
    tokio::time::advance(LEASE / 2 + Duration::from_millis(1)).await;
    assert!(agent.find(object(0).await, &platform()).await.is_ok());
    assert!(agent.find(object(1).await, &platform()).await.is_err());
    agent.register(object(MAX_WAYS).await, &way).await.unwrap();
    // Only the run that has registered withdraws.
    agent.withdraw(object(0).await, 8).await.unwrap();
    assert!(agent.find(object(0).await, &platform()).await.is_ok());
    agent.withdraw(object(0).await, 7).await.unwrap();
    assert!(agent.find(object(0).await, &platform()).await.is_err());
}

/// omniORB's client, which is killed when this is dropped.
struct Omni {
    child: Child,
    hears: ChildStdin,
    says: BufReader<ChildStdout>,
}

impl Omni {
    /// `None`, and a word about it, if it has not been built.
    fn start(server: &str, agent: &str, code_set: &str) -> Option<Self> {
        let program = built()?;
        let mut child = Command::new(program)
            .args(["--server", server, "--agent", agent, "--ask-again", "0"])
            .args(["--code-set", code_set, "-ORBnativeCharCodeSet", code_set])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (hears, says) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let says = BufReader::new(says);
        Some(Self { child, hears, says })
    }

    fn call(&mut self, text: &[u8]) -> Vec<u8> {
        let line = [b"call ", text, b"\n"].concat();
        self.hears.write_all(&line).unwrap();
        let mut said = Vec::new();
        self.says.read_until(b'\n', &mut said).unwrap();
        said.trim_ascii_end().to_vec()
    }
}

impl Drop for Omni {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn built() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("omniorb/build/client");
    let asked = std::env::var_os("ZORB_PEERS").unwrap_or_default();
    if asked != "skip" && program.is_file() {
        return Some(program);
    }
    assert!(
        asked != "require",
        "no {program:?}; `cargo xtask peers` builds it"
    );
    eprintln!("skipped, no {program:?}; `cargo xtask peers` builds it");
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrapper_around_the_stubs_of_omniorb_does_the_same() {
    let (of_agent, asked) = agent(ANYWHERE).await;
    let (mut orb, reference) = server(ANYWHERE).await;
    let listen = orb.endpoints()[0].to_string();
    let Some(mut omni) = Omni::start(&reference, &asked, "UTF-8") else {
        return;
    };
    let socket = raw(&orb, &reference, &asked).await;
    let native = format!("native {TEXT}");
    assert_eq!(omni.call(TEXT.as_bytes()), native.as_bytes());
    assert_eq!(omni.call(b""), b"native");
    // It comes back without a raw socket, and gets one.
    socket.stop().await;
    orb.shutdown(true).await.unwrap();
    (orb, _) = server(&listen).await;
    let by_corba = format!("CORBA {TEXT}");
    assert_eq!(omni.call(TEXT.as_bytes()), by_corba.as_bytes());
    let _socket = raw(&orb, &reference, &asked).await;
    assert_eq!(omni.call(TEXT.as_bytes()), native.as_bytes());
    // Strings in another code set are other octets: `ß` is one in ISO 8859-1.
    let mut other = Omni::start(&reference, &asked, "ISO-8859-1").unwrap();
    assert_eq!(other.call(b"stra\xdfe"), b"CORBA stra\xdfe");
    // Without the agent the connection is used on, and new clients call by CORBA.
    assert_eq!(omni.call(b"hello"), b"native hello");
    of_agent.shutdown(true).await.unwrap();
    assert_eq!(omni.call(b"hello"), b"native hello");
    let mut new = Omni::start(&reference, &asked, "UTF-8").unwrap();
    assert_eq!(new.call(b"hello"), b"CORBA hello");
}
