#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]

mod label;
mod load;
mod node;
mod read;
mod store;
mod types;

/// The interfaces of the repository: module `CORBA` of its IDL.
#[zorb::idl_file("idl/ir.idl")]
pub mod ir {}

pub use read::{MAX_CONTAINERS, ReadError, read};
pub use store::MAX_DEFINITIONS;

use ir::corba::{ContainedRef, RepositoryRef};
use load::Loader;
use node::Locator;
use std::sync::{Arc, PoisonError, RwLock};
use store::{ROOT, Store};
use zorb::{
    Error, IdUniqueness, Orb, Poa, Policies, RequestProcessing, ServantRetention, SystemException,
};
use zorb_dynamic::IdlTypes;

/// An interface repository, whose objects an ORB serves.
///
/// It is filled from IDL, and by the operations of its objects. Reading takes turns with writing. A clone is the same repository.
///
/// Source: CORBA 3.3 Part 1, The Interface Repository.
#[derive(Clone)]
pub struct InterfaceRepository {
    store: Arc<RwLock<Store>>,
    poa: Poa,
}

/// The POA of the repository, and the initial reference.
pub const NAME: &str = "InterfaceRepository";

impl InterfaceRepository {
    /// Makes an empty repository, whose objects are in a child POA of the root POA. Its references are valid again in another run
    /// of a server at the same endpoint with the same definitions. Servants of the ORB answer `_get_interface` by it once it is the
    /// initial reference [`NAME`] of the ORB ([`Orb::register_initial_reference`]).
    ///
    /// # Errors
    /// Those of [`Poa::create_poa_with`], such as when there is a repository already; [`Error::NoEndpoint`].
    pub fn new(orb: &Orb) -> Result<Self, Error> {
        let root = orb.root_poa();
        let policies = Policies::PERSISTENT
            .with_servant_retention(ServantRetention::NonRetain)
            .with_id_uniqueness(IdUniqueness::Multiple)
            .with_request_processing(RequestProcessing::ServantManager);
        let poa = root.create_poa_with(NAME, policies, Some(root.the_poa_manager()))?;
        let store = Arc::new(RwLock::new(Store::new()));
        poa.set_servant_locator(Locator(Arc::clone(&store)))?;
        Ok(Self { store, poa })
    }

    /// Adds all definitions of some IDL. Those whose repository ids are there already, such as those of a file that several
    /// files include, are not read again. Definitions with a type that CORBA has no TypeCode of are left out.
    ///
    /// # Errors
    /// BAD_PARAM for two definitions with one name and other ids; IMP_LIMIT beyond [`MAX_DEFINITIONS`].
    pub fn add(&self, types: &IdlTypes) -> Result<(), SystemException> {
        let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
        Loader::load(&mut store, types)
    }

    /// The reference of the repository itself.
    ///
    /// # Errors
    /// [`Error::NoEndpoint`] when the ORB listens nowhere.
    pub fn reference(&self) -> Result<RepositoryRef, Error> {
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        Ok(node::reference(&self.poa, &store, ROOT)?)
    }

    /// The reference of the definition with this repository id; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::NoEndpoint`] when the ORB listens nowhere.
    pub fn lookup_id(&self, repository_id: &str) -> Result<Option<ContainedRef>, Error> {
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        let found = store.by_id(repository_id);
        let reference = found.map(|key| node::reference(&self.poa, &store, key));
        Ok(reference.transpose()?)
    }
}

impl core::fmt::Debug for InterfaceRepository {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("InterfaceRepository")
            .finish_non_exhaustive()
    }
}
