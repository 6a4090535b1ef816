//! How the program starts and ends.

use crate::common::{Daemon, client, client_orb, command, name, object};
use crate::support::{Ended, Running};
use std::net::TcpListener;
use std::path::Path;
use zorb::naming::NamingError;
use zorb::naming::cos_naming::NamingContextExtRef;
use zorb::{Interface, ObjectRef, SystemExceptionKind};

/// Runs the program, which has to end by itself.
fn ends(args: &[&str]) -> (Option<i32>, String) {
    let Ended { status, lines } = Running::command(command(args)).finish();
    (status.code(), lines.join("\n"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_bound_is_there_in_the_next_run_at_the_same_references() {
    let folder = tempfile::tempdir().unwrap();
    let orb = client_orb().await;
    let daemon = Daemon::in_folder(folder.path());
    let listen = format!("iiop://{}", daemon.address());
    let names = client(&orb, &daemon.url).await;
    names
        .bind("bank/savings.account", &object(&orb, 1).await)
        .await
        .unwrap();
    let bank = names.subcontext("bank").await.unwrap();
    names.bind_context("up/again", &names).await.unwrap();
    let ended = daemon.terminate();
    assert_eq!(ended.status.code(), Some(0), "{:?}", ended.lines);
    assert_eq!(ended.lines.len(), 1, "one line: {:?}", ended.lines);

    let daemon = Daemon::start(&["--data", text(folder.path()), "--listen", &listen]);
    // The references of before, which the client has kept.
    let found: ObjectRef = bank.resolve("savings.account").await.unwrap();
    assert!(found.is_equivalent(&object(&orb, 1).await));
    let found: ObjectRef = names
        .resolve("up/again/up/again/bank/savings.account")
        .await
        .unwrap();
    assert!(found.is_equivalent(&object(&orb, 1).await));
    assert_eq!(names.subcontext("bank").await.unwrap(), bank);
    drop(daemon);

    // At another port: the contexts of the service are where it is.
    let daemon = Daemon::in_folder(folder.path());
    let names = client(&orb, &daemon.url).await;
    let moved = names.subcontext("bank").await.unwrap();
    assert_ne!(moved, bank);
    // A reference of before the move is still that of a context of the service.
    names.bind_context("before", &bank).await.unwrap();
    assert_eq!(names.subcontext("before").await.unwrap(), moved);
    let found: ObjectRef = moved.resolve("savings.account").await.unwrap();
    assert!(found.is_equivalent(&object(&orb, 1).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_is_where_clients_of_other_services_look_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("root.ior");
    let daemon = Daemon::start(&["--ior-file", text(&file)]);
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    names
        .bind("bank/account", &object(&orb, 1).await)
        .await
        .unwrap();
    let address = daemon.address();
    for root in [
        format!("corbaloc::{address}/NameService"),
        format!("corbaloc:iiop:1.2@{address}/NameService"),
        format!("corbaname::{address}"),
        std::fs::read_to_string(&file).unwrap().trim().to_owned(),
        format!("file://{}", text(&file)),
    ] {
        let init = format!("NameService={root}");
        let mut args = ["-ORBInitRef".to_owned(), init].to_vec();
        let orb = zorb::Orb::builder().args(&mut args).build().await.unwrap();
        let found = orb.resolve_initial_references("NameService").await.unwrap();
        let context: NamingContextExtRef = found.narrow().await.unwrap().expect("a context");
        let found = context.resolve_str("bank/account").await.unwrap();
        assert!(found.is_some(), "{root}");
        let found = orb.string_to_object("corbaname:rir:#bank/account").await;
        assert!(found.is_ok(), "{root}: {found:?}");
    }
    let found = orb
        .string_to_object(&format!("corbaname::{address}#bank/account"))
        .await
        .unwrap();
    assert!(found.is_equivalent(&object(&orb, 1).await));
}

#[test]
fn a_second_daemon_in_a_folder_ends_with_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let first = Daemon::in_folder(folder.path());
    let (status, said) = ends(&["--data", text(folder.path())]);
    let expected = format!(
        "zorb-named: {} is in use by process {}",
        folder.path().display(),
        first.id()
    );
    assert_eq!((status, said), (Some(3), expected));
    // A killed one leaves nothing locked.
    drop(first);
    Daemon::in_folder(folder.path());
}

#[test]
fn each_way_not_to_start_has_its_exit_status_and_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("iiop://{}", taken.local_addr().unwrap());
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("names.redb"), "no store".repeat(10_000)).unwrap();
    let no_folder = folder.path().join("file");
    std::fs::write(&no_folder, "").unwrap();
    for (args, status, expected) in [
        (&["--listen", &taken][..], 5, "Address already in use"),
        (&["--listen", "ftp://127.0.0.1:0"], 2, "ftp"),
        (&["--data", text(&other)], 4, "cannot be used as a store"),
        (&["--data", text(&no_folder)], 4, "cannot open"),
        (&["--date", "x"], 2, "--date"),
        (&["-ORBListenEndpoint", "iiop://:0"], 2, "unexpected"),
        (
            &["--ior-file", "/absent/root.ior"],
            1,
            "cannot write /absent/root.ior",
        ),
    ] {
        let (code, said) = ends(args);
        assert_eq!(code, Some(status), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_it_says_that_names_are_lost() {
    let mut running = Running::command(command(&[]));
    let line = running.find(|line| Some(line.to_owned())).unwrap();
    assert!(line.contains("in memory: its names are lost"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_that_is_destroyed_is_gone_for_every_operation() {
    let daemon = Daemon::start(&[]);
    let names = daemon.client().await;
    let context = names.bind_new_context("gone").await.unwrap();
    context.destroy().await.unwrap();
    let gone = context.context();
    let is_gone = |exception: &zorb::SystemException| {
        assert_eq!(
            exception.kind,
            SystemExceptionKind::ObjectNotExist,
            "{exception}"
        );
    };
    assert!(gone.as_object().non_existent().await.unwrap());
    is_gone(&gone.list(1).await.unwrap_err());
    is_gone(&gone.new_context().await.unwrap_err());
    for error in [
        context.destroy().await.unwrap_err(),
        context.resolve::<ObjectRef>("a").await.unwrap_err(),
        context.unbind("a").await.unwrap_err(),
        // The name is still bound: its client is told to go on from there.
        names.resolve::<ObjectRef>("gone/a").await.unwrap_err(),
    ] {
        is_gone(error.system().unwrap_or_else(|| panic!("{error}")));
    }
    names.unbind(name("gone")).await.unwrap();
    // The root stays.
    let root = names.destroy().await.unwrap_err();
    let root = root.system().expect("an exception");
    assert_eq!(root.kind, SystemExceptionKind::NoPermission);
    names.bind_new_context("a").await.unwrap();
    let full = names.destroy().await.unwrap_err();
    assert!(matches!(full, NamingError::NotEmpty { .. }), "{full}");
}
