//! The store by itself: each rule, what survives, and what a full disk does.

use super::*;
use crate::store::{OWN_CONTEXT, OWN_OBJECT};
use zorb::Bytes;
use zorb::naming::cos_naming::NameComponent;

fn key(id: &str) -> Key {
    let (id, kind) = id.split_once('.').unwrap_or((id, ""));
    Key::of(&NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    })
    .unwrap()
}

fn object(text: &'static str) -> Binding {
    Binding {
        binding_type: BindingType::Nobject,
        target: Target::Reference(Bytes::from_static(text.as_bytes())),
    }
}

fn context(id: ContextId) -> Binding {
    Binding {
        binding_type: BindingType::Ncontext,
        target: Target::Context(id),
    }
}

async fn bind(
    store: &EmbeddedStore,
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

async fn unbind(store: &EmbeddedStore, context: ContextId, id: &str) -> Outcome {
    let key = key(id);
    store.change(Change::Unbind { context, key }).await.unwrap()
}

async fn all(store: &EmbeddedStore, context: ContextId) -> Vec<String> {
    let limits = PageLimits {
        names: usize::MAX,
        octets: usize::MAX,
    };
    let page = store.list(context, None, limits).await.unwrap().unwrap();
    assert!(!page.has_more);
    let text = |(key, _): &(Key, BindingType)| key.component().unwrap().id;
    page.names.iter().map(text).collect()
}

#[tokio::test]
async fn each_change_obeys_what_is_bound() {
    let store = EmbeddedStore::in_memory().unwrap();
    let root = store.root();
    let below = ContextId::random().unwrap();
    let made = Change::BindNew {
        context: root,
        key: key("context"),
        new: below,
    };
    assert_eq!(store.change(made.clone()).await.unwrap(), Done);
    assert_eq!(store.change(made).await.unwrap(), AlreadyBound);
    use Outcome::{AlreadyBound, Done, IsContext, IsObject, NoContext, NotBound};
    use Replace::{Context, Nothing, Object};
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
    ] {
        let outcome = bind(&store, at, id, binding, replace).await.unwrap();
        assert_eq!(outcome, expected, "{id}");
    }
    let found = store.get(root, &key("a")).await.unwrap();
    assert_eq!(found, Found::Bound(object("4")));
    assert_eq!(store.get(root, &key("b")).await.unwrap(), Found::Unbound);
    assert_eq!(
        store.get(nowhere, &key("a")).await.unwrap(),
        Found::NoContext
    );
    assert_eq!(all(&store, root).await, ["a", "a", "context", "new"]);
    assert_eq!(unbind(&store, root, "b").await, NotBound);
    assert_eq!(unbind(&store, nowhere, "b").await, NoContext);
    let destroy = || store.change(Change::Destroy { context: below });
    assert_eq!(destroy().await.unwrap(), Outcome::NotEmpty);
    assert_eq!(unbind(&store, below, "a").await, Done);
    assert_eq!(destroy().await.unwrap(), Done);
    assert_eq!(destroy().await.unwrap(), NoContext);
    assert!(!store.has_context(below).await.unwrap());
}

#[tokio::test]
async fn of_many_who_bind_a_name_one_does() {
    let store = Arc::new(EmbeddedStore::in_memory().unwrap());
    let root = store.root();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..3_000 {
        let store = Arc::clone(&store);
        tasks.spawn(async move { bind(&store, root, "a", object("1"), Replace::Nothing).await });
    }
    let outcomes = tasks.join_all().await;
    let done = outcomes
        .iter()
        .filter(|outcome| *outcome.as_ref().unwrap() == Outcome::Done);
    assert_eq!(done.count(), 1);
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended() {
    let store = EmbeddedStore::in_memory().unwrap();
    let root = store.root();
    // Contexts whose ids are neighbours, so that a page which goes beyond its context is seen.
    let [before, after] = [-1, 1].map(|step| {
        let id = u128::from_be_bytes(root.0).wrapping_add_signed(step);
        ContextId(id.to_be_bytes())
    });
    for new in [before, after] {
        store.change(Change::Create { new }).await.unwrap();
        bind(&store, new, "other", object("1"), Replace::Nothing)
            .await
            .unwrap();
    }
    let ids: Vec<String> = (0..25).map(|n| format!("{n:04}")).collect();
    for id in &ids {
        bind(&store, root, id, object("1"), Replace::Nothing)
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
            found.extend(
                page.names
                    .iter()
                    .map(|(key, _)| key.component().unwrap().id),
            );
            last = page.names.last().map(|(key, _)| key.clone());
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
}

#[tokio::test]
async fn what_is_stored_is_there_when_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = {
        let store = EmbeddedStore::open(folder.path()).unwrap();
        let root = store.root();
        bind(&store, root, "a", object("1"), Replace::Nothing)
            .await
            .unwrap();
        store.close().await;
        let closed = bind(&store, root, "b", object("1"), Replace::Nothing).await;
        assert!(matches!(closed, Err(StoreError::Closed)));
        root
    };
    let store = EmbeddedStore::open(folder.path()).unwrap();
    assert_eq!(store.root(), root);
    assert_eq!(all(&store, root).await, ["a"]);
}

#[test]
fn a_second_store_in_a_folder_is_told_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let _first = EmbeddedStore::open(folder.path()).unwrap();
    let second = EmbeddedStore::open(folder.path()).unwrap_err();
    let expected = format!(
        "{} is in use by process {}",
        folder.path().display(),
        std::process::id()
    );
    assert_eq!(second.to_string(), expected);
}

#[test]
fn a_store_of_another_version_or_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(NAMES_FILE);
    drop(EmbeddedStore::open(folder.path()).unwrap());
    let change = |number: u32| {
        let database = loop {
            // The thread of the store that was dropped closes the file.
            match Database::open(&file) {
                Err(DatabaseError::DatabaseAlreadyOpen) => std::thread::yield_now(),
                opened => break opened.unwrap(),
            }
        };
        let writing = database.begin_write().unwrap();
        let mut about = writing.open_table(ABOUT).unwrap();
        about.insert(FORMAT_ROW, &number.to_be_bytes()[..]).unwrap();
        drop(about);
        writing.commit().unwrap();
    };
    change(FORMAT + 1);
    let error = EmbeddedStore::open(folder.path()).unwrap_err();
    let expected = "names.redb is a store of version 2, this program has version 1";
    assert!(error.to_string().ends_with(expected), "{error}");

    // A database of another program.
    std::fs::remove_file(&file).unwrap();
    {
        let other: TableDefinition<'_, u64, u64> = TableDefinition::new("other");
        let database = Database::create(&file).unwrap();
        let writing = database.begin_write().unwrap();
        writing.open_table(other).unwrap();
        writing.commit().unwrap();
    }
    let error = EmbeddedStore::open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Unusable { .. }), "{error}");

    // No database at all.
    std::fs::write(&file, "names".repeat(10_000)).unwrap();
    let error = EmbeddedStore::open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Unusable { .. }), "{error}");
}

#[test]
fn what_is_stored_of_a_binding_is_read_again_and_nothing_else_is() {
    let id = ContextId::random().unwrap();
    for target in [
        Target::Context(id),
        Target::Reference(Bytes::new()),
        Target::Reference(Bytes::from_static(b"reference")),
    ] {
        for binding_type in [BindingType::Nobject, BindingType::Ncontext] {
            let target = target.clone();
            let binding = Binding {
                binding_type,
                target,
            };
            let read = Binding::from_octets(&binding.to_octets()).unwrap();
            assert_eq!(read, binding);
        }
    }
    for octets in [&b""[..], &[4], &[OWN_CONTEXT, 1], &[OWN_OBJECT; 18]] {
        assert!(Binding::from_octets(octets).is_err(), "{octets:?}");
    }
    for octets in [&b"a"[..], b"\xff\0"] {
        assert!(Key::from_octets(octets).is_none(), "{octets:?}");
    }
}
