//! Default servants, servant activators and servant locators.

use super::*;
use crate::savings::spawn;
use std::sync::Mutex;
use zorb::{
    Cleanup, Lifespan, ObjectId, Servant, ServantActivator, ServantLocator, ServantManagerError,
    minor,
};

#[tokio::test]
async fn a_default_servant_serves_every_object_that_is_not_active() {
    let world = World::new().await;
    for retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
        for (name, policies) in [
            ("transient", default_servant(retention)),
            (
                "persistent",
                default_servant(retention).with_lifespan(Lifespan::Persistent),
            ),
        ] {
            let poa = world.poa(name, policies);
            let early: DrawerRef = poa.create_reference_with_id("early").unwrap();
            for drawer in world.both(&early).await {
                let error = raised(in_time(drawer.id()).await);
                assert_eq!(error, (Kind::ObjAdapter, minor::NO_DEFAULT_SERVANT));
            }
            let default = desk("default");
            poa.set_servant(drawer(&default)).unwrap();
            assert_eq!(
                poa.get_servant().unwrap().downcast::<Desk>().unwrap().label,
                "default"
            );
            for id in ["early", "", "x", "x"] {
                let reference: DrawerRef = poa.create_reference_with_id(id).unwrap();
                for drawer in world.both(&reference).await {
                    assert_eq!(in_time(drawer.id()).await.unwrap(), id);
                    assert_eq!(in_time(drawer.label()).await.unwrap(), "default");
                    assert!(in_time(drawer.as_object().locate()).await.unwrap());
                }
                assert!(Arc::ptr_eq(
                    &poa.id_to_servant::<Desk>(id).unwrap(),
                    &default
                ));
            }
            if retention == ServantRetention::Retain {
                let own = poa
                    .activate_object_with_id("x", drawer(&desk("own")))
                    .unwrap();
                for drawer in world.both(&own).await {
                    assert_eq!(in_time(drawer.label()).await.unwrap(), "own");
                }
                poa.deactivate_object(&own).unwrap();
                for drawer in world.both(&own).await {
                    assert_eq!(in_time(drawer.label()).await.unwrap(), "default");
                }
            }
            poa.destroy();
            for drawer in world.both(&early).await {
                assert_eq!(raised(in_time(drawer.id()).await).0, Kind::ObjectNotExist);
            }
        }
    }
    world.end().await;
}

#[tokio::test]
async fn a_default_servant_serves_only_ids_that_its_adapter_has_assigned() {
    let world = World::new().await;
    for retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
        let policies = default_servant(retention).with_id_assignment(IdAssignment::System);
        let poa = world.poa("assigned", policies);
        poa.set_servant(drawer(&desk("default"))).unwrap();
        let reference: DrawerRef = poa.create_reference().unwrap();
        let id = poa.reference_to_id(&reference).unwrap();
        for drawer in world.both(&reference).await {
            assert_eq!(in_time(drawer.id()).await.unwrap(), id.to_string());
        }
        let forged = poa.create_reference_with_id::<DrawerRef>([0, 0, 0, 9, 0, 0, 0, 0]);
        assert!(matches!(adapter_error(forged), AdapterError::UnknownId(_)));
        poa.destroy();
    }
    world.end().await;
}

/// The calls that managers have got.
#[derive(Default)]
pub(super) struct Log(Mutex<Vec<String>>);

impl Log {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// Waits until there are so many notes.
    pub(super) async fn wait(&self, count: usize) -> Vec<String> {
        in_time(async {
            while self.0.lock().unwrap().len() < count {
                tokio::task::yield_now().await;
            }
        })
        .await;
        self.take()
    }
}

pub(super) struct Manager {
    log: Arc<Log>,
    there: Option<DrawerRef>,
    shared: Arc<Desk>,
}

impl Manager {
    async fn find(&self, id: &ObjectId, poa: &Poa) -> Result<Servant, ServantManagerError> {
        assert_eq!(PoaCurrent::get_object_id().unwrap(), *id);
        assert_eq!(PoaCurrent::get_poa().unwrap().the_name(), poa.the_name());
        tokio::task::yield_now().await;
        match id.as_ref() {
            b"moved" => Err(ServantManagerError::ForwardRequest(
                self.there.clone().unwrap().as_object().clone(),
            )),
            b"broken" => {
                Err(SystemException::new(Kind::NoResources, 7, CompletionStatus::No).into())
            }
            b"panic" => panic!("on purpose"),
            b"shared" | b"shared too" => Ok(drawer(&self.shared).into()),
            _ => Ok(drawer(&desk(&id.to_string())).into()),
        }
    }
}

impl ServantActivator for Manager {
    async fn incarnate(&self, id: &ObjectId, poa: &Poa) -> Result<Servant, ServantManagerError> {
        self.log.note(format!("incarnate {id}"));
        self.find(id, poa).await
    }

    async fn etherealize(&self, id: &ObjectId, _: &Poa, servant: Servant, cleanup: Cleanup) {
        let Cleanup {
            cleanup_in_progress,
            remaining_activations,
            ..
        } = cleanup;
        let label = &servant.downcast::<Desk>().unwrap().label;
        // The adapter has let go of it.
        tokio::task::yield_now().await;
        self.log.note(format!(
            "etherealize {id} {label} {cleanup_in_progress} {remaining_activations}"
        ));
        if id.as_ref() == b"burst" {
            panic!("on purpose");
        }
    }
}

impl ServantLocator for Manager {
    type Cookie = String;

    async fn preinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
    ) -> Result<(Servant, String), ServantManagerError> {
        let servant = self.find(id, poa).await?;
        Ok((servant, format!("{id} {operation}")))
    }

    async fn postinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        operation: &str,
        cookie: String,
        servant: Servant,
    ) -> Result<(), SystemException> {
        assert_eq!(cookie, format!("{id} {operation}"));
        assert_eq!(servant.repository_id(), DrawerRef::REPOSITORY_ID);
        self.log.note(cookie);
        match id.as_ref() {
            b"after" => Err(SystemException::new(
                Kind::NoPermission,
                8,
                CompletionStatus::Yes,
            )),
            _ => Ok(()),
        }
    }
}

pub(super) fn manager(world: &World) -> (Arc<Log>, Manager) {
    let log = Arc::<Log>::default();
    let there = world.orb.root_poa().activate(drawer(&desk("there")));
    let manager = Manager {
        log: Arc::clone(&log),
        there: Some(there.unwrap()),
        shared: desk("shared"),
    };
    (log, manager)
}

async fn call(world: &World, poa: &Poa, id: &str) -> [Result<String, SystemException>; 2] {
    let reference: DrawerRef = poa.create_reference_with_id(id).unwrap();
    let [near, far] = world.both(&reference).await;
    [in_time(near.label()).await, in_time(far.label()).await]
}

#[tokio::test]
async fn an_activator_incarnates_and_etherealizes_each_object_once() {
    let world = World::new().await;
    let poa = world.poa("managed", managed(ServantRetention::Retain));
    for result in call(&world, &poa, "early").await {
        assert_eq!(
            raised(result),
            (Kind::ObjAdapter, minor::NO_SERVANT_MANAGER)
        );
    }
    let (log, manager) = manager(&world);
    poa.set_servant_manager(manager).unwrap();
    assert!(poa.has_servant_manager().unwrap());
    let again = Manager {
        log: Arc::default(),
        there: None,
        shared: desk(""),
    };
    let again = poa.set_servant_manager(again);
    let exception = SystemException::from(again.unwrap_err());
    assert_eq!(
        (exception.kind, exception.minor),
        (Kind::BadInvOrder, minor::SERVANT_MANAGER_SET)
    );

    for result in call(&world, &poa, "a").await {
        assert_eq!(result.unwrap(), "a");
    }
    assert_eq!(log.take(), ["incarnate a"]);
    poa.deactivate_object_with_id("a").unwrap();
    assert_eq!(log.wait(1).await, ["etherealize a a false false"]);
    // Also what was activated explicitly; and a panic of the activator's ends nothing else.
    for id in ["own", "burst"] {
        poa.activate_object_with_id(id, drawer(&desk("mine")))
            .unwrap();
        poa.deactivate_object_with_id(id).unwrap();
        let expected = format!("etherealize {id} mine false false");
        assert_eq!(log.wait(1).await, [expected]);
        in_time(poa.deactivation_ended(id)).await;
    }
    for result in call(&world, &poa, "a").await {
        assert_eq!(result.unwrap(), "a");
    }
    assert_eq!(log.take(), ["incarnate a"]);
    // The ORB's shutdown is a cleanup.
    world.end().await;
    assert_eq!(log.take(), ["etherealize a a true false"]);
}

#[tokio::test]
async fn managers_forward_fail_and_panic_as_the_specification_says() {
    let world = World::new().await;
    for retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
        let poa = world.poa("managed", managed(retention));
        let (_, manager) = manager(&world);
        match retention {
            ServantRetention::Retain => poa.set_servant_manager(manager).unwrap(),
            ServantRetention::NonRetain => poa.set_servant_locator(manager).unwrap(),
        }
        for result in call(&world, &poa, "moved").await {
            assert_eq!(result.unwrap(), "there");
        }
        for _ in 0..2 {
            for result in call(&world, &poa, "broken").await {
                assert_eq!(raised(result), (Kind::NoResources, 7));
            }
            for result in call(&world, &poa, "panic").await {
                assert_eq!(raised(result), (Kind::Unknown, minor::SERVANT_PANICKED));
            }
        }
        for result in call(&world, &poa, "fine").await {
            assert_eq!(result.unwrap(), "fine");
        }
        poa.destroy();
    }
    world.end().await;
}

#[tokio::test]
async fn a_servant_that_an_activator_gives_twice_needs_multiple_id() {
    let world = World::new().await;
    for uniqueness in [IdUniqueness::Unique, IdUniqueness::Multiple] {
        let policies = managed(ServantRetention::Retain).with_id_uniqueness(uniqueness);
        let poa = world.poa("managed", policies);
        let (log, manager) = manager(&world);
        poa.set_servant_manager(manager).unwrap();
        for result in call(&world, &poa, "shared").await {
            assert_eq!(result.unwrap(), "shared");
        }
        for result in call(&world, &poa, "shared too").await {
            match uniqueness {
                IdUniqueness::Unique => {
                    let violated = (Kind::ObjAdapter, minor::SERVANT_ACTIVE_ALREADY);
                    assert_eq!(raised(result), violated);
                }
                IdUniqueness::Multiple => assert_eq!(result.unwrap(), "shared"),
            }
        }
        log.take();
        if uniqueness == IdUniqueness::Multiple {
            for (id, remaining) in [("shared", true), ("shared too", false)] {
                poa.deactivate_object_with_id(id).unwrap();
                let expected = format!("etherealize {id} shared false {remaining}");
                assert_eq!(log.wait(1).await, [expected]);
            }
        }
        poa.destroy();
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_object_is_incarnated_again_after_it_has_been_etherealized() {
    let world = World::new().await;
    let poa = world.poa("managed", managed(ServantRetention::Retain));
    let (log, manager) = manager(&world);
    poa.set_servant_manager(manager).unwrap();
    let reference: DrawerRef = poa.create_reference_with_id("a").unwrap();
    let [near, far] = world.both(&reference).await;
    let mut calls = Vec::new();
    for _ in 0..50 {
        for drawer in [&near, &far] {
            let drawer = drawer.clone();
            calls.push(spawn(async move { drawer.label().await }));
        }
        tokio::task::yield_now().await;
        let _ = poa.deactivate_object_with_id("a");
    }
    for call in calls {
        assert_eq!(in_time(call).await.unwrap().unwrap(), "a");
    }
    let _ = poa.deactivate_object_with_id("a");
    in_time(poa.deactivation_ended("a")).await;
    let log = log.take();
    for (at, what) in log.iter().enumerate() {
        let expected = ["incarnate a", "etherealize a a false false"][at % 2];
        assert_eq!(what, expected, "{log:?}");
    }
    assert_eq!(log.len() % 2, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_locator_is_asked_before_and_after_each_request() {
    let world = World::new().await;
    let poa = world.poa("located", managed(ServantRetention::NonRetain));
    for result in call(&world, &poa, "early").await {
        assert_eq!(
            raised(result),
            (Kind::ObjAdapter, minor::NO_SERVANT_MANAGER)
        );
    }
    let (log, manager) = manager(&world);
    poa.set_servant_locator(manager).unwrap();
    for result in call(&world, &poa, "a").await {
        assert_eq!(result.unwrap(), "a");
    }
    assert_eq!(log.take(), ["a _get_label", "a _get_label"]);
    let reference: DrawerRef = poa.create_reference_with_id("b").unwrap();
    for drawer in world.both(&reference).await {
        assert_eq!(in_time(drawer.id()).await.unwrap(), "b");
        // After exceptions and panics, too.
        assert_eq!(raised(in_time(drawer.fail()).await), (Kind::NoResources, 7));
        assert_eq!(raised(in_time(drawer.burst()).await).0, Kind::Unknown);
        let answer = in_time(drawer.as_object().is_a("IDL:Other:1.0")).await;
        assert!(!answer.unwrap());
        assert_eq!(log.take(), ["b id", "b fail", "b burst", "b _is_a"]);
    }
    // An exception of `postinvoke` takes the place of the result.
    for result in call(&world, &poa, "after").await {
        assert_eq!(raised(result), (Kind::NoPermission, 8));
    }
    // Requests for one id at the same time.
    let shared: DrawerRef = poa.create_reference_with_id("shared").unwrap();
    let mut most = 0;
    // Tasks of a busy machine may run one after the other, so there are as many crowds as it takes.
    for _ in 0..1_000 {
        let crowds: Vec<_> = (0..8)
            .map(|_| {
                let shared = shared.clone();
                spawn(async move { shared.crowd().await.unwrap() })
            })
            .collect();
        for crowd in crowds {
            most = most.max(in_time(crowd).await.unwrap());
        }
        if most > 1 {
            break;
        }
    }
    assert!(most > 1, "none met another");
    world.end().await;
}
