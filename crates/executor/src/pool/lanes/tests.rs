//! Traces of decisions, on a clock that the tests move.
use std::time::{Duration, Instant};

use super::*;

/// A pool's decisions, each a word of a trace.
struct Pool {
    lanes: Lanes<&'static str>,
    start: Instant,
    trace: Vec<String>,
}

const ROOM: Room = Room {
    requests: 3,
    octets: 100,
};

fn lane(priority: i16, static_threads: usize, dynamic_threads: usize) -> Shape {
    Shape {
        priority: Priority(priority),
        static_threads,
        dynamic_threads,
    }
}

impl Pool {
    fn new(shapes: &[Shape], borrowing: bool) -> Self {
        let exact = shapes.len() > 1;
        Self {
            lanes: Lanes::new(shapes, exact, borrowing, ROOM).unwrap(),
            start: Instant::now(),
            trace: Vec::new(),
        }
    }

    fn request(
        &self,
        work: &'static str,
        priority: i16,
        deadline: Option<u64>,
        octets: usize,
    ) -> Request<&'static str> {
        Request {
            priority: Priority(priority),
            deadline: deadline.map(|millis| self.start + Duration::from_millis(millis)),
            octets,
            client: None,
            work,
        }
    }

    fn submit_with(
        &mut self,
        work: &'static str,
        priority: i16,
        deadline: Option<u64>,
        octets: usize,
    ) {
        let request = self.request(work, priority, deadline, octets);
        let word = match self.lanes.submit(request) {
            Ok(Placed::Handed(worker)) => format!("{work}→{}", worker.0),
            Ok(Placed::Start(worker)) => format!("{work}→new {}", worker.0),
            Ok(Placed::Queued) => format!("{work} waits"),
            Err(Refused { request, reason }) => {
                assert_eq!(request.work, work);
                format!("{work} {reason:?}")
            }
        };
        self.trace.push(word);
        self.check();
    }

    fn submit(&mut self, work: &'static str, priority: i16) {
        self.submit_with(work, priority, None, 0);
    }

    fn next_at(&mut self, worker: usize, millis: u64) {
        let now = self.start + Duration::from_millis(millis);
        let word = match self.lanes.next(WorkerId(worker), now) {
            Some(assigned) => format!(
                "{worker}:{}{}",
                assigned.request.work,
                if assigned.borrowed { "↑" } else { "" }
            ),
            None => format!("{worker}:idle"),
        };
        self.trace.push(word);
        self.check();
    }

    fn next(&mut self, worker: usize) {
        self.next_at(worker, 0);
    }

    /// Checks the invariants of the module's documentation.
    fn check(&self) {
        let mut idle_below = false;
        for lane in &self.lanes.lanes {
            let waits = !lane.queue.is_empty();
            assert!(!waits || lane.idle.is_empty(), "{:?}", self.trace);
            assert!(
                !(waits && self.lanes.borrowing && idle_below),
                "{:?}",
                self.trace
            );
            idle_below |= !lane.idle.is_empty();
        }
        let queued: usize = self.lanes.lanes.iter().map(|lane| lane.queue.len()).sum();
        assert_eq!(queued, self.lanes.queued());
    }

    #[track_caller]
    fn expect(&mut self, words: &[&str]) {
        assert_eq!(self.trace, words);
        self.trace.clear();
    }
}

#[test]
fn requests_without_lanes_leave_by_priority_deadline_and_arrival() {
    let mut pool = Pool::new(&[lane(0, 1, 0)], false);
    pool.lanes.room.requests = 10;
    pool.submit("first", 0);
    pool.submit_with("late deadline", 0, Some(20), 0);
    pool.submit("none", 0);
    pool.submit_with("early deadline", 0, Some(10), 0);
    pool.submit("urgent", 7);
    pool.submit("none too", 0);
    pool.submit_with("urgent, by a deadline", 7, Some(90), 0);
    for _ in 0..8 {
        pool.next(0);
    }
    pool.expect(&[
        "first→0",
        "late deadline waits",
        "none waits",
        "early deadline waits",
        "urgent waits",
        "none too waits",
        "urgent, by a deadline waits",
        "0:first",
        "0:urgent, by a deadline",
        "0:urgent",
        "0:early deadline",
        "0:late deadline",
        "0:none",
        "0:none too",
        "0:idle",
    ]);
}

#[test]
fn a_request_needs_a_lane_of_exactly_its_priority() {
    let mut pool = Pool::new(&[lane(10, 1, 0), lane(30, 1, 0)], false);
    pool.submit("low", 10);
    pool.submit("between", 20);
    pool.submit("high", 30);
    pool.submit("above", 31);
    pool.expect(&["low→0", "between NoLane", "high→1", "above NoLane"]);
}

#[test]
fn a_busy_lane_without_borrowing_leaves_the_threads_of_others_alone() {
    let mut pool = Pool::new(&[lane(10, 1, 0), lane(30, 1, 0)], false);
    pool.submit("a", 30);
    pool.next(1);
    pool.submit("b", 30);
    pool.next(0);
    pool.next(1);
    pool.expect(&["a→1", "1:a", "b waits", "0:idle", "1:b"]);
}

#[test]
fn a_lane_borrows_from_the_highest_lower_one_and_never_from_a_higher_one() {
    let shapes = [lane(10, 1, 0), lane(20, 1, 0), lane(30, 1, 0)];
    let mut pool = Pool::new(&shapes, true);
    pool.submit("a", 30);
    pool.submit("b", 30);
    pool.submit("c", 30);
    pool.submit("d", 30);
    pool.submit("low", 10);
    for worker in [2, 1, 0] {
        pool.next(worker);
    }
    // The thread of the lowest lane serves the highest queue before its own.
    pool.next(0);
    pool.next(0);
    pool.next(0);
    // The highest lane is idle, and its thread takes nothing of the lower ones.
    pool.next(2);
    pool.submit("e", 10);
    pool.submit("f", 10);
    pool.expect(&[
        "a→2",
        "b→1",
        "c→0",
        "d waits",
        "low waits",
        "2:a",
        "1:b↑",
        "0:c↑",
        "0:d↑",
        "0:low",
        "0:idle",
        "2:idle",
        "e→0",
        "f waits",
    ]);
    let counters = pool.lanes.counters();
    let highest = counters.last().unwrap();
    assert_eq!((highest.started, highest.borrowed), (4, 3));
    assert_eq!(highest.waited, 1);
}

#[test]
fn dynamic_workers_come_when_all_are_busy_and_end_when_idle() {
    let mut pool = Pool::new(&[lane(0, 1, 2)], false);
    pool.submit("a", 0);
    pool.submit("b", 0);
    pool.submit("c", 0);
    pool.submit("d", 0);
    for worker in [0, 1, 2] {
        pool.next(worker);
    }
    pool.next(1);
    pool.next(1);
    assert!(pool.lanes.end(WorkerId(1)));
    assert!(!pool.lanes.end(WorkerId(0)), "a static worker stays");
    pool.submit("e", 0);
    pool.expect(&[
        "a→0",
        "b→new 1",
        "c→new 2",
        "d waits",
        "0:a",
        "1:b",
        "2:c",
        "1:d",
        "1:idle",
        "e→new 1",
    ]);
}

#[test]
fn a_worker_that_was_handed_a_request_does_not_end() {
    let mut pool = Pool::new(&[lane(0, 1, 1)], false);
    pool.submit("a", 0);
    pool.submit("b", 0);
    pool.next(1);
    pool.next(1);
    pool.submit("c", 0);
    assert!(!pool.lanes.end(WorkerId(1)));
    pool.next(1);
    pool.expect(&["a→0", "b→new 1", "1:b", "1:idle", "c→1", "1:c"]);
}

#[test]
fn a_worker_that_cannot_start_leaves_its_request_to_others() {
    let mut pool = Pool::new(&[lane(0, 1, 1)], false);
    pool.submit("a", 0);
    pool.next(0);
    pool.submit("b", 0);
    assert!(matches!(
        pool.lanes.start_failed(WorkerId(1)),
        Ok(Placed::Queued)
    ));
    pool.next(0);
    // The place of the worker that did not start is free.
    pool.submit("c", 0);
    pool.next(0);
    assert!(matches!(
        pool.lanes.start_failed(WorkerId(1)),
        Ok(Placed::Handed(WorkerId(0)))
    ));
    pool.next(0);
    pool.expect(&["a→0", "0:a", "b→new 1", "0:b", "c→new 1", "0:idle", "0:c"]);
}

#[test]
fn queues_are_bounded_by_requests_and_by_octets_of_all_lanes() {
    let mut pool = Pool::new(&[lane(10, 1, 0), lane(30, 1, 0)], false);
    for (work, priority) in [("a", 10), ("b", 30)] {
        pool.submit_with(work, priority, None, 1000);
        pool.next(usize::from(priority == 30));
    }
    pool.submit_with("c", 10, None, 50);
    pool.submit_with("d", 30, None, 51);
    pool.submit_with("e", 30, None, 50);
    pool.submit_with("f", 30, None, 0);
    pool.submit_with("g", 10, None, 0);
    pool.next(1);
    pool.submit_with("h", 10, None, 0);
    pool.expect(&[
        "a→0", "0:a", "b→1", "1:b", "c waits", "d Full", "e waits", "f waits", "g Full", "1:e",
        "h waits",
    ]);
    let refused: Vec<_> = pool
        .lanes
        .counters()
        .iter()
        .map(|lane| lane.refused)
        .collect();
    assert_eq!(refused, [1, 1]);
}

#[test]
fn a_lane_leaves_a_share_of_the_room_to_each_lane_above_it() {
    let mut pool = Pool::new(&[lane(10, 1, 0), lane(20, 1, 0), lane(30, 1, 0)], false);
    for (worker, (work, priority)) in [("a", 10), ("b", 20), ("c", 30)].into_iter().enumerate() {
        pool.submit(work, priority);
        pool.next(worker);
    }
    pool.trace.clear();
    for (work, priority) in [
        ("d", 10),
        ("e", 10),
        ("f", 20),
        ("g", 20),
        ("h", 30),
        ("i", 30),
    ] {
        pool.submit(work, priority);
    }
    pool.next(0);
    // The lanes above use their shares.
    pool.submit("j", 10);
    pool.next(2);
    pool.submit("k", 10);
    pool.submit("l", 30);
    pool.expect(&[
        "d waits", "e Full", "f waits", "g Full", "h waits", "i Full", "0:d", "j waits", "2:h",
        "k Full", "l waits",
    ]);
}

#[test]
fn octets_too_are_left_to_the_lanes_above() {
    let mut pool = Pool::new(&[lane(10, 1, 0), lane(30, 1, 0)], false);
    for (worker, (work, priority)) in [("a", 10), ("b", 30)].into_iter().enumerate() {
        pool.submit(work, priority);
        pool.next(worker);
    }
    pool.trace.clear();
    pool.submit_with("c", 10, None, 51);
    pool.submit_with("d", 30, None, 100);
    pool.expect(&["c Full", "d waits"]);
    // A request that can never fit would wait for room forever.
    assert!(!pool.lanes.fits(Priority(10), 51) && pool.lanes.fits(Priority(10), 50));
    assert!(pool.lanes.fits(Priority(30), 100) && !pool.lanes.fits(Priority(30), 101));
    assert!(!pool.lanes.has_room(Priority(20)));
}

#[test]
fn requests_begun_past_their_deadline_are_counted() {
    let mut pool = Pool::new(&[lane(0, 1, 0)], false);
    pool.submit_with("in time", 0, Some(11), 0);
    pool.next_at(0, 10);
    pool.submit_with("late", 0, Some(20), 0);
    pool.next_at(0, 20);
    assert_eq!(pool.lanes.counters()[0].late, 1);
}

#[test]
fn a_closed_pool_takes_nothing_and_runs_what_waits() {
    let mut pool = Pool::new(&[lane(0, 1, 0)], false);
    pool.submit("a", 0);
    pool.next(0);
    pool.submit("b", 0);
    pool.lanes.close();
    pool.submit("c", 0);
    pool.next(0);
    pool.next(0);
    pool.expect(&["a→0", "0:a", "b waits", "c Closed", "0:b", "0:idle"]);
    assert!(pool.lanes.end(WorkerId(0)));
}

#[test]
fn a_worker_that_blocks_is_replaced_until_it_goes_on() {
    let mut pool = Pool::new(&[lane(0, 1, 0)], false);
    pool.submit("a", 0);
    pool.next(0);
    pool.submit("b", 0);
    // A replacement is started for the request that waits already.
    let blocking = pool.lanes.begin_blocking(WorkerId(0));
    assert_eq!(blocking.start, Some(WorkerId(1)));
    pool.next(1);
    pool.submit("c", 0);
    assert_eq!(pool.lanes.counters()[0].blocked, 1);
    // Both run now: the replacement does its request, and takes no other.
    pool.lanes.end_blocking(WorkerId(0), blocking.replaced);
    pool.next(1);
    assert!(pool.lanes.ends_early(WorkerId(1)));
    assert!(pool.lanes.end(WorkerId(1)));
    pool.next(0);
    pool.next(0);
    pool.expect(&[
        "a→0", "0:a", "b waits", "1:b", "c waits", "1:idle", "0:c", "0:idle",
    ]);
}

#[test]
fn a_worker_that_blocks_is_replaced_for_a_request_that_comes_later() {
    let mut pool = Pool::new(&[lane(0, 1, 0)], false);
    pool.submit("a", 0);
    pool.next(0);
    let blocking = pool.lanes.begin_blocking(WorkerId(0));
    assert_eq!((blocking.replaced, blocking.start), (true, None));
    pool.submit("b", 0);
    // The replacement blocks too: the lane of one thread replaces one.
    pool.next(1);
    let second = pool.lanes.begin_blocking(WorkerId(1));
    assert!(!second.replaced);
    pool.submit("c", 0);
    pool.lanes.end_blocking(WorkerId(1), second.replaced);
    pool.lanes.end_blocking(WorkerId(0), blocking.replaced);
    pool.next(0);
    pool.expect(&["a→0", "0:a", "b→new 1", "1:b", "c waits", "0:c"]);
}

/// Runs `clients` clients, each with one request at a time, whose upcalls take a unit of time, on a clock that the test
/// moves. Returns the number of calls of each.
fn calls_of_clients(clients: usize, threads: usize, units: usize) -> Vec<u32> {
    let shape = [lane(0, threads, 0)];
    let room = Room {
        requests: clients,
        octets: usize::MAX,
    };
    let mut lanes: Lanes<usize> = Lanes::new(&shape, false, false, room).unwrap();
    let mut now = Instant::now();
    let mut calls = vec![0; clients];
    let mut running = vec![None; threads];
    let request = |client| Request {
        priority: Priority(0),
        deadline: None,
        octets: 0,
        client: None,
        work: client,
    };
    for client in 0..clients {
        assert!(lanes.submit(request(client)).is_ok());
    }
    for _ in 0..units {
        now += Duration::from_millis(1);
        for (worker, runs) in running.iter_mut().enumerate() {
            if let Some(client) = runs.take() {
                calls[client] += 1;
                assert!(lanes.submit(request(client)).is_ok());
            }
            *runs = lanes
                .next(WorkerId(worker), now)
                .map(|assigned| assigned.request.work);
        }
    }
    calls
}

#[test]
fn without_lanes_many_more_clients_than_threads_get_equal_shares() {
    for (clients, threads) in [(8, 2), (100, 3), (1_000, 4), (5, 5)] {
        let calls = calls_of_clients(clients, threads, 4 * clients);
        let (least, most) = (calls.iter().min().unwrap(), calls.iter().max().unwrap());
        assert!(most - least <= 1, "{clients} {threads}: {least} to {most}");
    }
}

/// Workers and requests in any order: each request that was taken is run once, and none but these.
#[test]
fn nothing_is_lost_or_doubled_in_any_order() {
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..500 {
        let shapes = [lane(1, 1, 1), lane(2, 2, 0), lane(3, 1, 2)];
        let mut lanes: Lanes<u32> = Lanes::new(&shapes, true, round % 2 == 0, ROOM).unwrap();
        let now = Instant::now();
        let (mut taken, mut run) = (Vec::new(), Vec::new());
        for work in 0..200 {
            if random.bool() {
                let request = Request {
                    priority: Priority(random.i16(1..=3)),
                    deadline: random.bool().then_some(now),
                    octets: random.usize(0..50),
                    client: None,
                    work,
                };
                match lanes.submit(request) {
                    Ok(Placed::Start(worker)) if random.bool() => {
                        if lanes.start_failed(worker).is_ok() {
                            taken.push(work);
                        }
                    }
                    Ok(_) => taken.push(work),
                    Err(refused) => assert_eq!(refused.reason, RejectReason::Full),
                }
            }
            let workers: Vec<_> = lanes.workers().collect();
            let worker = workers[random.usize(..workers.len())];
            match lanes.next(worker, now) {
                Some(assigned) => run.push(assigned.request.work),
                None => drop(lanes.end(worker)),
            }
        }
        lanes.close();
        loop {
            let Some(worker) = lanes.workers().next() else {
                break;
            };
            match lanes.next(worker, now) {
                Some(assigned) => run.push(assigned.request.work),
                None => assert!(lanes.end(worker)),
            }
        }
        run.sort_unstable();
        assert_eq!(run, taken, "round {round}");
        assert_eq!(lanes.queued(), 0);
    }
}

/// A queue of so many places, whose one worker is busy.
fn behind_a_busy_worker(requests: usize, octets: usize) -> Lanes<u32> {
    let room = Room { requests, octets };
    let mut lanes = Lanes::new(&[lane(0, 1, 0)], false, false, room).unwrap();
    assert!(lanes.submit(of(None, 0, 0)).is_ok());
    lanes
}

fn of(client: Option<&Client>, octets: usize, work: u32) -> Request<u32> {
    Request {
        priority: Priority(0),
        deadline: None,
        octets,
        client: client.cloned(),
        work,
    }
}

fn reason(lanes: &mut Lanes<u32>, request: Request<u32>) -> Option<RejectReason> {
    lanes.submit(request).err().map(|refused| refused.reason)
}

#[test]
fn a_host_leaves_a_quarter_of_the_queue_to_others() {
    let (greedy, other) = (HostKey::unique(), HostKey::unique());
    let (greedy, other) = (Client::new(greedy), Client::new(other));
    let mut lanes = behind_a_busy_worker(16, 1 << 20);
    for work in 0..12 {
        assert_eq!(reason(&mut lanes, of(Some(&greedy), 0, work)), None);
    }
    let surplus = of(Some(&greedy), 0, 12);
    assert_eq!(reason(&mut lanes, surplus), Some(RejectReason::HostFull));
    assert_eq!(reason(&mut lanes, of(Some(&other), 0, 13)), None);
    // Work of the program's own has no such limit.
    for work in 14..17 {
        assert_eq!(reason(&mut lanes, of(None, 0, work)), None);
    }
    let late = Client::new(HostKey::unique());
    assert_eq!(
        reason(&mut lanes, of(Some(&late), 0, 17)),
        Some(RejectReason::Full)
    );
    // A request that has begun has left its place.
    let worker = lanes.workers().next().unwrap();
    for _ in 0..6 {
        assert!(lanes.next(worker, Instant::now()).is_some());
    }
    assert_eq!(reason(&mut lanes, of(Some(&greedy), 0, 18)), None);
}

#[test]
fn a_host_leaves_a_quarter_of_the_octets_to_others() {
    let (greedy, other) = (HostKey::unique(), HostKey::unique());
    let (greedy, other) = (Client::new(greedy), Client::new(other));
    let mut lanes = behind_a_busy_worker(16, 1000);
    assert_eq!(reason(&mut lanes, of(Some(&greedy), 700, 1)), None);
    let surplus = of(Some(&greedy), 100, 2);
    assert_eq!(reason(&mut lanes, surplus), Some(RejectReason::HostFull));
    assert_eq!(reason(&mut lanes, of(Some(&other), 300, 3)), None);
}

#[test]
fn requests_of_clients_that_have_gone_leave_their_places_when_there_is_no_other() {
    let client = Client::new(HostKey::unique());
    let mut lanes = behind_a_busy_worker(4, 100);
    assert_eq!(reason(&mut lanes, of(Some(&client), 10, 1)), None);
    assert_eq!(reason(&mut lanes, of(Some(&client.staying()), 10, 2)), None);
    assert_eq!(reason(&mut lanes, of(None, 80, 3)), None);
    let next = Client::new(HostKey::unique());
    assert!(reason(&mut lanes, of(Some(&next), 10, 4)).is_some());
    client.leave();
    assert_eq!(reason(&mut lanes, of(Some(&next), 10, 5)), None);
    let dropped: Vec<_> = lanes.take_abandoned().iter().map(|it| it.work).collect();
    assert_eq!((dropped, lanes.queued()), (vec![1], 3));
    let worker = lanes.workers().next().unwrap();
    let run: Vec<_> = core::iter::from_fn(|| lanes.next(worker, Instant::now()))
        .map(|assigned| assigned.request.work)
        .collect();
    assert_eq!(run, [0, 2, 3, 5]);
    assert!(lanes.lanes[0].by_host.is_empty(), "a host is forgotten");
}

#[test]
fn a_host_whose_requests_fill_a_lane_has_its_share_in_the_lane_above() {
    let room = Room {
        requests: 32,
        octets: usize::MAX,
    };
    let shapes = [lane(1, 1, 0), lane(2, 1, 0)];
    let mut lanes = Lanes::new(&shapes, true, false, room).unwrap();
    let client = Client::new(HostKey::unique());
    let mut taken = |priority, client: &Client| {
        (0..100)
            .take_while(|_| {
                let request = Request {
                    priority: Priority(priority),
                    ..of(Some(client), 0, 0)
                };
                lanes.submit(request).is_ok()
            })
            .count()
    };
    // The first one of a lane is run, not queued.
    assert_eq!(taken(1, &client), 1 + 12);
    assert_eq!(taken(2, &client), 1 + 16);
    let other = Client::new(HostKey::unique());
    assert_eq!(taken(1, &other), 1);
    assert_eq!(taken(2, &other), 1);
}
