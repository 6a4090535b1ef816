//! The store by itself: each rule, what survives, and what a full disk does.

use super::*;
use crate::store::{OWN_CONTEXT, OWN_OBJECT};
use redb::{Database, DatabaseError};
use zorb::Bytes;
use zorb::naming::cos_naming::NameComponent;
use zorb_service::Tables as _;

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
    let file = folder.path().join(Names::FILE);
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
        let about: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("about");
        let mut about = writing.open_table(about).unwrap();
        about.insert("format", &number.to_be_bytes()[..]).unwrap();
        drop(about);
        writing.commit().unwrap();
    };
    change(Names::FORMAT + 1);
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
