//! Asking where an object is, without calling it.

use super::Detours;
use crate::object::{ObjectRef, Remote, Target};
use crate::wire::{ClientConnection, locate_reply};
use core::pin::pin;
use core::sync::atomic::AtomicBool;
use zorb_giop::{
    CompletionStatus, Fault, LocateReply, Message, MessageKind, ProtocolError, SystemException,
    SystemExceptionKind,
};

/// Asks where an object is.
pub(crate) async fn locate(object: &ObjectRef) -> Result<bool, SystemException> {
    // Nothing is carried out, however far the question got.
    let sent = AtomicBool::new(false);
    object
        .within_limit(&sent, pin!(locate_until_done(object)))
        .await
        .map_err(SystemException::received)
}

async fn locate_until_done(object: &ObjectRef) -> Result<bool, SystemException> {
    let mut binding = object.binding().await?;
    let mut detours = Detours::default();
    let mut readdressed = 0;
    loop {
        let reply = match &binding.target {
            Target::Local => {
                let orb = object.orb().inner();
                locate_reply(orb, orb.find_or_ask(&binding.key).await)
            }
            Target::Remote(Remote { connection, .. }) => {
                let located = connection.locate(binding.version, &binding.address()).await;
                let message = match located {
                    Ok(message) => message,
                    Err(error) => {
                        object.unbind(&binding);
                        if detours.resend(&error) {
                            binding = object.binding().await?;
                            continue;
                        }
                        return Err(error.raise());
                    }
                };
                read_locate_reply(&message, connection)?
            }
        };
        match reply {
            LocateReply::UnknownObject => return Ok(false),
            LocateReply::ObjectHere => return Ok(true),
            LocateReply::ObjectForward(ior) | LocateReply::ObjectForwardPerm(ior) => {
                detours.forward()?;
                binding = object.bind_forward(&ior).await?;
            }
            // That is how JacORB says UNKNOWN_OBJECT.
            LocateReply::SystemException(exception)
                if exception.kind == SystemExceptionKind::ObjectNotExist =>
            {
                return Ok(false);
            }
            LocateReply::SystemException(exception) => return Err(exception),
            LocateReply::NeedsAddressingMode(wanted) => {
                binding = object
                    .readdress(&binding, wanted, &mut readdressed)
                    .map_err(|error| object.broken(error, CompletionStatus::No))?;
            }
        }
    }
}

fn read_locate_reply(
    message: &Message,
    connection: &ClientConnection,
) -> Result<LocateReply, SystemException> {
    let kind = message.header.kind;
    let reply = match kind {
        MessageKind::LocateReply => LocateReply::read(message),
        _ => Err(ProtocolError::WrongDirection { kind }),
    };
    let (_, reply) = reply.map_err(|error| {
        Fault::Protocol {
            endpoint: connection.endpoint().to_string(),
            error,
        }
        .raise(CompletionStatus::No)
    })?;
    Ok(reply)
}
