//! Connections and listeners over any stream socket, and their registration with the reactor.
use std::{
    io::{self, IoSlice},
    net::Shutdown,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::BytesMut;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{SockAddr, Socket};
use tokio::{
    io::{Interest, unix::AsyncFd},
    runtime::Handle,
};

use crate::{
    Address, Capabilities, Connection, Endpoint, HostId, PeerIdentity, ProcessCredentials,
    ReadOutcome, sys,
};

/// A stream socket, registered with the reactor of its home runtime for read readiness only. It is deregistered while
/// its reader spins or blocks on the socket itself.
///
/// Waiting for room to write is rare, and a standing interest in it would cost every call a wake-up. So it is done on a
/// duplicate of the descriptor, registered when a writer waits and dropped when the wait is over. (One descriptor can
/// be registered only once.)
#[derive(Debug)]
pub(crate) struct StreamConnection {
    socket: Arc<Socket>,
    /// The wait for octets. Only the reader takes the lock.
    registration: Mutex<Registration>,
    /// Whether the kernel can suppress wake-ups for octets that arrive (`SO_RCVLOWAT`).
    can_be_quiet: bool,
    /// Whether wake-ups are suppressed now, so that a blocking read would wait for more than an octet. Only the reader
    /// reads and changes it.
    blocks_for_more: AtomicBool,
    /// Longest wait of a blocking read, in microseconds; 0 for no limit.
    limit: AtomicU64,
    /// The wait for room to write, while there is one.
    room: Mutex<Option<AsyncFd<Socket>>>,
    home: Handle,
    local: Address,
    peer: Address,
}

/// The reader's registration with the reactor.
#[derive(Debug)]
struct Registration {
    /// The descriptor in the reactor, unless deregistered.
    descriptor: Option<AsyncFd<Arc<Socket>>>,
    interest: ReadInterest,
}

/// The interest that is registered with the reactor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ReadInterest {
    /// All octets that arrive.
    All,
    /// Octets that arrive from now on; some may have arrived before.
    NewOctets,
    /// No fewer octets than [`QUIET`].
    Quiet,
}

/// Octets that arrive without a wake-up while the reader reads the socket itself. The registration stays, so that read
/// interest is restored without an allocation and by one system call. The number is small enough for any receive
/// buffer, which Linux makes larger than twice this.
const QUIET: i32 = 16 << 10;

impl StreamConnection {
    /// Takes over a connected socket; the current runtime becomes its home.
    pub(crate) fn new(socket: Socket, peer: &SockAddr) -> io::Result<Self> {
        let home = Handle::try_current().map_err(io::Error::other)?;
        let local = address(&socket.local_addr()?);
        let peer = address(peer);
        // Calls that must not block pass `MSG_DONTWAIT` each time.
        socket.set_nonblocking(false)?;
        let socket = Arc::new(socket);
        let descriptor = sys::register(Arc::clone(&socket), Interest::READABLE)?;
        Ok(Self {
            socket,
            registration: Mutex::new(Registration {
                descriptor: Some(descriptor),
                interest: ReadInterest::All,
            }),
            // Only TCP checks `SO_RCVLOWAT` before it wakes a poller.
            can_be_quiet: matches!(peer, Address::Inet(_)),
            blocks_for_more: AtomicBool::new(false),
            limit: AtomicU64::new(0),
            room: Mutex::new(None),
            home,
            local,
            peer,
        })
    }

    /// Restores the reactor's wake-ups for octets that arrive, and reads those that have arrived already.
    #[cold]
    fn restore_interest(
        &self,
        registration: &mut Registration,
        buf: &mut BytesMut,
    ) -> Option<io::Result<usize>> {
        if registration.interest == ReadInterest::Quiet {
            registration.interest = ReadInterest::NewOctets;
            if let Err(error) = sys::set_low_water(&self.socket, 1) {
                return Some(Err(error));
            }
            self.blocks_for_more.store(false, Ordering::Relaxed);
        }
        let room = buf.spare_capacity_mut().len();
        let received = sys::receive(&self.socket, buf, false);
        match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // Octets that arrive from now on cause an event.
                registration.interest = ReadInterest::All;
                None
            }
            Ok(received) if received == room => Some(Ok(received)),
            received => {
                registration.interest = ReadInterest::All;
                Some(received)
            }
        }
    }

    /// Registers with the reactor anew. Octets that have arrived meanwhile are an event of the new registration.
    #[cold]
    fn register<'a>(
        &self,
        none: &'a mut Option<AsyncFd<Arc<Socket>>>,
    ) -> io::Result<&'a mut AsyncFd<Arc<Socket>>> {
        let _home = self.home.enter();
        Ok(none.insert(sys::register(Arc::clone(&self.socket), Interest::READABLE)?))
    }

    /// Reads, or has the reactor wake `cx`. If `registers`, it also registers the waker where the read has emptied the
    /// socket.
    #[inline(always)]
    fn read_or_wait(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
        registers: bool,
    ) -> Poll<io::Result<ReadOutcome>> {
        let unregistered = |octets| ReadOutcome {
            octets,
            is_registered: false,
        };
        let mut registration = self.registration();
        if registration.interest != ReadInterest::All
            && let Some(received) = self.restore_interest(&mut registration, buf)
        {
            return Poll::Ready(received.map(unregistered));
        }
        let descriptor = match &mut registration.descriptor {
            Some(descriptor) => descriptor,
            none => self.register(none)?,
        };
        loop {
            // The guard remembers its event, and clears none that came later. An event between receiving and clearing
            // stays, so no wake-up is lost.
            let mut readable = ready!(descriptor.poll_read_ready(cx))?;
            let room = buf.spare_capacity_mut().len();
            match sys::receive(&self.socket, buf, false) {
                // Less than asked for: the socket is empty, so the next octets cause a new event. Clearing here saves
                // the caller a system call that would return EAGAIN. At the end of the stream the readiness stays by
                // itself.
                Ok(octets) if octets < room => {
                    readable.clear_ready();
                    return Poll::Ready(Ok(ReadOutcome {
                        octets,
                        is_registered: registers && descriptor.poll_read_ready(cx).is_pending(),
                    }));
                }
                Ok(octets) => return Poll::Ready(Ok(unregistered(octets))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => readable.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn registration(&self) -> MutexGuard<'_, Registration> {
        self.registration
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Limits blocking reads, in microseconds; 0: no limit. Only the reader calls it.
    fn set_limit(&self, micros: u64) -> io::Result<()> {
        if self.limit.load(Ordering::Relaxed) != micros {
            let limit = (micros > 0).then(|| Duration::from_micros(micros));
            self.socket.set_read_timeout(limit)?;
            self.limit.store(micros, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Connection for StreamConnection {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        self.read_or_wait(cx, buf, false).map_ok(|read| read.octets)
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        self.read_or_wait(cx, buf, true)
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        sys::receive(&self.socket, buf, false)
    }

    fn deregister(&self) {
        let mut registration = self.registration();
        if registration.descriptor.is_none() || registration.interest == ReadInterest::Quiet {
            return;
        }
        if self.can_be_quiet && sys::set_low_water(&self.socket, QUIET).is_ok() {
            registration.interest = ReadInterest::Quiet;
            self.blocks_for_more.store(true, Ordering::Relaxed);
        } else {
            registration.descriptor = None;
        }
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        if self.blocks_for_more.load(Ordering::Relaxed) {
            let mut registration = self.registration();
            sys::set_low_water(&self.socket, 1)?;
            self.blocks_for_more.store(false, Ordering::Relaxed);
            registration.interest = ReadInterest::All;
            // The events that this thread waits for are none of the reactor's.
            registration.descriptor = None;
        }
        let Some(limit) = limit else {
            self.set_limit(0)?;
            return sys::receive(&self.socket, buf, true);
        };
        // Zero would mean no limit, and less than a microsecond is zero to the kernel.
        let whole = limit.as_secs().saturating_mul(1_000_000);
        let most = whole.saturating_add(limit.subsec_micros().into()).max(1);
        // The time limits of successive calls hardly ever agree, and hardly ever expire. So the kernel's timeout stays
        // while it is from half of the limit up to it, and a new one is set a little below the limit.
        let current = self.limit.load(Ordering::Relaxed);
        if current > most || current < most / 2 {
            self.set_limit(most.saturating_sub(most / 16))?;
        }
        match sys::receive_once(&self.socket, buf) {
            // Another system call would wait for the whole timeout again.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            received => received,
        }
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        sys::send(&self.socket, chunks)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if room.is_none() {
            let duplicate = self.socket.try_clone()?;
            // The polling task may belong to another runtime, whose reactor need not be running just now.
            let _home = self.home.enter();
            *room = Some(sys::register(duplicate, Interest::WRITABLE)?);
        }
        if let Some(waiting) = &*room {
            ready!(waiting.poll_write_ready(cx))?.retain_ready();
        }
        // A new registration reports the readiness at that time, so dropping this one cannot lose a wake-up.
        *room = None;
        Poll::Ready(Ok(()))
    }

    fn shutdown_write(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }

    fn close(&self) {
        // Fails only when the connection is gone already, and then the error has no consequence.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn is_closed_by_peer(&self) -> bool {
        let mut socket = [PollFd::new(&*self.socket, PollFlags::RDHUP)];
        let at_once = Timespec::default();
        poll(&mut socket, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn capabilities(&self) -> Capabilities {
        match self.peer {
            Address::Inet(_) => STREAM,
            _ => LOCAL_STREAM,
        }
    }

    fn peer_identity(&self) -> Option<PeerIdentity> {
        if matches!(self.peer, Address::Inet(_)) {
            return None;
        }
        let peer = rustix::net::sockopt::socket_peercred(&*self.socket).ok()?;
        let process = u32::try_from(peer.pid.as_raw_nonzero().get()).ok();
        Some(PeerIdentity::default().with_process(ProcessCredentials {
            user: peer.uid.as_raw(),
            group: peer.gid.as_raw(),
            process,
        }))
    }
}

/// A listening stream socket, registered with the reactor of its home runtime.
#[derive(Debug)]
pub(crate) struct Acceptor {
    socket: AsyncFd<Socket>,
}

impl Acceptor {
    /// Takes over a listening socket; the current runtime becomes its home.
    pub(crate) fn new(socket: Socket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket: sys::register(socket, Interest::READABLE)?,
        })
    }

    /// Accepts the next peer, whose socket `prepare` sets up. Options that the listening socket has taken can fail on a
    /// new one only because its peer has gone already, so then the peer is skipped.
    pub(crate) fn poll_accept(
        &self,
        cx: &mut Context<'_>,
        prepare: impl Fn(&Socket) -> io::Result<()>,
    ) -> Poll<io::Result<(Socket, SockAddr)>> {
        loop {
            let mut readable = ready!(self.socket.poll_read_ready(cx))?;
            match self.socket.get_ref().accept() {
                Ok((socket, peer)) => {
                    if prepare(&socket).is_ok() {
                        return Poll::Ready(Ok((socket, peer)));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => readable.clear_ready(),
                Err(error) if is_the_peers_fault(&error) => {}
                // The readiness stays: the peer is still in the queue.
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// Whether accept() failed because of the one peer that it took from its queue. accept(2) advises to treat the
/// network's errors on the new socket so. Each of these errors shortens the queue, so the loop ends.
/// The connection over an accepted socket.
pub(crate) fn connection((socket, peer): (Socket, SockAddr)) -> io::Result<Box<dyn Connection>> {
    Ok(Box::new(StreamConnection::new(socket, &peer)?))
}

fn is_the_peers_fault(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| {
        [
            libc::EINTR,
            libc::ECONNABORTED,
            libc::ECONNRESET,
            libc::ENETDOWN,
            libc::EPROTO,
            libc::ENOPROTOOPT,
            libc::EHOSTDOWN,
            libc::EHOSTUNREACH,
            libc::EOPNOTSUPP,
            libc::ENETUNREACH,
        ]
        .contains(&code)
    })
}

fn address(address: &SockAddr) -> Address {
    match address.as_socket() {
        Some(inet) => Address::Inet(inet),
        None => match address.as_abstract_namespace() {
            // The text is that of the endpoint.
            Some(name) => Address::Other {
                name: Endpoint::uiop_abstract(name).to_string().into(),
                host: HostId::Local,
            },
            None => Address::Unix(address.as_pathname().map(Into::into)),
        },
    }
}

/// The capabilities of stream sockets.
pub(crate) const STREAM: Capabilities = Capabilities::stream().with_gather().with_descriptor();

/// The capabilities of connections within one host, where the operating system identifies peers.
pub(crate) const LOCAL_STREAM: Capabilities = STREAM.with_peer_identity();

/// Most peers that wait to be accepted; the kernel reduces it to its own limit (`somaxconn`, 4,096 on today's Linux). A
/// thousand clients that reconnect at once after a restart fit.
pub(crate) const BACKLOG: i32 = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::unix::net::UnixStream, process::Command, time::Instant};

    /// Returns a connection, and its peer, which sends nothing.
    fn connection() -> (tokio::runtime::Runtime, StreamConnection, UnixStream) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (own, peer) = UnixStream::pair().unwrap();
        let home = runtime.enter();
        let address = Socket::from(peer.try_clone().unwrap());
        let connection = StreamConnection::new(own.into(), &address.local_addr().unwrap());
        drop(home);
        (runtime, connection.unwrap(), peer)
    }

    #[test]
    fn a_limited_read_that_signals_interrupt_all_the_time_comes_to_its_end() {
        // A read with a limit is interrupted when its process is stopped and goes on, without any handler: signal(7).
        const INTERRUPTIONS: u32 = 300;
        let (_runtime, connection, _peer) = connection();
        let pid = std::process::id();
        let script = format!(
            "n=0; while test $n -lt {INTERRUPTIONS}; do kill -STOP {pid}; kill -CONT {pid}; sleep 0.01; n=$((n+1)); done"
        );
        let mut signals = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(500);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let mut octets = BytesMut::with_capacity(8);
            let error = connection.read_blocking(&mut octets, Some(left));
            assert_eq!(error.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        }
        let still_come = signals.try_wait().unwrap().is_none();
        signals.kill().unwrap();
        signals.wait().unwrap();
        assert!(still_come, "the read outlasted the signals");
    }

    #[test]
    fn a_peer_that_has_left_is_seen_behind_what_it_sent() {
        let (_runtime, connection, mut peer) = connection();
        io::Write::write_all(&mut peer, b"its last words").unwrap();
        assert!(!connection.is_closed_by_peer());
        drop(peer);
        assert!(connection.is_closed_by_peer());
        let mut octets = BytesMut::with_capacity(64);
        assert_eq!(connection.try_read(&mut octets).unwrap(), 14);
    }

    #[test]
    fn a_limit_that_is_about_the_one_before_is_not_set_again() {
        let (_runtime, connection, mut peer) = connection();
        let mut limits = Vec::new();
        for micros in [10_000_000, 9_999_980, 9_700_000, 4_000_000, 3, 1] {
            io::Write::write_all(&mut peer, b"x").unwrap();
            let mut octets = BytesMut::with_capacity(8);
            let limit = Some(Duration::from_micros(micros));
            assert_eq!(connection.read_blocking(&mut octets, limit).unwrap(), 1);
            let is = connection.limit.load(Ordering::Relaxed);
            assert!((1..=micros).contains(&is), "{is} of {micros}");
            limits.push(is);
        }
        assert_eq!(limits[0], limits[1]);
        assert_eq!(limits[0], limits[2]);
        assert!(limits[3] >= 3_000_000, "{limits:?}");
    }
}
