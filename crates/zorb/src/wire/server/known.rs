//! What the requests of a connection have in common with earlier ones: their headers are compared and not read again,
//! and their objects are not looked for again.

use std::sync::{Arc, Weak};
use zorb_cdr::WireFormat;
use zorb_giop::{Message, RequestHead};
use zorb_poa::{ActiveObject, Places};

/// Operations of objects that are remembered for a connection, a power of two: few, since each costs its memory, and a
/// client that calls more of them in turn is served little slower than by reading.
const KNOWN: usize = 4;

/// What whoever reads a connection remembers of its requests. It keeps no servant alive.
#[derive(Default)]
pub(super) struct Known {
    /// By the upper bits of their marks.
    places: [Place; KNOWN],
}

#[derive(Default)]
struct Place {
    /// Of the last request that was not known. It is remembered when the next such one has the same: what is called
    /// once need not be.
    seen: u64,
    known: Option<Box<One>>,
}

struct One {
    head: RequestHead,
    places: Places,
    format: WireFormat,
    object: Weak<ActiveObject>,
    /// What the adapters had counted before the object was looked for.
    changes: u64,
}

/// A request that is known.
pub(super) struct Again {
    pub(super) places: Places,
    pub(super) format: WireFormat,
    pub(super) object: Arc<ActiveObject>,
}

impl Known {
    fn place(&mut self, mark: u64) -> Option<&mut Place> {
        let at = usize::try_from(mark >> (u64::BITS - KNOWN.ilog2())).ok()?;
        self.places.get_mut(at)
    }

    /// What is known of a request of this mark, if `changes` is what the adapters have counted now.
    #[inline]
    pub(super) fn find(&mut self, mark: u64, message: &Message, changes: u64) -> Option<Again> {
        let known = self.place(mark)?.known.as_ref()?;
        let (id, body) = known.head.begins(message)?;
        if known.changes != changes {
            return None;
        }
        Some(Again {
            places: known.places.again(id, body),
            format: known.format,
            object: known.object.upgrade()?,
        })
    }

    /// Whether a request that is not known should be [remembered](Self::remember): it came before.
    pub(super) fn comes_again(&mut self, mark: u64) -> bool {
        let Some(place) = self.place(mark) else {
            return false;
        };
        let again = place.seen == mark;
        place.seen = mark;
        again
    }

    /// Remembers a request, if it is one that can be: an object that was found when the adapters had counted
    /// `changes`, and that the same key leads to until they have counted more.
    #[cold]
    pub(super) fn remember(
        &mut self,
        mark: u64,
        message: &Message,
        format: WireFormat,
        object: &Arc<ActiveObject>,
        changes: u64,
    ) {
        let Some((head, header)) = RequestHead::of(message) else {
            return;
        };
        if object.is_asleep() {
            return;
        }
        let one = One {
            head,
            places: Places::of(&header),
            format,
            object: Arc::downgrade(object),
            changes,
        };
        if let Some(place) = self.place(mark) {
            place.known = Some(Box::new(one));
        }
    }

    /// Forgets everything: what was agreed on about text has changed.
    #[cold]
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
