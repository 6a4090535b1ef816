//! Publishing: derives the endpoints in references from the endpoints that are listened to.

use super::Listen;
use super::interfaces::HostAddresses;
use std::net::IpAddr;
use zorb_transport::{Endpoint, Registry, host_name};

/// A value of the option `publish`: alternative rules, of which the first that yields an endpoint counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Publish(Vec<PublishRule>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum PublishRule {
    /// This endpoint; port 0 means each port that is listened to.
    Endpoint(Endpoint),
    /// This host in place of that of each endpoint.
    Host(String),
    /// The first address of each endpoint, or all; of one family if `v6` is set.
    Addresses { v6: Option<bool>, all: bool },
    /// This host's name.
    HostName,
}

const EXPECTED: &str =
    "iiop://host:port, giop:tcp:host:port, addr, ipv4, ipv6, hostname or all(…) of one of these";

impl Publish {
    /// Parses a value of the option `publish`.
    ///
    /// # Errors
    /// The expected and the found text.
    pub(crate) fn read(text: &str, transports: &Registry) -> Result<Self, String> {
        text.split('|')
            .map(|rule| PublishRule::read(rule.trim(), transports))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl PublishRule {
    fn read(text: &str, transports: &Registry) -> Result<Self, String> {
        // A colon distinguishes endpoints from the other rules.
        if text.contains(':') {
            let listen = transports.parse_listen(text);
            let endpoint = listen.map_err(|error| error.to_string())?.endpoint;
            let (Some(host), Some(_)) = (endpoint.host(), endpoint.port()) else {
                return Err(format!(
                    "expected an endpoint of host and port (others are published as they are), found {:?}",
                    endpoint.to_string()
                ));
            };
            let means_any = host.parse().is_ok_and(|ip: IpAddr| ip.is_unspecified());
            if means_any {
                return Err(format!("expected a host to publish, found {text:?}"));
            }
            return Ok(Self::Endpoint(endpoint));
        }
        let inside = text.split_at_checked("all(".len());
        let inside = inside.filter(|(all, _)| all.eq_ignore_ascii_case("all("));
        let (rule, all) = match inside.and_then(|(_, rest)| rest.strip_suffix(')')) {
            Some(rule) => (rule, true),
            None => (text, false),
        };
        let v6 = match rule {
            "addr" => None,
            "ipv4" => Some(false),
            "ipv6" => Some(true),
            "hostname" => return Ok(Self::HostName),
            "name" | "fqdn" => {
                return Err(format!(
                    "expected {EXPECTED}, found {rule:?}: names are not looked up, say which to publish by iiop://name:0"
                ));
            }
            _ => return Err(format!("expected {EXPECTED}, found {text:?}")),
        };
        Ok(Self::Addresses { v6, all })
    }
}

/// The configured endpoints to publish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Publishing {
    pub(crate) host: Option<String>,
    pub(crate) rules: Vec<Publish>,
    pub(crate) only_reachable: bool,
}

impl Publishing {
    /// The published endpoints on a host with these addresses, in the order of `listening`. Configured endpoints replace
    /// those with a port, at the position of the first of them.
    ///
    /// # Errors
    /// When the configured rules yield no endpoint.
    pub(crate) fn endpoints(
        &self,
        listening: &[(Listen, Endpoint)],
        addresses: &HostAddresses,
    ) -> Result<Vec<Endpoint>, String> {
        if listening.is_empty() {
            // No server would answer. Activating a servant reports it as an error.
            return Ok(Vec::new());
        }
        let host = (self.host.iter()).map(|host| Publish(vec![PublishRule::Host(host.clone())]));
        let rules: Vec<Publish> = host.chain(self.rules.iter().cloned()).collect();
        // Endpoints with a published host or port of their own are exempt from the rules.
        let ruled: Vec<&Endpoint> = listening
            .iter()
            .filter(|(listen, _)| own(listen).is_none())
            .map(|(_, endpoint)| endpoint)
            .filter(|endpoint| endpoint.port().is_some())
            .collect();
        let mut by_rules = Vec::new();
        for Publish(alternatives) in &rules {
            by_rules.extend(
                alternatives
                    .iter()
                    .map(|rule| rule.apply(&ruled, addresses))
                    .find(|found| !found.is_empty())
                    .unwrap_or_default(),
            );
        }
        if !rules.is_empty() && !ruled.is_empty() && by_rules.is_empty() {
            return Err(
                "no address to publish: the host has none of the kind that the rules select"
                    .to_owned(),
            );
        }
        let mut published = Vec::new();
        let mut is_reported = rules.is_empty();
        for (listen, endpoint) in listening {
            match (endpoint.port(), own(listen)) {
                (Some(_), None) if !rules.is_empty() => {
                    if !core::mem::replace(&mut is_reported, true) {
                        published.append(&mut by_rules);
                    }
                }
                _ => published.extend(alone(listen, endpoint, addresses)),
            }
        }
        if !is_reported {
            // The ORB listens at no such endpoint: a proxy forwards connections to its listener.
            by_rules.append(&mut published);
            published = by_rules;
        }
        let mut seen = std::collections::HashSet::new();
        published.retain(|endpoint| seen.insert(endpoint.clone()));
        Ok(published)
    }
}

/// The published endpoints of a listener without rules: with the host and the port in the listener's own text, or else
/// in their natural form.
pub(super) fn alone(
    listen: &Listen,
    endpoint: &Endpoint,
    addresses: &HostAddresses,
) -> Vec<Endpoint> {
    match (endpoint.host(), endpoint.port(), own(listen)) {
        (Some(host), Some(port), Some((own_host, own_port))) => {
            let (host, port) = (own_host.unwrap_or(host), own_port.unwrap_or(port));
            endpoint.with_host(host, port).into_iter().collect()
        }
        _ => natural(endpoint, addresses),
    }
}

/// The host and the port that are published for one endpoint alone.
fn own(listen: &Listen) -> Option<(Option<&str>, Option<u16>)> {
    let (host, port) = (
        &listen.address.published_host,
        listen.address.published_port,
    );
    (host.is_some() || port.is_some()).then_some((host.as_deref(), port))
}

impl PublishRule {
    fn apply(&self, listening: &[&Endpoint], addresses: &HostAddresses) -> Vec<Endpoint> {
        // The listening endpoints, with `host` in place of theirs.
        let at = |host: &str| {
            (listening.iter())
                .filter_map(|endpoint| endpoint.with_host(host, endpoint.port()?))
                .collect()
        };
        match self {
            Self::Endpoint(endpoint) => match (endpoint.host(), endpoint.port()) {
                (Some(host), Some(0)) => (listening.iter())
                    .filter(|listening| listening.scheme() == endpoint.scheme())
                    .filter_map(|listening| endpoint.with_host(host, listening.port()?))
                    .collect(),
                _ => vec![endpoint.clone()],
            },
            Self::Host(host) => at(host),
            Self::HostName => host_name().map_or_else(Vec::new, |host| at(&host)),
            Self::Addresses { v6, all } => listening
                .iter()
                .flat_map(|endpoint| {
                    natural(endpoint, addresses)
                        .into_iter()
                        .filter(|endpoint| v6.is_none_or(|v6| is_v6(endpoint) == Some(v6)))
                        .take(if *all { usize::MAX } else { 1 })
                })
                .collect(),
        }
    }
}

/// The published form of an endpoint without a setting.
fn natural(endpoint: &Endpoint, addresses: &HostAddresses) -> Vec<Endpoint> {
    let address = endpoint.host().and_then(|host| host.parse::<IpAddr>().ok());
    match (address, endpoint.port()) {
        (Some(any), Some(port)) if any.is_unspecified() => addresses
            .reachable(any.is_ipv6())
            .iter()
            .filter_map(|address| endpoint.with_host(&address.to_string(), port))
            .collect(),
        _ => vec![endpoint.clone()],
    }
}

/// Whether the host of the endpoint is an IPv6 address; `None` for names.
fn is_v6(endpoint: &Endpoint) -> Option<bool> {
    let host = endpoint.host()?;
    match host.contains(':') {
        true => Some(true),
        false => host.parse::<IpAddr>().ok().map(|ip| ip.is_ipv6()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(publishing: &Publishing, listening: &[&str]) -> Result<Vec<String>, String> {
        let transports = Registry::default();
        let read = |text: &&str| {
            let listen = Listen::read(text, &transports).unwrap();
            let endpoint = listen.address.endpoint.clone();
            (listen, endpoint)
        };
        let listening: Vec<_> = listening.iter().map(read).collect();
        let endpoints = publishing.endpoints(&listening, &super::super::interfaces::look())?;
        Ok(endpoints.iter().map(ToString::to_string).collect())
    }

    fn rules(rules: &[&str]) -> Publishing {
        Publishing {
            host: None,
            only_reachable: false,
            rules: (rules.iter())
                .map(|rule| Publish::read(rule, &Registry::default()).unwrap())
                .collect(),
        }
    }

    #[test]
    fn without_a_word_endpoints_are_published_as_they_are() {
        let listening = ["iiop://127.0.0.1:1", "uiop:///x", "iiop://[::1]:2"];
        assert_eq!(published(&rules(&[]), &listening).unwrap(), listening);
    }

    #[test]
    fn what_is_to_be_published_replaces_the_tcp_endpoints_and_no_other() {
        let listening = ["uiop:///x", "iiop://10.0.0.1:1", "iiop://10.0.0.1:2"];
        let check = |rule: &[&str], expected: &[&str]| {
            assert_eq!(
                published(&rules(rule), &listening).unwrap(),
                expected,
                "{rule:?}"
            );
        };
        check(&["iiop://nat:99"], &["uiop:///x", "iiop://nat:99"]);
        check(
            &["giop:tcp:nat:"],
            &["uiop:///x", "iiop://nat:1", "iiop://nat:2"],
        );
        check(
            &["iiop://nat:99", "addr", "iiop://[fd00::1]:7"],
            &[
                "uiop:///x",
                "iiop://nat:99",
                "iiop://10.0.0.1:1",
                "iiop://10.0.0.1:2",
                "iiop://[fd00::1]:7",
            ],
        );
        check(
            &["ipv6|ipv4"],
            &["uiop:///x", "iiop://10.0.0.1:1", "iiop://10.0.0.1:2"],
        );
        let host = host_name().unwrap();
        check(
            &["hostname"],
            &[
                "uiop:///x",
                &format!("iiop://{host}:1"),
                &format!("iiop://{host}:2"),
            ],
        );
        // A proxy that forwards connections to a UNIX socket.
        assert_eq!(
            published(&rules(&["iiop://nat:99"]), &["uiop:///x"]).unwrap(),
            ["iiop://nat:99", "uiop:///x"]
        );
    }

    #[test]
    fn who_listens_nowhere_publishes_nothing() {
        assert!(
            published(&rules(&["iiop://nat:99"]), &[])
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_host_to_publish_keeps_the_ports_and_yields_to_that_of_one_endpoint() {
        let publishing = Publishing {
            host: Some("nat".to_owned()),
            only_reachable: false,
            rules: Vec::new(),
        };
        let listening = [
            "iiop://0.0.0.0:1/hostname_in_ior=own",
            "iiop://0.0.0.0:2",
            "iiop://0.0.0.0:3",
            "iiop://10.0.0.1:4/port_in_ior=44",
        ];
        assert_eq!(
            published(&publishing, &listening).unwrap(),
            [
                "iiop://own:1",
                "iiop://nat:2",
                "iiop://nat:3",
                "iiop://10.0.0.1:44"
            ]
        );
    }

    #[test]
    fn nothing_to_publish_is_an_error_and_not_a_reference_to_nowhere() {
        let error = published(&rules(&["ipv6"]), &["iiop://10.0.0.1:1"]).unwrap_err();
        assert!(error.contains("no address to publish"), "{error}");
    }

    #[test]
    fn everywhere_is_never_published_as_such() {
        for any in ["iiop://0.0.0.0:1", "iiop://[::]:1"] {
            let found = published(&rules(&[]), &[any]).unwrap();
            assert!(
                !found.is_empty() && !found.contains(&any.to_owned()),
                "{found:?}"
            );
            assert_eq!(published(&rules(&["all(addr)"]), &[any]).unwrap(), found);
            let first = published(&rules(&["addr"]), &[any]).unwrap();
            assert_eq!(first, found[..1]);
        }
    }

    #[test]
    fn what_is_wrong_with_a_rule_is_said() {
        for (text, expected) in [
            ("fqdn", "names are not looked up"),
            (
                "bogus",
                "expected iiop://host:port, giop:tcp:host:port, addr",
            ),
            ("giop:tcp::1", "expected a host to publish"),
            ("uiop:///x", "expected an endpoint of host and port"),
            ("iiop://h", "expected a colon and a port"),
        ] {
            let error = Publish::read(text, &Registry::default()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
