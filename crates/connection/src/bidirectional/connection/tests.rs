//! Connections on which both ends send requests, over streams in memory.

use super::*;
use crate::cache::ConnectSettings;
use crate::counters::Counter;
use crate::fairness::MemoryLimit;
use crate::server::{ServerConnection, ServerLimits, Serving};
use crate::testing::*;
use core::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use zorb_giop::MessageKind;
use zorb_transport::{Connection, Endpoint, Transport, Unix};

const MIB: usize = 1 << 20;

/// Both roles of a connection, and what they share.
struct Roles {
    client: Arc<ClientConnection>,
    server: Arc<ServerConnection<TestOwner>>,
    serving: Arc<Serving<TestOwner>>,
    both: Arc<BidirectionalConnection>,
}

impl Roles {
    fn over(
        stream: Box<dyn Connection>,
        owner: &Arc<TestOwner>,
        settings: &ConnectSettings,
        opened_here: bool,
    ) -> Self {
        let serving = Arc::new(Serving::new(ServerLimits {
            max_upcalls_per_connection: 1,
            ..ServerLimits::new(1)
        }));
        let admitted = serving
            .admit(stream.peer(), stream.peer_identity())
            .unwrap();
        let (server, both) =
            ServerConnection::with_both_roles(stream, endpoint(), owner, admitted, opened_here);
        assert!(opened_here || both.take_client());
        let client = ClientConnection::of_both(&both, endpoint(), false, settings);
        let client = Arc::new(client);
        both.set_client(&client);
        Self {
            client,
            server: Arc::new(server),
            serving,
            both,
        }
    }

    /// Connected to a peer, which the test plays.
    fn opened(owner: &Arc<TestOwner>) -> (Self, Peer) {
        let (ours, theirs) = pair();
        let roles = Self::over(Box::new(ours), owner, &connect_settings(), true);
        (roles, Peer::new(theirs))
    }

    /// Drives both roles.
    fn drive(self, owner: &Arc<TestOwner>, limit: Duration) -> (Driven, Arc<ClientConnection>) {
        let watch =
            Arc::clone(&self.serving).watch(Arc::downgrade(owner), CancellationToken::new());
        tokio::spawn(watch);
        let drivers = [
            tokio::spawn(self.server.drive(&self.serving)),
            tokio::spawn(Arc::clone(&self.client).drive(Some(limit), None)),
        ];
        (Driven(drivers), self.client)
    }
}

/// The drivers of both roles.
struct Driven([JoinHandle<()>; 2]);

impl Driven {
    async fn end(self) {
        for driver in self.0 {
            in_time(driver).await.unwrap();
        }
    }
}

/// Both roles of a connection that was opened here, driven, and its peer.
fn driven(owner: &Arc<TestOwner>, limit: Duration) -> (Arc<ClientConnection>, Peer, Driven) {
    let (roles, peer) = Roles::opened(owner);
    let (drivers, client) = roles.drive(owner, limit);
    (client, peer, drivers)
}

const HOUR: Duration = Duration::from_secs(3600);

/// Has a caller read what has come, by its next call.
async fn read(client: &Arc<ClientConnection>) {
    let call = spawn_call(client, "ours", b"");
    let_all_run().await;
    call.abort();
    let _ = call.await;
}

#[tokio::test]
async fn requests_that_callers_have_read_count_with_the_memory_of_the_orb_until_they_are_served() {
    let memory = Arc::new(MemoryLimit::new(4 * MIB));
    let owner = TestOwner::with(|settings| settings.memory = Arc::clone(&memory));
    let (roles, mut peer) = Roles::opened(&owner);
    let before = memory.held();
    peer.send(&request(1, "echo", &[7; 100 << 10]));
    read(&roles.client).await;
    assert!(!roles.both.is_inbox_empty());
    let waits = memory.held() - before;
    assert!((100 << 10..200 << 10).contains(&waits), "{waits} octets");
    // The driver serves it.
    let (drivers, client) = roles.drive(&owner, HOUR);
    while !matches!(peer.receive().await, Some(reply) if reply.header.kind == MessageKind::Reply) {}
    let_all_run().await;
    assert!(memory.held() <= before, "{} octets", memory.held());
    drop(peer);
    drivers.end().await;
    drop(client);
}

#[tokio::test]
async fn a_connection_ends_if_there_is_no_memory_for_the_requests_that_its_callers_read() {
    let memory = Arc::new(MemoryLimit::new(MIB));
    let owner = TestOwner::with(|settings| settings.memory = Arc::clone(&memory));
    let (roles, peer) = Roles::opened(&owner);
    let others = Reserved::of(&PeerMemory::within(&memory));
    others.cover_unchecked(|| MIB - (64 << 10));
    peer.send(&request(1, "echo", &[7; 100 << 10]));
    read(&roles.client).await;
    assert!(roles.client.is_over());
    assert!(memory.held() <= MIB);
    let (drivers, _client) = roles.drive(&owner, HOUR);
    drivers.end().await;
    let evicted = Evicted::Memory.counter();
    assert_eq!(owner.settings.counters.get(evicted), 1);
    assert_eq!(owner.settings.counters.get(Counter::ProtocolErrors), 0);
}

#[tokio::test]
async fn both_roles_know_of_the_peer_what_the_stream_knows() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::uiop(folder.path().join("socket"));
    let transport = Unix::default();
    let listener = transport.listen(&endpoint).await.unwrap();
    let stream = transport.connect(&endpoint).await.unwrap();
    let accepted = core::future::poll_fn(|cx| listener.poll_accept(cx)).await;
    let owner = TestOwner::new();
    for (stream, opened_here) in [(stream, true), (accepted.unwrap(), false)] {
        let identity = stream.peer_identity();
        assert!(identity.is_some() && stream.capabilities().reports_peer_identity());
        let peer = stream.peer().clone();
        let roles = Roles::over(stream, &owner, &connect_settings(), opened_here);
        assert_eq!(roles.server.peer().identity, identity);
        assert_eq!(roles.server.peer().address, peer);
        assert_eq!(roles.client.peer(), &peer);
        assert_eq!(roles.both.peer(), &peer);
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_idle_when_both_roles_are() {
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
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    drop(peer);
    drivers.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_was_opened_here_lasts_although_its_peer_sends_no_request() {
    let owner = TestOwner::new();
    let (client, mut peer, drivers) = driven(&owner, HOUR);
    let call = spawn_call(&client, "ours", b"");
    let (id, ..) = peer.request().await;
    tokio::time::sleep(Duration::from_secs(180)).await;
    assert!(!client.is_over());
    peer.send(&reply(id, b"result"));
    assert_eq!(call.await.unwrap().unwrap(), b"result");
    drop(peer);
    drivers.end().await;
}

#[tokio::test]
async fn a_reply_is_read_behind_more_requests_than_may_wait() {
    let owner = TestOwner::new();
    let (client, mut peer, drivers) = driven(&owner, HOUR);
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
    drivers.end().await;
}

#[tokio::test]
async fn a_released_connection_ends_when_the_peer_s_requests_have_ended() {
    let owner = TestOwner::new();
    let (client, mut peer, drivers) = driven(&owner, HOUR);
    peer.send(&request(1, "hold", b"theirs"));
    let_all_run().await;
    client.release();
    let_all_run().await;
    assert!(!client.is_over());
    assert!(owner.let_go());
    assert_eq!(peer.reply().await, (1, b"theirs".to_vec()));
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    drop(peer);
    drivers.end().await;
}

#[tokio::test]
async fn calls_go_on_when_the_orb_serves_no_longer() {
    let owner = TestOwner::new();
    let (roles, mut peer) = Roles::opened(&owner);
    let serving = Arc::clone(&roles.serving);
    let (drivers, client) = roles.drive(&owner, HOUR);
    let call = spawn_call(&client, "ours", b"");
    let (mine, ..) = peer.request().await;
    owner.stop();
    serving.wake_all();
    let [server, driver] = drivers.0;
    in_time(server).await.unwrap();
    assert!(!client.is_over());
    // A request of the peer is not served any more.
    peer.send(&request(1, "echo", b""));
    peer.send(&reply(mine, b"result"));
    assert_eq!(in_time(call).await.unwrap().unwrap(), b"result");
    client.shut_down();
    assert_eq!(peer.kind().await, Some(MessageKind::CloseConnection));
    drop(peer);
    in_time(driver).await.unwrap();
}
