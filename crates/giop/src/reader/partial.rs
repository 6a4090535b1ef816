//! Fragmented messages whose last fragment has not come yet.

use super::{Reader, total};
use crate::buffers::{self, Receive};
use crate::error::ProtocolError;
use crate::header::{HEADER_LEN, Message, MessageHeader, MessageKind, Version};
use crate::life::Role;
use bytes::{Buf, Bytes, BytesMut};
use std::sync::Arc;
use zorb_cdr::{ByteOrder, Decoder, Endian, Frame, WireFormat};

/// Octets of a Fragment's own headers in GIOP 1.2: message header and request id.
const FRAGMENT_1_2_PREFIX: usize = HEADER_LEN + 4;

/// A fragmented message whose last fragment has not come yet.
#[derive(Debug)]
pub(super) struct Partial {
    /// The request id in GIOP 1.2; in 1.1 there is at most one partial message and no id.
    id: Option<u32>,
    /// The request id for CancelRequest, if it is a request whose first piece has it.
    cancelled_by: Option<u32>,
    header: MessageHeader,
    /// Octets of the message so far, header included.
    length: usize,
    /// The message is beyond the limit, and its first octets have been handed out: further fragments are dropped.
    is_skipped: bool,
    /// Its octets so far, from the front of a buffer; none of a skipped message.
    octets: BytesMut,
    /// GIOP 1.1: where the data of later fragments begins, since alignment restarts there.
    starts: Vec<usize>,
}

impl Reader {
    /// Refuses a whole message that interrupts the fragments of another one: in GIOP 1.2 one of the same id, for the same part of
    /// this end, since requests and replies have ids of their own. A Fragment of 1.1 carries no id, so no message that could be
    /// fragmented may come in between.
    pub(super) fn check_uninterrupted(
        &self,
        header: MessageHeader,
        octets: &[u8],
    ) -> Result<(), ProtocolError> {
        let is_for = |kind| Role::Both.receives(kind).ok();
        let part = is_for(header.kind);
        self.check_apart(header, octets, |p| {
            p.id.is_none() || is_for(p.header.kind) == part
        })
    }

    /// Refuses a message with the id of one, among those that `meets`, whose fragments have not all come.
    fn check_apart(
        &self,
        header: MessageHeader,
        octets: &[u8],
        meets: impl Fn(&Partial) -> bool,
    ) -> Result<(), ProtocolError> {
        let MessageHeader { kind, version, .. } = header;
        if !kind.is_fragmentable(version) {
            return Ok(());
        }
        let id = match version >= Version::V1_2 {
            // Without an id, the message is malformed.
            true => id_at(octets, header.endian).map(Some),
            false => Some(None),
        };
        match id.is_some_and(|id| self.partial.iter().any(|p| p.id == id && meets(p))) {
            true => Err(ProtocolError::FragmentsInterrupted { kind }),
            false => Ok(()),
        }
    }

    /// Begins a message of which fragments follow. Returns its first octets if it is beyond the limit already.
    pub(super) fn begin_partial(
        &mut self,
        header: MessageHeader,
        octets: BytesMut,
    ) -> Result<Option<Message>, ProtocolError> {
        let MessageHeader { kind, version, .. } = header;
        if !kind.is_fragmentable(version) {
            return Err(ProtocolError::NotFragmentable { kind, version });
        }
        // Their fragments could not be told apart.
        self.check_apart(header, &octets, |_| true)?;
        let id = if version >= Version::V1_2 {
            // The first piece must hold at least the request id, which comes first in 1.2.
            Some(id_at(&octets, header.endian).ok_or(ProtocolError::UnexpectedFragment)?)
        } else {
            None
        };
        if self.partial.len() >= self.limits.max_partial_messages {
            return Err(ProtocolError::TooManyPartialMessages {
                limit: self.limits.max_partial_messages,
            });
        }
        self.check_partial_octets(octets.len())?;
        // A copy, so that a message whose fragments come slowly does not keep the receive buffer.
        let mut whole = buffers::take_receive_of(octets.len(), usize::MAX).octets;
        whole.extend_from_slice(&octets);
        let mut begun = Partial {
            id,
            length: total(header),
            is_skipped: false,
            cancelled_by: match (kind, id) {
                (MessageKind::Request, None) => {
                    by_order!(header.endian, O => id_of_1_1::<O>(&octets))
                }
                (MessageKind::Request | MessageKind::LocateRequest, id) => id,
                _ => None,
            },
            header,
            octets: whole,
            starts: Vec::new(),
        };
        // The reader has kept the first octets only of a piece that is beyond the limit by itself.
        let head = (begun.length > self.limits.max_message_octets).then(|| begun.skip());
        self.partial.push(begun);
        Ok(head)
    }

    fn check_partial_octets(&self, more: usize) -> Result<(), ProtocolError> {
        let held = self
            .partial
            .iter()
            .fold(more, |sum, p| sum.saturating_add(p.held()));
        if held > self.limits.max_partial_octets {
            return Err(ProtocolError::TooManyPartialOctets {
                limit: self.limits.max_partial_octets,
            });
        }
        Ok(())
    }

    /// Adds a Fragment to its message. Returns the message if it is whole now, or its first octets if it is beyond the limit
    /// from here on.
    pub(super) fn continue_partial(
        &mut self,
        header: MessageHeader,
        mut octets: BytesMut,
    ) -> Result<Option<Message>, ProtocolError> {
        let (id, prefix) = if header.version >= Version::V1_2 {
            let id = id_at(&octets, header.endian).ok_or(ProtocolError::UnexpectedFragment)?;
            (Some(id), FRAGMENT_1_2_PREFIX)
        } else {
            (None, HEADER_LEN)
        };
        let index = self
            .partial
            .iter()
            .position(|p| p.id == id && p.header.version == header.version)
            .ok_or(ProtocolError::UnexpectedFragment)?;
        octets.advance(prefix);
        let begun = self
            .partial
            .get(index)
            .ok_or(ProtocolError::UnexpectedFragment)?;
        // All fragments of one message have the same byte order.
        if begun.header.endian != header.endian {
            return Err(ProtocolError::UnexpectedFragment);
        }
        let more = total(header).saturating_sub(prefix);
        let length = begun.length.saturating_add(more);
        let is_skipped = length > self.limits.max_message_octets;
        if is_skipped {
            self.check_skipped(begun.header.kind, length)?;
            // Of a message that begins with few octets, those of this fragment are part of its beginning.
            octets.truncate(self.head_octets().saturating_sub(begun.octets.len()));
        } else {
            self.check_partial_octets(octets.len())?;
        }
        let partial = self
            .partial
            .get_mut(index)
            .ok_or(ProtocolError::UnexpectedFragment)?;
        partial.length = length;
        let mut head = None;
        if !partial.is_skipped {
            if id.is_none() && !octets.is_empty() {
                partial.starts.push(partial.octets.len());
            }
            partial.octets.extend_from_slice(&octets);
            head = is_skipped.then(|| partial.skip());
        }
        if header.more_fragments {
            return Ok(head);
        }
        let done = self.partial.swap_remove(index);
        Ok(match done.is_skipped {
            true => head,
            false => Some(done.into_message()),
        })
    }

    /// Drops a cancelled request whose fragments are still coming; no more of them follow.
    pub(super) fn drop_cancelled(&mut self, header: MessageHeader, octets: &[u8]) {
        let id = id_at(octets, header.endian);
        if id.is_some() {
            self.partial.retain(|p| p.cancelled_by != id);
        }
    }
}

impl Partial {
    /// Returns the octets of memory that it takes, with the whole capacity of its buffer.
    pub(super) fn memory(&self) -> usize {
        let starts = self.starts.capacity().saturating_mul(size_of::<usize>());
        self.octets.capacity().saturating_add(starts)
    }

    /// Returns its octets, and those of the table of fragments, which tiny fragments make long.
    fn held(&self) -> usize {
        let starts = self.starts.len().saturating_mul(size_of::<usize>());
        self.octets.len().saturating_add(starts)
    }

    /// Skips the rest of a message beyond the limit: returns its first octets as a message that is cut short.
    fn skip(&mut self) -> Message {
        self.is_skipped = true;
        let mut octets = core::mem::take(&mut self.octets);
        let whole = octets.capacity();
        octets.truncate(Reader::HEAD_OCTETS.min(self.length.saturating_sub(1)));
        let head = Bytes::copy_from_slice(&octets);
        octets.clear();
        buffers::give_receive(Receive { octets, whole });
        let mut starts = core::mem::take(&mut self.starts);
        starts.retain(|start| *start < head.len());
        self.message(head, starts)
    }

    fn into_message(mut self) -> Message {
        let whole = self.octets.capacity();
        let octets = self.octets.split().freeze();
        buffers::give_receive(Receive {
            octets: core::mem::take(&mut self.octets),
            whole,
        });
        let starts = core::mem::take(&mut self.starts);
        self.message(octets, starts)
    }

    /// The message of the length so far, with these octets of it.
    fn message(&self, octets: Bytes, starts: Vec<usize>) -> Message {
        let size = self.length.saturating_sub(HEADER_LEN);
        Message {
            header: MessageHeader {
                more_fragments: false,
                size: u32::try_from(size).unwrap_or(u32::MAX),
                ..self.header
            },
            frame: match starts.as_slice() {
                [] => Frame::new(octets),
                _ => Frame::with_fragment_starts(octets, Arc::from(starts)),
            },
        }
    }
}

/// Reads the unsigned long right behind the message header.
fn id_at(octets: &[u8], endian: Endian) -> Option<u32> {
    let id = octets.get(HEADER_LEN..)?.first_chunk::<4>()?;
    Some(match endian {
        Endian::Big => u32::from_be_bytes(*id),
        Endian::Little => u32::from_le_bytes(*id),
    })
}

/// Reads the id of a Request of GIOP 1.1, behind the service contexts.
fn id_of_1_1<O: ByteOrder>(octets: &[u8]) -> Option<u32> {
    let format = WireFormat {
        minor: 1,
        ..WireFormat::default()
    };
    let mut d = Decoder::<O>::from_slice(octets, format);
    d.take(HEADER_LEN).ok()?;
    // A context has at least an id and the length of its data.
    for _ in 0..d.read_count(8).ok()? {
        d.read_u32().ok()?;
        d.read_octets().ok()?;
    }
    d.read_u32().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, UnfinishedInput};

    /// Returns the first fragment of a request, of `octets` octets.
    fn first(octets: usize) -> Vec<u8> {
        let mut message = b"GIOP\x01\x02\x03\x00".to_vec();
        message.extend(u32::try_from(octets - HEADER_LEN).unwrap().to_le_bytes());
        message.resize(octets, 0);
        message
    }

    #[test]
    fn what_a_reader_holds_for_what_is_not_whole_is_memory_and_little_for_few_octets() {
        let mut reader = Reader::new(Limits::default());
        assert_eq!(
            (reader.unfinished(), reader.held()),
            (UnfinishedInput::Nothing, 0)
        );
        for begun in [1, 12, 100, 4000] {
            let mut reader = Reader::new(Limits::default());
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&first(8000)[..begun]);
            assert_eq!(reader.unfinished(), UnfinishedInput::Message);
            assert!(reader.held() >= Reader::READ_OCTETS);
            reader.release();
            assert!((begun..=2 * begun + 64).contains(&reader.held()));
            // It goes on where it was.
            reader.reserve().unwrap();
            reader.buffer().extend_from_slice(&first(8000)[begun..]);
            assert!(reader.next().unwrap().is_none());
            assert_eq!(reader.unfinished(), UnfinishedInput::Fragments);
            assert!(reader.held() >= 8000);
        }
        reader.reserve().unwrap();
        reader.buffer().extend_from_slice(&first(40_000)[..30_000]);
        let held = reader.held();
        reader.release();
        assert_eq!(reader.held(), held, "a longer beginning stays where it is");
    }

    #[test]
    fn a_request_does_not_interrupt_the_fragments_of_a_reply_that_has_its_id_and_another_reply_does()
     {
        // The last octet of a message header before its size is the kind: Reply, then Fragment.
        let of = |kind: u8, flags: u8| {
            let mut message = first(24);
            (message[6], message[7]) = (flags, kind);
            message
        };
        let (begins, ends) = (of(1, 3), of(7, 1));
        for (between, is_taken) in [(of(0, 1), true), (of(3, 1), true), (of(1, 1), false)] {
            let mut reader = Reader::new(Limits::default());
            for message in [&begins, &between, &ends] {
                reader.buffer().extend_from_slice(message);
            }
            let mut kinds = Vec::new();
            let interrupted = loop {
                match reader.next() {
                    Ok(Some(message)) => kinds.push(message.header.kind),
                    Ok(None) => break false,
                    Err(error) => {
                        assert!(matches!(error, ProtocolError::FragmentsInterrupted { .. }));
                        break true;
                    }
                }
            };
            assert_eq!(interrupted, !is_taken);
            let kind = MessageKind::from_octet(between[7]).unwrap();
            assert_eq!(
                kinds,
                [kind, MessageKind::Reply][..if is_taken { 2 } else { 0 }]
            );
        }
        // With fragments on both sides they could not be told apart.
        let mut reader = Reader::new(Limits::default());
        reader
            .buffer()
            .extend_from_slice(&[begins, of(0, 3)].concat());
        reader.next().unwrap_err();
    }
}
