//! Cells that need a server which forwards, or one of one's own: it ends.

use super::{World, raised};
use crate::interop::idl::interop::{NodeRef, PeerRef};
use crate::interop::nodes::name_of;
use std::sync::Arc;
use zorb::{CompletionStatus, Interface, SystemExceptionKind as Kind};

pub(super) async fn forward(w: Arc<World>) {
    let forwarded = async || w.peer.forwarded().await.unwrap();
    for hops in [0, 1, 3] {
        let before = forwarded().await;
        let node = w.peer.forwarder(hops).await.unwrap().unwrap();
        assert_eq!(node.name().await.unwrap(), "home");
        assert_eq!(forwarded().await - before, hops);
        // The way is remembered.
        assert_eq!(node.name().await.unwrap(), "home");
        assert_eq!(node.bounce(0, None).await.unwrap(), 0);
        assert_eq!(forwarded().await - before, hops);
    }
    let before = forwarded().await;
    let node = w.peer.forwarder_for_good().await.unwrap();
    assert_eq!(name_of(node.as_ref()).await.unwrap(), "home");
    assert_eq!(forwarded().await - before, 1);
}

pub(super) async fn forward_loop(w: Arc<World>) {
    let node = w.peer.forward_loop().await.unwrap().unwrap();
    raised(node.name().await, Kind::Transient, CompletionStatus::No);
    w.peer.nothing().await.unwrap();
}

pub(super) async fn forward_to_nowhere(w: Arc<World>) {
    let node = w.peer.forward_to_nowhere().await.unwrap().unwrap();
    raised(
        node.name().await,
        Kind::ObjectNotExist,
        CompletionStatus::No,
    );
    w.peer.nothing().await.unwrap();
}

/// LocateRequest: for what is there, what is gone, and what is somewhere else.
pub(super) async fn locate(w: Arc<World>) {
    assert_eq!(w.peer.as_object().locate().await, Ok(true));
    let home = w.peer.own_node().await.unwrap().unwrap();
    assert_eq!(home.as_object().locate().await, Ok(true));
    let node = w.peer.make_node("located", false).await.unwrap().unwrap();
    assert_eq!(node.as_object().locate().await, Ok(true));
    w.peer.destroy_node(&node).await.unwrap();
    assert_eq!(node.as_object().locate().await, Ok(false));
    for hops in [1, 3] {
        let before = w.peer.forwarded().await.unwrap();
        let node = w.peer.forwarder(hops).await.unwrap().unwrap();
        assert_eq!(node.as_object().locate().await, Ok(true));
        assert_eq!(node.name().await.unwrap(), "home");
        // Each forward is sent once, in answer to a LocateRequest or to a call.
        assert_eq!(w.peer.forwarded().await.unwrap() - before, hops);
    }
    let nowhere = w.peer.forward_to_nowhere().await.unwrap().unwrap();
    // omniORB asks its servant manager for requests only, and says of all else that it is here.
    let here = w
        .way
        .as_ref()
        .is_some_and(|way| way.brand.name == "omniorb");
    assert_eq!(nowhere.as_object().locate().await, Ok(here));
}

/// The same object by its plain key.
pub(super) async fn corbaloc(w: Arc<World>) {
    let url = w
        .way
        .as_ref()
        .expect("a way")
        .corbaloc(w.peer.as_object().ior());
    let object = w.orb.string_to_object(&url).await.unwrap();
    let peer: PeerRef = object.narrow().await.unwrap().expect("a Peer");
    peer.set_number(4711).await.unwrap();
    assert_eq!(w.peer.number().await.unwrap(), 4711);
}

pub(super) async fn server_dies(w: Arc<World>) {
    let (server, reference) = w.way.as_ref().expect("a way").start();
    let object = w.orb.string_to_object(&reference).await.unwrap();
    let peer: PeerRef = object.unchecked_narrow();
    peer.nothing().await.unwrap();
    raised(peer.die().await, Kind::CommFailure, CompletionStatus::Maybe);
    drop(server);
    raised(peer.nothing().await, Kind::Transient, CompletionStatus::No);
    w.peer.nothing().await.unwrap();
}

/// A server that took the place of another knows nothing of the other's objects.
pub(super) async fn stale_reference(w: Arc<World>) {
    let way = w.way.as_ref().expect("a way");
    let (first, reference) = way.start();
    let stale: PeerRef = w
        .orb
        .string_to_object(&reference)
        .await
        .unwrap()
        .unchecked_narrow();
    let node: NodeRef = stale.own_node().await.unwrap().unwrap();
    assert_eq!(node.name().await.unwrap(), "home");
    drop(first);
    gone(&stale).await;
    let (_second, reference) = way.start_again(stale.as_object().ior());
    let fresh: PeerRef = w
        .orb
        .string_to_object(&reference)
        .await
        .unwrap()
        .unchecked_narrow();
    fresh.nothing().await.unwrap();
    for object in [stale.as_object(), node.as_object()] {
        assert_eq!(object.non_existent().await, Ok(true));
    }
    raised(
        node.name().await,
        Kind::ObjectNotExist,
        CompletionStatus::No,
    );
}

/// A client whose server was started again goes on, by a reference that still says where it is.
pub(super) async fn restart(w: Arc<World>) {
    let way = w.way.as_ref().expect("a way");
    let (first, reference) = way.start();
    let ior = w.orb.string_to_object(&reference).await.unwrap();
    let by_key = w.orb.string_to_object(&way.corbaloc(ior.ior())).await;
    let peer: PeerRef = by_key.unwrap().unchecked_narrow();
    peer.set_number(4712).await.unwrap();
    drop(first);
    gone(&peer).await;
    let (_second, _) = way.start_again(ior.ior());
    assert_eq!(peer.number().await.unwrap(), 0, "this one is new");
    peer.nothing().await.unwrap();
}

/// A server that has just gone: the first call may find its connection before the end of that is
/// seen, and then the call's outcome is unknown. Afterwards there is no connection.
async fn gone(peer: &PeerRef) {
    let lost = peer.nothing().await.unwrap_err();
    assert!(
        matches!(lost.kind, Kind::Transient | Kind::CommFailure),
        "{lost}"
    );
}

pub(super) async fn shutdown(w: Arc<World>) {
    let (server, reference) = w.way.as_ref().expect("a way").start();
    let peer: PeerRef = w
        .orb
        .string_to_object(&reference)
        .await
        .unwrap()
        .unchecked_narrow();
    peer.shutdown().await.unwrap();
    tokio::task::block_in_place(|| server.finish().success());
    gone(&peer).await;
    raised(peer.nothing().await, Kind::Transient, CompletionStatus::No);
}
