//! Who a client is.

use core::fmt;
use std::sync::Arc;
use zorb_csi::{IdentityToken, Secret};

/// Who a client says it is: a user name with a password, and an identity that it asserts. A clone is the same value, and costs
/// a reference count. `Debug` does not show the password, which is wiped with the last clone.
#[derive(Clone)]
#[must_use = "credentials do nothing until an ORB, a reference or a call has them"]
pub struct Credentials(Arc<Parts>);

#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    /// User name and password.
    pub(super) login: Option<(String, Secret)>,
    pub(super) identity: IdentityToken,
    pub(super) is_for_unprotected: bool,
}

impl Credentials {
    /// A user with a password (GSSUP). The name may have a scope: [`name@scope`](super::gss::join_scope), as GlassFish expects it.
    pub fn password(username: impl Into<String>, password: impl Into<Secret>) -> Self {
        Self(Arc::new(Parts {
            login: Some((username.into(), password.into())),
            ..Parts::default()
        }))
    }

    /// No credentials: for calls of an ORB that has some.
    pub fn none() -> Self {
        Self(Arc::default())
    }

    /// Makes calls in the name of another principal, for which the server has to trust this client. Without a password of
    /// its own the client is known by its connection: by the certificate of TLS.
    ///
    /// A server whose reference does not say that it takes this form of identity is not called: NO_PERMISSION.
    pub fn asserting(self, identity: IdentityToken) -> Self {
        self.with(|parts| parts.identity = identity)
    }

    /// Sends the credentials over connections that others may read, too: of TCP without TLS. Without this, a call whose
    /// server requires credentials fails there, with NO_PERMISSION, and one whose server merely takes them goes without.
    pub fn also_over_unprotected_connections(self) -> Self {
        self.with(|parts| parts.is_for_unprotected = true)
    }

    fn with(self, change: impl FnOnce(&mut Parts)) -> Self {
        let mut parts = Parts::clone(&self.0);
        change(&mut parts);
        Self(Arc::new(parts))
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.0
    }
}

impl PartialEq for Credentials {
    /// Whether both are the same value.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Credentials {}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
