//! The protocols of ClientProtocolPolicy and ServerProtocolPolicy, and their properties.

use core::fmt;
use std::borrow::Cow;
use zorb_giop::ior::ProfileTag;
use zorb_giop::{
    StatedProtocol, TcpProtocolProperties, TransportProperties, UnixDomainProtocolProperties,
};
use zorb_transport::Registry;

/// A protocol of a `RTCORBA::ClientProtocolPolicy` or `RTCORBA::ServerProtocolPolicy`: the scheme of its endpoints,
/// such as `iiop`, and properties of its connections. Properties that are not set are those of the ORB's
/// [transport](crate::Builder::transport_property).
///
/// Source: Real-time CORBA 1.2 (`RTCORBA::Protocol`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Protocol {
    scheme: Cow<'static, str>,
    properties: Vec<(Cow<'static, str>, String)>,
}

impl Protocol {
    /// GIOP over TCP, with the properties of the ORB's transport.
    pub const IIOP: Self = Self::of(Cow::Borrowed("iiop"));
    /// GIOP over UNIX sockets, with the properties of the ORB's transport.
    pub const UIOP: Self = Self::of(Cow::Borrowed("uiop"));

    const fn of(scheme: Cow<'static, str>) -> Self {
        Self {
            scheme,
            properties: Vec::new(),
        }
    }

    /// The protocol whose endpoints have this scheme: the text before `://`, in lower case.
    #[must_use]
    pub fn new(scheme: impl Into<Cow<'static, str>>) -> Self {
        Self::of(scheme.into())
    }

    /// Sets a property of its transport, replacing an earlier value: see
    /// [`Builder::transport_property`](crate::Builder::transport_property).
    #[must_use]
    pub fn property(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
    ) -> Self {
        let name = name.into();
        self.properties.retain(|(other, _)| *other != name);
        self.properties.push((name, value.into()));
        self
    }

    /// Sets these properties of TCP sockets. A buffer size of 0 or less, in octets, keeps the transport's.
    #[must_use]
    #[doc(alias = "create_tcp_protocol_properties")]
    pub fn tcp_properties(self, properties: TcpProtocolProperties) -> Self {
        self.named(TransportProperties::Tcp(properties))
    }

    /// Sets these properties of UNIX sockets. The kernel buffers only at the sending end, so the size of the receive
    /// buffer has no effect.
    #[must_use]
    #[doc(alias = "create_unix_domain_protocol_properties")]
    pub fn unix_domain_properties(self, properties: UnixDomainProtocolProperties) -> Self {
        self.named(TransportProperties::Unix(properties))
    }

    fn named(self, properties: TransportProperties) -> Self {
        let named = properties.to_named().into_iter();
        named.fold(self, |this, (name, value)| this.property(name, value))
    }

    /// The scheme of the protocol's endpoints.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The properties that were set, by name and value.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.properties.iter();
        all.map(|(name, value)| (&**name, &**value))
    }

    /// A copy of the properties, for a connection.
    pub(crate) fn to_properties(&self) -> Vec<(Cow<'static, str>, String)> {
        self.properties.clone()
    }

    /// Whether one of the transports has the protocol and its properties.
    pub(crate) fn is_known(&self, transports: &Registry) -> bool {
        let transport = transports.get(self.scheme());
        let has = |(name, value)| {
            transport.is_some_and(|transport| transport.with_property(name, value).is_ok())
        };
        transport.is_some() && self.properties().all(has)
    }

    /// The protocol in the form that references state; `None` if no transport has it, or if its endpoints have no
    /// profile.
    pub(crate) fn to_stated(&self, transports: &Registry) -> Option<StatedProtocol> {
        let profile = ProfileTag(transports.get(self.scheme())?.addressing().profile()?);
        let value = |wanted: &str| {
            let mut all = self.properties();
            Some(all.find(|(name, _)| *name == wanted)?.1)
        };
        let properties = TransportProperties::from_named(profile, value);
        Some(StatedProtocol {
            profile,
            properties,
        })
    }

    /// A protocol that a reference states; `None` if no transport has its profile.
    pub(crate) fn from_stated(stated: &StatedProtocol, transports: &Registry) -> Option<Self> {
        let transport = transports.by_profile(stated.profile.0)?;
        Some(Self::new(transport.scheme()).named(stated.properties))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_come_back_from_what_references_state() {
        let transports = Registry::default();
        let tcp = TcpProtocolProperties {
            send_buffer_size: 4_096,
            recv_buffer_size: 8_192,
            keep_alive: false,
            dont_route: true,
            no_delay: false,
        };
        let unix = UnixDomainProtocolProperties {
            send_buffer_size: 4_096,
            recv_buffer_size: 0,
        };
        for protocol in [
            Protocol::IIOP.tcp_properties(tcp),
            Protocol::IIOP.tcp_properties(TcpProtocolProperties::default()),
            Protocol::UIOP.unix_domain_properties(unix),
            Protocol::UIOP,
        ] {
            assert!(protocol.is_known(&transports), "{protocol:?}");
            let stated = protocol.to_stated(&transports).unwrap();
            let read = Protocol::from_stated(&stated, &transports);
            assert_eq!(read, Some(protocol));
        }
        let stated = Protocol::IIOP.tcp_properties(tcp).to_stated(&transports);
        let properties = stated.map(|stated| stated.properties);
        assert_eq!(properties, Some(TransportProperties::Tcp(tcp)));
    }

    #[test]
    fn a_property_that_is_given_twice_has_its_last_value() {
        let protocol = Protocol::IIOP
            .property("dscp", "1")
            .property("nodelay", "0");
        let protocol = protocol.property("dscp", "2");
        let properties: Vec<_> = protocol.properties().collect();
        assert_eq!(properties, [("nodelay", "0"), ("dscp", "2")]);
    }

    #[test]
    fn a_peer_s_sizes_that_are_none_are_the_system_s() {
        let negative = TcpProtocolProperties {
            send_buffer_size: -1,
            recv_buffer_size: i32::MIN,
            ..TcpProtocolProperties::default()
        };
        let protocol = Protocol::IIOP.tcp_properties(negative);
        let mut names = protocol.properties().map(|(name, _)| name);
        assert!(names.all(|name| name != "send_buffer" && name != "receive_buffer"));
    }
}
