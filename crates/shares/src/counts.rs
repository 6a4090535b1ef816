//! Places, counted in all and by host.

use crate::HostKey;
use core::fmt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One in so many places is kept for hosts that hold few.
const RESERVED: usize = 4;
/// A host holds few places while it holds at most one in so many.
const FEW: usize = 64;

/// Why a place is not to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a place is taken, or kept for others"
)]
pub enum Full {
    /// All places are taken.
    All,
    /// The host has its share; what is left is kept for hosts that hold few places.
    Share,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all places are taken",
            Self::Share => "the host has taken its share of the places",
        })
    }
}

impl std::error::Error for Full {}

/// The free places of one kind, and who may have them: the rule of all limits by host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the rule is about these")]
pub struct FreePlaces {
    /// Places that are free.
    pub left: usize,
    /// How many of them are kept for hosts that hold few.
    pub reserved: usize,
    /// The number of places that are few.
    pub few: usize,
}

impl FreePlaces {
    /// Of `limit` places so many are free. A quarter of the limit is kept for hosts that hold few: one in 64, and at least one.
    #[inline]
    #[must_use]
    pub const fn new(limit: usize, left: usize) -> Self {
        let few = limit / FEW;
        Self {
            left,
            reserved: limit / RESERVED,
            few: if few == 0 { 1 } else { few },
        }
    }

    /// Whether a host that holds `of_host` places may take so many more. A host that then has few may take any of them, and so
    /// may one that holds none. So a host alone has three quarters, and greedy hosts leave some to others however many they are.
    ///
    /// # Errors
    /// [`Full`] says whose places are taken.
    #[inline]
    pub const fn admit(self, of_host: usize, places: usize) -> Result<(), Full> {
        if places > self.left {
            return Err(Full::All);
        }
        let is_small = of_host == 0 || of_host.saturating_add(places) <= self.few;
        match is_small || places == 0 || self.left - places >= self.reserved {
            true => Ok(()),
            false => Err(Full::Share),
        }
    }
}

/// Places of one kind that are taken, in all and by host: for an owner that has a lock already. [`Shares`] has its own.
///
/// Taking and giving back cost one look-up in a hash table.
#[derive(Debug, Default)]
pub struct Counts {
    limit: usize,
    taken: usize,
    by_host: HashMap<HostKey, usize>,
}

impl Counts {
    /// Counts of so many places, which are all free.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Returns the number of places that are taken.
    #[must_use]
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// Whether a host may take so many places.
    ///
    /// # Errors
    /// [`Full`] says whose places are taken.
    pub fn may_take(&self, host: HostKey, places: usize) -> Result<(), Full> {
        let of_host = self.by_host.get(&host).copied().unwrap_or(0);
        let left = self.limit.saturating_sub(self.taken);
        FreePlaces::new(self.limit, left).admit(of_host, places)
    }

    /// Takes so many places for a host.
    ///
    /// # Errors
    /// [`Full`] says whose places are taken. Nothing has changed.
    pub fn take(&mut self, host: HostKey, places: usize) -> Result<(), Full> {
        self.may_take(host, places)?;
        self.taken = self.taken.saturating_add(places);
        if places > 0 {
            let of_host = self.by_host.entry(host).or_default();
            *of_host = of_host.saturating_add(places);
        }
        Ok(())
    }

    /// Gives so many places of a host back, which it has [taken](Self::take).
    pub fn give_back(&mut self, host: HostKey, places: usize) {
        self.taken = self.taken.saturating_sub(places);
        if let Some(of_host) = self.by_host.get_mut(&host) {
            *of_host = of_host.saturating_sub(places);
            if *of_host == 0 {
                self.by_host.remove(&host);
            }
        }
    }
}

/// Places of one kind under a lock. A [`Place`] is free again when it is dropped.
#[derive(Debug)]
pub struct Shares(Mutex<Counts>);

impl Shares {
    /// Makes so many places, which are all free.
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Counts::new(limit))))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a host.
    ///
    /// # Errors
    /// [`Full`] says whose places are taken.
    pub fn take(self: &Arc<Self>, host: HostKey) -> Result<Place, Full> {
        self.take_many(host, 1)
    }

    /// Takes so many places for a host, as one.
    ///
    /// # Errors
    /// [`Full`] says whose places are taken.
    pub fn take_many(self: &Arc<Self>, host: HostKey, places: usize) -> Result<Place, Full> {
        self.counts().take(host, places)?;
        Ok(Place {
            shares: Arc::clone(self),
            host,
            places,
        })
    }

    /// Returns the number of places that are taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.counts().taken()
    }
}

/// A place that is taken, or several. It is free again when this is dropped.
#[derive(Debug)]
#[must_use = "the place is free when this is dropped"]
pub struct Place {
    shares: Arc<Shares>,
    host: HostKey,
    places: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shares.counts().give_back(self.host, self.places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many places as a host gets.
    fn take_all(counts: &mut Counts, host: HostKey) -> usize {
        (0..).take_while(|_| counts.take(host, 1).is_ok()).count()
    }

    #[test]
    fn a_host_alone_has_three_quarters_and_many_greedy_ones_leave_some_to_others() {
        let mut counts = Counts::new(1024);
        assert_eq!(take_all(&mut counts, HostKey::unique()), 768);
        // Each further one gets few, until all are taken.
        for _ in 0..256 / 16 {
            let host = HostKey::unique();
            assert_eq!(take_all(&mut counts, host), 16);
            let error = counts.may_take(host, 1);
            assert!(error == Err(Full::Share) || counts.taken() == 1024);
        }
        let late = HostKey::unique();
        assert_eq!(counts.take(late, 1), Err(Full::All));
    }

    #[test]
    fn a_place_that_is_given_back_is_free_for_every_host() {
        let shares = Shares::new(8);
        let (one, other) = (HostKey::unique(), HostKey::unique());
        let mut places: Vec<_> = (0..6).map(|_| shares.take(one).unwrap()).collect();
        assert_eq!(shares.take(one).unwrap_err(), Full::Share);
        let of_other = shares.take(other).unwrap();
        assert_eq!(shares.take(other).unwrap_err(), Full::Share);
        places.clear();
        assert_eq!(shares.taken(), 1);
        let more: Vec<_> = (0..5).map(|_| shares.take(other).unwrap()).collect();
        drop((of_other, more));
        assert_eq!(shares.taken(), 0);
        assert!(shares.counts().by_host.is_empty(), "a host is forgotten");
    }

    #[test]
    fn few_places_are_shared_as_well_as_they_can_be() {
        for limit in 0..=3 {
            let mut counts = Counts::new(limit);
            assert_eq!(take_all(&mut counts, HostKey::unique()), limit);
        }
    }

    #[test]
    fn a_large_request_of_a_host_that_holds_nothing_may_take_what_is_left() {
        let mut octets = Counts::new(1 << 20);
        let (one, other) = (HostKey::unique(), HostKey::unique());
        octets.take(one, 700 << 10).unwrap();
        assert_eq!(octets.take(one, 100 << 10), Err(Full::Share));
        octets.take(other, 300 << 10).unwrap();
        assert_eq!(octets.take(other, 20 << 10), Err(Full::Share));
        assert_eq!(octets.take(other, 200 << 10), Err(Full::All));
    }
}
