//! References that outlive their server, objects that are somewhere else, and keys that an
//! application chooses.

use crate::anew::{anywhere, listening};

use crate::savings::{Account, AccountRef, AccountServant, account, in_time, spawn};
use crate::support::{Running, process};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zorb::{
    AdapterError, CompletionStatus, Error, Forward, IdAssignment, Interface, Lifespan, ObjectId,
    ObjectRef, Orb, Poa, Policies, RequestProcessing, SystemException, SystemExceptionKind as Kind,
    minor,
};

/// An ORB that serves.
async fn server_at(endpoint: &str) -> Orb {
    let orb = listening(|| Orb::builder().listen(endpoint).server_id("bank")).await;
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb
}

async fn server() -> Orb {
    server_at(&anywhere()).await
}

/// A client, whose references lead to no object of its own.
async fn client() -> Orb {
    Orb::builder().build().await.unwrap()
}

fn child(parent: &Poa, name: &str, policies: Policies) -> Poa {
    let manager = parent.the_poa_manager();
    parent
        .create_poa_with(name, policies, Some(manager))
        .unwrap()
}

fn accounts(orb: &Orb) -> Poa {
    child(&orb.root_poa(), "accounts", Policies::PERSISTENT)
}

async fn from_afar(client: &Orb, reference: &impl Interface) -> AccountRef {
    let text = reference.as_object().to_string();
    client
        .string_to_object(&text)
        .await
        .unwrap()
        .unchecked_narrow()
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
async fn a_persistent_reference_works_again_after_a_restart_on_the_same_endpoint() {
    let first = server().await;
    let endpoint = first.endpoints()[0].to_string();
    let reference = accounts(&first)
        .activate_object_with_id("4711", account("Ada"))
        .unwrap();
    let stale = first.root_poa().activate(account("passing")).unwrap();
    let client = client().await;
    let ada = from_afar(&client, &reference).await;
    let passing = from_afar(&client, &stale).await;
    assert_eq!(in_time(ada.owner()).await.unwrap(), "Ada");
    assert_eq!(in_time(passing.owner()).await.unwrap(), "passing");
    in_time(first.shutdown(true)).await.unwrap();

    let second = server_at(&endpoint).await;
    // Another object takes the slot that the transient one had.
    second.root_poa().activate(account("another")).unwrap();
    is_gone(in_time(passing.owner()).await, minor::NO_ADAPTER);
    // Adapter and object come back one after the other.
    is_gone(in_time(ada.owner()).await, minor::NO_ADAPTER);
    let accounts = accounts(&second);
    is_gone(in_time(ada.owner()).await, 0);
    let again = accounts
        .activate_object_with_id("4711", account("Ada again"))
        .unwrap();
    assert_eq!(again.to_string(), reference.to_string());
    assert_eq!(in_time(ada.owner()).await.unwrap(), "Ada again");
    is_gone(in_time(passing.owner()).await, minor::NO_ADAPTER);
    accounts.destroy();
    is_gone(in_time(ada.owner()).await, minor::NO_ADAPTER);
}

const ENDPOINT: &str = "ZORB_TEST_ENDPOINT";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the server of another test, which starts it"]
async fn a_server_in_a_process_of_its_own() {
    let orb = server_at(&std::env::var(ENDPOINT).expect("another test says where")).await;
    let owner = format!("process {}", std::process::id());
    orb.ins_poa()
        .activate_object_with_id("Bank/main branch", account(&owner))
        .unwrap();
    let reference = accounts(&orb)
        .activate_object_with_id([0, 47, 255], account(&owner))
        .unwrap();
    eprintln!("endpoint {}", orb.endpoints()[0]);
    eprintln!("{}", orb.object_to_string(&reference));
    orb.run().await;
}

fn start_server(endpoint: &str) -> Running {
    let mut command = process(module_path!(), "a_server_in_a_process_of_its_own");
    command.env(ENDPOINT, endpoint);
    Running::command(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_goes_on_with_what_it_has_when_the_server_s_process_is_another() {
    let mut first = start_server(&anywhere());
    let endpoint = first
        .find(|line| Some(line.split_once("endpoint ")?.1.to_owned()))
        .expect("it listens");
    let reference = first.reference().expect("it serves");
    let client = client().await;
    let object = client.string_to_object(&reference).await.unwrap();
    let account: AccountRef = object.unchecked_narrow();
    let url = format!(
        "corbaloc:iiop:1.2@{}/Bank/main%20branch",
        endpoint.strip_prefix("iiop://").unwrap()
    );
    let plain = client.string_to_object(&url).await.unwrap();
    let plain: AccountRef = in_time(plain.narrow()).await.unwrap().expect("an Account");
    let before = in_time(account.owner()).await.unwrap();
    assert_eq!(in_time(plain.owner()).await.unwrap(), before);
    // The server is killed, and its peers get no message.
    drop(first);
    let lost = in_time(account.owner()).await.unwrap_err();
    assert!(matches!(lost.kind, Kind::CommFailure | Kind::Transient));
    let down = in_time(account.owner()).await.unwrap_err();
    assert_eq!(down.kind, Kind::Transient, "{down}");

    let mut second = start_server(&endpoint);
    assert_eq!(second.reference(), Some(reference));
    let after = in_time(account.owner()).await.unwrap();
    assert_ne!(after, before);
    assert_eq!(in_time(plain.owner()).await.unwrap(), after);
}

#[tokio::test]
async fn a_persistent_reference_of_ones_own_is_called_without_a_socket_and_another_s_is_not() {
    let (here, there) = (server().await, server().await);
    let serve = |orb: &Orb, owner: &str| {
        let persistent = accounts(orb)
            .activate_object_with_id("1", account(owner))
            .unwrap();
        let plain = orb
            .ins_poa()
            .activate_object_with_id("Bank", account(owner))
            .unwrap();
        [persistent, plain]
    };
    let (ours, theirs) = (serve(&here, "here"), serve(&there, "there"));
    for reference in &ours {
        let reference = from_afar(&here, reference).await;
        assert_eq!(in_time(reference.owner()).await.unwrap(), "here");
    }
    assert_eq!(here.connections_served(), 0);
    for reference in &theirs {
        let reference = from_afar(&here, reference).await;
        assert_eq!(in_time(reference.owner()).await.unwrap(), "there");
        let wrong = accounts(&client_of(&here).await).reference_to_id(&reference);
        assert!(matches!(
            wrong,
            Err(Error::Adapter(AdapterError::WrongAdapter))
        ));
    }
    assert_eq!(there.connections_served(), 1);
    assert_eq!(here.connections_served(), 0);
}

/// Another ORB that listens, for its adapters.
async fn client_of(_: &Orb) -> Orb {
    server().await
}

#[tokio::test]
async fn a_reference_of_another_server_at_the_same_place_is_object_not_exist() {
    let first = server().await;
    let endpoint = first.endpoints()[0].to_string();
    let reference = accounts(&first)
        .activate_object_with_id("1", account("first"))
        .unwrap();
    in_time(first.shutdown(true)).await.unwrap();
    let other = Orb::builder()
        .listen(&*endpoint)
        .server_id("another bank")
        .build()
        .await
        .unwrap();
    other.root_poa().the_poa_manager().activate().unwrap();
    let same = accounts(&other)
        .activate_object_with_id("1", account("other"))
        .unwrap();
    assert_ne!(same.to_string(), reference.to_string());
    let stale = from_afar(&client().await, &reference).await;
    is_gone(in_time(stale.owner()).await, minor::NO_ADAPTER);
}

#[tokio::test]
async fn references_and_ids_lead_to_each_other() {
    let orb = server().await;
    let poa = accounts(&orb);
    for id in [&b""[..], b"4711", b"\0/\xff"] {
        let early: AccountRef = poa.create_reference_with_id(id).unwrap();
        assert_eq!(poa.reference_to_id(&early).unwrap(), ObjectId::from(id));
        is_gone(in_time(early.owner()).await, 0);
        assert!(matches!(
            poa.id_to_reference(id),
            Err(Error::Adapter(AdapterError::ObjectNotActive))
        ));
        let active = poa.activate_object_with_id(id, account("Ada")).unwrap();
        assert_eq!(active, early);
        assert_eq!(&poa.id_to_reference(id).unwrap(), active.as_object());
        assert_eq!(in_time(early.owner()).await.unwrap(), "Ada");
        assert!(matches!(
            poa.activate_object_with_id(id, account("Bob")),
            Err(Error::Adapter(AdapterError::ObjectAlreadyActive(taken))) if taken.as_ref() == id
        ));
        poa.deactivate_object(&early).unwrap();
        is_gone(in_time(early.owner()).await, 0);
        assert!(poa.deactivate_object_with_id(id).is_err());
    }
    let root = orb.root_poa();
    let early: AccountRef = root.create_reference().unwrap();
    is_gone(in_time(early.owner()).await, 0);
    let id = root.reference_to_id(&early).unwrap();
    let active = root.activate_object_with_id(&id, account("Eve")).unwrap();
    assert_eq!(active, early);
    assert_eq!(in_time(early.owner()).await.unwrap(), "Eve");
    assert!(matches!(
        poa.reference_to_id(&early),
        Err(Error::Adapter(AdapterError::WrongAdapter))
    ));
    assert!(matches!(
        poa.activate(account("absent")),
        Err(Error::Adapter(AdapterError::WrongPolicy(_)))
    ));
    let unknown = root
        .activate_object_with_id("mine", account("me"))
        .unwrap_err();
    let exception = unknown.to_system_exception();
    assert_eq!(
        (exception.kind, exception.minor),
        (Kind::BadParam, minor::UNKNOWN_OBJECT_ID)
    );
}

#[tokio::test]
async fn every_pair_of_policies_serves() {
    let orb = server().await;
    let client = client().await;
    for lifespan in [Lifespan::Transient, Lifespan::Persistent] {
        for ids in [IdAssignment::System, IdAssignment::User] {
            let policies = Policies::default()
                .with_lifespan(lifespan)
                .with_id_assignment(ids);
            let name = format!("{policies:?}");
            let poa = child(&orb.root_poa(), &name, policies);
            assert_eq!(poa.policies(), policies);
            let reference = match ids {
                IdAssignment::System => poa.activate(account(&name)),
                IdAssignment::User => poa.activate_object_with_id("id", account(&name)),
            };
            let reference = from_afar(&client, &reference.unwrap()).await;
            assert_eq!(in_time(reference.owner()).await.unwrap(), name);
            let found = orb.root_poa().find_poa(&name).unwrap();
            found.destroy();
            is_gone(in_time(reference.owner()).await, minor::NO_ADAPTER);
        }
    }
}

#[tokio::test]
async fn nothing_is_made_below_a_poa_that_was_destroyed() {
    let orb = server().await;
    let parent = child(&orb.root_poa(), "parent", Policies::default());
    parent.destroy();
    assert!(matches!(
        parent.create_poa("child", None),
        Err(Error::Adapter(AdapterError::Destroyed))
    ));
    assert!(parent.find_poa("child").is_none());
    let gone = parent.activate(account("x")).unwrap_err();
    assert_eq!(gone.to_system_exception().kind, Kind::ObjectNotExist);
}

mod forwards {
    use super::*;

    /// Two servers, an object on the second, and a client.
    async fn two() -> (Orb, Orb, AccountRef, Orb) {
        let (here, there) = (server().await, server().await);
        let target = there.root_poa().activate(account("there")).unwrap();
        (here, there, target, client().await)
    }

    #[tokio::test]
    async fn an_object_that_has_moved_is_found_where_it_is_now() {
        let (here, there, target, client) = two().await;
        let poa = accounts(&here);
        let reference = poa.activate_object_with_id("1", account("here")).unwrap();
        let afar = from_afar(&client, &reference).await;
        assert_eq!(in_time(afar.owner()).await.unwrap(), "here");
        let target = from_afar(&here, &target).await;
        poa.forward_object(&reference, Forward::to(&target))
            .unwrap();
        assert_eq!(in_time(afar.owner()).await.unwrap(), "there");
        // Where it was made, too, and by every operation.
        assert_eq!(in_time(reference.owner()).await.unwrap(), "there");
        assert!(in_time(reference.as_object().locate()).await.unwrap());
        let other = from_afar(&client, &reference).await;
        assert!(in_time(other.as_object().locate()).await.unwrap());
        assert_eq!(in_time(other.as_object().non_existent()).await, Ok(false));
        assert!(in_time(other.as_object().is_a("IDL:x:1.0")).await.is_ok());
        // When it comes back, the forward ends; a client that followed it stays there while that works.
        poa.deactivate_object(&reference).unwrap();
        poa.activate_object_with_id("1", account("back")).unwrap();
        assert_eq!(in_time(afar.owner()).await.unwrap(), "there");
        in_time(there.shutdown(true)).await.unwrap();
        assert_eq!(in_time(afar.owner()).await.unwrap(), "back");
    }

    #[tokio::test]
    async fn an_object_that_a_server_has_never_had_is_found_where_it_is() {
        let (here, _there, target, client) = two().await;
        here.ins_poa()
            .forward_object_with_id("Bank", Forward::to(&target).permanent())
            .unwrap();
        let endpoint = here.endpoints()[0].to_string();
        let address = endpoint.strip_prefix("iiop://").unwrap();
        for version in ["1.0", "1.1", "1.2"] {
            let url = format!("corbaloc:iiop:{version}@{address}/Bank");
            let object = client.string_to_object(&url).await.unwrap();
            let account: AccountRef = object.unchecked_narrow();
            assert_eq!(in_time(account.owner()).await.unwrap(), "there");
            let object = client.string_to_object(&url).await.unwrap();
            assert!(in_time(object.locate()).await.unwrap(), "{version}");
        }
    }

    #[tokio::test]
    async fn a_one_way_call_from_the_same_orb_follows() {
        let (here, _there, target, _client) = two().await;
        let target = from_afar(&here, &target).await;
        let moved: AccountRef = here
            .root_poa()
            .create_forward(Forward::to(&target))
            .unwrap();
        in_time(moved.poke()).await.unwrap();
        assert_eq!(in_time(target.pokes()).await.unwrap(), 1);
        assert_eq!(here.connections_served(), 0);
    }

    #[tokio::test]
    async fn who_decides_where_to_is_asked_each_time_and_may_fail() {
        let (here, _there, target, client) = two().await;
        let asked = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&asked);
        let target = target.as_object().clone();
        let forward = Forward::by(move || match count.fetch_add(1, Ordering::Relaxed) {
            0 => Err(SystemException::new(
                Kind::Transient,
                7,
                CompletionStatus::No,
            )),
            1 | 2 => panic!("on purpose"),
            _ => Ok(target.clone()),
        });
        let reference: AccountRef = here.root_poa().create_forward(forward).unwrap();
        let afar = from_afar(&client, &reference).await;
        let error = in_time(afar.owner()).await.unwrap_err();
        assert_eq!((error.kind, error.minor), (Kind::Transient, 7));
        let error = in_time(afar.owner()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Unknown);
        // A LocateRequest about it fails alike, and no other request does.
        let error = in_time(afar.as_object().locate()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Unknown);
        assert_eq!(in_time(afar.owner()).await.unwrap(), "there");
        assert_eq!(in_time(afar.owner()).await.unwrap(), "there");
        assert_eq!(asked.load(Ordering::Relaxed), 4, "the answer is remembered");
    }

    #[tokio::test]
    async fn a_circle_ends() {
        let here = server().await;
        let user = Policies::default().with_id_assignment(IdAssignment::User);
        let poa = child(&here.root_poa(), "circle", user);
        let one: ObjectRef = poa.create_reference_with_id("one").unwrap();
        let other: ObjectRef = poa.create_reference_with_id("other").unwrap();
        poa.forward_object(&one, Forward::to(&other)).unwrap();
        poa.forward_object(&other, Forward::to(&one)).unwrap();
        for orb in [&here, &client().await] {
            let account = from_afar(orb, &one).await;
            let error = in_time(account.owner()).await.unwrap_err();
            assert_eq!(error.kind, Kind::Transient, "{error}");
            let error = in_time(account.as_object().locate()).await.unwrap_err();
            assert_eq!(error.kind, Kind::Transient, "{error}");
        }
        let error = in_time(from_afar(&here, &one).await.poke()).await;
        assert_eq!(error.unwrap_err().kind, Kind::Transient);
    }

    #[tokio::test]
    async fn a_forward_is_held_like_an_object_and_can_be_taken_back() {
        let (here, _there, target, client) = two().await;
        let manager = here.root_poa().the_poa_manager().clone();
        let reference: AccountRef = here
            .root_poa()
            .create_forward(Forward::to(&target))
            .unwrap();
        let afar = from_afar(&client, &reference).await;
        manager.discard_requests().unwrap();
        let error = in_time(afar.owner()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Transient);
        manager.activate().unwrap();
        here.root_poa().deactivate_object(&reference).unwrap();
        is_gone(in_time(afar.owner()).await, 0);
    }
}

mod the_servant_activator {
    use super::*;
    use tokio::sync::Semaphore;

    fn managed(orb: &Orb) -> Poa {
        let manager = RequestProcessing::ServantManager;
        let policies = Policies::PERSISTENT.with_request_processing(manager);
        child(&orb.root_poa(), "accounts", policies)
    }

    #[tokio::test]
    async fn activates_objects_when_they_are_called_and_each_once() {
        let (orb, client) = (server().await, client().await);
        let poa = managed(&orb);
        let incarnated = Arc::new(AtomicU32::new(0));
        let (begun, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (count, at_work, may_go_on) = (
            Arc::clone(&incarnated),
            Arc::clone(&begun),
            Arc::clone(&go_on),
        );
        poa.set_servant_activator(move |poa, id| {
            count.fetch_add(1, Ordering::Relaxed);
            at_work.add_permits(1);
            let may_go_on = Arc::clone(&may_go_on);
            async move {
                may_go_on.acquire().await.unwrap().forget();
                poa.activate_object_with_id(&id, account(&id.to_string()))?;
                Ok(())
            }
        })
        .unwrap();
        let mut calls = Vec::new();
        for id in ["a", "b", "a", "a"] {
            let reference: AccountRef = poa.create_reference_with_id(id).unwrap();
            for orb in [&client, &orb] {
                let reference = from_afar(orb, &reference).await;
                calls.push((id, spawn(async move { reference.owner().await })));
            }
        }
        // Both are at work at the same time, and no request for one of them begins it anew.
        in_time(begun.acquire_many(2)).await.unwrap().forget();
        go_on.add_permits(8);
        for (id, call) in calls {
            assert_eq!(in_time(call).await.unwrap().unwrap(), id);
        }
        assert_eq!(incarnated.load(Ordering::Relaxed), 2);
        // An etherealized object is incarnated again when it is called.
        poa.deactivate_object_with_id("a").unwrap();
        let reference: AccountRef = poa.create_reference_with_id("a").unwrap();
        let reference = from_afar(&client, &reference).await;
        assert!(in_time(reference.as_object().locate()).await.unwrap());
        assert_eq!(incarnated.load(Ordering::Relaxed), 2);
        assert_eq!(in_time(reference.owner()).await.unwrap(), "a");
        assert_eq!(incarnated.load(Ordering::Relaxed), 3);
        poa.destroy();
        is_gone(in_time(reference.owner()).await, minor::NO_ADAPTER);
    }

    #[tokio::test]
    async fn may_say_that_there_is_none_or_that_it_is_elsewhere_or_fail() {
        let (orb, there, client) = (server().await, server().await, client().await);
        let target = there.root_poa().activate(account("there")).unwrap();
        let poa = managed(&orb);
        poa.set_servant_activator(move |poa, id| {
            let target = target.clone();
            async move {
                match id.as_ref() {
                    b"moved" => poa.forward_object_with_id(&id, Forward::to(&target))?,
                    b"broken" => {
                        let error = (Kind::NoResources, 7, CompletionStatus::No);
                        return Err(SystemException::new(error.0, error.1, error.2));
                    }
                    b"panic" => panic!("on purpose"),
                    _ => {}
                }
                Ok(())
            }
        })
        .unwrap();
        for orb in [&client, &orb] {
            let call = async |id: &str| {
                let reference: AccountRef = poa.create_reference_with_id(id).unwrap();
                in_time(from_afar(orb, &reference).await.owner()).await
            };
            assert_eq!(call("moved").await.unwrap(), "there");
            is_gone(call("absent").await, 0);
            let error = call("broken").await.unwrap_err();
            assert_eq!((error.kind, error.minor), (Kind::NoResources, 7));
            assert_eq!(call("panic").await.unwrap_err().kind, Kind::Unknown);
            assert_eq!(call("panic").await.unwrap_err().kind, Kind::Unknown);
        }
    }

    #[tokio::test]
    async fn is_asked_for_no_object_that_cannot_be_its() {
        let (orb, client) = (server().await, client().await);
        let manager = RequestProcessing::ServantManager;
        let policies = Policies::default().with_request_processing(manager);
        let poa = child(&orb.root_poa(), "late", policies);
        poa.set_servant_activator(|poa, id| async move {
            poa.activate_object_with_id(&id, account("late"))?;
            Ok(())
        })
        .unwrap();
        let early: AccountRef = poa.create_reference().unwrap();
        let early = from_afar(&client, &early).await;
        assert_eq!(in_time(early.owner()).await.unwrap(), "late");
        // It is activated again, with an id of either kind.
        poa.deactivate_object(&from_afar(&orb, &early).await)
            .unwrap();
        assert_eq!(in_time(early.owner()).await.unwrap(), "late");
        for poa in [orb.ins_poa(), orb.root_poa()] {
            assert!(matches!(
                poa.set_servant_activator(|_, _| async { Ok(()) }),
                Err(Error::Adapter(AdapterError::WrongPolicy(_)))
            ));
        }
        assert!(matches!(
            poa.set_servant_activator(|_, _| async { Ok(()) }),
            Err(Error::Adapter(AdapterError::ServantManagerSet))
        ));
    }

    #[tokio::test]
    async fn waits_for_the_manager() {
        let (orb, client) = (server().await, client().await);
        let poa = managed(&orb);
        poa.set_servant_activator(|_, _| async { panic!("it must not be asked") })
            .unwrap();
        poa.the_poa_manager().discard_requests().unwrap();
        let reference: AccountRef = poa.create_reference_with_id("1").unwrap();
        let error = in_time(from_afar(&client, &reference).await.owner()).await;
        assert_eq!(error.unwrap_err().kind, Kind::Transient);
    }
}

#[tokio::test]
async fn what_an_orb_keeps_does_not_keep_the_orb() {
    struct Leaving(Arc<tokio::sync::Notify>);
    impl Drop for Leaving {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    impl Account for Leaving {
        async fn owner(&self) -> Result<String, SystemException> {
            Ok(String::new())
        }
        async fn poke(&self) -> Result<(), SystemException> {
            Ok(())
        }
        async fn pokes(&self) -> Result<i32, SystemException> {
            Ok(0)
        }
    }
    let gone = Arc::new(tokio::sync::Notify::new());
    let orb = server().await;
    let servant = AccountServant::new(Leaving(Arc::clone(&gone)));
    let reference = orb.root_poa().activate(servant).unwrap();
    let poa = accounts(&orb);
    poa.forward_object_with_id("1", Forward::to(&reference))
        .unwrap();
    let manager = RequestProcessing::ServantManager;
    let policies = Policies::PERSISTENT.with_request_processing(manager);
    let managed = child(&orb.root_poa(), "managed", policies);
    let nothing = managed.set_servant_activator(|_, _| async { Ok(()) });
    nothing.unwrap();
    orb.key_table().bind("Bank", &reference).unwrap();
    drop((orb, poa, managed, reference));
    in_time(gone.notified()).await;
}

/// A faulty skeleton, written by hand.
struct Clumsy;

impl zorb::skeleton::Skeleton for Clumsy {
    fn repository_id(&self) -> &'static str {
        "IDL:Clumsy:1.0"
    }
    fn is_a(&self, _: &str) -> bool {
        false
    }
    fn start(&self, _: zorb::skeleton::ServerRequest) -> zorb::skeleton::Started {
        panic!("on purpose")
    }
}

impl zorb::skeleton::InterfaceSkeleton for Clumsy {
    type Ref = AccountRef;
}

#[tokio::test]
async fn a_skeleton_that_panics_before_it_begins_ends_no_connection() {
    let orb = server().await;
    let clumsy = orb.root_poa().activate(Clumsy).unwrap();
    let good = orb.root_poa().activate(account("good")).unwrap();
    for client in [&orb, &client().await] {
        let clumsy = from_afar(client, &clumsy).await;
        let good = from_afar(client, &good).await;
        let (bad, fine) = in_time(async { tokio::join!(clumsy.owner(), good.owner()) }).await;
        let error = bad.unwrap_err();
        assert_eq!(
            (error.kind, error.minor),
            (Kind::Unknown, minor::SERVANT_PANICKED)
        );
        assert_eq!(fine.unwrap(), "good");
    }
}

mod a_manager_that_was_never_activated {
    use super::*;
    use tokio::sync::Notify;
    use tracing::field::{Field, Visit};
    use tracing::{Event, Level, Metadata, Subscriber, span};

    /// Counts warnings about managers, and signals them.
    #[derive(Clone, Default)]
    struct Warnings(Arc<(AtomicU32, Notify)>);

    struct Mentions(bool);

    impl Visit for Mentions {
        fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
            self.0 |= format!("{value:?}").contains("the_poa_manager().activate()");
        }
    }

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::WARN
        }

        fn event(&self, event: &Event<'_>) {
            let mut mentions = Mentions(false);
            event.record(&mut mentions);
            if mentions.0 {
                self.0.0.fetch_add(1, Ordering::Relaxed);
                self.0.1.notify_one();
            }
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    #[tokio::test]
    async fn is_reported_once_when_a_request_waits_for_it() {
        let warnings = Warnings::default();
        let _listening = tracing::subscriber::set_default(warnings.clone());
        let orb = Orb::builder().listen(anywhere()).build().await.unwrap();
        let ada = orb.root_poa().activate(account("Ada")).unwrap();
        let client = client().await;
        let mut calls = Vec::new();
        for orb in [&client, &orb, &client] {
            let ada = from_afar(orb, &ada).await;
            calls.push(spawn(async move { ada.owner().await }));
        }
        in_time(warnings.0.1.notified()).await;
        let manager = orb.root_poa().the_poa_manager().clone();
        manager.activate().unwrap();
        for call in calls {
            assert_eq!(in_time(call).await.unwrap().unwrap(), "Ada");
        }
        // A deliberate HOLDING state needs no warning.
        manager.hold_requests().unwrap();
        let far = from_afar(&client, &ada).await;
        let held = spawn(async move { far.owner().await });
        let near = from_afar(&orb, &ada).await;
        let near = spawn(async move { near.owner().await });
        tokio::task::yield_now().await;
        manager.activate().unwrap();
        assert_eq!(in_time(held).await.unwrap().unwrap(), "Ada");
        assert_eq!(in_time(near).await.unwrap().unwrap(), "Ada");
        assert_eq!(warnings.0.0.load(Ordering::Relaxed), 1);
    }
}
