//! Every form of an object URL, with a server behind it.

use crate::references::{PlaceRef, Server, client, place, profile};
use std::io::Write;
use std::time::Duration;
use zorb::{CompletionStatus, Error, Forward, Orb, SystemExceptionKind as Kind};

/// A bound against hangs, not a measurement.
const HANG: Duration = Duration::from_secs(10);

#[tokio::test]
async fn every_form_of_a_corbaloc_leads_to_the_server() {
    let v4 = Server::start("v4", "iiop://localhost:0").await;
    let v6 = Server::start("v6", "iiop://[::1]:0").await;
    let orb = client().await;
    let key = v4.key();
    let port = v4.address().rsplit_once(':').unwrap().1.to_owned();
    // Every octet escaped, and in either case.
    let octets = profile(&v4.place).object_key;
    let escaped: String = octets.iter().map(|octet| format!("%{octet:02x}")).collect();
    for (url, name) in [
        (format!("corbaloc:iiop:1.0@localhost:{port}/{key}"), "v4"),
        (format!("corbaloc:iiop:1.1@localhost:{port}/{key}"), "v4"),
        (format!("corbaloc:iiop:1.2@localhost:{port}/{key}"), "v4"),
        // A server of a later version than ours.
        (format!("corbaloc:iiop:1.9@localhost:{port}/{key}"), "v4"),
        (format!("CorbaLoc:IIOP:localhost:{port}/{key}"), "v4"),
        // An empty host is this one.
        (format!("corbaloc::1.2@:{port}/{key}"), "v4"),
        (format!("corbaloc::localhost:{port}/{escaped}"), "v4"),
        (
            format!("corbaloc::{}/{}", v6.address(), escaped.to_uppercase()),
            "v6",
        ),
    ] {
        assert_eq!(place(&orb, &url).await.name().await.unwrap(), name, "{url}");
    }
}

#[tokio::test]
async fn nothing_is_contacted_before_the_first_call_and_the_default_port_is_2809() {
    let orb = client().await;
    let place = place(&orb, "corbaloc:iiop:1.2@nowhere.invalid/a%2Fb%20c").await;
    let body = profile(&place);
    assert_eq!(
        (body.address.host.as_str(), body.address.port),
        ("nowhere.invalid", 2809)
    );
    assert_eq!(&body.object_key[..], b"a/b c");
    assert_eq!(place.as_ref().type_id(), "");
}

#[tokio::test]
async fn a_corbaloc_states_no_code_sets_until_it_is_forwarded_to_a_reference_that_does() {
    let server = Server::start("plain", "iiop://127.0.0.1:0").await;
    let address = server.address();
    let key = server.key();
    let orb = client().await;
    for version in ["", "1.0@", "1.1@", "1.2@"] {
        let plain = place(&orb, &format!("corbaloc::{version}{address}/{key}")).await;
        assert_eq!(plain.narrow("é").await.unwrap(), "é", "{version}");
        let refused = plain.narrow("Ж").await.unwrap_err();
        assert_eq!(refused.kind, Kind::DataConversion, "{version}");
        let refused = plain.wide("Ж").await.unwrap_err();
        assert_eq!(
            refused.completed,
            CompletionStatus::No,
            "{version}: {refused}"
        );
    }
    let poa = server.orb.root_poa().find_poa("places").unwrap();
    let sent_on = poa.create_reference_with_id::<PlaceRef>("there").unwrap();
    poa.forward_object(&sent_on, Forward::to(&server.place))
        .unwrap();
    let key = zorb_giop::url::escape(&profile(&sent_on).object_key);
    let sent_on = place(&orb, &format!("corbaloc::{address}/{key}")).await;
    assert_eq!(sent_on.name().await.unwrap(), "plain");
    assert_eq!(sent_on.wide("Ж").await.unwrap(), "Ж");
    assert_eq!(sent_on.narrow("Ж").await.unwrap(), "Ж");
}

#[tokio::test]
async fn a_file_may_hold_any_url_and_is_named_when_it_does_not() {
    let server = Server::start("filed", "iiop://127.0.0.1:0").await;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        format!("file://{}", path.display())
    };
    let orb = Orb::builder().build().await.unwrap();
    let ior = write("ior", &format!("\n {}\n", server.reference()));
    let loc = write(
        "loc",
        &format!("corbaloc::{}/{}", server.address(), server.key()),
    );
    let file = write("file", &loc);
    for url in [ior, loc, file] {
        assert_eq!(place(&orb, &url).await.name().await.unwrap(), "filed");
    }
    for (name, text, expected) in [
        (
            "empty",
            "",
            "empty: expected a reference, found an empty file",
        ),
        (
            "text",
            "hello",
            "text: expected IOR:, corbaloc:, corbaname: or file: in it",
        ),
        (
            "cut",
            &server.reference()[..100],
            "cut: malformed reference",
        ),
        (
            "large",
            &"x".repeat(2 << 20),
            "expected a reference, found more than 1048576 octets",
        ),
    ] {
        let error = orb.string_to_object(&write(name, text)).await.unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{error}");
        let shown = format!("{error:#}");
        assert!(shown.contains(expected), "{shown}");
    }
    let error = orb
        .string_to_object("file:///no/such/file")
        .await
        .unwrap_err();
    let shown = format!("{error:#}");
    let expected = "cannot read /no/such/file: No such file";
    assert!(shown.starts_with(expected), "{shown}");
    let circle = folder.path().join("circle");
    // It has no writer, and opening it would wait for one.
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (kind, path) in [("pipe", &pipe), ("folder", &folder.path().to_owned())] {
        let url = format!("file://{}", path.display());
        let read = tokio::time::timeout(HANG, orb.string_to_object(&url));
        let error = read.await.expect("it hangs").unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{error}");
        let says = "expected a regular file";
        let shown = format!("{error:#}");
        assert!(shown.contains(says), "{kind}: {shown}");
    }
    let url = write("circle", &format!("file://{}", circle.display()));
    let error = orb.string_to_object(&url).await.unwrap_err().to_string();
    assert!(error.contains("URLs that lead to another URL"), "{error}");
}

#[tokio::test]
async fn a_nil_reference_is_read_as_an_error() {
    let orb = client().await;
    let nil = zorb::Ior {
        type_id: String::new(),
        profiles: Vec::new(),
    };
    let error = orb
        .string_to_object(&nil.to_ior_string().unwrap())
        .await
        .unwrap_err();
    let Error::System(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.kind, Kind::InvObjref);
}
