//! Blocking servants that block on futures themselves, in every place where their upcalls run.

use crate::support::HANG;
use tokio::runtime::Handle;
use zorb::blocking::Wait;
use zorb::executor::{Dispatch, Priority, WorkerPool};
use zorb::real_time::{PriorityModelPolicy, RtPolicies};
use zorb::{
    Any, Blocking, IdUniqueness, Interface, ObjectId, Orb, Poa, Policies, RequestProcessing,
    Servant, ServantLocator, ServantManagerError, ServantRetention, SystemException,
};

zorb::idl! {
    module BlockOn {
        interface Sum {
            long add(in long a, in long b);
            oneway void forget(in long a);
        };
    };
}

use block_on::{Sum, SumRef, SumServant};

/// Awaits on the thread of its upcall, as a servant does that calls a library of futures.
struct Awaits(tokio::sync::mpsc::UnboundedSender<i32>);

fn awaited(n: i32) -> i32 {
    Handle::current().block_on(async {
        tokio::task::yield_now().await;
        n
    })
}

impl Sum for Awaits {
    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(awaited(a) + awaited(b))
    }

    async fn forget(&self, a: i32) -> Result<(), SystemException> {
        self.0.send(awaited(a)).unwrap();
        Ok(())
    }
}

/// Finds the same servant for each request.
struct Finds(Servant);

impl ServantLocator for Finds {
    type Cookie = ();

    async fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        Ok((self.0.clone(), ()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_servant_may_block_on_futures_whichever_thread_runs_it() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let client = Orb::builder().build().await.unwrap();
    let root = server.root_poa();
    let manager = root.the_poa_manager();
    manager.activate().unwrap();
    let (sent, mut forgotten) = tokio::sync::mpsc::unbounded_channel();
    let servant = || Blocking(SumServant::new(Awaits(sent.clone())));

    let ordinary: SumRef = root.activate(servant()).unwrap();

    let model = PriorityModelPolicy::server_declared(Priority(7));
    let policies = RtPolicies::new().priority_model(model);
    let scheduled = root.create_rt_poa("scheduled", Policies::default(), policies, Some(manager));
    let scheduled: SumRef = scheduled.unwrap().activate(servant()).unwrap();

    let policies = Policies::PERSISTENT
        .with_servant_retention(ServantRetention::NonRetain)
        .with_request_processing(RequestProcessing::ServantManager);
    let located = root
        .create_poa_with("located", policies, Some(manager))
        .unwrap();
    located
        .set_servant_locator(Finds(servant().into()))
        .unwrap();
    let located: SumRef = located.create_reference_with_id("sum").unwrap();

    for (place, here) in [
        ("ordinary", ordinary),
        ("scheduled", scheduled),
        ("located", located),
    ] {
        let ior = here.as_object().to_string();
        let far: SumRef = client
            .string_to_object(&ior)
            .await
            .unwrap()
            .unchecked_narrow();
        assert_eq!(far.add(40, 2).await, Ok(42), "{place}");
        far.forget(1).await.unwrap();
        assert_eq!(forgotten.recv().await, Some(1), "{place}, one-way");
        here.forget(2).await.unwrap();
        assert_eq!(forgotten.recv().await, Some(2), "{place}, collocated");
    }
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

zorb::idl! {
    module Placed {
        interface Gate {
            /// Blocks its thread until another task of the runtime has run: at once, or behind an await.
            void pass(in boolean later);
            oneway void pass_one_way(in boolean later);
        };
    };
}

use placed::{Gate, GateRef, GateServant};

/// Blocks the thread of its upcall until a task of the runtime lets it go, and reports whether one did.
struct Keeper {
    entered: tokio::sync::mpsc::UnboundedSender<std::sync::mpsc::Sender<()>>,
    passed: tokio::sync::mpsc::UnboundedSender<(bool, String)>,
}

impl Gate for Keeper {
    async fn pass(&self, later: bool) -> Result<(), SystemException> {
        if later {
            tokio::task::yield_now().await;
        }
        let (open, gate) = std::sync::mpsc::channel();
        self.entered.send(open).unwrap();
        let opened = gate.recv_timeout(HANG).is_ok();
        let thread = std::thread::current();
        let name = thread.name().unwrap_or_default().to_owned();
        self.passed.send((opened, name)).unwrap();
        Ok(())
    }

    async fn pass_one_way(&self, later: bool) -> Result<(), SystemException> {
        self.pass(later).await
    }
}

/// Calls of all kinds to servants that block, on a server whose runtime has one worker.
fn check_places(what: &str, dispatch: fn() -> Dispatch, is_blocking: bool, thread: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let client = Orb::builder().build_blocking().unwrap();
    runtime.block_on(async {
        let (entered, mut gates) =
            tokio::sync::mpsc::unbounded_channel::<std::sync::mpsc::Sender<()>>();
        let (passed, mut outcomes) = tokio::sync::mpsc::unbounded_channel();
        // A task of the only worker, which cannot run while an upcall holds that.
        tokio::spawn(async move {
            while let Some(gate) = gates.recv().await {
                let _ = gate.send(());
            }
        });
        let server = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .dispatch(dispatch());
        let server = server.build().await.unwrap();
        let root = server.root_poa();
        let manager = root.the_poa_manager();
        manager.activate().unwrap();
        let gate = || {
            GateServant::new(Keeper {
                entered: entered.clone(),
                passed: passed.clone(),
            })
        };
        let servant = || match is_blocking {
            true => Servant::from(Blocking(gate())),
            false => Servant::from(gate()),
        };
        let ordinary: GateRef = match is_blocking {
            true => root.activate(Blocking(gate())).unwrap(),
            false => root.activate(gate()).unwrap(),
        };
        let policies = |processing| {
            Policies::PERSISTENT
                .with_servant_retention(ServantRetention::NonRetain)
                .with_id_uniqueness(IdUniqueness::Multiple)
                .with_request_processing(processing)
        };
        let poa = |name, processing| {
            root.create_poa_with(name, policies(processing), Some(manager))
                .unwrap()
        };
        let located = poa("located", RequestProcessing::ServantManager);
        located.set_servant_locator(Finds(servant())).unwrap();
        let located: GateRef = located.create_reference_with_id("gate").unwrap();
        let default = poa("default", RequestProcessing::DefaultServant);
        default.set_servant(servant()).unwrap();
        let default: GateRef = default.create_reference_with_id("gate").unwrap();
        for (place, here) in [
            ("ordinary", ordinary),
            ("located", located),
            ("default", default),
        ] {
            let far = client.string_to_object(&here.to_string()).unwrap();
            let far: GateRef = far.unchecked_narrow();
            for later in [false, true] {
                for call in [
                    "call",
                    "one-way",
                    "collocated one-way",
                    "dynamic one-way",
                    "held one-way",
                ] {
                    let what = format!("{what}, {place}, {call}, later: {later}");
                    match call {
                        "call" => {
                            let far = far.clone();
                            let calling = std::thread::spawn(move || far.pass(later).wait());
                            check_place(&what, thread, outcomes.recv().await.unwrap());
                            calling.join().unwrap().unwrap();
                            continue;
                        }
                        "one-way" => far.pass_one_way(later).wait().unwrap(),
                        "collocated one-way" => here.pass_one_way(later).await.unwrap(),
                        "dynamic one-way" => {
                            let request = here.as_object().request("pass_one_way");
                            request
                                .argument(Any::new(&later).unwrap())
                                .send()
                                .await
                                .unwrap();
                        }
                        _ => {
                            manager.hold_requests().unwrap();
                            here.pass_one_way(later).await.unwrap();
                            manager.activate().unwrap();
                        }
                    }
                    check_place(&what, thread, outcomes.recv().await.unwrap());
                }
            }
            if thread != "pool" && !is_blocking {
                // Its caller begins it, on a thread that is no worker here. The rest of one of a blocking servant is a task.
                let calling = tokio::join!(here.pass(true), outcomes.recv());
                calling.0.unwrap();
                let what = format!("{what}, {place}, collocated call");
                check_place(&what, thread, calling.1.unwrap());
            }
        }
        server.shutdown(true).await.unwrap();
    });
    client.shutdown(true).unwrap();
}

/// The upcall held no worker, and ran on a thread of this name.
fn check_place(what: &str, thread: &str, (opened, name): (bool, String)) {
    assert!(opened, "{what}: the upcall holds the worker of the runtime");
    assert!(name.starts_with(thread), "{what}: on thread {name:?}");
}

#[test]
fn under_a_pool_no_upcall_holds_a_worker_of_the_runtime() {
    let pool = || {
        let builder = WorkerPool::builder().name("pool").threads(2);
        Dispatch::Pool(builder.build().unwrap())
    };
    check_places("pool", pool, false, "pool");
}

#[test]
fn under_block_in_place_no_upcall_holds_a_worker_of_the_runtime() {
    check_places("in place", || Dispatch::BlockInPlace, false, "");
}

#[test]
fn no_upcall_of_a_blocking_servant_holds_a_worker_of_the_runtime() {
    check_places("blocking", || Dispatch::InPlace, true, "");
}
