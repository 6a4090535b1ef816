//! Blocking servants that block on futures themselves, in every place where their upcalls run.

use tokio::runtime::Handle;
use zorb::executor::Priority;
use zorb::real_time::{PriorityModelPolicy, RtPolicies};
use zorb::{
    Blocking, Interface, ObjectId, Orb, Poa, Policies, RequestProcessing, Servant, ServantLocator,
    ServantManagerError, ServantRetention, SystemException,
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
