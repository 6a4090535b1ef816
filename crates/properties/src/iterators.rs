//! Iterators: each is a set and a place in the order of its names, so that it costs no more for a large set.
//!
//! Properties that are defined or deleted meanwhile are listed or not; all others are listed once.

use crate::cos_property_service::{
    PropertiesIterator, PropertiesIteratorRef, PropertiesIteratorServant, Property,
    PropertyNamesIterator, PropertyNamesIteratorRef, PropertyNamesIteratorServant,
};
use crate::set::Set;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb::{Any, Poa, SystemException, SystemExceptionKind};

/// The iterators of a service.
pub(crate) struct Iterators {
    poa: Poa,
    max: usize,
    idle: Duration,
    table: Mutex<Table>,
}

/// Those there are, in the order of their last use.
#[derive(Default)]
struct Table {
    last: u64,
    by_use: BTreeMap<u64, (u64, Instant)>,
    uses: HashMap<u64, u64>,
}

impl Table {
    fn touch(&mut self, number: u64) {
        self.remove(number);
        self.last = self.last.saturating_add(1);
        self.by_use.insert(self.last, (number, Instant::now()));
        self.uses.insert(number, self.last);
    }

    fn remove(&mut self, number: u64) {
        if let Some(used) = self.uses.remove(&number) {
            self.by_use.remove(&used);
        }
    }
}

/// The servant of an iterator, of either kind.
struct Cursor {
    number: u64,
    set: Arc<Set>,
    /// Where it began, and where it is.
    start: Option<String>,
    behind: Mutex<Option<String>>,
}

fn id(number: u64) -> String {
    format!("i{number}")
}

impl Iterators {
    pub(crate) fn new(poa: Poa, max: usize, idle: Duration) -> Self {
        Self {
            poa,
            max: max.max(1),
            idle,
            table: Mutex::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new iterator. Where there are too many, the one that was not used for the longest time goes.
    fn add(&self) -> u64 {
        let mut table = self.table();
        let number = table.last.saturating_add(1);
        table.touch(number);
        let mut over = Vec::new();
        while table.by_use.len() > self.max
            && let Some((_, (oldest, _))) = table.by_use.pop_first()
        {
            table.uses.remove(&oldest);
            over.push(oldest);
        }
        drop(table);
        over.into_iter().for_each(|oldest| self.end(oldest));
        number
    }

    fn end(&self, number: u64) {
        let _ = self.poa.deactivate_object_with_id(id(number));
    }

    /// Destroys those that were not used for long.
    pub(crate) fn evict_idle(&self) {
        let mut over = Vec::new();
        {
            let mut table = self.table();
            while let Some((&used, &(oldest, at))) = table.by_use.first_key_value()
                && at.elapsed() >= self.idle
            {
                table.by_use.remove(&used);
                table.uses.remove(&oldest);
                over.push(oldest);
            }
        }
        over.into_iter().for_each(|oldest| self.end(oldest));
    }

    fn cursor(&self, set: Arc<Set>, start: Option<String>) -> Cursor {
        Cursor {
            number: self.add(),
            set,
            behind: Mutex::new(start.clone()),
            start,
        }
    }

    /// An iterator over the names behind one.
    pub(crate) fn names(
        &self,
        set: Arc<Set>,
        start: Option<String>,
    ) -> Result<PropertyNamesIteratorRef, zorb::Error> {
        let cursor = self.cursor(set, start);
        let id = id(cursor.number);
        let servant = PropertyNamesIteratorServant::new(cursor);
        self.poa.activate_object_with_id(id, servant)
    }

    /// An iterator over the properties behind one.
    pub(crate) fn properties(
        &self,
        set: Arc<Set>,
        start: Option<String>,
    ) -> Result<PropertiesIteratorRef, zorb::Error> {
        let cursor = self.cursor(set, start);
        let id = id(cursor.number);
        let servant = PropertiesIteratorServant::new(cursor);
        self.poa.activate_object_with_id(id, servant)
    }
}

impl Cursor {
    fn behind(&self) -> MutexGuard<'_, Option<String>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, how_many: u32) -> Result<Vec<Property>, SystemException> {
        if how_many == 0 {
            return Err(SystemExceptionKind::BadParam.into());
        }
        self.set.shared.iterators.table().touch(self.number);
        let mut behind = self.behind();
        let max = usize::try_from(how_many).unwrap_or(usize::MAX);
        let (page, _) = self.set.page(behind.as_deref(), max);
        if let Some(last) = page.last() {
            *behind = Some(last.property_name.clone());
        }
        Ok(page)
    }

    fn back(&self) {
        self.behind().clone_from(&self.start);
    }

    fn destroy(&self) {
        let iterators = &self.set.shared.iterators;
        iterators.table().remove(self.number);
        iterators.end(self.number);
    }
}

impl PropertyNamesIterator for Cursor {
    async fn reset(&self) -> Result<(), SystemException> {
        self.back();
        Ok(())
    }

    async fn next_one(&self) -> Result<(bool, String), SystemException> {
        let next = self.next(1)?.pop().map(|one| one.property_name);
        Ok((next.is_some(), next.unwrap_or_default()))
    }

    async fn next_n(&self, how_many: u32) -> Result<(bool, Vec<String>), SystemException> {
        let names = self.next(how_many)?.into_iter();
        let names: Vec<_> = names.map(|one| one.property_name).collect();
        Ok((!names.is_empty(), names))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        Self::destroy(self);
        Ok(())
    }
}

impl PropertiesIterator for Cursor {
    async fn reset(&self) -> Result<(), SystemException> {
        self.back();
        Ok(())
    }

    async fn next_one(&self) -> Result<(bool, Property), SystemException> {
        let next = self.next(1)?.pop();
        let none = || Property {
            property_name: String::new(),
            property_value: Any::default(),
        };
        Ok((next.is_some(), next.unwrap_or_else(none)))
    }

    async fn next_n(&self, how_many: u32) -> Result<(bool, Vec<Property>), SystemException> {
        let next = self.next(how_many)?;
        Ok((!next.is_empty(), next))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        Self::destroy(self);
        Ok(())
    }
}
