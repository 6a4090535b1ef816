//! Offering a peer a connection on which it may send requests, too.

use super::BidirectionalConnection;
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

    /// Serves requests of the peer on a connection that was opened to `endpoint`.
    ///
    /// # Errors
    /// The stream at the limit of connections served: the peer's requests are not served on it.
    fn serve(
        &self,
        stream: Box<dyn Connection>,
        endpoint: &Endpoint,
    ) -> Result<Arc<BidirectionalConnection>, Box<dyn Connection>>;
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

    fn serve(
        &self,
        stream: Box<dyn Connection>,
        endpoint: &Endpoint,
    ) -> Result<Arc<BidirectionalConnection>, Box<dyn Connection>> {
        let admitted = self.owner.upgrade().and_then(|owner| {
            let admitted = admit(&owner, &self.serving, &*stream).ok()?;
            Some((owner, admitted))
        });
        let Some((owner, admitted)) = admitted else {
            return Err(stream);
        };
        let (connection, both) =
            ServerConnection::with_both_roles(stream, endpoint.clone(), &owner, admitted, true);
        owner.track(Arc::new(connection).drive(&self.serving));
        Ok(both)
    }
}

impl<O: Owner> fmt::Debug for OfferTo<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfferTo").finish_non_exhaustive()
    }
}
