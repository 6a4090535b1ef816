//! Connections whose messages have GIOPlite's short headers.

use super::header::MORE;
use super::message::{ShortMessage, lengthen_message, shorten_message};
use super::shorten::{LEAST_ROOM, Lengthener, Shortener, room};
use bytes::BytesMut;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use zorb_transport::{
    Address, Capabilities, Connection, Endpoint, Listener, PeerIdentity, ReadOutcome,
};

/// A connection that translates between GIOP, for its users, and GIOPlite, on the wire.
///
/// A message that is whole in one read or write is translated without a lock. The flags say when the states behind the
/// locks are needed; at most one task reads and at most one writes, so only that one uses its flag and its lock.
#[derive(Debug)]
pub(super) struct LiteConnection {
    plain: Box<dyn Connection>,
    out: Mutex<Shortener>,
    /// Whether a part of a message has been written, or of its header.
    writes_rest: AtomicBool,
    incoming: Mutex<Lengthener>,
    /// Whether a part of a message has been received, or octets were not passed on.
    reads_rest: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Read = Poll<io::Result<ReadOutcome>>;

fn unregistered(octets: usize) -> ReadOutcome {
    ReadOutcome {
        octets,
        is_registered: false,
    }
}

impl LiteConnection {
    pub(super) fn new(plain: Box<dyn Connection>) -> Self {
        Self {
            plain,
            out: Mutex::default(),
            writes_rest: AtomicBool::new(false),
            incoming: Mutex::default(),
            reads_rest: AtomicBool::new(false),
        }
    }

    /// Receives by `read`, and lengthens the headers in place.
    #[inline(always)]
    fn read(&self, buf: &mut BytesMut, read: impl FnMut(&mut BytesMut) -> Read) -> Read {
        let mut read = read;
        if self.reads_rest.load(Ordering::Relaxed) || room(buf) < LEAST_ROOM {
            return self.read_rest(buf, read);
        }
        let before = buf.len();
        buf.extend_from_slice(&[0; MORE]);
        match read(buf) {
            Poll::Ready(Ok(mut outcome)) if outcome.octets > 0 => {
                if lengthen_message(buf.get_mut(before..).unwrap_or_default()) {
                    outcome.octets = outcome.octets.saturating_add(MORE);
                    return Poll::Ready(Ok(outcome));
                }
                self.read_on(before, outcome, buf, read)
            }
            other => {
                buf.truncate(before);
                other
            }
        }
    }

    /// Handles octets that were received behind [`MORE`] octets of room, and are not one whole message.
    #[cold]
    fn read_on(
        &self,
        before: usize,
        received: ReadOutcome,
        buf: &mut BytesMut,
        read: impl FnMut(&mut BytesMut) -> Read,
    ) -> Read {
        let mut incoming = lock(&self.incoming);
        let octets = incoming.has_read(received.octets, before, buf);
        self.note_reading(&incoming);
        match octets? {
            Some(octets) => Poll::Ready(Ok(ReadOutcome {
                octets,
                is_registered: received.is_registered && incoming.waits(),
            })),
            // Of the header, too little to pass on.
            None => {
                drop(incoming);
                self.read_rest(buf, read)
            }
        }
    }

    /// Receives within a message, or passes on octets that were received before.
    #[cold]
    fn read_rest(&self, buf: &mut BytesMut, mut read: impl FnMut(&mut BytesMut) -> Read) -> Read {
        let mut incoming = lock(&self.incoming);
        let mut is_registered = false;
        let passed_on = incoming.read(buf, |buf| match read(buf) {
            Poll::Ready(read) => {
                let read = read?;
                is_registered = read.is_registered;
                Ok(read.octets)
            }
            // The underlying transport has registered read interest.
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        });
        self.note_reading(&incoming);
        match passed_on {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
            Ok(octets) => Poll::Ready(Ok(ReadOutcome {
                octets,
                // Octets that were received here and not passed on cause no event in the reactor.
                is_registered: is_registered && incoming.waits(),
            })),
        }
    }

    fn note_reading(&self, incoming: &Lengthener) {
        let reads_rest = !incoming.is_between_messages();
        self.reads_rest.store(reads_rest, Ordering::Relaxed);
    }

    /// Reads as [`read`](Self::read) does, without waiting for readiness.
    #[inline(always)]
    fn read_now(
        &self,
        buf: &mut BytesMut,
        mut read: impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        match self.read(buf, |buf| Poll::Ready(read(buf).map(unregistered))) {
            Poll::Ready(read) => read.map(|read| read.octets),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Writes any number of messages, or parts of them.
    #[cold]
    fn write_any(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut out = lock(&self.out);
        let written = out.write(chunks, |slices| self.plain.try_write(slices));
        self.note_writing(&out);
        written
    }

    /// Notes that only `written` octets of a short message were written.
    #[cold]
    fn write_stopped(&self, message: &[u8], written: usize) -> io::Result<usize> {
        let Some((header, body)) = message.split_first_chunk() else {
            return Ok(0);
        };
        let mut out = lock(&self.out);
        let taken = out.has_written(header, body.len(), written);
        self.note_writing(&out);
        taken
    }

    fn note_writing(&self, out: &Shortener) {
        let writes_rest = !out.is_between_messages();
        self.writes_rest.store(writes_rest, Ordering::Relaxed);
    }
}

impl Connection for LiteConnection {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        let read = |buf: &mut BytesMut| self.plain.poll_read(cx, buf).map_ok(unregistered);
        self.read(buf, read).map_ok(|read| read.octets)
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        self.read(buf, |buf| self.plain.poll_read_and_register(cx, buf))
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        self.read_now(buf, |buf| self.plain.try_read(buf))
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        self.read_now(buf, |buf| self.plain.read_blocking(buf, limit))
    }

    fn deregister(&self) {
        self.plain.deregister();
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut short = ShortMessage::new();
        if let [message] = chunks
            && !self.writes_rest.load(Ordering::Relaxed)
            && shorten_message(message, &mut short)
        {
            let written = self.plain.try_write(&[IoSlice::new(&short)])?;
            return match written == short.len() {
                true => Ok(message.len()),
                false => self.write_stopped(message, written),
            };
        }
        self.write_any(chunks)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.plain.poll_write_ready(cx)
    }

    fn shutdown_write(&self) -> io::Result<()> {
        self.plain.shutdown_write()
    }

    fn close(&self) {
        self.plain.close();
    }

    fn is_closed_by_peer(&self) -> bool {
        self.plain.is_closed_by_peer()
    }

    fn peer(&self) -> &Address {
        self.plain.peer()
    }

    fn local(&self) -> &Address {
        self.plain.local()
    }

    fn capabilities(&self) -> Capabilities {
        self.plain.capabilities()
    }

    fn memory_octets(&self) -> usize {
        self.plain.memory_octets()
    }

    fn peer_identity(&self) -> Option<PeerIdentity> {
        self.plain.peer_identity()
    }
}

/// A listener whose connections speak GIOPlite.
#[derive(Debug)]
pub(super) struct LiteListener {
    plain: Box<dyn Listener>,
    endpoint: Endpoint,
}

impl LiteListener {
    pub(super) fn new(plain: Box<dyn Listener>, endpoint: Endpoint) -> Self {
        Self { plain, endpoint }
    }
}

impl Listener for LiteListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let plain = ready!(self.plain.poll_accept(cx))?;
        Poll::Ready(Ok(Box::new(LiteConnection::new(plain))))
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::{Buf, BufMut};
    use zorb_cdr::Endian;
    use zorb_giop::{MessageHeader, MessageKind, Version};

    /// A connection to itself, which takes and returns so many octets at a time.
    #[derive(Debug)]
    struct Loop {
        wire: Mutex<BytesMut>,
        most: usize,
    }

    impl Connection for Loop {
        fn poll_read(&self, _: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
            match self.try_read(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
                read => Poll::Ready(read),
            }
        }

        fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
            let mut wire = lock(&self.wire);
            let octets = wire.len().min(self.most).min(room(buf));
            buf.put((&mut *wire).take(octets));
            match octets {
                0 => Err(io::ErrorKind::WouldBlock.into()),
                octets => Ok(octets),
            }
        }

        fn deregister(&self) {}

        fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
            let mut left = self.most;
            for chunk in chunks {
                let taken = chunk.len().min(left);
                lock(&self.wire).extend_from_slice(&chunk[..taken]);
                left -= taken;
            }
            Ok(self.most - left)
        }

        fn poll_write_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn shutdown_write(&self) -> io::Result<()> {
            Ok(())
        }

        fn close(&self) {}

        fn peer(&self) -> &Address {
            unimplemented!("the test asks for no address")
        }

        fn local(&self) -> &Address {
            unimplemented!("the test asks for no address")
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities::stream()
        }
    }

    fn messages() -> Vec<Vec<u8>> {
        let sizes = [40_usize, 0, 300, 7, 256, 257, 0, 12, 1_000, 40];
        let message = |(at, size): (usize, &usize)| {
            let header = MessageHeader {
                version: Version::V1_2,
                endian: [Endian::Little, Endian::Big][at % 2],
                more_fragments: at % 3 == 0,
                kind: MessageKind::Request,
                size: u32::try_from(*size).unwrap(),
            };
            let body = (0..*size).map(|n| n as u8);
            header.to_octets().into_iter().chain(body).collect()
        };
        sizes.iter().enumerate().map(message).collect()
    }

    fn write(to: &LiteConnection, mut octets: &[u8]) {
        while !octets.is_empty() {
            match to.try_write(&[IoSlice::new(octets)]) {
                Ok(taken) => octets = &octets[taken..],
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
    }

    fn read(from: &LiteConnection, room: usize, polls: bool, to: &mut Vec<u8>) {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        loop {
            let mut buf = BytesMut::with_capacity(room);
            let read = match polls {
                true => from.poll_read(&mut cx, &mut buf),
                false => Poll::Ready(from.try_read(&mut buf)),
            };
            match read {
                Poll::Ready(Ok(octets)) => assert_eq!((octets, octets > 0), (buf.len(), true)),
                Poll::Ready(Err(error)) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    return;
                }
                Poll::Pending => return,
            }
            to.extend_from_slice(&buf);
        }
    }

    #[test]
    fn messages_are_the_same_again_however_little_the_transport_takes_and_returns() {
        let messages = messages();
        for most in (1..70).chain([260, 261, 262, 1_000, usize::MAX]) {
            for (room, polls) in [(64, true), (80, false), (300, true), (8_192, false)] {
                for together in 1..4 {
                    let wire = Mutex::default();
                    let connection = LiteConnection::new(Box::new(Loop { wire, most }));
                    let mut out = Vec::new();
                    for some in messages.chunks(together) {
                        for message in some {
                            write(&connection, message);
                        }
                        read(&connection, room, polls, &mut out);
                    }
                    assert!(out == messages.concat(), "{most}, {room}, {together}");
                }
            }
        }
    }
}
