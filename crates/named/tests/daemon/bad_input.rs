//! Names and references that are none, too long, or lead in circles.

use crate::common::{Daemon, client, client_orb, object};
use zorb::naming::NamingClient;
use zorb::naming::cos_naming::naming_context::{
    BindContextError, BindError, BindNewContextError, RebindContextError, RebindError,
    ResolveError, UnbindError,
};
use zorb::naming::cos_naming::naming_context_ext::{
    ResolveStrError, ToNameError, ToStringError, ToUrlError,
};
use zorb::naming::cos_naming::{NameComponent, NamingContextRef};
use zorb::{Ior, ObjectRef, SystemExceptionKind};
use zorb_named::store::MAX_COMPONENT_OCTETS;
use zorb_named::{MAX_COMPONENTS, MAX_REFERENCE_OCTETS};

fn component(id: &str, kind: &str) -> NameComponent {
    NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_illegal_name_is_an_invalid_name_to_every_operation() {
    let daemon = Daemon::start(&[]);
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    let root = names.context();
    let object = object(&orb, 1).await;
    let long = "x".repeat(MAX_COMPONENT_OCTETS);
    for bad in [
        vec![],
        vec![component("a", ""); MAX_COMPONENTS + 1],
        vec![component(&long, "y")],
        // At the end of a name whose beginning is not bound, too.
        vec![component("absent", ""), component("y", &long)],
    ] {
        let bad = &bad[..];
        let length = bad.len();
        assert!(
            matches!(
                root.bind(bad, &object).await,
                Err(BindError::InvalidName(_))
            ),
            "{length}"
        );
        assert!(matches!(
            root.rebind(bad, &object).await,
            Err(RebindError::InvalidName(_))
        ));
        assert!(matches!(
            root.bind_context(bad, root).await,
            Err(BindContextError::InvalidName(_))
        ));
        assert!(matches!(
            root.rebind_context(bad, root).await,
            Err(RebindContextError::InvalidName(_))
        ));
        assert!(matches!(
            root.resolve(bad).await,
            Err(ResolveError::InvalidName(_))
        ));
        assert!(matches!(
            root.unbind(bad).await,
            Err(UnbindError::InvalidName(_))
        ));
        assert!(matches!(
            root.bind_new_context(bad).await,
            Err(BindNewContextError::InvalidName(_))
        ));
    }
    let ext = names.ext().await.unwrap().expect("it has NamingContextExt");
    assert!(matches!(
        ext.to_string(&[]).await,
        Err(ToStringError::InvalidName(_))
    ));
    for bad in [
        "", "/", "/a", "a/", "a//b", "a.", "a./b", "a.b.c", "..", r"a\", r"a\b", r"\",
    ] {
        assert!(
            matches!(ext.to_name(bad).await, Err(ToNameError::InvalidName(_))),
            "{bad}"
        );
        assert!(
            matches!(
                ext.resolve_str(bad).await,
                Err(ResolveStrError::InvalidName(_))
            ),
            "{bad}"
        );
        if !bad.is_empty() {
            assert!(
                matches!(ext.to_url(":h", bad).await, Err(ToUrlError::InvalidName(_))),
                "{bad}"
            );
        }
    }
    assert_eq!(ext.to_url(":h:1/K", "").await.unwrap(), "corbaname::h:1/K");
    for bad in ["", "h", ":h:99999", ":h#a", ":h ", "rir:,:h"] {
        assert!(
            matches!(
                ext.to_url(bad, "a").await,
                Err(ToUrlError::InvalidAddress(_))
            ),
            "{bad}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_and_oddest_legal_names_are_names() {
    let daemon = Daemon::start(&[]);
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    // Its reference states code sets, which a corbaloc does not.
    let names = names.bind_new_context("odd").await.unwrap();
    let root = names.context();
    let object = object(&orb, 1).await;
    let text: String = ('\u{1}'..='\u{7f}').chain(['é', 'Ж', '𝄞']).collect();
    for name in [
        component(&"x".repeat(MAX_COMPONENT_OCTETS), ""),
        component("", &"x".repeat(MAX_COMPONENT_OCTETS)),
        component("", ""),
        component("a", "b"),
        component("ab", ""),
        component("", "ab"),
        component(&text, &text),
    ] {
        let name = [name];
        root.bind(&name, &object).await.unwrap();
        let again = root.bind(&name, &object).await;
        assert!(matches!(again, Err(BindError::AlreadyBound(_))));
    }
    let (listed, _) = root.list(100).await.unwrap();
    assert_eq!(listed.len(), 7, "each is another name");
    for binding in listed {
        assert!(root.resolve(&binding.binding_name).await.unwrap().is_some());
        root.unbind(&binding.binding_name).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_in_circles_end_with_the_name() {
    let daemon = Daemon::start(&[]);
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    let root = names.context();
    names.bind("leaf", &object(&orb, 1).await).await.unwrap();
    names.bind_context("self", &names).await.unwrap();
    let around = names.bind_new_context("around").await.unwrap();
    around.bind_context("back", &names).await.unwrap();
    let long = |id: &str| {
        let mut name = vec![component(id, ""); MAX_COMPONENTS - 1];
        name.push(component("leaf", ""));
        name
    };
    assert!(root.resolve(&long("self")).await.unwrap().is_some());
    let mut name = long("around");
    for back in name.iter_mut().skip(1).step_by(2) {
        *back = component("back", "");
    }
    name.truncate(MAX_COMPONENTS - 2);
    name.push(component("leaf", ""));
    assert!(root.resolve(&name).await.unwrap().is_some());

    // Through another service and back, as often as the name says and no more.
    let other = Daemon::start(&[]);
    let there = client(&orb, &other.url).await;
    names.bind_context("there", &there).await.unwrap();
    there.bind_context("here", &names).await.unwrap();
    let there_and_back = std::iter::repeat_with(|| ["there", "here"])
        .take(20)
        .flatten();
    let mut name: Vec<_> = there_and_back.map(|id| component(id, "")).collect();
    name.push(component("leaf", ""));
    assert!(root.resolve(&name).await.unwrap().is_some());
    name.pop();
    name.push(component("absent", ""));
    let absent = root.resolve(&name).await;
    assert!(matches!(absent, Err(ResolveError::NotFound(e)) if e.rest_of_name.len() == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn references_that_are_nil_too_long_or_of_no_context_do_no_harm() {
    let daemon = Daemon::start(&[]);
    let orb = client_orb().await;
    let names = client(&orb, &daemon.url).await;
    let root = names.context();
    let a = [component("a", "")];
    let nil = None::<NamingContextRef>;
    for kind in [
        match root.bind_context(&a, nil.clone()).await {
            Err(BindContextError::System(e)) => e.kind,
            other => panic!("{other:?}"),
        },
        match root.rebind_context(&a, nil).await {
            Err(RebindContextError::System(e)) => e.kind,
            other => panic!("{other:?}"),
        },
    ] {
        assert_eq!(kind, SystemExceptionKind::BadParam);
    }
    root.bind(&a, None).await.unwrap();
    assert!(root.resolve(&a).await.unwrap().is_none());
    root.unbind(&a).await.unwrap();

    let plain = object(&orb, 1).await;
    let long = orb.object(Ior {
        type_id: format!("IDL:{}:1.0", "x".repeat(MAX_REFERENCE_OCTETS)),
        ..plain.ior().clone()
    });
    match root.bind(&a, &long).await {
        Err(BindError::System(e)) => assert_eq!(e.kind, SystemExceptionKind::ImpLimit),
        other => panic!("{other:?}"),
    }
    // Bound as a context, and nothing of the kind: its own server says so.
    let iterator = names.bind_new_context("full").await.unwrap();
    for id in ["1", "2"] {
        iterator.bind_new_context(id).await.unwrap();
    }
    let (_, iterator) = iterator.context().list(0).await.unwrap();
    let iterator: NamingContextRef =
        zorb::Interface::as_object(&iterator.unwrap()).unchecked_narrow();
    names
        .bind_context("wrong", &NamingClient::new(iterator))
        .await
        .unwrap();
    let error = names.resolve::<ObjectRef>("wrong/a").await.unwrap_err();
    let exception = error.system().expect("an exception");
    assert_eq!(exception.kind, SystemExceptionKind::BadOperation, "{error}");
    // Names lead through what is bound as a context, not through what is one.
    root.bind(&a, root).await.unwrap();
    let through = root
        .resolve(&[component("a", ""), component("a", "")])
        .await;
    assert!(matches!(through, Err(ResolveError::NotFound(_))));
}
