//! The limit on memory that all connections of an ORB may hold for unfinished messages.
//!
//! The limit counts memory held, not octets of messages: a buffer counts with all of its capacity. A connection's
//! holdings are those of its reader (messages that have begun), of its pending requests, and of its queue of output.
//! Each is [reserved](Reserved) in chunks, and only beyond the octets that every connection gets when it is accepted.
//! So a call with small messages touches no counter that connections share.
//!
//! Above three quarters of the limit, memory is [scarce](MemoryLimit::is_scarce): requests that would have to wait are
//! refused, and clients that are too slow for the memory that they hold are closed, the largest first (`pace`).
//! The last eighth is for peers that hold little ([`MemoryLimit::FEW_SHARE`]): many that fill the rest, before it is
//! known who is slow, have only their own connections closed. At the limit, connections are refused. A connection whose
//! messages or output do not fit ends. Requests that have been admitted are counted even beyond.

// For counts, which no model has to explore.
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use zorb_cdr::MemoryBudget;
use zorb_shares::FreePlaces;

/// Octets that every connection counts as from its beginning to its end: its own state, the headers that it caches, and
/// the [octets of its holdings](Reserved::FREE) that are not counted separately.
pub(crate) const CONNECTION_OCTETS: usize = 16 << 10;

/// Octets of memory that a pending request counts as beside those of its message: its future, its task, and its entry
/// among the pending requests.
pub(crate) const PENDING_OVERHEAD: usize = 1 << 10;

/// The limit on the memory that all connections of an ORB hold for unfinished messages: those received in part, those
/// that wait for their upcall or its end, and those that wait to be sent. What messages are decoded to counts while they are
/// decoded, and until the end of their upcalls.
#[derive(Debug)]
pub struct MemoryLimit {
    limit: usize,
    held: AtomicUsize,
}

impl MemoryLimit {
    /// Default of the limit, in octets: eight messages of the longest permitted by default, seven of them of one host,
    /// or some 30,000 idle connections.
    pub const DEFAULT_OCTETS: usize = 512 << 20;

    /// Makes a limit of `octets`, of which none are held.
    #[must_use]
    pub fn new(octets: usize) -> Self {
        Self {
            limit: octets,
            held: AtomicUsize::new(0),
        }
    }

    /// Returns the limit, in octets.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.limit
    }

    /// Returns the octets that connections hold at present, as far as they are counted. Costs an atomic load.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether more than three quarters of the limit are held.
    #[must_use]
    pub fn is_scarce(&self) -> bool {
        self.held() > self.scarce_from()
    }

    /// Octets above which memory is scarce.
    pub(crate) const fn scarce_from(&self) -> usize {
        (self.limit / 4).saturating_mul(3)
    }

    /// One in so many octets is kept for peers that hold [few](Self::FEW_SHARE).
    const RESERVED_SHARE: usize = 8;
    /// A peer holds few octets if they are at most one in so many of the limit, 2 MiB by default, or at most
    /// [`FEW_OCTETS`](Self::FEW_OCTETS).
    const FEW_SHARE: usize = 256;
    /// Octets that are few whatever the limit: a message of some length, and its reply.
    const FEW_OCTETS: usize = 256 << 10;

    /// Whether a peer that holds so many octets may take some more, while all hold so many.
    fn admits(&self, held: usize, of_peer: usize, more: usize) -> bool {
        let free = FreePlaces {
            left: self.limit.saturating_sub(held),
            reserved: self.limit / Self::RESERVED_SHARE,
            few: Self::FEW_OCTETS.max(self.limit / Self::FEW_SHARE),
        };
        free.admit(of_peer, more).is_ok()
    }

    /// Counts more octets, and returns `true`, unless they do not fit when so many are held.
    fn take(&self, more: usize, fits: impl Fn(usize) -> bool) -> bool {
        // A refused amount is never counted, so that other peers do not lack it for a moment.
        let counted = |held: usize| held.checked_add(more).filter(|_| fits(held));
        (self.held)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted)
            .is_ok()
    }

    /// Releases octets that were taken.
    fn release(&self, octets: usize) {
        self.held.fetch_sub(octets, Ordering::Relaxed);
    }
}

/// Decoded messages take memory of the same limit, once they take more than a little, and none while memory is
/// [scarce](MemoryLimit::is_scarce): the rest is for octets on their way, and for what decoding takes uncounted.
impl MemoryBudget for MemoryLimit {
    fn take(&self, octets: usize) -> bool {
        Self::take(self, octets, |held| {
            held.saturating_add(octets) <= self.scarce_from()
        })
    }

    fn give_back(&self, octets: usize) {
        self.release(octets);
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::new(Self::DEFAULT_OCTETS)
    }
}

/// The memory that the connections of one peer, a host, hold: a part of that of all.
#[derive(Debug)]
pub(crate) struct PeerMemory {
    all: Arc<MemoryLimit>,
    held: AtomicUsize,
}

impl PeerMemory {
    pub(crate) fn within(all: &Arc<MemoryLimit>) -> Arc<Self> {
        Arc::new(Self {
            all: Arc::clone(all),
            held: AtomicUsize::new(0),
        })
    }

    /// Whether there is memory for so many octets more.
    pub(crate) fn has_room_for(&self, octets: usize) -> bool {
        self.admits(self.all.held(), octets)
    }

    /// Whether there is memory for another connection, whose transport takes so many octets itself.
    pub(crate) fn has_room_for_connection(&self, of_transport: usize) -> bool {
        self.has_room_for(CONNECTION_OCTETS.saturating_add(of_transport))
    }

    /// Counts a connection, and what its transport takes, until the result is dropped.
    pub(crate) fn admit(self: &Arc<Self>, of_transport: usize) -> MemoryShare {
        let octets = CONNECTION_OCTETS.saturating_add(of_transport);
        self.take(octets, true);
        MemoryShare {
            peer: Arc::clone(self),
            octets,
        }
    }

    fn admits(&self, held: usize, more: usize) -> bool {
        let of_peer = self.held.load(Ordering::Relaxed);
        self.all.admits(held, of_peer, more)
    }

    /// Counts more octets, and returns `true`, unless they do not fit. Octets that are taken `unchecked` always fit.
    fn take(&self, more: usize, unchecked: bool) -> bool {
        let fits = (self.all).take(more, |held| unchecked || self.admits(held, more));
        if fits {
            self.held.fetch_add(more, Ordering::Relaxed);
        }
        fits
    }

    fn release(&self, octets: usize) {
        self.held.fetch_sub(octets, Ordering::Relaxed);
        self.all.release(octets);
    }
}

/// Counts a connection until it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryShare {
    peer: Arc<PeerMemory>,
    octets: usize,
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.peer.release(self.octets);
    }
}

/// The reservation of one holding of a connection; released on drop.
#[derive(Debug, Default)]
pub(crate) struct Reserved {
    /// `None`: unlimited.
    memory: Option<Arc<PeerMemory>>,
    octets: AtomicUsize,
    /// Whether octets are reserved even beyond the limit.
    is_unchecked: bool,
}

impl Reserved {
    /// Octets of a holding that are not counted separately: [`CONNECTION_OCTETS`] include them.
    pub(crate) const FREE: usize = 4 << 10;
    /// Reservations are multiples of this number of octets. It is small, as the last chunk of each connection is mostly
    /// unused, and large compared with small messages, so that they rarely change a reservation.
    const CHUNK: usize = 16 << 10;
    /// Octets that are reserved and not held stay below this: two chunks.
    const MOST_UNUSED: usize = Self::CHUNK << 1;

    /// A reservation within the memory of a peer.
    pub(crate) fn of(memory: &Arc<PeerMemory>) -> Self {
        Self {
            memory: Some(Arc::clone(memory)),
            octets: AtomicUsize::new(0),
            is_unchecked: false,
        }
    }

    /// A reservation for memory that the program itself causes: counted even beyond the limit, and so never refused.
    pub(crate) fn unchecked_of(memory: &Arc<PeerMemory>) -> Self {
        let mut reserved = Self::of(memory);
        reserved.is_unchecked = true;
        reserved
    }

    /// Octets that are reserved.
    pub(crate) fn octets(&self) -> usize {
        self.octets.load(Ordering::Relaxed)
    }

    /// Adjusts the reservation to the octets held, and returns whether they are reserved. Several threads may call it
    /// at a time, each with its own view of `held`; `held` is evaluated again after each change.
    #[inline]
    pub(crate) fn cover(&self, held: impl Fn() -> usize) -> bool {
        let Some(memory) = &self.memory else {
            return true;
        };
        self.is_about_right(held()) || self.adjust(memory, held, self.is_unchecked)
    }

    /// Whether the reservation covers `held` octets, and not many more.
    #[inline]
    fn is_about_right(&self, held: usize) -> bool {
        match self.octets() {
            0 => held <= Self::FREE,
            reserved => {
                let unused = reserved.checked_sub(held);
                held > Self::FREE && unused.is_some_and(|unused| unused < Self::MOST_UNUSED)
            }
        }
    }

    /// Reserves memory that is held already and cannot be released, even beyond the limit.
    pub(crate) fn cover_unchecked(&self, held: impl Fn() -> usize) {
        if let Some(memory) = &self.memory
            && !self.is_about_right(held())
        {
            self.adjust(memory, held, true);
        }
    }

    #[cold]
    fn adjust(&self, memory: &PeerMemory, held: impl Fn() -> usize, unchecked: bool) -> bool {
        let mut now = held();
        loop {
            let wanted = match now {
                0..=Self::FREE => 0,
                more => more.div_ceil(Self::CHUNK).saturating_mul(Self::CHUNK),
            };
            let before = self.octets();
            if wanted > before && !memory.take(wanted.saturating_sub(before), unchecked) {
                return false;
            }
            let swapped = (self.octets).compare_exchange(
                before,
                wanted,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match swapped {
                Ok(_) => memory.release(before.saturating_sub(wanted)),
                Err(_) => memory.release(wanted.saturating_sub(before)),
            }
            let then = core::mem::replace(&mut now, held());
            if swapped.is_ok() && then == now {
                return true;
            }
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.release(self.octets());
        }
    }
}

/// The memory of the pending requests of a connection. Admitted requests are never refused, so their memory is counted
/// beyond the limit, too.
#[derive(Debug)]
pub(crate) struct PendingMemory {
    octets: AtomicUsize,
    reserved: Reserved,
    memory: Arc<PeerMemory>,
}

impl PendingMemory {
    pub(crate) fn of(memory: &Arc<PeerMemory>) -> Self {
        Self {
            octets: AtomicUsize::new(0),
            reserved: Reserved::of(memory),
            memory: Arc::clone(memory),
        }
    }

    /// Whether there is memory for a pending request of so many octets.
    pub(crate) fn has_room_for(&self, octets: usize) -> bool {
        self.memory.has_room_for(octets)
    }

    /// Counts octets of a pending request.
    pub(crate) fn add(&self, octets: usize) {
        self.octets.fetch_add(octets, Ordering::Relaxed);
        self.cover();
    }

    /// Releases octets of a pending request.
    pub(crate) fn subtract(&self, octets: usize) {
        self.octets.fetch_sub(octets, Ordering::Relaxed);
        self.cover();
    }

    fn cover(&self) {
        let octets = || self.octets.load(Ordering::Relaxed);
        self.reserved.cover_unchecked(octets);
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn reserved_of(memory: &Arc<MemoryLimit>) -> Reserved {
        Reserved::of(&PeerMemory::within(memory))
    }

    fn limit(octets: usize) -> Arc<MemoryLimit> {
        Arc::new(MemoryLimit::new(octets))
    }

    #[test]
    fn small_holdings_reserve_nothing_and_large_ones_a_little_more_than_they_take() {
        let memory = limit(MIB);
        let reserved = reserved_of(&memory);
        for octets in [0, 36, Reserved::FREE] {
            assert!(reserved.cover(|| octets));
            assert_eq!(memory.held(), 0);
        }
        for octets in [Reserved::FREE + 1, 100_000, 500_000, 100_000] {
            assert!(reserved.cover(|| octets));
            assert_eq!(memory.held(), reserved.octets());
            let spare = reserved.octets() - octets;
            assert!(spare < 2 * Reserved::CHUNK, "{spare} octets for {octets}");
        }
        assert!(reserved.cover(|| 0));
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn what_does_not_fit_is_not_reserved_and_what_is_dropped_is_released() {
        let memory = limit(MIB);
        let (one, other) = (reserved_of(&memory), reserved_of(&memory));
        assert!(one.cover(|| 600 << 10));
        assert!(!memory.is_scarce());
        assert!(!other.cover(|| 600 << 10));
        assert_eq!(other.octets(), 0);
        assert!(other.cover(|| 280 << 10));
        assert!(memory.is_scarce());
        drop(one);
        assert!(other.cover(|| 600 << 10));
        drop(other);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn what_the_program_holds_by_its_own_doing_is_counted_beyond_the_limit() {
        let memory = limit(MIB);
        let (own, other) = (
            Reserved::unchecked_of(&PeerMemory::within(&memory)),
            reserved_of(&memory),
        );
        assert!(own.cover(|| 3 * MIB));
        assert!(memory.held() >= 3 * MIB && memory.is_scarce());
        assert!(!other.cover(|| 100_000));
        assert!(own.cover(|| 0));
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn peers_that_hold_much_leave_the_last_eighth_to_those_that_hold_few() {
        let memory = limit(64 * MIB);
        let greedy: Vec<_> = (0..56).map(|_| PeerMemory::within(&memory)).collect();
        let all: Vec<_> = (greedy.iter())
            .map(|peer| {
                let reserved = Reserved::of(peer);
                assert!(reserved.cover(|| MIB));
                reserved
            })
            .collect();
        assert!(!all[0].cover(|| MIB + (64 << 10)));
        // Another connection of its host gets nothing either.
        let another = Reserved::of(&greedy[0]);
        assert!(!another.cover(|| 64 << 10));
        let modest = PeerMemory::within(&memory);
        let (one, other) = (Reserved::of(&modest), Reserved::of(&modest));
        assert!(one.cover(|| 128 << 10) && other.cover(|| 128 << 10));
        assert!(!other.cover(|| 144 << 10));
        // A reservation is kept.
        assert!(all.iter().all(|reserved| reserved.cover(|| MIB)));
        drop((all, another, one, other));
        assert_eq!(memory.held(), 0);
        assert!(
            greedy
                .iter()
                .all(|peer| peer.held.load(Ordering::Relaxed) == 0)
        );
    }

    #[test]
    fn decoded_messages_take_of_the_same_memory_until_it_is_scarce() {
        let memory = limit(64 * MIB);
        let budget: &dyn MemoryBudget = &*memory;
        assert!(budget.take(48 * MIB) && !budget.take(1));
        assert!(PeerMemory::within(&memory).has_room_for_connection(0));
        assert!(!reserved_of(&memory).cover(|| 17 * MIB));
        budget.give_back(48 * MIB);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn connections_are_counted_while_they_are_there() {
        let memory = limit(3 * CONNECTION_OCTETS);
        let peer = PeerMemory::within(&memory);
        let admitted: Vec<_> = (0..3).map(|_| peer.admit(0)).collect();
        assert!(!peer.has_room_for_connection(0));
        drop(admitted);
        assert_eq!(memory.held(), 0);
        assert!(peer.has_room_for_connection(0));
    }

    #[test]
    fn threads_that_hold_more_and_less_at_once_leave_what_is_held_reserved() {
        let memory = limit(usize::MAX);
        let (reserved, held) = (reserved_of(&memory), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for octets in (1..2_000).map(|n| n * 97 % 200_000) {
                        held.fetch_add(octets, Ordering::Relaxed);
                        reserved.cover(|| held.load(Ordering::Relaxed));
                        held.fetch_sub(octets, Ordering::Relaxed);
                        reserved.cover(|| held.load(Ordering::Relaxed));
                    }
                });
            }
        });
        assert_eq!(reserved.octets(), memory.held());
        assert_eq!(memory.held(), 0);
    }
}
