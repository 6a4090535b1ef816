//! Models of a ring, its two ends and their bells. Loom runs each in every schedule up to a number of preemptions, with every
//! value that an atomic load may return.

use crate::ring::{Consumer, Direction, FOR_WORD, Producer, Wake, segment_octets, stop_waiting};
use crate::sys::Segment;
use crate::threads::model;
use bytes::BytesMut;
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::sync::{Condvar, Mutex, Notify};
use loom::thread;
use std::io::IoSlice;
use std::sync::Arc;

/// Schedules with more preemptions than this are not explored.
const PREEMPTIONS: usize = 3;

/// The two sockets, as far as the ends wait for them.
#[derive(Debug, Default, Clone)]
struct Bells {
    reader: Arc<Bell>,
    word: Arc<Futex>,
    writer: Arc<Bell>,
}

impl Bells {
    fn wake_reader_of(&self, ring: &Producer) {
        match ring.wakes() {
            Wake::Not => {}
            Wake::ByBell => self.reader.0.notify(),
            Wake::ByWord => self.word.wake(),
        }
    }
}

/// The futex of a word, as the kernel has it: it looks at the word and begins to wait in one step.
#[derive(Debug, Default)]
struct Futex {
    queue: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    fn wait(&self, word: &AtomicU32) {
        let queue = self.queue.lock().unwrap();
        if word.load(Ordering::SeqCst) == FOR_WORD {
            drop(self.woken.wait(queue).unwrap());
        }
    }

    fn wake(&self) {
        let _queue = self.queue.lock().unwrap();
        self.woken.notify_one();
    }
}

#[derive(Debug)]
struct Bell(Notify);

impl Default for Bell {
    fn default() -> Self {
        Self(Notify::new())
    }
}

fn ends(capacity: u32) -> (Producer, Consumer) {
    let (segment, ()) = Segment::new(segment_octets(capacity)).unwrap();
    let segment = Arc::new(segment);
    let direction = Direction::ToClient;
    (
        Producer::new(&segment, direction, capacity),
        Consumer::new(&segment, direction, capacity),
    )
}

/// Puts octets in as a connection's writer does, and ends.
fn write(mut ring: Producer, octets: &[u8], at_once: usize, bells: &Bells) {
    let mut rest = octets;
    while !rest.is_empty() {
        let chunk = &rest[..at_once.min(rest.len())];
        let taken = ring.push(&[IoSlice::new(chunk)]).unwrap();
        rest = &rest[taken..];
        if taken > 0 {
            bells.wake_reader_of(&ring);
            continue;
        }
        ring.wait();
        if !ring.is_writable().unwrap() {
            bells.writer.0.wait();
        }
    }
    ring.end();
    bells.wake_reader_of(&ring);
}

/// How a reader waits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reader {
    Task,
    Thread,
}

/// Takes octets out as a connection's reader does, up to the end.
fn read(mut ring: Consumer, at_once: usize, reader: Reader, bells: &Bells) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let is_ended = ring.is_ended_by_peer();
        let mut octets = BytesMut::with_capacity(at_once);
        if ring.take(&mut octets).unwrap() > 0 {
            all.extend_from_slice(&octets);
            if ring.takes_bell() {
                bells.writer.0.notify();
            }
            continue;
        }
        if is_ended {
            return all;
        }
        let word = match reader {
            Reader::Task => {
                ring.wait();
                None
            }
            Reader::Thread => Some(ring.wait_for_word()),
        };
        if !ring.is_empty().unwrap() || ring.is_ended_by_peer() {
            ring.look_elsewhere();
            continue;
        }
        match word {
            None => bells.reader.0.wait(),
            Some(word) => bells.word.wait(word),
        }
    }
}

/// Passes octets from a thread to another one. A wake-up that is lost is a deadlock, which loom finds.
fn pass(octets: &'static [u8], capacity: u32, writes: usize, reads: usize, reader: Reader) {
    model(PREEMPTIONS, move || {
        let (producer, consumer) = ends(capacity);
        let bells = Bells::default();
        let of_writer = bells.clone();
        let writer = thread::spawn(move || write(producer, octets, writes, &of_writer));
        assert_eq!(read(consumer, reads, reader, &bells), octets);
        writer.join().unwrap();
    });
}

#[test]
fn octets_come_in_order_and_the_end_behind_them() {
    pass(&[1, 2], 4, 1, 8, Reader::Task);
}

#[test]
fn a_thread_that_waits_for_its_word_is_woken_by_octets_and_by_the_end() {
    pass(&[1, 2], 4, 1, 8, Reader::Thread);
}

#[test]
fn a_writer_of_a_full_ring_is_woken_and_overwrites_nothing_unread() {
    pass(&[1, 2, 3], 2, 2, 2, Reader::Task);
}

#[test]
fn writes_and_reads_of_other_lengths_go_round_the_end_of_a_ring() {
    pass(&[1, 2, 3], 2, 2, 1, Reader::Thread);
}

#[test]
fn a_thread_that_waits_is_woken_when_its_own_end_closes() {
    model(PREEMPTIONS, || {
        let (segment, ()) = Segment::new(segment_octets(2)).unwrap();
        let segment = Arc::new(segment);
        let ring = Consumer::new(&segment, Direction::ToClient, 2);
        let (word, is_closed) = (Arc::new(Futex::default()), Arc::new(AtomicBool::new(false)));
        let (of_reader, seen) = (Arc::clone(&word), Arc::clone(&is_closed));
        let reader = thread::spawn(move || {
            let waits = ring.wait_for_word();
            if !seen.load(Ordering::Acquire) {
                of_reader.wait(waits);
            }
        });
        is_closed.store(true, Ordering::Release);
        stop_waiting(&segment, Direction::ToClient);
        word.wake();
        reader.join().unwrap();
    });
}
