//! The server's side: an interceptor that finds out who calls.

use super::authentication::Failure;
use super::{Authentication, ProtectedAdapters, SECURITY, is_protected_peer};
use crate::interceptors::{Interception, Interrupt, ServerRequestInfo, ServerRequestInterceptor};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use zorb_connection::{Counter, Peer};
use zorb_csi::server::{Admission, Settings, Verification};
use zorb_csi::{ContextId, SasContext, ServerContexts, Status};
use zorb_giop::{CompletionStatus, Fault, ServiceContext, SystemException, SystemExceptionKind};

/// The interceptor of the requests that an ORB serves.
#[derive(Debug)]
pub(crate) struct ServerSide {
    pub(super) protected: ProtectedAdapters,
    /// By which evidence is compared.
    hash_key: [u8; 32],
}

impl Default for ServerSide {
    fn default() -> Self {
        let mut hash_key = [0; 32];
        // Without a random key a hash is still one that nobody else sees.
        let _ = getrandom::fill(&mut hash_key);
        Self {
            protected: ProtectedAdapters::default(),
            hash_key,
        }
    }
}

/// What is kept of a connection.
#[derive(Debug, Default)]
struct ConnectionContexts {
    /// The contexts by the authentication that has accepted them.
    contexts: Mutex<Vec<(u64, ServerContexts<Arc<Peer>>)>>,
    /// A verification has ended.
    verified: Notify,
}

impl ConnectionContexts {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, ServerContexts<Arc<Peer>>)>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, id: u64, run: impl FnOnce(&mut ServerContexts<Arc<Peer>>) -> T) -> Option<T> {
        let mut all = self.lock();
        let found = all.iter_mut().find(|(of, _)| *of == id);
        found.map(|(_, contexts)| run(contexts))
    }
}

/// A verification that is going on, which ends with this value.
struct Verifying<'a> {
    connection: &'a ConnectionContexts,
    id: u64,
    verification: Option<Verification>,
}

impl Verifying<'_> {
    fn end(mut self, outcome: Result<Arc<Peer>, Status>) -> Option<SasContext> {
        let verification = self.verification.take()?;
        (self.connection).with(self.id, |all| all.verified(&verification, outcome))
    }
}

impl Drop for Verifying<'_> {
    fn drop(&mut self) {
        if let Some(verification) = self.verification.take() {
            // The request has been cancelled, or the verifier has panicked.
            (self.connection).with(self.id, |all| all.abandoned(&verification));
        }
        self.connection.verified.notify_waiters();
    }
}

/// The outcome of a request's context: who calls, and the context of the reply.
type Accepted = (Option<Arc<Peer>>, Option<SasContext>);

/// Why a request is refused, and the context of the reply.
type Refused = (SystemException, Option<SasContext>);

impl ServerSide {
    async fn admit(
        &self,
        authentication: &Authentication,
        context: &[u8],
        peer: &Arc<Peer>,
        is_protected: bool,
    ) -> Result<Accepted, Refused> {
        let refused = |id, status| Err((denied(), Some(SasContext::refused(id, status))));
        let Ok(mut context) = SasContext::from_octets(context) else {
            return refused(ContextId::STATELESS, Status::INVALID_EVIDENCE);
        };
        if !is_protected && !authentication.is_for_unprotected {
            return refused(context.id(), Status::INVALID_EVIDENCE);
        }
        let id = authentication.id();
        let Some(connection) = peer.kept().get_or_init(ConnectionContexts::default) else {
            return Err((denied(), None));
        };
        let (verification, evidence) = loop {
            let verified = connection.verified.notified();
            tokio::pin!(verified);
            // Before the contexts are looked at: what ends in between is not missed.
            verified.as_mut().enable();
            match self.request(connection, authentication, context) {
                Admission::Verify(verification, evidence) => break (verification, evidence),
                Admission::Accepted(peer, reply) => return Ok((Some(peer), reply)),
                Admission::Refused(reply) => return Err((denied(), Some(reply))),
                Admission::Wait(again) => context = again,
            }
            verified.await;
        };
        let verifying = Verifying {
            connection,
            id,
            verification: Some(verification),
        };
        match authentication.verify(evidence, peer).await {
            Ok(principal) => {
                let known = match principal {
                    Some(principal) => {
                        let identity = peer.identity.clone().unwrap_or_default();
                        Arc::new(peer.with_identity(identity.with_principal(principal)))
                    }
                    None => Arc::new(peer.detached()),
                };
                let reply = verifying.end(Ok(Arc::clone(&known)));
                Ok((Some(known), reply))
            }
            Err(Failure::Denied(status)) => Err((denied(), verifying.end(Err(status)))),
            // Nothing is said about the evidence: the client may send it again.
            Err(Failure::Unavailable) => Err((unavailable(), None)),
        }
    }

    fn request(
        &self,
        connection: &ConnectionContexts,
        authentication: &Authentication,
        context: SasContext,
    ) -> Admission<Arc<Peer>> {
        let id = authentication.id();
        let mut all = connection.lock();
        let at = all.iter().position(|(of, _)| *of == id);
        let at = at.unwrap_or_else(|| {
            let mut settings = Settings::new(self.hash_key);
            settings.stateful = authentication.is_stateful;
            settings.no_context = authentication.no_context;
            all.push((id, ServerContexts::new(settings)));
            all.len().saturating_sub(1)
        });
        match all.get_mut(at) {
            Some((_, contexts)) => contexts.request(context),
            // It has just been found.
            None => {
                let status = Status::INVALID_EVIDENCE;
                Admission::Refused(SasContext::refused(context.id(), status))
            }
        }
    }
}

impl ServerRequestInterceptor for ServerSide {
    fn name(&self) -> &str {
        "zorb::csi"
    }

    fn receive_request_service_contexts<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a> {
        if self.protected.is_empty() {
            return Interception::CONTINUE;
        }
        let adapter = info.object.adapter();
        let authentication = adapter.and_then(|adapter| self.protected.of(&adapter));
        // Calls within the ORB have no peer.
        let (Some(authentication), Some(peer)) = (authentication, info.peer()) else {
            return Interception::CONTINUE;
        };
        let Some(context) = info.request.context(SECURITY) else {
            return match authentication.is_required {
                true => {
                    report_refused(info, &peer, "it has not logged in");
                    Interception::Ready(Err(denied().into()))
                }
                false => Interception::CONTINUE,
            };
        };
        // Copied, since the request is borrowed by what waits.
        let context = zorb_csi::Secret::from(context);
        let is_protected = is_protected_peer(&peer, info.orb);
        Interception::later(async move {
            let admitted = self.admit(&authentication, context.expose(), &peer, is_protected);
            let (reply, outcome) = match admitted.await {
                Ok((known, reply)) => {
                    if let Some(known) = known {
                        info.request.set_peer(known);
                    }
                    (reply, Ok(()))
                }
                Err((exception, reply)) => {
                    if exception.kind == SystemExceptionKind::NoPermission {
                        report_refused(info, &peer, "its login is not accepted");
                    }
                    (reply, Err(Interrupt::from(exception)))
                }
            };
            if let Some(context) = reply.as_ref().and_then(written) {
                info.add_reply_service_context(context, true)?;
            }
            outcome
        })
    }
}

/// Counts a client that is not let in, and warns of it now and then. What it has sent is not told: it may be a password.
fn report_refused(info: &ServerRequestInfo<'_>, peer: &Peer, why: &str) {
    let counters = &info.orb.connection_settings().counters;
    if let Some(omitted) = counters.report(Counter::LoginsRefused) {
        let (peer, operation) = (&peer.address, info.operation());
        tracing::warn!(%peer, operation, omitted, "a client is not let in: {why}");
    }
}

/// The service context of a reply; it holds no secret.
fn written(reply: &SasContext) -> Option<ServiceContext> {
    let data = reply.to_octets().ok()?.expose().to_vec().into();
    Some(ServiceContext { id: SECURITY, data })
}

/// NO_PERMISSION, of one wording for all reasons.
fn denied() -> SystemException {
    Fault::CallerRefused.raise(CompletionStatus::No)
}

fn unavailable() -> SystemException {
    Fault::AuthorityUnavailable.raise(CompletionStatus::No)
}
