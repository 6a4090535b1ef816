//! The proxies that consumers have: of a supplier that pushes to them, or that they pull from.

use crate::channel::{Channel, Disconnect, Idle, StoredProxy};
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPullSupplier, ProxyPushSupplier,
    proxy_pull_supplier::ConnectPullConsumerError, proxy_push_supplier::ConnectPushConsumerError,
};
use crate::cos_event_comm::{
    Disconnected, PullConsumerRef, PullSupplier, PushConsumerRef, PushSupplier,
    pull_supplier::{PullError, TryPullError},
    push_consumer::PushError,
};
use crate::counters::add;
use crate::event::Event;
use crate::queue::{Entry, Queue};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb::{Any, CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind};

/// How long a consumer may take for an event.
pub(crate) const PUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a peer may take to be told that it is disconnected.
pub(crate) const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Failures one after the other after which a consumer that is not kept is evicted, and a supplier that is pulled.
pub(crate) const MAX_FAILURES: u32 = 5;
/// The pause after a failure. Each further one doubles it, up to the longest.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(100);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What a proxy is connected to.
#[derive(Clone, Debug)]
pub(crate) enum Connection {
    Not,
    /// To a peer, which may be nil where it need not be called.
    To(Option<ObjectRef>),
    Over,
}

pub(crate) struct SupplierProxy {
    pub(crate) channel: Arc<Channel>,
    pub(crate) number: u32,
    pub(crate) is_push: bool,
    pub(crate) queue: Queue,
    connection: Mutex<Connection>,
    /// What was pulled and is not known to have arrived: the next pull says so.
    pulled: Mutex<Vec<Entry>>,
    /// When the client has last called.
    used: Mutex<Instant>,
}

/// Why a delivery failed.
enum Failed {
    /// The consumer says that it is gone.
    Gone,
    /// Perhaps it works later.
    Now(SystemException),
}

impl From<SystemException> for Failed {
    fn from(exception: SystemException) -> Self {
        match exception.kind {
            SystemExceptionKind::ObjectNotExist | SystemExceptionKind::InvObjref => Self::Gone,
            _ => Self::Now(exception),
        }
    }
}

impl From<PushError> for Failed {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Disconnected(_) => Self::Gone,
            PushError::System(exception) => exception.into(),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pause after so many failures, one after the other.
pub(crate) fn pause(failures: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

impl SupplierProxy {
    pub(crate) fn new(channel: &Arc<Channel>, number: u32, is_push: bool) -> Arc<Self> {
        Arc::new(Self {
            channel: Arc::clone(channel),
            number,
            is_push,
            queue: Queue::new(channel.policy()),
            connection: Mutex::new(Connection::Not),
            pulled: Mutex::new(Vec::new()),
            used: Mutex::new(Instant::now()),
        })
    }

    /// Whether its events and its connection survive a crash.
    pub(crate) fn is_kept(&self) -> bool {
        self.channel.context.journal.is_some()
    }

    pub(crate) fn offer(&self, entry: Entry) {
        let discarded = self.queue.offer(entry);
        if discarded > 0 {
            add(&self.channel.context.counts.discarded, discarded);
            self.moved();
        }
    }

    /// Connects to a peer, and stores that.
    pub(crate) async fn connect(
        self: &Arc<Self>,
        peer: Option<ObjectRef>,
    ) -> Result<Result<(), AlreadyConnected>, SystemException> {
        {
            let mut connection = locked(&self.connection);
            match *connection {
                Connection::Not => *connection = Connection::To(peer.clone()),
                Connection::To(_) => return Ok(Err(AlreadyConnected {})),
                Connection::Over => return Err(SystemExceptionKind::ObjectNotExist.into()),
            }
        }
        let last = self.channel.add_consumer(self.number, Arc::clone(self));
        if let Err(exception) = self.store(Some(last)).await {
            self.channel.drop_consumer(self.number);
            let mut connection = locked(&self.connection);
            if matches!(*connection, Connection::To(_)) {
                *connection = Connection::Not;
            }
            return Err(exception);
        }
        self.start(peer);
        Ok(Ok(()))
    }

    /// Goes on as in an earlier run.
    pub(crate) fn resume(self: &Arc<Self>, peer: Option<ObjectRef>) {
        *locked(&self.connection) = Connection::To(peer.clone());
        self.channel.add_consumer(self.number, Arc::clone(self));
        self.start(peer);
    }

    /// Stores the proxy as it is; with where it begins when it is connected.
    pub(crate) async fn store(&self, progress: Option<u64>) -> Result<(), SystemException> {
        let stored = StoredProxy {
            is_supplier: true,
            is_push: self.is_push,
            connection: locked(&self.connection).clone(),
        };
        self.channel
            .store_proxy(self.number, &stored, progress)
            .await
    }

    fn start(self: &Arc<Self>, peer: Option<ObjectRef>) {
        if let (true, Some(peer)) = (self.is_push, peer) {
            tokio::spawn(Arc::clone(self).deliver(peer));
        }
    }

    /// Notes how far the consumer is.
    fn moved(&self) {
        if let (Some(journal), true) = (&self.channel.context.journal, self.is_kept()) {
            journal.moved(self.channel.id, self.number, self.queue.progress());
        }
    }

    fn done(&self, entries: &[Entry], expired: usize) {
        self.queue.done(entries);
        let counts = &self.channel.context.counts;
        add(&counts.delivered, entries.len());
        add(&counts.expired, expired);
        let again = entries.iter().filter(|entry| entry.is_again).count();
        add(&counts.redelivered, again);
        self.moved();
    }

    /// Pushes events to a consumer until one of the two is gone.
    async fn deliver(self: Arc<Self>, peer: ObjectRef) {
        let peer: PushConsumerRef = peer.unchecked_narrow();
        let peer = peer.with_round_trip_timeout(PUSH_TIMEOUT);
        let counts = &self.channel.context.counts;
        let mut failures: u32 = 0;
        let mut failing_since = None;
        while let Some((mut entries, expired)) = self.queue.next(1).await {
            match push(&peer, &entries).await {
                Ok(()) => {
                    failures = 0;
                    failing_since = None;
                    self.done(&entries, expired);
                }
                Err(Failed::Gone) => {
                    self.disconnect(false);
                    return;
                }
                Err(Failed::Now(exception)) => {
                    failures = failures.saturating_add(1);
                    let since = *failing_since.get_or_insert_with(Instant::now);
                    tracing::info!(%exception, failures, "a consumer does not take an event");
                    let is_unknown = exception.completed != CompletionStatus::No;
                    if is_unknown && !self.is_kept() {
                        // At most once: it may have got them.
                        self.queue.done(&entries);
                        add(&counts.unconfirmed, entries.len());
                    } else {
                        for entry in &mut entries {
                            entry.is_again |= is_unknown;
                        }
                        let discarded = self.queue.put_back(entries);
                        add(&counts.discarded, discarded);
                    }
                    let is_over = match self.is_kept() {
                        true => since.elapsed() >= self.channel.context.settings.unreachable_for,
                        false => failures >= MAX_FAILURES,
                    };
                    if is_over {
                        tracing::warn!(%exception, "a consumer is evicted");
                        add(&counts.evicted, 1);
                        self.disconnect(true);
                        return;
                    }
                    tokio::time::sleep(pause(failures)).await;
                }
            }
        }
    }

    /// The exception for a proxy that is not connected.
    fn check_connected(&self) -> Result<(), Disconnected> {
        match *locked(&self.connection) {
            Connection::To(_) => Ok(()),
            _ => Err(Disconnected {}),
        }
    }

    /// What was pulled before has arrived: the client asks for more.
    fn confirm_pulled(&self) {
        *locked(&self.used) = Instant::now();
        let entries = std::mem::take(&mut *locked(&self.pulled));
        if !entries.is_empty() {
            self.queue.done(&entries);
            self.moved();
        }
    }

    fn hand_out(&self, entries: &[Entry], expired: usize) {
        let counts = &self.channel.context.counts;
        add(&counts.delivered, entries.len());
        add(&counts.expired, expired);
        let again = entries.iter().filter(|entry| entry.is_again).count();
        add(&counts.redelivered, again);
        locked(&self.pulled).extend_from_slice(entries);
    }

    /// Takes events, waiting for the first; `None` when the proxy is disconnected.
    pub(crate) async fn pull_entries(&self, max: usize) -> Result<Vec<Arc<Event>>, Disconnected> {
        self.check_connected()?;
        self.confirm_pulled();
        loop {
            let (entries, expired) = self.queue.next(max).await.ok_or(Disconnected {})?;
            *locked(&self.used) = Instant::now();
            self.hand_out(&entries, expired);
            if !entries.is_empty() {
                return Ok(entries.into_iter().map(|entry| entry.event).collect());
            }
        }
    }

    /// Takes events that are there.
    pub(crate) fn try_pull_entries(&self, max: usize) -> Result<Vec<Arc<Event>>, Disconnected> {
        self.check_connected()?;
        self.confirm_pulled();
        let (entries, expired) = self.queue.take(max);
        self.hand_out(&entries, expired);
        Ok(entries.into_iter().map(|entry| entry.event).collect())
    }
}

async fn push(peer: &PushConsumerRef, entries: &[Entry]) -> Result<(), Failed> {
    for entry in entries {
        peer.push(&entry.event.to_any()).await?;
    }
    Ok(())
}

impl Disconnect for SupplierProxy {
    fn disconnect(self: Arc<Self>, is_peer_told: bool) {
        let before = std::mem::replace(&mut *locked(&self.connection), Connection::Over);
        if matches!(before, Connection::Over) {
            return;
        }
        self.confirm_pulled();
        self.queue.close();
        let peer = match before {
            Connection::To(peer) if is_peer_told => peer,
            _ => None,
        };
        let is_push = self.is_push;
        self.channel.end_proxy(self.number, async move {
            let Some(peer) = peer else { return };
            let peer = peer.with_round_trip_timeout(DISCONNECT_TIMEOUT);
            let told = match is_push {
                true => {
                    let peer: PushConsumerRef = peer.unchecked_narrow();
                    peer.disconnect_push_consumer().await
                }
                false => {
                    let peer: PullConsumerRef = peer.unchecked_narrow();
                    peer.disconnect_pull_consumer().await
                }
            };
            if let Err(exception) = told {
                tracing::debug!(%exception, "a consumer is not told that it is disconnected");
            }
        });
    }

    fn stop(&self) {
        self.queue.close();
    }

    fn idle(&self) -> Idle {
        let used = *locked(&self.used);
        match (&*locked(&self.connection), self.is_push) {
            (Connection::Not, _) => Idle::Unconnected(used),
            // A pull that waits is the client's last word for as long as it waits.
            (Connection::To(_), false) if !self.queue.is_awaited() => Idle::Unpulled(used),
            _ => Idle::Not,
        }
    }
}

/// The servant of a proxy.
pub(crate) struct Supplier(pub(crate) Arc<SupplierProxy>);

fn not_nil<T>(peer: Option<T>) -> Result<T, SystemException> {
    peer.ok_or_else(|| SystemExceptionKind::BadParam.into())
}

impl PushSupplier for Supplier {
    async fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        Arc::clone(&self.0).disconnect(true);
        Ok(())
    }
}

impl ProxyPushSupplier for Supplier {
    async fn connect_push_consumer(
        &self,
        push_consumer: Option<PushConsumerRef>,
    ) -> Result<(), ConnectPushConsumerError> {
        let peer = not_nil(push_consumer)?.as_object().clone();
        Ok(self.0.connect(Some(peer)).await??)
    }
}

impl PullSupplier for Supplier {
    async fn pull(&self) -> Result<Any, PullError> {
        let events = self.0.pull_entries(1).await?;
        let event = events.first().ok_or(Disconnected {})?;
        Ok(event.to_any())
    }

    async fn try_pull(&self) -> Result<(Any, bool), TryPullError> {
        let events = self.0.try_pull_entries(1)?;
        Ok(match events.first() {
            Some(event) => (event.to_any(), true),
            None => (Any::default(), false),
        })
    }

    async fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        Arc::clone(&self.0).disconnect(true);
        Ok(())
    }
}

impl ProxyPullSupplier for Supplier {
    async fn connect_pull_consumer(
        &self,
        pull_consumer: Option<PullConsumerRef>,
    ) -> Result<(), ConnectPullConsumerError> {
        let peer = pull_consumer.map(|peer| peer.as_object().clone());
        Ok(self.0.connect(peer).await??)
    }
}
