//! Buffered one-way requests at the levels of policies, and the policies of an ORB that runs.

use crate::savings::{Account, AccountRef, AccountServant, Savings, in_time, spawn};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use zorb::policy::{
    BufferingConstraint, Policy, PolicyOverrides, PolicyType, Protocol, RebindMode, SetOverrideType,
};
use zorb::{Interface, Orb, SyncScope, SystemException, SystemExceptionKind as Kind};

/// As many as no test sends.
const MANY: BufferingConstraint = BufferingConstraint::flush().message_count(1_000);

fn buffering(constraint: BufferingConstraint) -> PolicyOverrides {
    PolicyOverrides::new()
        .sync_scope(SyncScope::None)
        .buffering(constraint)
}

struct World {
    server: Orb,
    client: Orb,
    savings: Arc<Savings>,
    /// In the client's ORB: over a connection. In the server's: collocated.
    far: AccountRef,
    near: AccountRef,
}

async fn world(of_client: &PolicyOverrides) -> World {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let savings = Arc::new(Savings::default());
    let near: AccountRef = (server.root_poa())
        .activate(AccountServant::from_arc(Arc::clone(&savings)))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().policies(of_client).build().await.unwrap();
    let far = client
        .string_to_object(&server.object_to_string(&near))
        .await;
    World {
        server,
        client,
        savings,
        far: far.unwrap().unchecked_narrow(),
        near,
    }
}

impl World {
    /// Waits until so many requests have arrived.
    async fn arrive(&self, pokes: u32) {
        in_time(async {
            while self.savings.pokes.load(Ordering::Relaxed) != pokes {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn each_level_buffers_and_the_last_of_a_number_sends_all() {
    let three = buffering(MANY.message_count(3));
    // At the ORB.
    let of_orb = world(&three).await;
    for pokes in 1..=9 {
        in_time(of_orb.far.poke()).await.unwrap();
        if pokes % 3 == 0 {
            of_orb.arrive(pokes).await;
        }
    }
    // At the task, over the ORB, and at the object, over the task.
    let world = world(&buffering(MANY)).await;
    let scope = three.scope(async {
        for _ in 0..3 {
            in_time(world.far.poke()).await.unwrap();
        }
        world.arrive(3).await;
        let two = world.far.with_policies(&buffering(MANY.message_count(2)));
        for _ in 0..2 {
            in_time(two.poke()).await.unwrap();
        }
        world.arrive(5).await;
    });
    scope.await;
    assert_eq!(
        world
            .far
            .as_object()
            .policy(PolicyType::BUFFERING_CONSTRAINT),
        Some(Policy::BufferingConstraint(MANY))
    );
}

#[tokio::test]
async fn a_flush_a_call_a_time_and_the_end_of_the_orb_send_what_waits() {
    let world = world(&buffering(MANY)).await;
    let far = &world.far;
    // Of the reference, its connection that is still to be made included.
    in_time(far.poke()).await.unwrap();
    in_time(far.as_object().flush_one_ways()).await.unwrap();
    world.arrive(1).await;
    // Of the ORB.
    in_time(far.poke()).await.unwrap();
    in_time(world.client.flush_one_ways()).await.unwrap();
    world.arrive(2).await;
    // A call with a reply finds all of them done.
    for _ in 0..10 {
        in_time(far.poke()).await.unwrap();
    }
    assert_eq!(in_time(far.pokes()).await, Ok(12));
    // A one-way call of another scope, and a constraint without limits.
    in_time(far.poke()).await.unwrap();
    let transport = far.with_sync_scope(SyncScope::WithTransport);
    in_time(transport.poke()).await.unwrap();
    world.arrive(14).await;
    in_time(far.poke()).await.unwrap();
    let flush = far.with_policies(&buffering(BufferingConstraint::flush()));
    in_time(flush.poke()).await.unwrap();
    world.arrive(16).await;
    // Some milliseconds.
    let brief = far.with_policies(&buffering(MANY.timeout(Duration::from_millis(5))));
    in_time(brief.poke()).await.unwrap();
    world.arrive(17).await;
    // Octets.
    let octets = far.with_policies(&buffering(BufferingConstraint::flush().message_bytes(1)));
    in_time(octets.poke()).await.unwrap();
    world.arrive(18).await;
    // A time by which the request has to be on its way.
    let soon = std::time::SystemTime::now() + Duration::from_millis(20);
    let late = buffering(MANY).request_end_time(soon);
    let sent = in_time(far.with_policies(&late).poke()).await;
    let sent = u32::from(sent.is_ok());
    world.arrive(18 + sent).await;
    in_time(far.poke()).await.unwrap();
    in_time(world.client.shutdown(true)).await.unwrap();
    world.arrive(19 + sent).await;
    let error = in_time(world.client.flush_one_ways()).await.unwrap_err();
    assert_eq!(error.kind, Kind::BadInvOrder);
    in_time(world.server.shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn calls_to_objects_of_the_same_orb_do_not_wait() {
    let world = world(&PolicyOverrides::new()).await;
    let near = world.near.with_policies(&buffering(MANY));
    in_time(near.poke()).await.unwrap();
    world.arrive(1).await;
    in_time(near.as_object().flush_one_ways()).await.unwrap();
}

#[tokio::test]
async fn what_waits_is_not_on_the_wire_and_a_flush_fails_with_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = Orb::builder()
        .policies(&buffering(MANY))
        .build()
        .await
        .unwrap();
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x");
    let far: AccountRef = (client.string_to_object(&url).await.unwrap()).unchecked_narrow();
    // The first one has the connection made.
    in_time(far.poke()).await.unwrap();
    let (peer, _) = in_time(listener.accept()).await.unwrap();
    in_time(far.as_object().flush_one_ways()).await.unwrap();
    let mut octets = vec![0; 4_096];
    in_time(peer.readable()).await.unwrap();
    let one = peer.try_read(&mut octets).unwrap();
    // The others would have been written by now, were they not buffered.
    for _ in 0..3 {
        in_time(far.poke()).await.unwrap();
    }
    let error = peer.try_read(&mut octets).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    in_time(far.as_object().flush_one_ways()).await.unwrap();
    in_time(peer.readable()).await.unwrap();
    assert_eq!(peer.try_read(&mut octets).unwrap(), 3 * one, "by one write");
}

/// Holds its caller until it is permitted to answer.
struct Held(Semaphore);

impl Account for Held {
    async fn owner(&self) -> Result<String, SystemException> {
        self.0.acquire().await.expect("never closed").forget();
        Ok("held".to_owned())
    }

    async fn poke(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn pokes(&self) -> Result<i32, SystemException> {
        Ok(0)
    }
}

#[tokio::test]
async fn policies_of_an_orb_that_runs_hold_for_references_that_there_were() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let held = Arc::new(Held(Semaphore::new(0)));
    let near: AccountRef = (server.root_poa())
        .activate(AccountServant::from_arc(Arc::clone(&held)))
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let client = Orb::builder().build().await.unwrap();
    let far = client
        .string_to_object(&server.object_to_string(&near))
        .await;
    let far: AccountRef = far.unwrap().unchecked_narrow();
    assert_eq!(in_time(far.pokes()).await, Ok(0));
    // A call in progress has the policies that it began with.
    let before = spawn({
        let far = far.clone();
        async move { far.owner().await }
    });
    let limit = Policy::RelativeRoundTripTimeout(Duration::from_millis(20));
    let rebind = Policy::Rebind(RebindMode::NoReconnect);
    in_time(async {
        while server.pending_upcalls() == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let add = SetOverrideType::AddOverride;
    client
        .set_policy_overrides(std::slice::from_ref(&rebind), add)
        .unwrap();
    client
        .set_policy_overrides(std::slice::from_ref(&limit), add)
        .unwrap();
    assert_eq!(client.policy_overrides(&[]), [rebind, limit.clone()]);
    let late = in_time(far.owner()).await.unwrap_err();
    // A busy machine may not even have sent it.
    assert_eq!(late.kind, Kind::Timeout);
    assert_eq!(
        far.as_object()
            .policy(PolicyType::RELATIVE_ROUND_TRIP_TIMEOUT),
        Some(limit)
    );
    // The object is more specific.
    let hour = PolicyOverrides::new().relative_round_trip_timeout(Duration::from_secs(3_600));
    let patient = spawn({
        let far = far.with_policies(&hour);
        async move { far.owner().await }
    });
    held.0.add_permits(3);
    assert_eq!(in_time(patient).await.unwrap(), Ok("held".to_owned()));
    assert_eq!(in_time(before).await.unwrap(), Ok("held".to_owned()));
    // In place of all.
    client.set_policies(&PolicyOverrides::new(), SetOverrideType::SetOverride);
    assert_eq!(client.policies(), PolicyOverrides::new());
    assert_eq!(client.policy_overrides(&[]), []);
    held.0.add_permits(1);
    assert_eq!(in_time(far.owner()).await, Ok("held".to_owned()));
    // Two of one type are refused, and change nothing.
    let scope = Policy::SyncScope(SyncScope::None);
    let twice = client.set_policy_overrides(&[scope.clone(), scope], add);
    assert_eq!(twice.unwrap_err().kind, Kind::BadParam);
    assert_eq!(client.policy_overrides(&[]), []);
}

#[tokio::test]
async fn scope_and_protocols_of_an_orb_change_while_it_runs() {
    let world = world(&PolicyOverrides::new()).await;
    in_time(world.far.pokes()).await.unwrap();
    let set = |policies: &PolicyOverrides| {
        (world.client).set_policies(policies, SetOverrideType::SetOverride);
    };
    // SYNC_WITH_TARGET: done when the servant is.
    set(&PolicyOverrides::new().sync_scope(SyncScope::WithTarget));
    in_time(world.far.poke()).await.unwrap();
    assert_eq!(world.savings.pokes.load(Ordering::Relaxed), 1);
    // A reference that is bound keeps its connection, and another one has no endpoint of the protocol.
    set(&PolicyOverrides::new().client_protocols([Protocol::UIOP]));
    in_time(world.far.pokes()).await.unwrap();
    let text = world.client.object_to_string(&world.far);
    let other = in_time(world.client.string_to_object(&text)).await.unwrap();
    let error = in_time(other.non_existent()).await.unwrap_err();
    assert_eq!(error.kind, Kind::InvPolicy);
}

#[tokio::test]
async fn a_one_way_call_does_not_wait_for_the_manager_of_its_object_wherever_that_is() {
    let world = world(&PolicyOverrides::new()).await;
    let manager = Arc::clone(world.server.root_poa().the_poa_manager());
    let mut expected = 0;
    for scope in [SyncScope::None, SyncScope::WithTransport] {
        for account in [&world.far, &world.near] {
            manager.hold_requests().unwrap();
            let account = account.with_sync_scope(scope);
            for _ in 0..3 {
                in_time(account.poke()).await.unwrap();
            }
            assert_eq!(world.savings.pokes.load(Ordering::Relaxed), expected);
            manager.activate().unwrap();
            expected += 3;
            world.arrive(expected).await;
        }
    }
    // Those that are held when the ORB ends are dropped, and do not keep it.
    manager.hold_requests().unwrap();
    in_time(world.near.poke()).await.unwrap();
    in_time(world.server.shutdown(true)).await.unwrap();
    assert_eq!(world.savings.pokes.load(Ordering::Relaxed), expected);
}
