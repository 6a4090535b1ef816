//! One call, from a stub to its result.
//!
//! The steps: **bind** (`ObjectRef::binding`), **header, contexts, arguments, send, wait, match the reply**
//! ([`zorb_connection::ClientConnection::call`]), **decode** ([`reply`]), and **forward or send again** ([`retry`]). A
//! collocated call takes the same steps, and calls the servant instead of sending the request ([`collocated`]).
//!
//! - this file: the entry points of stubs, and the loop of one call;
//! - `retry`: forwards, other addressing modes, and requests that are sent again;
//! - `reply`: the result in a reply;
//! - `collocated`: calls to objects of the same ORB;
//! - `typed_call`: arguments and results of collocated calls that are not marshalled;
//! - `sync_none`: one-way requests that do not wait for their connection;
//! - `buffered`: one-way requests that wait for others, to leave in a batch;
//! - `limits`: time limits, and the policies of a task;
//! - `locate`: LocateRequest;
//! - `prioritised`: calls at a priority;
//! - `contexts`: the service contexts of a request;
//! - `in_memory`: whether an object has an operation whose values lie in memory;
//! - `intercepted`: the interception points of a call.

mod buffered;
mod collocated;
mod contexts;
pub(crate) mod in_memory;
mod intercepted;
mod limits;
mod locate;
mod prioritised;
mod reply;
mod retry;
mod scope;
mod sync_none;
mod typed_call;

use crate::interceptors::ClientFlow;
use crate::object::{Binding, BindingGuard, ObjectRef, Remote, Target};
use crate::observe;
use crate::policy::SyncScope;
use crate::signature::{TypedArguments, TypedResults};
use collocated::Collocated;
use contexts::Contexts;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use intercepted::end_of_success;
pub(crate) use retry::Retries;
use scope::supported;
use std::time::Instant;
use typed_call::{TypedCall, TypedInvocation};
use zorb_cdr::{Encode, EncodeError, Encoder, Lent, NativeEndian, WireFormat};
use zorb_connection::{CallError, ClientRequest, Counter, EncodeArguments, OneWayMode};
use zorb_executor::WaitPolicy;
use zorb_giop::{
    CompletionStatus, Fault, OperationError, ReplySlot, ResponseFlags, ServiceContext,
    SystemException,
};
use zorb_poa::signature::{Parameters, Results};

/// Encodes the arguments of a request to an object.
struct Encoding<'a, A> {
    arguments: &'a A,
}

impl<A: Encode + Sync> EncodeArguments for Encoding<'_, A> {
    fn encode(&self, e: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
        e.put(self.arguments)
    }

    fn encode_lent<'l>(
        &'l self,
        e: &mut Encoder<NativeEndian>,
        lent: &mut Option<Lent<'l>>,
    ) -> Result<(), EncodeError> {
        self.arguments.encode_lent(e, lent)
    }
}

/// A call in progress: the client's state of a request.
pub(crate) struct Invocation<'a> {
    operation: &'a str,
    arguments: &'a dyn EncodeArguments,
    /// The arguments and results of a call that is not marshalled if it is collocated.
    typed: Option<&'a mut dyn TypedCall>,
    /// The response flags: whether and at which point the server replies.
    response: ResponseFlags,
    /// Whether a one-way request may leave in a batch (SYNC_NONE).
    batched: bool,
    /// Whether the operation is chosen at run time, by more than IDL.
    is_dynamic: bool,
    /// The deadline of the call.
    deadline: Option<Instant>,
    /// Service contexts for this attempt, if any.
    contexts: Option<Box<Contexts>>,
    /// The service context of the call's priority, while `contexts` is `None`.
    priority: Option<ServiceContext>,
    /// Set from the write of the request on, so that a cancelled or late call knows whether the servant may have run.
    sent: &'a AtomicBool,
    /// Octets of the encoded request, for error texts.
    octets: AtomicUsize,
    /// The interceptors that an attempt has passed.
    flow: ClientFlow,
}

impl<'a> Invocation<'a> {
    #[inline]
    fn new(operation: &'a str, arguments: &'a dyn EncodeArguments, sent: &'a AtomicBool) -> Self {
        Self {
            operation,
            arguments,
            typed: None,
            response: ResponseFlags::WithTarget,
            batched: false,
            is_dynamic: false,
            deadline: None,
            contexts: None,
            priority: None,
            sent,
            octets: AtomicUsize::new(0),
            flow: ClientFlow::default(),
        }
    }

    /// The request on a connection to its object.
    #[inline]
    fn request<'r>(&'r self, remote: &'r Remote, wait: Option<WaitPolicy>) -> ClientRequest<'r> {
        ClientRequest {
            template: &remote.requests,
            operation: self.operation,
            arguments: self.arguments,
            contexts: self.contexts(),
            response: supported(self.response, remote.requests.version()),
            wait,
            sent: self.sent,
            octets: &self.octets,
        }
    }
}

/// Where the result of a call is.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    /// In the reply, which is decoded by this format.
    Reply(WireFormat),
    /// In the typed call, if the operation has a result.
    Typed,
}

/// How a call goes on whose object is not bound.
enum Next {
    /// It is done: it waits for its connection.
    Done,
    /// With this binding.
    At(BindingGuard),
    /// With a binding that has to be made.
    Bind,
}

impl ObjectRef {
    /// Calls an operation and waits for its result. For generated stubs.
    ///
    /// # Errors
    /// The exceptions of the operation, and system exceptions of the ORB.
    ///
    /// # Cancel safety
    /// Safe for the connection: a write that has begun is finished, and the server gets a CancelRequest unless it may
    /// be one that mishandles it. The caller does not learn whether the operation was carried out.
    #[doc(hidden)]
    #[expect(
        clippy::manual_async_fn,
        reason = "it says that the future is `Send`, so that rustc need not find out for each stub"
    )]
    pub fn invoke<'a, A, R, E>(
        &'a self,
        operation: &'a str,
        arguments: A,
    ) -> impl Future<Output = Result<R::Values, E>> + Send + 'a
    where
        A: Encode + Send + Sync + 'a,
        R: Results,
        E: OperationError,
    {
        async move {
            let (encoding, sent) = (self.encoding(&arguments), AtomicBool::new(false));
            let mut invocation = Invocation::new(operation, &encoding, &sent);
            let mut reply = ReplySlot::new();
            match self.perform(&mut invocation, &mut reply).await {
                Ok(Outcome::Reply(format)) => {
                    self.result::<R, E>(&reply, format, invocation.deadline)
                }
                Ok(Outcome::Typed) => Err(reply::raised(reply::internal())),
                Err(exception) => Err(reply::raised(exception)),
            }
        }
    }

    /// Calls an operation. A collocated call may pass arguments and results as Rust values, without marshalling. For
    /// generated stubs.
    ///
    /// # Errors
    /// Returns the errors of [`invoke`](Self::invoke).
    ///
    /// # Cancel safety
    /// That of [`invoke`](Self::invoke). An upcall of a collocated call that has begun goes on.
    #[doc(hidden)]
    #[expect(
        clippy::manual_async_fn,
        reason = "it says that the future is `Send`, so that rustc need not find out for each stub"
    )]
    pub fn call<'a, P, R, E, A>(
        &'a self,
        operation: &'a str,
        arguments: A,
    ) -> impl Future<Output = Result<R::Values, E>> + Send + 'a
    where
        P: Parameters + 'a,
        R: TypedResults,
        E: OperationError,
        A: TypedArguments<P> + 'a,
    {
        async move {
            let (encoding, sent) = (self.encoding(&arguments), AtomicBool::new(false));
            let mut typed = TypedInvocation::<P, R, A>::new(self.orb(), &arguments);
            let mut invocation = Invocation::new(operation, &encoding, &sent);
            invocation.typed = Some(&mut typed);
            let mut reply = ReplySlot::new();
            match self.perform(&mut invocation, &mut reply).await {
                Ok(Outcome::Reply(format)) => {
                    self.result::<R, E>(&reply, format, invocation.deadline)
                }
                Ok(Outcome::Typed) => self.convert::<R, E>(typed.into_results()),
                Err(exception) => Err(reply::raised(exception)),
            }
        }
    }

    /// Calls a one-way operation; ready at the point that its [`SyncScope`] names. For generated stubs.
    ///
    /// # Errors
    /// Failures up to the point that the scope waits for; later failures are not reported.
    ///
    /// # Cancel safety
    /// Safe for the connection. The caller does not learn whether the request was sent.
    #[doc(hidden)]
    #[expect(
        clippy::manual_async_fn,
        reason = "it says that the future is `Send`, so that rustc need not find out for each stub"
    )]
    pub fn invoke_oneway<'a, A>(
        &'a self,
        operation: &'a str,
        arguments: A,
    ) -> impl Future<Output = Result<(), SystemException>> + Send + 'a
    where
        A: Encode + Send + Sync + 'a,
    {
        async move {
            // A loop of one-way calls may never be pending: yields to other tasks when the budget is used up.
            tokio::task::coop::consume_budget().await;
            let (encoding, sent) = (self.encoding(&arguments), AtomicBool::new(false));
            let mut invocation = Invocation::new(operation, &encoding, &sent);
            let scope = self.sync_scope();
            invocation.response = scope::response(scope).unwrap_or(ResponseFlags::None);
            invocation.batched = scope == SyncScope::None;
            let mut reply = ReplySlot::new();
            match self.perform(&mut invocation, &mut reply).await {
                // A user exception, which one-way operations do not declare, is UNKNOWN.
                Ok(Outcome::Reply(format)) => {
                    self.result::<(), SystemException>(&reply, format, invocation.deadline)
                }
                Ok(Outcome::Typed) => Ok(()),
                Err(exception) => Err(exception.received()),
            }
        }
    }

    /// Calls a one-way operation whose request is never kept for later: its arguments need the header of their message.
    pub(crate) async fn invoke_oneway_at_once<A: Encode + Sync>(
        &self,
        operation: &str,
        arguments: &A,
    ) -> Result<(), SystemException> {
        let (encoding, sent) = (self.encoding(arguments), AtomicBool::new(false));
        let mut invocation = Invocation::new(operation, &encoding, &sent);
        invocation.response = scope::response(self.sync_scope()).unwrap_or(ResponseFlags::None);
        let mut reply = ReplySlot::new();
        match self.perform(&mut invocation, &mut reply).await {
            Ok(Outcome::Reply(format)) => {
                self.result::<(), SystemException>(&reply, format, invocation.deadline)
            }
            Ok(Outcome::Typed) => Ok(()),
            Err(exception) => Err(exception.received()),
        }
    }

    /// Calls an operation whose parameters are known only at run time, and waits for its reply: afterwards `reply`
    /// holds a result or a user exception of the operation. Returns the format by which the reply is decoded, and the end of
    /// the call's time limit.
    pub(crate) async fn invoke_untyped<A: Encode + Sync>(
        &self,
        operation: &str,
        arguments: &A,
        reply: &mut ReplySlot,
    ) -> Result<(WireFormat, Option<Instant>), SystemException> {
        let (encoding, sent) = (self.encoding(arguments), AtomicBool::new(false));
        let mut invocation = Invocation::new(operation, &encoding, &sent);
        invocation.is_dynamic = true;
        match self.perform(&mut invocation, reply).await {
            Ok(Outcome::Reply(format)) => Ok((format, invocation.deadline)),
            Ok(Outcome::Typed) => Err(reply::internal().received()),
            Err(exception) => Err(exception.received()),
        }
    }

    const fn encoding<'a, A: Encode + Sync>(&self, arguments: &'a A) -> Encoding<'a, A> {
        Encoding { arguments }
    }

    /// Makes a call, within its time limit. Afterwards `reply` holds a result or a user exception, unless the outcome
    /// is values.
    #[inline]
    #[expect(
        clippy::manual_async_fn,
        reason = "it says that the future is `Send`, so that rustc need not find out for each entry point, which is generic"
    )]
    fn perform(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> impl Future<Output = Result<Outcome, SystemException>> + Send {
        async move {
            let outcome = match self.is_limited() | observe::is_on(self.orb().inner()) {
                // Boxed, since it is rare and large in comparison with the rest of a call.
                true => Box::pin(self.perform_limited(invocation, reply)).await,
                false => self.request_until_done(invocation, reply).await,
            };
            match invocation.flow.is_open {
                true => Box::pin(self.end_open(invocation, reply, outcome)).await,
                false => outcome,
            }
        }
    }

    /// Binds, sends, waits, and follows forwards.
    async fn request_until_done(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Outcome, SystemException> {
        let interceptors = self.orb().inner().interceptors();
        let mut retries = Retries::default();
        let mut guard = match self.bound()? {
            Some(bound) => bound,
            None => match self.deferred(invocation, reply, &mut retries).await? {
                Next::Done => return Ok(Outcome::Typed),
                Next::At(forwarded) => forwarded,
                Next::Bind => match (self.new_binding().await, interceptors) {
                    (Ok(bound), _) => {
                        invocation.update_deadline();
                        bound
                    }
                    (Err(failed), Some(all)) => {
                        let next = self.unreachable(all, invocation, reply, failed, &mut retries);
                        Box::pin(next).await?
                    }
                    (Err(failed), None) => return Err(failed),
                },
            },
        };
        loop {
            if (guard.get()).is_some_and(|binding| binding.selection.is_some()) {
                guard = match self.at_priority(guard, invocation)? {
                    Ok(bound) => bound,
                    Err(other) => Box::pin(self.bind_prioritised(other)).await?,
                };
            }
            let Some(binding) = guard.get() else {
                return Err(Fault::OrbShutDown.raise(CompletionStatus::No));
            };
            if let Some(all) = interceptors {
                let begun = self.begin_attempt(all, Some(binding), invocation, reply);
                if let Err(interrupt) = begun.await {
                    guard = Box::pin(self.interrupted(interrupt, &mut retries)).await?;
                    continue;
                }
            }
            let sent = match &binding.target {
                Target::Remote(remote) => {
                    let request = invocation.request(remote, self.wait_policy());
                    let connection = &remote.connection;
                    match invocation.response {
                        ResponseFlags::None => {
                            let mode = match invocation.batched {
                                true => self.one_way_mode(invocation),
                                false => OneWayMode::AtOnce,
                            };
                            let sent = connection.send_one_way(&request, mode).await;
                            sent.map(|()| Collocated::Typed)
                        }
                        _ => {
                            let received = connection.call(&request, reply).await;
                            received.map(|()| Collocated::Reply)
                        }
                    }
                }
                Target::Local => self.call_collocated(binding, invocation, reply).await,
            };
            let done = match &sent {
                Ok(Collocated::Typed) => Some(Outcome::Typed),
                Ok(Collocated::Reply) if reply.is_final() => {
                    Some(Outcome::Reply(self.format(binding)))
                }
                _ => None,
            };
            if let Some(outcome) = done {
                let Some(all) = interceptors else {
                    return Ok(outcome);
                };
                let end = end_of_success(outcome, invocation.response, reply);
                let ending = self.end_attempt(all, Some(binding), invocation, reply, end);
                match ending.await.into_interrupt() {
                    None => return Ok(outcome),
                    Some(interrupt) => {
                        guard = Box::pin(self.interrupted(interrupt, &mut retries)).await?;
                        continue;
                    }
                }
            }
            let sent = sent.map(|_| ());
            match &sent {
                // SYNC_NONE: the caller waits neither for room nor for another connection.
                Err(CallError::Overload(_)) if invocation.batched => {
                    return Err(self.refused_one_way());
                }
                Err(CallError::NotSent(_)) if invocation.batched => {
                    self.unbind(binding);
                    match self.deferred(invocation, reply, &mut retries).await? {
                        Next::Done => return Ok(Outcome::Typed),
                        Next::At(_) | Next::Bind => {}
                    }
                }
                Err(CallError::Overload(_)) => self.orb().inner().count(Counter::CallsRefused),
                _ => {}
            }
            // The servant was not reached, or its completion status is known: a time limit from now on is COMPLETED_NO
            // again.
            invocation.sent.store(false, Ordering::Relaxed);
            guard = match interceptors {
                None => {
                    let is_two_way = invocation.response != ResponseFlags::None;
                    let octets = invocation.octets.load(Ordering::Relaxed);
                    let next =
                        self.next_binding(guard, sent, is_two_way, octets, reply, &mut retries);
                    Box::pin(next).await?
                }
                Some(all) => {
                    let next =
                        self.next_intercepted(all, guard, sent, invocation, reply, &mut retries);
                    Box::pin(next).await?
                }
            };
            self.check_request_end(invocation)?;
            invocation.update_deadline();
        }
    }

    /// Queues a request of SYNC_NONE if its connection is still to be made.
    #[inline]
    async fn deferred(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
        retries: &mut Retries,
    ) -> Result<Next, SystemException> {
        match invocation.batched {
            false => Ok(Next::Bind),
            true => Box::pin(self.defer_batched(invocation, reply, retries)).await,
        }
    }

    #[cold]
    async fn defer_batched(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
        retries: &mut Retries,
    ) -> Result<Next, SystemException> {
        if let Some(all) = self.orb().inner().interceptors() {
            let begun = self.begin_attempt(all, None, invocation, reply).await;
            if let Err(interrupt) = begun {
                return Ok(Next::At(self.interrupted(interrupt, retries).await?));
            }
        }
        match self.defer(invocation) {
            // `perform` ends the attempt.
            Some(deferred) => deferred.map(|()| Next::Done),
            None => Ok(Next::Bind),
        }
    }

    /// The format of messages to the target: text to an object of the same ORB is in the code set of the reference, too.
    #[inline]
    fn format(&self, binding: &Binding) -> WireFormat {
        let mut format = binding.format();
        if let (Target::Local, Some(set)) = (&binding.target, self.char_code_set()) {
            format.char_set = set;
        }
        format
    }
}
