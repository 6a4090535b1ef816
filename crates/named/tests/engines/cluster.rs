//! Clusters of three servers, in folders and at addresses of their own.

use crate::anew::anywhere;
use crate::network::Network;
use crate::support::{Running, have};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// An engine that naming services share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Engine {
    Etcd,
    Nats,
}

impl Engine {
    fn program(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::Nats => "nats-server",
        }
    }

    /// Where `cargo xtask peers` builds it.
    pub(crate) fn path(self) -> PathBuf {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/engines/build");
        built.join(self.program())
    }

    /// A test of the engine, as `tests/interop/cells.txt` names it.
    pub(crate) fn cell(self, what: &str) -> String {
        match self {
            Self::Etcd => format!("etcd/{what}"),
            Self::Nats => format!("nats/{what}"),
        }
    }
}

/// A cluster of three.
pub(crate) struct Cluster {
    engine: Engine,
    folder: TempDir,
    program: PathBuf,
    /// An address for each server, of the loopback unless there is a network.
    hosts: Vec<String>,
    members: Vec<Option<Running>>,
    network: Option<Network>,
}

/// An address that no other test uses.
pub(crate) fn host() -> String {
    let endpoint = anywhere();
    let rest = endpoint.trim_start_matches("iiop://");
    rest.split(':').next().expect("an address").to_owned()
}

fn signal(member: &Running, signal: Signal) {
    let id = i32::try_from(member.id()).ok().and_then(Pid::from_raw);
    kill_process(id.expect("a process"), signal).expect("it runs");
}

impl Cluster {
    /// A cluster none of whose servers runs; `None`, and a word about it, without the engine.
    pub(crate) fn new(engine: Engine, what: &str) -> Option<Self> {
        let program = engine.path();
        if !have(what, &[&program]) {
            return None;
        }
        Some(Self {
            engine,
            folder: tempfile::tempdir().unwrap(),
            program,
            hosts: (0..3).map(|_| host()).collect(),
            members: (0..3).map(|_| None).collect(),
            network: None,
        })
    }

    pub(crate) fn start(engine: Engine, what: &str) -> Option<Self> {
        let mut cluster = Self::new(engine, what)?;
        cluster.start_all();
        Some(cluster)
    }

    /// A cluster each of whose servers has a network of its own, which can be cut off.
    pub(crate) fn start_apart(engine: Engine, what: &str) -> Option<Self> {
        let mut cluster = Self::new(engine, what)?;
        let network = Network::new(what)?;
        cluster.hosts = network.addresses();
        cluster.network = Some(network);
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
        self.url_from(0)
    }

    /// The same, with one of the servers as the first one that is used.
    pub(crate) fn url_from(&self, first: usize) -> String {
        let (scheme, port) = match self.engine {
            Engine::Etcd => ("etcd", 2379),
            Engine::Nats => ("nats", 4222),
        };
        let hosts: Vec<String> = (0..3)
            .map(|at| format!("{}:{port}", self.hosts[(first + at) % 3]))
            .collect();
        format!("{scheme}://{}/names", hosts.join(","))
    }

    fn launch(&mut self, at: usize) {
        let command = match self.engine {
            Engine::Etcd => self.etcd(at),
            Engine::Nats => self.nats(at),
        };
        let command = match &self.network {
            Some(network) => network.command(at, &command),
            None => command,
        };
        self.members[at] = Some(Running::command(command));
    }

    fn etcd(&self, at: usize) -> Command {
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
        command
    }

    fn nats(&self, at: usize) -> Command {
        let host = &self.hosts[at];
        let routes: Vec<String> = (self.hosts.iter())
            .map(|host| format!("nats-route://{host}:6222"))
            .collect();
        let folder = self.folder.path().join(format!("m{at}"));
        // As docs/naming-service.md asks for: what is acknowledged is on disk, and servers notice soon that one is cut off.
        let text = format!(
            "server_name: m{at}\nlisten: {host}:4222\n\
             jetstream {{ store_dir: {folder:?}, sync_interval: always }}\n\
             cluster {{ name: zorb, listen: {host}:6222, routes: {routes:?}, ping_interval: 1s, ping_max: 2 }}\n"
        );
        let config = self.folder.path().join(format!("m{at}.conf"));
        std::fs::write(&config, text).expect("a file can be written");
        let mut command = Command::new(&self.program);
        command.arg("--config").arg(config);
        command
    }

    fn wait(&mut self, at: usize) {
        let says = match self.engine {
            Engine::Etcd => "ready to serve client requests",
            Engine::Nats => "Server is ready",
        };
        let member = self.members[at].as_mut().expect("launched");
        let ready = member.find(|line| line.contains(says).then_some(()));
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

    /// Loses all packets between a server and the other two; with its clients they go on.
    pub(crate) fn cut_from_others(&self, at: usize) {
        self.network.as_ref().expect("start_apart").cut(at, false);
    }

    /// Loses all packets of a server.
    pub(crate) fn cut_off(&self, at: usize) {
        self.network.as_ref().expect("start_apart").cut(at, true);
    }

    /// Loses no packets any more.
    pub(crate) fn mend(&self) {
        self.network.as_ref().expect("start_apart").mend();
    }
}
