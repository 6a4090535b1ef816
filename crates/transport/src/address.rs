//! The address of one end of an open connection.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

/// One end of a connection as the operating system names it, for messages, traces and origin checks.
///
/// An [`Endpoint`](crate::Endpoint) is what the caller asked for, and may be a host name; an address is the resolved
/// end of an open connection, and may have no name at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Address {
    /// An internet address and port: `iiop://127.0.0.1:4711`.
    Inet(SocketAddr),
    /// A UNIX socket. The socket of a client is rarely bound, and then it has no path: `uiop://(unnamed)`.
    Unix(Option<PathBuf>),
    /// An end of another transport, or of an abstract UNIX socket.
    Other {
        /// The name of the end, with the scheme: `atm://0.0.42`.
        name: Box<str>,
        /// The host of the end.
        host: HostId,
    },
}

/// The host of an end: limits of a server count the connections from one host together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostId {
    /// A host of an internet, by its address.
    Inet(IpAddr),
    /// This host.
    Local,
    /// A host of another network, by a name that no host of another transport has, such as `atm 0.0.42`.
    Named(Box<str>),
    /// A host that the transport cannot identify.
    Unknown,
}

impl Address {
    /// Returns the host of the end.
    #[must_use]
    pub fn host(&self) -> HostId {
        match self {
            Self::Inet(address) => HostId::Inet(address.ip()),
            Self::Unix(_) => HostId::Local,
            Self::Other { host, .. } => host.clone(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inet(address) => write!(f, "iiop://{address}"),
            Self::Unix(Some(path)) => write!(f, "uiop://{}", path.display()),
            Self::Unix(None) => f.write_str("uiop://(unnamed)"),
            Self::Other { name, .. } => f.write_str(name),
        }
    }
}

/// Who the other end of a connection is, as far as its transport knows. A transport reports what it can prove or has
/// been told; each part says which.
///
/// ```
/// # mod zorb { pub extern crate zorb_transport as transport; }
/// use zorb::transport::{PeerIdentity, ProcessCredentials};
///
/// let credentials = ProcessCredentials { user: 1000, group: 1000, process: None };
/// let identity = PeerIdentity::default().with_process(credentials);
/// assert_eq!(identity.process().map(|process| process.user), Some(1000));
/// assert!(identity.certificate().is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PeerIdentity {
    process: Option<ProcessCredentials>,
    certificate: Option<Arc<PeerCertificate>>,
    principal: Option<Principal>,
}

impl PeerIdentity {
    /// Returns the identity with the credentials of a process, by the operating system's word.
    #[must_use]
    pub fn with_process(self, process: ProcessCredentials) -> Self {
        Self {
            process: Some(process),
            ..self
        }
    }

    /// Returns the identity with the certificate that the peer has presented.
    #[must_use]
    pub fn with_certificate(self, certificate: impl Into<Arc<PeerCertificate>>) -> Self {
        Self {
            certificate: Some(certificate.into()),
            ..self
        }
    }

    /// Returns the identity with the principal in whose name the peer has logged in.
    #[must_use]
    pub fn with_principal(self, principal: Principal) -> Self {
        Self {
            principal: Some(principal),
            ..self
        }
    }

    /// Returns the principal in whose name the peer has logged in, above the transport; `None` if it has not. It belongs to one
    /// request where a client sends requests in the name of several.
    #[must_use]
    pub const fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    /// Returns the process at the other end; `None` where the operating system does not report it.
    #[must_use]
    pub const fn process(&self) -> Option<ProcessCredentials> {
        self.process
    }

    /// Returns the certificate of the peer; `None` if it has presented none, or the transport has no certificates.
    #[must_use]
    pub fn certificate(&self) -> Option<&PeerCertificate> {
        self.certificate.as_deref()
    }
}

/// In whose name a request is, by a login above the transport (CSIv2): the application has verified it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Principal {
    /// The name that the application's verifier has given it.
    pub name: String,
    /// Whether the client is another one, and has been trusted to act for this principal.
    pub is_asserted: bool,
}

impl Principal {
    /// Makes a principal with this name, which the client has proved to have.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let (name, is_asserted) = (name.into(), false);
        Self { name, is_asserted }
    }
}

/// The process at the other end at the time when it connected or began to listen.
///
/// The ids are those of the operating system, in the namespaces of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the credentials that the system reports"
)]
pub struct ProcessCredentials {
    /// The effective user id (`SO_PEERCRED`: `uid`), as this user namespace has it.
    pub user: u32,
    /// The effective group id (`SO_PEERCRED`: `gid`). Supplementary groups are not reported.
    pub group: u32,
    /// The process id; `None` for a process in a PID namespace that this process cannot see. The system may give the id to
    /// another process after the peer has ended, so an authorization must not depend on it.
    pub process: Option<u32>,
}

/// The X.509 certificate of a peer, whose key the peer has proved to have.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PeerCertificate {
    /// The subject, as text: `CN=alice,O=Example` (RFC 4514). Empty for an empty subject.
    pub subject: String,
    /// The alternative names of the subject, in the order of the certificate.
    pub names: Vec<SubjectName>,
    /// Whether a trusted authority has issued the certificate: its chain leads to a configured one and was valid when
    /// the connection was made. Nothing in a certificate that is not verified may be relied upon.
    pub is_verified: bool,
    /// The certificates that the peer has sent, in DER, its own first.
    pub chain: Vec<Vec<u8>>,
}

impl fmt::Debug for PeerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nobody reads DER.
        let octets: Vec<usize> = self.chain.iter().map(Vec::len).collect();
        f.debug_struct("PeerCertificate")
            .field("subject", &self.subject)
            .field("names", &self.names)
            .field("is_verified", &self.is_verified)
            .field("octets_of_chain", &octets)
            .finish()
    }
}

impl PeerCertificate {
    /// Makes a certificate of these parts; `chain` has the certificates in DER, that of the peer first.
    #[must_use]
    pub const fn new(
        subject: String,
        names: Vec<SubjectName>,
        is_verified: bool,
        chain: Vec<Vec<u8>>,
    ) -> Self {
        Self {
            subject,
            names,
            is_verified,
            chain,
        }
    }
}

/// An alternative name of the subject of a certificate. Names of further kinds are not reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SubjectName {
    /// A host name, which may begin with `*.`.
    Dns(String),
    /// An address of an internet.
    Ip(IpAddr),
    /// A mail address.
    Email(String),
    /// A URI.
    Uri(String),
}

impl fmt::Display for SubjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) => write!(f, "DNS:{name}"),
            Self::Ip(address) => write!(f, "IP:{address}"),
            Self::Email(address) => write!(f, "email:{address}"),
            Self::Uri(uri) => write!(f, "URI:{uri}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_like_an_endpoint() {
        let check = |address: Address, expected: &str| assert_eq!(address.to_string(), expected);
        check(
            Address::Inet(([127, 0, 0, 1], 4711).into()),
            "iiop://127.0.0.1:4711",
        );
        check(
            Address::Inet((std::net::Ipv6Addr::LOCALHOST, 80).into()),
            "iiop://[::1]:80",
        );
        check(Address::Unix(Some("/tmp/bank".into())), "uiop:///tmp/bank");
        check(Address::Unix(None), "uiop://(unnamed)");
        let other = Address::Other {
            name: "atm://0.0.42".into(),
            host: HostId::Unknown,
        };
        check(other, "atm://0.0.42");
    }
}
