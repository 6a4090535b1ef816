//! The events of the target `zorb::giop`, at both ends of a connection.
//!
//! Everything runs on one thread, whose subscriber records all events. The events of a
//! client name the server's address as their peer; those of the server name another.

use crate::savings::spawn;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber, span};
use zorb::{Counter, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_cdr::{BigEndian, Encoder, WireFormat};
use zorb_giop::ior::IiopProfile;
use zorb_giop::{
    Limits, MessageHeader, MessageKind, Reader, ReplyBuilder, ReplyStatus, RequestBuilder,
    RequestHeader, ResponseFlags, Version,
};

zorb::idl! {
    module Traced {
        interface Safe {
            exception Wrong { string password; };
            string open(in string password) raises (Wrong);
            oneway void knock();
            void wait();
        };
    };
}

use traced::safe::{OpenError, Wrong};
use traced::{Safe, SafeRef, SafeServant};

const PASSWORD: &str = "correct horse battery staple";

/// A servant that signals calls of `knock` and `wait`.
struct Strong(Arc<Notify>);

impl Safe for Strong {
    async fn open(&self, password: &str) -> Result<String, OpenError> {
        if password == PASSWORD {
            return Ok(PASSWORD.to_owned());
        }
        assert!(!password.is_empty(), "a password is due");
        let password = PASSWORD.to_owned();
        Err(Wrong { password }.into())
    }

    async fn knock(&self) -> Result<(), SystemException> {
        self.0.notify_one();
        Ok(())
    }

    async fn wait(&self) -> Result<(), SystemException> {
        self.0.notify_one();
        std::future::pending().await
    }
}

/// One event: who it is about, and a line of what it says.
#[derive(Debug, Clone, Default)]
struct TraceLine {
    peer: String,
    line: String,
}

impl Visit for TraceLine {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "peer" => self.peer = format!("{value:?}"),
            "message" => self.line.insert_str(0, &format!("{value:?}")),
            // They differ from run to run.
            "local" | "endpoint" => {}
            name => write!(self.line, " {name}={value:?}").unwrap(),
        }
    }
}

/// Writes down every event of its target: that of messages, or the one that is named.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<TraceLine>>>, Option<&'static str>);

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        match self.1 {
            None => metadata.target() == "zorb::giop",
            Some(target) => metadata.target().starts_with(target),
        }
    }

    fn event(&self, event: &Event<'_>) {
        let mut events = TraceLine::default();
        event.record(&mut events);
        assert!(self.1.is_some() || *event.metadata().level() >= Level::WARN);
        self.0.lock().unwrap().push(events);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct World {
    events: Listener,
    _listening: DefaultGuard,
    server: Orb,
    client: Orb,
    safe: SafeRef,
    /// The client's name of its peer.
    address: String,
    port: u16,
    key: Vec<u8>,
    signal: Arc<Notify>,
}

impl World {
    async fn new() -> Self {
        Self::with_payload(0).await
    }

    async fn with_payload(octets: usize) -> Self {
        let events = Listener::default();
        let listening = tracing::subscriber::set_default(events.clone());
        let server = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .trace_payload(octets)
            .build()
            .await
            .unwrap();
        let signal = Arc::new(Notify::new());
        let servant = SafeServant::new(Strong(Arc::clone(&signal)));
        let theirs = server.root_poa().activate(servant).unwrap();
        server.root_poa().the_poa_manager().activate().unwrap();
        let profile = IiopProfile::from_tagged(&theirs.as_object().ior().profiles[0]).unwrap();
        let client = Orb::builder().trace_payload(octets).build().await.unwrap();
        let safe = client
            .string_to_object(&server.object_to_string(&theirs))
            .await
            .unwrap()
            .unchecked_narrow();
        Self {
            events,
            _listening: listening,
            address: server.endpoints()[0].to_string(),
            server,
            client,
            safe,
            port: profile.address.port,
            key: profile.object_key.to_vec(),
            signal,
        }
    }

    /// The events of the client, and those of the server, since the last time.
    fn events(&self) -> (Vec<String>, Vec<String>) {
        let all = std::mem::take(&mut *self.events.0.lock().unwrap());
        let (client, server): (Vec<_>, Vec<_>) = all
            .into_iter()
            .filter(|events| !events.peer.is_empty())
            .partition(|events| events.peer == self.address);
        let lines = |all: Vec<TraceLine>| all.into_iter().map(|events| events.line).collect();
        (lines(client), lines(server))
    }

    /// The first fields of the events of messages, sizes and contexts aside.
    fn brief(lines: &[String]) -> Vec<String> {
        let keep = ["request_id", "response", "operation", "status", "exception"];
        lines
            .iter()
            .map(|line| {
                let (head, fields) = line.split_once(" giop=").unwrap_or((line, ""));
                let kept: Vec<&str> = fields
                    .split_inclusive(' ')
                    .filter(|field| keep.iter().any(|name| field.starts_with(name)))
                    .collect();
                format!("{head} {}", kept.concat()).trim().to_owned()
            })
            .collect()
    }
}

/// The lines, without what differs from run to run.
#[track_caller]
fn check(lines: &[String], expected: &[&str]) {
    assert_eq!(World::brief(lines), expected, "{lines:#?}");
}

#[tokio::test]
async fn a_call_is_traced_at_both_ends_with_its_headers() {
    let world = World::new().await;
    world.safe.open(PASSWORD).await.unwrap();
    let (client, server) = world.events();
    check(
        &client,
        &[
            "sending Request request_id=0 response=\"with-target\" operation=\"open\"",
            "received Reply request_id=0 status=\"NO_EXCEPTION\"",
        ],
    );
    check(
        &server,
        &[
            "accepted",
            "received Request request_id=0 response=\"with-target\" operation=\"open\"",
            "sending Reply request_id=0 status=\"NO_EXCEPTION\"",
        ],
    );
    // Each message that one end reports as sent, the other reports as received.
    let sent = client[0].strip_prefix("sending").unwrap();
    assert_eq!(Some(sent), server[1].strip_prefix("received"));
    for part in [
        " giop=1.2 order=\"little-endian\" octets=",
        " key=zorb:",
        "/0.0/0.0 contexts=CodeSets",
    ] {
        assert!(sent.contains(part), "{sent}");
    }
}

#[tokio::test]
async fn exceptions_are_traced_by_name() {
    let world = World::new().await;
    assert!(matches!(
        world.safe.open("x").await,
        Err(OpenError::Wrong(_))
    ));
    let theirs = world.server.object(world.safe.as_object().ior().clone());
    world.server.root_poa().deactivate_object(&theirs).unwrap();
    world.safe.open("x").await.unwrap_err();
    let (client, server) = world.events();
    let replies: Vec<_> = client.iter().filter(|l| l.contains("Reply")).collect();
    assert!(
        replies[0].contains("status=\"USER_EXCEPTION\" exception=IDL:Traced/Safe/Wrong:1.0"),
        "{replies:#?}"
    );
    assert!(
        replies[1].contains("status=\"SYSTEM_EXCEPTION\" exception=OBJECT_NOT_EXIST (minor"),
        "{replies:#?}"
    );
    assert_eq!(
        server.iter().filter(|l| l.contains("exception=")).count(),
        2
    );
}

#[tokio::test]
async fn a_one_way_call_has_no_reply() {
    let world = World::new().await;
    world.safe.knock().await.unwrap();
    world.signal.notified().await;
    let (client, server) = world.events();
    // An id that is not among those that replies come to.
    let request = "Request request_id=131070 response=\"none\" operation=\"knock\"";
    check(&client, &[&format!("sending {request}")]);
    check(&server, &["accepted", &format!("received {request}")]);
}

#[tokio::test]
async fn a_locate_request_is_traced_with_its_outcome() {
    let world = World::new().await;
    assert!(world.safe.as_object().locate().await.unwrap());
    let (client, server) = world.events();
    check(
        &client,
        &[
            "sending LocateRequest request_id=0",
            "received LocateReply request_id=0 status=\"OBJECT_HERE\"",
        ],
    );
    check(
        &server,
        &[
            "accepted",
            "received LocateRequest request_id=0",
            "sending LocateReply request_id=0 status=\"OBJECT_HERE\"",
        ],
    );
}

#[tokio::test]
async fn a_call_that_is_given_up_is_traced_as_cancelled() {
    let world = World::new().await;
    tokio::select! {
        biased;
        _ = world.safe.wait() => unreachable!("it waits for ever"),
        () = world.signal.notified() => {}
    }
    // On the same connection, so the server has read the other message before.
    world.safe.as_object().locate().await.unwrap();
    let (client, server) = world.events();
    assert_eq!(
        World::brief(&client)[1],
        "sending CancelRequest request_id=0"
    );
    assert_eq!(
        World::brief(&server)[2],
        "received CancelRequest request_id=0"
    );
}

#[tokio::test]
async fn a_forward_is_traced_with_where_it_leads() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = world.safe.as_object().ior().clone();
    let forwarding = spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut reader = Reader::new(Limits::default());
        let request = loop {
            if let Some(message) = reader.next().unwrap() {
                break message;
            }
            stream.read_buf(reader.buffer()).await.unwrap();
        };
        let reply = ReplyBuilder {
            version: Version::V1_0,
            request_id: RequestHeader::read(&request).unwrap().request_id,
            status: ReplyStatus::LocationForward,
            contexts: &[],
        };
        let e = Encoder::<BigEndian>::new(WireFormat::default());
        let reply = reply.encode(e, |e| e.put(&target)).unwrap();
        stream.write_all(&reply.to_vec()).await.unwrap();
        stream
    });
    let url = format!("corbaloc::127.0.0.1:{port}/Somewhere");
    let object = world.client.string_to_object(&url).await.unwrap();
    object
        .unchecked_narrow::<SafeRef>()
        .open(PASSWORD)
        .await
        .unwrap();
    let all = world.events.0.lock().unwrap().clone();
    let events: Vec<_> = all
        .iter()
        .filter(|events| events.peer.ends_with(&format!(":{port}")))
        .collect();
    assert!(events[0].line.contains("key=Somewhere"), "{events:#?}");
    let forward = format!("status=\"LOCATION_FORWARD\" forward={}", world.address);
    assert!(events[1].line.contains(&forward), "{events:#?}");
    assert!(
        events[1].line.contains("order=\"big-endian\""),
        "{events:#?}"
    );
    // And then the call is made where it leads.
    let (client, _) = world.events();
    assert_eq!(World::brief(&client).len(), 2);
    drop(forwarding.await.unwrap());
}

#[tokio::test]
async fn fragments_are_reported_as_they_come() {
    let world = World::new().await;
    let request = RequestBuilder {
        version: Version::V1_2,
        request_id: 7,
        response: ResponseFlags::WithTarget,
        key: &world.key,
        operation: "open",
        contexts: &[],
    };
    let e = Encoder::<BigEndian>::new(WireFormat::default());
    let whole = request
        .encode(e, |e| e.write_raw_string(b"x"))
        .unwrap()
        .to_vec();
    let header = |kind, more_fragments, size: usize| {
        MessageHeader {
            version: Version::V1_2,
            endian: zorb_cdr::Endian::Big,
            more_fragments,
            kind,
            size: size as u32,
        }
        .to_octets()
    };
    let (first, rest) = whole.split_at(24);
    let mut octets = header(MessageKind::Request, true, 12).to_vec();
    octets.extend_from_slice(&first[12..]);
    octets.extend_from_slice(&header(MessageKind::Fragment, false, rest.len() + 4));
    octets.extend_from_slice(&7u32.to_be_bytes());
    octets.extend_from_slice(rest);
    let mut stream = TcpStream::connect(("127.0.0.1", world.port)).await.unwrap();
    stream.write_all(&octets).await.unwrap();
    stream.read_u8().await.unwrap();
    let (_, server) = world.events();
    check(
        &server,
        &[
            "accepted",
            "received a fragment: Request request_id=7",
            "received a fragment: Fragment request_id=7",
            "received Request request_id=7 response=\"with-target\" operation=\"open\"",
            "sending Reply request_id=7 status=\"USER_EXCEPTION\" exception=IDL:Traced/Safe/Wrong:1.0",
        ],
    );
    assert!(server[1].contains("octets=24") && server[1].contains("more_follow=true"));
}

#[tokio::test]
async fn a_peer_that_does_not_speak_giop_is_traced_with_the_octets_it_sent() {
    let world = World::new().await;
    let mut stream = TcpStream::connect(("127.0.0.1", world.port)).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nPassword: x")
        .await
        .unwrap();
    stream.read_u8().await.unwrap();
    let (_, server) = world.events();
    let broken = server
        .iter()
        .find(|line| line.starts_with("the peer broke the protocol"))
        .unwrap();
    assert!(broken.contains("expected the magic \"GIOP\""), "{broken}");
    assert!(broken.contains("47 45 54 20 2f"), "{broken}");
    // No more than a header's length was asked for.
    assert!(broken.contains("GET / HTTP/1.1..\n"), "{broken}");
    assert!(!broken.contains("Password"), "{broken}");
    let sent: Vec<_> = server.iter().filter(|l| l.starts_with("sending")).collect();
    assert!(sent[0].starts_with("sending MessageError"), "{server:#?}");
}

/// The text beside the digits of a dump, without its line ends.
fn text_of(line: &str) -> String {
    let (_, dump) = line.split_once("payload=\n").unwrap();
    dump.lines().map(|row| &row[57..]).collect()
}

#[tokio::test]
async fn arguments_and_results_are_not_shown_unasked() {
    let world = World::new().await;
    world.safe.open(PASSWORD).await.unwrap();
    world.safe.open("wrong horse").await.unwrap_err();
    let (client, server) = world.events();
    for line in client.iter().chain(&server) {
        assert!(
            !line.contains("horse") && !line.contains("payload"),
            "{line}"
        );
    }
}

#[tokio::test]
async fn arguments_and_results_are_shown_to_who_asks() {
    let world = World::with_payload(4096).await;
    world.safe.open(PASSWORD).await.unwrap();
    let (client, server) = world.events();
    for line in [&client[0], &client[1], &server[1], &server[2]] {
        assert!(line.contains("payload=\n  0000  47 49 4f 50"), "{line}");
        assert!(text_of(line).contains(PASSWORD), "{line}");
    }
}

#[tokio::test]
async fn no_more_octets_are_shown_than_asked_for() {
    let world = World::with_payload(20).await;
    world.safe.open(PASSWORD).await.unwrap();
    let (client, _) = world.events();
    assert!(client[0].contains("\n  0010 "), "{client:#?}");
    assert!(!client[0].contains("\n  0020 "), "{client:#?}");
    assert!(client[0].contains("more octets"), "{client:#?}");
}

#[tokio::test]
async fn fragments_are_reported_as_they_are_sent() {
    let world = World::new().await;
    let client = Orb::builder()
        .max_fragment_octets(64)
        .build()
        .await
        .unwrap();
    let safe: SafeRef = client
        .object(world.safe.as_object().ior().clone())
        .unchecked_narrow();
    safe.open(PASSWORD).await.unwrap();
    let (client, server) = world.events();
    let pieces = |lines: &[String], way: &str| {
        let begin = format!("{way} a fragment");
        lines.iter().filter(|l| l.starts_with(&begin)).count()
    };
    let going = pieces(&client, "sending");
    assert!(going > 1, "{client:#?}");
    assert_eq!(pieces(&server, "received"), going, "{server:#?}");
    assert!(client[0].starts_with("sending Request"), "{client:#?}");
    assert!(client[1].contains("a fragment: Request") && client[1].contains("more_follow=true"));
    assert!(client[going].contains("a fragment: Fragment") && client[going].contains("=false"));
}

#[tokio::test]
async fn a_panic_in_a_servant_is_logged_with_operation_key_and_peer() {
    let world = World::new().await;
    let errors = Listener(Arc::default(), Some("zorb::serve::upcall"));
    let _listening = tracing::subscriber::set_default(errors.clone());
    let unknown = world.safe.open("").await.unwrap_err();
    assert!(matches!(unknown, OpenError::System(_)), "{unknown:?}");
    let errors = errors.0.lock().unwrap();
    let [error] = &errors[..] else {
        panic!("one error for one panic: {}", errors.len());
    };
    let line = error.line.as_str();
    let fields = line.strip_prefix("a servant panicked operation=\"open\" object_key=");
    let (key, text) = fields
        .and_then(|rest| rest.split_once(" panic="))
        .expect(line);
    // Life of the server, adapter and object.
    assert!(key.starts_with("\"zorb:") && key.len() < 40, "{line}");
    assert_eq!(text, "\"a password is due\" omitted=0");
    assert!(error.peer.starts_with("iiop://127.0.0.1:"), "{error:?}");
}

#[tokio::test]
async fn a_panic_in_a_key_resolver_is_logged_with_the_key() {
    let world = World::new().await;
    let resolve = |_| async { panic!("no such branch") };
    world.server.key_table().set_key_resolver(resolve);
    let errors = Listener(Arc::default(), Some("zorb::serve::upcall"));
    let _listening = tracing::subscriber::set_default(errors.clone());
    let url = world.server.corbaloc_url("Bank").unwrap();
    let bank = world.client.string_to_object(&url).await.unwrap();
    let failed = bank.is_a("IDL:Bank:1.0").await.unwrap_err();
    assert_eq!(failed.kind, SystemExceptionKind::ObjAdapter, "{failed}");
    let errors = errors.0.lock().unwrap();
    let [error] = &errors[..] else {
        panic!("one error for one panic: {}", errors.len());
    };
    let expected = "a forward, key resolver or servant manager panicked object_key=\"Bank\" \
                    panic=\"no such branch\" omitted=0";
    assert_eq!(error.line, expected);
}

#[tokio::test]
async fn panics_that_a_peer_causes_are_all_counted_and_few_of_them_logged() {
    let world = World::new().await;
    let errors = Listener(Arc::default(), Some("zorb::serve::upcall"));
    let _listening = tracing::subscriber::set_default(errors.clone());
    for _ in 0..300 {
        let unknown = world.safe.open("").await.unwrap_err();
        assert!(matches!(unknown, OpenError::System(_)), "{unknown:?}");
    }
    let counted = world.server.counters().get(Counter::Panics);
    assert_eq!(counted, 300);
    let lines = errors.0.lock().unwrap().len() as u64;
    // Ten in ten seconds: on a machine that takes longer for all of them a second ten may begin.
    assert!((10..counted).contains(&lines), "{lines} lines");
}

#[tokio::test]
async fn refused_connections_are_all_counted_and_few_of_them_logged() {
    let warnings = Listener(Arc::default(), Some("zorb_connection::acceptor"));
    let _listening = tracing::subscriber::set_default(warnings.clone());
    let server = Orb::builder().max_connections(1);
    let server = server.listen("iiop://127.0.0.1:0").build().await.unwrap();
    let at = ("127.0.0.1", server.endpoints()[0].port().unwrap());
    let served = TcpStream::connect(at).await.unwrap();
    for _ in 0..300 {
        let mut refused = TcpStream::connect(at).await.unwrap();
        let mut octets = Vec::new();
        refused.read_to_end(&mut octets).await.unwrap();
        assert_eq!(octets.get(7), Some(&5), "CloseConnection");
    }
    drop(served);
    let counted = server.counters().get(Counter::ConnectionsRefused);
    assert_eq!(counted, 300);
    let warnings = warnings.0.lock().unwrap();
    let expected = "connection refused: max_connections reached limit=1 omitted=0";
    assert_eq!(warnings[0].line, expected);
    // Ten in ten seconds: on a slow machine a second ten may begin.
    assert!((10..counted).contains(&(warnings.len() as u64)));
}
