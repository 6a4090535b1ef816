//! Messages between alike peers: CORBA as needed.
//!
//! [`Native`] is a transport over a transport, made of the public items of `zorb-transport` alone: the ORB knows nothing of it
//! until a program registers it. It takes the place of the transport that it is over, with the same endpoints and references:
//!
//! ```
//! use std::sync::Arc;
//! use zorb::Orb;
//! use zorb::transport::Tcp;
//! use zorb_native::Native;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Orb::builder()
//!     .transport(Arc::new(Native::over(Arc::new(Tcp::default()))))
//!     .listen("iiop://127.0.0.1:0")
//!     .build()
//!     .await?;
//! assert_eq!(server.endpoints()[0].scheme(), "iiop");
//! # Ok(()) }
//! ```
//!
//! A client's first message on a connection is a LocateRequest for an object whose key says what the client is: the version of
//! these messages, the byte order, and how numbers and pointers lie in memory. A server of the same kind answers that it is there,
//! and from then on both ends leave out what repeats: an operation of an object, with all of the header that says so, is a number.
//! Any other ORB answers that it knows no such object, and is spoken to in GIOP on the same connection. So a server may be restarted as
//! something else: the next connection finds out, and no call is lost.
//!
//! Values are CDR in the byte order of both ends, in which sequences of numbers and octets lie as in memory: zorb lends them from
//! the caller's memory, and borrows them from the message. Structs that the option `in_memory` of the IDL names lie as in memory,
//! where the other end has the same layout of them.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]

mod connection;
mod frame;
mod handshake;
mod receive;
mod send;
#[cfg(test)]
mod stream_tests;

use bytes::BytesMut;
use connection::{NativeConnection, NativeListener, is_of_this_host};
use handshake::{Opening, QUESTION, opening_of_server, question};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zorb_transport::{
    Address, Addressing, BoxFuture, Capabilities, Connection, Endpoint, Listener, Operation,
    Properties, Property, PropertyError, Transport, TransportError,
};

/// How long a server may take to say whether it is alike. One that takes longer is connected to anew, and spoken to in GIOP.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Messages by number between alike peers over a transport, and GIOP with all others.
///
/// Costs one round trip for each connection that is opened, a comparison (or a hash) of some sixty octets for each message that is sent, and a
/// copy of as many for each that is received; headers of up to 16 KiB for each direction of a connection, which count with the memory
/// of all connections. A connection from or to another host is left alone unless [`across_hosts`](Self::across_hosts) says otherwise.
#[derive(Debug, Clone)]
pub struct Native {
    plain: Arc<dyn Transport>,
    crosses_hosts: bool,
}

impl Native {
    /// Alike peers over this transport, in whose place it is registered: it has the scheme, the endpoints and the profiles of
    /// that one.
    #[must_use]
    pub fn over(plain: Arc<dyn Transport>) -> Self {
        Self {
            plain,
            crosses_hosts: false,
        }
    }

    /// Asks peers on other hosts, too, and answers them.
    #[must_use]
    pub fn across_hosts(self) -> Self {
        Self {
            crosses_hosts: true,
            ..self
        }
    }

    fn having(&self, plain: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(Self {
            plain,
            crosses_hosts: self.crosses_hosts,
        })
    }

    /// Asks the server of a new connection what it is, where that is to be asked.
    async fn ask_or_reconnect(
        &self,
        plain: Box<dyn Connection>,
        endpoint: &Endpoint,
    ) -> Result<Box<dyn Connection>, TransportError> {
        if !self.crosses_hosts && !is_of_this_host(&*plain) {
            return Ok(plain);
        }
        match Self::ask(plain).await {
            Some(connection) => Ok(Box::new(connection)),
            None => self.plain.connect(endpoint).await,
        }
    }

    /// Asks a server what it is. `None` if it does not say: the connection is of no use then.
    async fn ask(plain: Box<dyn Connection>) -> Option<NativeConnection> {
        let asked = tokio::time::timeout(ANSWER_TIMEOUT, answered(&*plain)).await;
        let (opening, received) = asked.ok()?.ok()?;
        Some(match opening {
            Opening::Alike => NativeConnection::to_alike(plain, received),
            _ => NativeConnection::to_other(plain, received),
        })
    }
}

/// What a server answers, and the octets behind that.
async fn answered(plain: &dyn Connection) -> io::Result<(Opening, BytesMut)> {
    let question = question();
    // The first octets of a connection find room.
    if plain.try_write(&[IoSlice::new(&question)])? != QUESTION {
        return Err(io::ErrorKind::WriteZero.into());
    }
    let mut received = BytesMut::with_capacity(QUESTION);
    loop {
        if received.capacity() == received.len() {
            received.reserve(QUESTION);
        }
        if poll_fn(|cx| plain.poll_read(cx, &mut received)).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match opening_of_server(&mut received) {
            Opening::Begins => {}
            known => return Ok((known, received)),
        }
    }
}

impl Transport for Native {
    fn addressing(&self) -> &dyn Addressing {
        self.plain.addressing()
    }

    fn capabilities(&self) -> Capabilities {
        self.plain.capabilities()
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let plain = self.plain.connect(endpoint).await?;
            self.ask_or_reconnect(plain, endpoint).await
        })
    }

    fn connect_within<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let begun = Instant::now();
            // Its error says what was under way.
            let plain = self.plain.connect_within(endpoint, limit).await?;
            let left = limit.saturating_sub(begun.elapsed());
            let asked = self.ask_or_reconnect(plain, endpoint);
            let asked = tokio::time::timeout(left, asked).await;
            asked.unwrap_or_else(|_| {
                Err(TransportError::late(
                    Operation::Connect,
                    endpoint.clone(),
                    limit,
                ))
            })
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            let plain = self.plain.listen(endpoint).await?;
            let listener = NativeListener::new(plain, self.crosses_hosts);
            Ok(Box::new(listener) as Box<dyn Listener>)
        })
    }

    fn note_served(&self, peer: &Address, serves: bool) {
        self.plain.note_served(peer, serves);
    }

    fn properties(&self) -> &'static [Property] {
        self.plain.properties()
    }

    fn with_property(&self, name: &str, value: &str) -> Result<Arc<dyn Transport>, PropertyError> {
        Ok(self.having(self.plain.with_property(name, value)?))
    }

    fn with_properties(&self, properties: &Properties) -> Option<Arc<dyn Transport>> {
        Some(self.having(self.plain.with_properties(properties)?))
    }
}
