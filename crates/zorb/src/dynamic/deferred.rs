//! Calls that go on while their caller does something else: deferred synchronous requests.

use super::request::{Request, RequestError, Response};
use crate::object::ObjectRef;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use zorb_connection::blocking::without_blocking;
use zorb_giop::{CompletionStatus, Fault, SystemException, SystemExceptionKind, minor};

/// Begins a call at once, on this thread, so that the policies and the priority of the caller apply, and goes on with it in a
/// task. `deliver` gets its outcome. A call that a collocated servant ends at once is over when this returns.
///
/// The task runs in the runtime of the caller, or the ORB's. If that ends first, `deliver` is dropped.
pub(crate) fn begin<T: Send + 'static>(
    object: &ObjectRef,
    call: impl Future<Output = T> + Send + 'static,
    deliver: impl FnOnce(T) + Send + 'static,
) -> Option<AbortHandle> {
    let runtime = object.runtime();
    let mut call = Box::pin(call);
    let polled = {
        let _runtime = runtime.enter();
        without_blocking(|| call.as_mut().poll(&mut Context::from_waker(Waker::noop())))
    };
    match polled {
        Poll::Ready(outcome) => {
            deliver(outcome);
            None
        }
        Poll::Pending => {
            let task = runtime.spawn(async move { deliver(call.await) });
            Some(task.abort_handle())
        }
    }
}

/// The outcome of a call whose runtime has ended before its reply came.
fn runtime_gone() -> RequestError {
    let exception: SystemException = Fault::OrbShutDown.raise(CompletionStatus::Maybe);
    exception.into()
}

fn result_taken() -> RequestError {
    let (kind, minor) = (SystemExceptionKind::BadInvOrder, minor::RESULT_TAKEN);
    SystemException::new(kind, minor, CompletionStatus::Yes).into()
}

/// The task of a deferred call, which is cancelled when this is dropped.
struct Task(Option<AbortHandle>);

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// A call in progress, of [`Request::send_deferred`]: a future of its results, which need not be polled for the call to go on.
///
/// Dropping it cancels the call, as dropping the future of any call does. It ends once: with its results, with an exception, or,
/// when the ORB shuts down or its runtime ends first, with BAD_INV_ORDER.
///
/// Source: CORBA 3.3 Part 1, `CORBA::Request` (`poll_response`, `get_response`).
#[must_use = "a call that is dropped is cancelled"]
#[doc(alias = "get_response")]
pub struct PendingResponse {
    target: ObjectRef,
    receiver: oneshot::Receiver<Result<Response, RequestError>>,
    received: Option<Result<Response, RequestError>>,
    task: Task,
}

impl PendingResponse {
    /// Whether the call has ended, so that awaiting it waits no more. Costs an atomic load.
    #[doc(alias = "poll_response")]
    pub fn is_ready(&mut self) -> bool {
        if self.received.is_none() {
            self.received = match self.receiver.try_recv() {
                Ok(outcome) => Some(outcome),
                Err(oneshot::error::TryRecvError::Closed) => Some(Err(runtime_gone())),
                Err(oneshot::error::TryRecvError::Empty) => None,
            };
        }
        self.received.is_some()
    }

    /// The object that is called.
    pub(crate) const fn target(&self) -> &ObjectRef {
        &self.target
    }

    /// Ready when the call has ended: its results are there then.
    pub(crate) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.received.is_none() {
            let Poll::Ready(received) = Pin::new(&mut *self).poll(cx) else {
                return Poll::Pending;
            };
            self.received = Some(received);
        }
        Poll::Ready(())
    }
}

/// The results of the call. Polled again after it was ready, it is BAD_INV_ORDER (minor code 12).
impl Future for PendingResponse {
    type Output = Result<Response, RequestError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(received) = self.received.take() {
            return Poll::Ready(received);
        }
        if self.receiver.is_terminated() {
            return Poll::Ready(Err(result_taken()));
        }
        let received = Pin::new(&mut self.receiver).poll(cx);
        received.map(|outcome| {
            self.task.0 = None;
            outcome.unwrap_or_else(|_| Err(runtime_gone()))
        })
    }
}

impl fmt::Debug for PendingResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingResponse")
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

/// Reports the outcome of one of several calls: a lost one when it is dropped before.
struct Delivery {
    index: usize,
    sender: Option<mpsc::UnboundedSender<(usize, Result<Response, RequestError>)>>,
}

impl Delivery {
    fn deliver(mut self, outcome: Result<Response, RequestError>) {
        if let Some(sender) = self.sender.take() {
            // A receiver that is gone wants no outcome.
            let _ = sender.send((self.index, outcome));
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            let _ = sender.send((self.index, Err(runtime_gone())));
        }
    }
}

/// Calls in progress, of [`Request::send_multiple_deferred`]. Each is reported once, in the order in which they end.
///
/// Dropping it cancels those that have not been reported. Source: CORBA 3.3 Part 1, `CORBA::ORB` (`poll_next_response`,
/// `get_next_response`).
#[must_use = "calls that are dropped are cancelled"]
pub struct PendingResponses {
    // At most one for each request is in it.
    receiver: mpsc::UnboundedReceiver<(usize, Result<Response, RequestError>)>,
    received: Option<(usize, Result<Response, RequestError>)>,
    _tasks: Vec<Task>,
}

impl PendingResponses {
    /// Waits for the next call that ends, and returns its index among the requests with its outcome; `None` when all have been
    /// reported.
    ///
    /// # Cancel safety
    /// Safe: no outcome is lost.
    #[doc(alias = "get_next_response")]
    pub async fn next(&mut self) -> Option<(usize, Result<Response, RequestError>)> {
        match self.received.take() {
            None => self.receiver.recv().await,
            received => received,
        }
    }

    /// Whether [`next`](Self::next) would not wait, as another call has ended, or all have been reported.
    #[doc(alias = "poll_next_response")]
    pub fn is_ready(&mut self) -> bool {
        if self.received.is_none() {
            match self.receiver.try_recv() {
                Ok(received) => self.received = Some(received),
                Err(mpsc::error::TryRecvError::Empty) => return false,
                Err(mpsc::error::TryRecvError::Disconnected) => {}
            }
        }
        true
    }
}

impl fmt::Debug for PendingResponses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingResponses").finish_non_exhaustive()
    }
}

impl Request {
    /// Calls the operation, and returns while the call goes on: its results are in the [`PendingResponse`] later. It is sent at
    /// once if the reference is bound, under the policies and at the priority of the caller. Time limits run from here on.
    ///
    /// The call is a copy of this request, which may be used again. Costs a task and some allocations.
    ///
    /// ```
    /// # use zorb::{ObjectRef, RequestError, TypeCode};
    /// # async fn example(account: ObjectRef) -> Result<(), RequestError> {
    /// let balance = account.request("_get_balance").returns(TypeCode::of::<f64>());
    /// let pending = balance.send_deferred();
    /// // Something else meanwhile.
    /// println!("{:?}", pending.await?.result);
    /// # Ok(()) }
    /// ```
    pub fn send_deferred(&self) -> PendingResponse {
        let (sender, receiver) = oneshot::channel();
        let request = self.clone();
        let call = async move { request.invoke().await };
        let task = begin(self.target(), call, move |outcome| {
            // A caller that is gone wants no outcome.
            let _ = sender.send(outcome);
        });
        PendingResponse {
            target: self.target().clone(),
            receiver,
            received: None,
            task: Task(task),
        }
    }

    /// Calls several operations at a time, as [`send_deferred`](Self::send_deferred) does for each.
    #[doc(alias = "send_multiple_requests_deferred")]
    pub fn send_multiple_deferred<'a>(
        requests: impl IntoIterator<Item = &'a Self>,
    ) -> PendingResponses {
        let (sender, receiver) = mpsc::unbounded_channel();
        let tasks = requests.into_iter().enumerate().map(|(index, request)| {
            let delivery = Delivery {
                index,
                sender: Some(sender.clone()),
            };
            let (object, request) = (request.target(), request.clone());
            let call = async move { request.invoke().await };
            Task(begin(object, call, move |outcome| {
                delivery.deliver(outcome)
            }))
        });
        PendingResponses {
            _tasks: tasks.collect(),
            receiver,
            received: None,
        }
    }

    /// Calls several one-way operations, one after the other: see [`send`](Self::send). Calls the rest if one fails.
    ///
    /// # Errors
    /// The first error.
    ///
    /// # Cancel safety
    /// Safe for the connections. The caller does not learn which requests were sent.
    #[doc(alias = "send_multiple_requests_oneway")]
    pub async fn send_multiple<'a>(
        requests: impl IntoIterator<Item = &'a Self>,
    ) -> Result<(), SystemException> {
        let mut sent = Ok(());
        for request in requests {
            sent = sent.and(request.send().await);
        }
        sent
    }
}
