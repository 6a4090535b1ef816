//! Objects and adapters that come and go while requests are dispatched.

use crate::resident;
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::thread;
use zorb_papers::dialogue::Failure;
use zorb_poa::{
    Adapter, IdAssignment, Incoming, InstanceId, Lifespan, ObjectAdapter, Outcome, Policies,
    Skeleton, Upcall,
};

/// A servant that knows the object that it was activated for, and whether it is still alive.
struct Row {
    number: u64,
    alive: Arc<AtomicU64>,
}

impl Row {
    fn new(number: u64, alive: &Arc<AtomicU64>) -> Arc<Self> {
        alive.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            number,
            alive: Arc::clone(alive),
        })
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

struct OfRow(Arc<Row>);

impl Skeleton for OfRow {
    fn repository_id(&self) -> &'static str {
        "IDL:claims/Row:1.0"
    }

    fn is_a(&self, id: &str) -> bool {
        id == self.repository_id()
    }

    fn servant(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::clone(&self.0) as Arc<dyn Any + Send + Sync>)
    }

    fn start(&self, _: Incoming<'_>) -> Upcall {
        Upcall::ready(Outcome::Silent)
    }
}

/// Objects at a time, of each of the two that change them.
const OBJECTS: usize = 512;
/// Bits of a servant's number that say for which id it was activated, and by whom; the others count.
const PLACE_BITS: u32 = 10;
const PLACE: u64 = (1 << PLACE_BITS) - 1;
/// Activations between two destructions of the adapter that one of them changes.
const A_LIFE: usize = 20_000;
/// Threads that look up and dispatch.
const CALLERS: u64 = 4;

/// A key, and the number of the servant that it may lead to.
type Published = RwLock<Vec<(Vec<u8>, u64)>>;

struct World {
    adapters: ObjectAdapter,
    /// The published tables, by the thread that changes them.
    published: [Published; 2],
    /// The last number of each, since what was published in one run is called in the next.
    numbers: [AtomicU64; 2],
    alive: Arc<AtomicU64>,
    ended: AtomicBool,
    dispatched: AtomicU64,
    wrong: AtomicU64,
    missing: AtomicU64,
}

impl World {
    fn make(&self, name: &str, policies: Policies) -> Arc<Adapter> {
        let root = self.adapters.root();
        let made = self.adapters.create(root, name, policies, None);
        made.expect("the one before has been destroyed")
    }

    /// Activates and deactivates, and destroys the adapter now and then.
    fn change(&self, at: usize) {
        let policies = match at {
            0 => Policies::default(),
            _ => Policies::default()
                .with_lifespan(Lifespan::Persistent)
                .with_id_assignment(IdAssignment::User),
        };
        let name = ["indexed", "named"][at];
        let (published, numbers) = (&self.published[at], &self.numbers[at]);
        while !self.ended.load(Ordering::Relaxed) {
            let adapter = self.make(name, policies);
            for step in 0..A_LIFE {
                let place = step % OBJECTS;
                let gone = {
                    let published = published.read().expect("nothing panics under it");
                    published.get(place).cloned()
                };
                if let Some((key, _)) = gone {
                    // It may be of the adapter before, and is gone with that then.
                    let _ = adapter
                        .id_in(&key)
                        .and_then(|id| adapter.deactivate(id.as_ref()));
                }
                let number = numbers.fetch_add(1, Ordering::Relaxed) + 1;
                let row = Row::new(number << PLACE_BITS | (place * 2 + at) as u64, &self.alive);
                let expected = row.number;
                let row = Arc::new(OfRow(row));
                let key = match at {
                    0 => adapter.activate(row),
                    _ => adapter.activate_with_id(&(place as u64).to_be_bytes(), row),
                };
                let Ok(key) = key else {
                    // The id is taken while a caller has the object before: the next step has another one.
                    continue;
                };
                let mut published = published.write().expect("nothing panics under it");
                match published.get_mut(place) {
                    Some(entry) => *entry = (key.to_vec(), expected),
                    None => published.push((key.to_vec(), expected)),
                }
                if self.ended.load(Ordering::Relaxed) {
                    break;
                }
            }
            self.adapters.destroy(&adapter);
        }
    }

    /// Looks up what has been published, until there are so many dispatches.
    fn call(&self, seed: u64, dispatches: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut done = 0;
        while done < dispatches {
            let at = random.usize(0..2);
            let found = {
                let published = self.published[at].read().expect("nothing panics under it");
                match published.len() {
                    0 => None,
                    len => published.get(random.usize(0..len)).cloned(),
                }
            };
            let Some((key, expected)) = found else {
                thread::yield_now();
                continue;
            };
            for _ in 0..16 {
                done += 1;
                let Ok(object) = self.adapters.locate(&key) else {
                    self.missing.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                let servant = object.skeleton().and_then(|skeleton| skeleton.servant());
                let row = servant.and_then(|servant| servant.downcast::<Row>().ok());
                // An id of the application's may have been activated again, later; never before, and never elsewhere.
                let is_right = row.is_some_and(|row| match at {
                    0 => row.number == expected,
                    _ => row.number & PLACE == expected & PLACE && row.number >= expected,
                });
                if !is_right {
                    self.wrong.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        self.dispatched.fetch_add(done, Ordering::Relaxed);
    }
}

/// So many dispatches by four threads, while two change what there is to be found.
pub(crate) fn churn(dispatches: u64) -> Result<serde_json::Value, Failure> {
    let world = World {
        adapters: ObjectAdapter::new(InstanceId(1), "churn"),
        published: [const { RwLock::new(Vec::new()) }; 2],
        numbers: [const { AtomicU64::new(0) }; 2],
        alive: Arc::default(),
        ended: AtomicBool::new(false),
        dispatched: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
        missing: AtomicU64::new(0),
    };
    let run = |dispatches: u64| {
        world.ended.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            for at in 0..2 {
                let world = &world;
                scope.spawn(move || world.change(at));
            }
            let callers: Vec<_> = (0..CALLERS)
                .map(|seed| {
                    let world = &world;
                    scope.spawn(move || world.call(seed, dispatches / CALLERS))
                })
                .collect();
            for caller in callers {
                let _ = caller.join();
            }
            world.ended.store(true, Ordering::Relaxed);
        });
    };
    // The memory that tables and threads keep is allocated after a while.
    run(dispatches / 4);
    let before = resident()?;
    run(dispatches);
    let growth = resident()? - before;
    world.adapters.clear();
    Ok(serde_json::json!({
        "dispatched": world.dispatched.load(Ordering::Relaxed),
        "missing": world.missing.load(Ordering::Relaxed),
        "wrong": world.wrong.load(Ordering::Relaxed),
        "growth": growth,
        // After everything has been destroyed.
        "alive": world.alive.load(Ordering::Relaxed),
    }))
}
