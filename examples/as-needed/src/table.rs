//! The paper's Table 1: the same calls by CORBA and natively, over networks like the paper's.

use crate::Failure;
use crate::hosts::Hosts;
use crate::relay::Link;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The paper's message sizes, in octets.
pub const SIZES: [usize; 3] = [100, 500, 10_240];

/// A network of the table.
#[derive(Debug, Clone, Copy)]
pub struct Network {
    /// Its name.
    pub name: &'static str,
    /// `None` is one host, without a relay.
    pub link: Option<Link>,
}

const fn network(name: &'static str, microseconds: u64, megabits: f64) -> Network {
    Network {
        name,
        link: Some(Link {
            delay: Duration::from_micros(microseconds),
            bits_per_second: Some(megabits * 1e6),
        }),
    }
}

/// One host, and networks like the paper's, of which it says nothing but that the LAN is an Ethernet of 10 Mbit/s. Its table says
/// more, by its calls over sockets. What the others delay is half of what a call of 100 octets takes longer than over the LAN; what
/// they carry is the octets by which a call of 10 KB is longer, in the time that it takes longer. The LAN carries 80 Mbit/s by that
/// measure, which an Ethernet of 10 cannot. What it delays is ours to assume.
pub const NETWORKS: [Network; 4] = [
    Network {
        name: "host",
        link: None,
    },
    network("lan", 100, 80.0),
    network("subnet", 1_000, 32.0),
    network("wan", 60_000, 12.6),
];

/// The designs, as rows of columns: what the client is, and whether it is given the agent.
const DESIGNS: [(&str, &str); 5] = [
    ("corba", "corba"),
    ("integration", "integration"),
    ("service", "service"),
    ("omniorb", ""),
    ("wrapper", ""),
];

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Calls in a row; the paper has 50.
    pub calls: u32,
    /// Rows of each cell, of which the median counts.
    pub rounds: usize,
}

/// A program that answers lines by lines. It is killed when this is dropped.
struct Program {
    child: Child,
    says: BufReader<ChildStdout>,
    hears: ChildStdin,
}

impl Program {
    fn start(command: &mut Command) -> Result<Self, Failure> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (says, hears) = (child.stdout.take(), child.stdin.take());
        Ok(Self {
            says: BufReader::new(says.ok_or("no output")?),
            hears: hears.ok_or("no input")?,
            child,
        })
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.says.read_line(&mut line)? {
            0 => Err("a program has ended".into()),
            _ => Ok(line.trim().to_owned()),
        }
    }

    /// Milliseconds of calls in a row.
    fn time(&mut self, calls: u32, octets: usize) -> Result<f64, Failure> {
        writeln!(self.hears, "time {calls} {octets}")?;
        let line = self.line()?;
        let ns = line.strip_prefix("ns ").ok_or_else(|| line.clone())?;
        Ok(ns.parse::<f64>()? / 1e6)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures a network: milliseconds of a row of calls, by size and design, and of the first call. `omniorb` is the client of
/// omniORB, if there is one.
///
/// # Errors
/// A program does not start, or a call fails.
pub fn measure(
    hosts: &Hosts,
    network: &Network,
    effort: Effort,
    omniorb: Option<&Path>,
) -> Result<Map<String, Value>, Failure> {
    let ours = std::env::current_exe()?;
    let ours = ours.to_str().ok_or("a path of this program in UTF-8")?;
    let host = match network.link {
        Some(_) => hosts.relay(),
        None => "127.0.0.1",
    };
    let mut server = Program::start(hosts.on_server(ours).args(["serve", "--publish", host]))?;
    let (reference, agent, ports) = (server.line()?, server.line()?, server.line()?);
    let mut _relay = None;
    if let Some(link) = network.link {
        let mut command = hosts.on_server(ours);
        command.args(["relay", "--at", host, "--to", "127.0.0.1"]);
        command.args(["--delay-us", &link.delay.as_micros().to_string()]);
        if let Some(rate) = link.bits_per_second {
            command.args(["--bits-per-second", &rate.to_string()]);
        }
        let mut relay = Program::start(command.args(ports.split_whitespace()))?;
        relay.line()?;
        _relay = Some(relay);
    }
    let on = |program: &str| match network.link {
        Some(_) => hosts.on_client(program),
        None => hosts.on_server(program),
    };
    let mut clients = Vec::new();
    for (name, design) in DESIGNS {
        let mut command = match (design, omniorb) {
            ("", None) => continue,
            ("", Some(program)) => {
                let mut command = on(program.to_str().ok_or("a path in UTF-8")?);
                // As what it says to be: the server's code set, so that neither end converts.
                command.args(["-ORBnativeCharCodeSet", "UTF-8"]);
                command
            }
            _ => {
                let mut command = on(ours);
                command.args(["client", "--design", design]);
                command
            }
        };
        command.args(["--server", &reference]);
        if ["service", "wrapper"].contains(&name) {
            command.args(["--agent", &agent]);
        }
        clients.push((name, Program::start(&mut command)?, Vec::new()));
    }
    let mut numbers = Map::new();
    let cell =
        |size: usize, name: &str, what: &str| format!("{}/{size}/{name}{what}", network.name);
    for (name, client, _) in &mut clients {
        let first = client.time(1, 100)?;
        numbers.insert(format!("{}/first/{name}_ms", network.name), json!(first));
        client.time(5, 10_240)?;
    }
    for size in SIZES {
        for round in 0..effort.rounds {
            // Whoever is first is not always the same.
            let length = clients.len();
            for at in 0..length {
                if let Some((_, client, took)) = clients.get_mut((at + round) % length) {
                    took.push(client.time(effort.calls, size)?);
                }
            }
        }
        for (name, _, took) in &mut clients {
            took.sort_by(f64::total_cmp);
            let median = took.get(took.len() / 2).copied().unwrap_or(f64::NAN);
            numbers.insert(cell(size, name, "_ms"), json!(median));
            took.clear();
        }
    }
    Ok(numbers)
}
