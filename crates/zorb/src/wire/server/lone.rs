//! The way of most requests: like the one before, to a servant whose manager lets them through, with nothing else that
//! waits on the connection. Nothing is looked for, and nothing noted that only who waits has need of. One that is small
//! besides is read where it lies, and no message is made of it.

use super::super::link::Behind;
use super::super::trace;
use super::super::upcall::run_now;
use super::ServerConnection;
use super::known::{Again, Known};
use super::pending::Pending;
use core::sync::atomic::Ordering;
use std::sync::Arc;
use zorb_executor::Dispatch;
use zorb_giop::{Message, MessageHeader, MessageKind, Reader, ResponseFlags};
use zorb_poa::{ActiveObject, Outcome, Receipt, Request, State};

impl ServerConnection {
    /// Serves the first of what has been read if it is a small request, and like the last one that was known; says whether
    /// it was. If not, nothing has happened.
    #[inline]
    pub(super) fn serve_front(self: &Arc<Self>, known: &Known, reader: &mut Reader) -> bool {
        let Some(front) = reader.front() else {
            return false;
        };
        let behind = match front.is_last() {
            true => Behind::Nothing,
            false => Behind::More,
        };
        let served = self.serve_small(known, front.header(), front.octets(), behind);
        if served {
            front.done();
        }
        served
    }

    /// The same of a message where it lies.
    #[inline]
    pub(super) fn serve_small(
        self: &Arc<Self>,
        known: &Known,
        header: &MessageHeader,
        octets: &[u8],
        behind: Behind,
    ) -> bool {
        if header.kind != MessageKind::Request || trace::is_on() {
            return false;
        }
        // Counted before anything is looked for.
        let changes = self.orb.adapters().changes();
        let Some(again) = known.like_last_in(header, octets, changes) else {
            return false;
        };
        let Again {
            places,
            format,
            object,
        } = again;
        let body = octets.get(places.body()..).unwrap_or_default();
        if body.len() > Request::FEW || !self.is_usual(&object, places.response()) {
            return false;
        }
        let context = Arc::clone(&self.orb) as Arc<dyn zorb_cdr::Context>;
        // Where it stays until it is started: it would be moved from call to call.
        let mut request = Request::of_few(places, header, body, format, context);
        if request.is_none() {
            return false;
        }
        zorb_giop::probe!(Framed);
        zorb_giop::probe!(HeaderRead);
        zorb_giop::probe!(KeyParsed);
        zorb_giop::probe!(AdapterFound);
        zorb_giop::probe!(ServantFound);
        let receipt = places.receipt(header.version, format);
        self.link.has_received_one();
        self.run(&object, &mut request, receipt, octets.len(), behind);
        true
    }

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
        if !self.is_usual(&object, places.response()) {
            let request = Request::at(places, message, format, context);
            return self.found(object, request, behind);
        }
        let receipt = places.receipt(message.header.version, format);
        let octets = message.frame.len();
        // As above.
        let mut request = Some(Request::at(places, message, format, context));
        self.run(&object, &mut request, receipt, octets, behind);
    }

    /// Whether a request for this object, of which this is to be answered, needs nothing but its servant.
    #[inline]
    fn is_usual(&self, object: &ActiveObject, response: ResponseFlags) -> bool {
        object.manager().state() == State::Active
            // Whoever waits until it has arrived is told so before the servant is called.
            && response != ResponseFlags::WithServer
            && self.pending.load(Ordering::Acquire) == 0
            && matches!(self.orb.lane().dispatch(), Dispatch::InPlace)
    }

    /// Runs the upcall of a request of so many octets that needs nothing else.
    #[inline]
    fn run(
        self: &Arc<Self>,
        object: &ActiveObject,
        request: &mut Option<Request>,
        receipt: Receipt,
        octets: usize,
        behind: Behind,
    ) {
        // Where it stays until it is sent: see above.
        let mut outcome = None;
        // The first poll is in place, with nobody to wake: a future that is not ready then is polled again at once by
        // its own task.
        if let Some(upcall) = run_now(&self.orb, object, request, &mut outcome, &receipt) {
            let pending = Pending::new(self, receipt, octets);
            return self.run_on(upcall, receipt, pending);
        }
        if let Some(Outcome::Reply(reply)) = &mut outcome {
            self.link.reply(reply, behind);
        }
    }
}
