//! The mapping of servants to object ids and back.

use super::{Adapter, AdapterError};

use crate::identity::{MapEntry as _, ServantAddress};
use crate::key::ObjectId;
use crate::object::ActiveObject;
use crate::policy::{ImplicitActivation, RequestProcessing};
use crate::skeleton::Skeleton;
use bytes::Bytes;
use std::sync::Arc;

impl Adapter {
    /// Activates a servant under this object id and returns the object's key.
    ///
    /// # Errors
    /// [`AdapterError::ObjectAlreadyActive`] if the id is taken, [`AdapterError::BeingDeactivated`] if an upcall on an earlier
    /// object of this id has not ended, [`AdapterError::UnknownId`] if the adapter assigns ids and has not assigned this one,
    /// [`AdapterError::ServantAlreadyActive`] with UNIQUE_ID, [`AdapterError::WrongPolicy`] with NON_RETAIN.
    pub fn activate_with_id(
        &self,
        id: &[u8],
        skeleton: Arc<dyn Skeleton>,
    ) -> Result<Bytes, AdapterError> {
        self.activate_at(id, skeleton)?;
        Ok(self.key(id))
    }

    /// Does the work of [`activate_with_id`](Self::activate_with_id), and returns the object, which another thread may
    /// deactivate at once.
    pub(crate) fn activate_at(
        &self,
        id: &[u8],
        skeleton: Arc<dyn Skeleton>,
    ) -> Result<Arc<ActiveObject>, AdapterError> {
        self.check_retains()?;
        let address = ServantAddress::of(&*skeleton);
        let object = self.servant(skeleton, self.identity(id));
        if self.hand_over(id, &object) {
            return Ok(object);
        }
        self.check_id(id)?;
        let put = || self.put_at(id, &object).map(|()| Arc::clone(&object));
        let object = self.servants.activate(address, put)?;
        // Looked at again: the map may have been emptied between the two.
        if self.is_being_incarnated_late(id) && self.objects.take(&object) {
            self.common.changes.count();
            self.forget_servant(&object);
            return match self.hand_over(id, &object) {
                true => Ok(object),
                false => Err(AdapterError::Destroyed),
            };
        }
        self.kept(object)
    }

    /// Whether the servant activator is being called for this id, and the adapter has ended since.
    fn is_being_incarnated_late(&self, id: &[u8]) -> bool {
        self.etherealizes.get().is_some() && self.is_being_incarnated(id)
    }

    /// Hands an object that the servant activator has made to the requests that wait for it, if the activator was called
    /// before the adapter ended: it enters no map. Returns whether it did.
    pub(super) fn hand_over(&self, id: &[u8], object: &Arc<ActiveObject>) -> bool {
        let Some(&etherealize) = self.etherealizes.get() else {
            return false;
        };
        let handed = (self.activations).hand_over(&id.into(), Arc::clone(object), etherealize);
        handed.is_ok()
    }

    fn has_default_servant(&self) -> bool {
        self.policies.request_processing == RequestProcessing::DefaultServant
    }

    fn activates_implicitly(&self) -> bool {
        self.policies.implicit_activation == ImplicitActivation::Implicit
    }

    pub(super) fn has_user_ids(&self) -> bool {
        self.policies.id_assignment == crate::policy::IdAssignment::User
    }

    /// Whether a servant is active in the active object map.
    pub(crate) fn is_servant_active(&self, skeleton: &dyn Skeleton) -> bool {
        let address = ServantAddress::of(skeleton);
        address.is_some_and(|address| self.servants.is_active(address))
    }

    /// Activates a servant under a new object id, and returns the id.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] with USER_ID or NON_RETAIN, [`AdapterError::ServantAlreadyActive`] with UNIQUE_ID,
    /// [`AdapterError::Destroyed`], [`AdapterError::Full`].
    pub fn activate_object(&self, skeleton: &Arc<dyn Skeleton>) -> Result<ObjectId, AdapterError> {
        self.activate_new(skeleton)
    }

    /// The id of the object that a servant stands for (`PortableServer::POA::servant_to_id`): the only one that it is active
    /// for (UNIQUE_ID), a new one (IMPLICIT_ACTIVATION), or, for the default servant, the one of the upcall that is executing
    /// on it.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] with other policies, [`AdapterError::ServantNotActive`].
    pub fn servant_to_id(&self, skeleton: &Arc<dyn Skeleton>) -> Result<ObjectId, AdapterError> {
        self.check_alive()?;
        let finds = self.policies.retains() && (self.is_unique() || self.activates_implicitly());
        if !finds && !self.has_default_servant() {
            return Err(AdapterError::WrongPolicy(
                "ids of servants need RETAIN with UNIQUE_ID or IMPLICIT_ACTIVATION, or USE_DEFAULT_SERVANT",
            ));
        }
        let address = ServantAddress::of(&**skeleton);
        if finds
            && self.is_unique()
            && let Some(object) = address.and_then(|address| self.servants.find(address))
        {
            return Ok(object.id());
        }
        if self.activates_implicitly() {
            return match self.activate_new(skeleton) {
                // Another thread has activated it meanwhile.
                Err(AdapterError::ServantAlreadyActive) => address
                    .and_then(|address| self.servants.find(address))
                    .map(|object| object.id())
                    .ok_or(AdapterError::ServantNotActive),
                activated => activated,
            };
        }
        if self.has_default_servant() {
            let default = self.default_servant().ok();
            let is_default = address.is_some()
                && default.and_then(|default| ServantAddress::of(&*default)) == address;
            if is_default && let Some(id) = self.executing(&**skeleton) {
                return Ok(id);
            }
        }
        Err(AdapterError::ServantNotActive)
    }

    /// The object id of the upcall of this adapter that this thread is executing on the servant; `None` if there is none.
    #[must_use]
    pub fn executing(&self, skeleton: &dyn Skeleton) -> Option<ObjectId> {
        let address = ServantAddress::of(skeleton)?;
        ActiveObject::current(|object| {
            let is_here = object
                .adapter()
                .is_some_and(|adapter| core::ptr::eq(&*adapter, self));
            (is_here && object.servant_address() == Some(address)).then(|| object.id())
        })?
    }

    /// The id for a servant's reference (`PortableServer::POA::servant_to_reference`): the one of the upcall that is executing
    /// on it, or else the one that [`servant_to_id`](Self::servant_to_id) finds.
    ///
    /// # Errors
    /// [`AdapterError::ServantNotActive`]; [`AdapterError::WrongPolicy`] outside of such an upcall without RETAIN and UNIQUE_ID
    /// or IMPLICIT_ACTIVATION.
    pub fn servant_to_reference(
        &self,
        skeleton: &Arc<dyn Skeleton>,
    ) -> Result<ObjectId, AdapterError> {
        self.check_alive()?;
        if let Some(id) = self.executing(&**skeleton) {
            return Ok(id);
        }
        if !self.policies.retains() || !(self.is_unique() || self.activates_implicitly()) {
            return Err(AdapterError::WrongPolicy(
                "references of servants need RETAIN with UNIQUE_ID or IMPLICIT_ACTIVATION",
            ));
        }
        self.servant_to_id(skeleton)
    }

    /// The servant of the object with this id: the active one, else the default servant. Servant managers are not called.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] without RETAIN and USE_DEFAULT_SERVANT, [`AdapterError::ObjectNotActive`].
    pub fn id_to_servant(&self, id: &[u8]) -> Result<Arc<dyn Skeleton>, AdapterError> {
        self.check_alive()?;
        if !self.policies.retains() && !self.has_default_servant() {
            return Err(AdapterError::WrongPolicy(
                "servants of ids need RETAIN or USE_DEFAULT_SERVANT",
            ));
        }
        let active = self.find(id).and_then(|object| object.skeleton().cloned());
        active
            .or_else(|| self.default_servant().ok())
            .ok_or(AdapterError::ObjectNotActive)
    }

    /// The active object with this id.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] without RETAIN, [`AdapterError::ObjectNotActive`].
    pub fn active(&self, id: &[u8]) -> Result<Arc<ActiveObject>, AdapterError> {
        self.check_alive()?;
        self.check_retains()?;
        self.find(id).ok_or(AdapterError::ObjectNotActive)
    }
}
