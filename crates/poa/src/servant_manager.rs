//! The interfaces by which an adapter calls servant activators, servant locators and adapter activators.

use crate::deactivation::DeactivationGuard;
use crate::identity::Identity;
use crate::key::ObjectId;
use crate::request::ServerRequest;
use crate::skeleton::{Skeleton, Started};
use core::any::Any;
use core::fmt;
use core::pin::Pin;
use std::sync::Arc;
use zorb_giop::{Ior, SystemException};

/// A boxed future that can be polled on any thread.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A function that runs a blocking upcall on a thread that may block, and returns its request with the outcome.
pub type OffReactor = Box<dyn Fn(Boxed<ServerRequest>) -> Boxed<ServerRequest> + Send + Sync>;

/// A function that finds the reference of the definition of an interface, by its repository id, in an interface repository.
pub type InterfaceSource = Box<dyn Fn(String) -> Boxed<Result<Ior, SystemException>> + Send + Sync>;

/// The exception of a servant manager.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (servant managers, `PortableServer::ForwardRequest`).
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum Raised {
    /// A system exception, which the caller gets.
    System(SystemException),
    /// `ForwardRequest`: the caller is forwarded to this reference.
    Forward(Ior),
}

impl From<SystemException> for Raised {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// The result of a successful [`Activator::incarnate`].
#[expect(clippy::exhaustive_enums, reason = "there is nothing in between")]
pub enum Incarnated {
    /// The servant, which the adapter activates under the requested id.
    Servant(Arc<dyn Skeleton>),
    /// The activator has activated the object itself, or has put a forward in its place. If it has done neither, the request
    /// is OBJECT_NOT_EXIST.
    ByItself,
}

impl fmt::Debug for Incarnated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Servant(_) => "Servant",
            Self::ByItself => "ByItself",
        })
    }
}

/// The future of [`Activator::incarnate`].
pub type Incarnation = Boxed<Result<Incarnated, Raised>>;

/// A servant activator, which activates objects when they are called (RETAIN).
///
/// Source: CORBA 3.3 Part 1, `PortableServer::ServantActivator`.
pub trait Activator: Send + Sync {
    /// Incarnates the object with this id, within the upcall that needs the object. Calls for one id do not overlap.
    fn incarnate(&self, id: ObjectId) -> Incarnation;

    /// Begins to etherealize an object that has left the active object map, and whose last upcall has ended. The id can be
    /// used again once `object` is dropped. Must not block.
    fn etherealize(&self, object: Etherealization);
}

/// An object to be etherealized: the arguments of `PortableServer::ServantActivator::etherealize`.
pub struct Etherealization {
    /// The id of the object.
    pub id: ObjectId,
    /// The servant, which the activator owns from now on.
    pub servant: Arc<dyn Skeleton>,
    /// Whether the adapter is being destroyed, or its manager deactivated; false for a deactivation of the object alone.
    pub cleanup_in_progress: bool,
    /// Whether the servant is still active in this adapter, for other ids.
    pub remaining_activations: bool,
    /// Keeps the adapter alive.
    pub(crate) _adapter: Arc<dyn Any + Send + Sync>,
    /// Keeps the id taken.
    pub(crate) guard: DeactivationGuard,
}

impl Etherealization {
    /// Waits for the upcalls of an earlier entry of the object, which a wait for completion of its manager has replaced.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing, and can be repeated.
    pub async fn upcalls_ended(&self) {
        self.guard.is_last().await;
    }
}

impl fmt::Debug for Etherealization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etherealization")
            .field("id", &self.id)
            .field("cleanup_in_progress", &self.cleanup_in_progress)
            .field("remaining_activations", &self.remaining_activations)
            .finish_non_exhaustive()
    }
}

/// A servant locator, which finds the servant of each request (NON_RETAIN).
///
/// Both operations are called within the upcall of their request, for several requests at the same time.
///
/// Source: CORBA 3.3 Part 1, `PortableServer::ServantLocator`.
pub trait Locator: Send + Sync + 'static {
    /// The data that `preinvoke` passes to `postinvoke`.
    type Cookie: Send + 'static;

    /// Finds the servant for one request.
    fn preinvoke(
        &self,
        id: &ObjectId,
        operation: &str,
    ) -> impl Future<Output = Result<(Arc<dyn Skeleton>, Self::Cookie), Raised>> + Send;

    /// Runs when the operation has ended, even by an exception or a panic. An exception of `postinvoke` replaces the result.
    fn postinvoke(
        &self,
        id: &ObjectId,
        operation: &str,
        cookie: Self::Cookie,
        servant: Arc<dyn Skeleton>,
    ) -> impl Future<Output = Result<(), SystemException>> + Send;
}

/// A type-erased [`Locator`], for adapters of type `A`. The whole sequence of a request is one future of a type of the
/// locator, so that an upcall needs one box for it.
pub(crate) trait AnyLocator<A>: Send + Sync {
    /// Begins the upcall of a request whose servant the locator finds.
    fn upcall(
        self: Arc<Self>,
        adapter: &Arc<A>,
        identity: &Identity,
        request: ServerRequest,
    ) -> Started;
}

/// An adapter activator, which makes missing adapters on demand.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::AdapterActivator`).
pub trait AdapterActivator: Send + Sync {
    /// Makes the child of this name and returns `true`, or returns `false` if there is none. Calls for one name do not overlap.
    fn unknown_adapter(&self, name: String) -> Boxed<Result<bool, SystemException>>;
}
