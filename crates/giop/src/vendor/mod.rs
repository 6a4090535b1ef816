//! Meanings of minor codes, as text: those of the specification, and those of ORBs whose codes are known.
//!
//! - this file: omniORB, TAO and zorb;
//! - `omg`: the standard ones.

mod omg;

pub(crate) use omg::minor as omg_minor;

use crate::exception::SystemExceptionKind as Kind;
use core::fmt;

/// The mask of the upper 20 bits of a minor code, which are the vendor's.
const VENDOR: u32 = 0xffff_f000;
const OMNIORB: u32 = 0x4154_0000;
const TAO: u32 = 0x5441_0000;
const ZORB: u32 = crate::exception::minor::ZORB;
const OMG: u32 = 0x4f4d_0000;

/// A minor code of a vendor whose codes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vendor {
    Omg(&'static str),
    Zorb(&'static str),
    OmniOrb(&'static str),
    /// The location of the failure, and the `errno` behind it.
    Tao(&'static str, Option<&'static str>),
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Omg(text) => write!(f, "OMG, {text}"),
            Self::Zorb(name) => write!(f, "zorb {name}"),
            Self::OmniOrb(name) => write!(f, "omniORB {name}"),
            Self::Tao(location, None) => write!(f, "TAO, {location}"),
            Self::Tao(location, Some(errno)) => write!(f, "TAO, {location}, {errno}"),
        }
    }
}

/// Returns the meaning of a minor code, if it is known.
pub(crate) fn describe(kind: Kind, minor: u32) -> Option<Vendor> {
    let code = minor & !VENDOR;
    match minor & VENDOR {
        OMG => omg::describe(kind, code).map(Vendor::Omg),
        ZORB => zorb(kind, code).map(Vendor::Zorb),
        OMNIORB => omniorb(kind, code).map(Vendor::OmniOrb),
        TAO => tao(code),
        _ => None,
    }
}

fn zorb(kind: Kind, code: u32) -> Option<&'static str> {
    Some(match (kind, code) {
        (Kind::Unknown, 1) => "ServantPanicked",
        (Kind::ImpLimit, 2) => "MessageTooLarge",
        _ => return None,
    })
}

/// Returns the name of omniORB 4.2. A number has another meaning with another exception.
fn omniorb(kind: Kind, code: u32) -> Option<&'static str> {
    Some(match (kind, code) {
        (Kind::Unknown, 123) => "OmniThreadException",
        (Kind::NoMemory, 121) => "BadAlloc",
        (Kind::CommFailure, 3) => "MarshalArguments",
        (Kind::CommFailure, 4) => "UnMarshalArguments",
        (Kind::CommFailure, 5) => "MarshalResults",
        (Kind::CommFailure, 6) => "UnMarshalResults",
        (Kind::CommFailure, 7) => "WaitingForReply",
        (Kind::InvObjref, 48) => "InvokeOnNilObjRef",
        (Kind::InvObjref, 54) => "CorruptedObjRef",
        (Kind::InvObjref, 55) => "InterfaceMisMatch",
        (Kind::InvObjref, 117) => "ShortcutServantDeactivated",
        (Kind::InvObjref, 130) => "UnsuitableGIOPVersion",
        (Kind::Marshal, 9) => "InvalidVariableLenComponentSize",
        (Kind::Marshal, 10) => "PassEndOfMessage",
        (Kind::Marshal, 11) => "MessageSizeExceedLimitOnClient",
        (Kind::Marshal, 12) => "MessageSizeExceedLimitOnServer",
        (Kind::Marshal, 18) => "SequenceIsTooLong",
        (Kind::Marshal, 19) => "StringIsTooLong",
        (Kind::Marshal, 20) => "WStringIsTooLong",
        (Kind::Marshal, 22) => "StringNotEndWithNull",
        (Kind::Marshal, 26) => "InvalidEnumValue",
        (Kind::Marshal, 42) => "InvalidFixedValue",
        (Kind::Marshal, 47) => "InvalidWCharSize",
        (Kind::Marshal, 52) => "InvalidIOR",
        (Kind::Marshal, 69) => "MessageSizeExceedLimit",
        (Kind::Marshal, 79) => "InvalidContextList",
        (Kind::Marshal, 90) => "InvalidIndirection",
        (Kind::Marshal, 91) => "InvalidTypeCodeKind",
        (Kind::Marshal, 93) => "MessageTooLong",
        (Kind::Initialize, 13) => "TransportError",
        (Kind::NoImplement, 36) => "Unsupported",
        (Kind::BadOperation, 38) => "UnRecognisedOperationName",
        (Kind::BadInvOrder, 24) => "CodeSetNotKnownYet",
        (Kind::BadInvOrder, 120) => "ORBNotInitialised",
        (Kind::Transient, 1) => "FailedOnForwarded",
        (Kind::Transient, 2) => "ConnectFailed",
        (Kind::Transient | Kind::Timeout, 8) => "CallTimedout",
        (Kind::Transient, 14) => "BiDirConnIsGone",
        (Kind::Transient, 16) => "BiDirConnUsedWithNoPOA",
        (Kind::Transient, 17) => "ConnectionClosed",
        (Kind::Transient, 62) => "ObjDeactivatedWhileHolding",
        (Kind::Timeout, 124) => "CallTimedOutOnServer",
        (Kind::ObjAdapter, 15) => "BiDirNotAllowed",
        (Kind::ObjAdapter, 53) => "POANotInitialised",
        (Kind::ObjAdapter, 63) => "ServantAlreadyActive",
        (Kind::ObjAdapter, 97) => "IncompatibleServant",
        (Kind::DataConversion, 40) => "RangeError",
        (Kind::DataConversion, 41) => "BadInput",
        (Kind::ObjectNotExist, 58) => "POANotInitialised",
        _ => return None,
    })
}

/// Reads a code of TAO: five bits of location, seven of `errno`.
fn tao(code: u32) -> Option<Vendor> {
    let location = match code >> 7 {
        // Without other bits, the code means nothing.
        0x00 if code == 0 => return None,
        0x00 => "connecting",
        0x01 => "location forward",
        0x02 => "sending the request",
        0x03 => "the POA discards",
        0x04 => "the POA holds",
        0x05 => "an uncaught exception in the server",
        0x06 => "receiving the reply",
        0x07 => "no usable protocol",
        0x08 => "making the profile",
        0x09 => "timeout while connecting",
        0x0a => "timeout while sending",
        0x0b => "timeout while receiving",
        0x0c => "implementation repository",
        0x0d => "opening the acceptor",
        0x0e => "starting the ORB core",
        0x0f => "narrowing a policy",
        0x10 => "a guard failed",
        0x11 => "the POA is being destroyed",
        0x12 => "the POA is inactive",
        0x13 => "starting the connector",
        0x14 => "AMH reply",
        0x15 => "making a real-time thread",
        _ => return None,
    };
    let errno = match code & 0x7f {
        0x00 => return Some(Vendor::Tao(location, None)),
        0x01 => "ETIMEDOUT",
        0x02 => "ENFILE",
        0x03 => "EMFILE",
        0x04 => "EPIPE",
        0x05 => "ECONNREFUSED",
        0x06 => "ENOENT",
        0x07 => "EBADF",
        0x08 => "ENOSYS",
        0x09 => "EPERM",
        0x0a => "EAFNOSUPPORT",
        0x0b => "EAGAIN",
        0x0c => "ENOMEM",
        0x0d => "EACCES",
        0x0e => "EFAULT",
        0x0f => "EBUSY",
        0x10 => "EEXIST",
        0x11 => "EINVAL",
        0x12 => "ECOMM",
        0x13 => "ECONNRESET",
        0x14 => "ENOTSUP",
        _ => "another errno",
    };
    Some(Vendor::Tao(location, Some(errno)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::{CompletionStatus, SystemException, minor};

    #[test]
    fn minor_codes_of_known_orbs_have_names() {
        for (kind, code, expected) in [
            (Kind::Transient, OMNIORB | 2, "omniORB ConnectFailed"),
            (Kind::Transient, OMNIORB | 8, "omniORB CallTimedout"),
            (Kind::CommFailure, OMNIORB | 7, "omniORB WaitingForReply"),
            (
                Kind::Marshal,
                OMNIORB | 69,
                "omniORB MessageSizeExceedLimit",
            ),
            (Kind::Marshal, OMNIORB | 93, "omniORB MessageTooLong"),
            (
                Kind::Transient,
                minor::CANNOT_CONNECT,
                "OMG, no usable profile",
            ),
            (
                Kind::ObjectNotExist,
                minor::NO_ADAPTER,
                "OMG, no such object adapter",
            ),
            (
                Kind::BadOperation,
                minor::NO_SUCH_OPERATION,
                "OMG, the target has no such operation",
            ),
            (
                Kind::Marshal,
                0x4f4d_0004,
                "OMG, a local object cannot be marshalled",
            ),
            (Kind::BadInvOrder, 0x4f4d_0004, "OMG, the ORB has shut down"),
            (Kind::Transient, TAO | 5, "TAO, connecting, ECONNREFUSED"),
            (
                Kind::Transient,
                TAO | 0x85,
                "TAO, location forward, ECONNREFUSED",
            ),
            (
                Kind::Unknown,
                TAO | 0x280,
                "TAO, an uncaught exception in the server",
            ),
            (
                Kind::CommFailure,
                TAO | 0x37f,
                "TAO, receiving the reply, another errno",
            ),
            (
                Kind::Unknown,
                minor::SERVANT_PANICKED,
                "zorb ServantPanicked",
            ),
            (
                Kind::ImpLimit,
                minor::MESSAGE_TOO_LARGE,
                "zorb MessageTooLarge",
            ),
        ] {
            let exception = SystemException::new(kind, code, CompletionStatus::No);
            assert_eq!(
                exception.to_string(),
                format!("{kind} (minor {code:#x} {expected}, COMPLETED_NO)")
            );
        }
    }

    #[test]
    fn other_minor_codes_are_numbers() {
        for (kind, code) in [
            (Kind::Transient, 0),
            (Kind::Transient, 0x4f4d_0005),
            (Kind::NoMemory, 0x4f4d_0001),
            (Kind::Unknown, 0x4f4d_0000),
            (Kind::Transient, OMNIORB | 93),
            (Kind::Marshal, OMNIORB | 0xfff),
            (Kind::Transient, TAO),
            (Kind::Transient, TAO | 0xfff),
            (Kind::Transient, 0x4a43_0001),
        ] {
            let exception = SystemException::new(kind, code, CompletionStatus::No);
            assert_eq!(
                exception.to_string(),
                format!("{kind} (minor {code:#x}, COMPLETED_NO)")
            );
        }
    }
}
