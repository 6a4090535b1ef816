//! Calls at a priority: the context RTCorbaPriority, and the request that binds a connection to a band.

use super::Invocation;
use super::reply::Answer;
use crate::object::{Binding, BindingGuard, ObjectRef, Remote};
use crate::real_time::priority_context;
use core::sync::atomic::{AtomicBool, AtomicUsize};
use zorb_cdr::{EncodeError, Encoder, NativeEndian};
use zorb_connection::{CallError, ClientRequest, EncodeArguments};
use zorb_giop::{
    BIND_PRIORITY_BAND, CompletionStatus, Fault, PriorityBand, ReplySlot, ResponseFlags,
    SystemException, SystemExceptionKind,
};

impl ObjectRef {
    /// The binding for a call at the caller's current priority. Sets the priority context of the request, if the
    /// object's POA uses it. `Err` returns the binding if there is none for that priority yet. Allocates nothing in a
    /// steady state.
    ///
    /// # Errors
    /// DATA_CONVERSION of the priority mapping and UNKNOWN of the priority transform.
    pub(super) fn at_priority(
        &self,
        guard: BindingGuard,
        invocation: &mut Invocation<'_>,
    ) -> Result<Result<BindingGuard, BindingGuard>, SystemException> {
        let Some(binding) = guard.get() else {
            return Ok(Ok(guard));
        };
        let priority = self.priority_through(binding)?;
        let context = priority.map(priority_context).transpose();
        invocation.set_priority(context.map_err(not_encoded)?);
        Ok(self.prioritised(guard, priority))
    }

    /// Binds a new connection to a band of priorities at its server.
    ///
    /// # Errors
    /// INV_POLICY if the server refuses the band, and the failures of the request. A server that does not know the
    /// request is no error: TAO's connections belong to the lane of their endpoint.
    pub(crate) async fn bind_band(
        &self,
        binding: &Binding,
        remote: &Remote,
        band: PriorityBand,
    ) -> Result<Result<(), CallError>, SystemException> {
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
        if let Err(error) = remote.connection.call(&request, &mut reply).await {
            return Ok(Err(error));
        }
        if reply.is_final() {
            return Ok(Ok(()));
        }
        match self.read_reply(&reply, binding)? {
            Answer::Exception(exception) if exception.kind == SystemExceptionKind::InvPolicy => {
                Err(exception.received())
            }
            // A forward or another exception: the first request gets it again and handles it.
            _ => Ok(Ok(())),
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
