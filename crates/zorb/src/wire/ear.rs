//! Who waits for a reply on a client's connection, and what the reactor wakes when something comes.
//!
//! `tests/models` drives this very file under loom.

use super::client::Arrived;
use super::link::End;
use super::outbound::Bell;
use super::sole::{Is, Sole};
use super::sync::{AtomicBool, Mutex, MutexGuard, Ordering};
use core::task::Waker;
use std::sync::{Arc, PoisonError};
use std::task::Wake;
use zorb_executor::WaitPolicy;
use zorb_giop::{RequestId, RequestTable, TableFull};

#[derive(Default)]
pub(super) struct Waiter {
    pub(super) waker: Option<Waker>,
    /// Whether it is a thread that blocks, and reads as soon as it is woken.
    pub(super) blocks: bool,
    pub(super) reply: Option<Arrived>,
}

/// What whoever reads waits for itself.
pub(super) struct Mine {
    pub(super) id: RequestId,
    pub(super) policy: WaitPolicy,
    /// The reply, which never goes through the table then.
    pub(super) got: Option<Arrived>,
    /// Whether the table knows that it is here.
    pub(super) completed: bool,
}

/// How a call has begun.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub(super) id: RequestId,
    /// How often the reactor had told of something, if it listened, and knows whom to wake.
    pub(super) heard: Option<u32>,
}

pub(super) struct State {
    pub(super) table: RequestTable<Waiter>,
    /// Whom to wake of the call that is in [no table](Ear::sole). Nobody any more when it has been woken.
    sole_waker: Option<Waker>,
    /// The id of the next such call, if there is none now and its id is known.
    pub(super) next_sole: Option<RequestId>,
    /// One-way requests that are being made and sent.
    pub(super) one_ways: usize,
    /// Replies in the table: so many who wait are about to run.
    pub(super) untaken: usize,
    /// Set by `ClientConnection::set_end` only.
    pub(super) end: Option<End>,
    /// Whether the reactor will wake somebody when something comes: who has written its waker down may sleep then.
    /// True from before the reactor is asked until it has said something, but for a call that is over without the lock, which
    /// says so itself ([`Is::Over`]) until it is written down here; who asks it and finds that something has come
    /// goes on reading until nothing has, or leaves that to the driver.
    pub(super) armed: bool,
    /// Whom to wake then, if not the driver: a caller that was alone when it went to sleep. It may be one that is not
    /// polled any more, so whoever comes later takes the place away from it.
    pub(super) leader: Option<RequestId>,
}

/// What the reactor wakes when something comes: whoever waits alone, else the driver. It stays with the reactor from
/// one call to the next, so that a caller that finds it there has nothing to ask of it.
pub(super) struct Ear {
    state: Mutex<State>,
    /// Whether a caller has been woken and has not run yet: something has come for it, as a rule its reply. Only a hint.
    pub(super) told: AtomicBool,
    /// The only call that there is, begun while the reactor listened: nobody but that has to find it. It is not in the table,
    /// which is empty then: whoever looks there has it [entered](Self::settle) first. Beside it, how often the reactor has
    /// told of something.
    pub(super) sole: Sole,
    driver: Arc<Bell>,
}

impl State {
    /// The call that was in no table is over, and the reactor listens behind its reply.
    #[inline(always)]
    fn sole_is_over(&mut self, id: RequestId) {
        self.next_sole = Some(id.next());
        // As `arm`, of nobody who waits; at an end nobody looks any more.
        self.armed = true;
        self.leader = None;
    }

    /// Takes out of the table what no reply is wanted to, though a peer may have sent one.
    pub(super) fn forget(&mut self, id: RequestId) {
        let waiter = self.table.complete(id);
        self.untaken -= usize::from(waiter.is_some_and(|waiter| waiter.reply.is_some()));
    }

    /// Takes out of the table whose caller has its reply.
    #[inline]
    pub(super) fn finish(&mut self, id: RequestId) {
        match self.untaken {
            0 => drop(self.table.finish(id)),
            // It may have come twice, and have been put there by another who read before.
            _ => self.forget(id),
        }
    }

    /// Whether `mine` is not here yet, and how many others wait.
    pub(super) fn look_for(&mut self, mine: Option<&mut Mine>) -> (bool, usize) {
        let Some(mine) = mine else {
            return (false, self.table.len());
        };
        if mine.got.is_some() && !mine.completed {
            mine.completed = true;
            self.finish(mine.id);
        }
        let waiter = self.table.get_mut(mine.id);
        let (is_there, waits) = match waiter {
            Some(waiter) if !mine.completed => (true, waiter.reply.is_none()),
            _ => (false, false),
        };
        (waits, self.table.len() - usize::from(is_there))
    }

    /// To be said before the reactor is asked to listen. `mine`: what whoever asks waits for; `leads`: whether it is to
    /// be woken, and not the driver, unless others have come. False when the connection has come to its end, of which
    /// nobody will wake who asks: it was told before.
    #[must_use]
    pub(super) fn arm(&mut self, mine: Option<&Mine>, leads: bool, waker: &Waker) -> bool {
        if self.end.is_some() {
            return false;
        }
        self.armed = true;
        self.leader = None;
        if let Some(mine) = mine
            && let Some(waiter) = self.table.get_mut(mine.id)
        {
            waiter.wakes(waker);
            if leads && self.table.len() == 1 {
                self.leader = Some(mine.id);
            }
        }
        true
    }
}

impl Waiter {
    /// Whom to wake when the reply is here, or the end.
    pub(super) fn wakes(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }
}

impl Ear {
    /// `limit`: calls that may be in flight. What the reactor tells of, and no caller waits for, `driver` looks after.
    pub(super) fn new(limit: usize, driver: Arc<Bell>) -> Self {
        Self {
            state: Mutex::new(State {
                table: RequestTable::new(true, limit),
                sole_waker: None,
                next_sole: None,
                one_ways: 0,
                untaken: 0,
                end: None,
                armed: false,
                leader: None,
            }),
            sole: Sole::new(),
            told: AtomicBool::new(false),
            driver,
        }
    }

    #[inline]
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.bare_state();
        if self.sole.is() != Is::None {
            self.settle(&mut state);
        }
        state
    }

    /// Has the call that is in no table be found there as any other.
    #[cold]
    fn settle(&self, state: &mut State) {
        match self.sole.take() {
            Is::None => {}
            Is::Over(id) => state.sole_is_over(id),
            Is::Under(id) => {
                let waker = state.sole_waker.take();
                if waker.is_some() {
                    state.leader = Some(id);
                }
                let waiter = Waiter {
                    waker,
                    ..Waiter::default()
                };
                debug_assert!(state.table.is_empty(), "it is alone");
                state.table.enter(id, waiter);
            }
        }
    }

    /// Takes an id for a call. `waker`: whom to wake when the reactor says something, if it listens, and nobody where the
    /// caller will look for itself. `is_blocked`: whether something waits for room to be written.
    ///
    /// # Errors
    /// When too many are in flight.
    #[inline(always)]
    pub(super) fn begin(
        &self,
        state: &mut State,
        waker: Option<&Waker>,
        is_blocked: impl Fn() -> bool,
    ) -> Result<Begun, TableFull> {
        match (waker, self.sole.is()) {
            // As a rule: behind another such call, and nothing has been told since.
            (Some(waker), Is::Over(before)) if state.table.is_empty() && !is_blocked() => {
                state.sole_is_over(before);
                Ok(self.begin_sole(state, before.next(), waker))
            }
            _ => self.begin_with_others(state, waker, is_blocked),
        }
    }

    /// Begins a call that need be in no table, since it is alone.
    #[inline(always)]
    fn begin_sole(&self, state: &mut State, id: RequestId, waker: &Waker) -> Begun {
        // There is one id for such calls, and no next one while a call has it.
        state.next_sole = None;
        state.sole_waker = Some(waker.clone());
        let heard = Some(self.sole.begin(id));
        Begun { id, heard }
    }

    /// As [`begin`](Self::begin), where more has to be looked at.
    #[inline(never)]
    fn begin_with_others(
        &self,
        state: &mut State,
        waker: Option<&Waker>,
        is_blocked: impl Fn() -> bool,
    ) -> Result<Begun, TableFull> {
        if self.sole.is() != Is::None {
            self.settle(state);
        }
        let waker = waker.filter(|_| state.armed);
        if let Some(waker) = waker
            && state.table.is_empty()
            && !is_blocked()
            && let Some(id) = state.next_sole
        {
            return Ok(self.begin_sole(state, id, waker));
        }
        let waiter = Waiter {
            waker: waker.cloned(),
            ..Waiter::default()
        };
        let id = state.table.insert(waiter)?;
        if waker.is_some() {
            // As when it has been sent: what comes before is news, too.
            let alone = state.table.len() == 1;
            state.leader = (alone && !is_blocked()).then_some(id);
            if alone && state.next_sole.is_none() {
                state.next_sole = state.table.reserve().ok();
            }
        }
        let heard = waker.map(|_| self.sole.news());
        Ok(Begun { id, heard })
    }

    /// For who knows that a call may be in no table.
    #[inline]
    pub(super) fn bare_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a reply to whom it is for, which is not who reads.
    pub(super) fn deliver(&self, id: RequestId, arrived: Arrived) {
        let mut guard = self.state();
        let state = &mut *guard;
        let Some(waiter) = state.table.get_mut(id) else {
            // A late reply to a call that was given up, or one to nobody: no harm either way.
            state.table.finish(id);
            return;
        };
        if waiter.reply.is_none() {
            waiter.reply = Some(arrived);
            state.untaken += 1;
        }
        let waker = waiter.waker.take();
        drop(guard);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether nothing is to be done so that the reactor listens behind a reply that its caller has. `since`: how often it had
    /// told of something before it was asked, if it listens already.
    #[inline(always)]
    pub(super) fn is_heard_behind(&self, since: Option<u32>, call: Begun) -> bool {
        // As a rule it has told the caller of the reply, which so is no longer among those to be woken, and of nothing since,
        // nor has anybody else come.
        match since {
            Some(since) if call.heard != Some(since) && self.sole.is_heard(since, call.id) => true,
            _ => self.is_heard_among_others(since, call.id),
        }
    }

    #[cold]
    #[inline(never)]
    fn is_heard_among_others(&self, since: Option<u32>, id: RequestId) -> bool {
        let mut guard = self.bare_state();
        let state = &mut *guard;
        if self.sole.is() == Is::Under(id) {
            self.sole.take();
            // It may have come without being woken.
            state.sole_waker = None;
            state.next_sole = Some(id.next());
        } else {
            self.settle(state);
            state.finish(id);
        }
        if state.end.is_some() {
            return true;
        }
        // As `State::arm`, of nobody who waits.
        state.armed = true;
        state.leader = None;
        // Under the lock: what it tells of from now on, it tells who finds that it is said to listen.
        since.is_some_and(|since| since == self.sole.news())
    }
}

impl Wake for Ear {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut guard = self.bare_state();
        let state = &mut *guard;
        state.armed = false;
        let leader = match self.sole.tell() {
            Is::Under(_) => state.sole_waker.take(),
            Is::Over(id) => {
                // Nobody waits.
                state.next_sole = Some(id.next());
                None
            }
            Is::None => {
                let leader = state.leader.take();
                leader.and_then(|id| state.table.get_mut(id)?.waker.take())
            }
        };
        drop(guard);
        match leader {
            Some(waker) => {
                self.told.store(true, Ordering::Relaxed);
                waker.wake();
            }
            None => self.driver.ring(),
        }
    }
}
