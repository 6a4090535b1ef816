//! Deadlines of calls: the order in a server's queue, and requests that are late.

use crate::savings::spawn;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use zorb::executor::{Dispatch, WorkerPool};
use zorb::policy::PolicyOverrides;
use zorb::{
    Any, CompletionStatus, Counter, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton,
    Interface, Orb, RequestError, SystemException, SystemExceptionKind as Kind, TypeCode,
};

zorb::idl! {
    module Timed {
        interface Work {
            void hold();
            void run(in unsigned long number);
        };
    };
}

use timed::{Work, WorkRef, WorkServant};

struct Servant {
    begun: mpsc::Sender<()>,
    end: Mutex<mpsc::Receiver<()>>,
    run: Mutex<Vec<u32>>,
}

impl Work for Servant {
    async fn hold(&self) -> Result<(), SystemException> {
        self.begun.send(()).unwrap();
        let _ = self.end.lock().unwrap().recv();
        Ok(())
    }

    async fn run(&self, number: u32) -> Result<(), SystemException> {
        self.run.lock().unwrap().push(number);
        Ok(())
    }
}

/// A server whose only worker thread is in an upcall until `end` is dropped.
struct World {
    server: Orb,
    pool: WorkerPool,
    servant: Arc<Servant>,
    work: WorkRef,
    end: mpsc::Sender<()>,
    held: tokio::task::JoinHandle<Result<(), SystemException>>,
}

async fn world(of_client: &PolicyOverrides) -> World {
    let pool = WorkerPool::builder().threads(1).build().unwrap();
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .dispatch(Dispatch::Pool(pool.clone()));
    let server = server.build().await.unwrap();
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel();
    let servant = Arc::new(Servant {
        begun,
        end: Mutex::new(ends),
        run: Mutex::default(),
    });
    let near: WorkRef = (server.root_poa())
        .activate(WorkServant::from_arc(Arc::clone(&servant)))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().policies(of_client).build().await.unwrap();
    let text = server.object_to_string(&near);
    let far = client.string_to_object(&text).await.unwrap();
    let work: WorkRef = far.unchecked_narrow();
    let holds = work.clone();
    let held = spawn(async move { holds.hold().await });
    tokio::task::spawn_blocking(move || begins.recv().unwrap())
        .await
        .unwrap();
    World {
        server,
        pool,
        servant,
        work,
        end,
        held,
    }
}

impl World {
    /// Waits until this many requests are queued.
    async fn queued(&self, requests: usize) {
        while self.pool.counters()[0].queued != requests {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn deadline(seconds: u64) -> PolicyOverrides {
    PolicyOverrides::new().relative_deadline(Duration::from_secs(seconds))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_earliest_deadline_of_orb_task_or_object_goes_first() {
    let world = world(&deadline(3_000)).await;
    let mut calls = Vec::new();
    for (number, at_object, at_task) in [
        (0, None, None),
        (1, Some(5_000), None),
        (2, Some(2_000), Some(100)),
        (3, None, Some(1_000)),
        (4, None, Some(4_000)),
    ] {
        let work = match at_object {
            Some(seconds) => world.work.with_policies(&deadline(seconds)),
            None => world.work.clone(),
        };
        let scope = at_task.map_or_else(PolicyOverrides::new, deadline);
        calls.push(spawn(async move { scope.scope(work.run(number)).await }));
        world.queued(calls.len()).await;
    }
    drop(world.end);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    world.held.await.unwrap().unwrap();
    assert_eq!(*world.servant.run.lock().unwrap(), [3, 2, 0, 4, 1]);
    assert_eq!(world.pool.counters()[0].late, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_whose_deadline_passes_in_the_queue_calls_no_servant() {
    let world = world(&PolicyOverrides::new()).await;
    let hasty = (world.work)
        .with_policies(&PolicyOverrides::new().relative_deadline(Duration::from_nanos(100)));
    let late = spawn(async move { hasty.run(1).await });
    world.queued(1).await;
    let patient = world.work.clone();
    let in_time = spawn(async move { patient.run(2).await });
    world.queued(2).await;
    drop(world.end);
    let late = late.await.unwrap().unwrap_err();
    assert_eq!(
        (late.kind, late.completed),
        (Kind::Timeout, CompletionStatus::No)
    );
    in_time.await.unwrap().unwrap();
    world.held.await.unwrap().unwrap();
    assert_eq!(*world.servant.run.lock().unwrap(), [2]);
    assert_eq!(world.server.counters().get(Counter::RequestsLate), 1);
    assert_eq!(world.pool.counters()[0].late, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dynamic_requests_are_queued_and_late_as_static_ones() {
    let world = world(&deadline(3_000)).await;
    let run = |number: u32, policies: &PolicyOverrides| {
        let work = world.work.as_object().with_policies(policies);
        let number = Any::new(&number).unwrap();
        work.request("run").argument(number)
    };
    let none = PolicyOverrides::new();
    let first = run(0, &none).send_deferred();
    world.queued(1).await;
    let second = run(1, &deadline(2_000)).send_deferred();
    world.queued(2).await;
    // The policies of the task, when the call is sent.
    let third = deadline(1_000).scope_blocking(|| run(2, &none).send_deferred());
    world.queued(3).await;
    let hasty = PolicyOverrides::new().relative_deadline(Duration::from_nanos(100));
    let late = run(3, &hasty).send_deferred();
    world.queued(4).await;
    drop(world.end);
    for call in [first, second, third] {
        call.await.unwrap();
    }
    let RequestError::System(late) = late.await.unwrap_err() else {
        panic!("a system exception");
    };
    assert_eq!(
        (late.kind, late.completed),
        (Kind::Timeout, CompletionStatus::No)
    );
    world.held.await.unwrap().unwrap();
    assert_eq!(*world.servant.run.lock().unwrap(), [2, 1, 0]);
}

/// Says whether its request states a deadline.
struct Hurried;

impl DynamicServant for Hurried {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let is_stated = Any::new(&request.deadline().is_some()).map_err(SystemException::from)?;
        Ok(DynamicReply::new(Some(is_stated), Vec::new()))
    }
}

#[tokio::test]
async fn a_dynamic_servant_learns_the_deadline_of_its_request() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let near = (server.root_poa()).activate(DynamicSkeleton::new("", Hurried));
    let near = near.unwrap();
    let client = Orb::builder().build().await.unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    for (object, expected) in [
        (far.clone(), false),
        (far.with_policies(&deadline(60)), true),
    ] {
        let call = object.request("call").returns(TypeCode::of::<bool>());
        let is_stated = call.invoke().await.unwrap().result.unwrap();
        assert_eq!(is_stated.extract::<bool>().unwrap(), expected);
    }
}
