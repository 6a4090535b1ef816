//! A disk without room: a small file system of its own, for which the test has to be root.

use crate::common::{Daemon, client, client_orb, object};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use zorb::{ObjectRef, SystemExceptionKind};

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

#[tokio::test(flavor = "multi_thread")]
async fn without_room_changes_are_refused_and_names_are_resolved() {
    let Some(disk) = Mounted::of("4m") else {
        return;
    };
    let daemon = Daemon::in_folder(disk.path());
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    let mut bound = 0;
    let refused = loop {
        let id = format!("{bound:05}{}", "x".repeat(2_000));
        match names.bind(&id, &object(&orb, bound).await).await {
            Ok(()) => bound += 1,
            Err(error) => break error,
        }
        assert!(bound < 10_000, "the disk is larger than the names");
    };
    assert!(bound > 100, "{bound}");
    let exception = refused.system().expect("an exception");
    assert_eq!(
        exception.kind,
        SystemExceptionKind::NoResources,
        "{refused}"
    );
    let check = async |names: &zorb::naming::NamingClient| {
        for n in 0..bound {
            let id = format!("{n:05}{}", "x".repeat(2_000));
            let found: ObjectRef = names.resolve(&id).await.unwrap();
            assert!(found.is_equivalent(&object(&orb, n).await));
        }
    };
    // While changes are refused.
    let writer = async {
        for n in 0..50 {
            let id = format!("more{n}{}", "y".repeat(2_000));
            let refused = names.bind(&id, &object(&orb, 1).await).await;
            let refused = refused.expect_err("there is no room");
            let exception = refused.system().expect("an exception");
            assert_eq!(
                exception.kind,
                SystemExceptionKind::NoResources,
                "{refused}"
            );
        }
    };
    tokio::join!(writer, check(&names));
    // In its next run as well, which begins without room.
    drop(daemon);
    let daemon = Daemon::in_folder(disk.path());
    let names = client(&orb, &daemon.url).await;
    check(&names).await;
    // With more room it goes on by itself.
    let grown = Command::new("mount")
        .args(["-o", "remount,size=64m"])
        .arg(disk.path())
        .status();
    assert!(grown.unwrap().success());
    while let Err(refused) = names.rebind("room", &object(&orb, 1).await).await {
        let exception = refused.system().expect("an exception");
        assert_eq!(
            exception.kind,
            SystemExceptionKind::NoResources,
            "{refused}"
        );
    }
    check(&names).await;
    let ended = daemon.terminate();
    assert_eq!(ended.status.code(), Some(0));
}
