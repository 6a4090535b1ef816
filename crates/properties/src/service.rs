//! The service as an application starts it.

use crate::cos_property_service::{
    self as cos, ConstraintNotSupported, PropertyDef, PropertyModeType, PropertySetDefFactory,
    PropertySetDefFactoryRef, PropertySetDefFactoryServant, PropertySetDefRef, PropertySetFactory,
    PropertySetFactoryRef, PropertySetFactoryServant, PropertySetRef, property_set_def_factory,
    property_set_factory,
};
use crate::iterators::{Iterators, Locator};
use crate::set::{Constraints, Held, Property, Set, SetObject, costs};
use crate::store::{
    Change, DEFAULT_MODE, PropertyStore, octets_of_constraints, octets_of_property,
};
use crate::stored::{RemovableSetRef, RemovableSetServant};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use zorb::{
    Any, Error, IdAssignment, IdUniqueness, Orb, Poa, Policies, RequestProcessing,
    ServantRetention, SystemException, SystemExceptionKind, TypeCode,
};

/// The plain key of the factory of sets: `corbaloc::host:11171/PropertySetFactory`.
pub const FACTORY_KEY: &str = "PropertySetFactory";
/// The plain key of the factory of sets with modes.
pub const DEF_FACTORY_KEY: &str = "PropertySetDefFactory";
/// Where the program listens, on this host alone.
pub const DEFAULT_ENDPOINT: &str = "iiop://127.0.0.1:11171";
/// The POA of all objects, whose name is part of all references.
const POA: &str = "properties";
/// The POA of the iterators, which end with the run.
const ITERATORS_POA: &str = "iterators";

/// The limits of a service.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Sets that there may be.
    pub max_sets: usize,
    /// Properties of a set.
    pub max_properties: usize,
    /// Octets of all properties.
    pub max_octets: usize,
    /// Iterators that there may be; beyond it the one that was not used for the longest time is destroyed.
    pub max_iterators: usize,
    /// How long an iterator may be unused.
    pub iterator_idle: Duration,
}

impl Settings {
    /// Sets that there may be unless set.
    pub const MAX_SETS: usize = 100_000;
    /// Properties of a set unless set.
    pub const MAX_PROPERTIES: usize = 100_000;
    /// Octets of all properties unless set.
    pub const MAX_OCTETS: usize = 1024 * 1024 * 1024;
    /// Iterators that there may be unless set.
    pub const MAX_ITERATORS: usize = 10_000;
    /// How long an iterator may be unused unless set.
    pub const ITERATOR_IDLE: Duration = Duration::from_secs(600);
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_sets: Self::MAX_SETS,
            max_properties: Self::MAX_PROPERTIES,
            max_octets: Self::MAX_OCTETS,
            max_iterators: Self::MAX_ITERATORS,
            iterator_idle: Self::ITERATOR_IDLE,
        }
    }
}

/// What the sets of a service share.
pub(crate) struct Shared {
    pub(crate) poa: Poa,
    pub(crate) store: PropertyStore,
    pub(crate) settings: Settings,
    pub(crate) iterators: Arc<Iterators>,
    pub(crate) held: Held,
    /// What the ids of sets begin with, so that a reference of another store or run is to no other set.
    instance: String,
    last: AtomicU64,
    sets: AtomicUsize,
}

impl Shared {
    fn id(&self, set: u64) -> String {
        format!("{}{set}", self.instance)
    }

    /// Takes the object of a set away that is removed.
    pub(crate) fn forget(&self, set: u64) {
        let _ = self.poa.deactivate_object_with_id(self.id(set));
        self.sets.fetch_sub(1, Ordering::Relaxed);
    }

    /// Serves a set, of whose constraints the octets are told.
    fn activate(
        self: &Arc<Self>,
        number: u64,
        constraints: (Constraints, usize),
        properties: BTreeMap<String, Property>,
    ) -> Result<RemovableSetRef, Error> {
        let set = Set::new(Arc::clone(self), number, constraints, properties);
        let servant = RemovableSetServant::new(SetObject(Arc::new(set)));
        self.poa.activate_object_with_id(self.id(number), servant)
    }

    /// Makes a set.
    async fn create(
        self: &Arc<Self>,
        constraints: Constraints,
        properties: BTreeMap<String, Property>,
    ) -> Result<RemovableSetRef, SystemException> {
        if properties.len() > self.settings.max_properties {
            return Err(SystemExceptionKind::NoResources.into());
        }
        let take = |sets: usize| (sets < self.settings.max_sets).then(|| sets.saturating_add(1));
        let (acquire, relaxed) = (Ordering::Relaxed, Ordering::Relaxed);
        let taken = self.sets.fetch_update(acquire, relaxed, take);
        taken.map_err(|_| SystemExceptionKind::NoResources)?;
        let made = self.try_create(constraints, properties).await;
        if made.is_err() {
            self.sets.fetch_sub(1, Ordering::Relaxed);
        }
        made
    }

    async fn try_create(
        self: &Arc<Self>,
        constraints: Constraints,
        properties: BTreeMap<String, Property>,
    ) -> Result<RemovableSetRef, SystemException> {
        let row = octets_of_constraints(&constraints)?;
        let octets_of_row = row.len();
        let octets = costs(&properties).saturating_add(octets_of_row);
        self.held.take(octets, self.settings.max_octets)?;
        let made = async {
            let rows = properties.iter().map(|(name, property)| {
                Ok::<_, SystemException>((name.clone(), octets_of_property(property)?))
            });
            let set = self.last.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            let change = Change::Create {
                set,
                constraints: row,
                properties: rows.collect::<Result<_, _>>()?,
            };
            self.store.change(change).await?;
            Ok(self.activate(set, (constraints, octets_of_row), properties)?)
        };
        let made = made.await;
        if made.is_err() {
            self.held.give_back(octets);
        }
        made
    }
}

/// The servant of both factories.
struct Factory(Arc<Shared>);

/// A property of a client, with the mode that it is to have.
fn initial(def: &PropertyDef) -> (String, Any, Option<PropertyModeType>) {
    let PropertyDef {
        property_name,
        property_value,
        property_mode,
    } = def.clone();
    (property_name, property_value, Some(property_mode))
}

impl PropertySetFactory for Factory {
    async fn create_propertyset(&self) -> Result<Option<PropertySetRef>, SystemException> {
        let none = Constraints::default();
        let made = self.0.create(none, BTreeMap::new()).await?;
        let made: PropertySetDefRef = made.into();
        Ok(Some(made.into()))
    }

    async fn create_constrained_propertyset(
        &self,
        allowed_property_types: &[TypeCode],
        allowed_properties: &[cos::Property],
    ) -> Result<Option<PropertySetRef>, property_set_factory::CreateConstrainedPropertysetError>
    {
        let defs: Vec<_> = allowed_properties
            .iter()
            .map(|one| PropertyDef {
                property_name: one.property_name.clone(),
                property_value: one.property_value.clone(),
                property_mode: DEFAULT_MODE,
            })
            .collect();
        let constraints = Constraints::of_client(allowed_property_types, &defs);
        let constraints = constraints.map_err(|_| ConstraintNotSupported {})?;
        let made = self.0.create(constraints, BTreeMap::new()).await?;
        let made: PropertySetDefRef = made.into();
        Ok(Some(made.into()))
    }

    async fn create_initial_propertyset(
        &self,
        initial_properties: &[cos::Property],
    ) -> Result<Option<PropertySetRef>, property_set_factory::CreateInitialPropertysetError> {
        let constraints = Constraints::default();
        let properties = initial_properties.iter().map(|one| {
            let (name, value) = (one.property_name.clone(), one.property_value.clone());
            (name, value, None)
        });
        let properties = Set::initial(&constraints, properties)?;
        let made = self.0.create(constraints, properties).await?;
        let made: PropertySetDefRef = made.into();
        Ok(Some(made.into()))
    }
}

impl PropertySetDefFactory for Factory {
    async fn create_propertysetdef(&self) -> Result<Option<PropertySetDefRef>, SystemException> {
        let none = Constraints::default();
        Ok(Some(self.0.create(none, BTreeMap::new()).await?.into()))
    }

    async fn create_constrained_propertysetdef(
        &self,
        allowed_property_types: &[TypeCode],
        allowed_property_defs: &[PropertyDef],
    ) -> Result<
        Option<PropertySetDefRef>,
        property_set_def_factory::CreateConstrainedPropertysetdefError,
    > {
        let constraints = Constraints::of_client(allowed_property_types, allowed_property_defs)?;
        let made = self.0.create(constraints, BTreeMap::new()).await?;
        Ok(Some(made.into()))
    }

    async fn create_initial_propertysetdef(
        &self,
        initial_property_defs: &[PropertyDef],
    ) -> Result<Option<PropertySetDefRef>, property_set_def_factory::CreateInitialPropertysetdefError>
    {
        let constraints = Constraints::default();
        let properties = Set::initial(&constraints, initial_property_defs.iter().map(initial))?;
        let made = self.0.create(constraints, properties).await?;
        Ok(Some(made.into()))
    }
}

/// A property service of an ORB. A clone is another handle of it.
///
/// Its sets are persistent objects: references to them are the same octets in each run with the same store, endpoints and
/// server id.
#[derive(Clone)]
pub struct PropertyService {
    shared: Arc<Shared>,
    factory: PropertySetFactoryRef,
    def_factory: PropertySetDefFactoryRef,
}

impl core::fmt::Debug for PropertyService {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PropertyService")
            .field("factory", &self.factory)
            .finish_non_exhaustive()
    }
}

impl PropertyService {
    /// Serves the sets of a store, and makes others. Reads all of them.
    ///
    /// # Errors
    /// The ORB listens nowhere, or has a service already; the store cannot be read.
    pub fn start(orb: &Orb, store: PropertyStore, settings: Settings) -> Result<Self, Error> {
        let policies = Policies::PERSISTENT
            .with_id_assignment(IdAssignment::User)
            .with_id_uniqueness(IdUniqueness::Multiple);
        let poa = orb.root_poa().create_poa_with(POA, policies, None)?;
        let located = Policies::default()
            .with_id_assignment(IdAssignment::User)
            .with_id_uniqueness(IdUniqueness::Multiple)
            .with_servant_retention(ServantRetention::NonRetain)
            .with_request_processing(RequestProcessing::ServantManager);
        let manager = poa.the_poa_manager();
        let iterators_poa = poa.create_poa_with(ITERATORS_POA, located, Some(manager))?;
        let (max, idle) = (settings.max_iterators, settings.iterator_idle);
        let iterators = Arc::new(Iterators::new(iterators_poa.clone(), max, idle));
        iterators_poa.set_servant_locator(Locator(Arc::clone(&iterators)))?;
        let shared = Arc::new(Shared {
            iterators,
            poa: poa.clone(),
            settings,
            held: Held::default(),
            instance: format!("{:016x}.", store.id() >> 64),
            last: AtomicU64::new(0),
            sets: AtomicUsize::new(0),
            store,
        });
        let (all, last) = shared.store.load()?;
        shared.last.store(last, Ordering::Relaxed);
        for kept in all {
            let octets = costs(&kept.properties).saturating_add(kept.constraints.1);
            // What is there stays, also where the limit was higher before.
            let _ = shared.held.take(octets, usize::MAX);
            shared.sets.fetch_add(1, Ordering::Relaxed);
            shared.activate(kept.number, kept.constraints, kept.properties)?;
        }
        let servant = PropertySetFactoryServant::new(Factory(Arc::clone(&shared)));
        let factory = poa.activate_object_with_id(FACTORY_KEY, servant)?;
        let servant = PropertySetDefFactoryServant::new(Factory(Arc::clone(&shared)));
        let def_factory = poa.activate_object_with_id(DEF_FACTORY_KEY, servant)?;
        orb.key_table().bind(FACTORY_KEY, &factory)?;
        orb.key_table().bind(DEF_FACTORY_KEY, &def_factory)?;
        poa.the_poa_manager().activate()?;
        Ok(Self {
            shared,
            factory,
            def_factory,
        })
    }

    /// The factory of sets.
    #[must_use]
    pub fn factory(&self) -> &PropertySetFactoryRef {
        &self.factory
    }

    /// The factory of sets with modes.
    #[must_use]
    pub fn def_factory(&self) -> &PropertySetDefFactoryRef {
        &self.def_factory
    }

    /// Destroys iterators that were not used for [`Settings::iterator_idle`].
    pub fn evict_idle_iterators(&self) {
        self.shared.iterators.evict_idle();
    }

    /// Ends the store, when all that was begun is done.
    ///
    /// # Cancel safety
    /// The store is closed all the same; only the wait ends.
    pub async fn close(&self) {
        self.shared.store.close().await;
    }
}
