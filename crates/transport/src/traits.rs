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
    Address, Addressing, Capabilities, Endpoint, PeerIdentity, Properties, Property, PropertyError,
    TransportError,
};

/// A boxed future, as the methods of a [`Transport`] return them: opening something is rare and may be slow.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The result of [`Connection::poll_read_watching`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a read brings octets, and ends with the reactor watching or not"
)]
pub struct ReadOutcome {
    /// Octets that were appended; 0 is the end of the stream.
    pub octets: usize,
    /// Whether the reactor watches: the waker of this read has been registered since, as if a `poll_read` had returned
    /// `Pending`, and is woken by whatever comes.
    pub is_watched: bool,
}

/// One connected peer.
///
/// A connection is shared by reference between its reader and its writer. All methods return at once, but for
/// [`read_blocking`](Self::read_blocking).
/// Dropping it closes it.
///
/// # For callers
/// - **One reader, one writer.** At any time at most one task uses [`poll_read`](Self::poll_read),
///   [`try_read`](Self::try_read), [`read_blocking`](Self::read_blocking) and [`unwatch`](Self::unwatch), and at most one uses
///   [`try_write`](Self::try_write) and [`poll_write_ready`](Self::poll_write_ready); these two may run at the
///   same time, on different threads. Each side remembers only the waker of its last poll, so a second reader would
///   take the first one's wake-ups away. Nothing worse happens.
/// - **A caller that got `Pending` polls again** (or drops the connection). An abandoned wait for writability keeps its
///   registration, which costs a wake-up whenever the peer makes room.
/// - Octets that were taken by `try_write` are the kernel's; there is nothing to flush.
///
/// # For implementers
/// The caller relies on this list; the crate's conformance suite checks it over any transport.
/// 1. No method blocks but `read_blocking`, and none calls back into the ORB.
/// 2. `poll_read` and the two write methods are safe to call at the same time from different threads.
/// 3. Before `Pending` is returned, the given waker has been registered, replacing the one before it, and the readiness
///    that it waits for has been seen to be absent *since*: what arrives in between must wake it.
/// 4. `poll_read` appends at the end of the buffer, within its spare capacity, and never changes what
///    is there already, nor more than it says it has read. `Ready(Ok(0))` means end of stream
///    and nothing else, and from then on every call says so.
/// 5. On a stream, octets arrive in the order in which `try_write` took them, none twice and none missing, however
///    writes were split. `try_write` never takes octets and then reports an error.
/// 6. `poll_write_ready` becomes ready whenever the next `try_write` may get further, and also when the connection
///    has failed or was closed, so that the error is found by trying. Being ready spuriously is allowed.
/// 7. After [`close`](Self::close), here or by the peer, waiting tasks on both sides are woken.
/// 8. A dead peer is an error or an end of stream, never a signal, and never a panic.
/// 9. [`try_read`](Self::try_read) and [`unwatch`](Self::unwatch) take no wake-up away from a later `poll_read`:
///    one that returns `Pending` is woken by whatever comes afterwards, in whatever order they were mixed before.
pub trait Connection: Send + Sync + Debug + 'static {
    /// Reads what is there into the spare capacity of `buf`, by one system call when octets have arrived.
    ///
    /// Returns how many octets were appended; 0 is the end of the stream. The caller has reserved as much room as it
    /// wants to read at most; nothing is allocated here.
    ///
    /// # Errors
    /// The error of the operating system, `ConnectionReset` for instance: the connection has ended. `InvalidInput` if
    /// `buf` has no spare capacity, since 0 means the end of the stream.
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>>;

    /// Reads as [`poll_read`](Self::poll_read), and where the read has taken all that was there, has the reactor watch for
    /// more at once: the next read needs no system call to find that nothing has come. A transport that cannot leaves that
    /// to the next `poll_read`, which is the default.
    ///
    /// # Errors
    /// As [`poll_read`](Self::poll_read).
    fn poll_read_watching(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        self.poll_read(cx, buf).map_ok(|octets| ReadOutcome {
            octets,
            is_watched: false,
        })
    }

    /// Reads what is there, by one system call, without asking any reactor: for callers that rather try for some
    /// microseconds than sleep.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has come yet; no waker is registered. Else as [`poll_read`](Self::poll_read).
    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize>;

    /// Reads what is there, and blocks the calling thread until something is: one system call, and no reactor. For
    /// threads that have nothing else to do. To be ended from elsewhere by [`close`](Self::close), as by the peer.
    ///
    /// # Errors
    /// `WouldBlock` when `limit` has passed, or most of it, or a signal came: the caller reads the clock. Otherwise as [`poll_read`](Self::poll_read); `Unsupported` by a transport that
    /// cannot, whose connections blocking callers then have read by the reactor.
    ///
    /// # Blocking
    /// It does, and is for no task's poll.
    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        let _ = (buf, limit);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Suspends read interest until the next [`poll_read`](Self::poll_read) and drops the waker of the last one: octets
    /// that arrive wake no task. For readers that use [`try_read`](Self::try_read), since a registered socket costs a
    /// wake-up of the reactor's thread at every arrival. Does nothing when interest is suspended already.
    ///
    /// Costs a system call, and one more at the next `poll_read`.
    fn unwatch(&self);

    /// Writes as much of the chunks as fits, by one system call, without asking any reactor.
    ///
    /// Returns how many octets were taken, counted over the chunks in order: at least 1, unless all chunks are empty.
    /// Fewer than all is nothing special, and does not mean that the next try would not fit. Very many chunks are not
    /// all looked at.
    ///
    /// # Errors
    /// `WouldBlock` when nothing fits now: wait by [`poll_write_ready`](Self::poll_write_ready). Anything else
    /// (`BrokenPipe`, `ConnectionReset`, …) is final.
    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Ready when it is worth to call [`try_write`](Self::try_write) again after it said `WouldBlock`.
    ///
    /// Costs several system calls a wait, which is the price of writes that cost none but their own.
    ///
    /// # Errors
    /// When waiting itself is impossible: no descriptors left, or the home runtime is gone.
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends the outgoing direction, which the peer reads as the end of the stream; reading goes on. What was written
    /// before still arrives.
    ///
    /// # Errors
    /// `NotConnected` when the peer is gone already, or what else the operating system reports.
    fn shutdown_write(&self) -> io::Result<()>;

    /// Ends both directions at once and wakes the tasks that wait: the reader sees the end of the stream, the writer an
    /// error. Does nothing on a connection that is closed already.
    fn close(&self);

    /// Whether the peer has closed its side, or is gone, as far as that shows without reading: octets that it sent before may
    /// still be there to be read. A transport that cannot say says no, which is the default.
    ///
    /// Costs a system call.
    fn is_closed_by_peer(&self) -> bool {
        false
    }

    /// The other end.
    fn peer(&self) -> &Address;

    /// This end.
    fn local(&self) -> &Address;

    /// The capabilities of this connection.
    fn capabilities(&self) -> Capabilities;

    /// Which process the peer is, as the operating system vouches for it. `None` where it does not: see
    /// [`Capabilities::reports_peer_identity`].
    fn peer_identity(&self) -> Option<PeerIdentity> {
        None
    }
}

/// An open endpoint where peers connect. Dropping it stops that; connections made through it live on.
///
/// # For implementers
/// 1. No method blocks, and accepting never waits for a peer to say anything.
/// 2. Before `Pending` is returned the given waker has been registered, as for [`Connection::poll_read`].
/// 3. A peer that vanished before it was accepted is skipped, not reported: an error is a lack of something here.
/// 4. After an error the listener works on as before, and waiting peers are not lost.
pub trait Listener: Send + Sync + Debug + 'static {
    /// Takes the next peer. One task at a time may wait.
    ///
    /// # Errors
    /// Something is lacking *here*, most likely descriptors (`EMFILE`, `ENFILE`) or memory. The peer still waits in
    /// the queue and the very next call would say the same, so **the caller must wait a little before it polls
    /// again**, or it spins; a tenth of a second is usual. The listener stays open throughout.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn Connection>>>;

    /// Where it listens: the endpoint that was asked for, with the port that was really given to it when that was 0.
    fn endpoint(&self) -> &Endpoint;
}

/// A way to reach peers: opens connections and listeners for the endpoints of one scheme, whose addresses only it
/// understands.
///
/// A transport is a value that is registered when an ORB is built (`Builder::transport` of `zorb`, or
/// [`Registry::insert`](crate::Registry::insert)). Nothing else has to know it: TCP and UNIX sockets are registered the same way, and
/// use nothing that a transport in another crate could not.
///
/// The futures are polled inside a tokio runtime with I/O and time enabled; tokio panics elsewhere.
///
/// # For implementers
/// 1. What is opened belongs to the runtime inside which the future was polled: its reactor does the waking.
/// 2. Dropping the future gives the attempt up, and leaves nothing behind.
/// 3. An endpoint of another scheme is an error of kind `InvalidInput`, not a panic.
/// 4. The cause's [`io::ErrorKind`] survives into the error.
pub trait Transport: Send + Sync + Debug + 'static {
    /// How its addresses are written, in text and in object references.
    fn addressing(&self) -> &dyn Addressing;

    /// The scheme of its endpoints: `iiop`, `uiop`.
    fn scheme(&self) -> &'static str {
        self.addressing().scheme()
    }

    /// The capabilities of its connections.
    fn capabilities(&self) -> Capabilities;

    /// Opens a connection to the peer at `endpoint`. There is no timeout but the operating system's; wrap the future
    /// in one, or drop it.
    ///
    /// # Errors
    /// A [`TransportError`] that names the endpoint and keeps the cause and its kind.
    ///
    /// # Cancel safety
    /// Dropping the future closes what was half open.
    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>>;

    /// Opens `endpoint` for peers to connect to. Peers may connect as soon as this returns, and wait in a bounded
    /// queue until they are accepted.
    ///
    /// # Errors
    /// A [`TransportError`] that names the endpoint and keeps the cause and its kind, `AddrInUse` for instance.
    ///
    /// # Cancel safety
    /// Dropping the future closes what was half open.
    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>>;

    /// The properties that can be set by [`with_property`](Self::with_property), with their defaults.
    fn properties(&self) -> &'static [Property] {
        &[]
    }

    /// Returns the transport with another value of a property that text names: for configuration. Open connections stay as
    /// they are.
    ///
    /// # Errors
    /// When there is no such property, or it has no such value. That the operating system refuses it shows when something
    /// is opened.
    fn with_property(&self, name: &str, value: &str) -> Result<Arc<dyn Transport>, PropertyError> {
        Err(PropertyError::unknown(name, value, self.properties()))
    }

    /// Returns the transport with the typed properties that are meant for it; `None` if there are none. Open connections stay as
    /// they are.
    fn with_properties(&self, properties: &Properties) -> Option<Arc<dyn Transport>> {
        let _ = properties;
        None
    }
}
