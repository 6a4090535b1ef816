//! The interceptors and slots of an ORB.

use super::ior::IorInterceptor;
use super::slots::SlotId;
use super::traits::{ClientRequestInterceptor, ServerRequestInterceptor};
use crate::builder::Builder;
use crate::orb::{Orb, OrbInner};
use crate::policy::{PolicyFactory, PolicyType};
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// The interceptors of an ORB, in the order of their registration, and its slots. They do not change once the ORB has started.
#[derive(Default)]
pub(crate) struct Interceptors {
    client: Vec<Arc<dyn ClientRequestInterceptor>>,
    server: Vec<Arc<dyn ServerRequestInterceptor>>,
    ior: Vec<Arc<dyn IorInterceptor>>,
    slots: Vec<SlotId>,
    policy_factories: BTreeMap<PolicyType, Arc<dyn PolicyFactory>>,
    /// Whether one of the server's blocks.
    blocks: bool,
    /// The last id of a request, of either side.
    last_id: AtomicU32,
}

impl Interceptors {
    /// Whether there is none, and no slot.
    pub(crate) fn is_empty(&self) -> bool {
        self.client.is_empty()
            && self.server.is_empty()
            && self.ior.is_empty()
            && self.slots.is_empty()
            && self.policy_factories.is_empty()
    }

    #[inline]
    pub(crate) fn client(&self) -> &[Arc<dyn ClientRequestInterceptor>] {
        &self.client
    }

    #[inline]
    pub(crate) fn server(&self) -> &[Arc<dyn ServerRequestInterceptor>] {
        &self.server
    }

    pub(super) fn ior(&self) -> &[Arc<dyn IorInterceptor>] {
        &self.ior
    }

    pub(crate) fn policy_factory(&self, policy_type: PolicyType) -> Option<&dyn PolicyFactory> {
        Some(&**self.policy_factories.get(&policy_type)?)
    }

    pub(super) fn add_policy_factory(
        &mut self,
        policy_type: PolicyType,
        factory: Arc<dyn PolicyFactory>,
    ) -> Result<(), SystemException> {
        match self.policy_factories.entry(policy_type) {
            Entry::Occupied(_) => {
                let fault = Fault::PolicyFactoryPresent(policy_type.to_string());
                Err(fault.raise(CompletionStatus::No))
            }
            Entry::Vacant(place) => {
                place.insert(factory);
                Ok(())
            }
        }
    }

    pub(crate) fn has_slot(&self, slot: SlotId) -> bool {
        self.slots.contains(&slot)
    }

    #[inline]
    pub(crate) fn has_slots(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether upcalls have to run on threads that may block.
    pub(crate) const fn block(&self) -> bool {
        self.blocks
    }

    /// An id for a request that is intercepted now.
    #[inline]
    pub(crate) fn next_id(&self) -> u32 {
        self.last_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn add_client(&mut self, added: Arc<dyn ClientRequestInterceptor>) {
        self.client.push(added);
    }

    pub(crate) fn add_server(&mut self, added: Arc<dyn ServerRequestInterceptor>) {
        self.blocks |= added.blocks();
        self.server.push(added);
    }

    pub(crate) fn add_ior(&mut self, added: Arc<dyn IorInterceptor>) {
        self.ior.push(added);
    }

    pub(crate) fn allocate_slot(&mut self) -> SlotId {
        let slot = SlotId::allocate();
        self.slots.push(slot);
        slot
    }

    /// Checks the names.
    ///
    /// # Errors
    /// INITIALIZE if two interceptors of one kind have one name.
    pub(crate) fn check(&self) -> Result<(), SystemException> {
        let client = self.client.iter().map(|one| one.name());
        check_names("client", client)?;
        check_names("server", self.server.iter().map(|one| one.name()))?;
        check_names("IOR", self.ior.iter().map(|one| one.name()))
    }
}

fn check_names<'a>(
    kind: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), SystemException> {
    let mut known = std::collections::BTreeSet::new();
    for name in names {
        if !name.is_empty() && !known.insert(name) {
            let text = format!("two {kind} interceptors are named {name:?}");
            return Err(Fault::CannotInitialize(text).raise(CompletionStatus::No));
        }
    }
    Ok(())
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let client: Vec<_> = self.client.iter().map(|one| one.name()).collect();
        let server: Vec<_> = self.server.iter().map(|one| one.name()).collect();
        f.debug_struct("Interceptors")
            .field("client", &client)
            .field("server", &server)
            .field("slots", &self.slots.len())
            .finish()
    }
}

impl OrbInner {
    /// The interceptors and slots; `None` without any.
    #[inline]
    pub(crate) fn interceptors(&self) -> Option<&Interceptors> {
        self.intercepting().get()
    }
}

impl Builder {
    /// Adds an interceptor of the calls that the ORB makes, behind those that were added before. See
    /// [`interceptors`](crate::interceptors).
    ///
    /// [`build`](Self::build) fails with INITIALIZE if two have one name.
    #[doc(alias = "add_client_request_interceptor")]
    pub fn client_interceptor(self, interceptor: impl ClientRequestInterceptor) -> Self {
        self.client_interceptor_of(Arc::new(interceptor))
    }

    /// Adds an interceptor of the calls that the ORB makes, which the application keeps a handle of.
    #[doc(alias = "add_client_request_interceptor")]
    pub fn client_interceptor_of(mut self, interceptor: Arc<dyn ClientRequestInterceptor>) -> Self {
        self.settings.interceptors.add_client(interceptor);
        self
    }

    /// Adds an interceptor of the calls that the ORB serves, behind those that were added before. See
    /// [`interceptors`](crate::interceptors).
    ///
    /// [`build`](Self::build) fails with INITIALIZE if two have one name.
    #[doc(alias = "add_server_request_interceptor")]
    pub fn server_interceptor(self, interceptor: impl ServerRequestInterceptor) -> Self {
        self.server_interceptor_of(Arc::new(interceptor))
    }

    /// Adds an interceptor of the calls that the ORB serves, which the application keeps a handle of.
    #[doc(alias = "add_server_request_interceptor")]
    pub fn server_interceptor_of(mut self, interceptor: Arc<dyn ServerRequestInterceptor>) -> Self {
        self.settings.interceptors.add_server(interceptor);
        self
    }

    /// Allocates a slot for a value that travels with calls: see [`PiCurrent`](crate::interceptors::PiCurrent).
    #[doc(alias = "allocate_slot_id")]
    pub fn allocate_slot(&mut self) -> SlotId {
        self.settings.interceptors.allocate_slot()
    }
}

impl Orb {
    /// Runs a future whose calls pass no interceptors: the way out for an interceptor that makes calls of its own. Calls of
    /// tasks that the future spawns pass them.
    ///
    /// It holds for all ORBs of the process, and for client interceptors alone: a servant that is called passes those of its
    /// server.
    ///
    /// ```
    /// use zorb::interceptors::{ClientRequestInfo, ClientRequestInterceptor, Interception, Interrupt};
    /// use zorb::{ObjectRef, Orb};
    ///
    /// struct Audited { log: ObjectRef }
    ///
    /// impl ClientRequestInterceptor for Audited {
    ///     fn send_request<'a>(&'a self, _: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
    ///         Interception::later(async move {
    ///             // Without this, the call of the log would be audited, too.
    ///             Orb::without_interceptors(self.log.non_existent()).await?;
    ///             Ok(())
    ///         })
    ///     }
    /// }
    /// ```
    pub async fn without_interceptors<F: Future>(future: F) -> F::Output {
        super::scope::without(future).await
    }
}
