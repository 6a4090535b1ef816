//! How the program starts and ends.

use crate::common::{Channel, Daemon, command, event, orb};
use crate::support::{Ended, Running};
use std::net::TcpListener;
use std::path::Path;
use zorb::naming::NamingClient;
use zorb_events::cos_event_channel_admin::EventChannelRef;
use zorb_events::omni_events::EventChannelFactoryRef;

/// Runs the program, which has to end by itself.
fn ends(args: &[&str]) -> (Option<i32>, String) {
    let Ended { status, lines } = Running::command(command(args)).finish();
    (status.code(), lines.join("\n"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

#[test]
fn it_says_whether_events_are_kept_and_ends_in_order() {
    let ended = Daemon::start(&[]).terminate();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(ended.lines.len(), 1, "one line: {:?}", ended.lines);
    assert!(ended.lines[0].contains(" in memory: "), "{:?}", ended.lines);
    let folder = tempfile::tempdir().unwrap();
    let ended = Daemon::in_folder(folder.path()).terminate();
    let expected = format!(" in {}", text(folder.path()));
    assert!(ended.lines[0].ends_with(&expected), "{:?}", ended.lines);
}

#[test]
fn what_hinders_it_is_said_and_has_a_status_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let first = Daemon::in_folder(folder.path());
    let (status, said) = ends(&["--data", text(folder.path())]);
    let expected = format!(
        "zorb-events: {} is in use by process {}",
        folder.path().display(),
        first.id()
    );
    assert_eq!((status, said), (Some(3), expected));
    // A killed one leaves nothing locked.
    drop(first);
    Daemon::in_folder(folder.path());

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("iiop://{}", taken.local_addr().unwrap());
    assert_eq!(ends(&["--listen", &endpoint]).0, Some(5));
    assert_eq!(ends(&["--no-such-option"]).0, Some(2));
    assert_eq!(ends(&["--data", "/proc/no/such/folder"]).0, Some(4));

    // Another store, and something else.
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("events.redb"), "events".repeat(10_000)).unwrap();
    let (status, said) = ends(&["--data", text(other.path())]);
    assert_eq!(status, Some(4));
    assert!(said.contains("cannot be used as a store"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_binds_its_objects_in_a_naming_service() {
    let folder = tempfile::tempdir().unwrap();
    let names = zorb::Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let store = zorb_named::store::EmbeddedStore::open(folder.path()).unwrap();
    let _service =
        zorb_named::NamingService::start(&names, store, zorb_named::Settings::default()).unwrap();
    let url = names.corbaloc_url(zorb_named::SERVICE_KEY).unwrap();
    let file = folder.path().join("channel.ior");
    let init = format!("NameService={url}");
    let daemon = Daemon::start(&[
        "--bind",
        "plant/events",
        "--ior-file",
        text(&file),
        "-ORBInitRef",
        &init,
    ]);
    let orb = orb().await;
    let root = orb.string_to_object(&url).await.unwrap();
    let names = NamingClient::at(&root).await.unwrap();
    let channel: EventChannelRef = names.resolve("plant/events/EventChannel").await.unwrap();
    let channel = Channel::of(&orb, channel).await;
    let (mut received, _) = channel.consumer().await;
    let written = std::fs::read_to_string(&file).unwrap();
    let same = Channel::at(&orb, written.trim()).await;
    same.push_proxy().await.push(&event(7)).await.unwrap();
    assert_eq!(received.number().await, 7);
    let factory: EventChannelFactoryRef = names.resolve("plant/events/EventService").await.unwrap();
    assert!(factory.is_alive().await.unwrap());
    let notification: zorb_events::cos_notify_channel_admin::EventChannelFactoryRef = names
        .resolve("plant/events/NotificationService")
        .await
        .unwrap();
    assert_eq!(notification.get_all_channels().await.unwrap(), [1]);
    drop(daemon);
}
