//! What interceptors do to a call: exceptions and forwards from each point, and waits.

use super::{Act, Point, Probe, Seen, TillServant, pair, within};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use zorb::{
    CompletionStatus, Forward, Interface, ObjectRef, Orb, SystemException,
    SystemExceptionKind as Kind,
};

/// A probe that fails, or forwards, at a point.
fn at(name: &'static str, seen: &Seen, point: Point, act: &Arc<Mutex<Act>>) -> Probe {
    let act = Arc::clone(act);
    Probe::deciding(name, seen, move |here, operation| {
        match here == point && operation != "pass" {
            true => act.lock().unwrap().clone(),
            false => Act::Go,
        }
    })
}

#[tokio::test]
async fn an_exception_from_each_point_is_the_outcome_for_the_rest() {
    let failed = || Act::Fail(SystemException::no_memory("full"));
    // The point, the side, the operation, and what the interceptors see behind it.
    for (point, of_client, operation, expected) in [
        (
            Point::SendRequest,
            true,
            "add",
            &["1 ReceiveException SystemException"][..],
        ),
        (
            Point::ReceiveReply,
            true,
            "add",
            &["1 ReceiveException SystemException"],
        ),
        (
            Point::ReceiveException,
            true,
            "refuse",
            &["1 ReceiveException SystemException"],
        ),
        (
            Point::ReceiveOther,
            true,
            "note",
            &["1 ReceiveException SystemException"],
        ),
        (
            Point::ReceiveRequestServiceContexts,
            false,
            "add",
            &["1 SendException SystemException"],
        ),
        (
            Point::ReceiveRequest,
            false,
            "add",
            &[
                "3 SendException SystemException",
                "2 SendException SystemException",
                "1 SendException SystemException",
            ],
        ),
        (
            Point::SendReply,
            false,
            "add",
            &["1 SendException SystemException"],
        ),
        (
            Point::SendException,
            false,
            "fail",
            &["1 SendException SystemException"],
        ),
    ] {
        let seen = Seen::default();
        let probes = [
            Probe::new("1", &seen),
            at("2", &seen, point, &Arc::new(Mutex::new(failed()))),
            Probe::new("3", &seen),
        ];
        let pair = match of_client {
            true => pair(&probes, &[]).await,
            false => pair(&[], &probes).await,
        };
        for till in [&pair.far, &pair.near] {
            seen.take();
            let exception = match operation {
                "add" => till.add(1).await.unwrap_err(),
                "fail" => till.fail().await.unwrap_err(),
                "note" => till.note(1).await.unwrap_err(),
                _ => match till.refuse("").await.unwrap_err() {
                    super::till::RefuseError::System(exception) => exception,
                    other => panic!("{other}"),
                },
            };
            assert_eq!(exception.kind, Kind::NoMemory, "{point:?}");
            let seen: Vec<_> = seen.take();
            let here = format!("2 {operation} {point:?}");
            let behind = seen
                .iter()
                .skip_while(|seen| **seen != here && !seen.starts_with(&format!("{here} ")))
                .skip(1);
            let behind: Vec<_> = behind
                .map(|seen| seen.replace(&format!(" {operation} "), " "))
                .collect();
            assert_eq!(behind, expected, "{point:?}");
            till.pass().await.unwrap();
        }
        pair.end().await;
    }
}

#[tokio::test]
async fn a_forward_from_each_point_that_may_goes_to_the_other_object() {
    for (point, of_client, operation) in [
        (Point::ReceiveException, true, "fail"),
        (Point::ReceiveRequestServiceContexts, false, "add"),
        (Point::ReceiveRequest, false, "add"),
        (Point::SendException, false, "fail"),
    ] {
        let seen = Seen::default();
        let act = Arc::new(Mutex::new(Act::Go));
        let probes = [
            Probe::new("1", &seen),
            at("2", &seen, point, &act),
            Probe::new("3", &seen),
        ];
        let pair = match of_client {
            true => pair(&probes, &[]).await,
            false => pair(&[], &probes).await,
        };
        // The other object is of an ORB without interceptors, and its servant of another kind: it does not fail.
        let other = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .build()
            .await
            .unwrap();
        other.root_poa().the_poa_manager().activate().unwrap();
        let there = (other.root_poa()).activate(TillServant::new(Calm)).unwrap();
        for till in [&pair.far, &pair.near] {
            let forwarding = Arc::clone(&act);
            *forwarding.lock().unwrap() = Act::Forward(there.as_object().clone());
            seen.take();
            let done = async {
                match operation {
                    "add" => till.add(1).await.map(|added| added == (100, 100)),
                    _ => till.fail().await.map(|()| true),
                }
            };
            assert_eq!(within(done).await, Ok(true), "{point:?}");
            let seen = seen.take();
            let side = if of_client { "Receive" } else { "Send" };
            let forwarded = format!("1 {operation} {side}Other LocationForward");
            assert!(seen.contains(&forwarded), "{point:?}: {seen:?}");
            *forwarding.lock().unwrap() = Act::Go;
        }
        other.shutdown(true).await.unwrap();
        pair.end().await;
    }
}

/// A till at which nothing fails.
struct Calm;

impl super::Till for Calm {
    async fn add(&self, _: i32) -> Result<(i32, i32), SystemException> {
        Ok((100, 100))
    }

    async fn refuse(&self, _: &str) -> Result<(), super::till::RefuseError> {
        Ok(())
    }

    async fn fail(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn die(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn note(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    async fn relay(&self, _: Option<super::TillRef>) -> Result<(), SystemException> {
        Ok(())
    }

    async fn pass(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Sends calls elsewhere, each once.
struct Balance(ObjectRef);

impl zorb::interceptors::ClientRequestInterceptor for Balance {
    fn send_request<'a>(
        &'a self,
        info: &'a mut zorb::interceptors::ClientRequestInfo<'_>,
    ) -> zorb::interceptors::Interception<'a> {
        match info.effective_target().is_equivalent(&self.0) {
            true => zorb::interceptors::Interception::CONTINUE,
            false => Err(zorb::interceptors::Interrupt::Forward(self.0.clone())).into(),
        }
    }
}

#[tokio::test]
async fn a_client_whose_server_is_gone_is_forwarded_before_and_behind_the_failure() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let there: ObjectRef = (server.root_poa())
        .activate(TillServant::new(Calm))
        .map(|there: super::TillRef| there.as_object().clone())
        .unwrap();
    let seen = Seen::default();
    let gone = "corbaloc::127.0.0.1:1/Gone";
    let client = Orb::builder()
        .client_interceptor(Balance(there.clone()))
        .build()
        .await
        .unwrap();
    let till = client.string_to_object(gone).await.unwrap();
    let till: super::TillRef = till.unchecked_narrow();
    for _ in 0..2 {
        assert_eq!(within(till.add(1)).await.unwrap(), (100, 100));
    }
    client.shutdown(true).await.unwrap();
    let act = Arc::new(Mutex::new(Act::Forward(there)));
    let client = Orb::builder()
        .client_interceptor(at("1", &seen, Point::ReceiveException, &act))
        .build()
        .await
        .unwrap();
    let till = client.string_to_object(gone).await.unwrap();
    let till: super::TillRef = till.unchecked_narrow();
    assert_eq!(within(till.add(1)).await.unwrap(), (100, 100));
    assert_eq!(
        seen.take(),
        [
            "1 add SendRequest",
            "1 add ReceiveException SystemException",
            "1 add SendRequest",
            "1 add ReceiveReply Successful",
        ]
    );
    // Without a forward, the interceptors see why the call fails.
    *act.lock().unwrap() = Act::Go;
    let refused = within(till.add(1)).await.unwrap_err();
    assert_eq!(refused.kind, Kind::Transient);
    assert_eq!(
        seen.take(),
        [
            "1 add SendRequest",
            "1 add ReceiveException SystemException"
        ]
    );
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn a_forward_of_a_server_and_a_repeated_request_are_attempts_of_their_own() {
    let seen = Seen::default();
    let pair = pair(&[Probe::new("1", &seen)], &[]).await;
    let forward: super::TillRef = pair.poa.create_forward(Forward::to(&pair.near)).unwrap();
    let far = pair.far_of(forward.as_object()).await;
    for till in [&far, &forward] {
        seen.take();
        assert_eq!(till.add(1).await.unwrap(), (2, 2));
        assert_eq!(
            seen.take(),
            [
                "1 add SendRequest",
                "1 add ReceiveOther LocationForward",
                "1 add SendRequest",
                "1 add ReceiveReply Successful",
            ]
        );
    }
    pair.end().await;
}

#[tokio::test]
async fn an_interceptor_that_waits_holds_no_other_call() {
    for of_client in [true, false] {
        let (seen, go) = (Seen::default(), Arc::new(Notify::new()));
        let act = Arc::new(Mutex::new(Act::Wait(Arc::clone(&go))));
        let points = match of_client {
            true => [Point::SendRequest, Point::ReceiveReply],
            false => [Point::ReceiveRequestServiceContexts, Point::SendReply],
        };
        for point in points {
            let probes = [at("1", &seen, point, &act)];
            let pair = match of_client {
                true => pair(&probes, &[]).await,
                false => pair(&[], &probes).await,
            };
            for till in [&pair.far, &pair.near] {
                let adding = tokio::spawn({
                    let till = till.clone();
                    async move { till.add(1).await }
                });
                let here = format!("1 add {point:?}");
                within(async {
                    while !seen
                        .0
                        .lock()
                        .unwrap()
                        .iter()
                        .any(|seen| seen.starts_with(&here))
                    {
                        tokio::task::yield_now().await;
                    }
                })
                .await;
                within(till.pass()).await.unwrap();
                assert!(!adding.is_finished());
                go.notify_one();
                assert_eq!(within(adding).await.unwrap().unwrap(), (2, 2));
                seen.take();
            }
            pair.end().await;
        }
    }
}

#[tokio::test]
async fn a_call_whose_time_is_over_ends_its_interceptors() {
    let (seen, go) = (Seen::default(), Arc::new(Notify::new()));
    let wait = Arc::new(Mutex::new(Act::Wait(go)));
    let probes = [
        Probe::new("1", &seen),
        at("2", &seen, Point::SendRequest, &wait),
    ];
    let pair = pair(&probes, &[]).await;
    for till in [&pair.far, &pair.near] {
        till.pass().await.unwrap();
        seen.take();
        let limited = till.with_round_trip_timeout(std::time::Duration::from_millis(20));
        let late = within(limited.add(1)).await.unwrap_err();
        assert_eq!(
            (late.kind, late.completed),
            (Kind::Timeout, CompletionStatus::No)
        );
        assert_eq!(
            seen.take(),
            [
                "1 add SendRequest",
                "2 add SendRequest",
                "1 add ReceiveException SystemException",
            ]
        );
    }
    pair.end().await;
}

#[tokio::test]
async fn a_one_way_request_that_waits_for_its_connection_has_passed_its_interceptors() {
    let seen = Seen::default();
    let pair = pair(&[Probe::new("1", &seen)], &[Probe::new("2", &seen)]).await;
    let till = pair.far.with_sync_scope(zorb::SyncScope::None);
    till.note(1).await.unwrap();
    assert_eq!(
        seen.take(),
        ["1 note SendRequest", "1 note ReceiveOther Successful"]
    );
    till.pass().await.unwrap();
    assert_eq!(
        seen.take()[..3],
        [
            "1 pass SendRequest",
            "2 note ReceiveRequestServiceContexts",
            "2 note ReceiveRequest",
        ]
    );
    pair.end().await;
}
