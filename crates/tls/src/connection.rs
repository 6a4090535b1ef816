//! Connections whose octets are protected.

use crate::address::end;
use crate::handshake::{Plain, flush};
use bytes::BytesMut;
use rustls::Connection as Tls;
use std::{
    cell::Cell,
    io::{self, BufRead, IoSlice, Read, Write},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use zorb_transport::{Address, Capabilities, Connection, PeerIdentity, ReadOutcome};

/// Octets that one read receives, for readers with room for many and for few. What a reader has no room for is kept, so a
/// reader that has room for few octets receives few.
const MANY: usize = 68 << 10;
const FEW: usize = 20 << 10;

/// Octets of received records that rustls keeps room for while there are none.
const IDLE: usize = 4 << 10;

/// Octets of a full record (RFC 8446, section 5.1).
const RECORD: usize = 16 << 10;

thread_local! {
    /// What is received goes through a buffer of the thread, so that idle connections have none.
    static RECEIVED: Cell<BytesMut> = Cell::default();
}

/// A connection after its handshake.
///
/// Reading and writing share the state of the session, behind a lock that is held for cryptography and for writes to the
/// socket, which do not wait.
#[derive(Debug)]
pub(crate) struct TlsConnection {
    plain: Box<dyn Connection>,
    session: Mutex<Session>,
    /// Whether octets were received and not passed on. Only the reader reads and changes it.
    reads_rest: AtomicBool,
    identity: Option<PeerIdentity>,
    peer: Address,
    local: Address,
}

#[derive(Debug)]
struct Session {
    tls: Tls,
    /// What was received and has not been decrypted.
    received: Vec<u8>,
    /// Why the stream has ended.
    end: Option<End>,
    /// Octets that are encrypted and not reported as written, since the socket has not taken their record.
    unreported: usize,
    is_shut_down: bool,
}

#[derive(Debug)]
enum End {
    /// The peer has ended the stream.
    Closed,
    /// The peer broke the protocol, or has refused us; the error has not been returned yet.
    Failed(rustls::Error),
    /// The error has been returned.
    Reported,
}

impl TlsConnection {
    /// Takes over a connection after the handshake. `received`: what came behind it.
    pub(crate) fn new(
        plain: Box<dyn Connection>,
        mut tls: Tls,
        received: Vec<u8>,
        identity: Option<PeerIdentity>,
    ) -> Self {
        let (peer, local) = (end(plain.peer()), end(plain.local()));
        // What one read of the peer takes is one write: with the 64 KiB of rustls, a message of as many octets would be two.
        tls.set_buffer_limit(Some(MANY));
        Self {
            plain,
            peer,
            local,
            session: Mutex::new(Session {
                tls,
                received,
                end: None,
                unreported: 0,
                is_shut_down: false,
            }),
            reads_rest: AtomicBool::new(true),
            identity,
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads by `receive`, which receives octets of the network.
    fn read(
        &self,
        buf: &mut BytesMut,
        mut receive: impl FnMut(&mut BytesMut) -> Poll<io::Result<ReadOutcome>>,
    ) -> Poll<io::Result<ReadOutcome>> {
        let room = room(buf);
        if room == 0 {
            let reason = "no room in the buffer to read into";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidInput, reason)));
        }
        if self.reads_rest.load(Ordering::Relaxed) {
            let mut session = self.session();
            let received = std::mem::take(&mut session.received);
            if let Some(read) = self.pass_on(session, &received, buf) {
                return Poll::Ready(read.map(unregistered));
            }
        }
        let mut wire = RECEIVED.take();
        let result = loop {
            wire.clear();
            wire.reserve(if room < FEW { FEW } else { MANY });
            let outcome = match receive(&mut wire) {
                Poll::Ready(Ok(outcome)) => outcome,
                other => break other,
            };
            let mut session = self.session();
            if outcome.octets == 0 {
                session.end.get_or_insert(End::Closed);
            }
            match self.pass_on(session, &wire, buf) {
                Some(Ok(octets)) => {
                    let is_registered =
                        outcome.is_registered && !self.reads_rest.load(Ordering::Relaxed);
                    break Poll::Ready(Ok(ReadOutcome {
                        octets,
                        is_registered,
                    }));
                }
                Some(Err(error)) => break Poll::Ready(Err(error)),
                // A part of a record; its waker is registered already.
                None if outcome.is_registered => break Poll::Pending,
                None => {}
            }
        };
        if wire.capacity() <= MANY.saturating_mul(2) {
            RECEIVED.set(wire);
        }
        result
    }

    /// Decrypts what was received, and passes on as much as there is room for. `None` if that is nothing, and the stream goes
    /// on.
    fn pass_on(
        &self,
        mut session: MutexGuard<'_, Session>,
        received: &[u8],
        buf: &mut BytesMut,
    ) -> Option<io::Result<usize>> {
        let before = buf.len();
        session.deliver(buf);
        session.decrypt(received, buf);
        // A message of TLS itself may need an answer, and a failure has an alert. If the socket takes no more, it goes out
        // with the next write.
        if session.tls.wants_write() {
            let _ = flush(&mut session.tls, &*self.plain);
        }
        let octets = buf.len().saturating_sub(before);
        let rests = session.end.is_some() || session.has_rest();
        self.reads_rest.store(rests, Ordering::Relaxed);
        if octets > 0 {
            return Some(Ok(octets));
        }
        match session.end.take() {
            None => None,
            Some(End::Failed(error)) => {
                session.end = Some(End::Reported);
                Some(Err(crate::failure::of_session(error)))
            }
            Some(other) => {
                session.end = Some(other);
                Some(Ok(0))
            }
        }
    }

    /// Reads what there is, without waiting for readiness.
    fn read_now(
        &self,
        buf: &mut BytesMut,
        mut receive: impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        match self.read(buf, |wire| Poll::Ready(receive(wire).map(unregistered))) {
            Poll::Ready(read) => read.map(|read| read.octets),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl Session {
    /// Copies decrypted octets into the room of the buffer.
    fn deliver(&mut self, buf: &mut BytesMut) {
        let mut reader = self.tls.reader();
        loop {
            let room = room(buf);
            let Ok(chunk) = reader.fill_buf() else { return };
            let taken = chunk.len().min(room);
            if taken == 0 {
                return;
            }
            buf.extend_from_slice(chunk.get(..taken).unwrap_or_default());
            reader.consume(taken);
        }
    }

    /// Decrypts what was received, as far as there is room for its octets, and keeps the rest.
    fn decrypt(&mut self, mut received: &[u8], buf: &mut BytesMut) {
        let is_long = received.len() > IDLE;
        while !received.is_empty() && self.end.is_none() {
            match self.tls.read_tls(&mut received) {
                // Behind the peer's last record, nothing counts.
                Ok(0) => return,
                Ok(_) => {}
                // There are decrypted octets that wait for room.
                Err(_) => break,
            }
            match self.tls.process_new_packets() {
                Ok(state) if state.peer_has_closed() => self.end = Some(End::Closed),
                Ok(_) => {}
                Err(error) => self.end = Some(End::Failed(error)),
            }
            self.deliver(buf);
        }
        self.received.extend_from_slice(received);
        if is_long {
            // rustls gives back the buffer of a long record when it reads the next one, which may be long in coming.
            let _ = self.tls.read_tls(&mut Nothing);
        }
        if self.end.is_some() {
            self.received = Vec::new();
        }
    }

    /// Whether octets were received and not passed on, apart from a part of a record.
    fn has_rest(&mut self) -> bool {
        let waits = matches!(self.tls.reader().fill_buf(), Ok([_, ..]));
        waits || !self.received.is_empty()
    }

    /// Encrypts and writes octets; returns how many are reported as written.
    ///
    /// Octets that are encrypted cannot be taken back. Those whose record the socket has not taken are not reported, and
    /// the caller passes them again, as it continues its stream; then they are counted and not encrypted again. One octet
    /// is reported even so, since its caller might otherwise drop a message of which a part is on the wire.
    fn write(&mut self, plain: &dyn Connection, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.is_shut_down {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        flush(&mut self.tls, plain)?;
        let asked = chunks.iter().map(|chunk| chunk.len()).sum::<usize>();
        // These are on the wire by now.
        let mut written = self.unreported.min(asked);
        self.unreported = self.unreported.saturating_sub(written);
        while written < asked {
            let rest: Vec<IoSlice<'_>>;
            let chunks = match written {
                0 => chunks,
                _ => {
                    rest = remaining(chunks, written);
                    &rest[..]
                }
            };
            let taken = self.tls.writer().write_vectored(chunks)?;
            let mut wire = Plain::new(plain);
            // An error other than a lack of room comes back at the next write.
            if wire.flush(&mut self.tls).is_ok() {
                written = written.saturating_add(taken);
                continue;
            }
            let encrypted = written.saturating_add(taken);
            let mut reported = written.saturating_add(in_whole_records(taken, &wire));
            if reported == 0 {
                if encrypted == 1 {
                    // The stream continues with this octet.
                    self.unreported = 1;
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                reported = 1;
            }
            self.unreported = encrypted.saturating_sub(reported);
            return Ok(reported);
        }
        Ok(written)
    }

    /// Says that no more octets come from here.
    fn shut_down(&mut self, plain: &dyn Connection) {
        if !self.is_shut_down {
            self.is_shut_down = true;
            self.tls.send_close_notify();
            // Where the socket takes no more, the peer sees the end of the socket's stream alone.
            let _ = flush(&mut self.tls, plain);
        }
    }
}

/// A reader that has nothing yet.
struct Nothing;

impl Read for Nothing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// How many of the octets that were encrypted are in records that were written as a whole.
fn in_whole_records(encrypted: usize, wire: &Plain<'_>) -> usize {
    let overhead = wire.offered().saturating_sub(encrypted);
    let overhead = overhead.checked_div(encrypted.div_ceil(RECORD));
    let record = RECORD.saturating_add(overhead.unwrap_or_default());
    let whole = wire.written().checked_div(record).unwrap_or_default();
    whole.saturating_mul(RECORD).min(encrypted)
}

/// The chunks behind the first `skipped` octets.
fn remaining<'a>(chunks: &[IoSlice<'a>], skipped: usize) -> Vec<IoSlice<'a>> {
    let mut rest = chunks.to_vec();
    let mut slices = &mut rest[..];
    IoSlice::advance_slices(&mut slices, skipped);
    slices.to_vec()
}

fn room(buf: &mut BytesMut) -> usize {
    buf.spare_capacity_mut().len()
}

fn unregistered(octets: usize) -> ReadOutcome {
    ReadOutcome {
        octets,
        is_registered: false,
    }
}

impl Connection for TlsConnection {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        let receive = |wire: &mut BytesMut| self.plain.poll_read(cx, wire).map_ok(unregistered);
        self.read(buf, receive).map_ok(|read| read.octets)
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        self.read(buf, |wire| self.plain.poll_read_and_register(cx, wire))
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        self.read_now(buf, |wire| self.plain.try_read(wire))
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        self.read_now(buf, |wire| self.plain.read_blocking(wire, limit))
    }

    fn deregister(&self) {
        self.plain.deregister();
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        self.session().write(&*self.plain, chunks)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.plain.poll_write_ready(cx)
    }

    fn shutdown_write(&self) -> io::Result<()> {
        self.session().shut_down(&*self.plain);
        self.plain.shutdown_write()
    }

    fn close(&self) {
        self.session().shut_down(&*self.plain);
        self.plain.close();
    }

    fn is_closed_by_peer(&self) -> bool {
        self.plain.is_closed_by_peer()
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn capabilities(&self) -> Capabilities {
        crate::capabilities(self.plain.capabilities())
    }

    fn peer_identity(&self) -> Option<PeerIdentity> {
        self.identity.clone()
    }
}

impl Drop for TlsConnection {
    fn drop(&mut self) {
        let session = self.session.get_mut();
        let session = session.unwrap_or_else(PoisonError::into_inner);
        session.shut_down(&*self.plain);
        // A socket that is closed with unread octets resets its connection, and the peer may lose what it has not read.
        let mut wire = RECEIVED.take();
        wire.clear();
        wire.reserve(FEW);
        let _ = self.plain.try_read(&mut wire);
        RECEIVED.set(wire);
    }
}
