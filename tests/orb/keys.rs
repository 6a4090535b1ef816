//! Keys that people write by hand: the table of plain keys, and the locator that is asked about the
//! others.

use crate::savings::{AccountRef, account, in_time, spawn};
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Semaphore;
use zorb::{
    CompletionStatus, Interface, KeyTableError, ObjectRef, Orb, Policies, SystemException,
    SystemExceptionKind as Kind, minor,
};

/// An ORB that serves, and an object of it.
async fn server(owner: &str) -> (Orb, AccountRef) {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let account = orb.root_poa().activate(account(owner)).unwrap();
    (orb, account)
}

async fn client() -> Orb {
    Orb::builder().build().await.unwrap()
}

async fn resolve(client: &Orb, url: &str) -> AccountRef {
    let object = client.string_to_object(url).await.unwrap();
    object.unchecked_narrow()
}

/// The object behind a plain key of `server`, seen from `client`.
async fn plain(client: &Orb, server: &Orb, key: &[u8]) -> AccountRef {
    resolve(client, &server.corbaloc_url(key).unwrap()).await
}

fn is_gone<T: std::fmt::Debug>(result: Result<T, SystemException>, minor: u32) {
    let error = result.unwrap_err();
    let found = (error.kind, error.minor, error.completed);
    assert_eq!(
        found,
        (Kind::ObjectNotExist, minor, CompletionStatus::No),
        "{error}"
    );
}

#[tokio::test]
async fn an_object_of_the_same_orb_is_served_under_its_plain_key_directly() {
    let (orb, ada) = server("Ada").await;
    let client = client().await;
    let poa = orb
        .root_poa()
        .create_poa_with("kept", Policies::PERSISTENT, None)
        .unwrap();
    poa.the_poa_manager().activate().unwrap();
    let kept = poa.activate_object_with_id("1", account("kept")).unwrap();
    orb.key_table().bind("Ada", &ada).unwrap();
    orb.key_table().bind("kept", &kept).unwrap();
    let (by_key, kept_by_key) = (
        plain(&client, &orb, b"Ada").await,
        plain(&client, &orb, b"kept").await,
    );
    // No client would be forwarded.
    in_time(by_key.poke()).await.unwrap();
    assert_eq!(in_time(by_key.pokes()).await.unwrap(), 1);
    assert_eq!(in_time(by_key.owner()).await.unwrap(), "Ada");
    assert!(in_time(by_key.as_object().locate()).await.unwrap());
    assert_eq!(in_time(kept_by_key.owner()).await.unwrap(), "kept");
    // The object's own POA and manager say what becomes of requests.
    poa.the_poa_manager().discard_requests().unwrap();
    let error = in_time(kept_by_key.owner()).await.unwrap_err();
    assert_eq!(error.kind, Kind::Transient);
    orb.root_poa().deactivate_object(&ada).unwrap();
    is_gone(in_time(by_key.owner()).await, 0);
    assert!(!in_time(by_key.as_object().locate()).await.unwrap());
    assert_eq!(in_time(by_key.as_object().non_existent()).await, Ok(true));
    // And without a socket for the ORB itself.
    let again = orb.root_poa().activate(account("again")).unwrap();
    orb.key_table().rebind("Ada", &again).unwrap();
    let served = orb.connections_served();
    let mine = plain(&orb, &orb, b"Ada").await;
    assert_eq!(in_time(mine.owner()).await.unwrap(), "again");
    assert_eq!(orb.connections_served(), served);
}

#[tokio::test]
async fn an_object_elsewhere_is_where_clients_are_sent() {
    let ((here, _), (_there, bob)) = (server("Ada").await, server("Bob").await);
    let client = client().await;
    let bob = resolve(&here, &bob.to_string()).await;
    here.key_table().bind("Bob", &bob).unwrap();
    let url = here.corbaloc_url("Bob").unwrap();
    for version in ["1.0", "1.1", "1.2"] {
        let url = url.replace("1.2@", &format!("{version}@"));
        let by_key = resolve(&client, &url).await;
        assert!(in_time(by_key.as_object().locate()).await.unwrap());
        let by_key = resolve(&client, &url).await;
        assert_eq!(in_time(by_key.owner()).await.unwrap(), "Bob");
    }
    let mine = plain(&here, &here, b"Bob").await;
    assert!(in_time(mine.as_object().locate()).await.unwrap());
    let mine = plain(&here, &here, b"Bob").await;
    in_time(mine.poke()).await.unwrap();
    assert_eq!(in_time(mine.pokes()).await.unwrap(), 1);
    here.key_table().unbind("Bob").unwrap();
    is_gone(
        in_time(plain(&client, &here, b"Bob").await.owner()).await,
        minor::NO_ADAPTER,
    );
}

#[tokio::test]
async fn a_table_says_what_is_in_it() {
    let (orb, ada) = server("Ada").await;
    let (_other, bob) = server("Bob").await;
    let table = orb.key_table();
    table.bind("b", &ada).unwrap();
    table.bind([0, 255], &bob).unwrap();
    table.bind("", &ada).unwrap();
    assert_eq!(
        table.bind("b", &bob),
        Err(KeyTableError::AlreadyBound("b".into()))
    );
    assert_eq!(table.find("b").as_ref(), Some(ada.as_object()));
    assert_eq!(table.list(), [&b""[..], &[0, 255], b"b"]);
    let before = table.rebind("b", &bob).unwrap();
    assert_eq!(before.as_ref(), Some(ada.as_object()));
    assert_eq!(table.rebind("new", &bob), Ok(None));
    assert_eq!(table.unbind("b").as_ref(), Ok(bob.as_object()));
    assert_eq!(table.unbind("b"), Err(KeyTableError::NotFound("b".into())));
    assert_eq!(table.find("b"), None);
    let own = b"ZRB\x01whatever";
    assert_eq!(
        table.bind(own, &ada),
        Err(KeyTableError::ReservedKey(own[..].into()))
    );
    assert_eq!(
        table.bind("nil", &orb.object(zorb::Ior::NIL)),
        Err(KeyTableError::NilReference)
    );
    assert_eq!(
        KeyTableError::AlreadyBound("a b\n".into()).to_string(),
        "the key \"a b\\n\" is bound already"
    );
}

#[tokio::test]
async fn urls_of_plain_keys_lead_there_whatever_the_key() {
    let (orb, ada) = server("Ada").await;
    let client = client().await;
    for key in [
        &b"Bank"[..],
        b"a/b c",
        b"%41",
        b"\0\xff#",
        "Zürich".as_bytes(),
    ] {
        orb.key_table().bind(key, &ada).unwrap();
        let url = orb.corbaloc_url(key).unwrap();
        let found = resolve(&client, &url).await;
        assert_eq!(in_time(found.owner()).await.unwrap(), "Ada", "{url}");
    }
    let port = orb.endpoints()[0].to_string();
    let port = port.rsplit_once(':').unwrap().1;
    assert_eq!(
        orb.corbaloc_url("a b").unwrap(),
        format!("corbaloc:iiop:1.2@127.0.0.1:{port}/a%20b")
    );
    assert!(client.corbaloc_url("Bank").is_err());
}

#[tokio::test]
async fn a_socket_s_url_is_given_where_there_is_no_port() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = format!("uiop://{}", folder.path().join("a socket").display());
    let orb = Orb::builder().listen(endpoint).build().await.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let ada = orb.root_poa().activate(account("Ada")).unwrap();
    orb.key_table().bind("a/b|c", &ada).unwrap();
    let url = orb.corbaloc_url("a/b|c").unwrap();
    let found = resolve(&client().await, &url).await;
    assert_eq!(in_time(found.owner()).await.unwrap(), "Ada", "{url}");
}

#[tokio::test]
async fn an_object_of_the_ins_poa_comes_before_the_table() {
    let (orb, ada) = server("Ada").await;
    let client = client().await;
    orb.key_table().bind("Bank", &ada).unwrap();
    let bank = plain(&client, &orb, b"Bank").await;
    assert_eq!(in_time(bank.owner()).await.unwrap(), "Ada");
    let ins = orb.ins_poa();
    let plain = ins
        .activate_object_with_id("Bank", account("Bank"))
        .unwrap();
    assert_eq!(in_time(bank.owner()).await.unwrap(), "Bank");
    ins.deactivate_object(&plain).unwrap();
    assert_eq!(in_time(bank.owner()).await.unwrap(), "Ada");
}

mod the_locator {
    use super::*;

    #[tokio::test]
    async fn is_asked_about_unknown_keys() {
        let ((orb, ada), (_there, bob)) = (server("Ada").await, server("Bob").await);
        let client = client().await;
        let asked = Arc::new(AtomicU32::new(0));
        let (count, ada) = (Arc::clone(&asked), ada.as_object().clone());
        let bob = bob.as_object().clone();
        orb.key_table().set_key_resolver(move |key| {
            count.fetch_add(1, Ordering::Relaxed);
            let (ada, bob) = (ada.clone(), bob.clone());
            async move {
                tokio::task::yield_now().await;
                match &key[..] {
                    b"Ada" => Ok(Some(ada)),
                    b"Bob" => Ok(Some(bob)),
                    b"later" => Err(SystemException::new(
                        Kind::Transient,
                        7,
                        CompletionStatus::No,
                    )),
                    _ => Ok(None),
                }
            }
        });
        for client in [&client, &orb] {
            let ada = plain(client, &orb, b"Ada").await;
            in_time(ada.poke()).await.unwrap();
            assert_eq!(in_time(ada.owner()).await.unwrap(), "Ada");
            assert!(in_time(ada.as_object().locate()).await.unwrap());
            let bob = plain(client, &orb, b"Bob").await;
            assert!(in_time(bob.as_object().locate()).await.unwrap());
            let bob = plain(client, &orb, b"Bob").await;
            assert_eq!(in_time(bob.owner()).await.unwrap(), "Bob");
            let eve = plain(client, &orb, b"Eve").await;
            assert!(!in_time(eve.as_object().locate()).await.unwrap());
            is_gone(in_time(eve.owner()).await, minor::NO_ADAPTER);
            let later = plain(client, &orb, b"later").await;
            let error = in_time(later.owner()).await.unwrap_err();
            assert_eq!((error.kind, error.minor), (Kind::Transient, 7));
            let error = in_time(later.as_object().locate()).await.unwrap_err();
            assert_eq!((error.kind, error.minor), (Kind::Transient, 7));
        }
        let before = asked.load(Ordering::Relaxed);
        assert!(before > 0);
        // A key that is known, or of an object that is gone for good, is not passed to the resolver.
        let known = orb.root_poa().activate(account("known")).unwrap();
        orb.key_table().bind("known", &known).unwrap();
        let by_key = plain(&client, &orb, b"known").await;
        assert_eq!(in_time(by_key.owner()).await.unwrap(), "known");
        orb.root_poa().deactivate_object(&known).unwrap();
        is_gone(in_time(by_key.owner()).await, 0);
        let gone = orb.root_poa().create_poa("gone", None).unwrap();
        let stale = gone.activate(account("stale")).unwrap();
        gone.destroy();
        let stale = resolve(&client, &stale.to_string()).await;
        is_gone(in_time(stale.owner()).await, minor::NO_ADAPTER);
        assert_eq!(asked.load(Ordering::Relaxed), before);
        orb.key_table().clear_key_resolver();
        is_gone(
            in_time(plain(&client, &orb, b"Ada").await.owner()).await,
            minor::NO_ADAPTER,
        );
    }

    #[tokio::test]
    async fn knows_persistent_objects_whose_adapter_is_elsewhere() {
        let ((here, _), (there, bob)) = (server("Ada").await, server("Bob").await);
        let poa = here
            .root_poa()
            .create_poa_with("moved", Policies::PERSISTENT, None)
            .unwrap();
        let moved: AccountRef = poa.create_reference_with_id("1").unwrap();
        poa.destroy();
        let client = client().await;
        let moved = resolve(&client, &moved.to_string()).await;
        is_gone(in_time(moved.owner()).await, minor::NO_ADAPTER);
        let bob = bob.as_object().clone();
        here.key_table().set_key_resolver(move |_| {
            let bob = bob.clone();
            async move { Ok(Some(bob)) }
        });
        assert_eq!(in_time(moved.owner()).await.unwrap(), "Bob");
        drop(there);
    }

    #[tokio::test]
    async fn that_panics_harms_no_other() {
        let (orb, ada) = server("Ada").await;
        let client = client().await;
        let object = ada.as_object().clone();
        orb.key_table().set_key_resolver(move |key| {
            assert!(&key[..] != b"at once", "on purpose");
            let object = object.clone();
            async move {
                tokio::task::yield_now().await;
                assert!(&key[..] != b"later", "on purpose");
                Ok(Some(object))
            }
        });
        for client in [&client, &orb] {
            for key in [&b"at once"[..], b"later"] {
                let bad = plain(client, &orb, key).await;
                let good = plain(client, &orb, b"Ada").await;
                let (bad, good) = in_time(async { tokio::join!(bad.owner(), good.owner()) }).await;
                let error = bad.unwrap_err();
                let found = (error.kind, error.completed);
                assert_eq!(found, (Kind::ObjAdapter, CompletionStatus::No));
                assert_eq!(good.unwrap(), "Ada");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn that_takes_too_long_is_given_up() {
        let (orb, _) = server("Ada").await;
        orb.key_table().set_key_resolver(|_| pending());
        let slow = plain(&orb, &orb, b"slow").await;
        let error = in_time(slow.owner()).await.unwrap_err();
        assert_eq!(
            (error.kind, error.minor, error.completed),
            (
                Kind::Transient,
                minor::REQUEST_DISCARDED,
                CompletionStatus::No
            )
        );
    }

    #[tokio::test]
    async fn that_never_answers_keeps_neither_others_nor_the_shutdown_waiting() {
        let (orb, ada) = server("Ada").await;
        let client = client().await;
        let begun = Arc::new(Semaphore::new(0));
        let at_work = Arc::clone(&begun);
        orb.key_table().set_key_resolver(move |_| {
            at_work.add_permits(1);
            pending::<Result<Option<ObjectRef>, _>>()
        });
        let ada = resolve(&client, &ada.to_string()).await;
        let hung = plain(&client, &orb, b"hung").await;
        let (located, called) = (hung.clone(), hung);
        let located = spawn(async move { located.as_object().locate().await });
        let called = spawn(async move { called.owner().await });
        in_time(begun.acquire_many(2)).await.unwrap().forget();
        assert_eq!(in_time(ada.owner()).await.unwrap(), "Ada");
        in_time(orb.shutdown(true)).await.unwrap();
        let refused = in_time(called).await.unwrap().unwrap_err();
        assert_eq!(refused.completed, CompletionStatus::No, "{refused}");
        assert!(in_time(located).await.unwrap().is_err());
    }

    #[tokio::test]
    async fn is_asked_about_so_many_keys_at_a_time_and_no_more() {
        /// The share of one host, of 256 in all.
        const AT_A_TIME: u32 = 192;
        let (orb, ada) = server("Ada").await;
        let client = client().await;
        let (begun, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (at_work, may_go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        let object = ada.as_object().clone();
        orb.key_table().set_key_resolver(move |_| {
            at_work.add_permits(1);
            let (object, may_go_on) = (object.clone(), Arc::clone(&may_go_on));
            async move {
                may_go_on.acquire().await.unwrap().forget();
                Ok(Some(object))
            }
        });
        let unknown = plain(&client, &orb, b"unknown").await;
        let mut calls = Vec::new();
        for _ in 0..AT_A_TIME {
            let unknown = unknown.clone();
            calls.push(spawn(async move { unknown.owner().await }));
        }
        in_time(begun.acquire_many(AT_A_TIME))
            .await
            .unwrap()
            .forget();
        let error = in_time(unknown.owner()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Transient, "{error}");
        go_on.add_permits(AT_A_TIME as usize + 1);
        for call in calls {
            assert_eq!(in_time(call).await.unwrap().unwrap(), "Ada");
        }
        assert_eq!(in_time(unknown.owner()).await.unwrap(), "Ada");
    }
}

/// A call that is waiting at the server when this returns.
async fn held<T: std::fmt::Debug>(
    call: &mut (impl Future<Output = T> + Unpin),
    object: &AccountRef,
) {
    tokio::select! {
        biased;
        answer = call => panic!("expected it to be held, found {answer:?}"),
        // Asked on the same connection, after it.
        here = in_time(object.as_object().locate()) => assert_eq!(here, Ok(true)),
    }
}

#[tokio::test]
async fn a_held_request_is_for_the_object_of_its_key_at_release() {
    let (orb, elsewhere) = server("elsewhere").await;
    let client = client().await;
    let poa = orb
        .root_poa()
        .create_poa_with("kept", Policies::PERSISTENT, None)
        .unwrap();
    let manager = Arc::clone(poa.the_poa_manager());
    manager.activate().unwrap();
    let here = poa.activate_object_with_id("1", account("first")).unwrap();
    orb.key_table().bind("first", &here).unwrap();
    let far = resolve(&client, &here.to_string()).await;
    let by_key = plain(&client, &orb, b"first").await;
    for (name, object) in [("local", &here), ("remote", &far), ("by key", &by_key)] {
        assert_eq!(in_time(object.owner()).await.unwrap(), "first", "{name}");
        manager.hold_requests().unwrap();
        let mut call = Box::pin(object.owner());
        held(&mut call, object).await;
        poa.deactivate_object(&here).unwrap();
        manager.activate().unwrap();
        is_gone(in_time(call).await, 0);

        poa.activate_object_with_id("1", account("first")).unwrap();
        manager.hold_requests().unwrap();
        let mut call = Box::pin(object.owner());
        held(&mut call, object).await;
        poa.deactivate_object(&here).unwrap();
        poa.activate_object_with_id("1", account("second")).unwrap();
        manager.activate().unwrap();
        assert_eq!(in_time(call).await.unwrap(), "second", "{name}");

        manager.hold_requests().unwrap();
        let mut call = Box::pin(object.owner());
        held(&mut call, object).await;
        poa.forward_object_with_id("1", zorb::Forward::to(&elsewhere))
            .unwrap();
        manager.activate().unwrap();
        assert_eq!(in_time(call).await.unwrap(), "elsewhere", "{name}");
        poa.deactivate_object(&here).unwrap();
        poa.activate_object_with_id("1", account("first")).unwrap();
    }
}
