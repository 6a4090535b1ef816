//! A call, as its server's interceptors see it.

use super::body::Body;
use super::client_info::no_context;
use super::ior::Established;
use super::point::ReplyStatus;
use super::scope::Nested;
use super::slots::{self, InvalidSlot, SlotId, Slots};
use super::validity::{self, InterceptionPoint};
use crate::object::ObjectRef;
use crate::orb::{Orb, OrbInner};
use crate::policy::{OtherPolicy, PolicyType, SyncScope};
use core::any::Any;
use core::fmt;
use std::sync::Arc;
use zorb_cdr::{Decode, Frame, Gather};
use zorb_connection::Peer;
use zorb_giop::{
    CompletionStatus, Fault, Message, MessageHeader, OperationError, ReplySlot, ResponseFlags,
    ServiceContext, ServiceContextId, SystemException,
};
use zorb_poa::{
    ActiveObject, Adapter, Missing, ObjectId, Outcome, Policies, ServerRequest, declared_name,
};

/// The state of a request between its interception points.
#[derive(Debug, Default)]
pub(crate) struct ServerFlow {
    /// The number of interceptors whose first starting point has succeeded, and that have had no ending point.
    pub(crate) started: usize,
    /// Whether all starting points have succeeded.
    pub(crate) has_passed: bool,
    pub(crate) request_id: u32,
    pub(crate) nested: Nested,
    pub(crate) slots: Slots,
    /// The name of an operation without a number, such as a dynamic servant's: a panic takes the request along.
    pub(crate) operation: Option<Box<str>>,
}

/// How a request has ended.
#[derive(Debug)]
pub(crate) enum ServerEnd {
    Reply,
    /// With an exception of the servant or of the ORB, in the reply; or of an interceptor.
    Exception(Option<SystemException>),
    /// With a forward: in the reply, or of an interceptor.
    Forward(Option<ObjectRef>),
    /// A one-way request.
    OneWay,
}

impl ServerEnd {
    /// The point that is called for it.
    pub(crate) const fn point(&self) -> InterceptionPoint {
        match self {
            Self::Reply => InterceptionPoint::SendReply,
            Self::Exception(_) => InterceptionPoint::SendException,
            Self::Forward(_) | Self::OneWay => InterceptionPoint::SendOther,
        }
    }
}

/// A call, as a [server interceptor](super::ServerRequestInterceptor) sees it.
///
/// An attribute that the [point](Self::point) does not have is BAD_INV_ORDER, minor code 14
/// ([`minor::WRONG_INTERCEPTION_POINT`](crate::minor::WRONG_INTERCEPTION_POINT)); one that the ORB does not know for the request is
/// NO_RESOURCES, minor code 1.
///
/// The lists of the dynamic skeleton interface (`exceptions`, `contexts`, `operation_context`) are not offered.
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`PortableInterceptor::ServerRequestInfo`).
pub struct ServerRequestInfo<'a> {
    pub(crate) point: InterceptionPoint,
    pub(crate) orb: &'a Arc<OrbInner>,
    pub(crate) object: &'a ActiveObject,
    pub(crate) request: &'a mut ServerRequest,
    pub(crate) number: Option<u32>,
    pub(crate) flow: &'a mut ServerFlow,
    pub(crate) end: Option<&'a ServerEnd>,
}

impl ServerRequestInfo<'_> {
    /// The point that is being called.
    #[must_use]
    pub const fn point(&self) -> InterceptionPoint {
        self.point
    }

    /// A number that no other request of this ORB in progress has. It is not the id that the request has on its connection.
    #[must_use]
    pub const fn request_id(&self) -> u32 {
        self.flow.request_id
    }

    /// The operation, by its name on the wire: an attribute's is `_get_balance` or `_set_balance`. Empty for a name that is not
    /// UTF-8, which no operation has.
    #[must_use]
    pub fn operation(&self) -> &str {
        let name = declared_name(self.request.operation());
        let name = core::str::from_utf8(name).unwrap_or_default();
        match self.number {
            Some(number) if name.is_empty() => {
                self.object.operation_name(number).unwrap_or_default()
            }
            None if name.is_empty() => self.flow.operation.as_deref().unwrap_or_default(),
            _ => name,
        }
    }

    /// Whether the client waits for a reply.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.request.receipt().response != ResponseFlags::None
    }

    /// The point that the client waits for: [`SyncScope::WithTransport`] if it does not wait for this server.
    ///
    /// # Errors
    /// None: every point has it.
    pub fn sync_scope(&self) -> Result<SyncScope, SystemException> {
        validity::SYNC_SCOPE.at(self.point)?;
        Ok(match self.request.receipt().response {
            ResponseFlags::None => SyncScope::WithTransport,
            ResponseFlags::WithServer => SyncScope::WithServer,
            ResponseFlags::WithTarget => SyncScope::WithTarget,
        })
    }

    /// The client of the request: its address, its transport, and who it is as far as the transport knows. `None` for a
    /// collocated call.
    #[must_use]
    pub fn peer(&self) -> Option<Arc<Peer>> {
        self.request.peer()
    }

    /// The arguments, decoded as a tuple of the types of the operation's `in` and `inout` parameters: `(i32,)` for one `long`.
    /// Costs a decoding beside the servant's.
    ///
    /// # Errors
    /// NO_RESOURCES for a collocated call whose arguments are not marshalled; BAD_INV_ORDER in other points than `receive_request`
    /// and `send_reply`; MARSHAL for other types.
    pub fn arguments<A: for<'de> Decode<'de>>(&self) -> Result<A, SystemException> {
        validity::ARGUMENTS.at(self.point)?;
        match self.request.octets() {
            _ if self.passes_memory() => Err(validity::ARGUMENTS.is_unknown()),
            0 => Err(validity::ARGUMENTS.is_unknown()),
            _ => self.request.arguments(),
        }
    }

    /// The results, decoded as a tuple of the types of the operation's result and of its `inout` and `out` parameters. Costs
    /// a copy of the reply.
    ///
    /// # Errors
    /// NO_RESOURCES for a collocated call whose results are not marshalled; BAD_INV_ORDER in other points than `send_reply`;
    /// MARSHAL for other types.
    #[doc(alias = "result")]
    pub fn results<R: for<'de> Decode<'de>>(&self) -> Result<R, SystemException> {
        validity::RESULTS.at(self.point)?;
        let reply = self.reply().filter(|_| !self.passes_memory());
        let reply = reply.ok_or_else(|| validity::RESULTS.is_unknown())?;
        self.body(&reply).results()
    }

    /// Whether arguments and results lie in the messages as in memory.
    fn passes_memory(&self) -> bool {
        let name = self.request.operation();
        declared_name(name).len() != name.len()
    }

    /// A copy of the reply; `None` if there is none.
    fn reply(&self) -> Option<ReplySlot> {
        match self.request.outcome()? {
            Outcome::Reply(reply) => slot_of(reply),
            Outcome::Silent => None,
        }
    }

    fn body<'b>(&'b self, reply: &'b ReplySlot) -> Body<'b> {
        Body {
            reply,
            format: self.request.receipt().format,
            orb: self.orb,
        }
    }

    /// How the request has ended.
    ///
    /// # Errors
    /// BAD_INV_ORDER in the starting points.
    pub fn reply_status(&self) -> Result<ReplyStatus, SystemException> {
        validity::REPLY_STATUS.at(self.point)?;
        Ok(match self.end {
            None => ReplyStatus::Unknown,
            Some(ServerEnd::Reply | ServerEnd::OneWay) => ReplyStatus::Successful,
            Some(ServerEnd::Forward(_)) => ReplyStatus::LocationForward,
            Some(ServerEnd::Exception(Some(_))) => ReplyStatus::SystemException,
            Some(ServerEnd::Exception(None)) => match self.request.outcome() {
                Some(Outcome::Reply(reply))
                    if zorb_giop::ReplyStatus::of(reply)
                        .is_ok_and(|status| status == zorb_giop::ReplyStatus::UserException) =>
                {
                    ReplyStatus::UserException
                }
                _ => ReplyStatus::SystemException,
            },
        })
    }

    /// The reference that the client is forwarded to. Allocates it.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the status is not [`LocationForward`](ReplyStatus::LocationForward).
    pub fn forward_reference(&self) -> Result<ObjectRef, SystemException> {
        validity::FORWARD.at(self.point)?;
        match self.end {
            Some(ServerEnd::Forward(Some(object))) => Ok(object.clone()),
            Some(ServerEnd::Forward(None)) => {
                let reply = self.reply().ok_or_else(|| validity::FORWARD.is_unknown())?;
                let ior = self.body(&reply).forward()?;
                Ok(ObjectRef::new(self.handle()?, ior))
            }
            _ => {
                Err(Fault::WrongInterceptionPoint("forward_reference").raise(CompletionStatus::No))
            }
        }
    }

    fn handle(&self) -> Result<Orb, SystemException> {
        let orb = self.orb.handle();
        orb.ok_or_else(|| Fault::OrbShutDown.raise(CompletionStatus::No))
    }

    /// The repository id of the exception with which the request ends.
    ///
    /// # Errors
    /// BAD_INV_ORDER in other points than `send_exception`.
    pub fn sending_exception_id(&self) -> Result<String, SystemException> {
        validity::SENDING_EXCEPTION.at(self.point)?;
        match self.end {
            Some(ServerEnd::Exception(Some(exception))) => {
                Ok(exception.kind.repository_id().to_owned())
            }
            _ => {
                let reply = self.reply();
                let reply = reply.ok_or_else(|| validity::SENDING_EXCEPTION.is_unknown())?;
                self.body(&reply).exception_id()
            }
        }
    }

    /// The exception with which the request ends, as the error type of the operation, which has its user exceptions.
    /// [`SystemException`] has none: then a user exception is UNKNOWN.
    ///
    /// # Errors
    /// UNKNOWN for a user exception that `E` does not have; BAD_INV_ORDER in other points than `send_exception`.
    pub fn sending_exception<E: OperationError>(&self) -> Result<E, SystemException> {
        validity::SENDING_EXCEPTION.at(self.point)?;
        if let Some(ServerEnd::Exception(Some(exception))) = self.end {
            return Ok(exception.clone().into());
        }
        let reply = self.reply();
        let reply = reply.ok_or_else(|| validity::SENDING_EXCEPTION.is_unknown())?;
        match reply.status() {
            zorb_giop::ReplyStatus::UserException => self.body(&reply).user_exception(),
            _ => Ok(self.body(&reply).system_exception()?.into()),
        }
    }

    /// The request's first service context with this id. Copies it.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 26, if there is none.
    #[doc(alias = "get_request_service_context")]
    pub fn request_service_context(
        &self,
        id: ServiceContextId,
    ) -> Result<ServiceContext, SystemException> {
        validity::REQUEST_CONTEXT.at(self.point)?;
        let data = self.request.context(id).ok_or_else(|| no_context(id))?;
        let data = data.to_vec().into();
        Ok(ServiceContext { id, data })
    }

    /// The service context with this id that interceptors and the servant have added to the reply.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 26, if there is none; BAD_INV_ORDER in the starting points.
    #[doc(alias = "get_reply_service_context")]
    pub fn reply_service_context(
        &self,
        id: ServiceContextId,
    ) -> Result<ServiceContext, SystemException> {
        validity::REPLY_CONTEXT.at(self.point)?;
        let data = self.request.added_reply_context(id);
        let data = data.ok_or_else(|| no_context(id))?;
        Ok(ServiceContext { id, data })
    }

    /// Adds a service context to the reply, whatever its status will be, or replaces the one with its id. A request without a
    /// reply drops it, and so does a servant that panics. Allocates, and costs a copy of the reply.
    ///
    /// # Errors
    /// BAD_INV_ORDER, minor code 15, if there is one with its id and `replace` is false; IMP_LIMIT for more than 64 contexts, or
    /// more than a MiB of their data.
    pub fn add_reply_service_context(
        &mut self,
        context: ServiceContext,
        replace: bool,
    ) -> Result<(), SystemException> {
        self.request.add_reply_context(context, replace)
    }

    /// The value in a slot of the request, whose slots begin empty.
    ///
    /// # Errors
    /// [`InvalidSlot`] for a slot of another ORB.
    #[doc(alias = "get_slot")]
    pub fn slot<T: Any + Send + Sync>(&self, slot: SlotId) -> Result<Option<Arc<T>>, InvalidSlot> {
        self.orb.check_slot(slot)?;
        Ok(slots::downcast(self.flow.slots.get(slot)))
    }

    /// Sets the value in a slot of the request: for the servant, as [`PiCurrent::get_slot`](super::PiCurrent::get_slot), if
    /// that has not been called yet, for the servant's own calls, and for the points that follow. Allocates.
    ///
    /// # Errors
    /// [`InvalidSlot`] for a slot of another ORB.
    pub fn set_slot<T: Any + Send + Sync>(
        &mut self,
        slot: SlotId,
        value: T,
    ) -> Result<(), InvalidSlot> {
        self.orb.check_slot(slot)?;
        self.flow.slots.set(slot, Some(Arc::new(value)));
        Ok(())
    }

    /// The id of the object within its POA. Allocates.
    ///
    /// # Errors
    /// BAD_INV_ORDER in `receive_request_service_contexts`.
    pub fn object_id(&self) -> Result<ObjectId, SystemException> {
        validity::OBJECT.at(self.point)?;
        Ok(self.object.id())
    }

    /// The names of the POAs from the root's child to the object's; empty for the root POA.
    ///
    /// # Errors
    /// BAD_INV_ORDER in `receive_request_service_contexts`; OBJECT_NOT_EXIST if the POA has been destroyed.
    pub fn adapter_name(&self) -> Result<Vec<String>, SystemException> {
        validity::ADAPTER.at(self.point)?;
        let adapter = self
            .object
            .adapter()
            .ok_or_else(|| Missing::Adapter.raise())?;
        Ok(adapter.path().to_vec())
    }

    /// Octets that identify the POA within its server: its names, each ended by a NUL.
    ///
    /// # Errors
    /// Those of [`adapter_name`](Self::adapter_name).
    pub fn adapter_id(&self) -> Result<Vec<u8>, SystemException> {
        let names = self.adapter_name()?.into_iter();
        Ok(names
            .flat_map(|name| [name.into_bytes(), vec![0]].concat())
            .collect())
    }

    /// The server's name, set by [`Builder::server_id`](crate::Builder::server_id).
    ///
    /// # Errors
    /// BAD_INV_ORDER in `receive_request_service_contexts`.
    pub fn server_id(&self) -> Result<&str, SystemException> {
        validity::ADAPTER.at(self.point)?;
        Ok(self.orb.adapters().server_id())
    }

    /// The name of the ORB, set by [`Builder::id`](crate::Builder::id).
    ///
    /// # Errors
    /// BAD_INV_ORDER in `receive_request_service_contexts`.
    pub fn orb_id(&self) -> Result<&str, SystemException> {
        validity::ADAPTER.at(self.point)?;
        Ok(&self.orb.settings().id)
    }

    /// The repository id of the servant's most derived interface; empty while a servant manager has to find the servant.
    ///
    /// # Errors
    /// BAD_INV_ORDER in other points than `receive_request`.
    pub fn target_most_derived_interface(&self) -> Result<&str, SystemException> {
        validity::INTERFACE.at(self.point)?;
        Ok(self.object.type_id())
    }

    /// Whether the servant implements the interface with this repository id.
    ///
    /// # Errors
    /// BAD_INV_ORDER in other points than `receive_request`; NO_RESOURCES while a servant manager has to find the servant.
    pub fn target_is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        validity::INTERFACE.at(self.point)?;
        let skeleton = self.object.skeleton();
        let skeleton = skeleton.ok_or_else(|| validity::INTERFACE.is_unknown())?;
        Ok(repository_id == zorb_giop::ior::OBJECT_REPOSITORY_ID || skeleton.is_a(repository_id))
    }

    /// The policies of the object's POA.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the POA has been destroyed.
    pub fn server_policies(&self) -> Result<Policies, SystemException> {
        Ok(self.adapter()?.policies())
    }

    /// The policy of this type, one of the application's, with which the object's POA was created: see
    /// [`Poa::create_poa_of_policies`](crate::Poa::create_poa_of_policies).
    ///
    /// # Errors
    /// INV_POLICY, minor code 2, if the POA has none of this type; OBJECT_NOT_EXIST if it has been destroyed.
    #[doc(alias = "get_server_policy")]
    pub fn server_policy(&self, policy_type: PolicyType) -> Result<OtherPolicy, SystemException> {
        let adapter = self.adapter()?;
        let policy = adapter
            .attached::<Established>()
            .and_then(|established| established.policy(policy_type));
        let unknown = || Fault::UnknownPolicyType(policy_type.to_string());
        policy
            .cloned()
            .ok_or_else(|| unknown().raise(CompletionStatus::No))
    }

    fn adapter(&self) -> Result<Arc<Adapter>, SystemException> {
        self.object
            .adapter()
            .ok_or_else(|| Missing::Adapter.raise())
    }
}

/// A copy of an encoded reply, to be read.
fn slot_of(reply: &Gather) -> Option<ReplySlot> {
    let octets: Vec<u8> = reply.chunks().flatten().copied().collect();
    let header = MessageHeader::parse(octets.first_chunk()?).ok()?;
    let frame = Frame::new(octets.into());
    let mut slot = ReplySlot::new();
    slot.set_local(Message { header, frame }).ok()?;
    Some(slot)
}

impl fmt::Debug for ServerRequestInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequestInfo")
            .field("point", &self.point)
            .field("request_id", &self.request_id())
            .field("operation", &self.operation())
            .finish_non_exhaustive()
    }
}
