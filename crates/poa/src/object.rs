//! The target of an object key: a servant, or a forward.

use crate::adapter::Adapter;
use crate::deactivation::{DeactivatedObject, Etherealize};
use crate::identity::{Identity, MapEntry, ServantAddress};
use crate::incarnation::{NotIncarnated, incarnate};
use crate::key::ObjectId;
use crate::manager::{HoldOutcome, PoaManager, PoaManagerState};
use crate::membership::{Membership, ObjectContext, Traits};
use crate::missing::Missing;
use crate::names::Named;
use crate::policy::{CancelledUpcalls, OneWayOrder, Policies};
use crate::request::ServerRequest;
use crate::servant_manager::{Activator, AnyLocator, Boxed, Etherealization};
use crate::skeleton::{Skeleton, Started, Upcall};
use crate::table::Tenant;
use crate::turn_queue::{TurnQueue, UpcallChain};
use core::borrow::Borrow;
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use std::sync::{Arc, Weak};
use zorb_giop::ior::OBJECT_REPOSITORY_ID;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException};
use zorb_shares::HostKey;

/// The target of requests for one object: a servant, a forward, or a servant manager that finds the servant.
pub struct ActiveObject {
    target: Target,
    identity: Identity,
    /// Declared last, so that it is dropped after the servant.
    membership: Membership<Adapter>,
}

enum Target {
    Servant(Arc<dyn Skeleton>),
    /// Boxed, so that objects with servants are small.
    Other(Box<OtherTarget>),
}

enum OtherTarget {
    Forward(Forward),
    /// A servant whose upcalls take turns.
    Serial(Arc<dyn Skeleton>, Arc<TurnQueue>),
    NotIncarnated(Arc<NotIncarnated>),
    Locate(Arc<Adapter>, Arc<dyn AnyLocator<Adapter>>),
    Refused(Missing),
}

/// The target that requests for an object are forwarded to.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (LOCATION_FORWARD, LOCATION_FORWARD_PERM).
#[derive(Clone)]
pub struct Forward {
    /// The repository id of the target's interface, as far as it is known; else empty.
    pub type_id: String,
    /// Whether clients may replace their reference for good (LOCATION_FORWARD_PERM, GIOP 1.2).
    pub permanent: bool,
    /// Returns the target reference; called once for every request. It runs within the upcall, so it may block no longer than
    /// a servant may, and a panic is UNKNOWN.
    pub target: Arc<dyn Fn() -> Result<Ior, SystemException> + Send + Sync>,
}

impl fmt::Debug for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forward")
            .field("type_id", &self.type_id)
            .field("permanent", &self.permanent)
            .finish_non_exhaustive()
    }
}

/// Properties of a new object other than its servant.
pub(crate) struct Site<'a> {
    pub(crate) identity: Identity,
    pub(crate) priority: Option<i16>,
    pub(crate) context: &'a Arc<ObjectContext<Adapter>>,
}

impl Named for Arc<ActiveObject> {
    #[inline]
    fn name(&self) -> &[u8] {
        // Objects with indexes are in a table, not in a map by names.
        self.identity.octets().unwrap_or_default()
    }
}

impl MapEntry for ActiveObject {
    fn servant_address(&self) -> Option<ServantAddress> {
        ServantAddress::of(&**self.skeleton()?)
    }

    fn servant_mark(&self) -> u32 {
        self.membership.servant_mark
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }
}

impl Tenant for ActiveObject {
    #[inline]
    fn generation(&self) -> u32 {
        self.identity.generation()
    }
}

impl ActiveObject {
    fn new(target: Target, site: Site<'_>) -> Self {
        Self {
            target,
            identity: site.identity,
            membership: Membership::new(site.context, site.priority, Traits::default(), 0),
        }
    }

    fn of_one_request(other: OtherTarget, site: Site<'_>) -> Arc<Self> {
        Arc::new(Self {
            target: Target::Other(Box::new(other)),
            identity: site.identity,
            membership: Membership::new(site.context, site.priority, Traits::FOR_ONE_REQUEST, 0),
        })
    }

    /// A servant, whose upcalls take turns if there is a queue for them.
    pub(crate) fn servant(
        skeleton: Arc<dyn Skeleton>,
        turns: Option<&Arc<TurnQueue>>,
        policies: &Policies,
        is_for_one_request: bool,
        site: Site<'_>,
    ) -> Self {
        let blocks = skeleton.blocks();
        let drops_cancelled =
            skeleton.drops_cancelled() || policies.cancelled_upcalls == CancelledUpcalls::Dropped;
        // An object that is not in the map is not looked up by its servant.
        let servant_mark = match is_for_one_request {
            true => 0,
            false => ServantAddress::of(&*skeleton).map_or(0, ServantAddress::mark),
        };
        let target = match turns {
            None => Target::Servant(skeleton),
            Some(turns) => {
                Target::Other(Box::new(OtherTarget::Serial(skeleton, Arc::clone(turns))))
            }
        };
        let traits = Traits::default()
            .with(Traits::FOR_ONE_REQUEST, is_for_one_request)
            .with(Traits::BLOCKS, blocks)
            .with(Traits::HOLDS_NO_WORKER, blocks)
            // Several threads would not keep the order.
            .with(
                Traits::ORDERS_ONE_WAYS,
                blocks || policies.one_way_order == OneWayOrder::Ended,
            )
            .with(Traits::NOTES_USE, site.context.notes_use)
            .with(Traits::DROPS_CANCELLED, drops_cancelled);
        let membership = Membership::new(site.context, site.priority, traits, servant_mark);
        Self {
            target,
            identity: site.identity,
            membership,
        }
    }

    pub(crate) fn forwarding(forward: Forward, site: Site<'_>) -> Arc<Self> {
        let target = Target::Other(Box::new(OtherTarget::Forward(forward)));
        Arc::new(Self::new(target, site))
    }

    pub(crate) fn not_incarnated(object: NotIncarnated, site: Site<'_>) -> Arc<Self> {
        Self::of_one_request(OtherTarget::NotIncarnated(Arc::new(object)), site)
    }

    pub(crate) fn to_be_located(
        adapter: Arc<Adapter>,
        locator: Arc<dyn AnyLocator<Adapter>>,
        site: Site<'_>,
    ) -> Arc<Self> {
        Self::of_one_request(OtherTarget::Locate(adapter, locator), site)
    }

    /// An object whose requests are refused with the exception of `missing`, once their manager admits them.
    pub(crate) fn refused(missing: Missing, site: Site<'_>) -> Arc<Self> {
        Self::of_one_request(OtherTarget::Refused(missing), site)
    }

    /// Notes that the object is being deactivated. Its id stays taken until its last upcall has ended, and the activator, if
    /// there is one, has etherealized it.
    pub(crate) fn begin_deactivation(
        &self,
        activator: Option<&Arc<dyn Activator>>,
        cleanup_in_progress: bool,
    ) {
        let id = || self.identity.to_id();
        let etherealize = || -> Option<Etherealize> {
            let activator = Arc::clone(activator.filter(|_| self.skeleton().is_some())?);
            let (id, adapter) = (id(), self.adapter()?);
            Some(Box::new(move |servant: Arc<dyn Skeleton>, guard| {
                activator.etherealize(Etherealization {
                    id,
                    cleanup_in_progress,
                    remaining_activations: adapter.is_servant_active(&*servant),
                    servant,
                    _adapter: adapter,
                    guard,
                });
            }))
        };
        self.membership.begin_deactivation(id, etherealize);
    }

    /// The skeleton of the servant; `None` for a target without an active servant.
    #[must_use]
    pub fn skeleton(&self) -> Option<&Arc<dyn Skeleton>> {
        match &self.target {
            Target::Servant(skeleton) => Some(skeleton),
            Target::Other(other) => match &**other {
                OtherTarget::Serial(skeleton, _) => Some(skeleton),
                _ => None,
            },
        }
    }

    /// The object's id within its adapter.
    #[must_use]
    pub fn id(&self) -> ObjectId {
        self.identity.to_id()
    }

    /// The object's adapter; `None` once it has been dropped.
    #[must_use]
    pub fn adapter(&self) -> Option<Arc<Adapter>> {
        self.membership.context.adapter.upgrade()
    }

    /// Whether the application declared the servant blocking ([`Skeleton::blocks`]): its upcalls run on threads that may block,
    /// not on workers of the lane.
    #[must_use]
    #[inline]
    pub fn blocks(&self) -> bool {
        self.membership.has(Traits::BLOCKS)
    }

    /// Whether a one-way request begins only when the earlier one of its connection has ended.
    #[must_use]
    #[inline]
    pub fn orders_one_ways(&self) -> bool {
        self.membership.has(Traits::ORDERS_ONE_WAYS)
    }

    /// Whether an upcall that waits is dropped when nobody waits for its result: its servant or its adapter wants it.
    #[must_use]
    #[inline]
    pub fn drops_cancelled(&self) -> bool {
        self.membership.has(Traits::DROPS_CANCELLED)
    }

    /// Whether its adapter has MAIN_THREAD_MODEL ([`ThreadModel::MainThread`](crate::ThreadModel::MainThread)).
    #[must_use]
    pub fn is_in_main_thread(&self) -> bool {
        self.membership.context.is_in_main_thread
    }

    /// Whether upcalls run outside of the workers of the lane: the servant [blocks](Self::blocks), or the adapter
    /// [schedules](Self::priority) its upcalls.
    #[must_use]
    #[inline]
    pub fn holds_no_worker(&self) -> bool {
        self.membership.has(Traits::HOLDS_NO_WORKER)
    }

    /// The CORBA priority of its upcalls, if its adapter [schedules](crate::UpcallScheduling) them.
    #[must_use]
    #[inline]
    pub const fn priority(&self) -> Option<i16> {
        self.membership.priority
    }

    /// The ticks for which the object was not used: [`Membership::unused_for`].
    pub(crate) fn unused_for(&self, now: u32) -> Option<u32> {
        self.membership.unused_for(now)
    }

    /// The forward that answers requests with another reference (LOCATION_FORWARD); `None` for other targets.
    #[must_use]
    pub fn forward(&self) -> Option<&Forward> {
        match &self.target {
            Target::Servant(_) => None,
            Target::Other(other) => match &**other {
                OtherTarget::Forward(forward) => Some(forward),
                _ => None,
            },
        }
    }

    /// Why its requests are refused once their manager admits them; `None` if they are served.
    #[must_use]
    pub fn refusal(&self) -> Option<Missing> {
        match &self.target {
            Target::Servant(_) => None,
            Target::Other(other) => match &**other {
                OtherTarget::Refused(missing) => Some(*missing),
                _ => None,
            },
        }
    }

    /// Whether the object was made for one request, since it is not in the active object map. The next look-up of the same key returns
    /// another one, so the result must not be cached.
    #[must_use]
    pub fn is_for_one_request(&self) -> bool {
        self.membership.has(Traits::FOR_ONE_REQUEST)
    }

    /// The repository id of the most derived interface; empty if it is unknown until a servant manager has found the servant.
    #[must_use]
    pub fn type_id(&self) -> &str {
        match (self.skeleton(), self.forward()) {
            (Some(skeleton), _) => skeleton.repository_id(),
            (None, Some(forward)) => &forward.type_id,
            (None, None) => "",
        }
    }

    /// The POA manager, which decides whether requests are served.
    #[must_use]
    #[inline]
    pub fn manager(&self) -> &Arc<PoaManager> {
        &self.membership.context.manager
    }

    /// Waits while the manager holds requests; an adapter that is destroyed ends the wait. In either case the key has to be
    /// looked up again: a request that has not begun is treated as a new one (CORBA 3.3 Part 1, `PortableServer::POA::destroy`).
    /// The future keeps neither the object nor its servant.
    ///
    /// # Errors
    /// TRANSIENT if the limit on held requests is reached, in all or for `host`, or if the manager discards requests; OBJ_ADAPTER
    /// if the manager is INACTIVE.
    ///
    /// # Cancel safety
    /// Safe: a dropped future makes room for another held request.
    pub fn released(
        &self,
        host: HostKey,
    ) -> impl Future<Output = Result<(), SystemException>> + Send + use<> {
        let manager = Arc::clone(self.manager());
        let adapter = Weak::clone(&self.membership.context.adapter);
        async move {
            let raise = |fault: Fault| fault.raise(CompletionStatus::No);
            let mut held = manager.hold(host);
            loop {
                if adapter.upgrade().is_none_or(|adapter| adapter.is_emptied()) {
                    return Ok(());
                }
                match poll_fn(|cx| held.poll_changed(cx.waker())).await {
                    HoldOutcome::Full(full) => {
                        let overload = format!("too many requests are held: {full}");
                        return Err(raise(Fault::Overload(overload)));
                    }
                    HoldOutcome::Changed(PoaManagerState::Holding) => {}
                    HoldOutcome::Changed(state) => return state.admit(),
                }
            }
        }
    }

    /// The number of an operation in the table of the skeleton; `None` for an operation that every object has, and for one that
    /// the table does not contain.
    #[must_use]
    pub fn number_of(&self, operation: &[u8]) -> Option<u32> {
        match self.skeleton() {
            Some(skeleton) if is_declared(operation) => skeleton.operations().find(operation),
            _ => None,
        }
    }

    /// The name of the operation with this number in the servant's table.
    #[must_use]
    pub fn operation_name(&self, number: u32) -> Option<&'static str> {
        let mut names = self.skeleton()?.operations().names().entries();
        let (name, _) = names.find(|(_, of)| **of == number)?;
        core::str::from_utf8(name).ok()
    }

    /// Begins the upcall of a request: the skeleton's operations first, then those that every object has.
    ///
    /// A forward answers every operation, including those that every object has. One-way requests to it are lost, as their
    /// clients wait for no reply. An object of a servant activator is activated within the upcall.
    #[inline]
    pub fn start(&self, request: ServerRequest) -> Started {
        self.membership.note_use();
        match &self.target {
            // Of generated operation names, only those of attributes begin with an underscore.
            Target::Servant(skeleton)
                if request.number().is_some() || request.operation().first() != Some(&b'_') =>
            {
                skeleton.start(request)
            }
            target => start_other(target, &self.identity, request),
        }
    }

    /// Runs the upcall of a request from its beginning to its end.
    pub(crate) async fn serve(this: impl Borrow<Self>, request: ServerRequest) -> ServerRequest {
        let this = this.borrow();
        match this.enter(|| this.start(request)) {
            Started::Ended(request) | Started::OtherTypes(request) => request,
            Started::Pending(mut upcall) => {
                poll_fn(|cx| this.enter(|| Pin::new(&mut upcall).poll(cx))).await
            }
        }
    }
}

fn start_other(target: &Target, identity: &Identity, mut request: ServerRequest) -> Started {
    let other = match target {
        Target::Servant(skeleton) => return start(skeleton, request),
        Target::Other(_) if request.is_typed() => return Started::OtherTypes(request),
        Target::Other(other) => other,
    };
    let receipt = request.receipt();
    match &**other {
        OtherTarget::Forward(forward) => {
            let target = (forward.target)();
            // After it has returned: where it panics, the request is dropped, and so acknowledged.
            request.withdraw_acknowledgement();
            request.set_outcome(match target {
                Ok(ior) => receipt.forward(&ior, forward.permanent),
                Err(exception) => receipt.refusal(&exception),
            });
            Started::Ended(request)
        }
        OtherTarget::Serial(skeleton, turns) => {
            let skeleton = Arc::clone(skeleton);
            taking_turns(Some(turns), || async move {
                match start(&skeleton, request) {
                    Started::Ended(request) | Started::OtherTypes(request) => request,
                    Started::Pending(upcall) => upcall.await,
                }
            })
        }
        OtherTarget::NotIncarnated(object) => {
            let turns = object.adapter.turn_queue();
            taking_turns(turns, || incarnate(Arc::clone(object), request))
        }
        OtherTarget::Locate(adapter, locator) => {
            Arc::clone(locator).upcall(adapter, identity, request)
        }
        OtherTarget::Refused(missing) => {
            request.withdraw_acknowledgement();
            request.set_outcome(receipt.refusal(&missing.raise()));
            Started::Ended(request)
        }
    }
}

/// Begins the upcall that `make` returns when its turn in `turns` has come, or at once without a queue.
pub(crate) fn taking_turns<F: Future<Output = ServerRequest> + Send + 'static>(
    turns: Option<&Arc<TurnQueue>>,
    make: impl FnOnce() -> F,
) -> Started {
    match turns {
        None => Upcall::start(make),
        Some(turns) => {
            let turns = Arc::clone(turns);
            Upcall::start(|| turns.run(UpcallChain::current(), make()))
        }
    }
}

/// Begins the upcall of a request. Operations that every object has are answered here, the others by the skeleton.
fn start(skeleton: &Arc<dyn Skeleton>, mut request: ServerRequest) -> Started {
    let name = request.operation();
    if is_declared(name) || skeleton.answers_every_operation() {
        return skeleton.start(request);
    }
    match name {
        b"_is_a" => match request.arguments::<String>() {
            Ok(id) => request.set_result(&is_a(&**skeleton, &id)),
            Err(exception) => request.set_system_exception(&exception),
        },
        // The request has found its object, so it exists. Peers of GIOP 1.0 still send the older name.
        b"_non_existent" | b"_not_existent" => request.set_result(&false),
        b"_repository_id" => request.set_result(&&*skeleton.interface_of_current()),
        b"_interface" => {
            let adapter = ActiveObject::current(ActiveObject::adapter).flatten();
            let id = skeleton.interface_of_current().into_owned();
            match adapter.and_then(|adapter| adapter.interface(id)) {
                Some(asked) => return Upcall::start(|| described(asked, request)),
                None => {
                    let none = Fault::NoInterfaceRepository.raise(CompletionStatus::No);
                    request.set_system_exception(&none);
                }
            }
        }
        // No object here is a component: the nil reference.
        b"_component" => request.set_result(&Ior::NIL),
        _ => return skeleton.start(request),
    }
    Started::Ended(request)
}

/// Answers an `_interface` request.
async fn described(
    asked: Boxed<Result<Ior, SystemException>>,
    mut request: ServerRequest,
) -> ServerRequest {
    match asked.await {
        Ok(definition) => request.set_result(&definition),
        Err(exception) => request.set_system_exception(&exception),
    }
    request
}

/// Whether an operation is one that IDL declares: those that every object has begin with an underscore, as names of attributes do.
fn is_declared(operation: &[u8]) -> bool {
    operation.first() != Some(&b'_')
        || operation.starts_with(b"_get_")
        || operation.starts_with(b"_set_")
}

fn is_a(skeleton: &dyn Skeleton, repository_id: &str) -> bool {
    repository_id == OBJECT_REPOSITORY_ID || skeleton.is_a(repository_id)
}

impl Drop for ActiveObject {
    /// Passes a deactivated object to its activator. No request of it is executing any more.
    fn drop(&mut self) {
        // Without an activator the id becomes free after the servant was dropped, by the order of the fields.
        if let Some(DeactivatedObject {
            guard,
            etherealize: Some(etherealize),
        }) = self.membership.to_be_etherealized()
            && let Some(servant) = self.skeleton()
        {
            etherealize(Arc::clone(servant), guard);
        }
    }
}

impl fmt::Debug for ActiveObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveObject")
            .field("type_id", &self.type_id())
            .field("forward", &self.forward())
            .field("manager", self.manager())
            .finish()
    }
}

/// The decision on a new request by the state of its manager, once that is not HOLDING.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::POAManager`).
impl PoaManagerState {
    /// Decides on a request: `Ok` if the manager serves it. HOLDING is `Ok` too, so a caller waits for the end of that state
    /// first.
    ///
    /// # Errors
    /// TRANSIENT in DISCARDING, OBJ_ADAPTER in INACTIVE, both COMPLETED_NO.
    pub fn admit(self) -> Result<(), SystemException> {
        match self {
            Self::Active | Self::Holding => Ok(()),
            Self::Discarding => Err(Fault::Discarding.raise(CompletionStatus::No)),
            Self::Inactive => Err(Fault::Inactive.raise(CompletionStatus::No)),
        }
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use zorb_giop::{SystemExceptionKind, minor};

    #[test]
    fn an_object_is_as_large_as_it_has_to_be() {
        // Millions of objects may be active.
        assert!(
            size_of::<ActiveObject>() <= 56,
            "{}",
            size_of::<ActiveObject>()
        );
    }

    #[test]
    fn each_state_admits_or_refuses() {
        assert!(PoaManagerState::Active.admit().is_ok());
        let transient = PoaManagerState::Discarding.admit().unwrap_err();
        assert_eq!(
            (transient.kind, transient.minor),
            (SystemExceptionKind::Transient, minor::REQUEST_DISCARDED)
        );
        let inactive = PoaManagerState::Inactive.admit().unwrap_err();
        assert_eq!(inactive.kind, SystemExceptionKind::ObjAdapter);
    }
}
