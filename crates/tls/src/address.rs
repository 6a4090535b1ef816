//! Addresses of TLS endpoints: host and port, under a scheme of their own.

use std::fmt;
use zorb_transport::{
    Address, AddressError, AddressReader, AddressWriter, Addressing, Endpoint, EndpointAddress,
    HostId, ListenAddress, ParseEndpointError, Protection, TcpAddressing, UnixAddressing,
};

/// The scheme of endpoints: the one that other ORBs have in `corbaloc` URLs.
pub(crate) const SCHEME: &str = "ssliop";
/// The scheme of endpoints over UNIX sockets.
const UNIX_SCHEME: &str = "ssluiop";
/// The tag of profiles of TLS over UNIX sockets, in the range of zorb's own tags.
const UNIX_PROFILE: u32 = 0x5a4f_5212;

/// Integrity, confidentiality, and no repeated or reordered messages; the server proves its identity.
const SUPPORTS: u16 = 0x3e;
/// Integrity and confidentiality.
const REQUIRES: u16 = 0x06;
/// The client proves its identity.
const TRUST_IN_CLIENT: u16 = 0x40;

/// The address of a TLS endpoint: an endpoint of TCP, or a UNIX socket, under another scheme.
#[derive(Debug, Clone)]
struct TlsAddress(Endpoint);

impl fmt::Display for TlsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text())
    }
}

impl EndpointAddress for TlsAddress {
    fn host(&self) -> Option<&str> {
        self.0.host()
    }

    fn port(&self) -> Option<u16> {
        self.0.port()
    }

    fn with_host(&self, host: &str, port: u16) -> Option<Endpoint> {
        self.0.with_host(host, port).map(wrap)
    }

    fn is_local_name(&self) -> bool {
        self.0.is_local_name()
    }

    fn unreachable_reason(&self) -> Option<&'static str> {
        self.0.unreachable_reason()
    }
}

/// The TLS endpoint at an endpoint of TCP, or at a UNIX socket.
pub(crate) fn wrap(plain: Endpoint) -> Endpoint {
    let scheme = match plain.is_local_name() {
        true => UNIX_SCHEME,
        false => SCHEME,
    };
    Endpoint::new(scheme, TlsAddress(plain))
}

/// The endpoint below a TLS endpoint; `None` for an endpoint of another transport.
pub(crate) fn plain(endpoint: &Endpoint) -> Option<&Endpoint> {
    let TlsAddress(plain) = endpoint.address()?;
    Some(plain)
}

/// An end of a connection by TLS, by the address of the connection below.
pub(crate) fn end(plain: &Address) -> Address {
    let host = plain.host();
    let scheme = match host {
        HostId::Local => UNIX_SCHEME,
        _ => SCHEME,
    };
    let text = plain.to_string();
    let address = text.split_once("://").map_or(&*text, |(_, rest)| rest);
    Address::Other {
        name: format!("{scheme}://{address}").into(),
        host,
    }
}

/// The end of the connection below.
pub(crate) fn plain_end(end: &Address) -> Address {
    let text = end.to_string();
    let address = text
        .strip_prefix(SCHEME)
        .and_then(|rest| rest.strip_prefix("://"));
    match address.and_then(|address| address.parse().ok()) {
        Some(address) => Address::Inet(address),
        None => end.clone(),
    }
}

/// What clients have to prove by a certificate when they connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ClientCertificates {
    /// Clients are not asked for a certificate.
    #[default]
    None,
    /// Clients are asked for a certificate and may have none. One that is not trusted is refused.
    Optional,
    /// Clients without a trusted certificate are refused.
    Required,
}

/// The syntax of TLS addresses, and the protection that references state of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TlsAddressing(Option<Protection>);

impl TlsAddressing {
    /// The addressing of a transport that can connect or listen, with clients that prove this.
    pub(crate) const fn new(clients: ClientCertificates) -> Self {
        let (supports, requires) = match clients {
            ClientCertificates::None => (SUPPORTS, REQUIRES),
            ClientCertificates::Optional => (SUPPORTS | TRUST_IN_CLIENT, REQUIRES),
            ClientCertificates::Required => {
                (SUPPORTS | TRUST_IN_CLIENT, REQUIRES | TRUST_IN_CLIENT)
            }
        };
        Self(Some(Protection { supports, requires }))
    }

    /// The addressing of a transport that can do neither.
    pub(crate) const fn of_none() -> Self {
        Self(None)
    }
}

impl Addressing for TlsAddressing {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn forms(&self) -> &'static [&'static str] {
        // One that is not set up is of no use to who has made a mistake.
        match self.0 {
            Some(_) => &["ssliop://host:port"],
            None => &[],
        }
    }

    fn parse(&self, text: &str) -> Result<Endpoint, AddressError> {
        TcpAddressing.parse(text).map(wrap)
    }

    fn parse_listen(&self, text: &str) -> Option<Result<ListenAddress, ParseEndpointError>> {
        let strip = |prefix: &str| {
            let (head, rest) = text.split_at_checked(prefix.len())?;
            head.eq_ignore_ascii_case(prefix).then_some(rest)
        };
        let plain = match (strip("ssliop://"), strip("giop:ssl:")) {
            (Some(rest), _) => format!("iiop://{rest}"),
            (_, Some(rest)) => format!("giop:tcp:{rest}"),
            _ => return None,
        };
        let read = TcpAddressing.parse_listen(&plain)?;
        Some(read.map(|mut listen| {
            listen.endpoint = wrap(listen.endpoint);
            listen
        }))
    }

    fn parse_corbaloc(&self, text: &str) -> Result<Endpoint, AddressError> {
        TcpAddressing.parse_corbaloc(text).map(wrap)
    }

    fn protection(&self) -> Option<Protection> {
        self.0
    }

    fn placeholder_endpoint(&self) -> Option<Endpoint> {
        Some(wrap(Endpoint::iiop("localhost", 0)))
    }
}

/// The syntax of UNIX sockets with TLS. References name each in a profile of its own, which other ORBs ignore.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnixTlsAddressing;

impl Addressing for UnixTlsAddressing {
    fn scheme(&self) -> &'static str {
        UNIX_SCHEME
    }

    fn forms(&self) -> &'static [&'static str] {
        &["ssluiop:///path", "ssluiop://@name"]
    }

    fn parse(&self, text: &str) -> Result<Endpoint, AddressError> {
        UnixAddressing.parse(text).map(wrap)
    }

    fn parse_corbaloc(&self, text: &str) -> Result<Endpoint, AddressError> {
        UnixAddressing.parse_corbaloc(text).map(wrap)
    }

    fn corbaloc(&self, endpoint: &Endpoint) -> String {
        plain(endpoint).map_or_else(String::new, |plain| UnixAddressing.corbaloc(plain))
    }

    fn profile(&self) -> Option<u32> {
        Some(UNIX_PROFILE)
    }

    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        let plain = plain(endpoint).ok_or_else(|| AddressError::expected("a UNIX socket with TLS"));
        UnixAddressing.write(plain?, to)
    }

    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        UnixAddressing.read(from).map(wrap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_to_listen_on_have_the_forms_of_tcp() {
        let read = |text| TlsAddressing::default().parse_listen(text).unwrap();
        let check = |text, expected: &str| {
            assert_eq!(read(text).unwrap().endpoint.to_string(), expected);
        };
        check("ssliop://h:1", "ssliop://h:1");
        check("SSLIOP://:1", "ssliop://0.0.0.0:1");
        check("giop:ssl:h:1", "ssliop://h:1");
        check("giop:ssl::", "ssliop://0.0.0.0:0");
        let listen = read("ssliop://h:1/hostname_in_ior=bank.example").unwrap();
        assert_eq!(listen.published_host.as_deref(), Some("bank.example"));
        assert!(read("ssliop://h").is_err());
        assert!(
            TlsAddressing::default()
                .parse_listen("iiop://h:1")
                .is_none()
        );
    }

    #[test]
    fn a_transport_that_is_not_set_up_states_no_protection() {
        assert_eq!(TlsAddressing::of_none().protection(), None);
        let stated = |clients| {
            let of = TlsAddressing::new(clients).protection().unwrap();
            (of.supports, of.requires)
        };
        assert_eq!(stated(ClientCertificates::None), (0x3e, 0x06));
        assert_eq!(stated(ClientCertificates::Optional), (0x7e, 0x06));
        assert_eq!(stated(ClientCertificates::Required), (0x7e, 0x46));
    }
}
