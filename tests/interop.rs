//! `tests/interop/interop.idl` between omniORB and us: every cell of `tests/interop/cells.txt`
//! but those of the naming service and the tools.
//!
//! Without omniORB's programs those tests pass and say what they skipped; the tests of our client
//! on our own server always run.

#![allow(missing_docs, reason = "nobody reads the documentation of a test")]

#[path = "interop/rust/client/mod.rs"]
mod client;
#[path = "interop/rust/idl.rs"]
mod idl;
#[path = "interop/rust/nodes.rs"]
mod nodes;
#[path = "interop/rust/omniorb.rs"]
mod omniorb;
#[path = "interop/rust/rules.rs"]
mod rules;
#[path = "interop/rust/samples.rs"]
mod samples;
#[path = "interop/rust/server/mod.rs"]
mod server;
mod support;

use client::{Cell, DATA, ENDS, FORWARDS, OBJECTS, UNICODE, WAITS, WIDE, WIDE_UNICODE, World};
use idl::interop::PeerRef;
use omniorb::{Over, Programs, Way, corbaloc_of};
use std::path::Path;
use std::process::Command;
use support::{HANG, Running, passed};
use tempfile::TempDir;
use zorb::{Interface, Orb};

/// An ORB that listens in one way, and the folder of its socket.
async fn listen(over: Over) -> (Orb, TempDir) {
    let folder = tempfile::tempdir().expect("a folder for a socket");
    let socket = folder.path().join("zorb");
    let endpoint = match over {
        Over::Tcp => "iiop://127.0.0.1:0".to_owned(),
        Over::Unix => format!("uiop://{}", socket.display()),
    };
    let orb = Orb::builder()
        .listen(endpoint)
        .build()
        .await
        .expect("the ORB listens");
    (orb, folder)
}

/// A client's ORB, whose own objects can be called back.
async fn connect(over: Over, reference: &str) -> (Orb, PeerRef, TempDir) {
    let (orb, folder) = listen(over).await;
    orb.root_poa()
        .the_poa_manager()
        .activate()
        .expect("not inactive");
    let object = orb.string_to_object(reference).await.expect("a reference");
    let peer = object.narrow().await.expect("it answers").expect("a Peer");
    (orb, peer, folder)
}

mod our_client_passes_every_cell {
    use super::*;

    async fn check_on_our_server(over: Over) {
        let (orb, _folder) = listen(over).await;
        let reference = orb.object_to_string(&server::serve(&orb));
        let (client, peer, _folder) = connect(over, &reference).await;
        assert_eq!(peer.orb_name().await.unwrap(), "zorb");
        let world = World {
            orb: client,
            peer,
            way: None,
            utf8: true,
        };
        let groups: [&[Cell]; _] = [DATA, OBJECTS, WAITS, UNICODE, WIDE, WIDE_UNICODE];
        client::run(world, "zorb-zorb", &groups).await;
        orb.shutdown(true).await.expect("outside any upcall");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_over_tcp() {
        check_on_our_server(Over::Tcp).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_our_server_over_a_unix_socket() {
        check_on_our_server(Over::Unix).await;
    }

    async fn check(
        how: &str,
        over: Over,
        args: &'static [&'static str],
        utf8: bool,
        groups: &[&[Cell]],
    ) {
        let prefix = format!("zorb-omniorb/{how}");
        let Some(programs) = Programs::find(&prefix) else {
            return;
        };
        let way = Way::new(&programs, over, args);
        let (_server, reference) = way.start();
        let (orb, peer, _folder) = connect(over, &reference).await;
        assert_eq!(peer.orb_name().await.unwrap(), "omniORB");
        let world = World {
            orb,
            peer,
            way: Some(way),
            utf8,
        };
        client::run(world, &prefix, groups).await;
    }

    const ALL: &[&[Cell]] = &[DATA, OBJECTS, WAITS, FORWARDS, ENDS];

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_limited_to_giop_1_0() {
        check(
            "giop1.0-tcp",
            Over::Tcp,
            &["-ORBmaxGIOPVersion", "1.0"],
            false,
            ALL,
        )
        .await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_limited_to_giop_1_1() {
        check(
            "giop1.1-tcp",
            Over::Tcp,
            &["-ORBmaxGIOPVersion", "1.1"],
            false,
            ALL,
        )
        .await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_over_giop_1_2_and_tcp() {
        check("giop1.2-tcp", Over::Tcp, &[], true, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_over_giop_1_2_and_a_unix_socket() {
        check("giop1.2-unix", Over::Unix, &[], true, ALL).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn on_omniorb_with_text_in_utf_8() {
        let args = &["-ORBnativeCharCodeSet", "UTF-8"];
        check("giop1.2-tcp-utf8", Over::Tcp, args, true, &[UNICODE]).await;
    }
}

mod omniorb_s_client_passes_every_cell {
    use super::*;

    /// Cells of that client that need what our servers do not have yet.
    const NOT_YET: [&str; 1] = ["forward"];

    fn run(client: &Path, reference: &str, args: &[String]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder for a reference");
        let file = folder.path().join("ior");
        std::fs::write(&file, format!("{reference}\n")).expect("a file can be written");
        let mut all = vec![
            "--ior".to_owned(),
            file.to_str().expect("a plain name").to_owned(),
        ];
        all.extend_from_slice(args);
        // Its status says whether all cells passed; the lines say which.
        Running::start(client, &all).finish().lines
    }

    async fn check(how: &str, over: Over, callbacks: Over, args: &[&str]) {
        let prefix = format!("omniorb-zorb/{how}");
        let Some(programs) = Programs::find(&prefix) else {
            return;
        };
        let (orb, folder) = listen(over).await;
        let peer = server::serve(&orb);
        let reference = orb.object_to_string(&peer);
        let mut args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        if callbacks == Over::Unix {
            let socket = folder.path().join("omniorb");
            args.extend(["--unix".to_owned(), socket.display().to_string()]);
        }
        if over == Over::Tcp {
            args.extend(["--corbaloc".to_owned(), corbaloc_of(peer.as_object().ior())]);
        }

        let mut listing = args.clone();
        listing.push("--list".to_owned());
        let mut expected = run(&programs.client, &reference, &listing);
        expected.retain(|cell| !NOT_YET.contains(&cell.as_str()));
        assert!(expected.len() > 30, "not a list of cells: {expected:?}");
        for cell in &expected {
            args.extend(["--cell".to_owned(), cell.clone()]);
        }
        let lines = run(&programs.client, &reference, &args);
        let ok = |cell: &String| lines.contains(&format!("cell {cell} ok"));
        let (good, bad): (Vec<_>, Vec<_>) = expected.iter().partition(|cell| ok(cell));
        good.iter()
            .for_each(|cell| passed(&format!("{prefix}/{cell}")));
        assert!(
            bad.is_empty(),
            "cells that failed: {bad:?}\n{}",
            lines.join("\n")
        );

        let said = run(
            &programs.client,
            &reference,
            &["--op".to_owned(), "shutdown".to_owned()],
        );
        assert!(said.is_empty(), "{said:?}");
        let ended = tokio::time::timeout(HANG, orb.run()).await;
        ended.expect("shutdown() ends the server");
        passed(&format!("{prefix}/shutdown"));
    }

    /// Code sets are agreed on from 1.1 on, and then omniORB takes ours: UTF-8.
    const V1_0: &[&str] = &["-ORBmaxGIOPVersion", "1.0"];
    const V1_1: &[&str] = &["-ORBmaxGIOPVersion", "1.1", "--tcs", "utf8"];
    const V1_2: &[&str] = &["--tcs", "utf8"];

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_0_and_tcp() {
        check("giop1.0-tcp", Over::Tcp, Over::Tcp, V1_0).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_1_and_tcp() {
        check("giop1.1-tcp", Over::Tcp, Over::Tcp, V1_1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_2_and_tcp() {
        check("giop1.2-tcp", Over::Tcp, Over::Tcp, V1_2).await;
    }

    /// omniORB can publish no UNIX socket in these versions, so it is called back over TCP.
    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_0_and_a_unix_socket() {
        check("giop1.0-unix", Over::Unix, Over::Tcp, V1_0).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_1_and_a_unix_socket() {
        check("giop1.1-unix", Over::Unix, Over::Tcp, V1_1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn over_giop_1_2_and_a_unix_socket() {
        check("giop1.2-unix", Over::Unix, Over::Unix, V1_2).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn with_text_in_utf_8() {
        let args = ["-ORBnativeCharCodeSet", "UTF-8"];
        check("giop1.2-tcp-utf8", Over::Tcp, Over::Tcp, &args).await;
    }

    /// With `die()` the server is gone without a reply; the client checks for COMM_FAILURE.
    #[test]
    fn up_to_the_death_of_the_server() {
        let prefix = "omniorb-zorb/giop1.2-tcp";
        let Some(programs) = Programs::find(prefix) else {
            return;
        };
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args([
            "--exact",
            "a_server_in_a_process_of_its_own",
            "--ignored",
            "--nocapture",
        ]);
        let mut server = Running::command(command);
        let reference = server.reference().expect("the server serves");
        let said = run(
            &programs.client,
            &reference,
            &["--op".to_owned(), "die".to_owned()],
        );
        assert!(said.is_empty(), "{said:?}");
        server.finish().success();
        passed(&format!("{prefix}/server_dies"));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the server of another test, which starts it"]
async fn a_server_in_a_process_of_its_own() {
    let (orb, _folder) = listen(Over::Tcp).await;
    let peer = server::serve(&orb);
    eprintln!("{}", orb.object_to_string(&peer));
    orb.run().await;
}
