//! The naming contexts: one servant for all of them.

use crate::iterators::Iterators;
use crate::refusal::{Refusal, store_failed};
use crate::service::SERVICE_KEY;
use crate::store::{
    Binding, Change, ContextId, Found, Key, Outcome, PageLimits, Replace, Store, Target,
};
use std::sync::Arc;
use std::time::Duration;
use zorb::cdr::{ByteOrder, Decode, Decoder, EncapsulationVisitor, NativeEndian, WireFormat};
use zorb::naming::Name;
use zorb::naming::cos_naming::naming_context::{
    BindContextError, BindError, BindNewContextError, CannotProceed, DestroyError, InvalidName,
    NotEmpty, NotFoundReason, RebindContextError, RebindError, ResolveError, UnbindError,
};
use zorb::naming::cos_naming::naming_context_ext::{
    InvalidAddress, ResolveStrError, ToNameError, ToStringError, ToUrlError,
};
use zorb::naming::cos_naming::{
    Binding as NamedBinding, BindingIteratorRef, BindingList, BindingType, NameComponent,
    NamingContext, NamingContextExt, NamingContextExtRef, NamingContextExtServant,
    NamingContextRef,
};
use zorb::{
    Bytes, DecodeError, Interface, Ior, ObjectId, ObjectRef, Orb, Poa, PoaCurrent, Servant,
    ServantLocator, ServantManagerError, SystemException, SystemExceptionKind,
};

/// Components of a name.
pub const MAX_COMPONENTS: usize = 256;
/// Octets of a reference that is bound.
pub const MAX_REFERENCE_OCTETS: usize = 256 * 1024;
/// Octets that a reply lists, whatever number of names it is asked for: omniORB reads no message above 2 MiB.
pub const MAX_LISTED_OCTETS: usize = 1024 * 1024;
/// How long a call to a context of another service may take.
const FEDERATED_TIMEOUT: Duration = Duration::from_secs(10);

/// The operations that look into the store themselves, and find there whether their context exists.
const STORED: [&str; 8] = [
    "resolve",
    "resolve_str",
    "bind",
    "rebind",
    "bind_context",
    "rebind_context",
    "bind_new_context",
    "unbind",
];

/// The contexts of a service.
pub(crate) struct Contexts<S> {
    pub(crate) orb: Orb,
    pub(crate) poa: Poa,
    pub(crate) store: Arc<S>,
    pub(crate) iterators: Arc<Iterators<S>>,
}

/// Finds out, for each request, whether there is the context it is for.
pub(crate) struct Locator<S> {
    pub(crate) store: Arc<S>,
    pub(crate) servant: Arc<Contexts<S>>,
}

impl<S: Store> ServantLocator for Locator<S> {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        operation: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        let context = context_id(id)?;
        if !STORED.contains(&operation) {
            let is_there = self.store.has_context(context).await;
            if !is_there.map_err(|error| store_failed(&error))? {
                return Err(SystemException::from(SystemExceptionKind::ObjectNotExist).into());
            }
        }
        let servant = NamingContextExtServant::from_arc(Arc::clone(&self.servant));
        Ok((servant.into(), ()))
    }
}

/// The context of an object's id, which any client can make up.
fn context_id(id: &ObjectId) -> Result<ContextId, SystemException> {
    let octets = id.as_ref().try_into();
    octets
        .map(ContextId)
        .map_err(|_| SystemExceptionKind::ObjectNotExist.into())
}

/// The context that a request is for.
fn here() -> Result<ContextId, SystemException> {
    context_id(&PoaCurrent::get_object_id()?)
}

/// Where the last component of a name is bound.
enum Place<'n> {
    Here {
        context: ContextId,
        key: Key,
        last: &'n [NameComponent],
        /// Whether the context is the one that the request is for.
        is_first: bool,
    },
    /// In a context of another service.
    Elsewhere {
        context: NamingContextRef,
        rest: &'n [NameComponent],
    },
}

/// Reads a reference that is stored as an encapsulation.
struct ReadIor;

impl<'de> EncapsulationVisitor<'de> for ReadIor {
    type Output = Ior;

    fn visit<O: ByteOrder>(self, decoder: &mut Decoder<'de, O>) -> Result<Ior, DecodeError> {
        Ior::decode(decoder)
    }
}

pub(crate) fn write_ior(ior: &Ior) -> Result<Bytes, Refusal> {
    let octets =
        zorb::cdr::encode_encapsulation::<NativeEndian>(WireFormat::default(), |e| e.put(ior));
    match octets {
        Ok(octets) if octets.len() <= MAX_REFERENCE_OCTETS => Ok(octets.into()),
        _ => Err(SystemExceptionKind::ImpLimit.into()),
    }
}

impl<S: Store> Contexts<S> {
    /// The reference to a context, at the endpoints of now.
    pub(crate) fn reference(&self, context: ContextId) -> Result<NamingContextExtRef, zorb::Error> {
        self.poa.create_reference_with_id(context.0)
    }

    /// What is bound, as a reference; `None` for nil.
    pub(crate) fn bound(&self, target: &Target) -> Result<Option<ObjectRef>, SystemException> {
        match target {
            Target::Context(context) => Ok(Some(self.reference(*context)?.into())),
            Target::Reference(octets) => {
                let ior = zorb::cdr::decode_encapsulation(octets, WireFormat::default(), ReadIor)
                    .map_err(|_| SystemException::from(SystemExceptionKind::PersistStore))?;
                Ok((!ior.is_nil()).then(|| self.orb.object(ior)))
            }
        }
    }

    /// What is stored of a reference: the id of a context of this service, else the reference.
    async fn target(&self, object: Option<&ObjectRef>) -> Result<Target, Refusal> {
        let Some(object) = object else {
            return Ok(Target::Reference(write_ior(&Ior::NIL)?));
        };
        if let Some(context) = self.own_context(object)
            && self.store.has_context(context).await?
        {
            return Ok(Target::Context(context));
        }
        if self.is_root(object) {
            return Ok(Target::Context(self.store.root()));
        }
        Ok(Target::Reference(write_ior(object.ior())?))
    }

    /// The context that a reference has in its key, wherever it leads: one that was made by another service of the same store,
    /// or before the service moved, is of a context of this one.
    fn own_context(&self, object: &ObjectRef) -> Option<ContextId> {
        let keys = |ior: &Ior| -> Vec<Bytes> {
            let profiles = ior.profiles.iter();
            profiles
                .filter_map(|profile| profile.object_key())
                .collect()
        };
        keys(object.ior()).into_iter().find_map(|key| {
            let context = ContextId(*key.last_chunk()?);
            let ours = self.reference(context).ok()?;
            keys(ours.as_object().ior())
                .contains(&key)
                .then_some(context)
        })
    }

    /// Whether a reference is that of a `corbaloc` of the service.
    fn is_root(&self, object: &ObjectRef) -> bool {
        self.orb
            .ins_poa()
            .reference_to_id(object)
            .is_ok_and(|id| id.as_ref() == SERVICE_KEY.as_bytes())
    }

    /// Follows a name to the context of its last component.
    async fn walk<'n>(
        &self,
        start: ContextId,
        name: &'n [NameComponent],
    ) -> Result<Place<'n>, Refusal> {
        if name.is_empty() || name.len() > MAX_COMPONENTS {
            return Err(Refusal::InvalidName);
        }
        // A name with one bad component is invalid, wherever its beginning leads.
        let keys: Option<Vec<Key>> = name.iter().map(Key::of).collect();
        let keys = keys.ok_or(Refusal::InvalidName)?;
        let mut context = start;
        let mut is_first = true;
        let mut rest = name;
        for key in keys {
            let [_, further @ ..] = rest else { break };
            if further.is_empty() {
                let last = rest;
                return Ok(Place::Here {
                    context,
                    key,
                    last,
                    is_first,
                });
            }
            let binding = match self.store.get(context, &key).await? {
                Found::Bound(binding) => binding,
                Found::Unbound => {
                    return Err(Refusal::not_found(NotFoundReason::MissingNode, rest));
                }
                Found::NoContext => return Err(self.no_context(context, is_first, rest)),
            };
            if binding.binding_type != BindingType::Ncontext {
                return Err(Refusal::not_found(NotFoundReason::NotContext, rest));
            }
            rest = further;
            is_first = false;
            match binding.target {
                Target::Context(next) => context = next,
                target @ Target::Reference(_) => {
                    let object = self.bound(&target)?;
                    let object = object.ok_or(SystemExceptionKind::PersistStore)?;
                    let context: NamingContextRef = object.unchecked_narrow();
                    let context = context.with_round_trip_timeout(FEDERATED_TIMEOUT);
                    return Ok(Place::Elsewhere { context, rest });
                }
            }
        }
        Err(Refusal::InvalidName)
    }

    /// The exception for a context that is gone: the one that the request is for, or one that is still bound.
    fn no_context(&self, context: ContextId, is_first: bool, rest: &[NameComponent]) -> Refusal {
        match self.reference(context) {
            Ok(reference) if !is_first => Refusal::CannotProceed(CannotProceed {
                cxt: Some(reference.into()),
                rest_of_name: rest.to_vec(),
            }),
            _ => SystemExceptionKind::ObjectNotExist.into(),
        }
    }

    /// The exception for a refused call to a context of another service. If that was surely not carried out, the client
    /// may go on from there by itself.
    fn refused_elsewhere(
        refusal: impl Into<Refusal>,
        context: NamingContextRef,
        rest: &[NameComponent],
        is_read: bool,
    ) -> Refusal {
        match refusal.into() {
            Refusal::System(exception)
                if is_read || exception.completed == zorb::CompletionStatus::No =>
            {
                tracing::debug!(%exception, "a context of another service does not answer");
                Refusal::CannotProceed(CannotProceed {
                    cxt: Some(context),
                    rest_of_name: rest.to_vec(),
                })
            }
            // As the ORB does with an exception of a call of the servant's.
            Refusal::System(exception) => Refusal::System(exception),
            refusal => refusal,
        }
    }

    /// Makes a change of the binding of a name's last component.
    async fn change(
        &self,
        change: Change,
        context: ContextId,
        last: &[NameComponent],
        is_first: bool,
    ) -> Result<(), Refusal> {
        match self.store.change(change).await? {
            Outcome::Done => Ok(()),
            Outcome::NoContext => Err(self.no_context(context, is_first, last)),
            Outcome::AlreadyBound => Err(Refusal::AlreadyBound),
            Outcome::NotBound => Err(Refusal::not_found(NotFoundReason::MissingNode, last)),
            Outcome::IsContext => Err(Refusal::not_found(NotFoundReason::NotObject, last)),
            Outcome::IsObject => Err(Refusal::not_found(NotFoundReason::NotContext, last)),
            Outcome::NotEmpty => Err(SystemExceptionKind::Internal.into()),
        }
    }

    async fn look_up(&self, name: &[NameComponent]) -> Result<Option<ObjectRef>, Refusal> {
        match self.walk(here()?, name).await? {
            Place::Here {
                context,
                key,
                last,
                is_first,
            } => match self.store.get(context, &key).await? {
                Found::Bound(binding) => Ok(self.bound(&binding.target)?),
                Found::Unbound => Err(Refusal::not_found(NotFoundReason::MissingNode, last)),
                Found::NoContext => Err(self.no_context(context, is_first, last)),
            },
            Place::Elsewhere { context, rest } => {
                let found = context.resolve(rest).await;
                found.map_err(|e| Self::refused_elsewhere(e, context.clone(), rest, true))
            }
        }
    }

    /// A context that is to be bound: BAD_PARAM for nil.
    fn not_nil(context: Option<NamingContextRef>) -> Result<NamingContextRef, SystemException> {
        context.ok_or_else(|| SystemExceptionKind::BadParam.into())
    }
}

/// `bind` and its like: the change for a name that ends here, or the call to the context where it ends.
macro_rules! bind {
    ($self:ident, $name:ident, $object:ident, $as:ident, $replace:ident, $operation:ident) => {
        match $self.walk(here()?, $name).await? {
            Place::Here {
                context,
                key,
                last,
                is_first,
            } => {
                let binding = Binding {
                    binding_type: BindingType::$as,
                    target: $self
                        .target($object.as_ref().map(Interface::as_object))
                        .await?,
                };
                let change = Change::Bind {
                    context,
                    key,
                    binding,
                    replace: Replace::$replace,
                };
                Ok($self.change(change, context, last, is_first).await?)
            }
            Place::Elsewhere { context, rest } => {
                let done = context.$operation(rest, &$object).await;
                let refused = |e| Self::refused_elsewhere(e, context.clone(), rest, false);
                Ok(done.map_err(refused)?)
            }
        }
    };
}

impl<S: Store> NamingContext for Contexts<S> {
    async fn bind(&self, n: &[NameComponent], obj: Option<ObjectRef>) -> Result<(), BindError> {
        bind!(self, n, obj, Nobject, Nothing, bind)
    }

    async fn rebind(&self, n: &[NameComponent], obj: Option<ObjectRef>) -> Result<(), RebindError> {
        bind!(self, n, obj, Nobject, Object, rebind)
    }

    async fn bind_context(
        &self,
        n: &[NameComponent],
        nc: Option<NamingContextRef>,
    ) -> Result<(), BindContextError> {
        let nc = Some(Self::not_nil(nc)?);
        bind!(self, n, nc, Ncontext, Nothing, bind_context)
    }

    async fn rebind_context(
        &self,
        n: &[NameComponent],
        nc: Option<NamingContextRef>,
    ) -> Result<(), RebindContextError> {
        let nc = Some(Self::not_nil(nc)?);
        bind!(self, n, nc, Ncontext, Context, rebind_context)
    }

    async fn resolve(&self, n: &[NameComponent]) -> Result<Option<ObjectRef>, ResolveError> {
        Ok(self.look_up(n).await?)
    }

    async fn unbind(&self, n: &[NameComponent]) -> Result<(), UnbindError> {
        match self.walk(here()?, n).await? {
            Place::Here {
                context,
                key,
                last,
                is_first,
            } => {
                let change = Change::Unbind { context, key };
                Ok(self.change(change, context, last, is_first).await?)
            }
            Place::Elsewhere { context, rest } => {
                let done = context.unbind(rest).await;
                Ok(done.map_err(|e| Self::refused_elsewhere(e, context.clone(), rest, false))?)
            }
        }
    }

    async fn new_context(&self) -> Result<Option<NamingContextRef>, SystemException> {
        let new = ContextId::random().map_err(|error| store_failed(&error))?;
        let made = self.store.change(Change::Create { new }).await;
        made.map_err(|error| store_failed(&error))?;
        Ok(Some(self.reference(new)?.into()))
    }

    async fn bind_new_context(
        &self,
        n: &[NameComponent],
    ) -> Result<Option<NamingContextRef>, BindNewContextError> {
        match self.walk(here()?, n).await? {
            Place::Here {
                context,
                key,
                last,
                is_first,
            } => {
                let new = ContextId::random().map_err(Refusal::from)?;
                let change = Change::BindNew { context, key, new };
                self.change(change, context, last, is_first).await?;
                Ok(Some(self.reference(new)?.into()))
            }
            Place::Elsewhere { context, rest } => {
                let made = context.bind_new_context(rest).await;
                Ok(made.map_err(|e| Self::refused_elsewhere(e, context.clone(), rest, false))?)
            }
        }
    }

    async fn destroy(&self) -> Result<(), DestroyError> {
        let context = here()?;
        if context == self.store.root() {
            // The service would have no root in its next run.
            let limits = PageLimits {
                names: 0,
                octets: 0,
            };
            let page = self.store.list(context, None, limits).await;
            let page = page.map_err(|error| store_failed(&error))?;
            return Err(match page {
                Some(page) if page.has_more => NotEmpty {}.into(),
                _ => SystemException::from(SystemExceptionKind::NoPermission).into(),
            });
        }
        let done = self.store.change(Change::Destroy { context }).await;
        match done.map_err(|error| store_failed(&error))? {
            Outcome::Done => Ok(()),
            Outcome::NotEmpty => Err(NotEmpty {}.into()),
            _ => Err(SystemException::from(SystemExceptionKind::ObjectNotExist).into()),
        }
    }

    async fn list(
        &self,
        how_many: u32,
    ) -> Result<(BindingList, Option<BindingIteratorRef>), SystemException> {
        let context = here()?;
        let page = self.store.list(context, None, page_limits(how_many)).await;
        let page = page.map_err(|error| store_failed(&error))?;
        let page = page.ok_or(SystemExceptionKind::ObjectNotExist)?;
        let iterator = match page.has_more {
            true => Some(self.iterators.make(context, page.end())?),
            false => None,
        };
        Ok((listed(&page.names), iterator))
    }
}

/// How much a reply to a client that asks for so many lists.
pub(crate) fn page_limits(how_many: u32) -> PageLimits {
    PageLimits {
        names: usize::try_from(how_many).unwrap_or(usize::MAX),
        octets: MAX_LISTED_OCTETS,
    }
}

/// Names as a reply lists them.
pub(crate) fn listed(names: &[(Key, BindingType)]) -> BindingList {
    let one = |(key, binding_type): &(Key, BindingType)| {
        Some(NamedBinding {
            binding_name: vec![key.component()?],
            binding_type: *binding_type,
        })
    };
    names.iter().filter_map(one).collect()
}

impl<S: Store> NamingContextExt for Contexts<S> {
    async fn to_string(&self, n: &[NameComponent]) -> Result<String, ToStringError> {
        match n.is_empty() {
            true => Err(InvalidName {}.into()),
            false => Ok(Name::from(n).to_string()),
        }
    }

    async fn to_name(&self, sn: &str) -> Result<Vec<NameComponent>, ToNameError> {
        match sn.parse() {
            Ok(Name(name)) => Ok(name),
            Err(_) => Err(InvalidName {}.into()),
        }
    }

    async fn to_url(&self, addr: &str, sn: &str) -> Result<String, ToUrlError> {
        // The empty name is that of the context at the address.
        let name = match sn {
            "" => Ok(Name::default()),
            sn => sn.parse::<Name>(),
        };
        let name = name.map_err(|_| InvalidName {})?;
        let url = name.to_url(addr);
        Ok(url.map_err(|_| InvalidAddress {})?)
    }

    async fn resolve_str(&self, n: &str) -> Result<Option<ObjectRef>, ResolveStrError> {
        let name: Name = n.parse().map_err(|_| InvalidName {})?;
        Ok(self.look_up(&name).await?)
    }
}
