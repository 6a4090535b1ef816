//! The addresses of this host that other hosts may reach.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Prefixes of the names of interfaces that lead to containers and virtual machines on this host. Their addresses are
/// the same on every host that runs such software, so a client on another host would reach a third host, or its own.
const VIRTUAL: [&str; 12] = [
    "docker", "veth", "virbr", "cni", "podman", "lxcbr", "lxdbr", "incusbr", "flannel", "cilium_",
    "vmnet", "vboxnet",
];

/// One address of one interface.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) interface: String,
    pub(super) ip: IpAddr,
    pub(super) running: bool,
}

/// The addresses of a host that references name when a server listens on all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HostAddresses {
    /// Those of a listener for IPv4.
    v4: Ranked,
    /// Those of a listener for both families.
    both: Ranked,
}

/// Addresses of the best rank that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ranked {
    tier: u8,
    /// The best first.
    addresses: Vec<IpAddr>,
}

impl Default for Ranked {
    /// None, which any address is better than.
    fn default() -> Self {
        Self {
            tier: u8::MAX,
            addresses: Vec::new(),
        }
    }
}

impl HostAddresses {
    /// Chooses among all addresses of a host. `routed`: those of its default routes.
    pub(super) fn of(addresses: &[Address], routed: &[Option<IpAddr>]) -> Self {
        let of = |v6: bool| {
            let permitted = addresses.iter().filter(|found| v6 || found.ip.is_ipv4());
            best(permitted, routed)
        };
        Self {
            v4: of(false),
            both: of(true),
        }
    }

    /// The best addresses, with IPv6 ones if `v6`: the loopback address if there is no other.
    pub(super) fn reachable(&self, v6: bool) -> &[IpAddr] {
        match v6 {
            true => &self.both.addresses,
            false => &self.v4.addresses,
        }
    }

    /// The addresses after another look at the host. Those of a lower rank do not replace better ones.
    pub(super) fn replaced_by(&self, found: Self) -> Self {
        let better = |before: &Ranked, found: Ranked| match found.tier <= before.tier {
            true => found,
            false => before.clone(),
        };
        Self {
            v4: better(&self.v4, found.v4),
            both: better(&self.both, found.both),
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = IpAddr> {
        self.v4
            .addresses
            .iter()
            .chain(&self.both.addresses)
            .copied()
    }
}

/// Reads the addresses of this host.
pub(super) fn look() -> HostAddresses {
    let passing = std::fs::read_to_string("/proc/net/if_inet6")
        .map(|table| passing(&table))
        .unwrap_or_default();
    let addresses: Vec<Address> = if_addrs::get_if_addrs()
        .unwrap_or_default()
        .into_iter()
        .map(|interface| Address {
            ip: interface.ip(),
            running: interface.is_oper_up(),
            interface: interface.name,
        })
        .filter(|address| !passing.contains(&address.ip))
        .collect();
    HostAddresses::of(
        &addresses,
        &[
            towards((Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(192, 0, 2, 1))),
            towards((
                Ipv6Addr::UNSPECIFIED,
                Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
            )),
        ],
    )
}

/// The rank of loopback addresses, which only clients on this host can use.
const LOOPBACK: u8 = 4;

/// The rank of an address for clients on other hosts, lower is better; `None` if they cannot use it.
fn tier(address: &Address) -> Option<u8> {
    let Address {
        interface,
        ip,
        running,
    } = address;
    Some(match ip {
        // A link-local address is useless without the client's own interface.
        IpAddr::V6(v6) if v6.is_unicast_link_local() => return None,
        ip if ip.is_loopback() => LOOPBACK,
        // IPv4 link-local: hosts on one link without a DHCP server.
        IpAddr::V4(v4) if v4.is_link_local() => 3,
        // An alias on the loopback interface, which many hosts may have.
        _ if interface == "lo" => 2,
        _ if !running || is_virtual(interface) => 1,
        _ => 0,
    })
}

fn is_virtual(interface: &str) -> bool {
    // The names of Docker's networks are `br-` and twelve digits; other bridges lead to a LAN.
    let docker_network = interface
        .strip_prefix("br-")
        .is_some_and(|id| id.len() == 12 && id.bytes().all(|digit| digit.is_ascii_hexdigit()));
    docker_network || VIRTUAL.iter().any(|prefix| interface.starts_with(prefix))
}

/// The addresses of the best rank present: IPv4 before IPv6, those of the default routes first, else in the order of
/// the interfaces. The loopback address if there are none.
fn best<'a>(addresses: impl Iterator<Item = &'a Address>, routed: &[Option<IpAddr>]) -> Ranked {
    let mut ranked: Vec<(u8, IpAddr)> = addresses
        .filter_map(|address| Some((tier(address)?, address.ip)))
        .collect();
    let Some(tier) = ranked.iter().map(|(tier, _)| *tier).min() else {
        return Ranked {
            tier: LOOPBACK,
            addresses: vec![Ipv4Addr::LOCALHOST.into()],
        };
    };
    ranked.retain(|(found, _)| *found == tier);
    let mut addresses: Vec<IpAddr> = ranked.into_iter().map(|(_, ip)| ip).collect();
    addresses.sort_by_key(|ip| (ip.is_ipv6(), !routed.contains(&Some(*ip))));
    addresses.dedup();
    Ranked { tier, addresses }
}

/// The local address of packets to the default route. Sends nothing.
fn towards<A: Into<IpAddr>>((from, to): (A, A)) -> Option<IpAddr> {
    let socket = UdpSocket::bind(SocketAddr::new(from.into(), 0)).ok()?;
    // The port is arbitrary, since no packet is sent.
    socket.connect(SocketAddr::new(to.into(), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// IPv6 addresses that references should not name: temporary ones (for outgoing connections), deprecated ones, and
/// duplicates (another host has the address too). `table` is the text of `/proc/net/if_inet6`.
fn passing(table: &str) -> BTreeSet<IpAddr> {
    const TEMPORARY: u32 = 0x01;
    const DUPLICATE: u32 = 0x08;
    const DEPRECATED: u32 = 0x20;
    table
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let address = u128::from_str_radix(fields.next()?, 16).ok()?;
            // Skips index, length of the prefix and scope; the flags follow.
            let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
            let passing = flags & (TEMPORARY | DUPLICATE | DEPRECATED) != 0;
            passing.then(|| Ipv6Addr::from(address).into())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(addresses: &[(&str, &str)], routed: Option<&str>) -> Vec<String> {
        let addresses: Vec<Address> = addresses
            .iter()
            .map(|(interface, ip)| Address {
                interface: interface.trim_start_matches('!').to_owned(),
                ip: ip.parse().unwrap(),
                running: !interface.starts_with('!'),
            })
            .collect();
        let routed = routed.map(|ip| ip.parse().unwrap());
        let host = HostAddresses::of(&addresses, &[routed]);
        host.reachable(true)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn addresses_that_others_can_reach_come_alone_and_in_order() {
        let host = [
            ("lo", "127.0.0.1"),
            ("lo", "::1"),
            ("lo", "127.0.1.1"),
            ("lo", "198.51.100.1"),
            ("eth0", "fd00::2"),
            ("eth0", "fe80::1"),
            ("eth0", "192.0.2.2"),
            ("wlan0", "203.0.113.3"),
            ("docker0", "172.17.0.1"),
            ("br-0123456789ab", "172.18.0.1"),
            ("!eth1", "192.0.2.9"),
        ];
        assert_eq!(
            ranked(&host, Some("203.0.113.3")),
            ["203.0.113.3", "192.0.2.2", "fd00::2"]
        );
        assert_eq!(ranked(&host, None), ["192.0.2.2", "203.0.113.3", "fd00::2"]);
    }

    #[test]
    fn what_is_worse_is_taken_only_when_there_is_nothing_better() {
        let check = |host: &[(&str, &str)], expected: &[&str]| {
            assert_eq!(ranked(host, None), expected, "{host:?}");
        };
        let docker = ("docker0", "172.17.0.1");
        let alias = ("lo", "198.51.100.1");
        let cable = ("eth0", "169.254.7.7");
        let lo = ("lo", "127.0.0.1");
        check(&[lo, cable, alias, docker], &["172.17.0.1"]);
        check(&[lo, cable, alias], &["198.51.100.1"]);
        check(&[lo, cable], &["169.254.7.7"]);
        check(&[lo], &["127.0.0.1"]);
        check(&[("br-lan", "10.0.0.1"), docker], &["10.0.0.1"]);
        check(&[("eth0", "fe80::1")], &["127.0.0.1"]);
    }

    #[test]
    fn ipv6_addresses_that_will_not_last_are_known() {
        let table = "\
            fd000000000000000000000000000002 04 40 00 82     eth0\n\
            fd000000000000000000000000000003 04 40 00 01     eth0\n\
            fd000000000000000000000000000004 04 40 00 20     eth0\n\
            nonsense\n\
            00000000000000000000000000000001 01 80 10 80       lo\n";
        let expected = ["fd00::3", "fd00::4"].map(|ip| ip.parse().unwrap());
        assert_eq!(passing(table), expected.into());
    }
}
