//! The server's side: the contexts of one connection.
//!
//! The evidence of a request is verified by the application, which may take its time: requests that refer to the context meanwhile
//! wait for the outcome. JacORB sends such requests before it has the answer to the first.

use crate::{ContextId, EstablishContext, SasContext, Status};
use subtle::ConstantTimeEq;

/// The most contexts that a server keeps of a connection. Beyond it, the one that was not used for the longest time is forgotten;
/// while all are being established, further ones are not kept.
pub const MAX_CONTEXTS: usize = 64;

/// The contexts of one connection. `I` is the identity of a client that has been accepted.
#[derive(Debug)]
pub struct ServerContexts<I> {
    /// In the order of their last use.
    contexts: Vec<Kept<I>>,
    settings: Settings,
}

/// How a server keeps contexts.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Settings {
    /// Whether contexts are kept at all. References should say the same.
    pub stateful: bool,
    /// The reason that a client gets whose context is not there: [`Status::NO_CONTEXT`], or
    /// [`Status::INVALID_MECHANISM`] for clients of JacORB, which sends a request again for no other reason.
    pub no_context: Status,
    /// The key of the hashes by which evidence is compared; random.
    pub hash_key: [u8; 32],
}

impl Settings {
    /// Makes settings for contexts that are kept, with the reasons of the specification.
    #[must_use]
    pub const fn new(hash_key: [u8; 32]) -> Self {
        Self {
            stateful: true,
            no_context: Status::NO_CONTEXT,
            hash_key,
        }
    }
}

struct Kept<I> {
    id: ContextId,
    /// Of the evidence; passwords are not kept.
    hash: [u8; 32],
    /// `None` while the evidence is being verified.
    identity: Option<I>,
}

impl<I> core::fmt::Debug for Kept<I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (id, is_established) = (self.id, self.identity.is_some());
        write!(f, "Kept({}, {is_established})", id.0)
    }
}

/// A verification that is going on, to be ended by [`ServerContexts::verified`] or [`ServerContexts::abandoned`].
#[derive(Debug)]
#[must_use = "requests wait until it has ended"]
pub struct Verification {
    id: ContextId,
    /// Whether the context is kept meanwhile.
    is_kept: bool,
}

/// What becomes of a request with a context.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these four")]
pub enum Admission<I> {
    /// The evidence has to be verified.
    Verify(Verification, EstablishContext),
    /// Another request has brought the evidence, which is being verified: the context is asked about again, when a
    /// verification of the connection has ended.
    Wait(SasContext),
    /// The request is that of this identity; its reply carries the context, if there is one.
    Accepted(I, Option<SasContext>),
    /// The operation must not be carried out: NO_PERMISSION, with this context.
    Refused(SasContext),
}

impl<I: Clone> ServerContexts<I> {
    /// Makes the contexts of a connection on which none has come yet.
    #[must_use]
    pub const fn new(settings: Settings) -> Self {
        Self {
            contexts: Vec::new(),
            settings,
        }
    }

    /// Takes the context of a request. Costs a walk over [`MAX_CONTEXTS`] contexts at most, and a hash of evidence.
    pub fn request(&mut self, context: SasContext) -> Admission<I> {
        let id = context.id();
        match context {
            SasContext::Establish(evidence) => self.establish(evidence),
            SasContext::Message { discard, .. } => {
                let Some(index) = self.contexts.iter().position(|kept| kept.id == id) else {
                    return Admission::Refused(SasContext::refused(id, self.settings.no_context));
                };
                // The position is there, so nothing is `None`.
                let Some(identity) = self.touch(index) else {
                    return Admission::Wait(context);
                };
                if discard {
                    self.contexts.pop();
                }
                Admission::Accepted(identity, None)
            }
            // Of replies.
            SasContext::Complete { .. } | SasContext::Error(_) => {
                Admission::Refused(SasContext::refused(id, Status::INVALID_EVIDENCE))
            }
        }
    }

    fn establish(&mut self, evidence: EstablishContext) -> Admission<I> {
        let id = evidence.id;
        if !self.settings.stateful || id == ContextId::STATELESS {
            let is_kept = false;
            return Admission::Verify(Verification { id, is_kept }, evidence);
        }
        let hash = self.hash(&evidence);
        if let Some(index) = self.contexts.iter().position(|kept| kept.id == id) {
            let is_same =
                (self.contexts.get(index)).is_some_and(|kept| bool::from(kept.hash.ct_eq(&hash)));
            return match (is_same, self.touch(index)) {
                (false, _) => {
                    Admission::Refused(SasContext::refused(id, Status::CONFLICTING_EVIDENCE))
                }
                (true, Some(identity)) => {
                    Admission::Accepted(identity, Some(SasContext::complete(id, true)))
                }
                (true, None) => Admission::Wait(SasContext::Establish(evidence)),
            };
        }
        if self.contexts.len() >= MAX_CONTEXTS
            && let Some(oldest) = (self.contexts.iter()).position(|kept| kept.identity.is_some())
        {
            self.contexts.remove(oldest);
        }
        let is_kept = self.contexts.len() < MAX_CONTEXTS;
        if is_kept {
            self.contexts.push(Kept {
                id,
                hash,
                identity: None,
            });
        }
        Admission::Verify(Verification { id, is_kept }, evidence)
    }

    /// Ends a verification with the identity of the client, or with the reason of its refusal. Returns the context of the reply.
    pub fn verified(
        &mut self,
        verification: &Verification,
        outcome: Result<I, Status>,
    ) -> SasContext {
        let id = verification.id;
        match outcome {
            Ok(identity) => {
                let kept = (self.contexts.iter_mut())
                    .find(|kept| verification.is_kept && kept.id == id && kept.identity.is_none());
                let is_kept = kept.is_some();
                if let Some(kept) = kept {
                    kept.identity = Some(identity);
                }
                SasContext::complete(id, is_kept)
            }
            Err(status) => {
                self.abandoned(verification);
                SasContext::refused(id, status)
            }
        }
    }

    /// Ends a verification without an outcome: its request has been cancelled.
    pub fn abandoned(&mut self, verification: &Verification) {
        if verification.is_kept {
            let id = verification.id;
            self.contexts
                .retain(|kept| kept.id != id || kept.identity.is_some());
        }
    }

    /// Makes a context the one that was used last, and returns its identity.
    fn touch(&mut self, index: usize) -> Option<I> {
        if index < self.contexts.len() {
            let kept = self.contexts.remove(index);
            self.contexts.push(kept);
        }
        self.contexts.last()?.identity.clone()
    }

    fn hash(&self, evidence: &EstablishContext) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.settings.hash_key);
        let mut add = |kind: u32, octets: &[u8]| {
            hasher.update(&kind.to_be_bytes());
            hasher.update(&octets.len().to_be_bytes());
            hasher.update(octets);
        };
        for each in &evidence.authorization {
            add(each.kind, &each.element);
        }
        add(evidence.identity.kind().0, evidence.identity.octets());
        add(0, evidence.authentication.expose());
        *hasher.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IdentityToken;

    fn contexts() -> ServerContexts<&'static str> {
        ServerContexts::new(Settings::new([7; 32]))
    }

    fn evidence(id: u64, password: &str) -> SasContext {
        SasContext::Establish(EstablishContext {
            id: ContextId(id),
            authorization: Vec::new(),
            identity: IdentityToken::Absent,
            authentication: password.into(),
        })
    }

    fn message(id: u64, discard: bool) -> SasContext {
        let id = ContextId(id);
        SasContext::Message { id, discard }
    }

    fn verify<I>(admission: Admission<I>) -> Verification {
        match admission {
            Admission::Verify(verification, _) => verification,
            _ => panic!("expected a verification"),
        }
    }

    fn accepted<I>(admission: Admission<I>) -> (I, Option<SasContext>) {
        match admission {
            Admission::Accepted(identity, reply) => (identity, reply),
            _ => panic!("expected an identity"),
        }
    }

    fn refused<I>(admission: Admission<I>) -> Status {
        match admission {
            Admission::Refused(SasContext::Error(error)) => error.status,
            _ => panic!("expected a refusal"),
        }
    }

    #[test]
    fn a_context_that_was_accepted_serves_until_it_is_discarded() {
        let mut contexts = contexts();
        let verification = verify(contexts.request(evidence(1, "secret")));
        let reply = contexts.verified(&verification, Ok("alice"));
        assert_eq!(reply, SasContext::complete(ContextId(1), true));
        for discard in [false, true] {
            let (identity, reply) = accepted(contexts.request(message(1, discard)));
            assert_eq!((identity, reply), ("alice", None));
        }
        let status = refused(contexts.request(message(1, false)));
        assert_eq!(status, Status::NO_CONTEXT);
    }

    #[test]
    fn a_stateless_context_is_verified_each_time_and_referred_to_by_nobody() {
        let mut contexts = contexts();
        for _ in 0..2 {
            let verification = verify(contexts.request(evidence(0, "secret")));
            let reply = contexts.verified(&verification, Ok("alice"));
            assert_eq!(reply, SasContext::complete(ContextId(0), false));
        }
        let status = refused(contexts.request(message(0, false)));
        assert_eq!(status, Status::NO_CONTEXT);
        contexts.settings.stateful = false;
        let verification = verify(contexts.request(evidence(9, "secret")));
        let reply = contexts.verified(&verification, Ok("alice"));
        assert_eq!(reply, SasContext::complete(ContextId(9), false));
    }

    #[test]
    fn evidence_that_is_repeated_is_accepted_and_other_evidence_conflicts() {
        let mut contexts = contexts();
        let verification = verify(contexts.request(evidence(1, "secret")));
        let repeated = contexts.request(evidence(1, "secret"));
        let Admission::Wait(repeated) = repeated else {
            panic!("{repeated:?}");
        };
        let status = refused(contexts.request(evidence(1, "guess")));
        assert_eq!(status, Status::CONFLICTING_EVIDENCE);
        contexts.verified(&verification, Ok("alice"));
        let complete = SasContext::complete(ContextId(1), true);
        let outcome = accepted(contexts.request(repeated));
        assert_eq!(outcome, ("alice", Some(complete)));
        let status = refused(contexts.request(evidence(1, "guess")));
        assert_eq!(status, Status::CONFLICTING_EVIDENCE);
        // The context is what it was.
        assert_eq!(accepted(contexts.request(message(1, false))).0, "alice");
    }

    #[test]
    fn a_request_that_comes_during_the_verification_waits_for_its_outcome() {
        for outcome in [Ok("alice"), Err(Status::INVALID_EVIDENCE)] {
            let mut contexts = contexts();
            let verification = verify(contexts.request(evidence(1, "secret")));
            let waiting = contexts.request(message(1, false));
            let Admission::Wait(waiting) = waiting else {
                panic!("{waiting:?}");
            };
            contexts.verified(&verification, outcome);
            match contexts.request(waiting) {
                Admission::Accepted(identity, None) => assert_eq!(Ok(identity), outcome),
                other => {
                    assert_eq!(refused(other), Status::NO_CONTEXT);
                    assert!(outcome.is_err());
                }
            }
        }
    }

    #[test]
    fn a_verification_that_is_cancelled_leaves_nothing_to_wait_for() {
        let mut contexts = contexts();
        let verification = verify(contexts.request(evidence(1, "secret")));
        contexts.abandoned(&verification);
        let _again = verify(contexts.request(evidence(1, "secret")));
    }

    #[test]
    fn the_context_that_was_not_used_for_the_longest_time_makes_room() {
        let mut contexts = contexts();
        let establish = |contexts: &mut ServerContexts<_>, id| {
            let verification = verify(contexts.request(evidence(id, "secret")));
            contexts.verified(&verification, Ok("alice"))
        };
        for id in 1..=MAX_CONTEXTS as u64 {
            establish(&mut contexts, id);
        }
        accepted(contexts.request(message(1, false)));
        establish(&mut contexts, 1000);
        accepted(contexts.request(message(1, false)));
        assert_eq!(
            refused(contexts.request(message(2, false))),
            Status::NO_CONTEXT
        );
        assert_eq!(contexts.contexts.len(), MAX_CONTEXTS);
    }

    #[test]
    fn contexts_that_are_all_being_verified_are_not_crowded_out() {
        let mut contexts = contexts();
        let first: Vec<_> = (1..=MAX_CONTEXTS as u64)
            .map(|id| verify(contexts.request(evidence(id, "secret"))))
            .collect();
        let further = verify(contexts.request(evidence(1000, "secret")));
        assert_eq!(
            contexts.verified(&further, Ok("alice")),
            SasContext::complete(ContextId(1000), false)
        );
        for verification in &first {
            let reply = contexts.verified(verification, Ok("alice"));
            assert!(matches!(reply, SasContext::Complete { stateful: true, .. }));
        }
    }

    #[test]
    fn a_reply_in_a_request_is_refused() {
        let mut contexts = contexts();
        let status = refused(contexts.request(SasContext::complete(ContextId(1), true)));
        assert_eq!(status, Status::INVALID_EVIDENCE);
    }
}
