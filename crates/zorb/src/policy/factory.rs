//! Policies of types that the application defines, and the factories that make them.

use super::untyped::{Policy, PolicyError, PolicyType};
use crate::orb::Orb;
use std::sync::Arc;
use zorb_cdr::Any;

/// A policy of a type that the application defines, with its value. The ORB does nothing with it; interceptors read it
/// ([`ClientRequestInfo::request_policy`](crate::interceptors::ClientRequestInfo::request_policy)).
#[derive(Debug, Clone, PartialEq)]
pub struct OtherPolicy {
    policy_type: PolicyType,
    value: Arc<Any>,
}

impl OtherPolicy {
    /// A policy of this type with this value.
    #[must_use]
    pub fn new(policy_type: PolicyType, value: Any) -> Self {
        Self {
            policy_type,
            value: Arc::new(value),
        }
    }

    /// The type of the policy.
    #[must_use]
    pub const fn policy_type(&self) -> PolicyType {
        self.policy_type
    }

    /// The value of the policy.
    #[must_use]
    pub fn value(&self) -> &Any {
        &self.value
    }
}

/// The factory of policies of a type, registered by
/// [`OrbInitInfo::register_policy_factory`](crate::interceptors::OrbInitInfo::register_policy_factory):
/// `PortableInterceptor::PolicyFactory`.
pub trait PolicyFactory: Send + Sync + 'static {
    /// Makes a policy: a [`Policy::Other`], as a rule.
    ///
    /// # Errors
    /// [`PolicyError`] for a value that the policy cannot have.
    fn create_policy(&self, policy_type: PolicyType, value: &Any) -> Result<Policy, PolicyError>;
}

impl Orb {
    /// Makes a policy of any type, of those with a registered [`PolicyFactory`] too: `ORB::create_policy`.
    ///
    /// # Errors
    /// Those of the factory, and of [`Policy::create`] for the ORB's own types.
    pub fn create_policy(
        &self,
        policy_type: PolicyType,
        value: &Any,
    ) -> Result<Policy, PolicyError> {
        let factory = (self.inner().interceptors()).and_then(|all| all.policy_factory(policy_type));
        match factory {
            Some(factory) => factory.create_policy(policy_type, value),
            None => Policy::create(policy_type, value),
        }
    }
}

/// The policies of the application's types that one level sets, by type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OtherPolicies(Arc<[OtherPolicy]>);

impl OtherPolicies {
    /// These policies with another one, in place of one of its type.
    pub(super) fn with(&self, policy: OtherPolicy) -> Self {
        let others = self
            .iter()
            .filter(|one| one.policy_type != policy.policy_type);
        Self(others.cloned().chain([policy.clone()]).collect())
    }

    /// These policies, and those of `lower` whose types are not among them.
    pub(super) fn over(&self, lower: &Self) -> Self {
        self.iter()
            .fold(lower.clone(), |merged, policy| merged.with(policy.clone()))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OtherPolicy> {
        self.0.iter()
    }
}
