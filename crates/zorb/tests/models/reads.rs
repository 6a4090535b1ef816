//! Reading: who may sleep, and who wakes whom.

mod blocking;
mod orders;

use crate::Bed;
use crate::outbound::Bell;
use crate::right::{Held, Right};
use crate::sync::Ordering;
use core::task::{Poll, Waker};
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;

/// Callers of a connection; most models have two.
const CALLERS: usize = 3;

/// A connection whose peer answers every request at once. The right and the driver's bell are the real ones; the rest is
/// the protocol of `wire/client/reading.rs`: who may sleep without asking the reactor, and whom it wakes.
struct Reads {
    right: Right<Reading>,
    socket: Mutex<Socket>,
    state: Mutex<State>,
    /// Whether the reactor looks away.
    unwatched: AtomicBool,
    /// Whether a caller has been woken by the reactor, and has not run since.
    told: AtomicBool,
    /// How often the reactor has told of something.
    news: AtomicUsize,
    bells: [Notify; CALLERS],
    driver: std::sync::Arc<Bell>,
    /// Whether the driver has a thread. Else it runs as soon as it is woken, in the place of who has woken it.
    is_driven: bool,
    /// Nobody needs the driver any more.
    over: AtomicBool,
}

/// What whoever reads has in hand.
#[derive(Default)]
struct Reading {
    /// Whether the reactor has been told to look away, since what came was found by trying.
    unwatched: bool,
}

/// How a caller waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Sleeping,
    /// It looks for itself before it sleeps.
    Trying,
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
    callers: [Caller; CALLERS],
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
    /// Is a thread that reads as soon as it is woken.
    blocks: bool,
    has: bool,
}

impl State {
    fn is_alone(&self, me: usize) -> bool {
        self.callers[me].calls && self.others(Some(me)) == 0
    }

    /// How many others have sent requests, and have no replies.
    fn others(&self, me: Option<usize>) -> usize {
        let calls = |(whose, caller): (usize, &Caller)| caller.calls && Some(whose) != me;
        self.callers
            .iter()
            .enumerate()
            .filter(|caller| calls(*caller))
            .count()
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
        let driver = std::sync::Arc::<Bell>::default();
        Self {
            right: Right::new(
                Reading::default(),
                Waker::from(std::sync::Arc::clone(&driver)),
            ),
            socket: Mutex::default(),
            state: Mutex::default(),
            unwatched: AtomicBool::new(false),
            told: AtomicBool::new(false),
            news: AtomicUsize::new(0),
            bells: [(); CALLERS].map(|()| Notify::new()),
            driver,
            is_driven: false,
            over: AtomicBool::new(false),
        }
    }

    /// One whose driver is a thread as the callers are, after what is `before` it.
    fn driven(before: impl FnOnce(&Self)) -> (Arc<Self>, thread::JoinHandle<()>) {
        let mut reads = Self::new();
        before(&reads);
        reads.is_driven = true;
        let reads = Arc::new(reads);
        let driver = {
            let reads = Arc::clone(&reads);
            thread::spawn(move || {
                Bed::new().sleep_until(|cx| {
                    reads.driver.register(cx.waker());
                    if reads.over.load(Ordering::Acquire) {
                        return Poll::Ready(());
                    }
                    reads.look_after();
                    Poll::Pending
                });
            })
        };
        (reads, driver)
    }

    /// Ends the driver, when everybody has a reply.
    fn finish(&self, driver: thread::JoinHandle<()>) {
        self.over.store(true, Ordering::Release);
        self.driver.ring();
        driver.join().unwrap();
    }

    /// Wakes the driver.
    fn ring(&self) {
        match self.is_driven {
            true => self.driver.ring(),
            // It runs some time, which may be now.
            false => self.look_after(),
        }
    }

    /// `look_after` of `wire/client/driver.rs`. It has no timer: that is for the end of a connection which nobody uses, and
    /// nobody may need it for a reply.
    fn look_after(&self) {
        if self.state.lock().unwrap().end || self.unwatched.load(Ordering::Acquire) {
            return;
        }
        if let Some(right) = self.right.claim() {
            self.read_by(right, None, false);
        }
    }

    /// `ClientConnection::leave_to_the_driver`.
    fn leave_to_the_driver(&self) {
        self.unwatched.store(false, Ordering::Release);
        self.ring();
    }

    /// `ClientConnection::is_unwatched`.
    fn is_unwatched(&self) -> bool {
        let listened =
            !self.unwatched.load(Ordering::Relaxed) && !self.unwatched.swap(true, Ordering::AcqRel);
        if listened {
            self.ring();
        }
        listened
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
            None => self.ring(),
        }
    }

    /// `Call::claim_told`.
    fn claim_told(&self) -> Option<Held<'_, Reading>> {
        if !self.told.load(Ordering::Relaxed) {
            return None;
        }
        self.told.store(false, Ordering::Relaxed);
        self.right.claim()
    }

    /// One poll of a caller that the reactor has woken, and that has announced nothing: it reads, and if there is nothing
    /// but its reply it has that and no more to do than to have the reactor listen again. Whether that was so.
    fn hear_told(&self, reading: &mut Reading, me: usize) -> bool {
        let news = self.news.load(Ordering::Relaxed);
        self.unwatched.store(false, Ordering::Release);
        reading.unwatched = false;
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
            self.hand_out(arrived, Some(me));
            return false;
        }
        // `is_heard_behind`.
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
        if !self.listens(reading) {
            // Which asks for the right that is held, and is heard when it is given back.
            self.leave_to_the_driver();
        }
        true
    }

    /// Gives replies to whom they are for.
    fn hand_out(&self, arrived: Vec<usize>, me: Option<usize>) {
        for whose in arrived {
            let mut state = self.state.lock().unwrap();
            state.complete(whose);
            if std::mem::take(&mut state.callers[whose].waits) && Some(whose) != me {
                drop(state);
                self.bells[whose].notify();
            }
        }
    }

    /// One poll of a caller: whether it has its reply.
    fn poll(&self, me: usize) -> bool {
        self.poll_as(me, Waits::Sleeping)
    }

    fn poll_as(&self, me: usize, waits: Waits) -> bool {
        if waits == Waits::Sleeping
            && let Some(mut right) = self.claim_told()
        {
            let is_over = right.with(|reading| self.hear_told(reading, me));
            if !is_over {
                self.read_by(right, Some((me, waits)), false);
                return self.is_answered(me, false);
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
            let sleeps = waits == Waits::Sleeping && !state.end;
            if state.armed && sleeps {
                state.callers[me].waits = true;
                state.leader = state.is_alone(me).then_some(me);
                return false;
            }
            let right = match state.is_alone(me) && sleeps {
                true => self.right.claim(),
                false => None,
            };
            if right.is_some() {
                assert!(state.arm(Some(me)));
            }
            right
        };
        let turn = if let Some(right) = armed {
            self.read_by(right, Some((me, waits)), true)
        } else if let Some(right) = self.right.claim() {
            self.read_by(right, Some((me, waits)), false)
        } else {
            if self.is_answered(me, false) {
                return true;
            }
            match self.right.claim() {
                Some(right) => self.read_by(right, Some((me, waits)), false),
                None => return false,
            }
        };
        match turn {
            // Nobody looks for the end here: who has announced that it sleeps is woken by it.
            Turn::Asleep => self.state.lock().unwrap().callers[me].has,
            Turn::Over => self.is_answered(me, false),
        }
    }

    /// `Call::poll_answered`: whether there is a reply, or the end; else its waker is written down.
    fn is_answered(&self, me: usize, blocks: bool) -> bool {
        let mut state = self.state.lock().unwrap();
        let is_answered = state.callers[me].has || state.end;
        state.callers[me].waits = !is_answered;
        state.callers[me].blocks = blocks;
        is_answered
    }

    /// `armed`: it has been announced already that the reactor will listen.
    fn read_by(
        &self,
        mut right: Held<'_, Reading>,
        me: Option<(usize, Waits)>,
        mut armed: bool,
    ) -> Turn {
        loop {
            let armed = std::mem::take(&mut armed);
            let turn = right.with(|reading| self.read_a_turn(reading, me, armed));
            match right.give_back() {
                Some(again) => right = again,
                None => return turn,
            }
        }
    }

    /// Reads what is there; then the reactor listens, unless it looks away and nobody waits.
    fn read_a_turn(&self, reading: &mut Reading, who: Option<(usize, Waits)>, armed: bool) -> Turn {
        if armed && self.listens(reading) {
            return Turn::Asleep;
        }
        let me = who.map(|(me, _)| me);
        let tries = who.is_some_and(|(_, waits)| waits == Waits::Trying);
        loop {
            let arrived = std::mem::take(&mut self.socket.lock().unwrap().arrived);
            self.hand_out(arrived, me);
            let tries = {
                let mut state = self.state.lock().unwrap();
                if state.end {
                    return Turn::Over;
                }
                let waits = me.is_some_and(|me| state.callers[me].calls);
                if me.is_some() && state.others(me) == 0 && !waits && reading.unwatched {
                    state.armed = false;
                    drop(state);
                    self.is_unwatched();
                    return Turn::Over;
                }
                // Before the reactor is asked: what it tells of at once must not be taken for news of before.
                match tries && waits {
                    true => state.armed = false,
                    false => assert!(state.arm(me)),
                }
                tries && waits
            };
            if tries {
                let found = {
                    let mut socket = self.socket.lock().unwrap();
                    let found = !socket.arrived.is_empty();
                    socket.listens &= !found;
                    found
                };
                if found {
                    reading.unwatched = true;
                    self.is_unwatched();
                    continue;
                }
                // The end may have come while we tried.
                if !self.state.lock().unwrap().arm(me) {
                    return Turn::Over;
                }
            }
            if self.listens(reading) {
                return Turn::Asleep;
            }
        }
    }

    /// `ClientConnection::poll_read`: has the reactor listen, unless there is something to read.
    fn listens(&self, reading: &mut Reading) -> bool {
        self.unwatched.store(false, Ordering::Release);
        reading.unwatched = false;
        let mut socket = self.socket.lock().unwrap();
        socket.listens = socket.arrived.is_empty();
        socket.listens
    }

    fn call(&self, me: usize) {
        self.call_as(me, Waits::Sleeping);
    }

    fn call_as(&self, me: usize, waits: Waits) {
        while !self.poll_as(me, waits) {
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
            [0, 1, 2].map(|whose| std::mem::take(&mut state.callers[whose].waits))
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
        self.begin_as(me, Waits::Sleeping)
    }

    fn begin_as(&self, me: usize, waits: Waits) -> bool {
        let mut state = self.state.lock().unwrap();
        state.callers[me].calls = true;
        let sleeps = state.armed && waits == Waits::Sleeping;
        if sleeps {
            state.callers[me].waits = true;
            state.leader = state.is_alone(me).then_some(me);
        }
        sleeps
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
}
