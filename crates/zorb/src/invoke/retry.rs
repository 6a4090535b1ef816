//! Replies and failures after which a call goes on elsewhere: forwards, other addressing modes, and requests that are
//! sent again.

use super::reply::{Answer, explain_size};
use crate::object::{Binding, BindingGuard, ObjectRef, Remote, Target};
use crate::profile::MAX_CANDIDATES;
use zorb_connection::CallError;
use zorb_giop::{CompletionStatus, Fault, ReplySlot, SystemException, SystemExceptionKind};
use zorb_transport::{Address, Endpoint};

/// Forwards that one call follows: servers may forward in circles.
const MAX_FORWARDS: usize = 10;
/// Times that one call is sent again because the connection ended before it could start, besides once for each further
/// endpoint.
const MAX_RESENDS: usize = 2;

/// Counts of a call's retries: forwards, resends and other addressing.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    forwards: usize,
    resends: usize,
    /// Endpoints that have accepted a connection for this call and ended it without an answer, with their addresses.
    unserved: Vec<(Endpoint, Address)>,
    /// Replies NEEDS_ADDRESSING_MODE to this call, since the last forward.
    pub(super) readdressed: usize,
    /// Whether the original reference has been used again, after the target of a forward had failed.
    fell_back: bool,
}

impl Retries {
    /// Counts a forward.
    ///
    /// # Errors
    /// TRANSIENT beyond [`MAX_FORWARDS`].
    pub(super) fn forward(&mut self) -> Result<(), SystemException> {
        self.forwards = self.forwards.saturating_add(1);
        if self.forwards > MAX_FORWARDS {
            let limit = MAX_FORWARDS;
            return Err(Fault::TooManyForwards { limit }.raise(CompletionStatus::No));
        }
        Ok(())
    }

    /// Whether a call that failed on a connection is sent again: its servant surely did not start, and its resends are not
    /// used up. Counts the resend.
    ///
    /// A connection that has ended without an answer has put its endpoint last, so the next binding tries another one.
    pub(crate) fn resend(&mut self, error: &CallError, failed: &Binding) -> bool {
        if let Target::Remote(Remote { connection, .. }) = &failed.target
            && !connection.has_served()
            && self.unserved.len() < MAX_CANDIDATES
            && !(self.unserved.iter()).any(|(endpoint, address)| {
                endpoint == connection.endpoint() && address == connection.peer()
            })
        {
            let (endpoint, address) = (connection.endpoint(), connection.peer());
            self.unserved.push((endpoint.clone(), address.clone()));
        }
        let limit = MAX_RESENDS.saturating_add(self.unserved.len().saturating_sub(1));
        let again = matches!(error, CallError::NotSent(_)) && self.resends < limit;
        self.resends = self.resends.saturating_add(usize::from(again));
        again
    }
}

impl ObjectRef {
    /// The next binding for a call that has failed, or whose reply is not final. `octets`: the size of the request.
    ///
    /// # Errors
    /// The call's exception, if there is no other endpoint to try.
    pub(super) async fn next_binding(
        &self,
        guard: BindingGuard,
        sent: Result<(), CallError>,
        is_two_way: bool,
        octets: usize,
        reply: &ReplySlot,
        retries: &mut Retries,
    ) -> Result<BindingGuard, SystemException> {
        let Some(binding) = guard.get() else {
            return Err(Fault::OrbShutDown.raise(CompletionStatus::No));
        };
        let failed = match sent {
            Ok(()) => match self.read_reply(reply, binding)? {
                Answer::Forward(ior) => {
                    retries.forward()?;
                    return match self.bind_forward(&ior, binding).await {
                        Ok(forwarded) => {
                            retries.readdressed = 0;
                            Ok(forwarded.into())
                        }
                        // The target failed: tries the original reference once, whose server may forward elsewhere by
                        // now.
                        Err(dead_end)
                            if !retries.fell_back
                                && is_two_way
                                && is_worth_asking_anew(&dead_end) =>
                        {
                            retries.fell_back = true;
                            self.unbind(binding);
                            self.binding().await
                        }
                        Err(dead_end) => Err(dead_end),
                    };
                }
                Answer::Readdress(wanted) => {
                    let readdressed = self.readdress(binding, wanted, &mut retries.readdressed);
                    return match readdressed {
                        Ok(binding) => Ok(binding.into()),
                        Err(error) => Err(self.broken(error, CompletionStatus::No)),
                    };
                }
                Answer::Exception(exception) => explain_size(exception, octets),
            },
            Err(error) => {
                self.unbind(binding);
                if retries.resend(&error, binding) {
                    // Binds the original reference anew, also if this was the target of a forward.
                    return self.binding().await;
                }
                error.raise()
            }
        };
        // The target of a forward failed with COMPLETED_NO: tries the original reference once more.
        if binding.forwarded && is_two_way && !retries.fell_back && is_worth_asking_anew(&failed) {
            retries.fell_back = true;
            self.unbind(binding);
            return self.binding().await;
        }
        Err(failed)
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
