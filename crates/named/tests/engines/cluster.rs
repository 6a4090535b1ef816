//! Clusters of three servers, in folders and at addresses of their own.

use crate::anew::anywhere;
use crate::support::{Running, have};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A cluster of three.
pub(crate) struct Cluster {
    folder: TempDir,
    program: PathBuf,
    /// An address of the loopback for each server.
    hosts: Vec<String>,
    members: Vec<Option<Running>>,
}

/// An address that no other test uses.
fn host() -> String {
    let endpoint = anywhere();
    let rest = endpoint.trim_start_matches("iiop://");
    rest.split(':').next().expect("an address").to_owned()
}

fn signal(member: &Running, signal: Signal) {
    let id = i32::try_from(member.id()).ok().and_then(Pid::from_raw);
    kill_process(id.expect("a process"), signal).expect("it runs");
}

impl Cluster {
    /// A cluster none of whose servers runs; `None`, and a word about it, without etcd.
    pub(crate) fn new(what: &str) -> Option<Self> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/engines/build");
        let program = built.join("etcd");
        if !have(what, &[&program]) {
            return None;
        }
        Some(Self {
            folder: tempfile::tempdir().unwrap(),
            program,
            hosts: (0..3).map(|_| host()).collect(),
            members: (0..3).map(|_| None).collect(),
        })
    }

    pub(crate) fn start(what: &str) -> Option<Self> {
        let mut cluster = Self::new(what)?;
        cluster.start_all();
        Some(cluster)
    }

    pub(crate) fn start_all(&mut self) {
        // None is ready before another one is there.
        for at in 0..3 {
            self.launch(at);
        }
        for at in 0..3 {
            self.wait(at);
        }
    }

    /// What `zorb-named --store` takes.
    pub(crate) fn url(&self) -> String {
        let hosts: Vec<String> = self
            .hosts
            .iter()
            .map(|host| format!("{host}:2379"))
            .collect();
        format!("etcd://{}/names", hosts.join(","))
    }

    fn launch(&mut self, at: usize) {
        let host = &self.hosts[at];
        let peers: Vec<String> = (self.hosts.iter().enumerate())
            .map(|(at, host)| format!("m{at}=http://{host}:2380"))
            .collect();
        let mut command = Command::new(&self.program);
        command
            .args(["--name", &format!("m{at}"), "--data-dir"])
            .arg(self.folder.path().join(format!("m{at}")))
            .args(["--listen-client-urls", &format!("http://{host}:2379")])
            .args(["--advertise-client-urls", &format!("http://{host}:2379")])
            .args(["--listen-peer-urls", &format!("http://{host}:2380")])
            .args([
                "--initial-advertise-peer-urls",
                &format!("http://{host}:2380"),
            ])
            .args(["--initial-cluster", &peers.join(",")])
            .args(["--initial-cluster-token", "zorb", "--logger", "zap"]);
        self.members[at] = Some(Running::command(command));
    }

    fn wait(&mut self, at: usize) {
        let member = self.members[at].as_mut().expect("launched");
        let ready = member.find(|line| {
            line.contains("ready to serve client requests")
                .then_some(())
        });
        assert!(ready.is_some(), "{member:?}");
    }

    /// Kills a server (SIGKILL).
    pub(crate) fn kill(&mut self, at: usize) {
        self.members[at] = None;
    }

    /// Starts a server again that was killed.
    pub(crate) fn restart(&mut self, at: usize) {
        self.launch(at);
        self.wait(at);
    }

    /// Has a server neither hear nor answer, with all its connections open.
    pub(crate) fn hang(&self, at: usize) {
        signal(self.members[at].as_ref().expect("it runs"), Signal::STOP);
    }

    pub(crate) fn resume(&self, at: usize) {
        signal(self.members[at].as_ref().expect("it runs"), Signal::CONT);
    }
}
