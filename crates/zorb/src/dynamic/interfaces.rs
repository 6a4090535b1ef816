//! The definitions of interfaces, which an interface repository has.

use crate::error::Error;
use crate::interface::RefCodec;
use crate::object::ObjectRef;
use crate::orb::{Orb, OrbInner};
use std::sync::Arc;
use zorb_giop::{CompletionStatus, Fault, Ior, SystemException, SystemExceptionKind, minor};

/// The name of the initial reference.
const REPOSITORY: &str = "InterfaceRepository";

impl ObjectRef {
    /// The `InterfaceDef` of the object's most derived interface, in the interface repository of its server, which may be
    /// nil. The crate `zorb-ifr` has the type of its reference.
    ///
    /// Costs a call. An ORB of zorb answers it for its servants once it has an initial reference `InterfaceRepository`. Source:
    /// CORBA 3.3 Part 1, ORB Interface (`get_interface`).
    ///
    /// # Errors
    /// INTF_REPOS if the server has no repository, or the repository does not have the interface; the exceptions of the call.
    ///
    /// # Cancel safety
    /// Safe: the call has no effect on the object.
    #[doc(alias = "_get_interface")]
    pub async fn get_interface(&self) -> Result<Option<Self>, SystemException> {
        self.invoke::<_, (RefCodec<Self>,), SystemException>("_interface", ())
            .await
    }
}

/// Has `_interface` requests answered by the repository that the initial reference of the ORB leads to.
pub(crate) fn answer_interface_requests(orb: &Arc<OrbInner>) {
    let this = Arc::downgrade(orb);
    orb.adapters().set_interface_source(Box::new(move |id| {
        let orb = this.upgrade().and_then(|orb| orb.handle());
        Box::pin(async move { look_up(orb, &id).await })
    }));
}

async fn look_up(orb: Option<Orb>, id: &str) -> Result<Ior, SystemException> {
    let none = || Fault::NoInterfaceRepository.raise(CompletionStatus::No);
    let orb = orb.ok_or_else(none)?;
    let repository = match orb.resolve_initial_references(REPOSITORY).await {
        Ok(repository) => repository,
        Err(Error::InvalidName { .. }) => return Err(none()),
        Err(error) => return Err(error.into()),
    };
    let found = repository
        .invoke::<_, (RefCodec<ObjectRef>,), SystemException>("lookup_id", (id,))
        .await
        .map_err(|exception| exception.for_caller())?;
    match found {
        Some(definition) => Ok(definition.ior().clone()),
        None => Err(SystemException::new(
            SystemExceptionKind::IntfRepos,
            minor::NO_REPOSITORY_ENTRY,
            CompletionStatus::No,
        )),
    }
}
