//! The handshake, and writing what TLS has to say.

use crate::certificate;
use crate::failure::{self, Failure};
use crate::turns::Turns;
use bytes::BytesMut;
use rustls::Connection as Tls;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use zorb_transport::{Connection, PeerCertificate, PeerIdentity};

/// Octets that one read of a handshake receives.
const RECEIVED: usize = 4 << 10;

/// Writes what TLS has to send, as far as the connection takes it.
///
/// # Errors
/// `WouldBlock` if something is left; other errors of the connection.
pub(crate) fn flush(tls: &mut Tls, plain: &dyn Connection) -> io::Result<()> {
    match tls.wants_write() {
        true => Plain::new(plain).flush(tls),
        false => Ok(()),
    }
}

/// A connection as a writer that counts.
pub(crate) struct Plain<'a> {
    connection: &'a dyn Connection,
    /// Octets that were to be written by the first call.
    offered: Option<usize>,
    written: usize,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(connection: &'a dyn Connection) -> Self {
        Self {
            connection,
            offered: None,
            written: 0,
        }
    }

    /// Writes all that TLS has to send.
    pub(crate) fn flush(&mut self, tls: &mut Tls) -> io::Result<()> {
        while tls.wants_write() {
            tls.write_tls(self)?;
        }
        Ok(())
    }

    /// Octets that there were to write.
    pub(crate) fn offered(&self) -> usize {
        self.offered.unwrap_or_default()
    }

    /// Octets that were written.
    pub(crate) fn written(&self) -> usize {
        self.written
    }
}

impl io::Write for Plain<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(octets)])
    }

    fn write_vectored(&mut self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        (self.offered).get_or_insert_with(|| chunks.iter().map(|chunk| chunk.len()).sum());
        let written = self.connection.try_write(chunks)?;
        self.written = self.written.saturating_add(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Carries out the handshake; computes at its `turns`, if there are any. Returns the octets that were received behind it, which are not decrypted yet.
///
/// # Errors
/// Why the peers did not agree. The peer has been told, as far as the connection took it at once.
///
/// # Cancel safety
/// A handshake that was dropped cannot be continued.
pub(crate) async fn shake_hands(
    plain: &dyn Connection,
    tls: &mut Tls,
    role: Role,
    turns: Option<&Turns>,
) -> Result<Vec<u8>, Failure> {
    let host = plain.peer().host();
    let mut wire = BytesMut::with_capacity(RECEIVED);
    let mut rest = Vec::new();
    let mut begun = false;
    loop {
        while tls.wants_write() {
            match flush(tls, plain) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let ready = poll_fn(|cx| plain.poll_write_ready(cx)).await;
                    ready.map_err(Failure::Connection)?;
                }
                flushed => flushed.map_err(Failure::Connection)?,
            }
        }
        if !tls.is_handshaking() {
            return Ok(rest);
        }
        wire.clear();
        let read = match poll_fn(|cx| plain.poll_read(cx, &mut wire)).await {
            // A peer that closes with octets unread, as one that does not know TLS does, resets the connection.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset && !begun => 0,
            read => read.map_err(Failure::Connection)?,
        };
        if read == 0 {
            return Err(match begun {
                true => Failure::Ended,
                false => Failure::EndedAtOnce,
            });
        }
        let not_tls = match begun {
            true => None,
            false => failure::not_tls(&wire),
        };
        begun = true;
        let _turn = match turns {
            Some(turns) => Some(turns.take(&host).await),
            None => None,
        };
        let mut octets = &wire[..];
        // Behind the handshake the peer may have sent more.
        while !octets.is_empty() && tls.is_handshaking() {
            let read = tls.read_tls(&mut octets).map_err(Failure::Connection)?;
            let done = tls.process_new_packets();
            if read == 0 || done.is_err() {
                // The alert tells a peer that reads it why it is refused, or what it is connected to.
                let _ = flush(tls, plain);
                return Err(match (not_tls, done) {
                    (Some(spoken), _) => Failure::NotTls(spoken),
                    (None, Err(error)) => Failure::Tls(role, error),
                    (None, Ok(_)) => Failure::Ended,
                });
            }
        }
        rest = octets.to_vec();
    }
}

/// Which end of a connection this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Server,
}

/// Who the peer is, by the connection below and by its certificate.
pub(crate) fn identity(plain: &dyn Connection, tls: &Tls) -> Option<PeerIdentity> {
    let below = plain.peer_identity();
    let Some(chain) = tls.peer_certificates().filter(|chain| !chain.is_empty()) else {
        return below;
    };
    let chain: Vec<Vec<u8>> = chain.iter().map(|der| der.to_vec()).collect();
    let own = chain.first().and_then(|der| certificate::names(der));
    let (subject, names) = own.unwrap_or_default();
    // A handshake with a certificate that its verifier does not accept has failed.
    let certificate = PeerCertificate::new(subject, names, true, chain);
    Some(below.unwrap_or_default().with_certificate(certificate))
}
