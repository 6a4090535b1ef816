//! The client's side: the contexts of one connection.
//!
//! A request carries its evidence until the server has said that it keeps the context; from then on it refers to the context by
//! its id. A server may forget contexts at any time: a request that refers to one then fails before its operation is carried out,
//! and is sent again with the evidence, once.

use crate::{ContextId, SasContext, Status};

/// The most contexts that a client keeps on a connection. The requests of further identities carry their evidence each time.
pub const MAX_CONTEXTS: usize = 256;

/// The contexts of one connection, by what the client calls an identity: credentials for a mechanism.
#[derive(Debug)]
pub struct ClientContexts<K> {
    contexts: Vec<(K, State)>,
    last: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Requests with the evidence have been sent; none has been answered.
    Establishing(ContextId),
    /// The server keeps the context.
    Established(ContextId),
    /// The server keeps no contexts.
    Stateless,
}

/// How a request carries its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum Carried {
    /// With the evidence, under this id.
    Evidence(ContextId),
    /// By the id of a context that the server has.
    Reference(ContextId),
}

/// What a reply means for its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these three")]
pub enum Answer {
    /// The context was not refused: the outcome is that of the operation.
    Accepted,
    /// The server does not have the context, and has not carried the operation out: it is sent again, with the evidence.
    SendAgain,
    /// The evidence was refused, and the operation not carried out.
    Refused(Status),
}

impl<K> Default for ClientContexts<K> {
    fn default() -> Self {
        Self {
            contexts: Vec::new(),
            last: 0,
        }
    }
}

impl<K: Eq + Clone> ClientContexts<K> {
    /// Begins a request of an identity. `stateful`: whether the reference says that its server keeps contexts.
    pub fn begin(&mut self, identity: &K, stateful: bool) -> Carried {
        if !stateful {
            return Carried::Evidence(ContextId::STATELESS);
        }
        match self.find(identity).copied() {
            Some(State::Establishing(id)) => Carried::Evidence(id),
            Some(State::Established(id)) => Carried::Reference(id),
            Some(State::Stateless) => Carried::Evidence(ContextId::STATELESS),
            None if self.contexts.len() >= MAX_CONTEXTS => Carried::Evidence(ContextId::STATELESS),
            None => {
                // Ids are not used twice on a connection.
                self.last = self.last.saturating_add(1);
                let id = ContextId(self.last);
                self.contexts
                    .push((identity.clone(), State::Establishing(id)));
                Carried::Evidence(id)
            }
        }
    }

    /// Takes the context of a reply to a request that has carried its own so. The id in the reply is not looked at: GlassFish says
    /// 0 whatever the client's was.
    pub fn answered(
        &mut self,
        identity: &K,
        carried: Carried,
        reply: Option<&SasContext>,
    ) -> Answer {
        let (Carried::Evidence(id) | Carried::Reference(id)) = carried;
        match (carried, reply) {
            (Carried::Evidence(_), Some(SasContext::Complete { stateful, .. })) => {
                if let Some(state) = self.find(identity)
                    && *state == State::Establishing(id)
                {
                    *state = match stateful {
                        true => State::Established(id),
                        false => State::Stateless,
                    };
                }
                Answer::Accepted
            }
            (_, Some(SasContext::Error(error))) => {
                self.contexts.retain(|(of, state)| {
                    of != identity
                        || !matches!(state, State::Establishing(held) | State::Established(held) if *held == id)
                });
                match carried {
                    Carried::Evidence(_) => Answer::Refused(error.status),
                    // Servers give different reasons, and none invokes an operation whose context it has refused.
                    Carried::Reference(_) => Answer::SendAgain,
                }
            }
            // A context that has been established is not confirmed again.
            _ => Answer::Accepted,
        }
    }

    fn find(&mut self, identity: &K) -> Option<&mut State> {
        let found = self.contexts.iter_mut().find(|(of, _)| of == identity);
        found.map(|(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ContextId = ContextId(1);

    fn complete(id: u64, stateful: bool) -> SasContext {
        SasContext::complete(ContextId(id), stateful)
    }

    fn refused(status: Status) -> SasContext {
        SasContext::refused(ContextId::STATELESS, status)
    }

    #[test]
    fn a_stateless_server_gets_the_evidence_each_time() {
        let mut contexts = ClientContexts::default();
        for _ in 0..2 {
            let carried = contexts.begin(&"alice", false);
            assert_eq!(carried, Carried::Evidence(ContextId::STATELESS));
            let answer = contexts.answered(&"alice", carried, Some(&complete(0, false)));
            assert_eq!(answer, Answer::Accepted);
        }
    }

    #[test]
    fn a_stateful_server_gets_the_evidence_until_it_has_answered() {
        let mut contexts = ClientContexts::default();
        let carried = contexts.begin(&"alice", true);
        assert_eq!(carried, Carried::Evidence(FIRST));
        assert_eq!(contexts.begin(&"alice", true), Carried::Evidence(FIRST));
        assert_eq!(
            contexts.begin(&"bob", true),
            Carried::Evidence(ContextId(2))
        );
        contexts.answered(&"alice", carried, Some(&complete(1, true)));
        let carried = contexts.begin(&"alice", true);
        assert_eq!(carried, Carried::Reference(FIRST));
        assert_eq!(contexts.answered(&"alice", carried, None), Answer::Accepted);
    }

    #[test]
    fn a_server_that_says_it_keeps_no_context_gets_no_reference_to_one() {
        let mut contexts = ClientContexts::default();
        let carried = contexts.begin(&"alice", true);
        contexts.answered(&"alice", carried, Some(&complete(1, false)));
        let carried = contexts.begin(&"alice", true);
        assert_eq!(carried, Carried::Evidence(ContextId::STATELESS));
    }

    #[test]
    fn a_forgotten_context_is_established_anew_whatever_the_server_calls_it() {
        for status in [
            Status::NO_CONTEXT,
            Status::INVALID_MECHANISM,
            Status::NO_CONTEXT_OF_GLASSFISH,
        ] {
            let mut contexts = ClientContexts::default();
            let carried = contexts.begin(&"alice", true);
            contexts.answered(&"alice", carried, Some(&complete(1, true)));
            let both = [(); 2].map(|()| contexts.begin(&"alice", true));
            assert_eq!(both, [Carried::Reference(FIRST); 2]);
            for carried in both {
                let answer = contexts.answered(&"alice", carried, Some(&refused(status)));
                assert_eq!(answer, Answer::SendAgain);
                // The second finds what the first has begun.
                let carried = contexts.begin(&"alice", true);
                assert_eq!(carried, Carried::Evidence(ContextId(2)));
            }
        }
    }

    #[test]
    fn evidence_that_is_refused_is_not_sent_again() {
        let mut contexts = ClientContexts::default();
        for id in [1, 2] {
            let carried = contexts.begin(&"mallory", true);
            assert_eq!(carried, Carried::Evidence(ContextId(id)));
            let status = Status::INVALID_EVIDENCE;
            let answer = contexts.answered(&"mallory", carried, Some(&refused(status)));
            assert_eq!(answer, Answer::Refused(status));
        }
    }

    #[test]
    fn identities_beyond_the_limit_are_stateless() {
        let mut contexts = ClientContexts::default();
        for identity in 0..MAX_CONTEXTS {
            contexts.begin(&identity, true);
        }
        let carried = contexts.begin(&MAX_CONTEXTS, true);
        assert_eq!(carried, Carried::Evidence(ContextId::STATELESS));
        assert_eq!(contexts.begin(&0, true), Carried::Evidence(FIRST));
    }
}
