//! What the requests of a connection have in common with earlier ones: their headers are compared and not read again,
//! and their objects are not looked for again.

use std::sync::{Arc, Weak};
use zorb_cdr::WireFormat;
use zorb_giop::{Message, MessageHeader, RequestHead};
use zorb_poa::{ActiveObject, Places};

/// Sets of operations of objects that are remembered for a connection, a power of two: few, since each costs its memory,
/// and a client that calls more of them in turn is served little slower than by reading.
const SETS: usize = 4;
/// Operations of a set: two that alternate may well share one.
const WAYS: usize = 2;

/// What whoever reads a connection remembers of its requests. It keeps no servant alive.
#[derive(Default)]
pub(super) struct Known {
    /// By the upper bits of their marks.
    sets: [Set; SETS],
    /// Which set, and which of it, the last request was that was known: the next one is like it as a rule.
    last: (usize, usize),
}

#[derive(Default)]
struct Set {
    /// Of the last requests that were not known, the latest first. One is remembered when it comes again: what is called
    /// once need not be.
    seen: [u64; WAYS],
    /// The latest first.
    known: [Option<Box<One>>; WAYS],
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

impl One {
    /// What is known of a request if it is like this one.
    #[inline]
    fn again(&self, message: &Message, changes: u64) -> Option<Again> {
        match message.frame.fragment_starts() {
            [] => self.again_in(&message.header, message.frame.octets(), changes),
            _ => None,
        }
    }

    /// The same of one in one piece.
    #[inline]
    fn again_in(&self, header: &MessageHeader, octets: &[u8], changes: u64) -> Option<Again> {
        let (id, body) = self.head.begins_in(header, octets)?;
        if self.changes != changes {
            return None;
        }
        Some(Again {
            places: self.places.again(id, body),
            format: self.format,
            object: self.object.upgrade()?,
        })
    }
}

impl Known {
    fn set(mark: u64) -> usize {
        // All of its bits are below the number of sets.
        (mark >> (u64::BITS - SETS.ilog2())) as usize
    }

    /// What is known of a request that is like the last that was known, if `changes` is what the adapters have counted
    /// now.
    #[inline]
    pub(super) fn like_last(&self, message: &Message, changes: u64) -> Option<Again> {
        self.last()?.again(message, changes)
    }

    /// The same of a request in one piece, that lies where it was received.
    #[inline]
    pub(super) fn like_last_in(
        &self,
        header: &MessageHeader,
        octets: &[u8],
        changes: u64,
    ) -> Option<Again> {
        self.last()?.again_in(header, octets, changes)
    }

    #[inline]
    fn last(&self) -> Option<&One> {
        let (set, way) = self.last;
        self.sets.get(set)?.known.get(way)?.as_deref()
    }

    /// The same of a request of this mark that is like another one.
    pub(super) fn find(&mut self, mark: u64, message: &Message, changes: u64) -> Option<Again> {
        let set = Self::set(mark);
        let known = self.sets.get(set)?.known.iter().enumerate();
        let mut known = known.filter_map(|(way, one)| Some((way, one.as_ref()?)));
        let (way, again) =
            known.find_map(|(way, one)| Some((way, one.again(message, changes)?)))?;
        self.last = (set, way);
        Some(again)
    }

    /// Whether a request that is not known should be [remembered](Self::remember): it came before.
    pub(super) fn comes_again(&mut self, mark: u64) -> bool {
        let Some(set) = self.sets.get_mut(Self::set(mark)) else {
            return false;
        };
        if set.seen.contains(&mark) {
            return true;
        }
        set.seen.rotate_right(1);
        let [latest, ..] = &mut set.seen;
        *latest = mark;
        false
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
        let number = object.number_of(header.operation);
        let one = One {
            head,
            places: Places::of(&header).with_number(number),
            format,
            object: Arc::downgrade(object),
            changes,
        };
        if let Some(set) = self.sets.get_mut(Self::set(mark)) {
            set.known.rotate_right(1);
            let [latest, ..] = &mut set.known;
            *latest = Some(Box::new(one));
        }
    }

    /// Forgets everything: what was agreed on about text has changed.
    #[cold]
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Found;
    use bytes::Bytes;
    use zorb_cdr::{Encoder, Frame, NativeEndian};
    use zorb_giop::{RequestBuilder, ResponseFlags, ServiceContext, ServiceContextId, Version};
    use zorb_poa::Forward;

    fn request(key: &[u8], operation: &str) -> Message {
        request_with(key, operation, &[])
    }

    fn request_with(key: &[u8], operation: &str, contexts: &[ServiceContext]) -> Message {
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: 1,
            response: ResponseFlags::WithTarget,
            key,
            operation,
            contexts,
        };
        let octets = request.encode(Encoder::<NativeEndian>::new(WireFormat::default()), |_| {
            Ok(())
        });
        let octets = octets.unwrap().into_bytes();
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        Message {
            header,
            frame: Frame::new(octets),
        }
    }

    /// Names of operations of one set.
    fn names_of_a_set(key: &[u8]) -> [String; WAYS + 1] {
        let mark = |name: &String| RequestHead::mark(&request(key, name)).unwrap();
        let mut names = (0..).map(|n| format!("operation{n}"));
        let first = names.next().unwrap();
        let set = Known::set(mark(&first));
        let mut others = names.filter(|name| Known::set(mark(name)) == set);
        core::array::from_fn(|at| match at {
            0 => first.clone(),
            _ => others.next().unwrap(),
        })
    }

    /// An object, and its key.
    fn object(orb: &crate::Orb) -> (Bytes, Arc<ActiveObject>) {
        let target = Arc::new(|| Ok(zorb_giop::Ior::NIL));
        let object = Forward {
            type_id: String::new(),
            permanent: false,
            target,
        };
        let key = orb.inner().adapters().root().forward(object).unwrap();
        let Ok(Found::Object(object)) = orb.inner().find_for_peer(&key) else {
            panic!("the object is there");
        };
        (key, object)
    }

    #[test]
    fn a_request_that_tells_code_sets_is_known_by_one_that_told_the_same() {
        let orb = crate::Orb::builder().build_blocking().unwrap();
        let (key, object) = object(&orb);
        let telling = |data: &'static [u8]| {
            let data = Bytes::from_static(data);
            let id = ServiceContextId::CODE_SETS;
            request_with(&key, "operation", &[ServiceContext { id, data }])
        };
        let first = telling(&[1, 0, 0, 0, 1]);
        let mark = RequestHead::mark(&first).unwrap();
        let mut known = Known::default();
        known.remember(mark, &first, WireFormat::default(), &object, 7);
        assert!(known.find(mark, &telling(&[1, 0, 0, 0, 1]), 7).is_some());
        assert!(known.like_last(&first, 7).is_some());
        for other in [
            telling(&[1, 0, 0, 0, 2]),
            telling(&[1]),
            request(&key, "operation"),
        ] {
            assert_eq!(RequestHead::mark(&other), Some(mark));
            assert!(known.find(mark, &other, 7).is_none());
        }
        orb.shutdown(true).unwrap();
    }

    #[test]
    fn operations_that_share_a_set_are_known_together_and_of_too_many_the_latest() {
        let orb = crate::Orb::builder().build_blocking().unwrap();
        let (key, object) = object(&orb);
        let mut known = Known::default();
        let names = names_of_a_set(&key);
        let requests = names.each_ref().map(|name| request(&key, name));
        let marks = requests
            .each_ref()
            .map(|request| RequestHead::mark(request).unwrap());
        let [shared @ .., _] = &marks;
        // One after the other, as by a client that calls them in turn.
        assert!(shared.iter().all(|mark| !known.comes_again(*mark)));
        assert!(shared.iter().all(|mark| known.comes_again(*mark)));
        let is_known = |known: &mut Known, at: usize| {
            let request = &requests[at];
            let found = known.find(marks[at], request, 7).is_some();
            // Whoever was found last is found at once.
            assert!(!found || known.like_last(request, 7).is_some());
            assert!(known.like_last(request, 8).is_none());
            found
        };
        for (mark, request) in marks.iter().zip(&requests).take(WAYS) {
            known.remember(*mark, request, WireFormat::default(), &object, 7);
        }
        for _ in 0..2 {
            assert!((0..WAYS).all(|at| is_known(&mut known, at)));
        }
        assert!(!is_known(&mut known, WAYS));
        known.remember(
            marks[WAYS],
            &requests[WAYS],
            WireFormat::default(),
            &object,
            7,
        );
        assert!(is_known(&mut known, WAYS) && !is_known(&mut known, 0));
        known.clear();
        assert!(!is_known(&mut known, WAYS));
        orb.shutdown(true).unwrap();
    }
}
