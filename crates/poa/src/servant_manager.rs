//! Servant managers, as an adapter calls them: activators and locators.

use crate::identity::Identity;
use crate::key::ObjectId;
use crate::leaving::Departure;
use crate::request::{Outcome, Request};
use crate::skeleton::{Skeleton, Upcall};
use core::any::Any;
use core::fmt;
use core::pin::Pin;
use std::sync::Arc;
use zorb_giop::{Ior, SystemException};

/// A future in a box.
pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Runs an upcall that blocks on a thread that may block, and returns its outcome.
pub type OffReactor = Box<dyn Fn(Boxed<Outcome>) -> Boxed<Outcome> + Send + Sync>;

/// The exception of a servant manager.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these and no others"
)]
pub enum Raised {
    /// A system exception, which the caller gets.
    System(SystemException),
    /// `ForwardRequest`: the caller is sent on to this reference.
    Forward(Ior),
}

impl From<SystemException> for Raised {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// The future of [`Activator::incarnate`].
#[expect(clippy::exhaustive_enums, reason = "there is nothing in between")]
pub enum Incarnated {
    /// The servant, which the adapter activates under the id that was asked for.
    Servant(Arc<dyn Skeleton>),
    /// The activator has activated the object itself, has put a forward in its place, or has done nothing: then there is no
    /// such object.
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

/// The result of [`Activator::incarnate`].
pub type Incarnation = Boxed<Result<Incarnated, Raised>>;

/// A servant activator: activates objects when they are called (RETAIN).
pub trait Activator: Send + Sync {
    /// Incarnates the object with this id. Called for one id at a time only once at a time, within the upcall that
    /// needs the object.
    fn incarnate(&self, id: ObjectId) -> Incarnation;

    /// Begins to etherealize an object that has left the active object map, and whose last upcall has ended. The id can be
    /// used again when `object` is dropped. Must not block.
    fn etherealize(&self, object: Etherealization);
}

/// An object to be etherealized.
pub struct Etherealization {
    /// Its id.
    pub id: ObjectId,
    /// Its servant, which the activator owns from now on.
    pub servant: Arc<dyn Skeleton>,
    /// Whether the adapter is being destroyed, or its manager deactivated.
    pub cleanup_in_progress: bool,
    /// Whether the servant is still active in this adapter, for other ids.
    pub remaining_activations: bool,
    /// The adapter is alive as long as this is.
    pub(crate) _adapter: Arc<dyn Any + Send + Sync>,
    /// The id is free when it is dropped.
    pub(crate) departure: Departure,
}

impl Etherealization {
    /// Waits for upcalls on the object that its manager has waited for: their entry has left the map before this one.
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn upcalls_ended(&self) {
        self.departure.is_last().await;
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

/// A servant locator: finds the servant of each request (NON_RETAIN).
///
/// Both operations are called within the upcall of their request, for several requests at the same time.
pub trait Locator: Send + Sync + 'static {
    /// What `preinvoke` hands on to `postinvoke`.
    type Cookie: Send + 'static;

    /// Finds the servant for one request.
    fn preinvoke(
        &self,
        id: &ObjectId,
        operation: &str,
    ) -> impl Future<Output = Result<(Arc<dyn Skeleton>, Self::Cookie), Raised>> + Send;

    /// Runs when the operation has ended, however. An exception takes the place of its result.
    fn postinvoke(
        &self,
        id: &ObjectId,
        operation: &str,
        cookie: Self::Cookie,
        servant: Arc<dyn Skeleton>,
    ) -> impl Future<Output = Result<(), SystemException>> + Send;
}

/// A [`Locator`] without its type, for adapters of type `A`. The whole sequence of a request is one future of the locator's
/// own type, so that an upcall needs one place for it.
pub(crate) trait AnyLocator<A>: Send + Sync {
    /// The upcall of a request whose servant the locator finds.
    fn upcall(self: Arc<Self>, adapter: &Arc<A>, identity: &Identity, request: Request) -> Upcall;
}

/// An adapter activator: makes adapters when they are looked for.
pub trait AdapterActivator: Send + Sync {
    /// Makes the child of this name, or says that there is none. Called for one name at a time only once at a time.
    fn unknown_adapter(&self, name: String) -> Boxed<Result<bool, SystemException>>;
}
