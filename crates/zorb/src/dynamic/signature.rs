//! The types of an operation.

use super::raw::Values;
use super::request::{Request, RequestError, bad_parameter};
use super::servant::DynamicReply;
use crate::object::ObjectRef;
use zorb_cdr::{Any, TcKind, TypeCode};
use zorb_giop::{CompletionStatus, SystemException, SystemExceptionKind};

/// The direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "IDL has these three")]
pub enum ParameterMode {
    /// From the client to the server.
    In,
    /// From the server to the client.
    Out,
    /// Both ways.
    InOut,
}

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a parameter has these")]
pub struct ParameterType {
    /// The name.
    pub name: String,
    /// The direction.
    pub mode: ParameterMode,
    /// The type.
    pub ty: TypeCode,
}

/// The types of an operation, by which the arguments of a call and the results of a servant are checked.
///
/// `zorb_dynamic::IdlTypes` makes it of IDL text. An attribute has one for each of its operations, `_get_x` and `_set_x`.
///
/// ```
/// use zorb::{Any, ObjectRef, ParameterMode, ParameterType, RequestError, Signature, TypeCode};
///
/// # async fn example(account: ObjectRef) -> Result<(), RequestError> {
/// // double deposit(in long cents);
/// let mut deposit = Signature::new("deposit");
/// deposit.result = Some(TypeCode::of::<f64>());
/// deposit.parameters.push(ParameterType {
///     name: "cents".to_owned(),
///     mode: ParameterMode::In,
///     ty: TypeCode::of::<i32>(),
/// });
/// let cents = Any::new(&500_i32).expect("a number");
/// assert!(deposit.request(&account, &[Any::new("500").expect("text")]).is_err());
/// let response = deposit.request(&account, &[cents])?.invoke().await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Signature {
    /// The name of the operation on the wire.
    pub operation: String,
    /// Whether it is one-way.
    pub is_oneway: bool,
    /// The type of the result; `None` for `void`.
    pub result: Option<TypeCode>,
    /// The parameters.
    pub parameters: Vec<ParameterType>,
    /// The types of the exceptions that it raises.
    pub raises: Vec<TypeCode>,
    /// The names of properties, or beginnings of them with a `*`, that travel from the caller's context; `None` without a
    /// `context` clause.
    pub context: Option<Vec<String>>,
}

impl Signature {
    /// Returns the signature of an operation without parameters, result and exceptions.
    #[must_use]
    pub fn new(operation: impl Into<String>) -> Self {
        Self {
            operation: operation.into(),
            is_oneway: false,
            result: None,
            parameters: Vec::new(),
            raises: Vec::new(),
            context: None,
        }
    }

    fn parameters(&self, without: ParameterMode) -> impl Iterator<Item = &ParameterType> {
        let parameters = self.parameters.iter();
        parameters.filter(move |it| it.mode != without)
    }

    /// Returns the types of the arguments: of `in` and `inout` parameters, in their order.
    pub fn argument_types(&self) -> impl Iterator<Item = &TypeCode> {
        self.parameters(ParameterMode::Out).map(|it| &it.ty)
    }

    /// Returns the types of the outputs: of `inout` and `out` parameters, in their order.
    pub fn output_types(&self) -> impl Iterator<Item = &TypeCode> {
        self.parameters(ParameterMode::In).map(|it| &it.ty)
    }

    /// Makes a request for the operation of `object`. `arguments`: those of `in` and `inout` parameters, in their order, each of
    /// its parameter's type or one that [converts](Any::converted) to it. A reference of any interface is taken where one is
    /// expected.
    ///
    /// # Errors
    /// BAD_PARAM for a wrong number of arguments, and for one of another type.
    pub fn request(
        &self,
        object: &ObjectRef,
        arguments: &[Any],
    ) -> Result<Request, SystemException> {
        let expected = self.argument_types().count();
        if expected != arguments.len() {
            let found = arguments.len();
            return Err(self.refuse(format!("expected {expected} arguments, found {found}")));
        }
        let mut arguments = arguments.iter();
        self.request_with(object, |_| arguments.next().cloned())
    }

    /// Makes a request as [`request`](Self::request) does, of arguments by name, in any order.
    ///
    /// # Errors
    /// BAD_PARAM for an argument that is missing, unknown or there twice, and for one of another type.
    pub fn request_named(
        &self,
        object: &ObjectRef,
        arguments: &[(&str, Any)],
    ) -> Result<Request, SystemException> {
        for (at, (name, _)) in arguments.iter().enumerate() {
            if !self
                .parameters(ParameterMode::Out)
                .any(|it| it.name == *name)
            {
                return Err(self.refuse(format!("there is no argument {name:?}")));
            }
            if arguments.iter().take(at).any(|(before, _)| before == name) {
                return Err(self.refuse(format!("argument {name:?} is there twice")));
            }
        }
        self.request_with(object, |name| {
            let mut arguments = arguments.iter();
            let found = arguments.find(|(of, _)| *of == name);
            found.map(|(_, value)| value.clone())
        })
    }

    fn request_with(
        &self,
        object: &ObjectRef,
        mut argument: impl FnMut(&str) -> Option<Any>,
    ) -> Result<Request, SystemException> {
        let mut request = object.request(&*self.operation);
        if let Some(result) = &self.result {
            request = request.returns(result.clone());
        }
        for ParameterType { name, mode, ty } in &self.parameters {
            request = match mode {
                ParameterMode::Out => request.out(ty.clone()),
                mode => {
                    let value = argument(name)
                        .ok_or_else(|| self.refuse(format!("argument {name:?} is missing")))?;
                    let value = checked(ty, value)
                        .map_err(|why| self.refuse(format!("argument {name:?}: {why}")))?;
                    match mode {
                        ParameterMode::InOut => request.inout(value),
                        _ => request.argument(value),
                    }
                }
            }
            .named(&**name);
        }
        if let Some(properties) = &self.context {
            request = request.context(&crate::Context::new(), properties);
        }
        Ok(self.raises.iter().cloned().fold(request, Request::raises))
    }

    /// Makes the reply of a [dynamic servant](crate::DynamicServant): the result, unless that is `void`, and the values of `inout`
    /// and `out` parameters, in their order, each of its type or one that converts to it.
    ///
    /// # Errors
    /// INTERNAL, COMPLETED_YES, for a wrong number of values, and for one of another type: the servant has a bug.
    pub fn reply(
        &self,
        result: Option<Any>,
        outputs: Vec<Any>,
    ) -> Result<DynamicReply, RequestError> {
        let refuse = |why: String| {
            let yes = CompletionStatus::Yes;
            let internal = SystemException::new(SystemExceptionKind::Internal, 0, yes);
            internal.with_local_detail(format_args!("result of {}: {why}", self.operation))
        };
        let types: Vec<&TypeCode> = self.result.iter().chain(self.output_types()).collect();
        let values: Vec<Any> = result.into_iter().chain(outputs).collect();
        if types.len() != values.len() {
            let (expected, found) = (types.len(), values.len());
            return Err(refuse(format!("expected {expected} values, found {found}")).into());
        }
        let values = types.into_iter().zip(values);
        let values: Result<_, _> = values.map(|(ty, value)| checked(ty, value)).collect();
        Ok(DynamicReply::of(Values(values.map_err(refuse)?)))
    }

    fn refuse(&self, why: String) -> SystemException {
        bad_parameter(format!("{}: {why}", self.operation))
    }
}

/// The value as one of type `ty`, or why it is none.
pub(super) fn checked(ty: &TypeCode, value: Any) -> Result<Any, String> {
    let found = value.type_code();
    let is_reference = |ty: &TypeCode| ty.unaliased().kind() == TcKind::ObjRef;
    if found.equivalent(ty) || is_reference(ty) && is_reference(found) {
        return Ok(value);
    }
    let converted = value.converted(ty);
    converted.map_err(|error| format!("expected {ty}, found {found} ({error})"))
}
