//! Errors of the naming service's client.

use super::cos_naming::naming_context::{
    BindContextError, BindError, BindNewContextError, CannotProceed, NotFound, NotFoundReason,
    RebindContextError, RebindError, ResolveError, UnbindError,
};
use super::cos_naming::{NameComponent, NamingContextRef};
use super::name::{Name, NameError};
use crate::error::Error;
use crate::interface::Interface;
use core::fmt;
use zorb_giop::{Cause, CompletionStatus, Fault, Printable, SystemException, SystemExceptionKind};

/// The limit on contexts from which one call goes on after CannotProceed.
const MAX_CONTINUATIONS: usize = 8;

/// The error of an operation of a [`NamingClient`](super::NamingClient).
///
/// The user exceptions of `CosNaming` with the name at fault, and failures of the service or the object. `Display`
/// shows all of it in one sentence.
///
/// Source: the OMG Naming Service, `CosNaming::NamingContext`.
#[non_exhaustive]
pub enum NamingError {
    /// The initial reference of the service is not configured, or its text is no object URL.
    Unconfigured(Error),
    /// The object is not a naming context.
    #[doc(alias = "nil")]
    NotAContext {
        /// The object, as text: the service, or the object bound to a name.
        what: String,
        /// The repository id in its reference; empty if there is none.
        found: String,
    },
    /// A malformed name, rejected here or by the service.
    InvalidName {
        /// The name, as text.
        name: String,
        /// The reason; `None` if the service rejected the name, since its exception has none.
        why: Option<NameError>,
    },
    /// An address that cannot be part of a `corbaname:` URL.
    InvalidAddress {
        /// The address.
        address: String,
        /// The reason.
        why: String,
    },
    /// A component of the name is not bound, or bound to an object in place of a context or the reverse.
    NotFound {
        /// The name of the operation.
        name: Name,
        /// The reason, for the first component of `rest`.
        why: NotFoundReason,
        /// The end of the name, beginning with the component at fault.
        rest: Name,
    },
    /// A context of the path raised CannotProceed, and the client cannot go on from the context that it names.
    CannotProceed {
        /// The name of the operation.
        name: Name,
        /// The context in the exception.
        #[doc(alias = "cxt")]
        context: Option<NamingContextRef>,
        /// The rest of the name at that context.
        rest: Name,
        /// The reason why the client did not go on from that context.
        why: &'static str,
    },
    /// The name is bound already.
    AlreadyBound {
        /// The name of the operation.
        name: Name,
    },
    /// The context still has bindings.
    NotEmpty {
        /// The name of the context; `None` for the client's own.
        name: Option<Name>,
    },
    /// The name is bound to a nil reference.
    Nil {
        /// The name of the operation.
        name: Name,
    },
    /// The name is bound to an object of another interface.
    WrongType {
        /// The name of the operation.
        name: Name,
        /// The repository id of the requested interface.
        expected: &'static str,
        /// The repository id in the reference; empty if there is none.
        found: String,
    },
    /// The name is bound, but the call of the object's `_is_a` failed: the binding is stale (OBJECT_NOT_EXIST), or the
    /// object's server is down (TRANSIENT).
    Unusable {
        /// The name of the operation.
        name: Name,
        /// The endpoints of the reference.
        endpoints: String,
        /// The exception of calling the object.
        exception: SystemException,
    },
    /// The naming service cannot be reached, or raised a system exception.
    System {
        /// The endpoints of the service.
        endpoints: String,
        /// The exception of the call.
        exception: SystemException,
    },
}

impl NamingError {
    /// The system exception that caused the error, if any: of the naming service or of the object.
    #[must_use]
    pub fn system(&self) -> Option<&SystemException> {
        match self {
            Self::Unconfigured(Error::System(exception))
            | Self::Unusable { exception, .. }
            | Self::System { exception, .. } => Some(exception),
            _ => None,
        }
    }
}

impl fmt::Display for NamingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unconfigured(error @ Error::InvalidName { .. }) => write!(
                f,
                "cannot find the naming service: {error}, such as -ORBInitRef \
                 NameService=corbaloc::HOST:2809/NameService"
            ),
            Self::Unconfigured(error) if f.alternate() => {
                write!(f, "cannot find the naming service: {error:#}")
            }
            Self::Unconfigured(error) => write!(f, "cannot find the naming service: {error}"),
            Self::NotAContext { what, found } => {
                write!(f, "{what} is no naming context but ")?;
                interface(found, f)
            }
            Self::InvalidName {
                name,
                why: Some(why),
            } => write!(f, "invalid name {}: {why}", Quoted(name)),
            Self::InvalidName { name, why: None } => {
                write!(
                    f,
                    "invalid name {}: the naming service refuses it",
                    Quoted(name)
                )
            }
            Self::InvalidAddress { address, why } => {
                write!(f, "invalid address {}: {why}", Quoted(address))
            }
            Self::NotFound { name, why, rest } => not_found(name, *why, rest, f),
            Self::CannotProceed {
                name, rest, why, ..
            } => write!(
                f,
                "{}: the naming service cannot proceed with {}: {why}",
                Text(name),
                Text(rest),
            ),
            Self::AlreadyBound { name } => write!(f, "{} is bound already", Text(name)),
            Self::NotEmpty { name: Some(name) } => {
                write!(f, "context {} is not empty", Text(name))
            }
            Self::NotEmpty { name: None } => f.write_str("the context is not empty"),
            Self::Nil { name } => write!(f, "{} is bound to a nil reference", Text(name)),
            Self::WrongType {
                name,
                expected,
                found,
            } => {
                write!(f, "{} is bound to ", Text(name))?;
                interface(found, f)?;
                write!(f, ", not to an object of {expected}")
            }
            Self::Unusable {
                name,
                endpoints,
                exception,
            } => {
                let stale = exception.kind == SystemExceptionKind::ObjectNotExist;
                let how = if stale {
                    "is gone"
                } else {
                    "cannot be reached"
                };
                write!(f, "the object bound to {} {how}", Text(name))?;
                raised(endpoints, exception, f)
            }
            Self::System {
                endpoints,
                exception,
            } => {
                f.write_str("the naming service failed")?;
                raised(endpoints, exception, f)
            }
        }
    }
}

impl fmt::Debug for NamingError {
    /// Shows the text and its causes: a `main` that returns the error prints this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

/// The source is that of the inner exception, whose text is part of this one's: an [`std::io::Error`], for instance.
impl core::error::Error for NamingError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Unconfigured(error) => core::error::Error::source(error),
            Self::Unusable { exception, .. } | Self::System { exception, .. } => {
                core::error::Error::source(exception)
            }
            _ => None,
        }
    }
}

/// The error for a system exception of a call to `context`.
pub(super) fn service_failed(
    context: &NamingContextRef,
    exception: SystemException,
) -> NamingError {
    NamingError::System {
        endpoints: context.as_object().endpoints_text(),
        exception,
    }
}

/// The exceptions of all operations of a naming context.
pub(super) enum Refusal {
    NotFound(NotFound),
    CannotProceed(CannotProceed),
    InvalidName,
    AlreadyBound,
    System(SystemException),
}

macro_rules! refusals {
    ($($error:ident { $($bound:ident)? })*) => {
        $(
            impl From<$error> for Refusal {
                fn from(error: $error) -> Self {
                    match error {
                        $error::NotFound(exception) => Self::NotFound(exception),
                        $error::CannotProceed(exception) => Self::CannotProceed(exception),
                        $error::InvalidName(_) => Self::InvalidName,
                        $($error::$bound(_) => Self::AlreadyBound,)?
                        $error::System(exception) => Self::System(exception),
                    }
                }
            }
        )*
    };
}

refusals! {
    BindError { AlreadyBound }
    BindContextError { AlreadyBound }
    BindNewContextError { AlreadyBound }
    RebindError {}
    RebindContextError {}
    ResolveError {}
    UnbindError {}
}

/// A name in quotation marks, as a user types it: its backslashes are those of the stringified name.
struct Text<'a>(&'a [NameComponent]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Quoted(&Name::from(self.0).to_string()).fmt(f)
    }
}

/// Text in quotation marks. Only control characters are escaped, which would forge lines of a log.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", Printable(self.0))
    }
}

fn not_found(
    name: &Name,
    why: NotFoundReason,
    rest: &Name,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let [at_fault, further @ ..] = rest.as_slice() else {
        // The rest is empty, against the specification, so no component can be named.
        return write!(f, "{} is not found", Text(name));
    };
    let at_fault = std::slice::from_ref(at_fault);
    write!(f, "{} is not found: ", Text(name))?;
    match why {
        NotFoundReason::MissingNode => {
            write!(f, "{} is not bound", Text(at_fault))?;
            match name.strip_suffix(rest.as_slice()) {
                None | Some([]) => Ok(()),
                Some(before) => write!(f, " in {}", Text(before)),
            }
        }
        NotFoundReason::NotContext | NotFoundReason::NotObject => {
            let path = name.strip_suffix(further).unwrap_or(at_fault);
            let (found, needed) = match why {
                NotFoundReason::NotObject => ("a naming context", "an object is needed"),
                _ => ("an object", "a naming context is needed"),
            };
            write!(f, "{} is bound to {found} where {needed}", Text(path))
        }
    }
}

/// Writes the interface of an object: "an object of …".
fn interface(repository_id: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match repository_id {
        "" => f.write_str("an object of another interface"),
        id => write!(f, "an object of {}", Printable(id)),
    }
}

/// Writes endpoints and exception; exceptions that were raised in this process name their endpoints themselves.
fn raised(endpoints: &str, exception: &SystemException, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if exception.detail().is_none() {
        write!(f, " ({endpoints})")?;
    }
    match f.alternate() {
        true => write!(f, ": {exception:#}"),
        false => write!(f, ": {exception}"),
    }
}

/// The progress of a call along a name: the next context to call, and the rest of the name at that context.
pub(super) struct Resolution<'a> {
    asked: &'a Name,
    pub(super) context: NamingContextRef,
    pub(super) rest: Name,
    continuations: usize,
}

impl<'a> Resolution<'a> {
    pub(super) fn new(context: &NamingContextRef, asked: &'a Name) -> Self {
        Self {
            asked,
            context: context.clone(),
            rest: asked.clone(),
            continuations: 0,
        }
    }

    /// Goes on from the context of a CannotProceed, or returns the error of the operation.
    pub(super) fn follow(&mut self, refusal: impl Into<Refusal>) -> Result<(), NamingError> {
        let name = || self.asked.clone();
        let stuck = match refusal.into() {
            Refusal::CannotProceed(stuck) => stuck,
            Refusal::NotFound(e) => {
                return Err(NamingError::NotFound {
                    name: name(),
                    why: e.why,
                    rest: Name(e.rest_of_name),
                });
            }
            Refusal::InvalidName => {
                return Err(NamingError::InvalidName {
                    name: self.asked.to_string(),
                    why: None,
                });
            }
            Refusal::AlreadyBound => return Err(NamingError::AlreadyBound { name: name() }),
            Refusal::System(exception) => return Err(service_failed(&self.context, exception)),
        };
        let give_up = |context, why| {
            Err(NamingError::CannotProceed {
                name: name(),
                context,
                rest: Name(stuck.rest_of_name.clone()),
                why,
            })
        };
        let Some(context) = stuck.cxt else {
            return give_up(None, "it names no context to go on from");
        };
        if stuck.rest_of_name.is_empty() {
            return give_up(Some(context), "it leaves nothing of the name");
        }
        // Another rest would bind a name that was not requested.
        if !self.rest.ends_with(&stuck.rest_of_name) {
            return give_up(Some(context), "its rest_of_name is not the end of the name");
        }
        if context == self.context && stuck.rest_of_name == *self.rest {
            return give_up(
                Some(context),
                "it names itself and the whole rest of the name",
            );
        }
        self.continuations = self.continuations.saturating_add(1);
        if self.continuations > MAX_CONTINUATIONS {
            return give_up(Some(context), "too many contexts could not proceed");
        }
        self.context = context;
        self.rest = Name(stuck.rest_of_name);
        Ok(())
    }
}

/// The exception of the call that failed, if one did; else UNKNOWN, COMPLETED_MAYBE, with the error as its source: what a
/// servant could not resolve says nothing on the servant itself.
impl From<NamingError> for SystemException {
    fn from(error: NamingError) -> Self {
        match error {
            NamingError::System { exception, .. } | NamingError::Unusable { exception, .. } => {
                exception
            }
            NamingError::Unconfigured(error) => error.into(),
            error => Fault::Application(Cause::new(error)).raise(CompletionStatus::Maybe),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_giop::CompletionStatus;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn missing(asked: &str, why: NotFoundReason, rest: &str) -> NamingError {
        NamingError::NotFound {
            name: name(asked),
            why,
            rest: name(rest),
        }
    }

    #[test]
    fn each_error_is_one_sentence_that_names_what_was_in_the_way() {
        use NotFoundReason::{MissingNode, NotContext, NotObject};
        let gone =
            SystemException::new(SystemExceptionKind::ObjectNotExist, 0, CompletionStatus::No);
        let refused = SystemException::new(SystemExceptionKind::Transient, 2, CompletionStatus::No)
            .with_detail("iiop://host:1: refused");
        let endpoints = || "iiop://host:1".to_owned();
        for (error, message) in [
            (
                NamingError::NotAContext {
                    what: "NameService at iiop://host:1".to_owned(),
                    found: "IDL:Bank/Account:1.0".to_owned(),
                },
                "NameService at iiop://host:1 is no naming context but an object of \
                 IDL:Bank/Account:1.0",
            ),
            (
                NamingError::NotAContext {
                    what: "NameService at iiop://host:1".to_owned(),
                    found: String::new(),
                },
                "NameService at iiop://host:1 is no naming context but an object of another \
                 interface",
            ),
            (
                NamingError::InvalidName {
                    name: "a//b".to_owned(),
                    why: Some(NameError::EmptyComponent(3)),
                },
                "invalid name \"a//b\": expected a component, found none at character 3",
            ),
            (
                NamingError::InvalidName {
                    name: r"a\b".to_owned(),
                    why: Some(NameError::BadEscape(3)),
                },
                r#"invalid name "a\b": expected / . or \ behind a backslash, found another character at 3"#,
            ),
            (
                missing(r"a\.b\\c/d\/e.k", MissingNode, r"d\/e.k"),
                r#""a\.b\\c/d\/e.k" is not found: "d\/e.k" is not bound in "a\.b\\c""#,
            ),
            (
                NamingError::AlreadyBound {
                    name: name("a\u{1b}[31m\nb"),
                },
                r#""a\u{1b}[31m\nb" is bound already"#,
            ),
            (
                NamingError::InvalidName {
                    name: "a".to_owned(),
                    why: None,
                },
                "invalid name \"a\": the naming service refuses it",
            ),
            (
                missing("a.k/b", MissingNode, "a.k/b"),
                "\"a.k/b\" is not found: \"a.k\" is not bound",
            ),
            (
                missing("a/b/c", MissingNode, "c"),
                "\"a/b/c\" is not found: \"c\" is not bound in \"a/b\"",
            ),
            (
                missing("a/b/c", NotContext, "b/c"),
                "\"a/b/c\" is not found: \"a/b\" is bound to an object where a naming context is \
                 needed",
            ),
            (
                missing("a/b", NotObject, "b"),
                "\"a/b\" is not found: \"a/b\" is bound to a naming context where an object is \
                 needed",
            ),
            (
                missing("a/b", NotContext, "other/thing"),
                "\"a/b\" is not found: \"other\" is bound to an object where a naming context is \
                 needed",
            ),
            (
                NamingError::NotFound {
                    name: name("a"),
                    why: MissingNode,
                    rest: Name::default(),
                },
                "\"a\" is not found",
            ),
            (
                NamingError::CannotProceed {
                    name: name("a/b"),
                    context: None,
                    rest: name("b"),
                    why: "it names no context to go on from",
                },
                "\"a/b\": the naming service cannot proceed with \"b\": it names no context to go \
                 on from",
            ),
            (
                NamingError::AlreadyBound { name: name("a/b") },
                "\"a/b\" is bound already",
            ),
            (
                NamingError::NotEmpty {
                    name: Some(name("a")),
                },
                "context \"a\" is not empty",
            ),
            (
                NamingError::Nil { name: name("a") },
                "\"a\" is bound to a nil reference",
            ),
            (
                NamingError::WrongType {
                    name: name("a"),
                    expected: "IDL:Bank/Account:1.0",
                    found: "IDL:Bank/Teller:1.0".to_owned(),
                },
                "\"a\" is bound to an object of IDL:Bank/Teller:1.0, not to an object of \
                 IDL:Bank/Account:1.0",
            ),
            (
                NamingError::Unusable {
                    name: name("a"),
                    endpoints: endpoints(),
                    exception: gone.clone(),
                },
                "the object bound to \"a\" is gone (iiop://host:1): OBJECT_NOT_EXIST (minor 0x0, \
                 COMPLETED_NO)",
            ),
            (
                NamingError::Unusable {
                    name: name("a"),
                    endpoints: endpoints(),
                    exception: refused.clone(),
                },
                "the object bound to \"a\" cannot be reached: TRANSIENT (minor 0x2, \
                 COMPLETED_NO): iiop://host:1: refused",
            ),
            (
                NamingError::System {
                    endpoints: endpoints(),
                    exception: gone,
                },
                "the naming service failed (iiop://host:1): OBJECT_NOT_EXIST (minor 0x0, \
                 COMPLETED_NO)",
            ),
        ] {
            assert_eq!(error.to_string(), message);
            assert_eq!(format!("{error:?}"), message);
        }
    }
}
