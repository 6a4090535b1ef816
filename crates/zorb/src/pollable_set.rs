//! Several calls in progress, of which any is waited for.

use crate::dynamic::PendingResponse;
use crate::messaging::{Poller, time_up};
use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use zorb_giop::SystemException;

/// A call in progress: a poller, or a deferred dynamic call.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these two")]
#[must_use = "a call that is dropped is cancelled"]
pub enum Pollable {
    /// A poller. Those of interfaces convert to it and from it.
    Poller(Poller),
    /// A deferred dynamic call: the specification's `DIIPollable`.
    Response(PendingResponse),
}

impl<P: Into<Poller>> From<P> for Pollable {
    fn from(poller: P) -> Self {
        Self::Poller(poller.into())
    }
}

impl From<PendingResponse> for Pollable {
    fn from(response: PendingResponse) -> Self {
        Self::Response(response)
    }
}

/// Calls in progress, each under a key, of which the next one that ends is [waited for](Self::ready).
///
/// It owns the calls, so that none is in two sets. A call comes out of it when it has ended, or when it is [removed](Self::remove).
/// Dropping the set cancels those that are in it.
///
/// ```
/// use core::time::Duration;
/// use zorb::messaging::{Pollable, PollableSet};
/// use zorb::{ObjectRef, SystemException};
///
/// # async fn example(first: ObjectRef, second: ObjectRef) -> Result<(), SystemException> {
/// let mut set = PollableSet::new();
/// for (name, object) in [("first", first), ("second", second)] {
///     set.add(name, object.request("work").send_deferred());
/// }
/// while let Some((name, call)) = set.ready(Some(Duration::from_secs(5))).await? {
///     if let Pollable::Response(response) = call {
///         println!("{name}: {:?}", response.await);
///     }
/// }
/// # Ok(()) }
/// ```
///
/// Source: CORBA 3.3 Part 1, CORBA Messaging (`CORBA::PollableSet`).
pub struct PollableSet<K> {
    calls: Vec<(K, Pollable)>,
}

impl<K> Default for PollableSet<K> {
    fn default() -> Self {
        Self { calls: Vec::new() }
    }
}

impl<K> PollableSet<K> {
    /// Returns a set without calls: `create_pollable_set`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a call into the set.
    #[doc(alias = "add_pollable")]
    #[doc(alias = "create_dii_pollable")]
    pub fn add(&mut self, key: K, call: impl Into<Pollable>) {
        self.calls.push((key, call.into()));
    }

    /// Takes a call with this key out of the set: the first one that was added. `None` where the specification has
    /// `UnknownPollable`.
    pub fn remove(&mut self, key: &K) -> Option<Pollable>
    where
        K: PartialEq,
    {
        let at = self.calls.iter().position(|(of, _)| of == key)?;
        Some(self.calls.remove(at).1)
    }

    /// The number of calls in the set.
    #[must_use]
    #[doc(alias = "number_left")]
    pub const fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether no call is in the set.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Waits until a call has ended, and takes it out of the set: up to `timeout`, of which zero does not wait, or for ever. Of
    /// several that have ended, the one that was added first. `None` where the specification has `NoPossiblePollable`, as no
    /// call is in the set.
    ///
    /// Costs a look at each call, and an allocation for each poller.
    ///
    /// # Errors
    /// TIMEOUT if none has ended in time, NO_RESPONSE if the caller did not wait.
    ///
    /// # Cancel safety
    /// Safe: no call is lost.
    #[doc(alias = "get_ready_pollable")]
    pub async fn ready(
        &mut self,
        timeout: Option<Duration>,
    ) -> Result<Option<(K, Pollable)>, SystemException> {
        let Some(runtime) = self.calls.first().map(|(_, call)| call.runtime()) else {
            return Ok(None);
        };
        let limit = timeout.filter(|limit| !limit.is_zero()).map(|limit| {
            let _runtime = runtime.enter();
            Box::pin(tokio::time::sleep(limit))
        });
        match self.any_ended(timeout.is_some(), limit).await {
            Some(at) => Ok(Some(self.calls.remove(at))),
            None => Err(time_up(timeout, "none of the calls has ended yet")),
        }
    }

    /// The place of the first call that has ended; `None` when the limit is over.
    async fn any_ended(
        &mut self,
        is_limited: bool,
        mut limit: Option<Pin<Box<tokio::time::Sleep>>>,
    ) -> Option<usize> {
        type Ended<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
        let calls = self.calls.iter_mut();
        let mut calls: Vec<Ended<'_>> =
            calls.map(|(_, call)| Box::pin(call.ended()) as _).collect();
        poll_fn(|cx| {
            for (at, call) in calls.iter_mut().enumerate() {
                if call.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Some(at));
                }
            }
            match &mut limit {
                Some(limit) => limit.as_mut().poll(cx).map(|()| None),
                None if is_limited => Poll::Ready(None),
                None => Poll::Pending,
            }
        })
        .await
    }
}

impl Pollable {
    fn runtime(&self) -> tokio::runtime::Handle {
        match self {
            Self::Poller(poller) => poller.operation_target().runtime(),
            Self::Response(response) => response.target().runtime(),
        }
    }

    async fn ended(&mut self) {
        match self {
            Self::Poller(poller) => {
                poller.is_ready(None).await;
            }
            Self::Response(response) => poll_fn(|cx| response.poll_ended(cx)).await,
        }
    }
}

impl<K: fmt::Debug> fmt::Debug for PollableSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollableSet")
            .field("calls", &self.calls)
            .finish()
    }
}
