//! One-way requests of SYNC_NONE whose connection is still to be made: their callers do not wait for it.
//!
//! Their arguments are encoded at once, in the format of the first endpoint of the reference, and wait in a queue of the
//! reference. A task connects, sends them in their order, and gives the reference its binding when the queue is empty:
//! other calls through the reference wait for that, so that they do not overtake.

use super::Invocation;
use crate::object::{Binding, ObjectRef, Remote, Target};
use crate::orb::{Orb, OrbInner};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use zorb_cdr::{EncodeError, EncodeErrorKind, Encoder, NativeEndian, WireFormat};
use zorb_connection::{ClientRequest, EncodeArguments};
use zorb_giop::{CompletionStatus, Fault, ResponseFlags, ServiceContext, SystemException, Version};

/// Octets of requests that wait for connections, of all references of an ORB: as many as may wait on one connection.
const MAX_DEFERRED_OCTETS: usize = 1 << 20;
/// Octets that a waiting request counts as beside its arguments and the name of its operation.
const REQUEST_OCTETS: usize = 128;

/// The requests of an ORB that wait for connections.
#[derive(Debug, Default)]
pub(crate) struct DeferredRequests {
    state: Mutex<State>,
    /// A queue has ended.
    ended: Notify,
    /// Requests that were refused, and those that were dropped.
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    octets: usize,
    /// By reference. A queue without requests is that of a task that sends the last one.
    queues: HashMap<usize, VecDeque<Deferred>>,
}

#[derive(Debug)]
struct Deferred {
    operation: Box<str>,
    arguments: Encoded,
    /// Of [interceptors](crate::interceptor).
    contexts: Vec<ServiceContext>,
}

impl Deferred {
    fn octets(&self) -> usize {
        let arguments: usize = self
            .arguments
            .octets
            .iter()
            .map(|octets| octets.len())
            .sum();
        REQUEST_OCTETS + self.operation.len() + arguments
    }
}

/// Arguments as octets.
#[derive(Debug)]
struct Encoded {
    format: WireFormat,
    /// For a body that begins at a multiple of 8, and for one that begins 4 behind: in GIOP 1.2 it is the former, and
    /// before, where a body follows its header, either.
    octets: [Vec<u8>; 2],
}

impl Encoded {
    fn new(arguments: &dyn EncodeArguments, format: WireFormat) -> Result<Self, EncodeError> {
        let aligned = {
            let mut e = Encoder::new(format);
            arguments.encode(&mut e)?;
            e.finish().to_vec()
        };
        let mut behind = Vec::new();
        if format.minor < Version::V1_2.minor {
            let mut e = Encoder::new(format);
            e.write_u32(0);
            arguments.encode(&mut e)?;
            behind = e.finish().to_vec().split_off(size_of::<u32>());
        }
        Ok(Self {
            format,
            octets: [aligned, behind],
        })
    }
}

impl EncodeArguments for Encoded {
    fn encode(&self, e: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
        let [aligned, behind] = &self.octets;
        match e.position() % 8 {
            0 => e.append(aligned),
            4 if self.format.minor < Version::V1_2.minor => e.append(behind),
            _ => {
                return Err(
                    EncodeErrorKind::Expected("a body at a multiple of four octets").into(),
                );
            }
        }
        Ok(())
    }

    fn lent(&self) -> Option<&[u8]> {
        None
    }
}

impl DeferredRequests {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request that was not sent.
    fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Ready when no request waits that was made through this reference, or a clone of it.
    pub(crate) async fn ended(&self, object: &ObjectRef) {
        let key = object.binding_id();
        loop {
            let ended = self.ended.notified();
            // Asked after the future was made, which counts from then on.
            if !self.state().queues.contains_key(&key) {
                return;
            }
            ended.await;
        }
    }
}

/// The queue of a reference while its task runs: it ends when this is dropped, with the runtime of the task at the latest.
struct Queue {
    orb: Arc<OrbInner>,
    key: usize,
}

impl Queue {
    /// The next request; `None` ends the queue, after `last` has run.
    fn next(&self, last: impl FnOnce()) -> Option<Deferred> {
        let deferred = self.orb.deferred();
        let mut state = deferred.state();
        let next = state
            .queues
            .get_mut(&self.key)
            .and_then(VecDeque::pop_front);
        match &next {
            Some(next) => state.octets = state.octets.saturating_sub(next.octets()),
            None => {
                last();
                state.queues.remove(&self.key);
            }
        }
        next
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        while self.next(|| ()).is_some() {
            self.orb.deferred().refused();
        }
        self.orb.deferred().ended.notify_waiters();
    }
}

impl Orb {
    /// How many one-way requests of [`SyncScope::None`](crate::SyncScope::None) were not sent so far: those that were
    /// refused with TRANSIENT, since there was no room for them, and those that were dropped, since their connection
    /// could not be made. Requests that were queued when a connection was lost are not among them.
    #[must_use]
    pub fn one_ways_refused(&self) -> u64 {
        self.inner().deferred().refused.load(Ordering::Relaxed)
    }
}

impl ObjectRef {
    /// Takes a one-way request that is not to wait for its connection. `None`: it has to wait for none, or fails at once.
    #[cold]
    pub(super) fn defer(
        &self,
        invocation: &mut Invocation<'_>,
    ) -> Option<Result<(), SystemException>> {
        let way = self.first_way()?;
        if let Some(interceptor) = self.interceptor()
            && let Err(exception) = invocation.send_request(interceptor, false)
        {
            return Some(Err(exception));
        }
        let format = way.code_sets.with_minor(way.version.minor);
        let arguments = match Encoded::new(invocation.arguments, format) {
            Ok(arguments) => arguments,
            Err(error) => {
                let fault = match error.kind() {
                    EncodeErrorKind::WideRefused => Fault::NoWideCodeSet {
                        endpoint: way.endpoint.to_string(),
                        stated: way.stated,
                    },
                    _ => Fault::Encode(error),
                };
                return Some(Err(fault.raise(CompletionStatus::No)));
            }
        };
        let request = Deferred {
            operation: invocation.operation.into(),
            arguments,
            contexts: invocation.contexts().to_vec(),
        };
        if let Some(interceptor) = self.interceptor() {
            invocation.has_sent(interceptor);
        }
        let (orb, key) = (self.orb().inner(), self.binding_id());
        let mut state = orb.deferred().state();
        let octets = state.octets.saturating_add(request.octets());
        if octets > MAX_DEFERRED_OCTETS {
            drop(state);
            return Some(Err(self.refused_one_way()));
        }
        state.octets = octets;
        if let Some(queue) = state.queues.get_mut(&key) {
            queue.push_back(request);
            return Some(Ok(()));
        }
        state.queues.insert(key, VecDeque::from([request]));
        drop(state);
        let queue = Queue {
            orb: Arc::clone(orb),
            key,
        };
        // The shutdown waits until the requests are sent.
        let (object, token) = (self.clone(), orb.task());
        self.home().spawn(async move {
            send_all(&object, &queue).await;
            drop((queue, token));
        });
        Some(Ok(()))
    }

    /// A one-way request that would have to wait for room, which its caller does not want.
    #[cold]
    pub(super) fn refused_one_way(&self) -> SystemException {
        self.orb().inner().deferred().refused();
        let limit = MAX_DEFERRED_OCTETS;
        Fault::Overload(format!(
            "{limit} octets of one-way requests wait to be sent"
        ))
        .raise(CompletionStatus::No)
    }
}

/// Connects, and sends what waits.
async fn send_all(object: &ObjectRef, queue: &Queue) {
    let bound = match object.bind_apart().await {
        Ok(bound) => bound,
        Err(exception) => return tracing::debug!(%exception, "one-way requests dropped"),
    };
    while let Some(request) = queue.next(|| object.store_binding(&bound)) {
        if let Err(error) = send(&bound, &request).await {
            queue.orb.deferred().refused();
            tracing::debug!(%error, "a one-way request dropped");
        }
    }
}

async fn send(binding: &Binding, request: &Deferred) -> Result<(), SystemException> {
    let Target::Remote(Remote {
        connection,
        requests,
    }) = &binding.target
    else {
        return Err(super::reply::internal());
    };
    if binding.format() != request.arguments.format {
        // Another endpoint has answered, whose text is in another code set.
        let moved = EncodeErrorKind::Expected("the code sets of the first endpoint");
        return Err(Fault::Encode(moved.into()).raise(CompletionStatus::No));
    }
    let request = ClientRequest {
        template: requests,
        operation: &request.operation,
        arguments: &request.arguments,
        contexts: &request.contexts,
        response: ResponseFlags::None,
        wait: None,
        sent: &AtomicBool::new(false),
        octets: &AtomicUsize::new(0),
    };
    // This task waits for room, and its requests leave in their order.
    let sent = connection.send_one_way(&request, false).await;
    sent.map_err(zorb_connection::CallError::raise)
}
