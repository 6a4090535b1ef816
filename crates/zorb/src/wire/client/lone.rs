//! A call that is alone on its connection and has a small reply, in one piece: what most calls are.
//!
//! It becomes one as any other as soon as anything about it is not as usual. What is left out is what only the others need:
//! the reply is copied from where it was read to where its caller wants it, and never split off, handed on or written down.
//!
//! A caller that blocks is not even in the table. It has the right to read from before its request is out until it has its
//! reply, so nobody else can have found that; it finds the end of the connection itself, by reading; and whoever would give
//! the connection up since it is idle needs the right for that. Its ids are [reserved](zorb_giop::RequestTable::reserve). It
//! is [entered](ClientConnection::enter) before it lets go of the right without a reply. Whoever else has come meanwhile
//! has asked for the right in vain, and is looked after when that is let go: nobody can have gone to sleep on the strength
//! of a reactor that listens, since that looks away, which who has the right has seen to.

use super::calls::{Call, Called};
use super::{Answered, ClientConnection, EncodeArguments, How};
use crate::wire::ear::{Begun, Waiter};
use crate::wire::link::{Blocked, End, Reading};
use crate::wire::outbound::Ticket;
use crate::wire::right::Held;
use crate::wire::trace;
use crate::wire::waiting::Tried;
use core::sync::atomic::Ordering;
use core::task::{Context, Poll};
use zorb_cdr::{Encoder, NativeEndian};
use zorb_executor::WaitPolicy;
use zorb_giop::{RequestId, RequestTemplate, SmallReply, Version};

/// In the place of the next lone call's id: none is reserved. No id of this side is odd.
pub(super) const NONE: u32 = u32::MAX;

/// A call that blocks and is in no table.
#[derive(Clone, Copy)]
struct Lone {
    id: RequestId,
    version: Version,
    wait: WaitPolicy,
}

/// How far it has come in one piece.
enum Gone {
    /// Nowhere: it has to be made in another way.
    Not,
    /// It is not sent.
    Failed(super::CallError),
    /// It is sent.
    Sent {
        ticket: Ticket,
        /// Whether somebody else may wait who has not asked for the right.
        others: bool,
        /// Whether its reply is in its place.
        heard: Result<bool, End>,
    },
}

/// What came of reading for a lone call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Its reply, which is in its place.
    Reply,
    /// Nothing. The reactor listens, and knows whom to wake if it has been announced.
    Nothing,
    /// What has to be looked at as everything else is; perhaps it is in the reader. `armed`: whether the reactor may still
    /// be said to know whom to wake.
    Other {
        /// As above.
        armed: bool,
    },
}

impl ClientConnection {
    /// Sends a request and blocks this thread for its reply, which may do so for as long as it takes. Nothing is done, and
    /// `None` returned, when the connection is over or full of calls.
    #[inline]
    pub(crate) fn exchange(
        &self,
        requests: &RequestTemplate<NativeEndian>,
        operation: &str,
        arguments: &dyn EncodeArguments,
        how: &How,
        small: &mut SmallReply,
    ) -> Option<Called> {
        let id = self.lone.load(Ordering::Relaxed);
        if id == NONE || trace::is_on() || !self.reading.is_free() {
            return self.exchange_with_others(requests, operation, arguments, how);
        }
        let lone = Lone {
            id: RequestId(id),
            version: requests.version(),
            wait: how.wait.unwrap_or(self.wait),
        };
        let mut e = self.encoder(lone.version).lending();
        let request = (requests, operation, arguments);
        if let Err(error) = self.encode_as(&mut e, lone.id, how.response, request) {
            return Some(Called::Failed(error));
        }
        zorb_giop::probe!(RequestSealed);
        let octets = e.position();
        // Before the request is out: nobody else can find the reply then. And after it has been encoded, of which it is not
        // known what it calls.
        let Some(mut right) = self.reading.claim() else {
            return self.exchange_with_others(requests, operation, arguments, how);
        };
        match right.with(|reading| self.exchange_in(reading, lone, &mut e, arguments, small)) {
            Gone::Sent {
                heard: Ok(true),
                others,
                ..
            } => {
                self.let_go(right, others);
                Some(Called::Small)
            }
            Gone::Not => {
                self.let_go(right, false);
                self.exchange_with_others(requests, operation, arguments, how)
            }
            Gone::Failed(error) => {
                self.let_go(right, true);
                Some(Called::Failed(self.suspect_size(error, octets)))
            }
            Gone::Sent { ticket, heard, .. } => {
                Some(self.exchange_further(right, lone, ticket, heard, octets))
            }
        }
    }

    /// The same, by who has the right.
    #[inline]
    fn exchange_in(
        &self,
        reading: &mut Reading,
        lone: Lone,
        e: &mut Encoder<NativeEndian>,
        arguments: &dyn EncodeArguments,
        small: &mut SmallReply,
    ) -> Gone {
        if self.lone.load(Ordering::Relaxed) != lone.id.0
            || !reading.reader.is_idle()
            || self.is_over()
        {
            return Gone::Not;
        }
        // First: whatever comes of it, the id is used up.
        (self.lone).store(lone.id.next().0, Ordering::Relaxed);
        // Who has relied on the reactor until now is in the table.
        let mut others = !self.unwatched.load(Ordering::Relaxed) && self.looks_away();
        let ticket = match self.write_from(e, arguments) {
            Ok(ticket) => ticket,
            Err(error) => return Gone::Failed(error),
        };
        let heard = self.hear_in(reading, lone, small, &mut others);
        Gone::Sent {
            ticket,
            others,
            heard,
        }
    }

    /// Has nobody rely on the reactor any more. Whether there is anybody who may have.
    #[cold]
    fn looks_away(&self) -> bool {
        let mut state = self.state();
        state.armed = false;
        !state.table.is_empty()
    }

    /// Blocks for a reply that nobody else can have found: whether it is there. Says of `others` if the driver has been left
    /// something since who has the right looked, which it will not do now.
    #[inline]
    fn hear_in(
        &self,
        reading: &mut Reading,
        lone: Lone,
        small: &mut SmallReply,
        others: &mut bool,
    ) -> Result<bool, End> {
        if self.is_alone(reading) && lone.wait != WaitPolicy::Park {
            match self.link.try_read(reading, lone.wait) {
                Tried::Read(read) => {
                    self.link.has_come(read)?;
                    if reading.waiting.is_unwatched() {
                        *others |= self.is_unwatched();
                    }
                    return Ok(self.take_small(reading, lone.id, small));
                }
                Tried::Yield => return Ok(false),
                Tried::Sleep => {}
            }
        }
        *others |= self.is_unwatched();
        match self.link.read_blocking(reading, None)? {
            Blocked::Read => Ok(self.take_small(reading, lone.id, small)),
            Blocked::InVain | Blocked::Cannot => Ok(false),
        }
    }

    /// Gives the right back after a call that was in no table. `others`: whether somebody may wait who has not asked for it.
    #[inline]
    pub(super) fn let_go(&self, mut right: Held<'_, Reading>, mut others: bool) {
        while let Some(again) = right.give_back() {
            right = again;
            others = true;
        }
        if others {
            self.pass_on(None);
        }
    }

    /// Goes on with a lone call that has been sent, and whose reply is not a small one, or behind something else, or not
    /// there yet.
    #[cold]
    fn exchange_further(
        &self,
        right: Held<'_, Reading>,
        lone: Lone,
        ticket: Ticket,
        heard: Result<bool, End>,
        request_octets: usize,
    ) -> Called {
        let mut call = Call::lone(self, lone.id, lone.version, lone.wait, ticket);
        let arrived = match heard {
            Ok(_) => {
                self.enter(lone.id);
                call.lead(right)
            }
            Err(end) => {
                // Before the right is let go, as everywhere.
                self.over(end);
                drop(right);
                None
            }
        };
        match arrived.map_or_else(|| call.block_for_ever(), Ok) {
            Ok(arrived) => Called::Answered(Answered {
                arrived,
                request_octets,
            }),
            Err(error) => Called::Failed(self.suspect_size(error, request_octets)),
        }
    }

    /// Writes a lone call down, by who has had the right since before it was sent: others may find its reply from now on.
    fn enter(&self, id: RequestId) {
        let mut state = self.state();
        state.table.enter(id, Waiter::default());
        self.lone.store(NONE, Ordering::Relaxed);
    }

    /// As [`exchange`](Self::exchange), of a call that is in the table from before it is sent, so that whoever else reads
    /// finds it there.
    #[cold]
    fn exchange_with_others(
        &self,
        requests: &RequestTemplate<NativeEndian>,
        operation: &str,
        arguments: &dyn EncodeArguments,
        how: &How,
    ) -> Option<Called> {
        let Ok(mut call) = self.begin(requests.version(), how.wait, None) else {
            return None;
        };
        self.reserve();
        let mut e = self.encoder(requests.version()).lending();
        if let Err(error) = self.encode(&mut e, requests, &call, how, operation, arguments) {
            return Some(Called::Failed(error));
        }
        zorb_giop::probe!(RequestSealed);
        let request_octets = e.position();
        // As above.
        let right = self.reading.claim();
        match self.write_from(&mut e, arguments) {
            Ok(ticket) => call.ticket = Some(ticket),
            Err(error) => return Some(Called::Failed(self.suspect_size(error, request_octets))),
        }
        let arrived = match right {
            Some(right) => call.lead(right),
            None => None,
        };
        Some(match arrived.map_or_else(|| call.block_for_ever(), Ok) {
            Ok(arrived) => Called::Answered(Answered {
                arrived,
                request_octets,
            }),
            Err(error) => Called::Failed(self.suspect_size(error, request_octets)),
        })
    }

    /// Sees to it that the next lone call has an id.
    fn reserve(&self) {
        if self.lone.load(Ordering::Relaxed) != NONE {
            return;
        }
        let mut state = self.state();
        // Nobody else tells one where there is none.
        if self.lone.load(Ordering::Relaxed) == NONE
            && let Ok(id) = state.table.reserve()
        {
            self.lone.store(id.0, Ordering::Relaxed);
        }
    }

    /// Whether what has been read is the reply to `id`, and a small one: then it is in its place.
    #[inline]
    fn take_small(&self, reading: &mut Reading, id: RequestId, small: &mut SmallReply) -> bool {
        let taken = self.link.take_small(&mut reading.reader, id, small);
        if taken && !self.announced.load(Ordering::Relaxed) {
            self.announced.store(true, Ordering::Relaxed);
        }
        taken
    }

    /// Reads for a call that is alone, as it has announced unless it knows that there is something to read, and takes its
    /// reply if that is a small one. Then the reactor listens again.
    #[inline]
    pub(super) fn hear_alone(
        &self,
        reading: &mut Reading,
        announced: bool,
        call: Begun,
        small: &mut SmallReply,
    ) -> Result<Heard, End> {
        if trace::is_on() || !reading.reader.is_idle() {
            return Ok(Heard::Other { armed: announced });
        }
        match self.few.load(Ordering::Relaxed) && reading.reader.may_be_small() {
            true => self.hear_few(reading, announced, call, small),
            false => self.hear_any(reading, announced, call, small),
        }
    }

    /// The same, whatever comes.
    #[inline(never)]
    fn hear_any(
        &self,
        reading: &mut Reading,
        announced: bool,
        call: Begun,
        small: &mut SmallReply,
    ) -> Result<Heard, End> {
        if self.poll_read(reading)?.is_pending() {
            if announced {
                reading.waiting.sleeps();
            }
            return Ok(Heard::Nothing);
        }
        if !self.take_small(reading, call.id, small) {
            return Ok(Heard::Other { armed: false });
        }
        self.few.store(true, Ordering::Relaxed);
        self.heard_alone(reading, None, call);
        Ok(Heard::Reply)
    }

    /// The same, where a small reply is expected since the last one was small: it is received where it is wanted.
    #[inline(always)]
    fn hear_few(
        &self,
        reading: &mut Reading,
        announced: bool,
        call: Begun,
        small: &mut SmallReply,
    ) -> Result<Heard, End> {
        // Before the reactor is asked, who may tell of something at once.
        let news = self.ear.sole.news();
        // As `poll_read`.
        self.unwatched.store(false, Ordering::Release);
        let cx = &mut Context::from_waker(&self.listener);
        let (octets, listens) = match self.link.poll_read_few(reading, small.place(), cx) {
            Poll::Pending => {
                if announced {
                    reading.waiting.sleeps();
                }
                return Ok(Heard::Nothing);
            }
            Poll::Ready(Ok(Some(come))) => come,
            // Not with this transport, or not now.
            Poll::Ready(Ok(None)) => {
                self.few.store(false, Ordering::Relaxed);
                return self.hear_any(reading, announced, call, small);
            }
            Poll::Ready(Err(end)) => return Err(end),
        };
        if !small.is_received(octets, call.id) {
            self.few.store(false, Ordering::Relaxed);
            self.link
                .receive(&mut reading.reader, small.received(octets))?;
            return Ok(Heard::Other { armed: false });
        }
        zorb_giop::probe!(Framed);
        self.link.has_received_one();
        if !self.announced.load(Ordering::Relaxed) {
            self.announced.store(true, Ordering::Relaxed);
        }
        self.heard_alone(reading, listens.then_some(news), call);
        Ok(Heard::Reply)
    }

    /// What is left to do behind a reply that its caller has. `since`: as of [`is_heard_behind`](crate::wire::ear::Ear).
    #[inline(always)]
    fn heard_alone(&self, reading: &mut Reading, since: Option<u32>, call: Begun) {
        if !self.ear.is_heard_behind(since, call) {
            self.listen_behind(reading);
        }
    }

    /// Has the reactor listen behind such a reply, which has been said.
    #[inline(never)]
    fn listen_behind(&self, reading: &mut Reading) {
        match self.poll_read(reading) {
            Ok(Poll::Ready(())) => self.leave_to_the_driver(),
            Ok(Poll::Pending) => {}
            // An end that shows itself now is nothing to who has its reply.
            Err(end) => self.over(end),
        }
    }
}

impl Call<'_> {
    /// Reads for the reply in its caller's poll. `announced`: whether it has been said that the reactor will be asked, and
    /// whom it is to wake.
    #[inline]
    pub(super) fn hear(
        &mut self,
        right: &mut Held<'_, Reading>,
        announced: bool,
        small: &mut SmallReply,
    ) -> Result<Heard, End> {
        let connection = self.connection;
        let begun = Begun {
            id: self.id,
            heard: self.heard,
        };
        right.with(|reading| {
            let heard = connection.hear_alone(reading, announced, begun, small)?;
            self.done |= heard == Heard::Reply;
            Ok(heard)
        })
    }

    /// What is left to do by who has heard its reply and had the right for it.
    #[inline]
    pub(super) fn leave(&self, right: Held<'_, Reading>, cx: &mut Context<'_>) {
        if let Some(again) = right.give_back() {
            self.connection.read_for_others(again, cx);
        }
    }
}
