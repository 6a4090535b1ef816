//! What code that may outlive an upcall knows of its request, and the service contexts that are added to its reply.

use crate::key::ObjectId;
use crate::object::ActiveObject;
use crate::request::{Receipt, ServerRequest};
use core::any::Any;
use core::cell::Cell;
use core::{fmt, mem};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use zorb_giop::{
    CompletionStatus, Fault, HeaderOffsets, Message, ServiceContext, ServiceContextId,
    SystemException,
};
use zorb_shares::Cancellation;

/// The most service contexts that a servant and its interceptors add to one reply.
pub const MAX_REPLY_CONTEXTS: usize = 64;
/// The most octets of data of the service contexts that a servant and its interceptors add to one reply.
pub const MAX_REPLY_CONTEXT_OCTETS: usize = 1 << 20;

/// A request, for code that may outlive its upcall: a task that the servant spawns, or the servant across its awaits. A clone
/// is of the same request, and costs a reference count.
///
/// It shares the octets of the request's message, which stay in memory as long as it.
#[derive(Clone)]
pub struct SharedRequest(Arc<Shared>);

thread_local! {
    /// The request of the upcall that was polled last and waits, if it is shared.
    static WAITING: Cell<Option<SharedRequest>> = const { Cell::new(None) };
}

struct Shared {
    message: Option<(Message, HeaderOffsets)>,
    receipt: Receipt,
    /// The number of the operation, if it is known.
    number: Option<u32>,
    /// The name of the operation of a typed call, which has no message.
    operation: Option<&'static str>,
    /// The contexts of a typed call.
    contexts: Arc<[ServiceContext]>,
    object: Option<ObjectId>,
    peer: Option<Arc<dyn Any + Send + Sync>>,
    deadline: Option<Instant>,
    cancellation: Cancellation,
    reply: ReplyContexts,
}

/// The parts of a request that a [`SharedRequest`] is made of.
pub(crate) struct Parts<'a> {
    pub(crate) message: Option<(&'a Message, &'a HeaderOffsets)>,
    pub(crate) receipt: Receipt,
    pub(crate) number: Option<u32>,
    pub(crate) contexts: Arc<[ServiceContext]>,
    pub(crate) peer: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) reply: ReplyContexts,
}

impl SharedRequest {
    pub(crate) fn new(parts: Parts<'_>) -> Self {
        let operation = match (parts.message, parts.number) {
            (None, Some(number)) => {
                ActiveObject::current(|object| object.operation_name(number)).flatten()
            }
            _ => None,
        };
        Self(Arc::new(Shared {
            message: (parts.message).map(|(message, offsets)| (message.clone(), *offsets)),
            receipt: parts.receipt,
            number: parts.number,
            operation,
            contexts: parts.contexts,
            object: ActiveObject::current(ActiveObject::id),
            peer: parts.peer,
            deadline: parts.deadline,
            cancellation: Cancellation::new(),
            reply: parts.reply,
        }))
    }

    /// The request as a value that [`ServerRequest::enter`] makes the current one. It cannot be replied to.
    pub(crate) fn parts(&self) -> Parts<'_> {
        let shared = &*self.0;
        Parts {
            message: (shared.message.as_ref()).map(|(message, offsets)| (message, offsets)),
            receipt: shared.receipt,
            number: shared.number,
            contexts: Arc::clone(&shared.contexts),
            peer: shared.peer.clone(),
            deadline: shared.deadline,
            reply: shared.reply.clone(),
        }
    }

    /// The octets of the operation's name on the wire; that of an attribute begins with `_get_` or `_set_`.
    #[must_use]
    pub fn operation(&self) -> &[u8] {
        match &self.0.message {
            Some((message, offsets)) => offsets.operation(message),
            None => self.0.operation.unwrap_or_default().as_bytes(),
        }
    }

    /// The id of the object; `None` if the request was shared outside of an upcall.
    #[must_use]
    pub fn object_id(&self) -> Option<&ObjectId> {
        self.0.object.as_ref()
    }

    /// The parts of the request that its reply needs.
    #[must_use]
    pub fn receipt(&self) -> Receipt {
        self.0.receipt
    }

    /// Who has sent the request, as a type of the owner of the adapter; `None` for a collocated call.
    #[must_use]
    pub fn peer<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.0.peer.as_ref()?).downcast().ok()
    }

    /// The time after which nobody has use for the reply.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Whether the result is still of use.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.0.cancellation
    }

    /// The data of the first service context with this id, read where it lies.
    #[must_use]
    pub fn context(&self, id: ServiceContextId) -> Option<&[u8]> {
        match &self.0.message {
            Some((message, offsets)) => offsets.contexts(message).get(id),
            None => find(&self.0.contexts, id),
        }
    }

    /// Copies all service contexts, unknown ones included.
    #[must_use]
    pub fn contexts(&self) -> Vec<ServiceContext> {
        match &self.0.message {
            Some((message, offsets)) => offsets.contexts(message).to_vec(),
            None => self.0.contexts.to_vec(),
        }
    }

    /// Adds a service context to the reply: see [`ServerRequest::add_reply_context`].
    ///
    /// # Errors
    /// Those of [`ServerRequest::add_reply_context`].
    pub fn add_reply_context(
        &self,
        context: ServiceContext,
        replace: bool,
    ) -> Result<(), SystemException> {
        self.0.reply.add(context, replace)
    }

    /// Takes the request of the upcall that this thread has just polled, if that waits, and its servant has shared its request:
    /// whoever polls the upcall may then cancel it.
    #[must_use]
    pub fn take_waiting() -> Option<Self> {
        WAITING.try_with(Cell::take).unwrap_or_default()
    }

    /// Notes the request of an upcall that waits, as the last one of this thread.
    pub(crate) fn note_waiting(shared: Option<&Self>) {
        // At the end of a thread nobody takes it.
        let _ = WAITING.try_with(|waiting| waiting.set(shared.cloned()));
    }

    /// Runs a part of code with this request as the [current](ServerRequest::current) one. `of` is its value, which is made at
    /// the first call.
    pub fn enter<T>(&self, of: &mut Option<ServerRequest>, run: impl FnOnce() -> T) -> T {
        of.get_or_insert_with(|| ServerRequest::of_shared(self))
            .enter(run)
    }
}

impl fmt::Debug for SharedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRequest")
            .field("operation", &String::from_utf8_lossy(self.operation()))
            .field("deadline", &self.0.deadline)
            .finish_non_exhaustive()
    }
}

/// The data of the first context with this id.
pub(crate) fn find(contexts: &[ServiceContext], id: ServiceContextId) -> Option<&[u8]> {
    let found = contexts.iter().find(|context| context.id == id)?;
    Some(&found.data)
}

/// The service contexts that are added to a reply. A clone adds to the same reply.
#[derive(Clone, Default)]
pub(crate) struct ReplyContexts(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    contexts: Vec<ServiceContext>,
    /// Whether the reply has been made.
    is_over: bool,
}

impl ReplyContexts {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(
        &self,
        context: ServiceContext,
        replace: bool,
    ) -> Result<(), SystemException> {
        let mut state = self.state();
        if state.is_over {
            let why = "the reply has been made: no service context can be added".to_owned();
            return Err(Fault::OutOfOrder(why).raise(CompletionStatus::Yes));
        }
        let is_same = |other: &ServiceContext| other.id == context.id;
        let at = state.contexts.iter().position(is_same);
        if at.is_some() && !replace {
            return Err(Fault::ContextPresent(context.id).raise(CompletionStatus::Maybe));
        }
        let others = state.contexts.iter().filter(|other| !is_same(other));
        let octets = others.fold(context.data.len(), |octets, other| {
            octets.saturating_add(other.data.len())
        });
        if octets > MAX_REPLY_CONTEXT_OCTETS
            || at.is_none() && state.contexts.len() >= MAX_REPLY_CONTEXTS
        {
            let fault = Fault::TooManyContexts {
                contexts: MAX_REPLY_CONTEXTS,
                octets: MAX_REPLY_CONTEXT_OCTETS,
            };
            return Err(fault.raise(CompletionStatus::Maybe));
        }
        match at.and_then(|at| state.contexts.get_mut(at)) {
            Some(there) => *there = context,
            None => state.contexts.push(context),
        }
        Ok(())
    }

    /// The data of a context that was added.
    pub(crate) fn get(&self, id: ServiceContextId) -> Option<bytes::Bytes> {
        let state = self.state();
        let found = state.contexts.iter().find(|context| context.id == id)?;
        Some(found.data.clone())
    }

    /// Takes the contexts for the reply, to which none can be added afterwards.
    pub(crate) fn close(&self) -> Vec<ServiceContext> {
        let mut state = self.state();
        state.is_over = true;
        mem::take(&mut state.contexts)
    }
}
