//! Custom marshalling, for value types that are declared `custom`.

use super::Value;
use super::codec::ValueCodec;
use super::types::{Behaviour, ErasedState, ValueState, ValueType};
use crate::interface::{Interface, RefCodec};
use core::any::{Any, TypeId};
use core::error::Error;
use core::fmt;
use zorb_cdr::{
    AnyDecoder, AnyEncoder, ByteOrder, Codec, CopyError, Decode, DecodeError, DecodeErrorKind,
    Decoder, Encode, EncodeError, EncodeErrorKind,
};
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// The encoding of a value type that is declared `custom`: [`unmarshal`](Self::unmarshal) reads what
/// [`marshal`](Self::marshal) writes, and both ends have to agree on the format.
///
/// ```
/// zorb::idl! {
///     custom valuetype Temperature { public double kelvin; };
/// }
/// use zorb::{CustomMarshal, DataInput, DataOutput, MarshalError};
///
/// impl CustomMarshal for Temperature {
///     fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
///         output.write(&1_u8)?; // the version of what follows
///         output.write(&self.kelvin)
///     }
///
///     fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
///         match input.read::<u8>()? {
///             1 => Ok(Self { kelvin: input.read()? }),
///             _ => Err(MarshalError::expected("version 1")),
///         }
///     }
/// }
/// # fn f(orb: &zorb::Orb) {
/// orb.register_value::<Temperature>(); // or it cannot be received
/// # }
/// ```
///
/// Source: CORBA 3.3 Part 1, Value Type Semantics (custom marshaling).
pub trait CustomMarshal: Sized {
    /// Writes the state, including that of base types.
    ///
    /// # Errors
    /// The errors of `output`, and those of the implementation ([`MarshalError`]).
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError>;

    /// Reads the state that `marshal` wrote. Values that `input` returns are complete: their state, and that of all
    /// values to which they refer, can be read. A value in a cycle with the value that is being read, or with one
    /// around it, is not complete: [`DataInput::read_incomplete_value`] returns such values.
    ///
    /// # Errors
    /// The errors of `input`, and those of the implementation ([`MarshalError`]).
    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError>;
}

/// The error of marshalling or unmarshalling a custom value.
///
/// An error of CDR is the [`source`](core::error::Error::source), and `Display` does not show it. The alternate form
/// (`{:#}`) shows both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarshalError(MarshalFailure);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarshalFailure {
    Read(DecodeError),
    Write(EncodeError),
    Expected(&'static str),
}

impl MarshalError {
    /// An error of the application, which states the expectation, as in "version 1". It is MARSHAL in reading and
    /// BAD_PARAM in writing.
    #[must_use]
    pub const fn expected(what: &'static str) -> Self {
        Self(MarshalFailure::Expected(what))
    }
}

impl fmt::Display for MarshalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            MarshalFailure::Read(_) => f.write_str("cannot unmarshal the state of the value")?,
            MarshalFailure::Write(_) => f.write_str("cannot marshal the state of the value")?,
            MarshalFailure::Expected(what) => write!(f, "expected {what}")?,
        }
        match self.source() {
            Some(source) if f.alternate() => write!(f, ": {source}"),
            _ => Ok(()),
        }
    }
}

impl Error for MarshalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            MarshalFailure::Read(error) => Some(error),
            MarshalFailure::Write(error) => Some(error),
            MarshalFailure::Expected(_) => None,
        }
    }
}

/// The output stream of a custom value (`CORBA::DataOutputStream`).
///
/// Source: CORBA 3.3 Part 1, Value Type Semantics (custom marshaling).
#[derive(Debug)]
#[doc(alias = "DataOutputStream")]
pub struct DataOutput<'a> {
    e: AnyEncoder<'a>,
    failed: Option<EncodeError>,
}

impl DataOutput<'_> {
    /// Writes a value of any IDL type, except object references, value types and wide strings.
    ///
    /// # Errors
    /// The value cannot be encoded, such as text with a NUL.
    pub fn write(&mut self, value: &(impl Encode + ?Sized)) -> Result<(), MarshalError> {
        let result = match &mut self.e {
            AnyEncoder::Big(e) => e.put(value),
            AnyEncoder::Little(e) => e.put(value),
        };
        self.done(result)
    }

    /// Writes a `wstring`.
    ///
    /// # Errors
    /// No wide code set has been negotiated for the connection.
    pub fn write_wide(&mut self, text: &str) -> Result<(), MarshalError> {
        let result = match &mut self.e {
            AnyEncoder::Big(e) => e.write_wide_str(text),
            AnyEncoder::Little(e) => e.write_wide_str(text),
        };
        self.done(result)
    }

    /// Writes a value of a value type; `None` is null.
    ///
    /// # Errors
    /// A member of the value cannot be encoded, or values within each other exceed the limit on nesting.
    pub fn write_value<T: ValueType>(
        &mut self,
        value: Option<&Value<T>>,
    ) -> Result<(), MarshalError> {
        self.codec::<ValueCodec<T>>(&value.cloned())
    }

    /// Writes an object reference; `None` is nil.
    ///
    /// # Errors
    /// The type id of the reference contains a NUL.
    pub fn write_object<R: Interface>(
        &mut self,
        reference: Option<&R>,
    ) -> Result<(), MarshalError> {
        self.codec::<RefCodec<R>>(&reference.cloned())
    }

    fn codec<C: Codec>(&mut self, value: &C::Borrowed) -> Result<(), MarshalError> {
        let result = match &mut self.e {
            AnyEncoder::Big(e) => C::encode(value, e),
            AnyEncoder::Little(e) => C::encode(value, e),
        };
        self.done(result)
    }

    /// Keeps the error, so that writing on cannot turn it into a success.
    fn done(&mut self, result: Result<(), EncodeError>) -> Result<(), MarshalError> {
        result.map_err(|error| {
            self.failed = Some(error);
            MarshalError(MarshalFailure::Write(error))
        })
    }
}

/// The input stream of a custom value (`CORBA::DataInputStream`).
///
/// Source: CORBA 3.3 Part 1, Value Type Semantics (custom marshaling).
#[derive(Debug)]
#[doc(alias = "DataInputStream")]
pub struct DataInput<'a, 'de> {
    d: AnyDecoder<'a, 'de>,
    failed: Option<DecodeError>,
}

impl<'de> DataInput<'_, 'de> {
    /// Reads a value of any IDL type, except object references, value types and wide strings.
    ///
    /// # Errors
    /// The octets are malformed. If the type has members of value types, those of [`read_value`](Self::read_value).
    pub fn read<T: Decode<'de>>(&mut self) -> Result<T, MarshalError> {
        let result = match &mut self.d {
            AnyDecoder::Big(d) => complete(d, Decoder::get),
            AnyDecoder::Little(d) => complete(d, Decoder::get),
        };
        self.done(result)
    }

    /// Reads a `wstring`.
    ///
    /// # Errors
    /// The octets are malformed.
    pub fn read_wide(&mut self) -> Result<String, MarshalError> {
        let result = match &mut self.d {
            AnyDecoder::Big(d) => d.read_wide_string(),
            AnyDecoder::Little(d) => d.read_wide_string(),
        };
        self.done(result)
    }

    /// Reads a value of a value type. The value, and all values to which it refers, are complete.
    ///
    /// # Errors
    /// The octets are malformed, or the value is of another type;
    /// [`IncompleteValue`](DecodeErrorKind::IncompleteValue) (MARSHAL) for one that is part of a cycle with the value
    /// that is being read, or with one around it.
    pub fn read_value<T: ValueType>(&mut self) -> Result<Option<Value<T>>, MarshalError> {
        let result = match &mut self.d {
            AnyDecoder::Big(d) => complete(d, ValueCodec::decode),
            AnyDecoder::Little(d) => complete(d, ValueCodec::decode),
        };
        self.done(result)
    }

    /// Reads a value of a value type that may be part of a cycle with the value that is being read, or with one around
    /// it. The value can be stored, but its state must not be read: it, or values to which it refers, may have no state
    /// before the whole message has been decoded. [`Value::read`] panics then, and [`Value::try_read`] returns `None`.
    ///
    /// # Errors
    /// The octets are malformed, or the value is of another type.
    pub fn read_incomplete_value<T: ValueType>(
        &mut self,
    ) -> Result<Option<Value<T>>, MarshalError> {
        self.codec::<ValueCodec<T>>()
    }

    /// Reads an object reference.
    ///
    /// # Errors
    /// The octets are malformed.
    pub fn read_object<R: Interface>(&mut self) -> Result<Option<R>, MarshalError> {
        self.codec::<RefCodec<R>>()
    }

    fn codec<C: Codec>(&mut self) -> Result<C::Value, MarshalError> {
        let result = match &mut self.d {
            AnyDecoder::Big(d) => C::decode(d),
            AnyDecoder::Little(d) => C::decode(d),
        };
        self.done(result)
    }

    /// Keeps the error, so that reading on cannot turn it into a success: a value may have been left unread.
    fn done<T>(&mut self, result: Result<T, DecodeError>) -> Result<T, MarshalError> {
        result.map_err(|error| {
            self.failed = Some(error);
            MarshalError(MarshalFailure::Read(error))
        })
    }
}

impl Behaviour {
    /// The behaviour of a `custom` type, which has [`CustomMarshal`].
    #[must_use]
    pub const fn custom<T: ValueState + CustomMarshal>(
        operations: fn(TypeId) -> Option<&'static (dyn Any + Send + Sync)>,
    ) -> Self {
        Self {
            info: T::info,
            custom: true,
            ty: T::TYPE,
            copy: Some(copy::<T>),
            write: |state, e| match state.downcast_ref::<T>() {
                Some(state) => write(state, e),
                None => Ok(()),
            },
            read_big: |d, state| read::<T>(AnyDecoder::Big(d), state),
            read_little: |d, state| read::<T>(AnyDecoder::Little(d), state),
            operations,
        }
    }
}

/// Returns the result of `read`, if all values in it are complete.
fn complete<'de, O: ByteOrder, T>(
    d: &mut Decoder<'de, O>,
    read: impl FnOnce(&mut Decoder<'de, O>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    match d.completely(read)? {
        (value, true) => Ok(value),
        (_, false) => Err(d.error(DecodeErrorKind::IncompleteValue)),
    }
}

/// Decodes a state and encodes it elsewhere, to convert it to an any or from one.
fn copy<T: ValueState + CustomMarshal>(
    d: AnyDecoder<'_, '_>,
    e: AnyEncoder<'_>,
) -> Result<(), CopyError> {
    let mut state = None;
    read::<T>(d, &mut state).map_err(CopyError::Read)?;
    match state
        .as_ref()
        .and_then(|state| state.as_any().downcast_ref::<T>())
    {
        Some(state) => write(state, e).map_err(CopyError::Write),
        None => Ok(()),
    }
}

fn write(state: &impl CustomMarshal, e: AnyEncoder<'_>) -> Result<(), EncodeError> {
    let mut output = DataOutput { e, failed: None };
    let result = state.marshal(&mut output);
    match (output.failed, result) {
        (Some(error), _) | (None, Err(MarshalError(MarshalFailure::Write(error)))) => Err(error),
        (None, Err(MarshalError(MarshalFailure::Expected(what)))) => {
            Err(EncodeErrorKind::Expected(what).into())
        }
        (None, Err(MarshalError(MarshalFailure::Read(_)))) => {
            Err(EncodeErrorKind::Expected("a value that can be marshalled").into())
        }
        (None, Ok(())) => Ok(()),
    }
}

fn read<T: ValueState + CustomMarshal>(
    d: AnyDecoder<'_, '_>,
    read: &mut Option<Box<dyn ErasedState>>,
) -> Result<(), DecodeError> {
    let mut input = DataInput { d, failed: None };
    let result = T::unmarshal(&mut input);
    let own = |what| {
        let kind = DecodeErrorKind::Expected(what);
        match &input.d {
            AnyDecoder::Big(d) => d.error(kind),
            AnyDecoder::Little(d) => d.error(kind),
        }
    };
    match (input.failed, result) {
        (Some(error), _) | (None, Err(MarshalError(MarshalFailure::Read(error)))) => Err(error),
        (None, Err(MarshalError(MarshalFailure::Expected(what)))) => Err(own(what)),
        (None, Err(MarshalError(MarshalFailure::Write(_)))) => {
            Err(own("a value that can be unmarshalled"))
        }
        (None, Ok(state)) => {
            *read = Some(Box::new(state));
            Ok(())
        }
    }
}

/// MARSHAL, DATA_CONVERSION or BAD_PARAM, as for other values; COMPLETED_MAYBE.
impl From<MarshalError> for SystemException {
    fn from(error: MarshalError) -> Self {
        let fault = match error.0 {
            MarshalFailure::Read(error) => Fault::Decode(error),
            MarshalFailure::Write(error) => Fault::Encode(error),
            MarshalFailure::Expected(_) => Fault::BadParameter(error.to_string()),
        };
        fault.raise(CompletionStatus::Maybe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::{BigEndian, Decoder, WireFormat};

    #[test]
    fn an_error_of_cdr_is_the_source_of_the_error_of_a_custom_value() {
        let mut d = Decoder::<BigEndian>::from_slice(&[0; 3], WireFormat::default());
        let short = d.read_u32().unwrap_err();
        let unfit = EncodeError::from(EncodeErrorKind::EmbeddedNul);
        for (error, source, text) in [
            (
                MarshalError(MarshalFailure::Read(short)),
                short.to_string(),
                "cannot unmarshal the state of the value",
            ),
            (
                MarshalError(MarshalFailure::Write(unfit)),
                unfit.to_string(),
                "cannot marshal the state of the value",
            ),
        ] {
            assert_eq!(error.source().unwrap().to_string(), source);
            assert_eq!(error.to_string(), text);
            assert_eq!(format!("{error:#}"), format!("{text}: {source}"));
        }
        let expected = MarshalError::expected("version 1");
        assert!(expected.source().is_none());
        assert_eq!(format!("{expected:#}"), "expected version 1");
    }
}
