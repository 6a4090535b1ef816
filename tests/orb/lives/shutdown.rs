//! ORBs that end: once, twice, from everywhere, during calls, or without a word.

use crate::anew::{anywhere, listening};
use crate::lives::cell_servant::{CellRef, client, from_afar, in_time, one_cell, seen, server};
use crate::savings::spawn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use zorb::{
    CompletionStatus as Completed, Interface, Orb, SystemException, SystemExceptionKind as Kind,
    minor,
};
use zorb_giop::ior::{IiopAddress, IiopProfile};
use zorb_giop::{Ior, Limits, MessageKind, Reader, Version};

const SHUT_DOWN_NO: (Kind, u32, Completed) =
    (Kind::BadInvOrder, minor::ORB_SHUT_DOWN, Completed::No);
const SHUT_DOWN_MAYBE: (Kind, u32, Completed) =
    (Kind::BadInvOrder, minor::ORB_SHUT_DOWN, Completed::Maybe);

on_both_flavours!(
    many_may_shut_an_orb_down_at_the_same_time,
    our_own_calls_that_wait_fail_and_the_servers_are_informed,
    calls_that_race_with_the_shutdown_end_and_open_no_connection,
    a_call_that_connects_while_the_orb_shuts_down_does_not_hold_it_up,
    a_servant_ends_its_orb_and_its_own_reply_still_comes,
    a_local_call_in_progress_is_finished_before_the_orb_is_down,
    an_orb_that_is_dropped_closes_its_connections_and_its_port,
    requests_read_during_a_shutdown_may_be_sent_elsewhere,
);

/// Eight callers, each of which calls until a call fails, after some turns of the scheduler.
async fn callers(cell: &CellRef, turns: usize) -> Vec<JoinHandle<SystemException>> {
    let call = |n| {
        let cell = cell.clone();
        spawn(async move {
            loop {
                match cell.add(n, 1).await {
                    Ok(sum) => assert_eq!(sum, n + 1),
                    Err(exception) => return exception,
                }
            }
        })
    };
    let calls = (0..8).map(call).collect();
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    calls
}

async fn requests_read_during_a_shutdown_may_be_sent_elsewhere() {
    for round in 0..40 {
        let (server, _, cell) = server().await;
        let client = client().await;
        let cell = from_afar(&client, &cell).await;
        let calls = callers(&cell, round).await;
        in_time(server.shutdown(true)).await.unwrap();
        for call in calls {
            // The call after CloseConnection finds the port closed; one whose connection was in the queue of the port when
            // that was closed cannot know.
            let end = in_time(call).await.unwrap();
            let end = (end.kind, end.completed);
            let ends = [
                (Kind::Transient, Completed::No),
                (Kind::CommFailure, Completed::Maybe),
            ];
            assert!(ends.contains(&end), "{end:?}");
        }
        in_time(client.shutdown(true)).await.unwrap();
    }
}

async fn many_may_shut_an_orb_down_at_the_same_time() {
    let (server, servant, cell) = server().await;
    let client = client().await;
    let cell = from_afar(&client, &cell).await;
    let waiting = spawn(async move { cell.wait(5).await });
    in_time(servant.entered.notified()).await;
    let ends: Vec<_> = (0..20)
        .map(|n| {
            let server = server.clone();
            spawn(async move { server.shutdown(n % 2 == 0).await })
        })
        .collect();
    in_time(server.shutdown(false)).await.unwrap();
    servant.gate.add_permits(1);
    for end in ends {
        in_time(end).await.unwrap().unwrap();
    }
    assert_eq!(in_time(waiting).await.unwrap(), Ok(5), "its reply was sent");
    in_time(server.shutdown(true)).await.unwrap();
    in_time(server.run()).await;
}

/// A socket in place of a server, and a reference to it.
async fn bare_server(orb: &Orb) -> (TcpListener, CellRef) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = "127.0.0.1".to_owned();
    let profile = IiopProfile {
        version: Version::V1_2,
        address: IiopAddress { host, port },
        object_key: zorb::Bytes::from_static(b"key"),
        components: Vec::new(),
    };
    let object = orb.object(Ior {
        type_id: CellRef::REPOSITORY_ID.to_owned(),
        profiles: vec![profile.to_tagged().unwrap()],
    });
    (listener, object.unchecked_narrow())
}

/// The kinds of the messages that come, `most` at most, or up to the end of the stream.
async fn kinds(stream: &mut TcpStream, reader: &mut Reader, most: usize) -> Vec<MessageKind> {
    let mut kinds = Vec::new();
    loop {
        while let Some(message) = reader.next().unwrap() {
            kinds.push(message.header.kind);
            if kinds.len() == most {
                return kinds;
            }
        }
        reader.reserve().unwrap();
        if in_time(stream.read_buf(reader.buffer())).await.unwrap() == 0 {
            return kinds;
        }
    }
}

async fn our_own_calls_that_wait_fail_and_the_servers_are_informed() {
    let client = client().await;
    let (listener, cell) = bare_server(&client).await;
    let calls: Vec<_> = (0..5)
        .map(|n| {
            let cell = cell.clone();
            spawn(async move { cell.wait(n).await })
        })
        .collect();
    let (mut stream, _) = in_time(listener.accept()).await.unwrap();
    let mut reader = Reader::new(Limits::default());
    let heard = kinds(&mut stream, &mut reader, 5).await;
    assert_eq!(heard, [MessageKind::Request; 5]);
    let serving = spawn(async move { kinds(&mut stream, &mut reader, 9).await });
    in_time(client.shutdown(true)).await.unwrap();
    // All of it has been said when the shutdown is over: its subscriber is not waited for.
    assert_eq!(
        in_time(serving).await.unwrap(),
        [MessageKind::CloseConnection]
    );
    for call in calls {
        assert_eq!(seen(in_time(call).await.unwrap()), SHUT_DOWN_MAYBE);
    }
    assert_eq!(seen(in_time(cell.add(1, 2)).await), SHUT_DOWN_NO);
}

async fn calls_that_race_with_the_shutdown_end_and_open_no_connection() {
    let (server, _, cell) = server().await;
    for round in 0..30 {
        let client = client().await;
        let cell = from_afar(&client, &cell).await;
        let calls = callers(&cell, round).await;
        in_time(client.shutdown(true)).await.unwrap();
        for call in calls {
            let e = in_time(call).await.unwrap();
            assert_eq!((e.kind, e.minor), (Kind::BadInvOrder, minor::ORB_SHUT_DOWN));
        }
    }
    in_time(async {
        while server.connections_served() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    in_time(server.shutdown(true)).await.unwrap();
}

async fn a_call_that_connects_while_the_orb_shuts_down_does_not_hold_it_up() {
    // The queue is full, and no connection is accepted: no attempt gets an answer.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let queued: Vec<_> = (0..6).map(|_| spawn(TcpStream::connect(address))).collect();
    in_time(async {
        while queued
            .iter()
            .filter(|attempt| attempt.is_finished())
            .count()
            < 2
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let client = Orb::builder()
        .connect_timeout(std::time::Duration::from_secs(3600))
        .build()
        .await
        .unwrap();
    let url = format!("corbaloc:iiop:1.2@{address}/key");
    let object = client.string_to_object(&url).await.unwrap();
    let cell: CellRef = object.unchecked_narrow();
    let call = spawn(async move { cell.add(1, 2).await });
    tokio::task::yield_now().await;
    in_time(client.shutdown(true)).await.unwrap();
    assert_eq!(seen(in_time(call).await.unwrap()), SHUT_DOWN_NO);
    queued.iter().for_each(JoinHandle::abort);
}

async fn a_servant_ends_its_orb_and_its_own_reply_still_comes() {
    let (server, servant, cell) = server().await;
    let client = client().await;
    let cell = from_afar(&client, &cell).await;
    let other = {
        let cell = cell.clone();
        spawn(async move { cell.wait(3).await })
    };
    in_time(servant.entered.notified()).await;
    let refused = seen(in_time(cell.end(true)).await);
    assert_eq!(
        (refused.0, refused.1),
        (Kind::BadInvOrder, minor::WOULD_DEADLOCK)
    );
    assert_eq!(in_time(cell.add(1, 2)).await, Ok(3), "nothing has ended");
    assert_eq!(in_time(cell.end(false)).await, Ok(()));
    servant.gate.add_permits(1);
    assert_eq!(in_time(other).await.unwrap(), Ok(3));
    in_time(server.run()).await;
    in_time(client.shutdown(true)).await.unwrap();
}

async fn a_local_call_in_progress_is_finished_before_the_orb_is_down() {
    let (server, servant, cell) = server().await;
    let waiting = {
        let cell = cell.clone();
        spawn(async move { cell.wait(3).await })
    };
    in_time(servant.entered.notified()).await;
    in_time(server.shutdown(false)).await.unwrap();
    servant.gate.add_permits(1);
    assert_eq!(in_time(waiting).await.unwrap(), Ok(3));
    in_time(server.run()).await;
    assert_eq!(seen(in_time(cell.add(1, 2)).await), SHUT_DOWN_NO);
}

async fn an_orb_that_is_dropped_closes_its_connections_and_its_port() {
    let client = client().await;
    let (listener, cell) = bare_server(&client).await;
    let call = spawn({
        let cell = cell.clone();
        async move { drop(cell.note(1).await) }
    });
    let (mut stream, _) = in_time(listener.accept()).await.unwrap();
    in_time(call).await.unwrap();
    // References are as good as the ORB.
    drop(client);
    let second = spawn({
        let cell = cell.clone();
        async move { drop(cell.note(2).await) }
    });
    in_time(second).await.unwrap();
    drop(cell);
    let expected = [
        MessageKind::Request,
        MessageKind::Request,
        MessageKind::CloseConnection,
    ];
    let mut reader = Reader::new(Limits::default());
    assert_eq!(kinds(&mut stream, &mut reader, 9).await, expected);

    let server = listening(|| Orb::builder().listen(anywhere())).await;
    let endpoint = server.endpoints()[0].to_string();
    drop(server);
    let again = in_time(listening(|| Orb::builder().listen(&endpoint))).await;
    assert_eq!(again.endpoints()[0].to_string(), endpoint);
}

#[test]
fn a_runtime_that_is_gone_before_its_orb_fails_calls_and_hangs_no_task() {
    let serving = tokio::runtime::Runtime::new().unwrap();
    let (server, servant, cell) = serving.block_on(server());
    let calling = tokio::runtime::Runtime::new().unwrap();
    let (client, far) = calling.block_on(async {
        let client = client().await;
        let far = from_afar(&client, &cell).await;
        assert_eq!(in_time(far.add(1, 2)).await, Ok(3));
        (client, far)
    });
    drop(calling);
    // From another runtime: the connection was the other one's, a new one is made.
    let other = tokio::runtime::Runtime::new().unwrap();
    other.block_on(async {
        assert_eq!(in_time(far.add(3, 4)).await, Ok(7));
        let patient = far.with_round_trip_timeout(std::time::Duration::from_secs(3600));
        assert_eq!(in_time(patient.add(4, 4)).await, Ok(8));
    });
    // From none: no reader of the answer is left.
    let patient = far.with_round_trip_timeout(std::time::Duration::from_secs(3600));
    for cell in [&far, &patient] {
        let mut call = std::pin::pin!(cell.add(5, 6));
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(outcome) = call.as_mut().poll(&mut cx) else {
            panic!("it would never be woken");
        };
        let e = outcome.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completed::No));
        assert!(format!("{e:#}").contains("runtime"), "{e:#}");
    }
    // And the server's: its upcall is dropped where it stands.
    let waiting = other.spawn({
        let far = far.clone();
        async move { far.wait(1).await }
    });
    other.block_on(in_time(servant.entered.notified()));
    drop(serving);
    let lost = other.block_on(in_time(waiting)).unwrap();
    let (kind, _, completed) = seen(lost);
    assert_eq!((kind, completed), (Kind::CommFailure, Completed::Maybe));
    assert_eq!(servant.left.load(Ordering::Relaxed), 0);
    // A local call of an ORB without a runtime.
    other.block_on(async {
        assert_eq!(in_time(cell.add(1, 1)).await, Ok(2), "ready at once");
        let (kind, _, completed) = seen(in_time(cell.wait(1)).await);
        assert_eq!((kind, completed), (Kind::CommFailure, Completed::Maybe));
    });
    // No task is left to carry out the shutdown, so it is over as soon as it begins: for tasks that wait, earlier ones
    // among them, and for callers.
    let before = other.spawn({
        let server = server.clone();
        async move { server.run().await }
    });
    other.block_on(async {
        for orb in [&server, &client] {
            in_time(orb.shutdown(true)).await.unwrap();
            in_time(orb.run()).await;
            in_time(orb.shutdown(true)).await.unwrap();
        }
        in_time(before).await.unwrap();
        assert_eq!(seen(in_time(cell.add(1, 1)).await), SHUT_DOWN_NO);
        assert_eq!(seen(in_time(far.add(1, 1)).await), SHUT_DOWN_NO);
    });
    assert_eq!(Arc::strong_count(&servant), 1, "the adapters let go of it");
}

#[test]
fn a_shutdown_whose_runtime_goes_while_it_waits_is_over() {
    let serving = tokio::runtime::Runtime::new().unwrap();
    let (server, servant, cell) = serving.block_on(server());
    let other = tokio::runtime::Runtime::new().unwrap();
    let far = other.block_on(async {
        let client = client().await;
        from_afar(&client, &cell).await
    });
    let waiting = other.spawn(async move { far.wait(1).await });
    other.block_on(in_time(servant.entered.notified()));
    let down = other.spawn({
        let server = server.clone();
        async move { server.shutdown(true).await }
    });
    // It waits for the upcall.
    other.block_on(async {
        while in_time(cell.add(1, 1)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    });
    drop(serving);
    other.block_on(async {
        in_time(down).await.unwrap().unwrap();
        in_time(server.run()).await;
        assert_eq!(seen(in_time(waiting).await.unwrap()).0, Kind::CommFailure);
    });
}

#[tokio::test]
async fn a_port_is_free_again_when_the_shutdown_is_over() {
    let (first, _, _) = server().await;
    let mut endpoint = first.endpoints()[0].to_string();
    in_time(first.shutdown(true)).await.unwrap();
    for _ in 0..5 {
        let next = Orb::builder().listen(&endpoint).build().await.unwrap();
        let (next, _, cell) = one_cell(next);
        let client = client().await;
        let cell = from_afar(&client, &cell).await;
        assert_eq!(in_time(cell.add(1, 1)).await, Ok(2));
        in_time(next.shutdown(true)).await.unwrap();
        endpoint = next.endpoints()[0].to_string();
    }
}

#[tokio::test]
async fn an_orb_runs_until_a_signal_and_is_down_afterwards() {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let (signal, signalled) = tokio::sync::oneshot::channel::<u8>();
    let running = tokio::spawn({
        let orb = orb.clone();
        async move { orb.run_until(signalled).await }
    });
    tokio::task::yield_now().await;
    assert!(!running.is_finished());
    signal.send(7).unwrap();
    assert_eq!(running.await.unwrap().unwrap(), Some(Ok(7)));
    assert!(
        TcpListener::bind(orb.endpoints()[0].to_string().replace("iiop://", ""))
            .await
            .is_ok()
    );
    // Shut down by another, it does not wait for the signal.
    let (_signal, signalled) = tokio::sync::oneshot::channel::<u8>();
    assert_eq!(orb.run_until(signalled).await.unwrap(), None);
}
