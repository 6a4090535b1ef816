//! Requests for objects that are not in the active object map, and the servant managers and default servants that serve
//! them.

use super::processing::{Processing, Set};
use super::{Adapter, AdapterError, Objects, Scheme};
use crate::identity::Identity;
use crate::incarnation::NotIncarnated;
use crate::manager::PoaManagerState;
use crate::missing::Missing;
use crate::object::ActiveObject;
use crate::servant_manager::{Activator, Locator};
use crate::skeleton::Skeleton;
use crate::sync::ArcSwapOption;
use crate::turn_queue::UpcallChain;
use std::sync::Arc;

impl Adapter {
    /// Sets the servant activator, which activates inactive objects when they are called
    /// (`PortableServer::POA::set_servant_manager`).
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] unless the adapter has USE_SERVANT_MANAGER and RETAIN,
    /// [`AdapterError::ServantManagerSet`] the second time, [`AdapterError::Destroyed`].
    pub fn set_activator(&self, activator: Arc<dyn Activator>) -> Result<(), AdapterError> {
        self.check_alive()?;
        match &self.processing {
            Processing::Activator(place) => set_once(place, activator),
            _ => Err(AdapterError::WrongPolicy(
                "a servant activator needs USE_SERVANT_MANAGER and RETAIN",
            )),
        }
    }

    /// Sets the servant locator, which finds a servant for each request (`PortableServer::POA::set_servant_manager`).
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] unless the adapter has USE_SERVANT_MANAGER and NON_RETAIN,
    /// [`AdapterError::ServantManagerSet`] the second time, [`AdapterError::Destroyed`].
    pub fn set_locator(&self, locator: Arc<impl Locator>) -> Result<(), AdapterError> {
        self.check_alive()?;
        match &self.processing {
            Processing::Locator(place) => set_once(place, locator),
            _ => Err(AdapterError::WrongPolicy(
                "a servant locator needs USE_SERVANT_MANAGER and NON_RETAIN",
            )),
        }
    }

    /// Sets or replaces the default servant, which serves ids without an active object (`PortableServer::POA::set_servant`).
    /// Requests in progress keep the earlier one.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] without USE_DEFAULT_SERVANT, [`AdapterError::Destroyed`].
    pub fn set_default_servant(&self, servant: Arc<dyn Skeleton>) -> Result<(), AdapterError> {
        self.check_alive()?;
        match &self.processing {
            Processing::DefaultServant(place) => {
                // The replaced object is dropped when its last request has ended.
                place.store(Some(Arc::new(Set(servant))));
                self.common.changes.count();
                Ok(())
            }
            _ => Err(NEEDS_DEFAULT_SERVANT),
        }
    }

    /// The default servant (`PortableServer::POA::get_servant`).
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] without USE_DEFAULT_SERVANT, [`AdapterError::NoServant`] if none has been set,
    /// [`AdapterError::Destroyed`].
    pub fn default_servant(&self) -> Result<Arc<dyn Skeleton>, AdapterError> {
        self.check_alive()?;
        match &self.processing {
            Processing::DefaultServant(place) => match &*place.load() {
                Some(servant) => Ok(Arc::clone(&servant.0)),
                None => Err(AdapterError::NoServant),
            },
            _ => Err(NEEDS_DEFAULT_SERVANT),
        }
    }

    /// Whether a servant manager has been set.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] without USE_SERVANT_MANAGER, [`AdapterError::Destroyed`].
    pub fn has_servant_manager(&self) -> Result<bool, AdapterError> {
        self.check_alive()?;
        match &self.processing {
            Processing::Activator(place) => Ok(place.load().is_some()),
            Processing::Locator(place) => Ok(place.load().is_some()),
            _ => Err(AdapterError::WrongPolicy(
                "there is no servant manager without USE_SERVANT_MANAGER",
            )),
        }
    }

    pub(super) fn activator(&self) -> Option<Arc<dyn Activator>> {
        match &self.processing {
            Processing::Activator(place) => place.load().as_ref().map(|set| Arc::clone(&set.0)),
            _ => None,
        }
    }

    /// The target of a request for an inactive object with this id; `None` for OBJECT_NOT_EXIST.
    #[inline]
    pub(super) fn process_named(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        match self.processing.is_map_only() {
            true => None,
            false => self.process_other(Identity::of_octets(id)),
        }
    }

    /// The target of a request for an inactive object with this identity; `None` for OBJECT_NOT_EXIST.
    #[inline]
    pub(super) fn process(&self, identity: Identity) -> Option<Arc<ActiveObject>> {
        match self.processing.is_map_only() {
            true => None,
            false => self.process_other(identity),
        }
    }

    fn process_other(&self, identity: Identity) -> Option<Arc<ActiveObject>> {
        if self.is_destroyed() {
            return None;
        }
        let takes_any = self.has_user_ids() && !matches!(self.objects, Objects::Fixed(_));
        if !(takes_any && matches!(self.scheme, Scheme::Persistent(_))) {
            self.check_id(identity.to_id().as_ref()).ok()?;
        }
        Some(match &self.processing {
            Processing::ActiveObjectMapOnly => return None,
            Processing::DefaultServant(place) => match &*place.load() {
                Some(servant) => {
                    Arc::new(self.object_for_request(Arc::clone(&servant.0), identity))
                }
                None => ActiveObject::refused(Missing::DefaultServant, self.site(identity)),
            },
            Processing::Activator(place) => match &*place.load() {
                Some(activator) => {
                    let (this, id) = (self.this.upgrade()?, identity.to_id());
                    let inactive = NotIncarnated::new(this, Arc::clone(&activator.0), id);
                    ActiveObject::not_incarnated(inactive, self.site(identity))
                }
                None => ActiveObject::refused(Missing::ServantManager, self.site(identity)),
            },
            Processing::Locator(place) => match &*place.load() {
                Some(locator) => {
                    let (this, locator) = (self.this.upgrade()?, Arc::clone(&locator.0));
                    ActiveObject::to_be_located(this, locator, self.site(identity))
                }
                None => ActiveObject::refused(Missing::ServantManager, self.site(identity)),
            },
        })
    }
}

impl Adapter {
    /// A temporary object that stands for a missing one while the manager is not ACTIVE, as the state of the manager is checked
    /// before the active object map.
    pub(crate) fn held_missing(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        if self.is_destroyed() || self.manager.state() == PoaManagerState::Active {
            return None;
        }
        let site = self.site(self.identity(id));
        Some(ActiveObject::refused(Missing::Object, site))
    }

    /// Runs `upcall`, an upcall of a servant manager, under the thread policy of the adapter: if upcalls take turns, when its
    /// turn has come.
    ///
    /// # Cancel safety
    /// Safe: the turn passes to the next upcall.
    pub async fn taking_turn<T>(&self, upcall: impl Future<Output = T>) -> T {
        match self.turn_queue() {
            None => upcall.await,
            Some(turns) => Arc::clone(turns).run(UpcallChain::default(), upcall).await,
        }
    }
}

fn set_once<T: ?Sized>(place: &ArcSwapOption<Set<T>>, new: Arc<T>) -> Result<(), AdapterError> {
    let before = place.compare_and_swap(&None::<Arc<Set<T>>>, Some(Arc::new(Set(new))));
    match &*before {
        None => Ok(()),
        Some(_) => Err(AdapterError::ServantManagerSet),
    }
}

const NEEDS_DEFAULT_SERVANT: AdapterError =
    AdapterError::WrongPolicy("there is no default servant without USE_DEFAULT_SERVANT");
