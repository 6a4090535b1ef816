//! Suppliers and consumers of structured events.

use crate::support::HANG;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::{Any, IdlType, Interface, Orb, SystemException};
use zorb_events::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use zorb_events::cos_notify_channel_admin::{
    ClientType, ConsumerAdminRef, EventChannelRef, ProxyPullSupplierRef,
    SequenceProxyPullSupplierRef, SequenceProxyPushSupplierRef, StructuredProxyPullConsumerRef,
    StructuredProxyPullSupplierRef, StructuredProxyPushConsumerRef, StructuredProxyPushSupplierRef,
    SupplierAdminRef,
};
use zorb_events::cos_notify_comm::{
    NotifyPublish, NotifySubscribe, SequencePushConsumer, SequencePushConsumerRef,
    SequencePushConsumerServant, StructuredPullSupplier, StructuredPullSupplierRef,
    StructuredPullSupplierServant, StructuredPushConsumer, StructuredPushConsumerRef,
    StructuredPushConsumerServant, StructuredPushSupplier, StructuredPushSupplierRef,
    StructuredPushSupplierServant, notify_publish::OfferChangeError,
    notify_subscribe::SubscriptionChangeError, sequence_push_consumer::PushStructuredEventsError,
    structured_pull_supplier::PullStructuredEventError,
    structured_pull_supplier::TryPullStructuredEventError,
    structured_push_consumer::PushStructuredEventError,
};
use zorb_events::cos_notify_filter::{
    ConstraintExp, FilterFactoryRef, FilterRef, MappingConstraintPair, MappingFilterRef,
};

pub(crate) fn property<T: IdlType + ?Sized>(name: &str, value: &T) -> Property {
    Property {
        name: name.to_owned(),
        value: Any::new(value).unwrap(),
    }
}

pub(crate) fn event_type(domain: &str, name: &str) -> EventType {
    EventType {
        domain_name: domain.to_owned(),
        type_name: name.to_owned(),
    }
}

/// An event of type `name` of `plant` with a number as its filterable data, and a header.
pub(crate) fn structured(name: &str, number: i32, header: Vec<Property>) -> StructuredEvent {
    StructuredEvent {
        header: EventHeader {
            fixed_header: FixedEventHeader {
                event_type: event_type("plant", name),
                event_name: format!("event {number}"),
            },
            variable_header: header,
        },
        filterable_data: vec![property("number", &number)],
        remainder_of_body: Any::new(&"the rest").unwrap(),
    }
}

pub(crate) fn alarm(number: i32) -> StructuredEvent {
    structured("Alarm", number, Vec::new())
}

pub(crate) fn number_of(event: &StructuredEvent) -> i32 {
    let number = event.filterable_data.first().expect("filterable data");
    number.value.extract().expect("a number")
}

pub(crate) fn numbers_of(events: &[StructuredEvent]) -> Vec<i32> {
    events.iter().map(number_of).collect()
}

pub(crate) fn constraint(types: &[EventType], text: &str) -> ConstraintExp {
    ConstraintExp {
        event_types: types.to_vec(),
        constraint_expr: text.to_owned(),
    }
}

/// A channel of CosNotification, with its default admins.
pub(crate) struct Notifications {
    pub(crate) orb: Orb,
    pub(crate) channel: EventChannelRef,
    pub(crate) consumers: ConsumerAdminRef,
    pub(crate) suppliers: SupplierAdminRef,
    pub(crate) filters: FilterFactoryRef,
}

impl Notifications {
    pub(crate) async fn at(orb: &Orb, url: &str) -> Self {
        let object = orb.string_to_object(url).await.expect("a reference");
        let channel: EventChannelRef = object.narrow().await.expect("it answers").expect(url);
        Self::of(orb, channel).await
    }

    pub(crate) async fn of(orb: &Orb, channel: EventChannelRef) -> Self {
        Self {
            orb: orb.clone(),
            consumers: channel.default_consumer_admin().await.unwrap().unwrap(),
            suppliers: channel.default_supplier_admin().await.unwrap().unwrap(),
            filters: channel.default_filter_factory().await.unwrap().unwrap(),
            channel,
        }
    }

    /// A proxy of an admin of consumers, not connected.
    pub(crate) async fn proxy<T: Interface>(
        admin: &ConsumerAdminRef,
        is_push: bool,
        ctype: ClientType,
    ) -> T {
        let (proxy, _) = match is_push {
            true => admin
                .obtain_notification_push_supplier(ctype)
                .await
                .unwrap(),
            false => admin
                .obtain_notification_pull_supplier(ctype)
                .await
                .unwrap(),
        };
        let proxy = proxy.unwrap().as_object().clone();
        proxy.narrow().await.unwrap().expect("a proxy of the kind")
    }

    /// A proxy to pull structured events from.
    pub(crate) async fn puller(&self, admin: &ConsumerAdminRef) -> StructuredProxyPullSupplierRef {
        let proxy: StructuredProxyPullSupplierRef =
            Self::proxy(admin, false, ClientType::StructuredEvent).await;
        proxy.connect_structured_pull_consumer(None).await.unwrap();
        proxy
    }

    pub(crate) async fn any_puller(&self) -> ProxyPullSupplierRef {
        let proxy: ProxyPullSupplierRef =
            Self::proxy(&self.consumers, false, ClientType::AnyEvent).await;
        proxy.connect_any_pull_consumer(None).await.unwrap();
        proxy
    }

    pub(crate) async fn sequence_puller(&self) -> SequenceProxyPullSupplierRef {
        let proxy: SequenceProxyPullSupplierRef =
            Self::proxy(&self.consumers, false, ClientType::SequenceEvent).await;
        proxy.connect_sequence_pull_consumer(None).await.unwrap();
        proxy
    }

    /// A consumer that is pushed structured events.
    pub(crate) async fn consumer(&self) -> (Pushed, StructuredProxyPushSupplierRef) {
        let (pushed, consumer) = Pushed::structured(&self.orb);
        let proxy: StructuredProxyPushSupplierRef =
            Self::proxy(&self.consumers, true, ClientType::StructuredEvent).await;
        let connected = proxy.connect_structured_push_consumer(&consumer).await;
        connected.unwrap();
        (pushed, proxy)
    }

    /// A consumer that is pushed sequences, whose proxy has these properties.
    pub(crate) async fn sequence_consumer(
        &self,
        qos: &[Property],
    ) -> (Pushed, SequenceProxyPushSupplierRef) {
        let (pushed, consumer) = Pushed::sequence(&self.orb);
        let proxy: SequenceProxyPushSupplierRef =
            Self::proxy(&self.consumers, true, ClientType::SequenceEvent).await;
        proxy.set_qos(qos).await.unwrap();
        let connected = proxy.connect_sequence_push_consumer(&consumer).await;
        connected.unwrap();
        (pushed, proxy)
    }

    /// A proxy of an admin of suppliers, not connected.
    pub(crate) async fn supplier_proxy<T: Interface>(
        admin: &SupplierAdminRef,
        is_push: bool,
        ctype: ClientType,
    ) -> T {
        let (proxy, _) = match is_push {
            true => admin
                .obtain_notification_push_consumer(ctype)
                .await
                .unwrap(),
            false => admin
                .obtain_notification_pull_consumer(ctype)
                .await
                .unwrap(),
        };
        let proxy = proxy.unwrap().as_object().clone();
        proxy.narrow().await.unwrap().expect("a proxy of the kind")
    }

    /// A proxy to push structured events to.
    pub(crate) async fn pusher(&self) -> StructuredProxyPushConsumerRef {
        let proxy: StructuredProxyPushConsumerRef =
            Self::supplier_proxy(&self.suppliers, true, ClientType::StructuredEvent).await;
        proxy.connect_structured_push_supplier(None).await.unwrap();
        proxy
    }

    /// A supplier that is pulled from.
    pub(crate) async fn supplier(
        &self,
    ) -> (
        UnboundedSender<StructuredEvent>,
        StructuredProxyPullConsumerRef,
    ) {
        let (sender, events) = unbounded_channel();
        let servant = StructuredPullSupplierServant::new(Offering(tokio::sync::Mutex::new(events)));
        let supplier: StructuredPullSupplierRef = self.orb.root_poa().activate(servant).unwrap();
        let proxy: StructuredProxyPullConsumerRef =
            Self::supplier_proxy(&self.suppliers, false, ClientType::StructuredEvent).await;
        let connected = proxy.connect_structured_pull_supplier(&supplier).await;
        connected.unwrap();
        (sender, proxy)
    }

    /// A filter of one constraint.
    pub(crate) async fn filter(&self, types: &[EventType], text: &str) -> FilterRef {
        let filter = self.filters.create_filter("EXTENDED_TCL").await;
        let filter = filter.unwrap().unwrap();
        let constraints = [constraint(types, text)];
        filter.add_constraints(&constraints).await.unwrap();
        filter
    }

    /// A mapping filter of one constraint.
    pub(crate) async fn mapping<T: IdlType>(
        &self,
        text: &str,
        value: &T,
        default: &T,
    ) -> MappingFilterRef {
        let default = Any::new(default).unwrap();
        let filter = self.filters.create_mapping_filter("EXTENDED_TCL", &default);
        let filter = filter.await.unwrap().unwrap();
        let pair = MappingConstraintPair {
            constraint_expression: constraint(&[], text),
            result_to_set: Any::new(value).unwrap(),
        };
        filter.add_mapping_constraints(&[pair]).await.unwrap();
        filter
    }
}

/// What a consumer has been pushed: a sequence at a time, `None` when it was disconnected.
pub(crate) struct Pushed {
    events: UnboundedReceiver<Option<Vec<StructuredEvent>>>,
    offers: UnboundedReceiver<Heard>,
    stalled: Arc<tokio::sync::Mutex<()>>,
}

struct Consumer {
    events: UnboundedSender<Option<Vec<StructuredEvent>>>,
    offers: UnboundedSender<Heard>,
    stalled: Arc<tokio::sync::Mutex<()>>,
}

impl Pushed {
    fn new() -> (Self, Consumer) {
        let (events_sender, events) = unbounded_channel();
        let (offers_sender, offers) = unbounded_channel();
        let stalled = Arc::default();
        let consumer = Consumer {
            events: events_sender,
            offers: offers_sender,
            stalled: Arc::clone(&stalled),
        };
        let pushed = Self {
            events,
            offers,
            stalled,
        };
        (pushed, consumer)
    }

    pub(crate) fn structured(orb: &Orb) -> (Self, StructuredPushConsumerRef) {
        let (pushed, consumer) = Self::new();
        let servant = StructuredPushConsumerServant::new(consumer);
        (pushed, orb.root_poa().activate(servant).unwrap())
    }

    pub(crate) fn sequence(orb: &Orb) -> (Self, SequencePushConsumerRef) {
        let (pushed, consumer) = Self::new();
        let servant = SequencePushConsumerServant::new(consumer);
        (pushed, orb.root_poa().activate(servant).unwrap())
    }

    /// What comes next.
    pub(crate) async fn next(&mut self) -> Option<Vec<StructuredEvent>> {
        let next = tokio::time::timeout(HANG, self.events.recv()).await;
        next.expect("an event comes").expect("a servant")
    }

    /// So many numbers, in whatever sequences.
    pub(crate) async fn numbers(&mut self, count: usize) -> Vec<i32> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            numbers.extend(numbers_of(&self.next().await.expect("not disconnected")));
        }
        numbers
    }

    /// What it was told of offers.
    pub(crate) async fn offer(&mut self) -> Heard {
        let told = tokio::time::timeout(HANG, self.offers.recv()).await;
        told.expect("it is told").expect("a servant")
    }

    /// Answers nothing as long as the guard is held.
    pub(crate) async fn stall(&self) -> tokio::sync::OwnedMutexGuard<()> {
        Arc::clone(&self.stalled).lock_owned().await
    }
}

impl NotifyPublish for Consumer {
    async fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), OfferChangeError> {
        let _ = self.offers.send((added.to_vec(), removed.to_vec()));
        Ok(())
    }
}

impl StructuredPushConsumer for Consumer {
    async fn push_structured_event(
        &self,
        notification: &StructuredEvent,
    ) -> Result<(), PushStructuredEventError> {
        let _answers = self.stalled.lock().await;
        let _ = self.events.send(Some(vec![notification.clone()]));
        Ok(())
    }

    async fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        let _ = self.events.send(None);
        Ok(())
    }
}

impl SequencePushConsumer for Consumer {
    async fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), PushStructuredEventsError> {
        let _answers = self.stalled.lock().await;
        let _ = self.events.send(Some(notifications.to_vec()));
        Ok(())
    }

    async fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        let _ = self.events.send(None);
        Ok(())
    }
}

/// A supplier that has what was sent to it.
struct Offering(tokio::sync::Mutex<UnboundedReceiver<StructuredEvent>>);

impl NotifySubscribe for Offering {
    async fn subscription_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), SubscriptionChangeError> {
        Ok(())
    }
}

impl StructuredPullSupplier for Offering {
    async fn pull_structured_event(&self) -> Result<StructuredEvent, PullStructuredEventError> {
        let event = self.0.lock().await.recv().await;
        Ok(event.ok_or(zorb_events::cos_event_comm::Disconnected {})?)
    }

    async fn try_pull_structured_event(
        &self,
    ) -> Result<(StructuredEvent, bool), TryPullStructuredEventError> {
        Ok(match self.0.lock().await.try_recv() {
            Ok(event) => (event, true),
            Err(_) => (structured("", 0, Vec::new()), false),
        })
    }

    async fn disconnect_structured_pull_supplier(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Types that were added, and removed.
pub(crate) type Heard = (Vec<EventType>, Vec<EventType>);

/// A supplier that hears what is subscribed to.
pub(crate) struct Hearing(Mutex<UnboundedSender<Heard>>);

impl Hearing {
    pub(crate) fn supplier(orb: &Orb) -> (StructuredPushSupplierRef, UnboundedReceiver<Heard>) {
        let (sender, heard) = unbounded_channel();
        let servant = StructuredPushSupplierServant::new(Self(Mutex::new(sender)));
        (orb.root_poa().activate(servant).unwrap(), heard)
    }
}

impl NotifySubscribe for Hearing {
    async fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), SubscriptionChangeError> {
        let heard = (added.to_vec(), removed.to_vec());
        let _ = self.0.lock().unwrap().send(heard);
        Ok(())
    }
}

impl StructuredPushSupplier for Hearing {
    async fn disconnect_structured_push_supplier(&self) -> Result<(), SystemException> {
        Ok(())
    }
}
