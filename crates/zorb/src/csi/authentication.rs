//! How the clients of a POA authenticate, and who may assert the identity of others.

use core::fmt;
use core::pin::Pin;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use zorb_connection::Peer;
use zorb_csi::gss::{ExportedName, oid, split_scope, unwrap};
use zorb_csi::gssup::InitialContextToken;
use zorb_csi::{EstablishContext, IdentityToken, Secret, Status};
use zorb_transport::Principal;

/// The name of a server in its references, unless it has another one.
const REALM: &str = "default";

/// A user name and a password that a client has sent. `Debug` does not show the password, which is wiped with this value.
#[derive(Debug)]
pub struct Login {
    username: String,
    password: Secret,
    peer: Arc<Peer>,
}

impl Login {
    /// Returns the user name as the client has sent it, which may be anything.
    #[must_use]
    pub fn username(&self) -> &str {
        &self.username
    }

    /// Returns the name and scope of `name@scope`, as GlassFish sends user names.
    #[must_use]
    pub fn name_and_scope(&self) -> (String, Option<String>) {
        split_scope(&self.username)
    }

    /// Returns the octets of the password, as a rule UTF-8: for a function that compares it with a hash.
    #[must_use]
    pub fn password(&self) -> &[u8] {
        self.password.expose()
    }

    /// Whether the password is this one. Takes as long wherever they differ.
    #[must_use]
    pub fn has_password(&self, password: impl AsRef<[u8]>) -> bool {
        self.password == Secret::from(password.as_ref())
    }

    /// Returns the client's connection.
    #[must_use]
    pub const fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }
}

/// An identity that a client asserts for its request.
#[derive(Debug)]
#[non_exhaustive]
pub struct Assertion {
    /// The identity, as the client has sent it.
    pub identity: IdentityToken,
    /// Who the client has proved to be by a password; `None` if it has sent none.
    pub client: Option<Principal>,
    /// The client's connection, whose certificate may say who the client is.
    pub peer: Arc<Peer>,
}

/// Why a client is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is not who it says, or must not be: NO_PERMISSION.
    Denied,
    /// It cannot be found out now: TRANSIENT.
    Unavailable,
}

type Verified = Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send>>;
type Verify<T> = dyn Fn(T) -> Verified + Send + Sync;

/// How the clients of a POA authenticate: for [`Poa::set_authentication`](crate::Poa::set_authentication). Use one value for all POAs
/// with the same rules: a client's context is of one value on one connection. A clone is the same value.
#[derive(Clone)]
#[must_use = "it does nothing until a POA has it"]
pub struct Authentication {
    /// Contexts that were accepted by one value are none of another.
    id: u64,
    realm: Arc<str>,
    verify: Option<Arc<Verify<Login>>>,
    trust: Option<Arc<Verify<Assertion>>>,
    pub(super) is_required: bool,
    pub(super) is_stateful: bool,
    pub(super) is_for_unprotected: bool,
    pub(super) no_context: Status,
}

impl Authentication {
    fn new() -> Self {
        Self {
            id: 0,
            realm: REALM.into(),
            verify: None,
            trust: None,
            is_required: true,
            is_stateful: true,
            is_for_unprotected: false,
            no_context: Status::NO_CONTEXT,
        }
        .anew()
    }

    fn anew(mut self) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        self.id = LAST.fetch_add(1, Ordering::Relaxed);
        self
    }

    /// Clients send a user name and a password (GSSUP), which the function verifies: it returns in whose name the requests are.
    ///
    /// It is called once for a client on a connection, and again when the context has been forgotten; for each request of a client
    /// without contexts. Requests wait for it, no others do.
    pub fn passwords<F, V>(verify: F) -> Self
    where
        F: Fn(Login) -> V + Send + Sync + 'static,
        V: Future<Output = Result<Principal, Refusal>> + Send + 'static,
    {
        Self {
            verify: Some(Arc::new(move |login| Box::pin(verify(login)))),
            ..Self::new()
        }
    }

    /// Clients need no password: they are known by their connection, and may [assert](Self::trusting) the identity of others.
    pub fn by_connection() -> Self {
        Self::new().optional()
    }

    /// Clients may act for others: the function decides whether this client may assert this identity, and returns in whose name the
    /// request is. Without it, requests with an asserted identity are refused.
    ///
    /// The function is the trust rule. What the client asserts is not proved by anything; certificates in it are not verified.
    pub fn trusting<F, V>(mut self, trust: F) -> Self
    where
        F: Fn(Assertion) -> V + Send + Sync + 'static,
        V: Future<Output = Result<Principal, Refusal>> + Send + 'static,
    {
        self.trust = Some(Arc::new(move |assertion| Box::pin(trust(assertion))));
        self.anew()
    }

    /// The name of the server in its references and in the tokens of its clients; `default` unless set. GlassFish calls it
    /// the realm.
    pub fn realm(mut self, realm: &str) -> Self {
        self.realm = realm.into();
        self.anew()
    }

    /// Requests without credentials are carried out, too, in the name of nobody: the servant decides.
    pub fn optional(mut self) -> Self {
        self.is_required = false;
        self.anew()
    }

    /// Keeps no contexts: each request carries the evidence, and is verified.
    pub fn stateless(mut self) -> Self {
        self.is_stateful = false;
        self.anew()
    }

    /// Takes credentials over connections that others can read, too: of TCP without TLS.
    pub fn also_over_unprotected_connections(mut self) -> Self {
        self.is_for_unprotected = true;
        self.anew()
    }

    /// Reports contexts that have been forgotten as JacORB does, as an invalid mechanism. JacORB's clients send a request
    /// again for no other reason; else one call fails before the next succeeds.
    pub fn reporting_forgotten_contexts_as_jacorb(mut self) -> Self {
        self.no_context = Status::INVALID_MECHANISM;
        self.anew()
    }

    pub(super) const fn id(&self) -> u64 {
        self.id
    }

    pub(super) const fn takes_passwords(&self) -> bool {
        self.verify.is_some()
    }

    pub(super) const fn takes_assertions(&self) -> bool {
        self.trust.is_some()
    }

    pub(super) fn target_name(&self) -> bytes::Bytes {
        // No realm has 4 GiB.
        let name = ExportedName::gssup(&self.realm).to_octets();
        name.unwrap_or_default()
    }

    /// Verifies the evidence of a client. `None`: it has sent none, and needs none.
    pub(super) async fn verify(
        &self,
        evidence: EstablishContext,
        peer: &Arc<Peer>,
    ) -> Result<Option<Principal>, Failure> {
        let denied = Failure::Denied(Status::INVALID_EVIDENCE);
        let client = match evidence.authentication.is_empty() {
            true => None,
            false => Some(self.log_in(&evidence.authentication, peer).await?),
        };
        if evidence.identity == IdentityToken::Absent {
            return match client {
                None if self.is_required => Err(denied),
                client => Ok(client),
            };
        }
        if client.is_none() && self.is_required {
            return Err(denied);
        }
        let trust = self.trust.as_ref().ok_or(denied)?;
        let assertion = Assertion {
            identity: evidence.identity,
            client,
            peer: Arc::clone(peer),
        };
        let mut principal = trust(assertion).await?;
        principal.is_asserted = true;
        Ok(Some(principal))
    }

    async fn log_in(&self, token: &Secret, peer: &Arc<Peer>) -> Result<Principal, Failure> {
        let denied = |_| Failure::Denied(Status::INVALID_EVIDENCE);
        let other = Failure::Denied(Status::INVALID_MECHANISM);
        let verify = self.verify.as_ref().ok_or(other)?;
        let (mechanism, _) = unwrap(token.expose()).map_err(denied)?;
        if mechanism != oid::GSSUP {
            return Err(other);
        }
        let token = InitialContextToken::from_token(token.expose()).map_err(denied)?;
        // Clients that have no reference of ours, such as one of a URL, name no target.
        if !token.target_name.is_empty() && token.target_name != self.target_name() {
            return Err(Failure::Denied(Status::INVALID_EVIDENCE));
        }
        let login = Login {
            username: token.username,
            password: token.password,
            peer: Arc::clone(peer),
        };
        Ok(verify(login).await?)
    }
}

/// Why evidence is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Denied(Status),
    Unavailable,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Denied => Self::Denied(Status::INVALID_EVIDENCE),
            Refusal::Unavailable => Self::Unavailable,
        }
    }
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authentication")
            .field("realm", &self.realm)
            .field("is_required", &self.is_required)
            .field("takes_passwords", &self.takes_passwords())
            .field("takes_assertions", &self.takes_assertions())
            .finish_non_exhaustive()
    }
}
