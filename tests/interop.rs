//! `tests/interop/interop.idl` between other ORBs and us: every cell of `tests/interop/cells.txt`
//! but those of the naming service and the tools.
//!
//! Without the other ORBs' programs those tests pass and say what they skipped; the tests of our
//! client on our own server always run.

#[path = "interop/rust/big_endian.rs"]
mod big_endian;
#[path = "interop/rust/caller.rs"]
mod caller;
#[path = "interop/rust/client/mod.rs"]
mod client;
#[path = "interop/rust/digest.rs"]
mod digest;
#[path = "interop/rust/idl.rs"]
mod idl;
#[path = "interop/rust/idle.rs"]
mod idle;
#[path = "interop/rust/jacorb.rs"]
mod jacorb;
#[path = "interop/rust/liars.rs"]
mod liars;
#[path = "interop/rust/matrix.rs"]
mod matrix;
#[path = "interop/rust/nodes.rs"]
mod nodes;
#[path = "interop/rust/omniorb.rs"]
mod omniorb;
#[path = "interop/rust/peers.rs"]
mod peers;
#[path = "interop/rust/restart.rs"]
mod restart;
#[path = "interop/rust/rules.rs"]
mod rules;
#[path = "interop/rust/runner.rs"]
mod runner;
#[path = "interop/rust/samples.rs"]
mod samples;
#[path = "interop/rust/server/mod.rs"]
mod server;
mod support;
#[path = "interop/rust/tap.rs"]
mod tap;
#[path = "interop/rust/tshark.rs"]
mod tshark;

use matrix::Talk;
use peers::Over;

mod our_client_passes_every_cell {
    use super::*;
    use client::{Cell, DATA, FORWARDS, OBJECTS, UNICODE, WAITS, WIDE, WIDE_UNICODE};

    const ALL: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, UNICODE, WIDE, WIDE_UNICODE];

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_over_tcp() {
        matrix::among_ourselves(Talk::new("1.2", Over::Tcp), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_over_a_unix_socket() {
        matrix::among_ourselves(Talk::new("1.2", Over::Unix), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_in_fragments() {
        let talk = Talk {
            ours: |builder| builder.max_fragment_octets(64),
            ..Talk::new("1.2", Over::Tcp)
        };
        matrix::among_ourselves(talk, ALL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the server of another test, which starts it"]
async fn a_server_in_a_process_of_its_own() {
    let (orb, _folder) = Talk::new("1.2", Over::Tcp).listen().await;
    let peer = server::serve(&orb);
    eprintln!("{}", orb.object_to_string(&peer));
    orb.run().await;
}
