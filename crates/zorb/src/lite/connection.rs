//! Connections whose messages have short headers.

use super::shorten::{Lengthener, Shortener};
use bytes::BytesMut;
use std::io::{self, IoSlice};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use zorb_transport::{Address, Capabilities, Connection, Endpoint, Listener, PeerIdentity};

/// A connection that carries GIOP for its users, and GIOPlite on the wire.
#[derive(Debug)]
pub(super) struct LiteConnection {
    plain: Box<dyn Connection>,
    /// Only the writer takes the lock.
    out: Mutex<Shortener>,
    /// Only the reader does.
    incoming: Mutex<Lengthener>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much fits into a buffer.
///
/// # Errors
/// When nothing does: a read of nothing would be the end.
fn room(buf: &BytesMut) -> io::Result<usize> {
    match buf.capacity() - buf.len() {
        0 => Err(io::ErrorKind::InvalidInput.into()),
        room => Ok(room),
    }
}

impl LiteConnection {
    pub(super) fn new(plain: Box<dyn Connection>) -> Self {
        Self {
            plain,
            out: Mutex::default(),
            incoming: Mutex::default(),
        }
    }

    /// Reads by `read`, without waiting for more than it does.
    fn read(
        &self,
        buf: &mut BytesMut,
        mut read: impl FnMut(&mut BytesMut) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let room = room(buf)?;
        let mut incoming = lock(&self.incoming);
        loop {
            if incoming.is_within_body(room) {
                let octets = read(buf)?;
                incoming.received_body(octets);
                return Ok(octets);
            }
            let octets = incoming.pass_on(buf)?;
            if octets > 0 || read(incoming.room())? == 0 {
                return Ok(octets);
            }
        }
    }
}

impl Connection for LiteConnection {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        let read = self.read(buf, |buf| match self.plain.poll_read(cx, buf) {
            Poll::Ready(read) => read,
            // The reactor of the transport listens then.
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        });
        match read {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            read => Poll::Ready(read),
        }
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        self.read(buf, |buf| self.plain.try_read(buf))
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        self.read(buf, |buf| self.plain.read_blocking(buf, limit))
    }

    fn unwatch(&self) {
        self.plain.unwatch();
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        lock(&self.out).write(chunks, |slices| self.plain.try_write(slices))
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

    fn peer(&self) -> &Address {
        self.plain.peer()
    }

    fn local(&self) -> &Address {
        self.plain.local()
    }

    fn capabilities(&self) -> Capabilities {
        self.plain.capabilities()
    }

    fn peer_identity(&self) -> Option<PeerIdentity> {
        self.plain.peer_identity()
    }
}

/// A listener of GIOPlite.
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
