//! A connection: a ring for each direction, and two sockets that ring bells.
//!
//! A reader that finds its ring empty says so in the memory. A task waits for an octet on the socket of the connection; a thread
//! waits for the word by which it has said so, which is a futex. The writer that puts octets in sends the octet, or wakes the
//! thread. A writer that finds no room waits on a second socket. While neither waits, no system call is made. The socket of the
//! connection also tells the death of the peer, by the end of its stream, at which a thread looks now and then.

use crate::pool::Mapped;
use crate::ring::{Consumer, Direction, FOR_WORD, Producer, Wake, stop_waiting};
use crate::sys::Segment;
use bytes::BytesMut;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::thread::futex;
use socket2::Socket;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Handle;
use zorb_transport::{
    Address, Capabilities, Connection, PeerIdentity, ProcessCredentials, ReadOutcome, register,
};

pub(crate) const CAPABILITIES: Capabilities = Capabilities::stream()
    .with_gather()
    .with_descriptor()
    .with_peer_identity();

/// What both ends have when they have agreed.
#[derive(Debug)]
pub(crate) struct Agreed {
    pub(crate) segment: Segment,
    pub(crate) capacity: u32,
    /// The socket of the connection: bells for readers.
    pub(crate) socket: Socket,
    /// Bells for writers.
    pub(crate) room: Socket,
    /// The client's, at the server.
    pub(crate) pool: Option<Arc<Mapped>>,
    /// All octets that both share.
    pub(crate) octets: usize,
    pub(crate) sends: Direction,
    pub(crate) local: Address,
    pub(crate) peer: Address,
}

#[derive(Debug)]
pub(crate) struct ShmConnection {
    socket: Arc<Socket>,
    room: Arc<Socket>,
    sending: Mutex<Producer>,
    receiving: Mutex<Receiving>,
    /// The wait for room, while there is one.
    waiting: Mutex<Option<Waiting>>,
    is_closed: AtomicBool,
    home: Handle,
    local: Address,
    peer: Address,
    process: Option<ProcessCredentials>,
    segment: Arc<Segment>,
    receives: Direction,
    /// Places of the client lead into it while the connection is there.
    _pool: Option<Arc<Mapped>>,
    /// Of the shared memory.
    octets: usize,
}

#[derive(Debug)]
struct Receiving {
    ring: Consumer,
    /// The socket in the reactor, unless deregistered.
    bell: Option<AsyncFd<Arc<Socket>>>,
    /// Whether the socket has ended: nobody rings any more.
    is_alone: bool,
}

/// A writer in the reactor.
#[derive(Debug)]
struct Waiting {
    bell: AsyncFd<Arc<Socket>>,
    /// The socket of the connection, for its end.
    end: AsyncFd<Arc<Socket>>,
}

impl ShmConnection {
    /// Takes over what was agreed; the current runtime becomes its home.
    pub(crate) fn new(agreed: Agreed) -> io::Result<Self> {
        let home = Handle::try_current().map_err(io::Error::other)?;
        let Agreed {
            segment,
            capacity,
            socket,
            room,
            pool,
            octets,
            sends,
            local,
            peer,
        } = agreed;
        let segment = Arc::new(segment);
        let process = process(&socket);
        Ok(Self {
            socket: Arc::new(socket),
            room: Arc::new(room),
            sending: Mutex::new(Producer::new(&segment, sends, capacity)),
            receiving: Mutex::new(Receiving {
                ring: Consumer::new(&segment, sends.back(), capacity),
                bell: None,
                is_alone: false,
            }),
            waiting: Mutex::new(None),
            is_closed: AtomicBool::new(false),
            home,
            local,
            peer,
            process,
            segment,
            receives: sends.back(),
            _pool: pool,
            octets,
        })
    }

    fn sending(&self) -> MutexGuard<'_, Producer> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receiving(&self) -> MutexGuard<'_, Receiving> {
        self.receiving
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the reader of the peer if it waits.
    fn wake(&self, sending: &Producer) -> io::Result<()> {
        match sending.wakes() {
            Wake::Not => Ok(()),
            Wake::ByBell => ring(&self.socket),
            Wake::ByWord => {
                wake_thread(sending.word());
                Ok(())
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Takes what is in the ring, and tells a writer that waits for the room. `None` if there is nothing yet.
    fn take(&self, receiving: &mut Receiving, to: &mut BytesMut) -> Option<io::Result<usize>> {
        if self.is_closed() {
            return Some(Ok(0));
        }
        // A peer says that it has ended after its last octets.
        let is_ended = receiving.is_alone || receiving.ring.is_ended_by_peer();
        match receiving.ring.take(to) {
            Ok(0) if to.capacity() == to.len() => {
                let why = "no room to read into";
                Some(Err(io::Error::new(io::ErrorKind::InvalidInput, why)))
            }
            Ok(0) => is_ended.then_some(Ok(0)),
            Ok(octets) => {
                if receiving.ring.takes_bell() {
                    // A peer that is gone needs no bell.
                    let _ = ring(&self.room);
                }
                Some(Ok(octets))
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// Has the reactor wake `cx` when the peer rings. Ready if something happened meanwhile.
    fn poll_bell(&self, receiving: &mut Receiving, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        receiving.ring.wait();
        if !receiving.ring.is_empty()? || receiving.ring.is_ended_by_peer() {
            receiving.ring.look_elsewhere();
            return Poll::Ready(Ok(()));
        }
        let bell = match &mut receiving.bell {
            Some(bell) => bell,
            none => {
                // The polling task may belong to another runtime, whose reactor need not be running just now.
                let _home = self.home.enter();
                none.insert(register(Arc::clone(&self.socket), Interest::READABLE)?)
            }
        };
        let mut readable = ready!(bell.poll_read_ready(cx))?;
        match drain(&self.socket)? {
            Drained::All => readable.clear_ready(),
            Drained::Some => {}
            Drained::End => receiving.is_alone = true,
        }
        Poll::Ready(Ok(()))
    }

    fn read_or_wait(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
        registers: bool,
    ) -> Poll<io::Result<ReadOutcome>> {
        let mut receiving = self.receiving();
        let octets = loop {
            if let Some(taken) = self.take(&mut receiving, buf) {
                break taken?;
            }
            ready!(self.poll_bell(&mut receiving, cx))?;
        };
        let is_empty = octets > 0 && receiving.ring.is_empty()?;
        let is_registered =
            registers && is_empty && self.poll_bell(&mut receiving, cx)?.is_pending();
        Poll::Ready(Ok(ReadOutcome {
            octets,
            is_registered,
        }))
    }
}

impl Connection for ShmConnection {
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
        let taken = self.take(&mut self.receiving(), buf);
        taken.unwrap_or_else(|| Err(io::ErrorKind::WouldBlock.into()))
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut receiving = self.receiving();
        // The bells that this thread waits for are none of the reactor's.
        receiving.bell = None;
        loop {
            if let Some(taken) = self.take(&mut receiving, buf) {
                return taken;
            }
            // A peer may wake as often as it likes without an octet in the ring: that makes no wait longer.
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                receiving.ring.look_elsewhere();
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let word = receiving.ring.wait_for_word();
            // Who closes the connection does so before the wait is taken back.
            let is_over = receiving.ring.is_ended_by_peer() || self.is_closed();
            if is_over || !receiving.ring.is_empty()? {
                receiving.ring.look_elsewhere();
                continue;
            }
            let left = left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN));
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            match futex::wait(word, futex::Flags::empty(), FOR_WORD, Some(&left)) {
                Ok(()) | Err(Errno::AGAIN) => {}
                Err(Errno::TIMEDOUT) => receiving.is_alone = has_ended(&self.socket),
                // The caller reads the clock.
                Err(Errno::INTR) => {
                    receiving.ring.look_elsewhere();
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn deregister(&self) {
        let mut receiving = self.receiving();
        receiving.bell = None;
        receiving.ring.look_elsewhere();
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut sending = self.sending();
        if self.is_closed() || sending.is_over() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let octets = sending.push(chunks)?;
        if octets == 0 {
            return match chunks.iter().all(|chunk| chunk.is_empty()) {
                true => Ok(0),
                false => Err(io::ErrorKind::WouldBlock.into()),
            };
        }
        self.wake(&sending)?;
        Ok(octets)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            {
                let sending = self.sending();
                sending.wait();
                if self.is_closed() || sending.is_writable()? {
                    break;
                }
            }
            let Waiting { bell, end } = match &mut *waiting {
                Some(waiting) => waiting,
                none => {
                    let _home = self.home.enter();
                    // A descriptor is in a reactor once.
                    let end = Arc::new(self.socket.try_clone()?);
                    none.insert(Waiting {
                        bell: register(Arc::clone(&self.room), Interest::READABLE)?,
                        end: register(end, Interest::READABLE)?,
                    })
                }
            };
            if let Poll::Ready(readable) = end.poll_read_ready(cx) {
                let mut readable = readable?;
                if readable.ready().is_read_closed() {
                    break;
                }
                // A bell for the reader.
                readable.clear_ready();
                continue;
            }
            let mut readable = ready!(bell.poll_read_ready(cx))?;
            match drain(&self.room)? {
                Drained::All => readable.clear_ready(),
                Drained::Some => {}
                Drained::End => break,
            }
        }
        // A new registration reports the readiness at that time, so dropping this one cannot lose a wake-up.
        *waiting = None;
        Poll::Ready(Ok(()))
    }

    fn shutdown_write(&self) -> io::Result<()> {
        let mut sending = self.sending();
        if self.is_closed() || sending.is_closed_by_peer() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        sending.end();
        self.wake(&sending)
    }

    fn close(&self) {
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return;
        }
        {
            let mut sending = self.sending();
            sending.end();
            // A peer that is gone needs no bell.
            let _ = self.wake(&sending);
        }
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.room.shutdown(Shutdown::Both);
        // A thread that blocks in a read holds its lock until it is woken; so the ring is closed behind that.
        wake_thread(stop_waiting(&self.segment, self.receives));
        self.receiving().ring.close();
    }

    fn is_closed_by_peer(&self) -> bool {
        if self.sending().is_closed_by_peer() {
            return true;
        }
        has_ended(&self.socket)
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn memory_octets(&self) -> usize {
        self.octets
    }

    fn peer_identity(&self) -> Option<PeerIdentity> {
        let process = self.process?;
        Some(PeerIdentity::default().with_process(process))
    }
}

impl Drop for ShmConnection {
    fn drop(&mut self) {
        self.close();
    }
}

/// How long a thread waits before it looks whether its peer is there: one that is killed wakes nobody.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Wakes the thread that waits for a word.
fn wake_thread(word: &AtomicU32) {
    // The word is one of the mapping, so there is no error.
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}

/// Whether the other end of a socket is gone.
fn has_ended(socket: &Socket) -> bool {
    let mut socket = [PollFd::new(socket, PollFlags::RDHUP)];
    poll(&mut socket, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Sends an octet that means nothing but itself. If there is no room for it, others wait already.
fn ring(socket: &Socket) -> io::Result<()> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    match rustix::net::send(socket, &[0], flags) {
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What is left on a socket whose octets were taken.
enum Drained {
    All,
    Some,
    End,
}

fn drain(socket: &Socket) -> io::Result<Drained> {
    let mut octets = [0; 64];
    loop {
        return match rustix::net::recv(socket, &mut octets, RecvFlags::DONTWAIT) {
            Ok((0, _)) | Err(Errno::CONNRESET) => Ok(Drained::End),
            Ok((taken, _)) if taken < octets.len() => Ok(Drained::All),
            Ok(_) => Ok(Drained::Some),
            Err(Errno::AGAIN) => Ok(Drained::All),
            Err(Errno::INTR) => continue,
            Err(error) => Err(error.into()),
        };
    }
}

/// The process at the other end of a UNIX socket.
pub(crate) fn process(socket: &Socket) -> Option<ProcessCredentials> {
    let peer = rustix::net::sockopt::socket_peercred(socket).ok()?;
    Some(ProcessCredentials {
        user: peer.uid.as_raw(),
        group: peer.gid.as_raw(),
        process: u32::try_from(peer.pid.as_raw_nonzero().get()).ok(),
    })
}
