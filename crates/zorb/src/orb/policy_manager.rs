//! The policies of an ORB's calls, which may change while it runs: CORBA's ORBPolicyManager.

use super::{Orb, OrbInner};
use crate::policy::{Policy, PolicyOverrides, PolicyType, SetOverrideType};
use arc_swap::Guard;
use core::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use zorb_giop::SystemException;

impl Orb {
    /// The policies of the ORB's calls: those of [`Builder::policies`](crate::Builder::policies), or what replaced them.
    pub fn policies(&self) -> PolicyOverrides {
        PolicyOverrides::clone(&self.inner().policies())
    }

    /// Sets policies of the ORB's calls while it runs (`PolicyManager::set_policy_overrides`), in place of all that there are
    /// or over them.
    ///
    /// Calls that begin afterwards have the new time limits, deadlines, SyncScope, buffering and rebind mode, whatever
    /// reference they go through; calls in progress keep theirs. What chooses a connection (protocols, bidirectional GIOP, private
    /// connections, priority bands, the order of endpoints) holds for references that are bound from then on; one that is
    /// bound keeps its connection until that ends. A code set and a wait policy hold for references that are made from then
    /// on. An ORB that listens nowhere offers its connections only if it was built with
    /// [`BidirectionalPolicy::Both`](crate::policy::BidirectionalPolicy::Both).
    ///
    /// While there is a time limit that was set so, each call of this ORB looks for it, as if it had one of its own.
    #[doc(alias = "ORBPolicyManager")]
    pub fn set_policies(&self, policies: &PolicyOverrides, how: SetOverrideType) {
        let inner = self.inner();
        // Callers take turns, so that the policies and `is_limited` are of one caller in the end.
        let _one = (inner.setting_policies.lock()).unwrap_or_else(PoisonError::into_inner);
        let policies = match how {
            SetOverrideType::SetOverride => policies.clone(),
            SetOverrideType::AddOverride => policies.over(&inner.policies()),
        };
        // References that were made before do not know of times.
        let has_times = policies.has_times();
        inner.policies.store(Arc::new(policies));
        inner.is_limited.store(has_times, Ordering::Relaxed);
    }

    /// Sets policies that are known while the program runs only: see [`set_policies`](Self::set_policies).
    ///
    /// # Errors
    /// Those of [`PolicyOverrides::from_policies`]; nothing is set then.
    #[doc(alias = "ORBPolicyManager")]
    #[doc(alias = "PolicyManager")]
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverrideType,
    ) -> Result<(), SystemException> {
        self.set_policies(&PolicyOverrides::from_policies(policies)?, how);
        Ok(())
    }

    /// The policies of these types that the ORB's calls have; all of them for an empty list.
    #[must_use]
    #[doc(alias = "ORBPolicyManager")]
    #[doc(alias = "get_policy_overrides")]
    pub fn policy_overrides(&self, types: &[PolicyType]) -> Vec<Policy> {
        self.inner().policies().listed(types)
    }
}

impl OrbInner {
    /// Whether calls have to look for time limits that are younger than their references.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        // A call that begins at the same time has either.
        self.is_limited.load(Ordering::Relaxed)
    }

    /// The policies of its calls.
    pub(crate) fn policies(&self) -> Guard<Arc<PolicyOverrides>> {
        self.policies.load()
    }
}
