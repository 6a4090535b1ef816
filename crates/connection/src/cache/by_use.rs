//! Connections in the order of their last uses, as it was when they were looked at last.
//!
//! A call only stores the number of its use in its connection, so the order here is late: the connection in front is
//! looked at, and moved to where it belongs if it was used since. Each such move is paid for by a use, so that closing a
//! connection for another takes a few looks, however many connections there are.

use super::key::CacheKey;
use super::limits::NamedBy;
use std::collections::BTreeMap;
use zorb_transport::Endpoint;

/// A place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The number of the last use that is known.
    pub(super) used: u64,
    /// The order in which connections of one number were put here.
    pub(super) number: u64,
}

/// Connections by their last uses: those that the application has named, and those that peers have.
#[derive(Debug, Default)]
pub(super) struct ByUse {
    applications: BTreeMap<Place, CacheKey>,
    peers: BTreeMap<Place, CacheKey>,
}

impl ByUse {
    fn of(&mut self, named_by: NamedBy) -> &mut BTreeMap<Place, CacheKey> {
        match named_by {
            NamedBy::Application => &mut self.applications,
            NamedBy::Peer => &mut self.peers,
        }
    }

    pub(super) fn insert(&mut self, place: Place, named_by: NamedBy, key: &CacheKey) {
        self.of(named_by).insert(place, key.clone());
    }

    pub(super) fn remove(&mut self, place: Place, named_by: NamedBy) {
        self.of(named_by).remove(&place);
    }

    /// How many there are that may be closed for an endpoint that was named so.
    pub(super) fn len_for(&self, named_by: NamedBy) -> usize {
        let peers = self.peers.len();
        match named_by {
            NamedBy::Application => self.applications.len().saturating_add(peers),
            NamedBy::Peer => peers,
        }
    }

    /// The one in front of those that may be closed for an endpoint that was named so: for a peer's, none that the
    /// application has named.
    pub(super) fn first_for(&self, named_by: NamedBy) -> Option<(Place, CacheKey)> {
        let peers = self.peers.first_key_value();
        let first = match named_by {
            NamedBy::Peer => peers,
            NamedBy::Application => {
                let applications = self.applications.first_key_value();
                applications
                    .into_iter()
                    .chain(peers)
                    .min_by_key(|(place, _)| **place)
            }
        };
        first.map(|(place, key)| (*place, key.clone()))
    }
}

/// The host of an endpoint, by which connections are counted. Two names of one host are two hosts; the endpoints of a
/// transport without hosts are of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum HostOf {
    /// In lower case.
    Named(String),
    Scheme(&'static str),
}

impl HostOf {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        match endpoint.host() {
            Some(host) => Self::Named(host.to_ascii_lowercase()),
            None => Self::Scheme(endpoint.scheme()),
        }
    }
}

/// The connections to a host.
#[derive(Debug, Default)]
pub(super) struct ToHost {
    /// All of them, those included that may not be closed.
    pub(super) slots: usize,
    pub(super) by_use: ByUse,
}
