//! Marks of servants: that they block, and that their upcalls may be dropped. The skeleton passes calls on; `serve` and `poa` read
//! the marks (`Skeleton::blocks`, `Skeleton::drops_cancelled`).

use crate::poa::InterfaceSkeleton;
use core::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use zorb_poa::{Operations, ServerRequest, Skeleton, Started};

/// A servant whose operations block: they read files, query a database without async, or compute for long.
///
/// A servant runs where its request was read, on a worker of the runtime that serves other connections too. A servant
/// that blocks there keeps them waiting. `Blocking` at activation runs its upcalls on other threads:
///
/// ```
/// # use zorb::{Blocking, Error, Poa, SystemException};
/// zorb::idl! {
///     interface Archive { string read(in string name); };
/// }
/// struct Files;
/// impl Archive for Files {
///     async fn read(&self, name: &str) -> Result<String, SystemException> {
///         Ok(std::fs::read_to_string(name).unwrap_or_default())
///     }
/// }
/// # fn f(poa: &Poa) -> Result<(), Error> {
/// let archive = poa.activate(Blocking(ArchiveServant::new(Files)))?;
/// # Ok(()) }
/// ```
///
/// Each upcall runs, from its beginning to its end, on a thread of tokio's blocking pool (512 of them unless the
/// runtime was built with other `max_blocking_threads`; further upcalls wait). The hand-over costs some 10 µs a call. A
/// one-way request begins when the previous one of its connection has ended. Calls from the same ORB block the caller's
/// thread until the servant awaits, and go on as tasks: threads that wait for each other could use up those of the pool. Under [`build_blocking`](crate::Builder::build_blocking) every connection has a thread, so `Blocking` has no
/// effect.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a word around a servant"
)]
pub struct Blocking<S>(pub S);

/// A servant whose upcalls end when nobody waits for their results any more: the client has cancelled the request
/// (CancelRequest), its connection has ended, or its deadline has passed.
///
/// An upcall goes on to its end otherwise, as in every ORB: a client that has given up may still rely on what the operation
/// does, and a servant that was written for threads does not expect to end between two of its lines. `Cancellable` at activation
/// drops the upcall at its current await instead, as Rust futures are cancelled: suited to servants that only read, or that clean up
/// by `Drop`. The [policy of the POA](crate::CancelledUpcalls) does it for all servants of a POA.
///
/// ```
/// # use zorb::{Cancellable, Error, Poa, SystemException};
/// zorb::idl! {
///     interface Search { string find(in string pattern); };
/// }
/// struct Index;
/// impl Search for Index {
///     async fn find(&self, pattern: &str) -> Result<String, SystemException> {
///         // Dropped here, if the client gives up.
///         tokio::task::yield_now().await;
///         Ok(pattern.to_owned())
///     }
/// }
/// # fn f(poa: &Poa) -> Result<(), Error> {
/// let search = poa.activate(Cancellable(SearchServant::new(Index)))?;
/// # Ok(()) }
/// ```
///
/// A deadline that passes is TIMEOUT, COMPLETED_MAYBE, for the client; the other two get no reply. Upcalls that block their thread
/// end where they return, one-way requests where they end, and the first request to an object of a servant manager goes on.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a word around a servant"
)]
pub struct Cancellable<S>(pub S);

/// A skeleton around another one, which has a mark and passes on all else.
macro_rules! marked {
    ($marked:ident has $mark:ident, passes on $other:ident) => {
        impl<S: InterfaceSkeleton> InterfaceSkeleton for $marked<S> {
            type Ref = S::Ref;
        }

        impl<S: Skeleton> Skeleton for $marked<S> {
            fn repository_id(&self) -> &str {
                self.0.repository_id()
            }

            fn interface_of_current(&self) -> Cow<'_, str> {
                self.0.interface_of_current()
            }

            fn is_a(&self, repository_id: &str) -> bool {
                self.0.is_a(repository_id)
            }

            fn start(&self, request: ServerRequest) -> Started {
                self.0.start(request)
            }

            fn answers_every_operation(&self) -> bool {
                self.0.answers_every_operation()
            }

            fn operations(&self) -> &'static Operations {
                self.0.operations()
            }

            fn servant(&self) -> Option<Arc<dyn Any + Send + Sync>> {
                self.0.servant()
            }

            fn $mark(&self) -> bool {
                true
            }

            fn $other(&self) -> bool {
                self.0.$other()
            }
        }
    };
}

marked!(Blocking has blocks, passes on drops_cancelled);
marked!(Cancellable has drops_cancelled, passes on blocks);
