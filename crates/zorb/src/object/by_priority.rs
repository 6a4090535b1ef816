//! Bindings of references whose objects have a priority model: one for each priority, or band of priorities.

use super::ObjectRef;
use super::binding::{Binding, BindingGuard};
use crate::policy::PolicyType;
use crate::profile::Candidate;
use crate::real_time::{self, RealTimeSettings, Selection};
use std::sync::Arc;
use tokio::runtime::Handle;
use zorb_giop::SystemException;

impl ObjectRef {
    fn real_time(&self) -> &RealTimeSettings {
        &self.orb().inner().settings().real_time
    }

    /// The priority that a call through a binding has now; `None` if requests state none.
    ///
    /// # Errors
    /// DATA_CONVERSION of the priority mapping and UNKNOWN of the priority transform.
    pub(crate) fn priority_through(
        &self,
        binding: &Binding,
    ) -> Result<Option<i16>, SystemException> {
        match &binding.selection {
            Some(selection) => selection.priority(self.real_time()),
            None => Ok(None),
        }
    }

    /// The binding for a call at this priority: the given one, or a kept one. `Err` returns the given one if there is
    /// none yet.
    pub(crate) fn prioritised(
        &self,
        guard: BindingGuard,
        priority: Option<i16>,
    ) -> Result<BindingGuard, BindingGuard> {
        let selection = (guard.get()).and_then(|binding| binding.selection.as_ref());
        if selection.is_none_or(|selection| selection.covers(priority)) {
            return Ok(guard);
        }
        match self.0.binding.find_kept(self.runtime().id(), priority) {
            Some(kept) => Ok(kept.into()),
            None => Err(guard),
        }
    }

    /// Makes a binding for calls at the caller's current priority, besides the reference's other bindings.
    pub(crate) async fn bind_prioritised(
        &self,
        other: BindingGuard,
    ) -> Result<BindingGuard, SystemException> {
        let Some(binding) = other.get() else {
            return Ok(other);
        };
        let (runtime, named_by) = (self.runtime(), self.0.named_by);
        let bound = self.bind(&binding.reference, &runtime, binding.forwarded, named_by);
        let bound = Box::pin(bound).await?;
        self.0.binding.keep(&bound);
        Ok(bound.into())
    }

    /// The binding of an earlier call at this priority from this runtime, if it is kept.
    ///
    /// # Errors
    /// DATA_CONVERSION of the priority mapping and UNKNOWN of the priority transform.
    pub(super) fn kept_binding(
        &self,
        runtime: &Handle,
    ) -> Result<Option<Arc<Binding>>, SystemException> {
        let Some(selection) = self.0.binding.kept_selection() else {
            return Ok(None);
        };
        let priority = selection.priority(self.real_time())?;
        Ok(self.0.binding.find_kept(runtime.id(), priority))
    }

    /// Removes the candidates that a call at the caller's current priority must not use.
    ///
    /// # Errors
    /// INV_POLICY if priorities and policies leave no candidate.
    pub(super) fn select_priority(
        &self,
        candidates: &mut Vec<Candidate>,
    ) -> Result<Option<Selection>, SystemException> {
        let bands = self
            .levels()
            .get(|policies| policies.priority_bands.clone());
        real_time::select(self.real_time(), candidates, bands.as_deref())
    }

    /// The policy that causes INV_POLICY of the reference's calls.
    pub(super) fn inconsistent_policy(&self) -> PolicyType {
        let Ok(mut candidates) = self.candidates(&self.0.ior, self.0.named_by) else {
            return PolicyType::CLIENT_PROTOCOL;
        };
        let has_bands = real_time::has_bands(&candidates)
            || (self
                .levels()
                .get(|policies| policies.priority_bands.clone()))
            .is_some();
        match self.select_priority(&mut candidates) {
            Err(_) if !has_bands => PolicyType::PRIORITY_MODEL,
            // Either the client found no band, or the server has refused it.
            _ if has_bands => PolicyType::PRIORITY_BANDED_CONNECTION,
            _ => PolicyType::CLIENT_PROTOCOL,
        }
    }
}
