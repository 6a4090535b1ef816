//! The traits that a transport implements.

use std::{
    fmt::Debug,
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::BytesMut;

use crate::{
    Address, Addressing, Capabilities, Endpoint, Operation, PeerIdentity, Properties, Property,
    PropertyError, TransportError,
};

/// A boxed future, which the methods of a [`Transport`] return: opening a connection is rare and may be slow.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The result of [`Connection::poll_read_and_register`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a read brings octets, and ends with a registration or not"
)]
pub struct ReadOutcome {
    /// Octets that were appended; 0 is the end of the stream.
    pub octets: usize,
    /// Whether the waker of this read is registered with the reactor. It was registered after the read, as if a
    /// `poll_read` had returned `Pending`, and is woken by any octets or the end of the stream.
    pub is_registered: bool,
}

/// One connected peer.
///
/// A connection is shared by reference between its reader and its writer. All methods return at once, except for
/// [`read_blocking`](Self::read_blocking). Dropping a connection closes it.
///
/// # For callers
/// - **One reader, one writer.** At any time at most one task uses [`poll_read`](Self::poll_read),
///   [`try_read`](Self::try_read), [`read_blocking`](Self::read_blocking) and [`deregister`](Self::deregister), and at
///   most one uses [`try_write`](Self::try_write) and [`poll_write_ready`](Self::poll_write_ready); these two may run at
///   the same time, on different threads. Each side remembers only the waker of its last poll, so a second reader would
///   take the first one's wake-ups away, and do no other harm.
/// - **A caller that got `Pending` polls again** (or drops the connection). An abandoned wait for writability keeps its
///   registration, which costs a wake-up whenever the peer makes room.
/// - Octets that were taken by `try_write` are the kernel's; there is nothing to flush.
///
/// # For implementers
/// The caller relies on this list; the crate's conformance suite checks it over any transport.
/// 1. Only `read_blocking` blocks, and no method calls back into the ORB.
/// 2. `poll_read` and the two write methods are safe to call at the same time from different threads.
/// 3. Before `Pending` is returned, the given waker has been registered, replacing the one before it, and the readiness
///    that it waits for has been seen to be absent *since*: an event in between must wake it.
/// 4. `poll_read` appends at the end of the buffer, within its spare capacity, and never changes the octets that
///    are there already, nor more than it returns as read. `Ready(Ok(0))` means end of stream
///    and nothing else, and from then on every call returns it.
/// 5. On a stream, octets arrive in the order in which `try_write` took them, none twice and none missing, however
///    writes were split. `try_write` never takes octets and then reports an error.
/// 6. `poll_write_ready` becomes ready whenever the next `try_write` may get further, and also when the connection
///    has failed or was closed, so that the error is found by trying. Being ready spuriously is allowed.
/// 7. After [`close`](Self::close), here or by the peer, waiting tasks on both sides are woken.
/// 8. A dead peer is an error or an end of stream, never a signal, and never a panic.
/// 9. [`try_read`](Self::try_read) and [`deregister`](Self::deregister) take no wake-up from a later `poll_read`:
///    one that returns `Pending` is woken by the next octets or end of the stream, in whatever order they were called.
pub trait Connection: Send + Sync + Debug + 'static {
    /// Reads the octets that have arrived into the spare capacity of `buf`, by one system call.
    ///
    /// Returns the number of octets appended; 0 is the end of the stream. The caller reserves the most room that one
    /// read may fill; this allocates nothing.
    ///
    /// # Errors
    /// The error of the operating system, `ConnectionReset` for instance: the connection has ended. `InvalidInput` if
    /// `buf` has no spare capacity, since 0 means the end of the stream.
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>>;

    /// Reads as [`poll_read`](Self::poll_read) does. Where the read has emptied the connection, it registers the waker
    /// with the reactor at once, so that the next read needs no system call to find nothing. The default, for a
    /// transport that cannot do so, leaves that to the next `poll_read`.
    ///
    /// # Errors
    /// Returns the errors of [`poll_read`](Self::poll_read).
    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        self.poll_read(cx, buf).map_ok(|octets| ReadOutcome {
            octets,
            is_registered: false,
        })
    }

    /// Reads the octets that have arrived, by one system call, without a reactor, for callers that spin for some
    /// microseconds before they park.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has come yet; no waker is registered. Otherwise the errors of
    /// [`poll_read`](Self::poll_read).
    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize>;

    /// Reads the octets that have arrived, and blocks the calling thread until there are some: one system call, and no
    /// reactor. It is for threads that have nothing else to do. [`close`](Self::close), here or by the peer, ends the
    /// wait.
    ///
    /// # Errors
    /// `WouldBlock` when `limit` has passed, or most of it, or a signal came: the caller reads the clock. `Unsupported`
    /// by a transport that cannot block; the reactor reads for blocking callers then. Otherwise the errors of
    /// [`poll_read`](Self::poll_read).
    ///
    /// # Blocking
    /// It blocks its thread, so a task must not call it in its poll.
    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        let _ = (buf, limit);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Suspends read interest until the next [`poll_read`](Self::poll_read) and drops the waker of the last one: octets
    /// that arrive wake no task. It is for readers that use [`try_read`](Self::try_read), since a registered socket
    /// costs a wake-up of the reactor's thread at every arrival. Does nothing when interest is suspended already.
    ///
    /// Costs a system call, and one more at the next `poll_read`.
    fn deregister(&self);

    /// Writes as much of the chunks as fits, by one system call, without a reactor.
    ///
    /// Returns the number of octets taken, counted over the chunks in order: at least 1, unless all chunks are empty.
    /// Fewer than all is no error, and the next call may take more. Of very many chunks only the first are written.
    ///
    /// # Errors
    /// `WouldBlock` when nothing fits now: wait by [`poll_write_ready`](Self::poll_write_ready). Any other error
    /// (`BrokenPipe`, `ConnectionReset`, …) is final.
    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Becomes ready when another [`try_write`](Self::try_write) may succeed after one that returned `WouldBlock`.
    ///
    /// Costs several system calls for each wait, so that other writes cost only their own.
    ///
    /// # Errors
    /// The connection cannot be registered with a reactor: the process has no descriptor left, or the home runtime has
    /// shut down.
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends the outgoing direction, which the peer reads as the end of the stream; reading goes on. Octets that were
    /// written before still arrive.
    ///
    /// # Errors
    /// `NotConnected` when the peer is gone already, or another error of the operating system.
    fn shutdown_write(&self) -> io::Result<()>;

    /// Ends both directions at once and wakes the tasks that wait: the reader sees the end of the stream, the writer an
    /// error. Does nothing on a connection that is closed already.
    fn close(&self);

    /// Whether the peer has closed its side, or is gone, as far as that shows without reading: octets that it sent
    /// before may still be unread. The default, for a transport that cannot find out, is `false`.
    ///
    /// Costs a system call.
    fn is_closed_by_peer(&self) -> bool {
        false
    }

    /// Returns the address of the other end, as the system reported it when the connection was made. No system call.
    fn peer(&self) -> &Address;

    /// Returns the address of this end, as the system reported it when the connection was made. No system call.
    fn local(&self) -> &Address;

    /// Returns the capabilities of this connection.
    fn capabilities(&self) -> Capabilities;

    /// Returns the octets of memory that the connection takes beside what its user lends it, such as memory that it shares with
    /// its peer. They count with the memory of all connections while it is open. The default is 0: the buffers of a socket
    /// are the kernel's.
    ///
    /// It does not change while the connection is open. No system call.
    fn memory_octets(&self) -> usize {
        0
    }

    /// Whether the peer has been found to be a program whose values lie in memory as here: the same byte order, and the same sizes and
    /// alignments of numbers. The ORB then asks objects for operations that pass values in memory. The default is `false`: nobody
    /// has asked.
    fn is_to_alike_peer(&self) -> bool {
        false
    }

    /// Returns who the peer is, as far as the transport knows; `None` where it knows nothing: see
    /// [`Capabilities::reports_peer_identity`]. It does not change while the connection is open.
    fn peer_identity(&self) -> Option<PeerIdentity> {
        None
    }
}

/// An open endpoint where peers connect. Dropping it ends that; its connections stay open.
///
/// # For implementers
/// 1. No method blocks, and accepting never waits for a peer to send anything.
/// 2. Before `Pending` is returned the given waker has been registered, as for [`Connection::poll_read`].
/// 3. A peer that vanished before it was accepted is skipped, not reported: an error is a lack of resources here.
/// 4. After an error the listener works on as before, and waiting peers are not lost.
pub trait Listener: Send + Sync + Debug + 'static {
    /// Takes the next peer. One task at a time may wait.
    ///
    /// # Errors
    /// A resource is lacking *here*, most likely descriptors (`EMFILE`, `ENFILE`) or memory. The peer still waits in
    /// the queue and the very next call would fail as well, so **the caller must wait a little before it polls again**,
    /// or it spins; a tenth of a second is usual. The listener stays open throughout.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>>;

    /// Returns the endpoint on which it listens: the one that was asked for, with the port that the system chose when
    /// that was 0.
    fn endpoint(&self) -> &Endpoint;
}

/// Opens connections and listeners for the endpoints of one scheme, whose addresses only this transport understands.
///
/// A transport is a value that is registered when an ORB is built (`Builder::transport` of `zorb`, or
/// [`Registry::insert`](crate::Registry::insert)). No other part has to know it: TCP and UNIX sockets are registered
/// the same way, and use nothing that a transport in another crate could not.
///
/// The futures are polled inside a tokio runtime with I/O and time enabled; tokio panics elsewhere.
///
/// # For implementers
/// 1. A connection or listener belongs to the runtime inside which the future was polled, whose reactor wakes its
///    tasks.
/// 2. Dropping the future cancels the attempt, and leaves nothing behind.
/// 3. An endpoint of another scheme is an error of kind `InvalidInput`, not a panic.
/// 4. The cause's [`io::ErrorKind`] survives into the error.
pub trait Transport: Send + Sync + Debug + 'static {
    /// Returns the syntax of its addresses, in text and in object references.
    fn addressing(&self) -> &dyn Addressing;

    /// Returns the scheme of its endpoints: `iiop`, `uiop`.
    fn scheme(&self) -> &'static str {
        self.addressing().scheme()
    }

    /// Returns the capabilities of its connections.
    fn capabilities(&self) -> Capabilities;

    /// Opens a connection to the peer at `endpoint`. There is no timeout but the operating system's:
    /// [`connect_within`](Self::connect_within) has one.
    ///
    /// # Errors
    /// A [`TransportError`] that names the endpoint and keeps the cause and its kind.
    ///
    /// # Cancel safety
    /// Dropping the future closes the sockets that it has opened.
    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>>;

    /// Opens a connection as [`connect`](Self::connect) does, within a time limit. A transport that does more than to
    /// connect, such as to look up a name, overrides it so that the error says what was under way.
    ///
    /// # Errors
    /// Those of `connect`, and [`TransportError::late`] when the limit has passed.
    ///
    /// # Cancel safety
    /// Dropping the future closes the sockets that it has opened.
    fn connect_within<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let connected = tokio::time::timeout(limit, self.connect(endpoint)).await;
            connected.unwrap_or_else(|_| {
                let (connect, endpoint) = (Operation::Connect, endpoint.clone());
                Err(TransportError::late(connect, endpoint, limit))
            })
        })
    }

    /// Opens `endpoint` for peers to connect to. Peers may connect as soon as this returns, and wait in a bounded
    /// queue until they are accepted.
    ///
    /// # Errors
    /// A [`TransportError`] that names the endpoint and keeps the cause and its kind, `AddrInUse` for instance.
    ///
    /// # Cancel safety
    /// Dropping the future closes the sockets that it has opened. A bind that another thread has begun may end a little
    /// later, and its socket is closed then.
    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>>;

    /// Notes whether a peer serves on the connections that it accepts: it has answered a request, or it has ended a
    /// connection without an answer, or let the time of a call pass. `peer` is the address that a connection of this
    /// transport has returned ([`Connection::peer`]). A transport that chooses one of several addresses of an endpoint
    /// tries those that do not serve last, for a while. The default does nothing.
    ///
    /// Never blocks.
    fn note_served(&self, peer: &Address, serves: bool) {
        let _ = (peer, serves);
    }

    /// Returns the properties that can be set by [`with_property`](Self::with_property), with their defaults.
    fn properties(&self) -> &'static [Property] {
        &[]
    }

    /// Returns the transport with another value of a property, set by its text, for configuration. Open connections do
    /// not change.
    ///
    /// # Errors
    /// The transport has no such property, or the property cannot have this value. A value that the operating system
    /// refuses is an error of connecting or listening.
    fn with_property(&self, name: &str, value: &str) -> Result<Arc<dyn Transport>, PropertyError> {
        Err(PropertyError::unknown(name, value, self.properties()))
    }

    /// Returns the transport with the typed properties of its own types; `None` if there are none. Open connections do
    /// not change.
    fn with_properties(&self, properties: &Properties) -> Option<Arc<dyn Transport>> {
        let _ = properties;
        None
    }
}
