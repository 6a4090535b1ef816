//! Links of a given speed, between two network namespaces.

use crate::figures::data::Collected;
use crate::figures::session::Session;
use crate::figures::throughput::flood::{Flood, Kind, Queue, Road, Sender};
use crate::figures::throughput::{Work, ask};
use crate::measure::dialogue::Pair;
use crate::measure::place::Placement;
use std::path::Path;
use std::process::Command;

/// A link: its name, megabits a second, its MTU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::figures) struct Speed {
    pub(in crate::figures) name: &'static str,
    pub(super) mbit: Option<u32>,
    mtu: u32,
}

/// The paper's Ethernet and ATM, and what there is without a limit.
pub(in crate::figures) const SPEEDS: [Speed; 3] = [
    Speed {
        name: "10 Mbit/s",
        mbit: Some(10),
        mtu: 1500,
    },
    Speed {
        name: "155 Mbit/s",
        mbit: Some(155),
        mtu: 9180,
    },
    Speed {
        name: "unlimited, MTU 9,180",
        mbit: None,
        mtu: 9180,
    },
];

/// The contenders over links.
const SENDERS: [Sender; 5] = [
    Sender::Zorb,
    Sender::Joined,
    Sender::OmniOrb,
    Sender::Transport,
    Sender::Raw,
];

/// The burst that shaping lets through, in frames: little beside a flood.
const BURST: u32 = 2;
const ADDRESSES: [&str; 2] = ["10.118.0.1", "10.118.0.2"];

/// Octets that a link of so many megabits a second carries in a fifth of a second; at least some hundred thousand, so
/// that there are a few of the largest buffers on the slowest.
const fn carries(mbit: u32) -> u32 {
    let octets = mbit * 1_000_000 / 8 / 5;
    if octets < FEW { FEW } else { octets }
}

const FEW: u32 = 500_000;

/// Two hosts and the cable between them. Dropping it takes all of it away.
#[derive(Debug)]
pub(in crate::figures) struct Link {
    hosts: [String; 2],
}

/// The names of the cable's ends.
const WIRE: &str = "wire";

/// The prefix of the names of our namespaces, before the number of the process that made them.
const PREFIX: &str = "zorb-link-";

fn output_of(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{program} {}: {why}", args.join(" ")))
}

impl Link {
    /// Lays the cable; what a run has left that was killed is taken away before.
    ///
    /// # Errors
    /// There can be none here.
    pub(in crate::figures) fn new(speed: Speed) -> Result<Self, String> {
        sweep();
        let number = std::process::id();
        let link = Self {
            hosts: ["a", "b"].map(|end| format!("{PREFIX}{number}-{end}")),
        };
        let [a, b] = &link.hosts;
        for host in &link.hosts {
            output_of("ip", &["netns", "add", host])?;
        }
        let peer = ["peer", "name", WIRE, "netns", b];
        let add = ["-n", a, "link", "add", WIRE, "type", "veth"];
        output_of("ip", &[&add[..], &peer].concat())?;
        let mtu = speed.mtu.to_string();
        for (host, address) in link.hosts.iter().zip(ADDRESSES) {
            let ip = |args: &[&str]| output_of("ip", &[&["-n", host], args].concat());
            ip(&["link", "set", "lo", "up"])?;
            ip(&["link", "set", WIRE, "mtu", &mtu, "up"])?;
            ip(&["address", "add", &format!("{address}/24"), "dev", WIRE])?;
            if let Some(mbit) = speed.mbit {
                let rate = format!("{mbit}mbit");
                let tbf = [
                    "-n", host, "qdisc", "add", "dev", WIRE, "root", "tbf", "rate",
                ];
                let burst = (BURST * speed.mtu).to_string();
                let rest = [&rate, "burst", &burst, "latency", "100ms"];
                output_of("tc", &[&tbf[..], &rest].concat())?;
            }
        }
        Ok(link)
    }

    /// Puts a client on one host and its server on the other, which has to know an option for its address.
    pub(in crate::figures) fn put(&self, pair: &mut Pair) {
        let before = |host: usize, words: &[String]| [&self.words(host), words].concat();
        pair.client = before(0, &pair.client);
        if let Some(server) = &mut pair.server {
            let [_, address] = ADDRESSES;
            *server = before(1, server);
            server.extend(["--host".to_owned(), address.to_owned()]);
        }
    }

    /// The words in front of a program that runs there.
    fn words(&self, host: usize) -> Vec<String> {
        let name = self.hosts.get(host).cloned().unwrap_or_default();
        let words = ["ip", "netns", "exec"].map(str::to_owned);
        words.into_iter().chain([name]).collect()
    }
}

/// The reason why there can be no links.
pub(in crate::figures) fn no_links(why: &str) -> String {
    format!("the links between network namespaces ({why})")
}

fn remove(host: &str) {
    // A namespace that could not be made need not be removed.
    let _ = output_of("ip", &["netns", "delete", host]);
}

impl Drop for Link {
    fn drop(&mut self) {
        self.hosts.iter().for_each(|host| remove(host));
    }
}

/// Takes away what a run has left that was killed.
fn sweep() {
    let names = output_of("ip", &["netns", "list"]).unwrap_or_default();
    for name in names.lines().filter_map(left_by_the_dead) {
        remove(name);
    }
}

/// The namespace of a line of `ip netns list`, if it is of a process that is no more.
fn left_by_the_dead(line: &str) -> Option<&str> {
    let name = line.split_whitespace().next()?;
    let process: u32 = name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()?;
    let alive = Path::new("/proc").join(process.to_string()).exists();
    (!alive).then_some(name)
}

/// Floods over every link; where there can be none that is said.
pub(super) fn measure(session: &Session, collected: &mut Collected) -> Result<(), String> {
    for speed in SPEEDS {
        let link = match Link::new(speed) {
            Ok(link) => link,
            Err(why) => {
                session.miss(no_links(&why));
                return Ok(());
            }
        };
        let sizes: &[usize] = session.pick(&[1 << 10, 8 << 10, 64 << 10, 128 << 10], &[8 << 10]);
        let shaped = speed.mbit.map(|mbit| carries(mbit) as usize);
        let full = shaped.unwrap_or(super::OCTETS);
        let works: Vec<Work> = sizes
            .iter()
            .map(|&size| Work {
                kind: Kind::Octets,
                size,
                octets: session.pick(full, full.min(super::QUICK_OCTETS) / 8),
                milliseconds: if shaped.is_some() {
                    1500
                } else {
                    super::MILLISECONDS
                },
            })
            .collect();
        let mut floods = Vec::new();
        for queue in [Queue::K8, Queue::K64] {
            for sender in SENDERS {
                if sender == Sender::OmniOrb && session.omniorb.is_err() {
                    continue;
                }
                let mut pair = sender.pair(Road::Tcp, &queue.words(), [&[], &[]]);
                link.put(&mut pair);
                let road = (&pair, speed.name);
                floods.push(Flood::start(
                    session,
                    sender,
                    road,
                    queue,
                    Placement::Split,
                )?);
            }
        }
        ask(session, session.rounds, &works, &mut floods, collected)?;
        Flood::end_all(floods)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_carries_several_of_the_largest_buffers() {
        for mbit in SPEEDS.iter().filter_map(|speed| speed.mbit) {
            assert!(carries(mbit) >= (3 * 128) << 10, "{mbit}");
        }
        assert_eq!(carries(155), 3_875_000);
    }

    #[test]
    fn a_pair_is_put_on_both_hosts() {
        // These namespaces do not exist, so removing them removes nothing.
        let link = Link {
            hosts: ["a", "b"].map(|end| format!("{PREFIX}4194305-{end}")),
        };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut pair = Pair {
            name: String::new(),
            server: Some(words("server serve")),
            client: words("client send"),
            unix: false,
        };
        link.put(&mut pair);
        assert_eq!(
            pair.server.unwrap().join(" "),
            "ip netns exec zorb-link-4194305-b server serve --host 10.118.0.2"
        );
        assert_eq!(
            pair.client.join(" "),
            "ip netns exec zorb-link-4194305-a client send"
        );
    }

    #[test]
    fn only_namespaces_of_dead_runs_are_swept_away() {
        let alive = format!("{PREFIX}{}-a (id: 3)", std::process::id());
        assert_eq!(left_by_the_dead(&alive), None);
        // Beyond the largest number that a process can have.
        let dead = format!("{PREFIX}4194305-b (id: 4)");
        assert_eq!(left_by_the_dead(&dead), Some("zorb-link-4194305-b"));
        assert_eq!(left_by_the_dead("another"), None);
        assert_eq!(left_by_the_dead("zorb-17-1"), None);
    }
}
