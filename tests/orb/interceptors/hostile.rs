//! Interceptors that panic, forward in circles, or call themselves.

use super::{Act, Point, Probe, Seen, TillRef, pair, within};
use std::sync::{Arc, OnceLock};
use zorb::{Interface, ObjectRef, SystemExceptionKind as Kind};

#[tokio::test]
async fn a_panic_at_any_point_is_unknown_and_the_next_call_is_served() {
    for point in [
        Point::SendRequest,
        Point::ReceiveReply,
        Point::ReceiveException,
        Point::ReceiveRequestServiceContexts,
        Point::ReceiveRequest,
        Point::SendReply,
        Point::SendException,
    ] {
        let seen = Seen::default();
        let probe = Probe::deciding("1", &seen, move |here, operation| {
            match here == point && operation != "pass" {
                true => Act::Panic,
                false => Act::Go,
            }
        });
        let of_client = (point as u8) < Point::ReceiveRequestServiceContexts as u8;
        let pair = match of_client {
            true => pair(&[probe], &[]).await,
            false => pair(&[], &[probe]).await,
        };
        for till in [&pair.far, &pair.near] {
            let exception = match point {
                Point::ReceiveException | Point::SendException => till.fail().await.unwrap_err(),
                _ => till.add(1).await.unwrap_err(),
            };
            assert_eq!(exception.kind, Kind::Unknown, "{point:?}");
            till.pass().await.unwrap();
        }
        pair.end().await;
    }
}

#[tokio::test]
async fn forwards_in_a_circle_are_transient() {
    for point in [Point::SendRequest, Point::ReceiveRequest] {
        let (seen, to) = (Seen::default(), Arc::new(OnceLock::<ObjectRef>::new()));
        let there = Arc::clone(&to);
        let probe = Probe::deciding("1", &seen, move |here, operation| match there.get() {
            Some(to) if here == point && operation == "add" => Act::Forward(to.clone()),
            _ => Act::Go,
        });
        let pair = match point {
            Point::SendRequest => pair(&[probe], &[]).await,
            _ => pair(&[], &[probe]).await,
        };
        to.set(pair.near.as_object().clone()).unwrap();
        for till in [&pair.far, &pair.near] {
            let endless = within(till.add(1)).await.unwrap_err();
            assert_eq!(endless.kind, Kind::Transient, "{point:?}");
            till.pass().await.unwrap();
        }
        // The interceptor holds a reference, which holds the ORB.
        pair.end().await;
    }
}

#[tokio::test]
async fn an_interceptor_that_calls_itself_is_bounded_and_has_a_way_out() {
    let seen = Seen::default();
    for is_out in [false, true] {
        let to = Arc::new(OnceLock::<(TillRef, bool)>::new());
        let there = Arc::clone(&to);
        let probe = Probe::deciding("1", &seen, move |here, _| match there.get() {
            Some((to, false)) if here == Point::SendRequest => Act::Call(to.clone()),
            Some((to, true)) if here == Point::SendRequest => Act::CallWithout(to.clone()),
            _ => Act::Go,
        });
        let pair = pair(&[probe], &[]).await;
        for (till, target) in [(&pair.far, &pair.far), (&pair.near, &pair.near)] {
            let _ = to.set((target.clone(), is_out));
            seen.take();
            let called = within(till.pass()).await;
            let attempts = seen
                .take()
                .iter()
                .filter(|seen| seen.ends_with("SendRequest"))
                .count();
            match is_out {
                true => {
                    called.unwrap();
                    assert_eq!(attempts, 1);
                }
                false => {
                    assert_eq!(called.unwrap_err().kind, Kind::ImpLimit);
                    assert_eq!(attempts, usize::from(zorb::interceptors::MAX_NESTED) + 1);
                }
            }
        }
        pair.end().await;
    }
}

#[tokio::test]
async fn a_server_interceptor_that_calls_its_own_object_is_bounded() {
    let (seen, to) = (Seen::default(), Arc::new(OnceLock::<TillRef>::new()));
    let there = Arc::clone(&to);
    let probe = Probe::deciding("1", &seen, move |here, _| match there.get() {
        Some(to) if here == Point::ReceiveRequest => Act::Call(to.clone()),
        _ => Act::Go,
    });
    let pair = pair(&[], &[probe]).await;
    to.set(pair.near.clone()).unwrap();
    let endless = within(pair.near.pass()).await.unwrap_err();
    assert_eq!(endless.kind, Kind::ImpLimit);
    pair.end().await;
}
