//! Locks that an ORB makes: `RTCORBA::Mutex`, with and without names.

use super::named_mutexes::MutexNotFound;
use super::rt_orb::RtOrb;
use std::sync::Arc;
use zorb_executor::RtMutex;

/// Mutexes of parts of a program that share nothing but the ORB. A lock around a value is
/// [`executor::RtMutex`](crate::executor::RtMutex) itself, which needs no ORB.
///
/// CORBA's `lock`, `unlock` and `try_lock` are [`RtMutex::lock`], the end of its guard, and [`RtMutex::try_lock_for`]. The
/// specification's misuse of `unlock` cannot be written: code without a guard cannot unlock. A second `lock` by the thread
/// that holds the mutex panics, which clients of an upcall receive as UNKNOWN.
impl RtOrb {
    /// Makes a mutex. It lives as long as its clones: nothing is to be destroyed.
    #[must_use]
    #[doc(alias = "destroy_mutex")]
    pub fn create_mutex(&self) -> Arc<RtMutex<()>> {
        Arc::default()
    }

    /// The mutex of this name, and whether it was made for this call. The ORB keeps it until it is
    /// [destroyed](Self::destroy_named_mutex). TAO's extension.
    #[must_use]
    pub fn create_named_mutex(&self, name: &str) -> (Arc<RtMutex<()>>, bool) {
        self.mutexes().create(name)
    }

    /// The mutex of this name. TAO's extension.
    ///
    /// # Errors
    /// [`MutexNotFound`] if no mutex has this name.
    pub fn open_named_mutex(&self, name: &str) -> Result<Arc<RtMutex<()>>, MutexNotFound> {
        self.mutexes().open(name)
    }

    /// Forgets the mutex of this name, for calls that come later. Clones of the mutex stay valid.
    ///
    /// # Errors
    /// [`MutexNotFound`] if no mutex has this name.
    pub fn destroy_named_mutex(&self, name: &str) -> Result<(), MutexNotFound> {
        self.mutexes().remove(name)
    }
}
