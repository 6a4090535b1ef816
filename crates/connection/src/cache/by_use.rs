//! Connections in the order of their last uses, which is brought up to date when a connection is to be closed.
//!
//! A call only stores the number of its use in its connection, so the order here lags behind. The connection in front is
//! looked at, and moved to its place if it was used since. Each move has a use as its cause, so that closing a connection
//! for another takes a few looks, however many connections there are.

use super::key::CacheKey;
use super::limits::NamedBy;
use std::collections::BTreeMap;
use zorb_transport::Endpoint;

/// The key of a connection in the order of last uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecencyKey {
    /// The number of the last use, as of the last look.
    pub(super) used: u64,
    /// The order among connections of one use number.
    pub(super) number: u64,
}

/// Connections by their last uses: those to endpoints that the application has named, and those that peers have named.
#[derive(Debug, Default)]
pub(super) struct ByUse {
    applications: BTreeMap<RecencyKey, CacheKey>,
    peers: BTreeMap<RecencyKey, CacheKey>,
}

impl ByUse {
    fn of(&mut self, named_by: NamedBy) -> &mut BTreeMap<RecencyKey, CacheKey> {
        match named_by {
            NamedBy::Application => &mut self.applications,
            NamedBy::Peer => &mut self.peers,
        }
    }

    pub(super) fn insert(&mut self, place: RecencyKey, named_by: NamedBy, key: &CacheKey) {
        self.of(named_by).insert(place, key.clone());
    }

    pub(super) fn remove(&mut self, place: RecencyKey, named_by: NamedBy) {
        self.of(named_by).remove(&place);
    }

    /// The number of connections that may be closed for an endpoint with this source.
    pub(super) fn len_for(&self, named_by: NamedBy) -> usize {
        let peers = self.peers.len();
        match named_by {
            NamedBy::Application => self.applications.len().saturating_add(peers),
            NamedBy::Peer => peers,
        }
    }

    /// The connections that may be closed for an endpoint with this source: those that the application has named before those
    /// that peers have named.
    pub(super) fn all_for(
        &self,
        named_by: NamedBy,
    ) -> impl Iterator<Item = (&RecencyKey, &CacheKey)> {
        let applications = match named_by {
            NamedBy::Application => Some(&self.applications),
            NamedBy::Peer => None,
        };
        let applications = applications.into_iter().flatten();
        applications.chain(&self.peers)
    }

    /// The first connection that may be closed for an endpoint with this source. For an endpoint that a peer has named, none
    /// that the application has named is closed.
    pub(super) fn first_for(&self, named_by: NamedBy) -> Option<(RecencyKey, CacheKey)> {
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

/// The host of an endpoint, by which connections are counted. Two names of one host count as two hosts; all endpoints of a
/// transport without hosts count as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum HostOf {
    /// The name of the host, in lower case.
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
    /// All connections to the host, including those that may not be closed.
    pub(super) slots: usize,
    pub(super) by_use: ByUse,
}
