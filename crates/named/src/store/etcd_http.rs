//! Requests to a server of etcd, by its gateway for JSON (etcd's "gRPC gateway", `/v3/`).

use super::{Access, AccessError, Credentials, StoreError};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use zorb::Bytes;

/// Octets of an answer.
const MAX_ANSWER_OCTETS: usize = 256 * 1024 * 1024;
/// Connections that are kept for the next requests.
const MAX_KEPT: usize = 32;

/// What etcd says when a token is over, or of other users than there are now.
const TOKEN_REFUSALS: [&str; 2] = ["invalid auth token", "revision of auth store is old"];
/// What etcd says to a client that it lets not in.
const ACCESS_REFUSALS: [&str; 6] = [
    // Its gateway takes no certificate with one.
    "CommonName of client",
    "authentication failed",
    "authentication is not enabled",
    "permission denied",
    "user name is empty",
    "user name not found",
];

type Cause = Arc<dyn core::error::Error + Send + Sync>;

/// How a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no room for it.
    Full,
    /// The server lets the service not in; it was surely not carried out.
    Refused(Cause),
    /// The token is one no more; it was surely not carried out.
    Token(Cause),
    /// It was surely not carried out.
    NotDone(Cause),
    /// It may have been carried out, or may be still.
    Unknown(Cause),
}

impl Failure {
    pub(super) fn timed_out() -> Self {
        let text = "etcd does not answer in time";
        Self::Unknown(Arc::new(io::Error::new(io::ErrorKind::TimedOut, text)))
    }

    /// What etcd says when it refuses a request.
    fn refused(text: &str) -> Self {
        if text.contains("database space exceeded") {
            return Self::Full;
        }
        let is_one_of = |texts: &[&str]| texts.iter().any(|refusal| text.contains(refusal));
        let error: Cause = Arc::new(io::Error::other(text.trim().to_owned()));
        if is_one_of(&TOKEN_REFUSALS) {
            return Self::Token(error);
        }
        if is_one_of(&ACCESS_REFUSALS) {
            return Self::Refused(error);
        }
        let is_surely_refused = is_one_of(&["no leader", "too many requests", "not capable"]);
        match is_surely_refused {
            true => Self::NotDone(error),
            false => Self::Unknown(error),
        }
    }

    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Full => StoreError::Full,
            Self::NotDone(cause) | Self::Refused(cause) | Self::Token(cause) => {
                StoreError::Unreachable(cause)
            }
            Self::Unknown(cause) => StoreError::Failed(cause),
        }
    }
}

type Connection = SendRequest<Full<Bytes>>;

/// How connections are made, and who the service is.
pub(super) struct Way {
    tls: Option<TlsConnector>,
    /// The body of the request that a user gets a token by.
    login: Option<String>,
    token: Mutex<Option<String>>,
}

impl core::fmt::Debug for Way {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Way").finish_non_exhaustive()
    }
}

impl Way {
    pub(super) fn new(access: &Access) -> Result<Self, AccessError> {
        let login = match &access.credentials {
            None => None,
            Some(Credentials::Password { user, password }) => {
                let login = json!({ "name": user, "password": password.reveal() });
                Some(login.to_string())
            }
            Some(_) => {
                let why = "etcd knows users with passwords, and no tokens, creds or nkeys";
                return Err(AccessError::Credentials(why));
            }
        };
        Ok(Self {
            tls: access.tls()?.map(TlsConnector::from),
            login,
            token: Mutex::default(),
        })
    }

    fn token(&self) -> Option<String> {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.clone()
    }

    fn set_token(&self, new: Option<String>) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = new;
    }
}

/// A server, and the connections to it that no request uses.
#[derive(Debug)]
pub(super) struct Server {
    address: String,
    way: Arc<Way>,
    unused: Mutex<Vec<Connection>>,
}

impl Server {
    pub(super) fn new(address: String, way: Arc<Way>) -> Self {
        Self {
            address,
            way,
            unused: Mutex::default(),
        }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Sends a request as the user that the service is, and reads its answer. Dropping it closes its connection.
    pub(super) async fn post(&self, path: &str, body: String) -> Result<Value, Failure> {
        let Some(login) = &self.way.login else {
            return self.send(path, body, None).await;
        };
        if let Some(token) = self.way.token() {
            match self.send(path, body.clone(), Some(&token)).await {
                Err(Failure::Token(_)) => self.way.set_token(None),
                done => return done,
            }
        }
        let answer = self
            .send("/v3/auth/authenticate", login.clone(), None)
            .await;
        let answer = answer.map_err(|failure| match failure {
            // The request itself is not sent.
            Failure::Unknown(cause) => Failure::NotDone(cause),
            failure => failure,
        })?;
        let token = answer["token"].as_str().unwrap_or_default().to_owned();
        self.way.set_token(Some(token.clone()));
        self.send(path, body, Some(&token)).await
    }

    async fn send(&self, path: &str, body: String, token: Option<&str>) -> Result<Value, Failure> {
        let mut request = Request::post(path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, token);
        }
        let request = request
            .header(header::HOST, &self.address)
            .header(header::CONTENT_TYPE, "application/json")
            // A server without a leader says so at once.
            .header("Grpc-Metadata-hasleader", "true")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| Failure::NotDone(Arc::new(error)))?;
        let mut connection = self.connection().await?;
        let sent = connection.send_request(request).await;
        let response = sent.map_err(|error| match error.is_canceled() {
            true => Failure::NotDone(Arc::new(error)),
            // An alert of a server that wants a certificate comes here.
            false if zorb_service::access::is_of_tls(&error) => Failure::Refused(Arc::new(error)),
            false => Failure::Unknown(Arc::new(error)),
        })?;
        let is_success = response.status().is_success();
        let body = Limited::new(response.into_body(), MAX_ANSWER_OCTETS)
            .collect()
            .await;
        let body = body
            .map_err(|error| Failure::Unknown(Arc::from(error)))?
            .to_bytes();
        if !is_success {
            return Err(Failure::refused(&String::from_utf8_lossy(&body)));
        }
        self.keep(connection);
        serde_json::from_slice(&body).map_err(|error| Failure::Unknown(Arc::new(error)))
    }

    /// A connection that is open, as far as that shows.
    async fn connection(&self) -> Result<Connection, Failure> {
        let not_done = |error: io::Error| Failure::NotDone(Arc::new(error));
        while let Some(mut unused) = self.take() {
            if unused.ready().await.is_ok() {
                return Ok(unused);
            }
        }
        let stream = TcpStream::connect(&self.address).await.map_err(not_done)?;
        stream.set_nodelay(true).map_err(not_done)?;
        let Some(tls) = &self.way.tls else {
            return over(stream).await;
        };
        let host = self.address.rsplit_once(':').map_or("", |(host, _)| host);
        let host = host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host)
            .map_err(|error| Failure::NotDone(Arc::new(io::Error::other(error))))?;
        match tls.connect(name, stream).await {
            Ok(stream) => over(stream).await,
            Err(error) if zorb_service::access::is_of_tls(&error) => {
                Err(Failure::Refused(Arc::new(error)))
            }
            Err(error) => Err(not_done(error)),
        }
    }

    fn take(&self) -> Option<Connection> {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        unused.pop()
    }

    fn keep(&self, connection: Connection) {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < MAX_KEPT {
            unused.push(connection);
        }
    }
}

/// A connection of HTTP over one of TCP or TLS.
async fn over(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<Connection, Failure> {
    let (connection, driver) = handshake(TokioIo::new(stream))
        .await
        .map_err(|error| Failure::NotDone(Arc::new(error)))?;
    // It ends with the connection, whose failure its request reports.
    tokio::spawn(driver);
    Ok(connection)
}
