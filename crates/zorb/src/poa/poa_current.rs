//! The request in execution: `PortableServer::Current`.

use super::Poa;
use super::managers::Servant;
use super::no_context::NoContext;
use crate::error::Error;
use crate::interface::Interface;
use crate::orb::OrbInner;
use core::any::Any;
use std::sync::Arc;
use zorb_connection::Peer;
use zorb_poa::{ActiveObject, AdapterError, ObjectId, ServerRequest};

/// The object of the request that is being executed, for servants of several objects.
///
/// Valid while the servant's future is polled, also after its awaits, and in servant managers that a request needs. Not
/// valid in a task or on a thread that the servant starts: pass them the POA or the id. Nested upcalls, also collocated
/// ones, have their own. Each operation reads a thread-local.
///
/// Source: CORBA 3.3 Part 1, `PortableServer::Current`.
#[derive(Debug)]
#[non_exhaustive]
#[doc(alias = "POACurrent")]
#[doc(alias = "PortableServer::Current")]
pub enum PoaCurrent {}

impl PoaCurrent {
    /// The POA of the object.
    ///
    /// # Errors
    /// [`NoContext`] outside of upcalls.
    #[doc(alias = "get_POA")]
    pub fn get_poa() -> Result<Poa, NoContext> {
        let adapter = ActiveObject::current(ActiveObject::adapter).flatten();
        let adapter = adapter.ok_or(NoContext)?;
        let owner = adapter.owner().ok_or(NoContext)?;
        let orb = owner.downcast::<OrbInner>().map_err(|_| NoContext)?;
        let orb = orb.handle().ok_or(NoContext)?;
        Ok(Poa { orb, adapter })
    }

    /// The object's id within its POA. Allocates.
    ///
    /// # Errors
    /// [`NoContext`] outside of upcalls.
    pub fn get_object_id() -> Result<ObjectId, NoContext> {
        ActiveObject::current(ActiveObject::id).ok_or(NoContext)
    }

    /// The client of the request: its address, its transport, and who it is as far as the transport knows. `None` for a
    /// collocated call.
    ///
    /// Of the method of a servant alone: a servant that is called by a skeleton written by hand is told by that.
    ///
    /// # Errors
    /// [`NoContext`] outside of servants' methods.
    pub fn get_peer() -> Result<Option<Arc<Peer>>, NoContext> {
        ServerRequest::current(ServerRequest::peer).ok_or(NoContext)
    }

    /// The object's reference, as `_this` in the C++ mapping. Its type `T` is not checked against the object. Allocates the
    /// reference and its key.
    ///
    /// # Errors
    /// [`Error::NoContext`] outside of upcalls; [`Error::Adapter`] if the POA has been destroyed meanwhile; the errors of
    /// [`Poa::create_reference_with_id`](crate::Poa::create_reference_with_id) otherwise.
    #[doc(alias = "_this")]
    pub fn get_reference<T: Interface>() -> Result<T, Error> {
        let poa = Self::get_poa()?;
        let id = Self::get_object_id()?;
        let key = poa.adapter.key_of(id.as_ref())?;
        let type_id = ActiveObject::current(|object| object.type_id().to_owned());
        let type_id = type_id.filter(|id| !id.is_empty());
        poa.reference(type_id.as_deref().unwrap_or(T::REPOSITORY_ID), &key)
    }

    /// The servant, as its own type.
    ///
    /// # Errors
    /// [`Error::NoContext`] outside of upcalls, and in servant managers, where there is no servant yet;
    /// [`AdapterError::OtherServant`] if it is of another type.
    pub fn get_servant<T: Any + Send + Sync>() -> Result<Arc<T>, Error> {
        let skeleton = ActiveObject::current(|object| object.skeleton().cloned());
        let servant = Servant(skeleton.flatten().ok_or(NoContext)?);
        Ok(servant.downcast().ok_or(AdapterError::OtherServant)?)
    }
}
