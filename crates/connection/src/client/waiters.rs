//! The calls that wait for replies, and the waker that the reactor calls.

use super::super::link::Reading;
use super::super::reader::{ReadLease, Readable};
use super::super::sync::{Mutex, MutexGuard};
use super::super::waker::DriverWaker;
use core::task::Waker;
use std::sync::{Arc, PoisonError};
use std::task::Wake;
use zorb_executor::WaitPolicy;
use zorb_giop::{
    Life, Message, MessageKind, ProtocolError, Received, ReplySlot, ReplyStatus, RequestId,
    RequestTable,
};

/// The limit on requests in flight on one connection. A peer that leaves as many unanswered is overloaded or gone.
pub(super) const MAX_IN_FLIGHT: usize = 16 << 10;

/// A call that waits for its reply.
pub(crate) struct Waiter {
    /// The message that answers it: Reply, or LocateReply.
    awaited: MessageKind,
    pub(super) waker: Option<Waker>,
    /// The caller is a blocking thread, which reads as soon as it is woken.
    pub(super) blocks: bool,
    pub(super) reply: Option<Arrived>,
}

impl Waiter {
    /// The waiter of a new call that a message of the kind `awaited` answers; a caller that blocks gets its waker later.
    #[inline]
    pub(super) fn of(awaited: MessageKind, waker: Option<&Waker>) -> Self {
        Self {
            awaited,
            waker: waker.cloned(),
            blocks: false,
            reply: None,
        }
    }

    /// Sets the waker for the reply, or the end.
    #[inline]
    pub(super) fn set_waker(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }
}

/// A reply that another reader has received.
pub(crate) struct Arrived {
    pub(super) message: Message,
    pub(super) status: ReplyStatus,
    pub(super) body: usize,
}

impl Arrived {
    pub(super) fn move_to(self, reply: &mut ReplySlot) {
        reply.set_message(self.message, self.status, self.body);
    }
}

/// The reader's own call, whose reply goes straight to its slot.
pub(super) struct OwnReply<'a> {
    pub(super) id: RequestId,
    awaited: MessageKind,
    pub(super) policy: WaitPolicy,
    reply: &'a mut ReplySlot,
    /// The reply is in its slot.
    pub(super) has_reply: bool,
    /// The call has left the table.
    pub(super) finished: bool,
}

impl<'a> OwnReply<'a> {
    pub(super) const fn new(
        id: RequestId,
        awaited: MessageKind,
        policy: WaitPolicy,
        reply: &'a mut ReplySlot,
    ) -> Self {
        Self {
            id,
            awaited,
            policy,
            reply,
            has_reply: false,
            finished: false,
        }
    }

    /// Whether a message of this kind and id answers the call.
    #[inline]
    pub(super) fn is_answered_by(&self, kind: MessageKind, id: u32) -> bool {
        self.id.0 == id && self.awaited == kind
    }

    #[inline]
    pub(super) fn fill(&mut self, received: Received<'_>, status: ReplyStatus, body: usize) {
        // Of several replies to one request the first counts.
        match self.has_reply {
            false => self.reply.fill(received, status, body),
            true => received.discard(),
        }
        self.has_reply = true;
    }

    pub(super) fn set_message(&mut self, message: Message, status: ReplyStatus, body: usize) {
        if !self.has_reply {
            self.reply.set_message(message, status, body);
        }
        self.has_reply = true;
    }
}

/// The state of a connection's calls.
pub(crate) struct State {
    pub(super) table: RequestTable<Waiter>,
    /// One-way requests that are being encoded and sent.
    pub(super) one_ways: usize,
    /// Replies in the table, whose callers have been woken and have yet to run.
    pub(super) untaken: usize,
    pub(crate) life: Life,
}

impl State {
    /// Removes a call that no longer wants its reply, which may have come already.
    pub(super) fn forget(&mut self, id: RequestId) {
        let waiter = self.table.complete(id);
        self.took(waiter.is_some_and(|waiter| waiter.reply.is_some()));
    }

    /// Counts a reply that was taken out of the table, if there was one.
    #[inline]
    pub(super) fn took(&mut self, reply: bool) {
        self.untaken = self.untaken.saturating_sub(usize::from(reply));
    }

    /// Removes a call whose caller has its reply.
    #[inline]
    pub(super) fn finish(&mut self, id: RequestId) {
        match self.untaken {
            0 => drop(self.table.finish(id)),
            // The peer may have replied twice, and the second reply may be in the table.
            _ => self.forget(id),
        }
    }

    /// Returns whether `own` still waits, and the number of other calls. Sets `waker` for a call that waits.
    #[inline]
    pub(super) fn look(
        &mut self,
        own: Option<&mut OwnReply<'_>>,
        waker: Option<&Waker>,
    ) -> (bool, usize) {
        let Some(own) = own else {
            return (false, self.table.len());
        };
        if own.has_reply && !own.finished {
            own.finished = true;
            self.finish(own.id);
        }
        if own.finished {
            return (false, self.table.len());
        }
        let Some(waiter) = self.table.get_mut(own.id) else {
            return (false, self.table.len());
        };
        let waits = waiter.reply.is_none();
        if waits && let Some(waker) = waker {
            waiter.set_waker(waker);
        }
        (waits, self.table.len().saturating_sub(1))
    }
}

/// The waiters of a connection, and who reads for them. As a [`Waker`], called by the reactor, they wake the next reader.
///
/// The reactor keeps this waker from one call to the next, so that a caller that finds the socket registered need not
/// register.
#[doc(alias = "ReadinessWaker")]
pub(crate) struct ReplyWaiters {
    state: Mutex<State>,
    pub(crate) reading: ReadLease<Reading>,
    driver: Arc<DriverWaker>,
}

impl ReplyWaiters {
    /// The waiters of a connection with this `life`. `driver` gets the events that no caller waits for.
    pub(crate) fn new(
        life: Life,
        opened_here: bool,
        reading: Reading,
        driver: Arc<DriverWaker>,
    ) -> Self {
        Self {
            reading: ReadLease::new(reading, Waker::from(Arc::clone(&driver))),
            state: Mutex::new(State {
                table: RequestTable::new(opened_here, MAX_IN_FLIGHT),
                one_ways: 0,
                untaken: 0,
                life,
            }),
            driver,
        }
    }

    #[inline]
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a reply to the call that waits for it, which is not the reader's own.
    ///
    /// # Errors
    /// [`WrongReply`](ProtocolError::WrongReply) if the call waits for the other kind of reply.
    pub(super) fn deliver(&self, id: RequestId, arrived: Arrived) -> Result<(), ProtocolError> {
        let mut guard = self.state();
        let state = &mut *guard;
        let Some(waiter) = state.table.get_mut(id) else {
            // A late reply to a cancelled call, or a reply without a request, is dropped.
            state.table.finish(id);
            return Ok(());
        };
        let kind = arrived.message.header.kind;
        if waiter.awaited != kind {
            return Err(ProtocolError::WrongReply { kind });
        }
        if waiter.reply.is_none() {
            waiter.reply = Some(arrived);
            state.untaken = state.untaken.saturating_add(1);
        }
        let waker = waiter.waker.take();
        drop(guard);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }
}

impl Wake for ReplyWaiters {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let caller = match self.reading.readable() {
            Readable::Caller(id) => {
                let mut state = self.state();
                (state.table.get_mut(id)).and_then(|waiter| waiter.waker.take())
            }
            Readable::Driver => None,
            Readable::Holder => return,
        };
        match caller {
            Some(caller) => caller.wake(),
            // The caller may have gone.
            None => self.driver.notify(),
        }
    }
}
