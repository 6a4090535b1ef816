//! Calls that are put together while the program runs, without the IDL of their object.

use crate::savings::in_time;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use tokio::sync::Barrier;
use zorb::policy::PolicyOverrides;
use zorb::{
    Any, Char, CharSet, CompletionStatus, DynamicReply, DynamicRequest, DynamicServant,
    DynamicSkeleton, Interface, ObjectRef, Orb, RequestError, SyncScope, SystemException,
    SystemExceptionKind as Kind, TypeCode, Version, minor,
};

zorb::idl! {
    module Dynamic {
        struct Point { double x; string name; };
        typedef sequence<Point> Points;
        exception Refused { string why; long code; };
        interface Thing {
            attribute long level;
            Points turn(in Points a, inout string b, out Point c, in Object d, in any e) raises (Refused);
            char letter(in char c);
            oneway void poke(in long by);
        };
    };
}

use dynamic::thing::TurnError;
use dynamic::{Point, Refused, Thing, ThingRef, ThingServant};

#[derive(Default)]
pub(crate) struct Servant(Arc<AtomicI32>);

impl Thing for Servant {
    async fn level(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }

    async fn set_level(&self, level: i32) -> Result<(), SystemException> {
        self.0.store(level, Ordering::Relaxed);
        Ok(())
    }

    async fn turn(
        &self,
        a: &[Point],
        b: &str,
        d: Option<ObjectRef>,
        e: &Any,
    ) -> Result<(Vec<Point>, String, Point), TurnError> {
        if b == "refuse" {
            let why = format!("{} {}", d.is_some(), e.extract::<i32>().unwrap());
            return Err(Refused { why, code: 7 }.into());
        }
        let turned = a.iter().rev().cloned().collect();
        Ok((turned, b.to_uppercase(), a[0].clone()))
    }

    async fn letter(&self, c: Char) -> Result<Char, SystemException> {
        Ok(c)
    }

    async fn poke(&self, by: i32) -> Result<(), SystemException> {
        self.0.fetch_add(by, Ordering::Relaxed);
        Ok(())
    }
}

pub(crate) fn points() -> Vec<Point> {
    let point = |x, name: &str| Point {
        x,
        name: name.to_owned(),
    };
    vec![point(0.5, "é"), point(1.5, "two")]
}

/// A server's object, as its own ORB sees it and as a client of each version does.
pub(crate) async fn things() -> (Vec<Orb>, Vec<ObjectRef>) {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let servant = ThingServant::new(Servant::default());
    let thing: ThingRef = server.root_poa().activate(servant).unwrap();
    let reference = server.object_to_string(&thing);
    let (mut orbs, mut things) = (vec![server], vec![thing.as_object().clone()]);
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let orb = Orb::builder()
            .max_giop_version(version)
            .build()
            .await
            .unwrap();
        things.push(orb.string_to_object(&reference).await.unwrap());
        orbs.push(orb);
    }
    (orbs, things)
}

#[tokio::test]
async fn arguments_and_results_are_anys() {
    let (_orbs, things) = things().await;
    let points = points();
    for thing in things {
        let turn = |b: &str| {
            thing
                .request("turn")
                .argument(Any::with_type_code(&TypeCode::of::<Vec<Point>>(), &points).unwrap())
                .inout(Any::new(b).unwrap())
                .out(TypeCode::of::<Point>())
                .argument(Any::new(&thing).unwrap())
                // An argument that is an any itself.
                .argument(Any::new(&Any::new(&5_i32).unwrap()).unwrap())
                .returns(TypeCode::of::<Vec<Point>>())
                .raises(TypeCode::of::<Refused>())
        };
        let response = in_time(turn("loud").invoke()).await.unwrap();
        let turned: Vec<Point> = response.result.unwrap().extract().unwrap();
        assert_eq!(turned, [points[1].clone(), points[0].clone()]);
        let [b, c] = &response.outputs[..] else {
            panic!("inout and out");
        };
        assert_eq!(b.extract::<String>().unwrap(), "LOUD");
        assert_eq!(c.extract::<Point>().unwrap(), points[0]);
        let RequestError::User(refused) = in_time(turn("refuse").invoke()).await.unwrap_err()
        else {
            panic!("a user exception");
        };
        let refused: Refused = refused.extract().unwrap();
        assert_eq!((&*refused.why, refused.code), ("true 5", 7));
    }
}

#[tokio::test]
async fn any_name_may_be_sent() {
    let (_orbs, things) = things().await;
    for thing in things {
        let failed = |error| match error {
            RequestError::System(exception) => (exception.kind, exception.minor),
            other => panic!("{other}"),
        };
        let interface = in_time(thing.request("_interface").invoke()).await;
        assert_eq!(
            failed(interface.unwrap_err()),
            (Kind::IntfRepos, minor::NO_INTERFACE_REPOSITORY)
        );
        let name: String = ["no", "such", "thing"].join("_");
        let unknown = in_time(thing.request(name).invoke()).await;
        assert_eq!(
            failed(unknown.unwrap_err()),
            (Kind::BadOperation, minor::NO_SUCH_OPERATION)
        );
        let set = thing
            .request("_set_level")
            .argument(Any::new(&41_i32).unwrap());
        let set = in_time(set.invoke()).await.unwrap();
        assert_eq!((set.result, set.outputs.len()), (None, 0));
        let poke = thing.with_sync_scope(SyncScope::WithTarget).request("poke");
        in_time(poke.argument(Any::new(&1_i32).unwrap()).send())
            .await
            .unwrap();
        let level = || thing.request("_get_level").returns(TypeCode::of::<i32>());
        // A collocated one-way call has no reply, whatever its scope.
        let mut found = 41;
        while found == 41 {
            let level = in_time(level().invoke()).await.unwrap().result.unwrap();
            found = level.extract().unwrap();
        }
        assert_eq!(found, 42);
        let is_a = thing.request("_is_a").returns(TypeCode::of::<bool>());
        let is_a = is_a.argument(Any::new(ThingRef::REPOSITORY_ID).unwrap());
        let is_a = in_time(is_a.invoke()).await.unwrap().result.unwrap();
        assert!(is_a.extract::<bool>().unwrap());
    }
}

#[tokio::test]
async fn failures_are_reported_as_for_stubs() {
    let (_orbs, things) = things().await;
    let thing = &things[3];
    // An exception that was not named.
    let turn = thing
        .request("turn")
        .argument(Any::new(&points()).unwrap())
        .inout(Any::new("refuse").unwrap())
        .argument(Any::new(thing).unwrap())
        .argument(Any::new(&Any::new(&5_i32).unwrap()).unwrap());
    let RequestError::System(unlisted) = in_time(turn.invoke()).await.unwrap_err() else {
        panic!("a system exception");
    };
    assert_eq!(
        (unlisted.kind, unlisted.minor, unlisted.completed),
        (
            Kind::Unknown,
            minor::UNLISTED_USER_EXCEPTION,
            CompletionStatus::Yes
        )
    );
    // A result that is not of the type that was named.
    let level = thing.request("_get_level").returns(TypeCode::of::<f64>());
    let RequestError::System(malformed) = in_time(level.invoke()).await.unwrap_err() else {
        panic!("a system exception");
    };
    assert_eq!(
        (malformed.kind, malformed.completed),
        (Kind::Marshal, CompletionStatus::Yes)
    );
    // A value that cannot travel.
    let letter = |thing: &ObjectRef| {
        let letter = thing.request("letter").returns(TypeCode::of::<Char>());
        letter.argument(Any::new(&Char(0xe9)).unwrap())
    };
    let RequestError::System(refused) = in_time(letter(thing).invoke()).await.unwrap_err() else {
        panic!("a system exception");
    };
    assert_eq!(
        (refused.kind, refused.completed),
        (Kind::DataConversion, CompletionStatus::No)
    );
    let latin1 = thing.with_char_code_set(CharSet::Latin1);
    let letter = in_time(letter(&latin1).invoke())
        .await
        .unwrap()
        .result
        .unwrap();
    assert_eq!(letter.extract::<Char>().unwrap(), Char(0xe9));
}

#[tokio::test]
async fn a_request_names_its_parameters_and_is_used_again() {
    let (_orbs, things) = things().await;
    for thing in things {
        let mut turn = thing
            .request("turn")
            .argument(Any::new(&points()).unwrap())
            .named("a")
            .inout(Any::new("one").unwrap())
            .named("b")
            .out(TypeCode::of::<Point>())
            .named("c")
            .argument(Any::new(&thing).unwrap())
            .argument(Any::new(&Any::new(&5_i32).unwrap()).unwrap())
            .returns(TypeCode::of::<Vec<Point>>());
        for (text, expected) in [("one", "ONE"), ("two", "TWO")] {
            turn.set_named("b", Any::new(text).unwrap()).unwrap();
            let response = in_time(turn.invoke()).await.unwrap();
            let output = |name| response.output(name);
            assert_eq!(output("b").unwrap().extract::<String>().unwrap(), expected);
            assert_eq!(
                output("c").unwrap().extract::<Point>().unwrap(),
                points()[0]
            );
            assert_eq!((output("a"), output("d")), (None, None));
        }
        // A number for a text, a value for an output, an argument that is not there.
        let seven = || Any::new(&7_i32).unwrap();
        for (index, expected) in [
            (1, "expected string, found long"),
            (2, "out parameter"),
            (9, "no argument 9"),
        ] {
            let refused = turn.set(index, seven()).unwrap_err();
            assert_eq!(refused.kind, Kind::BadParam);
            assert!(refused.to_string().contains(expected), "{refused}");
        }
        assert_eq!(
            turn.set_named("x", seven()).unwrap_err().kind,
            Kind::BadParam
        );
        let response = in_time(turn.invoke()).await.unwrap();
        assert_eq!(
            response.output("b").unwrap().extract::<String>().unwrap(),
            "TWO"
        );
    }
}

/// Types whose values there are none of, or too many.
fn lying() -> Vec<TypeCode> {
    let mut large = TypeCode::of::<i32>();
    for _ in 0..4 {
        large = TypeCode::array(&large, 60_000);
    }
    let itself = TypeCode::recursive("IDL:S:1.0");
    let endless = TypeCode::structure("IDL:S:1.0", "S", &[("s", itself)]);
    let nothing = TypeCode::structure("IDL:N:1.0", "N", &[]);
    vec![
        large,
        TypeCode::array(&endless, 2),
        endless,
        TypeCode::recursive("IDL:S:1.0"),
        TypeCode::fixed(32, 0),
        TypeCode::fixed(0, 0),
        TypeCode::enumeration("IDL:E:1.0", "E", &[]),
        TypeCode::array(&nothing, u32::MAX),
    ]
}

#[tokio::test]
async fn types_that_lie_about_results_are_marshal_in_bounded_work() {
    let (_orbs, things) = things().await;
    let malformed = |called| {
        let Err(RequestError::System(malformed)) = called else {
            panic!("{called:?}");
        };
        let found = (malformed.kind, malformed.completed);
        assert_eq!(found, (Kind::Marshal, CompletionStatus::Yes), "{malformed}");
    };
    for thing in &things {
        let level = || thing.request("_get_level");
        for ty in lying() {
            malformed(in_time(level().returns(ty.clone()).invoke()).await);
            malformed(in_time(level().out(ty.clone()).invoke()).await);
            malformed(in_time(level().returns(ty.clone()).send_deferred()).await);
            // An exception of the right id.
            let id = TypeCode::of::<Refused>().id().unwrap().to_owned();
            let raised = TypeCode::exception(&id, "Refused", &[("why", ty)]);
            let turn = thing
                .request("turn")
                .argument(Any::new(&points()).unwrap())
                .inout(Any::new("refuse").unwrap())
                .argument(Any::new(thing).unwrap())
                .argument(Any::new(&Any::new(&5_i32).unwrap()).unwrap())
                .raises(raised);
            malformed(in_time(turn.invoke()).await);
        }
        // Its connection serves the next call.
        let level = level().returns(TypeCode::of::<i32>());
        assert!(in_time(level.invoke()).await.unwrap().result.is_some());
    }
}

/// Decodes its arguments by types that lie.
struct Gullible;

impl DynamicServant for Gullible {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let which: usize = request.operation().parse().expect("a number");
        let arguments = request.arguments(&[lying().remove(which)])?;
        panic!("{arguments:?}")
    }
}

#[tokio::test]
async fn types_that_lie_about_arguments_are_marshal_at_a_dynamic_servant() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let near = (server.root_poa()).activate(DynamicSkeleton::new("", Gullible));
    let near = near.unwrap();
    let client = Orb::builder().build().await.unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    for object in [near, far] {
        for which in 0..lying().len() {
            let call = object.request(which.to_string());
            let call = call.argument(Any::new(&[7_u8; 64][..]).unwrap());
            let Err(RequestError::System(malformed)) = in_time(call.invoke()).await else {
                panic!("a system exception");
            };
            let found = (malformed.kind, malformed.completed);
            assert_eq!(found, (Kind::Marshal, CompletionStatus::No), "{which}");
        }
    }
}

zorb::idl! {
    module Slow {
        exception Late { long by; };
        interface Meeting {
            // Returns when all have come.
            long come(in long who) raises (Late);
            string whose(in long who) context ("user", "app.*");
        };
    };
}

use slow::meeting::ComeError;
use slow::{Meeting, MeetingRef, MeetingServant};

struct Together(Barrier);

impl Meeting for Together {
    async fn come(&self, who: i32) -> Result<i32, ComeError> {
        self.0.wait().await;
        match who {
            0 => Err(slow::Late { by: 5 }.into()),
            who => Ok(-who),
        }
    }

    async fn whose(&self, who: i32, context: &zorb::Context) -> Result<String, SystemException> {
        let user = context.get("user").unwrap_or("nobody");
        Ok(format!("{who} {user} {}", context.iter().count()))
    }
}

/// A meeting of so many, as its own ORB sees it and as a client does.
async fn meeting(of: usize) -> (Vec<Orb>, [ObjectRef; 2]) {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let servant = MeetingServant::new(Together(Barrier::new(of)));
    let meeting: MeetingRef = server.root_poa().activate(servant).unwrap();
    let client = Orb::builder().build().await.unwrap();
    let reference = server.object_to_string(&meeting);
    let remote = client.string_to_object(&reference).await.unwrap();
    (vec![server, client], [meeting.as_object().clone(), remote])
}

fn come(meeting: &ObjectRef, who: i32) -> zorb::Request {
    let come = meeting.request("come").argument(Any::new(&who).unwrap());
    let come = come.returns(TypeCode::of::<i32>());
    come.raises(TypeCode::of::<slow::Late>())
}

#[tokio::test]
async fn deferred_calls_go_on_together() {
    let (_orbs, meetings) = meeting(2).await;
    for meeting in meetings {
        // Neither returns before the other one has been sent.
        let mut first = come(&meeting, 1).send_deferred();
        assert!(!first.is_ready());
        let mut second = come(&meeting, 0).send_deferred();
        let answer = in_time(&mut first).await.unwrap().result.unwrap();
        assert_eq!(answer.extract::<i32>().unwrap(), -1);
        while !second.is_ready() {
            tokio::task::yield_now().await;
        }
        let RequestError::User(late) = in_time(second).await.unwrap_err() else {
            panic!("a user exception");
        };
        assert_eq!(late.extract::<slow::Late>().unwrap().by, 5);
        // What has been taken is not there again.
        let RequestError::System(again) = in_time(first).await.unwrap_err() else {
            panic!("a system exception");
        };
        let taken = (Kind::BadInvOrder, minor::RESULT_TAKEN);
        assert_eq!((again.kind, again.minor), taken);
    }
}

#[tokio::test]
async fn several_calls_are_reported_as_they_end() {
    let (_orbs, meetings) = meeting(5).await;
    for meeting in meetings {
        let requests: Vec<_> = (0..5).map(|who| come(&meeting, who)).collect();
        let mut pending = zorb::Request::send_multiple_deferred(&requests);
        let mut ended = Vec::new();
        while let Some((index, outcome)) = in_time(pending.next()).await {
            ended.push(index);
            match outcome {
                Ok(response) => {
                    let answer: i32 = response.result.unwrap().extract().unwrap();
                    assert_eq!(usize::try_from(-answer), Ok(index));
                }
                Err(error) => assert!(index == 0 && matches!(error, RequestError::User(_))),
            }
        }
        ended.sort_unstable();
        assert_eq!(ended, [0, 1, 2, 3, 4]);
        assert!(pending.is_ready());
    }
}

#[tokio::test]
async fn a_time_limit_of_the_caller_holds_for_a_deferred_call() {
    let (_orbs, [_, meeting]) = meeting(2).await;
    let limit = Duration::from_millis(50);
    let limit = PolicyOverrides::new().relative_round_trip_timeout(limit);
    let pending = limit.scope_blocking(|| come(&meeting, 1).send_deferred());
    let RequestError::System(late) = in_time(pending).await.unwrap_err() else {
        panic!("a system exception");
    };
    assert_eq!(late.kind, Kind::Timeout);
}

#[tokio::test]
async fn deferred_calls_end_once_when_the_orb_shuts_down() {
    let (orbs, [_, meeting]) = meeting(9).await;
    let mut single = come(&meeting, 1).send_deferred();
    assert!(!single.is_ready());
    let requests = [come(&meeting, 2), come(&meeting, 3)];
    let mut several = zorb::Request::send_multiple_deferred(&requests);
    in_time(orbs[1].shutdown(true)).await.unwrap();
    let failed = |outcome| match outcome {
        Err(RequestError::System(exception)) => exception.kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(failed(in_time(single).await), Kind::BadInvOrder);
    let mut ended = Vec::new();
    while let Some((index, outcome)) = in_time(several.next()).await {
        assert_eq!(failed(outcome), Kind::BadInvOrder);
        ended.push(index);
    }
    ended.sort_unstable();
    assert_eq!(ended, [0, 1]);
}

#[tokio::test]
async fn a_deferred_call_that_is_dropped_is_cancelled() {
    let (orbs, [_, meeting]) = meeting(2).await;
    drop(come(&meeting, 1).send_deferred());
    // Its task keeps nothing that this would wait for.
    in_time(orbs[1].shutdown(true)).await.unwrap();
}

#[tokio::test]
async fn the_values_that_a_context_clause_names_are_sent() {
    let (_orbs, meetings) = meeting(1).await;
    let context = [("user", "ada"), ("app.tty", "4"), ("home", "/")];
    let context: zorb::Context = context.into_iter().collect();
    for meeting in meetings {
        let whose = |context| {
            let whose = meeting.request("whose").returns(TypeCode::string(0));
            let whose = whose.argument(Any::new(&7_i32).unwrap());
            whose.context(context, &["user", "app.*"])
        };
        for (context, expected) in [(&context, "7 ada 2"), (&zorb::Context::new(), "7 nobody 0")] {
            let answer = in_time(whose(context).invoke())
                .await
                .unwrap()
                .result
                .unwrap();
            assert_eq!(answer.extract::<String>().unwrap(), expected);
        }
    }
}
