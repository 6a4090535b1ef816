//! Addresses of TCP: host and port.
use std::{borrow::Cow, fmt, net::Ipv6Addr};

use crate::{
    AddressComponent, AddressError, AddressReader, AddressWriter, Addressing, Endpoint,
    EndpointAddress, ListenAddress, ParseEndpointError, WrittenEndpoints,
    addressing::{strip, strip_scheme, text_of},
    endpoint::write_escaped,
    system::host_name,
};

/// The address of a TCP endpoint: `host:port`.
///
/// The host is a name or an address; a colon in it means IPv6 and is written in brackets, `[::1]:2809`. Port 0 is for
/// listening only, and means any free port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TcpAddress {
    host: String,
    port: u16,
}

impl TcpAddress {
    /// Makes an address of host and port; an IPv6 address is given without brackets.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        let host = host.into();
        Self { host, port }
    }

    /// Returns the host: a name, an IPv4 address, or an IPv6 address without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port; 0 asks a listener to take any that is free.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl Endpoint {
    /// Makes a TCP endpoint; an IPv6 address is given without brackets.
    #[must_use]
    pub fn iiop(host: impl Into<String>, port: u16) -> Self {
        Self::new(SCHEME, TcpAddress::new(host, port))
    }
}

impl fmt::Display for TcpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_address = self.host.contains(':');
        f.write_str(if is_address { "[" } else { "" })?;
        // A reference may name a host with line ends in it, which must not reach a log.
        match self.host.split_once('%') {
            // The percent sign before such a zone would be read as an escaped one.
            Some((address, zone)) if is_address && zone.starts_with("25") && zone != "25" => {
                write_escaped(f, address, char::is_control)?;
                f.write_str("%25")?;
                write_escaped(f, zone, char::is_control)?;
            }
            _ => write_escaped(f, &self.host, char::is_control)?,
        }
        write!(f, "{}:{}", if is_address { "]" } else { "" }, self.port)
    }
}

impl EndpointAddress for TcpAddress {
    fn host(&self) -> Option<&str> {
        Some(&self.host)
    }

    fn port(&self) -> Option<u16> {
        Some(self.port)
    }

    fn with_host(&self, host: &str, port: u16) -> Option<Endpoint> {
        Some(Endpoint::iiop(host, port))
    }

    fn unreachable_reason(&self) -> Option<&'static str> {
        if self.host.is_empty() {
            return Some("empty host");
        }
        // In a reference, port 0 means that there is no plain port.
        (self.port == 0).then_some("port 0")
    }
}

/// The syntax of TCP addresses: `iiop://host:port`, in profiles TAG_INTERNET_IOP, of which one holds all endpoints of a
/// server.
///
/// Listening also understands TAO's endpoint options and omniORB's `giop:tcp:host:port`.
///
/// Source: CORBA 3.3 Part 2, IIOP IOR Profiles; TAO's endpoint options; omniORB's `endPoint`.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to it")]
pub struct TcpAddressing;

impl Addressing for TcpAddressing {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn forms(&self) -> &'static [&'static str] {
        &["iiop://host:port"]
    }

    fn parse(&self, text: &str) -> Result<Endpoint, AddressError> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) = rest.split_once(']').ok_or_else(|| {
                AddressError::expected("a closing bracket after the IPv6 address")
            })?;
            let port = rest.strip_prefix(':').ok_or_else(no_port)?;
            (ipv6(host).ok_or_else(bad_host)?, port)
        } else {
            let (host, port) = text.rsplit_once(':').ok_or_else(no_port)?;
            (read_host(host)?, port)
        };
        Ok(Endpoint::iiop(host, port_of(port)?))
    }

    fn parse_listen(&self, text: &str) -> Option<Result<ListenAddress, ParseEndpointError>> {
        if let Some(address) = strip(text, "giop:tcp:") {
            let read =
                omni(address).map(|(host, port)| ListenAddress::from(Endpoint::iiop(host, port)));
            return Some(read.map_err(|error| error.in_text(text)));
        }
        let rest = strip_scheme(text, SCHEME)?;
        Some(self.with_options(text, rest))
    }

    fn parse_corbaloc(&self, text: &str) -> Result<Endpoint, AddressError> {
        let (host, port) = match text.rsplit_once(':') {
            // The last colon is part of an IPv6 address.
            Some((_, rest)) if rest.contains(']') => (text, DEFAULT_PORT),
            Some((host, "")) => (host, DEFAULT_PORT),
            Some((host, port)) => (host, port_of(port)?),
            None => (text, DEFAULT_PORT),
        };
        // An empty host is this one.
        let host = if host.is_empty() { "localhost" } else { host };
        Ok(Endpoint::iiop(read_host(host)?, port))
    }

    fn profile(&self) -> Option<u32> {
        Some(INTERNET_IOP)
    }

    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        let address = address(endpoint)?;
        to.write_string(address.host.as_bytes())?;
        to.write_u16(address.port);
        Ok(())
    }

    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        let octets = from.read_string()?;
        // As text the host may be longer, and it has to be written and read again.
        let host = (octets.len() <= MAX_HOST_OCTETS).then(|| text_of(octets));
        let found = octets.len();
        let host = host.filter(|host| host.len() <= MAX_HOST_OCTETS);
        let host = host.ok_or_else(|| {
            AddressError::expected(format!(
                "a host of at most {MAX_HOST_OCTETS} octets, found {found}"
            ))
        })?;
        Ok(Endpoint::iiop(host, from.read_u16()?))
    }

    fn components(&self) -> &'static [AddressComponent] {
        &COMPONENTS
    }

    fn write_component(
        &self,
        _: AddressComponent,
        endpoint: &Endpoint,
        to: &mut dyn AddressWriter,
    ) -> Result<bool, AddressError> {
        self.write(endpoint, to)?;
        Ok(true)
    }

    fn read_component(
        &self,
        _: AddressComponent,
        from: &mut dyn AddressReader,
    ) -> Result<Vec<Endpoint>, AddressError> {
        Ok(vec![self.read(from)?])
    }

    fn placeholder_endpoint(&self) -> Option<Endpoint> {
        Some(Endpoint::iiop(host_name()?, 0))
    }
}

impl TcpAddressing {
    /// Reads `host:port` and TAO's endpoint options.
    fn with_options(&self, text: &str, rest: &str) -> Result<ListenAddress, ParseEndpointError> {
        let (address, options) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some((version, _)) = address.split_once('@') {
            return Err(ParseEndpointError::new(
                "no GIOP version at an endpoint (max_giop_version and -ORBmaxGIOPVersion set it)",
                version,
            ));
        }
        let host = if address.starts_with(':') { ANY } else { "" };
        let endpoint = self.parse(&format!("{host}{address}"));
        let mut listen = ListenAddress::from(endpoint.map_err(|error| error.in_text(text))?);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let read = read_option(&mut listen, option);
            read.map_err(|error| error.in_text(option))?;
        }
        Ok(listen)
    }
}

/// Reads one of TAO's endpoint options, or a property.
fn read_option(listen: &mut ListenAddress, option: &str) -> Result<(), AddressError> {
    let expected = || {
        AddressError::expected(
            "endpoint options name=value: hostname_in_ior, port_in_ior, portspan or a property of TCP",
        )
    };
    let (name, value) = option.split_once('=').ok_or_else(expected)?;
    match name {
        "hostname_in_ior" => {
            // TAO writes an IPv6 address here without brackets.
            let host = ipv6(value).map_or_else(|| read_host(value), Ok);
            let expected = |_| AddressError::expected("hostname_in_ior=host");
            listen.published_host = Some(host.map_err(expected)?.into_owned());
        }
        "port_in_ior" => {
            let port = port_of(value).ok().filter(|port| *port > 0);
            let expected = || AddressError::expected("port_in_ior=port, 1 to 65535");
            listen.published_port = Some(port.ok_or_else(expected)?);
        }
        "portspan" => {
            let ports = value.parse().ok().filter(|ports| *ports > 0);
            let expected = || AddressError::expected("portspan=number of ports, 1 to 65535");
            listen.ports = ports.ok_or_else(expected)?;
        }
        _ if super::options::PROPERTIES
            .iter()
            .any(|property| property.name == name) =>
        {
            (listen.properties).push((name.to_owned(), value.to_owned()));
        }
        _ => return Err(expected()),
    }
    Ok(())
}

/// Reads omniORB's `host:port` (the text behind `giop:tcp:`): both may be missing.
fn omni(text: &str) -> Result<(Cow<'_, str>, u16), AddressError> {
    let bad = || AddressError::expected("giop:tcp:host:port, either of which may be left out");
    let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
    let host = if host.is_empty() { ANY } else { host };
    let port = if port.is_empty() { "0" } else { port };
    match (read_host(host), port_of(port)) {
        (Ok(host), Ok(port)) => Ok((host, port)),
        _ => Err(bad()),
    }
}

/// Returns the TCP address of an endpoint.
pub(super) fn address(endpoint: &Endpoint) -> Result<&TcpAddress, AddressError> {
    let other = || AddressError::expected("an endpoint of the TCP transport");
    endpoint.address().ok_or_else(other)
}

fn is_host(host: &str) -> bool {
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || "/?#@[]\\,".contains(c);
    !host.is_empty() && !host.contains(forbidden)
}

/// Reads a host: a name, an IPv4 address, or an IPv6 address in brackets, which are removed.
fn read_host(text: &str) -> Result<Cow<'_, str>, AddressError> {
    let inside = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    match inside {
        Some(inside) => ipv6(inside).ok_or_else(bad_host),
        None if is_host(text) && !text.contains(':') => Ok(text.into()),
        None => Err(bad_host()),
    }
}

/// Reads an IPv6 address, and behind `%` its zone. The percent sign may be escaped as `%25`. `None` for any other text.
///
/// Source: RFC 6874.
fn ipv6(text: &str) -> Option<Cow<'_, str>> {
    let Some((address, zone)) = text.split_once('%') else {
        return text.parse::<Ipv6Addr>().is_ok().then_some(text.into());
    };
    address.parse::<Ipv6Addr>().ok()?;
    let is_zone = |zone: &str| is_host(zone) && !zone.contains('%');
    // `%25` alone is the zone of that index.
    match zone.strip_prefix("25").filter(|zone| !zone.is_empty()) {
        Some(plain) => is_zone(plain).then(|| format!("{address}%{plain}").into()),
        None => is_zone(zone).then_some(text.into()),
    }
}

fn port_of(text: &str) -> Result<u16, AddressError> {
    // `u16::from_str` accepts a leading plus sign, which no port has.
    let digits = text.bytes().all(|octet| octet.is_ascii_digit());
    let port = digits.then(|| text.parse().ok()).flatten();
    port.ok_or_else(|| AddressError::expected("a port from 0 to 65535"))
}

fn no_port() -> AddressError {
    AddressError::expected("a colon and a port after the host")
}

fn bad_host() -> AddressError {
    AddressError::expected("a host name, an IPv4 address, or an IPv6 address in brackets")
}

const SCHEME: &str = "iiop";

/// Every IPv4 interface, which a listener with an empty host uses.
const ANY: &str = "0.0.0.0";

/// The port of a `corbaloc` that names none. Source: CORBA 3.3 Part 2, corbaloc:iiop URL.
const DEFAULT_PORT: u16 = 2809;

/// Octets of a host name in a reference. A name of the domain system has at most 255 (RFC 1035, section 2.3.4), and an
/// address with its zone fewer.
const MAX_HOST_OCTETS: usize = 255;

/// TAG_INTERNET_IOP.
const INTERNET_IOP: u32 = 0;
/// TAG_ALTERNATE_IIOP_ADDRESS: string host, unsigned short port.
const ALTERNATE_IIOP_ADDRESS: u32 = 3;

const COMPONENTS: [AddressComponent; 1] = [AddressComponent {
    profile: INTERNET_IOP,
    tag: ALTERNATE_IIOP_ADDRESS,
    written: WrittenEndpoints::AllButFirst,
}];
