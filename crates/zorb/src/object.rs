//! Untyped object references, and the way of a call from them.

use crate::interceptor::Interceptor;
use crate::interface::Interface;
use crate::invoke::SyncScope;
use crate::orb::Orb;
use crate::outgoing::NO_SOCKETS_OF_PEERS;
use crate::profile::{Candidate, Text, candidates, candidates_for, describe_unusable};
use crate::race::first_that_works;
use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use tokio::runtime::{Handle, Id};
use zorb_cdr::{CharSet, NativeEndian, WireFormat};
use zorb_connection::{ClientConnection, NamedBy};
use zorb_executor::WaitPolicy;
use zorb_giop::{
    AddressingDisposition, CompletionStatus, Fault, Ior, ProtocolError, RequestTemplate,
    SystemException, SystemExceptionKind, TargetAddress, Version,
};
use zorb_transport::Registry;

/// Times that a server may want its object addressed in another way: there are two others than
/// the one that is tried first.
const MAX_READDRESSED: usize = 2;

/// A reference to an object, wherever it is: `CORBA::Object`.
///
/// Cheap to clone; clones share what was found out about where the object is. Nothing is
/// contacted before the first call.
#[derive(Clone)]
#[doc(alias = "Object")]
pub struct ObjectRef(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    orb: Orb,
    ior: Ior,
    /// Who says that the object is there.
    named_by: NamedBy,
    round_trip_timeout: Option<Duration>,
    /// The code set that its text is to travel in.
    char_code_set: Option<CharSet>,
    /// How its calls wait, unless as all of the ORB do.
    wait: Option<WaitPolicy>,
    /// How far its one-way calls are followed, unless as all of the ORB are.
    scope: Option<SyncScope>,
    /// Where the last call went, looked up with one atomic load.
    binding: Arc<ArcSwapOption<Binding>>,
}

/// A binding, for the time of one call. Borrowed from the reference, so that nothing is counted for it.
pub(crate) struct BindingGuard(Guard<Option<Arc<Binding>>>);

impl BindingGuard {
    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<Binding>> {
        self.0.as_ref()
    }
}

impl From<Arc<Binding>> for BindingGuard {
    fn from(binding: Arc<Binding>) -> Self {
        Self(Guard::from_inner(Some(binding)))
    }
}

/// Where calls go, found out once.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    pub(crate) target: Target,
    pub(crate) key: Bytes,
    pub(crate) version: Version,
    /// How the server wants to be told whom a call is for.
    addressing: AddressingDisposition,
    /// Whatever reference led here, and which of its profiles.
    reference: Ior,
    profile: usize,
    /// The runtime whose callers it serves.
    reactor: Id,
    /// The object was found through a forward.
    pub(crate) forwarded: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// In this very ORB.
    Local,
    Remote(Remote),
}

/// Somewhere else.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) connection: Arc<ClientConnection>,
    /// What all requests to the object begin with.
    pub(crate) requests: RequestTemplate<NativeEndian>,
}

impl Binding {
    /// Whom a call is for, as the server wants to be told.
    pub(crate) fn address(&self) -> TargetAddress<'_> {
        match self.addressing {
            AddressingDisposition::Key => TargetAddress::Key(&self.key),
            AddressingDisposition::Profile => match self.reference.profiles.get(self.profile) {
                Some(profile) => TargetAddress::Profile(profile.clone()),
                None => TargetAddress::Key(&self.key),
            },
            AddressingDisposition::Reference => TargetAddress::Reference {
                selected: u32::try_from(self.profile).unwrap_or(u32::MAX),
                ior: Box::new(self.reference.clone()),
            },
        }
    }

    /// How text travels to it.
    pub(crate) fn format(&self) -> WireFormat {
        match &self.target {
            Target::Remote(remote) => remote.connection.format(self.version),
            Target::Local => WireFormat::default(),
        }
    }

    fn is_usable(&self, reactor: Id) -> bool {
        match &self.target {
            Target::Local => true,
            Target::Remote(remote) => self.reactor == reactor && !remote.connection.is_over(),
        }
    }
}

impl ObjectRef {
    /// Octets of memory that a reference takes, apart from its IOR.
    pub(crate) const OCTETS: usize =
        size_of::<([usize; 2], Inner)>() + size_of::<([usize; 2], ArcSwapOption<Binding>)>();

    /// A reference that the application has made.
    pub(crate) fn new(orb: Orb, ior: Ior) -> Self {
        Self::named_by(orb, ior, NamedBy::Application)
    }

    /// A reference out of a message.
    pub(crate) fn received(orb: Orb, ior: Ior) -> Self {
        Self::named_by(orb, ior, NamedBy::Peer)
    }

    fn named_by(orb: Orb, ior: Ior, named_by: NamedBy) -> Self {
        let round_trip_timeout = orb.inner().round_trip_timeout();
        Self(Arc::new(Inner {
            orb,
            ior,
            named_by,
            round_trip_timeout,
            char_code_set: None,
            wait: None,
            scope: None,
            binding: Arc::default(),
        }))
    }

    /// The reference as it travels, unknown profiles and components included.
    #[must_use]
    pub fn ior(&self) -> &Ior {
        &self.0.ior
    }

    /// The ORB that the reference belongs to.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.0.orb
    }

    /// The repository id in the reference: that of the interface known to whoever made it; empty
    /// when unknown.
    #[must_use]
    pub fn type_id(&self) -> &str {
        &self.0.ior.type_id
    }

    /// The same reference, whose calls fail with TIMEOUT when no reply has come after `limit`.
    #[must_use]
    #[doc(alias = "RelativeRoundtripTimeoutPolicy")]
    pub fn with_round_trip_timeout(&self, limit: Duration) -> Self {
        self.with(|inner| inner.round_trip_timeout = Some(limit))
    }

    /// The same reference, whose `char`s and `string`s travel in `set`, whatever its server is natively and the ORB
    /// [wants](crate::Builder::native_char_code_set).
    ///
    /// If the server states that it has the set, it is agreed on, and the calls go over a connection of their own. If
    /// it does not, or states nothing, nothing is agreed on: text travels in `set`, and wide text not at all. That is
    /// for servers that are found by `corbaloc`, which states nothing, and take and send UTF-8 (JacORB's, often), whose
    /// text is another text otherwise; and for servers that state UTF-8 alone and send ISO 8859-1.
    #[must_use]
    pub fn with_char_code_set(&self, set: CharSet) -> Self {
        self.with(|inner| {
            inner.char_code_set = Some(set);
            // Its connection is another one.
            inner.binding = Arc::default();
        })
    }

    /// The same reference, whose calls wait for their replies in this way, whatever the ORB's do.
    /// A reference to a server that answers within microseconds may be worth to spin for, or one
    /// that takes its time not worth the try. What each costs is told at [`WaitPolicy`].
    #[must_use]
    pub fn with_wait_policy(&self, policy: WaitPolicy) -> Self {
        self.with(|inner| inner.wait = Some(policy))
    }

    /// The same reference, whose one-way calls are done when `scope` says, whatever the ORB's do.
    ///
    /// Its calls keep their order among themselves and with those through the reference that it was made from, as long
    /// as both go over one connection.
    #[must_use]
    #[doc(alias = "SyncScopePolicy")]
    pub fn with_sync_scope(&self, scope: SyncScope) -> Self {
        self.with(|inner| inner.scope = Some(scope))
    }

    pub(crate) fn sync_scope(&self) -> SyncScope {
        let of_orb = || self.0.orb.inner().settings().sync_scope;
        self.0.scope.unwrap_or_else(of_orb)
    }

    /// The same reference with something changed.
    fn with(&self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Inner::clone(&self.0);
        change(&mut inner);
        Self(Arc::new(inner))
    }

    /// Whether it is a reference of `orb` as that would make it of nothing but an IOR: what calls through it are like
    /// is as all of the ORB are.
    pub(crate) fn is_plain_in(&self, orb: &Orb) -> bool {
        let Inner {
            orb: own,
            round_trip_timeout,
            char_code_set,
            wait,
            scope,
            ior: _,
            named_by: _,
            binding: _,
        } = &*self.0;
        Arc::ptr_eq(own.inner(), orb.inner())
            && *round_trip_timeout == orb.inner().round_trip_timeout()
            && char_code_set.is_none()
            && wait.is_none()
            && scope.is_none()
    }

    /// The reference as `orb` would make it of nothing but its IOR.
    pub(crate) fn plain_in(&self, orb: &Orb) -> Self {
        Self::named_by(orb.clone(), self.0.ior.clone(), self.0.named_by)
    }

    pub(crate) fn wait_policy(&self) -> Option<WaitPolicy> {
        self.0.wait
    }

    pub(crate) fn char_code_set(&self) -> Option<CharSet> {
        self.0.char_code_set
    }

    /// What sees every call, if something does.
    #[inline]
    pub(crate) fn interceptor(&self) -> Option<&dyn Interceptor> {
        self.0.orb.inner().interceptor()
    }

    pub(crate) fn round_trip_timeout(&self) -> Option<Duration> {
        self.0.round_trip_timeout
    }

    /// The typed reference, if the object implements the interface: see [`Interface::narrow`].
    ///
    /// # Errors
    /// Whatever asking the object fails with.
    ///
    /// # Cancel safety
    /// Safe: the question has no effect.
    pub async fn narrow<T: Interface>(&self) -> Result<Option<T>, SystemException> {
        T::narrow(self).await
    }

    /// The typed reference, taken on trust. A wrong guess shows itself as BAD_OPERATION.
    #[must_use]
    pub fn unchecked_narrow<T: Interface>(&self) -> T {
        T::unchecked_narrow(self.clone())
    }

    /// Whether the object implements the interface with this repository id. Answered here when
    /// the reference says so itself, else by the object.
    ///
    /// # Errors
    /// Whatever asking the object fails with.
    ///
    /// # Cancel safety
    /// Safe: the question has no effect.
    #[doc(alias = "_is_a")]
    pub async fn is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        // Not every peer knows that everything is an Object.
        if repository_id == zorb_giop::ior::OBJECT_REPOSITORY_ID || repository_id == self.type_id()
        {
            return Ok(true);
        }
        self.invoke::<_, (bool,), SystemException>("_is_a", (repository_id,))
            .await
    }

    /// Whether the object is gone for good. An object that cannot be reached is an error, not an
    /// answer.
    ///
    /// # Errors
    /// Whatever asking the object fails with, OBJECT_NOT_EXIST apart.
    ///
    /// # Cancel safety
    /// Safe: the question has no effect.
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

    /// Asks the server whether it has the object (LocateRequest), without calling it.
    ///
    /// # Errors
    /// Whatever reaching the server fails with.
    ///
    /// # Cancel safety
    /// Safe: the question has no effect.
    #[doc(alias = "validate_connection")]
    pub async fn locate(&self) -> Result<bool, SystemException> {
        crate::invoke::locate(self).await
    }

    /// The binding for a call made now: the one there is, or a new one.
    pub(crate) async fn binding(&self) -> Result<BindingGuard, SystemException> {
        match self.bound()? {
            Some(bound) => Ok(bound),
            None => self.new_binding().await,
        }
    }

    /// The binding for a call made now, if there is one.
    ///
    /// # Errors
    /// BAD_INV_ORDER once the ORB has shut down.
    #[inline]
    pub(crate) fn bound(&self) -> Result<Option<BindingGuard>, SystemException> {
        self.0.orb.inner().check_not_down()?;
        let home = match Handle::try_current() {
            Ok(current) => current.id(),
            Err(_) => self.0.orb.inner().lane().handle().id(),
        };
        let bound = self.0.binding.load();
        let is_usable = bound.as_ref().is_some_and(|found| found.is_usable(home));
        Ok(is_usable.then(|| BindingGuard(bound)))
    }

    /// A new binding, behind the requests that wait for one.
    #[cold]
    pub(crate) async fn new_binding(&self) -> Result<BindingGuard, SystemException> {
        // Boxed: rare, and large beside the rest of a call.
        let binding = Box::pin(async {
            self.0.orb.inner().deferred().ended(self.binding_id()).await;
            if let Some(bound) = self.bound()? {
                return Ok(bound);
            }
            let binding = self.bind_apart().await?;
            self.store_binding(&binding);
            Ok(binding.into())
        });
        binding.await
    }

    /// A binding that other calls do not know of.
    pub(crate) async fn bind_apart(&self) -> Result<Arc<Binding>, SystemException> {
        let home = self.home();
        Box::pin(self.bind(&self.0.ior, &home, false, self.0.named_by)).await
    }

    /// Has the calls go there from now on.
    pub(crate) fn store_binding(&self, binding: &Arc<Binding>) {
        self.0.binding.store(Some(Arc::clone(binding)));
    }

    /// What tells the references apart that share no binding.
    pub(crate) fn binding_id(&self) -> usize {
        Arc::as_ptr(&self.0.binding).addr()
    }

    /// The way that a connection is tried by first; `None` for an object of the same ORB, and where there is none.
    pub(crate) fn first_way(&self) -> Option<Candidate> {
        match self.0.orb.inner().local_key(&self.0.ior) {
            Some(_) => None,
            None => (self.ways(&self.0.ior, self.0.named_by).ok()?.into_iter()).next(),
        }
    }

    /// The ways to the object of a reference that was named so, those that let us wait in vain a moment ago last.
    fn ways(&self, ior: &Ior, named_by: NamedBy) -> Result<Vec<Candidate>, SystemException> {
        let orb = self.0.orb.inner();
        let text = Text {
            native: orb.settings().native_char_set,
            of_reference: self.0.char_code_set,
            unstated: orb.connection_settings().unstated_code_sets,
        };
        let unusable = |profiles| Fault::NoUsableProfile { profiles }.raise(CompletionStatus::No);
        let mut ways = candidates_for(ior, orb.settings().max_giop_version, orb.transports(), text);
        if ways.is_empty() {
            return Err(unusable(describe_unusable(ior, orb.transports())));
        }
        ways.retain(|way| orb.may_connect(&way.endpoint, named_by));
        if ways.is_empty() {
            return Err(unusable(NO_SOCKETS_OF_PEERS.to_owned()));
        }
        if ways.len() > 1 {
            // Else in the order of the reference.
            ways.sort_by_cached_key(|way| orb.is_silent(&way.endpoint));
        }
        Ok(ways)
    }

    /// Follows a forward: calls go there from now on. `from`: where the forward came from.
    pub(crate) async fn bind_forward(
        &self,
        ior: &Ior,
        from: &Binding,
    ) -> Result<Arc<Binding>, SystemException> {
        let named_by = match &from.target {
            Target::Local => self.0.named_by,
            Target::Remote(_) => NamedBy::Peer,
        };
        let binding = Box::pin(self.bind(ior, &self.home(), true, named_by)).await?;
        self.0.binding.store(Some(Arc::clone(&binding)));
        Ok(binding)
    }

    /// Addresses the object as its server wants it (NEEDS_ADDRESSING_MODE), from now on.
    /// `asked`: how many times it has wanted another way than it got.
    pub(crate) fn readdress(
        &self,
        binding: &Binding,
        wanted: i16,
        asked: &mut usize,
    ) -> Result<Arc<Binding>, ProtocolError> {
        let wanted = AddressingDisposition::from_wire(wanted)?;
        *asked += 1;
        if wanted == binding.addressing
            || *asked > MAX_READDRESSED
            || binding.version < Version::V1_2
        {
            return Err(ProtocolError::AddressingInCircles { wanted });
        }
        let mut binding = Binding {
            addressing: wanted,
            ..binding.clone()
        };
        let requests = RequestTemplate::new(binding.version, &binding.address(), &binding.key)
            // A profile of 4 GiB, which it cannot be told.
            .map_err(|_| ProtocolError::AddressingInCircles { wanted })?;
        if let Target::Remote(remote) = &mut binding.target {
            remote.requests = requests;
        }
        let binding = Arc::new(binding);
        self.0.binding.store(Some(Arc::clone(&binding)));
        Ok(binding)
    }

    /// Forgets where calls went.
    pub(crate) fn unbind(&self, binding: &Arc<Binding>) {
        let current = self.0.binding.load_full();
        if current.is_some_and(|current| Arc::ptr_eq(&current, binding)) {
            self.0.binding.store(None);
        }
    }

    /// The transports of its ORB.
    pub(crate) fn transports(&self) -> &Registry {
        self.0.orb.inner().transports()
    }

    /// Where the reference leads, for people.
    pub(crate) fn whereabouts(&self) -> String {
        let endpoints: Vec<String> = candidates(&self.0.ior, Version::HIGHEST, self.transports())
            .iter()
            .map(|c| c.endpoint.to_string())
            .collect();
        endpoints.join(", ")
    }

    /// The runtime that serves this caller: its own, or the ORB's for callers without one.
    pub(crate) fn home(&self) -> Handle {
        Handle::try_current().unwrap_or_else(|_| self.0.orb.inner().lane().handle().clone())
    }

    async fn bind(
        &self,
        ior: &Ior,
        home: &Handle,
        forwarded: bool,
        named_by: NamedBy,
    ) -> Result<Arc<Binding>, SystemException> {
        let orb = self.0.orb.inner();
        if ior.is_nil() {
            return Err(Fault::NilReference.raise(CompletionStatus::No));
        }
        let make = |target, key, version, profile| {
            Arc::new(Binding {
                target,
                key,
                version,
                addressing: AddressingDisposition::Key,
                reference: ior.clone(),
                profile,
                reactor: home.id(),
                forwarded,
            })
        };
        if let Some(key) = orb.local_key(ior) {
            return Ok(make(Target::Local, key, Version::HIGHEST, 0));
        }
        let candidates = self.ways(ior, named_by)?;
        let connected = first_that_works(
            &candidates,
            home,
            |way| self.connect(way, home, named_by),
            // Nobody ordered the addresses of one profile; the profiles somebody did.
            |one, next| one.profile == next.profile,
        );
        let causes = match connected.await {
            Ok((way, connection)) => {
                let target = TargetAddress::Key(&way.key);
                let requests = RequestTemplate::new(way.version, &target, &way.key)
                    .map_err(|error| Fault::Encode(error).raise(CompletionStatus::No))?;
                let remote = Target::Remote(Remote {
                    connection,
                    requests,
                });
                return Ok(make(remote, way.key.clone(), way.version, way.profile));
            }
            Err(causes) => causes,
        };
        // The causes say as much, but this one is not worth another try.
        orb.check_not_down()?;
        Err(Fault::CannotConnect {
            causes: causes.join("; "),
        }
        .raise(CompletionStatus::No))
    }

    async fn connect(
        &self,
        candidate: &Candidate,
        home: &Handle,
        named_by: NamedBy,
    ) -> Result<Arc<ClientConnection>, String> {
        self.0
            .orb
            .inner()
            .connection(candidate, home, named_by)
            .await
            .map_err(|error| error.to_string())
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
        let endpoints: Vec<String> = candidates(&self.0.ior, Version::HIGHEST, self.transports())
            .into_iter()
            .map(|candidate| candidate.endpoint.to_string())
            .collect();
        f.debug_struct("ObjectRef")
            .field("type_id", &self.0.ior.type_id)
            .field("endpoints", &endpoints)
            .finish()
    }
}
