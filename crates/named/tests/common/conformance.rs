//! What every store has to do.

use std::sync::Arc;
use zorb::Bytes;
use zorb::naming::cos_naming::{BindingType, NameComponent};
use zorb_named::store::{
    Binding, Change, ContextId, Found, Key, Outcome, PageLimits, Replace, Store, StoreError, Target,
};

pub(crate) fn key(id: &str) -> Key {
    let (id, kind) = id.split_once('.').unwrap_or((id, ""));
    let component = NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    };
    Key::of(&component).unwrap()
}

pub(crate) fn object(text: &str) -> Binding {
    Binding {
        binding_type: BindingType::Nobject,
        target: Target::Reference(Bytes::copy_from_slice(text.as_bytes())),
    }
}

fn context(id: ContextId) -> Binding {
    Binding {
        binding_type: BindingType::Ncontext,
        target: Target::Context(id),
    }
}

pub(crate) async fn bind(
    store: &impl Store,
    context: ContextId,
    id: &str,
    binding: Binding,
    replace: Replace,
) -> Result<Outcome, StoreError> {
    let change = Change::Bind {
        context,
        key: key(id),
        binding,
        replace,
    };
    store.change(change).await
}

async fn unbind(store: &impl Store, context: ContextId, id: &str) -> Outcome {
    let key = key(id);
    store.change(Change::Unbind { context, key }).await.unwrap()
}

async fn all(store: &impl Store, context: ContextId) -> Vec<String> {
    let limits = PageLimits {
        names: usize::MAX,
        octets: usize::MAX,
    };
    let page = store.list(context, None, limits).await.unwrap().unwrap();
    assert!(!page.has_more);
    page.names.iter().map(|(key, _)| id_of(key)).collect()
}

fn id_of(key: &Key) -> String {
    let id = key.as_octets().split(|octet| *octet == 0).next().unwrap();
    String::from_utf8(id.to_vec()).unwrap()
}

/// Everything, in the root of an empty store.
pub(crate) async fn check(store: Arc<impl Store>) {
    each_change_obeys_what_is_bound(&*store).await;
    of_many_who_bind_a_name_one_does(Arc::clone(&store)).await;
    a_context_is_destroyed_or_bound_in(Arc::clone(&store)).await;
    pages_go_on_where_the_last_one_ended(&*store).await;
    odd_names_are_names(&*store).await;
}

async fn each_change_obeys_what_is_bound(store: &impl Store) {
    use Outcome::{AlreadyBound, Done, IsContext, IsObject, NoContext, NotBound, NotEmpty};
    use Replace::{Context, Nothing, Object};
    let root = store.root();
    let below = ContextId::random().unwrap();
    let made = Change::BindNew {
        context: root,
        key: key("context"),
        new: below,
    };
    assert_eq!(store.change(made.clone()).await.unwrap(), Done);
    assert_eq!(store.change(made).await.unwrap(), AlreadyBound);
    let nowhere = ContextId::random().unwrap();
    for (at, id, binding, replace, expected) in [
        (root, "a", object("1"), Nothing, Done),
        (root, "a", object("2"), Nothing, AlreadyBound),
        (root, "a.kind", object("3"), Nothing, Done),
        (root, "a", object("4"), Object, Done),
        (root, "a", context(below), Context, IsObject),
        (root, "context", object("5"), Object, IsContext),
        (root, "context", context(below), Context, Done),
        (root, "new", context(below), Context, Done),
        (below, "a", object("6"), Object, Done),
        (nowhere, "a", object("7"), Object, NoContext),
        (nowhere, "a", object("7"), Nothing, NoContext),
    ] {
        let outcome = bind(store, at, id, binding, replace).await.unwrap();
        assert_eq!(outcome, expected, "{id}");
    }
    let found = store.get(root, &key("a")).await.unwrap();
    assert_eq!(found, Found::Bound(object("4")));
    assert_eq!(store.get(root, &key("b")).await.unwrap(), Found::Unbound);
    assert_eq!(
        store.get(nowhere, &key("a")).await.unwrap(),
        Found::NoContext
    );
    assert_eq!(all(store, root).await, ["a", "a", "context", "new"]);
    assert_eq!(unbind(store, root, "b").await, NotBound);
    assert_eq!(unbind(store, nowhere, "b").await, NoContext);
    let destroy = || store.change(Change::Destroy { context: below });
    assert_eq!(destroy().await.unwrap(), NotEmpty);
    assert_eq!(unbind(store, below, "a").await, Done);
    assert_eq!(destroy().await.unwrap(), Done);
    assert_eq!(destroy().await.unwrap(), NoContext);
    assert!(!store.has_context(below).await.unwrap());
    for id in ["a", "a.kind", "context", "new"] {
        assert_eq!(unbind(store, root, id).await, Done);
    }
}

async fn of_many_who_bind_a_name_one_does(store: Arc<impl Store>) {
    let root = store.root();
    for replace in [Replace::Nothing, Replace::Object] {
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..100 {
            let store = Arc::clone(&store);
            let binding = object(&n.to_string());
            tasks.spawn(async move { bind(&*store, root, "a", binding, replace).await });
        }
        let outcomes = tasks.join_all().await;
        let done = outcomes
            .iter()
            .filter(|outcome| *outcome.as_ref().unwrap() == Outcome::Done);
        // All who may replace do.
        let expected = if replace == Replace::Nothing { 1 } else { 100 };
        assert_eq!(done.count(), expected);
    }
    assert_eq!(unbind(&*store, root, "a").await, Outcome::Done);
}

async fn a_context_is_destroyed_or_bound_in(store: Arc<impl Store>) {
    for round in 0..20 {
        let new = ContextId::random().unwrap();
        store.change(Change::Create { new }).await.unwrap();
        let mut binds = tokio::task::JoinSet::new();
        for n in 0..4 {
            let store = Arc::clone(&store);
            binds.spawn(async move {
                let id = n.to_string();
                let bound = bind(&*store, new, &id, object(&id), Replace::Nothing).await;
                (id, bound.unwrap())
            });
        }
        let destroyed = store
            .change(Change::Destroy { context: new })
            .await
            .unwrap();
        let binds = binds.join_all().await;
        let expected = match destroyed {
            Outcome::Done => Outcome::NoContext,
            Outcome::NotEmpty => Outcome::Done,
            other => panic!("{other:?}"),
        };
        for (id, bound) in &binds {
            assert_eq!(*bound, expected, "round {round}, {destroyed:?}");
            let found = store.get(new, &key(id)).await.unwrap();
            assert_eq!(matches!(found, Found::Bound(_)), *bound == Outcome::Done);
        }
        let is_there = store.has_context(new).await.unwrap();
        assert_eq!(is_there, destroyed == Outcome::NotEmpty);
    }
}

async fn pages_go_on_where_the_last_one_ended(store: &impl Store) {
    let root = store.root();
    // Contexts whose ids are neighbours, so that a page which goes beyond its context is seen.
    let [before, after] = [-1, 1].map(|step| {
        let id = u128::from_be_bytes(root.0).wrapping_add_signed(step);
        ContextId(id.to_be_bytes())
    });
    for new in [before, after] {
        store.change(Change::Create { new }).await.unwrap();
        bind(store, new, "other", object("1"), Replace::Nothing)
            .await
            .unwrap();
    }
    let ids: Vec<String> = (0..25).map(|n| format!("{n:04}")).collect();
    for id in &ids {
        bind(store, root, id, object("1"), Replace::Nothing)
            .await
            .unwrap();
    }
    // A name has 33 octets here.
    for (names, octets, pages) in [(10, 1_000, 3), (25, 1_000, 1), (100, 330, 3), (100, 1, 25)] {
        let limits = PageLimits { names, octets };
        let (mut found, mut last, mut count) = (Vec::new(), None, 0);
        loop {
            let page = store.list(root, last.as_ref(), limits).await.unwrap();
            let page = page.unwrap();
            count += 1;
            found.extend(page.names.iter().map(|(key, _)| id_of(key)));
            last = page.end();
            if !page.has_more {
                break;
            }
        }
        assert_eq!(found, ids);
        assert_eq!(count, pages, "{limits:?}");
    }
    let none = PageLimits {
        names: 0,
        octets: 0,
    };
    let page = store.list(root, None, none).await.unwrap().unwrap();
    assert!(page.has_more && page.names.is_empty());
    for id in &ids {
        assert_eq!(unbind(store, root, id).await, Outcome::Done);
    }
}

async fn odd_names_are_names(store: &impl Store) {
    let root = store.root();
    let long = "x".repeat(4_000);
    let names = ["", ".k", "*", ">", "a/b", " ", "\u{1}", "é", "𝄞", &long];
    for name in names {
        let outcome = bind(store, root, name, object(name), Replace::Nothing).await;
        assert_eq!(outcome.unwrap(), Outcome::Done, "{name:?}");
    }
    assert_eq!(all(store, root).await.len(), names.len());
    for name in names {
        let found = store.get(root, &key(name)).await.unwrap();
        assert_eq!(found, Found::Bound(object(name)), "{name:?}");
        assert_eq!(unbind(store, root, name).await, Outcome::Done);
    }
    assert_eq!(all(store, root).await, [""; 0]);
}
