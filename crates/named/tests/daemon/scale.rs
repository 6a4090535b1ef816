//! What many names cost, in octets that the program reads.

use crate::common::{Daemon, client, client_orb};
use std::path::Path;
use zorb::naming::cos_naming::{BindingType, NameComponent};
use zorb::{Bytes, ObjectRef};
use zorb_named::store::{Binding, Change, EmbeddedStore, Key, Outcome, Replace, Store, Target};

/// Changes at a time.
const AT_A_TIME: usize = 1_000;
/// Names that are resolved.
const RESOLVED: u64 = 100;
/// Octets that a look-up may read: some pages of 4 KiB.
const OCTETS_OF_A_LOOK_UP: u64 = 10 * 4_096;
/// How much more a start may read with a hundred times the names, of which each is stored in more octets than that is for one.
const OCTETS_OF_A_START: u64 = 512 * 1024;

/// Makes a store with so many names.
async fn fill(folder: &Path, names: usize, object: &ObjectRef) {
    let store = std::sync::Arc::new(EmbeddedStore::open(folder).unwrap());
    let ior = zorb::cdr::encode_encapsulation::<zorb::cdr::BigEndian>(
        zorb::cdr::WireFormat::default(),
        |encoder| encoder.put(object.ior()),
    );
    let reference = Bytes::from(ior.unwrap());
    for from in (0..names).step_by(AT_A_TIME) {
        let mut tasks = tokio::task::JoinSet::new();
        for n in from..(from + AT_A_TIME).min(names) {
            let component = NameComponent {
                id: format!("name{n:07}"),
                kind: String::new(),
            };
            let change = Change::Bind {
                context: store.root(),
                key: Key::of(&component).unwrap(),
                binding: Binding {
                    binding_type: BindingType::Nobject,
                    target: Target::Reference(reference.clone()),
                },
                replace: Replace::Nothing,
            };
            let store = std::sync::Arc::clone(&store);
            tasks.spawn(async move { store.change(change).await });
        }
        for outcome in tasks.join_all().await {
            assert_eq!(outcome.unwrap(), Outcome::Done);
        }
    }
    store.close().await;
}

/// The octets that a process has read so far, from files and sockets.
fn octets_read(daemon: &Daemon) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/io", daemon.id())).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.unwrap().parse().unwrap()
}

/// The octets read by a start after `kill -9`, and by look-ups.
async fn cost(names: usize) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let orb = client_orb().await;
    let object = crate::common::object(&orb, 1).await;
    fill(folder.path(), names, &object).await;
    let daemon = Daemon::in_folder(folder.path());
    let root = client(&orb, &daemon.url).await;
    root.bind("one more", &object).await.unwrap();
    drop(daemon);
    let daemon = Daemon::in_folder(folder.path());
    let start = octets_read(&daemon);
    let root = client(&orb, &daemon.url).await;
    let step = names / usize::try_from(RESOLVED).unwrap();
    for n in (0..names).step_by(step.max(1)) {
        root.resolve::<ObjectRef>(&format!("name{n:07}"))
            .await
            .unwrap();
    }
    (start, octets_read(&daemon) - start)
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_a_start_nor_a_look_up_reads_more_of_more_names() {
    let (few_start, _) = cost(500).await;
    let (many_start, look_ups) = cost(50_000).await;
    eprintln!(
        "a start reads {few_start} octets, with a hundred times the names {many_start}; look-ups {look_ups}"
    );
    assert!(
        many_start <= few_start + OCTETS_OF_A_START,
        "{many_start} octets, {few_start} for few names"
    );
    assert!(
        look_ups <= RESOLVED * OCTETS_OF_A_LOOK_UP,
        "{look_ups} octets for {RESOLVED} names"
    );
}
