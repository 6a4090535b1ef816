//! A connection that is served by a thread of its own, which blocks.

use super::super::link::{Blocked, End, MESSAGES_PER_TURN, Reading, Taken};
use super::super::waiting::Tried;
use super::ServerConnection;
use super::known::Known;
use crate::blocking::block_on;
use core::future::poll_fn;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;
use std::thread;
use std::time::Instant;
use zorb_executor::WaitPolicy;

/// How often a thread that waits for requests looks whether the ORB is shutting down, or whether
/// nothing has happened for too long.
const LOOK_UP: Duration = Duration::from_millis(250);
/// Reads in a row without a whole message after which such a thread lets go: who sends an octet at a time is not busy.
const PIECES: u32 = 64;

impl ServerConnection {
    /// Serves the connection on a new thread, until it or the ORB ends. What there is to say then
    /// is said by a task of the lane's.
    pub(crate) fn serve_on_a_thread(self: &Arc<Self>) {
        let connection = Arc::clone(self);
        // A shutdown waits for it.
        let running = self.orb.task();
        let started = thread::Builder::new()
            .name("zorb-connection".to_owned())
            .spawn(move || {
                connection.serve_here();
                drop(running);
            });
        if let Err(error) = started {
            let peer = self.link.stream.peer();
            tracing::warn!(%peer, %error, "connection refused: no thread for it");
            self.link.stream.close();
        }
    }

    fn serve_here(self: Arc<Self>) {
        let orb = Arc::clone(&self.orb);
        let serving = orb.enter_serving(&self);
        // Servants find a runtime here, as everywhere.
        let _runtime = orb.lane().handle().enter();
        let mut reading = self.reading();
        let thread = self.room.serve();
        let ended = self.serve_until_told(&mut reading, None);
        drop(thread);
        orb.track(self.drive_on(serving, reading, ended));
    }

    /// Reads and serves; `None` when a task has to go on with it, since the ORB is stopping, or nothing has come for the
    /// time that it `stays`, or there is no room for an answer meanwhile.
    pub(super) fn serve_until_told(
        self: &Arc<Self>,
        reading: &mut Reading,
        stays: Option<Duration>,
    ) -> Option<End> {
        let link = &self.link;
        let (policy, this) = (self.orb.wait_policy(), Arc::as_ptr(self).addr());
        let idle_timeout = self.orb.settings().idle_timeout;
        let mut before = (link.progress(), Instant::now());
        let mut known = Known::default();
        let mut pieces = 0;
        loop {
            let mut messages = 0;
            let reader = &mut reading.reader;
            let is_free = || !self.orb.is_stopping() && link.outbound.has_room();
            let mut may_serve = is_free();
            while may_serve && messages < MESSAGES_PER_TURN && self.serve_front(&known, reader) {
                messages += 1;
                may_serve = reader.is_idle() || is_free();
            }
            let taken = if may_serve && reader.is_idle() {
                Ok(Taken::All)
            } else {
                link.take(
                    reader,
                    &mut messages,
                    || Ok(!self.orb.is_stopping() && self.makes_room(stays)?),
                    |message, behind| self.handle(&mut known, message, behind),
                )
            };
            self.flush();
            match taken {
                Ok(Taken::All) => {}
                Ok(Taken::Turn) => continue,
                Ok(Taken::Stopped) => return None,
                Err(end) => return Some(end),
            }
            match self.writes_on(stays) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(end) => return Some(end),
            }
            let waiting = &mut reading.waiting;
            if messages > 0 && waiting.is_alone(self.orb.busy(), this) && policy != WaitPolicy::Park
            {
                match link.try_read(reading, policy) {
                    Tried::Read(read) => match link.has_come(read) {
                        Ok(()) => continue,
                        Err(end) => return Some(end),
                    },
                    // Nobody else needs this thread.
                    Tried::Yield | Tried::Sleep => {}
                }
            }
            match link.read_blocking(reading, Some(stays.unwrap_or(LOOK_UP))) {
                Ok(Blocked::Read) if messages > 0 => pieces = 0,
                Ok(Blocked::InVain) if stays.is_some() => return None,
                Ok(Blocked::Read) if stays.is_some() && pieces < PIECES => pieces += 1,
                Ok(Blocked::Read) if stays.is_some() => return None,
                // A peer that sends an octet now and then is as idle as one that sends none.
                Ok(Blocked::Read | Blocked::InVain) => {
                    if link.outbound.failure().is_some() {
                        return None;
                    }
                    if let Some(limit) = idle_timeout
                        && before.1.elapsed() >= limit
                    {
                        let now = link.progress();
                        if now.is_stuck_since(&before.0)
                            && self.pending.load(Ordering::Acquire) == 0
                        {
                            return Some(End::Idle(limit));
                        }
                        before = (now, Instant::now());
                    }
                }
                Ok(Blocked::Cannot) => {
                    self.cannot_block.store(true, Ordering::Relaxed);
                    return None;
                }
                Err(end) => return Some(end),
            }
        }
    }

    /// Blocks until a client has read so much that it may ask for more; not when the ORB stops, nor if the thread `stays`
    /// for some time only: a task waits as well, and ends with its runtime.
    #[inline]
    fn makes_room(self: &Arc<Self>, stays: Option<Duration>) -> Result<bool, End> {
        match self.link.outbound.has_room() {
            true => Ok(true),
            false if stays.is_some() => Ok(false),
            false => self.waits_for_room(),
        }
    }

    #[cold]
    fn waits_for_room(self: &Arc<Self>) -> Result<bool, End> {
        // A client that cannot be answered any more gets no further than this.
        (self.link.outbound.flush(&*self.link.stream))
            .map_err(|error| End::Lost(error.to_string()))?;
        // Not until the socket takes more: whoever writes on may have much before it yet.
        self.waits_until(|cx| self.link.outbound.poll_room(cx).is_ready())
    }

    /// Blocks until what did not fit into the socket is written; not when the ORB stops, nor for a
    /// client that reads nothing for too long, nor if the thread `stays` for some time only.
    fn writes_on(self: &Arc<Self>, stays: Option<Duration>) -> Result<bool, End> {
        match self.link.outbound.is_blocked() {
            false => Ok(true),
            true if stays.is_some() => Ok(false),
            true => self.waits_until(|_| !self.link.outbound.is_blocked()),
        }
    }

    fn waits_until(
        self: &Arc<Self>,
        mut is_done: impl FnMut(&mut Context<'_>) -> bool,
    ) -> Result<bool, End> {
        let written = poll_fn(|cx| {
            self.link.outbound.driver.register(cx.waker());
            if self.orb.is_stopping() {
                return Poll::Ready(Ok(false));
            }
            if let Some(error) = self.room.failure() {
                return Poll::Ready(Err(End::Lost(error.to_owned())));
            }
            // A write that failed is found by reading.
            if is_done(cx) || self.link.outbound.failure().is_some() {
                return Poll::Ready(Ok(true));
            }
            if self.link.outbound.is_blocked() {
                self.wait_for_room();
            }
            Poll::Pending
        });
        let idle_timeout = self.orb.settings().idle_timeout;
        let idle = |_| self.pending.load(Ordering::Acquire) == 0;
        block_on(async {
            tokio::select! {
                biased;
                written = written => written,
                end = self.link.idle(idle_timeout, idle) => Err(end),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::mock::{Acts, Mock};
    use bytes::BytesMut;
    use core::sync::atomic::AtomicBool;
    use core::task::{Context, Waker};
    use std::io::{self, IoSlice};
    use std::sync::{Mutex, mpsc};
    use zorb_poa::Outcome;

    /// A connection that brings down whoever reads it, as a fault of our own might.
    #[derive(Debug)]
    struct Breaks;

    impl Acts for Breaks {
        fn read(&self) -> io::Result<usize> {
            panic!("the test's");
        }
    }

    #[test]
    fn a_thread_that_panics_leaves_no_connection_behind() {
        let orb = crate::Orb::builder().build_blocking().unwrap();
        let inner = Arc::clone(orb.inner());
        let permit = inner.admit_connection().unwrap();
        let stream = Box::new(Mock::new(Breaks));
        let endpoint = "uiop:///nowhere".parse().unwrap();
        let connection = Arc::new(ServerConnection::new(stream, endpoint, &inner, permit));
        let serving = thread::spawn(move || connection.serve_here());
        assert!(serving.join().is_err());
        assert_eq!(orb.connections_served(), 0);
        orb.shutdown(true).unwrap();
    }

    /// A connection whose peer says nothing as long as the other end of `says` is there, and whose socket is full
    /// until somebody waits for room in it.
    #[derive(Debug)]
    struct Full {
        reads: mpsc::Sender<()>,
        says: Mutex<mpsc::Receiver<()>>,
        is_full: AtomicBool,
        written: mpsc::Sender<usize>,
    }

    impl Acts for Full {
        /// Blocks for however long, so that nothing is done that only a look up would do.
        fn read(&self) -> io::Result<usize> {
            let _ = self.reads.send(());
            let _ = self.says.lock().unwrap().recv();
            Ok(0)
        }

        fn write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
            if self.is_full.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let octets = chunks.iter().map(|chunk| chunk.len()).sum();
            let _ = self.written.send(octets);
            Ok(octets)
        }

        fn poll_room(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.is_full.store(false, Ordering::Relaxed);
            Poll::Ready(Ok(()))
        }
    }

    /// Long enough for anything that happens at all.
    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn a_reply_that_the_socket_has_no_room_for_does_not_wait_for_the_thread_that_reads() {
        let orb = crate::Orb::builder().build_blocking().unwrap();
        let inner = Arc::clone(orb.inner());
        let permit = inner.admit_connection().unwrap();
        let (reads, is_reading) = mpsc::channel();
        let (says, hears) = mpsc::channel();
        let (written, is_written) = mpsc::channel();
        let stream = Box::new(Mock::new(Full {
            reads,
            says: Mutex::new(hears),
            is_full: AtomicBool::new(true),
            written,
        }));
        let endpoint = "uiop:///nowhere".parse().unwrap();
        let connection = Arc::new(ServerConnection::new(stream, endpoint, &inner, permit));
        let serving = {
            let connection = Arc::clone(&connection);
            thread::spawn(move || connection.serve_here())
        };
        is_reading.recv_timeout(PATIENCE).unwrap();
        // As the task of an upcall does that was pending.
        connection.send(Outcome::Reply(BytesMut::from(&b"a reply"[..]).into()));
        connection.flush();
        assert_eq!(is_written.recv_timeout(PATIENCE), Ok(7));
        drop((says, connection));
        serving.join().unwrap();
        orb.shutdown(true).unwrap();
    }

    /// A connection whose peer asks something when it is told to, and whose socket is full until it is told otherwise.
    #[derive(Debug)]
    struct Unread {
        reads: mpsc::Sender<()>,
        asks: Mutex<mpsc::Receiver<&'static [u8]>>,
        is_full: AtomicBool,
        waits: mpsc::Sender<()>,
        waker: Mutex<Option<Waker>>,
        written: mpsc::Sender<usize>,
    }

    impl Acts for Arc<Unread> {
        fn read_into(&self, buf: &mut BytesMut) -> io::Result<usize> {
            let _ = self.reads.send(());
            let asked = self.asks.lock().unwrap().recv().unwrap_or_default();
            buf.extend_from_slice(asked);
            Ok(asked.len())
        }

        fn write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
            if self.is_full.load(Ordering::Acquire) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let octets = chunks.iter().map(|chunk| chunk.len()).sum();
            let _ = self.written.send(octets);
            Ok(octets)
        }

        fn poll_room(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            *self.waker.lock().unwrap() = Some(cx.waker().clone());
            let _ = self.waits.send(());
            match self.is_full.load(Ordering::Acquire) {
                true => Poll::Pending,
                false => Poll::Ready(Ok(())),
            }
        }
    }

    /// A LocateRequest of GIOP 1.0 for a key of no octets.
    const ASKED: &[u8] = b"GIOP\x01\x00\x00\x03\x00\x00\x00\x08\x00\x00\x00\x07\x00\x00\x00\x00";
    /// Octets of its reply, a LocateReply without a body.
    const ANSWERED: usize = 12 + 8;

    #[test]
    fn a_client_that_reads_nothing_is_not_answered_before_there_is_room_for_it() {
        let orb = crate::Orb::builder().build_blocking().unwrap();
        let inner = Arc::clone(orb.inner());
        let permit = inner.admit_connection().unwrap();
        let (reads, is_reading) = mpsc::channel();
        let (asks, hears) = mpsc::channel();
        let (waits, is_waiting) = mpsc::channel();
        let (written, is_written) = mpsc::channel();
        let acts = Arc::new(Unread {
            reads,
            asks: Mutex::new(hears),
            is_full: AtomicBool::new(true),
            waits,
            waker: Mutex::default(),
            written,
        });
        let endpoint = "uiop:///nowhere".parse().unwrap();
        let stream = Box::new(Mock::new(Arc::clone(&acts)));
        let connection = Arc::new(ServerConnection::new(stream, endpoint, &inner, permit));
        let serving = {
            let connection = Arc::clone(&connection);
            thread::spawn(move || connection.serve_here())
        };
        is_reading.recv_timeout(PATIENCE).unwrap();
        // More than may wait, so that the next request has to.
        let unread = BytesMut::zeroed(2 << 20);
        let octets = unread.len();
        connection.send(Outcome::Reply(unread.into()));
        asks.send(ASKED).unwrap();
        is_waiting.recv_timeout(PATIENCE).unwrap();
        assert_eq!(connection.link.messages_received(), 0);
        acts.is_full.store(false, Ordering::Release);
        acts.waker.lock().unwrap().take().unwrap().wake();
        assert_eq!(is_written.recv_timeout(PATIENCE), Ok(octets));
        assert_eq!(is_written.recv_timeout(PATIENCE), Ok(ANSWERED));
        is_reading.recv_timeout(PATIENCE).unwrap();
        assert_eq!(connection.link.messages_received(), 1);
        drop((asks, connection));
        serving.join().unwrap();
        orb.shutdown(true).unwrap();
    }
}
