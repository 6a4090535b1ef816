//! Connections whose peers have fallen silent.

use super::super::silence::{ANSWER_WITHIN, timing_out};
use super::super::{CallError, ClientConnection};
use crate::ConnectSettings;
use crate::testing::*;
use core::future::{Future, poll_fn};
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;
use zorb_giop::{LocateReply, LocateRequestHeader, MessageKind, Version, empty_message};
use zorb_transport::Connection;

/// Sends a request whose time passes before anything comes. The peer receives it.
async fn time_out(client: &ClientConnection, peer: &mut Peer) {
    let call = sent(client, peer).await;
    timing_out(|| drop(call));
}

async fn sent<'a>(client: &'a ClientConnection, peer: &mut Peer) -> impl Future + use<'a> {
    let mut call = Box::pin(TestCall::new("wait", b"").on(client));
    poll_fn(|cx| {
        assert!(call.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
    peer.request().await;
    call
}

/// The id of the LocateRequest by which the peer is asked whether it is there.
async fn asked(peer: &mut Peer) -> u32 {
    loop {
        let message = peer.receive().await.expect("a LocateRequest comes");
        if message.header.kind == MessageKind::LocateRequest {
            let header = LocateRequestHeader::read(&message).unwrap();
            return header.request_id;
        }
    }
}

fn with_memory() -> (ConnectSettings, Arc<ClientConnection>, Peer) {
    let settings = connect_settings();
    let (ours, theirs) = pair();
    (
        settings.clone(),
        client_with(ours, &settings),
        Peer::new(theirs),
    )
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_answers_is_used_again() {
    let (settings, client, mut peer) = with_memory();
    let waiting = spawn_call(&client, "wait", b"");
    let (waits, ..) = peer.request().await;
    time_out(&client, &mut peer).await;
    assert!(!client.is_usable() && !client.is_over());
    assert!(settings.unresponsive.contains(&endpoint()));
    let id = asked(&mut peer).await;
    peer.send(&located(id, &LocateReply::UnknownObject));
    let_all_run().await;
    assert!(client.is_usable());
    assert!(!settings.unresponsive.contains(&endpoint()));
    peer.send(&reply(waits, b"late"));
    assert_eq!(in_time(waiting).await.unwrap().unwrap(), b"late");
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_on_a_silent_connection_are_lost_when_nobody_answers() {
    let (_, client, mut peer) = with_memory();
    let waiting = spawn_call(&client, "wait", b"");
    peer.request().await;
    time_out(&client, &mut peer).await;
    asked(&mut peer).await;
    tokio::time::sleep(ANSWER_WITHIN - Duration::from_secs(1)).await;
    assert!(!client.is_over() && !waiting.is_finished());
    // A part of a reply is no answer, and a sign of life.
    peer.send(&reply(0, b"half")[..20]);
    tokio::time::sleep(ANSWER_WITHIN - Duration::from_secs(1)).await;
    assert!(!client.is_over() && !client.is_usable());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let error = waiting.await.unwrap().unwrap_err();
    assert!(matches!(error, CallError::Lost(_)), "{error:?}");
    let text = format!("{:#}", error.raise());
    assert!(text.contains("not even an answer"), "{text}");
    assert!(client.is_over());
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_has_brought_something_since_is_not_silent() {
    let (_, client, mut peer) = with_memory();
    let other = spawn_call(&client, "wait", b"");
    let (waits, ..) = peer.request().await;
    let call = sent(&client, &mut peer).await;
    peer.send(&reply(waits, b"now"));
    assert_eq!(in_time(other).await.unwrap().unwrap(), b"now");
    timing_out(|| drop(call));
    assert!(client.is_usable());
}

#[tokio::test(start_paused = true)]
async fn the_peer_of_a_call_that_was_dropped_has_a_moment_before_it_is_asked() {
    // Whether it uses it.
    for answers in [false, true] {
        let (_, client, mut peer) = with_memory();
        let other = spawn_call(&client, "wait", b"");
        let (waits, ..) = peer.request().await;
        drop(sent(&client, &mut peer).await);
        assert!(client.is_usable());
        assert_eq!(peer.kind().await, Some(MessageKind::CancelRequest));
        tokio::time::sleep(Duration::from_millis(500)).await;
        if answers {
            peer.send(&reply(waits, b""));
            in_time(other).await.unwrap().unwrap();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(client.is_usable(), answers);
        assert_eq!(peer.has_nothing(), answers, "it is asked if it is silent");
    }
}

#[tokio::test(start_paused = true)]
async fn a_one_way_request_that_nobody_reads_in_time_makes_the_connection_silent() {
    for reads in [false, true] {
        let (ours, theirs) = pair();
        ours.set_room(20);
        let client = client_with(ours, &connect_settings());
        let mut call = Box::pin(TestCall::new("note", &[0; 100]).one_way(&client, false));
        poll_fn(|cx| {
            assert!(call.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        if reads {
            // A part of the request.
            theirs
                .try_read(&mut bytes::BytesMut::with_capacity(20))
                .unwrap();
            let_all_run().await;
        }
        timing_out(|| drop(call));
        assert_eq!(client.is_usable(), reads);
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_another_one_has_replaced_ends_with_its_last_call() {
    for answers in [false, true] {
        let (_, client, mut peer) = with_memory();
        let waiting = spawn_call(&client, "wait", b"");
        let (waits, ..) = peer.request().await;
        time_out(&client, &mut peer).await;
        assert!(client.replace() && !client.replace());
        let id = asked(&mut peer).await;
        if answers {
            peer.send(&located(id, &LocateReply::ObjectHere));
        }
        let_all_run().await;
        assert!(!client.is_usable() && !client.is_over());
        // However long the call takes.
        tokio::time::sleep(ANSWER_WITHIN / 2).await;
        peer.send(&reply(waits, b"late"));
        assert_eq!(in_time(waiting).await.unwrap().unwrap(), b"late");
        while let Some(kind) = peer.kind().await {
            if kind == MessageKind::CloseConnection {
                break;
            }
        }
        assert!(client.is_over());
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_comes_last_whose_connection_ends_without_an_answer() {
    let close = empty_message(MessageKind::CloseConnection, Version::V1_2);
    let ends: [&dyn Fn(&Peer); 4] = [
        &|peer| peer.send(&close),
        &|peer| peer.send(&empty_message(MessageKind::MessageError, Version::V1_2)),
        &|peer| peer.send(b"HTTP/1.1 400 Bad Request"),
        &|peer| peer.stream.close(),
    ];
    for end in ends {
        for has_answered in [false, true] {
            let (settings, client, mut peer) = with_memory();
            if has_answered {
                let call = spawn_call(&client, "echo", b"");
                let (id, ..) = peer.request().await;
                peer.send(&reply(id, b""));
                in_time(call).await.unwrap().unwrap();
            }
            let call = spawn_call(&client, "wait", b"");
            peer.request().await;
            end(&peer);
            in_time(call).await.unwrap().unwrap_err();
            // Known before the caller looks for another endpoint.
            let comes_last = settings.unresponsive.contains(&endpoint());
            assert_eq!(comes_last, !has_answered);
            assert_eq!(client.has_served(), has_answered);
        }
    }
}
