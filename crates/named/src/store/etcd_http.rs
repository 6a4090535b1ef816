//! Requests to a server of etcd, by its gateway for JSON (etcd's "gRPC gateway", `/v3/`).

use super::StoreError;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;
use zorb::Bytes;

/// Octets of an answer.
const MAX_ANSWER_OCTETS: usize = 256 * 1024 * 1024;
/// Connections that are kept for the next requests.
const MAX_KEPT: usize = 32;

type Cause = Arc<dyn core::error::Error + Send + Sync>;

/// How a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no room for it.
    Full,
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
        let is_surely_refused = ["no leader", "too many requests", "not capable"]
            .iter()
            .any(|refusal| text.contains(refusal));
        let error = Arc::new(io::Error::other(text.to_owned()));
        match is_surely_refused {
            true => Self::NotDone(error),
            false => Self::Unknown(error),
        }
    }

    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Full => StoreError::Full,
            Self::NotDone(cause) => StoreError::Unreachable(cause),
            Self::Unknown(cause) => StoreError::Failed(cause),
        }
    }
}

type Connection = SendRequest<Full<Bytes>>;

/// A server, and the connections to it that no request uses.
#[derive(Debug)]
pub(super) struct Server {
    address: String,
    unused: Mutex<Vec<Connection>>,
}

impl Server {
    pub(super) fn new(address: String) -> Self {
        Self {
            address,
            unused: Mutex::default(),
        }
    }

    /// Sends a request and reads its answer. Dropping it closes its connection.
    pub(super) async fn post(&self, path: &str, body: String) -> Result<Value, Failure> {
        let request = Request::post(path)
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
        let (connection, driver) = handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Failure::NotDone(Arc::new(error)))?;
        // It ends with the connection, whose failure its request reports.
        tokio::spawn(driver);
        Ok(connection)
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
