//! What an interceptor returns at a point, and how the ORB runs it.

use super::scope::Nested;
use crate::interface::Interface;
use crate::object::ObjectRef;
use crate::orb::OrbInner;
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// The result of an interception point: it has ended, or it waits.
///
/// A method whose result is there converts it: `info.add_request_service_context(…).into()`. One that waits returns
/// [`Interception::later`].
#[must_use = "an interception that waits does nothing until the ORB polls it"]
#[expect(clippy::exhaustive_enums, reason = "it has ended or has not")]
pub enum Interception<'a, E = Interrupt> {
    /// It has ended.
    Ready(Result<(), E>),
    /// It waits; the call goes on when it has ended.
    Pending(Pin<Box<dyn Future<Output = Result<(), E>> + Send + 'a>>),
}

impl<'a, E> Interception<'a, E> {
    /// The call goes on.
    pub const CONTINUE: Self = Self::Ready(Ok(()));

    /// An interception that waits. Allocates its future.
    ///
    /// ```
    /// use zorb::interceptors::{Interception, ServerRequestInfo, ServerRequestInterceptor};
    /// use zorb::SystemException;
    ///
    /// struct Permissions;
    ///
    /// impl Permissions {
    ///     async fn ask(&self, operation: &str) -> bool { !operation.starts_with("_set_") }
    /// }
    ///
    /// impl ServerRequestInterceptor for Permissions {
    ///     fn receive_request<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
    ///         Interception::later(async move {
    ///             match self.ask(info.operation()).await {
    ///                 true => Ok(()),
    ///                 false => Err(SystemException::no_permission("read only").into()),
    ///             }
    ///         })
    ///     }
    /// }
    /// ```
    pub fn later(future: impl Future<Output = Result<(), E>> + Send + 'a) -> Self {
        Self::Pending(Box::pin(future))
    }
}

impl<E, X: Into<E>> From<Result<(), X>> for Interception<'_, E> {
    fn from(result: Result<(), X>) -> Self {
        Self::Ready(result.map_err(Into::into))
    }
}

impl<E> fmt::Debug for Interception<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(Ok(())) => "Ready(Ok)",
            Self::Ready(Err(_)) => "Ready(Err)",
            Self::Pending(_) => "Pending",
        })
    }
}

/// How an interceptor ends a call, or an attempt of it, otherwise than it would have ended.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these two")]
pub enum Interrupt {
    /// With a system exception.
    Exception(SystemException),
    /// With a forward to another object: `PortableInterceptor::ForwardRequest`.
    #[doc(alias = "ForwardRequest")]
    Forward(ObjectRef),
}

impl Interrupt {
    /// A forward to the object of this reference.
    pub fn forward(to: &impl Interface) -> Self {
        Self::Forward(to.as_object().clone())
    }
}

impl From<SystemException> for Interrupt {
    fn from(exception: SystemException) -> Self {
        Self::Exception(exception)
    }
}

/// How a request has ended, for the interceptors of its ending points: `PortableInterceptor::ReplyStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these")]
#[repr(i16)]
pub enum ReplyStatus {
    /// Without an exception; of a one-way call: it was sent, or its operation has ended.
    Successful = 0,
    /// With a system exception.
    SystemException = 1,
    /// With a user exception.
    UserException = 2,
    /// With a forward to another object.
    LocationForward = 3,
    /// The ORB sends the request again.
    TransportRetry = 4,
    /// Unknown.
    Unknown = 5,
}

/// Runs a part of an interceptor: no calls of its own are those of the call, and a panic is UNKNOWN.
#[inline]
pub(crate) fn run<T>(
    orb: &OrbInner,
    nested: Nested,
    completed: CompletionStatus,
    run: impl FnOnce() -> T,
) -> Result<T, SystemException> {
    let _within = nested.enter();
    crate::serve::caught(run).map_err(|panic| {
        panic.in_interceptor(orb);
        Fault::InterceptorPanicked.raise(completed)
    })
}

/// Runs a method of an IOR interceptor; `None` if it panics.
pub(super) fn caught<T>(orb: &OrbInner, run: impl FnOnce() -> T) -> Option<T> {
    crate::serve::caught(run)
        .map_err(|panic| panic.in_interceptor(orb))
        .ok()
}

/// Runs a point of an interceptor to its end: the expression, of which only what waits has a future of its own.
macro_rules! at_point {
    ($orb:expr, $nested:expr, $completed:expr, $point:expr) => {
        match $crate::interceptors::run($orb, $nested, $completed, || $point) {
            Ok($crate::interceptors::Interception::Ready(result)) => {
                result.map_err($crate::interceptors::Interrupt::from)
            }
            Ok($crate::interceptors::Interception::Pending(waiting)) => {
                $crate::interceptors::finished($orb, $nested, $completed, waiting).await
            }
            Err(panicked) => Err(panicked.into()),
        }
    };
}
pub(crate) use at_point;

/// Awaits the end of an interception that waits.
pub(crate) async fn finished<E>(
    orb: &OrbInner,
    nested: Nested,
    completed: CompletionStatus,
    mut waiting: Pin<Box<dyn Future<Output = Result<(), E>> + Send + '_>>,
) -> Result<(), Interrupt>
where
    Interrupt: From<E>,
{
    poll_fn(
        |cx| match run(orb, nested, completed, || waiting.as_mut().poll(cx)) {
            Ok(polled) => polled.map_err(Interrupt::from),
            Err(panicked) => core::task::Poll::Ready(Err(panicked.into())),
        },
    )
    .await
}
