//! Endpoints of GIOPlite: those of the underlying transport, with another scheme and another profile tag.

use std::fmt;
use std::sync::Arc;
use zorb_transport::{
    AddressError, AddressReader, AddressWriter, Addressing, Endpoint, EndpointAddress,
    ListenAddress, ParseEndpointError, Transport,
};

/// An endpoint of the underlying transport, under the scheme of GIOPlite.
#[derive(Debug, Clone)]
struct LiteAddress {
    scheme: &'static str,
    plain: Endpoint,
}

impl fmt::Display for LiteAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plain.text())
    }
}

impl EndpointAddress for LiteAddress {
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
    Endpoint::new(scheme, LiteAddress { scheme, plain })
}

/// The endpoint of the underlying transport; `None` for one that is not of GIOPlite.
pub(super) fn plain(endpoint: &Endpoint) -> Option<&Endpoint> {
    let address: &LiteAddress = endpoint.address()?;
    (address.scheme == endpoint.scheme()).then_some(&address.plain)
}

/// The addressing of GIOPlite: reads and writes addresses by the underlying transport.
#[derive(Debug, Clone)]
pub(super) struct LiteAddressing {
    scheme: &'static str,
    profile: u32,
    plain: Arc<dyn Transport>,
}

impl LiteAddressing {
    pub(super) fn new(scheme: &'static str, profile: u32, plain: Arc<dyn Transport>) -> Self {
        Self {
            scheme,
            profile,
            plain,
        }
    }

    /// The addressing over another transport of the same kind.
    pub(super) fn over(&self, plain: Arc<dyn Transport>) -> Self {
        Self { plain, ..*self }
    }

    pub(super) fn wrap(&self, plain: Endpoint) -> Endpoint {
        wrap(self.scheme, plain)
    }

    fn plain(&self) -> &dyn Addressing {
        self.plain.addressing()
    }
}

impl Addressing for LiteAddressing {
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
        plain(endpoint).map_or_else(String::new, |plain| self.plain().corbaloc(plain))
    }

    fn profile(&self) -> Option<u32> {
        Some(self.profile)
    }

    fn write(&self, endpoint: &Endpoint, to: &mut dyn AddressWriter) -> Result<(), AddressError> {
        match plain(endpoint) {
            Some(plain) => self.plain().write(plain, to),
            None => Err(AddressError::expected("an endpoint of GIOPlite")),
        }
    }

    fn read(&self, from: &mut dyn AddressReader) -> Result<Endpoint, AddressError> {
        Ok(self.wrap(self.plain().read(from)?))
    }
}
