//! Service contexts that are added to an encoded reply.

use super::{HEADER_OCTETS, ReplyBuilder, ReplyHeader, ReplySlot, ReplyStatus};
use crate::buffers;
use crate::context::ServiceContext;
use crate::error::ProtocolError;
use crate::header::{HEADER_LEN, Message, MessageHeader};
use crate::request::BODY_ALIGNMENT;
use zorb_cdr::{EncodeError, EncodeErrorKind, Encoder, Gather, NativeEndian, WireFormat};

/// The most padding of contexts, which keeps the body behind them aligned: before GIOP 1.2 the body has no padding of
/// its own.
const PADDING: [u8; 4] = [0; 4];

impl ReplyStatus {
    /// Reads the status of an encoded reply.
    ///
    /// # Errors
    /// Returns the errors of [`ReplyHeader::head`], and those of [`MessageHeader::parse`] for octets that begin no
    /// message.
    pub fn of(reply: &Gather) -> Result<Self, ProtocolError> {
        let header = reply.chunks().next().and_then(<[u8]>::first_chunk);
        let header = header.copied().unwrap_or([0; HEADER_OCTETS]);
        let mut message = Gather::default();
        message.push(bytes::Bytes::copy_from_slice(&header));
        let message = Message::from_gather(message)?;
        Ok(ReplyHeader::head(&message)?.1)
    }
}

/// Adds service contexts to a reply that was encoded without any, in the byte order of this machine. Copies the reply
/// into another buffer of the [thread's](buffers), and returns its own there.
///
/// Before GIOP 1.2 the contexts are in front of the other fields, and the body follows without padding. Four octets
/// behind the last context's data, which is an encapsulation, keep it aligned where needed.
///
/// # Errors
/// [`Expected`](EncodeErrorKind::Expected) if the message is not a reply without contexts;
/// [`TooLong`](EncodeErrorKind::TooLong) if the result would be longer than 4 GiB.
pub fn add_contexts(reply: Gather, contexts: &[ServiceContext]) -> Result<Gather, EncodeError> {
    let no_reply = || EncodeError::from(EncodeErrorKind::Expected("a reply without contexts"));
    let head = (reply.chunks().next())
        .and_then(<[u8]>::first_chunk::<HEADER_OCTETS>)
        .ok_or_else(no_reply)?;
    let header = head.first_chunk::<HEADER_LEN>().ok_or_else(no_reply)?;
    let header = MessageHeader::parse(header).map_err(|_| no_reply())?;
    let (request_id, status, body) =
        ReplyHeader::head_in_place(&header, head).ok_or_else(no_reply)?;
    let encode = |contexts: &[ServiceContext]| {
        let mut begins = body;
        let builder = ReplyBuilder {
            version: header.version,
            request_id,
            status,
            contexts,
        };
        let e = Encoder::<NativeEndian>::with_buffer(buffers::take(), WireFormat::DEFAULT);
        let encoded = builder.encode(e, |e| {
            begins = e.position();
            let mut skipped = body;
            for chunk in reply.chunks() {
                e.append(chunk.get(skipped..).unwrap_or_default());
                skipped = skipped.saturating_sub(chunk.len());
            }
            Ok(())
        });
        encoded.map(|encoded| (encoded, begins))
    };
    let (mut encoded, begins) = encode(contexts)?;
    if begins % BODY_ALIGNMENT != body % BODY_ALIGNMENT {
        let mut padded = contexts.to_vec();
        if let Some(last) = padded.last_mut() {
            last.data = [&*last.data, &PADDING].concat().into();
        }
        buffers::give(encoded.into_buffer());
        encoded = encode(&padded)?.0;
    }
    buffers::give(reply.into_buffer());
    Ok(encoded)
}

impl ReplySlot {
    /// Returns the service contexts of the reply. Copies them.
    #[must_use]
    pub fn contexts(&self) -> Vec<ServiceContext> {
        // A reply that was copied into the slot has no contexts.
        let header = self.message().map(ReplyHeader::read);
        header
            .and_then(Result::ok)
            .map_or_else(Vec::new, |header| header.contexts.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ServiceContextId;
    use crate::header::Version;
    use proptest::prelude::*;
    use zorb_cdr::Decoder;

    proptest! {
        #[test]
        fn contexts_are_added_and_the_body_stays_where_it_can_be_read(
            minor in 0_u8..=2,
            data in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 1..4),
            first in any::<u32>(),
            second in any::<u64>(),
            is_empty in any::<bool>(),
        ) {
            let version = Version { major: 1, minor };
            let builder = ReplyBuilder { version, request_id: 7, status: ReplyStatus::UserException, contexts: &[] };
            let e = Encoder::<NativeEndian>::new(WireFormat::DEFAULT);
            let reply = builder.encode(e, |e| {
                if !is_empty {
                    e.write_u32(first);
                    e.write_u64(second);
                }
                Ok(())
            }).unwrap();
            prop_assert_eq!(ReplyStatus::of(&reply).unwrap(), ReplyStatus::UserException);
            let contexts: Vec<_> = (0_u32..).zip(&data).map(|(n, data)| ServiceContext {
                id: ServiceContextId(100 + n),
                data: data.clone().into(),
            }).collect();
            let message = Message::from_gather(add_contexts(reply, &contexts).unwrap()).unwrap();
            let header = ReplyHeader::read(&message).unwrap();
            prop_assert_eq!((header.request_id, header.status), (7, ReplyStatus::UserException));
            let read = header.contexts.to_vec();
            prop_assert_eq!(read.len(), contexts.len());
            for (read, sent) in read.iter().zip(&contexts) {
                prop_assert_eq!(read.id, sent.id);
                prop_assert!(read.data.starts_with(&sent.data) && read.data.len() <= sent.data.len() + PADDING.len());
            }
            let mut d = Decoder::<NativeEndian>::at(&message.frame, header.body, WireFormat::DEFAULT).unwrap();
            if !is_empty {
                prop_assert_eq!((d.read_u32().unwrap(), d.read_u64().unwrap()), (first, second));
            }
        }
    }

    #[test]
    fn what_is_no_reply_has_no_status() {
        assert!(ReplyStatus::of(&Gather::default()).is_err());
    }
}
