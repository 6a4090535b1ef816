//! The connections that a cache has, and which of them makes room for another one.

use super::key::CacheKey;
use super::limits::{ConnectError, ConnectionLimits, NamedBy, is_same_host};
use super::{Connected, Entry, Publish};
use crate::client::ClientConnection;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};
use zorb_transport::Endpoint;

/// Orders the uses of connections: it advances with each connection that is made. Connections that have been used
/// since the last one was made have the same number.
///
/// A number, and no time: a call reads it and stores it, which costs two moves, where a clock costs a call of the system.
#[derive(Debug, Clone, Default)]
pub(crate) struct UseClock(Arc<AtomicU64>);

impl UseClock {
    /// The number of a use that happens now.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        // A hint: no other memory is read by it.
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
    /// The application, if it was among those that named the endpoint.
    named_by: NamedBy,
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
    /// Connections that are being made, that there are, or that are being closed.
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

    /// Counts a driver that has ended, and wakes the callers that wait for that.
    pub(super) fn driver_ended(&self) {
        let mut table = self.lock();
        table.drivers = table.drivers.saturating_sub(1);
        drop(table);
        self.ended.notify_waiters();
    }

    /// Counts a caller that waits until the guard is dropped.
    pub(super) fn wait(&self) -> Waiting<'_> {
        let mut table = self.lock();
        table.waiting = table.waiting.saturating_add(1);
        Waiting(self)
    }
}

/// A caller that waits for room.
pub(super) struct Waiting<'a>(&'a Shared);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut table = self.0.lock();
        table.waiting = table.waiting.saturating_sub(1);
    }
}

impl Table {
    /// The connections that there are, those included that are being made or closed.
    pub(super) fn len(&self) -> usize {
        // A connection leaves the slots before its driver has closed it, and enters them before it has one.
        self.slots.len().max(self.drivers)
    }

    /// Counts a driver that begins.
    pub(super) fn driver_begins(&mut self) {
        self.drivers = self.drivers.saturating_add(1);
    }

    /// Takes out the entry that a key has, if it is this one.
    pub(super) fn remove(&mut self, key: &CacheKey, entry: &Entry) {
        let slot = self.slots.get(key);
        if slot.is_some_and(|slot| slot.entry.same_channel(entry)) {
            self.slots.remove(key);
        }
    }

    /// Takes out everything.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Arc<ClientConnection>> + use<> {
        let slots = core::mem::take(&mut self.slots);
        slots
            .into_values()
            .filter_map(|slot| slot.connected()?.ok())
    }

    /// Whether there is an entry for the key.
    #[cfg(all(test, not(zorb_model)))]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The entry for `key`, an existing one or a new one. A connection that has to be closed for it, if there is one, is in
    /// `purged` afterwards: it takes no further requests.
    ///
    /// # Errors
    /// [`ConnectError::TooMany`] where a limit permits no further entry, and no idle connection makes room.
    pub(super) fn claim(
        &mut self,
        key: &CacheKey,
        named_by: NamedBy,
        limits: ConnectionLimits,
        purged: &mut Vec<Arc<ClientConnection>>,
    ) -> Result<Claim, ConnectError> {
        if let Some(slot) = self.slots.get_mut(key) {
            if named_by == NamedBy::Application {
                slot.named_by = named_by;
            }
            return Ok(Claim::Entry(slot.entry.clone(), None));
        }
        let refused = |what, limit| ConnectError::TooMany {
            endpoint: key.endpoint().clone(),
            what,
            limit,
        };
        let by_host = limits.by_host;
        // Counted only where a connection is made, which costs more.
        if self.slots.len() >= by_host && self.to_host(key.endpoint()) >= by_host {
            let victim = self.purge(named_by, Some(key.endpoint()));
            purged.push(victim.ok_or_else(|| refused("to one host", by_host))?);
        }
        let all = limits.all_for(named_by);
        if self.len() >= all {
            // Of the connections that are being closed, each makes room for a caller that waits already.
            let closing = self.drivers.saturating_sub(self.slots.len());
            if closing <= self.waiting {
                let victim = self.purge(named_by, None);
                purged.push(victim.ok_or_else(|| refused("in all", all))?);
            }
            return Ok(Claim::Later);
        }
        let (publish, entry) = watch::channel(None);
        let slot = Slot {
            entry: entry.clone(),
            named_by,
        };
        self.slots.insert(key.clone(), slot);
        Ok(Claim::Entry(entry, Some(publish)))
    }

    /// Connections to the host of an endpoint.
    fn to_host(&self, endpoint: &Endpoint) -> usize {
        let is_there = |key: &&CacheKey| is_same_host(key.endpoint(), endpoint);
        self.slots.keys().filter(is_there).count()
    }

    /// Retires the idle connection whose last use is the longest ago, and takes it out: of all, or of those to the host of
    /// an endpoint. For an endpoint that a peer has named, none is closed that the application has named.
    ///
    /// Looks at all connections, and only happens where the limit is reached.
    fn purge(
        &mut self,
        named_by: NamedBy,
        host: Option<&Endpoint>,
    ) -> Option<Arc<ClientConnection>> {
        let may_go = |key: &CacheKey, slot: &Slot| {
            key.may_be_purged()
                && (named_by == NamedBy::Application || slot.named_by == NamedBy::Peer)
                && host.is_none_or(|host| is_same_host(key.endpoint(), host))
        };
        let mut candidates: Vec<(u64, &CacheKey, Arc<ClientConnection>)> = (self.slots.iter())
            .filter(|(key, slot)| may_go(key, slot))
            .filter_map(|(key, slot)| {
                let connection = slot.connected()?.ok()?;
                Some((connection.last_used(), key, connection))
            })
            .collect();
        candidates.sort_unstable_by_key(|(last_used, ..)| *last_used);
        let (_, key, connection) =
            (candidates.into_iter()).find(|(_, _, connection)| connection.retire_for_another())?;
        let key = key.clone();
        self.slots.remove(&key);
        Some(connection)
    }
}
