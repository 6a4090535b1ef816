//! Objects that clients make and may forget, such as iterators: how many there may be, and which of them go first.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};
use zorb::transport::HostId;
use zorb::{PoaCurrent, SystemException};

/// Of the objects that there may be, one host has at most one in so many.
const HOST_SHARE: usize = 2;

/// The host of the client that the request at hand is from, as limits count it: of IPv6 a network, since a host has as many
/// addresses of it as it likes. `None` for a client in this process.
///
/// # Errors
/// No request is at hand.
pub fn client_host() -> Result<Option<HostId>, SystemException> {
    let peer = PoaCurrent::get_peer()?;
    Ok(peer.map(|peer| counted(peer.address.host())))
}

fn counted(host: HostId) -> HostId {
    match host {
        HostId::Inet(IpAddr::V6(address)) => {
            let network = u128::from(address) >> 64 << 64;
            HostId::Inet(IpAddr::V6(network.into()))
        }
        host => host,
    }
}

#[derive(Debug)]
struct Entry<T> {
    host: Option<HostId>,
    object: T,
    /// Its key in [`Leases::by_use`].
    used: u64,
    used_at: Instant,
}

/// The objects there are, by number, and in the order of their last use: all, and those of each host. A step costs as much among a
/// million as among ten.
#[derive(Debug)]
pub struct Leases<T> {
    last: u64,
    uses: u64,
    entries: HashMap<u64, Entry<T>>,
    by_use: BTreeMap<u64, u64>,
    by_host: HashMap<Option<HostId>, BTreeMap<u64, u64>>,
}

impl<T> Default for Leases<T> {
    fn default() -> Self {
        Self {
            last: 0,
            uses: 0,
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
            by_host: HashMap::new(),
        }
    }
}

impl<T> Leases<T> {
    /// Adds an object, and returns its number, which no other has. Beyond `max` another one goes, which was not used for the longest
    /// time: of those of its host if that has more than its share, else of all.
    pub fn add(&mut self, object: T, host: Option<HostId>, max: usize) -> u64 {
        let of_host = self.by_host.get(&host);
        if let Some(of_host) = of_host
            && of_host.len() >= max.div_ceil(HOST_SHARE)
            && let Some((_, &oldest)) = of_host.first_key_value()
        {
            self.remove(oldest);
        }
        while self.entries.len() >= max
            && let Some((_, &oldest)) = self.by_use.first_key_value()
        {
            self.remove(oldest);
        }
        self.last = self.last.wrapping_add(1);
        let number = self.last;
        let used = self.next_use(number, &host);
        let entry = Entry {
            host,
            object,
            used,
            used_at: Instant::now(),
        };
        self.entries.insert(number, entry);
        number
    }

    fn next_use(&mut self, number: u64, host: &Option<HostId>) -> u64 {
        self.uses = self.uses.wrapping_add(1);
        self.by_use.insert(self.uses, number);
        let of_host = self.by_host.entry(host.clone()).or_default();
        of_host.insert(self.uses, number);
        self.uses
    }

    fn forget_use(&mut self, used: u64, host: &Option<HostId>) {
        self.by_use.remove(&used);
        if let Some(of_host) = self.by_host.get_mut(host) {
            of_host.remove(&used);
            if of_host.is_empty() {
                self.by_host.remove(host);
            }
        }
    }

    /// The object of this number, as used just now; `None` if it went.
    pub fn touch(&mut self, number: u64) -> Option<&T> {
        let Entry { used, host, .. } = self.entries.get(&number)?;
        let (former, host) = (*used, host.clone());
        self.forget_use(former, &host);
        let used = self.next_use(number, &host);
        let entry = self.entries.get_mut(&number)?;
        entry.used = used;
        entry.used_at = Instant::now();
        Some(&entry.object)
    }

    /// Removes an object; `false` if it went already.
    pub fn remove(&mut self, number: u64) -> bool {
        let Some(entry) = self.entries.remove(&number) else {
            return false;
        };
        self.forget_use(entry.used, &entry.host);
        true
    }

    /// Removes those that were not used for `idle`.
    pub fn evict_idle(&mut self, idle: Duration, now: Instant) {
        while let Some((_, &oldest)) = self.by_use.first_key_value()
            && let Some(entry) = self.entries.get(&oldest)
            && now.saturating_duration_since(entry.used_at) >= idle
        {
            self.remove(oldest);
        }
    }

    /// Whether there is an object of this number.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        self.entries.contains_key(&number)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Option<HostId> {
        Some(counted(HostId::Inet(text.parse().unwrap())))
    }

    #[test]
    fn a_host_with_a_hundred_thousand_iterators_takes_none_of_others() {
        let mut table = Leases::default();
        let mine: Vec<u64> = (0..50)
            .map(|_| table.add((), host("10.0.0.1"), 100))
            .collect();
        for n in 0..100_000_u32 {
            // All from one network.
            let other = format!("2001:db8::{:x}:{:x}", n >> 16, n & 0xffff);
            table.add((), host(&other), 100);
        }
        assert_eq!(table.entries.len(), 100);
        assert_eq!(table.by_use.len(), 100);
        assert_eq!(table.by_host.len(), 2);
        for number in &mine {
            assert!(table.touch(*number).is_some());
        }
        // A third one takes the places of those that were not used for the longest time.
        let third = table.add((), host("10.0.0.3"), 100);
        assert!(table.touch(third).is_some());
        assert!(mine.iter().all(|number| table.contains(*number)));
        for number in mine.into_iter().chain([third]) {
            assert!(table.remove(number));
            assert!(!table.remove(number));
            assert!(table.touch(number).is_none());
        }
        assert_eq!(
            (table.len(), table.by_use.len(), table.by_host.len()),
            (49, 49, 1)
        );
        table.evict_idle(Duration::ZERO, Instant::now());
        assert_eq!((table.by_use.len(), table.by_host.len()), (0, 0));
        assert!(table.is_empty());
    }
}
