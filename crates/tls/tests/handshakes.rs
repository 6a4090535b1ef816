//! What servers and clients find out about each other, and what they say when that is not enough.

mod support;

use bytes::BytesMut;
use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use support::Authority;
use zorb_tls::{ClientCertificates, Tls, TlsOptions};
use zorb_transport::{Connection, Endpoint, Listener, SubjectName, Tcp, Transport, TransportError};

type Opened = Result<Box<dyn Connection>, TransportError>;

/// A server with a certificate of this authority for 127.0.0.1, and what accepts its connections.
async fn server(options: TlsOptions) -> (Tls, Box<dyn Listener>) {
    let tls = Tls::new(options).unwrap();
    let any = tls.addressing().parse("127.0.0.1:0").unwrap();
    let listener = tls.listen(&any).await.unwrap();
    (tls, listener)
}

fn client(options: TlsOptions) -> Tls {
    Tls::new(options).unwrap()
}

async fn accept(listener: &dyn Listener) -> Box<dyn Connection> {
    poll_fn(|cx| listener.poll_accept(cx)).await.unwrap()
}

/// Sends an octet, so that the other end reads something.
fn send(connection: &dyn Connection, octets: &[u8]) {
    assert_eq!(
        connection.try_write(&[IoSlice::new(octets)]).unwrap(),
        octets.len()
    );
}

async fn receive(connection: &dyn Connection) -> std::io::Result<Vec<u8>> {
    let mut octets = BytesMut::with_capacity(1_024);
    poll_fn(|cx| connection.poll_read(cx, &mut octets)).await?;
    Ok(octets.to_vec())
}

fn cause(opened: Opened) -> String {
    opened.unwrap_err().cause().to_string()
}

/// Waits until the server has counted this many failed handshakes, and returns why the last one failed.
async fn failures(tls: &Tls, count: u64) -> String {
    loop {
        let handshakes = tls.handshakes();
        if handshakes.failed >= count {
            return handshakes.last_failure.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

fn port_of(listener: &dyn Listener) -> u16 {
    listener.endpoint().port().unwrap()
}

fn plain(listener: &dyn Listener) -> TcpStream {
    let address = SocketAddr::from(([127, 0, 0, 1], port_of(listener)));
    TcpStream::connect(address).unwrap()
}

#[tokio::test]
async fn both_ends_learn_the_names_in_the_certificate_of_the_other() {
    let authority = Authority::new("CA");
    let own = authority.issue("bank", &["127.0.0.1", "bank.example"]);
    let options = TlsOptions::default()
        .trust(authority.trust())
        .certificate(&own, &own)
        .client_certificates(ClientCertificates::Required);
    let (_server, listener) = server(options).await;
    let alice = authority.issue("alice", &["alice.example"]);
    let client = client(
        TlsOptions::default()
            .trust(authority.trust())
            .certificate(&alice, &alice),
    );
    let connection = client.connect(listener.endpoint()).await.unwrap();
    let accepted = accept(&*listener).await;

    let seen = accepted.peer_identity().unwrap();
    let seen = seen.certificate().unwrap();
    assert_eq!((&*seen.subject, seen.is_verified), ("CN=alice", true));
    assert_eq!(seen.names, [SubjectName::Dns("alice.example".to_owned())]);
    assert_eq!(seen.chain.len(), 1);
    let seen = connection.peer_identity().unwrap();
    let seen = seen.certificate().unwrap();
    assert_eq!(seen.subject, "CN=bank");
    let names: Vec<_> = seen.names.iter().map(SubjectName::to_string).collect();
    assert_eq!(names, ["IP:127.0.0.1", "DNS:bank.example"]);
    assert!(connection.capabilities().reports_peer_identity());
    send(&*connection, b"question");
    assert_eq!(receive(&*accepted).await.unwrap(), b"question");
}

#[tokio::test]
async fn a_server_is_refused_by_name_date_and_chain_and_the_error_says_which() {
    let authority = Authority::new("CA");
    let check = async |own: std::path::PathBuf, trust: &Authority, expected: &str| {
        let (server, listener) = server(TlsOptions::default().certificate(&own, &own)).await;
        let client = client(TlsOptions::default().trust(trust.trust()));
        let opened = client.connect(listener.endpoint()).await;
        let error = opened.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        let text = error.cause().to_string();
        assert!(text.starts_with(expected), "{text}");
        // The server hears it, too.
        let text = failures(&server, 1).await;
        assert!(text.contains("the peer refused our certificate"), "{text}");
    };
    let other = authority.issue("other", &["other.example"]);
    let name = "name: the server's certificate is for ";
    check(other, &authority, name).await;
    // A common name does not count.
    let common = authority.issue("127.0.0.1", &[]);
    check(common, &authority, name).await;
    let expired = authority.issue_with("expired", &["127.0.0.1"], |params| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 3, 4);
    });
    let date = "date: the server's certificate expired at 2002-03-04 00:00:00 UTC, and it is 2";
    check(expired, &authority, date).await;
    let early = authority.issue_with("early", &["127.0.0.1"], |params| {
        params.not_before = rcgen::date_time_ymd(2901, 1, 1);
        params.not_after = rcgen::date_time_ymd(2902, 1, 1);
    });
    let date = "date: the server's certificate is valid from 2901-01-01 00:00:00 UTC on";
    check(early, &authority, date).await;
    let good = authority.issue("good", &["127.0.0.1"]);
    let chain = "chain: the server's certificate leads to none of the trusted authorities";
    check(good, &Authority::new("another"), chain).await;
}

#[tokio::test]
async fn names_are_left_out_only_where_that_is_asked_for_and_the_chain_counts_even_then() {
    let authority = Authority::new("CA");
    let own = authority.issue("nameless", &[]);
    let (_server, listener) = server(TlsOptions::default().certificate(&own, &own)).await;
    let any = |trust: &Authority| {
        TlsOptions::default()
            .trust(trust.trust())
            .accept_servers_whose_certificate_is_for_another_host()
    };
    let opened = client(any(&authority)).connect(listener.endpoint()).await;
    opened.unwrap();
    let stranger = Authority::new("stranger");
    let opened = client(any(&stranger)).connect(listener.endpoint()).await;
    let text = cause(opened);
    assert!(text.starts_with("chain: "), "{text}");
}

#[tokio::test]
async fn clients_prove_who_they_are_as_the_server_wants_it() {
    let (authority, stranger) = (Authority::new("CA"), Authority::new("stranger"));
    let own = authority.issue("bank", &["127.0.0.1"]);
    let alice = authority.issue("alice", &[]);
    let mallory = stranger.issue("mallory", &[]);
    let trusting = || TlsOptions::default().trust(authority.trust());
    for wanted in [ClientCertificates::Optional, ClientCertificates::Required] {
        let options = trusting()
            .certificate(&own, &own)
            .client_certificates(wanted);
        let (server, listener) = server(options).await;
        let known = client(trusting().certificate(&alice, &alice));
        let _known = known.connect(listener.endpoint()).await.unwrap();
        assert!(accept(&*listener).await.peer_identity().is_some());
        // In TLS 1.3, a client learns behind its handshake that it is refused.
        let refusal =
            async |options: TlsOptions| match client(options).connect(listener.endpoint()).await {
                Ok(connection) => receive(&*connection).await.unwrap_err().to_string(),
                Err(error) => error.cause().to_string(),
            };
        let text = refusal(trusting().certificate(&mallory, &mallory)).await;
        assert!(
            text.starts_with("the peer refused our certificate: its chain"),
            "{text}"
        );
        let text = failures(&server, 1).await;
        assert!(
            text.contains("chain: the client's certificate leads to none"),
            "{text}"
        );
        if wanted == ClientCertificates::Optional {
            let _unknown = client(trusting())
                .connect(listener.endpoint())
                .await
                .unwrap();
            assert!(accept(&*listener).await.peer_identity().is_none());
        } else {
            let text = refusal(trusting()).await;
            assert!(
                text.contains("there is none, and it requires one"),
                "{text}"
            );
            let text = failures(&server, 2).await;
            assert!(
                text.contains("the client has presented no certificate"),
                "{text}"
            );
        }
    }
    // A client's certificate that nobody asks for is not sent.
    let (_server, listener) = server(trusting().certificate(&own, &own)).await;
    let known = client(trusting().certificate(&alice, &alice));
    let _known = known.connect(listener.endpoint()).await.unwrap();
    assert!(accept(&*listener).await.peer_identity().is_none());
}

#[tokio::test]
async fn plain_text_at_a_port_for_tls_and_the_reverse_are_called_by_their_names() {
    let authority = Authority::new("CA");
    let own = authority.issue("bank", &["127.0.0.1"]);
    let (server, listener) = server(TlsOptions::default().certificate(&own, &own)).await;
    let cases: [(&[u8], &str); 3] = [
        (b"GIOP\x01\x02\x01\x00", "the peer speaks GIOP without TLS"),
        (
            b"GET / HTTP/1.1\r\n\r\n",
            "the peer speaks HTTP without TLS",
        ),
        (b"\x00\x01\x02\x03", "the peer does not speak TLS"),
    ];
    for (at, (octets, expected)) in cases.into_iter().enumerate() {
        let mut stream = plain(&*listener);
        stream.write_all(octets).unwrap();
        let text = failures(&server, at as u64 + 1).await;
        assert!(text.ends_with(expected), "{text}");
        // The answer is an alert, which tells a peer that knows TLS what is here.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(answer.get(..2), Some(&[0x15, 3][..]), "{answer:?}");
    }

    let tls = client(TlsOptions::default().trust(authority.trust()));
    let listener = Tcp::default()
        .listen(&Endpoint::iiop("127.0.0.1", 0))
        .await
        .unwrap();
    let endpoint = tls.addressing().parse(listener.endpoint().text()).unwrap();
    let (opened, _server) = tokio::join!(tls.connect(&endpoint), async {
        let server = accept(&*listener).await;
        send(&*server, b"GIOP\x01\x02\x01\x06\0\0\0\0");
        server
    });
    assert_eq!(cause(opened), "the peer speaks GIOP without TLS");
    // It reads what it does not understand, all or a part of it, and closes.
    for read in [8 << 10, 1] {
        let (opened, ()) = tokio::join!(tls.connect(&endpoint), async {
            let server = accept(&*listener).await;
            let mut octets = BytesMut::with_capacity(read);
            poll_fn(|cx| server.poll_read(cx, &mut octets))
                .await
                .unwrap();
        });
        let text = cause(opened);
        assert!(
            text.contains("without an answer to the TLS handshake"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn handshakes_that_stand_still_end_in_time_and_hold_up_nobody() {
    let authority = Authority::new("CA");
    let own = authority.issue("bank", &["127.0.0.1"]);
    let limit = Duration::from_secs(2);
    let options = TlsOptions::default()
        .certificate(&own, &own)
        .handshake_timeout(limit);
    let (server, listener) = server(options).await;
    let _silent = plain(&*listener);
    let mut slow = plain(&*listener);
    // The beginning of a record that never ends.
    slow.write_all(b"\x16\x03\x01\x02\x00").unwrap();
    let client = client(TlsOptions::default().trust(authority.trust()));
    let _client = client.connect(listener.endpoint()).await.unwrap();
    accept(&*listener).await;
    let text = failures(&server, 2).await;
    assert!(
        text.ends_with("the TLS handshake was not done within 2s"),
        "{text}"
    );
    assert_eq!(server.handshakes().late, 2);
    assert_eq!(slow.read(&mut [0; 1]).unwrap_or(0), 0, "closed");

    // The reverse: a server that never answers.
    let silent = Tcp::default()
        .listen(&Endpoint::iiop("127.0.0.1", 0))
        .await
        .unwrap();
    let endpoint = client.addressing().parse(silent.endpoint().text()).unwrap();
    let opened = client
        .connect_within(&endpoint, Duration::from_millis(300))
        .await;
    let error = opened.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(
        error
            .cause()
            .to_string()
            .contains("the TLS handshake was not done within")
    );
}

#[tokio::test]
async fn of_too_many_handshakes_the_one_that_has_lasted_longest_makes_room() {
    let authority = Authority::new("CA");
    let own = authority.issue("bank", &["127.0.0.1"]);
    let hour = Duration::from_secs(3_600);
    let options = TlsOptions::default().certificate(&own, &own);
    let options = options.max_handshakes(8).handshake_timeout(hour);
    let (server, listener) = server(options).await;
    let mut half_open: Vec<TcpStream> = (0..200).map(|_| plain(&*listener)).collect();
    failures(&server, 192).await;
    let client = client(TlsOptions::default().trust(authority.trust()));
    let _client = client.connect(listener.endpoint()).await.unwrap();
    accept(&*listener).await;
    assert_eq!(server.handshakes().evicted, 193);
    let (gone, kept) = half_open.split_at_mut(193);
    for stream in gone {
        assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
    }
    for stream in kept {
        stream.set_nonblocking(true).unwrap();
        let error = stream.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
}

#[tokio::test]
async fn new_certificates_are_used_from_the_next_connection_on_and_open_ones_stay() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let file = old.issue("bank", &["127.0.0.1"]);
    let (server, listener) = server(TlsOptions::default().certificate(&file, &file)).await;
    let of_old = client(TlsOptions::default().trust(old.trust()));
    let of_new = client(TlsOptions::default().trust(new.trust()));
    let before = of_old.connect(listener.endpoint()).await.unwrap();
    let accepted = accept(&*listener).await;

    let later = new.issue("bank", &["127.0.0.1"]);
    std::fs::copy(later, &file).unwrap();
    server.reload().unwrap();
    let _after = of_new.connect(listener.endpoint()).await.unwrap();
    let text = cause(of_old.connect(listener.endpoint()).await);
    assert!(text.starts_with("chain: "), "{text}");
    send(&*before, b"still here");
    assert_eq!(receive(&*accepted).await.unwrap(), b"still here");

    // What cannot be used is an error, and changes nothing.
    std::fs::write(&file, "no certificate").unwrap();
    let error = server.reload().unwrap_err().to_string();
    assert!(
        error.ends_with("bank.pem: expected certificates in PEM"),
        "{error}"
    );
    of_new.connect(listener.endpoint()).await.unwrap();
}

#[tokio::test]
async fn a_transport_that_lacks_something_says_what() {
    let endpoint = Tls::default().addressing().parse("127.0.0.1:1").unwrap();
    let error = cause(Tls::default().connect(&endpoint).await);
    assert_eq!(
        error,
        "no trusted authorities: TlsOptions::trust, or -ORBTransportProperty ssliop.trust=FILE"
    );
    let error = Tls::default().listen(&endpoint).await.unwrap_err();
    let error = error.cause().to_string();
    assert_eq!(
        error,
        "no certificate: TlsOptions::certificate, or -ORBTransportProperty ssliop.certificate=FILE"
    );
    let error = Tls::new(TlsOptions::default().trust("/nonexistent/ca.pem")).unwrap_err();
    assert!(
        error.to_string().starts_with("/nonexistent/ca.pem: "),
        "{error}"
    );
    let authority = Authority::new("CA");
    let (one, other) = (authority.issue("one", &[]), authority.issue("other", &[]));
    let error = Tls::new(TlsOptions::default().certificate(&one, &other)).unwrap_err();
    assert!(error.to_string().contains("one.pem: "), "{error}");
    let error = Tls::new(TlsOptions::default().certificate(authority.trust(), authority.trust()));
    let error = error.unwrap_err().to_string();
    assert!(
        error.ends_with("expected a private key in PEM, not encrypted"),
        "{error}"
    );
    let wanted = ClientCertificates::Required;
    let error = Tls::new(
        TlsOptions::default()
            .certificate(&one, &one)
            .client_certificates(wanted),
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no authority is trusted"), "{error}");
}
