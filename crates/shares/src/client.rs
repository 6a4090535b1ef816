//! Clients: the host that one comes from, and whether it is still there.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Identifies a host among those that this process serves. The key of a host says nothing about its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostKey(u64);

impl HostKey {
    /// This process, whose calls to its own objects take places as well.
    pub const THIS_PROCESS: Self = Self(0);

    /// Makes a key that no other host of this process has.
    #[must_use]
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // At one host a nanosecond the counter would wrap after five centuries.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Clients of this process that have gone.
static DEPARTURES: AtomicU64 = AtomicU64::new(0);

/// Returns how many clients of this process have gone: who has looked for places of clients that have gone need not look
/// again before this changes.
#[must_use]
pub fn departures() -> u64 {
    DEPARTURES.load(Ordering::SeqCst)
}

/// A client of a server: one connection, of a host. A clone is the same client, and costs a reference count.
#[derive(Clone)]
pub struct Client {
    state: Arc<State>,
    /// Whether its places outlive it.
    stays: bool,
}

struct State {
    host: HostKey,
    gone: AtomicBool,
    /// Tasks that wait until it has gone.
    waiting: Mutex<Waiting>,
}

/// The wakers of tasks that wait for one event.
#[derive(Default)]
pub(crate) struct Waiting {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Waiting {
    /// Sets the waker of the task with this number, which it gets at its first call.
    pub(crate) fn set(&mut self, number: &mut Option<u64>, waker: &Waker) {
        let number = *number.get_or_insert_with(|| {
            let number = self.next;
            self.next = number.wrapping_add(1);
            number
        });
        self.wakers.insert(number, waker.clone());
    }

    pub(crate) fn remove(&mut self, number: u64) {
        self.wakers.remove(&number);
    }

    /// Takes all wakers.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Waker> + use<> {
        core::mem::take(&mut self.wakers).into_values()
    }
}

impl Client {
    /// Makes a client of a host, which is there.
    #[must_use]
    pub fn new(host: HostKey) -> Self {
        Self {
            state: Arc::new(State {
                host,
                gone: AtomicBool::new(false),
                waiting: Mutex::default(),
            }),
            stays: false,
        }
    }

    /// The client of calls within this process, which is always there.
    #[must_use]
    pub fn this_process() -> &'static Self {
        static HERE: OnceLock<Client> = OnceLock::new();
        HERE.get_or_init(|| Self::new(HostKey::THIS_PROCESS))
    }

    /// Returns the client as that of a request which is served even after it has gone, such as a one-way request: it counts
    /// for its host, and never as gone.
    #[must_use]
    pub fn staying(&self) -> Self {
        Self {
            stays: true,
            ..self.clone()
        }
    }

    /// Returns the host that the client comes from.
    #[must_use]
    pub fn host(&self) -> HostKey {
        self.state.host
    }

    /// Whether the client has gone, so that nobody waits for its requests.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        !self.stays && self.state.gone.load(Ordering::SeqCst)
    }

    /// Notes that the client has gone, and wakes all that wait for that. Costs an atomic load the second time.
    pub fn leave(&self) {
        if self.state.gone.load(Ordering::Relaxed) || self.state.gone.swap(true, Ordering::SeqCst) {
            return;
        }
        DEPARTURES.fetch_add(1, Ordering::SeqCst);
        let wakers = self.state.waiting().take();
        wakers.for_each(Waker::wake);
    }

    /// Waits until the client has gone.
    ///
    /// # Cancel safety
    /// Safe: the wait changes nothing.
    pub fn gone(&self) -> Gone {
        Gone {
            client: self.clone(),
            number: None,
        }
    }
}

impl State {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("host", &self.state.host)
            .field("gone", &self.is_gone())
            .finish_non_exhaustive()
    }
}

/// The wait of [`Client::gone`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Gone {
    client: Client,
    /// Its number among the waiting tasks.
    number: Option<u64>,
}

impl Future for Gone {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.client.stays {
            return Poll::Pending;
        }
        let state = &this.client.state;
        let mut waiting = state.waiting();
        // Under the lock: either this sees that the client has gone, or `leave` sees the waker.
        if state.gone.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        waiting.set(&mut this.number, cx.waker());
        Poll::Pending
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.client.state.waiting().remove(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::pin::pin;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn all_that_wait_for_a_client_are_woken_when_it_goes() {
        let client = Client::new(HostKey::unique());
        let woken = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        let (mut first, mut second) = (pin!(client.gone()), pin!(client.gone()));
        for _ in 0..2 {
            assert!(first.as_mut().poll(&mut cx).is_pending());
            assert!(second.as_mut().poll(&mut cx).is_pending());
        }
        {
            let mut dropped = pin!(client.gone());
            assert!(dropped.as_mut().poll(&mut cx).is_pending());
        }
        let staying = client.staying();
        let mut stays = pin!(staying.gone());
        assert!(stays.as_mut().poll(&mut cx).is_pending());
        let before = departures();
        client.leave();
        client.leave();
        assert_eq!(woken.0.load(Ordering::SeqCst), 2);
        assert!(departures() > before);
        assert!(client.is_gone() && !staying.is_gone());
        assert_eq!(staying.host(), client.host());
        assert!(first.as_mut().poll(&mut cx).is_ready());
        assert!(second.as_mut().poll(&mut cx).is_ready());
        assert!(stays.as_mut().poll(&mut cx).is_pending());
        assert!(pin!(client.gone()).poll(&mut cx).is_ready());
    }

    #[test]
    fn calls_within_this_process_have_a_client_that_stays() {
        let here = Client::this_process();
        assert_eq!(here.host(), HostKey::THIS_PROCESS);
        assert_ne!(HostKey::unique(), here.host());
        assert!(!here.is_gone());
    }
}
