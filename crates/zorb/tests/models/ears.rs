//! Waiting: whom the reactor wakes, and calls that are alone and in no table.

mod calls;
mod orders;

use crate::Bed;
use crate::client::Arrived;
use crate::ear::{Ear, Mine};
use crate::link::End;
use crate::outbound::Bell;
use crate::right::{Held, Right};
use crate::sole::Is;
use crate::sync::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use loom::sync::Mutex;
use loom::thread;
use std::sync::{Arc, Weak};
use std::task::Wake;
use zorb_executor::WaitPolicy;
use zorb_giop::RequestId;

/// How many others may wait for one to try for everybody.
const FEW: usize = 3;
/// Calls in flight.
const LIMIT: usize = 10;

/// A connection of a client. The ear and the state behind its lock are the real ones, as are the right and the driver's
/// bell; the rest is the protocol of `wire/client`, whose functions have the same names.
struct Client {
    ear: Arc<Ear>,
    /// The ear, as what the reactor wakes.
    listener: Waker,
    right: Right<Reading>,
    socket: Mutex<Socket>,
    unwatched: AtomicBool,
    driver: Arc<Bell>,
    /// The id of a call that blocks and is in no table.
    lone: RequestId,
    how: How,
    /// Whether the driver has set its timer.
    timer: AtomicBool,
    /// Whether it is time.
    due: AtomicBool,
    over: AtomicBool,
    /// Who waits for the driver to do either.
    seen: Arc<Bed>,
}

/// What a model may want otherwise.
#[derive(Clone, Copy)]
struct How {
    /// Whether the transport receives small replies where they are wanted.
    few: bool,
    /// Messages that are handled in one turn.
    messages_per_turn: usize,
    /// Whether the reply to a call that blocks comes when the reactor looks away already.
    late: bool,
}

impl Default for How {
    fn default() -> Self {
        Self {
            few: true,
            messages_per_turn: 256,
            late: false,
        }
    }
}

#[derive(Default)]
struct Socket {
    /// Replies that have not been read.
    arrived: Vec<RequestId>,
    /// Whether the reactor tells of the next.
    listens: bool,
    closed: bool,
}

/// What whoever reads has in hand.
#[derive(Default)]
struct Reading {
    /// Replies that have been read, and not been looked at.
    reader: Vec<RequestId>,
    /// Whether the reactor has been told to look away.
    unwatched: bool,
}

/// A driver that runs where it is woken.
struct InPlace(Weak<Client>);

impl Wake for InPlace {
    fn wake(self: Arc<Self>) {
        if let Some(client) = self.0.upgrade() {
            let waker = Waker::from(self);
            let _ = client.poll_driver(&mut Context::from_waker(&waker));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Asleep,
    Over,
}

impl Client {
    fn new(how: How) -> Self {
        let driver = Arc::<Bell>::default();
        let ear = Arc::new(Ear::new(LIMIT, Arc::clone(&driver)));
        let lone = ear.state().table.reserve().expect("there is room");
        Self {
            listener: Waker::from(Arc::clone(&ear)),
            ear,
            right: Right::new(Reading::default(), Waker::from(Arc::clone(&driver))),
            socket: Mutex::default(),
            unwatched: AtomicBool::new(false),
            driver,
            lone,
            how,
            timer: AtomicBool::new(false),
            due: AtomicBool::new(false),
            over: AtomicBool::new(false),
            seen: Bed::new(),
        }
    }

    /// One on which a call has been made, so that the reactor listens, and the next call that is alone has an id. The driver
    /// has a thread, or runs as soon as it is woken, in the place of who has woken it.
    fn used(how: How, has_thread: bool) -> (Arc<Self>, Option<thread::JoinHandle<()>>) {
        let client = Arc::new(Self::new(how));
        assert!(client.read(&mut Context::from_waker(Waker::noop())));
        assert!(client.call(WaitPolicy::Park));
        assert!(client.ear.bare_state().next_sole.is_some());
        let driver = match has_thread {
            true => {
                let client = Arc::clone(&client);
                Some(thread::spawn(move || {
                    Bed::new().sleep_until(|cx| client.poll_driver(cx));
                }))
            }
            false => {
                let waker = Waker::from(Arc::new(InPlace(Arc::downgrade(&client))));
                client.driver.register(&waker);
                None
            }
        };
        (client, driver)
    }

    fn poll_driver(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.driver.register(cx.waker());
        if self.over.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        self.look_after(cx);
        Poll::Pending
    }

    /// Ends the driver, when everybody has what it wants.
    fn finish(&self, driver: Option<thread::JoinHandle<()>>) {
        self.is_quiet();
        self.over.store(true, Ordering::Release);
        self.driver.ring();
        if let Some(driver) = driver {
            driver.join().unwrap();
        }
    }

    /// The same, by the peer's closing the connection. The driver may need its timer for that, which goes off now only: no
    /// reply depends on it.
    fn close(&self, driver: Option<thread::JoinHandle<()>>) {
        self.is_quiet();
        let listens = {
            let mut socket = self.socket.lock().unwrap();
            socket.closed = true;
            core::mem::take(&mut socket.listens)
        };
        if listens {
            self.listener.wake_by_ref();
        }
        self.seen.sleep_until(|_| {
            if self.over.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            if self.timer.swap(false, Ordering::AcqRel) {
                self.due.swap(true, Ordering::AcqRel);
                self.driver.ring();
            }
            Poll::Pending
        });
        if let Some(driver) = driver {
            driver.join().unwrap();
        }
    }

    /// Nobody is left anywhere.
    fn is_quiet(&self) {
        let state = self.ear.bare_state();
        // Who finds the end leaves the rest to it.
        if state.end.is_some() {
            return;
        }
        assert!(!matches!(self.ear.sole.is(), Is::Under(_)) && state.table.is_empty());
        assert_eq!(state.untaken, 0);
    }

    fn look_after(&self, cx: &mut Context<'_>) {
        if self.ear.state().end.is_some() {
            return;
        }
        let waits =
            self.unwatched.load(Ordering::Acquire) && !self.due.swap(false, Ordering::AcqRel);
        if waits || !self.read(cx) {
            // Not stored: to loom the value that another thread has swapped in might be the later one.
            self.timer.swap(true, Ordering::AcqRel);
            self.seen.0.notify();
        }
    }

    fn read(&self, cx: &mut Context<'_>) -> bool {
        let right = self.right.claim();
        right.is_some_and(|right| {
            self.read_by(right, None, false, cx);
            true
        })
    }

    /// The peer's side: a reply comes, and the reactor tells of it.
    fn arrive(&self, id: RequestId) {
        let listens = {
            let mut socket = self.socket.lock().unwrap();
            socket.arrived.push(id);
            core::mem::take(&mut socket.listens)
        };
        if listens {
            self.listener.wake_by_ref();
        }
    }

    fn over(&self) {
        let wakers: Vec<Waker> = {
            let mut state = self.ear.state();
            state.end = Some(End);
            state.armed = false;
            state.leader = None;
            let waiters = state.table.waiting_mut();
            waiters.filter_map(|waiter| waiter.waker.take()).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
        self.over.store(true, Ordering::Release);
        self.driver.ring();
        self.seen.0.notify();
    }

    fn read_by(
        &self,
        mut right: Held<'_, Reading>,
        mut mine: Option<&mut Mine>,
        mut armed: bool,
        cx: &mut Context<'_>,
    ) -> Turn {
        loop {
            let armed = core::mem::take(&mut armed);
            let turn =
                right.with(|reading| self.read_a_turn(reading, mine.as_deref_mut(), armed, cx));
            let Ok(turn) = turn else {
                self.over();
                return Turn::Over;
            };
            match right.give_back() {
                Some(again) => right = again,
                None => return turn,
            }
        }
    }

    fn read_a_turn(
        &self,
        reading: &mut Reading,
        mut mine: Option<&mut Mine>,
        mut armed: bool,
        cx: &mut Context<'_>,
    ) -> Result<Turn, End> {
        loop {
            if core::mem::take(&mut armed) && reading.reader.is_empty() {
                if self.poll_read(reading)?.is_pending() {
                    return Ok(Turn::Asleep);
                }
                continue;
            }
            if self.take(reading, mine.as_deref_mut()) {
                self.leave_to_the_driver();
                return Ok(Turn::Over);
            }
            let (waits, others);
            let tries = {
                let mut state = self.ear.state();
                if state.end.is_some() {
                    return Ok(Turn::Over);
                }
                (waits, others) = state.look_for(mine.as_deref_mut());
                if mine.is_some() && others == 0 && !waits && reading.unwatched {
                    state.armed = false;
                    drop(state);
                    self.is_unwatched();
                    return Ok(Turn::Over);
                }
                let leads = waits && others == 0;
                let is_best = leads || waits && others <= FEW && state.untaken == 0;
                let mine = mine.as_deref();
                match mine.filter(|mine| is_best && mine.policy != WaitPolicy::Park) {
                    Some(_) => {
                        state.armed = false;
                        true
                    }
                    None => {
                        if !state.arm(mine.filter(|_| waits), leads, cx.waker()) {
                            return Ok(Turn::Over);
                        }
                        false
                    }
                }
            };
            if tries {
                if self.try_read(reading)? {
                    self.is_unwatched();
                    continue;
                }
                // The end may have come while it tried.
                if !self.ear.state().arm(mine.as_deref(), true, cx.waker()) {
                    return Ok(Turn::Over);
                }
            }
            if self.poll_read(reading)?.is_pending() {
                return Ok(if waits { Turn::Asleep } else { Turn::Over });
            }
        }
    }

    /// `Link::take`: whether there is more than is handled in one turn.
    fn take(&self, reading: &mut Reading, mut mine: Option<&mut Mine>) -> bool {
        let turn = self.how.messages_per_turn.min(reading.reader.len());
        for id in reading.reader.drain(..turn) {
            self.handle(id, mine.as_deref_mut());
        }
        !reading.reader.is_empty()
    }

    fn handle(&self, id: RequestId, mine: Option<&mut Mine>) {
        let arrived = Arrived(id);
        match mine.filter(|mine| mine.id == id) {
            Some(mine) => drop(mine.got.get_or_insert(arrived)),
            None => self.ear.deliver(id, arrived),
        }
    }

    fn poll_read(&self, reading: &mut Reading) -> Result<Poll<()>, End> {
        self.unwatched.store(false, Ordering::Release);
        reading.unwatched = false;
        let mut socket = self.socket.lock().unwrap();
        let arrived = core::mem::take(&mut socket.arrived);
        if !arrived.is_empty() {
            reading.reader.extend(arrived);
            return Ok(Poll::Ready(()));
        }
        if socket.closed {
            return Err(End);
        }
        socket.listens = true;
        Ok(Poll::Pending)
    }

    /// `Link::try_read`: whether something has come, from which on the reactor looks away.
    fn try_read(&self, reading: &mut Reading) -> Result<bool, End> {
        let mut socket = self.socket.lock().unwrap();
        let arrived = core::mem::take(&mut socket.arrived);
        if !arrived.is_empty() {
            socket.listens = false;
            reading.unwatched = true;
            reading.reader.extend(arrived);
            return Ok(true);
        }
        match socket.closed {
            true => Err(End),
            false => Ok(false),
        }
    }

    fn is_unwatched(&self) -> bool {
        let listened =
            !self.unwatched.load(Ordering::Relaxed) && !self.unwatched.swap(true, Ordering::AcqRel);
        if listened {
            self.driver.ring();
        }
        listened
    }

    fn leave_to_the_driver(&self) {
        self.unwatched.store(false, Ordering::Release);
        self.driver.ring();
    }

    /// A call that blocks and is in no table: whether it was made, which it is not when somebody else reads. The peer
    /// answers at once.
    fn exchange(&self) -> bool {
        if !self.right.is_free() {
            return false;
        }
        let Some(mut right) = self.right.claim() else {
            return false;
        };
        let mut mine = Mine {
            id: self.lone,
            policy: WaitPolicy::Park,
            got: None,
            completed: false,
        };
        let others = right.with(|reading| {
            if !reading.reader.is_empty() {
                return None;
            }
            let mut others = !self.unwatched.load(Ordering::Relaxed) && self.looks_away();
            if !self.how.late {
                self.arrive(self.lone);
            }
            others |= self.is_unwatched();
            self.socket.lock().unwrap().listens = false;
            if self.how.late {
                self.arrive(self.lone);
            }
            reading.reader = core::mem::take(&mut self.socket.lock().unwrap().arrived);
            reading.unwatched = true;
            if reading.reader == [self.lone] {
                reading.reader.clear();
                return Some(others);
            }
            // It is entered, and leads.
            self.ear.state().table.enter(self.lone, Default::default());
            self.take(reading, Some(&mut mine));
            Some(true)
        });
        let mut looks = others == Some(true);
        while let Some(again) = right.give_back() {
            right = again;
            looks = true;
        }
        if looks {
            self.pass_on(mine.got.is_some().then_some(&mut mine));
        }
        others.is_some()
    }

    fn looks_away(&self) -> bool {
        let mut state = self.ear.state();
        state.armed = false;
        !state.table.is_empty()
    }

    fn pass_on(&self, mine: Option<&mut Mine>) {
        let others = {
            let mut state = self.ear.state();
            if mine.is_some() {
                state.armed = false;
            }
            state.look_for(mine);
            let mut waiting = state.table.waiting_mut();
            waiting.any(|waiter| waiter.reply.is_none() && waiter.waker.is_some())
        };
        if others {
            self.leave_to_the_driver();
        }
    }
}
