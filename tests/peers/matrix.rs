//! One column of the matrix at a time: all cells of one client on one server in one way.

use crate::gateway::{By, in_front};
use crate::peers::{Brand, OUR_ORDER, Over, Program, Way, profile};
use crate::runner::{self, Cell, Peer, World, connected};
use crate::support::{HANG, passed};
use crate::tap::{CLOSE_CONNECTION, MESSAGE_ERROR, Recording, Tap};
use std::net::Ipv6Addr;
use tempfile::TempDir;
use zorb::{Builder, Orb};

/// How client and server talk.
#[derive(Clone, Copy)]
pub(crate) struct Talk {
    /// The version both keep to.
    pub(crate) giop: &'static str,
    pub(crate) over: Over,
    /// The address that we listen at, over TCP.
    pub(crate) address: &'static str,
    /// The special feature, if any: a part of the names of these cells.
    pub(crate) setting: &'static str,
    /// Arguments of the other ORB's program that make it so.
    pub(crate) args: &'static [&'static str],
    /// The options of our program for it.
    pub(crate) ours: fn(Builder) -> Builder,
    /// Whether strings travel as UTF-8 or as ISO 8859-1.
    pub(crate) utf8: bool,
    /// Looks at all that was said; with a check, the connection goes through a [`Tap`].
    pub(crate) heard: Option<fn(prefix: &str, &Recording)>,
}

impl Talk {
    /// Both as they are by default.
    pub(crate) const fn new(giop: &'static str, over: Over) -> Self {
        Self {
            giop,
            over,
            address: "127.0.0.1",
            setting: "",
            args: &[],
            ours: |builder| builder,
            utf8: true,
            heard: None,
        }
    }

    /// The prefix of the names of cells.
    pub(crate) fn prefix(&self, client: (&str, &str), server: (&str, &str)) -> String {
        let over = match self.over {
            Over::Tcp => "tcp",
            Over::Unix => "unix",
            Over::Tls => "tls",
        };
        let slash = if self.setting.is_empty() { "" } else { "/" };
        format!(
            "{}-{}/giop{}/{}-{}/{over}{slash}{}",
            client.0, server.0, self.giop, client.1, server.1, self.setting
        )
    }

    /// The reference for the client, and the tap on it.
    fn tapped(&self, reference: String) -> (String, Option<Tap>) {
        match self.heard {
            None => (reference, None),
            Some(_) => {
                let (tap, reference) = Tap::before(&reference);
                (reference, Some(tap))
            }
        }
    }

    /// After all connections of the client have been ended.
    fn listen_to(&self, tap: Option<Tap>, prefix: &str) {
        if let (Some(heard), Some(tap)) = (self.heard, tap) {
            // The thread that waits here may be one that others need.
            let recording = tokio::task::block_in_place(|| tap.finish());
            for (stream, messages) in recording.messages() {
                // CloseConnection and MessageError may come before any other message.
                let wrong = messages
                    .iter()
                    .filter(|m| !matches!(m.kind, CLOSE_CONNECTION | MESSAGE_ERROR))
                    .find(|m| !self.giop.ends_with(&m.minor.to_string()));
                assert_eq!(wrong, None, "{prefix}: another version in {stream:?}");
            }
            heard(prefix, &recording);
        }
    }

    pub(crate) fn args_of(&self, brand: &Brand) -> Vec<String> {
        let mut args = (brand.limit)(self.giop);
        args.extend(self.args.iter().map(|&arg| arg.to_owned()));
        args
    }

    /// An ORB of ours that listens, and the folder of its socket.
    pub(crate) async fn listen(&self) -> (Orb, TempDir) {
        let folder = tempfile::tempdir().expect("a folder for a socket");
        let socket = folder.path().join("zorb");
        let endpoint = match self.over {
            Over::Tcp => format!("iiop://{}:0", self.address),
            Over::Unix => format!("uiop://{}", socket.display()),
            Over::Tls => format!("ssliop://{}:0", self.address),
        };
        let builder = Orb::builder().listen(endpoint);
        // Peers and their callbacks are reached by UNIX sockets where the row says so.
        let orb = (self.ours)(builder.unix_sockets_of_peers(true))
            .build()
            .await
            .expect("the ORB listens");
        (orb, folder)
    }

    /// That the way to this peer is by IPv6, if the column is about that.
    fn is_there(&self, peer: &impl Peer) {
        if self.setting == "ipv6" {
            // JacORB writes all of its zeros.
            let host = profile(peer.as_object().ior()).address.host;
            assert_eq!(host.parse(), Ok(Ipv6Addr::LOCALHOST), "{host}");
        }
    }

    /// A client's ORB, whose own objects can be called back.
    pub(crate) async fn connect<P: Peer>(&self, reference: &str) -> (Orb, P, TempDir) {
        let (orb, folder) = self.listen().await;
        let peer = connected(&orb, reference).await;
        (orb, peer, folder)
    }
}

pub(crate) const OURS: (&str, &str) = ("zorb", OUR_ORDER);

/// Our client on our own server, which needs no peer and counts as no cell.
pub(crate) async fn among_ourselves<P: Peer>(talk: Talk, groups: &[&[Cell<P>]]) {
    let (orb, _folder) = talk.listen().await;
    let reference = orb.object_to_string(&P::serve(&orb));
    let (client, peer, _folder) = talk.connect::<P>(&reference).await;
    assert_eq!(peer.orb_name().await.unwrap(), "zorb");
    let world = World {
        orb: client,
        peer,
        way: None,
        utf8: talk.utf8,
        one_in: 1,
    };
    runner::run(world, "zorb-zorb", groups).await;
    orb.shutdown(true).await.expect("outside any upcall");
}

/// Our client on another ORB's server.
pub(crate) async fn our_client<P: Peer>(brand: &'static Brand, talk: Talk, groups: &[&[Cell<P>]]) {
    let prefix = talk.prefix(OURS, (brand.name, brand.order));
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, talk.over, talk.args_of(brand));
    let (_server, reference) = way.start();
    let (reference, tap) = talk.tapped(reference);
    let (orb, peer, _folder) = talk.connect::<P>(&reference).await;
    talk.is_there(&peer);
    assert_eq!(peer.orb_name().await.unwrap(), brand.orb_name);
    let world = World {
        orb,
        peer,
        way: Some(way),
        utf8: talk.utf8,
        one_in: 1,
    };
    runner::run(world, &prefix, groups).await;
    talk.listen_to(tap, &prefix);
}

/// Runs another ORB's client to its end and gives what it printed. Its status says whether all cells
/// passed; the lines say which.
pub(crate) fn run_client(client: &Program, reference: &str, args: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder for a reference");
    let file = folder.path().join("ior");
    std::fs::write(&file, format!("{reference}\n")).expect("a file can be written");
    let mut all = vec![
        "--ior".to_owned(),
        file.to_str().expect("a plain name").to_owned(),
    ];
    all.extend_from_slice(args);
    client.start(&all).finish().lines
}

/// Options of another ORB's client beside its protocol.
#[derive(Clone, Copy)]
pub(crate) struct Theirs {
    /// Where its own objects listen.
    pub(crate) callbacks: Over,
    /// The cells to run; none means all that its `--list` names with these arguments.
    pub(crate) only: &'static [&'static str],
    /// The cells not to run; each with its reason.
    pub(crate) without: &'static [&'static str],
}

/// Another ORB's client on our server.
pub(crate) async fn their_client<P: Peer>(brand: &'static Brand, talk: Talk, theirs: Theirs) {
    their_client_through::<P>(brand, talk, theirs, None).await;
}

/// Another ORB's client on our server, behind a gateway if there is one.
pub(crate) async fn their_client_through<P: Peer>(
    brand: &'static Brand,
    talk: Talk,
    theirs: Theirs,
    gateway: Option<By>,
) {
    let prefix = talk.prefix((brand.name, brand.order), OURS);
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let (orb, folder) = talk.listen().await;
    let peer = P::serve(&orb);
    talk.is_there(&peer);
    let served = match gateway {
        None => peer.as_object().clone(),
        Some(by) => in_front(&orb, peer.as_object(), by),
    };
    let (reference, tap) = talk.tapped(orb.object_to_string(&served));
    let mut args = talk.args_of(brand);
    if theirs.callbacks == Over::Unix {
        let socket = folder.path().join("theirs");
        args.extend(["--unix".to_owned(), socket.display().to_string()]);
    }
    if theirs.callbacks == Over::Tls {
        args.extend((brand.tls_at)(0));
    }
    if talk.over != Over::Unix && gateway.is_none() {
        let url = orb.corbaloc_url("Interop").expect("the ORB listens");
        // Some clients take the version of the URL, whatever they are limited to.
        let url = url.replace(":1.2@", &format!(":{}@", talk.giop));
        args.extend(["--corbaloc".to_owned(), url]);
    }

    let mut expected: Vec<String> = theirs.only.iter().map(|&cell| cell.to_owned()).collect();
    if expected.is_empty() {
        let listing = [&args[..], &["--list".to_owned()]].concat();
        expected = run_client(&programs.client, &reference, &listing);
        assert!(expected.len() > 10, "not a list of cells: {expected:?}");
    }
    expected.retain(|cell| !theirs.without.contains(&cell.as_str()));
    for cell in &expected {
        args.extend(["--cell".to_owned(), cell.clone()]);
    }
    let lines = run_client(&programs.client, &reference, &args);
    let ok = |cell: &String| lines.contains(&format!("cell {cell} ok"));
    let (good, bad): (Vec<_>, Vec<_>) = expected.iter().partition(|cell| ok(cell));
    good.iter()
        .for_each(|cell| passed(&format!("{prefix}/{cell}")));
    assert!(
        bad.is_empty(),
        "cells that failed: {bad:?}\n{}",
        lines.join("\n")
    );

    let mut shutdown = talk.args_of(brand);
    shutdown.extend(["--op", "shutdown"].map(str::to_owned));
    let said = run_client(&programs.client, &reference, &shutdown);
    assert!(said.is_empty(), "{said:?}");
    let ended = tokio::time::timeout(HANG, orb.run()).await;
    ended.expect("shutdown() ends the server");
    passed(&format!("{prefix}/shutdown"));
    talk.listen_to(tap, &prefix);
}
