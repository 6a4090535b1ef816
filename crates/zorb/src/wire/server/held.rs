//! Requests that need more than a servant: those that ask where an object is, that are refused or sent on, whose key the
//! application is asked about, and that a POA manager holds.

use super::super::link::Behind;
use super::super::upcall::{enter, released};
use super::ServerConnection;
use super::pending::Pending;
use crate::keys::Found;
use crate::orb::OrbInner;
use bytes::Bytes;
use std::sync::Arc;
use zorb_cdr::{Encoder, NativeEndian};
use zorb_giop::codeset::CodeSets;
use zorb_giop::{
    Ior, LocateReply, LocateRequestHeader, Message, ProtocolError, ResponseFlags, SystemException,
    SystemExceptionKind, Version, buffers,
};
use zorb_poa::{ActiveObject, Missing, Outcome, Request, State};

/// Where an object is, as a LocateRequest wants to know it. Nobody waits for an answer that a
/// POA manager would hold: the object is here then, and its requests are held.
pub(crate) fn locate_reply(orb: &OrbInner, found: Result<Found, SystemException>) -> LocateReply {
    let object = match found {
        Ok(Found::Object(object)) => object,
        Ok(Found::Elsewhere(target)) => return LocateReply::ObjectForward(Ior::clone(&target)),
        Ok(Found::Unknown(_)) => return LocateReply::UnknownObject,
        Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => {
            return LocateReply::UnknownObject;
        }
        Err(exception) => return LocateReply::SystemException(exception),
    };
    let Some(forward) = object
        .forward()
        .filter(|_| object.manager().state() == State::Active)
    else {
        return LocateReply::ObjectHere;
    };
    match enter(orb, || (forward.target)()).flatten() {
        Ok(target) if forward.permanent => LocateReply::ObjectForwardPerm(target),
        Ok(target) => LocateReply::ObjectForward(target),
        Err(exception) => LocateReply::SystemException(exception),
    }
}

fn encode_located(reply: &LocateReply, version: Version, request_id: u32) -> Outcome {
    let encoder = Encoder::<NativeEndian>::with_buffer(
        buffers::take(),
        CodeSets::UNSTATED.with_minor(version.minor),
    );
    reply
        .encode(encoder, version, request_id)
        .map_or(Outcome::Silent, Outcome::Reply)
}

impl ServerConnection {
    pub(super) fn locate(self: &Arc<Self>, message: &Message) -> Result<(), ProtocolError> {
        let header = LocateRequestHeader::read(message)?;
        let (version, id) = (message.header.version, header.request_id);
        let found = match header.target.object_key() {
            Some(key) => self.orb.find_for_peer(&key),
            None => Err(Missing::Adapter.raise()),
        };
        let found = match found {
            // It may yet be here, and its requests are told that they are early.
            Err(early) if early.kind == SystemExceptionKind::Transient => {
                self.send(encode_located(&LocateReply::ObjectHere, version, id));
                return Ok(());
            }
            Ok(Found::Unknown(key)) => match self.check_pending(0) {
                Ok(()) => {
                    let pending = Pending::question(self, id);
                    self.orb.track(async move {
                        let orb = &pending.connection.orb;
                        let answer = locate_reply(orb, orb.ask(key).await);
                        pending.answer(encode_located(&answer, version, id));
                    });
                    return Ok(());
                }
                Err(overload) => Err(overload),
            },
            found => found,
        };
        let answer = locate_reply(&self.orb, found);
        self.send(encode_located(&answer, version, id));
        Ok(())
    }

    /// Serves a request whose target has been looked for. `pending`: its place among those that
    /// wait, if it has waited already.
    pub(super) fn serve(
        self: &Arc<Self>,
        found: Result<Found, SystemException>,
        request: Request,
        pending: Option<Pending>,
    ) {
        let receipt = request.receipt();
        let answer = match found.and_then(|found| self.admit(found, &request, pending.as_ref())) {
            Ok(Found::Object(object)) => return self.admitted(object, request, pending),
            Ok(Found::Unknown(key)) => return self.ask(key, request, pending),
            Ok(Found::Elsewhere(target)) => receipt.forward(&target, false),
            Err(exception) => {
                let request_id = receipt.request_id;
                tracing::debug!(request_id, %exception, "request refused");
                receipt.refusal(&exception)
            }
        };
        self.answer(pending, answer);
    }

    /// Answers a request whose servant has not been called.
    fn answer(&self, pending: Option<Pending>, outcome: Outcome) {
        match pending {
            None => self.send(outcome),
            // It hears no more.
            Some(pending) if pending.acknowledged => pending.answer(Outcome::Silent),
            Some(pending) => pending.answer(outcome),
        }
    }

    /// Asks the application whose key it is, while the connection goes on.
    fn ask(self: &Arc<Self>, key: Bytes, request: Request, pending: Option<Pending>) {
        let pending = pending.unwrap_or_else(|| Pending::of(self, &request));
        self.orb.track(async move {
            let found = pending.connection.orb.ask(key).await;
            pending.go_on(found, request).await;
        });
    }

    fn admitted(
        self: &Arc<Self>,
        object: Arc<ActiveObject>,
        request: Request,
        pending: Option<Pending>,
    ) {
        let acknowledged = pending.as_ref().is_some_and(|pending| pending.acknowledged);
        // Whoever is sent on has not arrived yet, and whoever has hears no more.
        match (object.forward().is_some(), acknowledged) {
            (false, false) => {
                if let Some(acknowledgement) = request.receipt().acknowledgement() {
                    self.send(acknowledgement);
                }
            }
            (true, true) => return self.answer(pending, Outcome::Silent),
            _ => {}
        }
        if object.manager().state() == State::Holding {
            self.hold(object, request, pending);
        } else {
            self.dispatch(&object, request, pending, Behind::More);
        }
    }

    /// Whether a request may be served, now or after the manager lets it. What waits already has
    /// its place.
    fn admit(
        &self,
        found: Found,
        request: &Request,
        pending: Option<&Pending>,
    ) -> Result<Found, SystemException> {
        if let Found::Object(object) = &found {
            object.manager().state().admit()?;
        }
        if pending.is_none() && !matches!(found, Found::Elsewhere(_)) {
            self.check_pending(request.octets())?;
        }
        Ok(found)
    }

    /// Waits until the manager leaves HOLDING; then the request is for whoever has its key.
    fn hold(
        self: &Arc<Self>,
        object: Arc<ActiveObject>,
        request: Request,
        pending: Option<Pending>,
    ) {
        let mut pending = pending.unwrap_or_else(|| Pending::of(self, &request));
        pending.acknowledged |=
            object.forward().is_none() && request.receipt().response == ResponseFlags::WithServer;
        self.orb.track(async move {
            let released = released(&object).await;
            // It may have been deactivated meanwhile, and should not be kept for this.
            drop(object);
            let found = released.and_then(|()| match request.object_key() {
                Some(key) => pending.connection.orb.find_for_peer(&key),
                None => Err(Missing::Adapter.raise()),
            });
            pending.go_on(found, request).await;
        });
    }
}
