//! What references say of the endpoints that are listened to.

use super::interfaces;
use super::listen::strip;
use super::{Listen, omni_host_and_port};
use core::str::FromStr;
use std::net::IpAddr;
use zorb_transport::Endpoint;

/// One thing to publish: the first of these that comes to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Publish(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// This endpoint; port 0 stands for each port that is listened to.
    Endpoint { host: String, port: u16 },
    /// Addresses of the endpoint, of that family if one is named: the first, or all.
    Addresses { v6: Option<bool>, all: bool },
    /// This host's name.
    HostName,
}

const EXPECTED: &str =
    "iiop://host:port, giop:tcp:host:port, addr, ipv4, ipv6, hostname or all(…) of one of these";

impl FromStr for Publish {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split('|')
            .map(|rule| rule.trim().parse())
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(address) = strip(text, "giop:tcp:") {
            let (host, port) = omni_host_and_port(address)?;
            if host.is_empty() {
                return Err(format!("expected a host to publish, found {text:?}"));
            }
            return Ok(Self::Endpoint { host, port });
        }
        if text.contains("://") {
            return match text.parse() {
                Ok(Endpoint::Iiop { host, port }) => Ok(Self::Endpoint { host, port }),
                Ok(other) => Err(format!(
                    "expected a TCP endpoint (others are published as they are), found {:?}",
                    other.to_string()
                )),
                Err(error) => Err(error.to_string()),
            };
        }
        let (rule, all) = match strip(text, "all(").and_then(|rest| rest.strip_suffix(')')) {
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

/// What to publish, as asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Publishing {
    pub(crate) host: Option<String>,
    pub(crate) rules: Vec<Publish>,
}

impl Publishing {
    /// What references say of the endpoints that are really listened to, in their order; for TCP
    /// ones what was asked for, in the place of the first of them.
    ///
    /// # Errors
    /// When nothing comes of what was asked for.
    pub(crate) fn endpoints(
        &self,
        listening: &[(&Listen, Endpoint)],
    ) -> Result<Vec<Endpoint>, String> {
        if listening.is_empty() {
            // Nobody would answer; whoever activates a servant is to be told.
            return Ok(Vec::new());
        }
        let host = self.host.iter().map(|host| {
            let (host, port) = (host.clone(), 0);
            Publish(vec![Rule::Endpoint { host, port }])
        });
        let rules: Vec<Publish> = host.chain(self.rules.iter().cloned()).collect();
        // Endpoints with a host of their own are not asked.
        let ruled: Vec<&Endpoint> = listening
            .iter()
            .filter(|(listen, _)| listen.published_host.is_none())
            .map(|(_, endpoint)| endpoint)
            .filter(|endpoint| matches!(endpoint, Endpoint::Iiop { .. }))
            .collect();
        let mut by_rules = Vec::new();
        for Publish(alternatives) in &rules {
            by_rules.extend(
                alternatives
                    .iter()
                    .map(|rule| rule.apply(&ruled))
                    .find(|found| !found.is_empty())
                    .unwrap_or_default(),
            );
        }
        if !rules.is_empty() && !ruled.is_empty() && by_rules.is_empty() {
            return Err(
                "nothing comes of what is to be published: the host has no address of that kind"
                    .to_owned(),
            );
        }
        let mut published = Vec::new();
        let mut told = rules.is_empty();
        for (listen, endpoint) in listening {
            match (endpoint, &listen.published_host) {
                (Endpoint::Iiop { port, .. }, Some(host)) => {
                    published.push(Endpoint::iiop(host.clone(), *port));
                }
                (Endpoint::Iiop { .. }, None) if !rules.is_empty() => {
                    if !core::mem::replace(&mut told, true) {
                        published.append(&mut by_rules);
                    }
                }
                (endpoint, _) => published.extend(natural(endpoint)),
            }
        }
        if !told {
            // Nothing of ours; somebody passes connections on to what we do listen to.
            by_rules.append(&mut published);
            published = by_rules;
        }
        let mut seen = std::collections::HashSet::new();
        published.retain(|endpoint| seen.insert(endpoint.clone()));
        Ok(published)
    }
}

impl Rule {
    fn apply(&self, listening: &[&Endpoint]) -> Vec<Endpoint> {
        let ports = listening.iter().filter_map(|endpoint| match endpoint {
            Endpoint::Iiop { port, .. } => Some(*port),
            _ => None,
        });
        match self {
            Self::Endpoint { host, port: 0 } => ports
                .map(|port| Endpoint::iiop(host.clone(), port))
                .collect(),
            Self::Endpoint { host, port } => vec![Endpoint::iiop(host.clone(), *port)],
            Self::HostName => match host_name() {
                Some(host) => ports
                    .map(|port| Endpoint::iiop(host.clone(), port))
                    .collect(),
                None => Vec::new(),
            },
            Self::Addresses { v6, all } => listening
                .iter()
                .flat_map(|endpoint| {
                    natural(endpoint)
                        .into_iter()
                        .filter(|endpoint| v6.is_none_or(|v6| is_v6(endpoint) == Some(v6)))
                        .take(if *all { usize::MAX } else { 1 })
                })
                .collect(),
        }
    }
}

/// What references say of an endpoint when nobody says what they should.
fn natural(endpoint: &Endpoint) -> Vec<Endpoint> {
    let Endpoint::Iiop { host, port } = endpoint else {
        return vec![endpoint.clone()];
    };
    match host.parse::<IpAddr>() {
        Ok(any) if any.is_unspecified() => interfaces::reachable(any.is_ipv6())
            .into_iter()
            .map(|address| Endpoint::iiop(address.to_string(), *port))
            .collect(),
        _ => vec![endpoint.clone()],
    }
}

/// Whether the endpoint is an address of the sixth version; `None` for names.
fn is_v6(endpoint: &Endpoint) -> Option<bool> {
    match endpoint {
        Endpoint::Iiop { host, .. } if host.contains(':') => Some(true),
        Endpoint::Iiop { host, .. } => host.parse::<IpAddr>().ok().map(|ip| ip.is_ipv6()),
        _ => None,
    }
}

/// This host's name, as the kernel has it and omniORB writes it.
pub(crate) fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim_end().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(publishing: &Publishing, listening: &[&str]) -> Result<Vec<String>, String> {
        let listens: Vec<Listen> = listening.iter().map(|text| text.parse().unwrap()).collect();
        let listening: Vec<_> = listens.iter().map(|l| (l, l.endpoint.clone())).collect();
        let endpoints = publishing.endpoints(&listening)?;
        Ok(endpoints.iter().map(ToString::to_string).collect())
    }

    fn rules(rules: &[&str]) -> Publishing {
        Publishing {
            host: None,
            rules: rules.iter().map(|rule| rule.parse().unwrap()).collect(),
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
        // What passes connections on to a UNIX socket.
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
            rules: Vec::new(),
        };
        let listening = [
            "iiop://0.0.0.0:1/hostname_in_ior=own",
            "iiop://0.0.0.0:2",
            "iiop://0.0.0.0:3",
        ];
        assert_eq!(
            published(&publishing, &listening).unwrap(),
            ["iiop://own:1", "iiop://nat:2", "iiop://nat:3"]
        );
    }

    #[test]
    fn nothing_to_publish_is_an_error_and_not_a_reference_to_nowhere() {
        let error = published(&rules(&["ipv6"]), &["iiop://10.0.0.1:1"]).unwrap_err();
        assert!(error.contains("no address of that kind"), "{error}");
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
            ("uiop:///x", "expected a TCP endpoint"),
            ("iiop://h", "expected a colon and a port"),
        ] {
            let error = text.parse::<Publish>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
