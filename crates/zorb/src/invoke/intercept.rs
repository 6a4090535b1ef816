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
};

/// Additions to a call: service contexts of interceptors and policies.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// Service contexts of the request.
    pub(super) request: Vec<ServiceContext>,
    /// The start and end times of the request, whatever interceptors add.
    pub(super) policies: Option<ServiceContext>,
    /// The time after which the reply is of no use.
    pub(super) deadline: Option<Instant>,
    /// Its priority.
    pub(super) priority: Option<ServiceContext>,
    /// The time by which the request has to be sent.
    pub(super) request_end: Option<Limit>,
    /// Service contexts of the reply of a collocated object.
    pub(super) reply: Vec<ServiceContext>,
}

impl Contexts {
    /// Sets the contexts of the next attempt to those that it has whatever interceptors add.
    pub(super) fn begin_attempt(&mut self) {
        let own = self.policies.iter().chain(&self.priority);
        self.request = own.cloned().collect();
        self.request.extend(self.deadline.and_then(deadline_left));
        self.reply = Vec::new();
    }
}

impl Invocation<'_> {
    /// Counts the time that connecting or a detour took, in a request with a deadline.
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

    /// Has the request state this priority, or none.
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

    /// Its contexts, which others may be added to.
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

    /// The request as the interceptor sees it, with the contexts of this attempt.
    fn info(&mut self, is_collocated: bool) -> ClientRequestInfo<'_> {
        let (operation, response, deadline) = (self.operation, self.response, self.deadline);
        ClientRequestInfo {
            operation,
            response,
            is_collocated,
            deadline,
            contexts: &mut self.all_contexts().request,
        }
    }

    #[cold]
    pub(super) fn send_request(
        &mut self,
        interceptor: &dyn Interceptor,
        is_collocated: bool,
    ) -> Result<(), SystemException> {
        // Contexts of the attempt before are dropped.
        if let Some(contexts) = &mut self.contexts {
            contexts.begin_attempt();
        }
        interceptor.send_request(&mut self.info(is_collocated))
    }

    /// A one-way request has been sent, as far as its caller is concerned.
    #[cold]
    pub(super) fn has_sent(&mut self, interceptor: &dyn Interceptor) {
        interceptor.receive_reply(&self.info(false), ReplyInfo::Sent);
    }

    /// A one-way request is not sent.
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
            Ok(Collocated::Values) if self.response == ResponseFlags::None => ReplyInfo::Sent,
            Ok(Collocated::Values) => ReplyInfo::Reply(ReplyStatus::NoException, contexts),
            Ok(Collocated::Reply) if is_collocated => ReplyInfo::Reply(reply.status(), contexts),
            Ok(Collocated::Reply) => ReplyInfo::Reply(reply.status(), reply.contexts()),
        };
        interceptor.receive_reply(&self.info(is_collocated), info);
    }
}
