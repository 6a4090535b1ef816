//! The usual steps of a program: bind a path, resolve it, rebind it, unbind it.

use crate::names::world::{ClockRef, GreeterRef, Kind, World, greeting, name, with_each_service};
use zorb::naming::cos_naming::naming_context::NotFoundReason;
use zorb::naming::{Name, NamingError};
use zorb::{Interface, ObjectRef};

with_each_service! {
    "bind_path": a_path_is_bound_with_the_contexts_on_the_way;
    "bind_race": what_is_made_by_many_at_once_is_made_once;
    "object_in_the_way": an_object_in_the_way_is_said_to_be_in_the_way;
    "resolve_typed": a_reference_of_another_type_is_refused_with_both_types;
    "contexts": contexts_are_made_found_emptied_and_removed;
    "odd_names": names_with_everything_in_them_come_back_as_they_are;
    "text": text_and_urls_are_made_here_as_the_service_makes_them;
}

async fn a_path_is_bound_with_the_contexts_on_the_way(w: World) {
    let names = &w.names;
    let (first, second) = (w.greeter("first"), w.greeter("second"));
    // Nothing there, some of it there, all of it there.
    for path in [
        "bank/accounts.dir/savings.account",
        "bank/tellers/one",
        "bank/top",
    ] {
        names.bind(path, &first).await.unwrap();
        assert_eq!(greeting(names, path).await, "first");
        match names.bind(path, &second).await {
            Err(NamingError::AlreadyBound { name: bound }) => assert_eq!(bound, name(path)),
            other => panic!("expected AlreadyBound, found {other:?}"),
        }
        names.rebind(path, &second).await.unwrap();
        assert_eq!(greeting(names, path).await, "second");
    }
    names.rebind("fresh/and/new", &first).await.unwrap();
    assert_eq!(greeting(names, "fresh/and/new").await, "first");
    // From a context on the way, and with a name that is no text.
    let accounts = names.subcontext(name("bank/accounts.dir")).await.unwrap();
    assert_eq!(greeting(&accounts, "savings.account").await, "second");
    let object: ObjectRef = accounts.resolve(&name("savings.account")).await.unwrap();
    assert!(object.is_equivalent(second.as_object()));

    // The operation itself makes no contexts.
    let strict = names.context().bind(&name("missing/leaf"), &first).await;
    assert!(strict.is_err_and(|error| error.to_string().starts_with("NotFound")));
}

async fn what_is_made_by_many_at_once_is_made_once(w: World) {
    let greeter = w.greeter("hello");
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16 {
        let (names, greeter) = (w.names.clone(), greeter.clone());
        tasks.spawn(async move {
            let path = format!("a/b/c/d/e{}/leaf{task}", task % 4);
            names.bind(&path, &greeter).await
        });
    }
    while let Some(bound) = tasks.join_next().await {
        bound.unwrap().unwrap();
    }
    for task in 0..16 {
        assert_eq!(
            greeting(&w.names, &format!("a/b/c/d/e{}/leaf{task}", task % 4)).await,
            "hello"
        );
    }
    let made = w.names.make_contexts("a/b/c/d/e0").await.unwrap();
    assert_eq!(greeting(&made, "leaf4").await, "hello");
}

async fn an_object_in_the_way_is_said_to_be_in_the_way(w: World) {
    let names = &w.names;
    let greeter = w.greeter("hello");
    names.bind("bank/teller", &greeter).await.unwrap();
    let expected = "\"bank/teller/a/b\" is not found: \"bank/teller\" is bound to an object where a \
                    naming context is needed";
    let path = "bank/teller/a/b";
    for failed in [
        names.bind(path, &greeter).await,
        names.rebind(path, &greeter).await,
        names.bind_context(path, names).await,
        names.rebind_context(path, names).await,
        names.bind_new_context(path).await.map(drop),
        names.make_contexts(path).await.map(drop),
    ] {
        match failed {
            Err(
                error @ NamingError::NotFound {
                    why: NotFoundReason::NotContext,
                    ..
                },
            ) => {
                assert_eq!(error.to_string(), expected);
            }
            other => panic!("expected NotFound, found {other:?}"),
        }
    }
    let error = names.make_contexts("bank/teller").await.unwrap_err();
    let expected = "the object bound to \"bank/teller\" is no naming context but an object of \
                    IDL:Naming/Greeter:1.0";
    assert_eq!(error.to_string(), expected);
    assert_eq!(greeting(names, "bank/teller").await, "hello");
}

async fn a_reference_of_another_type_is_refused_with_both_types(w: World) {
    let names = &w.names;
    names.bind("greeter", &w.greeter("hello")).await.unwrap();
    let wrong = names.resolve::<ClockRef>("greeter").await.unwrap_err();
    let expected = "\"greeter\" is bound to an object of IDL:Naming/Greeter:1.0, not to an object \
                    of IDL:Naming/Clock:1.0";
    assert_eq!(wrong.to_string(), expected);
    // A reference without a type is asked.
    let bare = w.orb.object(zorb::Ior {
        type_id: String::new(),
        ..w.greeter("bare").as_object().ior().clone()
    });
    names.bind("bare", &bare).await.unwrap();
    let found: GreeterRef = names.resolve("bare").await.unwrap();
    assert_eq!(found.greet().await.unwrap(), "bare");
    let wrong = names.resolve::<ClockRef>("bare").await.unwrap_err();
    assert!(matches!(wrong, NamingError::WrongType { found, .. } if found.is_empty()));
}

async fn contexts_are_made_found_emptied_and_removed(w: World) {
    let names = &w.names;
    let bank = names.bind_new_context("bank").await.unwrap();
    assert!(matches!(
        names.bind_new_context("bank").await,
        Err(NamingError::AlreadyBound { .. })
    ));
    let deep = bank.bind_new_context("a/b/c").await.unwrap();
    assert_eq!(names.subcontext("bank/a/b/c").await.unwrap(), deep);
    assert_eq!(names.make_contexts("bank/a/b/c").await.unwrap(), deep);
    deep.bind("leaf", &w.greeter("leaf")).await.unwrap();
    // One object by two names.
    names.bind_context("short/cut", &deep).await.unwrap();
    assert_eq!(greeting(names, "short/cut/leaf").await, "leaf");
    names.rebind_context("short/cut", &bank).await.unwrap();
    assert_eq!(greeting(names, "short/cut/a/b/c/leaf").await, "leaf");

    let full = names.remove_context("bank/a/b/c").await.unwrap_err();
    assert_eq!(full.to_string(), "context \"bank/a/b/c\" is not empty");
    assert_eq!(
        deep.destroy().await.unwrap_err().to_string(),
        "the context is not empty"
    );
    names.unbind("bank/a/b/c/leaf").await.unwrap();
    names.remove_context("bank/a/b/c").await.unwrap();
    let gone = deep.bind("leaf", &w.greeter("leaf")).await.unwrap_err();
    assert!(matches!(gone, NamingError::System { .. }), "{gone:?}");
    // Destroyed, and still bound.
    names
        .subcontext("bank/a/b")
        .await
        .unwrap()
        .destroy()
        .await
        .unwrap();
    names.remove_context("bank/a/b").await.unwrap();
    match names.resolve::<ObjectRef>("bank/a/b").await {
        Err(NamingError::NotFound { rest, .. }) => assert_eq!(rest, name("b")),
        other => panic!("expected NotFound, found {other:?}"),
    }
    assert!(matches!(
        names.remove_context("bank/a/b").await,
        Err(NamingError::NotFound { .. })
    ));
}

async fn names_with_everything_in_them_come_back_as_they_are(w: World) {
    let names = &w.names;
    let text: String = (' '..='~').collect();
    let part = |id: &str, kind: &str| zorb::naming::cos_naming::NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    };
    let context = names.bind_new_context("odd").await.unwrap();
    let mut expected = Vec::new();
    for component in [
        part(&text, &text),
        part("naïve", ""),
        part("", "kind"),
        part("", ""),
        part("a.b", "c/d"),
    ] {
        let short = Name(vec![component]);
        let long = Name([name("odd").0, short.0.clone()].concat());
        let text = long.to_string();
        names.bind(&long, &w.greeter(&text)).await.unwrap();
        assert_eq!(greeting(names, &text).await, text);
        expected.push(short.to_string());
    }
    let mut found = Vec::new();
    let mut bindings = context.list();
    while let Some(binding) = bindings.next().await.unwrap() {
        assert!(!binding.is_context());
        found.push(binding.name.to_string());
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

async fn text_and_urls_are_made_here_as_the_service_makes_them(w: World) {
    let ext = w
        .names
        .ext()
        .await
        .unwrap()
        .expect("all have NamingContextExt");
    let text: String = (' '..='~').collect();
    let part = |id: &str, kind: &str| zorb::naming::cos_naming::NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    };
    for components in [
        vec![part("a", "")],
        vec![part("a", "b"), part("c", "")],
        vec![part(&text, &text)],
        vec![part("", "k"), part("", "")],
    ] {
        let ours = Name(components);
        assert_eq!(ext.to_string(&ours).await.unwrap(), ours.to_string());
        assert_eq!(Name(ext.to_name(&ours.to_string()).await.unwrap()), ours);
        for address in [":host:1/NameService", "iiop:1.2@host:1,:[::1]:2/Key"] {
            // JacORB wants the whole corbaloc where the specification has an address, and escapes
            // nothing.
            let said = match w.kind {
                Kind::OmniNames | Kind::Zorb => address.to_owned(),
                Kind::JacOrb if ours[0].id == text => continue,
                Kind::JacOrb => format!("corbaloc:{address}"),
            };
            let theirs = ext.to_url(&said, &ours.to_string()).await.unwrap();
            assert_eq!(ours.to_url(address).unwrap(), theirs);
        }
    }
    for bad in ["", "/a", "a//b", "a.b.c", "a\\"] {
        assert!(bad.parse::<Name>().is_err(), "{bad}");
        let theirs = ext.to_name(bad).await;
        assert!(
            theirs.is_err_and(|error| error.to_string() == "InvalidName"),
            "{bad}"
        );
    }
    for bad in ["", "host:1", ":host:99999", "#", "foo:host"] {
        assert!(matches!(
            name("a").to_url(bad),
            Err(NamingError::InvalidAddress { .. })
        ));
        let theirs = ext.to_url(bad, "a").await;
        assert!(
            theirs.is_err_and(|error| error.to_string() == "InvalidAddress"),
            "{bad}"
        );
    }
}
