//! Endpoints of a transport over a transport.

use std::{fmt, sync::Arc};

use crate::{
    AddressError, AddressReader, AddressWriter, Addressing, Endpoint, EndpointAddress,
    ListenAddress, ParseEndpointError, Transport,
};

/// An endpoint of the underlying transport, under another scheme.
#[derive(Debug, Clone)]
struct AddressOver {
    scheme: &'static str,
    plain: Endpoint,
}

impl fmt::Display for AddressOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plain.text())
    }
}

impl EndpointAddress for AddressOver {
    fn host(&self) -> Option<&str> {
        self.plain.host()
    }

    fn port(&self) -> Option<u16> {
        self.plain.port()
    }

    fn with_host(&self, host: &str, port: u16) -> Option<Endpoint> {
        let plain = self.plain.with_host(host, port)?;
        Some(wrap(self.scheme, plain))
    }

    fn is_local_name(&self) -> bool {
        self.plain.is_local_name()
    }

    fn unreachable_reason(&self) -> Option<&'static str> {
        self.plain.unreachable_reason()
    }
}

fn wrap(scheme: &'static str, plain: Endpoint) -> Endpoint {
    Endpoint::new(scheme, AddressOver { scheme, plain })
}

/// The addressing of a transport over another transport: its endpoints are those of the underlying one, with another scheme
/// and another profile tag.
#[derive(Debug, Clone)]
pub struct AddressingOver {
    scheme: &'static str,
    profile: u32,
    plain: Arc<dyn Transport>,
}

impl AddressingOver {
    /// Returns the addressing over `plain`, with this scheme, in lower case, and this tag of profiles.
    #[must_use]
    pub fn new(scheme: &'static str, profile: u32, plain: Arc<dyn Transport>) -> Self {
        Self {
            scheme,
            profile,
            plain,
        }
    }

    /// Returns the addressing over another transport of the same kind.
    #[must_use]
    pub fn over(&self, plain: Arc<dyn Transport>) -> Self {
        Self { plain, ..*self }
    }

    /// Returns an endpoint of the underlying transport under this scheme.
    #[must_use]
    pub fn wrap(&self, plain: Endpoint) -> Endpoint {
        wrap(self.scheme, plain)
    }

    /// Returns the endpoint of the underlying transport; `None` for one of another scheme.
    #[must_use]
    pub fn unwrap<'a>(&self, endpoint: &'a Endpoint) -> Option<&'a Endpoint> {
        let address: &AddressOver = endpoint.address()?;
        (address.scheme == self.scheme && endpoint.scheme() == self.scheme)
            .then_some(&address.plain)
    }

    fn plain(&self) -> &dyn Addressing {
        self.plain.addressing()
    }
}

impl Addressing for AddressingOver {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn forms(&self) -> &'static [&'static str] {
        // Endpoints have the forms of the underlying transport, which reports errors in them.
        &[]
    }

    fn parse(&self, text: &str) -> Result<Endpoint, AddressError> {
        Ok(self.wrap(self.plain().parse(text)?))
    }

    fn parse_listen(&self, text: &str) -> Option<Result<ListenAddress, ParseEndpointError>> {
        let (scheme, address) = text.split_once("://")?;
        if !scheme.eq_ignore_ascii_case(self.scheme) {
            return None;
        }
        let plain = format!("{}://{address}", self.plain().scheme());
        let listen = self.plain().parse_listen(&plain)?;
        Some(listen.map(|mut listen| {
            listen.endpoint = self.wrap(listen.endpoint);
            listen
        }))
    }

    fn parse_corbaloc(&self, text: &str) -> Result<Endpoint, AddressError> {
        Ok(self.wrap(self.plain().parse_corbaloc(text)?))
    }

    fn corbaloc(&self, endpoint: &Endpoint) -> String {
        self.unwrap(endpoint)
            .map_or_else(String::new, |plain| self.plain().corbaloc(plain))
    }

    fn profile(&self) -> Option<u32> {
        Some(self.profile)
    }

    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        match self.unwrap(endpoint) {
            Some(plain) => self.plain().write(plain, to),
            None => Err(AddressError::expected("an endpoint of this scheme")),
        }
    }

    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        Ok(self.wrap(self.plain().read(from)?))
    }
}
