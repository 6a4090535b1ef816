//! LocateRequest: locates an object without calling it.

use super::retry::Retries;
use crate::object::{ObjectRef, Remote, Target};
use crate::serve::locate_reply;
use core::sync::atomic::AtomicBool;
use zorb_giop::{CompletionStatus, Fault, LocateReply, SystemException, SystemExceptionKind};

impl ObjectRef {
    /// Whether the server has the object, by a LocateRequest, without calling the object.
    ///
    /// Costs a LocateRequest and its reply; the servant does not run. Source: CORBA 3.3 Part 2, General Inter-ORB
    /// Protocol (LocateRequest).
    ///
    /// # Errors
    /// The system exception of connecting to the server, or of the server's ORB.
    ///
    /// # Cancel safety
    /// Safe: the call has no effect on the object.
    #[doc(alias = "validate_connection")]
    pub async fn locate(&self) -> Result<bool, SystemException> {
        // A LocateRequest runs no servant, so a time limit is COMPLETED_NO.
        let sent = AtomicBool::new(false);
        self.within_limit(&sent, locate_until_done(self))
            .await
            .map_err(SystemException::received)
    }
}

async fn locate_until_done(object: &ObjectRef) -> Result<bool, SystemException> {
    let mut guard = object.binding().await?;
    let mut retries = Retries::default();
    loop {
        let Some(binding) = guard.get() else {
            return Err(Fault::OrbShutDown.raise(CompletionStatus::No));
        };
        let reply = match &binding.target {
            Target::Local => {
                let orb = object.orb().inner();
                locate_reply(orb, orb.find_or_ask(&binding.key).await)
            }
            Target::Remote(Remote { connection, .. }) => {
                let located = connection.locate(binding.version, &binding.address()).await;
                match located {
                    Ok(Ok(reply)) => reply,
                    Ok(Err(error)) => {
                        let endpoint = connection.endpoint().to_string();
                        let fault = Fault::Protocol { endpoint, error };
                        return Err(fault.raise(CompletionStatus::No));
                    }
                    Err(error) => {
                        object.unbind(binding);
                        if retries.resend(&error, binding) {
                            guard = object.binding().await?;
                            continue;
                        }
                        return Err(error.raise());
                    }
                }
            }
        };
        match reply {
            LocateReply::UnknownObject => return Ok(false),
            LocateReply::ObjectHere => return Ok(true),
            LocateReply::ObjectForward(ior) | LocateReply::ObjectForwardPerm(ior) => {
                retries.forward()?;
                guard = object.bind_forward(&ior, binding).await?.into();
            }
            // JacORB replies with this exception instead of UNKNOWN_OBJECT.
            LocateReply::SystemException(exception)
                if exception.kind == SystemExceptionKind::ObjectNotExist =>
            {
                return Ok(false);
            }
            LocateReply::SystemException(exception) => return Err(exception),
            LocateReply::NeedsAddressingMode(wanted) => {
                let readdressed = object.readdress(binding, wanted, &mut retries.readdressed);
                guard = match readdressed {
                    Ok(binding) => binding.into(),
                    Err(error) => return Err(object.broken(error, CompletionStatus::No)),
                };
            }
        }
    }
}
