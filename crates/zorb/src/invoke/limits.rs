//! Calls with time limits, or within the scope of a task's policies.

use super::{Invocation, Outcome};
use crate::object::ObjectRef;
use crate::observe::{self, CALLS, Meter};
use crate::policy::invocation_policies;
use crate::policy::times::{Limit, TimeLimits};
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::time::{Instant as Clock, Sleep};
use tracing::Instrument;
use zorb_connection::{Counter, blocking, timing_out};
use zorb_giop::{CompletionStatus, Fault, ReplySlot, ReplyStatus, SystemException};
use zorb_poa::ServerRequest;

/// The output of the future. There is one: it is taken out only once its time is over.
async fn some<F: Future>(future: Pin<&mut Option<F>>) -> F::Output {
    match future.as_pin_mut() {
        Some(future) => future.await,
        None => core::future::pending().await,
    }
}

impl ObjectRef {
    /// Makes a call whose policies may limit its time, or come from a task's scope, or that is observed.
    pub(super) async fn perform_limited(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Outcome, SystemException> {
        let orb = self.orb().inner();
        let operation = super::in_memory::declared(invocation.operation);
        let meter = match orb.settings().metrics {
            true => Meter::begin(orb, &CALLS, (!invocation.is_dynamic).then_some(operation)),
            false => None,
        };
        let done = self.perform_in_span(invocation, reply).await;
        if let Some(meter) = meter {
            meter.request(invocation.octets.load(Ordering::Relaxed));
            meter.end(match &done {
                Ok(Outcome::Reply(_)) => Some(reply.status()),
                Ok(Outcome::Typed) => None,
                Err(_) => Some(ReplyStatus::SystemException),
            });
        }
        done
    }

    async fn perform_in_span(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Outcome, SystemException> {
        let Some(span) = observe::call(invocation.operation) else {
            return self.perform_by_policies(invocation, reply).await;
        };
        let settings = self.orb().inner().settings();
        if settings.sends_trace_contexts
            && let Some(context) = observe::context_of(&span)
        {
            let id = settings.own_contexts.trace();
            let contexts = invocation.all_contexts();
            contexts.trace = context.to_service_context(id);
            contexts.begin_attempt();
        }
        let done = self.perform_by_policies(invocation, reply);
        let done = done.instrument(span.clone()).await;
        observe::called(&span, self, &done);
        done
    }

    async fn perform_by_policies(
        &self,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Outcome, SystemException> {
        let levels = self.levels();
        let inherited = ServerRequest::current(ServerRequest::deadline).flatten();
        let limits = TimeLimits::of(&levels)?.within(inherited);
        let own = (levels.task.as_deref())
            .filter(|task| task.need_own_reference())
            .map(|task| self.in_task(task));
        let object = own.as_ref().unwrap_or(self);
        let deadline = levels.get(|policies| policies.deadline);
        // A limit beyond the clock's range counts as none.
        let deadline = deadline.and_then(|after| Instant::now().checked_add(after));
        let reply_end = limits.reply_end.map(|limit| limit.at);
        let deadline = deadline.into_iter().chain(reply_end).min();
        let own_contexts = self.orb().inner().settings().own_contexts;
        let added = levels.contexts();
        let replies = levels.get(|policies| policies.replies.clone());
        invocation.deadline = limits.reply_end.map(|limit| limit.at);
        let policies = match limits.is_none() {
            true => None,
            false => invocation_policies(&levels.effective()),
        };
        drop(levels);
        if policies.is_some()
            || limits.request_end.is_some()
            || deadline.is_some()
            || added.is_some()
            || replies.is_some()
        {
            let contexts = invocation.all_contexts();
            contexts.policies = policies;
            contexts.deadline = deadline.map(|at| (own_contexts.deadline(), at));
            contexts.request_end = limits.request_end;
            contexts.added = added;
            contexts.begin_attempt();
        }
        let Some(replies) = replies else {
            return object.perform_within(&limits, invocation, reply).await;
        };
        replies.set(Vec::new());
        let done = object.perform_within(&limits, invocation, reply).await;
        replies.set(invocation.reply_contexts(reply));
        done
    }

    async fn perform_within(
        &self,
        limits: &TimeLimits,
        invocation: &mut Invocation<'_>,
        reply: &mut ReplySlot,
    ) -> Result<Outcome, SystemException> {
        if limits.is_none() {
            return self.request_until_done(invocation, reply).await;
        }
        let sent = invocation.sent;
        let calling = self.request_until_done(invocation, reply);
        self.within(limits, sent, calling).await
    }

    /// Applies the reference's time limits to all steps of a call: resolving, connecting, waiting for room, forwards,
    /// and sending again.
    pub(super) async fn within_limit<T>(
        &self,
        sent: &AtomicBool,
        calling: impl Future<Output = Result<T, SystemException>>,
    ) -> Result<T, SystemException> {
        match self.is_limited() {
            false => calling.await,
            true => {
                let inherited = ServerRequest::current(ServerRequest::deadline).flatten();
                let limits = TimeLimits::of(&self.levels())?.within(inherited);
                self.within(&limits, sent, calling).await
            }
        }
    }

    /// Runs a call within known limits. `sent`: whether the servant may have run, which decides the completion status
    /// of the exception.
    async fn within<T>(
        &self,
        limits: &TimeLimits,
        sent: &AtomicBool,
        calling: impl Future<Output = Result<T, SystemException>>,
    ) -> Result<T, SystemException> {
        let clock = self.clock();
        let first = limits.first();
        if let Some(start) = limits.request_start {
            let until = first
                .into_iter()
                .chain([start])
                .min_by_key(|limit| limit.at);
            self.sleep(clock, until.unwrap_or(start)).await;
        }
        if let Some(limit) = first
            && limit.at <= Instant::now()
        {
            return Err(self.not_sent(limit));
        }
        // Dropped as soon as its time is over: the connection learns from it.
        let mut calling = pin!(Some(calling));
        let earlier = limits.request_end.filter(|limit| Some(*limit) == first);
        if let Some(limit) = earlier {
            tokio::select! {
                biased;
                // A timer does not wake a thread that blocks in a read, so the read has the deadline too.
                result = blocking::with_deadline(Some(limit.at), some(calling.as_mut())) => {
                    return self.deliver(clock, limits, result).await;
                }
                () = self.sleep(clock, limit) => {}
            }
            if !sent.load(Ordering::Relaxed) {
                timing_out(|| calling.set(None));
                return Err(self.not_sent(limit));
            }
        }
        let Some(limit) = limits.reply_end else {
            let result = some(calling).await;
            return self.deliver(clock, limits, result).await;
        };
        tokio::select! {
            biased;
            result = blocking::with_deadline(Some(limit.at), some(calling.as_mut())) => {
                return self.deliver(clock, limits, result).await;
            }
            () = self.sleep(clock, limit) => {}
        }
        timing_out(|| calling.set(None));
        Err(match sent.load(Ordering::Relaxed) {
            true => self.no_reply(limit, CompletionStatus::Maybe),
            false => self.not_sent(limit),
        })
    }

    /// Holds a result that arrives before its reply start time.
    async fn deliver<T>(
        &self,
        clock: Clock,
        limits: &TimeLimits,
        result: Result<T, SystemException>,
    ) -> Result<T, SystemException> {
        let Some(start) = limits.reply_start.filter(|_| result.is_ok()) else {
            return result;
        };
        match limits.reply_end.filter(|limit| limit.at < start.at) {
            None => {
                self.sleep(clock, start).await;
                result
            }
            Some(limit) => {
                self.sleep(clock, limit).await;
                // The reply has arrived, so the operation was carried out.
                Err(self.no_reply(limit, CompletionStatus::Yes))
            }
        }
    }

    /// Checks the request end time before a request is sent once more.
    ///
    /// # Errors
    /// TIMEOUT if it has passed.
    pub(super) fn check_request_end(
        &self,
        invocation: &Invocation<'_>,
    ) -> Result<(), SystemException> {
        let contexts = invocation.contexts.as_ref();
        match contexts.and_then(|contexts| contexts.request_end) {
            Some(limit) if limit.at <= Instant::now() => Err(self.not_sent(limit)),
            _ => Ok(()),
        }
    }

    /// The time on the runtime's clock at the beginning of a call.
    fn clock(&self) -> Clock {
        // Callers may be outside any runtime, so the ORB's provides the clock. If that has ended too, the call ends at
        // its first poll, before it reads the clock.
        let runtime = self.runtime();
        let _runtime = runtime.enter();
        Clock::now()
    }

    fn sleep(&self, begun: Clock, until: Limit) -> Sleep {
        let runtime = self.runtime();
        let _runtime = runtime.enter();
        match begun.checked_add(until.after) {
            Some(at) => tokio::time::sleep_until(at),
            None => tokio::time::sleep(until.after),
        }
    }

    fn not_sent(&self, limit: Limit) -> SystemException {
        self.orb().inner().count(Counter::CallsTimedOut);
        let (endpoint, limit) = (self.endpoints_text(), limit.after);
        Fault::SendTimeout { endpoint, limit }.raise(CompletionStatus::No)
    }

    fn no_reply(&self, limit: Limit, completed: CompletionStatus) -> SystemException {
        self.orb().inner().count(Counter::CallsTimedOut);
        let (endpoint, limit) = (self.endpoints_text(), limit.after);
        Fault::Timeout { endpoint, limit }.raise(completed)
    }
}
