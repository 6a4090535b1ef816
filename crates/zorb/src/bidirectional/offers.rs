//! The endpoints that clients have offered for callbacks, and the connections that offer them.

use core::fmt;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::runtime::Handle;
use zorb_connection::BidirectionalConnection;
use zorb_shares::{Client, Counts, HostKey};
use zorb_transport::Endpoint;

/// Offers of all connections of an ORB, each of an endpoint by a connection; a quarter is kept for hosts that have few.
/// Further offers are ignored and [counted](zorb_connection::Counter::CallbackEndpointsIgnored).
const MAX_OFFERED: usize = 16 << 10;
/// Connections that offer one endpoint, such as those of one client, of which the last one to offer it is called. Beyond this
/// limit, the first offer is dropped.
pub(super) const MAX_CONNECTIONS_OF_ENDPOINT: usize = 8;

/// The offers of an ORB's clients. An offer ends when its client has gone.
pub(super) struct Offers(Mutex<Table>);

struct Table {
    by_endpoint: HashMap<Endpoint, Vec<Weak<BidirectionalConnection>>>,
    /// The endpoints that a connection offers, by its address, which no other connection has while the table refers to it.
    by_connection: HashMap<usize, Offerer>,
    places: Counts,
}

/// A connection that offers endpoints.
struct Offerer {
    /// Keeps the address from being that of another connection.
    _connection: Weak<BidirectionalConnection>,
    host: HostKey,
    endpoints: HashSet<Endpoint>,
}

impl Table {
    /// Forgets that a connection offers an endpoint, of which another one has the place among its connections.
    fn forget(&mut self, address: usize, endpoint: &Endpoint) {
        if let Some(offerer) = self.by_connection.get_mut(&address)
            && offerer.endpoints.remove(endpoint)
        {
            self.places.give_back(offerer.host, 1);
        }
    }
}

impl Default for Offers {
    fn default() -> Self {
        Self(Mutex::new(Table {
            by_endpoint: HashMap::new(),
            by_connection: HashMap::new(),
            places: Counts::new(MAX_OFFERED),
        }))
    }
}

impl fmt::Debug for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table();
        f.debug_struct("Offers")
            .field("taken", &table.places.taken())
            .finish_non_exhaustive()
    }
}

impl Offers {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers that the connection offers the endpoint, as the last one, until its client has gone. Returns whether a limit
    /// allowed that.
    ///
    /// `lane` runs a task for the connection, which waits for that.
    pub(super) fn add(
        self: &Arc<Self>,
        connection: &Arc<BidirectionalConnection>,
        client: &Client,
        endpoint: Endpoint,
        lane: &Handle,
    ) -> bool {
        let this = Arc::downgrade(connection);
        let address = this.as_ptr().addr();
        let mut table = self.table();
        // Its offers would stay.
        if client.is_gone() {
            return false;
        }
        let offerer = table.by_connection.get(&address);
        let is_first = offerer.is_none();
        let is_known = offerer.is_some_and(|offerer| offerer.endpoints.contains(&endpoint));
        if !is_known && table.places.take(client.host(), 1).is_err() {
            return false;
        }
        let offers = table.by_endpoint.entry(endpoint.clone()).or_default();
        offers.retain(|offer| !offer.ptr_eq(&this));
        // A client that comes back may have left its other connections open, and read them no more. References that are bound
        // to these look anew.
        (offers.iter().filter_map(Weak::upgrade)).for_each(|older| older.outdate());
        connection.renew();
        let mut dropped = None;
        if offers.len() >= MAX_CONNECTIONS_OF_ENDPOINT {
            let has_ended = |offer: &Weak<BidirectionalConnection>| {
                offer.upgrade().is_none_or(|offer| offer.is_closing())
            };
            let first = offers.iter().position(has_ended).unwrap_or(0);
            dropped = Some(offers.remove(first));
        }
        offers.push(Weak::clone(&this));
        if let Some(dropped) = dropped {
            table.forget(dropped.as_ptr().addr(), &endpoint);
        }
        let offerer = table.by_connection.entry(address);
        let offerer = offerer.or_insert_with(|| Offerer {
            _connection: this,
            host: client.host(),
            endpoints: HashSet::new(),
        });
        offerer.endpoints.insert(endpoint);
        drop(table);
        if is_first {
            let (offers, gone) = (Arc::clone(self), client.gone());
            lane.spawn(async move {
                gone.await;
                offers.withdraw(address);
            });
        }
        true
    }

    /// Removes the offers of a connection. Linear in their number.
    fn withdraw(&self, address: usize) {
        let mut table = self.table();
        let Some(Offerer {
            host, endpoints, ..
        }) = table.by_connection.remove(&address)
        else {
            return;
        };
        table.places.give_back(host, endpoints.len());
        for endpoint in endpoints {
            let Some(offers) = table.by_endpoint.get_mut(&endpoint) else {
                continue;
            };
            offers.retain(|offer| offer.as_ptr().addr() != address);
            if offers.is_empty() {
                table.by_endpoint.remove(&endpoint);
            }
        }
    }

    /// The last connection to offer an endpoint that is not closing, and is not one of `passed_over`.
    pub(super) fn find(
        &self,
        endpoint: &Endpoint,
        passed_over: &[Arc<BidirectionalConnection>],
    ) -> Option<Arc<BidirectionalConnection>> {
        if passed_over.len() >= MAX_CONNECTIONS_OF_ENDPOINT {
            return None;
        }
        let table = self.table();
        let is_other = |found: &Arc<BidirectionalConnection>| {
            !found.is_closing() && !passed_over.iter().any(|it| Arc::ptr_eq(it, found))
        };
        let offers = table.by_endpoint.get(endpoint)?;
        let found = (offers.iter().rev().filter_map(Weak::upgrade)).find(is_other)?;
        found.renew();
        Some(found)
    }

    /// Forgets all offers.
    pub(super) fn clear(&self) {
        let mut table = self.table();
        table.by_endpoint.clear();
        table.by_connection.clear();
        table.places = Counts::new(MAX_OFFERED);
    }
}
