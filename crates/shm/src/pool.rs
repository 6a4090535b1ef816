//! Memory for large values, which a client shares with every server that it is connected to: values are written where the servant
//! reads them, and results where the client reads those. What travels in a call is the [`Place`].

use crate::sys::{HEADER, Segment};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Loans begin at multiples of this number of octets: a cache line.
const GRAIN: usize = 64;
/// Octets of the name of a pool.
pub(crate) const NAME: usize = 16;

/// The name of a pool, which nobody guesses: who knows it has been told where a value is.
pub(crate) type Name = [u8; NAME];

/// Memory of this process that others have mapped, out of which it takes [loans](Self::loan).
#[derive(Debug, Clone)]
pub struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    segment: Arc<Segment>,
    memory: OwnedFd,
    name: Name,
    octets: usize,
    /// Where loans may be made: the lengths of free ranges by their beginnings, none of which touch.
    free: Mutex<BTreeMap<usize, usize>>,
}

impl Pool {
    /// Makes a pool of so many octets, all of them there.
    pub(crate) fn new(octets: usize) -> io::Result<Self> {
        let octets = octets.max(1).checked_next_multiple_of(GRAIN);
        let octets = octets.ok_or(io::ErrorKind::InvalidInput)?;
        let all = octets.checked_add(HEADER);
        let (segment, memory) = Segment::new(all.ok_or(io::ErrorKind::InvalidInput)?)?;
        let mut name = [0; NAME];
        // So few octets come in one piece.
        let flags = rustix::rand::GetRandomFlags::empty();
        if rustix::rand::getrandom(&mut name, flags)? != NAME {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(Self(Arc::new(Shared {
            segment: Arc::new(segment),
            memory,
            name,
            octets,
            free: Mutex::new(BTreeMap::from([(0, octets)])),
        })))
    }

    /// Lends memory for a value of so many octets, which hold anything. It comes back when the loan is dropped: keep it until the
    /// call in which its place went has ended.
    ///
    /// Costs a lock and a look at the free ranges, however long the value is.
    ///
    /// # Errors
    /// `OutOfMemory` if the pool has no such room just now.
    pub fn loan(&self, octets: usize) -> io::Result<Loan> {
        let wanted = octets.max(1).checked_next_multiple_of(GRAIN);
        let wanted = wanted.ok_or(io::ErrorKind::OutOfMemory)?;
        let mut free = self.free();
        let fits = free.iter().find(|(_, length)| **length >= wanted);
        let (at, length) = fits.map(|(at, length)| (*at, *length)).ok_or_else(|| {
            let why = "the pool of shared memory has no room for the value";
            io::Error::new(io::ErrorKind::OutOfMemory, why)
        })?;
        free.remove(&at);
        let rest = length.saturating_sub(wanted);
        if rest > 0 {
            free.insert(at.saturating_add(wanted), rest);
        }
        drop(free);
        Ok(Loan {
            pool: self.clone(),
            taken: wanted,
            value: Value {
                segment: Arc::clone(&self.0.segment),
                at,
                octets,
            },
        })
    }

    /// Octets that are not lent.
    #[must_use]
    pub fn free_octets(&self) -> usize {
        self.free()
            .values()
            .fold(0, |sum, octets| sum.saturating_add(*octets))
    }

    fn free(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.0.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a range back, and joins it with those beside it.
    fn give_back(&self, at: usize, octets: usize) {
        let mut free = self.free();
        let (mut at, mut octets) = (at, octets);
        if let Some((&before, &length)) = free.range(..at).next_back()
            && before.checked_add(length) == Some(at)
        {
            free.remove(&before);
            (at, octets) = (before, octets.saturating_add(length));
        }
        if let Some(length) = free.remove(&at.saturating_add(octets)) {
            octets = octets.saturating_add(length);
        }
        free.insert(at, octets);
    }

    pub(crate) fn memory(&self) -> &OwnedFd {
        &self.0.memory
    }

    pub(crate) fn name(&self) -> Name {
        self.0.name
    }

    /// Octets of its memory, without the header.
    pub(crate) fn octets(&self) -> usize {
        self.0.octets
    }
}

/// Memory that a pool has lent for one value.
#[derive(Debug)]
#[must_use = "the memory comes back when the loan is dropped"]
pub struct Loan {
    pool: Pool,
    taken: usize,
    value: Value,
}

impl Loan {
    /// Returns where the value is, for a server that is connected through shared memory.
    #[must_use]
    pub fn place(&self) -> Place {
        Place {
            pool: self.pool.0.name,
            at: self.value.at as u64,
            octets: self.value.octets as u64,
        }
    }

    /// Returns the value, to be written, and read when a servant has written it.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.pool.give_back(self.value.at, self.taken);
    }
}

/// Where a value is in the memory of a client. It travels in calls as any octets do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    pub(crate) pool: Name,
    pub(crate) at: u64,
    pub(crate) octets: u64,
}

impl Place {
    /// Octets of a place as it travels.
    pub const OCTETS: usize = NAME + 16;

    /// Returns the place as it travels: the pool's name, and two numbers in little-endian order.
    #[must_use]
    pub fn to_octets(self) -> [u8; Self::OCTETS] {
        let mut octets = [0; Self::OCTETS];
        let numbers = [self.at.to_le_bytes(), self.octets.to_le_bytes()];
        let parts = self.pool.iter().chain(numbers.as_flattened());
        for (place, octet) in octets.iter_mut().zip(parts) {
            *place = *octet;
        }
        octets
    }

    /// Reads a place; `None` for another number of octets.
    #[must_use]
    pub fn from_octets(octets: &[u8]) -> Option<Self> {
        let (pool, rest) = octets.split_first_chunk()?;
        let (at, rest) = rest.split_first_chunk()?;
        let octets: &[u8; 8] = rest.try_into().ok()?;
        Some(Self {
            pool: *pool,
            at: u64::from_le_bytes(*at),
            octets: u64::from_le_bytes(*octets),
        })
    }
}

/// Octets in memory that two processes share. The other one may change them at any time, also while they are read: what has to
/// stay as it was checked is read once, into memory of one's own.
#[derive(Debug, Clone)]
pub struct Value {
    segment: Arc<Segment>,
    at: usize,
    octets: usize,
}

impl Value {
    /// The octets of the value.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.octets
    }

    /// Whether the value has no octets.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.octets == 0
    }

    /// Copies octets of the value, from this one on, into all of `to`.
    ///
    /// # Errors
    /// `InvalidInput` if the value has not so many.
    pub fn read_at(&self, from: usize, to: &mut [u8]) -> io::Result<()> {
        let at = self.within(from, to.len())?;
        self.segment.read_into(at, to);
        Ok(())
    }

    /// Copies octets into the value, from this one on.
    ///
    /// # Errors
    /// `InvalidInput` if they reach beyond its end.
    pub fn write_at(&self, from: usize, octets: &[u8]) -> io::Result<()> {
        let at = self.within(from, octets.len())?;
        self.segment.write(at, octets);
        Ok(())
    }

    /// Copies all octets.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut octets = vec![0; self.octets];
        self.segment
            .read_into(HEADER.saturating_add(self.at), &mut octets);
        octets
    }

    fn within(&self, from: usize, octets: usize) -> io::Result<usize> {
        let end = from.checked_add(octets);
        if end.is_none_or(|end| end > self.octets) {
            let why = "the octets do not lie within the value";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(HEADER.saturating_add(self.at).saturating_add(from))
    }
}

/// A pool of a client, as the server has it.
#[derive(Debug)]
pub(crate) struct Mapped {
    segment: Arc<Segment>,
    octets: usize,
}

impl Mapped {
    /// Maps the memory of a client.
    pub(crate) fn new(memory: &OwnedFd, octets: usize) -> io::Result<Self> {
        let all = octets
            .checked_add(HEADER)
            .ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self {
            segment: Arc::new(Segment::of_peer(memory, all)?),
            octets,
        })
    }

    /// Octets of the memory, without the header.
    pub(crate) const fn octets(&self) -> usize {
        self.octets
    }

    /// The value at a place, which a peer has named. `None` if it does not lie within the pool.
    pub(crate) fn value(&self, place: &Place) -> Option<Value> {
        let at = usize::try_from(place.at).ok()?;
        let octets = usize::try_from(place.octets).ok()?;
        let end = at.checked_add(octets)?;
        (end <= self.octets).then(|| Value {
            segment: Arc::clone(&self.segment),
            at,
            octets,
        })
    }
}

/// The pools of the clients that are connected.
#[derive(Debug, Default)]
pub(crate) struct Pools(Mutex<HashMap<Name, Weak<Mapped>>>);

impl Pools {
    fn all(&self) -> MutexGuard<'_, HashMap<Name, Weak<Mapped>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a pool for as long as a connection has it. The connections of a client share one: the first that came with its name.
    pub(crate) fn keep(&self, name: Name, pool: Mapped) -> Arc<Mapped> {
        let mut all = self.all();
        all.retain(|_, pool| pool.strong_count() > 0);
        if let Some(known) = all.get(&name).and_then(Weak::upgrade) {
            return known;
        }
        let pool = Arc::new(pool);
        all.insert(name, Arc::downgrade(&pool));
        pool
    }

    pub(crate) fn find(&self, name: &Name) -> Option<Arc<Mapped>> {
        self.all().get(name)?.upgrade()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn loans_do_not_overlap_and_all_of_a_pool_comes_back(
            steps in prop::collection::vec((any::<bool>(), 0..900_usize, any::<prop::sample::Index>()), 1..80),
        ) {
            let pool = Pool::new(4096).unwrap();
            let mut loans: Vec<(u8, Loan)> = Vec::new();
            for (number, (lends, octets, which)) in steps.into_iter().enumerate() {
                if lends {
                    if let Ok(loan) = pool.loan(octets) {
                        let mark = number as u8;
                        loan.value().write_at(0, &vec![mark; octets]).unwrap();
                        loans.push((mark, loan));
                    }
                } else if !loans.is_empty() {
                    let at = which.index(loans.len());
                    drop(loans.swap_remove(at));
                }
                for (mark, loan) in &loans {
                    prop_assert!(loan.value().to_vec().iter().all(|octet| octet == mark));
                }
            }
            drop(loans);
            prop_assert_eq!(pool.free_octets(), 4096);
            // In one piece again.
            prop_assert!(pool.loan(4096).is_ok());
        }

        #[test]
        fn places_that_a_peer_makes_up_lie_within_the_pool_or_nowhere(at in any::<u64>(), octets in any::<u64>(), near in 0..5000_u64) {
            let pool = Pool::new(4096).unwrap();
            let mapped = Mapped::new(pool.memory(), pool.octets()).unwrap();
            for (at, octets) in [(at, octets), (near, octets), (at, near), (near, 4096 - near.min(4096)), (near, 1)] {
                let place = Place { pool: pool.name(), at, octets };
                match mapped.value(&place) {
                    Some(value) => {
                        prop_assert!(at + octets <= 4096);
                        prop_assert_eq!(value.to_vec().len() as u64, octets);
                    }
                    None => prop_assert!(at.checked_add(octets).is_none_or(|end| end > 4096)),
                }
                prop_assert_eq!(Place::from_octets(&place.to_octets()), Some(place));
            }
        }
    }

    #[test]
    fn a_pool_lends_no_more_than_it_has() {
        let pool = Pool::new(1000).unwrap();
        let first = pool.loan(1000).unwrap();
        assert_eq!(pool.loan(1).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        drop(first);
        assert!(pool.loan(usize::MAX).is_err());
        let value = pool.loan(10).unwrap();
        let value = value.value();
        assert!(
            value.write_at(8, &[1; 3]).is_err() && value.read_at(usize::MAX, &mut [0]).is_err()
        );
        assert!(value.write_at(10, &[]).is_ok());
        assert_eq!(Place::from_octets(&[0; 31]), None);
    }
}
