//! From a channel to a subject.

use crate::Channel;
use crate::engine::{ANSWER_WITHIN, Engine};
use crate::payload::Payload;
use crate::proxy::{self, nil};
use async_nats::HeaderMap;
use async_nats::connection::State;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use core::convert::Infallible;
use core::error::Error as _;
use core::future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Notify, Semaphore, oneshot, watch};
use zorb::{
    Any, Bytes, CompletionStatus, Error, Interface, Orb, PoaCurrent, Policies, SystemException,
    SystemExceptionKind,
};
use zorb_events::cos_event_channel_admin::ProxyPushSupplierRef;
use zorb_events::cos_event_channel_admin::proxy_push_supplier::ConnectPushConsumerError;
use zorb_events::cos_event_comm::push_consumer::PushError;
use zorb_events::cos_event_comm::{PushConsumer, PushConsumerRef, PushConsumerServant};

/// The header of a message whose event equals the one before it: that one's `Nats-Msg-Id`. The channel has delivered an event
/// twice, as it does after a crash, or a supplier has pushed two.
pub const REPEATS: &str = "Zorb-Repeats";
/// Pushes that wait at a time, for NATS or for their turn. A channel pushes one after the other.
const MAX_WAITING: usize = 64;
/// The part of the time which a channel has stated for a push that the push may wait for NATS.
const PATIENCE: f64 = 0.8;
/// The pause before a message is published again. Each further one doubles it, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often the bridge looks whether the channel has it as a consumer.
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
    places: Semaphore,
    /// Events that can be no messages.
    left_out: AtomicU64,
    is_disconnected: Notify,
    /// Whether the bridge ends, so that no push waits any more.
    is_over: watch::Sender<bool>,
}

/// Why a message is not stored.
#[derive(Debug, thiserror::Error)]
enum Unstored {
    #[error("there is no connection")]
    NotConnected,
    #[error("there is no answer")]
    NoAnswer,
    #[error("{}", zorb_service::shown(.0))]
    Refused(PublishError),
}

impl Unstored {
    /// Whether it is so at any time.
    fn is_final(&self) -> bool {
        let Self::Refused(error) = self else {
            return false;
        };
        let source = error.source().and_then(|source| source.downcast_ref());
        let code = source.map(async_nats::jetstream::Error::error_code);
        error.kind() == PublishErrorKind::MaxPayloadExceeded
            || code == Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM)
            || code == Some(ErrorCode::STREAM_HEADER_EXCEEDS_MAXIMUM)
    }
}

/// Until when the push that is being answered may wait; `None` if the channel has stated no time: for as long as it waits.
fn patience() -> Option<Instant> {
    let deadline = PoaCurrent::get_request().ok()?.deadline()?;
    let now = Instant::now();
    let left = deadline.saturating_duration_since(now).mul_f64(PATIENCE);
    now.checked_add(left)
}

impl Consumer {
    /// Publishes a message until JetStream has acknowledged it.
    ///
    /// # Errors
    /// JetStream never takes it.
    async fn publish(&self, message: &Message, repeats: Option<&str>) -> Result<(), Unstored> {
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_MESSAGE_ID, message.id.as_str());
        headers.insert(Engine::BRIDGE, self.engine.name.as_str());
        if let Some(id) = repeats {
            headers.insert(REPEATS, id);
        }
        let mut pause = FIRST_PAUSE;
        let mut tries: u64 = 0;
        loop {
            let why = match self.try_publish(message, headers.clone()).await {
                Ok(()) if tries == 0 => return Ok(()),
                Ok(()) => {
                    tracing::info!("NATS takes events again");
                    return Ok(());
                }
                Err(why) if why.is_final() => return Err(why),
                Err(why) => why,
            };
            tries = tries.saturating_add(1);
            if tries.is_power_of_two() {
                tracing::error!(%why, tries, "an event waits for NATS");
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    async fn try_publish(&self, message: &Message, headers: HeaderMap) -> Result<(), Unstored> {
        let client = &self.engine.client;
        // The client would keep what is sent, each time that it is tried.
        if client.connection_state() != State::Connected {
            return Err(Unstored::NotConnected);
        }
        let stored = async {
            let (subject, payload) = (self.subject.clone(), message.payload.clone());
            let context = &self.engine.context;
            let sent = context.publish_with_headers(subject, headers, payload);
            sent.await?.await
        };
        match tokio::time::timeout(ANSWER_WITHIN, stored).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if error.kind() != PublishErrorKind::TimedOut => {
                Err(Unstored::Refused(error))
            }
            _ => {
                // It may be cut off from the others.
                let _ = client.force_reconnect().await;
                Err(Unstored::NoAnswer)
            }
        }
    }

    /// Publishes the payload of an event, when it is its turn.
    async fn pass_on(&self, payload: Bytes) {
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
        let repeats = repeats.map(|last| last.id.as_str());
        let published = self.publish(&message, repeats).await;
        progress.open = None;
        match published {
            Ok(()) => progress.last = Some(message),
            Err(why) => self.leave_out(&why),
        }
    }

    /// Notes an event that can be no message: tried again it would be no other.
    fn leave_out(&self, why: &dyn core::fmt::Display) {
        let left_out = self.left_out.fetch_add(1, Ordering::Relaxed);
        let left_out = left_out.saturating_add(1);
        tracing::error!(%why, left_out, "an event can be no message of NATS, and is left out");
    }
}

/// The exception for a push that the channel may try again: what it then brings is stored once.
fn later() -> SystemException {
    SystemException::new(SystemExceptionKind::Transient, 0, CompletionStatus::No)
}

impl PushConsumer for Consumer {
    async fn push(&self, data: &Any) -> Result<(), PushError> {
        let Ok(_place) = self.places.try_acquire() else {
            return Err(later().into());
        };
        let payload = match self.payload.encode(data) {
            // So that those which wait take no more memory.
            Ok(payload) if payload.len() > self.engine.client.max_payload() => {
                self.leave_out(&PublishErrorKind::MaxPayloadExceeded);
                return Ok(());
            }
            Ok(payload) => payload,
            Err(error) => {
                self.leave_out(&error);
                return Ok(());
            }
        };
        let until = patience();
        let mut is_over = self.is_over.subscribe();
        let waits = async {
            let time = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until.into()).await,
                    None => future::pending().await,
                }
            };
            let over = async {
                let _ = is_over.wait_for(|is_over| *is_over).await;
                // One that is under way ends first.
                tokio::time::sleep(ANSWER_WITHIN).await;
            };
            tokio::select! {
                () = time => {}
                () = over => {}
            }
        };
        tokio::select! {
            biased;
            () = self.pass_on(payload) => Ok(()),
            () = waits => {
                tracing::info!("an event is given back to the channel, for now");
                Err(later().into())
            }
        }
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.is_disconnected.notify_one();
        Ok(())
    }
}

/// Ends the waits of pushes when it is dropped.
struct Ending(Arc<Consumer>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.is_over.send_replace(true);
    }
}

/// Publishes each event of a channel on a subject, at least once and in the order of the channel, as a push consumer: a push is answered
/// when JetStream has stored the message, so that the channel keeps or discards the events behind it by its own policy. A message has a
/// `Nats-Msg-Id` of its own, by which JetStream stores it once however often it is published, and the header [`REPEATS`] if it is
/// perhaps one that the channel has delivered again.
///
/// While NATS takes no events pushes wait, for as long as the channel does. One is TRANSIENT, COMPLETED_NO, when four fifths of the time are over that the
/// channel has stated for it (as `zorb-events` does), when 64 wait already, or when this future is dropped: what the channel pushes
/// again then is stored once. An event that is too long for NATS or for the stream is left out, and the log counts such.
///
/// A channel that is away is waited for; one that has forgotten the bridge is connected to anew. `ready` is told when the bridge is
/// connected. For the next run to go on where this one ends the ORB has to listen where it did, and the channel to have a folder.
///
/// # Errors
/// The ORB listens nowhere. Otherwise it does not end.
///
/// # Cancel safety
/// Pushes that wait are answered; see above.
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
        places: Semaphore::new(MAX_WAITING),
        left_out: AtomicU64::new(0),
        is_disconnected: Notify::new(),
        is_over: watch::channel(false).0,
    });
    let _ending = Ending(Arc::clone(&consumer));
    let servant = PushConsumerServant::from_arc(Arc::clone(&consumer));
    let reference = poa.activate_object_with_id(subject.as_bytes(), servant)?;
    poa.the_poa_manager().activate()?;
    let mut connecting = Connecting {
        orb,
        channel,
        reference,
        proxy: None,
    };
    let mut ready = Some(ready);
    let mut has_warned = false;
    loop {
        let pause = match connecting.connect().await {
            Ok(was_connected) => {
                has_warned = false;
                match ready.take() {
                    // Whoever has started it may wait no more.
                    Some(ready) => drop(ready.send(())),
                    None if !was_connected => tracing::error!(
                        "the channel had disconnected the bridge: events meanwhile are not bridged"
                    ),
                    None => {}
                }
                LOOK
            }
            Err(exception) => {
                if !core::mem::replace(&mut has_warned, true) {
                    tracing::error!(%exception, "waits for the channel, which does not answer");
                }
                CHANNEL_PAUSE
            }
        };
        tokio::select! {
            () = consumer.is_disconnected.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
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

/// The connection to a channel, as a consumer of it.
struct Connecting<'a> {
    orb: &'a Orb,
    channel: &'a Channel,
    reference: PushConsumerRef,
    proxy: Option<ProxyPushSupplierRef>,
}

impl Connecting<'_> {
    /// Connects to the proxy there is, that of an earlier run, or a new one; whether it was connected. A channel may disconnect a
    /// consumer that it cannot reach without telling it, so that the proxy has to be asked, and not only whether it is there.
    async fn connect(&mut self) -> Result<bool, SystemException> {
        let kept = match self.proxy.take() {
            Some(proxy) => Some(proxy),
            None => self.channel.kept(self.orb, ROLE).await?,
        };
        if let Some(proxy) = kept {
            match self.connect_to(&proxy).await {
                // There has to be another one.
                Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => {}
                connected => {
                    self.proxy = Some(proxy);
                    return connected;
                }
            }
        }
        let channel = self.channel.channel(self.orb).await?;
        let admin = channel.for_consumers().await?.ok_or_else(nil)?;
        let proxy = admin.obtain_push_supplier().await?.ok_or_else(nil)?;
        self.channel.keep(self.orb, ROLE, &proxy);
        let proxy = proxy.with_round_trip_timeout(proxy::ANSWER_WITHIN);
        let connected = self.connect_to(&proxy).await;
        self.proxy = Some(proxy);
        connected
    }

    async fn connect_to(&self, proxy: &ProxyPushSupplierRef) -> Result<bool, SystemException> {
        match proxy.connect_push_consumer(&self.reference).await {
            Ok(()) => Ok(false),
            Err(ConnectPushConsumerError::AlreadyConnected(_)) => Ok(true),
            Err(ConnectPushConsumerError::System(exception)) => Err(exception),
            Err(error) => Err(SystemException::from(SystemExceptionKind::BadParam)
                .with_detail(format_args!("{error}"))),
        }
    }
}
