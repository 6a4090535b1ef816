//! The hosts that connections come from, and the limits on the connections and upcalls that an ORB serves at a time.

use super::memory::{MemoryLimit, PeerMemory};
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use core::pin::pin;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use zorb_shares::{FreePlaces, HostKey, Place, Shares};
use zorb_transport::{Address, HostId, PeerIdentity};

/// The policy for a request that arrives at the limit of pending upcalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overload {
    /// The request waits, and so do requests that its client sends after it: back-pressure. Up to
    /// [some waiting requests](ServerLimits::MAX_WAITING_REQUESTS), CancelRequest and CloseConnection after them are still
    /// read; beyond that, the connection is not read until there is room.
    ///
    /// A nested request, which its client sends while it serves a callback of the upcall that has taken the last place, waits
    /// for this upcall, and the upcall for it: until the deadline of one of the calls. The limit has to leave room for them.
    #[default]
    Wait,
    /// The request is refused with TRANSIENT, COMPLETED_NO, and so are nested ones. A one-way request is dropped, and counted.
    Refuse,
}

/// Limits on the connections and upcalls that an ORB serves at a time.
///
/// An upcall is pending from when it has to wait for its servant, a POA manager, a key resolver or a worker. It is pending
/// until it has ended, even if its client has gone by then. A request that is answered within the first poll of its servant
/// is never pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Connections served in all. Further ones get CloseConnection and are closed.
    pub max_connections: usize,
    /// Connections served from one host, so that one host cannot lock others out. The clients of one user on UNIX sockets count
    /// as one host, and so do the addresses of an IPv6 network with a prefix of 64 bits, and all hosts that a transport cannot identify.
    pub max_connections_per_host: usize,
    /// Pending upcalls of one connection.
    pub max_upcalls_per_connection: usize,
    /// Pending upcalls of all connections from one host, including closed connections. The limit is checked before an upcall
    /// begins: threads that begin upcalls at the same moment may exceed it by their number.
    pub max_upcalls_per_host: usize,
    /// Pending upcalls of all connections, including closed ones; as exact as the limit of a host. A quarter of them is kept
    /// for hosts with few pending upcalls, at most [64](Self::FEW_UPCALLS), so that greedy hosts leave some to others.
    pub max_upcalls: usize,
    /// The policy for requests beyond the limits on upcalls.
    pub overload: Overload,
}

impl ServerLimits {
    /// 4,096 upcalls of a connection: more than a client has threads, and few enough that their memory, some kilobytes each,
    /// does not matter.
    pub const DEFAULT_MAX_UPCALLS_PER_CONNECTION: usize = 4096;
    /// 16,384 upcalls of a host: four busy connections reach it.
    pub const DEFAULT_MAX_UPCALLS_PER_HOST: usize = 16_384;
    /// 65,536 upcalls in all: four busy hosts reach it. At a kilobyte or two each, 64 to 128 MiB.
    pub const DEFAULT_MAX_UPCALLS: usize = 65_536;
    /// Requests of one connection that are read and [wait](Overload::Wait). The number is large enough that messages after a
    /// burst are still read, above all CancelRequest. Further requests are not read, with two exceptions, in which they are
    /// read and refused with TRANSIENT. Where their client has gone, or most upcalls before them are those of clients that have
    /// gone, the ORB has to find the end of the connection. Where this ORB sends requests on the connection, too, it has to
    /// find their replies.
    pub const MAX_WAITING_REQUESTS: usize = 256;
    /// Octets of the requests of one connection that are read and [wait](Overload::Wait); the last of them may exceed it.
    pub const MAX_WAITING_OCTETS: usize = 64 << 10;

    /// One in so many connections is kept for hosts other than the one with the most connections.
    const RESERVED_SHARE: usize = 6;
    /// The number of pending upcalls below which a host may use the share that is kept for such hosts. With the defaults, three
    /// greedy hosts use up the other three quarters, and it takes 256 more hosts to use up that share.
    pub const FEW_UPCALLS: usize = 64;

    /// Makes limits of `max_connections` connections, at most five in six of them from one host, and the default limits on upcalls.
    #[must_use]
    pub const fn new(max_connections: usize) -> Self {
        Self {
            max_connections,
            max_connections_per_host: max_connections
                .saturating_sub(max_connections / Self::RESERVED_SHARE),
            max_upcalls_per_connection: Self::DEFAULT_MAX_UPCALLS_PER_CONNECTION,
            max_upcalls_per_host: Self::DEFAULT_MAX_UPCALLS_PER_HOST,
            max_upcalls: Self::DEFAULT_MAX_UPCALLS,
            overload: Overload::Wait,
        }
    }
}

/// Connections beyond the limits that get CloseConnection at a time, of which a quarter is kept for hosts that have few. Each keeps a descriptor until its client has read the
/// message, for two seconds at most. Further ones are closed at once.
const MAX_REFUSALS: usize = 64;

/// A limit on pending upcalls, and the connections that wait for room under it.
#[derive(Debug)]
pub(crate) struct UpcallLimit {
    pending: AtomicUsize,
    /// Pending upcalls whose connection has ended. The number wraps for a moment if an upcall and its connection end at the
    /// same time.
    left_behind: AtomicUsize,
    limit: usize,
    /// Connections that wait.
    waiting: AtomicUsize,
    room: Notify,
}

impl UpcallLimit {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            pending: AtomicUsize::new(0),
            left_behind: AtomicUsize::new(0),
            limit,
            waiting: AtomicUsize::new(0),
            room: Notify::new(),
        }
    }

    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.pending() < self.limit
    }

    #[inline]
    fn pending(&self) -> usize {
        self.pending.load(Ordering::SeqCst)
    }

    /// Whether upcalls whose clients have gone take most of the places.
    fn is_left_behind(&self) -> bool {
        let left = self.left_behind.load(Ordering::Relaxed);
        left > self.limit / 2 && left <= self.pending()
    }

    fn enter(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    fn leave(&self) {
        // Sequentially consistent here and in `wait`: either the waiting connection sees the room, or this thread sees the
        // waiting connection.
        self.pending.fetch_sub(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.room.notify_one();
        }
    }

    /// Waits until `has_room`, which changes with the pending upcalls. Waiters are served in the order in which they came.
    ///
    /// # Cancel safety
    /// Safe: the notification of a waiter that is dropped goes to the next one.
    async fn wait(&self, has_room: impl Fn() -> bool) {
        let _waiting = WaitingConnection::new(&self.waiting);
        loop {
            let mut room = pin!(self.room.notified());
            room.as_mut().enable();
            if has_room() {
                // There may be room for another waiter as well, which checks for itself.
                self.room.notify_one();
                return;
            }
            room.await;
        }
    }
}

/// A connection that waits for room: counted until this is dropped.
struct WaitingConnection<'a>(&'a AtomicUsize);

impl<'a> WaitingConnection<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for WaitingConnection<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The identity of a host, by which its connections are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum HostName {
    Host(HostId),
    /// A user of this host, where the system says who the peer is.
    User(u32),
}

impl HostName {
    /// Bits of an IPv6 address that name the interface within its network (RFC 4291 section 2.5.1).
    const INTERFACE_BITS: u32 = 64;

    fn of(peer: &Address, identity: Option<PeerIdentity>) -> Self {
        let address = match (peer.host(), identity) {
            (HostId::Inet(address), _) => address,
            (HostId::Local, Some(identity)) if let Some(process) = identity.process() => {
                return Self::User(process.user);
            }
            (host, _) => return Self::Host(host),
        };
        // A host may have all addresses of its IPv6 network.
        Self::Host(HostId::Inet(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> Self::INTERFACE_BITS << Self::INTERFACE_BITS;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            address @ IpAddr::V4(_) => address,
        }))
    }
}

/// A host that has connections, or upcalls pending.
#[derive(Debug)]
pub(crate) struct Host {
    name: HostName,
    /// Its key, where clients of hosts share places.
    key: HostKey,
    /// Connections served.
    connections: AtomicUsize,
    upcalls: UpcallLimit,
    /// The memory that its connections hold.
    memory: OnceLock<Arc<PeerMemory>>,
    hosts: Arc<Hosts>,
}

impl Host {
    /// Its key, where clients of hosts share places. The host has it as long as it has a connection or a pending upcall.
    pub(crate) fn key(&self) -> HostKey {
        self.key
    }

    /// The memory that its connections hold, of that of the ORB.
    pub(crate) fn memory(&self, all: &Arc<MemoryLimit>) -> &Arc<PeerMemory> {
        self.memory.get_or_init(|| PeerMemory::within(all))
    }

    /// Notified when a client makes the ORB wait.
    pub(crate) fn waits(&self) -> &Arc<Notify> {
        &self.hosts.waits
    }

    /// Whether another upcall may be pending.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.upcalls.has_room() && self.has_share()
    }

    /// Whether there is room for another upcall in all, with enough left for other hosts.
    #[inline]
    fn has_share(&self) -> bool {
        let all = &self.hosts.upcalls;
        let left = all.limit.saturating_sub(all.pending());
        let free = FreePlaces {
            few: ServerLimits::FEW_UPCALLS,
            ..FreePlaces::new(all.limit, left)
        };
        free.admit(self.upcalls.pending(), 1).is_ok()
    }

    /// Whether another upcall of this host may be pending, by the host's own limit.
    pub(crate) fn has_room_of_its_own(&self) -> bool {
        self.upcalls.has_room()
    }

    /// Whether there is no room because upcalls whose clients have gone take most of it, of this host or of all. Waiting for
    /// these does not help its clients.
    pub(crate) fn is_left_behind(&self) -> bool {
        !self.has_room_of_its_own() && self.upcalls.is_left_behind()
            || !self.has_share() && self.hosts.upcalls.is_left_behind()
    }

    /// Notes that a connection has ended, with so many upcalls pending.
    pub(crate) fn leave_behind(&self, upcalls: usize) {
        for gate in [&self.upcalls, &self.hosts.upcalls] {
            gate.left_behind.fetch_add(upcalls, Ordering::Relaxed);
        }
    }

    /// Notes that an upcall has ended whose connection had ended before.
    pub(crate) fn end_left_behind(&self) {
        for gate in [&self.upcalls, &self.hosts.upcalls] {
            gate.left_behind.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Waits until another upcall may be pending.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing, and can be repeated.
    pub(crate) async fn room(self: Arc<Self>) {
        self.upcalls.wait(|| self.upcalls.has_room()).await;
        self.hosts.upcalls.wait(|| self.has_share()).await;
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.hosts.limits
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Entry::Occupied(entry) = self.hosts.known().entry(self.name.clone())
            // Another host of this name may have been added since.
            && entry.get().strong_count() == 0
        {
            entry.remove();
        }
    }
}

/// The place of a pending upcall under the limits of its host and of all.
#[derive(Debug)]
pub(crate) struct UpcallPlace(Arc<Host>);

impl UpcallPlace {
    /// Takes a place, even beyond the limits: the caller has checked them, or the upcall has begun already.
    pub(crate) fn take(host: &Arc<Host>) -> Self {
        host.upcalls.enter();
        host.hosts.upcalls.enter();
        Self(Arc::clone(host))
    }

    pub(crate) fn host(&self) -> &Arc<Host> {
        &self.0
    }
}

impl Drop for UpcallPlace {
    fn drop(&mut self) {
        self.0.upcalls.leave();
        self.0.hosts.upcalls.leave();
    }
}

/// The hosts that an ORB serves.
#[derive(Debug)]
pub(crate) struct Hosts {
    limits: ServerLimits,
    upcalls: UpcallLimit,
    permits: Arc<Semaphore>,
    /// Connections beyond the limits to which CloseConnection is being sent.
    refusals: Arc<Shares>,
    known: Mutex<HashMap<HostName, Weak<Host>>>,
    /// Notified when a connection is added, or a client begins to make the ORB wait.
    pub(crate) waits: Arc<Notify>,
}

impl Hosts {
    /// Hosts within these limits. The limit on connections is at most the number of permits that a semaphore holds.
    pub(crate) fn new(limits: ServerLimits) -> Arc<Self> {
        let permits = limits.max_connections.min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            limits,
            upcalls: UpcallLimit::new(limits.max_upcalls),
            permits: Arc::new(Semaphore::new(permits)),
            refusals: Shares::new(MAX_REFUSALS),
            waits: Arc::default(),
            known: Mutex::new(HashMap::new()),
        })
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    /// The number of pending upcalls.
    pub(crate) fn pending_upcalls(&self) -> usize {
        self.upcalls.pending.load(Ordering::Relaxed)
    }

    /// The permission to refuse a connection from this peer with CloseConnection, unless many are being refused.
    pub(crate) fn refusal(
        self: &Arc<Self>,
        peer: &Address,
        identity: Option<PeerIdentity>,
    ) -> Option<Refusal> {
        let host = self.host(HostName::of(peer, identity));
        let place = self.refusals.take(host.key()).ok()?;
        Some(Refusal {
            _place: place,
            _host: host,
        })
    }

    /// A place for another connection from this peer, whose process the system may have identified.
    pub(crate) fn admit(
        self: &Arc<Self>,
        peer: &Address,
        identity: Option<PeerIdentity>,
    ) -> Result<HostPermit, NotAdmitted> {
        let host = self.host(HostName::of(peer, identity));
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let permit = permit.map_err(|_| NotAdmitted::Full)?;
        let limit = self.limits.max_connections_per_host;
        let taken = (host.connections).fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| {
            (all < limit).then(|| all.saturating_add(1))
        });
        match taken {
            Ok(_) => Ok(HostPermit {
                host,
                permit: Some(permit),
            }),
            Err(_) => Err(NotAdmitted::HostFull),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<HostName, Weak<Host>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn host(self: &Arc<Self>, name: HostName) -> Arc<Host> {
        let mut known = self.known();
        if let Some(host) = known.get(&name).and_then(Weak::upgrade) {
            return host;
        }
        let host = Arc::new(Host {
            name: name.clone(),
            key: HostKey::unique(),
            connections: AtomicUsize::new(0),
            upcalls: UpcallLimit::new(self.limits.max_upcalls_per_host),
            memory: OnceLock::new(),
            hosts: Arc::clone(self),
        });
        known.insert(name, Arc::downgrade(&host));
        host
    }
}

/// The permission to refuse a connection with CloseConnection.
#[derive(Debug)]
pub(crate) struct Refusal {
    _place: Place,
    /// Keeps the key of the host.
    _host: Arc<Host>,
}

/// Why a connection is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// The rules for clients forbid it.
    NotPermitted,
    /// The limit on connections is reached.
    Full,
    /// The limit on connections of its host is reached.
    HostFull,
    /// The limit on the memory that connections hold is reached.
    NoMemory,
}

/// The place of a connection under the limits.
#[derive(Debug)]
pub(crate) struct HostPermit {
    host: Arc<Host>,
    /// `None` for the stand-in of a connection that has ended.
    permit: Option<OwnedSemaphorePermit>,
}

impl HostPermit {
    /// For the continuation of requests whose connection has ended.
    pub(crate) fn ended(host: Arc<Host>) -> Self {
        Self { host, permit: None }
    }

    #[inline]
    pub(crate) fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// The memory that the connections of the host hold.
    pub(crate) fn memory(&self, all: &Arc<MemoryLimit>) -> &Arc<PeerMemory> {
        self.host.memory(all)
    }
}

impl Drop for HostPermit {
    fn drop(&mut self) {
        if self.permit.is_some() {
            self.host.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use crate::testing::{in_time, let_all_run};
    use zorb_transport::ProcessCredentials;

    fn inet(address: &str) -> Address {
        Address::Inet(address.parse().unwrap())
    }

    #[test]
    fn one_host_leaves_places_to_the_others() {
        let hosts = Hosts::new(ServerLimits {
            max_connections_per_host: 2,
            ..ServerLimits::new(3)
        });
        let (one, other) = (inet("10.0.0.1:1"), inet("10.0.0.2:1"));
        let first = hosts.admit(&one, None).unwrap();
        let _second = hosts.admit(&inet("10.0.0.1:2"), None).unwrap();
        let full = |peer| hosts.admit(peer, None).unwrap_err();
        assert_eq!(full(&one), NotAdmitted::HostFull);
        let _third = hosts.admit(&other, None).unwrap();
        assert_eq!(full(&other), NotAdmitted::Full);
        drop(first);
        hosts.admit(&one, None).unwrap();
    }

    #[test]
    fn a_network_of_ipv6_is_a_host_and_a_mapped_address_is_one_of_ipv4() {
        let hosts = Hosts::new(ServerLimits {
            max_connections_per_host: 1,
            ..ServerLimits::new(9)
        });
        let _one = hosts.admit(&inet("[2001:db8::1]:1"), None).unwrap();
        let full = |peer| hosts.admit(&inet(peer), None).err() == Some(NotAdmitted::HostFull);
        assert!(full("[2001:db8::ffff:1]:7"));
        assert!(!full("[2001:db8:0:1::1]:1"));
        let _mapped = hosts.admit(&inet("[::ffff:10.0.0.1]:1"), None).unwrap();
        assert!(full("10.0.0.1:1"));
    }

    #[test]
    fn hosts_of_other_networks_count_by_their_names() {
        let hosts = Hosts::new(ServerLimits {
            max_connections_per_host: 1,
            ..ServerLimits::new(9)
        });
        let other = |name: &str, host| Address::Other {
            name: name.into(),
            host,
        };
        let named = |name: &str| other(name, HostId::Named(name.into()));
        let _one = hosts.admit(&named("atm 0.0.42"), None).unwrap();
        let _two = hosts.admit(&named("atm 0.0.43"), None).unwrap();
        let full = |peer: Address| hosts.admit(&peer, None).err() == Some(NotAdmitted::HostFull);
        assert!(full(named("atm 0.0.42")));
        // Hosts that cannot be identified are one; so is this host, by any transport.
        let _unknown = hosts
            .admit(&other("radio://1", HostId::Unknown), None)
            .unwrap();
        assert!(full(other("radio://2", HostId::Unknown)));
        let _local = hosts.admit(&Address::Unix(None), None).unwrap();
        assert!(full(other("uiop-abstract://x", HostId::Local)));
    }

    #[test]
    fn a_user_of_unix_sockets_is_a_host_where_the_system_says_who_it_is() {
        let hosts = Hosts::new(ServerLimits {
            max_connections_per_host: 1,
            ..ServerLimits::new(9)
        });
        let of = |user| {
            let identity = PeerIdentity::default().with_process(ProcessCredentials {
                user,
                group: 1,
                process: Some(1),
            });
            hosts.admit(&Address::Unix(None), Some(identity))
        };
        let _one = of(1000).unwrap();
        assert_eq!(of(1000).unwrap_err(), NotAdmitted::HostFull);
        let _other = of(1001).unwrap();
        let _unknown = hosts.admit(&Address::Unix(None), None).unwrap();
    }

    #[test]
    fn a_host_is_forgotten_when_it_has_neither_connections_nor_upcalls() {
        let hosts = Hosts::new(ServerLimits::new(9));
        let known = || hosts.known().len();
        let admitted = hosts.admit(&inet("10.0.0.1:1"), None).unwrap();
        let upcall = UpcallPlace::take(admitted.host());
        drop(admitted);
        assert_eq!((known(), hosts.pending_upcalls()), (1, 1));
        drop(upcall);
        assert_eq!((known(), hosts.pending_upcalls()), (0, 0));
    }

    #[test]
    fn hosts_that_take_what_they_can_leave_something_to_one_that_comes_new() {
        let hosts = Hosts::new(ServerLimits::new(100));
        let mut upcalls = Vec::new();
        let admitted: Vec<_> = (0..60)
            .map(|n| hosts.admit(&inet(&format!("10.0.1.{n}:1")), None).unwrap())
            .collect();
        for one in &admitted {
            while one.host().has_room() {
                upcalls.push(UpcallPlace::take(one.host()));
            }
        }
        let another = hosts.admit(&inet("10.0.2.1:1"), None).unwrap();
        for _ in 0..ServerLimits::FEW_UPCALLS {
            assert!(another.host().has_room());
            upcalls.push(UpcallPlace::take(another.host()));
        }
        assert!(!another.host().has_room());
        // A host without competition gets as many as its own limit.
        upcalls.clear();
        while admitted[0].host().has_room() {
            upcalls.push(UpcallPlace::take(admitted[0].host()));
        }
        assert_eq!(upcalls.len(), ServerLimits::DEFAULT_MAX_UPCALLS_PER_HOST);
    }

    #[tokio::test]
    async fn a_host_that_waits_for_its_share_goes_on_when_upcalls_of_others_end() {
        let hosts = Hosts::new(ServerLimits {
            max_upcalls: 200,
            ..ServerLimits::new(9)
        });
        let one = hosts.admit(&inet("10.0.0.1:1"), None).unwrap();
        let other = hosts.admit(&inet("10.0.0.2:1"), None).unwrap();
        let of_other = UpcallPlace::take(other.host());
        let mut upcalls = Vec::new();
        while one.host().has_room() {
            upcalls.push(UpcallPlace::take(one.host()));
        }
        assert_eq!(upcalls.len(), 149, "three quarters of all, but the other's");
        let host = Arc::clone(one.host());
        let waiting = tokio::spawn(async move { host.room().await });
        let_all_run().await;
        assert!(!waiting.is_finished());
        drop(of_other);
        in_time(waiting).await.unwrap();
    }

    #[tokio::test]
    async fn each_end_of_an_upcall_lets_one_waiting_connection_go_on() {
        let hosts = Hosts::new(ServerLimits {
            max_upcalls: 2,
            ..ServerLimits::new(9)
        });
        let peers = ["10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"];
        let peers: Vec<_> = (peers.iter())
            .map(|peer| hosts.admit(&inet(peer), None).unwrap())
            .collect();
        let upcalls = [0, 1].map(|at: usize| UpcallPlace::take(peers[at].host()));
        assert!(!peers[2].host().has_room() && peers[2].host().has_room_of_its_own());
        let wait = |at: usize| {
            let host = Arc::clone(peers[at].host());
            tokio::spawn(async move {
                Arc::clone(&host).room().await;
                UpcallPlace::take(&host)
            })
        };
        let (abandoned, first, second) = (wait(0), wait(1), wait(2));
        let_all_run().await;
        abandoned.abort();
        let_all_run().await;
        let [one, two] = upcalls;
        drop(one);
        let first = in_time(first).await.unwrap();
        let_all_run().await;
        assert!(!second.is_finished(), "there is no room for both");
        drop((two, first));
        in_time(second).await.unwrap();
        assert_eq!(hosts.pending_upcalls(), 0);
    }
}
