//! The portable object adapter: its public interface.

mod adapters;
mod current_request;
mod managers;
mod no_context;
mod poa_current;
mod servants;

pub use adapters::PoaManagerFactory;
pub use current_request::CurrentRequest;
pub use managers::{Cleanup, Servant, ServantActivator, ServantLocator, ServantManagerError};
pub use no_context::NoContext;
pub use poa_current::PoaCurrent;

use crate::error::Error;
use crate::forward::Forward;
use crate::interceptors::Established;
use crate::interface::Interface;
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::policy::{BidirectionalPolicy, OtherPolicy, PolicyType};
use crate::real_time::{self, ChildOptions, RtPolicies, Scheduled};
use bytes::Bytes;
use core::fmt;
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault};
use zorb_poa::{Adapter, AdapterError, ObjectId, ObjectIds, PoaManager, Policies, Skeleton};

/// A skeleton with the type of its references. The IDL compiler implements it.
///
/// A skeleton that is written by hand implements it too, besides [`Skeleton`].
pub trait InterfaceSkeleton: Skeleton {
    /// The typed reference to objects of the interface. Functions that return it require [`Interface`].
    // The bound is not here: rustc would look into all fields of a reference for each skeleton, for ten milliseconds.
    type Ref;
}

/// A portable object adapter: activates servants as objects.
///
/// [`Orb::root_poa`] returns the root POA. Its manager begins in HOLDING, as specified: call
/// `poa.the_poa_manager().activate()` once the servants are activated.
///
/// Objects of the root POA are transient, and it assigns their ids. An object whose reference has to stay valid after a
/// restart needs a persistent POA, an id of its own, and an ORB that listens at the same endpoint in every run:
///
/// ```
/// # use zorb::{Error, Orb, Policies};
/// # zorb::idl! { interface Account {}; }
/// # struct Savings;
/// # impl Account for Savings {}
/// # async fn f() -> Result<(), Error> {
/// let orb = Orb::builder().listen("iiop://0.0.0.0:2810").build().await?;
/// let accounts = orb
///     .root_poa()
///     .create_poa_with("accounts", Policies::PERSISTENT, None)?;
/// let account: AccountRef = accounts.activate_object_with_id("4711", AccountServant::new(Savings))?;
/// # Ok(()) }
/// ```
///
/// A clone costs reference counts. A request finds its object by the indexes or hashes in its key. Source: CORBA
/// 3.3 Part 1, The Portable Object Adapter (`PortableServer::POA`).
#[derive(Clone)]
#[doc(alias = "POA")]
pub struct Poa {
    orb: Orb,
    adapter: Arc<Adapter>,
}

impl Orb {
    /// The root POA. Its manager is in HOLDING until it is activated.
    #[must_use]
    #[doc(alias = "RootPOA")]
    pub fn root_poa(&self) -> Poa {
        Poa::root(self.clone())
    }

    /// The POA of plain keys: its object ids are the whole object keys, so that an object with the id `Bank` is
    /// `corbaloc::host:port/Bank`. Its policies are PERSISTENT and USER_ID, and its manager is the root POA's.
    ///
    /// Activation with an id that begins as zorb's own keys do is
    /// [`AdapterError::ReservedKey`](crate::AdapterError::ReservedKey).
    #[must_use]
    #[doc(alias = "omniINSPOA")]
    #[doc(alias = "IORTable")]
    pub fn ins_poa(&self) -> Poa {
        Poa::plain(self.clone())
    }
}

impl Poa {
    fn root(orb: Orb) -> Self {
        let adapter = Arc::clone(orb.inner().adapters().root());
        Self { orb, adapter }
    }

    fn plain(orb: Orb) -> Self {
        let adapter = Arc::clone(orb.inner().adapters().plain());
        Self { orb, adapter }
    }

    /// The POA's name, unique among its siblings.
    #[must_use]
    pub fn the_name(&self) -> &str {
        self.adapter.name()
    }

    /// The POA manager, which holds, serves, discards or refuses the POA's requests.
    #[must_use]
    #[doc(alias = "the_POAManager")]
    pub fn the_poa_manager(&self) -> &Arc<PoaManager> {
        self.adapter.manager()
    }

    /// The policies with which the POA was created.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.adapter.policies()
    }

    /// Whether servers may call the objects of this POA on connections that this ORB has opened to them
    /// (`BiDirPolicy::BidirectionalPolicy` of the POA): NORMAL, which forbids it, unless set. Child POAs do not inherit
    /// the policy.
    #[doc(alias = "BidirectionalPolicy")]
    pub fn set_bidirectional_policy(&self, policy: BidirectionalPolicy) {
        self.orb
            .inner()
            .bidirectional()
            .permit(&self.adapter, policy);
    }

    pub(crate) const fn orb(&self) -> &Orb {
        &self.orb
    }

    pub(crate) const fn adapter(&self) -> &Arc<Adapter> {
        &self.adapter
    }

    /// Checks that references to objects of this POA have an endpoint.
    fn check_published(&self) -> Result<(), Error> {
        match Scheduled::of(&self.adapter) {
            // A POA with real-time policies may have endpoints of lanes, which `reference` checks.
            Some(_) => Ok(self.orb.inner().check_serves()?),
            None => self.orb.inner().check_published(),
        }
    }

    /// Checks that an object may be activated under this id: an ORB that is shutting down takes those that its servant
    /// activators are making, for requests that wait for them.
    fn check_activates(&self, id: &[u8]) -> Result<(), Error> {
        let is_late = self.orb.inner().is_stopping() && self.adapter.is_being_incarnated(id);
        match is_late {
            true => Ok(()),
            false => self.check_published(),
        }
    }

    fn reference<T: Interface>(&self, type_id: &str, key: &Bytes) -> Result<T, Error> {
        let orb = self.orb.inner();
        let mut ior = match Scheduled::of(&self.adapter) {
            None => orb.make_ior(type_id, key)?,
            Some(by) => {
                let (endpoints, transports) = (orb.current_endpoints(), orb.transports());
                let (adapter, key) = (&self.adapter, key);
                let made = real_time::make_ior(endpoints, transports, adapter, by, type_id, key);
                let made = made.map_err(|error| Fault::Encode(error).raise(CompletionStatus::No));
                made?.ok_or(Error::NoEndpoint)?
            }
        };
        if let Some(established) = self.adapter.attached::<Established>() {
            established.add_to(&mut ior, orb.transports())?;
        }
        #[cfg(feature = "csi")]
        crate::csi::publish(orb, &self.adapter, &mut ior)?;
        Ok(T::unchecked_narrow(ObjectRef::new(self.orb.clone(), ior)))
    }

    /// Activates a servant under a new object id and returns its reference.
    ///
    /// The adapter holds the servant until [`deactivate_object`](Self::deactivate_object), its own destruction or the
    /// ORB's shutdown. Allocates the key and the reference.
    ///
    /// # Errors
    /// [`Error::NoEndpoint`] when the ORB listens nowhere, [`AdapterError::WrongPolicy`] when ids are assigned by the
    /// user or with NON_RETAIN, [`AdapterError::ServantAlreadyActive`] when the servant is active in this POA already,
    /// unless the POA has MULTIPLE_ID.
    #[doc(alias = "activate_object")]
    pub fn activate<S: InterfaceSkeleton<Ref: Interface>>(
        &self,
        servant: S,
    ) -> Result<S::Ref, Error> {
        let skeleton: Arc<dyn Skeleton> = Arc::new(servant);
        self.check_published()?;
        let key = self.adapter.activate(Arc::clone(&skeleton))?;
        self.reference(skeleton.repository_id(), &key)
    }

    /// Activates the servant that `make` returns, under a new object id, and returns its reference. `make` gets the
    /// reference, so that the servant can store it and pass it to clients.
    ///
    /// Requests before the end of `make` are OBJECT_NOT_EXIST. A servant that keeps its reference keeps the ORB running
    /// until [`Orb::shutdown`]. If `make` panics, a transient POA keeps the reserved id until it is destroyed.
    ///
    /// ```
    /// use zorb::{Error, Orb, SystemException};
    ///
    /// zorb::idl! {
    ///     interface Node { Node itself(); };
    /// }
    /// struct Leaf(NodeRef);
    /// impl Node for Leaf {
    ///     async fn itself(&self) -> Result<Option<NodeRef>, SystemException> {
    ///         Ok(Some(self.0.clone()))
    ///     }
    /// }
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1:0").build_blocking()?;
    /// let poa = orb.root_poa();
    /// let node = poa.activate_with(|node: &NodeRef| NodeServant::new(Leaf(node.clone())))?;
    /// poa.the_poa_manager().activate()?;
    /// assert_eq!(zorb::blocking::Wait::wait(node.itself())?, Some(node));
    /// orb.shutdown(true)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`activate`](Self::activate).
    pub fn activate_with<S: InterfaceSkeleton<Ref: Interface>>(
        &self,
        make: impl FnOnce(&S::Ref) -> S,
    ) -> Result<S::Ref, Error> {
        let reference: S::Ref = self.create_reference()?;
        let id = self.reference_to_id(&reference)?;
        self.activate_object_with_id(id, make(&reference))
    }

    /// Activates a servant under this object id, which may be any octets, and returns its
    /// reference.
    ///
    /// In a POA with SYSTEM_ID the id has to come from the POA: from a reference that
    /// [`create_reference`](Self::create_reference) made, or, if the POA is persistent, from an earlier run.
    ///
    /// DIFFERENCE: in the specification this waits while an earlier object of the id is being deactivated. Here it
    /// fails, and [`deactivation_ended`](Self::deactivation_ended) waits.
    ///
    /// # Errors
    /// [`AdapterError::ObjectAlreadyActive`] when another servant or a forward has the id,
    /// [`AdapterError::BeingDeactivated`] when an upcall on an earlier object of that id has not
    /// [ended](Self::deactivation_ended), [`AdapterError::UnknownId`] when the POA has SYSTEM_ID and has not assigned
    /// this id, [`AdapterError::ServantAlreadyActive`] when the servant is active in this POA already, unless that has
    /// MULTIPLE_ID, [`AdapterError::WrongPolicy`] with NON_RETAIN, [`Error::NoEndpoint`] when the ORB listens nowhere.
    pub fn activate_object_with_id<S: InterfaceSkeleton<Ref: Interface>>(
        &self,
        id: impl AsRef<[u8]>,
        servant: S,
    ) -> Result<S::Ref, Error> {
        let skeleton: Arc<dyn Skeleton> = Arc::new(servant);
        self.check_activates(id.as_ref())?;
        let key = (self.adapter).activate_with_id(id.as_ref(), Arc::clone(&skeleton))?;
        self.reference(skeleton.repository_id(), &key)
    }

    /// Makes a reference under a new object id, to an object that is still to be activated. Until then requests to it
    /// are OBJECT_NOT_EXIST. A transient POA reserves memory for the object;
    /// [`deactivate_object`](Self::deactivate_object) frees it if the object is never activated.
    ///
    /// # Errors
    /// Returns the errors of [`activate`](Self::activate).
    pub fn create_reference<T: Interface>(&self) -> Result<T, Error> {
        self.check_published()?;
        let key = self.adapter.reserve()?;
        self.reference(T::REPOSITORY_ID, &key)
    }

    /// Makes the reference of the object with this id, whether it is active or not: objects need not be in memory to
    /// have references.
    ///
    /// # Errors
    /// [`AdapterError::UnknownId`] when the POA has SYSTEM_ID and has not assigned this id, [`Error::NoEndpoint`] when
    /// the ORB listens nowhere.
    pub fn create_reference_with_id<T: Interface>(&self, id: impl AsRef<[u8]>) -> Result<T, Error> {
        self.check_published()?;
        let key = self.adapter.key_of(id.as_ref())?;
        self.reference(T::REPOSITORY_ID, &key)
    }

    /// Makes the reference of the object with this id, as [`create_reference_with_id`](Self::create_reference_with_id) does, to an
    /// interface that is known by its repository id alone.
    ///
    /// # Errors
    /// Returns the errors of [`create_reference_with_id`](Self::create_reference_with_id).
    pub fn create_reference_of_interface(
        &self,
        id: impl AsRef<[u8]>,
        repository_id: &str,
    ) -> Result<ObjectRef, Error> {
        self.check_published()?;
        let key = self.adapter.key_of(id.as_ref())?;
        self.reference(repository_id, &key)
    }

    /// The id of an object of this POA, active or not.
    ///
    /// # Errors
    /// [`AdapterError::WrongAdapter`] for references made elsewhere.
    pub fn reference_to_id(&self, object: &impl Interface) -> Result<ObjectId, Error> {
        let key = self
            .orb
            .inner()
            .local_key(object.as_object().ior())
            .ok_or(AdapterError::WrongAdapter)?;
        Ok(self.adapter.id_in(&key)?)
    }

    /// The reference of an active object.
    ///
    /// # Errors
    /// [`AdapterError::ObjectNotActive`] for an inactive object, [`AdapterError::WrongPolicy`] with NON_RETAIN;
    /// [`create_reference_with_id`](Self::create_reference_with_id) accepts inactive objects.
    pub fn id_to_reference(&self, id: impl AsRef<[u8]>) -> Result<ObjectRef, Error> {
        let id = id.as_ref();
        let object = self.adapter.active(id)?;
        let key = self.adapter.key_of(id)?;
        self.reference(object.type_id(), &key)
    }

    /// Deactivates the object: later requests are OBJECT_NOT_EXIST; upcalls in progress go on and keep the servant
    /// until they end. The id may be used again [when they have ended](Self::deactivation_ended), unless the POA is
    /// TRANSIENT with SYSTEM_ID.
    ///
    /// DIFFERENCE: a POA with TRANSIENT, SYSTEM_ID and USE_ACTIVE_OBJECT_MAP_ONLY frees the reserved memory of a
    /// reference that [`create_reference`](Self::create_reference) has made, where the specification raises
    /// ObjectNotActive.
    ///
    /// # Errors
    /// [`AdapterError::WrongAdapter`] for references made elsewhere, [`AdapterError::ObjectNotActive`] for an inactive
    /// object, such as a second time.
    pub fn deactivate_object(&self, object: &impl Interface) -> Result<(), Error> {
        self.deactivate_object_with_id(self.reference_to_id(object)?)
    }

    /// Deactivates the object with this id: see [`deactivate_object`](Self::deactivate_object).
    ///
    /// # Errors
    /// [`AdapterError::ObjectNotActive`] when no object with this id is active.
    pub fn deactivate_object_with_id(&self, id: impl AsRef<[u8]>) -> Result<(), Error> {
        Ok(self.adapter.deactivate(id.as_ref())?)
    }

    /// Waits until the upcalls on the deactivated object with this id have ended: then the id may be used again. Ready
    /// at once if there are none. Inside such an upcall it deadlocks.
    ///
    /// # Cancel safety
    /// Safe: it only waits.
    pub async fn deactivation_ended(&self, id: impl AsRef<[u8]>) {
        self.adapter.deactivation_ended(id.as_ref()).await;
    }

    /// Makes a reference, under a new object id, whose requests are forwarded.
    /// [`deactivate_object`](Self::deactivate_object) ends the forward.
    ///
    /// # Errors
    /// Returns the errors of [`activate`](Self::activate).
    #[doc(alias = "ServantLocator")]
    pub fn create_forward<T: Interface>(&self, forward: Forward) -> Result<T, Error> {
        self.check_published()?;
        let key = self.adapter.forward(forward.of_type(T::REPOSITORY_ID))?;
        self.reference(T::REPOSITORY_ID, &key)
    }

    /// Forwards later requests to the object, which has moved. Upcalls in progress go on and keep the servant until
    /// they end; then it is dropped. [`deactivate_object`](Self::deactivate_object) ends the forward; afterwards a
    /// servant may have the id again.
    ///
    /// # Errors
    /// [`AdapterError::WrongAdapter`] for references made elsewhere, [`AdapterError::UnknownId`] for deactivated
    /// objects in a POA with TRANSIENT and SYSTEM_ID.
    pub fn forward_object(&self, object: &impl Interface, forward: Forward) -> Result<(), Error> {
        self.forward_object_with_id(self.reference_to_id(object)?, forward)
    }

    /// Forwards later requests to the object with this id: see [`forward_object`](Self::forward_object). The object
    /// need not be active, so that a server can forward a moved object after a restart.
    ///
    /// # Errors
    /// [`AdapterError::UnknownId`] when the POA has SYSTEM_ID and has not assigned this id.
    pub fn forward_object_with_id(
        &self,
        id: impl AsRef<[u8]>,
        forward: Forward,
    ) -> Result<(), Error> {
        let id = id.as_ref();
        let type_id = self
            .adapter
            .find(id)
            .map_or_else(String::new, |object| object.type_id().to_owned());
        Ok(self
            .adapter
            .forward_with_id(id, forward.of_type(&type_id))?)
    }

    /// Makes a child POA with the default policies (TRANSIENT, SYSTEM_ID, UNIQUE_ID, RETAIN,
    /// USE_ACTIVE_OBJECT_MAP_ONLY). `manager`: a POA manager to share; `None` makes one of its own, in HOLDING.
    ///
    /// # Errors
    /// [`AdapterError::AlreadyExists`] when there is a child of that name, [`AdapterError::Destroyed`] when this POA
    /// has been destroyed, [`AdapterError::BeingDestroyed`] while upcalls on its objects go on,
    /// [`AdapterError::TooDeep`] beyond [`Builder::max_poa_depth`](crate::Builder::max_poa_depth).
    #[doc(alias = "create_POA")]
    pub fn create_poa(&self, name: &str, manager: Option<&Arc<PoaManager>>) -> Result<Self, Error> {
        self.create_poa_with(name, Policies::default(), manager)
    }

    /// Makes a child POA with these [`Policies`]. `manager`: a POA manager to share; `None` makes one of its own, in
    /// HOLDING. Policies are not inherited. The name may be any text; in keys of persistent objects it is a part of the
    /// POA's path.
    ///
    /// # Errors
    /// Returns the errors of [`create_poa`](Self::create_poa); [`AdapterError::InvalidPolicy`] for policies that
    /// exclude each other; [`AdapterError::NoKeySecret`] for persistent authenticated keys without a
    /// [secret](crate::Builder::key_secret).
    #[doc(alias = "create_POA")]
    pub fn create_poa_with(
        &self,
        name: &str,
        policies: Policies,
        manager: Option<&Arc<PoaManager>>,
    ) -> Result<Self, Error> {
        self.create_rt_poa(name, policies, RtPolicies::new(), manager)
    }

    /// Makes a child POA whose objects have ids of a fixed set, made by [`object_ids!`](crate::object_ids) at compile
    /// time. A request finds its object by a perfect hash and without a lock. The policies have to include USER_ID and
    /// RETAIN; the keys have the same form as in other POAs with these policies.
    ///
    /// Other ids are [`AdapterError::IdNotInSet`] for the application, and OBJECT_NOT_EXIST for clients, even with a
    /// default servant or a servant activator.
    ///
    /// ```
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// use zorb::{Orb, Policies};
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    /// let ids = zorb::object_ids!["main", "airport"];
    /// let branches = orb
    ///     .root_poa()
    ///     .create_poa_of_ids("branches", Policies::PERSISTENT, None, ids)?;
    /// assert!(branches.id_to_reference("harbour").is_err());
    /// # orb.shutdown(true).await?;
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`create_poa_with`](Self::create_poa_with); [`AdapterError::WrongPolicy`] without USER_ID
    /// and RETAIN.
    pub fn create_poa_of_ids(
        &self,
        name: &str,
        policies: Policies,
        manager: Option<&Arc<PoaManager>>,
        ids: &'static ObjectIds,
    ) -> Result<Self, Error> {
        let more = ChildOptions {
            ids: Some(ids),
            ..ChildOptions::default()
        };
        self.create_child(name, policies, RtPolicies::new(), manager, more)
    }

    /// Makes a child POA that has policies of the application's types, too; of two of one type the first counts. Interceptors read them:
    /// [`IorInfo::policy`](crate::interceptors::IorInfo::policy), to add a component to the references of such POAs, and
    /// [`ServerRequestInfo::server_policy`](crate::interceptors::ServerRequestInfo::server_policy), at each request.
    ///
    /// # Errors
    /// Returns the errors of [`create_poa_with`](Self::create_poa_with).
    #[doc(alias = "create_POA")]
    pub fn create_poa_of_policies(
        &self,
        name: &str,
        policies: Policies,
        others: impl IntoIterator<Item = OtherPolicy>,
        manager: Option<&Arc<PoaManager>>,
    ) -> Result<Self, Error> {
        let more = ChildOptions {
            policies: others.into_iter().collect(),
            ..ChildOptions::default()
        };
        self.create_child(name, policies, RtPolicies::new(), manager, more)
    }

    /// The policy of this type, one of the application's, with which the POA was created.
    #[must_use]
    pub fn policy(&self, policy_type: PolicyType) -> Option<&OtherPolicy> {
        self.adapter.attached::<Established>()?.policy(policy_type)
    }

    /// The child POA of that name, if it exists. Calls no adapter activator: see
    /// [`find_or_activate_poa`](Self::find_or_activate_poa).
    #[must_use]
    #[doc(alias = "find_POA")]
    pub fn find_poa(&self, name: &str) -> Option<Self> {
        let adapter = self.orb.inner().adapters().find(&self.adapter, name)?;
        Some(Self {
            orb: self.orb.clone(),
            adapter,
        })
    }

    /// Destroys this POA and its children: later requests to their objects are OBJECT_NOT_EXIST. References of
    /// transient objects stay invalid. Those of persistent objects are valid again once a POA of the same path exists
    /// and the objects are activated in it. Requests that the POA manager holds are looked up again: they reach such a
    /// new POA, which the parent's adapter activator may make. Servant activators etherealize the objects.
    ///
    /// The ORB's shutdown destroys the root POA and [`Orb::ins_poa`]. [`destroy_with`](Self::destroy_with) can wait for
    /// upcalls.
    pub fn destroy(&self) {
        let orb = self.orb.inner();
        orb.tell_destroyed(&orb.adapters().destroy_with(&self.adapter, true));
    }
}

impl fmt::Debug for Poa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poa")
            .field("path", &self.adapter.path())
            .field("manager", self.adapter.manager())
            .finish_non_exhaustive()
    }
}
