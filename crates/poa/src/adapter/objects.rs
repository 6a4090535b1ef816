//! Active object maps: by index, by object id, and by a fixed set of ids.

use crate::identity::{Identity, MapEntry};
use crate::key::ObjectId;
use crate::names::{Named, Names};
use crate::object_ids::{FixedMap, ObjectIds};
use crate::policy::Policies;
use crate::table::{Index, NotInTable, Table, TableFull, Tenant};
use std::sync::Arc;

/// The active object map of an adapter.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one of them an adapter, and a pointer less to follow for every request"
)]
pub(super) enum Objects<T> {
    /// Transient objects whose ids the adapter assigns.
    Indexed(Table<T>),
    Named(Names<Arc<T>>),
    /// Objects of the application's ids, which are known at compile time.
    Fixed(FixedMap<T>),
    /// No map: the policy NON_RETAIN.
    None,
}

/// Why an object cannot be inserted under its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotPut {
    /// The id is taken.
    Taken,
    /// There is no map.
    NoMap,
    /// The map is full.
    Full(TableFull),
}

impl<T: MapEntry + Tenant> Objects<T>
where
    Arc<T>: Named,
{
    pub(super) fn new(policies: Policies, ids: Option<&'static ObjectIds>) -> Self {
        match (policies.retains(), policies.is_indexed(), ids) {
            (false, ..) => Self::None,
            (true, true, _) => Self::Indexed(Table::new()),
            (true, false, None) => Self::Named(Names::new()),
            (true, false, Some(ids)) => Self::Fixed(FixedMap::new(ids)),
        }
    }

    #[inline]
    pub(super) fn indexed(&self, object: Index) -> Option<Arc<T>> {
        match self {
            Self::Indexed(table) => table.with(object, Arc::clone),
            Self::Named(_) | Self::Fixed(_) | Self::None => None,
        }
    }

    #[inline]
    pub(super) fn named(&self, id: &[u8]) -> Option<Arc<T>> {
        match self {
            Self::Named(names) => names.find(id),
            Self::Fixed(map) => map.find(id),
            Self::Indexed(_) | Self::None => None,
        }
    }

    /// The object with this id, in a map of any kind.
    pub(super) fn find(&self, id: &[u8]) -> Option<Arc<T>> {
        match self {
            Self::Indexed(_) => self.indexed(Index::from_id(id)?),
            _ => self.named(id),
        }
    }

    /// All entries, in no order.
    pub(super) fn entries(&self) -> Vec<Arc<T>> {
        match self {
            Self::Indexed(table) => table.entries(),
            Self::Named(names) => names.entries(),
            Self::Fixed(map) => map.entries(),
            Self::None => Vec::new(),
        }
    }

    /// Empties the map and returns its entries.
    pub(super) fn drain(&self) -> Vec<Arc<T>> {
        match self {
            Self::Indexed(table) => table.drain(),
            Self::Named(names) => names.drain(),
            Self::Fixed(map) => map.drain(),
            Self::None => Vec::new(),
        }
    }

    /// Inserts an object under its id, unless the id is taken or `is_free` returns `false`. `is_free` runs while no other
    /// thread can change the entry. The caller keeps a reference to the object, so no servant is dropped here.
    pub(super) fn put(
        &self,
        object: &Arc<T>,
        is_free: impl FnOnce() -> bool,
    ) -> Result<(), NotPut> {
        let entry = Arc::clone(object);
        let added = match (self, object.identity()) {
            (Self::Indexed(table), Identity::Index(index)) => table.fill_if(*index, entry, is_free),
            (Self::Named(names), _) => names.insert_if(entry, is_free).is_ok(),
            (Self::Fixed(map), identity) => {
                map.insert_if(identity.octets().unwrap_or_default(), entry, is_free)
            }
            _ => return Err(NotPut::NoMap),
        };
        match added {
            true => Ok(()),
            false => Err(NotPut::Taken),
        }
    }

    /// Inserts an object under its id and returns the object that it replaces.
    ///
    /// # Errors
    /// The adapter assigns ids, and has not assigned this one.
    pub(super) fn replace(&self, object: Arc<T>) -> Result<Option<Arc<T>>, NotInTable> {
        match (self, object.identity().clone()) {
            (Self::Indexed(table), Identity::Index(index)) => {
                table.replace(index, object).map_err(|_| NotInTable)
            }
            (Self::Named(names), _) => Ok(names.replace(object)),
            (Self::Fixed(map), identity) => {
                Ok(map.replace(identity.octets().unwrap_or_default(), object))
            }
            _ => Ok(None),
        }
    }

    /// Replaces the entry `before`, and returns whether the map had it.
    pub(super) fn replace_if(&self, fresh: Arc<T>, before: &Arc<T>) -> bool {
        match (self, before.identity()) {
            (Self::Indexed(table), Identity::Index(index)) => {
                table.replace_if(*index, fresh, before)
            }
            (Self::Named(names), _) => names.replace_if(fresh, |entry| Arc::ptr_eq(entry, before)),
            (Self::Fixed(map), identity) => {
                map.replace_if(identity.octets().unwrap_or_default(), Some(fresh), before)
            }
            _ => false,
        }
    }

    /// Removes the object with this id, and calls `then` before another object can get the id. `keeps_id`: whether an id that
    /// the adapter has assigned can be used again.
    ///
    /// # Errors
    /// The map has no such object.
    pub(super) fn remove(
        &self,
        id: &[u8],
        keeps_id: bool,
        then: impl FnOnce(),
    ) -> Result<Option<Arc<T>>, NotInTable> {
        match self {
            Self::Indexed(table) => {
                let index = Index::from_id(id).ok_or(NotInTable)?;
                let removed = match keeps_id {
                    // No other object gets the same index and generation.
                    false => table.remove(index)?,
                    true => table.vacate(index)?,
                };
                then();
                match removed {
                    None if keeps_id => Err(NotInTable),
                    removed => Ok(removed),
                }
            }
            Self::Named(names) => names.remove_and(id, then).map(Some).ok_or(NotInTable),
            Self::Fixed(map) => map.remove_and(id, then).map(Some).ok_or(NotInTable),
            Self::None => Ok(None),
        }
    }

    /// Removes this object, and returns whether the map had it.
    pub(super) fn take(&self, object: &Arc<T>) -> bool {
        match (self, object.identity()) {
            (Self::Indexed(table), Identity::Index(index)) => {
                matches!(table.remove(*index), Ok(Some(_)))
            }
            (Self::Named(names), identity) => {
                let id = identity.octets().unwrap_or_default();
                names.remove_if(id, |entry| Arc::ptr_eq(entry, object))
            }
            (Self::Fixed(map), identity) => {
                map.replace_if(identity.octets().unwrap_or_default(), None, object)
            }
            _ => false,
        }
    }

    /// Whether an object can have this id; `None` if the map does not restrict ids.
    pub(super) fn knows(&self, id: &[u8]) -> Option<bool> {
        match self {
            Self::Indexed(table) => {
                Some(Index::from_id(id).is_some_and(|index| table.is_given_out(index)))
            }
            Self::Fixed(map) => Some(map.has(id)),
            Self::Named(_) | Self::None => None,
        }
    }

    /// Makes an object under a new id of the adapter: an index, or the result of `assign`.
    ///
    /// # Errors
    /// There is no such map, or it is full.
    pub(super) fn put_new(
        &self,
        assign: impl FnOnce() -> ObjectId,
        make: impl FnOnce(Identity) -> Arc<T>,
    ) -> Result<Arc<T>, NotPut> {
        match self {
            Self::Indexed(table) => {
                let (_, object) = table
                    .insert_with(|index| make(Identity::Index(index)))
                    .map_err(NotPut::Full)?;
                Ok(object)
            }
            Self::Named(names) => {
                let object = make(Identity::of_octets(assign().as_ref()));
                names.replace(Arc::clone(&object));
                Ok(object)
            }
            // The application assigns ids, or there is no map.
            Self::Fixed(_) | Self::None => Err(NotPut::NoMap),
        }
    }
}
