//! The service contexts of a call: those of its policies, of its deadline and of its priority.

use super::Invocation;
use crate::policy::times::Limit;
use crate::policy::{RequestContexts, deadline_left};
use std::time::Instant;
use zorb_giop::{ReplySlot, ReplyStatus, ServiceContext, ServiceContextId};

/// Additions to a call: service contexts of policies.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// Service contexts of the request.
    pub(super) request: Vec<ServiceContext>,
    /// The contexts that the application adds, in every attempt.
    pub(super) added: Option<RequestContexts>,
    /// The trace context of the call's span, in every attempt.
    pub(super) trace: Option<ServiceContext>,
    /// The contexts of the reply of a collocated call whose results are values.
    pub(super) of_values: Vec<ServiceContext>,
    /// The context INVOCATION_POLICIES with the start and end times of the request, in every attempt.
    pub(super) policies: Option<ServiceContext>,
    /// The time after which the reply is useless; each attempt states the time left.
    pub(super) deadline: Option<(ServiceContextId, Instant)>,
    /// The context of the call's priority, in every attempt.
    pub(super) priority: Option<ServiceContext>,
    /// The time by which the request has to be sent.
    pub(super) request_end: Option<Limit>,
}

impl Contexts {
    /// Resets the contexts for the next attempt.
    pub(super) fn begin_attempt(&mut self) {
        let own = self
            .policies
            .iter()
            .chain(&self.priority)
            .chain(&self.trace);
        let added = self.added.iter().flat_map(RequestContexts::iter);
        self.request.clear();
        self.request.extend(own.chain(added).cloned());
        let deadline = self.deadline.and_then(|(id, at)| deadline_left(id, at));
        self.request.extend(deadline);
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

    /// Drops the contexts that an attempt before has added.
    pub(super) fn restore_contexts(&mut self) {
        if let Some(contexts) = &mut self.contexts {
            contexts.of_values.clear();
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

    /// The service contexts of the reply, which is final or a system exception.
    pub(super) fn reply_contexts(&mut self, reply: &ReplySlot) -> Vec<ServiceContext> {
        let of_values = self.contexts.as_mut().map(|all| &mut all.of_values);
        match of_values.map(core::mem::take) {
            Some(contexts) if !contexts.is_empty() => contexts,
            _ if reply.is_final() || reply.status() == ReplyStatus::SystemException => {
                reply.contexts()
            }
            _ => Vec::new(),
        }
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
}
