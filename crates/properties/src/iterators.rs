//! Iterators: each is a set and a place in the order of its names, so that it costs no more for a large set.
//!
//! Properties that are defined or deleted meanwhile are listed or not; all others are listed once.

use crate::cos_property_service::{
    PropertiesIterator, PropertiesIteratorRef, PropertiesIteratorServant, Property,
    PropertyNamesIterator, PropertyNamesIteratorRef, PropertyNamesIteratorServant,
};
use crate::set::Set;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb::{
    Any, ObjectId, Poa, PoaCurrent, Servant, ServantLocator, ServantManagerError, SystemException,
    SystemExceptionKind,
};
use zorb_service::{Leases, client_host};

/// The iterators of a service.
pub(crate) struct Iterators {
    poa: Poa,
    max: usize,
    idle: Duration,
    table: Mutex<Leases<(Arc<Cursor>, Kind)>>,
}

/// What an iterator lists.
#[derive(Clone, Copy)]
enum Kind {
    Names,
    Properties,
}

/// Where an iterator is.
struct Cursor {
    set: Arc<Set>,
    /// Where it began, and where it is.
    start: Option<String>,
    behind: Mutex<Option<String>>,
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

impl Iterators {
    pub(crate) fn new(poa: Poa, max: usize, idle: Duration) -> Self {
        Self {
            poa,
            max: max.max(1),
            idle,
            table: Mutex::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Leases<(Arc<Cursor>, Kind)>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of a new iterator. Where there are too many, the one that was not used for the longest time goes.
    fn add(
        &self,
        set: Arc<Set>,
        start: Option<String>,
        kind: Kind,
    ) -> Result<[u8; 8], SystemException> {
        let host = client_host()?;
        let cursor = Arc::new(Cursor {
            set,
            behind: Mutex::new(start.clone()),
            start,
        });
        let number = self.table().add((cursor, kind), host, self.max);
        Ok(number.to_be_bytes())
    }

    /// Destroys those that were not used for long.
    pub(crate) fn evict_idle(&self) {
        self.table().evict_idle(self.idle, Instant::now());
    }

    /// An iterator over the names behind one.
    pub(crate) fn names(
        &self,
        set: Arc<Set>,
        start: Option<String>,
    ) -> Result<PropertyNamesIteratorRef, zorb::Error> {
        let id = self.add(set, start, Kind::Names)?;
        self.poa.create_reference_with_id(id)
    }

    /// An iterator over the properties behind one.
    pub(crate) fn properties(
        &self,
        set: Arc<Set>,
        start: Option<String>,
    ) -> Result<PropertiesIteratorRef, zorb::Error> {
        let id = self.add(set, start, Kind::Properties)?;
        self.poa.create_reference_with_id(id)
    }
}

/// Finds the iterator that a request is for.
pub(crate) struct Locator(pub(crate) Arc<Iterators>);

impl ServantLocator for Locator {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        let gone = || SystemException::from(SystemExceptionKind::ObjectNotExist);
        let found = self.0.table().touch(number(id)?).cloned();
        let servant = match found.ok_or_else(gone)? {
            (cursor, Kind::Names) => PropertyNamesIteratorServant::from_arc(cursor).into(),
            (cursor, Kind::Properties) => PropertiesIteratorServant::from_arc(cursor).into(),
        };
        Ok((servant, ()))
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

    fn destroy(&self) -> Result<(), SystemException> {
        match self.set.shared.iterators.table().remove(here()?) {
            true => Ok(()),
            false => Err(SystemExceptionKind::ObjectNotExist.into()),
        }
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
        Self::destroy(self)
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
        Self::destroy(self)
    }
}
