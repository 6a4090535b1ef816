//! From a channel to a subject.

use crate::Channel;
use crate::engine::{ANSWER_WITHIN, Engine};
use crate::payload::Payload;
use crate::proxy::{self, is_gone, nil};
use async_nats::HeaderMap;
use core::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Notify, oneshot};
use zorb::{
    Any, Bytes, CompletionStatus, Error, Interface, Orb, Policies, SystemException,
    SystemExceptionKind,
};
use zorb_events::cos_event_channel_admin::ProxyPushSupplierRef;
use zorb_events::cos_event_channel_admin::proxy_push_supplier::ConnectPushConsumerError;
use zorb_events::cos_event_comm::push_consumer::PushError;
use zorb_events::cos_event_comm::{PushConsumer, PushConsumerRef, PushConsumerServant};

/// The header of a message whose event equals the one before it: that one's `Nats-Msg-Id`. The channel has delivered an event
/// twice, as it does after a crash, or a supplier has pushed two.
pub const REPEATS: &str = "Zorb-Repeats";
/// How long a push waits for NATS before the channel is told to try again: less than channels wait for consumers.
const PATIENCE: Duration = Duration::from_secs(8);
/// The pause before a message is published again.
const PAUSE: Duration = Duration::from_millis(100);
/// How often the bridge looks whether its proxy is there.
const LOOK: Duration = Duration::from_secs(10);
/// The pause before a channel is asked again.
const CHANNEL_PAUSE: Duration = Duration::from_millis(500);
/// The POA, whose name is part of the consumer's reference.
const POA: &str = "bridge";
const ROLE: &str = "consumer";

/// A message that is or was published.
#[derive(Clone)]
struct Message {
    payload: Bytes,
    id: String,
}

#[derive(Default)]
struct Progress {
    count: u64,
    /// The one that was published last.
    last: Option<Message>,
    /// The one that was perhaps published; the channel tries it again.
    open: Option<Message>,
}

struct Consumer {
    engine: Engine,
    subject: String,
    payload: Payload,
    /// What the ids of this run begin with.
    run: String,
    /// Pushes take turns, so that messages have the order of events.
    progress: Mutex<Progress>,
    is_disconnected: Notify,
}

impl Consumer {
    /// Publishes a message until JetStream has acknowledged it.
    async fn publish(&self, message: &Message, repeats: Option<&str>) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_MESSAGE_ID, message.id.as_str());
        headers.insert(Engine::BRIDGE, self.engine.name.as_str());
        if let Some(id) = repeats {
            headers.insert(REPEATS, id);
        }
        let started = Instant::now();
        loop {
            let stored = async {
                let (subject, payload) = (self.subject.clone(), message.payload.clone());
                let context = &self.engine.context;
                let sent = context.publish_with_headers(subject, headers.clone(), payload);
                let sent = sent.await.map_err(|error| error.to_string())?;
                sent.await.map_err(|error| error.to_string())
            };
            let stored = tokio::time::timeout(ANSWER_WITHIN, stored).await;
            let why = match stored {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(why)) => why,
                Err(_) => {
                    // It may be cut off from the others.
                    let _ = self.engine.client.force_reconnect().await;
                    "no answer".to_owned()
                }
            };
            if started.elapsed() > PATIENCE {
                return Err(why);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl PushConsumer for Consumer {
    async fn push(&self, data: &Any) -> Result<(), PushError> {
        let payload = match self.payload.encode(data) {
            Ok(payload) if payload.len() <= self.engine.client.max_payload() => payload,
            // Tried again it would be no other.
            Ok(payload) => {
                tracing::error!(octets = payload.len(), "an event is too long for NATS");
                return Ok(());
            }
            Err(error) => {
                tracing::error!(%error, "an event has no payload");
                return Ok(());
            }
        };
        let mut progress = self.progress.lock().await;
        let message = match progress.open.take() {
            // JetStream stores it once, by its id.
            Some(open) if open.payload == payload => open,
            _ => {
                progress.count = progress.count.wrapping_add(1);
                let id = format!("{}-{}", self.run, progress.count);
                Message { payload, id }
            }
        };
        progress.open = Some(message.clone());
        let last = progress.last.as_ref();
        let repeats = last.filter(|last| last.payload == message.payload);
        match self
            .publish(&message, repeats.map(|last| last.id.as_str()))
            .await
        {
            Ok(()) => {
                progress.open = None;
                progress.last = Some(message);
                Ok(())
            }
            Err(why) => {
                tracing::warn!(why, "an event waits for NATS");
                let kind = SystemExceptionKind::Transient;
                Err(SystemException::new(kind, 0, CompletionStatus::No).into())
            }
        }
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.is_disconnected.notify_one();
        Ok(())
    }
}

/// Publishes each event of a channel on a subject, at least once and in the order of the channel, as a push consumer: a push is answered
/// when JetStream has stored the message, so that a channel which tries again loses none. A message has a
/// `Nats-Msg-Id` of its own, by which JetStream stores it once however often it is published, and the header [`REPEATS`] if it is
/// perhaps one that the channel has delivered again. While NATS is away pushes wait, and are TRANSIENT then.
///
/// A channel that is away is waited for; one that has forgotten the bridge is connected to anew. `ready` is told when the bridge is
/// connected. For the next run to go on where this one ends the ORB has to listen where it did, and the channel to have a folder.
///
/// # Errors
/// The ORB listens nowhere. Otherwise it does not end.
pub async fn publish(
    orb: &Orb,
    channel: &Channel,
    engine: Engine,
    subject: &str,
    payload: Payload,
    ready: oneshot::Sender<()>,
) -> Result<Infallible, Error> {
    let mut run = [0; 8];
    getrandom::fill(&mut run)
        .map_err(|_| SystemException::from(SystemExceptionKind::NoResources))?;
    let run = format!("{}-{:016x}", engine.name, u64::from_be_bytes(run));
    let poa = orb.root_poa().create_poa_with(
        POA,
        Policies::PERSISTENT.with_id_assignment(zorb::IdAssignment::User),
        None,
    )?;
    let consumer = Arc::new(Consumer {
        progress: Mutex::new(Progress {
            last: last(&engine, subject).await,
            ..Progress::default()
        }),
        engine,
        subject: subject.to_owned(),
        payload,
        run,
        is_disconnected: Notify::new(),
    });
    let servant = PushConsumerServant::from_arc(Arc::clone(&consumer));
    let reference = poa.activate_object_with_id(subject.as_bytes(), servant)?;
    poa.the_poa_manager().activate()?;
    let mut ready = Some(ready);
    let mut has_warned = false;
    loop {
        let proxy = match connect(orb, channel, &reference).await {
            Ok(proxy) => proxy,
            Err(exception) => {
                if !core::mem::replace(&mut has_warned, true) {
                    tracing::error!(%exception, "waits for the channel, which does not answer");
                }
                tokio::time::sleep(CHANNEL_PAUSE).await;
                continue;
            }
        };
        has_warned = false;
        if let Some(ready) = ready.take() {
            // Whoever has started it may wait no more.
            let _ = ready.send(());
        }
        loop {
            tokio::select! {
                () = consumer.is_disconnected.notified() => break,
                () = tokio::time::sleep(LOOK) => {
                    if let Ok(true) = is_gone(&proxy).await {
                        break;
                    }
                }
            }
        }
        tracing::warn!(
            "the channel has disconnected the bridge: events until it is connected again are not bridged"
        );
    }
}

/// The message that was published last, in an earlier run.
async fn last(engine: &Engine, subject: &str) -> Option<Message> {
    let stream = engine.context.get_stream(&engine.stream).await.ok()?;
    let last = stream.get_last_raw_message_by_subject(subject).await.ok()?;
    let id = last
        .headers
        .get(async_nats::header::NATS_MESSAGE_ID)?
        .to_string();
    Some(Message {
        payload: last.payload,
        id,
    })
}

/// Connects to the proxy of an earlier run, else to a new one.
async fn connect(
    orb: &Orb,
    channel: &Channel,
    consumer: &PushConsumerRef,
) -> Result<ProxyPushSupplierRef, SystemException> {
    let kept = channel.kept::<ProxyPushSupplierRef>(orb, ROLE).await?;
    let proxy = match kept {
        Some(proxy) => proxy,
        None => {
            let admin = channel.channel(orb).await?.for_consumers().await?;
            let admin = admin.ok_or_else(nil)?;
            let proxy = admin.obtain_push_supplier().await?.ok_or_else(nil)?;
            channel.keep(orb, ROLE, &proxy);
            proxy
        }
    };
    let proxy = proxy.with_round_trip_timeout(proxy::ANSWER_WITHIN);
    match proxy.connect_push_consumer(consumer).await {
        // In an earlier run.
        Ok(()) | Err(ConnectPushConsumerError::AlreadyConnected(_)) => Ok(proxy),
        Err(ConnectPushConsumerError::System(exception)) => Err(exception),
        Err(error) => Err(SystemException::from(SystemExceptionKind::BadParam)
            .with_detail(format_args!("{error}"))),
    }
}
