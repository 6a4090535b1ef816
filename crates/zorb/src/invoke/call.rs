//! The loop of one call: whoever does not answer for good is asked again, or somebody else is.

use super::Detours;
use super::local::call_local;
use super::reply::{Answer, Reply, explain_size};
use super::scope::{SyncScope, sayable};
use crate::object::{Binding, ObjectRef, Target};
use crate::wire::{Answered, Arrived, CallError, Called, EncodeArguments, How, Started};
use core::future::poll_fn;
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use zorb_cdr::WireFormat;
use zorb_giop::{
    CompletionStatus, Fault, ResponseFlags, SmallReply, SystemException, SystemExceptionKind,
};

/// What a call that blocks has come to in one go.
pub(super) enum Exchanged {
    /// It has not begun: it has to be made as any other.
    Not,
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
    pub(super) fn exchange(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        small: &mut SmallReply,
    ) -> Exchanged {
        let Some(lent) = self.bound_in_lane() else {
            return Exchanged::Not;
        };
        let Some((binding, remote)) = lent.get().and_then(Binding::remote) else {
            return Exchanged::Not;
        };
        if !remote.connection.has_room() {
            return Exchanged::Not;
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
                None => return Exchanged::Not,
                Some(Called::Small) => return Exchanged::Small(self.format(binding)),
                Some(Called::Answered(answered)) => match self.plain_reply(answered, binding) {
                    Ok(reply) => return Exchanged::Reply(reply),
                    Err(answered) => Ok(answered),
                },
                Some(Called::Failed(error)) => Err(error),
            };
        match lent.keep() {
            Some(binding) => Exchanged::Begun((binding, called)),
            // There was one.
            None => Exchanged::Not,
        }
    }

    /// `begun`: what has become of it until now, if it has begun.
    pub(super) async fn request(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        small: &mut SmallReply,
        mut begun: Option<Begun>,
    ) -> Result<Fetched, SystemException> {
        let sent = AtomicBool::new(false);
        let response = ResponseFlags::WithTarget;
        // Most calls are no more than this, and should not pay for what others need.
        if begun.is_none()
            && self.round_trip_timeout().is_none()
            && let Some(lent) = self.bound()?
            && let Some((binding, remote)) = lent.get().and_then(Binding::remote)
            && remote.connection.has_room()
        {
            zorb_giop::probe!(Bound);
            let how = How {
                response,
                wait: self.wait_policy(),
            };
            let called = {
                let request = (&remote.requests, operation, arguments);
                let connection = &remote.connection;
                let mut begun = None;
                poll_fn(|cx| match &mut begun {
                    Some(call) => Started::poll(call, small, cx),
                    begun => connection.start(request, &sent, &how, begun, small, cx),
                })
                .await
            };
            let called = match called {
                Called::Small => return Ok(Fetched::Small(self.format(binding))),
                Called::Answered(answered) => match self.plain_reply(answered, binding) {
                    Ok(reply) => return Ok(Fetched::Reply(reply)),
                    Err(answered) => Ok(answered),
                },
                Called::Failed(error) => Err(error),
            };
            begun = lent.keep().map(|binding| (binding, called));
        }
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
        let calling = pin!(self.request_one_way_until_sent(operation, arguments, &sent));
        self.within_limit(&sent, calling).await
    }

    async fn request_one_way_until_sent(
        &self,
        operation: &str,
        arguments: &dyn EncodeArguments,
        sent: &AtomicBool,
    ) -> Result<(), SystemException> {
        let mut detours = Detours::default();
        loop {
            let binding = self.binding().await?;
            let called = match &binding.target {
                Target::Remote(remote) => remote
                    .connection
                    .call_one_way(
                        &remote.requests,
                        operation,
                        arguments,
                        sent,
                        self.sync_scope() == SyncScope::None,
                    )
                    .await
                    .map(|()| None),
                Target::Local => {
                    let orb = self.orb().inner();
                    call_local(orb, &binding, operation, arguments, false, sent).await
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
