//! `--ping`: bindings whose objects do not answer are marked, and stay.

use crate::common::{Daemon, client, client_orb};
use crate::support::HANG;
use std::path::Path;
use std::time::Instant;
use zorb::{ObjectRef, Orb};

/// The lines of the file, as soon as `expected` is true of them.
async fn lines(file: &Path, expected: impl Fn(&str) -> bool) -> String {
    let started = Instant::now();
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if expected(&text) {
            return text;
        }
        assert!(started.elapsed() < HANG, "{text}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_do_not_answer_are_marked_and_stay_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stale.json");
    let daemon = Daemon::start(&["--ping", "1", "--stale-file", file.to_str().unwrap()]);
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let root = server.root_poa();
    root.the_poa_manager().activate().unwrap();
    let place = server.endpoints()[0].to_string().replace("iiop://", "");
    let at = async |key: &str| {
        let url = format!("corbaloc:iiop:1.2@{place}/{key}");
        orb.string_to_object(&url).await.unwrap()
    };
    // An object that is there: the service's own root, by its corbaloc at another name than its own.
    let there = orb
        .string_to_object(&daemon.url.replace("127.0.0.1", "localhost"))
        .await
        .unwrap();
    names.bind("bank/there", &there).await.unwrap();
    names.bind("bank/gone", &at("Absent").await).await.unwrap();
    let nowhere = orb
        .string_to_object("corbaloc:iiop:1.2@127.0.0.1:1/Bank")
        .await
        .unwrap();
    names.bind("bank/silent", &nowhere).await.unwrap();
    names.bind_context("bank/up", &names).await.unwrap();

    let both = |text: &str| text.lines().count() == 2;
    let text = lines(&file, both).await;
    let marks: Vec<&str> = text.lines().collect();
    assert!(
        marks[0].contains("\"name\":\"bank/gone\"") && marks[0].contains("\"is_gone\":true"),
        "{text}"
    );
    assert!(
        marks[1].contains("\"name\":\"bank/silent\"") && marks[1].contains("TRANSIENT"),
        "{text}"
    );
    assert!(marks[1].contains("\"is_gone\":false"), "{text}");
    for name in ["bank/gone", "bank/silent", "bank/there"] {
        names.resolve::<ObjectRef>(name).await.unwrap();
    }
    // What answers again is not marked any more; the other mark is as old as it was.
    names.rebind("bank/silent", &there).await.unwrap();
    let text = lines(&file, |text| text.lines().count() == 1).await;
    assert_eq!(text.lines().next(), Some(marks[0]));
}
