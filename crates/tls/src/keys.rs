//! Keys and certificates: read from their files, and read again when the files have changed.

use crate::address::ClientCertificates;
use crate::options::TlsOptions;
use crate::verifier::AnyName;
use arc_swap::ArcSwapOption;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Sessions that an end keeps so that they can be resumed: those of a server's clients, and servers of a client.
pub(crate) const MAX_SESSIONS: usize = 1_024;

/// How often the files are looked at, when handshakes begin.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The error of certificates and keys that cannot be used: the file, and what is wrong with it.
#[derive(Debug)]
pub struct TlsError {
    file: Option<PathBuf>,
    why: String,
}

impl TlsError {
    fn of(file: &Path, why: impl fmt::Display) -> Self {
        Self {
            file: Some(file.to_owned()),
            why: why.to_string(),
        }
    }

    fn other(why: impl fmt::Display) -> Self {
        Self {
            file: None,
            why: why.to_string(),
        }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        f.write_str(&self.why)
    }
}

impl std::error::Error for TlsError {}

impl From<TlsError> for io::Error {
    fn from(error: TlsError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

/// The configurations of the two roles, made of the options.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) options: TlsOptions,
    client: ArcSwapOption<ClientConfig>,
    server: ArcSwapOption<ServerConfig>,
    files: Mutex<Files>,
}

/// What the files were like when they were read.
#[derive(Debug, Default)]
struct Files {
    looked: Option<Instant>,
    read: Vec<Option<FileState>>,
}

/// What changes with the contents of a file.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    octets: u64,
    modified: (i64, i64),
}

impl Keys {
    pub(crate) fn new(options: TlsOptions) -> Self {
        Self {
            options,
            client: ArcSwapOption::empty(),
            server: ArcSwapOption::empty(),
            files: Mutex::default(),
        }
    }

    /// The configuration to connect with.
    pub(crate) fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        if let Some(config) = &self.options.client {
            return Ok(Arc::clone(config));
        }
        self.look();
        match self.client.load_full() {
            Some(config) => Ok(config),
            None => {
                self.reload()?;
                let none = "no trusted authorities: TlsOptions::trust, or -ORBTransportProperty ssliop.trust=FILE";
                self.client.load_full().ok_or_else(|| TlsError::other(none))
            }
        }
    }

    /// The configuration to listen with.
    pub(crate) fn server(&self) -> Result<Arc<ServerConfig>, TlsError> {
        if let Some(config) = &self.options.server {
            return Ok(Arc::clone(config));
        }
        self.look();
        match self.server.load_full() {
            Some(config) => Ok(config),
            None => {
                self.reload()?;
                let none = "no certificate: TlsOptions::certificate, or -ORBTransportProperty ssliop.certificate=FILE";
                self.server.load_full().ok_or_else(|| TlsError::other(none))
            }
        }
    }

    /// Reads the files again, and uses what they have for connections from now on. If they cannot be used, what was read
    /// before stays in use.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let mut files = self.files();
        self.read(&mut files)
    }

    fn read(&self, files: &mut Files) -> Result<(), TlsError> {
        // The state before reading: a file that changes meanwhile is read again.
        let state = self.options.files().map(state).collect();
        let provider = provider();
        let own = self.own_certificate()?;
        let roots = match &self.options.trust {
            Some(file) => Some(Arc::new(authorities(file)?)),
            None => None,
        };
        let client = match &roots {
            Some(roots) => {
                let config = self.client_config(&provider, roots, own.as_ref());
                Some(Arc::new(config?))
            }
            None => None,
        };
        let server = match own {
            Some(own) => {
                let config = self.server_config(&provider, roots, own);
                Some(Arc::new(config?))
            }
            None => None,
        };
        self.client.store(client);
        self.server.store(server);
        files.read = state;
        files.looked = Some(Instant::now());
        Ok(())
    }

    /// Reads the files again if they have changed. It looks at them once in a second at most.
    fn look(&self) {
        let mut files = self.files();
        let now = Instant::now();
        let Some(looked) = files.looked else { return };
        if now.saturating_duration_since(looked) < LOOK_EVERY {
            return;
        }
        files.looked = Some(now);
        let state: Vec<_> = self.options.files().map(state).collect();
        if state == files.read {
            return;
        }
        match self.read(&mut files) {
            Ok(()) => tracing::info!("read the changed files of TLS"),
            // A certificate and its key change one after the other.
            Err(error) => {
                tracing::warn!(%error, "the files of TLS have changed and cannot be used")
            }
        }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own_certificate(&self) -> Result<Option<OwnCertificate>, TlsError> {
        let Some(file) = &self.options.certificate else {
            return Ok(None);
        };
        let chain = certificates(file)?;
        let key_file = self.options.key.as_ref().unwrap_or(file);
        let key = PrivateKeyDer::from_pem_slice(&contents(key_file)?)
            .map_err(|_| TlsError::of(key_file, "expected a private key in PEM, not encrypted"))?;
        Ok(Some(OwnCertificate {
            chain,
            key,
            file: file.clone(),
        }))
    }

    fn client_config(
        &self,
        provider: &Arc<CryptoProvider>,
        roots: &Arc<RootCertStore>,
        own: Option<&OwnCertificate>,
    ) -> Result<ClientConfig, TlsError> {
        let builder = ClientConfig::builder_with_provider(Arc::clone(provider))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::other)?;
        let builder = match self.options.accepts_any_server_name {
            true => {
                let verifier = AnyName::new(Arc::clone(roots), provider);
                (builder.dangerous()).with_custom_certificate_verifier(Arc::new(verifier))
            }
            false => {
                let verifier = WebPkiServerVerifier::builder_with_provider(
                    Arc::clone(roots),
                    Arc::clone(provider),
                );
                builder.with_webpki_verifier(verifier.build().map_err(TlsError::other)?)
            }
        };
        let mut config = match own {
            Some(own) => builder
                .with_client_auth_cert(own.chain.clone(), own.key.clone_key())
                .map_err(|error| TlsError::of(&own.file, error))?,
            None => builder.with_no_client_auth(),
        };
        config.resumption = Resumption::in_memory_sessions(MAX_SESSIONS);
        Ok(config)
    }

    fn server_config(
        &self,
        provider: &Arc<CryptoProvider>,
        roots: Option<Arc<RootCertStore>>,
        own: OwnCertificate,
    ) -> Result<ServerConfig, TlsError> {
        let builder = ServerConfig::builder_with_provider(Arc::clone(provider))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::other)?;
        let wanted = self.options.client_certificates;
        let builder = match wanted {
            ClientCertificates::None => builder.with_no_client_auth(),
            ClientCertificates::Optional | ClientCertificates::Required => {
                let none = "clients are asked for certificates, and no authority is trusted: TlsOptions::trust, or -ORBTransportProperty ssliop.trust=FILE";
                let roots = roots.ok_or_else(|| TlsError::other(none))?;
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
                let verifier = match wanted {
                    ClientCertificates::Optional => verifier.allow_unauthenticated(),
                    _ => verifier,
                };
                builder.with_client_cert_verifier(verifier.build().map_err(TlsError::other)?)
            }
        };
        let mut config = builder
            .with_single_cert(own.chain, own.key)
            .map_err(|error| TlsError::of(&own.file, error))?;
        config.session_storage = ServerSessionMemoryCache::new(MAX_SESSIONS);
        // Each ticket is another message, and a client needs one for its next connection.
        config.send_tls13_tickets = 1;
        Ok(config)
    }
}

struct OwnCertificate {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    file: PathBuf,
}

fn state(file: &Path) -> Option<FileState> {
    let of = fs::metadata(file).ok()?;
    Some(FileState {
        device: of.dev(),
        inode: of.ino(),
        octets: of.len(),
        modified: (of.mtime(), of.mtime_nsec()),
    })
}

fn contents(file: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(file).map_err(|error| TlsError::of(file, error))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let none = || TlsError::of(file, "expected certificates in PEM");
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&contents(file)?).collect();
    let all = all.map_err(|_| none())?;
    match all.is_empty() {
        true => Err(none()),
        false => Ok(all),
    }
}

fn authorities(file: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        (roots.add(certificate)).map_err(|error| TlsError::of(file, error))?;
    }
    Ok(roots)
}

/// The cryptography of this build.
fn provider() -> Arc<CryptoProvider> {
    #[cfg(feature = "aws-lc-rs")]
    return Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    #[cfg(not(feature = "aws-lc-rs"))]
    return Arc::new(rustls::crypto::ring::default_provider());
}
