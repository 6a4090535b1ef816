//! Tests of adapters, their objects and their keys.

use super::*;
use crate::object::Forward;
use crate::policy::IdAssignment;
use crate::request::{Outcome, ServerRequest};
use crate::skeleton::{Skeleton, Started};
use crate::table::TableFull;
use core::sync::atomic::AtomicU64;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use zorb_giop::{Ior, SystemExceptionKind, minor};

struct Inert;

impl Skeleton for Inert {
    fn repository_id(&self) -> &'static str {
        "IDL:Inert:1.0"
    }
    fn is_a(&self, id: &str) -> bool {
        id == self.repository_id()
    }
    fn start(&self, mut request: ServerRequest) -> Started {
        request.set_outcome(Outcome::Silent);
        Started::Ended(request)
    }
}

pub(super) const USER: Policies = Policies {
    id_assignment: IdAssignment::User,
    ..Policies::DEFAULT
};
pub(super) const KEPT: Policies = Policies {
    lifespan: Lifespan::Persistent,
    ..Policies::DEFAULT
};

/// The id of a new life at each call.
pub(super) fn life() -> InstanceId {
    static LIVES: AtomicU64 = AtomicU64::new(1);
    InstanceId(LIVES.fetch_add(1, Ordering::Relaxed))
}

pub(super) fn server() -> ObjectAdapter {
    ObjectAdapter::new(life(), "")
}

pub(super) fn inert() -> Arc<dyn Skeleton> {
    Arc::new(Inert)
}

fn deactivate(adapter: &Adapter, key: &[u8]) -> Result<(), AdapterError> {
    adapter.deactivate(adapter.id_in(key)?.as_ref())
}

#[test]
fn a_key_leads_to_its_object_until_that_is_deactivated() {
    let server = server();
    let root = server.root();
    let key = root.activate(inert()).unwrap();
    assert_eq!(server.locate(&key).unwrap().type_id(), "IDL:Inert:1.0");
    deactivate(root, &key).unwrap();
    assert_eq!(deactivate(root, &key), Err(AdapterError::ObjectNotActive));
    assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
    let again = root.activate(inert()).unwrap();
    assert_ne!(key, again);
    assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
}

#[test]
fn a_transient_reference_of_an_earlier_life_finds_no_object() {
    let (earlier, later) = (server(), server());
    let key = earlier.root().activate(inert()).unwrap();
    later.root().activate(inert()).unwrap();
    assert_eq!(later.locate(&key).unwrap_err(), Missing::Adapter);
    let child = |server: &ObjectAdapter| {
        let child = server.create(server.root(), "child", USER, None).unwrap();
        child.activate_with_id(b"id", inert()).unwrap()
    };
    let (key, other) = (child(&earlier), child(&later));
    assert_eq!(later.locate(&key).unwrap_err(), Missing::Adapter);
    assert!(later.locate(&other).is_ok());
    for foreign in [&b""[..], b"Bank", &[0; 28]] {
        assert_eq!(later.locate(foreign).unwrap_err(), Missing::Adapter);
    }
}

#[test]
fn a_persistent_reference_works_again_in_a_later_life_octet_by_octet() {
    let live = |server_id, path: &[&str]| {
        let server = ObjectAdapter::new(life(), server_id);
        let mut adapter = Arc::clone(server.root());
        for name in path {
            adapter = server
                .create(&adapter, name, Policies::PERSISTENT, None)
                .unwrap();
        }
        let key = adapter.activate_with_id(b"\0/4711", inert()).unwrap();
        (server, adapter, key)
    };
    let (_, _, key) = live("bank", &["accounts", "savings"]);
    let (server, adapter, again) = live("bank", &["accounts", "savings"]);
    assert_eq!(key, again);
    assert_eq!(server.key_owner(&key), KeyOwner::AnyServer);
    assert!(server.locate(&key).is_ok());
    for (server_id, path) in [
        ("", &["accounts", "savings"][..]),
        ("bank", &["accounts"]),
        ("bank", &["accounts/savings"]),
        ("bankaccounts", &["savings"]),
    ] {
        let (other, _, _) = live(server_id, path);
        assert_eq!(other.locate(&key).unwrap_err(), Missing::Adapter);
        let is_other = server_id != "bank";
        assert_eq!(other.key_owner(&key) == KeyOwner::OtherServer, is_other);
    }
    adapter.deactivate(b"\0/4711").unwrap();
    assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
    adapter.activate_with_id(b"\0/4711", inert()).unwrap();
    assert!(server.locate(&key).is_ok());
    server.destroy(&adapter);
    assert_eq!(server.locate(&key).unwrap_err(), Missing::Adapter);
    assert_eq!(
        (
            Missing::Adapter.raise().kind,
            Missing::Adapter.raise().minor
        ),
        (SystemExceptionKind::ObjectNotExist, minor::NO_ADAPTER)
    );
}

#[test]
fn ids_that_a_persistent_adapter_assigns_are_never_assigned_again() {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let server = server();
        let adapter = server.create(server.root(), "kept", KEPT, None).unwrap();
        for _ in 0..3 {
            let key = adapter.activate(inert()).unwrap();
            let id = adapter.id_in(&key).unwrap();
            assert!(!seen.contains(&id), "{id}");
            seen.push(id);
        }
        // In the next run, an object is activated under an id of the first run.
        let first = seen[0].as_ref();
        let _ = adapter.activate_with_id(first, inert());
        assert!(adapter.find(first).is_some());
        assert!(matches!(
            adapter.activate_with_id(b"mine", inert()),
            Err(AdapterError::UnknownId(_))
        ));
    }
}

#[test]
fn whose_ids_they_are_decides_what_an_adapter_can_do() {
    let server = server();
    let user = server.create(server.root(), "user", USER, None).unwrap();
    assert!(matches!(
        user.activate(inert()),
        Err(AdapterError::WrongPolicy(_))
    ));
    assert!(matches!(user.reserve(), Err(AdapterError::WrongPolicy(_))));
    user.activate_with_id(b"", inert()).unwrap();
    assert!(matches!(
        user.activate_with_id(b"", inert()),
        Err(AdapterError::ObjectAlreadyActive(_))
    ));
    let root = server.root();
    assert!(matches!(
        root.activate_with_id(b"mine", inert()),
        Err(AdapterError::UnknownId(_))
    ));
    assert!(matches!(
        root.key_of(&[0; 8]),
        Err(AdapterError::UnknownId(_))
    ));
    let key = root.reserve().unwrap();
    assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
    let id = root.id_in(&key).unwrap();
    assert_eq!(root.key_of(id.as_ref()), Ok(key.clone()));
    assert_eq!(root.activate_with_id(id.as_ref(), inert()), Ok(key.clone()));
    assert!(matches!(
        root.activate_with_id(id.as_ref(), inert()),
        Err(AdapterError::ObjectAlreadyActive(_))
    ));
    assert!(server.locate(&key).is_ok());
    assert_eq!(user.id_in(&key), Err(AdapterError::WrongAdapter));
}

#[test]
fn a_plain_key_is_the_id_and_never_one_of_ours() {
    let server = server();
    let plain = server.plain();
    assert_eq!(
        plain.activate_with_id(b"Bank", inert()).unwrap(),
        Bytes::from_static(b"Bank")
    );
    assert!(server.locate(b"Bank").is_ok());
    assert_eq!(server.locate(b"Bang").unwrap_err(), Missing::Adapter);
    let ours = server.root().activate(inert()).unwrap();
    assert!(matches!(
        plain.activate_with_id(&ours, inert()),
        Err(AdapterError::ReservedKey(_))
    ));
    server.destroy(plain);
    assert!(server.locate(b"Bank").is_ok());
}

#[test]
fn a_child_made_again_does_not_inherit_the_transient_references_of_the_first() {
    let server = server();
    let root = server.root();
    let create = |policies| server.create(root, "bank", policies, None);
    let child = create(Policies::default()).unwrap();
    assert_eq!(
        create(Policies::PERSISTENT).unwrap_err(),
        AdapterError::AlreadyExists("bank".to_owned())
    );
    let key = child.activate(inert()).unwrap();
    assert!(server.locate(&key).is_ok());
    assert_eq!(deactivate(root, &key), Err(AdapterError::WrongAdapter));
    server.destroy(&child);
    assert!(server.find(root, "bank").is_none());
    assert_eq!(child.activate(inert()), Err(AdapterError::Destroyed));
    let again = create(Policies::default()).unwrap();
    again.activate(inert()).unwrap();
    assert_eq!(server.locate(&key).unwrap_err(), Missing::Adapter);
    // Destroying the first adapter again does not affect the second.
    server.destroy(&child);
    assert!(server.find(root, "bank").is_some());
}

#[test]
fn nothing_is_made_below_a_destroyed_adapter() {
    let server = server();
    let root = server.root();
    let policies = Policies::default();
    let parent = server.create(root, "parent", policies, None).unwrap();
    let child = server.create(&parent, "child", policies, None).unwrap();
    server.destroy(&parent);
    for gone in [&parent, &child] {
        assert_eq!(
            server.create(gone, "late", policies, None).unwrap_err(),
            AdapterError::Destroyed
        );
    }
    // The old handle creates no child below the new adapter of the same name.
    let again = server.create(root, "parent", policies, None).unwrap();
    assert!(server.create(&parent, "late", policies, None).is_err());
    assert!(server.find(&again, "late").is_none());
    server.clear();
    assert!(server.create(root, "late", policies, None).is_err());
}

#[test]
fn an_object_moves_away_and_its_key_stays() {
    let server = server();
    let forward = || Forward {
        type_id: "IDL:There:1.0".to_owned(),
        permanent: false,
        target: Arc::new(|| Ok(Ior::NIL)),
    };
    let root = server.root();
    let key = root.activate(inert()).unwrap();
    assert!(server.locate(&key).unwrap().forward().is_none());
    let id = root.id_in(&key).unwrap();
    root.forward_with_id(id.as_ref(), forward()).unwrap();
    assert_eq!(server.locate(&key).unwrap().type_id(), "IDL:There:1.0");
    deactivate(root, &key).unwrap();
    assert!(matches!(
        root.forward_with_id(id.as_ref(), forward()),
        Err(AdapterError::UnknownId(_))
    ));
    let key = root.forward(forward()).unwrap();
    assert!(server.locate(&key).unwrap().forward().is_some());
    // With USER_ID, the object need not have been active before.
    server.plain().forward_with_id(b"Bank", forward()).unwrap();
    assert!(server.locate(b"Bank").unwrap().forward().is_some());
}

#[test]
fn a_servant_that_goes_may_come_back_to_the_adapter() {
    struct Leaving(Arc<ObjectAdapter>);
    impl Drop for Leaving {
        fn drop(&mut self) {
            let server = &self.0;
            let _ = server.root().activate(inert());
            let _ = server.plain().activate_with_id(b"last words", inert());
            let _ = server.create(server.root(), "heirs", USER, None);
        }
    }
    impl Skeleton for Leaving {
        fn repository_id(&self) -> &'static str {
            "IDL:Leaving:1.0"
        }
        fn is_a(&self, _: &str) -> bool {
            false
        }
        fn start(&self, mut request: ServerRequest) -> Started {
            request.set_outcome(Outcome::Silent);
            Started::Ended(request)
        }
    }
    let server = Arc::new(server());
    let leaving = || Arc::new(Leaving(Arc::clone(&server)));
    let key = server.root().activate(leaving()).unwrap();
    deactivate(server.root(), &key).unwrap();
    let child = server
        .create(server.root(), "child", Policies::PERSISTENT, None)
        .unwrap();
    child.activate_with_id(b"1", leaving()).unwrap();
    server.destroy(&child);
    server.root().activate(leaving()).unwrap();
    server.clear();
}

#[test]
fn what_can_go_wrong_is_said_in_words() {
    let full = TableFull { limit: 7 };
    let said: Vec<String> = [
        AdapterError::ObjectAlreadyActive("a\0b".into()),
        AdapterError::UnknownId("x".into()),
        AdapterError::IdNotInSet("x".into()),
        AdapterError::BeingDestroyed,
        AdapterError::Full(full),
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    assert_eq!(
        said,
        [
            "an object with the id \"a\\x00b\" is active already",
            "the adapter assigns its ids itself and did not assign \"x\"",
            "\"x\" is not in the adapter's set of object ids",
            "the adapter is being destroyed, and upcalls on its objects have not ended",
            "the table holds its limit of 7 entries",
        ]
    );
}

fn names() -> impl Strategy<Value = Vec<String>> {
    vec("[ab/\0]{0,2}", 1..4)
}

proptest! {
    #[test]
    fn every_object_has_a_key_of_its_own_whatever_adapters_and_ids_are_called(
        places in vec((names(), 0..4u8, vec(0..4u8, 0..3)), 1..20),
    ) {
        let server = server();
        let mut keys = BTreeMap::new();
        for (at, (names, policies, id)) in places.into_iter().enumerate() {
            let policies = [Policies::PERSISTENT, USER, KEPT, Policies::default()]
                [usize::from(policies)];
            let mut adapter = Arc::clone(server.root());
            for name in &names {
                adapter = match server.find(&adapter, name) {
                    Some(found) => found,
                    None => server.create(&adapter, name, policies, None).unwrap(),
                };
            }
            let activated = match adapter.policies().id_assignment {
                IdAssignment::User => adapter.activate_with_id(&id, inert()),
                IdAssignment::System => adapter.activate(inert()),
            };
            match activated {
                Ok(key) => {
                    prop_assert!(adapter.id_in(&key).is_ok());
                    let object = server.locate(&key).unwrap();
                    prop_assert_eq!(keys.insert(key, (at, object)).map(|(at, _)| at), None);
                }
                Err(AdapterError::ObjectAlreadyActive(_)) => {
                    prop_assert!(keys.contains_key(&adapter.key_of(&id).unwrap()));
                }
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
        for (key, (_, object)) in &keys {
            prop_assert!(Arc::ptr_eq(&server.locate(key).unwrap(), object));
        }
    }

    #[test]
    fn hostile_keys_find_no_object(
        cut in 0..60usize, at in 0..60usize, octet: u8, longer in vec(any::<u8>(), 0..4),
    ) {
        let server = server();
        let persistent = server
            .create(server.root(), "a", Policies::PERSISTENT, None).unwrap();
        let user = server.create(server.root(), "b", USER, None).unwrap();
        let keys = [
            server.root().activate(inert()).unwrap(),
            persistent.activate_with_id(b"id", inert()).unwrap(),
            user.activate_with_id(b"id", inert()).unwrap(),
        ];
        for key in &keys {
            let mut forged = key.to_vec();
            forged.truncate(cut);
            if let Some(one) = forged.get_mut(at) {
                *one = octet;
            }
            forged.extend_from_slice(&longer);
            let is_whole = keys.iter().any(|key| key[..] == forged[..]);
            prop_assert_eq!(server.locate(&forged).is_ok(), is_whole);
        }
    }
}

#[test]
fn an_id_is_free_again_when_the_last_upcall_on_its_deactivated_object_has_ended() {
    let server = server();
    let adapter = server.create(server.root(), "kept", USER, None).unwrap();
    adapter.activate_with_id(b"1", inert()).unwrap();
    let upcall = adapter.find(b"1").unwrap();
    adapter.deactivate(b"1").unwrap();
    assert!(adapter.find(b"1").is_none());
    let taken = adapter.activate_with_id(b"1", inert());
    assert_eq!(
        taken.unwrap_err(),
        AdapterError::BeingDeactivated(b"1"[..].into())
    );
    adapter.activate_with_id(b"2", inert()).unwrap();
    let mut ended = core::pin::pin!(adapter.deactivation_ended(b"1"));
    let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
    assert!(ended.as_mut().poll(&mut cx).is_pending());
    drop(upcall);
    assert!(ended.as_mut().poll(&mut cx).is_ready());
    adapter.activate_with_id(b"1", inert()).unwrap();
    // Without an upcall in progress, the id is free at once.
    adapter.deactivate(b"1").unwrap();
    adapter.activate_with_id(b"1", inert()).unwrap();
}

/// The keys of every kind, octet by octet, as stored references depend on them.
#[test]
fn keys_depend_on_lifespan_ids_and_names_and_are_the_same_octets_for_ever() {
    let live = |instance, policies| {
        let server = ObjectAdapter::new(InstanceId(instance), "bank");
        let first = server.create(server.root(), "a", policies, None).unwrap();
        let adapter = server.create(&first, "b/c", policies, None).unwrap();
        (server, adapter)
    };
    const INSTANCE: u64 = 0x0102_0304_0506_0708;
    let instance = b"\x01\x02\x03\x04\x05\x06\x07\x08";
    let (server, adapter) = live(INSTANCE, Policies::DEFAULT);
    // Slot 0 is the root POA's, 1 that of "a".
    let indexed = |adapter: u8, object: u8, generation: u8| {
        let head = [b"ZRB\x01", &instance[..], &[0, 0, 0, adapter, 0, 0, 0, 0]].concat();
        [&head[..], &[0, 0, 0, object, 0, 0, 0, generation]].concat()
    };
    assert_eq!(server.root().activate(inert()).unwrap(), indexed(0, 0, 0));
    let key = adapter.activate(inert()).unwrap();
    assert_eq!(key, indexed(2, 0, 0));
    assert_eq!(adapter.reserve().unwrap(), indexed(2, 1, 0));
    deactivate(&adapter, &key).unwrap();
    assert_eq!(adapter.activate(inert()).unwrap(), indexed(2, 0, 1));

    let (_, adapter) = live(INSTANCE, USER);
    let named = [b"ZRB\x03", &instance[..], b"\0\0\0\x02\0\0\0\0\x00id"].concat();
    assert_eq!(adapter.activate_with_id(b"\0id", inert()).unwrap(), named);

    let path = b"ZRB\x02\0\0\0\x14\0\0\0\x04bank\0\0\0\x01a\0\0\0\x03b/c";
    let (_, adapter) = live(INSTANCE, Policies::PERSISTENT);
    let key = adapter.activate_with_id(b"\0id", inert()).unwrap();
    assert_eq!(key, [&path[..], b"\0id"].concat());

    let (_, adapter) = live(INSTANCE, KEPT);
    for assigned in 0..2_u8 {
        let id = [&instance[..], &[0, 0, 0, 0, 0, 0, 0, assigned]].concat();
        let key = adapter.activate(inert()).unwrap();
        assert_eq!(key, [&path[..], &id].concat());
    }
}

#[test]
fn adapters_on_the_way_to_a_key_are_made_once_each_or_refused() {
    use crate::servant_manager::{AdapterActivator, Boxed};
    use core::task::{Context, Poll, Waker};
    use std::sync::Weak;

    struct Makes(Weak<ObjectAdapter>, Weak<Adapter>, Arc<AtomicU64>);
    impl AdapterActivator for Makes {
        fn unknown_adapter(&self, name: String) -> Boxed<Result<bool, zorb_giop::SystemException>> {
            let (server, parent) = (self.0.upgrade().unwrap(), self.1.upgrade().unwrap());
            self.2.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move {
                match name.as_str() {
                    "none" => return Ok(false),
                    "liar" => return Ok(true),
                    "broken" => return Err(SystemExceptionKind::NoResources.into()),
                    _ => {}
                }
                let child = server
                    .create(&parent, &name, Policies::PERSISTENT, None)
                    .unwrap();
                let _ = child.manager().activate();
                let (server, parent) = (Arc::downgrade(&server), Arc::downgrade(&child));
                let activator = Self(server, parent, Arc::default());
                child
                    .set_adapter_activator(Some(Arc::new(activator)))
                    .unwrap();
                Ok(true)
            })
        }
    }
    let server = Arc::new(server());
    server.root().manager().activate().unwrap();
    let asked = Arc::<AtomicU64>::default();
    let root = Arc::downgrade(server.root());
    let activator = Makes(Arc::downgrade(&server), root, Arc::clone(&asked));
    server
        .root()
        .set_adapter_activator(Some(Arc::new(activator)))
        .unwrap();
    let key = |names: &[&str]| {
        let path = Path {
            server_id: String::new(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        let path = path.to_bytes();
        ObjectKey::Persistent {
            path: &path,
            id: b"7",
        }
        .to_bytes()
    };
    let activate = |names: &[&str]| {
        let key = key(names);
        let mut made = core::pin::pin!(server.activate_path(&key));
        match made.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(made) => made.map_err(|error| (error.kind, error.minor)),
            Poll::Pending => panic!("nothing waits"),
        }
    };
    let path = ["bank", "branch", "desk"];
    assert!(server.may_be_activated(&key(&path)));
    assert_eq!(server.locate(&key(&path)).unwrap_err(), Missing::Adapter);
    for _ in 0..2 {
        assert_eq!(activate(&path), Ok(()));
        assert_eq!(server.locate(&key(&path)).unwrap_err(), Missing::Object);
        assert!(!server.may_be_activated(&key(&path)));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let missing = (SystemExceptionKind::ObjectNotExist, minor::NO_ADAPTER);
    assert_eq!(activate(&["none", "x"]), Err(missing));
    assert_eq!(activate(&["liar"]), Err(missing));
    let failed = (
        SystemExceptionKind::ObjAdapter,
        minor::ADAPTER_ACTIVATOR_FAILED,
    );
    assert_eq!(activate(&["broken"]), Err(failed));
    server.root().manager().deactivate();
    let inactive = (SystemExceptionKind::ObjAdapter, minor::ADAPTER_INACTIVE);
    assert_eq!(activate(&["other"]), Err(inactive));
    server.root().set_adapter_activator(None).unwrap();
    assert!(!server.may_be_activated(&key(&["other"])));
}

#[test]
fn requests_of_a_holding_adapter_are_held_before_their_objects_are_looked_for() {
    let server = server();
    let root = server.root();
    let key = root.activate(inert()).unwrap();
    deactivate(root, &key).unwrap();
    assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
    // A manager that is not ACTIVE decides first; afterwards the object is still missing.
    let refused = server.held_missing(&key).unwrap();
    assert_eq!(refused.refusal(), Some(Missing::Object));
    assert!(refused.is_for_one_request());
    assert!(Arc::ptr_eq(refused.manager(), root.manager()));
    root.manager().activate().unwrap();
    assert!(server.held_missing(&key).is_none());
}
