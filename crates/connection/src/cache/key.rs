//! Keys of shared connections.

use super::super::bidirectional::{BidirectionalConnection, Offer};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::runtime::{Handle, Id};
use zorb_cdr::{CharSet, WCharSet};
use zorb_giop::ServiceContext;
use zorb_giop::codeset::CodeSets;
use zorb_transport::Endpoint;

/// The key of a shared connection: all properties in which two references that share a connection have to agree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheKey {
    endpoint: Endpoint,
    /// The runtime whose reactor watches the socket: callers of another runtime have a connection of their own.
    reactor: Id,
    /// The code sets of the connection, and whether its requests state them.
    code_sets: (CharSet, WCharSet),
    stated: bool,
    /// Whether the connection is opened, offered to the peer, or accepted from it.
    origin: OriginKey,
    /// The number among the connections to one endpoint.
    share: Share,
    /// The range of priorities of its calls.
    band: Option<(i16, i16)>,
    /// Properties of its transport, by name and value.
    properties: Vec<(Cow<'static, str>, String)>,
    /// Whether the rules for endpoints that peers name apply to its address.
    named_by_peer: bool,
}

/// The references, of those to one endpoint, that share a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Share {
    /// References that were distributed to one of several connections, by its number.
    Spread(usize),
    /// References of one binding, by its number.
    Private(usize),
}

/// The part of a connection's key beside its endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum OriginKey {
    #[default]
    Opened,
    Offered,
    /// The connection that was accepted, by its number.
    Accepted(u64),
}

/// The side that opens a connection, and whether the peer may send requests on it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ConnectionOrigin {
    /// It is opened, for requests of this end alone.
    Opened,
    /// It is opened, and offered to the peer for its requests (bidirectional GIOP).
    Offered(Arc<dyn Offer>),
    /// The peer has opened it, and offered it for requests of this end.
    Accepted(Arc<BidirectionalConnection>),
}

impl ConnectionOrigin {
    fn key(&self) -> OriginKey {
        match self {
            Self::Opened => OriginKey::Opened,
            Self::Offered(_) => OriginKey::Offered,
            Self::Accepted(both) => OriginKey::Accepted(both.number()),
        }
    }

    /// The service context that requests carry until the peer has answered one.
    pub(crate) fn context(&self) -> Option<ServiceContext> {
        match self {
            Self::Offered(offer) => Some(offer.context()),
            Self::Opened | Self::Accepted(_) => None,
        }
    }
}

impl CacheKey {
    /// The key of connections to an endpoint for the callers of a runtime. `stated`: whether the server states code
    /// sets, so that requests state which ones were chosen.
    #[must_use]
    pub fn new(endpoint: Endpoint, home: &Handle, code_sets: CodeSets, stated: bool) -> Self {
        Self {
            endpoint,
            reactor: home.id(),
            code_sets: (code_sets.char_set, code_sets.wchar_set),
            stated,
            origin: OriginKey::default(),
            share: Share::Spread(0),
            band: None,
            named_by_peer: false,
            properties: Vec::new(),
        }
    }

    /// Returns the endpoint of the connection, as references name it.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Whether requests state the code sets.
    pub(super) fn states_code_sets(&self) -> bool {
        self.stated
    }

    /// Whether the connection may be closed for another one. One that the peer may use for its own requests may not.
    pub(super) fn may_be_purged(&self) -> bool {
        self.origin == OriginKey::Opened
    }

    /// Whether this end opens such connections.
    pub(super) fn can_be_opened(&self) -> bool {
        !matches!(self.origin, OriginKey::Accepted(_))
    }

    /// The key of one of several connections to the endpoint, among which references are distributed: one for each `number`.
    #[must_use]
    pub fn spread(mut self, number: usize) -> Self {
        self.share = Share::Spread(number);
        self
    }

    /// The key of connections for calls whose CORBA priorities lie in the band from `low` to `high`.
    #[must_use]
    pub const fn in_band(mut self, low: i16, high: i16) -> Self {
        self.band = Some((low, high));
        self
    }

    /// The key of connections whose transport has these properties, by name and value.
    #[must_use]
    pub fn with_properties(mut self, properties: Vec<(Cow<'static, str>, String)>) -> Self {
        self.properties = properties;
        self
    }

    /// The key of connections to addresses that the rules for endpoints which peers name permit, where there are such rules.
    #[must_use]
    pub fn named_by_peer(mut self, is_named_by_peer: bool) -> Self {
        self.named_by_peer = is_named_by_peer;
        self
    }

    /// The key of a connection that only the references of one binding use. `binding`: the number of that binding.
    #[must_use]
    pub fn private(mut self, binding: usize) -> Self {
        self.share = Share::Private(binding);
        self
    }

    /// The key of connections of this origin.
    #[must_use]
    pub fn with_origin(mut self, origin: &ConnectionOrigin) -> Self {
        self.origin = origin.key();
        self
    }
}
