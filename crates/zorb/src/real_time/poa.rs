//! The operations of `RTPortableServer::POA`.

use super::policies::{RtPolicies, Scheduled};
use super::settings::raise;
use crate::error::Error;
use crate::instance::ensure_key_secret;
use crate::interface::Interface;
use crate::poa::{InterfaceSkeleton, Poa};
use crate::policy::OtherPolicy;
use std::sync::Arc;
use zorb_executor::Priority;
use zorb_giop::RealTimeFault;
use zorb_poa::{
    AdapterError, AdapterOptions, ObjectId, ObjectIds, PoaManager, Policies, UpcallScheduling,
};

/// What few child POAs have.
#[derive(Default)]
pub(crate) struct ChildOptions {
    /// The set of ids of its objects, if it is fixed.
    pub(crate) ids: Option<&'static ObjectIds>,
    /// The policies of the application's types.
    pub(crate) policies: Vec<OtherPolicy>,
}

impl Poa {
    /// Makes a child POA with real-time policies: see [`RtPolicies`]. Policies that are not set are [the
    /// ORB's](crate::real_time::RtOrb::set_policy_defaults). `manager`: a POA manager to share; `None` makes one of its
    /// own, in HOLDING.
    ///
    /// # Errors
    /// Returns the errors of [`create_poa_with`](Self::create_poa_with), and [`AdapterError::InvalidPolicy`] for
    /// real-time policies that exclude each other.
    #[doc(alias = "create_POA")]
    pub fn create_rt_poa(
        &self,
        name: &str,
        policies: Policies,
        real_time: RtPolicies,
        manager: Option<&Arc<PoaManager>>,
    ) -> Result<Self, Error> {
        self.create_child(name, policies, real_time, manager, ChildOptions::default())
    }

    /// Makes a child POA.
    pub(crate) fn create_child(
        &self,
        name: &str,
        policies: Policies,
        real_time: RtPolicies,
        manager: Option<&Arc<PoaManager>>,
        more: ChildOptions,
    ) -> Result<Self, Error> {
        let (orb, parent) = (self.orb(), self.adapter());
        let real_time = real_time.over(&orb.inner().real_time().defaults());
        let (published, transports) = (orb.inner().published(), orb.inner().transports());
        let valid = real_time.validate();
        valid
            .and_then(|()| real_time.validate_protocols(&published.endpoints, transports))
            .map_err(AdapterError::from)?;
        let scheduled =
            (!real_time.is_empty()).then(|| Arc::new(real_time.into_scheduled(transports)));
        let scheduling = (scheduled.clone()).map(|by| -> Arc<dyn UpcallScheduling> { by });
        let adapters = orb.inner().adapters();
        ensure_key_secret(adapters, policies);
        let manager = manager.cloned();
        let options = AdapterOptions {
            scheduling,
            ids: more.ids,
        };
        let adapter = adapters.create_with(parent, name, policies, manager, options)?;
        if let Some(pool) = scheduled.and_then(|by| by.pool.clone()) {
            pool.used_by(&adapter);
        }
        if let Err(refused) = orb.inner().establish(&adapter, more.policies) {
            adapters.destroy(&adapter);
            return Err(refused.into());
        }
        Ok(self.beside(adapter))
    }

    fn scheduled(&self) -> Result<&Scheduled, AdapterError> {
        let none = AdapterError::WrongPolicy("the adapter has no priority model");
        let scheduled = Scheduled::of(self.adapter()).ok_or(none)?;
        scheduled.check_declares()?;
        Ok(scheduled)
    }

    /// Assigns a priority of its own to an object.
    fn assign_priority(&self, id: &[u8], priority: Priority) -> Result<(), Error> {
        let scheduled = self.scheduled()?;
        if !priority.is_valid() || scheduled.lane_of(priority).is_none() {
            return Err(raise(RealTimeFault::OutOfRange(priority.0)).into());
        }
        let active = self.adapter().find(id).and_then(|object| object.priority());
        let assigned = match active {
            Some(before) if before != priority.0 => Err(before),
            _ => scheduled.assign(id, priority),
        };
        assigned.map_err(|before| raise(RealTimeFault::PriorityAssigned(before)).into())
    }

    /// Makes a reference to an object with a priority of its own: see [`create_reference`](Self::create_reference).
    ///
    /// # Errors
    /// Returns the errors of `create_reference`; [`AdapterError::WrongPolicy`] unless the POA has SERVER_DECLARED;
    /// BAD_PARAM for a priority below 0 or without a lane.
    pub fn create_reference_with_priority<T: Interface>(
        &self,
        priority: Priority,
    ) -> Result<T, Error> {
        let id = self.new_id(priority)?;
        self.create_reference_with_id(id)
    }

    /// Makes a reference to an object with this id and a priority of its own: see
    /// [`create_reference_with_id`](Self::create_reference_with_id).
    ///
    /// # Errors
    /// Returns the errors of `create_reference_with_id` and of
    /// [`activate_object_with_id_and_priority`](Self::activate_object_with_id_and_priority).
    pub fn create_reference_with_id_and_priority<T: Interface>(
        &self,
        id: impl AsRef<[u8]>,
        priority: Priority,
    ) -> Result<T, Error> {
        self.assign_priority(id.as_ref(), priority)?;
        self.create_reference_with_id(id)
    }

    /// Activates an object with a priority of its own: see [`activate`](Self::activate).
    ///
    /// # Errors
    /// Returns the errors of `activate`; [`AdapterError::WrongPolicy`] unless the POA has SERVER_DECLARED; BAD_PARAM
    /// for a priority below 0 or without a lane.
    pub fn activate_object_with_priority<S: InterfaceSkeleton<Ref: Interface>>(
        &self,
        servant: S,
        priority: Priority,
    ) -> Result<S::Ref, Error> {
        let id = self.new_id(priority)?;
        self.activate_object_with_id(id, servant)
    }

    /// Activates an object with this id and a priority of its own: see
    /// [`activate_object_with_id`](Self::activate_object_with_id).
    ///
    /// # Errors
    /// Returns the errors of `activate_object_with_id`; [`AdapterError::WrongPolicy`] unless the POA has
    /// SERVER_DECLARED; BAD_PARAM for a priority below 0 or without a lane; BAD_INV_ORDER, minor code 18, if the object
    /// has another priority already.
    pub fn activate_object_with_id_and_priority<S: InterfaceSkeleton<Ref: Interface>>(
        &self,
        id: impl AsRef<[u8]>,
        servant: S,
        priority: Priority,
    ) -> Result<S::Ref, Error> {
        self.assign_priority(id.as_ref(), priority)?;
        self.activate_object_with_id(id, servant)
    }

    /// Reserves a new id for an object with this priority.
    fn new_id(&self, priority: Priority) -> Result<ObjectId, Error> {
        // Checked before an id is reserved.
        let scheduled = self.scheduled()?;
        if !priority.is_valid() || scheduled.lane_of(priority).is_none() {
            return Err(raise(RealTimeFault::OutOfRange(priority.0)).into());
        }
        let key = self.adapter().reserve()?;
        let id = self.adapter().id_in(&key)?;
        self.assign_priority(id.as_ref(), priority)?;
        Ok(id)
    }
}
