//! Reply headers of GIOP 1.0, 1.1 and 1.2, and the exceptions in their bodies.

use crate::context::{ServiceContext, ServiceContexts};
use crate::error::ProtocolError;
use crate::exception::SystemException;
use crate::header::{Message, MessageKind, Version};
use crate::request::{aligned_body, finish, write_contexts, write_header};
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncodeError, Encoder, Gather};

/// What a Reply's body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ReplyStatus {
    /// The result, then inout and out parameters.
    NoException = 0,
    /// A repository id, then the exception's members.
    UserException = 1,
    /// Repository id, minor code, completion status.
    SystemException = 2,
    /// A reference: send the request there.
    LocationForward = 3,
    /// The same, and for good (GIOP 1.2).
    LocationForwardPerm = 4,
    /// The addressing the server wants (GIOP 1.2).
    NeedsAddressingMode = 5,
}

impl ReplyStatus {
    fn from_u32(status: u32) -> Result<Self, ProtocolError> {
        Ok(match status {
            0 => Self::NoException,
            1 => Self::UserException,
            2 => Self::SystemException,
            3 => Self::LocationForward,
            4 => Self::LocationForwardPerm,
            5 => Self::NeedsAddressingMode,
            _ => {
                return Err(ProtocolError::BadStatus {
                    kind: MessageKind::Reply,
                    status,
                });
            }
        })
    }
}

/// The header of a received Reply.
#[derive(Debug)]
pub struct ReplyHeader<'a> {
    /// Whose reply it is.
    pub request_id: u32,
    /// What the body holds.
    pub status: ReplyStatus,
    /// The service contexts.
    pub contexts: ServiceContexts<'a>,
    /// Where the body begins in the frame.
    pub body: usize,
}

impl<'a> ReplyHeader<'a> {
    /// Reads the header of `message`. Allocates nothing.
    ///
    /// # Errors
    /// When the header is cut short or the status does not exist.
    pub fn read(message: &'a Message) -> Result<Self, ProtocolError> {
        by_order!(message.header.endian, O => Self::read_in::<O>(message))
    }

    fn read_in<O: ByteOrder>(message: &'a Message) -> Result<Self, ProtocolError> {
        let bad = |e| message.malformed(e);
        let mut d = message.decoder::<O>().map_err(bad)?;
        if message.header.version >= Version::V1_2 {
            let request_id = d.read_u32().map_err(bad)?;
            let status = ReplyStatus::from_u32(d.read_u32().map_err(bad)?)?;
            let contexts = ServiceContexts::read(&mut d, &message.frame).map_err(bad)?;
            Ok(Self {
                request_id,
                status,
                contexts,
                body: aligned_body(&mut d),
            })
        } else {
            let contexts = ServiceContexts::read(&mut d, &message.frame).map_err(bad)?;
            let request_id = d.read_u32().map_err(bad)?;
            let status = ReplyStatus::from_u32(d.read_u32().map_err(bad)?)?;
            Ok(Self {
                request_id,
                status,
                contexts,
                body: d.position(),
            })
        }
    }
}

/// What a Reply is made of, but for its body.
#[derive(Debug, Clone, Copy)]
pub struct ReplyBuilder<'a> {
    /// The version of the request.
    pub version: Version,
    /// The id of the request.
    pub request_id: u32,
    /// What the body holds.
    pub status: ReplyStatus,
    /// The service contexts to send.
    pub contexts: &'a [ServiceContext],
}

impl ReplyBuilder<'_> {
    /// Writes the message: header, then whatever `body` writes, in one pass into `e`, which must
    /// be new (position 0).
    ///
    /// # Errors
    /// Whatever `body` fails with, or a message longer than 4 GiB.
    pub fn encode<O: ByteOrder>(
        &self,
        mut e: Encoder<O>,
        body: impl FnOnce(&mut Encoder<O>) -> Result<(), EncodeError>,
    ) -> Result<Gather, EncodeError> {
        // A status that the request's version does not have is sent as the one it has.
        let status = match self.status {
            ReplyStatus::LocationForwardPerm if self.version < Version::V1_2 => {
                ReplyStatus::LocationForward
            }
            status => status,
        };
        write_header(&mut e, self.version, MessageKind::Reply);
        if self.version >= Version::V1_2 {
            e.write_u32(self.request_id);
            e.write_u32(status as u32);
            write_contexts(&mut e, self.contexts)?;
        } else {
            write_contexts(&mut e, self.contexts)?;
            e.write_u32(self.request_id);
            e.write_u32(status as u32);
        }
        finish(e, self.version, body)
    }
}

/// Reads the body of a SYSTEM_EXCEPTION reply.
///
/// # Errors
/// When the body is cut short or the completion status does not exist.
pub fn read_system_exception<O: ByteOrder>(
    d: &mut Decoder<'_, O>,
) -> Result<SystemException, DecodeError> {
    d.get()
}
