//! The loop of one call: whoever does not answer for good is asked again, or somebody else is.

use super::Detours;
use super::local::call_local;
use super::reply::{Answer, Reply, explain_size};
use super::scope::{SyncScope, sayable};
use crate::blocking;
use crate::object::{Binding, Lent, ObjectRef, Target};
use crate::wire::{Answered, Arrived, CallError, Called, Calling, EncodeArguments, How};
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use std::sync::Arc;
use zorb_cdr::WireFormat;
use zorb_giop::{
    CompletionStatus, Fault, ResponseFlags, SmallReply, SystemException, SystemExceptionKind,
};

/// What a call that blocks has come to in one go.
pub(super) enum Exchanged {
    /// A small reply, which is in its place, and whose text is to be read so.
    Small(WireFormat),
    /// Another reply.
    Reply(Reply),
    /// What is to be gone on with.
    Begun(Begun),
}

/// How a call went at first, and where.
pub(super) type Begun = (Arc<Binding>, Result<Answered, CallError>);

/// A reply that has come.
pub(super) enum Fetched {
    /// In its place; its text is to be read so.
    Small(WireFormat),
    /// Here.
    Reply(Reply),
}

impl ObjectRef {
    /// Calls and blocks, if this thread may do so for as long as it likes, and the way is known.
    #[inline]
    pub(super) fn exchange_if(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        small: &mut SmallReply,
    ) -> Option<Exchanged> {
        match blocking::may_block_for_ever() && self.round_trip_timeout().is_none() {
            true => self.exchange(operation, arguments, small),
            false => None,
        }
    }

    fn exchange(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        small: &mut SmallReply,
    ) -> Option<Exchanged> {
        let lent = self.bound_in_lane()?;
        let (binding, remote) = lent.remote()?;
        if !remote.connection.has_room() {
            return None;
        }
        zorb_giop::probe!(Bound);
        let how = How {
            response: ResponseFlags::WithTarget,
            wait: self.wait_policy(),
        };
        let called =
            match remote
                .connection
                .exchange(&remote.requests, operation, arguments, &how, small)
            {
                None => return None,
                Some(Called::Small) => return Some(Exchanged::Small(self.format(binding))),
                Some(Called::Answered(answered)) => match self.plain_reply(answered, binding) {
                    Ok(reply) => return Some(Exchanged::Reply(reply)),
                    Err(answered) => Ok(answered),
                },
                Some(Called::Failed(error)) => Err(error),
            };
        // There was one.
        let binding = lent.keep()?;
        Some(Exchanged::Begun((binding, called)))
    }

    /// What a usual call is made through: nothing limits its time, the way is known, and there is room for it.
    #[inline]
    pub(super) fn usual(&self) -> Option<Lent> {
        if self.round_trip_timeout().is_some() {
            return None;
        }
        // Whoever is shut down is told so by the unusual way.
        let lent = self.bound_if_up()?;
        let (_, remote) = lent.remote()?;
        remote.connection.has_room().then_some(lent)
    }

    /// A usual call from one poll to the next: sent at the first. Ready when it is over: whether with a small reply, which
    /// is in its place. What else it has come to is in `calling`: nothing if it was not to be made through `lent` after all.
    #[inline]
    pub(super) fn poll_usual<'a>(
        &self,
        lent: &'a Lent,
        operation: &str,
        arguments: &dyn EncodeArguments,
        calling: &mut Calling<'a>,
        small: &mut SmallReply,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        if !matches!(calling, Calling::Not) {
            return calling.poll(small, cx);
        }
        let Some((_, remote)) = lent.remote() else {
            return Poll::Ready(false);
        };
        zorb_giop::probe!(Bound);
        let how = How {
            response: ResponseFlags::WithTarget,
            wait: self.wait_policy(),
        };
        // For who limits its time.
        let sent = AtomicBool::new(false);
        let request = (&remote.requests, operation, arguments);
        (remote.connection).start(request, &sent, &how, calling, small, cx)
    }

    /// The reply of a usual call that is not a small one, if nothing is to be said of it: else what is to be gone on with.
    pub(super) fn end_usual(
        &self,
        called: Option<Result<Answered, CallError>>,
        lent: Lent,
    ) -> Result<Reply, Option<Begun>> {
        let called = match (called, lent.get()) {
            (Some(Ok(answered)), Some(binding)) => match self.plain_reply(answered, binding) {
                Ok(reply) => return Ok(reply),
                Err(answered) => Ok(answered),
            },
            (Some(called), _) => called,
            (None, _) => return Err(None),
        };
        Err(lent.keep().map(|binding| (binding, called)))
    }

    /// How the text of replies is to be read that come through `lent`.
    #[inline]
    pub(super) fn format_of(&self, lent: &Lent) -> WireFormat {
        lent.get()
            .map_or(WireFormat::DEFAULT, |binding| self.format(binding))
    }

    /// Any call that is not a usual one. `begun`: what has become of it until now, if it has begun.
    pub(super) async fn request(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        small: &mut SmallReply,
        begun: Option<Begun>,
    ) -> Result<Fetched, SystemException> {
        let sent = AtomicBool::new(false);
        let response = ResponseFlags::WithTarget;
        // Large, and made where it stays.
        let calling =
            pin!(self.request_until_done(operation, arguments, response, &sent, small, begun));
        self.within_limit(&sent, calling).await
    }

    async fn request_until_done(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        response: ResponseFlags,
        sent: &AtomicBool,
        small: &mut SmallReply,
        begun: Option<Begun>,
    ) -> Result<Fetched, SystemException> {
        let (mut binding, mut begun) = match begun {
            Some((binding, called)) => (binding, Some(called)),
            None => {
                let binding = self.binding().await?;
                zorb_giop::probe!(Bound);
                (binding, None)
            }
        };
        let mut detours = Detours::default();
        let mut fell_back = false;
        let mut readdressed = 0;
        loop {
            let called = match &binding.target {
                _ if let Some(called) = begun.take() => called,
                Target::Remote(remote) => {
                    let how = How {
                        response: sayable(response, binding.version),
                        wait: self.wait_policy(),
                    };
                    let request = (&remote.requests, operation, arguments);
                    match remote.connection.call(request, sent, how, small).await {
                        Called::Small => return Ok(Fetched::Small(self.format(&binding))),
                        Called::Answered(answered) => Ok(answered),
                        Called::Failed(error) => Err(error),
                    }
                }
                Target::Local => {
                    let orb = self.orb().inner();
                    call_local(orb, &binding, operation, arguments, true, sent)
                        .await
                        .map(|message| message.ok_or(()))
                        .and_then(|message| {
                            message.map_err(|()| CallError::Lost(Fault::OrbShutDown))
                        })
                        .map(|message| Answered {
                            arrived: Arrived {
                                message,
                                head: None,
                            },
                            request_octets: 0,
                        })
                }
            };
            // Whatever goes on from here does so because the servant was not reached.
            sent.store(false, Ordering::Relaxed);
            let failed = match called {
                Ok(answered) => match self.read_reply(answered.arrived, &binding)? {
                    Answer::Reply(reply) => return Ok(Fetched::Reply(reply)),
                    Answer::Forward(ior) => {
                        detours.forward()?;
                        match self.bind_forward(&ior).await {
                            Ok(forwarded) => {
                                binding = forwarded;
                                readdressed = 0;
                                continue;
                            }
                            // Whoever sent us there may know better by now.
                            Err(dead_end) if !fell_back && is_worth_asking_anew(&dead_end) => {
                                fell_back = true;
                                self.unbind(&binding);
                                binding = self.binding().await?;
                                continue;
                            }
                            Err(dead_end) => return Err(dead_end),
                        }
                    }
                    Answer::Readdress(wanted) => {
                        binding = self
                            .readdress(&binding, wanted, &mut readdressed)
                            .map_err(|error| self.broken(error, CompletionStatus::No))?;
                        continue;
                    }
                    Answer::Exception(exception) => {
                        explain_size(exception, answered.request_octets)
                    }
                },
                Err(error) => {
                    self.unbind(&binding);
                    if detours.resend(&error) {
                        // A forwarded location that is gone is asked for anew where it was told.
                        binding = self.binding().await?;
                        continue;
                    }
                    error.raise()
                }
            };
            // The place a forward led to has failed before anything was done: ask once more
            // where the reference itself says.
            if binding.forwarded && !fell_back && is_worth_asking_anew(&failed) {
                fell_back = true;
                self.unbind(&binding);
                binding = self.binding().await?;
                continue;
            }
            return Err(failed);
        }
    }

    pub(super) async fn request_one_way(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
    ) -> Result<(), SystemException> {
        let sent = AtomicBool::new(false);
        if let Some(response) = self.sync_scope().response() {
            let mut small = SmallReply::new();
            let small = &mut small;
            let calling =
                pin!(self.request_until_done(operation, arguments, response, &sent, small, None));
            return self.within_limit(&sent, calling).await.map(drop);
        }
        let joined = self.sync_scope() == SyncScope::None;
        // Most calls are no more than this, and should not pay for what others need.
        let mut begun = None;
        if self.round_trip_timeout().is_none() {
            // Nothing here need ever be waited for, and others want to run too.
            tokio::task::coop::consume_budget().await;
            if let Some(lent) = self.bound()?
                && let Some((_, remote)) = lent.get().and_then(Binding::remote)
                && remote.connection.has_room()
            {
                let request = (&remote.requests, operation, arguments);
                let called = match remote.connection.send_one_way(request, &sent, joined) {
                    Ok(None) => return Ok(()),
                    Ok(Some(ticket)) => remote.connection.is_away(ticket).await,
                    Err(error) => Err(error),
                };
                begun = lent.keep().map(|binding| (binding, called));
            }
        }
        let calling =
            pin!(self.request_one_way_until_sent(operation, arguments, &sent, joined, begun));
        self.within_limit(&sent, calling).await
    }

    /// `begun`: what has become of it until now, if it has begun.
    async fn request_one_way_until_sent(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        sent: &AtomicBool,
        joined: bool,
        mut begun: Option<(Arc<Binding>, Result<(), CallError>)>,
    ) -> Result<(), SystemException> {
        let mut detours = Detours::default();
        loop {
            let (binding, called) = match begun.take() {
                Some((binding, called)) => (binding, called.map(|()| None)),
                None => {
                    let binding = self.binding().await?;
                    let called = match &binding.target {
                        Target::Remote(remote) => {
                            let request = (&remote.requests, operation, arguments);
                            let called = remote.connection.call_one_way(request, sent, joined);
                            called.await.map(|()| None)
                        }
                        Target::Local => {
                            let orb = self.orb().inner();
                            call_local(orb, &binding, operation, arguments, false, sent).await
                        }
                    };
                    (binding, called)
                }
            };
            sent.store(false, Ordering::Relaxed);
            match called {
                Ok(None) => return Ok(()),
                Ok(Some(message)) => match self.read_reply(
                    Arrived {
                        message,
                        head: None,
                    },
                    &binding,
                )? {
                    Answer::Forward(ior) => {
                        detours.forward()?;
                        self.bind_forward(&ior).await?;
                    }
                    // Nobody is told what becomes of a one-way call.
                    Answer::Exception(_) | Answer::Readdress(_) | Answer::Reply(_) => {
                        return Ok(());
                    }
                },
                Err(error) => {
                    self.unbind(&binding);
                    if !detours.resend(&error) {
                        return Err(error.raise());
                    }
                }
            }
        }
    }
}

fn is_worth_asking_anew(exception: &SystemException) -> bool {
    use SystemExceptionKind as Kind;
    exception.completed == CompletionStatus::No
        && matches!(
            exception.kind,
            Kind::Transient | Kind::CommFailure | Kind::ObjectNotExist
        )
}
