//! What a channel of CosNotification does beyond one of CosEvent.

use crate::common::notify::{
    Hearing, Notifications, Pushed, alarm, constraint, event_type, number_of, numbers_of, property,
    structured,
};
use crate::common::{Channel, Daemon, event, is_gone, number, orb};
use crate::support::HANG;
use std::slice::from_ref;
use std::time::{SystemTime, UNIX_EPOCH};
use zorb::{Any, Interface, Orb, SystemExceptionKind};
use zorb_events::cos_notification::{
    QoSErrorCode, StructuredEvent,
    admin_properties_admin::SetAdminError,
    qo_s_admin::{SetQosError, ValidateQosError},
};
use zorb_events::cos_notify_channel_admin::{
    ClientType, EventChannelFactoryRef, InterFilterGroupOperator, ObtainInfoMode, ProxyType,
    SequenceProxyPushConsumerRef, StructuredProxyPullSupplierRef, StructuredProxyPushConsumerRef,
    StructuredProxyPushSupplierRef,
    consumer_admin::ObtainNotificationPullSupplierError,
    event_channel::GetConsumeradminError,
    event_channel_factory::CreateChannelError,
    structured_proxy_push_supplier::{ResumeConnectionError, SuspendConnectionError},
};
use zorb_events::cos_notify_comm::structured_push_consumer::PushStructuredEventError;
use zorb_events::cos_notify_filter::{
    filter::{AddConstraintsError, ModifyConstraintsError},
    filter_admin::GetFilterError,
    filter_factory::CreateFilterError,
    mapping_filter::AddMappingConstraintsError,
};
use zorb_events::time_base::UtcT;
use zorb_events::{EventService, Settings};

/// A service in memory, in an ORB that lives as long as it.
async fn service() -> (Orb, EventService, String) {
    let server = orb().await;
    let service = EventService::start(&server, None, Settings::default())
        .await
        .unwrap();
    let url = server.corbaloc_url(zorb_events::CHANNEL_KEY).unwrap();
    (server, service, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_structured_event_reaches_consumers_of_every_form_and_an_any_does_too() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    // The same channel, as CosEvent has it.
    let plain = Channel::at(&orb, &url).await;
    let (mut plain_received, _) = plain.consumer().await;
    let plain_pull = plain.pull_proxy().await;
    let (mut pushed, push_proxy) = channel.consumer().await;
    let (mut sequences, _) = channel.sequence_consumer(&[]).await;
    let any_pull = channel.any_puller().await;
    let pull = channel.puller(&channel.consumers).await;
    let sequence_pull = channel.sequence_puller().await;
    assert_eq!(
        push_proxy.my_type().await.unwrap(),
        ProxyType::PushStructured
    );
    let admin = push_proxy.my_admin().await.unwrap().unwrap();
    assert_eq!(admin.my_id().await.unwrap(), 0);

    let push = channel.pusher().await;
    let sent = structured("Alarm", 1, vec![property("Priority", &3_i16)]);
    push.push_structured_event(&sent).await.unwrap();
    let as_any = Any::new(&sent).unwrap();
    assert_eq!(plain_received.next().await, Some(as_any.clone()));
    assert_eq!(plain_pull.pull().await.unwrap(), as_any);
    assert_eq!(any_pull.pull().await.unwrap(), as_any);
    assert_eq!(pushed.next().await, Some(vec![sent.clone()]));
    assert_eq!(sequences.next().await, Some(vec![sent.clone()]));
    assert_eq!(pull.pull_structured_event().await.unwrap(), sent);
    let (got, has_event) = sequence_pull.try_pull_structured_events(5).await.unwrap();
    assert_eq!((got, has_event), (vec![sent], true));

    let plain_push = plain.push_proxy().await;
    plain_push.push(&event(7)).await.unwrap();
    assert_eq!(plain_received.number().await, 7);
    let got = pull.pull_structured_event().await.unwrap();
    let header = &got.header.fixed_header;
    assert_eq!(header.event_type, event_type("", "%ANY"));
    assert_eq!(header.event_name, "");
    assert!(got.header.variable_header.is_empty() && got.filterable_data.is_empty());
    assert_eq!(number(&got.remainder_of_body), 7);
    assert_eq!(pushed.next().await, Some(vec![got]));

    // A sequence is events one by one, and a supplier is pulled from.
    let sequence: SequenceProxyPushConsumerRef =
        Notifications::supplier_proxy(&channel.suppliers, true, ClientType::SequenceEvent).await;
    let early = sequence.push_structured_events(&[alarm(2)]).await;
    assert!(early.is_err(), "it is not connected");
    sequence.connect_sequence_push_supplier(None).await.unwrap();
    let events = [alarm(2), alarm(3)];
    sequence.push_structured_events(&events).await.unwrap();
    assert_eq!(pushed.next().await, Some(vec![alarm(2)]));
    assert_eq!(pushed.next().await, Some(vec![alarm(3)]));
    let (offered, _) = channel.supplier().await;
    offered.send(alarm(4)).unwrap();
    assert_eq!(pushed.next().await, Some(vec![alarm(4)]));
    let one = sequence_pull.pull_structured_events(1).await.unwrap();
    assert_eq!(one.len(), 1);
    let none = sequence_pull.pull_structured_events(0).await.unwrap_err();
    assert!(none.to_string().contains("BAD_PARAM"), "{none}");
    let (_, has_event) = any_pull.try_pull().await.unwrap();
    assert!(has_event);

    // A peer that is disconnected is told by the operation of its form.
    push_proxy
        .disconnect_structured_push_supplier()
        .await
        .unwrap();
    assert_eq!(pushed.next().await, None);
    assert!(is_gone(&push_proxy).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_of_admins_and_proxies_are_combined_by_the_operator_of_the_admin() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let mut pulls = Vec::new();
    for op in [
        InterFilterGroupOperator::AndOp,
        InterFilterGroupOperator::OrOp,
    ] {
        let (admin, id) = channel.channel.new_for_consumers(op).await.unwrap();
        let admin = admin.unwrap();
        assert_eq!(
            (
                admin.my_operator().await.unwrap(),
                admin.my_id().await.unwrap()
            ),
            (op, id)
        );
        let even = channel.filter(&[], "$number / 2 * 2 == $number").await;
        admin.add_filter(&even).await.unwrap();
        let pull = channel.puller(&admin).await;
        // Filters of one object: any of them.
        for text in ["$number > 6", "$number == 1"] {
            let filter = channel.filter(&[], text).await;
            pull.add_filter(&filter).await.unwrap();
        }
        assert_eq!(pull.get_all_filters().await.unwrap(), [1, 2]);
        pulls.push(pull);
    }
    let alarms = channel.puller(&channel.consumers).await;
    let of_type = channel.filter(&[event_type("plant", "Al*")], "").await;
    alarms.add_filter(&of_type).await.unwrap();
    // On the side of suppliers, too.
    let push = channel.pusher().await;
    let below = channel.filter(&[], "$number < 9").await;
    let filter_id = push.add_filter(&below).await.unwrap();
    for n in 1..=9 {
        let name = if n == 3 { "Report" } else { "Alarm" };
        let sent = structured(name, n, Vec::new());
        push.push_structured_event(&sent).await.unwrap();
    }
    push.remove_filter(filter_id).await.unwrap();
    push.push_structured_event(&alarm(10)).await.unwrap();
    let mut got = Vec::new();
    for pull in pulls.iter().chain([&alarms]) {
        let mut numbers = Vec::new();
        loop {
            let (event, has_event) = pull.try_pull_structured_event().await.unwrap();
            if !has_event {
                break;
            }
            numbers.push(number_of(&event));
        }
        got.push(numbers);
    }
    assert_eq!(got[0], [8, 10], "AND");
    assert_eq!(got[1], [1, 2, 4, 6, 7, 8, 10], "OR");
    assert_eq!(got[2], [1, 2, 4, 5, 6, 7, 8, 10], "by type");

    // A filter that is destroyed is used no more.
    of_type.destroy().await.unwrap();
    assert!(is_gone(&of_type).await);
    assert!(alarms.get_all_filters().await.unwrap().is_empty());
    let report = structured("Report", 11, Vec::new());
    push.push_structured_event(&report).await.unwrap();
    assert_eq!(alarms.pull_structured_event().await.unwrap(), report);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_says_what_is_wrong_and_changes_all_or_nothing() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let other = channel.filters.create_filter("SQL").await;
    assert!(
        matches!(other, Err(CreateFilterError::InvalidGrammar(_))),
        "{other:?}"
    );
    let filter = channel.filters.create_filter("EXTENDED_TCL").await;
    let filter = filter.unwrap().unwrap();
    assert_eq!(filter.constraint_grammar().await.unwrap(), "EXTENDED_TCL");
    let wrong = [constraint(&[], "$a == 1"), constraint(&[], "$a ==")];
    let refused = filter.add_constraints(&wrong).await.unwrap_err();
    let AddConstraintsError::InvalidConstraint(refused) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refused.constr, wrong[1]);
    assert!(filter.get_all_constraints().await.unwrap().is_empty());

    let right = [
        constraint(&[], "$number == 1"),
        constraint(&[], "$number == 2"),
    ];
    let mut infos = filter.add_constraints(&right).await.unwrap();
    assert_eq!(infos.len(), 2);
    let matches = async |event: &StructuredEvent| filter.match_structured(event).await.unwrap();
    assert!(matches(&alarm(1)).await && matches(&alarm(2)).await && !matches(&alarm(3)).await);
    infos[1].constraint_expression = constraint(&[], "$number == 3");
    let deleted = infos[0].constraint_id;
    let missing = filter.modify_constraints(&[deleted, 99], &infos[1..]).await;
    assert!(
        matches!(&missing, Err(ModifyConstraintsError::ConstraintNotFound(it)) if it.id == 99),
        "{missing:?}"
    );
    assert!(matches(&alarm(1)).await && matches(&alarm(2)).await);
    filter
        .modify_constraints(&[deleted], &infos[1..])
        .await
        .unwrap();
    assert!(!matches(&alarm(1)).await && !matches(&alarm(2)).await && matches(&alarm(3)).await);
    let kept = filter
        .get_constraints(&[infos[1].constraint_id])
        .await
        .unwrap();
    assert_eq!(kept, infos[1..]);

    // Anys and properties.
    let any = channel.filter(&[event_type("", "%ANY")], "$ == 5").await;
    assert!(any.match_(&event(5)).await.unwrap() && !any.match_(&event(6)).await.unwrap());
    assert!(!any.match_structured(&alarm(5)).await.unwrap());
    let typed = [
        property("operation", &"open".to_owned()),
        property("door", &2_i32),
    ];
    let door = channel
        .filter(&[], "$operation == 'open' and $door == 2")
        .await;
    assert!(door.match_typed(&typed).await.unwrap());
    assert!(!door.match_typed(&typed[1..]).await.unwrap());

    // Objects of others are no filters here, and what is not there is not found.
    let pull = channel.puller(&channel.consumers).await;
    let nil = pull.add_filter(None).await.unwrap_err();
    assert_eq!(nil.kind, SystemExceptionKind::BadParam);
    let (_, foreign) = Pushed::structured(&orb);
    let foreign = foreign.as_object().unchecked_narrow();
    let foreign: zorb_events::cos_notify_filter::FilterRef = foreign;
    let foreign = pull.add_filter(&foreign).await.unwrap_err();
    assert_eq!(foreign.kind, SystemExceptionKind::BadParam);
    let missing = pull.get_filter(3).await;
    assert!(
        matches!(missing, Err(GetFilterError::FilterNotFound(_))),
        "{missing:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn those_who_attach_a_callback_hear_of_the_types_of_a_filter() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let filter = channel.filter(&[event_type("plant", "Alarm")], "").await;
    let (hearing, mut heard) = Hearing::supplier(&orb);
    let callback: zorb_events::cos_notify_comm::NotifySubscribeRef = hearing.into();
    let id = filter.attach_callback(&callback).await.unwrap();
    assert_eq!(filter.get_callbacks().await.unwrap(), [id]);
    let report = constraint(&[event_type("plant", "Report")], "");
    filter.add_constraints(&[report]).await.unwrap();
    let told = tokio::time::timeout(HANG, heard.recv()).await.unwrap();
    assert_eq!(told, Some((vec![event_type("plant", "Report")], vec![])));
    filter.remove_all_constraints().await.unwrap();
    let (added, removed) = tokio::time::timeout(HANG, heard.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((added.len(), removed.len()), (0, 2));
    filter.detach_callback(id).await.unwrap();
    assert!(filter.detach_callback(id).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn mapping_filters_give_events_their_priority_and_their_lifetime() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let by_number = channel.mapping("$number == 3", &9_i16, &-1_i16).await;
    let pull = channel.puller(&channel.consumers).await;
    pull.set_priority_filter(&by_number).await.unwrap();
    assert_eq!(
        pull.priority_filter().await.unwrap().as_ref(),
        Some(&by_number)
    );
    // The admin's holds where a proxy has none of its own.
    let over = channel.mapping("$number == 2", &1_u64, &0_u64).await;
    channel.consumers.set_lifetime_filter(&over).await.unwrap();
    let kind = pull.set_lifetime_filter(&by_number).await.unwrap_err();
    assert_eq!(kind.kind, SystemExceptionKind::BadParam);

    let push = channel.pusher().await;
    let urgent = structured("Alarm", 4, vec![property("Priority", &5_i16)]);
    for sent in [alarm(1), alarm(2), alarm(3), urgent] {
        push.push_structured_event(&sent).await.unwrap();
    }
    let mut got = Vec::new();
    for _ in 0..3 {
        got.push(number_of(&pull.pull_structured_event().await.unwrap()));
    }
    // 3 by the constraint, 4 by its header, 1 by the default; 2 lived for 100 ns.
    assert_eq!(got, [3, 4, 1]);
    assert!(!pull.try_pull_structured_event().await.unwrap().1);
    pull.set_priority_filter(None).await.unwrap();
    assert_eq!(pull.priority_filter().await.unwrap(), None);

    let (is_met, value) = by_number.match_structured(&alarm(3)).await.unwrap();
    assert_eq!((is_met, value), (true, Any::new(&9_i16).unwrap()));
    let (is_met, value) = by_number.match_structured(&alarm(1)).await.unwrap();
    assert_eq!((is_met, value), (false, Any::new(&-1_i16).unwrap()));
    let pair = zorb_events::cos_notify_filter::MappingConstraintPair {
        constraint_expression: constraint(&[], ""),
        result_to_set: Any::new(&1_i32).unwrap(),
    };
    let wrong = by_number.add_mapping_constraints(&[pair]).await;
    assert!(
        matches!(wrong, Err(AddMappingConstraintsError::InvalidValue(_))),
        "{wrong:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn quality_of_service_is_inherited_and_what_is_not_supported_is_said() {
    let (server, _service, url) = service().await;
    let orb = orb().await;
    let factory = server.corbaloc_url(zorb_events::NOTIFICATION_KEY).unwrap();
    let factory = orb.string_to_object(&factory).await.unwrap();
    let factory: EventChannelFactoryRef = factory.narrow().await.unwrap().unwrap();
    let persistent = property("EventReliability", &1_i16);
    let refused = factory
        .create_channel(&[persistent], &[])
        .await
        .unwrap_err();
    let CreateChannelError::UnsupportedQoS(refused) = refused else {
        panic!("{refused:?}");
    };
    let error = &refused.qos_err[0];
    assert_eq!(error.code, QoSErrorCode::UnsupportedValue);
    assert_eq!(error.name, "EventReliability");
    let none: i16 = error.available_range.high_val.extract().unwrap();
    assert_eq!(none, 0);
    let negative = property("MaxConsumers", &-1_i32);
    let refused = factory.create_channel(&[], &[negative]).await;
    assert!(
        matches!(&refused, Err(CreateChannelError::UnsupportedAdmin(it)) if it.admin_err[0].code == QoSErrorCode::BadValue),
        "{refused:?}"
    );

    let qos = [
        property("MaxEventsPerConsumer", &3_i32),
        property("DiscardPolicy", &4_i16),
    ];
    let (made, id) = factory.create_channel(&qos, &[]).await.unwrap();
    let channel = Notifications::of(&orb, made.unwrap()).await;
    let again = factory.get_event_channel(id).await.unwrap().unwrap();
    assert_eq!(again, channel.channel);
    assert_eq!(factory.get_all_channels().await.unwrap(), [1, id]);
    let theirs = channel.channel.my_factory().await.unwrap().unwrap();
    assert_eq!(theirs.get_all_channels().await.unwrap(), [1, id]);
    // What is made later has what the channel has.
    let (admin, _) = channel
        .channel
        .new_for_consumers(InterFilterGroupOperator::AndOp)
        .await
        .unwrap();
    let pull = channel.puller(&admin.unwrap()).await;
    let has = pull.get_qos().await.unwrap();
    let value = |name: &str| {
        has.iter()
            .find(|one| one.name == name)
            .map(|one| &one.value)
    };
    assert_eq!(
        value("MaxEventsPerConsumer"),
        Some(&Any::new(&3_i32).unwrap())
    );
    assert_eq!(value("EventReliability"), None, "no property of a proxy");
    let more = [property("MaxEventsPerConsumer", &4_i32)];
    let refused = pull.set_qos(&more).await;
    assert!(
        matches!(&refused, Err(SetQosError::UnsupportedQoS(it)) if it.qos_err[0].code == QoSErrorCode::UnavailableValue),
        "{refused:?}"
    );
    let refused = pull.validate_qos(&more).await;
    assert!(
        matches!(refused, Err(ValidateQosError::UnsupportedQoS(_))),
        "{refused:?}"
    );
    let available = pull.validate_qos(&[]).await.unwrap();
    assert!(available.iter().any(|range| range.name == "PacingInterval"));
    let of_events = [property("StartTime", &1_i16)];
    assert!(pull.validate_event_qos(&of_events).await.is_err());
    assert!(
        pull.validate_event_qos(&[property("Priority", &1_i16)])
            .await
            .is_ok()
    );

    let push = channel.pusher().await;
    for n in 1..=6 {
        push.push_structured_event(&alarm(n)).await.unwrap();
    }
    let mut got = Vec::new();
    for _ in 0..3 {
        got.push(number_of(&pull.pull_structured_event().await.unwrap()));
    }
    assert_eq!(got, [1, 2, 3], "the newest were discarded");
    // The channel that is there from the beginning has none of it.
    let first = Notifications::at(&orb, &url).await;
    let has = first.channel.get_qos().await.unwrap();
    assert!(has.contains(&property("MaxEventsPerConsumer", &0_i32)));
}

#[tokio::test(flavor = "multi_thread")]
async fn administration_limits_clients_and_refuses_events_beyond_the_queue() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let unknown = channel
        .channel
        .set_admin(&[property("Colour", &1_i32)])
        .await;
    assert!(
        matches!(&unknown, Err(SetAdminError::UnsupportedAdmin(it)) if it.admin_err[0].code == QoSErrorCode::BadProperty),
        "{unknown:?}"
    );
    let limits = [
        property("MaxConsumers", &1_i32),
        property("MaxQueueLength", &2_i32),
        property("RejectNewEvents", &true),
    ];
    channel.channel.set_admin(&limits).await.unwrap();
    let has = channel.channel.get_admin().await.unwrap();
    assert!(limits.iter().all(|limit| has.contains(limit)), "{has:?}");
    let pull = channel.puller(&channel.consumers).await;
    let second = channel
        .consumers
        .obtain_notification_pull_supplier(ClientType::AnyEvent)
        .await
        .unwrap_err();
    let ObtainNotificationPullSupplierError::AdminLimitExceeded(second) = second else {
        panic!("{second:?}");
    };
    assert_eq!(second.admin_property_err.name, "MaxConsumers");
    assert_eq!(second.admin_property_err.value, Any::new(&1_i32).unwrap());
    // CosEvent has no exception for it.
    let plain = channel.consumers.obtain_push_supplier().await.unwrap_err();
    assert_eq!(plain.kind, SystemExceptionKind::ImpLimit);

    let push = channel.pusher().await;
    push.push_structured_event(&alarm(1)).await.unwrap();
    push.push_structured_event(&alarm(2)).await.unwrap();
    let refused = push.push_structured_event(&alarm(3)).await.unwrap_err();
    assert!(
        matches!(&refused, PushStructuredEventError::System(it) if it.kind == SystemExceptionKind::ImpLimit),
        "{refused:?}"
    );
    assert_eq!(number_of(&pull.pull_structured_event().await.unwrap()), 1);
    assert_eq!(number_of(&pull.pull_structured_event().await.unwrap()), 2);
    let (_, has_event) = pull.try_pull_structured_event().await.unwrap();
    assert!(!has_event);
    push.push_structured_event(&alarm(4)).await.unwrap();
    assert_eq!(number_of(&pull.pull_structured_event().await.unwrap()), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn consumers_hear_what_is_offered_and_suppliers_what_is_subscribed_to() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let (mut pushed, consumer) = channel.consumer().await;
    let (hearing, mut heard) = Hearing::supplier(&orb);
    let push: StructuredProxyPushConsumerRef =
        Notifications::supplier_proxy(&channel.suppliers, true, ClientType::StructuredEvent).await;
    push.connect_structured_push_supplier(&hearing)
        .await
        .unwrap();
    let all = event_type("*", "%ALL");
    let now = push
        .obtain_subscription_types(ObtainInfoMode::AllNowUpdatesOn)
        .await
        .unwrap();
    assert_eq!(now, from_ref(&all));

    let (alarms, reports) = (event_type("plant", "Alarm"), event_type("plant", "Report"));
    push.offer_change(&[alarms.clone(), reports.clone()], &[])
        .await
        .unwrap();
    assert_eq!(
        pushed.offer().await,
        (vec![alarms.clone(), reports.clone()], vec![])
    );
    push.offer_change(&[], from_ref(&reports)).await.unwrap();
    assert_eq!(pushed.offer().await, (vec![], vec![reports]));
    let offered = consumer
        .obtain_offered_types(ObtainInfoMode::AllNowUpdatesOff)
        .await
        .unwrap();
    assert_eq!(offered, from_ref(&alarms));

    // Only alarms, in the way that the specification says.
    consumer
        .subscription_change(from_ref(&alarms), from_ref(&all))
        .await
        .unwrap();
    let told = tokio::time::timeout(HANG, heard.recv()).await.unwrap();
    assert_eq!(told, Some((vec![alarms], vec![all])));
    push.push_structured_event(&structured("Report", 1, vec![]))
        .await
        .unwrap();
    push.push_structured_event(&alarm(2)).await.unwrap();
    assert_eq!(pushed.numbers(1).await, [2]);
    let long = event_type("plant", &"x".repeat(2_000));
    let invalid = consumer
        .subscription_change(&[long], &[])
        .await
        .unwrap_err();
    assert!(
        invalid.to_string().contains("InvalidEventType"),
        "{invalid}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_connection_keeps_its_events_until_it_is_resumed() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let unconnected: StructuredProxyPushSupplierRef =
        Notifications::proxy(&channel.consumers, true, ClientType::StructuredEvent).await;
    let early = unconnected.suspend_connection().await;
    assert!(
        matches!(early, Err(SuspendConnectionError::NotConnected(_))),
        "{early:?}"
    );
    let (mut suspended, proxy) = channel.consumer().await;
    let (mut other, _) = channel.consumer().await;
    let push = channel.pusher().await;
    let active = proxy.resume_connection().await;
    assert!(matches!(
        active,
        Err(ResumeConnectionError::ConnectionAlreadyActive(_))
    ));
    proxy.suspend_connection().await.unwrap();
    let again = proxy.suspend_connection().await;
    assert!(matches!(
        again,
        Err(SuspendConnectionError::ConnectionAlreadyInactive(_))
    ));
    for n in 1..=3 {
        push.push_structured_event(&alarm(n)).await.unwrap();
    }
    assert_eq!(other.numbers(3).await, [1, 2, 3]);
    // It would have had them before this reply.
    assert!(!is_gone(&proxy).await);
    let (mut third, _) = channel.consumer().await;
    push.push_structured_event(&alarm(4)).await.unwrap();
    assert_eq!(third.numbers(1).await, [4]);
    proxy.resume_connection().await.unwrap();
    assert_eq!(suspended.numbers(4).await, [1, 2, 3, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sequences_are_as_long_as_the_batch_and_wait_as_long_as_the_pace() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    // An hour, in units of 100 ns: a sequence leaves when it is full.
    let paced = [
        property("MaximumBatchSize", &4_i32),
        property("PacingInterval", &36_000_000_000_u64),
    ];
    let (mut full, _) = channel.sequence_consumer(&paced).await;
    let short = [
        property("MaximumBatchSize", &100_i32),
        property("PacingInterval", &300_000_u64),
    ];
    let (mut paced, _) = channel.sequence_consumer(&short).await;
    let push = channel.pusher().await;
    for n in 1..=9 {
        push.push_structured_event(&alarm(n)).await.unwrap();
    }
    assert_eq!(numbers_of(&full.next().await.unwrap()), [1, 2, 3, 4]);
    assert_eq!(numbers_of(&full.next().await.unwrap()), [5, 6, 7, 8]);
    // The other did not wait for a hundred.
    assert_eq!(paced.numbers(9).await, (1..=9).collect::<Vec<_>>());
    push.push_structured_event(&alarm(10)).await.unwrap();
    assert_eq!(paced.numbers(1).await, [10]);
}

#[tokio::test(flavor = "multi_thread")]
async fn admins_are_found_by_their_ids_and_end_with_their_proxies() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let op = InterFilterGroupOperator::AndOp;
    let (admin, id) = channel.channel.new_for_consumers(op).await.unwrap();
    let admin = admin.unwrap();
    let (suppliers, supplier_id) = channel.channel.new_for_suppliers(op).await.unwrap();
    assert!(id != 0 && supplier_id != 0);
    assert_eq!(
        channel.channel.get_all_consumeradmins().await.unwrap(),
        [0, id]
    );
    assert_eq!(
        channel.channel.get_all_supplieradmins().await.unwrap(),
        [0, supplier_id]
    );
    let found = channel
        .channel
        .get_consumeradmin(id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found, admin);
    let theirs = found.my_channel().await.unwrap().unwrap();
    let ids = theirs.get_all_consumeradmins().await.unwrap();
    assert_eq!(ids, [0, id]);
    let of_suppliers = channel.channel.get_consumeradmin(supplier_id).await;
    assert!(matches!(
        of_suppliers,
        Err(GetConsumeradminError::AdminNotFound(_))
    ));
    let pull = channel.puller(&admin).await;
    let ids = admin.pull_suppliers().await.unwrap();
    assert_eq!(ids.len(), 1);
    let found = admin.get_proxy_supplier(ids[0]).await.unwrap().unwrap();
    assert_eq!(found.as_object(), pull.as_object());
    assert!(
        channel.consumers.get_proxy_supplier(ids[0]).await.is_err(),
        "another admin's"
    );
    assert!(admin.push_suppliers().await.unwrap().is_empty());
    admin.destroy().await.unwrap();
    assert!(is_gone(&admin).await && is_gone(&pull).await);
    assert_eq!(channel.channel.get_all_consumeradmins().await.unwrap(), [0]);

    channel.channel.destroy().await.unwrap();
    assert!(is_gone(&suppliers.unwrap()).await && is_gone(&channel.filters).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn structured_events_filters_and_properties_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let orb = orb().await;
    let daemon = Daemon::in_folder(folder.path());
    let address = daemon.address();
    let channel = Notifications::at(&orb, &daemon.url).await;
    let op = InterFilterGroupOperator::OrOp;
    let (admin, id) = channel.channel.new_for_consumers(op).await.unwrap();
    let admin = admin.unwrap();
    let never = channel.filter(&[], "FALSE").await;
    admin.add_filter(&never).await.unwrap();
    let pull: StructuredProxyPullSupplierRef =
        Notifications::proxy(&admin, false, ClientType::StructuredEvent).await;
    let even = channel
        .filter(
            &[event_type("plant", "Alarm")],
            "$number / 2 * 2 == $number",
        )
        .await;
    pull.add_filter(&even).await.unwrap();
    let by_number = channel.mapping("$number == 6", &9_i16, &0_i16).await;
    pull.set_priority_filter(&by_number).await.unwrap();
    pull.set_qos(&[property("MaxEventsPerConsumer", &5_i32)])
        .await
        .unwrap();
    pull.connect_structured_pull_consumer(None).await.unwrap();
    let limit = [property("MaxConsumers", &77_i32)];
    channel.channel.set_admin(&limit).await.unwrap();
    let push = channel.pusher().await;
    let lost = structured("Alarm", 8, vec![property("EventReliability", &0_i16)]);
    for sent in [alarm(1), alarm(2), alarm(4), alarm(6), lost] {
        push.push_structured_event(&sent).await.unwrap();
    }
    drop(daemon);

    let _daemon = Daemon::again(folder.path(), &address);
    let mut got = Vec::new();
    for _ in 0..3 {
        got.push(number_of(&pull.pull_structured_event().await.unwrap()));
    }
    // The one that was sent as best effort was in memory alone.
    assert_eq!(got, [6, 2, 4]);
    assert!(!pull.try_pull_structured_event().await.unwrap().1);
    for n in 9..=10 {
        push.push_structured_event(&alarm(n)).await.unwrap();
    }
    assert_eq!(number_of(&pull.pull_structured_event().await.unwrap()), 10);
    assert_eq!(admin.my_operator().await.unwrap(), op);
    assert_eq!(
        channel.channel.get_all_consumeradmins().await.unwrap(),
        [0, id]
    );
    assert_eq!(even.get_all_constraints().await.unwrap().len(), 1);
    let qos = pull.get_qos().await.unwrap();
    assert!(
        qos.contains(&property("MaxEventsPerConsumer", &5_i32)),
        "{qos:?}"
    );
    let has = channel.channel.get_admin().await.unwrap();
    assert!(has.contains(&limit[0]), "{has:?}");
}

/// A time, so many milliseconds from now.
fn time(millis: i64) -> UtcT {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let units = i64::try_from(now.as_millis()).unwrap() + millis;
    UtcT {
        time: u64::try_from(units * 10_000 + 0x01b2_1dd2_1381_4000).unwrap(),
        inacclo: 0,
        inacchi: 0,
        tdf: 0,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_start_and_stop_at_their_times_and_leave_in_the_order_of_the_policy() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let pull = channel.puller(&channel.consumers).await;
    let deadline = channel.puller(&channel.consumers).await;
    let by_deadline = property("OrderPolicy", &3_i16);
    deadline.set_qos(&[by_deadline]).await.unwrap();
    let push = channel.pusher().await;
    let hour: u64 = 36_000_000_000;
    for (number, header) in [
        (1, property("StartTime", &time(3_600_000))),
        (2, property("StopTime", &time(-1))),
        (3, property("Timeout", &1_u64)),
        (4, property("Timeout", &(2 * hour))),
        (5, property("Timeout", &hour)),
        (6, property("StopTime", &time(60_000))),
    ] {
        let sent = structured("Alarm", number, vec![header]);
        push.push_structured_event(&sent).await.unwrap();
    }
    let mut got = Vec::new();
    for pull in [&pull, &deadline] {
        let mut numbers = Vec::new();
        for _ in 0..3 {
            numbers.push(number_of(&pull.pull_structured_event().await.unwrap()));
        }
        assert!(!pull.try_pull_structured_event().await.unwrap().1);
        got.push(numbers);
    }
    assert_eq!(got[0], [4, 5, 6]);
    assert_eq!(got[1], [6, 5, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_of_best_effort_ends_with_the_program_and_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let orb = orb().await;
    let daemon = Daemon::in_folder(folder.path());
    let address = daemon.address();
    let channel = Notifications::at(&orb, &daemon.url).await;
    let kept = channel.puller(&channel.consumers).await;
    let lost = channel.puller(&channel.consumers).await;
    let best_effort = property("ConnectionReliability", &0_i16);
    lost.set_qos(&[best_effort]).await.unwrap();
    let push = channel.pusher().await;
    push.push_structured_event(&alarm(1)).await.unwrap();
    assert_eq!(number_of(&lost.pull_structured_event().await.unwrap()), 1);
    drop(daemon);
    let _daemon = Daemon::again(folder.path(), &address);
    assert!(is_gone(&lost).await);
    assert_eq!(number_of(&kept.pull_structured_event().await.unwrap()), 1);
}

/// As a bridge sends them, which says more of an any than that has room for.
#[tokio::test(flavor = "multi_thread")]
async fn a_structured_event_that_says_it_is_an_any_is_one_for_consumers_of_anys() {
    let (_server, _service, url) = service().await;
    let orb = orb().await;
    let channel = Notifications::at(&orb, &url).await;
    let plain = Channel::at(&orb, &url).await;
    let (mut received, _) = plain.consumer().await;
    let plain_pull = plain.pull_proxy().await;
    let (mut pushed, _) = channel.consumer().await;
    let (mut marked, proxy) = channel.consumer().await;
    let filter = channel
        .filter(&[event_type("", "%ANY")], "$Redelivered == TRUE")
        .await;
    proxy.add_filter(&filter).await.unwrap();
    let push = channel.pusher().await;
    let mut sent = structured("%ANY", 0, vec![property("Redelivered", &true)]);
    sent.header.fixed_header.event_type = event_type("", "%ANY");
    sent.filterable_data.clear();
    sent.remainder_of_body = event(7);
    push.push_structured_event(&sent).await.unwrap();
    assert_eq!(received.number().await, 7);
    assert_eq!(number(&plain_pull.pull().await.unwrap()), 7);
    assert_eq!(pushed.next().await, Some(vec![sent.clone()]));
    assert_eq!(marked.next().await, Some(vec![sent.clone()]));
    // One with data of its own is more than an any.
    sent.filterable_data.push(property("number", &1_i32));
    push.push_structured_event(&sent).await.unwrap();
    assert_eq!(received.next().await, Some(Any::new(&sent).unwrap()));
}
