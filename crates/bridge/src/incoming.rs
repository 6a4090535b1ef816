//! From a subject to a channel.

use crate::Channel;
use crate::engine::Engine;
use crate::payload::Payload;
use crate::proxy::{self, nil};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message};
use core::convert::Infallible;
use futures_util::{FutureExt, StreamExt};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use zorb::{
    Any, CompletionStatus, EncodeError, Interface, Orb, SystemException, SystemExceptionKind,
};
use zorb_events::cos_event_channel_admin::ProxyPushConsumerRef;
use zorb_events::cos_event_channel_admin::proxy_push_consumer::ConnectPushSupplierError;
use zorb_events::cos_event_comm::push_consumer::PushError;
use zorb_events::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use zorb_events::cos_notify_channel_admin::{
    self as notify, StructuredProxyPushConsumerRef,
    structured_proxy_push_consumer::ConnectStructuredPushSupplierError,
};
use zorb_events::cos_notify_comm::structured_push_consumer::PushStructuredEventError;

/// Messages that are fetched at a time, and so those that may be delivered again after a crash.
const MESSAGES_AT_ONCE: usize = 64;
/// How long a fetch waits for messages.
const FETCH: Duration = Duration::from_secs(5);
/// How long JetStream waits for the bridge to say that a message is pushed, or that it is at it.
const ACK_WAIT: Duration = Duration::from_secs(15);
/// How long a fetched message may wait for those before it: then there is time for its push.
const HELD: Duration = Duration::from_secs(5);
/// The pauses before NATS or the channel is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// What a channel says of an event that it takes at no other time either.
const REFUSALS: [SystemExceptionKind; 5] = [
    SystemExceptionKind::Marshal,
    SystemExceptionKind::BadParam,
    SystemExceptionKind::BadTypecode,
    SystemExceptionKind::DataConversion,
    SystemExceptionKind::ImpLimit,
];

/// How the messages of a subject are pushed to a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Push {
    /// As anys. Any channel takes them; what comes again is not marked.
    #[default]
    Any,
    /// As structured events with the any as their `remainder_of_body`, and in their header where they come from: [`STREAM`],
    /// [`SEQUENCE`] and [`REDELIVERED`]. Channels of CosNotification take them. `zorb-events` gives the any to consumers of anys.
    Structured,
}

impl Push {
    /// The name of the proxy.
    const fn role(self) -> &'static str {
        match self {
            Self::Any => "supplier",
            Self::Structured => "structured-supplier",
        }
    }
}

/// The property of a structured event's header with the stream of its message.
pub const STREAM: &str = "NatsStream";
/// The property with the number of the message in the stream, an `unsigned long long`: events of one stream with the same number are the
/// same message.
pub const SEQUENCE: &str = "NatsSequence";
/// The property of an event that may have been pushed before: TRUE. Others do not have it.
pub const REDELIVERED: &str = "Redelivered";
/// The type of structured events that are anys.
const ANY_TYPE: &str = "%ANY";

/// Pushes each message of a subject to a channel, at least once and in the order of the stream, as a push supplier: a message is
/// acknowledged when the channel has answered the push, so that no more is fetched than the channel takes. After a crash of the bridge, or of
/// a server of NATS, messages that were not acknowledged come again, later than others: [`Push::Structured`] marks them, and the log counts
/// them. What the bridge has published itself is left out.
///
/// A channel that is away is waited for, as is NATS. `ready` is told when the bridge is connected to the channel.
///
/// # Errors
/// None: it does not end.
pub async fn subscribe(
    orb: &Orb,
    channel: &Channel,
    engine: Engine,
    subject: &str,
    (payload, push): (Payload, Push),
    ready: oneshot::Sender<()>,
) -> Infallible {
    let mut pause = Pause::default();
    let mut supplier = Supplier {
        orb,
        channel,
        push,
        proxy: None,
    };
    while let Err(exception) = supplier.connect().await {
        pause.wait("the channel", &exception).await;
    }
    // Whoever has started it may wait no more.
    let _ = ready.send(());
    let mut again: u64 = 0;
    loop {
        let consumer = match consumer(&engine, subject).await {
            Ok(consumer) => consumer,
            Err(why) => {
                pause.wait("NATS", &why).await;
                continue;
            }
        };
        loop {
            let fetch = consumer
                .fetch()
                .max_messages(MESSAGES_AT_ONCE)
                .expires(FETCH);
            let mut messages = match fetch.messages().await {
                Ok(messages) => messages,
                Err(error) => {
                    pause.wait("NATS", &error).await;
                    break;
                }
            };
            let mut failed = None;
            let mut fetched = Instant::now();
            loop {
                let message = match messages.next().now_or_never() {
                    Some(message) => message,
                    None => {
                        let message = messages.next().await;
                        fetched = Instant::now();
                        message
                    }
                };
                let message = match message {
                    Some(Ok(message)) => message,
                    Some(Err(error)) => {
                        failed = Some(error);
                        break;
                    }
                    None => break,
                };
                if fetched.elapsed() > HELD {
                    // JetStream would deliver it a second time meanwhile; so it comes again before all later ones.
                    let _ = message.ack_with(AckKind::Nak(None)).await;
                    continue;
                }
                let is_again = message.info().is_ok_and(|info| info.delivered > 1);
                if is_again {
                    again = again.saturating_add(1);
                    tracing::warn!(again, "a message comes again, and may be an event twice");
                }
                supplier.deliver(&engine, payload, &message, is_again).await;
            }
            match failed {
                Some(error) => {
                    pause.wait("NATS", &error).await;
                    break;
                }
                None => pause = Pause::default(),
            }
        }
    }
}

/// Pauses that become longer.
#[derive(Default)]
struct Pause(Option<Duration>);

impl Pause {
    async fn wait(&mut self, what: &str, why: &dyn core::fmt::Display) {
        if self.0.is_none() {
            tracing::error!(%why, "waits for {what}, which does not answer");
        }
        let pause = self.0.unwrap_or(FIRST_PAUSE);
        tokio::time::sleep(pause).await;
        self.0 = Some(pause.saturating_mul(2).min(LONGEST_PAUSE));
    }
}

/// The durable consumer of the bridge.
async fn consumer(engine: &Engine, subject: &str) -> Result<PullConsumer, String> {
    let stream = engine.context.get_stream(&engine.stream).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let config = pull::Config {
        durable_name: Some(engine.name.clone()),
        filter_subject: subject.to_owned(),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_ack_pending: i64::try_from(MESSAGES_AT_ONCE).unwrap_or(i64::MAX),
        ..pull::Config::default()
    };
    let consumer = stream.get_or_create_consumer(&engine.name, config).await;
    consumer.map_err(|error| error.to_string())
}

struct Supplier<'a> {
    orb: &'a Orb,
    channel: &'a Channel,
    push: Push,
    proxy: Option<Proxy>,
}

/// What events are pushed to.
#[derive(Clone)]
enum Proxy {
    Any(ProxyPushConsumerRef),
    Structured(StructuredProxyPushConsumerRef),
}

/// An event, and the message that it was.
struct Delivery<'a> {
    event: Any,
    stream: &'a str,
    sequence: u64,
    is_again: bool,
}

impl Delivery<'_> {
    fn structured(&self) -> Result<StructuredEvent, EncodeError> {
        let property = |name: &str, value: Result<Any, EncodeError>| {
            let name = name.to_owned();
            value.map(|value| Property { name, value })
        };
        let mut variable_header = vec![
            property(STREAM, Any::new(self.stream))?,
            property(SEQUENCE, Any::new(&self.sequence))?,
        ];
        if self.is_again {
            variable_header.push(property(REDELIVERED, Any::new(&true))?);
        }
        Ok(StructuredEvent {
            header: EventHeader {
                fixed_header: FixedEventHeader {
                    event_type: EventType {
                        domain_name: String::new(),
                        type_name: ANY_TYPE.to_owned(),
                    },
                    event_name: String::new(),
                },
                variable_header,
            },
            filterable_data: Vec::new(),
            remainder_of_body: self.event.clone(),
        })
    }
}

impl Supplier<'_> {
    /// Delivers a message, and says so; tries until that is done.
    async fn deliver(
        &mut self,
        engine: &Engine,
        payload: Payload,
        message: &Message,
        is_again: bool,
    ) {
        let headers = message.headers.as_ref();
        let bridge = headers.and_then(|headers| headers.get(Engine::BRIDGE));
        let is_own = bridge.is_some_and(|bridge| bridge.as_str() == engine.name);
        let kind = match payload.decode(&message.payload) {
            _ if is_own => AckKind::Ack,
            Ok(event) => {
                let mut delivery = Delivery {
                    event,
                    stream: &engine.stream,
                    sequence: message.info().map_or(0, |info| info.stream_sequence),
                    is_again,
                };
                let mut pause = Pause::default();
                loop {
                    let Err(exception) = self.push(&delivery).await else {
                        break AckKind::Ack;
                    };
                    // The channel may have it.
                    delivery.is_again |= exception.completed != CompletionStatus::No;
                    if REFUSALS.contains(&exception.kind) {
                        tracing::error!(%exception, "the channel takes no such event; it is left out");
                        break AckKind::Term;
                    }
                    // It stays the bridge's.
                    let _ = message.ack_with(AckKind::Progress).await;
                    pause.wait("the channel", &exception).await;
                }
            }
            Err(error) => {
                tracing::error!(%error, "a message is no event, and left out");
                AckKind::Term
            }
        };
        // One that is lost brings the message again.
        let _ = message.ack_with(kind).await;
    }

    async fn push(&mut self, delivery: &Delivery<'_>) -> Result<(), SystemException> {
        // Disconnected is as good as gone.
        let gone = || SystemException::from(SystemExceptionKind::ObjectNotExist);
        let pushed = match self.connect().await? {
            Proxy::Any(proxy) => match proxy.push(&delivery.event).await {
                Ok(()) => Ok(()),
                Err(PushError::System(exception)) => Err(exception),
                Err(_) => Err(gone()),
            },
            Proxy::Structured(proxy) => {
                let event = delivery.structured().map_err(SystemException::from)?;
                match proxy.push_structured_event(&event).await {
                    Ok(()) => Ok(()),
                    Err(PushStructuredEventError::System(exception)) => Err(exception),
                    Err(_) => Err(gone()),
                }
            }
        };
        if pushed
            .as_ref()
            .is_err_and(|exception| exception.kind == SystemExceptionKind::ObjectNotExist)
        {
            self.proxy = None;
        }
        pushed
    }

    /// The proxy: that of an earlier run, or a new one.
    async fn connect(&mut self) -> Result<Proxy, SystemException> {
        if let Some(proxy) = &self.proxy {
            return Ok(proxy.clone());
        }
        let proxy = match self.push {
            Push::Any => Proxy::Any(self.connect_any().await?),
            Push::Structured => Proxy::Structured(self.connect_structured().await?),
        };
        self.proxy = Some(proxy.clone());
        Ok(proxy)
    }

    async fn connect_any(&self) -> Result<ProxyPushConsumerRef, SystemException> {
        let role = self.push.role();
        let proxy: ProxyPushConsumerRef = match self.channel.kept(self.orb, role).await? {
            Some(proxy) => proxy,
            None => {
                let channel = self.channel.channel(self.orb).await?;
                let admin = channel.for_suppliers().await?.ok_or_else(nil)?;
                let proxy = admin.obtain_push_consumer().await?.ok_or_else(nil)?;
                self.channel.keep(self.orb, role, &proxy);
                proxy
            }
        };
        let proxy = proxy.with_round_trip_timeout(proxy::ANSWER_WITHIN);
        match proxy.connect_push_supplier(None).await {
            // In an earlier run.
            Ok(()) | Err(ConnectPushSupplierError::AlreadyConnected(_)) => Ok(proxy),
            Err(ConnectPushSupplierError::System(exception)) => Err(exception),
            Err(error) => Err(refused(&error)),
        }
    }

    async fn connect_structured(&self) -> Result<StructuredProxyPushConsumerRef, SystemException> {
        let role = self.push.role();
        let proxy: StructuredProxyPushConsumerRef = match self.channel.kept(self.orb, role).await? {
            Some(proxy) => proxy,
            None => {
                let channel = self.channel.channel(self.orb).await?;
                let channel: Option<notify::EventChannelRef> = channel.as_object().narrow().await?;
                let none = "it is no channel of CosNotification, which --structured wants";
                let channel = channel.ok_or_else(|| refused(&none))?;
                let admin = channel.default_supplier_admin().await?.ok_or_else(nil)?;
                let obtained = admin
                    .obtain_notification_push_consumer(notify::ClientType::StructuredEvent)
                    .await;
                let (proxy, _) = obtained.map_err(|error| refused(&error))?;
                let proxy = proxy.ok_or_else(nil)?.as_object().unchecked_narrow();
                self.channel.keep(self.orb, role, &proxy);
                proxy
            }
        };
        let proxy = proxy.with_round_trip_timeout(proxy::ANSWER_WITHIN);
        match proxy.connect_structured_push_supplier(None).await {
            // In an earlier run.
            Ok(()) | Err(ConnectStructuredPushSupplierError::AlreadyConnected(_)) => Ok(proxy),
            Err(ConnectStructuredPushSupplierError::System(exception)) => Err(exception),
            Err(error) => Err(refused(&error)),
        }
    }
}

/// The exception for a channel that does not take the bridge.
fn refused(why: &dyn core::fmt::Display) -> SystemException {
    SystemException::from(SystemExceptionKind::BadParam).with_detail(format_args!("{why}"))
}
