//! The tree of POAs, and their managers.

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

    /// The POA that this one is in; `None` for the root POA, and for one that has been destroyed.
    #[must_use]
    pub fn the_parent(&self) -> Option<Self> {
        let parent = self.orb.inner().adapters().parent(&self.adapter)?;
        Some(self.beside(parent))
    }

    /// The POAs in this one, by name.
    #[must_use]
    pub fn the_children(&self) -> Vec<Self> {
        let children = self.orb.inner().adapters().children(&self.adapter);
        children
            .into_iter()
            .map(|child| self.beside(child))
            .collect()
    }

    /// The managers of the ORB's POAs.
    #[must_use]
    pub fn the_poa_manager_factory(&self) -> PoaManagerFactory {
        PoaManagerFactory(self.orb.clone())
    }

    /// Has children of this POA made when they are looked for and there are none: by requests for persistent objects in them, or in
    /// POAs below them, and by [`find_or_activate_poa`](Self::find_or_activate_poa).
    ///
    /// `activate` gets this POA and the name, makes the child ([`create_poa_with`](Self::create_poa_with)) and sets it up, and says
    /// whether there is one. Requests wait meanwhile, also for a manager of this POA that is HOLDING; one is at work for each name.
    /// `false` is OBJECT_NOT_EXIST for them, an exception or a panic OBJ_ADAPTER. A request waits for 10 seconds at most. The last
    /// activator that was set counts.
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
    /// [`AdapterError::Destroyed`].
    #[doc(alias = "the_activator")]
    #[doc(alias = "unknown_adapter")]
    pub fn set_adapter_activator<F, A>(&self, activate: F) -> Result<(), Error>
    where
        F: Fn(Self, String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<bool, SystemException>> + Send + 'static,
    {
        let activator = ActivatesChildren {
            // The adapter holds the activator, and the ORB the adapter.
            orb: Arc::downgrade(self.orb.inner()),
            adapter: Arc::downgrade(&self.adapter),
            activate,
        };
        Ok(self
            .adapter
            .set_adapter_activator(Some(Arc::new(activator)))?)
    }

    /// Has no children made any more.
    ///
    /// # Errors
    /// [`AdapterError::Destroyed`].
    pub fn clear_adapter_activator(&self) -> Result<(), Error> {
        Ok(self.adapter.set_adapter_activator(None)?)
    }

    /// The child of that name; if there is none, the adapter activator is asked for it.
    ///
    /// # Errors
    /// [`AdapterError::NonExistent`] if there is no activator, or it says that there is none; OBJ_ADAPTER if it raises a system
    /// exception.
    ///
    /// # Cancel safety
    /// Dropping it drops the activator's future.
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

    /// [`destroy`](Self::destroy); says whether servant activators etherealize the objects, and, with `wait_for_completion`, returns
    /// when the last upcall has ended and all has been etherealized. While an upcall goes on, its object's id cannot be activated
    /// in a persistent POA that is made under the same name.
    ///
    /// # Errors
    /// BAD_INV_ORDER when waiting is asked for inside an upcall of this ORB, which would wait for itself: nothing happens then.
    ///
    /// # Cancel safety
    /// Safe: the POA is destroyed once this has been polled.
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

/// The POA managers of an ORB, by their ids.
///
/// A manager that a POA has made for itself has an id, too; one that neither a POA nor the application has is gone.
///
/// Source: CORBA 3.3 Part 1, `PortableServer::POAManagerFactory`.
#[derive(Clone)]
#[doc(alias = "POAManagerFactory")]
pub struct PoaManagerFactory(Orb);

impl PoaManagerFactory {
    /// Makes a manager, in the HOLDING state, for POAs to share.
    ///
    /// # Errors
    /// [`AdapterError::ManagerAlreadyExists`].
    #[doc(alias = "create_POAManager")]
    pub fn create_poa_manager(&self, id: &str) -> Result<Arc<PoaManager>, Error> {
        let managers = self.0.inner().adapters().managers();
        Ok(managers.create(id).map_err(AdapterError::from)?)
    }

    /// All managers, by id.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<PoaManager>> {
        self.0.inner().adapters().managers().list()
    }

    /// The manager with this id.
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
