//! Service contexts: those that calls carry, as servants read them, and those that servants add to replies.

use std::sync::{Arc, Mutex};
use zorb::executor::{Dispatch, WorkerPool};
use zorb::policy::{PolicyOverrides, ReplyContexts};
use zorb::real_time::{
    Priority, PriorityModelPolicy, RtPolicies, ThreadpoolLane, ThreadpoolOptions,
};
use zorb::{
    Blocking, CurrentRequest, Interface, NoContext, Orb, Poa, PoaCurrent, Policies, ServiceContext,
    ServiceContextId, SyncScope, SystemException, SystemExceptionKind as Kind, minor,
};

zorb::idl! {
    module Carried {
        exception Failed {};
        interface Callee {
            readonly attribute string name;
            // The contexts of the request, and `id` of the object.
            string seen(in boolean waits);
            // The same, over a chain of references.
            string relay(in Callee to);
            void fail(in boolean user) raises (Failed);
            oneway void note();
            string spawned(in boolean inherits);
            // Panics, at once or behind an await.
            void panic_there(in boolean later);
        };
    };
}

use carried::callee::FailError;
use carried::{Callee, CalleeRef, CalleeServant, Failed};

const ASKED: ServiceContextId = ServiceContextId(0x5a5a_0001);
const OTHER: ServiceContextId = ServiceContextId(0x5a5a_0002);
const ANSWERED: ServiceContextId = ServiceContextId(0x5a5a_0003);

fn context(id: ServiceContextId, data: &str) -> ServiceContext {
    let data = data.to_owned().into();
    ServiceContext { id, data }
}

fn text(data: Option<&[u8]>) -> String {
    data.map_or_else(
        || "-".to_owned(),
        |data| String::from_utf8(data.to_vec()).unwrap(),
    )
}

#[derive(Default)]
struct Servant {
    kept: Mutex<Option<CurrentRequest>>,
}

/// What a servant sees of its request; it adds a context to the reply.
fn seen() -> String {
    let request = PoaCurrent::get_request().unwrap();
    let asked = text(request.service_context(ASKED));
    let answer = context(ANSWERED, &format!("to {asked}"));
    request.set_reply_context(answer).unwrap();
    format!(
        "{}({asked}, {}) from {}, {}",
        request.operation(),
        text(request.service_context(OTHER)),
        request.peer().map_or("here", |peer| peer.endpoint.scheme()),
        request.is_response_expected(),
    )
}

impl Callee for Servant {
    async fn name(&self) -> Result<String, SystemException> {
        Ok(seen())
    }

    async fn seen(&self, waits: bool) -> Result<String, SystemException> {
        let first = seen();
        if waits {
            tokio::task::yield_now().await;
            assert_eq!(seen(), first);
        }
        let request = PoaCurrent::get_request()?;
        assert!(request.object_id().is_some());
        *self.kept.lock().unwrap() = Some(request);
        Ok(first)
    }

    async fn relay(&self, to: Option<CalleeRef>) -> Result<String, SystemException> {
        let before = seen();
        let nested = to.unwrap().seen(true).await?;
        assert_eq!(seen(), before);
        Ok(format!("{before}; {nested}"))
    }

    async fn fail(&self, user: bool) -> Result<(), FailError> {
        seen();
        match user {
            true => Err(Failed {}.into()),
            false => Err(SystemException::from(Kind::NoPermission).into()),
        }
    }

    async fn note(&self) -> Result<(), SystemException> {
        seen();
        *self.kept.lock().unwrap() = Some(PoaCurrent::get_request()?);
        Ok(())
    }

    async fn spawned(&self, inherits: bool) -> Result<String, SystemException> {
        let seen = || PoaCurrent::get_request().map(|_| seen());
        let request = PoaCurrent::get_request()?;
        let of_thread = {
            let request = request.clone();
            std::thread::spawn(move || match inherits {
                true => request.scope_blocking(seen),
                false => seen(),
            })
        };
        let of_thread = of_thread.join().unwrap();
        let work = async move {
            tokio::task::yield_now().await;
            seen()
        };
        let of_task = match inherits {
            true => tokio::spawn(request.scope(work)).await.unwrap(),
            false => tokio::spawn(work).await.unwrap(),
        };
        assert_eq!(of_thread, of_task);
        Ok(of_task.unwrap_or_else(|NoContext| "none".to_owned()))
    }

    async fn panic_there(&self, later: bool) -> Result<(), SystemException> {
        seen();
        if later {
            tokio::task::yield_now().await;
        }
        panic!("as asked");
    }
}

struct World {
    servant: Arc<Servant>,
    /// The object, by a client's reference and by one of its own ORB.
    far: CalleeRef,
    near: CalleeRef,
    _orbs: [Orb; 2],
}

async fn world(dispatch: Option<Dispatch>, blocks: bool) -> World {
    let mut server = Orb::builder().listen("iiop://127.0.0.1:0");
    if let Some(dispatch) = dispatch {
        server = server.dispatch(dispatch);
    }
    let server = server.build().await.unwrap();
    let poa = server.root_poa();
    world_of(server, &poa, blocks).await
}

async fn world_of(server: Orb, poa: &Poa, blocks: bool) -> World {
    poa.the_poa_manager().activate().unwrap();
    let servant = Arc::new(Servant::default());
    let skeleton = CalleeServant::from_arc(Arc::clone(&servant));
    let near: CalleeRef = match blocks {
        true => poa.activate(Blocking(skeleton)).unwrap(),
        false => poa.activate(skeleton).unwrap(),
    };
    let client = Orb::builder().build().await.unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    World {
        servant,
        far: far.unchecked_narrow(),
        near,
        _orbs: [server, client],
    }
}

async fn worlds() -> Vec<World> {
    let pool = WorkerPool::builder().threads(2).build().unwrap();
    vec![
        world(None, false).await,
        world(None, true).await,
        world(Some(Dispatch::Pool(pool)), false).await,
        of_threads(false).await,
        of_threads(true).await,
        of_real_time(false).await,
        of_real_time(true).await,
    ]
}

/// Each connection has a thread.
async fn of_threads(blocks: bool) -> World {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = tokio::task::spawn_blocking(|| server.build_blocking().unwrap());
    let server = Orb::clone(&server.await.unwrap());
    let poa = server.root_poa();
    world_of(server, &poa, blocks).await
}

/// A POA with a pool of its own, with lanes or without.
async fn of_real_time(with_lanes: bool) -> World {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let options = match with_lanes {
        false => ThreadpoolOptions::new(2, Priority(3)),
        true => ThreadpoolOptions::with_lanes([
            ThreadpoolLane::new(Priority(3), 2).listen("iiop://127.0.0.1:0")
        ]),
    };
    let pool = server.rt_orb().create_threadpool(options).await.unwrap();
    let model = PriorityModelPolicy::server_declared(Priority(3));
    let policies = RtPolicies::new().priority_model(model).threadpool(&pool);
    let poa = (server.root_poa())
        .create_rt_poa("scheduled", Policies::default(), policies, None)
        .unwrap();
    world_of(server, &poa, false).await
}

fn asks(asked: &str) -> PolicyOverrides {
    PolicyOverrides::new().service_context(context(ASKED, asked))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servant_reads_the_contexts_of_its_request_and_adds_some_to_its_reply_wherever_it_runs() {
    for world in worlds().await {
        // A reference with a code set of its own makes messages, also within the ORB.
        let other_set = PolicyOverrides::new().char_code_set(zorb::CharSet::Utf8);
        let message = world.near.with_policies(&other_set);
        for (callee, from) in [
            (&world.far, "iiop"),
            (&world.near, "here"),
            (&message, "here"),
        ] {
            for waits in [false, true] {
                let replied = ReplyContexts::new();
                let call = asks("who").reply_contexts(&replied);
                let seen = call.scope(callee.seen(waits)).await.unwrap();
                assert_eq!(seen, format!("seen(who, -) from {from}, true"));
                assert_eq!(text(replied.get(ANSWERED).as_deref()), "to who");
                // A call without the policies carries nothing, and changes nothing.
                let seen = callee.seen(waits).await.unwrap();
                assert_eq!(seen, format!("seen(-, -) from {from}, true"));
                assert_eq!(text(replied.get(ANSWERED).as_deref()), "to who");
                let seen = replied_name(callee, &replied).await;
                assert_eq!(seen, format!("_get_name(-, -) from {from}, true"));
                assert_eq!(text(replied.get(ANSWERED).as_deref()), "to -");
            }
            for user in [false, true] {
                let replied = ReplyContexts::new();
                let call = asks("why").reply_contexts(&replied);
                assert!(call.scope(callee.fail(user)).await.is_err());
                assert_eq!(text(replied.get(ANSWERED).as_deref()), "to why");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_added_to_a_reply_goes_with_the_exception_of_a_panic() {
    for world in worlds().await {
        for (callee, later) in [
            (&world.far, false),
            (&world.far, true),
            (&world.near, false),
            (&world.near, true),
        ] {
            let replied = ReplyContexts::new();
            let call = asks("panic").reply_contexts(&replied);
            let error = call.scope(callee.panic_there(later)).await.unwrap_err();
            assert_eq!(error.kind, Kind::Unknown);
            assert_eq!(text(replied.get(ANSWERED).as_deref()), "to panic");
            // None of it is left for the next request.
            let call = PolicyOverrides::new().reply_contexts(&replied);
            assert!(call.scope(callee.fail(true)).await.is_err());
            assert_eq!(text(replied.get(ANSWERED).as_deref()), "to -");
        }
    }
}

async fn replied_name(callee: &CalleeRef, replied: &ReplyContexts) -> String {
    let call = PolicyOverrides::new().reply_contexts(replied);
    callee.with_policies(&call).name().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contexts_of_reference_task_and_orb_are_merged_by_id() {
    let server = world(None, false).await;
    let policies = PolicyOverrides::new()
        .service_context(context(ASKED, "orb"))
        .service_context(context(OTHER, "all"));
    let client = Orb::builder().policies(&policies).build().await.unwrap();
    let far = client
        .string_to_object(&server.near.to_string())
        .await
        .unwrap();
    let far: CalleeRef = far.unchecked_narrow();
    let seen = far.seen(false).await.unwrap();
    assert_eq!(seen, "seen(orb, all) from iiop, true");
    let at_task = asks("task").scope(async {
        let of_task = far.seen(true).await.unwrap();
        let of_reference = far
            .with_policies(&asks("reference"))
            .seen(true)
            .await
            .unwrap();
        let inner = PolicyOverrides::new().service_context(context(OTHER, "inner"));
        let of_inner = inner.scope(far.seen(true)).await.unwrap();
        [of_task, of_reference, of_inner]
    });
    let expected = ["task, all", "reference, all", "task, inner"];
    assert_eq!(
        at_task.await,
        expected.map(|contexts| format!("seen({contexts}) from iiop, true"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contexts_do_not_leak_into_the_calls_of_a_servant() {
    for world in worlds().await {
        for callee in [&world.far, &world.near] {
            let relayed = asks("me").scope(callee.relay(&world.near)).await.unwrap();
            let (own, nested) = relayed.split_once("; ").unwrap();
            assert!(own.starts_with("relay(me, -)"), "{own}");
            assert_eq!(nested, "seen(-, -) from here, true");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spawned_work_is_a_part_of_the_request_if_it_is_told_so() {
    for world in worlds().await {
        for callee in [&world.far, &world.near] {
            let inherits = asks("me").scope(callee.spawned(true)).await.unwrap();
            assert!(inherits.starts_with("spawned(me, -)"), "{inherits}");
            assert_eq!(
                asks("me").scope(callee.spawned(false)).await.unwrap(),
                "none"
            );
        }
        // It outlives the request, but adds nothing to its reply afterwards.
        asks("me").scope(world.far.seen(false)).await.unwrap();
        let kept = world.servant.kept.lock().unwrap().take().unwrap();
        assert_eq!(text(kept.service_context(ASKED)), "me");
        let late = kept.add_reply_context(context(OTHER, "late")).unwrap_err();
        assert_eq!(late.kind, Kind::BadInvOrder);
    }
    assert!(matches!(PoaCurrent::get_request(), Err(NoContext)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_way_calls_carry_contexts_too() {
    for world in worlds().await {
        for callee in [&world.far, &world.near] {
            for scope in [
                SyncScope::None,
                SyncScope::WithTransport,
                SyncScope::WithServer,
            ] {
                let noted = callee.with_sync_scope(scope);
                asks("once").scope(noted.note()).await.unwrap();
                let kept = loop {
                    let kept = world.servant.kept.lock().unwrap().take();
                    match kept {
                        Some(kept) => break kept,
                        None => tokio::task::yield_now().await,
                    }
                };
                assert_eq!(text(kept.service_context(ASKED)), "once");
                // Within an ORB, the arrival of a request is the end of its upcall.
                let waits = scope == SyncScope::WithServer && kept.peer().is_none();
                assert_eq!(kept.is_response_expected(), waits);
            }
        }
    }
}

struct Greedy;

impl Callee for Greedy {
    async fn name(&self) -> Result<String, SystemException> {
        let request = PoaCurrent::get_request()?;
        request.add_reply_context(context(ASKED, "first"))?;
        let again = request
            .add_reply_context(context(ASKED, "again"))
            .unwrap_err();
        assert_eq!(
            (again.kind, again.minor),
            (Kind::BadInvOrder, minor::CONTEXT_PRESENT)
        );
        request.set_reply_context(context(ASKED, "second"))?;
        let long = "x".repeat(1 << 20);
        let too_long = request
            .set_reply_context(context(OTHER, &long))
            .unwrap_err();
        assert_eq!(too_long.kind, Kind::ImpLimit);
        let added = (0..1000).take_while(|id| {
            request
                .add_reply_context(context(ServiceContextId(0x5a5b_0000 + id), ""))
                .is_ok()
        });
        Ok(added.count().to_string())
    }

    async fn seen(&self, _: bool) -> Result<String, SystemException> {
        Err(Kind::NoImplement.into())
    }

    async fn relay(&self, _: Option<CalleeRef>) -> Result<String, SystemException> {
        Err(Kind::NoImplement.into())
    }

    async fn fail(&self, _: bool) -> Result<(), FailError> {
        Ok(())
    }

    async fn note(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn spawned(&self, _: bool) -> Result<String, SystemException> {
        Err(Kind::NoImplement.into())
    }

    async fn panic_there(&self, _: bool) -> Result<(), SystemException> {
        Err(Kind::NoImplement.into())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_takes_a_bounded_number_of_contexts() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let near = poa.activate(CalleeServant::new(Greedy)).unwrap();
    let client = Orb::builder().build().await.unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    for callee in [&near, &far.unchecked_narrow()] {
        let replied = ReplyContexts::new();
        assert_eq!(replied_name(callee, &replied).await, "63");
        assert_eq!(text(replied.get(ASKED).as_deref()), "second");
        assert_eq!(replied.to_vec().len(), 64);
    }
}
