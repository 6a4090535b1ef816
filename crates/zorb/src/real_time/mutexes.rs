//! Mutexes that an ORB makes: `RTCORBA::Mutex`, with and without names.

use super::named_mutexes::MutexNotFound;
use super::rt_orb::RtOrb;
use std::sync::Arc;
use zorb_executor::RtMutex;

/// Mutexes for parts of a program that share the ORB alone. [`executor::RtMutex`](crate::executor::RtMutex) locks a
/// value, and needs no ORB.
///
/// CORBA's `lock`, `unlock` and `try_lock` are [`RtMutex::lock`], dropping its guard, and [`RtMutex::try_lock_for`].
/// Code without a guard cannot unlock, which rules out the misuse that the specification describes. A second `lock` by
/// the thread that holds the mutex panics: UNKNOWN at the client of an upcall.
impl RtOrb {
    /// Makes a mutex. It lives as long as its clones, so `destroy_mutex` has no counterpart.
    ///
    /// Source: Real-time CORBA 1.2, section 5.10.
    #[must_use]
    #[doc(alias = "destroy_mutex")]
    pub fn create_mutex(&self) -> Arc<RtMutex<()>> {
        Arc::default()
    }

    /// The mutex of this name, and whether this call has made it. The ORB keeps it until it is
    /// [destroyed](Self::destroy_named_mutex). An extension of TAO.
    #[must_use]
    pub fn create_named_mutex(&self, name: &str) -> (Arc<RtMutex<()>>, bool) {
        self.mutexes().create(name)
    }

    /// The mutex of this name. An extension of TAO.
    ///
    /// # Errors
    /// [`MutexNotFound`] if no mutex has this name.
    pub fn open_named_mutex(&self, name: &str) -> Result<Arc<RtMutex<()>>, MutexNotFound> {
        self.mutexes().open(name)
    }

    /// Removes the name of a mutex; clones of the mutex stay valid. An extension of TAO.
    ///
    /// # Errors
    /// [`MutexNotFound`] if no mutex has this name.
    pub fn destroy_named_mutex(&self, name: &str) -> Result<(), MutexNotFound> {
        self.mutexes().remove(name)
    }
}
