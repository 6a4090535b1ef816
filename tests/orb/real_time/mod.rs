//! Real-time CORBA over real sockets: which thread, at which native priority, runs an upcall.

mod allocations;
mod clients;
mod contexts;
mod network;
mod pools;
mod protocols;
mod servers;

use std::sync::Arc;
use zorb::executor::{NativePriority, Priority, Scheduling, current_thread_scheduling};
use zorb::real_time::{PriorityModelPolicy, RtPolicies, Threadpool, ThreadpoolLane};
use zorb::{Error, Orb, Poa, Policies, SystemException, SystemExceptionKind as Kind};

zorb::idl! {
    module Prioritised {
        struct Spot {
            // -1: none.
            short priority;
            long scheduled;
            string thread;
        };
        interface Probe {
            Spot place();
            // Sets the priority, awaits, and says where it is then.
            Spot change(in short priority);
            // Is served when `open` is called.
            Spot wait();
            void open();
            // As `open`.
            oneway void pass();
        };
    };
}
use prioritised::{Probe, ProbeRef, ProbeServant, Spot};

/// A servant that says where it runs.
struct Teller {
    orb: Orb,
    gate: Arc<tokio::sync::Semaphore>,
}

impl Teller {
    fn new(orb: &Orb) -> ProbeServant<Self> {
        ProbeServant::new(Self {
            orb: orb.clone(),
            gate: Arc::new(tokio::sync::Semaphore::new(0)),
        })
    }

    fn here(&self) -> Spot {
        let priority = self.orb.rt_current().the_priority();
        let (scheduling, native) = current_thread_scheduling().unwrap();
        let native = match scheduling {
            Scheduling::Inherited => NativePriority(0),
            _ => native,
        };
        Spot {
            priority: priority.map_or(-1, |priority| priority.0),
            scheduled: native.0,
            thread: std::thread::current().name().unwrap_or_default().to_owned(),
        }
    }
}

impl Probe for Teller {
    async fn place(&self) -> Result<Spot, SystemException> {
        let before = self.here();
        tokio::task::yield_now().await;
        assert_eq!(before.priority, self.here().priority);
        Ok(self.here())
    }

    async fn change(&self, priority: i16) -> Result<Spot, SystemException> {
        self.orb.rt_current().set_the_priority(Priority(priority))?;
        tokio::task::yield_now().await;
        Ok(self.here())
    }

    async fn wait(&self) -> Result<Spot, SystemException> {
        self.gate.acquire().await.unwrap().forget();
        Ok(self.here())
    }

    async fn open(&self) -> Result<(), SystemException> {
        self.gate.add_permits(1);
        Ok(())
    }

    async fn pass(&self) -> Result<(), SystemException> {
        self.open().await
    }
}

const LOCAL: &str = "iiop://127.0.0.1:0";

/// Whether this process may have real-time priorities: root, or with the privilege.
fn may_be_real_time() -> bool {
    let tried = std::thread::spawn(|| Scheduling::Fifo.apply(NativePriority(1)));
    tried.join().unwrap().is_ok()
}

/// The scheduling of a test: real-time where the process may have it. Elsewhere everything but the native priorities is the
/// same.
fn scheduling() -> Scheduling {
    match may_be_real_time() {
        true => Scheduling::Fifo,
        false => Scheduling::Inherited,
    }
}

/// The native priority of a thread, where the process may have real-time ones.
fn native(priority: i32) -> i32 {
    if may_be_real_time() { priority } else { 0 }
}

async fn server() -> Orb {
    Orb::builder()
        .listen(LOCAL)
        .scheduling(scheduling())
        .priority_mapping(zorb::executor::DirectMapping)
        .build()
        .await
        .unwrap()
}

async fn client() -> Orb {
    Orb::builder().build().await.unwrap()
}

fn poa(orb: &Orb, name: &str, policies: RtPolicies) -> Result<Poa, Error> {
    let manager = orb.root_poa().the_poa_manager().clone();
    manager.activate().unwrap();
    let root = orb.root_poa();
    root.create_rt_poa(name, Policies::default(), policies, Some(&manager))
}

async fn lanes(orb: &Orb, priorities: &[i16]) -> Threadpool {
    let lanes = priorities
        .iter()
        .map(|priority| ThreadpoolLane::new(Priority(*priority), 1).listen(LOCAL));
    let options = zorb::real_time::ThreadpoolOptions::with_lanes(lanes);
    orb.rt_orb().create_threadpool(options).await.unwrap()
}

/// The same object, as another ORB reaches it.
async fn seen_by(orb: &Orb, object: &ProbeRef) -> ProbeRef {
    let text = zorb::Interface::as_object(object).to_string();
    let object = orb.string_to_object(&text).await.unwrap();
    object.unchecked_narrow()
}

fn declared(priority: i16) -> RtPolicies {
    RtPolicies::new().priority_model(PriorityModelPolicy::server_declared(Priority(priority)))
}

fn propagated(priority: i16) -> RtPolicies {
    RtPolicies::new().priority_model(PriorityModelPolicy::client_propagated(Priority(priority)))
}

#[track_caller]
fn raises<T: std::fmt::Debug>(result: Result<T, SystemException>, kind: Kind, minor: u32) {
    let error = result.unwrap_err();
    assert_eq!((error.kind, error.minor & 0xfff), (kind, minor), "{error}");
}
