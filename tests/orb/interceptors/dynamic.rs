//! Dynamic calls and dynamic servants: they pass the points that calls of stubs and generated skeletons pass, and end as they.

use super::{Act, Pair, Point, Probe, Seen, TillRef, TillServant, pair, probes, till, within};
use crate::interceptors::Servant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zorb::interceptors::{ClientRequestInfo, ClientRequestInterceptor, Interception};
use zorb::{
    Any, Char, CompletionStatus, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton,
    IdlType, Interface, ObjectRef, Orb, ParameterMode, ParameterType, Request, RequestError,
    Signature, SystemException, SystemExceptionKind as Kind, TypeCode,
};

fn any<T: IdlType + ?Sized>(value: &T) -> Any {
    Any::new(value).expect("it has a form on the wire")
}

/// A till without generated code.
struct ByName;

impl DynamicServant for ByName {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let one = |ty: TypeCode| Ok::<_, SystemException>(request.arguments(&[ty])?.remove(0));
        match &*request.operation() {
            "add" => {
                let amount: i32 = one(TypeCode::of::<i32>())?.extract().expect("a long");
                let twice = vec![any(&(2 * amount))];
                Ok(DynamicReply::new(Some(any(&(amount + 1))), twice))
            }
            "refuse" => {
                let why = one(TypeCode::string(0))?.extract().expect("a text");
                Err(RequestError::User(any(&till::Refused { why })))
            }
            "fail" => Err(SystemException::no_permission("not today").into()),
            "die" => panic!("the till is broken"),
            _ => Ok(DynamicReply::new(None, Vec::new())),
        }
    }
}

/// A way to call an operation.
#[derive(Clone, Copy, Debug)]
enum Way {
    Stub,
    Invoke,
    Deferred,
    Several,
}

impl Way {
    const DYNAMIC: [Self; 3] = [Self::Invoke, Self::Deferred, Self::Several];
}

fn request(till: &ObjectRef, operation: &str) -> Request {
    let request = till.request(operation);
    match operation {
        "add" => request
            .argument(any(&20))
            .out(TypeCode::of::<i32>())
            .returns(TypeCode::of::<i32>()),
        "refuse" => request
            .argument(any("closed"))
            .raises(TypeCode::of::<till::Refused>()),
        "note" => request.argument(any(&1)),
        _ => request,
    }
}

fn shown(exception: &SystemException) -> String {
    format!(
        "{:?} {:#x} {:?}",
        exception.kind, exception.minor, exception.completed
    )
}

/// Calls an operation, and says how it ended.
async fn call(way: Way, till: &TillRef, operation: &str) -> String {
    let system = |ended: Result<(), SystemException>| match ended {
        Ok(()) => "void".to_owned(),
        Err(exception) => shown(&exception),
    };
    let refused = |it: &till::Refused| format!("refused: {}", it.why);
    if let Way::Stub = way {
        return match operation {
            "add" => match till.add(20).await {
                Ok((one, two)) => format!("{one} {two}"),
                Err(exception) => shown(&exception),
            },
            "refuse" => match till.refuse("closed").await {
                Ok(()) => "void".to_owned(),
                Err(till::RefuseError::Refused(it)) => refused(&it),
                Err(error) => shown(zorb::OperationError::system(&error).expect("it is one")),
            },
            "fail" => system(till.fail().await),
            "die" => system(till.die().await),
            "note" => system(till.note(1).await),
            _ => system(till.pass().await),
        };
    }
    let request = request(till.as_object(), operation);
    if operation == "note" {
        return system(request.send().await);
    }
    let ended = match way {
        Way::Deferred => request.send_deferred().await,
        Way::Several => {
            let mut pending = Request::send_multiple_deferred([&request]);
            pending.next().await.expect("one call").1
        }
        _ => request.invoke().await,
    };
    match ended {
        Ok(response) => {
            let all = response.result.iter().chain(&response.outputs);
            let all: Vec<String> = all
                .map(|it| it.extract::<i32>().expect("a long").to_string())
                .collect();
            match all.is_empty() {
                true => "void".to_owned(),
                false => all.join(" "),
            }
        }
        Err(RequestError::User(it)) => refused(&it.extract().expect("it was named")),
        Err(RequestError::System(exception)) => shown(&exception),
        Err(other) => panic!("{other}"),
    }
}

/// The end of a call, and the points that it has passed.
async fn passed(way: Way, till: &TillRef, operation: &str, seen: &Seen) -> (String, Vec<String>) {
    let ended = within(call(way, till, operation)).await;
    if operation == "note" {
        within(async {
            let is_over = |seen: &String| seen.starts_with("s1 note SendOther");
            while !seen.0.lock().unwrap().iter().any(is_over) {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
    let mut points = seen.take();
    if operation == "note" {
        // The sides of a one-way call go on by themselves.
        points.sort();
    }
    (ended, points)
}

/// The till as its own ORB and a client see it, of a generated skeleton and of a dynamic one.
async fn tills(pair: &Pair) -> Vec<TillRef> {
    let skeleton = DynamicSkeleton::new(TillRef::REPOSITORY_ID, ByName);
    let near = pair.poa.activate(skeleton).unwrap();
    let far = pair.far_of(&near).await;
    let near = near.unchecked_narrow();
    vec![pair.far.clone(), pair.near.clone(), far, near]
}

#[tokio::test]
async fn dynamic_calls_and_servants_pass_the_points_of_static_ones() {
    let seen = Seen::default();
    let (client, server) = probes(&seen);
    let pair = pair(&client, &server).await;
    for operation in ["add", "refuse", "fail", "die", "note", "pass", "unknown"] {
        let stub = match operation {
            // A stub has no operation that the interface does not have.
            "unknown" => Way::Invoke,
            _ => Way::Stub,
        };
        for tills in tills(&pair).await.chunks(2) {
            for till in tills {
                let expected = passed(stub, till, operation, &seen).await;
                assert!(expected.1.len() >= 8, "{expected:?}");
                for way in Way::DYNAMIC {
                    let found = passed(way, till, operation, &seen).await;
                    assert_eq!(found, expected, "{operation} {way:?}");
                }
            }
        }
        // Whichever kind of skeleton serves it.
        let all = tills(&pair).await;
        for (of_skeleton, of_dynamic) in [(&all[0], &all[2]), (&all[1], &all[3])] {
            if operation != "unknown" {
                let expected = passed(Way::Stub, of_skeleton, operation, &seen).await;
                let found = passed(Way::Stub, of_dynamic, operation, &seen).await;
                assert_eq!(found, expected, "{operation}");
            }
        }
    }
    pair.end().await;
}

#[tokio::test]
async fn what_interceptors_do_to_static_calls_they_do_to_dynamic_ones() {
    for point in [
        Point::SendRequest,
        Point::ReceiveReply,
        Point::ReceiveRequestServiceContexts,
        Point::ReceiveRequest,
        Point::SendReply,
    ] {
        let seen = Seen::default();
        let is_on = Arc::new(AtomicBool::new(false));
        let deciding = |name| {
            let is_on = Arc::clone(&is_on);
            Probe::deciding(name, &seen, move |at, _| match at == point {
                true if is_on.swap(false, Ordering::Relaxed) => {
                    Act::Fail(SystemException::no_permission("not by this one"))
                }
                _ => Act::Go,
            })
        };
        let pair = pair(&[deciding("c1")], &[deciding("s1")]).await;
        for till in tills(&pair).await {
            is_on.store(true, Ordering::Relaxed);
            let expected = passed(Way::Stub, &till, "add", &seen).await;
            assert!(expected.0.starts_with("NoPermission"), "{expected:?}");
            for way in Way::DYNAMIC {
                is_on.store(true, Ordering::Relaxed);
                let found = passed(way, &till, "add", &seen).await;
                assert_eq!(found, expected, "{point:?} {way:?}");
                assert_eq!(call(way, &till, "add").await, "21 40");
                seen.take();
            }
        }
        pair.end().await;
    }
}

#[tokio::test]
async fn dynamic_calls_follow_the_forwards_of_interceptors() {
    for point in [Point::SendRequest, Point::ReceiveRequest] {
        let seen = Seen::default();
        let other: Arc<std::sync::Mutex<Option<ObjectRef>>> = Arc::default();
        let deciding = |name| {
            let other = Arc::clone(&other);
            Probe::deciding(name, &seen, move |at, _| match at == point {
                true => match other.lock().unwrap().take() {
                    Some(other) => Act::Forward(other),
                    None => Act::Go,
                },
                false => Act::Go,
            })
        };
        let pair = pair(&[deciding("c1")], &[deciding("s1")]).await;
        let to: TillRef = pair.poa.activate(TillServant::new(Servant)).unwrap();
        for (index, from) in tills(&pair).await.into_iter().enumerate() {
            let to = match index % 2 {
                0 => pair.far_of(to.as_object()).await,
                _ => to.clone(),
            };
            *other.lock().unwrap() = Some(to.as_object().clone());
            let expected = passed(Way::Stub, &from, "add", &seen).await;
            assert_eq!(expected.0, "21 40");
            let attempts = expected.1.iter().filter(|it| *it == "c1 add SendRequest");
            assert_eq!(attempts.count(), 2, "{expected:?}");
            for way in Way::DYNAMIC {
                *other.lock().unwrap() = Some(to.as_object().clone());
                let found = passed(way, &from, "add", &seen).await;
                assert_eq!(found, expected, "{point:?} {way:?}");
            }
        }
        pair.end().await;
    }
}

/// An interceptor that decodes what it can see.
struct Decoding(Seen);

impl ClientRequestInterceptor for Decoding {
    fn name(&self) -> &str {
        "decoding"
    }

    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        self.0.note(match info.operation() {
            "add" => format!("arguments {:?}", info.arguments::<(i32,)>().unwrap()),
            _ => format!("arguments {:?}", info.arguments::<(String,)>().unwrap()),
        });
        Interception::CONTINUE
    }

    fn receive_reply<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let results = info.results::<(i32, i32)>().unwrap();
        self.0.note(format!("results {results:?}"));
        Interception::CONTINUE
    }

    fn receive_exception<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let refused = info.received_exception::<till::RefuseError>().unwrap();
        self.0.note(format!("{refused:?}"));
        Interception::CONTINUE
    }
}

#[tokio::test]
async fn interceptors_decode_the_values_of_dynamic_calls() {
    let seen = Seen::default();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .client_interceptor(Decoding(seen.clone()));
    let orb = orb.build().await.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let far = pair(&[], &[]).await;
    let near: TillRef = orb.root_poa().activate(TillServant::new(Servant)).unwrap();
    let seen_far = orb.string_to_object(&far.near.to_string()).await.unwrap();
    let seen_far: TillRef = seen_far.unchecked_narrow();
    for operation in ["add", "refuse"] {
        within(call(Way::Stub, &seen_far, operation)).await;
        let expected = seen.take();
        assert_eq!(expected.len(), 2, "{expected:?}");
        // Those of a stub within an ORB are passed as values, which no interceptor decodes.
        for till in [&near, &seen_far] {
            for way in Way::DYNAMIC {
                within(call(way, till, operation)).await;
                assert_eq!(seen.take(), expected, "{way:?}");
            }
        }
    }
    orb.shutdown(true).await.unwrap();
    far.end().await;
}

#[tokio::test]
async fn arguments_that_cannot_be_sent_reach_no_server() {
    let seen = Seen::default();
    let pair = pair(&[], &[Probe::new("s1", &seen)]).await;
    let till = pair.far.as_object();
    till.non_existent().await.unwrap();
    seen.take();
    // A character that UTF-8 has no octet for.
    let mut letter = till.request("refuse").argument(any(&Char(0xe9)));
    for failed in [
        within(letter.invoke()).await.unwrap_err(),
        within(letter.send_deferred()).await.unwrap_err(),
        within(letter.send()).await.unwrap_err().into(),
    ] {
        let RequestError::System(failed) = failed else {
            panic!("a system exception");
        };
        assert_eq!(
            (failed.kind, failed.completed),
            (Kind::DataConversion, CompletionStatus::No)
        );
    }
    // Arguments of other types, where the types are known.
    let mut add = Signature::new("add");
    add.parameters.push(ParameterType {
        name: "amount".to_owned(),
        mode: ParameterMode::In,
        ty: TypeCode::of::<i32>(),
    });
    for wrong in [
        &[any("7")][..],
        &[],
        &[any(&7), any(&7)],
        &[any(&7.0)],
        &[Any::default()],
    ] {
        let refused = add.request(till, wrong).unwrap_err();
        assert_eq!(
            (refused.kind, refused.completed),
            (Kind::BadParam, CompletionStatus::No)
        );
    }
    assert_eq!(letter.set(0, any("7")).unwrap_err().kind, Kind::BadParam);
    assert_eq!(seen.take(), [""; 0]);
    pair.far.pass().await.unwrap();
    assert_eq!(seen.take().len(), 3, "the call that was sent");
    pair.end().await;
}
