//! Writing: whoever finds the write side free writes, and what the socket does not take is finished by the driver.

use crate::mock::{Acts, Mock};
use crate::outbound::{Joined, Outbound, Ticket};
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::{Bed, model};
use bytes::Bytes;
use core::task::{Context, Poll, Waker};
use loom::thread;
use std::io::{self, IoSlice};
use std::sync::Arc;
use zorb_cdr::{Encoder, Gather, NativeEndian, WireFormat};

/// Octets of room for all that a model sends.
const ENOUGH: usize = 4 << 20;
/// Octets that do not wait for company.
const ENOUGH_JOINED: usize = 16 << 10;

/// A socket with room for so many octets, until its peer makes more. Nobody learns from it what others have done: room
/// is always read and written in one step, which is the newest value and orders nothing.
#[derive(Debug)]
struct Socket {
    room: AtomicUsize,
    // Loom knows nothing of these, nor has to.
    taken: std::sync::Mutex<Vec<u8>>,
    waits: std::sync::Mutex<Option<Waker>>,
}

impl Socket {
    fn new(room: usize) -> Self {
        Self {
            room: AtomicUsize::new(room),
            taken: std::sync::Mutex::default(),
            waits: std::sync::Mutex::default(),
        }
    }

    /// What the peer does: it takes what is there, and there is room again.
    fn make_room(&self, octets: usize) {
        self.room.fetch_add(octets, Ordering::Relaxed);
        let waits = self.waits.lock().unwrap().take();
        if let Some(waits) = waits {
            waits.wake();
        }
    }

    fn room(&self) -> usize {
        self.room.fetch_add(0, Ordering::Relaxed)
    }

    fn taken(&self) -> Vec<u8> {
        self.taken.lock().unwrap().clone()
    }
}

impl Acts for Socket {
    fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut left = self.room();
        let mut taken = 0;
        for slice in slices {
            let part = slice.len().min(left);
            self.taken.lock().unwrap().extend_from_slice(&slice[..part]);
            left -= part;
            taken += part;
        }
        self.room.fetch_sub(taken, Ordering::Relaxed);
        match taken {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        *self.waits.lock().unwrap() = Some(cx.waker().clone());
        match self.room() {
            0 => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    }
}

/// A connection, of which the models need the write side.
struct Writes {
    outbound: Outbound,
    socket: Mock<Socket>,
    /// The connection is over: nobody needs its driver any more.
    over: AtomicBool,
}

impl Writes {
    fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            outbound: Outbound::default(),
            socket: Mock::new(Socket::new(room)),
            over: AtomicBool::new(false),
        })
    }

    /// The driver: `look_after` of `wire/client/driver.rs`, as far as it writes. What is joined is not kept waiting.
    fn drive(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let writes = Arc::clone(self);
        thread::spawn(move || {
            Bed::new().sleep_until(|cx| {
                writes.outbound.driver.register(cx.waker());
                if writes.over.load(Ordering::Acquire) {
                    return Poll::Ready(());
                }
                if writes.outbound.has_joined() {
                    writes.outbound.joined();
                    let _ = writes.outbound.flush(&writes.socket);
                }
                if writes.outbound.is_blocked() {
                    let _ = writes.outbound.poll_unblock(&writes.socket, cx);
                }
                Poll::Pending
            });
        })
    }

    fn send(&self, message: u8) -> Ticket {
        self.outbound.send(octets(message), &self.socket).0
    }

    /// `Link::join_alone`, of so much that nobody is to wait for more.
    fn join_enough(&self, message: u8) {
        self.outbound.submit(many(message, ENOUGH_JOINED));
        // Unless somebody has written it already.
        if self.outbound.joins_more() == Joined::Enough {
            let _ = self.outbound.flush_enough(&self.socket);
        }
    }

    /// Waits until everything is written, and ends the driver.
    fn finish(&self, driver: thread::JoinHandle<()>) {
        Bed::new().sleep_until(|cx| self.outbound.poll_empty(cx));
        self.over.store(true, Ordering::Release);
        self.outbound.driver.ring();
        driver.join().unwrap();
    }
}

/// A message of two octets, so that half of it may be written.
fn octets(message: u8) -> Gather {
    many(message, 2)
}

fn many(message: u8, octets: usize) -> Gather {
    let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
    e.append(&Bytes::from(vec![message; octets]));
    e.finish()
}

#[test]
fn two_senders_and_a_socket_that_takes_half_lose_nothing_and_reorder_nothing() {
    model(2, || {
        // The second message gets stuck in its middle.
        let writes = Writes::new(3);
        let driver = writes.drive();
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || {
                writes.send(3);
            })
        };
        writes.send(1);
        writes.send(2);
        writes.socket.make_room(ENOUGH);
        other.join().unwrap();
        writes.finish(driver);
        let taken = writes.socket.taken();
        let (pairs, rest) = taken.as_chunks::<2>();
        assert!(rest.is_empty() && pairs.iter().all(|pair| pair[0] == pair[1]));
        let mut messages: Vec<u8> = pairs.iter().map(|pair| pair[0]).collect();
        let others = messages.extract_if(.., |message| *message == 3).count();
        assert_eq!((messages, others), (vec![1, 2], 1));
    });
}

#[test]
fn who_waits_for_its_message_is_woken_by_whoever_writes_it() {
    model(3, || {
        let writes = Writes::new(ENOUGH);
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || {
                writes.send(2);
            })
        };
        let ticket = writes.send(1);
        Bed::new().sleep_until(|cx| writes.outbound.poll_written(ticket, cx));
        assert_eq!(
            writes
                .socket
                .taken()
                .iter()
                .filter(|octet| **octet == 1)
                .count(),
            2
        );
        other.join().unwrap();
        assert_eq!(writes.outbound.written(), 2);
        assert_eq!(writes.outbound.queued_octets(), 0);
    });
}

#[test]
fn a_full_socket_is_told_to_the_driver_whoever_finds_it_so() {
    model(3, || {
        let writes = Writes::new(0);
        let driver = writes.drive();
        writes.send(1);
        // The driver finds it full again, or not.
        writes.socket.make_room(1);
        writes.socket.make_room(ENOUGH);
        writes.finish(driver);
        assert_eq!(writes.socket.taken(), [1, 1]);
    });
}

#[test]
fn who_waits_for_room_is_woken_when_there_is_some_and_when_the_connection_is_over() {
    for ends in [false, true] {
        model(3, move || {
            // More than may be queued, of which nothing goes out at first.
            let writes = Writes::new(0);
            let ticket = writes.outbound.submit(many(1, (1 << 20) + 1));
            let other = {
                let writes = Arc::clone(&writes);
                thread::spawn(move || {
                    if ends {
                        // `ClientConnection::end`.
                        writes.over.store(true, Ordering::Release);
                        writes.outbound.wake_all();
                    } else {
                        writes.socket.make_room(ENOUGH);
                        let _ = writes.outbound.flush(&writes.socket);
                    }
                })
            };
            // `ClientConnection::room`.
            Bed::new().sleep_until(|cx| {
                let has_room = writes.outbound.poll_room(cx).is_ready();
                if has_room || writes.over.load(Ordering::Acquire) {
                    return Poll::Ready(());
                }
                Poll::Pending
            });
            other.join().unwrap();
            assert_eq!(writes.outbound.is_surely_unsent(ticket), ends);
        });
    }
}

#[test]
fn messages_that_wait_for_company_are_all_written_whoever_does_it() {
    model(2, || {
        let writes = Writes::new(ENOUGH);
        let driver = writes.drive();
        let join = |writes: &Writes, message| {
            // `Link::join`.
            assert_eq!(writes.outbound.join(&[message, message]), Joined::Waits);
        };
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || join(&writes, 3))
        };
        join(&writes, 1);
        // It takes along what waits, and leaves the driver called.
        writes.send(2);
        other.join().unwrap();
        writes.finish(driver);
        assert_eq!(writes.socket.taken().len(), 6);
    });
}

#[test]
fn what_is_left_to_a_driver_that_waits_for_room_is_written() {
    model(3, || {
        // A message gets stuck in its middle, of which the driver is told.
        let writes = Writes::new(1);
        let driver = writes.drive();
        writes.send(1);
        writes.socket.make_room(ENOUGH);
        // Somebody else is faster than it, so that nothing is queued any more while it still counts as waiting.
        let _ = writes.outbound.flush(&writes.socket);
        writes.join_enough(2);
        writes.finish(driver);
        assert_eq!(writes.socket.taken().len(), 2 + ENOUGH_JOINED);
    });
}

#[test]
fn two_that_leave_enough_to_a_driver_while_there_is_room_again_lose_nothing() {
    model(2, || {
        let writes = Writes::new(1);
        let driver = writes.drive();
        writes.send(1);
        let other = {
            let writes = Arc::clone(&writes);
            thread::spawn(move || writes.join_enough(3))
        };
        writes.socket.make_room(ENOUGH);
        writes.join_enough(2);
        other.join().unwrap();
        writes.finish(driver);
        let taken = writes.socket.taken();
        let parts: Vec<_> = taken.chunk_by(|a, b| a == b).map(<[u8]>::len).collect();
        assert_eq!(parts, [2, ENOUGH_JOINED, ENOUGH_JOINED]);
    });
}
