//! The ORB's level of policies, which may change at run time: CORBA's ORBPolicyManager.

use super::{Orb, OrbInner};
use crate::policy::{Policy, PolicyOverrides, PolicyType, SetOverrideType};
use arc_swap::Guard;
use core::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use zorb_giop::SystemException;

impl Orb {
    /// A copy of the policies of the ORB's calls: those of [`Builder::policies`](crate::Builder::policies), or the ones
    /// that replaced them.
    pub fn policies(&self) -> PolicyOverrides {
        PolicyOverrides::clone(&self.inner().policies())
    }

    /// Sets policies of the ORB's calls at run time (`PolicyManager::set_policy_overrides`), in place of all former
    /// ones or over them.
    ///
    /// Calls that begin afterwards have the new time limits, deadlines, SyncScope, buffering and rebind mode, by every
    /// reference; calls in progress keep theirs. Policies that select a connection (protocols, bidirectional GIOP,
    /// private connections, priority bands, the order of endpoints) apply to references that are bound afterwards; a
    /// bound one keeps its connection until that ends. A code set and a wait policy apply to references that are made
    /// afterwards. An ORB that listens nowhere offers its connections only if it was built with
    /// [`BidirectionalPolicy::Both`](crate::policy::BidirectionalPolicy::Both).
    ///
    /// While such a time limit is set, every call of this ORB pays for a time limit.
    #[doc(alias = "ORBPolicyManager")]
    pub fn set_policies(&self, policies: &PolicyOverrides, how: SetOverrideType) {
        let inner = self.inner();
        // The lock makes the policies and `is_limited` those of one caller.
        let _one = (inner.setting_policies.lock()).unwrap_or_else(PoisonError::into_inner);
        let policies = match how {
            SetOverrideType::SetOverride => policies.clone(),
            SetOverrideType::AddOverride => policies.over(&inner.policies()),
        };
        // References that were made before have not recorded a time limit, so their calls check `is_limited`.
        let limits_calls = policies.limits_calls();
        inner.policies.store(Arc::new(policies));
        inner.is_limited.store(limits_calls, Ordering::Relaxed);
    }

    /// Sets policies that are chosen at run time: see [`set_policies`](Self::set_policies).
    ///
    /// # Errors
    /// Returns the errors of [`PolicyOverrides::from_policies`]; no policy changes then.
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

    /// The ORB's policies of these types; all of them for an empty list.
    #[must_use]
    #[doc(alias = "ORBPolicyManager")]
    #[doc(alias = "get_policy_overrides")]
    pub fn policy_overrides(&self, types: &[PolicyType]) -> Vec<Policy> {
        self.inner().policies().listed(types)
    }
}

impl OrbInner {
    /// Whether calls have to check a time limit that was set at run time.
    #[inline]
    pub(crate) fn is_limited(&self) -> bool {
        // Relaxed: a call that begins at the same time may have the old or the new policies.
        self.is_limited.load(Ordering::Relaxed)
    }

    /// The ORB's level of policies.
    pub(crate) fn policies(&self) -> Guard<Arc<PolicyOverrides>> {
        self.policies.load()
    }
}
