//! The hosts that connections come from, and the limits on what they have an ORB serve at a time.

use super::super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use core::pin::pin;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, PoisonError, Weak};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use zorb_transport::Address;

/// The policy for a request that arrives at the limit of pending upcalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overload {
    /// It waits, and so does what its client sends behind it: back-pressure. CancelRequest and CloseConnection behind
    /// [some waiting requests](ServerLimits::MAX_WAITING_REQUESTS) are still read; then the connection is read no further
    /// until there is room.
    #[default]
    Wait,
    /// It is refused with TRANSIENT, COMPLETED_NO. A one-way request is dropped, and counted.
    Refuse,
}

/// Limits on what peers may have an ORB serve at a time.
///
/// An upcall is pending from when it has to wait, for its servant, a POA manager, a key resolver or a worker, until it has
/// ended, also when its client is gone by then. A request that is answered within the first poll of its servant is never
/// pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Connections served. Further ones get CloseConnection and are closed.
    pub max_connections: usize,
    /// Connections served that come from one host, so that one host cannot lock others out. All clients on UNIX sockets are
    /// one host, and so are the addresses of an IPv6 network of 64 bits.
    pub max_connections_per_host: usize,
    /// Pending upcalls of one connection.
    pub max_upcalls_per_connection: usize,
    /// Pending upcalls of all connections from one host, closed ones included. Looked at before an upcall begins: threads that
    /// begin one at the same moment may go beyond it by their number.
    pub max_upcalls_per_host: usize,
    /// Pending upcalls of all connections, closed ones included. As exact as the limit of a host. One in four is kept for
    /// hosts that have few pending, [64](Self::FEW_UPCALLS) at most, so that those that take what they can leave some to others.
    pub max_upcalls: usize,
    /// The policy for requests beyond the limits on upcalls.
    pub overload: Overload,
}

impl ServerLimits {
    /// 4,096 upcalls of a connection: more than any client has threads, few enough that their memory, some kilobytes each,
    /// is no burden.
    pub const DEFAULT_MAX_UPCALLS_PER_CONNECTION: usize = 4096;
    /// 16,384 upcalls of a host: those of four busy connections.
    pub const DEFAULT_MAX_UPCALLS_PER_HOST: usize = 16_384;
    /// 65,536 upcalls in all: those of four busy hosts. At a kilobyte or two each, 64 to 128 MiB.
    pub const DEFAULT_MAX_UPCALLS: usize = 65_536;
    /// Requests of one connection that are read and [wait](Overload::Wait). Enough that what a client sends behind a
    /// burst, a CancelRequest above all, is still read. Further ones are not read, but where nothing is won by waiting: where
    /// their client has gone, or most upcalls that stand in their way are those of clients that have gone, they are read and
    /// refused with TRANSIENT, so that the end of a connection is seen behind them, and on connections on which this ORB sends
    /// requests too, so that replies are.
    pub const MAX_WAITING_REQUESTS: usize = 256;
    /// Octets of the requests of one connection that are read and [wait](Overload::Wait); the last of them may exceed it.
    pub const MAX_WAITING_OCTETS: usize = 64 << 10;

    /// One in so many connections is kept for other hosts than the one with the most.
    const RESERVED_SHARE: usize = 6;
    /// One in so many upcalls in all is kept for hosts that have [few](Self::FEW_UPCALLS) pending.
    const RESERVED_UPCALLS: usize = 4;
    /// Upcalls of a host that may be pending while most of all are: three hosts that take what they can use up three quarters
    /// of the default, and 256 more have to come for the rest.
    pub const FEW_UPCALLS: usize = 64;

    /// So many connections, five in six of them from one host at most, and the default limits on upcalls.
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

/// Connections beyond the limits that get CloseConnection at a time, each of which keeps a descriptor until its client has
/// read that, or for the two seconds that it has for it. Further ones are closed at once.
const MAX_REFUSALS: usize = 64;

/// A limit on pending upcalls, and the connections that wait for room under it.
#[derive(Debug)]
pub(super) struct Gate {
    pending: AtomicUsize,
    /// Those of them whose connection has ended. It wraps for a moment where an upcall ends while its connection does.
    left_behind: AtomicUsize,
    limit: usize,
    /// Connections that wait.
    waiting: AtomicUsize,
    room: Notify,
}

impl Gate {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            pending: AtomicUsize::new(0),
            left_behind: AtomicUsize::new(0),
            limit,
            waiting: AtomicUsize::new(0),
            room: Notify::new(),
        }
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.pending() < self.limit
    }

    #[inline]
    fn pending(&self) -> usize {
        self.pending.load(Ordering::SeqCst)
    }

    /// Whether most of the places are those of upcalls whose clients are gone.
    fn is_left_behind(&self) -> bool {
        let left = self.left_behind.load(Ordering::Relaxed);
        left > self.limit / 2 && left <= self.pending()
    }

    fn enter(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    fn leave(&self) {
        // Sequentially consistent here and in `wait`: either the waiting connection sees the room, or it is seen here.
        self.pending.fetch_sub(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.room.notify_one();
        }
    }

    /// Waits until `has_room`, which changes with what is pending, first come first served.
    ///
    /// # Cancel safety
    /// Safe: the notification of a waiter that is dropped goes to the next one.
    async fn wait(&self, has_room: impl Fn() -> bool) {
        let _waiting = Waiting::new(&self.waiting);
        loop {
            let mut room = pin!(self.room.notified());
            room.as_mut().enable();
            if has_room() {
                // There may be room for another one as well; it looks for itself.
                self.room.notify_one();
                return;
            }
            room.await;
        }
    }
}

/// Counts a waiting connection until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The identity of a host, by which its connections are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum HostKey {
    /// An address of IPv4, or the network of an address of IPv6, of which a host may have all addresses.
    Inet(IpAddr),
    /// This host, by UNIX sockets.
    Local,
    /// Any, by a transport whose addresses do not tell.
    Unknown,
}

impl HostKey {
    /// Bits of an IPv6 address that name the interface within its network (RFC 4291 section 2.5.1).
    const INTERFACE_BITS: u32 = 64;

    fn of(peer: &Address) -> Self {
        match peer {
            Address::Inet(address) => Self::Inet(match address.ip().to_canonical() {
                IpAddr::V6(address) => {
                    let network = address.to_bits() >> Self::INTERFACE_BITS << Self::INTERFACE_BITS;
                    IpAddr::V6(Ipv6Addr::from_bits(network))
                }
                address @ IpAddr::V4(_) => address,
            }),
            Address::Unix(_) => Self::Local,
            _ => Self::Unknown,
        }
    }
}

/// A host that has connections, or upcalls pending.
#[derive(Debug)]
pub(super) struct Host {
    key: HostKey,
    /// Connections served.
    connections: AtomicUsize,
    upcalls: Gate,
    hosts: Arc<Hosts>,
}

impl Host {
    /// Notified when a client makes the ORB wait.
    pub(super) fn waits(&self) -> &Arc<Notify> {
        &self.hosts.waits
    }

    /// Whether another upcall may be pending.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.upcalls.has_room() && self.has_share()
    }

    /// Whether there is room for another upcall among those of all, and this host leaves enough for others.
    #[inline]
    fn has_share(&self) -> bool {
        let (all, limit) = (self.hosts.upcalls.pending(), self.hosts.upcalls.limit);
        all < limit.saturating_sub(limit / ServerLimits::RESERVED_UPCALLS)
            || all < limit && self.upcalls.pending() < ServerLimits::FEW_UPCALLS
    }

    /// Whether another upcall of this host may be pending, by the host's own limit.
    pub(super) fn has_room_of_its_own(&self) -> bool {
        self.upcalls.has_room()
    }

    /// Whether there is no room because most of it is taken by upcalls whose clients are gone: this host's, or those of all.
    /// To wait for these is of no use to its clients.
    pub(super) fn is_left_behind(&self) -> bool {
        !self.has_room_of_its_own() && self.upcalls.is_left_behind()
            || !self.has_share() && self.hosts.upcalls.is_left_behind()
    }

    /// Notes that the connection of so many pending upcalls has ended.
    pub(super) fn leave_behind(&self, upcalls: usize) {
        for gate in [&self.upcalls, &self.hosts.upcalls] {
            gate.left_behind.fetch_add(upcalls, Ordering::Relaxed);
        }
    }

    /// Notes that an upcall whose connection has ended ends as well.
    pub(super) fn end_left_behind(&self) {
        for gate in [&self.upcalls, &self.hosts.upcalls] {
            gate.left_behind.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Waits until another upcall may be pending.
    ///
    /// # Cancel safety
    /// Safe.
    pub(super) async fn room(self: Arc<Self>) {
        self.upcalls.wait(|| self.upcalls.has_room()).await;
        self.hosts.upcalls.wait(|| self.has_share()).await;
    }

    pub(super) fn limits(&self) -> &ServerLimits {
        &self.hosts.limits
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Entry::Occupied(entry) = self.hosts.known().entry(self.key)
            // Another one may have come in its place.
            && entry.get().strong_count() == 0
        {
            entry.remove();
        }
    }
}

/// The place of a pending upcall under the limits of its host and of all.
#[derive(Debug)]
pub(super) struct UpcallPlace(Arc<Host>);

impl UpcallPlace {
    /// Takes a place, whether or not there is room: that has been checked before, or the upcall has begun.
    pub(super) fn take(host: &Arc<Host>) -> Self {
        host.upcalls.enter();
        host.hosts.upcalls.enter();
        Self(Arc::clone(host))
    }

    pub(super) fn host(&self) -> &Arc<Host> {
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
pub(super) struct Hosts {
    limits: ServerLimits,
    upcalls: Gate,
    permits: Arc<Semaphore>,
    /// Connections beyond the limits to which CloseConnection is being sent.
    refusals: Arc<Semaphore>,
    known: Mutex<HashMap<HostKey, Weak<Host>>>,
    /// Notified when there is another connection, or the client of one begins to make the ORB wait.
    pub(super) waits: Arc<Notify>,
}

impl Hosts {
    /// Hosts within these limits. A limit on connections above what a semaphore holds counts as that.
    pub(super) fn new(limits: ServerLimits) -> Arc<Self> {
        let permits = limits.max_connections.min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            limits,
            upcalls: Gate::new(limits.max_upcalls),
            permits: Arc::new(Semaphore::new(permits)),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
            waits: Arc::default(),
            known: Mutex::new(HashMap::new()),
        })
    }

    pub(super) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    /// Upcalls that are pending.
    pub(super) fn pending_upcalls(&self) -> usize {
        self.upcalls.pending.load(Ordering::Relaxed)
    }

    /// The permission to refuse a connection with CloseConnection, unless many are being refused.
    pub(super) fn refusal(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.refusals).try_acquire_owned().ok()
    }

    /// A place for another connection from this peer.
    pub(super) fn admit(self: &Arc<Self>, peer: &Address) -> Result<HostPermit, NotAdmitted> {
        let host = self.host(HostKey::of(peer));
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

    fn known(&self) -> MutexGuard<'_, HashMap<HostKey, Weak<Host>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn host(self: &Arc<Self>, key: HostKey) -> Arc<Host> {
        let mut known = self.known();
        if let Some(host) = known.get(&key).and_then(Weak::upgrade) {
            return host;
        }
        let host = Arc::new(Host {
            key,
            connections: AtomicUsize::new(0),
            upcalls: Gate::new(self.limits.max_upcalls_per_host),
            hosts: Arc::clone(self),
        });
        known.insert(key, Arc::downgrade(&host));
        host
    }
}

/// Why a connection is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// As many connections are served as may be.
    Full,
    /// As many connections of its host are served as may be.
    HostFull,
    /// The connections hold as much memory as they may.
    NoMemory,
}

/// The place of a connection under the limits.
#[derive(Debug)]
pub(crate) struct HostPermit {
    host: Arc<Host>,
    /// `None` for a connection that stands for one which has ended.
    permit: Option<OwnedSemaphorePermit>,
}

impl HostPermit {
    /// For the continuation of requests whose connection has ended.
    pub(super) fn ended(host: Arc<Host>) -> Self {
        Self { host, permit: None }
    }

    #[inline]
    pub(super) fn host(&self) -> &Arc<Host> {
        &self.host
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
        let first = hosts.admit(&one).unwrap();
        let _second = hosts.admit(&inet("10.0.0.1:2")).unwrap();
        let full = |peer| hosts.admit(peer).unwrap_err();
        assert_eq!(full(&one), NotAdmitted::HostFull);
        let _third = hosts.admit(&other).unwrap();
        assert_eq!(full(&other), NotAdmitted::Full);
        drop(first);
        hosts.admit(&one).unwrap();
    }

    #[test]
    fn a_network_of_ipv6_is_a_host_and_a_mapped_address_is_one_of_ipv4() {
        let hosts = Hosts::new(ServerLimits {
            max_connections_per_host: 1,
            ..ServerLimits::new(9)
        });
        let _one = hosts.admit(&inet("[2001:db8::1]:1")).unwrap();
        let full = |peer| hosts.admit(&inet(peer)).err() == Some(NotAdmitted::HostFull);
        assert!(full("[2001:db8::ffff:1]:7"));
        assert!(!full("[2001:db8:0:1::1]:1"));
        let _mapped = hosts.admit(&inet("[::ffff:10.0.0.1]:1")).unwrap();
        assert!(full("10.0.0.1:1"));
    }

    #[test]
    fn a_host_is_forgotten_when_it_has_neither_connections_nor_upcalls() {
        let hosts = Hosts::new(ServerLimits::new(9));
        let known = || hosts.known().len();
        let admitted = hosts.admit(&inet("10.0.0.1:1")).unwrap();
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
            .map(|n| hosts.admit(&inet(&format!("10.0.1.{n}:1"))).unwrap())
            .collect();
        for one in &admitted {
            while one.host().has_room() {
                upcalls.push(UpcallPlace::take(one.host()));
            }
        }
        let another = hosts.admit(&inet("10.0.2.1:1")).unwrap();
        for _ in 0..ServerLimits::FEW_UPCALLS {
            assert!(another.host().has_room());
            upcalls.push(UpcallPlace::take(another.host()));
        }
        assert!(!another.host().has_room());
        // One host alone has what its own limit says.
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
        let one = hosts.admit(&inet("10.0.0.1:1")).unwrap();
        let other = hosts.admit(&inet("10.0.0.2:1")).unwrap();
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
            .map(|peer| hosts.admit(&inet(peer)).unwrap())
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
