//! The proxies that suppliers have: of a consumer that they push to, or that pulls from them.

use crate::channel::{Channel, Disconnect, Idle, StoredProxy};
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPullConsumer, ProxyPushConsumer,
    proxy_pull_consumer::ConnectPullSupplierError, proxy_push_consumer::ConnectPushSupplierError,
};
use crate::cos_event_comm::{
    Disconnected, PullConsumer, PullSupplierRef, PushConsumer, PushSupplierRef,
    pull_supplier::TryPullError, push_consumer::PushError,
};
use crate::counters::add;
use crate::event::Body;
use crate::supplier_proxy::{
    Connection, DISCONNECT_TIMEOUT, FIRST_PAUSE, MAX_FAILURES, PUSH_TIMEOUT, pause,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use zorb::{Any, Interface, ObjectRef, SystemException, SystemExceptionKind};

/// How long a supplier that has had no event is left alone before it is asked again.
pub(crate) const PULL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct ConsumerProxy {
    pub(crate) channel: Arc<Channel>,
    pub(crate) number: u32,
    pub(crate) is_push: bool,
    connection: Mutex<Connection>,
    /// Woken when the proxy ends.
    ended: Notify,
    /// When the client has last called.
    used: Mutex<Instant>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ConsumerProxy {
    pub(crate) fn new(channel: &Arc<Channel>, number: u32, is_push: bool) -> Arc<Self> {
        Arc::new(Self {
            channel: Arc::clone(channel),
            number,
            is_push,
            connection: Mutex::new(Connection::Not),
            ended: Notify::new(),
            used: Mutex::new(Instant::now()),
        })
    }

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
        if let Err(exception) = self.store().await {
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
        self.start(peer);
    }

    pub(crate) async fn store(&self) -> Result<(), SystemException> {
        let stored = StoredProxy {
            is_supplier: false,
            is_push: self.is_push,
            connection: locked(&self.connection).clone(),
        };
        self.channel.store_proxy(self.number, &stored, None).await
    }

    fn start(self: &Arc<Self>, peer: Option<ObjectRef>) {
        if let (false, Some(peer)) = (self.is_push, peer) {
            let proxy = Arc::clone(self);
            tokio::spawn(async move {
                let ended = proxy.ended.notified();
                tokio::select! {
                    () = Arc::clone(&proxy).pull(peer) => {}
                    () = ended => {}
                }
            });
        }
    }

    /// Pulls events from a supplier until one of the two is gone. An event that cannot be stored is tried again, and no other
    /// is pulled meanwhile.
    async fn pull(self: Arc<Self>, peer: ObjectRef) {
        let peer: PullSupplierRef = peer.unchecked_narrow();
        let peer = peer.with_round_trip_timeout(PUSH_TIMEOUT);
        let mut failures: u32 = 0;
        loop {
            let wait = match peer.try_pull().await {
                Ok((data, true)) => {
                    failures = 0;
                    while let Err(exception) =
                        self.channel.publish(vec![Body::Any(data.clone())]).await
                    {
                        tracing::warn!(%exception, "an event that was pulled is not stored yet");
                        tokio::time::sleep(FIRST_PAUSE).await;
                    }
                    continue;
                }
                Ok((_, false)) => {
                    failures = 0;
                    PULL_INTERVAL
                }
                Err(TryPullError::Disconnected(_)) => {
                    self.disconnect(false);
                    return;
                }
                Err(error) => {
                    failures = failures.saturating_add(1);
                    tracing::info!(%error, failures, "a supplier cannot be pulled from");
                    let is_gone = matches!(&error, TryPullError::System(exception)
                        if exception.kind == SystemExceptionKind::ObjectNotExist);
                    if is_gone || failures >= MAX_FAILURES {
                        add(&self.channel.context.counts.evicted, 1);
                        self.disconnect(!is_gone);
                        return;
                    }
                    pause(failures)
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    fn check_connected(&self) -> Result<(), Disconnected> {
        *locked(&self.used) = Instant::now();
        match *locked(&self.connection) {
            Connection::To(_) => Ok(()),
            _ => Err(Disconnected {}),
        }
    }
}

impl Disconnect for ConsumerProxy {
    fn disconnect(self: Arc<Self>, is_peer_told: bool) {
        let before = std::mem::replace(&mut *locked(&self.connection), Connection::Over);
        let peer = match before {
            Connection::Over => return,
            Connection::To(peer) if is_peer_told => peer,
            _ => None,
        };
        let is_push = self.is_push;
        self.channel.end_proxy(self.number, async move {
            let Some(peer) = peer else { return };
            let peer = peer.with_round_trip_timeout(DISCONNECT_TIMEOUT);
            let told = match is_push {
                true => {
                    let peer: PushSupplierRef = peer.unchecked_narrow();
                    peer.disconnect_push_supplier().await
                }
                false => {
                    let peer: PullSupplierRef = peer.unchecked_narrow();
                    peer.disconnect_pull_supplier().await
                }
            };
            if let Err(exception) = told {
                tracing::debug!(%exception, "a supplier is not told that it is disconnected");
            }
        });
        self.ended.notify_waiters();
    }

    fn stop(&self) {
        self.ended.notify_waiters();
    }

    fn idle(&self) -> Idle {
        let used = *locked(&self.used);
        match (&*locked(&self.connection), self.is_push) {
            (Connection::Not, _) => Idle::Unconnected(used),
            (Connection::To(_), true) => Idle::Unpushed(used),
            _ => Idle::Not,
        }
    }
}

/// The servant of a proxy.
pub(crate) struct Consumer(pub(crate) Arc<ConsumerProxy>);

impl PushConsumer for Consumer {
    async fn push(&self, data: &Any) -> Result<(), PushError> {
        self.0.check_connected()?;
        Ok(self
            .0
            .channel
            .publish(vec![Body::Any(data.clone())])
            .await?)
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Arc::clone(&self.0).disconnect(true);
        Ok(())
    }
}

impl ProxyPushConsumer for Consumer {
    async fn connect_push_supplier(
        &self,
        push_supplier: Option<PushSupplierRef>,
    ) -> Result<(), ConnectPushSupplierError> {
        let peer = push_supplier.map(|peer| peer.as_object().clone());
        Ok(self.0.connect(peer).await??)
    }
}

impl PullConsumer for Consumer {
    async fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        Arc::clone(&self.0).disconnect(true);
        Ok(())
    }
}

impl ProxyPullConsumer for Consumer {
    async fn connect_pull_supplier(
        &self,
        pull_supplier: Option<PullSupplierRef>,
    ) -> Result<(), ConnectPullSupplierError> {
        let peer = pull_supplier.ok_or(SystemExceptionKind::BadParam);
        let peer = peer.map_err(SystemException::from)?.as_object().clone();
        Ok(self.0.connect(Some(peer)).await??)
    }
}
