//! POA managers: whether requests are served, held, discarded or refused.

use crate::managers::Watcher;
use crate::sync::{AtomicBool, AtomicU8, Mutex, MutexGuard, OnceLock, Ordering};
use core::fmt;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, Weak};
use zorb_giop::{CompletionStatus, Fault, SystemException};
use zorb_shares::{Counts, Full, HostKey};

/// The state of a POA manager, which decides on new requests: they are held, served, discarded or refused. Executing
/// requests continue in every state.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::POAManager::State`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum PoaManagerState {
    Holding = 0,
    Active = 1,
    Discarding = 2,
    Inactive = 3,
}

/// The error of changing the state of a manager that is INACTIVE, which is final.
///
/// Source: CORBA 3.3 Part 1, The Portable Object Adapter (`PortableServer::POAManager::AdapterInactive`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the POA manager is inactive, which is final")]
pub struct AdapterInactive;

/// The error of a change of state that waits for completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// The manager is INACTIVE.
    #[error(transparent)]
    Inactive(#[from] AdapterInactive),
    /// The call came from an upcall of the same ORB, which would deadlock. The state has not changed. In the
    /// specification this is BAD_INV_ORDER.
    #[error("waiting for completion inside an upcall would deadlock")]
    WithinUpcall,
}

/// OBJ_ADAPTER, COMPLETED_NO.
impl From<AdapterInactive> for SystemException {
    fn from(_: AdapterInactive) -> Self {
        Fault::Inactive.raise(CompletionStatus::No)
    }
}

/// BAD_INV_ORDER within an upcall, OBJ_ADAPTER for an inactive manager; COMPLETED_NO.
impl From<ManagerError> for SystemException {
    fn from(error: ManagerError) -> Self {
        match error {
            ManagerError::Inactive(inactive) => inactive.into(),
            ManagerError::WithinUpcall => {
                (Fault::WouldDeadlock.raise(CompletionStatus::No)).with_local_detail(error)
            }
        }
    }
}

/// An adapter as its manager uses it.
pub(crate) trait Controlled: Send + Sync {
    /// Notes the upcalls in progress, for which [`poll_completed`](Self::poll_completed) waits.
    fn begin_to_wait(&self);
    /// Ready when the noted upcalls have ended.
    fn poll_completed(&self, waker: &Waker) -> Poll<()>;
    /// Removes all objects, and has the servant activator etherealize them, if there is one.
    fn etherealize_all(&self);
    /// Whether this thread is polling an upcall of the adapter's ORB.
    fn executes_here(&self) -> bool;
}

/// Controls the processing state of the adapters it was made with.
///
/// A request reads the state by one atomic load. Source: CORBA 3.3 Part 1, The Portable Object Adapter
/// (`PortableServer::POAManager`).
#[derive(Default)]
pub struct PoaManager {
    state: AtomicU8,
    /// The id by which the factory finds it.
    id: OnceLock<String>,
    adapters: Mutex<Vec<Weak<dyn Controlled>>>,
    /// Tasks that wait for completion, which are woken when the state changes.
    watching: Mutex<Vec<Waker>>,
    held_requests: Mutex<HeldRequests>,
    /// Whether the application has chosen a state, or was warned that it has not.
    minded: AtomicBool,
    /// Told of its states; that of all managers of an ORB.
    watcher: OnceLock<Arc<OnceLock<Watcher>>>,
}

/// The held requests: their wakers, by numbers in the order of arrival. A request without a waker was woken, and has yet to
/// check the state.
struct HeldRequests {
    next: u64,
    wakers: BTreeMap<u64, Option<Waker>>,
    /// Their places, by the hosts of their clients.
    places: Counts,
}

impl Default for HeldRequests {
    fn default() -> Self {
        Self {
            next: 0,
            wakers: BTreeMap::new(),
            places: Counts::new(PoaManager::MAX_HELD_REQUESTS),
        }
    }
}

/// The outcome of polling a held request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoldOutcome {
    /// The present state. If it is HOLDING, another condition has to be checked.
    Changed(PoaManagerState),
    /// The limit on held requests is reached, in all or for this host.
    Full(Full),
}

/// The place of one request among the held ones, which is free when this is dropped.
pub(crate) struct HoldTicket<'a> {
    manager: &'a PoaManager,
    host: HostKey,
    number: Option<u64>,
}

impl HoldTicket<'_> {
    /// Ready once the state is not HOLDING, or the manager has woken its held requests.
    pub(crate) fn poll_changed(&mut self, waker: &Waker) -> Poll<HoldOutcome> {
        let mut held_requests = self.manager.held_requests();
        let state = self.manager.state();
        if state != PoaManagerState::Holding {
            return Poll::Ready(HoldOutcome::Changed(state));
        }
        let Some(number) = self.number else {
            if let Err(full) = held_requests.places.take(self.host, 1) {
                return Poll::Ready(HoldOutcome::Full(full));
            }
            let number = held_requests.next;
            held_requests.next = held_requests.next.wrapping_add(1);
            held_requests.wakers.insert(number, Some(waker.clone()));
            drop(held_requests);
            self.number = Some(number);
            // A state change from here on wakes this waiter; an earlier one is checked next.
            return Poll::Ready(HoldOutcome::Changed(state));
        };
        match held_requests.wakers.get_mut(&number) {
            Some(Some(parked)) => {
                parked.clone_from(waker);
                Poll::Pending
            }
            Some(woken) => {
                *woken = Some(waker.clone());
                Poll::Ready(HoldOutcome::Changed(state))
            }
            None => Poll::Ready(HoldOutcome::Changed(state)),
        }
    }
}

impl Drop for HoldTicket<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let mut held_requests = self.manager.held_requests();
            held_requests.wakers.remove(&number);
            held_requests.places.give_back(self.host, 1);
        }
    }
}

impl PoaManager {
    /// The limit on requests held in the HOLDING state, of which a quarter is kept for hosts that have few; further requests
    /// get TRANSIENT.
    pub const MAX_HELD_REQUESTS: usize = 1024;

    /// Makes a manager in the HOLDING state, without adapters.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the present state, which another thread may change at any time. Costs an atomic load.
    #[must_use]
    #[doc(alias = "get_state")]
    #[inline]
    pub fn state(&self) -> PoaManagerState {
        match self.state.load(Ordering::Acquire) {
            0 => PoaManagerState::Holding,
            1 => PoaManagerState::Active,
            2 => PoaManagerState::Discarding,
            _ => PoaManagerState::Inactive,
        }
    }

    fn change(&self, to: PoaManagerState) -> Result<(), AdapterInactive> {
        // Pairs with the Acquire in `state`.
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |from| {
                (from != PoaManagerState::Inactive as u8).then_some(to as u8)
            })
            .map_err(|_| AdapterInactive)?;
        self.minded.store(true, Ordering::Relaxed);
        self.wake_held();
        let watching = core::mem::take(&mut *self.watching());
        watching.into_iter().for_each(Waker::wake);
        if let Some(watcher) = self.watcher.get().and_then(|watcher| watcher.get()) {
            watcher(self.id(), to);
        }
        Ok(())
    }

    /// Whether the first request is held and the application has not chosen a state yet: probably the program lacks a call of
    /// [`activate`](Self::activate). Returns `true` once.
    #[must_use]
    pub fn looks_forgotten(&self) -> bool {
        self.state() == PoaManagerState::Holding && !self.minded.swap(true, Ordering::Relaxed)
    }

    /// Wakes every held request, which then checks the state and its adapter again.
    pub(crate) fn wake_held(&self) {
        let wakers: Vec<Waker> = self
            .held_requests()
            .wakers
            .values_mut()
            .filter_map(Option::take)
            .collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// A place among the held requests for a client of this host, which is taken at the first poll.
    pub(crate) fn hold(&self, host: HostKey) -> HoldTicket<'_> {
        HoldTicket {
            manager: self,
            host,
            number: None,
        }
    }

    fn watching(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id among the managers of the ORB, `RootPOAManager` for that of the root POA. Empty before a POA uses the manager.
    #[must_use]
    #[doc(alias = "get_id")]
    pub fn id(&self) -> &str {
        self.id.get().map_or("", String::as_str)
    }

    /// Gives it an id, unless it has one.
    pub(crate) fn set_id(&self, id: impl FnOnce() -> String) {
        self.id.get_or_init(id);
    }

    /// Adds an adapter to the manager.
    pub(crate) fn set_watcher(&self, watcher: &Arc<OnceLock<Watcher>>) {
        // The first ORB that the manager is of.
        let _ = self.watcher.set(Arc::clone(watcher));
    }

    pub(crate) fn control(&self, adapter: Weak<dyn Controlled>) {
        let mut adapters = self.adapters.lock().unwrap_or_else(PoisonError::into_inner);
        // Remove dropped adapters before the list grows.
        if adapters.len() == adapters.capacity() {
            adapters.retain(|adapter| adapter.strong_count() > 0);
        }
        adapters.push(adapter);
    }

    fn controlled(&self) -> Vec<Arc<dyn Controlled>> {
        let adapters = self.adapters.lock().unwrap_or_else(PoisonError::into_inner);
        adapters.iter().filter_map(Weak::upgrade).collect()
    }

    /// Changes the state, and waits until the executing requests have ended, or the state is changed again.
    async fn change_and_wait(
        &self,
        to: PoaManagerState,
        etherealize_objects: bool,
    ) -> Result<(), ManagerError> {
        let adapters = self.controlled();
        if adapters.iter().any(|adapter| adapter.executes_here()) {
            return Err(ManagerError::WithinUpcall);
        }
        match (self.change(to), to) {
            // To deactivate an inactive manager is no error.
            (Err(_), PoaManagerState::Inactive) | (Ok(()), _) => {}
            (Err(inactive), _) => return Err(inactive.into()),
        }
        for adapter in &adapters {
            if etherealize_objects {
                adapter.etherealize_all();
            }
            adapter.begin_to_wait();
        }
        poll_fn(|cx| {
            self.watching().push(cx.waker().clone());
            if self.state() != to {
                return Poll::Ready(());
            }
            let mut adapters = adapters.iter();
            match adapters.all(|adapter| adapter.poll_completed(cx.waker()).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        Ok(())
    }

    /// Holds new requests as [`hold_requests`](Self::hold_requests), and waits until the executing requests have ended, or the
    /// state is changed again.
    ///
    /// Costs a walk over the active objects of the POAs.
    ///
    /// # Errors
    /// [`ManagerError::Inactive`] if the manager is inactive, [`ManagerError::WithinUpcall`] inside an upcall of the ORB.
    ///
    /// # Cancel safety
    /// Safe: the state changes at the first poll, and dropping the future only ends the wait.
    pub async fn hold_requests_and_wait(&self) -> Result<(), ManagerError> {
        self.change_and_wait(PoaManagerState::Holding, false).await
    }

    /// Discards new requests as [`discard_requests`](Self::discard_requests), and waits until the executing requests have
    /// ended, or the state is changed again.
    ///
    /// Costs a walk over the active objects of the POAs.
    ///
    /// # Errors
    /// [`ManagerError::Inactive`] if the manager is inactive, [`ManagerError::WithinUpcall`] inside an upcall of the ORB.
    ///
    /// # Cancel safety
    /// Safe: the state changes at the first poll, and dropping the future only ends the wait.
    pub async fn discard_requests_and_wait(&self) -> Result<(), ManagerError> {
        self.change_and_wait(PoaManagerState::Discarding, false)
            .await
    }

    /// Refuses new requests as [`deactivate_with`](Self::deactivate_with), and waits until the executing requests have ended
    /// and objects have been etherealized.
    ///
    /// # Errors
    /// [`ManagerError::WithinUpcall`] inside an upcall of the ORB.
    ///
    /// # Cancel safety
    /// Safe: the state changes at the first poll, and dropping the future only ends the wait.
    pub async fn deactivate_and_wait(&self, etherealize_objects: bool) -> Result<(), ManagerError> {
        self.change_and_wait(PoaManagerState::Inactive, etherealize_objects)
            .await
    }

    /// Refuses new requests as [`deactivate`](Self::deactivate). With `etherealize_objects`, POAs with servant activators
    /// etherealize their active objects, each when its last request has ended.
    pub fn deactivate_with(&self, etherealize_objects: bool) {
        self.deactivate();
        if etherealize_objects {
            for adapter in self.controlled() {
                adapter.etherealize_all();
            }
        }
    }

    fn held_requests(&self) -> MutexGuard<'_, HeldRequests> {
        self.held_requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves requests, including held ones. Held requests of one connection begin in the order in which they came, before
    /// requests that come on it from now on.
    ///
    /// # Errors
    /// [`AdapterInactive`] if the manager is INACTIVE.
    pub fn activate(&self) -> Result<(), AdapterInactive> {
        self.change(PoaManagerState::Active)
    }

    /// Holds new requests, up to [`MAX_HELD_REQUESTS`](Self::MAX_HELD_REQUESTS) of them.
    ///
    /// # Errors
    /// [`AdapterInactive`] if the manager is INACTIVE.
    pub fn hold_requests(&self) -> Result<(), AdapterInactive> {
        self.change(PoaManagerState::Holding)
    }

    /// Discards new requests, with TRANSIENT.
    ///
    /// # Errors
    /// [`AdapterInactive`] if the manager is INACTIVE.
    pub fn discard_requests(&self) -> Result<(), AdapterInactive> {
        self.change(PoaManagerState::Discarding)
    }

    /// Refuses new requests for good, with OBJ_ADAPTER. Does nothing if the manager is INACTIVE already.
    pub fn deactivate(&self) {
        let _ = self.change(PoaManagerState::Inactive);
    }
}

impl fmt::Debug for PoaManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoaManager")
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    #[test]
    fn a_manager_begins_holding_and_ends_inactive() {
        let manager = PoaManager::new();
        assert_eq!(manager.state(), PoaManagerState::Holding);
        let mut place = manager.hold(HostKey::THIS_PROCESS);
        assert_eq!(
            place.poll_changed(Waker::noop()),
            Poll::Ready(HoldOutcome::Changed(PoaManagerState::Holding))
        );
        assert!(place.poll_changed(Waker::noop()).is_pending());
        manager.activate().unwrap();
        assert_eq!(
            place.poll_changed(Waker::noop()),
            Poll::Ready(HoldOutcome::Changed(PoaManagerState::Active))
        );
        manager.discard_requests().unwrap();
        manager.hold_requests().unwrap();
        manager.deactivate();
        assert_eq!(manager.activate(), Err(AdapterInactive));
        assert_eq!(manager.state(), PoaManagerState::Inactive);
    }

    #[test]
    fn a_manager_left_holding_is_reported_once() {
        let forgotten = PoaManager::new();
        assert!(forgotten.looks_forgotten() && !forgotten.looks_forgotten());
        let minded = PoaManager::new();
        minded.hold_requests().unwrap();
        assert!(!minded.looks_forgotten());
    }

    #[test]
    fn held_requests_are_bounded_by_host_and_counted_once_each() {
        let manager = PoaManager::new();
        struct Nothing;
        impl std::task::Wake for Nothing {
            fn wake(self: Arc<Self>) {}
        }
        let waker = || Waker::from(Arc::new(Nothing));
        let is_full = |host| {
            let polled = manager.hold(host).poll_changed(&waker());
            matches!(polled, Poll::Ready(HoldOutcome::Full(_)))
        };
        let (host, other) = (HostKey::unique(), HostKey::unique());
        let share = PoaManager::MAX_HELD_REQUESTS - PoaManager::MAX_HELD_REQUESTS / 4;
        let mut places: Vec<_> = (0..share).map(|_| manager.hold(host)).collect();
        // A place counts once, however often and by whichever task it is polled.
        for _ in 0..3 {
            for place in &mut places {
                let polled = place.poll_changed(&waker());
                assert!(!matches!(polled, Poll::Ready(HoldOutcome::Full(_))));
            }
        }
        assert!(is_full(host));
        assert!(!is_full(other), "another host");
        // A cancelled request makes room.
        places.pop();
        assert!(!is_full(host));
        drop(places);
        assert_eq!(manager.held_requests().places.taken(), 0);
    }
}
