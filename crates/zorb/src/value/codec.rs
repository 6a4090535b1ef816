//! The encoding of values and abstract interfaces.

use super::Value;
use super::cell::Cell;
use super::types::{Behaviour, Derives, ErasedState, ValueBase, ValueInfo, ValueType};
use crate::interface::{Interface, RefCodec};
use crate::orb::OrbInner;
use core::any::TypeId;
use core::marker::PhantomData;
use std::sync::Arc;
use zorb_cdr::{
    AnyDecoder, AnyEncoder, ByteOrder, Codec, DecodeError, DecodeErrorKind, Decoder, EncodeError,
    EncodeErrorKind, Encoder, IdlReference, IdlType, SendCodec, Shared, StaticType, ValueHead,
    ValueStart,
};

/// The codec of values of value type `T`; `None` is null. Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CDR
/// transfer syntax).
#[derive(Debug)]
pub struct ValueCodec<T>(PhantomData<T>);

impl<T: ValueType> Codec for ValueCodec<T> {
    type Value = Option<Value<T>>;
    type Borrowed = Option<Value<T>>;
    const MIN_SIZE: usize = 4;

    fn encode<O: ByteOrder>(
        value: &Option<Value<T>>,
        e: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        match value {
            Some(value) => encode_cell(&value.cell, e),
            None => {
                e.write_null_value();
                Ok(())
            }
        }
    }

    // Nested values recurse here, so the stack frame has to be small: the steps before and after reading the state are
    // functions of their own.
    fn decode<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Option<Value<T>>, DecodeError> {
        let mut begun = match begin::<T, O>(d) {
            Ok(DecodeStart::Complete(value)) => return Ok(value),
            Ok(DecodeStart::Unfinished(begun)) => begun,
            Err(error) => return Err(error),
        };
        read_state(d, begun.behaviour, &mut begun.state)?;
        finish(d, begun)
    }
}

impl<T: ValueType> SendCodec for ValueCodec<T> {}

#[inline(never)]
fn read_state<O: ByteOrder>(
    d: &mut Decoder<'_, O>,
    behaviour: &'static Behaviour,
    state: &mut Option<Box<dyn ErasedState>>,
) -> Result<(), DecodeError> {
    d.value_state(|d| behaviour.read(AnyDecoder::new(d), state))
}

/// A value that is being decoded.
struct UnfinishedValue<'de> {
    head: ValueHead<'de>,
    behaviour: &'static Behaviour,
    cell: Arc<Cell>,
    state: Option<Box<dyn ErasedState>>,
}

/// The outcome of reading the beginning of a value.
enum DecodeStart<'de, T> {
    /// The whole value: nil, or the target of an indirection.
    Complete(Option<Value<T>>),
    /// A value whose state follows.
    Unfinished(UnfinishedValue<'de>),
}

#[inline(never)]
fn begin<'de, T: ValueType, O: ByteOrder>(
    d: &mut Decoder<'de, O>,
) -> Result<DecodeStart<'de, T>, DecodeError> {
    match d.begin_value()? {
        ValueStart::Null => Ok(DecodeStart::Complete(None)),
        ValueStart::Indirection(value) => match value.downcast::<Cell>() {
            // The target of an indirection may be of any type, so it is checked.
            Ok(cell) if cell.info().is(TypeId::of::<T>()) => {
                Ok(DecodeStart::Complete(Some(Value::of(cell))))
            }
            Ok(_) => Err(d.error(DecodeErrorKind::Expected("a value of another type"))),
            // The target is a value in an any, which is decoded again as a value type.
            Err(_) => new(d.reread_value()?, d),
        },
        ValueStart::New(head) => new(head, d),
    }
}

fn new<'de, T: ValueType, O: ByteOrder>(
    head: ValueHead<'de>,
    d: &mut Decoder<'de, O>,
) -> Result<DecodeStart<'de, T>, DecodeError> {
    let behaviour = choose(d, &head, T::info(), TypeId::of::<T>())?;
    d.charge_memory(size_of::<([usize; 2], Cell)>())?;
    let cell = Arc::new(Cell::new(behaviour, None));
    d.share_value(&head, Arc::clone(&cell) as Shared);
    d.collect_cycles(super::cycles::collector);
    Ok(DecodeStart::Unfinished(UnfinishedValue {
        head,
        behaviour,
        cell,
        state: None,
    }))
}

#[inline(never)]
fn finish<'de, T: ValueType, O: ByteOrder>(
    d: &mut Decoder<'de, O>,
    new: UnfinishedValue<'de>,
) -> Result<Option<Value<T>>, DecodeError> {
    // A large value is charged after it has been decoded: nested values were charged by then, so the limit is exceeded
    // by one value at most.
    d.charge_memory(new.state.as_deref().map_or(0, size_of_val))?;
    *new.cell.write() = new.state;
    d.end_value(new.head)?;
    Ok(Some(Value::of(new.cell)))
}

fn encode_cell<O: ByteOrder>(cell: &Arc<Cell>, e: &mut Encoder<O>) -> Result<(), EncodeError> {
    let behaviour = cell.behaviour();
    let begun = {
        let shared: Shared = Arc::clone(cell) as Shared;
        e.begin_value(&shared, cell.info().ids, behaviour.custom)
    };
    e.note_value_type(&behaviour.known());
    let mark = match begun {
        Ok(Some(mark)) => mark,
        Ok(None) => return Ok(()),
        Err(error) => return Err(error),
    };
    let state = cell.read();
    let Some(inner) = state.as_deref() else {
        return Err(EncodeErrorKind::Expected("a value that has been read").into());
    };
    e.value_state(|e| (behaviour.write)(inner.as_any(), AnyEncoder::new(e)))?;
    e.end_value(mark)
}

/// The behaviour by which a value is decoded: that of the most derived known type that is a `T`.
fn choose<O>(
    d: &Decoder<'_, O>,
    head: &ValueHead<'_>,
    info: &'static ValueInfo,
    wanted: TypeId,
) -> Result<&'static Behaviour, DecodeError> {
    let orb = d
        .context()
        .and_then(|context| context.downcast_ref::<OrbInner>());
    let find = |id: &str| {
        let registered = orb.and_then(|orb| orb.values().get(id));
        let generated = || {
            if orb.is_some_and(|orb| orb.values().are_registered_only()) {
                return None;
            }
            let own = core::iter::once(info);
            let mut known = own.chain(info.known.iter().map(|known| known()));
            known.find(|known| known.id() == id)?.behaviour
        };
        registered
            .filter(|known| (known.info)().is(wanted))
            .or_else(generated)
    };
    let found = match head.ids() {
        [] => find(info.id()),
        ids => ids
            .iter()
            .find_map(|id| core::str::from_utf8(id).ok().and_then(find)),
    };
    found.ok_or_else(|| d.error(DecodeErrorKind::NoValueFactory))
}

impl<T: ValueType> IdlReference for Value<T> {
    const TYPE: &'static StaticType = T::TYPE;
    type Codec = ValueCodec<T>;
}

impl<T: ValueType> IdlType for Value<T> {
    const TYPE: &'static StaticType = T::TYPE;

    fn put_idl<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        encode_cell(&self.cell, e)
    }
}

impl<R: Interface> IdlReference for Abstract<R> {
    const TYPE: &'static StaticType = R::TYPE;
    type Codec = AbstractCodec<R>;
}

/// The value of an abstract interface: an object reference, or a value whose type supports the interface. A clone costs
/// a reference count.
///
/// The servant's trait of the interface is implemented for it: an operation of an `Object` is a call, and that of a `Value`
/// locks the value and runs the method of its own type. It is NO_IMPLEMENT if that type does not support the interface.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an abstract interface is one of the two by definition"
)]
pub enum Abstract<R> {
    /// An object reference.
    Object(R),
    /// A value: [`downcast`](Value::downcast) converts it to its type, for its state.
    Value(Value<ValueBase>),
}

impl<R: Interface> From<R> for Abstract<R> {
    fn from(reference: R) -> Self {
        Self::Object(reference)
    }
}

impl<'a, R: Interface> From<&'a Abstract<R>> for Option<Abstract<R>> {
    fn from(other: &'a Abstract<R>) -> Self {
        Some(other.clone())
    }
}

impl<'a, R: Interface, T: Derives<ValueBase>> From<&'a Value<T>> for Option<Abstract<R>> {
    /// Converts without a check: the receiver checks that the value's type supports the interface.
    fn from(value: &'a Value<T>) -> Self {
        Some(Abstract::Value(value.upcast()))
    }
}

/// The codec of abstract interfaces: a boolean, then a reference or a value; `None` is null. Source: CORBA 3.3 Part 2,
/// General Inter-ORB Protocol (CDR transfer syntax).
#[derive(Debug)]
pub struct AbstractCodec<R>(PhantomData<R>);

impl<R: Interface> Codec for AbstractCodec<R> {
    type Value = Option<Abstract<R>>;
    type Borrowed = Option<Abstract<R>>;
    const MIN_SIZE: usize = 5;

    fn encode<O: ByteOrder>(
        value: &Option<Abstract<R>>,
        e: &mut Encoder<O>,
    ) -> Result<(), EncodeError> {
        match value {
            Some(Abstract::Object(reference)) => {
                e.write_bool(true);
                reference.as_object().put_idl(e)
            }
            Some(Abstract::Value(value)) => {
                e.write_bool(false);
                encode_cell(&value.cell, e)
            }
            None => {
                e.write_bool(false);
                e.write_null_value();
                Ok(())
            }
        }
    }

    fn decode<O: ByteOrder>(d: &mut Decoder<'_, O>) -> Result<Option<Abstract<R>>, DecodeError> {
        if d.read_bool()? {
            Ok(RefCodec::<R>::decode(d)?.map(Abstract::Object))
        } else {
            Ok(ValueCodec::<ValueBase>::decode(d)?.map(Abstract::Value))
        }
    }
}

impl<R: Interface> SendCodec for AbstractCodec<R> {}
