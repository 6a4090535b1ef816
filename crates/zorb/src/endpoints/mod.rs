//! Where an ORB listens, and what its references say of it.

mod interfaces;
mod listen;
mod publish;

pub(crate) use listen::Listen;
pub(crate) use publish::{Publishing, host_name};

use std::net::{IpAddr, ToSocketAddrs};
use zorb_transport::Endpoint;

/// What somebody should know who listens to `listening` and publishes `published`: that nobody
/// elsewhere will get there, although it looks as if they could. Asks the resolver, so it blocks.
pub(crate) fn doubt(listening: &Endpoint, published: &[Endpoint]) -> Option<String> {
    let Endpoint::Iiop { host, port } = listening else {
        return None;
    };
    match host.parse::<IpAddr>() {
        Ok(any) if any.is_unspecified() => {
            let reachable = interfaces::reachable(any.is_ipv6());
            let named = |ip: &IpAddr| published.contains(&Endpoint::iiop(ip.to_string(), *port));
            reachable.iter().all(|ip| ip.is_loopback() && named(ip)).then(|| {
                "this host has no address that others could reach, so references name the loopback address"
                    .to_owned()
            })
        }
        // Whoever writes an address, or this name, means it.
        Ok(_) => None,
        Err(_) if host.eq_ignore_ascii_case("localhost") => None,
        Err(_) => {
            // What was listened to is the first address of the name that would do.
            let first = (host.as_str(), *port).to_socket_addrs().ok()?.next()?.ip();
            (first.is_loopback() && published.contains(listening)).then(|| {
                format!("references name {host:?}, which is {first} here: nobody else gets in")
            })
        }
    }
}

/// Reads omniORB's `host:port` (what stands behind `giop:tcp:`): both may be missing.
fn omni_host_and_port(text: &str) -> Result<(String, u16), String> {
    let bad = || {
        format!(
            "expected giop:tcp:host:port, either of which may be left out, found {:?}",
            format!("giop:tcp:{text}")
        )
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
    let port = if port.is_empty() { "0" } else { port };
    // A host that is there is one that an endpoint can have.
    let stand_in = if host.is_empty() { "host" } else { host };
    match format!("iiop://{stand_in}:{port}").parse() {
        Ok(Endpoint::Iiop { host: read, port }) => {
            Ok((if host.is_empty() { String::new() } else { read }, port))
        }
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_be_reached_is_told() {
        let doubt = |listening: &str, published: &str| {
            doubt(&listening.parse().unwrap(), &[published.parse().unwrap()])
        };
        // Whoever has other addresses means it.
        let alone = interfaces::reachable(false).iter().all(IpAddr::is_loopback);
        let told = doubt("iiop://0.0.0.0:1", "iiop://127.0.0.1:1");
        assert_eq!(told.is_some(), alone);
        assert!(doubt("iiop://0.0.0.0:1", "iiop://192.0.2.1:1").is_none());
        assert!(doubt("iiop://127.0.0.1:1", "iiop://127.0.0.1:1").is_none());
        assert!(doubt("iiop://localhost:1", "iiop://localhost:1").is_none());
        // A name that means the loopback address everywhere.
        let name = "iiop://ip6-loopback.localhost:1";
        if doubt(name, name).is_none() {
            // This resolver does not know RFC 6761.
            assert!("ip6-loopback.localhost:1".to_socket_addrs().is_err());
        }
    }
}
