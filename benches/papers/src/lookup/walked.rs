//! The hierarchical look-up that the dissertation measures others by: an adapter at a time, a hash table in each.

use super::perfect::perfect;
use super::servants::{Hierarchy, Tree, operations};
use super::strategies::Strategy;
use bytes::Bytes;
use std::collections::HashMap;
use zorb_poa::{Lifespan, ObjectKey, Operations, Path};

/// An adapter: its children and its servants, by name.
#[derive(Debug, Default)]
struct Node {
    children: HashMap<String, usize>,
    servants: HashMap<Vec<u8>, u32>,
}

/// Every servant has an adapter of its own, in the one before (`NESTED`) or beside all others. A request walks from the root along
/// the names in its key.
#[derive(Debug)]
pub struct Walked<const NESTED: bool> {
    /// The root first.
    nodes: Vec<Node>,
    operations: Operations,
    keys: Vec<Bytes>,
}

impl<const NESTED: bool> Walked<NESTED> {
    fn node(&self, names: &[String]) -> Option<&Node> {
        let root = self.nodes.first()?;
        names
            .iter()
            .try_fold(root, |node, name| self.nodes.get(*node.children.get(name)?))
    }
}

impl<const NESTED: bool> Strategy for Walked<NESTED> {
    fn new(servants: usize, count: usize) -> Self {
        let tree = if NESTED { Tree::Nested } else { Tree::Siblings };
        let made = Hierarchy::new(servants, tree, Lifespan::Persistent);
        let mut nodes = vec![Node::default()];
        for (adapter, number) in made.each.iter().zip(0..) {
            let at = nodes.len();
            let parent = if NESTED { at - 1 } else { 0 };
            let name = adapter.name().to_owned();
            nodes[parent].children.insert(name, at);
            let id = adapter.id_in(&made.keys[number as usize]);
            let id = id.expect("a key of the adapter's").as_ref().to_vec();
            nodes.push(Node {
                servants: HashMap::from([(id, number)]),
                ..Node::default()
            });
        }
        Self {
            nodes,
            operations: perfect(&operations(count), Operations::new),
            keys: made.keys,
        }
    }

    fn key(&self, servant: u32, _: u32) -> Vec<u8> {
        self.keys[servant as usize].to_vec()
    }

    fn find(&self, key: &[u8], operation: &[u8]) -> Option<(usize, u32)> {
        let ObjectKey::Persistent { path, id } = ObjectKey::parse(key)? else {
            return None;
        };
        let path = Path::parse(path)?;
        let servant = *self.node(&path.names)?.servants.get(id)?;
        let operation = self.operations.find(operation)?;
        Some((servant as usize, operation))
    }
}
