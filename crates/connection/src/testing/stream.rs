//! A stream in memory with two ends.

use bytes::BytesMut;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use zorb_transport::{Address, Capabilities, Connection, ReadOutcome};

/// Octets that a direction holds unless it is [resized](Stream::set_room).
const ROOM: usize = 256 << 10;

/// One direction.
#[derive(Debug)]
struct Direction {
    pipe: Mutex<Pipe>,
    changed: Condvar,
    /// Writes that have taken octets.
    writes: AtomicUsize,
}

#[derive(Debug)]
struct Pipe {
    octets: VecDeque<u8>,
    room: usize,
    /// Whether the writer has closed: no further octets come.
    finished: bool,
    /// Whether the reader has closed: a write fails.
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Direction {
    fn new() -> Arc<Self> {
        let pipe = Pipe {
            octets: VecDeque::new(),
            room: ROOM,
            finished: false,
            closed: false,
            reader: None,
            writer: None,
        };
        Arc::new(Self {
            pipe: Mutex::new(pipe),
            changed: Condvar::new(),
            writes: AtomicUsize::new(0),
        })
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.pipe.lock().unwrap()
    }

    /// Changes the pipe, and wakes the reader and the writer.
    fn change(&self, change: impl FnOnce(&mut Pipe)) {
        let mut pipe = self.pipe();
        change(&mut pipe);
        let wakers = [pipe.reader.take(), pipe.writer.take()];
        drop(pipe);
        self.changed.notify_all();
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn end(&self, closed: bool) {
        self.change(|pipe| {
            pipe.finished = true;
            pipe.closed |= closed;
        });
    }
}

impl Pipe {
    fn read(&mut self, buf: &mut BytesMut) -> io::Result<usize> {
        let room = buf.capacity() - buf.len();
        assert!(room > 0, "a read needs room");
        let octets = room.min(self.octets.len());
        match octets {
            0 if self.finished => Ok(0),
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => {
                let read: Vec<u8> = self.octets.drain(..octets).collect();
                buf.extend_from_slice(&read);
                Ok(octets)
            }
        }
    }
}

/// One end of a stream in memory. It is closed when its last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    end: Arc<StreamEnd>,
    blocks: bool,
}

#[derive(Debug)]
struct StreamEnd {
    incoming: Arc<Direction>,
    outgoing: Arc<Direction>,
    address: Address,
}

impl StreamEnd {
    fn close(&self) {
        self.outgoing.end(false);
        self.incoming.end(true);
    }
}

impl Drop for StreamEnd {
    fn drop(&mut self) {
        self.close();
    }
}

/// The two ends of a stream.
pub(crate) fn pair() -> (Stream, Stream) {
    let (to, from) = (Direction::new(), Direction::new());
    let end = |incoming: &Arc<Direction>, outgoing: &Arc<Direction>| Stream {
        end: Arc::new(StreamEnd {
            incoming: Arc::clone(incoming),
            outgoing: Arc::clone(outgoing),
            address: Address::Unix(None),
        }),
        blocks: true,
    };
    (end(&from, &to), end(&to, &from))
}

impl Stream {
    /// The stream without blocking reads.
    pub(crate) fn without_blocking_reads(self) -> Self {
        Self {
            blocks: false,
            ..self
        }
    }

    /// The octets that this end may write before the other one reads.
    pub(crate) fn set_room(&self, room: usize) {
        self.end.outgoing.change(|pipe| pipe.room = room);
    }

    /// The octets that this end may write now.
    pub(crate) fn room(&self) -> usize {
        let pipe = self.end.outgoing.pipe();
        pipe.room.saturating_sub(pipe.octets.len())
    }

    /// Writes of this end that have taken octets.
    pub(crate) fn writes(&self) -> usize {
        self.end.outgoing.writes.load(Ordering::Acquire)
    }

    /// Whether this end is registered with the reactor, for octets that arrive.
    pub(crate) fn is_registered(&self) -> bool {
        self.end.incoming.pipe().reader.is_some()
    }

    /// Ends both directions as a failing network does: octets on their way are lost.
    pub(crate) fn break_off(&self) {
        for direction in [&self.end.incoming, &self.end.outgoing] {
            direction.change(|pipe| {
                pipe.octets.clear();
                pipe.finished = true;
                pipe.closed = true;
            });
        }
    }

    /// Makes writes of the other end fail, while this end may still write.
    pub(crate) fn refuse(&self) {
        self.end.incoming.change(|pipe| pipe.closed = true);
    }

    fn reads(&self, buf: &mut BytesMut) -> io::Result<usize> {
        let mut pipe = self.end.incoming.pipe();
        let read = pipe.read(buf);
        let writer = pipe.writer.take_if(|_| read.is_ok());
        drop(pipe);
        writer.into_iter().for_each(Waker::wake);
        read
    }
}

impl Connection for Stream {
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut BytesMut) -> Poll<io::Result<usize>> {
        let mut pipe = self.end.incoming.pipe();
        match pipe.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                pipe.reader = Some(cx.waker().clone());
                Poll::Pending
            }
            read => {
                let writer = pipe.writer.take();
                drop(pipe);
                writer.into_iter().for_each(Waker::wake);
                Poll::Ready(read)
            }
        }
    }

    fn poll_read_and_register(
        &self,
        cx: &mut Context<'_>,
        buf: &mut BytesMut,
    ) -> Poll<io::Result<ReadOutcome>> {
        self.poll_read(cx, buf).map_ok(|octets| {
            let mut pipe = self.end.incoming.pipe();
            let is_registered = octets > 0 && pipe.octets.is_empty() && !pipe.finished;
            if is_registered {
                pipe.reader = Some(cx.waker().clone());
            }
            ReadOutcome {
                octets,
                is_registered,
            }
        })
    }

    fn try_read(&self, buf: &mut BytesMut) -> io::Result<usize> {
        self.reads(buf)
    }

    fn read_blocking(&self, buf: &mut BytesMut, limit: Option<Duration>) -> io::Result<usize> {
        if !self.blocks {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let pipe = self.end.incoming.pipe();
        let is_empty = |pipe: &mut Pipe| pipe.octets.is_empty() && !pipe.finished;
        let pipe = match limit {
            Some(limit) => {
                let waited = self
                    .end
                    .incoming
                    .changed
                    .wait_timeout_while(pipe, limit, is_empty);
                waited.unwrap().0
            }
            None => self
                .end
                .incoming
                .changed
                .wait_while(pipe, is_empty)
                .unwrap(),
        };
        drop(pipe);
        self.reads(buf)
    }

    fn deregister(&self) {
        self.end.incoming.pipe().reader = None;
    }

    fn try_write(&self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        let octets = chunks.iter().flat_map(|chunk| chunk.iter().copied());
        let wanted: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        let mut pipe = self.end.outgoing.pipe();
        if pipe.closed || pipe.finished {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let takes = wanted.min(pipe.room.saturating_sub(pipe.octets.len()));
        if takes == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.end.outgoing.writes.fetch_add(1, Ordering::AcqRel);
        pipe.octets.extend(octets.take(takes));
        let reader = pipe.reader.take();
        drop(pipe);
        self.end.outgoing.changed.notify_all();
        reader.into_iter().for_each(Waker::wake);
        Ok(takes)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut pipe = self.end.outgoing.pipe();
        if pipe.closed || pipe.finished || pipe.octets.len() < pipe.room {
            return Poll::Ready(Ok(()));
        }
        pipe.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    fn shutdown_write(&self) -> io::Result<()> {
        self.end.outgoing.end(false);
        Ok(())
    }

    fn close(&self) {
        self.end.close();
    }

    fn is_closed_by_peer(&self) -> bool {
        self.end.incoming.pipe().finished
    }

    fn peer(&self) -> &Address {
        &self.end.address
    }

    fn local(&self) -> &Address {
        &self.end.address
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::stream()
    }
}
