#![allow(
    unreachable_pub,
    reason = "generated code does not know that this module is private"
)]

mod ends;
mod kinds;

use super::*;
use crate::blocking::Wait as _;
use crate::policy::PolicyOverrides;
use crate::real_time::{Priority, PriorityModelPolicy, RtPolicies};
use crate::{Forward, Interface as _, Orb, Policies, SyncScope, SystemExceptionKind};
use bytes::Bytes;
use core::time::Duration;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use zorb_executor::{Dispatch, WorkerPool};
use zorb_giop::{CompletionStatus, ServiceContextId};

crate::idl! {
    module Shop {
        exception Broke { long left; };
        struct Person { string name; };
        interface Till {
            long pay(in long amount) raises (Broke);
            long later(in long amount);
            string greet(in Person who);
            void wait();
            oneway void ring(in long times);
            oneway void shout(in string what);
        };
    };
}

use shop::till::PayError;
use shop::{Broke, Person, Till, TillRef, TillServant};

#[derive(Debug)]
struct Clerk {
    /// Has a permit for each upcall of `wait` that has begun.
    waiting: Arc<Semaphore>,
    /// Each permit releases one upcall of `wait`.
    released: Arc<Semaphore>,
}

impl Default for Clerk {
    fn default() -> Self {
        let none = || Arc::new(Semaphore::new(0));
        Self {
            waiting: none(),
            released: none(),
        }
    }
}

impl Till for Clerk {
    async fn pay(&self, amount: i32) -> Result<i32, PayError> {
        match amount {
            0 => Err(Broke { left: 7 }.into()),
            amount => Ok(amount),
        }
    }

    async fn later(&self, amount: i32) -> Result<i32, SystemException> {
        tokio::task::yield_now().await;
        Ok(amount)
    }

    async fn greet(&self, who: &Person) -> Result<String, SystemException> {
        Ok(who.name.clone())
    }

    async fn wait(&self) -> Result<(), SystemException> {
        self.waiting.add_permits(1);
        self.released.acquire().await.unwrap().forget();
        Ok(())
    }

    async fn ring(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    async fn shout(&self, _: &str) -> Result<(), SystemException> {
        Ok(())
    }
}

const MARK: ServiceContextId = ServiceContextId(0x5a4f_1001);
/// The context of the time left for a call, in milliseconds.
const TIME_LEFT: ServiceContextId = ServiceContextId(0x5a4f_1002);
/// The time limit of calls that have one.
const LIMIT: Duration = Duration::from_secs(60);
const REFUSED: &str = "later";

/// Records all interception points, and adds a context to requests and replies.
#[derive(Debug, Default)]
struct Recorder {
    seen: Mutex<Vec<String>>,
    /// The side on which [`REFUSED`] is refused, if any.
    refuses: Mutex<Option<&'static str>>,
}

/// The time left that a request states.
fn time_left(contexts: &[ServiceContext]) -> Option<Duration> {
    let sent = contexts.iter().find(|context| context.id == TIME_LEFT)?;
    let millis = u64::from_be_bytes(sent.data.as_ref().try_into().unwrap());
    Some(Duration::from_millis(millis))
}

fn marks(contexts: &[ServiceContext]) -> String {
    let marks = contexts.iter().filter(|context| context.id == MARK);
    let marks: Vec<_> = marks
        .map(|context| String::from_utf8_lossy(&context.data))
        .collect();
    marks.join(",")
}

/// The priority that contexts state, as text.
fn priority(contexts: &[ServiceContext]) -> String {
    let of = |context: &&ServiceContext| context.id == ServiceContextId::RT_CORBA_PRIORITY;
    let stated = contexts.iter().filter(of).map(|context| {
        let [order, _, a, b] = context.data.as_ref().try_into().unwrap();
        match order & 1 {
            0 => i16::from_be_bytes([a, b]),
            _ => i16::from_le_bytes([a, b]),
        }
    });
    stated.map(|priority| format!(" at {priority}")).collect()
}

const fn place(is_collocated: bool) -> &'static str {
    if is_collocated { "here" } else { "there" }
}

impl Recorder {
    fn note(&self, what: String) {
        self.seen.lock().unwrap().push(what);
    }

    fn check(&self, side: &str, operation: &str) -> Result<(), SystemException> {
        let refuses = *self.refuses.lock().unwrap() == Some(side) && operation == REFUSED;
        match refuses {
            true => Err(SystemException::new(
                SystemExceptionKind::NoPermission,
                0,
                CompletionStatus::No,
            )),
            false => Ok(()),
        }
    }

    /// The notes, once there are `notes` of them.
    async fn seen(&self, notes: usize) -> Vec<String> {
        while self.seen.lock().unwrap().len() < notes {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl Interceptor for Recorder {
    fn send_request(&self, request: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let ClientRequestInfo {
            operation,
            response,
            is_collocated,
            ..
        } = request;
        let limit = if request.deadline.is_some() {
            " in time"
        } else {
            ""
        };
        let stated = request.priority.map(|priority| format!(" at {priority}"));
        assert_eq!(stated.unwrap_or_default(), priority(request.contexts));
        self.note(format!(
            "send {operation} {response:?} {}{limit}",
            place(*is_collocated)
        ));
        request.contexts.push(ServiceContext {
            id: MARK,
            data: Bytes::from_static(b"asked"),
        });
        if let Some(deadline) = request.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            let millis = u64::try_from(left.as_millis()).unwrap();
            request.contexts.push(ServiceContext {
                id: TIME_LEFT,
                data: Bytes::copy_from_slice(&millis.to_be_bytes()),
            });
        }
        self.check("client", request.operation)
    }

    fn receive_reply(&self, request: &ClientRequestInfo<'_>, reply: ReplyInfo<'_>) {
        let how = match reply {
            ReplyInfo::Reply(status, contexts) => {
                format!("{status:?} {}{}", marks(&contexts), priority(&contexts))
            }
            ReplyInfo::Sent => "sent".to_owned(),
            ReplyInfo::Failed(error) => format!("failed {error:?}"),
        };
        self.note(format!("{} ended: {how}", request.operation));
    }

    fn receive_request(&self, request: &mut ServerRequestInfo) -> Result<(), SystemException> {
        let ServerRequestInfo {
            operation,
            is_collocated,
            contexts,
            ..
        } = request;
        let limit = match time_left(contexts) {
            Some(left) if !left.is_zero() && left <= LIMIT => " in time",
            Some(_) => " late",
            None => "",
        };
        let by = match request.deadline {
            Some(deadline) if deadline > Instant::now() + LIMIT => " by a late deadline",
            Some(_) => " by its deadline",
            None => "",
        };
        self.note(format!(
            "serve {operation} {} {}{limit}{}{by}",
            place(*is_collocated),
            marks(contexts),
            priority(contexts)
        ));
        request.reply_contexts.push(ServiceContext {
            id: MARK,
            data: Bytes::from_static(b"answered"),
        });
        self.check("server", &request.operation)
    }

    fn send_reply(&self, request: &mut ServerRequestInfo, status: ReplyStatus) {
        self.note(format!(
            "reply {} {:?} {status:?}",
            request.operation, request.response
        ));
    }
}

/// Two ORBs that each have a recorder, an object in the first one, and the references of both to it.
struct Two {
    server: Arc<Recorder>,
    client: Arc<Recorder>,
    orbs: [Orb; 2],
    here: TillRef,
    there: TillRef,
}

impl Two {
    async fn start() -> Self {
        Self::start_with(Dispatch::InPlace, Clerk::default()).await
    }

    async fn start_with(dispatch: Dispatch, clerk: Clerk) -> Self {
        let (server, client): (Arc<Recorder>, Arc<Recorder>) = Default::default();
        let orb = Orb::builder()
            .interceptor(Arc::clone(&server) as _)
            .dispatch(dispatch)
            .listen("iiop://127.0.0.1:0");
        let orb = orb.build().await.unwrap();
        let here = orb.root_poa().activate(TillServant::new(clerk)).unwrap();
        orb.root_poa().the_poa_manager().activate().unwrap();
        let other = Orb::builder()
            .interceptor(Arc::clone(&client) as _)
            .build()
            .await
            .unwrap();
        let there = other
            .string_to_object(&orb.object_to_string(&here))
            .await
            .unwrap();
        Self {
            server,
            client,
            here,
            there: TillRef::unchecked_narrow(there),
            orbs: [orb, other],
        }
    }

    async fn seen(&self, of_client: usize, of_server: usize) -> [Vec<String>; 2] {
        [
            self.client.seen(of_client).await,
            self.server.seen(of_server).await,
        ]
    }

    async fn end(self) {
        for orb in self.orbs.iter().rev() {
            orb.shutdown(true).await.unwrap();
        }
    }
}

#[tokio::test]
async fn calls_through_a_connection_are_seen_on_both_sides_with_their_contexts() {
    let two = Two::start().await;
    // The second and the third request hit the server's header cache.
    for _ in 0..3 {
        assert_eq!(two.there.pay(3).await.unwrap(), 3);
        let [client, server] = two.seen(2, 2).await;
        assert_eq!(
            client,
            [
                "send pay WithTarget there",
                "pay ended: NoException answered"
            ]
        );
        assert_eq!(
            server,
            ["serve pay there asked", "reply pay WithTarget NoException"]
        );
    }
    assert!(two.there.pay(0).await.is_err());
    let [client, server] = two.seen(2, 2).await;
    assert_eq!(client[1], "pay ended: UserException answered");
    assert_eq!(server[1], "reply pay WithTarget UserException");

    // A pending upcall, a call with a time limit, a thread that blocks.
    let limited = two.there.with_round_trip_timeout(LIMIT);
    assert_eq!(limited.later(4).await.unwrap(), 4);
    let [client, server] = two.seen(2, 2).await;
    assert_eq!(
        client,
        [
            "send later WithTarget there in time",
            "later ended: NoException answered"
        ]
    );
    assert_eq!(server[1], "reply later WithTarget NoException");
    let there = two.there.clone();
    tokio::task::spawn_blocking(move || there.pay(5).wait())
        .await
        .unwrap()
        .unwrap();
    let [client, server] = two.seen(2, 2).await;
    assert_eq!((client.len(), server.len()), (2, 2));
    two.end().await;
}

#[tokio::test]
async fn requests_and_replies_have_their_priority_beside_the_interceptors_contexts() {
    let two = Two::start().await;
    let [server, client] = &two.orbs;
    let model = PriorityModelPolicy::client_propagated(Priority(0));
    let policies = RtPolicies::new().priority_model(model);
    let (root, manager) = (
        server.root_poa(),
        server.root_poa().the_poa_manager().clone(),
    );
    let poa = root.create_rt_poa("prioritised", Policies::default(), policies, Some(&manager));
    let till = poa.unwrap().activate(TillServant::new(Clerk::default()));
    let till = server.object_to_string(&till.unwrap());
    let till = TillRef::unchecked_narrow(client.string_to_object(&till).await.unwrap());
    let current = client.rt_current();
    for (amount, ended) in [(3, "NoException"), (0, "UserException")] {
        let paid = current.scope(Priority(1), till.pay(amount));
        let paid = paid.await.unwrap();
        assert_eq!(paid.is_ok(), ended == "NoException");
        let [client, server] = two.seen(2, 2).await;
        assert_eq!(client[1], format!("pay ended: {ended} answered at 1"));
        assert_eq!(server[0], "serve pay there asked at 1");
        assert_eq!(server[1], format!("reply pay WithTarget {ended}"));
    }
    two.end().await;
}

#[tokio::test]
async fn the_server_sees_the_deadline_that_the_client_states() {
    let two = Two::start().await;
    let deadline = PolicyOverrides::new().relative_deadline(LIMIT);
    for (till, place) in [(&two.there, "there"), (&two.here, "here")] {
        till.with_policies(&deadline).pay(1).await.unwrap();
        let served = match place {
            "there" => two.seen(2, 2).await[1][0].clone(),
            _ => two.server.seen(4).await[1].clone(),
        };
        assert_eq!(served, format!("serve pay {place} asked by its deadline"));
    }
    two.end().await;
}

#[tokio::test]
async fn one_way_calls_are_seen_in_every_scope() {
    let two = Two::start().await;
    for (scope, response) in [
        (SyncScope::None, "None"),
        (SyncScope::WithTransport, "None"),
        (SyncScope::WithServer, "WithServer"),
        (SyncScope::WithTarget, "WithTarget"),
    ] {
        two.there.with_sync_scope(scope).ring(1).await.unwrap();
        let [client, server] = two.seen(2, 2).await;
        assert_eq!(client[0], format!("send ring {response} there"));
        let is_answered = response != "None";
        assert_eq!(client[1].contains("NoException"), is_answered, "{client:?}");
        assert_eq!(server[0], "serve ring there asked");
        assert_eq!(server[1], format!("reply ring {response} NoException"));
    }
    two.here.ring(1).await.unwrap();
    let seen = two.server.seen(4).await;
    assert_eq!(seen[0], "send ring None here");
    for what in [
        "ring ended: sent",
        "serve ring here asked",
        "reply ring None NoException",
    ] {
        assert!(seen.iter().any(|seen| seen == what), "{what}: {seen:?}");
    }
    two.end().await;
}

#[tokio::test]
async fn a_one_way_call_that_finds_no_room_behind_others_is_not_seen_as_sent() {
    let recorder = Arc::new(Recorder::default());
    let orb = Orb::builder().interceptor(Arc::clone(&recorder) as _);
    let orb = orb.build().await.unwrap();
    let url = "corbaloc:iiop:1.2@127.0.0.1:1/x";
    let till = TillRef::unchecked_narrow(orb.string_to_object(url).await.unwrap());
    let till = till.with_sync_scope(SyncScope::None);
    // Two of them exceed the limit on octets that wait for a connection.
    let loud = "x".repeat(600 << 10);
    till.shout(&loud).await.unwrap();
    till.shout(&loud).await.unwrap_err();
    let seen = recorder.seen(4).await;
    assert_eq!(seen[..2], ["send shout None there", "shout ended: sent"]);
    assert_eq!(seen[2], "send shout None there");
    assert!(
        seen[3].starts_with("shout ended: failed Overload"),
        "{seen:?}"
    );
    orb.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn collocated_calls_are_seen_on_both_sides_whether_they_are_marshalled_or_not() {
    let two = Two::start().await;
    let person = Person {
        name: "Ann".to_owned(),
    };
    assert_eq!(two.here.pay(3).await.unwrap(), 3);
    let typed = two.server.seen(4).await;
    assert_eq!(typed[0], "send pay WithTarget here");
    assert_eq!(typed[1], "serve pay here asked");
    assert_eq!(typed[2], "reply pay WithTarget NoException");
    assert_eq!(typed[3], "pay ended: NoException answered");
    // A struct with a string is marshalled.
    assert_eq!(two.here.greet(&person).await.unwrap(), "Ann");
    let marshalled = two.server.seen(4).await;
    let renamed: Vec<_> = typed
        .iter()
        .map(|seen| seen.replace("pay", "greet"))
        .collect();
    assert_eq!(marshalled, renamed);
    assert!(two.here.pay(0).await.is_err());
    assert_eq!(
        two.server.seen(4).await[3],
        "pay ended: UserException answered"
    );
    assert_eq!(two.here.later(1).await.unwrap(), 1);
    assert_eq!(
        two.server.seen(4).await[3],
        "later ended: NoException answered"
    );
    two.end().await;
}

#[tokio::test]
async fn an_interceptor_may_refuse_a_request_on_either_side() {
    let two = Two::start().await;
    for (side, recorder) in [("client", &two.client), ("server", &two.server)] {
        *recorder.refuses.lock().unwrap() = Some(side);
        let refused = two.there.later(1).await.unwrap_err();
        assert_eq!(refused.kind, SystemExceptionKind::NoPermission, "{side}");
        assert!(two.there.pay(1).await.is_ok());
        *recorder.refuses.lock().unwrap() = None;
    }
    for side in ["client", "server"] {
        *two.server.refuses.lock().unwrap() = Some(side);
        let refused = two.here.later(1).await.unwrap_err();
        assert_eq!(refused.kind, SystemExceptionKind::NoPermission, "{side}");
        *two.server.refuses.lock().unwrap() = None;
        assert!(two.here.later(1).await.is_ok());
    }
    two.end().await;
}

#[tokio::test]
async fn each_attempt_of_a_forwarded_call_is_seen() {
    let two = Two::start().await;
    let orb = &two.orbs[0];
    let forward = Forward::to(&two.here);
    let forwarded = orb.root_poa().create_forward::<TillRef>(forward).unwrap();
    let text = orb.object_to_string(&forwarded);
    let there = two.orbs[1].string_to_object(&text).await.unwrap();
    assert_eq!(TillRef::unchecked_narrow(there).pay(3).await.unwrap(), 3);
    let [client, server] = two.seen(4, 4).await;
    assert_eq!(client[1], "pay ended: LocationForward answered");
    assert_eq!(client[3], "pay ended: NoException answered");
    assert_eq!(server[1], "reply pay WithTarget LocationForward");
    assert_eq!(server[3], "reply pay WithTarget NoException");
    two.end().await;
}

#[tokio::test]
async fn the_time_limit_of_a_call_can_be_sent_with_every_kind_of_request() {
    let two = Two::start().await;
    let limited = two.there.with_round_trip_timeout(LIMIT);
    limited.pay(3).await.unwrap();
    let blocking = limited.clone();
    tokio::task::spawn_blocking(move || blocking.pay(4).wait())
        .await
        .unwrap()
        .unwrap();
    for scope in [
        SyncScope::None,
        SyncScope::WithTransport,
        SyncScope::WithServer,
        SyncScope::WithTarget,
    ] {
        limited.with_sync_scope(scope).ring(1).await.unwrap();
    }
    let [client, server] = two.seen(12, 12).await;
    let sent: Vec<_> = (client.iter())
        .filter(|seen| seen.starts_with("send"))
        .collect();
    assert!(
        sent.len() == 6 && sent.iter().all(|seen| seen.ends_with("there in time")),
        "{client:?}"
    );
    let served = |seen: &[String], place: &str| {
        let all = seen.iter().filter(|seen| seen.starts_with("serve"));
        let with_time = format!("{place} asked in time");
        all.filter(|seen| seen.ends_with(&with_time)).count()
    };
    assert_eq!(served(&server, "there"), 6, "{server:?}");

    let here = two.here.with_round_trip_timeout(LIMIT);
    let person = Person {
        name: "Ann".to_owned(),
    };
    here.pay(3).await.unwrap();
    here.greet(&person).await.unwrap();
    here.ring(1).await.unwrap();
    let seen = two.server.seen(12).await;
    assert_eq!(served(&seen, "here"), 3, "{seen:?}");
    two.end().await;
}

#[tokio::test]
async fn a_request_that_the_worker_pool_refuses_is_seen_to_its_reply() {
    let pool = WorkerPool::builder()
        .threads(1)
        .queue_capacity(1)
        .build()
        .unwrap();
    let clerk = Clerk::default();
    let (waiting, released) = (Arc::clone(&clerk.waiting), Arc::clone(&clerk.released));
    let two = Two::start_with(Dispatch::Pool(pool), clerk).await;
    let wait = || {
        let there = two.there.clone();
        tokio::spawn(async move { there.wait().await })
    };
    // The worker runs one upcall, and one is in the queue.
    let first = wait();
    waiting.acquire().await.unwrap().forget();
    let second = wait();
    let server = two.server.seen(2).await;
    assert_eq!(server, ["serve wait there asked"; 2]);
    let refused = two.there.pay(1).await.unwrap_err();
    let PayError::System(refused) = refused else {
        panic!("expected a system exception, found {refused:?}");
    };
    assert_eq!(refused.kind, SystemExceptionKind::Transient);
    let server = two.server.seen(2).await;
    assert_eq!(
        server,
        [
            "serve pay there asked",
            "reply pay WithTarget SystemException"
        ]
    );
    let client = two.client.seen(4).await;
    assert_eq!(client[3], "pay ended: SystemException answered");
    released.add_permits(2);
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    two.end().await;
}
