//! IOR interceptors: components for the references of each POA, and news of POAs and their managers.

use super::point::caught;
use crate::addresses::{Body, read_profile};
use crate::orb::{Orb, OrbInner};
use crate::policy::{OtherPolicy, PolicyType};
use core::fmt;
use std::sync::Arc;
use zorb_giop::ior::{ProfileTag, TaggedComponent};
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException};
use zorb_poa::{Adapter, PoaManagerState, Policies};
use zorb_transport::Registry;

/// An interceptor of the POAs of an ORB. Every method does nothing unless it is written.
///
/// Its methods run where the POA or its manager is changed, and must not block. A panic is logged, and counts as the
/// exception of [`components_established`](Self::components_established). Object reference templates
/// (`adapter_template`, `current_factory`) are not offered.
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`PortableInterceptor::IORInterceptor_3_0`).
#[doc(alias = "IORInterceptor")]
pub trait IorInterceptor: Send + Sync + 'static {
    /// The name, unique among the IOR interceptors of an ORB; empty for an anonymous one, of which there may be several.
    fn name(&self) -> &str {
        ""
    }

    /// When a POA has been created, the root POA included: may add components to the references of its objects.
    fn establish_components(&self, info: &mut IorInfo<'_>) {
        let _ = info;
    }

    /// When all interceptors have established their components.
    ///
    /// # Errors
    /// An exception refuses the POA: creating it is OBJ_ADAPTER, minor code 6.
    fn components_established(&self, info: &IorInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// When a POA manager has changed its state.
    fn adapter_manager_state_changed(&self, manager_id: &str, state: AdapterState) {
        let _ = (manager_id, state);
    }

    /// When POAs have changed their state: they have been destroyed. Each is its names from the root's child on.
    fn adapter_state_changed(&self, adapters: &[Vec<String>], state: AdapterState) {
        let _ = (adapters, state);
    }
}

/// The state of POAs or of a manager: `PortableInterceptor::AdapterState`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these")]
#[repr(i16)]
pub enum AdapterState {
    /// Requests are held.
    Holding = 0,
    /// Requests are served.
    Active = 1,
    /// Requests are discarded.
    Discarding = 2,
    /// Requests are refused.
    Inactive = 3,
    /// Destroyed.
    NonExistent = 4,
}

impl From<PoaManagerState> for AdapterState {
    fn from(state: PoaManagerState) -> Self {
        match state {
            PoaManagerState::Holding => Self::Holding,
            PoaManagerState::Active => Self::Active,
            PoaManagerState::Discarding => Self::Discarding,
            PoaManagerState::Inactive => Self::Inactive,
        }
    }
}

/// What is kept with a POA for interceptors: its policies of the application's types, and the components that interceptors have
/// added to its references.
#[derive(Debug, Default)]
pub(crate) struct Established {
    policies: Vec<OtherPolicy>,
    all: Vec<TaggedComponent>,
    of_profiles: Vec<(ProfileTag, TaggedComponent)>,
}

impl Established {
    pub(crate) fn policy(&self, policy_type: PolicyType) -> Option<&OtherPolicy> {
        (self.policies.iter()).find(|policy| policy.policy_type() == policy_type)
    }

    /// Adds the components to a reference that is being made. Profiles of GIOP 1.0 have none.
    pub(crate) fn add_to(
        &self,
        ior: &mut Ior,
        transports: &Registry,
    ) -> Result<(), SystemException> {
        for profile in &mut ior.profiles {
            let Some((transport, Ok(body))) = read_profile(profile, transports) else {
                continue;
            };
            let tag = profile.tag;
            let own = self.of_profiles.iter().filter(|(of, _)| *of == tag);
            let added = self.all.iter().chain(own.map(|(_, component)| component));
            let mut components = body.components.clone();
            components.extend(added.cloned());
            let body = Body { components, ..body };
            *profile = body
                .to_tagged(transport.addressing())
                .map_err(|error| Fault::Encode(error).raise(CompletionStatus::No))?;
        }
        Ok(())
    }
}

/// A POA that has been created, as IOR interceptors see it: `PortableInterceptor::IORInfo`.
pub struct IorInfo<'a> {
    orb: &'a Arc<OrbInner>,
    adapter: &'a Adapter,
    established: &'a mut Established,
}

impl IorInfo<'_> {
    /// The names of the POAs from the root's child to this one; empty for the root POA.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        self.adapter.path()
    }

    /// The policies of the POA.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.adapter.policies()
    }

    /// The policy of this type, one of the application's, with which the POA was created: see
    /// [`Poa::create_poa_of_policies`](crate::Poa::create_poa_of_policies).
    #[must_use]
    #[doc(alias = "get_effective_policy")]
    pub fn policy(&self, policy_type: PolicyType) -> Option<&OtherPolicy> {
        self.established.policy(policy_type)
    }

    /// The id of its manager.
    #[must_use]
    pub fn manager_id(&self) -> &str {
        self.adapter.manager().id()
    }

    /// The state of the POA, which is that of its manager.
    #[must_use]
    pub fn state(&self) -> AdapterState {
        self.adapter.manager().state().into()
    }

    /// Adds a component to all profiles of the POA's references. The data is an encapsulation, as a rule.
    pub fn add_ior_component(&mut self, component: TaggedComponent) {
        self.established.all.push(component);
    }

    /// Adds a component to the profiles with this tag.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 29, if references of this ORB have no such profile.
    pub fn add_ior_component_to_profile(
        &mut self,
        component: TaggedComponent,
        profile: ProfileTag,
    ) -> Result<(), SystemException> {
        let (published, transports) = (self.orb.published(), self.orb.transports());
        let mut tags = (published.endpoints.iter())
            .filter_map(|endpoint| transports.get(endpoint.scheme()))
            .filter_map(|transport| transport.addressing().profile());
        if !tags.any(|tag| tag == profile.0) {
            return Err(Fault::NoProfile(profile.0).raise(CompletionStatus::No));
        }
        self.established.of_profiles.push((profile, component));
        Ok(())
    }
}

impl fmt::Debug for IorInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IorInfo")
            .field("adapter_name", &self.adapter_name())
            .field("manager_id", &self.manager_id())
            .finish_non_exhaustive()
    }
}

impl OrbInner {
    fn ior_interceptors(&self) -> &[Arc<dyn IorInterceptor>] {
        self.interceptors().map_or(&[], |all| all.ior())
    }

    /// Has interceptors establish the components of a POA that has been created.
    ///
    /// # Errors
    /// OBJ_ADAPTER, minor code 6, if one refuses it.
    pub(crate) fn establish(
        self: &Arc<Self>,
        adapter: &Adapter,
        policies: Vec<OtherPolicy>,
    ) -> Result<(), SystemException> {
        let interceptors = self.ior_interceptors();
        if interceptors.is_empty() && policies.is_empty() {
            return Ok(());
        }
        let mut established = Established {
            policies,
            ..Established::default()
        };
        let mut info = IorInfo {
            orb: self,
            adapter,
            established: &mut established,
        };
        for interceptor in interceptors {
            // A failure here is ignored, as specified.
            let _ = caught(self, || interceptor.establish_components(&mut info));
        }
        for interceptor in interceptors {
            let done = caught(self, || interceptor.components_established(&info));
            if !matches!(done, Some(Ok(()))) {
                return Err(Fault::ComponentsEstablished.raise(CompletionStatus::No));
            }
        }
        adapter.attach(Arc::new(established));
        Ok(())
    }

    /// Tells interceptors that POAs have been destroyed.
    pub(crate) fn tell_destroyed(&self, destroyed: &[Arc<Adapter>]) {
        let interceptors = self.ior_interceptors();
        if interceptors.is_empty() || destroyed.is_empty() {
            return;
        }
        let names: Vec<_> = destroyed.iter().map(|gone| gone.path().to_vec()).collect();
        for interceptor in interceptors {
            let _ = caught(self, || {
                interceptor.adapter_state_changed(&names, AdapterState::NonExistent);
            });
        }
    }

    /// Has interceptors told of the states of POA managers.
    pub(crate) fn watch_managers(self: &Arc<Self>) {
        if self.ior_interceptors().is_empty() {
            return;
        }
        let this = Arc::downgrade(self);
        self.adapters().managers().watch(move |id, state| {
            let Some(orb) = this.upgrade() else {
                return;
            };
            for interceptor in orb.ior_interceptors() {
                let _ = caught(&orb, || {
                    interceptor.adapter_manager_state_changed(id, state.into());
                });
            }
        });
    }
}

impl Orb {
    /// Establishes the components of the POAs that an ORB begins with.
    pub(crate) fn establish_roots(&self) -> Result<(), SystemException> {
        let (orb, adapters) = (self.inner(), self.inner().adapters());
        orb.establish(adapters.root(), Vec::new())?;
        orb.establish(adapters.plain(), Vec::new())
    }
}
