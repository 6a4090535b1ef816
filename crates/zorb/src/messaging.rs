//! Asynchronous calls of the Messaging specification: reply handlers and pollers, for IDL that is compiled with the option
//! `ami`.
//!
//! Futures are the plain way to do something else while a call goes on; these are for programs that are built on callbacks or
//! pollers. An interface `Quoter` has, beside `QuoterRef::quote`:
//! - `QuoterRef::sendc_quote`, which sends the request and returns. Its first argument is a reference to an object of interface
//!   `AMI_QuoterHandler`, in Rust a servant of trait `AmiQuoterHandler`: the ORB calls `quote` with the results, or `quote_excep`
//!   with the exception. Without a handler the reply is dropped.
//! - `QuoterRef::sendp_quote`, which sends the request and returns an `AmiQuoterPoller`. Its method `quote` waits for the reply, as
//!   long as its caller says.
//!
//! Arguments are owned, since the call goes on when the method has returned. What holds for every call holds for these:
//! policies (those of the caller when it sends), interceptors, forwards. A time limit that passes is TIMEOUT, in the handler, too.
//!
//! A handler is an object like any other: it is activated in a POA of an ORB that listens, and may be in another process. It
//! is called once for each request, by a thread of the ORB's, also while the program waits for something else, and never within
//! `sendc_…`. One that panics, or never returns, delays no other. When the ORB shuts down, calls that still wait end with
//! BAD_INV_ORDER, and their handlers are called before the servants go; the shutdown waits for them.
//!
//! ```
//! zorb::idl! {
//!     #![idl(ami)]
//!     module Stock {
//!         exception Unknown {};
//!         interface Quoter {
//!             double quote(in string symbol) raises (Unknown);
//!         };
//!     };
//! }
//! use core::time::Duration;
//! use stock::quoter::QuoteError;
//! use stock::{AmiQuoterHandler, AmiQuoterHandlerServant, AmiQuoterPoller, QuoterRef};
//!
//! struct Printer;
//!
//! impl AmiQuoterHandler for Printer {
//!     async fn quote(&self, ami_return_val: f64) -> Result<(), zorb::SystemException> {
//!         println!("{ami_return_val}");
//!         Ok(())
//!     }
//!
//!     async fn quote_excep(&self, excep_holder: &QuoteError) -> Result<(), zorb::SystemException> {
//!         println!("{excep_holder}");
//!         Ok(())
//!     }
//! }
//!
//! async fn ask(orb: &zorb::Orb, quoter: &QuoterRef) -> Result<(), Box<dyn std::error::Error>> {
//!     let printer = orb.root_poa().activate(AmiQuoterHandlerServant::new(Printer))?;
//!     quoter.sendc_quote(&printer, "ACME");
//!
//!     let poller: AmiQuoterPoller = quoter.sendp_quote("ACME");
//!     println!("{}", poller.quote(Some(Duration::from_secs(1))).await?);
//!     Ok(())
//! }
//! ```
//!
//! Source: CORBA 3.3 Part 1, CORBA Messaging (asynchronous method invocation).

pub use crate::pollable_set::{Pollable, PollableSet};
pub use generated::all::messaging::*;

use crate::dynamic::begin;
use crate::interface::{Interface, IntoReference};
use crate::object::ObjectRef;
use crate::orb::OrbInner;
use crate::value::{Value, ValueCodec};
use bytes::Bytes;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio_util::task::task_tracker::TaskTrackerToken;
use zorb_cdr::{
    BigEndian, ByteOrder, Codec, DecodeError, Decoder, EncodeError, Encoder, LittleEndian,
    NativeEndian, SendCodec,
};
use zorb_giop::{
    CompletionStatus, Fault, OperationError, SystemException, SystemExceptionKind, minor,
};

#[allow(missing_docs, reason = "documented in the specification")]
mod generated {
    #[zorb_idl_macros::idl_file("idl/messaging.idl", crate = "crate")]
    pub mod all {}
}

tokio::task_local! {
    /// Set while a reply handler is called.
    static REPLYING: ();
}

/// Whether this task calls a reply handler, which ends a call that began before the ORB was to shut down.
pub(crate) fn is_replying() -> bool {
    REPLYING.try_with(|()| ()).is_ok()
}

/// The codec of the exceptions of an operation, for its reply handler: a `Messaging::ExceptionHolder`.
#[derive(Debug)]
pub struct ExceptionHolderCodec<E>(PhantomData<E>);

impl<E: OperationError + Send + Sync + 'static> Codec for ExceptionHolderCodec<E> {
    type Value = E;
    type Borrowed = E;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(error: &E, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        let mut marshaled = Encoder::<NativeEndian>::new(e.format());
        match error.system() {
            Some(exception) => marshaled.put(exception)?,
            None => error.encode_user(&mut marshaled)?,
        }
        let holder = ExceptionHolder {
            is_system_exception: error.system().is_some(),
            byte_order: NativeEndian::ENDIAN.is_little(),
            marshaled_exception: Bytes::from(marshaled.finish().to_vec()),
        };
        ValueCodec::encode(&Some(Value::new(holder)), e)
    }

    /// Contents that are no exception of the operation are MARSHAL or UNKNOWN, as in a reply: the handler has to learn that the
    /// call has ended.
    fn decode<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<E, DecodeError> {
        let holder = ValueCodec::<ExceptionHolder>::decode(d)?;
        let Some(holder) = holder else {
            let why = "the reply handler got no exception".to_owned();
            let exception = Fault::BadParameter(why).raise(CompletionStatus::Maybe);
            return Ok(E::from(exception.received()));
        };
        let holder = holder.read();
        let octets = &holder.marshaled_exception;
        Ok(match holder.byte_order {
            true => raised(
                holder.is_system_exception,
                &mut d.apart::<LittleEndian>(octets),
            ),
            false => raised(
                holder.is_system_exception,
                &mut d.apart::<BigEndian>(octets),
            ),
        })
    }
}

impl<E: OperationError + Send + Sync + 'static> SendCodec for ExceptionHolderCodec<E> {}

/// The exception in the octets of a holder.
fn raised<O: ByteOrder, E: OperationError>(is_system: bool, d: &mut Decoder<'_, O>) -> E {
    let malformed = |error| {
        let exception = Fault::Decode(error).raise(CompletionStatus::Maybe);
        E::from(exception.received())
    };
    if is_system {
        let exception = d.get::<SystemException>();
        return exception.map_or_else(malformed, |exception| E::from(exception.received()));
    }
    let id = match d.read_raw_string() {
        Ok(id) => id,
        Err(error) => return malformed(error),
    };
    match E::decode_user(id, d) {
        Some(exception) => exception.unwrap_or_else(malformed),
        None => {
            let id = String::from_utf8_lossy(id).into_owned();
            let unlisted = Fault::UnlistedException(id).raise(CompletionStatus::Maybe);
            E::from(unlisted.received())
        }
    }
}

/// The call, ended by the shutdown of its ORB.
async fn until_shutdown<T, E: OperationError>(
    orb: Arc<OrbInner>,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::select! {
        biased;
        outcome = call => outcome,
        () = orb.stopped() => Err(E::from(shut_down())),
    }
}

fn shut_down() -> SystemException {
    Fault::OrbShutDown.raise(CompletionStatus::Maybe)
}

/// Calls a reply handler, in a task of its own: it may do what it wants.
fn reply(
    orb: &OrbInner,
    pending: Option<TaskTrackerToken>,
    delivery: impl Future<Output = Result<(), SystemException>> + Send + 'static,
) {
    orb.track(async move {
        if let Err(error) = REPLYING.scope((), delivery).await {
            tracing::warn!(%error, "a reply handler failed");
        }
        drop(pending);
    });
}

/// The end of a call, which happens once: with its outcome, or, if its runtime has ended before, when this is dropped.
struct Ending<T, E: OperationError, D: FnOnce(Result<T, E>)> {
    deliver: Option<D>,
    outcome: PhantomData<fn(Result<T, E>)>,
}

impl<T, E: OperationError, D: FnOnce(Result<T, E>)> Ending<T, E, D> {
    const fn new(deliver: D) -> Self {
        Self {
            deliver: Some(deliver),
            outcome: PhantomData,
        }
    }

    fn end(mut self, outcome: Result<T, E>) {
        if let Some(deliver) = self.deliver.take() {
            deliver(outcome);
        }
    }
}

impl<T, E: OperationError, D: FnOnce(Result<T, E>)> Drop for Ending<T, E, D> {
    fn drop(&mut self) {
        if let Some(deliver) = self.deliver.take() {
            deliver(Err(E::from(shut_down())));
        }
    }
}

/// Begins a call whose outcome a reply handler gets. For generated code.
pub fn send_to_handler<H, T, E, F>(
    object: &ObjectRef,
    handler: Option<H>,
    call: impl Future<Output = Result<T, E>> + Send + 'static,
    deliver: impl FnOnce(H, Result<T, E>) -> F + Send + 'static,
) where
    H: Interface,
    T: Send + 'static,
    E: OperationError + Send + 'static,
    F: Future<Output = Result<(), SystemException>> + Send + 'static,
{
    let orb = Arc::clone(object.orb().inner());
    let call = until_shutdown(Arc::clone(&orb), call);
    // The shutdown waits for the handler of a call, but not for the reply to one without.
    let pending = handler.is_some().then(|| orb.task());
    let ending = Ending::new(move |outcome| {
        if let Some(handler) = handler {
            reply(&orb, pending, deliver(handler, outcome));
        }
    });
    let _goes_on = begin(object, call, move |outcome| ending.end(outcome));
}

/// An outcome that its caller has not asked for yet.
trait Reply: Send {
    fn to_handler(self: Box<Self>, handler: &ReplyHandlerRef) -> Delivery;
    /// The `Result`.
    fn into_outcome(self: Box<Self>) -> Box<dyn Any + Send>;
}

type Delivery = Pin<Box<dyn Future<Output = Result<(), SystemException>> + Send>>;

struct TypedReply<T, E, D, H> {
    outcome: Result<T, E>,
    deliver: D,
    handler: PhantomData<fn(H)>,
}

impl<T, E, D, H, F> Reply for TypedReply<T, E, D, H>
where
    T: Send + 'static,
    E: Send + 'static,
    D: FnOnce(H, Result<T, E>) -> F + Send,
    H: Interface,
    F: Future<Output = Result<(), SystemException>> + Send + 'static,
{
    fn to_handler(self: Box<Self>, handler: &ReplyHandlerRef) -> Delivery {
        let handler = H::unchecked_narrow(handler.as_object().clone());
        Box::pin((self.deliver)(handler, self.outcome))
    }

    fn into_outcome(self: Box<Self>) -> Box<dyn Any + Send> {
        Box::new(self.outcome)
    }
}

enum State {
    /// The call goes on. A handler, if there is one, gets the reply instead of the poller.
    Pending(Option<ReplyHandlerRef>),
    Ready(Box<dyn Reply>),
    Delivered,
}

struct Shared {
    target: ObjectRef,
    operation: &'static str,
    state: Mutex<State>,
    changed: Notify,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_pending(&self) -> bool {
        matches!(*self.state(), State::Pending(_))
    }

    fn put(&self, reply: Box<dyn Reply>) {
        let mut state = self.state();
        match core::mem::replace(&mut *state, State::Delivered) {
            State::Pending(Some(handler)) => {
                drop(state);
                self.deliver(reply, &handler);
            }
            _ => {
                *state = State::Ready(reply);
                drop(state);
            }
        }
        self.changed.notify_waiters();
    }

    fn deliver(&self, to: Box<dyn Reply>, handler: &ReplyHandlerRef) {
        let orb = self.target.orb().inner();
        reply(orb, Some(orb.task()), to.to_handler(handler));
    }
}

/// Begins a call whose outcome a poller gets. For generated code.
pub fn send_to_poller<H, T, E, F>(
    object: &ObjectRef,
    operation: &'static str,
    call: impl Future<Output = Result<T, E>> + Send + 'static,
    deliver: impl FnOnce(H, Result<T, E>) -> F + Send + 'static,
) -> Poller
where
    H: Interface,
    T: Send + 'static,
    E: OperationError + Send + 'static,
    F: Future<Output = Result<(), SystemException>> + Send + 'static,
{
    let shared = Arc::new(Shared {
        target: object.clone(),
        operation,
        state: Mutex::new(State::Pending(None)),
        changed: Notify::new(),
    });
    let call = until_shutdown(Arc::clone(object.orb().inner()), call);
    let to = Arc::clone(&shared);
    let ending = Ending::new(move |outcome| {
        to.put(Box::new(TypedReply {
            outcome,
            deliver,
            handler: PhantomData::<fn(H)>,
        }));
    });
    let task = begin(object, call, move |outcome| ending.end(outcome));
    Poller {
        shared,
        task,
        is_from_poller: AtomicBool::new(false),
    }
}

/// The reply to a call, which is asked for: `Messaging::Poller`.
///
/// The pollers of interfaces, such as `AmiQuoterPoller`, dereference to it, and have a method for each operation. The reply is
/// handed out once. Dropping a poller cancels its call, unless a handler is associated.
///
/// A [`PollableSet`] waits for any of several.
///
/// Costs a task and some allocations for each call. Source: CORBA 3.3 Part 1, CORBA Messaging (`Messaging::Poller`).
#[must_use = "a call whose poller is dropped is cancelled"]
pub struct Poller {
    shared: Arc<Shared>,
    task: Option<AbortHandle>,
    is_from_poller: AtomicBool,
}

impl Poller {
    /// The object that was called.
    #[must_use]
    pub fn operation_target(&self) -> &ObjectRef {
        &self.shared.target
    }

    /// The name of the method of the poller by which the reply is asked for: the operation's, `get_…` or `set_…` for an
    /// attribute.
    #[must_use]
    pub fn operation_name(&self) -> &'static str {
        self.shared.operation
    }

    /// The handler that gets the reply instead of this poller.
    #[must_use]
    pub fn associated_handler(&self) -> Option<ReplyHandlerRef> {
        match &*self.shared.state() {
            State::Pending(handler) => handler.clone(),
            State::Ready(_) | State::Delivered => None,
        }
    }

    /// Has a handler get the reply, at once if it is there, or the poller again if it is nil. The handler has to be one of the
    /// interface that declares the operation; a call to another one fails.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the reply has been handed out.
    pub fn set_associated_handler(
        &self,
        handler: impl IntoReference<ReplyHandlerRef>,
    ) -> Result<(), SystemException> {
        let handler = handler.into_reference();
        let mut state = self.shared.state();
        match (&mut *state, handler) {
            (State::Pending(associated), handler) => *associated = handler,
            (State::Ready(_), None) => {}
            (State::Ready(_), Some(handler)) => {
                let ready = core::mem::replace(&mut *state, State::Delivered);
                drop(state);
                if let State::Ready(reply) = ready {
                    self.shared.deliver(reply, &handler);
                }
            }
            (State::Delivered, _) => return Err(delivered()),
        }
        Ok(())
    }

    /// Whether the last exception of this poller's methods is its own, as opposed to one that the reply holds. Both may be
    /// TIMEOUT.
    #[must_use]
    pub fn is_from_poller(&self) -> bool {
        self.is_from_poller.load(Ordering::Relaxed)
    }

    /// Waits until the call has ended, and says whether it has: up to `timeout`, of which zero does not wait, or for ever.
    ///
    /// # Cancel safety
    /// Safe: no reply is lost.
    pub async fn is_ready(&self, timeout: Option<Duration>) -> bool {
        let ended = async {
            loop {
                let mut changed = core::pin::pin!(self.shared.changed.notified());
                changed.as_mut().enable();
                if !self.shared.is_pending() {
                    return;
                }
                changed.await;
            }
        };
        let Some(timeout) = timeout else {
            ended.await;
            return true;
        };
        if timeout.is_zero() || !self.shared.is_pending() {
            return !self.shared.is_pending();
        }
        let limit = {
            let _runtime = self.shared.target.runtime().enter();
            tokio::time::sleep(timeout)
        };
        tokio::select! {
            biased;
            () = ended => true,
            () = limit => false,
        }
    }

    /// Waits for the reply and takes it. For generated code.
    ///
    /// # Errors
    /// The exceptions of the operation. Of the poller: TIMEOUT if there is no reply yet, NO_RESPONSE if the caller did not wait;
    /// OBJECT_NOT_EXIST if it has been handed out, BAD_OPERATION for another operation.
    #[doc(hidden)]
    pub async fn reply<T, E>(
        &self,
        operation: &'static str,
        timeout: Option<Duration>,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: OperationError + Send + 'static,
    {
        let taken = self.take(operation, timeout).await;
        self.is_from_poller.store(taken.is_err(), Ordering::Relaxed);
        let outcome = taken.map(|reply| reply.into_outcome().downcast::<Result<T, E>>());
        match outcome {
            Ok(Ok(outcome)) => *outcome,
            Ok(Err(_)) => Err(E::from(bad_operation(operation))),
            Err(exception) => Err(E::from(exception)),
        }
    }

    async fn take(
        &self,
        operation: &'static str,
        timeout: Option<Duration>,
    ) -> Result<Box<dyn Reply>, SystemException> {
        if operation != self.shared.operation {
            return Err(bad_operation(operation));
        }
        if !self.is_ready(timeout).await {
            return Err(time_up(
                timeout,
                "there is no reply to the poller's call yet",
            ));
        }
        match core::mem::replace(&mut *self.shared.state(), State::Delivered) {
            State::Ready(reply) => Ok(reply),
            // A call that has ended is not pending again.
            State::Pending(_) | State::Delivered => Err(delivered()),
        }
    }
}

/// The exception of a wait that ended without a reply.
pub(crate) fn time_up(timeout: Option<Duration>, detail: &str) -> SystemException {
    let kind = match timeout {
        Some(Duration::ZERO) => SystemExceptionKind::NoResponse,
        _ => SystemExceptionKind::Timeout,
    };
    SystemException::new(kind, 0, CompletionStatus::Maybe).with_local_detail(detail)
}

fn delivered() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::ObjectNotExist, minor::REPLY_DELIVERED);
    SystemException::new(kind, minor, CompletionStatus::No)
}

fn bad_operation(operation: &str) -> SystemException {
    let exception =
        SystemException::new(SystemExceptionKind::BadOperation, 0, CompletionStatus::No);
    exception.with_local_detail(format_args!("the poller is not one of {operation}"))
}

impl Drop for Poller {
    fn drop(&mut self) {
        let is_unwanted = matches!(*self.shared.state(), State::Pending(None));
        if let Some(task) = self.task.take().filter(|_| is_unwanted) {
            task.abort();
        }
    }
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller")
            .field("target", &self.shared.target)
            .field("operation", &self.shared.operation)
            .field("is_pending", &self.shared.is_pending())
            .finish_non_exhaustive()
    }
}

/// Implements the conversions of the poller of an interface.
#[doc(hidden)]
#[macro_export]
macro_rules! __poller {
    ($name:ident => [$($base:ty),* $(,)?]) => {
        impl ::core::convert::From<$crate::messaging::Poller> for $name {
            fn from(poller: $crate::messaging::Poller) -> Self {
                Self { poller }
            }
        }

        impl ::core::convert::From<$name> for $crate::messaging::Poller {
            fn from(poller: $name) -> Self {
                poller.poller
            }
        }

        impl ::core::ops::Deref for $name {
            type Target = $crate::messaging::Poller;

            fn deref(&self) -> &Self::Target {
                &self.poller
            }
        }

        $(
            impl ::core::convert::From<$name> for $base {
                fn from(poller: $name) -> Self {
                    <Self as ::core::convert::From<$crate::messaging::Poller>>::from(poller.poller)
                }
            }
        )*
    };
}
