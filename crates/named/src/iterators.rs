//! The iterators over the names of contexts.
//!
//! An iterator is a place in the order of the names, not a list of them: it holds no more for a million names than for ten. Names
//! that are bound or unbound meanwhile are listed or not; all others are listed once.

use crate::context::{listed, page_limits};
use crate::refusal::store_failed;
use crate::store::{ContextId, Key, Page, PageLimits, Store};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb::naming::cos_naming::{
    Binding, BindingIterator, BindingIteratorRef, BindingIteratorServant, BindingList, BindingType,
};
use zorb::{
    ObjectId, Poa, PoaCurrent, Servant, ServantLocator, ServantManagerError, SystemException,
    SystemExceptionKind,
};

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
    after: Option<Key>,
    /// Whether all names have been listed.
    is_over: bool,
}

#[derive(Debug)]
struct Entry {
    cursor: Arc<tokio::sync::Mutex<Cursor>>,
    /// Its key in [`Table::by_use`].
    used: u64,
    used_at: Instant,
}

/// The iterators there are, by number, and in the order of their last use.
#[derive(Debug, Default)]
pub(crate) struct Table {
    last: u64,
    uses: u64,
    entries: HashMap<u64, Entry>,
    by_use: BTreeMap<u64, u64>,
}

impl Table {
    fn add(&mut self, cursor: Cursor) -> u64 {
        self.last = self.last.wrapping_add(1);
        let number = self.last;
        let used = self.next_use(number);
        let entry = Entry {
            cursor: Arc::new(tokio::sync::Mutex::new(cursor)),
            used,
            used_at: Instant::now(),
        };
        self.entries.insert(number, entry);
        number
    }

    fn next_use(&mut self, number: u64) -> u64 {
        self.uses = self.uses.wrapping_add(1);
        self.by_use.insert(self.uses, number);
        self.uses
    }

    /// The iterator, as used just now.
    fn touch(&mut self, number: u64) -> Option<Arc<tokio::sync::Mutex<Cursor>>> {
        let former = self.entries.get(&number)?.used;
        self.by_use.remove(&former);
        let used = self.next_use(number);
        let entry = self.entries.get_mut(&number)?;
        entry.used = used;
        entry.used_at = Instant::now();
        Some(Arc::clone(&entry.cursor))
    }

    fn remove(&mut self, number: u64) -> bool {
        let Some(entry) = self.entries.remove(&number) else {
            return false;
        };
        self.by_use.remove(&entry.used);
        true
    }

    /// Removes those that were not used for `idle`, and of the others so many, the longest unused first, that `room` of `max`
    /// places are free.
    fn evict(&mut self, max: usize, room: usize, idle: Duration, now: Instant) {
        while let Some((_, &number)) = self.by_use.first_key_value() {
            let is_idle = self
                .entries
                .get(&number)
                .is_none_or(|entry| now.saturating_duration_since(entry.used_at) >= idle);
            if !is_idle && self.entries.len().saturating_add(room) <= max {
                return;
            }
            if !self.remove(number) {
                self.by_use.pop_first();
            }
        }
    }
}

impl<S: Store> Iterators<S> {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the iterator over the names of a context behind a key.
    pub(crate) fn make(
        &self,
        context: ContextId,
        after: Option<Key>,
    ) -> Result<BindingIteratorRef, zorb::Error> {
        let number = {
            let mut table = self.table();
            table.evict(self.max, 1, self.idle, Instant::now());
            table.add(Cursor {
                context,
                after,
                is_over: false,
            })
        };
        self.poa.create_reference_with_id(number.to_be_bytes())
    }

    /// Removes iterators that were not used for long.
    pub(crate) fn evict_idle(&self) {
        self.table().evict(self.max, 0, self.idle, Instant::now());
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
        let Page { names, has_more } = page.unwrap_or_default();
        cursor.is_over = !has_more;
        if let Some((last, _)) = names.last() {
            cursor.after = Some(last.clone());
        }
        Ok(names)
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
