//! The ways from the octets in a request to servant and operation.

use super::perfect::perfect;
use super::servants::{Activated, Hierarchy, Tree, operations, type_id};
use bytes::Bytes;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::sync::Arc;
use zorb_poa::{ActiveObject, KeyProtection, Lifespan, ObjectAdapter, Operations};

/// A servant as the tables of the papers hold it: on the heap, as servants are.
#[derive(Debug)]
struct Servant {
    number: u32,
    /// The state of each servant, so that neighbours are not in one line of the cache.
    _state: [u64; 7],
}

impl Servant {
    fn new(number: u32) -> Arc<Self> {
        Arc::new(Self {
            number,
            _state: [0; 7],
        })
    }
}

/// One way of finding them.
pub trait Strategy: Sized {
    /// Servants, and the operations that each of them has.
    fn new(servants: usize, operations: usize) -> Self;

    /// The name of this servant in a request: for most an object key of zorb's.
    fn key(&self, servant: u32, operation: u32) -> Vec<u8>;

    /// The result of a look-up: a number of the servant that costs nothing to read, and the operation's number.
    fn find(&self, key: &[u8], operation: &[u8]) -> Option<(usize, u32)>;

    /// The number of that servant.
    fn number(&self, found: usize) -> u32 {
        found as u32
    }
}

fn numbered<T>(count: usize, make: impl Fn(u32) -> T) -> Vec<T> {
    (0..count as u32).map(make).collect()
}

/// Keys and names one after the other until one is equal.
#[derive(Debug)]
pub struct Linear {
    servants: Vec<(Bytes, Arc<Servant>)>,
    operations: Vec<String>,
}

impl Strategy for Linear {
    fn new(servants: usize, count: usize) -> Self {
        let keys = Activated::new(servants, false).keys;
        let servants = keys.into_iter().zip(numbered(servants, Servant::new));
        Self {
            servants: servants.collect(),
            operations: operations(count),
        }
    }

    fn key(&self, servant: u32, _: u32) -> Vec<u8> {
        self.servants[servant as usize].0.to_vec()
    }

    fn find(&self, key: &[u8], operation: &[u8]) -> Option<(usize, u32)> {
        let (_, servant) = self.servants.iter().find(|(of, _)| **of == *key)?;
        let operation = self
            .operations
            .iter()
            .position(|of| of.as_bytes() == operation)?;
        Some((servant.number as usize, operation as u32))
    }
}

/// Two hash tables that may grow at any time.
#[derive(Debug)]
pub struct Hashed<H> {
    servants: HashMap<Box<[u8]>, Arc<Servant>, H>,
    operations: HashMap<Box<[u8]>, u32, H>,
    keys: Vec<Bytes>,
}

impl<H: BuildHasher + Default> Strategy for Hashed<H> {
    fn new(servants: usize, count: usize) -> Self {
        let keys = Activated::new(servants, false).keys;
        let named = keys.iter().map(|key| Box::from(&**key));
        Self {
            servants: named.zip(numbered(servants, Servant::new)).collect(),
            operations: operations(count)
                .into_iter()
                .map(|name| name.into_bytes().into_boxed_slice())
                .zip(0..)
                .collect(),
            keys,
        }
    }

    fn key(&self, servant: u32, _: u32) -> Vec<u8> {
        self.keys[servant as usize].to_vec()
    }

    fn find(&self, key: &[u8], operation: &[u8]) -> Option<(usize, u32)> {
        let servant = self.servants.get(key)?;
        let operation = self.operations.get(operation)?;
        Some((servant.number as usize, *operation))
    }
}

/// Two perfect hashes, over all keys and all names there will ever be.
#[derive(Debug)]
pub struct Perfect {
    servants: Operations,
    operations: Operations,
    all: Vec<Arc<Servant>>,
    keys: Vec<Bytes>,
}

impl Strategy for Perfect {
    fn new(servants: usize, count: usize) -> Self {
        let keys = Activated::new(servants, false).keys;
        Self {
            servants: perfect(&keys, Operations::new),
            operations: perfect(&operations(count), Operations::new),
            all: numbered(servants, Servant::new),
            keys,
        }
    }

    fn key(&self, servant: u32, _: u32) -> Vec<u8> {
        self.keys[servant as usize].to_vec()
    }

    fn find(&self, key: &[u8], operation: &[u8]) -> Option<(usize, u32)> {
        let servant = self.all.get(self.servants.find(key)? as usize)?;
        let operation = self.operations.find(operation)?;
        Some((servant.number as usize, operation))
    }
}

/// The last eight octets of the key are an index and a generation; the operation has a perfect hash. The table never
/// changes here, so that nothing is paid for servants that come and go.
#[derive(Debug)]
pub struct Active {
    servants: Vec<(u32, Arc<Servant>)>,
    operations: Operations,
    keys: Vec<Bytes>,
}

/// Index and generation at the end of a key.
fn index(key: &[u8]) -> Option<(usize, u32)> {
    let (rest, generation) = key.split_last_chunk::<4>()?;
    let (_, slot) = rest.split_last_chunk::<4>()?;
    Some((
        u32::from_be_bytes(*slot) as usize,
        u32::from_be_bytes(*generation),
    ))
}

impl Strategy for Active {
    fn new(servants: usize, count: usize) -> Self {
        Self {
            servants: numbered(servants, |number| (0, Servant::new(number))),
            operations: perfect(&operations(count), Operations::new),
            keys: Activated::new(servants, false).keys,
        }
    }

    fn key(&self, servant: u32, _: u32) -> Vec<u8> {
        self.keys[servant as usize].to_vec()
    }

    fn find(&self, key: &[u8], operation: &[u8]) -> Option<(usize, u32)> {
        let (slot, generation) = index(key)?;
        let (of, servant) = self.servants.get(slot)?;
        if *of != generation {
            return None;
        }
        let operation = self.operations.find(operation)?;
        Some((servant.number as usize, operation))
    }
}

/// The key is an index and a generation of servant *and* operation, in one table. The name on the wire is not looked
/// at, which GIOP does not allow: what is sent as the operation's name would have to say nothing.
#[derive(Debug)]
pub struct Delayered {
    /// Generation, servant and operation.
    table: Vec<(u32, u32)>,
    servants: Vec<Arc<Servant>>,
    operations: u32,
}

impl Strategy for Delayered {
    fn new(servants: usize, operations: usize) -> Self {
        let pairs = (0..servants as u32).flat_map(|s| (0..operations as u32).map(move |o| (s, o)));
        Self {
            table: pairs.collect(),
            servants: numbered(servants, Servant::new),
            operations: operations as u32,
        }
    }

    fn key(&self, servant: u32, operation: u32) -> Vec<u8> {
        let at = u64::from(servant) * u64::from(self.operations) + u64::from(operation);
        // A number beyond the largest possible one finds no servant.
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        [at.to_be_bytes(), [0; 4]].concat()
    }

    fn find(&self, key: &[u8], _: &[u8]) -> Option<(usize, u32)> {
        let (at, generation) = index(key)?;
        if generation != 0 {
            return None;
        }
        let (servant, operation) = *self.table.get(at)?;
        let servant = self.servants.get(servant as usize)?;
        Some((servant.number as usize, operation))
    }
}

/// The way of zorb's servers: the adapters' own look-up, and the operations of a generated skeleton. `P` says where the
/// servants are.
#[derive(Debug)]
pub struct Located<P> {
    adapters: ObjectAdapter,
    operations: Operations,
    keys: Vec<Bytes>,
    /// The numbers of servants, by their addresses.
    numbers: HashMap<usize, u32>,
    places: PhantomData<P>,
}

/// The places of servants.
pub trait Places {
    /// So many, each in its adapter.
    fn hierarchy(servants: usize) -> Hierarchy;
}

/// All in one adapter. `IDS`: the application has chosen the object ids.
pub type Adapter<const IDS: bool> = Located<InOne<IDS>>;

/// Every servant has an adapter of its own. `NESTED`: each adapter is in the one before, or else all of them are in the
/// root. `NAMED`: references outlive the process, and have the adapters' names in them.
pub type Branches<const NESTED: bool, const NAMED: bool> = Located<InTree<NESTED, NAMED>>;

/// See [`Adapter`].
#[derive(Debug)]
pub struct InOne<const IDS: bool>;

/// All in one adapter, whose ids are known beforehand.
pub type FixedIds = Located<OfSet>;

/// See [`FixedIds`].
#[derive(Debug)]
pub struct OfSet;

impl Places for OfSet {
    fn hierarchy(servants: usize) -> Hierarchy {
        in_one(Activated::of_fixed_ids(servants))
    }
}

/// All in one adapter, whose keys have codes.
pub type Authenticated = Located<WithCodes>;

/// See [`Authenticated`].
#[derive(Debug)]
pub struct WithCodes;

/// See [`Branches`].
#[derive(Debug)]
pub struct InTree<const NESTED: bool, const NAMED: bool>;

fn in_one(made: Activated) -> Hierarchy {
    let servants = made.keys.len();
    Hierarchy {
        adapters: made.adapters,
        each: vec![made.adapter; servants],
        keys: made.keys,
    }
}

impl<const IDS: bool> Places for InOne<IDS> {
    fn hierarchy(servants: usize) -> Hierarchy {
        in_one(Activated::new(servants, IDS))
    }
}

impl Places for WithCodes {
    fn hierarchy(servants: usize) -> Hierarchy {
        in_one(Activated::with_protection(
            servants,
            false,
            KeyProtection::Authenticated,
        ))
    }
}

impl<const NESTED: bool, const NAMED: bool> Places for InTree<NESTED, NAMED> {
    fn hierarchy(servants: usize) -> Hierarchy {
        let tree = if NESTED { Tree::Nested } else { Tree::Siblings };
        let lifespan = match NAMED {
            true => Lifespan::Persistent,
            false => Lifespan::Transient,
        };
        Hierarchy::new(servants, tree, lifespan)
    }
}

fn address(object: &Arc<ActiveObject>) -> usize {
    Arc::as_ptr(object).addr()
}

impl<P: Places> Strategy for Located<P> {
    fn new(servants: usize, count: usize) -> Self {
        let made = P::hierarchy(servants);
        let of_each = made.each.iter().zip(&made.keys).zip(0..);
        let numbers = of_each.map(|((adapter, key), number)| {
            let id = adapter.id_in(key).expect("a key of the adapter's");
            let object = adapter.find(id.as_ref()).expect("it is active");
            assert_eq!(object.type_id(), type_id(number));
            (address(&object), number)
        });
        Self {
            numbers: numbers.collect(),
            operations: perfect(&operations(count), Operations::new),
            keys: made.keys,
            adapters: made.adapters,
            places: PhantomData,
        }
    }

    fn key(&self, servant: u32, _: u32) -> Vec<u8> {
        self.keys[servant as usize].to_vec()
    }

    fn find(&self, key: &[u8], operation: &[u8]) -> Option<(usize, u32)> {
        let object = self.adapters.locate(key).ok()?;
        let operation = self.operations.find(operation)?;
        Some((address(&object), operation))
    }

    fn number(&self, found: usize) -> u32 {
        self.numbers[&found]
    }
}
