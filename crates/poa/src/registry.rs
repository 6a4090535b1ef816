//! All adapters of an ORB, and the way from an object key to an active object.

use crate::adapter::{Adapter, AdapterError, Changes, Scheme};
use crate::key::{InstanceId, ObjectKey, Path};
use crate::manager::{PoaManager, State};
use crate::names::Names;
use crate::object::ActiveObject;
use crate::policy::{Lifespan, Policies};
use crate::table::{Index, Table};
use bytes::Bytes;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// Why a key leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to miss")]
pub enum Missing {
    /// There is no such adapter, or none in this life of the server; or nobody has that plain
    /// key.
    Adapter,
    /// The adapter is there, the object is not active.
    Object,
}

impl Missing {
    /// OBJECT_NOT_EXIST, COMPLETED_NO, with the minor code that says which.
    #[must_use]
    pub fn raise(self) -> SystemException {
        match self {
            Self::Adapter => Fault::NoAdapter,
            Self::Object => Fault::NoObject,
        }
        .raise(CompletionStatus::No)
    }
}

/// Whose key it is, as far as the key alone tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing in between")]
pub enum Whose {
    /// This life of this server's.
    Ours,
    /// Not this server's, or an earlier life's.
    Others,
    /// Any server's that says so: the endpoint decides.
    AnyServers,
}

type Paths<'a> = MutexGuard<'a, HashMap<Vec<String>, Arc<Adapter>>>;

/// All adapters of one ORB.
#[derive(Debug)]
pub struct ObjectAdapter {
    instance: InstanceId,
    server_id: String,
    /// What the paths of this server begin with.
    path_prefix: Bytes,
    /// The transient ones, by the index in their keys.
    transient: Table<Arc<Adapter>>,
    /// The persistent ones, by the path in their keys.
    persistent: Names<Arc<Adapter>>,
    /// Children by full path, for who asks by name; requests never do.
    by_path: Mutex<HashMap<Vec<String>, Arc<Adapter>>>,
    root: Arc<Adapter>,
    plain: Arc<Adapter>,
    /// A manager has been seen that was not HOLDING.
    begun: AtomicBool,
    changes: Arc<Changes>,
}

impl ObjectAdapter {
    /// The name of the adapter whose object ids are the whole keys.
    pub const PLAIN_NAME: &'static str = "INSPOA";

    /// The two adapters that are always there, under one manager, which is HOLDING: the root,
    /// and the one of [plain keys](Self::plain). `server_id` goes into persistent keys.
    #[must_use]
    pub fn new(instance: InstanceId, server_id: &str) -> Self {
        let transient = Table::new();
        let manager = Arc::new(PoaManager::new());
        let changes = Arc::<Changes>::default();
        let make = |index| {
            Arc::new(Adapter::new(
                Vec::new(),
                "RootPOA".to_owned(),
                Scheme::Transient(index),
                Policies::default(),
                instance,
                Arc::clone(&manager),
                Arc::clone(&changes),
            ))
        };
        let root = transient
            .insert_with(make)
            .ok()
            .and_then(|index| transient.with(index, Arc::clone))
            .unwrap_or_else(|| {
                make(Index {
                    slot: 0,
                    generation: 0,
                })
            });
        let path = vec![Self::PLAIN_NAME.to_owned()];
        let plain = Arc::new(Adapter::new(
            path.clone(),
            Self::PLAIN_NAME.to_owned(),
            Scheme::Plain,
            Policies::PERSISTENT,
            instance,
            manager,
            Arc::clone(&changes),
        ));
        Self {
            instance,
            server_id: server_id.to_owned(),
            path_prefix: Path {
                server_id: server_id.to_owned(),
                names: Vec::new(),
            }
            .to_bytes(),
            transient,
            persistent: Names::new(),
            by_path: Mutex::new(HashMap::from([(path, Arc::clone(&plain))])),
            root,
            plain,
            begun: AtomicBool::new(false),
            changes,
        }
    }

    /// This life of the server.
    #[must_use]
    pub fn instance(&self) -> InstanceId {
        self.instance
    }

    /// What persistent keys call this server.
    #[must_use]
    pub fn server_id(&self) -> &str {
        &self.server_id
    }

    /// The root POA.
    #[must_use]
    pub fn root(&self) -> &Arc<Adapter> {
        &self.root
    }

    /// The adapter whose object ids are the whole keys, as `Bank` in `corbaloc::host/Bank`.
    #[must_use]
    pub fn plain(&self) -> &Arc<Adapter> {
        &self.plain
    }

    /// Whose key it is.
    #[must_use]
    pub fn whose(&self, key: &[u8]) -> Whose {
        match ObjectKey::parse(key) {
            Some(ObjectKey::Indexed { instance, .. } | ObjectKey::Named { instance, .. }) => {
                if instance == self.instance {
                    Whose::Ours
                } else {
                    Whose::Others
                }
            }
            Some(ObjectKey::Persistent { path, .. }) if path.starts_with(&self.path_prefix) => {
                Whose::AnyServers
            }
            Some(ObjectKey::Plain(_)) => Whose::AnyServers,
            _ => Whose::Others,
        }
    }

    fn paths(&self) -> Paths<'_> {
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a child of `parent`, with its own manager or a shared one.
    ///
    /// # Errors
    /// When there is one of that name, or too many, or the parent has been destroyed.
    pub fn create(
        &self,
        parent: &Adapter,
        name: &str,
        policies: Policies,
        manager: Option<Arc<PoaManager>>,
    ) -> Result<Arc<Adapter>, AdapterError> {
        let path = below(parent, name);
        let mut paths = self.paths();
        // Under the lock: whoever destroys the parent takes its children along.
        if parent.is_destroyed() {
            return Err(AdapterError::Destroyed);
        }
        if paths.contains_key(&path) {
            return Err(AdapterError::AlreadyExists(name.to_owned()));
        }
        let manager = manager.unwrap_or_default();
        let make = |scheme| {
            Arc::new(Adapter::new(
                path.clone(),
                name.to_owned(),
                scheme,
                policies,
                self.instance,
                manager,
                Arc::clone(&self.changes),
            ))
        };
        let adapter = match policies.lifespan {
            Lifespan::Transient => {
                let index = self
                    .transient
                    .insert_with(|index| make(Scheme::Transient(index)))?;
                self.transient
                    .with(index, Arc::clone)
                    .ok_or(AdapterError::Destroyed)?
            }
            Lifespan::Persistent => {
                let key = Path {
                    server_id: self.server_id.clone(),
                    names: path.clone(),
                }
                .to_bytes();
                let adapter = make(Scheme::Persistent(key.clone()));
                self.persistent.replace(&key, Arc::clone(&adapter));
                adapter
            }
        };
        paths.insert(path, Arc::clone(&adapter));
        Ok(adapter)
    }

    /// The child of that name, if there is one.
    #[must_use]
    pub fn find(&self, parent: &Adapter, name: &str) -> Option<Arc<Adapter>> {
        if parent.is_destroyed() {
            return None;
        }
        self.paths().get(&below(parent, name)).cloned()
    }

    /// Destroys an adapter and those below it: requests to their objects are OBJECT_NOT_EXIST
    /// from now on, and so are those that their managers hold. References of transient ones stay
    /// so for ever; those of persistent ones work again when the adapter is made again. The root
    /// and the adapter of plain keys stay.
    pub fn destroy(&self, adapter: &Arc<Adapter>) {
        if Arc::ptr_eq(adapter, &self.root) || Arc::ptr_eq(adapter, &self.plain) {
            return;
        }
        let paths = self.paths();
        // An old handle does nothing to the namesake that came after it.
        if !adapter.is_destroyed() {
            self.destroy_below(paths, &adapter.path);
        }
    }

    fn destroy_below(&self, mut paths: Paths<'_>, above: &[String]) {
        let mut gone = Vec::new();
        paths.retain(|path, adapter| {
            let below = path.starts_with(above) && !Arc::ptr_eq(adapter, &self.plain);
            if below {
                adapter.mark_destroyed();
                match &adapter.scheme {
                    Scheme::Transient(index) => {
                        self.transient.remove(*index);
                    }
                    Scheme::Persistent(key) => {
                        self.persistent.remove(key);
                    }
                    Scheme::Plain => {}
                }
                gone.push(Arc::clone(adapter));
            }
            !below
        });
        // Before another adapter can be in the place of one of these.
        self.changes.count();
        // Servants that go may do anything.
        drop(paths);
        for adapter in gone {
            adapter.clear();
        }
    }

    /// Whether any manager has left HOLDING yet. Before that a server may still be making its
    /// adapters and objects, so a persistent one that is missing may be on its way. Takes a walk
    /// over the adapters until it is true, and a load afterwards.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        if self.begun.load(Ordering::Relaxed) {
            return true;
        }
        let begun = |adapter: &Arc<Adapter>| adapter.manager().state() != State::Holding;
        let begun = begun(&self.root) || self.paths().values().any(begun);
        self.begun.fetch_or(begun, Ordering::Relaxed);
        begun
    }

    /// Makes every manager INACTIVE: requests that are held are refused.
    pub fn deactivate_managers(&self) {
        self.root.manager().deactivate();
        let managers: Vec<_> = self
            .paths()
            .values()
            .map(|adapter| Arc::clone(adapter.manager()))
            .collect();
        for manager in managers {
            manager.deactivate();
        }
    }

    /// Lets go of every servant; what comes afterwards is OBJECT_NOT_EXIST.
    pub fn clear(&self) {
        self.destroy_below(self.paths(), &[]);
        for adapter in [&self.root, &self.plain] {
            adapter.mark_destroyed();
            adapter.clear();
        }
    }

    /// How often something has ended that a key led to: as long as it is the same as before a
    /// [`locate`](Self::locate), that still finds what it found, unless it
    /// [slept](ActiveObject::is_asleep). For who remembers that; one load.
    #[must_use]
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes.so_far()
    }

    /// Finds the object that `key` names, in constant time whatever the number of adapters and
    /// objects. Transient objects with ids by the system: two look-ups by index, wait-free. The
    /// others: a hash table for the id, and for persistent ones another for the path. Where
    /// somebody activates objects when they are called, an object that is not active is found
    /// too.
    ///
    /// # Errors
    /// What is missing: OBJECT_NOT_EXIST for a key of another ORB or another life of this one, a
    /// destroyed adapter, or an object that is not active.
    pub fn locate(&self, key: &[u8]) -> Result<Arc<ActiveObject>, Missing> {
        let parsed = ObjectKey::parse(key);
        zorb_giop::probe!(KeyParsed);
        let object = match parsed {
            Some(ObjectKey::Indexed {
                instance,
                adapter,
                object,
            }) if instance == self.instance => self.transient.with(adapter, |adapter| {
                zorb_giop::probe!(AdapterFound);
                adapter
                    .indexed(object)
                    .or_else(|| adapter.asleep(object.to_id()))
            }),
            Some(ObjectKey::Named {
                instance,
                adapter,
                id,
            }) if instance == self.instance => self.transient.with(adapter, |adapter| {
                adapter.named(id).or_else(|| adapter.asleep(id.into()))
            }),
            Some(ObjectKey::Persistent { path, id }) => self
                .persistent
                .find(path)
                .map(|adapter| adapter.named(id).or_else(|| adapter.asleep(id.into()))),
            // Whoever else knows plain keys has to be asked when this one does not.
            Some(ObjectKey::Plain(id)) => self.plain.named(id).map(Some),
            _ => None,
        };
        zorb_giop::probe!(ServantFound);
        object.ok_or(Missing::Adapter)?.ok_or(Missing::Object)
    }
}

fn below(parent: &Adapter, name: &str) -> Vec<String> {
    let mut path = parent.path.clone();
    path.push(name.to_owned());
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incoming::Incoming;
    use crate::object::Forward;
    use crate::policy::IdAssignment;
    use crate::request::Outcome;
    use crate::skeleton::{Skeleton, Upcall};
    use crate::table::TableFull;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use zorb_giop::{Ior, SystemExceptionKind, minor};

    struct Nobody;

    impl Skeleton for Nobody {
        fn repository_id(&self) -> &'static str {
            "IDL:Nobody:1.0"
        }
        fn is_a(&self, id: &str) -> bool {
            id == self.repository_id()
        }
        fn start(&self, _: Incoming<'_>) -> Upcall {
            Upcall::ready(Outcome::Silent)
        }
    }

    const USER: Policies = Policies {
        lifespan: Lifespan::Transient,
        id_assignment: IdAssignment::User,
    };
    const KEPT: Policies = Policies {
        lifespan: Lifespan::Persistent,
        id_assignment: IdAssignment::System,
    };

    fn server() -> ObjectAdapter {
        ObjectAdapter::new(InstanceId::random(), "")
    }

    fn nobody() -> Arc<dyn Skeleton> {
        Arc::new(Nobody)
    }

    fn deactivate(adapter: &Adapter, key: &[u8]) -> Result<(), AdapterError> {
        adapter.deactivate(adapter.id_in(key)?.as_ref())
    }

    #[test]
    fn a_key_leads_to_its_object_until_that_is_deactivated() {
        let server = server();
        let root = server.root();
        let key = root.activate(nobody()).unwrap();
        assert_eq!(server.locate(&key).unwrap().type_id(), "IDL:Nobody:1.0");
        deactivate(root, &key).unwrap();
        assert_eq!(deactivate(root, &key), Err(AdapterError::ObjectNotActive));
        assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
        let again = root.activate(nobody()).unwrap();
        assert_ne!(key, again);
        assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
    }

    #[test]
    fn a_transient_reference_of_an_earlier_life_finds_nobody() {
        let (earlier, later) = (server(), server());
        let key = earlier.root().activate(nobody()).unwrap();
        later.root().activate(nobody()).unwrap();
        assert_eq!(later.locate(&key).unwrap_err(), Missing::Adapter);
        let child = |server: &ObjectAdapter| {
            let child = server.create(server.root(), "child", USER, None).unwrap();
            child.activate_with_id(b"id", nobody()).unwrap()
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
            let server = ObjectAdapter::new(InstanceId::random(), server_id);
            let mut adapter = Arc::clone(server.root());
            for name in path {
                adapter = server
                    .create(&adapter, name, Policies::PERSISTENT, None)
                    .unwrap();
            }
            let key = adapter.activate_with_id(b"\0/4711", nobody()).unwrap();
            (server, adapter, key)
        };
        let (_, _, key) = live("bank", &["accounts", "savings"]);
        let (server, adapter, again) = live("bank", &["accounts", "savings"]);
        assert_eq!(key, again);
        assert_eq!(server.whose(&key), Whose::AnyServers);
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
            assert_eq!(other.whose(&key) == Whose::Others, is_other);
        }
        adapter.deactivate(b"\0/4711").unwrap();
        assert_eq!(server.locate(&key).unwrap_err(), Missing::Object);
        adapter.activate_with_id(b"\0/4711", nobody()).unwrap();
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
                let key = adapter.activate(nobody()).unwrap();
                let id = adapter.id_in(&key).unwrap();
                assert!(!seen.contains(&id), "{id}");
                seen.push(id);
            }
            // In the next life it is activated under the id of the first.
            let first = seen[0].as_ref();
            let _ = adapter.activate_with_id(first, nobody());
            assert!(adapter.find(first).is_some());
            assert!(matches!(
                adapter.activate_with_id(b"mine", nobody()),
                Err(AdapterError::UnknownId(_))
            ));
        }
    }

    #[test]
    fn whose_ids_they_are_decides_what_an_adapter_can_do() {
        let server = server();
        let user = server.create(server.root(), "user", USER, None).unwrap();
        assert!(matches!(
            user.activate(nobody()),
            Err(AdapterError::WrongPolicy(_))
        ));
        assert!(matches!(user.reserve(), Err(AdapterError::WrongPolicy(_))));
        user.activate_with_id(b"", nobody()).unwrap();
        assert!(matches!(
            user.activate_with_id(b"", nobody()),
            Err(AdapterError::ObjectAlreadyActive(_))
        ));
        let root = server.root();
        assert!(matches!(
            root.activate_with_id(b"mine", nobody()),
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
        assert_eq!(
            root.activate_with_id(id.as_ref(), nobody()),
            Ok(key.clone())
        );
        assert!(matches!(
            root.activate_with_id(id.as_ref(), nobody()),
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
            plain.activate_with_id(b"Bank", nobody()).unwrap(),
            Bytes::from_static(b"Bank")
        );
        assert!(server.locate(b"Bank").is_ok());
        assert_eq!(server.locate(b"Bang").unwrap_err(), Missing::Adapter);
        let ours = server.root().activate(nobody()).unwrap();
        assert!(matches!(
            plain.activate_with_id(&ours, nobody()),
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
        let key = child.activate(nobody()).unwrap();
        assert!(server.locate(&key).is_ok());
        assert_eq!(deactivate(root, &key), Err(AdapterError::WrongAdapter));
        server.destroy(&child);
        assert!(server.find(root, "bank").is_none());
        assert_eq!(child.activate(nobody()), Err(AdapterError::Destroyed));
        let again = create(Policies::default()).unwrap();
        again.activate(nobody()).unwrap();
        assert_eq!(server.locate(&key).unwrap_err(), Missing::Adapter);
        // A handle of the first does nothing to the second.
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
        // Nor below its namesake by way of the old handle.
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
        let key = root.activate(nobody()).unwrap();
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
        // Whose ids the user assigns need never have been active.
        server.plain().forward_with_id(b"Bank", forward()).unwrap();
        assert!(server.locate(b"Bank").unwrap().forward().is_some());
    }

    #[test]
    fn a_servant_that_goes_may_come_back_to_the_adapter() {
        struct Leaving(Arc<ObjectAdapter>);
        impl Drop for Leaving {
            fn drop(&mut self) {
                let server = &self.0;
                let _ = server.root().activate(nobody());
                let _ = server.plain().activate_with_id(b"last words", nobody());
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
            fn start(&self, _: Incoming<'_>) -> Upcall {
                Upcall::ready(Outcome::Silent)
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
                    IdAssignment::User => adapter.activate_with_id(&id, nobody()),
                    IdAssignment::System => adapter.activate(nobody()),
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
        fn hostile_keys_find_nobody_else(
            cut in 0..60usize, at in 0..60usize, octet: u8, longer in vec(any::<u8>(), 0..4),
        ) {
            let server = server();
            let persistent = server
                .create(server.root(), "a", Policies::PERSISTENT, None).unwrap();
            let user = server.create(server.root(), "b", USER, None).unwrap();
            let keys = [
                server.root().activate(nobody()).unwrap(),
                persistent.activate_with_id(b"id", nobody()).unwrap(),
                user.activate_with_id(b"id", nobody()).unwrap(),
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
}
