//! The iterators over the names of contexts.
//!
//! An iterator is a place in the order of the names, not a list of them: it holds no more for a million names than for ten. Names
//! that are bound or unbound meanwhile are listed or not; all others are listed once. (In a store whose order is that of changes one that is
//! bound anew meanwhile may be listed twice.)

use crate::context::{listed, page_limits};
use crate::refusal::store_failed;
use crate::store::{ContextId, Key, PageLimits, Place, Store};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb::naming::cos_naming::{
    Binding, BindingIterator, BindingIteratorRef, BindingIteratorServant, BindingList, BindingType,
};
use zorb::{
    ObjectId, Poa, PoaCurrent, Servant, ServantLocator, ServantManagerError, SystemException,
    SystemExceptionKind,
};
use zorb_service::{Leases, client_host};

/// The iterators of a service: a servant for all.
pub(crate) struct Iterators<S> {
    pub(crate) poa: Poa,
    pub(crate) store: Arc<S>,
    pub(crate) max: usize,
    pub(crate) idle: Duration,
    pub(crate) table: Mutex<Table>,
}

/// Where each iterator is. Calls to one take turns.
pub(crate) type Table = Leases<Arc<tokio::sync::Mutex<Cursor>>>;

#[derive(Debug)]
pub(crate) struct Cursor {
    context: ContextId,
    after: Option<Place>,
    /// Whether all names have been listed.
    is_over: bool,
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
        let host = client_host()?;
        let number = {
            let mut table = self.table();
            table.evict_idle(self.idle, Instant::now());
            let cursor = Cursor {
                context,
                after,
                is_over: false,
            };
            table.add(Arc::new(tokio::sync::Mutex::new(cursor)), host, self.max)
        };
        self.poa.create_reference_with_id(number.to_be_bytes())
    }

    /// Removes iterators that were not used for long.
    pub(crate) fn evict_idle(&self) {
        self.table().evict_idle(self.idle, Instant::now());
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.table().len()
    }

    /// Moves the iterator of a request on.
    async fn next(&self, limits: PageLimits) -> Result<Vec<(Key, BindingType)>, SystemException> {
        let cursor = self.table().touch(here()?).map(Arc::clone);
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
        if !self.0.table().contains(number(id)?) {
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
