//! The write side: every octet once and in order, and no message left in the queue.

use super::{Task, model};
use crate::mock::{Acts, Mock};
use crate::outbound::{Batched, Outbound, Ticket};
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use bytes::Bytes;
use core::task::{Context, Poll, Waker};
use loom::thread;
use std::io::{self, IoSlice};
use std::sync::Arc;
use zorb_cdr::{Encoder, Gather, NativeEndian, WireFormat};

/// Room for everything that a model sends.
pub(crate) const ROOM: usize = 4 << 20;
/// Octets of a full batch.
const FULL: usize = 16 << 10;

/// A socket with room for some octets, until its peer makes more. It does not order its senders: room is read and written
/// in one relaxed step, which reads the newest value.
#[derive(Debug)]
pub(crate) struct Socket {
    room: AtomicUsize,
    // Mutexes of the standard library, which loom does not see, so that they order nothing either.
    taken: std::sync::Mutex<Vec<u8>>,
    waiting: std::sync::Mutex<Option<Waker>>,
}

impl Socket {
    pub(crate) fn new(room: usize) -> Self {
        Self {
            room: AtomicUsize::new(room),
            taken: std::sync::Mutex::default(),
            waiting: std::sync::Mutex::default(),
        }
    }

    /// Makes room: the peer has read so many octets.
    pub(crate) fn make_room(&self, octets: usize) {
        self.room.fetch_add(octets, Ordering::Relaxed);
        let waiting = self.waiting.lock().unwrap().take();
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    fn room(&self) -> usize {
        self.room.fetch_add(0, Ordering::Relaxed)
    }

    fn taken(&self) -> Vec<u8> {
        self.taken.lock().unwrap().clone()
    }

    /// Asserts that the socket has taken each message once and whole.
    pub(crate) fn assert_taken(&self, messages: &[(u8, usize)]) {
        let taken = self.taken();
        let mut whole: Vec<_> = (taken.chunk_by(|a, b| a == b))
            .map(|part| (part[0], part.len()))
            .collect();
        whole.sort_unstable();
        assert_eq!(whole, messages);
    }
}

impl Acts for Arc<Socket> {
    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let room = self.room();
        let mut left = room;
        for slice in slices {
            let part = slice.len().min(left);
            self.taken.lock().unwrap().extend_from_slice(&slice[..part]);
            left -= part;
        }
        let taken = room - left;
        self.room.fetch_sub(taken, Ordering::Relaxed);
        match taken {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        *self.waiting.lock().unwrap() = Some(cx.waker().clone());
        match self.room() {
            0 => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    }
}

/// The write side of a connection.
struct Writes {
    outbound: Outbound,
    socket: Mock<Arc<Socket>>,
    /// Whether no further message comes.
    over: AtomicBool,
}

pub(crate) fn message(octet: u8, octets: usize) -> Gather {
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.append(&Bytes::from(vec![octet; octets]));
    e.finish()
}

impl Writes {
    fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            outbound: Outbound::default(),
            socket: Mock::new(Arc::new(Socket::new(room))),
            over: AtomicBool::new(false),
        })
    }

    /// Runs the writing part of the driver. It writes a batch at once.
    fn drive(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let writes = Arc::clone(self);
        thread::spawn(move || {
            Task::new().run(|cx| {
                writes.outbound.driver.register(cx.waker());
                if writes.over.load(Ordering::Acquire) {
                    return Poll::Ready(());
                }
                if writes.outbound.has_batch() {
                    writes.outbound.clear_batch();
                    let _ = writes.outbound.flush(&writes.socket);
                }
                if writes.outbound.is_blocked() {
                    let _ = writes.outbound.poll_unblock(&writes.socket, cx);
                }
                Poll::Pending
            });
        })
    }

    fn send(&self, octet: u8) -> Ticket {
        self.outbound.send(message(octet, 2), &self.socket).0
    }

    /// Sends a message that fills a batch, as `Link::batch_separately` does.
    fn send_full_batch(&self, octet: u8) {
        self.outbound.submit(message(octet, FULL));
        if self.outbound.batch_queued() == Batched::Full {
            let _ = self.outbound.flush_unless_blocked(&self.socket);
        }
    }

    /// Waits until everything is written, and ends the driver.
    fn finish(&self, driver: thread::JoinHandle<()>) {
        Task::new().run(|cx| self.outbound.poll_empty(cx));
        self.over.store(true, Ordering::Release);
        self.outbound.driver.notify();
        driver.join().unwrap();
    }
}

#[test]
fn of_two_senders_no_message_stays_in_the_queue() {
    model(3, || {
        // There is no driver: a message that its sender leaves to the other writer has no third one.
        let writes = Writes::new(ROOM);
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || {
                writes.send(2);
            })
        };
        writes.send(1);
        other.join().unwrap();
        assert_eq!(writes.outbound.queued_octets(), 0);
        writes.socket.assert_taken(&[(1, 2), (2, 2)]);
    });
}

#[test]
fn messages_of_one_sender_stay_in_order_beside_another_one() {
    model(2, || {
        let writes = Writes::new(ROOM);
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || {
                writes.send(2);
            })
        };
        let first = writes.send(1);
        let second = writes.send(3);
        assert!(first < second);
        other.join().unwrap();
        assert_eq!(writes.outbound.queued_octets(), 0);
        writes.socket.assert_taken(&[(1, 2), (2, 2), (3, 2)]);
        let taken = writes.socket.taken();
        let place = |octet| taken.iter().position(|taken| *taken == octet);
        assert!(place(1) < place(3));
    });
}

#[test]
fn a_direct_write_that_would_block_is_finished_by_the_driver_before_other_messages() {
    model(2, || {
        // The socket takes the first octet of a message.
        let writes = Writes::new(1);
        let driver = writes.drive();
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || {
                writes.send(2);
            })
        };
        writes.send(1);
        writes.socket.make_room(ROOM);
        other.join().unwrap();
        writes.finish(driver);
        writes.socket.assert_taken(&[(1, 2), (2, 2)]);
    });
}

#[test]
fn a_sender_that_waits_for_its_write_is_woken() {
    model(2, || {
        let writes = Writes::new(1);
        let driver = writes.drive();
        let peer = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || writes.socket.make_room(ROOM))
        };
        let ticket = writes.send(1);
        Task::new().run(|cx| writes.outbound.poll_written(ticket, cx));
        assert!(writes.outbound.is_written(ticket));
        peer.join().unwrap();
        writes.finish(driver);
        writes.socket.assert_taken(&[(1, 2)]);
    });
}

#[test]
fn batched_messages_are_all_written() {
    model(2, || {
        let writes = Writes::new(ROOM);
        let driver = writes.drive();
        let batch = |writes: &Writes, octet| {
            assert_eq!(writes.outbound.batch(&[octet; 2]), Batched::Waits);
        };
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || batch(&writes, 3))
        };
        batch(&writes, 1);
        writes.send(2);
        other.join().unwrap();
        writes.finish(driver);
        writes.socket.assert_taken(&[(1, 2), (2, 2), (3, 2)]);
    });
}

#[test]
fn full_batches_left_to_a_driver_that_waits_for_room_are_written() {
    model(2, || {
        let writes = Writes::new(1);
        let driver = writes.drive();
        writes.send(1);
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || writes.send_full_batch(3))
        };
        writes.socket.make_room(ROOM);
        writes.send_full_batch(2);
        other.join().unwrap();
        writes.finish(driver);
        writes.socket.assert_taken(&[(1, 2), (2, FULL), (3, FULL)]);
    });
}

#[test]
fn a_full_batch_left_to_a_driver_that_has_nothing_to_write_is_written() {
    model(3, || {
        let writes = Writes::new(1);
        let driver = writes.drive();
        writes.send(1);
        writes.socket.make_room(ROOM);
        // Flushed before the driver runs, which still counts as waiting.
        let _ = writes.outbound.flush(&writes.socket);
        writes.send_full_batch(2);
        writes.finish(driver);
        writes.socket.assert_taken(&[(1, 2), (2, FULL)]);
    });
}
