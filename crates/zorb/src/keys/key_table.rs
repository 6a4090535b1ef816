//! The application's side of plain keys: binding them, resolving unknown ones, and their URLs.

use super::{Bound, KeyResolver, KeyTableError, Keys};
use crate::error::Error;
use crate::interface::Interface;
use crate::object::ObjectRef;
use crate::orb::Orb;
use bytes::Bytes;
use core::fmt;
use std::sync::Arc;
use zorb_giop::url::escape;
use zorb_giop::{Ior, SystemException};
use zorb_poa::{ObjectId, is_reserved};
use zorb_transport::Endpoint;

/// The table of plain keys: names in place of object keys, for references that are written by hand.
///
/// A request for `corbaloc::host:port/Bank` arrives with the key `Bank`. If that is bound to an
/// object of this ORB, the object serves the request itself; if it is bound to an object
/// somewhere else, the client is forwarded there (LOCATION_FORWARD). Objects of
/// [`Orb::ins_poa`] come first: their ids *are* plain keys. Other keys go to the [key resolver](Self::set_key_resolver), if
/// there is one.
///
/// Such a URL states no code sets, so by it a client sends `string`s as ISO 8859-1 and cannot send wide text. Bind a
/// forward instead of the object, and each client uses the full reference after its first call:
/// `bind("Bank", &poa.create_forward::<ObjectRef>(Forward::to(&account))?)`, with
/// [`Poa::create_forward`](crate::Poa::create_forward).
///
/// Bindings live as long as the ORB. The table itself has no POA manager: the manager of an object of this ORB applies
/// to its requests, and a forward is sent as soon as the ORB listens.
///
/// A clone costs a reference count.
///
/// ```
/// # async fn f(orb: zorb::Orb, account: zorb::ObjectRef) -> Result<(), zorb::Error> {
/// orb.key_table().bind("Bank", &account)?;
/// // corbaloc:iiop:1.2@192.0.2.7:2810/Bank
/// println!("{}", orb.corbaloc_url("Bank")?);
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[doc(alias = "IORTable")]
pub struct KeyTable(Orb);

impl KeyTable {
    fn keys(&self) -> &Keys {
        self.0.inner().keys()
    }

    fn bound(&self, key: &[u8], object: &impl Interface) -> Result<Bound, KeyTableError> {
        if is_reserved(key) {
            return Err(KeyTableError::ReservedKey(key.into()));
        }
        let ior = object.as_object().ior();
        if ior.is_nil() {
            return Err(KeyTableError::NilReference);
        }
        Ok(self.0.inner().bound(key, ior.clone()))
    }

    fn object(&self, bound: &Bound) -> ObjectRef {
        self.0.object(Ior::clone(&bound.ior))
    }

    /// Binds a key, which may be any octets, to a reference.
    ///
    /// # Errors
    /// [`KeyTableError::AlreadyBound`] for a key that is bound, [`KeyTableError::ReservedKey`] for one that begins as
    /// zorb's own keys do, [`KeyTableError::NilReference`] for a nil reference.
    pub fn bind(
        &self,
        key: impl AsRef<[u8]>,
        object: &impl Interface,
    ) -> Result<(), KeyTableError> {
        let key = key.as_ref();
        self.keys()
            .table
            .insert(self.bound(key, object)?)
            .map_err(|_| KeyTableError::AlreadyBound(key.into()))
    }

    /// Binds a key to a reference and returns the previous one.
    ///
    /// # Errors
    /// [`KeyTableError::ReservedKey`] for a key that begins as zorb's own keys do, [`KeyTableError::NilReference`] for
    /// a nil reference.
    pub fn rebind(
        &self,
        key: impl AsRef<[u8]>,
        object: &impl Interface,
    ) -> Result<Option<ObjectRef>, KeyTableError> {
        let key = key.as_ref();
        let before = self.keys().table.replace(self.bound(key, object)?);
        Ok(before.map(|bound| self.object(&bound)))
    }

    /// Unbinds a key and returns its reference.
    ///
    /// # Errors
    /// [`KeyTableError::NotFound`] for a key that is not bound.
    pub fn unbind(&self, key: impl AsRef<[u8]>) -> Result<ObjectRef, KeyTableError> {
        let key = key.as_ref();
        match self.keys().table.remove(key) {
            Some(bound) => Ok(self.object(&bound)),
            None => Err(KeyTableError::NotFound(key.into())),
        }
    }

    /// Returns the reference that a key is bound to; `None` for an unbound key. Costs some allocations.
    #[must_use]
    pub fn find(&self, key: impl AsRef<[u8]>) -> Option<ObjectRef> {
        let bound = self.keys().table.find(key.as_ref())?;
        Some(self.object(&bound))
    }

    /// Returns the bound keys, sorted. Copies all of them.
    #[must_use]
    pub fn list(&self) -> Vec<Bytes> {
        let names = self.keys().table.names();
        let mut keys: Vec<Bytes> = names.into_iter().map(Bytes::from).collect();
        keys.sort_unstable();
        keys
    }

    /// Registers `locate` as the resolver of every unknown key: plain ones, and those of persistent objects whose POA
    /// does not exist. If it returns an object of this ORB, that serves the request; to any other object the client is
    /// forwarded; `None` is OBJECT_NOT_EXIST. There is one resolver; setting another replaces it.
    ///
    /// It is called for each request and LocateRequest anew, and the connection serves other requests meanwhile. At
    /// most 256 keys are looked up at a time, each for at most 10 seconds; a request beyond either limit is TRANSIENT.
    /// A panic is OBJ_ADAPTER at the client. A resolver that holds the ORB keeps it alive until it is shut down.
    ///
    /// ```
    /// # fn f(orb: &zorb::Orb) {
    /// let home = orb.clone();
    /// orb.key_table().set_key_resolver(move |key| {
    ///     let home = home.clone();
    ///     async move {
    ///         let Some(branch) = key.strip_prefix(b"Bank/") else {
    ///             return Ok(None);
    ///         };
    ///         let host = String::from_utf8_lossy(branch);
    ///         let url = format!("corbaloc:iiop:1.2@{host}.bank.example:2810/Bank");
    ///         Ok(Some(home.string_to_object(&url).await?))
    ///     }
    /// });
    /// # }
    /// ```
    #[doc(alias = "IORTable::Locator")]
    #[doc(alias = "AdapterActivator")]
    pub fn set_key_resolver<F, L>(&self, locate: F)
    where
        F: Fn(Bytes) -> L + Send + Sync + 'static,
        L: Future<Output = Result<Option<ObjectRef>, SystemException>> + Send + 'static,
    {
        let resolver: KeyResolver = Box::new(move |key| {
            let found = locate(key);
            Box::pin(async move { Ok(found.await?.map(|object| object.ior().clone())) })
        });
        self.keys().resolver.store(Some(Arc::new(resolver)));
    }

    /// Removes the key resolver. Look-ups in progress go on; later unknown keys are OBJECT_NOT_EXIST.
    pub fn clear_key_resolver(&self) {
        self.keys().resolver.store(None);
    }
}

impl fmt::Debug for KeyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<ObjectId> = self.list().into_iter().map(ObjectId::from).collect();
        f.debug_struct("KeyTable")
            .field("keys", &keys)
            .finish_non_exhaustive()
    }
}

impl Orb {
    /// Returns the table of plain keys, which all handles of the ORB share. Costs a reference count.
    #[must_use]
    pub fn key_table(&self) -> KeyTable {
        KeyTable(self.clone())
    }

    /// The URL of a plain key at the endpoints that this ORB publishes, escaped: `corbaloc:iiop:1.2@host:port/Bank`.
    /// The key need not be bound.
    ///
    /// One URL names all endpoints whose addresses have no slash, such as those of TCP. Other endpoints, such as UNIX
    /// sockets, cannot be combined in a URL: the first of them is named only if there is none without a slash. Where there
    /// are endpoints with protection (TLS), those of host and port without it are left out.
    ///
    /// # Errors
    /// [`Error::NoEndpoint`] when the ORB listens nowhere.
    pub fn corbaloc_url(&self, key: impl AsRef<[u8]>) -> Result<String, Error> {
        let published = self.inner().published();
        let (mut together, mut alone) = (Vec::new(), None);
        let transports = self.inner().transports();
        let is_protected = |endpoint: &Endpoint| {
            let transport = transports.get(endpoint.scheme());
            transport.is_some_and(|transport| transport.addressing().protection().is_some())
        };
        let any_protected = published.endpoints.iter().any(is_protected);
        for endpoint in &published.endpoints {
            let Some(transport) = transports.get(endpoint.scheme()) else {
                continue;
            };
            // A client would try the addresses of a URL one after the other, and end without protection.
            if any_protected && endpoint.port().is_some() && !is_protected(endpoint) {
                continue;
            }
            let address = transport.addressing().corbaloc(endpoint);
            let text = format!("{}:{}@{address}", endpoint.scheme(), published.version);
            match address.contains(['/', ',', '|']) {
                true => alone = alone.or(Some(text)),
                false => together.push(text),
            }
        }
        let key = escape(key.as_ref());
        match (together.is_empty(), alone) {
            (false, _) => Ok(format!("corbaloc:{}/{key}", together.join(","))),
            (true, Some(alone)) => Ok(format!("corbaloc:{alone}|{key}")),
            (true, None) => Err(Error::NoEndpoint),
        }
    }
}
