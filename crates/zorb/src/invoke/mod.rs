//! The way of one call: bind, send, wait, follow forwards, decode.
//!
//! - here: what stubs call, and what holds all of a call: its time limit, its detours;
//! - `call`: the loop around binding, sending and what comes back;
//! - `reply`: what a reply says;
//! - `locate`: LocateRequest;
//! - `local`: calls to objects of the same ORB;
//! - `values`: such calls without a message.

mod call;
mod local;
mod locate;
mod reply;
mod scope;
mod values;

pub(crate) use locate::locate;

pub use scope::SyncScope;

use call::{Begun, Exchanged, Fetched};
use reply::Reply;
use values::{ByValues, Near};

use crate::blocking;
use crate::object::ObjectRef;
use crate::signature::{GiveAll, Parameters, Results, Returned};
use crate::wire::{CallError, Calling, EncodeArguments};
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use zorb_cdr::{
    BigEndian, ByteOrder, Encode, EncodeError, Encoder, Endian, LittleEndian, NativeEndian,
    WireFormat,
};
use zorb_giop::{
    CompletionStatus, Fault, OperationError, ReplyStatus, SmallReply, SystemException,
    SystemExceptionKind,
};

/// Forwards that one call follows. Servers that send a client in circles exist.
const MAX_FORWARDS: usize = 10;
/// Times that one call is sent again because the connection ended before it could start.
const MAX_RESENDS: usize = 2;

/// How often a call has gone another way than straight to its object.
#[derive(Debug, Default)]
struct Detours {
    forwards: usize,
    resends: usize,
}

impl Detours {
    /// Counts a forward.
    ///
    /// # Errors
    /// TRANSIENT when there were as many as there may be.
    fn forward(&mut self) -> Result<(), SystemException> {
        self.forwards += 1;
        if self.forwards > MAX_FORWARDS {
            let limit = MAX_FORWARDS;
            return Err(Fault::TooManyForwards { limit }.raise(CompletionStatus::No));
        }
        Ok(())
    }

    /// Whether a call that failed so is sent again: it surely did not start, and not too often
    /// yet. Counts it if so.
    fn resend(&mut self, error: &CallError) -> bool {
        let again = matches!(error, CallError::NotSent(_)) && self.resends < MAX_RESENDS;
        self.resends += usize::from(again);
        again
    }
}

/// How arguments are written into a request to an object.
struct Encoding<'a, A> {
    object: &'a ObjectRef,
    arguments: &'a A,
}

impl<A: Encode + Sync> EncodeArguments for Encoding<'_, A> {
    fn encode(&self, e: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
        zorb_giop::probe!(Headed);
        self.object.relabel(e);
        let put = e.put_lent(self.arguments);
        zorb_giop::probe!(Marshalled);
        put
    }

    fn lent(&self) -> Option<&[u8]> {
        self.arguments.lent()
    }
}

/// Sends a request, waits, and decodes the result, in the very future that it is written in: a future of its own would be
/// entered and left once more for each poll of a call.
macro_rules! two_way {
    ($object:expr, $results:ty, $error:ty, $operation:expr, $arguments:expr) => {{
        let (object, operation): (&ObjectRef, &str) = ($object, $operation);
        let arguments: &dyn EncodeArguments = $arguments;
        zorb_giop::probe!(Initialised);
        let mut small = SmallReply::new();
        let begun = if let Some(exchanged) = object.exchange_if(operation, arguments, &mut small) {
            match exchanged {
                Exchanged::Small(format) => {
                    return object.end_small::<$results, $error>(&small, format);
                }
                Exchanged::Reply(reply) => return object.end::<$results, $error>(Ok(reply)),
                Exchanged::Begun(so_far) => Some(so_far),
            }
        } else if let Some(lent) = object.usual() {
            let mut calling = Calling::Not;
            let is_small = {
                let (lent, small, calling) = (&lent, &mut small, &mut calling);
                poll_fn(|cx| object.poll_usual(lent, operation, arguments, calling, small, cx))
                    .await
            };
            if is_small {
                // It was sent and has its reply: nothing of it is to be dropped, of which rustc does not know.
                core::mem::forget(calling);
                if let Some(nothing) = nothing_in::<$results>(&small) {
                    return Ok(nothing);
                }
                let format = object.format_of(&lent);
                return object.end_small::<$results, $error>(&small, format);
            }
            match object.end_usual(calling.into_over(), lent) {
                Ok(reply) => return object.end::<$results, $error>(Ok(reply)),
                Err(so_far) => so_far,
            }
        } else {
            None
        };
        object
            .unusual::<$results, $error>(operation, arguments, &mut small, begun)
            .await
    }};
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
        operation: &'static str,
        arguments: A,
    ) -> impl Future<Output = Result<R::Values, E>> + Send + 'a
    where
        A: Encode + Send + Sync + 'a,
        R: Results,
        E: OperationError,
    {
        // No future within it for the usual way: each costs both ends of every wait.
        async move {
            zorb_giop::probe!(Called);
            let encoding = self.encoding(&arguments);
            two_way!(self, R, E, operation, &encoding)
        }
    }

    /// The same for an operation whose arguments and results may be handed over as they are between caller and servant
    /// of one ORB, which then never become a message.
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
        operation: &'static str,
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
            if self.may_be_near() {
                let mut values = ByValues::<P, R, A>::new(self.orb(), &arguments);
                let called = match self.call_near(operation, &mut values) {
                    Near::Away => None,
                    Near::Over(called) => Some(called),
                    Near::Begun(rest) => Some(rest.await),
                };
                if let Some(called) = called {
                    return self.settle::<R, E>(called, values.into_results());
                }
            }
            let encoding = self.encoding(&arguments);
            two_way!(self, R, E, operation, &encoding)
        }
    }

    /// What came of a call by values.
    fn settle<R: Returned, E: OperationError>(
        &self,
        called: Result<Option<Reply>, SystemException>,
        results: Option<R::Values>,
    ) -> Result<R::Values, E> {
        match (called, results) {
            (Ok(None), Some(results)) => R::settle(results, self.orb()).map_err(|error| {
                E::from(
                    Fault::of_result(error)
                        .raise(CompletionStatus::Yes)
                        .received(),
                )
            }),
            (called, _) => self.end::<R, E>(called.and_then(|reply| reply.ok_or_else(internal))),
        }
    }

    /// How arguments are written.
    const fn encoding<'a, A: Encode + Sync>(&'a self, arguments: &'a A) -> Encoding<'a, A> {
        Encoding {
            object: self,
            arguments,
        }
    }

    /// Any call but a usual one, whose reply may be in `small` then.
    async fn unusual<R: Results, E: OperationError>(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        small: &mut SmallReply,
        begun: Option<Begun>,
    ) -> Result<R::Values, E> {
        match self.request(operation, arguments, small, begun).await {
            Ok(Fetched::Small(format)) => self.end_small::<R, E>(small, format),
            Ok(Fetched::Reply(reply)) => self.end::<R, E>(Ok(reply)),
            Err(exception) => self.end::<R, E>(Err(exception)),
        }
    }

    /// What a small reply says.
    #[inline]
    fn end_small<R: Results, E: OperationError>(
        &self,
        reply: &SmallReply,
        format: WireFormat,
    ) -> Result<R::Values, E> {
        if let Some(nothing) = nothing_in::<R>(reply) {
            return Ok(nothing);
        }
        zorb_giop::probe!(Matched);
        let result = match reply.endian() {
            Endian::Big => self.small_result::<BigEndian, R, E>(reply, format),
            Endian::Little => self.small_result::<LittleEndian, R, E>(reply, format),
        };
        zorb_giop::probe!(Returned);
        result
    }

    /// What a reply says.
    fn end<R: Results, E: OperationError>(
        &self,
        called: Result<Reply, SystemException>,
    ) -> Result<R::Values, E> {
        let Ok(reply) = &called else {
            return Err(raised(called));
        };
        zorb_giop::probe!(Matched);
        let result = match reply.message.header.endian {
            Endian::Big => self.result::<BigEndian, R, E>(reply),
            Endian::Little => self.result::<LittleEndian, R, E>(reply),
        };
        zorb_giop::probe!(Returned);
        result
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
        operation: &'static str,
        arguments: A,
    ) -> impl Future<Output = Result<(), SystemException>> + Send + 'a
    where
        A: Encode + Send + Sync + 'a,
    {
        async move {
            self.request_one_way(operation, &self.encoding(&arguments))
                .await
                .map_err(SystemException::received)
        }
    }

    /// Writes text as the reference says that its server really reads it.
    fn relabel<O: ByteOrder>(&self, e: &mut Encoder<O>) {
        if let Some(char_set) = self.char_code_set() {
            e.set_char_set(char_set);
        }
    }

    /// Holds everything that a call does to its time limit: resolving, connecting, waiting for
    /// room, forwards, and sending again. `sent`: whether a request is on its way to the servant,
    /// which decides what the exception says of its completion.
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
            // too, but then the call is over at its first poll, before anybody looks at the clock.
            let home = self.home();
            let _runtime = home.enter();
            tokio::time::sleep(limit)
        };
        // Whoever blocks is not woken by it.
        let until = std::time::Instant::now().checked_add(limit);
        tokio::select! {
            biased;
            result = blocking::no_longer_than(until, calling) => result,
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

/// The result in a small reply, if it says that there is none.
#[inline(always)]
fn nothing_in<R: Results>(reply: &SmallReply) -> Option<R::Values> {
    if reply.status() != ReplyStatus::NoException {
        return None;
    }
    let nothing = R::nothing()?;
    zorb_giop::probe!(Matched);
    zorb_giop::probe!(Returned);
    Some(nothing)
}

/// What a call has failed with.
#[cold]
fn raised<E: OperationError>(called: Result<Reply, SystemException>) -> E {
    let exception = called.err().unwrap_or_else(internal);
    E::from(exception.received())
}

/// Calls by values end without a reply only where they have their results.
#[cold]
fn internal() -> SystemException {
    SystemException::new(SystemExceptionKind::Internal, 0, CompletionStatus::Maybe)
}
