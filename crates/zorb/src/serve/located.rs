//! Answers to LocateRequests.

use super::enter;
use crate::keys::Found;
use crate::orb::OrbInner;
use zorb_giop::{Ior, LocateReply, SystemException, SystemExceptionKind};
use zorb_poa::{Missing, State};

/// Where an object is, for a LocateRequest. A POA manager holds no answer: the object is here, and its requests are held.
pub(crate) fn locate_reply(orb: &OrbInner, found: Result<Found, SystemException>) -> LocateReply {
    let object = match found {
        Ok(Found::Object(object)) if object.refusal() == Some(Missing::Object) => {
            return LocateReply::UnknownObject;
        }
        Ok(Found::Object(object)) => object,
        Ok(Found::Elsewhere(target)) => return LocateReply::ObjectForward(Ior::clone(&target)),
        Ok(Found::Unknown(_)) => return LocateReply::UnknownObject,
        Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => {
            return LocateReply::UnknownObject;
        }
        Err(exception) => return LocateReply::SystemException(exception),
    };
    let Some(forward) = (object.forward()).filter(|_| object.manager().state() == State::Active)
    else {
        return LocateReply::ObjectHere;
    };
    match enter(orb, || (forward.target)()).flatten() {
        Ok(target) if forward.permanent => LocateReply::ObjectForwardPerm(target),
        Ok(target) => LocateReply::ObjectForward(target),
        Err(exception) => LocateReply::SystemException(exception),
    }
}
