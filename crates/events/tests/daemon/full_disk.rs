//! A disk without room: a small file system of its own, for which the test has to be root.

use crate::common::{Daemon, orb};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use zorb::{Any, SystemExceptionKind};
use zorb_events::cos_event_comm::push_consumer::PushError;

/// A file system in memory, mounted on a folder.
struct Mounted(TempDir);

impl Mounted {
    /// `None`, and a word about it, if it cannot be mounted.
    fn of(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]);
        let mounted = mount.arg(folder.path()).status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        eprintln!("a full disk: skipped, as this user may mount nothing");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The program may be ending just now.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn large(number: u32) -> Any {
    Any::new(&format!("{number:05}{}", "x".repeat(4_000))).unwrap()
}

fn number(any: &Any) -> u32 {
    let text: String = any.extract().unwrap();
    text[..5].parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_room_events_are_refused_and_what_was_accepted_is_delivered() {
    let Some(disk) = Mounted::of("8m") else {
        return;
    };
    let orb = orb().await;
    let daemon = Daemon::in_folder(disk.path());
    let channel = daemon.channel(&orb).await;
    let pull = channel.pull_proxy().await;
    let push = channel.push_proxy().await;
    let mut accepted = 0;
    let refused = loop {
        match push.push(&large(accepted)).await {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 10_000, "the disk is larger than the events");
    };
    assert!(accepted > 100, "{accepted}");
    let PushError::System(exception) = &refused else {
        panic!("{refused}");
    };
    assert_eq!(
        exception.kind,
        SystemExceptionKind::NoResources,
        "{refused}"
    );
    for n in 0..accepted {
        assert_eq!(number(&pull.pull().await.unwrap()), n);
    }
    // With more room it goes on by itself.
    let grown = Command::new("mount")
        .args(["-o", "remount,size=64m"])
        .arg(disk.path())
        .status();
    assert!(grown.unwrap().success());
    while let Err(refused) = push.push(&large(accepted)).await {
        assert!(matches!(refused, PushError::System(_)), "{refused}");
    }
    assert_eq!(number(&pull.pull().await.unwrap()), accepted);
    assert_eq!(daemon.terminate().status.code(), Some(0));
}
