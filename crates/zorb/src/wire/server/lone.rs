//! The way of most requests: like one that came before, to a servant whose manager lets them through, with nothing else
//! that waits on the connection. Nothing is looked for, and nothing noted that only who waits has need of.

use super::super::link::Behind;
use super::super::upcall::{Begun, run_in_place};
use super::ServerConnection;
use super::known::Again;
use super::pending::Pending;
use core::sync::atomic::Ordering;
use std::sync::Arc;
use zorb_executor::Dispatch;
use zorb_giop::{Message, ResponseFlags};
use zorb_poa::{Outcome, Request, State};

impl ServerConnection {
    /// Serves a request that is like one that is known.
    #[inline]
    pub(super) fn again(self: &Arc<Self>, again: Again, message: Message, behind: Behind) {
        let Again {
            places,
            format,
            object,
        } = again;
        zorb_giop::probe!(HeaderRead);
        zorb_giop::probe!(KeyParsed);
        zorb_giop::probe!(AdapterFound);
        zorb_giop::probe!(ServantFound);
        let context = Arc::clone(&self.orb) as Arc<dyn zorb_cdr::Context>;
        // Whoever waits until it has arrived is told so before the servant is called.
        let is_usual = object.manager().state() == State::Active
            && places.response() != ResponseFlags::WithServer
            && self.pending.load(Ordering::Acquire) == 0
            && matches!(self.orb.lane().dispatch(), Dispatch::InPlace);
        if !is_usual {
            let request = Request::at(places, message, format, context);
            return self.found(object, request, behind);
        }
        let receipt = places.receipt(message.header.version, format);
        let octets = message.frame.len();
        // The first poll is in place, with nobody to wake: a future that is not ready then is polled again at once by
        // its own task.
        let start = || object.start(Request::at(places, message, format, context));
        match run_in_place(&self.orb, start, &receipt) {
            Begun::Over(Outcome::Reply(reply)) => self.link.reply(reply, behind),
            Begun::Over(Outcome::Silent) => {}
            Begun::Waits(upcall) => {
                let pending = Pending::new(self, receipt, octets);
                self.run_on(upcall, receipt, pending);
            }
        }
    }
}
