//! An open circuit: a socket, the session layer's machine, and the task that drives it.
//!
//! A reader or writer moves frames itself, under the circuit's lock: a write sends its frame before it returns, and a
//! read takes the frames that have arrived. The task does the rest: frames that arrive while no reader polls, and
//! timers. Among large frames, it wakes the reader of the only session before it receives, so that the kernel stores
//! their octets in the reader's buffer.
use std::{
    future::poll_fn,
    io::{self, IoSlice},
    mem::{self, take},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Instant,
};

use bytes::BytesMut;
use socket2::Socket;
use tokio::{
    io::{
        Interest,
        unix::{AsyncFd, AsyncFdReadyGuard},
    },
    sync::Notify,
    time::sleep_until,
};
use zorb_transport::ReadOutcome;

use crate::{
    address::Quality,
    session::{self, Config, Obstacle, SessionEnd, Statistics},
    sys,
};

mod state;

use state::{ReceiveOutcome, State};

/// A circuit that this process has open, shared by its listener, its connections and its task.
#[derive(Debug)]
pub(crate) struct Circuit {
    socket: Arc<Socket>,
    state: Mutex<State>,
    /// Wakes the task: a timer is due earlier than it expects, or there may be nothing left to do.
    work: Notify,
}

/// Frames that are received before other tasks have their turn.
const FRAMES_PER_TURN: usize = 64;
impl Circuit {
    /// Takes over an open socket, for an owner that has joined. The current runtime's reactor watches it, and drives
    /// the circuit until it is idle; `ended` is called then.
    pub(crate) fn start(
        socket: Socket,
        config: Config,
        ended: impl FnOnce(&Self) + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let socket = Arc::new(socket);
        let registered = zorb_transport::register(Arc::clone(&socket), Interest::READABLE)?;
        let circuit = Arc::new(Self {
            socket,
            state: Mutex::new(State::new(config)),
            work: Notify::new(),
        });
        let running = Running {
            circuit: Arc::clone(&circuit),
            ended: Some(ended),
        };
        tokio::spawn(async move { running.circuit.drive(registered).await });
        Ok(circuit)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `act` on the machine, sends the resulting frames, and wakes the waiters of its events, and the task for an
    /// earlier timer.
    fn with<T>(&self, act: impl FnOnce(&mut State, Instant) -> T) -> T {
        self.run(|state, now| {
            let done = act(state, now);
            state.flush(&self.socket, now);
            (done, state.wants_the_task())
        })
    }

    /// Runs `act` on the machine, and wakes the waiters of its events. `act` sends the frames; it returns whether the task
    /// is to be woken, too.
    fn run<T>(&self, act: impl FnOnce(&mut State, Instant) -> (T, bool)) -> T {
        let mut state = self.lock();
        let (done, wants_the_task) = act(&mut state, Instant::now());
        let (first, further) = (state.first.take(), take(&mut state.further));
        drop(state);
        if wants_the_task {
            self.work.notify_one();
        }
        for waker in first.into_iter().chain(further) {
            waker.wake();
        }
        done
    }

    async fn drive(&self, registered: AsyncFd<Arc<Socket>>) {
        // Both are kept from turn to turn: making them anew costs more than a small frame.
        let mut work = pin!(self.work.notified());
        let mut timer = pin!(sleep_until(Instant::now().into()));
        let mut armed = None;
        let mut readable: Option<AsyncFdReadyGuard<'_, Arc<Socket>>> = None;
        let mut offered = false;
        loop {
            let is_offered = take(&mut offered);
            let (turn, sleeps, is_stalled) = self.run(|state, now| {
                if readable.is_some() && !is_offered && state.offer() {
                    return ((ReceiveOutcome::Offered, None, false), false);
                }
                let turn = match is_offered && state.emptied {
                    // The reader has received all.
                    true => ReceiveOutcome::Empty,
                    false => state.receive(&self.socket, now, FRAMES_PER_TURN),
                };
                state.machine.handle_timeout(now);
                state.flush(&self.socket, now);
                state.set_timer(now);
                state.waits_for_room = state.stalled.is_some();
                ((turn, state.sleeps, state.waits_for_room), state.gone)
            });
            match turn {
                ReceiveOutcome::Empty => {
                    // Frames that have come since cause another event.
                    if let Some(mut ready) = readable.take() {
                        ready.clear_ready();
                    }
                }
                ReceiveOutcome::More => tokio::task::yield_now().await,
                ReceiveOutcome::Offered => {
                    offered = true;
                    let_reader_run().await;
                    continue;
                }
                ReceiveOutcome::Gone => return,
            }
            if self.is_over() {
                return;
            }
            if armed != sleeps {
                armed = sleeps;
                if let Some(at) = sleeps {
                    timer.as_mut().reset(at.into());
                }
            }
            let mut room = pin!(async {
                match is_stalled {
                    true => self.room().await,
                    false => std::future::pending().await,
                }
            });
            let goes_on = poll_fn(|cx| {
                if let Poll::Ready(ready) = registered.poll_read_ready(cx) {
                    readable = ready.ok();
                    return Poll::Ready(readable.is_some());
                }
                if let Poll::Ready(result) = room.as_mut().poll(cx) {
                    return Poll::Ready(result.is_ok());
                }
                if work.as_mut().poll(cx).is_ready() {
                    work.set(self.work.notified());
                    return Poll::Ready(true);
                }
                match armed {
                    Some(_) => timer.as_mut().poll(cx).map(|()| true),
                    None => Poll::Pending,
                }
            });
            if !goes_on.await {
                return;
            }
        }
    }

    /// Waits for room in the socket, by a duplicate of its descriptor. One descriptor can be registered only once, and
    /// a standing interest would cost a wake-up for each frame.
    async fn room(&self) -> io::Result<()> {
        let duplicate = zorb_transport::register(self.socket.try_clone()?, Interest::WRITABLE)?;
        duplicate.writable().await?.retain_ready();
        Ok(())
    }

    /// Whether nothing is left to do. If so, the circuit ends for good.
    fn is_over(&self) -> bool {
        let mut state = self.lock();
        let is_idle = state.handles == 0 && state.machine.is_idle() && state.stalled.is_none();
        state.gone |= is_idle;
        state.gone
    }

    /// Adds a listener or connection, unless the circuit has ended. Returns whether it did.
    pub(crate) fn join(&self) -> bool {
        let mut state = self.lock();
        if !state.gone {
            state.handles = state.handles.saturating_add(1);
        }
        !state.gone
    }

    pub(crate) fn leave(&self) {
        self.with(|state, _| state.handles = state.handles.saturating_sub(1));
        self.work.notify_one();
    }

    /// Ends the circuit, with all its sessions. From then on nothing can join it.
    pub(crate) fn end(&self) {
        self.with(|state, now| {
            state.machine.abort();
            // The peer gets a RESET if the socket has room for it.
            state.flush(&self.socket, now);
            state.gone = true;
            state.machine.fail();
        });
    }

    pub(crate) fn quality(&self) -> io::Result<[Quality; 2]> {
        sys::quality(&self.socket)
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.lock().machine.statistics()
    }

    // Methods of the listener.

    /// Begins to grant sessions. For an owner that has joined.
    pub(crate) fn listen(&self) -> io::Result<()> {
        self.with(|state, _| {
            if state.has_listener {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            state.has_listener = true;
            state.machine.listen(true);
            Ok(())
        })
    }

    /// Stops granting sessions, and leaves.
    pub(crate) fn unlisten(&self) {
        self.with(|state, _| {
            state.has_listener = false;
            state.acceptor = None;
            state.machine.listen(false);
        });
        self.leave();
    }

    pub(crate) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.with(|state, _| {
            if let Some(id) = state.machine.accept() {
                state.handles = state.handles.saturating_add(1);
                return Poll::Ready(Ok(id));
            }
            if state.gone {
                return Poll::Ready(Err(of_end(SessionEnd::Gone)));
            }
            state.acceptor = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    // Methods of the connections.

    /// Asks for a session. For an owner that has joined.
    pub(crate) fn open(&self) -> io::Result<u64> {
        self.with(|state, now| {
            let id = fastrand::u64(..);
            let opened = state.machine.open(now, id);
            opened.map(|()| id).map_err(of_obstacle)
        })
    }

    pub(crate) fn poll_open(&self, cx: &mut Context<'_>, id: u64) -> Poll<io::Result<()>> {
        self.with(|state, _| match state.machine.is_open(id) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => {
                state.waiters(id).reader = Some(cx.waker().clone());
                Poll::Pending
            }
            Err(end) => Poll::Ready(Err(of_end(end))),
        })
    }

    /// Reads the octets that have come. If there are none, registers `cx`; if it `registers`, also if there are no more.
    pub(crate) fn read(
        &self,
        id: u64,
        buf: &mut BytesMut,
        cx: Option<&Context<'_>>,
        registers: bool,
    ) -> io::Result<ReadOutcome> {
        if buf.capacity() == buf.len() {
            let reason = "no room in the buffer to read into";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        self.run(|state, now| {
            let before = state.machine.statistics();
            let mut read = state.machine.read(id, buf);
            if read == Err(Obstacle::NotNow) {
                read = match state.receive_in_place(&self.socket, now, id, buf) {
                    0 => {
                        state.receive(&self.socket, now, FRAMES_PER_TURN);
                        state.machine.read(id, buf)
                    }
                    octets => Ok(octets),
                };
            }
            let waits = match read {
                Err(Obstacle::NotNow) => true,
                Ok(_) => registers && !state.machine.is_readable(id),
                Err(_) => false,
            };
            // A read without a waker that finds nothing takes none away: an earlier read may have registered it.
            if cx.is_some() || !waits {
                state.waiters(id).reader = None;
            }
            // The octets that this read has received wake no reader of theirs.
            state.dispatch();
            // Frames that have not been received yet are the task's: their event is still to come, or to be cleared by it.
            let waker = cx.filter(|_| waits).map(|cx| cx.waker().clone());
            let is_registered = waker.is_some();
            if is_registered {
                state.waiters(id).reader = waker;
            }
            let outcome = read.map(|octets| ReadOutcome {
                octets,
                is_registered,
            });
            state.flush(&self.socket, now);
            // Without a frame, no timer has changed.
            let is_changed = state.machine.statistics() != before;
            let wants_the_task = is_changed && state.wants_the_task();
            (outcome.map_err(of_obstacle), wants_the_task)
        })
    }

    /// Drops the reader's waker: frames that arrive wake no task.
    pub(crate) fn deregister(&self, id: u64) {
        self.lock().waiters(id).reader = None;
    }

    pub(crate) fn write(&self, id: u64, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        self.with(|state, _| state.machine.write(id, chunks).map_err(of_obstacle))
    }

    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>, id: u64) -> Poll<()> {
        self.with(|state, _| {
            if state.gone || state.machine.is_writable(id) {
                return Poll::Ready(());
            }
            state.waiters(id).writer = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    pub(crate) fn shutdown_write(&self, id: u64) -> io::Result<()> {
        self.with(|state, _| match state.machine.is_open(id) {
            Err(_) => Err(io::ErrorKind::NotConnected.into()),
            Ok(_) => {
                state.machine.shutdown_write(id);
                Ok(())
            }
        })
    }

    pub(crate) fn close(&self, id: u64) {
        self.with(|state, now| state.machine.close(now, id));
    }

    /// Releases a session, and leaves.
    pub(crate) fn release(&self, id: u64) {
        self.with(|state, now| {
            state.machine.release(now, id);
            state.waiters.remove(&id);
        });
        self.leave();
    }
}

/// Lets the task run that was woken last, and then this one, before the reactor.
async fn let_reader_run() {
    let mut has_run = false;
    poll_fn(|cx| match mem::replace(&mut has_run, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Runs `ended` when the task ends, since the circuit has become idle or the runtime is gone.
struct Running<F: FnOnce(&Circuit)> {
    circuit: Arc<Circuit>,
    ended: Option<F>,
}

impl<F: FnOnce(&Circuit)> Drop for Running<F> {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            ended(&self.circuit);
        }
    }
}

fn of_obstacle(obstacle: Obstacle) -> io::Error {
    match obstacle {
        Obstacle::NotNow => io::ErrorKind::WouldBlock.into(),
        Obstacle::Finished => io::ErrorKind::BrokenPipe.into(),
        Obstacle::Ended(end) => of_end(end),
    }
}

fn of_end(end: SessionEnd) -> io::Error {
    let (kind, text) = match end {
        SessionEnd::Refused(session::Reason::Full) => (
            io::ErrorKind::ConnectionRefused,
            "there are as many sessions on the circuit as there may be",
        ),
        SessionEnd::Refused(_) => (
            io::ErrorKind::ConnectionRefused,
            "the other end of the circuit grants no sessions",
        ),
        SessionEnd::Reset => (
            io::ErrorKind::ConnectionReset,
            "the other end of the circuit has ended the session",
        ),
        SessionEnd::TimedOut => (
            io::ErrorKind::TimedOut,
            "the other end of the circuit does not answer",
        ),
        SessionEnd::Gone => (io::ErrorKind::NetworkDown, "the circuit is gone"),
    };
    io::Error::new(kind, text)
}
