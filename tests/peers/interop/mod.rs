//! `tests/interop/interop.idl` between other ORBs and us: every cell of `tests/interop/cells.txt`
//! but those of the naming service and the tools.
//!
//! Without the other ORBs' programs those tests pass and say what they skipped; the tests of our
//! client on our own server always run.

mod adapters;
mod bidirectional;
mod big_endian;
mod client;
mod columns;
mod csi;
mod idl;
mod idle;
mod interceptors;
pub(crate) mod jacorb;
mod liars;
mod nodes;
pub(crate) mod omniorb;
mod protocols;
mod restart;
mod rules;
mod samples;
pub(crate) mod server;
mod tls;

use crate::matrix::{OURS, Talk, run_client};
use crate::peers::{Brand, Over};
use crate::support::{Running, passed, process};

mod our_client_passes_every_cell {
    use super::*;
    use crate::gateway::By;
    use client::{Cell, DATA, FORWARDS, OBJECTS, UNICODE, WAITS, WIDE, WIDE_UNICODE};

    const ALL: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, UNICODE, WIDE, WIDE_UNICODE];

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_over_tcp() {
        crate::matrix::among_ourselves(Talk::new("1.2", Over::Tcp), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_over_a_unix_socket() {
        crate::matrix::among_ourselves(Talk::new("1.2", Over::Unix), ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_in_fragments() {
        let talk = Talk {
            ours: |builder| builder.max_fragment_octets(64),
            ..Talk::new("1.2", Over::Tcp)
        };
        crate::matrix::among_ourselves(talk, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn through_gateways_that_do_not_know_the_idl_and_that_read_it() {
        for by in [By::Octets, By::Types("interop.idl")] {
            crate::gateway::among_ourselves(by, ALL, &[]).await;
        }
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

/// Another ORB's client on our server in a process of its own. With `die()` that is gone without a
/// reply; the client checks for COMM_FAILURE.
pub(crate) fn their_client_and_the_end(brand: &'static Brand) {
    let prefix = Talk::new("1.2", Over::Tcp).prefix((brand.name, brand.order), OURS);
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let mut server = Running::command(process(module_path!(), "a_server_in_a_process_of_its_own"));
    let reference = server.reference().expect("the server serves");
    let die = ["--op".to_owned(), "die".to_owned()];
    let said = run_client(&programs.client, &reference, &die);
    assert!(said.is_empty(), "{said:?}");
    server.finish().success();
    passed(&format!("{prefix}/server_dies"));
}
