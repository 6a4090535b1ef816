//! Servers that send their clients elsewhere.

use crate::hostile::honest_pair::{World, within};
use crate::hostile::raw::{Peer, Raw, decode, message, refusing, reply};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::join;
use zorb::{
    CompletionStatus as Completed, Interface, Ior, SyncScope, SystemException,
    SystemExceptionKind as Kind,
};
use zorb_giop::{LocateReply, MessageKind, ReplyStatus, RequestHeader, ResponseFlags, Version};

const FORWARDS: [ReplyStatus; 2] = [
    ReplyStatus::LocationForward,
    ReplyStatus::LocationForwardPerm,
];

async fn forward(raw: &mut Raw, status: ReplyStatus, to: &Ior) {
    let (id, _) = raw.receive_request().await;
    raw.send(&reply(id, status, |e| e.put(to))).await;
}

/// The server of `world`, as a forward names it.
async fn real(world: &World) -> Ior {
    let reference = world.reference();
    let object = world.bystander().string_to_object(&reference).await;
    object.unwrap().ior().clone()
}

#[tokio::test]
async fn a_forward_to_a_working_object_is_followed_and_remembered() {
    let world = World::start().await;
    for status in FORWARDS {
        let peer = Peer::start().await;
        let target = peer.target(world.bystander());
        let real = real(&world).await;
        let forwarding = async {
            let mut raw = peer.accept().await;
            forward(&mut raw, status, &real).await;
            raw
        };
        let (outcome, mut raw) = join!(within(target.twice(4)), forwarding);
        assert_eq!(outcome, Ok(8));
        assert_eq!(within(target.twice(5)).await, Ok(10));
        assert_eq!(within(target.greet("Ada")).await.unwrap(), "hello Ada");
        // No call asked for the location again.
        drop(target);
        raw.send(&message(Version::V1_2, MessageKind::CloseConnection, &[]))
            .await;
        assert!(raw.receive().await.is_none());
    }
    world.end().await;
}

#[tokio::test]
async fn a_forward_in_a_circle_is_given_up() {
    let world = World::start().await;
    for status in FORWARDS {
        let (one, two) = (Peer::start().await, Peer::start().await);
        let target = one.target(world.bystander());
        let mut requests = 0;
        let circling = async {
            let mut first = one.accept().await;
            forward(&mut first, status, &two.ior()).await;
            let mut second = two.accept().await;
            loop {
                forward(&mut second, status, &one.ior()).await;
                forward(&mut first, status, &two.ior()).await;
                requests += 2;
            }
        };
        let outcome = tokio::select! {
            outcome = within(target.twice(4)) => outcome,
            () = circling => unreachable!("it goes on for ever"),
        };
        let e = outcome.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completed::No));
        assert!(format!("{e:#}").contains("forwards"), "{e:#}");
        assert!(requests <= 100, "{requests} requests");
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test]
async fn forwards_do_not_extend_the_time_limit_of_a_call() {
    /// Two pauses are longer than the limit, and one is not: a limit for each hop would be kept, and the circle given up.
    const LIMIT: Duration = Duration::from_millis(500);
    const PAUSE: Duration = Duration::from_millis(300);
    let world = World::start().await;
    let (one, two) = (Peer::start().await, Peer::start().await);
    let target = one.target(world.bystander()).with_round_trip_timeout(LIMIT);
    let circling = async {
        let mut first = one.accept().await;
        let mut second = None;
        loop {
            tokio::time::sleep(PAUSE).await;
            forward(&mut first, ReplyStatus::LocationForward, &two.ior()).await;
            let second = match &mut second {
                Some(second) => second,
                none => none.insert(two.accept().await),
            };
            tokio::time::sleep(PAUSE).await;
            forward(second, ReplyStatus::LocationForward, &one.ior()).await;
        }
    };
    let late = tokio::select! {
        outcome = within(target.twice(4)) => outcome.unwrap_err(),
        () = circling => unreachable!("it forwards for ever"),
    };
    assert_eq!(
        (late.kind, late.completed),
        (Kind::Timeout, Completed::Maybe)
    );
    drop(target);
    world.end().await;
}

#[tokio::test]
async fn a_forward_to_a_dead_end_is_asked_for_once_more_where_it_came_from() {
    let world = World::start().await;
    let (_taken, dead) = refusing();
    let real = real(&world).await;
    for status in FORWARDS {
        let peer = Peer::start().await;
        let target = peer.target(world.bystander());

        // The second answer leads somewhere.
        let forwarding = async {
            let mut raw = peer.accept().await;
            forward(&mut raw, status, &dead).await;
            forward(&mut raw, status, &real).await;
            raw
        };
        let (outcome, _raw) = join!(within(target.twice(4)), forwarding);
        assert_eq!(outcome, Ok(8));

        // It always leads to the dead end.
        let peer = Peer::start().await;
        let target = peer.target(world.bystander());
        let forwarding = async {
            let mut raw = peer.accept().await;
            loop {
                forward(&mut raw, status, &dead).await;
            }
        };
        let outcome = tokio::select! {
            outcome = within(target.twice(4)) => outcome,
            () = forwarding => unreachable!("it goes on for ever"),
        };
        let e = outcome.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completed::No));
        assert!(format!("{e:#}").contains("refused"), "{e:#}");
        world.serves().await;
    }
    world.end().await;
}

#[tokio::test]
async fn an_object_that_is_gone_from_where_a_forward_led_is_asked_for_anew() {
    let world = World::start().await;
    let (locator, first) = (Peer::start().await, Peer::start().await);
    let target = locator.target(world.bystander());
    let real = real(&world).await;
    let serving = async {
        let mut asked = locator.accept().await;
        forward(&mut asked, ReplyStatus::LocationForward, &first.ior()).await;
        let mut home = first.accept().await;
        home.serve_twice().await;
        // It has moved.
        let (id, _) = home.receive_request().await;
        let gone = SystemException::new(Kind::ObjectNotExist, 0, Completed::No);
        home.send(&reply(id, ReplyStatus::SystemException, |e| e.put(&gone)))
            .await;
        forward(&mut asked, ReplyStatus::LocationForward, &real).await;
        (asked, home)
    };
    let calling = async {
        assert_eq!(within(target.twice(4)).await, Ok(8));
        assert_eq!(within(target.twice(5)).await, Ok(10));
    };
    join!(calling, serving);
    world.end().await;
}

#[tokio::test]
async fn a_forward_to_nil_or_to_no_profile_of_ours_is_not_followed() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let foreign = {
        let mut ior = peer.ior();
        ior.profiles[0].tag = zorb_giop::ior::ProfileTag(99);
        ior
    };
    let forwarding = async {
        let mut raw = peer.accept().await;
        forward(&mut raw, ReplyStatus::LocationForward, &Ior::NIL).await;
        forward(&mut raw, ReplyStatus::LocationForward, &foreign).await;
        raw.serve_twice().await;
    };
    let calling = async {
        for kind in [Kind::InvObjref, Kind::ImpLimit] {
            let e = within(target.twice(4)).await.unwrap_err();
            assert_eq!((e.kind, e.completed), (kind, Completed::No));
        }
        assert_eq!(within(target.twice(4)).await, Ok(8));
    };
    join!(calling, forwarding);
    world.end().await;
}

async fn answer_locate(raw: &mut Raw, answer: LocateReply) {
    let asked = raw.receive().await.unwrap();
    let id = zorb_giop::LocateRequestHeader::read(&asked)
        .unwrap()
        .request_id;
    let e = zorb_cdr::Encoder::<zorb_cdr::BigEndian>::new(zorb_cdr::WireFormat::default());
    let answer = answer.encode(e, Version::V1_2, id).unwrap();
    raw.send(&answer.to_vec()).await;
}

/// JacORB says that an object is gone by an exception.
#[tokio::test]
async fn an_object_that_does_not_exist_is_not_there_in_whatever_way_it_is_said() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let object = world.bystander().object(peer.ior());
    let raised = |kind| LocateReply::SystemException(SystemException::new(kind, 0, Completed::No));
    let answering = async {
        let mut raw = peer.accept().await;
        answer_locate(&mut raw, LocateReply::UnknownObject).await;
        answer_locate(&mut raw, raised(Kind::ObjectNotExist)).await;
        answer_locate(&mut raw, raised(Kind::NoPermission)).await;
        raw
    };
    let asking = async {
        assert_eq!(within(object.locate()).await, Ok(false));
        assert_eq!(within(object.locate()).await, Ok(false));
        let refused = within(object.locate()).await.unwrap_err();
        assert_eq!(refused.kind, Kind::NoPermission);
    };
    join!(asking, answering);
    world.end().await;
}

#[tokio::test]
async fn locating_follows_forwards_too_and_not_for_ever() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let object = world.bystander().object(peer.ior());
    let here = peer.ior();
    let forwarding = async {
        let mut raw = peer.accept().await;
        loop {
            answer_locate(&mut raw, LocateReply::ObjectForward(here.clone())).await;
        }
    };
    let outcome = tokio::select! {
        outcome = within(object.locate()) => outcome,
        () = forwarding => unreachable!("it goes on for ever"),
    };
    assert_eq!(outcome.unwrap_err().kind, Kind::Transient);
    world.end().await;
}

#[tokio::test]
async fn when_the_place_of_a_forward_is_gone_calls_go_back_to_where_it_came_from() {
    let world = World::start().await;
    let real = real(&world).await;
    for status in FORWARDS {
        let (peer, place) = (Peer::start().await, Peer::start().await);
        let target = peer.target(world.bystander());
        let serving = async {
            let mut raw = peer.accept().await;
            forward(&mut raw, status, &place.ior()).await;
            let mut there = place.accept().await;
            there.serve_twice().await;
            (raw, there)
        };
        let (outcome, (mut raw, mut there)) = join!(within(target.twice(4)), serving);
        assert_eq!(outcome, Ok(8));
        // It says that it ends, so that no call is in doubt, and then there is no listener.
        let close = message(Version::V1_2, MessageKind::CloseConnection, &[]);
        there.send(&close).await;
        drop((there, place));
        let forwarding = async {
            forward(&mut raw, status, &real).await;
            raw
        };
        let (outcome, _raw) = join!(within(target.twice(5)), forwarding);
        assert_eq!(outcome, Ok(10));
        assert_eq!(within(target.twice(6)).await, Ok(12));
    }
    world.end().await;
}

/// Receives a call of `forget` of this scope and with this argument; gives its id.
async fn receive_forget(raw: &mut Raw, response: ResponseFlags, n: i32) -> u32 {
    let message = raw.receive().await.expect("a request before the end");
    let header = RequestHeader::read(&message).unwrap();
    assert_eq!(
        (header.operation, header.response),
        (&b"forget"[..], response)
    );
    assert_eq!(decode::<i32>(&message, header.body), n);
    header.request_id
}

#[tokio::test]
async fn an_acknowledged_one_way_call_waits_for_the_server_that_it_is_forwarded_to() {
    let world = World::start().await;
    for status in FORWARDS {
        for (scope, response) in [
            (SyncScope::WithServer, ResponseFlags::WithServer),
            (SyncScope::WithTarget, ResponseFlags::WithTarget),
        ] {
            let (one, two) = (Peer::start().await, Peer::start().await);
            let target = one.target(world.bystander()).with_sync_scope(scope);
            let mut call = pin!(within(target.forget(7)));
            let (mut first, mut second, id) = {
                let forwarding = async {
                    let mut first = one.accept().await;
                    let id = receive_forget(&mut first, response, 7).await;
                    first.send(&reply(id, status, |e| e.put(&two.ior()))).await;
                    let mut second = two.accept().await;
                    let id = receive_forget(&mut second, response, 7).await;
                    (first, second, id)
                };
                tokio::select! {
                    outcome = &mut call => panic!("{scope:?}: nothing has been acknowledged: {outcome:?}"),
                    forwarded = forwarding => forwarded,
                }
            };
            for _ in 0..10 {
                let poll = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
                assert_eq!(poll, Poll::Pending, "{scope:?}");
                tokio::task::yield_now().await;
            }
            let acknowledgement = reply(id, ReplyStatus::NoException, |_| Ok(()));
            second.send(&acknowledgement).await;
            assert_eq!(call.await, Ok(()));
            // The next call goes to the new place at once, and what that says of it is reported.
            let refusing = async {
                let id = receive_forget(&mut second, response, 8).await;
                let absent = SystemException::new(Kind::ObjectNotExist, 9, Completed::No);
                let refusal = reply(id, ReplyStatus::SystemException, |e| e.put(&absent));
                second.send(&refusal).await;
                // It is asked for once more where the reference leads.
                let id = receive_forget(&mut first, response, 8).await;
                first
                    .send(&reply(id, ReplyStatus::SystemException, |e| e.put(&absent)))
                    .await;
            };
            let (refused, ()) = join!(within(target.forget(8)), refusing);
            let refused = refused.unwrap_err();
            assert_eq!((refused.kind, refused.minor), (Kind::ObjectNotExist, 9));
        }
    }
    world.end().await;
}

#[tokio::test]
async fn an_acknowledged_one_way_call_reaches_the_servant_behind_a_forward() {
    let world = World::start().await;
    let real = real(&world).await;
    let mut expected = Vec::new();
    for status in FORWARDS {
        for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
            let peer = Peer::start().await;
            let target = peer.target(world.bystander()).with_sync_scope(scope);
            let n = i32::try_from(expected.len()).unwrap();
            expected.push(n);
            let forwarding = async {
                let mut raw = peer.accept().await;
                forward(&mut raw, status, &real).await;
            };
            let (outcome, ()) = join!(within(target.forget(n)), forwarding);
            assert_eq!(outcome, Ok(()), "{status:?} {scope:?}");
            // A server that has acknowledged calls the servant, before the next request of the connection.
            world.serves().await;
            within(async {
                while world.subject.forgotten.lock().unwrap().len() < expected.len() {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            assert_eq!(*world.subject.forgotten.lock().unwrap(), expected);
        }
    }
    world.end().await;
}

#[tokio::test]
async fn a_user_exception_in_the_reply_to_a_one_way_call_is_unknown() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let target = peer.target(world.bystander());
    let serving = async {
        let mut raw = peer.accept().await;
        for scope in [ResponseFlags::WithServer, ResponseFlags::WithTarget] {
            let id = receive_forget(&mut raw, scope, 1).await;
            let refused = reply(id, ReplyStatus::UserException, |e| {
                e.write_raw_string(b"IDL:Hostile/Target/Refused:1.0")?;
                e.write_raw_string(b"one way")
            });
            raw.send(&refused).await;
        }
    };
    let calling = async {
        for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
            let raised = within(target.with_sync_scope(scope).forget(1)).await;
            let raised = raised.unwrap_err();
            assert_eq!(
                (raised.kind, raised.minor, raised.completed),
                (
                    Kind::Unknown,
                    zorb::minor::UNLISTED_USER_EXCEPTION,
                    Completed::Yes
                ),
                "{scope:?}: {raised}"
            );
        }
    };
    join!(calling, serving);
    drop(target);
    world.end().await;
}
