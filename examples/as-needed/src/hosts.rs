//! Two hosts: network namespaces with a virtual Ethernet between them, or this host where there cannot be any.

use std::process::Command;

/// The host of the client, and that of the server. Dropping them takes them away.
#[derive(Debug)]
pub struct Hosts {
    /// What the names of both namespaces begin with.
    prefix: Option<String>,
}

const CLIENT: &str = "10.77.7.1";
const RELAY: &str = "10.77.7.2";

impl Hosts {
    /// Makes both. Without root or iproute2 they are this one, and what crosses the network crosses the loopback interface.
    #[must_use]
    pub fn new() -> Self {
        let prefix = format!("as-needed-{}", std::process::id());
        let mut hosts = Self {
            prefix: Some(prefix),
        };
        if hosts.set_up().is_err() {
            hosts.tear_down();
            hosts.prefix = None;
        }
        hosts
    }

    /// Whether they are namespaces.
    #[must_use]
    pub fn are_apart(&self) -> bool {
        self.prefix.is_some()
    }

    /// The address at which a relay on the server's host is found by the client.
    #[must_use]
    pub fn relay(&self) -> &'static str {
        match self.are_apart() {
            true => RELAY,
            false => "127.0.0.2",
        }
    }

    fn names(&self) -> Option<[String; 2]> {
        let prefix = self.prefix.as_ref()?;
        Some(["client", "server"].map(|end| format!("{prefix}-{end}")))
    }

    fn set_up(&self) -> Result<(), String> {
        let Some([client, server]) = &self.names() else {
            return Ok(());
        };
        ip(&["netns", "add", client])?;
        ip(&["netns", "add", server])?;
        let link = [
            "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns",
        ];
        ip(&[&["-n", client], &link[..], &[server]].concat())?;
        for (host, address) in [(client, CLIENT), (server, RELAY)] {
            let address = format!("{address}/24");
            ip(&["-n", host, "address", "add", &address, "dev", "cable"])?;
            ip(&["-n", host, "link", "set", "cable", "up"])?;
            ip(&["-n", host, "link", "set", "lo", "up"])?;
        }
        Ok(())
    }

    fn tear_down(&self) {
        for name in self.names().into_iter().flatten() {
            // It may not be there.
            let _ = ip(&["netns", "delete", &name]);
        }
    }

    /// A command that runs a program on the client's host.
    #[must_use]
    pub fn on_client(&self, program: &str) -> Command {
        self.on(0, program)
    }

    /// A command that runs a program on the server's host.
    #[must_use]
    pub fn on_server(&self, program: &str) -> Command {
        self.on(1, program)
    }

    fn on(&self, end: usize, program: &str) -> Command {
        let names = self.names();
        match names.as_ref().and_then(|names| names.get(end)) {
            Some(name) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name, program]);
                command
            }
            None => Command::new(program),
        }
    }
}

impl Default for Hosts {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.tear_down();
    }
}

fn ip(args: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(args).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
