//! Servants that managers find: eviction of what is not used, managers that hold, servants that block.

use super::managers::manager;
use super::*;
use crate::savings::spawn;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use zorb::{
    Blocking, ObjectId, Servant, ServantActivator, ServantLocator, ServantManagerError, minor,
};

#[tokio::test]
async fn what_is_not_used_for_long_is_etherealized_once_and_made_again_when_it_is_called() {
    let world = World::new().await;
    let poa = world.poa("managed", managed(ServantRetention::Retain));
    let (log, manager) = manager(&world);
    poa.set_servant_manager(manager).unwrap();
    let label = async |id: &str| {
        let reference: DrawerRef = poa.create_reference_with_id(id).unwrap();
        for drawer in world.both(&reference).await {
            assert_eq!(in_time(drawer.label()).await.unwrap(), id);
        }
    };
    let began = Instant::now();
    let minutes = |count: u64| began + Duration::from_secs(60 * count);
    let evict = |now| {
        poa.deactivate_unused(now, Duration::from_secs(600))
            .unwrap()
    };
    for id in ["busy", "idle", "late"] {
        label(id).await;
    }
    assert_eq!(
        log.take(),
        ["incarnate busy", "incarnate idle", "incarnate late"]
    );
    // However old they are: what has not been looked at before is new.
    assert_eq!(evict(minutes(0)), 0);
    for minute in 1..10 {
        label("busy").await;
        assert_eq!(evict(minutes(minute)), 0, "{minute}");
    }
    label("late").await;
    assert_eq!(evict(minutes(10)), 1);
    assert_eq!(log.wait(1).await, ["etherealize idle idle false false"]);
    assert_eq!(evict(minutes(11)), 0);
    assert_eq!(evict(minutes(19)), 1);
    assert_eq!(log.wait(1).await, ["etherealize busy busy false false"]);
    assert_eq!(evict(minutes(30)), 1);
    assert_eq!(log.wait(1).await, ["etherealize late late false false"]);
    assert_eq!(evict(minutes(60)), 0);
    // A clock that goes back finds nothing unused.
    label("idle").await;
    assert_eq!(log.take(), ["incarnate idle"]);
    assert_eq!(evict(minutes(61)), 0);
    assert_eq!(evict(minutes(1)), 0);
    assert_eq!(evict(minutes(71)), 1);
    assert_eq!(log.wait(1).await, ["etherealize idle idle false false"]);
    is_wrong_policy(
        world
            .poa("user", user())
            .deactivate_unused(minutes(0), Duration::ZERO),
    );
    poa.destroy();
    let gone = poa.deactivate_unused(minutes(80), Duration::ZERO);
    assert_eq!(adapter_error(gone), AdapterError::Destroyed);
    assert!(log.take().is_empty());
    world.end().await;
}

#[tokio::test]
async fn a_manager_that_holds_holds_requests_for_objects_that_are_not_active_too() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    for policies in [user(), Policies::PERSISTENT] {
        for at in 0..2 {
            let poa = root.create_poa_with("held", policies, None).unwrap();
            let reference: DrawerRef = poa.create_reference_with_id("early").unwrap();
            let early = world.both(&reference).await[at].clone();
            // A LocateRequest does not wait.
            assert!(!in_time(early.as_object().locate()).await.unwrap());
            let call = spawn(async move { early.label().await });
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert!(!call.is_finished());
            poa.activate_object_with_id("early", drawer(&desk("in time")))
                .unwrap();
            poa.the_poa_manager().activate().unwrap();
            assert_eq!(in_time(call).await.unwrap().unwrap(), "in time");
            // An object that is still missing when the manager admits the request is reported as missing.
            let missing: DrawerRef = poa.create_reference_with_id("never").unwrap();
            let never = world.both(&missing).await[at].clone();
            assert_eq!(raised(in_time(never.label()).await).0, Kind::ObjectNotExist);
            poa.the_poa_manager().discard_requests().unwrap();
            let discarded = (Kind::Transient, minor::REQUEST_DISCARDED);
            assert_eq!(raised(in_time(never.label()).await), discarded);
            poa.the_poa_manager().deactivate();
            let inactive = (Kind::ObjAdapter, minor::ADAPTER_INACTIVE);
            assert_eq!(raised(in_time(never.label()).await), inactive);
            poa.destroy();
        }
    }
    world.end().await;
}

#[tokio::test]
async fn an_adapter_that_its_activator_leaves_holding_holds_the_request_that_made_it() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    root.set_adapter_activator(|root, name| async move {
        root.create_poa_with(&name, Policies::PERSISTENT, None)?;
        Ok(true)
    })
    .unwrap();
    for at in 0..2 {
        let poa = root
            .create_poa_with("late", Policies::PERSISTENT, None)
            .unwrap();
        let reference: DrawerRef = poa.create_reference_with_id("early").unwrap();
        poa.destroy();
        let early = world.both(&reference).await[at].clone();
        let call = spawn(async move { early.label().await });
        let made = in_time(async {
            loop {
                match root.find_poa("late") {
                    Some(made) => break made,
                    None => tokio::task::yield_now().await,
                }
            }
        })
        .await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(!call.is_finished());
        made.activate_object_with_id("early", drawer(&desk("in time")))
            .unwrap();
        made.the_poa_manager().activate().unwrap();
        assert_eq!(in_time(call).await.unwrap().unwrap(), "in time");
        made.destroy();
    }
    world.end().await;
}

/// Blocks its thread in `id` until `label` is called.
struct Blocks {
    called: Mutex<Sender<()>>,
    calls: Mutex<Receiver<()>>,
}

impl Drawer for Blocks {
    async fn id(&self) -> Result<String, SystemException> {
        let id = PoaCurrent::get_object_id()?;
        let calls = self.calls.lock().unwrap();
        match calls.recv_timeout(Duration::from_secs(20)) {
            Ok(()) => Ok(id.to_string()),
            // The call that was to end it is not read, since this one blocks who reads.
            Err(_) => Err(Kind::Timeout.into()),
        }
    }

    async fn crowd(&self) -> Result<i32, SystemException> {
        Ok(0)
    }

    async fn nested(&self, _: Option<DrawerRef>) -> Result<String, SystemException> {
        Ok(String::new())
    }

    async fn fail(&self) -> Result<(), SystemException> {
        panic!("on purpose")
    }

    async fn burst(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn label(&self) -> Result<String, SystemException> {
        self.called.lock().unwrap().send(()).unwrap();
        Ok("released".to_owned())
    }
}

struct Gives(Arc<Blocks>);

impl Gives {
    fn servant(&self) -> Result<Servant, ServantManagerError> {
        Ok(Blocking(DrawerServant::from_arc(Arc::clone(&self.0))).into())
    }
}

impl ServantLocator for Gives {
    type Cookie = ();

    async fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        Ok((self.servant()?, ()))
    }
}

impl ServantActivator for Gives {
    async fn incarnate(&self, _: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
        self.servant()
    }
}

#[tokio::test]
async fn servants_that_block_and_are_found_within_requests_do_not_keep_their_reader() {
    let world = World::new().await;
    for retention in [ServantRetention::NonRetain, ServantRetention::Retain] {
        let policies = managed(retention).with_id_uniqueness(IdUniqueness::Multiple);
        let poa = world.poa("blocking", policies);
        let (called, calls) = channel();
        let blocks = Arc::new(Blocks {
            called: Mutex::new(called),
            calls: Mutex::new(calls),
        });
        match retention {
            ServantRetention::NonRetain => poa.set_servant_locator(Gives(blocks)),
            ServantRetention::Retain => poa.set_servant_manager(Gives(blocks)),
        }
        .unwrap();
        let waits: DrawerRef = poa.create_reference_with_id("waits").unwrap();
        let releases: DrawerRef = poa.create_reference_with_id("releases").unwrap();
        let ([_, waits], [_, releases]) = (world.both(&waits).await, world.both(&releases).await);
        let (id, label) = in_time(async { tokio::join!(waits.id(), releases.label()) }).await;
        assert_eq!(
            (id.unwrap(), label.unwrap()),
            ("waits".to_owned(), "released".to_owned())
        );
        let failed = in_time(releases.fail()).await;
        assert_eq!(raised(failed).0, Kind::Unknown);
        poa.destroy();
    }
    world.end().await;
}
