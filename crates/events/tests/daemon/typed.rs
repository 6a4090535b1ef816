//! Events that are calls of an application's interface.

use crate::common::notify::{Notifications, event_type, property};
use crate::common::{Channel, Daemon, Received, command, orb};
use crate::plant::plant::{Alarms, AlarmsRef, AlarmsServant, Machine, Reading};
use crate::support::HANG;
use std::path::Path;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::{Any, Interface, ObjectRef, Orb, SystemException, SystemExceptionKind};
use zorb_dynamic::IdlTypes;
use zorb_events::cos_event_channel_admin::{
    EventChannelRef, proxy_push_supplier::ConnectPushConsumerError,
};
use zorb_events::cos_event_comm::{PushConsumer, PushConsumerRef, push_consumer::PushError};
use zorb_events::cos_notification::{Property, StructuredEvent};
use zorb_events::cos_typed_event_channel_admin::typed_consumer_admin::{
    ObtainTypedPullSupplierError, ObtainTypedPushSupplierError,
};
use zorb_events::cos_typed_event_channel_admin::typed_supplier_admin::{
    ObtainTypedPullConsumerError, ObtainTypedPushConsumerError,
};
use zorb_events::cos_typed_event_comm::{
    TypedPushConsumer, TypedPushConsumerRef, TypedPushConsumerServant,
};
use zorb_events::cos_typed_notify_channel_admin::{
    TypedConsumerAdminRef, TypedEventChannelFactoryRef, TypedEventChannelRef, TypedSupplierAdminRef,
};
use zorb_ifr::InterfaceRepository;

const IDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plant.idl");
const ALARMS: &str = "IDL:Plant/Alarms:1.0";
const LEVELS: &str = "IDL:Plant/Levels:1.0";

/// What a typed consumer is called with.
#[derive(Clone, Debug, PartialEq)]
enum Call {
    Raised(i32, Vec<Reading>),
    Cleared(i32),
    Stopped(String),
    Disconnected,
}

/// The typed consumer, and the object whose interface it has.
struct Typed {
    calls: UnboundedSender<Call>,
    object: Option<ObjectRef>,
}

impl Machine for Typed {
    async fn stopped(&self, why: &str) -> Result<(), SystemException> {
        let _ = self.calls.send(Call::Stopped(why.to_owned()));
        Ok(())
    }
}

impl Alarms for Typed {
    async fn raised(&self, severity: i32, all: &[Reading]) -> Result<(), SystemException> {
        let _ = self.calls.send(Call::Raised(severity, all.to_vec()));
        Ok(())
    }

    async fn cleared(&self, severity: i32) -> Result<(), SystemException> {
        let _ = self.calls.send(Call::Cleared(severity));
        Ok(())
    }
}

impl PushConsumer for Typed {
    async fn push(&self, _: &Any) -> Result<(), PushError> {
        Err(SystemException::from(SystemExceptionKind::NoImplement).into())
    }

    async fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        let _ = self.calls.send(Call::Disconnected);
        Ok(())
    }
}

impl TypedPushConsumer for Typed {
    async fn get_typed_consumer(&self) -> Result<Option<ObjectRef>, SystemException> {
        Ok(self.object.clone())
    }
}

struct Calls(UnboundedReceiver<Call>);

impl Calls {
    async fn next(&mut self) -> Call {
        let next = tokio::time::timeout(HANG, self.0.recv()).await;
        next.expect("a call comes").expect("a servant")
    }

    async fn take(&mut self, count: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for _ in 0..count {
            calls.push(self.next().await);
        }
        calls
    }
}

fn consumer(orb: &Orb) -> (Calls, TypedPushConsumerRef) {
    let (calls, received) = unbounded_channel();
    let poa = orb.root_poa();
    let object = None;
    let alarms: AlarmsRef = poa
        .activate(AlarmsServant::new(Typed {
            calls: calls.clone(),
            object,
        }))
        .unwrap();
    let object = Some(alarms.as_object().clone());
    let servant = TypedPushConsumerServant::new(Typed { calls, object });
    (Calls(received), poa.activate(servant).unwrap())
}

/// The typed face of a channel.
struct Channels {
    orb: Orb,
    consumers: TypedConsumerAdminRef,
    suppliers: TypedSupplierAdminRef,
}

impl Channels {
    async fn at(orb: &Orb, daemon: &Daemon) -> Self {
        let url = format!("corbaloc::{}/TypedEventChannel", daemon.address());
        let object = orb.string_to_object(&url).await.unwrap();
        let channel: TypedEventChannelRef = object.narrow().await.unwrap().expect("a channel");
        Self::of(orb, &channel).await
    }

    async fn of(orb: &Orb, channel: &TypedEventChannelRef) -> Self {
        Self {
            orb: orb.clone(),
            consumers: channel.default_consumer_admin().await.unwrap().unwrap(),
            suppliers: channel.default_supplier_admin().await.unwrap().unwrap(),
        }
    }

    /// The object that a supplier calls.
    async fn supplier(&self) -> AlarmsRef {
        let obtained = self
            .suppliers
            .obtain_typed_notification_push_consumer(ALARMS);
        let proxy = obtained.await.unwrap().0.unwrap();
        proxy.connect_typed_push_supplier(None).await.unwrap();
        let object = proxy.get_typed_consumer().await.unwrap().unwrap();
        assert_eq!(object.type_id(), ALARMS);
        object.narrow().await.unwrap().expect("alarms")
    }

    async fn consumer(&self) -> Calls {
        let (calls, consumer) = consumer(&self.orb);
        let obtained = self
            .consumers
            .obtain_typed_notification_push_supplier(ALARMS);
        let proxy = obtained.await.unwrap().0.unwrap();
        proxy.connect_typed_push_consumer(&consumer).await.unwrap();
        calls
    }
}

fn daemon(folder: Option<&Path>) -> Daemon {
    match folder {
        Some(folder) => Daemon::start(&["--idl", IDL, "--data", folder.to_str().unwrap()]),
        None => Daemon::start(&["--idl", IDL]),
    }
}

fn readings() -> Vec<Reading> {
    let reading = |sensor, value| Reading { sensor, value };
    vec![reading(7, 1.5), reading(8, -2.0)]
}

fn names(properties: &[Property]) -> Vec<&str> {
    properties.iter().map(|it| it.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_reach_typed_consumers_and_those_of_anys_and_structured_events() {
    let daemon = daemon(None);
    let orb = orb().await;
    let typed = Channels::at(&orb, &daemon).await;
    let any = daemon.channel(&orb).await;
    let notifications = Notifications::at(&orb, &daemon.url).await;
    let mut calls = typed.consumer().await;
    let (mut received, _) = any.consumer().await;
    let (mut structured, _) = notifications.consumer().await;
    let (mut filtered, proxy) = notifications.consumer().await;
    let filter = notifications
        .filter(
            &[event_type("", "%TYPED")],
            "$operation == 'Plant::Alarms::raised' and $severity > 2",
        )
        .await;
    proxy.add_filter(&filter).await.unwrap();

    let alarms = typed.supplier().await;
    alarms.raised(1, &readings()).await.unwrap();
    alarms.stopped("maintenance").await.unwrap();
    alarms.raised(3, &[]).await.unwrap();
    alarms.cleared(4).await.unwrap();
    assert_eq!(
        calls.take(4).await,
        [
            Call::Raised(1, readings()),
            Call::Stopped("maintenance".to_owned()),
            Call::Raised(3, Vec::new()),
            Call::Cleared(4),
        ]
    );

    let properties: Vec<Property> = received.next().await.unwrap().extract().unwrap();
    assert_eq!(names(&properties), ["operation", "severity", "all"]);
    let operation: String = properties[0].value.extract().unwrap();
    assert_eq!(operation, "Plant::Alarms::raised");
    let all: Vec<Reading> = properties[2].value.extract().unwrap();
    assert_eq!(all, readings());

    let [event] = &structured.next().await.unwrap()[..] else {
        panic!("one event");
    };
    let header = &event.header.fixed_header.event_type;
    assert_eq!(*header, event_type("", "%TYPED"));
    assert_eq!(event.filterable_data, properties);
    assert_eq!(event.remainder_of_body, Any::default());
    let [event] = &filtered.next().await.unwrap()[..] else {
        panic!("one event");
    };
    assert_eq!(event.filterable_data[1], property("severity", &3_i32));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_way_calls_of_a_supplier_are_not_overtaken_by_its_others() {
    let folder = tempfile::tempdir().unwrap();
    for folder in [None, Some(folder.path())] {
        let daemon = daemon(folder);
        let orb = orb().await;
        let typed = Channels::at(&orb, &daemon).await;
        // More than are asked whether they want an event before other tasks have their turn.
        let mut consumers = Vec::new();
        for _ in 0..20 {
            consumers.push(typed.consumer().await);
        }
        let alarms = typed.supplier().await;
        let mut expected = Vec::new();
        for number in 0..100 {
            alarms.cleared(number).await.unwrap();
            alarms.stopped(&number.to_string()).await.unwrap();
            expected.push(Call::Cleared(number));
            expected.push(Call::Stopped(number.to_string()));
        }
        for calls in &mut consumers {
            assert_eq!(calls.take(expected.len()).await, expected);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_calls_reach_typed_consumers_and_no_others_do() {
    let daemon = daemon(None);
    let orb = orb().await;
    let typed = Channels::at(&orb, &daemon).await;
    let mut calls = typed.consumer().await;
    let any = daemon.channel(&orb).await.push_proxy().await;
    let structured = Notifications::at(&orb, &daemon.url).await.pusher().await;
    let cleared = |number: i32| {
        vec![
            property("operation", "Plant::Alarms::cleared"),
            property("severity", &number),
        ]
    };
    let event = |name: &str, data: Vec<Property>| -> StructuredEvent {
        let mut event = crate::common::notify::alarm(0);
        event.header.fixed_header.event_type = event_type("", name);
        event.filterable_data = data;
        event
    };
    let push = |event: StructuredEvent| {
        let structured = structured.clone();
        async move { structured.push_structured_event(&event).await.unwrap() }
    };
    any.push(&Any::new(&1_i32).unwrap()).await.unwrap();
    any.push(&Any::new(&cleared(1)).unwrap()).await.unwrap();
    push(event("Alarm", cleared(-1))).await;
    push(event("%TYPED", cleared(2))).await;
    let unknown = vec![property("operation", "Plant::Alarms::none")];
    push(event("%TYPED", unknown)).await;
    let wrong = vec![
        property("operation", "Plant::Alarms::cleared"),
        property("severity", "high"),
    ];
    push(event("%TYPED", wrong)).await;
    any.push(&Any::new(&cleared(3)).unwrap()).await.unwrap();
    let numbers: Vec<Call> = (1..=3).map(Call::Cleared).collect();
    assert_eq!(calls.take(3).await, numbers);
}

#[tokio::test(flavor = "multi_thread")]
async fn interfaces_that_are_unknown_or_have_answers_are_refused() {
    let daemon = daemon(None);
    let orb = orb().await;
    let typed = Channels::at(&orb, &daemon).await;
    let none = Daemon::start(&[]);
    let without = Channels::at(&orb, &none).await;
    for (channel, interface) in [
        (&typed, LEVELS),
        (&typed, "IDL:Plant/None:1.0"),
        (&typed, "IDL:Plant/Reading:1.0"),
        (&typed, ""),
        (&without, ALARMS),
    ] {
        let pushed = channel
            .suppliers
            .obtain_typed_push_consumer(interface)
            .await;
        assert!(
            matches!(
                pushed,
                Err(ObtainTypedPushConsumerError::InterfaceNotSupported(_))
            ),
            "{interface}"
        );
        let pushing = channel
            .consumers
            .obtain_typed_push_supplier(interface)
            .await;
        assert!(
            matches!(
                pushing,
                Err(ObtainTypedPushSupplierError::NoSuchImplementation(_))
            ),
            "{interface}"
        );
    }
    // The pull model is not offered, which the specification has exceptions for.
    let pulled = typed.consumers.obtain_typed_pull_supplier(ALARMS).await;
    assert!(matches!(
        pulled,
        Err(ObtainTypedPullSupplierError::InterfaceNotSupported(_))
    ));
    let pulling = typed.suppliers.obtain_typed_pull_consumer(ALARMS).await;
    assert!(matches!(
        pulling,
        Err(ObtainTypedPullConsumerError::NoSuchImplementation(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_without_an_object_of_the_interface_is_a_type_error() {
    let daemon = daemon(None);
    let orb = orb().await;
    let typed = Channels::at(&orb, &daemon).await;
    let poa = orb.root_poa();
    let (calls, _received) = unbounded_channel();
    let nil = TypedPushConsumerServant::new(Typed {
        calls: calls.clone(),
        object: None,
    });
    let nil: TypedPushConsumerRef = poa.activate(nil).unwrap();
    let other = TypedPushConsumerServant::new(Typed {
        calls,
        object: Some(nil.as_object().clone()),
    });
    let other: TypedPushConsumerRef = poa.activate(other).unwrap();
    let (_untyped, plain) = Received::new(&orb);
    let proxy = typed.consumers.obtain_typed_push_supplier(ALARMS).await;
    let proxy = proxy.unwrap().unwrap();
    for peer in [nil.into(), other.into(), plain] {
        let connected = proxy.connect_push_consumer(&peer).await;
        assert!(matches!(
            connected,
            Err(ConnectPushConsumerError::TypeError(_))
        ));
    }
    // It is as it was.
    let (mut calls, consumer) = consumer(&orb);
    let consumer: PushConsumerRef = consumer.into();
    proxy.connect_push_consumer(&consumer).await.unwrap();
    let supplier = typed.supplier().await;
    supplier.cleared(1).await.unwrap();
    assert_eq!(calls.next().await, Call::Cleared(1));
    proxy.disconnect_push_supplier().await.unwrap();
    assert_eq!(calls.next().await, Call::Disconnected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_object_of_a_supplier_ends_with_its_proxy_and_works_when_connected() {
    let daemon = daemon(None);
    let orb = orb().await;
    let typed = Channels::at(&orb, &daemon).await;
    let proxy = typed.suppliers.obtain_typed_push_consumer(ALARMS).await;
    let proxy = proxy.unwrap().unwrap();
    let object = proxy.get_typed_consumer().await.unwrap().unwrap();
    let alarms: AlarmsRef = object.narrow().await.unwrap().expect("alarms");
    let machine = object.is_a("IDL:Plant/Machine:1.0").await;
    assert!(machine.unwrap());
    let early = alarms.stopped("early").await.unwrap_err();
    assert_eq!(early.kind, SystemExceptionKind::BadInvOrder);
    proxy.connect_push_supplier(None).await.unwrap();
    alarms.stopped("now").await.unwrap();
    let unknown = object.request("level").invoke().await.unwrap_err();
    let unknown = SystemException::from(unknown);
    assert_eq!(unknown.kind, SystemExceptionKind::BadOperation);
    let malformed = object.request("stopped").invoke().await.unwrap_err();
    let malformed = SystemException::from(malformed);
    assert_eq!(malformed.kind, SystemExceptionKind::Marshal);
    proxy.disconnect_push_consumer().await.unwrap();
    assert!(object.non_existent().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_channels_are_made_by_their_factory_and_are_channels_of_both_kinds() {
    let daemon = daemon(None);
    let orb = orb().await;
    let url = format!("corbaloc::{}/TypedNotificationService", daemon.address());
    let object = orb.string_to_object(&url).await.unwrap();
    let factory: TypedEventChannelFactoryRef = object.narrow().await.unwrap().unwrap();
    let (channel, id) = factory.create_typed_channel(&[], &[]).await.unwrap();
    let channel = channel.unwrap();
    assert!(
        factory
            .get_all_typed_channels()
            .await
            .unwrap()
            .contains(&id)
    );
    let found = factory.get_typed_event_channel(id).await.unwrap().unwrap();
    assert!(found.as_object().is_equivalent(channel.as_object()));
    let typed = Channels::of(&orb, &channel).await;
    let mut calls = typed.consumer().await;
    let untyped: EventChannelRef = {
        let admin = typed.consumers.my_channel().await.unwrap().unwrap();
        admin.into()
    };
    let (mut received, _) = Channel::of(&orb, untyped).await.consumer().await;
    typed.supplier().await.cleared(5).await.unwrap();
    assert_eq!(calls.next().await, Call::Cleared(5));
    assert!(received.next().await.is_some());
    channel.destroy().await.unwrap();
    assert_eq!(calls.next().await, Call::Disconnected);
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_calls_and_typed_proxies_outlive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let first = daemon(Some(folder.path()));
    let address = first.address();
    let orb = orb().await;
    let typed = Channels::at(&orb, &first).await;
    let notifications = Notifications::at(&orb, &first.url).await;
    let puller = notifications.puller(&notifications.consumers).await;
    let mut calls = typed.consumer().await;
    let alarms = typed.supplier().await;
    alarms.raised(1, &readings()).await.unwrap();
    assert_eq!(calls.next().await, Call::Raised(1, readings()));
    drop(first);

    // Without the IDL it is there, and waits.
    let without = Daemon::again(folder.path(), &address);
    assert!(alarms.as_object().non_existent().await.unwrap());
    without.terminate();

    let listen = format!("iiop://{address}");
    let data = folder.path().to_str().unwrap();
    let _again = Daemon::start(&["--idl", IDL, "--data", data, "--listen", &listen]);
    alarms.raised(2, &[]).await.unwrap();
    // What was not known to have arrived comes again.
    let mut call = calls.next().await;
    if call == Call::Raised(1, readings()) {
        call = calls.next().await;
    }
    assert_eq!(call, Call::Raised(2, Vec::new()));
    for severity in [1, 2] {
        let event = puller.pull_structured_event().await.unwrap();
        let header = &event.header.fixed_header.event_type;
        assert_eq!(*header, event_type("", "%TYPED"));
        assert_eq!(event.filterable_data[1], property("severity", &severity));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interfaces_are_read_from_an_interface_repository_too() {
    let orb = orb().await;
    let repository = InterfaceRepository::new(&orb).unwrap();
    let idl = std::fs::read_to_string(IDL).unwrap();
    let types = IdlTypes::from_text("plant.idl", &idl).unwrap();
    repository.add(&types).unwrap();
    let url = orb.object_to_string(&repository.reference().unwrap());
    let daemon = Daemon::start(&["--repository", &url]);
    let typed = Channels::at(&orb, &daemon).await;
    let mut calls = typed.consumer().await;
    typed.supplier().await.raised(1, &readings()).await.unwrap();
    assert_eq!(calls.next().await, Call::Raised(1, readings()));
    let levels = typed.suppliers.obtain_typed_push_consumer(LEVELS).await;
    assert!(levels.is_err());
}

#[test]
fn idl_with_errors_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.idl");
    std::fs::write(&file, "interface {").unwrap();
    let Err(running) = Daemon::started(command(&["--idl", file.to_str().unwrap()])) else {
        panic!("it starts");
    };
    let ended = running.finish();
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.lines.iter().any(|line| line.contains("wrong.idl")));
}
