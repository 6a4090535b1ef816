//! A disk without room: a small file system of its own, for which the test has to be root.

use crate::{Daemon, any, infos, numbers};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use zorb::Orb;
use zorb_log::ds_log_admin::log::WriteRecordsError;
use zorb_log::ds_log_admin::{DEFAULT_GRAMMAR as GRAMMAR, HALT, OperationalState};

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
async fn without_room_records_are_refused_reads_go_on_and_what_was_accepted_is_there() {
    let Some(disk) = Mounted::of("8m") else {
        return;
    };
    let daemon = Daemon::start(&["--data", disk.path().to_str().unwrap()]);
    let orb = Orb::builder().build().await.unwrap();
    let factory = daemon.factory(&orb).await;
    let log = factory.create(HALT, 0).await.unwrap().0.unwrap();
    log.write_records(&numbers(0..3)).await.unwrap();
    let large = any(&"x".repeat(40_000)[..]);
    let mut accepted = 3;
    let refused = loop {
        match log.write_records(std::slice::from_ref(&large)).await {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 10_000, "the disk is larger than the records");
    };
    assert!(accepted > 20, "{accepted}");
    assert!(
        matches!(refused, WriteRecordsError::LogDisabled(_)),
        "{refused}"
    );
    let state = log.get_operational_state().await.unwrap();
    assert_eq!(state, OperationalState::Disabled);
    assert_eq!(log.get_n_records().await.unwrap(), accepted);
    let (found, _) = log.query(GRAMMAR, "$id < 4").await.unwrap();
    assert_eq!(infos(&found), [0, 1, 2]);
    // With more room it goes on by itself.
    let grown = Command::new("mount")
        .args(["-o", "remount,size=64m"])
        .arg(disk.path())
        .status();
    assert!(grown.unwrap().success());
    while let Err(refused) = log.write_records(std::slice::from_ref(&large)).await {
        assert!(
            matches!(refused, WriteRecordsError::LogDisabled(_)),
            "{refused}"
        );
    }
    let state = log.get_operational_state().await.unwrap();
    assert_eq!(state, OperationalState::Enabled);
    assert_eq!(log.get_n_records().await.unwrap(), accepted + 1);
    assert_eq!(daemon.terminate().status.code(), Some(0));
}
