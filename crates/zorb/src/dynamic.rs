//! Calls that are put together while the program runs: `CORBA::Request`.

use crate::object::ObjectRef;
use core::fmt;
use zorb_cdr::{
    Any, BigEndian, ByteOrder, DecodeError, Encode, EncodeError, Encoder, Endian, LittleEndian,
    TcKind, TypeCode, WireFormat,
};
use zorb_giop::{CompletionStatus, Fault, ReplySlot, ReplyStatus, SystemException};

/// A call that is put together while the program runs: the operation by its name on the wire, arguments and results as
/// [`Any`]s. No IDL is needed, and any name may be sent, `_interface` too.
///
/// The arguments have to be of the operation's types: neither side can detect that a `long` was meant to be a `short`. So the
/// type of each any counts, as it is written: make one with [`Any::with_type_code`] where Rust does not tell it.
///
/// A call costs what one of a stub does, and some allocations for each any.
///
/// ```
/// use zorb::{Any, ObjectRef, RequestError, TypeCode};
///
/// # async fn example(account: ObjectRef) -> Result<(), RequestError> {
/// // double deposit(in long cents);
/// let deposited = account
///     .request("deposit")
///     .argument(Any::new(&500_i32).expect("a number"))
///     .returns(TypeCode::of::<f64>())
///     .invoke()
///     .await?;
/// println!("{}", deposited.result.expect("it returns something"));
/// # Ok(()) }
/// ```
///
/// The counterpart of `CORBA::Request` of the dynamic invocation interface.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before `invoke` or `send`"]
#[doc(alias = "DII")]
pub struct Request {
    object: ObjectRef,
    operation: String,
    parameters: Vec<Parameter>,
    returns: Option<TypeCode>,
    raises: Vec<TypeCode>,
}

#[derive(Debug, Clone)]
enum Parameter {
    In(Any),
    InOut(Any),
    Out(TypeCode),
}

/// The results of a [`Request`].
///
/// Each result is an [`Any`] with a type that the request named.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// The result, if a type was named for it.
    pub result: Option<Any>,
    /// The values of `inout` and `out` parameters, in their order.
    pub outputs: Vec<Any>,
}

/// Why a [`Request`] has no results.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The operation raised one of the exceptions that were [named](Request::raises).
    #[error("{0}")]
    User(Any),
    /// The ORB of either side, or the servant, raised a system exception.
    #[error(transparent)]
    System(#[from] SystemException),
}

impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(exception) => fmt::Display::fmt(exception, f),
            // As the exception itself is shown when it ends `main`.
            Self::System(exception) => fmt::Debug::fmt(exception, f),
        }
    }
}

impl ObjectRef {
    /// Begins a call of the operation with this name on the wire, whatever the IDL of the reference: `deposit`,
    /// `_get_balance` and `_set_balance` for an attribute, `_interface`.
    #[doc(alias = "_request")]
    #[doc(alias = "_create_request")]
    pub fn request(&self, operation: impl Into<String>) -> Request {
        Request {
            object: self.clone(),
            operation: operation.into(),
            parameters: Vec::new(),
            returns: None,
            raises: Vec::new(),
        }
    }
}

impl Request {
    /// Adds an `in` parameter.
    #[doc(alias = "add_in_arg")]
    pub fn argument(mut self, value: Any) -> Self {
        self.parameters.push(Parameter::In(value));
        self
    }

    /// Adds an `inout` parameter: its value is sent, and comes back as one of the same type.
    #[doc(alias = "add_inout_arg")]
    pub fn inout(mut self, value: Any) -> Self {
        self.parameters.push(Parameter::InOut(value));
        self
    }

    /// Adds an `out` parameter of this type.
    #[doc(alias = "add_out_arg")]
    pub fn out(mut self, ty: TypeCode) -> Self {
        self.parameters.push(Parameter::Out(ty));
        self
    }

    /// Names the type of the result; without it, or with `void`, there is none.
    #[doc(alias = "set_return_type")]
    pub fn returns(mut self, ty: TypeCode) -> Self {
        self.returns = (ty.kind() != TcKind::Void).then_some(ty);
        self
    }

    /// Names an exception that the operation raises. Others are UNKNOWN.
    #[doc(alias = "ExceptionList")]
    pub fn raises(mut self, ty: TypeCode) -> Self {
        self.raises.push(ty);
        self
    }

    /// Calls the operation and waits for its results, following forwards as calls of stubs do. Allocates for each result.
    ///
    /// # Errors
    /// An exception that was named, or a system exception: MARSHAL, COMPLETED_YES, for results that are not of the types that were
    /// named, as far as their octets show it; UNKNOWN for an exception that was not named.
    ///
    /// # Cancel safety
    /// Safe for the connection, as for calls of stubs. Whether the operation was carried out is not known then.
    pub async fn invoke(self) -> Result<Response, RequestError> {
        let mut reply = ReplySlot::new();
        let arguments = Arguments(&self.parameters);
        let format = (self
            .object
            .invoke_untyped(&self.operation, &arguments, &mut reply))
        .await?;
        match reply.endian() {
            Endian::Big => self.read::<BigEndian>(&reply, format),
            Endian::Little => self.read::<LittleEndian>(&reply, format),
        }
    }

    /// Calls a one-way operation; ready when the [`SyncScope`](crate::SyncScope) of the reference says.
    ///
    /// # Errors
    /// A system exception that is raised before the point that the scope waits for; later failures are not reported.
    ///
    /// # Cancel safety
    /// Safe for the connection; whether the request was sent is not known then.
    #[doc(alias = "send_oneway")]
    pub async fn send(self) -> Result<(), SystemException> {
        let arguments = Arguments(&self.parameters);
        self.object.invoke_oneway(&self.operation, arguments).await
    }

    fn read<O: ByteOrder>(
        &self,
        reply: &ReplySlot,
        format: WireFormat,
    ) -> Result<Response, RequestError> {
        let malformed =
            |error: DecodeError| Fault::Decode(error).raise(CompletionStatus::Yes).received();
        let decoder = || {
            let d = reply.decoder::<O>(format).map_err(malformed)?;
            Ok::<_, SystemException>(d.with_context(&**self.object.orb().inner()))
        };
        let mut d = decoder()?;
        if reply.status() == ReplyStatus::NoException {
            let result = (self.returns.as_ref())
                .map(|ty| Any::decode_value(ty, &mut d))
                .transpose()
                .map_err(malformed)?;
            let outputs = self
                .parameters
                .iter()
                .filter_map(|parameter| match parameter {
                    Parameter::In(_) => None,
                    Parameter::InOut(value) => Some(value.type_code()),
                    Parameter::Out(ty) => Some(ty),
                });
            let outputs = outputs
                .map(|ty| Any::decode_value(ty, &mut d))
                .collect::<Result<_, _>>()
                .map_err(malformed)?;
            return Ok(Response { result, outputs });
        }
        let id = d.read_raw_string().map_err(malformed)?;
        let is_raised = |ty: &&TypeCode| ty.id().is_some_and(|known| known.as_bytes() == id);
        match self.raises.iter().find(is_raised) {
            // Its value begins with the id.
            Some(ty) => {
                let exception = Any::decode_value(ty, &mut decoder()?).map_err(malformed)?;
                Err(RequestError::User(exception))
            }
            None => {
                let id = String::from_utf8_lossy(id).into_owned();
                let unlisted = Fault::UnlistedException(id).raise(CompletionStatus::Yes);
                Err(unlisted.received().into())
            }
        }
    }
}

/// The values that are sent.
struct Arguments<'a>(&'a [Parameter]);

impl Encode for Arguments<'_> {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        for parameter in self.0 {
            match parameter {
                Parameter::In(value) | Parameter::InOut(value) => value.encode_value(e)?,
                Parameter::Out(_) => {}
            }
        }
        Ok(())
    }
}
