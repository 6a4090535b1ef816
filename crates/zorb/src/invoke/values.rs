//! Calls to objects of the same ORB without a message: arguments and results are handed over as they are.
//!
//! Only for what is known and simple: a servant that is active, behind a manager that is too, which the reference itself
//! leads to and an earlier call has found. Everything else goes the way of messages, `local`; so do exceptions, of which
//! nothing has to be fast.

use super::reply::{Answer, Reply};
use crate::object::ObjectRef;
use crate::orb::{Orb, OrbInner};
use crate::signature::{GiveAll, Parameters, Results};
use crate::wire::{Arrived, caught, enter};
use core::any::{Any, TypeId};
use core::future::poll_fn;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use tokio::sync::oneshot;
use zorb_cdr::{EncodeError, WireFormat};
use zorb_giop::{
    CompletionStatus, Fault, Message, ProtocolError, ResponseFlags, SystemException, Version,
};
use zorb_poa::{ActiveObject, Outcome, Receipt, State, Typed, Upcall};

/// How exceptions are told.
const RECEIPT: Receipt = Receipt {
    version: Version::HIGHEST,
    request_id: 0,
    response: ResponseFlags::WithTarget,
    format: WireFormat::DEFAULT,
};

/// What such a call has ended with: `None` when the results are where they belong.
type Called = Result<Option<Reply>, SystemException>;

/// What became of a call by values at its first poll.
pub(super) enum Near<'a> {
    /// Nothing: it has to go as a message.
    Away,
    Over(Called),
    /// The upcall is under way by itself.
    Begun(Pin<Box<dyn Future<Output = Called> + Send + 'a>>),
}

/// A call by values, without their types.
pub(super) trait Values: Send {
    /// Begins the upcall, if `object` is a servant and knows the types: else it is [untyped](Upcall::untyped).
    ///
    /// # Errors
    /// What could not be said on the wire.
    fn start(
        &self,
        object: &ActiveObject,
        operation: &str,
        receipt: Receipt,
    ) -> Result<Upcall, EncodeError>;

    /// Where the results belong: an `Option` of their type.
    fn results(&mut self) -> &mut (dyn Any + Send);

    /// A place of the same type, for an upcall that goes on by itself.
    fn place(&self) -> Box<dyn Any + Send>;

    /// Takes the results from such a place.
    fn take(&mut self, place: Box<dyn Any + Send>);
}

/// A call by values.
pub(super) struct ByValues<'a, P, R: Results, A> {
    orb: &'a Orb,
    arguments: &'a A,
    results: Option<R::Values>,
    parameters: PhantomData<fn() -> P>,
}

impl<'a, P, R: Results, A> ByValues<'a, P, R, A> {
    /// A call through a reference of `orb`.
    pub(super) const fn new(orb: &'a Orb, arguments: &'a A) -> Self {
        Self {
            orb,
            arguments,
            results: None,
            parameters: PhantomData,
        }
    }

    /// The results, if it has ended with some.
    pub(super) fn into_results(self) -> Option<R::Values> {
        self.results
    }
}

impl<P, R, A> Values for ByValues<'_, P, R, A>
where
    P: Parameters,
    R: Results,
    A: GiveAll<P> + Sync,
{
    fn start(
        &self,
        object: &ActiveObject,
        operation: &str,
        receipt: Receipt,
    ) -> Result<Upcall, EncodeError> {
        let mut arguments = Some(self.arguments.give(self.orb)?);
        Ok(object.start_typed(Typed {
            operation,
            receipt,
            arguments: &mut arguments,
            results: TypeId::of::<R::Values>(),
        }))
    }

    fn results(&mut self) -> &mut (dyn Any + Send) {
        &mut self.results
    }

    fn place(&self) -> Box<dyn Any + Send> {
        Box::new(None::<R::Values>)
    }

    fn take(&mut self, place: Box<dyn Any + Send>) {
        if let Ok(results) = place.downcast() {
            self.results = *results;
        }
    }
}

impl ObjectRef {
    /// Calls the object if it is one of this very ORB and takes the values. Allocates nothing if the upcall is ready at
    /// its first poll; else it becomes a task, which goes on whatever becomes of its caller.
    #[inline]
    pub(super) fn call_near<'a>(&'a self, operation: &str, values: &'a mut dyn Values) -> Near<'a> {
        match self.near() {
            None => Near::Away,
            Some(object) => self.call_object(&object, operation, values),
        }
    }

    fn call_object<'a>(
        &'a self,
        object: &ActiveObject,
        operation: &str,
        values: &'a mut dyn Values,
    ) -> Near<'a> {
        // A text that is to be mislabelled is what a message makes of it.
        // And a time limit counts from before the servant is called.
        if object.manager().state() != State::Active
            || self.char_code_set().is_some()
            || self.round_trip_timeout().is_some()
        {
            return Near::Away;
        }
        let orb = self.orb().inner();
        let begun = caught(|| values.start(object, operation, RECEIPT))
            .unwrap_or_else(|panic| Ok(Upcall::ready(RECEIPT.system_exception(&panic))));
        let mut upcall = match begun {
            Ok(upcall) if upcall.is_untyped() => return Near::Away,
            Ok(upcall) => upcall,
            Err(error) => {
                return Near::Over(Err(Fault::Encode(error).raise(CompletionStatus::No)));
            }
        };
        let mut cx = Context::from_waker(Waker::noop());
        match run(orb, &mut upcall, &mut cx, values.results()) {
            Poll::Ready(Outcome::Silent) => Near::Over(Ok(None)),
            Poll::Ready(Outcome::Reply(reply)) => Near::Over(self.exception(reply)),
            Poll::Pending => Near::Begun(Box::pin(self.go_on(upcall, values))),
        }
    }

    async fn go_on(&self, mut upcall: Upcall, values: &mut dyn Values) -> Called {
        let orb = Arc::clone(self.orb().inner());
        let mut place = values.place();
        let (over, outcome) = oneshot::channel();
        let inner = Arc::clone(&orb);
        orb.track(async move {
            let outcome = poll_fn(|cx| run(&inner, &mut upcall, cx, &mut *place)).await;
            // Whoever is gone wants no answer.
            let _ = over.send((outcome, place));
        });
        let (outcome, place) = outcome.await.map_err(|_| runtime_gone())?;
        values.take(place);
        match outcome {
            Outcome::Silent => Ok(None),
            Outcome::Reply(reply) => self.exception(reply),
        }
    }

    /// The exception that an upcall has ended with.
    #[cold]
    fn exception(&self, reply: zorb_cdr::Gather) -> Called {
        let broken = |error| self.broken(error, CompletionStatus::Maybe);
        let arrived = Arrived {
            message: Message::from_gather(reply).map_err(broken)?,
            head: None,
        };
        match self.read_reply_in(arrived, WireFormat::DEFAULT)? {
            Answer::Reply(reply) => Ok(Some(reply)),
            Answer::Exception(exception) => Err(exception),
            // Servants do not forward.
            Answer::Forward(_) | Answer::Readdress(_) => {
                Err(broken(ProtocolError::WrongDirection {
                    kind: zorb_giop::MessageKind::Reply,
                }))
            }
        }
    }
}

/// Polls an upcall.
fn run(
    orb: &OrbInner,
    upcall: &mut Upcall,
    cx: &mut Context<'_>,
    results: &mut (dyn Any + Send),
) -> Poll<Outcome> {
    enter(orb, || upcall.poll_into(cx, results))
        .unwrap_or_else(|panic| Poll::Ready(RECEIPT.system_exception(&panic)))
}

#[cold]
fn runtime_gone() -> SystemException {
    let fault = Fault::ConnectionLost {
        endpoint: "this ORB".to_owned(),
        cause: "its runtime has shut down".to_owned(),
    };
    fault.raise(CompletionStatus::Maybe)
}
