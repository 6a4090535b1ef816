//! The tree of adapters: the children of each, by name.

use crate::adapter::Adapter;
use std::collections::HashMap;
use std::sync::Arc;

/// All adapters but the root, by their parents and their names. A step costs the hash of one name, so that a walk along
/// a path costs its octets, and not those of each beginning of it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Children by name, by the address of their parent, which is in the tree as long as its entry is.
    children: HashMap<usize, HashMap<String, Arc<Adapter>>>,
}

fn address(adapter: &Adapter) -> usize {
    core::ptr::from_ref(adapter).addr()
}

impl Tree {
    pub(super) fn child(&self, parent: &Adapter, name: &str) -> Option<&Arc<Adapter>> {
        self.children.get(&address(parent))?.get(name)
    }

    /// The children of an adapter, in no order.
    pub(super) fn children(&self, parent: &Adapter) -> impl Iterator<Item = &Arc<Adapter>> {
        let children = self.children.get(&address(parent));
        children.into_iter().flat_map(HashMap::values)
    }

    /// All adapters but the root, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Adapter>> {
        self.children.values().flat_map(HashMap::values)
    }

    /// Adds a child, whose name is free.
    pub(super) fn insert(&mut self, parent: &Adapter, child: &Arc<Adapter>) {
        let siblings = self.children.entry(address(parent)).or_default();
        siblings.insert(child.name().to_owned(), Arc::clone(child));
    }

    /// Removes a child, which keeps its own children until they are removed, too.
    pub(super) fn remove(&mut self, parent: &Adapter, child: &Adapter) {
        if let Some(siblings) = self.children.get_mut(&address(parent)) {
            siblings.remove(child.name());
            if siblings.is_empty() {
                self.children.remove(&address(parent));
            }
        }
    }

    /// Removes and returns all descendants of an adapter but `kept`, in no order.
    pub(super) fn remove_below(
        &mut self,
        above: &Adapter,
        kept: &Arc<Adapter>,
    ) -> Vec<Arc<Adapter>> {
        let mut removed = Vec::new();
        let mut parents = vec![address(above)];
        while let Some(parent) = parents.pop() {
            let children = self.children.remove(&parent).unwrap_or_default();
            for (name, child) in children {
                parents.push(address(&child));
                match Arc::ptr_eq(&child, kept) {
                    false => removed.push(child),
                    true => {
                        self.children.entry(parent).or_default().insert(name, child);
                    }
                }
            }
        }
        removed
    }
}
