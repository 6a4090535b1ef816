//! LocateRequest, LocateReply and CancelRequest.

use crate::error::ProtocolError;
use crate::exception::SystemException;
use crate::header::{Message, MessageKind, Version};
use crate::ior::Ior;
use crate::request::{TargetAddress, close, write_header};
use zorb_cdr::{ByteOrder, EncodeError, Encoder, Gather};

/// A received LocateRequest, which consists of its header.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (LocateRequest message).
#[derive(Debug)]
pub struct LocateRequestHeader<'a> {
    /// The request id, chosen by the client among those of its requests.
    pub request_id: u32,
    /// The object whose location the client asks for.
    pub target: TargetAddress<'a>,
}

impl<'a> LocateRequestHeader<'a> {
    /// Reads `message`, which has to be a LocateRequest.
    ///
    /// # Errors
    /// [`Malformed`](ProtocolError::Malformed) if the message ends early;
    /// [`BadAddressing`](ProtocolError::BadAddressing) for an addressing disposition that the specification does not have.
    pub fn read(message: &'a Message) -> Result<Self, ProtocolError> {
        let bad = |e| message.malformed(e);
        by_order!(message.header.endian, O => {
            let mut d = message.decoder::<O>().map_err(bad)?;
            let request_id = d.read_u32().map_err(bad)?;
            let target = if message.header.version >= Version::V1_2 {
                TargetAddress::read(&mut d).map_err(bad)??
            } else {
                TargetAddress::Key(d.read_octets().map_err(bad)?)
            };
            Ok(Self { request_id, target })
        })
    }

    /// Encodes a whole LocateRequest for `key`, header included, into `e`, which must be new (position 0). No
    /// request in progress on the connection may have `request_id`.
    ///
    /// # Errors
    /// [`TooLong`](zorb_cdr::EncodeErrorKind::TooLong) if the message would be longer than 4 GiB.
    pub fn encode<O: ByteOrder>(
        e: Encoder<O>,
        version: Version,
        request_id: u32,
        key: &[u8],
    ) -> Result<Gather, EncodeError> {
        Self::encode_for(e, version, request_id, key, &TargetAddress::Key(key))
    }

    /// Encodes a LocateRequest in the addressing disposition that the server asked for.
    /// Before GIOP 1.2 there is no other, and the key is sent.
    ///
    /// # Errors
    /// Returns the errors of [`encode`](Self::encode), and that of a profile or reference that cannot be encoded.
    pub fn encode_for<O: ByteOrder>(
        mut e: Encoder<O>,
        version: Version,
        request_id: u32,
        key: &[u8],
        target: &TargetAddress<'_>,
    ) -> Result<Gather, EncodeError> {
        write_header(&mut e, version, MessageKind::LocateRequest);
        e.write_u32(request_id);
        if version >= Version::V1_2 {
            target.write(&mut e)?;
        } else {
            e.write_octets(key)?;
        }
        close(e)
    }
}

/// Writes a CancelRequest into `e`, which must be new (position 0). The result is always `Ok`, since the message has a
/// fixed size: 16 octets.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (CancelRequest message).
pub fn cancel_request<O: ByteOrder>(
    mut e: Encoder<O>,
    version: Version,
    request_id: u32,
) -> Result<Gather, EncodeError> {
    write_header(&mut e, version, MessageKind::CancelRequest);
    e.write_u32(request_id);
    close(e)
}

/// The status numbers of a LocateReply.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (LocateReply message).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum LocateStatus {
    UnknownObject = 0,
    ObjectHere = 1,
    ObjectForward = 2,
    ObjectForwardPerm = 3,
    LocSystemException = 4,
    LocNeedsAddressingMode = 5,
}

/// A server's answer to a LocateRequest.
///
/// Source: CORBA 3.3 Part 2, General Inter-ORB Protocol (LocateReply message).
#[derive(Debug, Clone, PartialEq)]
pub enum LocateReply {
    /// The server has no object of that key (UNKNOWN_OBJECT).
    UnknownObject,
    /// The server has the object, and requests may be sent to it.
    ObjectHere,
    /// Requests have to be sent to this reference.
    ObjectForward(Ior),
    /// OBJECT_FORWARD_PERM: the object has moved for good (GIOP 1.2).
    ObjectForwardPerm(Ior),
    /// The server failed to find out (GIOP 1.2).
    SystemException(SystemException),
    /// The addressing for which the server asks (GIOP 1.2).
    NeedsAddressingMode(i16),
}

impl LocateReply {
    /// Reads the request id and the server's answer. The body follows the header directly, in every version.
    ///
    /// # Errors
    /// [`Malformed`](ProtocolError::Malformed) if the message ends early or its reference or exception cannot be decoded;
    /// [`BadStatus`](ProtocolError::BadStatus) for a status that the specification does not have.
    pub fn read(message: &Message) -> Result<(u32, Self), ProtocolError> {
        let bad = |e| message.malformed(e);
        by_order!(message.header.endian, O => {
            let mut d = message.decoder::<O>().map_err(bad)?;
            let request_id = d.read_u32().map_err(bad)?;
            let reply = match d.read_u32().map_err(bad)? {
                0 => Self::UnknownObject,
                1 => Self::ObjectHere,
                2 => Self::ObjectForward(d.get().map_err(bad)?),
                3 => Self::ObjectForwardPerm(d.get().map_err(bad)?),
                4 => Self::SystemException(d.get().map_err(bad)?),
                5 => Self::NeedsAddressingMode(d.read_i16().map_err(bad)?),
                status => {
                    return Err(ProtocolError::BadStatus {
                        kind: MessageKind::LocateReply,
                        status,
                    });
                }
            };
            Ok((request_id, reply))
        })
    }

    /// Writes the reply to `request_id` into `e`, which must be new (position 0). A status that `version` lacks is sent
    /// as one that it has.
    ///
    /// # Errors
    /// [`EmbeddedNul`](zorb_cdr::EncodeErrorKind::EmbeddedNul) if the type id of a reference contains a NUL.
    pub fn encode<O: ByteOrder>(
        &self,
        mut e: Encoder<O>,
        version: Version,
        request_id: u32,
    ) -> Result<Gather, EncodeError> {
        write_header(&mut e, version, MessageKind::LocateReply);
        e.write_u32(request_id);
        let old = version < Version::V1_2;
        match self {
            Self::UnknownObject => e.write_u32(LocateStatus::UnknownObject as u32),
            Self::ObjectHere => e.write_u32(LocateStatus::ObjectHere as u32),
            Self::ObjectForwardPerm(ior) if !old => {
                e.write_u32(LocateStatus::ObjectForwardPerm as u32);
                e.put(ior)?;
            }
            Self::ObjectForward(ior) | Self::ObjectForwardPerm(ior) => {
                e.write_u32(LocateStatus::ObjectForward as u32);
                e.put(ior)?;
            }
            Self::SystemException(_) | Self::NeedsAddressingMode(_) if old => {
                e.write_u32(LocateStatus::UnknownObject as u32);
            }
            Self::SystemException(exception) => {
                e.write_u32(LocateStatus::LocSystemException as u32);
                e.put(exception)?;
            }
            Self::NeedsAddressingMode(disposition) => {
                e.write_u32(LocateStatus::LocNeedsAddressingMode as u32);
                e.write_i16(*disposition);
            }
        }
        close(e)
    }
}
