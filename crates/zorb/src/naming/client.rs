//! The client of a naming service.

use super::cos_naming::naming_context::{DestroyError, NotFoundReason};
use super::cos_naming::{NamingContextExtRef, NamingContextRef};
use super::list::Bindings;
use super::name::{IntoName, Name, NameError};
use super::naming_error::{NamingError, Quoted, Refusal, Resolution, service_failed};
use crate::interface::Interface;
use crate::object::ObjectRef;
use crate::orb::Orb;
use zorb_giop::SystemExceptionKind;

/// The name of the naming service's initial reference.
const SERVICE: &str = "NameService";

/// The client of a naming context, with operations for whole paths.
///
/// A clone costs a reference count. Names are text (`"bank/accounts.savings"`, components separated by `/`, id and kind
/// by `.`) or [`Name`]s, relative to the client's context. The contexts on a path may be at several servers.
///
/// Each operation calls the service and may fail with [`NamingError::System`].
/// [`Builder::round_trip_timeout`](crate::Builder::round_trip_timeout) and
/// [`NamingContextRef::with_round_trip_timeout`](Interface::with_round_trip_timeout) limit its time. When the service
/// raises CannotProceed, the client goes on from the context in the exception, at most 8 times a call.
///
/// An operation costs one call if one server has all contexts of the path, and further ones if contexts are elsewhere
/// or missing. Source: the OMG Naming Service, `CosNaming::NamingContext`.
///
/// # Cancel safety
/// Dropping a call sends no further requests: a binding may have been made or not, and contexts that were made on the
/// path stay. Calls can be repeated, except [`bind`](Self::bind), [`bind_context`](Self::bind_context) and
/// [`bind_new_context`](Self::bind_new_context), which may find the name bound by the first call.
#[derive(Debug, Clone, PartialEq)]
#[doc(alias = "TAO_Naming_Client")]
pub struct NamingClient {
    context: NamingContextRef,
}

impl NamingClient {
    /// Makes the client of the ORB's initial reference `NameService`. Costs a call of `_is_a`, unless the type id of
    /// the reference is that of a naming context.
    ///
    /// # Errors
    /// [`NamingError::Unconfigured`] when the ORB has no such initial reference, [`NamingError::System`] when the
    /// service cannot be reached, [`NamingError::NotAContext`] for an object of another interface.
    ///
    /// # Cancel safety
    /// Safe: the calls change nothing at the service, and can be repeated.
    #[doc(alias = "resolve_initial_references")]
    pub async fn find(orb: &Orb) -> Result<Self, NamingError> {
        let object = orb
            .resolve_initial_references(SERVICE)
            .await
            .map_err(NamingError::Unconfigured)?;
        Self::at(&object).await
    }

    /// Makes the client of a naming context by its reference. Costs a call of `_is_a`, unless the type id of the
    /// reference is that of a naming context.
    ///
    /// # Errors
    /// [`NamingError::System`] when the context cannot be reached, [`NamingError::NotAContext`] for an object of
    /// another interface.
    ///
    /// # Cancel safety
    /// Safe: the call of `_is_a` changes nothing at the service, and can be repeated.
    #[doc(alias = "_narrow")]
    pub async fn at(object: &ObjectRef) -> Result<Self, NamingError> {
        match object.narrow().await {
            Ok(Some(context)) => Ok(Self { context }),
            Ok(None) => Err(NamingError::NotAContext {
                what: format!("what is at {}", object.endpoints_text()),
                found: object.type_id().to_owned(),
            }),
            Err(exception) => Err(service_failed(&object.unchecked_narrow(), exception)),
        }
    }

    /// Makes the client of a typed reference to a naming context. Sends no request.
    #[must_use]
    pub fn new(context: NamingContextRef) -> Self {
        Self { context }
    }

    /// Returns the reference to the context, for the operations of the specification.
    #[must_use]
    pub fn context(&self) -> &NamingContextRef {
        &self.context
    }

    /// Returns the context as a `NamingContextExt`, which has stringified names and URLs; `None` for older servers,
    /// which lack it. Costs a call of `_is_a`, unless the type id of the reference is that of the interface.
    ///
    /// # Errors
    /// [`NamingError::System`] when the call fails.
    ///
    /// # Cancel safety
    /// Safe: the call of `_is_a` changes nothing at the service, and can be repeated.
    pub async fn ext(&self) -> Result<Option<NamingContextExtRef>, NamingError> {
        let ext = self.context.as_object().narrow().await;
        ext.map_err(|exception| service_failed(&self.context, exception))
    }

    /// Returns the object bound to a name, as a reference of type `T`. Costs a call of the object's `_is_a`, unless the
    /// type id of its reference is that of `T`, or `T` is [`ObjectRef`].
    ///
    /// # Errors
    /// [`NamingError::NotFound`], [`NamingError::InvalidName`], [`NamingError::Nil`], [`NamingError::WrongType`], and
    /// [`NamingError::Unusable`] when the call of `_is_a` fails. (An object that is not called here fails at its first
    /// call: OBJECT_NOT_EXIST, or TRANSIENT with host and port.)
    ///
    /// # Cancel safety
    /// Safe: the calls change nothing at the service, and can be repeated.
    pub async fn resolve<T: Interface>(&self, name: impl IntoName) -> Result<T, NamingError> {
        let name = checked(name)?;
        let object = self.resolve_object(&name).await?;
        match object.narrow().await {
            Ok(Some(typed)) => Ok(typed),
            Ok(None) => Err(NamingError::WrongType {
                name,
                expected: T::REPOSITORY_ID,
                found: object.type_id().to_owned(),
            }),
            Err(exception) => Err(NamingError::Unusable {
                name,
                endpoints: object.endpoints_text(),
                exception,
            }),
        }
    }

    /// Binds an object to a name that is not bound, and makes the missing contexts of the path. Another client may make
    /// them at the same time.
    ///
    /// (If a missing context should be an error, call [`context`](Self::context)`().bind(…)`.)
    ///
    /// # Errors
    /// [`NamingError::AlreadyBound`]; [`NamingError::NotFound`] with `not_context` when an object is bound within the
    /// path; [`NamingError::InvalidName`].
    ///
    /// # Cancel safety
    /// The binding may have been made or not, and contexts that were made on the path stay. A repeated call may fail
    /// with [`NamingError::AlreadyBound`], because of the first one.
    pub async fn bind(
        &self,
        name: impl IntoName,
        object: &impl Interface,
    ) -> Result<(), NamingError> {
        let what = Bound::Object(object.as_object());
        self.put(&checked(name)?, what, If::Unbound).await
    }

    /// Binds an object to a name, replacing an object that is bound to it. Makes missing contexts as
    /// [`bind`](Self::bind) does.
    ///
    /// # Errors
    /// [`NamingError::NotFound`] with `not_object` when a context is bound to the name, and with `not_context` when an
    /// object is bound within the path; [`NamingError::InvalidName`].
    ///
    /// # Cancel safety
    /// The binding may have been made or not, and contexts that were made on the path stay. A repeated call ends in the
    /// same binding.
    pub async fn rebind(
        &self,
        name: impl IntoName,
        object: &impl Interface,
    ) -> Result<(), NamingError> {
        let what = Bound::Object(object.as_object());
        self.put(&checked(name)?, what, If::Either).await
    }

    /// Binds a context, of this server or of another, so that paths can lead through it. Makes missing contexts as
    /// [`bind`](Self::bind) does.
    ///
    /// # Errors
    /// Returns the errors of [`bind`](Self::bind).
    ///
    /// # Cancel safety
    /// The binding may have been made or not, and contexts that were made on the path stay. A repeated call may fail
    /// with [`NamingError::AlreadyBound`], because of the first one.
    pub async fn bind_context(
        &self,
        name: impl IntoName,
        context: &Self,
    ) -> Result<(), NamingError> {
        let what = Bound::Context(&context.context);
        self.put(&checked(name)?, what, If::Unbound).await
    }

    /// Binds a context to a name, replacing a context that is bound to it. Makes missing contexts as
    /// [`bind`](Self::bind) does. The former context is not destroyed.
    ///
    /// # Errors
    /// Returns the errors of [`rebind`](Self::rebind), but `not_context` when an object is bound to the name.
    ///
    /// # Cancel safety
    /// The binding may have been made or not, and contexts that were made on the path stay. A repeated call ends in the
    /// same binding.
    pub async fn rebind_context(
        &self,
        name: impl IntoName,
        context: &Self,
    ) -> Result<(), NamingError> {
        let name = checked(name)?;
        let what = Bound::Context(&context.context);
        // JacORB's service silently does nothing for a name of several components.
        match name.split_last() {
            Some((last, path @ [_, ..])) => {
                let resolution = self.make_contexts(Name::from(path)).await;
                let resolution = resolution.map_err(|error| about(&name, error))?;
                let last = Name::from(std::slice::from_ref(last));
                let done = resolution.put_once(&last, what, If::Either).await;
                done.map_err(|error| about(&name, error))
            }
            _ => self.put_once(&name, what, If::Either).await,
        }
    }

    /// Makes a context and binds it to a name that is not bound. Makes missing contexts as [`bind`](Self::bind) does.
    ///
    /// # Errors
    /// Returns the errors of [`bind`](Self::bind).
    ///
    /// # Cancel safety
    /// The binding may have been made or not, and contexts that were made on the path stay. A repeated call may fail
    /// with [`NamingError::AlreadyBound`], because of the first one.
    pub async fn bind_new_context(&self, name: impl IntoName) -> Result<Self, NamingError> {
        let name = checked(name)?;
        match self.make(&name).await {
            Err(error) if may_lack_contexts(&name, &error) => {
                let bound = self.make_on_the_way(&name, &error).await?;
                let made = self.make(&name).await;
                made.map_err(|error| blocked(error, &name, bound))
            }
            made => made,
        }
    }

    /// Returns the context bound to a name; makes it and the missing contexts of the path, as `mkdir -p` does. When two
    /// clients make a context at the same time, JacORB's service may replace one by the other, and this may return the
    /// replaced one.
    ///
    /// # Errors
    /// [`NamingError::NotFound`] with `not_context`, or [`NamingError::NotAContext`], when an object is bound;
    /// [`NamingError::InvalidName`].
    ///
    /// # Cancel safety
    /// Contexts that were made on the path stay. A repeated call finds them and goes on.
    pub async fn make_contexts(&self, name: impl IntoName) -> Result<Self, NamingError> {
        let name = checked(name)?;
        match self.bind_new_context(&name).await {
            Err(NamingError::AlreadyBound { .. }) => self.subcontext(&name).await,
            made => made,
        }
    }

    /// Returns the context bound to a name. Costs a call of `_is_a`, unless the type id of its reference is that of a
    /// naming context.
    ///
    /// # Errors
    /// Returns the errors of [`resolve`](Self::resolve); [`NamingError::NotAContext`] if an object of another interface
    /// is bound.
    ///
    /// # Cancel safety
    /// Safe: the calls change nothing at the service, and can be repeated.
    pub async fn subcontext(&self, name: impl IntoName) -> Result<Self, NamingError> {
        match self.resolve(name).await {
            Ok(context) => Ok(Self { context }),
            Err(NamingError::WrongType { name, found, .. }) => Err(NamingError::NotAContext {
                what: format!("the object bound to {}", Quoted(&name.to_string())),
                found,
            }),
            Err(error) => Err(error),
        }
    }

    /// Removes a binding. The object, or the context, is not destroyed.
    ///
    /// # Errors
    /// [`NamingError::NotFound`], [`NamingError::InvalidName`].
    ///
    /// # Cancel safety
    /// The binding may have been removed or not: a repeated call may fail with [`NamingError::NotFound`].
    pub async fn unbind(&self, name: impl IntoName) -> Result<(), NamingError> {
        let name = checked(name)?;
        let mut resolution = Resolution::new(&self.context, &name);
        loop {
            match resolution.context.unbind(&resolution.rest).await {
                Ok(()) => return Ok(()),
                Err(error) => resolution.follow(error)?,
            }
        }
    }

    /// Destroys an empty context and removes its binding. If the context has been destroyed already, removes the
    /// binding.
    ///
    /// # Errors
    /// [`NamingError::NotEmpty`], [`NamingError::NotFound`], [`NamingError::NotAContext`],
    /// [`NamingError::InvalidName`].
    ///
    /// # Cancel safety
    /// The context may have been destroyed without its binding being removed. A repeated call removes the binding, or
    /// fails with [`NamingError::NotFound`] if it has been removed.
    pub async fn remove_context(&self, name: impl IntoName) -> Result<(), NamingError> {
        let name = checked(name)?;
        let is_gone = |error: &NamingError| {
            let gone = SystemExceptionKind::ObjectNotExist;
            error
                .system()
                .is_some_and(|exception| exception.kind == gone)
        };
        let destroyed = match self.subcontext(&name).await {
            Ok(context) => context.destroy().await,
            // The naming service failed, not the context.
            Err(error @ NamingError::System { .. }) => return Err(error),
            Err(error) => Err(error),
        };
        match destroyed {
            Err(NamingError::NotEmpty { .. }) => {
                return Err(NamingError::NotEmpty { name: Some(name) });
            }
            Err(error) if !is_gone(&error) => return Err(error),
            _ => {}
        }
        self.unbind(&name).await
    }

    /// Destroys the client's context, which has to be empty. Bindings to it remain, and are stale.
    ///
    /// # Errors
    /// [`NamingError::NotEmpty`] if the context has bindings.
    ///
    /// # Cancel safety
    /// The context may have been destroyed or not: a repeated call may fail with OBJECT_NOT_EXIST
    /// ([`NamingError::System`]).
    pub async fn destroy(&self) -> Result<(), NamingError> {
        self.context.destroy().await.map_err(|error| match error {
            DestroyError::NotEmpty(_) => NamingError::NotEmpty { name: None },
            DestroyError::System(exception) => service_failed(&self.context, exception),
        })
    }

    /// Returns the bindings of the context, fetched in batches of 100. Sends no request before [`Bindings::next`].
    pub fn list(&self) -> Bindings {
        Bindings::new(self.context.clone())
    }

    async fn resolve_object(&self, name: &Name) -> Result<ObjectRef, NamingError> {
        let mut resolution = Resolution::new(&self.context, name);
        loop {
            match resolution.context.resolve(&resolution.rest).await {
                Ok(Some(object)) => return Ok(object),
                Ok(None) => return Err(NamingError::Nil { name: name.clone() }),
                Err(error) => resolution.follow(error)?,
            }
        }
    }

    /// Binds; if contexts of the path are missing, makes them and binds again.
    async fn put(&self, name: &Name, what: Bound<'_>, when: If) -> Result<(), NamingError> {
        match self.put_once(name, what, when).await {
            Err(error) if may_lack_contexts(name, &error) => {
                let bound = self.make_on_the_way(name, &error).await?;
                let done = self.put_once(name, what, when).await;
                done.map_err(|error| blocked(error, name, bound))
            }
            done => done,
        }
    }

    async fn put_once(&self, name: &Name, what: Bound<'_>, when: If) -> Result<(), NamingError> {
        let mut resolution = Resolution::new(&self.context, name);
        loop {
            let Resolution { context, rest, .. } = &resolution;
            let done: Result<(), Refusal> = match (what, when) {
                (Bound::Object(object), If::Unbound) => {
                    context.bind(rest, object).await.map_err(Refusal::from)
                }
                (Bound::Object(object), If::Either) => {
                    context.rebind(rest, object).await.map_err(Refusal::from)
                }
                (Bound::Context(bound), If::Unbound) => {
                    let done = context.bind_context(rest, bound).await;
                    done.map_err(Refusal::from)
                }
                (Bound::Context(bound), If::Either) => {
                    let done = context.rebind_context(rest, bound).await;
                    done.map_err(Refusal::from)
                }
            };
            match done {
                Ok(()) => return Ok(()),
                Err(refusal) => match (resolution.follow(refusal), when) {
                    (Ok(()), _) => {}
                    (Err(error), If::Unbound) => {
                        let bound = self.bound_instead(name, error).await?;
                        return match bound.is_equivalent(what.object()) {
                            true => Ok(()),
                            false => Err(NamingError::AlreadyBound { name: name.clone() }),
                        };
                    }
                    (Err(error), If::Either) => return Err(error),
                },
            }
        }
    }

    /// Makes one context. Its parent, named by all components but the last, has to exist.
    async fn make(&self, name: &Name) -> Result<Self, NamingError> {
        let mut resolution = Resolution::new(&self.context, name);
        loop {
            match resolution.context.bind_new_context(&resolution.rest).await {
                Ok(Some(context)) => return Ok(Self { context }),
                Ok(None) => return Err(NamingError::Nil { name: name.clone() }),
                Err(error) => {
                    if let Err(error) = resolution.follow(error) {
                        self.bound_instead(name, error).await?;
                        return Err(NamingError::AlreadyBound { name: name.clone() });
                    }
                }
            }
        }
    }

    /// The binding that prevented a new one, after CannotProceed. JacORB's service checks whether a name is free and
    /// binds it in two steps. It raises CannotProceed when another call came between them, and has then bound the
    /// object of one of the two calls.
    async fn bound_instead(
        &self,
        name: &Name,
        error: NamingError,
    ) -> Result<ObjectRef, NamingError> {
        match error {
            NamingError::CannotProceed { .. } => self.resolve_object(name).await.map_err(|_| error),
            _ => Err(error),
        }
    }

    /// Makes the contexts that all but the last component name, beginning with the one that `error` reports as missing.
    /// Returns the path of the last one if that was bound already.
    async fn make_on_the_way(
        &self,
        name: &Name,
        error: &NamingError,
    ) -> Result<Option<Name>, NamingError> {
        // If the error has no rest, or one that is not the end of the name, begins with the first component.
        let there = match error {
            NamingError::NotFound { rest, .. } => name.strip_suffix(rest.as_slice()),
            _ => None,
        };
        let there = there.map_or(0, <[_]>::len);
        let mut bound = None;
        for end in there.saturating_add(1)..name.len() {
            let Some(path) = name.get(..end) else { break };
            let path = Name::from(path);
            bound = match self.make(&path).await {
                Ok(_) => None,
                // Another client made it first, or an object is bound to it: the next operation shows which.
                Err(NamingError::AlreadyBound { .. }) => Some(path),
                Err(error) => return Err(blocked(error, name, bound)),
            };
        }
        Ok(bound)
    }
}

/// Whether an operation may have failed because a context of the path is missing.
fn may_lack_contexts(name: &Name, error: &NamingError) -> bool {
    let missing = matches!(
        error,
        NamingError::NotFound {
            why: NotFoundReason::MissingNode,
            ..
        }
    );
    name.len() > 1 && (missing || is_bad_param(error))
}

/// Whether the error is BAD_PARAM, which JacORB's service raises for an object in place of a context.
fn is_bad_param(error: &NamingError) -> bool {
    let bad_param = SystemExceptionKind::BadParam;
    let system = error.system();
    system.is_some_and(|exception| exception.kind == bad_param)
}

/// The error of an operation after contexts were made. Some services do not distinguish an object within the path from
/// an unbound name (JacORB's keeps contexts and objects in two tables). If the operation fails at a path that was
/// reported as bound, that path is an object.
fn blocked(error: NamingError, name: &Name, bound: Option<Name>) -> NamingError {
    match bound {
        Some(path) if matches!(error, NamingError::NotFound { .. }) || is_bad_param(&error) => {
            NamingError::NotFound {
                name: name.clone(),
                why: NotFoundReason::NotContext,
                rest: Name::from(name.get(path.len().saturating_sub(1)..).unwrap_or_default()),
            }
        }
        _ => about(name, error),
    }
}

/// Converts the error of an operation on a part of `name` to one for the whole name.
fn about(name: &Name, error: NamingError) -> NamingError {
    let NamingError::NotFound {
        name: tried,
        why,
        rest,
    } = error
    else {
        return error;
    };
    let further = if name.ends_with(&tried) {
        &[]
    } else {
        name.get(tried.len()..).unwrap_or_default()
    };
    NamingError::NotFound {
        name: name.clone(),
        why,
        rest: Name([&rest, further].concat()),
    }
}

#[derive(Clone, Copy)]
enum Bound<'a> {
    Object(&'a ObjectRef),
    Context(&'a NamingContextRef),
}

impl<'a> Bound<'a> {
    fn object(self) -> &'a ObjectRef {
        match self {
            Self::Object(object) => object,
            Self::Context(context) => context.as_object(),
        }
    }
}

/// The condition for binding: only an unbound name, or also a bound one.
#[derive(Clone, Copy)]
enum If {
    Unbound,
    Either,
}

fn checked(name: impl IntoName) -> Result<Name, NamingError> {
    let name = name.into_name()?;
    if name.is_empty() {
        return Err(NamingError::InvalidName {
            name: String::new(),
            why: Some(NameError::EmptyComponent(1)),
        });
    }
    Ok(name)
}
