//! Operations that map servants to object ids and references, and back.

use super::managers::Servant;
use super::{InterfaceSkeleton, Poa};
use crate::error::Error;
use crate::interface::Interface;
use core::any::Any;
use std::sync::Arc;
use zorb_poa::{AdapterError, ObjectId, Skeleton};

impl Poa {
    /// The id of a servant's object in this POA: the one under which it is active (UNIQUE_ID), a new one under which it
    /// is activated (IMPLICIT_ACTIVATION, as in the root POA), or, for the default servant, that of the request which
    /// is being executed. Servants are compared by their `Arc`, which `AccountServant::from_arc` takes.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] unless the POA has RETAIN with UNIQUE_ID or IMPLICIT_ACTIVATION, or
    /// USE_DEFAULT_SERVANT; [`AdapterError::ServantNotActive`] for an inactive servant without IMPLICIT_ACTIVATION.
    pub fn servant_to_id<S: InterfaceSkeleton + Clone>(
        &self,
        servant: &S,
    ) -> Result<ObjectId, Error> {
        let skeleton: Arc<dyn Skeleton> = Arc::new(servant.clone());
        Ok(self.adapter.servant_to_id(&skeleton)?)
    }

    /// The reference of a servant's object: that of the request inside an upcall on the servant, else by the rules of
    /// [`servant_to_id`](Self::servant_to_id).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use zorb::Orb;
    ///
    /// zorb::idl! { interface Leaf {}; }
    /// struct Green;
    /// impl Leaf for Green {}
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1:0").build_blocking()?;
    /// let poa = orb.root_poa();
    /// let green = Arc::new(Green);
    /// // The root POA activates it, once.
    /// let leaf = poa.servant_to_reference(&LeafServant::from_arc(Arc::clone(&green)))?;
    /// assert_eq!(poa.servant_to_reference(&LeafServant::from_arc(Arc::clone(&green)))?, leaf);
    /// assert!(Arc::ptr_eq(&poa.reference_to_servant::<Green>(&leaf)?, &green));
    /// # orb.shutdown(true)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] outside of such an upcall unless the POA has RETAIN with UNIQUE_ID or IMPLICIT_ACTIVATION;
    /// [`AdapterError::ServantNotActive`]; [`Error::NoEndpoint`].
    #[doc(alias = "_this")]
    pub fn servant_to_reference<S: InterfaceSkeleton<Ref: Interface> + Clone>(
        &self,
        servant: &S,
    ) -> Result<S::Ref, Error> {
        self.check_published()?;
        let skeleton: Arc<dyn Skeleton> = Arc::new(servant.clone());
        let id = self.adapter.servant_to_reference(&skeleton)?;
        let key = self.adapter.key_of(id.as_ref())?;
        self.reference(skeleton.repository_id(), &key)
    }

    /// The servant of the object with this id, as its own type: the active one, else the default servant. Servant
    /// managers are not called.
    ///
    /// # Errors
    /// [`AdapterError::WrongPolicy`] unless the POA has RETAIN or USE_DEFAULT_SERVANT, [`AdapterError::ObjectNotActive`],
    /// [`AdapterError::OtherServant`] if the servant is of another type.
    pub fn id_to_servant<T: Any + Send + Sync>(
        &self,
        id: impl AsRef<[u8]>,
    ) -> Result<Arc<T>, Error> {
        let servant = Servant(self.adapter.id_to_servant(id.as_ref())?);
        Ok(servant.downcast().ok_or(AdapterError::OtherServant)?)
    }

    /// The servant of an object of this POA, as its own type.
    ///
    /// # Errors
    /// [`AdapterError::WrongAdapter`] for references of other POAs, and those of
    /// [`id_to_servant`](Self::id_to_servant).
    pub fn reference_to_servant<T: Any + Send + Sync>(
        &self,
        object: &impl Interface,
    ) -> Result<Arc<T>, Error> {
        self.id_to_servant(self.reference_to_id(object)?)
    }
}
