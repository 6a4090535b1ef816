//! The service contexts that calls carry, and those of their replies.

use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zorb_giop::{ServiceContext, ServiceContextId};

/// The service contexts that one level adds to calls: at most one of each id.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RequestContexts(Arc<[ServiceContext]>);

impl RequestContexts {
    /// These contexts with another one, in place of one of the same id.
    pub(crate) fn with(&self, context: ServiceContext) -> Self {
        let others = self.0.iter().filter(|other| other.id != context.id);
        Self(others.cloned().chain([context.clone()]).collect())
    }

    /// These contexts, and those of `lower` whose ids are not among them.
    pub(crate) fn over(&self, lower: &Self) -> Self {
        lower.0.iter().fold(self.clone(), |merged, context| {
            match merged.0.iter().any(|own| own.id == context.id) {
                true => merged,
                false => merged.with(context.clone()),
            }
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ServiceContext> {
        self.0.iter()
    }
}

/// The service contexts of the last reply to the calls of one level: see
/// [`PolicyOverrides::reply_contexts`](super::PolicyOverrides::reply_contexts). A clone is the same value, and costs a
/// reference count.
///
/// ```
/// use zorb::policy::{PolicyOverrides, ReplyContexts};
/// use zorb::{ObjectRef, ServiceContext, ServiceContextId, SystemException};
/// # async fn example(account: ObjectRef) -> Result<(), SystemException> {
/// const TENANT: ServiceContextId = ServiceContextId(0x5a5a_0001);
/// const VERSION: ServiceContextId = ServiceContextId(0x5a5a_0002);
///
/// // One call, with a context of its own.
/// let replied = ReplyContexts::new();
/// let tenant = ServiceContext { id: TENANT, data: "\0north".into() };
/// let call = PolicyOverrides::new().service_context(tenant).reply_contexts(&replied);
/// call.scope(account.non_existent()).await?;
/// println!("{:?}", replied.get(VERSION));
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct ReplyContexts(Arc<Mutex<Vec<ServiceContext>>>);

impl ReplyContexts {
    /// Makes an empty value, of calls that have not been made yet. Costs an allocation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn contexts(&self) -> MutexGuard<'_, Vec<ServiceContext>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the data of the first context with this id; `None` if the last reply had none, or there was no reply.
    #[must_use]
    pub fn get(&self, id: ServiceContextId) -> Option<bytes::Bytes> {
        let contexts = self.contexts();
        let found = contexts.iter().find(|context| context.id == id)?;
        Some(found.data.clone())
    }

    /// Returns all contexts of the last reply, in its order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<ServiceContext> {
        self.contexts().clone()
    }

    pub(crate) fn set(&self, contexts: Vec<ServiceContext>) {
        *self.contexts() = contexts;
    }
}

impl PartialEq for ReplyContexts {
    /// Whether both are the same value.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for ReplyContexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReplyContexts")
            .field(&*self.contexts())
            .finish()
    }
}
