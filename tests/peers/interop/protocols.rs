//! Our client on our own server over every messaging and every transport of one host: GIOP 1.0, 1.1, 1.2 and GIOPlite over TCP,
//! UNIX sockets, and the pipes of `examples/pipe`.

use super::client::{self, Cell, DATA, FORWARDS, OBJECTS, PeerRef, UNICODE, WAITS, WIDE};
use super::server;
use crate::matrix::{OURS, connected};
use crate::runner;
use std::path::Path;
use std::sync::Arc;
use zorb::transport::{Tcp, Transport, Unix};
use zorb::{GiopLite, Interface, Orb, Version};

#[path = "../../../examples/pipe/transport.rs"]
mod transport;
use transport::Pipe;

/// What messages are written in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Messaging {
    /// With the minor version.
    Giop(u8),
    Lite,
}

const MESSAGINGS: [Messaging; 4] = [
    Messaging::Giop(0),
    Messaging::Giop(1),
    Messaging::Giop(2),
    Messaging::Lite,
];

impl Messaging {
    const fn minor(self) -> u8 {
        match self {
            Self::Giop(minor) => minor,
            Self::Lite => Version::HIGHEST.minor,
        }
    }

    /// What this version can say.
    const fn cells(self) -> &'static [&'static [Cell]] {
        match self {
            // No code sets, and no wide text.
            Self::Giop(0) => &[DATA, OBJECTS, WAITS, FORWARDS],
            Self::Giop(1) => &[DATA, OBJECTS, WAITS, FORWARDS, UNICODE],
            _ => &[DATA, OBJECTS, WAITS, FORWARDS, UNICODE, WIDE],
        }
    }
}

/// What messages go over: each makes the transport that both ORBs have, and an address for each of them.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    /// Of endpoints of GIOPlite over it, and the tag of their profiles.
    lite: (&'static str, u32),
    transport: fn() -> Arc<dyn Transport>,
    address: fn(&Path, Side) -> String,
}

/// Both listen: the client's own objects are called back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Server,
    Client,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

const TCP: Row = Row {
    name: "TCP",
    lite: ("iioplite", 0x5a4f_5210),
    transport: || Arc::new(Tcp::default()),
    address: |_, _| "127.0.0.1:0".to_owned(),
};

const UNIX_PATH: Row = Row {
    name: "UNIX sockets with a path",
    lite: ("uioplite", 0x5a4f_5211),
    transport: || Arc::new(Unix::default()),
    address: |folder, side| folder.join(side.name()).display().to_string(),
};

#[cfg(target_os = "linux")]
const UNIX_ABSTRACT: Row = Row {
    name: "UNIX sockets with an abstract name",
    address: |folder, side| {
        // The folder's name is of no other test.
        let folder = folder.file_name().unwrap_or_default();
        format!("@zorb-{}-{}", folder.display(), side.name())
    },
    ..UNIX_PATH
};

const PIPE: Row = Row {
    name: "pipes",
    lite: ("pipelite", 0x5a4f_52f1),
    transport: || Arc::new(Pipe::default()),
    address: |_, side| side.name().to_owned(),
};

/// An ORB that knows one transport in one messaging, and listens there.
async fn listening(
    (row, messaging): (Row, Messaging),
    plain: &Arc<dyn Transport>,
    address: &str,
) -> Orb {
    let (transport, scheme) = match messaging {
        Messaging::Giop(_) => (Arc::clone(plain), plain.scheme()),
        Messaging::Lite => {
            let (scheme, profile) = row.lite;
            let lite = GiopLite::over(scheme, profile, Arc::clone(plain));
            (Arc::new(lite) as Arc<dyn Transport>, scheme)
        }
    };
    let version = Version {
        major: 1,
        minor: messaging.minor(),
    };
    let builder = Orb::builder()
        .transport(transport)
        .max_giop_version(version)
        .unix_sockets_of_peers(true)
        .listen(format!("{scheme}://{address}"));
    builder.build().await.expect("the ORB listens")
}

/// All cells of a messaging over a transport.
async fn column(row: Row, messaging: Messaging) {
    let name = format!("{messaging:?} over {}", row.name);
    let folder = tempfile::tempdir().expect("a folder for sockets");
    let plain = (row.transport)();
    let [server, client] = [Side::Server, Side::Client].map(|side| {
        let address = (row.address)(folder.path(), side);
        let plain = Arc::clone(&plain);
        async move { listening((row, messaging), &plain, &address).await }
    });
    let (server, client) = (server.await, client.await);
    let reference = server.object_to_string(&server::serve(&server));
    let peer: PeerRef = connected(&client, &reference).await;
    // A path is in a second profile as well, as omniORB has it.
    let profile = peer.as_object().ior().profiles.first();
    let profile = profile.expect("the reference has a profile");
    // Of a profile's body the first octet is its byte order, and the next two are its version.
    assert_eq!(
        profile.data.get(1..3),
        Some(&[1, messaging.minor()][..]),
        "{name}"
    );
    let is_lite = profile.tag.0 == row.lite.1;
    assert_eq!(is_lite, messaging == Messaging::Lite, "{name}");
    let world = client::World {
        orb: client,
        peer,
        way: None,
        utf8: messaging != Messaging::Giop(0),
    };
    runner::run(world, &format!("{}, {name}", OURS.0), messaging.cells()).await;
    server.shutdown(true).await.expect("outside any upcall");
}

async fn every_messaging(row: Row) {
    for messaging in MESSAGINGS {
        column(row, messaging).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_tcp() {
    every_messaging(TCP).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_unix_sockets_with_a_path() {
    every_messaging(UNIX_PATH).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_unix_sockets_with_an_abstract_name() {
    every_messaging(UNIX_ABSTRACT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_messaging_over_a_transport_of_another_crate() {
    every_messaging(PIPE).await;
}
