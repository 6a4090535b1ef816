//! The service as an application starts it.

use crate::context::{Contexts, Locator};
use crate::iterators::{self, Iterators, Table};
use crate::store::{Store, Target};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zorb::naming::cos_naming::NamingContextExtRef;
use zorb::{
    Error, IdUniqueness, ObjectRef, Orb, Policies, RequestProcessing, ServantRetention,
    SystemException,
};

/// The plain key of the root context: `corbaloc::host:2809/NameService`.
pub const SERVICE_KEY: &str = "NameService";
/// The endpoint that clients expect a naming service at, of this host alone.
pub const DEFAULT_ENDPOINT: &str = "iiop://127.0.0.1:2809";
/// The POAs, whose names are part of all references.
const CONTEXTS_POA: &str = "names";
/// The POA of the iterators, for rules of operations.
pub const ITERATORS_POA: &str = "iterators";

/// The limits of a service.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Iterators that there may be. Beyond it the one that was not used for the longest time is destroyed.
    pub max_iterators: usize,
    /// How long an iterator may stay unused before it is destroyed.
    pub iterator_idle: Duration,
}

impl Settings {
    /// Iterators that there may be unless set.
    pub const MAX_ITERATORS: usize = 10_000;
    /// How long an iterator may stay unused unless set.
    pub const ITERATOR_IDLE: Duration = Duration::from_secs(600);
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_iterators: Self::MAX_ITERATORS,
            iterator_idle: Self::ITERATOR_IDLE,
        }
    }
}

/// A naming service of an ORB.
///
/// Its contexts are persistent objects: references to them are the same octets in each run with the same store, endpoints and
/// server id. A context of another service may be bound anywhere, and names that lead through it are passed on to that service.
/// A clone is another handle of it.
pub struct NamingService<S> {
    contexts: Arc<Contexts<S>>,
    store: Arc<S>,
    iterators: Arc<Iterators<S>>,
    root: NamingContextExtRef,
}

impl<S> Clone for NamingService<S> {
    fn clone(&self) -> Self {
        Self {
            contexts: Arc::clone(&self.contexts),
            store: Arc::clone(&self.store),
            iterators: Arc::clone(&self.iterators),
            root: self.root.clone(),
        }
    }
}

impl<S> core::fmt::Debug for NamingService<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NamingService")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl<S: Store> NamingService<S> {
    /// Serves the names of a store: the root context has the plain key [`SERVICE_KEY`].
    ///
    /// # Errors
    /// The ORB listens nowhere, or has a service already.
    pub fn start(orb: &Orb, store: S, settings: Settings) -> Result<Self, Error> {
        let root_poa = orb.root_poa();
        let store = Arc::new(store);
        // Nothing is kept of a context between two requests.
        let policies = |policies: Policies| {
            policies
                .with_id_uniqueness(IdUniqueness::Multiple)
                .with_servant_retention(ServantRetention::NonRetain)
                .with_request_processing(RequestProcessing::ServantManager)
        };
        let persistent = policies(Policies::PERSISTENT);
        let contexts_poa = root_poa.create_poa_with(CONTEXTS_POA, persistent, None)?;
        // Their numbers are theirs alone in one run; the key has that of the run besides.
        let transient = policies(Policies::default()).with_id_assignment(zorb::IdAssignment::User);
        let manager = contexts_poa.the_poa_manager();
        let iterators_poa = root_poa.create_poa_with(ITERATORS_POA, transient, Some(manager))?;
        let iterators = Arc::new(Iterators {
            poa: iterators_poa.clone(),
            store: Arc::clone(&store),
            max: settings.max_iterators.max(1),
            idle: settings.iterator_idle,
            table: Mutex::new(Table::default()),
        });
        iterators_poa.set_servant_locator(iterators::Locator(Arc::clone(&iterators)))?;
        let contexts = Arc::new(Contexts {
            orb: orb.clone(),
            poa: contexts_poa.clone(),
            store: Arc::clone(&store),
            iterators: Arc::clone(&iterators),
        });
        contexts_poa.set_servant_locator(Locator {
            store: Arc::clone(&store),
            servant: Arc::clone(&contexts),
        })?;
        let root = contexts.reference(store.root())?;
        orb.key_table().bind(SERVICE_KEY, &root)?;
        manager.activate()?;
        Ok(Self {
            contexts,
            store,
            iterators,
            root,
        })
    }

    /// The root context.
    #[must_use]
    pub fn root(&self) -> &NamingContextExtRef {
        &self.root
    }

    /// Where the names are.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }

    /// What is bound, as a reference; `None` for nil.
    ///
    /// # Errors
    /// What is stored is no reference.
    pub fn object(&self, target: &Target) -> Result<Option<ObjectRef>, SystemException> {
        self.contexts.bound(target)
    }

    /// How many iterators there are.
    #[must_use]
    pub fn iterators(&self) -> usize {
        self.iterators.len()
    }

    /// Destroys iterators that were not used for long. They are also looked for when a new one is made, so this serves a
    /// service that is not used.
    pub fn evict_idle_iterators(&self) {
        self.iterators.evict_idle();
    }
}
