//! Policies at the levels of ORB, task and object: which one decides, and what each of them guarantees.

use std::future::Future;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;
use zorb::policy::{Policy, PolicyOverrides, PolicyType, Protocol, RebindMode, SetOverrideType};
use zorb::transport::Endpoint;
use zorb::{
    CompletionStatus as Completed, Forward, Interface, ObjectRef, Orb, Policies, SyncScope,
    SystemException, SystemExceptionKind as Kind, minor,
};
use zorb_giop::Ior;
use zorb_giop::ior::{
    ComponentTag, IiopAddress, IiopProfile, ProfileTag, TaggedComponent, TaggedProfile,
};

zorb::idl! {
    module Governed {
        interface Clock {
            /// Whether the servant finds policies of a task.
            boolean in_scope();
            /// Waits for a release.
            void hold();
            void release();
            oneway void note();
        };
    };
}

use governed::{Clock, ClockRef, ClockServant};

const LONG: Duration = Duration::from_secs(3_600);
const SHORT: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Servant {
    called: AtomicU32,
    at: Mutex<Option<SystemTime>>,
    released: Option<Semaphore>,
}

impl Clock for Servant {
    async fn in_scope(&self) -> Result<bool, SystemException> {
        self.called.fetch_add(1, Ordering::Relaxed);
        *self.at.lock().unwrap() = Some(SystemTime::now());
        let at_once = PolicyOverrides::current().is_some();
        tokio::task::yield_now().await;
        Ok(at_once || PolicyOverrides::current().is_some())
    }

    async fn hold(&self) -> Result<(), SystemException> {
        self.called.fetch_add(1, Ordering::Relaxed);
        let released = self.released.as_ref().unwrap();
        released.acquire().await.unwrap().forget();
        Ok(())
    }

    async fn release(&self) -> Result<(), SystemException> {
        self.released.as_ref().unwrap().add_permits(1);
        Ok(())
    }

    async fn note(&self) -> Result<(), SystemException> {
        self.called.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

struct World {
    _server: Orb,
    client: Orb,
    servant: Arc<Servant>,
    /// In the client's ORB: over a connection. In the server's: collocated.
    far: ClockRef,
    near: ClockRef,
}

async fn world(of_orb: &PolicyOverrides) -> World {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").policies(of_orb);
    let server = server.build().await.unwrap();
    let servant = Arc::new(Servant {
        released: Some(Semaphore::new(0)),
        ..Servant::default()
    });
    let near: ClockRef = (server.root_poa())
        .activate(ClockServant::from_arc(Arc::clone(&servant)))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().policies(of_orb).build().await.unwrap();
    let text = server.object_to_string(&near);
    let far = client.string_to_object(&text).await.unwrap();
    World {
        _server: server,
        client,
        servant,
        far: far.unchecked_narrow(),
        near,
    }
}

/// A clock that turns a hang into a failure.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("no call hangs")
}

fn limit(limit: Duration) -> PolicyOverrides {
    PolicyOverrides::new().relative_round_trip_timeout(limit)
}

fn raised<T: std::fmt::Debug>(outcome: Result<T, SystemException>) -> (Kind, Completed) {
    let error = outcome.unwrap_err();
    (error.kind, error.completed)
}

#[tokio::test]
async fn the_object_goes_before_the_task_and_the_task_before_the_orb() {
    let world = world(&limit(LONG)).await;
    for clock in [&world.far, &world.near] {
        in_time(clock.in_scope()).await.unwrap();
        // The task over the ORB.
        let late = in_time(limit(SHORT).scope(clock.hold())).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::Maybe));
        in_time(clock.release()).await.unwrap();
        // The object over the task, and over the ORB.
        let late = in_time(limit(LONG).scope(clock.with_policies(&limit(SHORT)).hold())).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::Maybe));
        in_time(clock.release()).await.unwrap();
        let patient = clock.with_policies(&limit(LONG));
        let hasty = limit(SHORT);
        let (held, released) = tokio::join!(in_time(hasty.scope(patient.hold())), async {
            tokio::time::sleep(2 * SHORT).await;
            clock.release().await
        });
        assert_eq!((held, released), (Ok(()), Ok(())));
        // The requests that the server has seen.
        let effective = |clock: &ClockRef| {
            let policy = PolicyType::RELATIVE_ROUND_TRIP_TIMEOUT;
            clock.as_object().policy(policy)
        };
        assert_eq!(
            effective(clock),
            Some(Policy::RelativeRoundTripTimeout(LONG))
        );
        limit(SHORT)
            .scope(async {
                let short = Some(Policy::RelativeRoundTripTimeout(SHORT));
                assert_eq!(effective(clock), short);
                assert_eq!(
                    effective(&patient),
                    Some(Policy::RelativeRoundTripTimeout(LONG))
                );
            })
            .await;
    }
}

#[tokio::test]
async fn a_servant_is_outside_of_the_scope_of_its_caller() {
    let world = world(&PolicyOverrides::new()).await;
    for clock in [&world.far, &world.near] {
        let found = in_time(limit(LONG).scope(async {
            let found = clock.in_scope().await;
            assert!(PolicyOverrides::current().is_some());
            found
        }));
        assert_eq!(found.await, Ok(false));
    }
}

#[tokio::test]
async fn the_sync_scope_of_a_task_holds_for_its_one_way_calls() {
    let world = world(&PolicyOverrides::new()).await;
    let with_target = PolicyOverrides::new().sync_scope(SyncScope::WithTarget);
    for (clock, times) in [(&world.far, 1), (&world.near, 2)] {
        in_time(with_target.scope(clock.note())).await.unwrap();
        assert_eq!(world.servant.called.load(Ordering::Relaxed), times);
    }
}

#[tokio::test]
async fn the_request_timeout_does_not_count_the_time_of_the_servant() {
    let world = world(&PolicyOverrides::new()).await;
    let hasty = PolicyOverrides::new().relative_request_timeout(SHORT);
    for clock in [&world.far, &world.near] {
        let hasty = clock.with_policies(&hasty);
        let (held, _) = tokio::join!(in_time(hasty.hold()), async {
            tokio::time::sleep(2 * SHORT).await;
            clock.release().await.unwrap();
        });
        assert_eq!(held, Ok(()));
    }
    // A request that is not sent in time is never sent.
    let called = world.servant.called.load(Ordering::Relaxed);
    let never = PolicyOverrides::new().relative_request_timeout(Duration::ZERO);
    for clock in [&world.far, &world.near] {
        let late = in_time(clock.with_policies(&never).hold()).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::No));
        let late = in_time(clock.with_policies(&never).note()).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::No));
        let late = in_time(clock.with_policies(&limit(Duration::ZERO)).hold()).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::No));
        in_time(clock.in_scope()).await.unwrap();
    }
    assert_eq!(world.servant.called.load(Ordering::Relaxed), called + 2);
}

#[tokio::test]
async fn start_and_end_times_hold_for_requests_and_replies() {
    let world = world(&PolicyOverrides::new()).await;
    for clock in [&world.far, &world.near] {
        let start = SystemTime::now() + SHORT;
        let not_before = PolicyOverrides::new().request_start_time(start);
        in_time(clock.with_policies(&not_before).in_scope())
            .await
            .unwrap();
        let at = world.servant.at.lock().unwrap().unwrap();
        assert!(at >= start, "{at:?} {start:?}");

        let start = SystemTime::now() + SHORT;
        let held = PolicyOverrides::new().reply_start_time(start);
        in_time(clock.with_policies(&held).in_scope())
            .await
            .unwrap();
        assert!(SystemTime::now() >= start);

        let called = world.servant.called.load(Ordering::Relaxed);
        let past = SystemTime::now() - LONG;
        let over = PolicyOverrides::new().request_end_time(past);
        let late = in_time(clock.with_policies(&over).in_scope()).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::No));
        let over = PolicyOverrides::new().reply_end_time(past);
        let late = in_time(clock.with_policies(&over).in_scope()).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::No));
        assert_eq!(world.servant.called.load(Ordering::Relaxed), called);

        let soon = PolicyOverrides::new().reply_end_time(SystemTime::now() + SHORT);
        let late = in_time(clock.with_policies(&soon).hold()).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::Maybe));
        in_time(clock.release()).await.unwrap();

        // A reply that may not be delivered in time.
        let never = (limit(SHORT)).reply_start_time(SystemTime::now() + LONG);
        let late = in_time(clock.with_policies(&never).in_scope()).await;
        assert_eq!(raised(late), (Kind::Timeout, Completed::Yes));
    }
}

#[tokio::test]
async fn times_that_leave_none_in_between_are_inv_policy() {
    let world = world(&PolicyOverrides::new()).await;
    let now = SystemTime::now();
    let starts = PolicyOverrides::new().request_start_time(now + LONG);
    let ends = PolicyOverrides::new().request_end_time(now + SHORT);
    for clock in [&world.far, &world.near] {
        let clock = clock.with_policies(&starts);
        // The two are of different levels.
        let error = in_time(ends.scope(clock.in_scope())).await.unwrap_err();
        let reconciled = minor::POLICIES_NOT_RECONCILED;
        assert_eq!(
            (error.kind, error.minor, error.completed),
            (Kind::InvPolicy, reconciled, Completed::No)
        );
        let unmet = in_time(ends.scope(clock.as_object().validate_connection())).await;
        let types = vec![PolicyType::REQUEST_START_TIME, PolicyType::REQUEST_END_TIME];
        assert_eq!(unmet, Ok(types));
    }
}

#[tokio::test]
async fn lists_of_policies_replace_the_overrides_or_add_to_them() {
    let world = world(&limit(LONG)).await;
    let object = world.far.as_object();
    assert_eq!(object.policy_overrides(&[]), []);
    let rebind = Policy::Rebind(RebindMode::NoRebind);
    let scope = Policy::SyncScope(SyncScope::WithServer);
    let add = SetOverrideType::AddOverride;
    let one = (object.set_policy_overrides(std::slice::from_ref(&rebind), add)).unwrap();
    let both = (one.set_policy_overrides(std::slice::from_ref(&scope), add)).unwrap();
    assert_eq!(both.policy_overrides(&[]), [rebind.clone(), scope.clone()]);
    let set = SetOverrideType::SetOverride;
    let other = (both.set_policy_overrides(std::slice::from_ref(&scope), set)).unwrap();
    assert_eq!(other.policy_overrides(&[]), [scope]);
    assert_eq!(other.policy(PolicyType::REBIND), None);
    let twice = both
        .set_policy_overrides(&[rebind.clone(), rebind], add)
        .unwrap_err();
    assert_eq!(
        (twice.kind, twice.minor),
        (Kind::BadParam, minor::DUPLICATE_POLICY)
    );
}

/// A persistent object at an endpoint, which has one life after the other.
async fn life(endpoint: &str) -> (Orb, ClockRef) {
    let server = crate::anew::listening(|| Orb::builder().listen(endpoint)).await;
    let poa = server.root_poa();
    let poa = poa
        .create_poa_with("clocks", Policies::PERSISTENT, None)
        .unwrap();
    let clock = ClockServant::new(Servant::default());
    let clock = poa.activate_object_with_id("clock", clock).unwrap();
    poa.the_poa_manager().activate().unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    (server, clock)
}

#[tokio::test]
async fn a_connection_is_opened_again_only_as_the_rebind_mode_permits() {
    let (server, clock) = life(&crate::anew::anywhere()).await;
    let endpoint = server.endpoints()[0].to_string();
    let client = Orb::builder().build().await.unwrap();
    let text = server.object_to_string(&clock);
    let object = client.string_to_object(&text).await.unwrap();
    let mode = |mode| {
        let policies = PolicyOverrides::new().rebind(mode);
        object
            .with_policies(&policies)
            .unchecked_narrow::<ClockRef>()
    };
    let strict = mode(RebindMode::NoReconnect);
    let tolerant = [mode(RebindMode::NoRebind), mode(RebindMode::Transparent)];
    // The first call binds.
    in_time(strict.in_scope()).await.unwrap();
    for clock in &tolerant {
        in_time(clock.in_scope()).await.unwrap();
    }
    in_time(server.shutdown(true)).await.unwrap();
    let (_second, _) = life(&endpoint).await;
    for clock in &tolerant {
        in_time(clock.in_scope()).await.unwrap();
    }
    for _ in 0..2 {
        let refused = in_time(strict.in_scope()).await;
        assert_eq!(raised(refused), (Kind::Rebind, Completed::No));
        let refused = in_time(strict.with_sync_scope(SyncScope::None).note()).await;
        assert_eq!(raised(refused), (Kind::Rebind, Completed::No));
    }
    let valid = in_time(strict.as_object().validate_connection()).await;
    assert_eq!(valid, Ok(Vec::new()));
    in_time(strict.in_scope()).await.unwrap();
    in_time(strict.with_sync_scope(SyncScope::None).note())
        .await
        .unwrap();
}

/// The reference with a TAG_POLICIES component of these octets.
fn exposing(ior: &Ior, data: &'static [u8]) -> Ior {
    let mut body = IiopProfile::from_tagged(&ior.profiles[0]).unwrap();
    body.components.push(TaggedComponent {
        tag: ComponentTag::POLICIES,
        data: zorb::Bytes::from_static(data),
    });
    Ior {
        type_id: ior.type_id.clone(),
        profiles: vec![body.to_tagged().unwrap()],
    }
}

#[tokio::test]
async fn a_forward_is_followed_only_as_the_rebind_mode_permits() {
    let world = world(&PolicyOverrides::new()).await;
    let doors = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    doors.root_poa().the_poa_manager().activate().unwrap();
    // One policy, of type 24, in big-endian order: SYNC_WITH_TARGET.
    const STATED: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 24, 0, 0, 0, 4, 0, 0, 0, 3];
    let there = world.near.as_object().ior();
    for (to, with_others) in [(there.clone(), false), (exposing(there, STATED), true)] {
        let target = doors.object(to);
        let door: ObjectRef = doors
            .root_poa()
            .create_forward(Forward::to(&target))
            .unwrap();
        let door = doors.object_to_string(&door);
        let door = world.client.string_to_object(&door).await.unwrap();
        for (mode, refused) in [
            (RebindMode::Transparent, false),
            (RebindMode::NoRebind, with_others),
            (RebindMode::NoReconnect, true),
        ] {
            let clock = door.with_policies(&PolicyOverrides::new().rebind(mode));
            let clock: ClockRef = clock.unchecked_narrow();
            let called = in_time(clock.in_scope()).await;
            match refused {
                false => assert_eq!(called, Ok(false), "{mode:?} {with_others}"),
                true => {
                    assert_eq!(raised(called), (Kind::Rebind, Completed::No));
                    let valid = in_time(clock.as_object().validate_connection()).await;
                    assert_eq!(valid, Ok(Vec::new()));
                    assert_eq!(in_time(clock.in_scope()).await, Ok(false));
                }
            }
        }
    }
}

#[tokio::test]
async fn the_protocol_policy_orders_the_ways_to_an_object_and_leaves_the_others_out() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("uiop://{}/clock", folder.path().display());
    let server = Orb::builder().listen("iiop://127.0.0.1:0").listen(&socket);
    let server = server.build().await.unwrap();
    let clock = ClockServant::new(Servant::default());
    let clock: ClockRef = server.root_poa().activate(clock).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    // Its port for TCP is another one, without a listener.
    let mut ior = clock.as_object().ior().clone();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for profile in &mut ior.profiles {
        if profile.tag == ProfileTag::INTERNET_IOP {
            let mut body = IiopProfile::from_tagged(profile).unwrap();
            body.address = IiopAddress {
                host: "127.0.0.1".to_owned(),
                port: closed,
            };
            body.components.clear();
            *profile = body.to_tagged().unwrap();
        }
    }
    let sockets = |profile: &&TaggedProfile| profile.tag == ProfileTag::UIOP;
    assert_eq!(ior.profiles.iter().filter(sockets).count(), 1);
    let client = Orb::builder().build().await.unwrap();
    let object = client.object(ior);
    let by =
        |protocols: &[Protocol]| PolicyOverrides::new().client_protocols(protocols.iter().cloned());
    let called = |protocols: &[Protocol]| {
        let clock: ClockRef = object.with_policies(&by(protocols)).unchecked_narrow();
        async move { in_time(clock.in_scope()).await }
    };
    assert_eq!(called(&[Protocol::UIOP]).await, Ok(false));
    assert_eq!(called(&[Protocol::IIOP, Protocol::UIOP]).await, Ok(false));
    let refused = called(&[Protocol::IIOP]).await;
    let code = refused.as_ref().map_err(|error| error.minor);
    assert_eq!(code, Err(minor::CANNOT_CONNECT));
    assert_eq!(raised(refused), (Kind::Transient, Completed::No));
    for none in [&[Protocol::new("atm")][..], &[]] {
        assert_eq!(raised(called(none).await), (Kind::InvPolicy, Completed::No));
    }
    let atm = object.with_policies(&by(&[Protocol::new("atm")]));
    let unmet = in_time(atm.validate_connection()).await;
    assert_eq!(unmet, Ok(vec![PolicyType::CLIENT_PROTOCOL]));
    // A task's, which leaves the binding of the reference as it is.
    let clock: ClockRef = object.unchecked_narrow();
    in_time(clock.in_scope()).await.unwrap();
    let refused = in_time(by(&[Protocol::IIOP]).scope(clock.in_scope())).await;
    assert_eq!(raised(refused), (Kind::Transient, Completed::No));
    in_time(clock.in_scope()).await.unwrap();
    // Collocated calls need none.
    let near = server
        .object(object.ior().clone())
        .with_policies(&by(&[Protocol::IIOP]));
    assert_eq!(
        in_time(near.unchecked_narrow::<ClockRef>().in_scope()).await,
        Ok(false)
    );
}

#[tokio::test]
async fn a_call_through_a_blocking_thread_has_the_policies_of_its_scope() {
    use zorb::blocking::Wait;
    let world = world(&PolicyOverrides::new()).await;
    let clock = world.far.clone();
    let late = tokio::task::spawn_blocking(move || {
        let late = limit(SHORT).scope_blocking(|| clock.hold().wait());
        let never = PolicyOverrides::new().relative_request_timeout(SHORT);
        let releasing = clock.clone();
        let release = std::thread::spawn(move || {
            std::thread::sleep(2 * SHORT);
            releasing.release().wait()
        });
        // For the call that has timed out.
        clock.release().wait().unwrap();
        assert_eq!(never.scope_blocking(|| clock.hold().wait()), Ok(()));
        release.join().unwrap().unwrap();
        late
    });
    assert_eq!(
        raised(late.await.unwrap()),
        (Kind::Timeout, Completed::Maybe)
    );
}

#[tokio::test]
async fn the_server_is_sent_the_start_and_end_times_of_a_request() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::iiop("127.0.0.1", listener.local_addr().unwrap().port());
    let received = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut octets = [0; 12];
        stream.read_exact(&mut octets).unwrap();
        let length: [u8; 4] = octets[8..].try_into().unwrap();
        let mut body = vec![0; u32::from_ne_bytes(length) as usize];
        stream.read_exact(&mut body).unwrap();
        // CloseConnection of 1.2: it has not been carried out.
        let _ = stream.write_all(b"GIOP\x01\x02\x00\x05\x00\x00\x00\x00");
        body
    });
    let client = Orb::builder().build().await.unwrap();
    let url = endpoint
        .to_string()
        .replace("iiop://", "corbaloc:iiop:1.2@")
        + "/Clock";
    let clock = client.string_to_object(&url).await.unwrap();
    let end = SystemTime::now() + LONG;
    let clock = clock.with_policies(&PolicyOverrides::new().request_end_time(end));
    let clock: ClockRef = clock.unchecked_narrow();
    in_time(clock.in_scope()).await.unwrap_err();
    let body = received.join().unwrap();
    // The id of the context, the length of its data, which is an encapsulation: one policy, its type, 24 octets.
    let since_1582 = end
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_nanos()
        / 100
        + 122_192_928_000_000_000;
    let numbers: Vec<u8> = [1_u32, 28, 24]
        .iter()
        .flat_map(|n| n.to_ne_bytes())
        .collect();
    let time = u64::try_from(since_1582).unwrap().to_ne_bytes();
    let contains = |octets: &[u8]| body.windows(octets.len()).any(|found| found == octets);
    assert!(contains(&7_u32.to_ne_bytes()), "{body:?}");
    assert!(contains(&numbers), "{body:?}");
    assert!(contains(&time), "{body:?}");
}
