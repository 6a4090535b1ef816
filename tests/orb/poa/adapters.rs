//! The tree of adapters, adapter activators, and POA managers.

use super::*;
use crate::savings::spawn;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Mutex;
use tokio::sync::Semaphore;
use zorb::{
    Cleanup, ManagerError, ObjectId, PoaManagerState, Servant, ServantActivator,
    ServantManagerError, minor,
};

fn kept() -> Policies {
    Policies::PERSISTENT
}

#[tokio::test]
async fn adapters_know_their_parents_and_children() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    let parent = world.poa("a/b", kept());
    let manager = root.the_poa_manager();
    for name in ["", "x", "\0"] {
        parent.create_poa_with(name, kept(), Some(manager)).unwrap();
    }
    let names: Vec<_> = parent
        .the_children()
        .iter()
        .map(|poa| poa.the_name().to_owned())
        .collect();
    assert_eq!(names, ["", "\0", "x"]);
    for child in parent.the_children() {
        assert_eq!(child.the_parent().unwrap().the_name(), "a/b");
    }
    assert_eq!(parent.the_parent().unwrap().the_name(), "RootPOA");
    assert!(root.the_parent().is_none());
    parent.destroy();
    assert!(parent.the_children().is_empty());
    world.end().await;
}

#[tokio::test]
async fn managers_have_ids_by_which_the_factory_finds_them() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    let factory = root.the_poa_manager_factory();
    assert_eq!(root.the_poa_manager().id(), "RootPOAManager");
    let shared = factory.create_poa_manager("shared").unwrap();
    assert_eq!(shared.state(), PoaManagerState::Holding);
    let again = factory.create_poa_manager("shared");
    assert!(matches!(
        adapter_error(again),
        AdapterError::ManagerAlreadyExists(_)
    ));
    let own = root.create_poa("own", None).unwrap();
    let found = factory.find(own.the_poa_manager().id()).unwrap();
    assert!(Arc::ptr_eq(&found, own.the_poa_manager()));
    assert!(Arc::ptr_eq(&factory.find("shared").unwrap(), &shared));
    assert!(factory.find("other").is_none());
    assert_eq!(factory.list().len(), 3);
    world.end().await;
}

/// A servant whose upcall waits for the test.
pub(super) struct Slow {
    entered: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

impl Slow {
    pub(super) fn new(entered: &Arc<Semaphore>, go_on: &Arc<Semaphore>) -> Self {
        Self {
            entered: Arc::clone(entered),
            go_on: Arc::clone(go_on),
        }
    }
}

zorb::idl! {
    interface Gate {
        void pass();
        /// Waits for completion within an upcall.
        boolean waits();
    };
}

impl Gate for Slow {
    async fn pass(&self) -> Result<(), SystemException> {
        self.entered.add_permits(1);
        self.go_on.acquire().await.unwrap().forget();
        Ok(())
    }

    async fn waits(&self) -> Result<bool, SystemException> {
        let poa = PoaCurrent::get_poa()?;
        let manager = Arc::clone(poa.the_poa_manager());
        assert_eq!(
            manager.hold_requests_and_wait().await,
            Err(ManagerError::WithinUpcall)
        );
        assert_eq!(manager.state(), PoaManagerState::Active);
        let error = poa.destroy_with(true, true).await.unwrap_err();
        assert_eq!(
            (error.kind, error.minor),
            (Kind::BadInvOrder, minor::WOULD_DEADLOCK)
        );
        Ok(true)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn managers_and_destruction_wait_for_upcalls_in_progress() {
    let world = World::new().await;
    let (entered, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let slow = || GateServant::new(Slow::new(&entered, &go_on));
    for policies in [
        Policies::DEFAULT,
        kept(),
        default_servant(ServantRetention::NonRetain),
    ] {
        let poa = world
            .orb
            .root_poa()
            .create_poa_with("gates", policies, None)
            .unwrap();
        let manager = Arc::clone(poa.the_poa_manager());
        manager.activate().unwrap();
        let gate: GateRef = match (policies.request_processing, policies.id_assignment) {
            (RequestProcessing::DefaultServant, _) => {
                poa.set_servant(slow()).unwrap();
                poa.create_reference_with_id("gate").unwrap()
            }
            (_, IdAssignment::User) => poa.activate_object_with_id("gate", slow()).unwrap(),
            _ => poa.activate(slow()).unwrap(),
        };
        let far = world.client.string_to_object(&gate.to_string()).await;
        for gate in [gate.clone(), far.unwrap().unchecked_narrow::<GateRef>()] {
            assert!(in_time(gate.waits()).await.unwrap());
            // Without upcalls at once.
            in_time(manager.hold_requests_and_wait()).await.unwrap();
            manager.activate().unwrap();
            let pass = || {
                let gate = gate.clone();
                spawn(async move { gate.pass().await })
            };
            let call = pass();
            in_time(entered.acquire()).await.unwrap().forget();
            let waiting = {
                let manager = Arc::clone(&manager);
                spawn(async move { manager.discard_requests_and_wait().await })
            };
            in_time(async {
                while manager.state() != PoaManagerState::Discarding {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            assert_eq!(raised(in_time(gate.pass()).await).0, Kind::Transient);
            assert!(!waiting.is_finished());
            go_on.add_permits(1);
            in_time(waiting).await.unwrap().unwrap();
            in_time(call).await.unwrap().unwrap();
            // A change by another thread ends the wait.
            manager.activate().unwrap();
            let call = pass();
            in_time(entered.acquire()).await.unwrap().forget();
            let waiting = {
                let manager = Arc::clone(&manager);
                spawn(async move { manager.hold_requests_and_wait().await })
            };
            in_time(async {
                while manager.state() != PoaManagerState::Holding {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            manager.activate().unwrap();
            in_time(waiting).await.unwrap().unwrap();
            go_on.add_permits(1);
            in_time(call).await.unwrap().unwrap();
        }
        let call = spawn({
            let gate = gate.clone();
            async move { gate.pass().await }
        });
        in_time(entered.acquire()).await.unwrap().forget();
        let destroyed = spawn({
            let poa = poa.clone();
            async move { poa.destroy_with(true, true).await }
        });
        in_time(async {
            while world.orb.root_poa().find_poa("gates").is_some() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        assert_eq!(raised(in_time(gate.pass()).await).0, Kind::ObjectNotExist);
        assert!(!destroyed.is_finished());
        let child = SystemException::from(poa.create_poa("child", None).unwrap_err());
        assert_eq!(
            (child.kind, child.minor),
            (Kind::BadInvOrder, minor::ADAPTER_BEING_DESTROYED)
        );
        if policies == kept() {
            // The id is taken until the upcall has ended, also in an adapter of the same name.
            let again = world
                .orb
                .root_poa()
                .create_poa_with("gates", kept(), None)
                .unwrap();
            let early = adapter_error(again.activate_object_with_id("gate", slow()));
            assert_eq!(
                early,
                AdapterError::BeingDeactivated(ObjectId::from("gate"))
            );
            go_on.add_permits(1);
            in_time(again.deactivation_ended("gate")).await;
            again.activate_object_with_id("gate", slow()).unwrap();
            again.destroy();
        } else {
            go_on.add_permits(1);
        }
        in_time(destroyed).await.unwrap().unwrap();
        in_time(call).await.unwrap().unwrap();
    }
    world.end().await;
}

struct Notes(Arc<Mutex<Vec<String>>>);

impl ServantActivator for Notes {
    async fn incarnate(&self, id: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
        Ok(drawer(&desk(&id.to_string())).into())
    }

    async fn etherealize(&self, id: &ObjectId, _: &Poa, _: Servant, cleanup: Cleanup) {
        tokio::task::yield_now().await;
        let note = format!("{id} {}", cleanup.cleanup_in_progress);
        self.0.lock().unwrap().push(note);
    }
}

#[tokio::test]
async fn deactivation_and_destruction_etherealize_if_that_is_wanted() {
    let world = World::new().await;
    for (etherealize, by_manager) in [(true, true), (false, true), (true, false), (false, false)] {
        let notes = Arc::<Mutex<Vec<String>>>::default();
        let root = world.orb.root_poa();
        let policies = managed(ServantRetention::Retain);
        let poa = root.create_poa_with("managed", policies, None).unwrap();
        poa.set_servant_manager(Notes(Arc::clone(&notes))).unwrap();
        let manager = poa.the_poa_manager();
        manager.activate().unwrap();
        let reference: DrawerRef = poa.create_reference_with_id("a").unwrap();
        for drawer in world.both(&reference).await {
            assert_eq!(in_time(drawer.label()).await.unwrap(), "a");
        }
        if by_manager {
            in_time(manager.deactivate_and_wait(etherealize))
                .await
                .unwrap();
            for drawer in world.both(&reference).await {
                let inactive = (Kind::ObjAdapter, minor::ADAPTER_INACTIVE);
                assert_eq!(raised(in_time(drawer.label()).await), inactive);
            }
        } else {
            in_time(poa.destroy_with(etherealize, true)).await.unwrap();
        }
        let expected: &[&str] = if etherealize { &["a true"] } else { &[] };
        assert_eq!(*notes.lock().unwrap(), expected);
        in_time(poa.destroy_with(false, true)).await.unwrap();
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_adapter_activator_makes_the_adapters_on_the_way_once_each() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    // References of an earlier run.
    let bank = world.poa("bank", kept());
    let branch = bank
        .create_poa_with("branch", kept(), Some(root.the_poa_manager()))
        .unwrap();
    let reference: DrawerRef = branch.create_reference_with_id("7").unwrap();
    let at = |name: &str| {
        let poa = root
            .create_poa_with(name, kept(), Some(root.the_poa_manager()))
            .unwrap();
        let reference: DrawerRef = poa.create_reference_with_id("1").unwrap();
        poa.destroy();
        reference
    };
    let (none, liar, broken, panics) = (at("none"), at("liar"), at("broken"), at("panics"));
    bank.destroy();
    let made = Arc::<Mutex<Vec<String>>>::default();
    let noted = Arc::clone(&made);
    fn activate(poa: Poa, name: String, made: Arc<Mutex<Vec<String>>>) -> Poa {
        made.lock().unwrap().push(name.clone());
        let manager = Arc::clone(poa.the_poa_manager());
        poa.create_poa_with(&name, kept(), Some(&manager)).unwrap()
    }
    root.set_adapter_activator(move |root, name| {
        let made = Arc::clone(&noted);
        async move {
            tokio::task::yield_now().await;
            match name.as_str() {
                "bank" => {
                    let bank = activate(root, name, Arc::clone(&made));
                    bank.set_adapter_activator(move |bank, name| {
                        let made = Arc::clone(&made);
                        async move {
                            let branch = activate(bank, name, made);
                            branch.activate_object_with_id("7", drawer(&desk("seven")))?;
                            Ok(true)
                        }
                    })?;
                    Ok(true)
                }
                "liar" => Ok(true),
                "broken" => Err(SystemException::from(Kind::NoResources)),
                "panics" => panic!("on purpose"),
                _ => Ok(false),
            }
        }
    })
    .unwrap();
    let mut calls = Vec::new();
    for _ in 0..8 {
        for drawer in world.both(&reference).await {
            calls.push(spawn(async move { drawer.label().await }));
        }
    }
    for call in calls {
        assert_eq!(in_time(call).await.unwrap().unwrap(), "seven");
    }
    assert_eq!(*made.lock().unwrap(), ["bank", "branch"]);
    for (reference, expected) in [
        (&none, (Kind::ObjectNotExist, minor::NO_ADAPTER)),
        (&liar, (Kind::ObjectNotExist, minor::NO_ADAPTER)),
        (&broken, (Kind::ObjAdapter, minor::ADAPTER_ACTIVATOR_FAILED)),
        (&panics, (Kind::ObjAdapter, minor::ADAPTER_ACTIVATOR_FAILED)),
    ] {
        for drawer in world.both(reference).await {
            assert_eq!(raised(in_time(drawer.label()).await), expected);
        }
    }
    // `find_POA` with activation.
    root.find_poa("bank").unwrap().destroy();
    assert!(root.find_poa("bank").is_none());
    let found = in_time(root.find_or_activate_poa("bank")).await.unwrap();
    assert_eq!(found.the_name(), "bank");
    let none = in_time(root.find_or_activate_poa("none")).await;
    assert!(matches!(adapter_error(none), AdapterError::NonExistent(_)));
    let broken_poa = in_time(root.find_or_activate_poa("broken")).await;
    let failed = SystemException::from(broken_poa.unwrap_err());
    assert_eq!(
        (failed.kind, failed.minor),
        (Kind::ObjAdapter, minor::ADAPTER_ACTIVATOR_FAILED)
    );
    root.clear_adapter_activator().unwrap();
    for drawer in world.both(&broken).await {
        let missing = (Kind::ObjectNotExist, minor::NO_ADAPTER);
        assert_eq!(raised(in_time(drawer.label()).await), missing);
    }
    world.end().await;
}

/// On one thread, so that the requests do not go on before the other adapter is there.
#[tokio::test]
async fn requests_that_are_held_go_to_the_adapter_that_is_made_again_when_theirs_is_destroyed() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    for at in 0..2 {
        let first = root.create_poa_with("bank", kept(), None).unwrap();
        first
            .activate_object_with_id("1", drawer(&desk("first")))
            .unwrap();
        let reference: DrawerRef = first.create_reference_with_id("1").unwrap();
        let object = world.both(&reference).await[at].clone();
        let held = hold(&object, 3).await;
        // The application has made another one, whose manager holds requests too.
        first.destroy();
        let second = root.create_poa_with("bank", kept(), None).unwrap();
        let activated = second.activate_object_with_id("1", drawer(&desk("second")));
        activated.unwrap();
        let more = hold(&object, 1).await;
        second.the_poa_manager().activate().unwrap();
        for call in held.into_iter().chain(more) {
            assert_eq!(in_time(call).await.unwrap(), "second");
        }
        // The parent's activator makes another one.
        second.the_poa_manager().hold_requests().unwrap();
        let held = hold(&object, 3).await;
        root.set_adapter_activator(async |root, name| {
            let manager = Arc::clone(root.the_poa_manager());
            let third = root.create_poa_with(&name, kept(), Some(&manager))?;
            third.activate_object_with_id("1", drawer(&desk("third")))?;
            Ok(true)
        })
        .unwrap();
        second.destroy();
        for call in held {
            assert_eq!(in_time(call).await.unwrap(), "third");
        }
        root.clear_adapter_activator().unwrap();
        // None does.
        let third = root.find_poa("bank").unwrap();
        third.destroy();
        let fourth = root.create_poa_with("bank", kept(), None).unwrap();
        let activated = fourth.activate_object_with_id("1", drawer(&desk("fourth")));
        activated.unwrap();
        let held = hold(&object, 1).await;
        fourth.destroy();
        for call in held {
            let gone = (Kind::ObjectNotExist, minor::NO_ADAPTER);
            assert_eq!(raised(in_time(call).await), gone);
        }
    }
    world.end().await;
}

type Label = Pin<Box<dyn Future<Output = Result<String, SystemException>>>>;

/// Calls of an object whose manager holds them, when they have reached it.
async fn hold(object: &DrawerRef, count: usize) -> Vec<Label> {
    let call = |_| -> Label {
        let object = object.clone();
        Box::pin(async move { object.label().await })
    };
    let mut calls: Vec<_> = (0..count).map(call).collect();
    // Asked on the same connection, after them.
    let mut here = Box::pin(in_time(object.as_object().locate()));
    let answer = poll_fn(|cx| {
        for call in &mut calls {
            assert!(call.as_mut().poll(cx).is_pending());
        }
        here.as_mut().poll(cx)
    });
    assert_eq!(answer.await, Ok(true));
    calls
}
