//! Untyped object references, and their binding to a connection or a local object.

mod binding;
mod by_priority;
mod group;
mod layouts;
mod reference_policies;

pub(crate) use binding::{Binding, BindingGuard, Remote, Target};

use crate::addresses::read_profile;
use crate::interface::Interface;
use crate::invoke::Retries;
use crate::orb::{Orb, OrbInner};
use crate::outgoing::NO_SOCKETS_OF_PEERS;
use crate::policy::{PolicyOverrides, SyncScope};
use crate::profile::{Candidate, TextCodeSets, candidates, candidates_for, describe_unusable};
use crate::race::{HEAD_START, cannot_connect, first_that_works};
use crate::real_time::Selection;
use binding::BindingSlot;
use core::fmt;
use core::time::Duration;
use layouts::Layouts;
use std::sync::Arc;
use tokio::runtime::Handle;
use zorb_cdr::CharSet;
use zorb_connection::{ClientConnection, ConnectError, NamedBy, Turn, is_timing_out};
use zorb_executor::WaitPolicy;
use zorb_giop::ior::{TaggedComponent, TaggedProfile};
use zorb_giop::{
    AddressingDisposition, CompletionStatus, Fault, Ior, ProtocolError, RequestTemplate,
    SystemException, SystemExceptionKind, TargetAddress, Version,
};
use zorb_transport::{Endpoint, Registry};

/// Replies NEEDS_ADDRESSING_MODE that a call follows: there are two addressing modes besides the first one.
const MAX_READDRESSED: usize = 2;

/// A reference to an object of this or another ORB: `CORBA::Object`.
///
/// Clones share their binding to the object. No connection is made before the first call.
///
/// A clone costs a reference count. The first call binds the reference: it resolves and connects, or finds an open
/// connection in the cache. Later calls load the binding by an atomic read and allocate nothing once buffers are
/// warm. Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::Object`).
#[derive(Clone)]
#[doc(alias = "Object")]
pub struct ObjectRef(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    orb: Orb,
    ior: Ior,
    /// Whether the application or a peer has named the endpoints.
    named_by: NamedBy,
    /// The policies of the object level, if any is set.
    overrides: Option<Arc<PolicyOverrides>>,
    /// Whether the reference or its ORB sets a time limit.
    is_limited: bool,
    /// The code set of `char` and `string`, if it is set.
    char_code_set: Option<CharSet>,
    /// The wait policy of its calls, if not the ORB's.
    wait: Option<WaitPolicy>,
    /// The SyncScope of its one-way calls, if not the ORB's.
    scope: Option<SyncScope>,
    /// The binding of the last call, read by one atomic load.
    binding: Arc<BindingSlot>,
}

impl ObjectRef {
    /// Octets of memory that a reference takes, without its IOR.
    pub(crate) const OCTETS: usize =
        size_of::<([usize; 2], Inner)>() + size_of::<([usize; 2], BindingSlot)>();

    /// A reference that the application has made.
    pub(crate) fn new(orb: Orb, ior: Ior) -> Self {
        Self::named_by(orb, ior, NamedBy::Application)
    }

    /// A reference from a message.
    pub(crate) fn received(orb: Orb, ior: Ior) -> Self {
        Self::named_by(orb, ior, NamedBy::Peer)
    }

    /// Whether the application or a peer has named the endpoints.
    pub(crate) fn source(&self) -> NamedBy {
        self.0.named_by
    }

    fn named_by(orb: Orb, ior: Ior, named_by: NamedBy) -> Self {
        let policies = orb.inner().policies();
        let (is_limited, char_code_set) = (policies.limits_calls(), policies.char_code_set);
        let wait = policies.wait;
        drop(policies);
        Self(Arc::new(Inner {
            orb,
            ior,
            named_by,
            overrides: None,
            is_limited,
            char_code_set,
            wait,
            scope: None,
            binding: Arc::default(),
        }))
    }

    /// Returns the reference as it is marshalled, unknown profiles and components included.
    #[must_use]
    pub fn ior(&self) -> &Ior {
        &self.0.ior
    }

    /// Returns the ORB that made the reference or received it, which sends its calls. The reference keeps it alive.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.0.orb
    }

    /// The repository id in the reference: the most derived interface known to the ORB that made it; empty
    /// when unknown.
    #[must_use]
    pub fn type_id(&self) -> &str {
        &self.0.ior.type_id
    }

    /// Returns the reference with one setting changed.
    fn with(&self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Inner::clone(&self.0);
        change(&mut inner);
        Self(Arc::new(inner))
    }

    pub(crate) fn wait_policy(&self) -> Option<WaitPolicy> {
        self.0.wait
    }

    pub(crate) fn char_code_set(&self) -> Option<CharSet> {
        self.0.char_code_set
    }

    /// The typed reference, if the object implements the interface: see [`Interface::narrow`].
    ///
    /// Costs a call of `_is_a`, unless the type id of the reference is that of `T`.
    ///
    /// # Errors
    /// The exception of the call to the object.
    ///
    /// # Cancel safety
    /// Safe: the call has no effect on the object.
    pub async fn narrow<T: Interface>(&self) -> Result<Option<T>, SystemException> {
        T::narrow(self).await
    }

    /// Converts the reference without a check. Operations of another interface are BAD_OPERATION at the server.
    ///
    /// Costs a reference count; nothing is sent.
    #[must_use]
    pub fn unchecked_narrow<T: Interface>(&self) -> T {
        T::unchecked_narrow(self.clone())
    }

    /// Whether the object implements the interface with this repository id.
    ///
    /// Costs a call of `_is_a`, unless the type id of the reference equals `repository_id`. Source: CORBA 3.3 Part 1,
    /// ORB Interface (`is_a`).
    ///
    /// # Errors
    /// The exception of the call to the object.
    ///
    /// # Cancel safety
    /// Safe: the call has no effect on the object.
    #[doc(alias = "_is_a")]
    pub async fn is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        // Some peers return false for the repository id of `CORBA::Object`.
        if repository_id == zorb_giop::ior::OBJECT_REPOSITORY_ID || repository_id == self.type_id()
        {
            return Ok(true);
        }
        self.invoke::<_, (bool,), SystemException>("_is_a", (repository_id,))
            .await
    }

    /// Whether the object no longer exists. If the object cannot be reached, the call is an error: its existence is
    /// unknown.
    ///
    /// Costs a call. Source: CORBA 3.3 Part 1, ORB Interface (`non_existent`).
    ///
    /// # Errors
    /// The exception of the call to the object, except OBJECT_NOT_EXIST.
    ///
    /// # Cancel safety
    /// Safe: the call has no effect on the object.
    #[doc(alias = "_non_existent")]
    pub async fn non_existent(&self) -> Result<bool, SystemException> {
        match self
            .invoke::<_, (bool,), SystemException>("_non_existent", ())
            .await
        {
            Err(e) if e.kind == SystemExceptionKind::ObjectNotExist => Ok(true),
            answer => answer,
        }
    }

    /// The binding of a call: the existing one, or a new one.
    pub(crate) async fn binding(&self) -> Result<BindingGuard, SystemException> {
        match self.bound()? {
            Some(bound) => Ok(bound),
            None => self.new_binding().await,
        }
    }

    /// The existing binding, if calls from the current runtime can use it.
    ///
    /// # Errors
    /// BAD_INV_ORDER once the ORB has shut down.
    #[inline]
    pub(crate) fn bound(&self) -> Result<Option<BindingGuard>, SystemException> {
        self.0.orb.inner().check_not_down()?;
        let runtime = match Handle::try_current() {
            Ok(current) => current.id(),
            Err(_) => self.0.orb.inner().lane().handle().id(),
        };
        let bound = self.0.binding.current.load();
        let is_usable = bound.as_ref().is_some_and(|found| found.is_usable(runtime));
        Ok(is_usable.then(|| BindingGuard(bound)))
    }

    /// A new binding, once the deferred one-way requests of the reference have been sent.
    #[cold]
    pub(crate) async fn new_binding(&self) -> Result<BindingGuard, SystemException> {
        // Boxed, since it is rare and large in comparison with the rest of a call.
        let binding = Box::pin(async {
            self.0.orb.inner().deferred().ended(self.binding_id()).await;
            if let Some(bound) = self.bound()? {
                return Ok(bound);
            }
            if let Some(kept) = self.kept_binding(&self.runtime())? {
                return Ok(kept.into());
            }
            if let Some(silent) = self.kept_under_no_reconnect() {
                return Ok(silent);
            }
            self.check_reconnect()?;
            let binding = self.bind_unshared().await?;
            self.store_binding(&binding);
            Ok(binding.into())
        });
        binding.await
    }

    /// A new binding that other calls do not use.
    pub(crate) async fn bind_unshared(&self) -> Result<Arc<Binding>, SystemException> {
        let runtime = self.runtime();
        Box::pin(self.bind(&self.0.ior, &runtime, false, self.0.named_by)).await
    }

    /// Stores the binding for later calls.
    pub(crate) fn store_binding(&self, binding: &Arc<Binding>) {
        self.0.binding.store(binding);
    }

    /// The turn of a collocated one-way call among those of this reference and its clones.
    pub(crate) fn one_way_turn(&self) -> Turn {
        self.0.binding.one_way_turn()
    }

    /// Identifies the binding: equal for references that share one.
    pub(crate) fn binding_id(&self) -> usize {
        Arc::as_ptr(&self.0.binding).addr()
    }

    /// The endpoint that is tried first; `None` for an object of the same ORB, for calls with priorities, and where
    /// there is none.
    pub(crate) fn first_way(&self) -> Option<Candidate> {
        match self.0.orb.inner().local_key(&self.0.ior) {
            Some(_) => None,
            // Calls with priorities are bound by their callers, each at its own priority.
            None => (self
                .candidates(&self.0.ior, self.0.named_by)
                .ok()?
                .into_iter())
            .next()
            .filter(|candidate| candidate.real_time.is_none()),
        }
    }

    /// The endpoints of the reference, those that did not serve recently last, in the order in which that was found.
    fn candidates(&self, ior: &Ior, named_by: NamedBy) -> Result<Vec<Candidate>, SystemException> {
        let orb = self.0.orb.inner();
        let text = TextCodeSets {
            native: orb.settings().native_char_set,
            of_reference: self.0.char_code_set,
            unstated: orb.connection_settings().unstated_code_sets,
        };
        let unusable = |profiles| Fault::NoUsableProfile { profiles }.raise(CompletionStatus::No);
        let mut candidates =
            candidates_for(ior, orb.settings().max_giop_version, orb.transports(), text);
        if candidates.is_empty() {
            return Err(unusable(describe_unusable(ior, orb.transports())));
        }
        candidates.retain(|candidate| orb.may_connect(&candidate.endpoint, named_by));
        if candidates.is_empty() {
            return Err(unusable(NO_SOCKETS_OF_PEERS.to_owned()));
        }
        self.order_endpoints(&mut candidates);
        if orb.settings().rules.connect.is_some() {
            let place = |of: &Candidate| orb.settings().rules.place(&of.endpoint, named_by);
            // What is refused is reported, if nothing else works.
            candidates.sort_by_key(|candidate| place(candidate).map_or((1, (0, 0)), |at| (0, at)));
        }
        self.select_protocols(&mut candidates)?;
        if candidates.len() > 1 {
            // A stable sort: otherwise the order stays.
            for candidate in &mut candidates {
                candidate.unserved_since = orb.unresponsive().since(&candidate.endpoint);
            }
            candidates.sort_by_key(|candidate| candidate.unserved_since);
        }
        Ok(candidates)
    }

    /// Follows a forward: binds the reference to `ior` for later calls, too. `from`: the binding whose reply was the
    /// forward.
    pub(crate) async fn bind_forward(
        &self,
        ior: &Ior,
        from: &Binding,
    ) -> Result<Arc<Binding>, SystemException> {
        self.check_forward(ior, from)?;
        let named_by = match &from.target {
            Target::Local => self.0.named_by,
            Target::Remote(_) => NamedBy::Peer,
        };
        let binding = Box::pin(self.bind(ior, &self.runtime(), true, named_by)).await?;
        self.0.binding.store(&binding);
        Ok(binding)
    }

    /// Binds the reference to the addressing mode that its server needs (NEEDS_ADDRESSING_MODE), for later calls, too.
    /// `asked`: the number of such replies to this call.
    pub(crate) fn readdress(
        &self,
        binding: &Binding,
        wanted: i16,
        asked: &mut usize,
    ) -> Result<Arc<Binding>, ProtocolError> {
        let wanted = AddressingDisposition::from_wire(wanted)?;
        *asked = asked.saturating_add(1);
        if wanted == binding.addressing
            || *asked > MAX_READDRESSED
            || binding.version < Version::V1_2
        {
            return Err(ProtocolError::AddressingInCircles { wanted });
        }
        let mut binding = Binding {
            addressing: wanted,
            layouts: Layouts::default(),
            ..binding.clone()
        };
        let requests = RequestTemplate::new(binding.version, &binding.address(), &binding.key)
            // Fails for a profile of 4 GiB, which no request can carry.
            .map_err(|_| ProtocolError::AddressingInCircles { wanted })?;
        if let Target::Remote(remote) = &mut binding.target {
            remote.requests = requests;
        }
        let binding = Arc::new(binding);
        self.0.binding.store(&binding);
        Ok(binding)
    }

    /// Drops the binding, unless another one has replaced it.
    pub(crate) fn unbind(&self, binding: &Arc<Binding>) {
        let current = self.0.binding.current.load_full();
        if current.is_some_and(|current| Arc::ptr_eq(&current, binding)) {
            self.0.binding.current.store(None);
        }
    }

    /// Takes the binding away, so that the next call binds the reference anew.
    pub(crate) fn take_binding(&self) -> Option<Arc<Binding>> {
        self.0.binding.current.swap(None)
    }

    /// A binding to another object for one call, which later calls do not use.
    pub(crate) async fn bind_once(&self, to: &Self) -> Result<Arc<Binding>, SystemException> {
        Box::pin(self.bind(&to.0.ior, &self.runtime(), true, to.0.named_by)).await
    }

    /// The reference that this one is forwarded to, named by the peer that has forwarded it.
    pub(crate) fn forwarded_to(&self, ior: &Ior) -> Self {
        Self::received(self.0.orb.clone(), ior.clone())
    }

    /// The components of a profile of the reference.
    pub(crate) fn components_of(&self, profile: &TaggedProfile) -> Vec<TaggedComponent> {
        let read = read_profile(profile, self.transports());
        read.and_then(|(_, body)| body.ok())
            .map_or_else(Vec::new, |body| body.components)
    }

    /// The transports of the reference's ORB.
    pub(crate) fn transports(&self) -> &Registry {
        self.0.orb.inner().transports()
    }

    /// Returns the endpoints that calls try, in the order of the reference, 32 at most; none if the ORB's transports reach none of
    /// them. Where an object is, for the log or to tell servers apart: a call may be forwarded elsewhere. Decodes the profiles.
    ///
    /// ```
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let orb = zorb::Orb::builder().build().await?;
    /// let object = orb.string_to_object("corbaloc::a.example:2809,iiop:1.2@b.example/Bank").await?;
    /// let endpoints: Vec<String> = object.endpoints().iter().map(|it| it.to_string()).collect();
    /// assert_eq!(endpoints, ["iiop://a.example:2809", "iiop://b.example:2809"]);
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
    /// ```
    #[must_use]
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let candidates = candidates(&self.0.ior, Version::HIGHEST, self.transports());
        candidates.into_iter().map(|it| it.endpoint).collect()
    }

    /// The endpoints of the reference, as text.
    pub(crate) fn endpoints_text(&self) -> String {
        let endpoints: Vec<String> = self.endpoints().iter().map(Endpoint::to_string).collect();
        endpoints.join(", ")
    }

    /// The endpoint that the last call went to, as text; every endpoint of the reference if there is no such call.
    pub(crate) fn endpoint_in_use(&self) -> String {
        let bound = self.0.binding.current.load();
        match bound.as_ref().map(|bound| &bound.target) {
            Some(Target::Remote(remote)) => remote.connection.endpoint().to_string(),
            Some(Target::Local) | None => self.endpoints_text(),
        }
    }

    /// The runtime that serves this caller: its own, or the ORB's for callers without one.
    pub(crate) fn runtime(&self) -> Handle {
        Handle::try_current().unwrap_or_else(|_| self.0.orb.inner().lane().handle().clone())
    }

    async fn bind(
        &self,
        ior: &Ior,
        runtime: &Handle,
        forwarded: bool,
        named_by: NamedBy,
    ) -> Result<Arc<Binding>, SystemException> {
        let orb = self.0.orb.inner();
        if ior.is_nil() {
            return Err(Fault::NilReference.raise(CompletionStatus::No));
        }
        let make = |target, key, version, profile, selection| {
            Arc::new(Binding {
                target,
                key,
                version,
                addressing: AddressingDisposition::Key,
                reference: ior.clone(),
                profile,
                reactor: runtime.id(),
                selection,
                forwarded,
                layouts: Layouts::default(),
            })
        };
        if let Some(key) = orb.local_key(ior) {
            return Ok(make(Target::Local, key, Version::HIGHEST, 0, None));
        }
        let mut retries = Retries::default();
        let causes = loop {
            let mut candidates = self.candidates(ior, named_by)?;
            let selection = self.select_priority(&mut candidates)?;
            let at_once = self.are_to_be_measured(&candidates);
            let connected = first_that_works(
                &candidates,
                runtime,
                |candidate| self.connect_measured(candidate, runtime, named_by, at_once),
                // The addresses of one profile have no order, so the next is tried early; profiles have an order. Endpoints that
                // do not serve may accept connections fast, and are tried when all others have failed.
                |one, next| {
                    one.unserved_since.is_some() == next.unserved_since.is_some()
                        && (at_once || one.profile == next.profile)
                },
                if at_once { Duration::ZERO } else { HEAD_START },
            );
            match connected.await {
                Ok((candidate, connection)) => {
                    let target = TargetAddress::Key(&candidate.key);
                    let requests = RequestTemplate::new(candidate.version, &target, &candidate.key)
                        .map_err(|error| Fault::Encode(error).raise(CompletionStatus::No))?;
                    let remote = Target::Remote(Remote {
                        connection,
                        requests,
                    });
                    let band = selection.as_ref().and_then(Selection::band);
                    let bound = make(
                        remote,
                        candidate.key.clone(),
                        candidate.version,
                        candidate.profile,
                        selection,
                    );
                    let (Some(band), Target::Remote(remote)) = (band, &bound.target) else {
                        return Ok(bound);
                    };
                    match self.bind_band(&bound, remote, band).await? {
                        Ok(()) => return Ok(bound),
                        // The endpoint does not serve, and comes last.
                        Err(error) if retries.resend(&error, &bound) => continue,
                        Err(error) => return Err(error.raise()),
                    }
                }
                Err(causes) => break causes,
            }
        };
        // After a shutdown the exception is BAD_INV_ORDER, which callers do not retry, instead of TRANSIENT.
        orb.check_not_down()?;
        Err(cannot_connect(causes).raise(CompletionStatus::No))
    }

    /// Connects. Where endpoints are being measured, an endpoint with an earlier measurement waits for that time first:
    /// its connection may still be open, and would win against nearer endpoints that are not connected yet.
    async fn connect_measured(
        &self,
        candidate: &Candidate,
        runtime: &Handle,
        named_by: NamedBy,
        measured: bool,
    ) -> Result<Arc<ClientConnection>, Arc<ConnectError>> {
        let earlier = (measured.then(|| self.connect_time(candidate))).flatten();
        if let Some(earlier) = earlier {
            let wait = {
                // Callers may be outside any runtime, so `runtime` provides the timer.
                let _runtime = runtime.enter();
                tokio::time::sleep(earlier.min(HEAD_START))
            };
            wait.await;
        }
        self.connect(candidate, runtime, named_by).await
    }

    async fn connect(
        &self,
        candidate: &Candidate,
        runtime: &Handle,
        named_by: NamedBy,
    ) -> Result<Arc<ClientConnection>, Arc<ConnectError>> {
        let orb = self.0.orb.inner();
        let sharing = self.sharing();
        let connected = orb.connection(candidate, runtime, named_by, self.bidirectional(), sharing);
        let mut attempt = Attempt {
            orb,
            endpoint: &candidate.endpoint,
            is_over: false,
        };
        let connected = connected.await;
        attempt.is_over = true;
        connected
    }
}

/// An attempt to connect. If the time limit of its call passes meanwhile, the endpoint comes last for the calls that follow.
struct Attempt<'a> {
    orb: &'a OrbInner,
    endpoint: &'a Endpoint,
    is_over: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.is_over && is_timing_out() {
            self.orb.unresponsive().remember(self.endpoint);
        }
    }
}

impl AsRef<Self> for ObjectRef {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl<R: Interface> From<&R> for ObjectRef {
    fn from(reference: &R) -> Self {
        reference.as_object().clone()
    }
}

impl fmt::Display for ObjectRef {
    /// The stringified reference, `IOR:…`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.ior.to_ior_string().map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoints = self.endpoints();
        let endpoints = endpoints.iter().map(Endpoint::to_string);
        f.debug_struct("ObjectRef")
            .field("type_id", &self.0.ior.type_id)
            .field("endpoints", &endpoints.collect::<Vec<_>>())
            .finish()
    }
}
