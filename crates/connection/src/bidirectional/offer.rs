//! Offering a peer a connection on which it may send requests, too.

use super::half::{BidirectionalConnection, Half};
use crate::acceptor::admit;
use crate::owner::Owner;
use crate::server::{ServerConnection, Serving};
use core::fmt;
use std::sync::{Arc, Weak};
use zorb_giop::ServiceContext;
use zorb_transport::{Connection, Endpoint};

/// The ORB's part in a bidirectional connection: the offer to the peer, and the owner that serves the peer's
/// requests.
///
/// Source: CORBA 3.3 Part 2, section 9.8 (bidirectional GIOP).
pub trait Offer: fmt::Debug + Send + Sync {
    /// The service context BI_DIR_IIOP: the endpoints of this ORB that the peer may reach by the connection.
    fn context(&self) -> ServiceContext;

    /// Serves requests of the peer on a connection that was opened, and returns the stream of requests of this end. At the
    /// limit of connections served, the peer's requests are not served, and `stream` is returned undivided.
    fn split(&self, stream: Box<dyn Connection>, endpoint: &Endpoint) -> Split;
}

/// A connection that was opened, and divided into halves if the peer may send requests on it.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing else to know")]
pub struct Split {
    /// The stream of requests of this end, and of their replies.
    pub stream: Box<dyn Connection>,
    /// The connection as a whole, if the peer may send requests on it.
    pub whole: Option<Arc<BidirectionalConnection>>,
}

/// The [`Offer`] of an ORB: the owner `O` serves the requests of peers.
pub struct OfferTo<O: Owner> {
    owner: Weak<O>,
    serving: Arc<Serving<O>>,
    context: Box<dyn Fn() -> ServiceContext + Send + Sync>,
}

impl<O: Owner> OfferTo<O> {
    /// The offer of an ORB. `context` returns the endpoints at present, for each connection anew.
    #[must_use]
    pub fn new(
        owner: Weak<O>,
        serving: Arc<Serving<O>>,
        context: impl Fn() -> ServiceContext + Send + Sync + 'static,
    ) -> Self {
        Self {
            owner,
            serving,
            context: Box::new(context),
        }
    }
}

impl<O: Owner> Offer for OfferTo<O> {
    fn context(&self) -> ServiceContext {
        (self.context)()
    }

    fn split(&self, stream: Box<dyn Connection>, endpoint: &Endpoint) -> Split {
        let admitted = self.owner.upgrade().and_then(|owner| {
            let admitted = admit(&owner, &self.serving, &*stream).ok()?;
            Some((owner, admitted))
        });
        let Some((owner, admitted)) = admitted else {
            return Split {
                stream,
                whole: None,
            };
        };
        let memory = admitted.memory(&owner.settings().memory);
        let whole = BidirectionalConnection::new(stream, true, memory);
        let served = whole.half(Half::Server);
        let connection = ServerConnection::new(served, endpoint.clone(), &owner, admitted)
            .with_bidirectional(Arc::clone(&whole));
        owner.track(Arc::new(connection).drive(&self.serving));
        Split {
            stream: whole.half(Half::Client),
            whole: Some(whole),
        }
    }
}

impl<O: Owner> fmt::Debug for OfferTo<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfferTo").finish_non_exhaustive()
    }
}
