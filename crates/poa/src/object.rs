//! The target of an object key: a servant, or a forward.

use crate::adapter::Adapter;
use crate::asleep::{Asleep, incarnate};
use crate::identity::{Identity, MapEntry, ServantAddress};
use crate::incoming::{Incoming, IncomingRequest, Typed};
use crate::key::ObjectId;
use crate::leaving::{Departing, Etherealize};
use crate::manager::{Held, PoaManager, State};
use crate::membership::{Membership, ObjectContext, Traits};
use crate::missing::Missing;
use crate::names::Named;
use crate::policy::OneWayOrder;
use crate::request::{Outcome, Request};
use crate::servant_manager::{Activator, AnyLocator, Etherealization};
use crate::skeleton::{Skeleton, Upcall};
use crate::table::Tenant;
use crate::turn_queue::{Lineage, TurnQueue};
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use std::sync::{Arc, Weak};
use zorb_giop::ior::OBJECT_REPOSITORY_ID;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException, SystemExceptionKind, minor};

/// A servant, or what leads to one, at its place in an adapter.
pub struct ActiveObject {
    behind: Behind,
    identity: Identity,
    /// Ends when what is before it has gone.
    membership: Membership<Adapter>,
}

enum Behind {
    Servant(Arc<dyn Skeleton>),
    /// Boxed, so that objects with servants are small.
    Other(Box<Other>),
}

enum Other {
    Forward(Forward),
    /// A servant whose upcalls take turns.
    Serial(Arc<dyn Skeleton>, Arc<TurnQueue>),
    Asleep(Arc<Asleep>),
    Locate(Arc<Adapter>, Arc<dyn AnyLocator<Adapter>>),
    Refused(Missing),
}

/// Where requests are sent on to.
#[derive(Clone)]
pub struct Forward {
    /// The repository id of the objects there, as far as it is known here.
    pub type_id: String,
    /// Whether clients may forget the reference they came with (GIOP 1.2).
    pub permanent: bool,
    /// Asked once for every request. Runs within the upcall, so it may block no longer than a
    /// servant may, and a panic is UNKNOWN.
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

/// Settings of a new object beside its servant.
pub(crate) struct Site<'a> {
    pub(crate) identity: Identity,
    pub(crate) priority: Option<i16>,
    pub(crate) context: &'a Arc<ObjectContext<Adapter>>,
}

impl Named for Arc<ActiveObject> {
    #[inline]
    fn name(&self) -> &[u8] {
        // An index is in a table of its own.
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
    fn new(behind: Behind, site: Site<'_>) -> Self {
        Self {
            behind,
            identity: site.identity,
            membership: Membership::new(site.context, site.priority, Traits::default(), 0),
        }
    }

    fn of_one_request(other: Other, site: Site<'_>) -> Arc<Self> {
        Arc::new(Self {
            behind: Behind::Other(Box::new(other)),
            identity: site.identity,
            membership: Membership::new(site.context, site.priority, Traits::FOR_ONE_REQUEST, 0),
        })
    }

    /// A servant, whose upcalls take turns if there is a queue for them.
    pub(crate) fn servant(
        skeleton: Arc<dyn Skeleton>,
        turns: Option<&Arc<TurnQueue>>,
        one_way_order: OneWayOrder,
        is_for_one_request: bool,
        site: Site<'_>,
    ) -> Arc<Self> {
        let blocks = skeleton.blocks();
        // Of one that is not in the map nothing is looked for by it.
        let servant_mark = match is_for_one_request {
            true => 0,
            false => ServantAddress::of(&*skeleton).map_or(0, ServantAddress::mark),
        };
        let behind = match turns {
            None => Behind::Servant(skeleton),
            Some(turns) => Behind::Other(Box::new(Other::Serial(skeleton, Arc::clone(turns)))),
        };
        let traits = Traits::default()
            .with(Traits::FOR_ONE_REQUEST, is_for_one_request)
            .with(Traits::BLOCKS, blocks)
            .with(Traits::HOLDS_NO_WORKER, blocks)
            // Several threads would not keep it.
            .with(
                Traits::ORDERS_ONE_WAYS,
                blocks || one_way_order == OneWayOrder::Ended,
            )
            .with(Traits::NOTES_USE, site.context.notes_use);
        let membership = Membership::new(site.context, site.priority, traits, servant_mark);
        Arc::new(Self {
            behind,
            identity: site.identity,
            membership,
        })
    }

    pub(crate) fn forwarding(forward: Forward, site: Site<'_>) -> Arc<Self> {
        let behind = Behind::Other(Box::new(Other::Forward(forward)));
        Arc::new(Self::new(behind, site))
    }

    pub(crate) fn asleep(asleep: Asleep, site: Site<'_>) -> Arc<Self> {
        Self::of_one_request(Other::Asleep(Arc::new(asleep)), site)
    }

    pub(crate) fn to_be_located(
        adapter: Arc<Adapter>,
        locator: Arc<dyn AnyLocator<Adapter>>,
        site: Site<'_>,
    ) -> Arc<Self> {
        Self::of_one_request(Other::Locate(adapter, locator), site)
    }

    /// An object whose requests are refused once their manager admits them.
    pub(crate) fn refused(missing: Missing, site: Site<'_>) -> Arc<Self> {
        Self::of_one_request(Other::Refused(missing), site)
    }

    /// Notes that the object is being deactivated: its id is taken until its last upcall has ended, and it has been etherealized
    /// then.
    pub(crate) fn depart(&self, activator: Option<&Arc<dyn Activator>>, cleanup_in_progress: bool) {
        let id = || self.identity.to_id();
        let etherealize = || -> Option<Etherealize> {
            let activator = Arc::clone(activator.filter(|_| self.skeleton().is_some())?);
            let (id, adapter) = (id(), self.adapter()?);
            Some(Box::new(move |servant: Arc<dyn Skeleton>, departure| {
                activator.etherealize(Etherealization {
                    id,
                    cleanup_in_progress,
                    remaining_activations: adapter.is_servant_active(&*servant),
                    servant,
                    _adapter: adapter,
                    departure,
                });
            }))
        };
        self.membership.depart(id, etherealize);
    }

    /// The servant's skeleton, if there is a servant.
    #[must_use]
    pub fn skeleton(&self) -> Option<&Arc<dyn Skeleton>> {
        match &self.behind {
            Behind::Servant(skeleton) => Some(skeleton),
            Behind::Other(other) => match &**other {
                Other::Serial(skeleton, _) => Some(skeleton),
                _ => None,
            },
        }
    }

    /// The object's id within its adapter.
    #[must_use]
    pub fn id(&self) -> ObjectId {
        self.identity.to_id()
    }

    /// The object's adapter, unless it is gone.
    #[must_use]
    pub fn adapter(&self) -> Option<Arc<Adapter>> {
        self.membership.context.adapter.upgrade()
    }

    /// Whether the application declared the servant blocking ([`Skeleton::blocks`]): its upcalls run on a thread of their own, and
    /// never on a worker of the lane.
    #[must_use]
    #[inline]
    pub fn blocks(&self) -> bool {
        self.membership.has(Traits::BLOCKS)
    }

    /// Whether a one-way request begins when the one before it, of its connection, has ended.
    #[must_use]
    #[inline]
    pub fn orders_one_ways(&self) -> bool {
        self.membership.has(Traits::ORDERS_ONE_WAYS)
    }

    /// Whether upcalls run outside of the workers of the lane: the servant [blocks](Self::blocks), or the adapter
    /// [schedules](Self::priority) its upcalls.
    #[must_use]
    #[inline]
    pub fn holds_no_worker(&self) -> bool {
        self.membership.has(Traits::HOLDS_NO_WORKER)
    }

    /// The priority of its upcalls, if its adapter has them [scheduled](crate::UpcallScheduling).
    #[must_use]
    #[inline]
    pub const fn priority(&self) -> Option<i16> {
        self.membership.priority
    }

    /// See [`Membership::unused_for`].
    pub(crate) fn unused_for(&self, now: u32) -> Option<u32> {
        self.membership.unused_for(now)
    }

    /// The reference that requests are forwarded to (LOCATION_FORWARD); `None` for an object with a servant.
    #[must_use]
    pub fn forward(&self) -> Option<&Forward> {
        match &self.behind {
            Behind::Servant(_) => None,
            Behind::Other(other) => match &**other {
                Other::Forward(forward) => Some(forward),
                _ => None,
            },
        }
    }

    /// Why its requests are refused once their manager admits them, if they are.
    #[must_use]
    pub fn refusal(&self) -> Option<Missing> {
        match &self.behind {
            Behind::Servant(_) => None,
            Behind::Other(other) => match &**other {
                Other::Refused(missing) => Some(*missing),
                _ => None,
            },
        }
    }

    /// Whether it has been made for the request that looked for it, since it is not in the active object map: the same key leads
    /// to another one next time.
    #[must_use]
    pub fn is_for_one_request(&self) -> bool {
        self.membership.has(Traits::FOR_ONE_REQUEST)
    }

    /// The repository id of the most derived interface; empty when it is not known before the
    /// request has its servant.
    #[must_use]
    pub fn type_id(&self) -> &str {
        match (self.skeleton(), self.forward()) {
            (Some(skeleton), _) => skeleton.repository_id(),
            (None, Some(forward)) => &forward.type_id,
            (None, None) => "",
        }
    }

    /// The manager that says whether requests are served.
    #[must_use]
    #[inline]
    pub fn manager(&self) -> &Arc<PoaManager> {
        &self.membership.context.manager
    }

    /// Waits while the manager holds requests, or until the adapter has been destroyed. The key has to be looked up again then:
    /// a request that has not begun is treated as if it had just come (CORBA 3.3 Part 1, `PortableServer::POA::destroy`).
    /// The future keeps neither the object nor its servant.
    ///
    /// # Errors
    /// TRANSIENT when as many wait as may, or when they are discarded; OBJ_ADAPTER when the
    /// manager is inactive.
    ///
    /// # Cancel safety
    /// Safe: a dropped request makes room for another.
    pub fn released(&self) -> impl Future<Output = Result<(), SystemException>> + Send + use<> {
        let manager = Arc::clone(self.manager());
        let adapter = Weak::clone(&self.membership.context.adapter);
        async move {
            let raise = |fault: Fault| fault.raise(CompletionStatus::No);
            let mut held = manager.hold();
            loop {
                if adapter.upgrade().is_none_or(|adapter| adapter.is_emptied()) {
                    return Ok(());
                }
                match poll_fn(|cx| held.poll_changed(cx.waker())).await {
                    Held::Full => {
                        return Err(raise(Fault::Overload(
                            "too many requests are held".to_owned(),
                        )));
                    }
                    Held::Changed(State::Holding) => {}
                    Held::Changed(state) => return state.admit(),
                }
            }
        }
    }

    /// The number of an operation in the servant's table, if it is one of those and not one that every object has.
    #[must_use]
    pub fn number_of(&self, operation: &[u8]) -> Option<u32> {
        match self.skeleton() {
            Some(skeleton) if operation.first() != Some(&b'_') => {
                skeleton.operations().find(operation)
            }
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

    /// Begins the upcall of a call by values, of an operation that the IDL declares. It is
    /// [untyped](Upcall::untyped) unless there is a servant that takes them.
    pub fn start_typed(&self, call: Typed<'_>) -> Upcall {
        // Lent for as long as it lives, so it is made here.
        let mut call = Typed {
            operation: call.operation,
            receipt: call.receipt,
            arguments: call.arguments,
            results: call.results,
        };
        self.membership.note_use();
        match &self.behind {
            Behind::Servant(skeleton) => skeleton.start(Incoming::Typed(&mut call)),
            Behind::Other(_) => Upcall::untyped(),
        }
    }

    /// Begins the upcall of a request: the skeleton's operations first, then those that every object has. An upcall that
    /// ends at its first poll leaves its outcome in `outcome`; any other is [`Upcall`]'s to give.
    ///
    /// A forward answers every operation, these too. One-way requests to it are lost, as their
    /// clients wait for no answer. An object that is still to be activated is activated within
    /// the upcall.
    #[inline]
    pub fn start(&self, request: &mut Option<Request>, outcome: &mut Option<Outcome>) -> Upcall {
        zorb_giop::probe!(Admitted);
        self.membership.note_use();
        if let (Behind::Servant(skeleton), Some(known)) = (&self.behind, &*request)
            // Generated operation names never begin with an underscore but for attributes.
            && (known.number().is_some() || known.operation().first() != Some(&b'_'))
        {
            return skeleton.start(Incoming::Message(IncomingRequest::new(request, outcome)));
        }
        match request.take() {
            Some(request) => self.start_other(request, outcome),
            None => Upcall::ready(Outcome::Silent),
        }
    }

    /// As [`start`](Self::start), to the end.
    pub(crate) async fn serve(self: Arc<Self>, request: Request) -> Outcome {
        let mut outcome = None;
        let mut upcall = self.enter(|| self.start(&mut Some(request), &mut outcome));
        match outcome {
            Some(outcome) => outcome,
            None => poll_fn(|cx| self.enter(|| Pin::new(&mut upcall).poll(cx))).await,
        }
    }

    fn start_other(&self, request: Request, outcome: &mut Option<Outcome>) -> Upcall {
        let other = match &self.behind {
            Behind::Servant(skeleton) => return start(skeleton, request, outcome),
            Behind::Other(other) => other,
        };
        let receipt = request.receipt();
        match &**other {
            Other::Forward(forward) => {
                let forward = forward.clone();
                Upcall::new(async move {
                    match (forward.target)() {
                        Ok(ior) => receipt.forward(&ior, forward.permanent),
                        Err(exception) => receipt.refusal(&exception),
                    }
                })
            }
            Other::Serial(skeleton, turns) => {
                let skeleton = Arc::clone(skeleton);
                taking_turns(Some(turns), async move {
                    let mut outcome = None;
                    let upcall = start(&skeleton, request, &mut outcome);
                    match outcome {
                        Some(outcome) => outcome,
                        None => upcall.await,
                    }
                })
            }
            Other::Asleep(asleep) => {
                let turns = asleep.adapter.turn_queue();
                taking_turns(turns, incarnate(Arc::clone(asleep), request))
            }
            Other::Locate(adapter, locator) => {
                Arc::clone(locator).upcall(adapter, &self.identity, request)
            }
            Other::Refused(missing) => Upcall::ready(receipt.system_exception(&missing.raise())),
        }
    }
}

/// An upcall that takes turns, if there is a queue for them.
pub(crate) fn taking_turns(
    turns: Option<&Arc<TurnQueue>>,
    upcall: impl Future<Output = Outcome> + Send + 'static,
) -> Upcall {
    match turns {
        None => Upcall::new(upcall),
        Some(turns) => Upcall::new(Arc::clone(turns).run(Lineage::current(), upcall)),
    }
}

/// Begins the upcall of a request: the operations that every object has here, the others in the skeleton.
fn start(skeleton: &Arc<dyn Skeleton>, request: Request, outcome: &mut Option<Outcome>) -> Upcall {
    let mut begin = |request| {
        let mut request = Some(request);
        skeleton.start(Incoming::Message(IncomingRequest::new(
            &mut request,
            outcome,
        )))
    };
    let name = request.operation();
    if name.first() != Some(&b'_') || name.starts_with(b"_get_") || name.starts_with(b"_set_") {
        return begin(request);
    }
    let answer = match name {
        b"_is_a" => match request.arguments::<String>() {
            Ok(id) => request.reply(is_a(&**skeleton, &id)),
            Err(exception) => request.system_exception(&exception),
        },
        // The request has found its object; the older name is still sent by 1.0 peers.
        b"_non_existent" | b"_not_existent" => request.reply(false),
        b"_repository_id" => request.reply(skeleton.repository_id()),
        b"_interface" => request.system_exception(&SystemException::new(
            SystemExceptionKind::IntfRepos,
            minor::NO_INTERFACE_REPOSITORY,
            CompletionStatus::No,
        )),
        // No object here is a component: the nil reference.
        b"_component" => request.reply(Ior::NIL),
        _ => return begin(request),
    };
    Upcall::ready(answer)
}

fn is_a(skeleton: &dyn Skeleton, repository_id: &str) -> bool {
    repository_id == OBJECT_REPOSITORY_ID || skeleton.is_a(repository_id)
}

impl Drop for ActiveObject {
    /// Hands a deactivated object over to its activator. Nothing executes its requests any more.
    fn drop(&mut self) {
        // Without an activator the id is free when the servant is gone: that is the order of the fields.
        if let Some(Departing {
            departure,
            etherealize: Some(etherealize),
        }) = self.membership.to_be_etherealized()
            && let Some(servant) = self.skeleton()
        {
            etherealize(Arc::clone(servant), departure);
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

/// The fate of a new request by the state of its manager, once it is not HOLDING.
impl State {
    /// `Ok` when requests are served.
    ///
    /// # Errors
    /// TRANSIENT when they are discarded, OBJ_ADAPTER when the manager is inactive.
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

    #[test]
    fn an_object_is_as_large_as_it_has_to_be() {
        // Millions may be active.
        assert!(
            size_of::<ActiveObject>() <= 56,
            "{}",
            size_of::<ActiveObject>()
        );
    }

    #[test]
    fn each_state_admits_or_refuses() {
        assert!(State::Active.admit().is_ok());
        let transient = State::Discarding.admit().unwrap_err();
        assert_eq!(
            (transient.kind, transient.minor),
            (SystemExceptionKind::Transient, minor::REQUEST_DISCARDED)
        );
        let inactive = State::Inactive.admit().unwrap_err();
        assert_eq!(inactive.kind, SystemExceptionKind::ObjAdapter);
    }
}
