//! Object ids of an adapter, and the object keys made from them.

use super::{Adapter, AdapterError, Objects, Scheme};
use crate::key::{ObjectId, ObjectKey, is_reserved};
use crate::policy::{IdAssignment, KeyProtection};
use crate::seal::KeySecret;
use crate::sync::Ordering;
use crate::table::Index;
use bytes::{BufMut, Bytes, BytesMut};

impl Adapter {
    /// A new id. With the policy PERSISTENT, it differs from the ids of earlier lives of the server.
    pub(super) fn assign(&self) -> ObjectId {
        let number = self.assigned.fetch_add(1, Ordering::Relaxed);
        if self.policies.is_indexed() {
            return number_to_index(number).to_id();
        }
        let mut octets = BytesMut::with_capacity(ASSIGNED_LEN);
        octets.put_u64(self.instance.0);
        octets.put_u64(number);
        octets.freeze().into()
    }

    /// Checks that the adapter may have an object of this id.
    pub(super) fn check_id(&self, id: &[u8]) -> Result<(), AdapterError> {
        self.check_alive()?;
        if matches!(self.scheme, Scheme::Plain) && is_reserved(id) {
            return Err(AdapterError::ReservedKey(id.into()));
        }
        let is_user = self.policies.id_assignment == IdAssignment::User;
        let known = match self.objects.knows(id) {
            Some(known) => known,
            None if self.policies.is_indexed() => {
                let assigned = self.assigned.load(Ordering::Relaxed);
                Index::from_id(id).is_some_and(|index| index_to_number(index) < assigned)
            }
            None => is_user || id.len() == ASSIGNED_LEN,
        };
        match (known, is_user) {
            (true, _) => Ok(()),
            (false, false) => Err(AdapterError::UnknownId(id.into())),
            (false, true) => Err(AdapterError::IdNotInSet(id.into())),
        }
    }

    pub(super) fn key(&self, id: &[u8]) -> Bytes {
        let instance = self.instance;
        let key = match (&self.scheme, Index::from_id(id)) {
            (Scheme::Transient(adapter), Some(object)) if self.policies.is_indexed() => {
                ObjectKey::Indexed {
                    instance,
                    adapter: *adapter,
                    object,
                }
            }
            (Scheme::Transient(adapter), _) => ObjectKey::Named {
                instance,
                adapter: *adapter,
                id,
            },
            (Scheme::Persistent(path), _) => ObjectKey::Persistent { path, id },
            (Scheme::Plain, _) => ObjectKey::Plain(id),
        }
        .to_bytes();
        match self.secret() {
            None => key,
            Some(secret) => secret.seal(&key),
        }
    }

    /// The secret of the codes in the adapter's keys, if they have any.
    fn secret(&self) -> Option<&KeySecret> {
        match self.policies.key_protection {
            KeyProtection::None => None,
            KeyProtection::Authenticated => self.common.secret.get(),
        }
    }

    /// The key of an object with a new id, which is activated later.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] with USER_ID, [`AdapterError::Destroyed`], [`AdapterError::Full`].
    pub fn reserve(&self) -> Result<Bytes, AdapterError> {
        self.check_assigns_ids()?;
        let id = match &self.objects {
            Objects::Indexed(table) => table.reserve()?.to_id(),
            Objects::Named(_) | Objects::Fixed(_) | Objects::None => self.assign(),
        };
        Ok(self.key(id.as_ref()))
    }

    /// The key of the object with this id, active or not.
    ///
    /// # Errors
    /// [`AdapterError::UnknownId`] if the adapter assigns ids and has not assigned this one.
    pub fn key_of(&self, id: &[u8]) -> Result<Bytes, AdapterError> {
        self.check_id(id)?;
        Ok(self.key(id))
    }

    /// The object id in a key of this adapter, whether the object is active or not.
    ///
    /// # Errors
    /// [`AdapterError::WrongAdapter`] for a key that this adapter has not made.
    pub fn id_in(&self, key: &[u8]) -> Result<ObjectId, AdapterError> {
        let parsed = ObjectKey::parse(key);
        let is_ours = match (self.secret(), parsed) {
            (None, Some(ObjectKey::Sealed { .. })) => false,
            (None, _) => true,
            (Some(secret), Some(ObjectKey::Sealed { code, key })) => secret.is_code_of(code, key),
            (Some(_), _) => false,
        };
        if !is_ours {
            return Err(AdapterError::WrongAdapter);
        }
        let id = match (&self.scheme, parsed.and_then(ObjectKey::unsealed)) {
            (
                Scheme::Transient(ours),
                Some(ObjectKey::Indexed {
                    instance,
                    adapter,
                    object,
                }),
            ) if instance == self.instance && adapter == *ours => Some(object.to_id()),
            (
                Scheme::Transient(ours),
                Some(ObjectKey::Named {
                    instance,
                    adapter,
                    id,
                }),
            ) if instance == self.instance && adapter == *ours => Some(id.into()),
            (Scheme::Persistent(ours), Some(ObjectKey::Persistent { path, id }))
                if path == ours =>
            {
                Some(id.into())
            }
            (Scheme::Plain, Some(ObjectKey::Plain(id))) => Some(id.into()),
            _ => None,
        };
        id.ok_or(AdapterError::WrongAdapter)
    }
}

/// Octets of an id that a persistent adapter assigns.
const ASSIGNED_LEN: usize = 16;

/// An index that stands for the number of a transient object id without a table entry.
fn number_to_index(number: u64) -> Index {
    let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
    Index {
        slot: u32::from_be_bytes([e, f, g, h]),
        generation: u32::from_be_bytes([a, b, c, d]),
    }
}

fn index_to_number(index: Index) -> u64 {
    u64::from(index.generation) << 32 | u64::from(index.slot)
}
