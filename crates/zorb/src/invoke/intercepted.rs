//! The interception points of a call: `send_request` for each attempt, and one ending point for each that has begun.

use super::retry::Retries;
use super::{Invocation, Outcome};
use crate::interceptors::{
    CallInProgress, ClientEnd, ClientFlow, ClientRequestInfo, InterceptionPoint, Interceptors,
    Interrupt, MAX_NESTED, Nested, at_point, current_slots,
};
use crate::object::{Binding, BindingGuard, ObjectRef};
use core::sync::atomic::Ordering;
use zorb_connection::{CallError, EncodeArguments};
use zorb_giop::{
    CompletionStatus, Fault, Ior, ReplySlot, ReplyStatus, ResponseFlags, ServiceContext,
    ServiceContextId, SystemException,
};

impl CallInProgress for Invocation<'_> {
    fn operation(&self) -> &str {
        self.operation
    }

    fn arguments(&self) -> &dyn EncodeArguments {
        self.arguments
    }

    fn response(&self) -> ResponseFlags {
        self.response
    }

    fn is_batched(&self) -> bool {
        self.batched
    }

    fn flow(&self) -> &ClientFlow {
        &self.flow
    }

    fn request_contexts(&self) -> &[ServiceContext] {
        self.contexts()
    }

    fn values_contexts(&self) -> &[ServiceContext] {
        let contexts = self.contexts.as_ref();
        contexts.map_or(&[], |contexts| &contexts.of_values)
    }

    fn add_request_context(&mut self, context: ServiceContext) {
        self.all_contexts().request.push(context);
    }

    fn remove_request_context(&mut self, id: ServiceContextId) {
        let all = &mut self.all_contexts().request;
        all.retain(|context| context.id != id);
    }
}

impl Invocation<'_> {
    /// The completion status of an exception of an interceptor, before and behind the servant.
    fn completed(&self) -> CompletionStatus {
        match self.sent.load(Ordering::Relaxed) {
            true => CompletionStatus::Maybe,
            false => CompletionStatus::No,
        }
    }
}

impl ObjectRef {
    /// Runs the starting points of an attempt.
    ///
    /// # Errors
    /// How an interceptor ends the attempt; those that had begun have had their ending points.
    #[inline]
    pub(super) async fn begin_attempt(
        &self,
        interceptors: &Interceptors,
        binding: Option<&Binding>,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<(), Interrupt> {
        if invocation.flow.is_open {
            // Begun before its object was bound.
            return Ok(());
        }
        let nested = Nested::current(interceptors.has_slots());
        if nested.is_without() {
            return Ok(());
        }
        if nested.is_too_deep() {
            let fault = Fault::InterceptorRecursion { limit: MAX_NESTED };
            return Err(fault.raise(CompletionStatus::No).into());
        }
        invocation.restore_contexts();
        let flow = &mut invocation.flow;
        flow.request_id = interceptors.next_id();
        flow.nested = nested;
        if nested.has_slots() {
            flow.slots = current_slots();
        }
        flow.started = 0;
        flow.is_open = true;
        let orb = self.orb().inner();
        for interceptor in interceptors.client() {
            let mut info = ClientRequestInfo {
                point: InterceptionPoint::SendRequest,
                target: self,
                call: &mut *invocation,
                binding,
                reply,
                end: None,
            };
            let completed = CompletionStatus::No;
            let begun = at_point!(orb, nested, completed, interceptor.send_request(&mut info));
            if let Err(interrupt) = begun {
                let end = self.end_of(interrupt);
                let ending = self.end_attempt(interceptors, binding, invocation, reply, end);
                // An interceptor behind a forward may have ended the call; a call that goes on would not have begun.
                let ended = Box::pin(ending).await;
                return Err(match ended.0 {
                    Ok(end) => self.interrupt_of(end),
                    Err(interrupt) => interrupt,
                });
            }
            invocation.flow.started = invocation.flow.started.saturating_add(1);
        }
        Ok(())
    }

    fn end_of(&self, interrupt: Interrupt) -> ClientEnd {
        match interrupt {
            Interrupt::Exception(exception) => ClientEnd::SystemException(exception),
            Interrupt::Forward(object) => ClientEnd::Forward(object.ior().clone()),
        }
    }

    fn interrupt_of(&self, end: ClientEnd) -> Interrupt {
        match end {
            ClientEnd::SystemException(exception) => exception.into(),
            ClientEnd::Forward(ior) => Interrupt::Forward(self.forwarded_to(&ior)),
            _ => super::reply::internal().into(),
        }
    }

    /// Runs the ending points of an attempt, unless it has passed no starting point. Returns how the attempt ends in the end:
    /// `Ok` as it was, `Err` as an interceptor has changed it.
    #[inline]
    pub(super) async fn end_attempt(
        &self,
        interceptors: &Interceptors,
        binding: Option<&Binding>,
        invocation: &mut Invocation<'_>,
        reply: &ReplySlot,
        mut end: ClientEnd,
    ) -> Ended {
        if !invocation.flow.is_open {
            return Ended(Ok(end));
        }
        let (orb, nested) = (self.orb().inner(), invocation.flow.nested);
        let mut is_changed = false;
        while let Some(left) = invocation.flow.started.checked_sub(1) {
            invocation.flow.started = left;
            let Some(interceptor) = interceptors.client().get(left) else {
                continue;
            };
            let completed = invocation.completed();
            let point = end.point();
            let mut info = ClientRequestInfo {
                point,
                target: self,
                call: &mut *invocation,
                binding,
                reply,
                end: Some(&end),
            };
            let ended = match point {
                InterceptionPoint::ReceiveReply => {
                    at_point!(orb, nested, completed, interceptor.receive_reply(&mut info))
                }
                InterceptionPoint::ReceiveException => {
                    at_point!(
                        orb,
                        nested,
                        completed,
                        interceptor.receive_exception(&mut info)
                    )
                }
                _ => {
                    at_point!(orb, nested, completed, interceptor.receive_other(&mut info))
                }
            };
            if let Err(interrupt) = ended {
                end = self.end_of(interrupt);
                is_changed = true;
            }
        }
        invocation.flow.is_open = false;
        Ended(match is_changed {
            false => Ok(end),
            true => Err(self.interrupt_of(end)),
        })
    }

    /// The binding with which a call goes on that an interceptor has forwarded.
    ///
    /// # Errors
    /// The exception with which an interceptor has ended the call; TRANSIENT beyond the limit on forwards; those of binding
    /// the target.
    pub(super) async fn interrupted(
        &self,
        interrupt: Interrupt,
        retries: &mut Retries,
    ) -> Result<BindingGuard, SystemException> {
        match interrupt {
            Interrupt::Exception(exception) => Err(exception),
            Interrupt::Forward(object) => {
                retries.forward()?;
                Ok(self.bind_once(&object).await?.into())
            }
        }
    }

    /// Begins and ends an attempt whose object cannot be reached: its interceptors see the exception, and may forward the call.
    ///
    /// # Errors
    /// The exception with which the call ends.
    pub(super) async fn unreachable(
        &self,
        interceptors: &Interceptors,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
        failed: SystemException,
        retries: &mut Retries,
    ) -> Result<BindingGuard, SystemException> {
        let begun = self
            .begin_attempt(interceptors, None, invocation, reply)
            .await;
        let interrupt = match begun {
            Err(interrupt) => interrupt,
            Ok(()) => {
                let end = ClientEnd::SystemException(failed);
                let ending = self.end_attempt(interceptors, None, invocation, reply, end);
                ending
                    .await
                    .0
                    .map_or_else(|interrupt| interrupt, |end| self.interrupt_of(end))
            }
        };
        self.interrupted(interrupt, retries).await
    }

    /// The next binding of a call whose attempt has failed, or whose reply is not final, with the ending points of that attempt.
    ///
    /// # Errors
    /// The exception with which the call ends.
    pub(super) async fn next_intercepted(
        &self,
        interceptors: &Interceptors,
        guard: BindingGuard,
        sent: Result<(), CallError>,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
        retries: &mut Retries,
    ) -> Result<BindingGuard, SystemException> {
        let failed = guard.get().cloned();
        let failed = failed.as_deref();
        if sent.is_ok()
            && let Some(forward) = self.forward_in(reply, failed)
        {
            let end = ClientEnd::Forward(forward);
            let ending = self.end_attempt(interceptors, failed, invocation, reply, end);
            if let Err(interrupt) = ending.await.0 {
                return self.interrupted(interrupt, retries).await;
            }
        }
        let is_two_way = invocation.response != ResponseFlags::None;
        let octets = invocation.octets.load(Ordering::Relaxed);
        let next = self.next_binding(guard, sent, is_two_way, octets, reply, retries);
        let (next, end) = match next.await {
            Ok(next) => (Some(next), ClientEnd::Retry),
            Err(exception) => (None, ClientEnd::SystemException(exception)),
        };
        let ending = self.end_attempt(interceptors, failed, invocation, reply, end);
        match (ending.await.0, next) {
            (Ok(_), Some(next)) => Ok(next),
            (Ok(end), None) => self.interrupted(self.interrupt_of(end), retries).await,
            (Err(interrupt), _) => self.interrupted(interrupt, retries).await,
        }
    }

    /// The reference of a forward in a reply.
    fn forward_in(&self, reply: &ReplySlot, binding: Option<&Binding>) -> Option<Ior> {
        let status = reply.status();
        if !matches!(
            status,
            ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm
        ) {
            return None;
        }
        match self.read_reply(reply, binding?) {
            Ok(super::reply::Answer::Forward(ior)) => Some(ior),
            _ => None,
        }
    }

    /// Ends the attempt of a call that has ended on its way: its time is over, or there is no room for it.
    pub(super) async fn end_open(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &ReplySlot,
        outcome: Result<Outcome, SystemException>,
    ) -> Result<Outcome, SystemException> {
        let Some(interceptors) = self.orb().inner().interceptors() else {
            return outcome;
        };
        let (end, outcome) = match outcome {
            Ok(outcome) => (ClientEnd::OneWay, Ok(outcome)),
            Err(exception) => (
                ClientEnd::SystemException(exception.clone()),
                Err(exception),
            ),
        };
        let ending = self.end_attempt(interceptors, None, invocation, reply, end);
        match ending.await.0 {
            Err(Interrupt::Exception(exception)) => Err(exception),
            Ok(_) | Err(Interrupt::Forward(_)) => outcome,
        }
    }
}

/// How an attempt ends behind its ending points.
pub(super) struct Ended(pub(super) Result<ClientEnd, Interrupt>);

impl Ended {
    /// The interrupt of an attempt that has succeeded otherwise.
    #[inline]
    pub(super) fn into_interrupt(self) -> Option<Interrupt> {
        self.0.err()
    }
}

/// How an attempt with this outcome has ended.
#[inline]
pub(super) fn end_of_success(
    outcome: Outcome,
    response: ResponseFlags,
    reply: &ReplySlot,
) -> ClientEnd {
    match (outcome, response) {
        (_, ResponseFlags::None | ResponseFlags::WithServer) => ClientEnd::OneWay,
        (Outcome::Typed, ResponseFlags::WithTarget) => ClientEnd::Reply { typed: true },
        (Outcome::Reply(_), ResponseFlags::WithTarget) => match reply.status() {
            ReplyStatus::UserException => ClientEnd::UserException,
            _ => ClientEnd::Reply { typed: false },
        },
    }
}
