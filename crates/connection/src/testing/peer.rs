//! The other end of a connection, played by the test.

use super::stub_owner::KEY;
use super::{Stream, in_time};
use core::future::poll_fn;
use std::io::IoSlice;
use zorb_cdr::{Encoder, NativeEndian, WireFormat};
use zorb_giop::{
    HEADER_LEN, Limits, LocateReply, Message, MessageKind, Reader, ReplyBuilder, ReplyStatus,
    RequestBuilder, RequestHeader, ResponseFlags, ServiceContext, Version,
};
use zorb_transport::Connection;

/// The other end of a connection.
pub(crate) struct Peer {
    pub(crate) stream: Stream,
    reader: Reader,
    /// Pieces of fragmented messages received.
    pub(crate) fragments: usize,
}

fn encoder() -> Encoder<NativeEndian> {
    Encoder::new(WireFormat::default())
}

/// A request of GIOP 1.2 for a result.
pub(crate) fn request(id: u32, operation: &str, arguments: &[u8]) -> Vec<u8> {
    request_with(id, operation, arguments, ResponseFlags::WithTarget, &[])
}

pub(crate) fn request_with(
    request_id: u32,
    operation: &str,
    arguments: &[u8],
    response: ResponseFlags,
    contexts: &[ServiceContext],
) -> Vec<u8> {
    let builder = RequestBuilder {
        version: Version::V1_2,
        request_id,
        response,
        key: KEY,
        operation,
        contexts,
    };
    let message = builder.encode(encoder(), |e| {
        e.append(arguments);
        Ok(())
    });
    message.unwrap().to_vec()
}

/// A reply of GIOP 1.2 with a result.
pub(crate) fn reply(request_id: u32, result: &[u8]) -> Vec<u8> {
    let builder = ReplyBuilder {
        version: Version::V1_2,
        request_id,
        status: ReplyStatus::NoException,
        contexts: &[],
    };
    let message = builder.encode(encoder(), |e| {
        e.append(result);
        Ok(())
    });
    message.unwrap().to_vec()
}

/// A LocateReply of GIOP 1.2.
pub(crate) fn located(id: u32, reply: &LocateReply) -> Vec<u8> {
    reply.encode(encoder(), Version::V1_2, id).unwrap().to_vec()
}

/// A message of GIOP 1.2 cut into pieces of about so many octets, a multiple of 8.
pub(crate) fn fragments(message: &[u8], octets: usize) -> Vec<Vec<u8>> {
    let (header, body) = message.split_at(HEADER_LEN);
    // Every piece but the last ends at a multiple of 8.
    let (first, rest) = body.split_at(octets + 4);
    let last = rest.chunks(octets).len();
    let pieces = core::iter::once(first).chain(rest.chunks(octets));
    let fragment = |(at, piece): (usize, &[u8])| {
        let mut header = header.to_vec();
        let mut body = Vec::new();
        header[6] |= if at < last { 2 } else { 0 };
        if at > 0 {
            header[7] = 7;
            body.extend_from_slice(&first[..4]);
        }
        body.extend_from_slice(piece);
        let size = u32::try_from(body.len()).unwrap();
        header[8..].copy_from_slice(&size.to_ne_bytes());
        [header, body].concat()
    };
    pieces.enumerate().map(fragment).collect()
}

impl Peer {
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            stream,
            reader: Reader::new(Limits::default()),
            fragments: 0,
        }
    }

    /// Sends octets, which have to fit into the stream.
    pub(crate) fn send(&self, octets: &[u8]) {
        let sent = self.stream.try_write(&[IoSlice::new(octets)]).unwrap();
        assert_eq!(sent, octets.len(), "the stream has room");
    }

    /// Sends octets if there is room for all of them in the stream.
    pub(crate) fn fits(&self, octets: &[u8]) -> bool {
        let fits = self.stream.room() >= octets.len();
        if fits {
            self.send(octets);
        }
        fits
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.received() {
                return Some(message);
            }
            self.reader.reserve().unwrap();
            let (stream, buffer) = (&self.stream, self.reader.buffer());
            let read = in_time(poll_fn(|cx| stream.poll_read(cx, buffer))).await;
            if read.unwrap() == 0 {
                return None;
            }
        }
    }

    /// The next message, by reads that block this thread.
    pub(crate) fn receive_blocking(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.received() {
                return Some(message);
            }
            self.reader.reserve().unwrap();
            let limit = Some(super::PATIENCE);
            let read = self.stream.read_blocking(self.reader.buffer(), limit);
            if read.unwrap() == 0 {
                return None;
            }
        }
    }

    /// Whether no further message has come.
    pub(crate) fn has_nothing(&mut self) -> bool {
        self.reader.reserve().unwrap();
        self.stream.try_read(self.reader.buffer()).is_err() && self.received().is_none()
    }

    fn received(&mut self) -> Option<Message> {
        let fragments = &mut self.fragments;
        let received = self.reader.receive(|_, _| *fragments += 1).unwrap();
        received.map(|received| received.into_message())
    }

    /// The id, operation and arguments of the next message, a request.
    pub(crate) async fn request(&mut self) -> (u32, String, Vec<u8>) {
        let message = self.receive().await.expect("a request comes");
        parsed(&message)
    }

    pub(crate) fn request_blocking(&mut self) -> (u32, String, Vec<u8>) {
        let message = self.receive_blocking().expect("a request comes");
        parsed(&message)
    }

    /// The id and result of the next message, a reply without an exception.
    pub(crate) async fn reply(&mut self) -> (u32, Vec<u8>) {
        let message = self.receive().await.expect("a reply comes");
        assert_eq!(message.header.kind, MessageKind::Reply);
        let (id, status, body) = zorb_giop::ReplyHeader::head(&message).unwrap();
        assert_eq!(status, ReplyStatus::NoException);
        (id, message.frame.octets()[body..].to_vec())
    }

    /// The kind of the next message.
    pub(crate) async fn kind(&mut self) -> Option<MessageKind> {
        self.receive().await.map(|message| message.header.kind)
    }
}

fn parsed(message: &Message) -> (u32, String, Vec<u8>) {
    assert_eq!(message.header.kind, MessageKind::Request);
    let header = RequestHeader::read(message).unwrap();
    let arguments = message.frame.octets()[header.body..].to_vec();
    let operation = String::from_utf8_lossy(header.operation).into_owned();
    (header.request_id, operation, arguments)
}
