//! Our client on our own server over a transport: a column for each messaging, which is GIOP 1.0, 1.1, 1.2 and
//! GIOPlite.

use super::client::{self, Cell, DATA, FORWARDS, OBJECTS, PeerRef, UNICODE, WAITS, WIDE};
use crate::runner::{self, Peer, connected};
use std::path::Path;
use std::sync::Arc;
use zorb::transport::Transport;
use zorb::{Interface, Orb, Version};
use zorb_giop_lite::GiopLite;

/// The encoding of messages.
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

    /// The abilities of this version.
    const fn cells(self) -> &'static [&'static [Cell]] {
        match self {
            // No code sets, and no wide text.
            Self::Giop(0) => &[DATA, OBJECTS, WAITS, FORWARDS],
            Self::Giop(1) => &[DATA, OBJECTS, WAITS, FORWARDS, UNICODE],
            _ => &[DATA, OBJECTS, WAITS, FORWARDS, UNICODE, WIDE],
        }
    }
}

/// The transports: each makes the transport that both ORBs have, and an address for each of them.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Of endpoints of GIOPlite over it, and the tag of their profiles.
    pub(crate) lite: (&'static str, u32),
    pub(crate) transport: fn() -> Arc<dyn Transport>,
    pub(crate) address: fn(&Path, Side) -> String,
    /// As a world has it.
    pub(crate) one_in: usize,
}

/// Both listen: the client's own objects are called back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Server,
    Client,
}

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
    let reference = server.object_to_string(&PeerRef::serve(&server));
    let peer: PeerRef = connected(&client, &reference).await;
    assert_eq!(Peer::orb_name(&peer).await.expect("it answers"), "zorb");
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
        one_in: row.one_in,
    };
    runner::run(world, &format!("zorb, {name}"), messaging.cells()).await;
    server.shutdown(true).await.expect("outside any upcall");
}

/// All of its columns, beside each other.
pub(crate) async fn every_messaging(row: Row) {
    let [first, second, third, lite] = MESSAGINGS.map(|messaging| column(row, messaging));
    tokio::join!(first, second, third, lite);
}
