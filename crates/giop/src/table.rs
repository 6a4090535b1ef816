//! The waiters of expected replies.

use core::fmt;
use std::collections::VecDeque;

/// A request id of this side: slot and generation, so that the reply to a cancelled request matches no later call.
///
/// ```text
///  31            17 16             1 0
///  ┌───────────────┬────────────────┬─┐
///  │  generation   │      slot      │p│   p: 0 for the end that opened the connection, 1 for the other
///  └───────────────┴────────────────┴─┘
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId(pub u32);

const SLOT_BITS: u32 = 16;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;
const GENERATION_MASK: u32 = (1 << (31 - SLOT_BITS)) - 1;

impl RequestId {
    fn new(slot: u32, generation: u32, parity: u32) -> Self {
        Self((generation & GENERATION_MASK) << (SLOT_BITS + 1) | (slot & SLOT_MASK) << 1 | parity)
    }

    /// Returns an id for a request without a reply, of the side that opened the connection (even ids) or accepted it
    /// (odd ids). No [`RequestTable`] returns such an id. The lower 15 bits of `number` distinguish them.
    #[must_use]
    #[inline]
    pub const fn unanswered(number: u32, opened_here: bool) -> Self {
        Self((number & GENERATION_MASK) << (SLOT_BITS + 1) | SLOT_MASK << 1 | !opened_here as u32)
    }

    fn slot(self) -> usize {
        // 16 bits fit everywhere.
        (self.0 >> 1 & SLOT_MASK) as usize
    }

    fn slot_of_16_bits(self) -> u16 {
        (self.0 >> 1 & SLOT_MASK) as u16
    }

    fn generation(self) -> u32 {
        self.0 >> (SLOT_BITS + 1)
    }
}

/// The error of a table that has as many requests in flight as its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{limit} requests are in flight on this connection")]
pub struct TableFull {
    /// The limit on requests in flight, as given to [`RequestTable::new`].
    pub limit: usize,
}

enum Slot<T> {
    Free,
    Waiting(T),
    /// Cancelled by its caller; a reply may still come, so the id is not used again yet.
    Abandoned,
}

/// The requests in flight on one connection.
///
/// Operations take constant time, but for a reply to an abandoned id, which walks over the quarantine. They allocate
/// only while the table grows to its largest size.
pub struct RequestTable<T> {
    slots: Vec<(u32, Slot<T>)>,
    free: Vec<u16>,
    /// Abandoned slots, oldest first.
    quarantine: VecDeque<(u16, u32)>,
    waiting: usize,
    limit: usize,
    parity: u32,
}

impl<T> RequestTable<T> {
    /// The most requests a table can hold in flight: as many as 16 bits of slot permit, halved so that abandoned ids
    /// have room beside them.
    pub const MAX_IN_FLIGHT: usize = 1 << (SLOT_BITS - 1);
    /// Number of abandoned ids that are kept out of use. A server that honours CancelRequest may never answer them, so
    /// when there are more, the oldest one is used again, with its next generation.
    pub const MAX_QUARANTINED: usize = 4096;

    /// Makes a table for the side that opened the connection (even ids) or accepted it (odd ids).
    #[must_use]
    pub fn new(opened_here: bool, limit: usize) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            quarantine: VecDeque::new(),
            waiting: 0,
            limit: limit.min(Self::MAX_IN_FLIGHT),
            parity: u32::from(!opened_here),
        }
    }

    /// Returns the number of requests in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Whether no request is in flight; cancelled ones do not count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Takes an id for a request that `waiter` waits for.
    ///
    /// # Errors
    /// [`TableFull`] if as many requests are in flight as the limit allows; `waiter` is dropped then.
    #[inline]
    pub fn insert(&mut self, waiter: T) -> Result<RequestId, TableFull> {
        if self.waiting >= self.limit {
            return Err(TableFull { limit: self.limit });
        }
        if self.quarantine.len() > Self::MAX_QUARANTINED {
            self.release_oldest();
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.widen()?,
        };
        let (generation, entry) = self
            .slots
            .get_mut(usize::from(slot))
            .ok_or(TableFull { limit: self.limit })?;
        *entry = Slot::Waiting(waiter);
        self.waiting = self.waiting.saturating_add(1);
        Ok(RequestId::new(u32::from(slot), *generation, self.parity))
    }

    /// Adds a slot.
    #[cold]
    fn widen(&mut self) -> Result<u16, TableFull> {
        let slot = u16::try_from(self.slots.len())
            .ok()
            .filter(|slot| u32::from(*slot) != SLOT_MASK)
            .ok_or(TableFull { limit: self.limit })?;
        self.slots.push((0, Slot::Free));
        Ok(slot)
    }

    /// Returns the slot of an id, and its generation.
    #[inline]
    fn place(&mut self, id: RequestId) -> Option<&mut (u32, Slot<T>)> {
        let place = self.slots.get_mut(id.slot())?;
        // One comparison for generation and parity.
        let same = (place.0 & GENERATION_MASK) << (SLOT_BITS + 1) | self.parity;
        (id.0 & !(SLOT_MASK << 1) == same).then_some(place)
    }

    #[inline]
    fn entry(&mut self, id: RequestId) -> Option<&mut Slot<T>> {
        self.place(id).map(|(_, entry)| entry)
    }

    /// Returns the waiter of `id`, if there is one.
    #[inline]
    pub fn get_mut(&mut self, id: RequestId) -> Option<&mut T> {
        match self.entry(id)? {
            Slot::Waiting(waiter) => Some(waiter),
            _ => None,
        }
    }

    /// Ends a request to which a reply has come: returns its waiting caller, or `None` without one, and frees the id
    /// either way.
    pub fn complete(&mut self, id: RequestId) -> Option<T> {
        let taken = core::mem::replace(self.entry(id)?, Slot::Free);
        let slot = u16::try_from(id.slot()).ok()?;
        match taken {
            Slot::Free => None,
            Slot::Waiting(waiter) => {
                self.waiting = self.waiting.saturating_sub(1);
                self.recycle(slot);
                Some(waiter)
            }
            Slot::Abandoned => {
                self.quarantine
                    .retain(|(quarantined, _)| *quarantined != slot);
                self.recycle(slot);
                None
            }
        }
    }

    /// Ends a request as [`complete`](Self::complete) does, but drops the waiter in place. Returns whether
    /// there was one.
    #[inline]
    pub fn finish(&mut self, id: RequestId) -> bool {
        match self.place(id) {
            Some((generation, entry @ Slot::Waiting(_))) => {
                *entry = Slot::Free;
                *generation = generation.wrapping_add(1);
            }
            Some((_, Slot::Abandoned)) => return self.complete(id).is_some(),
            Some((_, Slot::Free)) | None => return false,
        }
        self.waiting = self.waiting.saturating_sub(1);
        self.free.push(id.slot_of_16_bits());
        true
    }

    /// Cancels `id`, whose caller has gone: the id is quarantined until its
    /// reply comes or [`MAX_QUARANTINED`](Self::MAX_QUARANTINED) others were abandoned after it.
    pub fn abandon(&mut self, id: RequestId) -> Option<T> {
        let entry = self.entry(id)?;
        match core::mem::replace(entry, Slot::Abandoned) {
            Slot::Waiting(waiter) => {
                self.waiting = self.waiting.saturating_sub(1);
                if let Ok(slot) = u16::try_from(id.slot()) {
                    self.quarantine.push_back((slot, id.generation()));
                }
                Some(waiter)
            }
            other => {
                *entry = other;
                None
            }
        }
    }

    /// Frees an id whose request was never sent.
    pub fn forget(&mut self, id: RequestId) -> Option<T> {
        self.complete(id)
    }

    #[cold]
    fn release_oldest(&mut self) {
        if let Some((slot, generation)) = self.quarantine.pop_front() {
            self.release(slot, generation);
        }
    }

    fn release(&mut self, slot: u16, generation: u32) {
        if let Some((current, entry)) = self.slots.get_mut(usize::from(slot))
            && *current & GENERATION_MASK == generation
            && matches!(entry, Slot::Abandoned)
        {
            *entry = Slot::Free;
            self.recycle(slot);
        }
    }

    fn recycle(&mut self, slot: u16) {
        if let Some((generation, _)) = self.slots.get_mut(usize::from(slot)) {
            *generation = generation.wrapping_add(1);
            self.free.push(slot);
        }
    }

    /// Iterates over all waiting callers, with the ids of their requests.
    pub fn waiting_mut(&mut self) -> impl Iterator<Item = (RequestId, &mut T)> {
        let parity = self.parity;
        let numbered = (0..=SLOT_MASK).zip(&mut self.slots);
        numbered.filter_map(move |(slot, (generation, entry))| match entry {
            Slot::Waiting(waiter) => Some((RequestId::new(slot, *generation, parity), waiter)),
            _ => None,
        })
    }
}

impl<T> fmt::Debug for RequestTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestTable")
            .field("waiting", &self.waiting)
            .field("quarantined", &self.quarantine.len())
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_finds_who_waits_for_it_once() {
        let mut table = RequestTable::new(true, 10);
        let a = table.insert("a").unwrap();
        let b = table.insert("b").unwrap();
        assert_ne!(a, b);
        assert_eq!((a.0 & 1, b.0 & 1), (0, 0));
        assert_eq!(table.complete(b), Some("b"));
        assert_eq!(table.complete(b), None);
        assert_eq!(table.complete(a), Some("a"));
        assert!(table.is_empty());
    }

    #[test]
    fn a_late_reply_to_an_abandoned_request_matches_no_caller_and_frees_the_id() {
        let mut table = RequestTable::new(false, 10);
        let a = table.insert(1).unwrap();
        assert_eq!(a.0 & 1, 1);
        assert_eq!(table.abandon(a), Some(1));
        let b = table.insert(2).unwrap();
        assert_ne!(a.slot(), b.slot(), "the abandoned id is out of use");
        assert_eq!(table.complete(a), None);
        let c = table.insert(3).unwrap();
        assert_eq!(c.slot(), a.slot());
        assert_ne!(c, a, "and comes back with another generation");
        assert_eq!(table.complete(a), None);
        assert_eq!(table.complete(c), Some(3));
        assert_eq!(table.complete(b), Some(2));
    }

    #[test]
    fn the_table_is_bounded_also_when_all_calls_are_cancelled() {
        let mut table = RequestTable::new(true, 2);
        let _a = table.insert(()).unwrap();
        let _b = table.insert(()).unwrap();
        assert_eq!(table.insert(()), Err(TableFull { limit: 2 }));
        let mut table = RequestTable::new(true, 2);
        for _ in 0..100_000 {
            let id = table.insert(()).unwrap();
            table.abandon(id);
        }
        assert!(table.slots.len() <= RequestTable::<()>::MAX_QUARANTINED + 3);
    }

    #[test]
    fn an_id_without_a_reply_has_no_caller() {
        let limit = RequestTable::<()>::MAX_IN_FLIGHT;
        for opened_here in [true, false] {
            let mut table = RequestTable::new(opened_here, limit);
            let taken: std::collections::BTreeSet<u32> =
                (0..limit).map(|_| table.insert(()).unwrap().0).collect();
            let mut others = std::collections::BTreeSet::new();
            for number in 0..1 << 15 {
                let id = RequestId::unanswered(number, opened_here);
                assert_eq!(id.0 & 1, u32::from(!opened_here));
                assert!(!taken.contains(&id.0) && others.insert(id.0));
                assert_eq!(table.complete(id), None);
            }
        }
    }

    #[test]
    fn ids_that_were_never_given_out_match_no_caller() {
        let mut table = RequestTable::new(true, 2);
        let a = table.insert(()).unwrap();
        for id in [1, 3, u32::MAX, a.0 ^ 1, a.0 ^ (1 << 20), 2] {
            assert_eq!(table.complete(RequestId(id)), None, "{id}");
        }
        assert_eq!(table.waiting_mut().count(), 1);
    }
}
