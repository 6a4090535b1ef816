//! The smallest parts of a connection under loom, which tries every order in which threads can get in each other's way.
//!
//! For the right to read the very source is driven, with loom's atomics and locks in the place of the real ones; for
//! writing, its protocol.

#[path = "../src/wire/right.rs"]
mod right;

/// What `right` takes from its neighbour.
mod sync {
    pub(crate) use loom::sync::Mutex;
    pub(crate) use loom::sync::atomic::{AtomicU8, Ordering};
}

use loom::sync::atomic::AtomicUsize;
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;
use right::Right;
use std::task::Waker;
use sync::Ordering;

/// Tries every order with up to so many interruptions where nobody had to let others run; all of
/// them would take hours.
fn model(interruptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(interruptions);
    model.check(body);
}

/// A connection whose peer answers every request at once.
struct Reads {
    right: Right<()>,
    /// Replies that have not been read, by whom they are for.
    socket: Mutex<Socket>,
    /// What each caller has got, and whom to wake for it.
    table: Mutex<[Caller; 2]>,
    bells: [Notify; 2],
}

#[derive(Default)]
struct Socket {
    arrived: Vec<usize>,
    /// Whom the reactor wakes for the next.
    watcher: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Caller {
    waits: bool,
    has: bool,
}

impl Reads {
    fn new() -> Self {
        Self {
            right: Right::new((), Waker::noop().clone()),
            socket: Mutex::default(),
            table: Mutex::default(),
            bells: [Notify::new(), Notify::new()],
        }
    }

    /// The peer's side: a reply comes, and the reactor wakes whom it knows.
    fn arrive(&self, whose: usize) {
        let watcher = {
            let mut socket = self.socket.lock().unwrap();
            socket.arrived.push(whose);
            socket.watcher.take()
        };
        if let Some(watcher) = watcher {
            self.bells[watcher].notify();
        }
    }

    /// One poll of a caller: whether it has its reply.
    fn poll(&self, me: usize) -> bool {
        {
            let mut table = self.table.lock().unwrap();
            if table[me].has {
                return true;
            }
            table[me].waits = true;
        }
        let mut held = self.right.claim();
        while let Some(mut right) = held {
            right.with(|()| self.read(me));
            held = right.give_back();
        }
        self.table.lock().unwrap()[me].has
    }

    /// Reads what is there; then the reactor knows somebody who waits, if anybody does.
    fn read(&self, me: usize) {
        loop {
            let arrived = std::mem::take(&mut self.socket.lock().unwrap().arrived);
            for whose in arrived {
                let mut table = self.table.lock().unwrap();
                table[whose].has = true;
                if std::mem::take(&mut table[whose].waits) && whose != me {
                    drop(table);
                    self.bells[whose].notify();
                }
            }
            let next = {
                let table = self.table.lock().unwrap();
                // Whoever waits and is not the reader itself is woken to read: the driver's part.
                [me, 1 - me].into_iter().find(|who| table[*who].waits)
            };
            let Some(next) = next else { return };
            let mut socket = self.socket.lock().unwrap();
            if socket.arrived.is_empty() {
                socket.watcher = Some(next);
                return;
            }
        }
    }

    fn call(&self, me: usize) {
        while !self.poll(me) {
            self.bells[me].wait();
        }
    }
}

#[test]
fn two_callers_that_read_for_each_other_both_get_their_replies() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                // Its reply comes before anybody is there to wait for it, or behind the other one.
                reads.arrive(1);
                reads.call(1);
            })
        };
        reads.arrive(0);
        reads.call(0);
        other.join().unwrap();
    });
}

#[test]
fn a_reply_that_comes_while_two_wait_wakes_somebody_who_reads_it() {
    model(2, || {
        let reads = Arc::new(Reads::new());
        let peer = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                reads.arrive(1);
                reads.arrive(0);
            })
        };
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.call(1))
        };
        reads.call(0);
        other.join().unwrap();
        peer.join().unwrap();
    });
}

/// How `wire/outbound.rs` writes: whoever finds the write side free writes what is queued, and lets go of it under the
/// lock of the queue, once that is empty.
#[derive(Default)]
struct Writes {
    writing: Mutex<Vec<usize>>,
    queue: Mutex<Vec<usize>>,
}

impl Writes {
    fn send(&self, message: usize) {
        self.queue.lock().unwrap().push(message);
        let Ok(mut writing) = self.writing.try_lock() else {
            return;
        };
        loop {
            let mut queue = self.queue.lock().unwrap();
            if queue.is_empty() {
                drop(writing);
                return;
            }
            let queued = std::mem::take(&mut *queue);
            drop(queue);
            writing.extend(queued);
        }
    }
}

#[test]
fn what_is_queued_while_somebody_writes_is_written_by_the_time_both_are_gone() {
    model(2, || {
        let writes = Arc::new(Writes::default());
        let threads: Vec<_> = (0..2)
            .map(|sender| {
                let writes = Arc::clone(&writes);
                thread::spawn(move || {
                    writes.send(2 * sender);
                    writes.send(2 * sender + 1);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let written = writes.writing.lock().unwrap();
        assert_eq!(written.len(), 4);
        for sender in 0..2 {
            let of_sender: Vec<_> = written.iter().filter(|m| **m / 2 == sender).collect();
            assert!(of_sender.is_sorted(), "each sender's in order");
        }
    });
}

#[test]
fn one_at_a_time_has_the_right_and_who_asks_is_heard() {
    loom::model(|| {
        let right = Arc::new(Right::new(0_usize, Waker::noop().clone()));
        let wanted = Arc::new(AtomicUsize::new(0));
        let ask = |right: &Right<usize>, wanted: &AtomicUsize| {
            // Relaxed: it is the right that makes it known.
            wanted.fetch_add(1, Ordering::Relaxed);
            let mut held = right.claim();
            while let Some(mut mine) = held {
                mine.with(|seen| *seen = wanted.load(Ordering::Relaxed));
                held = mine.give_back();
            }
        };
        let other = {
            let (right, wanted) = (Arc::clone(&right), Arc::clone(&wanted));
            thread::spawn(move || ask(&right, &wanted))
        };
        ask(&right, &wanted);
        other.join().unwrap();
        let mut right = right.claim().expect("nobody has it any more");
        right.with(|seen| assert_eq!(*seen, 2));
        assert!(right.give_back().is_none());
    });
}
