//! Servants that block, that await in one-way operations, and whose ids are used again.

use crate::savings::spawn;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, span};
use zorb::{
    AdapterError, Blocking, Error, IdAssignment, Interface, OneWayOrder, Orb, Policies,
    RequestProcessing, SystemException,
};

zorb::idl! {
    module Servants {
        interface Worker {
            /// Blocks its thread until the test says so.
            long block(in long n);
            /// Awaits the longer, the smaller the number.
            oneway void note(in long n);
            /// Awaits, and blocks then.
            long block_late(in long n);
            long twice(in long n);
            /// Awaits until the test says so.
            void wait();
        };
    };
}

use servants::{Worker, WorkerRef, WorkerServant};

const NOTES: i32 = 60;

#[derive(Default)]
struct State {
    notes: Mutex<Vec<i32>>,
    noted: Notify,
    blocked: Mutex<Option<mpsc::Receiver<i32>>>,
    entered: Notify,
    gate: Option<Semaphore>,
    dropped: AtomicUsize,
}

struct Servant(Arc<State>);

impl Worker for Servant {
    async fn block(&self, n: i32) -> Result<i32, SystemException> {
        let blocked = self.0.blocked.lock().unwrap().take();
        Ok(n + blocked.map_or(0, |blocked| blocked.recv().unwrap()))
    }

    async fn block_late(&self, n: i32) -> Result<i32, SystemException> {
        tokio::task::yield_now().await;
        self.block(n).await
    }

    async fn note(&self, n: i32) -> Result<(), SystemException> {
        for _ in n..NOTES {
            tokio::task::yield_now().await;
        }
        self.0.notes.lock().unwrap().push(n);
        self.0.noted.notify_one();
        Ok(())
    }

    async fn twice(&self, n: i32) -> Result<i32, SystemException> {
        Ok(2 * n)
    }

    async fn wait(&self) -> Result<(), SystemException> {
        self.0.entered.notify_one();
        let gate = self.0.gate.as_ref().unwrap();
        gate.acquire().await.unwrap().forget();
        Ok(())
    }
}

impl Drop for Servant {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A bound against hangs, not a measurement.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no hang")
}

async fn server() -> Orb {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let server = server.await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    server
}

/// The object, as a client elsewhere sees it.
async fn from_afar(worker: &WorkerRef) -> (Orb, WorkerRef) {
    let client = Orb::builder().build().await.unwrap();
    let worker = client.string_to_object(&worker.to_string()).await.unwrap();
    (client, worker.unchecked_narrow())
}

/// The notes in the order in which they have ended, when all have been sent.
async fn notes(worker: &WorkerRef, state: &State) -> Vec<i32> {
    for n in 0..NOTES {
        in_time(worker.note(n)).await.unwrap();
    }
    // A request with a reply does not wait for them.
    assert_eq!(in_time(worker.twice(2)).await, Ok(4));
    in_time(async {
        while state.notes.lock().unwrap().len() < NOTES as usize {
            state.noted.notified().await;
        }
    })
    .await;
    state.notes.lock().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_way_requests_end_in_their_order_where_the_policy_says_so() {
    let server = server().await;
    for order in [OneWayOrder::Ended, OneWayOrder::Started] {
        let policies = Policies::default().with_one_way_order(order);
        let manager = Arc::clone(server.root_poa().the_poa_manager());
        let poa = (server.root_poa()).create_poa_with("notes", policies, Some(&manager));
        let poa = poa.unwrap();
        let state = Arc::new(State::default());
        let worker = poa.activate(WorkerServant::new(Servant(Arc::clone(&state))));
        let (client, worker) = from_afar(&worker.unwrap()).await;
        let notes = notes(&worker, &state).await;
        match order {
            OneWayOrder::Ended => assert!(notes.iter().copied().eq(0..NOTES), "{notes:?}"),
            // The earlier one awaits for longer.
            _ => assert!(!notes.iter().copied().eq(0..NOTES), "{notes:?}"),
        }
        poa.destroy();
        in_time(client.shutdown(true)).await.unwrap();
    }
    in_time(server.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn a_blocking_servant_delays_no_other_even_on_one_thread() {
    let server = server().await;
    let poa = server.root_poa();
    let (release, blocked) = mpsc::channel();
    let state = Arc::new(State {
        blocked: Mutex::new(Some(blocked)),
        ..State::default()
    });
    let worker = Blocking(WorkerServant::new(Servant(Arc::clone(&state))));
    let worker = poa.activate(worker).unwrap();
    assert_eq!(worker.as_object().ior().type_id, WorkerRef::REPOSITORY_ID);
    let (client, far) = from_afar(&worker).await;
    let blocking = spawn({
        let far = far.clone();
        async move { far.block(1).await }
    });
    // On the same connection, of the same servant.
    for n in 0..10 {
        assert_eq!(in_time(far.twice(n)).await, Ok(2 * n));
    }
    release.send(41).unwrap();
    assert_eq!(in_time(blocking).await.unwrap(), Ok(42));
    // Several threads, one order.
    let notes = notes(&far, &state).await;
    assert!(notes.iter().copied().eq(0..NOTES), "{notes:?}");
    in_time(server.shutdown(true)).await.unwrap();
    in_time(client.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn an_id_is_active_once_at_a_time_also_where_objects_are_activated_on_demand() {
    let server = server().await;
    let state = Arc::new(State {
        gate: Some(Semaphore::new(0)),
        ..State::default()
    });
    let policies = Policies::default()
        .with_id_assignment(IdAssignment::User)
        .with_request_processing(RequestProcessing::ServantManager);
    let manager = Arc::clone(server.root_poa().the_poa_manager());
    let poa = (server.root_poa()).create_poa_with("records", policies, Some(&manager));
    let poa = poa.unwrap();
    let made = Arc::new(AtomicUsize::new(0));
    let (counted, theirs) = (Arc::clone(&made), Arc::clone(&state));
    poa.set_servant_activator(move |poa, id| {
        // The one before is gone.
        let before = counted.fetch_add(1, Ordering::Relaxed);
        assert_eq!(theirs.dropped.load(Ordering::Relaxed), before);
        let servant = WorkerServant::new(Servant(Arc::clone(&theirs)));
        async move {
            poa.activate_object_with_id(&id, servant).unwrap();
            Ok(())
        }
    })
    .unwrap();
    let worker: WorkerRef = poa.create_reference_with_id("1").unwrap();
    let (client, far) = from_afar(&worker).await;
    let waiting = spawn({
        let far = far.clone();
        async move { far.wait().await }
    });
    in_time(state.entered.notified()).await;
    poa.deactivate_object_with_id("1").unwrap();
    let early = poa.activate_object_with_id("1", WorkerServant::new(Servant(Arc::default())));
    assert!(matches!(
        early,
        Err(Error::Adapter(AdapterError::BeingDeactivated(_)))
    ));
    let next = spawn(async move { far.twice(4).await });
    let ended = poa.deactivation_ended("1");
    assert_eq!(made.load(Ordering::Relaxed), 1);
    state.gate.as_ref().unwrap().add_permits(1);
    in_time(waiting).await.unwrap().unwrap();
    in_time(ended).await;
    assert_eq!(in_time(next).await.unwrap(), Ok(8));
    assert_eq!(made.load(Ordering::Relaxed), 2);
    in_time(server.shutdown(true)).await.unwrap();
    in_time(client.shutdown(true)).await.unwrap();
}

/// The warnings that name a servant, and what they say of operation and object.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>, Arc<(Mutex<Vec<String>>, Condvar)>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("zorb") && *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Named(self));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Named<'a>(&'a Warnings);

impl Visit for Named<'_> {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "servant" {
            self.0.0.lock().unwrap().push(value.to_owned());
        } else if ["operation", "object_key"].contains(&field.name()) {
            let (places, changed) = &*self.0.1;
            places.lock().unwrap().push(value.to_owned());
            changed.notify_all();
        }
    }
}

/// A runtime whose threads report to `warnings`: with two workers, or with the thread that enters it alone.
fn heard_by(warnings: &Warnings, is_current_thread: bool) -> tokio::runtime::Runtime {
    let listener = warnings.clone();
    let mut builder = match is_current_thread {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    builder
        .worker_threads(2)
        .enable_all()
        .on_thread_start(move || {
            // For as long as the thread lives.
            std::mem::forget(tracing::subscriber::set_default(listener.clone()));
        })
        .build()
        .unwrap()
}

/// The operation and the key that are reported of a servant while it blocks: called from afar or collocated, in its
/// first poll or in a later one.
fn reported_while_it_blocks(
    is_current_thread: bool,
    is_collocated: bool,
    is_late: bool,
) -> Vec<String> {
    let warnings = Warnings::default();
    let places = Arc::clone(&warnings.1);
    let (release, blocked) = mpsc::channel();
    // Not a task, as the runtime may have the one thread that blocks.
    let reported = std::thread::spawn(move || {
        let (lines, changed) = &*places;
        let is_missing = |lines: &mut Vec<String>| lines.len() < 2;
        let lines = changed
            .wait_timeout_while(lines.lock().unwrap(), Duration::from_secs(60), is_missing)
            .unwrap()
            .0;
        let lines = lines.clone();
        release.send(1).unwrap();
        lines
    });
    let serving = async move {
        let server = server().await;
        let state = Arc::new(State::default());
        let servant = WorkerServant::new(Servant(Arc::clone(&state)));
        let worker = server.root_poa().activate(servant).unwrap();
        let (client, far) = from_afar(&worker).await;
        *state.blocked.lock().unwrap() = Some(blocked);
        let called = if is_collocated { worker } else { far };
        let calling = spawn(async move {
            match is_late {
                true => called.block_late(1).await,
                false => called.block(1).await,
            }
        });
        assert_eq!(in_time(calling).await.unwrap(), Ok(2));
        in_time(client.shutdown(true)).await.unwrap();
        in_time(server.shutdown(true)).await.unwrap();
    };
    let _heard = tracing::subscriber::set_default(warnings.clone());
    heard_by(&warnings, is_current_thread)
        .block_on(async { spawn(serving).await })
        .unwrap();
    let servants = warnings.0.lock().unwrap().clone();
    assert_eq!(servants, [WorkerRef::REPOSITORY_ID], "once");
    reported.join().unwrap()
}

#[test]
fn a_servant_that_does_not_return_is_reported_with_operation_and_object_while_it_blocks() {
    for case in 0..8 {
        let [is_current_thread, is_collocated, is_late] =
            [case & 1, case & 2, case & 4].map(|bit| bit != 0);
        let reported = reported_while_it_blocks(is_current_thread, is_collocated, is_late);
        let [operation, key] = &reported[..] else {
            panic!("case {case} reported while it blocks: {reported:?}");
        };
        assert_eq!(
            operation,
            if is_late { "block_late" } else { "block" },
            "case {case}"
        );
        assert!(key.starts_with("zorb:"), "case {case}: {key}");
    }
}

/// The report on a servant that blocks three times, until its worker has been seen to be held.
fn reported(is_blocking: bool, is_current_thread: bool) -> Vec<String> {
    let warnings = Warnings::default();
    let runtime = heard_by(&warnings, is_current_thread);
    let serving = async move {
        let server = server().await;
        let state = Arc::new(State::default());
        let servant = WorkerServant::new(Servant(Arc::clone(&state)));
        let poa = server.root_poa();
        let worker = match is_blocking {
            true => poa.activate(Blocking(servant)),
            false => poa.activate(servant),
        };
        let (client, far) = from_afar(&worker.unwrap()).await;
        for n in 0..3 {
            let (release, blocked) = mpsc::channel();
            *state.blocked.lock().unwrap() = Some(blocked);
            let releasing = std::thread::spawn(move || {
                std::thread::sleep(4 * zorb::executor::BlockingGuard::LONG);
                release.send(1).unwrap();
            });
            assert_eq!(in_time(far.block(n)).await, Ok(n + 1));
            releasing.join().unwrap();
        }
        in_time(client.shutdown(true)).await.unwrap();
        in_time(server.shutdown(true)).await.unwrap();
    };
    let _heard = tracing::subscriber::set_default(warnings.clone());
    runtime.block_on(async { spawn(serving).await }).unwrap();
    let warnings = warnings.0.lock().unwrap();
    warnings.clone()
}

#[test]
fn a_servant_that_holds_its_worker_for_long_is_reported_once_by_name() {
    for is_current_thread in [false, true] {
        assert_eq!(
            reported(false, is_current_thread),
            [WorkerRef::REPOSITORY_ID]
        );
        assert!(reported(true, is_current_thread).is_empty());
    }
}
