//! Other ORBs over TLS, with certificates on both sides: omniORB's SSL transport, and JacORB's by JSSE.

use crate::certificates::Authority;
use crate::interop::client::{Cell, DATA, ENDS, FORWARDS, OBJECTS, PeerRef, VERY_BIG, WAITS, WIDE};
use crate::interop::{jacorb::JACORB, omniorb::OMNIORB};
use crate::matrix::{Talk, Theirs, among_ourselves, our_client, their_client};
use crate::peers::{Brand, Over, Program, Programs};
use crate::runner::Peer;
use crate::support::have;
use crate::tap::Tap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use zorb::Builder;
use zorb::tls::rustls::pki_types::{CertificateDer, pem::PemObject};
use zorb::tls::rustls::{ClientConfig, KeyLog, RootCertStore};
use zorb::tls::{ClientCertificates, Tls, TlsOptions};

/// The transport of omniORB, which its programs load when they start.
const OMNIORB_TLS_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libomnisslTP4.so.2";

/// Of the files with keys; none of these is a secret.
const PASSWORD: &str = "changeit";

/// The certificates of every ORB of these tests.
struct Certificates {
    authority: Authority,
    zorb: PathBuf,
    omniorb: PathBuf,
}

fn certificates() -> &'static Certificates {
    static CERTIFICATES: OnceLock<Certificates> = OnceLock::new();
    CERTIFICATES.get_or_init(|| {
        let authority = Authority::new("interop");
        let zorb = authority.issue("zorb", &["127.0.0.1"]);
        let omniorb = authority.issue("omniorb", &["127.0.0.1"]);
        Certificates {
            authority,
            zorb,
            omniorb,
        }
    })
}

/// JacORB's store of keys: its own key with a certificate that it has signed itself, and our authority. Returns the store,
/// and a file with the certificates that we trust.
fn jacorb_store() -> &'static (PathBuf, PathBuf) {
    static STORE: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    STORE.get_or_init(|| {
        let trust = certificates().authority.trust();
        let folder = trust.parent().expect("a folder");
        let store = folder.join("jacorb.jks");
        let keytool = |args: &[&str]| {
            let mut keytool = Command::new("keytool");
            keytool
                .args(args)
                .args(["-storetype", "JKS", "-storepass", PASSWORD]);
            let done = keytool
                .arg("-keystore")
                .arg(&store)
                .output()
                .expect("keytool");
            assert!(done.status.success(), "{done:?}");
            String::from_utf8(done.stdout).expect("text")
        };
        let key = [
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-keypass",
            PASSWORD,
        ];
        let name = ["-dname", "CN=jacorb", "-ext", "san=ip:127.0.0.1"];
        keytool(&[&["-genkeypair", "-alias", "jacorb"][..], &key, &name].concat());
        let authority = trust.to_str().expect("a plain name");
        keytool(&[
            "-importcert",
            "-noprompt",
            "-alias",
            "zorb",
            "-file",
            authority,
        ]);
        let own = keytool(&["-exportcert", "-rfc", "-alias", "jacorb"]);
        let both = folder.join("both.pem");
        std::fs::write(&both, certificates().authority.pem() + &own).expect("written");
        (store, both)
    })
}

/// Ours: it has a certificate, and requires one of clients.
fn ours(trust: &Path) -> Tls {
    let own = &certificates().zorb;
    let options = TlsOptions::default()
        .certificate(own, own)
        .trust(trust)
        .client_certificates(ClientCertificates::Required);
    Tls::new(options).expect("certificates of this test")
}

fn with_omniorb(builder: Builder) -> Builder {
    builder.transport(Arc::new(ours(&certificates().authority.trust())))
}

pub(super) fn with_jacorb(builder: Builder) -> Builder {
    builder.transport(Arc::new(ours(&jacorb_store().1)))
}

fn path(path: &Path) -> String {
    path.to_str()
        .expect("temporary folders have plain names")
        .to_owned()
}

static OMNIORB_TLS: Brand = Brand {
    programs: || {
        let Programs { server, client } = (OMNIORB.programs)();
        let loading = |program: Program| Program {
            before: vec![
                format!("LD_PRELOAD={OMNIORB_TLS_LIBRARY}"),
                path(&program.program),
            ],
            needs: vec![program.program, OMNIORB_TLS_LIBRARY.into()],
            program: "env".into(),
        };
        Programs {
            server: loading(server),
            client: loading(client),
        }
    },
    limit: |giop| {
        let mut args = (OMNIORB.limit)(giop);
        let trust = path(&certificates().authority.trust());
        let own = path(&certificates().omniorb);
        for (option, value) in [
            ("-ORBsslCAFile", &*trust),
            ("-ORBsslKeyFile", &*own),
            // It loads the key only if there is a password, whether the key needs one or not.
            ("-ORBsslKeyPassword", PASSWORD),
            ("-ORBsslVerifyMode", "peer,fail"),
        ] {
            args.extend([option, value].map(str::to_owned));
        }
        args
    },
    tls_at: |port| {
        let port = if port == 0 {
            String::new()
        } else {
            port.to_string()
        };
        [
            "-ORBendPoint".to_owned(),
            format!("giop:ssl:127.0.0.1:{port}"),
        ]
    },
    ..OMNIORB
};

pub(super) static JACORB_TLS: Brand = Brand {
    limit: |giop| {
        let mut args = (JACORB.limit)(giop);
        let store = path(&jacorb_store().0);
        // Bits 0x20 and 0x40: both sides prove who they are.
        for (name, value) in [
            ("security.support_ssl", "on"),
            (
                "ssl.socket_factory",
                "org.jacorb.security.ssl.sun_jsse.SSLSocketFactory",
            ),
            (
                "ssl.server_socket_factory",
                "org.jacorb.security.ssl.sun_jsse.SSLServerSocketFactory",
            ),
            ("security.keystore", &store),
            ("security.keystore_password", PASSWORD),
            ("security.keystore_type", "JKS"),
            ("security.jsse.trustees_from_ks", "on"),
            ("security.ssl.server.supported_options", "60"),
            ("security.ssl.server.required_options", "60"),
            ("security.ssl.client.supported_options", "60"),
            ("security.ssl.client.required_options", "60"),
            ("security.ssl.corbaloc_ssliop.supported_options", "60"),
            ("security.ssl.corbaloc_ssliop.required_options", "60"),
        ] {
            args.push(format!("-Djacorb.{name}={value}"));
        }
        args
    },
    tls_at: |port| {
        [
            format!("-DOASSLPort={port}"),
            "-DOAIAddr=127.0.0.1".to_owned(),
        ]
    },
    ..JACORB
};

const ALL: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS, WIDE];

/// As omniORB and JacORB keep their strings.
fn over_tls(ours: fn(Builder) -> Builder) -> Talk {
    Talk {
        utf8: false,
        ours,
        ..Talk::new("1.2", Over::Tls)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_our_server() {
    let talk = Talk {
        utf8: true,
        ..over_tls(with_omniorb)
    };
    among_ourselves(talk, &[DATA, OBJECTS, WAITS, FORWARDS, WIDE]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_omniorb() {
    our_client::<PeerRef>(&OMNIORB_TLS, over_tls(with_omniorb), ALL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_passes_every_cell_on_our_server() {
    let theirs = Theirs {
        callbacks: Over::Tls,
        only: &[],
        without: &[],
    };
    let talk = Talk {
        args: &["--tcs", "utf8"],
        ..over_tls(with_omniorb)
    };
    their_client::<PeerRef>(&OMNIORB_TLS, talk, theirs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_passes_every_cell_on_jacorb() {
    let all = [ALL, &[VERY_BIG]].concat();
    our_client::<PeerRef>(&JACORB_TLS, over_tls(with_jacorb), &all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_passes_every_cell_on_our_server() {
    let theirs = Theirs {
        callbacks: Over::Tls,
        only: &[],
        without: &[],
    };
    their_client::<PeerRef>(&JACORB_TLS, over_tls(with_jacorb), theirs).await;
}

/// A server for clients without certificates, and the port and key of its object.
async fn anybodys() -> (Tls, zorb::Orb, u16) {
    let own = &certificates().zorb;
    let tls = Tls::new(TlsOptions::default().certificate(own, own)).expect("certificates");
    let server = zorb::Orb::builder()
        .transport(Arc::new(tls.clone()))
        .listen("ssliop://127.0.0.1:0")
        .build()
        .await
        .expect("it listens");
    let object = PeerRef::serve(&server);
    server
        .key_table()
        .bind("Peer", &object)
        .expect("a free key");
    let port = server.endpoints()[0].port().expect("a port");
    (tls, server, port)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_renegotiates_gets_no_second_handshake() {
    if !have("renegotiation", &[Path::new("openssl")]) {
        return;
    }
    let (tls, _server, port) = anybodys().await;
    let at = format!("127.0.0.1:{port}");
    let mut client = Command::new("openssl")
        .args(["s_client", "-tls1_2", "-connect", &at])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("openssl");
    let mut input = client.stdin.take().expect("a pipe");
    let mut output = BufReader::new(client.stdout.take().expect("a pipe"));
    let mut said = String::new();
    // The last line about the session.
    while !said.contains("Extended master secret") {
        assert!(output.read_line(&mut said).expect("text") > 0, "{said}");
    }
    // A line that begins so asks for another handshake.
    input.write_all(b"R\n").expect("it reads");
    output.read_to_string(&mut said).expect("text");
    let mut errors = String::new();
    let mut stderr = client.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut errors).expect("text");
    client.wait().expect("it ends");
    assert!(errors.contains("RENEGOTIATING"), "{errors}");
    assert!(errors.contains("no renegotiation"), "{errors}");
    assert_eq!(tls.handshakes().done, 1);
}

/// Writes down the keys of sessions, in the form that tshark reads.
#[derive(Debug)]
struct KeyFile(Mutex<std::fs::File>);

impl KeyLog for KeyFile {
    fn log(&self, label: &str, random: &[u8], secret: &[u8]) {
        let hex = |octets: &[u8]| -> String { octets.iter().map(|o| format!("{o:02x}")).collect() };
        let mut file = self.0.lock().expect("no panic");
        writeln!(file, "{label} {} {}", hex(random), hex(secret)).expect("written");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tshark_reads_the_handshake_and_with_the_keys_all_of_it() {
    if !crate::tshark::found("tshark/tls") {
        return;
    }
    let (_tls, server, port) = anybodys().await;
    let (tap, address) = Tap::before_address(("127.0.0.1".to_owned(), port));
    let folder = tempfile::tempdir().expect("a folder");
    let (keys, capture) = (folder.path().join("keys"), folder.path().join("tls.pcap"));
    let mut roots = RootCertStore::empty();
    let trust = certificates().authority.trust();
    for certificate in CertificateDer::pem_file_iter(trust).expect("a file") {
        let certificate = certificate.expect("a certificate");
        roots.add(certificate).expect("an authority");
    }
    let mut config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let file = std::fs::File::create(&keys).expect("a file");
    config.key_log = Arc::new(KeyFile(Mutex::new(file)));
    let options = TlsOptions::default().client_config(Arc::new(config));
    let client = zorb::Orb::builder().transport(Arc::new(Tls::new(options).expect("no files")));
    let client = client.build().await.expect("a client");
    let url = format!("corbaloc:ssliop:1.2@127.0.0.1:{}/Peer", address.port());
    let object = client.string_to_object(&url).await.expect("a URL");
    for _ in 0..3 {
        assert!(!object.non_existent().await.expect("an answer"));
    }
    client.shutdown(true).await.expect("outside any upcall");
    server.shutdown(true).await.expect("outside any upcall");
    tap.finish().write_pcap(&capture).expect("written");
    let handshakes = crate::tshark::fields(&capture, "tls.handshake.type", &[]);
    // ClientHello and ServerHello; what follows is encrypted.
    assert_eq!(handshakes, ["1", "2"]);
    let keys = format!("tls.keylog_file:{}", keys.display());
    let with_keys = ["-o", &keys];
    let handshakes = crate::tshark::fields(&capture, "tls.handshake.type", &with_keys);
    // EncryptedExtensions, Certificate, CertificateVerify, Finished of both, and a ticket.
    for kind in ["8", "11", "15", "20", "4"] {
        assert!(
            handshakes.iter().any(|found| found == kind),
            "{handshakes:?}"
        );
    }
}
