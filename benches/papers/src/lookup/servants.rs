//! The servants of look-ups: with numbers, in a real adapter or in one each, and names of operations.

use super::perfect::perfect;
use bytes::Bytes;
use std::sync::Arc;
use zorb_poa::{
    Adapter, AdapterOptions, IdAssignment, Incoming, InstanceId, KeyProtection, KeySecret,
    Lifespan, ObjectAdapter, ObjectIds, Outcome, Policies, Skeleton, Upcall,
};

/// A servant that is only looked for. The repository id says which one it is.
struct NamedServant(&'static str);

impl Skeleton for NamedServant {
    fn repository_id(&self) -> &'static str {
        self.0
    }

    fn is_a(&self, id: &str) -> bool {
        id == self.0
    }

    fn start(&self, _: Incoming<'_>) -> Upcall {
        Upcall::ready(Outcome::Silent)
    }
}

/// The names that distinguish servants.
pub fn type_id(number: u32) -> String {
    format!("IDL:papers/Servant{number}:1.0")
}

/// An operation's name. Names differ in the middle, not at their ends alone, and have no common length, as those of
/// real interfaces.
pub fn operation(number: u32) -> String {
    const WORDS: [&str; 8] = [
        "get", "set", "send_all", "open", "close", "list_of", "move", "find",
    ];
    format!("{}_{number}_value", WORDS[number as usize % WORDS.len()])
}

/// The names of so many operations.
pub fn operations(count: usize) -> Vec<String> {
    (0..count as u32).map(operation).collect()
}

/// The places of adapters that have a servant each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tree {
    /// Each in the one before, the first in the root.
    Nested,
    /// All of them in the root.
    Siblings,
}

/// Adapters of zorb's with a servant each.
#[derive(Debug)]
pub struct Hierarchy {
    /// All adapters.
    pub adapters: ObjectAdapter,
    /// The adapters with a servant, in their order.
    pub each: Vec<Arc<Adapter>>,
    /// The object keys of their servants, as requests carry them.
    pub keys: Vec<Bytes>,
}

impl Hierarchy {
    /// So many. What outlives the process has its adapters' names in its keys, and ids of the application's; of others
    /// there are indexes.
    pub fn new(count: usize, tree: Tree, lifespan: Lifespan) -> Self {
        let adapters = ObjectAdapter::new(InstanceId(1), "papers");
        let policies = match lifespan {
            Lifespan::Persistent => Policies::PERSISTENT,
            Lifespan::Transient => Policies::default(),
        };
        let (mut each, mut keys) = (Vec::new(), Vec::new());
        let mut parent = Arc::clone(adapters.root());
        for number in 0..count as u32 {
            let name = format!("branch{number:04}");
            let adapter = adapters
                .create(&parent, &name, policies, None)
                .expect("the name is free");
            let servant = Arc::new(NamedServant(type_id(number).leak()));
            let key = match lifespan {
                Lifespan::Persistent => adapter.activate_with_id(b"account", servant),
                Lifespan::Transient => adapter.activate(servant),
            };
            keys.push(key.expect("it is the only one there"));
            if tree == Tree::Nested {
                parent = Arc::clone(&adapter);
            }
            each.push(adapter);
        }
        Self {
            adapters,
            each,
            keys,
        }
    }
}

/// An id of the application's.
fn id_of(number: u32) -> String {
    format!("account/{number:08}")
}

/// Servants that are active in an adapter of zorb's.
#[derive(Debug)]
pub struct Activated {
    /// All adapters.
    pub adapters: ObjectAdapter,
    /// The one that they are in.
    pub adapter: Arc<Adapter>,
    /// Object keys, as requests carry them.
    pub keys: Vec<Bytes>,
}

impl Activated {
    /// So many, whose ids the adapter has chosen (indexes), or the application (names).
    pub fn new(count: usize, by_application: bool) -> Self {
        Self::with_protection(count, by_application, KeyProtection::None)
    }

    /// So many, whose ids are known beforehand, as those that are written down in a program.
    pub fn of_fixed_ids(count: usize) -> Self {
        let names: Vec<_> = (0..count as u32).map(id_of).collect();
        let ids = perfect(&names, ObjectIds::new);
        let options = AdapterOptions {
            ids: Some(Box::leak(Box::new(ids))),
            ..AdapterOptions::default()
        };
        let adapters = ObjectAdapter::new(InstanceId(1), "");
        let policies = Policies::default().with_id_assignment(IdAssignment::User);
        let adapter = adapters
            .create_with(adapters.root(), "papers", policies, None, options)
            .expect("the root has no other children");
        let activate = |(number, name): (u32, &String)| {
            let servant = Arc::new(NamedServant(type_id(number).leak()));
            let key = adapter.activate_with_id(name.as_bytes(), servant);
            key.expect("it is in the set")
        };
        let keys = (0..).zip(&names).map(activate).collect();
        Self {
            adapters,
            adapter,
            keys,
        }
    }

    /// Activated servants whose keys can be guessed, or not.
    pub fn with_protection(count: usize, by_application: bool, protection: KeyProtection) -> Self {
        let adapters = ObjectAdapter::new(InstanceId(1), "");
        adapters.set_key_secret(KeySecret::of_this_life([7; 32]));
        let policies = Policies::default().with_id_assignment(if by_application {
            IdAssignment::User
        } else {
            IdAssignment::System
        });
        let policies = policies.with_key_protection(protection);
        let adapter = adapters
            .create(adapters.root(), "papers", policies, None)
            .expect("the root has no other children");
        let activate = |number: u32| {
            let servant = Arc::new(NamedServant(type_id(number).leak()));
            if by_application {
                adapter.activate_with_id(id_of(number).as_bytes(), servant)
            } else {
                adapter.activate(servant)
            }
            .expect("there is room for as many as are measured")
        };
        let keys = (0..count as u32).map(activate).collect();
        Self {
            adapters,
            adapter,
            keys,
        }
    }
}
