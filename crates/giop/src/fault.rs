//! The table from faults to system exceptions.

use crate::MessageKind;
use crate::cause::Cause;
use crate::context::ServiceContextId;
use crate::error::ProtocolError;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::printable::Printable;
use crate::real_time::RealTimeFault;
use crate::url::UrlError;
use zorb_cdr::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind, ExtractError};

/// A fault of a call, other than the exceptions of servants.
///
/// `Display` is the detail of the exception. Control characters in texts of peers and references are escaped, such as a line
/// end in the name of a host.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The body is not a value of the types that the interface states.
    #[error("{0}")]
    Decode(DecodeError),
    /// A value cannot be encoded.
    #[error("{0}")]
    Encode(EncodeError),
    /// The peer broke the protocol.
    #[error("{}: {error:#}", Printable(endpoint))]
    Protocol {
        /// The peer.
        endpoint: String,
        /// The violation.
        error: ProtocolError,
    },
    /// A request or reply is beyond the limit of this ORB.
    #[error(
        "{}: a {kind} of {octets} octets is over the limit of {limit} (Builder::max_message_octets)",
        Printable(endpoint)
    )]
    MessageTooLarge {
        /// The peer.
        endpoint: String,
        /// The message.
        kind: MessageKind,
        /// Its octets.
        octets: usize,
        /// The limit.
        limit: usize,
    },
    /// A text is not a valid object URL.
    #[error("{0:#}")]
    Url(UrlError),
    /// The reference is nil.
    #[error("the reference is nil")]
    NilReference,
    /// This ORB has a transport for no profile of the reference.
    #[error("no usable profile in the reference ({})", Printable(profiles))]
    NoUsableProfile {
        /// The profiles of the reference.
        profiles: String,
    },
    /// The ORB could connect to no endpoint of the reference.
    #[error("{}", Printable(attempts))]
    CannotConnect {
        /// Each endpoint, with its cause but for the last.
        attempts: String,
        /// The error of the last attempt.
        cause: Option<Cause>,
    },
    /// Rules forbid it. Peers are told nothing beside that, whatever the cause.
    #[error("{}", Printable(.0))]
    NotPermitted(String),
    /// The connection was lost.
    #[error(
        "connection to {} lost{}{}",
        Printable(endpoint),
        if hint.is_some() { ", " } else { "" },
        Printable(hint.as_deref().unwrap_or(""))
    )]
    ConnectionLost {
        /// The peer.
        endpoint: String,
        /// The probable reason, by the kind of the peer.
        hint: Option<String>,
        /// The error of the transport.
        cause: Cause,
    },
    /// The peer closed the connection in order, and sending the request again did not help.
    #[error("{} closed the connection", Printable(endpoint))]
    ConnectionClosed {
        /// The peer.
        endpoint: String,
    },
    /// The time limit of the call passed.
    #[error("no reply from {} within {limit:?}", Printable(endpoint))]
    Timeout {
        /// The peer.
        endpoint: String,
        /// The limit.
        limit: core::time::Duration,
    },
    /// The time limit of the call passed before its request was on its way.
    #[error("no request could be sent to {} within {limit:?}", Printable(endpoint))]
    SendTimeout {
        /// The peer.
        endpoint: String,
        /// The limit.
        limit: core::time::Duration,
    },
    /// The deadline of a request passed while the request waited for a thread.
    #[error("the deadline of the request passed before its servant was called")]
    DeadlinePassed,
    /// The deadline of a request passed during its upcall, which was dropped.
    #[error("the deadline of the request passed, and its servant was told to end")]
    UpcallDropped,
    /// The server shut down during an upcall, which was dropped at the time limit of that.
    #[error("the server has shut down before the operation had ended")]
    DroppedByShutdown,
    /// Too many requests in flight, or too much unsent.
    #[error("{}", Printable(.0))]
    Overload(String),
    /// The client does not read its replies.
    #[error("{octets} octets of replies wait for a client that does not read them")]
    UnreadReplies {
        /// Octets of the unread replies.
        octets: usize,
    },
    /// More forwards than a call follows.
    #[error("more than {limit} location forwards")]
    TooManyForwards {
        /// The limit.
        limit: usize,
    },
    /// The object key names no adapter of this server, or one of an earlier run.
    #[error("no such object adapter in this run of the server")]
    NoAdapter,
    /// The adapter exists, but the object does not.
    #[error("no such object")]
    NoObject,
    /// The object has no such operation.
    #[error("operation {0:?} is unknown to the target")]
    NoOperation(String),
    /// The POA manager discards requests.
    #[error("the POA manager discards requests")]
    Discarding,
    /// The server is starting: none of its POA managers has been activated, so objects may still be made.
    #[error("the server is starting: none of its POA managers has been activated yet")]
    Starting,
    /// The POA manager is inactive.
    #[error("the POA manager is inactive")]
    Inactive,
    /// The servant panicked.
    #[error("the servant panicked")]
    Panicked,
    /// The application's resolver of object keys panicked.
    #[error("the resolver of object keys panicked")]
    KeyResolverPanicked,
    /// The adapter serves inactive objects by a default servant, and has none.
    #[error("the adapter has no default servant yet")]
    NoDefaultServant,
    /// The adapter gets servants from a servant manager, and has none.
    #[error("the adapter has no servant manager yet")]
    NoServantManager,
    /// A servant activator has incarnated an object with a servant that is active for another one (UNIQUE_ID).
    #[error("the servant activator gave a servant that is active for another object already")]
    ServantActiveAlready,
    /// An adapter activator has raised a system exception.
    #[error("the adapter activator failed")]
    AdapterActivatorFailed,
    /// A user exception that the operation does not raise.
    #[error("user exception {0:?} is not in the raises clause")]
    UnlistedException(String),
    /// Wide text for a server whose reference names no code set for it.
    #[error("{} {}", Printable(endpoint), if *.stated {
        "states no code set for wide characters"
    } else {
        "states no code sets, which wide characters need"
    })]
    NoWideCodeSet {
        /// The server.
        endpoint: String,
        /// Whether it states code sets at all.
        stated: bool,
    },
    /// Wide text in a result, over GIOP 1.0, which has none.
    #[error("wide characters in a result over GIOP 1.0")]
    WideResultInGiop1_0,
    /// A client that chose code sets chooses others on the same connection.
    #[error("the client has changed its code sets on this connection")]
    CodeSetsChanged,
    /// The client chose a code set that this ORB does not have.
    #[error("the client chose a code set that this server does not have")]
    UnsupportedCodeSet,
    /// The ORB has shut down.
    #[error("the ORB has shut down")]
    OrbShutDown,
    /// Policies of the call contradict each other, or those of the reference.
    #[error("{}", Printable(.0))]
    PolicyConflict(String),
    /// Two policies of one list are of the same type.
    #[error("two policies of one list are {0}")]
    DuplicatePolicy(String),
    /// The call needs a forward or a connection that its policies forbid.
    #[error("{0}, which the RebindPolicy of the call forbids (ObjectRef::validate_connection)")]
    Rebind(&'static str),
    /// A fault of priorities or lanes.
    #[error("{0}")]
    RealTime(RealTimeFault),
    /// An upcall would wait for its own end.
    #[error("waiting for the ORB's shutdown inside an upcall would deadlock")]
    WouldDeadlock,
    /// An any holds a value of another type, or a malformed one.
    #[error("{0:#}")]
    Extract(ExtractError),
    /// A number that its IDL type cannot hold, or a text that is not a number.
    #[error("{0}")]
    Number(String),
    /// An error of the application, outside of CORBA.
    #[error("the application failed")]
    Application(Cause),
    /// An operation without an implementation.
    #[error("{0}")]
    NotImplemented(&'static str),
    /// The ORB has no interface repository.
    #[error("there is no interface repository")]
    NoInterfaceRepository,
    /// A state of the ORB that it rules out.
    #[error("{0}")]
    Internal(String),
    /// A nil reference cannot be an initial reference.
    #[error("a nil reference cannot be an initial reference")]
    NilInitialReference,
    /// The name in a `corbaname:` URL is malformed or cannot be resolved.
    #[error("{0}")]
    BadUrlName(String),
    /// An argument of an operation of the ORB is invalid.
    #[error("{0}")]
    BadParameter(String),
    /// An operation of the ORB that is out of order.
    #[error("{0}")]
    OutOfOrder(String),
    /// A client is not who it says, or may not do what it asks for; it learns no more than that.
    #[error("the caller is not permitted to do this")]
    CallerRefused,
    /// The credentials of a call are not sent, and the call cannot do without.
    #[error("{0}")]
    CredentialsWithheld(String),
    /// It cannot be found out now whether a client is permitted to do what it asks for.
    #[error("whether the caller is permitted to do this cannot be found out now")]
    AuthorityUnavailable,
    /// A message has a service context of this id already.
    #[error("there is a service context {:#x} already", .0.0)]
    ContextPresent(ServiceContextId),
    /// More service contexts are added to a message than may be.
    #[error(
        "more than {contexts} service contexts, or {octets} octets of them, are added to a message"
    )]
    TooManyContexts {
        /// The limit on contexts.
        contexts: usize,
        /// The limit on their octets.
        octets: usize,
    },
    /// The ORB, or a part of it, cannot start with these settings on this machine.
    #[error("{0}")]
    CannotInitialize(String),
    /// The adapter has been destroyed.
    #[error("{0}")]
    AdapterDestroyed(String),
    /// The adapter is being destroyed.
    #[error("{0}")]
    AdapterBeingDestroyed(String),
    /// An object id that the adapter does not assign.
    #[error("{0}")]
    UnknownObjectId(String),
    /// The adapter has a servant manager already.
    #[error("{0}")]
    ServantManagerSet(String),
    /// The adapter refuses an operation for another reason.
    #[error("{0}")]
    AdapterRefused(String),
    /// An interceptor panicked.
    #[error("an interceptor panicked")]
    InterceptorPanicked,
    /// Calls within interceptors of calls, more deeply nested than the limit.
    #[error(
        "calls within interceptors are nested more than {limit} times: see Orb::without_interceptors"
    )]
    InterceptorRecursion {
        /// The limit.
        limit: u16,
    },
    /// An attribute of a request that an interception point does not have.
    #[error("{0} is not available at this point of interception")]
    WrongInterceptionPoint(&'static str),
    /// An attribute of a request that interceptors do not get in the way in which the call was made.
    #[error("{0} is not available to interceptors of this call")]
    NotAvailableToInterceptor(&'static str),
    /// A message has no service context with the id that was asked for.
    #[error("there is no service context with id {0}")]
    NoServiceContext(u32),
    /// The effective profile has no component with the tag that was asked for.
    #[error("the profile has no component with tag {0}")]
    NoComponent(u32),
    /// The references of an adapter have no profile with the tag that was asked for.
    #[error("references of this adapter have no profile with tag {0}")]
    NoProfile(u32),
    /// A policy type without a meaning here.
    #[error("{0} is unknown here")]
    UnknownPolicyType(String),
    /// A policy type that has a factory already.
    #[error("{0} has a factory already")]
    PolicyFactoryPresent(String),
    /// An IOR interceptor has failed once the components of a new adapter were established.
    #[error("an IOR interceptor refuses the adapter")]
    ComponentsEstablished,
}

impl Fault {
    /// Returns the fault of a result that cannot be encoded.
    #[must_use]
    pub fn of_result(error: EncodeError) -> Self {
        match error.kind() {
            EncodeErrorKind::WideInGiop1_0 => Self::WideResultInGiop1_0,
            _ => Self::Encode(error),
        }
    }

    /// Returns the exception, with the completion status that is known at the place of the fault. Its detail stays in this
    /// process.
    #[must_use]
    #[cold]
    pub fn raise(self, completed: CompletionStatus) -> SystemException {
        let (kind, minor) = self.kind_and_minor();
        let exception = SystemException::new(kind, minor, completed);
        match self {
            Self::Url(error) => exception.of_error(error),
            Self::Extract(error) => exception.of_error(error),
            fault => {
                let exception = exception.with_local_detail(&fault);
                match fault {
                    Self::ConnectionLost { cause, .. }
                    | Self::CannotConnect {
                        cause: Some(cause), ..
                    }
                    | Self::Application(cause) => exception.with_cause(cause),
                    _ => exception,
                }
            }
        }
    }

    /// Returns kind and minor code. Those of every exception that the ORB raises come from this table.
    fn kind_and_minor(&self) -> (Kind, u32) {
        match self {
            Self::Decode(error) if error.is_data_conversion() => {
                (Kind::DataConversion, minor::CHARACTER_NOT_IN_CODE_SET)
            }
            Self::Decode(error) => match error.kind() {
                DecodeErrorKind::WideInGiop1_0 => (Kind::Marshal, minor::WIDE_OVER_1_0),
                DecodeErrorKind::Local => (Kind::Marshal, minor::LOCAL_OBJECT),
                DecodeErrorKind::WideRefused => (Kind::BadParam, minor::NO_WCHAR_CODE_SET),
                DecodeErrorKind::NoValueFactory => (Kind::Marshal, minor::NO_VALUE_FACTORY),
                DecodeErrorKind::NoSharedMemory { .. } => (Kind::NoResources, 0),
                DecodeErrorKind::Late => (Kind::Timeout, 0),
                _ => (Kind::Marshal, 0),
            },
            Self::Encode(error) if error.is_data_conversion() => {
                (Kind::DataConversion, minor::CHARACTER_NOT_IN_CODE_SET)
            }
            Self::Encode(error) => match error.kind() {
                EncodeErrorKind::TooLong { .. }
                | EncodeErrorKind::TooDeep { .. }
                | EncodeErrorKind::TooMuchStack { .. } => (Kind::Marshal, 0),
                EncodeErrorKind::NoSharedStack { .. } => (Kind::NoResources, 0),
                EncodeErrorKind::WideInGiop1_0 => (Kind::Marshal, minor::WIDE_OVER_1_0),
                EncodeErrorKind::Local => (Kind::Marshal, minor::LOCAL_OBJECT),
                EncodeErrorKind::WideRefused => (Kind::BadParam, minor::NO_WCHAR_CODE_SET),
                _ => (Kind::BadParam, 0),
            },
            Self::MessageTooLarge { .. }
            | Self::Protocol {
                error:
                    ProtocolError::MessageTooLarge { .. } | ProtocolError::TooManyPartialOctets { .. },
                ..
            } => (Kind::ImpLimit, minor::MESSAGE_TOO_LARGE),
            Self::Protocol { .. } => (Kind::CommFailure, 0),
            Self::Url(error) => (
                Kind::BadParam,
                match error {
                    UrlError::BadScheme(_) | UrlError::SchemeNotPermitted(_) => minor::BAD_SCHEME,
                    UrlError::BadAddress { .. } => minor::BAD_ADDRESS,
                    UrlError::BadSchemeSpecificPart(_) => minor::BAD_SCHEME_SPECIFIC_PART,
                    UrlError::BadIor(_) => minor::BAD_URL,
                },
            ),
            Self::NilReference => (Kind::InvObjref, 0),
            Self::NoUsableProfile { .. } => (Kind::ImpLimit, minor::NO_USABLE_PROFILE),
            Self::CannotConnect { .. } => (Kind::Transient, minor::CANNOT_CONNECT),
            Self::NotPermitted(_) => (Kind::NoPermission, 0),
            Self::ConnectionLost { .. } | Self::DroppedByShutdown => (Kind::CommFailure, 0),
            Self::ConnectionClosed { .. } | Self::TooManyForwards { .. } => (Kind::Transient, 0),
            Self::Timeout { .. }
            | Self::SendTimeout { .. }
            | Self::DeadlinePassed
            | Self::UpcallDropped => (Kind::Timeout, 0),
            Self::Overload(_) | Self::Discarding | Self::Starting => {
                (Kind::Transient, minor::REQUEST_DISCARDED)
            }
            Self::UnreadReplies { .. } => (Kind::NoResources, 0),
            Self::NoAdapter => (Kind::ObjectNotExist, minor::NO_ADAPTER),
            Self::NoObject => (Kind::ObjectNotExist, 0),
            Self::NoOperation(_) => (Kind::BadOperation, minor::NO_SUCH_OPERATION),
            Self::Inactive => (Kind::ObjAdapter, minor::ADAPTER_INACTIVE),
            Self::KeyResolverPanicked => (Kind::ObjAdapter, 0),
            Self::NoDefaultServant => (Kind::ObjAdapter, minor::NO_DEFAULT_SERVANT),
            Self::NoServantManager => (Kind::ObjAdapter, minor::NO_SERVANT_MANAGER),
            Self::ServantActiveAlready => (Kind::ObjAdapter, minor::SERVANT_ACTIVE_ALREADY),
            Self::AdapterActivatorFailed => (Kind::ObjAdapter, minor::ADAPTER_ACTIVATOR_FAILED),
            Self::Panicked => (Kind::Unknown, minor::SERVANT_PANICKED),
            Self::UnlistedException(_) => (Kind::Unknown, minor::UNLISTED_USER_EXCEPTION),
            Self::NoWideCodeSet { stated: true, .. } => {
                (Kind::InvObjref, minor::NO_WIDE_SET_STATED)
            }
            Self::NoWideCodeSet { stated: false, .. } => {
                (Kind::InvObjref, minor::NO_CODE_SETS_STATED)
            }
            Self::WideResultInGiop1_0 => (Kind::Marshal, minor::WIDE_RESULT_OVER_1_0),
            Self::CodeSetsChanged => (Kind::Marshal, minor::CODE_SETS_CHANGED),
            Self::UnsupportedCodeSet => (Kind::CodesetIncompatible, minor::UNSUPPORTED_CODE_SET),
            Self::OrbShutDown => (Kind::BadInvOrder, minor::ORB_SHUT_DOWN),
            Self::PolicyConflict(_) => (Kind::InvPolicy, minor::POLICIES_NOT_RECONCILED),
            Self::DuplicatePolicy(_) => (Kind::BadParam, minor::DUPLICATE_POLICY),
            Self::Rebind(_) => (Kind::Rebind, 0),
            Self::RealTime(fault) => fault.exception(),
            Self::WouldDeadlock => (Kind::BadInvOrder, minor::WOULD_DEADLOCK),
            Self::Extract(ExtractError::Malformed { .. }) => (Kind::Marshal, 0),
            Self::Extract(_) | Self::BadParameter(_) => (Kind::BadParam, 0),
            Self::Number(_) => (Kind::DataConversion, 0),
            Self::Application(_) => (Kind::Unknown, 0),
            Self::NotImplemented(_) => (Kind::NoImplement, 0),
            Self::NoInterfaceRepository => (Kind::IntfRepos, minor::NO_INTERFACE_REPOSITORY),
            Self::Internal(_) => (Kind::Internal, 0),
            Self::NilInitialReference => (Kind::BadParam, minor::NIL_INITIAL_REFERENCE),
            Self::BadUrlName(_) => (Kind::BadParam, minor::BAD_SCHEME_SPECIFIC_PART),
            Self::OutOfOrder(_) => (Kind::BadInvOrder, 0),
            Self::CallerRefused | Self::CredentialsWithheld(_) => (Kind::NoPermission, 0),
            Self::AuthorityUnavailable => (Kind::Transient, 0),
            Self::ContextPresent(_) => (Kind::BadInvOrder, minor::CONTEXT_PRESENT),
            Self::TooManyContexts { .. } => (Kind::ImpLimit, 0),
            Self::CannotInitialize(_) => (Kind::Initialize, 0),
            Self::AdapterDestroyed(_) => (Kind::ObjectNotExist, 0),
            Self::AdapterBeingDestroyed(_) => (Kind::BadInvOrder, minor::ADAPTER_BEING_DESTROYED),
            Self::UnknownObjectId(_) => (Kind::BadParam, minor::UNKNOWN_OBJECT_ID),
            Self::ServantManagerSet(_) => (Kind::BadInvOrder, minor::SERVANT_MANAGER_SET),
            Self::AdapterRefused(_) => (Kind::ObjAdapter, 0),
            Self::InterceptorPanicked => (Kind::Unknown, minor::SERVANT_PANICKED),
            Self::InterceptorRecursion { .. } => (Kind::ImpLimit, 0),
            Self::WrongInterceptionPoint(_) => (Kind::BadInvOrder, minor::WRONG_INTERCEPTION_POINT),
            Self::NotAvailableToInterceptor(_) => {
                (Kind::NoResources, minor::NOT_AVAILABLE_TO_INTERCEPTOR)
            }
            Self::NoServiceContext(_) => (Kind::BadParam, minor::BAD_CONTEXT_ID),
            Self::NoComponent(_) => (Kind::BadParam, minor::BAD_COMPONENT_ID),
            Self::NoProfile(_) => (Kind::BadParam, minor::BAD_PROFILE_ID),
            Self::UnknownPolicyType(_) => (Kind::InvPolicy, minor::INVALID_POLICY_TYPE),
            Self::PolicyFactoryPresent(_) => (Kind::BadInvOrder, minor::POLICY_FACTORY_PRESENT),
            Self::ComponentsEstablished => (Kind::ObjAdapter, minor::COMPONENTS_ESTABLISHED_FAILED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_host_names_do_not_reach_the_text_of_exceptions() {
        let host = "iiop://a\r\nINFO all is well\u{1b}[2J:1";
        let shown = r"iiop://a\r\nINFO all is well\u{1b}[2J:1";
        let endpoint = || host.to_owned();
        let (limit, kind) = (core::time::Duration::from_secs(1), MessageKind::Request);
        for fault in [
            Fault::Protocol {
                endpoint: endpoint(),
                error: ProtocolError::UnexpectedFragment,
            },
            Fault::MessageTooLarge {
                endpoint: endpoint(),
                kind,
                octets: 2,
                limit: 1,
            },
            Fault::NoUsableProfile {
                profiles: endpoint(),
            },
            Fault::CannotConnect {
                attempts: endpoint(),
                cause: None,
            },
            Fault::ConnectionLost {
                endpoint: "b".to_owned(),
                hint: Some(endpoint()),
                cause: Cause::new("reset"),
            },
            Fault::ConnectionLost {
                endpoint: endpoint(),
                hint: None,
                cause: Cause::new("reset"),
            },
            Fault::ConnectionClosed {
                endpoint: endpoint(),
            },
            Fault::Timeout {
                endpoint: endpoint(),
                limit,
            },
            Fault::SendTimeout {
                endpoint: endpoint(),
                limit,
            },
            Fault::Overload(endpoint()),
            Fault::NoWideCodeSet {
                endpoint: endpoint(),
                stated: true,
            },
        ] {
            let text = fault.to_string();
            assert!(text.contains(shown), "{text}");
            let raised = fault.raise(CompletionStatus::No);
            assert_eq!(raised.detail(), Some(&*text));
            assert!(!raised.to_string().contains(char::is_control), "{text}");
        }
    }

    #[test]
    fn the_error_of_the_system_is_the_source_of_the_exception_and_no_part_of_its_text() {
        use core::error::Error;
        let reset = || std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        let lost = Fault::ConnectionLost {
            endpoint: "iiop://bank:2809".to_owned(),
            hint: None,
            cause: Cause::new(reset()),
        };
        let refused = Fault::CannotConnect {
            attempts: "cannot connect to iiop://bank:2809".to_owned(),
            cause: Some(Cause::new(reset())),
        };
        for (fault, text) in [
            (lost, "connection to iiop://bank:2809 lost"),
            (refused, "cannot connect to iiop://bank:2809"),
        ] {
            let raised = fault.raise(CompletionStatus::Maybe);
            assert_eq!(raised.detail(), Some(text));
            let source = raised.source().unwrap();
            let source = source.downcast_ref::<std::io::Error>().unwrap();
            assert_eq!(source.kind(), std::io::ErrorKind::ConnectionReset);
            assert!(!raised.to_string().contains(&source.to_string()));
            assert!(format!("{raised:#}").ends_with(&format!("{text}: {source}")));
            assert_eq!(format!("{raised:?}"), format!("{raised:#}"));
            // The exception that a caller gets has no source.
            assert!(raised.received().for_caller().source().is_none());
        }
    }

    #[test]
    fn control_characters_of_a_source_are_escaped_behind_the_exception() {
        let lost = Fault::ConnectionLost {
            endpoint: "iiop://bank:2809".to_owned(),
            hint: None,
            cause: Cause::new("a\nb"),
        };
        let raised = lost.raise(CompletionStatus::Maybe);
        assert!(format!("{raised:#}").ends_with(r"lost: a\nb"));
    }
}
