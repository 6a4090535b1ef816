//! Calls that are put together while the program runs, without the IDL of their object.

use crate::savings::in_time;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use zorb::{
    Any, Char, CharSet, CompletionStatus, Interface, ObjectRef, Orb, RequestError, SyncScope,
    SystemException, SystemExceptionKind as Kind, TypeCode, Version, minor,
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
struct Servant(Arc<AtomicI32>);

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

fn points() -> Vec<Point> {
    let point = |x, name: &str| Point {
        x,
        name: name.to_owned(),
    };
    vec![point(0.5, "é"), point(1.5, "two")]
}

/// A server's object, as its own ORB sees it and as a client of each version does.
async fn things() -> (Vec<Orb>, Vec<ObjectRef>) {
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
        letter.argument(Any::new(&Char(0xe9)).unwrap()).invoke()
    };
    let RequestError::System(refused) = in_time(letter(thing)).await.unwrap_err() else {
        panic!("a system exception");
    };
    assert_eq!(
        (refused.kind, refused.completed),
        (Kind::DataConversion, CompletionStatus::No)
    );
    let latin1 = thing.with_char_code_set(CharSet::Latin1);
    let letter = in_time(letter(&latin1)).await.unwrap().result.unwrap();
    assert_eq!(letter.extract::<Char>().unwrap(), Char(0xe9));
}
