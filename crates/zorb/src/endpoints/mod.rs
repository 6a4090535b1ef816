//! Where an ORB listens, and what its references say of it.

mod interfaces;
mod listen;
mod publish;

pub(crate) use listen::Listen;
pub(crate) use publish::{Publishing, host_name};

use std::net::{IpAddr, ToSocketAddrs};
use zorb_transport::Endpoint;

/// Logs a warning for each endpoint that no other host will reach.
pub(crate) async fn warn_of_doubts(listening: &[Endpoint], published: &[Endpoint]) {
    for endpoint in listening {
        // Names are looked up, which blocks; addresses are not worth a thread.
        let is_name =
            matches!(endpoint, Endpoint::Iiop { host, .. } if host.parse::<IpAddr>().is_err());
        let doubt = if is_name {
            let (endpoint, published) = (endpoint.clone(), published.to_vec());
            let asked = tokio::task::spawn_blocking(move || doubt(&endpoint, &published));
            asked.await.unwrap_or_default()
        } else {
            doubt(endpoint, published)
        };
        if let Some(doubt) = doubt {
            tracing::warn!(%endpoint, "{doubt}; publish() and -ORBendPointPublish say what to name");
        }
    }
}

/// What somebody should know who listens to `listening` and publishes `published`: that nobody
/// elsewhere will get there, although it looks as if they could. Asks the resolver, so it blocks.
fn doubt(listening: &Endpoint, published: &[Endpoint]) -> Option<String> {
    let first = |host: &str, port| Some((host, port).to_socket_addrs().ok()?.next()?.ip());
    doubt_where(listening, published, interfaces::reachable, first)
}

/// The same on a host with these addresses (IPv6 ones too, or not), where the first that a name
/// and port have is this one.
fn doubt_where(
    listening: &Endpoint,
    published: &[Endpoint],
    reachable: impl FnOnce(bool) -> Vec<IpAddr>,
    first: impl FnOnce(&str, u16) -> Option<IpAddr>,
) -> Option<String> {
    let Endpoint::Iiop { host, port } = listening else {
        return None;
    };
    match host.parse::<IpAddr>() {
        Ok(any) if any.is_unspecified() => {
            let reachable = reachable(any.is_ipv6());
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
            let first = first(host, *port)?;
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
        let loopback: IpAddr = [127, 0, 0, 1].into();
        let other: IpAddr = [192, 0, 2, 1].into();
        // A host with these addresses, where names are the loopback address or nobody's.
        let doubt = |addresses: &[IpAddr], listening: &str, published: &str| {
            let published = [published.parse().unwrap()];
            let reachable = |_| addresses.to_vec();
            let first = |host: &str, _| (host != "nobody").then_some(loopback);
            doubt_where(&listening.parse().unwrap(), &published, reachable, first)
        };
        let any = "iiop://0.0.0.0:1";
        let told = doubt(&[loopback], any, "iiop://127.0.0.1:1").unwrap();
        assert!(
            told.contains("no address that others could reach"),
            "{told}"
        );
        // Whoever has other addresses means it, and so does who publishes another.
        assert_eq!(doubt(&[other, loopback], any, "iiop://127.0.0.1:1"), None);
        assert_eq!(doubt(&[loopback], any, "iiop://192.0.2.1:1"), None);
        // As it is written, so it is meant.
        for meant in ["iiop://127.0.0.1:1", "iiop://localhost:1"] {
            assert_eq!(doubt(&[loopback], meant, meant), None);
        }
        // A name that this host takes for the loopback address, as Debian does its own.
        let told = doubt(&[other], "iiop://bank:1", "iiop://bank:1").unwrap();
        assert!(told.contains("\"bank\", which is 127.0.0.1 here"), "{told}");
        assert_eq!(doubt(&[other], "iiop://bank:1", "iiop://192.0.2.1:1"), None);
        assert_eq!(doubt(&[other], "iiop://nobody:1", "iiop://nobody:1"), None);
    }
}
