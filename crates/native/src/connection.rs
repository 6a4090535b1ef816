//! Connections and listeners, which know of each peer whether it is alike.

use super::frame::{MAX_PREFIXES_OCTETS, PLACES};
use super::handshake::{Opening, here, opening_of_client};
use super::receive::Receiver;
use super::send::Sender;
use bytes::{Buf, BytesMut};
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use zorb_transport::{
    Address, Capabilities, Connection, Endpoint, HostId, Listener, PeerIdentity, ReadOutcome,
};

/// A peer of which it is not known yet what it is.
const OPENING: u8 = 0;
/// An alike one.
const ALIKE: u8 = 1;
/// Another one, some of whose octets have been received already.
const OTHER_BEHIND: u8 = 2;
/// Another one: this layer does nothing any more.
const OTHER: u8 = 3;

/// Octets that a connection may keep, for both directions.
const OCTETS: usize = FIRST_OCTETS + 2 * MAX_PREFIXES_OCTETS + PLACES * size_of::<Option<u16>>();
/// Octets that are received at a time until it is known what the peer is.
const FIRST_OCTETS: usize = 4 << 10;

/// A connection on which alike peers exchange frames, and all others GIOP.
#[derive(Debug)]
pub(crate) struct NativeConnection {
    plain: Box<dyn Connection>,
    /// What the peer is. Only its reader changes it.
    peer: AtomicU8,
    out: Mutex<Sender>,
    incoming: Mutex<Incoming>,
}

#[derive(Debug)]
enum Incoming {
    /// The first octets of a client.
    Opening(BytesMut),
    Frames(Box<Receiver>),
    /// Octets of another peer, which are to be passed on.
    Other(BytesMut),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the peer is a process of this host.
pub(crate) fn is_of_this_host(connection: &dyn Connection) -> bool {
    match connection.peer().host() {
        HostId::Local => true,
        HostId::Inet(peer) => {
            peer.to_canonical().is_loopback() || connection.local().host() == HostId::Inet(peer)
        }
        _ => false,
    }
}

impl NativeConnection {
    fn new(plain: Box<dyn Connection>, peer: u8, incoming: Incoming) -> Self {
        Self {
            plain,
            peer: AtomicU8::new(peer),
            out: Mutex::default(),
            incoming: Mutex::new(incoming),
        }
    }

    /// A connection from a client that has not said anything yet.
    fn accepted(plain: Box<dyn Connection>) -> Self {
        Self::new(plain, OPENING, Incoming::Opening(BytesMut::new()))
    }

    /// A connection to an alike server, of which these octets have come.
    pub(crate) fn to_alike(plain: Box<dyn Connection>, received: BytesMut) -> Self {
        let receiver = Box::new(Receiver::behind(received));
        Self::new(plain, ALIKE, Incoming::Frames(receiver))
    }

    /// A connection to another server, of which these octets have come.
    pub(crate) fn to_other(plain: Box<dyn Connection>, received: BytesMut) -> Self {
        Self::new(plain, OTHER_BEHIND, Incoming::Other(received))
    }

    fn peer_is(&self, what: u8) -> bool {
        self.peer.load(Ordering::Acquire) == what
    }

    /// Receives by `read`, which waits for readiness as the caller likes: `WouldBlock` if it has to.
    fn read(
        &self,
        buf: &mut BytesMut,
        mut read: impl FnMut(&mut BytesMut) -> io::Result<ReadOutcome>,
    ) -> io::Result<ReadOutcome> {
        let mut incoming = lock(&self.incoming);
        let mut is_registered = false;
        let mut receive = |buf: &mut BytesMut| {
            let outcome = read(buf)?;
            is_registered = outcome.is_registered;
            Ok::<_, io::Error>(outcome.octets)
        };
        if let Incoming::Opening(received) = &mut *incoming {
            let opening = loop {
                received.reserve(FIRST_OCTETS);
                if receive(received)? == 0 {
                    // Its ORB reads what there was, and then the end.
                    break Opening::Other;
                }
                match opening_of_client(received) {
                    Opening::Begins => {}
                    known => break known,
                }
            };
            let received = std::mem::take(received);
            match opening {
                Opening::Alike => {
                    self.say_here()?;
                    *incoming = Incoming::Frames(Box::new(Receiver::behind(received)));
                    self.peer.store(ALIKE, Ordering::Release);
                }
                _ => {
                    *incoming = Incoming::Other(received);
                    self.peer.store(OTHER_BEHIND, Ordering::Release);
                }
            }
        }
        let (octets, waits) = match &mut *incoming {
            Incoming::Frames(receiver) => {
                let octets = receiver.read(buf, receive)?;
                (octets, receiver.waits())
            }
            Incoming::Other(received) | Incoming::Opening(received) => {
                let room = buf.capacity().saturating_sub(buf.len());
                let octets = match received.is_empty() {
                    true => receive(buf)?,
                    false => {
                        let part = received.get(..room).unwrap_or(received);
                        let octets = part.len();
                        buf.extend_from_slice(part);
                        received.advance(octets);
                        octets
                    }
                };
                if received.is_empty() {
                    *received = BytesMut::new();
                    self.peer.store(OTHER, Ordering::Release);
                }
                (octets, self.peer_is(OTHER))
            }
        };
        Ok(ReadOutcome {
            octets,
            // Octets that were received here and not passed on cause no event in the reactor.
            is_registered: is_registered && waits,
        })
    }

    /// Answers an alike client. Nothing has been written before, so there is room.
    fn say_here(&self) -> io::Result<()> {
        let here = here();
        match self.plain.try_write(&[IoSlice::new(&here)]) {
            Ok(written) if written == here.len() => Ok(()),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::ErrorKind::WriteZero.into())
            }
            Err(error) => Err(error),
        }
    }
}

/// A result of [`NativeConnection::read`] as that of a poll: the transport has registered read interest before `WouldBlock`.
fn polled<T>(read: io::Result<T>) -> Poll<io::Result<T>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        read => Poll::Ready(read),
    }
}

fn unpolled<T>(read: Poll<io::Result<T>>) -> io::Result<T> {
    match read {
        Poll::Ready(read) => read,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

const fn unregistered(octets: usize) -> ReadOutcome {
    ReadOutcome {
        octets,
        is_registered: false,
    }
}

impl Connection for NativeConnection {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        if self.peer_is(OTHER) {
            return self.plain.poll_read(cx, buf);
        }
        let read = self.read(buf, |buf| {
            unpolled(self.plain.poll_read(cx, buf)).map(unregistered)
        });
        polled(read).map_ok(|read| read.octets)
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        if self.peer_is(OTHER) {
            return self.plain.poll_read_and_register(cx, buf);
        }
        polled(self.read(buf, |buf| {
            unpolled(self.plain.poll_read_and_register(cx, buf))
        }))
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        if self.peer_is(OTHER) {
            return self.plain.try_read(buf);
        }
        let read = self.read(buf, |buf| self.plain.try_read(buf).map(unregistered));
        read.map(|read| read.octets)
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        if self.peer_is(OTHER) {
            return self.plain.read_blocking(buf, limit);
        }
        let read = self.read(buf, |buf| {
            self.plain.read_blocking(buf, limit).map(unregistered)
        });
        read.map(|read| read.octets)
    }

    fn deregister(&self) {
        self.plain.deregister();
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.peer_is(ALIKE) {
            return lock(&self.out).write(chunks, |slices| self.plain.try_write(slices));
        }
        self.plain.try_write(chunks)
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
        self.plain.memory_octets().saturating_add(OCTETS)
    }

    fn peer_identity(&self) -> Option<PeerIdentity> {
        self.plain.peer_identity()
    }

    fn is_to_alike_peer(&self) -> bool {
        self.peer_is(ALIKE)
    }
}

/// A listener whose connections find out what their clients are.
#[derive(Debug)]
pub(crate) struct NativeListener {
    plain: Box<dyn Listener>,
    crosses_hosts: bool,
}

impl NativeListener {
    pub(crate) const fn new(plain: Box<dyn Listener>, crosses_hosts: bool) -> Self {
        Self {
            plain,
            crosses_hosts,
        }
    }
}

impl Listener for NativeListener {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>> {
        let plain = ready!(self.plain.poll_accept(cx))?;
        Poll::Ready(Ok(match self.crosses_hosts || is_of_this_host(&*plain) {
            true => Box::new(NativeConnection::accepted(plain)),
            false => plain,
        }))
    }

    fn endpoint(&self) -> &Endpoint {
        self.plain.endpoint()
    }
}
