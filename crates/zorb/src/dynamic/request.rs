//! Calls that are built at run time: `CORBA::Request`.

use crate::context::{Context, ContextArgument};
use crate::object::ObjectRef;
use core::fmt;
use std::time::Instant;
use zorb_cdr::{
    Any, BigEndian, ByteOrder, DecodeError, Decoder, Encode, EncodeError, Encoder, Endian,
    LittleEndian, TcKind, TypeCode, WireFormat,
};
use zorb_giop::{CompletionStatus, Fault, OperationError, ReplySlot, ReplyStatus, SystemException};

/// A call that is built at run time: the operation by its name on the wire, arguments and results as [`Any`]s. It needs
/// no IDL, and any name may be sent, `_interface` too.
///
/// The arguments have to be of the operation's types: neither side can detect a `long` in place of a `short`. Each any
/// is sent with the encoding of its TypeCode. Use [`Any::with_type_code`] where the Rust type does not determine it.
///
/// A call costs as much as a stub's call, and some allocations for each any. It passes the steps of every call: forwards,
/// time limits, priorities. A request may be [used again](Self::set) with other arguments.
///
/// | | |
/// |---|---|
/// | [`invoke`](Self::invoke) | waits for the results |
/// | [`send`](Self::send) | a one-way operation |
/// | [`send_deferred`](Self::send_deferred) | the results are waited for later |
/// | [`send_multiple_deferred`](Self::send_multiple_deferred) | several calls at a time |
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
/// The counterpart of `CORBA::Request` of the dynamic invocation interface. Source: CORBA 3.3 Part 1
/// (`CORBA::Request`).
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before `invoke` or `send`"]
#[doc(alias = "DII")]
pub struct Request {
    object: ObjectRef,
    operation: String,
    parameters: Vec<Parameter>,
    returns: Option<TypeCode>,
    raises: Vec<TypeCode>,
    /// The values of the caller's context that the operation's `context` clause names; `None` without such a clause.
    context: Option<Context>,
}

#[derive(Debug, Clone)]
struct Parameter {
    /// Empty unless it was named.
    name: String,
    value: Argument,
}

#[derive(Debug, Clone)]
enum Argument {
    In(Any),
    InOut(Any),
    Out(TypeCode),
}

impl From<Argument> for Parameter {
    fn from(value: Argument) -> Self {
        let name = String::new();
        Self { name, value }
    }
}

/// The results of a [`Request`].
///
/// Each result is an [`Any`] with a type that the request named.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// The result of the operation; `None` unless [`Request::returns`] named a type for it.
    pub result: Option<Any>,
    /// The values of `inout` and `out` parameters, in their order.
    pub outputs: Vec<Any>,
    /// The names of the outputs; empty unless parameters were named.
    names: Vec<String>,
}

impl Response {
    /// Returns the value of the `inout` or `out` parameter with this [name](Request::named).
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&Any> {
        let at = self.names.iter().position(|of| of == name)?;
        self.outputs.get(at)
    }
}

/// The error of a [`Request`]: a user exception that was [named](Request::raises), or a system exception.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The operation raised one of the exceptions that were [named](Request::raises).
    #[error("{0}")]
    User(Any),
    /// The client's or the server's ORB, or the servant, raised a system exception.
    #[error(transparent)]
    System(#[from] SystemException),
}

impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(exception) => fmt::Display::fmt(exception, f),
            // The same text as the system exception itself has when `main` returns it.
            Self::System(exception) => fmt::Debug::fmt(exception, f),
        }
    }
}

impl ObjectRef {
    /// Begins a call of the operation with this name on the wire, whatever the interface of the reference: `deposit`,
    /// `_get_balance` and `_set_balance` for an attribute, `_interface`. Sends nothing yet.
    #[doc(alias = "_request")]
    #[doc(alias = "_create_request")]
    pub fn request(&self, operation: impl Into<String>) -> Request {
        Request {
            object: self.clone(),
            operation: operation.into(),
            parameters: Vec::new(),
            returns: None,
            raises: Vec::new(),
            context: None,
        }
    }
}

impl Request {
    /// Adds an `in` parameter, behind those that were added before. The types are not checked here.
    #[doc(alias = "add_in_arg")]
    pub fn argument(mut self, value: Any) -> Self {
        self.parameters.push(Argument::In(value).into());
        self
    }

    /// Adds an `inout` parameter: its value is sent, and the reply has a value of the same type.
    #[doc(alias = "add_inout_arg")]
    pub fn inout(mut self, value: Any) -> Self {
        self.parameters.push(Argument::InOut(value).into());
        self
    }

    /// Adds an `out` parameter of this type, which takes no part in the request. [`Response::outputs`] has its value.
    #[doc(alias = "add_out_arg")]
    pub fn out(mut self, ty: TypeCode) -> Self {
        self.parameters.push(Argument::Out(ty).into());
        self
    }

    /// Names the parameter that was added last, for [`Response::output`] and [`set_named`](Self::set_named). Names are not
    /// sent.
    #[doc(alias = "NamedValue")]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        if let Some(last) = self.parameters.last_mut() {
            last.name = name.into();
        }
        self
    }

    /// Sets the context of an operation with a `context` clause, which names `properties`: exact names, or prefixes of names
    /// that end in `*`. The values of `context` with these names are sent behind the arguments.
    #[doc(alias = "ContextList")]
    pub fn context<P: AsRef<str>>(mut self, context: &Context, properties: &[P]) -> Self {
        self.context = Some(context.selected(properties));
        self
    }

    /// Replaces the value of the parameter at `index`, for the next call of this request. It has to be of the type of the
    /// value before, or one that [converts](Any::converted) to it.
    ///
    /// # Errors
    /// BAD_PARAM if there is no such parameter, if it is an `out` parameter, or if the value is of another type.
    pub fn set(&mut self, index: usize, value: Any) -> Result<(), SystemException> {
        match self.parameters.get_mut(index).map(|it| &mut it.value) {
            Some(Argument::In(before) | Argument::InOut(before)) => {
                *before = super::signature::checked(before.type_code(), value)
                    .map_err(|why| bad_parameter(format!("argument {index}: {why}")))?;
                Ok(())
            }
            Some(Argument::Out(_)) => Err(bad_parameter(format!(
                "argument {index} is an out parameter"
            ))),
            None => Err(bad_parameter(format!("there is no argument {index}"))),
        }
    }

    /// Replaces the value of the parameter with this name: see [`set`](Self::set).
    ///
    /// # Errors
    /// Returns the errors of [`set`](Self::set).
    pub fn set_named(&mut self, name: &str, value: Any) -> Result<(), SystemException> {
        match self.parameters.iter().position(|it| it.name == name) {
            Some(index) => self.set(index, value),
            None => Err(bad_parameter(format!("there is no argument {name:?}"))),
        }
    }

    /// The object that is called.
    #[must_use]
    pub const fn target(&self) -> &ObjectRef {
        &self.object
    }

    /// The name of the operation on the wire.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Sets the type of the result; without it, or with `void`, the call has no result.
    #[doc(alias = "set_return_type")]
    pub fn returns(mut self, ty: TypeCode) -> Self {
        self.returns = (ty.kind() != TcKind::Void).then_some(ty);
        self
    }

    /// Adds the type of an exception that the operation raises. Exceptions of other types are UNKNOWN.
    #[doc(alias = "ExceptionList")]
    pub fn raises(mut self, ty: TypeCode) -> Self {
        self.raises.push(ty);
        self
    }

    /// Calls the operation and waits for its results, following forwards as calls of stubs do. Allocates for each result.
    ///
    /// # Errors
    /// An exception of a type in [`raises`](Self::raises), or a system exception: MARSHAL, COMPLETED_YES, if the octets
    /// of the results do not decode as the types of the request; UNKNOWN for another user exception.
    ///
    /// # Cancel safety
    /// Safe for the connection, as for calls of stubs. The caller does not learn whether the operation was carried out.
    pub async fn invoke(&self) -> Result<Response, RequestError> {
        let mut reply = ReplySlot::new();
        let arguments = Arguments(self);
        let (format, deadline) =
            (self
                .object
                .invoke_untyped(&self.operation, &arguments, &mut reply))
            .await?;
        match reply.endian() {
            Endian::Big => self.read::<BigEndian>(&reply, format, deadline),
            Endian::Little => self.read::<LittleEndian>(&reply, format, deadline),
        }
    }

    /// Calls a one-way operation; ready at the point that the [`SyncScope`](crate::SyncScope) of the reference names.
    ///
    /// # Errors
    /// A system exception that is raised before the point that the scope waits for; later failures are not reported.
    ///
    /// # Cancel safety
    /// Safe for the connection. The caller does not learn whether the request was sent.
    #[doc(alias = "send_oneway")]
    pub async fn send(&self) -> Result<(), SystemException> {
        let arguments = Arguments(self);
        self.object.invoke_oneway(&self.operation, arguments).await
    }

    fn read<O: ByteOrder>(
        &self,
        reply: &ReplySlot,
        format: WireFormat,
        deadline: Option<Instant>,
    ) -> Result<Response, RequestError> {
        let malformed =
            |error: DecodeError| Fault::Decode(error).raise(CompletionStatus::Yes).received();
        let context = self.object.reply_context(deadline);
        let decoder = || {
            let d = reply.decoder::<O>(format).map_err(malformed)?;
            Ok::<_, SystemException>(d.with_context(&context))
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
                .filter_map(|parameter| match &parameter.value {
                    Argument::In(_) => None,
                    Argument::InOut(value) => Some((parameter, value.type_code())),
                    Argument::Out(ty) => Some((parameter, ty)),
                });
            let is_named = self.parameters.iter().any(|it| !it.name.is_empty());
            let (mut values, mut names) = (Vec::new(), Vec::new());
            for (parameter, ty) in outputs {
                values.push(Any::decode_value(ty, &mut d).map_err(malformed)?);
                if is_named {
                    names.push(parameter.name.clone());
                }
            }
            return Ok(Response {
                result,
                outputs: values,
                names,
            });
        }
        let id = d.read_raw_string().map_err(malformed)?;
        let is_raised = |ty: &&TypeCode| ty.id().is_some_and(|known| known.as_bytes() == id);
        match self.raises.iter().find(is_raised) {
            // The encoded exception begins with its repository id, so decoding starts over.
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

/// The values of `in` and `inout` parameters, and the context behind them.
struct Arguments<'a>(&'a Request);

impl Encode for Arguments<'_> {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        for parameter in &self.0.parameters {
            match &parameter.value {
                Argument::In(value) | Argument::InOut(value) => value.encode_value(e)?,
                Argument::Out(_) => {}
            }
        }
        match &self.0.context {
            Some(context) => e.put(&ContextArgument::new(context, &["*"])),
            None => Ok(()),
        }
    }
}

pub(super) fn bad_parameter(why: String) -> SystemException {
    Fault::BadParameter(why).raise(CompletionStatus::No)
}

/// The error of a [dynamic servant](crate::DynamicServant): a user exception travels as the any has it.
impl OperationError for RequestError {
    fn system(&self) -> Option<&SystemException> {
        match self {
            Self::User(_) => None,
            Self::System(exception) => Some(exception),
        }
    }

    fn repository_id(&self) -> &str {
        match self {
            Self::User(exception) => exception.type_code().id().unwrap_or_default(),
            Self::System(exception) => exception.kind.repository_id(),
        }
    }

    fn encode_user<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        match self {
            Self::User(exception) if exception.type_code().kind() == TcKind::Except => {
                exception.encode_value(e)
            }
            Self::User(_) => Err(zorb_cdr::EncodeErrorKind::Expected("an exception").into()),
            Self::System(_) => Ok(()),
        }
    }

    /// The types of exceptions are known to a [`Request`] alone.
    fn decode_user<O: ByteOrder>(
        _: &[u8],
        _: &mut Decoder<'_, O>,
    ) -> Option<Result<Self, DecodeError>> {
        None
    }
}

/// The system exception; for a user exception UNKNOWN, COMPLETED_MAYBE, since the operation of the servant that passes it on
/// does not raise it.
impl From<RequestError> for SystemException {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::System(exception) => exception,
            RequestError::User(any) => {
                let id = any.type_code().id().unwrap_or_default().to_owned();
                Fault::UnlistedException(id).raise(CompletionStatus::Maybe)
            }
        }
    }
}
