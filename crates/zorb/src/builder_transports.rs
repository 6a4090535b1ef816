//! Transports, the platform component of references, and the secret of authenticated keys.

use crate::builder::{Builder, Settings};
use bytes::Bytes;
use std::sync::Arc;
use zorb_giop::ior::TaggedComponent;
use zorb_giop::platform::Platform;
use zorb_poa::KeySecret;
use zorb_transport::Transport;

impl Builder {
    /// Adds a transport, or replaces the one for its scheme: from then on the ORB listens to its endpoints, reads and writes
    /// its profiles, and understands its addresses in object URLs. TCP and UNIX sockets are there already, and are
    /// transports like any other: [`zorb::transport`](crate::transport) says what one has to do.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.settings.transports.insert(transport);
        self
    }

    /// Sets a property of a transport: `iiop.dscp=46`, scheme, name and value. May be repeated. Which there are is in
    /// [the page on protocols](https://github.com/zorb-rs/zorb/blob/main/docs/protocols.md); what they mean is said at
    /// [`TcpOptions`](crate::transport::TcpOptions) and [`UnixOptions`](crate::transport::UnixOptions), whose values a
    /// [`transport`](Self::transport) may be made with too.
    #[doc(alias = "-ORBTransportProperty")]
    pub fn transport_property(mut self, property: impl Into<String>) -> Self {
        let text = self.text("transport_property", property);
        self.transport_properties.push(text);
        self
    }

    /// Has references say on which platform the server runs, in a component of about 60 octets: byte order, ABI, host and the version of
    /// what peers of one platform may agree on ([`Platform`](zorb_giop::platform::Platform)). Off unless set: nothing
    /// reads it yet but tools, and it reveals the machine to strangers.
    pub fn publish_platform(mut self, publish: bool) -> Self {
        self.settings.publish_platform = publish;
        self
    }

    /// Has references of a server that listens on UNIX sockets alone have no IIOP profile. Off unless set: omniORB finds such
    /// sockets only in a component of IIOP profiles, so references have one for it, whose port is 0. An ORB that knows no
    /// UNIX sockets connects to that port in vain. omniORB's clients no longer reach such a server; with a TCP endpoint beside
    /// the sockets nothing changes.
    pub fn publish_only_reachable(mut self, only: bool) -> Self {
        self.settings.publish.only_reachable = only;
        self
    }

    /// The secret that codes in keys are made with ([`KeyProtection::Authenticated`](crate::KeyProtection)): any octets, 128 bits of
    /// them that cannot be guessed at least. Persistent references stay valid as long as the server has the same secret; without
    /// one only transient ones can have codes, by a secret of this life's.
    pub fn key_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.settings.key_secret = Some(KeySecret::from_application(secret.as_ref()));
        self
    }
}

impl Settings {
    /// The platform component of references, if any.
    pub(crate) fn platform_component(&self) -> Option<TaggedComponent> {
        // No name of a platform is too long, so this does not fail.
        let component = self
            .publish_platform
            .then(|| Platform::of_this_process(host_identity()).to_component());
        component?.ok()
    }
}

/// The digits that Linux draws when it starts; none elsewhere.
fn host_identity() -> Bytes {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = boot.chars().filter(char::is_ascii_hexdigit).collect();
    digits.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_host_has_the_same_identity_whenever_it_is_asked_for_and_a_short_one() {
        let host = host_identity();
        assert_eq!(host, host_identity());
        assert!(!host.is_empty() && host.len() <= Platform::MAX_HOST_OCTETS);
    }
}
