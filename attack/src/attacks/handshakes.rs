//! Handshakes of TLS that begin and do not end, and what is none.

use super::flood::Flood;
use crate::Failure;
use crate::report::{Aim, count};
use crate::scene::{Scene, connections};
use crate::wire::host;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zorb::tls::rustls::pki_types::ServerName;
use zorb::tls::rustls::{ClientConfig, ClientConnection, RootCertStore};
use zorb::tls::{Tls, TlsOptions};
use zorb::{ObjectRef, Orb};

/// The group of the attackers' hosts.
const ATTACKERS: u8 = 15;
/// Connections from one host.
const PER_HOST: usize = 100;
/// Handshakes that may be under way at the victim, connections behind them that wait to be accepted, and some that are
/// being closed.
const MOST_UNDER_WAY: f64 = (1_024 + 256 + 64) as f64;
/// Connections whose handshake comes an octet at a time.
const SLOW: usize = 100;
/// After this, the plain port has closed what was none of its messages: it waits until the peer has read why.
const PLAIN_PORT_LINGERS: Duration = Duration::from_secs(3);
/// Seconds after which the victim has closed all of them: the time of a handshake, and some to notice.
const NAMED_TIME: f64 = 12.0;

/// Connections to the port for TLS that are silent, stop within a record, come an octet at a time, answer nothing to the server's part of a handshake, or speak
/// something else; and a part of a handshake to the plain port. Honest clients come meanwhile.
pub(crate) fn half_open(scene: &mut Scene) -> Result<(), Failure> {
    let wanted = connections(scene.sized(10_000, 2_000));
    let hello = hello()?;
    let plain = scene.target.request(1, "ping", |_| Ok(()))?;
    let tls = scene.over_tls();
    let mut flood = Flood::default();
    let mut refused = 0;
    for n in 0..wanted {
        let target = if n % 6 == 5 { &scene.target } else { &tls };
        let octets = match n % 6 {
            0 => Vec::new(),
            // A record of 16 KiB, of which more does not come.
            1 => [&[0x16, 3, 1, 0x40, 0][..], &[7; 1 << 10]].concat(),
            2 => plain.clone(),
            3 => (0..scene.rng.usize(1..2_000))
                .map(|_| scene.rng.u8(..))
                .collect(),
            _ => hello.clone(),
        };
        match target.connect_narrow(host(ATTACKERS, n / PER_HOST)) {
            Ok(stream) => flood.add(stream, octets)?,
            Err(_) => refused += 1,
        }
    }
    flood.pour();
    let mut slow = Flood::default();
    for n in 0..SLOW {
        if let Ok(stream) = tls.connect_narrow(host(ATTACKERS + 1, n)) {
            slow.add(stream, hello.clone())?;
        }
    }
    slow.trickle(Duration::from_millis(50), Duration::from_secs(1));
    std::thread::sleep(PLAIN_PORT_LINGERS);
    let under_way = scene
        .victim
        .descriptors()?
        .saturating_sub(scene.descriptors);
    let note = format!("{} connections, {refused} refused", flood.len());
    let aim = Aim::AtMost(MOST_UNDER_WAY);
    scene.report.row("under-way", count(under_way), aim, note);

    let clients = scene.sized(50, 10);
    let (served, slowest) = honest_calls(scene, clients)?;
    scene.report.passed("honest-handshakes", served, clients);
    let milliseconds = slowest.as_secs_f64() * 1e3;
    let (aim, note) = (Aim::AtMost(1_000.0), "the slowest");
    (scene.report).timed("honest-handshake-milliseconds", milliseconds, aim, note);

    scene.report_memory()?;
    let patience = Duration::from_secs_f64(NAMED_TIME + 10.0);
    let took = scene.until_closed(patience)?.unwrap_or(patience);
    let note = format!("{} are open", flood.open() + slow.open());
    let aim = Aim::AtMost(NAMED_TIME);
    (scene.report).row("closed-seconds", took.as_secs_f64(), aim, note);
    Ok(())
}

/// The first message of a client.
fn hello() -> Result<Vec<u8>, Failure> {
    let config = ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1")?;
    let mut client = ClientConnection::new(Arc::new(config), name)?;
    let mut octets = Vec::new();
    client.write_tls(&mut octets)?;
    Ok(octets)
}

/// Clients connect over TLS and call, one after the other; gives how many were served, and the longest that one took.
fn honest_calls(scene: &Scene, clients: usize) -> Result<(usize, Duration), Failure> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let (mut served, mut slowest) = (0, Duration::ZERO);
        for _ in 0..clients {
            let tls = Tls::new(TlsOptions::default().trust(&scene.trust))?;
            let client = Orb::builder().transport(Arc::new(tls)).build().await?;
            let object: ObjectRef = client.string_to_object(&scene.reference).await?;
            let begun = Instant::now();
            match object.non_existent().await {
                Ok(false) => served += 1,
                other => eprintln!("an honest client over TLS: {other:?}"),
            }
            slowest = slowest.max(begun.elapsed());
            client.shutdown(true).await?;
        }
        Ok((served, slowest))
    })
}
