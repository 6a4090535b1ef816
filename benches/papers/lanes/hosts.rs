//! The places of the ends of an experiment: a CPU each, the same one, or hosts with a network between them.

use crate::world::lane;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use zorb::executor::Lane;
use zorb_papers::dialogue::Failure;

/// The place of all threads of one end: CPUs, a network and an address in it.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) cpus: Vec<usize>,
    pub(crate) address: String,
    /// Threads that its thread starts have its CPUs and its network.
    start: Lane,
}

impl Host {
    /// A place on these CPUs, in the network of the process.
    pub(crate) fn here(cpus: &[usize]) -> Result<Self, Failure> {
        Ok(Self {
            cpus: cpus.to_vec(),
            address: "127.0.0.1".to_owned(),
            start: lane("host", cpus, None)?,
        })
    }

    /// Runs what starts threads and opens sockets.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        start: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        self.start.spawn(start).await?
    }
}

/// Both ends.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) client: Host,
    pub(crate) server: Host,
}

/// The places that there are here.
#[derive(Debug)]
pub(crate) struct Places {
    /// Both ends on one CPU.
    pub(crate) same: Place,
    /// A CPU for each end.
    pub(crate) split: Option<Place>,
    /// Both ends on both CPUs.
    pub(crate) both: Option<Place>,
    /// A host for each end, or why there are none.
    pub(crate) hosts: Result<Place, String>,
}

impl Places {
    pub(crate) fn of(cpus: &[usize]) -> Result<Self, Failure> {
        let [first, others @ ..] = cpus else {
            return Err("no CPU".into());
        };
        let same = Host::here(&[*first])?;
        let same = Place {
            client: same.clone(),
            server: same,
        };
        let Some(second) = others.first() else {
            return Ok(Self {
                same,
                split: None,
                both: None,
                hosts: Err("one CPU only".to_owned()),
            });
        };
        let both = Host::here(&[*first, *second])?;
        let split = Place {
            client: Host::here(&[*second])?,
            server: Host::here(&[*first])?,
        };
        Ok(Self {
            same,
            split: Some(split),
            both: Some(Place {
                client: both.clone(),
                server: both,
            }),
            hosts: two_hosts(*second, *first).map_err(|e| format!("{e:#}")),
        })
    }
}

const ADDRESSES: [&str; 2] = ["10.211.7.1", "10.211.7.2"];

/// Two network namespaces with a virtual Ethernet between them, each with a CPU of its own.
fn two_hosts(client: usize, server: usize) -> Result<Place, Failure> {
    let names = ["client", "server"].map(|end| format!("zorb-lanes-{}-{end}", std::process::id()));
    // Names go as soon as threads are in the namespaces, which last as long as these.
    let _named = names.each_ref().map(|name| Named(name));
    for name in &names {
        ip(&["netns", "add", name])?;
    }
    let [from, to] = &names;
    ip(&[
        "-n", from, "link", "add", "lanes0", "type", "veth", "peer", "name", "lanes0", "netns", to,
    ])?;
    let mut hosts = Vec::new();
    for ((name, address), cpu) in names.iter().zip(ADDRESSES).zip([client, server]) {
        let network = format!("{address}/24");
        ip(&["-n", name, "address", "add", &network, "dev", "lanes0"])?;
        ip(&["-n", name, "link", "set", "lanes0", "up"])?;
        ip(&["-n", name, "link", "set", "lo", "up"])?;
        let mut host = Host::here(&[cpu])?;
        address.clone_into(&mut host.address);
        let file = File::open(format!("/var/run/netns/{name}"))?;
        let (entered, result) = std::sync::mpsc::channel();
        drop(host.start.spawn(async move {
            let moved = move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network));
            // The receiver waits.
            let _ = entered.send(moved);
        }));
        result.recv()??;
        hosts.push(host);
    }
    let [client, server] = <[Host; 2]>::try_from(hosts).map_err(|_| "two hosts")?;
    Ok(Place { client, server })
}

/// The name of a namespace.
struct Named<'a>(&'a str);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        // A namespace that was not made cannot be removed.
        let _ = ip(&["netns", "delete", self.0]);
    }
}

fn ip(words: &[&str]) -> Result<(), Failure> {
    let output = Command::new("ip").args(words).output();
    let output = output.map_err(|e| format!("ip: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {}: {}", words.join(" "), said.trim()).into())
}
