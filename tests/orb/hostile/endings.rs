//! Servers that are not there, vanish, or close: what the caller may conclude.

use crate::hostile::honest_pair::{World, reach, within};
use crate::hostile::raw::{Peer, decode, message, reply};
use crate::savings::spawn;
use std::error::Error as _;
use std::io;
use std::time::{Duration, Instant};
use tokio::join;
use zorb::blocking::Wait;
use zorb::{
    CompletionStatus as Completed, Interface, Orb, SyncScope, SystemExceptionKind as Kind,
    WaitPolicy, minor,
};
use zorb_giop::{MessageKind, ReplyStatus, Version};

#[tokio::test]
async fn a_refused_connection_is_transient_and_names_endpoint_and_cause() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let address = peer.address().to_string();
    let target = peer.target(world.bystander());
    drop(peer);
    let e = within(target.twice(4)).await.unwrap_err();
    assert_eq!(
        (e.kind, e.minor, e.completed),
        (Kind::Transient, minor::CANNOT_CONNECT, Completed::No)
    );
    let text = format!("{e:#}");
    assert!(text.contains(&address), "{text}");
    assert!(text.contains("Connection refused (os error 111)"), "{text}");
    // A program asks for the kind of the error, and `{}` does not repeat its text.
    assert!(!e.to_string().contains("refused"), "{e}");
    let refused = e.source().and_then(|it| it.downcast_ref::<io::Error>());
    assert_eq!(refused.unwrap().kind(), io::ErrorKind::ConnectionRefused);

    // The same for a socket that is not there.
    let path = tempfile::tempdir().unwrap().path().join("absent");
    let url = format!("corbaloc:uiop:1.2@{}|key", path.display());
    let target = reach(world.bystander(), &url).await;
    let e = within(target.twice(4)).await.unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Transient, Completed::No));
    let text = format!("{e:#}");
    assert!(text.contains(&path.display().to_string()), "{text}");
    world.end().await;
}

#[tokio::test]
async fn a_peer_that_is_gone_mid_call_is_a_communication_failure_that_may_have_happened() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let address = peer.address().to_string();
    let target = peer.target(world.bystander());
    for reset in [false, true] {
        let vanishing = async {
            let mut raw = peer.accept().await;
            raw.receive_request().await;
            world.serves().await;
            if reset {
                raw.reset();
            }
        };
        let (outcome, ()) = join!(within(target.twice(4)), vanishing);
        let e = outcome.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completed::Maybe));
        assert!(format!("{e:#}").contains(&address), "{e:#}");
    }
    // In the middle of the reply, too.
    for len in [1, 11, 12, 20, 27] {
        let vanishing = async {
            let mut raw = peer.accept().await;
            let (id, _) = raw.receive_request().await;
            let whole = reply(id, ReplyStatus::NoException, |e| e.put(&8i32));
            assert_eq!(whole.len(), 28);
            raw.send(&whole[..len]).await;
        };
        let (outcome, ()) = join!(within(target.twice(4)), vanishing);
        let e = outcome.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completed::Maybe));
    }
    // And it is found again when it is back.
    let serving = async { peer.accept().await.serve_twice().await };
    let (outcome, ()) = join!(within(target.twice(4)), serving);
    assert_eq!(outcome, Ok(8));
    world.end().await;
}

#[tokio::test]
async fn a_peer_that_left_between_calls_is_connected_to_anew() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    for goodbye in [None, Some(MessageKind::CloseConnection)] {
        let serving = async {
            let mut raw = peer.accept().await;
            raw.serve_twice().await;
            if let Some(kind) = goodbye {
                raw.send(&message(Version::V1_2, kind, &[])).await;
            }
        };
        let (outcome, ()) = join!(within(target.twice(4)), serving);
        assert_eq!(outcome, Ok(8));
        // Gives the client's driver its turn: it sees the end of the stream.
        for _ in 0..20 {
            world.serves().await;
        }
    }
    let serving = async { peer.accept().await.serve_twice().await };
    let (outcome, ()) = join!(within(target.twice(4)), serving);
    assert_eq!(outcome, Ok(8));
    world.end().await;
}

#[tokio::test]
async fn a_request_that_was_not_wholly_written_is_sent_again() {
    const OCTETS: usize = 32 << 20;
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let octets = vec![5; OCTETS];
    let serving = async {
        // More than both sockets hold, and it is not read.
        let first = peer.accept().await;
        world.serves().await;
        first.reset();
        let mut second = peer.accept().await;
        let (id, operation) = second.receive_request().await;
        assert_eq!(operation, "swallow");
        let answer = reply(id, ReplyStatus::NoException, |e| e.put(&(OCTETS as u32)));
        second.send(&answer).await;
    };
    let (outcome, ()) = join!(within(target.swallow(&octets)), serving);
    assert_eq!(outcome, Ok(OCTETS as u32));
    world.end().await;
}

#[tokio::test]
async fn a_request_that_is_never_wholly_written_was_not_carried_out() {
    const OCTETS: usize = 32 << 20;
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let octets = vec![5; OCTETS];
    let mut connections = 0;
    let calling = within(target.swallow(&octets));
    let vanishing = async {
        loop {
            let raw = peer.accept().await;
            // The client has begun to write.
            within(raw.stream.peek(&mut [0])).await.unwrap();
            raw.reset();
            connections += 1;
        }
    };
    let outcome = tokio::select! {
        outcome = calling => outcome,
        () = vanishing => unreachable!("it goes on for ever"),
    };
    let e = outcome.unwrap_err();
    assert_eq!(
        (e.kind, e.completed),
        (Kind::CommFailure, Completed::No),
        "{e}"
    );
    assert!((1..=3).contains(&connections), "{connections} connections");
    world.end().await;
}

#[tokio::test]
async fn a_call_that_waits_when_its_connection_is_closed_in_order_is_sent_again() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let serving = async {
        let mut first = peer.accept().await;
        let mut operations = Vec::new();
        for _ in 0..3 {
            operations.push(first.receive_request().await.1);
        }
        assert_eq!(operations, ["twice"; 3]);
        world.serves().await;
        first
            .send(&message(Version::V1_2, MessageKind::CloseConnection, &[]))
            .await;
        // The receiver must close.
        assert!(first.receive().await.is_none());
        let mut second = peer.accept().await;
        for _ in 0..3 {
            second.serve_twice().await;
        }
    };
    let (a, b, c, ()) = join!(
        within(target.twice(1)),
        within(target.twice(2)),
        within(target.twice(3)),
        serving
    );
    assert_eq!((a, b, c), (Ok(2), Ok(4), Ok(6)));
    world.end().await;
}

#[tokio::test]
async fn a_server_that_always_closes_is_given_up() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let mut requests = 0;
    let closing = async {
        loop {
            let mut raw = peer.accept().await;
            raw.receive_request().await;
            requests += 1;
            raw.send(&message(Version::V1_2, MessageKind::CloseConnection, &[]))
                .await;
        }
    };
    let outcome = tokio::select! {
        outcome = within(target.twice(4)) => outcome,
        () = closing => unreachable!("it goes on for ever"),
    };
    let e = outcome.unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Transient, Completed::No));
    assert!((2..=5).contains(&requests), "{requests} requests");
    world.end().await;
}

#[tokio::test]
async fn a_server_that_shuts_down_answers_what_it_has_begun() {
    let mut world = World::start().await;
    let client = Orb::builder().build().await.unwrap();
    let target = reach(&client, &world.reference()).await;
    let server = world.server.clone();
    let waiting = spawn(async move { target.wait().await });
    world.entered().await;
    server.shutdown(false).await.unwrap();
    world.let_go().await;
    assert_eq!(within(waiting).await.unwrap(), Ok(()));
    within(server.run()).await;
    client.shutdown(true).await.unwrap();
}

/// How a server ends an idle connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// CloseConnection, and the end of the stream.
    Closes,
    /// CloseConnection, and the socket stays open.
    Announces,
    /// CloseConnection, and a reset.
    ClosesAndResets,
    /// The end of the stream without a word.
    Leaves,
    Resets,
}

/// What a client sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Call,
    Locate,
    /// One-way calls of this scope, and a call.
    OneWays(SyncScope),
}

/// Calls, blocking the thread if the ORB does.
async fn made<T: Send + 'static>(
    blocks: bool,
    call: impl Future<Output = T> + Send + 'static,
) -> T {
    match blocks {
        true => {
            let thread = tokio::task::spawn_blocking(move || call.wait());
            within(thread).await.unwrap()
        }
        false => within(call).await,
    }
}

/// A client calls, the server ends the connection meanwhile, and what the client sends next arrives on another one.
async fn check_ending(world: &World, orb: &Orb, blocks: bool, ending: Ending, next: Next) {
    const ONE_WAYS: i32 = 8;
    let what = format!("{ending:?}, then {next:?}, on threads: {blocks}");
    let peer = Peer::start().await;
    let target = peer.target(orb);
    let called = target.clone();
    let calling = made(blocks, async move { called.twice(4).await });
    let serving = async {
        let mut raw = peer.accept().await;
        raw.serve_twice().await;
        raw
    };
    let (outcome, mut first) = join!(calling, serving);
    assert_eq!(outcome, Ok(8), "{what}");
    let close = message(Version::V1_2, MessageKind::CloseConnection, &[]);
    let mut open = None;
    match ending {
        Ending::Closes => first.send(&close).await,
        Ending::Announces => {
            first.send(&close).await;
            open = Some(first);
        }
        Ending::ClosesAndResets => {
            first.send(&close).await;
            first.reset();
        }
        Ending::Leaves => drop(first),
        Ending::Resets => first.reset(),
    }
    // A pause, in which the tasks of the client have their turn.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(3) {
        world.serves().await;
    }
    let sends = async move {
        match next {
            Next::Call => {}
            Next::Locate => assert_eq!(target.as_object().locate().await, Ok(true)),
            Next::OneWays(scope) => {
                let scoped = target.with_sync_scope(scope);
                for n in 0..ONE_WAYS {
                    scoped.forget(n).await?;
                }
                // Calls overtake those of SYNC_NONE that wait for a connection, unless they are made through their reference.
                return scoped.twice(4).await;
            }
        }
        target.twice(4).await
    };
    let serving = async {
        let mut second = peer.accept().await;
        let mut forgotten = Vec::new();
        loop {
            let message = second.receive().await.expect("a request before the end");
            if message.header.kind == MessageKind::LocateRequest {
                let id = zorb_giop::LocateRequestHeader::read(&message).unwrap();
                let e = zorb_cdr::Encoder::<zorb_cdr::LittleEndian>::new(Default::default());
                let reply =
                    zorb_giop::LocateReply::ObjectHere.encode(e, Version::V1_2, id.request_id);
                second.send(&reply.unwrap().to_vec()).await;
                continue;
            }
            let header = zorb_giop::RequestHeader::read(&message).unwrap();
            let n: i32 = decode(&message, header.body);
            if header.operation == b"forget" {
                forgotten.push(n);
                continue;
            }
            let result = reply(header.request_id, ReplyStatus::NoException, |e| {
                e.put(&(n * 2))
            });
            second.send(&result).await;
            return forgotten;
        }
    };
    let (outcome, forgotten) = join!(made(blocks, sends), serving);
    assert_eq!(outcome, Ok(8), "{what}");
    let expected = match next {
        Next::OneWays(_) => ONE_WAYS,
        Next::Call | Next::Locate => 0,
    };
    assert_eq!(forgotten, (0..expected).collect::<Vec<i32>>(), "{what}");
    drop(open);
}

async fn check_endings(orb: &Orb, blocks: bool) {
    let world = World::start().await;
    for ending in [
        Ending::Closes,
        Ending::Announces,
        Ending::ClosesAndResets,
        Ending::Leaves,
        Ending::Resets,
    ] {
        for next in [
            Next::Call,
            Next::Locate,
            Next::OneWays(SyncScope::None),
            Next::OneWays(SyncScope::WithTransport),
        ] {
            check_ending(&world, orb, blocks, ending, next).await;
        }
    }
    world.end().await;
}

#[tokio::test]
async fn what_is_sent_after_the_server_has_ended_an_idle_connection_arrives_on_another_one() {
    let orb = Orb::builder().build().await.unwrap();
    check_endings(&orb, false).await;
    within(orb.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn what_a_thread_sends_after_the_server_has_ended_an_idle_connection_arrives_on_another_one()
{
    for policy in [WaitPolicy::Adaptive, WaitPolicy::Park] {
        let built = tokio::task::spawn_blocking(move || {
            let builder = Orb::builder().wait_policy(policy);
            builder.build_blocking().unwrap()
        });
        let orb = built.await.unwrap();
        check_endings(&orb, true).await;
        let ended = tokio::task::spawn_blocking(move || orb.shutdown(true));
        within(ended).await.unwrap().unwrap();
    }
}
