//! Collects cycles of values in a peer's message that have no outside reference.

use super::cell::Cell;
use std::sync::Arc;
use zorb_cdr::{AnyEncoder, Encoder, NativeEndian, Shared, WireFormat};

/// The values of a message with cycles. It is dropped after the servant has returned and its results are encoded: then
/// values to which only other values of the graph refer are emptied.
struct Graph(Vec<Arc<Cell>>);

pub(super) fn collector(values: Vec<Shared>) -> Shared {
    let cells = values.into_iter().filter_map(|value| value.downcast().ok());
    Arc::new(Graph(cells.collect()))
}

impl Drop for Graph {
    fn drop(&mut self) {
        collect(&self.0);
    }
}

/// Empties those of `cells` to which only emptied cells refer.
///
/// All cells are locked while their references are counted, and a cell that is in use prevents the collection. So no
/// reference leaves a cell meanwhile. A reference from outside makes the reference count exceed the number of
/// references in cells.
fn collect(cells: &[Arc<Cell>]) {
    let locked: Option<Vec<_>> = cells.iter().map(|cell| cell.try_write()).collect();
    let Some(mut states) = locked else {
        return;
    };
    // A peer chooses how many cells there are, so the graph is in a few flat lists: `COLLECTED_OCTETS` of zorb-cdr.
    let mut numbers: Vec<(*const Cell, u32)> = cells.iter().map(Arc::as_ptr).zip(0..).collect();
    numbers.sort_unstable();
    let number_of = |cell: &Arc<Cell>| {
        let found = numbers.binary_search_by_key(&Arc::as_ptr(cell), |(place, _)| *place);
        found
            .ok()
            .and_then(|at| numbers.get(at))
            .map(|(_, number)| *number)
    };
    // The cells that each cell refers to, one after the other, and where those of each end.
    let mut edges: Vec<u32> = Vec::new();
    let mut ends: Vec<usize> = Vec::with_capacity(cells.len());
    let mut inner = vec![0_u32; cells.len()];
    for (cell, state) in cells.iter().zip(&states) {
        let behaviour = cell.behaviour();
        if let Some(state) = state.as_deref() {
            if behaviour.custom {
                // Custom marshalling is application code, which may lock values that are locked here.
                return;
            }
            let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
            e.trace_values();
            if (behaviour.write)(state.as_any(), AnyEncoder::new(&mut e)).is_err() {
                return;
            }
            let children = e.traced_values().into_iter();
            for number in children.filter_map(|child| number_of(&child.downcast::<Cell>().ok()?)) {
                edges.push(number);
                if let Some(count) = inner.get_mut(number as usize) {
                    *count = count.saturating_add(1);
                }
            }
        }
        ends.push(edges.len());
    }
    let mut live = vec![false; cells.len()];
    let mut reached: Vec<u32> = (0..).zip(cells.iter().zip(&inner))
        // `cells` itself holds one reference to each cell.
        .filter(|(_, (cell, inner))| {
            Arc::strong_count(cell) != (**inner as usize).saturating_add(1)
        })
        .map(|(number, _)| number)
        .collect();
    while let Some(number) = reached.pop() {
        let number = number as usize;
        if let Some(live) = live.get_mut(number)
            && !core::mem::replace(live, true)
        {
            let begin = number
                .checked_sub(1)
                .and_then(|before| ends.get(before))
                .copied();
            let end = ends.get(number).copied().unwrap_or_default();
            reached.extend(edges.get(begin.unwrap_or(0)..end).unwrap_or_default());
        }
    }
    let dead = states.iter_mut().zip(&live).filter(|(_, live)| !**live);
    let emptied: Vec<_> = dead.filter_map(|(state, _)| state.take()).collect();
    // Dropped after the locks, since dropping the states may lock cells.
    drop(states);
    drop(emptied);
}

#[cfg(test)]
#[expect(
    unreachable_pub,
    reason = "generated code does not know that this module is private"
)]
mod tests {
    use super::*;
    use crate::Value;
    use crate::value::ValueCodec;
    use std::sync::Weak;
    use zorb_cdr::{Codec, Decoder};

    crate::idl! {
        valuetype Node {
            public string name;
            public sequence<Node> others;
        };
    }

    type Handle = Option<Value<Node>>;

    fn node(name: &str) -> Value<Node> {
        Value::new(Node {
            name: name.to_owned(),
            others: Vec::new(),
        })
    }

    /// Two values that refer to each other, and the first to itself; a third that both refer to.
    fn octets() -> Vec<u8> {
        let (a, b, c) = (node("a"), node("b"), node("c"));
        let members = |values: &[&Value<Node>]| values.iter().map(|v| Some((*v).clone())).collect();
        a.write().others = members(&[&b, &a, &c]);
        b.write().others = members(&[&a, &c]);
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        ValueCodec::<Node>::encode(&Some(a.clone()), &mut e).unwrap();
        a.write().others.clear();
        e.finish().to_vec()
    }

    fn read(octets: &[u8]) -> (Value<Node>, Option<Shared>) {
        let mut d = Decoder::<NativeEndian>::from_slice(octets, WireFormat::default());
        let value: Handle = ValueCodec::decode(&mut d).unwrap();
        (value.unwrap(), d.take_cycles())
    }

    fn weak(value: &Value<Node>) -> Weak<Cell> {
        Arc::downgrade(&value.cell)
    }

    fn other(value: &Value<Node>, number: usize) -> Value<Node> {
        value.read().others[number].clone().unwrap()
    }

    #[test]
    fn a_cycle_without_outside_references_is_freed_with_its_graph() {
        let (a, cycles) = read(&octets());
        let all = [weak(&a), weak(&other(&a, 0)), weak(&other(&a, 2))];
        drop(a);
        assert!(all.iter().all(|weak| weak.strong_count() > 0));
        drop(cycles.unwrap());
        assert!(all.iter().all(|weak| weak.strong_count() == 0));
    }

    #[test]
    fn a_referenced_value_stays_with_all_that_it_refers_to() {
        let (a, cycles) = read(&octets());
        let b = other(&a, 0);
        drop(a);
        drop(cycles);
        let a = other(&b, 0);
        assert_eq!((&*a.read().name, &*b.read().name), ("a", "b"));
        assert_eq!(other(&a, 1), a);
        assert_eq!(other(&other(&a, 0), 1).read().name, "c");
        a.write().others.clear();

        // The value in use refers to none of the others, which are emptied.
        let (a, cycles) = read(&octets());
        let (c, first) = (other(&a, 2), weak(&a));
        drop(a);
        drop(cycles);
        assert_eq!((&*c.read().name, first.strong_count()), ("c", 0));
    }

    #[test]
    fn what_is_in_use_stays() {
        let (a, cycles) = read(&octets());
        let cell = Arc::clone(&a.cell);
        let locked = cell.read();
        drop(a);
        drop(cycles);
        assert!(locked.is_some());
        drop(locked);
        let a = Value::<Node>::of(cell);
        a.write().others.clear();
    }

    #[test]
    fn a_cycle_in_a_malformed_message_is_freed_too() {
        let (a, cycles) = read(&octets());
        let root = node("root");
        root.write().others = vec![Some(a.clone()), Some(node("last"))];
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        ValueCodec::<Node>::encode(&Some(root), &mut e).unwrap();
        let octets = e.finish().to_vec();
        drop((a, cycles));

        let cut = &octets[..octets.len() - 1];
        let mut d = Decoder::<NativeEndian>::from_slice(cut, WireFormat::default());
        assert!(ValueCodec::<Node>::decode(&mut d).is_err());
        let cycles = d.take_cycles().unwrap();
        let cells = &cycles.downcast_ref::<Graph>().unwrap().0;
        let weak: Vec<_> = cells.iter().map(Arc::downgrade).collect();
        assert!(weak.len() > 3);
        drop(cycles);
        assert!(weak.iter().all(|weak| weak.strong_count() == 0));
    }

    #[test]
    fn there_is_nothing_to_collect_without_a_cycle() {
        let a = node("a");
        a.write().others = vec![Some(node("b")), None];
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        ValueCodec::<Node>::encode(&Some(a), &mut e).unwrap();
        assert!(read(&e.finish().to_vec()).1.is_none());
    }
}
