//! The unit of systemd and the file of a container: what they start is started here, with a folder and a port of the test.

use crate::common::{Daemon, command};
use std::os::unix::net::UnixDatagram;
use std::path::Path;

const UNIT: &str = include_str!("../../packaging/zorb-events.service");
const CONTAINER: &str = include_str!("../../packaging/Containerfile");
const PAGE: &str = include_str!("../../../../docs/event-service.md");
const PROGRAM: &str = "/usr/local/bin/zorb-events";

/// The value of a setting of the unit.
fn setting(name: &str) -> &'static str {
    let mut lines = UNIT.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("no {name}"))
}

/// Starts what a file says, with `folder` for the folder in it.
fn start(words: &[&str], folder: &Path, its_folder: &str, besides: &[(&str, &Path)]) -> Daemon {
    let [PROGRAM, args @ ..] = words else {
        panic!("{words:?} starts another program");
    };
    let folder = folder.to_str().unwrap();
    let here = |word: &&str| match *word {
        word if word == its_folder => folder.to_owned(),
        word => word.replace("0.0.0.0:11169", "127.0.0.1:0"),
    };
    let args: Vec<String> = args.iter().map(here).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = command(&args);
    for (name, value) in besides {
        command.env(name, value);
    }
    Daemon::started(command).unwrap_or_else(|running| panic!("{running:?}"))
}

#[test]
fn what_the_unit_starts_is_ready_when_it_says_so_and_ends_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let listening = UnixDatagram::bind(&socket).unwrap();
    let words: Vec<&str> = setting("ExecStart").split(' ').collect();
    let state = format!("/var/lib/{}", setting("StateDirectory"));
    assert_eq!(setting("Type"), "notify");
    let daemon = start(
        &words,
        &folder.path().join("events"),
        &state,
        &[("NOTIFY_SOCKET", &socket)],
    );
    let mut said = [0; 100];
    let length = listening.recv(&mut said).unwrap();
    assert_eq!(&said[..length], b"READY=1");
    let ended = daemon.terminate();
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
    let length = listening.recv(&mut said).unwrap();
    assert_eq!(&said[..length], b"STOPPING=1");
    // The statuses that another start does not change are those of the page.
    for status in setting("RestartPreventExitStatus").split(' ') {
        assert!(PAGE.contains(&format!("\n| {status} | ")), "{status}");
    }
}

#[test]
fn what_the_container_starts_is_ready() {
    let folder = tempfile::tempdir().unwrap();
    let entry = CONTAINER
        .lines()
        .find_map(|line| line.strip_prefix("ENTRYPOINT "));
    let words = entry.unwrap().trim_matches(['[', ']']).split(", ");
    let words: Vec<&str> = words.map(|word| word.trim_matches('"')).collect();
    let volume = CONTAINER
        .lines()
        .find_map(|line| line.strip_prefix("VOLUME "));
    start(&words, &folder.path().join("data"), volume.unwrap(), &[]);
    assert!(folder.path().join("data/events.redb").exists());
}
