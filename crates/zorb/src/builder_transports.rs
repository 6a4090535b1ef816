//! Builder methods for transports, published components, and the secret of authenticated keys.

use crate::builder::Builder;
use crate::orb_settings::Settings;
use bytes::Bytes;
use std::sync::Arc;
use zorb_giop::ior::TaggedComponent;
use zorb_giop::platform::Platform;
use zorb_poa::KeySecret;
use zorb_transport::Transport;

impl Builder {
    /// Adds a transport, or replaces the one for its scheme. The ORB can then listen to its endpoints, read and write
    /// its profiles, and read its addresses in object URLs. TCP and UNIX sockets are registered already, and are
    /// transports like any other: [`zorb::transport`](crate::transport) describes what a transport has to implement. With the
    /// feature `tls`, so is TLS (`zorb::tls::Tls`), for which certificates have to be set: by its properties
    /// (`ssliop.certificate=FILE`), or by a value that this method registers in its place.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.settings.transports.insert(transport);
        self
    }

    /// Sets a property of a transport by scheme, name and value: `iiop.dscp=46`. May be repeated. [The page on
    /// protocols](https://github.com/zorb-rs/zorb/blob/main/docs/protocols.md) lists them;
    /// [`TcpOptions`](crate::transport::TcpOptions) and [`UnixOptions`](crate::transport::UnixOptions) document them. A
    /// [`transport`](Self::transport) may be made with such options, too.
    #[doc(alias = "-ORBTransportProperty")]
    pub fn transport_property(mut self, property: impl Into<String>) -> Self {
        let text = self.text("transport_property", property);
        self.transport_properties.push(text);
        self
    }

    /// Sets whether references state the server's platform, in a component of about 60 octets: byte order, ABI, host and the
    /// version of the agreement between peers of one platform ([`Platform`]). Off unless
    /// set: only tools read it yet, and it reveals the machine to strangers.
    pub fn publish_platform(mut self, publish: bool) -> Self {
        self.settings.publish_platform = publish;
        self
    }

    /// Sets whether references of a server that listens on UNIX sockets alone have no IIOP profile. Off unless set: omniORB
    /// finds such sockets only in a component of IIOP profiles, so references have an IIOP profile with port 0 for it.
    /// An ORB without UNIX sockets tries that port and fails. When set, omniORB's clients cannot reach such a server.
    /// It has no effect with a TCP endpoint beside the sockets.
    pub fn publish_only_reachable(mut self, only: bool) -> Self {
        self.settings.publish.only_reachable = only;
        self
    }

    /// Sets the secret of the authentication codes in object keys ([`KeyProtection::Authenticated`](crate::KeyProtection)):
    /// any octets, with at least 128 bits of entropy. Persistent references stay valid as long as the server has the
    /// same secret. Without a secret, only transient references can have codes, with a random secret of this run of
    /// the server.
    pub fn key_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.settings.key_secret = Some(KeySecret::from_application(secret.as_ref()));
        self
    }
}

impl Settings {
    /// The platform component of references, if any.
    pub(crate) fn platform_component(&self) -> Option<TaggedComponent> {
        // Names of a platform are cut to their limits, so encoding does not fail.
        let component = self
            .publish_platform
            .then(|| Platform::of_this_process(host_identity()).to_component());
        component?.ok()
    }
}

/// The boot id of Linux, which is random for each start of the host; empty on other systems.
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
