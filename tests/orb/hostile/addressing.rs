//! Servers that want their objects addressed in another way (NEEDS_ADDRESSING_MODE).

use crate::hostile::honest_pair::{World, within};
use crate::hostile::raw::{Peer, Raw, reply};
use tokio::join;
use zorb::{CompletionStatus as Completed, SystemExceptionKind as Kind};
use zorb_cdr::{BigEndian, Encoder, WireFormat};
use zorb_giop::{
    LocateReply, LocateRequestHeader, MessageKind, ReplyStatus, RequestHeader, TargetAddress,
    Version,
};

const KEY: i16 = 0;
const PROFILE: i16 = 1;
const REFERENCE: i16 = 2;

/// Says how the next request's object is to be addressed; gives how it was.
async fn want(raw: &mut Raw, wanted: i16) -> TargetAddress<'static> {
    let message = raw.receive().await.expect("a request before the end");
    let header = RequestHeader::read(&message).unwrap();
    let answer = reply(header.request_id, ReplyStatus::NeedsAddressingMode, |e| {
        e.put(&wanted)
    });
    raw.send(&answer).await;
    keep(header.target)
}

/// Serves `twice`; gives how the object was addressed.
async fn serve(raw: &mut Raw) -> TargetAddress<'static> {
    let message = raw.receive().await.expect("a request before the end");
    let header = RequestHeader::read(&message).unwrap();
    let answer = reply(header.request_id, ReplyStatus::NoException, |e| {
        e.put(&8_i32)
    });
    raw.send(&answer).await;
    keep(header.target)
}

fn keep(target: TargetAddress<'_>) -> TargetAddress<'static> {
    match target {
        TargetAddress::Key(key) => TargetAddress::Key(key.to_vec().leak()),
        TargetAddress::Profile(profile) => TargetAddress::Profile(profile),
        TargetAddress::Reference { selected, ior } => TargetAddress::Reference { selected, ior },
    }
}

#[tokio::test]
async fn the_way_a_server_wants_is_used_from_then_on() {
    let world = World::start().await;
    for mode in [PROFILE, REFERENCE] {
        let peer = Peer::start().await;
        let mut ior = peer.ior();
        // The profile that leads somewhere is not the first.
        let foreign = zorb_giop::ior::TaggedProfile {
            tag: zorb_giop::ior::ProfileTag(99),
            data: zorb::Bytes::from_static(b"whatever"),
        };
        ior.profiles.insert(0, foreign);
        let expected = |mode| match mode {
            PROFILE => TargetAddress::Profile(ior.profiles[1].clone()),
            _ => TargetAddress::Reference {
                selected: 1,
                ior: Box::new(ior.clone()),
            },
        };
        let target = world.bystander().object(ior.clone());
        let target: crate::hostile::honest_pair::TargetRef = target.unchecked_narrow();
        let calling = async {
            for _ in 0..3 {
                assert_eq!(within(target.twice(4)).await, Ok(8));
            }
        };
        let serving = async {
            let mut raw = peer.accept().await;
            let first = want(&mut raw, mode).await;
            assert_eq!(first, TargetAddress::Key(b"whatever"));
            for _ in 0..3 {
                assert_eq!(serve(&mut raw).await, expected(mode));
            }
            raw
        };
        join!(calling, serving);
    }
    world.end().await;
}

#[tokio::test]
async fn a_server_that_wants_what_it_got_or_goes_in_circles_fails_the_call_alone() {
    let world = World::start().await;
    for wanted in [
        &[KEY][..],
        &[PROFILE, PROFILE],
        &[PROFILE, REFERENCE, PROFILE],
        &[REFERENCE, KEY, PROFILE],
        &[3],
        &[-1],
    ] {
        let peer = Peer::start().await;
        let target = peer.target(world.bystander());
        let serving = async {
            let mut raw = peer.accept().await;
            for wanted in wanted {
                want(&mut raw, *wanted).await;
            }
            serve(&mut raw).await;
            raw
        };
        let calling = async {
            let e = within(target.twice(4)).await.unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completed::No));
            assert!(format!("{e:#}").contains("address"), "{e:#}");
            // The connection and the next call are none the worse.
            assert_eq!(within(target.twice(4)).await, Ok(8));
        };
        join!(calling, serving);
    }
    world.end().await;
}

#[tokio::test]
async fn a_question_where_an_object_is_is_asked_as_the_server_wants_it() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let answer = |raw: Raw, reply: LocateReply| async move {
        let mut raw = raw;
        let message = raw.receive().await.unwrap();
        assert_eq!(message.header.kind, MessageKind::LocateRequest);
        let header = LocateRequestHeader::read(&message).unwrap();
        let e = Encoder::<BigEndian>::new(WireFormat::default());
        let reply = reply.encode(e, Version::V1_2, header.request_id).unwrap();
        raw.send(&reply.to_vec()).await;
        (raw, keep(header.target))
    };
    let object = world.bystander().object(peer.ior());
    let serving = async {
        let raw = peer.accept().await;
        let (raw, first) = answer(raw, LocateReply::NeedsAddressingMode(PROFILE)).await;
        assert_eq!(first, TargetAddress::Key(b"whatever"));
        let (raw, second) = answer(raw, LocateReply::ObjectHere).await;
        let profile = peer.ior().profiles[0].clone();
        assert_eq!(second, TargetAddress::Profile(profile));
        let (raw, _) = answer(raw, LocateReply::NeedsAddressingMode(PROFILE)).await;
        raw
    };
    let asking = async {
        assert_eq!(within(object.locate()).await, Ok(true));
        let e = within(object.locate()).await.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completed::No));
    };
    join!(asking, serving);
    world.end().await;
}
