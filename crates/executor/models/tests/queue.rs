//! The queue of a pool: every request that is taken runs once, and none is left lying beside an idle thread.

use super::lanes::{Lanes, RejectReason, Request, Room, Shape, WorkerId};
use super::queue::{Queue, Submitted};
use crate::Priority;
use crate::sync::thread::{Task, model};
use core::pin::pin;
use core::time::Duration;
use loom::thread;
use std::sync::Arc;

/// Dynamic threads stay: loom has no clock.
const FOR_EVER: Duration = Duration::MAX;

/// The requests of a model: they do nothing, but each has a number.
type Numbers = Queue<usize>;

/// A queue of lanes with so many static threads each, and so much room for requests that wait.
fn queue(lanes: &[(i16, usize)], borrowing: bool, room: usize) -> Arc<Numbers> {
    let shapes: Vec<_> = lanes
        .iter()
        .map(|(priority, static_threads)| Shape {
            priority: Priority(*priority),
            static_threads: *static_threads,
            dynamic_threads: 0,
        })
        .collect();
    let room = Room {
        requests: room,
        octets: usize::MAX,
    };
    let lanes = Lanes::new(&shapes, true, borrowing, room).unwrap();
    Arc::new(Queue::new(lanes))
}

fn request(number: usize, priority: i16) -> Request<usize> {
    Request {
        priority: Priority(priority),
        deadline: None,
        octets: 0,
        client: None,
        work: number,
    }
}

/// Starts the threads of a queue, each of which returns the requests that it has run, and whether they were borrowed.
fn start(queue: &Arc<Numbers>) -> Vec<thread::JoinHandle<Vec<(usize, bool)>>> {
    let workers: Vec<WorkerId> = queue.lock().lanes.workers().collect();
    let run = |worker| {
        let queue = Arc::clone(queue);
        thread::spawn(move || {
            queue.begin(worker);
            let (mut ran, mut used) = (Vec::new(), None);
            while let Some(assigned) = queue.next(worker, used, FOR_EVER) {
                ran.push((assigned.request.work, assigned.borrowed));
                used = Some(assigned.request.work);
            }
            ran
        })
    };
    workers.into_iter().map(run).collect()
}

/// The jobs that the threads have run, in ascending order.
fn join(threads: Vec<thread::JoinHandle<Vec<(usize, bool)>>>) -> Vec<(usize, bool)> {
    let ran = threads.into_iter().map(|thread| thread.join().unwrap());
    let mut ran: Vec<_> = ran.flatten().collect();
    ran.sort_unstable();
    ran
}

/// Submits a request, and waits until there is room for it.
fn wait_for_room(queue: &Numbers, number: usize) {
    let (mut next, mut key) = (request(number, 1), None);
    loop {
        match queue.submit_or_wait(next, &mut key) {
            Submitted::Taken(started) => return assert!(started.is_none()),
            Submitted::Refused(refused) => unreachable!("{:?}", refused.reason),
            Submitted::Waits(back, ticket) => {
                next = back;
                let mut called = pin!(ticket.called());
                Task::new().run(|cx| called.as_mut().poll(cx));
            }
        }
    }
}

#[test]
fn every_request_runs_once_however_threads_park_and_are_woken() {
    model(3, || {
        let queue = queue(&[(1, 1)], false, 8);
        let threads = start(&queue);
        let submitter = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || assert!(queue.submit(request(0, 1)).is_ok()))
        };
        assert!(queue.submit(request(1, 1)).is_ok());
        submitter.join().unwrap();
        queue.close();
        assert_eq!(join(threads), [(0, false), (1, false)]);
    });
}

#[test]
fn a_request_beside_a_closing_queue_is_refused_or_runs() {
    model(3, || {
        let queue = queue(&[(1, 1)], false, 8);
        let threads = start(&queue);
        let closer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.close())
        };
        let taken = match queue.submit(request(0, 1)) {
            Ok(_) => vec![(0, false)],
            Err(refused) => {
                assert_eq!(refused.reason, RejectReason::Closed);
                Vec::new()
            }
        };
        closer.join().unwrap();
        assert_eq!(join(threads), taken);
    });
}

#[test]
fn a_borrowed_thread_takes_an_urgent_request_and_its_own_lane_gets_it_back() {
    model(2, || {
        let queue = queue(&[(1, 1), (9, 1)], true, 8);
        let threads = start(&queue);
        let submitter = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || assert!(queue.submit(request(0, 9)).is_ok()))
        };
        for (number, priority) in [(1, 9), (2, 1)] {
            assert!(queue.submit(request(number, priority)).is_ok());
        }
        submitter.join().unwrap();
        queue.close();
        let ran = join(threads);
        let numbers: Vec<_> = ran.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 1, 2]);
        // A request of the lowest lane is never another lane's.
        assert!(!ran[2].1);
    });
}

#[test]
fn a_submitter_that_waits_for_room_is_called_when_there_is_some() {
    model(2, || {
        // A thread, and no room beside it.
        let queue = queue(&[(1, 1)], false, 0);
        let threads = start(&queue);
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || wait_for_room(&queue, 0))
        };
        wait_for_room(&queue, 1);
        other.join().unwrap();
        queue.close();
        assert_eq!(join(threads), [(0, false), (1, false)]);
    });
}

#[test]
fn a_submitter_that_is_called_and_goes_leaves_its_turn_to_another() {
    model(2, || {
        let queue = queue(&[(1, 1)], false, 0);
        let threads = start(&queue);
        let goes = {
            let queue = Arc::clone(&queue);
            thread::spawn(
                move || match queue.submit_or_wait(request(0, 1), &mut None) {
                    Submitted::Taken(_) => vec![(0, false)],
                    Submitted::Refused(refused) => unreachable!("{:?}", refused.reason),
                    // Before or after it is called.
                    Submitted::Waits(_, ticket) => {
                        drop(ticket);
                        Vec::new()
                    }
                },
            )
        };
        wait_for_room(&queue, 1);
        let mut expected = goes.join().unwrap();
        expected.push((1, false));
        queue.close();
        assert_eq!(join(threads), expected);
    });
}
