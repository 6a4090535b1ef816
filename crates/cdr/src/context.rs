//! The context of a decoder: limits, registered value types, and the ORB of object references.

use crate::{AnyDecoder, AnyEncoder, DecodeError, EncodeError, Limits, TypeCode, value::Shared};
use alloc::{sync::Arc, vec::Vec};
use core::any::Any;

/// The context of decoding, such as the ORB that object references belong to: see
/// [`Decoder::with_context`](crate::Decoder::with_context).
pub trait Context: Send + Sync {
    /// Returns the context for callers of [`Decoder::context`](crate::Decoder::context), to be downcast.
    fn as_any(&self) -> &(dyn Any + Send + Sync);

    /// Returns a context that outlives the message, for an [`Any`](crate::Any) with references in it; `None` if there
    /// is none.
    fn keep(&self) -> Option<Arc<dyn Context>> {
        None
    }

    /// Returns the limits on decoding a message, if they are not the defaults.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// Returns the budget that the memory of decoded messages comes from; `None` if only their own [limits](Self::limits)
    /// bound it.
    fn memory_budget(&self) -> Option<Arc<dyn MemoryBudget>> {
        None
    }

    /// Whether the result of decoding would come too late. A decoder asks every few thousand values, and gives up then:
    /// it has no clock of its own.
    fn is_late(&self) -> bool {
        false
    }

    /// Counts a message that is refused, since decoding it would take more memory than [limits](Self::limits) permit.
    fn refused_memory(&self) {}

    /// Returns the value type with this repository id. A value in an any may be of another type than its TypeCode
    /// states.
    fn value_type(&self, _id: &str) -> Option<KnownValue> {
        None
    }

    /// Returns what the value at this position was in the message that it came in.
    #[doc(hidden)]
    fn value_identity(&self, _position: usize) -> Option<Shared> {
        None
    }
}

/// The memory that messages are decoded to at the same time: see [`Context::memory_budget`].
pub trait MemoryBudget: Send + Sync {
    /// Takes `octets` for a message. Returns `false`, and takes none, if there are too few.
    fn take(&self, octets: usize) -> bool;

    /// Gives back octets that were taken.
    fn give_back(&self, octets: usize);
}

/// A context without an ORB, value types and limits of its own.
impl Context for () {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

/// A registered value type. The TypeCode of an any may state only a base of it; the repository id of the value leads to
/// this description.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by the registry of value types"
)]
pub struct KnownValue {
    /// The TypeCode of the registered type.
    pub ty: TypeCode,
    /// Copies the state from one stream to another; `None` unless the type has custom marshalling.
    pub custom: Option<CopyState>,
}

impl KnownValue {
    fn id(&self) -> &str {
        self.ty.view().id()
    }
}

/// Reads the state of a value and writes it elsewhere.
pub type CopyState = fn(AnyDecoder<'_, '_>, AnyEncoder<'_>) -> Result<(), CopyError>;

/// The side of a [`CopyState`] that failed.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two sides")]
pub enum CopyError {
    /// The state could not be read.
    Read(DecodeError),
    /// The copy could not be written.
    Write(EncodeError),
}

/// The identity of a value that an any has a copy of: references to one value share its address.
pub(crate) struct Copied {
    /// A field, so that each allocation has an address of its own.
    _place: u8,
}

impl Copied {
    pub(crate) fn shared() -> Shared {
        Arc::new(Self { _place: 0 })
    }
}

/// Octets of memory that an identity takes, with its reference counts.
pub(crate) const IDENTITY_OCTETS: usize = size_of::<([usize; 2], Copied)>();

/// The context and the value types noted while the value of an any is written, by which it is decoded later.
#[derive(Default)]
pub(crate) struct AnyContext {
    context: Option<Arc<dyn Context>>,
    /// The types that the values were written as. The types that the ORB has registered may change before they are
    /// decoded.
    types: Vec<KnownValue>,
    /// The values by their positions in the any, the first ones first, if others of the same message may be the same.
    identities: Vec<(usize, Shared)>,
}

impl AnyContext {
    /// Returns the octets of memory that this takes, with its reference counts.
    pub(crate) const fn octets(&self) -> usize {
        let types = self
            .types
            .capacity()
            .saturating_mul(size_of::<KnownValue>());
        let identities = self
            .identities
            .capacity()
            .saturating_mul(size_of::<(usize, Shared)>().saturating_add(IDENTITY_OCTETS));
        size_of::<([usize; 2], Self)>()
            .saturating_add(types)
            .saturating_add(identities)
    }

    pub(crate) fn note_identities(&mut self, identities: Vec<(usize, Shared)>) {
        self.identities = identities;
    }

    pub(crate) fn note_context(&mut self, context: impl FnOnce() -> Option<Arc<dyn Context>>) {
        if self.context.is_none() {
            self.context = context();
        }
    }

    pub(crate) fn note_type(&mut self, known: &KnownValue) {
        if self.value_type(known.id()).is_none() {
            self.types.push(known.clone());
        }
    }
}

impl Context for AnyContext {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self.context.as_deref().map_or(&(), Context::as_any)
    }

    fn keep(&self) -> Option<Arc<dyn Context>> {
        self.context.clone()
    }

    fn memory_budget(&self) -> Option<Arc<dyn MemoryBudget>> {
        self.context.as_ref()?.memory_budget()
    }

    fn value_type(&self, id: &str) -> Option<KnownValue> {
        let named = |known: &&KnownValue| known.id() == id;
        self.types.iter().find(named).cloned()
    }

    fn value_identity(&self, position: usize) -> Option<Shared> {
        let found = self.identities.binary_search_by_key(&position, |it| it.0);
        let (_, identity) = self.identities.get(found.ok()?)?;
        Some(Arc::clone(identity))
    }
}
