//! POAs, managers and ORBs that end while a servant activator makes a servant.

use super::*;
use crate::savings::spawn;
use std::sync::Mutex;
use tokio::sync::Semaphore;
use zorb::{Cleanup, ObjectId, PoaManagerState, Servant, ServantActivator, ServantManagerError};

/// The activator: what it was asked, and its permission to go on.
#[derive(Clone)]
struct Slow {
    notes: Arc<Mutex<Vec<String>>>,
    asked: Arc<Semaphore>,
    goes_on: Arc<Semaphore>,
}

impl Slow {
    fn new() -> Self {
        Self {
            notes: Arc::default(),
            asked: Arc::new(Semaphore::new(0)),
            goes_on: Arc::new(Semaphore::new(0)),
        }
    }

    fn note(&self, what: &str, id: &ObjectId) {
        self.notes.lock().unwrap().push(format!("{what} {id}"));
    }

    async fn make(&self, id: &ObjectId) -> DrawerServant<Desk> {
        self.note("make", id);
        self.asked.add_permits(1);
        self.goes_on.acquire().await.unwrap().forget();
        drawer(&desk("made"))
    }
}

impl ServantActivator for Slow {
    async fn incarnate(&self, id: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
        Ok(self.make(id).await.into())
    }

    async fn etherealize(&self, id: &ObjectId, _: &Poa, _: Servant, cleanup: Cleanup) {
        assert!(cleanup.cleanup_in_progress);
        self.note("drop", id);
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Destroy,
    Deactivate,
    ShutDown,
}

#[tokio::test]
async fn calls_that_wait_for_a_servant_get_it_whatever_ends_meanwhile_and_no_other_is_made() {
    for end in [End::Destroy, End::Deactivate, End::ShutDown] {
        for by_itself in [false, true] {
            let world = World::new().await;
            let slow = Slow::new();
            let policies =
                Policies::PERSISTENT.with_request_processing(RequestProcessing::ServantManager);
            let poa = world.poa("rows", policies);
            match by_itself {
                false => poa.set_servant_manager(slow.clone()).unwrap(),
                true => {
                    let slow = slow.clone();
                    poa.set_servant_activator(move |poa, id| {
                        let slow = slow.clone();
                        async move {
                            let servant = slow.make(&id).await;
                            poa.activate_object_with_id(&id, servant)?;
                            Ok(())
                        }
                    })
                    .unwrap();
                }
            }
            let reference: DrawerRef = poa.create_reference_with_id("7").unwrap();
            let [_, far] = world.both(&reference).await;
            let calls = [(); 4].map(|()| {
                let far = far.clone();
                spawn(async move { far.label().await })
            });
            in_time(slow.asked.acquire()).await.unwrap().forget();
            // Asked on the same connection, after them.
            assert_eq!(in_time(far.as_object().locate()).await, Ok(true));
            let manager = Arc::clone(poa.the_poa_manager());
            let ended = {
                let (orb, poa, manager) = (world.orb.clone(), poa.clone(), Arc::clone(&manager));
                spawn(async move {
                    match end {
                        End::Destroy => poa.destroy_with(true, true).await.unwrap(),
                        End::Deactivate => manager.deactivate_and_wait(true).await.unwrap(),
                        End::ShutDown => orb.shutdown(true).await.unwrap(),
                    }
                })
            };
            let root = world.orb.root_poa();
            in_time(async {
                while root.find_poa("rows").is_some()
                    && manager.state() != PoaManagerState::Inactive
                {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            assert!(!ended.is_finished());
            slow.goes_on.add_permits(4);
            for call in calls {
                let label = in_time(call).await.unwrap();
                assert_eq!(label, Ok("made".to_owned()), "{end:?} {by_itself}");
            }
            in_time(ended).await.unwrap();
            let expected: &[&str] = match by_itself {
                false => &["make 7", "drop 7"],
                // A closure does not etherealize.
                true => &["make 7"],
            };
            assert_eq!(*slow.notes.lock().unwrap(), expected, "{end:?}");
            world.end().await;
        }
    }
}
