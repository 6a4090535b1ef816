//! Locates the object that a request or LocateRequest names, and answers the latter.

use super::enter;
use super::upcall::describe;
use crate::addresses::read_profile;
use crate::keys::Found;
use crate::orb::OrbInner;
use bytes::Bytes;
use zorb_giop::{Ior, LocateReply, SystemException, SystemExceptionKind, TargetAddress};
use zorb_poa::{Missing, PoaManagerState};

/// Where an object is, for a LocateRequest. A POA manager holds no answer: the object is here, and its requests are
/// held.
pub(crate) fn locate_reply(orb: &OrbInner, found: Result<Found, SystemException>) -> LocateReply {
    let object = match found {
        Ok(Found::Object(object)) if object.refusal() == Some(Missing::Object) => {
            return LocateReply::UnknownObject;
        }
        Ok(Found::Object(object)) => object,
        Ok(Found::Forward(target)) => return LocateReply::ObjectForward(Ior::clone(&target)),
        Ok(Found::Unknown(_)) => return LocateReply::UnknownObject,
        Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => {
            return LocateReply::UnknownObject;
        }
        Err(exception) => return LocateReply::SystemException(exception),
    };
    let Some(forward) =
        (object.forward()).filter(|_| object.manager().state() == PoaManagerState::Active)
    else {
        return LocateReply::ObjectHere;
    };
    match enter(orb, || describe(&object), || (forward.target)()).flatten() {
        Ok(target) if forward.permanent => LocateReply::ObjectForwardPerm(target),
        Ok(target) => LocateReply::ObjectForward(target),
        Err(exception) => LocateReply::SystemException(exception),
    }
}

impl OrbInner {
    /// The object key of a target, however it is addressed (KeyAddr, ProfileAddr, ReferenceAddr). A profile is read by
    /// the transport that it belongs to. `None` for one that belongs to none, or is malformed.
    #[cold]
    pub(super) fn key_of(&self, target: &TargetAddress<'_>) -> Option<Bytes> {
        let profile = match target {
            TargetAddress::Key(key) => return Some(Bytes::copy_from_slice(key)),
            TargetAddress::Profile(profile) => profile,
            TargetAddress::Reference { selected, ior } => {
                ior.profiles.get(usize::try_from(*selected).ok()?)?
            }
        };
        // The object key of an IIOP or UIOP profile can be read without its transport.
        let known = profile.object_key();
        known.or_else(|| Some(read_profile(profile, self.transports())?.1.ok()?.object_key))
    }
}
