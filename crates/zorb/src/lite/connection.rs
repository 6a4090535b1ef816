//! Connections whose messages have GIOPlite's short headers.

use super::shorten::{Lengthener, Shortener};
use bytes::BytesMut;
use std::io::{self, IoSlice};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use zorb_transport::{
    Address, Capabilities, Connection, Endpoint, Listener, PeerIdentity, ReadOutcome,
};

/// A connection that translates between GIOP, for its users, and GIOPlite, on the wire.
#[derive(Debug)]
pub(super) struct LiteConnection {
    plain: Box<dyn Connection>,
    /// Uncontended: only the writer takes the lock.
    out: Mutex<Shortener>,
    /// Uncontended: only the reader takes the lock.
    incoming: Mutex<Lengthener>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts a pending read to `WouldBlock`; the underlying transport has registered read interest.
fn pending<T>(read: Poll<io::Result<T>>) -> io::Result<T> {
    match read {
        Poll::Ready(read) => read,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// Converts `WouldBlock` back to a pending read: the inverse of [`pending`].
fn blocking(read: io::Result<usize>) -> Poll<io::Result<usize>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        read => Poll::Ready(read),
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
}

impl Connection for LiteConnection {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        blocking(lock(&self.incoming).read(buf, |buf| pending(self.plain.poll_read(cx, buf))))
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        let mut incoming = lock(&self.incoming);
        let mut is_registered = false;
        let read = incoming.read(buf, |buf| {
            let read = pending(self.plain.poll_read_and_register(cx, buf))?;
            is_registered = read.is_registered;
            Ok(read.octets)
        });
        blocking(read).map_ok(|octets| ReadOutcome {
            octets,
            // Octets that were received here and not passed on cause no event in the reactor.
            is_registered: is_registered && incoming.waits(),
        })
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        lock(&self.incoming).read(buf, |buf| self.plain.try_read(buf))
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        lock(&self.incoming).read(buf, |buf| self.plain.read_blocking(buf, limit))
    }

    fn deregister(&self) {
        self.plain.deregister();
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
