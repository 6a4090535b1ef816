//! The context of an any's value: the ORB of its references and descriptions of its value types, which the value needs
//! beside its octets.

use crate::{
    AnyDecoder, AnyEncoder, Context, DecodeError, EncodeError, StaticType, typecode::data::TypeRef,
};
use alloc::{sync::Arc, vec::Vec};
use core::any::Any;

/// A registered value type. The TypeCode of an any may state only a base of it; the repository id of the value leads to
/// this description.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "made by the registry of value types"
)]
pub struct KnownValue {
    /// The TypeCode of the registered type, as static data of generated code.
    pub ty: &'static StaticType,
    /// Copies the state from one stream to another; `None` unless the type has custom marshalling.
    pub custom: Option<CopyState>,
}

impl KnownValue {
    fn id(&self) -> &'static str {
        TypeRef::Static(self.ty).id()
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

/// The context and the value types noted while the value of an any is written, by which it is decoded later.
#[derive(Default)]
pub(crate) struct AnyContext {
    context: Option<Arc<dyn Context>>,
    /// The types that the values were written as. The types that the ORB has registered may change before they are
    /// decoded.
    types: Vec<KnownValue>,
}

impl AnyContext {
    /// Returns the octets of memory that this takes, with its reference counts.
    pub(crate) const fn octets(&self) -> usize {
        let types = self
            .types
            .capacity()
            .saturating_mul(size_of::<KnownValue>());
        size_of::<([usize; 2], Self)>().saturating_add(types)
    }

    pub(crate) fn note_context(&mut self, context: impl FnOnce() -> Option<Arc<dyn Context>>) {
        if self.context.is_none() {
            self.context = context();
        }
    }

    pub(crate) fn note_type(&mut self, known: KnownValue) {
        if self.value_type(known.id()).is_none() {
            self.types.push(known);
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

    fn value_type(&self, id: &str) -> Option<KnownValue> {
        let named = |known: &&KnownValue| known.id() == id;
        self.types.iter().find(named).copied()
    }
}
