//! The end of a connection, and the errors of the calls that wait.

use super::super::{CallError, ClientConnection};
use crate::testing::*;
use core::time::Duration;
use std::sync::Arc;
use tokio::runtime::Runtime;
use zorb_giop::{
    CompletionStatus, Fault, MessageKind, SystemExceptionKind, Version, empty_message,
};
use zorb_transport::Connection;

/// Calls that wait when a connection ends, and a peer that has their requests.
async fn waiting() -> (
    Arc<ClientConnection>,
    Peer,
    Vec<tokio::task::JoinHandle<Result<Vec<u8>, CallError>>>,
) {
    let (client, mut peer) = client_and_peer();
    let calls = (0..3).map(|_| spawn_call(&client, "wait", b"")).collect();
    for _ in 0..3 {
        peer.request().await;
    }
    (client, peer, calls)
}

/// The errors of calls that wait when the peer does something.
async fn errors(ends: impl FnOnce(&Peer)) -> Vec<CallError> {
    let (client, peer, calls) = waiting().await;
    ends(&peer);
    let mut errors = Vec::new();
    for call in calls {
        errors.push(in_time(call).await.unwrap().unwrap_err());
    }
    assert!(client.is_over());
    let later = in_time(TestCall::new("later", b"").on(&client)).await;
    assert!(
        matches!(later, Err(CallError::NotSent(_))),
        "a later call is not sent"
    );
    errors
}

fn empty(kind: MessageKind) -> bytes::Bytes {
    empty_message(kind, Version::V1_2)
}

#[tokio::test]
async fn close_connection_means_that_no_waiting_request_was_processed() {
    for error in errors(|peer| peer.send(&empty(MessageKind::CloseConnection))).await {
        assert!(matches!(
            &error,
            CallError::NotSent(Fault::ConnectionClosed { .. })
        ));
        assert_eq!(error.raise().completed, CompletionStatus::No);
    }
}

#[tokio::test]
async fn the_end_of_the_stream_leaves_open_whether_requests_were_processed() {
    for error in errors(|peer| peer.stream.close()).await {
        assert!(matches!(
            &error,
            CallError::Lost(Fault::ConnectionLost { .. })
        ));
        let exception = error.raise();
        assert_eq!(exception.kind, SystemExceptionKind::CommFailure);
        assert_eq!(exception.completed, CompletionStatus::Maybe);
    }
}

#[tokio::test]
async fn message_error_leaves_open_whether_requests_were_processed() {
    for error in errors(|peer| peer.send(&empty(MessageKind::MessageError))).await {
        assert!(matches!(
            &error,
            CallError::Lost(Fault::ConnectionLost { .. })
        ));
        assert_eq!(error.raise().completed, CompletionStatus::Maybe);
    }
}

#[tokio::test]
async fn octets_that_are_no_message_end_the_connection_with_message_error() {
    for octets in [
        &b"HTTP/1.1 400 Bad Request"[..],
        &request(1, "call back", b""),
    ] {
        let (client, mut peer, calls) = waiting().await;
        peer.send(octets);
        for call in calls {
            let error = in_time(call).await.unwrap().unwrap_err();
            assert!(matches!(&error, CallError::Lost(Fault::Protocol { .. })));
            assert_eq!(error.raise().completed, CompletionStatus::Maybe);
        }
        assert_eq!(peer.kind().await, Some(MessageKind::MessageError));
        assert_eq!(peer.kind().await, None);
        assert!(client.is_over());
    }
}

#[tokio::test]
async fn a_request_that_the_socket_has_not_taken_whole_is_not_sent() {
    let (ours, theirs) = pair();
    ours.set_room(20);
    let client = client_with(ours, &connect_settings());
    let call = spawn_call(&client, "wait", b"");
    let_all_run().await;
    assert!(!call.is_finished());
    theirs.break_off();
    let error = in_time(call).await.unwrap().unwrap_err();
    assert!(matches!(
        &error,
        CallError::NotSent(Fault::ConnectionLost { .. })
    ));
    assert_eq!(error.raise().completed, CompletionStatus::No);
}

#[tokio::test]
async fn a_reply_that_came_before_the_end_reaches_its_caller() {
    let (client, mut peer) = client_and_peer();
    let answered = spawn_call(&client, "answered", b"");
    let (id, ..) = peer.request().await;
    let waiting = spawn_call(&client, "waiting", b"");
    peer.request().await;
    let end = empty(MessageKind::CloseConnection);
    peer.send(&[&*reply(id, b"reply"), &end].concat());
    peer.stream.close();
    assert_eq!(in_time(answered).await.unwrap().unwrap(), b"reply");
    let error = in_time(waiting).await.unwrap().unwrap_err();
    assert!(matches!(
        error,
        CallError::NotSent(Fault::ConnectionClosed { .. })
    ));
}

#[tokio::test]
async fn a_reply_that_comes_after_a_write_has_failed_reaches_its_caller() {
    let (client, mut peer) = client_and_peer();
    let call = spawn_call(&client, "wait", b"");
    let (id, ..) = peer.request().await;
    peer.stream.refuse();
    let failed = in_time(TestCall::new("failed", b"").on(&client)).await;
    assert!(matches!(
        failed,
        Err(CallError::NotSent(Fault::ConnectionLost { .. }))
    ));
    assert!(client.is_over(), "a later caller needs another connection");
    assert!(!call.is_finished());
    peer.send(&reply(id, b"reply"));
    assert_eq!(in_time(call).await.unwrap().unwrap(), b"reply");
}

#[tokio::test(start_paused = true)]
async fn a_connection_whose_writes_fail_ends_though_its_peer_is_silent() {
    let (client, mut peer) = client_and_peer();
    let call = spawn_call(&client, "wait", b"");
    peer.request().await;
    peer.stream.refuse();
    let failed = in_time(TestCall::new("failed", b"").on(&client)).await;
    assert!(failed.is_err());
    let error = in_time(call).await.unwrap().unwrap_err();
    assert!(matches!(
        error,
        CallError::Lost(Fault::ConnectionLost { .. })
    ));
    assert_eq!(peer.kind().await, None);
}

#[tokio::test]
async fn a_shutdown_sends_close_connection_behind_the_requests() {
    let (ours, theirs) = pair();
    // The request is still queued.
    ours.set_room(0);
    let client = client_with(ours.clone(), &connect_settings());
    let call = spawn_call(&client, "wait", b"");
    let_all_run().await;
    client.shut_down();
    let error = in_time(call).await.unwrap().unwrap_err();
    assert!(matches!(&error, CallError::Lost(Fault::OrbShutDown)));
    assert_eq!(error.raise().completed, CompletionStatus::Maybe);
    let later = in_time(TestCall::new("later", b"").on(&client)).await;
    assert!(matches!(later, Err(CallError::NotSent(Fault::OrbShutDown))));
    ours.set_room(usize::MAX);
    let mut peer = Peer::new(theirs);
    assert_eq!(peer.request().await.1, "wait");
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    assert_eq!(peer.kind().await, None);
}

#[tokio::test]
async fn a_client_that_spoke_no_giop_1_2_sends_no_close_connection() {
    for version in [Version::V1_0, Version::V1_1] {
        let (client, mut peer) = client_and_peer();
        let call = tokio::spawn({
            let client = Arc::clone(&client);
            let old = TestCall {
                version,
                ..TestCall::new("old", b"")
            };
            async move { old.on(&client).await }
        });
        assert_eq!(peer.request().await.1, "old");
        client.shut_down();
        assert_eq!(peer.kind().await, None);
        assert!(in_time(call).await.unwrap().is_err());
    }
}

const IDLE: Duration = Duration::from_secs(1);

fn client_with_idle_timeout() -> (Arc<ClientConnection>, Peer) {
    let (ours, theirs) = pair();
    let mut settings = connect_settings();
    settings.connection.idle_timeout = Some(IDLE);
    (client_with(ours, &settings), Peer::new(theirs))
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_in_order() {
    let (client, mut peer) = client_with_idle_timeout();
    let call = spawn_call(&client, "echo", b"");
    let (id, ..) = peer.request().await;
    peer.send(&reply(id, b""));
    in_time(call).await.unwrap().unwrap();
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    assert!(client.is_over());
    let later = in_time(TestCall::new("later", b"").on(&client)).await;
    assert!(matches!(
        later,
        Err(CallError::NotSent(Fault::ConnectionClosed { .. }))
    ));
    let batched = TestCall::new("later", b"").one_way(&client, true);
    let batched = in_time(batched).await;
    assert!(matches!(
        batched,
        Err(CallError::NotSent(Fault::ConnectionClosed { .. }))
    ));
    assert_eq!(peer.kind().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_call_in_flight_is_not_idle() {
    let (client, mut peer) = client_with_idle_timeout();
    let call = spawn_call(&client, "slow", b"");
    let (id, ..) = peer.request().await;
    tokio::time::sleep(10 * IDLE).await;
    assert!(peer.has_nothing() && !client.is_over());
    peer.send(&reply(id, b"late"));
    assert_eq!(in_time(call).await.unwrap().unwrap(), b"late");
}

/// A caller waits by blocking on a connection of a runtime, which shuts down.
#[track_caller]
fn a_caller_learns_that_the_runtime_has_shut_down(runtime: Runtime) {
    let (client, mut peer) = {
        let _runtime = runtime.enter();
        client_and_peer()
    };
    let (done, result) = std::sync::mpsc::channel();
    let blocked = Arc::clone(&client);
    std::thread::spawn(move || {
        let call = TestCall::new("wait", b"").on(&blocked);
        done.send(crate::blocking::block_on(call)).unwrap();
    });
    peer.request_blocking();
    drop(runtime);
    let error = result.recv_timeout(PATIENCE).unwrap().unwrap_err();
    assert!(matches!(
        error,
        CallError::Lost(Fault::ConnectionLost { .. })
    ));
    assert!(client.is_over());
}

#[test]
fn callers_learn_that_the_runtime_has_shut_down_before_it_polled_the_driver() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    a_caller_learns_that_the_runtime_has_shut_down(runtime.enable_all().build().unwrap());
}

#[test]
fn callers_learn_that_the_runtime_of_their_connection_has_shut_down() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all();
    a_caller_learns_that_the_runtime_has_shut_down(runtime.build().unwrap());
}
