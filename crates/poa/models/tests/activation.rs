//! Servant activators: an object is incarnated once, whatever the number of requests for it, and etherealized once. The two
//! do not overlap.

use super::{Fate, Row, block_on, model};
use crate::adapter::Adapter;
use crate::incarnation::NotIncarnated;
use crate::key::{InstanceId, ObjectId};
use crate::policy::{IdAssignment, Policies, RequestProcessing};
use crate::registry::ObjectAdapter;
use crate::servant_manager::{Activator, Etherealization, Incarnated, Incarnation};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Makes {
    incarnated: AtomicUsize,
    etherealized: AtomicUsize,
    /// The fates of servants, in the order in which these were made.
    fates: Mutex<Vec<Arc<Fate>>>,
}

impl Activator for Makes {
    fn incarnate(&self, _: ObjectId) -> Incarnation {
        let before = self.incarnated.fetch_add(1, Ordering::AcqRel);
        let gone = self.etherealized.load(Ordering::Acquire);
        assert_eq!(
            before, gone,
            "incarnated while the one before is still there"
        );
        let (row, fate) = Row::with_fate("row");
        self.fates.lock().unwrap().push(fate);
        Box::pin(async { Ok(Incarnated::Servant(row)) })
    }

    fn etherealize(&self, object: Etherealization) {
        let fates = self.fates.lock().unwrap().clone();
        let last = fates.last().expect("it has been incarnated");
        assert!(!last.is_executing() && !last.is_dropped());
        let gone = self.etherealized.fetch_add(1, Ordering::AcqRel);
        assert_eq!(gone + 1, self.incarnated.load(Ordering::Acquire));
        drop(object);
    }
}

struct World {
    server: ObjectAdapter,
    adapter: Arc<Adapter>,
    makes: Arc<Makes>,
}

fn world() -> Arc<World> {
    let server = ObjectAdapter::new(InstanceId(1), "");
    let root = Arc::clone(server.root());
    root.manager().activate().unwrap();
    let policies = Policies::default()
        .with_id_assignment(IdAssignment::User)
        .with_request_processing(RequestProcessing::ServantManager);
    let manager = Some(Arc::clone(root.manager()));
    let adapter = server.create(&root, "rows", policies, manager).unwrap();
    let makes = Arc::<Makes>::default();
    adapter
        .set_activator(Arc::clone(&makes) as Arc<dyn Activator>)
        .unwrap();
    Arc::new(World {
        server,
        adapter,
        makes,
    })
}

impl World {
    /// A request: wakes the object if it is not active, and executes.
    fn call(&self) {
        let activator = Arc::clone(&self.makes) as Arc<dyn Activator>;
        let inactive =
            NotIncarnated::new(Arc::clone(&self.adapter), activator, ObjectId::from("row"));
        let Ok(object) = block_on(inactive.activate()) else {
            panic!("it is incarnated");
        };
        // A read-modify-write, which reads the latest value.
        let at = self.makes.incarnated.fetch_add(0, Ordering::AcqRel);
        let fates = self.makes.fates.lock().unwrap().clone();
        let fate = fates.get(at.saturating_sub(1));
        assert!(
            fate.is_some_and(|fate| !fate.is_dropped()),
            "an upcall keeps its servant"
        );
        drop(object);
    }
}

#[test]
fn requests_that_wake_an_object_at_the_same_time_have_it_incarnated_once() {
    model(2, || {
        let world = world();
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.call())
        };
        world.call();
        other.join().unwrap();
        assert_eq!(world.makes.incarnated.load(Ordering::Acquire), 1);
        world.server.clear();
        assert_eq!(world.makes.etherealized.load(Ordering::Acquire), 1);
    });
}

#[test]
fn an_object_that_is_deactivated_beside_its_requests_is_etherealized_once_before_the_next() {
    model(2, || {
        let world = world();
        world.call();
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.call())
        };
        world.adapter.deactivate(b"row").unwrap();
        world.call();
        other.join().unwrap();
        world.server.clear();
        let (made, gone) = (
            world.makes.incarnated.load(Ordering::Acquire),
            world.makes.etherealized.load(Ordering::Acquire),
        );
        assert!(made == gone && made <= 2, "{made} {gone}");
    });
}

#[test]
fn an_object_that_is_deactivated_while_its_manager_waits_for_upcalls_is_etherealized_once() {
    model(2, || {
        let world = world();
        world.call();
        let executing = world.adapter.find(b"row").unwrap();
        let waits = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                block_on(world.adapter.manager().hold_requests_and_wait()).unwrap();
            })
        };
        let deactivates = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.adapter.deactivate(b"row").unwrap())
        };
        drop(executing);
        waits.join().unwrap();
        deactivates.join().unwrap();
        world.server.clear();
        assert_eq!(world.makes.etherealized.load(Ordering::Acquire), 1);
    });
}
