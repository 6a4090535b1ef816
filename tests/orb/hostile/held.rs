//! Requests that wait before they are served, and clients that do not wait so long.

use crate::hostile::honest_pair::World;
use crate::hostile::raw::{Call, Raw, message};
use std::sync::Arc;
use tokio::sync::Semaphore;
use zorb::{CompletionStatus as Completed, Interface, Policies, SystemExceptionKind as Kind};
use zorb_giop::{LocateReply, MessageKind, ResponseFlags, Version};

async fn cancel(peer: &mut Raw, id: u8) {
    let cancel = message(Version::V1_2, MessageKind::CancelRequest, &[id, 0, 0, 0]);
    peer.send(&cancel).await;
}

/// The server has read all that was sent before.
pub(super) async fn is_read(peer: &mut Raw) {
    let body = [&[200, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0][..], b"ZRB\0"].concat();
    peer.send(&message(Version::V1_2, MessageKind::LocateRequest, &body))
        .await;
    let located = peer.receive().await.unwrap();
    let unknown = (200, LocateReply::UnknownObject);
    assert_eq!(LocateReply::read(&located), Ok(unknown));
}

#[tokio::test]
async fn a_request_cancelled_while_it_is_held_is_not_carried_out() {
    let mut world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let manager = Arc::clone(world.server.root_poa().the_poa_manager());
    manager.hold_requests().unwrap();
    for id in 1..=20 {
        peer.send(&Call::new(&key, "wait").id(id).empty()).await;
    }
    // Its id may be used again.
    for id in 1..=20 {
        cancel(&mut peer, id).await;
    }
    let patient = Call::new(&key, "twice").id(30).with(|e| e.put(&4i32));
    peer.send(&patient).await;
    is_read(&mut peer).await;
    world.subject.open(20);
    manager.activate().unwrap();
    assert_eq!(peer.receive_reply(30).await, Ok(8i32));
    let again = Call::new(&key, "twice").id(1).with(|e| e.put(&5i32));
    peer.send(&again).await;
    assert_eq!(peer.receive_reply(1).await, Ok(10i32));
    assert_eq!(world.entered_so_far(), 0);
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_request_that_was_held_may_still_be_cancelled_when_it_is_served() {
    let mut world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let manager = Arc::clone(world.server.root_poa().the_poa_manager());
    manager.hold_requests().unwrap();
    peer.send(&Call::new(&key, "wait").id(7).empty()).await;
    is_read(&mut peer).await;
    manager.activate().unwrap();
    world.entered().await;
    cancel(&mut peer, 7).await;
    is_read(&mut peer).await;
    world.let_go().await;
    let next = Call::new(&key, "twice").id(8).with(|e| e.put(&4i32));
    peer.send(&next).await;
    assert_eq!(
        peer.receive_reply(8).await,
        Ok(8i32),
        "7 has been cancelled"
    );
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_request_cancelled_while_its_key_is_looked_up_is_not_carried_out() {
    let mut world = World::start().await;
    let mut peer = Raw::connect(&world).await;
    let target = world.ior();
    let gate = Arc::new(Semaphore::new(0));
    world.server.key_table().set_key_resolver({
        let (gate, orb) = (Arc::clone(&gate), world.server.clone());
        move |_| {
            let (gate, object) = (Arc::clone(&gate), orb.object(target.clone()));
            async move {
                gate.acquire().await.expect("never closed").forget();
                Ok(Some(object))
            }
        }
    });
    peer.send(&Call::new(b"waiting", "wait").id(7).empty())
        .await;
    cancel(&mut peer, 7).await;
    let patient = Call::new(b"waiting", "twice").id(8);
    peer.send(&patient.with(|e| e.put(&4i32))).await;
    is_read(&mut peer).await;
    world.subject.open(1);
    gate.add_permits(2);
    assert_eq!(peer.receive_reply(8).await, Ok(8i32));
    assert_eq!(world.entered_so_far(), 0);

    // Cancelled when it has been found, and is being served.
    peer.send(
        &Call::new(b"waiting", "large_later")
            .id(9)
            .with(|e| e.put(&9u32)),
    )
    .await;
    world.subject.shut();
    gate.add_permits(1);
    world.entered().await;
    cancel(&mut peer, 9).await;
    is_read(&mut peer).await;
    world.let_go().await;
    let key = world.key();
    let next = Call::new(&key, "twice").id(10);
    peer.send(&next.with(|e| e.put(&4i32))).await;
    assert_eq!(
        peer.receive_reply(10).await,
        Ok(8i32),
        "9 has been cancelled"
    );
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_call_with_server_is_acknowledged_once_whatever_its_outcome() {
    let world = World::start().await;
    let poa = world.server.root_poa();
    let poa = poa.create_poa_with("held", Policies::PERSISTENT, None);
    let poa = poa.unwrap();
    let here = poa.activate_object_with_id("1", world.servant()).unwrap();
    let key = here.as_object().ior().profiles[0].object_key().unwrap();
    poa.the_poa_manager().activate().unwrap();
    poa.the_poa_manager().hold_requests().unwrap();
    let mut peer = Raw::connect(&world).await;
    let send = |id| {
        let call = Call {
            response: ResponseFlags::WithServer,
            ..Call::new(&key, "twice").id(id)
        };
        call.with(|e| e.put(&4i32))
    };
    peer.send(&send(1)).await;
    assert_eq!(peer.receive_reply(1).await, Ok(()));
    poa.deactivate_object(&here).unwrap();
    poa.the_poa_manager().activate().unwrap();
    // It is gone when that is released, and a new request learns that.
    peer.send(&send(2)).await;
    let gone = peer.receive_reply::<()>(2).await.unwrap_err();
    assert_eq!(
        (gone.kind, gone.completed),
        (Kind::ObjectNotExist, Completed::No)
    );
    // The same, when it is somewhere else by then.
    poa.activate_object_with_id("1", world.servant()).unwrap();
    poa.the_poa_manager().hold_requests().unwrap();
    peer.send(&send(3)).await;
    assert_eq!(peer.receive_reply(3).await, Ok(()));
    let there = zorb::Forward::to(&world.server.object(world.ior()));
    poa.forward_object_with_id("1", there).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let next = Call::new(&world.key(), "twice")
        .id(4)
        .with(|e| e.put(&4i32));
    peer.send(&next).await;
    assert_eq!(peer.receive_reply(4).await, Ok(8i32));
    drop(peer);
    world.end().await;
}
