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

    /// The binding for a call at the priority that the caller has now, and that priority, if the call is sent with it.
    pub(crate) async fn prioritised(
        &self,
        guard: BindingGuard,
    ) -> Result<(BindingGuard, Option<i16>), SystemException> {
        let Some((binding, selection)) =
            (guard.get()).and_then(|binding| Some((binding, binding.selection.as_ref()?)))
        else {
            return Ok((guard, None));
        };
        let priority = selection.priority(self.real_time())?;
        if selection.covers(priority) {
            return Ok((guard, priority));
        }
        let home = self.home();
        if let Some(kept) = self.0.binding.find_kept(home.id(), priority) {
            return Ok((kept.into(), priority));
        }
        let (reference, forwarded) = (binding.reference.clone(), binding.forwarded);
        let named_by = self.0.named_by;
        let bound = Box::pin(self.bind(&reference, &home, forwarded, named_by)).await?;
        self.0.binding.keep(&bound);
        Ok((bound.into(), priority))
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
