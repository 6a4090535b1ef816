//! Every exception of CosNaming: typed, with what it is about, and going on where that is possible.

use crate::names::odd::{Odd, Raises};
use crate::names::world::{Kind, World, greeter, greeting, name, orb, with_each_service};
use zorb::naming::cos_naming::naming_context::NotFoundReason;
use zorb::naming::{Name, NamingClient, NamingError};
use zorb::{CompletionStatus, ObjectRef, Orb, SystemException, SystemExceptionKind};

with_each_service! {
    "exceptions": each_exception_of_the_service_is_typed_and_says_what_it_is_about;
    "cannot_proceed": a_context_that_cannot_proceed_is_gone_on_from;
}

async fn each_exception_of_the_service_is_typed_and_says_what_it_is_about(w: World) {
    let names = &w.names;
    names.bind("a/b/object", &w.greeter("hello")).await.unwrap();
    for (path, expected) in [
        ("absent", "\"absent\" is not found: \"absent\" is not bound"),
        (
            "a/absent",
            "\"a/absent\" is not found: \"absent\" is not bound in \"a\"",
        ),
        (
            "a/c/object",
            "\"a/c/object\" is not found: \"c\" is not bound in \"a\"",
        ),
    ] {
        let error = names.resolve::<ObjectRef>(path).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(matches!(
            error,
            NamingError::NotFound {
                why: NotFoundReason::MissingNode,
                ..
            }
        ));
        assert!(
            matches!(names.unbind(path).await, Err(NamingError::NotFound { .. })),
            "{path}"
        );
    }
    let through = names
        .resolve::<ObjectRef>("a/b/object/on")
        .await
        .unwrap_err();
    let NamingError::NotFound { why, rest, .. } = &through else {
        panic!("expected NotFound, found {through:?}");
    };
    assert_eq!(*rest, name("object/on"));
    // JacORB has two tables, and looks for a context in one of them only.
    let expected = match w.kind {
        Kind::OmniNames | Kind::Zorb => NotFoundReason::NotContext,
        Kind::JacOrb => NotFoundReason::MissingNode,
    };
    assert_eq!(*why, expected);
    // omniNames puts the object in the place of the context.
    if w.kind != Kind::OmniNames {
        match names.rebind("a/b", &w.greeter("over")).await {
            Err(NamingError::NotFound { why, .. }) => assert_eq!(why, NotFoundReason::NotObject),
            other => panic!("expected NotFound, found {other:?}"),
        }
    }
    let bad = names.resolve::<ObjectRef>("a//b").await.unwrap_err();
    assert_eq!(
        bad.to_string(),
        "invalid name \"a//b\": expected a component, found none at character 3"
    );
    assert!(matches!(
        names.bind(Name::default(), &w.greeter("")).await,
        Err(NamingError::InvalidName { .. })
    ));
    assert!(matches!(
        names.destroy().await,
        Err(NamingError::NotEmpty { .. })
    ));
    // The empty name sends no request; the service itself refuses it.
    let refused = names.context().resolve(&[]).await;
    assert!(refused.is_err_and(|error| error.to_string() == "InvalidName"));
}

async fn a_context_that_cannot_proceed_is_gone_on_from(w: World) {
    let names = &w.names;
    // A context of ours that hands everything back, bound in the service. (JacORB goes through
    // contexts of the kind NamingContextExt only.)
    let rest = names.bind_new_context("rest").await.unwrap();
    let stuck = Odd::raising(
        &w.orb,
        Raises::CannotProceed(Some(rest.context().clone()), 0),
    );
    names.bind_context("stuck", &stuck).await.unwrap();
    let (start, prefix) = match w.kind {
        Kind::OmniNames | Kind::Zorb => (names, "stuck/"),
        Kind::JacOrb => (&stuck, ""),
    };
    let path = |rest: &str| format!("{prefix}{rest}");
    let leaf = &path("a/b/c");
    start.bind(leaf, &w.greeter("beyond")).await.unwrap();
    assert_eq!(greeting(start, leaf).await, "beyond");
    assert_eq!(greeting(&rest, "a/b/c").await, "beyond");
    start.rebind(leaf, &w.greeter("again")).await.unwrap();
    assert_eq!(greeting(&stuck, "a/b/c").await, "again");
    let made = start.bind_new_context(&path("made")).await.unwrap();
    assert_eq!(rest.subcontext("made").await.unwrap(), made);
    start.remove_context(&path("made")).await.unwrap();
    start.bind_context(&path("up"), names).await.unwrap();
    start.rebind_context(&path("up"), &rest).await.unwrap();
    assert_eq!(greeting(start, &path("up/a/b/c")).await, "again");
    start.unbind(leaf).await.unwrap();
    match start.resolve::<ObjectRef>(leaf).await {
        Err(NamingError::NotFound {
            name: asked, rest, ..
        }) => {
            assert_eq!((asked, rest), (name(leaf), name("c")));
        }
        other => panic!("expected NotFound, found {other:?}"),
    }
}

async fn refused(odd: &NamingClient, orb: &Orb) -> Vec<NamingError> {
    let greeter = greeter(orb, "");
    vec![
        odd.resolve::<ObjectRef>("a").await.unwrap_err(),
        odd.bind("a", &greeter).await.unwrap_err(),
        odd.rebind("a", &greeter).await.unwrap_err(),
        odd.bind_context("a", odd).await.unwrap_err(),
        odd.rebind_context("a", odd).await.unwrap_err(),
        odd.bind_new_context("a").await.unwrap_err(),
        odd.unbind("a").await.unwrap_err(),
    ]
}

#[tokio::test]
async fn whatever_a_server_raises_comes_back_typed_from_every_operation() {
    let orb = orb().await;
    let system = SystemException::new(SystemExceptionKind::NoPermission, 7, CompletionStatus::No);
    for (raises, expected) in [
        (
            Raises::NotFound(NotFoundReason::MissingNode, name("a").0),
            "\"a\" is not found: \"a\" is not bound",
        ),
        (
            Raises::NotFound(NotFoundReason::NotContext, name("a").0),
            "\"a\" is not found: \"a\" is bound to an object where a naming context is needed",
        ),
        (
            Raises::NotFound(NotFoundReason::NotObject, name("a").0),
            "\"a\" is not found: \"a\" is bound to a naming context where an object is needed",
        ),
        // Exceptions that no server should raise.
        (
            Raises::NotFound(NotFoundReason::MissingNode, Vec::new()),
            "\"a\" is not found",
        ),
        (
            Raises::NotFound(NotFoundReason::MissingNode, name("x/y/z").0),
            "\"a\" is not found: \"x\" is not bound",
        ),
        (
            Raises::InvalidName,
            "invalid name \"a\": the naming service refuses it",
        ),
        (
            Raises::CannotProceed(None, 0),
            "\"a\": the naming service cannot proceed with \"a\": it names no context to go on from",
        ),
        (
            Raises::System(system),
            "): NO_PERMISSION (minor 0x7, COMPLETED_NO)",
        ),
    ] {
        let odd = Odd::raising(&orb, raises);
        for error in refused(&odd, &orb).await {
            let said = error.to_string();
            assert!(
                said.ends_with(expected),
                "expected {expected:?}, found {said:?}"
            );
        }
    }
    let odd = Odd::raising(&orb, Raises::AlreadyBound);
    for error in [
        odd.bind("a/b", &odd.context().clone()).await.unwrap_err(),
        odd.bind_context("a/b", &odd).await.unwrap_err(),
        odd.bind_new_context("a/b").await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "\"a/b\" is bound already");
    }
    assert!(matches!(
        odd.destroy().await,
        Err(NamingError::NotEmpty { name: None })
    ));
    assert_eq!(
        odd.ext().await.unwrap(),
        None,
        "a NamingContext, and no more"
    );
}

#[tokio::test]
async fn contexts_that_lead_in_circles_or_nowhere_are_given_up() {
    let orb = orb().await;
    // To itself, which is only known once it is there.
    let end = Odd::raising(&orb, Raises::CannotProceed(None, 0));
    let mut chain = end;
    for _ in 0..20 {
        let raises = Raises::CannotProceed(Some(chain.context().clone()), 0);
        chain = Odd::raising(&orb, raises);
    }
    for error in refused(&chain, &orb).await {
        let expected = "too many contexts could not proceed";
        assert!(error.to_string().ends_with(expected), "{error}");
        assert!(matches!(
            error,
            NamingError::CannotProceed {
                context: Some(_),
                ..
            }
        ));
    }
    // Nothing left of the name.
    let nothing = Odd::raising(
        &orb,
        Raises::CannotProceed(Some(chain.context().clone()), 2),
    );
    let error = nothing.resolve::<ObjectRef>("a/b").await.unwrap_err();
    assert!(
        error.to_string().ends_with("it leaves nothing of the name"),
        "{error}"
    );
    // Another name than the one that was asked for.
    let raises = Raises::Elsewhere(chain.context().clone(), name("c/d").0);
    for error in refused(&Odd::raising(&orb, raises), &orb).await {
        let expected = "its rest_of_name is not the end of the name";
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[tokio::test]
async fn what_another_bound_at_the_same_time_is_bound_already() {
    let orb = orb().await;
    let greeter = greeter(&orb, "");
    // As one name: it is bound, by either client.
    for binds in 0..3 {
        let odd = Odd::raising(&orb, Raises::Overtaken);
        let error = match binds {
            0 => odd.bind("a", &greeter).await.unwrap_err(),
            1 => {
                let other = Odd::raising(&orb, Raises::InvalidName);
                odd.bind_context("a", &other).await.unwrap_err()
            }
            _ => odd.bind_new_context("a").await.unwrap_err(),
        };
        assert_eq!(error.to_string(), "\"a\" is bound already");
        // Only where nothing is bound, the service is believed.
        let stuck = Odd::raising(&orb, Raises::CannotProceed(None, 0));
        let error = stuck.bind("a", &greeter).await.unwrap_err();
        let expected = "it names no context to go on from";
        assert!(error.to_string().ends_with(expected), "{error}");
    }
    // The service has bound it in the place of the other's.
    let odd = Odd::raising(&orb, Raises::Overtaken);
    odd.bind_context("a", &odd).await.unwrap();
    // As a context on the way, which makes no difference on the way through it.
    let odd = Odd::raising(&orb, Raises::Overtaken);
    odd.bind("a/b", &greeter).await.unwrap();
    let odd = Odd::raising(&orb, Raises::Overtaken);
    assert_eq!(odd.make_contexts("a").await.unwrap(), odd);
}
