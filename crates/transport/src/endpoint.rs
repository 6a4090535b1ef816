//! Endpoints: a scheme and an address, as text.

use std::{
    any::Any,
    borrow::Cow,
    cmp::Ordering,
    error::Error,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::AddressError;

/// The text form of where a peer listens, before any IOR profile: a scheme, and an address of the transport of that
/// scheme, as in `iiop://host:port` and `uiop:///path`.
///
/// The address is a value of the transport's own type ([`address`](Self::address)), such as
/// [`TcpAddress`](crate::TcpAddress). Two endpoints are equal if they are written the same. A clone shares the address.
///
/// [`FromStr`](std::str::FromStr) reads the schemes of this crate's transports; a [`Registry`](crate::Registry::parse)
/// reads those of the transports that it has. [`Display`](fmt::Display) is the inverse.
///
/// ```
/// # mod zorb { pub extern crate zorb_transport as transport; }
/// use zorb::transport::{Endpoint, TcpAddress};
///
/// let endpoint: Endpoint = "iiop://[::1]:2809".parse()?;
/// assert_eq!(endpoint, Endpoint::iiop("::1", 2809));
/// assert_eq!(endpoint.address(), Some(&TcpAddress::new("::1", 2809)));
/// assert_eq!(Endpoint::uiop("/run/bank.sock").to_string(), "uiop:///run/bank.sock");
/// # Ok::<(), zorb::transport::ParseEndpointError>(())
/// ```
#[derive(Clone)]
pub struct Endpoint {
    scheme: &'static str,
    /// The text of the address, by which endpoints are compared.
    text: Arc<str>,
    address: Arc<dyn EndpointAddress>,
}

/// An address of a transport: a value of the transport's own type. [`Display`](fmt::Display) writes it as the text
/// behind `scheme://` of an endpoint. Different addresses have different texts.
///
/// The methods answer questions of the ORB, which does not know the transport of an address. Their defaults suit
/// addresses that are neither hosts nor files.
pub trait EndpointAddress: Any + fmt::Debug + fmt::Display + Send + Sync {
    /// Returns the host, where the address is that of a host: a name, or an IP address without brackets. Limits count
    /// connections by it; all addresses without a host count as one.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Returns the port, where the address is host and port.
    fn port(&self) -> Option<u16> {
        None
    }

    /// Returns the endpoint of another host and port, where an address is host and port.
    fn with_host(&self, host: &str, port: u16) -> Option<Endpoint> {
        let _ = (host, port);
        None
    }

    /// Whether the address is a name within this very host, as a UNIX socket's is. An ORB connects to such addresses of
    /// peers only if it is configured to.
    fn is_local_name(&self) -> bool {
        false
    }

    /// Returns the reason why no connection can be made to it, if there is one: `port 0`.
    fn unreachable_reason(&self) -> Option<&'static str> {
        None
    }
}

impl Endpoint {
    /// Makes the endpoint of an address; `scheme` is that of the address's transport, in lower case.
    pub fn new(scheme: &'static str, address: impl EndpointAddress) -> Self {
        Self {
            scheme,
            text: address.to_string().into(),
            address: Arc::new(address),
        }
    }

    /// Returns the text before `://`, by which a [`Registry`](crate::Registry) finds the transport.
    #[must_use]
    pub const fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// Returns the address, if it is of this type.
    #[must_use]
    pub fn address<A: EndpointAddress>(&self) -> Option<&A> {
        let address: &dyn Any = &*self.address;
        address.downcast_ref()
    }

    /// Returns the address as text: the part behind `scheme://`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the host, where the address is that of a host: see [`EndpointAddress::host`].
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.address.host()
    }

    /// Returns the port, where the address is host and port.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.address.port()
    }

    /// Returns the endpoint of another host and port of the same transport; `None` where addresses are not host and
    /// port.
    #[must_use]
    pub fn with_host(&self, host: &str, port: u16) -> Option<Self> {
        self.address.with_host(host, port)
    }

    /// Whether the address is a name within this very host: see [`EndpointAddress::is_local_name`].
    #[must_use]
    pub fn is_local_name(&self) -> bool {
        self.address.is_local_name()
    }

    /// Returns the reason why no connection can be made to it, if there is one.
    #[must_use]
    pub fn unreachable_reason(&self) -> Option<&'static str> {
        self.address.unreachable_reason()
    }

    fn identity(&self) -> (&str, &str) {
        (self.scheme, &self.text)
    }
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Endpoint {}

impl Hash for Endpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl PartialOrd for Endpoint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Endpoint {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.text)
    }
}

/// The error of text that is not an [`Endpoint`]. The message has the expectation and quotes the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseEndpointError {
    expected: Cow<'static, str>,
    text: Box<str>,
}

impl ParseEndpointError {
    /// Makes the error of `text` that was found where `expected` was expected.
    pub fn new(expected: impl Into<Cow<'static, str>>, text: &str) -> Self {
        Self {
            expected: expected.into(),
            text: text.into(),
        }
    }
}

impl fmt::Display for ParseEndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {:?}", self.expected, self.text)
    }
}

impl Error for ParseEndpointError {}

/// Writes text, with `%` and the hexadecimal digits of its number in place of each character that `escaped` accepts.
pub(crate) fn write_escaped(
    f: &mut fmt::Formatter<'_>,
    text: &str,
    escaped: impl Fn(char) -> bool,
) -> fmt::Result {
    for character in text.chars() {
        if escaped(character) {
            write!(f, "%{:02X}", u32::from(character))?;
        } else {
            fmt::Write::write_char(f, character)?;
        }
    }
    Ok(())
}

/// Replaces each `%` and two hexadecimal digits by their octet.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, AddressError> {
    let bad = || AddressError::expected("two hexadecimal digits after each percent sign");
    let mut plain = Vec::with_capacity(text.len());
    let mut octets = text.bytes();
    while let Some(octet) = octets.next() {
        plain.push(if octet == b'%' {
            let mut digit = || {
                let digit = octets.next().and_then(|d| char::from(d).to_digit(16));
                digit.ok_or_else(bad)
            };
            let (high, low) = (digit()?, digit()?);
            u8::try_from(high << 4 | low).map_err(|_| bad())?
        } else {
            octet
        });
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{ffi::OsString, os::unix::ffi::OsStringExt};

    #[test]
    fn control_characters_of_host_names_are_escaped() {
        let forged = Endpoint::iiop("a\r\nb\u{1b}", 1);
        assert_eq!(forged.to_string(), "iiop://a%0D%0Ab%1B:1");
    }

    #[test]
    fn endpoints_are_read_and_written_alike() {
        let check = |text: &str, expected: Endpoint| {
            assert_eq!(text.parse(), Ok(expected.clone()));
            assert_eq!(expected.to_string(), text);
        };
        check("iiop://localhost:2809", Endpoint::iiop("localhost", 2809));
        check("iiop://127.0.0.1:0", Endpoint::iiop("127.0.0.1", 0));
        check("iiop://[::1]:65535", Endpoint::iiop("::1", 65535));
        check("iiop://[fe80::1%eth0]:1", Endpoint::iiop("fe80::1%eth0", 1));
        check("iiop://[fe80::1%25]:1", Endpoint::iiop("fe80::1%25", 1));
        check(
            "uiop:///tmp/with space/ü.sock",
            Endpoint::uiop("/tmp/with space/ü.sock"),
        );
        check("uiop:///tmp/100%25", Endpoint::uiop("/tmp/100%"));
        check(
            "uiop:///tmp/%0A%FFx",
            Endpoint::uiop(OsString::from_vec(b"/tmp/\n\xffx".into())),
        );
        check("uiop:///", Endpoint::uiop("/"));
        check("uiop://@bank%25", Endpoint::uiop_abstract(*b"bank%"));
    }

    #[test]
    fn the_percent_sign_before_a_zone_may_be_escaped() {
        let escaped = "iiop://[fe80::1%25eth0]:1".parse();
        assert_eq!(escaped, Ok(Endpoint::iiop("fe80::1%eth0", 1)));
        let confusing = Endpoint::iiop("fe80::1%251", 1);
        assert_eq!(confusing.to_string(), "iiop://[fe80::1%25251]:1");
        assert_eq!(confusing.to_string().parse(), Ok(confusing));
    }

    #[test]
    fn schemes_are_read_in_any_case() {
        assert_eq!("IIOP://h:1".parse(), Ok(Endpoint::iiop("h", 1)));
        assert_eq!("Uiop:///p".parse(), Ok(Endpoint::uiop("/p")));
    }

    #[test]
    fn what_is_wrong_with_the_text_is_said() {
        let check = |text: &str, expected: &str| {
            let error = text.parse::<Endpoint>().expect_err(text);
            assert_eq!(
                error.to_string(),
                format!("expected {expected}, found {text:?}")
            );
        };
        check("", "iiop://host:port, uiop:///path or uiop://@name");
        check(
            "localhost:1",
            "iiop://host:port, uiop:///path or uiop://@name",
        );
        check("http://localhost:1", "one of the schemes iiop and uiop");
        check("iiop://localhost", "a colon and a port after the host");
        check("iiop://[::1]", "a colon and a port after the host");
        check("iiop://[::1]2809", "a colon and a port after the host");
        for port in ["", "+1", "-1", "65536", "x", "1 ", "99999999999999999999"] {
            check(&format!("iiop://h:{port}"), "a port from 0 to 65535");
        }
        for host in [
            "",
            "::1",
            "a b",
            "a/b",
            "user@host",
            "[h]",
            "h]",
            "a,b",
            "[::1 ]",
            "[]",
            "[a:b]",
            "[127.0.0.1]",
            "[fe80::1%]",
        ] {
            check(
                &format!("iiop://{host}:1"),
                "a host name, an IPv4 address, or an IPv6 address in brackets",
            );
        }
        check("iiop://[::1:1", "a closing bracket after the IPv6 address");
        for path in ["uiop://tmp/x", "uiop://", "uiop://@"] {
            check(path, "an absolute path, or @ and an abstract name");
        }
        check("uiop:///a%00", "a path without NUL");
        for escape in ["%", "%1", "%zz", "%+1", "%1ü"] {
            check(
                &format!("uiop:///{escape}"),
                "two hexadecimal digits after each percent sign",
            );
        }
    }

    proptest! {
        #[test]
        fn every_path_survives_being_written(octets in prop::collection::vec(1u8.., 0..64)) {
            let mut path = vec![b'/'];
            path.extend(octets);
            let endpoint = Endpoint::uiop(OsString::from_vec(path));
            prop_assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
        }

        #[test]
        fn whatever_is_read_is_written_as_an_equal_endpoint(text in "(iiop|uiop)://[\\[\\]:/a-z0-9%.é]{0,24}") {
            if let Ok(endpoint) = text.parse::<Endpoint>() {
                prop_assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
            }
        }
    }
}
