//! `--rules`: who may read and who may change names.

use crate::common::{Daemon, client_orb, command, object};
use zorb::naming::{NamingClient, NamingError};
use zorb::{Interface, ObjectRef, SystemExceptionKind};

fn is_refused<T: std::fmt::Debug>(done: Result<T, NamingError>) -> bool {
    let error = done.unwrap_err();
    error
        .system()
        .is_some_and(|exception| exception.kind == SystemExceptionKind::NoPermission)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_this_host_changes_names_and_others_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules");
    let user = rustix::process::getuid().as_raw();
    std::fs::write(
        &file,
        format!("# the owner\nallow all user {user}\nallow read\n"),
    )
    .unwrap();
    let (socket, reference) = (folder.path().join("socket"), folder.path().join("root.ior"));
    let daemon = Daemon::start(&[
        "--rules",
        file.to_str().unwrap(),
        "--listen",
        "iiop://127.0.0.1:0",
        "--listen",
        &format!("uiop://{}", socket.display()),
        "--ior-file",
        reference.to_str().unwrap(),
    ]);
    let orb = client_orb().await;
    let there: ObjectRef = {
        let url = format!("corbaloc:uiop:{}|NameService", socket.display());
        orb.string_to_object(&url).await.unwrap()
    };
    let owner = NamingClient::at(&there).await.unwrap();
    let reader = daemon.client().await;
    for n in 0..3 {
        owner
            .bind(&format!("a{n}"), &object(&orb, n).await)
            .await
            .unwrap();
    }
    reader.resolve::<ObjectRef>("a1").await.unwrap();
    let (first, iterator) = reader.context().list(1).await.unwrap();
    let iterator = iterator.expect("there are more");
    let (_, rest) = iterator.next_n(10).await.unwrap();
    assert_eq!(first.len() + rest.len(), 3);
    iterator.destroy().await.unwrap();
    assert!(!reader.context().as_object().non_existent().await.unwrap());

    assert!(is_refused(reader.bind("b", &object(&orb, 1).await).await));
    assert!(is_refused(
        reader.rebind("a1", &object(&orb, 9).await).await
    ));
    assert!(is_refused(reader.unbind("a1").await));
    assert!(is_refused(reader.bind_new_context("c").await));
    let refused = reader.context().new_context().await.unwrap_err();
    assert_eq!(refused.kind, SystemExceptionKind::NoPermission);
    owner.unbind("a1").await.unwrap();
}

#[test]
fn rules_that_are_none_end_the_program_before_it_listens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules");
    std::fs::write(&file, "allow read\npermit all\n").unwrap();
    for (rules, said) in [
        (&file, "rules:2: expected allow or deny"),
        (&folder.path().join("none"), "none: "),
    ] {
        let running = Daemon::started(command(&["--rules", rules.to_str().unwrap()]));
        let ended = running.err().expect("it ends").finish();
        assert_eq!(ended.status.code(), Some(2));
        assert!(
            ended.lines.iter().any(|line| line.contains(said)),
            "{:?}",
            ended.lines
        );
    }
}
