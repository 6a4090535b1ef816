//! What a naming service is kept in.

mod embedded;
mod etcd;
mod etcd_http;
mod nats;

pub use embedded::EmbeddedStore;
pub use etcd::EtcdStore;
pub use nats::NatsStore;
pub use zorb_service::OpenError;
pub use zorb_service::access::{Access, AccessError, Credentials, Secret};

use core::fmt;
use std::sync::Arc;
use zorb::Bytes;
use zorb::naming::cos_naming::{BindingType, NameComponent};

/// Octets of a component, id and kind together.
pub const MAX_COMPONENT_OCTETS: usize = 4_096;

/// The id of a naming context: 16 octets by chance, so that no two services have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(pub [u8; 16]);

impl ContextId {
    /// Makes an id that no other context has.
    ///
    /// # Errors
    /// The operating system has no random octets.
    pub fn random() -> Result<Self, StoreError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| StoreError::Failed(Arc::new(error)))?;
        Ok(Self(id))
    }
}

impl fmt::Debug for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// A component of a name as a store orders it: the id, a NUL, which no string of CORBA has, and the kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Vec<u8>);

impl Key {
    /// The key of a component; `None` for one that has more than [`MAX_COMPONENT_OCTETS`] or a NUL.
    #[must_use]
    pub fn of(component: &NameComponent) -> Option<Self> {
        let NameComponent { id, kind } = component;
        let octets = id.len().checked_add(kind.len())?;
        if octets > MAX_COMPONENT_OCTETS || id.contains('\0') || kind.contains('\0') {
            return None;
        }
        Some(Self([id.as_bytes(), b"\0", kind.as_bytes()].concat()))
    }

    /// The key of these octets; `None` if they are no component's.
    #[must_use]
    pub fn from_octets(octets: &[u8]) -> Option<Self> {
        let key = Self(octets.to_vec());
        key.component().map(|_| key)
    }

    /// Its octets.
    #[must_use]
    pub fn as_octets(&self) -> &[u8] {
        &self.0
    }

    /// The component; `None` if the octets are no component's.
    #[must_use]
    pub fn component(&self) -> Option<NameComponent> {
        let (id, kind) = core::str::from_utf8(&self.0).ok()?.split_once('\0')?;
        Some(NameComponent {
            id: id.to_owned(),
            kind: kind.to_owned(),
        })
    }
}

/// What a name is bound to.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A context of this service. Its reference is made when it is asked for, and so names where the service listens then.
    Context(ContextId),
    /// Any other object: its reference, as an encapsulation.
    Reference(Bytes),
}

/// A binding without its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Whether names lead through it.
    pub binding_type: BindingType,
    /// What is bound.
    pub target: Target,
}

/// The octet that a stored binding begins with.
const OBJECT: u8 = 0;
const CONTEXT: u8 = 1;
const OWN_OBJECT: u8 = 2;
const OWN_CONTEXT: u8 = 3;

impl Binding {
    /// The binding as octets.
    #[must_use]
    pub fn to_octets(&self) -> Vec<u8> {
        let is_context = self.binding_type == BindingType::Ncontext;
        let (tag, rest): (u8, &[u8]) = match (&self.target, is_context) {
            (Target::Reference(octets), false) => (OBJECT, octets),
            (Target::Reference(octets), true) => (CONTEXT, octets),
            (Target::Context(id), false) => (OWN_OBJECT, &id.0),
            (Target::Context(id), true) => (OWN_CONTEXT, &id.0),
        };
        [&[tag], rest].concat()
    }

    /// The binding of these octets.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] if they are none's.
    pub fn from_octets(octets: &[u8]) -> Result<Self, StoreError> {
        let (tag, rest) = octets.split_first().ok_or(StoreError::Malformed)?;
        let own = || Some(Target::Context(ContextId(rest.try_into().ok()?)));
        let reference = || Some(Target::Reference(Bytes::copy_from_slice(rest)));
        let (binding_type, target) = match *tag {
            OBJECT => (BindingType::Nobject, reference()),
            CONTEXT => (BindingType::Ncontext, reference()),
            OWN_OBJECT => (BindingType::Nobject, own()),
            OWN_CONTEXT => (BindingType::Ncontext, own()),
            _ => return Err(StoreError::Malformed),
        };
        Ok(Self {
            binding_type,
            target: target.ok_or(StoreError::Malformed)?,
        })
    }
}

/// The result of looking for a name in a context.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// What it is bound to.
    Bound(Binding),
    /// The context has no such name.
    Unbound,
    /// There is no such context.
    NoContext,
}

/// Part of the names of a context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Names in the order of the store.
    pub names: Vec<(Key, BindingType)>,
    /// Whether there are names behind the last of these.
    pub has_more: bool,
    /// The revision that the last of these is at, in a store whose order is not that of the keys.
    pub revision: Option<u64>,
}

impl Page {
    /// The place of the last name; `None` if there is none.
    #[must_use]
    pub fn end(&self) -> Option<Place> {
        let (key, _) = self.names.last()?;
        Some(match self.revision {
            Some(revision) => Place::Revision(revision),
            None => Place::Key(key.clone()),
        })
    }
}

/// A place in the order of the names of a context, behind which a [`Page`] begins.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Place {
    /// In the order of the keys.
    Key(Key),
    /// In the order in which the names were bound.
    Revision(u64),
}

impl Place {
    /// The key, in a store whose order is that of keys.
    fn key(&self) -> Result<&Key, StoreError> {
        match self {
            Self::Key(key) => Ok(key),
            Self::Revision(_) => Err(StoreError::Malformed),
        }
    }
}

/// How much a [`Page`] may hold.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// Names; 0 asks whether there are any.
    pub names: usize,
    /// Octets in a reply, of which the first name may have more.
    pub octets: usize,
}

impl PageLimits {
    /// What CDR adds to the octets of a key at most: lengths, padding, NULs, and the type of the binding.
    pub const OCTETS_PER_NAME: usize = 28;
}

/// What may stand in the place of a new binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Nothing: bind.
    Nothing,
    /// An object, or nothing: rebind.
    Object,
    /// A context, or nothing: `rebind_context`.
    Context,
}

/// A change of the names. It is made whole or not at all.
#[derive(Clone, Debug)]
pub enum Change {
    /// Binds a name in a context.
    Bind {
        /// The context.
        context: ContextId,
        /// The name.
        key: Key,
        /// What is bound.
        binding: Binding,
        /// What it may replace.
        replace: Replace,
    },
    /// Makes a context and binds a name to it that is not bound.
    BindNew {
        /// The context that the name is in.
        context: ContextId,
        /// The name.
        key: Key,
        /// The new context.
        new: ContextId,
    },
    /// Removes a binding.
    Unbind {
        /// The context.
        context: ContextId,
        /// The name.
        key: Key,
    },
    /// Makes a context.
    Create {
        /// The new context.
        new: ContextId,
    },
    /// Destroys a context without names.
    Destroy {
        /// The context.
        context: ContextId,
    },
}

/// The result of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is made, and survives a crash.
    Done,
    /// There is no such context.
    NoContext,
    /// The name is bound, and may not be replaced.
    AlreadyBound,
    /// The name is not bound.
    NotBound,
    /// A context is bound where an object may be replaced.
    IsContext,
    /// An object is bound where a context may be replaced.
    IsObject,
    /// The context has names.
    NotEmpty,
}

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no room for a change. Nothing was changed; what is stored can be read.
    #[error("there is no room for changes")]
    Full,
    /// The store fails. A change may have been made or not.
    #[error("the store fails")]
    Failed(#[source] Arc<dyn core::error::Error + Send + Sync>),
    /// The store cannot be reached. Nothing was changed.
    #[error("the store cannot be reached")]
    Unreachable(#[source] Arc<dyn core::error::Error + Send + Sync>),
    /// What is stored is no binding.
    #[error("a stored binding is malformed")]
    Malformed,
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

impl From<zorb_service::StoreError> for StoreError {
    fn from(error: zorb_service::StoreError) -> Self {
        match error {
            zorb_service::StoreError::Full => Self::Full,
            zorb_service::StoreError::Failed(cause) => Self::Failed(cause),
            _ => Self::Closed,
        }
    }
}

/// Where the names of a naming service are kept.
///
/// Every operation costs a look-up by key, whatever the number of names. A change is seen by all that is read after it was
/// made: also through another server that has the same store.
pub trait Store: Send + Sync + 'static {
    /// The root context, which is there from the beginning.
    fn root(&self) -> ContextId;

    /// Looks for a name in a context.
    fn get(
        &self,
        context: ContextId,
        key: &Key,
    ) -> impl Future<Output = Result<Found, StoreError>> + Send;

    /// Whether there is such a context.
    fn has_context(
        &self,
        context: ContextId,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The names of a context behind a place; `None` if there is no such context.
    fn list(
        &self,
        context: ContextId,
        after: Option<&Place>,
        limits: PageLimits,
    ) -> impl Future<Output = Result<Option<Page>, StoreError>> + Send;

    /// Makes a change.
    fn change(&self, change: Change) -> impl Future<Output = Result<Outcome, StoreError>> + Send;

    /// Ends the store, when all that was begun is done.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
