//! Deactivation during requests: it ends with the last upcall, and no two objects of one id execute requests at a time.

use super::{Fate, Row, block_on, model};
use crate::adapter::{Adapter, AdapterError};
use crate::key::InstanceId;
use crate::policy::{IdAssignment, Lifespan, Policies};
use crate::registry::ObjectAdapter;
use bytes::Bytes;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use std::sync::Arc;

const ID: &[u8] = b"row";

struct World {
    server: ObjectAdapter,
    adapter: Arc<Adapter>,
    key: Bytes,
    fate: Arc<Fate>,
}

impl World {
    /// An adapter with an active object.
    fn new(policies: Policies) -> Arc<Self> {
        let server = ObjectAdapter::new(InstanceId(1), "");
        let root = Arc::clone(server.root());
        root.manager().activate().unwrap();
        let manager = Some(Arc::clone(root.manager()));
        let adapter = server.create(&root, "rows", policies, manager).unwrap();
        let (row, fate) = Row::with_fate("first");
        let key = match policies.id_assignment {
            IdAssignment::System => adapter.activate(row),
            IdAssignment::User => adapter.activate_with_id(ID, row),
        };
        Arc::new(Self {
            key: key.unwrap(),
            server,
            adapter,
            fate,
        })
    }

    /// A request, which is executed if it finds its object.
    fn call(&self, fates: &[&Fate]) -> Option<&'static str> {
        let object = self.server.locate(&self.key).ok()?;
        let at = usize::from(object.skeleton()?.repository_id() == "second");
        fates[at].execute();
        for other in fates.iter().take(at) {
            assert!(!other.is_executing(), "two objects of one id");
        }
        Some(["first", "second"][at])
    }
}

/// SYSTEM_ID and USER_ID, whose keys are looked up in different ways.
fn kinds() -> [Policies; 2] {
    [
        Policies::default(),
        Policies::default().with_id_assignment(IdAssignment::User),
    ]
}

#[test]
fn a_deactivated_object_goes_with_its_last_upcall() {
    for policies in kinds() {
        model(3, move || {
            let world = World::new(policies);
            let callers = [(); 2].map(|()| {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    world.call(&[&*world.fate]);
                })
            });
            let id = world.adapter.id_in(&world.key).unwrap();
            world.adapter.deactivate(id.as_ref()).unwrap();
            block_on(world.adapter.deactivation_ended(id.as_ref()));
            assert!(world.fate.is_dropped(), "its upcalls have ended");
            assert_eq!(world.call(&[&*world.fate]), None);
            for caller in callers {
                caller.join().unwrap();
            }
        });
    }
}

#[test]
fn an_object_of_the_same_id_waits_for_the_upcalls_on_the_one_before() {
    let user = Policies::default().with_id_assignment(IdAssignment::User);
    for policies in [user, user.with_lifespan(Lifespan::Persistent)] {
        model(2, move || {
            let world = World::new(policies);
            let (second, fate) = Row::with_fate("second");
            let caller = {
                let (world, fate) = (Arc::clone(&world), Arc::clone(&fate));
                thread::spawn(move || {
                    world.call(&[&*world.fate, &*fate]);
                })
            };
            let activating = {
                let (world, fate) = (Arc::clone(&world), Arc::clone(&fate));
                thread::spawn(move || match world.adapter.activate_with_id(ID, second) {
                    Ok(_) => {
                        assert!(
                            world.fate.is_dropped(),
                            "the first object is still executing"
                        );
                        assert_eq!(world.call(&[&*world.fate, &*fate]), Some("second"));
                    }
                    Err(
                        AdapterError::ObjectAlreadyActive(_) | AdapterError::BeingDeactivated(_),
                    ) => {}
                    Err(other) => panic!("{other}"),
                })
            };
            world.adapter.deactivate(ID).unwrap();
            caller.join().unwrap();
            activating.join().unwrap();
        });
    }
}

#[test]
fn two_that_deactivate_an_object_do_it_once() {
    for policies in kinds() {
        model(3, move || {
            let world = World::new(policies);
            let id = world.adapter.id_in(&world.key).unwrap();
            let other = {
                let (world, id) = (Arc::clone(&world), id.clone());
                thread::spawn(move || world.adapter.deactivate(id.as_ref()).is_ok())
            };
            let own = world.adapter.deactivate(id.as_ref()).is_ok();
            assert!(own ^ other.join().unwrap(), "one of them does");
            block_on(world.adapter.deactivation_ended(id.as_ref()));
            assert!(world.fate.is_dropped());
        });
    }
}

#[test]
fn what_is_remembered_of_a_key_is_forgotten_when_its_object_is_deactivated() {
    for policies in kinds() {
        model(3, move || {
            let world = World::new(policies);
            let is_gone = Arc::new(AtomicBool::new(false));
            let caller = {
                let (world, is_gone) = (Arc::clone(&world), Arc::clone(&is_gone));
                thread::spawn(move || {
                    // The count is read before the look-up, and compared before each use, as connections do.
                    let changes = world.server.changes();
                    let remembered = match world.server.locate(&world.key) {
                        Ok(object) => Arc::downgrade(&object),
                        Err(_) => return,
                    };
                    let was_gone = is_gone.load(Ordering::Acquire);
                    if changes == world.server.changes()
                        && let Some(object) = remembered.upgrade()
                    {
                        assert!(!was_gone, "a request for an object that is gone");
                        world.fate.execute();
                        drop(object);
                    }
                })
            };
            let id = world.adapter.id_in(&world.key).unwrap();
            world.adapter.deactivate(id.as_ref()).unwrap();
            is_gone.store(true, Ordering::Release);
            caller.join().unwrap();
            assert!(world.fate.is_dropped());
        });
    }
}

#[test]
fn an_adapter_that_is_destroyed_keeps_no_servant() {
    for policies in kinds() {
        model(2, move || {
            let world = World::new(policies);
            let (second, fate) = Row::with_fate("second");
            let caller = {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    world.call(&[&*world.fate]);
                })
            };
            let activating = {
                let world = Arc::clone(&world);
                let is_user = policies.id_assignment == IdAssignment::User;
                thread::spawn(move || match is_user {
                    true => world.adapter.activate_with_id(b"other", second).is_ok(),
                    false => world.adapter.activate(second).is_ok(),
                })
            };
            let gone = world.server.destroy_with(&world.adapter, true);
            for adapter in &gone {
                block_on(adapter.completed());
            }
            assert!(world.fate.is_dropped(), "no upcall is left");
            caller.join().unwrap();
            activating.join().unwrap();
            block_on(world.adapter.completed());
            // An object that was activated at the last moment is dropped, too, though the application still holds the adapter.
            assert!(fate.is_dropped());
            assert!(world.server.locate(&world.key).is_err());
        });
    }
}

#[test]
fn a_manager_that_has_waited_for_its_upcalls_has_none() {
    for policies in kinds() {
        model(2, move || {
            let world = World::new(policies);
            let manager = Arc::clone(world.adapter.manager());
            let caller = {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    let object = world.server.locate(&world.key).unwrap();
                    // Requests are admitted by the state, while they hold the object.
                    if object.manager().state() == crate::manager::PoaManagerState::Active {
                        world.fate.execute();
                    }
                })
            };
            block_on(manager.hold_requests_and_wait()).unwrap();
            assert!(!world.fate.is_executing(), "it has waited for the upcall");
            caller.join().unwrap();
            // The object is still active.
            assert_eq!(world.call(&[&*world.fate]), Some("first"));
        });
    }
}
