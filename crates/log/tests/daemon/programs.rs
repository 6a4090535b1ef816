//! The program: what outlives it, whom it lets in, how it is started.

use crate::support::{Running, have, passed};
use crate::{Daemon, command, infos, numbers, pair};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use zorb::{Interface, Orb, SystemExceptionKind};
use zorb_log::LogStore;
use zorb_log::ds_log_admin::{
    BasicLogRef, DEFAULT_GRAMMAR as GRAMMAR, HALT, QO_S_RELIABILITY, WRAP,
};

#[tokio::test(flavor = "multi_thread")]
async fn logs_and_their_records_outlive_the_program_and_destroyed_ones_do_not_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let first = Daemon::start(&["--data", data]);
    let endpoint = first.endpoint();
    let orb = Orb::builder().build().await.unwrap();
    let factory = first.factory(&orb).await;
    let log = factory.create_with_id(5, HALT, 0).await.unwrap().unwrap();
    log.set_log_qos(&[QO_S_RELIABILITY]).await.unwrap();
    log.set_capacity_alarm_thresholds(&[50]).await.unwrap();
    log.write_records(&numbers(0..100)).await.unwrap();
    log.delete_records(GRAMMAR, "$info < 10").await.unwrap();
    log.set_record_attribute(50, &[pair("a", "b")])
        .await
        .unwrap();
    log.flush().await.unwrap();
    let size = log.get_current_size().await.unwrap();
    let destroyed = factory.create_with_id(6, WRAP, 0).await.unwrap().unwrap();
    destroyed.write_records(&numbers(0..10)).await.unwrap();
    destroyed.destroy().await.unwrap();
    let second = Daemon::started(command(&["--data", data]));
    let Err(second) = second else {
        panic!("two have the folder");
    };
    assert_eq!(second.finish().status.code(), Some(3));
    drop(first);

    let again = Daemon::start(&["--data", data, "--listen", &endpoint]);
    assert_eq!(factory.list_logs_by_id().await.unwrap(), [5]);
    assert_eq!(log.get_n_records().await.unwrap(), 90);
    assert_eq!(log.get_current_size().await.unwrap(), size);
    assert_eq!(log.get_log_qos().await.unwrap(), [QO_S_RELIABILITY]);
    assert_eq!(log.get_capacity_alarm_thresholds().await.unwrap(), [50]);
    let (found, _) = log.query(GRAMMAR, "$.attr_list(a) == 'b'").await.unwrap();
    assert_eq!(infos(&found), [49]);
    let gone = destroyed.get_n_records().await.unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
    // Neither a log nor a record has what was that of another one.
    let new = factory.create_with_id(6, WRAP, 0).await.unwrap().unwrap();
    assert_eq!(new.get_n_records().await.unwrap(), 0);
    assert!(destroyed.get_n_records().await.is_err());
    log.write_records(&numbers([7])).await.unwrap();
    assert_eq!(log.retrieve(u64::MAX, -1).await.unwrap().0[0].id, 101);
    let ended = again.terminate();
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_no_acknowledged_record_and_leaves_no_half_of_a_write() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let first = Daemon::start(&["--data", data]);
    let endpoint = first.endpoint();
    let orb = Orb::builder().build().await.unwrap();
    let factory = first.factory(&orb).await;
    let log = factory.create(HALT, 0).await.unwrap().0.unwrap();
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    for writer in 0..4 {
        let (log, said): (BasicLogRef, _) = (log.clone(), said.clone());
        tokio::spawn(async move {
            for n in 0.. {
                let first = writer * 1_000_000 + n * 3;
                match log.write_records(&numbers(first..first + 3)).await {
                    Ok(()) => said.send(first).unwrap(),
                    Err(_) => break,
                }
            }
        });
    }
    drop(said);
    let mut acknowledged = Vec::new();
    let mut first = Some(first);
    while let Some(written) = heard.recv().await {
        acknowledged.push(written);
        if acknowledged.len() == 100 {
            // SIGKILL, with writes under way.
            drop(first.take());
        }
    }
    let again = Daemon::start(&["--data", data, "--listen", &endpoint]);
    let (records, rest) = log.query(GRAMMAR, "").await.unwrap();
    assert!(rest.is_none());
    let all = infos(&records);
    for written in acknowledged {
        assert!(all.contains(&written), "{written} is lost");
    }
    for whole in all.chunks(3) {
        assert_eq!(whole, [whole[0], whole[0] + 1, whole[0] + 2]);
    }
    assert_eq!(log.get_n_records().await.unwrap(), all.len() as u64);
    drop(again);
}

#[tokio::test]
async fn a_store_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    drop(LogStore::open(data).unwrap());
    let version = redb::TableDefinition::<&str, &[u8]>::new("about");
    let file = data.join("log.redb");
    // The thread of the store may be closing it just now.
    let database = loop {
        match redb::Database::open(&file) {
            Ok(database) => break database,
            Err(redb::DatabaseError::DatabaseAlreadyOpen) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    };
    let writing = database.begin_write().unwrap();
    let format = 99_u32.to_be_bytes();
    let mut about = writing.open_table(version).unwrap();
    about.insert("format", &format[..]).unwrap();
    drop(about);
    writing.commit().unwrap();
    drop(database);
    let refused = Daemon::started(command(&["--data", data.to_str().unwrap()]));
    let Err(refused) = refused else {
        panic!("it serves a store of another version");
    };
    assert_eq!(refused.finish().status.code(), Some(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_works_from_omniorb() {
    let cell = "omniorb-zorblog/all";
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/build/omniorb/log");
    if !have(cell, &[&program]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(&["--data", folder.path().to_str().unwrap()]);
    let events = daemon.url.replace("BasicLogFactory", "EventLogFactory");
    let lines = Running::start(&program, &[&daemon.url, &events]).finish();
    assert_eq!(
        lines.success(),
        [
            "written 5",
            "queried 2: 3 4",
            "matched 4",
            "forwards 0 1",
            "backwards 4 3",
            "invalid constraint",
            "attribute mine",
            "no such record",
            "first 3",
            "next 2, at the end 0",
            "beyond the end",
            "full after 3",
            "locked",
            "wrong mask",
            "exists",
            "deleted 9, left 0",
            "destroyed",
            "created",
            "pushed, logged and forwarded 5 5",
            "threshold 50 at 50"
        ]
    );
    // What it made is the logs of ours, too.
    let orb = Orb::builder().build().await.unwrap();
    let factory = daemon.factory(&orb).await;
    let log = factory.find_log(7).await.unwrap().unwrap();
    let log: BasicLogRef = log.as_object().narrow().await.unwrap().unwrap();
    assert_eq!(infos(&log.query(GRAMMAR, "").await.unwrap().0), [7]);
    passed(cell);
}

/// The words of a line that starts the program, with these in place of others.
fn words(line: &str, here: &[(&str, &str)]) -> Vec<String> {
    let word = |word: &str| {
        let found = here.iter().find(|(its, _)| *its == word);
        found.map_or(word, |(_, ours)| ours).to_owned()
    };
    line.split([' ', ',', '"', '[', ']'])
        .filter(|word| !word.is_empty())
        .map(word)
        .collect()
}

#[test]
fn what_the_unit_and_the_container_start_is_ready_when_it_says_so_and_ends_in_order() {
    let setting = |text: &'static str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_else(|| panic!("no {name}"))
    };
    let unit = include_str!("../../packaging/zorb-log.service");
    let container = include_str!("../../packaging/Containerfile");
    for line in [
        setting(unit, "ExecStart="),
        setting(container, "ENTRYPOINT "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let here = [
            ("/var/lib/zorb-log", data.to_str().unwrap()),
            ("/data", data.to_str().unwrap()),
            ("iiop://0.0.0.0:11172", "iiop://127.0.0.1:0"),
        ];
        let words = words(line, &here);
        assert_eq!(words[0], "/usr/local/bin/zorb-log");
        let socket = folder.path().join("notify");
        let listening = UnixDatagram::bind(&socket).unwrap();
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let mut command = command(&args);
        command.env("NOTIFY_SOCKET", &socket);
        let daemon = Daemon::started(command).unwrap_or_else(|running| panic!("{running:?}"));
        let mut said = [0; 100];
        let length = listening.recv(&mut said).unwrap();
        assert_eq!(&said[..length], b"READY=1");
        assert!(data.join("log.redb").exists());
        let ended = daemon.terminate();
        assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
    }
}
