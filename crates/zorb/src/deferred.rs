//! One-way requests that wait for their connections, by the reference that they were made through.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use zorb_cdr::{EncodeError, EncodeErrorKind, Encoder, NativeEndian, WireFormat};
use zorb_connection::{EncodeArguments, NamedBy, OneWayMode};
use zorb_giop::{ServiceContext, Version};

/// Octets of requests that wait for connections, of all references of an ORB: as many as may wait on one connection. A quarter is
/// kept for references of the application's own: those that peers have named may lead nowhere.
pub(crate) const MAX_DEFERRED_OCTETS: usize = 1 << 20;
/// Octets of those of references that peers have named.
const PEERS_OCTETS: usize = MAX_DEFERRED_OCTETS - MAX_DEFERRED_OCTETS / 4;
/// Octets that count for a waiting request besides its arguments and the name of its operation.
const REQUEST_OCTETS: usize = 128;

/// Octets that count for a service context besides its data.
const CONTEXT_OCTETS: usize = 40;

/// The requests of an ORB that wait for connections.
#[derive(Debug, Default)]
pub(crate) struct DeferredRequests {
    state: Mutex<State>,
    /// Notified when a queue has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    octets: usize,
    /// Those of references that peers have named.
    of_peers: usize,
    /// Queues by reference. A queue without requests belongs to a task that sends the last one.
    queues: HashMap<usize, VecDeque<Deferred>>,
}

/// The outcome of [`DeferredRequests::take`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeferOutcome {
    /// The request is the first of its queue, which needs a task that sends it.
    First,
    /// The request waits behind others.
    Behind,
    /// The queues have no room for the request.
    Refused,
}

impl DeferredRequests {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a request of the reference `of`. `first` runs before the first of a queue is there: a binding that another task
    /// has stored meanwhile is taken away, as calls by it would overtake the request.
    pub(crate) fn take(&self, of: usize, request: Deferred, first: impl FnOnce()) -> DeferOutcome {
        let mut state = self.state();
        let octets = state.octets.saturating_add(request.octets());
        let mut of_peers = state.of_peers;
        if request.named_by == NamedBy::Peer {
            of_peers = of_peers.saturating_add(request.octets());
        }
        if octets > MAX_DEFERRED_OCTETS || of_peers > PEERS_OCTETS {
            return DeferOutcome::Refused;
        }
        (state.octets, state.of_peers) = (octets, of_peers);
        match state.queues.get_mut(&of) {
            Some(queue) => {
                queue.push_back(request);
                DeferOutcome::Behind
            }
            None => {
                first();
                state.queues.insert(of, VecDeque::from([request]));
                DeferOutcome::First
            }
        }
    }

    /// The next request of a queue; `None` ends the queue, once `last` has run.
    pub(crate) fn next(&self, of: usize, last: impl FnOnce()) -> Option<Deferred> {
        let mut state = self.state();
        let next = state.queues.get_mut(&of).and_then(VecDeque::pop_front);
        match &next {
            Some(next) => {
                state.octets = state.octets.saturating_sub(next.octets());
                if next.named_by == NamedBy::Peer {
                    state.of_peers = state.of_peers.saturating_sub(next.octets());
                }
            }
            None => {
                last();
                state.queues.remove(&of);
                drop(state);
                self.ended.notify_waiters();
            }
        }
        next
    }

    /// Ready when no request of the reference `of` waits.
    pub(crate) async fn ended(&self, of: usize) {
        loop {
            let ended = self.ended.notified();
            // Checked after `notified()`, which records notifications from its creation on.
            if !self.state().queues.contains_key(&of) {
                return;
            }
            ended.await;
        }
    }
}

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Deferred {
    pub(crate) operation: Box<str>,
    pub(crate) arguments: Encoded,
    /// Service contexts.
    pub(crate) contexts: Vec<ServiceContext>,
    /// When the request is written once there is a connection.
    pub(crate) mode: OneWayMode,
    /// Who has named the reference.
    pub(crate) named_by: NamedBy,
}

impl Deferred {
    fn octets(&self) -> usize {
        let arguments: usize = self.arguments.octets.iter().map(Vec::len).sum();
        let contexts: usize = (self.contexts.iter())
            .map(|context| context.data.len().saturating_add(CONTEXT_OCTETS))
            .sum();
        REQUEST_OCTETS
            .saturating_add(self.operation.len())
            .saturating_add(arguments)
            .saturating_add(contexts)
    }
}

/// Arguments as octets.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) format: WireFormat,
    /// The arguments encoded for a body at a multiple of 8, and for one 4 octets behind. In GIOP 1.2 bodies are aligned
    /// to 8; before 1.2 a body follows its header at either position.
    octets: [Vec<u8>; 2],
}

impl Encoded {
    pub(crate) fn new(
        arguments: &dyn EncodeArguments,
        format: WireFormat,
    ) -> Result<Self, EncodeError> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(named_by: NamedBy) -> Deferred {
        Deferred {
            operation: "noted".into(),
            arguments: Encoded {
                format: WireFormat::default(),
                octets: [vec![0; 64 << 10], Vec::new()],
            },
            contexts: Vec::new(),
            mode: OneWayMode::Batched,
            named_by,
        }
    }

    #[test]
    fn references_that_peers_have_named_leave_a_quarter_to_those_of_the_application() {
        let deferred = DeferredRequests::default();
        let take_all = |of, named_by| {
            (0..)
                .take_while(|_| {
                    deferred.take(of, request(named_by), || ()) != DeferOutcome::Refused
                })
                .count()
        };
        // A request counts a little more than its 64 KiB.
        assert_eq!(take_all(1, NamedBy::Peer), 11);
        assert_eq!(take_all(2, NamedBy::Peer), 0);
        assert_eq!(take_all(3, NamedBy::Application), 4);
        while deferred.next(1, || ()).is_some() {}
        assert_eq!(take_all(2, NamedBy::Peer), 11);
    }
}
