//! Values of value types: handles that share their state, the descriptions of their types, and their encoding.
//!
//! - this file: the handle and its guards;
//! - `cell`: the state that handles share;
//! - `types`: the traits of generated value types, and the registry of an ORB;
//! - `register`: registering types with the builder and the ORB;
//! - `codec`: the encoding of values and abstract interfaces;
//! - `custom`: custom marshalling;
//! - `cycles`: collecting cycles of values that a peer has sent.

mod cell;
mod codec;
mod custom;
mod cycles;
mod register;
mod types;

pub use codec::{Abstract, AbstractCodec, ValueCodec};
pub use custom::{CustomMarshal, DataInput, DataOutput, MarshalError};
pub(crate) use types::ValueRegistry;
pub use types::{
    Behaviour, Caster, Concrete, Derives, ErasedState, VALUE_BASE, ValueBase, ValueInfo,
    ValueState, ValueType,
};

use cell::Cell;
use core::any::TypeId;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use std::sync::{Arc, RwLockReadGuard, RwLockWriteGuard};
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// A handle to a value of value type `T`, or of a type that is derived from `T`.
///
/// Clones are the same value. A value that a graph holds several times is one value, after marshalling too. `==`
/// compares identity, not state. IDL's null is `None`, so members and results are `Option<Value<T>>`.
///
/// The state is behind a lock, and the guards of [`read`](Self::read) and [`write`](Self::write) should be short-lived:
/// do not call an operation or take another guard of the same value while one exists. Sending a value locks it, and the
/// values in it, for reading.
///
/// Values may refer to themselves. The program has to break such a cycle, by setting a member to `None`, or it is never
/// freed. The ORB breaks cycles in arguments that the servant does not keep.
///
/// ```
/// zorb::idl! {
///     valuetype Person { public string name; public Person boss; };
///     valuetype Manager : Person { public long staff; };
/// }
/// use zorb::Value;
///
/// let ada = Value::new(Manager {
///     base: Person { name: "Ada".to_owned(), boss: None },
///     staff: 1,
/// });
/// let bob = Value::new(Person { name: "Bob".to_owned(), boss: Some(ada.upcast()) });
///
/// let boss = bob.read().boss.clone().unwrap();
/// assert_eq!(boss.read().name, "Ada");
/// boss.write().name = "Ada L.".to_owned();
/// assert_eq!(ada.read().base.name, "Ada L.");
/// let manager = boss.downcast::<Manager>().unwrap();
/// assert_eq!((manager.read().staff, manager == ada), (1, true));
/// assert!(bob.downcast::<Manager>().is_none());
/// ```
///
/// A clone costs a reference count; reading and writing take the lock of the value. Source: CORBA 3.3 Part 1, Value
/// Type Semantics.
pub struct Value<T> {
    cell: Arc<Cell>,
    kind: PhantomData<fn() -> T>,
}

impl<T: Concrete> Value<T> {
    /// Makes a value. Allocates the state and the handle's cell.
    ///
    /// If this does not compile because `T: Concrete` is missing, the operations of the value type are not implemented
    /// for it.
    pub fn new(state: T) -> Self {
        Self::of(Arc::new(Cell::new(T::behaviour(), Some(Box::new(state)))))
    }
}

impl<T: ValueType> Value<T> {
    /// A handle to the value of `cell`, whose type is a `T`.
    fn of(cell: Arc<Cell>) -> Self {
        Self {
            cell,
            kind: PhantomData,
        }
    }

    /// The repository id of the value's type, which may be derived from `T`.
    #[must_use]
    pub fn repository_id(&self) -> &'static str {
        self.cell.info().id()
    }

    /// Converts the handle to one of a base type of `T`. Costs a reference count.
    #[must_use]
    pub fn upcast<B: ValueType>(&self) -> Value<B>
    where
        T: Derives<B>,
    {
        Value::of(Arc::clone(&self.cell))
    }

    /// Converts the handle to one of type `D`; `None` if the value's type is not a `D`. Costs a reference count.
    #[must_use]
    pub fn downcast<D: ValueType>(&self) -> Option<Value<D>> {
        let is = self.cell.info().is(TypeId::of::<D>());
        is.then(|| Value::of(Arc::clone(&self.cell)))
    }

    /// Calls operations that only read the state, which is locked for reading meanwhile. For generated code.
    ///
    /// # Errors
    /// NO_IMPLEMENT if the value has no operations of that kind.
    #[doc(hidden)]
    pub fn operations<D: ?Sized + 'static, R, E: From<SystemException>>(
        &self,
        call: impl FnOnce(&D) -> Result<R, E>,
    ) -> Result<R, E> {
        let state = self.cell.read();
        let found = self.cell.caster::<D>();
        match found.and_then(|caster| (caster.shared)(state.as_deref()?.as_any())) {
            Some(operations) => call(operations),
            None => Err(E::from(no_operations())),
        }
    }

    /// Calls operations that may change the state, which is locked for writing meanwhile. For generated code.
    ///
    /// # Errors
    /// NO_IMPLEMENT if the value has no operations of that kind.
    #[doc(hidden)]
    pub fn operations_mut<D: ?Sized + 'static, R, E: From<SystemException>>(
        &self,
        call: impl FnOnce(&mut D) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut state = self.cell.write();
        let found = self.cell.caster::<D>();
        match found.and_then(|caster| (caster.exclusive)(state.as_deref_mut()?.as_any_mut())) {
            Some(operations) => call(operations),
            None => Err(E::from(no_operations())),
        }
    }
}

fn no_operations() -> SystemException {
    Fault::NotImplemented("the value has no implementation of its operations")
        .raise(CompletionStatus::No)
}

impl<T: ValueState> Value<T> {
    /// Locks the state for reading, as a `T`. Blocks while another thread writes.
    ///
    /// # Panics
    /// If the value has no state: see [`try_read`](Self::try_read). A peer cannot cause this, unless the program reads
    /// incomplete values ([`DataInput::read_incomplete_value`]) or reads other values in the `Drop` of a state.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the panic that is documented")]
    pub fn read(&self) -> ValueRead<'_, T> {
        self.try_read().expect(NO_STATE)
    }

    /// Locks the state for writing, as a `T`. Blocks while another thread reads or writes.
    ///
    /// # Panics
    /// Returns the errors of [`read`](Self::read).
    #[must_use]
    #[expect(clippy::expect_used, reason = "the panic that is documented")]
    pub fn write(&self) -> ValueWrite<'_, T> {
        self.try_write().expect(NO_STATE)
    }

    /// Locks the state for reading, blocking as [`read`](Self::read) does; `None` if the value has no state. It has
    /// none
    ///
    /// - before it has been decoded, in a [`CustomMarshal::unmarshal`] that has read a value of a cycle with
    ///   [`DataInput::read_incomplete_value`], and for ever if the rest of the message is malformed;
    /// - after the ORB has emptied it, as a part of a cycle that a peer sent and the servant did not keep: then only a
    ///   `Drop` of the states in that cycle can still refer to it.
    #[must_use]
    pub fn try_read(&self) -> Option<ValueRead<'_, T>> {
        let guard = self.cell.read();
        guard.is_some().then(|| ValueRead {
            guard,
            kind: PhantomData,
        })
    }

    /// Locks the state for writing, blocking as [`write`](Self::write) does; `None` if the value has no state: see
    /// [`try_read`](Self::try_read).
    #[must_use]
    pub fn try_write(&self) -> Option<ValueWrite<'_, T>> {
        let guard = self.cell.write();
        guard.is_some().then(|| ValueWrite {
            guard,
            kind: PhantomData,
        })
    }
}

/// The panic message of reading a value without state.
const NO_STATE: &str = "a value that may be incomplete is looked at with `try_read` or `try_write`";
/// The invariant of guards: the value has a state of their type, and the lock keeps it there.
const HAS_STATE: &str = "a guard is of a value with state";

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        Self {
            cell: Arc::clone(&self.cell),
            kind: PhantomData,
        }
    }
}

impl<T> PartialEq for Value<T> {
    /// Compares identity: whether the handles share their state.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cell, &other.cell)
    }
}

impl<T> Eq for Value<T> {}

impl<T> Hash for Value<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.cell).hash(state);
    }
}

impl<T> fmt::Debug for Value<T> {
    /// Shows the state, to a limited depth and number of values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cell.fmt(f)
    }
}

impl<'a, D: Derives<B>, B: ValueType> From<&'a Value<D>> for Option<Value<B>> {
    fn from(value: &'a Value<D>) -> Self {
        Some(value.upcast())
    }
}

/// The guard of a [`Value`]'s state for reading. Dropping it unlocks the state.
pub struct ValueRead<'a, T> {
    guard: RwLockReadGuard<'a, Option<Box<dyn ErasedState>>>,
    kind: PhantomData<fn() -> T>,
}

impl<T: ValueState> Deref for ValueRead<'_, T> {
    type Target = T;

    #[expect(
        clippy::expect_used,
        reason = "only values with such a state have guards"
    )]
    fn deref(&self) -> &T {
        self.guard
            .as_deref()
            .and_then(|state| state.part(TypeId::of::<T>())?.downcast_ref())
            .expect(HAS_STATE)
    }
}

impl<T: ValueState> fmt::Debug for ValueRead<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The guard of a [`Value`]'s state for writing. Dropping it unlocks the state.
pub struct ValueWrite<'a, T> {
    guard: RwLockWriteGuard<'a, Option<Box<dyn ErasedState>>>,
    kind: PhantomData<fn() -> T>,
}

impl<T: ValueState> Deref for ValueWrite<'_, T> {
    type Target = T;

    #[expect(
        clippy::expect_used,
        reason = "only values with such a state have guards"
    )]
    fn deref(&self) -> &T {
        self.guard
            .as_deref()
            .and_then(|state| state.part(TypeId::of::<T>())?.downcast_ref())
            .expect(HAS_STATE)
    }
}

impl<T: ValueState> DerefMut for ValueWrite<'_, T> {
    #[expect(
        clippy::expect_used,
        reason = "only values with such a state have guards"
    )]
    fn deref_mut(&mut self) -> &mut T {
        self.guard
            .as_deref_mut()
            .and_then(|state| state.part_mut(TypeId::of::<T>())?.downcast_mut())
            .expect(HAS_STATE)
    }
}

impl<T: ValueState> fmt::Debug for ValueWrite<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
