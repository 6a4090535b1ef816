//! The connections that an ORB serves.

use super::super::fairness::{HostPermit, Hosts, NotAdmitted, Refusal, ServerLimits};
use super::super::owner::Owner;
use super::super::sync::{Mutex, MutexGuard};
use super::ServerConnection;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};
use tokio::sync::Notify;
use zorb_shares::CancelReason;
use zorb_transport::{Address, PeerIdentity};

/// The connections that an ORB serves, and the [limits](ServerLimits) on them. Acceptors share one.
#[derive(Debug)]
pub struct Serving<O: Owner> {
    hosts: Arc<Hosts>,
    connections: Mutex<Registered<O>>,
}

#[derive(Debug)]
struct Registered<O: Owner> {
    next: u64,
    all: HashMap<u64, Weak<ServerConnection<O>>>,
}

impl<O: Owner> Serving<O> {
    /// Makes an empty set of served connections with these limits.
    #[must_use]
    pub fn new(limits: ServerLimits) -> Self {
        Self {
            hosts: Hosts::new(limits),
            connections: Mutex::new(Registered {
                next: 0,
                all: HashMap::new(),
            }),
        }
    }

    fn registered(&self) -> MutexGuard<'_, Registered<O>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for another connection from this peer, if the limits permit.
    pub(crate) fn admit(
        &self,
        peer: &Address,
        identity: Option<PeerIdentity>,
    ) -> Result<HostPermit, NotAdmitted> {
        self.hosts.admit(peer, identity)
    }

    /// The permission to refuse a connection from this peer with CloseConnection, unless many are being refused.
    pub(crate) fn refusal(
        &self,
        peer: &Address,
        identity: Option<PeerIdentity>,
    ) -> Option<Refusal> {
        self.hosts.refusal(peer, identity)
    }

    /// The limits.
    pub(crate) fn limits(&self) -> &ServerLimits {
        self.hosts.limits()
    }

    /// Returns the number of served connections. Locks the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.registered().all.len()
    }

    /// Whether no connection is served. Locks the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of pending upcalls of all connections, including closed ones.
    #[must_use]
    pub fn pending_upcalls(&self) -> usize {
        self.hosts.pending_upcalls()
    }

    pub(super) fn all(&self) -> Vec<(u64, Weak<ServerConnection<O>>)> {
        let registered = self.registered();
        let all = registered.all.iter();
        all.map(|(id, connection)| (*id, Weak::clone(connection)))
            .collect()
    }

    /// Notified when a client makes the ORB wait.
    pub(super) fn waits(&self) -> &Arc<Notify> {
        &self.hosts.waits
    }

    /// Wakes the drivers of all connections: the owner is stopping.
    pub fn wake_all(&self) {
        let all = self.all().into_iter();
        all.filter_map(|(_, connection)| connection.upgrade())
            .for_each(|connection| connection.wake());
    }

    /// Cancels the requests of all connections that are watched, and those that will be: see [`Peer::watch`](super::super::Peer::watch).
    pub fn cancel_all(&self, reason: CancelReason) {
        let all = self.all().into_iter();
        all.filter_map(|(_, connection)| connection.upgrade())
            .for_each(|connection| connection.peer.requests.end_all(reason));
    }

    /// Returns the number of connections whose driver is held up by an upcall, some time after the owner has begun to stop.
    #[must_use]
    pub fn held_up(&self) -> usize {
        let all = self.all().into_iter();
        all.filter_map(|(_, connection)| connection.upgrade())
            .filter(|connection| connection.is_held_up())
            .count()
    }

    /// Registers a connection, until the result is dropped.
    pub(super) fn register(
        self: &Arc<Self>,
        connection: &Arc<ServerConnection<O>>,
    ) -> Registration<O> {
        let mut registered = self.registered();
        let id = registered.next;
        registered.next = id.wrapping_add(1);
        (registered.all).insert(id, Arc::downgrade(connection));
        drop(registered);
        self.hosts.waits.notify_one();
        Registration {
            serving: Arc::clone(self),
            id,
        }
    }
}

/// The entry of a served connection, which is removed when this is dropped, even by a panic.
pub(super) struct Registration<O: Owner> {
    serving: Arc<Serving<O>>,
    id: u64,
}

impl<O: Owner> Drop for Registration<O> {
    fn drop(&mut self) {
        self.serving.registered().all.remove(&self.id);
    }
}
