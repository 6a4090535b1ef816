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

    /// The priority that a call through a binding has now, if it is sent with one.
    ///
    /// # Errors
    /// DATA_CONVERSION and UNKNOWN of mappings and transforms.
    pub(crate) fn priority_through(
        &self,
        binding: &Binding,
    ) -> Result<Option<i16>, SystemException> {
        match &binding.selection {
            Some(selection) => selection.priority(self.real_time()),
            None => Ok(None),
        }
    }

    /// The binding for a call at this priority: this one, or another that is kept. `Err` gives it back if there is none yet.
    pub(crate) fn prioritised(
        &self,
        guard: BindingGuard,
        priority: Option<i16>,
    ) -> Result<BindingGuard, BindingGuard> {
        let selection = (guard.get()).and_then(|binding| binding.selection.as_ref());
        if selection.is_none_or(|selection| selection.covers(priority)) {
            return Ok(guard);
        }
        match self.0.binding.find_kept(self.home().id(), priority) {
            Some(kept) => Ok(kept.into()),
            None => Err(guard),
        }
    }

    /// Makes the binding for calls at the priority that the caller has now, beside another one of the reference.
    pub(crate) async fn bind_prioritised(
        &self,
        other: BindingGuard,
    ) -> Result<BindingGuard, SystemException> {
        let Some(binding) = other.get() else {
            return Ok(other);
        };
        let (home, named_by) = (self.home(), self.0.named_by);
        let bound = self.bind(&binding.reference, &home, binding.forwarded, named_by);
        let bound = Box::pin(bound).await?;
        self.0.binding.keep(&bound);
        Ok(bound.into())
    }

    /// A binding that an earlier call at this priority, from this runtime, has left.
    ///
    /// # Errors
    /// Selects the endpoint as a call at the caller's current priority does.
    pub(super) fn kept_binding(
        &self,
        home: &Handle,
    ) -> Result<Option<Arc<Binding>>, SystemException> {
        let Some(selection) = self.0.binding.kept_selection() else {
            return Ok(None);
        };
        let priority = selection.priority(self.real_time())?;
        Ok(self.0.binding.find_kept(home.id(), priority))
    }

    /// Leaves the ways that a call may take at the priority that the caller has now.
    ///
    /// # Errors
    /// INV_POLICY if priorities and policies leave none.
    pub(super) fn select_priority(
        &self,
        ways: &mut Vec<Candidate>,
    ) -> Result<Option<Selection>, SystemException> {
        let bands = self
            .levels()
            .get(|policies| policies.priority_bands.clone());
        real_time::select(self.real_time(), ways, bands.as_deref())
    }

    /// The policy that cannot be met, of a reference whose calls are INV_POLICY.
    pub(super) fn inconsistent_policy(&self) -> PolicyType {
        let Ok(mut ways) = self.ways(&self.0.ior, self.0.named_by) else {
            return PolicyType::CLIENT_PROTOCOL;
        };
        let has_bands = real_time::has_bands(&ways)
            || (self
                .levels()
                .get(|policies| policies.priority_bands.clone()))
            .is_some();
        match self.select_priority(&mut ways) {
            Err(_) if !has_bands => PolicyType::PRIORITY_MODEL,
            // The server has refused the band, if it is not the client that does.
            _ if has_bands => PolicyType::PRIORITY_BANDED_CONNECTION,
            _ => PolicyType::CLIENT_PROTOCOL,
        }
    }
}
