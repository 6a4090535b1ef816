//! The request that a servant carries out, for the servant and for what it spawns.

use super::PoaCurrent;
use super::no_context::NoContext;
use crate::orb::OrbInner;
use crate::serve::sleep_until;
use core::any::Any;
use core::future::poll_fn;
use core::pin::pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::AbortHandle;
use zorb_connection::{Peer, WatchedRequest};
use zorb_giop::{ResponseFlags, ServiceContext, ServiceContextId, SystemException};
use zorb_poa::{ActiveObject, ObjectId, ServerRequest, SharedRequest, declared_name};
use zorb_shares::CancelReason;

/// The request that a servant carries out: who has sent it, for which object and operation, what came with it, and what goes
/// back with its reply.
///
/// [`PoaCurrent::get_request`] returns it in any method of a servant: async, [blocking](crate::Blocking), in a worker pool, and
/// of a collocated call. It may be kept across awaits, passed to other tasks and threads, and outlive its upcall. It shares the
/// octets of the request's message, which stay in memory as long as it.
///
/// ```
/// # use zorb::{PoaCurrent, ServiceContext, ServiceContextId, SystemException};
/// zorb::idl! {
///     interface Archive { string read(in string name); };
/// }
/// const TENANT: ServiceContextId = ServiceContextId(0x5a5a_0001);
/// const VERSION: ServiceContextId = ServiceContextId(0x5a5a_0002);
///
/// struct Files;
/// impl Archive for Files {
///     async fn read(&self, name: &str) -> Result<String, SystemException> {
///         let request = PoaCurrent::get_request()?;
///         let tenant = request.service_context(TENANT).unwrap_or_default();
///         if let Some(peer) = request.peer() {
///             println!("{} reads {name} for {tenant:?}", peer.address);
///         }
///         request.add_reply_context(ServiceContext { id: VERSION, data: "\0\x07".into() })?;
///         Ok(String::new())
///     }
/// }
/// ```
#[derive(Debug, Clone)]
#[doc(alias = "ServerRequestInfo")]
pub struct CurrentRequest(SharedRequest);

impl PoaCurrent {
    /// The request that is being executed. Costs two allocations at the first call within a request.
    ///
    /// # Errors
    /// [`NoContext`] outside of servants' methods, and of [`CurrentRequest::scope`].
    pub fn get_request() -> Result<CurrentRequest, NoContext> {
        ServerRequest::current(|request| CurrentRequest(request.share(watch).clone()))
            .ok_or(NoContext)
    }
}

/// What tells a request that nobody waits for its result, until it ends.
struct Watch {
    _client: Option<WatchedRequest>,
    deadline: Option<AbortHandle>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(deadline) = &self.deadline {
            deadline.abort();
        }
    }
}

/// Has a request whose client waits for its result learn when that is of no use any more.
fn watch(request: &SharedRequest) -> Option<Box<dyn Any + Send + Sync>> {
    let receipt = request.receipt();
    if receipt.response != ResponseFlags::WithTarget {
        return None;
    }
    let cancellation = request.cancellation();
    let client = request.peer::<Peer>();
    let client = client.map(|peer| peer.watch(receipt.request_id, cancellation));
    let deadline = request.deadline().and_then(|at| {
        let orb = ActiveObject::current(ActiveObject::adapter)??.owner()?;
        let orb = orb.downcast::<OrbInner>().ok()?;
        let (sleep, cancellation) = (sleep_until(&orb, at), cancellation.clone());
        let passes = orb.lane().handle().spawn(async move {
            sleep.await;
            cancellation.cancel(CancelReason::DeadlinePassed);
        });
        Some(passes.abort_handle())
    });
    if client.is_none() && deadline.is_none() {
        // The task of the upcall tells a collocated call.
        return None;
    }
    Some(Box::new(Watch {
        _client: client,
        deadline,
    }))
}

impl CurrentRequest {
    /// The client of the request: its address, its transport, and who it is as far as the transport knows. `None` for a
    /// collocated call.
    #[must_use]
    pub fn peer(&self) -> Option<Arc<Peer>> {
        self.0.peer()
    }

    /// The id of the object within its POA; `None` for a servant that is called by a skeleton written by hand.
    #[must_use]
    pub fn object_id(&self) -> Option<&ObjectId> {
        self.0.object_id()
    }

    /// The name of the operation on the wire; that of an attribute begins with `_get_` or `_set_`. Empty if it is not UTF-8.
    #[must_use]
    pub fn operation(&self) -> &str {
        core::str::from_utf8(declared_name(self.0.operation())).unwrap_or_default()
    }

    /// Whether the client waits for the result, or for the end of the operation. Without that, the reply and what is added to
    /// it are dropped.
    #[must_use]
    pub fn is_response_expected(&self) -> bool {
        self.0.receipt().response == ResponseFlags::WithTarget
    }

    /// The data of the first service context with this id, also of another ORB's: an encapsulation, as a rule, whose first
    /// octet is the byte order. It is read where it lies, at the cost of a walk over the list.
    #[must_use]
    #[doc(alias = "get_request_service_context")]
    pub fn service_context(&self, id: ServiceContextId) -> Option<&[u8]> {
        self.0.context(id)
    }

    /// Copies all service contexts, unknown ones included.
    #[must_use]
    pub fn service_contexts(&self) -> Vec<ServiceContext> {
        self.0.contexts()
    }

    /// The time after which nobody has use for the reply, if the client has stated one.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }

    /// Whether nobody waits for the result any more: the client has cancelled the request or dropped its call, its connection
    /// has ended, or the [deadline](Self::deadline) has passed. `false` once the request has ended, and for one-way requests.
    ///
    /// The upcall goes on all the same, unless the servant is [cancellable](crate::Cancellable): a servant that works for long
    /// looks here, or waits for [`cancelled`](Self::cancelled), and may end early. Costs an atomic load, and the clock's time
    /// if there is a deadline.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel_reason().is_some()
    }

    /// Why nobody waits for the result any more; `None` if somebody does. See [`is_cancelled`](Self::is_cancelled).
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelReason> {
        let passed = || {
            let passed = self.deadline().is_some_and(|at| at <= Instant::now());
            (passed && self.is_response_expected()).then_some(CancelReason::DeadlinePassed)
        };
        self.0.cancellation().reason().or_else(passed)
    }

    /// Waits until nobody waits for the result any more, and returns why; for ever, if that does not come before the request
    /// ends. Works on any task and thread.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing.
    pub async fn cancelled(&self) -> CancelReason {
        match self.cancel_reason() {
            Some(reason) => reason,
            None => self.0.cancellation().cancelled().await,
        }
    }

    /// Adds a service context to the reply, whatever its status will be; [`set_reply_context`](Self::set_reply_context)
    /// replaces one.
    ///
    /// # Errors
    /// BAD_INV_ORDER, minor code 15, if one of this id was added before; BAD_INV_ORDER once the servant's method has returned;
    /// IMP_LIMIT for more than 64 contexts, or more than a MiB of their data.
    #[doc(alias = "add_reply_service_context")]
    pub fn add_reply_context(&self, context: ServiceContext) -> Result<(), SystemException> {
        self.0.add_reply_context(context, false)
    }

    /// Adds a service context to the reply, in place of one of the same id.
    ///
    /// # Errors
    /// Those of [`add_reply_context`](Self::add_reply_context), but for that of a context of the same id.
    pub fn set_reply_context(&self, context: ServiceContext) -> Result<(), SystemException> {
        self.0.add_reply_context(context, true)
    }

    /// Runs a future as a part of this request, on whichever task or thread: within it, [`PoaCurrent::get_request`] and
    /// [`PoaCurrent::get_peer`] return this request's. For work that a servant spawns:
    ///
    /// ```
    /// # use zorb::{PoaCurrent, SystemException};
    /// # async fn servant() -> Result<(), SystemException> {
    /// let request = PoaCurrent::get_request()?;
    /// tokio::spawn(request.clone().scope(async move {
    ///     assert!(PoaCurrent::get_request().is_ok());
    /// }));
    /// # Ok(()) }
    /// ```
    ///
    /// # Cancel safety
    /// That of `future`.
    pub async fn scope<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut entered = None;
        poll_fn(|cx| self.0.enter(&mut entered, || future.as_mut().poll(cx))).await
    }

    /// Runs a closure as a part of this request: [`scope`](Self::scope) for threads.
    pub fn scope_blocking<T>(&self, run: impl FnOnce() -> T) -> T {
        self.0.enter(&mut None, run)
    }
}
