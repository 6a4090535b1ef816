//! Messages that are not what their receiver waits for: each message, to each kind of waiter, in each version of GIOP.

use crate::hostile::honest_pair::{TargetRef, World, within};
use crate::hostile::raw::{Call, Peer, Raw, decode, ior_of, message};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use zorb::blocking::Wait;
use zorb::policy::{BidirectionalPolicy, PolicyOverrides};
use zorb::{
    Bytes, CompletionStatus as Completed, Interface, Ior, Orb, SyncScope, SystemException,
    SystemExceptionKind as Kind, blocking,
};
use zorb_cdr::{Encode, Encoder, LittleEndian, WireFormat};
use zorb_giop::{
    LocateRequestHeader, Message, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, Version,
};

/// A message to the id of the waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// With this status.
    Reply(u32),
    /// With this status.
    LocateReply(u32),
    Request,
    LocateRequest,
    CancelRequest,
    CloseConnection,
    MessageError,
    /// The last fragment.
    Fragment,
    /// A message type that does not exist.
    Unknown,
}

/// A status that neither a Reply nor a LocateReply has.
const NO_STATUS: u32 = 6;

fn all() -> impl Iterator<Item = Comes> {
    let replies =
        (0..=NO_STATUS).flat_map(|status| [Comes::Reply(status), Comes::LocateReply(status)]);
    replies.chain([
        Comes::Request,
        Comes::LocateRequest,
        Comes::CancelRequest,
        Comes::CloseConnection,
        Comes::MessageError,
        Comes::Fragment,
        Comes::Unknown,
    ])
}

const VERSIONS: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];

/// Octets of the first piece of a message in fragments, a multiple of 8: the header of a Reply.
const FIRST: usize = 24;

/// The first piece of a message of which another one will follow.
fn first_piece(whole: &[u8]) -> Vec<u8> {
    let mut first = whole[..FIRST].to_vec();
    first[6] |= 2;
    first[8..12].copy_from_slice(&u32::try_from(FIRST - 12).unwrap().to_le_bytes());
    first
}

/// The rest of a message that began with [`first_piece`].
fn last_piece(whole: &[u8], version: Version, id: u32) -> Vec<u8> {
    let id = id.to_le_bytes();
    let id = if version >= Version::V1_2 {
        &id[..]
    } else {
        &[]
    };
    message(
        version,
        MessageKind::Fragment,
        &[id, &whole[FIRST..]].concat(),
    )
}

impl Comes {
    /// Its octets. A forward leads to `forward`.
    fn octets(self, version: Version, id: u32, forward: &Ior) -> Vec<u8> {
        let words = |words: &[u32]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let of = |kind, head: &[u32], body: Vec<u8>| {
            message(version, kind, &[words(head), body].concat())
        };
        let call = Call {
            version,
            ..Call::new(b"nothing", "twice").id(id)
        };
        match self {
            Self::Reply(status) => {
                let body = match status {
                    0 => put(&8_i32),
                    1 => put("IDL:Elsewhere/Odd:1.0"),
                    2 => put(&raised()),
                    3 | 4 => put(forward),
                    // Asks for a profile.
                    _ => put(&1_i16),
                };
                let head = match version >= Version::V1_2 {
                    true => [id, status, 0],
                    false => [0, id, status],
                };
                of(MessageKind::Reply, &head, body)
            }
            Self::LocateReply(status) => {
                let body = match status {
                    0 | 1 => Vec::new(),
                    2 | 3 => put(forward),
                    4 => put(&raised()),
                    _ => put(&1_i16),
                };
                of(MessageKind::LocateReply, &[id, status], body)
            }
            Self::Request => call.with(|e| e.put(&4_i32)),
            Self::LocateRequest => LocateRequestHeader::encode(
                Encoder::<LittleEndian>::new(WireFormat::default()),
                version,
                id,
                b"nothing",
            )
            .unwrap()
            .to_vec(),
            Self::CancelRequest => of(MessageKind::CancelRequest, &[id], Vec::new()),
            Self::CloseConnection => of(MessageKind::CloseConnection, &[], Vec::new()),
            Self::MessageError => of(MessageKind::MessageError, &[], Vec::new()),
            Self::Fragment => last_piece(&Self::Reply(0).octets(version, id, forward), version, id),
            Self::Unknown => {
                let mut octets = of(MessageKind::Reply, &[id, 0, 0], Vec::new());
                octets[7] = 8;
                octets
            }
        }
    }
}

fn put(value: &(impl Encode + ?Sized)) -> Vec<u8> {
    let mut e = Encoder::<LittleEndian>::new(WireFormat::default());
    e.put(value).unwrap();
    e.finish().to_vec()
}

fn raised() -> SystemException {
    SystemException::new(Kind::NoMemory, 3, Completed::No)
}

/// The caller that a message comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// A two-way call.
    Call,
    /// A LocateRequest.
    Locate,
    /// A one-way call of SYNC_WITH_SERVER.
    Arrival,
    /// A one-way call of SYNC_WITH_TARGET.
    Completion,
    /// None: a one-way call that has been sent.
    Nothing,
    /// None: a call that was cancelled.
    Cancelled,
    /// A two-way call whose reply has begun to come in fragments.
    Fragments,
}

const WAITERS: [Waits; 7] = [
    Waits::Call,
    Waits::Locate,
    Waits::Arrival,
    Waits::Completion,
    Waits::Nothing,
    Waits::Cancelled,
    Waits::Fragments,
];

/// What a client makes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// It is the answer.
    Answers,
    /// The client sends its request again, as the answer asks it to.
    AsksAgain,
    /// The waiter waits on.
    Ignored,
    /// The client sends MessageError and closes; the call may have been carried out.
    Broken,
    /// The client closes, and sends the request on another connection.
    SendsAgain,
    /// The client closes; the call may have been carried out.
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    Async,
    Blocking,
    /// Offers its connections for requests of the server.
    Bidirectional,
}

fn expected(client: Client, version: Version, waits: Waits, comes: Comes) -> Then {
    match (waits, comes) {
        (_, Comes::Reply(NO_STATUS) | Comes::LocateReply(NO_STATUS) | Comes::Unknown) => {
            Then::Broken
        }
        (_, Comes::CloseConnection) => Then::SendsAgain,
        (_, Comes::MessageError) => Then::Lost,
        (_, Comes::Request | Comes::LocateRequest | Comes::CancelRequest) => match client {
            Client::Bidirectional => Then::Ignored,
            Client::Async | Client::Blocking => Then::Broken,
        },
        (Waits::Fragments, Comes::Fragment) => Then::Answers,
        (_, Comes::Fragment) | (Waits::Fragments, _) => Then::Broken,
        (Waits::Nothing | Waits::Cancelled, _) => Then::Ignored,
        (Waits::Locate, Comes::LocateReply(5)) if version >= Version::V1_2 => Then::AsksAgain,
        (Waits::Locate, Comes::LocateReply(_)) => Then::Answers,
        (Waits::Locate, Comes::Reply(_)) => Then::Broken,
        (_, Comes::Reply(5)) if version >= Version::V1_2 => Then::AsksAgain,
        (_, Comes::Reply(_)) => Then::Answers,
        (_, Comes::LocateReply(_)) => Then::Broken,
    }
}

/// Makes a call as a task, or on a thread that blocks.
async fn made<T: Send + 'static>(
    client: Client,
    call: impl Future<Output = T> + Send + 'static,
) -> T {
    match client {
        Client::Blocking => {
            let blocks = tokio::task::spawn_blocking(move || call.wait());
            within(blocks).await.unwrap()
        }
        Client::Async | Client::Bidirectional => within(call).await,
    }
}

async fn twice(target: TargetRef) -> Result<(), SystemException> {
    let result = target.twice(4).await?;
    assert_eq!(result, 8);
    Ok(())
}

/// The call of a waiter.
async fn call(target: TargetRef, waits: Waits) -> Result<(), SystemException> {
    let one_way = |scope| target.with_sync_scope(scope);
    match waits {
        Waits::Call | Waits::Fragments => twice(target).await,
        Waits::Locate => target.as_object().locate().await.map(|_| ()),
        Waits::Arrival => one_way(SyncScope::WithServer).forget(1).await,
        Waits::Completion => one_way(SyncScope::WithTarget).forget(1).await,
        Waits::Nothing => one_way(SyncScope::WithTransport).forget(1).await,
        Waits::Cancelled => loop {
            let hasty = target.with_round_trip_timeout(Duration::from_millis(50));
            let raised = hasty.twice(4).await.unwrap_err();
            assert_eq!(raised.kind, Kind::Timeout);
            // On a busy machine the time of a call may be over before it is sent.
            if raised.completed == Completed::Maybe {
                return Ok(());
            }
        },
    }
}

/// The next request of a client, and its id. Replies to a server's requests, and CancelRequests, are passed over.
async fn request(raw: &mut Raw) -> (u32, MessageKind) {
    loop {
        let message = raw.receive().await.expect("a request before the end");
        let id = match message.header.kind {
            MessageKind::Request => RequestHeader::read(&message).unwrap().request_id,
            MessageKind::LocateRequest => LocateRequestHeader::read(&message).unwrap().request_id,
            MessageKind::CancelRequest | MessageKind::Reply | MessageKind::LocateReply => continue,
            other => panic!("{other} from a client"),
        };
        return (id, message.header.kind);
    }
}

/// Reads to the end of the stream. Returns whether the last message was MessageError.
async fn ended(raw: &mut Raw) -> bool {
    let mut last = None;
    while let Some(message) = raw.receive().await {
        assert_ne!(last, Some(MessageKind::MessageError), "nothing behind it");
        last = Some(message.header.kind);
    }
    last == Some(MessageKind::MessageError)
}

/// A server that answers one request as it should.
async fn serve(raw: &mut Raw, version: Version, forward: &Ior) {
    let (id, kind) = request(raw).await;
    answer(raw, kind, version, id, forward).await;
}

/// A server that answers the next call, after one whose time limit has passed: that comes on another connection, unless the
/// client has heard something on this one before.
async fn serve_somewhere(peer: &Peer, raw: &mut Raw, version: Version, forward: &Ior) {
    loop {
        let message = tokio::select! {
            mut other = peer.accept() => return serve(&mut other, version, forward).await,
            message = raw.receive() => message,
        };
        match message.map(|message| (message.header.kind, message)) {
            Some((MessageKind::Request, message)) => {
                let id = RequestHeader::read(&message).unwrap().request_id;
                return answer(raw, MessageKind::Request, version, id, forward).await;
            }
            // Whether anybody is there.
            Some((MessageKind::LocateRequest, message)) => {
                let id = LocateRequestHeader::read(&message).unwrap().request_id;
                answer(raw, MessageKind::LocateRequest, version, id, forward).await;
            }
            Some((MessageKind::CloseConnection, _)) | None => {
                return serve(&mut peer.accept().await, version, forward).await;
            }
            Some(_) => {}
        }
    }
}

async fn answer(raw: &mut Raw, kind: MessageKind, version: Version, id: u32, forward: &Ior) {
    let reply = match kind {
        MessageKind::LocateRequest => Comes::LocateReply(1),
        _ => Comes::Reply(0),
    };
    raw.send(&reply.octets(version, id, forward)).await;
}

/// One message to one waiter.
async fn check(
    (client, orb): (Client, Orb),
    version: Version,
    waits: Waits,
    comes: Comes,
    forward: Ior,
) {
    let what = format!("{client:?}, GIOP {version}: {comes:?} to {waits:?}");
    let peer = Peer::start().await;
    let target = TargetRef::unchecked_narrow(orb.object(ior_of(version, peer.address())));
    let accepted = async {
        let mut raw = peer.accept().await;
        serve(&mut raw, version, &forward).await;
        raw
    };
    let (first, mut raw) = tokio::join!(made(client, twice(target.clone())), accepted);
    assert_eq!(first, Ok(()), "{what}");
    let mut calling = Some(tokio::spawn(made(client, call(target.clone(), waits))));
    let (id, kind) = request(&mut raw).await;
    if matches!(waits, Waits::Nothing | Waits::Cancelled) {
        let sent = within(calling.take().unwrap()).await.unwrap();
        assert_eq!(sent, Ok(()), "{what}");
    }
    let whole = Comes::Reply(0).octets(version, id, &forward);
    if waits == Waits::Fragments {
        raw.send(&first_piece(&whole)).await;
    }
    raw.send(&comes.octets(version, id, &forward)).await;
    let then = expected(client, version, waits, comes);
    match then {
        Then::Answers => {}
        Then::AsksAgain => serve(&mut raw, version, &forward).await,
        Then::Ignored if waits == Waits::Fragments => {
            raw.send(&last_piece(&whole, version, id)).await;
        }
        Then::Ignored if calling.is_some() => {
            answer(&mut raw, kind, version, id, &forward).await;
        }
        Then::Ignored => {}
        Then::Broken => assert!(ended(&mut raw).await, "{what}: no MessageError"),
        Then::SendsAgain | Then::Lost => {
            assert!(!ended(&mut raw).await, "{what}: MessageError");
        }
    }
    if then == Then::SendsAgain && calling.is_some() {
        raw = peer.accept().await;
        serve(&mut raw, version, &forward).await;
    }
    let was_called = calling.is_some();
    if let Some(calling) = calling {
        let outcome = within(calling).await.unwrap();
        let found = outcome.map_err(|raised| (raised.kind, raised.completed));
        let exception = match (then, comes) {
            (Then::Broken | Then::Lost, _) => Some((Kind::CommFailure, Completed::Maybe)),
            (Then::Answers, Comes::Reply(1)) => Some((Kind::Unknown, Completed::Yes)),
            (Then::Answers, Comes::Reply(2) | Comes::LocateReply(4)) => {
                Some((Kind::NoMemory, Completed::No))
            }
            // Before GIOP 1.2 there is no other addressing.
            (Then::Answers, Comes::Reply(5) | Comes::LocateReply(5)) => {
                Some((Kind::CommFailure, Completed::No))
            }
            _ => None,
        };
        assert_eq!(found, exception.map_or(Ok(()), Err), "{what}");
    }
    let is_forwarded = match comes {
        Comes::Reply(3 | 4) => then == Then::Answers,
        Comes::LocateReply(2 | 3) => then == Then::Answers,
        _ => false,
    };
    // The next call is served: there, on the same connection, or on another one.
    let serving = async {
        let is_over =
            matches!(then, Then::Broken | Then::Lost) || then == Then::SendsAgain && !was_called;
        if is_over {
            raw = peer.accept().await;
        }
        if waits == Waits::Cancelled && !is_over {
            serve_somewhere(&peer, &mut raw, version, &forward).await;
        } else if !is_forwarded {
            serve(&mut raw, version, &forward).await;
        }
    };
    let (next, ()) = tokio::join!(made(client, twice(target)), serving);
    assert_eq!(next, Ok(()), "{what}");
}

/// All messages to all waiters of a client.
async fn check_all(client: Client, orb: Orb, versions: &'static [Version]) {
    let world = World::start().await;
    let mut failed = Vec::new();
    for version in versions {
        for waits in WAITERS {
            if waits == Waits::Fragments && *version == Version::V1_0 {
                continue;
            }
            let mut cases = JoinSet::new();
            for comes in all() {
                let case = check((client, orb.clone()), *version, waits, comes, world.ior());
                let case = tokio::spawn(case);
                cases.spawn(async move { case.await.map_err(|_| (comes, waits, *version)) });
            }
            while let Some(done) = cases.join_next().await {
                failed.extend(done.unwrap().err());
            }
        }
    }
    assert!(failed.is_empty(), "{client:?}: {failed:#?}");
    world.end().await;
}

#[tokio::test]
async fn a_client_takes_no_message_for_the_one_that_its_caller_waits_for() {
    let orb = Orb::builder().build().await.unwrap();
    check_all(Client::Async, orb.clone(), &VERSIONS).await;
    within(orb.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn a_client_that_blocks_takes_no_message_for_the_one_that_its_caller_waits_for() {
    let built = tokio::task::spawn_blocking(|| Orb::builder().build_blocking().unwrap());
    let orb: blocking::Orb = built.await.unwrap();
    check_all(Client::Blocking, Orb::clone(&orb), &VERSIONS).await;
    let ended = tokio::task::spawn_blocking(move || orb.shutdown(true));
    within(ended).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_is_a_server_too_takes_no_message_for_the_one_that_its_caller_waits_for() {
    let both = PolicyOverrides::new().bidirectional(BidirectionalPolicy::Both);
    let orb = Orb::builder().policies(&both).build().await.unwrap();
    check_all(Client::Bidirectional, orb.clone(), &[Version::V1_2]).await;
    within(orb.shutdown(true)).await.unwrap();
}

/// The request of a client that a message comes after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Has {
    /// None.
    Nothing,
    /// One whose upcall goes on.
    Pending,
    /// One that has begun to come in fragments.
    Fragments,
}

/// What a server makes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Serves {
    /// It answers, with a message of this kind.
    Answers(MessageKind),
    Ignores,
    /// It sends MessageError and closes.
    Breaks,
    /// It closes without a word.
    Closes,
}

fn served(version: Version, has: Has, comes: Comes) -> Serves {
    match (has, comes) {
        (_, Comes::Reply(_) | Comes::LocateReply(_) | Comes::Unknown) => Serves::Breaks,
        (_, Comes::CloseConnection | Comes::MessageError) => Serves::Closes,
        (_, Comes::CancelRequest) => Serves::Ignores,
        // Fragments of 1.1 have no id, and a LocateRequest of 1.1 cannot be taken for one of them.
        (Has::Fragments, Comes::LocateRequest) if version == Version::V1_1 => {
            Serves::Answers(MessageKind::LocateReply)
        }
        (Has::Fragments, Comes::Request | Comes::LocateRequest) => Serves::Breaks,
        (Has::Fragments, Comes::Fragment) => Serves::Answers(MessageKind::Reply),
        (_, Comes::Fragment) => Serves::Breaks,
        (_, Comes::Request) => Serves::Answers(MessageKind::Reply),
        (_, Comes::LocateRequest) => Serves::Answers(MessageKind::LocateReply),
    }
}

/// The server of a table: its port, the key of its object, and a reference that leads somewhere.
#[derive(Clone)]
struct Server {
    name: &'static str,
    port: u16,
    key: Bytes,
    forward: Ior,
}

impl Server {
    async fn connect(&self) -> Raw {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await;
        Raw::new(stream.unwrap())
    }

    async fn check(self, version: Version, has: Has, comes: Comes) {
        const ID: u32 = 2;
        let what = format!("{}, GIOP {version}: {comes:?} after {has:?}", self.name);
        let mut raw = self.connect().await;
        let call = |operation, id| Call {
            version,
            ..Call::new(&self.key, operation).id(id)
        };
        let cut = call("twice", ID).with(|e| e.put(&4_i32));
        match has {
            Has::Nothing => {}
            Has::Pending => raw.send(&call("wait", ID).empty()).await,
            Has::Fragments => raw.send(&first_piece(&cut)).await,
        }
        let octets = match comes {
            Comes::Fragment => last_piece(&cut, version, ID),
            comes => comes.octets(version, ID, &self.forward),
        };
        raw.send(&octets).await;
        match served(version, has, comes) {
            Serves::Breaks => return assert!(ended(&mut raw).await, "{what}: no MessageError"),
            Serves::Closes => return assert!(!ended(&mut raw).await, "{what}: MessageError"),
            Serves::Ignores => {}
            Serves::Answers(kind) => {
                let answer = raw.receive().await.expect(&what);
                assert_eq!(answer.header.kind, kind, "{what}");
            }
        }
        if (has, comes, version) == (Has::Fragments, Comes::LocateRequest, Version::V1_1) {
            // Until they have ended, no other request may come.
            raw.send(&last_piece(&cut, version, ID)).await;
            assert_eq!(raw.receive_reply(ID).await, Ok(8), "{what}");
        }
        raw.send(&call("twice", 4).with(|e| e.put(&4_i32))).await;
        // A request whose upcall goes on may be answered when it was cancelled, or not.
        let reply: Message = raw.receive().await.expect(&what);
        let header = ReplyHeader::read(&reply).unwrap();
        assert_eq!(
            (header.request_id, header.status),
            (4, ReplyStatus::NoException),
            "{what}"
        );
        assert_eq!(decode::<i32>(&reply, header.body), 8, "{what}");
    }

    async fn check_all(&self) {
        let mut failed = Vec::new();
        for version in VERSIONS {
            for has in [Has::Nothing, Has::Pending, Has::Fragments] {
                if has == Has::Fragments && version == Version::V1_0 {
                    continue;
                }
                for comes in all() {
                    let done = tokio::spawn(self.clone().check(version, has, comes)).await;
                    failed.extend(done.map_err(|_| (comes, has, version)).err());
                }
            }
        }
        assert!(failed.is_empty(), "{}: {failed:#?}", self.name);
    }
}

#[tokio::test]
async fn a_server_takes_no_message_for_one_that_it_waits_for() {
    let both = |b: zorb::Builder| b.accept_bidirectional(|_, _| true);
    for world in [World::start().await, World::start_with(both).await] {
        let server = Server {
            name: "a server",
            port: world.port(),
            key: world.key(),
            forward: world.ior(),
        };
        server.check_all().await;
        world.subject.open(usize::from(u16::MAX));
        world.end().await;
    }
}

#[tokio::test]
async fn a_server_with_threads_takes_no_message_for_one_that_it_waits_for() {
    let world = World::start().await;
    let (orb, profile) = world.on_threads(|builder| builder).await;
    let server = Server {
        name: "a server with threads",
        port: profile.address.port,
        key: profile.object_key,
        forward: world.ior(),
    };
    server.check_all().await;
    world.subject.open(usize::from(u16::MAX));
    let ended = tokio::task::spawn_blocking(move || orb.shutdown(true));
    within(ended).await.unwrap().unwrap();
    world.end().await;
}
