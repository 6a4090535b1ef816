//! The traits of generated value types, and the registry of an ORB.

use core::any::{Any, TypeId};
use core::fmt;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use zorb_cdr::{
    AnyDecoder, AnyEncoder, BigEndian, ByteOrder, CopyState, Decode, DecodeError, Decoder, Encode,
    EncodeError, KnownValue, LittleEndian, StaticType, TcKind, TypeCode,
};

/// A value type, with state or abstract: the `T` of [`Value<T>`](super::Value). The IDL compiler implements it.
///
/// Source: CORBA 3.3 Part 1, Value Type Semantics.
pub trait ValueType: Send + Sync + 'static {
    /// The repository id of the value type.
    const REPOSITORY_ID: &'static str;
    /// The TypeCode of the value type, as static data.
    #[doc(hidden)]
    const TYPE: &'static StaticType;

    /// The description of the value type.
    #[doc(hidden)]
    fn info() -> &'static ValueInfo;
}

/// A value type with state, and the struct of its state. The IDL compiler implements it.
pub trait ValueState: ValueType + ErasedState + fmt::Debug + Sized {}

/// A value type of which the program can make values: [`Value::new`](super::Value::new). The IDL compiler implements it
/// for types with state. Types with operations or custom marshalling also need the traits of these.
#[diagnostic::on_unimplemented(
    message = "values of type `{Self}` cannot be made or registered yet",
    note = "a value type with operations needs its `…Operations` traits implemented for `{Self}`, and a custom one \
            `zorb::CustomMarshal`"
)]
pub trait Concrete: ValueState {
    #[doc(hidden)]
    fn behaviour() -> &'static Behaviour;
}

/// Marks `Self` as value type `B` or as derived from it. The IDL compiler implements it.
pub trait Derives<B: ValueType>: ValueType {}

/// The base type of all value types: `CORBA::ValueBase`. Every value has a derived type: see
/// [`Value::downcast`](super::Value::downcast).
///
/// Source: CORBA 3.3 Part 1, Value Type Semantics.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "it has no values")]
pub enum ValueBase {}

/// The type of `CORBA::ValueBase` in anys and TypeCodes.
pub static VALUE_BASE: StaticType = StaticType::Value(
    TcKind::Value,
    ValueBase::REPOSITORY_ID,
    "ValueBase",
    0,
    &StaticType::Null,
    &[],
);

impl ValueType for ValueBase {
    const REPOSITORY_ID: &'static str = "IDL:omg.org/CORBA/ValueBase:1.0";
    const TYPE: &'static StaticType = &VALUE_BASE;

    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo {
            name: "ValueBase",
            ids: &[ValueBase::REPOSITORY_ID],
            is: &[TypeId::of::<ValueBase>()],
            known: &[],
            behaviour: None,
        };
        &INFO
    }
}

impl Derives<Self> for ValueBase {}

/// The description of a value type.
#[derive(Debug)]
#[doc(hidden)]
#[expect(clippy::exhaustive_structs, reason = "generated code fills it in")]
pub struct ValueInfo {
    /// The name of the value type, for texts.
    pub name: &'static str,
    /// The repository ids of the type and of the bases to which it may be truncated.
    pub ids: &'static [&'static str],
    /// The type itself, and all its base types.
    pub is: &'static [TypeId],
    /// The types with state that are derived from the type in the same IDL.
    pub known: &'static [fn() -> &'static Self],
    /// The behaviour of its values; `None` if the program has to implement a trait first.
    pub behaviour: Option<&'static Behaviour>,
}

impl ValueInfo {
    pub(super) fn id(&self) -> &'static str {
        self.ids.first().copied().unwrap_or_default()
    }

    pub(super) fn is(&self, other: TypeId) -> bool {
        self.is.contains(&other)
    }
}

/// The type-erased state of a value. The IDL compiler implements it.
#[doc(hidden)]
pub trait ErasedState: Any + Send + Sync + fmt::Debug {
    /// Returns the part of the state with type `id`: the state itself, or that of a base type. `None` if the value has no such
    /// base.
    fn part(&self, id: TypeId) -> Option<&dyn Any>;

    /// Returns the part of the state with type `id` for changes, as [`part`](Self::part) does for reading.
    fn part_mut(&mut self, id: TypeId) -> Option<&mut dyn Any>;

    /// Returns the state as its own type, for a downcast to the most derived one.
    fn as_any(&self) -> &dyn Any;

    /// Returns the state as its own type, for a downcast that changes members.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// Decodes a state into the `Option`.
type Read<O> =
    fn(&mut Decoder<'_, O>, &mut Option<Box<dyn ErasedState>>) -> Result<(), DecodeError>;

/// The functions that decode, encode and call the values of a type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Behaviour {
    pub(super) info: fn() -> &'static ValueInfo,
    pub(super) custom: bool,
    pub(super) ty: &'static StaticType,
    /// Copies the state of a type with custom marshalling.
    pub(super) copy: Option<CopyState>,
    pub(super) write: fn(&dyn Any, AnyEncoder<'_>) -> Result<(), EncodeError>,
    pub(super) read_big: Read<BigEndian>,
    pub(super) read_little: Read<LittleEndian>,
    /// The [`Caster`] with this type id, if the type has such operations.
    pub(super) operations: fn(TypeId) -> Option<&'static (dyn Any + Send + Sync)>,
}

/// Converts the state of a value to a trait object of its operations.
#[derive(Debug)]
#[doc(hidden)]
#[expect(clippy::exhaustive_structs, reason = "generated code fills it in")]
pub struct Caster<D: ?Sized + 'static> {
    /// Operations that only read the state.
    pub shared: fn(&dyn Any) -> Option<&D>,
    /// Operations that may change the state.
    pub exclusive: fn(&mut dyn Any) -> Option<&mut D>,
}

impl Behaviour {
    /// The behaviour of a type without operations, whose state is encoded member by member.
    #[must_use]
    pub const fn plain<T: ValueState + Encode + for<'de> Decode<'de>>() -> Self {
        Self::with_operations::<T>(|_| None)
    }

    /// The behaviour of a type with operations, whose state is encoded member by member.
    #[must_use]
    pub const fn with_operations<T: ValueState + Encode + for<'de> Decode<'de>>(
        operations: fn(TypeId) -> Option<&'static (dyn Any + Send + Sync)>,
    ) -> Self {
        Self {
            info: T::info,
            custom: false,
            ty: T::TYPE,
            copy: None,
            write: |state, e| match (state.downcast_ref::<T>(), e) {
                (Some(state), AnyEncoder::Big(e)) => T::encode(state, e),
                (Some(state), AnyEncoder::Little(e)) => T::encode(state, e),
                (None, _) => Ok(()),
            },
            read_big: read::<T, BigEndian>,
            read_little: read::<T, LittleEndian>,
            operations,
        }
    }

    /// The description of the type, for anys.
    pub(super) const fn known(&self) -> KnownValue {
        KnownValue {
            ty: TypeCode::from_static(self.ty),
            custom: self.copy,
        }
    }

    #[inline]
    pub(super) fn read(
        &self,
        d: AnyDecoder<'_, '_>,
        state: &mut Option<Box<dyn ErasedState>>,
    ) -> Result<(), DecodeError> {
        match d {
            AnyDecoder::Big(d) => (self.read_big)(d, state),
            AnyDecoder::Little(d) => (self.read_little)(d, state),
        }
    }
}

fn read<T: ValueState + for<'de> Decode<'de>, O: ByteOrder>(
    d: &mut Decoder<'_, O>,
    state: &mut Option<Box<dyn ErasedState>>,
) -> Result<(), DecodeError> {
    match T::decode(d) {
        Ok(read) => {
            *state = Some(Box::new(read));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// The value types that were registered with an ORB, by repository id.
#[derive(Default)]
pub(crate) struct ValueRegistry {
    registered: RwLock<HashMap<&'static str, &'static Behaviour>>,
    /// Types without Rust types, for anys and for arguments without generated code.
    described: RwLock<HashMap<String, TypeCode>>,
    /// Whether types that are not registered are refused.
    registered_only: bool,
}

impl ValueRegistry {
    pub(crate) fn register<T: Concrete>(&self) {
        let mut known = self
            .registered
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        known.insert(T::REPOSITORY_ID, T::behaviour());
    }

    pub(super) fn set_registered_only(&mut self, only: bool) {
        self.registered_only = only;
    }

    /// Whether types that are not registered are refused.
    pub(super) fn are_registered_only(&self) -> bool {
        self.registered_only
    }

    /// The description of a registered type, for anys.
    pub(crate) fn known(&self, id: &str) -> Option<KnownValue> {
        if let Some(registered) = self.get(id) {
            return Some(registered.known());
        }
        let described = self
            .described
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let ty = described.get(id)?.clone();
        Some(KnownValue { ty, custom: None })
    }

    /// Registers a type without Rust type; `false` if a TypeCode does not show what its values consist of.
    pub(crate) fn describe(&self, ty: &TypeCode) -> bool {
        const CUSTOM: i16 = 1;
        const ABSTRACT: i16 = 2;
        let ty = ty.unaliased();
        let is_shown =
            ty.state().is_some() && !matches!(ty.type_modifier(), Some(CUSTOM | ABSTRACT));
        let Some(id) = ty.id().filter(|id| is_shown && !id.is_empty()) else {
            return false;
        };
        let mut described = self
            .described
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        described.insert(id.to_owned(), ty.clone());
        true
    }

    pub(super) fn get(&self, id: &str) -> Option<&'static Behaviour> {
        let known = self
            .registered
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        known.get(id).copied()
    }
}

impl fmt::Debug for ValueRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueRegistry").finish_non_exhaustive()
    }
}
