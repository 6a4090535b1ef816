//! `zorb ping` against objects that exist, were deactivated, are forwarded, or never existed.

#[path = "../../tls/tests/support/mod.rs"]
mod certificates;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "../../../tests/support/mod.rs"]
mod support;

use std::io::Write as _;
use std::path::Path;
use support::{Ended, Running};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use zorb::{Interface, Orb, SystemException};

zorb::idl! {
    module Ping {
        interface Target { void hit(); };
    };
}

use ping::{Target, TargetRef, TargetServant};

struct Here;

impl Target for Here {
    async fn hit(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

async fn serve() -> (Orb, TargetRef) {
    serve_at("127.0.0.1").await
}

async fn serve_at(host: &str) -> (Orb, TargetRef) {
    let orb = Orb::builder().listen(format!("iiop://{host}:0"));
    let orb = orb.build().await;
    let orb = orb.unwrap();
    let target = orb.root_poa().activate(TargetServant::new(Here)).unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    (orb, target)
}

/// Runs `zorb ping`, and returns its exit status, with all of its output.
fn ping(args: &[&str]) -> (Option<i32>, String) {
    let args = [&["ping", "--interval", "1ms"], args].concat();
    let ended: Ended = Running::start(Path::new(env!("CARGO_BIN_EXE_zorb")), &args).finish();
    (ended.status.code(), ended.lines.join("\n"))
}

/// The exit statuses.
const THERE: i32 = 0;
const FAILED: i32 = 1;
const NO: i32 = 3;

#[track_caller]
fn check(args: &[&str], status: i32, expected: &[&str]) {
    let (ended, said) = ping(args);
    for each in expected {
        assert!(said.contains(each), "{each}: {said}");
    }
    assert_eq!(ended, Some(status), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_there_answers_every_question() {
    let (orb, target) = serve().await;
    let ior = orb.object_to_string(&target);
    let there = format!("2  there from {}", orb.endpoints()[0]);
    let title = format!("IDL:Ping/Target:1.0 at {}", orb.endpoints()[0]);
    check(
        &["-c", "2", &ior],
        THERE,
        &[
            &title,
            &there,
            "2 asked, 2 answered; round trip least/mean/most",
        ],
    );
    check(&["-c", "1", "--locate", &ior], THERE, &["1  there from"]);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    // A file in which a mail program has broken the line.
    let (head, tail) = ior.split_at(40);
    write!(file, "{head}\r\n {tail}\r\n").unwrap();
    let path = file.path().to_str().unwrap();
    check(&["-c", "1", path], THERE, &["1  there from"]);
    let broken = format!("{head}\n{tail}");
    check(&["-c", "1", &broken], THERE, &["1  there from"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_says_itself_what_it_is() {
    let (orb, target) = serve().await;
    let ior = orb.object_to_string(&target);
    // The type id of the reference is not used for the answer.
    let (_, said) = ping(&["-c", "1", "--is-a", "IDL:Ping/Target:1.0", "--trace", &ior]);
    assert!(
        said.contains("1  yes from") && said.contains("operation=\"_is_a\""),
        "{said}"
    );
    check(
        &["-c", "1", "--is-a", "IDL:Other:1.0", &ior],
        NO,
        &["1  no IDL:Other:1.0 from", "1 asked, 1 answered, 0 yes"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_ready_when_it_says_so() {
    let (orb, _) = serve().await;
    let readiness = orb.serve_health().unwrap();
    let address = orb.endpoints()[0]
        .to_string()
        .replace("iiop://", "corbaloc:iiop:1.2@");
    let health = format!("{address}/Health");
    let ask = ["--ready", "-c", "1", &health];
    check(
        &ask,
        NO,
        &["1  not ready from", "1 asked, 1 answered, 0 ready"],
    );
    readiness.set(true);
    check(&ask, THERE, &["1  ready from", "1 asked, 1 answered;"]);
    orb.shutdown(true).await.unwrap();
    let (status, said) = ping(&ask);
    assert_eq!(status, Some(1), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_gone_is_distinguished_from_a_server_that_is() {
    // An address of its own: at 127.0.0.1 another test may have begun to listen to the port by the time of the last question.
    let (orb, target) = serve_at("127.83.0.1").await;
    let ior = orb.object_to_string(&target);
    orb.root_poa().deactivate_object(&target).unwrap();
    check(
        &["-c", "1", &ior],
        NO,
        &[
            "1  OBJECT_NOT_EXIST from iiop://127",
            "of an earlier run of the server",
            "1 asked, 1 answered, 0 there",
        ],
    );
    check(
        &["-c", "1", "--locate", &ior],
        NO,
        &["1  UNKNOWN_OBJECT from", "1 asked, 1 answered, 0 there"],
    );
    orb.shutdown(true).await.unwrap();
    drop((orb, target));
    check(
        &["-c", "1", &ior],
        FAILED,
        &[
            "1  failed",
            "TRANSIENT",
            "Connection refused",
            "no server listens there",
            "1 asked, 0 answered",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forward_is_followed_and_reported() {
    let (orb, target) = serve().await;
    let forward: TargetRef = orb
        .root_poa()
        .create_forward(zorb::Forward::to(&target))
        .unwrap();
    let elsewhere = orb.endpoints()[0].to_string();
    check(
        &["-c", "1", &orb.object_to_string(&forward)],
        THERE,
        &[
            &format!("1  forwarded by {elsewhere} to {elsewhere}"),
            "1  there from",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_resolve_is_reported_with_its_name() {
    check(
        &["-c", "1", "corbaloc::nowhere.invalid/Bank"],
        FAILED,
        &[
            "1  failed",
            "nowhere.invalid",
            "the host name is not known here",
        ],
    );
    check(
        &["-c", "1", "bank.ior"],
        FAILED,
        &[
            "expected IOR:, corbaloc:",
            "found \"bank.ior\": No such file",
        ],
    );
    check(
        &["-c", "1", "localhost:2809"],
        FAILED,
        &[
            "found \"localhost:2809\"",
            "corbaloc:iiop:1.2@localhost:2809/KEY",
        ],
    );
    check(
        &["-c", "1", "corbaname::127.0.0.1:1#bank"],
        FAILED,
        &["Connection refused", "no server listens there"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_listens_and_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("corbaloc::{}/Bank", listener.local_addr().unwrap());
    let holding = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        std::future::pending::<()>().await;
        drop(stream);
    });
    check(
        &["-c", "1", "--timeout", "200ms", &url],
        FAILED,
        &["1  failed", "TIMEOUT", "there was no answer in time"],
    );
    holding.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_speaks_something_else_is_reported_as_not_giop() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("corbaloc::{}/Bank", listener.local_addr().unwrap());
    tokio::spawn(async move {
        // The server sends first, as an SSH server does, so some calls are not sent, and are tried again.
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"SSH-2.0-bank\r\n").await.unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    });
    check(
        &["-c", "1", &url],
        FAILED,
        &[
            "1  failed",
            "COMM_FAILURE",
            "does not speak GIOP: is it the right port?",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_is_written_beside_the_answer() {
    let (orb, target) = serve().await;
    let ior = orb.object_to_string(&target);
    check(
        &["-c", "1", "--trace", &ior],
        THERE,
        &[
            "sending Request peer=",
            "operation=\"_non_existent\"",
            "received Reply peer=",
        ],
    );
    let (_, said) = ping(&["-c", "1", "--trace=payload", &ior]);
    assert!(said.contains("0000  47 49 4f 50 01 02"), "{said}");
    let (_, said) = ping(&["-c", "1", "-ORBtraceLevel", "30", &ior]);
    assert!(said.contains("0000  47 49 4f 50 01 02"), "{said}");
    let (_, said) = ping(&["-c", "1", "-ORBtraceLevel", "25", &ior]);
    assert!(
        said.contains("sending Request") && !said.contains("0000  47"),
        "{said}"
    );
    let (_, said) = ping(&["-c", "1", &ior]);
    assert!(!said.contains("sending"), "{said}");
    assert!(!target.as_object().non_existent().await.unwrap());
}

mod over_tls {
    use super::certificates::Authority;
    use super::*;
    use std::sync::Arc;
    use zorb::tls::{Tls, TlsOptions};

    /// A server over TLS with this certificate, and a URL of its object.
    async fn serve_with(certificate: &Path) -> (Orb, String) {
        let tls = Tls::new(TlsOptions::default().certificate(certificate, certificate)).unwrap();
        let orb = Orb::builder()
            .transport(Arc::new(tls))
            .listen("ssliop://127.0.0.1:0");
        let orb = orb.build().await.unwrap();
        let target = orb.root_poa().activate(TargetServant::new(Here)).unwrap();
        orb.key_table().bind("Target", &target).unwrap();
        orb.root_poa().the_poa_manager().activate().unwrap();
        let url = orb.corbaloc_url("Target").unwrap();
        (orb, url)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn ping_says_in_one_line_whether_name_date_or_chain_of_a_certificate_is_wrong() {
        let authority = Authority::new("CA");
        let trust = authority.trust();
        let trust = trust.to_str().unwrap();
        let good = authority.issue("good", &["127.0.0.1"]);
        let (_orb, url) = serve_with(&good).await;
        let args = ["-c", "1", "--tls", trust, &url];
        check(
            &args,
            THERE,
            &["at ssliop://127.0.0.1:", "there from ssliop://"],
        );
        let bad = |text: String, expected: &str| {
            let line = text.lines().find(|line| line.contains(expected));
            assert!(line.is_some_and(|line| line.contains("failed")), "{text}");
        };
        let (_, said) = ping(&["-c", "1", "--tls", trust, &url.replace("ssliop", "iiop")]);
        assert!(said.contains("TLS"), "{said}");
        let foreign = Authority::new("foreign");
        let file = foreign.trust();
        let (status, said) = ping(&["-c", "1", "--tls", file.to_str().unwrap(), &url]);
        assert_eq!(status, Some(FAILED));
        bad(
            said,
            "chain: the server's certificate leads to none of the trusted authorities",
        );
        let named = authority.issue("named", &["bank.example"]);
        let (_orb, url) = serve_with(&named).await;
        let (_, said) = ping(&["-c", "1", "--tls", trust, &url]);
        bad(
            said,
            "name: the server's certificate is for bank.example, not for 127.0.0.1",
        );
        let old = authority.issue_with("old", &["127.0.0.1"], |params| {
            params.not_before = rcgen::date_time_ymd(2001, 1, 1);
            params.not_after = rcgen::date_time_ymd(2002, 3, 4);
        });
        let (_orb, url) = serve_with(&old).await;
        let (_, said) = ping(&["-c", "1", "--tls", trust, &url]);
        bad(
            said,
            "date: the server's certificate expired at 2002-03-04 00:00:00 UTC",
        );
        let (_, said) = ping(&["-c", "1", "--tls", "/nonexistent", &url]);
        assert!(
            said.contains("ssliop.trust") || said.contains("trust="),
            "{said}"
        );
    }
}
