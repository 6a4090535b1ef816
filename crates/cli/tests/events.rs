//! `zorb events` at a channel of an event service in this process.

#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../tests/support/mod.rs"]
mod support;

use std::io::Write;
use std::process::{Command, Stdio};
use support::{Running, have, passed};
use zorb::Orb;
use zorb_events::cos_notify_channel_admin::{ClientType, ObtainInfoMode};
use zorb_events::{CHANNEL_KEY, EventService, Settings};

zorb::idl! {
    #![idl(lenient)]
    module Plant {
        enum Level { low, high };
        struct Report { Level level; long count; };
    };
}
use plant::{Level, Report};

fn zorb(channel: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zorb"));
    command.args(["events", "-c", channel]).args(args);
    command
}

async fn service() -> (Orb, EventService, String) {
    let builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = builder.build().await.unwrap();
    let service = EventService::start(&orb, None, Settings::default()).await;
    let url = orb.corbaloc_url(CHANNEL_KEY).unwrap();
    (orb, service.unwrap(), url)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_is_printed_and_what_is_printed_can_be_pushed() {
    let (orb, _service, url) = service().await;
    let object = orb.string_to_object(&url).await.unwrap();
    let channel: zorb_events::cos_event_channel_admin::EventChannelRef = object.unchecked_narrow();
    let admin = channel.for_consumers().await.unwrap().unwrap();
    let proxy = admin.obtain_pull_supplier().await.unwrap().unwrap();
    proxy.connect_pull_consumer(None).await.unwrap();

    let push = ["push", "\"pump 3\"", "42", "5000000000", "1.5", "true"];
    Running::command(zorb(&url, &push)).finish().success();
    assert_eq!(
        proxy.pull().await.unwrap().extract::<String>().unwrap(),
        "pump 3"
    );
    assert_eq!(proxy.pull().await.unwrap().extract::<i32>().unwrap(), 42);
    assert_eq!(
        proxy.pull().await.unwrap().extract::<i64>().unwrap(),
        5_000_000_000
    );
    assert_eq!(
        proxy
            .pull()
            .await
            .unwrap()
            .extract::<f64>()
            .unwrap()
            .to_bits(),
        1.5_f64.to_bits()
    );
    assert!(proxy.pull().await.unwrap().extract::<bool>().unwrap());

    // An event with its type, on standard input.
    let report = Report {
        level: Level::High,
        count: 7,
    };
    let any = zorb::Any::new(&report).unwrap();
    let line = serde_json::to_string(&any).unwrap();
    let (running, input) = Running::spawn(zorb(&url, &["push"]), Stdio::piped());
    writeln!(input.unwrap(), "{line}\n\n\"last\"").unwrap();
    running.finish().success();
    assert_eq!(
        proxy.pull().await.unwrap().extract::<Report>().unwrap(),
        report
    );
    assert_eq!(
        proxy.pull().await.unwrap().extract::<String>().unwrap(),
        "last"
    );

    let wrong = Running::command(zorb(&url, &["push", "{"])).finish();
    assert!(
        !wrong.status.success() && wrong.lines[0].contains("zorb events:"),
        "{:?}",
        wrong.lines
    );
    let wrong = Running::command(zorb(&url, &["tail", "--filter", "$ >"])).finish();
    assert!(
        wrong
            .lines
            .join("\n")
            .contains("expected a value at octet 3"),
        "{:?}",
        wrong.lines
    );
    let none = url.replace("EventChannel", "EventService");
    let wrong = Running::command(zorb(&none, &["push", "1"])).finish();
    assert!(
        wrong.lines[0].contains("no event channel"),
        "{:?}",
        wrong.lines
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tail_prints_what_meets_its_filter_and_then_ends() {
    let (orb, service, url) = service().await;
    let object = orb.string_to_object(&url).await.unwrap();
    let channel: zorb_events::cos_event_channel_admin::EventChannelRef = object.unchecked_narrow();
    let filter = "$.level == 'high' and $.count > 3";
    let args = ["tail", "-n", "2", "--values", "--filter", filter];
    let tail = Running::command(zorb(&url, &args));
    let admin = channel.for_suppliers().await.unwrap().unwrap();
    let push = admin.obtain_push_consumer().await.unwrap().unwrap();
    push.connect_push_supplier(None).await.unwrap();
    let ended = tokio::task::spawn_blocking(move || tail.finish());
    let mut count = 0;
    // It gets what is pushed once it has connected.
    while !ended.is_finished() {
        for level in [Level::Low, Level::High] {
            let report = zorb::Any::new(&Report { level, count }).unwrap();
            push.push(&report).await.unwrap();
        }
        count += 1;
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let lines = ended.await.unwrap().success();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let values: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(values[0]["level"], "high");
    let counts = values.iter().map(|value| value["count"].as_i64().unwrap());
    let counts: Vec<i64> = counts.collect();
    assert!(counts[0] > 3 && counts[1] == counts[0] + 1, "{counts:?}");
    // It has disconnected.
    let before = service.counters();
    assert!(before.delivered >= 2, "{before:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn structured_events_are_pushed_filtered_by_their_channel_and_printed() {
    let (orb, service, url) = service().await;
    let object = orb.string_to_object(&url).await.unwrap();
    let channel: zorb_events::cos_notify_channel_admin::EventChannelRef = object.unchecked_narrow();
    let consumers = channel.default_consumer_admin().await.unwrap().unwrap();
    let filter = "$type_name == 'Alarm' and $severity > 2";
    let args = ["tail", "-n", "2", "--filter", filter];
    let tail = Running::command(zorb(&url, &args));
    // It is there when its proxy is connected.
    let types = loop {
        let supplier = channel.default_supplier_admin().await.unwrap().unwrap();
        let (proxy, _) = supplier
            .obtain_notification_push_consumer(ClientType::StructuredEvent)
            .await
            .unwrap();
        let proxy = proxy.unwrap();
        let mode = ObtainInfoMode::AllNowUpdatesOff;
        let types = proxy.obtain_subscription_types(mode).await.unwrap();
        if !types.is_empty() {
            break types;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(types.len(), 1);
    let lines = [
        r#"{"event": {"domain": "plant", "type": "Alarm", "name": "a"}, "data": {"severity": 2}}"#,
        r#"{"event": {"type": "Report"}, "data": {"severity": 9}}"#,
        r#""Alarm""#,
        r#"{"event": {"domain": "plant", "type": "Alarm", "name": "b"}, "header": {"Priority": 7}, "data": {"severity": 3}, "body": "hot"}"#,
        r#"{"event": {"type": "Alarm"}, "data": {"severity": 4.5}}"#,
    ];
    let mut push = vec!["push"];
    push.extend(lines);
    Running::command(zorb(&url, &push)).finish().success();
    let lines = tail.finish().success();
    let events: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = serde_json::json!({
        "event": {"domain": "plant", "type": "Alarm", "name": "b"},
        "header": {"Priority": 7},
        "data": {"severity": 3},
        "body": "hot",
    });
    assert_eq!(events[0], expected);
    assert_eq!(events[1]["event"]["name"], "");
    assert_eq!(events[1]["data"]["severity"], 4.5);
    // The channel has filtered them: nothing else was delivered.
    assert_eq!(service.counters().delivered, 2);
    // What was printed can be pushed.
    let pull = channel.for_consumers().await.unwrap().unwrap();
    let pull = pull.obtain_pull_supplier().await.unwrap().unwrap();
    pull.connect_pull_consumer(None).await.unwrap();
    Running::command(zorb(&url, &["push", &lines[0]]))
        .finish()
        .success();
    let event: zorb_events::cos_notification::StructuredEvent =
        pull.pull().await.unwrap().extract().unwrap();
    assert_eq!(
        event.header.variable_header[0]
            .value
            .extract::<i16>()
            .unwrap(),
        7
    );
    assert!(consumers.pull_suppliers().await.unwrap().is_empty());

    for (wrong, expected) in [
        (r#"{"event": {}, "colour": 1}"#, r#"no "colour""#),
        (r#"{"event": {"type": 3}}"#, r#"expected text as "type""#),
        (
            r#"{"event": {}, "data": 1}"#,
            r#"expected an object as "data""#,
        ),
        (
            r#"{"event": {}, "data": {"level": [1]}}"#,
            r#""level" of "data": "#,
        ),
        (r#"{"event": {}, "body": {}}"#, r#""body": "#),
        (r#"{"severity": 3}"#, r#"and no "severity""#),
    ] {
        let wrong = Running::command(zorb(&url, &["push", wrong])).finish();
        assert!(!wrong.status.success(), "{:?}", wrong.lines);
        assert!(wrong.lines[0].contains(expected), "{:?}", wrong.lines);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_pushed_is_reported_with_its_place_and_how_text_is_written() {
    let (_orb, service, url) = service().await;
    let wrong = Running::command(zorb(&url, &["push", "not json"])).finish();
    assert!(!wrong.status.success(), "{:?}", wrong.lines);
    let said = wrong.lines.join("\n");
    assert!(said.contains("expected JSON, found not json"), "{said}");
    assert!(said.contains("'\"pump 3 is hot\"'"), "{said}");
    let (running, input) = Running::spawn(zorb(&url, &["push"]), Stdio::piped());
    write!(input.unwrap(), "1\n\n2\nthree\n4\n").unwrap();
    let wrong = running.finish();
    assert!(!wrong.status.success(), "{:?}", wrong.lines);
    let expected = "line 4: expected JSON, found three (events pushed before it: 2)";
    assert!(wrong.lines[0].contains(expected), "{:?}", wrong.lines);
    assert_eq!(service.counters().published, 2);
    let wrong = Running::command(zorb(&url, &["push", "1", "x"])).finish();
    let expected = "argument 2: expected JSON, found x (events pushed before it: 1)";
    assert!(wrong.lines[0].contains(expected), "{:?}", wrong.lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_of_jacorbs_notification_service_is_followed_and_pushed_to() {
    let cell = "zorbtool-jacorbnotify/events";
    let built = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let notifier = built.join("../../tests/interop/build/jacorb/notifier");
    if !have(cell, &[&notifier]) {
        return;
    }
    let mut notifier = Running::start(&notifier, &["-printIOR"]);
    let factory = notifier.reference();
    let factory = factory.unwrap_or_else(|| panic!("{notifier:?}"));
    let orb = Orb::builder().build().await.unwrap();
    let factory = orb.string_to_object(&factory).await.unwrap();
    let factory: zorb_events::cos_notify_channel_admin::EventChannelFactoryRef =
        factory.narrow().await.unwrap().unwrap();
    let (channel, _) = factory.create_channel(&[], &[]).await.unwrap();
    let channel = channel.unwrap();
    let url = orb.object_to_string(&channel);
    let admin = channel.default_consumer_admin().await.unwrap().unwrap();
    let before = admin.pull_suppliers().await.unwrap().len();
    let filter = "$type_name == 'Alarm' and $severity > 2";
    let tail = ["tail", "--count", "2", "--filter", filter];
    let tail = Running::command(zorb(&url, &tail));
    while admin.pull_suppliers().await.unwrap().len() == before {
        tokio::task::yield_now().await;
    }
    // Its filter comes right after its proxy, and its connection last: events before that are not for it.
    let alarm = |severity: i32| {
        format!(
            "{{\"event\": {{\"domain\": \"plant\", \"type\": \"Alarm\"}}, \"data\": {{\"severity\": {severity}}}}}"
        )
    };
    let printed = std::thread::spawn(move || tail.finish().success());
    while !printed.is_finished() {
        for severity in [1, 3] {
            let push = Running::command(zorb(&url, &["push", &alarm(severity), "\"text\""]));
            push.finish().success();
        }
    }
    let printed = printed.join().unwrap();
    assert_eq!(printed.len(), 2, "{printed:?}");
    for line in printed {
        let json: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(json["data"]["severity"], 3, "{line}");
    }
    passed(cell);
}
