//! Object adapters of ours as clients of other ORBs see them: servant managers that forward and fail, default servants,
//! states of POA managers, objects that come and go.
//!
//! The client is the ORB in the other's server program, which keeps a reference and calls it (`keep`, `call_kept`).

use crate::interop::idl::interop::{Node, NodeRef, NodeServant, PeerRef};
use crate::interop::jacorb::JACORB;
use crate::interop::nodes::host_node;
use crate::interop::omniorb::OMNIORB;
use crate::peers::{Brand, OUR_ORDER, Over, Way};
use crate::runner::raised;
use crate::support::{HANG, passed};
use std::sync::Arc;
use zorb::{
    CompletionStatus, IdAssignment, IdUniqueness, Interface, KeyProtection, ObjectId, Orb, Poa,
    PoaCurrent, Policies, RequestProcessing, Servant, ServantActivator, ServantLocator,
    ServantManagerError, ServantRetention, SystemException, SystemExceptionKind as Kind, Version,
};

type Raises<T> = Result<T, SystemException>;

/// A servant for any number of objects: the name of each is its id.
struct Row;

impl Node for Row {
    async fn name(&self) -> Raises<String> {
        Ok(PoaCurrent::get_object_id()?.to_string())
    }

    async fn bounced(&self) -> Raises<u32> {
        Ok(0)
    }

    async fn bounce(&self, _: i32, _: Option<NodeRef>) -> Raises<i32> {
        Ok(0)
    }
}

fn row() -> NodeServant<Row> {
    NodeServant::new(Row)
}

/// A servant manager of both kinds: what is elsewhere is forwarded, what is secret is refused.
#[derive(Clone)]
struct Rows(NodeRef);

impl Rows {
    fn find(&self, id: &ObjectId) -> Result<Servant, ServantManagerError> {
        match id.as_ref() {
            b"elsewhere" => Err(ServantManagerError::ForwardRequest(
                self.0.as_object().clone(),
            )),
            b"secret" => {
                Err(SystemException::new(Kind::NoPermission, 7, CompletionStatus::No).into())
            }
            b"none" => Err(SystemException::from(Kind::ObjectNotExist).into()),
            _ => Ok(row().into()),
        }
    }
}

impl ServantActivator for Rows {
    async fn incarnate(&self, id: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
        self.find(id)
    }
}

impl ServantLocator for Rows {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        Ok((self.find(id)?, ()))
    }
}

/// The other ORB, which calls, and our server.
struct World {
    caller: PeerRef,
    server: Orb,
    home: NodeRef,
}

impl World {
    /// The outcome of a call of the other ORB.
    async fn call(&self, node: &NodeRef) -> Raises<String> {
        self.caller.keep(node).await.expect("the other ORB answers");
        self.call_again().await
    }

    /// Calls the object that it has called before.
    async fn call_again(&self) -> Raises<String> {
        let called = tokio::time::timeout(HANG, self.caller.call_kept());
        called.await.expect("the call ends")
    }

    fn poa(&self, name: &str, policies: Policies) -> Poa {
        let root = self.server.root_poa();
        let poa = root.create_poa_with(name, policies, Some(root.the_poa_manager()));
        poa.expect("the only one of that name")
    }

    async fn objects_come_and_go(&self) {
        let poa = self.poa("map", Policies::PERSISTENT);
        let early: NodeRef = poa.create_reference_with_id("early").unwrap();
        raised(
            self.call(&early).await,
            Kind::ObjectNotExist,
            None::<CompletionStatus>,
        );
        for _ in 0..2 {
            poa.activate_object_with_id("early", row()).unwrap();
            assert_eq!(self.call(&early).await.unwrap(), "early");
            assert_eq!(self.call_again().await.unwrap(), "early");
            poa.deactivate_object(&early).unwrap();
            raised(
                self.call_again().await,
                Kind::ObjectNotExist,
                None::<CompletionStatus>,
            );
        }
        poa.destroy();
        raised(
            self.call_again().await,
            Kind::ObjectNotExist,
            None::<CompletionStatus>,
        );
    }

    async fn default_servants(&self) {
        let policies = Policies::PERSISTENT
            .with_id_uniqueness(IdUniqueness::Multiple)
            .with_request_processing(RequestProcessing::DefaultServant);
        for retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
            let poa = self.poa("table", policies.with_servant_retention(retention));
            let row_of = |id: &str| poa.create_reference_with_id::<NodeRef>(id).unwrap();
            raised(
                self.call(&row_of("early")).await,
                Kind::ObjAdapter,
                None::<CompletionStatus>,
            );
            poa.set_servant(row()).unwrap();
            for id in ["one", "other"] {
                assert_eq!(self.call(&row_of(id)).await.unwrap(), id);
            }
            poa.destroy();
        }
    }

    async fn servant_managers(&self) {
        let policies = Policies::PERSISTENT
            .with_id_uniqueness(IdUniqueness::Multiple)
            .with_request_processing(RequestProcessing::ServantManager);
        for retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
            let poa = self.poa("managed", policies.with_servant_retention(retention));
            let row_of = |id: &str| poa.create_reference_with_id::<NodeRef>(id).unwrap();
            raised(
                self.call(&row_of("early")).await,
                Kind::ObjAdapter,
                None::<CompletionStatus>,
            );
            let rows = Rows(self.home.clone());
            match retention {
                ServantRetention::Retain => poa.set_servant_manager(rows).unwrap(),
                ServantRetention::NonRetain => poa.set_servant_locator(rows).unwrap(),
            }
            for _ in 0..2 {
                assert_eq!(self.call(&row_of("one")).await.unwrap(), "one");
                assert_eq!(self.call(&row_of("elsewhere")).await.unwrap(), "home");
                assert_eq!(self.call_again().await.unwrap(), "home");
                let refused = raised(
                    self.call(&row_of("secret")).await,
                    Kind::NoPermission,
                    CompletionStatus::No,
                );
                assert_eq!(refused.minor, 7);
                raised(
                    self.call(&row_of("none")).await,
                    Kind::ObjectNotExist,
                    None::<CompletionStatus>,
                );
            }
            if retention == ServantRetention::Retain {
                // Incarnated again when it is called again.
                poa.deactivate_object_with_id("one").unwrap();
                assert_eq!(self.call(&row_of("one")).await.unwrap(), "one");
            }
            poa.destroy();
        }
    }

    async fn manager_states(&self) {
        let root = self.server.root_poa();
        for with_object in [true, false] {
            let poa = root.create_poa_with("held", Policies::PERSISTENT, None);
            let poa = poa.expect("the only one of that name");
            let manager = poa.the_poa_manager();
            let row_of = |id: &str| poa.create_reference_with_id::<NodeRef>(id).unwrap();
            if with_object {
                poa.activate_object_with_id("held", row()).unwrap();
            }
            // HOLDING: the call waits, also for an object that is not active yet.
            self.caller.keep(&row_of("held")).await.unwrap();
            let call = self.caller.clone();
            let call = tokio::spawn(async move { call.call_kept().await });
            let mut looks = 0;
            while looks < 200 && !call.is_finished() {
                looks += 1;
                // The other ORB answers calls meanwhile.
                self.caller.orb_name().await.unwrap();
            }
            if with_object {
                assert!(!call.is_finished(), "it is held");
            } else if call.is_finished() {
                // A client that asks first whether the object is there learns that it is not.
                raised(
                    call.await.unwrap(),
                    Kind::ObjectNotExist,
                    None::<CompletionStatus>,
                );
                poa.destroy();
                continue;
            } else {
                poa.activate_object_with_id("held", row()).unwrap();
            }
            manager.activate().unwrap();
            let held = tokio::time::timeout(HANG, call).await.expect("it ends");
            assert_eq!(held.unwrap().unwrap(), "held");
            manager.discard_requests().unwrap();
            raised(
                self.call_again().await,
                Kind::Transient,
                None::<CompletionStatus>,
            );
            manager.activate().unwrap();
            assert_eq!(self.call_again().await.unwrap(), "held");
            manager.deactivate();
            raised(
                self.call_again().await,
                Kind::ObjAdapter,
                None::<CompletionStatus>,
            );
            poa.destroy();
        }
    }

    async fn adapters_on_demand(&self) {
        let root = self.server.root_poa();
        let bank = self.poa("bank", Policies::PERSISTENT);
        let account: NodeRef = bank.create_reference_with_id("7").unwrap();
        bank.destroy();
        raised(
            self.call(&account).await,
            Kind::ObjectNotExist,
            None::<CompletionStatus>,
        );
        root.set_adapter_activator(|root, name| async move {
            let manager = Arc::clone(root.the_poa_manager());
            let bank = root.create_poa_with(&name, Policies::PERSISTENT, Some(&manager))?;
            bank.activate_object_with_id("7", row())?;
            Ok(true)
        })
        .unwrap();
        assert_eq!(self.call_again().await.unwrap(), "7");
        root.clear_adapter_activator().unwrap();
        root.find_poa("bank").expect("it has been made").destroy();
        raised(
            self.call_again().await,
            Kind::ObjectNotExist,
            None::<CompletionStatus>,
        );
    }

    async fn kinds_of_keys(&self) {
        let user = Policies::DEFAULT.with_id_assignment(IdAssignment::User);
        let authenticated = KeyProtection::Authenticated;
        for (name, policies) in [
            ("transient", user),
            ("persistent", Policies::PERSISTENT),
            ("authenticated", user.with_key_protection(authenticated)),
        ] {
            let poa = self.poa(name, policies);
            // Octets of all kinds, and the empty id.
            for (id, shown) in [(&b"a\0\xff/%"[..], "a\\x00\\xff/%"), (b"", "")] {
                let node = poa.activate_object_with_id(id, row()).unwrap();
                assert_eq!(self.call(&node).await.unwrap(), shown);
            }
            poa.destroy();
        }
        let ids = zorb::object_ids!["main"];
        let root = self.server.root_poa();
        let manager = Some(root.the_poa_manager());
        let fixed = root.create_poa_of_ids("fixed", Policies::PERSISTENT, manager, ids);
        let main = fixed.unwrap().activate_object_with_id("main", row());
        assert_eq!(self.call(&main.unwrap()).await.unwrap(), "main");
    }
}

/// The other ORB's client in a version of GIOP.
async fn calls_objects_of_every_kind(brand: &'static Brand, giop: &str) {
    let prefix = format!(
        "{}-zorb/giop{giop}/{}-{OUR_ORDER}/tcp/adapters",
        brand.name, brand.order
    );
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, Over::Tcp, (brand.limit)(giop));
    let (_theirs, reference) = way.start();
    let client = Orb::builder().build().await.expect("a client");
    let peer = client.string_to_object(&reference).await;
    let version = match giop {
        "1.0" => Version::V1_0,
        _ => Version::V1_2,
    };
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .max_giop_version(version)
        .build()
        .await
        .expect("the ORB listens");
    let manager = server.root_poa();
    manager.the_poa_manager().activate().expect("not inactive");
    let (home, _) = host_node(&server, "home", false);
    let world = World {
        caller: peer.expect("a reference").unchecked_narrow(),
        server,
        home,
    };
    world.objects_come_and_go().await;
    passed(&format!("{prefix}/come_and_go"));
    world.default_servants().await;
    passed(&format!("{prefix}/default_servants"));
    world.servant_managers().await;
    passed(&format!("{prefix}/servant_managers"));
    world.manager_states().await;
    passed(&format!("{prefix}/manager_states"));
    world.adapters_on_demand().await;
    passed(&format!("{prefix}/on_demand"));
    world.kinds_of_keys().await;
    passed(&format!("{prefix}/keys"));
    world
        .server
        .shutdown(true)
        .await
        .expect("outside any upcall");
    client.shutdown(true).await.expect("outside any upcall");
}

#[tokio::test(flavor = "multi_thread")]
async fn omniorb_s_client_sees_what_the_policies_of_our_adapters_say() {
    calls_objects_of_every_kind(&OMNIORB, "1.0").await;
    calls_objects_of_every_kind(&OMNIORB, "1.2").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jacorb_s_client_sees_what_the_policies_of_our_adapters_say() {
    calls_objects_of_every_kind(&JACORB, "1.0").await;
    calls_objects_of_every_kind(&JACORB, "1.2").await;
}
