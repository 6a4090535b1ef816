//! Interception points of the server: `receive_request` and `send_reply` around an upcall.

use crate::interceptor::{Interceptor, ServerRequestInfo};
use crate::policy::deadline_of;
use std::sync::{Arc, Mutex, PoisonError};
use zorb_executor::Priority;
use zorb_giop::{ReplyStatus, ServiceContext, ServiceContextId, SystemException, add_contexts};
use zorb_poa::{Outcome, Receipt, ServerRequest};

/// The interception of a request, if there is an interceptor, until the reply.
pub(crate) type Intercepted = Option<Box<InterceptedRequest>>;

/// A request that an interceptor has received. If it is dropped before its reply, whatever the cause, it ends with an
/// exception: the interceptor gets the end of each request whose beginning it got.
pub(crate) struct InterceptedRequest {
    pub(super) info: ServerRequestInfo,
    interceptor: Arc<dyn Interceptor>,
    is_answered: bool,
}

impl InterceptedRequest {
    /// The priority that the interceptor has given the request.
    pub(crate) const fn priority(&self) -> Priority {
        self.info.priority
    }

    fn answered(mut self, status: ReplyStatus) -> Vec<ServiceContext> {
        self.end(status);
        core::mem::take(&mut self.info.reply_contexts)
    }

    fn end(&mut self, status: ReplyStatus) {
        self.is_answered = true;
        self.interceptor.send_reply(&mut self.info, status);
    }
}

impl Drop for InterceptedRequest {
    fn drop(&mut self) {
        if !self.is_answered {
            self.end(ReplyStatus::SystemException);
        }
    }
}

/// The interception of a request that is submitted to a worker pool. The upcall has it, and the thread that
/// submits it, which answers the request where the queue is full.
#[derive(Clone)]
pub(super) struct Submitted(Option<Arc<Mutex<Intercepted>>>);

impl Submitted {
    #[inline]
    pub(super) fn new(intercepted: Intercepted) -> Self {
        Self(intercepted.map(|info| Arc::new(Mutex::new(Some(info)))))
    }

    /// The request as the interceptor saw it at `receive_request`.
    #[inline]
    pub(super) fn take(&self) -> Intercepted {
        let mut info = (self.0.as_ref()?.lock()).unwrap_or_else(PoisonError::into_inner);
        info.take()
    }
}

/// Has the interceptor, if there is one, see a request that is about to be dispatched.
///
/// # Errors
/// The interceptor's exception: the servant is not called.
#[inline]
pub(super) fn receive_request(
    interceptor: Option<&Arc<dyn Interceptor>>,
    request: Option<&ServerRequest>,
) -> Result<Intercepted, SystemException> {
    match (interceptor, request) {
        (Some(interceptor), Some(request)) => receive_with(interceptor, request),
        _ => Ok(None),
    }
}

#[cold]
fn receive_with(
    interceptor: &Arc<dyn Interceptor>,
    request: &ServerRequest,
) -> Result<Intercepted, SystemException> {
    let operation = String::from_utf8_lossy(request.operation()).into_owned();
    receive(
        interceptor,
        operation,
        &request.receipt(),
        request.contexts(),
        false,
    )
}

/// Has the interceptor see a collocated call.
///
/// # Errors
/// The interceptor's exception: the servant is not called.
#[cold]
pub(crate) fn receive_collocated(
    interceptor: &Arc<dyn Interceptor>,
    operation: &str,
    receipt: &Receipt,
    contexts: Vec<ServiceContext>,
) -> Result<Intercepted, SystemException> {
    receive(interceptor, operation.to_owned(), receipt, contexts, true)
}

fn receive(
    interceptor: &Arc<dyn Interceptor>,
    operation: String,
    receipt: &Receipt,
    contexts: Vec<ServiceContext>,
    is_collocated: bool,
) -> Result<Intercepted, SystemException> {
    let deadline = contexts
        .iter()
        .find(|context| context.id == ServiceContextId::DEADLINE)
        .and_then(|context| deadline_of(&context.data));
    let mut info = ServerRequestInfo {
        operation,
        response: receipt.response,
        is_collocated,
        contexts,
        deadline,
        priority: Priority::default(),
        reply_contexts: Vec::new(),
    };
    interceptor.receive_request(&mut info)?;
    Ok(Some(Box::new(InterceptedRequest {
        info,
        interceptor: Arc::clone(interceptor),
        is_answered: false,
    })))
}

/// The outcome of a request whose servant has done its work, once the interceptor has seen it.
#[inline]
pub(super) fn send_reply(intercepted: Intercepted, outcome: Outcome) -> Outcome {
    match intercepted {
        None => outcome,
        Some(request) => send_with(request, outcome, None),
    }
}

/// As [`send_reply`], of a reply that states a priority, beside the contexts of the interceptor.
pub(super) fn send_prioritised(
    intercepted: Intercepted,
    outcome: Outcome,
    priority: Option<ServiceContext>,
) -> Outcome {
    match intercepted {
        None => with_contexts(outcome, priority.as_slice()),
        Some(request) => send_with(request, outcome, priority),
    }
}

#[cold]
fn send_with(
    request: Box<InterceptedRequest>,
    outcome: Outcome,
    priority: Option<ServiceContext>,
) -> Outcome {
    let mut contexts = reply_contexts(Some(request), &outcome);
    contexts.extend(priority);
    with_contexts(outcome, &contexts)
}

/// An outcome whose reply, if it is one, has these contexts.
fn with_contexts(outcome: Outcome, contexts: &[ServiceContext]) -> Outcome {
    match outcome {
        Outcome::Reply(reply) if !contexts.is_empty() => match add_contexts(reply, contexts) {
            Ok(reply) => Outcome::Reply(reply),
            Err(error) => {
                tracing::error!(%error, "the service contexts of a reply cannot be sent, nor the reply");
                Outcome::Silent
            }
        },
        outcome => outcome,
    }
}

/// Has the interceptor see an outcome, and returns the contexts that it sends with the reply.
pub(crate) fn reply_contexts(intercepted: Intercepted, outcome: &Outcome) -> Vec<ServiceContext> {
    let Some(request) = intercepted else {
        return Vec::new();
    };
    request.answered(match outcome {
        Outcome::Silent => ReplyStatus::NoException,
        Outcome::Reply(reply) => ReplyStatus::of(reply).unwrap_or(ReplyStatus::SystemException),
    })
}
