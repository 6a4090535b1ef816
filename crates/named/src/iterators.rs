//! The iterators over the names of contexts.
//!
//! An iterator is a place in the order of the names, not a list of them: it holds no more for a million names than for ten. Names
//! that are bound or unbound meanwhile are listed or not; all others are listed once. (In a store whose order is that of changes one that is
//! bound anew meanwhile may be listed twice.)

use crate::context::{listed, page_limits};
use crate::refusal::store_failed;
use crate::store::{ContextId, Key, PageLimits, Place, Store};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb::naming::cos_naming::{
    Binding, BindingIterator, BindingIteratorRef, BindingIteratorServant, BindingList, BindingType,
};
use zorb::transport::HostId;
use zorb::{
    ObjectId, Poa, PoaCurrent, Servant, ServantLocator, ServantManagerError, SystemException,
    SystemExceptionKind,
};

/// Of the iterators that there may be, one host has at most one in so many.
const HOST_SHARE: usize = 2;

/// The iterators of a service: a servant for all.
pub(crate) struct Iterators<S> {
    pub(crate) poa: Poa,
    pub(crate) store: Arc<S>,
    pub(crate) max: usize,
    pub(crate) idle: Duration,
    pub(crate) table: Mutex<Table>,
}

/// Where an iterator is. Calls to one take turns.
#[derive(Debug)]
struct Cursor {
    context: ContextId,
    after: Option<Place>,
    /// Whether all names have been listed.
    is_over: bool,
}

#[derive(Debug)]
struct Entry {
    /// The host of the client that has made it; `None` for a client in this process.
    host: Option<HostId>,
    cursor: Arc<tokio::sync::Mutex<Cursor>>,
    /// Its key in [`Table::by_use`].
    used: u64,
    used_at: Instant,
}

/// The iterators there are, by number, and in the order of their last use: all, and those of each host.
#[derive(Debug, Default)]
pub(crate) struct Table {
    last: u64,
    uses: u64,
    entries: HashMap<u64, Entry>,
    by_use: BTreeMap<u64, u64>,
    by_host: HashMap<Option<HostId>, BTreeMap<u64, u64>>,
}

impl Table {
    /// Adds an iterator. Beyond `max` another one goes, which was not used for the longest time: of those of its host if that has
    /// more than its share, else of all.
    fn add(&mut self, cursor: Cursor, host: Option<HostId>, max: usize) -> u64 {
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
            cursor: Arc::new(tokio::sync::Mutex::new(cursor)),
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

    /// The iterator, as used just now.
    fn touch(&mut self, number: u64) -> Option<Arc<tokio::sync::Mutex<Cursor>>> {
        let Entry { used, host, .. } = self.entries.get(&number)?;
        let (former, host) = (*used, host.clone());
        self.forget_use(former, &host);
        let used = self.next_use(number, &host);
        let entry = self.entries.get_mut(&number)?;
        entry.used = used;
        entry.used_at = Instant::now();
        Some(Arc::clone(&entry.cursor))
    }

    fn remove(&mut self, number: u64) -> bool {
        let Some(entry) = self.entries.remove(&number) else {
            return false;
        };
        self.forget_use(entry.used, &entry.host);
        true
    }

    /// Removes those that were not used for `idle`.
    fn evict_idle(&mut self, idle: Duration, now: Instant) {
        while let Some((_, &oldest)) = self.by_use.first_key_value()
            && let Some(entry) = self.entries.get(&oldest)
            && now.saturating_duration_since(entry.used_at) >= idle
        {
            self.remove(oldest);
        }
    }
}

/// The host that limits count a client to: of IPv6 a network, since a host has as many addresses of it as it likes.
fn counted(host: HostId) -> HostId {
    match host {
        HostId::Inet(IpAddr::V6(address)) => {
            let network = u128::from(address) >> 64 << 64;
            HostId::Inet(IpAddr::V6(network.into()))
        }
        host => host,
    }
}

impl<S: Store> Iterators<S> {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the iterator over the names of a context behind a place.
    pub(crate) fn make(
        &self,
        context: ContextId,
        after: Option<Place>,
    ) -> Result<BindingIteratorRef, zorb::Error> {
        let peer = PoaCurrent::get_peer()?;
        let host = peer.map(|peer| counted(peer.address.host()));
        let number = {
            let mut table = self.table();
            table.evict_idle(self.idle, Instant::now());
            let cursor = Cursor {
                context,
                after,
                is_over: false,
            };
            table.add(cursor, host, self.max)
        };
        self.poa.create_reference_with_id(number.to_be_bytes())
    }

    /// Removes iterators that were not used for long.
    pub(crate) fn evict_idle(&self) {
        self.table().evict_idle(self.idle, Instant::now());
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.table().entries.len()
    }

    /// Moves the iterator of a request on.
    async fn next(&self, limits: PageLimits) -> Result<Vec<(Key, BindingType)>, SystemException> {
        let cursor = self.table().touch(here()?);
        let cursor = cursor.ok_or(SystemExceptionKind::ObjectNotExist)?;
        let mut cursor = cursor.lock().await;
        if cursor.is_over {
            return Ok(Vec::new());
        }
        let page = self
            .store
            .list(cursor.context, cursor.after.as_ref(), limits);
        let page = page.await.map_err(|error| store_failed(&error))?;
        // A context that was destroyed meanwhile had no names left.
        let page = page.unwrap_or_default();
        cursor.is_over = !page.has_more;
        if let Some(end) = page.end() {
            cursor.after = Some(end);
        }
        Ok(page.names)
    }
}

/// The number of the iterator that a request is for.
fn here() -> Result<u64, SystemException> {
    number(&PoaCurrent::get_object_id()?)
}

fn number(id: &ObjectId) -> Result<u64, SystemException> {
    let octets = id.as_ref().try_into();
    octets
        .map(u64::from_be_bytes)
        .map_err(|_| SystemExceptionKind::ObjectNotExist.into())
}

/// Finds out, for each request, whether there is the iterator it is for.
pub(crate) struct Locator<S>(pub(crate) Arc<Iterators<S>>);

impl<S: Store> ServantLocator for Locator<S> {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        if !self.0.table().entries.contains_key(&number(id)?) {
            return Err(SystemException::from(SystemExceptionKind::ObjectNotExist).into());
        }
        let servant = BindingIteratorServant::from_arc(Arc::clone(&self.0));
        Ok((servant.into(), ()))
    }
}

impl<S: Store> BindingIterator for Iterators<S> {
    async fn next_one(&self) -> Result<(bool, Binding), SystemException> {
        let names = self.next(page_limits(1)).await?;
        let none = || Binding {
            binding_name: Vec::new(),
            binding_type: BindingType::Nobject,
        };
        let next = listed(&names).pop();
        Ok((next.is_some(), next.unwrap_or_else(none)))
    }

    async fn next_n(&self, how_many: u32) -> Result<(bool, BindingList), SystemException> {
        if how_many == 0 {
            return Err(SystemExceptionKind::BadParam.into());
        }
        let names = self.next(page_limits(how_many)).await?;
        Ok((!names.is_empty(), listed(&names)))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        match self.table().remove(here()?) {
            true => Ok(()),
            false => Err(SystemExceptionKind::ObjectNotExist.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Option<HostId> {
        Some(counted(HostId::Inet(text.parse().unwrap())))
    }

    fn cursor() -> Cursor {
        Cursor {
            context: ContextId([0; 16]),
            after: None,
            is_over: false,
        }
    }

    #[test]
    fn a_host_with_a_hundred_thousand_iterators_takes_none_of_others() {
        let mut table = Table::default();
        let mine: Vec<u64> = (0..50)
            .map(|_| table.add(cursor(), host("10.0.0.1"), 100))
            .collect();
        for n in 0..100_000_u32 {
            // All from one network.
            let other = format!("2001:db8::{:x}:{:x}", n >> 16, n & 0xffff);
            table.add(cursor(), host(&other), 100);
        }
        assert_eq!(table.entries.len(), 100);
        assert_eq!(table.by_use.len(), 100);
        assert_eq!(table.by_host.len(), 2);
        for number in &mine {
            assert!(table.touch(*number).is_some());
        }
        // A third one takes the places of those that were not used for the longest time.
        let third = table.add(cursor(), host("10.0.0.3"), 100);
        assert!(table.touch(third).is_some());
        assert!(mine.iter().all(|number| table.entries.contains_key(number)));
        for number in mine.into_iter().chain([third]) {
            assert!(table.remove(number));
            assert!(!table.remove(number));
        }
        assert_eq!(
            (table.entries.len(), table.by_use.len(), table.by_host.len()),
            (49, 49, 1)
        );
        table.evict_idle(Duration::ZERO, Instant::now());
        assert_eq!(
            (table.entries.len(), table.by_use.len(), table.by_host.len()),
            (0, 0, 0)
        );
    }
}
