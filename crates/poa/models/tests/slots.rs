//! The table of slots and generations: an index finds its own entry or none, during insertions and removals.

use super::model;
use crate::table::{Index, Table, Tenant};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// An entry that knows its index, and counts the entries that exist.
#[derive(Debug)]
struct Entry {
    index: Index,
    alive: Arc<AtomicUsize>,
}

impl Tenant for Entry {
    fn generation(&self) -> u32 {
        self.index.generation
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

struct World {
    table: Table<Entry>,
    alive: Arc<AtomicUsize>,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            table: Table::new(),
            alive: Arc::default(),
        })
    }

    fn entry(&self, index: Index) -> Arc<Entry> {
        self.alive.fetch_add(1, Ordering::Relaxed);
        Arc::new(Entry {
            index,
            alive: Arc::clone(&self.alive),
        })
    }

    fn insert(&self) -> Index {
        let made = self.table.insert_with(|index| self.entry(index));
        made.expect("there is room").0
    }

    /// Whether the index finds an entry, which is its own.
    fn finds(&self, index: Index) -> bool {
        let found = self.table.with(index, |entry| entry.index);
        if let Some(found) = found {
            assert_eq!(found, index, "the entry of another index");
        }
        found.is_some()
    }

    /// Checks that no removed entry is kept.
    fn ends(&self) {
        drop(self.table.drain());
        assert_eq!(self.alive.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn an_index_never_finds_the_next_tenant_of_its_slot() {
    model(3, || {
        let world = World::new();
        let first = world.insert();
        let writer = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                drop(world.table.remove(first).expect("it is there"));
                let second = world.insert();
                assert_eq!((second.slot, second.generation), (first.slot, 1));
                assert!(world.finds(second) && !world.finds(first));
                second
            })
        };
        let reader = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                // A removed entry does not come back.
                let before = world.finds(first);
                assert!(before || !world.finds(first));
            })
        };
        // A forged index: the next generation, before or after it is given out.
        let forged = Index {
            generation: 1,
            ..first
        };
        world.finds(forged);
        reader.join().unwrap();
        let second = writer.join().unwrap();
        assert!(world.finds(second) && !world.finds(first));
        world.ends();
    });
}

#[test]
fn tables_grow_while_they_are_read() {
    model(3, || {
        let world = World::new();
        let published = Arc::new(AtomicUsize::new(0));
        let writers = [(); 2].map(|()| {
            let (world, published) = (Arc::clone(&world), Arc::clone(&published));
            thread::spawn(move || {
                let index = world.insert();
                assert!(world.finds(index));
                // A key of slot 1, the first of another chunk.
                if index.slot == 1 {
                    published.store(1, Ordering::Release);
                }
                index
            })
        });
        let index = Index {
            slot: 1,
            generation: 0,
        };
        let is_published = published.load(Ordering::Acquire) == 1;
        let found = world.finds(index);
        assert!(
            found || !is_published,
            "a key that is known finds its entry"
        );
        let [one, other] = writers.map(|writer| writer.join().unwrap());
        assert_ne!(one, other);
        assert!(world.finds(one) && world.finds(other));
        world.ends();
    });
}

#[test]
fn a_reserved_index_is_filled_or_given_back_and_known_throughout() {
    model(3, || {
        let world = World::new();
        let index = world.table.reserve().unwrap();
        let filling = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.table.fill(index, world.entry(index)))
        };
        let removing = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.table.remove(index).is_ok())
        };
        world.finds(index);
        let (filled, removed) = (filling.join().unwrap(), removing.join().unwrap());
        assert!(removed, "it is reserved, or filled");
        assert!(!world.finds(index) && !world.table.is_given_out(index));
        // The slot has another entry now, whichever thread was first.
        let next = world.insert();
        assert_eq!((next.slot, next.generation), (index.slot, 1), "{filled}");
        world.ends();
    });
}

#[test]
fn an_entry_is_replaced_or_put_in_again_and_known_throughout() {
    model(3, || {
        let world = World::new();
        let index = world.insert();
        let again = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let vacated = world.table.vacate(index).is_ok();
                assert!(vacated);
                world.table.fill(index, world.entry(index))
            })
        };
        let moved = {
            let world = Arc::clone(&world);
            thread::spawn(move || world.table.replace(index, world.entry(index)).is_ok())
        };
        assert!(
            world.table.is_given_out(index),
            "it is in the table, or reserved"
        );
        let (_, moved) = (again.join().unwrap(), moved.join().unwrap());
        assert!(moved, "it is in the table, or reserved");
        assert!(world.finds(index));
        world.ends();
    });
}
