//! Servers that accept connections and do not serve: which server a call reaches, and which one the next call reaches.
//!
//! An endpoint that is no good is a thread with a socket, so that it serves async and blocking clients alike.

use crate::savings::{AccountRef, account, in_time};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use zorb::blocking::Wait;
use zorb::policy::{EndpointOrder, PolicyOverrides};
use zorb::{
    Builder, CompletionStatus as Completed, Interface, ObjectRef, Orb, RequestError,
    SystemException, SystemExceptionKind as Kind, TypeCode,
};
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::ior::{
    ComponentTag, IiopAddress, IiopProfile, TaggedComponent, TaggedProfile, encapsulate,
};
use zorb_giop::{
    Ior, Message, MessageKind, Reader, ReplyBuilder, ReplyStatus, RequestHeader, Version,
    empty_message,
};

/// The key of the account, at every server.
const KEY: &[u8] = b"Account";
/// A time limit that passes while a test waits for it. The calls that it must not cut off answer at once.
const LIMIT: Duration = Duration::from_millis(400);

/// How an endpoint fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Refuses,
    BlackHole,
    Ends,
    ClosesInOrder,
    SaysMessageError,
    SaysNothing,
    SpeaksHttp,
    EndsAfterTheRequest,
    ClosesInOrderAfterTheRequest,
    SendsHalfAReply,
}

impl How {
    const ALL: [Self; 10] = [
        Self::Refuses,
        Self::BlackHole,
        Self::Ends,
        Self::ClosesInOrder,
        Self::SaysMessageError,
        Self::SaysNothing,
        Self::SpeaksHttp,
        Self::EndsAfterTheRequest,
        Self::ClosesInOrderAfterTheRequest,
        Self::SendsHalfAReply,
    ];

    /// The results that the first call may have, besides that of the good server where `true`.
    fn first(self) -> (bool, Option<(Kind, Completed)>) {
        match self {
            // Nothing ran: the good server answers the call.
            Self::Refuses
            | Self::BlackHole
            | Self::ClosesInOrder
            | Self::ClosesInOrderAfterTheRequest => (true, None),
            // Whether the end comes before the request is written is a race.
            Self::Ends | Self::SaysMessageError | Self::SpeaksHttp => {
                (true, Some((Kind::CommFailure, Completed::Maybe)))
            }
            Self::EndsAfterTheRequest => (false, Some((Kind::CommFailure, Completed::Maybe))),
            Self::SaysNothing | Self::SendsHalfAReply => {
                (false, Some((Kind::Timeout, Completed::Maybe)))
            }
        }
    }
}

/// A message that is read octet by octet: as much GIOP as a thread needs.
fn receive(stream: &mut TcpStream, reader: &mut Reader) -> Option<Message> {
    loop {
        if let Ok(Some(message)) = reader.next() {
            return Some(message);
        }
        let mut octets = [0; 4096];
        let read = stream.read(&mut octets).unwrap_or_default();
        if read == 0 {
            return None;
        }
        reader.reserve().unwrap();
        reader.buffer().extend_from_slice(&octets[..read]);
    }
}

fn encoder() -> Encoder<LittleEndian> {
    Encoder::new(WireFormat::default())
}

/// The reply to a request for a text.
fn reply(message: &Message, text: &str) -> Vec<u8> {
    let builder = ReplyBuilder {
        version: Version::V1_2,
        request_id: RequestHeader::read(message).unwrap().request_id,
        status: ReplyStatus::NoException,
        contexts: &[],
    };
    builder.encode(encoder(), |e| e.put(text)).unwrap().to_vec()
}

/// An endpoint that fails. Its sockets are open as long as this is.
struct Bad {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    _kept: Vec<TcpStream>,
}

impl Bad {
    fn start(how: How) -> Self {
        let listener = match how {
            How::BlackHole => {
                let socket = socket2::Socket::new(
                    socket2::Domain::IPV4,
                    socket2::Type::STREAM,
                    Some(socket2::Protocol::TCP),
                );
                let socket = socket.unwrap();
                let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
                socket.bind(&any.into()).unwrap();
                socket.listen(0).unwrap();
                TcpListener::from(socket)
            }
            _ => TcpListener::bind("127.0.0.1:0").unwrap(),
        };
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let mut kept = Vec::new();
        match how {
            How::Refuses => drop(listener),
            How::BlackHole => {
                // The kernel takes as many as its queue has room for, and leaves every other one without an answer.
                let patience = Duration::from_millis(50);
                while let Ok(taken) = TcpStream::connect_timeout(&address, patience) {
                    kept.push(taken);
                }
                std::mem::forget(listener);
            }
            how => {
                let connections = Arc::clone(&connections);
                thread::spawn(move || {
                    for stream in listener.incoming() {
                        connections.fetch_add(1, Ordering::Relaxed);
                        thread::spawn(move || fail(how, stream.unwrap()));
                    }
                });
            }
        }
        Self {
            address,
            connections,
            _kept: kept,
        }
    }
}

/// Says something, and ends the connection once the client has.
fn say(mut stream: TcpStream, octets: &[u8]) {
    let _ = stream.write_all(octets);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

fn fail(how: How, mut stream: TcpStream) {
    let mut reader = Reader::new(zorb_giop::Limits::default());
    let of = |kind| empty_message(kind, Version::V1_2).to_vec();
    match how {
        How::Refuses | How::BlackHole | How::Ends => {}
        How::ClosesInOrder => say(stream, &of(MessageKind::CloseConnection)),
        How::SaysMessageError => say(stream, &of(MessageKind::MessageError)),
        How::SpeaksHttp => say(stream, b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        How::SaysNothing => while receive(&mut stream, &mut reader).is_some() {},
        How::EndsAfterTheRequest => {
            receive(&mut stream, &mut reader);
        }
        How::ClosesInOrderAfterTheRequest => {
            receive(&mut stream, &mut reader);
            say(stream, &of(MessageKind::CloseConnection));
        }
        How::SendsHalfAReply => {
            if let Some(request) = receive(&mut stream, &mut reader) {
                let _ = stream.write_all(&reply(&request, "half")[..20]);
            }
            while receive(&mut stream, &mut reader).is_some() {}
        }
    }
}

/// A way to name two endpoints of one object.
#[derive(Clone, Copy, Debug)]
enum Way {
    Profiles,
    Alternates,
    Corbaloc,
    Group,
    NearestOfGroup,
}

impl Way {
    const ALL: [Self; 5] = [
        Self::Profiles,
        Self::Alternates,
        Self::Corbaloc,
        Self::Group,
        Self::NearestOfGroup,
    ];

    async fn reference(self, orb: &Orb, first: SocketAddr, second: SocketAddr) -> AccountRef {
        let one = |address| orb.object(ior(vec![profile(address, Vec::new())]));
        let group = || ObjectRef::group([&one(first), &one(second)]).unwrap();
        let object = match self {
            Self::Profiles => {
                let profiles = [first, second].map(|address| profile(address, Vec::new()));
                orb.object(ior(profiles.to_vec()))
            }
            Self::Alternates => {
                let data = encapsulate(|e| {
                    e.put(&second.ip().to_string())?;
                    e.put(&second.port())
                });
                let alternate = TaggedComponent {
                    tag: ComponentTag::ALTERNATE_IIOP_ADDRESS,
                    data: data.unwrap(),
                };
                orb.object(ior(vec![profile(first, vec![alternate])]))
            }
            Self::Corbaloc => {
                let url = format!("corbaloc:iiop:1.2@{first},iiop:1.2@{second}/Account");
                in_time(orb.string_to_object(&url)).await.unwrap()
            }
            Self::Group => group(),
            Self::NearestOfGroup => {
                let nearest = PolicyOverrides::new().endpoint_order(EndpointOrder::LeastLatency);
                group().with_policies(&nearest)
            }
        };
        object.unchecked_narrow()
    }
}

fn ior(profiles: Vec<TaggedProfile>) -> Ior {
    Ior {
        type_id: AccountRef::REPOSITORY_ID.to_owned(),
        profiles,
    }
}

fn profile(address: SocketAddr, components: Vec<TaggedComponent>) -> TaggedProfile {
    let profile = IiopProfile {
        version: Version::V1_2,
        address: IiopAddress {
            host: address.ip().to_string(),
            port: address.port(),
        },
        object_key: zorb::Bytes::from_static(KEY),
        components,
    };
    profile.to_tagged().unwrap()
}

/// A server with an account, and its address.
async fn good(owner: &str) -> (Orb, SocketAddr) {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let orb = orb.await.unwrap();
    let poa = orb.ins_poa();
    let _: AccountRef = poa.activate_object_with_id(KEY, account(owner)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let port = orb.endpoints()[0].port().unwrap();
    (orb, SocketAddr::from(([127, 0, 0, 1], port)))
}

fn client() -> Builder {
    Orb::builder()
        .round_trip_timeout(LIMIT)
        .connect_timeout(LIMIT / 4)
}

/// The results of four calls: the first two through one reference, the others through another one of the same endpoints.
async fn calls(
    orb: &Orb,
    way: Way,
    bad: SocketAddr,
    good: SocketAddr,
    blocking: bool,
) -> Vec<Result<String, SystemException>> {
    let mut results = Vec::new();
    for _ in 0..2 {
        let account = way.reference(orb, bad, good).await;
        for _ in 0..2 {
            let account = account.clone();
            let owner = match blocking {
                true => tokio::task::spawn_blocking(move || account.owner().wait())
                    .await
                    .unwrap(),
                false => in_time(account.owner()).await,
            };
            results.push(owner);
        }
    }
    results
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_does_not_serve_hides_no_other_one() {
    let (server, good) = good("good").await;
    let mut wrong = Vec::new();
    for how in How::ALL {
        for way in Way::ALL {
            for blocking in [false, true] {
                let bad = Bad::start(how);
                let of_blocking = blocking.then(|| client().build_blocking().unwrap());
                let orb = match &of_blocking {
                    Some(orb) => (**orb).clone(),
                    None => client().build().await.unwrap(),
                };
                let results = calls(&orb, way, bad.address, good, blocking).await;
                let (may_serve, may_fail) = how.first();
                let failed: Vec<_> = results
                    .iter()
                    .enumerate()
                    .filter_map(|(number, result)| Some((number, result.as_ref().err()?)))
                    .map(|(number, e)| (number, (e.kind, e.completed)))
                    .collect();
                let is_good = results.iter().flatten().all(|owner| owner == "good");
                let is_expected = match (way, &failed[..]) {
                    (Way::NearestOfGroup, []) => true,
                    (_, []) => may_serve,
                    // The nearest may be the good one at first.
                    (Way::NearestOfGroup, [(_, failure)]) | (_, [(0, failure)]) => {
                        may_fail == Some(*failure)
                    }
                    _ => false,
                };
                if !is_good || !is_expected {
                    let shown: Vec<_> = results
                        .iter()
                        .map(|result| match result {
                            Ok(owner) => owner.clone(),
                            Err(e) => format!("{:?} {:?}", e.kind, e.completed),
                        })
                        .collect();
                    wrong.push(format!("{how:?}, {way:?}, blocking {blocking}: {shown:?}"));
                }
                drop((orb, of_blocking));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn dynamic_calls_go_to_the_endpoints_that_static_ones_go_to() {
    let (server, good) = good("good").await;
    for how in How::ALL {
        for deferred in [false, true] {
            let bad = Bad::start(how);
            let orb = client().build().await.unwrap();
            let account = Way::Profiles.reference(&orb, bad.address, good).await;
            let owner = account.as_object().request("owner");
            let owner = owner.returns(TypeCode::string(0));
            let (may_serve, may_fail) = how.first();
            for number in 0..4 {
                let called = match deferred {
                    true => in_time(owner.send_deferred()).await,
                    false => in_time(owner.invoke()).await,
                };
                match called {
                    Ok(response) => {
                        let owner: String = response.result.unwrap().extract().unwrap();
                        assert_eq!(owner, "good");
                        assert!(number > 0 || may_serve, "{how:?}");
                    }
                    Err(RequestError::System(error)) => {
                        let failed = Some((error.kind, error.completed));
                        assert!(number == 0 && failed == may_fail, "{how:?} {error}");
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn each_of_many_servers_at_their_limits_is_asked_once_in_a_call() {
    let (_server, good) = good("good").await;
    let bad: Vec<Bad> = (0..8).map(|_| Bad::start(How::ClosesInOrder)).collect();
    let addresses = bad.iter().map(|bad| bad.address).chain([good]);
    let profiles = addresses
        .map(|address| profile(address, Vec::new()))
        .collect();
    let orb = Orb::builder().build().await.unwrap();
    let account: AccountRef = orb.object(ior(profiles)).unchecked_narrow();
    assert_eq!(in_time(account.owner()).await.unwrap(), "good");
    for bad in &bad {
        assert_eq!(bad.connections.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn servers_that_all_refuse_are_asked_a_bounded_number_of_times() {
    let bad = [
        Bad::start(How::ClosesInOrder),
        Bad::start(How::ClosesInOrder),
    ];
    let profiles = bad.iter().map(|bad| profile(bad.address, Vec::new()));
    let orb = Orb::builder().build().await.unwrap();
    let account: AccountRef = orb.object(ior(profiles.collect())).unchecked_narrow();
    let error = in_time(account.owner()).await.unwrap_err();
    assert_eq!(error.completed, Completed::No);
    let asked = bad
        .iter()
        .map(|bad| bad.connections.load(Ordering::Relaxed));
    assert_eq!(asked.sum::<usize>(), 4, "each once, and two resends");
}

#[tokio::test]
async fn a_server_that_closes_a_connection_on_which_it_has_served_keeps_its_place() {
    let (_server, good) = good("good").await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let first = listener.local_addr().unwrap();
    // Serves one call on each connection, and closes it in order when the next request comes.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = Reader::new(zorb_giop::Limits::default());
            let request = receive(&mut stream, &mut reader).unwrap();
            stream.write_all(&reply(&request, "first")).unwrap();
            receive(&mut stream, &mut reader);
            let close = empty_message(MessageKind::CloseConnection, Version::V1_2);
            thread::spawn(move || say(stream, &close));
        }
    });
    let orb = Orb::builder().build().await.unwrap();
    let account = Way::Profiles.reference(&orb, first, good).await;
    for _ in 0..4 {
        assert_eq!(in_time(account.owner()).await.unwrap(), "first");
    }
}

/// What a server does with the second request of its first connection.
#[derive(Clone, Copy, Debug)]
enum Falls {
    Silent,
    SilentInAReply,
    SilentInAFragment,
}

/// A server that serves until the second request of its first connection, and goes on on others.
fn falling(falls: Falls) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            thread::spawn(move || {
                let mut reader = Reader::new(zorb_giop::Limits::default());
                let mut served = 0;
                while let Some(message) = receive(&mut stream, &mut reader) {
                    if message.header.kind != MessageKind::Request {
                        continue;
                    }
                    let octets = reply(&message, "served");
                    served += 1;
                    match falls {
                        _ if !is_first || served < 2 => stream.write_all(&octets).unwrap(),
                        Falls::SilentInAReply if served == 2 => {
                            stream.write_all(&octets[..20]).unwrap();
                        }
                        Falls::SilentInAFragment if served == 2 => {
                            let mut first = octets[..24].to_vec();
                            first[6] |= 2;
                            first[8..12].copy_from_slice(&12_u32.to_le_bytes());
                            stream.write_all(&first).unwrap();
                        }
                        _ => {}
                    }
                }
            });
        }
    });
    (address, connections)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_one_call_that_timed_out_on_a_silent_connection_others_go_by_a_new_one() {
    for falls in [
        Falls::Silent,
        Falls::SilentInAReply,
        Falls::SilentInAFragment,
    ] {
        for blocking in [false, true] {
            for forwarded in [false, true] {
                let (address, connections) = falling(falls);
                let of_blocking = blocking.then(|| client().build_blocking().unwrap());
                let orb = match &of_blocking {
                    Some(orb) => (**orb).clone(),
                    None => client().build().await.unwrap(),
                };
                let there = ior(vec![profile(address, Vec::new())]);
                let first = match forwarded {
                    true => ior(vec![profile(forwarding(there), Vec::new())]),
                    false => there,
                };
                let account: AccountRef = orb.object(first).unchecked_narrow();
                let mut results = Vec::new();
                for _ in 0..5 {
                    let account = account.clone();
                    let owner = match blocking {
                        true => tokio::task::spawn_blocking(move || account.owner().wait())
                            .await
                            .unwrap(),
                        false => in_time(account.owner()).await,
                    };
                    results.push(owner.map_err(|e| (e.kind, e.completed)));
                }
                let served = || Ok("served".to_owned());
                let expected = [
                    served(),
                    Err((Kind::Timeout, Completed::Maybe)),
                    served(),
                    served(),
                    served(),
                ];
                assert_eq!(
                    results, expected,
                    "{falls:?}, blocking {blocking}, forwarded {forwarded}"
                );
                assert_eq!(connections.load(Ordering::Relaxed), 2);
            }
        }
    }
}

/// A server that forwards every request.
fn forwarding(to: Ior) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let to = to.clone();
            thread::spawn(move || {
                let mut reader = Reader::new(zorb_giop::Limits::default());
                while let Some(message) = receive(&mut stream, &mut reader) {
                    let builder = ReplyBuilder {
                        version: Version::V1_2,
                        request_id: RequestHeader::read(&message).unwrap().request_id,
                        status: ReplyStatus::LocationForward,
                        contexts: &[],
                    };
                    let octets = builder.encode(encoder(), |e| e.put(&to)).unwrap();
                    stream.write_all(&octets.to_vec()).unwrap();
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn a_call_that_waits_on_a_silent_connection_gets_its_reply_when_it_comes() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let orb = Orb::builder().build().await.unwrap();
    let account: AccountRef = orb
        .object(ior(vec![profile(address, Vec::new())]))
        .unchecked_narrow();
    let patient = crate::savings::spawn({
        let account = account.clone();
        async move { account.owner().await }
    });
    let (first, _) = in_time(listener.accept()).await.unwrap();
    let mut first = crate::hostile::raw::Raw::new(first);
    let request = first.receive().await.unwrap();
    let hasty = PolicyOverrides::new().relative_round_trip_timeout(LIMIT);
    let error = in_time(account.with_policies(&hasty).owner())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Timeout, Completed::Maybe)
    );
    let another = crate::savings::spawn({
        let account = account.clone();
        async move { account.owner().await }
    });
    let (second, _) = in_time(listener.accept()).await.unwrap();
    let mut second = crate::hostile::raw::Raw::new(second);
    let other = second.receive().await.unwrap();
    second.send(&reply(&other, "second")).await;
    assert_eq!(in_time(another).await.unwrap().unwrap(), "second");
    // What was asked on the first connection: the hasty call, which was cancelled, and whether anybody is there.
    let mut kinds = Vec::new();
    while kinds.last() != Some(&MessageKind::LocateRequest) {
        kinds.push(first.receive().await.unwrap().header.kind);
    }
    assert_eq!(kinds[0], MessageKind::Request);
    first.send(&reply(&request, "first")).await;
    assert_eq!(in_time(patient).await.unwrap().unwrap(), "first");
    // Nothing waits on it any more, so it is closed, as another one has its place.
    while let Some(message) = first.receive().await {
        kinds.push(message.header.kind);
    }
    assert_eq!(kinds.last(), Some(&MessageKind::CloseConnection));
}
