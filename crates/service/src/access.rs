//! How a program gets into an engine: TLS, and who it is.

use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{Event, ServerError};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// The variables of the environment with secrets that no file has.
const PASSWORD: &str = "ZORB_ENGINE_PASSWORD";
const TOKEN: &str = "ZORB_ENGINE_TOKEN";

/// A secret, which `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret of this text, without the white space at its ends.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Who a program is for an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credentials {
    /// A user with a password.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A token of NATS.
    Token(Secret),
    /// The text of a file of NATS with a user's JWT and key (`.creds`).
    Creds(Secret),
    /// The seed of a key of NATS (`SU…`).
    Nkey(Secret),
}

/// How a program gets into an engine. By default without TLS and as nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// The certificates, in PEM, of the authorities that sign the servers'. With it connections are of TLS, and no others are made.
    pub authorities: Option<PathBuf>,
    /// A certificate, with those of its intermediate authorities, and its key, in PEM.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Who the program is.
    pub credentials: Option<Credentials>,
}

/// Why an engine cannot be used by some [`Access`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// A file cannot be read, or has not what it should have.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The certificate and its key do not go together, or one of them is of no use for TLS.
    #[error("the certificate or a certificate of an authority cannot be used")]
    Certificate(#[source] rustls::Error),
    /// Credentials of another engine, or two kinds of them.
    #[error("{0}")]
    Credentials(&'static str),
    /// A server that answers lets the program not in.
    #[error("{server} refuses the connection")]
    Refused {
        /// The server.
        server: String,
        /// Why.
        source: Arc<dyn core::error::Error + Send + Sync>,
    },
    /// A server lets the program in, and its account or user use no JetStream.
    #[error("{server} does not let the program use JetStream")]
    JetStream {
        /// The server.
        server: String,
        /// Why.
        source: Arc<dyn core::error::Error + Send + Sync>,
    },
}

impl AccessError {
    /// How a program ends by it.
    #[must_use]
    pub const fn exit_status(&self) -> crate::ExitStatus {
        match self {
            Self::Refused { .. } | Self::JetStream { .. } => crate::ExitStatus::Failed,
            _ => crate::ExitStatus::WrongUsage,
        }
    }
}

/// Options of a program that uses an engine.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AccessOptions {
    /// Use TLS with the engine, whose servers have certificates of the authorities in a file (PEM)
    #[arg(long, value_name = "FILE")]
    engine_ca: Option<PathBuf>,
    /// The program's certificate for TLS (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["engine_key", "engine_ca"])]
    engine_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "engine_cert")]
    engine_key: Option<PathBuf>,
    /// The user; the password is in a file or in ZORB_ENGINE_PASSWORD
    #[arg(long, value_name = "NAME")]
    engine_user: Option<String>,
    /// A file with the user's password
    #[arg(long, value_name = "FILE", requires = "engine_user")]
    engine_password_file: Option<PathBuf>,
    /// A file with a token of NATS, which may be in ZORB_ENGINE_TOKEN, too
    #[arg(long, value_name = "FILE")]
    engine_token_file: Option<PathBuf>,
    /// A file of NATS with a user's JWT and key (.creds)
    #[arg(long, value_name = "FILE")]
    engine_creds: Option<PathBuf>,
    /// A file with the seed of a key of NATS (SU…)
    #[arg(long, value_name = "FILE")]
    engine_nkey_file: Option<PathBuf>,
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> AccessError + '_ {
    |source| AccessError::File {
        path: path.to_owned(),
        source,
    }
}

fn secret_of(path: &Path) -> Result<Secret, AccessError> {
    let text = std::fs::read_to_string(path).map_err(file_error(path))?;
    Ok(Secret::new(&text))
}

fn secret_of_variable(name: &str) -> Option<Secret> {
    let text = std::env::var(name).ok()?;
    Some(Secret::new(&text))
}

impl AccessOptions {
    /// Reads the files, and the secrets of the environment.
    ///
    /// # Errors
    /// A file cannot be read, or the credentials are of several kinds.
    pub fn read(&self) -> Result<Access, AccessError> {
        let mut all = Vec::new();
        if let Some(user) = &self.engine_user {
            let password = match &self.engine_password_file {
                Some(file) => secret_of(file)?,
                None => secret_of_variable(PASSWORD).ok_or(AccessError::Credentials(
                    "--engine-user needs --engine-password-file or ZORB_ENGINE_PASSWORD",
                ))?,
            };
            let user = user.clone();
            all.push(Credentials::Password { user, password });
        }
        match &self.engine_token_file {
            Some(file) => all.push(Credentials::Token(secret_of(file)?)),
            None => all.extend(secret_of_variable(TOKEN).map(Credentials::Token)),
        }
        if let Some(file) = &self.engine_creds {
            all.push(Credentials::Creds(secret_of(file)?));
        }
        if let Some(file) = &self.engine_nkey_file {
            all.push(Credentials::Nkey(secret_of(file)?));
        }
        if all.len() > 1 {
            return Err(AccessError::Credentials(
                "only one of user, token, creds and nkey can be used",
            ));
        }
        Ok(Access {
            authorities: self.engine_ca.clone(),
            certificate: self.engine_cert.clone().zip(self.engine_key.clone()),
            credentials: all.pop(),
        })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, AccessError> {
    let file = file_error(path);
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    match read.map_err(io::Error::other) {
        Ok(all) => {
            let all: Vec<_> = all;
            match all.is_empty() {
                true => Err(file(io::Error::other("it has no certificate"))),
                false => Ok(all),
            }
        }
        Err(error) => Err(file(error)),
    }
}

impl Access {
    /// The configuration of TLS; `None` if the connections have none.
    ///
    /// # Errors
    /// A file cannot be read, or has no certificate or key.
    pub fn tls(&self) -> Result<Option<Arc<ClientConfig>>, AccessError> {
        let Some(file) = &self.authorities else {
            return Ok(None);
        };
        let mut roots = RootCertStore::empty();
        for certificate in certificates(file)? {
            roots.add(certificate).map_err(AccessError::Certificate)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(AccessError::Certificate)?
            .with_root_certificates(roots);
        let config = match &self.certificate {
            Some((chain, key)) => {
                let chain = certificates(chain)?;
                let read = PrivateKeyDer::from_pem_file(key).map_err(io::Error::other);
                let key = read.map_err(file_error(key))?;
                let built = builder.with_client_auth_cert(chain, key);
                built.map_err(AccessError::Certificate)?
            }
            None => builder.with_no_client_auth(),
        };
        Ok(Some(Arc::new(config)))
    }

    /// Options of a connection to NATS with what this says. What goes wrong with it later is logged, once until it works again.
    ///
    /// # Errors
    /// A file cannot be used, or the credentials are malformed.
    pub fn nats(
        &self,
        mut options: async_nats::ConnectOptions,
    ) -> Result<async_nats::ConnectOptions, AccessError> {
        // So that an error is of its file.
        self.tls()?;
        if let Some(file) = &self.authorities {
            options = options
                .add_root_certificates(file.clone())
                .require_tls(true);
        }
        if let Some((certificate, key)) = &self.certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        let options = options.event_callback(log_events());
        Ok(match &self.credentials {
            None => options,
            Some(Credentials::Password { user, password }) => {
                options.user_and_password(user.clone(), password.reveal().to_owned())
            }
            Some(Credentials::Token(token)) => options.token(token.reveal().to_owned()),
            Some(Credentials::Nkey(seed)) => options.nkey(seed.reveal().to_owned()),
            // The client wants whole lines.
            Some(Credentials::Creds(text)) => options
                .credentials(&format!("{}\n", text.reveal()))
                .map_err(|_| AccessError::Credentials("the file of --engine-creds is malformed"))?,
        })
    }

    /// Looks whether a server of NATS, `HOST:PORT`, lets the program in, and ask for a stream of JetStream, which need not be
    /// there. One that does not answer may be away for now, and is no error.
    ///
    /// # Errors
    /// The server refuses the credentials, or TLS has failed; JetStream is not for the account, or the question not for the
    /// user; see [`nats`](Self::nats) for others.
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn ask_nats(
        &self,
        server: &str,
        within: core::time::Duration,
        stream: &str,
    ) -> Result<(), AccessError> {
        let (sender, mut said) = mpsc::unbounded_channel();
        let options = self
            .nats(async_nats::ConnectOptions::new().connection_timeout(within))?
            .event_callback(move |event| {
                if let Event::ServerError(error) = event
                    && is_of_permissions(&error)
                {
                    // Else nobody asks any more.
                    let _ = sender.send(error);
                }
                core::future::ready(())
            });
        let client = match options.connect(format!("nats://{server}")).await {
            Ok(client) => client,
            Err(error) if is_refusal(&error) => {
                return Err(AccessError::Refused {
                    server: server.to_owned(),
                    source: Arc::new(error),
                });
            }
            Err(_) => return Ok(()),
        };
        let mut context = jetstream::new(client);
        context.set_timeout(within);
        let asked = context.get_stream(stream);
        let why: Arc<dyn core::error::Error + Send + Sync> = tokio::select! {
            found = asked => match found.map_err(|error| error.kind()) {
                Err(GetStreamErrorKind::JetStream(why)) if is_disabled(why.error_code()) => {
                    Arc::new(why)
                }
                _ => return Ok(()),
            },
            // It does not answer what the user may not ask.
            Some(why) = said.recv() => Arc::new(why),
        };
        Err(AccessError::JetStream {
            server: server.to_owned(),
            source: why,
        })
    }
}

/// Whether the user may not do what it has asked for.
fn is_of_permissions(error: &ServerError) -> bool {
    let said = error.to_string().to_ascii_lowercase();
    said.contains("permissions violation")
}

/// Whether JetStream is there for no account, or not for this one.
fn is_disabled(code: ErrorCode) -> bool {
    code == ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT || code == ErrorCode::JETSTREAM_NOT_ENABLED
}

/// Logs why there is no connection. A server that is away is asked again several times a second.
fn log_events() -> impl Fn(Event) -> core::future::Ready<()> + Send + Sync + 'static {
    let last = Mutex::new(String::new());
    move |event| {
        let said = match &event {
            Event::ServerError(error) => error.to_string(),
            Event::ClientError(error) => error.to_string(),
            Event::Connected => String::new(),
            _ => return core::future::ready(()),
        };
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != said {
            if !said.is_empty() {
                tracing::warn!(error = said, "the connection to NATS");
            }
            *last = said;
        }
        core::future::ready(())
    }
}

/// Whether a server that has answered lets the program not in.
fn is_refusal(error: &async_nats::ConnectError) -> bool {
    use async_nats::ConnectErrorKind::{Authentication, AuthorizationViolation, Tls};
    matches!(error.kind(), Authentication | AuthorizationViolation | Tls) || is_of_tls(error)
}

/// Whether TLS is what failed.
#[must_use]
pub fn is_of_tls(error: &(dyn core::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if error.is::<rustls::Error>() || inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A URL without the user and the password that it has.
#[must_use]
pub fn without_password(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://…@{rest}"),
        _ => url.to_owned(),
    }
}

/// Servers of a list, `HOST:PORT,HOST:PORT`; `None` if one is malformed, such as one with a password in it, which would be in
/// the arguments of the program.
#[must_use]
pub fn servers(list: &str) -> Option<Vec<String>> {
    let is_server = |one: &str| {
        let port = one.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        port.is_some_and(|port| port.is_ok()) && !one.contains(['@', '/'])
    };
    let all: Vec<String> = list.split(',').map(str::to_owned).collect();
    all.iter().all(|one| is_server(one)).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let credentials = Credentials::Password {
            user: "zorb".to_owned(),
            password: Secret::new("hush\n"),
        };
        let Credentials::Password { password, .. } = &credentials else {
            unreachable!()
        };
        assert_eq!(password.reveal(), "hush");
        assert!(!format!("{credentials:?}").contains("hush"));
    }

    #[test]
    fn passwords_are_no_part_of_an_address() {
        assert_eq!(servers("a:1,[::1]:2").unwrap(), ["a:1", "[::1]:2"]);
        for malformed in ["", "a", "a:", "a:b", "user:word@a:1", "a:1,", "nats://a:1"] {
            assert!(servers(malformed).is_none(), "{malformed}");
        }
        assert_eq!(without_password("nats://me:hush@a:1/b"), "nats://…@a:1/b");
        assert_eq!(without_password("nats://a:1/b"), "nats://a:1/b");
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("authorities.pem");
        let access = Access {
            authorities: Some(file.clone()),
            ..Access::default()
        };
        for text in [None, Some(""), Some("no certificate")] {
            if let Some(text) = text {
                std::fs::write(&file, text).unwrap();
            }
            let error = access.tls().unwrap_err();
            assert!(error.to_string().contains("authorities.pem"), "{error}");
        }
        assert!(Access::default().tls().unwrap().is_none());
    }
}
