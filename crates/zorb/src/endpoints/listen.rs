//! Listening to the endpoints of the builder, by their transports.

use crate::rules::AccessRules;
use std::sync::Arc;
use zorb_transport::{
    Endpoint, ListenAddress, Listener, ParseEndpointError, Properties, PropertyError, Registry,
    Transport, TransportError,
};

/// An endpoint to listen to, with the properties in its text.
#[derive(Debug, Clone)]
pub(crate) struct Listen {
    pub(crate) address: ListenAddress,
    /// The transport with the properties of this endpoint, if it has any of its own.
    transport: Option<Arc<dyn Transport>>,
}

impl Listen {
    /// Reads text in any syntax of the transports.
    ///
    /// # Errors
    /// The expected and the found text.
    pub(crate) fn read(text: &str, transports: &Registry) -> Result<Self, String> {
        let address = transports
            .parse_listen(text)
            .map_err(|error: ParseEndpointError| error.to_string())?;
        let mut transport = None;
        for (name, value) in &address.properties {
            let Some(plain) = transports.get(address.endpoint.scheme()) else {
                continue;
            };
            let having = transport
                .as_ref()
                .unwrap_or(plain)
                .with_property(name, value);
            transport = Some(having.map_err(|error: PropertyError| error.to_string())?);
        }
        Ok(Self { address, transport })
    }

    /// Sets a property of the endpoint, if its transport has the property and the text does not set it.
    pub(crate) fn with_default(mut self, transports: &Registry, name: &str, value: &str) -> Self {
        let is_said = self.address.properties.iter().any(|(said, _)| said == name);
        let transport = self.transport.as_ref();
        let transport = transport.or_else(|| transports.get(self.address.endpoint.scheme()));
        if let Some(transport) = transport.filter(|_| !is_said)
            && let Ok(having) = transport.with_property(name, value)
        {
            self.transport = Some(having);
        }
        self
    }

    /// The endpoint, as it was read.
    pub(crate) const fn endpoint(&self) -> &Endpoint {
        &self.address.endpoint
    }

    /// Listens to the first free port of those that the endpoint permits.
    pub(crate) async fn open(
        &self,
        transports: &Registry,
        rules: &AccessRules,
    ) -> Result<Box<dyn Listener>, TransportError> {
        let mut transports = transports.clone();
        if let Some(transport) = &self.transport {
            transports.insert(Arc::clone(transport));
        }
        let transport = transports.get(self.endpoint().scheme());
        // Without a handshake, a client is told that it is not permitted.
        if let Some(transport) = transport.filter(|of| of.addressing().protection().is_some())
            && let Some(filter) = rules.of_clients(transport.scheme())
            && let Some(limited) = transport.with_properties(&Properties::default().with(filter))
        {
            transports.insert(limited);
        }
        let mut tries = self.tries().into_iter().peekable();
        loop {
            // `tries` has at least one endpoint; the fallback is never used.
            let endpoint = tries.next();
            let endpoint = endpoint.unwrap_or_else(|| self.address.endpoint.clone());
            match transports.listen(&endpoint).await {
                Err(error)
                    if error.kind() == std::io::ErrorKind::AddrInUse && tries.peek().is_some() => {}
                opened => return opened,
            }
        }
    }

    /// The endpoints to try, in order.
    fn tries(&self) -> Vec<Endpoint> {
        let endpoint = &self.address.endpoint;
        match (endpoint.host(), endpoint.port()) {
            // Port 0, any free one, needs one attempt.
            (Some(host), Some(port)) if port != 0 => (0..self.address.ports)
                .filter_map(|further| port.checked_add(further))
                .filter_map(|port| endpoint.with_host(host, port))
                .collect(),
            _ => vec![endpoint.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Listen, String> {
        Listen::read(text, &Registry::default())
    }

    #[test]
    fn endpoints_are_read_in_the_three_forms_that_people_know() {
        let check = |text: &str, expected: Endpoint| {
            assert_eq!(read(text).unwrap().address, expected.into(), "{text}");
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
        let listen = read("iiop://h:65534/hostname_in_ior=nat.example&portspan=4").unwrap();
        assert_eq!(
            listen.address.published_host.as_deref(),
            Some("nat.example")
        );
        // There is no port 65536.
        assert_eq!(
            listen.tries(),
            [Endpoint::iiop("h", 65534), Endpoint::iiop("h", 65535)]
        );
        let listen = read("iiop://h:1/hostname_in_ior=::1").unwrap();
        assert_eq!(listen.address.published_host.as_deref(), Some("::1"));
        let listen = read("iiop://h:0/portspan=9").unwrap();
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
                "expected no GIOP version at an endpoint (max_giop_version and -ORBmaxGIOPVersion set it), found \"1.2\"",
            ),
            (
                "iiop://h:1/reuse_addr=1",
                "expected endpoint options name=value: hostname_in_ior, port_in_ior, portspan or a property of TCP, found \"reuse_addr=1\"",
            ),
            (
                "iiop://h:1/dscp=64",
                "expected dscp=a code point from 0 to 63, found \"dscp=64\"",
            ),
            (
                "iiop://h:1/port_in_ior=0",
                "expected port_in_ior=port, 1 to 65535, found \"port_in_ior=0\"",
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
                "expected iiop://host:port, uiop:///path or uiop://@name, found \"giop:ssl:h:1\"",
            ),
            (
                "giop:unix:",
                "expected giop:unix:/path, found \"giop:unix:\"",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
    }
}
