//! Requests, their replies, and how connections end.

use super::super::Serving;
use crate::Acceptor;
use crate::CallError;
use crate::Counter;
use crate::fairness::Evicted;
use crate::mock::{Acts, Mock};
use crate::server::ServerLimits;
use crate::testing::*;
use bytes::{Bytes, BytesMut};
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::io;
use std::sync::Arc;
use zorb_cdr::NativeEndian;
use zorb_giop::codeset::{CodeSetComponent, CodeSetId, CodeSetInfo, CodeSets};
use zorb_giop::{
    Message, MessageKind, ReplyHeader, ReplyStatus, ResponseFlags, ServiceContext,
    ServiceContextId, SystemException, SystemExceptionKind, Version, empty_message,
};
use zorb_transport::{Connection, Registry};

/// The exception of a reply.
fn exception(message: &Message) -> SystemException {
    let (_, status, body) = ReplyHeader::head(message).unwrap();
    assert_eq!(status, ReplyStatus::SystemException);
    let format = zorb_cdr::WireFormat::default();
    let mut d = zorb_cdr::Decoder::<NativeEndian>::at(&message.frame, body, format).unwrap();
    zorb_giop::read_system_exception(&mut d).unwrap()
}

#[tokio::test]
async fn requests_received_together_are_answered_by_one_write() {
    let owner = TestOwner::new();
    let (ours, theirs) = pair();
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let connection = owner.connection_over(Box::new(ours.clone()), &serving);
    let driver = tokio::spawn(connection.drive(&serving));
    let mut peer = Peer::new(theirs);
    let together: Vec<_> = (0..5).map(|id| request(id, "echo", &[id as u8])).collect();
    peer.send(&together.concat());
    for id in 0..5 {
        assert_eq!(peer.reply().await, (id, vec![id as u8]));
    }
    assert_eq!(ours.writes(), 1);
    assert!(!driver.is_finished());
}

#[tokio::test]
async fn more_requests_than_one_turn_handles_are_all_answered() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let many: Vec<_> = (0..1000).map(|id| request(id, "echo", b"")).collect();
    peer.send(&many.concat());
    for id in 0..1000 {
        assert_eq!(peer.reply().await.0, id);
    }
}

#[tokio::test]
async fn requests_of_the_last_read_of_a_turn_are_served_in_that_turn() {
    /// Has a request at every read.
    #[derive(Debug)]
    struct Endless(Arc<AtomicU32>);

    impl Acts for Endless {
        fn read_into(&self, buffer: &mut BytesMut) -> io::Result<usize> {
            let id = self.0.fetch_add(1, Ordering::Relaxed);
            let message = request_with(id, "log", b"", ResponseFlags::None, &[]);
            buffer.extend_from_slice(&message);
            Ok(message.len())
        }
    }

    let owner = TestOwner::new();
    let served = owner.served();
    let reads = Arc::<AtomicU32>::default();
    let stream = Mock::new(Endless(Arc::clone(&reads)));
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let driver = tokio::spawn((owner.connection_over(Box::new(stream), &serving)).drive(&serving));
    let mut count = 0;
    for _ in 0..3 {
        tokio::task::yield_now().await;
        count += served.try_iter().count();
        let reads = reads.load(Ordering::Relaxed);
        // A request that waits for the next turn is moved to memory of its own, so that the receive buffer is free.
        assert_eq!(count, reads as usize);
    }
    assert!(count > 0);
    driver.abort();
}

#[tokio::test]
async fn of_a_client_that_takes_no_reply_only_one_way_requests_are_served() {
    let owner = TestOwner::new();
    let served = owner.served();
    let (_connection, peer, _driver) = owner.serve_peer();
    peer.stream.refuse();
    peer.send(&request(1, "echo", b"first"));
    let_all_run().await;
    let one_way = request_with(2, "log", b"", ResponseFlags::None, &[]);
    let others = [one_way, request(3, "echo", b"third")];
    peer.send(&others.concat());
    let_all_run().await;
    let operations: Vec<_> = served.try_iter().map(|(name, _)| name).collect();
    assert_eq!(operations, ["echo", "log"]);
    let counters = &owner.settings.counters;
    assert_eq!(counters.get(Counter::RequestsUnanswerable), 1);
}

#[tokio::test]
async fn a_connection_that_was_given_up_serves_no_more() {
    let owner = TestOwner::new();
    let served = owner.served();
    let (connection, peer, driver) = owner.serve_peer();
    let one_way = request_with(1, "log", b"", ResponseFlags::None, &[]);
    peer.send(&[one_way, request(2, "echo", b"")].concat());
    connection.link.outbound.give_up(Evicted::Memory);
    driver.await.unwrap();
    assert_eq!(served.try_iter().count(), 0);
}

#[tokio::test]
async fn a_request_in_fragments_is_served_when_its_last_one_has_come() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let arguments: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let pieces = fragments(&request(1, "echo", &arguments), 128);
    let (last, first) = pieces.split_last().unwrap();
    for piece in first {
        peer.send(piece);
        let_all_run().await;
    }
    // A message in one piece may come between.
    peer.send(&request(2, "echo", b"between"));
    assert_eq!(peer.reply().await, (2, b"between".to_vec()));
    peer.send(last);
    assert_eq!(peer.reply().await, (1, arguments));
}

#[tokio::test]
async fn a_request_without_a_reply_gets_none() {
    let owner = TestOwner::new();
    let served = owner.served();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    peer.send(&request_with(
        1,
        "log",
        b"arguments",
        ResponseFlags::None,
        &[],
    ));
    peer.send(&request(2, "echo", b""));
    assert_eq!(peer.reply().await.0, 2);
    assert_eq!(served.recv(), Ok(("log".to_owned(), b"arguments".to_vec())));
}

#[tokio::test]
async fn a_client_that_needs_fragments_gets_them() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let format = ServiceContext {
        id: ServiceContextId::RMI_CUSTOM_MAX_STREAM_FORMAT,
        data: Bytes::from_static(&[0, 2]),
    };
    let long = vec![7; 100 << 10];
    for (id, contexts) in [(1, &[][..]), (2, &[format])] {
        let request = request_with(id, "echo", &long, ResponseFlags::WithTarget, contexts);
        peer.fragments = 0;
        peer.send(&request);
        assert_eq!(peer.reply().await, (id, long.clone()));
        assert_eq!(peer.fragments > 1, id == 2);
    }
}

#[tokio::test]
async fn a_request_beyond_the_limit_is_refused_and_the_next_one_served() {
    let owner = TestOwner::with(|settings| settings.limits.max_message_octets = 4 << 10);
    let (_connection, mut peer, _driver) = owner.serve_peer();
    for id in [1, 3] {
        peer.send(&request(id, "echo", &[7; 5000]));
        let refused = exception(&peer.receive().await.unwrap());
        assert_eq!(refused.kind, SystemExceptionKind::ImpLimit);
        peer.send(&request(id + 1, "echo", b"short"));
        assert_eq!(peer.reply().await, (id + 1, b"short".to_vec()));
    }
}

#[tokio::test]
async fn messages_that_a_client_may_not_send_are_answered_by_message_error() {
    for octets in [
        reply(1, b"reply"),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        // A fragment without a message before it.
        fragments(&request(1, "echo", &[7; 1000]), 128).remove(1),
    ] {
        let owner = TestOwner::new();
        let (_connection, mut peer, driver) = owner.serve_peer();
        peer.send(&octets);
        assert_eq!(peer.kind().await, Some(MessageKind::MessageError));
        assert_eq!(peer.kind().await, None);
        peer.stream.close();
        in_time(driver).await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_closes_ends_its_connection_and_gets_no_answer() {
    for kind in [
        Some(MessageKind::CloseConnection),
        Some(MessageKind::MessageError),
        None,
    ] {
        let owner = TestOwner::new();
        let (_connection, mut peer, driver) = owner.serve_peer();
        match kind {
            Some(kind) => peer.send(&empty_message(kind, Version::V1_2)),
            None => peer.stream.shutdown_write().unwrap(),
        }
        in_time(driver).await.unwrap();
        assert_eq!(peer.kind().await, None);
    }
}

#[tokio::test]
async fn a_stopping_owner_answers_what_is_pending_reads_no_more_and_closes_in_order() {
    let owner = TestOwner::new();
    let served = owner.served();
    let (ours, theirs) = pair();
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let connection = owner.connection_over(Box::new(ours), &serving);
    let driver = tokio::spawn(connection.drive(&serving));
    let mut peer = Peer::new(theirs);
    peer.send(&request(1, "hold", b"held"));
    let_all_run().await;
    assert_eq!(serving.len(), 1);
    owner.stop();
    serving.wake_all();
    let_all_run().await;
    peer.send(&request(2, "echo", b"too late"));
    let_all_run().await;
    assert!(peer.has_nothing() && !driver.is_finished());
    assert!(owner.let_go());
    assert_eq!(peer.reply().await, (1, b"held".to_vec()));
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    assert_eq!(peer.kind().await, None);
    peer.stream.close();
    in_time(driver).await.unwrap();
    assert_eq!(served.try_iter().count(), 1);
    assert!(serving.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_in_order_unless_a_request_is_pending() {
    const IDLE: Duration = Duration::from_secs(1);
    let owner = TestOwner::with(|settings| settings.idle_timeout = Some(IDLE));
    let (_connection, mut peer, driver) = owner.serve_peer();
    peer.send(&request(1, "hold", b"held"));
    tokio::time::sleep(10 * IDLE).await;
    assert!(peer.has_nothing() && !driver.is_finished());
    assert!(owner.let_go());
    assert_eq!(peer.reply().await, (1, b"held".to_vec()));
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    assert_eq!(peer.kind().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_ends_though_the_owner_stops_with_replies_unread() {
    let owner = TestOwner::new();
    let (ours, theirs) = pair();
    ours.set_room(100);
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let connection = owner.connection_over(Box::new(ours), &serving);
    let driver = tokio::spawn(connection.drive(&serving));
    let peer = Peer::new(theirs);
    peer.send(&request(1, "echo", &[7; 1000]));
    let_all_run().await;
    owner.stop();
    serving.wake_all();
    in_time(driver).await.unwrap();
}

fn chosen(char_set: CodeSetId) -> ServiceContext {
    let component = |native| CodeSetComponent {
        native: Some(native),
        conversion: Vec::new(),
    };
    let info = CodeSetInfo {
        char_data: component(char_set),
        wchar_data: component(CodeSetId::UTF16),
    };
    CodeSets::negotiate(Some(&info), None).to_context().unwrap()
}

#[tokio::test]
async fn code_sets_are_settled_by_the_first_context_and_may_not_change() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let (latin1, utf8) = (chosen(CodeSetId::LATIN1), chosen(CodeSetId::UTF8));
    assert_ne!(latin1.data, utf8.data);
    let send = |id, context: Option<&ServiceContext>| {
        let contexts = context.cloned();
        request_with(
            id,
            "echo",
            b"",
            ResponseFlags::WithTarget,
            contexts.as_slice(),
        )
    };
    for (id, context) in [(1, None), (2, Some(&latin1)), (3, Some(&latin1)), (4, None)] {
        peer.send(&send(id, context));
        assert_eq!(peer.reply().await.0, id);
    }
    peer.send(&send(5, Some(&utf8)));
    let changed = exception(&peer.receive().await.unwrap());
    assert_eq!(changed.kind, SystemExceptionKind::Marshal);
    peer.send(&send(6, Some(&latin1)));
    assert_eq!(peer.reply().await.0, 6);
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_and_the_others_served() {
    let directory = std::env::temp_dir().join(format!("zorb-acceptor-{}", std::process::id()));
    let endpoint = zorb_transport::Endpoint::uiop(&directory);
    let transports = Registry::default();
    let listener = transports.listen(&endpoint).await.unwrap();
    let acceptor = Acceptor::new(listener);
    let owner = TestOwner::new();
    let serving = Arc::new(Serving::new(ServerLimits::new(1)));
    let stop = tokio_util::sync::CancellationToken::new();
    let accepting = tokio::spawn({
        let (weak, serving, stop) = (Arc::downgrade(&owner), Arc::clone(&serving), stop.clone());
        async move { acceptor.run(weak, serving, stop).await }
    });
    let client = || async {
        let stream = transports.connect(&endpoint).await.unwrap();
        let settings = connect_settings();
        let client = crate::ClientConnection::new(stream, endpoint.clone(), false, &settings);
        let client = Arc::new(client);
        tokio::spawn(Arc::clone(&client).drive(None, None));
        client
    };
    let first = client().await;
    let echo = TestCall::new("echo", b"first");
    assert_eq!(in_time(echo.on(&first)).await.unwrap(), b"first");
    let second = client().await;
    let refused = in_time(TestCall::new("echo", b"").on(&second)).await;
    // The client reads CloseConnection: it may send the request elsewhere.
    assert!(matches!(refused, Err(CallError::NotSent(_))), "{refused:?}");
    assert_eq!(in_time(echo.on(&first)).await.unwrap(), b"first");
    first.shut_down();
    owner.ended().await;
    assert!(serving.is_empty());
    stop.cancel();
    in_time(accepting).await.unwrap();
}
