//! Plain keys, such as the `Bank` of `corbaloc::host:port/Bank`: their table, and the resolver of unknown keys.

mod key_table;
mod key_table_error;
mod look_up;

pub use key_table::KeyTable;
pub use key_table_error::KeyTableError;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use core::pin::Pin;
use core::time::Duration;
use std::sync::Arc;
use zorb_giop::{Ior, SystemException};
use zorb_poa::{ActiveObject, Missing, Named, Names, ObjectAdapter};
use zorb_shares::Shares;

/// Concurrent look-ups of adapter activators and the key resolver, of which a quarter is kept for hosts that have few; a
/// request beyond them is TRANSIENT.
const MAX_PENDING_LOOKUPS: usize = 256;
/// The time limit of a look-up, after which the request is TRANSIENT and the look-up dropped.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// An entry of the table: a plain key and its target.
#[derive(Clone)]
struct Bound {
    key: Bytes,
    ior: Arc<Ior>,
    /// The object's own key, if the object is one of this ORB.
    own: Option<Bytes>,
}

type LookUp = Pin<Box<dyn Future<Output = Result<Option<Ior>, SystemException>> + Send>>;
type KeyResolver = Box<dyn Fn(Bytes) -> LookUp + Send + Sync>;

/// The plain keys of an ORB.
pub(crate) struct Keys {
    table: Names<Bound>,
    resolver: ArcSwapOption<KeyResolver>,
    lookups: Arc<Shares>,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            table: Names::new(),
            resolver: ArcSwapOption::empty(),
            lookups: Shares::new(MAX_PENDING_LOOKUPS),
        }
    }
}

impl Keys {
    /// Drops all references and the resolver, which may keep the ORB alive.
    pub(crate) fn clear(&self) {
        self.table.clear();
        self.resolver.store(None);
    }
}

/// The result of looking a key up.
pub(crate) enum Found {
    Object(Arc<ActiveObject>),
    /// A forward to this reference: the object is not one of this ORB.
    Forward(Arc<Ior>),
    /// The key resolver, or an adapter activator, has to be called.
    Unknown(Bytes),
}

impl Named for Bound {
    fn name(&self) -> &[u8] {
        &self.key
    }
}

impl Bound {
    fn find(self, adapters: &ObjectAdapter) -> Result<Found, Missing> {
        match self.own.map(|key| adapters.locate(&key)) {
            Some(Ok(object)) => Ok(Found::Object(object)),
            // No adapter has this object of the ORB: a forward makes the client look it up by its own key.
            Some(Err(Missing::Adapter)) | None => Ok(Found::Forward(self.ior)),
            Some(Err(missing)) => Err(missing),
        }
    }
}
