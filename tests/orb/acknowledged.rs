//! One-way calls whose caller waits for the server or for the servant: what is reported of servants that raise, and of
//! servant managers that forward.

use crate::savings::in_time;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use tokio::sync::Notify;
use zorb::{
    CompletionStatus as Completed, Forward, IdAssignment, Interface, ObjectId, Orb, Poa, Policies,
    RequestProcessing, Servant, ServantActivator, ServantLocator, ServantManagerError,
    ServantRetention, SyncScope, SystemException, SystemExceptionKind as Kind, Version, minor,
};

zorb::idl! {
    module Acknowledged {
        interface Bell {
            /// Raises a system exception: at once, or after it has waited.
            oneway void fail(in boolean later);
            oneway void burst();
            oneway void ring();
            /// Waits for `let_go`.
            oneway void hold();
            void let_go();
            /// The one-way calls that have arrived.
            long rung();
        };
    };
}

use acknowledged::{Bell, BellRef, BellServant};

const SCOPES: [SyncScope; 3] = [
    SyncScope::WithTransport,
    SyncScope::WithServer,
    SyncScope::WithTarget,
];

#[derive(Default)]
struct Tower(AtomicI32, Notify);

impl Bell for Tower {
    async fn fail(&self, later: bool) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if later {
            tokio::task::yield_now().await;
        }
        Err(broken())
    }

    async fn burst(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("on purpose")
    }

    async fn ring(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn hold(&self) -> Result<(), SystemException> {
        self.1.notified().await;
        self.ring().await
    }

    async fn let_go(&self) -> Result<(), SystemException> {
        self.1.notify_one();
        Ok(())
    }

    async fn rung(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

fn broken() -> SystemException {
    SystemException::new(Kind::NoResources, 7, Completed::Maybe)
}

fn bell(tower: &Arc<Tower>) -> BellServant<Tower> {
    BellServant::from_arc(Arc::clone(tower))
}

async fn server() -> Orb {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    server
}

async fn seen_by(client: &Orb, bell: &BellRef) -> BellRef {
    let bell = client.string_to_object(&bell.to_string()).await;
    bell.unwrap().unchecked_narrow()
}

async fn arrive(tower: &Tower, expected: i32) {
    in_time(async {
        while tower.0.load(Ordering::Relaxed) < expected {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(tower.0.load(Ordering::Relaxed), expected);
}

#[tokio::test]
async fn a_servant_s_system_exception_reaches_a_caller_that_waits_for_the_servant_and_no_other() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let (server, tower) = (server().await, Arc::new(Tower::default()));
        let near: BellRef = server.root_poa().activate(bell(&tower)).unwrap();
        let client = Orb::builder().max_giop_version(version);
        let client = client.build().await.unwrap();
        let far = seen_by(&client, &near).await;
        let mut called = 0;
        for scope in SCOPES {
            let far = far.with_sync_scope(scope);
            // Versions before 1.2 have no way to ask for less than the servant.
            let is_reported = scope == SyncScope::WithTarget
                || scope == SyncScope::WithServer && version < Version::V1_2;
            for later in [false, true] {
                let raised = in_time(far.fail(later)).await.err();
                let found = raised.map(|it| (it.kind, it.minor, it.completed));
                let expected = (Kind::NoResources, 7, Completed::Maybe);
                assert_eq!(
                    found,
                    is_reported.then_some(expected),
                    "{version} {scope:?}"
                );
            }
            let raised = in_time(far.burst()).await.err();
            let found = raised.map(|it| (it.kind, it.minor));
            let expected = (Kind::Unknown, minor::SERVANT_PANICKED);
            assert_eq!(
                found,
                is_reported.then_some(expected),
                "{version} {scope:?}"
            );
            // Each has called the servant once, whatever was reported, and the connection serves others.
            called += 3;
            arrive(&tower, called).await;
            assert_eq!(in_time(far.rung()).await, Ok(called));
        }
        in_time(client.shutdown(true)).await.unwrap();
        in_time(server.shutdown(true)).await.unwrap();
    }
}

/// A servant activator and a servant locator: `moved` is elsewhere, `broken` is an error, and every other object is here.
struct Manager {
    here: Arc<Tower>,
    there: BellRef,
    /// Whether it answers at its first poll.
    at_once: bool,
}

impl Manager {
    async fn find(&self, id: &ObjectId) -> Result<Servant, ServantManagerError> {
        if !self.at_once {
            tokio::task::yield_now().await;
        }
        match id.as_ref() {
            b"burst" => panic!("on purpose"),
            b"moved" => Err(ServantManagerError::ForwardRequest(
                self.there.as_object().clone(),
            )),
            b"broken" => Err(broken().into()),
            _ => Ok(bell(&self.here).into()),
        }
    }
}

impl ServantActivator for Manager {
    async fn incarnate(&self, id: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
        self.find(id).await
    }
}

impl ServantLocator for Manager {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        Ok((self.find(id).await?, ()))
    }
}

/// CORBA 3.3 Part 1, SYNC_WITH_SERVER: forwards have happened when the reply is sent, which a POA does after it has asked its
/// servant manager.
#[tokio::test]
async fn an_acknowledged_call_waits_for_what_the_servant_manager_says() {
    let (server, client) = (server().await, Orb::builder().build().await.unwrap());
    let (here, there) = (Arc::new(Tower::default()), Arc::new(Tower::default()));
    let elsewhere: BellRef = server.root_poa().activate(bell(&there)).unwrap();
    let root = server.root_poa();
    let (mut rung_here, mut rung_there) = (0, 0);
    let retentions = [ServantRetention::Retain, ServantRetention::NonRetain];
    let ways = retentions.map(|retention| [true, false].map(|at_once| (retention, at_once)));
    for (retention, at_once) in ways.into_iter().flatten() {
        for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
            let policies = Policies::DEFAULT
                .with_id_assignment(IdAssignment::User)
                .with_servant_retention(retention)
                .with_request_processing(RequestProcessing::ServantManager);
            let name = format!("{retention:?} {scope:?} {at_once}");
            let poa = root.create_poa_with(&name, policies, Some(root.the_poa_manager()));
            let poa = poa.unwrap();
            let manager = Manager {
                here: Arc::clone(&here),
                there: elsewhere.clone(),
                at_once,
            };
            match retention {
                ServantRetention::Retain => poa.set_servant_manager(manager).unwrap(),
                ServantRetention::NonRetain => poa.set_servant_locator(manager).unwrap(),
            }
            let at = async |id: &str| {
                let reference = poa.create_reference_with_id(id).unwrap();
                seen_by(&client, &reference).await.with_sync_scope(scope)
            };
            in_time(at("moved").await.ring()).await.unwrap();
            rung_there += 1;
            arrive(&there, rung_there).await;
            let raised = in_time(at("broken").await.ring()).await;
            let raised = raised.map_err(|it| (it.kind, it.minor));
            assert_eq!(raised, Err((Kind::NoResources, 7)), "{name}");
            // The first call finds the servant, which may be there already for the second.
            let found = at("found").await;
            for _ in 0..2 {
                in_time(found.ring()).await.unwrap();
                rung_here += 1;
                arrive(&here, rung_here).await;
            }
            // A caller that waits for the server does not wait for the servant.
            if scope == SyncScope::WithServer {
                in_time(found.hold()).await.unwrap();
                in_time(found.let_go()).await.unwrap();
                rung_here += 1;
                arrive(&here, rung_here).await;
            }
            // Nor does a manager that panics leave its caller without a reply.
            let panicked = in_time(at("burst").await.ring()).await.is_err();
            assert_eq!(panicked, scope == SyncScope::WithTarget, "{name}");
            // The servant's own exception is no part of what the manager says.
            let raised = in_time(found.fail(true)).await.is_err();
            assert_eq!(raised, scope == SyncScope::WithTarget, "{name}");
            rung_here += 1;
            arrive(&here, rung_here).await;
        }
    }
    in_time(client.shutdown(true)).await.unwrap();
    in_time(server.shutdown(true)).await.unwrap();
}

/// A request whose object has no servant gets a reply, whatever becomes of it: of a forward whose closure panics, and of an
/// adapter without the servant manager that its policies want.
#[tokio::test]
async fn a_caller_of_an_object_without_a_servant_gets_a_reply_whatever_becomes_of_its_request() {
    let (server, client) = (server().await, Orb::builder().build().await.unwrap());
    let root = server.root_poa();
    let forward: BellRef = root
        .create_forward(Forward::by(|| panic!("on purpose")))
        .unwrap();
    let policies = Policies::DEFAULT
        .with_id_assignment(IdAssignment::User)
        .with_request_processing(RequestProcessing::ServantManager);
    let poa = root.create_poa_with("empty", policies, Some(root.the_poa_manager()));
    let missing: BellRef = poa.unwrap().create_reference_with_id("any").unwrap();
    for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
        let far = seen_by(&client, &forward).await.with_sync_scope(scope);
        let raised = in_time(far.ring()).await.map_err(|it| it.kind);
        let expected = match scope {
            SyncScope::WithServer => Ok(()),
            _ => Err(Kind::Unknown),
        };
        assert_eq!(raised, expected, "{scope:?}");
        let far = seen_by(&client, &missing).await.with_sync_scope(scope);
        let raised = in_time(far.ring()).await.map_err(|it| it.kind);
        assert_eq!(raised, Err(Kind::ObjAdapter), "{scope:?}");
    }
    in_time(client.shutdown(true)).await.unwrap();
    in_time(server.shutdown(true)).await.unwrap();
}
