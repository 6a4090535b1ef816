//! Calls at a priority: the context RTCorbaPriority, and the request that binds a connection to a band.

use super::Invocation;
use super::reply::Answer;
use crate::object::{Binding, BindingGuard, ObjectRef, Remote};
use core::sync::atomic::{AtomicBool, AtomicUsize};
use zorb_cdr::{EncodeError, Encoder, NativeEndian};
use zorb_connection::{CallError, ClientRequest, EncodeArguments};
use zorb_giop::{
    BIND_PRIORITY_BAND, CompletionStatus, Fault, PriorityBand, ReplySlot, ResponseFlags,
    ServiceContextId, SystemException, SystemExceptionKind, priority_context,
};

impl ObjectRef {
    /// The binding for a call at the priority that the caller has now, which the request states, if the object's POA wants
    /// it.
    pub(super) async fn at_priority(
        &self,
        guard: BindingGuard,
        invocation: &mut Invocation<'_>,
    ) -> Result<BindingGuard, SystemException> {
        let (guard, priority) = self.prioritised(guard).await?;
        let context = priority.map(priority_context).transpose();
        let context = context.map_err(not_encoded)?;
        if context.is_some() || invocation.contexts.is_some() {
            let contexts = invocation.contexts.get_or_insert_default();
            let is_other = |id| id != ServiceContextId::RT_CORBA_PRIORITY;
            contexts.request.retain(|context| is_other(context.id));
            contexts.request.extend(context.clone());
            contexts.priority = context;
        }
        Ok(guard)
    }

    /// Binds a new connection to a band of priorities at its server.
    ///
    /// # Errors
    /// INV_POLICY if the server refuses it, and whatever the request fails with. A server that does not know the request needs
    /// none: TAO's connections belong to the lane whose endpoint they lead to.
    pub(crate) async fn bind_band(
        &self,
        binding: &Binding,
        remote: &Remote,
        band: PriorityBand,
    ) -> Result<(), SystemException> {
        let contexts = [band.to_context().map_err(not_encoded)?];
        let (sent, octets) = (AtomicBool::new(false), AtomicUsize::new(0));
        let request = ClientRequest {
            template: &remote.requests,
            operation: BIND_PRIORITY_BAND,
            arguments: &NoArguments,
            contexts: &contexts,
            response: ResponseFlags::WithTarget,
            wait: self.wait_policy(),
            sent: &sent,
            octets: &octets,
        };
        let mut reply = ReplySlot::new();
        let called = remote.connection.call(&request, &mut reply).await;
        called.map_err(CallError::raise)?;
        if reply.is_final() {
            return Ok(());
        }
        match self.read_reply(&reply, binding)? {
            Answer::Exception(exception) if exception.kind == SystemExceptionKind::InvPolicy => {
                Err(exception.received())
            }
            // The first request learns that the object is somewhere else, or why it cannot be called.
            _ => Ok(()),
        }
    }
}

fn not_encoded(error: EncodeError) -> SystemException {
    Fault::Encode(error).raise(CompletionStatus::No)
}

struct NoArguments;

impl EncodeArguments for NoArguments {
    fn encode(&self, _: &mut Encoder<NativeEndian>) -> Result<(), EncodeError> {
        Ok(())
    }
}
