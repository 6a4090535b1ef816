//! The tree of POAs, adapter activators, and the factory of POA managers.

use super::Poa;
use crate::current::is_upcall_of;
use crate::error::Error;
use crate::orb::{Orb, OrbInner};
use core::fmt;
use std::sync::{Arc, Weak};
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_poa::{Adapter, AdapterActivator, AdapterError, Boxed, PoaManager};

impl Poa {
    pub(crate) fn beside(&self, adapter: Arc<Adapter>) -> Self {
        Self {
            orb: self.orb.clone(),
            adapter,
        }
    }

    /// Returns the parent POA; `None` for the root POA, and for one that has been destroyed.
    #[must_use]
    pub fn the_parent(&self) -> Option<Self> {
        let parent = self.orb.inner().adapters().parent(&self.adapter)?;
        Some(self.beside(parent))
    }

    /// Returns the child POAs, sorted by name. Calls no adapter activator.
    #[must_use]
    pub fn the_children(&self) -> Vec<Self> {
        let children = self.orb.inner().adapters().children(&self.adapter);
        children
            .into_iter()
            .map(|child| self.beside(child))
            .collect()
    }

    /// Returns the factory of the ORB's POA managers. Costs a reference count.
    #[must_use]
    pub fn the_poa_manager_factory(&self) -> PoaManagerFactory {
        PoaManagerFactory(self.orb.clone())
    }

    /// Sets the adapter activator of this POA, which makes missing child POAs: for requests to persistent objects of a
    /// child or its descendants, and for [`find_or_activate_poa`](Self::find_or_activate_poa).
    ///
    /// `activate` gets this POA and the name, makes the child ([`create_poa_with`](Self::create_poa_with)), sets it up,
    /// and returns whether it exists. One activation runs for each name; requests wait for it, at most 10 seconds, also
    /// while the manager of this POA is HOLDING. They are OBJECT_NOT_EXIST for `false`, and OBJ_ADAPTER for an
    /// exception or a panic. A later activator replaces this one.
    ///
    /// ```
    /// # use zorb::{Error, Poa, Policies};
    /// # fn f(root: &Poa) -> Result<(), Error> {
    /// root.set_adapter_activator(|root, name| async move {
    ///     if !name.starts_with("branch ") {
    ///         return Ok(false);
    ///     }
    ///     let manager = root.the_poa_manager();
    ///     root.create_poa_with(&name, Policies::PERSISTENT, Some(manager))?;
    ///     Ok(true)
    /// })?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`AdapterError::Destroyed`] if this POA has been destroyed.
    #[doc(alias = "the_activator")]
    #[doc(alias = "unknown_adapter")]
    pub fn set_adapter_activator<F, A>(&self, activate: F) -> Result<(), Error>
    where
        F: Fn(Self, String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<bool, SystemException>> + Send + 'static,
    {
        let activator = ActivatesChildren {
            // Weak: the ORB holds the adapter, which holds the activator.
            orb: Arc::downgrade(self.orb.inner()),
            adapter: Arc::downgrade(&self.adapter),
            activate,
        };
        Ok(self
            .adapter
            .set_adapter_activator(Some(Arc::new(activator)))?)
    }

    /// Removes the adapter activator.
    ///
    /// # Errors
    /// [`AdapterError::Destroyed`] if this POA has been destroyed.
    pub fn clear_adapter_activator(&self) -> Result<(), Error> {
        Ok(self.adapter.set_adapter_activator(None)?)
    }

    /// The child of that name; if there is none, calls the adapter activator to make it.
    ///
    /// # Errors
    /// [`AdapterError::NonExistent`] if there is no activator, or it returns `false`; OBJ_ADAPTER if it raises a system
    /// exception.
    ///
    /// # Cancel safety
    /// Dropping the future drops the activator's future, which may have made the child already.
    #[doc(alias = "find_POA")]
    pub async fn find_or_activate_poa(&self, name: &str) -> Result<Self, Error> {
        let adapters = self.orb.inner().adapters();
        match adapters.activate_child(&self.adapter, name).await {
            Ok(Some(child)) => Ok(self.beside(child)),
            Ok(None) => Err(AdapterError::NonExistent(name.to_owned()).into()),
            Err(_) => Err(Fault::AdapterActivatorFailed
                .raise(CompletionStatus::No)
                .into()),
        }
    }

    /// Destroys the POA as [`destroy`](Self::destroy) does. `etherealize_objects`: whether servant activators
    /// etherealize the objects. With `wait_for_completion`, returns when the last upcall has ended and all objects are
    /// etherealized. While an upcall goes on, its object's id cannot be activated in a new persistent POA of the same
    /// name.
    ///
    /// # Errors
    /// BAD_INV_ORDER for `wait_for_completion` inside an upcall of this ORB, which would deadlock: the POA is not
    /// destroyed.
    ///
    /// # Cancel safety
    /// Safe: the first poll destroys the POA.
    #[doc(alias = "destroy")]
    pub async fn destroy_with(
        &self,
        etherealize_objects: bool,
        wait_for_completion: bool,
    ) -> Result<(), SystemException> {
        if wait_for_completion && is_upcall_of(self.orb.inner()) {
            return Err(Fault::WouldDeadlock.raise(CompletionStatus::No));
        }
        let adapters = self.orb.inner().adapters();
        let destroyed = adapters.destroy_with(&self.adapter, etherealize_objects);
        self.orb.inner().tell_destroyed(&destroyed);
        if wait_for_completion {
            for adapter in destroyed {
                adapter.completed().await;
            }
        }
        Ok(())
    }
}

struct ActivatesChildren<F> {
    orb: Weak<OrbInner>,
    adapter: Weak<Adapter>,
    activate: F,
}

impl<F, A> AdapterActivator for ActivatesChildren<F>
where
    F: Fn(Poa, String) -> A + Send + Sync,
    A: Future<Output = Result<bool, SystemException>> + Send + 'static,
{
    fn unknown_adapter(&self, name: String) -> Boxed<Result<bool, SystemException>> {
        let orb = self.orb.upgrade().and_then(|orb| orb.handle());
        match (orb, self.adapter.upgrade()) {
            (Some(orb), Some(adapter)) => Box::pin((self.activate)(Poa { orb, adapter }, name)),
            _ => Box::pin(core::future::ready(Ok(false))),
        }
    }
}

/// The factory and registry of an ORB's POA managers.
///
/// A manager that a POA has made for itself has an id, too. A manager lives as long as a POA or the application holds
/// it.
///
/// Source: CORBA 3.3 Part 1, `PortableServer::POAManagerFactory`.
#[derive(Clone)]
#[doc(alias = "POAManagerFactory")]
pub struct PoaManagerFactory(Orb);

impl PoaManagerFactory {
    /// Makes a manager in the HOLDING state, which POAs can share.
    ///
    /// # Errors
    /// [`AdapterError::ManagerAlreadyExists`] if a manager has this id.
    #[doc(alias = "create_POAManager")]
    pub fn create_poa_manager(&self, id: &str) -> Result<Arc<PoaManager>, Error> {
        let managers = self.0.inner().adapters().managers();
        Ok(managers.create(id).map_err(AdapterError::from)?)
    }

    /// Returns the managers that POAs or the application hold, sorted by id.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<PoaManager>> {
        self.0.inner().adapters().managers().list()
    }

    /// Returns the manager with this id; `None` if there is none, or no POA and no clone holds it any more.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Arc<PoaManager>> {
        self.0.inner().adapters().managers().find(id)
    }
}

impl fmt::Debug for PoaManagerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PoaManagerFactory")
            .field(&self.list())
            .finish()
    }
}
