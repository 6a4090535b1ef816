//! Asynchronous calls of the Messaging specification: reply handlers and pollers.

use crate::savings::{in_time, spawn};
use core::future::pending;
use core::time::Duration;
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, mpsc};
use zorb::messaging::{Pollable, PollableSet, Poller, ReplyHandlerRef};
use zorb::policy::PolicyOverrides;
use zorb::{
    Bytes, CompletionStatus, Interface, ObjectRef, OctetsRef, Orb, SystemException,
    SystemExceptionKind as Kind, minor,
};

zorb::idl! {
    #![idl(ami = true)]
    module Ami {
        struct Point { double x; string name; };
        typedef sequence<octet> Data;
        exception Refused { string why; Object who; };
        exception Other {};
        interface Base {
            long twice(in long n);
        };
        interface Worker : Base {
            attribute string name;
            string work(in string what, inout Data d, in Point p, out Point q, in Base other) raises (Refused, Other);
            // Returns when it is told to.
            void wait();
            void release();
            void fail();
            oneway void poke();
        };
    };
}

use ami::worker::WorkError;
use ami::{
    AmiBaseHandler, AmiBasePoller, AmiWorkerHandler, AmiWorkerHandlerRef, AmiWorkerHandlerServant,
    AmiWorkerPoller, Base, BaseRef, Point, Refused, Worker, WorkerRef, WorkerServant,
};

#[derive(Default)]
struct Servant {
    name: Mutex<String>,
    released: Notify,
}

impl Base for Servant {
    async fn twice(&self, n: i32) -> Result<i32, SystemException> {
        Ok(2 * n)
    }
}

impl Worker for Servant {
    async fn name(&self) -> Result<String, SystemException> {
        Ok(self.name.lock().unwrap().clone())
    }

    async fn set_name(&self, value: &str) -> Result<(), SystemException> {
        value.clone_into(&mut self.name.lock().unwrap());
        Ok(())
    }

    async fn work(
        &self,
        what: &str,
        d: OctetsRef<'_>,
        p: &Point,
        other: Option<BaseRef>,
    ) -> Result<(String, Bytes, Point), WorkError> {
        match what {
            "refuse" => Err(WorkError::Refused(Refused {
                why: p.name.clone(),
                who: other.map(ObjectRef::from),
            })),
            "deny" => Err(SystemException::new(Kind::NoPermission, 5, CompletionStatus::No).into()),
            _ => Ok((
                what.to_uppercase(),
                d.iter().rev().copied().collect(),
                p.clone(),
            )),
        }
    }

    async fn wait(&self) -> Result<(), SystemException> {
        self.released.notified().await;
        Ok(())
    }

    async fn release(&self) -> Result<(), SystemException> {
        self.released.notify_one();
        Ok(())
    }

    async fn fail(&self) -> Result<(), SystemException> {
        panic!("on purpose")
    }

    async fn poke(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
enum Event {
    Twice(i32),
    Name(String),
    NameSet,
    Work(String, Vec<u8>, Point),
    Refused(String, bool),
    Waited,
    Failed(Kind, u32),
}

use Event::{Failed, Name, NameSet, Twice, Waited, Work};

/// A handler that reports what it gets.
#[derive(Clone)]
struct Handler(mpsc::UnboundedSender<Event>);

impl Handler {
    fn put(&self, event: Event) -> Result<(), SystemException> {
        self.0.send(event).unwrap();
        Ok(())
    }

    fn fail(&self, error: &SystemException) -> Result<(), SystemException> {
        self.put(Failed(error.kind, error.minor))
    }
}

impl AmiBaseHandler for Handler {
    async fn twice(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.put(Twice(ami_return_val))
    }

    async fn twice_excep(&self, excep_holder: &SystemException) -> Result<(), SystemException> {
        self.fail(excep_holder)
    }
}

impl AmiWorkerHandler for Handler {
    async fn get_name(&self, ami_return_val: &str) -> Result<(), SystemException> {
        self.put(Name(ami_return_val.to_owned()))
    }

    async fn get_name_excep(&self, excep_holder: &SystemException) -> Result<(), SystemException> {
        self.fail(excep_holder)
    }

    async fn set_name(&self) -> Result<(), SystemException> {
        self.put(NameSet)
    }

    async fn set_name_excep(&self, excep_holder: &SystemException) -> Result<(), SystemException> {
        self.fail(excep_holder)
    }

    async fn work(
        &self,
        ami_return_val: &str,
        d: OctetsRef<'_>,
        q: &Point,
    ) -> Result<(), SystemException> {
        self.put(Work(ami_return_val.to_owned(), d.to_vec(), q.clone()))
    }

    async fn work_excep(&self, excep_holder: &WorkError) -> Result<(), SystemException> {
        match excep_holder {
            WorkError::Refused(refused) => {
                let is_there = match &refused.who {
                    Some(who) => !who.non_existent().await?,
                    None => false,
                };
                self.put(Event::Refused(refused.why.clone(), is_there))
            }
            WorkError::System(error) => self.fail(error),
            other => panic!("{other}"),
        }
    }

    async fn wait(&self) -> Result<(), SystemException> {
        self.put(Waited)
    }

    async fn wait_excep(&self, excep_holder: &SystemException) -> Result<(), SystemException> {
        self.fail(excep_holder)
    }

    async fn release(&self) -> Result<(), SystemException> {
        panic!("on purpose")
    }

    async fn release_excep(&self, excep_holder: &SystemException) -> Result<(), SystemException> {
        self.fail(excep_holder)
    }

    /// The servant panicked; this never returns.
    async fn fail(&self) -> Result<(), SystemException> {
        unreachable!()
    }

    async fn fail_excep(&self, _: &SystemException) -> Result<(), SystemException> {
        pending().await
    }
}

async fn listening() -> Orb {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb.build().await.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb
}

struct Scene {
    server: Orb,
    client: Orb,
    worker: WorkerRef,
    handler: AmiWorkerHandlerRef,
    events: mpsc::UnboundedReceiver<Event>,
}

impl Scene {
    async fn new(server: Orb, client: Orb, at: &Orb) -> Self {
        let worker = WorkerServant::new(Servant::default());
        let worker: WorkerRef = server.root_poa().activate(worker).unwrap();
        let (sender, events) = mpsc::unbounded_channel();
        let handler = AmiWorkerHandlerServant::new(Handler(sender));
        let handler: AmiWorkerHandlerRef = at.root_poa().activate(handler).unwrap();
        let worker = seen_by(&client, worker.as_object()).await;
        let handler = seen_by(&client, handler.as_object()).await;
        Self {
            server,
            client,
            worker: worker.unchecked_narrow(),
            handler: handler.unchecked_narrow(),
            events,
        }
    }

    async fn remote() -> Self {
        let (server, client) = (listening().await, listening().await);
        Self::new(server, client.clone(), &client).await
    }

    async fn collocated() -> Self {
        let orb = listening().await;
        Self::new(orb.clone(), orb.clone(), &orb).await
    }

    /// The handler is an object of the server.
    async fn handled_elsewhere() -> Self {
        let (server, client) = (listening().await, listening().await);
        Self::new(server.clone(), client, &server).await
    }

    async fn next(&mut self) -> Event {
        in_time(self.events.recv()).await.unwrap()
    }

    async fn end(self) {
        in_time(self.client.shutdown(true)).await.unwrap();
        // Upcalls for which nobody waits any more may wait themselves.
        self.server.shutdown(false).await.unwrap();
    }
}

async fn seen_by(orb: &Orb, object: &ObjectRef) -> ObjectRef {
    orb.string_to_object(&object.to_string()).await.unwrap()
}

fn point() -> Point {
    Point {
        x: 0.5,
        name: "é".to_owned(),
    }
}

#[tokio::test]
async fn a_handler_gets_results_and_exceptions() {
    for mut scene in [
        Scene::remote().await,
        Scene::collocated().await,
        Scene::handled_elsewhere().await,
    ] {
        let (worker, handler) = (scene.worker.clone(), scene.handler.clone());
        worker.sendc_twice(&handler, 21);
        assert_eq!(scene.next().await, Twice(42));
        worker.sendc_set_name(&handler, "Ada");
        assert_eq!(scene.next().await, NameSet);
        worker.sendc_get_name(&handler);
        assert_eq!(scene.next().await, Name("Ada".to_owned()));
        let work = |what: &str| {
            let other = BaseRef::from(worker.clone());
            worker.sendc_work(&handler, what, vec![1, 2, 3], point(), &other);
        };
        work("loud");
        let expected = Work("LOUD".to_owned(), vec![3, 2, 1], point());
        assert_eq!(scene.next().await, expected);
        work("refuse");
        assert_eq!(scene.next().await, Event::Refused("é".to_owned(), true));
        work("deny");
        assert_eq!(scene.next().await, Failed(Kind::NoPermission, 5));
        scene.end().await;
    }
}

#[tokio::test]
async fn a_nil_handler_gets_nothing_and_the_request_is_sent() {
    let scene = Scene::remote().await;
    scene.worker.sendc_set_name(None, "Bob");
    let named = async {
        while scene.worker.name().await.unwrap() != "Bob" {
            tokio::task::yield_now().await;
        }
    };
    in_time(named).await;
    scene.end().await;
}

#[tokio::test]
async fn a_handler_is_called_while_its_caller_waits_in_another_call() {
    for mut scene in [Scene::remote().await, Scene::collocated().await] {
        // The servant returns when the handler of another call has run, and this task alone has a thread.
        let (worker, handler) = (scene.worker.clone(), scene.handler.clone());
        worker.sendc_twice(&handler, 1);
        let releases = spawn({
            let worker = worker.clone();
            async move {
                assert_eq!(scene.next().await, Twice(2));
                worker.release().await.unwrap();
                scene
            }
        });
        in_time(worker.wait()).await.unwrap();
        in_time(releases).await.unwrap().end().await;
    }
}

/// A handler that tries to lock what its caller holds.
struct Locking(Arc<Mutex<()>>, mpsc::UnboundedSender<bool>);

impl AmiBaseHandler for Locking {
    async fn twice(&self, _: i32) -> Result<(), SystemException> {
        self.1.send(self.0.try_lock().is_ok()).unwrap();
        Ok(())
    }

    async fn twice_excep(&self, error: &SystemException) -> Result<(), SystemException> {
        panic!("{error}")
    }
}

#[tokio::test]
async fn a_handler_is_never_called_within_the_call() {
    let scene = Scene::collocated().await;
    let (lock, (sender, mut locked)) = (Arc::new(Mutex::new(())), mpsc::unbounded_channel());
    let handler = ami::AmiBaseHandlerServant::new(Locking(Arc::clone(&lock), sender));
    let handler = scene.client.root_poa().activate(handler).unwrap();
    let held = lock.lock().unwrap();
    scene.worker.sendc_twice(&handler, 1);
    drop(held);
    assert!(in_time(locked.recv()).await.unwrap());
    scene.end().await;
}

#[tokio::test]
async fn a_time_limit_ends_in_the_handler() {
    let mut scene = Scene::remote().await;
    let limit = Duration::from_millis(20);
    let (worker, handler) = (scene.worker.clone(), scene.handler.clone());
    worker.with_round_trip_timeout(limit).sendc_wait(&handler);
    assert!(matches!(scene.next().await, Failed(Kind::Timeout, _)));
    // The policies are those of the caller when it sends.
    let policies = PolicyOverrides::new().relative_round_trip_timeout(limit);
    policies.scope(async { worker.sendc_wait(&handler) }).await;
    assert!(matches!(scene.next().await, Failed(Kind::Timeout, _)));
    let poller = worker.with_round_trip_timeout(limit).sendp_wait();
    let error = in_time(poller.wait(None)).await.unwrap_err();
    assert_eq!(
        (error.kind, poller.is_from_poller()),
        (Kind::Timeout, false)
    );
    scene.end().await;
}

#[tokio::test]
async fn handlers_that_panic_or_never_return_delay_no_other() {
    for mut scene in [Scene::remote().await, Scene::collocated().await] {
        let (worker, handler) = (scene.worker.clone(), scene.handler.clone());
        for n in 0..8 {
            // The handler panics, and never returns.
            worker.sendc_release(&handler);
            worker.sendc_fail(&handler);
            worker.sendc_twice(&handler, n);
            assert_eq!(scene.next().await, Twice(2 * n));
        }
        // The upcalls that never return would hold up a shutdown that waits.
        scene.client.shutdown(false).await.unwrap();
        scene.server.shutdown(false).await.unwrap();
    }
}

#[tokio::test]
async fn calls_that_wait_at_a_shutdown_end_once() {
    for mut scene in [Scene::remote().await, Scene::collocated().await] {
        let (worker, handler) = (scene.worker.clone(), scene.handler.clone());
        for _ in 0..3 {
            worker.sendc_wait(&handler);
        }
        worker.sendc_wait(None);
        let poller = worker.sendp_wait();
        assert!(!poller.is_ready(Some(Duration::ZERO)).await);
        in_time(scene.client.shutdown(false)).await.unwrap();
        for _ in 0..3 {
            let event = scene.next().await;
            assert_eq!(event, Failed(Kind::BadInvOrder, minor::ORB_SHUT_DOWN));
        }
        let error = in_time(poller.wait(None)).await.unwrap_err();
        assert_eq!(error.minor, minor::ORB_SHUT_DOWN);
        assert!(scene.events.try_recv().is_err());
        scene.server.shutdown(false).await.unwrap();
    }
}

#[tokio::test]
async fn a_shutdown_waits_for_the_handlers_of_calls_that_it_ends() {
    let mut scene = Scene::remote().await;
    for _ in 0..3 {
        scene.worker.sendc_wait(&scene.handler);
    }
    in_time(scene.client.shutdown(true)).await.unwrap();
    for _ in 0..3 {
        let event = scene.events.try_recv().unwrap();
        assert_eq!(event, Failed(Kind::BadInvOrder, minor::ORB_SHUT_DOWN));
    }
    scene.server.shutdown(false).await.unwrap();
}

#[tokio::test]
async fn calls_of_a_runtime_that_ends_end_once() {
    let mut scene = Scene::remote().await;
    let (worker, handler) = (scene.worker.clone(), scene.handler.clone());
    let other = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let begun = other.spawn(async move {
        worker.sendc_wait(&handler);
        worker.sendp_wait()
    });
    let poller = in_time(begun).await.unwrap();
    other.shutdown_background();
    assert!(matches!(scene.next().await, Failed(Kind::BadInvOrder, _)));
    let error = in_time(poller.wait(None)).await.unwrap_err();
    assert_eq!(error.kind, Kind::BadInvOrder);
    assert!(scene.events.try_recv().is_err());
    scene.end().await;
}

#[tokio::test]
async fn a_poller_hands_its_reply_out_once() {
    for scene in [Scene::remote().await, Scene::collocated().await] {
        let worker = &scene.worker;
        let poller: AmiBasePoller = worker.sendp_twice(4);
        assert_eq!(in_time(poller.twice(None)).await.unwrap(), 8);
        let again = in_time(poller.twice(None)).await.unwrap_err();
        assert_eq!(again.kind, Kind::ObjectNotExist);
        assert_eq!(again.minor, minor::REPLY_DELIVERED);
        assert!(poller.is_from_poller());
        let poller: AmiWorkerPoller = worker.sendp_work("refuse", b"abc".to_vec(), point(), None);
        let forever = Some(Duration::from_secs(60));
        assert!(in_time(poller.is_ready(forever)).await);
        let error = poller.work(Some(Duration::ZERO)).await.unwrap_err();
        let WorkError::Refused(refused) = error else {
            panic!("{error}");
        };
        assert_eq!((&*refused.why, poller.is_from_poller()), ("é", false));
        worker.sendp_set_name("Eve").set_name(None).await.unwrap();
        let name = worker.sendp_get_name();
        assert_eq!(name.operation_name(), "get_name");
        assert_eq!(name.operation_target(), worker.as_object());
        assert_eq!(in_time(name.get_name(None)).await.unwrap(), "Eve");
        scene.end().await;
    }
}

#[tokio::test]
async fn a_poller_says_that_there_is_no_reply_yet() {
    let scene = Scene::remote().await;
    let poller = scene.worker.sendp_wait();
    let at_once = poller.wait(Some(Duration::ZERO)).await.unwrap_err();
    assert_eq!(at_once.kind, Kind::NoResponse);
    let waited = poller.wait(Some(Duration::from_millis(1))).await;
    assert_eq!(waited.unwrap_err().kind, Kind::Timeout);
    assert!(poller.is_from_poller());
    let other = poller.twice(None).await.unwrap_err();
    assert_eq!(other.kind, Kind::BadOperation);
    in_time(scene.worker.release()).await.unwrap();
    in_time(poller.wait(None)).await.unwrap();
    scene.end().await;
}

#[tokio::test]
async fn a_poller_passes_its_reply_to_a_handler() {
    let mut scene = Scene::remote().await;
    let handler = ReplyHandlerRef::from(scene.handler.clone());
    // Before there is a reply …
    let poller = scene.worker.sendp_wait();
    poller.set_associated_handler(&handler).unwrap();
    assert_eq!(poller.associated_handler(), Some(handler.clone()));
    // … which the handler gets although nobody has the poller.
    drop(poller);
    in_time(scene.worker.release()).await.unwrap();
    assert_eq!(scene.next().await, Waited);
    // … and when it is there.
    let poller = scene.worker.sendp_twice(3);
    assert!(in_time(poller.is_ready(None)).await);
    poller.set_associated_handler(&handler).unwrap();
    assert_eq!(scene.next().await, Twice(6));
    let gone = poller.set_associated_handler(&handler).unwrap_err();
    assert_eq!(gone.minor, minor::REPLY_DELIVERED);
    // Pollers of different interfaces are of one type.
    let poller: Poller = scene.worker.sendp_twice(3).into();
    assert!(in_time(poller.is_ready(None)).await);
    scene.end().await;
}

#[tokio::test]
async fn a_poller_that_is_dropped_cancels_its_call() {
    let scene = Scene::remote().await;
    drop(scene.worker.sendp_wait());
    // The first one was cancelled, or this would be for it.
    let second = scene.worker.sendp_wait();
    in_time(scene.worker.release()).await.unwrap();
    in_time(scene.worker.release()).await.unwrap();
    in_time(second.wait(None)).await.unwrap();
    scene.end().await;
}

/// A handler whose calls never return.
struct Stuck(mpsc::UnboundedSender<()>);

impl AmiBaseHandler for Stuck {
    async fn twice(&self, _: i32) -> Result<(), SystemException> {
        self.0.send(()).unwrap();
        pending().await
    }

    async fn twice_excep(&self, error: &SystemException) -> Result<(), SystemException> {
        panic!("{error}")
    }
}

#[tokio::test]
async fn a_shutdown_with_a_limit_drops_handlers_that_never_return() {
    for mut scene in [Scene::remote().await, Scene::collocated().await] {
        let (sender, mut begun) = mpsc::unbounded_channel();
        let stuck = ami::AmiBaseHandlerServant::new(Stuck(sender));
        let stuck = scene.client.root_poa().activate(stuck).unwrap();
        for n in 0..3 {
            scene.worker.sendc_twice(&stuck, n);
            in_time(begun.recv()).await.unwrap();
        }
        // Nobody else waits for them.
        let (worker, handler) = (scene.worker.clone(), scene.handler.clone());
        worker.sendc_twice(&handler, 4);
        assert_eq!(scene.next().await, Twice(8));
        let limit = Duration::from_millis(10);
        let report = in_time(scene.client.shutdown_within(limit)).await.unwrap();
        assert!(report.is_complete, "{report:?}");
        assert_eq!((report.upcalls_dropped, report.upcalls_left), (3, 0));
        in_time(scene.server.shutdown(true)).await.unwrap();
    }
}

#[tokio::test]
async fn any_of_several_calls_is_waited_for() {
    for scene in [Scene::remote().await, Scene::collocated().await] {
        let mut set = PollableSet::new();
        assert!(set.is_empty());
        assert!(in_time(set.ready(None)).await.unwrap().is_none());
        let worker = &scene.worker;
        set.add("waits", worker.sendp_wait());
        let wait = worker.as_object().request("wait");
        set.add("waits, too", wait.send_deferred());
        // Neither has ended.
        let at_once = set.ready(Some(Duration::ZERO)).await.unwrap_err();
        assert_eq!(at_once.kind, Kind::NoResponse);
        let late = set.ready(Some(Duration::from_millis(1))).await.unwrap_err();
        assert_eq!(late.kind, Kind::Timeout);
        assert_eq!(set.len(), 2);

        // A later one ends first.
        set.add("twice", worker.sendp_twice(4));
        let (key, call) = in_time(set.ready(None)).await.unwrap().unwrap();
        assert_eq!((key, set.len()), ("twice", 2));
        let Pollable::Poller(poller) = call else {
            panic!("a poller");
        };
        let poller = AmiBasePoller::from(poller);
        assert_eq!(poller.twice(Some(Duration::ZERO)).await.unwrap(), 8);
        let twice = worker.as_object().request("twice");
        let twice = twice.argument(zorb::Any::new(&5_i32).unwrap());
        let twice = twice.returns(zorb::TypeCode::of::<i32>());
        set.add("dynamic", twice.send_deferred());
        let minute = Some(Duration::from_secs(60));
        let (key, call) = in_time(set.ready(minute)).await.unwrap().unwrap();
        assert_eq!(key, "dynamic");
        let Pollable::Response(response) = call else {
            panic!("a response");
        };
        let response = response.await.unwrap().result.unwrap();
        assert_eq!(response.extract::<i32>().unwrap(), 10);

        // One is taken out, and goes on.
        assert!(set.remove(&"nothing").is_none());
        let removed = set.remove(&"waits").unwrap();
        in_time(worker.release()).await.unwrap();
        in_time(worker.release()).await.unwrap();
        let (key, _) = in_time(set.ready(None)).await.unwrap().unwrap();
        assert_eq!((key, set.is_empty()), ("waits, too", true));
        let Pollable::Poller(poller) = removed else {
            panic!("a poller");
        };
        in_time(AmiWorkerPoller::from(poller).wait(None))
            .await
            .unwrap();
        scene.end().await;
    }
}

#[tokio::test]
async fn calls_of_a_set_end_once_when_the_orb_shuts_down_and_are_cancelled_with_it() {
    let scene = Scene::remote().await;
    let mut set = PollableSet::new();
    for n in 0..3 {
        set.add(n, scene.worker.sendp_wait());
        set.add(n, scene.worker.as_object().request("wait").send_deferred());
    }
    in_time(scene.client.shutdown(true)).await.unwrap();
    let mut ended = Vec::new();
    while let Some((n, call)) = in_time(set.ready(None)).await.unwrap() {
        ended.push(n);
        let error = match call {
            Pollable::Poller(poller) => AmiWorkerPoller::from(poller).wait(None).await,
            Pollable::Response(response) => match response.await.unwrap_err() {
                zorb::RequestError::System(error) => Err(error),
                other => panic!("{other}"),
            },
        };
        assert_eq!(error.unwrap_err().kind, Kind::BadInvOrder);
    }
    assert_eq!(ended, [0, 0, 1, 1, 2, 2]);
    scene.server.shutdown(false).await.unwrap();

    // Without the set nobody waits for the calls.
    let scene = Scene::remote().await;
    let mut set = PollableSet::new();
    set.add((), scene.worker.sendp_wait());
    set.add((), scene.worker.as_object().request("wait").send_deferred());
    drop(set);
    scene.end().await;
}
