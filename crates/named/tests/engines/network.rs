//! Hosts on a switch that can lose packets: network namespaces, one for each server and one for the switch, to which this host is
//! connected too. Needs root, iproute2 and nftables.

use crate::support::have;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Three hosts on a switch. Dropping it takes all away.
pub(crate) struct Network {
    name: String,
    /// The first octets of all addresses.
    net: String,
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

fn ip(line: &str) -> Result<(), String> {
    run(Command::new("ip").args(line.split(' ')))
}

impl Network {
    /// `None`, and a word about it, where there cannot be one.
    pub(crate) fn new(what: &str) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if !have(what, &[Path::new("ip"), Path::new("nft")]) {
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let id = std::process::id();
        // Of the networks for tests of networks, one for each process and call.
        let place = (id & 0x7f) << 2 | number & 3;
        let network = Self {
            name: format!("ze{id}-{number}"),
            net: format!("198.{}.{}", 18 + (place >> 8), place & 0xff),
        };
        match network.make() {
            Ok(()) => Some(network),
            Err(why) => {
                let required = std::env::var_os("ZORB_PEERS").is_some_and(|v| v == "require");
                assert!(!required, "{what}: {why}");
                eprintln!("{what}: skipped, no network namespaces: {why}");
                None
            }
        }
    }

    fn make(&self) -> Result<(), String> {
        let Self { name, net } = self;
        ip(&format!("netns add {name}"))?;
        ip(&format!("-n {name} link add switch type bridge"))?;
        ip(&format!("-n {name} link set switch up"))?;
        ip(&format!(
            "link add {name} type veth peer name home netns {name}"
        ))?;
        ip(&format!("address add {net}.1/24 dev {name}"))?;
        ip(&format!("link set {name} up"))?;
        ip(&format!("-n {name} link set home master switch up"))?;
        for at in 0..3 {
            let host = self.host(at);
            ip(&format!("netns add {host}"))?;
            ip(&format!("-n {host} link set lo up"))?;
            ip(&format!(
                "-n {name} link add m{at} type veth peer name eth0 netns {host}"
            ))?;
            ip(&format!("-n {name} link set m{at} master switch up"))?;
            ip(&format!(
                "-n {host} address add {net}.{}/24 dev eth0",
                at + 2
            ))?;
            ip(&format!("-n {host} link set eth0 up"))?;
        }
        Ok(())
    }

    fn host(&self, at: usize) -> String {
        format!("{}-{at}", self.name)
    }

    /// The addresses of the three.
    pub(crate) fn addresses(&self) -> Vec<String> {
        (2..5).map(|at| format!("{}.{at}", self.net)).collect()
    }

    /// A command that runs a program on a host.
    pub(crate) fn command(&self, at: usize, program: &Command) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.host(at)]);
        command.arg(program.get_program()).args(program.get_args());
        command
    }

    /// Loses the packets between a host and the others, silently; also those between it and this host if `all`.
    pub(crate) fn cut(&self, at: usize, all: bool) {
        let others = (0..3)
            .filter(|other| *other != at)
            .map(|at| format!("m{at}"));
        let mut others: Vec<String> = others.collect();
        if all {
            others.push("home".to_owned());
        }
        let others = others.join(", ");
        self.nft(&format!(
            "table bridge cut {{\nchain lost {{\ntype filter hook forward priority 0\n\
             iifname m{at} oifname {{ {others} }} drop\noifname m{at} iifname {{ {others} }} drop\n}}\n}}"
        ));
    }

    /// Loses no packets any more.
    pub(crate) fn mend(&self) {
        self.nft("delete table bridge cut");
    }

    fn nft(&self, rules: &str) {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, "nft", rules]);
        run(&mut command).unwrap();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in (0..3).map(|at| self.host(at)).chain([self.name.clone()]) {
            // Nothing to be done about a failure; the name says whose it was.
            let _ = ip(&format!("netns delete {name}"));
        }
    }
}
