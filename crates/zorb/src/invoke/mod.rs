//! One call, from a stub to its result.
//!
//! The steps: **bind** (`ObjectRef::binding`), **header, contexts, arguments, send, wait, match the reply**
//! ([`zorb_connection::ClientConnection::call`]), **decode** ([`reply`]), and **forward or send again** ([`detour`]). A
//! call to an object of the same ORB takes the same steps, with the servant called where the request would be sent
//! ([`collocated`]).
//!
//! - here: what stubs call, and the loop of one call;
//! - `detour`: replies and failures that lead elsewhere;
//! - `reply`: the result in a reply;
//! - `collocated`: calls to objects of the same ORB;
//! - `values`: arguments and results of such calls that are not marshalled;
//! - `deferred`: one-way requests that do not wait for their connection;
//! - `locate`: LocateRequest.

mod collocated;
mod deferred;
mod detour;
mod locate;
mod reply;
mod scope;
mod values;

pub(crate) use deferred::DeferredRequests;
pub(crate) use locate::locate;

pub use scope::SyncScope;

use crate::object::{Binding, BindingGuard, ObjectRef, Target};
use crate::signature::{GiveAll, Parameters, Results, Returned};
use collocated::Collocated;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use detour::Detours;
use scope::supported;
use values::{ByValues, Values};
use zorb_cdr::{Encode, EncodeError, Encoder, NativeEndian, WireFormat};
use zorb_connection::{CallError, ClientRequest, EncodeArguments, blocking};
use zorb_giop::{
    CompletionStatus, Fault, OperationError, ReplySlot, ResponseFlags, SystemException,
};

/// How arguments are encoded into a request to an object.
struct Encoding<'a, A> {
    arguments: &'a A,
}

impl<A: Encode + Sync> EncodeArguments for Encoding<'_, A> {
    fn encode(&self, e: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
        zorb_giop::probe!(Headed);
        let put = e.put_lent(self.arguments);
        zorb_giop::probe!(Marshalled);
        put
    }

    fn lent(&self) -> Option<&[u8]> {
        self.arguments.lent()
    }
}

/// A call on its way to its object: what the client's side knows of a request.
pub(crate) struct Invocation<'a> {
    operation: &'a str,
    arguments: &'a dyn EncodeArguments,
    /// The arguments and results of a call that is not marshalled if it is collocated.
    values: Option<&'a mut dyn Values>,
    /// Whether the server is to reply, and when.
    response: ResponseFlags,
    /// A one-way request may leave together with others (SYNC_NONE).
    batched: bool,
    /// Set while the request is on its way to the servant, whatever becomes of the call.
    sent: &'a AtomicBool,
    /// Octets of the request.
    octets: AtomicUsize,
}

impl<'a> Invocation<'a> {
    #[inline]
    fn new(operation: &'a str, arguments: &'a dyn EncodeArguments, sent: &'a AtomicBool) -> Self {
        Self {
            operation,
            arguments,
            values: None,
            response: ResponseFlags::WithTarget,
            batched: false,
            sent,
            octets: AtomicUsize::new(0),
        }
    }
}

/// Where the result of a call is.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    /// In the reply, whose text is in this format.
    Reply(WireFormat),
    /// With the values of the call, or there is none.
    Values,
}

impl ObjectRef {
    /// Calls an operation and waits for its result. For generated stubs.
    ///
    /// # Errors
    /// Whatever the operation raises, or the ORB on its behalf.
    ///
    /// # Cancel safety
    /// Safe for the connection: what was begun is finished, and the server is told
    /// (CancelRequest). Whether the operation was carried out is not known then.
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
            zorb_giop::probe!(Called);
            let (encoding, sent) = (self.encoding(&arguments), AtomicBool::new(false));
            let mut invocation = Invocation::new(operation, &encoding, &sent);
            let mut reply = ReplySlot::new();
            zorb_giop::probe!(Initialised);
            match self.perform(&mut invocation, &mut reply).await {
                Ok(Outcome::Reply(format)) => self.result::<R, E>(&reply, format),
                Ok(Outcome::Values) => Err(reply::raised(reply::internal())),
                Err(exception) => Err(reply::raised(exception)),
            }
        }
    }

    /// Calls an operation whose arguments and results may be handed over as they are between caller and servant of one
    /// ORB, which then never become a message. For generated stubs.
    ///
    /// # Errors
    /// As [`invoke`](Self::invoke).
    ///
    /// # Cancel safety
    /// As of `invoke`: within one ORB, too, an upcall that has begun goes on.
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
        R: Returned,
        E: OperationError,
        A: GiveAll<P> + Send + Sync + 'a,
    {
        async move {
            zorb_giop::probe!(Called);
            let (encoding, sent) = (self.encoding(&arguments), AtomicBool::new(false));
            let mut values = ByValues::<P, R, A>::new(self.orb(), &arguments);
            let mut invocation = Invocation::new(operation, &encoding, &sent);
            invocation.values = Some(&mut values);
            let mut reply = ReplySlot::new();
            zorb_giop::probe!(Initialised);
            match self.perform(&mut invocation, &mut reply).await {
                Ok(Outcome::Reply(format)) => self.result::<R, E>(&reply, format),
                Ok(Outcome::Values) => self.settle::<R, E>(values.into_results()),
                Err(exception) => Err(reply::raised(exception)),
            }
        }
    }

    /// Calls a one-way operation; ready when its [`SyncScope`] says. For generated stubs.
    ///
    /// # Errors
    /// What went wrong up to there; what happens at the server is never told.
    ///
    /// # Cancel safety
    /// Safe for the connection; whether the request was sent is not known then.
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
            // A one-way call may never have to wait, and other tasks want to run too.
            tokio::task::coop::consume_budget().await;
            let (encoding, sent) = (self.encoding(&arguments), AtomicBool::new(false));
            let mut invocation = Invocation::new(operation, &encoding, &sent);
            let scope = self.sync_scope();
            invocation.response = scope.response().unwrap_or(ResponseFlags::None);
            invocation.batched = scope == SyncScope::None;
            let mut reply = ReplySlot::new();
            match self.perform(&mut invocation, &mut reply).await {
                Ok(_) => Ok(()),
                Err(exception) => Err(exception.received()),
            }
        }
    }

    /// Calls an operation whose parameters are known while the program runs only, and waits for its reply: a result or an
    /// exception of the operation's own, with the format of its text.
    pub(crate) async fn invoke_untyped<A: Encode + Sync>(
        &self,
        operation: &str,
        arguments: &A,
        reply: &mut ReplySlot,
    ) -> Result<WireFormat, SystemException> {
        let (encoding, sent) = (self.encoding(arguments), AtomicBool::new(false));
        let mut invocation = Invocation::new(operation, &encoding, &sent);
        match self.perform(&mut invocation, reply).await {
            Ok(Outcome::Reply(format)) => Ok(format),
            Ok(Outcome::Values) => Err(reply::internal().received()),
            Err(exception) => Err(exception.received()),
        }
    }

    /// How arguments are encoded.
    const fn encoding<'a, A: Encode + Sync>(&self, arguments: &'a A) -> Encoding<'a, A> {
        Encoding { arguments }
    }

    /// Makes a call: binds, sends, waits, and follows where the reply leads. The reply is in its slot afterwards: a result
    /// or an exception of the operation's own.
    #[inline]
    async fn perform(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Outcome, SystemException> {
        match self.round_trip_timeout() {
            None => self.request_until_done(invocation, reply).await,
            Some(_) => {
                let sent = invocation.sent;
                let calling = self.request_until_done(invocation, reply);
                Box::pin(self.within_limit(sent, calling)).await
            }
        }
    }

    async fn request_until_done(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Outcome, SystemException> {
        let mut binding = match self.bound()? {
            Some(bound) => bound,
            None => match self.deferred(invocation) {
                Some(deferred) => return deferred.map(|()| Outcome::Values),
                None => self.new_binding().await?,
            },
        };
        let mut detours = Detours::default();
        loop {
            zorb_giop::probe!(Bound);
            let sent = match self.send(&binding, invocation, reply).await {
                Ok(Collocated::Values) => return Ok(Outcome::Values),
                Ok(Collocated::Reply) if reply.is_final() => {
                    let format = binding
                        .get()
                        .map_or(WireFormat::DEFAULT, |b| self.format(b));
                    return Ok(Outcome::Reply(format));
                }
                Ok(Collocated::Reply) => Ok(()),
                Err(error) => Err(error),
            };
            match (&sent, binding.get()) {
                // The caller waits neither for room nor for another connection.
                (Err(CallError::Overload(_)), _) if invocation.batched => {
                    return Err(self.refused_one_way());
                }
                (Err(CallError::NotSent(_)), Some(over)) if invocation.batched => {
                    self.unbind(over);
                    if let Some(deferred) = self.deferred(invocation) {
                        return deferred.map(|()| Outcome::Values);
                    }
                }
                _ => {}
            }
            // A reply that leads elsewhere, or a failure: the servant was not reached, or what it did is known.
            invocation.sent.store(false, Ordering::Relaxed);
            let is_two_way = invocation.response != ResponseFlags::None;
            let octets = invocation.octets.load(Ordering::Relaxed);
            let detour = self.detour(binding, sent, is_two_way, octets, reply, &mut detours);
            binding = Box::pin(detour).await?;
        }
    }

    /// Takes a request whose caller does not wait for its connection, if it has to be made.
    #[cold]
    fn deferred(&self, invocation: &Invocation<'_>) -> Option<Result<(), SystemException>> {
        (invocation.batched)
            .then(|| self.defer(invocation))
            .flatten()
    }

    /// Sends a request to its object, and waits as long as its caller wants.
    #[inline]
    async fn send(
        &self,
        binding: &BindingGuard,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Collocated, CallError> {
        let Some(binding) = binding.get() else {
            return Err(CallError::Lost(Fault::OrbShutDown));
        };
        let Target::Remote(remote) = &binding.target else {
            return self.call_collocated(binding, invocation, reply).await;
        };
        let request = ClientRequest {
            template: &remote.requests,
            operation: invocation.operation,
            arguments: invocation.arguments,
            contexts: &[],
            response: supported(invocation.response, binding.version),
            wait: self.wait_policy(),
            sent: invocation.sent,
            octets: &invocation.octets,
        };
        if invocation.response == ResponseFlags::None {
            let batched = invocation.batched;
            remote.connection.send_one_way(&request, batched).await?;
            return Ok(Collocated::Values);
        }
        remote.connection.call(&request, reply).await?;
        Ok(Collocated::Reply)
    }

    /// How the text of replies is to be read.
    #[inline]
    fn format(&self, binding: &Binding) -> WireFormat {
        binding.format()
    }

    /// Holds everything that a call does to its time limit: resolving, connecting, waiting for room, forwards, and
    /// sending again. `sent`: whether a request is on its way to the servant, which decides what the exception says of
    /// its completion.
    async fn within_limit<T>(
        &self,
        sent: &AtomicBool,
        calling: impl Future<Output = Result<T, SystemException>>,
    ) -> Result<T, SystemException> {
        let Some(limit) = self.round_trip_timeout() else {
            return calling.await;
        };
        let sleep = {
            // Callers may be outside any runtime; the ORB's has the clock then. It may be gone
            // too, but then the call is over at its first poll, before the clock is asked.
            let home = self.home();
            let _runtime = home.enter();
            tokio::time::sleep(limit)
        };
        // The timer does not wake a thread that blocks.
        let deadline = std::time::Instant::now().checked_add(limit);
        tokio::select! {
            biased;
            result = blocking::with_deadline(deadline, calling) => result,
            () = sleep => {
                let endpoint = self.whereabouts();
                Err(if sent.load(Ordering::Relaxed) {
                    Fault::Timeout { endpoint, limit }.raise(CompletionStatus::Maybe)
                } else {
                    Fault::SendTimeout { endpoint, limit }.raise(CompletionStatus::No)
                })
            }
        }
    }
}
