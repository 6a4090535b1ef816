//! What a transport needs to protect its connections: certificates, keys, authorities, and limits.

use crate::address::ClientCertificates;
use rustls::{ClientConfig, ServerConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zorb_transport::{Property, PropertyError};

/// Time of a handshake, unless set. omniORB and TAO give as much.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Handshakes under way at one endpoint, unless set. Each may hold a message of 64 KiB.
pub(crate) const MAX_HANDSHAKES: usize = 1_024;

/// Options of [`Tls`](crate::Tls): certificates in PEM files or as configurations of rustls, and limits of handshakes.
///
/// - To connect: [`trust`](Self::trust), and a [`certificate`](Self::certificate) where servers ask for one.
/// - To listen: a [`certificate`](Self::certificate), and [`client_certificates`](Self::client_certificates) with
///   [`trust`](Self::trust) where clients have to prove who they are.
///
/// TLS 1.2 and 1.3 are spoken. Sessions are resumed, of which each end keeps a bounded number.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) trust: Option<PathBuf>,
    pub(crate) client_certificates: ClientCertificates,
    pub(crate) accepts_any_server_name: bool,
    pub(crate) server: Option<Arc<ServerConfig>>,
    pub(crate) client: Option<Arc<ClientConfig>>,
    pub(crate) handshake_timeout: Duration,
    pub(crate) max_handshakes: usize,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            certificate: None,
            key: None,
            trust: None,
            client_certificates: ClientCertificates::None,
            accepts_any_server_name: false,
            server: None,
            client: None,
            handshake_timeout: HANDSHAKE_TIMEOUT,
            max_handshakes: MAX_HANDSHAKES,
        }
    }
}

impl TlsOptions {
    /// Sets the files of this end's certificate chain, its own certificate first, and of its private key, both in PEM. They
    /// may be one file. The key must not be encrypted.
    #[must_use]
    pub fn certificate(self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self {
            certificate: Some(chain.into()),
            key: Some(key.into()),
            ..self
        }
    }

    /// Sets the file of trusted authorities' certificates, in PEM: those of servers, and of clients where they are asked for
    /// certificates. No other authority is trusted, neither those of the operating system.
    #[must_use]
    pub fn trust(self, authorities: impl Into<PathBuf>) -> Self {
        Self {
            trust: Some(authorities.into()),
            ..self
        }
    }

    /// Sets whether clients have to prove who they are; not asked unless set.
    #[must_use]
    pub fn client_certificates(self, wanted: ClientCertificates) -> Self {
        Self {
            client_certificates: wanted,
            ..self
        }
    }

    /// Accepts servers whose certificate is for another host, as long as a trusted authority has issued it. Then everybody
    /// who has *any* certificate of these authorities can stand in for every server. It is for authorities that issue
    /// certificates to the servers of one system alone, which may have none with host names in them.
    #[must_use]
    pub fn accept_servers_whose_certificate_is_for_another_host(self) -> Self {
        Self {
            accepts_any_server_name: true,
            ..self
        }
    }

    /// Sets a configuration of rustls to listen with, in place of files. What it requires of clients is what
    /// [`client_certificates`](Self::client_certificates) has to say as well, since references state that.
    #[must_use]
    pub fn server_config(self, config: Arc<ServerConfig>) -> Self {
        Self {
            server: Some(config),
            ..self
        }
    }

    /// Sets a configuration of rustls to connect with, in place of files.
    #[must_use]
    pub fn client_config(self, config: Arc<ClientConfig>) -> Self {
        Self {
            client: Some(config),
            ..self
        }
    }

    /// Sets the time that a handshake may take; 10 s unless set.
    #[must_use]
    pub fn handshake_timeout(self, limit: Duration) -> Self {
        Self {
            handshake_timeout: limit,
            ..self
        }
    }

    /// Sets the number of handshakes that may be under way at one endpoint; 1,024 unless set. For another one, that which has
    /// lasted longest is ended, of the host that has most of them.
    #[must_use]
    pub fn max_handshakes(self, count: usize) -> Self {
        Self {
            max_handshakes: count.max(1),
            ..self
        }
    }

    /// Whether there is something to connect with.
    pub(crate) fn can_connect(&self) -> bool {
        self.client.is_some() || self.trust.is_some()
    }

    /// Whether there is something to listen with.
    pub(crate) fn can_listen(&self) -> bool {
        self.server.is_some() || self.certificate.is_some()
    }

    /// The files, without those that are not needed.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let all = [&self.certificate, &self.key, &self.trust];
        all.into_iter().filter_map(|file| file.as_deref())
    }

    /// Sets a property by its text.
    pub(crate) fn set(self, name: &str, value: &str) -> Result<Self, PropertyError> {
        let Some(property) = PROPERTIES.iter().find(|property| property.name == name) else {
            return Err(PropertyError::unknown(name, value, &PROPERTIES));
        };
        let wrong = || PropertyError::value(*property, value);
        let path = || {
            let path = PathBuf::from(value);
            path.is_file().then_some(path).ok_or_else(wrong)
        };
        let count = || {
            value
                .parse()
                .ok()
                .filter(|count| *count > 0)
                .ok_or_else(wrong)
        };
        Ok(match name {
            "certificate" => Self {
                certificate: Some(path()?),
                ..self
            },
            "key" => Self {
                key: Some(path()?),
                ..self
            },
            "trust" => self.trust(path()?),
            "client_certificates" => self.client_certificates(match value {
                "none" => ClientCertificates::None,
                "optional" => ClientCertificates::Optional,
                "required" => ClientCertificates::Required,
                _ => return Err(wrong()),
            }),
            "accept_servers_whose_certificate_is_for_another_host" => Self {
                accepts_any_server_name: match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(wrong()),
                },
                ..self
            },
            "handshake_timeout" => self.handshake_timeout(Duration::from_secs(count()?)),
            _ => {
                let count = usize::try_from(count()?).map_err(|_| wrong())?;
                self.max_handshakes(count)
            }
        })
    }
}

/// The names of the properties in text, with their values.
pub(crate) const PROPERTIES: [Property; 7] = [
    Property {
        name: "certificate",
        values: "a file in PEM, this end's certificate first",
        default: "none",
    },
    Property {
        name: "key",
        values: "a file in PEM",
        default: "the file of the certificate",
    },
    Property {
        name: "trust",
        values: "a file in PEM with the certificates of authorities",
        default: "none",
    },
    Property {
        name: "client_certificates",
        values: "none, optional or required",
        default: "none",
    },
    Property {
        name: "accept_servers_whose_certificate_is_for_another_host",
        values: "0 or 1",
        default: "0",
    },
    Property {
        name: "handshake_timeout",
        values: "seconds",
        default: "10",
    },
    Property {
        name: "max_handshakes",
        values: "a number from 1 on",
        default: "1024",
    },
];
