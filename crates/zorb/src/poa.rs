//! The portable object adapter, as an application sees it.

use crate::error::Error;
use crate::interface::Interface;
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::wire::local_key;
use bytes::Bytes;
use core::fmt;
use std::sync::Arc;
use zorb_poa::{Adapter, AdapterError, PoaManager, Skeleton};

/// A skeleton that knows the type of its references. Implemented by the IDL compiler.
pub trait InterfaceSkeleton: Skeleton {
    /// The typed reference.
    type Ref: Interface;
}

/// A portable object adapter: where servants become objects.
///
/// The root POA comes from [`Orb::root_poa`]. Its manager begins HOLDING, as the specification
/// has it: call `poa.the_poa_manager().activate()` once the servants are in place. Cheap to
/// clone.
#[derive(Clone)]
#[doc(alias = "POA")]
pub struct Poa {
    orb: Orb,
    adapter: Arc<Adapter>,
    /// Names from below the root.
    path: Vec<String>,
}

impl Poa {
    pub(crate) fn root(orb: Orb) -> Self {
        let adapter = Arc::clone(orb.inner().adapters().root());
        Self {
            orb,
            adapter,
            path: Vec::new(),
        }
    }

    /// Its name among its siblings.
    #[must_use]
    pub fn the_name(&self) -> &str {
        self.adapter.name()
    }

    /// The manager that says whether requests are served.
    #[must_use]
    #[doc(alias = "the_POAManager")]
    pub fn the_poa_manager(&self) -> &Arc<PoaManager> {
        self.adapter.manager()
    }

    /// Activates a servant under a new object id and gives its reference.
    ///
    /// The adapter holds the servant until [`deactivate_object`](Self::deactivate_object) or the
    /// ORB's shutdown.
    ///
    /// # Errors
    /// [`Error::NoEndpoint`] when the ORB listens nowhere.
    #[doc(alias = "activate_object")]
    #[doc(alias = "servant_to_reference")]
    pub fn activate<S: InterfaceSkeleton>(&self, servant: S) -> Result<S::Ref, Error> {
        let skeleton: Arc<dyn Skeleton> = Arc::new(servant);
        let type_id = skeleton.repository_id();
        self.orb.inner().check_published()?;
        let key = self.adapter.activate(skeleton)?;
        let ior = self.orb.inner().make_ior(type_id, &key)?;
        Ok(S::Ref::unchecked_narrow(ObjectRef::new(
            self.orb.clone(),
            ior,
        )))
    }

    /// Takes the object out: later requests get OBJECT_NOT_EXIST, upcalls in progress go on and
    /// keep the servant until they are done.
    ///
    /// # Errors
    /// [`AdapterError::WrongAdapter`] for references made elsewhere,
    /// [`AdapterError::ObjectNotActive`] the second time.
    pub fn deactivate_object(&self, object: &impl Interface) -> Result<(), Error> {
        let key: Bytes = local_key(
            object.as_object().ior(),
            self.orb.inner().adapters().instance(),
        )
        .ok_or(AdapterError::WrongAdapter)?;
        Ok(self.adapter.deactivate(&key)?)
    }

    /// Makes a child with the policies of the root POA (transient, system-assigned ids) and a
    /// manager of its own, or a shared one.
    ///
    /// # Errors
    /// [`AdapterError::AlreadyExists`] when there is one of that name.
    #[doc(alias = "create_POA")]
    pub fn create_poa(&self, name: &str, manager: Option<&Arc<PoaManager>>) -> Result<Self, Error> {
        let path = self.child(name);
        let adapter = self
            .orb
            .inner()
            .adapters()
            .create(&path, manager.cloned())?;
        Ok(Self {
            orb: self.orb.clone(),
            adapter,
            path,
        })
    }

    /// The child of that name, if there is one.
    #[must_use]
    #[doc(alias = "find_POA")]
    pub fn find_poa(&self, name: &str) -> Option<Self> {
        let path = self.child(name);
        let adapter = self.orb.inner().adapters().find(&path)?;
        Some(Self {
            orb: self.orb.clone(),
            adapter,
            path,
        })
    }

    fn child(&self, name: &str) -> Vec<String> {
        let mut path = self.path.clone();
        path.push(name.to_owned());
        path
    }

    /// Destroys this adapter and its children: their references are OBJECT_NOT_EXIST from now
    /// on. The root POA goes with the ORB's shutdown.
    pub fn destroy(&self) {
        if !self.path.is_empty() {
            self.orb.inner().adapters().destroy(&self.path);
        }
    }
}

impl fmt::Debug for Poa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poa")
            .field("path", &self.path)
            .field("manager", self.adapter.manager())
            .finish_non_exhaustive()
    }
}
