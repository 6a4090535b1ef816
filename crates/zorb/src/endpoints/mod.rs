//! The endpoints that an ORB listens to, and those that its references name.

mod current;
mod interfaces;
mod listen;
mod publish;

pub(crate) use current::CurrentEndpoints;
pub(crate) use listen::Listen;
pub(crate) use publish::{Publish, Publishing};

use std::net::{IpAddr, ToSocketAddrs};
use zorb_transport::{Endpoint, Registry};

/// The transports, one of them with a property changed by text: `scheme.name=value`.
///
/// # Errors
/// The expected and the found text.
pub(crate) fn with_property(text: &str, transports: &Registry) -> Result<Registry, String> {
    let parts = text.split_once('.').and_then(|(scheme, rest)| {
        let (name, value) = rest.split_once('=')?;
        Some((scheme, name, value))
    });
    let schemes = || transports.schemes().collect::<Vec<_>>().join(", ");
    let (scheme, name, value) =
        parts.ok_or_else(|| format!("expected scheme.property=value, found {text:?}"))?;
    let Some(transport) = transports.get(scheme) else {
        let schemes = schemes();
        return Err(format!(
            "expected one of the schemes {schemes}, found {scheme:?}"
        ));
    };
    let changed = transport.with_property(name, value);
    let mut transports = transports.clone();
    transports.insert(changed.map_err(|error| error.to_string())?);
    Ok(transports)
}

/// Logs a warning for each endpoint that no other host can reach.
pub(crate) async fn warn_unreachable(listening: &[Endpoint], published: &[Endpoint]) {
    for endpoint in listening {
        // Looking up a name blocks, so it runs on another thread; an address needs none.
        let is_name = (endpoint.host()).is_some_and(|host| host.parse::<IpAddr>().is_err());
        let warning = if is_name {
            let (endpoint, published) = (endpoint.clone(), published.to_vec());
            let asked =
                tokio::task::spawn_blocking(move || reachability_warning(&endpoint, &published));
            asked.await.unwrap_or_default()
        } else {
            reachability_warning(endpoint, published)
        };
        if let Some(warning) = warning {
            tracing::warn!(%endpoint, "{warning}; publish() and -ORBendPointPublish say what to name");
        }
    }
}

/// The reachability warning for a server that listens at `listening` and publishes `published`, if clients on other
/// hosts cannot connect. Calls the resolver, so it blocks.
fn reachability_warning(listening: &Endpoint, published: &[Endpoint]) -> Option<String> {
    let first = |host: &str, port| Some((host, port).to_socket_addrs().ok()?.next()?.ip());
    let reachable = |v6| interfaces::look().reachable(v6).to_vec();
    reachability_warning_with(listening, published, reachable, first)
}

/// The reachability warning. `reachable` returns the addresses of the host, with IPv6 ones for `true`; `first` resolves
/// a name and port to its first address.
fn reachability_warning_with(
    listening: &Endpoint,
    published: &[Endpoint],
    reachable: impl FnOnce(bool) -> Vec<IpAddr>,
    first: impl FnOnce(&str, u16) -> Option<IpAddr>,
) -> Option<String> {
    let (host, port) = (listening.host()?, listening.port()?);
    match host.parse::<IpAddr>() {
        Ok(any) if any.is_unspecified() => {
            let reachable = reachable(any.is_ipv6());
            let named = |ip: &IpAddr| {
                let there = listening.with_host(&ip.to_string(), port);
                there.is_some_and(|there| published.contains(&there))
            };
            reachable.iter().all(|ip| ip.is_loopback() && named(ip)).then(|| {
                "this host has no address that others could reach yet, so references name the loopback address"
                    .to_owned()
            })
        }
        // A literal address, or this name, is deliberate.
        Ok(_) => None,
        Err(_) if host.eq_ignore_ascii_case("localhost") => None,
        Err(_) => {
            // The listener took the first usable address of the name.
            let first = first(host, port)?;
            (first.is_loopback() && published.contains(listening)).then(|| {
                format!(
                    "references name {host:?}, which is {first} here: no other host can connect"
                )
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_server_is_reported() {
        let loopback: IpAddr = [127, 0, 0, 1].into();
        let other: IpAddr = [192, 0, 2, 1].into();
        // A host with these addresses, where names resolve to the loopback address or not at all.
        let unreachable = |addresses: &[IpAddr], listening: &str, published: &str| {
            let published = [published.parse().unwrap()];
            let reachable = |_| addresses.to_vec();
            let first = |host: &str, _| (host != "unknown").then_some(loopback);
            reachability_warning_with(&listening.parse().unwrap(), &published, reachable, first)
        };
        let any = "iiop://0.0.0.0:1";
        let warning = unreachable(&[loopback], any, "iiop://127.0.0.1:1").unwrap();
        assert!(
            warning.contains("no address that others could reach yet"),
            "{warning}"
        );
        // A host with other addresses is deliberate, and so is another published address.
        assert_eq!(
            unreachable(&[other, loopback], any, "iiop://127.0.0.1:1"),
            None
        );
        assert_eq!(unreachable(&[loopback], any, "iiop://192.0.2.1:1"), None);
        // A literal address is deliberate.
        for meant in ["iiop://127.0.0.1:1", "iiop://localhost:1"] {
            assert_eq!(unreachable(&[loopback], meant, meant), None);
        }
        // A name that this host resolves to the loopback address, as Debian does its own name.
        let warning = unreachable(&[other], "iiop://bank:1", "iiop://bank:1").unwrap();
        assert!(
            warning.contains("\"bank\", which is 127.0.0.1 here"),
            "{warning}"
        );
        assert_eq!(
            unreachable(&[other], "iiop://bank:1", "iiop://192.0.2.1:1"),
            None
        );
        assert_eq!(
            unreachable(&[other], "iiop://unknown:1", "iiop://unknown:1"),
            None
        );
    }
}
