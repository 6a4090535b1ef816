//! The ORB: its parts and its shutdown.

mod access;
mod limited_shutdown;
mod policy_manager;
mod startup;

pub use limited_shutdown::ShutdownReport;

use crate::bidirectional::BidirectionalCalls;
use crate::current;
use crate::deferred::DeferredRequests;
use crate::endpoints::CurrentEndpoints;
use crate::error::Error;
use crate::interceptors::Interceptors;
use crate::keys::Keys;
use crate::orb_settings::Settings;
use crate::outgoing::NamedSockets;
use crate::policy::PolicyOverrides;
use crate::profile::{Published, make_ior};
use crate::real_time::RealTime;
use crate::serve::UpcallsEnd;
use crate::value::ValueRegistry;
use arc_swap::ArcSwap;
use bytes::Bytes;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use zorb_cdr::Context;
use zorb_connection::{
    BusyConnections, ConnectTimes, ConnectionCache, Counter, NamedBy, Serving,
    UnresponsiveEndpoints,
};
use zorb_executor::Lane;
use zorb_giop::{CompletionStatus, Fault, Ior, Limits, SystemException};
use zorb_poa::ObjectAdapter;
use zorb_transport::{Endpoint, Registry};

/// An object request broker: makes calls to remote objects, and serves local ones.
///
/// Built by [`Orb::builder`] inside a tokio runtime of either flavour, which is its lane: its connections are read and
/// its servants run there. A process may have several ORBs. Every clone is the same ORB.
///
/// [`shutdown`](Self::shutdown) ends it. Dropping the last clone begins a shutdown in the background, in which upcalls
/// in progress finish and their replies are sent. Every reference and POA holds a clone. A servant, a forward or a key
/// resolver of the ORB may hold one in a field: such an ORB lives until it is shut down.
///
/// A clone costs a reference count. Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::ORB`).
#[derive(Clone)]
#[doc(alias = "ORB")]
pub struct Orb(Arc<Handles>);

/// The application's handles: dropping the last stops the ORB. Connections, upcalls and tasks of the ORB hold the
/// [`OrbInner`] instead, which keeps it in memory but does not prevent the shutdown.
struct Handles(Arc<OrbInner>);

impl Drop for Handles {
    fn drop(&mut self) {
        self.0.stop();
    }
}

pub(crate) struct OrbInner {
    this: Weak<Self>,
    handles: Weak<Handles>,
    lane: Lane,
    settings: Settings,
    adapters: ObjectAdapter,
    keys: Keys,
    published: Arc<CurrentEndpoints>,
    listening: Vec<Endpoint>,
    cache: ConnectionCache,
    named_sockets: NamedSockets,
    deferred: DeferredRequests,
    unresponsive: UnresponsiveEndpoints,
    connect_times: ConnectTimes,
    busy: Arc<BusyConnections>,
    /// Settings of connections.
    connections: zorb_connection::Settings,
    stopping: AtomicBool,
    /// Whether outgoing calls are refused.
    ended: AtomicBool,
    stop: CancellationToken,
    tasks: TaskTracker,
    down: watch::Sender<bool>,
    serving: Arc<Serving<Self>>,
    upcalls_end: UpcallsEnd,
    bidirectional: BidirectionalCalls,
    /// Initial references that were registered at run time, as IORs: an [`ObjectRef`](crate::ObjectRef) would keep the
    /// ORB alive.
    initial_references: Mutex<BTreeMap<String, Ior>>,
    /// Interfaces whose servants have been reported in the log for blocking a worker.
    reported_blocking: Mutex<BTreeSet<String>>,
    real_time: RealTime,
    policies: ArcSwap<PolicyOverrides>,
    /// Whether policies that were set while the ORB runs limit the time of calls.
    is_limited: AtomicBool,
    /// Held while policies are set.
    setting_policies: Mutex<()>,
    /// Set once, before the ORB serves, if there are any.
    interceptors: OnceLock<Interceptors>,
}

impl Orb {
    pub(crate) fn inner(&self) -> &Arc<OrbInner> {
        &self.0.0
    }

    /// The name of the ORB, set by [`Builder::id`](crate::Builder::id); empty unless set.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.inner().settings.id
    }

    /// The ORB's lane: the runtime that reads its connections and runs its servants.
    ///
    /// Tasks that make many calls should run there: a call from another runtime uses a connection in that runtime. On a
    /// [dedicated](Lane::dedicated) lane, `orb.lane().spawn(...)` runs a task on the lane's thread, which writes its
    /// requests and reads its replies without any other thread. It may also spin longer for them than in a shared
    /// runtime. The task's handle can be awaited anywhere; a program without async [waits](crate::blocking::Wait) for
    /// it.
    ///
    /// ```
    /// use zorb::executor::Lane;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let orb = zorb::Orb::builder().lane(Lane::dedicated("bank")?).build().await?;
    /// let bank = orb.string_to_object("corbaloc:iiop:1.2@bank.example:2809/Bank").await?;
    /// let there = orb.lane().spawn(async move { bank.non_existent().await }).await??;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn lane(&self) -> &Lane {
        self.inner().lane()
    }

    /// Returns the endpoints that the ORB listens to, with the ports that the system chose; empty for a client.
    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.inner().listening
    }

    /// Returns the number of client connections that are being served. Takes a lock.
    #[must_use]
    pub fn connections_served(&self) -> usize {
        self.inner().serving.len()
    }

    /// The number of pending upcalls, including those whose client has disconnected: see
    /// [`Builder::max_upcalls`](crate::Builder::max_upcalls).
    #[must_use]
    pub fn pending_upcalls(&self) -> usize {
        self.inner().serving.pending_upcalls()
    }

    /// Waits until the ORB has shut down.
    ///
    /// Requests are served whether or not a task awaits this. A server's `main` awaits it to stay alive.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::ORB`).
    ///
    /// # Cancel safety
    /// Safe: cancelling ends the waiting alone.
    pub async fn run(&self) {
        let mut down = self.inner().down.subscribe();
        // An error would mean that the sender is dropped, but `self` holds it.
        let _ = down.wait_for(|down| *down).await;
    }

    /// Shuts the ORB down: it accepts no new connections and requests; upcalls in progress finish and their replies are
    /// sent; every connection ends with CloseConnection; servants are dropped. Requests that have not begun, held ones
    /// included, get no reply: CloseConnection permits their clients to send them again. The ORB's own calls that still
    /// wait for a reply by then, and later ones, are BAD_INV_ORDER. A second call has no further effect.
    ///
    /// Returns at once when `wait_for_completion` is false, else when the shutdown is complete.
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`CORBA::ORB`).
    ///
    /// # Errors
    /// BAD_INV_ORDER for `wait_for_completion` inside an upcall of this ORB, which would deadlock: the shutdown does
    /// not begin.
    ///
    /// # Cancel safety
    /// Safe: a shutdown that has begun goes on.
    pub async fn shutdown(&self, wait_for_completion: bool) -> Result<(), SystemException> {
        if wait_for_completion && current::is_upcall_of(self.inner()) {
            return Err(Fault::WouldDeadlock.raise(CompletionStatus::No));
        }
        self.inner().stop();
        if wait_for_completion {
            self.run().await;
        }
        Ok(())
    }
}

impl Orb {
    /// Serves until `signal` is ready, and [shuts down](Self::shutdown) then: the last line of a server's `main`. Returns the
    /// signal's output when the shutdown is complete; `None` if the ORB was shut down before there was a signal.
    ///
    /// ```no_run
    /// # async fn main_of_a_server(orb: zorb::Orb) -> Result<(), Box<dyn std::error::Error>> {
    /// orb.run_until(tokio::signal::ctrl_c()).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER inside an upcall of this ORB, which would deadlock.
    ///
    /// # Cancel safety
    /// Safe: dropped before the signal, it has changed nothing; a shutdown that has begun goes on.
    pub async fn run_until<S: Future>(
        &self,
        signal: S,
    ) -> Result<Option<S::Output>, SystemException> {
        let signalled = tokio::select! {
            output = signal => Some(output),
            () = self.run() => None,
        };
        self.shutdown(true).await?;
        Ok(signalled)
    }
}

impl OrbInner {
    /// The registered value types.
    pub(crate) fn values(&self) -> &ValueRegistry {
        &self.settings.values
    }

    /// A handle of the ORB. Upcalls in progress get a new one even when the last has been dropped, since decoded
    /// references need one.
    pub(crate) fn handle(&self) -> Option<Orb> {
        let handles = self.handles.upgrade();
        let another = || Some(Arc::new(Handles(self.this.upgrade()?)));
        handles.or_else(another).map(Orb)
    }

    /// The context in which object references in messages are decoded.
    pub(crate) fn context(&self) -> Arc<dyn Context> {
        match self.this.upgrade() {
            Some(this) => this,
            None => Arc::new(()),
        }
    }

    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// The interceptors and slots of the ORB.
    #[inline]
    pub(crate) const fn intercepting(&self) -> &OnceLock<Interceptors> {
        &self.interceptors
    }

    /// The settings of all connections.
    #[inline]
    pub(crate) fn connection_settings(&self) -> &zorb_connection::Settings {
        &self.connections
    }

    /// The connections that have been busy lately.
    pub(crate) const fn busy_connections(&self) -> &Arc<BusyConnections> {
        &self.busy
    }

    pub(crate) fn adapters(&self) -> &ObjectAdapter {
        &self.adapters
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// What the ORB's references state at present.
    pub(crate) fn published(&self) -> Arc<Published> {
        self.published.published()
    }

    /// The endpoints that references name at present.
    pub(crate) fn current_endpoints(&self) -> &CurrentEndpoints {
        &self.published
    }

    /// Ready when the ORB begins to shut down.
    pub(crate) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// The transports of the ORB.
    pub(crate) fn transports(&self) -> &Registry {
        &self.settings.transports
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn limits(&self) -> Limits {
        self.settings.limits
    }

    /// Whether no servant of this interface has been reported yet for blocking its worker.
    pub(crate) fn is_first_report_of(&self, interface: &str) -> bool {
        let mut reported = (self.reported_blocking.lock()).unwrap_or_else(PoisonError::into_inner);
        reported.insert(interface.to_owned())
    }

    /// Runs a task in the ORB's lane; the shutdown waits for it.
    pub(crate) fn track(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(task, self.lane.handle());
    }

    /// Runs a task in another runtime; the shutdown waits for it.
    pub(crate) fn track_in(&self, home: &Handle, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(task, home);
    }

    /// A token: the shutdown waits until it is dropped.
    pub(crate) fn task(&self) -> TaskTrackerToken {
        self.tasks.token()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Checks that calls are permitted: upcalls in progress may make calls while the ORB is stopping, until it is down.
    pub(crate) fn check_not_down(&self) -> Result<(), SystemException> {
        if self.is_down() {
            return Err(Fault::OrbShutDown.raise(CompletionStatus::No));
        }
        Ok(())
    }

    /// Whether the ORB has shut down, so that calls are refused.
    #[inline]
    pub(crate) fn is_down(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn check_published(&self) -> Result<(), Error> {
        if self.is_stopping() {
            return Err(Fault::OrbShutDown.raise(CompletionStatus::No).into());
        }
        if self.published.is_empty() {
            return Err(Error::NoEndpoint);
        }
        Ok(())
    }

    pub(crate) fn make_ior(&self, type_id: &str, key: &Bytes) -> Result<Ior, SystemException> {
        make_ior(type_id, key, &self.published(), self.transports())
            .map_err(|error| Fault::Encode(error).raise(CompletionStatus::No))
    }

    /// The outgoing connections.
    pub(crate) fn connection_cache(&self) -> &ConnectionCache {
        &self.cache
    }

    /// The one-way requests that wait for their connections.
    pub(crate) fn deferred(&self) -> &DeferredRequests {
        &self.deferred
    }

    /// The UNIX sockets that the application has named.
    pub(crate) fn named_sockets(&self) -> &NamedSockets {
        &self.named_sockets
    }

    /// Whether the ORB may connect to an endpoint that `named_by` has named.
    pub(crate) fn may_connect(&self, endpoint: &Endpoint, named_by: NamedBy) -> bool {
        let permitted = named_by == NamedBy::Application
            || !endpoint.is_local_name()
            || self.settings.unix_sockets_of_peers
            || self.named_sockets.contains(endpoint);
        if !permitted {
            self.count(Counter::SocketsOfPeersRefused);
        }
        permitted
    }

    /// The times of recent connects, by endpoint.
    pub(crate) const fn connect_times(&self) -> &ConnectTimes {
        &self.connect_times
    }

    /// Endpoints whose last connect, not long ago, timed out.
    pub(crate) const fn unresponsive(&self) -> &UnresponsiveEndpoints {
        &self.unresponsive
    }

    /// Connections on which both ends send requests.
    pub(crate) const fn bidirectional(&self) -> &BidirectionalCalls {
        &self.bidirectional
    }

    pub(crate) fn initial_references(&self) -> MutexGuard<'_, BTreeMap<String, Ior>> {
        (self.initial_references.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        if self.stopping.swap(true, Ordering::AcqRel) {
            return;
        }
        self.stop.cancel();
        // Requests that are held or being read get no reply: the CloseConnection lets their clients send them again.
        self.adapters.deactivate_managers();
        self.serving.wake_all();
        self.tasks.close();
        let Some(this) = self.this.upgrade() else {
            return;
        };
        let last = Last(this);
        self.lane.spawn(async move {
            last.0.tasks.wait().await;
            // Drops the servants; servant activators etherealize theirs.
            last.0.adapters.clear();
            last.0.tasks.wait().await;
            // Upcalls in progress could make calls until now.
            last.end_calls();
            last.0.cache.closed().await;
        });
    }
}

/// The last step of a shutdown, run on drop: after all tasks have ended, or when the runtime shuts down and drops the
/// waiting task. The latter has ended all tasks, and callers of [`Orb::run`] must not wait for ever.
struct Last(Arc<OrbInner>);

impl Last {
    /// `ended` is stored first, so that a caller that finds the cache closed finds it set.
    fn end_calls(&self) {
        self.0.ended.store(true, Ordering::Release);
        self.0.cache.close();
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        self.end_calls();
        let down = Down(&self.0.down);
        self.0.adapters.clear();
        self.0.keys.clear();
        self.0.bidirectional.clear();
        self.0.real_time.clear();
        drop(down);
        tracing::debug!("the ORB is down");
    }
}

/// Announces that the ORB is down, even if a servant panics when it is dropped.
struct Down<'a>(&'a watch::Sender<bool>);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

impl fmt::Debug for Orb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orb")
            .field("id", &self.id())
            .field("listening", &self.inner().listening)
            .field("stopping", &self.inner().is_stopping())
            .finish_non_exhaustive()
    }
}
