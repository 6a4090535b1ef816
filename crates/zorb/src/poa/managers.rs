//! Default servants, servant activators and servant locators.
//!
//! ```text
//!  request ──► active object map ──► servant
//!               │ not there (or NON_RETAIN: there is no map)
//!               ▼
//!    USE_ACTIVE_OBJECT_MAP_ONLY   OBJECT_NOT_EXIST
//!    USE_DEFAULT_SERVANT          the default servant
//!    USE_SERVANT_MANAGER, RETAIN  incarnate ──► into the map ── deactivated, last upcall over ──► etherealize
//!    USE_SERVANT_MANAGER,
//!                     NON_RETAIN  preinvoke ──► operation ──► postinvoke
//! ```

use super::{InterfaceSkeleton, Poa};
use crate::error::Error;
use crate::object::ObjectRef;
use crate::orb::OrbInner;
use crate::profile::describe_key;
use crate::serve::enter;
use core::any::Any;
use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use zorb_giop::SystemException;
use zorb_poa::{
    Activator, Adapter, Etherealization, Incarnated, Incarnation, Locator, ObjectId, Raised,
    Skeleton,
};

/// A type-erased servant, which servant managers return: `AccountServant::new(savings).into()`.
///
/// A conversion costs an allocation for the skeleton; a clone costs a reference count. Source: CORBA 3.3 Part 1, The
/// Portable Object Adapter (`PortableServer::Servant`).
#[derive(Clone)]
#[doc(alias = "PortableServer::Servant")]
pub struct Servant(pub(super) Arc<dyn Skeleton>);

impl Servant {
    /// The servant's implementation, such as `Savings` of an `AccountServant<Savings>`, shared with the adapter. `None`
    /// if it has another type, or if the skeleton is written by hand and has no `Skeleton::servant`. Costs a reference
    /// count.
    #[must_use]
    pub fn downcast<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.servant()?.downcast().ok()
    }

    /// The repository id of the servant's most derived interface.
    #[must_use]
    pub fn repository_id(&self) -> &str {
        self.0.repository_id()
    }
}

impl<S: InterfaceSkeleton> From<S> for Servant {
    fn from(skeleton: S) -> Self {
        Self(Arc::new(skeleton))
    }
}

impl fmt::Debug for Servant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Servant")
            .field(&self.repository_id())
            .finish()
    }
}

/// The exception of a servant manager.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (servant managers may raise system exceptions and
/// ForwardRequest).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServantManagerError {
    /// `ForwardRequest`: the client is forwarded to this object (LOCATION_FORWARD).
    #[error("the servant manager forwards the client to another object")]
    ForwardRequest(ObjectRef),
    /// A system exception, which the reply carries.
    #[error(transparent)]
    System(SystemException),
}

impl From<SystemException> for ServantManagerError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<Error> for ServantManagerError {
    fn from(error: Error) -> Self {
        Self::System(error.into())
    }
}

impl ServantManagerError {
    /// Converts the exception for the adapter.
    fn raised(self) -> Raised {
        match self {
            Self::ForwardRequest(object) => Raised::Forward(object.ior().clone()),
            Self::System(exception) => Raised::System(exception),
        }
    }
}

/// The circumstances in which an object is etherealized: the last two parameters of
/// `PortableServer::ServantActivator::etherealize` (CORBA 3.3 part 1, The Portable Object Adapter).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cleanup {
    /// Whether the POA is being destroyed, or the POA's manager deactivated; false for `deactivate_object`.
    pub cleanup_in_progress: bool,
    /// Whether the servant is still active in the POA, for other ids (MULTIPLE_ID).
    pub remaining_activations: bool,
}

/// Activates objects when they are called, and etherealizes them ([`Poa::set_servant_manager`]).
///
/// Both operations obey the POA's thread policy. For one id they run one after the other, however many requests there
/// are; for different ids they run at the same time.
///
/// Source: CORBA 3.3 Part 1, `PortableServer::ServantActivator`.
pub trait ServantActivator: Send + Sync + 'static {
    /// Returns the servant of the object with this id, and so activates the object.
    ///
    /// Runs as a part of the first upcall that needs the object; requests that arrive meanwhile wait for it. A panic is
    /// UNKNOWN.
    ///
    /// # Errors
    /// The reply to the request that called it; the next request that waits calls it again. `ForwardRequest` is
    /// LOCATION_FORWARD; return OBJECT_NOT_EXIST for an unknown id.
    fn incarnate(
        &self,
        id: &ObjectId,
        poa: &Poa,
    ) -> impl Future<Output = Result<Servant, ServantManagerError>> + Send;

    /// Receives the servant of a deactivated object, also of one that was activated explicitly, when its last upcall
    /// has ended. The id can be activated again when this future is ready. The default does nothing. A panic is logged.
    fn etherealize(
        &self,
        id: &ObjectId,
        poa: &Poa,
        servant: Servant,
        cleanup: Cleanup,
    ) -> impl Future<Output = ()> + Send {
        let _ = (id, poa, servant, cleanup);
        core::future::ready(())
    }
}

/// Finds the servant of each request ([`Poa::set_servant_locator`]).
///
/// Both operations obey the POA's thread policy, and may run at the same time for requests to one id.
///
/// Source: CORBA 3.3 Part 1, `PortableServer::ServantLocator`.
pub trait ServantLocator: Send + Sync + 'static {
    /// The cookie that `preinvoke` passes to `postinvoke`.
    type Cookie: Send + 'static;

    /// Returns the servant for a request. `operation` is the name on the wire, as `_get_owner` or `_is_a`.
    ///
    /// # Errors
    /// The exception in the reply; `postinvoke` is not called then.
    fn preinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
    ) -> impl Future<Output = Result<(Servant, Self::Cookie), ServantManagerError>> + Send;

    /// Ends a request for which `preinvoke` returned a servant, whether the operation returned, raised an exception or
    /// panicked. Not called for an upcall that a shutdown abandons. The default does nothing.
    ///
    /// # Errors
    /// The exception replaces the result in the reply.
    fn postinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
        cookie: Self::Cookie,
        servant: Servant,
    ) -> impl Future<Output = Result<(), SystemException>> + Send {
        let _ = (id, poa, operation, cookie, servant);
        core::future::ready(Ok(()))
    }
}

/// A servant manager with its POA. The references are weak, since the ORB holds the adapter, which holds the manager.
struct Managed<M> {
    orb: Weak<OrbInner>,
    adapter: Weak<Adapter>,
    manager: Arc<M>,
}

impl<M> Managed<M> {
    fn new(poa: &Poa, manager: M) -> Arc<Self> {
        Arc::new(Self {
            orb: Arc::downgrade(poa.orb.inner()),
            adapter: Arc::downgrade(&poa.adapter),
            manager: Arc::new(manager),
        })
    }

    fn poa(&self) -> Option<Poa> {
        let orb = self.orb.upgrade()?.handle()?;
        let adapter = self.adapter.upgrade()?;
        Some(Poa { orb, adapter })
    }
}

/// The exception of a manager whose ORB has been dropped: OBJECT_NOT_EXIST.
fn gone<T>() -> Result<T, Raised> {
    Err(zorb_poa::Missing::Adapter.raise().into())
}

impl<M: ServantActivator> Activator for Managed<M> {
    fn incarnate(&self, id: ObjectId) -> Incarnation {
        let Some(poa) = self.poa() else {
            return Box::pin(core::future::ready(gone()));
        };
        let manager = Arc::clone(&self.manager);
        Box::pin(async move {
            let incarnated = manager.incarnate(&id, &poa).await;
            let servant = incarnated.map_err(ServantManagerError::raised)?;
            Ok(Incarnated::Servant(servant.0))
        })
    }

    fn etherealize(&self, object: Etherealization) {
        let (Some(orb), Some(poa)) = (self.orb.upgrade(), self.poa()) else {
            return;
        };
        let (manager, inner) = (Arc::clone(&self.manager), Arc::clone(&orb));
        orb.track(async move {
            let Etherealization { id, servant, .. } = &object;
            let cleanup = Cleanup {
                cleanup_in_progress: object.cleanup_in_progress,
                remaining_activations: object.remaining_activations,
            };
            let servant = Servant(Arc::clone(servant));
            object.upcalls_ended().await;
            let mut ended = Box::pin(
                poa.adapter
                    .taking_turn(manager.etherealize(id, &poa, servant, cleanup)),
            );
            let key = || describe_key(&poa.adapter.key_of(id.as_ref()).ok()?).into();
            // `enter` has logged a panic, which ends the etherealization.
            poll_fn(|cx| enter(&inner, key, || ended.as_mut().poll(cx)).unwrap_or(Poll::Ready(())))
                .await;
        });
    }
}

impl<M: ServantLocator> Locator for Managed<M> {
    /// The manager's cookie, and the POA, which is kept alive until the request has ended.
    type Cookie = (Poa, M::Cookie);

    async fn preinvoke(
        &self,
        id: &ObjectId,
        operation: &str,
    ) -> Result<(Arc<dyn Skeleton>, Self::Cookie), Raised> {
        let Some(poa) = self.poa() else {
            return gone();
        };
        let located = self.manager.preinvoke(id, &poa, operation).await;
        let (servant, cookie) = located.map_err(ServantManagerError::raised)?;
        Ok((servant.0, (poa, cookie)))
    }

    async fn postinvoke(
        &self,
        id: &ObjectId,
        operation: &str,
        (poa, cookie): Self::Cookie,
        servant: Arc<dyn Skeleton>,
    ) -> Result<(), SystemException> {
        let servant = Servant(servant);
        (self
            .manager
            .postinvoke(id, &poa, operation, cookie, servant))
        .await
    }
}

/// A servant activator made of a closure.
struct Incarnate<F>(F);

impl<F, A> Activator for Managed<Incarnate<F>>
where
    F: Fn(Poa, ObjectId) -> A + Send + Sync,
    A: Future<Output = Result<(), SystemException>> + Send + 'static,
{
    fn incarnate(&self, id: ObjectId) -> Incarnation {
        let Some(poa) = self.poa() else {
            return Box::pin(core::future::ready(gone()));
        };
        let incarnated = (self.manager.0)(poa, id);
        Box::pin(async move {
            incarnated.await?;
            Ok(Incarnated::ByItself)
        })
    }

    fn etherealize(&self, _: Etherealization) {}
}

impl Poa {
    /// Sets a closure as servant activator, in place of a [`ServantActivator`]: it activates objects at their first
    /// request, for more objects than fit into memory.
    ///
    /// `incarnate` gets this POA and the id, and activates the object under that id
    /// ([`activate_object_with_id`](Self::activate_object_with_id)) or forwards it
    /// ([`forward_object_with_id`](Self::forward_object_with_id)). If it does neither, the request is OBJECT_NOT_EXIST,
    /// or the error that `incarnate` returns. It runs as a part of the upcall that needs the object, after the POA
    /// manager has admitted the request. For one id it runs once at a time, and waiting requests then find the object
    /// active: an `incarnate` that calls its own object deadlocks. A LocateRequest does not run it.
    ///
    /// The object stays active until it is deactivated, when its servant is dropped.
    ///
    /// ```
    /// # use zorb::{Error, Policies, RequestProcessing, SystemException};
    /// # zorb::idl! { interface Account {}; }
    /// # struct Record;
    /// # impl Account for Record {}
    /// # async fn load(id: &[u8]) -> Result<Option<Record>, SystemException> { Ok(None) }
    /// # fn f(root: &zorb::Poa) -> Result<(), Error> {
    /// let policies = Policies::PERSISTENT.with_request_processing(RequestProcessing::ServantManager);
    /// let accounts = root.create_poa_with("accounts", policies, None)?;
    /// accounts.set_servant_activator(|accounts, id| async move {
    ///     if let Some(record) = load(id.as_ref()).await? {
    ///         accounts.activate_object_with_id(&id, AccountServant::new(record))?;
    ///     }
    ///     Ok(())
    /// })?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`set_servant_manager`](Self::set_servant_manager).
    #[doc(alias = "set_servant_manager")]
    #[doc(alias = "ServantActivator")]
    pub fn set_servant_activator<F, A>(&self, incarnate: F) -> Result<(), Error>
    where
        F: Fn(Self, ObjectId) -> A + Send + Sync + 'static,
        A: Future<Output = Result<(), SystemException>> + Send + 'static,
    {
        let manager = Managed::new(self, Incarnate(incarnate));
        Ok(self.adapter.set_activator(manager)?)
    }

    /// Sets the servant activator: it incarnates inactive objects at their first request, and etherealizes deactivated
    /// ones.
    ///
    /// ```
    /// # use zorb::{ObjectId, Poa, Servant, ServantActivator, ServantManagerError, SystemExceptionKind};
    /// # zorb::idl! { interface Account {}; }
    /// # struct Record;
    /// # impl Account for Record {}
    /// # struct Table;
    /// # impl Table { async fn load(&self, id: &[u8]) -> Option<Record> { None } }
    /// struct Accounts(Table);
    ///
    /// impl ServantActivator for Accounts {
    ///     async fn incarnate(&self, id: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
    ///         match self.0.load(id.as_ref()).await {
    ///             Some(record) => Ok(AccountServant::new(record).into()),
    ///             None => Err(ServantManagerError::System(SystemExceptionKind::ObjectNotExist.into())),
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`](zorb_poa::AdapterError::WrongPolicy) unless the POA has USE_SERVANT_MANAGER and
    /// RETAIN, [`AdapterError::ServantManagerSet`](zorb_poa::AdapterError::ServantManagerSet) if the POA has a servant
    /// manager already, since one cannot be replaced, [`AdapterError::Destroyed`](zorb_poa::AdapterError::Destroyed) if
    /// the POA is destroyed.
    #[doc(alias = "USE_SERVANT_MANAGER")]
    pub fn set_servant_manager(&self, activator: impl ServantActivator) -> Result<(), Error> {
        Ok(self.adapter.set_activator(Managed::new(self, activator))?)
    }

    /// Deactivates the objects that have not been called for `unused_for` at the time `now`, and returns their number.
    /// It evicts objects that a servant activator can make again: each is etherealized once, when its last upcall has
    /// ended, and the next request incarnates it anew. Call it several times within `unused_for`:
    ///
    /// ```no_run
    /// # use std::time::{Duration, Instant};
    /// # async fn f(accounts: zorb::Poa) -> Result<(), zorb::Error> {
    /// let mut interval = tokio::time::interval(Duration::from_secs(60));
    /// loop {
    ///     interval.tick().await;
    ///     accounts.deactivate_unused(Instant::now(), Duration::from_secs(600))?;
    /// }
    /// # }
    /// ```
    ///
    /// The unused time of an object counts from the first call of this method that saw it, or that saw it called since
    /// the previous one. Takes time in proportion to the number of active objects.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`](zorb_poa::AdapterError::WrongPolicy) unless the POA has USE_SERVANT_MANAGER and
    /// RETAIN, [`AdapterError::Destroyed`](zorb_poa::AdapterError::Destroyed).
    pub fn deactivate_unused(&self, now: Instant, unused_for: Duration) -> Result<usize, Error> {
        Ok(self.adapter.deactivate_unused(now, unused_for)?)
    }

    /// Sets the servant locator, which returns the servant of each request.
    ///
    /// # Errors
    /// Returns the errors of [`set_servant_manager`](Self::set_servant_manager), with NON_RETAIN in place of RETAIN.
    #[doc(alias = "set_servant_manager")]
    pub fn set_servant_locator(&self, locator: impl ServantLocator) -> Result<(), Error> {
        Ok(self.adapter.set_locator(Managed::new(self, locator))?)
    }

    /// Whether a servant manager has been set.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`](zorb_poa::AdapterError::WrongPolicy) without USE_SERVANT_MANAGER.
    #[doc(alias = "get_servant_manager")]
    pub fn has_servant_manager(&self) -> Result<bool, Error> {
        Ok(self.adapter.has_servant_manager()?)
    }

    /// Sets the default servant, which serves requests for objects that are not active, and replaces a former one. It
    /// gets the object of a request from [`PoaCurrent`](crate::PoaCurrent): one servant can serve a table of a million
    /// rows.
    ///
    /// ```
    /// use zorb::{IdUniqueness, Orb, PoaCurrent, Policies, RequestProcessing, ServantRetention};
    /// # use zorb::SystemException;
    ///
    /// zorb::idl! { interface Row { string id(); }; }
    /// struct Table;
    /// impl Row for Table {
    ///     async fn id(&self) -> Result<String, SystemException> {
    ///         Ok(PoaCurrent::get_object_id()?.to_string())
    ///     }
    /// }
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1:0").build_blocking()?;
    /// let policies = Policies::PERSISTENT
    ///     .with_id_uniqueness(IdUniqueness::Multiple)
    ///     .with_servant_retention(ServantRetention::NonRetain)
    ///     .with_request_processing(RequestProcessing::DefaultServant);
    /// let rows = orb.root_poa().create_poa_with("rows", policies, None)?;
    /// rows.set_servant(RowServant::new(Table))?;
    /// rows.the_poa_manager().activate()?;
    /// let row: RowRef = rows.create_reference_with_id("4711")?;
    /// assert_eq!(zorb::blocking::Wait::wait(row.id())?, "4711");
    /// orb.shutdown(true)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`](zorb_poa::AdapterError::WrongPolicy) without USE_DEFAULT_SERVANT,
    /// [`AdapterError::Destroyed`](zorb_poa::AdapterError::Destroyed).
    #[doc(alias = "USE_DEFAULT_SERVANT")]
    pub fn set_servant(&self, servant: impl Into<Servant>) -> Result<(), Error> {
        Ok(self.adapter.set_default_servant(servant.into().0)?)
    }

    /// The default servant.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`](zorb_poa::AdapterError::WrongPolicy) without USE_DEFAULT_SERVANT,
    /// [`AdapterError::NoServant`](zorb_poa::AdapterError::NoServant) if none has been set.
    pub fn get_servant(&self) -> Result<Servant, Error> {
        Ok(Servant(self.adapter.default_servant()?))
    }
}
