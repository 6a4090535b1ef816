//! The connections of a cache, and the choice of one that is closed for another.

use super::by_use::{ByUse, HostOf, RecencyKey, ToHost};
use super::key::CacheKey;
use super::limits::{ConnectError, ConnectionLimits, NamedBy};
use super::{Connected, Entry, Publish};
use crate::client::ClientConnection;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use zorb_giop::LifeAction;

/// The number of connections looked at in vain from which on the table remembers that none is idle.
const MANY_LOOKS: usize = 256;
/// The most connections in use that one search moves to the end of the order.
pub(super) const MOVES_IN_USE: usize = 16;
/// Connections with one key that have lost their place to another one and keep calls that wait. With so many of them, calls
/// go on by the last connection although it is silent: a further one would be silent, too.
pub(super) const MAX_REPLACED: usize = 4;
/// How long the table remembers that, so that a cache full of busy connections is not searched for each caller that it
/// refuses.
const NONE_IDLE_FOR: Duration = Duration::from_millis(10);

/// Orders the uses of connections. It advances with each connection that is made; connections used since the last one was
/// made have the same number.
///
/// It is a counter and not a clock: a call loads and stores it, which costs two moves; reading a clock costs more.
#[derive(Debug, Clone, Default)]
pub(crate) struct UseClock(Arc<AtomicU64>);

impl UseClock {
    /// The number of a use that happens now.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        // A hint: no other memory is published by it.
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn advance(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A connection, or the attempt to make one.
#[derive(Debug)]
struct Slot {
    entry: Entry,
    /// The application if it has named the endpoint, even where a peer has named it as well.
    named_by: NamedBy,
    /// Its place among the connections that may be closed for another one; `None` if it may not be closed.
    place: Option<RecencyKey>,
}

impl Slot {
    fn connected(&self) -> Option<Connected> {
        self.entry.borrow().clone()
    }
}

/// The contents of a cache.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: HashMap<CacheKey, Slot>,
    by_use: ByUse,
    to_hosts: HashMap<HostOf, ToHost>,
    /// Connections that have lost their place to another one of the same key, until they end.
    replaced: HashMap<CacheKey, Vec<Weak<ClientConnection>>>,
    /// The number of places given so far.
    places: u64,
    /// When a search last found no idle connection: for endpoints that the application has named, and for those of peers.
    none_idle: [Option<Instant>; 2],
    /// Connections that were looked at to find an idle one.
    #[cfg(all(test, not(zorb_model)))]
    pub(super) looks: usize,
    /// Connections that are being made, open, or being closed.
    drivers: usize,
    /// Callers that wait until a connection that makes room for theirs is closed.
    waiting: usize,
}

/// The table of a cache, with its lock.
#[derive(Debug, Default)]
pub(super) struct Shared {
    table: Mutex<Table>,
    /// Notified when a driver has ended.
    pub(super) ended: Notify,
}

/// The result of looking a connection up.
pub(super) enum Claim {
    /// The connection or the attempt to make it, and for the caller that makes it the sender of its result.
    Entry(Entry, Option<Publish>),
    /// The cache is full, and a connection is being closed to make room.
    Later,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a driver that has ended, and wakes the callers that wait for room.
    pub(super) fn driver_ended(&self) {
        let mut table = self.lock();
        table.drivers = table.drivers.saturating_sub(1);
        drop(table);
        self.ended.notify_waiters();
    }

    /// Counts a caller that waits until the guard is dropped.
    pub(super) fn wait(&self) -> WaitingCaller<'_> {
        let mut table = self.lock();
        table.waiting = table.waiting.saturating_add(1);
        WaitingCaller(self)
    }
}

/// A caller that waits for room: counted until this is dropped.
pub(super) struct WaitingCaller<'a>(&'a Shared);

impl Drop for WaitingCaller<'_> {
    fn drop(&mut self) {
        let mut table = self.0.lock();
        table.waiting = table.waiting.saturating_sub(1);
    }
}

/// A connection that was closed for another one, and what is left to do without the lock.
pub(super) type Purged = (Arc<ClientConnection>, LifeAction);

/// Ends a connection that no call uses.
fn retire(connection: Arc<ClientConnection>) -> Option<Purged> {
    let action = connection.retire_for_another()?;
    Some((connection, action))
}

impl Table {
    /// The number of connections, including those that are being made or closed.
    pub(super) fn len(&self) -> usize {
        // A connection leaves the slots before its driver has closed it, and enters them before it has a driver.
        self.slots.len().max(self.drivers)
    }

    /// The connections that have been made.
    pub(super) fn connections(&self) -> Vec<Arc<ClientConnection>> {
        let made = self.slots.values().filter_map(Slot::connected);
        made.filter_map(Result::ok).collect()
    }

    /// Counts a driver that begins.
    pub(super) fn driver_begins(&mut self) {
        self.drivers = self.drivers.saturating_add(1);
    }

    /// Removes the entry of a key, if it is this one.
    pub(super) fn remove(&mut self, key: &CacheKey, entry: &Entry) {
        self.forget_replaced(key);
        let slot = self.slots.get(key);
        if slot.is_some_and(|slot| slot.entry.same_channel(entry)) {
            self.take_out(key);
        }
    }

    fn take_out(&mut self, key: &CacheKey) {
        let Some(slot) = self.slots.remove(key) else {
            return;
        };
        let host = HostOf::new(key.endpoint());
        let mut is_last = false;
        if let Some(to_host) = self.to_hosts.get_mut(&host) {
            to_host.slots = to_host.slots.saturating_sub(1);
            is_last = to_host.slots == 0;
            if let Some(place) = slot.place {
                to_host.by_use.remove(place, slot.named_by);
            }
        }
        if is_last {
            self.to_hosts.remove(&host);
        }
        if let Some(place) = slot.place {
            self.by_use.remove(place, slot.named_by);
        }
    }

    /// A new place for a connection whose last use has this number.
    fn place(&mut self, used: u64) -> RecencyKey {
        self.places = self.places.wrapping_add(1);
        RecencyKey {
            used,
            number: self.places,
        }
    }

    /// Moves a connection that may be closed for another one to `place`.
    fn put(&mut self, key: &CacheKey, place: RecencyKey, named_by: NamedBy) {
        let Some(slot) = self.slots.get_mut(key) else {
            return;
        };
        let before = (slot.place.replace(place), slot.named_by);
        slot.named_by = named_by;
        let to_host = self.to_hosts.entry(HostOf::new(key.endpoint()));
        for by_use in [&mut self.by_use, &mut to_host.or_default().by_use] {
            if let (Some(before), named_by) = before {
                by_use.remove(before, named_by);
            }
            by_use.insert(place, named_by, key);
        }
    }

    /// Removes all entries, and returns the connections among them.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Arc<ClientConnection>> + use<> {
        let slots = core::mem::take(&mut self.slots);
        let replaced = core::mem::take(&mut self.replaced);
        (self.by_use, self.to_hosts) = Default::default();
        let replaced = replaced.into_values().flatten();
        slots
            .into_values()
            .filter_map(|slot| slot.connected()?.ok())
            .chain(replaced.filter_map(|connection| connection.upgrade()))
    }

    /// Forgets the connections of a key that have ended after they had lost their place; returns the number of others.
    fn forget_replaced(&mut self, key: &CacheKey) -> usize {
        let Some(replaced) = self.replaced.get_mut(key) else {
            return 0;
        };
        replaced.retain(|connection| {
            let connection = connection.upgrade();
            connection.is_some_and(|connection| !connection.is_over())
        });
        let others = replaced.len();
        if others == 0 {
            self.replaced.remove(key);
        }
        others
    }

    /// Gives the place of a connection that has fallen silent to a new one, whose sender is returned. The old one keeps its
    /// calls. `None` if the connection is not silent, or [as many](MAX_REPLACED) have lost their place before.
    ///
    /// # Errors
    /// [`ConnectError::Gone`] for a silent connection that the peer has opened, in whose place no other can be opened.
    fn replace(&mut self, key: &CacheKey) -> Result<Option<Claim>, ConnectError> {
        let connected = self.slots.get(key).and_then(Slot::connected);
        let Some(Ok(connection)) =
            connected.filter(|made| made.as_ref().is_ok_and(|made| made.is_silent()))
        else {
            return Ok(None);
        };
        if !key.can_be_opened() {
            let endpoint = key.endpoint().clone();
            return Err(ConnectError::Gone { endpoint });
        }
        if self.forget_replaced(key) >= MAX_REPLACED || !connection.replace() {
            return Ok(None);
        }
        let replaced = self.replaced.entry(key.clone()).or_default();
        replaced.push(Arc::downgrade(&connection));
        let (publish, entry) = watch::channel(None);
        Ok(self.slots.get_mut(key).map(|slot| {
            slot.entry = entry.clone();
            Claim::Entry(entry, Some(publish))
        }))
    }

    /// The number of entries.
    #[cfg(all(test, not(zorb_model)))]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The entry for `key`, an existing one or a new one. A connection that has to be closed for it is added to `purged`; it
    /// takes no further requests. `now`: the number of a use that happens now.
    ///
    /// # Errors
    /// [`ConnectError::TooMany`] where a limit permits no further entry, and no idle connection makes room;
    /// [`ConnectError::Gone`] where the peer has opened the connection, and has fallen silent.
    pub(super) fn claim(
        &mut self,
        key: &CacheKey,
        named_by: NamedBy,
        limits: ConnectionLimits,
        now: u64,
        purged: &mut Vec<Purged>,
    ) -> Result<Claim, ConnectError> {
        if let Some(claim) = self.replace(key)? {
            return Ok(claim);
        }
        if let Some(slot) = self.slots.get_mut(key) {
            let entry = slot.entry.clone();
            if named_by == NamedBy::Application && slot.named_by == NamedBy::Peer {
                match slot.place {
                    Some(place) => self.put(key, place, named_by),
                    None => slot.named_by = named_by,
                }
            }
            return Ok(Claim::Entry(entry, None));
        }
        let refused = |what, limit| ConnectError::TooMany {
            endpoint: key.endpoint().clone(),
            what,
            limit,
        };
        let by_host = limits.by_host;
        let host = HostOf::new(key.endpoint());
        if (self.to_hosts.get(&host)).is_some_and(|to_host| to_host.slots >= by_host) {
            let victim = self.purge(named_by, Some(&host), now);
            purged.push(victim.ok_or_else(|| refused("to one host", by_host))?);
        }
        let all = limits.all_for(named_by);
        if self.len() >= all {
            // Each connection that is being closed makes room for one caller that waits already.
            let closing = self.drivers.saturating_sub(self.slots.len());
            if closing <= self.waiting {
                let victim = self.purge_any(named_by, now);
                purged.push(victim.ok_or_else(|| refused("in all", all))?);
            }
            return Ok(Claim::Later);
        }
        let (publish, entry) = watch::channel(None);
        let slot = Slot {
            entry: entry.clone(),
            named_by,
            place: None,
        };
        self.slots.insert(key.clone(), slot);
        let to_host = self.to_hosts.entry(host).or_default();
        to_host.slots = to_host.slots.saturating_add(1);
        if key.may_be_purged() {
            // The new connection counts as used, with the next number.
            let place = self.place(now.saturating_add(1));
            self.put(key, place, named_by);
        }
        Ok(Claim::Entry(entry, Some(publish)))
    }

    /// [Purges](Self::purge) any connection, unless a recent search found none idle.
    pub(super) fn purge_any(&mut self, named_by: NamedBy, now: u64) -> Option<Purged> {
        let of = usize::from(named_by == NamedBy::Peer);
        let found_none = self.none_idle.get(of).copied().flatten();
        if found_none.is_some_and(|at| at.elapsed() < NONE_IDLE_FOR) {
            return None;
        }
        let victim = self.purge(named_by, None, now);
        let is_to_be_remembered = victim.is_none() && self.by_use.len_for(named_by) > MANY_LOOKS;
        if let Some(none_idle) = self.none_idle.get_mut(of) {
            *none_idle = is_to_be_remembered.then(Instant::now);
        }
        victim
    }

    /// Retires and removes the least recently used idle connection, of all or of those to a host. For an endpoint that a peer
    /// has named, no connection is closed whose endpoint the application has named.
    ///
    /// A connection in front that was used since it got its place moves to the place of that use; the first ones in use move to
    /// the end. Behind these, the others are looked at where they are, as a move changes four ordered maps.
    fn purge(&mut self, named_by: NamedBy, host: Option<&HostOf>, now: u64) -> Option<Purged> {
        let mut in_use: usize = 0;
        while in_use < MOVES_IN_USE {
            let (place, key) = self.by_use_of(host)?.first_for(named_by)?;
            let slot = self.slots.get(&key)?;
            let (connection, named_by) = (slot.connected(), slot.named_by);
            #[cfg(all(test, not(zorb_model)))]
            {
                self.looks = self.looks.saturating_add(1);
            }
            let used = match connection {
                Some(Ok(connection)) if connection.last_used() > place.used => {
                    connection.last_used()
                }
                // The connection is in use or being made, or is closed.
                connection => {
                    let made = connection.and_then(Result::ok);
                    if let Some(purged) = made.and_then(retire) {
                        self.take_out(&key);
                        return Some(purged);
                    }
                    in_use = in_use.saturating_add(1);
                    now
                }
            };
            let place = self.place(used);
            self.put(&key, place, named_by);
        }
        self.purge_in_place(named_by, host)
    }

    /// [Purges](Self::purge) without moving the connections that are in use.
    fn purge_in_place(&mut self, named_by: NamedBy, host: Option<&HostOf>) -> Option<Purged> {
        let all = self.by_use_of(host)?.all_for(named_by);
        let mut by_use: Vec<_> = all
            .filter_map(|(place, key)| {
                let connection = self.slots.get(key)?.connected()?.ok()?;
                let used = connection.last_used().max(place.used);
                Some((RecencyKey { used, ..*place }, connection, key))
            })
            .collect();
        by_use.sort_unstable_by_key(|(place, ..)| *place);
        let mut by_use = by_use.into_iter();
        let (purged, key) = by_use.find_map(|(_, made, key)| Some((retire(made)?, key.clone())))?;
        self.take_out(&key);
        Some(purged)
    }

    /// The order of all connections, or of those to a host.
    fn by_use_of(&self, host: Option<&HostOf>) -> Option<&ByUse> {
        match host {
            None => Some(&self.by_use),
            Some(host) => Some(&self.to_hosts.get(host)?.by_use),
        }
    }
}
