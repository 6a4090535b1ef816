//! Interception points of the client: `send_request` and `receive_reply` around each attempt.

use super::Invocation;
use super::collocated::Collocated;
use crate::interceptor::{ClientRequestInfo, Interceptor, ReplyInfo};
use crate::policy::deadline_left;
use crate::policy::times::Limit;
use std::time::Instant;
use zorb_connection::CallError;
use zorb_giop::{
    ReplySlot, ReplyStatus, ResponseFlags, ServiceContext, ServiceContextId, SystemException,
    stated_priority,
};

/// Additions to a call: service contexts of interceptors and policies.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// Service contexts of the request.
    pub(super) request: Vec<ServiceContext>,
    /// The context INVOCATION_POLICIES with the start and end times of the request, in every attempt.
    pub(super) policies: Option<ServiceContext>,
    /// The time after which the reply is useless; each attempt states the time left.
    pub(super) deadline: Option<Instant>,
    /// The context of the call's priority, in every attempt.
    pub(super) priority: Option<ServiceContext>,
    /// The time by which the request has to be sent.
    pub(super) request_end: Option<Limit>,
    /// Service contexts of the reply of a collocated call.
    pub(super) reply: Vec<ServiceContext>,
}

impl Contexts {
    /// Resets the contexts for the next attempt, without those of interceptors.
    pub(super) fn begin_attempt(&mut self) {
        let own = self.policies.iter().chain(&self.priority);
        self.request = own.cloned().collect();
        self.request.extend(self.deadline.and_then(deadline_left));
        self.reply = Vec::new();
    }
}

impl Invocation<'_> {
    /// Updates the time left in the context of a request with a deadline, after connecting or a retry.
    #[cold]
    pub(super) fn update_deadline(&mut self) {
        if let Some(contexts) = &mut self.contexts
            && contexts.deadline.is_some()
        {
            contexts.begin_attempt();
        }
    }

    /// The service contexts of the request.
    #[inline]
    pub(super) fn contexts(&self) -> &[ServiceContext] {
        match &self.contexts {
            Some(contexts) => &contexts.request,
            None => self.priority.as_slice(),
        }
    }

    /// Sets or removes the priority context of the request.
    pub(super) fn set_priority(&mut self, priority: Option<ServiceContext>) {
        let Some(contexts) = &mut self.contexts else {
            self.priority = priority;
            return;
        };
        let is_other = |id| id != ServiceContextId::RT_CORBA_PRIORITY;
        contexts.request.retain(|context| is_other(context.id));
        contexts.request.extend(priority.clone());
        contexts.priority = priority;
    }

    /// The additions to the call, allocated at first use.
    pub(super) fn all_contexts(&mut self) -> &mut Contexts {
        self.contexts.get_or_insert_with(|| {
            let priority = self.priority.take();
            Box::new(Contexts {
                request: priority.iter().cloned().collect(),
                priority,
                ..Contexts::default()
            })
        })
    }

    /// The interceptor's view of the request, with the contexts of this attempt.
    fn info(&mut self, is_collocated: bool) -> ClientRequestInfo<'_> {
        let (operation, response, deadline) = (self.operation, self.response, self.deadline);
        let contexts = self.all_contexts();
        ClientRequestInfo {
            operation,
            response,
            is_collocated,
            deadline,
            priority: contexts.priority.as_ref().and_then(stated_priority),
            contexts: &mut contexts.request,
        }
    }

    #[cold]
    pub(super) fn send_request(
        &mut self,
        interceptor: &dyn Interceptor,
        is_collocated: bool,
    ) -> Result<(), SystemException> {
        // Drops the contexts that interceptors added to the previous attempt.
        if let Some(contexts) = &mut self.contexts {
            contexts.begin_attempt();
        }
        interceptor.send_request(&mut self.info(is_collocated))
    }

    /// Reports a one-way request as sent, or as queued, where the caller's part ends.
    #[cold]
    pub(super) fn has_sent(&mut self, interceptor: &dyn Interceptor) {
        interceptor.receive_reply(&self.info(false), ReplyInfo::Sent);
    }

    /// Reports a one-way request as failed.
    #[cold]
    pub(super) fn has_failed(&mut self, interceptor: &dyn Interceptor, error: &CallError) {
        interceptor.receive_reply(&self.info(false), ReplyInfo::Failed(error));
    }

    #[cold]
    pub(super) fn receive_reply(
        &mut self,
        interceptor: &dyn Interceptor,
        is_collocated: bool,
        sent: &Result<Collocated, CallError>,
        reply: &ReplySlot,
    ) {
        let contexts = self.contexts.as_mut();
        let contexts = contexts
            .map(|contexts| core::mem::take(&mut contexts.reply))
            .unwrap_or_default();
        let info = match sent {
            Err(error) => ReplyInfo::Failed(error),
            Ok(Collocated::Typed) if self.response == ResponseFlags::None => ReplyInfo::Sent,
            Ok(Collocated::Typed) => ReplyInfo::Reply(ReplyStatus::NoException, contexts),
            Ok(Collocated::Reply) if is_collocated => ReplyInfo::Reply(reply.status(), contexts),
            Ok(Collocated::Reply) => ReplyInfo::Reply(reply.status(), reply.contexts()),
        };
        interceptor.receive_reply(&self.info(is_collocated), info);
    }
}
