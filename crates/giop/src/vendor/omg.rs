//! The standard minor codes of CORBA 3.3: their names, and their meanings as short texts for messages.

use crate::exception::SystemExceptionKind as Kind;

macro_rules! codes {
    ($($kind:ident = $exception:literal { $($code:literal $name:ident $text:literal,)* })*) => {
        /// The codes by name.
        pub(crate) mod minor {
            $($(
                #[doc = concat!(" ", $exception, ": ", $text, ".")]
                pub const $name: u32 = 0x4f4d_0000 | $code;
            )*)*
        }

        /// Returns the meaning of a standard minor code, which depends on the exception.
        pub(super) const fn describe(kind: Kind, code: u32) -> Option<&'static str> {
            Some(match (kind, code) {
                $($((Kind::$kind, $code) => $text,)*)*
                _ => return None,
            })
        }
    };
}

codes! {
    BadParam = "BAD_PARAM" {
        1 VALUE_FACTORY_FAILED "value factory not registered, not unregistered or not found",
        2 REPOSITORY_ID_DEFINED "repository id already defined",
        3 NAME_USED "name already used in this scope",
        4 NOT_A_CONTAINER "the target is not a valid container",
        5 INHERITED_NAME_CLASH "name clash with an inherited one",
        6 WRONG_ABSTRACT_TYPE "wrong type for an abstract interface",
        7 BAD_SCHEME "unknown URL scheme",
        8 BAD_ADDRESS "bad address in a URL",
        9 BAD_SCHEME_SPECIFIC_PART "bad scheme-specific part of a URL",
        10 BAD_URL "malformed object URL",
        11 CONCRETE_BASE_OF_ABSTRACT "abstract interface derived from one that is not",
        12 TWO_CONCRETE_INTERFACES "value type that supports several concrete interfaces",
        13 INCOMPLETE_TYPE_CODE "incomplete TypeCode",
        14 UNKNOWN_OBJECT_ID "object id not acceptable to the adapter",
        15 BAD_TYPE_CODE_NAME "bad name for a TypeCode",
        16 BAD_TYPE_CODE_ID "bad repository id for a TypeCode",
        17 BAD_MEMBER_NAME "bad member name for a TypeCode",
        18 DUPLICATE_LABEL "duplicate union label",
        19 WRONG_LABEL_TYPE "union label of another type than the discriminator",
        20 BAD_DISCRIMINATOR "illegal discriminator type",
        21 NO_EXCEPTION_IN_ANY "any without an exception",
        22 EXCEPTION_NOT_RAISED "exception that the operation does not raise",
        23 NO_WCHAR_CODE_SET "no code set agreed for wide characters",
        24 FOREIGN_CONTEXT_ID "service context id outside the OMG's range",
        25 ENUM_OUT_OF_RANGE "enum value out of range",
        26 BAD_CONTEXT_ID "invalid service context id",
        27 NIL_INITIAL_REFERENCE "nil initial reference",
        28 BAD_COMPONENT_ID "invalid component id",
        29 BAD_PROFILE_ID "invalid profile id",
        30 DUPLICATE_POLICY "several policies of one type",
        31 ONEWAY_WITH_RESULT "one-way operation with a result",
        32 IMPLICIT_OPERATION "request for an implicit operation",
        33 XAER_INVAL "XAER_INVAL",
        34 WRONG_DISCRIMINATOR "discriminator does not select the member",
        35 BAD_PROPERTY_NAME "bad property name of a context",
        36 BAD_SEARCH_STRING "bad search string of a context",
        37 BAD_CONTEXT_NAME "bad name of a context",
        38 CONTEXT_NOT_EMPTY "context not empty",
        39 BAD_STREAM_FORMAT "unknown custom stream format",
        40 NO_VALUE_OUTPUT_STREAM "no ValueOutputStream",
        41 NO_VALUE_INPUT_STREAM "no ValueInputStream",
        42 NOT_LATIN_1 "characters outside ISO 8859-1",
        43 POLLABLE_IN_TWO_SETS "Pollable already in another PollableSet",
        44 BAD_COMPRESSION_LEVEL "invalid compression level",
    }
    BadInvOrder = "BAD_INV_ORDER" {
        1 DEFINITION_IN_USE "definition still in use",
        2 INDESTRUCTIBLE "indestructible repository object",
        3 WOULD_DEADLOCK "operation would deadlock",
        4 ORB_SHUT_DOWN "the ORB has shut down",
        5 SENT_TWICE "request sent twice",
        6 SERVANT_MANAGER_SET "servant manager already set",
        7 ARGUMENTS_OUT_OF_ORDER "ServerRequest::arguments out of order",
        8 CTX_OUT_OF_ORDER "ServerRequest::ctx out of order",
        9 SET_RESULT_OUT_OF_ORDER "ServerRequest::set_result out of order",
        10 DEFERRED_SENT_TWICE "deferred request already sent",
        11 POLLED_BEFORE_SENT "request polled before it was sent",
        12 RESULT_TAKEN "result already taken",
        13 SYNCHRONOUS_POLLED "synchronous request polled",
        14 WRONG_INTERCEPTION_POINT "not available at this point of interception",
        15 CONTEXT_PRESENT "service context already there",
        16 POLICY_FACTORY_PRESENT "policy factory already registered",
        17 ADAPTER_BEING_DESTROYED "POA created while its parent is destroyed",
        18 PRIORITY_ASSIGNED "priority already assigned",
        19 NO_XA_START "XA start missing",
        20 XAER_PROTO "XA protocol error",
        21 TRANSACTION_CONTEXT_CHANGED "transaction context differs in an interceptor",
        22 NO_REPLY_YET "no reply yet",
        23 PROFILE_FACTORY_PRESENT "profile factory already registered",
        24 COMPONENT_FACTORY_PRESENT "component factory already registered",
        25 ITERATOR_EXHAUSTED "iterator exhausted",
        26 NOT_IN_POST_INIT "not allowed in post_init",
    }
    Transient = "TRANSIENT" {
        1 REQUEST_DISCARDED "the POA discards requests or has no room",
        2 CANNOT_CONNECT "no usable profile",
        3 REQUEST_CANCELLED "request cancelled",
        4 ADAPTER_DESTROYED "POA destroyed",
    }
    ObjAdapter = "OBJ_ADAPTER" {
        1 ADAPTER_INACTIVE "POA manager inactive, or adapter activator failed",
        2 WRONG_SERVANT "servant of the wrong type",
        3 NO_DEFAULT_SERVANT "no default servant",
        4 NO_SERVANT_MANAGER "no servant manager",
        5 SERVANT_ACTIVE_ALREADY "incarnate broke a policy of the POA",
        6 COMPONENTS_ESTABLISHED_FAILED "exception in components_established",
        7 NO_SERVANT "servant manager without a servant",
    }
    ObjectNotExist = "OBJECT_NOT_EXIST" {
        1 VALUE_NOT_REGISTERED "value not registered as an object",
        2 NO_ADAPTER "no such object adapter",
        4 ADAPTER_NOT_ACTIVE "object adapter inactive",
        5 REPLY_DELIVERED "the poller has delivered its reply",
    }
    Marshal = "MARSHAL" {
        1 NO_VALUE_FACTORY "no value factory",
        2 SET_RESULT_BEFORE_CTX "set_result called before ctx",
        3 PARAMETERS_MISSING "NVList without all parameters",
        4 LOCAL_OBJECT "a local object cannot be marshalled",
        5 WIDE_OVER_1_0 "wide characters sent over GIOP 1.0",
        6 WIDE_RESULT_OVER_1_0 "wide characters returned over GIOP 1.0",
        7 UNKNOWN_STREAM_FORMAT "unknown RMI stream format",
        8 INCOMPATIBLE_CUSTOM_DATA "custom data that the reader does not understand",
        9 CODE_SETS_CHANGED "code sets changed on a connection",
    }
    DataConversion = "DATA_CONVERSION" {
        1 CHARACTER_NOT_IN_CODE_SET "character not in the transmission code set",
        2 PRIORITY_NOT_MAPPABLE "priority mapping failed",
    }
    CodesetIncompatible = "CODESET_INCOMPATIBLE" {
        1 NO_COMMON_CODE_SET "no common code set",
        2 UNSUPPORTED_CODE_SET "code set not supported by the server",
    }
    InvObjref = "INV_OBJREF" {
        1 NO_WIDE_SET_STATED "no code set stated for wide characters",
        2 NO_CODE_SETS_STATED "no code sets stated",
    }
    Unknown = "UNKNOWN" {
        1 UNLISTED_USER_EXCEPTION "user exception that the operation does not raise",
        2 UNKNOWN_SYSTEM_EXCEPTION "unknown system exception",
        3 USER_EXCEPTION_IN_INTERCEPTOR "unknown user exception in an interceptor",
    }
    ImpLimit = "IMP_LIMIT" {
        1 NO_USABLE_PROFILE "no usable profile in the reference",
    }
    Initialize = "INITIALIZE" {
        1 PRIORITY_RANGE_TOO_NARROW "priority range too narrow",
    }
    BadTypecode = "BAD_TYPECODE" {
        1 INCOMPLETE_TYPE_CODE_SENT "incomplete TypeCode marshalled",
        2 ILLEGAL_MEMBER_TYPE "illegal member type",
        3 ILLEGAL_PARAMETER_TYPE "illegal parameter type",
    }
    NoImplement = "NO_IMPLEMENT" {
        1 NO_VALUE_IMPLEMENTATION "no local implementation of a value",
        2 INCOMPATIBLE_VALUE_IMPLEMENTATION "incompatible implementation of a value",
        3 NO_IMPLEMENTED_PROFILE "no usable profile in the reference",
        4 DYNAMIC_REQUEST_TO_LOCAL "dynamic request to a local object",
        8 NOT_OF_LOCAL_OBJECTS "operation that local objects do not have",
    }
    NoResources = "NO_RESOURCES" {
        1 NOT_AVAILABLE_TO_INTERCEPTOR "not available to interceptors of this binding",
        2 NO_CONNECTION_FOR_PRIORITY "no connection for the priority of the request",
    }
    InvPolicy = "INV_POLICY" {
        1 POLICIES_NOT_RECONCILED "policies of reference and client do not fit",
        2 INVALID_POLICY_TYPE "invalid policy type",
        3 NO_POLICY_FACTORY "no factory for the policy type",
    }
    BadOperation = "BAD_OPERATION" {
        1 SERVANT_OF_WRONG_TYPE "servant of the wrong type",
        2 NO_SUCH_OPERATION "the target has no such operation",
    }
    BadContext = "BAD_CONTEXT" {
        1 CONTEXT_NOT_FOUND "context not found",
        2 NO_MATCHING_PROPERTY "no matching property in the context",
    }
    IntfRepos = "INTF_REPOS" {
        1 NO_INTERFACE_REPOSITORY "no interface repository",
        2 NO_REPOSITORY_ENTRY "interface not in the repository",
    }
    Internal = "INTERNAL" {
        1 XAER_RMERR "XAER_RMERR",
        2 XAER_RMFAIL "XAER_RMFAIL",
    }
    TransactionRolledback = "TRANSACTION_ROLLEDBACK" {
        1 XAER_RB "XAER_RB",
        2 XAER_NOTA "XAER_NOTA",
        3 DEFERRED_ROLLBACK "deferred rollback",
    }
    ActivityCompleted = "ACTIVITY_COMPLETED" {
        1 ACTIVITY_ENDED "the activity timed out or was completed",
    }
    ActivityRequired = "ACTIVITY_REQUIRED" {
        1 NO_ACTIVITY "no activity context in the thread",
    }
}
