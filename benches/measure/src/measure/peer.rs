//! The pairs of a server and a client that are measured.

use crate::measure::programs::omniorb;
use std::path::Path;

/// One way to make a call: who serves, who calls, how each waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// The name in output and records, without spaces.
    pub(crate) name: &'static str,
    /// Whose program, and its options.
    server: &'static str,
    client: &'static str,
    /// Over a UNIX-domain socket instead of TCP.
    pub(crate) unix: bool,
}

/// omniORB at the settings that are its best on small calls, without its limit of 2 MiB on a message; its client has no
/// thread that looks for idle connections.
const OMNI_SERVER: &str =
    "omni -ORBsupportCurrent 0 -ORBscanGranularity 0 -ORBgiopMaxMsgSize 67108864";
const OMNI_CLIENT: &str = "omni -ORBscanGranularity 0 -ORBgiopMaxMsgSize 67108864";
const OMNI_DII: &str = "omni -ORBscanGranularity 0 -ORBgiopMaxMsgSize 67108864 --dii reused";
const OMNI_DII_NEW: &str = "omni -ORBscanGranularity 0 -ORBgiopMaxMsgSize 67108864 --dii new";
const DEFAULT: &str = "zorb --runtime default";
const CURRENT: &str = "zorb --runtime current";
/// Without spinning, as omniORB waits.
const PARKED: &str = "zorb --runtime dedicated --wait park";
const NATIVE: &str = "zorb --runtime dedicated --wait park --native";
const ADAPTIVE: &str = "zorb --runtime dedicated --wait adaptive";
const BLOCKING: &str = "zorb --runtime blocking --wait park";

const fn peer(name: &'static str, server: &'static str, client: &'static str) -> Peer {
    Peer {
        name,
        server,
        client,
        unix: false,
    }
}

const fn unix(name: &'static str, server: &'static str, client: &'static str) -> Peer {
    Peer {
        name,
        server,
        client,
        unix: true,
    }
}

/// Every peer there is.
pub(crate) const PEERS: [Peer; 36] = [
    peer("omni", OMNI_SERVER, OMNI_CLIENT),
    unix("omni-unix", OMNI_SERVER, OMNI_CLIENT),
    peer("raw", "floor --way block", "floor --way block"),
    unix("raw-unix", "floor --way block", "floor --way block"),
    peer("raw-spin", "floor --way spin", "floor --way spin"),
    peer(
        "tokio-current",
        "floor --way tokio-current",
        "floor --way tokio-current",
    ),
    peer(
        "tokio-dedicated",
        "floor --way tokio-dedicated",
        "floor --way tokio-dedicated",
    ),
    peer(
        "tokio-multi",
        "floor --way tokio-multi",
        "floor --way tokio-multi",
    ),
    peer("zorb-default", "zorb", DEFAULT),
    peer("zorb-default-main", "zorb", "zorb --runtime main"),
    peer(
        "zorb-park",
        "zorb --wait park",
        "zorb --runtime default --wait park",
    ),
    peer(
        "zorb-default-busy",
        "zorb --busy-tasks 2",
        "zorb --runtime default --busy-tasks 2",
    ),
    peer(
        "zorb-park-busy",
        "zorb --wait park --busy-tasks 2",
        "zorb --runtime default --wait park --busy-tasks 2",
    ),
    peer("zorb-current", CURRENT, CURRENT),
    peer("zorb-dedicated", PARKED, PARKED),
    unix("zorb-dedicated-unix", PARKED, PARKED),
    peer("zorb-dedicated-spin", ADAPTIVE, ADAPTIVE),
    unix("zorb-dedicated-spin-unix", ADAPTIVE, ADAPTIVE),
    peer("zorb-blocking", BLOCKING, BLOCKING),
    peer("zorb-on-omni", OMNI_SERVER, DEFAULT),
    peer("omni-on-zorb", "zorb", OMNI_CLIENT),
    peer(
        "zorb-64-in-flight",
        PARKED,
        "zorb --runtime dedicated --wait park --in-flight 64",
    ),
    peer(
        "zorb-sync-none",
        ADAPTIVE,
        "zorb --runtime dedicated --wait adaptive --sync none",
    ),
    unix("zorb-default-unix", "zorb", DEFAULT),
    unix("zorb-default-shm", "zorb --shm", DEFAULT),
    unix(
        "zorb-dedicated-shm",
        "zorb --runtime dedicated --wait park --shm",
        PARKED,
    ),
    unix(
        "zorb-dedicated-spin-shm",
        "zorb --runtime dedicated --wait adaptive --shm",
        ADAPTIVE,
    ),
    unix(
        "zorb-blocking-shm",
        "zorb --runtime blocking --wait park --shm",
        BLOCKING,
    ),
    // Dynamic invocation: with a request that is used again, and with a new one for each call.
    peer("zorb-dii", "zorb", "zorb --runtime default --dii reused"),
    peer("zorb-dii-new", "zorb", "zorb --runtime default --dii new"),
    peer(
        "zorb-dedicated-dii",
        PARKED,
        "zorb --runtime dedicated --wait park --dii reused",
    ),
    peer("omni-dii", OMNI_SERVER, OMNI_DII),
    peer("omni-dii-new", OMNI_SERVER, OMNI_DII_NEW),
    peer("zorb-dedicated-native", NATIVE, NATIVE),
    unix("zorb-dedicated-native-unix", NATIVE, NATIVE),
    unix(
        "zorb-dedicated-native-shm",
        "zorb --runtime dedicated --wait park --native --shm",
        NATIVE,
    ),
];

impl Peer {
    /// The peer of that name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn named(name: &str) -> Result<&'static Self, String> {
        let found = PEERS.iter().find(|peer| peer.name == name);
        found.ok_or_else(|| format!("no peer is called {name}"))
    }

    /// The server's command line, but for `--ior` and `--unix`, with programs of ours from that folder.
    pub(crate) fn server(&self, ours: &Path) -> Vec<String> {
        words(self.server, "server", ours)
    }

    /// The client's, but for `--ior` and what is called.
    pub(crate) fn client(&self, ours: &Path) -> Vec<String> {
        words(self.client, "client", ours)
    }

    /// Whether the client is ours.
    pub(crate) fn is_ours(&self) -> bool {
        self.client.starts_with("zorb")
    }

    /// The abilities that our programs need, in the words of `--can`.
    pub(crate) fn needs(&self) -> Vec<String> {
        let mut needs = Vec::new();
        for program in [self.server, self.client] {
            let words: Vec<&str> = program.split(' ').collect();
            for pair in words.windows(2) {
                needs.extend(match pair {
                    ["--runtime" | "--wait" | "--sync", value] if program.starts_with("zorb") => {
                        Some(format!("{}={value}", pair[0].trim_start_matches('-')))
                    }
                    ["--in-flight" | "--busy-tasks", _] => {
                        Some(pair[0].trim_start_matches('-').to_owned())
                    }
                    _ => None,
                });
            }
        }
        needs
    }
}

fn words(program: &str, which: &str, ours: &Path) -> Vec<String> {
    let (program, options) = program.split_once(' ').unwrap_or((program, ""));
    let ours = |name: &str| ours.join(format!("{name}-{which}")).display().to_string();
    let program = match program {
        "omni" => omniorb(which),
        "floor" => ours("floor"),
        _ => ours("bench"),
    };
    let options = options.split_whitespace().map(str::to_owned);
    std::iter::once(program).chain(options).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_peer_is_found_by_its_name_and_says_what_it_needs() {
        let names: BTreeSet<_> = PEERS.iter().map(|peer| peer.name).collect();
        assert_eq!(names.len(), PEERS.len());
        assert!(Peer::named("else").is_err());
        let peer = Peer::named("zorb-64-in-flight").unwrap();
        for need in ["runtime=dedicated", "wait=park", "in-flight"] {
            assert!(peer.needs().contains(&need.to_owned()), "{need}");
        }
        let client = peer.client(Path::new("there"));
        assert_eq!(
            client[..3],
            ["there/bench-client", "--runtime", "dedicated"]
        );
        assert!(Peer::named("omni").unwrap().needs().is_empty());
    }
}
