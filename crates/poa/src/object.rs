//! What is behind an object key: a servant, or somewhere else to go.

use crate::asleep::Asleep;
use crate::incoming::{Incoming, IncomingRequest, Typed};
use crate::leaving::{Departure, Leaving};
use crate::manager::{Held, PoaManager, State};
use crate::policy::OneWayOrder;
use crate::request::{Outcome, Request};
use crate::skeleton::{Skeleton, Upcall};
use core::fmt;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use zorb_giop::ior::OBJECT_REPOSITORY_ID;
use zorb_giop::{
    CompletionStatus, Fault, Ior, ResponseFlags, SystemException, SystemExceptionKind, minor,
};

/// A servant, or a forward, at its place in an adapter.
pub struct ActiveObject {
    behind: Behind,
    manager: Arc<PoaManager>,
    adapter_destroyed: Arc<AtomicBool>,
    /// See [`Skeleton::blocks`].
    blocks: bool,
    orders_one_ways: bool,
    /// Its id is free when it has been deactivated and its last upcall has ended.
    departure: OnceLock<Departure>,
}

enum Behind {
    Servant(Arc<dyn Skeleton>),
    Forward(Forward),
    Asleep(Arc<Asleep>),
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

impl ActiveObject {
    fn new(behind: Behind, manager: &Arc<PoaManager>, adapter_destroyed: &Arc<AtomicBool>) -> Self {
        Self {
            behind,
            manager: Arc::clone(manager),
            adapter_destroyed: Arc::clone(adapter_destroyed),
            blocks: false,
            orders_one_ways: false,
            departure: OnceLock::new(),
        }
    }

    pub(crate) fn servant(
        skeleton: Arc<dyn Skeleton>,
        manager: &Arc<PoaManager>,
        adapter_destroyed: &Arc<AtomicBool>,
        one_way_order: OneWayOrder,
    ) -> Arc<Self> {
        let blocks = skeleton.blocks();
        Arc::new(Self {
            blocks,
            // Several threads would not keep it.
            orders_one_ways: blocks || one_way_order == OneWayOrder::Ended,
            ..Self::new(Behind::Servant(skeleton), manager, adapter_destroyed)
        })
    }

    pub(crate) fn forwarding(
        forward: Forward,
        manager: &Arc<PoaManager>,
        adapter_destroyed: &Arc<AtomicBool>,
    ) -> Arc<Self> {
        let behind = Behind::Forward(forward);
        Arc::new(Self::new(behind, manager, adapter_destroyed))
    }

    pub(crate) fn asleep(
        asleep: Asleep,
        manager: &Arc<PoaManager>,
        adapter_destroyed: &Arc<AtomicBool>,
    ) -> Arc<Self> {
        let behind = Behind::Asleep(Arc::new(asleep));
        Arc::new(Self::new(behind, manager, adapter_destroyed))
    }

    /// Notes that the object is being deactivated: its id is taken until its last upcall has ended.
    pub(crate) fn depart(&self, leaving: &Arc<Leaving>, id: &[u8]) {
        let _ = self.departure.get_or_init(|| leaving.begin(id));
    }

    /// Whether its upcalls block their thread, so that they get one that nothing else waits for.
    #[must_use]
    #[inline]
    pub fn blocks(&self) -> bool {
        self.blocks
    }

    /// Whether a one-way request begins when the one before it, of its connection, has ended.
    #[must_use]
    #[inline]
    pub fn orders_one_ways(&self) -> bool {
        self.orders_one_ways
    }

    /// Where requests are sent on to, when there is no servant.
    #[must_use]
    pub fn forward(&self) -> Option<&Forward> {
        match &self.behind {
            Behind::Servant(_) | Behind::Asleep(_) => None,
            Behind::Forward(forward) => Some(forward),
        }
    }

    /// Whether there is somebody still to be asked for the servant: what is found by the same key next may be another
    /// object.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        matches!(self.behind, Behind::Asleep(_))
    }

    /// The repository id of the most derived interface; empty when it is not known before the
    /// object has been activated.
    #[must_use]
    pub fn type_id(&self) -> &str {
        match &self.behind {
            Behind::Servant(skeleton) => skeleton.repository_id(),
            Behind::Forward(forward) => &forward.type_id,
            Behind::Asleep(_) => "",
        }
    }

    /// The manager that says whether requests are served.
    #[must_use]
    #[inline]
    pub fn manager(&self) -> &Arc<PoaManager> {
        &self.manager
    }

    /// Waits while the manager holds requests. The future keeps neither the object nor its servant.
    ///
    /// # Errors
    /// TRANSIENT when as many wait as may, or when they are discarded; OBJ_ADAPTER when the
    /// manager is inactive; OBJECT_NOT_EXIST when the adapter is destroyed meanwhile.
    pub fn released(&self) -> impl Future<Output = Result<(), SystemException>> + Send + use<> {
        let manager = Arc::clone(&self.manager);
        let adapter_destroyed = Arc::clone(&self.adapter_destroyed);
        async move {
            let raise = |fault: Fault| fault.raise(CompletionStatus::No);
            let mut held = manager.hold();
            loop {
                if adapter_destroyed.load(Ordering::Acquire) {
                    return Err(raise(Fault::NoAdapter));
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
        match &self.behind {
            Behind::Servant(skeleton) if operation.first() != Some(&b'_') => {
                skeleton.operations().find(operation)
            }
            _ => None,
        }
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
        match &self.behind {
            Behind::Servant(skeleton) => skeleton.start(Incoming::Typed(&mut call)),
            Behind::Forward(_) | Behind::Asleep(_) => Upcall::untyped(),
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
    async fn serve(&self, request: Request) -> Outcome {
        let mut outcome = None;
        let upcall = self.start(&mut Some(request), &mut outcome);
        match outcome {
            Some(outcome) => outcome,
            None => upcall.await,
        }
    }

    fn start_other(&self, request: Request, outcome: &mut Option<Outcome>) -> Upcall {
        let skeleton = match &self.behind {
            Behind::Servant(skeleton) => skeleton,
            Behind::Forward(forward) => {
                let (forward, receipt) = (forward.clone(), request.receipt());
                return Upcall::new(async move {
                    match (forward.target)() {
                        Ok(ior) => receipt.forward(&ior, forward.permanent),
                        Err(exception) => receipt.refusal(&exception),
                    }
                });
            }
            Behind::Asleep(asleep) => {
                let asleep = Arc::clone(asleep);
                return Upcall::new(async move {
                    let receipt = request.receipt();
                    match asleep.wake().await {
                        // A client that has its acknowledgement hears no more.
                        Ok(object)
                            if object.forward().is_some()
                                && receipt.response == ResponseFlags::WithServer =>
                        {
                            Outcome::Silent
                        }
                        // Boxed, as an object may be activated within the upcall of another.
                        Ok(object) => Box::pin(object.serve(request)).await,
                        Err(exception) => receipt.system_exception(&exception),
                    }
                });
            }
        };
        let mut start = |request| {
            let mut request = Some(request);
            skeleton.start(Incoming::Message(IncomingRequest::new(
                &mut request,
                outcome,
            )))
        };
        let name = request.operation();
        if name.starts_with(b"_get_") || name.starts_with(b"_set_") {
            return start(request);
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
            _ => return start(request),
        };
        Upcall::ready(answer)
    }
}

fn is_a(skeleton: &dyn Skeleton, repository_id: &str) -> bool {
    repository_id == OBJECT_REPOSITORY_ID || skeleton.is_a(repository_id)
}

impl fmt::Debug for ActiveObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveObject")
            .field("type_id", &self.type_id())
            .field("forward", &self.forward())
            .field("manager", &self.manager)
            .finish()
    }
}

/// What the state of a manager means for a new request, once it is not HOLDING.
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

#[cfg(test)]
mod tests {
    use super::*;

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
