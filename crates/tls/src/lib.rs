//! TLS as a transport: GIOP over connections that are encrypted and whose ends have certificates, by rustls.
//!
//! [`Tls`] is registered with an ORB (`Orb::builder().transport(Arc::new(tls))`), and has the endpoints
//! `ssliop://host:port`. References name them in profiles of IIOP, in the components TAG_SSL_SEC_TRANS and
//! TAG_CSI_SEC_MECH_LIST, so that omniORB, JacORB and TAO find them; the URL is `corbaloc:ssliop:host:port/key`.
//!
//! A client verifies the chain of a server's certificate, and that the certificate is for the host of the endpoint, by its
//! alternative names. A server verifies clients as [`ClientCertificates`] says. What a peer has proved is the
//! [identity](zorb_transport::PeerIdentity) of its connection.
//!
//! Files with certificates and keys are read again when they have changed, for the connections from then on, or by
//! [`Tls::reload`]. Open connections stay.
//!
//! # Cost
//! Octets are copied once to be encrypted, and twice to be decrypted. An idle connection has no buffer of its own but that
//! of rustls, of some 4 KiB. Reading and writing take turns at the state of the session.
//!
//! # Features
//! `ring` (default) and `aws-lc-rs` choose the cryptography; with both, aws-lc-rs is used.
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

#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
compile_error!("zorb-tls needs cryptography: the feature ring (default) or aws-lc-rs");

mod address;
mod certificate;
mod connection;
mod failure;
mod handshake;
mod keys;
mod listener;
mod options;
mod statistics;
mod turns;
mod verifier;

pub use address::ClientCertificates;
pub use keys::TlsError;
pub use options::TlsOptions;
pub use rustls;
pub use statistics::Handshakes;

use address::{TlsAddressing, UnixTlsAddressing};
use connection::TlsConnection;
use failure::Failure;
use handshake::{Role, identity, shake_hands};
use keys::Keys;
use listener::TlsListener;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use statistics::Statistics;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zorb_transport::{
    Address, Addressing, BoxFuture, Capabilities, Connection, Endpoint, Listener, Operation,
    Properties, Property, PropertyError, Tcp, Transport, TransportError, Unix,
};

/// TLS over TCP, or over UNIX sockets, as a transport: see the [crate's documentation](crate).
///
/// A clone shares certificates and counts. The default can neither connect nor listen before it has
/// [properties](Transport::with_property): then the ORB leaves the addresses with protection of references alone.
#[derive(Debug, Clone)]
pub struct Tls {
    plain: Arc<dyn Transport>,
    over: Over,
    keys: Arc<Keys>,
    statistics: Arc<Statistics>,
}

/// What TLS goes over, with its addressing.
#[derive(Debug, Clone, Copy)]
enum Over {
    Tcp(TlsAddressing),
    Unix(UnixTlsAddressing),
}

impl Default for Tls {
    fn default() -> Self {
        Self::of(TlsOptions::default(), Arc::new(Tcp::default()))
    }
}

impl Tls {
    /// Makes the transport, and reads its files.
    ///
    /// # Errors
    /// A file cannot be read, or has not what it should have; a key does not belong to its certificate.
    ///
    /// # Blocking
    /// Reads files.
    pub fn new(options: TlsOptions) -> Result<Self, TlsError> {
        let tls = Self::of(options, Arc::new(Tcp::default()));
        tls.reload()?;
        Ok(tls)
    }

    fn of(options: TlsOptions, plain: Arc<dyn Transport>) -> Self {
        let addressing = match options.can_connect() || options.can_listen() {
            true => TlsAddressing::new(options.client_certificates),
            false => TlsAddressing::of_none(),
        };
        Self {
            plain,
            over: Over::Tcp(addressing),
            keys: Arc::new(Keys::new(options)),
            statistics: Arc::default(),
        }
    }

    /// Returns the transport over UNIX sockets, with the same certificates and counts: endpoints `ssluiop:///path`. It is
    /// registered beside this one. A server there needs a certificate for `localhost`; what the operating system says of the
    /// peer is part of its identity. References name such an endpoint in a profile of zorb's own, which other ORBs ignore.
    #[must_use]
    pub fn over_unix_sockets(&self) -> Self {
        Self {
            plain: Arc::new(Unix::default()),
            over: Over::Unix(UnixTlsAddressing),
            ..self.clone()
        }
    }

    /// Reads the files of certificates and keys again. Connections from now on have what they say; open ones stay as they
    /// are. Sessions from before are not resumed. Files that have changed are read without this call, too: they are looked
    /// at when a connection is made, once in a second at most.
    ///
    /// # Errors
    /// The files cannot be used; what was read before stays in use.
    ///
    /// # Blocking
    /// Reads files.
    pub fn reload(&self) -> Result<(), TlsError> {
        self.keys.reload()
    }

    /// Returns what has become of the handshakes that clients have begun at the endpoints of this transport.
    #[must_use]
    pub fn handshakes(&self) -> Handshakes {
        self.statistics.counts()
    }

    /// The endpoint below one of this transport.
    fn below<'a>(&self, endpoint: &'a Endpoint) -> Option<&'a Endpoint> {
        let is_ours = endpoint.scheme() == self.addressing().scheme();
        address::plain(endpoint).filter(|_| is_ours)
    }

    fn having(&self, plain: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(Self {
            plain,
            ..self.clone()
        })
    }

    /// Does the handshake of a client, by the deadline if there is one.
    async fn protect(
        &self,
        plain: Box<dyn Connection>,
        endpoint: &Endpoint,
        until: Option<Instant>,
    ) -> Result<TlsConnection, Failure> {
        let limit = self.keys.options.handshake_timeout;
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let limit = left.map_or(limit, |left| left.min(limit));
        let handshake = async {
            let config = self.keys.client();
            let config = config.map_err(|error| Failure::Connection(error.into()))?;
            let name = server_name(endpoint).map_err(Failure::Connection)?;
            let tls = ClientConnection::new(config, name)
                .map_err(|error| Failure::Tls(Role::Client, error))?;
            let mut tls = rustls::Connection::from(tls);
            let rest = shake_hands(&*plain, &mut tls, Role::Client, None).await?;
            Ok((tls, rest))
        };
        match tokio::time::timeout(limit, handshake).await {
            Ok(done) => {
                let (tls, rest) = done?;
                let identity = identity(&*plain, &tls);
                Ok(TlsConnection::new(plain, tls, rest, identity))
            }
            Err(_) => Err(Failure::Late(limit)),
        }
    }

    async fn connect_until(
        &self,
        endpoint: &Endpoint,
        limit: Option<Duration>,
    ) -> Result<Box<dyn Connection>, TransportError> {
        let fail = |cause| TransportError::new(Operation::Connect, endpoint.clone(), cause);
        let plain = self.below(endpoint).ok_or_else(|| fail(not_ours()))?;
        // Without certificates, no connection need be made.
        (self.keys.client()).map_err(|error| fail(error.into()))?;
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let connected = match limit {
            Some(limit) => self.plain.connect_within(plain, limit).await,
            None => self.plain.connect(plain).await,
        };
        let plain = connected.map_err(|error| error.of(endpoint.clone()))?;
        match self.protect(plain, endpoint, until).await {
            Ok(connection) => Ok(Box::new(connection)),
            Err(failure) => Err(fail(failure.into())),
        }
    }
}

impl Transport for Tls {
    fn addressing(&self) -> &dyn Addressing {
        match &self.over {
            Over::Tcp(addressing) => addressing,
            Over::Unix(addressing) => addressing,
        }
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(self.plain.capabilities())
    }

    fn connect<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(self.connect_until(endpoint, None))
    }

    fn connect_within<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, TransportError>> {
        Box::pin(self.connect_until(endpoint, Some(limit)))
    }

    fn listen<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> BoxFuture<'a, Result<Box<dyn Listener>, TransportError>> {
        Box::pin(async move {
            let fail = |cause| TransportError::new(Operation::Listen, endpoint.clone(), cause);
            let plain = self.below(endpoint).ok_or_else(|| fail(not_ours()))?;
            (self.keys.server()).map_err(|error| fail(error.into()))?;
            let opened = self.plain.listen(plain).await;
            let opened = opened.map_err(|error| error.of(endpoint.clone()))?;
            let given = address::wrap(opened.endpoint().clone());
            let (keys, statistics) = (Arc::clone(&self.keys), Arc::clone(&self.statistics));
            let listener = TlsListener::new(opened, given, keys, statistics);
            Ok(Box::new(listener) as Box<dyn Listener>)
        })
    }

    fn note_served(&self, peer: &Address, serves: bool) {
        self.plain.note_served(&address::plain_end(peer), serves);
    }

    fn properties(&self) -> &'static [Property] {
        &options::PROPERTIES
    }

    fn with_property(&self, name: &str, value: &str) -> Result<Arc<dyn Transport>, PropertyError> {
        let is_own = options::PROPERTIES.iter().any(|own| own.name == name);
        let of_plain = (self.plain.properties().iter()).any(|other| other.name == name);
        if of_plain && !is_own {
            return Ok(self.having(self.plain.with_property(name, value)?));
        }
        let options = self.keys.options.clone().set(name, value)?;
        let tls = Self::of(options, Arc::clone(&self.plain));
        Ok(Arc::new(match self.over {
            Over::Tcp(_) => tls,
            over @ Over::Unix(_) => Self { over, ..tls },
        }))
    }

    fn with_properties(&self, properties: &Properties) -> Option<Arc<dyn Transport>> {
        Some(self.having(self.plain.with_properties(properties)?))
    }
}

/// The capabilities of a connection with protection over one with these.
fn capabilities(plain: Capabilities) -> Capabilities {
    plain.with_gather().with_peer_identity()
}

/// The name that the certificate of the server at this endpoint has to have.
fn server_name(endpoint: &Endpoint) -> io::Result<ServerName<'static>> {
    // What has no host is a socket of this one.
    let host = endpoint.host().unwrap_or("localhost");
    // A certificate knows no zone of an address, nor the dot behind a complete name.
    let host = host.split_once('%').map_or(host, |(address, _)| address);
    let host = host.strip_suffix('.').unwrap_or(host);
    let name = ServerName::try_from(host.to_owned());
    name.map_err(|_| {
        let why = format!("{host:?} is no name that a certificate could have");
        io::Error::new(io::ErrorKind::InvalidInput, why)
    })
}

fn not_ours() -> io::Error {
    let reason = "not an endpoint of the TLS transport";
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
