//! Connections on which both ends send requests, over streams in memory.

use super::*;
use crate::cache::ConnectionOrigin;
use crate::client::ClientConnection;
use crate::fairness::MemoryLimit;
use crate::server::{ServerConnection, ServerLimits, Serving};
use crate::testing::*;
use core::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use zorb_transport::{Endpoint, Transport, Unix};

const MIB: usize = 1 << 20;

fn read(stream: &dyn Connection) -> io::Result<usize> {
    stream.try_read(&mut BytesMut::with_capacity(16 << 10))
}

#[tokio::test]
async fn what_waits_for_the_other_half_is_counted_and_bounded_by_the_memory_of_the_orb() {
    let memory = Arc::new(MemoryLimit::new(MIB));
    let (ours, theirs) = pair();
    let peer = Peer::new(theirs);
    let whole = BidirectionalConnection::new(Box::new(ours), true, &PeerMemory::within(&memory));
    let (client, server) = (whole.half(Half::Client), whole.half(Half::Server));
    peer.send(&request(1, "echo", &[7; 100 << 10]));
    assert_eq!(
        read(&*client).unwrap_err().kind(),
        io::ErrorKind::WouldBlock
    );
    assert!(memory.held() >= 100 << 10, "{} octets", memory.held());
    // Reading by the server's half releases the memory.
    while read(&*server).is_ok() {}
    assert_eq!(memory.held(), 0);

    let others = Reserved::of(&PeerMemory::within(&memory));
    others.cover_unchecked(|| MIB - (64 << 10));
    let before = memory.held();
    peer.send(&request(3, "echo", &[7; 100 << 10]));
    assert_eq!(
        read(&*client).unwrap_err().kind(),
        io::ErrorKind::OutOfMemory
    );
    assert!(memory.held() <= MIB);
    drop((client, server, whole));
    assert_eq!(memory.held(), before);
}

#[tokio::test]
async fn both_halves_know_of_the_peer_what_the_stream_knows() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::uiop(folder.path().join("socket"));
    let transport = Unix::default();
    let listener = transport.listen(&endpoint).await.unwrap();
    let stream = transport.connect(&endpoint).await.unwrap();
    let accepted = core::future::poll_fn(|cx| listener.poll_accept(cx)).await;
    let memory = Arc::new(MemoryLimit::new(MIB));
    for (stream, opened_here) in [(stream, true), (accepted.unwrap(), false)] {
        let identity = stream.peer_identity();
        assert!(identity.is_some() && stream.capabilities().reports_peer_identity());
        let (peer, local) = (stream.peer().clone(), stream.local().clone());
        let capabilities = stream.capabilities();
        let memory = PeerMemory::within(&memory);
        let whole = BidirectionalConnection::new(stream, opened_here, &memory);
        for half in [Half::Client, Half::Server] {
            let half = whole.half(half);
            assert_eq!(half.peer_identity(), identity);
            assert_eq!((half.peer(), half.local()), (&peer, &local));
            assert_eq!(half.capabilities(), capabilities);
        }
    }
}

/// Both halves of a connection that was opened here, driven, and its peer.
fn driven(
    owner: &Arc<TestOwner>,
    limit: Duration,
) -> (Arc<ClientConnection>, Peer, [JoinHandle<()>; 2]) {
    let (ours, theirs) = pair();
    let whole = BidirectionalConnection::new(
        Box::new(ours),
        true,
        &PeerMemory::within(&owner.settings.memory),
    );
    let serving = Arc::new(Serving::new(ServerLimits {
        max_upcalls_per_connection: 1,
        ..ServerLimits::new(1)
    }));
    tokio::spawn(Arc::clone(&serving).watch(Arc::downgrade(owner), CancellationToken::new()));
    let served = whole.half(Half::Server);
    let admitted = serving.admit(served.peer(), None).unwrap();
    let server = ServerConnection::new(served, endpoint(), owner, admitted);
    let server = Arc::new(server.with_bidirectional(Arc::clone(&whole)));
    let settings = connect_settings();
    assert!(matches!(settings.origin, ConnectionOrigin::Opened));
    let client = ClientConnection::new(whole.half(Half::Client), endpoint(), false, &settings);
    let client = Arc::new(client.with_bidirectional(Some(whole)));
    let drivers = [
        tokio::spawn(server.drive(&serving)),
        tokio::spawn(Arc::clone(&client).drive(Some(limit), None)),
    ];
    (client, Peer::new(theirs), drivers)
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_idle_when_both_halves_are() {
    let limit = Duration::from_secs(10);
    let owner = TestOwner::with(|settings| settings.idle_timeout = Some(limit));
    let (client, mut peer, drivers) = driven(&owner, limit);
    // First the peer has a call in progress, and later this end.
    peer.send(&request(1, "hold", b"theirs"));
    tokio::time::sleep(10 * limit).await;
    assert!(!client.is_over());
    assert!(owner.let_go());
    assert_eq!(peer.reply().await, (1, b"theirs".to_vec()));
    let call = spawn_call(&client, "ours", b"");
    let (id, ..) = peer.request().await;
    tokio::time::sleep(10 * limit).await;
    assert!(!client.is_over());
    peer.send(&reply(id, b"result"));
    assert_eq!(call.await.unwrap().unwrap(), b"result");
    // The peer sends requests, and this end sends none.
    for id in 0..20 {
        tokio::time::sleep(limit / 2).await;
        peer.send(&request(2 * id + 1, "echo", b""));
        assert_eq!(peer.reply().await.0, 2 * id + 1);
    }
    assert!(!client.is_over());
    tokio::time::sleep(4 * limit).await;
    assert!(client.is_over());
    assert_eq!(
        peer.kind().await,
        Some(zorb_giop::MessageKind::CloseConnection)
    );
    drop(peer);
    for driver in drivers {
        in_time(driver).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_was_opened_here_lasts_although_its_peer_sends_no_request() {
    let owner = TestOwner::new();
    let (client, mut peer, drivers) = driven(&owner, Duration::from_secs(3600));
    let call = spawn_call(&client, "ours", b"");
    let (id, ..) = peer.request().await;
    tokio::time::sleep(Duration::from_secs(180)).await;
    assert!(!client.is_over());
    peer.send(&reply(id, b"result"));
    assert_eq!(call.await.unwrap().unwrap(), b"result");
    drop(peer);
    for driver in drivers {
        in_time(driver).await.unwrap();
    }
}

#[tokio::test]
async fn a_reply_is_read_behind_more_requests_than_may_wait() {
    let owner = TestOwner::new();
    let (client, mut peer, drivers) = driven(&owner, Duration::from_secs(3600));
    let call = spawn_call(&client, "ours", b"");
    let (mine, ..) = peer.request().await;
    // Requests of the peer, whose upcalls do not end.
    const ARGUMENTS: usize = 8 << 10;
    let octets = 2 * (ServerLimits::MAX_WAITING_OCTETS + MAX_WAITING_OCTETS);
    for id in 0..octets / ARGUMENTS {
        let request = request(2 * id as u32 + 1, "hold", &[7; ARGUMENTS]);
        while !peer.fits(&request) {
            let_all_run().await;
        }
    }
    peer.send(&reply(mine, b"result"));
    assert_eq!(in_time(call).await.unwrap().unwrap(), b"result");
    drop(peer);
    while owner.let_go() {}
    for driver in drivers {
        in_time(driver).await.unwrap();
    }
}
