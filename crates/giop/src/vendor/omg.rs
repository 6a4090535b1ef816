//! The standard minor codes of CORBA 3.3, as short texts for messages.

use crate::exception::SystemExceptionKind as Kind;

/// Returns the meaning of a standard minor code, which depends on the exception.
pub(super) fn describe(kind: Kind, code: u32) -> Option<&'static str> {
    match kind {
        Kind::BadParam => bad_param(code),
        Kind::BadInvOrder => bad_inv_order(code),
        Kind::ObjAdapter | Kind::ObjectNotExist | Kind::Transient => object(kind, code),
        Kind::Marshal | Kind::DataConversion | Kind::CodesetIncompatible | Kind::InvObjref => {
            data(kind, code)
        }
        _ => other(kind, code),
    }
}

fn bad_param(code: u32) -> Option<&'static str> {
    Some(match code {
        1 => "value factory not registered, not unregistered or not found",
        2 => "repository id already defined",
        3 => "name already used in this scope",
        4 => "the target is not a valid container",
        5 => "name clash with an inherited one",
        6 => "wrong type for an abstract interface",
        7 => "unknown URL scheme",
        8 => "bad address in a URL",
        9 => "bad scheme-specific part of a URL",
        10 => "malformed object URL",
        11 => "abstract interface derived from one that is not",
        12 => "value type that supports several concrete interfaces",
        13 => "incomplete TypeCode",
        14 => "object id not acceptable to the adapter",
        15 => "bad name for a TypeCode",
        16 => "bad repository id for a TypeCode",
        17 => "bad member name for a TypeCode",
        18 => "duplicate union label",
        19 => "union label of another type than the discriminator",
        20 => "illegal discriminator type",
        21 => "any without an exception",
        22 => "exception that the operation does not raise",
        23 => "no code set agreed for wide characters",
        24 => "service context id outside the OMG's range",
        25 => "enum value out of range",
        26 => "invalid service context id",
        27 => "nil initial reference",
        28 => "invalid component id",
        29 => "invalid profile id",
        30 => "several policies of one type",
        31 => "one-way operation with a result",
        32 => "request for an implicit operation",
        33 => "XAER_INVAL",
        34 => "discriminator does not select the member",
        35 => "bad property name of a context",
        36 => "bad search string of a context",
        37 => "bad name of a context",
        38 => "context not empty",
        39 => "unknown custom stream format",
        40 => "no ValueOutputStream",
        41 => "no ValueInputStream",
        42 => "characters outside ISO 8859-1",
        43 => "Pollable already in another PollableSet",
        44 => "invalid compression level",
        _ => return None,
    })
}

fn bad_inv_order(code: u32) -> Option<&'static str> {
    Some(match code {
        1 => "definition still in use",
        2 => "indestructible repository object",
        3 => "operation would deadlock",
        4 => "the ORB has shut down",
        5 => "request sent twice",
        6 => "servant manager already set",
        7 => "ServerRequest::arguments out of order",
        8 => "ServerRequest::ctx out of order",
        9 => "ServerRequest::set_result out of order",
        10 => "deferred request already sent",
        11 => "request polled before it was sent",
        12 => "result already taken",
        13 => "synchronous request polled",
        14 => "not available at this point of interception",
        15 => "service context already there",
        16 => "policy factory already registered",
        17 => "POA created while its parent is destroyed",
        18 => "priority already assigned",
        19 => "XA start missing",
        20 => "XA protocol error",
        21 => "transaction context differs in an interceptor",
        22 => "no reply yet",
        23 => "profile factory already registered",
        24 => "component factory already registered",
        25 => "iterator exhausted",
        26 => "not allowed in post_init",
        _ => return None,
    })
}

fn object(kind: Kind, code: u32) -> Option<&'static str> {
    Some(match (kind, code) {
        (Kind::Transient, 1) => "the POA discards requests or has no room",
        (Kind::Transient, 2) => "no usable profile",
        (Kind::Transient, 3) => "request cancelled",
        (Kind::Transient, 4) => "POA destroyed",
        (Kind::ObjAdapter, 1) => "POA manager inactive, or adapter activator failed",
        (Kind::ObjAdapter, 2) => "servant of the wrong type",
        (Kind::ObjAdapter, 3) => "no default servant",
        (Kind::ObjAdapter, 4) => "no servant manager",
        (Kind::ObjAdapter, 5) => "incarnate broke a policy of the POA",
        (Kind::ObjAdapter, 6) => "exception in components_established",
        (Kind::ObjAdapter, 7) => "servant manager without a servant",
        (Kind::ObjectNotExist, 1) => "value not registered as an object",
        (Kind::ObjectNotExist, 2) => "no such object adapter",
        (Kind::ObjectNotExist, 4) => "object adapter inactive",
        (Kind::ObjectNotExist, 5) => "the poller has delivered its reply",
        _ => return None,
    })
}

fn data(kind: Kind, code: u32) -> Option<&'static str> {
    Some(match (kind, code) {
        (Kind::Marshal, 1) => "no value factory",
        (Kind::Marshal, 2) => "set_result called before ctx",
        (Kind::Marshal, 3) => "NVList without all parameters",
        (Kind::Marshal, 4) => "a local object cannot be marshalled",
        (Kind::Marshal, 5) => "wide characters sent over GIOP 1.0",
        (Kind::Marshal, 6) => "wide characters returned over GIOP 1.0",
        (Kind::Marshal, 7) => "unknown RMI stream format",
        (Kind::Marshal, 8) => "custom data that the reader does not understand",
        (Kind::Marshal, 9) => "code sets changed on a connection",
        (Kind::DataConversion, 1) => "character not in the transmission code set",
        (Kind::DataConversion, 2) => "priority mapping failed",
        (Kind::CodesetIncompatible, 1) => "no common code set",
        (Kind::CodesetIncompatible, 2) => "code set not supported by the server",
        (Kind::InvObjref, 1) => "no code set stated for wide characters",
        (Kind::InvObjref, 2) => "no code sets stated",
        _ => return None,
    })
}

fn other(kind: Kind, code: u32) -> Option<&'static str> {
    Some(match (kind, code) {
        (Kind::Unknown, 1) => "user exception that the operation does not raise",
        (Kind::Unknown, 2) => "unknown system exception",
        (Kind::Unknown, 3) => "unknown user exception in an interceptor",
        (Kind::ImpLimit, 1) => "no usable profile in the reference",
        (Kind::Initialize, 1) => "priority range too narrow",
        (Kind::BadTypecode, 1) => "incomplete TypeCode marshalled",
        (Kind::BadTypecode, 2) => "illegal member type",
        (Kind::BadTypecode, 3) => "illegal parameter type",
        (Kind::NoImplement, 1) => "no local implementation of a value",
        (Kind::NoImplement, 2) => "incompatible implementation of a value",
        (Kind::NoImplement, 3) => "no usable profile in the reference",
        (Kind::NoImplement, 4) => "dynamic request to a local object",
        (Kind::NoImplement, 8) => "operation that local objects do not have",
        (Kind::NoResources, 1) => "not available to interceptors of this binding",
        (Kind::NoResources, 2) => "no connection for the priority of the request",
        (Kind::InvPolicy, 1) => "policies of reference and client do not fit",
        (Kind::InvPolicy, 2) => "invalid policy type",
        (Kind::InvPolicy, 3) => "no factory for the policy type",
        (Kind::BadOperation, 1) => "servant of the wrong type",
        (Kind::BadOperation, 2) => "the target has no such operation",
        (Kind::BadContext, 1) => "context not found",
        (Kind::BadContext, 2) => "no matching property in the context",
        (Kind::IntfRepos, 1) => "no interface repository",
        (Kind::IntfRepos, 2) => "interface not in the repository",
        (Kind::Internal, 1) => "XAER_RMERR",
        (Kind::Internal, 2) => "XAER_RMFAIL",
        (Kind::TransactionRolledback, 1) => "XAER_RB",
        (Kind::TransactionRolledback, 2) => "XAER_NOTA",
        (Kind::TransactionRolledback, 3) => "deferred rollback",
        (Kind::ActivityCompleted, 1) => "the activity timed out or was completed",
        (Kind::ActivityRequired, 1) => "no activity context in the thread",
        _ => return None,
    })
}
