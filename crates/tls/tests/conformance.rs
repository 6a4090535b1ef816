//! TLS passes every check that a transport must pass.

mod support;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use support::Authority;
#[cfg(feature = "aws-lc-rs")]
use zorb_tls::rustls::crypto::aws_lc_rs as cryptography;
#[cfg(not(feature = "aws-lc-rs"))]
use zorb_tls::rustls::crypto::ring as cryptography;
use zorb_tls::rustls::pki_types::{CertificateDer, pem::PemObject};
use zorb_tls::rustls::version::{TLS12, TLS13};
use zorb_tls::rustls::{self, SupportedProtocolVersion};
use zorb_tls::{Tls, TlsOptions};
use zorb_transport::{Endpoint, Transport, conformance::Fixture, conformance_tests};

mod tls_1_3 {
    use super::*;
    conformance_tests!(over(&TLS13));
}

mod tls_1_2 {
    use super::*;
    conformance_tests!(over(&TLS12));
}

/// Many partial writes and many waits.
mod with_small_buffers {
    use super::*;
    conformance_tests!(small());
}

mod over_unix_sockets {
    use super::*;
    conformance_tests!(UnixSockets::new());
}

/// TLS over UNIX sockets, in a folder of their own.
struct UnixSockets {
    transport: Arc<dyn Transport>,
    folder: tempfile::TempDir,
    next: AtomicU32,
}

impl UnixSockets {
    fn new() -> Self {
        Self {
            transport: Arc::new(Tls::new(options()).unwrap().over_unix_sockets()),
            folder: tempfile::tempdir().unwrap(),
            next: AtomicU32::new(0),
        }
    }

    fn at(&self, name: &str) -> Endpoint {
        let path = self.folder.path().join(name).display().to_string();
        self.transport.addressing().parse(&path).unwrap()
    }
}

impl Fixture for UnixSockets {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport)
    }

    fn endpoint(&self) -> Endpoint {
        self.at(&self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    fn unreachable(&self) -> (Endpoint, ErrorKind) {
        (self.at("nobody"), ErrorKind::NotFound)
    }

    fn turns(&self) -> usize {
        1_000
    }
}

struct Over {
    transport: Arc<dyn Transport>,
    unreachable: Endpoint,
    _unreachable: socket2::Socket,
}

/// The authority of these tests, and the file of the server's certificate.
fn authority() -> &'static (Authority, PathBuf) {
    static AUTHORITY: OnceLock<(Authority, PathBuf)> = OnceLock::new();
    AUTHORITY.get_or_init(|| {
        let authority = Authority::new("conformance");
        let file = authority.issue("server", &["127.0.0.1", "localhost"]);
        (authority, file)
    })
}

fn options() -> TlsOptions {
    let (authority, file) = authority();
    (TlsOptions::default())
        .trust(authority.trust())
        .certificate(file, file)
}

/// The versions of the client decide.
fn over(version: &'static SupportedProtocolVersion) -> Over {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority().0.trust()).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(cryptography::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    fixture(Arc::new(
        Tls::new(options().client_config(Arc::new(config))).unwrap(),
    ))
}

fn small() -> Over {
    let tls = Tls::new(options()).unwrap();
    let small = tls.with_property("send_buffer", "4096").unwrap();
    fixture(small.with_property("receive_buffer", "4096").unwrap())
}

fn fixture(transport: Arc<dyn Transport>) -> Over {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(&any.into()).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    let unreachable = format!("127.0.0.1:{port}");
    let unreachable = transport.addressing().parse(&unreachable).unwrap();
    Over {
        transport,
        unreachable,
        _unreachable: socket,
    }
}

impl Fixture for Over {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport)
    }

    fn endpoint(&self) -> Endpoint {
        self.transport.addressing().parse("127.0.0.1:0").unwrap()
    }

    fn unreachable(&self) -> (Endpoint, ErrorKind) {
        (self.unreachable.clone(), ErrorKind::ConnectionRefused)
    }

    fn turns(&self) -> usize {
        1_000
    }
}
