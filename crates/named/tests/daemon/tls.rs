//! Clients that come by TLS.

#[path = "../../../tls/tests/support/mod.rs"]
mod certificates;

use crate::common::{Daemon, client, command};
use certificates::Authority;
use zorb::Orb;

#[tokio::test(flavor = "multi_thread")]
async fn the_program_is_reached_by_tls_and_says_which_option_its_certificate_lacks() {
    let listen = ["--listen", "ssliop://127.0.0.1:0"];
    let without = Daemon::started(command(&listen)).err().unwrap();
    let said = without.finish().lines.join("\n");
    let option = "-ORBTransportProperty ssliop.certificate=FILE";
    assert!(said.contains(option), "{said}");

    let authority = Authority::new("CA");
    let certificate = authority.issue("named", &["127.0.0.1"]);
    let certificate = format!("ssliop.certificate={}", certificate.display());
    let property = ["-ORBTransportProperty", &certificate];
    let daemon = Daemon::start(&[listen, property].concat());
    let trust = format!("ssliop.trust={}", authority.trust().display());
    let orb = Orb::builder().transport_property(trust);
    let root = client(&orb.build().await.unwrap(), &daemon.url).await;
    root.bind_new_context("bank").await.unwrap();
    assert!(daemon.url.starts_with("corbaloc:ssliop:"), "{}", daemon.url);
}
