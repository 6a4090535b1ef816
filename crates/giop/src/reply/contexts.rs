//! Service contexts that are added to an encoded reply.

use super::{ReplyBuilder, ReplyHeader, ReplySlot, ReplyStatus};
use crate::buffers;
use crate::context::ServiceContext;
use crate::error::ProtocolError;
use crate::header::{HEADER_LEN, Message, MessageHeader};
use crate::request::BODY_ALIGNMENT;
use bytes::Bytes;
use zorb_cdr::{EncodeError, EncodeErrorKind, Encoder, Frame, Gather, NativeEndian, WireFormat};

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
        let octets = reply.chunks().next().unwrap_or_default();
        let head = octets.first_chunk::<HEADER_LEN>().unwrap_or(&[0; _]);
        let header = MessageHeader::parse(head)?;
        match ReplyHeader::head_in_place(&header, octets) {
            Some((_, status, _)) => Ok(status),
            None => Ok(ReplyHeader::head(&first_chunk(header, octets))?.1),
        }
    }
}

/// A message with the octets up to the first piece that an encoder has not copied. All contexts are among them.
#[cold]
fn first_chunk(header: MessageHeader, octets: &[u8]) -> Message {
    Message {
        header,
        frame: Frame::new(Bytes::copy_from_slice(octets)),
    }
}

/// Adds service contexts to a reply that was encoded in the byte order of this machine, behind those that it has. Copies the
/// reply into another buffer of the [thread's](buffers), and returns its own there.
///
/// Before GIOP 1.2 the contexts are in front of the other fields, and the body follows without padding. Four octets
/// behind the last context's data, which is an encapsulation, keep it aligned where needed.
///
/// # Errors
/// [`Expected`](EncodeErrorKind::Expected) if the message is not a reply;
/// [`TooLong`](EncodeErrorKind::TooLong) if the result would be longer than 4 GiB.
pub fn add_contexts(reply: Gather, contexts: &[ServiceContext]) -> Result<Gather, EncodeError> {
    let no_reply = || EncodeError::from(EncodeErrorKind::Expected("a reply"));
    let octets = reply.chunks().next().unwrap_or_default();
    let header = octets.first_chunk::<HEADER_LEN>().ok_or_else(no_reply)?;
    let header = MessageHeader::parse(header).map_err(|_| no_reply())?;
    let mut all = Vec::new();
    let (request_id, status, body) = match ReplyHeader::head_in_place(&header, octets) {
        Some(head) => head,
        None => {
            let message = first_chunk(header, octets);
            let read = ReplyHeader::read(&message).map_err(|_| no_reply())?;
            all = read.contexts.to_vec();
            (read.request_id, read.status, read.body)
        }
    };
    let contexts = match all.is_empty() {
        true => contexts,
        false => {
            all.extend_from_slice(contexts);
            &all
        }
    };
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
            before in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..3),
        ) {
            let version = Version { major: 1, minor };
            let made = |begin: u32, data: &[Vec<u8>]| -> Vec<_> {
                (begin..).zip(data).map(|(id, data)| ServiceContext {
                    id: ServiceContextId(id),
                    data: data.clone().into(),
                }).collect()
            };
            let before = made(50, &before);
            let builder = ReplyBuilder { version, request_id: 7, status: ReplyStatus::UserException, contexts: &before };
            let e = Encoder::<NativeEndian>::new(WireFormat::DEFAULT);
            let reply = builder.encode(e, |e| {
                if !is_empty {
                    e.write_u32(first);
                    e.write_u64(second);
                }
                Ok(())
            }).unwrap();
            prop_assert_eq!(ReplyStatus::of(&reply).unwrap(), ReplyStatus::UserException);
            let contexts = made(100, &data);
            let message = Message::from_gather(add_contexts(reply, &contexts).unwrap()).unwrap();
            let header = ReplyHeader::read(&message).unwrap();
            prop_assert_eq!((header.request_id, header.status), (7, ReplyStatus::UserException));
            let read = header.contexts.to_vec();
            let sent = [before, contexts].concat();
            prop_assert_eq!(read.len(), sent.len());
            for (read, sent) in read.iter().zip(&sent) {
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
