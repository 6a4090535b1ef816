//! A call that is alone on its connection and has a small reply, in one piece: what most calls are.
//!
//! It is made as any other, and becomes one as soon as anything about it is not as usual: it is in the table from before it
//! is sent, so that whoever else reads finds it there. What is left out is what only the others need: the reply is copied
//! from where it was read to where its caller wants it, and never split off, handed on or written down.

use super::calls::{Call, Called};
use super::{Answered, ClientConnection, EncodeArguments, How};
use crate::wire::link::{Blocked, End, Reading};
use crate::wire::right::Held;
use crate::wire::trace;
use crate::wire::waiting::Tried;
use core::task::Context;
use zorb_cdr::NativeEndian;
use zorb_executor::WaitPolicy;
use zorb_giop::{RequestId, RequestTemplate, SmallReply};

/// What came of reading for a lone call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Its reply, which is in its place.
    Reply,
    /// Nothing. The reactor knows whom to wake.
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
        let Ok(mut call) = self.begin(requests.version(), how.wait, None) else {
            return None;
        };
        let mut e = self.encoder(requests.version()).lending();
        if let Err(error) = self.encode(&mut e, requests, &call, how, operation, arguments) {
            return Some(Called::Failed(error));
        }
        zorb_giop::probe!(RequestSealed);
        let request_octets = e.position();
        // Before the request is out: nobody else can find the reply then. And after it has been encoded, of which it is not
        // known what it calls.
        let right = self.reading.claim();
        match self.write_from(&mut e, arguments) {
            Ok(ticket) => call.ticket = Some(ticket),
            Err(error) => return Some(Called::Failed(self.suspect_size(error, request_octets))),
        }
        if let Some(right) = right {
            let arrived = match self.hear(right, &mut call, small) {
                Ok(()) => return Some(Called::Small),
                Err(None) => None,
                Err(Some(right)) => call.lead(right),
            };
            if let Some(arrived) = arrived {
                return Some(Called::Answered(Answered {
                    arrived,
                    request_octets,
                }));
            }
        }
        Some(match call.block_for_ever() {
            Ok(arrived) => Called::Answered(Answered {
                arrived,
                request_octets,
            }),
            Err(error) => Called::Failed(self.suspect_size(error, request_octets)),
        })
    }

    /// Blocks for a reply that nobody else can have found, by who has had the right since before the request was sent. Gives
    /// the right back if more is to be done with it.
    #[inline]
    fn hear<'a>(
        &'a self,
        mut right: Held<'a, Reading>,
        call: &mut Call<'_>,
        small: &mut SmallReply,
    ) -> Result<(), Option<Held<'a, Reading>>> {
        match right.with(|reading| self.hear_in(reading, call, small)) {
            Ok(true) => {}
            Ok(false) => return Err(Some(right)),
            Err(end) => {
                // Before the right is let go, as everywhere.
                self.over(end);
                return Err(None);
            }
        }
        // Who has asked for it is looked after when the lead is passed on.
        while let Some(again) = right.give_back() {
            right = again;
        }
        call.done = true;
        self.pass_on_behind(call.id);
        Ok(())
    }

    #[inline]
    fn hear_in(
        &self,
        reading: &mut Reading,
        call: &Call<'_>,
        small: &mut SmallReply,
    ) -> Result<bool, End> {
        // Nobody wakes who is about to block and has said so nowhere: the end may have come since the call began.
        if trace::is_on() || !reading.reader.is_idle() || self.is_over() {
            return Ok(false);
        }
        if call.alone && self.is_alone(reading) && call.wait != WaitPolicy::Park {
            match self.link.try_read(reading, call.wait) {
                Tried::Read(read) => {
                    self.link.has_come(read)?;
                    if reading.waiting.is_unwatched() {
                        self.is_unwatched();
                    }
                    return Ok(self.take_small(reading, call.id, small));
                }
                Tried::Yield => return Ok(false),
                Tried::Sleep => {}
            }
        }
        self.is_unwatched();
        match self.link.read_blocking(reading, None)? {
            Blocked::Read => Ok(self.take_small(reading, call.id, small)),
            Blocked::InVain | Blocked::Cannot => Ok(false),
        }
    }

    /// Whether what has been read is the reply to `id`, and a small one: then it is in its place.
    #[inline]
    fn take_small(&self, reading: &mut Reading, id: RequestId, small: &mut SmallReply) -> bool {
        let taken = self.link.take_small(&mut reading.reader, id, small);
        if taken && !self.announced.load(core::sync::atomic::Ordering::Relaxed) {
            self.announced
                .store(true, core::sync::atomic::Ordering::Relaxed);
        }
        taken
    }

    /// Reads for a call that is alone, as it has announced, and takes its reply if that is a small one. Then the reactor
    /// listens again.
    #[inline]
    pub(super) fn hear_alone(
        &self,
        reading: &mut Reading,
        id: RequestId,
        small: &mut SmallReply,
    ) -> Result<Heard, End> {
        if trace::is_on() || !reading.reader.is_idle() {
            return Ok(Heard::Other { armed: true });
        }
        if self.poll_read(reading)?.is_pending() {
            reading.waiting.sleeps();
            return Ok(Heard::Nothing);
        }
        if !self.take_small(reading, id, small) {
            return Ok(Heard::Other { armed: false });
        }
        Ok(Heard::Reply)
    }

    /// Has the reactor listen again behind a reply that its caller has.
    #[inline]
    pub(super) fn listen_behind(&self, reading: &mut Reading, id: RequestId) -> Result<(), End> {
        {
            let mut state = self.state();
            state.table.finish(id);
            if state.end.is_some() {
                return Ok(());
            }
            // As `State::arm`, of nobody who waits.
            state.armed = true;
            state.leader = None;
        }
        if self.poll_read(reading)?.is_ready() {
            self.leave_to_the_driver();
        }
        Ok(())
    }
}

impl Call<'_> {
    /// Reads for the reply in its caller's poll, by who has announced it.
    #[inline]
    pub(super) fn hear(
        &mut self,
        right: &mut Held<'_, Reading>,
        small: &mut SmallReply,
    ) -> Result<Heard, End> {
        let connection = self.connection;
        let id = self.id;
        right.with(|reading| {
            let heard = connection.hear_alone(reading, id, small)?;
            if heard == Heard::Reply {
                self.done = true;
                // An end that shows itself now is nothing to who has its reply.
                if let Err(end) = connection.listen_behind(reading, id) {
                    connection.over(end);
                }
            }
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
