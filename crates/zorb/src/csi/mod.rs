//! Who calls, within requests (CSIv2): user names and passwords, and identities that a client asserts for others.
//!
//! A server publishes in the references of a POA that its clients log in ([`Authentication`]), and verifies what they send by a
//! function of the application. The servant finds the outcome in the identity of its [peer](crate::PoaCurrent::get_peer):
//! [`PeerIdentity::principal`](crate::transport::PeerIdentity::principal). A client has [`Credentials`], for all calls, those by a
//! reference, or a single one ([`PolicyOverrides::credentials`](crate::policy::PolicyOverrides::credentials)).
//!
//! ```
//! # use zorb::csi::{Authentication, Credentials, Csi, Refusal};
//! # use zorb::transport::Principal;
//! # use zorb::{Error, Orb};
//! # async fn password_of(_: &str) -> Option<Vec<u8>> { None }
//! # async fn example() -> Result<(), Error> {
//! // A server.
//! let orb = Orb::builder().listen("iiop://127.0.0.1:0").csi(Csi::new()).build().await?;
//! let accounts = orb.root_poa().create_poa("accounts", None)?;
//! accounts.set_authentication(&Authentication::passwords(async |login| {
//!     let stored = password_of(login.username()).await.ok_or(Refusal::Denied)?;
//!     // A server of your own has hashes, of course.
//!     match login.has_password(&stored) {
//!         true => Ok(Principal::new(login.username())),
//!         false => Err(Refusal::Denied),
//!     }
//! }))?;
//!
//! // A client.
//! let csi = Csi::new().credentials(Credentials::password("alice", "open sesame"));
//! let client = Orb::builder().csi(csi).build().await?;
//! # Ok(()) }
//! ```
//!
//! **Passwords** are sent only to objects whose reference asks for them, and only over connections that others cannot read: TLS,
//! and UNIX sockets. A server takes them only there, too. [`Credentials::also_over_unprotected_connections`] and
//! [`Authentication::also_over_unprotected_connections`] lift that, each for its side. They are wiped from memory where the ORB
//! keeps them; buffers of connections are used again without being wiped.
//!
//! **Refusals** are NO_PERMISSION with one text, whatever the reason: the operation is not carried out. A security context in the
//! reply says no more than that the evidence is invalid.
//!
//! **Contexts.** A client sends its evidence until the server has said that it keeps it for the connection; from then on, requests
//! have 32 octets more. A server that has forgotten it is sent the evidence again, once.
//!
//! **Calls within an ORB** are not asked who they are.
//!
//! Source: CORBA 3.3 Part 2, Secure Interoperability.

mod authentication;
mod client;
mod credentials;
mod publish;
mod server;

pub use authentication::{Assertion, Authentication, Login, Refusal};
pub use credentials::Credentials;
pub use zorb_csi::{IdentityToken, IdentityTypes, Secret, TokenError, gss};

use crate::builder::Builder;
use crate::orb::OrbInner;
use crate::poa::Poa;
use arc_swap::ArcSwap;
use client::ClientSide;
use core::fmt;
pub(crate) use server::ServerSide;
use std::sync::{Arc, Weak};
use zorb_connection::Peer;
use zorb_giop::{CompletionStatus, Fault, Ior, ServiceContextId, SystemException};
use zorb_poa::Adapter;
use zorb_transport::{Address, Endpoint, Registry};

/// The service context of the protocol.
const SECURITY: ServiceContextId = ServiceContextId(15);

/// The security contexts of an ORB: for [`Builder::csi`].
#[derive(Debug, Clone, Default)]
#[must_use = "it does nothing until a builder has it"]
pub struct Csi {
    credentials: Option<Credentials>,
}

impl Csi {
    /// Makes settings with which no call has credentials, and no POA asks for any.
    pub fn new() -> Self {
        Self::default()
    }

    /// The credentials of the calls of the ORB, unless a reference or a call has others.
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }
}

impl Builder {
    /// Has calls and POAs use security contexts: see [`csi`](crate::csi). They are an interceptor of each side, in the order of
    /// the builder's methods: interceptors that are added behind it know who calls.
    pub fn csi(mut self, csi: Csi) -> Self {
        let server = Arc::new(ServerSide::default());
        self.settings.csi = Some(Arc::clone(&server));
        if let Some(credentials) = csi.credentials {
            let policies = &mut self.settings.policies;
            *policies = policies.clone().credentials(credentials);
        }
        self.client_interceptor(ClientSide)
            .server_interceptor_of(server)
    }
}

impl Poa {
    /// Has the clients of this POA's objects authenticate. It counts for requests from now on, and for references that are made
    /// from now on. Child POAs do not inherit it.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the ORB has been built without [`Builder::csi`].
    pub fn set_authentication(
        &self,
        authentication: &Authentication,
    ) -> Result<(), SystemException> {
        let Some(csi) = &self.orb().inner().settings().csi else {
            let why = "the ORB has no security contexts: Builder::csi".to_owned();
            return Err(Fault::OutOfOrder(why).raise(CompletionStatus::No));
        };
        csi.protected.set(self.adapter(), authentication);
        Ok(())
    }
}

/// Publishes in a reference to an object of an adapter how its clients authenticate.
///
/// # Errors
/// INTERNAL if the components cannot be written.
pub(crate) fn publish(
    orb: &OrbInner,
    adapter: &Arc<Adapter>,
    ior: &mut Ior,
) -> Result<(), SystemException> {
    let authentication = (orb.settings().csi.as_ref()).and_then(|csi| csi.protected.of(adapter));
    let Some(authentication) = authentication else {
        return Ok(());
    };
    let published = publish::publish(ior, &authentication, orb.transports());
    published.map_err(|error| Fault::Encode(error).raise(CompletionStatus::No))
}

/// The POAs whose clients authenticate.
#[derive(Default)]
struct ProtectedAdapters(ArcSwap<Vec<(Weak<Adapter>, Authentication)>>);

impl ProtectedAdapters {
    fn set(&self, adapter: &Arc<Adapter>, authentication: &Authentication) {
        self.0.rcu(|all| {
            let others = (all.iter())
                .filter(|(of, _)| of.strong_count() > 0 && !core::ptr::eq(of.as_ptr(), &**adapter));
            let own = (Arc::downgrade(adapter), authentication.clone());
            others.cloned().chain([own]).collect::<Vec<_>>()
        });
    }

    fn of(&self, adapter: &Arc<Adapter>) -> Option<Authentication> {
        let all = self.0.load();
        let found = (all.iter()).find(|(of, _)| core::ptr::eq(of.as_ptr(), &**adapter));
        found.map(|(_, authentication)| authentication.clone())
    }

    fn is_empty(&self) -> bool {
        self.0.load().is_empty()
    }
}

impl fmt::Debug for ProtectedAdapters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} adapters", self.0.load().len())
    }
}

/// Whether nobody else can read or change the octets of a connection: it is protected by its transport, or stays on the host.
fn is_protected(endpoint: &Endpoint, address: &Address, transports: &Registry) -> bool {
    matches!(address, Address::Unix(_))
        || (transports.get(endpoint.scheme()))
            .is_some_and(|transport| transport.addressing().protection().is_some())
}

/// Whether nobody else can read or change what a peer sends.
fn is_protected_peer(peer: &Peer, orb: &OrbInner) -> bool {
    is_protected(&peer.endpoint, &peer.address, orb.transports())
}
