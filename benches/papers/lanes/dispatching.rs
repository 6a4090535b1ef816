//! Patterns of dispatching to one object, side by side with zorb's POA: the dissertation's Table 4.1.

use crate::report::Report;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use zorb_papers::dialogue::Failure;
use zorb_papers::lookup::servants::Activated;
use zorb_poa::{Incoming, Outcome, Skeleton, Upcall};

/// Objects in the table.
const OBJECTS: u32 = 100;
/// A new one each time that the table is changed.
static NEXT: AtomicU64 = AtomicU64::new(1_000);

/// An object that is called.
#[derive(Debug)]
struct Object(u64);

type Table = HashMap<u64, Arc<Object>>;

/// A table of objects, and a way to call them.
trait Pattern: Send + Sync {
    /// Finds an object and runs the upcall on it.
    fn dispatch(&self, number: u32, upcall: &mut dyn FnMut());
    /// Activates another object.
    fn change(&self);
    /// Whether an upcall may dispatch to another object, and change the table.
    fn allows_nested(&self) -> (bool, bool);
}

fn objects() -> Table {
    let each = (0..u64::from(OBJECTS)).map(|number| (number, Arc::new(Object(number))));
    each.collect()
}

fn insert(table: &mut Table) {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    table.insert(number, Arc::new(Object(number)));
}

fn call(object: Option<&Arc<Object>>, upcall: &mut dyn FnMut()) {
    black_box(object.map(|object| object.0));
    upcall();
}

fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an upcall may dispatch to another object and change the table, of a pattern whose locks let it try.
fn nested(pattern: &dyn Pattern) -> (bool, bool) {
    let mut nested = (false, false);
    pattern.dispatch(0, &mut || {
        pattern.dispatch(1, &mut || nested.0 = true);
        pattern.change();
        nested.1 = true;
    });
    nested
}

/// One lock, held over the upcall (section 4.2.1).
struct Serialized(Mutex<Table>);

impl Pattern for Serialized {
    fn dispatch(&self, number: u32, upcall: &mut dyn FnMut()) {
        let table = lock(&self.0);
        call(table.get(&u64::from(number)), upcall);
    }

    fn change(&self) {
        insert(&mut lock(&self.0));
    }

    fn allows_nested(&self) -> (bool, bool) {
        let mut nested = (false, false);
        self.dispatch(0, &mut || {
            let is_free = self.0.try_lock().is_ok();
            nested = (is_free, is_free);
        });
        nested
    }
}

/// One lock that a thread may take again, held over the upcall (section 4.2.2).
#[derive(Default)]
struct Recursive {
    lock: Mutex<()>,
    /// The number of the thread that holds it; 0: none.
    owner: AtomicU64,
    /// Used by the owner alone, and never over an upcall.
    table: RwLock<Table>,
}

/// Whether the calling thread is the one that has it already.
struct Again<'a>(Option<(MutexGuard<'a, ()>, &'a AtomicU64)>);

impl Drop for Again<'_> {
    fn drop(&mut self) {
        if let Some((_, owner)) = &self.0 {
            owner.store(0, Ordering::Relaxed);
        }
    }
}

thread_local! {
    static OWN: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
}

impl Recursive {
    fn lock(&self) -> Again<'_> {
        let own = OWN.with(|own| *own);
        if self.owner.load(Ordering::Relaxed) == own {
            return Again(None);
        }
        let guard = lock(&self.lock);
        self.owner.store(own, Ordering::Relaxed);
        Again(Some((guard, &self.owner)))
    }
}

impl Pattern for Recursive {
    fn dispatch(&self, number: u32, upcall: &mut dyn FnMut()) {
        let _locked = self.lock();
        let object = {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            table.get(&u64::from(number)).cloned()
        };
        call(object.as_ref(), upcall);
    }

    fn change(&self) {
        let _locked = self.lock();
        insert(&mut self.table.write().unwrap_or_else(PoisonError::into_inner));
    }

    fn allows_nested(&self) -> (bool, bool) {
        nested(self)
    }
}

/// A readers/writer lock, held over the upcall for reading (section 4.2.3).
struct ReadersWriter(RwLock<Table>);

impl Pattern for ReadersWriter {
    fn dispatch(&self, number: u32, upcall: &mut dyn FnMut()) {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        call(table.get(&u64::from(number)), upcall);
    }

    fn change(&self) {
        insert(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }

    fn allows_nested(&self) -> (bool, bool) {
        let mut nested = (false, false);
        self.dispatch(0, &mut || {
            nested = (self.0.try_read().is_ok(), self.0.try_write().is_ok());
        });
        nested
    }
}

/// One lock, twice for each upcall, but not over it, and references that are counted (section 4.2.4).
struct Counted(Mutex<Table>);

impl Pattern for Counted {
    fn dispatch(&self, number: u32, upcall: &mut dyn FnMut()) {
        let object = lock(&self.0).get(&u64::from(number)).cloned();
        call(object.as_ref(), upcall);
        let _locked = lock(&self.0);
        drop(object);
    }

    fn change(&self) {
        insert(&mut lock(&self.0));
    }

    fn allows_nested(&self) -> (bool, bool) {
        nested(self)
    }
}

/// zorb's: the table is read without a lock, and a request counts a reference to its object.
struct Poa(Activated);

struct Silent;

impl Skeleton for Silent {
    fn repository_id(&self) -> &'static str {
        "IDL:papers/Silent:1.0"
    }

    fn is_a(&self, id: &str) -> bool {
        id == self.repository_id()
    }

    fn start(&self, _: Incoming<'_>) -> Upcall {
        Upcall::ready(Outcome::Silent)
    }
}

impl Pattern for Poa {
    fn dispatch(&self, number: u32, upcall: &mut dyn FnMut()) {
        let key = &self.0.keys[number as usize % self.0.keys.len()];
        let object = self.0.adapters.locate(key).ok();
        black_box(&object);
        upcall();
    }

    fn change(&self) {
        let activated = self.0.adapter.activate(Arc::new(Silent));
        debug_assert!(activated.is_ok(), "{activated:?}");
    }

    fn allows_nested(&self) -> (bool, bool) {
        nested(self)
    }
}

fn patterns() -> [(&'static str, Arc<dyn Pattern>); 5] {
    let recursive = Recursive {
        table: RwLock::new(objects()),
        ..Recursive::default()
    };
    let readers_writer = ReadersWriter(RwLock::new(objects()));
    let poa = Poa(Activated::new(OBJECTS as usize, false));
    [
        ("serialized", Arc::new(Serialized(Mutex::new(objects())))),
        ("recursive lock", Arc::new(recursive)),
        ("readers/writer", Arc::new(readers_writer)),
        ("counted", Arc::new(Counted(Mutex::new(objects())))),
        ("zorb's POA", Arc::new(poa)),
    ]
}

pub(crate) fn measure(report: Report, time: Duration) -> Result<(), Failure> {
    // Upcalls of others, which last so long, and how many of them are measured.
    let upcall = Duration::from_millis(if time < Duration::from_millis(500) {
        2
    } else {
        10
    });
    let count = if time < Duration::from_millis(500) {
        2
    } else {
        9
    };
    for (number, (name, pattern)) in patterns().into_iter().enumerate() {
        let at = (number, name);
        let cost = cost(&*pattern, time / 10);
        report.under(("dispatching, cost", "an upcall"), at, cost, "ns");
        let (calls, changes) = pattern.allows_nested();
        let shown = |allowed| f64::from(u8::from(allowed));
        let panel = "dispatching, within an upcall";
        report.under((panel, "another upcall"), at, shown(calls), "allowed");
        report.under(
            (panel, "a change of the table"),
            at,
            shown(changes),
            "allowed",
        );
        let beside = |what: fn(&dyn Pattern)| beside(&pattern, upcall, count, what);
        let panel = "dispatching, beside an upcall";
        let wait = beside(|pattern| pattern.dispatch(1, &mut || {}))?;
        report.under((panel, "another upcall"), at, wait, "ms");
        let wait = beside(|pattern| pattern.change())?;
        report.under((panel, "a change of the table"), at, wait, "ms");
    }
    Ok(())
}

/// Nanoseconds of an upcall that does nothing, nothing else going on: the fastest of many batches.
fn cost(pattern: &dyn Pattern, time: Duration) -> f64 {
    const AT_ONCE: u32 = 1_000;
    let begun = Instant::now();
    let mut fastest = f64::MAX;
    while begun.elapsed() < time {
        let batch = Instant::now();
        for number in 0..AT_ONCE {
            pattern.dispatch(number % OBJECTS, &mut || {});
        }
        fastest = fastest.min(batch.elapsed().as_secs_f64() / f64::from(AT_ONCE));
    }
    fastest * 1e9
}

/// Milliseconds, on the median, that something takes while another thread is in a long upcall.
fn beside(
    pattern: &Arc<dyn Pattern>,
    upcall: Duration,
    count: usize,
    what: fn(&dyn Pattern),
) -> Result<f64, Failure> {
    let mut times = Vec::new();
    for _ in 0..count {
        let (begun, begins) = mpsc::channel();
        let other = Arc::clone(pattern);
        let long = thread::spawn(move || {
            other.dispatch(0, &mut || {
                // The other end waits for it.
                let _ = begun.send(());
                thread::sleep(upcall);
            });
        });
        begins.recv()?;
        let from = Instant::now();
        what(&**pattern);
        times.push(from.elapsed().as_secs_f64() * 1e3);
        long.join().map_err(|_| "the upcall ended")?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
