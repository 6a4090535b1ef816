//! What is asked to be listened to: our own form, TAO's and omniORB's.

use super::omni_host_and_port;
use core::str::FromStr;
use zorb_transport::{Endpoint, Listener, Registry, TransportError};

/// Every IPv4 interface: what an empty host means.
const ANY: &str = "0.0.0.0";

/// One place to listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listen {
    pub(crate) endpoint: Endpoint,
    /// How many ports to try, from the endpoint's own on; at least 1. TAO's `portspan`.
    pub(crate) ports: u16,
    /// The host that references name instead. TAO's `hostname_in_ior`.
    pub(crate) published_host: Option<String>,
}

impl From<Endpoint> for Listen {
    fn from(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            ports: 1,
            published_host: None,
        }
    }
}

impl Listen {
    /// Listens to the first port of those asked for that is not taken.
    pub(crate) async fn open(
        &self,
        transports: &Registry,
    ) -> Result<Box<dyn Listener>, TransportError> {
        let mut tries = self.tries().into_iter().peekable();
        loop {
            // There is one at least.
            let endpoint = tries.next().unwrap_or_else(|| self.endpoint.clone());
            match transports.listen(&endpoint).await {
                Err(error)
                    if error.kind() == std::io::ErrorKind::AddrInUse && tries.peek().is_some() => {}
                opened => return opened,
            }
        }
    }

    /// The endpoints to try, in order: the first that is not taken is listened to.
    fn tries(&self) -> Vec<Endpoint> {
        match &self.endpoint {
            // Any free port is as good as the next.
            Endpoint::Iiop { host, port } if *port != 0 => (0..self.ports)
                .filter_map(|further| port.checked_add(further))
                .map(|port| Endpoint::iiop(host.clone(), port))
                .collect(),
            other => vec![other.clone()],
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(rest) = strip(text, "giop:") {
            return omni(text, rest);
        }
        let Some(rest) = strip(text, "iiop://") else {
            let endpoint: Endpoint = text.parse().map_err(of)?;
            return Ok(endpoint.into());
        };
        let (address, options) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some((version, _)) = address.split_once('@') {
            return Err(format!(
                "expected no GIOP version at an endpoint, found {version:?}: max_giop_version and -ORBmaxGIOPVersion set it"
            ));
        }
        let host = if address.starts_with(':') { ANY } else { "" };
        let endpoint: Endpoint = format!("iiop://{host}{address}").parse().map_err(of)?;
        let mut listen = Self::from(endpoint);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            listen.option(option)?;
        }
        Ok(listen)
    }
}

impl Listen {
    /// One of TAO's endpoint options.
    fn option(&mut self, option: &str) -> Result<(), String> {
        match option.split_once('=') {
            Some(("hostname_in_ior", host)) => {
                // A host that an endpoint can have.
                let bracketed = if host.contains(':') && !host.starts_with('[') {
                    format!("[{host}]")
                } else {
                    host.to_owned()
                };
                let Ok(Endpoint::Iiop { host, .. }) = format!("iiop://{bracketed}:0").parse()
                else {
                    return Err(format!("expected hostname_in_ior=host, found {option:?}"));
                };
                self.published_host = Some(host);
            }
            Some(("portspan", ports)) => {
                self.ports = ports
                    .parse()
                    .ok()
                    .filter(|ports| *ports > 0)
                    .ok_or_else(|| {
                        format!("expected portspan=number of ports, 1 to 65535, found {option:?}")
                    })?;
            }
            _ => {
                return Err(format!(
                    "expected one of the endpoint options hostname_in_ior=host and portspan=number, found {option:?}"
                ));
            }
        }
        Ok(())
    }
}

fn omni(text: &str, rest: &str) -> Result<Listen, String> {
    if let Some(address) = strip(rest, "tcp:") {
        let (host, port) = omni_host_and_port(address)?;
        let host = if host.is_empty() {
            ANY.to_owned()
        } else {
            host
        };
        return Ok(Endpoint::iiop(host, port).into());
    }
    match strip(rest, "unix:") {
        Some(path) if path.starts_with('/') => Ok(Endpoint::uiop(path).into()),
        _ => Err(format!(
            "expected giop:tcp:host:port or giop:unix:/path, found {text:?}"
        )),
    }
}

fn of(error: zorb_transport::ParseEndpointError) -> String {
    error.to_string()
}

/// Strips a prefix whatever its case.
pub(super) fn strip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_in_the_three_forms_that_people_know() {
        let check = |text: &str, expected: Endpoint| {
            assert_eq!(text.parse(), Ok(Listen::from(expected)), "{text}");
        };
        check("iiop://host:2810", Endpoint::iiop("host", 2810));
        check("iiop://[::1]:2810", Endpoint::iiop("::1", 2810));
        check("IIOP://:2810", Endpoint::iiop("0.0.0.0", 2810));
        check("iiop://host:0/", Endpoint::iiop("host", 0));
        check("uiop:///tmp/a b", Endpoint::uiop("/tmp/a b"));
        check("giop:tcp:host:2810", Endpoint::iiop("host", 2810));
        check("giop:tcp::", Endpoint::iiop("0.0.0.0", 0));
        check(
            "giop:tcp:[fe80::1%eth0]:9",
            Endpoint::iiop("fe80::1%eth0", 9),
        );
        check("giop:unix:/tmp/x", Endpoint::uiop("/tmp/x"));
    }

    #[test]
    fn tao_s_endpoint_options_are_read() {
        let listen: Listen = "iiop://h:65534/hostname_in_ior=nat.example&portspan=4"
            .parse()
            .unwrap();
        assert_eq!(listen.published_host.as_deref(), Some("nat.example"));
        // There is no port 65536.
        assert_eq!(
            listen.tries(),
            [Endpoint::iiop("h", 65534), Endpoint::iiop("h", 65535)]
        );
        let listen: Listen = "iiop://h:1/hostname_in_ior=::1".parse().unwrap();
        assert_eq!(listen.published_host.as_deref(), Some("::1"));
        let listen: Listen = "iiop://h:0/portspan=9".parse().unwrap();
        assert_eq!(listen.tries(), [Endpoint::iiop("h", 0)]);
    }

    #[test]
    fn what_is_wrong_with_an_endpoint_is_said() {
        for (text, expected) in [
            (
                "tcp://h:1",
                "expected one of the schemes iiop and uiop, found \"tcp://h:1\"",
            ),
            (
                "iiop://h",
                "expected a colon and a port after the host, found \"iiop://h\"",
            ),
            (
                "iiop://1.2@h:1",
                "expected no GIOP version at an endpoint, found \"1.2\": max_giop_version and -ORBmaxGIOPVersion set it",
            ),
            (
                "iiop://h:1/reuse_addr=1",
                "expected one of the endpoint options hostname_in_ior=host and portspan=number, found \"reuse_addr=1\"",
            ),
            (
                "iiop://h:1/portspan=0",
                "expected portspan=number of ports, 1 to 65535, found \"portspan=0\"",
            ),
            (
                "iiop://h:1/hostname_in_ior=a b",
                "expected hostname_in_ior=host, found \"hostname_in_ior=a b\"",
            ),
            (
                "giop:tcp:h",
                "expected giop:tcp:host:port, either of which may be left out, found \"giop:tcp:h\"",
            ),
            (
                "giop:ssl:h:1",
                "expected giop:tcp:host:port or giop:unix:/path, found \"giop:ssl:h:1\"",
            ),
            (
                "giop:unix:",
                "expected giop:tcp:host:port or giop:unix:/path, found \"giop:unix:\"",
            ),
        ] {
            assert_eq!(text.parse::<Listen>(), Err(expected.to_owned()), "{text}");
        }
    }
}
