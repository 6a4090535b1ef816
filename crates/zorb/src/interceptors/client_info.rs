//! A call, as its client's interceptors see it.

use super::body::Body;
use super::point::ReplyStatus;
use super::scope::Nested;
use super::slots::{self, InvalidSlot, SlotId, Slots};
use super::validity::{self, InterceptionPoint};
use crate::invoke::in_memory;
use crate::object::{Binding, ObjectRef};
use crate::orb::Orb;
use crate::policy::{Policy, PolicyType, SyncScope};
use core::any::Any;
use core::fmt;
use std::sync::Arc;
use zorb_cdr::{Decode, Decoder, Encoder, NativeEndian};
use zorb_connection::EncodeArguments;
use zorb_giop::ior::{ComponentTag, TaggedComponent, TaggedProfile};
use zorb_giop::{
    CompletionStatus, Fault, Ior, OperationError, ReplySlot, ResponseFlags, ServiceContext,
    ServiceContextId, SystemException,
};

/// The state of a call between its interception points.
#[derive(Debug, Default)]
pub(crate) struct ClientFlow {
    /// The number of interceptors whose starting point has succeeded, and that have had no ending point.
    pub(crate) started: usize,
    /// Whether an attempt has begun, and has not ended.
    pub(crate) is_open: bool,
    pub(crate) request_id: u32,
    pub(crate) nested: Nested,
    /// The copy of the slots of the caller.
    pub(crate) slots: Slots,
}

/// How an attempt of a call has ended.
#[derive(Debug)]
pub(crate) enum ClientEnd {
    /// With a reply in the slot, or with values.
    Reply {
        typed: bool,
    },
    /// With a user exception in the reply slot.
    UserException,
    SystemException(SystemException),
    /// With a forward.
    Forward(Ior),
    /// It is sent again.
    Retry,
    /// A one-way call that has no reply.
    OneWay,
}

impl ClientEnd {
    /// The point that is called for it.
    pub(crate) const fn point(&self) -> InterceptionPoint {
        match self {
            Self::Reply { .. } => InterceptionPoint::ReceiveReply,
            Self::UserException | Self::SystemException(_) => InterceptionPoint::ReceiveException,
            Self::Forward(_) | Self::Retry | Self::OneWay => InterceptionPoint::ReceiveOther,
        }
    }

    const fn status(&self) -> ReplyStatus {
        match self {
            Self::Reply { .. } | Self::OneWay => ReplyStatus::Successful,
            Self::UserException => ReplyStatus::UserException,
            Self::SystemException(_) => ReplyStatus::SystemException,
            Self::Forward(_) => ReplyStatus::LocationForward,
            Self::Retry => ReplyStatus::TransportRetry,
        }
    }
}

/// What interceptors see and change of a call in progress.
pub(crate) trait CallInProgress: Send {
    fn operation(&self) -> &str;
    fn arguments(&self) -> &dyn EncodeArguments;
    fn response(&self) -> ResponseFlags;
    fn is_batched(&self) -> bool;
    fn flow(&self) -> &ClientFlow;
    fn request_contexts(&self) -> &[ServiceContext];
    /// The contexts of the reply of a collocated call whose results are values.
    fn values_contexts(&self) -> &[ServiceContext];
    fn add_request_context(&mut self, context: ServiceContext);
    fn remove_request_context(&mut self, id: ServiceContextId);
}

/// A call, as a [client interceptor](super::ClientRequestInterceptor) sees it.
///
/// An attribute that the [point](Self::point) does not have is BAD_INV_ORDER, minor code 14
/// ([`minor::WRONG_INTERCEPTION_POINT`](crate::minor::WRONG_INTERCEPTION_POINT)); one that the ORB does not know for the call is
/// NO_RESOURCES, minor code 1.
///
/// The lists of the dynamic invocation interface (`exceptions`, `contexts`, `operation_context`) are not offered: the values of an
/// operation's `context` clause are among its arguments.
///
/// Source: CORBA 3.3 Part 1, Portable Interceptors (`PortableInterceptor::ClientRequestInfo`).
#[doc(alias = "RequestInfo")]
pub struct ClientRequestInfo<'a> {
    pub(crate) point: InterceptionPoint,
    pub(crate) target: &'a ObjectRef,
    pub(crate) call: &'a mut dyn CallInProgress,
    /// `None` while the object cannot be reached.
    pub(crate) binding: Option<&'a Binding>,
    pub(crate) reply: &'a ReplySlot,
    pub(crate) end: Option<&'a ClientEnd>,
}

impl ClientRequestInfo<'_> {
    /// The point that is being called.
    #[must_use]
    pub const fn point(&self) -> InterceptionPoint {
        self.point
    }

    /// The ORB that makes the call.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        self.target.orb()
    }

    /// A number that no other call of this ORB in progress has. It is not the id that the request has on its connection.
    #[must_use]
    pub fn request_id(&self) -> u32 {
        self.call.flow().request_id
    }

    /// The operation, by its name on the wire: an attribute's is `_get_balance` or `_set_balance`.
    #[must_use]
    pub fn operation(&self) -> &str {
        in_memory::declared(self.call.operation())
    }

    /// Whether arguments and results lie in the messages as in memory.
    fn passes_memory(&self) -> bool {
        self.operation().len() != self.call.operation().len()
    }

    /// Whether the caller waits for a reply.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.call.response() != ResponseFlags::None
    }

    /// The point that the call waits for; [`SyncScope::WithTarget`] for one that is not one-way.
    ///
    /// # Errors
    /// BAD_INV_ORDER in `send_poll`.
    pub fn sync_scope(&self) -> Result<SyncScope, SystemException> {
        validity::SYNC_SCOPE.at(self.point)?;
        Ok(match self.call.response() {
            ResponseFlags::None if self.call.is_batched() => SyncScope::None,
            ResponseFlags::None => SyncScope::WithTransport,
            ResponseFlags::WithServer => SyncScope::WithServer,
            ResponseFlags::WithTarget => SyncScope::WithTarget,
        })
    }

    /// The reference that is called.
    #[must_use]
    pub const fn target(&self) -> &ObjectRef {
        self.target
    }

    /// The reference that the request goes to: the target, or that of a forward. Allocates it.
    #[must_use]
    pub fn effective_target(&self) -> ObjectRef {
        match self.binding {
            Some(binding) if binding.forwarded => self.target.forwarded_to(binding.reference()),
            _ => self.target.clone(),
        }
    }

    /// The profile that the request goes by; of an object that cannot be reached, the first of the reference. `None` for a
    /// reference without profiles.
    #[must_use]
    pub fn effective_profile(&self) -> Option<&TaggedProfile> {
        match self.binding {
            Some(binding) => binding.effective_profile(),
            None => self.target.ior().profiles.first(),
        }
    }

    /// The first component of the effective profile with this tag. Reads the profile, and copies the component.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 28, if there is none; BAD_INV_ORDER in `send_poll`.
    #[doc(alias = "get_effective_component")]
    pub fn effective_component(
        &self,
        tag: ComponentTag,
    ) -> Result<TaggedComponent, SystemException> {
        let found = self.components_of(tag)?.into_iter().next();
        found.ok_or_else(|| Fault::NoComponent(tag.0).raise(CompletionStatus::No))
    }

    /// All components of the effective profile with this tag. Reads the profile, and copies the components.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 28, if there is none; BAD_INV_ORDER in `send_poll`.
    #[doc(alias = "get_effective_components")]
    pub fn effective_components(
        &self,
        tag: ComponentTag,
    ) -> Result<Vec<TaggedComponent>, SystemException> {
        let found = self.components_of(tag)?;
        match found.is_empty() {
            true => Err(Fault::NoComponent(tag.0).raise(CompletionStatus::No)),
            false => Ok(found),
        }
    }

    fn components_of(&self, tag: ComponentTag) -> Result<Vec<TaggedComponent>, SystemException> {
        validity::EFFECTIVE_COMPONENT.at(self.point)?;
        let profile = self.effective_profile();
        let all = profile.map(|profile| self.target.components_of(profile));
        let all = all.unwrap_or_default().into_iter();
        Ok(all.filter(|component| component.tag == tag).collect())
    }

    /// The policy of this type that the call has.
    ///
    /// # Errors
    /// INV_POLICY, minor code 2, if no level sets it; BAD_INV_ORDER in `send_poll`.
    #[doc(alias = "get_request_policy")]
    pub fn request_policy(&self, policy_type: PolicyType) -> Result<Policy, SystemException> {
        validity::REQUEST_POLICY.at(self.point)?;
        let unknown = || Fault::UnknownPolicyType(policy_type.to_string());
        let found = self.target.policy(policy_type);
        found.ok_or_else(|| unknown().raise(CompletionStatus::No))
    }

    /// The value in a slot of the call: a copy of the slots of the code that makes it, taken when the call began.
    ///
    /// # Errors
    /// [`InvalidSlot`] for a slot of another ORB.
    #[doc(alias = "get_slot")]
    pub fn slot<T: Any + Send + Sync>(&self, slot: SlotId) -> Result<Option<Arc<T>>, InvalidSlot> {
        self.orb().inner().check_slot(slot)?;
        Ok(slots::downcast(self.call.flow().slots.get(slot)))
    }

    /// The arguments, decoded as a tuple of the types of the operation's `in` and `inout` parameters: `(i32,)` for one `long`.
    /// Costs an encoding beside that of the request.
    ///
    /// # Errors
    /// BAD_INV_ORDER in other points than `send_request` and `receive_reply`; MARSHAL for other types.
    pub fn arguments<A: for<'de> Decode<'de>>(&self) -> Result<A, SystemException> {
        validity::ARGUMENTS.at(self.point)?;
        if self.passes_memory() {
            return Err(validity::ARGUMENTS.is_unknown());
        }
        let raise = |fault: Fault| fault.raise(CompletionStatus::No);
        let format = self.binding.map(Binding::format).unwrap_or_default();
        let mut e = Encoder::<NativeEndian>::new(format);
        let encoded = self.call.arguments().encode(&mut e);
        encoded.map_err(|error| raise(Fault::Encode(error)))?;
        let octets = e.finish().to_vec();
        let context = self.target.reply_context(None);
        let mut d = Decoder::<NativeEndian>::from_slice(&octets, format).with_context(&context);
        d.get().map_err(|error| raise(Fault::Decode(error)))
    }

    fn body(&self) -> Body<'_> {
        Body {
            reply: self.reply,
            format: self.binding.map(Binding::format).unwrap_or_default(),
            orb: self.orb().inner(),
        }
    }

    /// The results, decoded as a tuple of the types of the operation's result and of its `inout` and `out` parameters.
    ///
    /// # Errors
    /// NO_RESOURCES for a collocated call, whose results are not marshalled; BAD_INV_ORDER in other points than `receive_reply`;
    /// MARSHAL for other types.
    #[doc(alias = "result")]
    pub fn results<R: for<'de> Decode<'de>>(&self) -> Result<R, SystemException> {
        validity::RESULTS.at(self.point)?;
        match self.end {
            Some(ClientEnd::Reply { typed: false }) if !self.passes_memory() => {}
            _ => return Err(validity::RESULTS.is_unknown()),
        }
        self.body().results()
    }

    /// How the attempt has ended.
    ///
    /// # Errors
    /// BAD_INV_ORDER in the starting points.
    pub fn reply_status(&self) -> Result<ReplyStatus, SystemException> {
        validity::REPLY_STATUS.at(self.point)?;
        Ok(self.end.map_or(ReplyStatus::Unknown, ClientEnd::status))
    }

    /// The reference that the call is forwarded to. Allocates it.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the status is not [`LocationForward`](ReplyStatus::LocationForward).
    pub fn forward_reference(&self) -> Result<ObjectRef, SystemException> {
        validity::FORWARD.at(self.point)?;
        match self.end {
            Some(ClientEnd::Forward(ior)) => Ok(self.target.forwarded_to(ior)),
            _ => {
                Err(Fault::WrongInterceptionPoint("forward_reference").raise(CompletionStatus::No))
            }
        }
    }

    /// The repository id of the exception with which the call ends.
    ///
    /// # Errors
    /// BAD_INV_ORDER in other points than `receive_exception`.
    pub fn received_exception_id(&self) -> Result<String, SystemException> {
        validity::RECEIVED_EXCEPTION.at(self.point)?;
        match self.end {
            Some(ClientEnd::SystemException(exception)) => {
                Ok(exception.kind.repository_id().to_owned())
            }
            _ => self.body().exception_id(),
        }
    }

    /// The system exception with which the call ends; `None` for a user exception.
    ///
    /// # Errors
    /// BAD_INV_ORDER in other points than `receive_exception`.
    pub fn received_system_exception(&self) -> Result<Option<&SystemException>, SystemException> {
        validity::RECEIVED_EXCEPTION.at(self.point)?;
        Ok(match self.end {
            Some(ClientEnd::SystemException(exception)) => Some(exception),
            _ => None,
        })
    }

    /// The exception with which the call ends, as the error type of the operation, which has its user exceptions.
    ///
    /// # Errors
    /// UNKNOWN for a user exception that `E` does not have; BAD_INV_ORDER in other points than `receive_exception`; MARSHAL for
    /// a malformed exception.
    pub fn received_exception<E: OperationError>(&self) -> Result<E, SystemException> {
        if let Some(exception) = self.received_system_exception()? {
            return Ok(exception.clone().into());
        }
        self.body().user_exception()
    }

    /// The request's first service context with this id: what the ORB and interceptors before have added.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 26, if there is none; BAD_INV_ORDER in `send_poll`.
    #[doc(alias = "get_request_service_context")]
    pub fn request_service_context(
        &self,
        id: ServiceContextId,
    ) -> Result<ServiceContext, SystemException> {
        validity::REQUEST_CONTEXT.at(self.point)?;
        let mut all = self.call.request_contexts().iter();
        let found = all.find(|context| context.id == id);
        found.cloned().ok_or_else(|| no_context(id))
    }

    /// The reply's first service context with this id.
    ///
    /// # Errors
    /// BAD_PARAM, minor code 26, if there is none; BAD_INV_ORDER in the starting points.
    #[doc(alias = "get_reply_service_context")]
    pub fn reply_service_context(
        &self,
        id: ServiceContextId,
    ) -> Result<ServiceContext, SystemException> {
        validity::REPLY_CONTEXT.at(self.point)?;
        let own = self.call.values_contexts();
        if let Some(found) = own.iter().find(|context| context.id == id) {
            return Ok(found.clone());
        }
        let mut all = self.reply.contexts().into_iter();
        let found = all.find(|context| context.id == id);
        found.ok_or_else(|| no_context(id))
    }

    /// Adds a service context to the request, or replaces those with its id. Allocates.
    ///
    /// # Errors
    /// BAD_INV_ORDER, minor code 15, if there is one with its id and `replace` is false; minor code 14 in other points than
    /// `send_request`.
    pub fn add_request_service_context(
        &mut self,
        context: ServiceContext,
        replace: bool,
    ) -> Result<(), SystemException> {
        validity::ADD_REQUEST_CONTEXT.at(self.point)?;
        let mut all = self.call.request_contexts().iter();
        if all.any(|present| present.id == context.id) {
            if !replace {
                return Err(context_present(context.id));
            }
            self.call.remove_request_context(context.id);
        }
        self.call.add_request_context(context);
        Ok(())
    }
}

#[cold]
pub(super) fn no_context(id: ServiceContextId) -> SystemException {
    Fault::NoServiceContext(id.0).raise(CompletionStatus::No)
}

#[cold]
fn context_present(id: ServiceContextId) -> SystemException {
    Fault::ContextPresent(id).raise(CompletionStatus::No)
}

impl fmt::Debug for ClientRequestInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRequestInfo")
            .field("point", &self.point)
            .field("request_id", &self.request_id())
            .field("operation", &self.operation())
            .finish_non_exhaustive()
    }
}
