//! Iterators: each is a selection of records and a place in their order, so that it costs no more for a large log.
//!
//! Records that are written or removed meanwhile are listed or not; all others are listed once.

use crate::ds_log_admin::{
    self as ds, InvalidParam, IteratorRef, IteratorServant, LogRecord, iterator,
};
use crate::log::{Log, matches};
use crate::store::{Order, Place};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb::{
    Interface, ObjectId, Poa, PoaCurrent, Servant, ServantLocator, ServantManagerError,
    SystemException, SystemExceptionKind,
};
use zorb_events::etcl::Constraint;
use zorb_service::{Leases, client_host};

/// Octets of the records of a reply, before an iterator has the rest.
pub(crate) const MAX_LISTED_OCTETS: usize = 1024 * 1024;

/// Objects that clients make and may forget: the iterators of a service, or what suppliers push to.
pub(crate) struct Objects<T> {
    poa: Poa,
    max: usize,
    table: Mutex<Leases<Arc<T>>>,
}

/// An object of a kind.
pub(crate) trait Served: Send + Sync + 'static {
    type Reference: Interface;
    fn servant(self: Arc<Self>) -> Servant;
}

impl Served for Cursor {
    type Reference = IteratorRef;

    fn servant(self: Arc<Self>) -> Servant {
        IteratorServant::from_arc(self).into()
    }
}

/// Which records there are.
#[derive(Clone)]
pub(crate) enum Selection {
    Matching(Arc<Constraint>),
    /// At most so many from a time on.
    Since(u64, u32),
    /// At most so many before a time, the last one first.
    Before(u64, u32),
}

impl Selection {
    const fn order(&self) -> Order {
        match self {
            Self::Matching(_) => Order::Ids,
            Self::Since(..) => Order::Times,
            Self::Before(..) => Order::TimesBackwards,
        }
    }

    fn start(&self) -> Option<Place> {
        match self {
            Self::Matching(_) => Some((0, 0)),
            Self::Since(_, 0) | Self::Before(_, 0) => None,
            Self::Since(time, _) => Some((*time, 0)),
            Self::Before(time, _) => Some((time.checked_sub(1)?, u64::MAX)),
        }
    }

    /// How many records it has at most.
    fn limit(&self) -> u64 {
        match self {
            Self::Matching(_) => u64::MAX,
            Self::Since(_, limit) | Self::Before(_, limit) => u64::from(*limit),
        }
    }

    fn selects(&self, record: &LogRecord) -> bool {
        match self {
            Self::Matching(constraint) => matches(constraint, record),
            Self::Since(..) | Self::Before(..) => true,
        }
    }
}

/// Where an iterator is.
pub(crate) struct Cursor {
    log: Arc<Log>,
    selection: Selection,
    at: tokio::sync::Mutex<At>,
}

/// A position among the records of a selection, and where it is; `None` behind the last one.
#[derive(Clone, Copy)]
struct At {
    position: u64,
    place: Option<Place>,
}

/// The number of an object.
fn number(id: &ObjectId) -> Result<u64, SystemException> {
    let octets = id.as_ref().try_into();
    octets
        .map(u64::from_be_bytes)
        .map_err(|_| SystemExceptionKind::ObjectNotExist.into())
}

impl<T: Served> Objects<T> {
    pub(crate) fn new(poa: Poa, max: usize) -> Self {
        Self {
            poa,
            max: max.max(1),
            table: Mutex::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Leases<Arc<T>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a new object. Where there are too many, the one that was not used for the longest time goes.
    pub(crate) fn add(&self, object: T) -> Result<T::Reference, SystemException> {
        let host = client_host()?;
        let number = self.table().add(Arc::new(object), host, self.max);
        Ok(self.poa.create_reference_with_id(number.to_be_bytes())?)
    }

    pub(crate) fn remove(&self, id: &ObjectId) -> Result<(), SystemException> {
        match self.table().remove(number(id)?) {
            true => Ok(()),
            false => Err(SystemExceptionKind::ObjectNotExist.into()),
        }
    }

    /// Removes those that were not used for long.
    pub(crate) fn evict_idle(&self, idle: Duration) {
        self.table().evict_idle(idle, Instant::now());
    }
}

/// Finds the object that a request is for.
pub(crate) struct Locator<T>(pub(crate) Arc<Objects<T>>);

impl<T: Served> ServantLocator for Locator<T> {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        let gone = || SystemException::from(SystemExceptionKind::ObjectNotExist);
        let found = self.0.table().touch(number(id)?).cloned();
        Ok((found.ok_or_else(gone)?.servant(), ()))
    }
}

/// Records for a reply, and what there is room for.
struct Page {
    records: Vec<LogRecord>,
    octets: usize,
    /// Records to pass before.
    skip: u64,
    /// Records that there are at most, passed ones included.
    left: u64,
    max: usize,
    is_full: bool,
}

impl Page {
    /// Takes a record that is selected, if there is room for it.
    fn take(&mut self, record: LogRecord, octets: usize) -> ControlFlow<()> {
        if self.left == 0 {
            return ControlFlow::Break(());
        }
        if self.skip == 0 {
            self.octets = self.octets.saturating_add(octets);
            let has_room = self.records.is_empty() || self.octets <= MAX_LISTED_OCTETS;
            if !has_room || self.records.len() >= self.max {
                self.is_full = true;
                return ControlFlow::Break(());
            }
            self.records.push(record);
        }
        self.skip = self.skip.saturating_sub(1);
        self.left = self.left.saturating_sub(1);
        ControlFlow::Continue(())
    }
}

impl Cursor {
    pub(crate) fn new(log: Arc<Log>, selection: Selection) -> Self {
        let at = At {
            position: 0,
            place: selection.start(),
        };
        Self {
            log,
            selection,
            at: tokio::sync::Mutex::new(at),
        }
    }

    /// As many records as a reply has room for, and whether there are more.
    pub(crate) async fn first(&self) -> Result<(Vec<LogRecord>, bool), SystemException> {
        let mut at = self.at.lock().await;
        let (page, next) = self.page(*at, 0, usize::MAX).await?;
        *at = next;
        Ok((page.records, at.place.is_some()))
    }

    /// Records behind others that are passed.
    async fn page(&self, from: At, skip: u64, max: usize) -> Result<(Page, At), SystemException> {
        let left = self.selection.limit().saturating_sub(from.position);
        let mut page = Page {
            records: Vec::new(),
            octets: 0,
            skip,
            left,
            max,
            is_full: false,
        };
        let mut next = from.place;
        while let Some(place) = next {
            let (log, selection) = (Arc::clone(&self.log), self.selection.clone());
            (page, next) = self
                .log
                .reading(move || {
                    let (store, order) = (&log.shared.store, selection.order());
                    let next = store.scan(log.number, order, place, |kept| {
                        match kept.record().filter(|record| selection.selects(record)) {
                            Some(record) => page.take(record, kept.octets()),
                            None => ControlFlow::Continue(()),
                        }
                    })?;
                    Ok((page, next))
                })
                .await?;
            if page.left == 0 {
                next = None;
            }
            if page.is_full {
                break;
            }
        }
        let passed = left.saturating_sub(page.left);
        let position = from.position.saturating_add(passed);
        let at = At {
            position,
            place: next,
        };
        Ok((page, at))
    }
}

impl ds::Iterator for Cursor {
    async fn get(
        &self,
        position: u32,
        how_many: u32,
    ) -> Result<Vec<LogRecord>, iterator::GetError> {
        let position = u64::from(position);
        let max = match how_many {
            0 => usize::MAX,
            how_many => usize::try_from(how_many).unwrap_or(usize::MAX),
        };
        let mut at = self.at.lock().await;
        let from = match position < at.position {
            true => At {
                position: 0,
                place: self.selection.start(),
            },
            false => *at,
        };
        let skip = position.saturating_sub(from.position);
        let (page, next) = self.page(from, skip, max).await?;
        *at = next;
        if page.skip > 0 {
            let details = format!("there are {} records", next.position);
            return Err(InvalidParam { details }.into());
        }
        Ok(page.records)
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        let iterators = &self.log.shared.iterators;
        iterators.remove(&PoaCurrent::get_object_id()?)
    }
}
