//! Reading: who may sleep, and who wakes whom.

use crate::model;
use crate::right::{Held, Right};
use crate::sync::Ordering;
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;
use std::task::Waker;

/// A connection whose peer answers every request at once. The right is the real one; the rest is the protocol of
/// `wire/client/reading.rs`: who may sleep without asking the reactor, and whom it wakes.
struct Reads {
    right: Right<()>,
    socket: Mutex<Socket>,
    state: Mutex<State>,
    /// Whether the reactor looks away.
    unwatched: AtomicBool,
    /// Whether a caller has been woken by the reactor, and has not run since.
    told: AtomicBool,
    /// How often the reactor has told of something.
    news: AtomicUsize,
    bells: [Notify; 2],
}

#[derive(Default)]
struct Socket {
    /// Replies that have not been read, by whom they are for.
    arrived: Vec<usize>,
    /// Whether the reactor tells of the next.
    listens: bool,
}

#[derive(Default)]
struct State {
    callers: [Caller; 2],
    armed: bool,
    leader: Option<usize>,
    /// Nothing more will come.
    end: bool,
}

/// How a turn of reading ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing more is there, and the reactor listens.
    Asleep,
    /// There is a reason to look again.
    Over,
}

#[derive(Clone, Copy, Default)]
struct Caller {
    /// Has sent its request and has no reply.
    calls: bool,
    /// Has written down its waker.
    waits: bool,
    has: bool,
}

impl State {
    fn is_alone(&self, me: usize) -> bool {
        self.callers[me].calls && !self.callers[1 - me].calls
    }

    /// `State::arm`.
    fn arm(&mut self, me: Option<usize>) -> bool {
        if self.end {
            return false;
        }
        self.armed = true;
        self.leader = None;
        if let Some(me) = me.filter(|me| self.callers[*me].calls) {
            self.callers[me].waits = true;
            self.leader = self.is_alone(me).then_some(me);
        }
        true
    }

    fn complete(&mut self, whose: usize) {
        self.callers[whose].has = true;
        self.callers[whose].calls = false;
    }
}

impl Reads {
    fn new() -> Self {
        Self {
            right: Right::new((), Waker::noop().clone()),
            socket: Mutex::default(),
            state: Mutex::default(),
            unwatched: AtomicBool::new(false),
            told: AtomicBool::new(false),
            news: AtomicUsize::new(0),
            bells: [Notify::new(), Notify::new()],
        }
    }

    /// The peer's side: a reply comes, and the reactor tells of it.
    fn arrive(&self, whose: usize) {
        let listens = {
            let mut socket = self.socket.lock().unwrap();
            socket.arrived.push(whose);
            std::mem::take(&mut socket.listens)
        };
        if listens {
            self.hear();
        }
    }

    /// What the reactor wakes: a caller that is alone, or the driver.
    fn hear(&self) {
        let mut state = self.state.lock().unwrap();
        let news = self.news.load(Ordering::Relaxed);
        self.news.store(news + 1, Ordering::Relaxed);
        state.armed = false;
        let leader = state.leader.take();
        let leader = leader.filter(|me| std::mem::take(&mut state.callers[*me].waits));
        drop(state);
        match leader {
            Some(leader) => {
                self.told.store(true, Ordering::Relaxed);
                self.bells[leader].notify();
            }
            // It runs some time, which may be now.
            None => self.read(),
        }
    }

    /// `Call::claim_told`.
    fn claim_told(&self) -> Option<Held<'_, ()>> {
        if !self.told.load(Ordering::Relaxed) {
            return None;
        }
        self.told.store(false, Ordering::Relaxed);
        self.right.claim()
    }

    /// One poll of a caller that the reactor has woken, and that has announced nothing: it reads, and if there is nothing
    /// but its reply it has that and no more to do than to have the reactor listen again. Whether that was so.
    fn hear_told(&self, me: usize) -> bool {
        let news = self.news.load(Ordering::Relaxed);
        self.unwatched.store(false, Ordering::Release);
        let arrived = {
            // Reads what is there, and has the reactor listen behind it. If it was asked in vain nobody relies on that.
            let mut socket = self.socket.lock().unwrap();
            socket.listens = true;
            std::mem::take(&mut socket.arrived)
        };
        if arrived.is_empty() {
            return false;
        }
        if arrived != [me] {
            for whose in arrived {
                let mut state = self.state.lock().unwrap();
                state.complete(whose);
                if std::mem::take(&mut state.callers[whose].waits) && whose != me {
                    drop(state);
                    self.bells[whose].notify();
                }
            }
            return false;
        }
        // `listen_behind`.
        {
            let mut state = self.state.lock().unwrap();
            state.complete(me);
            if state.end {
                return true;
            }
            assert!(state.arm(None));
            if news == self.news.load(Ordering::Relaxed) {
                return true;
            }
        }
        if !self.listens() {
            // The driver, which asks for the right that is held, and is heard when it is given back.
            self.read();
        }
        true
    }

    /// One poll of a caller: whether it has its reply.
    fn poll(&self, me: usize) -> bool {
        if let Some(mut right) = self.claim_told() {
            let is_over = right.with(|()| self.hear_told(me));
            if !is_over {
                self.read_by(right, Some(me), false);
                return self.is_answered(me);
            }
            if let Some(again) = right.give_back() {
                self.read_by(again, None, false);
            }
            return true;
        }
        let armed = {
            let mut state = self.state.lock().unwrap();
            if state.callers[me].has {
                return true;
            }
            if state.armed && !state.end {
                state.callers[me].waits = true;
                state.leader = state.is_alone(me).then_some(me);
                return false;
            }
            let right = match state.is_alone(me) && !state.end {
                true => self.right.claim(),
                false => None,
            };
            if right.is_some() {
                assert!(state.arm(Some(me)));
            }
            right
        };
        let turn = if let Some(right) = armed {
            self.read_by(right, Some(me), true)
        } else if let Some(right) = self.right.claim() {
            self.read_by(right, Some(me), false)
        } else {
            if self.is_answered(me) {
                return true;
            }
            match self.right.claim() {
                Some(right) => self.read_by(right, Some(me), false),
                None => return false,
            }
        };
        match turn {
            // Nobody looks for the end here: who has announced that it sleeps is woken by it.
            Turn::Asleep => self.state.lock().unwrap().callers[me].has,
            Turn::Over => self.is_answered(me),
        }
    }

    /// Whether there is a reply, or the end; else its waker is written down.
    fn is_answered(&self, me: usize) -> bool {
        let mut state = self.state.lock().unwrap();
        let is_answered = state.callers[me].has || state.end;
        state.callers[me].waits = !is_answered;
        is_answered
    }

    /// The driver.
    fn read(&self) {
        if let Some(right) = self.right.claim() {
            self.read_by(right, None, false);
        }
    }

    /// `armed`: it has been announced already that the reactor will listen.
    fn read_by(&self, mut right: Held<'_, ()>, me: Option<usize>, mut armed: bool) -> Turn {
        loop {
            let turn = right.with(|()| self.read_a_turn(me, std::mem::take(&mut armed)));
            match right.give_back() {
                Some(again) => right = again,
                None => return turn,
            }
        }
    }

    /// Reads what is there; then the reactor listens.
    fn read_a_turn(&self, me: Option<usize>, armed: bool) -> Turn {
        if armed && self.listens() {
            return Turn::Asleep;
        }
        loop {
            let arrived = std::mem::take(&mut self.socket.lock().unwrap().arrived);
            for whose in arrived {
                let mut state = self.state.lock().unwrap();
                state.complete(whose);
                if std::mem::take(&mut state.callers[whose].waits) && Some(whose) != me {
                    drop(state);
                    self.bells[whose].notify();
                }
            }
            // Before the reactor is asked: what it tells of at once must not be taken for news of before.
            if !self.state.lock().unwrap().arm(me) {
                return Turn::Over;
            }
            if self.listens() {
                return Turn::Asleep;
            }
        }
    }

    /// Has the reactor listen, unless there is something to read.
    fn listens(&self) -> bool {
        self.unwatched.store(false, Ordering::Release);
        let mut socket = self.socket.lock().unwrap();
        socket.listens = socket.arrived.is_empty();
        socket.listens
    }

    fn call(&self, me: usize) {
        while !self.poll(me) {
            self.bells[me].wait();
        }
    }

    /// `ClientConnection::end`: nothing more will come, which everybody who waits is told.
    fn end(&self) {
        let waiting = {
            let mut state = self.state.lock().unwrap();
            state.end = true;
            state.armed = false;
            state.leader = None;
            [0, 1].map(|whose| std::mem::take(&mut state.callers[whose].waits))
        };
        for (bell, waits) in self.bells.iter().zip(waiting) {
            if waits {
                bell.notify();
            }
        }
    }

    /// A call to which no reply comes. If the end was there before it, it finds that at its first poll at the latest.
    fn call_until_the_end(&self, me: usize) {
        if self.begin(me) {
            self.bells[me].wait();
        }
        self.call(me);
    }

    /// Says that a request will be sent. Whether its caller may sleep then: the reactor listens, and knows whom to wake.
    fn begin(&self, me: usize) -> bool {
        let mut state = self.state.lock().unwrap();
        state.callers[me].calls = true;
        if state.armed {
            state.callers[me].waits = true;
            state.leader = state.is_alone(me).then_some(me);
        }
        state.armed
    }

    /// A call that may sleep without being polled a second time, if it could when it began.
    fn call_at_once(&self, me: usize) {
        let sleeps = self.begin(me);
        self.arrive(me);
        if sleeps {
            self.bells[me].wait();
        }
        self.call(me);
    }

    /// A call that blocks its thread and is in no table as long as nobody else reads: whether it was made, which it is not
    /// when the connection has ended, or when somebody has the right.
    fn exchange_alone(&self, me: usize) -> bool {
        if !self.right.is_free() {
            return false;
        }
        let Some(mut right) = self.right.claim() else {
            return false;
        };
        let others = right.with(|()| {
            if self.state.lock().unwrap().end {
                return None;
            }
            let others = !self.unwatched.load(Ordering::Relaxed) && {
                let mut state = self.state.lock().unwrap();
                state.armed = false;
                // The other one, if it has sent its request.
                state.callers[1 - me].calls
            };
            self.arrive(me);
            self.unwatched.store(true, Ordering::Release);
            self.lead(me);
            Some(others)
        });
        let Some(others) = others else {
            drop(right);
            return false;
        };
        assert!(!self.state.lock().unwrap().end, "it was under way");
        let mut looks = others;
        while let Some(again) = right.give_back() {
            right = again;
            looks = true;
        }
        if looks {
            self.pass_on(me);
        }
        true
    }

    /// Somebody who has its reply sees to the other one.
    fn pass_on(&self, me: usize) {
        let waits = self.state.lock().unwrap().callers[1 - me].waits;
        if waits {
            // The driver.
            self.read();
        }
    }

    /// `ClientConnection::retire`: an end, if nobody waits for anything.
    fn retire(&self) {
        let Some(right) = self.right.claim() else {
            return;
        };
        {
            let mut state = self.state.lock().unwrap();
            state.end = state.callers.iter().all(|caller| !caller.calls);
        }
        drop(right);
    }

    /// A call that blocks its thread, if nobody reads when it begins.
    fn exchange(&self, me: usize) {
        self.state.lock().unwrap().callers[me].calls = true;
        let right = self.right.claim();
        if right.is_some() {
            // The reactor looks away before the reply comes.
            self.socket.lock().unwrap().listens = false;
        }
        self.arrive(me);
        let Some(right) = right else {
            return self.call(me);
        };
        let mut held = Some(right);
        while let Some(mut right) = held {
            right.with(|()| self.lead(me));
            held = right.give_back();
        }
        {
            let mut state = self.state.lock().unwrap();
            state.armed = false;
            state.complete(me);
        }
        self.pass_on(me);
    }

    /// Reads for everybody, while the reactor looks away.
    fn lead(&self, me: usize) {
        self.unwatched.store(true, Ordering::Release);
        let arrived = {
            let mut socket = self.socket.lock().unwrap();
            socket.listens = false;
            std::mem::take(&mut socket.arrived)
        };
        for whose in arrived.into_iter().filter(|whose| *whose != me) {
            let mut state = self.state.lock().unwrap();
            state.complete(whose);
            if std::mem::take(&mut state.callers[whose].waits) {
                drop(state);
                self.bells[whose].notify();
            }
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
                reads.begin(1);
                reads.arrive(1);
                reads.call(1);
            })
        };
        reads.begin(0);
        reads.arrive(0);
        reads.call(0);
        other.join().unwrap();
    });
}

#[test]
fn a_reply_that_comes_while_two_wait_wakes_somebody_who_reads_it() {
    model(2, || {
        let reads = Arc::new(Reads::new());
        reads.begin(0);
        reads.begin(1);
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

#[test]
fn a_caller_that_finds_the_reactor_listening_may_sleep_without_asking_it() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        // As after the call before.
        reads.read();
        reads.begin(0);
        let peer = {
            let reads = Arc::clone(&reads);
            // For the first one nobody waits any more: it was given up.
            thread::spawn(move || {
                reads.arrive(1);
                reads.arrive(0);
            })
        };
        reads.call(0);
        peer.join().unwrap();
    });
}

#[test]
fn nobody_depends_on_a_caller_that_was_alone_and_is_polled_no_more() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        reads.read();
        reads.begin(0);
        assert!(!reads.poll(0), "it leads, and is never polled again");
        reads.begin(1);
        let peer = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                reads.arrive(0);
                reads.arrive(1);
            })
        };
        reads.call(1);
        peer.join().unwrap();
    });
}

#[test]
fn a_caller_that_sleeps_from_its_beginning_is_woken_although_another_one_blocks_and_reads() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        // As after the call before.
        reads.read();
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.exchange(1))
        };
        reads.call_at_once(0);
        other.join().unwrap();
    });
}

#[test]
fn a_caller_that_blocks_and_is_in_no_table_leaves_nobody_waiting() {
    // Whether the reactor listens at first, as after an async call, or looks away, as after one that blocks.
    for listens in [true, false] {
        model(3, move || {
            let reads = Arc::new(Reads::new());
            match listens {
                true => reads.read(),
                false => assert!(reads.exchange_alone(1)),
            }
            let other = {
                let reads = Arc::clone(&reads);
                thread::spawn(move || {
                    if !reads.exchange_alone(1) {
                        reads.exchange(1);
                    }
                })
            };
            reads.call_at_once(0);
            other.join().unwrap();
        });
    }
}

#[test]
fn a_connection_is_not_given_up_under_a_caller_that_blocks_and_is_in_no_table() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        let idle = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.retire())
        };
        // It looks for itself whether that happens.
        reads.exchange_alone(0);
        idle.join().unwrap();
    });
}

#[test]
fn two_that_begin_while_the_reactor_listens_both_get_their_replies() {
    model(3, || {
        let reads = Arc::new(Reads::new());
        reads.read();
        let other = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || reads.call_at_once(1))
        };
        reads.call_at_once(0);
        other.join().unwrap();
    });
}

#[test]
fn who_begins_or_sleeps_or_reads_while_a_connection_ends_finds_the_end() {
    for listens in [false, true] {
        model(2, move || {
            let reads = Arc::new(Reads::new());
            if listens {
                // As after the call before.
                reads.read();
            }
            let callers = [0, 1].map(|me| {
                let reads = Arc::clone(&reads);
                thread::spawn(move || reads.call_until_the_end(me))
            });
            reads.end();
            for caller in callers {
                caller.join().unwrap();
            }
        });
    }
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
