//! GIOPlite: GIOP with headers of five octets in place of twelve, over any transport.
//!
//! [`GiopLite`] is a transport over a transport, made of the public items of `zorb-transport` and `zorb-giop` alone: the ORB
//! knows nothing of it until a program registers it.
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
mod header;
mod message;
mod shorten;

use connection::{LiteConnection, LiteListener};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use zorb_transport::{
    Address, Addressing, AddressingOver, BoxFuture, Capabilities, Connection, Endpoint, Listener,
    Operation, Properties, Property, PropertyError, Tcp, Transport, TransportError, Unix,
};

/// GIOPlite over a transport: message headers have five octets in place of GIOP's twelve. For ORBs of one owner that
/// exchange small messages over links where seven octets a message count.
///
/// It is registered as a transport with a scheme and a profile of its own. References name it beside the plain
/// endpoints, other ORBs ignore it, and a client's order of protocols selects it:
///
/// ```
/// use std::sync::Arc;
/// use zorb::Orb;
/// use zorb_giop_lite::GiopLite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Orb::builder()
///     .transport(Arc::new(GiopLite::over_tcp()))
///     .listen("iioplite://127.0.0.1:0")
///     .listen("iiop://127.0.0.1:0")
///     .build()
///     .await?;
/// assert_eq!(server.endpoints()[0].scheme(), "iioplite");
/// # Ok(()) }
/// ```
///
/// The header is the unsigned long of the message's size, and an octet: bits 0 to 2 the message type, bits 3 and 4 the
/// minor version, bit 5 set if little-endian, bit 6 set if fragments follow, bit 7 clear. The rest of the message is
/// that of GIOP, aligned as after twelve octets. TAO's GIOPlite has five octets too, without version, byte order and
/// fragments in the last one; zorb does not speak it. Source: the pluggable protocols framework of TAO.
///
/// Costs the translation of each header, a copy of each sent message of up to 256 octets, and a copy of octets that are
/// received in one read after another message. A message that is received alone is not copied.
#[derive(Debug, Clone)]
pub struct GiopLite {
    plain: Arc<dyn Transport>,
    addressing: AddressingOver,
}

/// The tag of profiles of GIOPlite over TCP, in the range of zorb's own tags.
const TCP_PROFILE: u32 = 0x5a4f_5210;
/// The tag of profiles of GIOPlite over UNIX sockets.
const UNIX_PROFILE: u32 = 0x5a4f_5211;

impl GiopLite {
    /// GIOPlite over TCP: endpoints `iioplite://host:port`.
    #[must_use]
    pub fn over_tcp() -> Self {
        Self::over("iioplite", TCP_PROFILE, Arc::new(Tcp::default()))
    }

    /// GIOPlite over UNIX sockets: endpoints `uioplite:///path`.
    #[must_use]
    pub fn over_unix() -> Self {
        Self::over("uioplite", UNIX_PROFILE, Arc::new(Unix::default()))
    }

    /// GIOPlite over another transport, or one with other properties. Its endpoints have this scheme, and otherwise the
    /// forms of the transport. Its profiles have this tag, on which both sides have to agree.
    #[must_use]
    pub fn over(scheme: &'static str, profile: u32, plain: Arc<dyn Transport>) -> Self {
        let addressing = AddressingOver::new(scheme, profile, Arc::clone(&plain));
        Self { plain, addressing }
    }

    fn having(&self, plain: Arc<dyn Transport>) -> Arc<dyn Transport> {
        let addressing = self.addressing.over(Arc::clone(&plain));
        Arc::new(Self { plain, addressing })
    }
}

impl Transport for GiopLite {
    fn addressing(&self) -> &dyn Addressing {
        &self.addressing
    }

    fn capabilities(&self) -> Capabilities {
        self.plain.capabilities()
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let Some(plain) = self.addressing.unwrap(endpoint) else {
                return Err(not_ours(Operation::Connect, endpoint));
            };
            let plain = self.plain.connect(plain).await;
            wrapped(plain, endpoint)
        })
    }

    fn connect_within<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(async move {
            let Some(plain) = self.addressing.unwrap(endpoint) else {
                return Err(not_ours(Operation::Connect, endpoint));
            };
            let plain = self.plain.connect_within(plain, limit).await;
            wrapped(plain, endpoint)
        })
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            let Some(plain) = self.addressing.unwrap(endpoint) else {
                return Err(not_ours(Operation::Listen, endpoint));
            };
            match self.plain.listen(plain).await {
                Ok(plain) => {
                    let given = self.addressing.wrap(plain.endpoint().clone());
                    Ok(Box::new(LiteListener::new(plain, given)) as Box<dyn Listener>)
                }
                Err(error) => Err(error.of(endpoint.clone())),
            }
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

fn wrapped(
    plain: Result<Box<dyn Connection>, TransportError>,
    endpoint: &Endpoint,
) -> Result<Box<dyn Connection>, TransportError> {
    match plain {
        Ok(plain) => Ok(Box::new(LiteConnection::new(plain)) as Box<dyn Connection>),
        Err(error) => Err(error.of(endpoint.clone())),
    }
}

fn not_ours(operation: Operation, endpoint: &Endpoint) -> TransportError {
    let cause = io::Error::new(io::ErrorKind::InvalidInput, "not an endpoint of GIOPlite");
    TransportError::new(operation, endpoint.clone(), cause)
}
