//! Options of shared memory.

/// The smallest ring, in octets.
pub(crate) const MIN_RING: u32 = 4 << 10;
/// The largest one.
pub(crate) const MAX_RING: u32 = 256 << 20;

/// Options of connections through shared memory.
#[derive(Clone, Copy, Debug)]
pub struct ShmOptions {
    ring: u32,
    max_ring: u32,
    max_pool: usize,
    any_user: bool,
}

impl Default for ShmOptions {
    fn default() -> Self {
        Self {
            ring: Self::DEFAULT_RING_OCTETS,
            max_ring: Self::DEFAULT_MAX_RING_OCTETS,
            max_pool: Self::DEFAULT_MAX_POOL_OCTETS,
            any_user: false,
        }
    }
}

impl ShmOptions {
    /// Octets of a ring unless set: 256 KiB, twice for each connection.
    pub const DEFAULT_RING_OCTETS: u32 = 256 << 10;

    /// Octets of the largest ring that a listener takes from a client, unless set: 4 MiB.
    pub const DEFAULT_MAX_RING_OCTETS: u32 = 4 << 20;

    /// Sets the size of each of the two rings of a connection, in octets: a power of two from 4 KiB to 256 MiB; other numbers
    /// are rounded up to one. The client decides, within the [limit](Self::max_ring_octets) of the server. Both rings count with
    /// the memory of all connections, at either end.
    #[must_use]
    pub fn ring_octets(mut self, octets: u32) -> Self {
        self.ring = octets.clamp(MIN_RING, MAX_RING).next_power_of_two();
        self
    }

    /// Sets the size of the largest ring that a listener takes from a client, in octets, within the bounds of
    /// [`ring_octets`](Self::ring_octets). A client with larger ones is refused before its memory is mapped, and
    /// uses the next endpoint of a reference.
    #[must_use]
    pub fn max_ring_octets(mut self, octets: u32) -> Self {
        self.max_ring = octets.clamp(MIN_RING, MAX_RING);
        self
    }

    /// Octets of the largest [pool](crate::Shm::with_pool) that a listener maps for a client, unless set: 16 MiB.
    pub const DEFAULT_MAX_POOL_OCTETS: usize = 16 << 20;

    /// Sets the size of the largest [pool](crate::Shm::with_pool) that a listener maps for a client, in octets. It counts with
    /// the memory of all connections. A client with a larger one is refused.
    #[must_use]
    pub const fn max_pool_octets(mut self, octets: usize) -> Self {
        self.max_pool = octets;
        self
    }

    /// Shares memory with processes of other users, too. Unless said so, both processes have the same effective user: whoever
    /// shares memory can make the other one wait, but neither read what is not sent to it nor harm it.
    #[must_use]
    pub const fn any_user(mut self) -> Self {
        self.any_user = true;
        self
    }

    pub(crate) const fn capacity(self) -> u32 {
        self.ring
    }

    /// Whether a client may have a pool of so many octets.
    pub(crate) const fn takes_pool(self, octets: usize) -> bool {
        octets <= self.max_pool
    }

    /// Whether a client may have rings of this capacity.
    pub(crate) fn takes(self, capacity: u32) -> bool {
        capacity.is_power_of_two() && (MIN_RING..=self.max_ring).contains(&capacity)
    }

    pub(crate) fn permits(self, user: Option<u32>) -> bool {
        self.any_user || user == Some(rustix::process::geteuid().as_raw())
    }

    /// Returns the options with one property, set by its text.
    pub(crate) fn having(self, name: &str, value: &str) -> Option<Self> {
        match (name, value) {
            ("ring_octets", octets) => {
                let octets: u32 = octets.parse().ok()?;
                let fits = octets.is_power_of_two() && (MIN_RING..=MAX_RING).contains(&octets);
                fits.then(|| self.ring_octets(octets))
            }
            ("max_ring_octets", octets) => {
                let octets: u32 = octets.parse().ok()?;
                let fits = (MIN_RING..=MAX_RING).contains(&octets);
                fits.then(|| self.max_ring_octets(octets))
            }
            ("max_pool_octets", octets) => {
                let octets = octets.parse().ok()?;
                Some(self.max_pool_octets(octets))
            }
            ("users", "same") => Some(Self {
                any_user: false,
                ..self
            }),
            ("users", "any") => Some(self.any_user()),
            _ => None,
        }
    }
}
