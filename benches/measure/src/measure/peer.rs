//! The pairs of a server and a client that are compared.

use crate::measure::programs::omniorb;
use std::path::Path;

/// One way to make a call: who serves, who calls, how each waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// The name in output and records, without spaces.
    pub(crate) name: &'static str,
    server: Program,
    client: Program,
    /// Over a UNIX-domain socket instead of TCP.
    unix: bool,
    /// The abilities that our programs need.
    pub(crate) needs: &'static [&'static str],
}

/// A program and its options beside those of all.
#[derive(Clone, Copy, Debug)]
enum Program {
    /// omniORB's program, with its own options.
    Omni(&'static [&'static str]),
    Floor(&'static str),
    Zorb(&'static [&'static str]),
}

impl Program {
    /// Its command line, with programs of ours from that folder.
    fn words(self, which: &str, ours: &Path) -> Vec<String> {
        let ours = |program: String| ours.join(program).display().to_string();
        let (program, args) = match self {
            Self::Omni(args) => (omniorb(which), args.to_vec()),
            Self::Floor(way) => (ours(format!("floor-{which}")), vec!["--way", way]),
            Self::Zorb(args) => (ours(format!("bench-{which}")), args.to_vec()),
        };
        let args = args.into_iter().map(str::to_owned);
        std::iter::once(program).chain(args).collect()
    }
}

impl Peer {
    /// The server's command line, but for `--ior` and `--unix`, with programs of ours from that folder.
    pub(crate) fn server(&self, ours: &Path) -> Vec<String> {
        self.server.words("server", ours)
    }

    /// The client's, but for `--ior` and what is called.
    pub(crate) fn client(&self, ours: &Path) -> Vec<String> {
        self.client.words("client", ours)
    }

    pub(crate) const fn is_unix(&self) -> bool {
        self.unix
    }

    const fn over_unix(self, name: &'static str) -> Self {
        Self {
            name,
            unix: true,
            ..self
        }
    }

    /// The peer of that name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, String> {
        let found = PEERS.iter().find(|peer| peer.name == name);
        found.ok_or_else(|| format!("no peer is called {name}"))
    }
}

const fn omni(name: &'static str, server: &'static [&'static str]) -> Peer {
    Peer {
        name,
        server: Program::Omni(server),
        client: Program::Omni(OMNI_CLIENT),
        unix: false,
        needs: &[],
    }
}

const fn floor(name: &'static str, server: &'static str, client: &'static str) -> Peer {
    Peer {
        name,
        server: Program::Floor(server),
        client: Program::Floor(client),
        unix: false,
        needs: &[],
    }
}

const fn zorb(
    name: &'static str,
    server: &'static [&'static str],
    client: &'static [&'static str],
    needs: &'static [&'static str],
) -> Peer {
    Peer {
        name,
        server: Program::Zorb(server),
        client: Program::Zorb(client),
        unix: false,
        needs,
    }
}

/// omniORB at the settings that are its best on small calls, and without its limit of 2 MiB on a message.
const OMNI_SERVER: &[&str] = &[
    "-ORBsupportCurrent",
    "0",
    "-ORBscanGranularity",
    "0",
    "-ORBgiopMaxMsgSize",
    "67108864",
];
/// No thread of its own that looks for idle connections.
const OMNI_CLIENT: &[&str] = &["-ORBscanGranularity", "0", "-ORBgiopMaxMsgSize", "67108864"];
const OMNI: Peer = omni("omni", OMNI_SERVER);
const FLOOR: Peer = floor("raw", "block", "block");
const FLOOR_SPIN: Peer = floor("raw-spin", "spin", "spin");

/// Options for waiting without spinning, as omniORB does.
const PARKED: &[&str] = &["--runtime", "dedicated", "--wait", "park"];
const PARK: Peer = zorb(
    "zorb-dedicated",
    PARKED,
    PARKED,
    &["runtime=dedicated", "wait=park"],
);
const ADAPTIVE: &[&str] = &["--runtime", "dedicated", "--wait", "adaptive"];
const SPIN: Peer = zorb(
    "zorb-dedicated-spin",
    ADAPTIVE,
    ADAPTIVE,
    &["runtime=dedicated", "wait=adaptive"],
);
const BLOCKING: &[&str] = &["--runtime", "blocking", "--wait", "park"];

/// Beside tasks of the application that compute.
const BUSY: &[&str] = &["--busy-tasks", "2"];

/// Every peer there is.
pub(crate) const PEERS: [Peer; 31] = [
    OMNI,
    OMNI.over_unix("omni-unix"),
    FLOOR,
    FLOOR.over_unix("raw-unix"),
    FLOOR_SPIN,
    FLOOR_SPIN.over_unix("raw-spin-unix"),
    floor("tokio-current", "tokio-current", "tokio-current"),
    floor("tokio-dedicated", "tokio-dedicated", "tokio-dedicated"),
    floor("tokio-multi", "tokio-multi", "tokio-multi"),
    floor("tokio-main", "tokio-multi", "tokio-main"),
    zorb("zorb-default", &[], &["--runtime", "default"], &[]),
    zorb(
        "zorb-park",
        &["--wait", "park"],
        &["--runtime", "default", "--wait", "park"],
        &["wait=park"],
    ),
    zorb(
        "zorb-default-busy",
        BUSY,
        &["--runtime", "default", "--busy-tasks", "2"],
        &["busy-tasks"],
    ),
    zorb(
        "zorb-park-busy",
        &["--wait", "park", "--busy-tasks", "2"],
        &[
            "--runtime",
            "default",
            "--wait",
            "park",
            "--busy-tasks",
            "2",
        ],
        &["wait=park", "busy-tasks"],
    ),
    zorb(
        "zorb-default-main",
        &[],
        &["--runtime", "main"],
        &["runtime=main"],
    ),
    zorb(
        "zorb-current",
        &["--runtime", "current"],
        &["--runtime", "current"],
        &["runtime=current"],
    ),
    PARK,
    PARK.over_unix("zorb-dedicated-unix"),
    SPIN,
    SPIN.over_unix("zorb-dedicated-spin-unix"),
    zorb(
        "zorb-blocking",
        BLOCKING,
        BLOCKING,
        &["runtime=blocking", "wait=park"],
    ),
    Peer {
        client: Program::Zorb(ADAPTIVE),
        needs: SPIN.needs,
        ..omni("zorb-spin-on-omni", OMNI_SERVER)
    },
    Peer {
        server: Program::Zorb(ADAPTIVE),
        needs: SPIN.needs,
        ..omni("omni-on-zorb-spin", OMNI_SERVER)
    },
    Peer {
        client: Program::Zorb(&["--runtime", "default"]),
        ..omni("zorb-on-omni", OMNI_SERVER)
    },
    Peer {
        server: Program::Zorb(&[]),
        ..omni("omni-on-zorb", OMNI_SERVER)
    },
    // Requests in the other byte order, which the server has to turn.
    zorb("big-on-zorb", &[], &["--endian", "big"], &["endian"]),
    zorb("little-on-zorb", &[], &["--endian", "little"], &["endian"]),
    Peer {
        client: Program::Zorb(&["--endian", "big"]),
        needs: &["endian"],
        ..omni("big-on-omni", OMNI_SERVER)
    },
    Peer {
        client: Program::Zorb(&["--endian", "little"]),
        needs: &["endian"],
        ..omni("little-on-omni", OMNI_SERVER)
    },
    zorb(
        "zorb-64-in-flight",
        PARKED,
        &[
            "--runtime",
            "dedicated",
            "--wait",
            "park",
            "--in-flight",
            "64",
        ],
        &["runtime=dedicated", "wait=park", "in-flight"],
    ),
    zorb(
        "zorb-sync-none",
        ADAPTIVE,
        &[
            "--runtime",
            "dedicated",
            "--wait",
            "adaptive",
            "--sync",
            "none",
        ],
        &["runtime=dedicated", "wait=adaptive", "sync=none"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_peers_share_a_name() {
        let names: BTreeSet<_> = PEERS.iter().map(|peer| peer.name).collect();
        assert_eq!(names.len(), PEERS.len());
    }

    #[test]
    fn options_beyond_the_ordinary_are_abilities_that_a_peer_names() {
        for peer in &PEERS {
            let ours = Path::new("");
            for word in peer.server(ours).iter().chain(&peer.client(ours)) {
                let needed = match word.as_str() {
                    "adaptive" => "wait=adaptive",
                    "park" => "wait=park",
                    "blocking" => "runtime=blocking",
                    "--sync" => "sync=none",
                    "--endian" => "endian",
                    "--busy-tasks" => "busy-tasks",
                    _ => continue,
                };
                assert!(peer.needs.contains(&needed), "{} needs {needed}", peer.name);
            }
        }
    }

    #[test]
    fn a_peer_is_found_by_its_name() {
        assert_eq!(Peer::named("omni-unix").unwrap().name, "omni-unix");
        assert!(Peer::named("else").is_err());
    }
}
