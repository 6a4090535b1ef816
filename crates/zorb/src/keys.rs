//! Plain keys, such as the `Bank` of `corbaloc::host:port/Bank`: their table, and the resolver of unknown keys.

use crate::error::Error;
use crate::interface::Interface;
use crate::object::ObjectRef;
use crate::orb::{Orb, OrbInner};
use crate::profile::describe_key;
use crate::serve::enter;
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use core::fmt;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::time::Duration;
use std::sync::Arc;
use tokio::sync::Semaphore;
use zorb_connection::Counter;
use zorb_giop::url::escape;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException};
use zorb_poa::{
    ActiveObject, KeyOwner, Missing, Named, Names, ObjectAdapter, ObjectId, ObjectKey, is_reserved,
};

/// Concurrent look-ups of the key resolver; a request beyond them is TRANSIENT.
const MAX_PENDING_LOOKUPS: usize = 256;
/// The time limit of a look-up, after which the request is TRANSIENT and the look-up dropped.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// The error of an operation of the [key table](KeyTable). No binding has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyTableError {
    /// The key is bound; `rebind` replaces its reference.
    #[error("the key \"{0}\" is bound already")]
    AlreadyBound(ObjectId),
    /// The key is not bound.
    #[error("the key \"{0}\" is not bound")]
    NotFound(ObjectId),
    /// The key begins as zorb's own keys do, so no request could reach it.
    #[error("\"{0}\" cannot be a plain key: it begins as the keys that zorb makes")]
    ReservedKey(ObjectId),
    /// A key cannot be bound to a nil reference.
    #[error("the reference is nil")]
    NilReference,
}

/// An entry of the table: a plain key and its target.
#[derive(Clone)]
struct Bound {
    key: Bytes,
    ior: Arc<Ior>,
    /// The object's own key, if the object is one of this ORB.
    own: Option<Bytes>,
}

type LookUp = Pin<Box<dyn Future<Output = Result<Option<ObjectRef>, SystemException>> + Send>>;
type KeyResolver = Box<dyn Fn(Bytes) -> LookUp + Send + Sync>;

/// The plain keys of an ORB.
pub(crate) struct Keys {
    table: Names<Bound>,
    resolver: ArcSwapOption<KeyResolver>,
    lookups: Semaphore,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            table: Names::new(),
            resolver: ArcSwapOption::empty(),
            lookups: Semaphore::new(MAX_PENDING_LOOKUPS),
        }
    }
}

impl Keys {
    /// Drops all references and the resolver, which may keep the ORB alive.
    pub(crate) fn clear(&self) {
        self.table.clear();
        self.resolver.store(None);
    }
}

/// The result of looking a key up.
pub(crate) enum Found {
    Object(Arc<ActiveObject>),
    /// A forward to this reference: the object is not one of this ORB.
    Forward(Arc<Ior>),
    /// The key resolver, or an adapter activator, has to be called.
    Unknown(Bytes),
}

impl Named for Bound {
    fn name(&self) -> &[u8] {
        &self.key
    }
}

impl Bound {
    fn new(orb: &OrbInner, key: &[u8], object: &ObjectRef) -> Self {
        Self {
            key: Bytes::copy_from_slice(key),
            ior: Arc::new(object.ior().clone()),
            own: orb.local_key(object.ior()),
        }
    }

    fn find(self, adapters: &ObjectAdapter) -> Result<Found, Missing> {
        match self.own.map(|key| adapters.locate(&key)) {
            Some(Ok(object)) => Ok(Found::Object(object)),
            // No adapter has this object of the ORB: a forward makes the client look it up by its own key.
            Some(Err(Missing::Adapter)) | None => Ok(Found::Forward(self.ior)),
            Some(Err(missing)) => Err(missing),
        }
    }
}

impl OrbInner {
    /// Looks a key up without waiting.
    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Result<Found, Missing> {
        match self.adapters().locate(key) {
            Ok(object) => Ok(Found::Object(object)),
            Err(Missing::Adapter) => self.find_beyond(key),
            Err(missing) => Err(missing),
        }
    }

    /// Looks a key up for a peer. While the server is starting, a missing persistent object is TRANSIENT: after
    /// OBJECT_NOT_EXIST a client may delete its reference.
    #[inline]
    pub(crate) fn find_for_peer(&self, key: &[u8]) -> Result<Found, SystemException> {
        match self.find(key) {
            Ok(found) => Ok(found),
            Err(missing) => self.missing_for_peer(key, missing),
        }
    }

    #[cold]
    fn missing_for_peer(&self, key: &[u8], missing: Missing) -> Result<Found, SystemException> {
        let adapters = self.adapters();
        let may_begin = adapters.key_owner(key) == KeyOwner::AnyServer && !adapters.has_begun();
        match self.missing(key, missing) {
            Err(_) if may_begin => Err(Fault::Starting.raise(CompletionStatus::No)),
            found => found,
        }
    }

    /// The exception for a missing object. If the POA manager of its adapter is not active, the manager's state decides
    /// first, and a request that it holds is looked up again.
    #[cold]
    fn missing(&self, key: &[u8], missing: Missing) -> Result<Found, SystemException> {
        let held = match missing {
            Missing::Object => self.adapters().held_missing(key),
            _ => None,
        };
        held.map(Found::Object).ok_or_else(|| missing.raise())
    }

    #[cold]
    fn find_beyond(&self, key: &[u8]) -> Result<Found, Missing> {
        let keys = self.keys();
        match ObjectKey::parse(key) {
            Some(ObjectKey::Plain(key)) => {
                if let Some(bound) = keys.table.find(key) {
                    return bound.find(self.adapters());
                }
            }
            Some(ObjectKey::Persistent { .. } | ObjectKey::Sealed { .. }) => {
                if self.adapters().may_be_activated(key) {
                    return Ok(Found::Unknown(Bytes::copy_from_slice(key)));
                }
                // An activator may have finished making the adapter since the look-up.
                match self.adapters().locate(key) {
                    Ok(object) => return Ok(Found::Object(object)),
                    Err(Missing::Adapter) => {}
                    Err(missing) => return Err(missing),
                }
            }
            // A transient key of an earlier run, or no valid key.
            _ => return Err(Missing::Adapter),
        }
        match keys.resolver.load().is_some() {
            true => Ok(Found::Unknown(Bytes::copy_from_slice(key))),
            false => Err(Missing::Adapter),
        }
    }

    /// Looks a key up, calling the resolver if necessary; never returns [`Found::Unknown`].
    pub(crate) async fn find_or_ask(&self, key: &[u8]) -> Result<Found, SystemException> {
        match self.find(key) {
            Ok(Found::Unknown(key)) => self.ask(key).await,
            Ok(found) => Ok(found),
            Err(missing) => self.missing(key, missing),
        }
    }

    /// Calls the adapter activators and the key resolver, within the limits on look-ups; never returns
    /// [`Found::Unknown`].
    pub(crate) async fn ask(&self, key: Bytes) -> Result<Found, SystemException> {
        // The servant has not begun in any of these cases.
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let keys = self.keys();
        let Ok(_permit) = keys.lookups.try_acquire() else {
            self.count(Counter::PendingRequestsRefused);
            let overload = format!("{MAX_PENDING_LOOKUPS} keys are being looked up");
            return Err(raise(Fault::Overload(overload)));
        };
        let answer = self.look_up(key);
        let too_slow = {
            // Callers in the same process may be outside any runtime, so the ORB's provides the timer.
            let _runtime = self.lane().handle().enter();
            tokio::time::sleep(LOOKUP_TIMEOUT)
        };
        tokio::select! {
            biased;
            found = answer => found,
            () = self.stopped() => Err(raise(Fault::Inactive)),
            () = too_slow => {
                self.count(Counter::PendingRequestsRefused);
                let slow = format!("the look-up of the key took more than {LOOKUP_TIMEOUT:?}");
                Err(raise(Fault::Overload(slow)))
            }
        }
    }

    /// Calls activators to make missing adapters, then the key resolver.
    async fn look_up(&self, key: Bytes) -> Result<Found, SystemException> {
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let failed = |_| raise(Fault::AdapterActivatorFailed);
        let shown = || Some(describe_key(&key));
        {
            let mut made = pin!(self.adapters().activate_path(&key));
            poll_fn(|cx| match enter(self, shown, || made.as_mut().poll(cx)) {
                Ok(poll) => poll,
                Err(panic) => Err(failed(panic)).into(),
            })
            .await?;
        }
        match self.adapters().locate(&key) {
            Ok(object) => return Ok(Found::Object(object)),
            Err(Missing::Adapter) => {}
            Err(missing) => return self.missing(&key, missing),
        }
        let Some(resolver) = self.keys().resolver.load_full() else {
            return Err(Missing::Adapter.raise());
        };
        let panicked = |_| raise(Fault::KeyResolverPanicked);
        let mut lookup = enter(self, shown, || resolver(key.clone())).map_err(panicked)?;
        let object = poll_fn(|cx| match enter(self, shown, || lookup.as_mut().poll(cx)) {
            Ok(poll) => poll,
            Err(panic) => Err(panicked(panic)).into(),
        })
        .await?;
        object
            .filter(|object| !object.ior().is_nil())
            .ok_or(Missing::Adapter)
            // The empty key is unused: this `Bound` is not in the table.
            .and_then(|object| Bound::new(self, &[], &object).find(self.adapters()))
            .map_err(Missing::raise)
    }
}

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
        if object.as_object().ior().is_nil() {
            return Err(KeyTableError::NilReference);
        }
        Ok(Bound::new(self.0.inner(), key, object.as_object()))
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
        let resolver: KeyResolver = Box::new(move |key| Box::pin(locate(key)));
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
    /// sockets, cannot be combined in a URL: the first of them is named only if there is none without a slash.
    ///
    /// # Errors
    /// [`Error::NoEndpoint`] when the ORB listens nowhere.
    pub fn corbaloc_url(&self, key: impl AsRef<[u8]>) -> Result<String, Error> {
        let published = self.inner().published();
        let (mut together, mut alone) = (Vec::new(), None);
        for endpoint in &published.endpoints {
            let Some(transport) = self.inner().transports().get(endpoint.scheme()) else {
                continue;
            };
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
