//! Servants that get the operations of their requests by name: the dynamic skeleton interface.

use super::raw::{RawReply, Types, Values};
use super::request::RequestError;
use super::signature::Signature;
use crate::context::Context;
use crate::object::ObjectRef;
use crate::poa::InterfaceSkeleton;
use core::fmt;
use core::future::poll_fn;
use core::pin::pin;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use zorb_cdr::{Any, ByteOrder, DecodeError, Decoder, TypeCode};
use zorb_connection::Peer;
use zorb_giop::{
    CompletionStatus, Fault, RawBody, ResponseFlags, ServiceContextId, SystemException,
};
use zorb_poa::{ActiveObject, DecodeArguments, ObjectId, ServerRequest, Skeleton, Started, Upcall};

/// A servant that gets each operation by its name, and its arguments as anys or as octets. It serves interfaces that the
/// program was not compiled with.
///
/// A [`DynamicSkeleton`] puts it into a POA, as servant of an object, as default servant, or by a servant manager.
///
/// ```
/// use zorb::{
///     Any, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton, Orb, RequestError, TypeCode,
/// };
/// use zorb::blocking::Wait;
///
/// /// Adds two numbers, whatever the operation is called.
/// struct Adder;
///
/// impl DynamicServant for Adder {
///     async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
///         let arguments = request.arguments(&[TypeCode::of::<i32>(), TypeCode::of::<i32>()])?;
///         let numbers: Vec<i32> = arguments.iter().filter_map(|it| it.extract().ok()).collect();
///         let sum = Any::new(&numbers.iter().sum::<i32>()).map_err(zorb::SystemException::from)?;
///         Ok(DynamicReply::new(Some(sum), Vec::new()))
///     }
/// }
///
/// let orb = Orb::builder().listen("iiop://127.0.0.1:0").build_blocking()?;
/// let poa = orb.root_poa();
/// let adder = poa.activate(DynamicSkeleton::new("IDL:Adder:1.0", Adder))?;
/// poa.the_poa_manager().activate()?;
/// let sum = adder
///     .request("add")
///     .argument(Any::new(&2_i32)?)
///     .argument(Any::new(&3_i32)?)
///     .returns(TypeCode::of::<i32>());
/// assert_eq!(sum.invoke().wait()?.result.unwrap().extract::<i32>()?, 5);
/// # orb.shutdown(true)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: CORBA 3.3 Part 1, The Dynamic Skeleton Interface (`PortableServer::DynamicImplementation`).
#[doc(alias = "DynamicImplementation")]
#[doc(alias = "DSI")]
pub trait DynamicServant: Send + Sync + 'static {
    /// Carries out an operation. It is called as the methods of other servants are: in parallel, unless the POA says otherwise.
    ///
    /// # Errors
    /// The exception in the reply: a user exception as an any, or a system exception. A panic is UNKNOWN.
    fn invoke(
        &self,
        request: &DynamicRequest<'_>,
    ) -> impl Future<Output = Result<DynamicReply, RequestError>> + Send;

    /// The repository id of the most derived interface of the object with this id; `None` for that of the
    /// [skeleton](DynamicSkeleton::new). A servant of objects of several interfaces says so here.
    #[doc(alias = "_primary_interface")]
    fn primary_interface(&self, id: &ObjectId) -> Option<String> {
        let _ = id;
        None
    }

    /// Whether the object with this id implements the interface with this repository id, besides
    /// [its own](Self::primary_interface).
    fn is_a(&self, id: &ObjectId, repository_id: &str) -> bool {
        let _ = (id, repository_id);
        false
    }

    /// Whether [`invoke`](Self::invoke) also gets the operations that every object has: `_is_a`, `_non_existent`,
    /// `_repository_id`, `_interface`, `_component`. A gateway passes them on.
    fn answers_every_operation(&self) -> bool {
        false
    }
}

/// A request to a [`DynamicServant`].
///
/// Source: CORBA 3.3 Part 1, The Dynamic Skeleton Interface (`CORBA::ServerRequest`).
#[derive(Debug)]
pub struct DynamicRequest<'a> {
    request: &'a ServerRequest,
}

impl DynamicRequest<'_> {
    /// The name of the operation on the wire, such as `_get_owner` for an attribute. What is no UTF-8 is replaced.
    #[must_use]
    pub fn operation(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.request.operation())
    }

    /// Whether the client waits for the end of the operation. The results of one that nobody waits for are dropped.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.request.receipt().response == ResponseFlags::WithTarget
    }

    /// Decodes the arguments: those of `in` and `inout` parameters, in their order. Allocates for each.
    ///
    /// # Errors
    /// MARSHAL or DATA_CONVERSION, COMPLETED_NO, if the octets are not values of these types.
    pub fn arguments<'t>(
        &self,
        types: impl IntoIterator<Item = &'t TypeCode>,
    ) -> Result<Vec<Any>, SystemException> {
        self.request.arguments_by(Types::new(types))
    }

    /// Decodes the arguments of the operation, and its client's context if it has a `context` clause.
    ///
    /// # Errors
    /// Returns the errors of [`arguments`](Self::arguments).
    pub fn arguments_of(
        &self,
        signature: &Signature,
    ) -> Result<(Vec<Any>, Option<Context>), SystemException> {
        self.request.arguments_by(WithContext(signature))
    }

    /// The arguments as they lie in the message. Costs a reference count.
    ///
    /// # Errors
    /// INTERNAL if the request has no message, which a dynamic servant's always has.
    pub fn raw_arguments(&self) -> Result<RawBody, SystemException> {
        let raw = self.request.raw_arguments();
        raw.ok_or_else(|| {
            let missing = Fault::Internal("a request without a message".to_owned());
            missing.raise(CompletionStatus::No)
        })
    }

    /// The data of the first service context with this id. Parses the header again if there are contexts.
    #[must_use]
    pub fn service_context(&self, id: ServiceContextId) -> Option<&[u8]> {
        self.request.context(id)
    }

    /// The client; `None` for a collocated call.
    #[must_use]
    pub fn peer(&self) -> Option<Arc<Peer>> {
        self.request.peer()
    }

    /// The time after which the client has no use for the reply, if a client of this ORB has stated it.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.request.deadline()
    }
}

/// Decodes the arguments of an operation, and the context behind them.
struct WithContext<'s>(&'s Signature);

impl<'a> DecodeArguments<'a> for WithContext<'_> {
    type Arguments = (Vec<Any>, Option<Context>);

    fn decode<O: ByteOrder>(self, d: &mut Decoder<'a, O>) -> Result<Self::Arguments, DecodeError> {
        let arguments = Types::new(self.0.argument_types()).decode(d)?;
        let context = self.0.context.as_ref();
        Ok((arguments, context.map(|_| d.get()).transpose()?))
    }
}

/// The reply of a [`DynamicServant`]: the results of an operation, or a body that is passed on.
#[derive(Debug, Clone)]
pub struct DynamicReply(Reply);

#[derive(Debug, Clone)]
enum Reply {
    Values(Values),
    Raw(RawReply),
}

impl DynamicReply {
    /// The result of the operation, if it has one, and the values of `inout` and `out` parameters, in their order. They have to
    /// be of the operation's types: [`Signature::reply`] checks them.
    #[must_use]
    pub fn new(result: Option<Any>, outputs: Vec<Any>) -> Self {
        Self::of(Values(result.into_iter().chain(outputs).collect()))
    }

    /// A reply that another object has given. It has to be of the GIOP version and the code sets of this request.
    #[must_use]
    pub const fn raw(reply: RawReply) -> Self {
        Self(Reply::Raw(reply))
    }

    pub(super) const fn of(values: Values) -> Self {
        Self(Reply::Values(values))
    }
}

/// Passes on the results of another call.
impl From<super::Response> for DynamicReply {
    fn from(response: super::Response) -> Self {
        Self::new(response.result, response.outputs)
    }
}

impl From<RawReply> for DynamicReply {
    fn from(reply: RawReply) -> Self {
        Self::raw(reply)
    }
}

/// Serves objects with a [`DynamicServant`].
pub struct DynamicSkeleton<T> {
    repository_id: Arc<str>,
    servant: Arc<T>,
}

impl<T: DynamicServant> DynamicSkeleton<T> {
    /// A skeleton that owns its servant. `repository_id`: that of the most derived interface, which references state.
    pub fn new(repository_id: &str, servant: T) -> Self {
        Self::from_arc(repository_id, Arc::new(servant))
    }

    /// A skeleton that shares its servant with the other owners of the `Arc`.
    pub fn from_arc(repository_id: &str, servant: Arc<T>) -> Self {
        Self {
            repository_id: repository_id.into(),
            servant,
        }
    }
}

impl<T> Clone for DynamicSkeleton<T> {
    fn clone(&self) -> Self {
        Self {
            repository_id: Arc::clone(&self.repository_id),
            servant: Arc::clone(&self.servant),
        }
    }
}

impl<T> fmt::Debug for DynamicSkeleton<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicSkeleton")
            .field(&self.repository_id)
            .finish()
    }
}

impl<T: DynamicServant> InterfaceSkeleton for DynamicSkeleton<T> {
    type Ref = ObjectRef;
}

impl<T: DynamicServant> Skeleton for DynamicSkeleton<T> {
    fn repository_id(&self) -> &str {
        &self.repository_id
    }

    fn interface_of_current(&self) -> Cow<'_, str> {
        let id = ActiveObject::current(ActiveObject::id);
        let own = id.and_then(|id| self.servant.primary_interface(&id));
        own.map_or(Cow::Borrowed(&*self.repository_id), Cow::Owned)
    }

    fn is_a(&self, repository_id: &str) -> bool {
        let id = ActiveObject::current(ActiveObject::id);
        self.interface_of_current() == repository_id
            || id.is_some_and(|id| self.servant.is_a(&id, repository_id))
    }

    fn start(&self, request: ServerRequest) -> Started {
        let servant = Arc::clone(&self.servant);
        Upcall::start(|| serve(servant, request))
    }

    fn answers_every_operation(&self) -> bool {
        self.servant.answers_every_operation()
    }

    fn servant(&self) -> Option<Arc<dyn core::any::Any + Send + Sync>> {
        let servant = Arc::clone(&self.servant);
        Some(servant)
    }
}

async fn serve<T: DynamicServant>(servant: Arc<T>, mut request: ServerRequest) -> ServerRequest {
    let replied = {
        let dynamic = DynamicRequest { request: &request };
        let mut calling = pin!(servant.invoke(&dynamic));
        poll_fn(|cx| request.enter(|| calling.as_mut().poll(cx))).await
    };
    match replied {
        Ok(DynamicReply(Reply::Values(values))) => request.set_result(&values),
        Ok(DynamicReply(Reply::Raw(reply))) => {
            let is_exception = matches!(reply, RawReply::Exception(_));
            let outcome = request.receipt().raw_reply(reply.body(), is_exception);
            request.set_outcome(outcome);
        }
        Err(error) => request.set_exception(&error),
    }
    request
}
